/* Which cells (random/cells.h) a program holds. What it holds is measured on the finished program,
 * jumps with the analysis of the validator, whatever the generator meant. */
#ifndef VYRE_TESTS_DIFF_COVERAGE_H
#define VYRE_TESTS_DIFF_COVERAGE_H

#include "random/cells.h"

typedef struct coverage {
    uint64_t bits[(CELL_COUNT + 63) / 64];
} coverage;

static inline bool coverage_holds(const coverage *c, uint32_t number) {
    return c->bits[number / 64] >> number % 64 & 1;
}

/* Statements count where they are reached by calls from the entry. False: out of memory. */
bool coverage_of(const vyre_program *program, coverage *out);

#endif
