/* Lowering in tests: what comes out is a valid program, prints and parses, and does the same. */
#ifndef VYRE_TESTS_UNIT_LOWERING_H
#define VYRE_TESTS_UNIT_LOWERING_H

#include "harness/run.h"
#include "harness/text.h"
#include "vyre/lower.h"

/* Lowers for capabilities by name; the test ends if that fails or the result is not valid. */
vyre_program *lowering_of(const vyre_program *program, const char *capabilities);
/* Runs program and lowered program on "ref", in all orders, on words made from the seed for each in
 * and inout; outputs must be the same bytes. */
void lowering_same(const char *text, const char *capabilities, uint64_t seed);
/* The text of a program; finish it. */
vyre_text lowering_text(const vyre_program *program);

#endif
