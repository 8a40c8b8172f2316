/* Why control is not uniform: a path through the value graph back to where lanes first differ.
 * Every node remembers when it stopped being uniform over each scope, and what it depends on
 * stopped before it; so following the earliest input ends, also around loops. */
#include "analysis/shape_graph.h"
#include "analysis/tree.h"

typedef struct trace {
    vyre_shapes *s;
    vyre_shape_kind scope;
} trace;

/* 0: uniform. */
static uint32_t since(const trace *t, uint32_t node) {
    return t->s->nodes.data[node]
        .since[t->scope == VYRE_SHAPE_SUBGROUP ? 2 : t->scope - VYRE_SHAPE_GRID];
}

static bool is_uniform(const trace *t, vyre_shape shape) {
    return t->scope == VYRE_SHAPE_SUBGROUP ? vyre_shape_in_subgroup(t->s->program, shape)
                                           : vyre_shape_uniform(shape, t->scope);
}

/* The edge of a join that lost uniformity first, or VYRE_NONE. */
static uint32_t earliest(const trace *t, uint32_t node) {
    uint32_t best = VYRE_NONE;
    for (uint32_t e = t->s->nodes.data[node].ref; e != VYRE_NONE; e = t->s->edges.data[e].next) {
        const uint32_t from = t->s->edges.data[e].from;
        const uint32_t time = since(t, from & SHAPE_NODE_MASK);
        if (time != 0 && (best == VYRE_NONE || time < since(t, best & SHAPE_NODE_MASK))) {
            best = from;
        }
    }
    return best;
}

/* Follows control to a condition; VYRE_NONE if there is none to name. */
static uint32_t condition_of(const trace *t, uint32_t node) {
    while (node != VYRE_NONE && t->s->nodes.data[node].kind == SHAPE_JOIN) {
        const uint32_t from = earliest(t, node);
        node = from == VYRE_NONE ? VYRE_NONE : from & SHAPE_NODE_MASK;
    }
    return node == SHAPE_NODE_VARYING ? VYRE_NONE : node;
}

/* A write is looked for that can hit what a load asks for. */
typedef struct search {
    vyre_shapes *s;
    vyre_decl decl;
    bool workgroup;
    shape_form index; /* of the load */
    uint32_t turning; /* the loop whose next trip is meant, or VYRE_NONE: the same trip */
    bool near;        /* also one that hits it in some other trip */
} search;

static bool visit_writes(const search *f, uint32_t visit) {
    vyre_shapes *s = f->s;
    const vyre_stmt stmt = s->visits.data[visit].stmt;
    const vyre_stmt_node *node = &s->program->stmts[stmt];
    const bool expanded = node->op == VYRE_STMT_CALL && !s->program->fns[node->fn].opaque;
    if (expanded || !vyre_effects_write(s->effects, stmt, f->decl)) {
        return false;
    }
    if ((node->op != VYRE_STMT_STORE && node->op != VYRE_STMT_ATOMIC) ||
        !vyre_shapes_forms(s, visit)) {
        return true;
    }
    shape_form written = s->form_scratch[node->arg[0] - node->first_expr];
    if (f->turning != VYRE_NONE && !vyre_shapes_turned(s, &written, f->turning, &written)) {
        return true;
    }
    const shape_apart apart = vyre_shapes_apart(
        s, &f->index, &written, f->workgroup ? VYRE_SHAPE_GROUP : VYRE_SHAPE_GRID, false);
    return apart == SHAPE_MAY_MEET || (f->near && apart == SHAPE_APART_WHILE);
}

/* The next one after the load, else the last one before it, up to a barrier. */
static uint32_t find_near(const search *f, uint32_t visit) {
    const vyre_shapes *s = f->s;
    for (uint32_t i = visit; i < s->visits.count && !vyre_shapes_ends_interval(s, i, f->workgroup);
         i++) {
        if (visit_writes(f, i)) {
            return i;
        }
    }
    for (uint32_t i = visit; i-- > 0 && !vyre_shapes_ends_interval(s, i, f->workgroup);) {
        if (visit_writes(f, i)) {
            return i;
        }
    }
    return VYRE_NONE;
}

static uint32_t find_between(const search *f, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        if (visit_writes(f, i)) {
            return i;
        }
    }
    return VYRE_NONE;
}

/* The write that is best shown: one between the same barriers; else, when only a back edge or
 * another arm connects them, one of the next trip, the first of all. */
static uint32_t find_writer(vyre_shapes *s, uint32_t visit, const vyre_expr_node *load) {
    search f = {.s = s,
                .decl = load->ref,
                .workgroup = s->program->decls[load->ref].role == VYRE_WORKGROUP,
                .turning = VYRE_NONE};
    if (!vyre_shapes_know_numbers(s) || !vyre_shapes_forms(s, visit)) {
        return VYRE_NONE;
    }
    f.index =
        s->form_scratch[load->u.arg[0] - s->program->stmts[s->visits.data[visit].stmt].first_expr];
    uint32_t found = find_near(&f, visit);
    const uint32_t loop = vyre_shapes_turning(s, &f.index);
    if (found == VYRE_NONE && loop != VYRE_NONE) {
        f.turning = loop;
        found = find_between(&f, loop, s->visits.data[loop].link);
        f.turning = VYRE_NONE;
    }
    if (found == VYRE_NONE) {
        found = find_between(&f, 0, s->visits.count);
    }
    f.near = true;
    return found == VYRE_NONE ? find_between(&f, 0, s->visits.count) : found;
}

/* What the load itself adds, whatever its index. */
static vyre_origin_kind load_origin(const trace *t, const vyre_expr_node *load, bool written) {
    const vyre_role role = (vyre_role)t->s->program->decls[load->ref].role;
    if (role == VYRE_PRIVATE) {
        return VYRE_ORIGIN_PRIVATE;
    }
    if (written) {
        return VYRE_ORIGIN_WRITTEN;
    }
    return role == VYRE_WORKGROUP && t->scope == VYRE_SHAPE_GRID ? VYRE_ORIGIN_SHARED
                                                                 : VYRE_ORIGIN_NONE;
}

/* Looks for what makes the expressions [first, end) of the visit differ: an origin if there is one,
 * else the variable that lost uniformity first. Returns that variable's node or VYRE_NONE. */
static uint32_t find_origin(const trace *t, uint32_t visit, vyre_expr first, vyre_expr end,
                            vyre_cause *cause) {
    const vyre_program_view *p = t->s->program;
    const vyre_stmt_node *stmt = &p->stmts[t->s->visits.data[visit].stmt];
    uint32_t use = t->s->visits.data[visit].first_use, found = VYRE_NONE;
    vyre_shapes_evaluate(t->s, visit, t->s->scratch);
    for (vyre_expr i = stmt->first_expr; i < end; i++) {
        const vyre_expr_node *expr = &p->exprs[i];
        const bool uses = expr->op == VYRE_EXPR_VAR || expr->op == VYRE_EXPR_LOAD;
        const uint32_t value = uses ? t->s->uses.data[use++] : 0;
        if (i < first || is_uniform(t, t->s->scratch[i - stmt->first_expr])) {
            continue;
        }
        vyre_origin_kind kind = VYRE_ORIGIN_NONE;
        if (expr->op == VYRE_EXPR_VAR) {
            if (found == VYRE_NONE || since(t, value) < since(t, found)) {
                found = value;
                cause->origin = i;
                cause->origin_var = expr->ref;
            }
        } else if (expr->op == VYRE_EXPR_BUILTIN) {
            kind = VYRE_ORIGIN_BUILTIN;
        } else if (expr->op == VYRE_EXPR_LOAD) {
            kind = load_origin(t, expr, value != 0);
        }
        if (kind != VYRE_ORIGIN_NONE) {
            cause->origin_kind = kind;
            cause->origin = i;
            cause->origin_var = VYRE_NONE;
            cause->writer =
                kind == VYRE_ORIGIN_WRITTEN ? find_writer(t->s, visit, expr) : VYRE_NONE;
            return VYRE_NONE;
        }
    }
    cause->origin_kind = found == VYRE_NONE ? VYRE_ORIGIN_NONE : VYRE_ORIGIN_VAR;
    return found;
}

/* Explains a value node that is not a join; returns the next node to explain or VYRE_NONE. */
static uint32_t explain_value(const trace *t, uint32_t node, vyre_cause *cause) {
    const vyre_program_view *p = t->s->program;
    const shape_node *n = &t->s->nodes.data[node];
    const vyre_stmt_node *stmt = &p->stmts[t->s->visits.data[n->visit].stmt];
    if (n->kind == SHAPE_FIXED) {
        cause->kind = VYRE_CAUSE_RESULT;
        cause->origin_kind = VYRE_ORIGIN_NONE;
        return VYRE_NONE;
    }
    if (n->kind == SHAPE_VALUE || n->kind == SHAPE_ASKED) {
        return find_origin(t, n->visit, vyre_tree_begin(p, n->ref), n->ref + 1, cause);
    }
    if (n->kind == SHAPE_TRIPS) {
        return find_origin(t, n->visit, stmt->first_expr, stmt->end_expr, cause);
    }
    const uint32_t next =
        find_origin(t, n->visit, vyre_tree_begin(p, stmt->arg[0]), stmt->arg[0] + 1, cause);
    if (cause->origin_kind != VYRE_ORIGIN_NONE || stmt->arg[2] == VYRE_NONE) {
        return next;
    }
    return find_origin(t, n->visit, vyre_tree_begin(p, stmt->arg[2]), stmt->arg[2] + 1, cause);
}

/* Explains a version of a variable: follows joins to the assignment or the condition that made the
 * difference. Returns the node whose value `cause` is then about. */
static uint32_t explain_version(const trace *t, uint32_t node, vyre_cause *cause) {
    cause->kind = VYRE_CAUSE_ASSIGNED;
    while (node != VYRE_NONE && t->s->nodes.data[node].kind == SHAPE_JOIN) {
        const uint32_t from = earliest(t, node);
        if (from == VYRE_NONE) {
            return VYRE_NONE;
        }
        if (from > SHAPE_NODE_MASK) {
            cause->kind = t->s->nodes.data[node].exit ? VYRE_CAUSE_LEFT : VYRE_CAUSE_MERGED;
            return condition_of(t, from & SHAPE_NODE_MASK);
        }
        node = from;
    }
    return node == SHAPE_NODE_VARYING ? VYRE_NONE : node;
}

uint32_t vyre_shapes_why(vyre_shapes *s, uint32_t visit, vyre_shape_kind scope, vyre_cause *out,
                         uint32_t capacity) {
    const trace t = {.s = s, .scope = scope};
    uint32_t control = s->visits.data[visit].control;
    const uint32_t outer = s->nodes.data[control].outer;
    if (outer != VYRE_NONE && since(&t, outer) != 0 &&
        (since(&t, control) == 0 || since(&t, outer) < since(&t, control))) {
        control = outer;
    }
    uint32_t node = since(&t, control) == 0 ? VYRE_NONE : condition_of(&t, control);
    uint32_t count = 0;
    vyre_cause cause = {.kind = VYRE_CAUSE_CONDITION, .var = VYRE_NONE};
    while (node != VYRE_NONE && count < capacity) {
        cause.visit = s->nodes.data[node].visit;
        cause.origin = cause.origin_var = cause.writer = VYRE_NONE;
        const uint32_t version = explain_value(&t, node, &cause);
        out[count++] = cause;
        cause.var = cause.origin_var;
        node = version == VYRE_NONE ? VYRE_NONE : explain_version(&t, version, &cause);
    }
    return count;
}
