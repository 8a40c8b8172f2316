/* What came of queued launches, added up in their order. Only the first interval with a trap
 * counts, as if nothing had been launched behind its grid barrier; launches of an interval are in
 * no order to each other, so that of their traps the lowest lane is told, and a failure in it is
 * worse than a trap. */
#include "vyre/backend.h"

/* Whether it would not have been launched, had all before been known. */
static bool is_behind(const vyre_launch_results *r, const vyre_launch *launch) {
    return r->status != VYRE_OK && (r->status != VYRE_TRAP || launch->interval > r->interval);
}

void vyre_launch_results_add(vyre_launch_results *r, const vyre_launch *launch, vyre_status status,
                             const vyre_launch_result *result, const vyre_diag *diag) {
    r->launches++;
    r->device_ns += result->device_ns;
    r->untimed += result->device_ns == 0;
    if (status == VYRE_OK || is_behind(r, launch) ||
        (status == VYRE_TRAP && r->status == VYRE_TRAP && result->trap_lane >= r->trap_lane)) {
        return;
    }
    r->status = status;
    r->interval = launch->interval;
    r->segment = launch->segment;
    r->trap_lane = result->trap_lane;
    r->diag = *diag;
}
