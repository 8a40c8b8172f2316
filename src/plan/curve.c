/* Barriers against budget. The groups needed fall as the budget grows, so the curve is a staircase;
 * the points are spent where two neighbours differ most, on the budget half way between them. A
 * plan for a smaller budget is one for a larger budget too, which keeps the curve falling even
 * where the heuristics do not. */
#include <string.h>

#include "base/checked.h"
#include "plan/planner.h"

typedef struct curve {
    vyre_planner *planner;
    vyre_wave_set set;
    const vyre_plan_options *options;
    vyre_plan_point *points;
    uint32_t count;
} curve;

static vyre_status add_point(curve *c, uint64_t budget, vyre_diag *diag) {
    vyre_plan plan;
    c->set.budget_bytes = budget;
    vyre_status status = vyre_plan_waves(c->planner, &c->set, c->options, &plan, diag);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t place = c->count++;
    while (place > 0 && c->points[place - 1].budget_bytes > budget) {
        c->points[place] = c->points[place - 1];
        place--;
    }
    c->points[place] = (vyre_plan_point){.budget_bytes = budget,
                                         .groups = plan.group_count,
                                         .barriers = plan.barriers,
                                         .lower_bound = plan.lower_bound,
                                         .optimal = plan.optimal};
    return VYRE_OK;
}

/* Fewer groups with less memory hold for more memory too, and what cannot be done with more cannot
 * be done with less. */
static void settle(curve *c) {
    for (uint32_t i = 1; i < c->count; i++) {
        vyre_plan_point *p = &c->points[i], *before = p - 1;
        if (before->groups < p->groups) {
            p->groups = before->groups;
            p->barriers = before->barriers;
        }
    }
    for (uint32_t i = c->count - 1; i-- > 0;) {
        if (c->points[i].lower_bound < c->points[i + 1].lower_bound) {
            c->points[i].lower_bound = c->points[i + 1].lower_bound;
        }
    }
    for (uint32_t i = 0; i < c->count; i++) {
        c->points[i].optimal = c->points[i].groups == c->points[i].lower_bound;
    }
}

/* The neighbours with most groups between them and room for another budget; count when none. */
static uint32_t widest_step(const curve *c) {
    uint32_t widest = c->count, most = 0;
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        const vyre_plan_point *p = &c->points[i];
        uint32_t step = p[0].groups > p[1].groups ? p[0].groups - p[1].groups : 0;
        if (p[1].budget_bytes - p[0].budget_bytes > 1 && step > most) {
            most = step;
            widest = i;
        }
    }
    return widest;
}

/* The smallest budget that admits a plan, and one with which layers need not be cut. */
static vyre_status find_ends(curve *c, uint64_t *out_low, uint64_t *out_high, vyre_diag *diag) {
    vyre_plan plan;
    vyre_plan_options layered = {.mode = VYRE_PLAN_LAYERED};
    uint64_t low = 0, high = c->set.resident_graph_bytes;
    c->set.budget_bytes = VYRE_PLAN_NO_BUDGET;
    vyre_status status = vyre_plan_waves(c->planner, &c->set, &layered, &plan, diag);
    if (status != VYRE_OK) {
        return status;
    }
    for (uint32_t w = 0; w < c->set.wave_count; w++) {
        uint64_t cost = 0;
        (void)vyre_wave_cost(&c->set.waves[w], &cost);
        low = cost > low ? cost : low;
    }
    if (!vyre_add_u64(high, plan.peak_group, &high)) {
        high = VYRE_PLAN_NO_BUDGET;
    }
    *out_low = low + c->set.resident_graph_bytes;
    *out_high = high;
    return VYRE_OK;
}

vyre_status vyre_plan_curve(vyre_planner *planner, const vyre_wave_set *set,
                            const vyre_plan_options *options, vyre_plan_point *points,
                            uint32_t capacity, uint32_t *out_count, vyre_diag *diag) {
    if (!planner || !set || !points || !out_count || capacity < 2) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h",
                         "curve: an argument is NULL or there is room for less than two points");
    }
    curve c = {.planner = planner, .set = *set, .options = options, .points = points};
    uint64_t low, high;
    vyre_status status = find_ends(&c, &low, &high, diag);
    if (status == VYRE_OK) {
        status = add_point(&c, low, diag);
    }
    if (status == VYRE_OK && high > low) {
        status = add_point(&c, high, diag);
    }
    while (status == VYRE_OK && c.count < capacity) {
        uint32_t i = widest_step(&c);
        if (i == c.count || (options && options->cancel && *options->cancel)) {
            break;
        }
        uint64_t from = points[i].budget_bytes, to = points[i + 1].budget_bytes;
        status = add_point(&c, from + (to - from) / 2, diag);
    }
    if (status == VYRE_OK) {
        settle(&c);
        *out_count = c.count;
    }
    return status;
}
