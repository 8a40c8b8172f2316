/* Mode packed: bounds first, then heuristics from the layered plan on, then search, each only while
 * the plan is above the bound; at the end the largest group is lowered. */
#include "plan/packed.h"

#include <string.h>

bool vyre_pack_stop(vyre_pack *pack, const char *phase) {
    const vyre_plan_options *options = pack->options;
    if (options->cancel && *options->cancel) {
        pack->cancelled = true;
    } else if (options->progress) {
        const vyre_plan_progress progress = {.phase = phase,
                                             .groups = pack->groups,
                                             .lower_bound = pack->lower_bound,
                                             .nodes = pack->nodes,
                                             .node_limit = pack->node_limit};
        options->progress(options->user, &progress);
    }
    return pack->cancelled;
}

bool vyre_pack_init(vyre_planner *planner, const vyre_plan_graph *graph, const uint64_t *cost,
                    uint64_t capacity, const vyre_plan_options *options, vyre_pack *pack) {
    uint32_t count = graph->count;
    *pack = (vyre_pack){.count = count,
                        .words = (count + 63) / 64,
                        .cost = cost,
                        .capacity = capacity,
                        .options = options,
                        .node_limit = options->node_limit ? options->node_limit : VYRE_PLAN_NODES};
    uint32_t *back = vyre_planner_take(planner, count, sizeof *back, "order");
    uint32_t *head = back ? vyre_planner_take(planner, count, sizeof *head, "heads") : NULL;
    uint32_t *tail = head ? vyre_planner_take(planner, count, sizeof *tail, "tails") : NULL;
    pack->group_of =
        tail ? vyre_planner_take(planner, count, sizeof *pack->group_of, "places") : NULL;
    uint32_t *topo =
        pack->group_of ? vyre_planner_take(planner, count, sizeof *topo, "order") : NULL;
    if (!topo) {
        return false;
    }
    memcpy(topo, graph->order, count * sizeof *topo);
    for (uint32_t k = 0; k < count; k++) {
        back[k] = topo[count - 1 - k];
    }
    pack->view[0] = (vyre_pack_view){
        .succ = graph->succ, .pred = graph->pred, .topo = topo, .head = head, .tail = tail};
    pack->view[1] = (vyre_pack_view){
        .succ = graph->pred, .pred = graph->succ, .topo = back, .head = tail, .tail = head};
    return true;
}

static void places_from_groups(vyre_pack *pack, const uint32_t *order, const uint32_t *start) {
    for (uint32_t g = 0; g < pack->groups; g++) {
        for (uint32_t k = start[g]; k < start[g + 1]; k++) {
            pack->group_of[order[k]] = g;
        }
    }
}

/* Ascending waves in each group. */
static void groups_from_places(const vyre_pack *pack, uint32_t *order, uint32_t *start) {
    memset(start, 0, ((size_t)pack->groups + 1) * sizeof *start);
    for (uint32_t w = 0; w < pack->count; w++) {
        start[pack->group_of[w] + 1]++;
    }
    for (uint32_t g = 0; g < pack->groups; g++) {
        start[g + 1] += start[g];
    }
    for (uint32_t w = pack->count; w-- > 0;) {
        order[--start[pack->group_of[w] + 1]] = w;
    }
    /* start[g + 1] is now where g begins. */
    memmove(start, start + 1, pack->groups * sizeof *start);
    start[pack->groups] = pack->count;
}

vyre_status vyre_plan_packed(vyre_planner *planner, vyre_plan_graph *graph, const uint64_t *cost,
                             uint64_t capacity, const vyre_plan_options *options, vyre_plan *plan,
                             vyre_diag *diag) {
    vyre_pack pack;
    vyre_status status = vyre_plan_graph_sort(planner, graph, diag);
    if (status == VYRE_OK && !vyre_pack_init(planner, graph, cost, capacity, options, &pack)) {
        status = vyre_planner_storage(planner, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    pack.lower_bound = plan->lower_bound;
    pack.groups = plan->group_count;
    places_from_groups(&pack, planner->order.data, planner->start.data);
    static vyre_status (*const phases[])(vyre_planner *, vyre_pack *, vyre_diag *) = {
        vyre_pack_bound, vyre_pack_fit, vyre_pack_fill, vyre_pack_search, vyre_pack_flatten};
    for (size_t i = 0; i < sizeof phases / sizeof phases[0] && status == VYRE_OK; i++) {
        status = phases[i](planner, &pack, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    groups_from_places(&pack, planner->order.data, planner->start.data);
    plan->group_count = pack.groups;
    plan->lower_bound = pack.lower_bound;
    plan->nodes = pack.nodes;
    plan->cancelled = pack.cancelled;
    return VYRE_OK;
}
