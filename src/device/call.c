/* One function per entry of a backend, made from the list of entries. */
#include "device/call.h"

#include "base/clock.h"
#include "base/diag.h"

/* What spans of an entry are called. */
#define SPAN_allocate       "alloc"
#define SPAN_write          "upload"
#define SPAN_read           "download"
#define SPAN_copy           "copy"
#define SPAN_zero           "zero"
#define SPAN_equal          "compare"
#define SPAN_compile        "compile"
#define SPAN_compile_many   "compile"
#define SPAN_launch         "launch"
#define SPAN_finish         "wait"
#define SPAN_fetch          "fetch"
#define SPAN_await          "await"
#define SPAN_compile_module "compile"
#define SPAN_run_module     "launch"
#define SPAN_free           "free"
#define SPAN_write_many     "upload"
#define SPAN_adopt          "adopt"
#define SPAN_disown         "free"
#define SPAN_prepare        "prepare"
#define SPAN_flush          "flush"
#define SPAN_shutdown       "shutdown"
#define SPAN_launch_bytes   "launch"

vyre_status vyre_device_check_process(const vyre_device *device, vyre_diag *diag) {
    if (!vyre_process_was_forked(&device->process)) {
        return VYRE_OK;
    }
    return vyre_fail(diag, VYRE_DEVICE_LOST, "open a device in this process",
                     "the %s device belongs to the process that opened it, and this is a child",
                     device->info.backend);
}

static vyre_status fail_lost(const vyre_device *device, vyre_diag *diag) {
    if (vyre_device_check_process(device, diag) != VYRE_OK) {
        return VYRE_DEVICE_LOST;
    }
    return vyre_fail(diag, VYRE_DEVICE_LOST, "reopen the device, or open it anew",
                     "the %s device was lost", device->info.backend);
}

/* Of a call that somebody wants to know about. */
static void note(const vyre_call *call, const char *category, uint64_t begun) {
    const uint64_t now = vyre_clock_now();
    if (call->elapsed) {
        *call->elapsed += now - begun;
    }
    if (call->trace) {
        vyre_span span = {.category = category,
                          .name = call->name,
                          .begin = begun,
                          .end = now,
                          .bytes = call->bytes,
                          .segment = call->segment,
                          .segment_count = call->segment_count};
        vyre_trace_add(call->trace, &span);
    }
}

static vyre_status end(vyre_device *device, vyre_status status) {
    if (status == VYRE_DEVICE_LOST) {
        atomic_store(&device->is_lost, true);
    }
    return status;
}

/* So that calls of which nobody wants to know do not pay for it. */
#define NOT_HERE    __attribute__((noinline))
#define UNPACK(...) __VA_ARGS__
#define CALL(name, arguments, ...)                                                                 \
    static NOT_HERE vyre_status noted_##name(const vyre_call *call, __VA_ARGS__) {                 \
        const uint64_t begun = vyre_clock_now();                                                   \
        vyre_status status = call->device->table->name(call->device->object, UNPACK arguments);    \
        note(call, SPAN_##name, begun);                                                            \
        return end(call->device, status);                                                          \
    }                                                                                              \
    vyre_status vyre_call_##name(const vyre_call *call, __VA_ARGS__) {                             \
        vyre_device *device = call->device;                                                        \
        if (vyre_device_is_lost(device)) {                                                         \
            return fail_lost(device, diag);                                                        \
        }                                                                                          \
        return !device->table->name ? VYRE_OK                                                      \
               : call->trace || call->elapsed                                                      \
                   ? noted_##name(call, UNPACK arguments)                                          \
                   : end(device, device->table->name(device->object, UNPACK arguments));           \
    }
VYRE_DEVICE_ENTRIES(CALL, VYRE_CALL_NOT)

vyre_status vyre_call_collect(const vyre_call *call, uint64_t pass, uint64_t queued,
                              vyre_launch_results *results, vyre_diag *diag) {
    vyre_status status = vyre_call_finish(call, pass, results, diag);
    if (status == VYRE_OK && results->launches != queued) {
        return vyre_fail(diag, VYRE_INTERNAL, "please report this program and device",
                         "%s told of %llu of %llu launches that it had queued",
                         call->device->info.backend, (unsigned long long)results->launches,
                         (unsigned long long)queued);
    }
    return status;
}

vyre_status vyre_call_new_memory(const vyre_call *call, uint64_t size, vyre_memory *out_memory,
                                 vyre_diag *diag) {
    if (size == 0) {
        *out_memory = 0;
        return VYRE_OK;
    }
    const vyre_device_info *info = &call->device->info;
    uint64_t most = info->max_buffer_bytes;
    if (most && size > most) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller problem or another device",
                         "%s needs %llu bytes, and a buffer of %s has at most %llu", call->name,
                         (unsigned long long)size, info->backend, (unsigned long long)most);
    }
    vyre_call sized = *call;
    sized.bytes = size;
    vyre_status status = vyre_call_allocate(&sized, size, out_memory, diag);
    if (status == VYRE_OUT_OF_MEMORY) {
        return vyre_fail(diag, status, "use a smaller problem or a device with more memory",
                         "out of memory on %s for %s of %llu bytes", info->backend, call->name,
                         (unsigned long long)size);
    }
    return status;
}

void vyre_call_count_code(const vyre_call *call, const vyre_backend_kernel *kernel) {
    vyre_device *device = call->device;
    vyre_code_origin origin = VYRE_CODE_UNKNOWN;
    if (device->table->origin) {
        device->table->origin(device->object, kernel, &origin);
    }
    vyre_count(&device->counters, VYRE_COUNT_code_compiled, origin == VYRE_CODE_COMPILED);
    vyre_count(&device->counters, VYRE_COUNT_code_from_disk, origin == VYRE_CODE_FROM_DISK);
    vyre_count(&device->counters, VYRE_COUNT_code_from_memory, origin == VYRE_CODE_FROM_MEMORY);
}

vyre_status vyre_device_give_back(vyre_device *device, vyre_memory memory, bool is_adopted,
                                  vyre_diag *diag) {
    const vyre_call call = {.device = device};
    if (!memory || vyre_process_was_forked(&device->process)) {
        return VYRE_OK;
    }
    if (vyre_device_is_lost(device)) { /* it holds what it holds; nobody is to be told */
        (void)(is_adopted ? device->table->disown : device->table->free)(device->object, memory,
                                                                         NULL);
        return VYRE_OK;
    }
    vyre_status status =
        is_adopted ? vyre_call_disown(&call, memory, diag) : vyre_call_free(&call, memory, diag);
    vyre_count(&device->counters, VYRE_COUNT_failed_frees, status != VYRE_OK);
    return status;
}

void vyre_device_free(vyre_device *device, vyre_memory memory) {
    vyre_diag diag = {0};
    vyre_status status = vyre_device_give_back(device, memory, false, &diag);
    if (status != VYRE_OK) {
        pthread_mutex_lock(&device->lock);
        if (device->late == VYRE_OK) {
            device->late = status;
            device->late_diag = diag;
        }
        pthread_mutex_unlock(&device->lock);
    }
}

void vyre_device_destroy(vyre_device *device, vyre_backend_kernel *kernel) {
    if (kernel && !vyre_process_was_forked(&device->process)) {
        device->table->destroy(device->object, kernel);
    }
}
