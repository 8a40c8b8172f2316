/* Turning comes when needless barriers are gone: it must not be taken for one that somebody needs,
 * nor be removed. Turned loops are loops with a barrier, so jumps in them that not all lanes take
 * and copies that are pending at them are lowered, and what that adds are variables like others,
 * whose versions are taken apart again. What can't be lowered so is not turned.
 *
 * Statements are found again by their order: rewrites keep that of statements at which the grid
 * waits. */
#include "split/turn.h"

#include "base/diag.h"
#include "ir/waits.h"
#include "lower/lower_async.h"
#include "lower/lower_continue.h"
#include "opt/opt_trips.h"
#include "opt/webs.h"

/* The next statement from `s` on at which the grid waits, or stmt_count. */
static vyre_stmt next_wait(const vyre_program_view *p, vyre_stmt s) {
    while (s < p->stmt_count && !vyre_waits_for_grid(p->stmts[s].op)) {
        s++;
    }
    return s;
}

/* Barriers that were kept and cuts, as statements of the source as it is now. */
static bool find_again(vyre_module *m, const vyre_program_view *before,
                       const vyre_program_view *turned, const vyre_trips *trips) {
    const vyre_program_view *now = vyre_program_get(m->source);
    uint32_t cut = 0, kept = 0;
    vyre_stmt old = before->entry, at = now->entry;
    for (vyre_stmt s = next_wait(turned, turned->entry); s < turned->stmt_count;
         s = next_wait(turned, s + 1), at++) {
        at = next_wait(now, at);
        if (cut < trips->cuts.count && trips->cuts.data[cut] == s) {
            cut++;
            if (!vyre_vec_push(&m->allocator, &m->cuts, at)) {
                return false;
            }
            continue;
        }
        old = next_wait(before, old);
        if (kept < m->barriers.kept.count && m->barriers.kept.data[kept].stmt == old) {
            m->barriers.kept.data[kept++].stmt = at;
        }
        old++;
    }
    return true;
}

/* The largest global_size.x for which the turned loops are right. */
static uint32_t widest(const vyre_trips *trips) {
    const uint32_t by_offset = UINT32_MAX - trips->most_offset;
    const uint32_t by_strides = trips->most_strides ? UINT32_MAX / trips->most_strides : UINT32_MAX;
    return by_offset < by_strides ? by_offset : by_strides;
}

static vyre_status take(vyre_module *m, vyre_program *turned, const vyre_trips *trips,
                        vyre_diag *diag) {
    const vyre_allocator *a = &m->allocator;
    vyre_program *copied = NULL, *lowered = NULL, *apart = NULL, *before = m->source;
    vyre_var *origin = NULL;
    vyre_diag refusal = {0};
    vyre_status status = vyre_lower_async(turned, VYRE_SPLIT_SCOPE_GRID, a, &copied, &refusal);
    if (status == VYRE_OK) {
        status = vyre_lower_continue(copied, VYRE_SPLIT_SCOPE_GRID, a, &lowered, &refusal);
        vyre_program_release(copied);
    }
    if (status == VYRE_UNSUPPORTED || status == VYRE_LIMIT) {
        return VYRE_OK; /* it runs as it is */
    }
    if (status != VYRE_OK && diag) {
        *diag = refusal;
    }
    if (status == VYRE_OK) {
        status = vyre_webs(lowered, a, &apart, &origin, diag);
    }
    if (status != VYRE_OK) {
        vyre_program_release(lowered);
        return status;
    }
    vyre_program_release(m->inlined);
    vyre_free(a, m->origin, m->origin_count, sizeof *m->origin);
    m->inlined = lowered;
    m->source = apart;
    m->origin = origin;
    m->origin_count = vyre_program_get(apart)->var_count;
    m->view.widest = widest(trips);
    if (!find_again(m, vyre_program_get(before), vyre_program_get(turned), trips)) {
        status = vyre_fail_memory(diag, "splitting");
    }
    vyre_program_release(before);
    return status;
}

vyre_status vyre_turn_loops(vyre_module *m, bool known_only, bool together, vyre_diag *diag) {
    const vyre_allocator *a = &m->allocator;
    vyre_program *turned = NULL;
    vyre_trips trips;
    vyre_status status = vyre_opt_trips(m->source, known_only, together, a, &turned, &trips, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = trips.loops > 0 ? take(m, turned, &trips, diag) : VYRE_OK;
    vyre_program_release(turned);
    vyre_trips_finish(&trips, a);
    return status;
}
