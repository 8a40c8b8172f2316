/* Adjacency lists: a counting sort of the dependencies by `before`, which keeps their order.
 *
 * Few dependencies are counted and put in their places, and everything stays in the first cache.
 * With more of them every store would miss it, so there the sort is done in two rounds: by blocks
 * of waves first, which writes few streams, then by wave within each block, whose lists and
 * counters fit the cache. Both rounds keep the order, so the lists are the same either way.
 *
 * A dependency between the rounds is one word: its wave's number in the block above that of the
 * wave behind it. So it takes the place of the target that it becomes, and the second round needs a
 * copy of one block only. A block that is larger than the room for that copy is filled from the
 * dependencies themselves, in one more round for all such blocks. Of very many dependencies the
 * first round writes whole lines past the caches: they would be gone before they are read, and what
 * is counted meanwhile stays there.
 *
 * What leads to a wave is counted in bytes, a quarter of the lines, unless one of them goes round.
 *
 * O(waves + deps). Loops have their bounds in locals and their arrays restricted, since stores of
 * uint32_t could else change what they read: that is a third of their time. */
#include <string.h>

#ifdef __SSE2__
#    include <emmintrin.h>
#endif

#include "plan/planner.h"

enum {
    FEW_DEPS = 1 << 15,   /* one round is as fast */
    MANY_DEPS = 1 << 19,  /* no cache of a core holds their lists */
    BLOCK_DEPS = 1 << 12, /* what a block should have: its lists fit the first cache, */
    MOST_BLOCK_BITS = 10, /* but no more blocks than streams that a core writes well */
    MOST_WAVE_BITS = 24,  /* of more the words would have room only with too many blocks */
    WORD_BITS = 32,
    LINE = 16,            /* words of a line of memory */
    COPY_SHARE = 8,       /* the copy of a block has room for such a part of all dependencies, */
    COPY_LEAST = 1 << 14, /* and for so many more */
    AHEAD = 24            /* what will be missed is asked for so many dependencies before */
};

/* Block b has the waves from b << low_bits on; after the first round their dependencies are the
 * words [first[b], first[b + 1]). */
typedef struct blocks {
    uint32_t wave_bits; /* of the number of a wave */
    uint32_t low_bits;  /* of its number in the block */
    uint32_t count;
    size_t copy_room;
    uint32_t *first;  /* count + 1 */
    uint32_t *cursor; /* count */
    uint32_t *lines;  /* of each block the line that is being written; NULL: no need */
    uint32_t *copy;   /* of one block */
} blocks;

static uint32_t bits_of(size_t number) {
    uint32_t bits = 0;
    while (bits < WORD_BITS && number >> bits) {
        bits++;
    }
    return bits;
}

/* How the problem is cut into blocks; count 0: one round is better. */
static blocks cut(const vyre_wave_set *set) {
    if (set->dep_count < FEW_DEPS || set->wave_count < 2 ||
        bits_of(set->wave_count - 1) > MOST_WAVE_BITS) {
        return (blocks){0};
    }
    const uint32_t wave_bits = bits_of(set->wave_count - 1);
    uint32_t block_bits = bits_of(set->dep_count / BLOCK_DEPS);
    block_bits = block_bits < MOST_BLOCK_BITS ? block_bits : MOST_BLOCK_BITS;
    if (2 * wave_bits > WORD_BITS + block_bits) {
        block_bits = 2 * wave_bits - WORD_BITS;
    }
    const uint32_t low_bits = wave_bits > block_bits ? wave_bits - block_bits : 0;
    return (blocks){.wave_bits = wave_bits,
                    .low_bits = low_bits,
                    .count = ((set->wave_count - 1) >> low_bits) + 1,
                    .copy_room = set->dep_count / COPY_SHARE + COPY_LEAST};
}

static size_t line_words(const vyre_wave_set *set, const blocks *b) {
    return set->dep_count < MANY_DEPS ? 0 : (size_t)b->count * LINE;
}

size_t vyre_plan_lists_need(const vyre_wave_set *set) {
    const blocks b = cut(set);
    return b.count == 0 ? 0
                        : vyre_planner_need(set->wave_count, 1) +
                              vyre_planner_need((size_t)b.count + 1, sizeof *b.first) +
                              vyre_planner_need(b.count, sizeof *b.cursor) +
                              vyre_planner_need(line_words(set, &b), sizeof *b.lines) +
                              vyre_planner_need(b.copy_room, sizeof *b.copy);
}

static inline bool is_wrong(vyre_wave_dep dep, uint32_t waves) {
    return (dep.before >= waves) | (dep.after >= waves) | (dep.before == dep.after);
}

/* Counts become sums: place i is then where i + 1 begins. */
static void add_up(uint32_t *count, uint32_t number) {
    for (uint32_t i = 0, sum = 0; i < number; i++) {
        count[i] = sum += count[i];
    }
}

/* ---- one round ---- */

/* Checks the dependencies and counts them: count[w] of what leaves w, waiting[w] of what leads to
 * it. The first that is wrong, or NULL. */
static const vyre_wave_dep *count_deps(const vyre_wave_set *set, uint32_t *restrict count,
                                       uint32_t *restrict waiting) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t waves = set->wave_count;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        if (is_wrong(one, waves)) {
            return dep;
        }
        count[one.before]++;
        waiting[one.after]++;
    }
    return NULL;
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

/* ---- two rounds ---- */

static bool take_blocks(vyre_planner *planner, const vyre_wave_set *set, blocks *b) {
    static const char field[] = "dependencies by block";
    const size_t lines = line_words(set, b);
    b->first = vyre_planner_take_zeroed(planner, (size_t)b->count + 1, sizeof *b->first, field);
    b->cursor = b->first ? vyre_planner_take(planner, b->count, sizeof *b->cursor, field) : NULL;
    b->copy = b->cursor ? vyre_planner_take(planner, b->copy_room, sizeof *b->copy, field) : NULL;
    if (b->copy && lines != 0) {
        b->lines = vyre_planner_take(planner, lines, sizeof *b->lines, field);
        return b->lines != NULL;
    }
    return b->copy != NULL;
}

/* As count_deps, by block, with what leads to a wave in bytes: each time one goes round, waiting[w]
 * gets what is lost. */
static const vyre_wave_dep *count_blocks(const vyre_wave_set *set, uint32_t bits,
                                         uint32_t *restrict count, uint8_t *restrict few,
                                         uint32_t *restrict waiting, bool *out_round) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t waves = set->wave_count;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        if (is_wrong(one, waves)) {
            return dep;
        }
        count[one.before >> bits]++;
        if (++few[one.after] == 0) {
            waiting[one.after] += UINT8_MAX + 1;
            *out_round = true;
        }
    }
    return NULL;
}

static inline uint32_t word_of(vyre_wave_dep dep, uint32_t mask, uint32_t wave_bits) {
    return (dep.before & mask) << wave_bits | dep.after;
}

static void fill_blocks(const vyre_wave_set *set, const blocks *b, uint32_t *restrict words) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t low_bits = b->low_bits, wave_bits = b->wave_bits;
    const uint32_t mask = ((uint32_t)1 << low_bits) - 1;
    uint32_t *restrict cursor = b->cursor;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        words[cursor[one.before >> low_bits]++] = word_of(one, mask, wave_bits);
    }
}

/* A line of memory that will not be read soon. Both are aligned to one. */
static inline void stream_line(uint32_t *restrict to, const uint32_t *restrict from) {
#ifdef __SSE2__
    for (uint32_t i = 0; i < LINE; i += LINE / 4) {
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_load_si128((const __m128i *)(const void *)(from + i)));
    }
#else
    memcpy(to, from, LINE * sizeof *to);
#endif
}

/* As fill_blocks, a line at a time. What is left of a block is written last, and that repairs the
 * line in which the next one begins. */
static void stream_blocks(const vyre_wave_set *set, const blocks *b, uint32_t *restrict words) {
    const vyre_wave_dep *end = set->deps + set->dep_count;
    const uint32_t low_bits = b->low_bits, wave_bits = b->wave_bits;
    const uint32_t mask = ((uint32_t)1 << low_bits) - 1;
    uint32_t *restrict cursor = b->cursor, *restrict lines = b->lines;
    for (const vyre_wave_dep *dep = set->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        const uint32_t block = one.before >> low_bits, at = cursor[block]++;
        uint32_t *const line = lines + (size_t)block * LINE;
        line[at % LINE] = word_of(one, mask, wave_bits);
        if (at % LINE == LINE - 1) {
            stream_line(words + (at - at % LINE), line);
        }
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t from = cursor[i] / LINE * LINE, first = b->first[i];
        for (uint32_t k = from > first ? from : first; k < cursor[i]; k++) {
            words[k] = lines[(size_t)i * LINE + k % LINE];
        }
    }
}

/* The second round for a block of `count` words: cursor[i] is zero at first, and then where the
 * list of the block's wave i begins, the first one at `sum`. */
static void count_block(const uint32_t *restrict words, uint32_t count, uint32_t wave_bits,
                        uint32_t width, uint32_t sum, uint32_t *restrict cursor) {
    for (uint32_t i = 0; i < count; i++) {
        cursor[words[i] >> wave_bits]++;
    }
    for (uint32_t i = 0; i < width; i++) {
        const uint32_t own = cursor[i];
        cursor[i] = sum;
        sum += own;
    }
}

static void fill_block(const uint32_t *restrict copy, uint32_t count, uint32_t wave_bits,
                       uint32_t *restrict cursor, uint32_t *restrict target) {
    const uint32_t mask = ((uint32_t)1 << wave_bits) - 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t word = copy[i];
        target[cursor[word >> wave_bits]++] = word & mask;
    }
}

/* Lists of blocks that have no room for a copy. */
static void fill_wide_blocks(const vyre_wave_set *set, const blocks *b, uint32_t *restrict cursor,
                             uint32_t *restrict target) {
    for (size_t i = 0; i < set->dep_count; i++) {
        const vyre_wave_dep one = set->deps[i];
        const uint32_t block = one.before >> b->low_bits;
        if (b->first[block + 1] - b->first[block] > b->copy_room) {
            target[cursor[one.before]++] = one.after;
        }
    }
}

static void sort_twice(const vyre_wave_set *set, const blocks *b, uint32_t *start,
                       uint32_t *target) {
    uint32_t *cursor = start + 1; /* one place ahead, so that ends are where the next ones begin */
    bool wide = false;
    add_up(b->first + 1, b->count);
    memcpy(b->cursor, b->first, b->count * sizeof *b->cursor);
    if (b->lines) {
        stream_blocks(set, b, target);
    } else {
        fill_blocks(set, b, target);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t base = i << b->low_bits, left = set->wave_count - base;
        const uint32_t width = left >> b->low_bits ? (uint32_t)1 << b->low_bits : left;
        const uint32_t first = b->first[i], count = b->first[i + 1] - first;
        count_block(target + first, count, b->wave_bits, width, first, cursor + base);
        if (count <= b->copy_room) {
            memcpy(b->copy, target + first, count * sizeof *target);
            fill_block(b->copy, count, b->wave_bits, cursor + base, target);
        } else {
            wide = true;
        }
    }
    if (wide) {
        fill_wide_blocks(set, b, cursor, target);
    }
}

static bool sort_large(vyre_planner *planner, const vyre_wave_set *set, blocks b,
                       vyre_plan_lists *lists) {
    lists->few = vyre_planner_take_zeroed(planner, set->wave_count, 1, "dependency counts");
    const vyre_plan_mark mark = vyre_planner_mark(planner);
    if (!lists->few || !take_blocks(planner, set, &b)) {
        return false;
    }
    bool round = false;
    lists->bad = count_blocks(set, b.low_bits, b.first + 1, lists->few, lists->waiting, &round);
    if (!lists->bad) {
        sort_twice(set, &b, lists->start, lists->target);
    }
    vyre_planner_release(planner, mark);
    if (round) {
        for (uint32_t w = 0; w < set->wave_count; w++) {
            lists->waiting[w] += lists->few[w];
        }
        lists->few = NULL;
    }
    return true;
}

bool vyre_plan_lists_make(vyre_planner *planner, const vyre_wave_set *set, vyre_plan_lists *lists) {
    const blocks b = cut(set);
    if (b.count != 0) {
        return sort_large(planner, set, b, lists);
    }
    lists->few = NULL;
    lists->bad = count_deps(set, lists->start + 2, lists->waiting);
    if (!lists->bad) {
        add_up(lists->start + 2, set->wave_count);
        fill_lists(set, lists->start + 1, lists->target);
    }
    return true;
}
