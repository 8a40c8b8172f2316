#include "harness/everywhere.h"

static bool to_stdout(void *user, const char *text, size_t length) {
    (void)user;
    return fwrite(text, 1, length, stdout) == length;
}

void run_print_segments(const vyre_program *program) {
    vyre_module *m = NULL;
    if (vyre_split(program, NULL, NULL, &m, NULL) == VYRE_OK) {
        const vyre_module_view *v = vyre_module_get(m);
        for (uint32_t i = 0; i < v->step_count; i++) {
            printf("step %u: segment %d kind %u next %d otherwise %d sync %d asks %d\n", i,
                   (int)v->steps[i].segment, v->steps[i].kind, (int)v->steps[i].next,
                   (int)v->steps[i].otherwise, v->steps[i].sync, v->steps[i].asks);
            if (v->steps[i].segment != VYRE_NONE) {
                (void)vyre_program_print(v->segments[v->steps[i].segment], to_stdout, NULL);
            }
        }
        vyre_module_release(m);
    }
}

void run_everywhere(const char *text, const vyre_input *inputs, uint32_t input_count,
                    uint32_t elements, const uint32_t *want, uint32_t count) {
    vyre_program *p = run_parse(text);
    static const char *const devices[] = {"ref", "ref-split"};
    for (int device = 0; device < 2; device++) {
        for (int order = VYRE_ORDER_FORWARD; order <= VYRE_ORDER_INTERLEAVED; order++) {
            for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
                vyre_dispatch_options options = {.no_optimize = path == VYRE_PATH_HOST,
                                                 .has_elements = elements != 0,
                                                 .elements = elements,
                                                 .order = (vyre_order)order,
                                                 .order_seed = 7,
                                                 .path = (vyre_path)path,
                                                 .max_steps = 1000000};
                run_result r = run_program(devices[device], p, inputs, input_count, &options);
                CHECK_STATUS(r.status, VYRE_OK, &r.diag);
                for (uint32_t i = 0; i < count && r.status == VYRE_OK; i++) {
                    if (run_word(&r, 0, i) != want[i]) {
                        test_fail(__FILE__, __LINE__, "%s, order %d: word %u is %u, not %u\n%s",
                                  devices[device], order, i, run_word(&r, 0, i), want[i], text);
                        run_print_segments(p);
                        test_stop();
                    }
                }
                run_finish(&r);
            }
        }
    }
    vyre_program_release(p);
}
