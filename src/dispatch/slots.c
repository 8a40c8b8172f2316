/* Outputs go through staging: all are read before the first slot changes, so that a failure leaves
 * the caller's bytes alone. A slot that is large enough gets a copy and keeps its address; else the
 * staging block becomes the slot, unless its memory is the caller's own: then it was found to be
 * large enough before anything ran. In place, large enough slots are read into directly. */
#include "dispatch/slots.h"

#include <string.h>

#include "base/diag.h"
#include "device/call.h"

typedef struct staged {
    void *data; /* own block; NULL: nothing to do or read in place */
    size_t size;
} staged;

void vyre_output_finish(vyre_output *output, const vyre_allocator *allocator) {
    if (output) {
        vyre_allocator a = vyre_allocator_or_system(allocator);
        if (!output->is_fixed) {
            vyre_free(&a, output->data, output->capacity, 1);
        }
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

static vyre_status stage(const vyre_slots *slots, uint32_t index, staged *out, vyre_diag *diag) {
    const vyre_output *slot = &slots->outputs[index];
    vyre_decl decl = slots->binding->outputs[index];
    uint64_t begin;
    uint64_t size = vyre_binding_returned(slots->binding, decl, &begin);
    out->size = (size_t)size;
    if (size == 0) {
        return VYRE_OK;
    }
    void *to = slot->data;
    if (!slots->in_place || size > slot->capacity) {
        to = out->data =
            size <= SIZE_MAX ? vyre_alloc(&slots->device->allocator, out->size, 1) : NULL;
        if (!to) {
            return vyre_fail_memory(diag, "outputs");
        }
    }
    vyre_call call = {.device = slots->device,
                      .trace = slots->trace,
                      .name = vyre_program_get(slots->binding->program)->decls[decl].name,
                      .bytes = size};
    return vyre_call_read(&call, slots->memory[decl], begin, to, size, diag);
}

static void hand_over(vyre_device *device, staged *from, vyre_output *slot) {
    vyre_counter_set *set = &device->counters;
    vyre_count(set, VYRE_COUNT_output_slots, 1);
    vyre_count(set, VYRE_COUNT_slot_bytes_incoming, from->size);
    if (from->data && from->size > slot->capacity) {
        bool is_new = !slot->data;
        vyre_count(set, is_new ? VYRE_COUNT_output_slots_appended : VYRE_COUNT_output_slots_moved,
                   1);
        vyre_count(set, is_new ? VYRE_COUNT_slot_bytes_appended : VYRE_COUNT_slot_bytes_moved,
                   from->size);
        vyre_free(&device->allocator, slot->data, slot->capacity, 1);
        slot->data = from->data;
        slot->capacity = from->size;
    } else {
        vyre_count(set, VYRE_COUNT_output_slots_reused, 1);
    }
    if (from->data && from->data != slot->data) {
        vyre_count(set, VYRE_COUNT_slot_bytes_copied, from->size);
        memcpy(slot->data, from->data, from->size);
        vyre_free(&device->allocator, from->data, from->size, 1);
    }
    slot->size = from->size;
    vyre_count(set, VYRE_COUNT_slot_bytes_retained, slot->capacity);
}

vyre_status vyre_slots_fill(const vyre_slots *slots, vyre_diag *diag) {
    vyre_device *device = slots->device;
    uint32_t count = slots->binding->output_count;
    staged *all = vyre_arena_alloc(&slots->binding->arena, count, sizeof *all);
    if (!all) {
        return vyre_fail_memory(diag, "outputs");
    }
    memset(all, 0, count * sizeof *all);
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = stage(slots, i, &all[i], diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (status == VYRE_OK) {
            hand_over(device, &all[i], &slots->outputs[i]);
        } else {
            vyre_free(&device->allocator, all[i].data, all[i].size, 1);
        }
    }
    return status;
}
