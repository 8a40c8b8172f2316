/* Slots for values that are stored between launches. */
#ifndef VYRE_SRC_SPLIT_SLOTS_H
#define VYRE_SRC_SPLIT_SLOTS_H

#include "split/carry.h"

/* Gives each value that is carried and not recomputed its slot, and the plan the number of words of
 * lanes and groups, which count on from what there is, even numbers. Values that are never alive
 * behind the same block share slots. False when out of memory. */
bool vyre_slots_assign(vyre_carry_plan *plan, const vyre_presences *found, const vyre_allocator *a);

#endif
