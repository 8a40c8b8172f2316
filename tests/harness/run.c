/* Parse, open, dispatch, compare. */
#include "harness/run.h"

vyre_program *run_parse(const char *text) {
    vyre_diag items[8];
    vyre_diag_list list = {.items = items, .capacity = 8};
    vyre_program *program = NULL;
    vyre_status status = vyre_parse(text, strlen(text), NULL, NULL, &program, &list);
    if (status != VYRE_OK) {
        for (uint32_t i = 0; i < list.count; i++) {
            test_fail(__FILE__, __LINE__, "%u:%u: [%s] %s", items[i].line, items[i].col,
                      items[i].code, items[i].message);
        }
        printf("%s\n", text);
        test_stop();
    }
    return program;
}

run_result run_program(const char *device_name, const vyre_program *program,
                       const vyre_input *inputs, uint32_t input_count,
                       const vyre_dispatch_options *options) {
    run_result result = {0};
    const vyre_program_view *view = vyre_program_get(program);
    for (uint32_t i = 0; i < view->decl_count; i++) {
        result.output_count += view->decls[i].role == VYRE_INOUT || view->decls[i].role == VYRE_OUT;
    }
    REQUIRE(result.output_count <= RUN_MOST_BUFFERS);
    vyre_device *device = NULL;
    result.status = vyre_device_open(NULL, device_name, NULL, &device, &result.diag);
    if (result.status == VYRE_OK) {
        result.status = vyre_dispatch(device, program, inputs, input_count, result.outputs,
                                      result.output_count, options, &result.report, &result.diag);
        vyre_device_close(device);
    }
    return result;
}

void run_finish(run_result *result) {
    for (uint32_t i = 0; i < result->output_count; i++) {
        vyre_output_finish(&result->outputs[i], NULL);
    }
}

uint32_t run_word(const run_result *result, uint32_t output, uint32_t index) {
    uint32_t word = 0;
    REQUIRE(output < result->output_count &&
            ((size_t)index + 1) * 4 <= result->outputs[output].size);
    memcpy(&word, (const char *)result->outputs[output].data + (size_t)index * 4, sizeof word);
    return word;
}

bool run_same(const run_result *a, const run_result *b) {
    if (a->status != b->status || a->output_count != b->output_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->output_count; i++) {
        const vyre_output *x = &a->outputs[i], *y = &b->outputs[i];
        if (x->size != y->size || (x->size && memcmp(x->data, y->data, x->size) != 0)) {
            return false;
        }
    }
    return true;
}
