/* Order-free programs: conditions, loops, jumps, calls. */
#include <stdio.h>

#include "random/order_free.h"

static vyre_expr condition(order_free *g, level most) {
    return order_free_expr(g, random_chance(&g->x, 80) ? VYRE_BOOL : VYRE_U32, most);
}

static bool same_modes(const order_free *g, const modes *wanted) {
    bool same = true;
    for (uint32_t i = 0; i < g->array_count; i++) {
        same &= g->modes.of[i].mode == wanted->of[i].mode &&
                g->modes.of[i].atomic == wanted->of[i].atomic;
    }
    return same;
}

void order_free_if(order_free *g, place at) {
    const level own = order_free_level(g), rest = g->rest, least = g->least;
    const uint32_t assigned = g->assigned;
    const modes before = g->modes;
    place inside = at;
    inside.level = higher(at.level, own);
    inside.steady &= at.loop && same_modes(g, &at.loop_modes);
    inside.before = at.in_if ? at.before : assigned;
    inside.in_if = true;
    inside.depth++;
    vyre_build_if(g->x.b, condition(g, own));
    order_free_list(g, inside, 5);
    (void)order_free_settle(g, inside, &before, UINT32_MAX);
    if (random_chance(&g->x, 50)) {
        const level behind = g->rest;
        /* Who jumped in the first arm is not here. But a variable that one arm sets and the other
         * leaves by such a jump is taken for one that varies. */
        g->rest = rest;
        g->least = higher(least, behind);
        inside.steady &= g->assigned == assigned;
        vyre_build_else(g->x.b);
        order_free_list(g, inside, 5);
        (void)order_free_settle(g, inside, &before, UINT32_MAX);
        g->rest = higher(g->rest, behind);
        g->least = least;
    }
    vyre_build_end(g->x.b);
}

void order_free_block(order_free *g, place at, bool over_sync) {
    at.depth++;
    if (!over_sync && random_chance(&g->x, 50)) {
        vyre_build_block(g->x.b);
    } else {
        vyre_build_region(g->x.b, order_free_name(g, "region"));
    }
    if (over_sync) {
        order_free_list(g, at, 3);
        order_free_sync(g, at, true);
        order_free_draw(g, true);
    }
    order_free_list(g, at, 5);
    vyre_build_end(g->x.b);
}

static vyre_expr less(order_free *g, vyre_expr x, vyre_expr y) {
    return vyre_build_op(g->x.b, VYRE_EXPR_LT, x, y, VYRE_NONE);
}

/* A condition on memory if there is some that stays the same for the whole level. */
static vyre_expr goes_on(order_free *g, level most) {
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t k = random_below(&g->x, g->array_count);
        const array *a = &g->arrays[k];
        if (g->modes.of[k].mode == MODE_SHARED && vyre_type_widened(a->type) == VYRE_U32 &&
            (a->role != VYRE_WORKGROUP || most > LEVEL_GRID)) {
            order_free_touch(g, a);
            const vyre_expr element =
                order_free_element(g, a, order_free_below(g, a->lanes * a->copies, most));
            return less(g, vyre_build_load(g->x.b, a->decl, element),
                        random_literal(&g->x, VYRE_U32));
        }
    }
    return condition(g, most);
}

static void begin_while(order_free *g, level own, uint32_t trips) {
    vyre_builder *b = g->x.b;
    const vyre_var n = vyre_build_let(b, order_free_name(g, "n"), vyre_build_u32(b, 0));
    vyre_expr go = less(g, vyre_build_var(b, n), vyre_build_u32(b, trips));
    if (random_chance(&g->x, 70)) {
        go = vyre_build_op(b, VYRE_EXPR_AND, go, goes_on(g, own), VYRE_NONE);
    }
    vyre_build_while(b, go);
    vyre_build_assign(
        b, n,
        vyre_build_op(b, VYRE_EXPR_ADD, vyre_build_var(b, n), vyre_build_u32(b, 1), VYRE_NONE));
    order_free_local(g, n, own, true);
}

static void begin_for(order_free *g, level own, uint32_t trips) {
    vyre_builder *b = g->x.b;
    const uint32_t step = 1 + random_below(&g->x, 3);
    vyre_expr from = order_free_below(g, 3, own);
    vyre_expr to = order_free_below(g, trips * step + 2, own);
    if (random_chance(&g->x, 10)) { /* what comes after the last trip may pass 2^32 */
        from = vyre_build_u32(b, UINT32_MAX - trips * step + random_below(&g->x, step));
        to = vyre_build_u32(b, UINT32_MAX - random_below(&g->x, 2));
    }
    const vyre_var i = vyre_build_for(b, order_free_name(g, "i"), from, to,
                                      step == 1 ? VYRE_NONE : vyre_build_u32(b, step));
    order_free_local(g, i, own, true);
}

bool order_free_begin_loop(order_free *g, place at, level most, place *out_inside) {
    const uint32_t trips = 2 + random_below(&g->x, 2);
    if (at.trips * trips > 20) {
        return false;
    }
    const level own = higher(at.level, most);
    *out_inside = at;
    out_inside->level = own;
    out_inside->loop = out_inside->steady = true;
    out_inside->in_if = false;
    out_inside->loop_level = own;
    out_inside->loop_modes = g->modes;
    out_inside->loop_locals = g->local_count;
    out_inside->loop_rest = g->rest;
    out_inside->depth++;
    out_inside->trips *= trips;
    if (random_chance(&g->x, 50)) {
        begin_while(g, own, trips);
    } else {
        begin_for(g, own, trips);
    }
    g->rest = LEVEL_GRID;
    return true;
}

void order_free_end_loop(order_free *g, const place *inside) {
    (void)order_free_settle(g, *inside, &inside->loop_modes, UINT32_MAX);
    vyre_build_end(g->x.b);
    g->rest = inside->loop_rest;
    g->local_count = inside->loop_locals;
}

void order_free_loop(order_free *g, place at, level most, bool over_sync) {
    place inside;
    if (!order_free_begin_loop(g, at, most, &inside)) {
        return;
    }
    if (over_sync) {
        order_free_barrier(g, inside);
    }
    order_free_list(g, inside, 6);
    order_free_end_loop(g, &inside);
}

/* Where lanes lie along x, the elements that a lane comes to are its own, as far as there are some;
 * if it begins further on, they are somebody's. */
static void stride_store(order_free *g, vyre_var i, uint32_t offset) {
    const array *a = order_free_pick(g, MODE_OWN);
    if (a && g->axes == 1 && offset == 0 && a->lanes == g->lanes && a->role != VYRE_PRIVATE) {
        vyre_build_store(g->x.b, a->decl, order_free_element(g, a, vyre_build_var(g->x.b, i)),
                         order_free_expr(g, vyre_type_widened(a->type), LEVEL_LANE));
    }
}

/* The same, where nothing but the place in the loop and what is the same for the grid goes in:
 * trips do not differ from lanes. */
static void stride_place(order_free *g, vyre_var i) {
    const array *a = order_free_pick(g, MODE_OWN);
    vyre_builder *b = g->x.b;
    if (a && g->axes == 1 && a->lanes == g->lanes && a->role != VYRE_PRIVATE) {
        const vyre_expr value = vyre_build_op(b, VYRE_EXPR_MUL, vyre_build_var(b, i),
                                              order_free_expr(g, VYRE_U32, LEVEL_GRID), VYRE_NONE);
        vyre_build_store(b, a->decl, order_free_element(g, a, vyre_build_var(b, i)),
                         vyre_build_cast(b, vyre_type_widened(a->type), value));
    }
}

/* Something is added up over the trips. */
static void stride_sum(order_free *g, vyre_var sum, vyre_var i) {
    const vyre_expr value = random_chance(&g->x, 50) ? vyre_build_var(g->x.b, i)
                                                     : order_free_expr(g, VYRE_U32, LEVEL_LANE);
    vyre_build_assign(
        g->x.b, sum,
        vyre_build_op(g->x.b, VYRE_EXPR_ADD, vyre_build_var(g->x.b, sum), value, VYRE_NONE));
}

void order_free_stride(order_free *g, place at) {
    vyre_builder *b = g->x.b;
    place inside;
    const level rest = g->rest;
    const uint32_t locals = g->local_count, offset = random_below(&g->x, 4) / 2;
    if (at.trips * 3 > 20) {
        return;
    }
    const vyre_var sum = vyre_build_let(b, order_free_name(g, "sum"), vyre_build_u32(b, 0));
    const vyre_expr id = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
    const vyre_expr from =
        offset ? vyre_build_op(b, VYRE_EXPR_ADD, id, vyre_build_u32(b, offset), VYRE_NONE) : id;
    const vyre_expr to =
        order_free_below(g, 3 * g->lanes, random_chance(&g->x, 80) ? LEVEL_GRID : LEVEL_GROUP);
    const vyre_var i = vyre_build_for(b, order_free_name(g, "i"), from, to,
                                      vyre_build_id(b, VYRE_BUILTIN_GLOBAL_SIZE, 0));
    inside = at;
    inside.level = inside.loop_level = LEVEL_LANE;
    inside.waits = false;
    inside.loop = inside.steady = true;
    inside.in_if = false;
    inside.loop_modes = g->modes;
    inside.depth++;
    inside.trips *= 3;
    order_free_local(g, i, LEVEL_LANE, true);
    g->rest = LEVEL_GRID;
    if (offset == 0 && random_chance(&g->x, 25)) {
        stride_place(g, i);
    } else {
        if (random_chance(&g->x, 50)) {
            order_free_list(g, inside, 4);
        }
        stride_store(g, i, offset);
        stride_sum(g, sum, i);
    }
    vyre_build_end(b);
    g->rest = rest;
    g->local_count = locals;
    order_free_local(g, sum, LEVEL_LANE, false);
}

static vyre_expr op2(order_free *g, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(g->x.b, op, x, y, VYRE_NONE);
}

/* A loop of the grid, with so many trips at most. */
static place loop_place(order_free *g, place at, uint32_t trips) {
    at.loop = at.steady = true;
    at.in_if = false;
    at.loop_level = LEVEL_GRID;
    at.loop_modes = g->modes;
    at.loop_locals = g->local_count;
    at.loop_rest = g->rest;
    at.depth++;
    at.trips *= trips;
    return at;
}

/* The body of such a loop, whose variable is the same for the level, and its end. */
static void loop_over_sync(order_free *g, const place *inside, vyre_var i, level own) {
    order_free_local(g, i, own, true);
    g->rest = LEVEL_GRID;
    order_free_list(g, *inside, 2);
    if (g->rest == LEVEL_GRID) {
        order_free_sync(g, *inside, true);
        order_free_draw(g, true);
    }
    order_free_list(g, *inside, 3);
    order_free_end_loop(g, inside);
}

void order_free_even(order_free *g, place at) {
    vyre_builder *b = g->x.b;
    const place inside = loop_place(g, at, 3);
    const uint32_t trips = 1 + random_below(&g->x, 3), axis = random_below(&g->x, 3);
    vyre_var i;
    if (random_chance(&g->x, 50)) {
        const uint32_t by = g->size[axis] + random_below(&g->x, 3);
        i = vyre_build_for(b, order_free_name(g, "i"),
                           vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, axis),
                           vyre_build_u32(b, trips * by), vyre_build_u32(b, by));
    } else {
        const vyre_var by = vyre_build_let(b, order_free_name(g, "by"),
                                           vyre_build_id(b, VYRE_BUILTIN_GLOBAL_SIZE, axis));
        const vyre_expr some = order_free_below(g, trips * g->size[axis] + 1, LEVEL_GRID);
        const vyre_expr whole = random_chance(&g->x, 30) /* a condition: it does not wrap */
                                    ? vyre_build_u32(b, trips)
                                    : op2(g, VYRE_EXPR_DIV, some, vyre_build_var(b, by));
        i = vyre_build_for(
            b, order_free_name(g, "i"), vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, axis),
            op2(g, VYRE_EXPR_MUL, whole, vyre_build_var(b, by)), vyre_build_var(b, by));
    }
    loop_over_sync(g, &inside, i, LEVEL_LANE);
}

/* flags[(i + more) % circle] */
static vyre_expr flag_at(order_free *g, vyre_var i, uint32_t more, uint32_t circle) {
    vyre_builder *b = g->x.b;
    const vyre_expr at = op2(g, VYRE_EXPR_ADD, vyre_build_var(b, i), vyre_build_u32(b, more));
    return circle == 4 ? op2(g, VYRE_EXPR_BIT_AND, at, vyre_build_u32(b, 3))
                       : op2(g, VYRE_EXPR_REM, at, vyre_build_u32(b, 3));
}

/* Atomics of all, a store by one lane of the element that is next, a barrier, and a load of what
 * was gathered: whether the loop goes on. In the next trip others are written. */
void order_free_turns(order_free *g, place at) {
    vyre_builder *b = g->x.b;
    const place inside = loop_place(g, at, 3);
    const uint32_t circle = 3 + random_below(&g->x, 2);
    const vyre_var i = vyre_build_for(b, order_free_name(g, "i"), vyre_build_u32(b, 0),
                                      order_free_below(g, 4, LEVEL_GRID), VYRE_NONE);
    order_free_local(g, i, LEVEL_GRID, true);
    g->rest = LEVEL_GRID;
    (void)vyre_build_atomic(b, NULL, VYRE_ATOMIC_OR, g->flags, flag_at(g, i, 0, circle), VYRE_NONE,
                            order_free_expr(g, VYRE_U32, LEVEL_LANE), VYRE_SEQ_CST);
    vyre_build_if(b, op2(g, VYRE_EXPR_EQ, vyre_build_var(b, g->lane), vyre_build_u32(b, 0)));
    vyre_build_store(b, g->flags, flag_at(g, i, 1, circle), vyre_build_u32(b, 0));
    vyre_build_end(b);
    order_free_sync(g, inside, true);
    const bool settled = order_free_settle(g, inside, &inside.loop_modes, UINT32_MAX);
    vyre_build_if(b, op2(g, VYRE_EXPR_LT, vyre_build_load(b, g->flags, flag_at(g, i, 0, circle)),
                         random_literal(&g->x, VYRE_U32)));
    order_free_trace(g);
    if (settled) {
        vyre_build_break(b);
    }
    vyre_build_end(b);
    order_free_list(g, inside, 2);
    order_free_end_loop(g, &inside);
}

/* for (k in 0 .. the row's length), and the element that the lane has come to. */
static vyre_var begin_row(order_free *g) {
    vyre_builder *b = g->x.b;
    return vyre_build_for(b, order_free_name(g, "k"), vyre_build_u32(b, 0),
                          vyre_build_u32(b, g->row), VYRE_NONE);
}

static vyre_expr along_row(order_free *g, vyre_var k) {
    vyre_builder *b = g->x.b;
    const vyre_expr row =
        op2(g, VYRE_EXPR_MUL, vyre_build_var(b, g->lane), vyre_build_u32(b, g->row));
    return op2(g, VYRE_EXPR_ADD, row, vyre_build_var(b, k));
}

static vyre_expr of_row(order_free *g, vyre_var k) {
    return vyre_build_cast(g->x.b, VYRE_U32, vyre_build_load(g->x.b, g->rows, along_row(g, k)));
}

/* for (k in e .. the row's length) { sum = sum op ...; }: lanes begin apart, so their trips vary.
 */
static void join_row(order_free *g, vyre_var sum) {
    vyre_builder *b = g->x.b;
    static const vyre_expr_op ops[] = {VYRE_EXPR_ADD,     VYRE_EXPR_BIT_AND, VYRE_EXPR_BIT_OR,
                                       VYRE_EXPR_BIT_XOR, VYRE_EXPR_MIN,     VYRE_EXPR_MAX};
    const vyre_var k =
        vyre_build_for(b, order_free_name(g, "k"), order_free_below(g, 4, LEVEL_LANE),
                       vyre_build_u32(b, g->row), VYRE_NONE);
    const vyre_expr x = op2(g, VYRE_EXPR_MUL, of_row(g, k), vyre_build_var(b, k));
    vyre_build_assign(b, sum, op2(g, ops[random_below(&g->x, 6)], vyre_build_var(b, sum), x));
    vyre_build_end(b);
}

/* for (k in 0 .. 3) { sum = sum * 5 + rows[min(max(global_id.x + k, 1) - 1, last)]; } */
static void clamp_rows(order_free *g, vyre_var sum) {
    vyre_builder *b = g->x.b;
    const vyre_var k =
        vyre_build_for(b, order_free_name(g, "k"), vyre_build_u32(b, random_below(&g->x, 2)),
                       vyre_build_u32(b, 2 + random_below(&g->x, 4)),
                       random_chance(&g->x, 30) ? vyre_build_u32(b, 2) : VYRE_NONE);
    vyre_expr at =
        op2(g, VYRE_EXPR_ADD, vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0), vyre_build_var(b, k));
    at = op2(g, VYRE_EXPR_SUB, op2(g, VYRE_EXPR_MAX, at, vyre_build_u32(b, 1)),
             vyre_build_u32(b, 1));
    const vyre_expr last = vyre_build_u32(b, random_below(&g->x, g->lanes));
    at = op2(g, random_chance(&g->x, 70) ? VYRE_EXPR_MIN : VYRE_EXPR_REM, at, last);
    const vyre_expr five = op2(g, VYRE_EXPR_MUL, vyre_build_var(b, sum), vyre_build_u32(b, 5));
    const vyre_expr x = vyre_build_cast(b, VYRE_U32, vyre_build_load(b, g->rows, at));
    vyre_build_assign(b, sum, op2(g, VYRE_EXPR_ADD, five, x));
    vyre_build_end(b);
}

/* grid_sync; for (i in group_id.x .. n step num_groups.x) { let s = subgroup_add(rows[...]); if
 * (local_id.x == 0) { turned[i] = s; } } grid_sync; */
static void rows_of_groups(order_free *g) {
    vyre_builder *b = g->x.b;
    static const vyre_subgroup_op ops[] = {VYRE_SUBGROUP_ADD, VYRE_SUBGROUP_XOR, VYRE_SUBGROUP_MAX};
    const uint32_t by = 1 + random_below(&g->x, 2), groups = g->lanes / g->group_lanes;
    vyre_build_grid_sync(b);
    const vyre_var i = vyre_build_for(
        b, order_free_name(g, "i"),
        op2(g, VYRE_EXPR_MUL, vyre_build_id(b, VYRE_BUILTIN_GROUP_ID, 0), vyre_build_u32(b, by)),
        vyre_build_u32(b, 1 + random_below(&g->x, 3 * groups)),
        op2(g, VYRE_EXPR_MUL, vyre_build_id(b, VYRE_BUILTIN_NUM_GROUPS, 0), vyre_build_u32(b, by)));
    const vyre_expr at =
        op2(g, VYRE_EXPR_ADD, op2(g, VYRE_EXPR_MUL, vyre_build_var(b, i), vyre_build_u32(b, 5)),
            vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 0));
    const vyre_expr x = vyre_build_cast(b, VYRE_U32, vyre_build_load(b, g->rows, at));
    const vyre_var s =
        vyre_build_subgroup(b, order_free_name(g, "s"), ops[random_below(&g->x, 3)], x, VYRE_NONE);
    vyre_build_if(
        b, op2(g, VYRE_EXPR_EQ, vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 0), vyre_build_u32(b, 0)));
    vyre_build_store(b, g->turned, vyre_build_var(b, i), vyre_build_var(b, s));
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_grid_sync(b);
}

/* Nobody else has the row, and nothing else touches what is stored. */
void order_free_rows(order_free *g) {
    vyre_builder *b = g->x.b;
    const vyre_var sum = vyre_build_let(b, order_free_name(g, "sum"), vyre_build_u32(b, 0));
    vyre_var k = begin_row(g);
    const vyre_expr thrice = op2(g, VYRE_EXPR_MUL, vyre_build_var(b, sum), vyre_build_u32(b, 3));
    vyre_build_assign(b, sum, op2(g, VYRE_EXPR_ADD, thrice, of_row(g, k)));
    vyre_build_end(b);
    if (random_chance(&g->x, 75)) {
        k = begin_row(g);
        const vyre_expr next = op2(g, VYRE_EXPR_ADD, vyre_build_var(b, sum), vyre_build_var(b, k));
        vyre_build_store(b, g->turned, along_row(g, k),
                         op2(g, VYRE_EXPR_BIT_XOR, next, of_row(g, k)));
        vyre_build_end(b);
    }
    if (random_chance(&g->x, 35)) {
        join_row(g, sum);
    }
    if (random_chance(&g->x, 50)) {
        clamp_rows(g, sum);
    }
    if (g->axes == 1 && random_chance(&g->x, 40)) {
        rows_of_groups(g);
    }
    order_free_local(g, sum, LEVEL_LANE, false);
}

/* Some lanes append, perhaps in a loop. One counter, so that no two store to one element. */
void order_free_append(order_free *g) {
    vyre_builder *b = g->x.b;
    const bool loops = random_chance(&g->x, 40);
    vyre_build_if(b,
                  op2(g, VYRE_EXPR_NE, order_free_below(g, 3, LEVEL_LANE), vyre_build_u32(b, 0)));
    if (loops) {
        (void)vyre_build_for(b, order_free_name(g, "k"), vyre_build_u32(b, 0),
                             order_free_below(g, 4, LEVEL_LANE), VYRE_NONE);
    }
    const vyre_var at =
        vyre_build_atomic(b, order_free_name(g, "at"), VYRE_ATOMIC_ADD, g->heads,
                          vyre_build_u32(b, 1), VYRE_NONE, vyre_build_u32(b, 1), VYRE_RELAXED);
    vyre_expr index = vyre_build_var(b, at);
    if (random_chance(&g->x, 70)) {
        index = op2(g, VYRE_EXPR_ADD, vyre_build_u32(b, random_below(&g->x, g->lanes)), index);
    }
    vyre_build_store(b, g->list, index, vyre_build_u32(b, g->listed));
    if (loops) {
        vyre_build_end(b);
    }
    vyre_build_end(b);
}

/* The same in all groups: of what the grid has alike and the lane's place in its group. */
static vyre_expr alike(order_free *g) {
    vyre_builder *b = g->x.b;
    static const vyre_expr_op ops[] = {VYRE_EXPR_ADD, VYRE_EXPR_MUL, VYRE_EXPR_BIT_XOR};
    const vyre_expr common = order_free_expr(g, VYRE_U32, LEVEL_GRID);
    const vyre_expr own = random_chance(&g->x, 50)
                              ? vyre_build_var(b, g->group_lane)
                              : vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, random_below(&g->x, 3));
    return op2(g, ops[random_below(&g->x, 3)], common, own);
}

/* Each lane writes its element of the tile, some add to a sum; behind a barrier all groups hold the
 * same. */
void order_free_alike(order_free *g, place at) {
    vyre_builder *b = g->x.b;
    static const vyre_atomic_op ops[] = {VYRE_ATOMIC_ADD, VYRE_ATOMIC_MAX, VYRE_ATOMIC_XOR};
    vyre_build_store(b, g->tile, vyre_build_var(b, g->group_lane), alike(g));
    if (random_chance(&g->x, 60)) {
        vyre_build_if(b, op2(g, VYRE_EXPR_LT, alike(g), random_literal(&g->x, VYRE_U32)));
        const vyre_expr k = vyre_build_u32(b, random_below(&g->x, 2));
        (void)vyre_build_atomic(b, NULL, ops[random_below(&g->x, 3)], g->sum, k, VYRE_NONE,
                                alike(g), VYRE_SEQ_CST);
        vyre_build_end(b);
    }
    order_free_sync(g, at, random_chance(&g->x, 20));
    const vyre_expr from =
        vyre_build_load(b, g->tile, order_free_below(g, g->group_lanes, LEVEL_GRID));
    const vyre_expr sum = vyre_build_load(b, g->sum, vyre_build_u32(b, random_below(&g->x, 2)));
    const vyre_var n = vyre_build_let(
        b, order_free_name(g, "n"),
        op2(g, VYRE_EXPR_BIT_AND, op2(g, VYRE_EXPR_BIT_XOR, from, sum), vyre_build_u32(b, 3)));
    const place inside = loop_place(g, at, 3);
    const vyre_var i = vyre_build_for(b, order_free_name(g, "i"), vyre_build_u32(b, 0),
                                      vyre_build_var(b, n), VYRE_NONE);
    loop_over_sync(g, &inside, i, LEVEL_GRID);
}

/* Of the lanes that could end, most should go on. */
static vyre_expr rarely(order_free *g) {
    return vyre_build_op(g->x.b, VYRE_EXPR_EQ,
                         order_free_below(g, 4 + random_below(&g->x, 8), LEVEL_LANE),
                         vyre_build_u32(g->x.b, random_below(&g->x, 4)), VYRE_NONE);
}

static void trap(order_free *g) {
    char tag[NAME];
    const uint32_t every = 1 + random_below(&g->x, 4);
    const vyre_expr part = vyre_build_op(g->x.b, VYRE_EXPR_REM, vyre_build_var(g->x.b, g->lane),
                                         vyre_build_u32(g->x.b, every), VYRE_NONE);
    const vyre_expr some = vyre_build_u32(g->x.b, random_below(&g->x, every));
    (void)snprintf(tag, sizeof tag, "trap%u", g->serial++);
    vyre_build_if(g->x.b, vyre_build_op(g->x.b, VYRE_EXPR_EQ, part, some, VYRE_NONE));
    vyre_build_trap(g->x.b, tag, order_free_expr(g, VYRE_U32, LEVEL_LANE));
    vyre_build_end(g->x.b);
}

/* e + 3 * place, or e - place: e is the same for the grid or the group. */
static vyre_expr base_and_place(order_free *g, vyre_type type) {
    vyre_builder *b = g->x.b;
    const vyre_builtin which =
        random_chance(&g->x, 60) ? VYRE_BUILTIN_GLOBAL_ID : VYRE_BUILTIN_LOCAL_ID;
    vyre_expr own = vyre_build_id(b, which, 0);
    own = type == VYRE_U32 ? own : vyre_build_bitcast(b, type, own);
    if (random_chance(&g->x, 40)) {
        own = vyre_build_op(b, VYRE_EXPR_MUL, own,
                            vyre_build_literal(b, type, 1 + random_below(&g->x, 4)), VYRE_NONE);
    }
    const vyre_expr base =
        random_chance(&g->x, 30)
            ? vyre_build_literal(b, type, random_below(&g->x, 9))
            : order_free_expr(g, type, random_chance(&g->x, 50) ? LEVEL_GRID : LEVEL_GROUP);
    return random_chance(&g->x, 15) ? vyre_build_op(b, VYRE_EXPR_SUB, base, own, VYRE_NONE)
                                    : vyre_build_op(b, VYRE_EXPR_ADD, own, base, VYRE_NONE);
}

static void move_base(order_free *g, vyre_var var, vyre_type type) {
    vyre_builder *b = g->x.b;
    const vyre_expr by =
        random_chance(&g->x, 50)
            ? vyre_build_literal(b, type, random_below(&g->x, 70))
            : order_free_expr(g, type, random_chance(&g->x, 60) ? LEVEL_GRID : LEVEL_GROUP);
    const vyre_expr_op op = random_chance(&g->x, 80) ? VYRE_EXPR_ADD : VYRE_EXPR_SUB;
    vyre_build_assign(b, var, vyre_build_op(b, op, vyre_build_var(b, var), by, VYRE_NONE));
}

void order_free_base(order_free *g, place at) {
    const vyre_type type = random_chance(&g->x, 70) ? VYRE_U32 : VYRE_I32;
    const vyre_var var = vyre_build_let(g->x.b, order_free_name(g, "b"), base_and_place(g, type));
    place inside = at;
    order_free_local(g, var, LEVEL_LANE, true);
    const bool loops =
        random_chance(&g->x, 70) && order_free_begin_loop(g, at, LEVEL_GRID, &inside);
    for (uint32_t i = 1 + random_below(&g->x, 2); i > 0; i--) {
        order_free_store(g);
        order_free_barrier(g, inside);
        if (random_chance(&g->x, 80)) {
            move_base(g, var, type);
        }
    }
    if (loops) {
        order_free_list(g, inside, 2);
        order_free_end_loop(g, &inside);
    }
    order_free_barrier(g, at);
    order_free_store(g);
}

/* Some lanes trap; the others come to the next barrier, by whatever way. */
void order_free_trap(order_free *g, place at) {
    for (uint32_t i = 1 + random_below(&g->x, 2); i > 0; i--) {
        trap(g);
    }
    if (at.waits && at.level == LEVEL_GRID && random_chance(&g->x, 50)) {
        order_free_sync(g, at, true);
        order_free_draw(g, true);
    }
}

/* A jump to the next trip that lanes take apart: from here on nobody waits in this trip. All modes
 * are those of the loop already, here and in the lists around. */
static void continue_apart(order_free *g, place at, level own) {
    vyre_build_if(g->x.b, condition(g, own));
    if (random_chance(&g->x, 30)) {
        order_free_store(g);
    }
    vyre_build_continue(g->x.b);
    vyre_build_end(g->x.b);
    g->rest = higher(g->rest, higher(at.level, own));
    order_free_trace(g);
}

/* if (...) { break; } and the like */
void order_free_leaving(order_free *g, place at) {
    const modes before = g->modes;
    const level own = order_free_level(g);
    place inside = at;
    inside.level = higher(at.level, own);
    const bool jumps = at.loop && random_chance(&g->x, 75);
    /* A variable that an arm sets before such a jump is taken for one that varies behind the if. */
    const bool clean = !at.in_if || g->assigned == at.before;
    if (jumps && inside.level > at.loop_level && at.steady && clean &&
        same_modes(g, &at.loop_modes)) {
        continue_apart(g, at, own);
        return;
    }
    const bool together = jumps && inside.level <= at.loop_level;
    if (!together && (random_chance(&g->x, 60) || g->stays)) {
        return;
    }
    vyre_build_if(g->x.b, together ? condition(g, own) : rarely(g));
    if (!together) {
        if (random_chance(&g->x, 30)) {
            order_free_store(g);
        }
        vyre_build_exit(g->x.b);
    } else if (order_free_settle(g, inside, &at.loop_modes, UINT32_MAX)) {
        if (random_chance(&g->x, 50)) {
            vyre_build_break(g->x.b);
        } else {
            vyre_build_continue(g->x.b);
        }
    }
    vyre_build_end(g->x.b);
    g->modes = before;
}

void order_free_call(order_free *g, place at) {
    const function *f = g->callable ? &g->fns[random_below(&g->x, g->callable)] : NULL;
    if (f && (!f->waits || (at.waits && at.level == LEVEL_GRID)) &&
        order_free_settle(g, at, &f->begin, f->used)) {
        order_free_call_fn(g, f);
    }
}

void order_free_call_fn(order_free *g, const function *f) {
    const vyre_expr lane = vyre_build_var(g->x.b, g->lane);
    const vyre_expr group_lane = vyre_build_var(g->x.b, g->group_lane);
    const vyre_expr uniform = order_free_expr(g, VYRE_U32, LEVEL_GRID);
    const vyre_expr args[] = {lane, group_lane, uniform,
                              order_free_expr(g, f->argument, LEVEL_LANE)};
    const vyre_var var = vyre_build_call(g->x.b, order_free_name(g, "r"), f->fn, args, 4);
    order_free_local(g, var, LEVEL_LANE, false);
    for (uint32_t i = 0; i < g->array_count; i++) {
        g->modes.of[i] = (f->used >> i & 1) != 0 ? f->end.of[i] : g->modes.of[i];
    }
    g->used |= f->used;
}
