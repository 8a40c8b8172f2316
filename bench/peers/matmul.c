/* C = A B, f32, as the good libraries do it: panels of B and blocks of A are packed so that the
 * inner kernel reads both in order, and the kernel keeps a block of C in registers. The vector is
 * as wide as the machine's. Sizes are multiples of 16. */
#include "workloads.h"

#ifdef __AVX512F__
enum { WIDTH = 16, ROWS = 12 };
#else
enum { WIDTH = 8, ROWS = 6 };
#endif
enum { COLUMNS = 2 * WIDTH, DEPTH = 256, HEIGHT = 16 * ROWS };
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

/* A block of ROWS x COLUMNS of C from `depth` packed rows of B and columns of A. */
static void kernel(const float *restrict a, const float *restrict b, size_t depth,
                   float *restrict out) {
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
    memcpy(out, sum, sizeof sum);
}

static void add_block(const matmul *s, const float *block, size_t row, size_t column) {
    for (size_t r = 0; r < ROWS && row + r < s->n; r++) {
        size_t width = s->n - column < COLUMNS ? s->n - column : COLUMNS;
        float *c = s->c + (row + r) * s->n + column;
        for (size_t x = 0; x < width; x++) {
            c[x] += block[r * COLUMNS + x];
        }
    }
}

static void pack_b(const matmul *s, size_t depth_from, size_t depth, size_t strip) {
    for (size_t k = 0; k < depth; k++) {
        for (size_t x = 0; x < COLUMNS; x++) {
            size_t column = strip * COLUMNS + x;
            s->panel[(strip * DEPTH + k) * COLUMNS + x] =
                column < s->n ? s->b[(depth_from + k) * s->n + column] : 0.0f;
        }
    }
}

static void pack_a(const matmul *s, float *to, size_t row_from, size_t depth_from, size_t depth) {
    for (size_t first = 0; first < HEIGHT; first += ROWS) {
        for (size_t r = 0; r < ROWS; r++) {
            size_t row = row_from + first + r;
            for (size_t k = 0; k < depth; k++) {
                to[first * DEPTH + k * ROWS + r] =
                    row < s->n ? s->a[row * s->n + depth_from + k] : 0.0f;
            }
        }
    }
}

static void multiply_block(const matmul *s, float *packed, size_t row_from, size_t depth_from,
                           size_t depth) {
    float out[ROWS * COLUMNS] __attribute__((aligned(64)));
    pack_a(s, packed, row_from, depth_from, depth);
    for (size_t strip = 0; strip < s->wide / COLUMNS; strip++) {
        for (size_t first = 0; first < HEIGHT && row_from + first < s->n; first += ROWS) {
            kernel(packed + first * DEPTH, s->panel + strip * DEPTH * COLUMNS, depth, out);
            add_block(s, out, row_from + first, strip * COLUMNS);
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
