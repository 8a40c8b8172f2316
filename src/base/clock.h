/* Time that only goes forward. */
#ifndef VYRE_SRC_BASE_CLOCK_H
#define VYRE_SRC_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, never 0. */
uint64_t vyre_clock_now(void);

#endif
