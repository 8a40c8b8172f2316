/* The queue of a device: jobs are done one after the other by a thread of its own. */
#ifndef VYRE_SRC_DEVICE_QUEUE_H
#define VYRE_SRC_DEVICE_QUEUE_H

#include "vyre/device.h"

typedef enum vyre_job_state { VYRE_JOB_QUEUED, VYRE_JOB_RUNNING, VYRE_JOB_DONE } vyre_job_state;

/* The head of a job; `state` and `next` are guarded by the queue. */
typedef struct vyre_job {
    void (*work)(struct vyre_job *job);
    vyre_job_state state;
    struct vyre_job *next;
    void (*done)(struct vyre_job *job); /* called before others see that it is done; or NULL */
} vyre_job;

/* Appends a job; the first one starts the thread. */
vyre_status vyre_queue_push(vyre_device *device, vyre_job *job, vyre_diag *diag);
/* Starts the thread, if it does not run yet. */
vyre_status vyre_queue_start(vyre_device *device, vyre_diag *diag);
/* Waits until there is nothing left to do. Not from the thread of the queue. */
void vyre_queue_drain(vyre_device *device);
/* Takes a job out that has not begun, and makes it done by `instead` of its work, which must not
 * use the queue. Does nothing if it has begun. */
void vyre_queue_withdraw(vyre_device *device, vyre_job *job, void (*instead)(vyre_job *job));
/* `done` is called once, by the thread that ends the job; at once if it has ended. One per job. */
void vyre_queue_when_done(vyre_device *device, vyre_job *job, void (*done)(vyre_job *job));
bool vyre_queue_is_done(vyre_device *device, const vyre_job *job);
/* Whether it is done: in a child of the process that queued it there is nobody to do it. */
bool vyre_queue_wait(vyre_device *device, const vyre_job *job);
/* Ends the thread, if there is one. All jobs must be done. */
void vyre_queue_stop(vyre_device *device);

#endif
