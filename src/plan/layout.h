/* Byte offsets for buffers with lifetimes, in one arena: dynamic storage allocation. */
#ifndef VYRE_SRC_PLAN_LAYOUT_H
#define VYRE_SRC_PLAN_LAYOUT_H

#include "plan/planner.h"

/* Lives from group `first` to group `last`; sizes are positive. */
typedef struct vyre_plan_buffer {
    uint64_t size;
    uint64_t offset;
    uint32_t first, last;
} vyre_plan_buffer;

typedef struct vyre_plan_layout {
    vyre_plan_buffer *buffer; /* in ascending order of `first` */
    uint32_t count;
    uint32_t groups;
    uint64_t base;        /* offsets begin here */
    uint64_t lower_bound; /* no arena is smaller */
    uint64_t arena;       /* of the offsets in `buffer` */
} vyre_plan_layout;

/* Each of these gives offsets; the second and third only change them for the better. */

/* layout_sweep.c: an allocator run over the schedule; any size, O(buffers). */
vyre_status vyre_plan_layout_sweep(vyre_planner *planner, vyre_plan_layout *layout,
                                   vyre_diag *diag);
/* layout_search.c: large buffers first into the lowest gap, in several orders; O(buffers^2). */
vyre_status vyre_plan_layout_greedy(vyre_planner *planner, vyre_plan_layout *layout,
                                    vyre_diag *diag);
/* layout_search.c: the smallest arena, for up to VYRE_LAYOUT_EXACT buffers; raises lower_bound to
 * the arena when it proves that there is no smaller one within node_limit steps. */
enum { VYRE_LAYOUT_EXACT = 64, VYRE_LAYOUT_GREEDY = 4096 };
vyre_status vyre_plan_layout_search(vyre_planner *planner, vyre_plan_layout *layout,
                                    uint64_t node_limit, vyre_diag *diag);

#endif
