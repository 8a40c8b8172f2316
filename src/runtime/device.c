/* Devices by URI, and memory on them. The backend does the work; here are the checks that every
 * backend would need: ranges, foreign buffers, limits. */
#include "runtime/device.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/nearest.h"
#include "runtime/fault.h"
#include "runtime/registry.h"

/* Opens a device of one backend, with the decoration if there is one. */
static vyre_status open_backend(const vyre_backend *backend, const char *path,
                                const vyre_fault *fault, const vyre_allocator *a,
                                vyre_device **out_device, vyre_diag *diag) {
    vyre_status status = fault ? vyre_fault_opening(fault, diag) : VYRE_OK;
    if (status != VYRE_OK) {
        return status;
    }
    vyre_device *device = vyre_alloc_zeroed(a, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    device->allocator = *a;
    device->table = backend->device;
    status = backend->open(backend, path, a, &device->object, diag);
    if (status == VYRE_OK && fault) {
        status = vyre_fault_wrap(fault, a, &device->table, &device->object, diag);
        if (status != VYRE_OK) {
            backend->device->close(device->object);
        }
    }
    if (status != VYRE_OK) {
        vyre_free(a, device, 1, sizeof *device);
        return status;
    }
    device->table->describe(device->object, &device->info);
    vyre_diag_copy(device->info.backend, sizeof device->info.backend, backend->name);
    *out_device = device;
    return VYRE_OK;
}

/* The first device in order of preference that is there and not an oracle; else the first oracle.
 */
static vyre_status open_best(const vyre_registry *registry, const vyre_fault *fault,
                             const vyre_allocator *a, vyre_device **out_device, vyre_diag *diag) {
    vyre_device *best = NULL;
    for (uint32_t i = 0; i < vyre_backend_count(registry) && (!best || best->info.is_oracle); i++) {
        vyre_device *device = NULL;
        vyre_status status =
            open_backend(vyre_registry_at(registry, i), "", fault, a, &device, NULL);
        if (status == VYRE_OUT_OF_MEMORY) {
            vyre_device_close(best);
            return vyre_fail_memory(diag, "a device");
        }
        if (status == VYRE_OK && (!best || !device->info.is_oracle)) {
            vyre_device *worse = best;
            best = device;
            device = worse;
        }
        vyre_device_close(device);
    }
    if (!best) {
        return vyre_fail(diag, VYRE_NOT_FOUND, "register a backend, or open one by name",
                         "no device is present");
    }
    *out_device = best;
    return VYRE_OK;
}

static vyre_status unknown_backend(const vyre_registry *registry, const char *uri, size_t length,
                                   vyre_diag *diag) {
    char name[64] = "", fix[VYRE_DIAG_FIX] = "the backends are:";
    memcpy(name, uri, length < sizeof name ? length : sizeof name - 1);
    vyre_nearest nearest = vyre_nearest_to(name);
    for (uint32_t i = 0; i < vyre_backend_count(registry); i++) {
        const char *candidate = vyre_backend_name(registry, i);
        size_t used = strlen(fix);
        vyre_nearest_offer(&nearest, candidate);
        if (used + strlen(candidate) + 2 < sizeof fix) {
            fix[used] = ' ';
            memcpy(fix + used + 1, candidate, strlen(candidate) + 1);
        }
    }
    return vyre_fail(diag, VYRE_NOT_FOUND, fix, "there is no backend \"%s\"%s%s%s", name,
                     nearest.best ? "; did you mean \"" : "", nearest.best ? nearest.best : "",
                     nearest.best ? "\"?" : "");
}

static vyre_status open_plain(const vyre_registry *registry, const char *uri,
                              const vyre_fault *fault, const vyre_allocator *a,
                              vyre_device **out_device, vyre_diag *diag) {
    if (!*uri || strcmp(uri, "auto") == 0) {
        return open_best(registry, fault, a, out_device, diag);
    }
    const char *colon = strstr(uri, "://");
    size_t length = colon ? (size_t)(colon - uri) : strlen(uri);
    const vyre_backend *backend = vyre_registry_find(registry, uri, length);
    if (!backend) {
        return unknown_backend(registry, uri, length, diag);
    }
    return open_backend(backend, colon ? colon + 3 : "", fault, a, out_device, diag);
}

/* uri is what follows "fault://": INNER?op=... */
static vyre_status open_faulty(const vyre_registry *registry, const char *uri,
                               const vyre_allocator *a, vyre_device **out_device, vyre_diag *diag) {
    char inner[256];
    const char *query = strrchr(uri, '?');
    size_t length = query ? (size_t)(query - uri) : strlen(uri);
    vyre_fault fault;
    if (length >= sizeof inner || strncmp(uri, "fault://", 8) == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "write fault://ref?op=launch&n=3",
                         "a fault decorates a plain device");
    }
    memcpy(inner, uri, length);
    inner[length] = '\0';
    vyre_status status = vyre_fault_parse(query ? query + 1 : "", &fault, diag);
    return status != VYRE_OK ? status : open_plain(registry, inner, &fault, a, out_device, diag);
}

vyre_status vyre_device_open(const vyre_registry *registry, const char *uri,
                             const vyre_allocator *allocator, vyre_device **out_device,
                             vyre_diag *diag) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    if (!out_device) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a place for the device",
                         "out_device is NULL");
    }
    if (uri && strncmp(uri, "fault://", 8) == 0) {
        return open_faulty(registry, uri + 8, &a, out_device, diag);
    }
    return open_plain(registry, uri ? uri : "auto", NULL, &a, out_device, diag);
}

void vyre_device_close(vyre_device *device) {
    if (device) {
        vyre_allocator a = device->allocator;
        device->table->close(device->object);
        vyre_free(&a, device, 1, sizeof *device);
    }
}

const vyre_device_info *vyre_device_describe(const vyre_device *device) {
    return &device->info;
}

vyre_status vyre_device_allocate(vyre_device *device, uint64_t size, const char *what,
                                 vyre_memory *out_memory, vyre_diag *diag) {
    if (size == 0) {
        *out_memory = 0;
        return VYRE_OK;
    }
    uint64_t most = device->info.max_buffer_bytes;
    if (most && size > most) {
        return vyre_fail(diag, VYRE_LIMIT, "use a smaller problem or another device",
                         "%s needs %llu bytes, and a buffer of %s has at most %llu", what,
                         (unsigned long long)size, device->info.backend, (unsigned long long)most);
    }
    vyre_status status = device->table->allocate(device->object, size, out_memory, diag);
    if (status == VYRE_OUT_OF_MEMORY) {
        return vyre_fail(diag, status, "use a smaller problem or a device with more memory",
                         "out of memory on %s for %s of %llu bytes", device->info.backend, what,
                         (unsigned long long)size);
    }
    return status;
}

void vyre_device_free(vyre_device *device, vyre_memory memory) {
    if (memory) {
        device->table->free(device->object, memory);
    }
}

/* Buffers */

vyre_status vyre_buffer_create(vyre_device *device, uint64_t size, vyre_buffer **out_buffer,
                               vyre_diag *diag) {
    if (!device || !out_buffer) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a device and a place for the buffer",
                         "device or out_buffer is NULL");
    }
    vyre_buffer *buffer = vyre_alloc_zeroed(&device->allocator, 1, sizeof *buffer);
    if (!buffer) {
        return vyre_fail_memory(diag, "a buffer");
    }
    buffer->device = device;
    buffer->size = size;
    vyre_status status = vyre_device_allocate(device, size, "a buffer", &buffer->memory, diag);
    if (status != VYRE_OK) {
        vyre_free(&device->allocator, buffer, 1, sizeof *buffer);
        return status;
    }
    *out_buffer = buffer;
    return VYRE_OK;
}

void vyre_buffer_destroy(vyre_buffer *buffer) {
    if (buffer) {
        vyre_device *device = buffer->device;
        vyre_device_free(device, buffer->memory);
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

vyre_status vyre_buffer_write(vyre_buffer *buffer, uint64_t offset, const void *data, uint64_t size,
                              vyre_diag *diag) {
    vyre_status status = check_transfer(buffer, offset, data, size, diag);
    if (status != VYRE_OK || size == 0) {
        return status;
    }
    return buffer->device->table->write(buffer->device->object, buffer->memory, offset, data, size,
                                        diag);
}

vyre_status vyre_buffer_read(const vyre_buffer *buffer, uint64_t offset, void *data, uint64_t size,
                             vyre_diag *diag) {
    vyre_status status = check_transfer(buffer, offset, data, size, diag);
    if (status != VYRE_OK || size == 0) {
        return status;
    }
    return buffer->device->table->read(buffer->device->object, buffer->memory, offset, data, size,
                                       diag);
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
    return size == 0 ? VYRE_OK
                     : to->device->table->copy(to->device->object, to->memory, to_offset,
                                               from->memory, from_offset, size, diag);
}

vyre_status vyre_buffer_zero(vyre_buffer *buffer, uint64_t offset, uint64_t size, vyre_diag *diag) {
    vyre_status status = check_range(buffer, offset, size, diag);
    return status != VYRE_OK || size == 0
               ? status
               : buffer->device->table->zero(buffer->device->object, buffer->memory, offset, size,
                                             diag);
}
