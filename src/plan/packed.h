/* Mode packed: the parts of it. */
#ifndef VYRE_SRC_PLAN_PACKED_H
#define VYRE_SRC_PLAN_PACKED_H
#include "plan/planner.h"
vyre_status vyre_plan_packed(vyre_planner *planner, const vyre_plan_graph *graph,
                             const uint64_t *cost, uint64_t capacity,
                             const vyre_plan_options *options, vyre_plan *plan, vyre_diag *diag);
#endif
