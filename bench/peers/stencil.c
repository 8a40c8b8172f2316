/* Five-point stencil, two buffers in turns: rows are cut statically, so each thread finds its own
 * in its cache, and the inner loop is a plain vector loop. */
#include "workloads.h"

typedef struct jacobi {
    size_t width, height, sweeps;
    const float *start;
    float *plate, *other;
} jacobi;

static void *prepare(const peer_instance *p) {
    jacobi *s = calloc(1, sizeof *s);
    if (s) {
        *s =
            (jacobi){.width = p->size[0], .height = p->size[1], .sweeps = (p->size[2] + 1) / 2 * 2};
        s->start = peer_copy(p->in[0], p->in_bytes[0]);
        s->plate = peer_room(p->in_bytes[0]);
        s->other = peer_room(p->in_bytes[0]);
    }
    return s;
}

static void run(void *state) {
    jacobi *s = state;
    size_t w = s->width, h = s->height;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t y = 0; y < h; y++) {
            memcpy(s->plate + y * w, s->start + y * w, w * sizeof *s->plate);
            memcpy(s->other + y * w, s->start + y * w, w * sizeof *s->other);
        }
        const float *from = s->plate;
        float *to = s->other;
        for (size_t k = 0; k < s->sweeps; k++) {
#pragma omp for schedule(static)
            for (size_t y = 1; y < h - 1; y++) {
                const float *restrict here = from + y * w;
                const float *restrict above = here - w, *restrict below = here + w;
                float *restrict into = to + y * w;
#pragma omp simd
                for (size_t x = 1; x < w - 1; x++) {
                    into[x] = 0.25f * (here[x - 1] + here[x + 1] + above[x] + below[x]);
                }
            }
            float *old = s->plate == to ? s->other : s->plate;
            from = to;
            to = old;
        }
    }
}

static void collect(void *state, const peer_instance *p) {
    jacobi *s = state;
    memcpy(p->out[0], s->plate, p->out_bytes[0]);
}

const peer peer_jacobi = {"jacobi", prepare, NULL, run, collect};
