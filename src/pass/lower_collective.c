/* One-rank collectives. The copy is a grid-stride loop over the linear lane number. */
#include "pass/lower_collective.h"

#include <stdio.h>

#include "base/diag.h"
#include "ir/rewrite.h"
#include "pass/unique.h"

static bool is_collective(uint8_t op) {
    return op == VYRE_STMT_ALL_REDUCE || op == VYRE_STMT_ALL_GATHER ||
           op == VYRE_STMT_REDUCE_SCATTER || op == VYRE_STMT_BROADCAST;
}

static vyre_expr op2(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

static void copy_shorter(vyre_builder *b, vyre_decl from, vyre_decl to, const char *name) {
    vyre_expr id[3], size[3];
    for (uint32_t axis = 0; axis < 3; axis++) {
        id[axis] = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, axis);
        size[axis] = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_SIZE, axis);
    }
    vyre_expr row = op2(b, VYRE_EXPR_ADD, op2(b, VYRE_EXPR_MUL, id[2], size[1]), id[1]);
    vyre_expr lane = op2(b, VYRE_EXPR_ADD, op2(b, VYRE_EXPR_MUL, row, size[0]), id[0]);
    vyre_expr lanes = op2(b, VYRE_EXPR_MUL, op2(b, VYRE_EXPR_MUL, size[0], size[1]), size[2]);
    vyre_expr end = op2(b, VYRE_EXPR_MIN, vyre_build_len(b, from), vyre_build_len(b, to));
    vyre_var i = vyre_build_for(b, name, lane, end, lanes);
    vyre_expr at = vyre_build_var(b, i);
    vyre_build_store(b, to, at, vyre_build_load(b, from, at));
    vyre_build_end(b);
}

static vyre_status rewrite(vyre_rewriter *rw, vyre_unique *names, vyre_program **out,
                           vyre_diag *diag) {
    vyre_rewrite_decls(rw);
    vyre_rewrite_header(rw);
    for (uint32_t i = 0; i < rw->p->var_count; i++) {
        if (!vyre_unique_name(names, rw->p->vars[i].name)) {
            return vyre_fail_memory(diag, "lowering collectives");
        }
    }
    for (vyre_stmt s = rw->p->entry; s < rw->p->stmt_count; s++) {
        const vyre_stmt_node *n = &rw->p->stmts[s];
        if (!is_collective(n->op)) {
            vyre_rewrite_stmt(rw, s);
            continue;
        }
        vyre_builder_at(rw->to, vyre_program_stmt_place(rw->source, s));
        vyre_build_grid_sync(rw->to);
        if (n->decl2 != VYRE_NONE) {
            const char *name = vyre_unique_name(names, "_copy");
            if (!name) {
                return vyre_fail_memory(diag, "lowering collectives");
            }
            copy_shorter(rw->to, rw->decls[n->decl], rw->decls[n->decl2], name);
        }
        vyre_build_grid_sync(rw->to);
    }
    return vyre_builder_finish(rw->to, out, diag);
}

vyre_status vyre_lower_collective(vyre_program *program, const vyre_allocator *a,
                                  vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    bool any = false;
    for (int op = 0; op < VYRE_STMT_COUNT; op++) {
        any |= is_collective((uint8_t)op) && (p->stats.stmt_kinds >> op & 1);
    }
    if (!any) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    vyre_builder *b = NULL;
    vyre_rewriter rw;
    vyre_status status = vyre_builder_create(a, p->name, &b);
    if (status == VYRE_OK) {
        status = vyre_rewriter_init(&rw, program, b, a);
    }
    if (status == VYRE_OK) {
        vyre_unique names;
        vyre_unique_init(&names, a);
        status = vyre_unique_reserve(&names, p) ? rewrite(&rw, &names, out_program, diag)
                                                : vyre_fail_memory(diag, "lowering collectives");
        vyre_unique_finish(&names);
        vyre_rewriter_finish(&rw);
    } else {
        (void)vyre_fail_memory(diag, "lowering collectives");
    }
    vyre_builder_destroy(b);
    return status;
}
