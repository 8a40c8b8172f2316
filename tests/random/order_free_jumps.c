/* Order-free programs: one jump of each kind, for each of those who may take it, before and behind
 * a barrier of each scope, in and out of loops: the cell that was drawn. Where it is put, barriers
 * are legal around it, and stay legal where the jump allows them. */
#include <stdio.h>

#include "random/order_free.h"

static cell_level level_of(const order_free *g) {
    return (cell_level)g->jump.part[1];
}

/* As few levels as the generator knows. */
static level coarse(cell_level l) {
    return l <= CELL_GRID       ? LEVEL_GRID
           : l == CELL_GROUP    ? LEVEL_GROUP
           : l == CELL_TOGETHER ? LEVEL_SUBGROUP
                                : LEVEL_LANE;
}

static bool may_end(const order_free *g) {
    return g->jump.part[0] == CELL_EXIT || g->jump.part[0] == CELL_TRAP;
}

static vyre_expr remainder_is(order_free *g, vyre_expr value) {
    const uint32_t parts = (may_end(g) ? 3 : 2) + random_below(&g->x, 3);
    vyre_builder *b = g->x.b;
    const vyre_expr rest =
        vyre_build_op(b, VYRE_EXPR_REM, value, vyre_build_u32(b, parts), VYRE_NONE);
    return vyre_build_op(b, VYRE_EXPR_EQ, rest, vyre_build_u32(b, random_below(&g->x, parts)),
                         VYRE_NONE);
}

/* Something that is known to be alike for just these lanes. */
static vyre_expr base(order_free *g, vyre_var counter) {
    vyre_builder *b = g->x.b;
    switch (level_of(g)) {
    case CELL_GROUP: return vyre_build_id(b, VYRE_BUILTIN_GROUP_ID, 0);
    case CELL_ROW: return vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, g->size[1] > 1 ? 1 : 2);
    case CELL_TOGETHER:
        return vyre_build_op(b, VYRE_EXPR_DIV, vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 0),
                             vyre_build_u32(b, 32), VYRE_NONE);
    case CELL_VARYING: return vyre_build_var(b, g->lane);
    case CELL_CONSTANT:
    case CELL_GRID:
    case CELL_LEVELS: break;
    }
    return counter != VYRE_NONE ? vyre_build_var(b, counter)
                                : vyre_build_id(b, VYRE_BUILTIN_NUM_GROUPS, 0);
}

/* `counter` is of the loop around, or VYRE_NONE: another outcome in each trip. */
static vyre_expr condition(order_free *g, vyre_var counter) {
    vyre_builder *b = g->x.b;
    if (level_of(g) == CELL_CONSTANT) {
        return vyre_build_bool(b, random_chance(&g->x, may_end(g) ? 20 : 60));
    }
    vyre_expr value = base(g, counter);
    if (counter != VYRE_NONE && random_chance(&g->x, 60)) {
        value = vyre_build_op(b, VYRE_EXPR_ADD, value, vyre_build_var(b, counter), VYRE_NONE);
    } else if (random_chance(&g->x, 40)) {
        value =
            vyre_build_op(b, VYRE_EXPR_ADD, value, order_free_below(g, 4, LEVEL_GRID), VYRE_NONE);
    }
    return remainder_is(g, value);
}

static void leave(order_free *g) {
    char tag[NAME];
    switch ((cell_jump)g->jump.part[0]) {
    case CELL_BREAK: vyre_build_break(g->x.b); break;
    case CELL_CONTINUE: vyre_build_continue(g->x.b); break;
    case CELL_EXIT: vyre_build_exit(g->x.b); break;
    case CELL_RETURN: order_free_call_fn(g, g->returns); break;
    case CELL_TRAP:
        (void)snprintf(tag, sizeof tag, "trap%u", g->serial++);
        vyre_build_trap(g->x.b, tag, order_free_expr(g, VYRE_U32, LEVEL_LANE));
        break;
    case CELL_JUMPS: break;
    }
}

/* if (...) { ...; jump; }, in modes that suit it. */
static void add_jump(order_free *g, place at, vyre_var counter) {
    const bool jumps = g->jump.part[0] <= CELL_CONTINUE, calls = g->jump.part[0] == CELL_RETURN;
    const uint32_t locals = g->local_count;
    if ((jumps && !order_free_settle(g, at, &at.loop_modes, UINT32_MAX)) ||
        (calls && !order_free_settle(g, at, &g->returns->begin, g->returns->used))) {
        return;
    }
    const modes before = g->modes;
    place arm = at;
    arm.level = higher(at.level, coarse(level_of(g)));
    arm.depth++;
    vyre_build_if(g->x.b, condition(g, counter));
    if (random_chance(&g->x, 30)) {
        order_free_store(g);
    }
    leave(g);
    g->local_count = locals;
    if (random_chance(&g->x, 20)) {
        vyre_build_else(g->x.b);
        order_free_list(g, arm, 2);
        (void)order_free_settle(g, arm, &before, UINT32_MAX);
    }
    vyre_build_end(g->x.b);
    g->modes = before;
    if (g->jump.part[0] == CELL_CONTINUE) {
        g->rest = higher(g->rest, arm.level);
    }
}

static void wait_here(order_free *g, place at) {
    const bool grid = g->jump.part[4] == CELL_GRID_SYNC;
    order_free_sync(g, at, grid);
    if (random_chance(&g->x, 75)) {
        order_free_draw(g, grid);
    }
}

void order_free_jump(order_free *g, place at) {
    const bool in_loop = g->jump.part[3] != 0, before = g->jump.part[2] == CELL_BEFORE;
    const bool of_group = g->jump.part[4] == CELL_BARRIER && level_of(g) >= CELL_GROUP;
    const bool breaks = g->jump.part[0] == CELL_BREAK; /* no loop of the grid, then */
    const level loop = of_group && (breaks || random_chance(&g->x, 40)) ? LEVEL_GROUP : LEVEL_GRID;
    place inside = at;
    vyre_var counter = VYRE_NONE;
    inside.depth++;
    modes traced = g->modes;
    traced.of[0] = (usage){.mode = MODE_OWN};
    (void)order_free_settle(g, at, &traced, 1);
    if (in_loop && !order_free_begin_loop(g, at, loop, &inside)) {
        return;
    }
    const bool steady = inside.steady && !before; /* else all are to come to the barrier */
    inside.steady = false;                        /* and all to the jump */
    if (in_loop) {
        counter = g->locals[g->local_count - 1].var;
    }
    if (!before || random_chance(&g->x, 30)) {
        wait_here(g, inside);
    }
    if (random_chance(&g->x, 50)) {
        order_free_list(g, inside, 2);
    }
    add_jump(g, inside, counter);
    inside.steady = steady;
    order_free_trace(g);
    if (random_chance(&g->x, 70)) {
        order_free_list(g, inside, 3);
    }
    if (before) {
        wait_here(g, inside);
        order_free_list(g, inside, 2);
    }
    if (in_loop) {
        order_free_end_loop(g, &inside);
    }
}
