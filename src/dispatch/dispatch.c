/* The host path: caller's bytes in, outputs out. Buffers live on the device from upload to
 * read-back, whatever the number of segments and passes; traffic is inputs + outputs. The caller's
 * slots change only after the last thing that can fail.
 *
 * Asked for the resident path, the same bytes go through buffers and vyre_dispatch_resident's way
 * of running: the two paths share what comes before and after. */
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "device/call.h"
#include "dispatch/cache.h"
#include "dispatch/reshape.h"
#include "dispatch/slots.h"
#include "dispatch/staging.h"

typedef struct transfer {
    const vyre_input *inputs;
    uint32_t input_count;
    vyre_output *outputs;
    uint32_t output_count;
} transfer;

static vyre_status check_transfer(const vyre_device *device, const transfer *t,
                                  const vyre_dispatch_options *options, vyre_diag *diag) {
    if ((!t->inputs && t->input_count) || (!t->outputs && t->output_count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give the program's inputs and slots",
                         "inputs or outputs is NULL");
    }
    for (uint32_t i = 0; i < t->output_count; i++) {
        if (!t->outputs[i].data && t->outputs[i].capacity) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "zero the slot once before its first use",
                             "output slot %u has a capacity and no memory", i + 1);
        }
    }
    return vyre_options_check(device, options, diag);
}

static vyre_status check_outputs(const vyre_run *run, const transfer *t) {
    if (t->output_count != run->binding.output_count) {
        return vyre_fail(run->diag, VYRE_INVALID_ARGUMENT,
                         "give one slot for each inout and out buffer, in declaration order",
                         "%u output slots were given, and program %s returns %u", t->output_count,
                         run->view->name, run->binding.output_count);
    }
    uint64_t total = vyre_slots_total(&run->binding), most = run->options->max_output_bytes;
    if (most && total > most) {
        return vyre_fail(run->diag, VYRE_LIMIT,
                         "allow more output, or return ranges of the buffers",
                         "the outputs have %llu bytes, and %llu are allowed",
                         (unsigned long long)total, (unsigned long long)most);
    }
    for (uint32_t i = 0; i < t->output_count; i++) {
        const vyre_output *slot = &t->outputs[i];
        const vyre_decl decl = run->binding.outputs[i];
        uint64_t begin;
        const uint64_t size = vyre_binding_returned(&run->binding, decl, &begin);
        if (slot->is_fixed && size > slot->capacity) {
            return vyre_fail(run->diag, VYRE_LIMIT, "give a larger slot, or one that may grow",
                             "%s returns %llu bytes, and output slot %u has room for %llu",
                             run->view->decls[decl].name, (unsigned long long)size, i + 1,
                             (unsigned long long)slot->capacity);
        }
    }
    return VYRE_OK;
}

static vyre_status upload(vyre_run *run, const transfer *t) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < run->binding.input_count && status == VYRE_OK; i++) {
        vyre_call call = vyre_run_call(run, run->binding.inputs[i]);
        vyre_memory memory = run->memory[run->binding.inputs[i]];
        const vyre_input *input = &t->inputs[i];
        status = vyre_run_check_time(run);
        if (memory && status == VYRE_OK) {
            status = vyre_call_write(&call, memory, 0, input->data, input->size, run->diag);
            run->report.stats.bytes_in += status == VYRE_OK ? input->size : 0;
        }
    }
    vyre_run_lap(run, &run->report.times.upload);
    return status;
}

static vyre_status download(vyre_run *run, const transfer *t) {
    vyre_slots slots = {.device = run->device,
                        .trace = run->options->trace,
                        .binding = &run->binding,
                        .memory = run->memory,
                        .outputs = t->outputs,
                        .in_place = run->options->in_place};
    run->lap = vyre_clock_now();
    vyre_status status = vyre_slots_fill(&slots, run->diag);
    run->report.stats.bytes_out += status == VYRE_OK ? vyre_slots_total(&run->binding) : 0;
    vyre_run_lap(run, &run->report.times.download);
    return status;
}

/* Compiles the pipeline if it is not yet, after all that is cheaper to refuse. `begin` is when the
 * dispatch began. */
static vyre_status run_pipeline(vyre_pipeline *pipeline, const transfer *t,
                                const vyre_dispatch_options *options, uint64_t begin,
                                vyre_dispatch_report *out_report, vyre_diag *diag) {
    vyre_run run = {.pipeline = pipeline,
                    .options = options,
                    .words = {.inputs = t->inputs},
                    .begin = begin,
                    .diag = diag};
    vyre_bind_args args = {.inputs = t->inputs, .input_count = t->input_count};
    vyre_status status = vyre_run_init(&run, &args);
    if (status != VYRE_OK) {
        return status;
    }
    status = check_outputs(&run, t);
    if (status == VYRE_OK && !vyre_pipeline_is_compiled(pipeline)) {
        run.lap = begin; /* checking the program is part of it */
        status = vyre_pipeline_compile(pipeline, options, diag);
        vyre_run_lap(&run, &run.report.times.compile);
    }
    if (status == VYRE_OK) {
        vyre_staging staging = {0};
        bool through_buffers = options->path == VYRE_PATH_RESIDENT;
        status = through_buffers ? vyre_staging_create(&staging, &run) : vyre_run_allocate(&run);
        if (status == VYRE_OK && !through_buffers) {
            status = vyre_run_prepare(&run);
        }
        if (status == VYRE_OK) {
            status = upload(&run, t);
        }
        if (status == VYRE_OK) {
            status =
                through_buffers ? vyre_staging_execute(&staging, &run) : vyre_run_execute(&run);
        }
        if (status == VYRE_OK) {
            status = download(&run, t);
        }
        vyre_staging_destroy(&staging);
        vyre_run_report(&run, status, out_report);
    }
    vyre_run_finish(&run);
    return status;
}

vyre_status vyre_pipeline_dispatch(vyre_pipeline *pipeline, const vyre_input *inputs,
                                   uint32_t input_count, vyre_output *outputs,
                                   uint32_t output_count, const vyre_dispatch_options *options,
                                   vyre_dispatch_report *out_report, vyre_diag *diag) {
    uint64_t begin = vyre_clock_now();
    const transfer t = {inputs, input_count, outputs, output_count};
    options = vyre_options_or_default(options);
    if (!pipeline) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a pipeline", "pipeline is NULL");
    }
    vyre_status status = check_transfer(pipeline->device, &t, options, diag);
    return status != VYRE_OK ? status
                             : run_pipeline(pipeline, &t, options, begin, out_report, diag);
}

/* One that was kept, or a new one of a copy: the caller's program need not live on. */
static vyre_status find_pipeline(vyre_device *device, const vyre_program *program,
                                 const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                                 vyre_diag *diag) {
    vyre_program *copy = NULL;
    vyre_status status = vyre_cache_take(device, program, options, out_pipeline, diag);
    if (status != VYRE_OK || *out_pipeline) {
        return status;
    }
    status = vyre_reshape(program, vyre_program_get(program)->workgroup, &device->allocator, &copy,
                          diag);
    if (status == VYRE_OK) {
        status = vyre_pipeline_create(device, copy, options, out_pipeline, diag);
    }
    if (status == VYRE_OK) {
        (*out_pipeline)->retained = copy;
    } else {
        vyre_program_release(copy);
    }
    return status;
}

vyre_status vyre_dispatch(vyre_device *device, const vyre_program *program,
                          const vyre_input *inputs, uint32_t input_count, vyre_output *outputs,
                          uint32_t output_count, const vyre_dispatch_options *options,
                          vyre_dispatch_report *out_report, vyre_diag *diag) {
    uint64_t begin = vyre_clock_now();
    const transfer t = {inputs, input_count, outputs, output_count};
    options = vyre_options_or_default(options);
    if (!device || !program) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a device and a program",
                         "device or program is NULL");
    }
    vyre_pipeline *pipeline = NULL;
    vyre_status status = check_transfer(device, &t, options, diag);
    if (status == VYRE_OK) {
        status = find_pipeline(device, program, options, &pipeline, diag);
    }
    if (status == VYRE_OK) {
        status = run_pipeline(pipeline, &t, options, begin, out_report, diag);
        if (status == VYRE_OK) {
            vyre_cache_give(pipeline);
        } else {
            vyre_pipeline_release(pipeline);
        }
    }
    return status;
}
