/* One dispatch, whatever path its bytes take: bound, given memory, run pass by pass.
 *
 *     init      binds and checks; nothing is on the device yet
 *     allocate  gives memory to all buffers that the caller did not give it to
 *     prepare   gives memory to what is carried across grid barriers
 *     execute   runs; may be called again
 *     finish    frees what allocate made
 *
 * The caller moves the bytes in between. */
#ifndef VYRE_SRC_DISPATCH_RUN_H
#define VYRE_SRC_DISPATCH_RUN_H

#include "dispatch/geometry.h"
#include "dispatch/pipeline.h"

typedef struct vyre_run {
    vyre_pipeline *pipeline;
    vyre_device *device;
    const vyre_program_view *view;
    const vyre_dispatch_options *options;
    vyre_geometry_words words;
    vyre_binding binding;
    vyre_geometry geometry;
    vyre_memory *memory; /* of each buffer */
    bool *is_given;      /* it is the caller's */
    vyre_memory *before; /* its bytes at the start of a pass; fixpoint only */
    uint64_t begin;      /* when the dispatch began */
    uint64_t deadline;   /* 0: none */
    uint64_t lap;        /* when the current stage began */
    bool is_used;        /* scratch is no longer zero */
    vyre_dispatch_report report;
    vyre_diag *diag;
} vyre_run;

/* Never NULL. */
const vyre_dispatch_options *vyre_options_or_default(const vyre_dispatch_options *options);
/* Options that no program or path makes right. */
vyre_status vyre_options_check(const vyre_device *device, const vyre_dispatch_options *options,
                               vyre_diag *diag);

/* run->pipeline, options, words, begin and diag are set, all else is zero. On failure nothing is to
 * be finished. `args` has the inputs; settings come from the options. */
vyre_status vyre_run_init(vyre_run *run, const vyre_bind_args *args);
/* Begins a dispatch anew: nothing happened yet. */
void vyre_run_begin(vyre_run *run, uint64_t begin);
/* The caller has set memory and is_given of what is its own. */
vyre_status vyre_run_allocate(vyre_run *run);
/* Makes room for what is carried, where the grid is known, so that what does not fit is refused
 * before anything runs. Another run of the pipeline may undo it; execute prepares again. */
vyre_status vyre_run_prepare(vyre_run *run);
vyre_status vyre_run_execute(vyre_run *run);
void vyre_run_finish(vyre_run *run);
/* Counts what happened into the device; on success it is reported, too (out_report may be NULL). */
void vyre_run_report(vyre_run *run, vyre_status status, vyre_dispatch_report *out_report);

/* A call for declaration `decl`. */
struct vyre_call vyre_run_call(const vyre_run *run, vyre_decl decl);
/* Ends a stage of the dispatch: its time is added to *time. */
void vyre_run_lap(vyre_run *run, uint64_t *time);
/* VYRE_CANCELLED, VYRE_TIMEOUT or VYRE_OK. */
vyre_status vyre_run_check_time(const vyre_run *run);
/* Whether a fixpoint compares the buffer. */
bool vyre_run_compares(const vyre_run *run, vyre_decl decl);

/* passes.c: all passes; geometry is known and memory is there. */
vyre_status vyre_run_passes(vyre_run *run);

#endif
