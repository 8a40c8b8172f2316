/* Whether a dispatch is within the limits of a device. */
#ifndef VYRE_SRC_DISPATCH_SUPPORT_H
#define VYRE_SRC_DISPATCH_SUPPORT_H

#include "dispatch/geometry.h"

/* Sizes of workgroups, grid and buffers; VYRE_LIMIT. */
vyre_status vyre_support_geometry(const vyre_device_info *info, const vyre_binding *binding,
                                  const vyre_geometry *geometry, vyre_diag *diag);

#endif
