/* The inside of devices and buffers, for the runtime. */
#ifndef VYRE_SRC_DEVICE_DEVICE_H
#define VYRE_SRC_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/process.h"
#include "device/counters.h"
#include "device/fault.h"
#include "vyre/backend.h"

struct vyre_device {
    vyre_allocator allocator;
    /* How it was opened, to open it anew. */
    const vyre_backend *backend;
    char *path;
    size_t path_size;
    vyre_device_options options; /* of which the folder is a copy */
    size_t folder_size;
    vyre_fault fault;
    bool has_fault;
    uint64_t opens; /* how often it was tried */

    const vyre_device_table *table;
    vyre_backend_device *object;
    vyre_device_info info;
    vyre_capabilities can; /* what `info` says */
    uint64_t open_ns;      /* how long opening took */
    atomic_bool is_lost;
    vyre_process process;         /* that opened it: its threads are not in a child */
    atomic_uint_least64_t passes; /* that were begun: the number of the last */
    vyre_counter_set counters;

    pthread_mutex_t lock;       /* of what follows */
    struct vyre_queue *queue;   /* of asynchronous dispatches; made by the first */
    struct vyre_kept *kept;     /* pipelines for programs that come again; NULL: none yet */
    struct vyre_member *member; /* the first of its buffers and pipelines */
    uint32_t live;              /* how many there are */
    vyre_status late;           /* what went wrong and was not told yet */
    vyre_diag late_diag;
};

/* What has something of the device: the head of buffers and pipelines. */
typedef struct vyre_member {
    struct vyre_member *next, *before;
    void (*lose)(struct vyre_member *member); /* gives back all that is the backend's */
    bool is_lost;                             /* it was made before the device was reopened */
} vyre_member;

void vyre_device_join(vyre_device *device, vyre_member *member);
void vyre_device_leave(vyre_device *device, vyre_member *member);
/* VYRE_DEVICE_LOST if it is; `what` is "buffer" or "pipeline". */
vyre_status vyre_member_check(const vyre_member *member, const char *what, vyre_diag *diag);

/* What dispatches leave with a device: it knows how to get rid of it. */
typedef struct vyre_kept {
    void (*drop)(vyre_device *device); /* all of it; nothing of the device runs */
    void (*describe)(const vyre_device *device,
                     vyre_pipeline_cache *out_cache); /* under the lock */
} vyre_kept;

struct vyre_buffer {
    vyre_member member;
    vyre_device *device;
    vyre_memory memory; /* 0 when size is 0 */
    uint64_t size;
    bool is_zero;    /* nothing was written since it was made */
    bool is_wrapped; /* memory of the caller */
};

/* Whether it runs schedules itself: then it needs no grid barrier to run what waits for the grid.
 */
static inline bool vyre_device_takes_modules(const vyre_device *device) {
    return device->info.level == VYRE_LEVEL_SCHEDULE && device->table->compile_module;
}

/* Opens a device of one backend. */
typedef struct vyre_opening {
    vyre_device_options options;
    const vyre_fault *fault; /* NULL: none */
    vyre_allocator allocator;
} vyre_opening;
vyre_status vyre_device_open_backend(const vyre_backend *backend, const char *path,
                                     const vyre_opening *how, vyre_device **out_device,
                                     vyre_diag *diag);
/* The best device that is there. */
vyre_status vyre_device_open_best(const vyre_registry *registry, const vyre_opening *how,
                                  vyre_device **out_device, vyre_diag *diag);

/* As vyre_buffer_create; `name` stands in messages and spans, trace may be NULL. */
vyre_status vyre_buffer_make(vyre_device *device, uint64_t size, const char *name,
                             vyre_trace *trace, vyre_buffer **out_buffer, vyre_diag *diag);
/* That all ranges lie inside their buffers and have somewhere to go. */
vyre_status vyre_buffer_check_reads(const vyre_read_range *ranges, uint32_t count, vyre_diag *diag);

#endif
