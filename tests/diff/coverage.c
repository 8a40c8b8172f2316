/* Two walks: over the statements that are reached, for what stands in them; and over the expanded
 * program, calls followed by their bodies, for jumps: a scan from each jump, to the ends of the
 * loop around it, finds the barriers on its way. An arm that excludes the jump's own is left out.
 */
#include "diff/coverage.h"

#include "analysis/conditions.h"
#include "analysis/shape.h"
#include "base/alloc.h"
#include "diff/coverage_tiles.h"
#include "ir/waits.h"

static void hold(coverage *out, cell c) {
    const uint32_t number = cell_number(c);
    out->bits[number / 64] |= UINT64_C(1) << number % 64;
}

/* What stands in statements */

static void note_memory(coverage *out, const vyre_program_view *p, vyre_decl decl) {
    if (decl != VYRE_NONE) {
        hold(out, (cell){CELL_MEMORY, {p->decls[decl].role, p->decls[decl].type}});
        hold(out, (cell){CELL_RANK, {p->decls[decl].role, p->decls[decl].rank}});
    }
}

static void note_expr(coverage *out, const vyre_program_view *p, const vyre_expr_node *e) {
    const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)e->op);
    uint32_t type = e->type;
    if (e->op == VYRE_EXPR_LOAD) {
        type = p->decls[e->ref].type;
    } else if (e->op == VYRE_EXPR_CAST) {
        type = e->sub;
    } else if (info->operands == VYRE_OPERANDS_SELECT) {
        type = p->exprs[e->u.arg[1]].type;
    } else if (info->arity > 0 && e->op != VYRE_EXPR_BITCAST) {
        type = p->exprs[e->u.arg[0]].type;
    }
    hold(out, (cell){CELL_EXPR, {e->op, type}});
    if (e->op == VYRE_EXPR_BUILTIN) {
        hold(out, (cell){CELL_BUILTIN, {e->sub, e->axis}});
    } else if (e->op == VYRE_EXPR_LOAD || e->op == VYRE_EXPR_REF) {
        note_memory(out, p, e->ref);
    }
}

static void note_stmt(coverage *out, const vyre_program_view *p, const vyre_stmt_node *s) {
    hold(out, (cell){CELL_STMT, {s->op}});
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        note_expr(out, p, &p->exprs[e]);
    }
    note_memory(out, p, s->decl);
    note_memory(out, p, s->decl2);
    if (s->op == VYRE_STMT_ATOMIC) {
        const vyre_decl_node *d = &p->decls[s->decl];
        const uint32_t where = d->role == VYRE_WORKGROUP ? CELL_GROUP_MEMORY : CELL_BUFFER;
        hold(out, (cell){CELL_ATOMIC, {s->sub, d->type, where}});
        hold(out, (cell){CELL_ORDERING, {0, s->ordering}});
    } else if (s->op == VYRE_STMT_BARRIER) {
        hold(out, (cell){CELL_ORDERING, {1, s->ordering}});
    } else if (s->op == VYRE_STMT_SUBGROUP) {
        hold(out, (cell){CELL_SUBGROUP, {s->sub, p->exprs[s->arg[0]].type}});
    } else if (s->op == VYRE_STMT_GROUP || s->op == VYRE_STMT_GRID) {
        hold(out, (cell){CELL_REDUCE, {s->op == VYRE_STMT_GRID, s->sub, p->exprs[s->arg[0]].type}});
    } else if (s->op == VYRE_STMT_ALL_REDUCE || s->op == VYRE_STMT_REDUCE_SCATTER) {
        hold(out, (cell){CELL_COLLECTIVE, {s->op == VYRE_STMT_REDUCE_SCATTER, s->sub}});
    }
}

static uint64_t note_body(coverage *out, const vyre_program_view *p, vyre_stmt begin,
                          vyre_stmt end) {
    uint64_t called = 0;
    for (vyre_stmt s = begin; s < end; s++) {
        note_stmt(out, p, &p->stmts[s]);
        called |= p->stmts[s].op == VYRE_STMT_CALL ? UINT64_C(1) << p->stmts[s].fn % 64 : 0;
    }
    return called;
}

static void note_bodies(coverage *out, const vyre_program_view *p) {
    uint64_t called = note_body(out, p, p->entry, p->stmt_count), done = 0;
    while ((called & ~done) != 0) {
        const uint32_t fn = (uint32_t)__builtin_ctzll(called & ~done);
        done |= UINT64_C(1) << fn;
        called |= note_body(out, p, p->fns[fn].begin, p->fns[fn].end);
    }
}

/* Jumps */

typedef struct walk {
    const vyre_program_view *p;
    const vyre_shapes *shapes;
    coverage *out;
    uint32_t open[2 * VYRE_LIMIT_NESTING]; /* visits of openers around */
    uint32_t depth;
} walk;

static const vyre_stmt_node *node_of(const walk *w, uint32_t visit) {
    return &w->p->stmts[vyre_shapes_stmt(w->shapes, visit)];
}

static vyre_scope scope_of(const walk *w, uint32_t visit) {
    return (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)node_of(w, visit)->op)->scope;
}

static bool is_loop(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

/* Scopes of barriers between the jump and the end of its loop or the program, a bit each. Forward
 * or backward; what opens in one direction closes in the other. */
static uint32_t barriers_from(const walk *w, uint32_t visit, bool forward) {
    const uint32_t visits = vyre_shapes_visit_count(w->shapes);
    const vyre_scope enters = forward ? VYRE_SCOPE_OPEN : VYRE_SCOPE_END;
    const vyre_scope leaves = forward ? VYRE_SCOPE_END : VYRE_SCOPE_OPEN;
    uint32_t found = 0, depth = 0;
    bool excluded = false; /* in the other arm of an `if` around the jump */
    for (uint32_t at = forward ? visit + 1 : visit - 1; at < visits;
         at += forward ? 1 : UINT32_MAX) {
        const vyre_stmt_node *n = node_of(w, at);
        const vyre_scope scope = scope_of(w, at);
        if (scope == leaves && depth == 0) {
            const uint8_t op = forward ? w->p->stmts[n->match].op : n->op;
            if (is_loop(op)) {
                break;
            }
            excluded = false;
        } else if (scope == VYRE_SCOPE_ELSE && depth == 0) {
            excluded = true;
        } else {
            depth += scope == enters;
            depth -= scope == leaves;
            if (!excluded) {
                found |= (uint32_t)vyre_waits_for_grid(n->op) << CELL_GRID_SYNC;
                found |= (uint32_t)vyre_waits_for_group(n->op) << CELL_BARRIER;
            }
        }
    }
    return found;
}

static bool is_constant(const walk *w, const vyre_stmt_node *n) {
    bool constant = true;
    for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
        const vyre_expr_node *x = &w->p->exprs[e];
        constant &= x->op != VYRE_EXPR_VAR && x->op != VYRE_EXPR_LOAD &&
                    x->op != VYRE_EXPR_BUILTIN && x->op != VYRE_EXPR_LEN &&
                    (x->op != VYRE_EXPR_REF || w->p->decls[x->ref].role == VYRE_CONST);
    }
    return constant;
}

/* Of the `if`s around, up to the loop. */
static bool all_constant(const walk *w) {
    for (uint32_t i = w->depth; i-- > 0;) {
        const vyre_stmt_node *n = node_of(w, w->open[i]);
        if (is_loop(n->op)) {
            break;
        }
        if (n->op == VYRE_STMT_IF && !is_constant(w, n)) {
            return false;
        }
    }
    return true;
}

static cell_level level_of(const walk *w, uint32_t visit) {
    switch ((vyre_shape_kind)vyre_shapes_control(w->shapes, visit).kind) {
    case VYRE_SHAPE_GROUP: return CELL_GROUP;
    case VYRE_SHAPE_ROW: return CELL_ROW;
    case VYRE_SHAPE_SUBGROUP: return CELL_TOGETHER;
    case VYRE_SHAPE_LINEAR:
    case VYRE_SHAPE_VARYING: return CELL_VARYING;
    case VYRE_SHAPE_NONE:
    case VYRE_SHAPE_GRID: break;
    }
    return all_constant(w) ? CELL_CONSTANT : CELL_GRID;
}

static cell_jump jump_of(uint8_t op) {
    switch ((uint32_t)op) {
    case VYRE_STMT_BREAK: return CELL_BREAK;
    case VYRE_STMT_CONTINUE: return CELL_CONTINUE;
    case VYRE_STMT_EXIT: return CELL_EXIT;
    case VYRE_STMT_RETURN: return CELL_RETURN;
    case VYRE_STMT_TRAP: return CELL_TRAP;
    default: return CELL_JUMPS;
    }
}

static void note_jump(const walk *w, uint32_t visit, cell_jump jump) {
    const cell_level level = level_of(w, visit);
    bool in_loop = false;
    for (uint32_t i = 0; i < w->depth; i++) {
        in_loop |= is_loop(node_of(w, w->open[i])->op);
    }
    for (uint32_t side = 0; side < CELL_SIDES; side++) {
        const uint32_t found = barriers_from(w, visit, side == CELL_BEFORE);
        for (uint32_t scope = 0; scope < CELL_SCOPES; scope++) {
            if ((found >> scope & 1) != 0) {
                hold(w->out, (cell){CELL_JUMP, {jump, level, side, in_loop, scope}});
            }
        }
    }
}

static void note_jumps(walk *w) {
    for (uint32_t visit = 0; visit < vyre_shapes_visit_count(w->shapes); visit++) {
        const vyre_scope scope = scope_of(w, visit);
        const cell_jump jump = jump_of(node_of(w, visit)->op);
        if (scope == VYRE_SCOPE_OPEN && w->depth < sizeof w->open / sizeof *w->open) {
            w->open[w->depth++] = visit;
        } else if (scope == VYRE_SCOPE_END && w->depth > 0) {
            w->depth--;
        } else if (jump != CELL_JUMPS) {
            note_jump(w, visit, jump);
        }
    }
}

static void hold_tile(void *context, cell c) {
    hold(context, c);
}

bool coverage_of(const vyre_program *program, coverage *out) {
    vyre_calls calls;
    vyre_effect_map *effects = NULL;
    vyre_shapes *shapes = NULL;
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    walk w = {.p = vyre_program_get(program), .out = out};
    *out = (coverage){{0}};
    note_bodies(out, w.p);
    bool ok = vyre_calls_init(&calls, program, &a) == VYRE_OK;
    if (ok) {
        ok = vyre_effects_create(program, &calls, &a, &effects) == VYRE_OK &&
             vyre_shapes_create_given(program, effects, &a, &shapes) == VYRE_OK;
        vyre_calls_finish(&calls, &a);
    }
    if (ok) {
        w.shapes = shapes;
        note_jumps(&w);
        ok = coverage_tiles(w.p, shapes, hold_tile, out);
    }
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
    return ok;
}
