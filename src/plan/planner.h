/* Inside of the planner: its memory, the wave graph, and what the parts of a plan share.
 *
 * One planning call runs: lists -> walk, followed by the layered plan -> packed -> finish. The
 * first two use several threads where the problem is large; plans do not depend on how many.
 * Temporary arrays come from a workspace that is forgotten at the end of the call and kept for the
 * next, so that repeated planning does not allocate. Results live in arrays of their own. */
#ifndef VYRE_SRC_PLAN_PLANNER_H
#define VYRE_SRC_PLAN_PLANNER_H

#include "base/alloc.h"
#include "base/diag.h"
#include "kit/team.h"
#include "vyre/plan.h"

enum { VYRE_PLAN_SCRATCH_FACTOR = 4 };

/* A growing array that keeps its memory; `bytes` is what it holds. */
typedef struct vyre_plan_array {
    void *data;
    size_t bytes;
} vyre_plan_array;

struct vyre_planner {
    vyre_allocator allocator;
    vyre_plan_fault fault;
    struct vyre_plan_block *blocks; /* workspace, newest first */
    size_t used;                    /* bytes used in the newest block */
    vyre_plan_array order, start;   /* the plan: waves group after group, where groups begin */
    vyre_plan_array memory;         /* vyre_wave_memory of each wave */
    uint32_t threads;               /* as asked for; 0: ask how many cores there are */
    vyre_team *team;                /* NULL until it is needed */
};

/* ---- memory (planner.c) ---- */

/* Begins a call: forgets the fault and the workspace, and makes sure of `bytes` in one block. */
bool vyre_planner_begin(vyre_planner *planner, size_t bytes);
/* What an array takes up in the workspace; capped, so that a few of them can be added. */
size_t vyre_planner_need(size_t count, size_t size);
/* Workspace for count items, not cleared, valid until the end of the call; NULL when out of
 * memory, and then the fault names the field. */
void *vyre_planner_take(vyre_planner *planner, size_t count, size_t size, const char *field);
void *vyre_planner_take_zeroed(vyre_planner *planner, size_t count, size_t size, const char *field);
/* A place in the workspace to return to. */
typedef struct vyre_plan_mark {
    struct vyre_plan_block *block;
    size_t used;
} vyre_plan_mark;
vyre_plan_mark vyre_planner_mark(const vyre_planner *planner);
/* Gives back what was taken since the mark, except that blocks added meanwhile stay taken. */
void vyre_planner_release(vyre_planner *planner, vyre_plan_mark mark);
/* Makes a result array hold at least count items; contents are lost when it grows. */
bool vyre_planner_hold(vyre_planner *planner, vyre_plan_array *array, size_t count, size_t size,
                       const char *field);
/* The diag for a failed take or hold. */
vyre_status vyre_planner_storage(const vyre_planner *planner, vyre_diag *diag);

/* "wave 3 (name)" for messages; `waves` may be NULL. Long names are cut. */
enum { VYRE_WAVE_LABEL = 96 };
const char *vyre_wave_label(char label[VYRE_WAVE_LABEL], const vyre_wave *waves, uint32_t wave);

/* ---- threads (threads.c) ---- */

/* More would wait for memory, and for the walk, which one thread does. */
enum { VYRE_PLAN_MOST_WORKERS = 16 };

/* How many workers a problem is worth. */
uint32_t vyre_plan_workers(vyre_planner *planner, size_t dep_count);
/* Runs job(worker, arg) on so many workers or fewer, at least on the caller. */
void vyre_plan_run(vyre_planner *planner, uint32_t workers, vyre_team_job job, void *arg);

/* All workers of the job come here before one goes on. */
static inline void vyre_plan_meet(const vyre_worker *me) {
    if (me->count > 1) {
        vyre_barrier_wait(me->barrier, me->number);
    }
}

/* ---- lists (lists.c) ---- */

enum { VYRE_PLAN_LISTS_PAD = 8 };

/* What is behind each wave: target[start[w]] to target[start[w + 1]], in the order of the
 * dependencies; and how many lead to it: few[w], or waiting[w] where few is NULL. */
typedef struct vyre_plan_lists {
    uint32_t *start;   /* wave_count + 2, zeros at first */
    uint32_t *target;  /* dep_count + VYRE_PLAN_LISTS_PAD, which are asked for but not read */
    uint32_t *waiting; /* zeros at first */
    uint8_t *few;
    const vyre_wave_dep *bad; /* the first wrong dependency, and then nothing else holds; or NULL */
} vyre_plan_lists;

/* Workspace that making them with so many workers takes beside those three. */
size_t vyre_plan_lists_need(const vyre_wave_set *set, uint32_t workers);
/* False when out of memory. */
bool vyre_plan_lists_make(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers,
                          vyre_plan_lists *lists);

/* ---- graph (graph.c) ---- */

/* Neighbours of each wave: target[start[w]] to target[start[w + 1]]. */
typedef struct vyre_plan_edges {
    const uint32_t *start;
    const uint32_t *target;
} vyre_plan_edges;

typedef struct vyre_plan_graph {
    uint32_t count;
    uint32_t edge_count;
    vyre_plan_edges succ;
    vyre_plan_edges pred;        /* only after vyre_plan_graph_sort */
    const uint32_t *order;       /* the waves, layer after layer: a topological order */
    const uint32_t *layer_start; /* layer_count + 1 */
    uint32_t layer_count;
} vyre_plan_graph;

/* The walk that finds the layers, which another worker may follow. */
typedef struct vyre_plan_walk {
    vyre_plan_lists lists;
    uint32_t *order;       /* room for wave_count */
    uint32_t *layer_start; /* room for wave_count + 1 */
    uint32_t layers;
    uint32_t placed; /* waves that have a layer */
    /* How many layers are finished and can be read by others; VYRE_PLAN_WALK_ENDED: no more will
     * come. Told after many waves, not after each layer. */
    vyre_word told;
} vyre_plan_walk;
#define VYRE_PLAN_WALK_ENDED ((uint32_t)1 << 31)

/* Refuses problems beyond the limits of the header. */
vyre_status vyre_plan_graph_limits(vyre_planner *planner, const vyre_wave_set *set,
                                   vyre_diag *diag);
/* Workspace that vyre_plan_graph_lists takes with so many workers. */
size_t vyre_plan_graph_need(const vyre_wave_set *set, uint32_t workers);
/* Checks the dependencies and sorts them, with so many workers; order and layer_start are set
 * already. set->waves is used for names only and may be NULL. */
vyre_status vyre_plan_graph_lists(vyre_planner *planner, const vyre_wave_set *set, uint32_t workers,
                                  vyre_plan_walk *walk, vyre_diag *diag);
/* Finds the layers, on the calling thread. */
void vyre_plan_graph_walk(uint32_t wave_count, vyre_plan_walk *walk);
/* The graph after the walk, unless there is a cycle. */
vyre_status vyre_plan_graph_finish(vyre_planner *planner, const vyre_wave_set *set,
                                   vyre_plan_walk *walk, vyre_plan_graph *out_graph,
                                   vyre_diag *diag);
/* Fills in graph->pred, and sorts both directions and drops repeated edges. */
vyre_status vyre_plan_graph_sort(vyre_planner *planner, vyre_plan_graph *graph, vyre_diag *diag);

/* ---- modes ---- */

/* Costs of all waves; false when one of them exceeds 64 bits or the capacity, and then only some
 * are right. */
bool vyre_plan_costs(const vyre_wave_set *set, uint64_t capacity, uint64_t *cost);
/* The error of a set for which they were false, or whose resident graph is over the budget. Waves
 * are examined in the order of the layers. */
vyre_status vyre_plan_costs_fail(vyre_planner *planner, const vyre_wave_set *set,
                                 const uint32_t *order, vyre_diag *diag);

/* What the waves of a group take; no sum overflows, each is at most the capacity. */
typedef struct vyre_plan_sums {
    uint64_t frontier, scratch, output;
} vyre_plan_sums;

static inline void vyre_plan_sums_add(vyre_plan_sums *sums, const vyre_wave *wave) {
    sums->frontier += wave->frontier;
    sums->scratch += wave->scratch;
    sums->output += wave->output;
}

static inline uint64_t vyre_plan_sums_cost(const vyre_plan_sums *sums) {
    return sums->frontier + VYRE_PLAN_SCRATCH_FACTOR * sums->scratch + sums->output;
}

/* Waves in the order of a plan miss the cache; they are asked for so many before. */
enum { VYRE_PLAN_WAVES_AHEAD = 16 };

/* Raises the peaks of a plan to those of one more group (plan.c). */
void vyre_plan_raise_peaks(vyre_plan *plan, const vyre_plan_sums *sums);

/* Next-fit inside each layer, for waves of which each fits. */
typedef struct vyre_plan_cut {
    const vyre_wave *waves;
    const uint32_t *order, *layer_start;
    uint64_t capacity;
    uint32_t *group_start; /* room for wave_count + 1 */
} vyre_plan_cut;
/* Cuts the layers [first, end), those before being cut already: the plan's groups and peaks
 * grow. */
void vyre_plan_cut_layers(const vyre_plan_cut *cut, uint32_t first, uint32_t end, vyre_plan *plan);

#endif
