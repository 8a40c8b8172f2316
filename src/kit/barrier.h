/* A barrier for threads that run the same program: each waits until all have come. It can be
 * broken, and then lets everybody through at once, with a failure. */
#ifndef VYRE_SRC_KIT_BARRIER_H
#define VYRE_SRC_KIT_BARRIER_H

#include <stdalign.h>

#include "kit/wait.h"

enum { VYRE_BARRIER_MOST_THREADS = 1023 };

typedef struct vyre_barrier {
    /* From the lowest bit: broken, how many have come (11 bits), how often all had come. One word,
     * so that a thread that comes moves one line, and the last one has it already. */
    alignas(64) vyre_word word;
    uint64_t passed; /* how often all had come; the last to come counts */
    alignas(64) uint32_t count;
    vyre_patience patience;
    _Atomic bool is_hasty; /* the last to wait watched in vain */
} vyre_barrier;

/* For 1 to VYRE_BARRIER_MOST_THREADS threads. Nobody may wait meanwhile. */
void vyre_barrier_init(vyre_barrier *barrier, uint32_t count, vyre_patience patience);
/* True: all have come, and what each wrote before is visible to all. False: it is broken. */
bool vyre_barrier_wait(vyre_barrier *barrier);
/* Every wait returns false, those under way too, until the next init. Any thread, more than once.
 */
void vyre_barrier_break(vyre_barrier *barrier);
bool vyre_barrier_is_broken(vyre_barrier *barrier);

#endif
