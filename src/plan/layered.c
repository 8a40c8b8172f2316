/* Budgets: costs of waves, the capacity of a group, and the linear-time mode that cuts each layer
 * into groups next-fit. Sums are only formed when they are known to fit, so costs near 2^64 are no
 * special case; a wave that does not fit alone is refused before anything is packed, so its place
 * in the order does not matter. */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/planner.h"

static inline bool cost_of(const vyre_wave *wave, uint64_t *out_cost) {
    uint64_t scratch, sum;
    return vyre_mul_u64(wave->scratch, VYRE_PLAN_SCRATCH_FACTOR, &scratch) &&
           vyre_add_u64(wave->frontier, scratch, &sum) && vyre_add_u64(sum, wave->output, out_cost);
}

bool vyre_wave_cost(const vyre_wave *wave, uint64_t *out_cost) {
    return cost_of(wave, out_cost);
}

static vyre_status over_budget(vyre_planner *planner, const vyre_wave_set *set, uint32_t wave,
                               uint64_t required, uint64_t available, vyre_diag *diag) {
    char label[VYRE_WAVE_LABEL];
    planner->fault.kind = VYRE_PLAN_FAULT_OVER_BUDGET;
    planner->fault.wave = wave;
    planner->fault.required = required;
    planner->fault.available = available;
    if (wave == VYRE_PLAN_NO_WAVE) {
        planner->fault.field = "resident graph bytes";
        return vyre_fail(diag, VYRE_CHECK_FAILED,
                         "raise the budget above the resident graph, or shrink the graph",
                         "the resident graph needs %" PRIu64 " bytes, the budget is %" PRIu64,
                         required, available);
    }
    planner->fault.field = "single fused frontier wave bytes";
    return vyre_fail(diag, VYRE_CHECK_FAILED,
                     "raise the budget or split the wave into smaller ones",
                     "%s alone needs %" PRIu64 " bytes, a group may use %" PRIu64
                     " (budget %" PRIu64 " minus %" PRIu64 " of resident graph)",
                     vyre_wave_label(label, set->waves, wave), required, available,
                     set->budget_bytes, set->resident_graph_bytes);
}

static vyre_status overflow(vyre_planner *planner, const vyre_wave_set *set, uint32_t wave,
                            vyre_diag *diag) {
    char label[VYRE_WAVE_LABEL];
    planner->fault.kind = VYRE_PLAN_FAULT_OVERFLOW;
    planner->fault.wave = wave;
    uint64_t scratch;
    planner->fault.field =
        vyre_mul_u64(set->waves[wave].scratch, VYRE_PLAN_SCRATCH_FACTOR, &scratch)
            ? "fused wave bytes"
            : "fused wave scratch bytes";
    return vyre_fail(diag, VYRE_INVALID_INPUT,
                     "give sizes in bytes whose sum (scratch counts four times) is below 2^64",
                     "the cost of %s exceeds 64 bits", vyre_wave_label(label, set->waves, wave));
}

bool vyre_plan_costs(const vyre_wave_set *set, uint64_t capacity, uint64_t *cost) {
    bool all_fit = true;
    for (uint32_t wave = 0; wave < set->wave_count; wave++) {
        all_fit &= cost_of(&set->waves[wave], &cost[wave]) && cost[wave] <= capacity;
    }
    return all_fit;
}

vyre_status vyre_plan_costs_fail(vyre_planner *planner, const vyre_wave_set *set,
                                 const uint32_t *order, vyre_diag *diag) {
    if (set->resident_graph_bytes > set->budget_bytes) {
        return over_budget(planner, set, VYRE_PLAN_NO_WAVE, set->resident_graph_bytes,
                           set->budget_bytes, diag);
    }
    const uint64_t capacity = set->budget_bytes - set->resident_graph_bytes;
    uint64_t cost = 0;
    uint32_t k = 0;
    while (cost_of(&set->waves[order[k]], &cost) && cost <= capacity) {
        k++;
    }
    return cost_of(&set->waves[order[k]], &cost)
               ? over_budget(planner, set, order[k], cost, capacity, diag)
               : overflow(planner, set, order[k], diag);
}

void vyre_plan_cut_layers(const vyre_plan_cut *cut, uint32_t first, uint32_t end, vyre_plan *plan) {
    const uint32_t *const order = cut->order;
    const vyre_wave *const waves = cut->waves;
    const uint32_t behind = cut->layer_start[end]; /* what lies there is not ours to read */
    uint32_t groups = plan->group_count;
    for (uint32_t layer = first; layer < end; layer++) {
        const uint32_t begin = cut->layer_start[layer], last = cut->layer_start[layer + 1];
        vyre_plan_sums sums = {0};
        uint64_t room = 0;
        for (uint32_t k = begin; k < last; k++) {
            if (k + VYRE_PLAN_WAVES_AHEAD < behind) {
                __builtin_prefetch(&waves[order[k + VYRE_PLAN_WAVES_AHEAD]]);
            }
            vyre_plan_sums own = {0};
            vyre_plan_sums_add(&own, &waves[order[k]]);
            const uint64_t need = vyre_plan_sums_cost(&own);
            if (k == begin || need > room) {
                vyre_plan_raise_peaks(plan, &sums);
                sums = (vyre_plan_sums){0};
                cut->group_start[groups++] = k;
                room = cut->capacity;
            }
            vyre_plan_sums_add(&sums, &waves[order[k]]);
            room -= need;
        }
        vyre_plan_raise_peaks(plan, &sums);
    }
    cut->group_start[groups] = behind;
    plan->group_count = groups;
}
