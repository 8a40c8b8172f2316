/* Pipelines: a device with a native grid barrier, or a program that does not wait for its grid,
 * gets the program in one launch per pass. A device that runs schedules itself gets the module, and
 * counts as native, too, unless the caller wants to see segments launched. All others run a
 * schedule of segments. Barriers that nobody needs are removed for both, but not for the oracle: it
 * must not share a mistake with what it judges. Where that is right only for grids along x, a grid
 * with more axes gets a variant of its own, and so do dispatches that launch ahead of decisions or
 * do not, unlike those for which it was compiled: made under the pipeline's lock by the first
 * dispatch that needs it. */
#include "dispatch/pipeline.h"

#include <string.h>

#include "base/diag.h"
#include "device/call.h"
#include "dispatch/geometry.h"
#include "dispatch/reshape.h"
#include "dispatch/support.h"
#include "lower/inline.h"
#include "opt/opt_barrier.h"
#include "vyre/check.h"

/* Why the program can't be split for the device, or VYRE_OK. */
static vyre_status may_split(const vyre_device *device, const vyre_program *program,
                             const vyre_dispatch_options *options, vyre_diag *diag) {
    vyre_place place = vyre_program_place(program);
    const char *name = vyre_program_get(program)->name;
    const bool is_native = vyre_device_takes_modules(device) && options->split != VYRE_SPLIT_ALWAYS;
    if (!is_native && (options->split == VYRE_SPLIT_NEVER || !device->info.allows_split)) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place,
                            "allow splitting, or use a device with a native grid barrier",
                            "program %s waits for its grid, %s has no grid barrier, and splitting "
                            "is switched off",
                            name, device->info.backend);
    }
    if (options->find_races || options->outside) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place, "look for them on \"ref\"",
                            "%s are found in whole programs, and program %s is split",
                            options->find_races ? "races" : "accesses outside", name);
    }
    return VYRE_OK;
}

/* The first error, out of as many reports as fit. */
static vyre_status check_program(const vyre_program *program, const vyre_allocator *a,
                                 vyre_diag *diag) {
    vyre_diag items[8];
    vyre_diag_list list = {.items = items, .capacity = sizeof items / sizeof *items};
    vyre_status status = vyre_check(program, a, &list);
    if (status == VYRE_OK) {
        return status;
    }
    if (status == VYRE_OUT_OF_MEMORY) {
        return vyre_fail_memory(diag, "checking a program");
    }
    (void)vyre_fail(diag, status, "vyre_check lists them", "the program has %u errors",
                    list.errors);
    for (uint32_t i = 0; i < list.count && diag; i++) {
        if (items[i].severity == VYRE_ERROR) {
            *diag = items[i];
            break;
        }
    }
    return status;
}

static void drop_programs(const vyre_pipeline *p, vyre_variant *v) {
    vyre_added_finish(&v->added, p->device);
    vyre_program_release(v->optimised);
    vyre_program_release(v->lowered);
    v->optimised = v->lowered = NULL;
}

/* All that was compiled. */
static void drop_variants(vyre_pipeline *p) {
    for (uint32_t i = 0; i < VYRE_VARIANTS; i++) {
        vyre_variant *v = &p->variants[i];
        if (v->is_compiled && p->is_split) {
            vyre_schedule_finish(&v->schedule);
        } else if (v->is_compiled) {
            vyre_device_destroy(p->device, v->kernel);
        }
        drop_programs(p, v);
        v->is_compiled = false;
    }
}

static void lose(vyre_member *member) {
    drop_variants((vyre_pipeline *)member);
}

vyre_pipeline_key vyre_pipeline_key_of(const vyre_dispatch_options *o) {
    return (vyre_pipeline_key){.workgroup = {o->workgroup[0], o->workgroup[1], o->workgroup[2]},
                               .split = (uint32_t)o->split,
                               .no_optimize = o->no_optimize,
                               .looks = o->find_races || o->outside};
}

/* Checks the program and sets what is run: it, or a copy with another workgroup or without
 * conditions. */
static vyre_status take_program(vyre_pipeline *p, const vyre_program *program,
                                const vyre_dispatch_options *options, vyre_diag *diag) {
    uint32_t workgroup[3];
    p->program = program;
    vyre_status status = check_program(program, &p->device->allocator, diag);
    if (status == VYRE_OK) {
        status = vyre_geometry_workgroup(program, options->workgroup, workgroup, diag);
    }
    if (status == VYRE_OK &&
        memcmp(workgroup, vyre_program_get(program)->workgroup, sizeof workgroup) != 0) {
        status = vyre_reshape(program, workgroup, &p->device->allocator, &p->copy, diag);
        p->program = p->copy;
        if (status == VYRE_OK) { /* a proof may rest on how many lanes a group has */
            status = check_program(p->copy, &p->device->allocator, diag);
        }
    }
    if (status == VYRE_OK) {
        vyre_program *settled = NULL;
        status = vyre_settle(p->program, &p->device->allocator, &settled, &p->conditions, diag);
        if (status == VYRE_OK && settled != p->program) {
            vyre_program_release(p->copy);
            p->copy = settled;
            p->program = settled;
        } else if (status == VYRE_OK) {
            vyre_program_release(settled);
        }
    }
    return status;
}

/* Operations over the grid that a device does not have are parted by splitting. */
static bool does_grid_operations(const vyre_device *device, const vyre_program *program) {
    const uint64_t kind = UINT64_C(1) << VYRE_STMT_GRID;
    return (vyre_program_get(program)->stats.stmt_kinds & kind & ~device->can.stmts) == 0;
}

vyre_status vyre_pipeline_create(vyre_device *device, const vyre_program *program,
                                 const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                                 vyre_diag *diag) {
    vyre_pipeline *p = vyre_alloc_zeroed(&device->allocator, 1, sizeof *p);
    if (!p) {
        return vyre_fail_memory(diag, "a pipeline");
    }
    atomic_init(&p->references, 1);
    p->device = device;
    p->key = vyre_pipeline_key_of(options);
    vyre_status status = take_program(p, program, options, diag);
    p->waits = vyre_contains_grid_sync(program);
    p->is_split = device->info.level == VYRE_LEVEL_PROGRAM
                      ? p->waits && (options->split == VYRE_SPLIT_ALWAYS ||
                                     !does_grid_operations(device, program))
                      : p->waits || (device->info.turns_loops && !p->key.looks);
    p->takes_module =
        p->is_split && vyre_device_takes_modules(device) && options->split != VYRE_SPLIT_ALWAYS;
    if (status == VYRE_OK && p->is_split && p->waits) {
        status = may_split(device, program, options, diag);
    }
    if (status == VYRE_OK && pthread_mutex_init(&p->lock, NULL) != 0) {
        status = vyre_fail_memory(diag, "a pipeline");
    }
    if (status != VYRE_OK) {
        vyre_vec_free(&device->allocator, &p->conditions);
        vyre_program_release(p->copy);
        vyre_free(&device->allocator, p, 1, sizeof *p);
        return status;
    }
    p->member.lose = lose;
    vyre_device_join(device, &p->member);
    *out_pipeline = p;
    return VYRE_OK;
}

/* The program without the barriers that nobody needs, if there are such. Opaque functions are for
 * the device to replace: a program that calls one is left alone. */
static vyre_status optimise(vyre_pipeline *p, vyre_variant *v, bool any_grid, vyre_diag *diag) {
    const vyre_allocator *a = &p->device->allocator;
    if (p->key.no_optimize || !vyre_contains_grid_sync(p->program) || p->device->info.is_oracle ||
        vyre_program_get(p->program)->stats.opaque_calls) {
        return VYRE_OK;
    }
    vyre_program *inlined = NULL;
    vyre_barriers barriers;
    vyre_status status = vyre_inline(p->program, a, &inlined, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = vyre_opt_barrier(inlined, any_grid, a, &v->optimised, &barriers, diag);
    vyre_program_release(inlined);
    if (status == VYRE_OK && barriers.removed.count == 0) {
        vyre_program_release(v->optimised);
        v->optimised = NULL;
    }
    if (status == VYRE_OK) {
        v->along_x = barriers.along_x;
        vyre_barriers_finish(&barriers, a);
    }
    return status;
}

static vyre_status compile_whole(vyre_pipeline *p, vyre_variant *v, bool any_grid,
                                 vyre_trace *trace, vyre_diag *diag) {
    vyre_call call = {
        .device = p->device, .trace = trace, .name = vyre_program_get(p->program)->name};
    vyre_status status = optimise(p, v, any_grid, diag);
    if (status == VYRE_OK) {
        const vyre_program *program = v->optimised ? v->optimised : p->program;
        status = vyre_lower(program, &p->device->can, &p->device->allocator, &v->lowered, diag);
    }
    if (status == VYRE_OK) {
        status = vyre_added_init(&v->added, p->program, v->lowered, p->device, diag);
    }
    if (status == VYRE_OK) {
        status = vyre_call_compile(&call, v->lowered, &v->kernel, diag);
    }
    if (status != VYRE_OK) {
        drop_programs(p, v);
    } else {
        vyre_call_count_code(&call, v->kernel);
    }
    return status;
}

static vyre_status compile_variant(vyre_pipeline *p, uint32_t which, vyre_trace *trace,
                                   vyre_diag *diag) {
    vyre_variant *v = &p->variants[which];
    const bool any_grid = which & VYRE_VARIANT_ANY_GRID;
    vyre_status status;
    if (p->is_split) {
        const vyre_split_options split = {.keep_barriers = p->key.no_optimize,
                                          .any_grid = any_grid,
                                          .turn_loops = p->device->info.turns_loops && !any_grid,
                                          .trips_together = p->device->info.trips_together,
                                          .can = &p->device->can,
                                          .ahead = which & VYRE_VARIANT_AHEAD};
        status = vyre_schedule_init(&v->schedule, p->device, p->program, &split, p->takes_module,
                                    trace, diag);
        if (status == VYRE_OK) {
            v->along_x = vyre_module_get(v->schedule.module)->along_x;
            v->widest = vyre_module_get(v->schedule.module)->widest;
        }
    } else {
        status = compile_whole(p, v, any_grid, trace, diag);
    }
    v->is_compiled = status == VYRE_OK;
    vyre_count(&p->device->counters, VYRE_COUNT_compiles, v->is_compiled);
    return status;
}

/* Only segments that the runtime launches are launched ahead; 0 is what the device likes. */
static uint32_t usual_for(const vyre_pipeline *p, uint32_t ahead) {
    const bool wanted = ahead || p->device->info.launches_ahead;
    return wanted && p->is_split && !p->takes_module ? VYRE_VARIANT_AHEAD : VYRE_VARIANT_USUAL;
}

vyre_status vyre_pipeline_compile(vyre_pipeline *p, const vyre_dispatch_options *options,
                                  vyre_diag *diag) {
    return compile_variant(p, usual_for(p, options->ahead), options->trace, diag);
}

bool vyre_pipeline_is_compiled(const vyre_pipeline *p) {
    return p->variants[VYRE_VARIANT_USUAL].is_compiled ||
           p->variants[VYRE_VARIANT_AHEAD].is_compiled;
}

/* Which variant is right for a grid; an empty one needs none, so the usual will do. */
static uint32_t variant_for(const vyre_pipeline *p, const uint32_t grid[3], uint32_t ahead) {
    const bool along_x = grid[0] == 0 || (uint64_t)grid[1] * grid[2] <= 1;
    const uint32_t which = usual_for(p, ahead);
    const vyre_variant *usual = &p->variants[which];
    const uint64_t lanes = (uint64_t)grid[0] * vyre_program_get(p->program)->workgroup[0];
    const bool fits = (along_x || !usual->along_x) && (!p->is_split || lanes <= usual->widest);
    return fits ? which : which | VYRE_VARIANT_ANY_GRID;
}

vyre_status vyre_compile(vyre_device *device, vyre_program *program,
                         const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                         vyre_diag *diag) {
    static const vyre_dispatch_options defaults;
    if (!device || !program || !out_pipeline) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a device, a program and a place for the pipeline",
                         "an argument of vyre_compile is NULL");
    }
    vyre_pipeline *p = NULL;
    options = options ? options : &defaults;
    vyre_status status = vyre_pipeline_create(device, program, options, &p, diag);
    if (status == VYRE_OK) {
        status = vyre_pipeline_compile(p, options, diag);
    }
    if (status != VYRE_OK) {
        vyre_pipeline_release(p);
    } else {
        p->retained = vyre_program_retain(program);
        *out_pipeline = p;
    }
    return status;
}

vyre_pipeline *vyre_pipeline_retain(vyre_pipeline *pipeline) {
    if (pipeline) {
        atomic_fetch_add(&pipeline->references, 1);
    }
    return pipeline;
}

void vyre_pipeline_release(vyre_pipeline *pipeline) {
    if (!pipeline || atomic_fetch_sub(&pipeline->references, 1) != 1) {
        return;
    }
    vyre_device *device = pipeline->device;
    vyre_pipeline_release(pipeline->parts);
    drop_variants(pipeline);
    vyre_device_leave(device, &pipeline->member);
    pthread_mutex_destroy(&pipeline->lock);
    vyre_vec_free(&device->allocator, &pipeline->conditions);
    vyre_program_release(pipeline->copy);
    vyre_program_release(pipeline->retained);
    vyre_free(&device->allocator, pipeline, 1, sizeof *pipeline);
}

/* Of what programs are made of; 0: there is none. */
static uint64_t bytes_of(const vyre_program *program) {
    const vyre_program_view *v = program ? vyre_program_get(program) : NULL;
    return !v ? 0
              : v->decl_count * sizeof *v->decls + v->var_count * sizeof *v->vars +
                    v->expr_count * sizeof *v->exprs + v->stmt_count * sizeof *v->stmts +
                    v->fn_count * sizeof *v->fns + v->arg_count * sizeof *v->args;
}

void vyre_pipeline_rest(vyre_pipeline *p) {
    p->bytes = bytes_of(p->retained) + bytes_of(p->copy);
    if (p->parts) {
        vyre_pipeline_rest(p->parts);
        p->bytes += p->parts->bytes;
    }
    for (uint32_t i = 0; i < VYRE_VARIANTS; i++) {
        vyre_variant *v = &p->variants[i];
        p->bytes += bytes_of(v->optimised) + bytes_of(v->lowered);
        vyre_traps_finish(&v->added.traps, p->device);
        if (v->is_compiled && p->is_split) {
            const vyre_module_view *m = vyre_module_get(v->schedule.module);
            for (uint32_t k = 0; k < m->segment_count; k++) {
                p->bytes += bytes_of(m->segments[k]);
            }
            vyre_schedule_rest(&v->schedule);
        }
    }
}

vyre_status vyre_pipeline_check(const vyre_pipeline *p, const vyre_dispatch_options *options,
                                vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(p->program);
    const uint32_t *given = options->workgroup;
    const char *what = NULL;
    for (int axis = 0; axis < 3 && (given[0] || given[1] || given[2]); axis++) {
        what =
            (given[axis] ? given[axis] : 1) != view->workgroup[axis] ? "another workgroup" : what;
    }
    vyre_status status = vyre_member_check(&p->member, "pipeline", diag);
    if (status != VYRE_OK) {
        return status;
    }
    const bool by_segments = p->is_split && p->waits && !p->takes_module;
    if (options->split == VYRE_SPLIT_NEVER && by_segments) {
        what = "no splitting";
    } else if (options->split == VYRE_SPLIT_ALWAYS && !by_segments &&
               vyre_contains_grid_sync(p->program)) {
        what = "splitting";
    }
    if (what) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "compile another pipeline for it",
                         "the pipeline of program %s was compiled for other options, and %s was "
                         "asked for",
                         view->name, what);
    }
    return p->is_split && (options->find_races || options->outside)
               ? may_split(p->device, p->program, options, diag)
               : VYRE_OK;
}

static vyre_status need_variant(vyre_pipeline *p, uint32_t which, vyre_trace *trace,
                                vyre_diag *diag) {
    return p->variants[which].is_compiled ? VYRE_OK : compile_variant(p, which, trace, diag);
}

/* Whether a grid of no more groups was refused. */
static bool is_refused(const vyre_pipeline *p, const uint32_t grid[3]) {
    return p->parts && vyre_schedule_groups(grid) >= p->refused_groups;
}

vyre_status vyre_pipeline_prepare(vyre_pipeline *pipeline, const uint32_t grid[3], uint32_t ahead,
                                  vyre_trace *trace, vyre_diag *diag) {
    if (is_refused(pipeline, grid)) {
        return vyre_pipeline_prepare(pipeline->parts, grid, ahead, trace, diag);
    }
    /* The usual one tells which grids it is for. */
    vyre_status status = need_variant(pipeline, usual_for(pipeline, ahead), trace, diag);
    const uint32_t which = variant_for(pipeline, grid, ahead);
    vyre_variant *v = &pipeline->variants[which];
    if (status == VYRE_OK) {
        status = need_variant(pipeline, which, trace, diag);
    }
    if (status != VYRE_OK || pipeline->is_split) {
        return status == VYRE_OK ? vyre_schedule_prepare(&v->schedule, grid, trace, diag) : status;
    }
    vyre_call call = {.device = pipeline->device, .trace = trace, .name = "traps"};
    return vyre_traps_prepare(&v->added.traps, &call, v->lowered, v->added.trap, grid, diag);
}

/* Whether it may be split where it does not fit in one launch. */
static bool may_part(const vyre_pipeline *p) {
    return p->waits && !p->key.looks && p->key.split == VYRE_SPLIT_AUTO &&
           p->device->info.allows_split;
}

/* From now on such grids run as parts. */
static vyre_status part(vyre_pipeline *p, const vyre_launch *launch, const vyre_pass *pass,
                        vyre_diag *diag) {
    const vyre_dispatch_options options = {.split = VYRE_SPLIT_ALWAYS,
                                           .no_optimize = p->key.no_optimize,
                                           .ahead = pass->ahead,
                                           .trace = pass->trace};
    vyre_status status = VYRE_OK;
    if (!p->parts) {
        status = vyre_pipeline_create(p->device, p->program, &options, &p->parts, diag);
        p->refused_groups = UINT64_MAX;
    }
    if (status == VYRE_OK) {
        const uint64_t groups = vyre_schedule_groups(launch->grid);
        p->refused_groups = groups < p->refused_groups ? groups : p->refused_groups;
        status = vyre_pipeline_prepare(p->parts, launch->grid, pass->ahead, pass->trace, diag);
    }
    return status;
}

static vyre_status launch_whole(vyre_pipeline *p, const vyre_launch *launch, const vyre_pass *pass,
                                vyre_diag *diag) {
    vyre_call call = {.device = p->device,
                      .trace = pass->trace,
                      .name = vyre_program_get(p->program)->name,
                      .elapsed = &pass->times->enqueue};
    vyre_variant *v = &p->variants[variant_for(p, launch->grid, pass->ahead)];
    vyre_launch lowered = vyre_added_launch(&v->added, launch);
    vyre_launch_results results = {0};
    vyre_status status = vyre_call_launch(&call, v->kernel, &lowered, pass->result, diag);
    pass->stats->launches += status == VYRE_OK;
    *pass->was_refused = status == VYRE_LIMIT && may_part(p);
    call.elapsed = &pass->times->wait;
    /* Also after a failure: what was launched before still uses memory that is freed next. */
    vyre_status finished = vyre_call_collect(&call, launch->pass, pass->result->is_queued, &results,
                                             status == VYRE_OK ? diag : NULL);
    status = status == VYRE_OK ? finished : status;
    if (status == VYRE_OK && pass->result->is_queued) {
        pass->result->device_ns = results.device_ns;
        pass->result->is_timed = results.untimed == 0;
        status = results.status;
        if (status != VYRE_OK && diag) {
            *diag = results.diag;
        }
    }
    return status == VYRE_OK ? vyre_traps_look(&v->added.traps, &call, v->lowered, v->added.trap,
                                               pass->result, diag)
                             : status;
}

vyre_status vyre_pipeline_run(vyre_pipeline *p, const vyre_launch *launch, const vyre_pass *pass,
                              vyre_diag *diag) {
    if (p->is_split) {
        vyre_schedule *schedule = &p->variants[variant_for(p, launch->grid, pass->ahead)].schedule;
        return vyre_schedule_run(schedule, launch, pass, diag);
    }
    vyre_status status = VYRE_OK;
    *pass->was_refused = is_refused(p, launch->grid);
    if (!*pass->was_refused) {
        status = launch_whole(p, launch, pass, diag);
        if (!*pass->was_refused) {
            return status;
        }
        *pass->result = (vyre_launch_result){0};
        status = part(p, launch, pass, diag);
    }
    return status == VYRE_OK ? vyre_pipeline_run(p->parts, launch, pass, diag) : status;
}

void vyre_pipeline_count(const vyre_pipeline *p, const uint32_t grid[3], uint32_t ahead,
                         bool was_refused) {
    if (was_refused) {
        vyre_pipeline_count(p->parts, grid, ahead, false);
        return;
    }
    vyre_counter_set *set = &p->device->counters;
    vyre_count(set, VYRE_COUNT_dispatches, 1);
    const vyre_schedule *s = &p->variants[variant_for(p, grid, ahead)].schedule;
    if (p->is_split && p->waits && s->segment_count > 1) {
        vyre_count_split(set, s->segment_count, s->sync_points);
    }
}
