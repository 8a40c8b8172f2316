/* One dispatch: check, bind, compile, allocate, upload, run pass by pass, read back.
 *
 * Each stage acquires something, calls the next one and releases it again, so that every path frees
 * everything. Buffers live on the device from upload to read-back, whatever the number of passes;
 * traffic is inputs + outputs. The caller's slots change only after the last thing that can fail.
 *
 * Fixpoint: before each pass the buffers that are returned are copied on the device, after it the
 * copies are compared, exactly, on the device where it can. */
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "runtime/geometry.h"
#include "runtime/pipeline.h"
#include "runtime/reshape.h"
#include "runtime/slots.h"
#include "runtime/support.h"
#include "vyre/check.h"

typedef unsigned long long ull;

typedef struct dispatch {
    vyre_device *device;
    const vyre_program *program; /* what is run: the caller's, or it with another workgroup */
    const vyre_program_view *view;
    const vyre_dispatch_options *options;
    const vyre_input *inputs;
    vyre_output *outputs;
    vyre_binding binding;
    vyre_geometry geometry;
    vyre_pipeline pipeline;
    vyre_memory *memory; /* of each buffer */
    vyre_memory *before; /* its bytes at the start of a pass; fixpoint only */
    uint64_t deadline;   /* 0: none */
    uint64_t lap;        /* when the current stage began */
    bool has_device_time;
    vyre_dispatch_report report;
    vyre_diag *diag;
} dispatch;

static void end_lap(dispatch *d, uint64_t *time) {
    uint64_t now = vyre_clock_now();
    *time += now - d->lap;
    d->lap = now;
}

static vyre_status check_time(dispatch *d) {
    const vyre_cancel *cancel = d->options->cancel;
    if (cancel && cancel->requested) {
        return vyre_fail(d->diag, VYRE_CANCELLED, NULL, "the dispatch was cancelled");
    }
    if (d->deadline && vyre_clock_now() >= d->deadline) {
        return vyre_fail(d->diag, VYRE_TIMEOUT, "allow more time, or do less",
                         "the dispatch took longer than %llu ns", (ull)d->options->timeout_ns);
    }
    return VYRE_OK;
}

/* Passes */

static bool is_compared(const dispatch *d, vyre_decl decl) {
    vyre_role role = (vyre_role)d->view->decls[decl].role;
    return d->memory[decl] &&
           (role == VYRE_INOUT || VYRE_MUTANT(fixpoint_ignores_out, role == VYRE_OUT, false));
}

static vyre_status begin_pass(dispatch *d) {
    const vyre_device_table *table = d->device->table;
    vyre_status status = check_time(d);
    for (vyre_decl i = 0; i < d->view->decl_count && status == VYRE_OK; i++) {
        uint64_t bytes = vyre_binding_bytes(&d->binding, i);
        if (d->view->decls[i].role == VYRE_SCRATCH && d->memory[i] &&
            VYRE_MUTANT(fixpoint_scratch_kept, d->report.passes > 0, false)) {
            status = table->zero(d->device->object, d->memory[i], 0, bytes, d->diag);
        } else if (d->before && is_compared(d, i) &&
                   VYRE_MUTANT(fixpoint_snapshot_once, true, d->report.passes == 0)) {
            status =
                table->copy(d->device->object, d->before[i], 0, d->memory[i], 0, bytes, d->diag);
        }
    }
    return status;
}

/* For devices that can't compare: through a window of host memory, which counts as traffic. */
static vyre_status equal_on_host(dispatch *d, vyre_memory a, vyre_memory b, uint64_t size,
                                 bool *out_equal) {
    unsigned char window[2][4096];
    *out_equal = true;
    for (uint64_t at = 0; at < size && *out_equal; at += sizeof window[0]) {
        uint64_t part = size - at < sizeof window[0] ? size - at : sizeof window[0];
        const vyre_device_table *table = d->device->table;
        vyre_status status = table->read(d->device->object, a, at, window[0], part, d->diag);
        if (status == VYRE_OK) {
            status = table->read(d->device->object, b, at, window[1], part, d->diag);
        }
        if (status != VYRE_OK) {
            return status;
        }
        d->report.stats.bytes_out += 2 * part;
        *out_equal = memcmp(window[0], window[1], part) == 0;
    }
    return VYRE_OK;
}

static vyre_status compare(dispatch *d, bool *out_equal) {
    const vyre_device_table *table = d->device->table;
    *out_equal = true;
    for (vyre_decl i = 0; i < d->view->decl_count && *out_equal; i++) {
        if (!is_compared(d, i)) {
            continue;
        }
        uint64_t bytes = vyre_binding_bytes(&d->binding, i);
        vyre_status status = table->equal
                                 ? table->equal(d->device->object, d->before[i], d->memory[i],
                                                bytes, out_equal, d->diag)
                                 : equal_on_host(d, d->before[i], d->memory[i], bytes, out_equal);
        if (status != VYRE_OK) {
            return status;
        }
    }
    return VYRE_OK;
}

static vyre_status take_result(dispatch *d, const vyre_launch_result *result) {
    vyre_dispatch_report *report = &d->report;
    bool fits = vyre_add_u64(report->stats.steps, result->steps, &report->stats.steps);
    fits = vyre_add_u64(report->race_count, result->race_count, &report->race_count) && fits;
    report->harmless_race_count += result->harmless_race_count; /* at most race_count */
    report->races_stored += result->races_stored;               /* at most race_capacity */
    d->has_device_time = d->has_device_time && result->device_ns != 0;
    fits = vyre_add_u64(report->times.device, result->device_ns, &report->times.device) && fits;
    return fits ? VYRE_OK
                : vyre_fail(d->diag, VYRE_LIMIT, "run fewer passes",
                            "the counters of the dispatch overflowed");
}

static vyre_status run_pass(dispatch *d) {
    const vyre_dispatch_options *o = d->options;
    uint64_t steps = d->report.stats.steps;
    if (vyre_geometry_is_empty(&d->geometry)) {
        return VYRE_OK;
    }
    if (o->max_steps && steps >= o->max_steps) {
        return vyre_fail(d->diag, VYRE_STEP_BUDGET, "allow more steps, or do less",
                         "the dispatch used up its %llu steps", (ull)o->max_steps);
    }
    vyre_launch launch = {
        .memory = d->memory,
        .counts = d->binding.counts,
        .values = d->binding.values,
        .grid = {d->geometry.grid[0], d->geometry.grid[1], d->geometry.grid[2]},
        .deadline_ns = d->deadline,
        .max_steps =
            o->max_steps ? VYRE_MUTANT(steps_per_pass, o->max_steps - steps, o->max_steps) : 0,
        .cancel = o->cancel,
        .order = o->order,
        .order_seed = o->order_seed,
        .find_races = o->find_races,
        .races =
            o->races ? o->races + VYRE_MUTANT(races_overwritten, d->report.races_stored, 0) : NULL,
        .race_capacity = o->races ? o->race_capacity - d->report.races_stored : 0,
    };
    vyre_launch_result result = {0};
    vyre_status status =
        vyre_pipeline_run(&d->pipeline, &launch, &result, &d->report.stats, d->diag);
    return status != VYRE_OK ? status : take_result(d, &result);
}

static vyre_status run_passes(dispatch *d) {
    uint32_t most = d->options->has_iterations ? d->options->iterations : 1;
    vyre_status status = VYRE_OK;
    while (status == VYRE_OK && d->report.passes < most &&
           !VYRE_MUTANT(fixpoint_runs_on, d->report.converged, false)) {
        status = begin_pass(d);
        if (status == VYRE_OK) {
            status = run_pass(d);
        }
        if (status == VYRE_OK && d->before) {
            status = compare(d, &d->report.converged);
        }
        d->report.passes++;
    }
    return status != VYRE_OK ? status : check_time(d);
}

/* Memory */

static vyre_status upload(dispatch *d) {
    for (uint32_t i = 0; i < d->binding.input_count; i++) {
        vyre_memory memory = d->memory[d->binding.inputs[i]];
        if (!memory) {
            continue;
        }
        vyre_status status = d->device->table->write(d->device->object, memory, 0,
                                                     d->inputs[i].data, d->inputs[i].size, d->diag);
        if (status != VYRE_OK) {
            return status;
        }
        d->report.stats.bytes_in += d->inputs[i].size;
    }
    return VYRE_OK;
}

static vyre_status download(dispatch *d) {
    vyre_status status = vyre_slots_fill(d->device, &d->binding, d->memory, d->outputs,
                                         d->options->in_place, d->diag);
    d->report.stats.bytes_out += vyre_slots_total(&d->binding);
    return status;
}

static vyre_status run_allocated(dispatch *d) {
    vyre_dispatch_times *times = &d->report.times;
    vyre_status status = upload(d);
    end_lap(d, &times->upload);
    if (status == VYRE_OK) {
        status = run_passes(d);
        end_lap(d, &times->run);
    }
    if (status == VYRE_OK) {
        status = download(d);
        end_lap(d, &times->download);
    }
    return status;
}

static vyre_memory *no_memory(dispatch *d) {
    vyre_memory *all = vyre_arena_alloc(&d->binding.arena, d->view->decl_count, sizeof *all);
    return all ? memset(all, 0, d->view->decl_count * sizeof *all) : NULL;
}

static vyre_status allocate(dispatch *d) {
    d->memory = no_memory(d);
    d->before = d->options->has_iterations && d->memory ? no_memory(d) : NULL;
    if (!d->memory || (d->options->has_iterations && !d->before)) {
        return vyre_fail_memory(d->diag, "a dispatch");
    }
    vyre_status status = VYRE_OK;
    for (vyre_decl i = 0; i < d->view->decl_count && status == VYRE_OK; i++) {
        const vyre_decl_node *decl = &d->view->decls[i];
        uint64_t bytes = vyre_binding_bytes(&d->binding, i);
        if (!vyre_role_is_buffer((vyre_role)decl->role)) {
            continue;
        }
        status = vyre_device_allocate(d->device, bytes, decl->name, &d->memory[i], d->diag);
        if (status == VYRE_OK && d->before && is_compared(d, i)) {
            status = vyre_device_allocate(d->device, bytes, decl->name, &d->before[i], d->diag);
        }
    }
    return status;
}

static void release(dispatch *d) {
    for (vyre_decl i = 0; i < d->view->decl_count && d->memory; i++) {
        vyre_device_free(d->device, d->memory[i]);
        vyre_device_free(d->device, d->before ? d->before[i] : 0);
    }
}

static vyre_status run_compiled(dispatch *d) {
    vyre_status status = allocate(d);
    end_lap(d, &d->report.times.alloc);
    if (status == VYRE_OK) {
        status = run_allocated(d);
    }
    release(d);
    return status;
}

/* Before anything touches the device */

static vyre_status check_limits(dispatch *d) {
    uint64_t total = vyre_slots_total(&d->binding), most = d->options->max_output_bytes;
    if (most && total > most) {
        return vyre_fail(d->diag, VYRE_LIMIT, "allow more output, or return ranges of the buffers",
                         "the outputs have %llu bytes, and %llu are allowed", (ull)total,
                         (ull)most);
    }
    return vyre_support_geometry(&d->device->info, &d->binding, &d->geometry, d->diag);
}

static vyre_status run_bound(dispatch *d) {
    vyre_program *copy = NULL;
    vyre_status status = check_limits(d);
    if (status == VYRE_OK &&
        memcmp(d->geometry.workgroup, d->view->workgroup, sizeof d->geometry.workgroup) != 0) {
        status =
            vyre_reshape(d->program, d->geometry.workgroup, &d->device->allocator, &copy, d->diag);
    }
    if (status == VYRE_OK) {
        vyre_pipeline_options options = {.split = d->options->split,
                                         .find_races = d->options->find_races,
                                         .keep_barriers = d->options->no_optimize};
        status = vyre_pipeline_init(&d->pipeline, d->device, copy ? copy : d->program, &options,
                                    d->diag);
        end_lap(d, &d->report.times.compile);
        if (status == VYRE_OK) {
            d->report.was_split = vyre_pipeline_is_split(&d->pipeline);
            status = run_compiled(d);
            vyre_pipeline_finish(&d->pipeline);
        }
    }
    vyre_program_release(copy);
    return status;
}

static vyre_status bind_and_run(dispatch *d, uint32_t input_count, uint32_t output_count) {
    vyre_bind_args args = {.inputs = d->inputs,
                           .input_count = input_count,
                           .settings = d->options->settings,
                           .setting_count = d->options->setting_count};
    vyre_status status =
        vyre_binding_init(&d->binding, d->program, &args, &d->device->allocator, d->diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (output_count != d->binding.output_count) {
        status = vyre_fail(d->diag, VYRE_INVALID_ARGUMENT,
                           "give one slot for each inout and out buffer, in declaration order",
                           "%u output slots were given, and program %s returns %u", output_count,
                           d->view->name, d->binding.output_count);
    }
    if (status == VYRE_OK) {
        status = vyre_geometry_resolve(&d->binding, d->inputs, d->options, &d->geometry, d->diag);
    }
    if (status == VYRE_OK) {
        status = run_bound(d);
    }
    vyre_binding_finish(&d->binding);
    return status;
}

static vyre_status check_options(const vyre_device_info *info, const vyre_dispatch_options *o,
                                 vyre_diag *diag) {
    if (o->has_iterations && o->iterations == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "run at least one pass",
                         "zero iterations were asked for on %s", info->backend);
    }
    const char *only_ref = o->order != VYRE_ORDER_FORWARD ? "an order of lanes"
                           : o->find_races                ? "race detection"
                           : o->max_steps                 ? "a limit of steps"
                                                          : NULL;
    if (only_ref && !info->is_oracle) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "run it on \"ref\"", "%s does not have %s",
                         info->backend, only_ref);
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

static vyre_status check_arguments(const vyre_device *device, const vyre_program *program,
                                   const vyre_input *inputs, uint32_t input_count,
                                   const vyre_output *outputs, uint32_t output_count,
                                   const vyre_dispatch_options *options, vyre_diag *diag) {
    if (!device || !program || (!inputs && input_count) || (!outputs && output_count) ||
        (!options->settings && options->setting_count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a device, a program, its inputs, slots and settings",
                         "an argument of vyre_dispatch is NULL");
    }
    for (uint32_t i = 0; i < output_count; i++) {
        if (!outputs[i].data && outputs[i].capacity) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "zero the slot once before its first use",
                             "output slot %u has a capacity and no memory", i + 1);
        }
    }
    vyre_status status = check_options(&device->info, options, diag);
    if (status == VYRE_OK) {
        status = check_program(program, &device->allocator, diag);
    }
    return status != VYRE_OK ? status : vyre_support_program(&device->info, program, diag);
}

vyre_status vyre_dispatch(vyre_device *device, const vyre_program *program,
                          const vyre_input *inputs, uint32_t input_count, vyre_output *outputs,
                          uint32_t output_count, const vyre_dispatch_options *options,
                          vyre_dispatch_report *out_report, vyre_diag *diag) {
    static const vyre_dispatch_options defaults;
    uint64_t begin = vyre_clock_now();
    options = options ? options : &defaults;
    vyre_status status =
        check_arguments(device, program, inputs, input_count, outputs, output_count, options, diag);
    if (status != VYRE_OK) {
        return status;
    }
    dispatch d = {.device = device,
                  .program = program,
                  .view = vyre_program_get(program),
                  .options = options,
                  .inputs = inputs,
                  .outputs = outputs,
                  .lap = begin,
                  .has_device_time = true,
                  .diag = diag};
    if (options->timeout_ns && !vyre_add_u64(begin, options->timeout_ns, &d.deadline)) {
        d.deadline = 0; /* beyond all time */
    }
    status = bind_and_run(&d, input_count, output_count);
    if (status == VYRE_OK && out_report) {
        vyre_dispatch_report *report = &d.report;
        memcpy(report->grid, d.geometry.grid, sizeof report->grid);
        report->grid_from = d.geometry.from;
        report->times.device = d.has_device_time ? report->times.device : 0;
        report->times.total = vyre_clock_now() - begin;
        *out_report = *report;
    }
    return status;
}
