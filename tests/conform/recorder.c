/* The table of "ref" with a few entries that count before they pass the call on. Kernels and
 * memory are those of "ref"; a short list remembers which kernel has a grid barrier. */
#include "conform/recorder.h"

#include "device/registry.h"

recorder recorder_log;

enum { MOST_KERNELS = 512 };
static struct {
    const vyre_backend_kernel *kernel;
    const vyre_program *program;
} kernels[MOST_KERNELS];

static const vyre_device_table *ref(void) {
    return vyre_registry_find(NULL, "ref", 3)->device;
}

static void record_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    (void)device;
    *out_info = recorder_log.info;
}

static vyre_status record_allocate(vyre_backend_device *device, uint64_t size,
                                   vyre_memory *out_memory, vyre_diag *diag) {
    recorder_log.allocated++;
    return ref()->allocate(device, size, out_memory, diag);
}

static vyre_status record_free(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    recorder_log.freed++;
    return ref()->free(device, memory, diag);
}

static vyre_status record_write(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                                const void *data, uint64_t size, vyre_diag *diag) {
    recorder_log.writes++;
    recorder_log.bytes_written += size;
    recorder_log.last_memory = memory;
    recorder_log.last_offset = offset;
    recorder_log.last_size = size;
    return ref()->write(device, memory, offset, data, size, diag);
}

static vyre_status record_read(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                               void *data, uint64_t size, vyre_diag *diag) {
    recorder_log.reads++;
    recorder_log.bytes_read += size;
    return ref()->read(device, memory, offset, data, size, diag);
}

static vyre_status record_compile(vyre_backend_device *device, const vyre_program *program,
                                  vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    vyre_status status = ref()->compile(device, program, out_kernel, diag);
    if (status == VYRE_OK) {
        REQUIRE(recorder_log.compiled < MOST_KERNELS);
        kernels[recorder_log.compiled].kernel = *out_kernel;
        kernels[recorder_log.compiled++].program = program;
    }
    return status;
}

static void record_destroy(vyre_backend_device *device, vyre_backend_kernel *kernel) {
    recorder_log.destroyed++;
    ref()->destroy(device, kernel);
}

static const vyre_program *program_of(const vyre_backend_kernel *kernel) {
    uint32_t i = recorder_log.compiled;
    while (i > 0 && kernels[i - 1].kernel != kernel) { /* the latest: addresses are reused */
        i--;
    }
    REQUIRE(i > 0);
    return kernels[i - 1].program;
}

static vyre_status record_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                 const vyre_launch *l, vyre_launch_result *out_result,
                                 vyre_diag *diag) {
    const vyre_program *program = program_of(kernel);
    const vyre_program_view *view = vyre_program_get(program);
    recorded_launch spare;
    uint32_t number = recorder_log.launch_count++;
    recorded_launch *record = number < RECORDER_LAUNCHES ? &recorder_log.launches[number] : &spare;
    *record = (recorded_launch){.waits = vyre_contains_grid_sync(program),
                                .grid = {l->grid[0], l->grid[1], l->grid[2]},
                                .deadline_ns = l->deadline_ns};
    for (uint32_t d = 0; d < view->decl_count; d++) {
        if (l->memory[d]) {
            REQUIRE(record->memory_count < RECORDER_BUFFERS);
            record->memory[record->memory_count++] = l->memory[d];
        }
    }
    if (recorder_log.on_launch) {
        recorder_log.on_launch();
    }
    vyre_status status = ref()->launch(device, kernel, l, out_result, diag);
    out_result->device_ns = recorder_log.device_ns;
    out_result->is_timed = true;
    return status;
}

vyre_registry *recorder_registry(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    table = *ref();
    table.describe = record_describe;
    table.allocate = record_allocate;
    table.free = record_free;
    table.write = record_write;
    table.read = record_read;
    table.compile = record_compile;
    table.destroy = record_destroy;
    table.launch = record_launch;
    backend = *vyre_registry_find(NULL, "ref", 3);
    backend.name = "recorder";
    backend.device = &table;
    vyre_registry *registry = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(vyre_registry_add(registry, &backend, &diag), &diag);
    return registry;
}

vyre_device *recorder_open(vyre_level level) {
    vyre_registry *registry = recorder_registry();
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    recorder_log = (recorder){.info = {.name = "recorder", .allows_split = true, .has_f64 = true}};
    recorder_log.info.level = level;
    REQUIRE_OK(vyre_device_open(registry, "recorder", NULL, &device, &diag), &diag);
    vyre_registry_destroy(registry);
    return device;
}

vyre_dispatch_report recorder_run(vyre_device *device, const char *text, const vyre_input *inputs,
                                  uint32_t input_count, const vyre_dispatch_options *options,
                                  vyre_output *outputs, uint32_t output_count, vyre_status want) {
    vyre_program *p = run_parse(text);
    vyre_dispatch_options all = options ? *options : (vyre_dispatch_options){0};
    all.no_optimize = true;
    vyre_dispatch_report report = {0};
    vyre_diag diag = {0};
    CHECK_STATUS(
        vyre_dispatch(device, p, inputs, input_count, outputs, output_count, &all, &report, &diag),
        want, &diag);
    vyre_program_release(p);
    return report;
}
