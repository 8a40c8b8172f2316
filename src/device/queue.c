/* One thread, one list, one lock. The thread is started by the first job and ends with the device.
 * It takes no signals: those belong to the application's threads. */
#include "device/queue.h"

#include <signal.h>

#include "base/diag.h"
#include "device/call.h"

struct vyre_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something was queued, is done, or the end has come */
    vyre_job *first, **last;
    bool is_working; /* on a job that is no longer in the list */
    bool is_ending;
    pthread_t thread;
};

/* The lock is held, before and after. */
static void end_job(struct vyre_queue *q, vyre_job *job) {
    void (*done)(vyre_job * job);
    job->state = VYRE_JOB_RUNNING;
    while ((done = job->done)) {
        job->done = NULL;
        pthread_mutex_unlock(&q->lock);
        done(job);
        pthread_mutex_lock(&q->lock);
    }
    job->state = VYRE_JOB_DONE; /* from here on the job may be gone */
    pthread_cond_broadcast(&q->changed);
}

static void *work(void *user) {
    struct vyre_queue *q = user;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->is_ending) {
            pthread_cond_wait(&q->changed, &q->lock);
        }
        vyre_job *job = q->first;
        if (!job) {
            break;
        }
        q->first = job->next;
        q->last = q->first ? q->last : &q->first;
        job->state = VYRE_JOB_RUNNING;
        q->is_working = true;
        pthread_mutex_unlock(&q->lock);
        job->work(job);
        pthread_mutex_lock(&q->lock);
        end_job(q, job);
        q->is_working = false;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static int start_thread(struct vyre_queue *q) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&q->thread, NULL, work, q);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

static vyre_status make_queue(vyre_device *device, vyre_diag *diag) {
    struct vyre_queue *q = vyre_alloc_zeroed(&device->allocator, 1, sizeof *q);
    if (!q) {
        return vyre_fail_memory(diag, "a queue");
    }
    q->last = &q->first;
    int error = pthread_mutex_init(&q->lock, NULL);
    if (!error && (error = pthread_cond_init(&q->changed, NULL))) {
        pthread_mutex_destroy(&q->lock);
    } else if (!error && (error = start_thread(q))) {
        pthread_cond_destroy(&q->changed);
        pthread_mutex_destroy(&q->lock);
    }
    if (error) {
        vyre_free(&device->allocator, q, 1, sizeof *q);
        (void)vyre_fail(diag, VYRE_OUT_OF_MEMORY, "end other threads of the process",
                        "the thread of a device could not be started");
        if (diag) {
            diag->native = error;
        }
        return VYRE_OUT_OF_MEMORY;
    }
    device->queue = q;
    return VYRE_OK;
}

vyre_status vyre_queue_start(vyre_device *device, vyre_diag *diag) {
    vyre_status status = vyre_device_check_process(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    pthread_mutex_lock(&device->lock);
    status = device->queue ? VYRE_OK : make_queue(device, diag);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void vyre_queue_drain(vyre_device *device) {
    pthread_mutex_lock(&device->lock);
    struct vyre_queue *q = device->queue;
    pthread_mutex_unlock(&device->lock);
    if (q) {
        pthread_mutex_lock(&q->lock);
        while (q->is_working || q->first) {
            pthread_cond_wait(&q->changed, &q->lock);
        }
        pthread_mutex_unlock(&q->lock);
    }
}

vyre_status vyre_queue_push(vyre_device *device, vyre_job *job, vyre_diag *diag) {
    vyre_status status = vyre_queue_start(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    struct vyre_queue *q = device->queue;
    pthread_mutex_lock(&q->lock);
    job->state = VYRE_JOB_QUEUED;
    job->next = NULL;
    *q->last = job;
    q->last = &job->next;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return VYRE_OK;
}

/* In a child of its process a queue has no thread, and somebody may have held its lock. */
static bool is_orphaned(const vyre_device *device) {
    return vyre_device_check_process(device, NULL) != VYRE_OK;
}

void vyre_queue_withdraw(vyre_device *device, vyre_job *job, void (*instead)(vyre_job *job)) {
    struct vyre_queue *q = device->queue;
    if (is_orphaned(device)) {
        return;
    }
    pthread_mutex_lock(&q->lock);
    if (job->state == VYRE_JOB_QUEUED) {
        vyre_job **at = &q->first;
        while (*at != job) {
            at = &(*at)->next;
        }
        *at = job->next;
        q->last = job->next != NULL ? q->last : at;
        instead(job);
        end_job(q, job);
    }
    pthread_mutex_unlock(&q->lock);
}

void vyre_queue_when_done(vyre_device *device, vyre_job *job, void (*done)(vyre_job *job)) {
    struct vyre_queue *q = device->queue;
    if (is_orphaned(device)) {
        return;
    }
    pthread_mutex_lock(&q->lock);
    const bool is_done = job->state == VYRE_JOB_DONE;
    job->done = is_done ? NULL : done;
    pthread_mutex_unlock(&q->lock);
    if (is_done) {
        done(job);
    }
}

bool vyre_queue_is_done(vyre_device *device, const vyre_job *job) {
    struct vyre_queue *q = device->queue;
    if (is_orphaned(device)) {
        return job->state == VYRE_JOB_DONE;
    }
    pthread_mutex_lock(&q->lock);
    bool is_done = job->state == VYRE_JOB_DONE;
    pthread_mutex_unlock(&q->lock);
    return is_done;
}

bool vyre_queue_wait(vyre_device *device, const vyre_job *job) {
    struct vyre_queue *q = device->queue;
    if (is_orphaned(device)) {
        return job->state == VYRE_JOB_DONE;
    }
    pthread_mutex_lock(&q->lock);
    while (job->state != VYRE_JOB_DONE) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return true;
}

void vyre_queue_stop(vyre_device *device) {
    struct vyre_queue *q = device->queue;
    if (!q) {
        return;
    }
    if (!is_orphaned(device)) {
        pthread_mutex_lock(&q->lock);
        q->is_ending = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        pthread_join(q->thread, NULL);
        pthread_cond_destroy(&q->changed);
        pthread_mutex_destroy(&q->lock);
    }
    vyre_free(&device->allocator, q, 1, sizeof *q);
    device->queue = NULL;
}
