/* What came of queued launches, added up in their order. Only the first interval with a trap
 * counts, as if nothing had been launched behind its grid barrier; launches of an interval are in
 * no order to each other, so that of their traps the lowest lane is told, and a failure in it is
 * worse than a trap. */
#include "kit/results.h"

#include "base/checked.h"
#include "base/diag.h"
#include "vyre/backend.h"

/* Whether it would not have been launched, had all before been known. */
static bool is_behind(const vyre_launch_results *r, const vyre_launch *launch) {
    return r->status != VYRE_OK && (r->status != VYRE_TRAP || launch->interval > r->interval);
}

vyre_status vyre_device_time_add(uint64_t *sum, uint64_t ns, vyre_diag *diag) {
    return vyre_add_u64(*sum, ns, sum)
               ? VYRE_OK
               : vyre_fail(diag, VYRE_LIMIT, "run fewer passes, or ask the device for its clock",
                           "the device times of the launches add up to more than 2^64 ns");
}

void vyre_launch_results_add(vyre_launch_results *r, const vyre_launch *launch, vyre_status status,
                             const vyre_launch_result *result, const vyre_diag *diag) {
    r->launches++;
    r->untimed += !result->is_timed;
    vyre_diag over;
    if (status == VYRE_OK && result->is_timed) {
        status = vyre_device_time_add(&r->device_ns, result->device_ns, &over);
        diag = &over;
    }
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
