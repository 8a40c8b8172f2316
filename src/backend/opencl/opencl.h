/* The parts of the OpenCL backend: a device, its kernels, and its queue. */
#ifndef VYRE_SRC_BACKEND_OPENCL_OPENCL_H
#define VYRE_SRC_BACKEND_OPENCL_OPENCL_H

#include <pthread.h>

#include "backend/opencl/cl.h"
#include "base/text.h"
#include "kit/store.h"
#include "vyre/backend.h"

/* Something that was enqueued and that somebody will ask about: a launch, or bytes to fetch. */
typedef struct opencl_command {
    struct opencl_command *next;
    uint64_t number; /* in the order of the queue; of a fetch it is the ticket */
    cl_object event;
    bool is_fetch, is_abandoned;
    vyre_launch launch; /* pass, interval, segment and trace of it */
    const char *name;   /* of the program; it lives as long as the kernel */
    uint64_t enqueued;  /* nanoseconds of the host's clock, if there is a trace */
    uint64_t word;      /* what was fetched */
} opencl_command;

typedef struct opencl_device {
    vyre_allocator allocator;
    cl_api cl;
    cl_object id, context, queue;
    vyre_capabilities can;
    bool has_f64, has_u64_atomics, divides_exactly, is_processor;
    uint64_t local_bytes; /* of a group */
    bool unchecked;       /* bounds need not be tested */
    vyre_store store;     /* of what the driver compiled */
    pthread_mutex_t lock; /* of the list */
    opencl_command *first, **last;
    uint64_t commands;
    uint64_t clock_ahead; /* the host's clock less the device's; 0: not known yet */
} opencl_device;

typedef struct opencl_kernel {
    cl_object kernel;
    const vyre_program *source;
    /* What arguments are bound to, by declaration; only what changed is bound again. */
    vyre_memory *memory;
    uint32_t *counts;
    uint64_t *values;
    bool is_bound;
    bool is_from_disk;
} opencl_kernel;

/* loader.c: opens the loader and finds the device that `path` names: "" for the first, a number, or
 * a part of its name. */
vyre_status opencl_find(cl_api *cl, const char *path, cl_object *out_id, vyre_diag *diag);
void opencl_unload(cl_api *cl);
uint32_t opencl_count(void);
/* Text or number of a device; "" and 0 if it can't be told. */
void opencl_text(const cl_api *cl, cl_object id, uint32_t what, char *text, size_t size);
uint64_t opencl_number(const cl_api *cl, cl_object id, uint32_t what, size_t size);

/* A call that failed: `what` was to be done. */
vyre_status opencl_fail(vyre_diag *diag, int32_t code, const char *what);

/* build.c: what the driver makes of a text; found on disk if it was made before. `name` is for
 * messages. */
vyre_status opencl_build(opencl_device *device, const char *name, const vyre_text *text,
                         cl_object *out_program, bool *out_is_from_disk, vyre_diag *diag);

/* kernel.c */
vyre_status opencl_compile(vyre_backend_device *object, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag);
vyre_status opencl_compile_many(vyre_backend_device *object, const vyre_program *const *programs,
                                uint32_t count, vyre_backend_kernel **out_kernels, vyre_diag *diag);
void opencl_origin(vyre_backend_device *object, const vyre_backend_kernel *kernel,
                   vyre_code_origin *out_origin);
void opencl_destroy(vyre_backend_device *object, vyre_backend_kernel *given);
vyre_status opencl_launch(vyre_backend_device *object, vyre_backend_kernel *given,
                          const vyre_launch *launch, vyre_launch_result *out_result,
                          vyre_diag *diag);

/* queue.c: what is enqueued and not told of yet. */
opencl_command *opencl_command_new(opencl_device *device, const vyre_launch *launch,
                                   const char *name);
/* Puts it into the list, in the order of the queue: the lock is held since it was enqueued. */
void opencl_command_add(opencl_device *device, opencl_command *command);
void opencl_commands_free(opencl_device *device);
vyre_status opencl_finish(vyre_backend_device *object, uint64_t pass, vyre_launch_results *results,
                          vyre_diag *diag);
vyre_status opencl_fetch(vyre_backend_device *object, uint64_t pass, vyre_memory memory,
                         uint64_t offset, uint64_t size, vyre_ticket *out_ticket, vyre_diag *diag);
vyre_status opencl_await(vyre_backend_device *object, vyre_ticket ticket, void *data, uint64_t size,
                         vyre_launch_results *results, vyre_diag *diag);

#endif
