/* Calling a backend. Every call that can fail goes through here: a lost device is not called, its
 * loss is noticed, and the call becomes a span of the trace. */
#ifndef VYRE_SRC_DEVICE_CALL_H
#define VYRE_SRC_DEVICE_CALL_H

#include "device/device.h"
#include "device/entries.h"

typedef struct vyre_call {
    vyre_device *device;
    vyre_trace *trace; /* NULL: none */
    const char *name;  /* of the span: a buffer or a program */
    uint64_t bytes;    /* of the span */
    uint32_t segment, segment_count;
    uint64_t *elapsed; /* the time that the call takes is added; may be NULL */
} vyre_call;

/* vyre_call_write(call, memory, offset, data, size, diag) and so on, for each entry that can fail.
 * An entry that the backend leaves out does nothing. */
#define VYRE_CALL_DECLARE(name, arguments, ...)                                                    \
    vyre_status vyre_call_##name(const vyre_call *call, __VA_ARGS__);
#define VYRE_CALL_NOT(...)
VYRE_DEVICE_ENTRIES(VYRE_CALL_DECLARE, VYRE_CALL_NOT)
#undef VYRE_CALL_DECLARE

/* Waits for the end of all that was launched, and takes what came of the launches of a pass that
 * are queued, as many as are said. */
vyre_status vyre_call_collect(const vyre_call *call, uint64_t pass, uint64_t queued,
                              vyre_launch_results *results, vyre_diag *diag);
/* Memory of a device, checked against its limits; 0 bytes give no memory. call->name says what for
 * in messages. */
vyre_status vyre_call_new_memory(const vyre_call *call, uint64_t size, vyre_memory *out_memory,
                                 vyre_diag *diag);
/* Counts a kernel that was made, by where its code came from. */
void vyre_call_count_code(const vyre_call *call, const vyre_backend_kernel *kernel);
/* VYRE_DEVICE_LOST in a child of the process that opened the device: to be asked before anything
 * that waits. */
vyre_status vyre_device_check_process(const vyre_device *device, vyre_diag *diag);
/* memory may be 0, kernel NULL. All work on a lost device, and do nothing in a child of its
 * process. What goes wrong without a caller who could be told is kept for vyre_device_flush. */
vyre_status vyre_device_give_back(vyre_device *device, vyre_memory memory, bool is_adopted,
                                  vyre_diag *diag);
void vyre_device_free(vyre_device *device, vyre_memory memory);
void vyre_device_destroy(vyre_device *device, vyre_backend_kernel *kernel);

#endif
