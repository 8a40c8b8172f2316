/* The build id is a note in memory: among the loaded objects the one that holds this code is looked
 * for, and its notes are read. Costs microseconds. */
#include "kit/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

typedef struct search {
    uint8_t id[VYRE_BUILD_ID_MOST];
    size_t size;
} search;

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
    bool inside = false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        inside |= p->p_type == PT_LOAD && address >= begin && address - begin < p->p_memsz;
    }
    return inside;
}

/* Notes lie one after the other: sizes of name and contents, both rounded up to words. */
static void read_notes(const unsigned char *at, size_t size, search *s) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        const size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        const size_t contents = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > size - sizeof note || contents > size - sizeof note - name) {
            return;
        }
        const unsigned char *text = at + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(text, "GNU", 4) == 0 &&
            note.n_descsz <= VYRE_BUILD_ID_MOST) {
            s->size = note.n_descsz;
            memcpy(s->id, text + name, s->size);
            return;
        }
        at += sizeof note + name + contents;
        size -= sizeof note + name + contents;
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    if (!holds(info, (uintptr_t)vyre_linker_build_id)) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE) {
            const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers */
            read_notes((const unsigned char *)begin, p->p_memsz, user);
        }
    }
    return 1;
}

size_t vyre_linker_build_id(uint8_t out_id[VYRE_BUILD_ID_MOST]) {
    search s = {.size = 0};
    (void)dl_iterate_phdr(look, &s);
    memcpy(out_id, s.id, s.size);
    return s.size;
}
