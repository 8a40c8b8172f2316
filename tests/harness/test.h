/* Test harness: each TEST runs in a process of its own, so a crash or a hang fails one test and
 * hides nothing. A test file is `#include "harness/test.h"` and TESTs; the main is in main.c.
 * CHECKs go on after a failure, REQUIREs end the test. */
#ifndef VYRE_TESTS_HARNESS_TEST_H
#define VYRE_TESTS_HARNESS_TEST_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/base.h"

typedef void (*test_function)(void);
void test_register(const char *file, const char *name, test_function function);

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void register_##name(void) {                               \
        test_register(__FILE__, #name, test_##name);                                               \
    }                                                                                              \
    static void test_##name(void)

/* How a test's process ends when it did not pass. */
enum { TEST_EXIT_FAILED = 1, TEST_EXIT_SKIPPED = 77 };

/* Marks the running test as failed and prints where and why. */
void test_fail(const char *file, int line, const char *format, ...) VYRE_PRINTF(3, 4);
/* Ends the running test at once as failed. */
_Noreturn void test_stop(void);
/* Ends the running test as skipped; the reason is printed and counted. */
_Noreturn void test_skip(const char *reason);
bool test_failed(void);

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "not true: %s", #condition))
#define REQUIRE(condition)                                                                         \
    ((condition) ? (void)0                                                                         \
                 : (test_fail(__FILE__, __LINE__, "not true: %s", #condition), test_stop()))
#define CHECK_EQ(got, want)                                                                        \
    test_check_eq(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))
#define CHECK_STR(got, want) test_check_str(__FILE__, __LINE__, #got, (got), (want))
/* The text contains the part. */
#define CHECK_HAS(text, part) test_check_has(__FILE__, __LINE__, #text, (text), (part))
/* The status is as wanted; on failure the diag's message is printed too (diag may be NULL). */
#define CHECK_STATUS(got, want, diag)                                                              \
    test_check_status(__FILE__, __LINE__, #got, (got), (want), (diag))
#define REQUIRE_OK(got, diag)                                                                      \
    (test_check_status(__FILE__, __LINE__, #got, (got), VYRE_OK, (diag)) ? (void)0 : test_stop())

void test_check_eq(const char *file, int line, const char *what, uint64_t got, uint64_t want);
void test_check_str(const char *file, int line, const char *what, const char *got,
                    const char *want);
void test_check_has(const char *file, int line, const char *what, const char *text,
                    const char *part);
bool test_check_status(const char *file, int line, const char *what, vyre_status got,
                       vyre_status want, const vyre_diag *diag);

/* An allocator that counts, verifies every size it is told, and can fail on request. */
typedef struct test_heap {
    uint64_t calls;   /* allocations and growths so far */
    uint64_t fail_at; /* this call (counted from 1) and, if fail_after, all later ones give NULL */
    bool fail_after;
    uint64_t live_blocks;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t asked_bytes; /* all together */
} test_heap;
vyre_allocator test_heap_allocator(test_heap *heap);

/* Runs body(allocator, user) with the n-th allocation failing for n = 1, 2, ... until it runs
 * through without reaching the failure. Each run must return VYRE_OUT_OF_MEMORY while an allocation
 * failed, VYRE_OK in the last one, and leave nothing allocated. Returns the number of allocations.
 * `most` bounds the number of rounds: when there are more, they are sampled evenly. */
uint64_t test_every_allocation(vyre_status (*body)(const vyre_allocator *a, void *user), void *user,
                               uint64_t most);

/* splitmix64: the random numbers of all tests, so that a seed reproduces a case. */
uint64_t test_random(uint64_t *state);
/* Uniform in [0, bound); bound must not be 0. */
uint64_t test_random_below(uint64_t *state, uint64_t bound);
/* How many random cases to run: `count`, or less where each is slow (sanitizers, mutants). */
uint64_t test_scaled(uint64_t count);

/* Runs `work` in so many threads at once, each on its element of `size` bytes; size 0: all on one.
 * Returns when all have returned. */
enum { TEST_THREADS = 4 };
void test_in_threads(void *(*work)(void *element), void *elements, size_t size);

#endif
