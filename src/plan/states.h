/* Partial plans that a search remembers: each set of placed waves once, with the fewest groups that
 * reached it, and for each number of groups a heap of those not yet expanded. */
#ifndef VYRE_SRC_PLAN_STATES_H
#define VYRE_SRC_PLAN_STATES_H

#include "base/alloc.h"

enum { VYRE_STATE_NONE = 0xffffffffu };

typedef struct vyre_state {
    double key; /* smaller is expanded earlier */
    uint32_t parent;
    uint32_t depth;          /* groups used */
    uint32_t child, sibling; /* pairing heap */
} vyre_state;

typedef struct vyre_states {
    vyre_allocator allocator;
    uint32_t words; /* of a set */
    uint32_t count, capacity, most;
    vyre_state *state;
    uint64_t *sets;
    uint32_t *slots; /* hash table: state + 1, at least half empty */
    uint32_t *roots; /* caller's: one for each depth */
    bool full;       /* something was not remembered because `most` was reached */
    bool failed;     /* ... because memory ran out */
} vyre_states;

/* `roots` has room for `depths` entries. At most `bytes` of memory are used. */
void vyre_states_init(vyre_states *states, const vyre_allocator *a, uint32_t words, uint32_t *roots,
                      uint32_t depths, size_t bytes);
void vyre_states_finish(vyre_states *states);
/* Adds a set unless it is known with no greater depth. Returns its number, or VYRE_STATE_NONE when
 * it was known or could not be stored. */
uint32_t vyre_states_add(vyre_states *states, const uint64_t *set, uint32_t depth, uint32_t parent,
                         double key);
/* Takes the open state of least key at that depth, skipping those reached with fewer groups since;
 * VYRE_STATE_NONE when there is none. */
uint32_t vyre_states_pop(vyre_states *states, uint32_t depth);

static inline const uint64_t *vyre_states_set(const vyre_states *states, uint32_t number) {
    return states->sets + (size_t)number * states->words;
}

#endif
