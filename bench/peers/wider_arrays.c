/* Arrays and graphs of the second set. */
#include "sets.h"

static size_t from_of(size_t n) {
    return peer_cut(n, PEER_THREAD(), PEER_THREADS());
}

static size_t to_of(size_t n) {
    return peer_cut(n, PEER_THREAD() + 1, PEER_THREADS());
}

/* Two reads, one write: the largest of each thread's part, then each part from there. */
static void run_prefix_max(void *state) {
    set_job *s = state;
    enum { APART = PEER_LINE / sizeof(int32_t), MOST = 256 };
    static int32_t tops[MOST * APART];
    const int32_t *x = s->in[0];
    int32_t *y = s->out[0];
#pragma omp parallel num_threads(PEER_MOST() < MOST ? PEER_MOST() : MOST)
    {
        size_t from = from_of(s->size[0]), to = to_of(s->size[0]);
        size_t me = (size_t)PEER_THREAD();
        int32_t top = INT32_MIN;
#pragma omp simd reduction(max : top)
        for (size_t i = from; i < to; i++) {
            top = x[i] > top ? x[i] : top;
        }
        tops[me * APART] = top;
#pragma omp barrier
        top = INT32_MIN;
        for (size_t t = 0; t < me; t++) {
            top = tops[t * APART] > top ? tops[t * APART] : top;
        }
        for (size_t i = from; i < to; i++) {
            top = x[i] > top ? x[i] : top;
            y[i] = top;
        }
    }
}

/* Rows in stretches that fit the first-level cache, entries outside: columns are read in order. */
static void multiply_ell(const set_job *s, const float *restrict x, float *restrict y) {
    enum { STRETCH = 1024 };
    size_t rows = s->size[0], per = s->size[1];
    const uint32_t *restrict col = s->in[0];
    const float *restrict val = s->in[1];
#pragma omp for schedule(static)
    for (size_t first = 0; first < rows; first += STRETCH) {
        size_t last = first + STRETCH < rows ? first + STRETCH : rows;
        for (size_t i = first; i < last; i++) {
            y[i] = 0.0f;
        }
        for (size_t k = 0; k < per; k++) {
            for (size_t i = first; i < last; i++) {
                y[i] += val[k * rows + i] * x[col[k * rows + i]];
            }
        }
    }
}

static void run_spmv_ell(void *state) {
    set_job *s = state;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t i = 0; i < s->size[0]; i++) {
            ((float *)s->out[0])[i] = ((const float *)s->in[2])[i];
        }
        for (uint64_t k = 0; k < s->size[2] / 2; k++) {
            multiply_ell(s, s->out[0], s->scratch);
            multiply_ell(s, s->scratch, s->out[0]);
        }
    }
}

static void reset_bitonic(void *state) {
    set_job *s = state;
    memcpy(s->out[0], s->in[0], s->in_bytes[0]);
}

/* Steps whose partners lie within a part of the cache need no barrier between them: a thread does
 * all of them for its part. Others are cut evenly. */
static void exchange(uint32_t *restrict low, uint32_t *restrict high, size_t count, bool up) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        uint32_t a = low[i], b = high[i], least = a < b ? a : b, most = a < b ? b : a;
        low[i] = up ? least : most;
        high[i] = up ? most : least;
    }
}

static void run_bitonic(void *state) {
    set_job *s = state;
    enum { PART = 16384 };
    uint32_t *x = s->out[0];
    size_t n = s->size[0], part = n < PART ? n : PART;
#pragma omp parallel
    for (size_t size = 2; size <= n; size *= 2) {
        size_t apart = size / 2;
        for (; apart >= part; apart /= 2) {
            size_t step = apart < 4096 ? apart : 4096;
#pragma omp for schedule(static)
            for (size_t at = 0; at < n / 2; at += step) {
                size_t low = at / apart * apart * 2 + at % apart;
                exchange(x + low, x + low + apart, step, (low & size) == 0);
            }
        }
        size_t rest = apart;
#pragma omp for schedule(static)
        for (size_t first = 0; first < n; first += part) {
            for (apart = rest; apart > 0; apart /= 2) {
                for (size_t low = first; low < first + part; low += 2 * apart) {
                    exchange(x + low, x + low + apart, apart, (low & size) == 0);
                }
            }
        }
    }
}

static void run_search(void *state) {
    set_job *s = state;
    const uint8_t *text = s->in[0], *pattern = s->in[1];
    size_t n = s->in_bytes[0], m = s->in_bytes[1];
    uint32_t count = 0, first = UINT32_MAX, *found = s->out[0];
#pragma omp parallel for schedule(static) reduction(+ : count) reduction(min : first)
    for (size_t i = 0; i < n - m + 1; i++) {
        size_t k = 0;
        while (k < m && ((text[i + k] ^ pattern[k]) & 3) == 0) {
            k++;
        }
        if (k == m) {
            count++;
            first = i < first ? (uint32_t)i : first;
        }
    }
    found[0] = count;
    found[1] = first;
}

static inline uint32_t hash(uint32_t v) {
    uint32_t h = v * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca77u;
    h = (h ^ h >> 13) * 0xc2b2ae3du;
    return h ^ h >> 16;
}

static void run_walks(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    uint32_t *ended = s->out[0], n = (uint32_t)(s->in_bytes[0] / sizeof *row - 1);
    memset(ended, 0, n * sizeof *ended);
#pragma omp parallel for schedule(static)
    for (uint64_t walker = 0; walker < s->size[2]; walker++) {
        uint32_t at = hash((uint32_t)walker) % n, hashed = (uint32_t)walker;
        for (uint32_t k = 0; k < s->size[3]; k++) {
            uint32_t degree = row[at + 1] - row[at];
            hashed = hash(hashed + k);
            at = degree ? col[row[at] + hashed % degree] : at;
        }
        __atomic_fetch_add(&ended[at], 1, __ATOMIC_RELAXED);
    }
}

static void run_segments(void *state) {
    set_job *s = state;
    const uint32_t *begin = s->in[0];
    const float *x = s->in[1];
    float *sum = s->out[0];
#pragma omp parallel for schedule(dynamic, 256)
    for (size_t i = 0; i < s->size[0]; i++) {
        float all = 0.0f;
        for (uint32_t k = begin[i]; k < begin[i + 1]; k++) {
            all += x[k];
        }
        sum[i] = all;
    }
}

enum { LANES = 32 };

static void run_warps(void *state) {
    set_job *s = state;
    const float *x = s->in[0];
    float total = 0.0f;
#pragma omp parallel reduction(+ : total)
    {
        float lane[LANES] = {0};
        size_t i = from_of(s->size[0]), to = to_of(s->size[0]);
        for (; i + LANES <= to; i += LANES) {
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                lane[k] += x[i + k];
            }
        }
        for (; i < to; i++) {
            lane[0] += x[i];
        }
        for (size_t k = 0; k < LANES; k++) {
            total += lane[k];
        }
    }
    *(float *)s->out[0] = total;
}

static void run_dot_f64(void *state) {
    set_job *s = state;
    const double *a = s->in[0], *b = s->in[1];
    double total = 0.0;
#pragma omp parallel reduction(+ : total)
    {
        double lane[LANES] = {0};
        size_t i = from_of(s->size[0]), to = to_of(s->size[0]);
        for (; i + LANES <= to; i += LANES) {
#pragma omp simd
            for (size_t k = 0; k < LANES; k++) {
                lane[k] += a[i + k] * b[i + k];
            }
        }
        for (; i < to; i++) {
            lane[0] += a[i] * b[i];
        }
        for (size_t k = 0; k < LANES; k++) {
            total += lane[k];
        }
    }
    *(double *)s->out[0] = total;
}

const peer peer_prefix_max = {"prefix_max", set_prepare, NULL, run_prefix_max, set_collect};
const peer peer_spmv_ell = {"spmv_ell", set_prepare, NULL, run_spmv_ell, set_collect};
const peer peer_bitonic = {"bitonic", set_prepare, reset_bitonic, run_bitonic, set_collect};
const peer peer_search = {"search", set_prepare, NULL, run_search, set_collect};
const peer peer_walks = {"walks", set_prepare, NULL, run_walks, set_collect};
const peer peer_segments = {"segments", set_prepare, NULL, run_segments, set_collect};
const peer peer_warps = {"warps", set_prepare, NULL, run_warps, set_collect};
const peer peer_dot_f64 = {"dot_f64", set_prepare, NULL, run_dot_f64, set_collect};
