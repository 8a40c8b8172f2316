/* Running a schedule through a device that takes segments: launch after launch, and after a step
 * that decides, one word is read back to know which way to go. Buffers and carried state stay on
 * the device. */
#include "runtime/schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "pass/module.h"
#include "runtime/call.h"

typedef unsigned long long ull;

/* What a declaration of a segment stands for: a declaration of the source, or one of these. */
enum { FROM_LANE = VYRE_LIMIT_DECLS, FROM_GRID, FROM_LANES, FROM_PHASE, FROM_TICK };

struct vyre_compiled_segment {
    vyre_backend_kernel *kernel;
    uint32_t decl_count;
    uint32_t *origin;    /* per declaration of the segment */
    vyre_memory *memory; /* room for a launch */
    uint32_t *counts;
    uint64_t *values;
};

/* Passes keep the source's declarations in place and add theirs behind. */
static uint32_t origin_of(const vyre_module *module, uint32_t source_decls, const char *name) {
    const vyre_module_names *names = vyre_module_names_of(module);
    const char *const added[] = {names->lane, names->grid, names->lanes, names->phase, names->tick};
    for (uint32_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        if (strcmp(name, added[i]) == 0) {
            return FROM_LANE + i;
        }
    }
    vyre_decl decl = vyre_program_find_decl(vyre_module_get(module)->source, name);
    return decl < source_decls ? decl : VYRE_NONE; /* what passes added has no memory of its own */
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

vyre_status vyre_schedule_init(vyre_schedule *s, vyre_device *device, const vyre_program *program,
                               const vyre_split_options *options, vyre_trace *trace,
                               vyre_diag *diag) {
    *s = (vyre_schedule){.device = device};
    vyre_status status = vyre_split(program, options, &device->allocator, &s->module, diag);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t count = vyre_module_get(s->module)->segment_count;
    s->segments = vyre_alloc_zeroed(&device->allocator, count, sizeof *s->segments);
    if (!s->segments) {
        status = vyre_fail_memory(diag, "the segments of a program");
    }
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = compile_segment(s, i, vyre_program_get(program)->decl_count, trace, diag);
        if (status != VYRE_OK) {
            label(diag, i, count);
        }
    }
    if (status != VYRE_OK) {
        vyre_schedule_finish(s);
    }
    return status;
}

void vyre_schedule_finish(vyre_schedule *s) {
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
    vyre_device_free(s->device, s->lane);
    vyre_device_free(s->device, s->grid);
    vyre_module_release(s->module);
    s->module = NULL;
}

static uint64_t count_groups(const uint32_t grid[3]) {
    return (uint64_t)grid[0] * grid[1] * grid[2];
}

static uint64_t count_lanes(const vyre_schedule *s, const uint32_t grid[3]) {
    const uint32_t *group = vyre_program_get(vyre_module_get(s->module)->source)->workgroup;
    return count_groups(grid) * group[0] * group[1] * group[2];
}

/* Words of the carried state; false if they can't be indexed. */
static bool carry_words(const vyre_module_view *m, uint64_t lanes, uint64_t groups,
                        uint64_t *out_lane, uint64_t *out_grid) {
    uint64_t group_words;
    return lanes <= UINT32_MAX && vyre_mul_u64(m->lane_words, lanes, out_lane) &&
           *out_lane <= UINT32_MAX && vyre_mul_u64(m->group_words, groups, &group_words) &&
           vyre_add_u64(m->grid_words, group_words, out_grid) && *out_grid <= UINT32_MAX;
}

vyre_status vyre_schedule_prepare(vyre_schedule *s, const uint32_t grid[3], vyre_trace *trace,
                                  vyre_diag *diag) {
    const vyre_module_view *m = vyre_module_get(s->module);
    uint64_t groups = count_groups(grid), lanes = count_lanes(s, grid), words[2];
    if (!carry_words(m, lanes, groups, &words[0], &words[1])) {
        return vyre_fail(diag, VYRE_LIMIT, "use fewer lanes, each doing more",
                         "%llu lanes with %u words each that are alive across grid barriers are "
                         "more than can be carried",
                         (ull)lanes, m->lane_words);
    }
    vyre_memory *memory[2] = {&s->lane, &s->grid};
    uint64_t *size[2] = {&s->lane_bytes, &s->grid_bytes};
    static const char *const what[2] = {"values of lanes that are alive across grid barriers",
                                        "values of the grid that are alive across grid barriers"};
    for (int i = 0; i < 2; i++) {
        if (*memory[i] && VYRE_MUTANT(carry_size_kept, *size[i] == words[i] * 4, true)) {
            continue;
        }
        vyre_device_free(s->device, *memory[i]);
        *memory[i] = 0;
        *size[i] = words[i] * 4;
        vyre_call call = {.device = s->device, .trace = trace, .name = what[i]};
        vyre_status status = vyre_call_new_memory(&call, *size[i], memory[i], diag);
        if (status != VYRE_OK) {
            return status;
        }
    }
    return VYRE_OK;
}

static vyre_status zero_carry(vyre_schedule *s, vyre_trace *trace, vyre_diag *diag) {
    const vyre_memory memory[2] = {s->lane, s->grid};
    const uint64_t size[2] = {s->lane_bytes, s->grid_bytes};
    vyre_status status = VYRE_OK;
    for (int i = 0; i < 2 && VYRE_MUTANT(carry_not_zeroed, s->is_used, false) && status == VYRE_OK;
         i++) {
        vyre_call call = {.device = s->device, .trace = trace, .name = "carried values"};
        status = memory[i] ? vyre_call_zero(&call, memory[i], 0, size[i], diag) : VYRE_OK;
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
    uint32_t phase, tick;
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

static void bind(const run *r, struct vyre_compiled_segment *segment) {
    const vyre_schedule *s = r->s;
    for (uint32_t d = 0; d < segment->decl_count; d++) {
        uint32_t origin = segment->origin[d];
        switch (origin) {
        case FROM_LANE:
            segment->memory[d] = s->lane;
            segment->counts[d] = (uint32_t)(s->lane_bytes / 4);
            break;
        case FROM_GRID:
            segment->memory[d] = s->grid;
            segment->counts[d] = (uint32_t)(s->grid_bytes / 4);
            break;
        case FROM_LANES: segment->values[d] = r->lanes; break;
        case FROM_PHASE: segment->values[d] = r->phase; break;
        case FROM_TICK: segment->values[d] = r->tick; break;
        case VYRE_NONE: break; /* a helper in workgroup or private memory */
        default:
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
    uint32_t count = vyre_module_get(s->module)->segment_count;
    vyre_call call = {.device = s->device,
                      .trace = r->pass.trace,
                      .name = vyre_program_get(vyre_module_get(s->module)->segments[number])->name,
                      .segment = number + 1,
                      .segment_count = count,
                      .elapsed = &r->pass.times->enqueue};
    vyre_status status = check_budget(r);
    if (status == VYRE_OK) {
        status = vyre_call_launch(&call, segment->kernel, &one, &result, r->diag);
    }
    if (status != VYRE_OK) {
        label(r->diag, number, count);
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
        const vyre_carry *carry = &m->carries[list[i]];
        uint64_t copies = carry->kind == VYRE_CARRY_GRID        ? 1
                          : carry->kind == VYRE_CARRY_WORKGROUP ? r->groups
                                                                : r->lanes;
        bytes += carry->kind == VYRE_CARRY_RECOMPUTED ? 0 : 4 * (uint64_t)carry->words * copies;
    }
    return bytes;
}

/* Reads the control word. VYRE_NONE in *out_next: no lane is alive. */
static vyre_status decide(run *r, const vyre_step *step, uint32_t *out_next) {
    uint32_t word = 0;
    vyre_call call = {.device = r->s->device,
                      .trace = r->pass.trace,
                      .name = "control word",
                      .bytes = sizeof word,
                      .elapsed = &r->pass.times->wait};
    vyre_status status = vyre_call_read(&call, r->s->grid, 0, &word, sizeof word, r->diag);
    r->pass.stats->host_waits++;
    *out_next = word / 2 != r->tick ? VYRE_NONE : word % 2 ? step->next : step->otherwise;
    return status;
}

static vyre_status run_steps(run *r) {
    const vyre_module_view *m = vyre_module_get(r->s->module);
    vyre_status status = VYRE_OK;
    for (uint32_t at = 0; at != VYRE_NONE && status == VYRE_OK;) {
        const vyre_step *step = &m->steps[at];
        status = check_time(r);
        if (status == VYRE_OK && step->segment != VYRE_NONE) {
            status = launch(r, step->segment);
        } else if (status == VYRE_OK) {
            r->pass.stats->skipped_launches++;
        }
        if (step->kind == VYRE_STEP_END || status != VYRE_OK) {
            break;
        }
        r->pass.stats->carried_bytes += alive(r, at);
        r->pass.stats->sync_points += step->sync;
        if (step->kind == VYRE_STEP_BRANCH) {
            status = decide(r, step, &at);
        } else {
            at = step->next;
        }
        r->phase ^= step->flips;
        /* The control word has room for 31 bits; what an old launch wrote is long overwritten. */
        r->tick = r->tick % INT32_MAX + 1;
    }
    return status;
}

vyre_status vyre_schedule_run(vyre_schedule *s, const vyre_launch *launch, const vyre_pass *pass,
                              vyre_diag *diag) {
    run r = {.s = s,
             .source = launch,
             .pass = *pass,
             .diag = diag,
             .tick = 1,
             .groups = count_groups(launch->grid),
             .lanes = count_lanes(s, launch->grid),
             .has_device_time = true};
    pass->stats->segments = vyre_module_get(s->module)->segment_count;
    vyre_status status = zero_carry(s, pass->trace, diag);
    if (status == VYRE_OK) {
        status = run_steps(&r);
    }
    if (!r.has_device_time) {
        pass->result->device_ns = 0;
    }
    return status;
}
