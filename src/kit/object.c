/* The object loader. One mapping holds three parts, each of whole pages:
 *
 *     code (read, execute) | constants and the table of addresses (read) | data (read, write)
 *
 * Sections are placed into their part in the order of the file; relocations are looked over once to
 * learn which symbols want an address in the table (GOT) and whether the code wants to lie in the
 * lowest 2 GiB, then the memory is mapped writable, filled, relocated, and only then given its
 * protection. It is below 1 GiB, so that relative references of 32 bits always reach.
 *
 * Why it is right: vyre_elf_open has checked the file; what is added here is that each relocation
 * lies inside of its section, that its value fits its field, and that it refers to something that
 * was placed. What the code does is not judged: it is trusted as far as the compiler is.
 *
 * Ignored: unwind tables, notes, debug information. Costs one mmap, a few mprotect and time linear
 * in the file; there is no lazy binding, nothing is written after loading. */
#include "kit/object.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/intern.h"
#include "kit/elf.h"

#ifndef MAP_32BIT
#    define MAP_32BIT 0 /* other machines, where nothing is loaded */
#endif

struct vyre_object {
    vyre_allocator allocator;
    unsigned char *base;
    size_t size;
    vyre_intern names;    /* of functions */
    uintptr_t *functions; /* by number of the name */
    uint32_t room;
};

typedef enum part { PART_CODE, PART_CONSTANTS, PART_DATA, PART_COUNT, PART_NONE } part;

typedef struct loader {
    const vyre_elf *elf;
    vyre_object *object;
    uint64_t *places; /* section -> offset in the mapping */
    uint32_t *slots;  /* symbol -> number in the GOT + 1, or 0 */
    uint32_t slot_count;
    uint64_t got;                    /* offset */
    uint64_t begins[PART_COUNT + 1]; /* offsets */
    bool is_low;                     /* some address must fit into 32 bits */
    vyre_diag *diag;
} loader;

/* How the value of a relocation is made from S (symbol), A (addend), P (its own place), G (the
 * symbol's entry in the table) and T (the table). */
typedef enum form {
    FORM_ADDRESS,      /* S + A */
    FORM_DISTANCE,     /* S + A - P */
    FORM_FROM_TABLE,   /* S + A - T */
    FORM_ENTRY,        /* G + A - P */
    FORM_ENTRY_OFFSET, /* G + A - T */
    FORM_TABLE         /* T + A - P */
} form;
typedef enum field { FIELD_64, FIELD_SIGNED_32, FIELD_UNSIGNED_32 } field;

typedef struct relocation_kind {
    uint32_t type;
    form form;
    field field;
} relocation_kind;

static const relocation_kind kinds[] = {
    {R_X86_64_64, FORM_ADDRESS, FIELD_64},
    {R_X86_64_32, FORM_ADDRESS, FIELD_UNSIGNED_32},
    {R_X86_64_32S, FORM_ADDRESS, FIELD_SIGNED_32},
    {R_X86_64_PC32, FORM_DISTANCE, FIELD_SIGNED_32},
    {R_X86_64_PLT32, FORM_DISTANCE, FIELD_SIGNED_32},
    {R_X86_64_PC64, FORM_DISTANCE, FIELD_64},
    {R_X86_64_GOTPCREL, FORM_ENTRY, FIELD_SIGNED_32},
    {R_X86_64_GOTPCRELX, FORM_ENTRY, FIELD_SIGNED_32},
    {R_X86_64_REX_GOTPCRELX, FORM_ENTRY, FIELD_SIGNED_32},
    {R_X86_64_GOT64, FORM_ENTRY_OFFSET, FIELD_64},
    {R_X86_64_GOTOFF64, FORM_FROM_TABLE, FIELD_64},
    {R_X86_64_PLTOFF64, FORM_FROM_TABLE, FIELD_64},
    {R_X86_64_GOTPC64, FORM_TABLE, FIELD_64},
};

static const relocation_kind *kind_of(uint64_t type) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].type == type) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool has_entry(form f) {
    return f == FORM_ENTRY || f == FORM_ENTRY_OFFSET;
}

static vyre_status unsupported(const loader *l, const char *what, const char *name) {
    return vyre_fail(l->diag, VYRE_UNSUPPORTED, NULL, "the object file can't be loaded: %s \"%s\"",
                     what, name);
}

static part part_of(const vyre_elf *elf, uint32_t section) {
    Elf64_Shdr s = vyre_elf_section(elf, section);
    const char *name = vyre_elf_section_name(elf, section);
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_NOTE || s.sh_type == SHT_X86_64_UNWIND ||
        strcmp(name, ".eh_frame") == 0) {
        return PART_NONE;
    }
    if (s.sh_flags & SHF_EXECINSTR) {
        return PART_CODE;
    }
    bool is_constant = !(s.sh_flags & SHF_WRITE) || strncmp(name, ".data.rel.ro", 12) == 0;
    return is_constant ? PART_CONSTANTS : PART_DATA;
}

static vyre_status check_section(const loader *l, uint32_t section, uint64_t page) {
    Elf64_Shdr s = vyre_elf_section(l->elf, section);
    const char *name = vyre_elf_section_name(l->elf, section);
    if (s.sh_type != SHT_PROGBITS && s.sh_type != SHT_NOBITS) {
        return unsupported(l, "nobody would run or read its section", name);
    }
    if (s.sh_flags & (SHF_TLS | SHF_COMPRESSED)) {
        return unsupported(l, "thread-local or compressed section", name);
    }
    if ((s.sh_flags & SHF_EXECINSTR) && (s.sh_flags & SHF_WRITE)) {
        return unsupported(l, "writable code in section", name);
    }
    if (s.sh_addralign > page) {
        return unsupported(l, "alignment beyond a page in section", name);
    }
    return VYRE_OK;
}

/* Appends a block to what is placed; false: too large. Both summands stay below 2^31. */
static bool append(uint64_t *end, uint64_t alignment, uint64_t size, uint64_t *out_place) {
    uint64_t place = alignment > 1 ? (*end + alignment - 1) & ~(alignment - 1) : *end;
    if (size > VYRE_OBJECT_MOST_BYTES || place + size > VYRE_OBJECT_MOST_BYTES) {
        return false;
    }
    *out_place = place;
    *end = place + size;
    return true;
}

static vyre_status place_sections(loader *l) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t end = 0;
    bool fits = true;
    for (part p = 0; p < PART_COUNT; p++) {
        fits = fits && append(&end, page, 0, &l->begins[p]);
        for (uint32_t i = 1; i < l->elf->section_count && fits; i++) {
            if (part_of(l->elf, i) == p) {
                Elf64_Shdr s = vyre_elf_section(l->elf, i);
                vyre_status status = check_section(l, i, page);
                if (status != VYRE_OK) {
                    return status;
                }
                fits = append(&end, s.sh_addralign, s.sh_size, &l->places[i]);
            }
        }
        if (p == PART_CONSTANTS) {
            fits = fits && append(&end, 8, 8 * (uint64_t)l->slot_count, &l->got);
        }
    }
    if (!fits || !append(&end, page, 0, &l->begins[PART_COUNT])) {
        return vyre_fail(l->diag, VYRE_LIMIT, NULL, "the object takes more than %d bytes in memory",
                         VYRE_OBJECT_MOST_BYTES);
    }
    return VYRE_OK;
}

static vyre_status check_symbol(const loader *l, uint32_t symbol) {
    Elf64_Sym s = vyre_elf_symbol(l->elf, symbol);
    const char *name = vyre_elf_symbol_name(l->elf, symbol);
    unsigned type = ELF64_ST_TYPE(s.st_info);
    /* Compilers mention the table by name where they use it. */
    if (s.st_shndx == SHN_UNDEF && strcmp(name, "_GLOBAL_OFFSET_TABLE_") != 0) {
        return vyre_fail(l->diag, VYRE_UNSUPPORTED,
                         "what the code needs must come through its arguments",
                         "the object file can't be loaded: it does not define \"%s\"", name);
    }
    if (type == STT_TLS || type == STT_GNU_IFUNC ||
        (s.st_shndx >= SHN_LORESERVE && s.st_shndx != SHN_ABS)) {
        return unsupported(l, "thread-local, indirect or common symbol", name);
    }
    return VYRE_OK;
}

/* Whether the relocations are for something that is loaded. */
static bool relocates(const vyre_elf *elf, const Elf64_Shdr *s) {
    return s->sh_type == SHT_RELA && part_of(elf, s->sh_info) != PART_NONE;
}

/* Checks one and notes what it needs. */
static vyre_status survey_relocation(loader *l, const Elf64_Shdr *target, const Elf64_Rela *r) {
    uint32_t symbol = (uint32_t)ELF64_R_SYM(r->r_info);
    const relocation_kind *kind = kind_of(ELF64_R_TYPE(r->r_info));
    if (!kind) {
        return vyre_fail(l->diag, VYRE_UNSUPPORTED, NULL,
                         "the object file can't be loaded: relocation of type %llu for \"%s\"",
                         (unsigned long long)ELF64_R_TYPE(r->r_info),
                         vyre_elf_symbol_name(l->elf, symbol));
    }
    uint64_t end;
    uint64_t width = kind->field == FIELD_64 ? 8 : 4;
    if (!vyre_add_u64(r->r_offset, width, &end) || end > target->sh_size ||
        target->sh_type == SHT_NOBITS) {
        return vyre_fail(l->diag, VYRE_INVALID_INPUT, "compile it again",
                         "the object file is damaged: a relocation lies outside of its section");
    }
    if (kind->form != FORM_TABLE) {
        uint32_t section = vyre_elf_symbol(l->elf, symbol).st_shndx;
        if (section == SHN_UNDEF ||
            (section < SHN_LORESERVE && part_of(l->elf, section) == PART_NONE)) {
            return unsupported(l, "it refers to what is not loaded, symbol",
                               vyre_elf_symbol_name(l->elf, symbol));
        }
    }
    if (has_entry(kind->form) && !l->slots[symbol]) {
        l->slots[symbol] = ++l->slot_count;
    }
    l->is_low |= kind->form == FORM_ADDRESS && kind->field != FIELD_64;
    return VYRE_OK;
}

static vyre_status apply_relocation(loader *l, uint32_t target, const Elf64_Rela *r);

/* Both walks over the relocations. */
static vyre_status each_relocation(loader *l, bool apply) {
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        Elf64_Shdr s = vyre_elf_section(l->elf, i);
        if (!relocates(l->elf, &s)) {
            continue;
        }
        Elf64_Shdr target = vyre_elf_section(l->elf, s.sh_info);
        for (uint64_t n = 0; n < vyre_elf_relocation_count(&s); n++) {
            Elf64_Rela r = vyre_elf_relocation(l->elf, &s, n);
            vyre_status status =
                apply ? apply_relocation(l, s.sh_info, &r) : survey_relocation(l, &target, &r);
            if (status != VYRE_OK) {
                return status;
            }
        }
    }
    return VYRE_OK;
}

static uint64_t address_of(const loader *l, uint64_t offset) {
    return (uintptr_t)l->object->base + offset;
}

static uint64_t symbol_address(const loader *l, uint32_t symbol) {
    Elf64_Sym s = vyre_elf_symbol(l->elf, symbol);
    return s.st_shndx == SHN_ABS ? s.st_value : address_of(l, l->places[s.st_shndx] + s.st_value);
}

static uint64_t relocation_value(const loader *l, form f, uint32_t symbol, uint64_t place) {
    uint64_t table = address_of(l, l->got);
    uint64_t entry = table + 8 * ((uint64_t)l->slots[symbol] - 1);
    switch (f) {
    case FORM_ADDRESS: return symbol_address(l, symbol);
    case FORM_DISTANCE: return symbol_address(l, symbol) - place;
    case FORM_FROM_TABLE: return symbol_address(l, symbol) - table;
    case FORM_ENTRY: return entry - place;
    case FORM_ENTRY_OFFSET: return entry - table;
    case FORM_TABLE: return table - place;
    }
    return 0;
}

static vyre_status apply_relocation(loader *l, uint32_t target, const Elf64_Rela *r) {
    const relocation_kind *kind = kind_of(ELF64_R_TYPE(r->r_info));
    uint32_t symbol = (uint32_t)ELF64_R_SYM(r->r_info);
    uint64_t offset = l->places[target] + r->r_offset;
    uint64_t value =
        relocation_value(l, kind->form, symbol, address_of(l, offset)) + (uint64_t)r->r_addend;
    bool fits = kind->field == FIELD_64 ||
                (kind->field == FIELD_SIGNED_32 && value + 0x80000000u <= UINT32_MAX) ||
                (kind->field == FIELD_UNSIGNED_32 && value <= UINT32_MAX);
    if (!fits) {
        return unsupported(l, "a relative or 32-bit address does not reach symbol",
                           vyre_elf_symbol_name(l->elf, symbol));
    }
    /* Little-endian: the low bytes come first. */
    memcpy(l->object->base + offset, &value, kind->field == FIELD_64 ? 8 : 4);
    return VYRE_OK;
}

static vyre_status fail_system(const loader *l, const char *what) {
    int error = errno;
    vyre_status status = vyre_fail(l->diag, VYRE_OUT_OF_MEMORY, NULL, "%s: %s", what,
                                   error == ENOMEM ? "out of memory" : "the system refuses it");
    if (l->diag) {
        l->diag->native = error;
    }
    return status;
}

static vyre_status map_pages(loader *l) {
    size_t size = l->begins[PART_COUNT] ? l->begins[PART_COUNT] : 1;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (l->is_low ? MAP_32BIT : 0);
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) {
        return fail_system(l, l->is_low ? "no pages for code in the lowest 2 GiB"
                                        : "no pages for code");
    }
    l->object->base = base;
    l->object->size = size;
    return VYRE_OK;
}

static void fill_pages(loader *l) {
    for (uint32_t i = 1; i < l->elf->section_count; i++) {
        Elf64_Shdr s = vyre_elf_section(l->elf, i);
        if (s.sh_type == SHT_PROGBITS && part_of(l->elf, i) != PART_NONE) {
            memcpy(l->object->base + l->places[i], l->elf->bytes + s.sh_offset, s.sh_size);
        }
    }
    for (uint32_t i = 0; i < l->elf->symbol_count; i++) {
        if (l->slots[i]) {
            uint64_t address = symbol_address(l, i);
            memcpy(l->object->base + l->got + 8 * ((uint64_t)l->slots[i] - 1), &address, 8);
        }
    }
}

static vyre_status protect_pages(const loader *l) {
    static const int protection[PART_COUNT] = {PROT_READ | PROT_EXEC, PROT_READ,
                                               PROT_READ | PROT_WRITE};
    for (part p = 0; p < PART_COUNT; p++) {
        size_t size = l->begins[p + 1] - l->begins[p];
        if (size && mprotect(l->object->base + l->begins[p], size, protection[p]) != 0) {
            return fail_system(l, "code can't be made executable");
        }
    }
    return VYRE_OK;
}

static bool is_visible_function(const vyre_elf *elf, const Elf64_Sym *s) {
    return ELF64_ST_TYPE(s->st_info) == STT_FUNC && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
           s->st_shndx != SHN_UNDEF && s->st_shndx < SHN_LORESERVE &&
           part_of(elf, s->st_shndx) == PART_CODE;
}

static vyre_status name_functions(loader *l) {
    vyre_object *o = l->object;
    for (uint32_t i = 0; i < l->elf->symbol_count; i++) {
        Elf64_Sym s = vyre_elf_symbol(l->elf, i);
        o->room += is_visible_function(l->elf, &s);
    }
    o->functions = vyre_alloc(&o->allocator, o->room, sizeof *o->functions);
    if (!o->functions) {
        return vyre_fail_memory(l->diag, "the functions of an object");
    }
    for (uint32_t i = 0; i < l->elf->symbol_count; i++) {
        Elf64_Sym s = vyre_elf_symbol(l->elf, i);
        if (is_visible_function(l->elf, &s)) {
            const char *name = vyre_elf_symbol_name(l->elf, i);
            uint32_t known = o->names.count;
            uint32_t number = vyre_intern_add(&o->names, name, strlen(name));
            if (number == VYRE_INTERN_NONE) {
                return vyre_fail_memory(l->diag, "the functions of an object");
            }
            if (number != known) {
                return unsupported(l, "it defines twice", name);
            }
            o->functions[number] = (uintptr_t)symbol_address(l, i);
        }
    }
    return VYRE_OK;
}

static vyre_status load(loader *l) {
    const vyre_allocator *a = &l->object->allocator;
    l->places = vyre_alloc_zeroed(a, l->elf->section_count, sizeof *l->places);
    l->slots = vyre_alloc_zeroed(a, l->elf->symbol_count, sizeof *l->slots);
    if (!l->places || !l->slots) {
        return vyre_fail_memory(l->diag, "loading an object");
    }
    vyre_status status = VYRE_OK;
    for (uint32_t i = 1; i < l->elf->symbol_count && status == VYRE_OK; i++) {
        status = check_symbol(l, i);
    }
    status = status == VYRE_OK ? each_relocation(l, false) : status;
    status = status == VYRE_OK ? place_sections(l) : status;
    status = status == VYRE_OK ? map_pages(l) : status;
    if (status == VYRE_OK) {
        fill_pages(l);
        status = each_relocation(l, true);
    }
    status = status == VYRE_OK ? protect_pages(l) : status;
    return status == VYRE_OK ? name_functions(l) : status;
}

void vyre_object_destroy(vyre_object *object) {
    if (object) {
        if (object->base) {
            munmap(object->base, object->size);
        }
        const vyre_allocator a = object->allocator;
        vyre_intern_finish(&object->names);
        vyre_free(&a, object->functions, object->room, sizeof *object->functions);
        vyre_free(&a, object, 1, sizeof *object);
    }
}

vyre_status vyre_object_load(const void *bytes, size_t size, const vyre_allocator *allocator,
                             vyre_object **out_object, vyre_diag *diag) {
#if !defined(__x86_64__) || !defined(__linux__)
    return vyre_fail(diag, VYRE_UNSUPPORTED, NULL,
                     "objects are loaded on x86-64 Linux only, and this is another machine");
#endif
    vyre_elf elf;
    vyre_status status = vyre_elf_open(bytes, size, &elf, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_object *object = vyre_alloc_zeroed(&a, 1, sizeof *object);
    if (!object) {
        return vyre_fail_memory(diag, "an object");
    }
    object->allocator = a;
    vyre_intern_init(&object->names, &a);
    loader l = {.elf = &elf, .object = object, .diag = diag};
    status = load(&l);
    vyre_free(&a, l.places, elf.section_count, sizeof *l.places);
    vyre_free(&a, l.slots, elf.symbol_count, sizeof *l.slots);
    if (status != VYRE_OK) {
        vyre_object_destroy(object);
        return status;
    }
    *out_object = object;
    return VYRE_OK;
}

vyre_object_function vyre_object_find(const vyre_object *object, const char *name) {
    uint32_t number = vyre_intern_find(&object->names, name, strlen(name));
    vyre_object_function function = NULL;
    if (number != VYRE_INTERN_NONE) {
        memcpy(&function, &object->functions[number], sizeof function);
    }
    return function;
}

size_t vyre_object_size(const vyre_object *object) {
    return object->size;
}
