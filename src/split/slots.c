/* Slots: first fit in the order of the values, with pools for lanes and for groups: one for values
 * of a word, and one for each type of 64 bits. Those come first, so that they begin at even words,
 * and do not share words with other types: a segment has a declaration for each. Behind a block all
 * slots below some number are taken; looking begins there, so that values that are alive together
 * cost no more than others. */
#include "split/slots.h"

#include <string.h>

#include "split/words.h"

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
    pool pools[POOLS][VYRE_VIEWS];
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
        if (p->flags & VYRE_LIVE_OUT) {
            occupy(s, in, slot, p->block);
        }
    }
    return true;
}

static bool is_stored(const vyre_entity *entity) {
    return entity->carried && entity->kind != VYRE_CARRY_RECOMPUTED &&
           entity->kind != VYRE_CARRY_SCALAR;
}

static uint32_t owner_of(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GROUP ? POOL_GROUP : POOL_LANE;
}

static vyre_view view_of(const vyre_entity *entity) {
    return vyre_view_of((vyre_type)entity->type);
}

static pool *pool_of(slotter *s, const vyre_entity *entity) {
    return &s->pools[owner_of(entity)][view_of(entity)];
}

static bool place_all(slotter *s, uint32_t values) {
    for (uint32_t e = 0; e < values; e++) {
        const vyre_entity *entity = &s->plan->entities[e];
        if (is_stored(entity) && !place(s, pool_of(s, entity), e)) {
            return false;
        }
    }
    return true;
}

/* The first word of each pool: those of 64 bits before that of single words. Totals count on. */
static void lay_out(const slotter *s, uint32_t *const totals[POOLS],
                    uint32_t first[POOLS][VYRE_VIEWS]) {
    for (uint32_t owner = 0; owner < POOLS; owner++) {
        for (uint32_t i = 1; i <= VYRE_VIEWS; i++) {
            uint32_t view = i % VYRE_VIEWS; /* words last */
            first[owner][view] = *totals[owner];
            *totals[owner] += s->pools[owner][view].slots * (view == VYRE_VIEW_WORDS ? 1 : 2);
        }
    }
}

static void number(slotter *s, uint32_t values) {
    vyre_carry_plan *plan = s->plan;
    uint32_t *const totals[POOLS] = {&plan->lane_words, &plan->group_value_words};
    uint32_t first[POOLS][VYRE_VIEWS];
    lay_out(s, totals, first);
    for (uint32_t e = 0; e < values; e++) {
        vyre_entity *entity = &plan->entities[e];
        if (is_stored(entity)) {
            bool pair = entity->words == 2;
            entity->slot = first[owner_of(entity)][view_of(entity)] + entity->slot * (pair ? 2 : 1);
            plan->lane_pairs |= pair && owner_of(entity) == POOL_LANE;
            plan->group_value_words += pair && owner_of(entity) == POOL_GROUP
                                           ? plan->group_value_words % 2 /* blocks of groups too */
                                           : 0;
        }
    }
}

bool vyre_slots_assign(vyre_carry_plan *plan, const vyre_presences *found,
                       const vyre_allocator *a) {
    uint32_t blocks = found->block_count;
    slotter s = {.plan = plan, .found = found, .a = a, .block_words = (blocks + 63) / 64};
    bool ok = true;
    for (int i = 0; i < POOLS * VYRE_VIEWS; i++) {
        pool *in = &s.pools[i / VYRE_VIEWS][i % VYRE_VIEWS];
        in->full = vyre_alloc_zeroed(a, blocks, sizeof *in->full);
        ok = ok && in->full;
    }
    uint32_t values = vyre_entity_of_decl(plan, 0);
    ok = ok && place_all(&s, values);
    if (ok) {
        number(&s, values);
    }
    for (int i = 0; i < POOLS * VYRE_VIEWS; i++) {
        pool *in = &s.pools[i / VYRE_VIEWS][i % VYRE_VIEWS];
        vyre_vec_free(a, &in->busy);
        vyre_free(a, in->full, blocks, sizeof *in->full);
    }
    return ok;
}
