/* Conjugate gradients, f64, the matrix in compressed sparse rows; three fused loops per step. Sums
 * are kept in eight lanes by hand: strict floats are not reordered by the compiler, and a simd
 * reduction in a loop that also stores is compiled wrongly by clang 19. */
#include "workloads.h"

enum { LANES = 8 };

typedef struct solver {
    size_t rows, steps;
    const uint32_t *row, *col;
    const double *val, *b;
    double *x, *r, *p, *q;
    double rest;
} solver;

static void *prepare(const peer_instance *i) {
    solver *s = calloc(1, sizeof *s);
    if (s) {
        size_t bytes = i->in_bytes[3];
        *s = (solver){.rows = bytes / sizeof *s->b, .steps = i->size[2]};
        s->row = peer_copy(i->in[0], i->in_bytes[0]);
        s->col = peer_copy(i->in[1], i->in_bytes[1]);
        s->val = peer_copy(i->in[2], i->in_bytes[2]);
        s->b = peer_copy(i->in[3], bytes);
        s->x = peer_room(bytes);
        s->r = peer_room(bytes);
        s->p = peer_room(bytes);
        s->q = peer_room(bytes);
    }
    return s;
}

static inline double total(const double lane[LANES]) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* q = A p; p * q */
static double multiply(const solver *s, size_t from, size_t to) {
    const uint32_t *restrict row = s->row, *restrict col = s->col;
    const double *restrict val = s->val, *restrict p = s->p;
    double *restrict q = s->q, dot = 0.0;
    for (size_t i = from; i < to; i++) {
        double sum = 0.0;
        for (uint32_t e = row[i]; e < row[i + 1]; e++) {
            sum += val[e] * p[col[e]];
        }
        q[i] = sum;
        dot += p[i] * sum;
    }
    return dot;
}

/* x += alpha p; r -= alpha q; r * r */
static double advance(const solver *s, double alpha, size_t from, size_t to) {
    const double *restrict p = s->p, *restrict q = s->q;
    double *restrict x = s->x, *restrict r = s->r, lane[LANES] = {0};
    size_t i = from;
    for (; i + LANES <= to; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            x[i + k] += alpha * p[i + k];
            double left = r[i + k] - alpha * q[i + k];
            r[i + k] = left;
            lane[k] += left * left;
        }
    }
    for (; i < to; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        lane[0] += r[i] * r[i];
    }
    return total(lane);
}

static void run(void *state) {
    solver *s = state;
    double dot = 0.0, next = 0.0, now = 0.0;
#pragma omp parallel
    {
        size_t from = peer_cut(s->rows, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(s->rows, PEER_THREAD() + 1, PEER_THREADS());
        double mine = 0.0;
        for (size_t i = from; i < to; i++) {
            s->x[i] = 0.0;
            s->r[i] = s->p[i] = s->b[i];
            mine += s->b[i] * s->b[i];
        }
#pragma omp atomic
        now += mine;
#pragma omp barrier
        for (size_t k = 0; k < s->steps; k++) {
            mine = multiply(s, from, to);
#pragma omp atomic
            dot += mine;
#pragma omp barrier
            mine = advance(s, now / dot, from, to);
#pragma omp atomic
            next += mine;
#pragma omp barrier
            double beta = next / now, *restrict p = s->p, *restrict r = s->r;
#pragma omp simd
            for (size_t i = from; i < to; i++) {
                p[i] = r[i] + beta * p[i];
            }
#pragma omp barrier
#pragma omp single
            {
                now = next;
                next = dot = 0.0;
            }
        }
    }
    s->rest = now;
}

static void collect(void *state, const peer_instance *i) {
    solver *s = state;
    memcpy(i->out[0], s->x, i->out_bytes[0]);
    memcpy(i->out[1], &s->rest, i->out_bytes[1]);
}

const peer peer_cg = {"cg", prepare, NULL, run, collect};
