/* Walking a schedule, without a device. */
#include "kit/walk.h"

#include "base/clock.h"
#include "base/diag.h"
#include "base/mutant.h"
#include "kit/cancel.h"

vyre_walk vyre_walk_begin(const vyre_module *module) {
    return (vyre_walk){.module = vyre_module_get(module), .tick = 1};
}

void vyre_walk_advance(vyre_walk *w, uint32_t word) {
    const vyre_step *step = &w->module->steps[w->at];
    bool decides = vyre_step_decides(step);
    bool dead = decides && VYRE_MUTANT(schedule_dead_decide, word / 2 != w->tick, false);
    if (step->kind == VYRE_STEP_END || dead) {
        w->at = VYRE_NONE;
        return;
    }
    w->at = step->kind == VYRE_STEP_BRANCH && word % 2 == 0 ? step->otherwise : step->next;
    if (decides) {
        w->expect = word;
        w->turned = !w->turned;
    }
    w->flipped ^= VYRE_MUTANT(schedule_keeps_places, step->flips, false);
    /* The control word has room for 31 bits; what an old launch wrote is long overwritten. */
    w->tick = w->tick % INT32_MAX + 1;
}

static void bind_memory(const vyre_segment_binding *b, vyre_decl decl, vyre_memory memory) {
    if (decl != VYRE_NONE) {
        b->memory[decl] = memory;
    }
}

static void bind_value(const vyre_segment_binding *b, vyre_decl decl, uint32_t value) {
    if (decl != VYRE_NONE) {
        b->values[decl] = value;
    }
}

vyre_launch vyre_walk_launch(const vyre_walk *w, const vyre_module_launch *pass) {
    const vyre_segment_binding *b = &pass->segments[w->module->steps[w->at].segment];
    bind_memory(b, b->grid, pass->shared[w->flipped]);
    bind_memory(b, b->next, pass->shared[!w->flipped]);
    bind_memory(b, b->turn, pass->control[w->turned]);
    bind_memory(b, b->then, pass->control[vyre_walk_then(w)]);
    bind_value(b, b->tick, w->tick);
    bind_value(b, b->expect, w->expect);
    vyre_launch launch = *pass->source;
    launch.memory = b->memory;
    launch.counts = b->counts;
    launch.values = b->values;
    return launch;
}

vyre_collective_copy vyre_walk_collective(const vyre_module *module, vyre_stmt stmt,
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
    if (!trap->happened || VYRE_MUTANT(trap_keeps_first, lane < trap->lane, false)) {
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

vyre_status vyre_launch_check_steps(const vyre_launch *launch, uint64_t steps, vyre_diag *diag) {
    return launch->max_steps && steps >= launch->max_steps
               ? vyre_fail(diag, VYRE_STEP_BUDGET, "allow more steps, or do less",
                           "the dispatch used up its %llu steps",
                           (unsigned long long)launch->max_steps)
               : VYRE_OK;
}
