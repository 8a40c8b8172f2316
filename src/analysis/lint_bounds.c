/* Accesses that no lane can make inside of their memory (W009), by the bounds of their indices
 * (shape_bounds.c) and lengths that are constants. A function is judged at each call and reported
 * once. What only some lanes do wrong is not reported: vyre run --bounds finds that. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/lint.h"
#include "ir/size.h"

/* How many elements the memory has, if that is a constant. */
static bool length_of(const vyre_linter *l, vyre_decl decl, uint64_t *out) {
    static const vyre_size_env nothing;
    const vyre_expr size = l->p->decls[decl].size;
    return size != VYRE_NONE &&
           vyre_size_evaluate(l->p, size, &nothing, out, &(vyre_decl){0}) == VYRE_SIZE_OK;
}

static void look_at_index(vyre_linter *l, uint32_t visit, vyre_decl decl, vyre_expr index,
                          vyre_place place) {
    const uint8_t op = l->p->exprs[index].op;
    uint64_t length;
    int64_t lo, hi;
    char shown[48];
    if (op == VYRE_EXPR_LITERAL || op == VYRE_EXPR_REF) {
        return; /* the check itself says that (V036) */
    }
    if (!length_of(l, decl, &length) ||
        !vyre_shapes_range(l->facts.shapes, visit, index, &lo, &hi) || (uint64_t)lo < length) {
        return;
    }
    (void)snprintf(shown, sizeof shown, "%s%" PRId64, lo == hi ? "" : "at least ", lo);
    vyre_checker_warn(&l->c, "W009", place, "make the memory larger, or the index smaller",
                      "`%s` has %" PRIu64 " element%s, and this index is %s",
                      l->p->decls[decl].name, length, length == 1 ? "" : "s", shown);
}

static void look_at_visit(vyre_linter *l, uint32_t visit) {
    const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
    const vyre_stmt_node *s = &l->p->stmts[at];
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        const vyre_expr_node *n = &l->p->exprs[e];
        if (n->op == VYRE_EXPR_LOAD) {
            look_at_index(l, visit, n->ref, n->u.arg[0], vyre_linter_at(l, e));
        }
    }
    if (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC) {
        look_at_index(l, visit, s->decl, s->arg[0], vyre_checker_at(&l->c, at));
    }
}

void vyre_lint_bounds(vyre_linter *l) {
    bool *told = vyre_alloc_zeroed(&l->c.allocator, l->p->stmt_count, sizeof *told);
    l->c.failed |= !told;
    for (uint32_t visit = 0; told && visit < vyre_shapes_visit_count(l->facts.shapes); visit++) {
        const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
        const uint32_t before = l->c.reports.count;
        if (!told[at]) {
            look_at_visit(l, visit);
            told[at] = l->c.reports.count != before;
        }
    }
    vyre_free(&l->c.allocator, told, l->p->stmt_count, sizeof *told);
}
