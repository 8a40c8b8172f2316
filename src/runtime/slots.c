/* Outputs go through staging: all are read before the first slot changes, so that a failure leaves
 * the caller's bytes alone. A slot that is large enough gets a copy and keeps its address; else the
 * staging block becomes the slot. In place, large enough slots are read into directly. */
#include "runtime/slots.h"

#include <string.h>

#include "base/diag.h"
#include "base/mutant.h"

typedef struct staged {
    void *data; /* own block; NULL: nothing to do or read in place */
    size_t size;
} staged;

void vyre_output_finish(vyre_output *output, const vyre_allocator *allocator) {
    if (output) {
        vyre_allocator a = vyre_allocator_or_system(allocator);
        vyre_free(&a, output->data, output->capacity, 1);
        *output = (vyre_output){0};
    }
}

uint64_t vyre_slots_total(const vyre_binding *binding) {
    uint64_t total = 0, begin;
    for (uint32_t i = 0; i < binding->output_count; i++) {
        total += vyre_binding_returned(binding, binding->outputs[i], &begin);
    }
    return total; /* at most 4096 times 2^35: no overflow */
}

static vyre_status stage(vyre_device *device, const vyre_binding *binding, uint32_t index,
                         vyre_memory memory, const vyre_output *slot, bool in_place, staged *out,
                         vyre_diag *diag) {
    uint64_t begin;
    uint64_t size = vyre_binding_returned(binding, binding->outputs[index], &begin);
    out->size = (size_t)size;
    if (size == 0) {
        return VYRE_OK;
    }
    void *to = slot->data;
    if (VYRE_MUTANT(slots_not_staged, !in_place, false) || size > slot->capacity) {
        to = out->data = size <= SIZE_MAX ? vyre_alloc(&device->allocator, out->size, 1) : NULL;
        if (!to) {
            return vyre_fail_memory(diag, "outputs");
        }
    }
    return device->table->read(device->object, memory, begin, to, size, diag);
}

static void hand_over(const vyre_allocator *a, staged *from, vyre_output *slot) {
    if (from->data && VYRE_MUTANT(slots_moved, from->size > slot->capacity, true)) {
        vyre_free(a, slot->data, slot->capacity, 1);
        slot->data = from->data;
        slot->capacity = from->size;
    } else if (from->data) {
        memcpy(slot->data, from->data, from->size);
        vyre_free(a, from->data, from->size, 1);
    }
    slot->size = from->size;
}

vyre_status vyre_slots_fill(vyre_device *device, vyre_binding *binding, const vyre_memory *memory,
                            vyre_output *outputs, bool in_place, vyre_diag *diag) {
    uint32_t count = binding->output_count;
    staged *all = vyre_arena_alloc(&binding->arena, count, sizeof *all);
    if (!all) {
        return vyre_fail_memory(diag, "outputs");
    }
    memset(all, 0, count * sizeof *all);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = stage(device, binding, i, memory[binding->outputs[i]], &outputs[i], in_place,
                       &all[i], diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (status == VYRE_OK) {
            hand_over(&device->allocator, &all[i], &outputs[i]);
        } else {
            vyre_free(&device->allocator, all[i].data, all[i].size, 1);
        }
    }
    return status;
}
