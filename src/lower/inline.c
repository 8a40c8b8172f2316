/* Inlining. A call becomes
 *
 *     let r = 0;  { let arg = e; ...  body ...  r = value; }
 *
 * Recursion is refused by the validator, so each function is active at most once at a time and its
 * variables can be mapped to those of the innermost copy. A stack of return points replaces
 * recursion. Cost: the size of the result, which the builder limits. */
#include "lower/inline.h"

#include <string.h>

#include "base/diag.h"
#include "ir/builder.h"
#include "ir/rewrite.h"
#include "ir/unique.h"

typedef struct copied_tag {
    uint32_t copy;
    const char *text;
} copied_tag;

typedef struct inliner {
    vyre_rewriter rw;
    vyre_unique names, tags;
    copied_tag *latest; /* per tag of the source: what it is in the copy it was seen in last */
    uint32_t tag_count;
    uint32_t copy; /* number of the copy being written; 0: the entry body */
} inliner;

static bool is_begin(const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE;
}

static bool reserve_tags(inliner *in) {
    const vyre_program_view *p = in->rw.p;
    bool ok = true;
    for (vyre_stmt s = 0; ok && s < p->stmt_count; s++) {
        ok = !is_begin(&p->stmts[s]) || vyre_unique_name(&in->tags, p->stmts[s].text);
    }
    in->tag_count = in->tags.used.count;
    in->latest = vyre_alloc_zeroed(&in->rw.allocator, in->tag_count, sizeof *in->latest);
    return ok && in->latest;
}

/* Tags are used once in a program: each copy of a function gets its own, for begin and wait. */
static const char *copy_tag(vyre_rewriter *rw, const char *tag, void *user) {
    inliner *in = user;
    if (in->copy == 0) {
        return NULL;
    }
    copied_tag *latest = &in->latest[vyre_intern_find(&in->tags.used, tag, strlen(tag))];
    if (latest->copy != in->copy) {
        *latest = (copied_tag){in->copy, vyre_unique_name(&in->tags, tag)};
    }
    if (!latest->text) {
        vyre_builder_fail_memory(rw->to);
    }
    return latest->text;
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
    inliner in = {.copy = 0};
    if (vyre_builder_create(&a, vyre_program_get(program)->name, &b) != VYRE_OK) {
        return vyre_fail_memory(diag, "inlining");
    }
    vyre_status status = vyre_rewriter_init(&in.rw, program, b, &a);
    if (status == VYRE_OK) {
        vyre_unique_init(&in.names, &a);
        vyre_unique_init(&in.tags, &a);
        in.rw.rename = fresh_name;
        in.rw.retag = copy_tag;
        in.rw.user = &in;
        if (vyre_unique_reserve(&in.names, in.rw.p) && reserve_tags(&in)) {
            vyre_rewrite_decls(&in.rw);
            vyre_rewrite_header(&in.rw);
            status = copy_entry(&in, diag);
            if (status == VYRE_OK) {
                status = vyre_builder_finish(b, out_program, diag);
            }
        } else {
            status = vyre_fail_memory(diag, "inlining");
        }
        vyre_free(&a, in.latest, in.tag_count, sizeof *in.latest);
        vyre_unique_finish(&in.tags);
        vyre_unique_finish(&in.names);
        vyre_rewriter_finish(&in.rw);
    } else {
        (void)vyre_fail_memory(diag, "inlining");
    }
    vyre_builder_destroy(b);
    return status;
}
