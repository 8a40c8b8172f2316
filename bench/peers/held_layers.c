/* What the held-out set computes of tables of numbers: correlations, a layer of a network, ways of
 * a system of equations. */
#include <math.h>

#include "sets.h"

/* Correlations: columns are summed row by row, a stretch of them for each thread; the product of
 * the table with itself is in registers, 8 x 32 numbers at a time, over rows that stay in the
 * cache. There are whole tiles. */

enum { TILE_ROWS = 8, TILE_COLUMNS = 32, DEPTH = 128 };

static void column_figures(const float *data, size_t n, size_t m, size_t first, size_t end,
                           float *mean, float *scale) {
    for (size_t j = first; j < end; j++) {
        mean[j] = scale[j] = 0.0f;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = first; j < end; j++) {
            mean[j] += data[i * m + j];
        }
    }
    for (size_t j = first; j < end; j++) {
        mean[j] /= (float)n;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = first; j < end; j++) {
            float off = data[i * m + j] - mean[j];
            scale[j] += off * off;
        }
    }
    for (size_t j = first; j < end; j++) {
        float deviation = sqrtf(scale[j] / (float)n);
        scale[j] = 1.0f / (sqrtf((float)n) * (deviation > 0.1f ? deviation : 1.0f));
    }
}

/* corr of rows [row, row + 8) and columns [column, column + 32), over the points [first, end). */
static void add_tile(const float *even, size_t m, size_t first, size_t end, size_t row,
                     size_t column, float *corr) {
    float sum[TILE_ROWS][TILE_COLUMNS];
    for (size_t y = 0; y < TILE_ROWS; y++) {
        memcpy(sum[y], corr + (row + y) * m + column, sizeof sum[y]);
    }
    for (size_t i = first; i < end; i++) {
        const float *a = even + i * m + row, *b = even + i * m + column;
#pragma GCC unroll 8
        for (size_t y = 0; y < TILE_ROWS; y++) {
#pragma omp simd
            for (size_t x = 0; x < TILE_COLUMNS; x++) {
                sum[y][x] += a[y] * b[x];
            }
        }
    }
    for (size_t y = 0; y < TILE_ROWS; y++) {
        memcpy(corr + (row + y) * m + column, sum[y], sizeof sum[y]);
    }
}

static void run_correlation(void *state) {
    set_job *s = state;
    size_t m = s->size[0], n = s->size[1];
    const float *data = s->in[0];
    float *corr = s->out[0], *even = s->scratch, *mean = even + n * m, *scale = mean + m;
#pragma omp parallel
    {
        column_figures(data, n, m, peer_cut(m, PEER_THREAD(), PEER_THREADS()),
                       peer_cut(m, PEER_THREAD() + 1, PEER_THREADS()), mean, scale);
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < m; j++) {
                even[i * m + j] = (data[i * m + j] - mean[j]) * scale[j];
            }
        }
        /* What is left of the diagonal within a tile is computed twice. */
#pragma omp for schedule(dynamic)
        for (size_t row = 0; row < m; row += TILE_ROWS) {
            memset(corr + row * m, 0, TILE_ROWS * m * sizeof *corr);
            for (size_t first = 0; first < n; first += DEPTH) {
                size_t end = first + DEPTH < n ? first + DEPTH : n;
                for (size_t column = row / TILE_COLUMNS * TILE_COLUMNS; column < m;
                     column += TILE_COLUMNS) {
                    add_tile(even, m, first, end, row, column, corr);
                }
            }
        }
#pragma omp for schedule(dynamic, 16)
        for (size_t y = 0; y < m; y++) {
            for (size_t x = 0; x < y; x++) {
                corr[y * m + x] = corr[x * m + y];
            }
            corr[y * m + y] = 1.0f;
        }
    }
}

/* With room for what comes of the table and for two lines. */
static void *prepare_correlation(const peer_instance *p) {
    return set_prepare_room(p, (p->size[1] + 2) * p->size[0] * sizeof(float));
}

/* A layer of 16 units: the weights of an input are a vector. Sums of stretches are added up, since
 * one long sum loses more. */

enum { UNITS = 16, INPUTS = 64 };

static void add_inputs(const float *x, const float *weight, size_t count, float sum[UNITS]) {
    float own[UNITS] = {0};
    for (size_t i = 0; i < count; i++) {
#pragma omp simd
        for (size_t k = 0; k < UNITS; k++) {
            own[k] += weight[i * UNITS + k] * x[i];
        }
    }
    for (size_t k = 0; k < UNITS; k++) {
        sum[k] += own[k];
    }
}

static void run_backprop(void *state) {
    set_job *s = state;
    size_t n = s->in_bytes[0] / sizeof(float);
    const float *x = s->in[0], *weight = s->in[1], *before = s->in[2], *target = s->in[3];
    float *hidden = s->out[0], *changed = s->out[1], sum[UNITS] = {0}, delta[UNITS];
#pragma omp parallel for schedule(static) reduction(+ : sum[:UNITS])
    for (size_t i = 0; i < n; i += INPUTS) {
        add_inputs(x + i, weight + i * UNITS, n - i < INPUTS ? n - i : INPUTS, sum);
    }
    for (size_t k = 0; k < UNITS; k++) {
        float h = 1.0f / (1.0f + expf(-sum[k]));
        hidden[k] = h;
        delta[k] = 0.3f * (h * (1.0f - h) * (target[k] - h));
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
#pragma omp simd
        for (size_t k = 0; k < UNITS; k++) {
            changed[i * UNITS + k] =
                weight[i * UNITS + k] + delta[k] * x[i] + 0.3f * before[i * UNITS + k];
        }
    }
}

/* The Lorenz system: stretches of starts as vectors. */

enum { STARTS = 16 };

typedef struct place {
    double x, y, z;
} place;

static inline place slope(place p) {
    return (place){10.0 * (p.y - p.x), p.x * (28.0 - p.z) - p.y,
                   p.x * p.y - 2.6666666666666665 * p.z};
}

static inline place along(place p, double t, place by) {
    return (place){p.x + t * by.x, p.y + t * by.y, p.z + t * by.z};
}

static inline place lorenz_step(place p) {
    const double t = 0.005;
    place a = slope(p), b = slope(along(p, 0.5 * t, a)), c = slope(along(p, 0.5 * t, b));
    place d = slope(along(p, t, c));
    place sum = {a.x + 2.0 * (b.x + c.x) + d.x, a.y + 2.0 * (b.y + c.y) + d.y,
                 a.z + 2.0 * (b.z + c.z) + d.z};
    return along(p, t / 6.0, sum);
}

static void run_lorenz(void *state) {
    set_job *s = state;
    size_t starts = s->size[0], steps = s->size[1];
    const double *from = s->in[0];
    double *to = s->out[0];
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < starts; first += STARTS) {
        size_t count = starts - first < STARTS ? starts - first : STARTS;
        double x[STARTS] = {0}, y[STARTS] = {0}, z[STARTS] = {0};
        memcpy(x, from + first, count * sizeof *x);
        memcpy(y, from + starts + first, count * sizeof *y);
        memcpy(z, from + 2 * starts + first, count * sizeof *z);
        for (size_t k = 0; k < steps; k++) {
#pragma omp simd
            for (size_t i = 0; i < STARTS; i++) {
                place p = lorenz_step((place){x[i], y[i], z[i]});
                x[i] = p.x;
                y[i] = p.y;
                z[i] = p.z;
            }
        }
        memcpy(to + first, x, count * sizeof *x);
        memcpy(to + starts + first, y, count * sizeof *y);
        memcpy(to + 2 * starts + first, z, count * sizeof *z);
    }
}

const peer peer_correlation = {"correlation", prepare_correlation, NULL, run_correlation,
                               set_collect};
const peer peer_backprop = {"backprop", set_prepare, NULL, run_backprop, set_collect};
const peer peer_lorenz = {"lorenz", set_prepare, NULL, run_lorenz, set_collect};
