/* Running a schedule through a device that takes segments: launch after launch, and after a step
 * that decides, one word is read back to know which way to go. Buffers and carried state stay on
 * the device. */
#include "runtime/schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "pass/module.h"
#include "runtime/call.h"
#include "runtime/carry_size.h"

typedef unsigned long long ull;

/* What a declaration of a segment stands for: a declaration of the source, or one of these; from
 * FROM_OWN on, the buffers of what lanes and groups own. */
enum { FROM_GRID = VYRE_LIMIT_DECLS, FROM_NEXT, FROM_LANES, FROM_TICK, FROM_OWN };

struct vyre_compiled_segment {
    vyre_backend_kernel *kernel;
    uint32_t decl_count;
    uint32_t *origin;    /* per declaration of the segment */
    vyre_memory *memory; /* room for a launch */
    uint32_t *counts;
    uint64_t *values;
};

struct vyre_own_memory {
    vyre_memory memory;
    uint64_t bytes;
};

/* Passes keep the source's declarations in place and add theirs behind. */
static uint32_t origin_of(const vyre_module *module, uint32_t source_decls, const char *name) {
    const vyre_module_names *names = vyre_module_names_of(module);
    const vyre_module_view *m = vyre_module_get(module);
    const char *const added[] = {names->grid, names->next, names->lanes, names->tick};
    vyre_decl decl = vyre_program_find_decl(m->source, name);
    if (decl != VYRE_NONE) {
        return decl < source_decls ? decl : VYRE_NONE; /* what passes added has no own memory */
    }
    for (uint32_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        if (strcmp(name, added[i]) == 0) {
            return FROM_GRID + i;
        }
    }
    for (uint32_t i = 0; i < m->buffer_count; i++) {
        if (strcmp(name, m->buffers[i].name) == 0) {
            return FROM_OWN + i;
        }
    }
    return VYRE_NONE;
}

static vyre_status compile_segment(vyre_schedule *s, uint32_t number, uint32_t source_decls,
                                   vyre_trace *trace, vyre_diag *diag) {
    const vyre_allocator *a = &s->device->allocator;
    const vyre_program *program = vyre_module_get(s->module)->segments[number];
    const vyre_program_view *view = vyre_program_get(program);
    struct vyre_compiled_segment *segment = &s->segments[number];
    segment->decl_count = view->decl_count;
    segment->origin = vyre_alloc(a, view->decl_count, sizeof *segment->origin);
    segment->memory = vyre_alloc_zeroed(a, view->decl_count, sizeof *segment->memory);
    segment->counts = vyre_alloc_zeroed(a, view->decl_count, sizeof *segment->counts);
    segment->values = vyre_alloc_zeroed(a, view->decl_count, sizeof *segment->values);
    if (!segment->origin || !segment->memory || !segment->counts || !segment->values) {
        return vyre_fail_memory(diag, "a segment");
    }
    for (uint32_t d = 0; d < view->decl_count; d++) {
        segment->origin[d] = origin_of(s->module, source_decls, view->decls[d].name);
    }
    vyre_call call = {.device = s->device, .trace = trace, .name = view->name};
    return vyre_call_compile(&call, program, &segment->kernel, diag);
}

/* Which segment an error is about. */
static void label(vyre_diag *diag, uint32_t segment, uint32_t count) {
    if (diag) {
        diag->segment = segment + 1;
        diag->segment_count = count;
    }
}

/* The module, its kernels and the memory of its buffers. */
static void drop_code(vyre_schedule *s) {
    const vyre_allocator *a = &s->device->allocator;
    uint32_t count = vyre_module_get(s->module)->segment_count;
    for (uint32_t i = 0; s->segments && i < count; i++) {
        struct vyre_compiled_segment *segment = &s->segments[i];
        if (segment->kernel) {
            s->device->table->destroy(s->device->object, segment->kernel);
        }
        vyre_free(a, segment->origin, segment->decl_count, sizeof *segment->origin);
        vyre_free(a, segment->memory, segment->decl_count, sizeof *segment->memory);
        vyre_free(a, segment->counts, segment->decl_count, sizeof *segment->counts);
        vyre_free(a, segment->values, segment->decl_count, sizeof *segment->values);
    }
    vyre_free(a, s->segments, count, sizeof *s->segments);
    uint32_t buffers = vyre_module_get(s->module)->buffer_count;
    for (uint32_t i = 0; s->own && i < buffers; i++) {
        vyre_device_free(s->device, s->own[i].memory);
    }
    vyre_free(a, s->own, buffers, sizeof *s->own);
    vyre_module_release(s->module);
    s->module = NULL;
}

/* Splits and compiles in the way that s->how says; the rest of *s is zero but for device, program.
 */
static vyre_status make_code(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    const vyre_allocator *a = &s->device->allocator;
    vyre_status status = vyre_split(s->program, &s->how, a, &s->module, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_module_view *m = vyre_module_get(s->module);
    uint32_t count = s->segment_count = m->segment_count;
    s->sync_points = m->sync_points;
    s->segments = vyre_alloc_zeroed(a, count, sizeof *s->segments);
    s->own = vyre_alloc_zeroed(a, m->buffer_count, sizeof *s->own);
    if (!s->segments || !s->own) {
        status = vyre_fail_memory(diag, "the segments of a program");
    }
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = compile_segment(s, i, vyre_program_get(s->program)->decl_count, trace, diag);
        if (status != VYRE_OK) {
            label(diag, i, count);
        }
    }
    if (status != VYRE_OK) {
        drop_code(s);
    }
    return status;
}

vyre_status vyre_schedule_init(vyre_schedule *s, vyre_device *device, const vyre_program *program,
                               const vyre_split_options *options, vyre_trace *trace,
                               vyre_diag *diag) {
    *s = (vyre_schedule){.device = device, .program = program, .how = *options};
    return make_code(s, trace, diag);
}

void vyre_schedule_finish(vyre_schedule *s) {
    drop_code(s);
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES; i++) {
        vyre_device_free(s->device, s->carry[i]);
    }
}

static uint64_t count_groups(const uint32_t grid[3]) {
    return (uint64_t)grid[0] * grid[1] * grid[2];
}

static uint64_t count_lanes(const vyre_schedule *s, const uint32_t grid[3]) {
    const uint32_t *group = vyre_program_get(vyre_module_get(s->module)->source)->workgroup;
    return count_groups(grid) * group[0] * group[1] * group[2];
}

/* Other buffers for the same state: the program is split anew. */
static vyre_status spread(vyre_schedule *s, const vyre_split_options *how, vyre_trace *trace,
                          vyre_diag *diag) {
    vyre_schedule fresh = {.device = s->device, .program = s->program, .how = *how};
    vyre_status status = make_code(&fresh, trace, diag);
    if (status == VYRE_OK) {
        drop_code(s);
        s->how = fresh.how;
        s->module = fresh.module;
        s->segments = fresh.segments;
        s->own = fresh.own;
        vyre_count(&s->device->counters, VYRE_COUNT_compiles, 1);
    }
    return status;
}

/* Memory of so many bytes; what is there is kept if it has as many. */
static vyre_status resize(const vyre_call *call, uint64_t bytes, vyre_memory *memory,
                          uint64_t *size, vyre_diag *diag) {
    if (*memory && VYRE_MUTANT(carry_size_kept, *size == bytes, true)) {
        return VYRE_OK;
    }
    vyre_device_free(call->device, *memory);
    *memory = 0;
    *size = bytes;
    return vyre_call_new_memory(call, bytes, memory, diag);
}

vyre_status vyre_schedule_prepare(vyre_schedule *s, const uint32_t grid[3], vyre_trace *trace,
                                  vyre_diag *diag) {
    vyre_carry_need need = {.module = vyre_module_get(s->module),
                            .info = &s->device->info,
                            .lanes = count_lanes(s, grid),
                            .groups = count_groups(grid)};
    vyre_split_options how = s->how;
    bool fits;
    vyre_status status = vyre_carry_check(&need, &how, &fits, diag);
    if (status == VYRE_OK && !fits) {
        status = spread(s, &how, trace, diag);
        need.module = vyre_module_get(s->module);
    }
    if (status != VYRE_OK) {
        return status;
    }
    vyre_call call = {
        .device = s->device, .trace = trace, .name = "values that are alive across grid barriers"};
    for (uint32_t i = 0; i < need.module->buffer_count && status == VYRE_OK; i++) {
        uint64_t bytes = vyre_carry_own_bytes(&need, &need.module->buffers[i]);
        status = resize(&call, bytes, &s->own[i].memory, &s->own[i].bytes, diag);
    }
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES && status == VYRE_OK; i++) {
        uint64_t bytes = vyre_carry_shared_bytes(&need);
        status = resize(&call, bytes, &s->carry[i], &s->carry_bytes[i], diag);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_carry_fail_memory(&need, diag) : status;
}

static vyre_status zero_carry(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    bool dirty = VYRE_MUTANT(carry_not_zeroed, s->is_used, false);
    vyre_call call = {.device = s->device, .trace = trace, .name = "carried values"};
    uint32_t buffers = vyre_module_get(s->module)->buffer_count;
    uint32_t zeroed = VYRE_MUTANT(carry_first_zeroed, buffers, buffers > 0);
    for (uint32_t i = 0; i < zeroed && dirty && status == VYRE_OK; i++) {
        status = vyre_call_zero(&call, s->own[i].memory, 0, s->own[i].bytes, diag);
    }
    for (int i = 0; i < VYRE_SCHEDULE_CARRIES && dirty && status == VYRE_OK; i++) {
        status = vyre_call_zero(&call, s->carry[i], 0, s->carry_bytes[i], diag);
    }
    s->is_used = true;
    return status;
}

typedef struct run {
    vyre_schedule *s;
    const vyre_launch *source; /* the launch as if it were one */
    vyre_pass pass;
    vyre_diag *diag;
    uint64_t lanes, groups;
    uint32_t grid, next; /* which of the carries play these roles */
    uint32_t tick;
    bool has_device_time; /* of every launch so far */
} run;

static vyre_status check_time(const run *r) {
    if (vyre_cancel_is_requested(r->source->cancel)) {
        return vyre_fail(r->diag, VYRE_CANCELLED, NULL, "the dispatch was cancelled");
    }
    if (r->source->deadline_ns && vyre_clock_now() >= r->source->deadline_ns) {
        return vyre_fail(r->diag, VYRE_TIMEOUT, "allow more time, or do less",
                         "the dispatch took too long");
    }
    return VYRE_OK;
}

static void bind_carry(const vyre_schedule *s, struct vyre_compiled_segment *segment, uint32_t decl,
                       uint32_t which) {
    segment->memory[decl] = s->carry[which];
    segment->counts[decl] = (uint32_t)(s->carry_bytes[which] / 4);
}

static void bind(const run *r, struct vyre_compiled_segment *segment) {
    const vyre_schedule *s = r->s;
    for (uint32_t d = 0; d < segment->decl_count; d++) {
        uint32_t origin = segment->origin[d];
        switch (origin) {
        case FROM_GRID: bind_carry(s, segment, d, r->grid); break;
        case FROM_NEXT: bind_carry(s, segment, d, r->next); break;
        case FROM_LANES: segment->values[d] = r->lanes; break;
        case FROM_TICK: segment->values[d] = r->tick; break;
        case VYRE_NONE: break; /* a helper in workgroup or private memory */
        default:
            if (origin >= FROM_OWN) {
                segment->memory[d] = s->own[origin - FROM_OWN].memory;
                segment->counts[d] = (uint32_t)(s->own[origin - FROM_OWN].bytes / 4);
                break;
            }
            segment->memory[d] = r->source->memory[origin];
            segment->counts[d] = r->source->counts[origin];
            segment->values[d] = r->source->values[origin];
        }
    }
}

/* The budget is asked only before something runs: what needs exactly its steps gets through. */
static vyre_status check_budget(const run *r) {
    uint64_t most = r->source->max_steps;
    return most && r->pass.result->steps >= most
               ? vyre_fail(r->diag, VYRE_STEP_BUDGET, "allow more steps, or do less",
                           "the dispatch used up its %llu steps", (ull)most)
               : VYRE_OK;
}

static vyre_status launch(run *r, uint32_t number) {
    vyre_schedule *s = r->s;
    struct vyre_compiled_segment *segment = &s->segments[number];
    bind(r, segment);
    vyre_launch one = *r->source;
    one.memory = segment->memory;
    one.counts = segment->counts;
    one.values = segment->values;
    one.max_steps = r->source->max_steps ? r->source->max_steps - r->pass.result->steps : 0;
    vyre_launch_result result = {0};
    const vyre_module_view *m = vyre_module_get(s->module);
    vyre_call call = {.device = s->device,
                      .trace = r->pass.trace,
                      .name = vyre_program_get(m->segments[number])->name,
                      .segment = number + 1,
                      .segment_count = m->segment_count,
                      .elapsed = &r->pass.times->enqueue};
    vyre_status status = check_budget(r);
    if (status == VYRE_OK) {
        status = vyre_call_launch(&call, segment->kernel, &one, &result, r->diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    r->pass.stats->launches++;
    r->pass.result->steps += result.steps;
    r->pass.result->device_ns += result.device_ns;
    r->has_device_time = r->has_device_time && result.device_ns != 0;
    return VYRE_OK;
}

/* Bytes that are alive behind a step. */
static uint64_t alive(const run *r, uint32_t step) {
    const vyre_module_view *m = vyre_module_get(r->s->module);
    const uint32_t *list;
    uint32_t count = vyre_module_live(r->s->module, step, &list);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += vyre_carry_bytes(&m->carries[list[i]], r->lanes, r->groups);
    }
    return bytes;
}

/* The control word says which way to go. VYRE_NONE in *out_next: no lane is alive. */
static vyre_status decide(run *r, const vyre_step *step, uint32_t *out_next) {
    if (step->kind == VYRE_STEP_NEXT && !step->asks) {
        *out_next = step->next;
        return VYRE_OK;
    }
    uint32_t word = 0;
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass.trace,
                      .name = "control word",
                      .bytes = sizeof word,
                      .elapsed = &r->pass.times->wait};
    vyre_status status =
        vyre_call_read(&call, r->s->carry[r->next], 0, &word, sizeof word, r->diag);
    r->pass.stats->host_waits++;
    bool dead = VYRE_MUTANT(schedule_dead_decide, word / 2 != r->tick, false);
    *out_next = dead ? VYRE_NONE : word % 2 ? step->next : step->otherwise;
    return status;
}

/* One rank: what has two buffers copies the shorter length, the rest changes nothing. */
static vyre_status run_collective(run *r, vyre_stmt stmt) {
    const vyre_program_view *p = vyre_program_get(vyre_module_get(r->s->module)->source);
    vyre_decl from = p->stmts[stmt].decl, to = p->stmts[stmt].decl2;
    if (to == VYRE_NONE) {
        return VYRE_OK;
    }
    uint32_t count = r->source->counts[from] < r->source->counts[to] ? r->source->counts[from]
                                                                     : r->source->counts[to];
    uint64_t size = (uint64_t)count * vyre_type_size((vyre_type)p->decls[to].type);
    vyre_call call = {.device = r->s->device, .trace = r->pass.trace, .name = "collective"};
    return size == 0 ? VYRE_OK
                     : vyre_call_copy(&call, r->source->memory[to], 0, r->source->memory[from], 0,
                                      size, r->diag);
}

/* What follows is VYRE_NONE in *at when the pass is over. */
static vyre_status run_step(run *r, const vyre_step *step, uint32_t *at) {
    vyre_status status = VYRE_OK;
    if (step->segment == VYRE_NONE) {
        r->pass.stats->skipped_launches++;
    } else {
        status = check_time(r);
        status = status == VYRE_OK ? launch(r, step->segment) : status;
    }
    if (step->kind == VYRE_STEP_END || status != VYRE_OK) {
        *at = VYRE_NONE;
        return status;
    }
    r->pass.stats->carried_bytes += alive(r, *at);
    r->pass.stats->sync_points += step->sync;
    status = decide(r, step, at);
    if (status == VYRE_OK && *at != VYRE_NONE && step->collective != VYRE_NONE) {
        status = run_collective(r, step->collective);
    }
    if (VYRE_MUTANT(schedule_keeps_places, step->flips, false)) {
        uint32_t grid = r->grid;
        r->grid = r->next;
        r->next = grid;
    }
    /* The control word has room for 31 bits; what an old launch wrote is long overwritten. */
    r->tick = r->tick % INT32_MAX + 1;
    return status;
}

static vyre_status run_steps(run *r) {
    const vyre_module_view *m = vyre_module_get(r->s->module);
    vyre_status status = VYRE_OK;
    for (uint32_t at = 0; at != VYRE_NONE && status == VYRE_OK;) {
        const vyre_step *step = &m->steps[at];
        status = run_step(r, step, &at);
        if (status != VYRE_OK && step->segment != VYRE_NONE) {
            label(r->diag, step->segment, m->segment_count);
        }
    }
    return status;
}

vyre_status vyre_schedule_run(vyre_schedule *s, const vyre_launch *launch, const vyre_pass *pass,
                              vyre_diag *diag) {
    run r = {.s = s,
             .source = launch,
             .pass = *pass,
             .diag = diag,
             .grid = VYRE_SCHEDULE_GRID,
             .next = VYRE_SCHEDULE_NEXT,
             .tick = 1,
             .groups = count_groups(launch->grid),
             .lanes = count_lanes(s, launch->grid),
             .has_device_time = true};
    pass->stats->segments = s->segment_count;
    pass->stats->carry_buffers = vyre_module_get(s->module)->buffer_count;
    vyre_status status = zero_carry(s, pass->trace, diag);
    if (status == VYRE_OK) {
        status = run_steps(&r);
    }
    if (!r.has_device_time) {
        pass->result->device_ns = 0;
    }
    return status;
}
