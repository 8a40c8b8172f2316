/* Order-free programs: declarations, leaves of expressions, owned elements. */
#include <stdio.h>
#include <string.h>

#include "random/order_free.h"
#include "random/random_program.h"

const char *order_free_name(order_free *g, const char *stem) {
    (void)snprintf(g->name, sizeof g->name, "%s_%u", stem, g->serial++);
    return g->name;
}

/* Modes */

static bool takes_atomics(const array *a) {
    return vyre_type_computes(a->type) && vyre_type_is_integer(a->type);
}

/* New modes behind a barrier; that of the workgroup does not end the interval of buffers. */
void order_free_draw(order_free *g, bool buffers) {
    static const vyre_atomic_op ops[] = {VYRE_ATOMIC_ADD, VYRE_ATOMIC_SUB, VYRE_ATOMIC_MIN,
                                         VYRE_ATOMIC_MAX, VYRE_ATOMIC_AND, VYRE_ATOMIC_OR,
                                         VYRE_ATOMIC_XOR};
    for (uint32_t i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        if (a->role == VYRE_IN || a->role == VYRE_PRIVATE ||
            (a->role != VYRE_WORKGROUP && !buffers) || random_chance(&g->x, 40)) {
            continue;
        }
        const mode m = (mode)random_below(&g->x, takes_atomics(a) ? 3 : 2);
        g->modes.of[i] = (usage){m, m == MODE_ATOMIC ? ops[random_below(&g->x, 7)] : 0};
    }
}

void order_free_touch(order_free *g, const array *a) {
    g->used |= UINT32_C(1) << (a - g->arrays);
}

const array *order_free_pick(order_free *g, mode m) {
    const uint32_t first = random_below(&g->x, g->array_count);
    for (uint32_t i = 0; i < g->array_count; i++) {
        const uint32_t k = (first + i) % g->array_count;
        if (g->modes.of[k].mode == m && g->arrays[k].role != VYRE_IN) {
            order_free_touch(g, &g->arrays[k]);
            return &g->arrays[k];
        }
    }
    return NULL;
}

/* Expressions */

static vyre_expr plus(order_free *g, vyre_expr x, uint32_t y) {
    return y == 0 ? x
                  : vyre_build_op(g->x.b, VYRE_EXPR_ADD, x, vyre_build_u32(g->x.b, y), VYRE_NONE);
}

vyre_expr order_free_own(order_free *g, const array *a) {
    return a->role == VYRE_PRIVATE ? order_free_below(g, a->copies, LEVEL_LANE)
                                   : order_free_own_copy(g, a, random_below(&g->x, a->copies));
}

vyre_expr order_free_own_copy(order_free *g, const array *a, uint32_t copy) {
    const vyre_var var = a->role == VYRE_WORKGROUP ? g->group_lane : g->lane;
    const vyre_expr number = random_chance(&g->x, 80)
                                 ? vyre_build_var(g->x.b, var)
                                 : order_free_lane(g, a->role == VYRE_WORKGROUP);
    return plus(g, number, a->lanes * copy);
}

static vyre_expr id(order_free *g, vyre_builtin builtin, uint32_t axis) {
    return vyre_build_id(g->x.b, builtin, axis);
}

vyre_expr order_free_lane(order_free *g, bool group) {
    const vyre_builtin number = group ? VYRE_BUILTIN_LOCAL_ID : VYRE_BUILTIN_GLOBAL_ID;
    const vyre_builtin size = group ? VYRE_BUILTIN_GROUP_SIZE : VYRE_BUILTIN_GLOBAL_SIZE;
    vyre_expr made = id(g, number, g->axes - 1);
    for (uint32_t axis = g->axes - 1; axis-- > 0;) {
        made = vyre_build_op(g->x.b, VYRE_EXPR_MUL, made, id(g, size, axis), VYRE_NONE);
        made = vyre_build_op(g->x.b, VYRE_EXPR_ADD, made, id(g, number, axis), VYRE_NONE);
    }
    return made;
}

static vyre_expr expr_of(order_free *g, vyre_type type, level most, uint32_t depth) {
    const level before = g->level;
    g->level = most;
    const vyre_expr made = random_expr(&g->x, type, random_below(&g->x, depth));
    g->level = before;
    return made;
}

vyre_expr order_free_expr(order_free *g, vyre_type type, level most) {
    return expr_of(g, type, most, 3);
}

vyre_expr order_free_below(order_free *g, uint32_t bound, level most) {
    return random_chance(&g->x, 40)
               ? vyre_build_u32(g->x.b, random_below(&g->x, bound))
               : vyre_build_op(g->x.b, VYRE_EXPR_REM, expr_of(g, VYRE_U32, most, 2),
                               vyre_build_u32(g->x.b, bound), VYRE_NONE);
}

static bool may_load(const order_free *g, uint32_t i, vyre_type type) {
    const array *a = &g->arrays[i];
    const bool lanes = g->modes.of[i].mode == MODE_OWN; /* private arrays too */
    return vyre_type_widened(a->type) == type && g->modes.of[i].mode != MODE_ATOMIC &&
           (g->level == LEVEL_LANE || (!lanes && a->role != VYRE_WORKGROUP) ||
            (!lanes && g->level >= LEVEL_GROUP));
}

/* Where there are dimensions the number stands in each index: loads in it would double, and double
 * again. */
static vyre_expr any_element(order_free *g, const array *a, uint32_t depth) {
    const bool before = g->repeated;
    g->repeated |= a->rank > 1;
    const vyre_expr number = random_expr(&g->x, VYRE_U32, depth);
    g->repeated = before;
    return vyre_build_op(g->x.b, VYRE_EXPR_REM, number,
                         vyre_build_u32(g->x.b, a->lanes * a->copies + 1), VYRE_NONE);
}

static vyre_expr load_leaf(order_free *g, vyre_type type, uint32_t depth) {
    if (g->repeated) {
        return VYRE_NONE;
    }
    const uint32_t first = random_below(&g->x, g->array_count);
    for (uint32_t i = 0; i < g->array_count; i++) {
        const uint32_t k = (first + i) % g->array_count;
        const array *a = &g->arrays[k];
        if (!may_load(g, k, type)) {
            continue;
        }
        order_free_touch(g, a);
        const vyre_expr index =
            g->modes.of[k].mode == MODE_OWN ? order_free_own(g, a) : any_element(g, a, depth);
        return vyre_build_load(g->x.b, a->decl, order_free_element(g, a, index));
    }
    return VYRE_NONE;
}

static vyre_expr local_leaf(order_free *g, vyre_type type) {
    const uint32_t first = g->local_count == 0 ? 0 : random_below(&g->x, g->local_count);
    for (uint32_t i = 0; i < g->local_count; i++) {
        const local *l = &g->locals[(first + i) % g->local_count];
        if (l->type == type && l->level <= g->level) {
            return vyre_build_var(g->x.b, l->var);
        }
    }
    return VYRE_NONE;
}

/* The number of the subgroup, or nearly: rows are made of whole subgroups. */
static vyre_expr subgroup_leaf(order_free *g) {
    static const vyre_expr_op ops[] = {VYRE_EXPR_DIV, VYRE_EXPR_SHR, VYRE_EXPR_BIT_AND};
    static const uint32_t by[] = {32, 5, 96};
    const uint32_t way = random_below(&g->x, 3);
    return vyre_build_op(g->x.b, ops[way], id(g, VYRE_BUILTIN_LOCAL_ID, 0),
                         vyre_build_u32(g->x.b, by[way]), VYRE_NONE);
}

static vyre_expr id_leaf(order_free *g) {
    static const vyre_builtin ids[4][4] = {{VYRE_BUILTIN_NUM_GROUPS, VYRE_BUILTIN_GROUP_SIZE,
                                            VYRE_BUILTIN_GLOBAL_SIZE, VYRE_BUILTIN_SUBGROUP_SIZE},
                                           {VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_GROUP_ID,
                                            VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_NUM_GROUPS},
                                           {VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_NUM_GROUPS,
                                            VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_SUBGROUP_SIZE},
                                           {VYRE_BUILTIN_GLOBAL_ID, VYRE_BUILTIN_LOCAL_ID,
                                            VYRE_BUILTIN_SUBGROUP_LOCAL_ID,
                                            VYRE_BUILTIN_GLOBAL_ID}};
    if (g->level == LEVEL_SUBGROUP && g->axes == 1 && random_chance(&g->x, 70)) {
        return subgroup_leaf(g);
    }
    const vyre_builtin builtin = ids[g->level][random_below(&g->x, 4)];
    return id(g, builtin, vyre_builtin_axes(builtin) == 3 ? random_below(&g->x, 3) : 0);
}

static vyre_expr leaf(random_exprs *x, vyre_type type, uint32_t depth) {
    order_free *g = (order_free *)x;
    switch (random_below(x, 8)) {
    case 0:
        for (uint32_t i = 0; i < g->value_count; i++) {
            if (g->value_types[i] == type) {
                return vyre_build_ref(x->b, g->values[i]);
            }
        }
        return VYRE_NONE;
    case 1:
        if (type == VYRE_U32 && random_chance(x, 20)) {
            return vyre_build_len(x->b, g->arrays[random_below(x, 2)].decl);
        }
        return type == VYRE_U32 ? id_leaf(g) : VYRE_NONE;
    case 2:
    case 3: return load_leaf(g, type, depth);
    default: return local_leaf(g, type);
    }
}

/* Declarations */

/* Where all lanes of a group agree on what should tell them apart, there is no such jump. */
static void fit_jump(order_free *g, uint32_t size[3]) {
    if ((g->wishes >> WISH_JUMP & 1) == 0) {
        return;
    }
    if (g->jump.part[1] == CELL_ROW && size[1] * size[2] == 1) {
        g->axes = g->axes < 2 ? 2 : g->axes;
        size[1] = 2;
    } else if (g->jump.part[1] == CELL_VARYING && size[0] == 1) {
        size[0] = 2;
    }
}

static void draw_grid(order_free *g, uint32_t size[3], uint32_t groups[3]) {
    const bool parts = (g->wishes >> WISH_JUMP & 1) != 0 && g->jump.part[1] == CELL_TOGETHER;
    const uint32_t draw = parts ? 0 : random_below(&g->x, 100);
    g->axes = draw < 60 ? 1 : draw < 80 ? 2 : 3;
    groups[0] = 2 + random_below(&g->x, 2);
    size[0] = 1 + random_below(&g->x, g->axes == 1 ? 6 : 3);
    if (g->axes == 1 && (parts || random_chance(&g->x, 20))) {
        size[0] = 33 + random_below(&g->x, 4); /* two subgroups */
    }
    for (uint32_t axis = 1; axis < g->axes; axis++) {
        const bool last = axis + 1 == g->axes;
        size[axis] = 1 + random_below(&g->x, 2) + (last && random_chance(&g->x, 80));
        groups[axis] = last && random_chance(&g->x, 50) ? 2 : 1;
    }
    fit_jump(g, size);
    memcpy(g->size, size, sizeof g->size);
}

/* Sizes are of the grid that the words of an indirect dispatch will ask for. */
static void declare_grid(order_free *g) {
    vyre_builder *b = g->x.b;
    uint32_t size[3] = {1, 1, 1}, groups[3] = {1, 1, 1};
    draw_grid(g, size, groups);
    g->indirect = random_chance(&g->x, 13);
    if (g->indirect) {
        g->words_offset = 4 * (random_chance(&g->x, 5) ? 3 : random_below(&g->x, 3));
        random_indirect_grid(g->words_offset, groups);
    }
    g->group_lanes = g->lanes = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        g->group_lanes *= size[axis];
        g->lanes *= size[axis] * (groups[axis] == 0 ? 1 : groups[axis]);
        g->axes = groups[axis] > 1 && axis >= g->axes ? axis + 1 : g->axes;
    }
    vyre_build_workgroup(b, size[0], size[1], size[2]);
    if (g->axes == 1 && !g->indirect && size[0] > 1 && random_chance(&g->x, 40)) {
        vyre_build_elements(b, vyre_build_size(b, g->lanes - random_below(&g->x, size[0])));
    } else if (!g->indirect) {
        vyre_build_grid(b, vyre_build_size(b, groups[0]), vyre_build_size(b, groups[1]),
                        vyre_build_size(b, groups[2]));
    }
}

static vyre_expr by_number(order_free *g, vyre_expr_op op, vyre_expr x, uint32_t y) {
    return vyre_build_op(g->x.b, op, x, vyre_build_u32(g->x.b, y), VYRE_NONE);
}

vyre_expr order_free_element(order_free *g, const array *a, vyre_expr number) {
    vyre_expr indices[3] = {number};
    if (a->rank == 1) {
        return number;
    }
    for (uint32_t i = a->rank; i-- > 1;) {
        indices[i] = by_number(g, VYRE_EXPR_REM, number, a->length[i]);
        number = indices[0] = by_number(g, VYRE_EXPR_DIV, number, a->length[i]);
    }
    if (random_chance(&g->x, 8)) {
        const uint32_t i = 1 + random_below(&g->x, a->rank - 1);
        indices[i] = by_number(g, VYRE_EXPR_ADD, indices[i], a->length[i]);
        indices[i - 1] = by_number(g, VYRE_EXPR_SUB, indices[i - 1], 1);
    }
    return vyre_build_element(g->x.b, a->decl, indices);
}

/* So many elements, or more of them in several dimensions. */
static void draw_dimensions(order_free *g, array *a, uint32_t size) {
    a->rank = g->array_count == 0 || random_chance(&g->x, 70) ? 1 : 2 + random_below(&g->x, 2);
    a->length[1] = a->rank > 1 ? 1 + random_below(&g->x, 5) : 1;
    a->length[2] = a->rank > 2 ? 1 + random_below(&g->x, 5) : 1;
    const uint32_t inner = a->length[1] * a->length[2];
    a->length[0] = (size + inner - 1) / inner;
}

static void declare_memory(order_free *g, array *a) {
    vyre_expr sizes[3];
    for (uint32_t i = 0; i < 3; i++) {
        sizes[i] = vyre_build_size(g->x.b, a->length[i]);
    }
    a->decl = vyre_build_memory(g->x.b, a->role, order_free_name(g, vyre_role_name(a->role)),
                                a->type, sizes[0]);
    if (a->rank > 1) {
        vyre_build_decl_dimensions(g->x.b, a->decl, sizes, a->rank);
    }
}

static void declare_array(order_free *g, vyre_role role, vyre_type type) {
    array *a = &g->arrays[g->array_count];
    *a = (array){.role = role, .type = type, .copies = 1 + random_below(&g->x, 3)};
    a->lanes = role == VYRE_PRIVATE ? 1 : role == VYRE_WORKGROUP ? g->group_lanes : g->lanes;
    a->copies += g->array_count == 0 ? 6 / a->lanes : 0; /* room for the words */
    /* In the first there is one more, for traces. */
    const uint32_t size = a->lanes * (a->copies + (g->array_count == 0));
    draw_dimensions(g, a, size);
    declare_memory(g, a);
    g->modes.of[g->array_count++].mode = role == VYRE_IN ? MODE_SHARED : MODE_OWN;
}

/* More of the last, to be swapped with it. */
static void declare_twins(order_free *g) {
    static const vyre_role roles[] = {VYRE_INOUT, VYRE_OUT, VYRE_SCRATCH};
    const array like = g->arrays[g->array_count - 1];
    g->first_twin = g->array_count - 1;
    g->twins = 2 + random_chance(&g->x, 30);
    while (g->array_count < g->first_twin + g->twins) {
        array *a = &g->arrays[g->array_count];
        *a = like;
        a->role = roles[random_below(&g->x, 3)];
        declare_memory(g, a);
        g->modes.of[g->array_count++].mode = MODE_OWN;
    }
}

static vyre_type any_type(order_free *g) {
    return (vyre_type)(VYRE_BOOL + random_below(&g->x, VYRE_TYPE_COUNT - 1));
}

/* Whole tiles of eight, and sometimes the last rows are not there. */
static void declare_rows(order_free *g) {
    static const vyre_type types[] = {VYRE_U32, VYRE_I32};
    g->row = random_chance(&g->x, 80) ? 8 * (1 + random_below(&g->x, 2)) : 5;
    const uint32_t all = g->lanes * g->row;
    const uint32_t count = random_chance(&g->x, 70) ? all : 1 + random_below(&g->x, all);
    g->rows = vyre_build_memory(g->x.b, VYRE_IN, order_free_name(g, "rows"),
                                types[random_below(&g->x, 2)], vyre_build_size(g->x.b, count));
    g->turned = vyre_build_memory(g->x.b, VYRE_OUT, order_free_name(g, "turned"), VYRE_U32,
                                  vyre_build_size(g->x.b, count));
}

/* Elements are all alike, since which lane comes first is nobody's matter; there may be too many.
 */
static void declare_list(order_free *g) {
    const uint32_t count = 1 + random_below(&g->x, 3 * g->lanes);
    g->list = vyre_build_memory(g->x.b, VYRE_OUT, order_free_name(g, "list"), VYRE_U32,
                                vyre_build_size(g->x.b, count));
    g->heads = vyre_build_memory(g->x.b, VYRE_OUT, order_free_name(g, "heads"), VYRE_U32,
                                 vyre_build_size(g->x.b, 2));
    g->listed = 1 + random_below(&g->x, 1000);
}

void order_free_declare(order_free *g) {
    static const vyre_role roles[] = {VYRE_INOUT, VYRE_OUT, VYRE_INOUT, VYRE_SCRATCH};
    g->x.leaf = leaf;
    declare_grid(g);
    /* The first has the words of an indirect dispatch: what becomes of them must not matter. */
    declare_array(g, VYRE_INOUT, VYRE_U32);
    declare_array(g, VYRE_IN, random_chance(&g->x, 50) ? VYRE_U32 : any_type(g));
    for (uint32_t i = 1 + random_below(&g->x, 5); i > 0; i--) {
        declare_array(g, roles[random_below(&g->x, 4)], any_type(g));
    }
    if ((g->wishes >> WISH_SWAP & 1) != 0) {
        declare_twins(g);
    }
    for (uint32_t i = random_below(&g->x, 3); i > 0; i--) {
        declare_array(g, VYRE_WORKGROUP, any_type(g));
    }
    if ((g->wishes >> WISH_ATOMIC & 1) != 0) {
        const vyre_role role =
            g->atomic.part[2] == CELL_BUFFER ? roles[random_below(&g->x, 4)] : VYRE_WORKGROUP;
        g->atomic_array = g->array_count;
        declare_array(g, role, (vyre_type)g->atomic.part[1]);
    }
    if ((g->wishes >> WISH_TURNS & 1) != 0) {
        g->flags = vyre_build_memory(g->x.b, VYRE_SCRATCH, order_free_name(g, "flags"), VYRE_U32,
                                     vyre_build_size(g->x.b, 4));
    }
    if ((g->wishes >> WISH_ROWS & 1) != 0) {
        declare_rows(g);
    }
    if ((g->wishes >> WISH_APPEND & 1) != 0) {
        declare_list(g);
    }
    if (g->stays) {
        g->tile = vyre_build_memory(g->x.b, VYRE_WORKGROUP, order_free_name(g, "tile"), VYRE_U32,
                                    vyre_build_size(g->x.b, g->group_lanes));
        g->sum = vyre_build_memory(g->x.b, VYRE_WORKGROUP, order_free_name(g, "sum"), VYRE_U32,
                                   vyre_build_size(g->x.b, 2));
    }
    if ((g->wishes >> WISH_COPY & 1) != 0) {
        declare_array(g, VYRE_PRIVATE, VYRE_I32);
    }
    for (uint32_t i = random_below(&g->x, 3); i > 0; i--) {
        declare_array(g, VYRE_PRIVATE, random_chance(&g->x, 15) ? VYRE_BOOL : any_type(g));
    }
    for (uint32_t i = random_below(&g->x, VALUES); i > 0; i--) {
        const vyre_type type = random_chance(&g->x, 50) ? VYRE_U32 : random_type(&g->x);
        const vyre_expr value = random_literal(&g->x, type);
        g->value_types[g->value_count] = type;
        g->values[g->value_count++] =
            random_chance(&g->x, 70)
                ? vyre_build_param(g->x.b, order_free_name(g, "param"), type, value)
                : vyre_build_const(g->x.b, order_free_name(g, "const"), value);
    }
}

void random_indirect_grid(uint32_t offset, uint32_t out_grid[3]) {
    static const uint32_t grids[][3] = {{3, 1, 1}, {2, 2, 1}, {2, 1, 2}, {2, 1, 0}};
    memcpy(out_grid, grids[offset / 4 % 4], sizeof grids[0]);
}
