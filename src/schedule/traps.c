/* Recorded traps. Segments of a module share one buffer: it is read behind each launch that may
 * trap, and zeroed if it did, so that the next finds it empty. Cost: a wait for each such launch.
 */
#include "schedule/traps.h"

#include "base/diag.h"

vyre_status vyre_traps_prepare(vyre_traps *t, const vyre_call *call, const vyre_program *program,
                               vyre_decl traps, const uint32_t grid[3], vyre_diag *diag) {
    uint64_t groups = (uint64_t)grid[0] * grid[1];
    if (traps == VYRE_NONE) {
        return VYRE_OK;
    }
    if (groups > UINT32_MAX || groups * grid[2] > UINT32_MAX) {
        return vyre_fail(diag, VYRE_LIMIT, "use fewer groups and a loop over the elements",
                         "traps are told of at most 2^32 groups on %s", call->device->info.backend);
    }
    uint64_t words = vyre_trap_words(program, traps, grid);
    if (t->words >= words) {
        return VYRE_OK;
    }
    vyre_traps_finish(t, call->device);
    vyre_status status = vyre_call_new_memory(call, 4 * words, &t->memory, diag);
    t->words = status == VYRE_OK ? words : 0;
    return status;
}

void vyre_traps_finish(vyre_traps *t, vyre_device *device) {
    vyre_device_free(device, t->memory);
    *t = (vyre_traps){0};
}

void vyre_traps_bind(const vyre_traps *t, vyre_decl traps, vyre_memory *memory, uint32_t *counts) {
    if (traps != VYRE_NONE) {
        memory[traps] = t->memory;
        counts[traps] = (uint32_t)t->words;
    }
}

/* The record, and its end. */
static vyre_status report(vyre_traps *t, const vyre_call *call, const vyre_program *program,
                          vyre_decl traps, uint32_t *words, vyre_launch_result *result,
                          vyre_diag *diag) {
    vyre_trap_record trap;
    vyre_status status = vyre_call_read(call, t->memory, 0, words, 4 * t->words, diag);
    if (status == VYRE_OK) {
        status = vyre_call_zero(call, t->memory, 0, 4 * t->words, diag);
    }
    if (status != VYRE_OK || !vyre_trap_find(program, traps, words, t->words, &trap)) {
        return status;
    }
    result->trap_lane = trap.lane;
    return vyre_fail_at(diag, VYRE_TRAP, "", trap.place, NULL,
                        "lane %llu trapped: \"%s\" at address %lu (0x%lx)",
                        (unsigned long long)trap.lane, trap.tag, (unsigned long)trap.address,
                        (unsigned long)trap.address);
}

vyre_status vyre_traps_look(vyre_traps *t, const vyre_call *call, const vyre_program *program,
                            vyre_decl traps, vyre_launch_result *result, vyre_diag *diag) {
    uint32_t flag = 0;
    vyre_call look = {.device = call->device, .trace = call->trace, .name = "traps", .bytes = 4};
    if (traps == VYRE_NONE) {
        return VYRE_OK;
    }
    vyre_status status = vyre_call_read(&look, t->memory, 0, &flag, sizeof flag, diag);
    if (status != VYRE_OK || flag == 0) {
        return status;
    }
    const vyre_allocator *a = &call->device->allocator;
    uint32_t *words = vyre_alloc(a, t->words, sizeof *words);
    if (!words) {
        return vyre_fail_memory(diag, "a trap");
    }
    status = report(t, &look, program, traps, words, result, diag);
    vyre_free(a, words, t->words, sizeof *words);
    return status;
}
