/* A FOR whose end is u * S, S being its step, makes the same trips for all lanes if that does not
 * wrap (analysis/conditions.h). Whoever runs the program tests that before; then
 *
 *     for (i in a .. e step S)   ->   for (i in a .. e / S * S step S)
 *
 * is the same loop, and even whatever the numbers are: nobody behind needs the condition. */
#include "lower/settle.h"

#include "base/diag.h"
#include "ir/each.h"
#include "ir/program.h"
#include "ir/waits.h"
#include "lower/inline.h"

static bool is_product(const vyre_program_view *p, uint32_t e) {
    return e < p->expr_count && p->exprs[e].op == VYRE_EXPR_MUL;
}

/* Whether some variable may hold a product: a statement gives it one, or a call when it is inlined.
 */
static bool has_products(const vyre_program_view *p) {
    bool found = false;
    for (vyre_stmt s = 0; s < p->stmt_count && !found; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN || n->op == VYRE_STMT_RETURN) {
            found = is_product(p, n->arg[0]);
        }
        for (uint32_t i = 0; n->op == VYRE_STMT_CALL && i < n->arg_count; i++) {
            found |= is_product(p, p->args[n->first_arg + i]); /* or it is the number of a memory */
        }
    }
    return found;
}

/* By the looks of it, whether some loop may need a condition: shapes cost more than a look. */
static bool may_need(const vyre_program_view *p) {
    const bool by_variables = has_products(p);
    for (vyre_stmt s = 0; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op != VYRE_STMT_FOR || n->arg[2] == VYRE_NONE ||
            p->exprs[n->arg[0]].op == VYRE_EXPR_LITERAL ||
            !(is_product(p, n->arg[1]) ||
              (by_variables && p->exprs[n->arg[1]].op == VYRE_EXPR_VAR))) {
            continue;
        }
        for (vyre_stmt i = s + 1; i < n->match; i++) {
            if (p->stmts[i].op == VYRE_STMT_CALL ||
                vyre_waits_of((vyre_stmt_op)p->stmts[i].op) != 0) {
                return true;
            }
        }
    }
    return false;
}

static vyre_expr operation(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    const vyre_condition_list *conditions = each->user;
    const vyre_stmt_node *n = &each->rw.p->stmts[s];
    vyre_builder *b = each->rw.to;
    bool found = false;
    for (uint32_t i = 0; i < conditions->count; i++) {
        found |= conditions->data[i].loop == s;
    }
    if (!found) {
        return false;
    }
    const vyre_expr from = vyre_rewrite_expr(&each->rw, n->arg[0]);
    const vyre_expr step = vyre_rewrite_expr(&each->rw, n->arg[2]);
    const vyre_expr end =
        operation(b, VYRE_EXPR_MUL,
                  operation(b, VYRE_EXPR_DIV, vyre_rewrite_expr(&each->rw, n->arg[1]), step), step);
    vyre_builder_at(b, vyre_program_stmt_place(each->rw.source, s));
    each->rw.vars[n->var] = vyre_build_for(b, each->rw.p->vars[n->var].name, from, end, step);
    return true;
}

vyre_status vyre_settle(const vyre_program *program, const vyre_allocator *a,
                        vyre_program **out_program, vyre_condition_list *out_conditions,
                        vyre_diag *diag) {
    vyre_condition_list found = {0};
    vyre_program *inlined = NULL;
    vyre_status status = VYRE_OK;
    if (may_need(vyre_program_get(program))) {
        status = vyre_inline(program, a, &inlined, diag);
        if (status == VYRE_OK && vyre_conditions_find(inlined, a, &found) != VYRE_OK) {
            status = vyre_fail_memory(diag, "a program");
        }
    }
    if (status == VYRE_OK && found.count == 0) {
        *out_program = vyre_program_share(program);
    } else if (status == VYRE_OK) {
        status = vyre_each_rewrite(inlined, NULL, replace, &found, a, out_program, diag);
    }
    for (uint32_t i = 0; i < found.count && status == VYRE_OK; i++) {
        if (!vyre_vec_push(a, out_conditions, found.data[i])) {
            vyre_program_release(*out_program);
            status = vyre_fail_memory(diag, "a program");
        }
    }
    vyre_vec_free(a, &found);
    vyre_program_release(inlined);
    return status;
}
