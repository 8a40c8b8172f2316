/* What the differential tests share. */
#ifndef VYRE_TESTS_DIFF_PROGRAMS_H
#define VYRE_TESTS_DIFF_PROGRAMS_H

#include <stdint.h>

/* Random order-free programs [first, first + count) on a backend, against ref, in all orders and by
 * both paths. The first that differs is reduced and fails the test. */
void diff_check_random(const char *backend, uint64_t first, uint64_t count);
/* The reduced programs of bugs that were found. */
void diff_check_stored(const char *backend);

#endif
