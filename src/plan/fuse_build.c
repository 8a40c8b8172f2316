/* Fusion, second half: the program.
 *
 * If all waves have the same grid, their bodies follow each other in the same lanes. Otherwise the
 * grid of the result is one-dimensional and large enough for every group; the waves of a group get
 * workgroups of their own, side by side, and see ids as if these were all there is:
 *
 *     if (group_id.x - first < count) { ... group_id.x - first ... }
 *
 * A lane that ends in one wave lives on in the next: `exit` becomes a break out of a loop of one
 * trip around the wave. That is only right where no lane waits for another behind it, so a wave
 * that ends lanes and has barriers is refused. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/builder.h"
#include "ir/rewrite.h"
#include "ir/unique.h"
#include "plan/fuse.h"
#include "vyre/check.h"

typedef struct weaver {
    vyre_fusion *f;
    vyre_builder *b;
    vyre_unique names;
    vyre_decl *shared; /* per shared thing: its declaration in the result */
    vyre_rewriter *rws;
    bool together; /* all waves have the same grid */
    /* Of the wave being written: */
    uint32_t wave;
    vyre_var first, count; /* its workgroups, unless `together` */
    vyre_var left;         /* "this lane has left the wave", or VYRE_NONE */
    bool leaves;           /* it has an exit to rewrite */
} weaver;

static const vyre_program_view *view(const weaver *w, uint32_t wave) {
    return vyre_program_get(w->f->programs[wave]);
}

static const char *fresh(weaver *w, const char *base) {
    const char *name = vyre_unique_name(&w->names, base);
    if (!name) {
        vyre_builder_fail_memory(w->b);
    }
    return name ? name : "x";
}

/* What a wave may not contain. */

static bool has(const vyre_program_view *p, vyre_stmt_op op) {
    return p->stats.stmt_kinds >> op & 1;
}

static vyre_status refuse(const weaver *w, uint32_t wave, const char *fix, const char *what) {
    return vyre_fail_at(w->f->diag, VYRE_UNSUPPORTED, "", vyre_program_place(w->f->programs[wave]),
                        fix, "wave %s %s", w->f->waves[wave].name, what);
}

static vyre_status check_wave(const weaver *w, uint32_t wave) {
    const vyre_program_view *p = view(w, wave);
    bool waits = has(p, VYRE_STMT_BARRIER) || has(p, VYRE_STMT_SUBGROUP) ||
                 has(p, VYRE_STMT_GROUP) || !vyre_program_has_no_grid_sync(w->f->programs[wave]);
    if (has(p, VYRE_STMT_INDIRECT_DISPATCH)) {
        return refuse(w, wave, "give it a grid", "has an indirect dispatch");
    }
    if (has(p, VYRE_STMT_EXIT) && waits) {
        return refuse(w, wave, "put what follows the exit under an if",
                      "ends lanes and has barriers or subgroup operations, so its lanes can't live "
                      "on in the next wave");
    }
    if (memcmp(p->workgroup, view(w, 0)->workgroup, sizeof p->workgroup) != 0) {
        return refuse(w, wave, "give all waves one workgroup size",
                      "has another workgroup size than the first wave");
    }
    if (w->together) {
        return VYRE_OK;
    }
    if (!vyre_program_has_no_grid_sync(w->f->programs[wave])) {
        return refuse(w, wave, "give all waves the same grid",
                      "waits for its grid, and the waves have different grids");
    }
    bool flat = p->workgroup[1] == 1 && p->workgroup[2] == 1;
    for (int axis = 1; axis < 3 && p->clause_kind == VYRE_CLAUSE_GRID; axis++) {
        flat = flat && (p->clause[axis] == VYRE_NONE ||
                        (p->exprs[p->clause[axis]].op == VYRE_EXPR_LITERAL &&
                         p->exprs[p->clause[axis]].u.bits == 1));
    }
    return flat ? VYRE_OK
                : refuse(w, wave, "give all waves the same grid",
                         "has more than one axis, and the waves have different grids");
}

/* Two waves without a clause have the same grid if they return the same buffers. */
static bool same_outputs(const vyre_program_view *a, const vyre_program_view *b) {
    uint32_t found = 0, wanted = 0;
    for (uint32_t i = 0; i < b->decl_count; i++) {
        wanted += b->decls[i].role == VYRE_INOUT || b->decls[i].role == VYRE_OUT;
    }
    for (uint32_t i = 0; i < a->decl_count; i++) {
        if (a->decls[i].role != VYRE_INOUT && a->decls[i].role != VYRE_OUT) {
            continue;
        }
        uint32_t k = 0;
        while (k < b->decl_count &&
               ((b->decls[k].role != VYRE_INOUT && b->decls[k].role != VYRE_OUT) ||
                strcmp(a->decls[i].name, b->decls[k].name) != 0)) {
            k++;
        }
        if (k == b->decl_count) {
            return false;
        }
        found++;
    }
    return found == wanted;
}

static bool same_grid(const vyre_program_view *a, const vyre_program_view *b) {
    if (a->clause_kind != b->clause_kind) {
        return false;
    }
    if (a->clause_kind == VYRE_CLAUSE_NONE) {
        return same_outputs(a, b);
    }
    return vyre_fuse_same_expr(a, a->clause[0], b, b->clause[0]) &&
           vyre_fuse_same_expr(a, a->clause[1], b, b->clause[1]) &&
           vyre_fuse_same_expr(a, a->clause[2], b, b->clause[2]);
}

/* Declarations */

static void declare_shared(weaver *w) {
    for (uint32_t i = 0; i < w->f->shared.count; i++) {
        const vyre_fuse_shared *s = &w->f->shared.data[i];
        const vyre_decl_node *d = &view(w, s->wave)->decls[s->decl];
        vyre_builder_at(w->b, vyre_program_decl_place(w->f->programs[s->wave], s->decl));
        if (s->role == VYRE_PARAM) {
            w->shared[i] = vyre_build_param(w->b, s->name, (vyre_type)s->type, VYRE_NONE);
        } else {
            w->shared[i] =
                vyre_build_memory(w->b, (vyre_role)s->role, s->name, (vyre_type)s->type, VYRE_NONE);
            if (d->range_begin != 0 || d->range_end != 0) {
                vyre_build_output_range(w->b, w->shared[i], d->range_begin, d->range_end);
            }
        }
        for (uint32_t wave = 0; wave < w->f->wave_count; wave++) {
            if (s->decl_of[wave] != VYRE_NONE) {
                w->rws[wave].decls[s->decl_of[wave]] = w->shared[i];
            }
        }
    }
}

static void declare_own(weaver *w, uint32_t wave) {
    vyre_rewriter *rw = &w->rws[wave];
    for (vyre_decl d = 0; d < rw->p->decl_count; d++) {
        const vyre_decl_node *n = &rw->p->decls[d];
        if (rw->decls[d] == VYRE_NONE && n->role != VYRE_CONST) {
            vyre_builder_at(w->b, vyre_program_decl_place(rw->source, d));
            rw->decls[d] = vyre_build_memory(w->b, (vyre_role)n->role, fresh(w, n->name),
                                             (vyre_type)n->type, VYRE_NONE);
        }
    }
}

static void complete_decls(weaver *w) {
    for (uint32_t i = 0; i < w->f->shared.count; i++) {
        const vyre_fuse_shared *s = &w->f->shared.data[i];
        vyre_rewriter *rw = &w->rws[s->wave];
        const vyre_decl_node *d = &rw->p->decls[s->decl];
        if (d->size != VYRE_NONE) {
            vyre_build_decl_size(w->b, w->shared[i], vyre_rewrite_expr(rw, d->size));
        }
        if (d->value != VYRE_NONE) {
            vyre_build_decl_value(w->b, w->shared[i], vyre_rewrite_expr(rw, d->value));
        }
    }
    for (uint32_t wave = 0; wave < w->f->wave_count; wave++) {
        vyre_rewriter *rw = &w->rws[wave];
        for (vyre_decl d = 0; d < rw->p->decl_count; d++) {
            vyre_role role = (vyre_role)rw->p->decls[d].role;
            if (role == VYRE_SCRATCH || role == VYRE_WORKGROUP || role == VYRE_PRIVATE) {
                vyre_expr size = vyre_rewrite_expr(rw, rw->p->decls[d].size);
                vyre_build_decl_size(w->b, rw->decls[d], size);
            }
        }
    }
}

/* Grids */

static vyre_expr op2(weaver *w, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return x == VYRE_NONE ? y : vyre_build_op(w->b, op, x, y, VYRE_NONE);
}

/* Lanes of a wave without a clause: the largest buffer it returns. */
static vyre_expr inferred(weaver *w, uint32_t wave) {
    const vyre_program_view *p = view(w, wave);
    vyre_expr most = VYRE_NONE;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (p->decls[d].role == VYRE_INOUT || p->decls[d].role == VYRE_OUT) {
            most = op2(w, VYRE_EXPR_MAX, most, vyre_build_len(w->b, w->rws[wave].decls[d]));
        }
    }
    return most == VYRE_NONE ? vyre_build_size(w->b, 1) : most;
}

/* Workgroups of a wave, as an exact integer for the clause of the result. */
static vyre_expr exact_groups(weaver *w, uint32_t wave) {
    const vyre_program_view *p = view(w, wave);
    if (p->clause_kind == VYRE_CLAUSE_GRID) {
        return vyre_rewrite_expr(&w->rws[wave], p->clause[0]);
    }
    vyre_expr lanes = p->clause_kind == VYRE_CLAUSE_ELEMENTS
                          ? vyre_rewrite_expr(&w->rws[wave], p->clause[0])
                          : inferred(w, wave);
    lanes = op2(w, VYRE_EXPR_ADD, lanes, vyre_build_size(w->b, (int64_t)p->workgroup[0] - 1));
    return op2(w, VYRE_EXPR_DIV, lanes, vyre_build_size(w->b, p->workgroup[0]));
}

/* The same number computed by the lanes: in i64, which holds every value that a grid can have. */
static vyre_expr widen(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands, void *user) {
    (void)operands;
    (void)user;
    const vyre_expr_node *n = &rw->p->exprs[expr];
    vyre_expr folded = vyre_rewrite_const(rw, expr);
    if (folded != VYRE_NONE) {
        return vyre_build_cast(rw->to, VYRE_I64, folded);
    }
    if (n->op == VYRE_EXPR_LEN) {
        return vyre_build_cast(rw->to, VYRE_I64, vyre_build_len(rw->to, rw->decls[n->ref]));
    }
    if (n->op == VYRE_EXPR_REF) {
        return vyre_build_cast(rw->to, VYRE_I64, vyre_build_ref(rw->to, rw->decls[n->ref]));
    }
    return VYRE_NONE;
}

static vyre_expr i64(weaver *w, int64_t value) {
    return vyre_build_literal(w->b, VYRE_I64, (uint64_t)value);
}

static vyre_expr groups_at_run_time(weaver *w, uint32_t wave) {
    vyre_rewriter *rw = &w->rws[wave];
    const vyre_program_view *p = rw->p;
    vyre_expr value;
    if (p->clause_kind == VYRE_CLAUSE_NONE) {
        value = vyre_build_cast(w->b, VYRE_I64, inferred(w, wave));
    } else {
        vyre_expr (*saved)(vyre_rewriter *, vyre_expr, const vyre_expr *, void *) = rw->replace;
        rw->replace = widen;
        value = vyre_rewrite_expr(rw, p->clause[0]);
        rw->replace = saved;
    }
    if (p->clause_kind != VYRE_CLAUSE_GRID) {
        value = op2(w, VYRE_EXPR_ADD, value, i64(w, (int64_t)p->workgroup[0] - 1));
        value = op2(w, VYRE_EXPR_DIV, value, i64(w, p->workgroup[0]));
    }
    return vyre_build_cast(w->b, VYRE_U32, value);
}

static void write_clause(weaver *w) {
    const vyre_program_view *p = view(w, 0);
    vyre_builder_at(w->b, vyre_program_place(w->f->programs[0]));
    vyre_build_workgroup(w->b, p->workgroup[0], p->workgroup[1], p->workgroup[2]);
    if (!w->together) {
        vyre_expr most = VYRE_NONE;
        for (uint32_t g = 0; g < w->f->plan->group_count; g++) {
            vyre_expr sum = VYRE_NONE;
            for (uint32_t k = w->f->plan->group_start[g]; k < w->f->plan->group_start[g + 1]; k++) {
                sum = op2(w, VYRE_EXPR_ADD, sum, exact_groups(w, w->f->plan->waves[k]));
            }
            most = op2(w, VYRE_EXPR_MAX, most, sum);
        }
        vyre_build_grid(w->b, most, VYRE_NONE, VYRE_NONE);
    } else if (p->clause_kind == VYRE_CLAUSE_GRID) {
        vyre_expr x = vyre_rewrite_expr(&w->rws[0], p->clause[0]);
        vyre_expr y = vyre_rewrite_expr(&w->rws[0], p->clause[1]);
        vyre_expr z = vyre_rewrite_expr(&w->rws[0], p->clause[2]);
        vyre_build_grid(w->b, x, y, z);
    } else {
        vyre_build_elements(w->b, p->clause_kind == VYRE_CLAUSE_ELEMENTS
                                      ? vyre_rewrite_expr(&w->rws[0], p->clause[0])
                                      : inferred(w, 0));
    }
}

/* Bodies */

/* Consts as literals; ids as if the wave's workgroups were the whole grid. */
static vyre_expr replace(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands, void *user) {
    weaver *w = user;
    const vyre_expr_node *n = &rw->p->exprs[expr];
    vyre_expr folded = vyre_rewrite_const(rw, expr);
    if (folded != VYRE_NONE || n->op != VYRE_EXPR_BUILTIN || w->together || n->axis != 0) {
        return folded;
    }
    (void)operands;
    vyre_expr group =
        vyre_build_op(w->b, VYRE_EXPR_SUB, vyre_build_id(w->b, VYRE_BUILTIN_GROUP_ID, 0),
                      vyre_build_var(w->b, w->first), VYRE_NONE);
    vyre_expr lanes = vyre_build_u32(w->b, rw->p->workgroup[0]);
    if (n->sub == VYRE_BUILTIN_GROUP_ID) {
        return group;
    }
    if (n->sub == VYRE_BUILTIN_NUM_GROUPS) {
        return vyre_build_var(w->b, w->count);
    }
    if (n->sub == VYRE_BUILTIN_GLOBAL_ID) {
        return op2(w, VYRE_EXPR_ADD, op2(w, VYRE_EXPR_MUL, group, lanes),
                   vyre_build_id(w->b, VYRE_BUILTIN_LOCAL_ID, 0));
    }
    if (n->sub == VYRE_BUILTIN_GLOBAL_SIZE) {
        return op2(w, VYRE_EXPR_MUL, vyre_build_var(w->b, w->count), lanes);
    }
    return VYRE_NONE;
}

static const char *rename_var(vyre_rewriter *rw, vyre_var var, void *user) {
    return fresh(user, rw->p->vars[var].name);
}

/* Tags are used once in a program: the wave's name makes them different. */
static const char *retag(vyre_rewriter *rw, const char *tag, void *user) {
    static const char hex[] = "0123456789abcdef";
    (void)rw;
    weaver *w = user;
    char text[VYRE_LIMIT_NAME + 1];
    size_t length = (size_t)snprintf(text, sizeof text, "%.230s #", tag);
    for (int shift = 28; shift >= 0; shift -= 4) {
        text[length++] = hex[w->wave >> shift & 15];
    }
    uint32_t number = vyre_intern_add(&w->names.used, text, length);
    if (number == VYRE_INTERN_NONE) {
        vyre_builder_fail_memory(w->b);
        return NULL;
    }
    return vyre_intern_text(&w->names.used, number);
}

/* Copies the wave; exits become breaks, and loops that hold one are left one after another. */
static void write_stmts(weaver *w) {
    vyre_rewriter *rw = &w->rws[w->wave];
    const vyre_program_view *p = rw->p;
    vyre_stmt last_exit = VYRE_NONE;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op == VYRE_STMT_EXIT && w->leaves) {
            vyre_builder_at(w->b, vyre_program_stmt_place(rw->source, s));
            vyre_build_assign(w->b, w->left, vyre_build_bool(w->b, true));
            vyre_build_break(w->b);
            last_exit = s;
            continue;
        }
        vyre_rewrite_stmt(rw, s);
        bool ends_loop = n->op == VYRE_STMT_END && (p->stmts[n->match].op == VYRE_STMT_FOR ||
                                                    p->stmts[n->match].op == VYRE_STMT_WHILE);
        if (ends_loop && last_exit != VYRE_NONE && last_exit > n->match) {
            vyre_build_if(w->b, vyre_build_var(w->b, w->left));
            vyre_build_break(w->b);
            vyre_build_end(w->b);
        }
    }
}

static void write_wave(weaver *w, uint32_t wave, vyre_var *next_first) {
    w->wave = wave;
    w->leaves = has(view(w, wave), VYRE_STMT_EXIT);
    vyre_builder_at(w->b, vyre_program_place(w->f->programs[wave]));
    if (!w->together) {
        w->first = *next_first;
        w->count = vyre_build_let(w->b, fresh(w, "_count"), groups_at_run_time(w, wave));
        vyre_expr end =
            op2(w, VYRE_EXPR_ADD, vyre_build_var(w->b, w->first), vyre_build_var(w->b, w->count));
        *next_first = vyre_build_let(w->b, fresh(w, "_first"), end);
    }
    vyre_build_region(w->b, w->f->waves[wave].name);
    if (!w->together) {
        vyre_expr mine =
            vyre_build_op(w->b, VYRE_EXPR_SUB, vyre_build_id(w->b, VYRE_BUILTIN_GROUP_ID, 0),
                          vyre_build_var(w->b, w->first), VYRE_NONE);
        vyre_build_if(w->b, op2(w, VYRE_EXPR_LT, mine, vyre_build_var(w->b, w->count)));
    }
    if (w->leaves) {
        w->left = vyre_build_let(w->b, fresh(w, "_left"), vyre_build_bool(w->b, false));
        (void)vyre_build_for(w->b, fresh(w, "_once"), vyre_build_u32(w->b, 0),
                             vyre_build_u32(w->b, 1), VYRE_NONE);
    }
    write_stmts(w);
    if (w->leaves) {
        vyre_build_end(w->b);
    }
    if (!w->together) {
        vyre_build_end(w->b);
    }
    vyre_build_end(w->b);
}

static void write_groups(weaver *w) {
    const vyre_plan *plan = w->f->plan;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        vyre_var first = VYRE_NONE;
        if (g > 0) {
            vyre_build_grid_sync(w->b);
        }
        if (!w->together) {
            first = vyre_build_let(w->b, fresh(w, "_first"), vyre_build_u32(w->b, 0));
        }
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            write_wave(w, plan->waves[k], &first);
        }
    }
}

static vyre_status write_program(weaver *w, vyre_program **out_program) {
    w->together = true;
    for (uint32_t i = 1; i < w->f->wave_count; i++) {
        w->together = w->together && same_grid(view(w, 0), view(w, i));
    }
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < w->f->wave_count && status == VYRE_OK; i++) {
        status = check_wave(w, i);
    }
    if (status != VYRE_OK) {
        return status;
    }
    for (uint32_t i = 0; i < w->f->shared.count; i++) {
        (void)fresh(w, w->f->shared.data[i].name);
    }
    declare_shared(w);
    for (uint32_t i = 0; i < w->f->wave_count; i++) {
        declare_own(w, i);
    }
    complete_decls(w);
    write_clause(w);
    write_groups(w);
    return vyre_builder_finish(w->b, out_program, w->f->diag);
}

/* The result is checked like any program: fusion must not make anything that is not valid. */
static vyre_status check_result(vyre_fusion *f, vyre_program *program) {
    vyre_diag items[1];
    vyre_diag_list list = {.items = items, .capacity = 1};
    vyre_status status = vyre_check(program, &f->allocator, &list);
    if (status != VYRE_OK && f->diag && list.count) {
        *f->diag = items[0];
    }
    return status;
}

vyre_status vyre_fuse_build(vyre_fusion *f, const char *name, vyre_program **out_program) {
    const vyre_allocator *a = &f->allocator;
    weaver w = {.f = f};
    vyre_unique_init(&w.names, a);
    w.shared = vyre_alloc(a, f->shared.count, sizeof *w.shared);
    w.rws = vyre_alloc_zeroed(a, f->wave_count, sizeof *w.rws);
    vyre_status status =
        w.shared && w.rws ? vyre_builder_create(a, name, &w.b) : VYRE_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < f->wave_count && status == VYRE_OK; i++) {
        status = vyre_rewriter_init(&w.rws[i], f->programs[i], w.b, a);
        w.rws[i].replace = replace;
        w.rws[i].rename = rename_var;
        w.rws[i].retag = retag;
        w.rws[i].user = &w;
    }
    vyre_program *program = NULL;
    status = status == VYRE_OK ? write_program(&w, &program) : vyre_fail_memory(f->diag, "fusion");
    if (status == VYRE_OK) {
        status = check_result(f, program);
    }
    if (status == VYRE_OK) {
        *out_program = program;
    } else {
        vyre_program_release(program);
    }
    for (uint32_t i = 0; w.rws && i < f->wave_count; i++) {
        vyre_rewriter_finish(&w.rws[i]);
    }
    vyre_free(a, w.shared, f->shared.count, sizeof *w.shared);
    vyre_free(a, w.rws, f->wave_count, sizeof *w.rws);
    vyre_builder_destroy(w.b);
    vyre_unique_finish(&w.names);
    return status;
}
