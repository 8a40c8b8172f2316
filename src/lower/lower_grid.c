/* Reductions and scans over the grid. A group does its share by itself; the values of all groups
 * meet in memory of the module, where one lane combines them:
 *
 *     let r = grid_add(v);       ->  let t = group_add(v); part(t); let r = combination;
 *     let r = grid_scan_add(v);  ->  let s = group_scan_add(v); let t = group_scan_total(v);
 *                                    part(t); combination; let p = base; let r = p + s;
 *
 * All lanes wait at the combination, and nowhere else; an operation whose value nobody binds is
 * only that. It has the order of the language: the tree over the groups' values, the exclusive scan
 * of their totals. What the three new statements become, blocks and segments decide. */
#include "lower/lower_grid.h"

#include "ir/builder.h"
#include "ir/each.h"
#include "ir/program.h"

typedef struct plan {
    uint32_t count; /* of operations so far */
} plan;

static bool replace(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    vyre_builder *b = each->rw.to;
    const vyre_stmt_node *n = &each->rw.p->stmts[s];
    if (n->op != VYRE_STMT_GRID) {
        return false;
    }
    const vyre_reduce_op op = (vyre_reduce_op)n->sub;
    vyre_expr value = vyre_rewrite_expr(&each->rw, n->arg[0]);
    vyre_builder_at(b, vyre_program_stmt_place(each->rw.source, s));
    if (n->var == VYRE_NONE) {
        vyre_build_grid_sync(b);
        return true;
    }
    const char *name = each->rw.p->vars[n->var].name;
    const vyre_type type = (vyre_type)each->rw.p->vars[n->var].type;
    const uint32_t number = all->count++;
    if (op != VYRE_REDUCE_SCAN_ADD) {
        vyre_var part =
            vyre_build_group_reduce(b, vyre_each_name(each, "_part"), op, value, VYRE_NONE);
        vyre_build_part(b, number, op, vyre_build_var(b, part));
        each->rw.vars[n->var] = vyre_build_combine(b, name, number, op, type);
        return true;
    }
    value = vyre_build_var(b, vyre_build_let(b, vyre_each_name(each, "_value"), value));
    vyre_var within =
        vyre_build_group_reduce(b, vyre_each_name(each, "_within"), op, value, VYRE_NONE);
    vyre_var total = vyre_build_group_reduce(b, vyre_each_name(each, "_total"),
                                             VYRE_REDUCE_SCAN_TOTAL, value, VYRE_NONE);
    vyre_build_part(b, number, op, vyre_build_var(b, total));
    (void)vyre_build_combine(b, NULL, number, op, type);
    vyre_var before = vyre_build_base(b, vyre_each_name(each, "_before"), number, op, type);
    each->rw.vars[n->var] =
        vyre_build_let(b, name,
                       vyre_build_op(b, VYRE_EXPR_ADD, vyre_build_var(b, before),
                                     vyre_build_var(b, within), VYRE_NONE));
    return true;
}

static void begin(vyre_each *each) {
    (void)each;
}

vyre_status vyre_lower_grid(const vyre_program *program, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag) {
    plan all = {0};
    if (!(vyre_program_get(program)->stats.stmt_kinds >> VYRE_STMT_GRID & 1)) {
        *out_program = vyre_program_share(program);
        return VYRE_OK;
    }
    return vyre_each_rewrite(program, begin, replace, &all, a, out_program, diag);
}
