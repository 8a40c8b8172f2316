/* Mode packed. */
#include "plan/packed.h"
vyre_status vyre_plan_packed(vyre_planner *planner, const vyre_plan_graph *graph,
                             const uint64_t *cost, uint64_t capacity,
                             const vyre_plan_options *options, vyre_plan *plan, vyre_diag *diag) {
    (void)planner, (void)graph, (void)cost, (void)capacity, (void)options, (void)plan, (void)diag;
    return VYRE_OK;
}
