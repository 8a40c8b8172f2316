/* Lines, tables and graphs of the published set. */
#include "sets.h"

/* Rows are uneven: parts of them are handed out. */
static void run_lowest(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    size_t n = s->in_bytes[0] / sizeof *row - 1;
    uint32_t *label = s->out[0], *next = s->scratch;
    bool changed = true;
    for (size_t v = 0; v < n; v++) {
        label[v] = (uint32_t)v;
    }
    while (changed) {
        changed = false;
#pragma omp parallel
        {
            bool mine = false;
#pragma omp for schedule(dynamic, 512)
            for (size_t v = 0; v < n; v++) {
                uint32_t best = label[v];
                for (uint32_t e = row[v]; e < row[v + 1]; e++) {
                    best = label[col[e]] < best ? label[col[e]] : best;
                }
                next[v] = best;
                mine |= best != label[v];
            }
            if (mine) {
#pragma omp atomic write
                changed = true;
            }
#pragma omp barrier
#pragma omp for schedule(static)
            for (size_t v = 0; v < n; v++) {
                label[v] = next[v];
            }
        }
    }
}

typedef struct complexes {
    float *re, *im;
} complexes;

/* A stretch of butterflies with consecutive roots. */
static void butterflies(const float *restrict x, const float *restrict y, float *restrict u,
                        float *restrict v, const float *restrict root, size_t apart, size_t half,
                        size_t done, size_t count) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        float c = root[i * apart], d = root[i * apart + 1];
        float a = x[i + half] * c - y[i + half] * d, b = x[i + half] * d + y[i + half] * c;
        u[i] = x[i] + a;
        v[i] = y[i] + b;
        u[i + done] = x[i] - a;
        v[i + done] = y[i] - b;
    }
}

static void fft_stage(complexes from, complexes to, const float *root, size_t half, size_t done) {
    size_t apart = 2 * (half / done), end = peer_cut(half, PEER_THREAD() + 1, PEER_THREADS());
    for (size_t i = peer_cut(half, PEER_THREAD(), PEER_THREADS()); i < end;) {
        size_t k = i % done, left = end - i, count = done - k < left ? done - k : left;
        size_t at = (i - k) * 2 + k;
        butterflies(from.re + i, from.im + i, to.re + at, to.im + at, root + k * apart, apart, half,
                    done, count);
        i += count;
    }
}

static void run_fft(void *state) {
    set_job *s = state;
    size_t n = s->in_bytes[0] / sizeof(float);
    const float *re = s->in[0], *im = s->in[1], *root = s->in[2];
    float *room = s->scratch;
#pragma omp parallel
    {
        complexes from = {s->out[0], s->out[1]}, to = {room, room + n};
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            from.re[i] = re[i];
            from.im[i] = im[i];
        }
        for (size_t done = 1; done < n; done *= 2) {
            fft_stage(from, to, root, n / 2, done);
#pragma omp barrier
            complexes other = from;
            from = to;
            to = other;
        }
    }
}

/* By columns of a vector: a maximum of floats is no reduction that every compiler makes vectors of.
 */
static float largest(const float *restrict x, size_t count) {
    enum { LANES = 32 };
    float tops[LANES], top = -3.0e38f;
    size_t whole = count / LANES * LANES;
    for (size_t i = 0; i < LANES; i++) {
        tops[i] = top;
    }
    for (size_t c = 0; c < whole; c += LANES) {
#pragma omp simd
        for (size_t i = 0; i < LANES; i++) {
            tops[i] = x[c + i] > tops[i] ? x[c + i] : tops[i];
        }
    }
    for (size_t c = whole; c < count; c++) {
        top = x[c] > top ? x[c] : top;
    }
    for (size_t i = 0; i < LANES; i++) {
        top = tops[i] > top ? tops[i] : top;
    }
    return top;
}

static void run_softmax(void *state) {
    set_job *s = state;
    size_t rows = s->size[0], columns = s->size[1];
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        const float *restrict x = (const float *)s->in[0] + r * columns;
        float *restrict y = (float *)s->out[0] + r * columns;
        float top = largest(x, columns), sum = 0.0f;
#pragma omp simd
        for (size_t c = 0; c < columns; c++) {
            y[c] = peer_exp(x[c] - top);
        }
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < columns; c++) {
            sum += y[c];
        }
        float scale = 1.0f / sum;
#pragma omp simd
        for (size_t c = 0; c < columns; c++) {
            y[c] *= scale;
        }
    }
}

static void run_darts(void *state) {
    set_job *s = state;
    enum { LANES = 32 };
    size_t lanes = s->size[0];
    const uint32_t *seed = s->in[0];
    uint32_t hits = 0;
#pragma omp parallel for schedule(static) reduction(+ : hits)
    for (size_t first = 0; first < lanes; first += LANES) {
        uint32_t at[LANES] = {0}, in[LANES] = {0};
        size_t count = lanes - first < LANES ? lanes - first : LANES;
        for (size_t i = 0; i < count; i++) {
            at[i] = seed[first + i] | 1;
        }
        for (uint64_t k = 0; k < s->size[1]; k++) {
#pragma omp simd
            for (size_t i = 0; i < LANES; i++) {
                at[i] ^= at[i] << 13;
                at[i] ^= at[i] >> 17;
                at[i] ^= at[i] << 5;
                uint32_t x = at[i] & 0x7fff, y = at[i] >> 16 & 0x7fff;
                in[i] += x * x + y * y < 0x40000000;
            }
        }
        for (size_t i = 0; i < count; i++) {
            hits += in[i];
        }
    }
    *(uint32_t *)s->out[0] = hits;
}

/* Rows are sums by vectors; of the columns each thread has a stretch, row after row. */
static void run_atax(void *state) {
    set_job *s = state;
    size_t rows = s->size[0], columns = s->size[1];
    const float *a = s->in[0], *restrict x = s->in[1];
    float *y = s->out[0], *ax = s->scratch;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t r = 0; r < rows; r++) {
            const float *restrict row = a + r * columns;
            float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
            for (size_t c = 0; c < columns; c++) {
                sum += row[c] * x[c];
            }
            ax[r] = sum;
        }
        size_t from = peer_cut(columns, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(columns, PEER_THREAD() + 1, PEER_THREADS());
        float *restrict mine = y;
        memset(mine + from, 0, (to - from) * sizeof *mine);
        for (size_t r = 0; r < rows; r++) {
            const float *restrict row = a + r * columns;
#pragma omp simd
            for (size_t c = from; c < to; c++) {
                mine[c] += row[c] * ax[r];
            }
        }
    }
}

static void run_equalize(void *state) {
    set_job *s = state;
    size_t n = s->in_bytes[0];
    const uint8_t *image = s->in[0];
    uint8_t *even = s->out[0], level[256];
    uint32_t count[256] = {0};
#pragma omp parallel
    {
        uint32_t mine[4][256] = {{0}};
#pragma omp for schedule(static)
        for (size_t i = 0; i < n / 4; i++) {
            mine[0][image[4 * i]]++;
            mine[1][image[4 * i + 1]]++;
            mine[2][image[4 * i + 2]]++;
            mine[3][image[4 * i + 3]]++;
        }
#pragma omp critical
        for (size_t k = 0; k < 256; k++) {
            count[k] += mine[0][k] + mine[1][k] + mine[2][k] + mine[3][k];
        }
#pragma omp barrier
#pragma omp single
        {
            uint64_t sum = 0;
            for (size_t i = n / 4 * 4; i < n; i++) {
                count[image[i]]++;
            }
            for (size_t k = 0; k < 256; k++) {
                sum += count[k];
                level[k] = (uint8_t)(sum * 255 / n);
            }
        }
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            even[i] = level[image[i]];
        }
    }
}

/* Stretches of systems that stay in the first-level cache from the way there to the way back. */
static void tridiagonal_stretch(const float *restrict right, float *restrict ratio,
                                float *restrict x, size_t systems, size_t size, size_t count) {
    enum { STRETCH = 64 };
    float c[STRETCH] = {0}, d[STRETCH] = {0}, last[STRETCH] = {0};
    for (size_t k = 0; k < size; k++) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            c[i] = 1.0f / (4.0f - c[i]);
            d[i] = (right[k * systems + i] + d[i]) * c[i];
            ratio[k * systems + i] = c[i];
            x[k * systems + i] = d[i];
        }
    }
    for (size_t k = size; k-- > 0;) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            last[i] = ratio[k * systems + i] * last[i] + x[k * systems + i];
            x[k * systems + i] = last[i];
        }
    }
}

static void run_tridiagonal(void *state) {
    set_job *s = state;
    enum { STRETCH = 64 };
    size_t systems = s->size[0];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < systems; first += STRETCH) {
        size_t count = systems - first < STRETCH ? systems - first : STRETCH;
        tridiagonal_stretch((const float *)s->in[0] + first, (float *)s->scratch + first,
                            (float *)s->out[0] + first, systems, s->size[1], count);
    }
}

/* Without branches: the step is always taken, or not, by a conditional move. */
static void run_lookup(void *state) {
    set_job *s = state;
    const uint32_t *table = s->in[0], *key = s->in[1];
    size_t entries = s->in_bytes[0] / sizeof *table, keys = s->in_bytes[1] / sizeof *key;
    uint32_t *place = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < keys; i++) {
        const uint32_t *base = table, wanted = key[i];
        size_t left = entries;
        while (left > 1) {
            size_t half = left / 2;
            base = base[half - 1] < wanted ? base + half : base;
            left -= half;
        }
        place[i] = (uint32_t)(base - table) + (left == 1 && *base < wanted);
    }
}

const peer peer_lowest = {"lowest", set_prepare, NULL, run_lowest, set_collect};
const peer peer_fft = {"fft", set_prepare, NULL, run_fft, set_collect};
const peer peer_softmax = {"softmax", set_prepare, NULL, run_softmax, set_collect};
const peer peer_darts = {"darts", set_prepare, NULL, run_darts, set_collect};
const peer peer_atax = {"atax", set_prepare, NULL, run_atax, set_collect};
const peer peer_equalize = {"equalize", set_prepare, NULL, run_equalize, set_collect};
const peer peer_tridiagonal = {"tridiagonal", set_prepare, NULL, run_tridiagonal, set_collect};
const peer peer_lookup = {"lookup", set_prepare, NULL, run_lookup, set_collect};
