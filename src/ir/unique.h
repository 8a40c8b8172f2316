/* Names that occur once in a program. Rewrites that dissolve scopes or copy code give every
 * variable such a name, so that what they make can be printed and parsed. */
#ifndef VYRE_SRC_IR_UNIQUE_H
#define VYRE_SRC_IR_UNIQUE_H

#include "base/intern.h"
#include "vyre/ir.h"

typedef struct vyre_unique {
    vyre_intern used;
    uint32_t *next; /* per used name: the number to try next, so that long runs stay linear */
    uint32_t capacity;
} vyre_unique;

void vyre_unique_init(vyre_unique *names, const vyre_allocator *a);
void vyre_unique_finish(vyre_unique *names);
/* Marks all declarations and functions of the program as used. False when out of memory. */
bool vyre_unique_reserve(vyre_unique *names, const vyre_program_view *program);
/* `name` itself if it is free, else name_2, name_3, ...; marked as used. NULL when out of memory.
 * Valid until the table is finished. */
const char *vyre_unique_name(vyre_unique *names, const char *name);

#endif
