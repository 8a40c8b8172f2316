/* Opening an object: one walk over the sections, one over the symbols, one over the relocations
 * checks every offset, size, index and string against the file, with arithmetic that can't wrap, so
 * that the readers need no failure. Structures are copied out, since nothing promises alignment.
 * Costs time linear in the file; allocates nothing. What is written in the sections is not looked
 * at. */
#include "kit/elf.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

static vyre_status damaged(vyre_diag *diag, const char *what, uint64_t number) {
    return vyre_fail(diag, VYRE_INVALID_INPUT, "compile it again",
                     "the object file is damaged: %s %llu", what, (unsigned long long)number);
}

static vyre_status foreign(vyre_diag *diag, const char *what) {
    return vyre_fail(diag, VYRE_UNSUPPORTED, NULL, "the object file can't be loaded: %s", what);
}

static bool is_inside(const vyre_elf *elf, uint64_t offset, uint64_t size) {
    uint64_t end;
    return vyre_add_u64(offset, size, &end) && end <= elf->size;
}

Elf64_Shdr vyre_elf_section(const vyre_elf *elf, uint32_t section) {
    Elf64_Shdr s;
    memcpy(&s, elf->bytes + elf->section_table + (uint64_t)section * sizeof s, sizeof s);
    return s;
}

static const char *text_in(const vyre_elf *elf, uint32_t table, uint32_t offset) {
    return (const char *)elf->bytes + vyre_elf_section(elf, table).sh_offset + offset;
}

const char *vyre_elf_section_name(const vyre_elf *elf, uint32_t section) {
    return text_in(elf, elf->name_section, vyre_elf_section(elf, section).sh_name);
}

Elf64_Sym vyre_elf_symbol(const vyre_elf *elf, uint32_t symbol) {
    Elf64_Sym s;
    uint64_t table = vyre_elf_section(elf, elf->symbol_section).sh_offset;
    memcpy(&s, elf->bytes + table + (uint64_t)symbol * sizeof s, sizeof s);
    return s;
}

const char *vyre_elf_symbol_name(const vyre_elf *elf, uint32_t symbol) {
    uint32_t table = vyre_elf_section(elf, elf->symbol_section).sh_link;
    return text_in(elf, table, vyre_elf_symbol(elf, symbol).st_name);
}

uint64_t vyre_elf_relocation_count(const Elf64_Shdr *section) {
    return section->sh_size / sizeof(Elf64_Rela);
}

Elf64_Rela vyre_elf_relocation(const vyre_elf *elf, const Elf64_Shdr *section, uint64_t number) {
    Elf64_Rela r;
    memcpy(&r, elf->bytes + section->sh_offset + number * sizeof r, sizeof r);
    return r;
}

static vyre_status read_header(vyre_elf *elf, vyre_diag *diag) {
    Elf64_Ehdr h;
    if (elf->size < sizeof h || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0) {
        return vyre_fail(diag, VYRE_INVALID_INPUT, "compile it again",
                         "this is no object file: it does not begin with an ELF header");
    }
    memcpy(&h, elf->bytes, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        h.e_machine != EM_X86_64) {
        return foreign(diag, "it is not for x86-64");
    }
    if (h.e_type != ET_REL) {
        return foreign(diag, "it is not a relocatable object");
    }
    if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0 || h.e_shnum >= SHN_LORESERVE ||
        h.e_shstrndx >= h.e_shnum || h.e_shstrndx == SHN_UNDEF ||
        !is_inside(elf, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr))) {
        return damaged(diag, "its table of sections, at offset", h.e_shoff);
    }
    elf->section_table = h.e_shoff;
    elf->section_count = h.e_shnum;
    elf->name_section = h.e_shstrndx;
    return VYRE_OK;
}

/* Whether every offset below the table's size begins a text that ends in the table. */
static bool is_string_table(const vyre_elf *elf, uint32_t section) {
    if (section >= elf->section_count) {
        return false;
    }
    Elf64_Shdr s = vyre_elf_section(elf, section);
    return s.sh_type == SHT_STRTAB && s.sh_size > 0 && is_inside(elf, s.sh_offset, s.sh_size) &&
           elf->bytes[s.sh_offset + s.sh_size - 1] == '\0';
}

static bool is_table_of(const Elf64_Shdr *s, size_t entry) {
    return s->sh_entsize == entry && s->sh_size % entry == 0;
}

static vyre_status check_sections(vyre_elf *elf, vyre_diag *diag) {
    if (!is_string_table(elf, elf->name_section)) {
        return damaged(diag, "the names of its sections, section", elf->name_section);
    }
    uint64_t names = vyre_elf_section(elf, elf->name_section).sh_size;
    for (uint32_t i = 1; i < elf->section_count; i++) {
        Elf64_Shdr s = vyre_elf_section(elf, i);
        bool is_stored = s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL;
        if (s.sh_name >= names || (is_stored && !is_inside(elf, s.sh_offset, s.sh_size)) ||
            (s.sh_addralign & (s.sh_addralign - 1)) != 0) {
            return damaged(diag, "section", i);
        }
        if (s.sh_type == SHT_SYMTAB) {
            if (elf->symbol_section || !is_table_of(&s, sizeof(Elf64_Sym)) ||
                !is_string_table(elf, s.sh_link) || s.sh_size / sizeof(Elf64_Sym) > UINT32_MAX) {
                return damaged(diag, "its symbols, section", i);
            }
            elf->symbol_section = i;
            elf->symbol_count = (uint32_t)(s.sh_size / sizeof(Elf64_Sym));
        }
    }
    return elf->symbol_section ? VYRE_OK : foreign(diag, "it has no table of symbols");
}

static vyre_status check_symbols(const vyre_elf *elf, vyre_diag *diag) {
    uint32_t strings = vyre_elf_section(elf, elf->symbol_section).sh_link;
    uint64_t names = vyre_elf_section(elf, strings).sh_size;
    for (uint32_t i = 0; i < elf->symbol_count; i++) {
        Elf64_Sym s = vyre_elf_symbol(elf, i);
        if (s.st_name >= names ||
            (s.st_shndx < SHN_LORESERVE && s.st_shndx >= elf->section_count)) {
            return damaged(diag, "symbol", i);
        }
        uint64_t end;
        if (s.st_shndx != SHN_UNDEF && s.st_shndx < SHN_LORESERVE &&
            (!vyre_add_u64(s.st_value, s.st_size, &end) ||
             end > vyre_elf_section(elf, s.st_shndx).sh_size)) {
            return damaged(diag, "the place of symbol", i);
        }
    }
    return VYRE_OK;
}

static vyre_status check_relocations(const vyre_elf *elf, vyre_diag *diag) {
    for (uint32_t i = 1; i < elf->section_count; i++) {
        Elf64_Shdr s = vyre_elf_section(elf, i);
        if (s.sh_type == SHT_REL) {
            return foreign(diag, "its relocations are without addends");
        }
        if (s.sh_type != SHT_RELA) {
            continue;
        }
        if (!is_table_of(&s, sizeof(Elf64_Rela)) || s.sh_link != elf->symbol_section ||
            s.sh_info >= elf->section_count) {
            return damaged(diag, "relocations, section", i);
        }
        for (uint64_t r = 0; r < vyre_elf_relocation_count(&s); r++) {
            if (ELF64_R_SYM(vyre_elf_relocation(elf, &s, r).r_info) >= elf->symbol_count) {
                return damaged(diag, "the symbol of a relocation, section", i);
            }
        }
    }
    return VYRE_OK;
}

vyre_status vyre_elf_open(const void *bytes, size_t size, vyre_elf *out_elf, vyre_diag *diag) {
    vyre_elf elf = {.bytes = bytes, .size = size};
    vyre_status status = read_header(&elf, diag);
    status = status == VYRE_OK ? check_sections(&elf, diag) : status;
    status = status == VYRE_OK ? check_symbols(&elf, diag) : status;
    status = status == VYRE_OK ? check_relocations(&elf, diag) : status;
    if (status == VYRE_OK) {
        *out_elf = elf;
    }
    return status;
}
