/* How large the carried state of a grid is, and whether a device has room for it. */
#ifndef VYRE_SRC_SCHEDULE_CARRY_SIZE_H
#define VYRE_SRC_SCHEDULE_CARRY_SIZE_H

#include "vyre/device.h"
#include "vyre/split.h"

typedef struct vyre_carry_need {
    const vyre_module_view *module;
    const vyre_device_info *info;
    uint64_t lanes, groups;
} vyre_carry_need;

/* That the device can carry the state at all. Then *how is set to a way to split in which each
 * buffer fits, unless the module's own buffers fit: then it is left alone and *out_fits is true. */
vyre_status vyre_carry_check(const vyre_carry_need *need, vyre_split_options *how, bool *out_fits,
                             vyre_diag *diag);

/* Only where vyre_carry_check said that they fit. */
uint64_t vyre_carry_own_bytes(const vyre_carry_need *need, const vyre_carry_buffer *buffer);
uint64_t vyre_carry_place_bytes(const vyre_carry_need *need, uint32_t place); /* VYRE_PLACE_... */

/* Of all copies of what one carry stands for. */
uint64_t vyre_carry_bytes(const vyre_carry *carry, uint64_t lanes, uint64_t groups);

/* VYRE_OUT_OF_MEMORY: the total, and what needs most of it. */
vyre_status vyre_carry_fail_memory(const vyre_carry_need *need, vyre_diag *diag);

#endif
