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
 * Several workers take a part of the dependencies each. In the first round each writes its own part
 * of every block, behind those of the workers before it; in the second each takes blocks. So the
 * order of dependencies is kept, and the lists are the same with any number of workers.
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
    LINE = 16, /* words of a line of memory, */
    LINE_BYTES = 64,
    COPY_SHARE = 8,       /* all copies have room for such a part of the dependencies, */
    COPY_LEAST = 1 << 14, /* and each for so many more */
    AHEAD = 24            /* what will be missed is asked for so many dependencies before */
};

/* Block b has the waves from b << low_bits on; after the first round their dependencies are the
 * words [first[b], first[b + 1]). */
typedef struct blocks {
    uint32_t wave_bits; /* of the number of a wave */
    uint32_t low_bits;  /* of its number in the block */
    uint32_t count;
    size_t copy_room;
    uint32_t *first; /* count + 1 */
} blocks;

/* What a worker has for itself, in lines of its own. */
typedef struct part {
    alignas(64) const vyre_wave_dep *deps; /* which it counts and puts into blocks */
    const vyre_wave_dep *end;
    const vyre_wave_dep *bad; /* the first wrong one; NULL: none */
    uint32_t *cursor;         /* of each block: how many there are, then where the next one goes */
    uint32_t *lines;          /* of each block the line that is being written; NULL: no need */
    uint32_t *copy;           /* of one block */
    uint8_t *few;             /* how many lead to each wave */
    bool round;               /* one of them went round, and waiting got what is lost */
    bool wide;                /* a block has no room for a copy */
} part;

typedef struct sorting {
    const vyre_wave_set *set;
    vyre_plan_lists *lists;
    blocks b;
    uint32_t *target;
    _Atomic uint32_t next; /* block of the second round */
    part parts[VYRE_PLAN_MOST_WORKERS];
} sorting;

static uint32_t bits_of(size_t number) {
    uint32_t bits = 0;
    while (bits < WORD_BITS && number >> bits) {
        bits++;
    }
    return bits;
}

/* How the problem is cut into blocks; count 0: one round is better. */
static blocks cut(const vyre_wave_set *set, uint32_t workers) {
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
                    .copy_room = set->dep_count / COPY_SHARE / workers + COPY_LEAST};
}

static size_t line_words(const vyre_wave_set *set, const blocks *b) {
    return set->dep_count < MANY_DEPS ? 0 : (size_t)b->count * LINE;
}

size_t vyre_plan_lists_need(const vyre_wave_set *set, uint32_t workers) {
    const blocks b = cut(set, workers);
    return b.count == 0 ? 0
                        : vyre_planner_need((size_t)b.count + 1, sizeof *b.first) +
                              workers * (vyre_planner_need(set->wave_count, 1) +
                                         vyre_planner_need(b.count, sizeof(uint32_t)) +
                                         vyre_planner_need(line_words(set, &b), sizeof(uint32_t)) +
                                         vyre_planner_need(b.copy_room, sizeof(uint32_t)));
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

/* ---- two rounds: counting ---- */

/* As count_deps, by block, with what leads to a wave in bytes: each time one goes round, waiting[w]
 * gets what is lost. Others may add to it, too. */
static void count_blocks(const sorting *s, part *own) {
    const vyre_wave_dep *const end = own->end;
    const uint32_t waves = s->set->wave_count, bits = s->b.low_bits;
    uint32_t *const waiting = s->lists->waiting;
    uint32_t *restrict count = own->cursor;
    uint8_t *restrict few = own->few;
    for (const vyre_wave_dep *dep = own->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        if (is_wrong(one, waves)) {
            own->bad = dep;
            return;
        }
        count[one.before >> bits]++;
        if (++few[one.after] == 0) {
            __atomic_fetch_add(&waiting[one.after], UINT8_MAX + 1, __ATOMIC_RELAXED);
            own->round = true;
        }
    }
}

/* Adds up what the workers counted for the waves [begin, end), in the first one's bytes. */
static void add_few(const sorting *s, uint32_t workers, vyre_range waves, bool *out_round) {
    uint8_t *restrict sum = s->parts[0].few;
    for (uint32_t i = 1; i < workers; i++) {
        const uint8_t *restrict more = s->parts[i].few;
        for (uint64_t w = waves.begin; w < waves.end; w++) {
            const uint32_t both = (uint32_t)sum[w] + more[w];
            sum[w] = (uint8_t)both;
            if (both > UINT8_MAX) {
                s->lists->waiting[w] += UINT8_MAX + 1;
                *out_round = true;
            }
        }
    }
}

/* Counts become places: of each block the first worker's dependencies come first. */
static void place_parts(sorting *s, uint32_t workers) {
    uint32_t sum = 0;
    for (uint32_t block = 0; block < s->b.count; block++) {
        s->b.first[block] = sum;
        for (uint32_t i = 0; i < workers; i++) {
            const uint32_t own = s->parts[i].cursor[block];
            s->parts[i].cursor[block] = sum;
            sum += own;
        }
    }
    s->b.first[s->b.count] = sum;
}

/* ---- two rounds: the first ---- */

static inline uint32_t word_of(vyre_wave_dep dep, uint32_t mask, uint32_t wave_bits) {
    return (dep.before & mask) << wave_bits | dep.after;
}

static void fill_blocks(const blocks *b, const part *own, uint32_t *restrict words) {
    const vyre_wave_dep *const end = own->end;
    const uint32_t low_bits = b->low_bits, wave_bits = b->wave_bits;
    const uint32_t mask = ((uint32_t)1 << low_bits) - 1;
    uint32_t *restrict cursor = own->cursor;
    for (const vyre_wave_dep *dep = own->deps; dep < end; dep++) {
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

/* Others see those lines behind the next barrier. */
static inline void stream_end(void) {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* As fill_blocks, a line at a time; the line in which a part begins is written from its first word
 * on, over what is there of the parts before. */
static void stream_blocks(const blocks *b, const part *own, uint32_t *restrict words) {
    const vyre_wave_dep *const end = own->end;
    const uint32_t low_bits = b->low_bits, wave_bits = b->wave_bits;
    const uint32_t mask = ((uint32_t)1 << low_bits) - 1;
    uint32_t *restrict cursor = own->cursor, *restrict lines = own->lines;
    for (const vyre_wave_dep *dep = own->deps; dep < end; dep++) {
        const vyre_wave_dep one = *dep;
        const uint32_t block = one.before >> low_bits, at = cursor[block]++;
        uint32_t *const line = lines + (size_t)block * LINE;
        line[at % LINE] = word_of(one, mask, wave_bits);
        if (at % LINE == LINE - 1) {
            stream_line(words + (at - at % LINE), line);
        }
    }
    stream_end();
}

/* What is left of each part in the line in which it ends: written when all lines are, since the
 * next part began there. A part begins where that of the worker before it ended, or the block. */
static void write_rest(const blocks *b, const part *own, const uint32_t *before, uint32_t *words) {
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t end = own->cursor[i], from = end / LINE * LINE;
        const uint32_t first = before ? before[i] : b->first[i];
        for (uint32_t k = from > first ? from : first; k < end; k++) {
            words[k] = own->lines[(size_t)i * LINE + k % LINE];
        }
    }
}

/* ---- two rounds: the second ---- */

/* For a block of `count` words: cursor[i] is zero at first, and then where the
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

/* True: the block has no room for a copy, and only its places are known. */
static bool sort_block(const sorting *s, uint32_t block, uint32_t *copy) {
    const blocks *b = &s->b;
    uint32_t *cursor = s->lists->start + 1; /* so that ends are where the next ones begin */
    const uint32_t base = block << b->low_bits, left = s->set->wave_count - base;
    const uint32_t width = left >> b->low_bits ? (uint32_t)1 << b->low_bits : left;
    const uint32_t first = b->first[block], count = b->first[block + 1] - first;
    count_block(s->target + first, count, b->wave_bits, width, first, cursor + base);
    if (count > b->copy_room) {
        return true;
    }
    memcpy(copy, s->target + first, count * sizeof *copy);
    fill_block(copy, count, b->wave_bits, cursor + base, s->target);
    return false;
}

static const vyre_wave_dep *first_bad(const sorting *s, uint32_t workers) {
    const vyre_wave_dep *bad = NULL;
    for (uint32_t i = 0; i < workers && !bad; i++) {
        bad = s->parts[i].bad;
    }
    return bad;
}

static void count_job(vyre_worker *me, sorting *s) {
    part *own = &s->parts[me->number];
    const vyre_range deps = vyre_share_even(s->set->dep_count, 1, me->number, me->count);
    own->deps = s->set->deps + deps.begin;
    own->end = s->set->deps + deps.end;
    memset(own->cursor, 0, s->b.count * sizeof *own->cursor);
    memset(own->few, 0, s->set->wave_count);
    count_blocks(s, own);
}

static void sort_job(vyre_worker *me, void *arg) {
    sorting *s = arg;
    part *own = &s->parts[me->number];
    count_job(me, s);
    vyre_plan_meet(me);
    const vyre_wave_dep *bad = first_bad(s, me->count);
    if (bad) {
        if (me->number == 0) {
            s->lists->bad = bad;
        }
        return;
    }
    if (me->number == 0) {
        place_parts(s, me->count);
    }
    add_few(s, me->count, vyre_share_even(s->set->wave_count, LINE_BYTES, me->number, me->count),
            &own->round);
    vyre_plan_meet(me);
    if (own->lines) {
        stream_blocks(&s->b, own, s->target);
        vyre_plan_meet(me);
        write_rest(&s->b, own, me->number ? own[-1].cursor : NULL, s->target);
    } else {
        fill_blocks(&s->b, own, s->target);
    }
    vyre_plan_meet(me);
    for (uint32_t block; (block = atomic_fetch_add(&s->next, 1)) < s->b.count;) {
        own->wide |= sort_block(s, block, own->copy);
    }
}

static bool take_part(vyre_planner *planner, const sorting *s, part *own) {
    static const char field[] = "dependencies by block";
    const size_t lines = line_words(s->set, &s->b);
    *own = (part){0};
    own->few = vyre_planner_take(planner, s->set->wave_count, 1, "dependency counts");
    own->cursor =
        own->few ? vyre_planner_take(planner, s->b.count, sizeof *own->cursor, field) : NULL;
    own->copy =
        own->cursor ? vyre_planner_take(planner, s->b.copy_room, sizeof *own->copy, field) : NULL;
    if (own->copy && lines != 0) {
        own->lines = vyre_planner_take(planner, lines, sizeof *own->lines, field);
        return own->lines != NULL;
    }
    return own->copy != NULL;
}

/* After the job: blocks without a copy, and counts that went round. */
static void sort_rest(const sorting *s, uint32_t workers, vyre_plan_lists *lists) {
    bool round = false, wide = false;
    for (uint32_t i = 0; i < workers; i++) {
        round |= s->parts[i].round;
        wide |= s->parts[i].wide;
    }
    if (wide) {
        fill_wide_blocks(s->set, &s->b, lists->start + 1, lists->target);
    }
    lists->few = s->parts[0].few;
    if (round) {
        for (uint32_t w = 0; w < s->set->wave_count; w++) {
            lists->waiting[w] += lists->few[w];
        }
        lists->few = NULL;
    }
}

static bool sort_large(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers, blocks b,
                       vyre_plan_lists *lists) {
    sorting s = {.set = set, .lists = lists, .b = b, .target = lists->target};
    s.b.first =
        vyre_planner_take(planner, (size_t)b.count + 1, sizeof *b.first, "dependencies by block");
    bool fine = s.b.first != NULL;
    for (uint32_t i = 0; i < workers && fine; i++) {
        fine = take_part(planner, &s, &s.parts[i]);
    }
    if (fine) {
        vyre_plan_run(planner, workers, sort_job, &s);
        sort_rest(&s, workers, lists);
    }
    return fine;
}

bool vyre_plan_lists_make(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers,
                          vyre_plan_lists *lists) {
    const blocks b = cut(set, workers);
    if (b.count != 0) {
        return sort_large(planner, set, workers, b, lists);
    }
    lists->few = NULL;
    lists->bad = count_deps(set, lists->start + 2, lists->waiting);
    if (!lists->bad) {
        add_up(lists->start + 2, set->wave_count);
        fill_lists(set, lists->start + 1, lists->target);
    }
    return true;
}
