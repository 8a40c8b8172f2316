/* One block as a program of its own. */
#ifndef VYRE_SRC_SPLIT_SEGMENT_H
#define VYRE_SRC_SPLIT_SEGMENT_H

#include "split/carry.h"
#include "split/module.h"

/* Makes segment after segment of one program; maps of the size of the program are kept, so that a
 * segment costs what its block and the values it restores cost. */
typedef struct vyre_segment_maker vyre_segment_maker;

/* For the segments of a module whose source, names and buffers are set. checks_turn: a branch
 * decides what is launched, so every segment asks whether it is its turn. */
vyre_status vyre_segment_maker_create(const vyre_module *module, const vyre_carry_plan *plan,
                                      bool checks_turn, vyre_segment_maker **out_maker,
                                      vyre_diag *diag);
void vyre_segment_maker_destroy(vyre_segment_maker *maker);

/* The segment of a block: restores what the block touches, runs it, stores what it changed and is
 * alive behind it, and says which way to go. NULL in *out_segment: the block does nothing that
 * anyone can notice. *out_flips: it writes what lanes share to _next. */
vyre_status vyre_segment_build(vyre_segment_maker *maker, uint32_t block, uint32_t number,
                               vyre_program **out_segment, bool *out_flips, vyre_diag *diag);

#endif
