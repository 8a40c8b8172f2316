/* The grid barrier by hand: threads that do nothing else spin, each with an epoch in a line of its
 * own, and look at those of all others. With a core for each of them nothing is faster; with fewer
 * cores than threads it is a disaster, which is why nobody ships it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "limits.h"
#include "workloads.h"

enum { MOST_THREADS = 64 };

typedef struct spinner {
    _Alignas(PEER_LINE) atomic_uint epoch;
} spinner;

typedef struct spin {
    unsigned threads;
    size_t rounds;
    uint32_t turn[2][128];
    spinner all[MOST_THREADS];
} spin;

typedef struct spin_thread {
    spin *shared;
    unsigned index;
} spin_thread;

static void wait_for_all(spin *s, unsigned me, unsigned epoch) {
    atomic_store_explicit(&s->all[me].epoch, epoch, memory_order_release);
    for (unsigned i = 0; i < s->threads; i++) {
        while ((int)(atomic_load_explicit(&s->all[i].epoch, memory_order_acquire) - epoch) < 0) {
            __builtin_ia32_pause();
        }
    }
}

static void *exchange(void *argument) {
    spin_thread *t = argument;
    spin *s = t->shared;
    size_t from = peer_cut(128, (int)t->index, (int)s->threads);
    size_t to = peer_cut(128, (int)t->index + 1, (int)s->threads);
    for (size_t k = 0; k < s->rounds; k++) {
        const uint32_t *here = s->turn[k & 1];
        uint32_t *there = s->turn[(k + 1) & 1];
        for (size_t i = from; i < to; i++) {
            there[i] = here[(i + 64) % 128] + 1;
        }
        wait_for_all(s, t->index, (unsigned)k + 1);
    }
    return NULL;
}

static void *wait_only(void *argument) {
    spin_thread *t = argument;
    for (size_t k = 0; k < t->shared->rounds; k++) {
        wait_for_all(t->shared, t->index, (unsigned)k + 1);
    }
    return NULL;
}

static void on_threads(spin *s, void *(*work)(void *)) {
    pthread_t thread[MOST_THREADS] = {0};
    spin_thread argument[MOST_THREADS] = {{0}};
    for (unsigned i = 0; i < s->threads; i++) {
        atomic_store(&s->all[i].epoch, 0);
        argument[i] = (spin_thread){s, i};
    }
    for (unsigned i = 1; i < s->threads; i++) {
        if (pthread_create(&thread[i], NULL, work, &argument[i]) != 0) {
            abort();
        }
    }
    argument[0] = (spin_thread){s, 0};
    work(&argument[0]);
    for (unsigned i = 1; i < s->threads; i++) {
        pthread_join(thread[i], NULL);
    }
}

double peer_spin_barrier(unsigned threads, unsigned rounds) {
    static spin s;
    double best = 1e30;
    s.threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    s.rounds = rounds;
    for (int attempt = 0; attempt < 5; attempt++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        on_threads(&s, wait_only);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        best = took < best ? took : best;
    }
    return best / rounds;
}

static void *prepare(const peer_instance *p) {
    spin *s = aligned_alloc(PEER_LINE, sizeof *s);
    if (s) {
        cpu_set_t cores;
        memset(s, 0, sizeof *s);
        s->rounds = p->size[0];
        s->threads =
            sched_getaffinity(0, sizeof cores, &cores) == 0 ? (unsigned)CPU_COUNT(&cores) : 2;
        s->threads = s->threads < 1 ? 1 : s->threads < MOST_THREADS ? s->threads : MOST_THREADS;
    }
    return s;
}

static void run(void *state) {
    spin *s = state;
    memset(s->turn, 0, sizeof s->turn);
    on_threads(s, exchange);
}

static void collect(void *state, const peer_instance *p) {
    spin *s = state;
    memcpy(p->out[0], s->turn[s->rounds & 1], p->out_bytes[0]);
}

const peer peer_spin = {"spin", prepare, NULL, run, collect};
