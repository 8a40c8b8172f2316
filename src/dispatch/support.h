/* Whether a device can run a program at all. */
#ifndef VYRE_SRC_DISPATCH_SUPPORT_H
#define VYRE_SRC_DISPATCH_SUPPORT_H

#include "dispatch/geometry.h"

/* Types and operations; VYRE_UNSUPPORTED names the first that the device lacks. */
vyre_status vyre_support_program(const vyre_device_info *info, const vyre_program *program,
                                 vyre_diag *diag);
/* Sizes of workgroups, grid and buffers; VYRE_LIMIT. */
vyre_status vyre_support_geometry(const vyre_device_info *info, const vyre_binding *binding,
                                  const vyre_geometry *geometry, vyre_diag *diag);

#endif
