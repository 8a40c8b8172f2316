/* Loops of few trips that are known, as one body after the other.
 *
 *     for (k in 0 .. 3) { sum = sum + a[min(max(global_id.x + k, 1) - 1, n - 1)]; }
 *
 * becomes three statements with 0, 1 and 2 for k. That is done where a clamp, a choice or a
 * remainder of lane and trip together is part of an index: of each trip it can be found out before
 * lanes run where it changes nothing, of all trips together it can not. */
#ifndef VYRE_SRC_OPT_OPT_UNROLL_H
#define VYRE_SRC_OPT_OPT_UNROLL_H

#include "base/alloc.h"
#include "vyre/ir.h"

/* The program is valid and has no calls; so is the result, which is NULL if there was nothing to
 * do. Declarations keep their numbers. Linear in the size of the result. */
vyre_status vyre_opt_unroll(const vyre_program *program, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag);

#endif
