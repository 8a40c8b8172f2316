/* Which variables are assigned in which loop: walks over a body give them a new version at the
 * loop's head. */
#ifndef VYRE_SRC_ANALYSIS_ASSIGNED_H
#define VYRE_SRC_ANALYSIS_ASSIGNED_H

#include "base/alloc.h"
#include "vyre/ir.h"

/* For all bodies of the program: vars[first[loop] .. first[loop + 1]), where loop is its FOR or
 * WHILE, are bound before the loop and assigned in it. */
typedef struct vyre_assigned {
    uint32_t *first; /* per statement, and the end */
    vyre_var *vars;
    uint32_t count;
} vyre_assigned;

/* False when out of memory; to be freed in either case. */
bool vyre_assigned_find(const vyre_program_view *p, const vyre_allocator *a, vyre_assigned *out);
void vyre_assigned_free(const vyre_program_view *p, const vyre_allocator *a,
                        vyre_assigned *assigned);

#endif
