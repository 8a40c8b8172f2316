/* The wave graph: dependencies become adjacency lists (lists.c), and the layers fall out of one
 * breadth-first walk in which the result array is itself the queue. O(waves + deps) time and
 * memory.
 *
 * Right because a wave enters the queue when its last predecessor leaves it: it then stands one
 * layer behind that predecessor, and a wave never entered is on or behind a cycle. */
#include <inttypes.h>
#include <string.h>

#include "plan/planner.h"

/* Lists of random waves miss the cache; their lines are asked for this many waves (of the layer) or
 * edges ahead. */
enum { AHEAD = 24, TOLD_WAVES = 2048 };

static vyre_status bad_edge(vyre_planner *planner, const vyre_wave_set *set, vyre_wave_dep dep,
                            vyre_diag *diag) {
    char label[VYRE_WAVE_LABEL];
    if (dep.before == dep.after && dep.before < set->wave_count) {
        planner->fault.kind = VYRE_PLAN_FAULT_SELF_DEPENDENCY;
        planner->fault.wave = dep.before;
        return vyre_fail(diag, VYRE_INVALID_INPUT, "remove the dependency of the wave on itself",
                         "%s depends on itself", vyre_wave_label(label, set->waves, dep.before));
    }
    planner->fault.kind = VYRE_PLAN_FAULT_INVALID_WAVE;
    planner->fault.wave_count = set->wave_count;
    planner->fault.before = dep.before;
    planner->fault.after = dep.after;
    return vyre_fail(diag, VYRE_INVALID_INPUT,
                     "declare the wave or remove the dependency; waves count from 0",
                     "dependency %" PRIu32 " -> %" PRIu32
                     " names a wave that does not exist (there are %" PRIu32 ")",
                     dep.before, dep.after, set->wave_count);
}

/* Every unscheduled wave has an unscheduled predecessor, so walking back from any of them must
 * come round to a cycle after as many waves as there are. */
static uint32_t wave_on_cycle(const vyre_wave_set *set, const uint32_t *waiting, uint32_t *pred) {
    uint32_t wave = 0;
    for (size_t i = 0; i < set->dep_count; i++) {
        vyre_wave_dep dep = set->deps[i];
        if (waiting[dep.before] && waiting[dep.after]) {
            pred[dep.after] = dep.before;
            wave = dep.after;
        }
    }
    for (uint32_t k = 0; k < set->wave_count; k++) {
        wave = pred[wave];
    }
    return wave;
}

static vyre_status cycle(vyre_planner *planner, const vyre_wave_set *set, uint32_t unscheduled,
                         const uint32_t *waiting, uint32_t *room, vyre_diag *diag) {
    char label[VYRE_WAVE_LABEL];
    planner->fault.kind = VYRE_PLAN_FAULT_CYCLE;
    planner->fault.unscheduled = unscheduled;
    planner->fault.wave = wave_on_cycle(set, waiting, room);
    return vyre_fail(diag, VYRE_INVALID_INPUT,
                     "remove one dependency on the cycle through this wave",
                     "the dependencies form a cycle through %s; %" PRIu32 " waves can never run",
                     vyre_wave_label(label, set->waves, planner->fault.wave), unscheduled);
}

static void tell(vyre_word *told, uint32_t layers) {
    atomic_store(&told->value, layers);
    vyre_word_wake(told);
}

#define VYRE_READY       0u /* so many still to come */
#define VYRE_FIND_LAYERS find_layers
#define VYRE_DEGREE      uint32_t
#include "plan/layers.inc"
#undef VYRE_FIND_LAYERS
#undef VYRE_DEGREE
#define VYRE_FIND_LAYERS find_layers_by_few
#define VYRE_DEGREE      uint8_t
#include "plan/layers.inc"

static vyre_status refuse_size(vyre_planner *planner, const char *field, uint64_t required,
                               uint64_t available, vyre_diag *diag) {
    planner->fault.kind = VYRE_PLAN_FAULT_TOO_LARGE;
    planner->fault.field = field;
    planner->fault.required = required;
    planner->fault.available = available;
    return vyre_fail(diag, VYRE_LIMIT, "split the work into several plans",
                     "%" PRIu64 " %s; a plan holds at most %" PRIu64, required, field, available);
}

vyre_status vyre_plan_graph_limits(vyre_planner *planner, const vyre_wave_set *set,
                                   vyre_diag *diag) {
    if (set->wave_count > VYRE_PLAN_MAX_WAVES) {
        return refuse_size(planner, "waves", set->wave_count, VYRE_PLAN_MAX_WAVES, diag);
    }
    if (set->dep_count > VYRE_PLAN_MAX_DEPS) {
        return refuse_size(planner, "dependencies", set->dep_count, VYRE_PLAN_MAX_DEPS, diag);
    }
    return VYRE_OK;
}

size_t vyre_plan_graph_need(const vyre_wave_set *set, uint32_t workers) {
    return vyre_planner_need((size_t)set->wave_count + 2, sizeof(uint32_t)) +
           vyre_planner_need(set->wave_count, sizeof(uint32_t)) +
           vyre_planner_need(set->dep_count + VYRE_PLAN_LISTS_PAD, sizeof(uint32_t)) +
           vyre_plan_lists_need(set, workers);
}

vyre_status vyre_plan_graph_lists(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers,
                                  vyre_plan_walk *walk, vyre_diag *diag) {
    const uint32_t count = set->wave_count;
    vyre_plan_lists *lists = &walk->lists;
    lists->start = vyre_planner_take_zeroed(planner, (size_t)count + 2, sizeof *lists->start,
                                            "dependency offsets");
    lists->target = lists->start ? vyre_planner_take(planner, set->dep_count + VYRE_PLAN_LISTS_PAD,
                                                     sizeof *lists->target, "dependency targets")
                                 : NULL;
    lists->waiting =
        lists->target
            ? vyre_planner_take_zeroed(planner, count, sizeof *lists->waiting, "dependency counts")
            : NULL;
    if (!lists->waiting || !vyre_plan_lists_make(planner, set, workers, lists)) {
        return vyre_planner_storage(planner, diag);
    }
    return lists->bad ? bad_edge(planner, set, *lists->bad, diag) : VYRE_OK;
}

void vyre_plan_graph_walk(uint32_t wave_count, vyre_plan_walk *walk) {
    const vyre_plan_lists *lists = &walk->lists;
    const vyre_plan_edges succ = {.start = lists->start, .target = lists->target};
    walk->layers = lists->few ? find_layers_by_few(wave_count, succ, lists->few, walk->order,
                                                   walk->layer_start, &walk->told, &walk->placed)
                              : find_layers(wave_count, succ, lists->waiting, walk->order,
                                            walk->layer_start, &walk->told, &walk->placed);
}

vyre_status vyre_plan_graph_finish(vyre_planner *planner, const vyre_wave_set *set,
                                   vyre_plan_walk *walk, vyre_plan_graph *out_graph,
                                   vyre_diag *diag) {
    const uint32_t count = set->wave_count;
    const vyre_plan_lists *lists = &walk->lists;
    if (walk->placed < count) {
        for (uint32_t w = 0; lists->few && w < count; w++) {
            lists->waiting[w] = lists->few[w];
        }
        return cycle(planner, set, count - walk->placed, lists->waiting, walk->order, diag);
    }
    *out_graph = (vyre_plan_graph){.count = count,
                                   .edge_count = (uint32_t)set->dep_count,
                                   .succ = {.start = lists->start, .target = lists->target},
                                   .order = walk->order,
                                   .layer_start = walk->layer_start,
                                   .layer_count = walk->layers};
    return VYRE_OK;
}

/* The edges turned round, each list ascending because sources are visited in ascending order; equal
 * ones are neighbours and kept once. Returns the number of edges kept. */
static uint32_t transpose(uint32_t count, vyre_plan_edges edges, uint32_t *start,
                          uint32_t *source) {
    uint32_t last = edges.start[count];
    memset(start, 0, ((size_t)count + 2) * sizeof *start);
    for (uint32_t e = 0; e < last; e++) {
        start[edges.target[e] + 2]++;
    }
    for (uint32_t w = 0; w < count; w++) {
        start[w + 2] += start[w + 1];
    }
    for (uint32_t w = 0; w < count; w++) {
        for (uint32_t e = edges.start[w]; e < edges.start[w + 1]; e++) {
            if (e + AHEAD < last) {
                __builtin_prefetch(&source[start[edges.target[e + AHEAD] + 1]], 1);
            }
            source[start[edges.target[e] + 1]++] = w;
        }
    }
    uint32_t kept = 0, begin = 0;
    for (uint32_t w = 0; w < count; w++) {
        uint32_t end = start[w + 1], first = kept;
        for (uint32_t e = begin; e < end; e++) {
            if (kept == first || source[kept - 1] != source[e]) {
                source[kept++] = source[e];
            }
        }
        begin = end;
        start[w + 1] = kept;
    }
    return kept;
}

vyre_status vyre_plan_graph_sort(vyre_planner *planner, vyre_plan_graph *graph, vyre_diag *diag) {
    size_t room = (size_t)graph->count + 2;
    uint32_t *start = vyre_planner_take(planner, room, sizeof *start, "predecessor offsets");
    uint32_t *source =
        start ? vyre_planner_take(planner, graph->edge_count, sizeof *source, "predecessors")
              : NULL;
    uint32_t *back_start =
        source ? vyre_planner_take(planner, room, sizeof *back_start, "successor offsets") : NULL;
    if (!back_start) {
        return vyre_planner_storage(planner, diag);
    }
    graph->edge_count = transpose(graph->count, graph->succ, start, source);
    uint32_t *target = vyre_planner_take(planner, graph->edge_count, sizeof *target, "successors");
    if (!target) {
        return vyre_planner_storage(planner, diag);
    }
    graph->pred = (vyre_plan_edges){.start = start, .target = source};
    transpose(graph->count, graph->pred, back_start, target);
    graph->succ = (vyre_plan_edges){.start = back_start, .target = target};
    return VYRE_OK;
}
