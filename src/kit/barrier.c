/* The barrier, in two ways.
 *
 * Few threads that have a core each: everybody has a line of its own with the number of times it
 * has come, writes it, and looks at the lines of all others until they have come as often; one may
 * be further by one already. Two threads so wait for one transfer of a line, and write without
 * waiting. Everybody who has come rings the bell if somebody sleeps, a little later, when the line
 * is written, and before it leaves or sleeps. No sleeper is forgotten: it counts itself, then looks
 * at the lines once more; the other has written its line, then looks at the count, with a fence in
 * between, so one of the two sees the other.
 *
 * Many, or more than there are cores: a counter in one word. Whoever comes adds one; who makes it
 * complete takes all off again and adds one to the round above, in one addition, so that the bit
 * "broken" can come in between at any time. The others wait until round or bit differ from what
 * they saw when they came; nobody can miss a round, since the next one needs everybody. Rounds may
 * wrap around. On a broken barrier the count means nothing any more, and even when it runs over
 * into the round the bit stays, so that all go through. At some dozens a tree would be better.
 *
 * Watching is wasted while the thread that is missing waits for the very core: two threads that the
 * system has put on one core would watch in vain at each barrier. Few know: now and then each
 * writes down its core. Many, after one wait in vain, wait shorter, until one of them, or a long
 * one now and then, sees somebody come. */
#include "kit/barrier.h"

#include <sched.h>

enum { BROKEN = 1, ONE = 2, ROUND = 1 << 12 };
enum { HASTY_PAUSES = 100, TRY_EVERY = 16, RING_AFTER = 2, START_PAUSES = 2000 };
static const uint32_t rounds = ~(uint32_t)(ROUND - 1);

void vyre_barrier_init(vyre_barrier *barrier, uint32_t count, vyre_patience patience) {
    atomic_store(&barrier->word.value, 0);
    atomic_store(&barrier->word.sleepers, 0);
    barrier->passed = 0;
    barrier->count = count;
    barrier->patience = patience;
    barrier->is_few = count <= VYRE_BARRIER_FEW && patience.yields == 0;
    atomic_store(&barrier->is_broken, false);
    atomic_store(&barrier->is_hasty, false);
    for (uint32_t i = 0; i < VYRE_BARRIER_FEW; i++) {
        atomic_store(&barrier->each[i].come, 0);
        atomic_store(&barrier->each[i].core, -1);
    }
}

/* Few. */

static bool few_broken(const vyre_barrier *barrier) {
    return atomic_load(&barrier->is_broken);
}

/* Whether nobody is missing, or nobody has to be there any more; *from: the first who may be
 * missing. */
static bool few_are_there(const vyre_barrier *barrier, uint32_t me, uint64_t round,
                          uint32_t *from) {
    for (; *from < barrier->count; ++*from) {
        if (*from != me &&
            atomic_load_explicit(&barrier->each[*from].come, memory_order_acquire) < round) {
            return few_broken(barrier);
        }
    }
    return true;
}

/* Whether to watch longer for one that is missing would be in vain: it waits for this core, or has
 * not come since the job began, as if it had no core at all. */
static bool is_in_vain(const vyre_barrier *barrier, uint32_t other, uint32_t pauses) {
    const int core = atomic_load_explicit(&barrier->each[other].core, memory_order_relaxed);
    return (pauses == HASTY_PAUSES && core == sched_getcpu()) ||
           (pauses == START_PAUSES && core < 0);
}

/* For those who may wait for this thread. */
static void few_ring(vyre_barrier *barrier) {
    vyre_fence();
    if (atomic_load_explicit(&barrier->word.sleepers, memory_order_relaxed)) {
        atomic_fetch_add(&barrier->word.value, ONE);
        vyre_word_wake_sleepers(&barrier->word);
    }
}

static void few_sleep(vyre_barrier *barrier, uint32_t me, uint64_t round, uint32_t from) {
    vyre_word *bell = &barrier->word;
    atomic_fetch_add(&bell->sleepers, 1);
    for (;;) {
        const uint32_t rung = atomic_load(&bell->value);
        if (few_are_there(barrier, me, round, &from)) {
            break;
        }
        vyre_word_doze(bell, rung);
    }
    atomic_fetch_sub(&bell->sleepers, 1);
}

/* Until the others have come that often. */
static bool few_await(vyre_barrier *barrier, uint32_t me, uint64_t round) {
    uint32_t from = 0;
    bool came = few_are_there(barrier, me, round, &from);
    for (uint32_t i = 0; i < barrier->patience.pauses && !came; i++) {
        if (i == RING_AFTER) {
            few_ring(barrier);
        }
        if (is_in_vain(barrier, from, i)) {
            break;
        }
        vyre_pause();
        came = few_are_there(barrier, me, round, &from);
    }
    if (!came) {
        few_sleep(barrier, me, round, from);
    }
    return !few_broken(barrier);
}

static bool few_wait(vyre_barrier *barrier, uint32_t me) {
    _Atomic uint64_t *mine = &barrier->each[me].come;
    const uint64_t round = atomic_load_explicit(mine, memory_order_relaxed) + 1;
    if (round % TRY_EVERY == 1) {
        atomic_store_explicit(&barrier->each[me].core, sched_getcpu(), memory_order_relaxed);
    }
    atomic_store_explicit(mine, round, memory_order_release);
    const bool all_came = few_await(barrier, me, round);
    few_ring(barrier);
    return all_came;
}

/* The others come when they wait, which they do at once. */
static bool few_gather(vyre_barrier *barrier, uint32_t me) {
    const uint64_t come = atomic_load_explicit(&barrier->each[me].come, memory_order_relaxed);
    return me != 0 || few_await(barrier, me, come + 1);
}

/* Many. */

static uint32_t pauses_for(const vyre_barrier *barrier, uint32_t round, bool was_hasty) {
    const bool hurries = was_hasty && round % TRY_EVERY != 0;
    return hurries && barrier->patience.pauses > HASTY_PAUSES ? HASTY_PAUSES
                                                              : barrier->patience.pauses;
}

static uint32_t await(vyre_barrier *barrier, uint32_t seen) {
    const uint32_t mask = rounds | BROKEN;
    const bool was_hasty = atomic_load_explicit(&barrier->is_hasty, memory_order_relaxed);
    uint32_t now;
    const bool came = vyre_word_watch(&barrier->word, mask, seen,
                                      pauses_for(barrier, seen / ROUND, was_hasty), &now);
    if (came == was_hasty) {
        atomic_store_explicit(&barrier->is_hasty, !came, memory_order_relaxed);
    }
    return came ? now : vyre_word_sleep(&barrier->word, mask, seen, barrier->patience.yields);
}

static bool many_wait(vyre_barrier *barrier) {
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

/* All. */

bool vyre_barrier_wait(vyre_barrier *barrier, uint32_t me) {
    return barrier->is_few ? few_wait(barrier, me) : many_wait(barrier);
}

bool vyre_barrier_gather(vyre_barrier *barrier, uint32_t me) {
    return barrier->is_few ? few_gather(barrier, me) : many_wait(barrier);
}

uint64_t vyre_barrier_passed(const vyre_barrier *barrier) {
    uint64_t passed = barrier->is_few ? UINT64_MAX : barrier->passed;
    for (uint32_t i = 0; barrier->is_few && i < barrier->count; i++) {
        const uint64_t come = atomic_load(&barrier->each[i].come);
        passed = come < passed ? come : passed;
    }
    return passed;
}

void vyre_barrier_break(vyre_barrier *barrier) {
    atomic_store(&barrier->is_broken, true);
    atomic_fetch_or(&barrier->word.value, BROKEN);
    vyre_word_wake(&barrier->word);
}

bool vyre_barrier_is_broken(vyre_barrier *barrier) {
    return few_broken(barrier);
}
