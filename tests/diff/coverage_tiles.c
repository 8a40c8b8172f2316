/* Each store to memory of the group or the lane is one of a tile: the loops directly around it and
 * its index say in which form, split/cover.h whether they leave an element out, the shapes whether
 * all lanes of the group come there. A read in between does not count: that is for the test to see.
 */
#include "diff/coverage_tiles.h"

#include "base/alloc.h"
#include "ir/size.h"
#include "split/cover.h"

enum { MOST_OPEN = 2 * VYRE_LIMIT_NESTING, MOST_STORES = 64 };

/* The first arm of an `if` that sets the memory. */
typedef struct arm {
    uint32_t opener; /* visit */
    bool whole;
} arm;

typedef struct tiles {
    const vyre_program_view *p;
    const vyre_shapes *shapes;
    vyre_cover cover; /* in no loop */
    vyre_expr *value_of;
    arm *arms;       /* per declaration */
    uint32_t *lists; /* per declaration: the list whose stores were looked at last */
    uint32_t open[MOST_OPEN];
    bool in_else[MOST_OPEN];
    uint32_t depth;
    void (*hold)(void *context, cell c);
    void *context;
} tiles;

static const vyre_stmt_node *node_of(const tiles *t, uint32_t visit) {
    return &t->p->stmts[vyre_shapes_stmt(t->shapes, visit)];
}

static bool has_jumps(const tiles *t, uint32_t visit) {
    const vyre_stmt loop = vyre_shapes_stmt(t->shapes, visit);
    for (vyre_stmt s = loop; s < t->p->stmts[loop].match; s++) {
        const vyre_stmt_node *n = &t->p->stmts[s];
        if ((n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE) && n->match == loop) {
            return true;
        }
    }
    return false;
}

static bool names(const tiles *t, const vyre_stmt_node *store, vyre_var var) {
    bool found = false;
    for (vyre_expr e = store->first_expr; e <= store->arg[0]; e++) {
        found |= t->p->exprs[e].op == VYRE_EXPR_VAR && t->p->exprs[e].ref == var;
    }
    return found;
}

/* A loop directly around the store, up to the second that its index names or lanes enter apart. */
typedef struct form {
    uint32_t loops; /* that the index names */
    uint32_t first; /* the outermost of them, as a place in `open` */
    uint32_t around;
    bool covers;
} form;

static form form_of(const tiles *t, const vyre_stmt_node *store, uint64_t count) {
    form f = {.first = t->depth, .around = t->depth, .covers = true};
    uint64_t from;
    uint32_t taken[2], some = 0;
    vyre_cover cover = t->cover;
    while (f.around > 0 && node_of(t, t->open[f.around - 1])->op == VYRE_STMT_FOR) {
        const vyre_stmt_node *loop = node_of(t, t->open[--f.around]);
        const bool named = names(t, store, loop->var);
        if (some < 2 && (named || !vyre_cover_constant(&cover, loop->arg[0], &from))) {
            f.loops += named;
            f.covers &= !has_jumps(t, t->open[f.around]);
            taken[some++] = f.first = f.around;
        }
    }
    while (some > 0) {
        f.covers &= vyre_cover_enter(&cover, vyre_shapes_stmt(t->shapes, t->open[taken[--some]]));
    }
    f.covers &= t->p->decls[store->decl].role == VYRE_PRIVATE
                    ? vyre_cover_by_lane(&cover, store->arg[0], count)
                    : vyre_cover_by_group(&cover, store->arg[0], count);
    return f;
}

/* Elements that stores of this list set one by one, from the first such store on. */
static bool sets_all(const tiles *t, vyre_stmt first, uint64_t count) {
    const vyre_decl decl = t->p->stmts[first].decl;
    uint64_t set = 0, index;
    uint32_t depth = 0;
    for (vyre_stmt s = first; s < t->p->stmt_count; s++) {
        const vyre_stmt_node *n = &t->p->stmts[s];
        const vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        if (depth == 0 && (scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE)) {
            break;
        }
        depth += scope == VYRE_SCOPE_OPEN;
        depth -= scope == VYRE_SCOPE_END;
        if (depth == 0 && n->op == VYRE_STMT_STORE && n->decl == decl &&
            vyre_cover_element(&t->cover, n->arg[0], &index) && index < count) {
            set |= UINT64_C(1) << index;
        }
    }
    return set == UINT64_MAX >> (MOST_STORES - count);
}

static bool is_uniform(const tiles *t, uint32_t visit) {
    return vyre_shape_uniform(vyre_shapes_control(t->shapes, visit), VYRE_SHAPE_GROUP);
}

/* The innermost `if` with two arms around, as a place in `open`, or the depth. */
static uint32_t arms_around(const tiles *t) {
    for (uint32_t i = t->depth; i-- > 0;) {
        const vyre_stmt_node *n = node_of(t, t->open[i]);
        if (n->op == VYRE_STMT_IF && t->p->stmts[n->match].op == VYRE_STMT_ELSE) {
            return i;
        }
    }
    return t->depth;
}

static bool in_if(const tiles *t, uint32_t below) {
    bool found = false;
    for (uint32_t i = 0; i < below; i++) {
        found |= node_of(t, t->open[i])->op == VYRE_STMT_IF;
    }
    return found;
}

static void note(const tiles *t, const vyre_decl_node *d, uint32_t how, bool guarded, bool whole) {
    const cell_owner owner = d->role == VYRE_PRIVATE ? CELL_TILE_OF_LANE : CELL_TILE_OF_GROUP;
    t->hold(
        t->context,
        (cell){CELL_TILE, {owner, how, d->rank - 1u, guarded, whole ? CELL_WHOLE : CELL_IN_PART}});
}

static void note_store(tiles *t, uint32_t visit) {
    static const vyre_size_env nothing = {0};
    const vyre_stmt_node *n = node_of(t, visit);
    const vyre_decl_node *d = &t->p->decls[n->decl];
    const bool lane = d->role == VYRE_PRIVATE;
    uint64_t count = 0, index;
    (void)vyre_size_evaluate(t->p, d->size, &nothing, &count, NULL);
    form f = form_of(t, n, count);
    if (lane && count <= MOST_STORES && vyre_cover_element(&t->cover, n->arg[0], &index)) {
        const uint32_t opener = t->depth == 0 ? 0 : t->open[t->depth - 1] + 1;
        const uint32_t list = 2 * opener + (t->depth > 0 && t->in_else[t->depth - 1]);
        if (t->lists[n->decl] == list) {
            return; /* told with the first of them */
        }
        t->lists[n->decl] = list;
        f = (form){.first = t->depth, .around = t->depth};
        f.covers = sets_all(t, vyre_shapes_stmt(t->shapes, visit), count);
    }
    const uint32_t outermost = f.first < t->depth ? t->open[f.first] : visit;
    note(t, d, f.loops, in_if(t, t->depth), f.covers && (lane || is_uniform(t, outermost)));
    const uint32_t of = arms_around(t);
    if (of == t->depth) {
        return;
    }
    const bool whole = f.covers && of + 1 == f.around && (lane || is_uniform(t, t->open[of]));
    arm *other = &t->arms[n->decl];
    if (!t->in_else[of]) {
        *other = (arm){t->open[of], whole};
    } else if (other->opener == t->open[of]) {
        note(t, d, CELL_BOTH_ARMS, in_if(t, of), whole && other->whole);
    }
}

static void walk(tiles *t) {
    for (uint32_t visit = 0; visit < vyre_shapes_visit_count(t->shapes); visit++) {
        const vyre_stmt_node *n = node_of(t, visit);
        const vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        if (vyre_shapes_stmt(t->shapes, visit) < t->p->entry) {
            continue; /* a function's */
        }
        if (scope == VYRE_SCOPE_OPEN && t->depth < MOST_OPEN) {
            t->in_else[t->depth] = false;
            t->open[t->depth++] = visit;
        } else if (scope == VYRE_SCOPE_ELSE && t->depth > 0) {
            t->in_else[t->depth - 1] = true;
        } else if (scope == VYRE_SCOPE_END && t->depth > 0) {
            t->depth--;
        } else if (n->op == VYRE_STMT_STORE && (t->p->decls[n->decl].role == VYRE_PRIVATE ||
                                                t->p->decls[n->decl].role == VYRE_WORKGROUP)) {
            note_store(t, visit);
        }
    }
}

static void find_values(tiles *t) {
    for (vyre_var v = 0; v < t->p->var_count; v++) {
        t->value_of[v] = VYRE_NONE;
    }
    for (vyre_stmt s = t->p->entry; s < t->p->stmt_count; s++) {
        const vyre_stmt_node *n = &t->p->stmts[s];
        if (n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN) {
            t->value_of[n->var] = n->op == VYRE_STMT_LET ? n->arg[0] : VYRE_NONE;
        }
    }
}

bool coverage_tiles(const vyre_program_view *program, const vyre_shapes *shapes,
                    void (*hold)(void *context, cell c), void *context) {
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    tiles t = {.p = program, .shapes = shapes, .hold = hold, .context = context};
    t.value_of = vyre_alloc(&a, program->var_count, sizeof *t.value_of);
    t.arms = vyre_alloc(&a, program->decl_count, sizeof *t.arms);
    t.lists = vyre_alloc(&a, program->decl_count, sizeof *t.lists);
    const bool ok = t.value_of && t.arms && t.lists;
    if (ok) {
        for (vyre_decl d = 0; d < program->decl_count; d++) {
            t.arms[d] = (arm){.opener = VYRE_NONE};
            t.lists[d] = VYRE_NONE;
        }
        find_values(&t);
        vyre_cover_init(&t.cover, program, t.value_of);
        walk(&t);
    }
    vyre_free(&a, t.value_of, program->var_count, sizeof *t.value_of);
    vyre_free(&a, t.arms, program->decl_count, sizeof *t.arms);
    vyre_free(&a, t.lists, program->decl_count, sizeof *t.lists);
    return ok;
}
