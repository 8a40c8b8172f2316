/* Random programs for tests. A seed names a program: the same one on every machine. */
#ifndef VYRE_TESTS_RANDOM_PROGRAM_H
#define VYRE_TESTS_RANDOM_PROGRAM_H

#include "vyre/ir.h"

/* A valid program (vyre_check accepts it) that uses whatever the language has: every operator on
 * every type, every statement, odd names and literals. Nobody should run it. */
vyre_status random_syntax(uint64_t seed, vyre_program **out_program, vyre_diag *diag);

/* A valid program that ends and whose outputs do not depend on the order of lanes, by construction
 * (see order_free.c). All sizes are constants and all params have defaults, so that it runs with
 * inputs made from its declarations alone, but for the words of an indirect dispatch. It may trap.
 * A name that ends in _N asks for a fixpoint of at most N passes. */
vyre_status random_order_free(uint64_t seed, vyre_program **out_program, vyre_diag *diag);
/* The words that an indirect dispatch of such a program finds at that byte offset. */
void random_indirect_grid(uint32_t offset, uint32_t out_grid[3]);

#endif
