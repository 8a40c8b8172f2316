/* A split program on one device: its segments compiled, its carried state in device memory. */
#ifndef VYRE_SRC_RUNTIME_SCHEDULE_H
#define VYRE_SRC_RUNTIME_SCHEDULE_H

#include "runtime/device.h"
#include "vyre/split.h"

/* The two places of what lanes share, which change roles. */
enum { VYRE_SCHEDULE_GRID, VYRE_SCHEDULE_NEXT, VYRE_SCHEDULE_CARRIES };

typedef struct vyre_schedule {
    vyre_device *device;
    const vyre_program *program;
    uint32_t segment_count, sync_points; /* of each module that the program gives */
    vyre_split_options how;              /* the module was split */
    vyre_module *module;
    struct vyre_compiled_segment *segments;
    struct vyre_own_memory *own; /* what lanes and groups own: per buffer of the module */
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

/* Splits and compiles. The program must outlive the schedule. On failure nothing is to be finished.
 * trace may be NULL. */
vyre_status vyre_schedule_init(vyre_schedule *schedule, vyre_device *device,
                               const vyre_program *program, const vyre_split_options *options,
                               vyre_trace *trace, vyre_diag *diag);
void vyre_schedule_finish(vyre_schedule *schedule);

/* Makes room for the carried state of a grid; passes with other grids need another call. Where the
 * state does not fit into the buffers of the module, the program is split and compiled anew, with
 * more buffers; these serve smaller grids too. On failure the schedule stays as it was, or has less
 * room. */
vyre_status vyre_schedule_prepare(vyre_schedule *schedule, const uint32_t grid[3],
                                  vyre_trace *trace, vyre_diag *diag);
/* One pass over the grid that was prepared for. */
vyre_status vyre_schedule_run(vyre_schedule *schedule, const vyre_launch *launch,
                              const vyre_pass *pass, vyre_diag *diag);

#endif
