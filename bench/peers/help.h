/* What peers share: threads and memory, with OpenMP or without. */
#ifndef VYRE_BENCH_PEERS_HELP_H
#define VYRE_BENCH_PEERS_HELP_H

#include <stdlib.h>
#include <string.h>

#include "peer.h"

#ifdef _OPENMP
#    include <omp.h>
#    define PEER_THREADS() (omp_get_num_threads())
#    define PEER_THREAD()  (omp_get_thread_num())
#    define PEER_MOST()    (omp_get_max_threads())
#else
#    define PEER_THREADS() 1
#    define PEER_THREAD()  0
#    define PEER_MOST()    1
#endif

/* Bytes of the widest vector. */
#if defined(__AVX512F__)
#    define PEER_VECTOR 64
#elif defined(__AVX__)
#    define PEER_VECTOR 32
#else
#    define PEER_VECTOR 16
#endif

/* Room of its own, touched by the threads that will probably use it. No two begin at the same place
 * of a page: loads and stores that differ only in higher bits get in each other's way. */
static inline void *peer_room(size_t bytes) {
    static size_t shift;
    size_t size = (bytes + 4095) / 4096 * 4096 + 8192;
    char *room = aligned_alloc(4096, size);
    if (!room) {
        abort();
    }
#pragma omp parallel for schedule(static)
    for (size_t page = 0; page < size / 4096; page++) {
        memset(room + page * 4096, 0, 4096);
    }
    shift = (shift + (size_t)5 * PEER_LINE) % 4096;
    return room + shift;
}

static inline void *peer_copy(const void *from, size_t bytes) {
    char *room = peer_room(bytes);
    memcpy(room, from, bytes);
    return room;
}

/* The part of 0 .. n that belongs to a thread: [peer_cut(n, t, threads), peer_cut(n, t + 1, ...)).
 */
static inline size_t peer_cut(size_t n, int thread, int threads) {
    return n * (size_t)thread / (threads > 0 ? (size_t)threads : 1);
}

#endif
