/* The barrier optimiser: grid barriers that no lane needs are removed, those that only lanes of one
 * group need become workgroup barriers. */
#ifndef VYRE_SRC_OPT_OPT_BARRIER_H
#define VYRE_SRC_OPT_OPT_BARRIER_H

#include "base/alloc.h"
#include "vyre/split.h"

/* What became of the grid barriers, in the order of the program, and why. */
typedef struct vyre_barriers {
    VYRE_VEC(vyre_removed_barrier) removed;
    VYRE_VEC(vyre_kept_barrier) kept; /* `stmt` is that of the result */
    VYRE_VEC(vyre_decl) owned;        /* what `removed` points to */
    bool along_x;                     /* see vyre_module_view */
} vyre_barriers;

/* The program has no calls and is valid; so is the result, which is the program itself if there was
 * nothing to do. Declarations keep their numbers. Near-linear in the program, plus, for each
 * barrier, the memories used on the side that uses fewer. */
vyre_status vyre_opt_barrier(vyre_program *program, bool any_grid, const vyre_allocator *a,
                             vyre_program **out_program, vyre_barriers *out_barriers,
                             vyre_diag *diag);
void vyre_barriers_finish(vyre_barriers *barriers, const vyre_allocator *a);

#endif
