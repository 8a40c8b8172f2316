/* Between which values the versions of integer variables lie, for proofs about elements and trips.
 *
 * Versions are the nodes of the value graph, so functions are judged at each call, as shapes are.
 * An operation gives the hull of what it can give, or all values of its type where it may wrap. A
 * join is the hull of the versions it joins. The versions of loops are found by going over what has
 * changed again, from none on: a version only grows, what still grows after some rounds is given
 * all values, and after some more all joins are, so that one more walk is enough. What is claimed
 * holds of every value that a lane computes there; a version without values is one that no lane
 * has.
 *
 * It is coarser than ranges (range.h), which have symbols and conditions but ask for a program
 * without calls that is already known to be right. */
#include "analysis/affine.h"
#include "analysis/shape_graph.h"
#include "ir/fold.h"

enum { ROUNDS = 4, MOST_ROUNDS = 12 };

static const shape_bounds everything = {INT64_MIN, INT64_MAX};
static const shape_bounds nothing = {1, 0};

static bool is_empty(shape_bounds b) {
    return b.lo > b.hi;
}

static shape_bounds of_type(uint8_t type) {
    switch (type) {
    case VYRE_BOOL: return (shape_bounds){0, 1};
    case VYRE_U8: return (shape_bounds){0, UINT8_MAX};
    case VYRE_U16: return (shape_bounds){0, UINT16_MAX};
    case VYRE_U32: return (shape_bounds){0, UINT32_MAX};
    case VYRE_I8: return (shape_bounds){INT8_MIN, INT8_MAX};
    case VYRE_I16: return (shape_bounds){INT16_MIN, INT16_MAX};
    case VYRE_I32: return (shape_bounds){INT32_MIN, INT32_MAX};
    default: return everything;
    }
}

static bool is_followed(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_I32 || type == VYRE_BOOL;
}

static bool holds(shape_bounds outer, shape_bounds inner) {
    return outer.lo <= inner.lo && inner.hi <= outer.hi;
}

static shape_bounds hull(shape_bounds a, shape_bounds b) {
    if (is_empty(a) || is_empty(b)) {
        return is_empty(a) ? b : a;
    }
    return (shape_bounds){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static shape_bounds common(shape_bounds a, shape_bounds b) {
    return (shape_bounds){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

/* What the exact result becomes in the type. */
static shape_bounds fit(vyre_wide lo, vyre_wide hi, uint8_t type) {
    const shape_bounds all = of_type(type);
    return lo >= all.lo && hi <= all.hi ? (shape_bounds){(int64_t)lo, (int64_t)hi} : all;
}

static shape_bounds product(shape_bounds a, shape_bounds b, uint8_t type) {
    const vyre_wide ends[4] = {(vyre_wide)a.lo * b.lo, (vyre_wide)a.lo * b.hi,
                               (vyre_wide)a.hi * b.lo, (vyre_wide)a.hi * b.hi};
    vyre_wide lo = ends[0], hi = ends[0];
    for (uint32_t i = 1; i < 4; i++) {
        lo = ends[i] < lo ? ends[i] : lo;
        hi = ends[i] > hi ? ends[i] : hi;
    }
    return fit(lo, hi, type);
}

/* All bits up to the highest of the number. */
static int64_t filled(int64_t x) {
    uint64_t bits = (uint64_t)x;
    for (uint32_t by = 1; by < 64; by *= 2) {
        bits |= bits >> by;
    }
    return (int64_t)bits;
}

/* Of operands without negative values; x % 0 is 0. */
static shape_bounds remainder_of(shape_bounds a, shape_bounds b) {
    if (a.hi < b.lo) {
        return a;
    }
    if (b.lo == b.hi && b.hi > 0 && a.lo / b.hi == a.hi / b.hi) {
        return (shape_bounds){a.lo % b.hi, a.hi % b.hi};
    }
    const int64_t most = b.hi == 0 ? 0 : b.hi - 1;
    return (shape_bounds){0, a.hi < most ? a.hi : most};
}

/* Of operands without negative values. */
static shape_bounds natural(uint32_t op, shape_bounds a, shape_bounds b, uint8_t type) {
    const int64_t least = a.hi < b.hi ? a.hi : b.hi, most = a.hi > b.hi ? a.hi : b.hi;
    switch (op) {
    case VYRE_EXPR_DIV: return b.lo > 0 ? (shape_bounds){a.lo / b.hi, a.hi / b.lo} : of_type(type);
    case VYRE_EXPR_REM: return remainder_of(a, b);
    case VYRE_EXPR_BIT_AND: return (shape_bounds){0, least};
    case VYRE_EXPR_BIT_OR: return (shape_bounds){a.lo > b.lo ? a.lo : b.lo, filled(most)};
    case VYRE_EXPR_BIT_XOR: return (shape_bounds){0, filled(most)};
    case VYRE_EXPR_SHR:
        return b.hi < 32 ? (shape_bounds){a.lo >> b.hi, a.hi >> b.lo} : of_type(type);
    case VYRE_EXPR_SHL:
        return b.hi < 32 ? fit((vyre_wide)a.lo << b.lo, (vyre_wide)a.hi << b.hi, type)
                         : of_type(type);
    default: return of_type(type);
    }
}

static shape_bounds truth(bool always, bool never) {
    return (shape_bounds){always ? 1 : 0, never ? 0 : 1};
}

static bool is_true(shape_bounds b) {
    return b.lo > 0 || b.hi < 0;
}

static bool is_false(shape_bounds b) {
    return b.lo == 0 && b.hi == 0;
}

static shape_bounds binary(uint32_t op, uint8_t type, shape_bounds a, shape_bounds b) {
    switch (op) {
    case VYRE_EXPR_ADD: return fit((vyre_wide)a.lo + b.lo, (vyre_wide)a.hi + b.hi, type);
    case VYRE_EXPR_SUB: return fit((vyre_wide)a.lo - b.hi, (vyre_wide)a.hi - b.lo, type);
    case VYRE_EXPR_MUL: return product(a, b, type);
    case VYRE_EXPR_MIN: return (shape_bounds){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case VYRE_EXPR_MAX: return (shape_bounds){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    case VYRE_EXPR_LT: return truth(a.hi < b.lo, a.lo >= b.hi);
    case VYRE_EXPR_LE: return truth(a.hi <= b.lo, a.lo > b.hi);
    case VYRE_EXPR_GT: return truth(a.lo > b.hi, a.hi <= b.lo);
    case VYRE_EXPR_GE: return truth(a.lo >= b.hi, a.hi < b.lo);
    case VYRE_EXPR_EQ:
        return truth(a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo);
    case VYRE_EXPR_NE:
        return truth(a.hi < b.lo || b.hi < a.lo, a.lo == a.hi && b.lo == b.hi && a.lo == b.lo);
    case VYRE_EXPR_AND: return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
    case VYRE_EXPR_OR: return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
    default: return a.lo >= 0 && b.lo >= 0 ? natural(op, a, b, type) : of_type(type);
    }
}

shape_bounds vyre_shapes_builtin_bounds(const vyre_program_view *p, uint8_t builtin, uint8_t axis) {
    const int64_t lanes = p->workgroup[axis];
    switch ((vyre_builtin)builtin) {
    case VYRE_BUILTIN_LOCAL_ID: return (shape_bounds){0, lanes - 1};
    case VYRE_BUILTIN_GROUP_SIZE: return (shape_bounds){lanes, lanes};
    case VYRE_BUILTIN_NUM_GROUPS: return (shape_bounds){1, UINT32_MAX};
    case VYRE_BUILTIN_GLOBAL_SIZE: return (shape_bounds){lanes, UINT32_MAX};
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID: return (shape_bounds){0, 31};
    case VYRE_BUILTIN_SUBGROUP_SIZE: return (shape_bounds){32, 32};
    case VYRE_BUILTIN_GLOBAL_ID:
    case VYRE_BUILTIN_GROUP_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return of_type(VYRE_U32);
}

static shape_bounds of_bits(uint8_t type, uint64_t bits) {
    if (!is_followed(type)) {
        return everything;
    }
    const int64_t value = type == VYRE_I32 ? (int32_t)bits : (int64_t)(uint32_t)bits;
    return (shape_bounds){value, value};
}

static shape_bounds of_leaf(const vyre_program_view *p, const vyre_expr_node *e) {
    uint64_t bits;
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LITERAL: return of_bits(e->type, e->u.bits);
    case VYRE_EXPR_REF:
        return p->decls[e->ref].role == VYRE_CONST && vyre_fold_const(p, e->ref, &bits)
                   ? of_bits(e->type, bits)
                   : of_type(e->type);
    case VYRE_EXPR_BUILTIN: return vyre_shapes_builtin_bounds(p, e->sub, e->axis);
    case VYRE_EXPR_LOAD: return common(of_type(p->decls[e->ref].type), of_type(e->type));
    default: return of_type(e->type);
    }
}

/* `args` are those of the operands. */
static shape_bounds of_operation(const vyre_program_view *p, const vyre_expr_node *e,
                                 const shape_bounds args[3]) {
    const uint8_t from = p->exprs[e->u.arg[0]].type;
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_CAST: {
        const shape_bounds to = of_type(e->sub);
        return is_followed(from) && e->sub != VYRE_BOOL && holds(to, args[0])
                   ? args[0]
                   : common(to, of_type(e->type));
    }
    case VYRE_EXPR_NOT: return truth(is_false(args[0]), is_true(args[0]));
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND:
        return is_true(args[0]) ? args[1] : is_false(args[0]) ? args[2] : hull(args[1], args[2]);
    default: break;
    }
    return vyre_expr_info_of((vyre_expr_op)e->op)->arity == 2 && is_followed(from)
               ? binary(e->op, e->type, args[0], args[1])
               : of_type(e->type);
}

/* The version with which the loop at the node's visit is entered. */
static uint32_t entry_of(const vyre_shapes *s, uint32_t head) {
    uint32_t edge = s->nodes.data[head].ref, first = edge;
    for (; edge != VYRE_NONE; edge = s->edges.data[edge].next) {
        first = edge; /* it was added first, so it is the last of the list */
    }
    return s->edges.data[first].from & SHAPE_NODE_MASK;
}

static shape_bounds of_version(const vyre_shapes *s, uint32_t visit, uint32_t node, bool first) {
    const shape_node *n = &s->nodes.data[node];
    const bool is_head = n->kind == SHAPE_JOIN && n->visit == visit && !n->exit;
    return s->bounds[first && is_head ? entry_of(s, node) : node];
}

/* Bounds of the visit's expressions; `first`: of a loop's condition at its first evaluation. */
static void evaluate(const vyre_shapes *s, uint32_t visit, bool first, shape_bounds *out) {
    const vyre_program_view *p = s->program;
    const vyre_stmt_node *stmt = &p->stmts[s->visits.data[visit].stmt];
    uint32_t use = s->visits.data[visit].first_use;
    for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        shape_bounds *to = &out[i - stmt->first_expr];
        shape_bounds args[3] = {{0, 0}, {0, 0}, {0, 0}};
        bool reached = true;
        for (uint32_t k = 0; k < arity; k++) {
            args[k] = out[e->u.arg[k] - stmt->first_expr];
            reached &= !is_empty(args[k]);
        }
        if (e->op == VYRE_EXPR_VAR) {
            *to = common(of_version(s, visit, s->uses.data[use], first), of_type(e->type));
        } else if (!reached) {
            *to = nothing;
        } else if (arity == 0 || e->op == VYRE_EXPR_LOAD) {
            *to = of_leaf(p, e);
        } else {
            *to = of_operation(p, e, args);
        }
        use += e->op == VYRE_EXPR_VAR || e->op == VYRE_EXPR_LOAD;
    }
}

void vyre_shapes_bounds(const vyre_shapes *s, uint32_t visit, shape_bounds *out) {
    evaluate(s, visit, false, out);
}

bool vyre_shapes_range(vyre_shapes *s, uint32_t visit, vyre_expr expr, int64_t *out_lo,
                       int64_t *out_hi) {
    const vyre_expr first = s->program->stmts[s->visits.data[visit].stmt].first_expr;
    if (!vyre_shapes_know_numbers(s)) {
        return false;
    }
    evaluate(s, visit, false, s->bounds_scratch);
    *out_lo = s->bounds_scratch[expr - first].lo;
    *out_hi = s->bounds_scratch[expr - first].hi;
    return is_followed(s->program->exprs[expr].type) && *out_lo <= *out_hi;
}

static shape_bounds of_join(const vyre_shapes *s, uint32_t node) {
    shape_bounds b = nothing;
    for (uint32_t e = s->nodes.data[node].ref; e != VYRE_NONE; e = s->edges.data[e].next) {
        if (s->edges.data[e].from <= SHAPE_NODE_MASK) {
            b = hull(b, s->bounds[s->edges.data[e].from]);
        }
    }
    return b;
}

/* The variable of a FOR is below the end and not below the start. */
static shape_bounds of_index(const shape_bounds *exprs, const vyre_stmt_node *stmt) {
    const shape_bounds from = exprs[stmt->arg[0] - stmt->first_expr],
                       to = exprs[stmt->arg[1] - stmt->first_expr];
    return is_empty(from) || is_empty(to) ? nothing
                                          : common((shape_bounds){from.lo, to.hi - 1}, everything);
}

static shape_bounds of_node(vyre_shapes *s, uint32_t node, uint32_t *evaluated) {
    const shape_node *n = &s->nodes.data[node];
    if (n->kind == SHAPE_JOIN) {
        return n->var == VYRE_NONE ? everything : of_join(s, node);
    }
    if (n->kind == SHAPE_FIXED || n->kind == SHAPE_ASKED || n->kind == SHAPE_TRIPS) {
        return everything;
    }
    const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[n->visit].stmt];
    if (*evaluated != n->visit) {
        evaluate(s, n->visit, false, s->bounds_scratch);
        *evaluated = n->visit;
    }
    return n->kind == SHAPE_INDEX ? of_index(s->bounds_scratch, stmt)
                                  : s->bounds_scratch[n->ref - stmt->first_expr];
}

/* What is computed from the node is to be looked at again. Nodes of one visit stand in a row. */
static void tell_users(const vyre_shapes *s, uint32_t node, bool *stale) {
    for (uint32_t i = s->first_user[node]; i < s->first_user[node + 1]; i++) {
        const uint32_t user = s->users[i] & SHAPE_NODE_MASK, visit = s->nodes.data[user].visit;
        stale[user] = true;
        for (uint32_t k = user + 1; k < s->nodes.count && s->nodes.data[k].visit == visit &&
                                    s->nodes.data[user].kind != SHAPE_JOIN;
             k++) {
            stale[k] = true;
        }
    }
}

static bool walk(vyre_shapes *s, uint32_t round, bool *stale) {
    bool changed = false;
    uint32_t evaluated = VYRE_NONE;
    for (uint32_t node = 0; node < s->nodes.count; node++) {
        if (!stale[node]) {
            continue;
        }
        const bool grows = s->nodes.data[node].kind == SHAPE_JOIN;
        const shape_bounds now = s->bounds[node];
        shape_bounds next =
            grows && round > MOST_ROUNDS ? everything : of_node(s, node, &evaluated);
        next = hull(now, next);
        stale[node] = false;
        if (next.lo == now.lo && next.hi == now.hi) {
            continue;
        }
        s->bounds[node] = grows && round > ROUNDS ? everything : next;
        tell_users(s, node, stale);
        changed = true;
    }
    return changed;
}

/* Whether the loop makes a first trip, whatever happens. */
static bool surely_runs(vyre_shapes *s, uint32_t visit) {
    const vyre_stmt_node *loop = &s->program->stmts[s->visits.data[visit].stmt];
    shape_bounds *b = s->bounds_scratch;
    evaluate(s, visit, true, b);
    if (loop->op == VYRE_STMT_WHILE) {
        return is_true(b[loop->arg[0] - loop->first_expr]);
    }
    const shape_bounds from = b[loop->arg[0] - loop->first_expr],
                       to = b[loop->arg[1] - loop->first_expr];
    const bool goes_on = loop->arg[2] == VYRE_NONE || b[loop->arg[2] - loop->first_expr].lo > 0;
    return goes_on && from.hi < to.lo;
}

vyre_status vyre_shapes_find_bounds(vyre_shapes *s) {
    const vyre_allocator *a = &s->allocator;
    s->bounds = vyre_alloc(a, s->nodes.count, sizeof *s->bounds);
    s->bounds_scratch = vyre_alloc(a, s->max_exprs, sizeof *s->bounds_scratch);
    bool *stale = vyre_alloc(a, s->nodes.count, sizeof *stale);
    if (!s->bounds || !s->bounds_scratch || !stale) {
        vyre_free(a, stale, s->nodes.count, sizeof *stale);
        return VYRE_OUT_OF_MEMORY;
    }
    for (uint32_t node = 0; node < s->nodes.count; node++) {
        s->bounds[node] = nothing;
        stale[node] = true;
    }
    for (uint32_t round = 0; walk(s, round, stale); round++) {
    }
    vyre_free(a, stale, s->nodes.count, sizeof *stale);
    for (uint32_t visit = 0; visit < s->visits.count; visit++) {
        const uint32_t op = s->program->stmts[s->visits.data[visit].stmt].op;
        if (op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE) {
            s->visits.data[visit].runs = surely_runs(s, visit);
        }
    }
    return VYRE_OK;
}
