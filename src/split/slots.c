/* Slots: values take them in the order in which their lives begin. A slot of which all values have
 * died is free, whatever comes; where none is, one whose values are asleep, between two runs, will
 * do if they never meet. So values with one run each have as few slots as can be.
 *
 * There are pools for lanes and for groups: one for values of a word, and one for each type of 64
 * bits. Those come first, so that they begin at even words, and do not share words with other
 * types: a segment has a declaration for each. */
#include "split/slots.h"

#include <string.h>

#include "split/words.h"

/* Slots with sleeping values that are tried for one value. */
enum { MOST_TRIES = 64 };

typedef struct slot {
    uint32_t pool, number; /* in its pool */
    uint32_t value;        /* that was given it last; others by `earlier` */
    uint32_t end;          /* from this block on all of them are dead */
    bool sleeps;           /* it is in the list `asleep` of its pool */
} slot;

typedef struct pool {
    uint32_t slots;
    VYRE_VEC(uint32_t) free;   /* slots whose values are all dead, the next on top */
    VYRE_VEC(uint32_t) asleep; /* those that have a value with several runs, and did have */
} pool;

enum { POOL_LANE, POOL_GROUP, POOL_OWNERS, POOLS = POOL_OWNERS * VYRE_VIEWS };

typedef struct slotter {
    vyre_carry_plan *plan;
    const vyre_presences *found;
    const vyre_allocator *a;
    VYRE_VEC(slot) slots;
    uint32_t *born;    /* per block: the first value whose life begins there, or VYRE_NONE; */
    uint32_t *sibling; /* per value: the next such one */
    uint32_t *dead;    /* per block: a value that is dead from there on, or VYRE_NONE; */
    uint32_t *next;    /* per value: the next such one */
    uint32_t *slot_of; /* per value */
    uint32_t *earlier; /* per value: the one before it in its slot, or VYRE_NONE */
    pool pools[POOLS];
} slotter;

static bool is_stored(const vyre_entity *entity) {
    return entity->carried && entity->kind != VYRE_CARRY_RECOMPUTED &&
           entity->kind != VYRE_CARRY_SCALAR;
}

static uint32_t owner_of(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GROUP ? POOL_GROUP : POOL_LANE;
}

static uint32_t pool_of(const vyre_entity *entity) {
    return owner_of(entity) * VYRE_VIEWS + vyre_view_of((vyre_type)entity->type);
}

static bool meet(const slotter *s, uint32_t x, uint32_t y) {
    const vyre_run *a = vyre_run_at(s->found, s->found->run[x]);
    const vyre_run *b = vyre_run_at(s->found, s->found->run[y]);
    while (a && b && (a->end <= b->first || b->end <= a->first)) {
        if (a->end <= b->first) {
            a = vyre_run_at(s->found, a->next);
        } else {
            b = vyre_run_at(s->found, b->next);
        }
    }
    return a && b;
}

/* A slot of which all values sleep whenever this one is alive, or VYRE_NONE. */
static uint32_t find_asleep(slotter *s, pool *in, uint32_t e) {
    for (uint32_t i = 0, tries = 0; i < in->asleep.count && tries < MOST_TRIES;) {
        const uint32_t number = in->asleep.data[i];
        if (!s->slots.data[number].sleeps) { /* it was free since */
            in->asleep.data[i] = in->asleep.data[--in->asleep.count];
            continue;
        }
        uint32_t other = s->slots.data[number].value;
        while (other != VYRE_NONE && !meet(s, other, e)) {
            other = s->earlier[other];
        }
        if (other == VYRE_NONE) {
            return number;
        }
        i++;
        tries++;
    }
    return VYRE_NONE;
}

static uint32_t add_slot(slotter *s, uint32_t number) {
    const slot made = {.pool = number, .number = s->pools[number].slots, .value = VYRE_NONE};
    if (!vyre_vec_push(s->a, &s->slots, made)) {
        return VYRE_NONE;
    }
    s->pools[number].slots++;
    return s->slots.count - 1;
}

static bool place(slotter *s, uint32_t e) {
    const uint32_t number = pool_of(&s->plan->entities[e]);
    pool *in = &s->pools[number];
    uint32_t to = in->free.count > 0 ? in->free.data[--in->free.count] : find_asleep(s, in, e);
    to = to == VYRE_NONE ? add_slot(s, number) : to;
    if (to == VYRE_NONE) {
        return false;
    }
    slot *at = &s->slots.data[to];
    uint32_t runs = 0, end = 0;
    VYRE_EACH_RUN(s->found, s->found->run[e], r) {
        end = r->end;
        runs++;
    }
    s->slot_of[e] = to;
    s->plan->entities[e].slot = at->number;
    s->earlier[e] = at->value;
    at->value = e;
    at->end = end > at->end ? end : at->end;
    s->next[e] = s->dead[end];
    s->dead[end] = e;
    const bool falls_asleep = runs > 1 && !at->sleeps;
    at->sleeps |= falls_asleep;
    return !falls_asleep || vyre_vec_push(s->a, &in->asleep, to);
}

/* Slots whose last value is dead from this block on. */
static bool release(slotter *s, uint32_t block) {
    bool ok = true;
    for (uint32_t e = s->dead[block]; e != VYRE_NONE && ok; e = s->next[e]) {
        slot *at = &s->slots.data[s->slot_of[e]];
        if (at->end == block && at->value != VYRE_NONE) {
            ok = vyre_vec_push(s->a, &s->pools[at->pool].free, s->slot_of[e]);
            at->value = VYRE_NONE;
            at->sleeps = false;
        }
    }
    return ok;
}

static bool place_all(slotter *s, uint32_t values) {
    const uint32_t blocks = s->found->block_count;
    memset(s->dead, 0xff, ((size_t)blocks + 1) * sizeof *s->dead);
    memset(s->born, 0xff, blocks * sizeof *s->born);
    for (uint32_t e = values; e-- > 0;) {
        if (is_stored(&s->plan->entities[e])) {
            uint32_t *born = &s->born[vyre_run_at(s->found, s->found->run[e])->first];
            s->sibling[e] = *born;
            *born = e;
        }
    }
    bool ok = true;
    for (uint32_t block = 0; block < blocks && ok; block++) {
        ok = release(s, block);
        for (uint32_t e = s->born[block]; e != VYRE_NONE && ok; e = s->sibling[e]) {
            ok = place(s, e);
        }
    }
    return ok;
}

/* The first word of each pool: those of 64 bits before that of single words. Totals count on. */
static void lay_out(const slotter *s, uint32_t *const totals[POOL_OWNERS],
                    uint32_t first[POOL_OWNERS][VYRE_VIEWS]) {
    for (uint32_t owner = 0; owner < POOL_OWNERS; owner++) {
        for (uint32_t i = 1; i <= VYRE_VIEWS; i++) {
            uint32_t view = i % VYRE_VIEWS; /* words last */
            first[owner][view] = *totals[owner];
            *totals[owner] +=
                s->pools[owner * VYRE_VIEWS + view].slots * (view == VYRE_VIEW_WORDS ? 1 : 2);
        }
    }
}

static void number(slotter *s, uint32_t values) {
    vyre_carry_plan *plan = s->plan;
    uint32_t *const totals[POOL_OWNERS] = {&plan->lane_words, &plan->group_value_words};
    uint32_t first[POOL_OWNERS][VYRE_VIEWS];
    lay_out(s, totals, first);
    for (uint32_t e = 0; e < values; e++) {
        vyre_entity *entity = &plan->entities[e];
        if (is_stored(entity)) {
            bool pair = entity->words == 2;
            entity->slot = first[owner_of(entity)][vyre_view_of((vyre_type)entity->type)] +
                           entity->slot * (pair ? 2 : 1);
            plan->lane_pairs |= pair && owner_of(entity) == POOL_LANE;
            plan->group_value_words += pair && owner_of(entity) == POOL_GROUP
                                           ? plan->group_value_words % 2 /* blocks of groups too */
                                           : 0;
        }
    }
}

bool vyre_slots_assign(vyre_carry_plan *plan, const vyre_presences *found,
                       const vyre_allocator *a) {
    const uint32_t values = vyre_entity_of_decl(plan, 0), blocks = found->block_count;
    slotter s = {.plan = plan, .found = found, .a = a};
    s.dead = vyre_alloc(a, (size_t)blocks + 1, sizeof *s.dead);
    s.born = vyre_alloc(a, blocks, sizeof *s.born);
    uint32_t **const per_value[] = {&s.sibling, &s.next, &s.slot_of, &s.earlier};
    bool ok = s.dead && s.born;
    for (size_t i = 0; i < sizeof per_value / sizeof *per_value; i++) {
        *per_value[i] = vyre_alloc(a, values, sizeof **per_value[i]);
        ok = ok && *per_value[i];
    }
    ok = ok && place_all(&s, values);
    if (ok) {
        number(&s, values);
    }
    vyre_free(a, s.dead, (size_t)blocks + 1, sizeof *s.dead);
    vyre_free(a, s.born, blocks, sizeof *s.born);
    for (size_t i = 0; i < sizeof per_value / sizeof *per_value; i++) {
        vyre_free(a, *per_value[i], values, sizeof **per_value[i]);
    }
    vyre_vec_free(a, &s.slots);
    for (int i = 0; i < POOLS; i++) {
        vyre_vec_free(a, &s.pools[i].free);
        vyre_vec_free(a, &s.pools[i].asleep);
    }
    return ok;
}
