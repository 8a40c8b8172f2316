/* Devices without memory of their own. */
#ifndef VYRE_SRC_DEVICE_BYTES_H
#define VYRE_SRC_DEVICE_BYTES_H

#include "vyre/backend.h"

/* Replaces an open device that takes bytes and gives bytes (launch_bytes) by one with memory; the
 * inner one is closed with it. On failure both stay as they were. */
vyre_status vyre_bytes_wrap(const vyre_allocator *allocator, const vyre_device_table **table,
                            vyre_backend_device **object, vyre_diag *diag);

#endif
