/* Lifetimes: when each buffer of a plan is alive, the peak of the whole schedule, and offsets. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "plan/layout.h"

enum { PARTS = 3 }; /* output, scratch, frontier: the longest life first */

typedef struct lifetimes {
    const vyre_wave_set *set;
    const vyre_plan *plan;
    uint64_t align; /* minus one */
    vyre_wave_memory *memory;
    vyre_plan_layout layout;
} lifetimes;

/* Bytes of one part of a wave, as the arena sees them; false beyond 64 bits. */
static bool part_size(const lifetimes *l, uint32_t wave, int part, uint64_t *out_size) {
    const vyre_wave *w = &l->set->waves[wave];
    uint64_t size = part == 0 ? w->output : part == 1 ? w->scratch : w->frontier;
    if ((part == 1 && !vyre_mul_u64(size, VYRE_PLAN_SCRATCH_FACTOR, &size)) ||
        !vyre_add_u64(size, l->align, &size)) {
        return false;
    }
    *out_size = size & ~l->align;
    return true;
}

static uint64_t *part_offset(vyre_wave_memory *memory, int part) {
    return part == 0 ? &memory->output : part == 1 ? &memory->scratch : &memory->frontier;
}

/* The last group that needs the output of each wave. */
static void find_last(lifetimes *l, uint32_t *group_of, bool keep_results) {
    const vyre_plan *plan = l->plan;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            group_of[plan->waves[k]] = g;
            l->memory[plan->waves[k]] = (vyre_wave_memory){.last_group = g};
        }
    }
    for (size_t i = 0; i < l->set->dep_count; i++) {
        uint32_t after = group_of[l->set->deps[i].after];
        uint32_t *last = &l->memory[l->set->deps[i].before].last_group;
        *last = after > *last ? after : *last;
    }
    for (uint32_t w = 0; w < plan->wave_count && keep_results; w++) {
        if (l->memory[w].last_group == group_of[w]) {
            l->memory[w].last_group = plan->group_count - 1;
        }
    }
}

/* All buffers that are not empty, in the order of the plan; false when their sum exceeds 64 bits.
 */
static bool make_buffers(lifetimes *l) {
    const vyre_plan *plan = l->plan;
    uint64_t sum = l->layout.base;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (int part = 0; part < PARTS; part++) {
            for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
                uint32_t w = plan->waves[k];
                uint64_t size;
                if (!part_size(l, w, part, &size) || !vyre_add_u64(sum, size, &sum)) {
                    return false;
                }
                if (size) {
                    l->layout.buffer[l->layout.count++] = (vyre_plan_buffer){
                        .size = size, .first = g, .last = part ? g : l->memory[w].last_group};
                }
            }
        }
    }
    return true;
}

/* Offsets back to the waves, in the order in which the buffers were made. */
static void copy_offsets(lifetimes *l) {
    const vyre_plan *plan = l->plan;
    const vyre_plan_buffer *next = l->layout.buffer;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (int part = 0; part < PARTS; part++) {
            for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
                uint64_t size;
                if (part_size(l, plan->waves[k], part, &size) && size) {
                    *part_offset(&l->memory[plan->waves[k]], part) = (next++)->offset;
                }
            }
        }
    }
}

/* change[g] is what is born in g minus what died before it; wraps around, the running sum is
 * exact. */
static void find_peak(const lifetimes *l, uint64_t *change, vyre_plan_memory *out) {
    memset(change, 0, ((size_t)l->layout.groups + 1) * sizeof *change);
    for (uint32_t i = 0; i < l->layout.count; i++) {
        change[l->layout.buffer[i].first] += l->layout.buffer[i].size;
        change[l->layout.buffer[i].last + 1] -= l->layout.buffer[i].size;
    }
    uint64_t alive = l->layout.base;
    out->peak_bytes = alive;
    for (uint32_t g = 0; g < l->layout.groups; g++) {
        alive += change[g];
        if (alive > out->peak_bytes) {
            out->peak_bytes = alive;
            out->peak_group = g;
        }
    }
}

static vyre_status lay_out(vyre_planner *planner, vyre_plan_layout *layout, uint64_t node_limit,
                           vyre_diag *diag) {
    vyre_status status = vyre_plan_layout_sweep(planner, layout, diag);
    if (status == VYRE_OK && layout->arena > layout->lower_bound &&
        layout->count <= VYRE_LAYOUT_GREEDY) {
        status = vyre_plan_layout_greedy(planner, layout, diag);
    }
    if (status == VYRE_OK && layout->arena > layout->lower_bound &&
        layout->count <= VYRE_LAYOUT_EXACT) {
        status = vyre_plan_layout_search(planner, layout, node_limit, diag);
    }
    return status;
}

static vyre_status too_much(vyre_planner *planner, vyre_diag *diag) {
    planner->fault.kind = VYRE_PLAN_FAULT_OVERFLOW;
    planner->fault.field = "schedule bytes";
    return vyre_fail(diag, VYRE_INVALID_INPUT, "give sizes in bytes whose sum is below 2^64",
                     "the buffers of all waves together exceed 64 bits");
}

static vyre_status run(vyre_planner *planner, lifetimes *l, const vyre_plan_memory_options *options,
                       vyre_plan_memory *out, vyre_diag *diag) {
    size_t count = l->plan->wave_count;
    uint32_t *group_of =
        vyre_planner_hold(planner, &planner->memory, count, sizeof *l->memory, "wave memory")
            ? vyre_planner_take(planner, count, sizeof *group_of, "places")
            : NULL;
    uint64_t *change = group_of ? vyre_planner_take(planner, (size_t)l->plan->group_count + 1,
                                                    sizeof *change, "lifetimes")
                                : NULL;
    l->layout.buffer =
        change ? vyre_planner_take(planner, count * PARTS, sizeof *l->layout.buffer, "buffers")
               : NULL;
    if (!l->layout.buffer) {
        return vyre_planner_storage(planner, diag);
    }
    l->memory = planner->memory.data;
    find_last(l, group_of, options->keep_results);
    if (!vyre_add_u64(l->set->resident_graph_bytes, l->align, &l->layout.base)) {
        return too_much(planner, diag);
    }
    l->layout.base &= ~l->align;
    if (!make_buffers(l)) {
        return too_much(planner, diag);
    }
    vyre_plan_memory made = {.waves = l->memory};
    find_peak(l, change, &made);
    l->layout.lower_bound = made.peak_bytes;
    uint64_t nodes = options->node_limit ? options->node_limit : VYRE_PLAN_NODES;
    vyre_status status = lay_out(planner, &l->layout, nodes, diag);
    if (status == VYRE_OK) {
        copy_offsets(l);
        made.arena_bytes = l->layout.arena;
        made.lower_bound = l->layout.lower_bound;
        made.optimal = made.arena_bytes == made.lower_bound;
        *out = made;
    }
    return status;
}

vyre_status vyre_plan_memory_layout(vyre_planner *planner, const vyre_wave_set *set,
                                    const vyre_plan *plan, const vyre_plan_memory_options *options,
                                    vyre_plan_memory *out_memory, vyre_diag *diag) {
    vyre_plan_memory_options chosen = options ? *options : (vyre_plan_memory_options){0};
    uint64_t alignment = chosen.alignment ? chosen.alignment : 1;
    if (!planner || !set || !plan || !out_memory || (alignment & (alignment - 1))) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h",
                         "laying out memory: an argument is NULL or the alignment %" PRIu64
                         " is not a power of two",
                         alignment);
    }
    if (!vyre_planner_begin(planner, 0)) {
        return vyre_planner_storage(planner, diag);
    }
    vyre_status status = vyre_plan_check(set, plan, &planner->allocator, diag);
    if (status != VYRE_OK) {
        return status;
    }
    lifetimes l = {
        .set = set, .plan = plan, .align = alignment - 1, .layout = {.groups = plan->group_count}};
    return run(planner, &l, &chosen, out_memory, diag);
}
