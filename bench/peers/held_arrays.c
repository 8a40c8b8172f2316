/* Arrays of the held-out set: each thread has a stretch, and learns from the others where its
 * results begin. */
#include "sets.h"

#ifdef __AVX2__
#    include <immintrin.h>
#endif

/* Where the part of this thread begins, from what each part has; all threads must come. */
static size_t begin_of(size_t *parts, size_t mine) {
    size_t sum = 0;
    parts[PEER_THREAD()] = mine;
#pragma omp barrier
    for (int t = 0; t < PEER_THREAD(); t++) {
        sum += parts[t];
    }
    return sum;
}

static bool is_wanted(uint64_t x) {
    return x >> 61 < 3;
}

/* Without branches: each element is written, and the place goes on if it stays. */
static void compact_stretch(const uint64_t *restrict x, size_t count, uint64_t *restrict to) {
    enum { CHUNK = 512 };
    uint64_t kept[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t last = first + CHUNK < count ? first + CHUNK : count, size = 0;
        for (size_t i = first; i < last; i++) {
            kept[size] = x[i];
            size += is_wanted(x[i]);
        }
        memcpy(to, kept, size * sizeof *to);
        to += size;
    }
}

static void run_compact(void *state) {
    set_job *s = state;
    const uint64_t *x = s->in[0];
    size_t n = s->in_bytes[0] / sizeof *x, *parts = s->scratch;
#pragma omp parallel
    {
        size_t from = peer_cut(n, PEER_THREAD(), PEER_THREADS()), wanted = 0;
        size_t to = peer_cut(n, PEER_THREAD() + 1, PEER_THREADS());
#pragma omp simd reduction(+ : wanted)
        for (size_t i = from; i < to; i++) {
            wanted += is_wanted(x[i]);
        }
        size_t begin = begin_of(parts, wanted);
        compact_stretch(x + from, to - from, (uint64_t *)s->out[0] + begin);
        if (PEER_THREAD() + 1 == PEER_THREADS()) {
            *(uint32_t *)s->out[1] = (uint32_t)(begin + wanted);
        }
    }
}

/* Four merges at once, each of which would wait for itself. */

enum { CHAINS = 4 };

typedef struct chain {
    const uint32_t *a, *a_end, *b, *b_end;
    uint32_t *c;
} chain;

/* How many of the first `place` elements of the result are from a. */
static size_t split_at(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                       size_t place) {
    size_t low = place > b_count ? place - b_count : 0, high = place < a_count ? place : a_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (a[mid] <= b[place - 1 - mid]) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static inline void merge_one(chain *m) {
    uint32_t x = *m->a, y = *m->b;
    size_t first = x <= y;
    *m->c++ = first ? x : y;
    m->a += first;
    m->b += 1 - first;
}

static size_t merge_room(const chain *m) {
    size_t a = (size_t)(m->a_end - m->a), b = (size_t)(m->b_end - m->b);
    return a < b ? a : b;
}

static void merge_chains(chain m[CHAINS]) {
    size_t room = 1;
    while (room) {
        room = SIZE_MAX;
        for (size_t k = 0; k < CHAINS; k++) {
            room = merge_room(&m[k]) < room ? merge_room(&m[k]) : room;
        }
        chain p = m[0], q = m[1], r = m[2], t = m[3];
        for (size_t i = 0; i < room; i++) {
            merge_one(&p);
            merge_one(&q);
            merge_one(&r);
            merge_one(&t);
        }
        m[0] = p, m[1] = q, m[2] = r, m[3] = t;
    }
    for (size_t k = 0; k < CHAINS; k++) {
        while (merge_room(&m[k])) {
            merge_one(&m[k]);
        }
        size_t rest = (size_t)(m[k].a_end - m[k].a);
        memcpy(m[k].c, m[k].a, rest * sizeof *m[k].c);
        memcpy(m[k].c + rest, m[k].b, (size_t)(m[k].b_end - m[k].b) * sizeof *m[k].c);
    }
}

static void run_merge(void *state) {
    set_job *s = state;
    const uint32_t *a = s->in[0], *b = s->in[1];
    size_t a_count = s->in_bytes[0] / sizeof *a, b_count = s->in_bytes[1] / sizeof *b;
    size_t all = a_count + b_count;
#pragma omp parallel
    {
        chain m[CHAINS];
        int first = PEER_THREAD() * CHAINS, parts = PEER_THREADS() * CHAINS;
        for (int k = 0; k < CHAINS; k++) {
            size_t from = peer_cut(all, first + k, parts), to = peer_cut(all, first + k + 1, parts);
            size_t i = split_at(a, a_count, b, b_count, from);
            size_t j = split_at(a, a_count, b, b_count, to);
            m[k] =
                (chain){a + i, a + j, b + (from - i), b + (to - j), (uint32_t *)s->out[0] + from};
        }
        merge_chains(m);
    }
}

/* Codes of a stretch. Words that two threads share are joined; where the stretch surely goes on for
 * more than a word, what is there is written after each pair, complete or not. */

typedef struct bit_code {
    uint32_t code, length;
} bit_code;

typedef struct bit_writer {
    uint64_t held;
    uint32_t filled; /* bits of it */
    uint32_t *word;
} bit_writer;

static inline void put_code(bit_writer *w, bit_code c) {
    w->held |= (uint64_t)c.code << w->filled;
    w->filled += c.length;
}

static void put_joined(bit_writer *w, bit_code c) {
    put_code(w, c);
    if (w->filled >= 32) {
        __atomic_fetch_or(w->word++, (uint32_t)w->held, __ATOMIC_RELAXED);
        w->held >>= 32;
        w->filled -= 32;
    }
}

static void encode_stretch(const uint8_t *symbol, size_t count, const bit_code *code,
                           bit_writer w) {
    const size_t edge = 64; /* symbols: at least two words */
    size_t i = 0, whole = count > 2 * edge ? count - edge : 0;
    for (; i < (whole ? edge : count); i++) {
        put_joined(&w, code[symbol[i]]);
    }
    for (; i + 1 < whole; i += 2) {
        put_code(&w, code[symbol[i]]);
        put_code(&w, code[symbol[i + 1]]);
        uint32_t full = w.filled >> 5;
        *w.word = (uint32_t)w.held;
        w.word += full;
        w.held >>= 32 * full;
        w.filled &= 31;
    }
    if (whole) {
        *w.word = 0;
    }
    for (; i < count; i++) {
        put_joined(&w, code[symbol[i]]);
    }
    if (w.filled) {
        __atomic_fetch_or(w.word, (uint32_t)w.held, __ATOMIC_RELAXED);
    }
}

static void run_encode(void *state) {
    set_job *s = state;
    const uint8_t *symbol = s->in[0];
    const uint32_t *code = s->in[1], *length = s->in[2];
    size_t n = s->in_bytes[0], *parts = s->scratch;
    bit_code codes[256];
    for (size_t k = 0; k < 256; k++) {
        codes[k] = (bit_code){code[k], length[k]};
    }
#pragma omp parallel
    {
        size_t from = peer_cut(n, PEER_THREAD(), PEER_THREADS()), size = 0;
        size_t to = peer_cut(n, PEER_THREAD() + 1, PEER_THREADS());
        uint32_t *bits = s->out[0];
        for (size_t i = from; i < to; i++) {
            size += codes[symbol[i]].length;
        }
        size_t begin = begin_of(parts, size), first = begin / 32, last = (begin + size) / 32;
        size_t edge = last - first < 64 ? last - first : 64; /* words that are joined */
        memset(bits + first, 0, (edge + 1) * sizeof *bits);
        memset(bits + last - edge, 0, (edge + 1) * sizeof *bits);
#pragma omp barrier
        bit_writer writer = {0, (uint32_t)(begin % 32), bits + first};
        encode_stretch(symbol + from, to - from, codes, writer);
        if (PEER_THREAD() + 1 == PEER_THREADS()) {
            *(uint32_t *)s->out[1] = (uint32_t)(begin + size);
        }
    }
}

static void *prepare_parts(const peer_instance *p) {
    return set_prepare_room(p, (size_t)PEER_MOST() * sizeof(size_t));
}

/* Sums of 16 neighbours; products of two weights at a time where the machine adds such pairs: those
 * of even places, and of odd ones from an element further on. */

enum { WEIGHTS = 64, OUTPUTS = 16 };

static inline int16_t fir_round(int32_t sum) {
    int32_t y = sum >> 15;
    y = y < -32768 ? -32768 : y;
    return (int16_t)(y > 32767 ? 32767 : y);
}

#ifdef __AVX2__
static void fir_outputs(const int16_t *x, const int16_t *weight, int16_t *y) {
    __m256i even = _mm256_setzero_si256(), odd = even;
    for (size_t k = 0; k < WEIGHTS; k += 2) {
        int32_t pair;
        memcpy(&pair, weight + k, sizeof pair);
        __m256i w = _mm256_set1_epi32(pair);
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(x + k));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(x + k + 1));
        even = _mm256_add_epi32(even, _mm256_madd_epi16(a, w));
        odd = _mm256_add_epi32(odd, _mm256_madd_epi16(b, w));
    }
    even = _mm256_srai_epi32(even, 15);
    odd = _mm256_srai_epi32(odd, 15);
    __m256i low = _mm256_unpacklo_epi32(even, odd), high = _mm256_unpackhi_epi32(even, odd);
    _mm256_storeu_si256((__m256i *)(void *)y, _mm256_packs_epi32(low, high));
}
#else
static void fir_outputs(const int16_t *restrict x, const int16_t *restrict weight,
                        int16_t *restrict y) {
    int32_t sum[OUTPUTS] = {0};
    for (size_t k = 0; k < WEIGHTS; k++) {
#    pragma omp simd
        for (size_t i = 0; i < OUTPUTS; i++) {
            sum[i] += x[i + k] * weight[k];
        }
    }
    for (size_t i = 0; i < OUTPUTS; i++) {
        y[i] = fir_round(sum[i]);
    }
}
#endif

static void run_fir(void *state) {
    set_job *s = state;
    const int16_t *x = s->in[0], *weight = s->in[1];
    size_t n = s->in_bytes[0] / sizeof *x;
    size_t whole = n > WEIGHTS + OUTPUTS ? (n - WEIGHTS) / OUTPUTS * OUTPUTS : 0;
    int16_t *y = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < whole; i += OUTPUTS) {
        fir_outputs(x + i, weight, y + i);
    }
    for (size_t i = whole; i < n; i++) {
        int32_t sum = 0;
        for (size_t k = 0; k < WEIGHTS && i + k < n; k++) {
            sum += x[i + k] * weight[k];
        }
        y[i] = fir_round(sum);
    }
}

/* Each thread adds to a grid of its own. */
static void run_deposit(void *state) {
    set_job *s = state;
    const uint32_t *x = s->in[0], *y = s->in[1];
    uint32_t bits = (uint32_t)s->size[1], mask = (1u << bits) - 1;
    size_t n = s->in_bytes[0] / sizeof *x, cells = (size_t)1 << (2 * bits);
    uint32_t *charge = s->out[0], *grids = s->scratch;
#pragma omp parallel
    {
        uint32_t *mine = grids + (size_t)PEER_THREAD() * cells;
        memset(mine, 0, cells * sizeof *mine);
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            uint32_t cx = x[i] >> (32 - bits), cy = y[i] >> (32 - bits);
            uint32_t wx = x[i] >> (24 - bits) & 255, wy = y[i] >> (24 - bits) & 255;
            uint32_t *row = mine + ((size_t)cy << bits), right = (cx + 1) & mask;
            uint32_t *below = mine + ((size_t)((cy + 1) & mask) << bits);
            row[cx] += (256 - wx) * (256 - wy);
            row[right] += wx * (256 - wy);
            below[cx] += (256 - wx) * wy;
            below[right] += wx * wy;
        }
        size_t from = peer_cut(cells, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(cells, PEER_THREAD() + 1, PEER_THREADS());
        memcpy(charge + from, grids + from, (to - from) * sizeof *charge);
        for (int t = 1; t < PEER_THREADS(); t++) {
            const uint32_t *restrict other = grids + (size_t)t * cells;
#pragma omp simd
            for (size_t c = from; c < to; c++) {
                charge[c] += other[c];
            }
        }
    }
}

static void *prepare_deposit(const peer_instance *p) {
    return set_prepare_room(p, p->out_bytes[0] * (size_t)PEER_MOST());
}

const peer peer_compact = {"compact", prepare_parts, NULL, run_compact, set_collect};
const peer peer_merge = {"merge", set_prepare, NULL, run_merge, set_collect};
const peer peer_encode = {"encode", prepare_parts, NULL, run_encode, set_collect};
const peer peer_fir = {"fir", set_prepare, NULL, run_fir, set_collect};
const peer peer_deposit = {"deposit", prepare_deposit, NULL, run_deposit, set_collect};
