/* The inside of devices and buffers, for the runtime. */
#ifndef VYRE_SRC_RUNTIME_DEVICE_H
#define VYRE_SRC_RUNTIME_DEVICE_H

#include "base/alloc.h"
#include "vyre/backend.h"

struct vyre_device {
    vyre_allocator allocator;
    const vyre_device_table *table;
    vyre_backend_device *object;
    vyre_device_info info;
};

struct vyre_buffer {
    vyre_device *device;
    vyre_memory memory; /* 0 when size is 0 */
    uint64_t size;
};

/* Memory of a device, checked against its limits; 0 bytes give no memory. `what` names it in
 * messages. */
vyre_status vyre_device_allocate(vyre_device *device, uint64_t size, const char *what,
                                 vyre_memory *out_memory, vyre_diag *diag);
/* memory may be 0. */
void vyre_device_free(vyre_device *device, vyre_memory memory);

#endif
