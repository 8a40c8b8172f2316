/* A device that takes only bytes of the host keeps nothing between launches. Here its buffers live
 * in memory of the host, and each launch gets those that its program declares, whichever segment
 * left them: so the rest of the runtime, splitting and resident buffers included, sees a device
 * with memory. What the inner device does otherwise is forwarded. */
#include "device/bytes.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "kit/host_memory.h"

typedef struct bytes_device {
    vyre_host_device host; /* first: its entries are those of memory */
    vyre_device_table table;
    const vyre_device_table *inner;
    vyre_backend_device *object;
} bytes_device;

typedef struct bytes_kernel {
    vyre_backend_kernel *inner;
    const vyre_program *program; /* the runtime's, while the kernel lives */
    void **bytes;                /* of each declaration, in this launch */
    uint64_t *sizes;
} bytes_kernel;

static bytes_device *of(vyre_backend_device *device) {
    return (bytes_device *)device;
}

static void bytes_close(vyre_backend_device *device) {
    bytes_device *b = of(device);
    const vyre_allocator a = b->host.allocator;
    b->inner->close(b->object);
    vyre_free(&a, b, 1, sizeof *b);
}

static void bytes_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    of(device)->inner->describe(of(device)->object, out_info);
    vyre_host_describe(&of(device)->host, out_info);
}

static void bytes_destroy(vyre_backend_device *device, vyre_backend_kernel *kernel) {
    bytes_device *b = of(device);
    bytes_kernel *k = (bytes_kernel *)kernel;
    const uint32_t count = vyre_program_get(k->program)->decl_count;
    if (k->inner) {
        b->inner->destroy(b->object, k->inner);
    }
    vyre_free(&b->host.allocator, k->bytes, count, sizeof *k->bytes);
    vyre_free(&b->host.allocator, k->sizes, count, sizeof *k->sizes);
    vyre_free(&b->host.allocator, k, 1, sizeof *k);
}

static vyre_status bytes_compile(vyre_backend_device *device, const vyre_program *program,
                                 vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    bytes_device *b = of(device);
    const vyre_allocator *a = &b->host.allocator;
    const uint32_t count = vyre_program_get(program)->decl_count;
    bytes_kernel *k = vyre_alloc_zeroed(a, 1, sizeof *k);
    if (!k) {
        return vyre_fail_memory(diag, "a kernel");
    }
    k->program = program;
    k->bytes = vyre_alloc_zeroed(a, count, sizeof *k->bytes);
    k->sizes = vyre_alloc_zeroed(a, count, sizeof *k->sizes);
    vyre_status status = k->bytes && k->sizes
                             ? b->inner->compile(b->object, program, &k->inner, diag)
                             : vyre_fail_memory(diag, "a kernel");
    if (status != VYRE_OK) {
        bytes_destroy(device, (vyre_backend_kernel *)k);
        return status;
    }
    *out_kernel = (vyre_backend_kernel *)k;
    return VYRE_OK;
}

static vyre_status bytes_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                const vyre_launch *launch, vyre_launch_result *out_result,
                                vyre_diag *diag) {
    const bytes_device *b = of(device);
    const bytes_kernel *k = (const bytes_kernel *)kernel;
    const vyre_program_view *p = vyre_program_get(k->program);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        const vyre_memory memory = launch->memory[d];
        k->bytes[d] = memory ? vyre_host_bytes(memory) : NULL;
        k->sizes[d] =
            memory ? launch->counts[d] * (uint64_t)vyre_type_size((vyre_type)p->decls[d].type) : 0;
    }
    const vyre_bytes_launch one = {.launch = launch, .bytes = k->bytes, .sizes = k->sizes};
    return b->inner->launch_bytes(b->object, k->inner, &one, out_result, diag);
}

static void bytes_origin(vyre_backend_device *device, const vyre_backend_kernel *kernel,
                         vyre_code_origin *out_origin) {
    const bytes_device *b = of(device);
    b->inner->origin(b->object, ((const bytes_kernel *)kernel)->inner, out_origin);
}

static vyre_status bytes_prepare(vyre_backend_device *device, vyre_diag *diag) {
    return of(device)->inner->prepare(of(device)->object, diag);
}

static vyre_status bytes_flush(vyre_backend_device *device, vyre_diag *diag) {
    return of(device)->inner->flush(of(device)->object, diag);
}

static vyre_status bytes_shutdown(vyre_backend_device *device, vyre_diag *diag) {
    return of(device)->inner->shutdown(of(device)->object, diag);
}

static void bytes_metrics(vyre_backend_device *device, vyre_metric_fn tell, void *user) {
    const bytes_device *b = of(device);
    vyre_host_metrics(device, tell, user);
    if (b->inner->metrics) {
        b->inner->metrics(b->object, tell, user);
    }
}

vyre_status vyre_bytes_wrap(const vyre_allocator *allocator, const vyre_device_table **table,
                            vyre_backend_device **object, vyre_diag *diag) {
    bytes_device *b = vyre_alloc_zeroed(allocator, 1, sizeof *b);
    if (!b) {
        return vyre_fail_memory(diag, "a device");
    }
    const vyre_device_table *inner = *table;
    b->host.allocator = *allocator;
    b->inner = inner;
    b->object = *object;
    b->table = (vyre_device_table){
        VYRE_HOST_MEMORY_ENTRIES,
        .close = bytes_close,
        .describe = bytes_describe,
        .compile = bytes_compile,
        .destroy = bytes_destroy,
        .launch = bytes_launch,
        .origin = inner->origin ? bytes_origin : NULL,
        .prepare = inner->prepare ? bytes_prepare : NULL,
        .flush = inner->flush ? bytes_flush : NULL,
        .shutdown = inner->shutdown ? bytes_shutdown : NULL,
    };
    b->table.metrics = bytes_metrics;
    *table = &b->table;
    *object = (vyre_backend_device *)b;
    return VYRE_OK;
}
