/* Memory on devices, by handles. The backend does the work; here are the checks that every backend
 * would need: ranges, overlaps, foreign buffers. Transfers count as traffic of the device. */
#include "base/checked.h"
#include "base/diag.h"
#include "device/call.h"

static void lose(vyre_member *member) {
    vyre_buffer *buffer = (vyre_buffer *)member;
    (void)vyre_device_give_back(buffer->device, buffer->memory, buffer->is_wrapped, NULL);
    buffer->memory = 0;
}

/* Without memory yet. */
static vyre_buffer *new_buffer(vyre_device *device, uint64_t size) {
    vyre_buffer *buffer = vyre_alloc_zeroed(&device->allocator, 1, sizeof *buffer);
    if (buffer) {
        buffer->member.lose = lose;
        buffer->device = device;
        buffer->size = size;
    }
    return buffer;
}

/* Of what became of giving it memory. */
static vyre_status end_buffer(vyre_buffer *buffer, vyre_status status, vyre_buffer **out_buffer) {
    if (status != VYRE_OK) {
        vyre_free(&buffer->device->allocator, buffer, 1, sizeof *buffer);
        return status;
    }
    vyre_device_join(buffer->device, &buffer->member);
    *out_buffer = buffer;
    return VYRE_OK;
}

vyre_status vyre_buffer_make(vyre_device *device, uint64_t size, const char *name,
                             vyre_trace *trace, vyre_buffer **out_buffer, vyre_diag *diag) {
    vyre_buffer *buffer = new_buffer(device, size);
    if (!buffer) {
        return vyre_fail_memory(diag, "a buffer");
    }
    buffer->is_zero = true;
    vyre_call call = {.device = device, .trace = trace, .name = name};
    return end_buffer(buffer, vyre_call_new_memory(&call, size, &buffer->memory, diag), out_buffer);
}

vyre_status vyre_buffer_wrap(vyre_device *device, void *bytes, uint64_t size, uint64_t capacity,
                             vyre_buffer **out_buffer, vyre_diag *diag) {
    if (!device || !out_buffer || (!bytes && size) || capacity < size) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a device, at least as many bytes as are used, and a place for the "
                         "buffer",
                         "an argument of vyre_buffer_wrap is NULL, or capacity is below size");
    }
    if (!device->info.wraps_memory) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "copy it into a buffer of the device",
                         "%s can't use memory of the host where it is", device->info.backend);
    }
    vyre_buffer *buffer = new_buffer(device, size);
    if (!buffer) {
        return vyre_fail_memory(diag, "a buffer");
    }
    buffer->is_wrapped = true;
    const vyre_call call = {.device = device, .bytes = size};
    vyre_status status =
        size ? vyre_call_adopt(&call, bytes, size, capacity, &buffer->memory, diag) : VYRE_OK;
    return end_buffer(buffer, status, out_buffer);
}

vyre_status vyre_buffer_create(vyre_device *device, uint64_t size, vyre_buffer **out_buffer,
                               vyre_diag *diag) {
    if (!device || !out_buffer) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a device and a place for the buffer",
                         "device or out_buffer is NULL");
    }
    return vyre_buffer_make(device, size, "a buffer", NULL, out_buffer, diag);
}

vyre_status vyre_buffer_free(vyre_buffer *buffer, vyre_diag *diag) {
    if (!buffer) {
        return VYRE_OK;
    }
    vyre_device *device = buffer->device;
    vyre_status status = vyre_device_give_back(device, buffer->memory, buffer->is_wrapped, diag);
    vyre_device_leave(device, &buffer->member);
    vyre_free(&device->allocator, buffer, 1, sizeof *buffer);
    return status;
}

void vyre_buffer_destroy(vyre_buffer *buffer) {
    if (buffer && !buffer->is_wrapped) { /* what goes wrong is kept for vyre_device_flush */
        vyre_device_free(buffer->device, buffer->memory);
        buffer->memory = 0;
    }
    (void)vyre_buffer_free(buffer, NULL);
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
    return vyre_member_check(&buffer->member, "buffer", diag);
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

/* Ranges of batches were checked before anything moves. */
static vyre_status move_in(const vyre_write_range *r, vyre_diag *diag) {
    vyre_device *device = r->buffer->device;
    vyre_call call = {.device = device};
    r->buffer->is_zero = false;
    vyre_status status =
        vyre_call_write(&call, r->buffer->memory, r->offset, r->data, r->size, diag);
    vyre_count(&device->counters, VYRE_COUNT_input_bytes, status == VYRE_OK ? r->size : 0);
    return status;
}

/* All of one device that takes them at once. */
static vyre_status move_in_together(const vyre_write_range *ranges, uint32_t count,
                                    vyre_diag *diag) {
    vyre_device *device = ranges->buffer->device;
    vyre_call call = {.device = device};
    vyre_memory_write *writes = vyre_alloc(&device->allocator, count, sizeof *writes);
    uint32_t used = 0;
    if (!writes) {
        return vyre_fail_memory(diag, "a batch of writes");
    }
    for (uint32_t i = 0; i < count; i++) {
        const vyre_write_range *r = &ranges[i];
        if (r->size) {
            writes[used++] = (vyre_memory_write){r->buffer->memory, r->offset, r->size, r->data};
            r->buffer->is_zero = false;
            call.bytes += r->size;
        }
    }
    vyre_status status = used ? vyre_call_write_many(&call, writes, used, diag) : VYRE_OK;
    vyre_count(&device->counters, VYRE_COUNT_input_bytes, status == VYRE_OK ? call.bytes : 0);
    vyre_free(&device->allocator, writes, count, sizeof *writes);
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
    for (uint32_t i = 0, next; i < count && status == VYRE_OK; i = next) {
        const vyre_device *device = ranges[i].buffer->device;
        next = i + 1;
        while (device->table->write_many && next < count && ranges[next].buffer->device == device) {
            next++;
        }
        status = next - i > 1     ? move_in_together(&ranges[i], next - i, diag)
                 : ranges[i].size ? move_in(&ranges[i], diag)
                                  : VYRE_OK;
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
