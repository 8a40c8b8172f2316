/* The grid barrier: the same small exchange between two halves as the program has, with the barrier
 * of OpenMP. spin.c has the hand-written one. */
#include "workloads.h"

typedef struct barriers {
    size_t rounds;
    uint32_t turn[2][128];
} barriers;

static void *prepare(const peer_instance *p) {
    barriers *s = calloc(1, sizeof *s);
    if (s) {
        s->rounds = p->size[0];
    }
    return s;
}

static void run(void *state) {
    barriers *s = state;
    memset(s->turn, 0, sizeof s->turn);
#pragma omp parallel
    {
        size_t from = peer_cut(128, PEER_THREAD(), PEER_THREADS());
        size_t to = peer_cut(128, PEER_THREAD() + 1, PEER_THREADS());
        for (size_t k = 0; k < s->rounds; k++) {
            const uint32_t *here = s->turn[k & 1];
            uint32_t *there = s->turn[(k + 1) & 1];
            for (size_t i = from; i < to; i++) {
                there[i] = here[(i + 64) % 128] + 1;
            }
#pragma omp barrier
        }
    }
}

static void collect(void *state, const peer_instance *p) {
    barriers *s = state;
    memcpy(p->out[0], s->turn[s->rounds & 1], p->out_bytes[0]);
}

const peer peer_barrier = {"barrier", prepare, NULL, run, collect};
