/* What a barrier of all workers costs: ours beside barriers that one would write or take instead.
 *
 *   bench_barrier [--json FILE] [--count N]
 *
 * Rows: two threads; eight threads, which are more than the cores of small machines; two threads
 * beside two busy neighbours. A round is a number of barriers in a row; rounds of all kinds take
 * turns, so that a change of the load hits all of them, and the median over the rounds is told.
 * Last,
 * --count barriers (100,000) must come to their end on each team. A barrier that only spins gets
 * few barriers where threads share cores: each costs it a time slice. */
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kit/cores.h"
#include "kit/team.h"

enum { MOST_THREADS = 64, ROUNDS = 15, KINDS = 5 };
#define MOST_TIME 1e6 /* microseconds for the rounds of one kind */

/* Written by hand, as fast as can be with a core for each thread: a number in a line of its own for
 * each thread, nobody sleeps. */
static struct { alignas(64) _Atomic uint32_t at; } epochs[MOST_THREADS];

static void spin_epochs(uint32_t me, uint32_t count) {
    uint32_t next = atomic_load_explicit(&epochs[me].at, memory_order_relaxed) + 1;
    atomic_store_explicit(&epochs[me].at, next, memory_order_release);
    for (uint32_t i = 0; i < count; i++) {
        while ((int32_t)(atomic_load_explicit(&epochs[i].at, memory_order_acquire) - next) < 0) {
            vyre_pause();
        }
    }
}

/* The one that is found in textbooks: a counter and a phase. */
static struct {
    alignas(64) _Atomic uint32_t come;
    alignas(64) _Atomic uint32_t phase;
} central;

static void spin_central(uint32_t me, uint32_t count) {
    (void)me;
    uint32_t phase = atomic_load_explicit(&central.phase, memory_order_relaxed);
    if (atomic_fetch_add(&central.come, 1) + 1 == count) {
        atomic_store_explicit(&central.come, 0, memory_order_relaxed);
        atomic_store_explicit(&central.phase, phase + 1, memory_order_release);
    } else {
        while (atomic_load_explicit(&central.phase, memory_order_acquire) == phase) {
            vyre_pause();
        }
    }
}

typedef struct round_of {
    int kind;
    uint32_t barriers;
    pthread_barrier_t *posix;
} round_of;

static void wait_often(vyre_worker *me, void *arg) {
    const round_of *r = arg;
    for (uint32_t i = 0; i < r->barriers; i++) {
        switch (r->kind) {
        case 0: vyre_barrier_wait(me->barrier, me->number); break;
        case 1: spin_epochs(me->number, me->count); break;
        case 2: spin_central(me->number, me->count); break;
        default: pthread_barrier_wait(r->posix); break;
        }
    }
}

#ifdef _OPENMP
static void wait_openmp(uint32_t threads, uint32_t barriers) {
#    pragma omp parallel num_threads(threads)
    for (uint32_t i = 0; i < barriers; i++) {
#    pragma omp barrier
    }
}
#endif

static const char *const kind_names[KINDS] = {"vyre", "spin, own lines", "spin, central",
                                              "pthread_barrier", "OpenMP"};
static const char *const kind_keys[KINDS] = {"vyre", "spin_own_lines", "spin_central",
                                             "pthread_barrier", "openmp"};

/* Microseconds per barrier; below 0: it is not there. */
static double measure(vyre_team *team, int kind, uint32_t barriers) {
    uint32_t threads = vyre_team_size(team);
    pthread_barrier_t posix;
    pthread_barrier_init(&posix, NULL, threads);
    round_of r = {.kind = kind, .barriers = barriers, .posix = &posix};
    uint64_t begin = vyre_clock_now();
    bool ran = true;
    if (kind < 4) {
        ran = vyre_team_run(team, 0, wait_often, &r, NULL, NULL) == VYRE_OK;
    } else {
#ifdef _OPENMP
        wait_openmp(threads, barriers);
#else
        ran = false;
#endif
    }
    double time = (double)(vyre_clock_now() - begin) / 1e3 / barriers;
    pthread_barrier_destroy(&posix);
    return ran ? time : -1;
}

/* How many barriers take about 5 ms. */
static uint32_t round_length(vyre_team *team, int kind) {
    measure(team, kind, 1); /* makes threads */
    uint32_t length = 1;
    while (length < 65536 && measure(team, kind, length) * length < 5e3) {
        length *= 2;
    }
    return length;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static _Atomic bool neighbours_end;
static void *be_busy(void *user) {
    (void)user;
    while (!atomic_load_explicit(&neighbours_end, memory_order_relaxed)) {
        vyre_pause();
    }
    return NULL;
}

typedef struct row {
    const char *name, *key;
    uint32_t threads, neighbours;
} row;

static const row rows[] = {
    {"2 threads", "two", 2, 0},
    {"8 threads", "eight", 8, 0},
    {"2 threads, 2 busy neighbours", "neighbours", 2, 2},
};

static void run_row(const row *r, uint32_t finish, FILE *json) {
    vyre_team *team = NULL;
    vyre_team_options options = {.threads = r->threads};
    if (vyre_team_create(&options, NULL, &team, NULL) != VYRE_OK) {
        fprintf(stderr, "error: no team\n");
        exit(1);
    }
    pthread_t busy[8];
    neighbours_end = false;
    for (uint32_t i = 0; i < r->neighbours; i++) {
        pthread_create(&busy[i], NULL, be_busy, NULL);
    }
    double times[KINDS][ROUNDS];
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        atomic_store(&epochs[i].at, 0); /* after rows of fewer threads they differ */
    }
    uint32_t barriers[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        barriers[kind] = round_length(team, kind);
    }
    int rounds_of[KINDS] = {0};
    double spent[KINDS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            if (spent[kind] <= MOST_TIME) {
                double time = measure(team, kind, barriers[kind]);
                times[kind][rounds_of[kind]++] = time;
                spent[kind] += time * barriers[kind];
            }
        }
    }
    uint64_t begin = vyre_clock_now();
    round_of all = {.barriers = finish};
    uint64_t passed = 0;
    vyre_team_run(team, 0, wait_often, &all, &passed, NULL);
    double seconds = (double)(vyre_clock_now() - begin) / 1e9;
    neighbours_end = true;
    for (uint32_t i = 0; i < r->neighbours; i++) {
        pthread_join(busy[i], NULL);
    }
    vyre_team_destroy(team);
    printf("%s\n", r->name);
    fprintf(json, "\"%s\": {", r->key);
    double ours = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        double *t = times[kind];
        int rounds = rounds_of[kind];
        qsort(t, (size_t)rounds, sizeof *t, by_size);
        if (t[0] >= 0) {
            double median = t[rounds / 2];
            ours = kind == 0 ? median : ours;
            printf("  %-16s %10.3f us   quartiles %.3f to %.3f, least %.3f   %.2fx of ours\n",
                   kind_names[kind], median, t[rounds / 4], t[rounds - 1 - rounds / 4], t[0],
                   median / ours);
            fprintf(json, "\"%s\": {\"median\": %.4f, \"least\": %.4f}, ", kind_keys[kind], median,
                    t[0]);
        }
    }
    printf("  %llu of %u barriers in %.2f s\n", (unsigned long long)passed, finish, seconds);
    fprintf(json, "\"passed\": %llu, \"seconds\": %.3f}", (unsigned long long)passed, seconds);
    fflush(stdout);
    if (passed != finish) {
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *path = "/dev/null";
    uint32_t finish = 100000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0) {
            path = argv[i + 1];
        } else if (strcmp(argv[i], "--count") == 0) {
            finish = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        }
    }
    FILE *json = fopen(path, "w");
    if (!json) {
        perror(path);
        return 1;
    }
    vyre_cores cores = vyre_cores_now(NULL);
    printf("barriers: median of %d rounds, %u cores\n", ROUNDS, cores.available);
    fprintf(json, "{\"cores\": %u, ", cores.available);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_row(&rows[i], finish, json);
        fprintf(json, "%s", i + 1 < sizeof rows / sizeof *rows ? ", " : "}\n");
    }
    return fclose(json) == 0 ? 0 : 1;
}
