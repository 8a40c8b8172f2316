/* Dispatches on buffers that stay on the device. */
#ifndef VYRE_SRC_DISPATCH_RESIDENT_H
#define VYRE_SRC_DISPATCH_RESIDENT_H

#include "dispatch/run.h"

typedef struct vyre_resident {
    vyre_run run;
    vyre_buffer *const *buffers;
} vyre_resident;

/* Binds, allocates scratch and makes room for what is carried. `step` is copied but for what it
 * points to. On failure nothing is to be finished. */
vyre_status vyre_resident_init(vyre_resident *resident, const vyre_sequence_step *step,
                               uint64_t begin, vyre_diag *diag);
/* Runs; may be called again after vyre_run_begin. */
vyre_status vyre_resident_execute(vyre_resident *resident);
void vyre_resident_finish(vyre_resident *resident);

#endif
