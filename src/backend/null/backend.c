/* The null backend: everything that a backend needs and nothing that computes. Memory is the
 * host's, a kernel knows how often it was launched, a launch changes nothing. Copy it to write a
 * backend (docs/backend-guide.md); measure with it what the runtime itself costs. */
#include "base/alloc.h"
#include "base/diag.h"
#include "device/builtin.h"
#include "kit/host_memory.h"

typedef struct null_device {
    vyre_host_device host;
} null_device;

typedef struct null_kernel {
    uint64_t launches;
} null_kernel;

static vyre_status null_open(const vyre_backend *backend, const char *path,
                             const vyre_allocator *allocator, vyre_backend_device **out_device,
                             vyre_diag *diag) {
    if (*path) {
        return vyre_fail(diag, VYRE_NOT_FOUND, "open it by its name alone",
                         "there is only one %s device, and no \"%s\"", backend->name, path);
    }
    null_device *device = vyre_alloc_zeroed(allocator, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    device->host.allocator = *allocator;
    *out_device = (vyre_backend_device *)device;
    return VYRE_OK;
}

static void null_close(vyre_backend_device *object) {
    null_device *device = (null_device *)object;
    vyre_allocator a = device->host.allocator;
    vyre_free(&a, device, 1, sizeof *device);
}

static void null_describe(vyre_backend_device *object, vyre_device_info *out_info) {
    *out_info = (vyre_device_info){
        .name = "nothing",
        .version = VYRE_VERSION_STRING,
        .level = VYRE_LEVEL_SEGMENT,
        .allows_split = true,
        .is_dummy = true,
        .has_f64 = true,
        .has_u64_atomics = true,
        .has_float_atomics = true,
        .has_subgroups = true,
        .has_async_copy = true,
    };
    vyre_host_describe(&((const null_device *)object)->host, out_info);
}

static vyre_status null_compile(vyre_backend_device *object, const vyre_program *program,
                                vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    (void)program;
    null_device *device = (null_device *)object;
    null_kernel *kernel = vyre_alloc_zeroed(&device->host.allocator, 1, sizeof *kernel);
    if (!kernel) {
        return vyre_fail_memory(diag, "a kernel");
    }
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

static void null_destroy(vyre_backend_device *object, vyre_backend_kernel *kernel) {
    null_device *device = (null_device *)object;
    vyre_free(&device->host.allocator, kernel, 1, sizeof(null_kernel));
}

static vyre_status null_launch(vyre_backend_device *object, vyre_backend_kernel *kernel,
                               const vyre_launch *launch, vyre_launch_result *out_result,
                               vyre_diag *diag) {
    (void)object, (void)launch, (void)out_result, (void)diag;
    ((null_kernel *)kernel)->launches++;
    return VYRE_OK;
}

/* `launch` has come to its end when it returns: there is nothing to wait for, so no `finish`, and
 * `launches_ahead` stays 0. The device takes segments: no `compile_module`, no `run_module`. */
static const vyre_device_table null_table = {
    VYRE_HOST_MEMORY_ENTRIES, .close = null_close,     .describe = null_describe,
    .compile = null_compile,  .destroy = null_destroy, .launch = null_launch,
};

const vyre_backend vyre_backend_null = {
    .name = "null",
    .description = "does nothing: to copy, and to measure with",
    .rank = 1000,
    .device = &null_table,
    .open = null_open,
};
