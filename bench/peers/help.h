/* What peers share: threads and memory, with OpenMP or without; a function for vector loops. */
#ifndef VYRE_BENCH_PEERS_HELP_H
#define VYRE_BENCH_PEERS_HELP_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Room of its own, touched by the threads that will probably use it, in huge pages where it fills
 * them, as the buffers of vyre. No two begin at the same place of a page: loads and stores that
 * differ only in higher bits get in each other's way. */
static inline void *peer_room(size_t bytes) {
    static size_t shift;
    size_t size = (bytes + 4095) / 4096 * 4096 + 8192;
    char *room = aligned_alloc(4096, size);
    if (!room) {
        abort();
    }
    (void)madvise(room, size, MADV_HUGEPAGE);
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

static inline float peer_float_of(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t peer_bits_of(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp, for loops of vectors: the range reduced, a polynomial, about two units in the last place;
 * for arguments from -87 to 88. */
static inline float peer_exp(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float power = x * 1.44269504f + 12582912.0f - 12582912.0f; /* to the nearest integer */
    float r = x - power * 0.693359375f + power * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return (p * r * r + r + 1.0f) * peer_float_of(((int32_t)power + 127) << 23);
}

/* log, as exp is made: of positive numbers that are not subnormal. */
static inline float peer_log(float x) {
    int32_t bits = peer_bits_of(x), power = (bits - 0x3f3504f3) >> 23;
    float r = peer_float_of(bits - power * (1 << 23)) - 1.0f, square = r * r;
    float p = 7.0376836292e-2f;
    p = p * r - 1.1514610310e-1f;
    p = p * r + 1.1676998740e-1f;
    p = p * r - 1.2420140846e-1f;
    p = p * r + 1.4249322787e-1f;
    p = p * r - 1.6668057665e-1f;
    p = p * r + 2.0000714765e-1f;
    p = p * r - 2.4999993993e-1f;
    p = p * r + 3.3333331174e-1f;
    p = p * r * square - (float)power * 2.12194440e-4f - 0.5f * square;
    return r + p + (float)power * 0.693359375f;
}

/* Sine and cosine of a part of a turn, from that of the quarter around the nearest quarter. */
static inline void peer_sine_cosine(float turn, float *sine, float *cosine) {
    float quarter = turn * 4.0f + 12582912.0f - 12582912.0f;
    int32_t k = (int32_t)quarter;
    float x = (turn - quarter * 0.25f) * 6.28318531f, z = x * x;
    float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
    float c =
        ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z -
        0.5f * z + 1.0f;
    float a = k & 1 ? c : s, b = k & 1 ? s : c;
    *sine = k & 2 ? -a : a;
    *cosine = (k + 1) & 2 ? -b : b;
}

#endif
