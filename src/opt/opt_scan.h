/* Scans by doubling steps, as one walk.
 *
 *     while (reach < 256) {
 *         let left = local_id.x >= reach ? line[local_id.x - reach] : 0;
 *         barrier;
 *         line[local_id.x] = line[local_id.x] + left;
 *         barrier;
 *         reach = reach * 2;
 *     }
 *
 * becomes
 *
 *     if (local_id.x == 0) {
 *         let _sum = 0;
 *         for (_k in 0 .. 256) { _sum = _sum + line[_k]; line[_k] = _sum; }
 *     }
 *     barrier;
 *     reach = 256;
 *
 * Steps are what a device whose lanes run at the same time wants; where the lanes of a group run in
 * turn they are eight times the work. */
#ifndef VYRE_SRC_OPT_OPT_SCAN_H
#define VYRE_SRC_OPT_OPT_SCAN_H

#include "base/alloc.h"
#include "vyre/ir.h"

/* The program is valid and has no calls; so is the result, which is the program itself, retained,
 * if there was nothing to do. Declarations keep their numbers. Linear: of loops that may be scans a
 * bounded number of trips is followed. */
vyre_status vyre_opt_scan(const vyre_program *program, const vyre_allocator *a,
                          vyre_program **out_program, vyre_diag *diag);
/* Whether integers may be combined by the operator in any order; what changes nothing then. */
bool vyre_scan_combines(vyre_expr_op op);
uint64_t vyre_scan_neutral(vyre_expr_op op, vyre_type type);

#endif
