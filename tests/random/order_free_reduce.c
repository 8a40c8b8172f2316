/* Order-free programs: reductions and scans over the group and the grid. They are barriers of their
 * scope, so modes may change behind them. */
#include "random/order_free.h"

static vyre_type type_for(order_free *g, vyre_reduce_op op) {
    vyre_type type;
    do {
        type = random_type(&g->x);
    } while (!vyre_operands_accept(vyre_reduce_operands(op), 0, type));
    return type;
}

/* What differs between lanes more often than any expression does. */
static vyre_expr value_for(order_free *g, vyre_type type) {
    const vyre_expr value = order_free_expr(g, type, LEVEL_LANE);
    if (type == VYRE_BOOL || random_chance(&g->x, 40)) {
        return value;
    }
    const vyre_expr lane = vyre_build_cast(g->x.b, type, vyre_build_var(g->x.b, g->lane));
    return vyre_build_op(g->x.b, random_chance(&g->x, 50) ? VYRE_EXPR_ADD : VYRE_EXPR_SUB, lane,
                         value, VYRE_NONE);
}

static void reduce(order_free *g, bool grid, vyre_reduce_op op, vyre_type type) {
    const vyre_expr value = value_for(g, type);
    const level asks = random_chance(&g->x, 40) ? LEVEL_GROUP : LEVEL_LANE;
    const char *name = order_free_name(g, grid ? "grid" : "group");
    vyre_var var;
    if (grid) {
        var = vyre_build_grid_reduce(g->x.b, name, op, value);
    } else {
        const vyre_expr lane =
            op == VYRE_REDUCE_BROADCAST ? order_free_below(g, g->group_lanes + 1, asks) : VYRE_NONE;
        var = vyre_build_group_reduce(g->x.b, name, op, value, lane);
    }
    const level own = op == VYRE_REDUCE_SCAN_ADD    ? LEVEL_LANE
                      : op == VYRE_REDUCE_BROADCAST ? asks
                      : grid                        ? LEVEL_GRID
                                                    : LEVEL_GROUP;
    order_free_local(g, var, own, false);
    if (random_chance(&g->x, 70)) {
        order_free_draw(g, grid);
    }
}

void order_free_reduce(order_free *g, place at) {
    const bool grid = at.level == LEVEL_GRID && random_chance(&g->x, 50);
    vyre_reduce_op op;
    if (!at.waits || at.level > LEVEL_GROUP) {
        return;
    }
    do {
        op = (vyre_reduce_op)random_below(&g->x, VYRE_REDUCE_COUNT);
    } while (vyre_reduce_name(op, grid)[0] == '\0');
    reduce(g, grid, op, type_for(g, op));
}

/* Of some groups no lane comes further. */
static void end_groups(order_free *g) {
    vyre_build_if(g->x.b, vyre_build_op(g->x.b, VYRE_EXPR_EQ,
                                        vyre_build_id(g->x.b, VYRE_BUILTIN_GROUP_ID, 0),
                                        vyre_build_u32(g->x.b, random_below(&g->x, 3)), VYRE_NONE));
    vyre_build_exit(g->x.b);
    vyre_build_end(g->x.b);
}

void order_free_wanted_reduce(order_free *g, place at) {
    place inside = at;
    if (random_chance(&g->x, 15) && !g->stays) {
        end_groups(g);
    }
    const bool loops =
        random_chance(&g->x, 40) && order_free_begin_loop(g, at, LEVEL_GRID, &inside);
    if (loops && random_chance(&g->x, 30)) {
        order_free_leaving(g, inside);
    }
    inside.level = higher(inside.level, g->rest);
    if (inside.level == LEVEL_GRID || (inside.level == LEVEL_GROUP && g->reduce.part[0] == 0)) {
        reduce(g, g->reduce.part[0] != 0, (vyre_reduce_op)g->reduce.part[1],
               (vyre_type)g->reduce.part[2]);
    }
    if (loops) {
        order_free_list(g, inside, 3);
        order_free_end_loop(g, &inside);
    }
}

/* while (grid_any(n < 3 && ...)) { }, as the parser makes it. */
void order_free_iterate(order_free *g, place at) {
    vyre_builder *b = g->x.b;
    const uint32_t trips = 2 + random_below(&g->x, 2), locals = g->local_count;
    const level rest = g->rest;
    const vyre_var n = vyre_build_let(b, order_free_name(g, "n"), vyre_build_u32(b, 0));
    place inside = at;
    inside.loop = inside.steady = true;
    inside.in_if = false;
    inside.loop_level = LEVEL_GRID;
    inside.loop_modes = g->modes;
    inside.depth++;
    inside.trips *= trips;
    vyre_build_while(b, vyre_build_bool(b, true));
    const vyre_expr some =
        vyre_build_op(b, VYRE_EXPR_LT, vyre_build_var(b, n), vyre_build_u32(b, trips), VYRE_NONE);
    const vyre_expr go =
        vyre_build_op(b, VYRE_EXPR_AND, some, order_free_expr(g, VYRE_BOOL, LEVEL_LANE), VYRE_NONE);
    const vyre_var more =
        vyre_build_grid_reduce(b, order_free_name(g, "more"), VYRE_REDUCE_ANY, go);
    vyre_build_if(b,
                  vyre_build_op(b, VYRE_EXPR_NOT, vyre_build_var(b, more), VYRE_NONE, VYRE_NONE));
    vyre_build_break(b);
    vyre_build_end(b);
    vyre_build_assign(
        b, n,
        vyre_build_op(b, VYRE_EXPR_ADD, vyre_build_var(b, n), vyre_build_u32(b, 1), VYRE_NONE));
    order_free_local(g, n, LEVEL_GRID, true);
    g->rest = LEVEL_GRID;
    order_free_list(g, inside, 4);
    (void)order_free_settle(g, inside, &inside.loop_modes, UINT32_MAX);
    vyre_build_end(b);
    g->rest = rest;
    g->local_count = locals;
}
