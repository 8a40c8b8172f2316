/* The worker threads of a device: made on first use, asleep when there is nothing to do, and one
 * job at a time. The caller is worker 0, so that a job of one worker costs no thread at all. */
#ifndef VYRE_SRC_KIT_TEAM_H
#define VYRE_SRC_KIT_TEAM_H

#include "kit/barrier.h"
#include "kit/share.h"
#include "vyre/base.h"

typedef struct vyre_team vyre_team;

/* A worker in a job. */
typedef struct vyre_worker {
    uint32_t number, count;
    vyre_barrier
        *barrier;     /* of all workers of the job: each waits equally often, or one breaks it */
    vyre_share share; /* for stealing */
} vyre_worker;

/* What each worker does. Floating-point arithmetic is as a program starts with: rounds to nearest,
 * keeps subnormals, masks exceptions, whatever the caller had set. */
typedef void (*vyre_team_job)(vyre_worker *me, void *arg);

typedef struct vyre_team_options {
    uint32_t threads; /* with the caller; 0: as many as there are cores to use */
} vyre_team_options;

/* options may be NULL. VYRE_LIMIT: more than VYRE_BARRIER_MOST_THREADS. Starts no thread. */
vyre_status vyre_team_create(const vyre_team_options *options, const vyre_allocator *allocator,
                             vyre_team **out_team, vyre_diag *diag);
/* Ends and joins the threads. Nobody may run a job or wait to. In a child after fork() it only
 * gives the memory back. NULL is fine. */
void vyre_team_destroy(vyre_team *team);

/* With how many workers jobs run. */
uint32_t vyre_team_size(const vyre_team *team);

/* Runs job(worker, arg) on `workers` workers at once (0: all; no more than there are) and returns
 * when all have returned. Where the system refuses threads there are fewer. Other callers wait, in
 * the order in which they came. out_barriers (may be NULL) gets how often all met at the barrier.
 *   VYRE_INVALID_ARGUMENT  called from inside of a job of the same team
 *   VYRE_DEVICE_LOST       in a child after fork(): the threads have stayed in the parent */
vyre_status vyre_team_run(vyre_team *team, uint32_t workers, vyre_team_job job, void *arg,
                          uint64_t *out_barriers, vyre_diag *diag);

#endif
