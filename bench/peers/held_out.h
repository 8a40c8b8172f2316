/* The second set of workloads; each has its inputs, outputs and one more buffer like the first
 * output. */
#ifndef VYRE_BENCH_PEERS_HELD_OUT_H
#define VYRE_BENCH_PEERS_HELD_OUT_H

#include <stdbool.h>

#include "help.h"

typedef struct held_job {
    uint64_t size[PEER_SIZES];
    const void *in[PEER_INPUTS];
    size_t in_bytes[PEER_INPUTS];
    void *out[PEER_OUTPUTS];
    void *scratch;
} held_job;

void *held_prepare(const peer_instance *p);
void held_collect(void *state, const peer_instance *p);

#define PEER_HELD_OUT(X)                                                                           \
    X(transpose)                                                                                   \
    X(heat)                                                                                        \
    X(life)                                                                                        \
    X(prefix_max)                                                                                  \
    X(mandelbrot)                                                                                  \
    X(spmv_ell)                                                                                    \
    X(black_scholes)                                                                               \
    X(bitonic)                                                                                     \
    X(search)                                                                                      \
    X(stencil3d)                                                                                   \
    X(eliminate)                                                                                   \
    X(walks)                                                                                       \
    X(kmeans)                                                                                      \
    X(dot_f64)                                                                                     \
    X(matvec)                                                                                      \
    X(segments)                                                                                    \
    X(warps)

#define HELD_DECLARE(name) extern const peer peer_##name;
PEER_HELD_OUT(HELD_DECLARE)
#undef HELD_DECLARE

#endif
