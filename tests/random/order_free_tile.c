/* Order-free programs: tiles. Memory of the group or of the lane is filled, taken over a barrier of
 * the grid and set anew, all of it or nearly, and behind a barrier it is read as a whole. Where
 * splitting takes a part for the whole, the old elements are lost.
 *
 * An element is named by digits: ids in the group and variables of loops, each with a range, in any
 * order, spread over the dimensions. No two lanes have all digits alike, so each element is one
 * lane's between two barriers, also where the digits leave some out. */
#include "random/order_free.h"

enum { DIGITS = 5 };

typedef enum digit_kind {
    DIGIT_ID,     /* local_id.a */
    DIGIT_ALL,    /* for (i in 0 .. n): of each lane */
    DIGIT_SHARED, /* for (i in local_id.a .. n step s) */
    DIGIT_FLAT    /* for (i in group_lane .. n step s) */
} digit_kind;

typedef struct digit {
    digit_kind kind;
    uint32_t axis, range;
    vyre_var var; /* of the loop */
} digit;

/* What is wrong with it, so that it is set in part only. */
typedef enum flaw {
    FLAW_NONE,
    FLAW_LONGER, /* than what is set */
    FLAW_WIDER,  /* in an inner digit */
    FLAW_TWICE,  /* an axis in two digits */
    FLAW_NARROW, /* digits overlap: those of one lane only */
    FLAW_BESIDE, /* indices pass the length of the last dimension */
    FLAW_SHORT,  /* a loop ends too early, */
    FLAW_LATE,   /* begins too late, */
    FLAW_STRIDE, /* steps too far, */
    FLAW_JUMP,   /* leaves out trips */
    FLAW_UNTOLD, /* a loop that some lanes do not enter */
    FLAW_SOME,   /* an `if` that some lanes do not enter */
    FLAW_ENDED,  /* some lanes have ended */
    FLAWS
} flaw;

typedef struct tile {
    array memory;
    digit digits[DIGITS];
    uint32_t count;
    flaw flaw;
} tile;

static vyre_expr op2(order_free *g, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(g->x.b, op, x, y, VYRE_NONE);
}

/* Which digits */

static void add_digit(tile *t, digit_kind kind, uint32_t axis, uint32_t range) {
    t->digits[t->count++] = (digit){.kind = kind, .axis = axis, .range = range};
}

/* A loop more: over what lanes share along an axis, or over all in each lane. */
static void add_loop(order_free *g, tile *t) {
    const uint32_t which = t->count == 0 ? 0 : random_below(&g->x, t->count);
    digit *d = &t->digits[which];
    if (t->count > 0 && d->kind == DIGIT_ID && random_chance(&g->x, 65)) {
        d->kind = DIGIT_SHARED;
        d->range += random_below(&g->x, d->range + 2);
    } else {
        add_digit(t, DIGIT_ALL, 0, 2 + random_below(&g->x, 2));
    }
}

static void repeat_axis(const order_free *g, tile *t) {
    const uint32_t count = t->count;
    for (uint32_t i = 0; i < count; i++) {
        const digit *d = &t->digits[i];
        if (t->count == count && (d->kind == DIGIT_SHARED || d->kind == DIGIT_FLAT) &&
            g->size[d->axis] > 1) {
            add_digit(t, DIGIT_ID, d->axis, g->size[d->axis]);
        }
    }
}

static void draw_digits(order_free *g, tile *t) {
    const cell_form form = (cell_form)g->tile_cell.part[1];
    const uint32_t loops = form == CELL_BOTH_ARMS ? random_below(&g->x, 3) : (uint32_t)form;
    const bool group = t->memory.role == VYRE_WORKGROUP;
    if (group && loops > 0 && random_chance(&g->x, 30)) {
        add_digit(t, DIGIT_FLAT, 0, g->group_lanes + random_below(&g->x, g->group_lanes + 2));
        t->digits[0].range += t->digits[0].range < 2;
    }
    const bool flat = t->count > 0;
    for (uint32_t axis = 0; group && !flat && axis < 3; axis++) {
        if (g->size[axis] > 1) {
            add_digit(t, DIGIT_ID, axis, g->size[axis]);
        }
    }
    for (uint32_t i = flat; i < loops; i++) {
        add_loop(g, t);
    }
    if (t->flaw == FLAW_TWICE) {
        repeat_axis(g, t);
    }
    for (uint32_t i = t->count; i > 1; i--) {
        const uint32_t k = random_below(&g->x, i);
        const digit last = t->digits[i - 1];
        t->digits[i - 1] = t->digits[k];
        t->digits[k] = last;
    }
}

/* In which dimension the digit lies. */
static uint32_t dimension_of(const tile *t, uint32_t i) {
    const uint32_t in = t->count < t->memory.rank ? i : i * t->memory.rank / t->count;
    return in < 3 ? in : 2; /* it always is; the analyser can't know */
}

static uint32_t radix_of(const tile *t, uint32_t i) {
    return t->digits[i].range + (t->flaw == FLAW_WIDER && i + 1 == t->count);
}

/* By which the digits before are multiplied. */
static uint32_t factor_of(const tile *t, uint32_t i) {
    return t->flaw == FLAW_NARROW && t->memory.role == VYRE_PRIVATE ? 1 : radix_of(t, i);
}

static uint32_t elements_of(const tile *t) {
    return t->memory.length[0] * t->memory.length[1] * t->memory.length[2];
}

static bool has_only_flat(const tile *t) {
    return t->count == 1 && t->digits[0].kind == DIGIT_FLAT;
}

static void draw_lengths(order_free *g, tile *t) {
    array *a = &t->memory;
    for (uint32_t i = 0; i < 3; i++) {
        /* A list of stores has no digits. */
        a->length[i] = t->count == 0 && i < a->rank ? 1 + random_below(&g->x, 3) : 1;
    }
    if (has_only_flat(t) && a->rank == 2) { /* [i / w][i % w] */
        a->length[1] = 1 + random_below(&g->x, 3);
        t->digits[0].range += a->length[1] - 1;
        t->digits[0].range -= t->digits[0].range % a->length[1];
        a->length[0] = t->digits[0].range / a->length[1];
    } else {
        for (uint32_t i = 0; i < t->count; i++) {
            a->length[dimension_of(t, i)] *= radix_of(t, i);
        }
    }
    if (t->flaw == FLAW_BESIDE && a->rank > 1 && a->length[a->rank - 1] % 2 == 0) {
        a->length[a->rank - 1] /= 2;
        a->length[0] *= 2;
    }
    a->length[0] += t->flaw == FLAW_LONGER ? 1 + random_below(&g->x, 2) : 0;
}

static void draw_tile(order_free *g, tile *t) {
    const uint32_t *part = g->tile_cell.part;
    vyre_expr sizes[3];
    array *a = &t->memory;
    *t = (tile){.memory = {.role = part[0] == CELL_TILE_OF_GROUP ? VYRE_WORKGROUP : VYRE_PRIVATE,
                           .type = VYRE_U32,
                           .rank = part[2] + 1}};
    if (part[4] == CELL_IN_PART) {
        t->flaw = (flaw)(1 + random_below(&g->x, FLAWS - 1));
    }
    draw_digits(g, t);
    draw_lengths(g, t);
    for (uint32_t i = 0; i < 3; i++) {
        sizes[i] = vyre_build_size(g->x.b, a->length[i]);
    }
    a->decl = vyre_build_memory(g->x.b, a->role, order_free_name(g, "tile"), a->type,
                                vyre_build_size(g->x.b, elements_of(t)));
    if (a->rank > 1) {
        vyre_build_decl_dimensions(g->x.b, a->decl, sizes, a->rank);
    }
}

/* Setting it */

static vyre_expr from_of(order_free *g, const digit *d) {
    switch (d->kind) {
    case DIGIT_SHARED: return vyre_build_id(g->x.b, VYRE_BUILTIN_LOCAL_ID, d->axis);
    case DIGIT_FLAT: return order_free_lane(g, true);
    case DIGIT_ID:
    case DIGIT_ALL: break;
    }
    return vyre_build_u32(g->x.b, 0);
}

static void open_loop(order_free *g, const tile *t, digit *d) {
    vyre_builder *b = g->x.b;
    const bool shared = d->kind != DIGIT_ALL;
    const uint32_t step = d->kind == DIGIT_SHARED ? g->size[d->axis]
                          : d->kind == DIGIT_FLAT ? g->group_lanes
                                                  : 1;
    const vyre_expr from = t->flaw == FLAW_LATE
                               ? op2(g, VYRE_EXPR_ADD, from_of(g, d), vyre_build_u32(b, 1))
                               : from_of(g, d);
    const vyre_expr by = vyre_build_u32(b, step + (t->flaw == FLAW_STRIDE));
    d->var = vyre_build_for(b, order_free_name(g, "t"), from,
                            vyre_build_u32(b, d->range - (t->flaw == FLAW_SHORT)),
                            shared || t->flaw == FLAW_STRIDE ? by : VYRE_NONE);
}

static vyre_expr digit_value(order_free *g, const digit *d) {
    return d->kind == DIGIT_ID ? vyre_build_id(g->x.b, VYRE_BUILTIN_LOCAL_ID, d->axis)
                               : vyre_build_var(g->x.b, d->var);
}

static vyre_expr element_of(order_free *g, const tile *t) {
    vyre_builder *b = g->x.b;
    vyre_expr indices[3];
    bool has[3] = {false, false, false};
    for (uint32_t i = 0; i < 3; i++) {
        indices[i] = vyre_build_u32(b, 0);
    }
    if (has_only_flat(t) && t->memory.rank == 2) {
        const vyre_var i = t->digits[0].var;
        const uint32_t width = t->memory.length[1];
        indices[0] = op2(g, VYRE_EXPR_DIV, vyre_build_var(b, i), vyre_build_u32(b, width));
        indices[1] = op2(g, VYRE_EXPR_REM, vyre_build_var(b, i), vyre_build_u32(b, width));
        return vyre_build_element(b, t->memory.decl, indices);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t in = dimension_of(t, i);
        const vyre_expr more = digit_value(g, &t->digits[i]);
        if (has[in]) {
            indices[in] = op2(g, VYRE_EXPR_MUL, indices[in], vyre_build_u32(b, factor_of(t, i)));
            indices[in] = op2(g, VYRE_EXPR_ADD, indices[in], more);
        } else {
            indices[in] = more;
        }
        has[in] = true;
    }
    return t->memory.rank == 1 ? indices[0] : vyre_build_element(b, t->memory.decl, indices);
}

/* Half of the lanes, and in a loop of the trips. */
static vyre_expr some_lanes(order_free *g, const tile *t) {
    vyre_builder *b = g->x.b;
    vyre_expr number = vyre_build_var(b, g->group_lane);
    for (uint32_t i = 0; t && i < t->count; i++) {
        if (t->digits[i].kind != DIGIT_ID) {
            number = op2(g, VYRE_EXPR_ADD, number, vyre_build_var(b, t->digits[i].var));
        }
    }
    return op2(g, VYRE_EXPR_EQ, op2(g, VYRE_EXPR_BIT_AND, number, vyre_build_u32(b, 1)),
               vyre_build_u32(b, random_below(&g->x, 2)));
}

/* Rarely something that needs what is there. */
static vyre_expr new_value(order_free *g, const tile *t, vyre_expr element) {
    const vyre_expr own =
        op2(g, VYRE_EXPR_BIT_XOR, vyre_build_var(g->x.b, g->lane), random_literal(&g->x, VYRE_U32));
    const vyre_expr value = op2(g, VYRE_EXPR_ADD, own, order_free_expr(g, VYRE_U32, LEVEL_LANE));
    return random_chance(&g->x, 12)
               ? op2(g, VYRE_EXPR_ADD, value, vyre_build_load(g->x.b, t->memory.decl, element))
               : value;
}

static void store(order_free *g, const tile *t, vyre_expr element) {
    vyre_build_store(g->x.b, t->memory.decl, element, new_value(g, t, element));
}

static void set_one_by_one(order_free *g, const tile *t) {
    const uint32_t count = elements_of(t);
    const uint32_t but = t->flaw != FLAW_NONE ? random_below(&g->x, count) : count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *length = t->memory.length, rank = t->memory.rank;
        const vyre_expr indices[] = {vyre_build_u32(g->x.b, i / length[2] / length[1]),
                                     vyre_build_u32(g->x.b, i / length[2] % length[1]),
                                     vyre_build_u32(g->x.b, i % length[2])};
        if (i == but && random_chance(&g->x, 50)) {
            continue;
        }
        if (i == but) { /* in a list of its own, to which not all come */
            vyre_build_if(g->x.b, some_lanes(g, NULL));
        }
        store(g, t,
              rank == 1 ? vyre_build_u32(g->x.b, i)
                        : vyre_build_element(g->x.b, t->memory.decl, indices));
        if (i == but) {
            vyre_build_end(g->x.b);
        }
    }
}

static void jump(order_free *g, const tile *t) {
    vyre_build_if(g->x.b, some_lanes(g, t));
    if (random_chance(&g->x, 50)) {
        vyre_build_continue(g->x.b);
    } else {
        vyre_build_break(g->x.b);
    }
    vyre_build_end(g->x.b);
}

static void set_by_digits(order_free *g, tile *t) {
    uint32_t loops = 0;
    if (t->flaw == FLAW_UNTOLD) {
        const uint32_t axis = g->size[0] > 2 || g->axes == 1 ? 0 : g->size[1] > 2 ? 1 : 2;
        (void)vyre_build_for(g->x.b, order_free_name(g, "t"),
                             vyre_build_id(g->x.b, VYRE_BUILTIN_LOCAL_ID, axis),
                             vyre_build_u32(g->x.b, 2), vyre_build_u32(g->x.b, g->size[axis]));
        loops++;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->digits[i].kind != DIGIT_ID) {
            open_loop(g, t, &t->digits[i]);
            loops++;
        }
    }
    if (t->flaw == FLAW_JUMP && loops > 0) {
        jump(g, t);
    }
    store(g, t, element_of(g, t));
    for (; loops > 0; loops--) {
        vyre_build_end(g->x.b);
    }
}

static void set_anew(order_free *g, tile *t) {
    const bool some = t->flaw == FLAW_SOME && random_chance(&g->x, 80);
    if (some) {
        vyre_build_if(g->x.b, some_lanes(g, NULL));
    }
    if (t->count == 0 && t->memory.role == VYRE_PRIVATE) {
        set_one_by_one(g, t);
    } else {
        set_by_digits(g, t);
    }
    if (some) {
        vyre_build_end(g->x.b);
    }
}

static void set_in_arms(order_free *g, tile *t) {
    if (g->tile_cell.part[1] != CELL_BOTH_ARMS) {
        set_anew(g, t);
        return;
    }
    vyre_build_if(g->x.b, order_free_expr(g, VYRE_BOOL, order_free_level(g)));
    set_anew(g, t);
    vyre_build_else(g->x.b);
    set_anew(g, t);
    vyre_build_end(g->x.b);
}

/* All elements, by the lanes of a group together. */

static vyre_var begin_elements(order_free *g, const tile *t, vyre_expr *out_element) {
    vyre_builder *b = g->x.b;
    const bool group = t->memory.role == VYRE_WORKGROUP;
    const vyre_var i = vyre_build_for(
        b, order_free_name(g, "k"), group ? vyre_build_var(b, g->group_lane) : vyre_build_u32(b, 0),
        vyre_build_u32(b, elements_of(t)), group ? vyre_build_u32(b, g->group_lanes) : VYRE_NONE);
    const vyre_expr turned =
        op2(g, VYRE_EXPR_REM,
            op2(g, VYRE_EXPR_ADD, vyre_build_var(b, i), vyre_build_u32(b, random_below(&g->x, 3))),
            vyre_build_u32(b, elements_of(t)));
    *out_element = order_free_element(g, &t->memory, turned);
    return i;
}

static void fill(order_free *g, const tile *t) {
    vyre_expr element;
    const vyre_var i = begin_elements(g, t, &element);
    const vyre_expr value =
        op2(g, VYRE_EXPR_ADD, order_free_expr(g, VYRE_U32, LEVEL_LANE), vyre_build_var(g->x.b, i));
    vyre_build_store(g->x.b, t->memory.decl, element,
                     op2(g, VYRE_EXPR_BIT_OR, value, vyre_build_u32(g->x.b, 5)));
    vyre_build_end(g->x.b);
}

static void read(order_free *g, place at, const tile *t, vyre_var sum) {
    vyre_expr element;
    if (t->memory.role == VYRE_WORKGROUP) {
        order_free_sync(g, at, random_chance(&g->x, 30));
    }
    (void)begin_elements(g, t, &element);
    const vyre_expr times =
        op2(g, VYRE_EXPR_MUL, vyre_build_var(g->x.b, sum), vyre_build_u32(g->x.b, 31));
    vyre_build_assign(
        g->x.b, sum,
        op2(g, VYRE_EXPR_ADD, times, vyre_build_load(g->x.b, t->memory.decl, element)));
    vyre_build_end(g->x.b);
}

static void set_and_read(order_free *g, place at, tile *t, vyre_var sum) {
    const bool guarded = g->tile_cell.part[3] != 0;
    bool is_read = false;
    if (guarded) {
        const level own = t->memory.role == VYRE_WORKGROUP && random_chance(&g->x, 85)
                              ? (level)random_below(&g->x, LEVEL_GROUP + 1)
                              : LEVEL_LANE;
        place inside = at;
        inside.level = own;
        vyre_build_if(g->x.b, order_free_expr(g, VYRE_BOOL, own));
        set_in_arms(g, t);
        if ((own <= LEVEL_GROUP || t->memory.role == VYRE_PRIVATE) && random_chance(&g->x, 50)) {
            is_read = true;
            read(g, inside, t, sum);
        }
        vyre_build_end(g->x.b);
    } else {
        set_in_arms(g, t);
    }
    if (!is_read || random_chance(&g->x, 40)) {
        read(g, at, t, sum);
    }
}

void order_free_tile(order_free *g, place at) {
    tile t;
    place inside = at;
    draw_tile(g, &t);
    const vyre_var sum =
        vyre_build_let(g->x.b, order_free_name(g, "sum"), vyre_build_u32(g->x.b, 1));
    order_free_local(g, sum, LEVEL_LANE, true);
    if (random_chance(&g->x, 95)) {
        fill(g, &t);
    }
    const bool loops =
        random_chance(&g->x, 50) && order_free_begin_loop(g, at, LEVEL_GRID, &inside);
    order_free_sync(g, inside, true);
    order_free_draw(g, true);
    if (t.flaw == FLAW_ENDED && !g->stays) {
        vyre_build_if(g->x.b, some_lanes(g, NULL));
        vyre_build_exit(g->x.b);
        vyre_build_end(g->x.b);
    }
    set_and_read(g, inside, &t, sum);
    if (loops) {
        order_free_list(g, inside, 2);
        order_free_end_loop(g, &inside);
    }
    const vyre_decl seen = vyre_build_memory(g->x.b, VYRE_OUT, order_free_name(g, "seen"), VYRE_U32,
                                             vyre_build_size(g->x.b, (int64_t)g->lanes));
    vyre_build_store(g->x.b, seen, vyre_build_var(g->x.b, g->lane), vyre_build_var(g->x.b, sum));
}
