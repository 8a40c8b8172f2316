/* Programs that must give the same natively and split: for tests of splitting. */
#ifndef VYRE_TESTS_HARNESS_EVERYWHERE_H
#define VYRE_TESTS_HARNESS_EVERYWHERE_H

#include "harness/run.h"

/* Runs natively and split, in all orders, on both paths; the first words of output 0 must be
 * `want`. If not, the segments are printed and the test ends. */
void run_everywhere(const char *text, const vyre_input *inputs, uint32_t input_count,
                    uint32_t elements, const uint32_t *want, uint32_t count);

/* Steps and segments of the split program, to stdout. */
void run_print_segments(const vyre_program *program);

/* The last two arguments. */
#define RUN_WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

#endif
