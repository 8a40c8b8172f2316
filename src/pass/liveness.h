/* Which entities (numbered values and memory) are alive between blocks. */
#ifndef VYRE_SRC_PASS_LIVENESS_H
#define VYRE_SRC_PASS_LIVENESS_H

#include "pass/blocks.h"

/* What a block has to do with an entity. */
enum {
    VYRE_USES = 1,     /* uses the value that it has at the block's start */
    VYRE_KILLS = 2,    /* sets it on every path */
    VYRE_TOUCHES = 4,  /* uses or sets it, in its exit too */
    VYRE_MODIFIES = 8, /* sets it, perhaps not on every path */
    VYRE_LIVE_IN = 16,
    VYRE_LIVE_OUT = 32
};

typedef struct vyre_presence {
    uint32_t entity;
    uint32_t block;
    uint32_t flags;
} vyre_presence;

typedef VYRE_VEC(vyre_presence) vyre_presences;

/* Given what each block uses and kills (one presence for a pair of block and entity, in any order),
 * adds where entities are alive. A variable that is set only on some path of a block keeps its old
 * value on the others, so it is not killed there; memory never is. Afterwards the list is sorted by
 * entity and first[e] .. first[e + 1] are those of entity e. False when out of memory. */
bool vyre_liveness_solve(vyre_presences *found, const vyre_blocks *blocks, uint32_t entities,
                         uint32_t *first, const vyre_allocator *a);

/* Sorts by block or by entity, keeping the order of equals; first[k] is where the part of key k
 * begins, first[keys] the number of all. False when out of memory. */
bool vyre_presences_sort(vyre_presences *found, bool by_block, uint32_t *first, uint32_t keys,
                         const vyre_allocator *a);

#endif
