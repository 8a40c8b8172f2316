/* Pipelines: a device with a native grid barrier, or a program that does not wait for its grid,
 * gets the program as it is, in one launch per pass. */
#include "runtime/pipeline.h"

#include "base/diag.h"

vyre_status vyre_pipeline_init(vyre_pipeline *pipeline, vyre_device *device,
                               const vyre_program *program, vyre_split_mode split,
                               vyre_diag *diag) {
    bool waits = !vyre_program_has_no_grid_sync(program);
    bool is_native = device->info.level == VYRE_LEVEL_PROGRAM;
    if (waits && (!is_native || split == VYRE_SPLIT_ALWAYS)) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", vyre_program_place(program),
                            "run it natively on a device that has a grid barrier, such as \"ref\"",
                            "program %s waits for its grid, and splitting is not supported",
                            vyre_program_get(program)->name);
    }
    pipeline->device = device;
    return device->table->compile(device->object, program, &pipeline->kernel, diag);
}

void vyre_pipeline_finish(vyre_pipeline *pipeline) {
    pipeline->device->table->destroy(pipeline->device->object, pipeline->kernel);
}

vyre_status vyre_pipeline_run(vyre_pipeline *pipeline, const vyre_launch *launch,
                              vyre_launch_result *out_result, vyre_dispatch_stats *stats,
                              vyre_diag *diag) {
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
