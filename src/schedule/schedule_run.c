/* Running a schedule through a device that takes segments. Buffers and carried state stay on the
 * device.
 *
 * A module as it is: the host computes the scalars itself; it waits for the device only where one
 * of them is loaded from memory, or where it must know whether any lane is left. A loop whose count
 * the host knows is launched from its first trip to its last without a wait.
 *
 * A module for launching ahead (vyre/split.h): the host computes what it knows, and the device the
 * rest. Where only the device knows how the schedule goes on, the host guesses that a branch goes
 * as it last went in this pass, at first into the loop, and launches on. Each segment checks on the
 * device whether it is its turn: whether the word of the last decision is what it would be if all
 * guesses were right. So what really runs is a prefix of what was enqueued: nothing behind the
 * first wrong guess writes anything, and the word stays that of this decision.
 *
 * Launches come in batches that end with a decision. The word at the end of a batch tells whether
 * all its guesses were right; it is awaited after the next batch was enqueued, so that the device
 * never runs dry. If it is not the word that was guessed, its tick tells which guess was wrong, and
 * the pass goes on from a copy of the position there. A batch has one launch at first and after a
 * wrong guess, and twice as many as the one before after right ones.
 *
 * Where the device queues launches, what came of them is known when the host waits: when it reads,
 * for a word that was fetched, at the end, when many are queued; and at the first grid barrier
 * behind a segment whose lanes may trap, since what is behind it must not run then: it might never
 * end.
 *
 * Collectives are done by the host, so nothing is enqueued behind one before it is known that its
 * turn has come. On a device whose launches are synchronous the host asks after each decision. */
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "device/call.h"
#include "kit/cancel.h"
#include "kit/results.h"
#include "schedule/carry_size.h"
#include "schedule/schedule.h"

/* Kept out of the way of launches that do not need it. */
#define RARELY __attribute__((noinline))

/* What happened up to some step. */
typedef struct tally {
    uint64_t launches, empty, carried_bytes, sync_points, steps;
    uint32_t interval; /* the number of the one behind the step */
} tally;

typedef struct decision {
    vyre_position place; /* at the step that decides, which has been launched */
    tally done;
    uint32_t guess; /* its word, if it goes as guessed */
} decision;

typedef struct batch {
    decision decisions[VYRE_LIMIT_AHEAD];
    uint64_t *words; /* of their positions */
    uint32_t count;
    bool is_late; /* the word of the last decision is on its way */
    vyre_ticket ticket;
} batch;

typedef struct run {
    vyre_schedule *s;
    const vyre_module_view *m;
    const vyre_launch *source; /* the launch as if it were one */
    vyre_module_launch launch;
    const vyre_pass *pass;
    vyre_diag *diag;
    uint64_t lanes, groups;
    vyre_position here; /* behind all that was enqueued */
    tally done;         /* up to there */
    bool has_waited;    /* nothing was launched since */
    bool is_watched;    /* limited in time or steps, or traced */
    vyre_launch one;    /* the source, with what a segment is bound to */
    vyre_call call;     /* of launches; only for a trace it says which */
    uint32_t ahead;     /* most launches of a batch; 0: ask after each decision */
    uint32_t length;    /* of the next batch */
    batch batches[2];
    uint32_t behind;      /* the last step that was enqueued */
    uint64_t wasted;      /* launches whose turn did not come */
    bool has_device_time; /* of every launch so far */
    uint64_t queued;      /* launches of which nothing is known yet */
    bool may_trap;        /* lanes of one of them */
    vyre_trap trap;
} run;

/* Bytes that are alive behind a step. */
static uint64_t alive(const run *r, const vyre_step *step) {
    return 4 * (step->lane_words * r->lanes + step->group_words * r->groups);
}

/* A step that ran so many times. */
static void count_step(const run *r, uint32_t number, uint64_t times, tally *to) {
    const vyre_step *step = &r->m->steps[number];
    const bool is_empty = step->segment == VYRE_NONE && step->control == VYRE_NONE;
    to->empty += is_empty ? times : 0;
    to->launches +=
        (step->segment != VYRE_NONE ? times : 0) + (step->control != VYRE_NONE ? times : 0);
    if (step->kind != VYRE_STEP_END && times > 0) {
        to->carried_bytes += times * alive(r, step);
        to->sync_points += times * step->sync;
    }
}

static void report(const run *r, const tally *done) {
    vyre_dispatch_stats *stats = r->pass->stats;
    stats->segments = r->m->segment_count;
    stats->carry_buffers = r->m->buffer_count;
    stats->launches += done->launches;
    stats->skipped_launches += done->empty + r->wasted;
    stats->carried_bytes += done->carried_bytes;
    stats->sync_points += done->sync_points;
    r->pass->result->steps += done->steps;
    r->pass->result->is_timed = r->has_device_time;
}

/* Times of calls are known only where launching and waiting are two things. */
static uint64_t *timer(const run *r, uint64_t *time) {
    return r->s->device->table->finish ? time : NULL;
}

/* What came of launches that were queued. A trap is not an error yet. */
static vyre_status take_results(run *r, vyre_launch_results *results, vyre_diag *diag) {
    r->queued -= results->launches;
    r->has_device_time = r->has_device_time && results->untimed == 0;
    if (results->status == VYRE_OK) {
        return vyre_device_time_add(&r->pass->result->device_ns, results->device_ns, diag);
    }
    if (results->segment) {
        vyre_schedule_label(r->s, results->segment - 1, &results->diag);
    }
    if (results->status == VYRE_TRAP) {
        return vyre_trap_note(&r->trap, results->trap_lane, &results->diag);
    }
    if (diag) {
        *diag = results->diag;
    }
    return results->status;
}

/* Waits for all that is queued. */
static RARELY vyre_status collect(run *r, vyre_diag *diag) {
    vyre_launch_results results = {0};
    const vyre_call call = {.device = r->s->device,
                            .trace = r->pass->trace,
                            .name = vyre_program_get(r->m->source)->name,
                            .elapsed = &r->pass->times->wait};
    r->may_trap = false;
    vyre_status status = vyre_call_collect(&call, r->source->pass, r->queued, &results, diag);
    return status == VYRE_OK ? take_results(r, &results, diag) : status;
}

/* The same in the middle of a pass. */
static RARELY vyre_status wait_for_queue(run *r) {
    r->pass->stats->host_waits += !r->has_waited;
    r->has_waited = true;
    return collect(r, r->diag);
}

/* In front of a launch that somebody watches: limits, and a name for the trace. */
static RARELY vyre_status begin_launch(run *r, uint32_t number, vyre_launch *one) {
    r->call.name = vyre_program_get(r->m->segments[number])->name;
    r->call.segment = number + 1;
    r->call.segment_count = r->m->segment_count;
    one->max_steps = r->source->max_steps ? r->source->max_steps - r->done.steps : 0;
    vyre_status status = vyre_launch_check_time(r->source, r->diag);
    return status == VYRE_OK ? vyre_launch_check_steps(r->source, r->done.steps, r->diag) : status;
}

/* Behind one that failed or may have trapped. */
static RARELY vyre_status end_launch(run *r, uint32_t number, vyre_status status,
                                     vyre_launch_result *result) {
    const vyre_decl trap = r->s->segments[number].trap;
    r->pass->stats->host_waits += trap != VYRE_NONE && !r->has_waited;
    r->has_waited = trap != VYRE_NONE;
    if (status == VYRE_OK) {
        status =
            vyre_traps_look(&r->s->traps, &r->call, r->m->segments[number], trap, result, r->diag);
    }
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, number, r->diag);
    }
    return status == VYRE_TRAP ? vyre_trap_note(&r->trap, result->trap_lane, r->diag) : status;
}

/* Nothing is known of the launch. Recorded traps are looked at behind it, and so is what happened
 * before it. */
static vyre_status note_queued(run *r, const struct vyre_compiled_segment *segment) {
    const uint64_t most = r->source->deadline_ns ? VYRE_LIMIT_AHEAD : VYRE_LIMIT_QUEUED;
    r->queued++;
    r->may_trap |= segment->tells_traps;
    return r->queued >= most || segment->trap != VYRE_NONE ? wait_for_queue(r) : VYRE_OK;
}

/* In a grid of which `one` tells; what is bound is known. */
static vyre_status launch(run *r, uint32_t number, vyre_launch *one) {
    const vyre_segment_binding *bound = &r->s->bindings[number];
    const struct vyre_compiled_segment *segment = &r->s->segments[number];
    vyre_launch_result result = {0};
    vyre_status status = VYRE_OK;
    one->memory = bound->memory;
    one->counts = bound->counts;
    one->values = bound->values;
    one->interval = r->done.interval;
    one->segment = number + 1;
    if (r->is_watched || vyre_cancel_is_requested(r->source->cancel)) {
        status = begin_launch(r, number, one);
    }
    if (status == VYRE_OK) {
        status = vyre_call_launch(&r->call, segment->kernel, one, &result, r->diag);
    }
    r->done.steps += result.steps;
    r->has_waited = false;
    if (result.is_queued && status == VYRE_OK) {
        status = note_queued(r, segment);
        if (status != VYRE_OK) {
            return status;
        }
    } else if (!result.is_timed) {
        r->has_device_time = false;
    } else if (status == VYRE_OK) {
        status = vyre_device_time_add(&r->pass->result->device_ns, result.device_ns, r->diag);
    }
    return status != VYRE_OK || segment->trap != VYRE_NONE ? end_launch(r, number, status, &result)
                                                           : VYRE_OK;
}

/* What a scalar is made of. */
static vyre_status read_memory(void *user, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    run *r = user;
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass->trace,
                      .name = "scalar",
                      .bytes = size,
                      .elapsed = timer(r, &r->pass->times->wait)};
    vyre_status status = r->queued ? wait_for_queue(r) : VYRE_OK;
    if (status != VYRE_OK) {
        return status;
    }
    r->pass->stats->host_waits += !r->has_waited;
    r->has_waited = true;
    status = vyre_call_read(&call, memory, offset, data, size, diag);
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, r->m->steps[r->here.step].segment, diag);
    }
    return status;
}

static vyre_status run_collective(run *r, const vyre_step *step) {
    vyre_collective_copy copy =
        vyre_collective_on_one_rank(r->s->module, step->collective, r->source->counts);
    const vyre_memory from = vyre_position_memory(&r->here, &r->launch, copy.from);
    vyre_call call = {.device = r->s->device, .trace = r->pass->trace, .name = "collective"};
    vyre_status status =
        copy.size == 0 ? VYRE_OK
                       : vyre_call_copy(&call, vyre_position_memory(&r->here, &r->launch, copy.to),
                                        0, from, 0, copy.size, r->diag);
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, step->segment, r->diag);
    }
    return status;
}

static bool ends_interval(const vyre_step *step) {
    return step->sync || step->kind == VYRE_STEP_END;
}

/* Behind a step of which it is known that its turn has come. */
static vyre_status end_step(run *r, const vyre_step *step) {
    vyre_status status = VYRE_OK;
    if (r->may_trap && ends_interval(step)) {
        status = wait_for_queue(r);
    }
    return status == VYRE_OK && vyre_trap_is_due(&r->trap, step)
               ? vyre_trap_report(&r->trap, r->diag)
               : status;
}

/* As one lane. */
static RARELY vyre_status launch_alone(run *r, uint32_t number) {
    vyre_launch one = r->one;
    one.grid[0] = one.grid[1] = one.grid[2] = 1;
    return launch(r, number, &one);
}

static vyre_status run_step(run *r, const vyre_reader *reader) {
    const uint32_t number = r->here.step;
    const vyre_step *step = &r->m->steps[number];
    vyre_status status = vyre_position_enter(&r->here, &r->launch, reader, NULL, r->diag);
    if (status == VYRE_OK && step->segment != VYRE_NONE) {
        status = step->combine == VYRE_NONE ? launch(r, step->segment, &r->one)
                                            : launch_alone(r, step->segment);
    }
    if (status == VYRE_OK) {
        status = end_step(r, step);
    }
    if (status == VYRE_OK) {
        r->s->visits[number]++;
        r->done.interval += step->sync;
        vyre_launch_progress(r->source, step->segment != VYRE_NONE, step->sync);
        status = vyre_position_leave(&r->here, &r->launch, reader, r->diag);
    }
    return status == VYRE_OK && step->collective != VYRE_NONE && r->here.step != VYRE_NONE
               ? run_collective(r, step)
               : status;
}

static void count_visits(run *r) {
    for (uint32_t i = 0; i < r->m->step_count; i++) {
        count_step(r, i, r->s->visits[i], &r->done);
    }
}

static vyre_status run_steps(run *r) {
    const vyre_reader reader = {.read = read_memory, .user = r};
    vyre_status status = VYRE_OK;
    while (r->here.step != VYRE_NONE && status == VYRE_OK) {
        status = run_step(r, &reader);
    }
    count_visits(r);
    return status;
}

/* ---- launching ahead ---- */

/* Enqueues one step and goes on as is guessed. */
static vyre_status enqueue_step(run *r, batch *b) {
    const vyre_step *step = &r->m->steps[r->here.step];
    vyre_launch one;
    vyre_status status = vyre_position_enter(&r->here, &r->launch, NULL, &one, r->diag);
    if (status == VYRE_OK && step->segment != VYRE_NONE) {
        status = launch(r, step->segment, &one);
    }
    if (status == VYRE_OK && step->control != VYRE_NONE) {
        vyre_position_control(&r->here, &r->launch, &one);
        status = launch(r, step->control, &one);
    }
    if (status == VYRE_OK && !r->may_trap) { /* else it is asked whether its turn has come */
        status = end_step(r, step);
    }
    if (status != VYRE_OK) {
        return status;
    }
    r->done.interval += step->sync;
    vyre_launch_progress(r->source, step->segment != VYRE_NONE, step->sync);
    r->behind = r->here.step;
    count_step(r, r->behind, 1, &r->done);
    if (!step->doubtful) {
        return vyre_position_leave(&r->here, &r->launch, NULL, r->diag);
    }
    const bool guess = !r->s->went_away[r->behind];
    decision *d = &b->decisions[b->count];
    *d = (decision){.place = vyre_position_copy(
                        &r->here, b->words + b->count * (size_t)vyre_position_state(r->s->module)),
                    .done = r->done,
                    .guess = vyre_position_word(&r->here, guess)};
    b->count++;
    vyre_position_guess(&r->here, guess);
    return VYRE_OK;
}

/* Whether the host must know all decisions before it goes on. It was the turn of a launch that
 * trapped; only what really follows it may decide which trap is told. */
static bool must_ask(const run *r) {
    return r->here.step == VYRE_NONE || r->trap.happened ||
           (r->may_trap && ends_interval(&r->m->steps[r->behind])) ||
           r->m->steps[r->behind].collective != VYRE_NONE;
}

static vyre_status fill(run *r, batch *b) {
    vyre_status status = VYRE_OK;
    uint64_t begin = r->done.launches;
    bool full = false;
    while (status == VYRE_OK && !full) {
        status = enqueue_step(r, b);
        full = must_ask(r) || b->count == VYRE_LIMIT_AHEAD ||
               (r->m->steps[r->behind].doubtful && r->done.launches - begin >= r->length);
    }
    return status;
}

static vyre_call word_call(const run *r, uint64_t *elapsed) {
    return (vyre_call){.device = r->s->device,
                       .trace = r->pass->trace,
                       .name = "control word",
                       .bytes = sizeof(uint32_t),
                       .elapsed = elapsed};
}

/* The segment whose word it is. */
static void label(run *r, const batch *b) {
    const vyre_step *step = &r->m->steps[b->decisions[b->count - 1].place.step];
    vyre_schedule_label(r->s, step->control, r->diag);
}

static vyre_status fetch(run *r, batch *b) {
    vyre_call call = word_call(r, &r->pass->times->enqueue);
    vyre_status status = vyre_call_fetch(&call, r->source->pass, r->launch.places[VYRE_PLACE_TURN],
                                         0, sizeof(uint32_t), &b->ticket, r->diag);
    b->is_late = status == VYRE_OK;
    if (status != VYRE_OK) {
        label(r, b);
    }
    return status;
}

static vyre_status take_word(run *r, batch *b, uint32_t *out_word) {
    vyre_call call = word_call(r, &r->pass->times->wait);
    vyre_launch_results results = {0};
    bool is_late = b->is_late;
    b->is_late = false;
    r->pass->stats->host_waits++;
    if (!is_late) {
        vyre_status status = r->queued ? collect(r, r->diag) : VYRE_OK;
        return status == VYRE_OK ? vyre_call_read(&call, r->launch.places[VYRE_PLACE_TURN], 0,
                                                  out_word, sizeof *out_word, r->diag)
                                 : status;
    }
    vyre_status status =
        vyre_call_await(&call, b->ticket, out_word, sizeof *out_word, &results, r->diag);
    return status == VYRE_OK ? take_results(r, &results, r->diag) : status;
}

/* Forgets a batch that is of no interest any more. */
static void drop(run *r, batch *b) {
    if (b->is_late) {
        vyre_call call = word_call(r, NULL);
        (void)vyre_call_await(&call, b->ticket, NULL, sizeof(uint32_t), NULL, NULL);
    }
    b->is_late = false;
    b->count = 0;
}

/* Launches behind the step where we are whose turn did not come. */
static void waste(run *r, uint64_t launches) {
    r->wasted += launches;
    if (launches > 0 && r->pass->trace) {
        uint64_t now = vyre_clock_now();
        const vyre_step *step = &r->m->steps[r->behind];
        vyre_span span = {.category = "skip",
                          .name = vyre_program_get(r->m->segments[step->control])->name,
                          .begin = now,
                          .end = now,
                          .launches = launches};
        vyre_trace_add(r->pass->trace, &span);
    }
}

/* Back to the decision of which the word tells, and on as it really goes. */
static vyre_status go_back(run *r, const batch *b, uint32_t word) {
    const decision *miss = b->decisions;
    while (miss < b->decisions + b->count && miss->place.tick != word / 4) {
        miss++;
    }
    if (miss == b->decisions + b->count) {
        return vyre_fail(r->diag, VYRE_INTERNAL, "please report this program and device",
                         "the device decided nothing of what it was asked");
    }
    const uint64_t front = r->done.launches;
    r->here = vyre_position_copy(&miss->place, r->s->words);
    r->done = miss->done;
    r->behind = r->here.step;
    waste(r, front - r->done.launches);
    if (word / 2 % 2) {
        r->here.step = VYRE_NONE;
        return VYRE_OK;
    }
    r->s->went_away[r->behind] = word % 2 == 0;
    vyre_position_guess(&r->here, word % 2);
    return VYRE_OK;
}

/* Waits until it is known how a batch went. *out_missed: not as guessed, and we are back there. */
static vyre_status settle(run *r, batch *b, bool *out_missed) {
    if (b->count == 0) {
        return VYRE_OK;
    }
    const decision *last = &b->decisions[b->count - 1];
    uint32_t word = 0;
    vyre_status status = take_word(r, b, &word);
    *out_missed = status == VYRE_OK && word != last->guess;
    if (status != VYRE_OK) {
        label(r, b);
    } else if (*out_missed) {
        status = go_back(r, b, word);
    }
    b->count = 0;
    return status;
}

/* Enqueues a batch, and settles the one before; this one too if the host must know. */
static vyre_status run_batch(run *r, batch *now, batch *before) {
    bool missed = false, late = r->ahead > 0 && r->s->device->table->fetch;
    vyre_status status = fill(r, now);
    /* Checks cost steps, too: the budget may have ended in a launch whose turn does not come. */
    bool is_doubtful = status == VYRE_STEP_BUDGET;
    if (status != VYRE_OK && !is_doubtful) {
        return status;
    }
    vyre_status ended = status;
    late = late && !is_doubtful && !must_ask(r);
    status = late && now->count > 0 ? fetch(r, now) : VYRE_OK;
    if (status == VYRE_OK) {
        status = settle(r, before, &missed);
    }
    if (status == VYRE_OK && !missed && !late) {
        status = settle(r, now, &missed);
    }
    if (status == VYRE_OK && !missed && is_doubtful) {
        return ended;
    }
    if (missed) {
        drop(r, now);
    }
    r->length = missed || r->ahead == 0 ? 1 : 2 * r->length < r->ahead ? 2 * r->length : r->ahead;
    const vyre_step *behind = &r->m->steps[r->behind];
    if (status == VYRE_OK) {
        status = end_step(r, behind);
    }
    return status == VYRE_OK && behind->collective != VYRE_NONE && r->here.step != VYRE_NONE
               ? run_collective(r, behind)
               : status;
}

static vyre_status run_ahead(run *r) {
    vyre_status status = VYRE_OK;
    const size_t words = VYRE_LIMIT_AHEAD * (size_t)vyre_position_state(r->s->module);
    r->batches[0].words = r->s->words + vyre_position_words(r->s->module);
    r->batches[1].words = r->m->checks_turn ? r->batches[0].words + words : NULL;
    for (uint32_t i = 0; r->here.step != VYRE_NONE && status == VYRE_OK; i++) {
        status = run_batch(r, &r->batches[i % 2], &r->batches[(i + 1) % 2]);
    }
    drop(r, &r->batches[0]);
    drop(r, &r->batches[1]);
    return status;
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
    count_visits(r);
    r->done.steps = result.steps;
    r->pass->result->device_ns = result.device_ns;
    r->has_device_time = result.is_timed;
    return status;
}

/* What was swapped has the memory of another. */
static void move_swapped(const vyre_schedule *s, vyre_memory *memory) {
    const vyre_module_view *m = vyre_module_get(s->module);
    for (uint32_t i = 0; i < m->swapped_count; i++) {
        s->moved[i] = memory[m->swapped[s->held[i]]];
    }
    for (uint32_t i = 0; i < m->swapped_count; i++) {
        memory[m->swapped[i]] = s->moved[i];
    }
}

vyre_status vyre_schedule_run(vyre_schedule *s, const vyre_launch *launch, const vyre_pass *pass,
                              vyre_diag *diag) {
    uint32_t ahead = pass->ahead ? pass->ahead : s->device->info.launches_ahead;
    run r = {.s = s,
             .m = vyre_module_get(s->module),
             .source = launch,
             .launch = vyre_schedule_bind(s, launch),
             .pass = pass,
             .diag = diag,
             .groups = vyre_schedule_groups(launch->grid),
             .lanes = vyre_schedule_lanes(s, launch->grid),
             .ahead = ahead < VYRE_LIMIT_AHEAD ? ahead : VYRE_LIMIT_AHEAD,
             .length = 1,
             .here = vyre_position_begin(s->module, s->words),
             .is_watched = launch->deadline_ns || launch->max_steps || pass->trace,
             .one = *launch,
             .call = {.device = s->device, .trace = pass->trace},
             .has_device_time = true};
    r.call.elapsed = timer(&r, &pass->times->enqueue);
    memset(s->went_away, 0, r.m->step_count * sizeof *s->went_away);
    memset(s->visits, 0, r.m->step_count * sizeof *s->visits);
    vyre_status status = vyre_schedule_zero(s, pass->trace, diag);
    if (status == VYRE_OK) {
        status = s->whole ? run_module(&r) : r.m->ahead ? run_ahead(&r) : run_steps(&r);
    }
    /* Also after a failure: what was launched before still uses memory that is freed next. */
    vyre_status finished = collect(&r, status == VYRE_OK ? diag : NULL);
    status = status == VYRE_OK ? finished : status;
    report(&r, &r.done);
    if (status == VYRE_OK && !s->whole) {
        vyre_position_finish(&r.here, &r.launch);
    }
    if (status == VYRE_OK && !r.trap.happened) {
        move_swapped(s, pass->memory);
    }
    return status == VYRE_OK ? vyre_trap_report(&r.trap, diag) : status; /* no lane lives on */
}
