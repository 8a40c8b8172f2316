/* Devices: what is there, what it can do, opening it, and memory on it. */
#ifndef VYRE_DEVICE_H
#define VYRE_DEVICE_H

#include "vyre/lower.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_registry vyre_registry; /* a set of backends; see vyre/backend.h to extend it */
typedef struct vyre_device vyre_device;
typedef struct vyre_buffer vyre_buffer; /* memory on a device */

/* How much of a program a device takes at once. */
typedef enum vyre_level {
    VYRE_LEVEL_SEGMENT = 0, /* barrier-free pieces; the runtime runs the schedule */
    VYRE_LEVEL_SCHEDULE,    /* all pieces and the schedule between them */
    VYRE_LEVEL_PROGRAM      /* whole programs: it has a native grid barrier */
} vyre_level;

/* What a device can do, and its limits (0: unknown or none). */
typedef struct vyre_device_info {
    char backend[32]; /* "ref" */
    char name[128];   /* "reference interpreter" */
    char version[64];
    vyre_level level;
    bool allows_split; /* may be given the pieces of a program with grid barriers */
    bool is_oracle;    /* slow and exact; never chosen by "auto" while another is there */
    bool is_dummy;     /* computes nothing; never chosen by "auto" */
    bool has_f64, has_u64_atomics, has_float_atomics, has_subgroups, has_async_copy;
    /* What the hardware has of its own; every device runs these programs, some emulate. */
    bool has_f16, has_bf16, has_tensor_cores, has_indirect_launch;
    bool has_async_compute;      /* several queues run side by side */
    bool has_speculation;        /* what is launched in vain is undone by the device */
    bool has_persistent_threads; /* kernels may stay and take work from a queue in memory */
    bool is_distributed;         /* more than one rank: collectives reach others */
    bool reports_device_time, has_hardware_counters;
    bool turns_loops;    /* likes the trips of loops over all elements one after the other: see
                            vyre_split_options */
    bool trips_together; /* ... within a launch: it runs each group trip by trip */
    /* Memory of the caller can be used where it is (vyre_buffer_wrap), if it begins at a multiple
     * of host_alignment and has host_padding bytes more. */
    bool wraps_memory;
    uint32_t host_alignment, host_padding;
    /* Launches that it likes to have queued while the host does not know yet which way a program
     * goes; 0: launches are synchronous, or it does not help. */
    uint32_t launches_ahead;
    uint32_t native_subgroup; /* lanes; 0: emulated */
    uint32_t compute_units;   /* of a processor: threads that work */
    uint32_t vector_bytes;    /* of the widest vector register */
    uint32_t max_group_lanes;
    uint32_t max_group[3]; /* of these along each axis */
    uint32_t max_groups[3];
    uint64_t max_workgroup_bytes;
    uint64_t max_buffer_bytes;
    uint64_t memory_bytes;
    uint64_t memory_bandwidth; /* bytes per second */
    uint64_t cache_bytes[3];   /* data caches that a compute unit has or shares, level 1 to 3 */
    const char *code_folder;   /* where compiled programs are kept; NULL: nowhere. The device's */
    /* Which operations programs for it may hold: they are lowered to these. NULL: all. What the
     * flags above deny is not among them. */
    const vyre_capabilities *can;
} vyre_device_info;

/* Backends known to a registry (NULL: those built into the library), best first. */
VYRE_API uint32_t vyre_backend_count(const vyre_registry *registry);
VYRE_API const char *vyre_backend_name(const vyre_registry *registry, uint32_t index);

/* Opens a device: "ref", "ref-split", "auto" or NULL for the best one present, "NAME://PATH" for a
 * particular one, or decorated: "fault://INNER?op=launch&n=3&mode=once|always|lost". "ref" and
 * "ref-split" can claim limits, in bytes: "ref-split://max_buffer=4096&memory=65536".
 * "auto" opens the first device of every backend once, and keeps the best: no dummy, no oracle if
 * it can be helped, then by what the device can do, how well it tells time, memory bandwidth, rank,
 * how fast it opened, name. A backend must outlive its devices. */
VYRE_API vyre_status vyre_device_open(const vyre_registry *registry, const char *uri,
                                      const vyre_allocator *allocator, vyre_device **out_device,
                                      vyre_diag *diag);

/* What a device may use; all zero: what it likes. */
typedef struct vyre_device_options {
    /* Where compiled programs are kept from process to process: a folder of the caller's alone
     * (0700), made where it is missing. NULL: nowhere. A device that has no use for it, or can't
     * use it, does without; vyre_device_info.code_folder tells. */
    const char *code_folder;
    uint32_t threads; /* that work, with the caller; VYRE_UNSUPPORTED where there is only one */
    /* Bounds need not be tested: a program that reads or writes beyond the end of its memory then
     * does whatever that does. A device may test nevertheless. */
    bool unchecked;
} vyre_device_options;
/* As vyre_device_open; options may be NULL. What the URI says goes first. */
VYRE_API vyre_status vyre_device_open_with(const vyre_registry *registry, const char *uri,
                                           const vyre_device_options *options,
                                           const vyre_allocator *allocator,
                                           vyre_device **out_device, vyre_diag *diag);
/* All buffers, pipelines and events of the device must be gone. */
VYRE_API void vyre_device_close(vyre_device *device);
/* After VYRE_DEVICE_LOST every call on the device says so, until it is opened anew. Buffers and
 * pipelines do not survive: those that are there are lost for good, say so when they are used, and
 * are to be destroyed and released as ever. Nothing of the device may be running. On failure the
 * device stays lost, and reopening may be tried again. Counters go on; a fault:// is over unless
 * its mode is "always". */
/* In a child of fork() a device that its parent opened is lost and can't be reopened; the child may
 * let go of it and of all that belongs to it. */
VYRE_API bool vyre_device_is_lost(const vyre_device *device);
VYRE_API vyre_status vyre_device_reopen(vyre_device *device, vyre_diag *diag);
VYRE_API const vyre_device_info *vyre_device_describe(const vyre_device *device);
/* The operations that programs for it may hold: `can` of the description and what its flags deny.
 * vyre_capabilities_tell has their names. */
VYRE_API const vyre_capabilities *vyre_device_capabilities(const vyre_device *device);

/* Does now what the first dispatch would wait for, and starts the thread of asynchronous ones. */
VYRE_API vyre_status vyre_device_prepare(vyre_device *device, vyre_diag *diag);
/* Waits until all that was begun on the device is done: asynchronous dispatches, too. Tells the
 * first thing that went wrong where nobody could be told, such as memory that could not be freed
 * behind a dispatch that succeeded; once. */
VYRE_API vyre_status vyre_device_flush(vyre_device *device, vyre_diag *diag);
/* Flushes and ends the device, and tells whether that went well: it is lost then, may be reopened,
 * and is still to be closed. VYRE_INVALID_ARGUMENT, and nothing happens, while there are buffers or
 * pipelines. */
VYRE_API vyre_status vyre_device_shutdown(vyre_device *device, vyre_diag *diag);

/* Memory on the device, zero at first. Buffers belong to the device that made them; giving one to
 * another device is refused. Offsets and sizes are bytes. */
VYRE_API vyre_status vyre_buffer_create(vyre_device *device, uint64_t size,
                                        vyre_buffer **out_buffer, vyre_diag *diag);
/* A buffer over memory of the caller's, where the device can use it as it is: the description says
 * which (wraps_memory); VYRE_UNSUPPORTED else. `capacity` bytes are there, of which `size` are the
 * buffer; what is behind them may change. They must stay, and nobody else may touch them while
 * something of the device uses the buffer. When it is gone they hold what it held. */
VYRE_API vyre_status vyre_buffer_wrap(vyre_device *device, void *bytes, uint64_t size,
                                      uint64_t capacity, vyre_buffer **out_buffer, vyre_diag *diag);
VYRE_API void vyre_buffer_destroy(vyre_buffer *buffer);
/* The same, and tells whether the device had something against it. The buffer is gone anyway. */
VYRE_API vyre_status vyre_buffer_free(vyre_buffer *buffer, vyre_diag *diag);
VYRE_API uint64_t vyre_buffer_size(const vyre_buffer *buffer);
VYRE_API vyre_status vyre_buffer_write(vyre_buffer *buffer, uint64_t offset, const void *data,
                                       uint64_t size, vyre_diag *diag);
VYRE_API vyre_status vyre_buffer_read(const vyre_buffer *buffer, uint64_t offset, void *data,
                                      uint64_t size, vyre_diag *diag);
VYRE_API vyre_status vyre_buffer_copy(vyre_buffer *to, uint64_t to_offset, const vyre_buffer *from,
                                      uint64_t from_offset, uint64_t size, vyre_diag *diag);
VYRE_API vyre_status vyre_buffer_zero(vyre_buffer *buffer, uint64_t offset, uint64_t size,
                                      vyre_diag *diag);

/* Several ranges at once, in order, of any buffers. All are checked before the first byte moves.
 * A device that can takes those of a batch that follow each other in one call. */
typedef struct vyre_write_range {
    vyre_buffer *buffer;
    uint64_t offset;
    const void *data;
    uint64_t size;
} vyre_write_range;
typedef struct vyre_read_range {
    const vyre_buffer *buffer;
    uint64_t offset;
    void *data;
    uint64_t size;
} vyre_read_range;
VYRE_API vyre_status vyre_buffer_write_many(const vyre_write_range *ranges, uint32_t count,
                                            vyre_diag *diag);
VYRE_API vyre_status vyre_buffer_read_many(const vyre_read_range *ranges, uint32_t count,
                                           vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
