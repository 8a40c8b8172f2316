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

vyre_status vyre_plan_costs(vyre_planner *planner, const vyre_wave_set *set, const uint32_t *order,
                            uint64_t *cost, uint64_t *out_capacity, vyre_diag *diag) {
    if (set->resident_graph_bytes > set->budget_bytes) {
        return over_budget(planner, set, VYRE_PLAN_NO_WAVE, set->resident_graph_bytes,
                           set->budget_bytes, diag);
    }
    uint64_t capacity = set->budget_bytes - set->resident_graph_bytes;
    bool all_fit = true; /* found out in the order of memory */
    for (uint32_t wave = 0; wave < set->wave_count; wave++) {
        all_fit &= cost_of(&set->waves[wave], &cost[wave]) && cost[wave] <= capacity;
    }
    for (uint32_t k = 0; !all_fit && k < set->wave_count; k++) {
        uint32_t wave = order[k];
        if (!cost_of(&set->waves[wave], &cost[wave])) {
            return overflow(planner, set, wave, diag);
        }
        if (cost[wave] > capacity) {
            return over_budget(planner, set, wave, cost[wave], capacity, diag);
        }
    }
    *out_capacity = capacity;
    return VYRE_OK;
}

void vyre_plan_layered(const vyre_plan_graph *graph, const vyre_wave *waves, uint64_t capacity,
                       uint32_t *group_start, vyre_plan *plan) {
    uint32_t groups = 0;
    for (uint32_t layer = 0; layer < graph->layer_count; layer++) {
        const uint32_t first = graph->layer_start[layer], end = graph->layer_start[layer + 1];
        vyre_plan_sums sums = {0};
        uint64_t room = 0;
        for (uint32_t k = first; k < end; k++) {
            if (k + VYRE_PLAN_WAVES_AHEAD < graph->count) {
                __builtin_prefetch(&waves[graph->order[k + VYRE_PLAN_WAVES_AHEAD]]);
            }
            vyre_plan_sums own = {0};
            vyre_plan_sums_add(&own, &waves[graph->order[k]]);
            const uint64_t need = vyre_plan_sums_cost(&own);
            if (k == first || need > room) {
                vyre_plan_raise_peaks(plan, &sums);
                sums = (vyre_plan_sums){0};
                group_start[groups++] = k;
                room = capacity;
            }
            vyre_plan_sums_add(&sums, &waves[graph->order[k]]);
            room -= need;
        }
        vyre_plan_raise_peaks(plan, &sums);
    }
    group_start[groups] = graph->count;
    plan->group_count = groups;
}
