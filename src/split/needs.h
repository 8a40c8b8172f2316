/* Which uniform values the schedule has to compute: those that lanes take as params, those that
 * conditions are made of, and what these are computed from. */
#ifndef VYRE_SRC_SPLIT_NEEDS_H
#define VYRE_SRC_SPLIT_NEEDS_H

#include "split/presence.h"

typedef struct vyre_need {
    uint32_t user, operand; /* values; user VYRE_NONE: a condition */
    uint32_t block;
    bool at_start; /* it is the value that the operand has when the block is entered */
    uint32_t next_of_user, next_of_operand;
} vyre_need;

typedef struct vyre_needs {
    vyre_allocator allocator;
    uint32_t value_count;
    VYRE_VEC(vyre_need) list;
    uint32_t *of_user, *of_operand; /* per value: its last need, or VYRE_NONE */
    bool *needed;                   /* per value */
    VYRE_VEC(uint32_t) work;
    bool failed; /* out of memory: what was found is not complete */
} vyre_needs;

/* False when out of memory; to be finished in any case. */
bool vyre_needs_init(vyre_needs *needs, uint32_t values, const vyre_allocator *a);
void vyre_needs_finish(vyre_needs *needs);

/* Computing `user` in the block takes `operand`. */
void vyre_needs_add(vyre_needs *needs, uint32_t user, uint32_t operand, uint32_t block,
                    bool at_start);
/* The value is needed, and with it all that it is computed from. */
void vyre_needs_mark(vyre_needs *needs, uint32_t value);
/* Adds VYRE_CONTROL where a needed value takes another at the start of a block. */
void vyre_needs_spread(const vyre_needs *needs, vyre_presences *found);

#endif
