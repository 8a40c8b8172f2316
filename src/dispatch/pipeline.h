/* A program made ready for one device: compiled once, run pass by pass. */
#ifndef VYRE_SRC_DISPATCH_PIPELINE_H
#define VYRE_SRC_DISPATCH_PIPELINE_H

#include "device/device.h"
#include "dispatch/added.h"
#include "lower/settle.h"
#include "schedule/schedule.h"

/* What is launched: the whole program, or its segments. */
typedef struct vyre_variant {
    bool is_compiled;
    bool along_x;            /* only for grids of one group along y and z */
    uint32_t widest;         /* of a module: only for grids with at most so many lanes along x */
    vyre_program *optimised; /* what `kernel` was made of; NULL: the program itself */
    vyre_program *lowered;   /* and this of that */
    vyre_added added;        /* what lowering added to it */
    vyre_backend_kernel *kernel; /* the whole program */
    vyre_schedule schedule;      /* or its segments */
} vyre_variant;

/* For any grid, for launching ahead, or both: each is made when a dispatch first needs it. */
enum {
    VYRE_VARIANT_USUAL = 0,
    VYRE_VARIANT_ANY_GRID = 1,
    VYRE_VARIANT_AHEAD = 2,
    VYRE_VARIANTS = 4
};

/* The options that decide what is compiled. */
typedef struct vyre_pipeline_key {
    uint32_t workgroup[3];
    uint32_t split, no_optimize;
    uint32_t looks; /* for races or accesses outside */
} vyre_pipeline_key;

struct vyre_pipeline {
    vyre_member member;
    atomic_uint references;
    vyre_device *device;
    const vyre_program *program; /* what is run: the caller's, or `copy` */
    vyre_program *copy;          /* it with another workgroup, or without conditions; or NULL */
    vyre_condition_list
        conditions;         /* under which `program` is the caller's: a dispatch tests them */
    vyre_program *retained; /* the caller's; NULL: it outlives the pipeline */
    bool waits;             /* the program does, for its grid */
    vyre_pipeline_key key;
    bool is_split;
    bool takes_module; /* the device runs the schedule itself */
    vyre_variant variants[VYRE_VARIANTS];
    /* The same, split, for grids that the device refused in one launch, and the fewest groups that
     * such a grid had; NULL: none was. */
    vyre_pipeline *parts;
    uint64_t refused_groups;
    uint64_t bytes;       /* of programs that it keeps, when it was last at rest */
    pthread_mutex_t lock; /* held by the dispatch that runs */
};

vyre_pipeline_key vyre_pipeline_key_of(const vyre_dispatch_options *options);

/* As vyre_compile, but nothing is compiled yet, and the program must outlive the pipeline. */
vyre_status vyre_pipeline_create(vyre_device *device, const vyre_program *program,
                                 const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                                 vyre_diag *diag);
/* Only after it can it run. */
vyre_status vyre_pipeline_compile(vyre_pipeline *pipeline, const vyre_dispatch_options *options,
                                  vyre_diag *diag);
bool vyre_pipeline_is_compiled(const vyre_pipeline *pipeline);
/* That the options ask for nothing that the pipeline was not compiled for. */
vyre_status vyre_pipeline_check(const vyre_pipeline *pipeline, const vyre_dispatch_options *options,
                                vyre_diag *diag);

/* Makes what passes over this grid need: room, and the variant for it. ahead: as in
 * vyre_dispatch_options. */
vyre_status vyre_pipeline_prepare(vyre_pipeline *pipeline, const uint32_t grid[3], uint32_t ahead,
                                  vyre_trace *trace, vyre_diag *diag);
/* Frees what it has in memory of the device but code; the next dispatch makes it anew. */
void vyre_pipeline_rest(vyre_pipeline *pipeline);
/* One pass over the whole grid, waited for. `launch` is that of the source program; its max_steps
 * and room for races hold for the pass. */
vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, const vyre_launch *launch,
                              const vyre_pass *pass, vyre_diag *diag);
/* Counts a dispatch over this grid that succeeded; was_refused: as parts. */
void vyre_pipeline_count(const vyre_pipeline *pipeline, const uint32_t grid[3], uint32_t ahead,
                         bool was_refused);

#endif
