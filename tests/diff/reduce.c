/* The reducer. A candidate is the program with one edit, made by the rewriter of the IR: what used
 * a dropped thing uses a zero instead, or goes too. Candidates are tried from coarse to fine, over
 * and over, until a whole round finds nothing: cost is candidates times the cost of the test. */
#include "diff/reduce.h"

#include <string.h>

#include "ir/rewrite.h"

typedef enum edit_kind {
    EDIT_DROP,     /* statements [from, to) */
    EDIT_UNWRAP,   /* the opener `from`: its list stays; choice 1: that of else */
    EDIT_DECL,     /* declaration `from` */
    EDIT_FN,       /* function `from` */
    EDIT_LITERAL,  /* expression `from` becomes the number `choice` */
    EDIT_OPERAND,  /* expression `from` becomes its operand `choice` */
    EDIT_HALVE,    /* the literal `from` */
    EDIT_WORKGROUP /* axis `from` is halved */
} edit_kind;

typedef struct edit {
    edit_kind kind;
    uint32_t from, to, choice;
} edit;

/* Zero and one have these bits in every type but the floats. */
static vyre_expr number(vyre_builder *b, vyre_type type, uint32_t value) {
    const uint64_t one = type == VYRE_F32   ? UINT64_C(0x3f800000)
                         : type == VYRE_F64 ? UINT64_C(0x3ff0000000000000)
                                            : 1;
    return vyre_build_literal(b, type, value == 0 ? 0 : one);
}

static vyre_expr replace(vyre_rewriter *rw, vyre_expr at, const vyre_expr *operands, void *user) {
    const edit *e = user;
    const vyre_expr_node *node = &rw->p->exprs[at];
    const bool target = at == e->from;
    if (target && e->kind == EDIT_LITERAL) {
        return number(rw->to, (vyre_type)node->type, e->choice);
    }
    if (target && e->kind == EDIT_OPERAND) {
        return operands[e->choice];
    }
    if (target && e->kind == EDIT_HALVE) {
        return vyre_build_literal(rw->to, (vyre_type)node->type, node->u.bits / 2);
    }
    const bool names =
        node->op == VYRE_EXPR_REF || node->op == VYRE_EXPR_LEN || node->op == VYRE_EXPR_LOAD;
    if ((names && rw->decls[node->ref] == VYRE_NONE) ||
        (node->op == VYRE_EXPR_VAR && rw->vars[node->ref] == VYRE_NONE)) {
        return number(rw->to, (vyre_type)node->type, 0);
    }
    return VYRE_NONE;
}

/* The END of an opener. */
static vyre_stmt end_of(const vyre_program_view *p, vyre_stmt opener) {
    const vyre_stmt match = p->stmts[opener].match;
    return p->stmts[match].op == VYRE_STMT_ELSE ? p->stmts[match].match : match;
}

static bool same_tag(const vyre_program_view *p, vyre_stmt a, vyre_stmt b) {
    return p->stmts[a].op >= VYRE_STMT_ASYNC_LOAD && p->stmts[a].op <= VYRE_STMT_ASYNC_WAIT &&
           p->stmts[b].op >= VYRE_STMT_ASYNC_LOAD && p->stmts[b].op <= VYRE_STMT_ASYNC_WAIT &&
           strcmp(p->stmts[a].text, p->stmts[b].text) == 0;
}

static bool unwrapped_away(const vyre_program_view *p, const edit *e, vyre_stmt at) {
    const vyre_stmt middle = p->stmts[e->from].match, end = end_of(p, e->from);
    const bool jumps = p->stmts[at].op == VYRE_STMT_BREAK || p->stmts[at].op == VYRE_STMT_CONTINUE;
    return at == e->from || at == middle || at == end || (jumps && p->stmts[at].match == e->from) ||
           (at > e->from && at < end && middle != end && (at < middle) == (e->choice == 1));
}

static bool skips(const vyre_rewriter *rw, const edit *e, vyre_stmt at) {
    const vyre_program_view *p = rw->p;
    const vyre_stmt_node *s = &p->stmts[at];
    if (e->kind == EDIT_DROP &&
        ((at >= e->from && at < e->to) || (e->to == e->from + 1 && same_tag(p, e->from, at)))) {
        return true;
    }
    if (e->kind == EDIT_UNWRAP && unwrapped_away(p, e, at)) {
        return true;
    }
    return (s->op == VYRE_STMT_ASSIGN && rw->vars[s->var] == VYRE_NONE) ||
           (s->op == VYRE_STMT_CALL && rw->fns[s->fn] == VYRE_NONE) ||
           (s->decl != VYRE_NONE && rw->decls[s->decl] == VYRE_NONE) ||
           (s->decl2 != VYRE_NONE && rw->decls[s->decl2] == VYRE_NONE);
}

static void copy_body(vyre_rewriter *rw, const edit *e, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt at = begin; at < end; at++) {
        if (!skips(rw, e, at)) {
            vyre_rewrite_stmt(rw, at);
        }
    }
}

static void copy_fn(vyre_rewriter *rw, const edit *e, vyre_fn fn) {
    const vyre_fn_node *f = &rw->p->fns[fn];
    const char *names[VYRE_LIMIT_ARGUMENTS];
    vyre_type types[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < f->arg_count; i++) {
        names[i] = rw->p->vars[f->first_var + i].name;
        types[i] = (vyre_type)rw->p->vars[f->first_var + i].type;
    }
    rw->fns[fn] = vyre_build_fn(rw->to, f->name, names, types, f->arg_count, (vyre_type)f->type);
    for (uint32_t i = 0; i < f->arg_count; i++) {
        rw->vars[f->first_var + i] = vyre_build_fn_argument(rw->to, rw->fns[fn], i);
    }
    vyre_build_fn_begin(rw->to, rw->fns[fn]);
    copy_body(rw, e, f->begin, f->end);
    vyre_build_fn_end(rw->to);
}

static void copy(vyre_rewriter *rw, const edit *e) {
    const vyre_program_view *p = rw->p;
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        if (e->kind != EDIT_DECL || i != e->from) {
            (void)vyre_rewrite_decl(rw, i);
        }
    }
    vyre_rewrite_header(rw);
    if (e->kind == EDIT_WORKGROUP) {
        uint32_t size[3] = {p->workgroup[0], p->workgroup[1], p->workgroup[2]};
        size[e->from] /= 2;
        vyre_build_workgroup(rw->to, size[0], size[1], size[2]);
    }
    for (vyre_fn i = 0; i < p->fn_count; i++) {
        if (e->kind != EDIT_FN || i != e->from) {
            copy_fn(rw, e, i);
        }
    }
    copy_body(rw, e, p->entry, p->stmt_count);
}

static vyre_program *edited(const vyre_program *program, edit *e) {
    const vyre_allocator a = vyre_allocator_system();
    vyre_rewriter rw;
    vyre_builder *b = NULL;
    vyre_program *made = NULL;
    if (vyre_builder_create(NULL, vyre_program_get(program)->name, &b) == VYRE_OK &&
        vyre_rewriter_init(&rw, program, b, &a) == VYRE_OK) {
        rw.replace = replace;
        rw.user = e;
        copy(&rw, e);
        (void)vyre_builder_finish(b, &made, NULL);
        vyre_rewriter_finish(&rw);
    }
    vyre_builder_destroy(b);
    return made;
}

typedef struct reduction {
    vyre_program *best;
    reduce_keeps keeps;
    void *user;
} reduction;

static const vyre_program_view *view(const reduction *r) {
    return vyre_program_get(r->best);
}

static bool attempt(reduction *r, edit e) {
    vyre_program *candidate = edited(r->best, &e);
    if (candidate && r->keeps(candidate, r->user)) {
        vyre_program_release(r->best);
        r->best = candidate;
        return true;
    }
    vyre_program_release(candidate);
    return false;
}

/* Behind `count` statements of one list from `at` on. */
static vyre_stmt behind(const vyre_program_view *p, vyre_stmt at, uint32_t count) {
    while (count > 0 && at < p->stmt_count &&
           vyre_stmt_info_of((vyre_stmt_op)p->stmts[at].op)->scope < VYRE_SCOPE_ELSE) {
        const bool opens =
            vyre_stmt_info_of((vyre_stmt_op)p->stmts[at].op)->scope == VYRE_SCOPE_OPEN;
        at = (opens ? end_of(p, at) : at) + 1;
        count--;
    }
    return at;
}

static bool drop_statements(reduction *r) {
    bool any = false;
    for (uint32_t count = 32; count > 0; count /= 2) {
        for (vyre_stmt at = 0; at < view(r)->stmt_count;) {
            const vyre_stmt to = behind(view(r), at, count);
            const bool gone = to > at && attempt(r, (edit){EDIT_DROP, at, to, 0});
            any |= gone;
            at += !gone;
        }
    }
    return any;
}

static bool unwrap_statements(reduction *r) {
    bool any = false;
    for (vyre_stmt at = 0; at < view(r)->stmt_count; at++) {
        const vyre_stmt_op op = (vyre_stmt_op)view(r)->stmts[at].op;
        if (vyre_stmt_info_of(op)->scope == VYRE_SCOPE_OPEN) {
            any |= attempt(r, (edit){EDIT_UNWRAP, at, 0, 0}) ||
                   attempt(r, (edit){EDIT_UNWRAP, at, 0, 1});
        }
    }
    return any;
}

static bool drop_names(reduction *r) {
    bool any = false;
    for (vyre_decl at = view(r)->decl_count; at-- > 0;) {
        any |= attempt(r, (edit){EDIT_DECL, at, 0, 0});
    }
    for (vyre_fn at = view(r)->fn_count; at-- > 0;) {
        any |= attempt(r, (edit){EDIT_FN, at, 0, 0});
    }
    return any;
}

static bool simplify(reduction *r, vyre_expr at) {
    const vyre_expr_node node = view(r)->exprs[at];
    if (node.op == VYRE_EXPR_LITERAL) {
        return !vyre_type_is_float((vyre_type)node.type) && node.u.bits > 1 &&
               attempt(r, (edit){EDIT_HALVE, at, 0, 0});
    }
    if (attempt(r, (edit){EDIT_LITERAL, at, 0, 0}) || attempt(r, (edit){EDIT_LITERAL, at, 0, 1})) {
        return true;
    }
    for (uint32_t i = 0; i < vyre_expr_info_of((vyre_expr_op)node.op)->arity; i++) {
        if (view(r)->exprs[node.u.arg[i]].type == node.type &&
            attempt(r, (edit){EDIT_OPERAND, at, 0, i})) {
            return true;
        }
    }
    return false;
}

static bool simplify_exprs(reduction *r) {
    bool any = false;
    for (vyre_expr at = view(r)->expr_count; at-- > 0;) {
        if (at < view(r)->expr_count) {
            any |= simplify(r, at);
        }
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        while (view(r)->workgroup[axis] > 1 && attempt(r, (edit){EDIT_WORKGROUP, axis, 0, 0})) {
            any = true;
        }
    }
    return any;
}

vyre_program *reduce_while(vyre_program *program, reduce_keeps keeps, void *user) {
    reduction r = {vyre_program_retain(program), keeps, user};
    bool any = true;
    while (any) {
        any = drop_statements(&r);
        any |= unwrap_statements(&r);
        any |= drop_names(&r);
        any |= simplify_exprs(&r);
    }
    return r.best;
}

typedef struct wanted {
    differ *d;
    differ_result result;
    const volatile sig_atomic_t *stop;
    char code[sizeof((differ *)0)->code]; /* a program can be refused for many reasons */
} wanted;

static bool still_differs(const vyre_program *program, void *user) {
    const wanted *w = user;
    return !(w->stop && *w->stop) && differ_check(w->d, program) == w->result &&
           (w->result != DIFFER_INVALID || strcmp(w->d->code, w->code) == 0);
}

vyre_program *reduce(differ *d, vyre_program *program, differ_result result,
                     const volatile sig_atomic_t *stop) {
    wanted w = {.d = d, .result = result, .stop = stop};
    memcpy(w.code, d->code, sizeof w.code);
    const bool races = d->races;
    const uint64_t most_steps = d->most_steps;
    /* An edit may make a race, or a loop that does not end. */
    d->races = true;
    d->most_steps = most_steps / 10;
    if (differ_check(d, program) != result) {
        d->races = races;
        d->most_steps = most_steps;
    }
    vyre_program *small = reduce_while(program, still_differs, &w);
    d->races = races;
    d->most_steps = most_steps;
    return small;
}
