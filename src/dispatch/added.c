/* Launches of lowered programs. Lowering keeps the numbers of declarations and adds its own behind
 * them: workgroup and private memory, which no launch binds, and the record of traps. */
#include "dispatch/added.h"

#include <string.h>

#include "base/diag.h"

vyre_status vyre_added_init(vyre_added *added, const vyre_program *source,
                            const vyre_program *lowered, vyre_device *device, vyre_diag *diag) {
    const vyre_allocator *a = &device->allocator;
    uint32_t before = vyre_program_get(source)->decl_count;
    uint32_t count = vyre_program_get(lowered)->decl_count;
    *added = (vyre_added){.trap = VYRE_NONE};
    if (count == before) {
        return VYRE_OK;
    }
    *added = (vyre_added){.count = count,
                          .source_count = before,
                          .trap = vyre_traps_of(lowered, before),
                          .memory = vyre_alloc_zeroed(a, count, sizeof *added->memory),
                          .counts = vyre_alloc_zeroed(a, count, sizeof *added->counts),
                          .values = vyre_alloc_zeroed(a, count, sizeof *added->values)};
    return added->memory && added->counts && added->values ? VYRE_OK
                                                           : vyre_fail_memory(diag, "a pipeline");
}

void vyre_added_finish(vyre_added *added, vyre_device *device) {
    const vyre_allocator *a = &device->allocator;
    vyre_traps_finish(&added->traps, device);
    vyre_free(a, added->memory, added->count, sizeof *added->memory);
    vyre_free(a, added->counts, added->count, sizeof *added->counts);
    vyre_free(a, added->values, added->count, sizeof *added->values);
    *added = (vyre_added){.trap = VYRE_NONE};
}

vyre_launch vyre_added_launch(vyre_added *added, const vyre_launch *source) {
    vyre_launch launch = *source;
    if (added->count > 0 && added->source_count > 0) {
        memcpy(added->memory, source->memory, added->source_count * sizeof *added->memory);
        memcpy(added->counts, source->counts, added->source_count * sizeof *added->counts);
        memcpy(added->values, source->values, added->source_count * sizeof *added->values);
    }
    if (added->count > 0) {
        vyre_traps_bind(&added->traps, added->trap, added->memory, added->counts);
        launch.memory = added->memory;
        launch.counts = added->counts;
        launch.values = added->values;
    }
    return launch;
}
