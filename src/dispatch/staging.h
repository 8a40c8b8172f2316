/* A dispatch of host bytes that goes the resident way: through buffers. */
#ifndef VYRE_SRC_DISPATCH_STAGING_H
#define VYRE_SRC_DISPATCH_STAGING_H

#include "dispatch/run.h"

typedef struct vyre_staging {
    vyre_device *device;
    vyre_buffer **buffers; /* of every in, inout and out */
    uint32_t count;
} vyre_staging;

/* Makes a buffer for each in, inout and out of the run, which is bound, and lends it to the run. */
vyre_status vyre_staging_create(vyre_staging *staging, vyre_run *run);
/* Runs on the buffers; run->report has it all. */
vyre_status vyre_staging_execute(vyre_staging *staging, vyre_run *run);
/* A zeroed or half-made one is fine. */
void vyre_staging_destroy(vyre_staging *staging);

#endif
