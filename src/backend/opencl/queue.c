/* The queue of a device. It is in order, so that each launch sees what the one before left and the
 * host need not wait between them. Launches and fetches are kept in a list, with their events,
 * until somebody asks what came of them. The list is in the order of the queue: a command is
 * enqueued and added under one lock. */
#include <string.h>

#include "backend/opencl/opencl.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"

opencl_command *opencl_command_new(opencl_device *device, const vyre_launch *launch,
                                   const char *name) {
    opencl_command *c = vyre_alloc_zeroed(&device->allocator, 1, sizeof *c);
    if (c && launch) {
        c->launch.pass = launch->pass;
        c->launch.interval = launch->interval;
        c->launch.segment = launch->segment;
        c->launch.trace = launch->trace;
        c->name = name;
        c->enqueued = launch->trace ? vyre_clock_now() : 0;
    }
    return c;
}

void opencl_command_add(opencl_device *device, opencl_command *command) {
    command->number = ++device->commands;
    *device->last = command;
    device->last = &command->next;
}

static void remove_command(opencl_device *device, opencl_command **at) {
    opencl_command *c = *at;
    *at = c->next;
    device->last = device->last == &c->next ? at : device->last;
    (void)device->cl.ReleaseEvent(c->event);
    vyre_free(&device->allocator, c, 1, sizeof *c);
}

void opencl_commands_free(opencl_device *device) {
    while (device->first) {
        remove_command(device, &device->first);
    }
}

/* When something happened to a command, by the device's clock; 0: not known. */
static uint64_t time_of(const opencl_device *device, cl_object event, uint32_t what) {
    uint64_t time = 0;
    const cl_api *cl = &device->cl;
    return cl->GetEventProfilingInfo(event, what, sizeof time, &time, NULL) == 0 ? time : 0;
}

/* A launch on the row of the queue. The host knows when it enqueued the first one, and so does the
 * device: that tells how far apart their clocks are. */
static void add_span(opencl_device *device, const opencl_command *c, uint64_t begin, uint64_t end) {
    if (device->clock_ahead == 0) { /* it may wrap: differences are what counts */
        device->clock_ahead = c->enqueued - time_of(device, c->event, CL_PROFILING_COMMAND_QUEUED);
    }
    const vyre_span span = {.category = "kernel",
                            .name = c->name,
                            .begin = begin + device->clock_ahead,
                            .end = end + device->clock_ahead,
                            .worker = 1,
                            .row = "queue"};
    vyre_trace_add(c->launch.trace, &span);
}

static void tell_one(opencl_device *device, const opencl_command *c, vyre_launch_results *results) {
    int32_t state = 0;
    vyre_diag diag = {0};
    (void)device->cl.GetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                  NULL);
    const uint64_t begin = time_of(device, c->event, CL_PROFILING_COMMAND_START);
    const uint64_t end = time_of(device, c->event, CL_PROFILING_COMMAND_END);
    const vyre_launch_result result = {.is_timed = begin != 0 && end >= begin,
                                       .device_ns = end > begin ? end - begin : 0};
    if (c->launch.trace && end >= begin) {
        add_span(device, c, begin, end);
    }
    const vyre_status status = state < 0 ? opencl_fail(&diag, state, "run a kernel") : VYRE_OK;
    vyre_launch_results_add(results, &c->launch, status, &result, &diag);
}

/* What came of the launches of a pass up to that command, which are done; the lock is held. */
static void tell(opencl_device *device, uint64_t pass, uint64_t until,
                 vyre_launch_results *results) {
    for (opencl_command **at = &device->first; *at && (*at)->number <= until;) {
        if ((*at)->is_fetch || (*at)->launch.pass != pass) {
            at = &(*at)->next;
        } else {
            tell_one(device, *at, results);
            remove_command(device, at);
        }
    }
}

/* Fetches that nobody waits for: once the queue is empty their memory is free. */
static void drop_abandoned(opencl_device *device, uint64_t until) {
    for (opencl_command **at = &device->first; *at && (*at)->number <= until;) {
        if ((*at)->is_abandoned) {
            remove_command(device, at);
        } else {
            at = &(*at)->next;
        }
    }
}

vyre_status opencl_finish(vyre_backend_device *object, uint64_t pass, vyre_launch_results *results,
                          vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    pthread_mutex_lock(&device->lock);
    const uint64_t until = device->commands;
    pthread_mutex_unlock(&device->lock);
    const int32_t code = device->cl.Finish(device->queue);
    if (code != 0) {
        return opencl_fail(diag, code, "wait for the queue");
    }
    pthread_mutex_lock(&device->lock);
    tell(device, pass, until, results);
    drop_abandoned(device, until);
    pthread_mutex_unlock(&device->lock);
    return VYRE_OK;
}

vyre_status opencl_fetch(vyre_backend_device *object, uint64_t pass, vyre_memory memory,
                         uint64_t offset, uint64_t size, vyre_ticket *out_ticket, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    opencl_command *c = opencl_command_new(device, NULL, NULL);
    if (!c) {
        return vyre_fail_memory(diag, "a command");
    }
    c->is_fetch = true;
    c->launch.pass = pass;
    pthread_mutex_lock(&device->lock);
    const int32_t code = device->cl.EnqueueReadBuffer(
        device->queue, (cl_object)(uintptr_t)memory, 0, offset, size, &c->word, 0, NULL, &c->event);
    if (code == 0) {
        opencl_command_add(device, c);
        *out_ticket = c->number;
    }
    pthread_mutex_unlock(&device->lock);
    if (code != 0) {
        vyre_free(&device->allocator, c, 1, sizeof *c);
        return opencl_fail(diag, code, "read memory");
    }
    (void)device->cl.Flush(device->queue); /* the device begins while the host goes on */
    return VYRE_OK;
}

static opencl_command **find(opencl_device *device, vyre_ticket ticket) {
    opencl_command **at = &device->first;
    while (*at && (*at)->number != ticket) {
        at = &(*at)->next;
    }
    return at;
}

vyre_status opencl_await(vyre_backend_device *object, vyre_ticket ticket, void *data, uint64_t size,
                         vyre_launch_results *results, vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    pthread_mutex_lock(&device->lock);
    opencl_command *c = *find(device, ticket);
    if (c && !data) {
        c->is_abandoned = true;
    }
    pthread_mutex_unlock(&device->lock);
    if (!c || !data) {
        return c ? VYRE_OK : vyre_fail(diag, VYRE_INTERNAL, NULL, "there is no such ticket");
    }
    const int32_t code = device->cl.WaitForEvents(1, &c->event);
    pthread_mutex_lock(&device->lock);
    if (code == 0) {
        memcpy(data, &c->word, size);
        tell(device, c->launch.pass, ticket, results);
    }
    opencl_command **at = find(device, ticket);
    if (*at) {
        remove_command(device, at);
    }
    pthread_mutex_unlock(&device->lock);
    return code == 0 ? VYRE_OK : opencl_fail(diag, code, "wait for the queue");
}
