/* Gravity of all on all: a vector of bodies at a time, the others broadcast or, as here, a body at
 * a time and the others in vectors: no other work than the arithmetic. */
#include <math.h>

#include "workloads.h"

typedef struct nbody {
    size_t count, steps;
    const float *m, *start;
    float *at, *speed, *pull;
} nbody;

static void *prepare(const peer_instance *p) {
    nbody *s = calloc(1, sizeof *s);
    if (s) {
        *s = (nbody){.count = p->size[0], .steps = p->size[1]};
        s->m = peer_copy(p->in[0], p->in_bytes[0]);
        s->start = peer_copy(p->in[1], p->in_bytes[1]);
        s->at = peer_room(p->in_bytes[1]);
        s->speed = peer_room(p->in_bytes[1]);
        s->pull = peer_room(p->in_bytes[1]);
    }
    return s;
}

static void pull_on(const nbody *s, size_t i) {
    size_t n = s->count;
    const float *restrict x = s->at, *restrict y = x + n, *restrict z = y + n, *restrict m = s->m;
    float xi = x[i], yi = y[i], zi = z[i], ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
    for (size_t j = 0; j < n; j++) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float d = dx * dx + (dy * dy + (dz * dz + 0.01f));
        float pull = m[j] / (d * sqrtf(d));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    s->pull[i] = ax;
    s->pull[n + i] = ay;
    s->pull[2 * n + i] = az;
}

static void run(void *state) {
    nbody *s = state;
    size_t n = s->count;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t i = 0; i < 3 * n; i++) {
            s->at[i] = s->start[i];
            s->speed[i] = 0.0f;
        }
        for (size_t k = 0; k < s->steps; k++) {
#pragma omp for schedule(static)
            for (size_t i = 0; i < n; i++) {
                pull_on(s, i);
            }
#pragma omp for schedule(static)
            for (size_t i = 0; i < 3 * n; i++) {
                s->speed[i] += 0.001f * s->pull[i];
                s->at[i] += 0.001f * s->speed[i];
            }
        }
    }
}

static void collect(void *state, const peer_instance *p) {
    nbody *s = state;
    memcpy(p->out[0], s->at, p->out_bytes[0]);
    memcpy(p->out[1], s->speed, p->out_bytes[1]);
}

const peer peer_nbody = {"nbody", prepare, NULL, run, collect};
