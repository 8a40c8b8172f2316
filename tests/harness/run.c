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

/* Of backends that tests add; one for a process, which is one for a test. NULL: none. */
static vyre_registry *added;

void run_add(vyre_status (*add)(vyre_registry *registry, vyre_diag *diag)) {
    vyre_diag diag = {0};
    if (!added) {
        REQUIRE_OK(vyre_registry_create(NULL, &added), NULL);
    }
    REQUIRE_OK(add(added, &diag), &diag);
}

vyre_device *run_open(const char *uri, const vyre_allocator *a) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_open(added, uri, a, &device, &diag), &diag);
    return device;
}

vyre_device *run_open_backend(const vyre_backend *backend) {
    vyre_registry *registry = NULL;
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(vyre_registry_add(registry, backend, &diag), &diag);
    REQUIRE_OK(vyre_device_open(registry, backend->name, NULL, &device, &diag), &diag);
    vyre_registry_destroy(registry);
    return device;
}

vyre_device *run_open_added(vyre_status (*add)(vyre_registry *registry, vyre_diag *diag),
                            const char *uri) {
    vyre_registry *registry = NULL;
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(add(registry, &diag), &diag);
    REQUIRE_OK(vyre_device_open(registry, uri, NULL, &device, &diag), &diag);
    vyre_registry_destroy(registry);
    return device;
}

vyre_pipeline *run_compile(vyre_device *device, const char *text) {
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    vyre_program *program = run_parse(text);
    REQUIRE_OK(vyre_compile(device, program, NULL, &pipeline, &diag), &diag);
    vyre_program_release(program);
    return pipeline;
}

vyre_buffer *run_buffer(vyre_device *device, const uint32_t *words, uint32_t count) {
    vyre_buffer *buffer = NULL;
    REQUIRE_OK(vyre_buffer_create(device, 4 * (uint64_t)count, &buffer, NULL), NULL);
    if (words) {
        REQUIRE_OK(vyre_buffer_write(buffer, 0, words, 4 * (uint64_t)count, NULL), NULL);
    }
    return buffer;
}

uint32_t run_buffer_word(const vyre_buffer *buffer, uint32_t index) {
    uint32_t word = 0;
    REQUIRE_OK(vyre_buffer_read(buffer, 4 * (uint64_t)index, &word, 4, NULL), NULL);
    return word;
}

vyre_counters run_counters(const vyre_device *device) {
    vyre_counters counters;
    vyre_device_counters(device, &counters);
    return counters;
}

void run_every_fault(const char *inner, vyre_status (*use)(vyre_device *device, void *user),
                     void *user) {
    static const char *const ops[] = {"allocate", "write",   "read",   "copy",  "zero",
                                      "equal",    "compile", "launch", "finish"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        bool failed = true;
        uint32_t n = 0;
        while (failed) {
            char uri[80];
            n++;
            snprintf(uri, sizeof uri, "fault://%s?op=%s&n=%u&mode=%s", inner, ops[k], n,
                     n % 2 ? "once" : "lost");
            test_heap heap = {0};
            vyre_allocator a = test_heap_allocator(&heap);
            vyre_device *device = run_open(uri, &a);
            failed = use(device, user) != VYRE_OK;
            vyre_device_close(device);
            CHECK_EQ(heap.live_blocks, 0);
        }
        CHECK(n > 1);
    }
}

/* What run_program uses instead of a device of its own. */
static struct {
    char uri[128];
    vyre_device *device;
} kept;

void run_keep(const char *uri) {
    if (kept.device) {
        vyre_device_close(kept.device);
        kept.device = NULL;
    }
    if (uri) {
        (void)snprintf(kept.uri, sizeof kept.uri, "%s", uri);
        kept.device = run_open(uri, NULL);
    }
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
    const bool is_kept = kept.device && strcmp(kept.uri, device_name) == 0;
    vyre_device *device = is_kept ? kept.device : NULL;
    if (!is_kept) {
        result.status = vyre_device_open(added, device_name, NULL, &device, &result.diag);
    }
    if (result.status == VYRE_OK) {
        result.status = vyre_dispatch(device, program, inputs, input_count, result.outputs,
                                      result.output_count, options, &result.report, &result.diag);
    }
    if (device && !is_kept) {
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

void run_need(const char *device) {
    vyre_device *opened = NULL;
    vyre_diag diag = {0};
    const vyre_status status = vyre_device_open(NULL, device, NULL, &opened, &diag);
    vyre_device_close(opened);
    if (status != VYRE_OK) {
        test_skip(diag.message);
    }
}
