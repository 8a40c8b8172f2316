/* The pipelines that vyre_dispatch keeps for the next call with the same program. */
#ifndef VYRE_SRC_DISPATCH_CACHE_H
#define VYRE_SRC_DISPATCH_CACHE_H

#include "dispatch/pipeline.h"

/* What is kept at most; the one that was used longest ago goes first. */
enum { VYRE_CACHED_PIPELINES = 64, VYRE_CACHED_BYTES = 16 << 20 };

/* A pipeline for an equal program, written at the same places, with options that compile to the
 * same; it is the caller's alone until it is given back or released. *out_pipeline is NULL: there
 * is none. */
vyre_status vyre_cache_take(vyre_device *device, const vyre_program *program,
                            const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                            vyre_diag *diag);
/* Keeps a pipeline that has its program retained, in place of the caller's reference. Its memory on
 * the device is freed: only code stays. */
void vyre_cache_give(vyre_pipeline *pipeline);

#endif
