/* Uniform values. First, over all blocks, how each value is spread: the worst of its definitions.
 * Then block by block: forwards, which statements the schedule can compute, and what lanes have set
 * that it can't; backwards, which of them some lane needs. A statement is looked at a constant
 * number of times.
 *
 * It is right to compute a control statement when the block is entered: the values that it uses are
 * those that the schedule had then or has computed since, in the order of the block, and a uniform
 * load is one of an element that nobody writes between the grid barriers around it. (Blocks that
 * hold a barrier in their middle load only what nobody ever writes behind it.) */
#include "split/scalars.h"

#include "ir/rewrite.h"

static uint8_t limit_of(const vyre_scalars *sc) {
    return sc->blocks->scope == VYRE_SPLIT_SCOPE_GRID ? VYRE_SHAPE_GRID : VYRE_SHAPE_GROUP;
}

/* ---- how values are spread ---- */

/* One more definition: what is bound, and the control at it. */
static void define(vyre_scalars *sc, uint32_t to, vyre_shape value, vyre_shape control) {
    const uint8_t worst = value.kind > control.kind ? value.kind : control.kind;
    const bool shared =
        vyre_shape_in_subgroup(sc->p, value) && vyre_shape_in_subgroup(sc->p, control);
    const uint8_t kind = worst <= VYRE_SHAPE_GRID    ? VYRE_SHAPE_GRID
                         : worst == VYRE_SHAPE_GROUP ? VYRE_SHAPE_GROUP
                         : shared                    ? VYRE_SHAPE_SUBGROUP
                                                     : VYRE_SHAPE_VARYING;
    sc->shape[to] = kind > sc->shape[to] ? kind : sc->shape[to];
}

static void spread_of_stmt(vyre_scalars *sc, vyre_stmt s) {
    const vyre_stmt_node *n = &sc->p->stmts[s];
    const uint32_t step = s - sc->p->entry;
    if (n->var == VYRE_NONE) {
        return;
    }
    vyre_shape value = {.kind = VYRE_SHAPE_VARYING};
    if (n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN) {
        vyre_shapes_exprs(sc->shapes, step, sc->scratch);
        value = sc->scratch[n->arg[0] - n->first_expr];
    } else if (n->op == VYRE_STMT_COMBINE) {
        value.kind = VYRE_SHAPE_GRID;
    } else if (n->op == VYRE_STMT_GROUP && n->sub == VYRE_REDUCE_BROADCAST) {
        /* All that ask for one lane get the same. */
        vyre_shapes_exprs(sc->shapes, step, sc->scratch);
        const vyre_shape asked = sc->scratch[n->arg[1] - n->first_expr];
        value = asked.kind > VYRE_SHAPE_GROUP ? asked : (vyre_shape){.kind = VYRE_SHAPE_GROUP};
    } else if (n->op == VYRE_STMT_SUBGROUP) {
        vyre_shapes_exprs(sc->shapes, step, sc->scratch);
        const vyre_shape asked =
            n->arg[1] == VYRE_NONE ? (vyre_shape){0} : sc->scratch[n->arg[1] - n->first_expr];
        value = vyre_subgroup_shape(sc->p, (vyre_subgroup_op)n->sub, asked);
    } else if (n->op == VYRE_STMT_BASE ||
               (n->op == VYRE_STMT_GROUP && n->sub != VYRE_REDUCE_SCAN_ADD)) {
        value.kind = VYRE_SHAPE_GROUP;
    }
    define(sc, n->var, value, vyre_shapes_control(sc->shapes, step));
}

static void spread_of_item(vyre_scalars *sc, const vyre_item *item) {
    if (item->kind == VYRE_ITEM_RANGE) {
        for (vyre_stmt s = item->begin; s < item->end; s++) {
            spread_of_stmt(sc, s);
        }
        return;
    }
    const vyre_shape all = {.kind = VYRE_SHAPE_GRID};
    define(sc, sc->p->stmts[item->begin].var, all, all);
    for (uint32_t v = 0; v < VYRE_LOOP_VALUES; v++) {
        define(sc, vyre_loop_value(sc->p, sc->blocks, item->begin, v), all, all);
    }
}

/* ---- what the schedule can compute ---- */

static bool is_known_id(const vyre_scalars *sc, const vyre_expr_node *n) {
    const bool single = sc->p->workgroup[n->axis] == 1;
    const bool of_group = sc->blocks->scope == VYRE_SPLIT_SCOPE_WORKGROUP;
    switch ((vyre_builtin)n->sub) {
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GROUP_SIZE:
    case VYRE_BUILTIN_GLOBAL_SIZE:
    case VYRE_BUILTIN_SUBGROUP_SIZE: return true;
    case VYRE_BUILTIN_LOCAL_ID: return single;
    case VYRE_BUILTIN_GROUP_ID: return of_group;
    case VYRE_BUILTIN_GLOBAL_ID: return of_group && single;
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return false;
}

static bool is_known_load(const vyre_scalars *sc, const vyre_expr_node *n, uint8_t shape) {
    const uint8_t role = sc->p->decls[n->ref].role;
    const bool kept = vyre_role_is_buffer((vyre_role)role) ||
                      (role == VYRE_WORKGROUP && sc->blocks->scope == VYRE_SPLIT_SCOPE_WORKGROUP);
    return kept && shape <= limit_of(sc);
}

/* Whether the schedule knows the value of the expressions when it enters block `mark` - 1. */
static bool is_known(vyre_scalars *sc, vyre_stmt s, vyre_expr first, vyre_expr end, uint32_t mark) {
    bool has_shapes = false;
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &sc->p->exprs[e];
        bool known = vyre_expr_info_of((vyre_expr_op)n->op)->operands != VYRE_OPERANDS_ELEMENTARY;
        if (n->op == VYRE_EXPR_VAR) {
            known = vyre_scalars_is_uniform(sc, n->ref) && sc->made_in[n->ref] != mark;
        } else if (n->op == VYRE_EXPR_BUILTIN) {
            known = is_known_id(sc, n);
        } else if (n->op == VYRE_EXPR_LOAD) {
            if (!has_shapes) {
                vyre_shapes_exprs(sc->shapes, s - sc->p->entry, sc->scratch);
                has_shapes = true;
            }
            known = is_known_load(sc, n, sc->scratch[e - sc->p->stmts[s].first_expr].kind);
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

static bool made(const vyre_scalars *sc, uint32_t value, uint32_t mark) {
    return sc->made_in[value] == mark;
}

/* Lanes set the value; the schedule learns it at the end of the block, if it is one of its own. */
static bool make(vyre_scalars *sc, uint32_t value, uint32_t mark) {
    const bool is_new = vyre_scalars_is_uniform(sc, value) && !made(sc, value, mark);
    if (is_new) {
        sc->made_in[value] = mark;
    }
    return !is_new || vyre_vec_push(&sc->allocator, &sc->made, value);
}

/* A lifted FOR ends the block in which its values are set, by its decision: nothing of the block
 * comes behind that could use them. And what they are stepped by was set in another block. */
static bool look_at_loop(vyre_scalars *sc, const vyre_item *item, uint32_t mark) {
    const vyre_stmt s = item->begin;
    const vyre_stmt_node *n = &sc->p->stmts[s];
    const uint32_t first = vyre_loop_value(sc->p, sc->blocks, s, 0);
    const uint32_t values[] = {n->var, first + VYRE_LOOP_TO, first + VYRE_LOOP_STEP,
                               first + VYRE_LOOP_MORE};
    bool ok = true;
    if (item->kind == VYRE_ITEM_FOR_STEP) {
        sc->stmt[s] |= (VYRE_BY_CONTROL | VYRE_NOT_BY_LANES) << VYRE_STEP_SHIFT;
        return true;
    }
    const bool known = is_known(sc, s, n->first_expr, n->end_expr, mark);
    for (uint32_t i = 0; i < 4 && ok; i++) {
        ok = known || make(sc, values[i], mark);
    }
    sc->stmt[s] |= known ? VYRE_BY_CONTROL | VYRE_NOT_BY_LANES : 0;
    return ok;
}

static bool stays_plain(uint8_t op) {
    return op == VYRE_STMT_BLOCK || op == VYRE_STMT_REGION;
}

/* Keeps track of the constructs in which statements are not always executed once. */
static bool follow(vyre_scalars *sc, vyre_stmt s) {
    const uint8_t op = sc->p->stmts[s].op;
    const vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)op)->scope;
    if (scope == VYRE_SCOPE_OPEN && !stays_plain(op)) {
        return vyre_vec_push(&sc->allocator, &sc->open, s);
    }
    if (scope == VYRE_SCOPE_END && !stays_plain(sc->p->stmts[sc->p->stmts[s].match].op)) {
        sc->open.count--;
    }
    return true;
}

static bool look_at_range(vyre_scalars *sc, const vyre_item *item, uint32_t mark) {
    bool ok = true;
    for (vyre_stmt s = item->begin; s < item->end && ok; s++) {
        const vyre_stmt_node *n = &sc->p->stmts[s];
        const bool plain = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN;
        ok = follow(sc, s);
        if (n->var == VYRE_NONE || !vyre_scalars_is_uniform(sc, n->var)) {
            continue;
        }
        if (plain && sc->open.count == 0 && is_known(sc, s, n->first_expr, n->end_expr, mark)) {
            sc->stmt[s] |= VYRE_BY_CONTROL;
            sc->made_in[n->var] = 0;
        } else {
            ok = ok && make(sc, n->var, mark);
        }
    }
    return ok;
}

static bool look_at_condition(vyre_scalars *sc, const vyre_block *b, uint32_t mark) {
    const vyre_stmt_node *n = &sc->p->stmts[b->condition];
    return n->op == VYRE_STMT_FOR
               ? !made(sc, vyre_loop_value(sc->p, sc->blocks, b->condition, VYRE_LOOP_MORE), mark)
               : is_known(sc, b->condition, n->first_expr, n->end_expr, mark);
}

/* ---- what lanes need ---- */

static void need(vyre_scalars *sc, vyre_expr first, vyre_expr end, uint32_t mark) {
    for (vyre_expr e = first; e < end; e++) {
        if (sc->p->exprs[e].op == VYRE_EXPR_VAR) {
            sc->needed_in[sc->p->exprs[e].ref] = mark;
        }
    }
}

static void drop_from_range(vyre_scalars *sc, const vyre_item *item, uint32_t mark) {
    for (vyre_stmt s = item->end; s-- > item->begin;) {
        const vyre_stmt_node *n = &sc->p->stmts[s];
        if (sc->stmt[s] & VYRE_BY_CONTROL) {
            if (sc->needed_in[n->var] != mark) {
                sc->stmt[s] |= VYRE_NOT_BY_LANES;
                continue;
            }
            sc->needed_in[n->var] = 0;
        }
        need(sc, n->first_expr, n->end_expr, mark);
    }
}

/* Items are linked forwards only. */
static bool list_items(vyre_scalars *sc, const vyre_block *b) {
    sc->open.count = 0;
    bool ok = true;
    for (uint32_t i = b->first; i != VYRE_NONE && ok; i = sc->blocks->items.data[i].next) {
        ok = vyre_vec_push(&sc->allocator, &sc->open, i);
    }
    return ok;
}

static bool drop(vyre_scalars *sc, uint32_t number) {
    const vyre_block *b = &sc->blocks->list.data[number];
    const uint32_t mark = number + 1;
    if (!list_items(sc, b)) {
        return false;
    }
    for (uint32_t i = 0; i < sc->made.count; i++) {
        sc->needed_in[sc->made.data[i]] = mark; /* handed over at the end */
    }
    if (b->exit == VYRE_EXIT_BRANCH && !sc->decided[number]) {
        const vyre_stmt_node *n = &sc->p->stmts[b->condition];
        if (n->op != VYRE_STMT_FOR) {
            need(sc, n->first_expr, n->end_expr, mark);
        }
    }
    while (sc->open.count > 0) {
        const vyre_item *item = &sc->blocks->items.data[sc->open.data[--sc->open.count]];
        if (item->kind == VYRE_ITEM_RANGE) {
            drop_from_range(sc, item, mark);
        } else if (!(vyre_scalars_bits(sc, item->kind, item->begin) & VYRE_NOT_BY_LANES)) {
            const vyre_stmt_node *n = &sc->p->stmts[item->begin];
            need(sc, n->first_expr, n->end_expr, mark);
        }
    }
    return true;
}

/* Only those that lanes have set last. */
static void forget_known(vyre_scalars *sc, uint32_t mark) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sc->made.count; i++) {
        const uint32_t value = sc->made.data[i];
        if (made(sc, value, mark)) {
            sc->made.data[kept++] = value;
            sc->made_in[value] = 0; /* may be there twice */
        }
    }
    sc->made.count = kept;
}

bool vyre_scalars_block(vyre_scalars *sc, uint32_t number) {
    const vyre_block *b = &sc->blocks->list.data[number];
    const uint32_t mark = number + 1;
    bool ok = true;
    sc->made.count = sc->open.count = 0;
    for (uint32_t i = b->first; i != VYRE_NONE && ok; i = sc->blocks->items.data[i].next) {
        const vyre_item *item = &sc->blocks->items.data[i];
        ok = item->kind == VYRE_ITEM_RANGE ? look_at_range(sc, item, mark)
                                           : look_at_loop(sc, item, mark);
    }
    sc->decided[number] = b->exit == VYRE_EXIT_BRANCH && look_at_condition(sc, b, mark);
    forget_known(sc, mark);
    return ok && drop(sc, number);
}

bool vyre_scalars_init(vyre_scalars *sc, const vyre_program_view *p, const vyre_blocks *blocks,
                       const vyre_shapes *shapes, const bool *only_groups,
                       const vyre_allocator *a) {
    *sc = (vyre_scalars){.allocator = *a,
                         .p = p,
                         .blocks = blocks,
                         .shapes = shapes,
                         .value_count = p->var_count + blocks->loops.count * VYRE_LOOP_VALUES};
    sc->shape = vyre_alloc_zeroed(a, sc->value_count, sizeof *sc->shape);
    sc->made_in = vyre_alloc_zeroed(a, sc->value_count, sizeof *sc->made_in);
    sc->needed_in = vyre_alloc_zeroed(a, sc->value_count, sizeof *sc->needed_in);
    sc->stmt = vyre_alloc_zeroed(a, p->stmt_count, sizeof *sc->stmt);
    sc->decided = vyre_alloc_zeroed(a, blocks->list.count, sizeof *sc->decided);
    sc->scratch = vyre_alloc(a, p->expr_count, sizeof *sc->scratch);
    if (!sc->shape || !sc->made_in || !sc->needed_in || !sc->stmt || !sc->decided || !sc->scratch) {
        return false;
    }
    for (uint32_t b = 0; b < blocks->list.count; b++) {
        const vyre_block *block = &blocks->list.data[b];
        for (uint32_t i = block->first; i != VYRE_NONE; i = blocks->items.data[i].next) {
            spread_of_item(sc, &blocks->items.data[i]);
        }
    }
    const vyre_shape all = {.kind = VYRE_SHAPE_GRID};
    for (vyre_var v = 0; only_groups && v < p->var_count; v++) {
        if (only_groups[v]) {
            define(sc, v, (vyre_shape){.kind = VYRE_SHAPE_GROUP}, all);
        }
    }
    return true;
}

void vyre_scalars_finish(vyre_scalars *sc) {
    if (!sc->p) {
        return;
    }
    const vyre_allocator *a = &sc->allocator;
    vyre_free(a, sc->shape, sc->value_count, sizeof *sc->shape);
    vyre_free(a, sc->made_in, sc->value_count, sizeof *sc->made_in);
    vyre_free(a, sc->needed_in, sc->value_count, sizeof *sc->needed_in);
    vyre_free(a, sc->stmt, sc->p->stmt_count, sizeof *sc->stmt);
    vyre_free(a, sc->decided, sc->blocks->list.count, sizeof *sc->decided);
    vyre_free(a, sc->scratch, sc->p->expr_count, sizeof *sc->scratch);
    vyre_vec_free(a, &sc->made);
    vyre_vec_free(a, &sc->open);
}
