/* Adjacency lists: a counting sort of the dependencies by `before`, which keeps their order.
 *
 * In a problem with very many of both each dependency would touch another line of memory, so there
 * the sort is done in two rounds: by blocks of waves first, which writes few streams, then by wave
 * within each block, whose counters and lists fit the cache. Both rounds keep the order, so the
 * lists are the same either way. The first costs 6 bytes per dependency, which are given back. What
 * leads to a wave is counted in bytes, a quarter of the lines; that it went round shows in the sum,
 * and then it is counted again.
 *
 * O(waves + deps). Loops have their bounds in locals and their arrays restricted, since stores of
 * uint32_t could else change what they read: that is a third of their time. */
#include <string.h>

#include "plan/planner.h"

enum {
    FEW_DEPS = 1 << 17,   /* all lists fit a core's own cache */
    MANY_DEPS = 1 << 22,  /* not even a shared one holds them, */
    MANY_WAVES = 1 << 17, /* nor the ends of so many lists */
    AHEAD = 24,           /* what will be missed is asked for so many dependencies before, */
    FAR_AHEAD = 48,       /* if they are small */
    LEAST_BITS = 12,      /* waves of a block, as a power of two: */
    MOST_BITS = 16,       /* they have 16-bit numbers */
    BLOCKS = 64           /* about as many as there are streams that a core writes well */
};

/* After the first round the dependencies of block b are at [first[b], first[b + 1]): what is
 * behind them, and the number of their wave in the block. */
typedef struct blocks {
    uint32_t bits;
    uint32_t count;
    uint32_t *first; /* count + 1 */
    uint32_t *after;
    uint16_t *low;
} blocks;

/* 0: one round is enough. */
static uint32_t block_bits(const vyre_wave_set *set) {
    uint32_t bits = LEAST_BITS;
    while (bits < MOST_BITS && set->wave_count >> bits >= BLOCKS) {
        bits++;
    }
    return set->dep_count < MANY_DEPS || set->wave_count < MANY_WAVES ? 0 : bits;
}

static size_t block_count(const vyre_wave_set *set, uint32_t bits) {
    return (size_t)(set->wave_count >> bits) + 1;
}

size_t vyre_plan_lists_need(const vyre_wave_set *set) {
    const uint32_t bits = block_bits(set);
    return bits == 0 ? 0
                     : vyre_planner_need(set->wave_count, 1) +
                           vyre_planner_need(block_count(set, bits) + 1, sizeof(uint32_t)) +
                           vyre_planner_need(set->dep_count + FAR_AHEAD, sizeof(uint32_t)) +
                           vyre_planner_need(set->dep_count + FAR_AHEAD, sizeof(uint16_t));
}

static inline bool is_wrong(vyre_wave_dep dep, uint32_t waves) {
    return dep.before >= waves || dep.after >= waves || dep.before == dep.after;
}

/* Checks the dependencies and counts them: count[w] of what leaves w, waiting[w] of what leads to
 * it. The first that is wrong, or NULL. */
static const vyre_wave_dep *count_deps(const vyre_wave_set *set, uint32_t *restrict count,
                                       uint32_t *restrict waiting) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t waves = set->wave_count;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        if (is_wrong(*dep, waves)) {
            return dep;
        }
        count[dep->before]++;
        waiting[dep->after]++;
    }
    return NULL;
}

/* The same by block, and modulo 256. */
static const vyre_wave_dep *count_blocks(const vyre_wave_set *set, uint32_t bits,
                                         uint32_t *restrict count, uint8_t *restrict waiting) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t waves = set->wave_count;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        if (is_wrong(*dep, waves)) {
            return dep;
        }
        count[dep->before >> bits]++;
        waiting[dep->after]++;
    }
    return NULL;
}

/* Whether no counter went round. */
static bool add_up_to(const uint8_t *few, uint32_t count, size_t sum) {
    for (uint32_t i = 0; i < count; i++) {
        sum -= few[i];
    }
    return sum == 0;
}

/* Counts become sums, begun at `sum`: place i is then where i + 1 begins. */
static void add_up(uint32_t *count, uint32_t number, uint32_t sum) {
    for (uint32_t i = 0; i < number; i++) {
        count[i] = sum += count[i];
    }
}

/* cursor[w] is where w begins, and afterwards where it ends. */
static void fill_lists(const vyre_wave_set *set, uint32_t *restrict cursor,
                       uint32_t *restrict target) {
    const vyre_wave_dep *dep = set->deps, *end = dep + set->dep_count;
    for (; end - dep > FEW_DEPS; dep++) {
        __builtin_prefetch(&cursor[dep[AHEAD].before], 1);
        __builtin_prefetch(&target[cursor[dep[AHEAD / 2].before]], 1);
        target[cursor[dep->before]++] = dep->after;
    }
    for (; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        target[cursor[one.before]++] = one.after;
    }
}

static void fill_blocks(const vyre_wave_set *set, uint32_t bits, uint32_t *restrict cursor,
                        uint32_t *restrict after, uint16_t *restrict low) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        const uint32_t at = cursor[one.before >> bits]++;
        __builtin_prefetch(&after[at + AHEAD], 1);
        __builtin_prefetch(&low[at + FAR_AHEAD], 1);
        after[at] = one.after;
        low[at] = (uint16_t)(one.before & mask);
    }
}

/* The second round for dependencies [first, end): start[i] is zero at first, and then where the
 * list of the block's wave i begins, up to start[width] where the last one ends. */
static void fill_block(const uint32_t *restrict after, const uint16_t *restrict low, uint32_t first,
                       uint32_t end, uint32_t width, uint32_t *restrict start,
                       uint32_t *restrict target) {
    uint32_t *cursor = start + 1; /* one place ahead, so that ends are where the next ones begin */
    for (uint32_t e = first; e < end; e++) {
        cursor[low[e]]++;
    }
    for (uint32_t i = 0, sum = first; i < width; i++) {
        const uint32_t own = cursor[i];
        cursor[i] = sum;
        sum += own;
    }
    for (uint32_t e = first; e < end; e++) {
        target[cursor[low[e]]++] = after[e];
    }
    start[0] = first;
}

static bool take_blocks(vyre_planner *planner, const vyre_wave_set *set, blocks *b) {
    static const char field[] = "dependencies by block";
    b->first = vyre_planner_take_zeroed(planner, (size_t)b->count + 1, sizeof *b->first, field);
    const size_t room = set->dep_count + FAR_AHEAD;
    b->after = b->first ? vyre_planner_take(planner, room, sizeof *b->after, field) : NULL;
    b->low = b->after ? vyre_planner_take(planner, room, sizeof *b->low, field) : NULL;
    return b->low != NULL;
}

static void sort_twice(const vyre_wave_set *set, const blocks *b, uint32_t *start,
                       uint32_t *target) {
    add_up(b->first + 1, b->count, 0);
    fill_blocks(set, b->bits, b->first, b->after, b->low);
    memmove(b->first + 1, b->first, b->count * sizeof *b->first); /* ends are beginnings again */
    b->first[0] = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t base = i << b->bits, left = set->wave_count - base;
        const uint32_t width = left >> b->bits ? (uint32_t)1 << b->bits : left;
        fill_block(b->after, b->low, b->first[i], b->first[i + 1], width, start + base, target);
    }
}

static bool sort_large(vyre_planner *planner, const vyre_wave_set *set, uint32_t bits,
                       vyre_plan_lists *lists) {
    lists->few = vyre_planner_take_zeroed(planner, set->wave_count, 1, "dependency counts");
    const vyre_plan_mark mark = vyre_planner_mark(planner);
    blocks b = {.bits = bits, .count = (uint32_t)block_count(set, bits)};
    if (!lists->few || !take_blocks(planner, set, &b)) {
        return false;
    }
    lists->bad = count_blocks(set, bits, b.first + 1, lists->few);
    if (!lists->bad) {
        sort_twice(set, &b, lists->start, lists->target);
    }
    vyre_planner_release(planner, mark);
    if (lists->bad || add_up_to(lists->few, set->wave_count, set->dep_count)) {
        return true;
    }
    lists->few = NULL;
    for (size_t i = 0; i < set->dep_count; i++) {
        lists->waiting[set->deps[i].after]++;
    }
    return true;
}

bool vyre_plan_lists_make(vyre_planner *planner, const vyre_wave_set *set, vyre_plan_lists *lists) {
    const uint32_t bits = block_bits(set);
    if (bits != 0) {
        return sort_large(planner, set, bits, lists);
    }
    lists->few = NULL;
    lists->bad = count_deps(set, lists->start + 2, lists->waiting);
    if (!lists->bad) {
        add_up(lists->start + 2, set->wave_count, 0);
        fill_lists(set, lists->start + 1, lists->target);
    }
    return true;
}
