/* Running a program given as text: for tests that care about results. */
#ifndef VYRE_TESTS_HARNESS_RUN_H
#define VYRE_TESTS_HARNESS_RUN_H

#include "harness/test.h"
#include "vyre/vyre.h"

enum { RUN_MOST_BUFFERS = 16 };

typedef struct run_result {
    vyre_status status;
    vyre_diag diag;
    vyre_dispatch_report report;
    vyre_output outputs[RUN_MOST_BUFFERS];
    uint32_t output_count;
} run_result;

/* Parses; the test ends with the diagnostics printed if that fails. */
vyre_program *run_parse(const char *text);
/* Runs on a device opened for the call. Inputs: one for every in and inout, in order. */
run_result run_program(const char *device, const vyre_program *program, const vyre_input *inputs,
                       uint32_t input_count, const vyre_dispatch_options *options);
void run_finish(run_result *result);
/* Word `index` of output number `output`. */
uint32_t run_word(const run_result *result, uint32_t output, uint32_t index);
/* Same status, same output bytes. */
bool run_same(const run_result *a, const run_result *b);

#endif
