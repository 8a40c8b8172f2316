/* Order-free programs: scans by steps of 1, 2, 4, ..., as people write them for devices whose lanes
 * run at the same time, and loops that are nearly such scans. Others' elements are loaded before a
 * barrier, own ones stored behind it. */
#include "random/order_free.h"

/* How a lane comes to what it adds, and where it has the sum. */
typedef enum way {
    WAY_CHOICE, /* l >= r ? m[l - r] : nothing */
    WAY_GUARD,  /* if (l >= r) around the store */
    WAY_BEFORE, /* if (l >= r) around the load */
    WAY_BEYOND, /* beyond the end is 0 */
    WAYS
} way;

/* What is wrong with it, so that it is no scan. */
typedef enum flaw {
    FLAW_NONE,
    FLAW_EARLY,  /* it ends too early, */
    FLAW_LATE,   /* begins too late, */
    FLAW_BESIDE, /* leaves out a lane, */
    FLAW_FAR,    /* steps too far, */
    FLAW_MORE,   /* adds something where nothing is */
    FLAWS
} flaw;

typedef struct scan {
    vyre_decl memory;
    vyre_type type;
    vyre_expr_op op;
    way way;
    flaw flaw;
    bool keeps; /* the sum in a variable, too */
    vyre_var value, sum, reach;
} scan;

static vyre_expr op2(order_free *g, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(g->x.b, op, x, y, VYRE_NONE);
}

static vyre_expr var(order_free *g, vyre_var v) {
    return vyre_build_var(g->x.b, v);
}

static vyre_expr lane(order_free *g) {
    const bool along_x = g->size[1] * g->size[2] == 1;
    return along_x ? vyre_build_id(g->x.b, VYRE_BUILTIN_LOCAL_ID, 0) : var(g, g->group_lane);
}

static vyre_expr own(order_free *g, const scan *s) {
    return vyre_build_load(g->x.b, s->memory, lane(g));
}

static vyre_expr other(order_free *g, const scan *s) {
    return vyre_build_load(g->x.b, s->memory, op2(g, VYRE_EXPR_SUB, lane(g), var(g, s->reach)));
}

static vyre_expr is_behind(order_free *g, const scan *s) {
    return op2(g, s->flaw == FLAW_BESIDE ? VYRE_EXPR_GT : VYRE_EXPR_GE, lane(g), var(g, s->reach));
}

/* What changes nothing. */
static vyre_expr neutral(order_free *g, const scan *s) {
    const uint64_t sign = UINT64_C(1) << (8 * vyre_type_size(s->type) - 1);
    const uint64_t ones = sign | (sign - 1);
    const bool is_signed = vyre_type_is_signed(s->type);
    const bool same = s->op == VYRE_EXPR_MIN || s->op == VYRE_EXPR_MAX ||
                      s->op == VYRE_EXPR_BIT_AND || s->op == VYRE_EXPR_BIT_OR;
    if (s->flaw == FLAW_MORE) {
        return vyre_build_literal(g->x.b, s->type, 5);
    }
    if (same && random_chance(&g->x, 50)) {
        return var(g, s->value);
    }
    return vyre_build_literal(g->x.b, s->type,
                              s->op == VYRE_EXPR_MUL       ? 1
                              : s->op == VYRE_EXPR_BIT_AND ? ones
                              : s->op == VYRE_EXPR_MIN     ? (is_signed ? sign - 1 : ones)
                              : s->op == VYRE_EXPR_MAX     ? (is_signed ? sign : 0)
                                                           : 0);
}

/* What the lane adds in this step, before the barrier. */
static vyre_var added(order_free *g, const scan *s) {
    vyre_builder *b = g->x.b;
    const char *name = order_free_name(g, "left");
    if (s->way == WAY_GUARD || s->way == WAY_BEYOND) {
        return vyre_build_let(b, name, other(g, s));
    }
    if (s->way == WAY_CHOICE) {
        return vyre_build_let(
            b, name, vyre_build_op(b, VYRE_EXPR_COND, is_behind(g, s), other(g, s), neutral(g, s)));
    }
    const vyre_var left = vyre_build_let(b, name, neutral(g, s));
    vyre_build_if(b, is_behind(g, s));
    vyre_build_assign(b, left, other(g, s));
    vyre_build_end(b);
    return left;
}

static void step(order_free *g, const scan *s) {
    vyre_builder *b = g->x.b;
    const vyre_var left = added(g, s);
    vyre_build_barrier(b, VYRE_SEQ_CST);
    if (s->way == WAY_GUARD) {
        vyre_build_if(b, is_behind(g, s));
    }
    if (s->keeps) {
        vyre_build_assign(b, s->sum, op2(g, s->op, var(g, s->sum), var(g, left)));
        vyre_build_store(b, s->memory, lane(g), var(g, s->sum));
    } else {
        vyre_build_store(b, s->memory, lane(g), op2(g, s->op, own(g, s), var(g, left)));
    }
    if (s->way == WAY_GUARD) {
        vyre_build_end(b);
    }
    vyre_build_barrier(b, VYRE_SEQ_CST);
}

static void steps(order_free *g, scan *s) {
    vyre_builder *b = g->x.b;
    const uint32_t end = s->flaw == FLAW_EARLY ? (g->group_lanes + 1) / 2 : g->group_lanes;
    const uint32_t first = s->flaw == FLAW_LATE ? 2 : 1, by = s->flaw == FLAW_FAR ? 3 : 2;
    if (random_chance(&g->x, 30) && first == 1 && by == 2) {
        uint32_t trips = 0;
        while (UINT32_C(1) << trips < end) {
            trips++;
        }
        const vyre_var t = vyre_build_for(b, order_free_name(g, "t"), vyre_build_u32(b, 0),
                                          vyre_build_u32(b, trips), VYRE_NONE);
        s->reach = vyre_build_let(b, order_free_name(g, "reach"),
                                  op2(g, VYRE_EXPR_SHL, vyre_build_u32(b, 1), var(g, t)));
        step(g, s);
        vyre_build_end(b);
        return;
    }
    s->reach = vyre_build_let(b, order_free_name(g, "reach"), vyre_build_u32(b, first));
    vyre_build_while(b, op2(g, VYRE_EXPR_LT, var(g, s->reach), vyre_build_u32(b, end)));
    step(g, s);
    vyre_build_assign(b, s->reach, op2(g, VYRE_EXPR_MUL, var(g, s->reach), vyre_build_u32(b, by)));
    vyre_build_end(b);
}

static void scan_once(order_free *g, scan *s, vyre_expr mine) {
    vyre_builder *b = g->x.b;
    s->value = vyre_build_let(b, order_free_name(g, "v"), mine);
    s->sum = vyre_build_let(b, order_free_name(g, "sum"), var(g, s->value));
    vyre_build_store(b, s->memory, lane(g), var(g, s->keeps ? s->sum : s->value));
    vyre_build_barrier(b, VYRE_SEQ_CST);
    steps(g, s);
}

static const array *find_input(const order_free *g) {
    const array *found = NULL;
    for (uint32_t i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        found = a->role == VYRE_IN && a->rank == 1 && a->type != VYRE_BOOL ? a : found;
    }
    return found;
}

/* for (t in group_id.x .. n step num_groups.x) { scan of input[t * lanes + lane] } */
static void scan_tiles(order_free *g, scan *s, const array *read) {
    vyre_builder *b = g->x.b;
    const vyre_var total =
        vyre_build_let(b, order_free_name(g, "total"), vyre_build_literal(b, s->type, 0));
    const vyre_var t =
        vyre_build_for(b, order_free_name(g, "tile"), vyre_build_id(b, VYRE_BUILTIN_GROUP_ID, 0),
                       vyre_build_u32(b, 1 + random_below(&g->x, 5)),
                       vyre_build_id(b, VYRE_BUILTIN_NUM_GROUPS, 0));
    const vyre_expr first = op2(g, VYRE_EXPR_MUL, var(g, t), vyre_build_u32(b, g->group_lanes));
    const vyre_expr mine = vyre_build_load(b, read->decl, op2(g, VYRE_EXPR_ADD, first, lane(g)));
    scan_once(g, s, vyre_build_cast(b, s->type, mine));
    vyre_build_assign(b, total, op2(g, VYRE_EXPR_ADD, var(g, total), own(g, s)));
    vyre_build_end(b);
    order_free_local(g, total, LEVEL_LANE, false);
}

void order_free_scan(order_free *g) {
    static const vyre_type types[] = {VYRE_U32, VYRE_I32, VYRE_U64, VYRE_I64, VYRE_F32};
    static const vyre_expr_op ops[] = {VYRE_EXPR_ADD,    VYRE_EXPR_MUL,    VYRE_EXPR_MIN,
                                       VYRE_EXPR_MAX,    VYRE_EXPR_BIT_OR, VYRE_EXPR_BIT_XOR,
                                       VYRE_EXPR_BIT_AND};
    vyre_builder *b = g->x.b;
    scan s = {.type = types[random_below(&g->x, 5)],
              .way = (way)random_below(&g->x, WAYS),
              .flaw = random_chance(&g->x, 30) ? (flaw)random_below(&g->x, FLAWS) : FLAW_NONE,
              .keeps = random_chance(&g->x, 30)};
    s.op = ops[random_below(&g->x, s.type == VYRE_F32 ? 4 : 7)];
    if (s.type == VYRE_F32 && s.flaw == FLAW_MORE) {
        s.flaw = FLAW_NONE;
    }
    s.memory = vyre_build_memory(b, VYRE_WORKGROUP, order_free_name(g, "line"), s.type,
                                 vyre_build_size(b, (int64_t)g->group_lanes));
    const array *read = random_chance(&g->x, 40) ? find_input(g) : NULL;
    if (read) {
        scan_tiles(g, &s, read);
        return;
    }
    const vyre_expr mine = op2(g, VYRE_EXPR_ADD, vyre_build_cast(b, s.type, var(g, g->lane)),
                               order_free_expr(g, s.type, LEVEL_LANE));
    scan_once(g, &s, mine);
    const vyre_var result = vyre_build_let(b, order_free_name(g, "r"), own(g, &s));
    order_free_local(g, result, LEVEL_LANE, false);
    order_free_local(g, s.sum, LEVEL_LANE, false);
}
