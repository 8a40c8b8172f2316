/* Inlining. A call becomes
 *
 *     let r = 0;  { let arg = e; ...  body ...  r = value; }
 *
 * Recursion is refused by the validator, so each function is active at most once at a time and its
 * variables can be mapped to those of the innermost copy. A stack of return points replaces
 * recursion. Cost: the size of the result, which the builder limits. */
#include "pass/inline.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/mutant.h"
#include "ir/builder.h"
#include "ir/rewrite.h"
#include "pass/unique.h"

typedef struct inliner {
    vyre_rewriter rw;
    vyre_unique names;
    uint32_t copy; /* number of the copy being written; 0: the entry body */
} inliner;

/* Tags are used once in a program: each copy of a function gets its own. */
static const char *copy_tag(vyre_rewriter *rw, const char *tag, void *user) {
    inliner *in = user;
    if (VYRE_MUTANT(inline_shares_tags, in->copy == 0, true)) {
        return NULL;
    }
    char text[VYRE_LIMIT_NAME + 1];
    int length = snprintf(text, sizeof text, "%.240s #%lu", tag, (unsigned long)in->copy);
    uint32_t number = vyre_intern_add(&in->names.used, text, (size_t)length);
    if (number == VYRE_INTERN_NONE) {
        vyre_builder_fail_memory(rw->to);
        return NULL;
    }
    return vyre_intern_text(&in->names.used, number);
}

static const char *fresh_name(vyre_rewriter *rw, vyre_var var, void *user) {
    inliner *in = user;
    const char *name = vyre_unique_name(&in->names, rw->p->vars[var].name);
    if (!name) {
        in->rw.user = NULL; /* noticed by the caller's loop */
    }
    return name;
}

/* Opens the copy of a call: result, block, arguments. */
static void enter(inliner *in, vyre_stmt stmt) {
    vyre_rewriter *rw = &in->rw;
    const vyre_stmt_node *s = &rw->p->stmts[stmt];
    const vyre_fn_node *f = &rw->p->fns[s->fn];
    vyre_expr args[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < s->arg_count; i++) {
        args[i] = vyre_rewrite_expr(rw, rw->p->args[s->first_arg + i]);
    }
    vyre_builder_at(rw->to, vyre_program_stmt_place(rw->source, stmt));
    if (s->var != VYRE_NONE) {
        vyre_expr zero = vyre_build_literal(rw->to, (vyre_type)f->type, 0);
        const char *name = fresh_name(rw, s->var, in);
        rw->vars[s->var] = vyre_build_let(rw->to, name ? name : "r", zero);
    }
    vyre_build_block(rw->to);
    for (uint32_t i = 0; i < s->arg_count; i++) {
        const char *name = fresh_name(rw, f->first_var + i, in);
        rw->vars[f->first_var + i] = vyre_build_let(rw->to, name ? name : "a", args[i]);
    }
}

/* The function's value goes to the variable that the call binds. */
static void give_back(inliner *in, vyre_stmt stmt, vyre_var result) {
    vyre_rewriter *rw = &in->rw;
    vyre_expr value = vyre_rewrite_expr(rw, rw->p->stmts[stmt].arg[0]);
    if (value != VYRE_NONE && result != VYRE_NONE) {
        vyre_builder_at(rw->to, vyre_program_stmt_place(rw->source, stmt));
        vyre_build_assign(rw->to, rw->vars[result], value);
    }
}

static vyre_status copy_entry(inliner *in, vyre_diag *diag) {
    struct frame {
        vyre_stmt at, end;
        vyre_var result;
        uint32_t copy;
    } stack[VYRE_LIMIT_CALL_DEPTH + 1];
    vyre_rewriter *rw = &in->rw;
    uint32_t depth = 0, copies = 0;
    stack[0] = (struct frame){rw->p->entry, rw->p->stmt_count, VYRE_NONE, 0};
    for (;;) {
        struct frame *top = &stack[depth];
        if (vyre_builder_status(rw->to) != VYRE_OK || !rw->user) {
            return rw->user ? VYRE_OK : vyre_fail_memory(diag, "inlining"); /* finish reports it */
        }
        if (top->at == top->end) {
            if (depth-- == 0) {
                return VYRE_OK;
            }
            vyre_build_end(rw->to);
            continue;
        }
        vyre_stmt stmt = top->at++;
        in->copy = top->copy;
        const vyre_stmt_node *s = &rw->p->stmts[stmt];
        if (s->op == VYRE_STMT_CALL) {
            if (depth == VYRE_LIMIT_CALL_DEPTH) {
                return vyre_fail(diag, VYRE_LIMIT, "nest calls less deeply",
                                 "calls nest more than %d deep", (int)VYRE_LIMIT_CALL_DEPTH);
            }
            enter(in, stmt);
            const vyre_fn_node *f = &rw->p->fns[s->fn];
            stack[++depth] = (struct frame){f->begin, f->end, s->var, ++copies};
        } else if (s->op == VYRE_STMT_RETURN) {
            give_back(in, stmt, top->result);
        } else {
            vyre_rewrite_stmt(rw, stmt);
        }
    }
}

vyre_status vyre_inline(const vyre_program *program, const vyre_allocator *allocator,
                        vyre_program **out_program, vyre_diag *diag) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_builder *b = NULL;
    inliner in;
    if (vyre_builder_create(&a, vyre_program_get(program)->name, &b) != VYRE_OK) {
        return vyre_fail_memory(diag, "inlining");
    }
    vyre_status status = vyre_rewriter_init(&in.rw, program, b, &a);
    if (status == VYRE_OK) {
        vyre_unique_init(&in.names, &a);
        in.rw.rename = fresh_name;
        in.rw.retag = copy_tag;
        in.copy = 0;
        in.rw.user = &in;
        if (vyre_unique_reserve(&in.names, in.rw.p)) {
            vyre_rewrite_decls(&in.rw);
            vyre_rewrite_header(&in.rw);
            status = copy_entry(&in, diag);
            if (status == VYRE_OK) {
                status = vyre_builder_finish(b, out_program, diag);
            }
        } else {
            status = vyre_fail_memory(diag, "inlining");
        }
        vyre_unique_finish(&in.names);
        vyre_rewriter_finish(&in.rw);
    } else {
        (void)vyre_fail_memory(diag, "inlining");
    }
    vyre_builder_destroy(b);
    return status;
}
