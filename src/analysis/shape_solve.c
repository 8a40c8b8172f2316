/* The lattice: what each operation makes of the shapes of its operands, and the least solution over
 * the value graph by a work list.
 *
 * A strided value stays strided under + - and multiplication by a constant, within one integer
 * type: both sides wrap alike. Any other operation on values of which one varies along x gives a
 * value that varies. Loads follow their index: equal indices give equal values if nobody writes
 * the memory in the interval (shape_interval.c). */
#include "analysis/shape_graph.h"

static const vyre_shape varying = {.kind = VYRE_SHAPE_VARYING};

static vyre_shape uniform(vyre_shape_kind kind) {
    return (vyre_shape){.kind = (uint8_t)kind};
}

static vyre_shape linear(int64_t stride) {
    if (stride == 0) {
        return uniform(VYRE_SHAPE_ROW);
    }
    return stride >= INT32_MIN && stride <= INT32_MAX
               ? (vyre_shape){.kind = VYRE_SHAPE_LINEAR, .stride = (int32_t)stride}
               : varying;
}

static bool along_x(vyre_shape shape) {
    return shape.kind >= VYRE_SHAPE_LINEAR;
}

/* Of a value that is one of two, chosen alike by all lanes of a row. */
static vyre_shape join(vyre_shape a, vyre_shape b) {
    if (a.kind == VYRE_SHAPE_NONE || b.kind == VYRE_SHAPE_NONE) {
        return a.kind == VYRE_SHAPE_NONE ? b : a;
    }
    if (along_x(a) || along_x(b)) {
        return a.kind == b.kind && a.stride == b.stride ? a : varying;
    }
    return a.kind > b.kind ? a : b;
}

/* Of a value that an operation computes from two. */
static vyre_shape combine(vyre_shape a, vyre_shape b) {
    if (a.kind == VYRE_SHAPE_NONE || b.kind == VYRE_SHAPE_NONE) {
        return uniform(VYRE_SHAPE_NONE);
    }
    return along_x(a) || along_x(b) ? varying : join(a, b);
}

/* Of a value of which control decides. */
static vyre_shape decide(vyre_shape value, vyre_shape control) {
    if (value.kind == VYRE_SHAPE_NONE || along_x(control)) {
        return value.kind == VYRE_SHAPE_NONE ? value : varying;
    }
    return value.kind >= control.kind ? value : control;
}

static vyre_shape builtin_shape(const vyre_program_view *p, const vyre_expr_node *expr) {
    const bool single = p->workgroup[expr->axis] == 1;
    const vyre_shape lane = expr->axis == 0 ? linear(1) : uniform(VYRE_SHAPE_ROW);
    switch ((vyre_builtin)expr->sub) {
    case VYRE_BUILTIN_GLOBAL_ID: return single ? uniform(VYRE_SHAPE_GROUP) : lane;
    case VYRE_BUILTIN_LOCAL_ID: return single ? uniform(VYRE_SHAPE_GRID) : lane;
    case VYRE_BUILTIN_GROUP_ID: return uniform(VYRE_SHAPE_GROUP);
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GROUP_SIZE:
    case VYRE_BUILTIN_GLOBAL_SIZE:
    case VYRE_BUILTIN_SUBGROUP_SIZE: return uniform(VYRE_SHAPE_GRID);
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return varying;
}

static vyre_shape load_shape(const vyre_program_view *p, const vyre_expr_node *expr,
                             vyre_shape index, bool written) {
    const vyre_role role = (vyre_role)p->decls[expr->ref].role;
    if (index.kind != VYRE_SHAPE_NONE && (written || role == VYRE_PRIVATE || along_x(index))) {
        return varying;
    }
    return role == VYRE_WORKGROUP ? combine(index, uniform(VYRE_SHAPE_GROUP)) : index;
}

/* The value of an integer literal, or of a const that names one. */
static bool constant(const vyre_program_view *p, vyre_expr expr, int64_t *out) {
    const vyre_expr_node *node = &p->exprs[expr];
    if (node->op == VYRE_EXPR_REF && p->decls[node->ref].role == VYRE_CONST) {
        node = &p->exprs[p->decls[node->ref].value];
    }
    if (node->op != VYRE_EXPR_LITERAL || !vyre_type_is_integer((vyre_type)node->type)) {
        return false;
    }
    *out = node->type == VYRE_I32 ? (int32_t)node->u.bits : (int64_t)node->u.bits;
    return node->type != VYRE_U64 || *out >= 0;
}

/* Of values of which both grow alike along x: what is left is the same in a row, and in the group
 * if that is one row. */
static vyre_shape cancelled(const vyre_program_view *p) {
    return uniform(p->workgroup[1] == 1 && p->workgroup[2] == 1 ? VYRE_SHAPE_GROUP
                                                                : VYRE_SHAPE_ROW);
}

/* global_id.x - local_id.x, and so for y and z: where the group begins. */
static bool is_group_start(const vyre_program_view *p, const vyre_expr_node *expr) {
    const vyre_expr_node *x = &p->exprs[expr->u.arg[0]], *y = &p->exprs[expr->u.arg[1]];
    return expr->op == VYRE_EXPR_SUB && x->op == VYRE_EXPR_BUILTIN && y->op == VYRE_EXPR_BUILTIN &&
           x->sub == VYRE_BUILTIN_GLOBAL_ID && y->sub == VYRE_BUILTIN_LOCAL_ID &&
           x->axis == y->axis;
}

/* Operations that keep strides; VARYING if this is none. */
static vyre_shape strided(const vyre_program_view *p, const vyre_expr_node *expr, vyre_shape x,
                          vyre_shape y) {
    const int64_t a = x.stride, b = y.stride;
    int64_t factor;
    if (x.kind == VYRE_SHAPE_NONE || y.kind == VYRE_SHAPE_NONE) {
        return uniform(VYRE_SHAPE_NONE);
    }
    if (x.kind == VYRE_SHAPE_VARYING || y.kind == VYRE_SHAPE_VARYING ||
        !vyre_type_is_integer((vyre_type)expr->type)) {
        return varying;
    }
    switch ((uint32_t)expr->op) {
    case VYRE_EXPR_ADD: return a + b == 0 ? cancelled(p) : linear(a + b);
    case VYRE_EXPR_SUB: return a - b == 0 ? cancelled(p) : linear(a - b);
    case VYRE_EXPR_NEG: return linear(-a);
    case VYRE_EXPR_MUL:
        if (constant(p, expr->u.arg[1], &factor) || constant(p, expr->u.arg[0], &factor)) {
            int64_t stride;
            return __builtin_mul_overflow(a + b, factor, &stride) ? varying : linear(stride);
        }
        return varying;
    case VYRE_EXPR_SHL:
        if (y.kind == VYRE_SHAPE_GRID && constant(p, expr->u.arg[1], &factor) && factor >= 0 &&
            factor < 31) {
            return linear(a * (INT64_C(1) << factor));
        }
        return varying;
    case VYRE_EXPR_CAST: /* the same width: the same bits */
    case VYRE_EXPR_BITCAST: {
        const vyre_type from = (vyre_type)p->exprs[expr->u.arg[0]].type;
        const bool whole = expr->op == VYRE_EXPR_BITCAST || expr->sub == expr->type;
        return whole && vyre_type_is_integer(from) &&
                       vyre_type_size(from) == vyre_type_size((vyre_type)expr->type)
                   ? x
                   : varying;
    }
    default: return varying;
    }
}

static vyre_shape operation(const vyre_program_view *p, const vyre_expr_node *expr,
                            const vyre_shape *shapes, vyre_expr first) {
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)expr->op)->arity;
    vyre_shape result = uniform(VYRE_SHAPE_GRID);
    if (arity == 2 && is_group_start(p, expr)) {
        return uniform(VYRE_SHAPE_GROUP);
    }
    for (uint32_t i = 0; i < arity; i++) {
        result = combine(result, shapes[expr->u.arg[i] - first]);
    }
    if (result.kind != VYRE_SHAPE_VARYING || arity > 2) {
        return result;
    }
    return strided(p, expr, shapes[expr->u.arg[0] - first],
                   arity > 1 ? shapes[expr->u.arg[1] - first] : uniform(VYRE_SHAPE_GRID));
}

static vyre_shape node_shape(const vyre_shapes *s, uint32_t node) {
    return (vyre_shape){.kind = s->nodes.data[node].shape, .stride = s->nodes.data[node].stride};
}

void vyre_shapes_evaluate(const vyre_shapes *s, uint32_t step, vyre_shape *out) {
    const vyre_program_view *p = s->program;
    const vyre_stmt_node *stmt = &p->stmts[s->steps.data[step].stmt];
    const vyre_expr first = stmt->first_expr;
    uint32_t use = s->steps.data[step].first_use;
    for (vyre_expr i = first; i < stmt->end_expr; i++) {
        const vyre_expr_node *expr = &p->exprs[i];
        switch ((uint32_t)expr->op) {
        case VYRE_EXPR_LITERAL:
        case VYRE_EXPR_REF:
        case VYRE_EXPR_LEN: out[i - first] = uniform(VYRE_SHAPE_GRID); break;
        case VYRE_EXPR_VAR: out[i - first] = node_shape(s, s->uses.data[use++]); break;
        case VYRE_EXPR_BUILTIN: out[i - first] = builtin_shape(p, expr); break;
        case VYRE_EXPR_LOAD:
            out[i - first] =
                load_shape(p, expr, out[expr->u.arg[0] - first], s->uses.data[use++] != 0);
            break;
        default: out[i - first] = operation(p, expr, out, first); break;
        }
    }
}

bool vyre_shapes_enqueue(vyre_shapes *s, uint32_t node) {
    if (s->nodes.data[node].queued) {
        return true;
    }
    s->nodes.data[node].queued = true;
    return vyre_vec_push(&s->allocator, &s->queue, node);
}

/* Raises a node and tells its users: joins take the news at once, expressions are enqueued. */
static bool raise_node(vyre_shapes *s, uint32_t node, vyre_shape to) {
    shape_node *n = &s->nodes.data[node];
    if (n->shape == to.kind && n->stride == to.stride) {
        return true;
    }
    s->clock++;
    for (uint32_t scope = 0; scope < 2; scope++) {
        if (n->since[scope] == 0 && to.kind > VYRE_SHAPE_GRID + scope) {
            n->since[scope] = s->clock;
        }
    }
    n->shape = to.kind;
    n->stride = to.stride;
    n->news = true;
    return vyre_shapes_enqueue(s, node);
}

/* A join with one more value, or with control that has risen. */
static vyre_shape joined(shape_node *join_node, vyre_shape news, bool control) {
    const vyre_shape now = {.kind = join_node->shape, .stride = join_node->stride};
    if (!control) {
        return decide(join(now, news), uniform((vyre_shape_kind)join_node->decider));
    }
    const vyre_shape decider = decide(uniform(VYRE_SHAPE_GRID), news);
    if (join_node->decider < decider.kind) {
        join_node->decider = decider.kind;
    }
    return decide(now, decider);
}

/* Only of a rise: a wave of users that change nothing would run through the rest of the program. */
static bool tell_users(vyre_shapes *s, uint32_t node) {
    const vyre_shape shape = node_shape(s, node);
    if (!s->nodes.data[node].news) {
        return true;
    }
    s->nodes.data[node].news = false;
    for (uint32_t i = s->first_user[node]; i < s->first_user[node + 1]; i++) {
        const uint32_t user = s->users[i] & SHAPE_NODE_MASK;
        if (s->nodes.data[user].kind == SHAPE_JOIN) {
            const bool control = s->users[i] > SHAPE_NODE_MASK;
            if (!raise_node(s, user, joined(&s->nodes.data[user], shape, control))) {
                return false;
            }
        } else if (!vyre_shapes_enqueue(s, user)) {
            return false;
        }
    }
    return true;
}

/* Evaluates the nodes of a step, of which `first` is the first. */
static bool evaluate_step(vyre_shapes *s, uint32_t first) {
    const vyre_program_view *p = s->program;
    const uint32_t step = s->nodes.data[first].step;
    const vyre_stmt_node *stmt = &p->stmts[s->steps.data[step].stmt];
    vyre_shapes_evaluate(s, step, s->scratch);
    const uint32_t count = stmt->op == VYRE_STMT_CALL  ? stmt->arg_count
                           : stmt->op == VYRE_STMT_FOR ? 2
                                                       : 1;
    for (uint32_t node = first; node < first + count; node++) {
        vyre_shape shape;
        if (s->nodes.data[node].kind == SHAPE_VALUE) {
            shape = s->scratch[s->nodes.data[node].ref - stmt->first_expr];
        } else if (s->nodes.data[node].kind == SHAPE_ASKED) {
            shape = combine(s->scratch[s->nodes.data[node].ref - stmt->first_expr],
                            uniform(VYRE_SHAPE_GROUP));
        } else {
            const vyre_shape from = s->scratch[stmt->arg[0] - stmt->first_expr];
            const vyre_shape to = s->scratch[stmt->arg[1] - stmt->first_expr];
            const vyre_shape by = stmt->arg[2] == VYRE_NONE
                                      ? uniform(VYRE_SHAPE_GRID)
                                      : s->scratch[stmt->arg[2] - stmt->first_expr];
            const vyre_shape start = s->steps.data[step].even ? uniform(VYRE_SHAPE_GRID) : from;
            shape = s->nodes.data[node].kind == SHAPE_TRIPS ? combine(combine(start, to), by)
                    : by.kind == VYRE_SHAPE_NONE            ? by
                                                            : decide(from, by);
        }
        /* Joined with what it was: a stride may cancel out, and shapes must only rise. */
        if (!raise_node(s, node, join(node_shape(s, node), shape))) {
            return false;
        }
    }
    return true;
}

vyre_status vyre_shapes_solve(vyre_shapes *s) {
    while (s->queue_head < s->queue.count) {
        const uint32_t node = s->queue.data[s->queue_head++];
        s->nodes.data[node].queued = false;
        const bool evaluated = s->nodes.data[node].kind != SHAPE_JOIN &&
                               s->nodes.data[node].kind != SHAPE_FIXED &&
                               s->steps.data[s->nodes.data[node].step].node == node;
        if ((evaluated && !evaluate_step(s, node)) || !tell_users(s, node)) {
            return VYRE_OUT_OF_MEMORY;
        }
        if (s->queue_head == s->queue.count) {
            s->queue.count = s->queue_head = 0;
        }
    }
    return VYRE_OK;
}

/* Calls of `count_or_store` for every edge, twice: first to size the lists, then to fill them. */
static void list_user(vyre_shapes *s, uint32_t *next, uint32_t from, uint32_t user) {
    if (next) {
        s->users[next[from]++] = user;
    } else {
        s->first_user[from + 1]++;
    }
}

static void list_users(vyre_shapes *s, uint32_t *next) {
    for (uint32_t node = 0; node < s->nodes.count; node++) {
        if (s->nodes.data[node].kind != SHAPE_JOIN) {
            continue;
        }
        for (uint32_t e = s->nodes.data[node].ref; e != VYRE_NONE; e = s->edges.data[e].next) {
            const uint32_t from = s->edges.data[e].from;
            list_user(s, next, from & SHAPE_NODE_MASK, node | (from & ~SHAPE_NODE_MASK));
        }
    }
    for (uint32_t step = 0; step < s->steps.count; step++) {
        if (s->steps.data[step].node == VYRE_NONE) {
            continue;
        }
        const vyre_stmt_node *stmt = &s->program->stmts[s->steps.data[step].stmt];
        uint32_t use = s->steps.data[step].first_use;
        for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
            const uint8_t op = s->program->exprs[i].op;
            if (op == VYRE_EXPR_VAR) {
                list_user(s, next, s->uses.data[use], s->steps.data[step].node);
            }
            use += op == VYRE_EXPR_VAR || op == VYRE_EXPR_LOAD;
        }
    }
}

vyre_status vyre_shapes_link(vyre_shapes *s) {
    const vyre_allocator *a = &s->allocator;
    const uint32_t nodes = s->nodes.count;
    s->first_user = vyre_alloc_zeroed(a, (size_t)nodes + 1, sizeof *s->first_user);
    s->scratch = vyre_alloc(a, s->max_exprs, sizeof *s->scratch);
    uint32_t *next = vyre_alloc(a, (size_t)nodes + 1, sizeof *next);
    bool ok = s->first_user && s->scratch && next;
    if (ok) {
        list_users(s, NULL);
        for (uint32_t node = 0; node < nodes; node++) {
            s->first_user[node + 1] += s->first_user[node];
        }
        for (uint32_t node = 0; node < nodes; node++) {
            next[node] = s->first_user[node];
        }
        s->user_count = s->first_user[nodes];
        s->users = vyre_alloc(a, s->user_count, sizeof *s->users);
        ok = s->users != NULL;
    }
    if (ok) {
        list_users(s, next);
    }
    vyre_free(a, next, (size_t)nodes + 1, sizeof *next);
    for (uint32_t node = 0; ok && node < nodes; node++) {
        s->nodes.data[node].news = s->nodes.data[node].kind == SHAPE_FIXED;
        ok = s->nodes.data[node].kind == SHAPE_JOIN || vyre_shapes_enqueue(s, node);
    }
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
