/* One block as a program of its own. */
#ifndef VYRE_SRC_PASS_SEGMENT_H
#define VYRE_SRC_PASS_SEGMENT_H

#include "pass/carry.h"
#include "pass/module.h"

/* The segment of a block: restores what the block touches, runs it, stores what it changed and is
 * alive behind it, and says which way to go. NULL in *out_segment: the block does nothing that
 * anyone can notice. *out_flips: it writes what lanes share to
 * _next. */
vyre_status vyre_segment_build(const vyre_program *program, const vyre_carry_plan *plan,
                               const vyre_module_names *names, uint32_t block, uint32_t number,
                               const vyre_allocator *a, vyre_program **out_segment, bool *out_flips,
                               vyre_diag *diag);

#endif
