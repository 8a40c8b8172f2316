/* States in growing arrays, an open-addressing table over their sets, and pairing heaps linked
 * through the states themselves: constant-time push, amortised O(log n) pop, no extra memory. Ties
 * of the key go to the older state, so the order is reproducible. */
#include "plan/states.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_CAPACITY = 256 };

void vyre_states_init(vyre_states *states, const vyre_allocator *a, uint32_t words, uint32_t *roots,
                      uint32_t depths, size_t bytes) {
    /* Growing holds the old and the new arrays for a moment. */
    size_t each = 2 * (sizeof(vyre_state) + words * sizeof(uint64_t) + 2 * sizeof(uint32_t));
    size_t most = bytes / each;
    *states = (vyre_states){.allocator = *a,
                            .words = words,
                            .most = most < (1u << 30) ? (uint32_t)most : 1u << 30,
                            .roots = roots};
    for (uint32_t d = 0; d < depths; d++) {
        roots[d] = VYRE_STATE_NONE;
    }
}

static void free_arrays(const vyre_allocator *a, vyre_state *state, uint64_t *sets, uint32_t *slots,
                        size_t capacity, size_t words) {
    vyre_free(a, state, capacity, sizeof *state);
    vyre_free(a, sets, capacity * words, sizeof *sets);
    vyre_free(a, slots, capacity * 2, sizeof *slots);
}

void vyre_states_finish(vyre_states *states) {
    free_arrays(&states->allocator, states->state, states->sets, states->slots, states->capacity,
                states->words);
    *states = (vyre_states){.allocator = states->allocator};
}

static uint32_t *find_slot(const vyre_states *states, const uint64_t *set) {
    size_t bytes = states->words * sizeof *set;
    uint32_t mask = states->capacity * 2 - 1;
    uint32_t slot = (uint32_t)vyre_hash_bytes(set, bytes) & mask;
    while (states->slots[slot] &&
           memcmp(vyre_states_set(states, states->slots[slot] - 1), set, bytes) != 0) {
        slot = (slot + 1) & mask;
    }
    return &states->slots[slot];
}

static bool grow(vyre_states *states) {
    size_t old = states->capacity, words = states->words;
    size_t capacity = old ? old * 2 : FIRST_CAPACITY;
    if (capacity > states->most) {
        states->full = true;
        return false;
    }
    const vyre_allocator *a = &states->allocator;
    vyre_state *state = vyre_alloc(a, capacity, sizeof *state);
    uint64_t *sets = state ? vyre_alloc(a, capacity * words, sizeof *sets) : NULL;
    uint32_t *slots = sets ? vyre_alloc_zeroed(a, capacity * 2, sizeof *slots) : NULL;
    if (!slots) {
        free_arrays(a, state, sets, slots, capacity, words);
        states->failed = true;
        return false;
    }
    if (old) {
        memcpy(state, states->state, states->count * sizeof *state);
        memcpy(sets, states->sets, states->count * words * sizeof *sets);
    }
    free_arrays(a, states->state, states->sets, states->slots, old, words);
    states->state = state;
    states->sets = sets;
    states->slots = slots;
    states->capacity = (uint32_t)capacity;
    for (uint32_t k = 0; k < states->count; k++) {
        /* Of several states of a set the youngest has the fewest groups. */
        *find_slot(states, vyre_states_set(states, k)) = k + 1;
    }
    return true;
}

static uint32_t meld(vyre_state *state, uint32_t a, uint32_t b) {
    if (a == VYRE_STATE_NONE || b == VYRE_STATE_NONE) {
        return a == VYRE_STATE_NONE ? b : a;
    }
    bool a_first = state[a].key < state[b].key || (state[a].key == state[b].key && a < b);
    uint32_t top = a_first ? a : b, below = a_first ? b : a;
    state[below].sibling = state[top].child;
    state[top].child = below;
    return top;
}

/* Children are melded in pairs, then the pairs from the last to the first. */
static uint32_t without_top(vyre_state *state, uint32_t top) {
    uint32_t pairs = VYRE_STATE_NONE, next = state[top].child;
    while (next != VYRE_STATE_NONE) {
        uint32_t first = next, second = state[first].sibling;
        next = second == VYRE_STATE_NONE ? second : state[second].sibling;
        state[first].sibling = VYRE_STATE_NONE;
        if (second != VYRE_STATE_NONE) {
            state[second].sibling = VYRE_STATE_NONE;
        }
        uint32_t pair = meld(state, first, second);
        state[pair].sibling = pairs;
        pairs = pair;
    }
    uint32_t root = VYRE_STATE_NONE;
    while (pairs != VYRE_STATE_NONE) {
        uint32_t pair = pairs;
        pairs = state[pair].sibling;
        state[pair].sibling = VYRE_STATE_NONE;
        root = meld(state, root, pair);
    }
    return root;
}

uint32_t vyre_states_add(vyre_states *states, const uint64_t *set, uint32_t depth, uint32_t parent,
                         double key) {
    if (states->count == states->capacity && !grow(states)) {
        return VYRE_STATE_NONE;
    }
    uint32_t *slot = find_slot(states, set);
    if (*slot && states->state[*slot - 1].depth <= depth) {
        return VYRE_STATE_NONE;
    }
    uint32_t number = states->count++;
    memcpy(states->sets + (size_t)number * states->words, set, states->words * sizeof *set);
    states->state[number] = (vyre_state){.key = key,
                                         .parent = parent,
                                         .depth = depth,
                                         .child = VYRE_STATE_NONE,
                                         .sibling = VYRE_STATE_NONE};
    *slot = number + 1;
    states->roots[depth] = meld(states->state, states->roots[depth], number);
    return number;
}

uint32_t vyre_states_pop(vyre_states *states, uint32_t depth) {
    for (;;) {
        uint32_t top = states->roots[depth];
        if (top == VYRE_STATE_NONE) {
            return top;
        }
        states->roots[depth] = without_top(states->state, top);
        if (*find_slot(states, vyre_states_set(states, top)) == top + 1) {
            return top;
        }
    }
}
