/* Running a program given as text: for tests that care about results. */
#ifndef VYRE_TESTS_HARNESS_RUN_H
#define VYRE_TESTS_HARNESS_RUN_H

#include "harness/test.h"
#include "vyre/backend.h"
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
/* From now on run_open and run_program know these backends, too. */
void run_add(vyre_status (*add)(vyre_registry *registry, vyre_diag *diag));
/* What tests of devices begin with; each ends the test if it fails. a may be NULL. */
vyre_device *run_open(const char *uri, const vyre_allocator *a);
/* A device of a backend that only this test has. */
vyre_device *run_open_backend(const vyre_backend *backend);
/* A device of a backend that `add` adds to the built-in ones. */
vyre_device *run_open_added(vyre_status (*add)(vyre_registry *registry, vyre_diag *diag),
                            const char *uri);
/* A pipeline, which keeps the program. */
vyre_pipeline *run_compile(vyre_device *device, const char *text);
/* A buffer of so many words; zeros unless given. */
vyre_buffer *run_buffer(vyre_device *device, const uint32_t *words, uint32_t count);
uint32_t run_buffer_word(const vyre_buffer *buffer, uint32_t index);
vyre_counters run_counters(const vyre_device *device);
/* Calls `use` on a device that fails, for every entry and every call of it until it is no longer
 * reached; by turns the call fails and the device is lost. Nothing may leak. */
void run_every_fault(const char *inner, vyre_status (*use)(vyre_device *device, void *user),
                     void *user);

/* Skips the running test where there is no such device. */
void run_need(const char *device);
/* run_program with that device uses one that stays open, until the next call; NULL: none. Opening
 * takes longer than most programs where a driver loads its library for each context. */
void run_keep(const char *uri);
/* Runs on a device opened for the call, unless it is kept. Inputs: one for every in and inout, in
 * order. */
run_result run_program(const char *device, const vyre_program *program, const vyre_input *inputs,
                       uint32_t input_count, const vyre_dispatch_options *options);
void run_finish(run_result *result);
/* Word `index` of output number `output`. */
uint32_t run_word(const run_result *result, uint32_t output, uint32_t index);
/* Same status, same output bytes. */
bool run_same(const run_result *a, const run_result *b);

#endif
