/* Running programs. One call validates, binds, splits where the device needs it, runs and returns
 * the outputs:
 *
 *     vyre_input in[] = {{x, sizeof x}, {y, sizeof y}};     // every `in` and `inout`, in order
 *     vyre_output out[1] = {{0}};                           // every `inout` and `out`, in order
 *     vyre_dispatch(device, program, in, 2, out, 1, NULL, NULL, &diag);
 *
 * On failure the outputs are as they were. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include "vyre/device.h"
#include "vyre/race.h"
#include "vyre/telemetry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_input {
    const void *data;
    size_t size; /* bytes: a multiple of the element size, and the declared size if there is one */
} vyre_input;

/* A slot for returned bytes. Zero it once; it is grown as needed and reused by later calls. Free it
 * with vyre_output_finish and the same allocator as the device's. Or let `data` be memory of your
 * own, `capacity` bytes, and set is_fixed: it is then neither grown nor freed, and a dispatch that
 * returns more is refused before it runs. */
typedef struct vyre_output {
    void *data;
    size_t size;
    size_t capacity;
    bool is_fixed;
} vyre_output;
VYRE_API void vyre_output_finish(vyre_output *output, const vyre_allocator *allocator);

typedef enum vyre_split_mode {
    VYRE_SPLIT_AUTO = 0, /* native where the device can, and takes a grid of that size */
    VYRE_SPLIT_NEVER,    /* an error if the device can't */
    VYRE_SPLIT_ALWAYS
} vyre_split_mode;

typedef enum vyre_path { VYRE_PATH_HOST = 0, VYRE_PATH_RESIDENT } vyre_path;

/* In which order the reference backend runs lanes that are free to run in any order. */
typedef enum vyre_order {
    VYRE_ORDER_FORWARD = 0,
    VYRE_ORDER_REVERSE,
    VYRE_ORDER_RANDOM,
    VYRE_ORDER_INTERLEAVED
} vyre_order;

/* Set to nonzero by any thread or signal handler to stop a dispatch soon. Threads do it with
 * vyre_cancel_request. */
typedef struct vyre_cancel {
    volatile int requested;
} vyre_cancel;
VYRE_API void vyre_cancel_request(vyre_cancel *cancel);

/* How far a dispatch has come, for whoever waits for it: sums that it adds to while it runs and any
 * thread may read with vyre_progress_read. A device adds to `barriers` and `launches` when it
 * knows, which of work that is queued may be early. */
typedef struct vyre_progress {
    volatile uint64_t passes, launches, barriers;
} vyre_progress;
VYRE_API vyre_progress vyre_progress_read(const vyre_progress *progress);

typedef struct vyre_dispatch_options {
    const vyre_setting *settings;
    uint32_t setting_count;
    bool has_grid; /* workgroups per axis, over the program's own clause */
    uint32_t grid[3];
    bool has_elements; /* or lanes along the one active axis */
    uint64_t elements;
    uint32_t
        workgroup[3];    /* all zero: the program's; else refused where the program depends on it */
    bool has_iterations; /* run to a fixpoint: at most `iterations` passes, at least 1 */
    uint32_t iterations;
    vyre_split_mode split;
    vyre_path path;
    bool no_optimize;          /* keep every barrier */
    uint32_t ahead;            /* of a split program: launches that are enqueued, in two lots of at
                                  most this many, before it is known that it is their turn; at most
                                  VYRE_LIMIT_AHEAD; 0: as the device likes it. A pipeline makes
                                  what launching ahead needs when a dispatch first asks for it */
    bool in_place;             /* outputs may be half written on failure; saves staging */
    uint64_t timeout_ns;       /* of the whole dispatch; 0: none */
    uint64_t max_output_bytes; /* of all outputs together; 0: none */
    uint64_t max_steps;        /* statements, on ref and ref-split; 0: none */
    const vyre_cancel *cancel;
    vyre_progress *progress; /* NULL: nobody looks */
    vyre_trace *trace;       /* collects spans; NULL: none */
    /* ref and ref-split only; an error elsewhere. */
    vyre_order order;
    uint64_t order_seed;
    bool find_races;
    vyre_race *races; /* room for what is found */
    uint32_t race_capacity;
    vyre_outside_list *outside; /* collects accesses outside of their memory; NULL: none */
} vyre_dispatch_options;

typedef struct vyre_dispatch_stats {
    uint64_t launches;         /* that it was the turn of */
    uint64_t skipped_launches; /* launches ahead that it was not the turn of, and steps without a
                                  segment */
    uint64_t host_waits;       /* before something could go on; not that for the end of a pass */
    uint64_t bytes_in, bytes_out;
    uint64_t carried_bytes;
    uint64_t segments, sync_points;
    uint64_t carry_buffers; /* of what lanes and groups own; more than 1: one was too small */
    uint64_t steps;         /* statements run, where the device counts them */
} vyre_dispatch_stats;

/* Nanoseconds; what is not known is 0. */
typedef struct vyre_dispatch_times {
    uint64_t compile, alloc, upload, run, download, total;
    uint64_t device, enqueue, wait;
    bool knows_device; /* every launch told its time */
    bool knows_calls;  /* enqueue and wait: launching and waiting are two things */
} vyre_dispatch_times;

/* What happened. */
typedef struct vyre_dispatch_report {
    uint32_t grid[3];
    vyre_decl grid_from; /* buffer from which the grid was inferred; VYRE_NONE if it was given */
    uint32_t passes;
    bool converged; /* the last pass changed nothing that is compared */
    bool was_split;
    bool was_refused; /* the device has a grid barrier, but not for so large a grid */
    vyre_dispatch_stats stats;
    vyre_dispatch_times times;
    uint64_t race_count, harmless_race_count; /* all found */
    uint32_t races_stored;
} vyre_dispatch_report;

/* The device keeps the pipelines of the last programs for the next call with an equal one; see
 * vyre_device_pipelines. */
VYRE_API vyre_status vyre_dispatch(vyre_device *device, const vyre_program *program,
                                   const vyre_input *inputs, uint32_t input_count,
                                   vyre_output *outputs, uint32_t output_count,
                                   const vyre_dispatch_options *options,
                                   vyre_dispatch_report *out_report, vyre_diag *diag);

/* A program made ready for one device: compiled once, dispatched often. Whether it is split shows
 * only in the report. `split`, `workgroup`, `no_optimize` and `trace` of the options are used. The
 * program is retained. Dispatches of one pipeline take turns, whatever the number of threads. */
typedef struct vyre_pipeline vyre_pipeline;
VYRE_API vyre_status vyre_compile(vyre_device *device, vyre_program *program,
                                  const vyre_dispatch_options *options,
                                  vyre_pipeline **out_pipeline, vyre_diag *diag);
VYRE_API vyre_pipeline *vyre_pipeline_retain(vyre_pipeline *pipeline);
VYRE_API void vyre_pipeline_release(vyre_pipeline *pipeline);
/* As vyre_dispatch, with nothing to compile. A `split` or `workgroup` that the pipeline was not
 * compiled for is refused. */
VYRE_API vyre_status vyre_pipeline_dispatch(vyre_pipeline *pipeline, const vyre_input *inputs,
                                            uint32_t input_count, vyre_output *outputs,
                                            uint32_t output_count,
                                            const vyre_dispatch_options *options,
                                            vyre_dispatch_report *out_report, vyre_diag *diag);

/* On buffers that stay on the device: one for each in, inout and out, in declaration order; nothing
 * is transferred. A buffer may be larger than its declared size; one without a declared size gives
 * its own. Buffers of another device are refused, and one buffer for two declarations if either is
 * written. `out` starts as zeros; scratch is the runtime's. max_output_bytes and in_place mean
 * nothing here. On failure the contents of inout and out are unspecified. */
VYRE_API vyre_status vyre_dispatch_resident(vyre_pipeline *pipeline, vyre_buffer *const *buffers,
                                            uint32_t buffer_count,
                                            const vyre_dispatch_options *options,
                                            vyre_dispatch_report *out_report, vyre_diag *diag);

/* Resident dispatches in a row: the prefix once, the repeated steps `times` times, then ranges are
 * read. Every step is checked, and its scratch allocated, before the first one runs. */
typedef struct vyre_sequence_step {
    vyre_pipeline *pipeline;
    vyre_buffer *const *buffers;
    uint32_t buffer_count;
    const vyre_dispatch_options *options; /* may be NULL */
} vyre_sequence_step;

typedef struct vyre_sequence {
    const vyre_sequence_step *prefix, *repeated;
    uint32_t prefix_count, repeated_count, times;
    const vyre_read_range *reads;
    uint32_t read_count;
} vyre_sequence;

/* Sums over all dispatches; times.total is wall time. A time that one of them does not know is not
 * known of the whole. */
typedef struct vyre_sequence_report {
    uint64_t dispatches, passes;
    vyre_dispatch_stats stats;
    vyre_dispatch_times times;
} vyre_sequence_report;

VYRE_API vyre_status vyre_sequence_run(const vyre_sequence *sequence,
                                       vyre_sequence_report *out_report, vyre_diag *diag);

/* Asynchronous forms. Each device has one queue, which its own thread works off in order. The
 * options are copied; everything else that is given, and what the options point to, must stay valid
 * and untouched until the event is done. What the dispatch reports comes from vyre_event_wait.
 * options.cancel must be NULL: vyre_event_cancel takes its place. */
typedef struct vyre_event vyre_event;
VYRE_API vyre_status vyre_dispatch_async(vyre_device *device, const vyre_program *program,
                                         const vyre_input *inputs, uint32_t input_count,
                                         vyre_output *outputs, uint32_t output_count,
                                         const vyre_dispatch_options *options,
                                         vyre_event **out_event, vyre_diag *diag);
VYRE_API vyre_status vyre_pipeline_dispatch_async(vyre_pipeline *pipeline, const vyre_input *inputs,
                                                  uint32_t input_count, vyre_output *outputs,
                                                  uint32_t output_count,
                                                  const vyre_dispatch_options *options,
                                                  vyre_event **out_event, vyre_diag *diag);
VYRE_API vyre_status vyre_dispatch_resident_async(vyre_pipeline *pipeline,
                                                  vyre_buffer *const *buffers,
                                                  uint32_t buffer_count,
                                                  const vyre_dispatch_options *options,
                                                  vyre_event **out_event, vyre_diag *diag);
/* Waits until the dispatch is done and gives its status; may be called again. */
VYRE_API vyre_status vyre_event_wait(vyre_event *event, vyre_dispatch_report *out_report,
                                     vyre_diag *diag);
/* Whether it is done; does not wait. */
VYRE_API bool vyre_event_poll(vyre_event *event);
/* Calls `done` once with the status of the dispatch, when its outputs are in place and before
 * vyre_event_wait returns: from the thread of the device or the one that cancels; from this one, at
 * once, if it is done already. `done` must not wait for the device nor release the event. One per
 * event. */
typedef void (*vyre_event_fn)(void *user, vyre_status status);
VYRE_API vyre_status vyre_event_notify(vyre_event *event, vyre_event_fn done, void *user,
                                       vyre_diag *diag);
/* Stops it soon if it runs, at once if it is still queued; it is then done with VYRE_CANCELLED,
 * unless it was already done. */
VYRE_API void vyre_event_cancel(vyre_event *event);
/* Waits until it is done, since its memory is in use until then. */
VYRE_API void vyre_event_release(vyre_event *event);

/* The number of elements of each declaration and the grid, as a dispatch with these inputs would
 * have them. counts has room for every declaration of the program; non-memory gets 0. An input of
 * declared size may be left out (all zero): only its size is asked for. Any out_ may be NULL. */
VYRE_API vyre_status vyre_bind_sizes(const vyre_program *program, const vyre_input *inputs,
                                     uint32_t input_count, const vyre_dispatch_options *options,
                                     uint32_t *out_counts, uint32_t out_grid[3],
                                     vyre_decl *out_grid_from, vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
