/* Replacing expressions by statements. */
#include "lower/hoist.h"

typedef struct hoisting {
    const vyre_hoist_rewrite *rewrite;
    const void *user;
} hoisting;

static bool concerns_any(const hoisting *h, const vyre_program_view *p, vyre_expr first,
                         vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        if (h->rewrite->concerns(p, e, h->user)) {
            return true;
        }
    }
    return false;
}

static vyre_expr replace_expr(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                              void *user) {
    vyre_each *each = user;
    const hoisting *h = each->user;
    return h->rewrite->concerns(rw->p, expr, h->user)
               ? h->rewrite->replace(each, expr, operands, h->user)
               : VYRE_NONE;
}

static void begin(vyre_each *each) {
    const hoisting *h = each->user;
    if (h->rewrite->begin) {
        h->rewrite->begin(each, h->user);
    }
    each->rw.replace = replace_expr;
    each->rw.user = each;
}

static bool replace_stmt(vyre_each *each, vyre_stmt s) {
    const hoisting *h = each->user;
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[s];
    vyre_builder *to = rw->to;
    if (h->rewrite->replace_stmt && h->rewrite->replace_stmt(each, s, h->user)) {
        return true;
    }
    if (n->op != VYRE_STMT_WHILE || !concerns_any(h, rw->p, n->first_expr, n->end_expr)) {
        return false;
    }
    vyre_builder_at(to, vyre_program_stmt_place(rw->source, s));
    vyre_build_while(to, vyre_build_bool(to, true));
    vyre_expr condition = vyre_rewrite_expr(rw, n->arg[0]);
    vyre_build_if(to, vyre_build_op(to, VYRE_EXPR_NOT, condition, VYRE_NONE, VYRE_NONE));
    vyre_build_break(to);
    vyre_build_end(to);
    return true;
}

vyre_status vyre_hoist(vyre_program *program, const vyre_hoist_rewrite *rewrite, const void *user,
                       bool any, const vyre_allocator *a, vyre_program **out_program,
                       vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    hoisting h = {rewrite, user};
    for (vyre_stmt s = p->entry; s < p->stmt_count && !any; s++) {
        any = concerns_any(&h, p, p->stmts[s].first_expr, p->stmts[s].end_expr);
    }
    if (any) {
        return vyre_each_rewrite(program, begin, replace_stmt, &h, a, out_program, diag);
    }
    *out_program = vyre_program_retain(program);
    return VYRE_OK;
}
