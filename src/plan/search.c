/* Exact search: is there a plan of K groups? Branch, bound and remember.
 *
 * A state is the set of waves already placed in the first d groups. Its children add one more
 * group. States are expanded in cyclic best-first order: the best of each depth in turn, which
 * dives like depth-first search and still spreads over many beginnings. What keeps it small:
 *  - only maximal groups: a wave that fits and is available may as well run now;
 *  - Jackson's rule for strict precedence: if available j costs no less than i, has all successors
 *    of i, and fits in i's place, then a group with i and without j need not be looked at: swap the
 *    two in any plan that has it;
 *  - memory: a set reached before with no more groups is not entered again;
 *  - bounds: the waves left with a tail of at least q must fit, by every measure, into the groups
 *    that remain before the last q; a wave whose tail leaves it no later place must go now.
 * Each rule maps a plan that is cut off to one that is not, and none maps back (each makes an
 * earlier group larger or more dominant), so when everything is expanded without an answer there
 * is none, and the lower bound rises to K + 1. When groups were left out because of limits the
 * search is only a heuristic and the bound stays.
 *
 * Memory is bounded by options->memory_limit, effort by the node limit; the order depends on
 * nothing else, so results are reproducible. */
#include <string.h>

#include "plan/packed.h"
#include "plan/states.h"

enum {
    SEARCH_MAX = 1024,   /* waves */
    POLL = 1024,         /* nodes between looks at the cancel flag */
    LOOKS_PER_NODE = 32, /* looks at a set that count as one node */
    NARROW = 24,         /* children of a state in the first round */
    FIRST_EFFORT = 4096  /* nodes of each question in the first round */
};

typedef struct search {
    vyre_planner *planner;
    vyre_pack *pack;
    /* The problem renumbered: longest tails first, then most expensive. */
    uint32_t count, words, measures;
    bool back;
    bool complete; /* nothing was left out */
    bool failed;   /* memory ran out */
    bool full;     /* the memory limit was reached */
    uint64_t capacity;
    uint64_t *cost;
    uint32_t *tail;
    uint64_t *weight; /* count rows of `measures` */
    uint64_t limit[VYRE_PACK_MEASURES];
    uint64_t *before;    /* rows of sets: ancestors, */
    uint64_t *after;     /* descendants, */
    uint64_t *dominated; /* waves that this one may replace by Jackson's rule */
    uint32_t *by_cost;   /* most expensive first */
    uint32_t *wave;      /* original numbers */
    /* The question and its limits. */
    vyre_states states;
    uint32_t *roots;
    uint64_t node_limit;
    uint32_t groups; /* K */
    uint32_t width;  /* children kept for each state */
    uint32_t parent; /* the state being expanded */
    uint32_t found;  /* the state of all waves, or VYRE_STATE_NONE */
    /* Room for one expansion. */
    uint32_t *item;   /* available waves, most expensive first */
    uint64_t *rest;   /* their costs from here on, at most the capacity */
    uint32_t *chosen; /* stack of positions in item */
    uint32_t *flat;   /* zeros */
    uint64_t *base, *load, *avail, *set;
} search;

/* ---- sets ---- */

static bool has(const uint64_t *set, uint32_t w) {
    return set[w / 64] >> (w % 64) & 1;
}

static void flip(uint64_t *set, uint32_t w) {
    set[w / 64] ^= (uint64_t)1 << (w % 64);
}

static bool contains(const uint64_t *set, const uint64_t *part, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        if (part[i] & ~set[i]) {
            return false;
        }
    }
    return true;
}

static uint64_t *row(uint64_t *rows, uint32_t w, uint32_t words) {
    return rows + (size_t)w * words;
}

/* ---- the problem renumbered ---- */

static bool search_take(search *s) {
    vyre_planner *p = s->planner;
    size_t n = s->count, set = s->words;
    struct {
        void *out;
        size_t count, size;
    } arrays[] = {
        {&s->cost, n, sizeof *s->cost},
        {&s->tail, n, sizeof *s->tail},
        {&s->weight, n * VYRE_PACK_MEASURES, sizeof *s->weight},
        {&s->before, n * set, sizeof *s->before},
        {&s->after, n * set, sizeof *s->after},
        {&s->dominated, n * set, sizeof *s->dominated},
        {&s->by_cost, n, sizeof *s->by_cost},
        {&s->wave, n, sizeof *s->wave},
        {&s->roots, n + 1, sizeof *s->roots},
        {&s->item, n, sizeof *s->item},
        {&s->rest, n + 1, sizeof *s->rest},
        {&s->chosen, n, sizeof *s->chosen},
        {&s->flat, n, sizeof *s->flat},
        {&s->base, set, sizeof *s->base},
        {&s->load, set, sizeof *s->load},
        {&s->avail, set, sizeof *s->avail},
        {&s->set, set, sizeof *s->set},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        void *taken = vyre_planner_take_zeroed(p, arrays[i].count, arrays[i].size, "exact search");
        if (!taken) {
            return false;
        }
        memcpy(arrays[i].out, &taken, sizeof taken);
    }
    return true;
}

/* Stable insertion sort; n is small and this runs once. */
static void sort_waves(uint32_t *list, uint32_t count, const uint32_t *major,
                       const uint64_t *minor) {
    for (uint32_t k = 1; k < count; k++) {
        uint32_t w = list[k], place = k;
        while (place > 0) {
            uint32_t v = list[place - 1];
            if (major[v] > major[w] || (major[v] == major[w] && minor[v] >= minor[w])) {
                break;
            }
            list[place--] = v;
        }
        list[place] = w;
    }
}

static void copy_rows(const search *s, const uint64_t *from, uint64_t *to, const uint32_t *number) {
    memset(to, 0, (size_t)s->count * s->words * sizeof *to);
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t *old = from + (size_t)s->wave[i] * s->words;
        for (uint32_t w = 0; w < s->count; w++) {
            if (has(old, w)) {
                flip(row(to, i, s->words), number[w]);
            }
        }
    }
}

/* Whether j may always take the place of i, as far as size allows; ties go to the lower number. */
static bool dominates(search *s, uint32_t j, uint32_t i) {
    const uint64_t *of_j = row(s->after, j, s->words), *of_i = row(s->after, i, s->words);
    if (i == j || s->cost[i] > s->cost[j] || !contains(of_j, of_i, s->words)) {
        return false;
    }
    bool equal = s->cost[i] == s->cost[j] && contains(of_i, of_j, s->words);
    return !equal || j < i;
}

static void renumber(search *s, const vyre_pack_view *view, const vyre_pack_view *other) {
    const vyre_pack *pack = s->pack;
    uint32_t *number = s->chosen;
    for (uint32_t w = 0; w < s->count; w++) {
        s->wave[w] = w;
    }
    sort_waves(s->wave, s->count, view->tail, pack->cost);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t w = s->wave[i];
        number[w] = i;
        s->cost[i] = pack->cost[w];
        s->tail[i] = view->tail[w];
        s->by_cost[i] = i;
        for (uint32_t k = 0; k < s->measures; k++) {
            s->weight[i * s->measures + k] = pack->measure[k].weight[w];
        }
    }
    copy_rows(s, view->descendants, s->after, number);
    copy_rows(s, other->descendants, s->before, number);
    memset(s->dominated, 0, (size_t)s->count * s->words * sizeof *s->dominated);
    for (uint32_t j = 0; j < s->count; j++) {
        for (uint32_t i = 0; i < s->count; i++) {
            if (dominates(s, j, i)) {
                flip(row(s->dominated, j, s->words), i);
            }
        }
    }
    sort_waves(s->by_cost, s->count, s->flat, s->cost);
}

/* ---- bounds of a state ---- */

/* Whether the waves outside `set` may still fit into `left` groups. */
static bool promising(const search *s, const uint64_t *set, uint32_t left) {
    uint64_t sum[VYRE_PACK_MEASURES] = {0};
    for (uint32_t i = 0; i < s->words; i++) {
        uint64_t bits = ~set[i];
        if (i == s->words - 1 && s->count % 64) {
            bits &= ((uint64_t)1 << (s->count % 64)) - 1;
        }
        for (; bits; bits &= bits - 1) {
            uint32_t w = i * 64 + (uint32_t)__builtin_ctzll(bits);
            if (s->tail[w] >= left) {
                return false;
            }
            uint64_t groups = left - s->tail[w];
            const uint64_t *weight = s->weight + (size_t)w * s->measures;
            for (uint32_t k = 0; k < s->measures; k++) {
                sum[k] += weight[k];
                if (sum[k] > groups * s->limit[k]) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Smaller is better: little left over, and what is left has short tails. */
static double state_key(const search *s, const uint64_t *set) {
    double key = 0;
    for (uint32_t w = 0; w < s->count; w++) {
        if (!has(set, w)) {
            key += (double)s->cost[w] * (1.0 + (double)s->tail[w]);
        }
    }
    return key;
}

/* ---- expansion ---- */

/* Puts the available waves into s->item, those that must go now into s->load. False when
 * the state is hopeless. */
static bool open_state(search *s, uint32_t left, uint32_t *out_items, uint64_t *out_room) {
    const uint64_t *set = s->base;
    uint64_t room = s->capacity, later[VYRE_PACK_MEASURES] = {0};
    uint32_t items = 0;
    memset(s->load, 0, s->words * sizeof *s->load);
    memset(s->avail, 0, s->words * sizeof *s->avail);
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t w = s->by_cost[k];
        if (has(set, w)) {
            continue;
        }
        if (!contains(set, row(s->before, w, s->words), s->words)) {
            for (uint32_t m = 0; m < s->measures; m++) {
                later[m] += s->weight[(size_t)w * s->measures + m];
            }
            continue;
        }
        if (s->tail[w] + 1 == left || s->cost[w] == 0) {
            if (s->cost[w] > room) {
                return false;
            }
            room -= s->cost[w];
            flip(s->load, w);
        } else {
            flip(s->avail, w);
            s->item[items++] = w;
        }
    }
    for (uint32_t m = 0; m < s->measures; m++) {
        if (later[m] > (left - 1) * s->limit[m]) {
            return false;
        }
    }
    s->rest[items] = 0;
    for (uint32_t k = items; k-- > 0;) {
        uint64_t cost = s->cost[s->item[k]];
        s->rest[k] = cost > s->capacity - s->rest[k + 1] ? s->capacity : s->rest[k + 1] + cost;
    }
    *out_items = items;
    *out_room = room;
    return true;
}

/* Jackson's rule: some available wave outside the group should have been taken instead. */
static bool replaceable(search *s, uint64_t room) {
    for (uint32_t i = 0; i < s->words; i++) {
        for (uint64_t bits = s->avail[i] & ~s->load[i]; bits; bits &= bits - 1) {
            uint32_t j = i * 64 + (uint32_t)__builtin_ctzll(bits);
            const uint64_t *dominated = row(s->dominated, j, s->words);
            for (uint32_t v = 0; v < s->words; v++) {
                for (uint64_t in = dominated[v] & s->load[v]; in; in &= in - 1) {
                    uint32_t w = v * 64 + (uint32_t)__builtin_ctzll(in);
                    if (s->cost[j] - s->cost[w] <= room) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

/* A maximal group is complete: its state is remembered unless a rule cuts it off. */
static bool close_group(search *s, uint32_t depth, uint64_t room) {
    if (replaceable(s, room)) {
        return false;
    }
    bool all = true;
    for (uint32_t i = 0; i < s->words; i++) {
        s->set[i] = s->base[i] | s->load[i];
        uint64_t full = i == s->words - 1 && s->count % 64 ? ((uint64_t)1 << (s->count % 64)) - 1
                                                           : ~(uint64_t)0;
        all = all && s->set[i] == full;
    }
    if (!all && !promising(s, s->set, s->groups - depth)) {
        return false;
    }
    uint32_t added =
        vyre_states_add(&s->states, s->set, depth, s->parent, all ? 0 : state_key(s, s->set));
    if (all && added != VYRE_STATE_NONE) {
        s->found = added;
    }
    return added != VYRE_STATE_NONE;
}

/* An equal wave with all its successors was skipped: a group with this one would be cut off. */
static bool pointless(search *s, uint32_t at) {
    uint32_t w = s->item[at];
    while (at-- > 0 && s->cost[s->item[at]] == s->cost[w]) {
        uint32_t j = s->item[at];
        if (!has(s->load, j) && has(row(s->dominated, j, s->words), w)) {
            return true;
        }
    }
    return false;
}

static bool out_of_effort(search *s) {
    return s->pack->nodes >= s->node_limit || vyre_pack_stop(s->pack, "search");
}

/* All maximal groups that can follow the state, most expensive waves first. A choice that is taken
 * back counts as skipped; the last one skipped is the cheapest, so a group is maximal when that one
 * does not fit, and hopeless when not even all waves to come could fill the room. */
static void expand(search *s, uint32_t number) {
    uint32_t depth = s->states.state[number].depth, taken = 0, kept = 0, at = 0, items;
    uint64_t room, looks = 0, least = UINT64_MAX;
    memcpy(s->base, vyre_states_set(&s->states, number), s->words * sizeof *s->base);
    s->parent = number;
    if (!open_state(s, s->groups - depth, &items, &room)) {
        return;
    }
    for (;;) {
        while (at < items && (s->cost[s->item[at]] > room || pointless(s, at))) {
            at++;
        }
        bool hopeful = s->rest[at] > room || room - s->rest[at] < least;
        if (hopeful && at < items) {
            flip(s->load, s->item[at]);
            room -= s->cost[s->item[at]];
            s->chosen[taken++] = at++;
            continue;
        }
        if (hopeful) {
            s->pack->nodes += s->words;
            kept += close_group(s, depth + 1, room);
        }
        if (taken == 0 || s->found != VYRE_STATE_NONE || s->states.failed) {
            return;
        }
        if (++looks % LOOKS_PER_NODE == 0) {
            s->pack->nodes++;
        }
        if (kept >= s->width || (looks % POLL == 0 && out_of_effort(s))) {
            s->complete = false;
            return;
        }
        at = s->chosen[--taken];
        least = s->cost[s->item[at]];
        flip(s->load, s->item[at]);
        room += least;
        at++;
    }
}

/* ---- the search ---- */

static void keep_found(search *s) {
    vyre_pack *pack = s->pack;
    for (uint32_t n = s->found; n != 0; n = s->states.state[n].parent) {
        const vyre_state *state = &s->states.state[n];
        const uint64_t *set = vyre_states_set(&s->states, n);
        const uint64_t *before = vyre_states_set(&s->states, state->parent);
        for (uint32_t w = 0; w < s->count; w++) {
            if (has(set, w) && !has(before, w)) {
                uint32_t group = state->depth - 1;
                pack->group_of[s->wave[w]] =
                    s->back ? s->states.state[s->found].depth - 1 - group : group;
            }
        }
    }
    pack->groups = s->states.state[s->found].depth;
}

static size_t memory_limit(const vyre_pack *pack) {
    return pack->options->memory_limit ? pack->options->memory_limit : VYRE_PLAN_MEMORY;
}

/* Looks for a plan of `groups` groups. A plan found becomes the best one, a proof that there is
 * none raises the lower bound. */
static void ask(search *s, uint32_t groups, uint32_t width, uint64_t effort) {
    vyre_pack *pack = s->pack;
    s->groups = groups;
    s->width = width;
    s->complete = true;
    s->found = VYRE_STATE_NONE;
    s->node_limit =
        effort < pack->node_limit - pack->nodes ? pack->nodes + effort : pack->node_limit;
    vyre_states_init(&s->states, &s->planner->allocator, s->words, s->roots, groups + 1,
                     memory_limit(pack));
    memset(s->set, 0, s->words * sizeof *s->set);
    vyre_states_add(&s->states, s->set, 0, VYRE_STATE_NONE, 0);
    bool any = true, stop = s->states.failed;
    while (any && !stop) {
        any = false;
        for (uint32_t d = 0; d < groups && !stop; d++) {
            uint32_t number = vyre_states_pop(&s->states, d);
            if (number != VYRE_STATE_NONE) {
                any = true;
                pack->nodes++;
                expand(s, number);
                stop = s->found != VYRE_STATE_NONE || s->states.failed || out_of_effort(s);
            }
        }
    }
    if (s->found != VYRE_STATE_NONE) {
        keep_found(s);
    } else if (!any && s->complete && !s->states.full && pack->lower_bound <= groups) {
        pack->lower_bound = groups + 1;
    }
    s->failed = s->states.failed;
    s->full = s->states.full;
    vyre_states_finish(&s->states);
}

static bool going_on(const search *s) {
    const vyre_pack *pack = s->pack;
    return !s->failed && !pack->cancelled && pack->nodes < pack->node_limit &&
           pack->groups > pack->lower_bound;
}

/* Rounds of growing effort, from both ends of the plan, on the fewest groups that are not ruled out
 * and, if that is another question, on one group less than the best plan. The first rounds keep few
 * children, which finds plans; the later ones leave nothing out, which proves. When both ends have
 * filled their memory more effort would only repeat itself. */
static void rounds(search both[2], vyre_pack *pack) {
    uint64_t effort = FIRST_EFFORT;
    for (uint32_t round = 0; !both[0].full || !both[1].full; round++) {
        uint32_t width = round == 0 ? NARROW : round == 1 ? 8 * NARROW : UINT32_MAX;
        for (int back = 0; back < 2; back++) {
            search *s = &both[back];
            ask(s, pack->lower_bound, width, effort);
            if (going_on(s) && pack->groups - 1 > pack->lower_bound) {
                ask(s, pack->groups - 1, width, effort);
            }
            if (!going_on(s)) {
                return;
            }
        }
        effort = effort > UINT64_MAX / 4 ? UINT64_MAX : effort * 4;
    }
}

vyre_status vyre_pack_search(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag) {
    if (pack->groups <= pack->lower_bound || pack->count > SEARCH_MAX) {
        return VYRE_OK;
    }
    vyre_plan_mark mark = vyre_planner_mark(planner);
    search both[2];
    for (int back = 0; back < 2; back++) {
        search *s = &both[back];
        *s = (search){.planner = planner,
                      .pack = pack,
                      .count = pack->count,
                      .words = pack->words,
                      .measures = pack->measure_count,
                      .capacity = pack->capacity,
                      .back = back != 0};
        if (!search_take(s)) {
            return vyre_planner_storage(planner, diag);
        }
        for (uint32_t k = 0; k < s->measures; k++) {
            s->limit[k] = pack->measure[k].limit;
        }
        renumber(s, &pack->view[back], &pack->view[!back]);
    }
    rounds(both, pack);
    vyre_planner_release(planner, mark);
    if (both[0].failed || both[1].failed) {
        planner->fault.kind = VYRE_PLAN_FAULT_STORAGE;
        planner->fault.field = "partial plans";
        planner->fault.required = memory_limit(pack);
        return vyre_planner_storage(planner, diag);
    }
    return VYRE_OK;
}
