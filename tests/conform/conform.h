/* Programs with known answers, run everywhere: natively and split, through host memory and
 * resident, with and without the barrier optimiser, in every order of lanes. */
#ifndef VYRE_TESTS_CONFORM_CONFORM_H
#define VYRE_TESTS_CONFORM_CONFORM_H

#include "harness/run.h"

#define WORDS(...)                                                                                 \
    (const uint32_t[]){__VA_ARGS__}, (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4)
/* One input of u32 elements. */
#define INPUT(...)                                                                                 \
    { (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) }
#define INPUTS(...)                                                                                \
    (const vyre_input[]){__VA_ARGS__},                                                             \
        (uint32_t)(sizeof((vyre_input[]){__VA_ARGS__}) / sizeof(vyre_input))
#define NO_INPUTS        NULL, 0
#define OPTIONS(...)     (&(const vyre_dispatch_options){__VA_ARGS__})
#define FIXPOINT(passes) .has_iterations = true, .iterations = (passes)

/* The outputs, one after another, must be exactly `words`. The options' path, order and
 * no_optimize are set here; options may be NULL. */
void conform_expect(const char *text, const vyre_input *inputs, uint32_t input_count,
                    const vyre_dispatch_options *options, const uint32_t *words, uint32_t count);
/* Every dispatch must fail like this, and leave the output slots empty. */
void conform_refuse(const char *text, const vyre_input *inputs, uint32_t input_count,
                    const vyre_dispatch_options *options, vyre_status status, const char *message);

/* One run that must succeed, every barrier kept; finish it with run_finish. */
run_result conform_run(const char *device, const char *text, const vyre_input *inputs,
                       uint32_t input_count, const vyre_dispatch_options *options);

/* The module of a program, every barrier kept; release it with vyre_module_release. */
vyre_module *conform_split(const char *text);
/* Statements of one kind in a segment (or any program). */
uint32_t conform_count(const vyre_program *program, vyre_stmt_op op);
/* The printed segments, one after another (or one program); free it with free. */
char *conform_print(const vyre_program *program);
char *conform_segments(const vyre_module *module);

#endif
