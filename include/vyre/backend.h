/* For authors of backends. A backend is three small tables: what it is called and how it opens a
 * device; what a device does; what a compiled module does. The runtime, not the backend, validates,
 * binds, splits, times, retries and traces. Each entry says what NULL means.
 *
 * Threads: entries of one device may be called from several threads, but never for one pipeline or
 * buffer at the same time. Errors: fill diag with what went wrong and what to do. */
#ifndef VYRE_BACKEND_H
#define VYRE_BACKEND_H

#include "vyre/device.h"
#include "vyre/dispatch.h"
#include "vyre/split.h"
#include "vyre/telemetry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A backend's own objects; it casts them to its structs. */
typedef struct vyre_backend_device vyre_backend_device;
typedef struct vyre_backend_kernel vyre_backend_kernel;

/* Device memory as the backend knows it; 0 is no memory. */
typedef uint64_t vyre_memory;

/* Bytes that are on their way to the host; what the number means is the backend's. */
typedef uint64_t vyre_ticket;

/* Something that took time, for a trace. */
typedef struct vyre_span {
    const char *category;            /* static: "launch", "segment", "barrier", ... */
    const char *name;                /* copied */
    uint64_t begin, end;             /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t bytes;                  /* moved or allocated; 0: says nothing */
    uint32_t segment, segment_count; /* of a launch: 1-based, 0: a whole program */
    uint64_t launches;               /* whose turn did not come; 0: says nothing */
    uint32_t worker; /* number + 1: it gets a row of its own; 0: the calling thread */
    const char *row; /* static: what that row is called; NULL: "worker" and its number */
} vyre_span;
/* From any thread; takes no lock and no memory. trace may not be NULL. */
VYRE_API void vyre_trace_add(vyre_trace *trace, const vyre_span *span);

/* One launch of a kernel: everything by declaration number of the kernel's program. What it points
 * to is valid during the call. */
typedef struct vyre_launch {
    const vyre_memory *memory; /* in, inout, out, scratch; 0 for others */
    const uint32_t *counts;    /* elements of each */
    const uint64_t *values;    /* params: bits */
    uint32_t grid[3];
    uint64_t deadline_ns; /* of the monotonic clock; 0: none */
    uint64_t max_steps;   /* 0: none */
    const vyre_cancel *cancel;
    vyre_progress *progress; /* see vyre_launch_progress; NULL: nobody looks */
    vyre_order order;
    uint64_t order_seed;
    bool find_races;
    vyre_race *races;
    uint32_t race_capacity;
    vyre_outside_list *outside; /* NULL: nobody wants to know */
    vyre_trace *trace; /* NULL: none. The runtime adds the launch itself; a device that runs much in
                          one may tell what its workers did */
    /* For the results of launches that are queued. */
    uint64_t pass; /* whose launch it is: a pass over a grid; no two of a device have the same */
    uint32_t interval; /* how many grid barriers of the pass lie before it */
    uint32_t segment;  /* from 1; 0: a whole program */
} vyre_launch;

/* Zeros when `launch` is called. */
typedef struct vyre_launch_result {
    bool is_queued; /* it is not done, and all else comes with `await` or `finish` */
    bool is_timed;  /* device_ns is known */
    uint64_t steps;
    uint64_t race_count, harmless_race_count;
    uint32_t races_stored;
    uint64_t device_ns;
    uint64_t trap_lane; /* of VYRE_TRAP: the lowest lane that trapped in the launch, which all
                           others have run to its end */
} vyre_launch_result;

/* What came of queued launches of one pass: begins with zeros, and vyre_launch_results_add adds
 * them in the order in which they were enqueued. */
typedef struct vyre_launch_results {
    uint64_t launches;  /* that are done */
    uint64_t device_ns; /* of those that were timed; a sum beyond 2^64 is VYRE_LIMIT */
    uint64_t untimed;
    /* VYRE_OK, or how it ended: launches behind the first that failed, or behind the grid barrier
     * that follows a trap, count for nothing. Of the lanes that trapped in that interval the lowest
     * is told. */
    vyre_status status;
    uint32_t interval, segment; /* of the launch that did not end well */
    uint64_t trap_lane;
    vyre_diag diag;
} vyre_launch_results;
/* A launch that is done; diag is of one that did not end well. */
VYRE_API void vyre_launch_results_add(vyre_launch_results *results, const vyre_launch *launch,
                                      vyre_status status, const vyre_launch_result *result,
                                      const vyre_diag *diag);

/* One of several writes. */
typedef struct vyre_memory_write {
    vyre_memory memory;
    uint64_t offset, size;
    const void *data;
} vyre_memory_write;

/* A launch on a device without memory of its own. */
typedef struct vyre_bytes_launch {
    const vyre_launch *launch; /* whose memory means nothing */
    /* By declaration: what the buffer holds, and, unless it is `in`, where the launch leaves what
     * it holds then; NULL where it has no bytes. */
    void *const *bytes;
    const uint64_t *sizes;
} vyre_bytes_launch;

/* A segment of a module, bound by declaration number of the segment. All is in place but what
 * changes from launch to launch: scalars, memory that changes places, the tick.
 * vyre_position_enter puts that into the arrays. */
typedef struct vyre_segment_binding {
    vyre_memory *memory;
    uint32_t *counts;
    uint64_t *values;
} vyre_segment_binding;

/* One pass over a module by a device that runs the schedule itself. */
typedef struct vyre_module_launch {
    const vyre_module *module;
    const vyre_launch *source; /* as if the source were launched in one: grid, limits, memory and
                                  params, which the schedule reads, too */
    const vyre_segment_binding *segments; /* threads that launch on their own need copies */
    vyre_memory places[VYRE_PLACES]; /* what is at each place when the pass begins; zeros, as all
                                        carried state; 0: the module has no use for it */
    uint32_t group[3];               /* workgroup scope: which group the pass is for */
    uint64_t *visits; /* zeros, for each step of the module: the backend counts how often it ran */
    /* For each `swapped` of the module: the number of the one whose memory it has at the end.
     * vyre_position_finish writes it. */
    uint32_t *held;
} vyre_module_launch;

/* Where the code of a kernel came from. */
typedef enum vyre_code_origin {
    VYRE_CODE_UNKNOWN = 0, /* or there is none */
    VYRE_CODE_COMPILED,
    VYRE_CODE_FROM_DISK,
    VYRE_CODE_FROM_MEMORY
} vyre_code_origin;

typedef struct vyre_device_table {
    void (*close)(vyre_backend_device *device);
    void (*describe)(vyre_backend_device *device, vyre_device_info *out_info);
    /* Zero-filled memory. */
    vyre_status (*allocate)(vyre_backend_device *device, uint64_t size, vyre_memory *out_memory,
                            vyre_diag *diag);
    /* Whatever it says, the memory is not used again. Also on a lost device. */
    vyre_status (*free)(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag);
    vyre_status (*write)(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                         const void *data, uint64_t size, vyre_diag *diag);
    vyre_status (*read)(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                        void *data, uint64_t size, vyre_diag *diag);
    vyre_status (*copy)(vyre_backend_device *device, vyre_memory to, uint64_t to_offset,
                        vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag);
    vyre_status (*zero)(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                        uint64_t size, vyre_diag *diag);
    /* out_equal: the two ranges hold the same bytes. (optional) NULL: the runtime reads and
     * compares. */
    vyre_status (*equal)(vyre_backend_device *device, vyre_memory a, vyre_memory b, uint64_t size,
                         bool *out_equal, vyre_diag *diag);
    /* Makes a program ready to launch: whole programs at level PROGRAM, else one without grid
     * barriers. The program is retained by the runtime while the kernel lives. */
    vyre_status (*compile)(vyre_backend_device *device, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag);
    /* All segments of a module at once, at level SEGMENT; no two have the same name. Either all
     * kernels are made or none; diag->segment is then the number of the program that failed, from
     * 1, if it is known. (optional) NULL: they come one by one. */
    vyre_status (*compile_many)(vyre_backend_device *device, const vyre_program *const *programs,
                                uint32_t count, vyre_backend_kernel **out_kernels, vyre_diag *diag);
    void (*destroy)(vyre_backend_device *device, vyre_backend_kernel *kernel);
    /* Enqueues or runs; the memory of a launch is seen by the next one. One that was enqueued says
     * so in out_result, and VYRE_OK. VYRE_LIMIT of a program that waits for its grid: that grid is
     * too large to be on the device at once, and nothing ran; it is split then, if it may. */
    vyre_status (*launch)(vyre_backend_device *device, vyre_backend_kernel *kernel,
                          const vyre_launch *launch, vyre_launch_result *out_result,
                          vyre_diag *diag);
    /* Waits until all that was launched is done. Adds to *results what came of the queued launches
     * of that pass that were not told of yet, and forgets them; failures of launches are no failure
     * of waiting. It ends each pass, and `free` and `destroy` come behind it, unless it fails:
     * then they wait for what uses what they free. (optional) NULL: launch runs to the end itself.
     */
    vyre_status (*finish)(vyre_backend_device *device, uint64_t pass, vyre_launch_results *results,
                          vyre_diag *diag);
    /* Enqueues the reading of at most 8 bytes behind what was launched so far, for a pass, and does
     * not wait. Each ticket is awaited once, on a lost device perhaps never. (optional) NULL: the
     * runtime reads and waits. */
    vyre_status (*fetch)(vyre_backend_device *device, uint64_t pass, vyre_memory memory,
                         uint64_t offset, uint64_t size, vyre_ticket *out_ticket, vyre_diag *diag);
    /* Waits for these bytes, and for nothing behind them. Adds to *results what came of the queued
     * launches of the pass before them, as `finish` does. data and results are NULL: nobody wants
     * them any more, and there is nothing to wait for. (optional) NULL exactly if fetch is. */
    vyre_status (*await)(vyre_backend_device *device, vyre_ticket ticket, void *data, uint64_t size,
                         vyre_launch_results *results, vyre_diag *diag);
    /* Makes a whole module ready to run; `destroy` destroys it. The module is retained by the
     * runtime while the kernel lives. (optional) NULL, or another level than SCHEDULE: the runtime
     * compiles and launches segments. */
    vyre_status (*compile_module)(vyre_backend_device *device, const vyre_module *module,
                                  vyre_backend_kernel **out_kernel, vyre_diag *diag);
    /* Runs one pass over the schedule, to its end. On failure diag->segment
     * is the number of the segment that failed, from 1, if it is known. (optional) NULL exactly if
     * compile_module is. */
    vyre_status (*run_module)(vyre_backend_device *device, vyre_backend_kernel *kernel,
                              const vyre_module_launch *launch, vyre_launch_result *out_result,
                              vyre_diag *diag);
    /* Whether making the kernel meant to compile it. (optional) NULL: it is not known. */
    void (*origin)(vyre_backend_device *device, const vyre_backend_kernel *kernel,
                   vyre_code_origin *out_origin);
    /* Several writes at once, in order. (optional) NULL: they come one by one. */
    vyre_status (*write_many)(vyre_backend_device *device, const vyre_memory_write *writes,
                              uint32_t count, vyre_diag *diag);
    /* Makes memory of bytes of the host, which are used where they are; `capacity` of them may be
     * read and written, `size` count. VYRE_UNSUPPORTED: not these. (optional) NULL: none. */
    vyre_status (*adopt)(vyre_backend_device *device, void *bytes, uint64_t size, uint64_t capacity,
                         vyre_memory *out_memory, vyre_diag *diag);
    /* In place of `free` for what was adopted: the bytes are in place, and the host's again. Also
     * on a lost device. (optional) NULL exactly if adopt is. */
    vyre_status (*disown)(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag);
    /* Does now what the first dispatch would have to wait for. (optional) NULL: there is nothing.
     */
    vyre_status (*prepare)(vyre_backend_device *device, vyre_diag *diag);
    /* All that was begun is done and in its place, or it is told what failed; nothing of a pass is
     * under way. (optional) NULL: it always is. */
    vyre_status (*flush)(vyre_backend_device *device, vyre_diag *diag);
    /* Last words: called once in front of `close`, with no memory and no kernels left, where
     * somebody wants to know whether all ended well. (optional) NULL: it did. */
    vyre_status (*shutdown)(vyre_backend_device *device, vyre_diag *diag);
    /* Numbers of its own, each by a name that stays the same. (optional) NULL: none. */
    void (*metrics)(vyre_backend_device *device, vyre_metric_fn tell, void *user);
    /* For a device that takes bytes and gives bytes, and has no memory in between: it leaves out
     * allocate, free, write, read, copy, zero and launch; the runtime keeps the bytes of each
     * buffer and gives them to each launch. (optional) NULL: it has memory. */
    vyre_status (*launch_bytes)(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                const vyre_bytes_launch *launch, vyre_launch_result *out_result,
                                vyre_diag *diag);
} vyre_device_table;

/* What a backend decided about the code of a segment, for people who tune programs. */
typedef struct vyre_decision {
    uint32_t segment;          /* of the module */
    uint32_t part, part_count; /* of the segment: between its workgroup barriers, from 0 */
    vyre_place place;          /* of a loop, a guard or an access; line 0: of all of it */
    char topic[16];            /* "form", "lanes", "loop", ... */
    char choice[112];          /* what the code does, */
    char reason[176]; /* and the fact by which that was chosen; "" where there is no other way */
} vyre_decision;
/* False: enough. */
typedef bool (*vyre_decision_fn)(void *user, const vyre_decision *decision);

typedef struct vyre_backend {
    const char *name;        /* stable, unique, lower case */
    const char *description; /* one line */
    uint32_t rank;           /* lower is preferred among equals */
    bool by_name_only;       /* "auto" does not open it: that takes long, or seldom helps */
    const vyre_device_table *device;
    /* `path` is what follows "NAME://", or "". Not being there is VYRE_NOT_FOUND. */
    vyre_status (*open)(const struct vyre_backend *backend, const char *path,
                        const vyre_allocator *allocator, vyre_backend_device **out_device,
                        vyre_diag *diag);
    /* How many devices there are, without opening them. (optional) NULL: one. */
    uint32_t (*count)(const struct vyre_backend *backend);
    /* As `open`, for backends that have a use for options; what `path` says goes first. (optional)
     * NULL: `open` is called, and more than one thread is refused. */
    vyre_status (*open_with)(const struct vyre_backend *backend, const char *path,
                             const vyre_device_options *options, const vyre_allocator *allocator,
                             vyre_backend_device **out_device, vyre_diag *diag);
    /* Splits a program as for the device that `path` names, and tells how it would run: by segment,
     * part and place. Opens nothing: what a compiler is needed for is not asked. Of the options
     * keep_barriers and any_grid are used. (optional) NULL: there is nothing to tell. */
    vyre_status (*explain)(const struct vyre_backend *backend, const char *path,
                           const vyre_program *program, const vyre_split_options *options,
                           const vyre_allocator *allocator, vyre_module **out_module,
                           vyre_decision_fn tell, void *user, vyre_diag *diag);
} vyre_backend;

/* A registry starts with the built-in backends. Adding a name that is there is an error. */
VYRE_API vyre_status vyre_registry_create(const vyre_allocator *allocator,
                                          vyre_registry **out_registry);
VYRE_API void vyre_registry_destroy(vyre_registry *registry);
/* The table must outlive the registry. */
VYRE_API vyre_status vyre_registry_add(vyre_registry *registry, const vyre_backend *backend,
                                       vyre_diag *diag);

/* How a device would run a program: splits it as the backend of the URI would have it, and tells
 * its decisions one by one. options may be NULL. VYRE_UNSUPPORTED: that backend decides nothing. */
VYRE_API vyre_status vyre_backend_explain(const vyre_registry *registry, const char *uri,
                                          const vyre_program *program,
                                          const vyre_split_options *options,
                                          const vyre_allocator *allocator, vyre_module **out_module,
                                          vyre_decision_fn tell, void *user, vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
