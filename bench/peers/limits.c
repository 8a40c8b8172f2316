/* Measures the machine: the best of several tries, since others on it can only slow it down. */
#include "limits.h"

#include <time.h>
#include <unistd.h>

#include "help.h"

/* Of one thread its time on a core: a busy machine takes nothing from that. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(PEER_MOST() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t cache_size(int name, size_t otherwise) {
    long size = sysconf(name);
    return size > 0 ? (size_t)size : otherwise;
}

/* Bytes per second with three arrays of `count` floats, each thread on its own part. */
static double triad(size_t count, size_t rounds) {
    float *a = peer_room(count * sizeof *a), *b = peer_room(count * sizeof *b);
    float *c = peer_room(count * sizeof *c);
    double best = 1e30;
    for (int attempt = 0; attempt < 5; attempt++) {
        double begin = seconds();
#pragma omp parallel
        {
            size_t from = peer_cut(count / 16, PEER_THREAD(), PEER_THREADS()) * 16;
            size_t to = peer_cut(count / 16, PEER_THREAD() + 1, PEER_THREADS()) * 16;
            for (size_t round = 0; round < rounds; round++) {
#pragma omp simd
                for (size_t i = from; i < to; i++) {
                    a[i] = b[i] + 3.0f * c[i];
                }
                __asm__ volatile("" ::: "memory");
            }
        }
        double took = seconds() - begin;
        best = took < best ? took : best;
    }
    return 3.0 * (double)(count * sizeof(float)) * (double)rounds / best;
}

/* Ten chains hide the latency of two units and leave registers for the two factors. */
#define FMA_PEAK(name, type)                                                                       \
    typedef type name##_vector __attribute__((vector_size(PEER_VECTOR)));                          \
    static double name(int effort) {                                                               \
        const int rounds = 400000 * effort;                                                        \
        double best = 1e30, threads = 1;                                                           \
        for (int attempt = 0; attempt < 3; attempt++) {                                            \
            double begin = seconds();                                                              \
            _Pragma("omp parallel") {                                                              \
                name##_vector x = {0}, y = {0}, sum[10] = {{0}};                                   \
                __asm__ volatile("" : "+x"(x), "+x"(y));                                           \
                for (int k = 0; k < rounds; k++) {                                                 \
                    _Pragma("GCC unroll 10") for (int i = 0; i < 10; i++) {                        \
                        sum[i] = sum[i] * x + y;                                                   \
                    }                                                                              \
                }                                                                                  \
                __asm__ volatile("" ::"m"(sum));                                                   \
                _Pragma("omp single") threads = PEER_THREADS();                                    \
            }                                                                                      \
            double took = seconds() - begin;                                                       \
            best = took < best ? took : best;                                                      \
        }                                                                                          \
        return 20.0 * PEER_VECTOR / (double)sizeof(type) * (double)rounds * threads / best;        \
    }

FMA_PEAK(fma_f32, float)
FMA_PEAK(fma_f64, double)
#undef FMA_PEAK

static double clock_rate(int effort) {
    const int rounds = 1000000 * effort;
    double best = 1e30;
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t x = 0, y = 1;
        __asm__ volatile("" : "+r"(y)); /* some processors add constants without an execution */
        double begin = seconds();
        for (int k = 0; k < rounds; k++) {
#pragma GCC unroll 10
            for (int i = 0; i < 10; i++) {
                x += y;
                __asm__ volatile("" : "+r"(x));
            }
        }
        double took = seconds() - begin;
        best = took < best ? took : best;
    }
    return 10.0 * (double)rounds / best;
}

void peer_limits_measure(peer_limits *out, int effort) {
    size_t much = (size_t)effort;
    size_t l2 = cache_size(_SC_LEVEL2_CACHE_SIZE, 1 << 19);
    size_t l3 = cache_size(_SC_LEVEL3_CACHE_SIZE, 1 << 25), threads = (size_t)PEER_MOST();
    size_t most = l3 > (size_t)1 << 26 ? (size_t)1 << 26 : l3; /* the cache of a whole socket */
    *out = (peer_limits){.threads = (double)threads,
                         .dram = triad(((size_t)1 << 24) / 10 * much, 2),
                         .l3 = triad(most / 3 / 12 + threads * l2 / 6, 5 * much),
                         .l2 = triad(threads * l2 / 2 / 12, 200 * much),
                         .fma32 = fma_f32(effort),
                         .fma64 = fma_f64(effort),
                         .clock = clock_rate(effort),
                         .barrier = peer_spin_barrier((unsigned)threads, 10000 * (unsigned)effort)};
}
