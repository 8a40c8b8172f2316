/* A split program on one device: its segments compiled, its carried state in device memory. */
#ifndef VYRE_SRC_RUNTIME_SCHEDULE_H
#define VYRE_SRC_RUNTIME_SCHEDULE_H

#include "runtime/device.h"
#include "vyre/split.h"

typedef struct vyre_schedule {
    vyre_device *device;
    vyre_module *module;
    struct vyre_compiled_segment *segments;
    vyre_memory lane, grid; /* carried state; allocated by the first pass, kept for the next */
    uint64_t lane_bytes, grid_bytes;
} vyre_schedule;

/* Splits and compiles. On failure nothing is to be finished. */
vyre_status vyre_schedule_init(vyre_schedule *schedule, vyre_device *device,
                               const vyre_program *program, const vyre_split_options *options,
                               vyre_diag *diag);
void vyre_schedule_finish(vyre_schedule *schedule);

/* One pass. All passes of a schedule have the same grid. */
vyre_status vyre_schedule_run(vyre_schedule *schedule, const vyre_launch *launch,
                              vyre_launch_result *out_result, vyre_dispatch_stats *stats,
                              vyre_diag *diag);

#endif
