/* Loads that a group makes again in its next trip, far behind those of this one:
 *
 *     for (tile in group_id.x .. tiles step num_groups.x) { ... x[tile * 256 + local_id.x] ... }
 *
 * Groups run one after the other, each with all its trips; a trip is short, and the next one begins
 * num_groups * 256 elements on, where no processor looks by itself. So code of the parts of such a
 * loop asks for the elements of a later trip while it loads those of this one. That only asks:
 * nothing depends on whether there is such a trip, or on the index not wrapping. */
#include "analysis/range.h"
#include "backend/cpu/kernel.h"

/* 1 + the axis, if all that the variable ever is assigned is num_groups along one; else 0. */
static uint32_t groups_of(const vyre_program_view *control, vyre_var var) {
    uint32_t axis = 0;
    for (vyre_stmt s = control->entry; s < control->stmt_count; s++) {
        if (control->stmts[s].op != VYRE_STMT_ASSIGN || control->stmts[s].var != var) {
            continue; /* a LET declares it */
        }
        const vyre_expr_node *x = &control->exprs[control->stmts[s].arg[0]];
        const bool is_groups = x->op == VYRE_EXPR_BUILTIN && x->sub == VYRE_BUILTIN_NUM_GROUPS;
        if (!is_groups || (axis && axis != 1U + x->axis)) {
            return 0;
        }
        axis = 1U + x->axis;
    }
    return axis;
}

/* Likewise, of what the schedule adds to the scalar: s = s + step. */
static uint32_t step_of(const vyre_program_view *control, vyre_var scalar) {
    for (vyre_stmt s = control->entry; s < control->stmt_count; s++) {
        const vyre_stmt_node *n = &control->stmts[s];
        const vyre_expr_node *sum = n->var == scalar ? &control->exprs[n->arg[0]] : NULL;
        if (!sum || sum->op != VYRE_EXPR_ADD) {
            continue;
        }
        const vyre_expr_node *x = &control->exprs[sum->u.arg[0]];
        const vyre_expr_node *y = &control->exprs[sum->u.arg[1]];
        if (x->op == VYRE_EXPR_VAR && x->ref == scalar && y->op == VYRE_EXPR_VAR) {
            return groups_of(control, y->ref);
        }
    }
    return 0;
}

/* By which the index grows from trip to trip, in groups of the grid. */
static cpu_ahead ahead_of(const cpu_emit *e, const vyre_program_view *control,
                          const vyre_ranges *ranges, const vyre_affine *index) {
    for (uint32_t i = 0; i < index->count; i++) {
        const vyre_symbol *symbol = vyre_ranges_symbol(ranges, index->symbols[i]);
        if (symbol->kind == VYRE_SYMBOL_PARAM &&
            e->bindings[symbol->ref].meaning == CPU_IS_SCALAR && index->factors[i] > 0 &&
            index->factors[i] <= INT32_MAX) {
            return (cpu_ahead){.factor = (uint32_t)index->factors[i],
                               .axis = step_of(control, e->bindings[symbol->ref].number)};
        }
    }
    return (cpu_ahead){0};
}

void cpu_find_aheads(cpu_emit *e, const cpu_group *group, const vyre_ranges *ranges) {
    const vyre_program_view *p = e->p;
    if (!group->module) {
        return;
    }
    const vyre_program_view *control = vyre_program_get(vyre_module_get(group->module)->control);
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        for (vyre_expr k = p->stmts[s].first_expr; k < p->stmts[s].end_expr; k++) {
            vyre_index_form form;
            if (p->exprs[k].op == VYRE_EXPR_LOAD &&
                e->bindings[p->exprs[k].ref].meaning == CPU_IS_BUFFER &&
                vyre_ranges_index(ranges, p->exprs[k].u.arg[0], VYRE_NONE, &form)) {
                e->aheads[k] = ahead_of(e, control, ranges, &form.base);
            }
        }
    }
}

bool cpu_is_ahead(const cpu_emit *e, vyre_expr load) {
    return e->aheads[load].axis != 0;
}

cpu_value cpu_ahead_bytes(cpu_emit *e, vyre_expr load, uint32_t size) {
    enum { TRIPS = 2 }; /* one of them takes less time than memory does */
    const cpu_ahead *ahead = &e->aheads[load];
    cpu_note(e, e->stmt, "prefetch",
             "what later trips load because groups step over the tiles of all others");
    cpu_value groups =
        cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %%n%c to i64", "xyz"[ahead->axis - 1]);
    return cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %llu", groups.text,
                   TRIPS * (unsigned long long)ahead->factor * size);
}
