/* Tables and matrices of the held-out set. */
#include "sets.h"

/* Alignment: blocks along diagonals, and in a block row by row. What letters of one sequence have
 * in common with all of the other is a line of bytes. The best way from the left is a running
 * maximum. */

enum { LETTERS = 24, GAP = 10, ALIGN = 256 };

static int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static void needle_row(const int32_t *restrict up, int32_t *restrict row,
                       const int8_t *restrict alike, size_t count) {
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        row[j + 1] = larger(up[j] + alike[j], up[j + 1] - GAP) + GAP * (int32_t)(j + 1);
    }
    int32_t best = row[0];
    for (size_t j = 1; j <= count; j++) {
        best = larger(best, row[j]);
        row[j] = best - GAP * (int32_t)j;
    }
}

static void needle_block(const set_job *s, const int8_t *profile, size_t top, size_t left) {
    size_t n = s->size[0], bottom = top + ALIGN < n ? top + ALIGN : n;
    const uint8_t *a = s->in[0];
    int32_t *score = s->out[0];
    for (size_t i = top; i < bottom; i++) {
        needle_row(score + i * (n + 1) + left, score + (i + 1) * (n + 1) + left,
                   profile + a[i] * n + left, left + ALIGN < n ? ALIGN : n - left);
    }
}

static void run_needle(void *state) {
    set_job *s = state;
    size_t n = s->size[0], blocks = (n + ALIGN - 1) / ALIGN;
    const uint8_t *b = s->in[1];
    const int32_t *alike = s->in[2];
    int32_t *score = s->out[0];
    int8_t *profile = s->scratch;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t letter = 0; letter < LETTERS; letter++) {
            for (size_t j = 0; j < n; j++) {
                profile[letter * n + j] = (int8_t)alike[letter * LETTERS + b[j]];
            }
        }
#pragma omp for schedule(static)
        for (size_t i = 0; i <= n; i++) {
            score[i] = score[i * (n + 1)] = -GAP * (int32_t)i;
        }
        for (size_t d = 0; d + 1 < 2 * blocks; d++) {
            size_t first = d < blocks ? 0 : d - blocks + 1, last = d < blocks ? d : blocks - 1;
#pragma omp for schedule(static)
            for (size_t row = first; row <= last; row++) {
                needle_block(s, profile, row * ALIGN, (d - row) * ALIGN);
            }
        }
    }
}

static void *prepare_needle(const peer_instance *p) {
    return set_prepare_room(p, LETTERS * p->size[0]);
}

/* A = L U by tiles of 64 x 64. */

enum { TILE = 64, ROWS = 4, COLUMNS = 16 };

static size_t tile_end(size_t from, size_t n) {
    return from + TILE < n ? from + TILE : n;
}

static void lud_diagonal(float *a, size_t n, size_t from) {
    size_t to = tile_end(from, n);
    for (size_t i = from; i < to; i++) {
        const float *restrict pivot = a + i * n;
        for (size_t r = i + 1; r < to; r++) {
            float *restrict row = a + r * n, factor = row[i] /= pivot[i];
#pragma omp simd
            for (size_t c = i + 1; c < to; c++) {
                row[c] -= factor * pivot[c];
            }
        }
    }
}

/* The tile to the right of the diagonal at this column. */
static void lud_right(float *a, size_t n, size_t from, size_t column) {
    size_t to = tile_end(from, n), end = tile_end(column, n);
    for (size_t r = from + 1; r < to; r++) {
        float *restrict row = a + r * n;
        for (size_t i = from; i < r; i++) {
            const float *restrict above = a + i * n;
            float factor = row[i];
#pragma omp simd
            for (size_t c = column; c < end; c++) {
                row[c] -= factor * above[c];
            }
        }
    }
}

/* The tile below the diagonal at this row, four rows at once, against a copy of the upper half of
 * the diagonal's tile. Factors are kept apart: a vector that is read again is one that was written.
 */
static void lud_below(float *a, size_t n, size_t from, size_t first) {
    size_t depth = tile_end(from, n) - from, end = tile_end(first, n);
    float upper[TILE][TILE] = {{0}}, inverse[TILE], row[ROWS][TILE] = {{0}}, factor[ROWS][TILE];
    for (size_t i = 0; i < depth; i++) {
        const float *pivot = a + (from + i) * n + from;
        inverse[i] = 1.0f / pivot[i];
        memcpy(upper[i] + i + 1, pivot + i + 1, (depth - i - 1) * sizeof *pivot);
    }
    for (size_t r = first; r < end; r += ROWS) {
        for (size_t j = 0; j < ROWS; j++) {
            memcpy(row[j], a + (r + j) * n + from, depth * sizeof *a);
        }
        for (size_t i = 0; i < depth; i++) {
            for (size_t j = 0; j < ROWS; j++) {
                float f = factor[j][i] = row[j][i] * inverse[i];
#pragma omp simd
                for (size_t c = 0; c < TILE; c++) {
                    row[j][c] -= f * upper[i][c];
                }
            }
        }
        for (size_t j = 0; j < ROWS; j++) {
            memcpy(a + (r + j) * n + from, factor[j], depth * sizeof *a);
        }
    }
}

/* Sums of 4 x 16 elements stay in registers; the 16 columns are copied, since rows that lie a power
 * of two apart would drive each other out of the cache. n is a multiple of 16. */

typedef float lud_vector __attribute__((vector_size(COLUMNS / 2 * sizeof(float))));

static inline void lud_kernel(float *restrict c, const float *restrict left,
                              const lud_vector (*restrict above)[2], size_t n, size_t depth) {
    lud_vector sum[ROWS][2];
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        memcpy(sum[r], c + r * n, sizeof sum[r]);
    }
    for (size_t i = 0; i < depth; i++) {
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS; r++) {
            float factor = left[r * n + i];
            sum[r][0] -= factor * above[i][0];
            sum[r][1] -= factor * above[i][1];
        }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        memcpy(c + r * n, sum[r], sizeof sum[r]);
    }
}

static void lud_inner(float *a, size_t n, size_t from, size_t first, size_t column) {
    size_t depth = tile_end(from, n) - from, end = tile_end(first, n), right = tile_end(column, n);
    lud_vector above[TILE][2];
    for (size_t c = column; c < right; c += COLUMNS) {
        for (size_t i = 0; i < depth; i++) {
            memcpy(above[i], a + (from + i) * n + c, sizeof above[i]);
        }
        for (size_t r = first; r < end; r += ROWS) {
            lud_kernel(a + r * n + c, a + r * n + from, (const lud_vector(*)[2])above, n, depth);
        }
    }
}

static void run_lud(void *state) {
    set_job *s = state;
    size_t n = s->size[0];
    const float *given = s->in[0];
    float *a = s->out[0];
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t r = 0; r < n; r++) {
            memcpy(a + r * n, given + r * n, n * sizeof *a);
        }
        for (size_t from = 0; from < n; from += TILE) {
            size_t next = tile_end(from, n);
#pragma omp single
            lud_diagonal(a, n, from);
#pragma omp for schedule(dynamic) nowait
            for (size_t c = next; c < n; c += TILE) {
                lud_right(a, n, from, c);
            }
#pragma omp for schedule(dynamic)
            for (size_t r = next; r < n; r += TILE) {
                lud_below(a, n, from, r);
            }
#pragma omp for schedule(dynamic) collapse(2)
            for (size_t r = next; r < n; r += TILE) {
                for (size_t c = next; c < n; c += TILE) {
                    lud_inner(a, n, from, r, c);
                }
            }
        }
    }
}

/* Values are below 2^63: signed numbers have a vector comparison. */
static void run_knapsack(void *state) {
    set_job *s = state;
    size_t room = s->size[0], items = s->size[1];
    const uint32_t *weight = s->in[0];
    const int64_t *value = s->in[1];
#pragma omp parallel
    {
        int64_t *from = items % 2 ? s->scratch : s->out[0];
        int64_t *to = items % 2 ? s->out[0] : s->scratch;
#pragma omp for schedule(static)
        for (size_t c = 0; c < room; c++) {
            from[c] = 0;
        }
        size_t begin = peer_cut(room, PEER_THREAD(), PEER_THREADS());
        size_t end = peer_cut(room, PEER_THREAD() + 1, PEER_THREADS());
        for (size_t k = 0; k < items; k++) {
            const int64_t *restrict old = from;
            int64_t *restrict new = to, more = value[k];
            size_t heavy = weight[k], free = heavy < begin ? begin : heavy < end ? heavy : end;
            memcpy(new + begin, old + begin, (free - begin) * sizeof *new);
#pragma omp simd
            for (size_t c = free; c < end; c++) {
                int64_t with = old[c - heavy] + more;
                new[c] = with > old[c] ? with : old[c];
            }
#pragma omp barrier
            int64_t *other = from;
            from = to;
            to = other;
        }
    }
}

static void *prepare_knapsack(const peer_instance *p) {
    return set_prepare_room(p, p->out_bytes[0]);
}

const peer peer_needle = {"needle", prepare_needle, NULL, run_needle, set_collect};
const peer peer_lud = {"lud", set_prepare, NULL, run_lud, set_collect};
const peer peer_knapsack = {"knapsack", prepare_knapsack, NULL, run_knapsack, set_collect};
