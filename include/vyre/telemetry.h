/* What devices did: counters of a device, and traces of single dispatches. */
#ifndef VYRE_TELEMETRY_H
#define VYRE_TELEMETRY_H

#include "vyre/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums since the device was opened, of what really happened: a launch that failed is no launch. All
 * dispatches of all threads count; each number is exact, but together they are no single instant
 * while something runs. */
typedef struct vyre_counters {
    char label[64];      /* of the device in exported text: its backend's name, unless changed */
    uint64_t dispatches; /* that succeeded */
    uint64_t compiles;   /* pipelines made */
    /* Their kernels: really compiled, or found on disk or in memory; where the device tells. */
    uint64_t code_compiled, code_from_disk, code_from_memory;
    /* Calls of vyre_dispatch that found their program compiled, or did not. */
    uint64_t pipeline_hits, pipeline_misses;
    uint64_t launches, skipped_launches;
    uint64_t passes, host_waits;
    uint64_t input_bytes, output_bytes; /* host to device, device to host; control words aside */
    uint64_t output_slots, output_slots_reused, output_slots_moved, output_slots_appended;
    uint64_t slot_bytes_incoming, slot_bytes_copied, slot_bytes_moved, slot_bytes_appended;
    uint64_t slot_bytes_retained; /* capacity of the slots after each dispatch */
    /* Dispatches of programs in more than one segment, their segments and grid barriers. */
    uint64_t grid_sync_splits, grid_sync_segments, grid_sync_points;
    uint64_t carried_bytes; /* alive across grid barriers between segments */
    uint64_t failed_frees;  /* of memory on the device */
} vyre_counters;

VYRE_API void vyre_device_counters(const vyre_device *device, vyre_counters *out_counters);

/* The pipelines that vyre_dispatch keeps for programs that come again. */
typedef struct vyre_pipeline_cache {
    uint64_t hits, misses;
    uint64_t entries; /* at most 64; what was used longest ago goes first */
    uint64_t bytes;   /* of their programs and segments on the host, at most 16 MiB */
} vyre_pipeline_cache;
VYRE_API void vyre_device_pipelines(vyre_device *device, vyre_pipeline_cache *out_cache);

/* Programs that were split by dispatches of this process, on all devices, those that are closed
 * included. */
typedef struct vyre_split_counters {
    uint64_t programs, segments, points;
} vyre_split_counters;
VYRE_API vyre_split_counters vyre_process_splits(void);

/* Numbers of a device as they are now: those of the runtime, then those of its backend, each by a
 * name that stays the same. */
typedef void (*vyre_metric_fn)(void *user, const char *name, uint64_t value);
VYRE_API void vyre_device_metrics(vyre_device *device, vyre_metric_fn tell, void *user);

/* Counters of one or more devices in the text format of Prometheus. VYRE_IO when `write` gave up.
 */
VYRE_API vyre_status vyre_counters_write(const vyre_counters *counters, uint32_t count,
                                         vyre_write_fn write, void *user);

/* A trace collects one span for every compile, allocation, upload, launch, wait and download of the
 * dispatches whose options name it, from any number of threads. Its memory is allocated once; spans
 * beyond the capacity (0: 65,536) are counted and dropped. It must outlive those dispatches. */
typedef struct vyre_trace vyre_trace;
VYRE_API vyre_status vyre_trace_create(const vyre_allocator *allocator, uint32_t capacity,
                                       vyre_trace **out_trace);
VYRE_API void vyre_trace_destroy(vyre_trace *trace);
VYRE_API uint32_t vyre_trace_count(const vyre_trace *trace);
VYRE_API uint64_t vyre_trace_dropped(const vyre_trace *trace);
/* JSON for chrome://tracing and ui.perfetto.dev; no dispatch may be using the trace. VYRE_IO when
 * `write` gave up. */
VYRE_API vyre_status vyre_trace_write(const vyre_trace *trace, vyre_write_fn write, void *user);

#ifdef __cplusplus
}
#endif

#endif
