/* Sums, scans, histograms and sorting: each thread owns one stretch of the input. */
#ifdef __AVX__
#    include <immintrin.h>
#endif

#include "workloads.h"

typedef struct array {
    size_t count;
    const void *x;
    uint32_t *y, *other; /* scan: result; sort: keys and the other buffer */
    uint32_t *part;      /* of each thread, apart by whole lines */
    uint32_t bins[256];
    float sum_f32;
    uint32_t sum_u32;
} array;

static void *prepare(const peer_instance *p) {
    array *s = calloc(1, sizeof *s);
    if (s) {
        s->count = p->size[0];
        s->x = peer_copy(p->in[0], p->in_bytes[0]);
        s->part = peer_room((size_t)PEER_MOST() * 4096);
    }
    return s;
}

static void *prepare_two(const peer_instance *p) {
    array *s = prepare(p);
    if (s) {
        s->y = peer_room(p->in_bytes[0]);
        s->other = peer_room(p->in_bytes[0]);
    }
    return s;
}

/* Reduction: independent sums hide the latency of the addition; for floats there are enough of them
 * that the result is good, too. */

enum { LANES = 64 };

static void run_reduce_f32(void *state) {
    array *s = state;
    float total = 0.0f;
#pragma omp parallel reduction(+ : total)
    {
        size_t from = peer_cut(s->count / LANES, PEER_THREAD(), PEER_THREADS()) * LANES;
        size_t to = peer_cut(s->count / LANES, PEER_THREAD() + 1, PEER_THREADS()) * LANES;
        const float *x = s->x;
        float lane[LANES] = {0};
        for (size_t i = from; i < to; i += LANES) {
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                lane[k] += x[i + k];
            }
        }
        for (size_t i = s->count / LANES * LANES; i < s->count && PEER_THREAD() == 0; i++) {
            lane[i % LANES] += x[i];
        }
        for (size_t half = LANES / 2; half; half /= 2) {
            for (size_t k = 0; k < half; k++) {
                lane[k] += lane[k + half];
            }
        }
        total += lane[0];
    }
    s->sum_f32 = total;
}

static void run_reduce_u32(void *state) {
    array *s = state;
    const uint32_t *x = s->x;
    uint32_t total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
    for (size_t i = 0; i < s->count; i++) {
        total += x[i];
    }
    s->sum_u32 = total;
}

static void collect_reduce_f32(void *state, const peer_instance *p) {
    memcpy(p->out[0], &((array *)state)->sum_f32, p->out_bytes[0]);
}

static void collect_reduce_u32(void *state, const peer_instance *p) {
    memcpy(p->out[0], &((array *)state)->sum_u32, p->out_bytes[0]);
}

/* Scan: rounds of blocks that fit the second-level cache, so that memory is read once. In a round
 * each thread adds up its block, and then, knowing those before it, scans it. */

static void scan_block(const uint32_t *restrict x, uint32_t *restrict y, size_t count,
                       uint32_t before) {
    for (size_t i = 0; i < count; i++) {
        y[i] = before;
        before += x[i];
    }
}

static void run_scan(void *state) {
    array *s = state;
    enum { BLOCK = 32768, APART = PEER_LINE / sizeof(uint32_t) };
    const uint32_t *x = s->x;
    uint32_t *part = s->part;
#pragma omp parallel
    {
        size_t me = (size_t)PEER_THREAD(), threads = (size_t)PEER_THREADS(), turn = 0;
        uint32_t carry = 0;
        for (size_t first = 0; first < s->count; first += threads * BLOCK, turn ^= 1) {
            size_t from = first + me * BLOCK < s->count ? first + me * BLOCK : s->count;
            size_t to = from + BLOCK < s->count ? from + BLOCK : s->count;
            uint32_t sum = 0, *parts = part + turn * threads * APART;
#pragma omp simd reduction(+ : sum)
            for (size_t i = from; i < to; i++) {
                sum += x[i];
            }
            parts[me * APART] = sum;
#pragma omp barrier
            uint32_t before = carry;
            for (size_t t = 0; t < threads; t++) {
                before += t < me ? parts[t * APART] : 0;
                carry += parts[t * APART];
            }
            scan_block(x + from, s->y + from, to - from, before);
        }
    }
}

static void collect_scan(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((array *)state)->y, p->out_bytes[0]);
}

/* Histogram: four tables per thread, so that equal neighbours do not wait for each other, and eight
 * bytes per load. */

static void run_histogram(void *state) {
    array *s = state;
    memset(s->bins, 0, sizeof s->bins);
#pragma omp parallel
    {
        const uint8_t *x = s->x;
        uint32_t table[4][256] = {{0}};
        size_t i = peer_cut(s->count, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(s->count, PEER_THREAD() + 1, PEER_THREADS());
        for (; i + 8 <= to; i += 8) {
            uint64_t word;
            memcpy(&word, x + i, sizeof word);
            table[0][word & 255]++;
            table[1][word >> 8 & 255]++;
            table[2][word >> 16 & 255]++;
            table[3][word >> 24 & 255]++;
            table[0][word >> 32 & 255]++;
            table[1][word >> 40 & 255]++;
            table[2][word >> 48 & 255]++;
            table[3][word >> 56]++;
        }
        for (; i < to; i++) {
            table[0][x[i]]++;
        }
#pragma omp critical
        for (size_t bin = 0; bin < 256; bin++) {
            s->bins[bin] += table[0][bin] + table[1][bin] + table[2][bin] + table[3][bin];
        }
    }
}

static void collect_histogram(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((array *)state)->bins, p->out_bytes[0]);
}

/* Radix sort, eight bits per pass. The highest digit comes first, and cuts the keys into 256 parts:
 * each thread counts the digits of its stretch, all know where each thread's keys of each digit go,
 * and move them. Keys are collected until a line of the target is full, and leave as one: 256
 * streams of single stores would not fit the caches and the TLB. Then each part, which fits the
 * second cache, is sorted by one thread, the lowest digit first: memory is crossed twice, not once
 * for each digit. */

static void reset_sort(void *state) {
    array *s = state;
    memcpy(s->y, s->x, s->count * sizeof *s->y);
}

static void count_digits(const uint32_t *from, size_t first, size_t last, uint32_t shift,
                         uint32_t *count) {
    uint32_t table[4][256] = {{0}};
    size_t i = first;
    for (; i + 4 <= last; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            table[k][from[i + k] >> shift & 255]++;
        }
    }
    for (; i < last; i++) {
        table[0][from[i] >> shift & 255]++;
    }
    for (size_t d = 0; d < 256; d++) {
        count[d] = table[0][d] + table[1][d] + table[2][d] + table[3][d];
    }
}

enum { KEYS = PEER_LINE / sizeof(uint32_t) }; /* of a line */

/* A line may begin before the first key that is this thread's; that part is not written. */
static void flush_line(uint32_t *to, const uint32_t *line, uint32_t start, uint32_t end) {
    uint32_t base = (end - 1) / KEYS * KEYS, from = base > start ? base : start;
    memcpy(to + from, line + (from - base), (end - from) * sizeof *to);
}

/* A whole line, past the caches: it is not read again in this pass. */
static inline void stream_line(uint32_t *to, const uint32_t *line) {
#ifdef __AVX__
    for (size_t i = 0; i < KEYS; i += 8) {
        __m256i keys = _mm256_load_si256((const __m256i *)(const void *)(line + i));
        _mm256_stream_si256((__m256i *)(void *)(to + i), keys);
    }
#else
    memcpy(to, line, PEER_LINE);
#endif
}

static inline void stream_end(void) {
#ifdef __AVX__
    _mm_sfence();
#endif
}

static void move_keys(const uint32_t *from, size_t first, size_t last, uint32_t shift,
                      const uint32_t *start, uint32_t *to) {
    _Alignas(PEER_LINE) uint32_t line[256][KEYS];
    uint32_t place[256];
    memcpy(place, start, sizeof place);
    for (size_t i = first; i < last; i++) {
        uint32_t key = from[i], d = key >> shift & 255, at = place[d]++;
        line[d][at % KEYS] = key;
        if (at % KEYS == KEYS - 1) {
            uint32_t base = at + 1 - KEYS;
            if (base >= start[d]) {
                stream_line(to + base, line[d]);
            } else {
                flush_line(to, line[d], start[d], at + 1);
            }
        }
    }
    for (size_t d = 0; d < 256; d++) {
        if (place[d] % KEYS && place[d] > start[d]) {
            flush_line(to, line[d], start[d], place[d]);
        }
    }
    stream_end();
}

static inline void move_part(const uint32_t *restrict from, uint32_t *restrict to, size_t n,
                             uint32_t shift, uint32_t *restrict next) {
    for (size_t i = 0; i < n; i++) {
        uint32_t key = from[i];
        to[next[key >> shift & 255]++] = key;
    }
}

/* By the three lower digits; what was in `from` is in `to` then. */
static void sort_part(uint32_t *from, uint32_t *to, size_t n) {
    uint32_t next[3][256] = {{0}};
    for (size_t i = 0; i < n; i++) {
        uint32_t key = from[i];
        next[0][key & 255]++;
        next[1][key >> 8 & 255]++;
        next[2][key >> 16 & 255]++;
    }
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t d = 0, sum = 0; d < 256; d++) {
            uint32_t count = next[k][d];
            next[k][d] = sum;
            sum += count;
        }
    }
    move_part(from, to, n, 0, next[0]);
    move_part(to, from, n, 8, next[1]);
    move_part(from, to, n, 16, next[2]);
}

static void run_sort(void *state) {
    enum { HIGHEST = 24, PARTS = 4 }; /* parts that a thread takes at once */
    array *s = state;
    uint32_t *part = s->part, end[256]; /* 256 counters per thread; of each digit */
#pragma omp parallel
    {
        size_t me = (size_t)PEER_THREAD(), threads = (size_t)PEER_THREADS();
        size_t first = peer_cut(s->count, (int)me, (int)threads);
        size_t last = peer_cut(s->count, (int)me + 1, (int)threads);
        uint32_t start[256] = {0}, sum = 0;
        count_digits(s->y, first, last, HIGHEST, part + me * 256);
#pragma omp barrier
        for (size_t d = 0; d < 256; d++) {
            for (size_t t = 0; t < threads; t++) {
                start[d] = t == me ? sum : start[d];
                sum += part[t * 256 + d];
            }
            if (me == 0) {
                end[d] = sum;
            }
        }
        move_keys(s->y, first, last, HIGHEST, start, s->other);
#pragma omp barrier
#pragma omp for schedule(dynamic, PARTS)
        for (int d = 0; d < 256; d++) {
            uint32_t begin = d ? end[d - 1] : 0;
            sort_part(s->other + begin, s->y + begin, end[d] - begin);
        }
    }
}

static void collect_sort(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((array *)state)->y, p->out_bytes[0]);
}

const peer peer_reduce_f32 = {"reduce_f32", prepare, NULL, run_reduce_f32, collect_reduce_f32};
const peer peer_reduce_u32 = {"reduce_u32", prepare, NULL, run_reduce_u32, collect_reduce_u32};
const peer peer_scan = {"scan", prepare_two, NULL, run_scan, collect_scan};
const peer peer_histogram = {"histogram", prepare, NULL, run_histogram, collect_histogram};
const peer peer_sort = {"sort", prepare_two, reset_sort, run_sort, collect_sort};
