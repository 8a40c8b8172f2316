/* Asynchronous dispatches: an event is a job of the device's queue that makes the blocking call and
 * keeps what came of it. Cancelling a queued event takes it out of the queue; a running one sees
 * its cancel flag. */
#include "base/diag.h"
#include "device/call.h"
#include "device/queue.h"
#include "dispatch/pipeline.h"

struct vyre_event {
    vyre_job job; /* first: the queue gives back its address */
    vyre_device *device;
    /* What to do: a pipeline with buffers or host bytes, or a program. */
    vyre_pipeline *pipeline; /* retained; or NULL */
    const vyre_program *program;
    bool is_resident; /* buffers, not host bytes */
    vyre_buffer *const *buffers;
    const vyre_input *inputs;
    vyre_output *outputs;
    uint32_t buffer_count, input_count, output_count;
    vyre_dispatch_options options;
    vyre_cancel cancel;
    vyre_event_fn done; /* whom to tell; NULL: nobody */
    void *user;
    /* What came of it. */
    vyre_status status;
    vyre_dispatch_report report;
    vyre_diag diag;
};

static void work(vyre_job *job) {
    vyre_event *e = (vyre_event *)job;
    if (e->is_resident) {
        e->status = vyre_dispatch_resident(e->pipeline, e->buffers, e->buffer_count, &e->options,
                                           &e->report, &e->diag);
    } else if (e->pipeline) {
        e->status = vyre_pipeline_dispatch(e->pipeline, e->inputs, e->input_count, e->outputs,
                                           e->output_count, &e->options, &e->report, &e->diag);
    } else {
        e->status = vyre_dispatch(e->device, e->program, e->inputs, e->input_count, e->outputs,
                                  e->output_count, &e->options, &e->report, &e->diag);
    }
}

/* `given` says what to do. */
static vyre_status start(const vyre_event *given, const vyre_dispatch_options *options,
                         vyre_event **out_event, vyre_diag *diag) {
    if (!given->device || !out_event || (!given->pipeline && !given->program)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a pipeline, or a device and a program, and a place for the event",
                         "an argument of an asynchronous dispatch is NULL");
    }
    if (options && options->cancel) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "cancel the event",
                         "an asynchronous dispatch has its own way to be cancelled");
    }
    const vyre_allocator *a = &given->device->allocator;
    vyre_event *e = vyre_alloc(a, 1, sizeof *e);
    if (!e) {
        return vyre_fail_memory(diag, "an event");
    }
    *e = *given;
    e->job.work = work;
    if (options) {
        e->options = *options;
    }
    e->options.cancel = &e->cancel;
    vyre_pipeline_retain(e->pipeline);
    vyre_status status = vyre_queue_push(e->device, &e->job, diag);
    if (status != VYRE_OK) {
        vyre_pipeline_release(e->pipeline);
        vyre_free(a, e, 1, sizeof *e);
        return status;
    }
    *out_event = e;
    return VYRE_OK;
}

vyre_status vyre_dispatch_async(vyre_device *device, const vyre_program *program,
                                const vyre_input *inputs, uint32_t input_count,
                                vyre_output *outputs, uint32_t output_count,
                                const vyre_dispatch_options *options, vyre_event **out_event,
                                vyre_diag *diag) {
    vyre_event given = {.device = device,
                        .program = program,
                        .inputs = inputs,
                        .input_count = input_count,
                        .outputs = outputs,
                        .output_count = output_count};
    return start(&given, options, out_event, diag);
}

vyre_status vyre_pipeline_dispatch_async(vyre_pipeline *pipeline, const vyre_input *inputs,
                                         uint32_t input_count, vyre_output *outputs,
                                         uint32_t output_count,
                                         const vyre_dispatch_options *options,
                                         vyre_event **out_event, vyre_diag *diag) {
    vyre_event given = {.device = pipeline ? pipeline->device : NULL,
                        .pipeline = pipeline,
                        .inputs = inputs,
                        .input_count = input_count,
                        .outputs = outputs,
                        .output_count = output_count};
    return start(&given, options, out_event, diag);
}

vyre_status vyre_dispatch_resident_async(vyre_pipeline *pipeline, vyre_buffer *const *buffers,
                                         uint32_t buffer_count,
                                         const vyre_dispatch_options *options,
                                         vyre_event **out_event, vyre_diag *diag) {
    vyre_event given = {.device = pipeline ? pipeline->device : NULL,
                        .pipeline = pipeline,
                        .is_resident = true,
                        .buffers = buffers,
                        .buffer_count = buffer_count};
    return start(&given, options, out_event, diag);
}

vyre_status vyre_event_wait(vyre_event *event, vyre_dispatch_report *out_report, vyre_diag *diag) {
    if (!event) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give an event", "event is NULL");
    }
    if (!vyre_queue_wait(event->device, &event->job)) {
        return vyre_device_check_process(event->device, diag);
    }
    if (event->status == VYRE_OK && out_report) {
        *out_report = event->report;
    }
    if (event->status != VYRE_OK && diag) {
        *diag = event->diag;
    }
    return event->status;
}

bool vyre_event_poll(vyre_event *event) {
    return !event || vyre_queue_is_done(event->device, &event->job);
}

static void tell(vyre_job *job) {
    const vyre_event *e = (const vyre_event *)job;
    e->done(e->user, e->status);
}

vyre_status vyre_event_notify(vyre_event *event, vyre_event_fn done, void *user, vyre_diag *diag) {
    if (!event || !done) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give an event and whom to call",
                         "event or done is NULL");
    }
    if (event->done) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "let one call tell the others",
                         "the event calls somebody back already");
    }
    vyre_status status = vyre_device_check_process(event->device, diag);
    if (status == VYRE_OK) {
        event->done = done;
        event->user = user;
        vyre_queue_when_done(event->device, &event->job, tell);
    }
    return status;
}

static void never_ran(vyre_job *job) {
    vyre_event *e = (vyre_event *)job;
    e->status = vyre_fail(&e->diag, VYRE_CANCELLED, NULL, "the dispatch was cancelled");
}

void vyre_event_cancel(vyre_event *event) {
    if (event) {
        vyre_cancel_request(&event->cancel);
        vyre_queue_withdraw(event->device, &event->job, never_ran);
    }
}

void vyre_event_release(vyre_event *event) {
    if (event) {
        vyre_device *device = event->device;
        (void)vyre_queue_wait(device, &event->job);
        vyre_pipeline_release(event->pipeline);
        vyre_free(&device->allocator, event, 1, sizeof *event);
    }
}
