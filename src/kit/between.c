/* What whoever runs a schedule does between launches: collectives, traps, limits. */
#include "base/clock.h"
#include "base/diag.h"
#include "kit/cancel.h"
#include "vyre/schedule.h"

vyre_collective_copy vyre_collective_on_one_rank(const vyre_module *module, vyre_stmt stmt,
                                                 const uint32_t *counts) {
    const vyre_program_view *p = vyre_program_get(vyre_module_get(module)->source);
    vyre_decl from = p->stmts[stmt].decl, to = p->stmts[stmt].decl2;
    if (to == VYRE_NONE) {
        return (vyre_collective_copy){to, from, 0};
    }
    uint32_t count = counts[from] < counts[to] ? counts[from] : counts[to];
    return (vyre_collective_copy){to, from,
                                  (uint64_t)count * vyre_type_size((vyre_type)p->decls[to].type)};
}

vyre_status vyre_trap_note(vyre_trap *trap, uint64_t lane, const vyre_diag *diag) {
    if (!trap->happened || lane < trap->lane) {
        trap->lane = lane;
        trap->diag = diag ? *diag : (vyre_diag){.severity = VYRE_ERROR};
    }
    trap->happened = true;
    return VYRE_OK;
}

vyre_status vyre_trap_report(const vyre_trap *trap, vyre_diag *diag) {
    if (trap->happened && diag) {
        *diag = trap->diag;
    }
    return trap->happened ? VYRE_TRAP : VYRE_OK;
}

vyre_status vyre_launch_check_time(const vyre_launch *launch, vyre_diag *diag) {
    if (vyre_cancel_is_requested(launch->cancel)) {
        return vyre_fail(diag, VYRE_CANCELLED, NULL, "the dispatch was cancelled");
    }
    if (launch->deadline_ns && vyre_clock_now() >= launch->deadline_ns) {
        return vyre_fail(diag, VYRE_TIMEOUT, "allow more time, or do less",
                         "the dispatch took too long");
    }
    return VYRE_OK;
}

void vyre_launch_progress(const vyre_launch *launch, uint64_t launches, uint64_t barriers) {
    vyre_progress *progress = launch->progress;
    if (progress) {
        (void)__atomic_fetch_add(&progress->launches, launches, __ATOMIC_RELAXED);
        (void)__atomic_fetch_add(&progress->barriers, barriers, __ATOMIC_RELAXED);
    }
}

vyre_progress vyre_progress_read(const vyre_progress *progress) {
    return (vyre_progress){__atomic_load_n(&progress->passes, __ATOMIC_RELAXED),
                           __atomic_load_n(&progress->launches, __ATOMIC_RELAXED),
                           __atomic_load_n(&progress->barriers, __ATOMIC_RELAXED)};
}

vyre_status vyre_launch_check_steps(const vyre_launch *launch, uint64_t steps, vyre_diag *diag) {
    return launch->max_steps && steps >= launch->max_steps
               ? vyre_fail(diag, VYRE_STEP_BUDGET, "allow more steps, or do less",
                           "the dispatch used up its %llu steps",
                           (unsigned long long)launch->max_steps)
               : VYRE_OK;
}
