/* What loops over lanes may know: which values are the same for all lanes of a group or may be
 * computed again, how indices grow along a row, and which lanes a condition or a loop concerns.
 * Unknown is the worst: kept, irregular, all lanes. */
#include "analysis/tree.h"
#include "emit/lanes.h"

/* ---- what is known of expressions ---- */

bool lanes_is_id(const lanes *l, const vyre_expr_node *n, uint32_t axis) {
    return n->op == VYRE_EXPR_BUILTIN && n->axis == axis && l->p->workgroup[axis] > 1 &&
           (n->sub == VYRE_BUILTIN_LOCAL_ID || n->sub == VYRE_BUILTIN_GLOBAL_ID);
}

/* Of one node, given those of its operands. */
static kind kind_of_node(const lanes *l, const vyre_expr_node *n) {
    switch ((int)n->op) {
    case VYRE_EXPR_VAR: return (kind)l->kinds[n->ref];
    case VYRE_EXPR_LOAD:
        return l->written[n->ref] || l->p->decls[n->ref].role == VYRE_PRIVATE ? KEPT : COMMON;
    case VYRE_EXPR_BUILTIN: return lanes_is_id(l, n, n->axis) ? PURE : COMMON;
    default: return COMMON;
    }
}

kind lanes_kind_of(const lanes *l, vyre_expr first, vyre_expr end) {
    kind least = COMMON;
    for (vyre_expr i = first; i < end; i++) {
        const kind one = kind_of_node(l, &l->p->exprs[i]);
        least = one < least ? one : least;
    }
    return least;
}

kind lanes_kind(const lanes *l, vyre_expr root) {
    return lanes_kind_of(l, vyre_tree_begin(l->p, root), root + 1);
}

/* The axis of the number of a lane in the grid, where a part of a group writes it as a sum. */
static uint32_t global_axis(const lanes *l, const vyre_expr_node *n) {
    const vyre_segment_decl *of = l->e->origins;
    if (n->op != VYRE_EXPR_ADD || !of) {
        return VYRE_NONE;
    }
    const vyre_expr_node *id = &l->p->exprs[n->u.arg[1]], *base = &l->p->exprs[n->u.arg[0]];
    if (base->op != VYRE_EXPR_MUL || id->op != VYRE_EXPR_BUILTIN ||
        id->sub != VYRE_BUILTIN_LOCAL_ID || !lanes_is_id(l, id, id->axis)) {
        return VYRE_NONE;
    }
    const vyre_expr_node *group = &l->p->exprs[base->u.arg[0]];
    const vyre_expr_node *size = &l->p->exprs[base->u.arg[1]];
    const bool fits = group->op == VYRE_EXPR_REF && of[group->ref].kind == VYRE_DECL_GROUP_ID &&
                      of[group->ref].ref == id->axis;
    const bool is_size =
        (size->op == VYRE_EXPR_LITERAL && size->u.bits == l->p->workgroup[id->axis]) ||
        (size->op == VYRE_EXPR_BUILTIN && size->sub == VYRE_BUILTIN_GROUP_SIZE &&
         size->axis == id->axis);
    return fits && is_size ? id->axis : VYRE_NONE;
}

/* The axis along which an expression numbers lanes; VYRE_NONE for others. */
static uint32_t axis_of(const lanes *l, vyre_expr expr, bool *out_is_local) {
    const vyre_expr_node *n = &l->p->exprs[expr];
    while (n->op == VYRE_EXPR_VAR && l->kinds[n->ref] == PURE) {
        n = &l->p->exprs[l->values[n->ref]];
    }
    const uint32_t axis = global_axis(l, n);
    *out_is_local = axis == VYRE_NONE && n->sub == VYRE_BUILTIN_LOCAL_ID;
    return axis != VYRE_NONE                                          ? axis
           : n->op == VYRE_EXPR_BUILTIN && lanes_is_id(l, n, n->axis) ? n->axis
                                                                      : VYRE_NONE;
}

bool lanes_is_rest(const lanes *l, const vyre_expr_node *n) {
    if (l->part == VYRE_NONE || n->op != VYRE_EXPR_REM) {
        return false;
    }
    const vyre_expr_node *q = &l->p->exprs[l->p->stmts[l->part].arg[0]];
    const vyre_expr_node *x = &l->p->exprs[q->u.arg[0]], *by = &l->p->exprs[q->u.arg[1]];
    const vyre_expr_node *x2 = &l->p->exprs[n->u.arg[0]], *by2 = &l->p->exprs[n->u.arg[1]];
    return x2->op == x->op && x2->ref == x->ref && by2->op == by->op &&
           (by->op == VYRE_EXPR_LITERAL ? by2->u.bits == by->u.bits : by2->ref == by->ref);
}

bool lanes_factor(const lanes *l, vyre_expr expr, uint32_t depth, uint32_t *out_factor) {
    const vyre_expr_node *n = &l->p->exprs[expr];
    uint32_t a = 0, b = 0;
    *out_factor = 0;
    if (depth == 0 || n->type != VYRE_U32) {
        return lanes_kind(l, expr) == COMMON;
    }
    switch ((int)n->op) {
    case VYRE_EXPR_VAR:
        return l->kinds[n->ref] == COMMON ||
               (l->kinds[n->ref] == PURE &&
                lanes_factor(l, l->values[n->ref], depth - 1, out_factor));
    case VYRE_EXPR_BUILTIN: *out_factor = lanes_is_id(l, n, 0); return true;
    case VYRE_EXPR_REM:
        return lanes_is_rest(l, n) ? lanes_factor(l, n->u.arg[0], depth - 1, out_factor)
                                   : lanes_kind(l, expr) == COMMON;
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB:
    case VYRE_EXPR_MUL: break;
    default: return lanes_kind(l, expr) == COMMON;
    }
    if (!lanes_factor(l, n->u.arg[0], depth - 1, &a) ||
        !lanes_factor(l, n->u.arg[1], depth - 1, &b)) {
        return false;
    }
    if (n->op != VYRE_EXPR_MUL) {
        *out_factor = n->op == VYRE_EXPR_ADD ? a + b : a - b;
        return true;
    }
    const vyre_expr_node *x = &l->p->exprs[n->u.arg[0]], *y = &l->p->exprs[n->u.arg[1]];
    *out_factor = y->op == VYRE_EXPR_LITERAL ? a * (uint32_t)y->u.bits : b * (uint32_t)x->u.bits;
    return (a == 0 && b == 0) || y->op == VYRE_EXPR_LITERAL || x->op == VYRE_EXPR_LITERAL;
}

/* ---- lanes that a statement concerns ---- */

static void add_limit(const lanes *l, vyre_expr id, vyre_expr bound, bool is_first, bool is_with,
                      limits *to) {
    limit one = {.bound = bound, .is_first = is_first, .is_with = is_with};
    const uint32_t axis = axis_of(l, id, &one.is_local);
    bool fits = axis != VYRE_NONE && lanes_kind(l, bound) == COMMON && to->count < MOST_LIMITS;
    const vyre_expr_node *n = &l->p->exprs[bound];
    if (fits && one.is_local && !is_first && n->op == VYRE_EXPR_LITERAL &&
        n->u.bits >= l->p->workgroup[axis]) {
        return; /* all of them are */
    }
    for (uint32_t i = 0; i < to->count && is_first; i++) { /* one for each axis */
        fits = fits && !(to->of[i].is_first && to->of[i].axis == axis);
    }
    to->is_all = to->is_all && fits;
    if (fits) {
        one.axis = (uint8_t)axis;
        to->of[to->count++] = one;
    }
}

static void add_condition(const lanes *l, vyre_expr expr, uint32_t depth, limits *to) {
    const vyre_expr_node *n = &l->p->exprs[expr];
    if (n->op == VYRE_EXPR_AND && depth > 0) {
        add_condition(l, n->u.arg[0], depth - 1, to);
        add_condition(l, n->u.arg[1], depth - 1, to);
        return;
    }
    const bool compares = n->op == VYRE_EXPR_LT || n->op == VYRE_EXPR_LE || n->op == VYRE_EXPR_GT ||
                          n->op == VYRE_EXPR_GE || n->op == VYRE_EXPR_EQ;
    bool is_local;
    if (!compares || l->p->exprs[n->u.arg[0]].type != VYRE_U32) {
        to->is_all = false;
        return;
    }
    const bool turned = axis_of(l, n->u.arg[0], &is_local) == VYRE_NONE;
    const vyre_expr id = n->u.arg[turned], bound = n->u.arg[!turned];
    const bool less = n->op == (turned ? VYRE_EXPR_GT : VYRE_EXPR_LT);
    const bool at_most = n->op == (turned ? VYRE_EXPR_GE : VYRE_EXPR_LE);
    if (n->op == VYRE_EXPR_EQ || less || at_most) {
        add_limit(l, id, bound, false, !less, to);
    }
    if (n->op == VYRE_EXPR_EQ || (!less && !at_most)) {
        const bool more = n->op == (turned ? VYRE_EXPR_LT : VYRE_EXPR_GT);
        add_limit(l, id, bound, true, more, to);
    }
}

limits lanes_limits(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    limits found = {.is_all = true};
    if (n->op == VYRE_STMT_IF && l->p->stmts[n->match].op == VYRE_STMT_END) {
        add_condition(l, n->arg[0], 8, &found);
    } else if (n->op == VYRE_STMT_FOR) {
        add_limit(l, n->arg[0], n->arg[1], false, false, &found);
        found.is_all = false;
    }
    return found;
}

bool lanes_is_limited(const limits *found, uint32_t axis) {
    uint32_t i = 0;
    while (i < found->count && found->of[i].axis != axis) {
        i++;
    }
    return i < found->count;
}
