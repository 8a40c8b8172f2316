/* Declarations that lowering added to a program that is launched whole. */
#ifndef VYRE_SRC_DISPATCH_ADDED_H
#define VYRE_SRC_DISPATCH_ADDED_H

#include "device/device.h"
#include "schedule/traps.h"

/* Arrays of a launch with room for them; count 0: there are none, and launches are as they are. */
typedef struct vyre_added {
    uint32_t count, source_count; /* declarations of the lowered program, and of its source */
    vyre_memory *memory;
    uint32_t *counts;
    uint64_t *values;
    vyre_decl trap; /* which of them records traps; VYRE_NONE: none */
    vyre_traps traps;
} vyre_added;

vyre_status vyre_added_init(vyre_added *added, const vyre_program *source,
                            const vyre_program *lowered, vyre_device *device, vyre_diag *diag);
void vyre_added_finish(vyre_added *added, vyre_device *device);
/* The launch of the lowered program; it is valid until the next call. */
vyre_launch vyre_added_launch(vyre_added *added, const vyre_launch *source);

#endif
