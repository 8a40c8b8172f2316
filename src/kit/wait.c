/* Sleeping and waking, by the futex of Linux. No wake-up is lost: a sleeper counts itself before it
 * looks at the word, the other side changes the word before it looks at the count, and all four are
 * sequentially consistent, so at least one of the two sees the other; the kernel compares the word
 * again before it puts a thread to sleep. */
#include "kit/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void vyre_word_doze(vyre_word *word, uint32_t seen) {
    syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

uint32_t vyre_word_sleep(vyre_word *word, uint32_t mask, uint32_t seen, uint32_t yields) {
    uint32_t now;
    for (uint32_t i = 0; i < yields; i++) {
        now = atomic_load_explicit(&word->value, memory_order_acquire);
        if ((now ^ seen) & mask) {
            return now;
        }
        sched_yield();
    }
    atomic_fetch_add(&word->sleepers, 1);
    while ((((now = atomic_load(&word->value)) ^ seen) & mask) == 0) {
        /* Interrupted, woken for nothing or changed meanwhile: look again. */
        vyre_word_doze(word, now);
    }
    atomic_fetch_sub(&word->sleepers, 1);
    return now;
}

void vyre_word_wake_sleepers(vyre_word *word) {
    syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
