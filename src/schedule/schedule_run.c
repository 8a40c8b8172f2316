/* Running a schedule through a device that takes segments. Buffers and carried state stay on the
 * device. The host computes the scalars itself; it waits for the device only where one of them is
 * loaded from memory, or where it must know whether any lane is left. A loop whose count the host
 * knows is launched from its first trip to its last without a wait. */
#include <string.h>

#include "base/clock.h"
#include "base/mutant.h"
#include "device/call.h"
#include "device/trace.h"
#include "schedule/carry_size.h"
#include "schedule/schedule.h"

/* What happened up to some step. */
typedef struct tally {
    uint64_t launches, empty, carried_bytes, sync_points, steps;
} tally;

typedef struct run {
    vyre_schedule *s;
    const vyre_module_view *m;
    const vyre_launch *source; /* the launch as if it were one */
    vyre_module_launch launch;
    const vyre_pass *pass;
    vyre_diag *diag;
    uint64_t lanes, groups;
    vyre_position here;
    tally done;
    bool has_waited;      /* nothing was launched since */
    bool has_device_time; /* of every launch so far */
    vyre_trap trap;
} run;

/* Bytes that are alive behind a step. */
static uint64_t alive(const run *r, uint32_t step) {
    const uint32_t *list;
    uint32_t count = vyre_module_live(r->s->module, step, &list);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += vyre_carry_bytes(&r->m->carries[list[i]], r->lanes, r->groups);
    }
    return bytes;
}

/* A step that ran so many times. */
static void count_step(const run *r, uint32_t number, uint64_t times, tally *to) {
    const vyre_step *step = &r->m->steps[number];
    *(step->segment == VYRE_NONE ? &to->empty : &to->launches) += times;
    if (step->kind != VYRE_STEP_END && times > 0) {
        to->carried_bytes += times * alive(r, number);
        to->sync_points += times * step->sync;
    }
}

static void report(const run *r, const tally *done) {
    vyre_dispatch_stats *stats = r->pass->stats;
    stats->segments = r->m->segment_count;
    stats->carry_buffers = r->m->buffer_count;
    stats->launches += done->launches;
    stats->skipped_launches += done->empty;
    stats->carried_bytes += done->carried_bytes;
    stats->sync_points += done->sync_points;
    r->pass->result->steps += done->steps;
    if (!r->has_device_time) {
        r->pass->result->device_ns = 0;
    }
}

static vyre_status launch(run *r, uint32_t number, const vyre_launch *bound) {
    vyre_launch one = *bound;
    one.max_steps -= one.max_steps ? r->done.steps : 0;
    vyre_launch_result result = {0};
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass->trace,
                      .name = vyre_program_get(r->m->segments[number])->name,
                      .segment = number + 1,
                      .segment_count = r->m->segment_count,
                      .elapsed = &r->pass->times->enqueue};
    vyre_status status = vyre_launch_check_time(r->source, r->diag);
    if (status == VYRE_OK) {
        status = vyre_launch_check_steps(r->source, r->done.steps, r->diag);
    }
    if (status == VYRE_OK) {
        status = vyre_call_launch(&call, r->s->segments[number].kernel, &one, &result, r->diag);
    }
    r->has_waited = false;
    r->done.steps += result.steps;
    r->pass->result->device_ns += result.device_ns;
    r->has_device_time = r->has_device_time && result.device_ns != 0;
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, number, r->diag);
    }
    return status == VYRE_TRAP ? vyre_trap_note(&r->trap, result.trap_lane, r->diag) : status;
}

/* What a scalar is made of. */
static vyre_status read_memory(void *user, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    run *r = user;
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass->trace,
                      .name = "scalar",
                      .bytes = size,
                      .elapsed = &r->pass->times->wait};
    r->pass->stats->host_waits += !r->has_waited;
    r->has_waited = true;
    vyre_status status = vyre_call_read(&call, memory, offset, data, size, diag);
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, r->m->steps[r->here.step].segment, diag);
    }
    return status;
}

static vyre_status run_collective(run *r, const vyre_step *step) {
    vyre_collective_copy copy =
        vyre_collective_on_one_rank(r->s->module, step->collective, r->source->counts);
    vyre_call call = {.device = r->s->device, .trace = r->pass->trace, .name = "collective"};
    vyre_status status = copy.size == 0
                             ? VYRE_OK
                             : vyre_call_copy(&call, r->source->memory[copy.to], 0,
                                              r->source->memory[copy.from], 0, copy.size, r->diag);
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, step->segment, r->diag);
    }
    return status;
}

static vyre_status run_step(run *r) {
    const uint32_t number = r->here.step;
    const vyre_step *step = &r->m->steps[number];
    const vyre_reader reader = {.read = read_memory, .user = r};
    vyre_launch one;
    vyre_status status = vyre_position_enter(&r->here, &r->launch, &reader, &one, r->diag);
    if (status == VYRE_OK && step->segment != VYRE_NONE) {
        status = launch(r, step->segment, &one);
    }
    if (status == VYRE_OK && vyre_trap_is_due(&r->trap, step)) {
        status = vyre_trap_report(&r->trap, r->diag);
    }
    if (status == VYRE_OK) {
        count_step(r, number, 1, &r->done);
        status = vyre_position_leave(&r->here, &r->launch, &reader, r->diag);
    }
    return status == VYRE_OK && step->collective != VYRE_NONE && r->here.step != VYRE_NONE
               ? run_collective(r, step)
               : status;
}

static vyre_status run_steps(run *r) {
    vyre_status status = VYRE_OK;
    while (r->here.step != VYRE_NONE && status == VYRE_OK) {
        status = run_step(r);
    }
    return status == VYRE_OK ? vyre_trap_report(&r->trap, r->diag) : status; /* no lane lives on */
}

/* A device that runs the schedule itself says how often each step ran. */
static vyre_status run_module(run *r) {
    vyre_launch_result result = {0};
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass->trace,
                      .name = vyre_program_get(r->m->source)->name,
                      .elapsed = &r->pass->times->enqueue};
    vyre_status status = vyre_launch_check_time(r->source, r->diag);
    if (status == VYRE_OK) {
        status = vyre_call_run_module(&call, r->s->whole, &r->launch, &result, r->diag);
    }
    if (status != VYRE_OK && r->diag && r->diag->segment) {
        vyre_schedule_label(r->s, r->diag->segment - 1, r->diag);
    }
    for (uint32_t i = 0; i < r->m->step_count; i++) {
        count_step(r, i, r->launch.visits[i], &r->done);
    }
    r->done.steps = result.steps;
    r->pass->result->device_ns += result.device_ns;
    r->has_device_time = result.device_ns != 0;
    return status;
}

vyre_status vyre_schedule_run(vyre_schedule *s, const vyre_launch *launch, const vyre_pass *pass,
                              vyre_diag *diag) {
    run r = {.s = s,
             .m = vyre_module_get(s->module),
             .source = launch,
             .launch = vyre_schedule_bind(s, launch),
             .pass = pass,
             .diag = diag,
             .groups = vyre_schedule_groups(launch->grid),
             .lanes = vyre_schedule_lanes(s, launch->grid),
             .here = vyre_position_begin(s->module, s->words),
             .has_device_time = true};
    memset(s->visits, 0, r.m->step_count * sizeof *s->visits);
    vyre_status status = vyre_schedule_zero(s, pass->trace, diag);
    if (status == VYRE_OK) {
        status = s->whole ? run_module(&r) : run_steps(&r);
    }
    report(&r, &r.done);
    return status;
}
