/* Order-free programs: statements and bodies. What makes them order-free is in order_free.h. */
#include "random/order_free.h"

#include <stdio.h>

#include "random/random_program.h"

/* Of a new condition or value: often uniform, for that is where barriers may stand. */
level order_free_level(order_free *g) {
    const uint32_t draw = random_below(&g->x, 10);
    return draw < 5 ? LEVEL_GRID : draw < 7 ? LEVEL_GROUP : draw == 7 ? LEVEL_SUBGROUP : LEVEL_LANE;
}

void order_free_local(order_free *g, vyre_var var, level l, bool fixed) {
    g->locals[g->local_count++] = (local){var, vyre_builder_var_type(g->x.b, var), l, fixed};
}

/* Barriers and modes */

void order_free_sync(order_free *g, place at, bool grid) {
    if (grid && at.level == LEVEL_GRID) {
        vyre_build_grid_sync(g->x.b);
    } else {
        static const vyre_ordering orderings[] = {VYRE_SEQ_CST, VYRE_SEQ_CST, VYRE_ACQUIRE,
                                                  VYRE_RELEASE, VYRE_ACQ_REL};
        vyre_build_barrier(g->x.b, orderings[random_below(&g->x, 5)]);
    }
}

/* Back to `wanted` for the arrays of the set, by a barrier if any differs. False: not possible
 * here. */
bool order_free_settle(order_free *g, place at, const modes *wanted, uint32_t set) {
    bool buffers = false, groups = false;
    for (uint32_t i = 0; i < g->array_count; i++) {
        const usage now = g->modes.of[i], then = wanted->of[i];
        if ((set >> i & 1) != 0 && (now.mode != then.mode || now.atomic != then.atomic)) {
            (g->arrays[i].role == VYRE_WORKGROUP ? &groups : &buffers)[0] = true;
        }
    }
    if (buffers || groups) {
        at.level = higher(at.level, g->rest);
        if (!at.waits || at.level > (buffers ? LEVEL_GRID : LEVEL_GROUP)) {
            return false;
        }
        order_free_sync(g, at, buffers || random_chance(&g->x, 60));
    }
    for (uint32_t i = 0; i < g->array_count; i++) {
        g->modes.of[i] = (set >> i & 1) != 0 ? wanted->of[i] : g->modes.of[i];
    }
    return true;
}

void order_free_barrier(order_free *g, place at) {
    if (at.waits && at.level <= LEVEL_GROUP) {
        const bool grid = at.level == LEVEL_GRID && random_chance(&g->x, 75);
        order_free_sync(g, at, grid);
        if (random_chance(&g->x, 75)) { /* else all goes on as before: nobody needs it */
            order_free_draw(g, grid);
        }
    }
}

/* Memory and variables */

static void add_let(order_free *g, place at) {
    const level own = order_free_level(g);
    const vyre_expr value = order_free_expr(g, random_type(&g->x), own);
    order_free_local(g, vyre_build_let(g->x.b, order_free_name(g, "v"), value),
                     higher(own, at.level), false);
}

static void add_assign(order_free *g, place at) {
    const local *l = &g->locals[random_below(&g->x, g->local_count)];
    if (!l->fixed && l->level >= higher(at.level, g->least)) {
        g->assigned += l->level < LEVEL_LANE;
        vyre_build_assign(g->x.b, l->var, order_free_expr(g, l->type, l->level));
    }
}

void order_free_store(order_free *g) {
    const array *a = order_free_pick(g, MODE_OWN);
    if (a) {
        const vyre_expr index = order_free_element(g, a, order_free_own(g, a));
        vyre_build_store(g->x.b, a->decl, index,
                         order_free_expr(g, vyre_type_widened(a->type), LEVEL_LANE));
    }
}

/* Counts in memory of the lane's own, where nothing else is stored, so that who came by is seen in
 * the end. */
void order_free_trace(order_free *g) {
    const array *a = &g->arrays[0];
    if (g->modes.of[0].mode == MODE_OWN) {
        vyre_builder *b = g->x.b;
        const vyre_expr old = vyre_build_load(b, a->decl, order_free_own_copy(g, a, a->copies));
        const vyre_expr more = vyre_build_u32(b, 1 + random_below(&g->x, 7));
        order_free_touch(g, a);
        vyre_build_store(b, a->decl, order_free_own_copy(g, a, a->copies),
                         vyre_build_op(b, VYRE_EXPR_ADD, old, more, VYRE_NONE));
    }
}

static vyre_ordering ordering(order_free *g) {
    return random_chance(&g->x, 40) ? VYRE_SEQ_CST
                                    : (vyre_ordering)random_below(&g->x, VYRE_ORDERING_COUNT);
}

/* An array that anyone may load, whose elements are taken for values of the type; or NULL. */
static const array *pick_counted(order_free *g, vyre_type type) {
    const uint32_t first = random_below(&g->x, g->array_count);
    for (uint32_t i = 0; i < g->array_count; i++) {
        const uint32_t k = (first + i) % g->array_count;
        if (g->modes.of[k].mode == MODE_SHARED && vyre_type_widened(g->arrays[k].type) == type) {
            order_free_touch(g, &g->arrays[k]);
            return &g->arrays[k];
        }
    }
    return NULL;
}

/* All elements of an array go into another one, each group for itself, as when they are counted. */
static bool add_count(order_free *g, const array *a, vyre_atomic_op op) {
    vyre_builder *b = g->x.b;
    const array *from = pick_counted(g, a->type);
    if (!from) {
        return false;
    }
    const vyre_var i =
        vyre_build_for(b, order_free_name(g, "i"), vyre_build_var(b, g->group_lane),
                       vyre_build_len(b, from->decl), vyre_build_u32(b, g->group_lanes));
    const vyre_expr value =
        vyre_build_load(b, from->decl, order_free_element(g, from, vyre_build_var(b, i)));
    const vyre_expr index =
        order_free_element(g, a, order_free_below(g, a->lanes * a->copies + 1, LEVEL_LANE));
    (void)vyre_build_atomic(b, NULL, op, a->decl, index, VYRE_NONE, value, ordering(g));
    vyre_build_end(b);
    return true;
}

static void add_atomic(order_free *g, place at) {
    const array *a = order_free_pick(g, MODE_ATOMIC);
    if (!a || (at.trips * 3 <= 20 && random_chance(&g->x, 30) &&
               add_count(g, a, g->modes.of[a - g->arrays].atomic))) {
        return;
    }
    const vyre_expr index =
        order_free_element(g, a, order_free_below(g, a->lanes * a->copies + 1, LEVEL_LANE));
    const vyre_expr value = order_free_expr(g, a->type, LEVEL_LANE);
    const vyre_atomic_op op = g->modes.of[a - g->arrays].atomic;
    (void)vyre_build_atomic(g->x.b, random_chance(&g->x, 10) ? order_free_name(g, "old") : NULL, op,
                            a->decl, index, VYRE_NONE, value, ordering(g));
}

/* Of the lane's own element any atomic will do, and what it gives. */
static void add_own_atomic(order_free *g, const array *a, vyre_atomic_op op) {
    const bool compares = op == VYRE_ATOMIC_CAS || op == VYRE_ATOMIC_CAS_WEAK;
    const uint32_t copy = random_below(&g->x, a->copies);
    const vyre_expr index = order_free_element(g, a, order_free_own_copy(g, a, copy));
    const vyre_expr value =
        vyre_atomic_values(op) ? order_free_expr(g, a->type, LEVEL_LANE) : VYRE_NONE;
    vyre_expr expected = VYRE_NONE;
    if (compares) {
        expected = random_chance(&g->x, 70) ? vyre_build_load(g->x.b, a->decl, index)
                                            : order_free_expr(g, a->type, LEVEL_LANE);
    }
    order_free_touch(g, a);
    const char *name = op == VYRE_ATOMIC_STORE ? NULL : order_free_name(g, "old");
    const vyre_var old =
        vyre_build_atomic(g->x.b, name, op, a->decl, index, expected, value, ordering(g));
    if (name) {
        order_free_local(g, old, LEVEL_LANE, false);
    }
}

static void add_any_atomic(order_free *g) {
    const array *a = order_free_pick(g, MODE_OWN);
    const vyre_atomic_op op = (vyre_atomic_op)random_below(&g->x, VYRE_ATOMIC_COUNT);
    if (a && a->role != VYRE_PRIVATE &&
        !cell_refusal((cell){CELL_ATOMIC, {(uint32_t)op, (uint32_t)a->type}})) {
        add_own_atomic(g, a, op);
    }
}

static void add_wanted_atomic(order_free *g, place at) {
    modes own = g->modes;
    const uint32_t number = g->atomic_array;
    own.of[number] = (usage){.mode = MODE_OWN};
    if (order_free_settle(g, at, &own, UINT32_C(1) << number)) {
        add_own_atomic(g, &g->arrays[number], (vyre_atomic_op)g->atomic.part[0]);
    }
}

static void add_subgroup(order_free *g, place at) {
    if (!at.waits || at.level > LEVEL_SUBGROUP) {
        return;
    }
    const vyre_subgroup_op op = (vyre_subgroup_op)random_below(&g->x, VYRE_SUBGROUP_COUNT);
    vyre_type type;
    do {
        type = random_type(&g->x);
    } while (!vyre_operands_accept(vyre_subgroup_operands(op), 0, type));
    const vyre_expr value = order_free_expr(g, type, LEVEL_LANE);
    const level asks = random_chance(&g->x, 40) ? LEVEL_SUBGROUP : LEVEL_LANE;
    const vyre_expr lane = vyre_subgroup_asks(op) ? order_free_below(g, 34, asks) : VYRE_NONE;
    const level own = op == VYRE_SUBGROUP_SHUFFLE                              ? asks
                      : vyre_subgroup_asks(op) || op == VYRE_SUBGROUP_SCAN_ADD ? LEVEL_LANE
                                                                               : LEVEL_SUBGROUP;
    order_free_local(g, vyre_build_subgroup(g->x.b, order_free_name(g, "s"), op, value, lane),
                     higher(at.level, own), false);
}

/* Whether the elements may be reduced, and how. */
static bool draw_reduction(order_free *g, vyre_type type, vyre_collective_op *out_op) {
    const uint32_t whole = vyre_type_is_float(type) ? VYRE_COLLECTIVE_AND : VYRE_COLLECTIVE_COUNT;
    *out_op = (vyre_collective_op)random_below(&g->x, whole);
    return type != VYRE_BOOL;
}

static bool add_collective(order_free *g, place at) {
    const uint32_t to = random_below(&g->x, g->array_count);
    uint32_t from = random_below(&g->x, g->array_count);
    for (uint32_t i = 0; i < g->array_count && g->arrays[from].type != g->arrays[to].type; i++) {
        from = random_below(&g->x, g->array_count);
    }
    const array *a = &g->arrays[from], *b = &g->arrays[to];
    if (!at.waits || at.level != LEVEL_GRID || a->role > VYRE_SCRATCH || b->role > VYRE_SCRATCH ||
        b->role == VYRE_IN) {
        return false;
    }
    vyre_collective_op op;
    const bool reduces = draw_reduction(g, b->type, &op) && random_chance(&g->x, 60);
    const vyre_expr group =
        random_chance(&g->x, 20) ? vyre_build_u32(g->x.b, random_below(&g->x, 3)) : VYRE_NONE;
    if (a->type == b->type && from != to) {
        if (reduces) {
            vyre_build_reduce_scatter(g->x.b, a->decl, b->decl, op, group);
        } else {
            vyre_build_all_gather(g->x.b, a->decl, b->decl, group);
        }
    } else if (reduces) {
        vyre_build_all_reduce(g->x.b, b->decl, op, group);
    } else {
        vyre_build_broadcast(g->x.b, b->decl, vyre_build_u32(g->x.b, 0), group);
    }
    order_free_touch(g, a);
    order_free_touch(g, b);
    order_free_draw(g, true);
    return true;
}

/* False: here it may not stand. */
static bool add_swap(order_free *g, place at) {
    if (!at.waits || at.level != LEVEL_GRID || g->twins == 0 || g->pending > 0) {
        return false;
    }
    const array *a = &g->arrays[g->first_twin + random_below(&g->x, g->twins)];
    const array *b = &g->arrays[g->first_twin + random_below(&g->x, g->twins)];
    vyre_build_swap(g->x.b, a->decl, b->decl);
    order_free_touch(g, a);
    order_free_touch(g, b);
    order_free_draw(g, true);
    return true;
}

static const array *pick_role(const order_free *g, vyre_role role) {
    for (uint32_t i = 0; i < g->array_count; i++) {
        if (g->arrays[i].role == role) {
            return &g->arrays[i];
        }
    }
    return NULL;
}

/* The byte offset of an element that the lane owns. */
static vyre_expr own_offset(order_free *g, const array *a) {
    const vyre_expr bytes = vyre_build_u32(g->x.b, vyre_type_size(a->type));
    return vyre_build_op(g->x.b, VYRE_EXPR_MUL, order_free_own(g, a), bytes, VYRE_NONE);
}

/* To a private array: bytes of what nobody writes, or the lane's own element. */
static void begin_load(order_free *g, const array *to, const char *tag) {
    const array *own = order_free_pick(g, MODE_OWN), *shared = order_free_pick(g, MODE_SHARED);
    if (own && random_chance(&g->x, 50)) {
        vyre_build_async_load(g->x.b, own->decl, to->decl, own_offset(g, own),
                              vyre_build_u32(g->x.b, vyre_type_size(own->type)), tag);
    } else {
        const array *from = shared && random_chance(&g->x, 50) ? shared : pick_role(g, VYRE_IN);
        order_free_touch(g, from);
        vyre_build_async_load(g->x.b, from->decl, to->decl, order_free_below(g, 64, LEVEL_LANE),
                              order_free_below(g, 24, LEVEL_LANE), tag);
    }
}

/* To a private array, or from there or from what nobody writes to the lane's own element, with
 * statements between begin and wait, and a grid barrier if wanted. */
static void add_copy(order_free *g, place at, bool over_sync) {
    const array *memory = pick_role(g, VYRE_PRIVATE), *shared = order_free_pick(g, MODE_SHARED);
    const array *own = order_free_pick(g, MODE_OWN);
    const modes before = g->modes;
    char tag[NAME];
    if (!memory) {
        return;
    }
    at.steady = false; /* what is to be copied to must be as it was at the wait */
    (void)snprintf(tag, sizeof tag, "copy%u", g->serial++);
    if (!own || own->role == VYRE_PRIVATE || random_chance(&g->x, 60)) {
        own = NULL;
        begin_load(g, memory, tag);
    } else {
        const array *from = shared && random_chance(&g->x, 30) ? shared : memory;
        vyre_build_async_store(g->x.b, from->decl, own->decl, own_offset(g, own),
                               vyre_build_u32(g->x.b, vyre_type_size(own->type)), tag);
    }
    if (at.loop && random_chance(&g->x, 40)) { /* who never waits gets nothing */
        order_free_leaving(g, at);
    }
    g->pending++;
    order_free_list(g, at, 3);
    if (over_sync) {
        order_free_sync(g, at, true);
        order_free_draw(g, true);
        order_free_list(g, at, 2);
    }
    g->pending--;
    if (own) {
        (void)order_free_settle(g, at, &before, UINT32_C(1) << (own - g->arrays));
    }
    vyre_build_async_wait(g->x.b, tag);
}

/* Bodies */

static void add_stmt(order_free *g, place at) {
    const bool nests = at.depth < MOST_NESTING;
    at.level = higher(at.level, g->rest);
    switch (random_below(&g->x, 24)) {
    case 0:
    case 1:
    case 2: add_let(g, at); break;
    case 3:
    case 4:
    case 5: add_assign(g, at); break;
    case 6:
    case 7:
    case 8: order_free_store(g); break;
    case 9:
    case 10:
        if (random_chance(&g->x, 75)) {
            add_atomic(g, at);
        } else {
            add_any_atomic(g);
        }
        break;
    case 11:
    case 12:
    case 13:
    case 14: order_free_barrier(g, at); break;
    case 15:
        if (random_chance(&g->x, 60)) {
            add_subgroup(g, at);
        } else {
            order_free_reduce(g, at);
        }
        break;
    case 16:
        if (random_chance(&g->x, 30)) {
            (void)add_collective(g, at);
        } else if (g->twins > 0 && random_chance(&g->x, 60)) {
            (void)add_swap(g, at);
        } else if (random_chance(&g->x, 60)) {
            add_copy(g, at, false);
        }
        break;
    case 17: order_free_leaving(g, at); break;
    case 18: order_free_call(g, at); break;
    case 19:
    case 20:
        if (nests) {
            order_free_if(g, at);
        }
        break;
    case 21:
    case 22:
        if (nests) {
            order_free_loop(g, at, order_free_level(g), false);
        }
        break;
    default:
        if (g->traps && random_chance(&g->x, 20)) {
            order_free_trap(g, at);
        } else if (nests && random_chance(&g->x, 50)) {
            order_free_block(g, at, false);
        }
    }
}

/* let v = e; if (...) { v = e; }, the same for all lanes of a group. */
static void add_group_value(order_free *g) {
    const vyre_type type = random_type(&g->x);
    const vyre_var v =
        vyre_build_let(g->x.b, order_free_name(g, "g"), order_free_expr(g, type, LEVEL_GROUP));
    vyre_build_if(g->x.b, vyre_build_op(g->x.b, VYRE_EXPR_LT,
                                        vyre_build_id(g->x.b, VYRE_BUILTIN_GROUP_ID, 0),
                                        vyre_build_u32(g->x.b, 1), VYRE_NONE));
    vyre_build_assign(g->x.b, v, order_free_expr(g, type, LEVEL_GROUP));
    vyre_build_end(g->x.b);
    order_free_local(g, v, LEVEL_GROUP, false);
}

/* Lanes of a group hand each other a value over a barrier of the grid, in memory of their own. */
static void add_exchange(order_free *g) {
    vyre_builder *b = g->x.b;
    const vyre_decl memory =
        vyre_build_memory(b, VYRE_WORKGROUP, order_free_name(g, "exchange"), VYRE_U32,
                          vyre_build_size(b, (int64_t)g->group_lanes));
    vyre_build_grid_sync(b);
    vyre_build_store(b, memory, vyre_build_var(b, g->group_lane), vyre_build_var(b, g->lane));
    vyre_build_grid_sync(b);
    const vyre_expr other = vyre_build_op(b, VYRE_EXPR_SUB, vyre_build_u32(b, g->group_lanes - 1),
                                          vyre_build_var(b, g->group_lane), VYRE_NONE);
    const vyre_expr value = vyre_build_load(b, memory, other);
    order_free_local(g, vyre_build_let(b, order_free_name(g, "v"), value), LEVEL_LANE, false);
    vyre_build_grid_sync(b);
    order_free_draw(g, true);
}

/* One of the wishes left, at the top of the entry body. */
static void grant(order_free *g, place at) {
    uint32_t i = random_below(&g->x, WISHES);
    while ((g->wishes >> i & 1) == 0) {
        i = (i + 1) % WISHES;
    }
    g->wishes &= ~(UINT32_C(1) << i);
    switch ((wish)i) {
    case WISH_COLLECTIVE:
        while (!add_collective(g, at)) {
        }
        break;
    case WISH_SWAP: (void)add_swap(g, at); break; /* not while a copy is pending */
    case WISH_COPY: add_copy(g, at, true); break;
    case WISH_TRAP: order_free_trap(g, at); break;
    case WISH_CALL: order_free_call(g, at); break;
    case WISH_LOOP: order_free_loop(g, at, LEVEL_GRID, true); break;
    case WISH_GROUP: add_group_value(g); break;
    case WISH_EXCHANGE: add_exchange(g); break;
    case WISH_REGION: order_free_block(g, at, true); break;
    case WISH_ATOMIC: add_wanted_atomic(g, at); break;
    case WISH_JUMP: order_free_jump(g, at); break;
    case WISH_STRIDE: order_free_stride(g, at); break;
    case WISH_BASE: order_free_base(g, at); break;
    case WISH_REDUCE: order_free_wanted_reduce(g, at); break;
    case WISH_ITERATE: order_free_iterate(g, at); break;
    case WISH_EVEN: order_free_even(g, at); break;
    case WISH_TURNS: order_free_turns(g, at); break;
    case WISH_ALIKE: order_free_alike(g, at); break;
    case WISH_TILE: order_free_tile(g, at); break;
    case WISH_SCAN: order_free_scan(g); break;
    case WISH_ROWS: order_free_rows(g); break;
    case WISH_APPEND: order_free_append(g); break;
    case WISHES: break;
    }
}

/* What a variable has become is seen in memory. */
static void show(order_free *g, const local *l) {
    const array *a = order_free_pick(g, MODE_OWN);
    if (a) {
        vyre_build_store(g->x.b, a->decl, order_free_element(g, a, order_free_own(g, a)),
                         vyre_build_cast(g->x.b, a->type, vyre_build_var(g->x.b, l->var)));
    }
}

void order_free_list(order_free *g, place at, uint32_t most) {
    const uint32_t locals = g->local_count;
    for (uint32_t i = 1 + random_below(&g->x, most); i > 0 && g->budget > 0; i--) {
        g->budget--;
        if (g->local_count + 4 < LOCALS) {
            add_stmt(g, at);
        }
        if (at.depth == 0 && g->wishes != 0 && random_chance(&g->x, 25)) {
            grant(g, at);
        }
    }
    while (at.depth == 0 && g->wishes != 0) {
        grant(g, at);
    }
    for (uint32_t i = locals; i < g->local_count; i++) {
        if (random_chance(&g->x, 40)) {
            show(g, &g->locals[i]);
        }
    }
    g->local_count = locals;
}

/* An opaque function says what it touches: in a body that does not wait, modes stay. */
static void declare_effects(order_free *g, const function *f) {
    vyre_decl reads[ARRAYS], writes[ARRAYS];
    uint32_t read_count = 0, write_count = 0;
    for (uint32_t i = 0; i < g->array_count; i++) {
        if ((g->used >> i & 1) != 0 && g->arrays[i].role != VYRE_PRIVATE) {
            reads[read_count++] = g->arrays[i].decl;
            if (g->modes.of[i].mode != MODE_SHARED) {
                writes[write_count++] = g->arrays[i].decl;
            }
        }
    }
    vyre_build_fn_opaque(g->x.b, f->fn, reads, read_count, writes, write_count);
}

static void define_fn(order_free *g, function *f, bool opaque) {
    static const char *const names[] = {"lane", "group_lane", "uniform", "x"};
    f->argument = random_type(&g->x);
    f->result = random_type(&g->x);
    f->waits = !opaque && f != g->returns && random_chance(&g->x, 80);
    const vyre_type types[] = {VYRE_U32, VYRE_U32, VYRE_U32, f->argument};
    f->fn = vyre_build_fn(g->x.b, order_free_name(g, "f"), names, types, 4, f->result);
    vyre_build_fn_begin(g->x.b, f->fn);
    g->local_count = 0;
    g->lane = vyre_build_fn_argument(g->x.b, f->fn, 0);
    g->group_lane = vyre_build_fn_argument(g->x.b, f->fn, 1);
    order_free_local(g, g->lane, LEVEL_LANE, true);
    order_free_local(g, g->group_lane, LEVEL_LANE, true);
    order_free_local(g, vyre_build_fn_argument(g->x.b, f->fn, 2), LEVEL_GRID, false);
    order_free_local(g, vyre_build_fn_argument(g->x.b, f->fn, 3), LEVEL_LANE, false);
    order_free_draw(g, true);
    g->used = 0;
    g->rest = LEVEL_GRID;
    g->budget = 12;
    f->begin = g->modes;
    order_free_list(g, (place){.waits = f->waits, .trips = 3, .depth = 2}, 8);
    f->end = g->modes;
    vyre_build_return(g->x.b, order_free_expr(g, f->result, LEVEL_LANE));
    f->used = g->used;
    vyre_build_fn_end(g->x.b);
    if (opaque) {
        declare_effects(g, f);
    }
}

/* All private memory is seen in the end, so that it lives until then. */
static void show_arrays(order_free *g) {
    modes own = g->modes;
    const place top = {.waits = true};
    own.of[0] = (usage){.mode = MODE_OWN};
    (void)order_free_settle(g, top, &own, 1);
    for (uint32_t i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        if ((a->role == VYRE_PRIVATE || a->role == VYRE_WORKGROUP) &&
            g->modes.of[i].mode != MODE_ATOMIC && random_chance(&g->x, 80)) {
            const vyre_expr index = order_free_element(g, a, order_free_own(g, a));
            const vyre_expr value = vyre_build_load(g->x.b, a->decl, index);
            vyre_build_store(g->x.b, g->arrays[0].decl, order_free_own(g, &g->arrays[0]),
                             vyre_build_cast(g->x.b, VYRE_U32, value));
        }
    }
}

static void define_entry(order_free *g) {
    g->local_count = 0;
    g->lane = vyre_build_let(g->x.b, "lane", order_free_lane(g, false));
    g->group_lane = vyre_build_let(g->x.b, "group_lane", order_free_lane(g, true));
    order_free_local(g, g->lane, LEVEL_LANE, true);
    order_free_local(g, g->group_lane, LEVEL_LANE, true);
    g->budget = 20 + random_below(&g->x, 30);
    if (g->indirect) {
        vyre_build_indirect_dispatch(g->x.b, g->arrays[0].decl,
                                     vyre_build_u32(g->x.b, g->words_offset));
    }
    for (uint32_t i = 2 + random_below(&g->x, 3); i > 0; i--) {
        add_let(g, (place){.waits = true});
    }
    order_free_list(g, (place){.waits = true, .trips = 1}, 16);
    for (uint32_t i = 2; i < g->local_count; i++) {
        show(g, &g->locals[i]);
    }
    show_arrays(g);
}

/* In percent of programs. */
static const uint8_t wish_chances[WISH_APPEND] = {
    [WISH_COLLECTIVE] = 10, [WISH_SWAP] = 15,   [WISH_COPY] = 13,    [WISH_TRAP] = 13,
    [WISH_CALL] = 60,       [WISH_LOOP] = 14,   [WISH_GROUP] = 50,   [WISH_EXCHANGE] = 8,
    [WISH_REGION] = 10,     [WISH_ATOMIC] = 30, [WISH_JUMP] = 60,    [WISH_STRIDE] = 15,
    [WISH_BASE] = 25,       [WISH_REDUCE] = 35, [WISH_ITERATE] = 12, [WISH_EVEN] = 15,
    [WISH_TURNS] = 15,      [WISH_ALIKE] = 25,  [WISH_TILE] = 40,    [WISH_SCAN] = 15,
    [WISH_ROWS] = 25};

/* Any legal cell of the class. */
static cell draw_cell(order_free *g, cell_class class) {
    for (;;) {
        const cell c = cell_of(random_below(&g->x, CELL_COUNT));
        if (c.class == class && !cell_refusal(c)) {
            return c;
        }
    }
}

vyre_status random_order_free(uint64_t seed, vyre_program **out_program, vyre_diag *diag) {
    order_free g = {.x = {.state = seed, .plain = true}};
    char name[NAME] = "p";
    if (random_chance(&g.x, 30)) {
        (void)snprintf(name, sizeof name, "p_%u", 1 + random_below(&g.x, 6));
    }
    for (uint32_t i = 0; i < WISH_APPEND; i++) {
        g.wishes |= (uint32_t)random_chance(&g.x, wish_chances[i]) << i;
    }
    g.wishes |= (uint32_t)(seed % 16 == 5) << WISH_APPEND; /* other programs stay what they are */
    g.traps = (g.wishes >> WISH_TRAP & 1) != 0;
    g.atomic = draw_cell(&g, CELL_ATOMIC);
    g.jump = draw_cell(&g, CELL_JUMP);
    g.reduce = draw_cell(&g, CELL_REDUCE);
    g.tile_cell = draw_cell(&g, CELL_TILE);
    const bool ends = g.traps || ((g.wishes >> WISH_JUMP & 1) != 0 &&
                                  (g.jump.part[0] == CELL_EXIT || g.jump.part[0] == CELL_TRAP));
    g.wishes &= ends ? ~(UINT32_C(1) << WISH_ALIKE) : UINT32_MAX;
    g.stays = (g.wishes >> WISH_ALIKE & 1) != 0 ||
              (!ends && (g.wishes >> WISH_TILE & 1) != 0 && random_chance(&g.x, 65));
    const bool returns = (g.wishes >> WISH_JUMP & 1) != 0 && g.jump.part[0] == CELL_RETURN;
    g.returns = returns ? &g.fns[0] : NULL;
    vyre_status status = vyre_builder_create(NULL, name, &g.x.b);
    if (status != VYRE_OK) {
        return status;
    }
    order_free_declare(&g);
    const modes start = g.modes;
    const uint32_t fns = returns + random_below(&g.x, FNS + 1 - returns);
    for (uint32_t i = 0; i < fns; i++) {
        define_fn(&g, &g.fns[i], &g.fns[i] != g.returns && random_chance(&g.x, 30));
        g.callable = i + 1;
        g.modes = start;
    }
    define_entry(&g);
    status = vyre_builder_finish(g.x.b, out_program, diag);
    vyre_builder_destroy(g.x.b);
    return status;
}
