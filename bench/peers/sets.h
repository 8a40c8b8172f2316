/* The sets of workloads beside the named ones; a job has its inputs, its outputs and one more
 * buffer as large as all outputs and the first input. */
#ifndef VYRE_BENCH_PEERS_SETS_H
#define VYRE_BENCH_PEERS_SETS_H

#include <stdbool.h>

#include "help.h"

typedef struct set_job {
    uint64_t size[PEER_SIZES];
    const void *in[PEER_INPUTS];
    size_t in_bytes[PEER_INPUTS];
    void *out[PEER_OUTPUTS];
    void *scratch;
} set_job;

void *set_prepare(const peer_instance *p);
/* With so many bytes in that buffer instead. */
void *set_prepare_room(const peer_instance *p, size_t scratch);
void set_collect(void *state, const peer_instance *p);

#define PEER_WIDER(X)                                                                              \
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

#define PEER_PUBLISHED(X)                                                                          \
    X(hotspot)                                                                                     \
    X(pathfinder)                                                                                  \
    X(floyd)                                                                                       \
    X(fdtd)                                                                                        \
    X(convolve)                                                                                    \
    X(median)                                                                                      \
    X(gray_scott)                                                                                  \
    X(lowest)                                                                                      \
    X(fft)                                                                                         \
    X(softmax)                                                                                     \
    X(darts)                                                                                       \
    X(atax)                                                                                        \
    X(equalize)                                                                                    \
    X(tridiagonal)                                                                                 \
    X(lookup)                                                                                      \
    X(dct8)                                                                                        \
    X(merge)                                                                                       \
    X(encode)                                                                                      \
    X(deposit)                                                                                     \
    X(knn)                                                                                         \
    X(srad)                                                                                        \
    X(bit_life)                                                                                    \
    X(spmv_rows)                                                                                   \
    X(fir)                                                                                         \
    X(sha256)                                                                                      \
    X(queens)                                                                                      \
    X(neighbours)                                                                                  \
    X(integral)                                                                                    \
    X(needle)

#define PEER_HELD_OUT(X)                                                                           \
    X(bilateral)                                                                                   \
    X(stencil27)                                                                                   \
    X(lbm)                                                                                         \
    X(lud)                                                                                         \
    X(knapsack)                                                                                    \
    X(independent)                                                                                 \
    X(components)                                                                                  \
    X(triangles)                                                                                   \
    X(compact)                                                                                     \
    X(asian)                                                                                       \
    X(inverse)                                                                                     \
    X(lava)                                                                                        \
    X(correlation)                                                                                 \
    X(backprop)                                                                                    \
    X(lorenz)                                                                                      \
    X(mri_q)                                                                                       \
    X(sad)                                                                                         \
    X(crc32)                                                                                       \
    X(wavelet)                                                                                     \
    X(cores)                                                                                       \
    X(join)

#define SET_DECLARE(name) extern const peer peer_##name;
PEER_WIDER(SET_DECLARE)
PEER_PUBLISHED(SET_DECLARE)
PEER_HELD_OUT(SET_DECLARE)
#undef SET_DECLARE

#endif
