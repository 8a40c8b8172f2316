/* Running a schedule through a device that takes segments. Buffers and carried state stay on the
 * device; the host needs the control words only, to know what to launch.
 *
 * It need not wait for each of them. It guesses that a branch goes as it last went in this pass, at
 * first into the loop, and launches on. Each segment checks on the device whether it is its turn:
 * whether the word of the last decision is what it would be if all guesses were right. So what
 * really runs is a prefix of what was enqueued. Nothing behind the first wrong guess writes
 * anything, decisions included, and the words stay as they are.
 *
 * Launches come in batches that end with a decision. The word of that decision tells whether all
 * guesses of the batch were right; it is awaited after the next batch was enqueued, so that the
 * device never runs dry. If it is not the word that was guessed, the newest word of the two control
 * buffers tells which guess was wrong, and the walk goes on from there: the tick, and who plays
 * which part, are those of that step. A batch has one launch at first and after a wrong guess, and
 * twice as many as the one before after right ones.
 *
 * Collectives are done by the host, so nothing is enqueued behind one before it is known that its
 * turn has come. On a device whose launches are synchronous the host asks after each decision. */
#include <string.h>

#include "base/clock.h"
#include "base/mutant.h"
#include "device/call.h"
#include "device/trace.h"
#include "kit/walk.h"
#include "schedule/carry_size.h"
#include "schedule/schedule.h"

/* What happened up to some step. */
typedef struct tally {
    uint64_t launches, empty, carried_bytes, sync_points, steps;
} tally;

typedef struct place {
    vyre_walk walk;
    tally done;
} place;

typedef struct decision {
    place place;    /* at the step that decides, which has been launched */
    uint32_t guess; /* its word, if it goes as guessed */
} decision;

typedef struct batch {
    decision decisions[VYRE_LIMIT_AHEAD];
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
    uint32_t ahead;  /* most launches of a batch; 0: ask after each decision */
    uint32_t length; /* of the next batch */
    batch batches[2];
    place here;           /* behind all that was enqueued */
    uint32_t behind;      /* the last step of that */
    uint64_t wasted;      /* launches whose turn did not come */
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
    stats->skipped_launches += done->empty + VYRE_MUTANT(ahead_waste_hidden, r->wasted, 0);
    stats->carried_bytes += done->carried_bytes;
    stats->sync_points += done->sync_points;
    r->pass->result->steps += done->steps;
    if (!r->has_device_time) {
        r->pass->result->device_ns = 0;
    }
}

static vyre_status launch(run *r, uint32_t number) {
    tally *done = &r->here.done;
    vyre_launch one = vyre_walk_launch(&r->here.walk, &r->launch);
    one.max_steps -= one.max_steps ? done->steps : 0;
    vyre_launch_result result = {0};
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass->trace,
                      .name = vyre_program_get(r->m->segments[number])->name,
                      .segment = number + 1,
                      .segment_count = r->m->segment_count,
                      .elapsed = &r->pass->times->enqueue};
    vyre_status status = vyre_launch_check_time(r->source, r->diag);
    if (status == VYRE_OK) {
        status = vyre_launch_check_steps(r->source, done->steps, r->diag);
    }
    if (status == VYRE_OK) {
        status = vyre_call_launch(&call, r->s->segments[number].kernel, &one, &result, r->diag);
    }
    done->steps += result.steps;
    r->pass->result->device_ns += result.device_ns;
    r->has_device_time = r->has_device_time && result.device_ns != 0;
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, number, r->diag);
    }
    return status == VYRE_TRAP ? vyre_trap_note(&r->trap, result.trap_lane, r->diag) : status;
}

/* Enqueues one step and goes on as is guessed. */
static vyre_status run_step(run *r, batch *b) {
    vyre_walk *walk = &r->here.walk;
    const vyre_step *step = &r->m->steps[walk->at];
    vyre_status status = step->segment == VYRE_NONE ? VYRE_OK : launch(r, step->segment);
    if (status == VYRE_OK && vyre_trap_is_due(&r->trap, step)) {
        status = vyre_trap_report(&r->trap, r->diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    r->behind = walk->at;
    count_step(r, walk->at, 1, &r->here.done);
    uint32_t guess = vyre_walk_word(walk, !r->s->went_away[walk->at]);
    if (vyre_step_decides(step)) {
        b->decisions[b->count++] = (decision){r->here, guess};
    }
    vyre_walk_advance(walk, guess);
    return VYRE_OK;
}

/* Whether the host must know all decisions before it goes on. It was the turn of a launch that
 * trapped; only what really follows it may decide which trap is told. */
static bool must_ask(const run *r) {
    return r->here.walk.at == VYRE_NONE || r->trap.happened ||
           VYRE_MUTANT(ahead_past_collective, r->m->steps[r->behind].collective != VYRE_NONE,
                       false);
}

static vyre_status fill(run *r, batch *b) {
    vyre_status status = VYRE_OK;
    uint64_t begin = r->here.done.launches;
    bool full = false;
    while (status == VYRE_OK && !full) {
        status = run_step(r, b);
        full = must_ask(r) || (vyre_step_decides(&r->m->steps[r->behind]) &&
                               r->here.done.launches - begin >= r->length);
    }
    return status;
}

/* Control words */

static vyre_call word_call(const run *r, uint64_t *elapsed) {
    return (vyre_call){.device = r->s->device,
                       .trace = r->pass->trace,
                       .name = "control word",
                       .bytes = sizeof(uint32_t),
                       .elapsed = elapsed};
}

static vyre_status fetch(run *r, batch *b) {
    const vyre_walk *last = &b->decisions[b->count - 1].place.walk;
    vyre_call call = word_call(r, &r->pass->times->enqueue);
    vyre_status status = vyre_call_fetch(&call, r->launch.control[vyre_walk_then(last)], 0,
                                         sizeof(uint32_t), &b->ticket, r->diag);
    b->is_late = status == VYRE_OK;
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, r->m->steps[last->at].segment, r->diag);
    }
    return status;
}

static vyre_status read_word(run *r, uint32_t which, uint32_t *out_word) {
    vyre_call call = word_call(r, &r->pass->times->wait);
    r->pass->stats->host_waits++;
    return vyre_call_read(&call, r->launch.control[which], 0, out_word, sizeof *out_word, r->diag);
}

static vyre_status await_word(run *r, batch *b, uint32_t *out_word) {
    vyre_call call = word_call(r, &r->pass->times->wait);
    r->pass->stats->host_waits++;
    b->is_late = false;
    return vyre_call_await(&call, b->ticket, out_word, sizeof *out_word, r->diag);
}

/* Forgets a batch that is of no interest any more. */
static void drop(run *r, batch *b) {
    if (VYRE_MUTANT(ahead_ticket_kept, b->is_late, false)) {
        vyre_call call = word_call(r, NULL);
        (void)vyre_call_await(&call, b->ticket, NULL, sizeof(uint32_t), NULL);
    }
    b->is_late = false;
    b->count = 0;
}

/* The decision that did not go as guessed, and its word; 0 if no lane was alive to write it. The
 * newest word is either that one, or the one before it. */
static const decision *find_miss(const batch *b, const uint32_t words[2], uint32_t *out_word) {
    uint32_t made = b->count;
    while (made > 0 && words[vyre_walk_then(&b->decisions[made - 1].place.walk)] / 2 !=
                           b->decisions[made - 1].place.walk.tick) {
        made--;
    }
    const decision *newest = made > 0 ? &b->decisions[made - 1] : NULL;
    *out_word = newest ? words[vyre_walk_then(&newest->place.walk)] : 0;
    if (newest && *out_word != newest->guess) {
        return newest;
    }
    *out_word = 0;
    return &b->decisions[VYRE_MUTANT(ahead_death_early, made, made > 0 ? made - 1 : 0)];
}

/* Launches behind the step where we are whose turn did not come. */
static void waste(run *r, uint64_t launches) {
    r->wasted += launches;
    if (launches > 0 && r->pass->trace) {
        uint64_t now = vyre_clock_now();
        vyre_span span = {
            .category = "skip",
            .name = vyre_program_get(r->m->segments[r->m->steps[r->behind].segment])->name,
            .begin = now,
            .end = now,
            .launches = launches};
        vyre_trace_add(r->pass->trace, &span);
    }
}

/* Back to where the guess was wrong, and on as it really goes. */
static void go_back(run *r, const decision *miss, uint32_t word) {
    place front = r->here;
    r->here = miss->place;
    r->behind = r->here.walk.at;
    waste(r, front.done.launches - r->here.done.launches);
    r->here.walk.flipped = VYRE_MUTANT(ahead_keeps_places, r->here.walk, front.walk).flipped;
    r->s->went_away[r->behind] = VYRE_MUTANT(ahead_learns_nothing, word % 2 == 0, false);
    vyre_walk_advance(&r->here.walk, word);
}

/* Waits until it is known how a batch went. *out_missed: not as guessed, and we are back there. */
static vyre_status settle(run *r, batch *b, bool *out_missed) {
    if (b->count == 0) {
        return VYRE_OK;
    }
    const decision *last = &b->decisions[b->count - 1];
    uint32_t which = vyre_walk_then(&last->place.walk), words[2] = {0, 0}, word = 0;
    vyre_status status =
        b->is_late ? await_word(r, b, &words[which]) : read_word(r, which, &words[which]);
    *out_missed = status == VYRE_OK && words[which] != last->guess;
    if (*out_missed && b->count > 1 && words[which] / 2 != last->place.walk.tick) {
        status = read_word(r, !which, &words[!which]);
    }
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, r->m->steps[last->place.walk.at].segment, r->diag);
    } else if (*out_missed) {
        const decision *miss = find_miss(b, words, &word);
        go_back(r, miss, word);
    }
    b->count = 0;
    return status;
}

static vyre_status run_collective(run *r) {
    vyre_collective_copy copy =
        vyre_walk_collective(r->s->module, r->m->steps[r->behind].collective, r->source->counts);
    vyre_call call = {.device = r->s->device, .trace = r->pass->trace, .name = "collective"};
    vyre_status status = copy.size == 0
                             ? VYRE_OK
                             : vyre_call_copy(&call, r->source->memory[copy.to], 0,
                                              r->source->memory[copy.from], 0, copy.size, r->diag);
    if (status != VYRE_OK) {
        vyre_schedule_label(r->s, r->m->steps[r->behind].segment, r->diag);
    }
    return status;
}

/* Enqueues a batch, and settles the one before; this one too if the host must know. */
static vyre_status run_batch(run *r, batch *now, batch *before) {
    bool missed = false, late = r->ahead > 0 && r->s->device->table->fetch;
    vyre_status status = fill(r, now);
    /* Checks cost steps, too: the budget may have ended in a launch whose turn does not come. */
    bool is_doubtful = VYRE_MUTANT(ahead_budget_blind, status == VYRE_STEP_BUDGET, false);
    if (status != VYRE_OK && !is_doubtful) {
        return status;
    }
    vyre_status ended = status;
    late = late && !is_doubtful && !must_ask(r);
    status = late ? fetch(r, now) : VYRE_OK;
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
    bool has_collective = r->m->steps[r->behind].collective != VYRE_NONE;
    return status == VYRE_OK && has_collective && r->here.walk.at != VYRE_NONE ? run_collective(r)
                                                                               : status;
}

static vyre_status run_steps(run *r) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; r->here.walk.at != VYRE_NONE && status == VYRE_OK; i++) {
        status = run_batch(r, &r->batches[i % 2], &r->batches[(i + 1) % 2]);
    }
    drop(r, &r->batches[0]);
    drop(r, &r->batches[1]);
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
        count_step(r, i, r->launch.visits[i], &r->here.done);
    }
    r->here.done.steps = result.steps;
    r->pass->result->device_ns += result.device_ns;
    r->has_device_time = result.device_ns != 0;
    return status;
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
             .here.walk = vyre_walk_begin(s->module),
             .has_device_time = true};
    memset(s->went_away, 0, r.m->step_count * sizeof *s->went_away);
    memset(s->visits, 0, r.m->step_count * sizeof *s->visits);
    vyre_status status = vyre_schedule_zero(s, pass->trace, diag);
    if (status == VYRE_OK) {
        status = s->whole ? run_module(&r) : run_steps(&r);
    }
    report(&r, &r.here.done);
    return status;
}
