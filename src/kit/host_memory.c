/* Host memory as device memory. Ranges were checked by the runtime. */
#include "kit/host_memory.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

typedef struct block {
    size_t size;
    alignas(16) unsigned char bytes[];
} block;

static block *block_of(vyre_memory memory) {
    return (block *)(uintptr_t)memory; /* NOLINT(performance-no-int-to-ptr): handles are u64 */
}

static const vyre_allocator *allocator_of(vyre_backend_device *device) {
    return &((vyre_host_device *)device)->allocator;
}

void *vyre_host_bytes(vyre_memory memory) {
    return block_of(memory)->bytes;
}

vyre_status vyre_host_allocate(vyre_backend_device *device, uint64_t size, vyre_memory *out_memory,
                               vyre_diag *diag) {
    block *b = size <= SIZE_MAX - sizeof *b
                   ? vyre_alloc_zeroed(allocator_of(device), sizeof *b + (size_t)size, 1)
                   : NULL;
    if (!b) {
        return vyre_fail_memory(diag, "a buffer");
    }
    b->size = (size_t)size;
    *out_memory = (uintptr_t)b;
    return VYRE_OK;
}

void vyre_host_free(vyre_backend_device *device, vyre_memory memory) {
    block *b = block_of(memory);
    vyre_free(allocator_of(device), b, sizeof *b + b->size, 1);
}

vyre_status vyre_host_write(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                            const void *data, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(block_of(memory)->bytes + offset, data, size);
    return VYRE_OK;
}

vyre_status vyre_host_read(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           void *data, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(data, block_of(memory)->bytes + offset, size);
    return VYRE_OK;
}

vyre_status vyre_host_copy(vyre_backend_device *device, vyre_memory to, uint64_t to_offset,
                           vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memcpy(block_of(to)->bytes + to_offset, block_of(from)->bytes + from_offset, size);
    return VYRE_OK;
}

vyre_status vyre_host_zero(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    memset(block_of(memory)->bytes + offset, 0, size);
    return VYRE_OK;
}

vyre_status vyre_host_equal(vyre_backend_device *device, vyre_memory a, vyre_memory b,
                            uint64_t size, bool *out_equal, vyre_diag *diag) {
    (void)device, (void)diag;
    *out_equal = memcmp(block_of(a)->bytes, block_of(b)->bytes, size) == 0;
    return VYRE_OK;
}

vyre_status vyre_host_fetch(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                            uint64_t size, vyre_ticket *out_ticket, vyre_diag *diag) {
    *out_ticket = 0;
    return vyre_host_read(device, memory, offset, out_ticket, size, diag);
}

vyre_status vyre_host_await(vyre_backend_device *device, vyre_ticket ticket, void *data,
                            uint64_t size, vyre_diag *diag) {
    (void)device, (void)diag;
    if (data) {
        memcpy(data, &ticket, size);
    }
    return VYRE_OK;
}
