/* Programs: ownership, look-up, equality, hash. Equality and hash see the same things: everything
 * that the printed text shows, nothing about places. Both are one walk. */
#include "ir/program.h"

#include <string.h>

#include "base/hash.h"
#include "ir/stats.h"

static void free_arrays(vyre_program *p) {
    const vyre_allocator *a = &p->allocator;
    const vyre_program_view *v = &p->view;
    vyre_free(a, p->decls, v->decl_count, sizeof *p->decls);
    vyre_free(a, p->decl_places, v->decl_count, sizeof *p->decl_places);
    vyre_free(a, p->vars, v->var_count, sizeof *p->vars);
    vyre_free(a, p->var_places, v->var_count, sizeof *p->var_places);
    vyre_free(a, p->exprs, v->expr_count, sizeof *p->exprs);
    vyre_free(a, p->expr_places, v->expr_count, sizeof *p->expr_places);
    vyre_free(a, p->stmts, v->stmt_count, sizeof *p->stmts);
    vyre_free(a, p->stmt_places, v->stmt_count, sizeof *p->stmt_places);
    vyre_free(a, p->fns, v->fn_count, sizeof *p->fns);
    vyre_free(a, p->fn_places, v->fn_count, sizeof *p->fn_places);
    vyre_free(a, p->args, v->arg_count, sizeof *p->args);
}

vyre_program *vyre_program_allocate(const vyre_allocator *a, const vyre_program_view *sizes,
                                    vyre_intern *strings) {
    vyre_program *p = vyre_alloc_zeroed(a, 1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->view = *sizes;
    p->allocator = *a;
    atomic_init(&p->references, 1);
    p->decls = vyre_alloc_zeroed(a, sizes->decl_count, sizeof *p->decls);
    p->decl_places = vyre_alloc_zeroed(a, sizes->decl_count, sizeof *p->decl_places);
    p->vars = vyre_alloc_zeroed(a, sizes->var_count, sizeof *p->vars);
    p->var_places = vyre_alloc_zeroed(a, sizes->var_count, sizeof *p->var_places);
    p->exprs = vyre_alloc_zeroed(a, sizes->expr_count, sizeof *p->exprs);
    p->expr_places = vyre_alloc_zeroed(a, sizes->expr_count, sizeof *p->expr_places);
    p->stmts = vyre_alloc_zeroed(a, sizes->stmt_count, sizeof *p->stmts);
    p->stmt_places = vyre_alloc_zeroed(a, sizes->stmt_count, sizeof *p->stmt_places);
    p->fns = vyre_alloc_zeroed(a, sizes->fn_count, sizeof *p->fns);
    p->fn_places = vyre_alloc_zeroed(a, sizes->fn_count, sizeof *p->fn_places);
    p->args = vyre_alloc_zeroed(a, sizes->arg_count, sizeof *p->args);
    if (!p->decls || !p->decl_places || !p->vars || !p->var_places || !p->exprs ||
        !p->expr_places || !p->stmts || !p->stmt_places || !p->fns || !p->fn_places || !p->args) {
        free_arrays(p);
        vyre_free(a, p, 1, sizeof *p);
        return NULL;
    }
    p->view.decls = p->decls;
    p->view.vars = p->vars;
    p->view.exprs = p->exprs;
    p->view.stmts = p->stmts;
    p->view.fns = p->fns;
    p->view.args = p->args;
    p->strings = *strings;
    return p;
}

const vyre_program_view *vyre_program_get(const vyre_program *program) {
    return &program->view;
}

vyre_program *vyre_program_retain(vyre_program *program) {
    if (program) {
        atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
    }
    return program;
}

vyre_program *vyre_program_share(const vyre_program *program) {
    return vyre_program_retain((vyre_program *)(uintptr_t)program);
}

void vyre_program_release(vyre_program *program) {
    if (program && atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) == 1) {
        vyre_allocator a = program->allocator;
        free_arrays(program);
        vyre_intern_finish(&program->strings);
        vyre_free(&a, program, 1, sizeof *program);
    }
}

static vyre_place unpack(const vyre_program *p, vyre_packed_place packed) {
    return (vyre_place){
        .file = packed.file == VYRE_INTERN_NONE ? NULL : vyre_intern_text(&p->strings, packed.file),
        .line = packed.line,
        .col = packed.col,
        .end_col = packed.end_col,
    };
}

vyre_place vyre_program_stmt_place(const vyre_program *p, vyre_stmt stmt) {
    return stmt < p->view.stmt_count ? unpack(p, p->stmt_places[stmt]) : (vyre_place){0};
}

vyre_place vyre_program_expr_place(const vyre_program *p, vyre_expr expr) {
    return expr < p->view.expr_count ? unpack(p, p->expr_places[expr]) : (vyre_place){0};
}

vyre_place vyre_program_decl_place(const vyre_program *p, vyre_decl decl) {
    return decl < p->view.decl_count ? unpack(p, p->decl_places[decl]) : (vyre_place){0};
}

vyre_place vyre_program_var_place(const vyre_program *p, vyre_var var) {
    return var < p->view.var_count ? unpack(p, p->var_places[var]) : (vyre_place){0};
}

vyre_place vyre_program_fn_place(const vyre_program *p, vyre_fn fn) {
    return fn < p->view.fn_count ? unpack(p, p->fn_places[fn]) : (vyre_place){0};
}

vyre_place vyre_program_place(const vyre_program *p) {
    return unpack(p, p->place);
}

vyre_decl vyre_program_find_decl(const vyre_program *program, const char *name) {
    for (uint32_t i = 0; i < program->view.decl_count; i++) {
        if (strcmp(program->view.decls[i].name, name) == 0) {
            return i;
        }
    }
    return VYRE_NONE;
}

vyre_fn vyre_program_find_fn(const vyre_program *program, const char *name) {
    for (uint32_t i = 0; i < program->view.fn_count; i++) {
        if (strcmp(program->view.fns[i].name, name) == 0) {
            return i;
        }
    }
    return VYRE_NONE;
}

/* The structural content as a stream of words and texts. Feeding it to a hash, or two of them in
 * step to a comparison, is all that equality and hashing need. */
typedef struct stream {
    uint64_t hash;
    uint64_t words[64];
    uint32_t count;
} stream;

static void flush(stream *s) {
    s->hash = vyre_hash_more(s->hash, s->words, s->count * sizeof s->words[0]);
    s->count = 0;
}

static void put(stream *s, uint64_t word) {
    s->words[s->count++] = word;
    if (s->count == sizeof s->words / sizeof s->words[0]) {
        flush(s);
    }
}

static void put_text(stream *s, const char *text) {
    size_t length = text ? strlen(text) : 0;
    put(s, text ? length : UINT64_MAX);
    put(s, text ? vyre_hash_bytes(text, length) : 0);
}

static void put_decl(stream *s, const vyre_decl_node *d) {
    put_text(s, d->name);
    put(s, (uint64_t)d->role | (uint64_t)d->type << 8 | (uint64_t)d->access << 16 |
               (uint64_t)d->rank << 24 | (uint64_t)d->inner << 32);
    put(s, (uint64_t)d->size << 32 | d->value);
    put(s, (uint64_t)d->range_begin << 32 | d->range_end);
}

static void put_expr(stream *s, const vyre_expr_node *e) {
    put(s, (uint64_t)e->op | (uint64_t)e->type << 8 | (uint64_t)e->sub << 16 |
               (uint64_t)e->axis << 24 | (uint64_t)e->ref << 32);
    if (e->op == VYRE_EXPR_LITERAL) {
        put(s, e->u.bits);
    } else {
        for (uint32_t i = 0; i < vyre_expr_arity(e); i++) {
            put(s, e->u.arg[i]);
        }
    }
}

static void put_stmt(stream *s, const vyre_stmt_node *t) {
    put(s, (uint64_t)t->op | (uint64_t)t->sub << 8 | (uint64_t)t->ordering << 16 |
               (uint64_t)t->var << 32);
    put(s, (uint64_t)t->decl << 32 | t->decl2);
    put(s, (uint64_t)t->arg[0] << 32 | t->arg[1]);
    put(s, (uint64_t)t->arg[2] << 32 | t->fn);
    put(s, (uint64_t)t->first_arg << 32 | t->arg_count);
    if (t->text) {
        put_text(s, t->text);
    }
}

static uint64_t content_hash(const vyre_program_view *v) {
    stream s = {.hash = 0};
    put_text(&s, v->name);
    for (int i = 0; i < 3; i++) {
        put(&s, (uint64_t)v->workgroup[i] << 32 | v->clause[i]);
    }
    put(&s, (uint64_t)v->clause_kind);
    for (uint32_t i = 0; i < v->decl_count; i++) {
        put_decl(&s, &v->decls[i]);
    }
    for (uint32_t i = 0; i < v->var_count; i++) {
        put_text(&s, v->vars[i].name);
        put(&s, (uint64_t)v->vars[i].type << 40 | (uint64_t)v->vars[i].kind << 32 | v->vars[i].fn);
    }
    for (uint32_t i = 0; i < v->expr_count; i++) {
        put_expr(&s, &v->exprs[i]);
    }
    for (uint32_t i = 0; i < v->stmt_count; i++) {
        put_stmt(&s, &v->stmts[i]);
    }
    for (uint32_t i = 0; i < v->fn_count; i++) {
        const vyre_fn_node *f = &v->fns[i];
        put_text(&s, f->name);
        put(&s, (uint64_t)f->type | (uint64_t)f->opaque << 8 | (uint64_t)f->arg_count << 32);
        put(&s, (uint64_t)f->begin << 32 | f->end);
        put(&s, (uint64_t)f->reads << 32 | f->writes);
        put(&s, (uint64_t)f->first_var << 32 | f->first_effect);
    }
    for (uint32_t i = 0; i < v->arg_count; i++) {
        put(&s, v->args[i]);
    }
    flush(&s);
    return s.hash;
}

void vyre_program_seal(vyre_program *program) {
    vyre_stats_collect(&program->view, &program->view.stats);
    program->view.hash = content_hash(&program->view);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_decls(const vyre_program_view *a, const vyre_program_view *b) {
    for (uint32_t i = 0; i < a->decl_count; i++) {
        const vyre_decl_node *x = &a->decls[i], *y = &b->decls[i];
        if (x->role != y->role || x->type != y->type || x->access != y->access ||
            x->rank != y->rank || x->inner != y->inner || x->size != y->size ||
            x->value != y->value || x->range_begin != y->range_begin ||
            x->range_end != y->range_end || !same_text(x->name, y->name)) {
            return false;
        }
    }
    return true;
}

static bool same_vars(const vyre_program_view *a, const vyre_program_view *b) {
    for (uint32_t i = 0; i < a->var_count; i++) {
        const vyre_var_node *x = &a->vars[i], *y = &b->vars[i];
        if (x->type != y->type || x->kind != y->kind || x->fn != y->fn ||
            !same_text(x->name, y->name)) {
            return false;
        }
    }
    return true;
}

static bool same_exprs(const vyre_program_view *a, const vyre_program_view *b) {
    for (uint32_t i = 0; i < a->expr_count; i++) {
        const vyre_expr_node *x = &a->exprs[i], *y = &b->exprs[i];
        if (x->op != y->op || x->type != y->type || x->sub != y->sub || x->axis != y->axis ||
            x->ref != y->ref) {
            return false;
        }
        if (x->op == VYRE_EXPR_LITERAL) {
            if (x->u.bits != y->u.bits) {
                return false;
            }
        } else if (memcmp(x->u.arg, y->u.arg, vyre_expr_arity(x) * sizeof x->u.arg[0]) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_stmts(const vyre_program_view *a, const vyre_program_view *b) {
    for (uint32_t i = 0; i < a->stmt_count; i++) {
        const vyre_stmt_node *x = &a->stmts[i], *y = &b->stmts[i];
        if (x->op != y->op || x->sub != y->sub || x->ordering != y->ordering || x->var != y->var ||
            x->decl != y->decl || x->decl2 != y->decl2 ||
            memcmp(x->arg, y->arg, sizeof x->arg) != 0 || x->first_arg != y->first_arg ||
            x->arg_count != y->arg_count || x->fn != y->fn || !same_text(x->text, y->text)) {
            return false;
        }
    }
    return true;
}

static bool same_fns(const vyre_program_view *a, const vyre_program_view *b) {
    for (uint32_t i = 0; i < a->fn_count; i++) {
        const vyre_fn_node *x = &a->fns[i], *y = &b->fns[i];
        if (x->type != y->type || x->opaque != y->opaque || x->first_var != y->first_var ||
            x->arg_count != y->arg_count || x->begin != y->begin || x->end != y->end ||
            x->first_effect != y->first_effect || x->reads != y->reads || x->writes != y->writes ||
            !same_text(x->name, y->name)) {
            return false;
        }
    }
    return true;
}

bool vyre_program_equal(const vyre_program *first, const vyre_program *second) {
    const vyre_program_view *a = &first->view, *b = &second->view;
    return a->hash == b->hash && a->clause_kind == b->clause_kind &&
           memcmp(a->workgroup, b->workgroup, sizeof a->workgroup) == 0 &&
           memcmp(a->clause, b->clause, sizeof a->clause) == 0 && same_text(a->name, b->name) &&
           a->decl_count == b->decl_count && a->var_count == b->var_count &&
           a->expr_count == b->expr_count && a->stmt_count == b->stmt_count &&
           a->fn_count == b->fn_count && a->arg_count == b->arg_count && same_decls(a, b) &&
           same_vars(a, b) && same_exprs(a, b) && same_stmts(a, b) && same_fns(a, b) &&
           (a->arg_count == 0 || memcmp(a->args, b->args, a->arg_count * sizeof *a->args) == 0);
}
