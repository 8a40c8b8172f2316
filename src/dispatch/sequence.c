/* Sequences: every step is bound and gets its scratch once, then runs as often as asked. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "device/call.h"
#include "dispatch/resident.h"

typedef struct sum {
    vyre_sequence_report *total;
    bool fits;
} sum;

static void add(sum *s, uint64_t *to, uint64_t value) {
    s->fits = vyre_add_u64(*to, value, to) && s->fits;
}

/* A part that is not known makes the whole unknown. */
static void add_known(sum *s, const vyre_dispatch_times *one) {
    vyre_dispatch_times *all = &s->total->times;
    all->knows_device = all->knows_device && one->knows_device;
    all->knows_calls = all->knows_calls && one->knows_calls;
    add(s, &all->device, one->device);
    add(s, &all->enqueue, one->enqueue);
    add(s, &all->wait, one->wait);
}

static vyre_status add_report(sum *s, const vyre_dispatch_report *one, vyre_diag *diag) {
    vyre_dispatch_stats *stats = &s->total->stats;
    vyre_dispatch_times *times = &s->total->times;
    add(s, &s->total->dispatches, 1);
    add(s, &s->total->passes, one->passes);
    add(s, &stats->launches, one->stats.launches);
    add(s, &stats->skipped_launches, one->stats.skipped_launches);
    add(s, &stats->host_waits, one->stats.host_waits);
    add(s, &stats->bytes_in, one->stats.bytes_in);
    add(s, &stats->bytes_out, one->stats.bytes_out);
    add(s, &stats->carried_bytes, one->stats.carried_bytes);
    add(s, &stats->segments, one->stats.segments);
    add(s, &stats->sync_points, one->stats.sync_points);
    add(s, &stats->carry_buffers, one->stats.carry_buffers);
    add(s, &stats->steps, one->stats.steps);
    add(s, &times->alloc, one->times.alloc);
    add(s, &times->run, one->times.run);
    add_known(s, &one->times);
    return s->fits ? VYRE_OK
                   : vyre_fail(diag, VYRE_LIMIT, "run fewer steps at once",
                               "the counters of the sequence overflowed");
}

/* Which step an error is about. */
static vyre_status label(vyre_status status, uint32_t step, uint32_t count, vyre_diag *diag) {
    if (status != VYRE_OK && diag) {
        char message[VYRE_DIAG_TEXT + 40];
        snprintf(message, sizeof message, "step %u of %u: %s", step + 1, count, diag->message);
        vyre_diag_copy(diag->message, sizeof diag->message, message);
    }
    return status;
}

static vyre_status run_step(vyre_resident *r, sum *s, vyre_diag *diag) {
    vyre_dispatch_report report;
    vyre_run_begin(&r->run, vyre_clock_now());
    vyre_status status = vyre_resident_execute(r);
    vyre_run_report(&r->run, status, &report);
    return status != VYRE_OK ? status : add_report(s, &report, diag);
}

/* The prefix once, then the repeated steps. */
static vyre_status run_steps(const vyre_sequence *q, vyre_resident *steps, sum *s,
                             vyre_diag *diag) {
    uint32_t count = q->prefix_count + q->repeated_count;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < q->prefix_count && status == VYRE_OK; i++) {
        status = label(run_step(&steps[i], s, diag), i, count, diag);
    }
    for (uint32_t n = 0; n < q->times && status == VYRE_OK; n++) {
        for (uint32_t i = q->prefix_count; i < count && status == VYRE_OK; i++) {
            status = label(run_step(&steps[i], s, diag), i, count, diag);
        }
    }
    return status;
}

static vyre_status read_ranges(const vyre_sequence *q, vyre_sequence_report *total,
                               vyre_diag *diag) {
    uint64_t begin = vyre_clock_now();
    vyre_status status = vyre_buffer_read_many(q->reads, q->read_count, diag);
    for (uint32_t i = 0; i < q->read_count && status == VYRE_OK; i++) {
        if (!vyre_add_u64(total->stats.bytes_out, q->reads[i].size, &total->stats.bytes_out)) {
            status = vyre_fail(diag, VYRE_LIMIT, "read less at once",
                               "the ranges have more than 2^64 bytes");
        }
    }
    total->times.download = vyre_clock_now() - begin;
    return status;
}

static vyre_status check_arguments(const vyre_sequence *q, vyre_diag *diag) {
    uint32_t count;
    if (!q || (!q->prefix && q->prefix_count) || (!q->repeated && q->repeated_count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a sequence and its steps",
                         "sequence, prefix or repeated is NULL");
    }
    if (__builtin_add_overflow(q->prefix_count, q->repeated_count, &count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "run it in parts",
                         "there are too many steps");
    }
    return vyre_buffer_check_reads(q->reads, q->read_count, diag);
}

static vyre_status run_allocated(const vyre_sequence *q, vyre_resident *steps,
                                 vyre_sequence_report *total, vyre_diag *diag) {
    uint32_t count = q->prefix_count + q->repeated_count, ready = 0;
    sum s = {.total = total, .fits = true};
    total->times.knows_device = total->times.knows_calls = true;
    uint64_t begin = vyre_clock_now();
    vyre_status status = VYRE_OK;
    while (ready < count && status == VYRE_OK) {
        const vyre_sequence_step *step =
            ready < q->prefix_count ? &q->prefix[ready] : &q->repeated[ready - q->prefix_count];
        status = label(vyre_resident_init(&steps[ready], step, begin, diag), ready, count, diag);
        ready += status == VYRE_OK;
    }
    total->times.alloc = vyre_clock_now() - begin;
    if (status == VYRE_OK) {
        status = run_steps(q, steps, &s, diag);
    }
    if (status == VYRE_OK) {
        status = read_ranges(q, total, diag);
    }
    for (uint32_t i = 0; i < ready; i++) {
        vyre_resident_finish(&steps[i]);
    }
    total->times.device = total->times.knows_device ? total->times.device : 0;
    total->times.enqueue = total->times.knows_calls ? total->times.enqueue : 0;
    total->times.wait = total->times.knows_calls ? total->times.wait : 0;
    total->times.total = vyre_clock_now() - begin;
    return status;
}

vyre_status vyre_sequence_run(const vyre_sequence *sequence, vyre_sequence_report *out_report,
                              vyre_diag *diag) {
    vyre_status status = check_arguments(sequence, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_sequence_step *first = sequence->prefix_count     ? sequence->prefix
                                      : sequence->repeated_count ? sequence->repeated
                                                                 : NULL;
    /* The memory of the steps is that of the first device. */
    vyre_allocator a =
        first && first->pipeline ? first->pipeline->device->allocator : vyre_allocator_system();
    size_t count = (size_t)sequence->prefix_count + sequence->repeated_count;
    vyre_resident *steps = vyre_alloc(&a, count, sizeof *steps);
    vyre_sequence_report total = {0};
    if (!steps) {
        return vyre_fail_memory(diag, "a sequence");
    }
    status = run_allocated(sequence, steps, &total, diag);
    vyre_free(&a, steps, count, sizeof *steps);
    if (status == VYRE_OK && out_report) {
        *out_report = total;
    }
    return status;
}
