/* Statistics. Functions count once, however often they are called. */
#include "ir/stats.h"

#include <string.h>

static void count_expr(const vyre_expr_node *e, vyre_stats *out) {
    out->exprs++;
    out->types |= 1u << e->type;
    if (e->op == VYRE_EXPR_LOAD) {
        out->memory_ops++;
        out->instructions++;
    } else if (e->op == VYRE_EXPR_CAST) {
        out->types |= 1u << e->sub;
    } else if (e->op == VYRE_EXPR_BUILTIN &&
               (e->sub == VYRE_BUILTIN_SUBGROUP_LOCAL_ID || e->sub == VYRE_BUILTIN_SUBGROUP_SIZE)) {
        out->uses_subgroups = true;
    }
}

static void count_stmt(const vyre_program_view *view, const vyre_stmt_node *s, vyre_stats *out) {
    if (s->op == VYRE_STMT_ELSE || s->op == VYRE_STMT_END) {
        return;
    }
    out->statements++;
    out->stmt_kinds |= UINT64_C(1) << s->op;
    const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)s->op);
    switch ((vyre_effects)info->effects) {
    case VYRE_EFFECTS_NONE:
    case VYRE_EFFECTS_VAR:
        out->instructions++;
        out->memory_ops += s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE;
        break;
    case VYRE_EFFECTS_WRITE:
        out->instructions++;
        out->memory_ops++;
        break;
    case VYRE_EFFECTS_ATOMIC:
        out->instructions++;
        out->memory_ops++;
        out->atomic_ops++;
        break;
    case VYRE_EFFECTS_SYNC:
    case VYRE_EFFECTS_FLOW:
        out->instructions++;
        out->control_flow++;
        break;
    case VYRE_EFFECTS_ALL: out->instructions++; break;
    }
    out->uses_subgroups |= s->op == VYRE_STMT_SUBGROUP;
    out->regions += s->op == VYRE_STMT_REGION;
    if (s->op == VYRE_STMT_CALL) {
        out->calls++;
        out->opaque_calls += view->fns[s->fn].opaque;
    }
}

static void count_decls(const vyre_program_view *view, vyre_stats *out) {
    for (uint32_t i = 0; i < view->decl_count; i++) {
        const vyre_decl_node *d = &view->decls[i];
        out->types |= 1u << d->type;
        if (vyre_role_is_buffer((vyre_role)d->role) && d->size != VYRE_NONE &&
            view->exprs[d->size].op == VYRE_EXPR_LITERAL) {
            uint64_t bytes;
            if (__builtin_mul_overflow(view->exprs[d->size].u.bits,
                                       (uint64_t)vyre_type_size((vyre_type)d->type), &bytes) ||
                __builtin_add_overflow(out->static_bytes, bytes, &out->static_bytes)) {
                out->static_bytes = UINT64_MAX;
            }
        }
    }
}

/* What statements the entry body can reach, by a list of the functions found on the way. */
static uint64_t find_reached(const vyre_program_view *view) {
    vyre_fn found[VYRE_LIMIT_FUNCTIONS];
    bool seen[VYRE_LIMIT_FUNCTIONS] = {false};
    uint32_t count = 0, next = 0;
    uint64_t kinds = 0;
    vyre_stmt at = view->entry, end = view->stmt_count;
    for (;;) {
        for (; at < end; at++) {
            const vyre_stmt_node *s = &view->stmts[at];
            kinds |= UINT64_C(1) << s->op;
            if (s->op == VYRE_STMT_CALL && s->fn < VYRE_LIMIT_FUNCTIONS && !seen[s->fn]) {
                seen[s->fn] = true;
                found[count++] = s->fn;
            }
        }
        if (next == count) {
            return kinds;
        }
        const vyre_fn_node *fn = &view->fns[found[next++]];
        at = fn->begin;
        end = fn->end;
    }
}

void vyre_stats_collect(const vyre_program_view *view, vyre_stats *out) {
    memset(out, 0, sizeof *out);
    count_decls(view, out);
    out->reached_kinds = find_reached(view);
    for (uint32_t i = 0; i < view->expr_count; i++) {
        count_expr(&view->exprs[i], out);
    }
    /* Variables visible where each open list began; lists beyond the nesting limit share the last
     * entry, since such programs are refused anyway. */
    uint32_t at_open[VYRE_LIMIT_NESTING + 1] = {0};
    uint32_t nesting = 0, visible = 0;
    for (uint32_t i = 0; i < view->stmt_count; i++) {
        const vyre_stmt_node *s = &view->stmts[i];
        count_stmt(view, s, out);
        uint32_t slot = nesting < VYRE_LIMIT_NESTING ? nesting : VYRE_LIMIT_NESTING;
        switch ((vyre_scope)vyre_stmt_info_of((vyre_stmt_op)s->op)->scope) {
        case VYRE_SCOPE_NONE: break;
        case VYRE_SCOPE_OPEN:
            nesting++;
            at_open[slot < VYRE_LIMIT_NESTING ? slot + 1 : slot] = visible;
            break;
        case VYRE_SCOPE_ELSE: visible = at_open[slot]; break;
        case VYRE_SCOPE_END:
            visible = at_open[slot];
            nesting--;
            break;
        }
        visible += s->var != VYRE_NONE && s->op != VYRE_STMT_ASSIGN;
        if (nesting > out->max_nesting) {
            out->max_nesting = nesting;
        }
        if (visible > out->max_visible_vars) {
            out->max_visible_vars = visible;
        }
    }
}
