/* First-fit with precedence, for any number of waves.
 *
 * Waves are taken in an order in which predecessors come first; each goes into the first group that
 * lies behind all its predecessors and has room. Long tails first and among equal tails the
 * expensive ones first (first-fit-decreasing) is such an order, because tails fall along every
 * dependency. A tree of maxima finds the group in O(log groups). The same is done from the end.
 *
 * Only plans better than the best are of interest, so the number of groups is fixed beforehand to
 * one less, and a wave that finds no place ends the attempt. */
#include <string.h>

#include "plan/packed.h"

/* ---- rooms ---- */

static void rooms_fill(vyre_pack_rooms *rooms, uint32_t groups, uint64_t capacity) {
    for (uint32_t g = 0; g < rooms->leaves; g++) {
        rooms->room[rooms->leaves + g] = g < groups ? capacity : 0;
    }
    for (size_t i = rooms->leaves; i-- > 1;) {
        uint64_t left = rooms->room[2 * i], right = rooms->room[2 * i + 1];
        rooms->room[i] = left > right ? left : right;
    }
}

/* The first group from `from` on with that much room, or `leaves`. */
static uint32_t rooms_find(const vyre_pack_rooms *rooms, uint32_t from, uint64_t need) {
    if (from >= rooms->leaves) {
        return rooms->leaves;
    }
    uint32_t i = rooms->leaves + from;
    while (rooms->room[i] < need) {
        while (i & 1) {
            i >>= 1;
        }
        if (i == 0) {
            return rooms->leaves;
        }
        i++;
    }
    while (i < rooms->leaves) {
        i *= 2;
        i += rooms->room[i] < need;
    }
    return i - rooms->leaves;
}

static void rooms_take(vyre_pack_rooms *rooms, uint32_t group, uint64_t need) {
    uint32_t i = rooms->leaves + group;
    rooms->room[i] -= need;
    uint64_t most = rooms->room[i];
    while (i > 1) {
        uint64_t other = rooms->room[i ^ 1];
        most = most > other ? most : other;
        i >>= 1;
        if (rooms->room[i] == most) {
            break;
        }
        rooms->room[i] = most;
    }
}

/* ---- orders ---- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

/* One round of a stable counting sort: `from` into `to` by descending digit; false when all digits
 * agree. */
static bool pass_by_digit(const uint64_t *key, unsigned shift, const uint32_t *from, uint32_t *to,
                          uint32_t count) {
    uint32_t place[DIGITS] = {0};
    for (uint32_t k = 0; k < count; k++) {
        place[key[from[k]] >> shift & (DIGITS - 1)]++;
    }
    uint32_t sum = 0;
    for (uint32_t d = DIGITS; d-- > 0;) {
        uint32_t here = place[d];
        if (here == count) {
            return false;
        }
        place[d] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < count; k++) {
        to[place[key[from[k]] >> shift & (DIGITS - 1)]++] = from[k];
    }
    return true;
}

/* Descending and stable; the result is in `order`, `other` is room. */
static void sort_descending(const uint64_t *key, uint32_t *order, uint32_t *other, uint32_t count) {
    uint64_t used = 0;
    for (uint32_t w = 0; w < count; w++) {
        used |= key[w];
    }
    uint32_t *from = order, *to = other;
    for (unsigned shift = 0; shift < 64 && used >> shift; shift += DIGIT) {
        if (pass_by_digit(key, shift, from, to, count)) {
            uint32_t *swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != order) {
        memcpy(order, from, count * sizeof *order);
    }
}

/* ---- attempts ---- */

bool vyre_pack_fitter_init(vyre_planner *planner, const vyre_pack *pack, vyre_pack_fitter *f) {
    uint32_t leaves = 1;
    while (leaves < pack->groups) {
        leaves *= 2;
    }
    f->rooms.leaves = leaves;
    f->rooms.room = vyre_planner_take(planner, (size_t)leaves * 2, sizeof *f->rooms.room, "rooms");
    f->place = vyre_planner_take(planner, pack->count, sizeof *f->place, "places");
    f->order[0] = vyre_planner_take(planner, pack->count, sizeof *f->order[0], "order");
    f->order[1] = vyre_planner_take(planner, pack->count, sizeof *f->order[1], "order");
    vyre_plan_mark mark = vyre_planner_mark(planner);
    uint64_t *key = vyre_planner_take(planner, pack->count, sizeof *key, "keys");
    if (!f->rooms.room || !f->place || !f->order[0] || !f->order[1] || !key) {
        return false;
    }
    /* Most expensive first, then, keeping that among equals, longest tail first. */
    for (uint32_t w = 0; w < pack->count; w++) {
        f->order[0][w] = w;
    }
    sort_descending(pack->cost, f->order[0], f->place, pack->count);
    memcpy(f->order[1], f->order[0], pack->count * sizeof *f->order[0]);
    for (int back = 0; back < 2; back++) {
        for (uint32_t w = 0; w < pack->count; w++) {
            key[w] = pack->view[back].tail[w];
        }
        sort_descending(key, f->order[back], f->place, pack->count);
    }
    vyre_planner_release(planner, mark);
    return true;
}

/* Groups used, at most `groups`; 0 when the waves did not fit. */
static uint32_t attempt(const vyre_pack *pack, const vyre_pack_view *view, const uint32_t *order,
                        uint32_t groups, uint64_t capacity, vyre_pack_fitter *f) {
    uint32_t used = 0;
    rooms_fill(&f->rooms, groups, capacity);
    for (uint32_t k = 0; k < pack->count; k++) {
        uint32_t w = order[k], from = 0;
        for (uint32_t e = view->pred.start[w]; e < view->pred.start[w + 1]; e++) {
            uint32_t behind = f->place[view->pred.target[e]] + 1u;
            from = behind > from ? behind : from;
        }
        uint32_t g = rooms_find(&f->rooms, from, pack->cost[w]);
        if (g >= groups || view->tail[w] > groups - 1 - g) {
            return 0;
        }
        rooms_take(&f->rooms, g, pack->cost[w]);
        f->place[w] = g;
        used = g >= used ? g + 1 : used;
    }
    return used;
}

static void keep(vyre_pack *pack, const vyre_pack_fitter *f, bool back, uint32_t groups) {
    for (uint32_t w = 0; w < pack->count; w++) {
        pack->group_of[w] = back ? groups - 1 - f->place[w] : f->place[w];
    }
    pack->groups = groups;
}

bool vyre_pack_try(vyre_pack *pack, vyre_pack_fitter *f, bool back, uint32_t groups,
                   uint64_t capacity) {
    uint32_t used = attempt(pack, &pack->view[back], f->order[back], groups, capacity, f);
    if (used) {
        keep(pack, f, back, used);
    }
    return used != 0;
}

vyre_status vyre_pack_fit(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag) {
    vyre_plan_mark mark = vyre_planner_mark(planner);
    vyre_pack_fitter f;
    if (!vyre_pack_fitter_init(planner, pack, &f)) {
        return vyre_planner_storage(planner, diag);
    }
    for (int back = 0; back < 2 && pack->groups > pack->lower_bound; back++) {
        (void)vyre_pack_try(pack, &f, back != 0, pack->groups - 1, pack->capacity);
    }
    vyre_planner_release(planner, mark);
    return VYRE_OK;
}
