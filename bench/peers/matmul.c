/* C = A B, f32, as the good libraries do it: panels of B and blocks of A are packed so that the
 * inner kernel reads both in order, and the kernel keeps a block of C in registers. The vector is
 * as wide as the machine's. Sizes are multiples of 16. */
#include "workloads.h"

#ifdef __AVX512F__
enum { WIDTH = 16, ROWS = 12 };
#else
enum { WIDTH = 8, ROWS = 6 };
#endif
enum { COLUMNS = 2 * WIDTH, DEPTH = 256, HEIGHT = 8 * ROWS };
typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));

typedef struct matmul {
    size_t n, wide; /* wide: n rounded up to whole kernels */
    const float *a, *b;
    float *c, *panel; /* panel: DEPTH rows of B, COLUMNS at a time */
    float *block;     /* of each thread: HEIGHT rows of A, ROWS at a time */
} matmul;

static void *prepare(const peer_instance *p) {
    matmul *s = calloc(1, sizeof *s);
    if (s) {
        s->n = p->size[0];
        s->wide = (s->n + COLUMNS - 1) / COLUMNS * COLUMNS;
        s->a = peer_copy(p->in[0], p->in_bytes[0]);
        s->b = peer_copy(p->in[1], p->in_bytes[1]);
        s->c = peer_room(p->out_bytes[0]);
        s->panel = peer_room(s->wide * DEPTH * sizeof(float));
        s->block = peer_room((size_t)PEER_MOST() * HEIGHT * DEPTH * sizeof(float));
    }
    return s;
}

/* Adds to ROWS x COLUMNS of C the product of `depth` packed rows of B and columns of A. */
static inline void kernel(const float *restrict a, const float *restrict b, size_t depth,
                          float *restrict c, size_t stride) {
    vector sum[ROWS][2];
    memset(sum, 0, sizeof sum);
    for (size_t k = 0; k < depth; k++) {
        vector left, right;
        memcpy(&left, b + k * COLUMNS, sizeof left);
        memcpy(&right, b + k * COLUMNS + WIDTH, sizeof right);
#pragma GCC unroll 12
        for (size_t r = 0; r < ROWS; r++) {
            float scale = a[k * ROWS + r];
            sum[r][0] += scale * left;
            sum[r][1] += scale * right;
        }
    }
#pragma GCC unroll 12
    for (size_t r = 0; r < ROWS; r++) {
        vector old[2];
        memcpy(old, c + r * stride, sizeof old);
        old[0] += sum[r][0];
        old[1] += sum[r][1];
        memcpy(c + r * stride, old, sizeof old);
    }
}

/* Where the block does not fit, it is computed beside C. */
static void add_block(const matmul *s, const float *a, const float *b, size_t depth, size_t row,
                      size_t column) {
    float *c = s->c + row * s->n + column;
    if (row + ROWS <= s->n && column + COLUMNS <= s->n) {
        kernel(a, b, depth, c, s->n);
        return;
    }
    float beside[ROWS * COLUMNS] = {0};
    kernel(a, b, depth, beside, COLUMNS);
    for (size_t y = 0; y < ROWS && row + y < s->n; y++) {
        for (size_t x = 0; x < COLUMNS && column + x < s->n; x++) {
            c[y * s->n + x] += beside[y * COLUMNS + x];
        }
    }
}

/* Packing: what lies outside of the matrices is zero. */

static void pack_b(const matmul *s, size_t depth_from, size_t depth, size_t strip) {
    size_t column = strip * COLUMNS, width = s->n - column < COLUMNS ? s->n - column : COLUMNS;
    for (size_t k = 0; k < depth; k++) {
        float *to = s->panel + (strip * DEPTH + k) * COLUMNS;
        const float *from = s->b + (depth_from + k) * s->n + column;
        if (width == COLUMNS) {
            memcpy(to, from, COLUMNS * sizeof *to);
        } else {
            memcpy(to, from, width * sizeof *to); /* the rest is zero from the start */
        }
    }
}

static void pack_rows(const float *restrict from, size_t stride, size_t rows, size_t depth,
                      float *restrict to) {
    for (size_t k = 0; k < depth; k++) {
        for (size_t r = 0; r < rows; r++) {
            to[k * ROWS + r] = from[r * stride + k];
        }
    }
}

static void pack_a(const matmul *s, float *to, size_t row_from, size_t depth_from, size_t depth) {
    for (size_t first = 0; first < HEIGHT && row_from + first < s->n; first += ROWS) {
        const float *from = s->a + (row_from + first) * s->n + depth_from;
        size_t rows = s->n - row_from - first;
        if (rows >= ROWS) {
            pack_rows(from, s->n, ROWS, depth, to + first * DEPTH);
        } else {
            memset(to + first * DEPTH, 0, sizeof *to * ROWS * DEPTH);
            pack_rows(from, s->n, rows, depth, to + first * DEPTH);
        }
    }
}

static void multiply_block(const matmul *s, float *packed, size_t row_from, size_t depth_from,
                           size_t depth) {
    pack_a(s, packed, row_from, depth_from, depth);
    for (size_t strip = 0; strip < s->wide / COLUMNS; strip++) {
        for (size_t first = 0; first < HEIGHT && row_from + first < s->n; first += ROWS) {
            add_block(s, packed + first * DEPTH, s->panel + strip * DEPTH * COLUMNS, depth,
                      row_from + first, strip * COLUMNS);
        }
    }
}

static void run(void *state) {
    matmul *s = state;
#pragma omp parallel
    {
        float *packed = s->block + (size_t)PEER_THREAD() * HEIGHT * DEPTH;
#pragma omp for schedule(static)
        for (size_t y = 0; y < s->n; y++) {
            memset(s->c + y * s->n, 0, s->n * sizeof *s->c);
        }
        for (size_t from = 0; from < s->n; from += DEPTH) {
            size_t depth = s->n - from < DEPTH ? s->n - from : DEPTH;
#pragma omp for schedule(static)
            for (size_t strip = 0; strip < s->wide / COLUMNS; strip++) {
                pack_b(s, from, depth, strip);
            }
#pragma omp for schedule(dynamic, 1)
            for (size_t row = 0; row < s->n; row += HEIGHT) {
                multiply_block(s, packed, row, from, depth);
            }
        }
    }
}

static void collect(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((matmul *)state)->c, p->out_bytes[0]);
}

const peer peer_matmul = {"matmul", prepare, NULL, run, collect};
