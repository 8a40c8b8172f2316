/* One-rank collectives. The copy is a grid-stride loop over the linear lane number; where lanes may
 * have ended, whose elements nobody would copy, every lane copies all. */
#include "pass/lower_collective.h"

#include "pass/each.h"

static bool is_collective(uint8_t op) {
    return op == VYRE_STMT_ALL_REDUCE || op == VYRE_STMT_ALL_GATHER ||
           op == VYRE_STMT_REDUCE_SCATTER || op == VYRE_STMT_BROADCAST;
}

static vyre_expr op2(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

static bool lanes_may_end(const vyre_program_view *p) {
    const uint64_t ends = UINT64_C(1) << VYRE_STMT_EXIT | UINT64_C(1) << VYRE_STMT_TRAP;
    return (p->stats.stmt_kinds & ends) != 0;
}

static void copy_shorter(vyre_builder *b, vyre_decl from, vyre_decl to, const char *name,
                         bool all) {
    vyre_expr id[3], size[3];
    for (uint32_t axis = 0; axis < 3; axis++) {
        id[axis] = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, axis);
        size[axis] = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_SIZE, axis);
    }
    vyre_expr row = op2(b, VYRE_EXPR_ADD, op2(b, VYRE_EXPR_MUL, id[2], size[1]), id[1]);
    vyre_expr lane = op2(b, VYRE_EXPR_ADD, op2(b, VYRE_EXPR_MUL, row, size[0]), id[0]);
    vyre_expr lanes = op2(b, VYRE_EXPR_MUL, op2(b, VYRE_EXPR_MUL, size[0], size[1]), size[2]);
    vyre_expr end = op2(b, VYRE_EXPR_MIN, vyre_build_len(b, from), vyre_build_len(b, to));
    vyre_var i = all ? vyre_build_for(b, name, vyre_build_u32(b, 0), end, VYRE_NONE)
                     : vyre_build_for(b, name, lane, end, lanes);
    vyre_expr at = vyre_build_var(b, i);
    vyre_build_store(b, to, at, vyre_build_load(b, from, at));
    vyre_build_end(b);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[s];
    if (!is_collective(n->op)) {
        return false;
    }
    vyre_builder_at(rw->to, vyre_program_stmt_place(rw->source, s));
    vyre_build_grid_sync(rw->to);
    if (n->decl2 != VYRE_NONE) {
        copy_shorter(rw->to, rw->decls[n->decl], rw->decls[n->decl2], vyre_each_name(each, "_copy"),
                     lanes_may_end(rw->p));
    }
    vyre_build_grid_sync(rw->to);
    return true;
}

vyre_status vyre_lower_collective(vyre_program *program, const vyre_allocator *a,
                                  vyre_program **out_program, vyre_diag *diag) {
    bool any = false;
    for (int op = 0; op < VYRE_STMT_COUNT; op++) {
        any |=
            is_collective((uint8_t)op) && (vyre_program_get(program)->stats.stmt_kinds >> op & 1);
    }
    if (!any) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    return vyre_each_rewrite(program, NULL, replace, NULL, a, out_program, diag);
}
