/* OpenCL devices, one segment at a time: memory, and what they say about themselves. The runtime
 * runs the schedule (launches ahead of what it knows), this backend enqueues. Kernels come lowered:
 * no subgroups, no elementary functions, traps as records in a buffer.
 *
 * On processors, whose drivers run the lanes of a group as a loop, a work-item is a group, and its
 * lanes are loops in the kernel: what is the same for all of them is done once, no driver has to
 * cut kernels at barriers, and groups may have as many lanes as the language allows.
 *
 * A device must compute f32 as IEEE 754 says, with subnormals and rounding to nearest; fma is exact
 * on all. Where quotients and roots are not, they go by way of f64; without that, programs that
 * need them are refused. 64-bit integers are always
 * there, f64 and atomics of 64 bits if the device has them. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "device/builtin.h"

/* A launch that is not its turn costs a processor some microseconds, and asking not much more. */
enum { LAUNCHES_AHEAD = 16, LAUNCHES_AHEAD_ON_PROCESSOR = 8 };

static cl_object object_of(vyre_memory memory) {
    return (cl_object)(uintptr_t)memory;
}

/* ---- opening ---- */

static bool has_extension(const opencl_device *device, const char *name) {
    char all[4096];
    opencl_text(&device->cl, device->id, CL_DEVICE_EXTENSIONS, all, sizeof all);
    return strstr(all, name) != NULL;
}

static void drop_types(vyre_capabilities *can, vyre_type type, bool atomics_only) {
    can->types &= atomics_only ? ~0u : ~(1u << type);
    can->buffer_atomics[type] = can->workgroup_atomics[type] = 0;
}

static vyre_status look(opencl_device *device, vyre_diag *diag) {
    const cl_api *cl = &device->cl;
    const uint64_t floats = opencl_number(cl, device->id, CL_DEVICE_SINGLE_FP_CONFIG, 8);
    const uint64_t needed = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
    char name[96];
    opencl_text(cl, device->id, CL_DEVICE_NAME, name, sizeof name);
    if ((floats & needed) != needed || !opencl_number(cl, device->id, CL_DEVICE_ENDIAN_LITTLE, 4) ||
        !opencl_number(cl, device->id, CL_DEVICE_COMPILER_AVAILABLE, 4)) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "use another device",
                         "the OpenCL device %s has no compiler, is big-endian, or does not compute "
                         "f32 exactly (subnormals)",
                         name);
    }
    device->divides_exactly = floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    device->is_processor = /* a simulator may be everything */
        opencl_number(cl, device->id, CL_DEVICE_TYPE, 8) == CL_DEVICE_TYPE_CPU;
    device->local_bytes = opencl_number(cl, device->id, CL_DEVICE_LOCAL_MEM_SIZE, 8);
    device->has_f64 = opencl_number(cl, device->id, CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0;
    device->has_u64_atomics = has_extension(device, "cl_khr_int64_base_atomics");
    vyre_status status = vyre_capabilities_named("opencl", &device->can, diag);
    device->can.checks_bounds = true; /* kernels do */
    if (!device->has_f64) {
        drop_types(&device->can, VYRE_F64, false);
    }
    if (!device->has_u64_atomics) {
        drop_types(&device->can, VYRE_U64, true);
        drop_types(&device->can, VYRE_I64, true);
        drop_types(&device->can, VYRE_F64, true);
    }
    return status;
}

static vyre_status start(opencl_device *device, vyre_diag *diag) {
    const cl_api *cl = &device->cl;
    int32_t code = 0;
    device->context = cl->CreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (!device->context) {
        return opencl_fail(diag, code, "make a context");
    }
    device->queue =
        cl->CreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    return device->queue ? VYRE_OK : opencl_fail(diag, code, "make a queue");
}

static void close_device(vyre_backend_device *object) {
    opencl_device *device = (opencl_device *)object;
    const vyre_allocator a = device->allocator;
    if (device->queue) {
        (void)device->cl.Finish(device->queue);
        opencl_commands_free(device);
        (void)device->cl.ReleaseCommandQueue(device->queue);
    }
    if (device->context) {
        (void)device->cl.ReleaseContext(device->context);
    }
    opencl_unload(&device->cl);
    vyre_store_finish(&device->store);
    (void)pthread_mutex_destroy(&device->lock);
    vyre_free(&a, device, 1, sizeof *device);
}

static vyre_status open_with(const vyre_backend *backend, const char *path,
                             const vyre_device_options *options, const vyre_allocator *allocator,
                             vyre_backend_device **out_device, vyre_diag *diag) {
    (void)backend;
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    if (options && options->threads > 1) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "leave out the number of threads",
                         "the driver of OpenCL decides how many threads work");
    }
    opencl_device *device = vyre_alloc_zeroed(&a, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    device->allocator = a;
    device->last = &device->first;
    device->unchecked = options && options->unchecked;
    vyre_status status =
        vyre_store_init(&device->store, options ? options->code_folder : NULL, &a, diag);
    if (status != VYRE_OK) {
        vyre_free(&a, device, 1, sizeof *device);
        return status;
    }
    (void)pthread_mutex_init(&device->lock, NULL);
    status = opencl_find(&device->cl, path, &device->id, diag);
    if (status == VYRE_OK) {
        status = look(device, diag);
    }
    if (status == VYRE_OK) {
        status = start(device, diag);
    }
    if (status == VYRE_OK) {
        *out_device = (vyre_backend_device *)device;
    } else {
        close_device((vyre_backend_device *)device);
    }
    return status;
}

static vyre_status open_device(const vyre_backend *backend, const char *path,
                               const vyre_allocator *allocator, vyre_backend_device **out_device,
                               vyre_diag *diag) {
    return open_with(backend, path, NULL, allocator, out_device, diag);
}

static uint32_t count_devices(const vyre_backend *backend) {
    (void)backend;
    return opencl_count();
}

static uint32_t at_most(uint64_t value, uint32_t limit) {
    return value < limit ? (uint32_t)value : limit;
}

static void describe(vyre_backend_device *object, vyre_device_info *out_info) {
    const opencl_device *device = (const opencl_device *)object;
    const cl_api *cl = &device->cl;
    const uint64_t lanes = device->is_processor /* its kernels run them */
                               ? VYRE_LIMIT_GROUP_LANES
                               : opencl_number(cl, device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 8);
    *out_info = (vyre_device_info){
        .level = VYRE_LEVEL_SEGMENT,
        .allows_split = true,
        .launches_ahead = device->is_processor ? LAUNCHES_AHEAD_ON_PROCESSOR : LAUNCHES_AHEAD,
        /* A driver that runs the lanes of a group as a loop, as those of processors do, would
         * otherwise walk through memory with large strides. */
        .turns_loops = device->is_processor,
        .trips_together = device->is_processor, /* kernels do */
        .has_f64 = device->has_f64,
        .has_u64_atomics = device->has_u64_atomics,
        .has_float_atomics = true,
        .has_subgroups = true,
        .has_async_copy = true,
        .can = &device->can,
        .reports_device_time = true,
        .max_group_lanes = at_most(lanes, VYRE_LIMIT_GROUP_LANES),
        .max_workgroup_bytes = device->local_bytes,
        .max_buffer_bytes = opencl_number(cl, device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8),
        .memory_bytes = opencl_number(cl, device->id, CL_DEVICE_GLOBAL_MEM_SIZE, 8),
        .code_folder = device->store.folder,
        .compute_units = (uint32_t)opencl_number(cl, device->id, CL_DEVICE_MAX_COMPUTE_UNITS, 4),
    };
    size_t group[3] = {0};
    (void)cl->GetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof group, group, NULL);
    for (int axis = 0; axis < 3; axis++) {
        out_info->max_group[axis] =
            device->is_processor ? 0 : at_most(group[axis], VYRE_LIMIT_GROUP_LANES);
    }
    opencl_text(cl, device->id, CL_DEVICE_NAME, out_info->name, sizeof out_info->name);
    opencl_text(cl, device->id, CL_DRIVER_VERSION, out_info->version, sizeof out_info->version);
}

/* ---- memory ---- */

static vyre_status zero(vyre_backend_device *object, vyre_memory memory, uint64_t offset,
                        uint64_t size, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    const uint64_t nothing = 0;
    const size_t unit = (offset | size) % 8 == 0 ? 8 : 1;
    const int32_t code = device->cl.EnqueueFillBuffer(device->queue, object_of(memory), &nothing,
                                                      unit, offset, size, 0, NULL, NULL);
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "fill memory");
}

static vyre_status free_memory(vyre_backend_device *object, vyre_memory memory, vyre_diag *diag) {
    const int32_t code = ((opencl_device *)object)->cl.ReleaseMemObject(object_of(memory));
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "free memory");
}

static vyre_status allocate(vyre_backend_device *object, uint64_t size, vyre_memory *out_memory,
                            vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    int32_t code = 0;
    char what[64];
    cl_object memory =
        device->cl.CreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (!memory) {
        (void)snprintf(what, sizeof what, "allocate %llu bytes", (unsigned long long)size);
        return opencl_fail(diag, code, what);
    }
    *out_memory = (vyre_memory)(uintptr_t)memory;
    vyre_status status = zero(object, *out_memory, 0, size, diag);
    if (status != VYRE_OK) {
        (void)free_memory(object, *out_memory, NULL);
        *out_memory = 0;
    }
    return status;
}

static vyre_status write_memory(vyre_backend_device *object, vyre_memory memory, uint64_t offset,
                                const void *data, uint64_t size, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    const int32_t code = device->cl.EnqueueWriteBuffer(device->queue, object_of(memory), 1, offset,
                                                       size, data, 0, NULL, NULL);
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "write memory");
}

/* All are under way before the first is waited for. */
static vyre_status write_many(vyre_backend_device *object, const vyre_memory_write *writes,
                              uint32_t count, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    int32_t code = 0;
    for (uint32_t i = 0; i < count && code == 0; i++) {
        const vyre_memory_write *w = &writes[i];
        code = device->cl.EnqueueWriteBuffer(device->queue, object_of(w->memory), 0, w->offset,
                                             w->size, w->data, 0, NULL, NULL);
    }
    const int32_t waited = device->cl.Finish(device->queue); /* also behind a failure */
    code = code != 0 ? code : waited;
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "write memory");
}

static vyre_status read_memory(vyre_backend_device *object, vyre_memory memory, uint64_t offset,
                               void *data, uint64_t size, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    const int32_t code = device->cl.EnqueueReadBuffer(device->queue, object_of(memory), 1, offset,
                                                      size, data, 0, NULL, NULL);
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "read memory");
}

static vyre_status copy(vyre_backend_device *object, vyre_memory to, uint64_t to_offset,
                        vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    const int32_t code = device->cl.EnqueueCopyBuffer(device->queue, object_of(from), object_of(to),
                                                      from_offset, to_offset, size, 0, NULL, NULL);
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "copy memory");
}

static const vyre_device_table table = {
    .close = close_device,
    .describe = describe,
    .allocate = allocate,
    .free = free_memory,
    .write = write_memory,
    .write_many = write_many,
    .read = read_memory,
    .copy = copy,
    .zero = zero,
    .compile = opencl_compile,
    .compile_many = opencl_compile_many,
    .destroy = opencl_destroy,
    .origin = opencl_origin,
    .launch = opencl_launch,
    .finish = opencl_finish,
    .fetch = opencl_fetch,
    .await = opencl_await,
};

const vyre_backend vyre_backend_opencl = {
    .name = "opencl",
    .description = "OpenCL 1.2: a kernel for each segment, through the system's loader",
    .rank = 500,
    .by_name_only = true,
    .device = &table,
    .open = open_device,
    .open_with = open_with,
    .count = count_devices,
};
