/* A split program on one device: its segments compiled, its carried state in device memory. */
#ifndef VYRE_SRC_RUNTIME_SCHEDULE_H
#define VYRE_SRC_RUNTIME_SCHEDULE_H

#include "runtime/device.h"
#include "vyre/split.h"

/* What lanes own, and the two places of what they share, which change roles. */
enum { VYRE_SCHEDULE_LANE, VYRE_SCHEDULE_GRID, VYRE_SCHEDULE_NEXT, VYRE_SCHEDULE_CARRIES };

typedef struct vyre_schedule {
    vyre_device *device;
    vyre_module *module;
    struct vyre_compiled_segment *segments;
    vyre_memory carry[VYRE_SCHEDULE_CARRIES]; /* carried state; kept for the next pass */
    uint64_t carry_bytes[VYRE_SCHEDULE_CARRIES];
    bool is_used; /* the carried state is not zero */
} vyre_schedule;

/* What a pass reports, besides failures: it adds to all of it. */
typedef struct vyre_pass {
    vyre_trace *trace; /* may be NULL */
    vyre_launch_result *result;
    vyre_dispatch_stats *stats;
    vyre_dispatch_times *times; /* enqueue and wait */
} vyre_pass;

/* Splits and compiles. On failure nothing is to be finished. trace may be NULL. */
vyre_status vyre_schedule_init(vyre_schedule *schedule, vyre_device *device,
                               const vyre_program *program, const vyre_split_options *options,
                               vyre_trace *trace, vyre_diag *diag);
void vyre_schedule_finish(vyre_schedule *schedule);

/* Makes room for the carried state of a grid; passes with other grids need another call. */
vyre_status vyre_schedule_prepare(vyre_schedule *schedule, const uint32_t grid[3],
                                  vyre_trace *trace, vyre_diag *diag);
/* One pass over the grid that was prepared for. */
vyre_status vyre_schedule_run(vyre_schedule *schedule, const vyre_launch *launch,
                              const vyre_pass *pass, vyre_diag *diag);

#endif
