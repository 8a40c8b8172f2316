/* A word that threads wait for: they watch it for a while, then give their core away a few times,
 * then sleep until they are woken. Whoever changes the word pays for a call of the system only when
 * somebody sleeps. Only within one process. */
#ifndef VYRE_SRC_KIT_WAIT_H
#define VYRE_SRC_KIT_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How long to wait before sleeping; a pause is 10 to 50 nanoseconds. */
typedef struct vyre_patience {
    uint32_t pauses;
    uint32_t yields;
} vyre_patience;

/* For threads that have a core each (long enough that one which lost its core for a moment is not
 * slept for: who is woken may come to the core of the other), between two jobs, and for more
 * threads than cores. */
#define VYRE_PATIENCE_OWN_CORE ((vyre_patience){.pauses = 20000, .yields = 0})
#define VYRE_PATIENCE_IDLE     ((vyre_patience){.pauses = 2000, .yields = 0})
#define VYRE_PATIENCE_CROWDED  ((vyre_patience){.pauses = 100, .yields = 4})

typedef struct vyre_word {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers; /* in the same line, which whoever changes the value has anyway */
} vyre_word;

/* Returns the value once it differs from `seen` in a bit of the mask; what was written before that
 * change is then visible. */
static inline uint32_t vyre_word_await(vyre_word *word, uint32_t mask, uint32_t seen,
                                       vyre_patience patience);
/* To be called after a change of the value by an atomic operation that is sequentially consistent
 * (the default). */
static inline void vyre_word_wake(vyre_word *word);

/* The first part alone; false: it has not changed. */
static inline bool vyre_word_watch(vyre_word *word, uint32_t mask, uint32_t seen, uint32_t pauses,
                                   uint32_t *out_now);
/* The slow ends. */
uint32_t vyre_word_sleep(vyre_word *word, uint32_t mask, uint32_t seen, uint32_t yields);
void vyre_word_wake_sleepers(vyre_word *word);
/* Once, unless the value differs; it may return for nothing. Who calls it has counted itself. */
void vyre_word_doze(vyre_word *word, uint32_t seen);

/* What was written before it is visible before anything behind it is read. */
static inline void vyre_fence(void) {
#if defined(__x86_64__)
    __asm__ volatile("lock orl $0, (%%rsp)" ::
                         : "memory", "cc"); /* ThreadSanitizer knows no fence */
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void vyre_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool vyre_word_watch(vyre_word *word, uint32_t mask, uint32_t seen, uint32_t pauses,
                                   uint32_t *out_now) {
    for (uint32_t i = 0; i < pauses; i++) {
        *out_now = atomic_load_explicit(&word->value, memory_order_acquire);
        if ((*out_now ^ seen) & mask) {
            return true;
        }
        vyre_pause();
    }
    return false;
}

static inline uint32_t vyre_word_await(vyre_word *word, uint32_t mask, uint32_t seen,
                                       vyre_patience patience) {
    uint32_t now;
    return vyre_word_watch(word, mask, seen, patience.pauses, &now)
               ? now
               : vyre_word_sleep(word, mask, seen, patience.yields);
}

static inline void vyre_word_wake(vyre_word *word) {
    if (atomic_load(&word->sleepers)) {
        vyre_word_wake_sleepers(word);
    }
}

#endif
