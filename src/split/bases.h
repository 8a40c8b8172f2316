/* Bases of values that are a base plus the lane's place.
 *
 *     let i = global_id.x;              let i_base = 0;
 *     while (...) {                     let i = global_id.x;
 *         ... a[i] ...          ->      while (...) {
 *         grid_sync;                        ... a[i] ...
 *         i = i + n;                        grid_sync;
 *     }                                     i_base = i_base + n;
 *                                           i = i + n;
 *                                       }
 *
 * Such a value need not be stored by each lane: behind a barrier it is computed again, as i_base +
 * global_id.x, so that whoever compiles the segment sees that neighbouring lanes touch neighbouring
 * elements. The base is the same for a group, mostly for the grid, and then the schedule's. */
#ifndef VYRE_SRC_SPLIT_BASES_H
#define VYRE_SRC_SPLIT_BASES_H

#include "base/alloc.h"
#include "vyre/split.h"

/* Variable = base + by_global * global_id.x + by_local * local_id.x, wherever both are set. */
typedef struct vyre_base {
    vyre_var base; /* VYRE_NONE: it has none */
    uint32_t by_global, by_local;
} vyre_base;

typedef struct vyre_bases {
    vyre_base *of;      /* per variable; NULL: none has a base */
    bool *only_groups;  /* per variable: a base that the schedule could not know without a wait for
                           the device, so that groups keep it themselves */
    uint32_t var_count; /* of the new program */
    vyre_var *number;   /* per variable of the program before: its number now */
    uint32_t old_count;
} vyre_bases;

/* Adds bases to variables that would else be stored by each lane at a barrier of the scope. Calls
 * are inlined, and versions of variables apart. The result is the program itself, retained, and the
 * bases are empty, if there is none to add; that costs a few looks at the statements. */
vyre_status vyre_bases_add(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                           vyre_program **out_program, vyre_bases *out_bases, vyre_diag *diag);
void vyre_bases_finish(vyre_bases *bases, const vyre_allocator *a);

#endif
