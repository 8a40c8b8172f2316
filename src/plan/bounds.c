/* Lower bounds on the groups of a plan.
 *
 * A set of waves needs at least weight / limit groups, for each measure. The descendants of a wave
 * all come after it, so the bound of that set is a tail; and when those descendants with a tail of
 * at least q need b groups, the wave has a tail of at least b + q. Tails found first sharpen those
 * found later. Heads are the tails of the graph turned round. The bound for the whole plan is the
 * best, over all a and b, of a + need(waves with head >= a and tail >= b) + b.
 *
 * Up to VYRE_PACK_CLOSURE_MAX waves this uses all descendants and all pairs (a, b), O(n^2); above
 * it uses direct successors and a = 0 or b = 0, O(n + m). */
#include <string.h>

#include "base/checked.h"
#include "plan/packed.h"

enum { LIMIT_BITS = 36, SAMPLE = 4096 };

/* ---- measures ---- */

/* Dual feasible functions of Fekete and Schepers, u(k): counts how many (k+1)-ths of the capacity
 * a wave exceeds. Weights are multiplied by k (k + 1) to stay whole. */
static uint64_t stairs(uint64_t size, uint64_t capacity, uint64_t k) {
    uint64_t scaled = (k + 1) * size;
    return scaled % capacity == 0 ? scaled / capacity * k : scaled / capacity * (k + 1);
}

/* The family behind Martello and Toth's L2: small waves count nothing, those that leave no room
 * for anything else count fully. */
static uint64_t cut_small(uint64_t size, uint64_t capacity, uint64_t small) {
    return size < small ? 0 : size > capacity - small ? capacity : size;
}

enum { BYTES = 0, STAIRS = 4, CUT = STAIRS + 1, KINDS = CUT + 1 };
_Static_assert((int)KINDS <= (int)VYRE_PACK_MEASURES, "every kind of measure finds a place");

/* Kinds of measures: bytes, stairs with k = kind, and cut_small with the given `small`. */
static uint64_t weight_of(uint32_t kind, uint64_t size, uint64_t capacity, uint64_t small) {
    return kind == BYTES ? size
           : kind == CUT ? cut_small(size, capacity, small)
                         : stairs(size, capacity, kind);
}

static uint64_t limit_of(uint32_t kind, uint64_t capacity) {
    return kind == BYTES || kind == CUT ? capacity : (uint64_t)kind * (kind + 1);
}

/* How much a measure says about all waves together, judged from a sample of them. */
static uint32_t judge(const uint64_t *size, uint32_t count, uint64_t capacity, uint32_t kind,
                      uint64_t small) {
    vyre_pack_pour pour = {0};
    uint64_t limit = limit_of(kind, capacity);
    for (uint32_t w = 0; w < count; w += 1 + count / SAMPLE) {
        vyre_pack_pour_in(&pour, weight_of(kind, size[w], capacity, small), limit);
    }
    return pour.groups;
}

/* The value of `small` for which cut_small says most. */
static uint64_t best_cut(const uint64_t *size, uint32_t count, uint64_t capacity) {
    uint64_t best_small = capacity / 3 + 1;
    uint32_t best = 0;
    for (uint64_t part = 2; part <= 12; part++) {
        uint32_t groups = judge(size, count, capacity, CUT, capacity / part);
        if (groups > best) {
            best = groups;
            best_small = capacity / part;
        }
    }
    return best_small;
}

/* Besides bytes, the one kind that says most about all waves together. */
static uint32_t best_kind(const uint64_t *size, uint32_t count, uint64_t capacity, uint64_t small) {
    uint32_t best_kind = 1, best = 0;
    for (uint32_t kind = 1; kind < KINDS; kind++) {
        uint32_t groups = judge(size, count, capacity, kind, small);
        if (groups > best) {
            best = groups;
            best_kind = kind;
        }
    }
    return best_kind;
}

/* All kinds for few waves; bytes and the best other one for many. */
static bool make_measures(vyre_planner *planner, vyre_pack *pack) {
    unsigned shift = 0;
    while (pack->capacity >> shift >> LIMIT_BITS) {
        shift++;
    }
    /* Rounding every size down keeps every group that fits a group that fits. */
    uint64_t capacity = pack->capacity >> shift, small = 0;
    uint32_t count = pack->count;
    bool all = count <= VYRE_PACK_CLOSURE_MAX;
    uint32_t wanted = capacity == 0 ? 0 : all ? KINDS : 2, kind = BYTES;
    for (uint32_t k = 0; k < wanted; k++) {
        uint64_t *weight = vyre_planner_take(planner, count, sizeof *weight, "measures");
        if (!weight) {
            return false;
        }
        for (uint32_t w = 0; w < count; w++) {
            weight[w] = weight_of(kind, pack->cost[w] >> shift, capacity, small);
        }
        pack->measure[k] = (vyre_pack_measure){.weight = weight, .limit = limit_of(kind, capacity)};
        if (k == 0) {
            small = best_cut(weight, count, capacity);
        }
        kind = all ? k + 1 : best_kind(pack->measure[0].weight, count, capacity, small);
    }
    pack->measure_count = wanted;
    return true;
}

/* ---- descendants ---- */

static bool make_descendants(vyre_planner *planner, vyre_pack *pack, vyre_pack_view *view) {
    size_t words = pack->words;
    uint64_t *rows =
        vyre_planner_take_zeroed(planner, pack->count * words, sizeof *rows, "descendants");
    if (!rows) {
        return false;
    }
    for (uint32_t k = pack->count; k-- > 0;) {
        uint32_t w = view->topo[k];
        for (uint32_t e = view->succ.start[w]; e < view->succ.start[w + 1]; e++) {
            uint32_t s = view->succ.target[e];
            rows[w * words + s / 64] |= (uint64_t)1 << (s % 64);
            for (size_t i = 0; i < words; i++) {
                rows[w * words + i] |= rows[s * words + i];
            }
        }
    }
    view->descendants = rows;
    return true;
}

static bool has(const uint64_t *set, uint32_t w) {
    return set[w / 64] >> (w % 64) & 1;
}

/* ---- tails ---- */

static uint32_t path_tail(const vyre_pack_view *view, uint32_t w) {
    uint32_t tail = 0;
    for (uint32_t e = view->succ.start[w]; e < view->succ.start[w + 1]; e++) {
        uint32_t behind = view->tail[view->succ.target[e]] + 1;
        tail = behind > tail ? behind : tail;
    }
    return tail;
}

/* `by_tail` holds the waves done so far, longest tail first. */
static uint32_t set_tail(const vyre_pack *pack, const vyre_pack_view *view, uint32_t w,
                         const uint32_t *by_tail, uint32_t done, uint32_t tail) {
    const uint64_t *set = view->descendants + (size_t)w * pack->words;
    vyre_pack_pour pour[VYRE_PACK_MEASURES] = {{0}};
    for (uint32_t k = 0; k < done; k++) {
        uint32_t d = by_tail[k];
        if (has(set, d)) {
            for (uint32_t i = 0; i < pack->measure_count; i++) {
                vyre_pack_pour_in(&pour[i], pack->measure[i].weight[d], pack->measure[i].limit);
                uint32_t bound = pour[i].groups + view->tail[d];
                tail = bound > tail ? bound : tail;
            }
        }
    }
    return tail;
}

static uint32_t successors_tail(const vyre_pack *pack, const vyre_pack_view *view, uint32_t w) {
    uint64_t sum[VYRE_PACK_MEASURES] = {0};
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t e = view->succ.start[w]; e < view->succ.start[w + 1]; e++) {
        uint32_t s = view->succ.target[e], tail = view->tail[s];
        most = tail + 1 > most ? tail + 1 : most;
        least = tail < least ? tail : least;
        for (uint32_t i = 0; i < pack->measure_count; i++) {
            sum[i] += pack->measure[i].weight[s];
        }
    }
    for (uint32_t i = 0; i < pack->measure_count && most; i++) {
        uint64_t limit = pack->measure[i].limit;
        if (sum[i] > (most - least) * limit) {
            most = (uint32_t)vyre_ceil_div(sum[i], limit) + least;
        }
    }
    return most;
}

/* by_tail is given when descendants are known; the waves come out in it sorted by tail, longest
 * first. */
static void make_tails(const vyre_pack *pack, const vyre_pack_view *view, uint32_t *by_tail) {
    for (uint32_t done = 0; done < pack->count; done++) {
        uint32_t w = view->topo[pack->count - 1 - done];
        if (!by_tail) {
            view->tail[w] = successors_tail(pack, view, w);
            continue;
        }
        uint32_t tail = set_tail(pack, view, w, by_tail, done, path_tail(view, w));
        uint32_t place = done;
        while (place > 0 && view->tail[by_tail[place - 1]] < tail) {
            by_tail[place] = by_tail[place - 1];
            place--;
        }
        by_tail[place] = w;
        view->tail[w] = tail;
    }
}

/* ---- the whole plan ---- */

static void raise_bound(vyre_pack *pack, uint32_t bound) {
    pack->lower_bound = bound > pack->lower_bound ? bound : pack->lower_bound;
}

/* All pairs (a, b): waves with head >= a, poured from the longest tail down. */
static void bound_pairs(vyre_pack *pack, const uint32_t *by_tail) {
    const vyre_pack_view *view = &pack->view[0];
    uint32_t most = 0;
    for (uint32_t w = 0; w < pack->count; w++) {
        most = view->head[w] > most ? view->head[w] : most;
    }
    for (uint32_t a = 0; a <= most; a++) {
        vyre_pack_pour pour[VYRE_PACK_MEASURES] = {{0}};
        for (uint32_t k = 0; k < pack->count; k++) {
            uint32_t w = by_tail[k];
            if (view->head[w] < a) {
                continue;
            }
            for (uint32_t i = 0; i < pack->measure_count; i++) {
                vyre_pack_pour_in(&pour[i], pack->measure[i].weight[w], pack->measure[i].limit);
                raise_bound(pack, a + pour[i].groups + view->tail[w]);
            }
        }
    }
}

/* Waves with a tail of at least q, for every q. */
static bool bound_levels(vyre_planner *planner, vyre_pack *pack, const uint32_t *tail) {
    uint32_t levels = 0;
    for (uint32_t w = 0; w < pack->count; w++) {
        levels = tail[w] >= levels ? tail[w] + 1 : levels;
    }
    vyre_plan_mark mark = vyre_planner_mark(planner);
    uint64_t *sum = vyre_planner_take(planner, levels, sizeof *sum, "levels");
    if (!sum) {
        return false;
    }
    for (uint32_t i = 0; i < pack->measure_count; i++) {
        memset(sum, 0, levels * sizeof *sum);
        for (uint32_t w = 0; w < pack->count; w++) {
            sum[tail[w]] += pack->measure[i].weight[w];
        }
        uint64_t total = 0;
        for (uint32_t q = levels; q-- > 0;) {
            total += sum[q];
            raise_bound(pack, q + (uint32_t)vyre_ceil_div(total, pack->measure[i].limit));
        }
    }
    vyre_planner_release(planner, mark);
    return true;
}

vyre_status vyre_pack_bound(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag) {
    bool small = pack->count <= VYRE_PACK_CLOSURE_MAX;
    uint32_t *by_tail =
        small ? vyre_planner_take(planner, pack->count, sizeof *by_tail, "tails") : NULL;
    bool fine = (by_tail || !small) && make_measures(planner, pack);
    for (int back = 1; fine && back >= 0; back--) {
        fine = !small || make_descendants(planner, pack, &pack->view[back]);
        if (fine) {
            make_tails(pack, &pack->view[back], by_tail);
        }
    }
    if (fine && small) {
        bound_pairs(pack, by_tail);
    } else if (fine) {
        fine = bound_levels(planner, pack, pack->view[0].tail) &&
               bound_levels(planner, pack, pack->view[0].head);
    }
    if (!fine) {
        return vyre_planner_storage(planner, diag);
    }
    for (uint32_t w = 0; w < pack->count; w++) {
        raise_bound(pack, pack->view[0].head[w] + 1 + pack->view[0].tail[w]);
    }
    return VYRE_OK;
}
