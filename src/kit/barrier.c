/* The barrier: a counter in one word. Whoever comes adds one; who makes it complete takes all off
 * again and adds one to the round above, in one addition, so that the bit "broken" can come in
 * between at any time. The others wait until round or bit differ from what they saw when they came;
 * nobody can miss a round, since the next one needs everybody. Rounds may wrap around.
 *
 * On a broken barrier the count means nothing any more, and even when it runs over into the round
 * the bit stays, so that all go through.
 *
 * Watching is wasted while the thread that is missing waits for the very core: two threads that the
 * system has put on one core would watch in vain at each barrier. So after one wait in vain the
 * next ones are short, until one of them, or a long one now and then, sees somebody come.
 *
 * Costs two transfers of one line for two threads that have a core each. With many threads the line
 * goes round; at some dozens a tree would be better. */
#include "kit/barrier.h"

enum { BROKEN = 1, ONE = 2, ROUND = 1 << 12 };
enum { HASTY_PAUSES = 100, TRY_EVERY = 16 };
static const uint32_t rounds = ~(uint32_t)(ROUND - 1);

void vyre_barrier_init(vyre_barrier *barrier, uint32_t count, vyre_patience patience) {
    atomic_store(&barrier->word.value, 0);
    atomic_store(&barrier->word.sleepers, 0);
    barrier->passed = 0;
    barrier->count = count;
    barrier->patience = patience;
    atomic_store(&barrier->is_hasty, false);
}

static uint32_t await(vyre_barrier *barrier, uint32_t seen) {
    const uint32_t mask = rounds | BROKEN;
    bool was_hasty = atomic_load_explicit(&barrier->is_hasty, memory_order_relaxed);
    bool tries = seen / ROUND % TRY_EVERY == 0;
    uint32_t pauses = was_hasty && !tries && barrier->patience.pauses > HASTY_PAUSES
                          ? HASTY_PAUSES
                          : barrier->patience.pauses;
    uint32_t now;
    bool came = vyre_word_watch(&barrier->word, mask, seen, pauses, &now);
    if (came == was_hasty) {
        atomic_store_explicit(&barrier->is_hasty, !came, memory_order_relaxed);
    }
    return came ? now : vyre_word_sleep(&barrier->word, mask, seen, barrier->patience.yields);
}

bool vyre_barrier_wait(vyre_barrier *barrier) {
    uint32_t now = atomic_fetch_add(&barrier->word.value, ONE) + ONE;
    if (now & BROKEN) {
        return false;
    }
    if ((now & ~rounds) == barrier->count * ONE) {
        barrier->passed++;
        now = atomic_fetch_add(&barrier->word.value, ROUND - barrier->count * ONE);
        vyre_word_wake(&barrier->word);
    } else {
        now = await(barrier, now);
    }
    return !(now & BROKEN);
}

void vyre_barrier_break(vyre_barrier *barrier) {
    atomic_fetch_or(&barrier->word.value, BROKEN);
    vyre_word_wake(&barrier->word);
}

bool vyre_barrier_is_broken(vyre_barrier *barrier) {
    return atomic_load_explicit(&barrier->word.value, memory_order_relaxed) & BROKEN;
}
