/* What the paths of a dispatch share. Memory that the caller gave is used and never freed; scratch
 * and the copies for a fixpoint always belong to the run. The pipeline's lock is held while it
 * runs: a pipeline has one set of carried state. */
#include "dispatch/run.h"

#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "device/call.h"
#include "dispatch/support.h"
#include "kit/cancel.h"

const vyre_dispatch_options *vyre_options_or_default(const vyre_dispatch_options *options) {
    static const vyre_dispatch_options defaults;
    return options ? options : &defaults;
}

vyre_status vyre_options_check(const vyre_device *device, const vyre_dispatch_options *o,
                               vyre_diag *diag) {
    const vyre_device_info *info = &device->info;
    vyre_status status = vyre_device_check_process(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (!o->settings && o->setting_count) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give the settings, or none",
                         "settings is NULL");
    }
    if (o->has_iterations && o->iterations == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "run at least one pass",
                         "zero iterations were asked for on %s", info->backend);
    }
    if (o->ahead > VYRE_LIMIT_AHEAD) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "fewer do as well",
                         "%u launches ahead are more than %d", o->ahead, VYRE_LIMIT_AHEAD);
    }
    const char *only_ref = o->order != VYRE_ORDER_FORWARD ? "an order of lanes"
                           : o->find_races                ? "race detection"
                           : o->outside                   ? "a list of accesses outside"
                           : o->max_steps                 ? "a limit of steps"
                                                          : NULL;
    if (only_ref && !info->is_oracle) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "run it on \"ref\"", "%s does not have %s",
                         info->backend, only_ref);
    }
    return VYRE_OK;
}

void vyre_run_lap(vyre_run *run, uint64_t *time) {
    uint64_t now = vyre_clock_now();
    *time += now - run->lap;
    run->lap = now;
}

vyre_status vyre_run_check_time(const vyre_run *run) {
    if (vyre_cancel_is_requested(run->options->cancel)) {
        return vyre_fail(run->diag, VYRE_CANCELLED, NULL, "the dispatch was cancelled");
    }
    if (run->deadline && vyre_clock_now() >= run->deadline) {
        return vyre_fail(run->diag, VYRE_TIMEOUT, "allow more time, or do less",
                         "the dispatch took longer than %g s",
                         (double)run->options->timeout_ns * 1e-9);
    }
    return VYRE_OK;
}

vyre_call vyre_run_call(const vyre_run *run, vyre_decl decl) {
    return (vyre_call){.device = run->device,
                       .trace = run->options->trace,
                       .name = run->view->decls[decl].name,
                       .bytes = vyre_binding_bytes(&run->binding, decl)};
}

bool vyre_run_compares(const vyre_run *run, vyre_decl decl) {
    vyre_role role = (vyre_role)run->view->decls[decl].role;
    return run->memory[decl] && (role == VYRE_INOUT || role == VYRE_OUT);
}

/* Binding */

/* What the proof that lanes stay together rests on. */
static vyre_status test_conditions(const vyre_run *run) {
    const vyre_pipeline *p = run->pipeline;
    const vyre_condition_numbers numbers = {.counts = run->binding.counts,
                                            .values = run->binding.values,
                                            .workgroup = run->geometry.workgroup,
                                            .grid = run->geometry.grid};
    for (uint32_t i = 0; i < p->conditions.count && !vyre_geometry_is_empty(&run->geometry); i++) {
        const vyre_condition *c = &p->conditions.data[i];
        const uint64_t product = vyre_condition_product(c, &numbers);
        if (product > UINT32_MAX) {
            return vyre_fail_at(run->diag, VYRE_INVALID_INPUT, "",
                                vyre_program_stmt_place(p->program, c->loop),
                                "use a smaller grid or smaller numbers",
                                "%s is %llu and does not fit u32: lanes would make different "
                                "trips of this loop and miss each other at its barrier",
                                c->text, (unsigned long long)product);
        }
    }
    return VYRE_OK;
}

static vyre_status resolve(vyre_run *run) {
    vyre_status status =
        vyre_geometry_resolve(&run->binding, &run->words, run->options, &run->geometry, run->diag);
    if (status == VYRE_OK) {
        status =
            vyre_support_geometry(&run->device->info, &run->binding, &run->geometry, run->diag);
    }
    return status != VYRE_OK ? status : test_conditions(run);
}

/* A grid in device memory is read when it is its turn: an earlier dispatch may write it. */
static bool is_late(const vyre_run *run) {
    return run->words.read != NULL && vyre_geometry_is_indirect(run->pipeline->program);
}

static bool allocate_tables(vyre_run *run) {
    uint32_t n = run->view->decl_count;
    run->memory = vyre_arena_alloc(&run->binding.arena, n, sizeof *run->memory);
    run->is_given = vyre_arena_alloc(&run->binding.arena, n, sizeof *run->is_given);
    vyre_memory *before = run->options->has_iterations
                              ? vyre_arena_alloc(&run->binding.arena, n, sizeof *before)
                              : NULL;
    if (!run->memory || !run->is_given || (run->options->has_iterations && !before)) {
        return false;
    }
    memset(run->memory, 0, n * sizeof *run->memory);
    memset(run->is_given, 0, n * sizeof *run->is_given);
    if (before) {
        run->before = memset(before, 0, n * sizeof *before);
    }
    return true;
}

void vyre_run_begin(vyre_run *run, uint64_t begin) {
    uint64_t timeout = run->options->timeout_ns;
    run->begin = begin;
    run->lap = vyre_clock_now();
    if (!timeout || !vyre_add_u64(begin, timeout, &run->deadline)) {
        run->deadline = 0; /* none, or beyond all time */
    }
    run->report =
        (vyre_dispatch_report){.was_split = run->pipeline->is_split && run->pipeline->waits};
}

vyre_status vyre_run_init(vyre_run *run, const vyre_bind_args *args) {
    const vyre_dispatch_options *options = run->options;
    const vyre_program *program = run->pipeline->program;
    run->device = run->pipeline->device;
    run->view = vyre_program_get(program);
    vyre_run_begin(run, run->begin);
    vyre_status status = vyre_pipeline_check(run->pipeline, options, run->diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_bind_args all = *args;
    all.settings = options->settings;
    all.setting_count = options->setting_count;
    status = vyre_binding_init(&run->binding, program, &all, &run->device->allocator, run->diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = allocate_tables(run) ? VYRE_OK : vyre_fail_memory(run->diag, "a dispatch");
    if (status == VYRE_OK && !is_late(run)) {
        status = resolve(run);
    }
    if (status != VYRE_OK) {
        vyre_binding_finish(&run->binding);
    }
    return status;
}

/* Memory */

vyre_status vyre_run_allocate(vyre_run *run) {
    vyre_status status = VYRE_OK;
    for (vyre_decl i = 0; i < run->view->decl_count && status == VYRE_OK; i++) {
        vyre_call call = vyre_run_call(run, i);
        if (!vyre_role_is_buffer((vyre_role)run->view->decls[i].role)) {
            continue;
        }
        if (!run->is_given[i]) {
            status = vyre_call_new_memory(&call, call.bytes, &run->memory[i], run->diag);
        }
        if (status == VYRE_OK && run->before && vyre_run_compares(run, i)) {
            status = vyre_call_new_memory(&call, call.bytes, &run->before[i], run->diag);
        }
    }
    vyre_run_lap(run, &run->report.times.alloc);
    return status;
}

void vyre_run_finish(vyre_run *run) {
    for (vyre_decl i = 0; i < run->view->decl_count; i++) {
        vyre_device_free(run->device, run->is_given[i] ? 0 : run->memory[i]);
        vyre_device_free(run->device, run->before ? run->before[i] : 0);
    }
    vyre_binding_finish(&run->binding);
}

/* Running */

/* Room for what is carried; the pipeline's lock is held. */
static vyre_status prepare_locked(vyre_run *run) {
    vyre_status status = VYRE_OK;
    if (!vyre_geometry_is_empty(&run->geometry)) {
        status = vyre_pipeline_prepare(run->pipeline, run->geometry.grid, run->options->ahead,
                                       run->options->trace, run->diag);
    }
    vyre_run_lap(run, &run->report.times.alloc);
    return status;
}

/* The pipeline is busy with another dispatch, perhaps one that never ends: waiting for it ends with
 * the time of this one, or when it is cancelled. */
static vyre_status lock_pipeline(vyre_run *run) {
    const struct timespec nap = {.tv_nsec = 100000};
    if (!run->deadline && !run->options->cancel) {
        pthread_mutex_lock(&run->pipeline->lock);
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    while (pthread_mutex_trylock(&run->pipeline->lock) != 0) {
        status = vyre_run_check_time(run);
        if (status != VYRE_OK) {
            return status;
        }
        (void)nanosleep(&nap, NULL);
    }
    return VYRE_OK;
}

vyre_status vyre_run_prepare(vyre_run *run) {
    if (!!is_late(run)) {
        return VYRE_OK;
    }
    vyre_status status = lock_pipeline(run);
    if (status == VYRE_OK) {
        status = prepare_locked(run);
        pthread_mutex_unlock(&run->pipeline->lock);
    }
    return status;
}

static vyre_status execute_locked(vyre_run *run) {
    vyre_status status = prepare_locked(run);
    if (status == VYRE_OK) {
        status = vyre_run_passes(run);
    }
    vyre_run_lap(run, &run->report.times.run);
    return status;
}

vyre_status vyre_run_execute(vyre_run *run) {
    vyre_status status = is_late(run) ? resolve(run) : VYRE_OK;
    if (status != VYRE_OK) {
        return status;
    }
    status = lock_pipeline(run);
    if (status == VYRE_OK) {
        status = execute_locked(run);
        pthread_mutex_unlock(&run->pipeline->lock);
    }
    return status;
}

void vyre_run_report(vyre_run *run, vyre_status status, vyre_dispatch_report *out_report) {
    vyre_dispatch_report *report = &run->report;
    vyre_count_dispatch(&run->device->counters, report);
    if (status != VYRE_OK) {
        return;
    }
    vyre_pipeline_count(run->pipeline, run->geometry.grid, run->options->ahead,
                        report->was_refused);
    if (out_report) {
        memcpy(report->grid, run->geometry.grid, sizeof report->grid);
        report->grid_from = run->geometry.from;
        report->times.device = report->times.knows_device ? report->times.device : 0;
        report->times.knows_calls = run->device->table->finish != NULL;
        if (!report->times.knows_calls) { /* launching and waiting are one */
            report->times.enqueue = report->times.wait = 0;
        }
        report->times.total = vyre_clock_now() - run->begin;
        *out_report = *report;
    }
}
