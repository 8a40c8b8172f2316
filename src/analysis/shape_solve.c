/* The lattice: what each operation makes of the shapes of its operands, and the least solution over
 * the value graph by a work list.
 *
 * A strided value stays strided under + - and multiplication by a constant, within one integer
 * type: both sides wrap alike. Any other operation on values of which one varies along x gives a
 * value that varies. Loads follow their index: equal indices give equal values if nobody writes
 * the memory in the interval (shape_interval.c).
 *
 * Beside it goes whether groups have it alike: what is made of values that are alike is. A value
 * that is the same for a group and alike in all of them is the same for the grid. */
#include "analysis/shape_graph.h"
#include "ir/fold.h"

static const vyre_shape varying = {.kind = VYRE_SHAPE_VARYING, .differs = true};

static vyre_shape uniform(vyre_shape_kind kind) {
    return (vyre_shape){.kind = (uint8_t)kind};
}

/* Of a group that has it for itself. */
static const vyre_shape own = {.kind = VYRE_SHAPE_GROUP, .differs = true};

/* With what groups have: alike and the same in each is the same in all. */
static vyre_shape over_groups(vyre_shape shape, bool differs) {
    shape.differs = differs && shape.kind > VYRE_SHAPE_GRID;
    if (shape.kind == VYRE_SHAPE_GROUP && !differs) {
        shape.kind = VYRE_SHAPE_GRID;
    }
    return shape;
}

static vyre_shape linear(int64_t stride) {
    if (stride == 0) {
        return uniform(VYRE_SHAPE_ROW);
    }
    return stride >= INT32_MIN && stride <= INT32_MAX
               ? (vyre_shape){.kind = VYRE_SHAPE_LINEAR, .stride = (int32_t)stride}
               : varying;
}

static vyre_shape both_in_group(const vyre_program_view *p, vyre_shape a, vyre_shape b) {
    if (a.kind == VYRE_SHAPE_SUBGROUP || b.kind == VYRE_SHAPE_SUBGROUP) {
        return vyre_shape_in_subgroup(p, a) && vyre_shape_in_subgroup(p, b)
                   ? uniform(VYRE_SHAPE_SUBGROUP)
                   : varying;
    }
    if (a.kind >= VYRE_SHAPE_LINEAR || b.kind >= VYRE_SHAPE_LINEAR) {
        return varying;
    }
    return a.kind > b.kind ? a : b;
}

vyre_shape vyre_shapes_both(const vyre_program_view *p, vyre_shape a, vyre_shape b) {
    return over_groups(both_in_group(p, a, b), a.differs || b.differs);
}

/* Of a value that is one of two, chosen alike by all lanes of a row. */
static vyre_shape join(const vyre_program_view *p, vyre_shape a, vyre_shape b) {
    if (a.kind == VYRE_SHAPE_NONE || b.kind == VYRE_SHAPE_NONE) {
        return a.kind == VYRE_SHAPE_NONE ? b : a;
    }
    if (a.kind == b.kind && a.stride == b.stride) {
        a.aligned = a.aligned && b.aligned;
        a.differs = a.differs || b.differs;
        return a;
    }
    return vyre_shapes_both(p, a, b);
}

/* Of a value that an operation computes from two. */
static vyre_shape combine(const vyre_program_view *p, vyre_shape a, vyre_shape b) {
    return a.kind == VYRE_SHAPE_NONE || b.kind == VYRE_SHAPE_NONE ? uniform(VYRE_SHAPE_NONE)
                                                                  : vyre_shapes_both(p, a, b);
}

/* Of a value of which control decides. */
static vyre_shape decide(const vyre_program_view *p, vyre_shape value, vyre_shape control) {
    if (value.kind == VYRE_SHAPE_NONE ||
        (value.kind == VYRE_SHAPE_LINEAR && control.kind <= VYRE_SHAPE_ROW)) {
        value.differs = value.differs || (value.kind != VYRE_SHAPE_NONE && control.differs);
        return value;
    }
    return vyre_shapes_both(p, value, control);
}

vyre_shape vyre_subgroup_shape(const vyre_program_view *p, vyre_subgroup_op op, vyre_shape asked) {
    const uint32_t lanes = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    const vyre_shape same = {.kind = lanes <= VYRE_SUBGROUP_SIZE_FIXED ? VYRE_SHAPE_GROUP
                                                                       : VYRE_SHAPE_SUBGROUP,
                             .differs = true};
    if (op == VYRE_SUBGROUP_SHUFFLE) {
        return asked.kind == VYRE_SHAPE_NONE      ? asked
               : vyre_shape_in_subgroup(p, asked) ? same
                                                  : varying;
    }
    return vyre_subgroup_asks(op) || op == VYRE_SUBGROUP_SCAN_ADD ? varying : same;
}

static vyre_shape builtin_shape(const vyre_program_view *p, const vyre_expr_node *expr) {
    const bool single = p->workgroup[expr->axis] == 1;
    vyre_shape lane = expr->axis == 0 ? linear(1) : uniform(VYRE_SHAPE_ROW);
    lane.aligned = expr->axis == 0 && (expr->sub == VYRE_BUILTIN_LOCAL_ID
                                           ? vyre_rows_hold_subgroups(p)
                                           : p->workgroup[0] % VYRE_SUBGROUP_SIZE_FIXED == 0);
    lane.differs = expr->sub == VYRE_BUILTIN_GLOBAL_ID;
    switch ((vyre_builtin)expr->sub) {
    case VYRE_BUILTIN_GLOBAL_ID: return single ? own : lane;
    case VYRE_BUILTIN_LOCAL_ID: return single ? uniform(VYRE_SHAPE_GRID) : lane;
    case VYRE_BUILTIN_GROUP_ID: return own;
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GROUP_SIZE:
    case VYRE_BUILTIN_GLOBAL_SIZE:
    case VYRE_BUILTIN_SUBGROUP_SIZE: return uniform(VYRE_SHAPE_GRID);
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return uniform(VYRE_SHAPE_VARYING);
}

/* Workgroup memory that all groups fill alike holds the same at corresponding times also where it
 * is being written, or the lanes of a group race. */
static vyre_shape load_shape(const vyre_shapes *s, const vyre_expr_node *expr, vyre_shape index,
                             bool written) {
    const vyre_role role = (vyre_role)s->program->decls[expr->ref].role;
    const bool in_group = role == VYRE_WORKGROUP;
    const bool differs =
        index.differs || role == VYRE_PRIVATE || (in_group ? s->unlike[expr->ref] : written);
    if (index.kind != VYRE_SHAPE_NONE &&
        (written || role == VYRE_PRIVATE || index.kind == VYRE_SHAPE_LINEAR)) {
        return over_groups(varying, differs);
    }
    return over_groups(in_group ? combine(s->program, index, own) : index, differs);
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

/* The same, and sizes that every program knows. */
static bool known(const vyre_program_view *p, vyre_expr expr, int64_t *out) {
    const vyre_expr_node *node = &p->exprs[expr];
    uint64_t bits;
    if (node->op == VYRE_EXPR_BUILTIN && node->sub == VYRE_BUILTIN_SUBGROUP_SIZE) {
        *out = VYRE_SUBGROUP_SIZE_FIXED;
        return true;
    }
    if (node->op == VYRE_EXPR_BUILTIN && node->sub == VYRE_BUILTIN_GROUP_SIZE) {
        *out = p->workgroup[node->axis];
        return true;
    }
    if (node->op == VYRE_EXPR_REF && node->type == VYRE_U32 &&
        p->decls[node->ref].role == VYRE_CONST && vyre_fold_const(p, node->ref, &bits)) {
        *out = (int64_t)bits;
        return true;
    }
    return constant(p, expr, out);
}

/* Whether the value at `expr` is a known multiple of 32. */
static bool whole_subgroups(const vyre_program_view *p, vyre_expr expr) {
    int64_t value;
    return known(p, expr, &value) && value % VYRE_SUBGROUP_SIZE_FIXED == 0;
}

/* Of an operation on a value that counts the lanes of each subgroup from a multiple of 32 on, and a
 * known one: whether all lanes get the same. They do where the other 32 - 1 values above that
 * multiple make no difference: quotients by multiples of 32, and comparisons that tell whole
 * subgroups apart. Numbers do not wrap between two multiples of 32; a signed quotient rounds
 * towards 0 and may differ. */
static bool same_in_subgroup(const vyre_program_view *p, const vyre_expr_node *expr, vyre_shape x,
                             vyre_shape y) {
    enum { SIZE = VYRE_SUBGROUP_SIZE_FIXED };
    const bool turned = y.aligned;
    uint32_t op = expr->op;
    int64_t c;
    if (x.aligned == turned || !known(p, expr->u.arg[turned ? 0 : 1], &c)) {
        return false;
    }
    if (turned) {
        op = op == VYRE_EXPR_LT   ? VYRE_EXPR_GT
             : op == VYRE_EXPR_GT ? VYRE_EXPR_LT
             : op == VYRE_EXPR_LE ? VYRE_EXPR_GE
             : op == VYRE_EXPR_GE ? VYRE_EXPR_LE
                                  : VYRE_EXPR_COUNT;
    }
    switch (op) {
    case VYRE_EXPR_DIV: return expr->type == VYRE_U32 && c > 0 && c % SIZE == 0;
    case VYRE_EXPR_SHR: return c >= 5 && c < 32;
    case VYRE_EXPR_BIT_AND:
    case VYRE_EXPR_LT:
    case VYRE_EXPR_GE: return (c & (SIZE - 1)) == 0;
    case VYRE_EXPR_GT:
    case VYRE_EXPR_LE: return (c & (SIZE - 1)) == SIZE - 1;
    default: return false;
    }
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

/* A sum or difference that still counts from a multiple of 32 on. */
static vyre_shape moved(const vyre_program_view *p, const vyre_expr_node *expr, vyre_shape x,
                        vyre_shape y, vyre_shape to) {
    to.aligned = (x.aligned && whole_subgroups(p, expr->u.arg[1])) ||
                 (y.aligned && expr->op == VYRE_EXPR_ADD && whole_subgroups(p, expr->u.arg[0]));
    return to;
}

/* Operations that keep strides; VARYING if this is none. */
static vyre_shape strided(const vyre_program_view *p, const vyre_expr_node *expr, vyre_shape x,
                          vyre_shape y) {
    const int64_t a = x.stride, b = y.stride;
    int64_t factor;
    if (x.kind == VYRE_SHAPE_NONE || y.kind == VYRE_SHAPE_NONE) {
        return uniform(VYRE_SHAPE_NONE);
    }
    if (x.kind > VYRE_SHAPE_LINEAR || y.kind > VYRE_SHAPE_LINEAR ||
        !vyre_type_is_integer((vyre_type)expr->type)) {
        return varying;
    }
    switch ((uint32_t)expr->op) {
    case VYRE_EXPR_ADD: return a + b == 0 ? cancelled(p) : moved(p, expr, x, y, linear(a + b));
    case VYRE_EXPR_SUB: return a - b == 0 ? cancelled(p) : moved(p, expr, x, y, linear(a - b));
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

static vyre_shape operation_in_group(const vyre_program_view *p, const vyre_expr_node *expr,
                                     const vyre_shape *shapes, vyre_expr first) {
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)expr->op)->arity;
    vyre_shape result = uniform(VYRE_SHAPE_GRID);
    if (arity == 2 && is_group_start(p, expr)) {
        return uniform(VYRE_SHAPE_GROUP);
    }
    for (uint32_t i = 0; i < arity; i++) {
        result = combine(p, result, shapes[expr->u.arg[i] - first]);
    }
    if (result.kind != VYRE_SHAPE_VARYING || arity > 2) {
        return result;
    }
    const vyre_shape x = shapes[expr->u.arg[0] - first];
    const vyre_shape y = arity > 1 ? shapes[expr->u.arg[1] - first] : uniform(VYRE_SHAPE_GRID);
    result = strided(p, expr, x, y);
    return result.kind == VYRE_SHAPE_VARYING && arity == 2 && same_in_subgroup(p, expr, x, y)
               ? vyre_subgroup_shape(p, VYRE_SUBGROUP_ADD, y)
               : result;
}

static vyre_shape operation(const vyre_program_view *p, const vyre_expr_node *expr,
                            const vyre_shape *shapes, vyre_expr first) {
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)expr->op)->arity;
    bool differs = false;
    for (uint32_t i = 0; i < arity; i++) {
        differs |= shapes[expr->u.arg[i] - first].differs;
    }
    return over_groups(operation_in_group(p, expr, shapes, first), differs);
}

static vyre_shape node_shape(const vyre_shapes *s, uint32_t node) {
    const shape_node *n = &s->nodes.data[node];
    return (vyre_shape){
        .kind = n->shape, .aligned = n->aligned, .differs = n->differs, .stride = n->stride};
}

void vyre_shapes_evaluate(const vyre_shapes *s, uint32_t visit, vyre_shape *out) {
    const vyre_program_view *p = s->program;
    const vyre_stmt_node *stmt = &p->stmts[s->visits.data[visit].stmt];
    const vyre_expr first = stmt->first_expr;
    uint32_t use = s->visits.data[visit].first_use;
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
                load_shape(s, expr, out[expr->u.arg[0] - first], s->uses.data[use++] != 0);
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
    if (n->shape == to.kind && n->stride == to.stride && n->aligned == to.aligned &&
        n->differs == to.differs) {
        return true;
    }
    const bool apart[] = {to.kind > VYRE_SHAPE_GRID, to.kind > VYRE_SHAPE_GROUP,
                          !vyre_shape_in_subgroup(s->program, to)};
    s->clock++;
    for (uint32_t scope = 0; scope < 3; scope++) {
        if (n->since[scope] == 0 && apart[scope]) {
            n->since[scope] = s->clock;
        }
    }
    n->shape = to.kind;
    n->stride = to.stride;
    n->aligned = to.aligned;
    n->differs = to.differs;
    n->news = true;
    return vyre_shapes_enqueue(s, node);
}

/* A join with one more value, or with control that has risen. */
static vyre_shape joined(const vyre_shapes *s, uint32_t node, vyre_shape news, bool control) {
    const vyre_program_view *p = s->program;
    shape_node *join_node = &s->nodes.data[node];
    const vyre_shape now = node_shape(s, node);
    vyre_shape decider = {.kind = join_node->decider, .differs = join_node->decider_differs};
    if (!control) {
        return decide(p, join(p, now, news), decider);
    }
    decider = vyre_shapes_both(p, decider, decide(p, uniform(VYRE_SHAPE_GRID), news));
    join_node->decider = decider.kind;
    join_node->decider_differs = decider.differs;
    return decide(p, now, decider);
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
            if (!raise_node(s, user, joined(s, user, shape, control))) {
                return false;
            }
        } else if (!vyre_shapes_enqueue(s, user)) {
            return false;
        }
    }
    return true;
}

/* Evaluates the nodes of a visit, of which `first` is the first. */
static bool evaluate_visit(vyre_shapes *s, uint32_t first) {
    const vyre_program_view *p = s->program;
    const uint32_t visit = s->nodes.data[first].visit;
    const vyre_stmt_node *stmt = &p->stmts[s->visits.data[visit].stmt];
    vyre_shapes_evaluate(s, visit, s->scratch);
    const uint32_t count = stmt->op == VYRE_STMT_CALL  ? stmt->arg_count
                           : stmt->op == VYRE_STMT_FOR ? 2
                                                       : 1;
    for (uint32_t node = first; node < first + count; node++) {
        vyre_shape shape;
        if (s->nodes.data[node].kind == SHAPE_VALUE) {
            shape = s->scratch[s->nodes.data[node].ref - stmt->first_expr];
        } else if (s->nodes.data[node].kind == SHAPE_ASKED) {
            const vyre_shape asked = s->scratch[s->nodes.data[node].ref - stmt->first_expr];
            shape = stmt->op == VYRE_STMT_SUBGROUP
                        ? vyre_subgroup_shape(p, (vyre_subgroup_op)stmt->sub, asked)
                        : combine(p, asked, own);
        } else {
            const vyre_shape from = s->scratch[stmt->arg[0] - stmt->first_expr];
            const vyre_shape to = s->scratch[stmt->arg[1] - stmt->first_expr];
            const vyre_shape by = stmt->arg[2] == VYRE_NONE
                                      ? uniform(VYRE_SHAPE_GRID)
                                      : s->scratch[stmt->arg[2] - stmt->first_expr];
            if (from.kind > VYRE_SHAPE_GRID && s->visits.data[visit].trips == SHAPE_TRIPS_UNASKED &&
                !vyre_shapes_ask_trips(s, visit)) {
                return false;
            }
            const bool even = vyre_shapes_even(s, visit);
            const vyre_shape start = even ? uniform(VYRE_SHAPE_GRID) : from;
            shape = s->nodes.data[node].kind == SHAPE_TRIPS ? combine(p, combine(p, start, to), by)
                    : by.kind == VYRE_SHAPE_NONE            ? by
                                                            : decide(p, from, by);
        }
        /* Joined with what it was: a stride may cancel out, and shapes must only rise. */
        if (!raise_node(s, node, join(p, node_shape(s, node), shape))) {
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
                               s->visits.data[s->nodes.data[node].visit].node == node;
        if ((evaluated && !evaluate_visit(s, node)) || !tell_users(s, node)) {
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
    for (uint32_t visit = 0; visit < s->visits.count; visit++) {
        if (s->visits.data[visit].node == VYRE_NONE) {
            continue;
        }
        const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[visit].stmt];
        uint32_t use = s->visits.data[visit].first_use;
        for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
            const uint8_t op = s->program->exprs[i].op;
            if (op == VYRE_EXPR_VAR) {
                list_user(s, next, s->uses.data[use], s->visits.data[visit].node);
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
