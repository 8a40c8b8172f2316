/* Bounds made explicit, for devices whose accesses are not tested. What ranges prove to be inside
 * stays as it is; of the rest
 *
 *     x = m[i];               ->  let at = i; x = select(at < len(m), m[select(at < len(m), at,
 * 0)], 0); m[i] = v;               ->  let at = i; if (at < len(m)) { m[at] = v; } let o =
 * atomic(m[i]);   ->  let at = i; let o = 0; if (at < len(m)) { let r = atomic(m[at]); o = r; }
 *
 * Right because a load outside gives 0, a store there does nothing, and an atomic does nothing and
 * gives 0. The load stays an expression, so control is as it was; of memory without elements it
 * reads the element 0, which a device that asks for this must have room for. Copies are tested
 * by whoever does them: they are no accesses of a lane. Cost: ranges, and one copy. */
#include "analysis/range.h"
#include "base/diag.h"
#include "lower/capabilities.h"
#include "lower/hoist.h"
#include "lower/rewrites.h"

/* Loads */

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    return p->exprs[expr].op == VYRE_EXPR_LOAD && !vyre_ranges_load_inside(user, expr);
}

/* The index, bound to a name unless it is a leaf. */
static vyre_expr bound_index(vyre_each *each, vyre_expr source, vyre_expr index) {
    vyre_builder *to = each->rw.to;
    if (vyre_expr_info_of((vyre_expr_op)each->rw.p->exprs[source].op)->arity == 0) {
        return index;
    }
    return vyre_build_var(to, vyre_build_let(to, vyre_each_name(each, "at"), index));
}

static vyre_expr is_inside(vyre_builder *to, vyre_expr index, vyre_decl memory) {
    const vyre_expr length = vyre_build_len(to, memory);
    return vyre_build_op(to, VYRE_EXPR_LT, index, length, VYRE_NONE);
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    (void)user;
    vyre_builder *to = each->rw.to;
    const vyre_expr_node *e = &each->rw.p->exprs[expr];
    const vyre_decl memory = each->rw.decls[e->ref];
    const vyre_expr index = bound_index(each, e->u.arg[0], operands[0]);
    const vyre_expr inside = is_inside(to, index, memory);
    const vyre_expr first = vyre_build_u32(to, 0);
    const vyre_expr_node *constant = &each->rw.p->exprs[e->u.arg[0]];
    const vyre_expr safe = constant->op == VYRE_EXPR_LITERAL && constant->u.bits == 0
                               ? first
                               : vyre_build_op(to, VYRE_EXPR_SELECT, inside, index, first);
    const vyre_expr zero = vyre_build_literal(to, (vyre_type)e->type, 0);
    return vyre_build_op(to, VYRE_EXPR_SELECT, inside, vyre_build_load(to, memory, safe), zero);
}

/* Stores and atomics */

static bool is_access(const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC;
}

static vyre_expr operand(vyre_each *each, vyre_expr source) {
    return source == VYRE_NONE ? VYRE_NONE : vyre_rewrite_expr(&each->rw, source);
}

static void guarded_atomic(vyre_each *each, const vyre_stmt_node *s, vyre_expr index,
                           vyre_expr value, vyre_expr expected) {
    vyre_builder *to = each->rw.to;
    const vyre_decl memory = each->rw.decls[s->decl];
    const vyre_var_node *var = s->var == VYRE_NONE ? NULL : &each->rw.p->vars[s->var];
    if (var) {
        const vyre_expr zero = vyre_build_literal(to, (vyre_type)var->type, 0);
        each->rw.vars[s->var] = vyre_build_let(to, var->name, zero);
    }
    vyre_build_if(to, is_inside(to, index, memory));
    const vyre_var old =
        vyre_build_atomic(to, var ? vyre_each_name(each, var->name) : NULL, (vyre_atomic_op)s->sub,
                          memory, index, expected, value, (vyre_ordering)s->ordering);
    if (var) {
        vyre_build_assign(to, each->rw.vars[s->var], vyre_build_var(to, old));
    }
    vyre_build_end(to);
}

static bool replace_stmt(vyre_each *each, vyre_stmt stmt, const void *user) {
    const vyre_stmt_node *s = &each->rw.p->stmts[stmt];
    vyre_builder *to = each->rw.to;
    if (!is_access(s) || vyre_ranges_access_inside(user, stmt)) {
        return false;
    }
    vyre_builder_at(to, vyre_program_stmt_place(each->rw.source, stmt));
    const vyre_expr index = bound_index(each, s->arg[0], operand(each, s->arg[0]));
    const vyre_expr value = operand(each, s->arg[1]), expected = operand(each, s->arg[2]);
    if (s->op == VYRE_STMT_ATOMIC) {
        guarded_atomic(each, s, index, value, expected);
        return true;
    }
    vyre_build_if(to, is_inside(to, index, each->rw.decls[s->decl]));
    vyre_build_store(to, each->rw.decls[s->decl], index, value);
    vyre_build_end(to);
    return true;
}

vyre_status vyre_lower_bounds(vyre_program *program, const vyre_capabilities *can,
                              const vyre_allocator *a, vyre_program **out_program,
                              vyre_diag *diag) {
    static const vyre_hoist_rewrite rewrite = {
        .concerns = concerns, .replace = replace, .replace_stmt = replace_stmt};
    const vyre_program_view *p = vyre_program_get(program);
    vyre_ranges *ranges = NULL;
    if (can->checks_bounds) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    if (vyre_ranges_create(program, a, &ranges) != VYRE_OK) {
        return vyre_fail_memory(diag, "the ranges of a program");
    }
    bool any = false;
    for (vyre_stmt s = p->entry; s < p->stmt_count && !any; s++) {
        any = is_access(&p->stmts[s]) && !vyre_ranges_access_inside(ranges, s);
    }
    const vyre_status status = vyre_hoist(program, &rewrite, ranges, any, a, out_program, diag);
    vyre_ranges_destroy(ranges);
    return status;
}
