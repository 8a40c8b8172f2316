/* Slots: first fit in the order of the values, with a pool for lanes and one for groups, for each
 * size of one or two words. Behind a block all slots below some number are taken; looking begins
 * there, so that values that are alive together cost no more than others. */
#include "split/slots.h"

#include <string.h>

#include "base/mutant.h"

typedef struct pool {
    VYRE_VEC(uint64_t) busy; /* a bit for each block, block_words words per slot */
    uint32_t slots;
    uint32_t *full; /* per block: slots below this one are busy */
} pool;

enum { POOL_LANE, POOL_GROUP, POOLS };

typedef struct slotter {
    vyre_carry_plan *plan;
    const vyre_presences *found;
    const vyre_allocator *a;
    uint32_t block_words;
    pool pools[POOLS][2];
} slotter;

static bool is_busy(const slotter *s, const pool *in, uint32_t slot, uint32_t block) {
    return in->busy.data[(size_t)slot * s->block_words + block / 64] >> (block % 64) & 1;
}

static bool clashes(const slotter *s, const pool *in, uint32_t slot, uint32_t e) {
    VYRE_EACH_PRESENCE(s->found, e, p) {
        if (p->flags & VYRE_LIVE_OUT && is_busy(s, in, slot, p->block)) {
            return true;
        }
    }
    return false;
}

static bool add_slot(const slotter *s, pool *in) {
    if (!vyre_vec_reserve(s->a, &in->busy, s->block_words)) {
        return false;
    }
    memset(in->busy.data + in->busy.count, 0, s->block_words * sizeof *in->busy.data);
    in->busy.count += s->block_words;
    in->slots++;
    return true;
}

static void occupy(const slotter *s, pool *in, uint32_t slot, uint32_t block) {
    uint32_t *full = &in->full[block];
    in->busy.data[(size_t)slot * s->block_words + block / 64] |= UINT64_C(1) << (block % 64);
    while (*full < in->slots && is_busy(s, in, *full, block)) {
        ++*full;
    }
}

/* The first slot that is free wherever the value is alive. */
static bool place(slotter *s, pool *in, uint32_t e) {
    uint32_t slot = 0;
    VYRE_EACH_PRESENCE(s->found, e, p) {
        uint32_t full = p->flags & VYRE_LIVE_OUT ? in->full[p->block] : 0;
        slot = full > slot ? full : slot;
    }
    while (slot < in->slots && clashes(s, in, slot, e)) {
        slot++;
    }
    if (slot == in->slots && !add_slot(s, in)) {
        return false;
    }
    s->plan->entities[e].slot = slot;
    VYRE_EACH_PRESENCE(s->found, e, p) {
        if (VYRE_MUTANT(carry_share_slots, p->flags & VYRE_LIVE_OUT, 0)) {
            occupy(s, in, slot, p->block);
        }
    }
    return true;
}

static bool is_stored(const vyre_entity *entity) {
    return entity->carried && entity->kind != VYRE_CARRY_RECOMPUTED &&
           entity->kind != VYRE_CARRY_SCALAR;
}

static uint32_t pool_of(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GROUP ? POOL_GROUP : POOL_LANE;
}

static bool place_all(slotter *s, uint32_t values) {
    for (uint32_t e = 0; e < values; e++) {
        const vyre_entity *entity = &s->plan->entities[e];
        if (is_stored(entity) && !place(s, &s->pools[pool_of(entity)][entity->words - 1], e)) {
            return false;
        }
    }
    for (uint32_t e = 0; e < values; e++) { /* pairs of words stand behind the single ones */
        vyre_entity *entity = &s->plan->entities[e];
        if (is_stored(entity) && entity->words == 2) {
            entity->slot = s->pools[pool_of(entity)][0].slots + 2 * entity->slot;
        }
    }
    return true;
}

bool vyre_slots_assign(vyre_carry_plan *plan, const vyre_presences *found,
                       const vyre_allocator *a) {
    uint32_t blocks = found->block_count;
    slotter s = {.plan = plan, .found = found, .a = a, .block_words = (blocks + 63) / 64};
    bool ok = true;
    for (int i = 0; i < 2 * POOLS; i++) {
        pool *in = &s.pools[i / 2][i % 2];
        in->full = vyre_alloc_zeroed(a, blocks, sizeof *in->full);
        ok = ok && in->full;
    }
    ok = ok && place_all(&s, vyre_entity_of_decl(plan, 0));
    uint32_t *totals[POOLS] = {&plan->lane_words, &plan->group_value_words};
    for (int i = 0; i < 2 * POOLS; i++) {
        pool *in = &s.pools[i / 2][i % 2];
        *totals[i / 2] += in->slots * (i % 2 ? 2 : 1);
        vyre_vec_free(a, &in->busy);
        vyre_free(a, in->full, blocks, sizeof *in->full);
    }
    return ok;
}
