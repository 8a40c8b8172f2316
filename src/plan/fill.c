/* Filling groups one after the other as well as possible, for up to FILL_MAX waves.
 *
 * The number of groups K is fixed to one less than the best, which gives every wave a last place it
 * may take and the whole plan an amount of room it may waste. Each group first gets the waves that
 * have no later place, then a subset of the available ones, found by a short depth-first search:
 * the first that wastes no more than the average, else the most valuable one (minimum bin slack,
 * after Gupta and Ho). Value is cost, increased for long tails by a factor `urge`; several urges
 * are tried from both ends of the plan. */
#include <string.h>

#include "plan/packed.h"

enum {
    FILL_MAX = 16384,
    LOOKS = 3000,       /* of the search for one group */
    LOOKS_PER_NODE = 64 /* looks at a wave that count as one node */
};

static const double urges[] = {0.0, 0.25, 1.0, 4.0, 16.0};
static const double SHAKE = 0.2;
enum {
    WAYS = 2 * sizeof urges / sizeof urges[0],
    ROUNDS = 40,
    SHAKE_MIN = 32, /* fewer waves are left to the exact search */
    FILL_SHARE = 4  /* part of the node limit that may be spent here */
};

typedef struct fill {
    const vyre_pack *pack;
    const vyre_pack_view *view;
    double *density;   /* value of a byte of each wave */
    double *rank;      /* larger is tried earlier */
    uint32_t *waiting; /* predecessors not yet placed */
    uint32_t *avail;   /* sorted: densest first, then most expensive */
    uint32_t avail_count;
    uint32_t *chosen, *best; /* positions in avail */
    uint32_t best_count;
    uint32_t *released;
    uint32_t *place;
    uint64_t looks;
    uint64_t seed;
} fill;

static bool fill_take(vyre_planner *planner, const vyre_pack *pack, fill *f) {
    uint32_t **arrays[] = {&f->waiting, &f->avail, &f->chosen, &f->best, &f->released, &f->place};
    *f = (fill){.pack = pack};
    f->density = vyre_planner_take(planner, pack->count, sizeof *f->density, "densities");
    f->rank = vyre_planner_take(planner, pack->count, sizeof *f->rank, "ranks");
    bool fine = f->density && f->rank;
    for (size_t i = 0; fine && i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i] = vyre_planner_take(planner, pack->count, sizeof **arrays[i], "filling");
        fine = *arrays[i] != NULL;
    }
    return fine;
}

static bool goes_before(const fill *f, uint32_t a, uint32_t b) {
    return f->rank[a] != f->rank[b] ? f->rank[a] > f->rank[b] : a < b;
}

static void make_available(fill *f, uint32_t w) {
    uint32_t low = 0, high = f->avail_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (goes_before(f, f->avail[middle], w)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memmove(f->avail + low + 1, f->avail + low, (f->avail_count - low) * sizeof *f->avail);
    f->avail[low] = w;
    f->avail_count++;
}

/* splitmix64, as a number in [-1, 1). */
static double shake(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static void begin(fill *f, const vyre_pack_view *view, double urge, double strength) {
    f->view = view;
    f->avail_count = 0;
    double longest = 1;
    for (uint32_t w = 0; w < f->pack->count; w++) {
        longest = view->tail[w] > longest ? view->tail[w] : longest;
    }
    for (uint32_t w = 0; w < f->pack->count; w++) {
        double pull = urge * view->tail[w] / longest;
        double share = (double)f->pack->cost[w] / (double)f->pack->capacity;
        f->density[w] = 1.0 + pull;
        f->rank[w] = pull + share + strength * shake(&f->seed);
        f->waiting[w] = view->pred.start[w + 1] - view->pred.start[w];
    }
    for (uint32_t w = 0; w < f->pack->count; w++) {
        if (f->waiting[w] == 0) {
            make_available(f, w);
        }
    }
}

/* Removes position k from the available waves and puts the wave into the group. */
static void put(fill *f, uint32_t k, uint32_t group, uint32_t *released) {
    uint32_t w = f->avail[k];
    f->place[w] = group;
    for (uint32_t e = f->view->succ.start[w]; e < f->view->succ.start[w + 1]; e++) {
        uint32_t s = f->view->succ.target[e];
        if (--f->waiting[s] == 0) {
            f->released[(*released)++] = s;
        }
    }
}

/* Waves without a later place go first; false when they do not fit or are late already. */
static bool put_urgent(fill *f, uint32_t group, uint32_t left, uint64_t *room, uint32_t *released) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->avail_count; k++) {
        uint32_t w = f->avail[k];
        if (f->view->tail[w] + 1 < left) {
            f->avail[kept++] = w;
            continue;
        }
        if (f->view->tail[w] + 1 > left || f->pack->cost[w] > *room) {
            return false;
        }
        *room -= f->pack->cost[w];
        put(f, k, group, released);
    }
    f->avail_count = kept;
    return true;
}

/* The search for one group; the answer is in f->best. */
static void choose(fill *f, uint64_t room, double waste) {
    const uint64_t *cost = f->pack->cost;
    uint32_t taken = 0, at = 0;
    double value = 0, best = -1;
    f->best_count = 0;
    for (uint32_t k = 0; k < LOOKS; k++) {
        while (at < f->avail_count && (cost[f->avail[at]] > room ||
                                       value + (double)room * f->density[f->avail[at]] <= best)) {
            at++;
        }
        f->looks++;
        if (at < f->avail_count) {
            room -= cost[f->avail[at]];
            value += (double)cost[f->avail[at]] * f->density[f->avail[at]];
            f->chosen[taken++] = at++;
            continue;
        }
        if (value > best) {
            best = value;
            f->best_count = taken;
            memcpy(f->best, f->chosen, taken * sizeof *f->best);
            if ((double)room <= waste) {
                return;
            }
        }
        if (taken == 0) {
            return;
        }
        at = f->chosen[--taken];
        room += cost[f->avail[at]];
        value -= (double)cost[f->avail[at]] * f->density[f->avail[at]];
        at++;
    }
}

static void put_best(fill *f, uint32_t group, uint32_t *released) {
    uint32_t kept = 0, next = 0;
    for (uint32_t k = 0; k < f->avail_count; k++) {
        if (next < f->best_count && f->best[next] == k) {
            put(f, k, group, released);
            next++;
        } else {
            f->avail[kept++] = f->avail[k];
        }
    }
    f->avail_count = kept;
}

/* One attempt at K groups. */
static bool attempt(fill *f, uint32_t groups) {
    const vyre_pack *pack = f->pack;
    double spare = (double)pack->capacity * groups;
    uint32_t placed = 0;
    for (uint32_t w = 0; w < pack->count; w++) {
        spare -= (double)pack->cost[w];
    }
    for (uint32_t g = 0; g < groups && spare > -0.5; g++) {
        uint64_t room = pack->capacity;
        uint32_t released = 0, before = f->avail_count;
        f->looks += before;
        if (!put_urgent(f, g, groups - g, &room, &released)) {
            return false;
        }
        choose(f, room, spare / (groups - g));
        for (uint32_t k = 0; k < f->best_count; k++) {
            room -= pack->cost[f->avail[f->best[k]]];
        }
        put_best(f, g, &released);
        spare -= (double)room;
        placed += before - f->avail_count;
        for (uint32_t k = 0; k < released; k++) {
            make_available(f, f->released[k]);
        }
    }
    return placed == pack->count;
}

static void keep(vyre_pack *pack, const fill *f, bool back, uint32_t groups) {
    for (uint32_t w = 0; w < pack->count; w++) {
        pack->group_of[w] = back ? groups - 1 - f->place[w] : f->place[w];
    }
    pack->groups = groups;
}

/* True when the heuristics should stop. */
static bool try_way(vyre_pack *pack, fill *f, uint32_t groups, uint32_t way, double strength) {
    bool back = way % 2 != 0;
    f->looks = 0;
    begin(f, &pack->view[back], urges[way / 2], strength);
    if (attempt(f, groups)) {
        keep(pack, f, back, groups);
    }
    pack->nodes += f->looks / LOOKS_PER_NODE;
    return pack->nodes >= pack->node_limit || vyre_pack_stop(pack, "heuristics");
}

vyre_status vyre_pack_fill(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag) {
    if (pack->count > FILL_MAX || pack->groups <= pack->lower_bound) {
        return VYRE_OK;
    }
    vyre_plan_mark mark = vyre_planner_mark(planner);
    fill f;
    if (!fill_take(planner, pack, &f)) {
        return vyre_planner_storage(planner, diag);
    }
    /* The fewest groups first: each way as it is, then shaken a bit for as long as it may take. */
    uint64_t limit = pack->nodes + (pack->node_limit - pack->nodes) / FILL_SHARE;
    bool stop = pack->capacity == 0;
    for (uint32_t groups = pack->lower_bound; groups < pack->groups && !stop; groups++) {
        for (uint32_t way = 0; way < WAYS && groups < pack->groups && !stop; way++) {
            stop = try_way(pack, &f, groups, way, 0.0);
        }
    }
    uint32_t shaken = pack->count < SHAKE_MIN ? 0 : ROUNDS * WAYS;
    for (uint32_t way = 0; way < shaken && pack->groups > pack->lower_bound && !stop; way++) {
        stop = try_way(pack, &f, pack->groups - 1, way % WAYS, SHAKE) || pack->nodes >= limit;
    }
    vyre_planner_release(planner, mark);
    return VYRE_OK;
}
