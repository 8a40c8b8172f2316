/* Cutting work for the workers of a team: [0, n) into contiguous parts, one for each, and parts of
 * which the early take over chunks from the late. Which worker gets what must not matter. */
#ifndef VYRE_SRC_KIT_SHARE_H
#define VYRE_SRC_KIT_SHARE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct vyre_range {
    uint64_t begin, end;
} vyre_range;

/* Part `part` of `parts`: all together are [0, n), in order; every cut is at a multiple of `grain`
 * (at least 1), and the parts differ by at most one grain. */
vyre_range vyre_share_even(uint64_t n, uint64_t grain, uint32_t part, uint32_t parts);
/* The same with items of different weight: sums[i] is the weight of all items before i, for i in
 * [0, n]. The parts weigh about the same; one heavy item is not cut. */
vyre_range vyre_share_weighted(const uint64_t *sums, uint64_t n, uint32_t part, uint32_t parts);

/* Stealing. Each worker has a slot, all of them begin a piece of work with the same numbers, then
 * take chunks until there are none; between two pieces of work must be a barrier of all workers.
 *
 *     vyre_share_begin(share, n, chunk, fraction);
 *     for (vyre_range r; vyre_share_next(share, &r);) {
 *         work on [r.begin, r.end)
 *     } */
typedef struct vyre_share_slot {
    alignas(64) _Atomic uint64_t rest; /* see share.c */
} vyre_share_slot;

/* A worker's view. Only its own thread uses it. */
typedef struct vyre_share {
    vyre_share_slot *slots; /* of all */
    uint32_t me, count;
    uint32_t round;
    uint32_t victim; /* whom to look at next */
    uint32_t fraction;
    uint64_t n, chunk, chunks;
} vyre_share;

/* Nobody may use the slots meanwhile. To be done for all workers before the first piece of work. */
void vyre_share_init(vyre_share *share, vyre_share_slot *slots, uint32_t me, uint32_t count);
/* `chunk` is at least 1; it is enlarged where there would be too many chunks. A worker takes 1 /
 * `fraction` (at least 1) of what is left of its part at once, whole chunks, at least one: much in
 * the beginning, and little at the end, when it matters who is late. 2 is for even work; the larger
 * it is, the less a heavy beginning holds up. */
void vyre_share_begin(vyre_share *share, uint64_t n, uint64_t chunk, uint32_t fraction);
/* False: nothing is left to take; somebody may still be at work. */
bool vyre_share_next(vyre_share *share, vyre_range *out_range);

#endif
