/* A barrier for threads that run the same program: each waits until all have come. It can be
 * broken, and then lets everybody through at once, with a failure. */
#ifndef VYRE_SRC_KIT_BARRIER_H
#define VYRE_SRC_KIT_BARRIER_H

#include <stdalign.h>

#include "kit/wait.h"

enum {
    VYRE_BARRIER_MOST_THREADS = 1023,
    VYRE_BARRIER_FEW = 4 /* threads that look at each other */
};

typedef struct vyre_barrier {
    /* Many threads: from the lowest bit: broken, how many have come (11 bits), how often all had
     * come. One word, so that a thread that comes moves one line, and the last one has it already.
     * Few: the bell for those who sleep. */
    alignas(64) vyre_word word;
    uint64_t passed; /* many: how often all had come; the last to come counts */
    /* Read by all, hardly ever written. */
    alignas(64) uint32_t count;
    vyre_patience patience;
    bool is_few;            /* threads have a core each, and look at each other */
    _Atomic bool is_broken; /* of few */
    _Atomic bool is_hasty;  /* of many: the last to wait watched in vain */
    /* Of few: how often each has come, in a line that nobody else writes. */
    struct {
        alignas(64) _Atomic uint64_t come;
        _Atomic int core; /* on which it was lately */
    } each[VYRE_BARRIER_FEW];
} vyre_barrier;

/* For 1 to VYRE_BARRIER_MOST_THREADS threads. Nobody may wait meanwhile. */
void vyre_barrier_init(vyre_barrier *barrier, uint32_t count, vyre_patience patience);
/* True: all have come, and what each wrote before is visible to all. False: it is broken. `me` is a
 * number below the count, of each thread another. */
bool vyre_barrier_wait(vyre_barrier *barrier, uint32_t me);
/* All call it right before they wait; between the two only thread 0 does something, for which
 * nobody else may be at work, and the others see it when they have waited. Costs little more than
 * waiting once. False: it is broken, nobody needs to wait. */
bool vyre_barrier_gather(vyre_barrier *barrier, uint32_t me);
/* Every wait returns false, those under way too, until the next init. Any thread, more than once.
 */
void vyre_barrier_break(vyre_barrier *barrier);
bool vyre_barrier_is_broken(vyre_barrier *barrier);
/* How often all have come; when none waits. */
uint64_t vyre_barrier_passed(const vyre_barrier *barrier);

#endif
