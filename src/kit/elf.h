/* Reading an ELF relocatable object for x86-64 from memory. The file may be damaged in any way: all
 * that the readers below rely on is checked once, when it is opened. */
#ifndef VYRE_SRC_KIT_ELF_H
#define VYRE_SRC_KIT_ELF_H

#include <elf.h>

#include "vyre/base.h"

typedef struct vyre_elf {
    const unsigned char *bytes; /* borrowed, of any alignment */
    size_t size;
    uint64_t section_table; /* offset */
    uint32_t section_count;
    uint32_t name_section; /* string table of the sections' names */
    uint32_t symbol_section;
    uint32_t symbol_count;
} vyre_elf;

/* VYRE_INVALID_INPUT: it is no object or is damaged; VYRE_UNSUPPORTED: for another machine, or of a
 * kind that is not read. */
vyre_status vyre_elf_open(const void *bytes, size_t size, vyre_elf *out_elf, vyre_diag *diag);

/* Numbers must be below the counts. Texts are NUL-terminated and live in the file. */
Elf64_Shdr vyre_elf_section(const vyre_elf *elf, uint32_t section);
const char *vyre_elf_section_name(const vyre_elf *elf, uint32_t section);
Elf64_Sym vyre_elf_symbol(const vyre_elf *elf, uint32_t symbol);
const char *vyre_elf_symbol_name(const vyre_elf *elf, uint32_t symbol);

/* The relocations of a section of type SHT_RELA; `number` must be below the count. Their symbols
 * have been checked, their offsets have not. */
uint64_t vyre_elf_relocation_count(const Elf64_Shdr *section);
Elf64_Rela vyre_elf_relocation(const vyre_elf *elf, const Elf64_Shdr *section, uint64_t number);

#endif
