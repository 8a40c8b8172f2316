/* An independent check of plans: it looks at the definition (each wave once, dependencies lead to
 * later groups, groups fit) and shares no code with what makes plans. O(waves + deps). */
#include <inttypes.h>

#include "base/checked.h"
#include "plan/planner.h"

static const uint32_t nowhere = UINT32_MAX;

static vyre_status check_shape(const vyre_wave_set *set, const vyre_plan *plan, vyre_diag *diag) {
    static const char fix[] = "make the plan again for these waves";
    if (plan->wave_count != set->wave_count) {
        return vyre_fail(diag, VYRE_CHECK_FAILED, fix,
                         "the plan holds %" PRIu32 " waves, there are %" PRIu32, plan->wave_count,
                         set->wave_count);
    }
    uint32_t at = 0;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        uint32_t end = plan->group_start[g + 1];
        if (plan->group_start[g] != at || end <= at || end > plan->wave_count) {
            return vyre_fail(diag, VYRE_CHECK_FAILED, fix, "group %" PRIu32 " is empty", g);
        }
        at = end;
    }
    if (at != plan->wave_count) {
        return vyre_fail(diag, VYRE_CHECK_FAILED, fix,
                         "the groups hold %" PRIu32 " of %" PRIu32 " waves", at, plan->wave_count);
    }
    return VYRE_OK;
}

/* Each wave exactly once: as many places as waves, and none taken twice. */
static vyre_status check_waves(const vyre_wave_set *set, const vyre_plan *plan, uint32_t *group_of,
                               vyre_diag *diag) {
    char label[VYRE_WAVE_LABEL];
    for (uint32_t w = 0; w < set->wave_count; w++) {
        group_of[w] = nowhere;
    }
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            uint32_t w = plan->waves[k];
            if (w >= set->wave_count) {
                return vyre_fail(diag, VYRE_CHECK_FAILED, "remove it from the plan",
                                 "group %" PRIu32 " names wave %" PRIu32
                                 ", which does not exist (there are %" PRIu32 ")",
                                 g, w, set->wave_count);
            }
            if (group_of[w] != nowhere) {
                return vyre_fail(diag, VYRE_CHECK_FAILED, "run every wave once",
                                 "%s is in group %" PRIu32 " and again in group %" PRIu32,
                                 vyre_wave_label(label, set->waves, w), group_of[w], g);
            }
            group_of[w] = g;
        }
    }
    return VYRE_OK;
}

static vyre_status check_deps(const vyre_wave_set *set, const uint32_t *group_of, vyre_diag *diag) {
    for (size_t i = 0; i < set->dep_count; i++) {
        vyre_wave_dep dep = set->deps[i];
        if (dep.before >= set->wave_count || dep.after >= set->wave_count) {
            return vyre_fail(diag, VYRE_CHECK_FAILED, "declare the wave or remove the dependency",
                             "dependency %" PRIu32 " -> %" PRIu32
                             " names a wave that does not exist",
                             dep.before, dep.after);
        }
        if (group_of[dep.before] >= group_of[dep.after]) {
            char before[VYRE_WAVE_LABEL], after[VYRE_WAVE_LABEL];
            return vyre_fail(diag, VYRE_CHECK_FAILED, "move the later wave behind a barrier",
                             "%s is in group %" PRIu32
                             ", %s, which depends on it, in group %" PRIu32,
                             vyre_wave_label(before, set->waves, dep.before), group_of[dep.before],
                             vyre_wave_label(after, set->waves, dep.after), group_of[dep.after]);
        }
    }
    return VYRE_OK;
}

static vyre_status check_budget(const vyre_wave_set *set, const vyre_plan *plan, vyre_diag *diag) {
    static const char fix[] = "raise the budget or make the plan again for this one";
    if (set->resident_graph_bytes > set->budget_bytes) {
        return vyre_fail(diag, VYRE_CHECK_FAILED, fix,
                         "the resident graph alone exceeds the budget of %" PRIu64 " bytes",
                         set->budget_bytes);
    }
    for (uint32_t g = 0; g < plan->group_count; g++) {
        uint64_t sum = set->resident_graph_bytes;
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            const vyre_wave *wave = &set->waves[plan->waves[k]];
            const uint64_t parts[] = {wave->frontier, wave->scratch, wave->scratch,
                                      wave->scratch,  wave->scratch, wave->output};
            for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
                if (!vyre_add_u64(sum, parts[p], &sum) || sum > set->budget_bytes) {
                    return vyre_fail(diag, VYRE_CHECK_FAILED, fix,
                                     "group %" PRIu32 " exceeds the budget of %" PRIu64 " bytes", g,
                                     set->budget_bytes);
                }
            }
        }
    }
    return VYRE_OK;
}

vyre_status vyre_plan_check(const vyre_wave_set *set, const vyre_plan *plan,
                            const vyre_allocator *allocator, vyre_diag *diag) {
    if (!set || !plan || (plan->group_count && (!plan->waves || !plan->group_start))) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h",
                         "checking a plan: set, plan or its arrays are NULL");
    }
    vyre_status status = check_shape(set, plan, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_allocator a = vyre_allocator_or_system(allocator);
    uint32_t *group_of = vyre_alloc(&a, set->wave_count, sizeof *group_of);
    if (!group_of) {
        return vyre_fail_memory(diag, "checking a plan");
    }
    status = check_waves(set, plan, group_of, diag);
    if (status == VYRE_OK) {
        status = check_deps(set, group_of, diag);
    }
    if (status == VYRE_OK) {
        status = check_budget(set, plan, diag);
    }
    vyre_free(&a, group_of, set->wave_count, sizeof *group_of);
    return status;
}
