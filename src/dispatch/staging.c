/* Buffers for one dispatch: made, run on as the caller of vyre_dispatch_resident would, destroyed.
 */
#include "dispatch/staging.h"

#include "base/diag.h"
#include "dispatch/resident.h"

vyre_status vyre_staging_create(vyre_staging *s, vyre_run *run) {
    uint32_t most = run->view->decl_count;
    s->device = run->device;
    s->count = most;
    s->buffers = vyre_alloc_zeroed(&run->device->allocator, most, sizeof(void *));
    if (!s->buffers) {
        return vyre_fail_memory(run->diag, "a dispatch");
    }
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0, at = 0; i < most && status == VYRE_OK; i++) {
        vyre_role role = (vyre_role)run->view->decls[i].role;
        if (role == VYRE_IN || role == VYRE_INOUT || role == VYRE_OUT) {
            vyre_buffer **b = &s->buffers[at++];
            status = vyre_buffer_make(run->device, vyre_binding_bytes(&run->binding, i),
                                      run->view->decls[i].name, run->options->trace, b, run->diag);
            run->is_given[i] = true;
            run->memory[i] = status == VYRE_OK ? (*b)->memory : 0;
        }
    }
    vyre_run_lap(run, &run->report.times.alloc);
    return status;
}

vyre_status vyre_staging_execute(vyre_staging *s, vyre_run *run) {
    vyre_sequence_step step = {.pipeline = run->pipeline,
                               .buffers = s->buffers,
                               .buffer_count = run->binding.input_count + run->binding.output_count,
                               .options = run->options};
    for (uint32_t i = 0; i < run->view->decl_count; i++) { /* inout was counted twice */
        step.buffer_count -= run->view->decls[i].role == VYRE_INOUT;
    }
    vyre_resident r;
    vyre_status status = vyre_resident_init(&r, &step, run->begin, run->diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_dispatch_report outer = run->report;
    status = vyre_resident_execute(&r);
    for (uint32_t i = 0, at = 0; i < run->view->decl_count; i++) { /* some may be exchanged */
        if (run->is_given[i]) {
            run->memory[i] = s->buffers[at++]->memory;
        }
    }
    run->report = r.run.report;
    run->geometry = r.run.geometry;
    run->report.stats.bytes_in += outer.stats.bytes_in;
    run->report.times.compile = outer.times.compile;
    run->report.times.alloc += outer.times.alloc;
    run->report.times.upload = outer.times.upload;
    vyre_resident_finish(&r);
    return status;
}

void vyre_staging_destroy(vyre_staging *s) {
    if (!s->buffers) {
        return;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        vyre_buffer_destroy(s->buffers[i]);
    }
    vyre_free(&s->device->allocator, s->buffers, s->count, sizeof(void *));
}
