/* The public planning calls: checks of the arguments, the order of the phases, the figures of the
 * finished plan. */
#include "plan/packed.h"
#include "plan/planner.h"

const char *vyre_plan_mode_name(vyre_plan_mode mode) {
    static const char *const names[] = {
        [VYRE_PLAN_PACKED] = "packed",
        [VYRE_PLAN_LAYERED] = "layered",
        [VYRE_PLAN_BARRIERS] = "barriers",
    };
    return (unsigned)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown mode";
}

static vyre_status bad_call(vyre_diag *diag, const char *what) {
    return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h", "planning: %s", what);
}

/* Everything that is reserved before the input is looked at. */
static vyre_status begin(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers,
                         size_t more, vyre_diag *diag) {
    planner->fault = (vyre_plan_fault){.wave = VYRE_PLAN_NO_WAVE, .field = ""};
    vyre_status status = vyre_plan_graph_limits(planner, set, diag);
    size_t count = set->wave_count;
    if (status == VYRE_OK &&
        !(vyre_planner_begin(planner, vyre_plan_graph_need(set, workers) + more) &&
          vyre_planner_hold(planner, &planner->order, count, sizeof(uint32_t), "waves") &&
          vyre_planner_hold(planner, &planner->start, count + 1, sizeof(uint32_t), "groups"))) {
        status = vyre_planner_storage(planner, diag);
    }
    return status;
}

static void finish_groups(const vyre_planner *planner, vyre_plan *plan) {
    plan->waves = planner->order.data;
    plan->group_start = planner->start.data;
    plan->barriers = plan->group_count ? plan->group_count - 1 : 0;
    plan->optimal = plan->group_count == plan->lower_bound;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        uint32_t width = plan->group_start[g + 1] - plan->group_start[g];
        plan->max_width = width > plan->max_width ? width : plan->max_width;
    }
}

static void raise(uint64_t *peak, uint64_t value) {
    *peak = value > *peak ? value : *peak;
}

void vyre_plan_raise_peaks(vyre_plan *plan, const vyre_plan_sums *sums) {
    raise(&plan->peak_frontier, sums->frontier);
    raise(&plan->peak_scratch, sums->scratch);
    raise(&plan->peak_output, sums->output);
    raise(&plan->peak_group, vyre_plan_sums_cost(sums));
}

/* The peaks of a plan whose groups are not the layered ones. */
static void find_peaks(const vyre_planner *planner, const vyre_wave_set *set, vyre_plan *plan) {
    const uint32_t *order = planner->order.data, *start = planner->start.data;
    plan->peak_frontier = plan->peak_scratch = plan->peak_output = plan->peak_group = 0;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        vyre_plan_sums sums = {0};
        for (uint32_t k = start[g]; k < start[g + 1]; k++) {
            if (k + VYRE_PLAN_WAVES_AHEAD < plan->wave_count) {
                __builtin_prefetch(&set->waves[order[k + VYRE_PLAN_WAVES_AHEAD]]);
            }
            vyre_plan_sums_add(&sums, &set->waves[order[k]]);
        }
        vyre_plan_raise_peaks(plan, &sums);
    }
}

vyre_status vyre_plan_barriers(vyre_planner *planner, uint32_t wave_count,
                               const vyre_wave_dep *deps, size_t dep_count, vyre_plan *out_plan,
                               vyre_diag *diag) {
    if (!planner || !out_plan || (dep_count && !deps)) {
        return bad_call(diag, "planner, deps or out_plan is NULL");
    }
    vyre_wave_set set = {.wave_count = wave_count, .deps = deps, .dep_count = dep_count};
    vyre_plan_graph graph;
    const uint32_t workers = vyre_plan_workers(planner, dep_count);
    vyre_status status = begin(planner, &set, workers, 0, diag);
    vyre_plan_walk walk = {.order = planner->order.data, .layer_start = planner->start.data};
    if (status == VYRE_OK) {
        status = vyre_plan_graph_lists(planner, &set, workers, &walk, diag);
    }
    if (status == VYRE_OK) {
        vyre_plan_graph_walk(wave_count, &walk);
        status = vyre_plan_graph_finish(planner, &set, &walk, &graph, diag);
    }
    if (status == VYRE_OK) {
        *out_plan = (vyre_plan){.mode = VYRE_PLAN_BARRIERS,
                                .wave_count = wave_count,
                                .group_count = graph.layer_count,
                                .lower_bound = graph.layer_count};
        finish_groups(planner, out_plan);
    }
    return status;
}

/* At least as many groups as the bytes fill: poured in without regard to the borders of waves,
 * which needs no sum that could overflow. */
static uint32_t groups_filled(uint32_t count, const uint64_t *cost, uint64_t capacity) {
    uint32_t full = 0;
    uint64_t room = 0;
    for (uint32_t w = 0; w < count; w++) {
        const uint64_t more = cost[w] > room ? capacity : 0; /* no branch: nobody foresees it */
        full += cost[w] > room;
        room += more - cost[w];
    }
    return full;
}

/* The layered plan, which one worker makes while another walks. */
typedef struct layered {
    const vyre_wave_set *set;
    vyre_plan_walk walk;
    vyre_plan_cut cut;
    uint64_t *cost;
    vyre_plan plan;
    bool all_fit; /* else there is nothing but costs, and not all of them */
} layered;

static void follow(layered *l) {
    for (uint32_t done = 0, now = 0; !(now & VYRE_PLAN_WALK_ENDED);) {
        now = vyre_word_await(&l->walk.told, ~(uint32_t)0, now, VYRE_PATIENCE_OWN_CORE);
        const uint32_t end = now & ~VYRE_PLAN_WALK_ENDED;
        vyre_plan_cut_layers(&l->cut, done, end, &l->plan);
        done = end;
    }
}

static void layered_job(vyre_worker *me, void *arg) {
    layered *l = arg;
    if (me->number == 0) {
        vyre_plan_graph_walk(l->set->wave_count, &l->walk);
    }
    if (me->number == (me->count > 1) && l->set->resident_graph_bytes <= l->set->budget_bytes) {
        l->all_fit = vyre_plan_costs(l->set, l->cut.capacity, l->cost);
        if (l->all_fit) {
            l->plan.lower_bound = groups_filled(l->set->wave_count, l->cost, l->cut.capacity);
            follow(l);
        }
    }
}

/* Takes what the layered plan needs and makes it; the graph is that of its layers. */
static vyre_status make_layered(vyre_planner *planner, uint32_t workers, layered *l,
                                vyre_plan_graph *out_graph, vyre_diag *diag) {
    const vyre_wave_set *set = l->set;
    uint32_t count = set->wave_count;
    vyre_status status = begin(planner, set, workers,
                               vyre_planner_need((size_t)count + 1, sizeof(uint32_t)) +
                                   vyre_planner_need(count, sizeof(uint64_t)),
                               diag);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t *layer_start =
        vyre_planner_take(planner, (size_t)count + 1, sizeof *layer_start, "layers");
    l->cost = layer_start ? vyre_planner_take(planner, count, sizeof *l->cost, "costs") : NULL;
    if (!l->cost) {
        return vyre_planner_storage(planner, diag);
    }
    l->walk = (vyre_plan_walk){.order = planner->order.data, .layer_start = layer_start};
    l->cut = (vyre_plan_cut){.waves = set->waves,
                             .order = planner->order.data,
                             .layer_start = layer_start,
                             .capacity = set->budget_bytes - set->resident_graph_bytes,
                             .group_start = planner->start.data};
    status = vyre_plan_graph_lists(planner, set, workers, &l->walk, diag);
    if (status == VYRE_OK) {
        vyre_plan_run(planner, workers < 2 ? workers : 2, layered_job, l);
        status = vyre_plan_graph_finish(planner, set, &l->walk, out_graph, diag);
    }
    if (status == VYRE_OK && !l->all_fit) {
        status = vyre_plan_costs_fail(planner, set, out_graph->order, diag);
    }
    return status;
}

static vyre_status plan_waves(vyre_planner *planner, const vyre_wave_set *set,
                              const vyre_plan_options *options, vyre_plan *plan, vyre_diag *diag) {
    layered l = {.set = set, .plan = {.mode = options->mode, .wave_count = set->wave_count}};
    vyre_plan_graph graph = {0};
    vyre_status status =
        make_layered(planner, vyre_plan_workers(planner, set->dep_count), &l, &graph, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_plan made = l.plan;
    if (made.lower_bound < graph.layer_count) {
        made.lower_bound = graph.layer_count; /* the critical path */
    }
    if (options->mode == VYRE_PLAN_PACKED && made.group_count > 0) {
        status = vyre_plan_packed(planner, &graph, l.cost, l.cut.capacity, options, &made, diag);
        if (status != VYRE_OK) {
            return status;
        }
        find_peaks(planner, set, &made);
    }
    finish_groups(planner, &made);
    made.readback = set->readback_bytes;
    raise(&made.readback, made.peak_output);
    *plan = made;
    return VYRE_OK;
}

vyre_status vyre_plan_waves(vyre_planner *planner, const vyre_wave_set *set,
                            const vyre_plan_options *options, vyre_plan *out_plan,
                            vyre_diag *diag) {
    if (!planner || !set || !out_plan || (set->wave_count && !set->waves) ||
        (set->dep_count && !set->deps)) {
        return bad_call(diag, "planner, set, its arrays or out_plan is NULL");
    }
    vyre_plan_options chosen = options ? *options : (vyre_plan_options){0};
    if (chosen.mode != VYRE_PLAN_PACKED && chosen.mode != VYRE_PLAN_LAYERED) {
        return bad_call(diag, "the mode must be packed or layered");
    }
    return plan_waves(planner, set, &chosen, out_plan, diag);
}
