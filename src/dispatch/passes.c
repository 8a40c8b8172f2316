/* Passes over the grid, and the fixpoint: before each pass the buffers that are returned are copied
 * on the device, after it the copies are compared, exactly, on the device where it can. Scratch
 * starts as zeros in each pass. */
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "device/call.h"
#include "dispatch/run.h"
#include "kit/results.h"

static vyre_status begin_pass(vyre_run *run) {
    vyre_status status = vyre_run_check_time(run);
    for (vyre_decl i = 0; i < run->view->decl_count && status == VYRE_OK; i++) {
        vyre_call call = vyre_run_call(run, i);
        if (run->view->decls[i].role == VYRE_SCRATCH && run->memory[i] && run->is_used) {
            status = vyre_call_zero(&call, run->memory[i], 0, call.bytes, run->diag);
        } else if (run->before && vyre_run_compares(run, i)) {
            status =
                vyre_call_copy(&call, run->before[i], 0, run->memory[i], 0, call.bytes, run->diag);
        }
    }
    run->is_used = true;
    return status;
}

/* For devices that can't compare: through a window of host memory, which counts as traffic. */
static vyre_status equal_on_host(vyre_run *run, vyre_call call, vyre_memory a, vyre_memory b,
                                 bool *out_equal) {
    unsigned char window[2][4096];
    uint64_t size = call.bytes;
    *out_equal = true;
    for (uint64_t at = 0; at < size && *out_equal; at += sizeof window[0]) {
        uint64_t part = size - at < sizeof window[0] ? size - at : sizeof window[0];
        call.bytes = part;
        vyre_status status = vyre_call_read(&call, a, at, window[0], part, run->diag);
        if (status == VYRE_OK) {
            status = vyre_call_read(&call, b, at, window[1], part, run->diag);
        }
        if (status != VYRE_OK) {
            return status;
        }
        run->report.stats.bytes_out += 2 * part;
        *out_equal = memcmp(window[0], window[1], part) == 0;
    }
    return VYRE_OK;
}

static vyre_status compare(vyre_run *run, bool *out_equal) {
    vyre_status status = VYRE_OK;
    *out_equal = true;
    for (vyre_decl i = 0; i < run->view->decl_count && *out_equal && status == VYRE_OK; i++) {
        if (!vyre_run_compares(run, i)) {
            continue;
        }
        vyre_call call = vyre_run_call(run, i);
        status = run->device->table->equal
                     ? vyre_call_equal(&call, run->before[i], run->memory[i], call.bytes, out_equal,
                                       run->diag)
                     : equal_on_host(run, call, run->before[i], run->memory[i], out_equal);
        run->report.stats.host_waits++;
    }
    return status;
}

static vyre_status take_result(vyre_run *run, const vyre_launch_result *result) {
    vyre_dispatch_report *report = &run->report;
    bool fits = vyre_add_u64(report->stats.steps, result->steps, &report->stats.steps);
    fits = vyre_add_u64(report->race_count, result->race_count, &report->race_count) && fits;
    report->harmless_race_count += result->harmless_race_count; /* at most race_count */
    report->races_stored += result->races_stored;               /* at most race_capacity */
    report->times.knows_device = report->times.knows_device && result->is_timed;
    return !fits ? vyre_fail(run->diag, VYRE_LIMIT, "run fewer passes",
                             "the counters of the dispatch overflowed")
                 : vyre_device_time_add(&report->times.device, result->device_ns, run->diag);
}

static vyre_status run_pass(vyre_run *run) {
    const vyre_dispatch_options *o = run->options;
    vyre_dispatch_report *report = &run->report;
    uint64_t steps = report->stats.steps;
    if (vyre_geometry_is_empty(&run->geometry)) {
        return VYRE_OK;
    }
    if (o->max_steps && steps >= o->max_steps) {
        return vyre_fail(run->diag, VYRE_STEP_BUDGET, "allow more steps, or do less",
                         "the dispatch used up its %llu steps", (unsigned long long)o->max_steps);
    }
    const uint32_t *grid = run->geometry.grid;
    vyre_launch launch = {
        .memory = run->memory,
        .counts = run->binding.counts,
        .values = run->binding.values,
        .grid = {grid[0], grid[1], grid[2]},
        .deadline_ns = run->deadline,
        .max_steps = o->max_steps ? o->max_steps - steps : 0,
        .cancel = o->cancel,
        .progress = o->progress,
        .order = o->order,
        .order_seed = o->order_seed,
        .find_races = o->find_races,
        .races = o->races ? o->races + report->races_stored : NULL,
        .race_capacity = o->races ? o->race_capacity - report->races_stored : 0,
        .outside = o->outside,
        .trace = o->trace,
        .pass = atomic_fetch_add(&run->device->passes, 1) + 1,
    };
    vyre_launch_result result = {0};
    vyre_pass pass = {.trace = o->trace,
                      .result = &result,
                      .stats = &report->stats,
                      .times = &report->times,
                      .memory = run->memory,
                      .was_refused = &report->was_refused,
                      .ahead = o->ahead};
    vyre_status status = vyre_pipeline_run(run->pipeline, &launch, &pass, run->diag);
    report->was_split |= report->was_refused;
    return status != VYRE_OK ? status : take_result(run, &result);
}

vyre_status vyre_run_passes(vyre_run *run) {
    uint32_t most = run->options->has_iterations ? run->options->iterations : 1;
    vyre_dispatch_report *report = &run->report;
    vyre_status status = VYRE_OK;
    report->times.knows_device = true;
    while (status == VYRE_OK && report->passes < most && !report->converged) {
        status = begin_pass(run);
        if (status == VYRE_OK) {
            status = run_pass(run);
        }
        if (status == VYRE_OK && run->before) {
            status = compare(run, &report->converged);
        }
        report->passes += status == VYRE_OK;
        if (status == VYRE_OK && run->options->progress) {
            (void)__atomic_fetch_add(&run->options->progress->passes, 1, __ATOMIC_RELAXED);
        }
    }
    return status != VYRE_OK ? status : vyre_run_check_time(run);
}
