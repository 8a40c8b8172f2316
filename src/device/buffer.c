/* Memory on devices, by handles. The backend does the work; here are the checks that every backend
 * would need: ranges, overlaps, foreign buffers. Transfers count as traffic of the device. */
#include "base/checked.h"
#include "base/diag.h"
#include "device/call.h"

vyre_status vyre_buffer_make(vyre_device *device, uint64_t size, const char *name,
                             vyre_trace *trace, vyre_buffer **out_buffer, vyre_diag *diag) {
    vyre_buffer *buffer = vyre_alloc_zeroed(&device->allocator, 1, sizeof *buffer);
    if (!buffer) {
        return vyre_fail_memory(diag, "a buffer");
    }
    buffer->device = device;
    buffer->size = size;
    buffer->is_zero = true;
    vyre_call call = {.device = device, .trace = trace, .name = name};
    vyre_status status = vyre_call_new_memory(&call, size, &buffer->memory, diag);
    if (status != VYRE_OK) {
        vyre_free(&device->allocator, buffer, 1, sizeof *buffer);
        return status;
    }
    atomic_fetch_add(&device->live, 1);
    *out_buffer = buffer;
    return VYRE_OK;
}

vyre_status vyre_buffer_create(vyre_device *device, uint64_t size, vyre_buffer **out_buffer,
                               vyre_diag *diag) {
    if (!device || !out_buffer) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a device and a place for the buffer",
                         "device or out_buffer is NULL");
    }
    return vyre_buffer_make(device, size, "a buffer", NULL, out_buffer, diag);
}

void vyre_buffer_destroy(vyre_buffer *buffer) {
    if (buffer) {
        vyre_device *device = buffer->device;
        vyre_device_free(device, buffer->memory);
        atomic_fetch_sub(&device->live, 1);
        vyre_free(&device->allocator, buffer, 1, sizeof *buffer);
    }
}

uint64_t vyre_buffer_size(const vyre_buffer *buffer) {
    return buffer->size;
}

static vyre_status check_range(const vyre_buffer *buffer, uint64_t offset, uint64_t size,
                               vyre_diag *diag) {
    uint64_t end;
    if (!buffer) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a buffer", "the buffer is NULL");
    }
    if (!vyre_add_u64(offset, size, &end) || end > buffer->size) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "keep offset + size within the buffer",
                         "%llu bytes at offset %llu do not lie inside a buffer of %llu bytes",
                         (unsigned long long)size, (unsigned long long)offset,
                         (unsigned long long)buffer->size);
    }
    return VYRE_OK;
}

static vyre_status check_transfer(const vyre_buffer *buffer, uint64_t offset, const void *data,
                                  uint64_t size, vyre_diag *diag) {
    vyre_status status = check_range(buffer, offset, size, diag);
    if (status == VYRE_OK && size && !data) {
        status =
            vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give the address of the bytes", "data is NULL");
    }
    return status;
}

/* The ranges of both kinds of batches, checked before anything moves. */
static vyre_status move_in(const vyre_write_range *r, vyre_diag *diag) {
    vyre_device *device = r->buffer->device;
    vyre_call call = {.device = device};
    r->buffer->is_zero = false;
    vyre_status status =
        vyre_call_write(&call, r->buffer->memory, r->offset, r->data, r->size, diag);
    vyre_count(&device->counters, VYRE_COUNT_input_bytes, status == VYRE_OK ? r->size : 0);
    return status;
}

static vyre_status move_out(const vyre_read_range *r, vyre_diag *diag) {
    vyre_device *device = r->buffer->device;
    vyre_call call = {.device = device};
    vyre_status status =
        vyre_call_read(&call, r->buffer->memory, r->offset, r->data, r->size, diag);
    vyre_count(&device->counters, VYRE_COUNT_output_bytes, status == VYRE_OK ? r->size : 0);
    return status;
}

static vyre_status no_ranges(vyre_diag *diag) {
    return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give the ranges", "ranges is NULL");
}

vyre_status vyre_buffer_write_many(const vyre_write_range *ranges, uint32_t count,
                                   vyre_diag *diag) {
    vyre_status status = !ranges && count ? no_ranges(diag) : VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        const vyre_write_range *r = &ranges[i];
        status = check_transfer(r->buffer, r->offset, r->data, r->size, diag);
    }
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = ranges[i].size ? move_in(&ranges[i], diag) : VYRE_OK;
    }
    return status;
}

vyre_status vyre_buffer_check_reads(const vyre_read_range *ranges, uint32_t count,
                                    vyre_diag *diag) {
    vyre_status status = !ranges && count ? no_ranges(diag) : VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        const vyre_read_range *r = &ranges[i];
        status = check_transfer(r->buffer, r->offset, r->data, r->size, diag);
    }
    return status;
}

vyre_status vyre_buffer_read_many(const vyre_read_range *ranges, uint32_t count, vyre_diag *diag) {
    vyre_status status = vyre_buffer_check_reads(ranges, count, diag);
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = ranges[i].size ? move_out(&ranges[i], diag) : VYRE_OK;
    }
    return status;
}

vyre_status vyre_buffer_write(vyre_buffer *buffer, uint64_t offset, const void *data, uint64_t size,
                              vyre_diag *diag) {
    return vyre_buffer_write_many(&(vyre_write_range){buffer, offset, data, size}, 1, diag);
}

vyre_status vyre_buffer_read(const vyre_buffer *buffer, uint64_t offset, void *data, uint64_t size,
                             vyre_diag *diag) {
    return vyre_buffer_read_many(&(vyre_read_range){buffer, offset, data, size}, 1, diag);
}

vyre_status vyre_buffer_copy(vyre_buffer *to, uint64_t to_offset, const vyre_buffer *from,
                             uint64_t from_offset, uint64_t size, vyre_diag *diag) {
    vyre_status status = check_range(to, to_offset, size, diag);
    if (status == VYRE_OK) {
        status = check_range(from, from_offset, size, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    if (to->device != from->device) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "read the bytes from one device and write them to the other",
                         "the two buffers belong to different devices");
    }
    uint64_t apart = to_offset > from_offset ? to_offset - from_offset : from_offset - to_offset;
    if (to == from && apart < size) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "copy through another buffer",
                         "the two ranges overlap");
    }
    if (size == 0) {
        return VYRE_OK;
    }
    vyre_call call = {.device = to->device};
    to->is_zero = to->is_zero && from->is_zero;
    return vyre_call_copy(&call, to->memory, to_offset, from->memory, from_offset, size, diag);
}

vyre_status vyre_buffer_zero(vyre_buffer *buffer, uint64_t offset, uint64_t size, vyre_diag *diag) {
    vyre_status status = check_range(buffer, offset, size, diag);
    if (status != VYRE_OK || size == 0 || buffer->is_zero) {
        return status;
    }
    vyre_call call = {.device = buffer->device};
    return vyre_call_zero(&call, buffer->memory, offset, size, diag);
}
