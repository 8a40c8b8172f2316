/* A program made ready for one device: compiled once, run pass by pass. */
#ifndef VYRE_SRC_RUNTIME_PIPELINE_H
#define VYRE_SRC_RUNTIME_PIPELINE_H

#include "runtime/device.h"
#include "runtime/schedule.h"

typedef struct vyre_pipeline {
    vyre_device *device;
    vyre_backend_kernel *kernel; /* the whole program, or NULL when it is split */
    vyre_schedule schedule;      /* its segments, when it is split */
} vyre_pipeline;

typedef struct vyre_pipeline_options {
    vyre_split_mode split;
    bool find_races;
    bool keep_barriers;
} vyre_pipeline_options;

/* The program must be checked, and must outlive the pipeline. On failure nothing is to be
 * finished. */
vyre_status vyre_pipeline_init(vyre_pipeline *pipeline, vyre_device *device,
                               const vyre_program *program, const vyre_pipeline_options *options,
                               vyre_diag *diag);
void vyre_pipeline_finish(vyre_pipeline *pipeline);
/* Whether the program was split. */
bool vyre_pipeline_is_split(const vyre_pipeline *pipeline);

/* One pass over the whole grid, waited for. `launch` is that of the source program; its max_steps
 * and room for races hold for the pass. Counts into stats. */
vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, const vyre_launch *launch,
                              vyre_launch_result *out_result, vyre_dispatch_stats *stats,
                              vyre_diag *diag);

#endif
