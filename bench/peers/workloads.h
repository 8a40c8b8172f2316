/* The named workloads; sets.h has the others. */
#ifndef VYRE_BENCH_PEERS_WORKLOADS_H
#define VYRE_BENCH_PEERS_WORKLOADS_H

#include <stdbool.h>

#include "help.h"

#define PEER_WORKLOADS(X)                                                                          \
    X(jacobi)                                                                                      \
    X(bfs)                                                                                         \
    X(pagerank)                                                                                    \
    X(scan)                                                                                        \
    X(sort)                                                                                        \
    X(histogram)                                                                                   \
    X(reduce_f32)                                                                                  \
    X(reduce_u32)                                                                                  \
    X(cg)                                                                                          \
    X(nbody)                                                                                       \
    X(matmul)                                                                                      \
    X(closure)                                                                                     \
    X(barrier)                                                                                     \
    X(spin)

#define PEER_DECLARE(name) extern const peer peer_##name;
PEER_WORKLOADS(PEER_DECLARE)
#undef PEER_DECLARE

#endif
