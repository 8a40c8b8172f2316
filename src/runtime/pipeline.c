/* Pipelines: a device with a native grid barrier, or a program that does not wait for its grid,
 * gets the program as it is, in one launch per pass. All others run a schedule of segments. */
#include "runtime/pipeline.h"

#include "base/diag.h"

/* Why the program can't be split for the device, or VYRE_OK. */
static vyre_status may_split(const vyre_device *device, const vyre_program *program,
                             const vyre_pipeline_options *options, vyre_diag *diag) {
    vyre_place place = vyre_program_place(program);
    const char *name = vyre_program_get(program)->name;
    if (options->split == VYRE_SPLIT_NEVER || !device->info.allows_split) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place,
                            "allow splitting, or use a device with a native grid barrier",
                            "program %s waits for its grid, %s has no grid barrier, and splitting "
                            "is switched off",
                            name, device->info.backend);
    }
    if (options->find_races) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place, "look for races on \"ref\"",
                            "races are found in whole programs, and program %s is split", name);
    }
    return VYRE_OK;
}

vyre_status vyre_pipeline_init(vyre_pipeline *pipeline, vyre_device *device,
                               const vyre_program *program, const vyre_pipeline_options *options,
                               vyre_diag *diag) {
    *pipeline = (vyre_pipeline){.device = device};
    bool waits = vyre_contains_grid_sync(program);
    bool is_native = device->info.level == VYRE_LEVEL_PROGRAM;
    if (!waits || (is_native && options->split != VYRE_SPLIT_ALWAYS)) {
        return device->table->compile(device->object, program, &pipeline->kernel, diag);
    }
    vyre_split_options split = {.keep_barriers = options->keep_barriers};
    vyre_status status = may_split(device, program, options, diag);
    return status != VYRE_OK
               ? status
               : vyre_schedule_init(&pipeline->schedule, device, program, &split, diag);
}

void vyre_pipeline_finish(vyre_pipeline *pipeline) {
    if (pipeline->kernel) {
        pipeline->device->table->destroy(pipeline->device->object, pipeline->kernel);
    } else {
        vyre_schedule_finish(&pipeline->schedule);
    }
}

bool vyre_pipeline_is_split(const vyre_pipeline *pipeline) {
    return !pipeline->kernel;
}

vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, const vyre_launch *launch,
                              vyre_launch_result *out_result, vyre_dispatch_stats *stats,
                              vyre_diag *diag) {
    if (vyre_pipeline_is_split(pipeline)) {
        return vyre_schedule_run(&pipeline->schedule, launch, out_result, stats, diag);
    }
    const vyre_device_table *table = pipeline->device->table;
    vyre_backend_device *object = pipeline->device->object;
    vyre_status status = table->launch(object, pipeline->kernel, launch, out_result, diag);
    if (status == VYRE_OK && table->finish) {
        status = table->finish(object, diag);
    }
    stats->launches++;
    stats->host_waits++;
    return status;
}
