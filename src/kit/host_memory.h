/* Entries for devices whose memory is the host's: a block of the device's allocator, known by its
 * address, with room behind it where the device wants that. The backend's device must begin with a
 * vyre_host_device. */
#ifndef VYRE_SRC_KIT_HOST_MEMORY_H
#define VYRE_SRC_KIT_HOST_MEMORY_H

#include <stdatomic.h>

#include "vyre/backend.h"

/* All zero: what an interpreter needs. */
typedef struct vyre_host_options {
    size_t
        alignment;  /* a power of two up to a page; 0: 16. Blocks of the device have at least 64 */
    size_t padding; /* zero bytes behind a memory, there to be read or written by vector code */
    bool guard;     /* pages without access behind the padding, for tests; not by the allocator */
    /* Fills a new block with zeros. Whoever touches a page first has it near; NULL: the caller. */
    void (*clear)(void *user, void *bytes, size_t size);
    void *user;
} vyre_host_options;

typedef struct vyre_host_device {
    vyre_allocator allocator;
    vyre_host_options options;                 /* must not change while there is memory */
    atomic_uint_least64_t blocks, bytes, peak; /* that are there, and the most bytes that were */
    atomic_uint_least64_t spread;              /* large blocks that were ever made */
} vyre_host_device;

vyre_status vyre_host_allocate(vyre_backend_device *device, uint64_t size, vyre_memory *out_memory,
                               vyre_diag *diag);
vyre_status vyre_host_free(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag);
/* Memory of the caller's that is aligned as that of the device and has room for its padding. */
vyre_status vyre_host_adopt(vyre_backend_device *device, void *bytes, uint64_t size,
                            uint64_t capacity, vyre_memory *out_memory, vyre_diag *diag);
vyre_status vyre_host_disown(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag);
void vyre_host_metrics(vyre_backend_device *device, vyre_metric_fn tell, void *user);
/* Says which memory of the caller's it takes. */
void vyre_host_describe(const vyre_host_device *host, vyre_device_info *info);
size_t vyre_host_alignment(const vyre_host_device *host);
vyre_status vyre_host_write(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                            const void *data, uint64_t size, vyre_diag *diag);
vyre_status vyre_host_read(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           void *data, uint64_t size, vyre_diag *diag);
vyre_status vyre_host_copy(vyre_backend_device *device, vyre_memory to, uint64_t to_offset,
                           vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag);
vyre_status vyre_host_zero(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                           uint64_t size, vyre_diag *diag);
vyre_status vyre_host_equal(vyre_backend_device *device, vyre_memory a, vyre_memory b,
                            uint64_t size, bool *out_equal, vyre_diag *diag);
/* Launches have come to their end when they return, so a ticket may hold the bytes themselves. */
vyre_status vyre_host_fetch(vyre_backend_device *device, uint64_t pass, vyre_memory memory,
                            uint64_t offset, uint64_t size, vyre_ticket *out_ticket,
                            vyre_diag *diag);
vyre_status vyre_host_await(vyre_backend_device *device, vyre_ticket ticket, void *data,
                            uint64_t size, vyre_launch_results *results, vyre_diag *diag);

/* All of them, for a table. */
#define VYRE_HOST_MEMORY_ENTRIES                                                                   \
    .allocate = vyre_host_allocate, .free = vyre_host_free, .write = vyre_host_write,              \
    .read = vyre_host_read, .copy = vyre_host_copy, .zero = vyre_host_zero,                        \
    .equal = vyre_host_equal, .fetch = vyre_host_fetch, .await = vyre_host_await,                  \
    .adopt = vyre_host_adopt, .disown = vyre_host_disown, .metrics = vyre_host_metrics

/* The bytes of a memory. */
void *vyre_host_bytes(vyre_memory memory);

/* A `clear` whose user is a vyre_team: each of its workers takes a part, in order, of what is
 * large; the cut is that of vyre_share_even with the grain of a page. */
void vyre_host_clear_by_team(void *team, void *bytes, size_t size);

#endif
