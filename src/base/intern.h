/* Interned strings: each distinct text once, numbered in order of first sight, so that names are
 * compared by number and nothing depends on addresses. Texts may contain NUL bytes. */
#ifndef VYRE_SRC_BASE_INTERN_H
#define VYRE_SRC_BASE_INTERN_H

#include "base/arena.h"

typedef struct vyre_intern {
    vyre_arena arena;
    struct vyre_intern_entry {
        const char *text; /* NUL-terminated, in the arena */
        uint32_t length;
        uint32_t hash;
    } * entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* open addressing, entry number + 1 */
    uint32_t slot_count;
} vyre_intern;

enum { VYRE_INTERN_NONE = 0xffffffffu };

void vyre_intern_init(vyre_intern *table, const vyre_allocator *a);
void vyre_intern_finish(vyre_intern *table);
/* Number of the text, added if new; VYRE_INTERN_NONE when out of memory. */
uint32_t vyre_intern_add(vyre_intern *table, const char *text, size_t length);
/* Number of the text, or VYRE_INTERN_NONE when it is not there. */
uint32_t vyre_intern_find(const vyre_intern *table, const char *text, size_t length);
const char *vyre_intern_text(const vyre_intern *table, uint32_t number);

#endif
