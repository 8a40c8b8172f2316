/* The planner object: workspace, result arrays, faults. The workspace is a list of blocks of
 * doubling size; the next call begins with one block as large as all of them. The linear-time modes
 * say at the beginning what they need, so they find everything in place from the second call on. */
#include "plan/planner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

enum { ALIGN = 64, SMALLEST_BLOCK = 1 << 14 };

struct vyre_plan_block {
    struct vyre_plan_block *next;
    size_t size; /* usable bytes behind the header */
};

/* The header, and what aligning the bytes behind it may take. */
static const size_t header = (size_t)2 * ALIGN;

static unsigned char *bytes_of(struct vyre_plan_block *block) {
    const uintptr_t behind = (uintptr_t)(block + 1);
    return (unsigned char *)(block + 1) + (ALIGN - behind % ALIGN) % ALIGN;
}

vyre_status vyre_planner_create(const vyre_allocator *allocator, vyre_planner **out_planner,
                                vyre_diag *diag) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_planner *planner = vyre_alloc_zeroed(&a, 1, sizeof *planner);
    if (!planner) {
        return vyre_fail_memory(diag, "a planner");
    }
    planner->allocator = a;
    *out_planner = planner;
    return VYRE_OK;
}

static size_t free_blocks(vyre_planner *planner) {
    size_t total = 0;
    while (planner->blocks) {
        struct vyre_plan_block *next = planner->blocks->next;
        total += planner->blocks->size;
        vyre_free(&planner->allocator, planner->blocks, 1, header + planner->blocks->size);
        planner->blocks = next;
    }
    planner->used = 0;
    return total;
}

void vyre_planner_destroy(vyre_planner *planner) {
    if (planner) {
        vyre_allocator a = planner->allocator;
        vyre_team_destroy(planner->team);
        free_blocks(planner);
        vyre_free(&a, planner->order.data, planner->order.bytes, 1);
        vyre_free(&a, planner->start.data, planner->start.bytes, 1);
        vyre_free(&a, planner->memory.data, planner->memory.bytes, 1);
        vyre_free(&a, planner, 1, sizeof *planner);
    }
}

vyre_plan_fault vyre_planner_fault(const vyre_planner *planner) {
    return planner->fault;
}

size_t vyre_planner_bytes(const vyre_planner *planner) {
    size_t bytes = planner->order.bytes + planner->start.bytes + planner->memory.bytes;
    for (const struct vyre_plan_block *block = planner->blocks; block; block = block->next) {
        bytes += block->size;
    }
    return bytes;
}

static bool add_block(vyre_planner *planner, size_t size) {
    struct vyre_plan_block *block =
        size > SIZE_MAX / 2 ? NULL : vyre_alloc(&planner->allocator, 1, header + size);
    if (!block) {
        return false;
    }
    *block = (struct vyre_plan_block){.next = planner->blocks, .size = size};
    planner->blocks = block;
    planner->used = 0;
    return true;
}

static void storage_fault(vyre_planner *planner, size_t count, size_t size, const char *field) {
    uint64_t bytes;
    if (!vyre_mul_u64(count, size, &bytes)) {
        bytes = UINT64_MAX;
    }
    planner->fault = (vyre_plan_fault){.kind = VYRE_PLAN_FAULT_STORAGE,
                                       .wave = VYRE_PLAN_NO_WAVE,
                                       .required = bytes,
                                       .field = field};
}

bool vyre_planner_begin(vyre_planner *planner, size_t bytes) {
    planner->fault = (vyre_plan_fault){.wave = VYRE_PLAN_NO_WAVE, .field = ""};
    planner->used = 0;
    if (planner->blocks && !planner->blocks->next && planner->blocks->size >= bytes) {
        return true;
    }
    size_t held = free_blocks(planner);
    if (!add_block(planner, held > bytes ? held : bytes)) {
        storage_fault(planner, bytes, 1, "workspace");
        return false;
    }
    return true;
}

size_t vyre_planner_need(size_t count, size_t size) {
    size_t bytes;
    return vyre_mul_size(count, size, &bytes) && bytes < SIZE_MAX / 16
               ? (bytes + ALIGN - 1) / ALIGN * ALIGN
               : SIZE_MAX / 16;
}

void *vyre_planner_take(vyre_planner *planner, size_t count, size_t size, const char *field) {
    size_t bytes;
    if (!vyre_mul_size(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        storage_fault(planner, count, size, field);
        return NULL;
    }
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!planner->blocks || bytes > planner->blocks->size - planner->used) {
        size_t want = planner->blocks ? planner->blocks->size : SMALLEST_BLOCK;
        if (!add_block(planner, want > bytes ? want : bytes)) {
            storage_fault(planner, count, size, field);
            return NULL;
        }
    }
    void *taken = bytes_of(planner->blocks) + planner->used;
    planner->used += bytes;
    return taken;
}

void *vyre_planner_take_zeroed(vyre_planner *planner, size_t count, size_t size,
                               const char *field) {
    void *taken = vyre_planner_take(planner, count, size, field);
    return taken ? memset(taken, 0, count * size) : NULL;
}

vyre_plan_mark vyre_planner_mark(const vyre_planner *planner) {
    return (vyre_plan_mark){.block = planner->blocks, .used = planner->used};
}

void vyre_planner_release(vyre_planner *planner, vyre_plan_mark mark) {
    planner->used = planner->blocks == mark.block ? mark.used : 0;
}

bool vyre_planner_hold(vyre_planner *planner, vyre_plan_array *array, size_t count, size_t size,
                       const char *field) {
    size_t bytes;
    if (vyre_mul_size(count, size, &bytes) && bytes <= array->bytes && array->data) {
        return true;
    }
    vyre_free(&planner->allocator, array->data, array->bytes, 1);
    array->data = vyre_alloc(&planner->allocator, count, size);
    array->bytes = array->data ? bytes : 0;
    if (!array->data) {
        storage_fault(planner, count, size, field);
    }
    return array->data != NULL;
}

vyre_status vyre_planner_storage(const vyre_planner *planner, vyre_diag *diag) {
    return vyre_fail(diag, VYRE_OUT_OF_MEMORY,
                     "plan fewer waves at a time or give the process more memory",
                     "out of memory for %s of the plan (%" PRIu64 " bytes)", planner->fault.field,
                     planner->fault.required);
}

const char *vyre_wave_label(char label[VYRE_WAVE_LABEL], const vyre_wave *waves, uint32_t wave) {
    if (waves && waves[wave].name) {
        char name[VYRE_WAVE_LABEL - 24];
        vyre_diag_copy(name, sizeof name, waves[wave].name);
        snprintf(label, VYRE_WAVE_LABEL, "wave %" PRIu32 " (%s)", wave, name);
    } else {
        snprintf(label, VYRE_WAVE_LABEL, "wave %" PRIu32, wave);
    }
    return label;
}
