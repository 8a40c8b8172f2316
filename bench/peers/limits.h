/* What the machine can do, measured: no program can be faster than these allow. */
#ifndef VYRE_BENCH_PEERS_LIMITS_H
#define VYRE_BENCH_PEERS_LIMITS_H

typedef struct peer_limits {
    double threads;
    double dram, l3, l2; /* bytes per second of a[i] = b[i] + s * c[i], all threads together; what
                            a store reads first is not counted */
    double fma32, fma64; /* floating-point operations per second, all threads */
    double clock;        /* dependent additions per second of one thread */
    double barrier;      /* seconds of a spin barrier of all threads */
} peer_limits;

/* `effort` 1 to 10: how long it looks. */
void peer_limits_measure(peer_limits *out, int effort);
/* Seconds of one barrier: an epoch per thread in a line of its own, and everyone looks at all. */
double peer_spin_barrier(unsigned threads, unsigned rounds);

#endif
