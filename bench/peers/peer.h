/* What a peer is: the same computation written by hand for one way of programming a CPU. Peers know
 * nothing of vyre. The files of this folder are compiled several times: by gcc and by clang with
 * OpenMP and everything the machine has (the peers), and once without OpenMP by the compiler and
 * with the options of the project (what all results are compared with).
 *
 * A peer prepares its own copies of the inputs, is run many times, and is asked for its outputs.
 * Only `run` is timed. It lives in a process of its own, which ends without cleaning up. */
#ifndef VYRE_BENCH_PEER_H
#define VYRE_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

enum { PEER_SIZES = 4, PEER_INPUTS = 6, PEER_OUTPUTS = 4, PEER_LINE = 64 };

/* One instance of a workload: its sizes (what they mean is the workload's), inputs, and room for
 * the outputs. A buffer that the program changes is an input and an output. */
typedef struct peer_instance {
    uint64_t size[PEER_SIZES];
    const void *in[PEER_INPUTS];
    size_t in_bytes[PEER_INPUTS];
    void *out[PEER_OUTPUTS];
    size_t out_bytes[PEER_OUTPUTS];
} peer_instance;

typedef struct peer {
    const char *workload;
    void *(*prepare)(const peer_instance *instance); /* NULL: out of memory */
    void (*reset)(void *state);                      /* before each run, not timed; may be NULL */
    void (*run)(void *state);
    void (*collect)(void *state, const peer_instance *instance);
} peer;

/* The peer of a workload in this build; NULL if it has none. */
const peer *peer_find(const char *workload);

#endif
