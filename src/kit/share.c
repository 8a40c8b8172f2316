/* Even and weighted cuts, and stealing.
 *
 * A slot is one word: the chunks [begin, end) that are left of its owner's part, 28 bits each, and
 * 8 bits of the round in which that was written. A slot of an earlier round stands for the whole
 * part that the owner has not begun: a thief may take from it too, so that a worker which is late
 * holds nobody up. The owner takes some chunks from the front, a thief the back half, by exchanging
 * the word for a smaller range; a thief keeps what it took in its own slot, which is empty then.
 *
 * Why each chunk runs once: every exchange succeeds only on the very word it was computed from, and
 * a range, once taken from, never comes back in a round. Everybody has written its own slot in each
 * round (begin does), so a slot is of this round or of the one before, and 8 bits tell them apart.
 *
 * Costs one locked operation for what is taken at once; with nothing left one look at each slot. */
#include "kit/share.h"

#include "base/checked.h"

enum { BITS = 28, ROUNDS = 256 };
static const uint64_t most_chunks = (UINT64_C(1) << BITS) - 1;

/* n / parts * part without overflow: the first n % parts parts are one longer. */
static uint64_t even_cut(uint64_t n, uint32_t part, uint32_t parts) {
    uint64_t longer = n % parts;
    return n / parts * part + (part < longer ? part : longer);
}

vyre_range vyre_share_even(uint64_t n, uint64_t grain, uint32_t part, uint32_t parts) {
    uint64_t grains = vyre_ceil_div(n, grain);
    uint64_t begin = even_cut(grains, part, parts);
    uint64_t end = even_cut(grains, part + 1, parts);
    return (vyre_range){.begin = begin < grains ? begin * grain : n,
                        .end = end < grains ? end * grain : n};
}

/* The first item that begins at or behind part / parts of the weight. */
static uint64_t weighted_cut(const uint64_t *sums, uint64_t n, uint32_t part, uint32_t parts) {
    uint64_t want = even_cut(sums[n] - sums[0], part, parts);
    uint64_t low = 0, high = n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sums[middle] - sums[0] < want) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

vyre_range vyre_share_weighted(const uint64_t *sums, uint64_t n, uint32_t part, uint32_t parts) {
    /* The outer ends are exact also when items at them weigh nothing. */
    return (vyre_range){.begin = part ? weighted_cut(sums, n, part, parts) : 0,
                        .end = part + 1 < parts ? weighted_cut(sums, n, part + 1, parts) : n};
}

static uint64_t pack(uint32_t round, vyre_range r) {
    return (uint64_t)round << (2 * BITS) | r.begin << BITS | r.end;
}

/* What is left of a worker's part. */
static vyre_range rest_of(const vyre_share *share, uint32_t worker, uint64_t word) {
    if (word >> (2 * BITS) != share->round) {
        return vyre_share_even(share->chunks, 1, worker, share->count);
    }
    return (vyre_range){.begin = word >> BITS & most_chunks, .end = word & most_chunks};
}

void vyre_share_init(vyre_share *share, vyre_share_slot *slots, uint32_t me, uint32_t count) {
    *share = (vyre_share){.slots = slots, .me = me, .count = count};
    atomic_store_explicit(&slots[me].rest, 0, memory_order_relaxed);
}

void vyre_share_begin(vyre_share *share, uint64_t n, uint64_t chunk, uint32_t fraction) {
    uint64_t least = vyre_ceil_div(n, most_chunks);
    share->n = n;
    share->fraction = fraction;
    share->chunk = chunk < least ? least : chunk;
    share->chunks = vyre_ceil_div(n, share->chunk);
    share->round = (share->round + 1) % ROUNDS;
    share->victim = share->me;
    /* So that the slot is of this round even if there is nothing to take. */
    _Atomic uint64_t *mine = &share->slots[share->me].rest;
    uint64_t word = atomic_load_explicit(mine, memory_order_relaxed);
    if (word >> (2 * BITS) != share->round) {
        uint64_t fresh = pack(share->round, rest_of(share, share->me, word));
        atomic_compare_exchange_strong(mine, &word, fresh); /* or a thief did it */
    }
}

static vyre_range hand_out(const vyre_share *share, uint64_t first, uint64_t count) {
    const uint64_t end = first + count;
    return (vyre_range){.begin = first * share->chunk,
                        .end = end < share->chunks ? end * share->chunk : share->n};
}

static bool take_own(vyre_share *share, vyre_range *out_range) {
    _Atomic uint64_t *mine = &share->slots[share->me].rest;
    uint64_t word = atomic_load_explicit(mine, memory_order_relaxed);
    for (;;) {
        const vyre_range rest = rest_of(share, share->me, word);
        if (rest.begin == rest.end) {
            return false;
        }
        const uint64_t some = (rest.end - rest.begin) / share->fraction, count = some ? some : 1;
        const vyre_range left = {.begin = rest.begin + count, .end = rest.end};
        if (atomic_compare_exchange_weak(mine, &word, pack(share->round, left))) {
            *out_range = hand_out(share, rest.begin, count);
            return true;
        }
    }
}

/* The back half of what the worker has left, the larger one, so that a last chunk can go too. */
static bool steal_from(vyre_share *share, uint32_t worker) {
    _Atomic uint64_t *theirs = &share->slots[worker].rest;
    uint64_t word = atomic_load_explicit(theirs, memory_order_relaxed);
    for (;;) {
        vyre_range rest = rest_of(share, worker, word);
        if (rest.begin == rest.end) {
            return false;
        }
        uint64_t middle = rest.begin + (rest.end - rest.begin) / 2;
        vyre_range left = {.begin = rest.begin, .end = middle};
        if (atomic_compare_exchange_weak(theirs, &word, pack(share->round, left))) {
            vyre_range taken = {.begin = middle, .end = rest.end};
            atomic_store(&share->slots[share->me].rest, pack(share->round, taken));
            return true;
        }
    }
}

bool vyre_share_next(vyre_share *share, vyre_range *out_range) {
    uint32_t empty = 0;
    while (!take_own(share, out_range)) {
        /* Whoever had something last time is asked first. */
        do {
            if (empty++ == share->count) {
                return false;
            }
            share->victim = share->victim + 1 < share->count ? share->victim + 1 : 0;
        } while (share->victim == share->me || !steal_from(share, share->victim));
        share->victim = share->victim ? share->victim - 1 : share->count - 1;
        empty = 0;
    }
    return true;
}
