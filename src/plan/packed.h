/* Mode packed: waves as items of a bin packing with precedence, and the parts that solve it.
 *
 * head[w] and tail[w] say how many groups must lie before and after the group of w; a plan of K
 * groups puts w at a place in [head, K - 1 - tail]. Everything is symmetric under turning all
 * dependencies round, so each part works on a view and is run on both. */
#ifndef VYRE_SRC_PLAN_PACKED_H
#define VYRE_SRC_PLAN_PACKED_H

#include "plan/planner.h"

enum {
    VYRE_PACK_MEASURES = 6,
    /* Up to this many waves the sets of all descendants are kept (n^2 / 4 bytes). */
    VYRE_PACK_CLOSURE_MAX = 2048
};

/* A measure gives each wave a weight such that the weights of any group that fits add up to at
 * most `limit`. So weight of a set / limit is a lower bound on its groups: by bytes, by counting
 * the waves above half the capacity, and so on. Sums never overflow: limits are below 2^36. */
typedef struct vyre_pack_measure {
    uint64_t limit;
    uint64_t *weight;
} vyre_pack_measure;

typedef struct vyre_pack_view {
    vyre_plan_edges succ, pred;
    const uint32_t *topo;        /* predecessors first */
    uint32_t *head, *tail;       /* as above */
    const uint64_t *descendants; /* count rows of `words` words, or NULL */
} vyre_pack_view;

typedef struct vyre_pack {
    uint32_t count;
    uint32_t words; /* of a set of waves */
    const uint64_t *cost;
    uint64_t capacity;
    vyre_pack_measure measure[VYRE_PACK_MEASURES];
    uint32_t measure_count;
    vyre_pack_view view[2]; /* forward, backward */
    uint32_t lower_bound;
    /* The best plan so far. */
    uint32_t groups;
    uint32_t *group_of;
    /* Limits and reports. */
    const vyre_plan_options *options;
    uint64_t nodes, node_limit;
    bool cancelled;
} vyre_pack;

/* One pour: liquid weights into groups of a limit, without a sum that grows. */
typedef struct vyre_pack_pour {
    uint32_t groups;
    uint64_t room;
} vyre_pack_pour;

static inline void vyre_pack_pour_in(vyre_pack_pour *pour, uint64_t weight, uint64_t limit) {
    if (weight > pour->room) {
        pour->groups++;
        pour->room += limit - weight;
    } else {
        pour->room -= weight;
    }
}

/* packed.c: arrays and views for a sorted graph; no bounds and no plan yet. False when out of
 * memory. */
bool vyre_pack_init(vyre_planner *planner, const vyre_plan_graph *graph, const uint64_t *cost,
                    uint64_t capacity, const vyre_plan_options *options, vyre_pack *out_pack);

/* bounds.c: measures, heads, tails and the lower bound. */
vyre_status vyre_pack_bound(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag);

/* fit.c */

/* Room of `groups` groups, to be searched for the first one that fits. */
typedef struct vyre_pack_rooms {
    uint64_t *room; /* a heap-shaped tree of maxima; leaves from `leaves` on */
    uint32_t leaves;
} vyre_pack_rooms;

typedef struct vyre_pack_fitter {
    vyre_pack_rooms rooms;
    uint32_t *order[2]; /* for each view */
    uint32_t *place;
} vyre_pack_fitter;

/* For plans of at most pack->groups groups. False when out of memory. */
bool vyre_pack_fitter_init(vyre_planner *planner, const vyre_pack *pack, vyre_pack_fitter *fitter);
/* First-fit into groups of that capacity, from the beginning or from the end (back); a plan found
 * becomes the best one. */
bool vyre_pack_try(vyre_pack *pack, vyre_pack_fitter *fitter, bool back, uint32_t groups,
                   uint64_t capacity);
/* Improves the plan by first-fit. */
vyre_status vyre_pack_fit(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag);

/* fill.c: improves the plan by filling group after group. */
vyre_status vyre_pack_fill(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag);

/* flatten.c: lowers the largest group without adding groups. */
vyre_status vyre_pack_flatten(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag);

/* search.c: proves or improves the plan within the limits. */
vyre_status vyre_pack_search(vyre_planner *planner, vyre_pack *pack, vyre_diag *diag);

/* packed.c: called by searches now and then; true when they should stop. */
bool vyre_pack_stop(vyre_pack *pack, const char *phase);

/* All of it. `plan` comes with the layered plan in planner->order and planner->start and its
 * linear-time bound; it is improved. */
vyre_status vyre_plan_packed(vyre_planner *planner, vyre_plan_graph *graph, const uint64_t *cost,
                             uint64_t capacity, const vyre_plan_options *options, vyre_plan *plan,
                             vyre_diag *diag);

#endif
