/* The rewriter. Trees are contiguous and in postfix order, so copying one is a loop with a stack of
 * copied operands. */
#include "ir/rewrite.h"

#include <string.h>

#include "ir/builder.h"
#include "ir/dimensions.h"
#include "ir/fold.h"
#include "ir/program.h"

static bool fill_none(uint32_t *map, uint32_t count) {
    if (map) {
        memset(map, 0xff, count * sizeof *map);
    }
    return map != NULL;
}

vyre_status vyre_rewriter_init(vyre_rewriter *rw, const vyre_program *source, vyre_builder *to,
                               const vyre_allocator *a) {
    const vyre_program_view *p = vyre_program_get(source);
    *rw = (vyre_rewriter){.allocator = *a, .source = source, .p = p, .to = to};
    rw->decls = vyre_alloc(a, p->decl_count, sizeof *rw->decls);
    rw->vars = vyre_alloc(a, p->var_count, sizeof *rw->vars);
    rw->fns = vyre_alloc(a, p->fn_count, sizeof *rw->fns);
    bool all = fill_none(rw->decls, p->decl_count);
    all = fill_none(rw->vars, p->var_count) && all;
    all = fill_none(rw->fns, p->fn_count) && all;
    if (!all) {
        vyre_rewriter_finish(rw);
        return VYRE_OUT_OF_MEMORY;
    }
    return VYRE_OK;
}

void vyre_rewriter_finish(vyre_rewriter *rw) {
    if (rw->p) {
        vyre_free(&rw->allocator, rw->decls, rw->p->decl_count, sizeof *rw->decls);
        vyre_free(&rw->allocator, rw->vars, rw->p->var_count, sizeof *rw->vars);
        vyre_free(&rw->allocator, rw->fns, rw->p->fn_count, sizeof *rw->fns);
    }
    *rw = (vyre_rewriter){0};
}

vyre_expr vyre_expr_first(const vyre_program_view *p, vyre_expr root) {
    while (vyre_expr_arity(&p->exprs[root]) > 0) {
        root = p->exprs[root].u.arg[0];
    }
    return root;
}

static vyre_expr copy_node(vyre_rewriter *rw, const vyre_expr_node *e, const vyre_expr *in) {
    vyre_builder *to = rw->to;
    switch ((int)e->op) {
    case VYRE_EXPR_LITERAL: return vyre_build_literal(to, (vyre_type)e->type, e->u.bits);
    case VYRE_EXPR_VAR: return vyre_build_var(to, rw->vars[e->ref]);
    case VYRE_EXPR_REF: return vyre_build_ref(to, rw->decls[e->ref]);
    case VYRE_EXPR_LEN: return vyre_build_len(to, rw->decls[e->ref]);
    case VYRE_EXPR_BUILTIN: return vyre_build_id(to, (vyre_builtin)e->sub, e->axis);
    case VYRE_EXPR_LOAD: return vyre_build_load(to, rw->decls[e->ref], in[0]);
    case VYRE_EXPR_CAST: return vyre_build_cast(to, (vyre_type)e->sub, in[0]);
    case VYRE_EXPR_BITCAST: return vyre_build_bitcast(to, (vyre_type)e->type, in[0]);
    default: return vyre_build_op(to, (vyre_expr_op)e->op, in[0], in[1], in[2]);
    }
}

vyre_expr vyre_rewrite_expr(vyre_rewriter *rw, vyre_expr root) {
    vyre_expr stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2];
    uint32_t top = 0;
    stack[0] = VYRE_NONE;
    if (root == VYRE_NONE) {
        return VYRE_NONE;
    }
    for (vyre_expr i = vyre_expr_first(rw->p, root); i <= root; i++) {
        const vyre_expr_node *e = &rw->p->exprs[i];
        uint32_t arity = vyre_expr_arity(e);
        top -= arity;
        vyre_expr in[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        memcpy(in, stack + top, arity * sizeof in[0]);
        vyre_builder_at(rw->to, vyre_program_expr_place(rw->source, i));
        vyre_expr made = rw->replace ? rw->replace(rw, i, in, rw->user) : VYRE_NONE;
        stack[top++] = made == VYRE_NONE ? copy_node(rw, e, in) : made;
    }
    return stack[0];
}

vyre_expr vyre_rewrite_const(vyre_rewriter *rw, vyre_expr expr) {
    const vyre_expr_node *n = &rw->p->exprs[expr];
    uint64_t bits;
    if (n->op == VYRE_EXPR_REF && rw->p->decls[n->ref].role == VYRE_CONST &&
        vyre_fold_const(rw->p, n->ref, &bits)) {
        /* The declaration's type: in sizes the node itself is an exact integer. */
        return vyre_build_literal(rw->to, (vyre_type)rw->p->decls[n->ref].type, bits);
    }
    return VYRE_NONE;
}

void vyre_rewrite_header(vyre_rewriter *rw) {
    const vyre_program_view *p = rw->p;
    vyre_builder_at(rw->to, vyre_program_place(rw->source));
    vyre_build_workgroup(rw->to, p->workgroup[0], p->workgroup[1], p->workgroup[2]);
    if (p->clause_kind == VYRE_CLAUSE_ELEMENTS) {
        vyre_build_elements(rw->to, vyre_rewrite_expr(rw, p->clause[0]));
    } else if (p->clause_kind == VYRE_CLAUSE_GRID) {
        vyre_expr x = vyre_rewrite_expr(rw, p->clause[0]);
        vyre_expr y = vyre_rewrite_expr(rw, p->clause[1]);
        vyre_expr z = vyre_rewrite_expr(rw, p->clause[2]);
        vyre_build_grid(rw->to, x, y, z);
    }
}

static vyre_decl declare(vyre_rewriter *rw, vyre_decl decl) {
    const vyre_decl_node *d = &rw->p->decls[decl];
    vyre_builder_at(rw->to, vyre_program_decl_place(rw->source, decl));
    vyre_decl made;
    if (d->role == VYRE_PARAM) {
        made = vyre_build_param(rw->to, d->name, (vyre_type)d->type, VYRE_NONE);
    } else if (d->role == VYRE_CONST) {
        made = vyre_build_const(rw->to, d->name, VYRE_NONE);
        vyre_builder_set_decl_type(rw->to, made, (vyre_type)d->type);
    } else {
        made =
            vyre_build_memory(rw->to, (vyre_role)d->role, d->name, (vyre_type)d->type, VYRE_NONE);
        if (d->range_begin != 0 || d->range_end != 0) {
            vyre_build_output_range(rw->to, made, d->range_begin, d->range_end);
        }
        if (d->access != VYRE_ACCESS_FULL) {
            vyre_build_access(rw->to, made, (vyre_access)d->access);
        }
    }
    rw->decls[decl] = made;
    return made;
}

static void complete(vyre_rewriter *rw, vyre_decl decl) {
    const vyre_decl_node *d = &rw->p->decls[decl];
    if (d->size != VYRE_NONE) {
        vyre_build_decl_size(rw->to, rw->decls[decl], vyre_rewrite_expr(rw, d->size));
    }
    if (d->value != VYRE_NONE) {
        vyre_build_decl_value(rw->to, rw->decls[decl], vyre_rewrite_expr(rw, d->value));
    }
    if (d->rank > 1) {
        vyre_builder_set_dimensions(rw->to, rw->decls[decl], d->rank,
                                    vyre_rewrite_expr(rw, d->inner));
    }
}

vyre_decl vyre_rewrite_decl(vyre_rewriter *rw, vyre_decl decl) {
    vyre_decl made = declare(rw, decl);
    complete(rw, decl);
    return made;
}

void vyre_rewrite_decls(vyre_rewriter *rw) {
    for (uint32_t i = 0; i < rw->p->decl_count; i++) {
        (void)declare(rw, i);
    }
    for (uint32_t i = 0; i < rw->p->decl_count; i++) {
        complete(rw, i);
    }
}

static const char *name_of(vyre_rewriter *rw, vyre_var var) {
    const char *name = var == VYRE_NONE ? NULL : rw->p->vars[var].name;
    const char *renamed = name && rw->rename ? rw->rename(rw, var, rw->user) : NULL;
    return renamed ? renamed : name;
}

static void rewrite_effects(vyre_rewriter *rw, vyre_fn fn) {
    const vyre_fn_node *f = &rw->p->fns[fn];
    uint32_t count = f->reads + f->writes;
    vyre_decl *effects = vyre_alloc(&rw->allocator, count, sizeof *effects);
    if (!effects) {
        vyre_builder_fail_memory(rw->to);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        effects[i] = rw->decls[rw->p->args[f->first_effect + i]];
    }
    vyre_build_fn_opaque(rw->to, rw->fns[fn], effects, f->reads, effects + f->reads, f->writes);
    vyre_free(&rw->allocator, effects, count, sizeof *effects);
}

vyre_fn vyre_rewrite_fn_declare(vyre_rewriter *rw, vyre_fn fn) {
    const vyre_program_view *p = rw->p;
    const vyre_fn_node *f = &p->fns[fn];
    const char *names[VYRE_LIMIT_ARGUMENTS];
    vyre_type types[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t k = 0; k < f->arg_count; k++) {
        names[k] = name_of(rw, f->first_var + k);
        types[k] = (vyre_type)p->vars[f->first_var + k].type;
    }
    vyre_builder_at(rw->to, vyre_program_fn_place(rw->source, fn));
    rw->fns[fn] = vyre_build_fn(rw->to, f->name, names, types, f->arg_count, (vyre_type)f->type);
    for (uint32_t k = 0; k < f->arg_count; k++) {
        rw->vars[f->first_var + k] = vyre_build_fn_argument(rw->to, rw->fns[fn], k);
    }
    if (f->opaque) {
        rewrite_effects(rw, fn);
    }
    return rw->fns[fn];
}

void vyre_rewrite_fn_body(vyre_rewriter *rw, vyre_fn fn) {
    vyre_build_fn_begin(rw->to, rw->fns[fn]);
    vyre_rewrite_range(rw, rw->p->fns[fn].begin, rw->p->fns[fn].end);
    vyre_build_fn_end(rw->to);
}

void vyre_rewrite_fns(vyre_rewriter *rw) {
    for (uint32_t i = 0; i < rw->p->fn_count; i++) {
        (void)vyre_rewrite_fn_declare(rw, i);
    }
    for (uint32_t i = 0; i < rw->p->fn_count; i++) {
        vyre_rewrite_fn_body(rw, i);
    }
}

static void map_var(vyre_rewriter *rw, vyre_var from, vyre_var made) {
    if (from != VYRE_NONE) {
        rw->vars[from] = made;
    }
}

static void rewrite_call(vyre_rewriter *rw, const vyre_stmt_node *s, const char *name,
                         vyre_place place) {
    vyre_expr args[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < s->arg_count; i++) {
        args[i] = vyre_rewrite_expr(rw, rw->p->args[s->first_arg + i]);
    }
    vyre_builder_at(rw->to, place);
    map_var(rw, s->var, vyre_build_call(rw->to, name, rw->fns[s->fn], args, s->arg_count));
}

static vyre_decl mapped(const vyre_rewriter *rw, vyre_decl decl) {
    return decl == VYRE_NONE ? VYRE_NONE : rw->decls[decl];
}

static const char *tag_of(vyre_rewriter *rw, const vyre_stmt_node *s) {
    bool is_async = s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE ||
                    s->op == VYRE_STMT_ASYNC_WAIT;
    const char *tag = is_async && rw->retag ? rw->retag(rw, s->text, rw->user) : NULL;
    return tag ? tag : s->text;
}

static vyre_type type_of(const vyre_rewriter *rw, vyre_var var) {
    return var == VYRE_NONE ? VYRE_VOID : (vyre_type)rw->p->vars[var].type;
}

void vyre_rewrite_stmt(vyre_rewriter *rw, vyre_stmt stmt) {
    const vyre_stmt_node *s = &rw->p->stmts[stmt];
    vyre_place place = vyre_program_stmt_place(rw->source, stmt);
    const char *name = name_of(rw, s->var);
    vyre_builder *to = rw->to;
    if (s->op == VYRE_STMT_CALL) {
        rewrite_call(rw, s, name, place);
        return;
    }
    vyre_expr a = vyre_rewrite_expr(rw, s->arg[0]);
    vyre_expr b = vyre_rewrite_expr(rw, s->arg[1]);
    vyre_expr c = vyre_rewrite_expr(rw, s->arg[2]);
    vyre_decl d = mapped(rw, s->decl), d2 = mapped(rw, s->decl2);
    const char *tag = tag_of(rw, s);
    vyre_builder_at(to, place);
    switch ((vyre_stmt_op)s->op) {
    case VYRE_STMT_LET: map_var(rw, s->var, vyre_build_let(to, name, a)); break;
    case VYRE_STMT_ASSIGN: vyre_build_assign(to, rw->vars[s->var], a); break;
    case VYRE_STMT_STORE: vyre_build_store(to, d, a, b); break;
    case VYRE_STMT_ATOMIC:
        map_var(rw, s->var,
                vyre_build_atomic(to, name, (vyre_atomic_op)s->sub, d, a, c, b,
                                  (vyre_ordering)s->ordering));
        break;
    case VYRE_STMT_SUBGROUP:
        map_var(rw, s->var, vyre_build_subgroup(to, name, (vyre_subgroup_op)s->sub, a, b));
        break;
    case VYRE_STMT_GROUP:
        map_var(rw, s->var, vyre_build_group_reduce(to, name, (vyre_reduce_op)s->sub, a, b));
        break;
    case VYRE_STMT_GRID:
        map_var(rw, s->var, vyre_build_grid_reduce(to, name, (vyre_reduce_op)s->sub, a));
        break;
    case VYRE_STMT_PART: vyre_build_part(to, s->fn, (vyre_reduce_op)s->sub, a); break;
    case VYRE_STMT_COMBINE:
        map_var(rw, s->var,
                vyre_build_combine(to, name, s->fn, (vyre_reduce_op)s->sub, type_of(rw, s->var)));
        break;
    case VYRE_STMT_BASE:
        map_var(rw, s->var,
                vyre_build_base(to, name, s->fn, (vyre_reduce_op)s->sub, type_of(rw, s->var)));
        break;
    case VYRE_STMT_IF: vyre_build_if(to, a); break;
    case VYRE_STMT_ELSE: vyre_build_else(to); break;
    case VYRE_STMT_FOR: map_var(rw, s->var, vyre_build_for(to, name, a, b, c)); break;
    case VYRE_STMT_WHILE: vyre_build_while(to, a); break;
    case VYRE_STMT_BLOCK: vyre_build_block(to); break;
    case VYRE_STMT_REGION: vyre_build_region(to, s->text); break;
    case VYRE_STMT_END: vyre_build_end(to); break;
    case VYRE_STMT_BREAK: vyre_build_break(to); break;
    case VYRE_STMT_CONTINUE: vyre_build_continue(to); break;
    case VYRE_STMT_EXIT: vyre_build_exit(to); break;
    case VYRE_STMT_RETURN: vyre_build_return(to, a); break;
    case VYRE_STMT_BARRIER: vyre_build_barrier(to, (vyre_ordering)s->ordering); break;
    case VYRE_STMT_GRID_SYNC: vyre_build_grid_sync(to); break;
    case VYRE_STMT_TRAP: vyre_build_trap(to, s->text, a); break;
    case VYRE_STMT_ASYNC_LOAD: vyre_build_async_load(to, d, d2, a, b, tag); break;
    case VYRE_STMT_ASYNC_STORE: vyre_build_async_store(to, d, d2, a, b, tag); break;
    case VYRE_STMT_ASYNC_WAIT: vyre_build_async_wait(to, tag); break;
    case VYRE_STMT_ALL_REDUCE: vyre_build_all_reduce(to, d, (vyre_collective_op)s->sub, a); break;
    case VYRE_STMT_ALL_GATHER: vyre_build_all_gather(to, d, d2, a); break;
    case VYRE_STMT_REDUCE_SCATTER:
        vyre_build_reduce_scatter(to, d, d2, (vyre_collective_op)s->sub, a);
        break;
    case VYRE_STMT_BROADCAST: vyre_build_broadcast(to, d, b, a); break;
    case VYRE_STMT_SWAP: vyre_build_swap(to, d, d2); break;
    case VYRE_STMT_INDIRECT_DISPATCH: vyre_build_indirect_dispatch(to, d, a); break;
    case VYRE_STMT_CALL:
    case VYRE_STMT_COUNT: break;
    }
}

void vyre_rewrite_range(vyre_rewriter *rw, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt s = begin; s < end; s++) {
        vyre_rewrite_stmt(rw, s);
    }
}
