/* Trips of loops: what an index is in the next one, and whether lanes make as many wherever they
 * start.
 *
 * What a version at the head of a loop becomes at its turn is known if all ends of trips bring the
 * same form, of that version and of others that keep their values in the loop. The variable of a
 * FOR becomes itself plus the step, and never wraps: the loop ends instead.
 *
 * A FOR from below its step S, to a multiple of S, is even. A lane that starts at a, 0 <= a < S,
 * makes the trips a, a + S, ... below m * S: that is m of them. The end is such a multiple if both
 * are constants, or if it is u / S * S, or u * S that does not wrap. global_id.x is below
 * global_size.x. Where u is made of params, lengths and sizes of the grid, that it does not wrap
 * may be a condition of the loop (conditions.h), if it holds a barrier. */
#include "analysis/affine.h"
#include "analysis/shape_graph.h"
#include "analysis/tree.h"

/* Variables behind one another. */
enum { MOST_COPIES = 16 };

static const int64_t past = INT64_C(1) << 32;

static bool is_equal(const shape_form *x, const shape_form *y) {
    shape_form difference;
    return vyre_form_is_exact(x) && vyre_form_is_exact(y) &&
           vyre_form_add(x, y, UINT32_MAX, &difference) && difference.count == 0 &&
           difference.constant == 0;
}

/* Trips */

/* Versions of a loop: its variable, and what is joined at its head. */
static bool is_head(const vyre_shapes *s, uint32_t node, uint32_t opener) {
    const shape_node *n = &s->nodes.data[node];
    return n->visit == opener && !n->exit && (n->kind == SHAPE_INDEX || n->kind == SHAPE_JOIN) &&
           n->var != VYRE_NONE;
}

/* Whether all versions in the form keep their values in the loop, but for those at its head. */
static bool is_of_head(const vyre_shapes *s, const shape_form *f, uint32_t opener) {
    uint32_t nodes[SHAPE_FORM_NODES];
    const uint32_t count = vyre_shapes_form_nodes(s, f, nodes);
    for (uint32_t i = 0; i < count && count != VYRE_NONE; i++) {
        const uint32_t at = s->nodes.data[nodes[i]].visit;
        if (!is_head(s, nodes[i], opener) && at >= opener && at <= s->visits.data[opener].link) {
            return false;
        }
    }
    return count != VYRE_NONE;
}

/* What the version at a loop's head is in the next trip, by the values of this one. */
static bool next_of(vyre_shapes *s, uint32_t node, shape_form *out) {
    const shape_node *n = &s->nodes.data[node];
    const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[n->visit].stmt];
    if (n->kind == SHAPE_INDEX) {
        uint32_t by = 1;
        if (stmt->arg[2] != VYRE_NONE) {
            if (!vyre_shapes_forms(s, n->visit)) {
                return false;
            }
            const shape_form *step = &s->form_scratch[stmt->arg[2] - stmt->first_expr];
            by = step->constant;
            if (!vyre_form_is_constant(step)) {
                return false;
            }
        }
        out->constant += by;
        return true;
    }
    bool found = false;
    for (uint32_t e = n->ref; e != VYRE_NONE && s->edges.data[e].next != VYRE_NONE;
         e = s->edges.data[e].next) { /* the last one is the way in */
        const uint32_t from = s->edges.data[e].from;
        shape_form version;
        if (from > SHAPE_NODE_MASK) {
            continue;
        }
        if (!vyre_form_version(s, from, &version) || (found && !is_equal(&version, out))) {
            return false;
        }
        *out = version;
        found = true;
    }
    return found && is_of_head(s, out, n->visit);
}

/* So that products of two of its numbers are what they are over the integers. */
static bool is_small(const shape_form *f) {
    bool small = (int32_t)f->constant > -(1 << 15) && (int32_t)f->constant < 1 << 15;
    for (uint32_t i = 0; i < f->count; i++) {
        const int32_t factor = (int32_t)f->factors[i];
        small &= factor > -(1 << 15) && factor < 1 << 15;
    }
    return small;
}

/* The form with a version replaced, in its terms too, which nest DEPTH deep. `fits`: what replaces
 * it is its value over the integers, so that sums that did not wrap still do not. */
static bool replaced(vyre_shapes *s, const shape_form *f, uint32_t node, const shape_form *by,
                     bool fits, shape_form *out) {
    shape_form sum = {.constant = f->constant, .lo = f->lo, .hi = f->hi};
    for (uint32_t i = 0; i < f->count; i++) {
        const shape_term t = s->terms.data[f->terms[i]];
        shape_form part = {.factors = {1}, .terms = {f->terms[i]}, .count = 1}, of;
        if (t.kind == SHAPE_TERM_NODE && t.ref == node) {
            part = *by;
        } else if (t.kind >= SHAPE_TERM_XOR && t.has_nodes &&
                   (!replaced(s, &t.of, node, by, fits, &of) ||
                    !vyre_form_masked(s, (shape_term_kind)t.kind, &of, t.number,
                                      fits && is_small(&t.of) && is_small(by), &part))) {
            return false;
        }
        if (!vyre_form_add(&sum, &part, f->factors[i], &sum)) {
            return false;
        }
    }
    *out = sum;
    return true;
}

uint32_t vyre_shapes_turning(const vyre_shapes *s, const shape_form *form) {
    uint32_t nodes[SHAPE_FORM_NODES], opener = VYRE_NONE;
    const uint32_t count = vyre_shapes_form_nodes(s, form, nodes);
    for (uint32_t i = 0; i < count && count != VYRE_NONE; i++) {
        const uint32_t visit = s->nodes.data[nodes[i]].visit;
        if (is_head(s, nodes[i], visit)) {
            if (opener != VYRE_NONE && opener != visit) {
                return VYRE_NONE;
            }
            opener = visit;
        }
    }
    return opener;
}

bool vyre_shapes_turned(vyre_shapes *s, const shape_form *form, uint32_t opener, shape_form *out) {
    uint32_t nodes[SHAPE_FORM_NODES], head = VYRE_NONE;
    const uint32_t count = vyre_shapes_form_nodes(s, form, nodes);
    shape_form next;
    for (uint32_t i = 0; i < count && count != VYRE_NONE; i++) {
        if (is_head(s, nodes[i], opener)) {
            if (head != VYRE_NONE && head != nodes[i]) {
                return false;
            }
            head = nodes[i];
        }
    }
    *out = *form;
    if (head == VYRE_NONE || count == VYRE_NONE) {
        return count != VYRE_NONE;
    }
    if (!vyre_form_node(s, head, &next) || !next_of(s, head, &next)) {
        return false;
    }
    const bool fits = s->nodes.data[head].kind == SHAPE_INDEX || vyre_form_fits(s, &next);
    return replaced(s, form, head, &next, fits, out);
}

/* Even loops */

typedef struct operand {
    uint32_t visit;
    vyre_expr expr;
} operand;

/* Where the value of the variable comes from, if it is one. */
static operand behind(const vyre_shapes *s, operand o) {
    for (uint32_t i = 0; i < MOST_COPIES && s->program->exprs[o.expr].op == VYRE_EXPR_VAR; i++) {
        const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[o.visit].stmt];
        uint32_t use = s->visits.data[o.visit].first_use;
        for (vyre_expr e = stmt->first_expr; e < o.expr; e++) {
            use += s->program->exprs[e].op == VYRE_EXPR_VAR ||
                   s->program->exprs[e].op == VYRE_EXPR_LOAD;
        }
        const shape_node *n = &s->nodes.data[s->uses.data[use]];
        if (n->kind != SHAPE_VALUE) {
            break;
        }
        o = (operand){n->visit, n->ref};
    }
    return o;
}

static bool form_at(vyre_shapes *s, operand o, shape_form *out) {
    const bool ok = vyre_shapes_forms(s, o.visit);
    *out = s->form_scratch[o.expr - s->program->stmts[s->visits.data[o.visit].stmt].first_expr];
    return ok;
}

/* Whether a dispatch knows the number, before anything runs. */
static bool is_known(const vyre_shapes *s, const shape_form *f) {
    bool known = vyre_form_is_exact(f);
    for (uint32_t i = 0; i < f->count; i++) {
        const shape_term *t = &s->terms.data[f->terms[i]];
        known &= t->kind == SHAPE_TERM_PARAM || t->kind == SHAPE_TERM_LEN ||
                 (t->kind == SHAPE_TERM_BUILTIN &&
                  (t->ref == VYRE_BUILTIN_GLOBAL_SIZE || t->ref == VYRE_BUILTIN_NUM_GROUPS));
    }
    return known;
}

static bool holds_wait(const vyre_shapes *s, uint32_t loop) {
    for (uint32_t i = loop + 1; i < s->visits.data[loop].link; i++) {
        if (vyre_shapes_waiters(s, i) != VYRE_SHAPE_VARYING) {
            return true;
        }
    }
    return false;
}

/* Whether x * y, where y is the step, is a multiple of it: the product does not wrap. `factor` is
 * x. */
static shape_trips keeps_multiple(vyre_shapes *s, operand product, vyre_expr x,
                                  const shape_form *by, shape_form *factor) {
    shape_form divisor;
    const operand quotient = behind(s, (operand){product.visit, x});
    const vyre_expr_node *e = &s->program->exprs[quotient.expr];
    if (e->op == VYRE_EXPR_DIV && form_at(s, (operand){quotient.visit, e->u.arg[1]}, &divisor) &&
        is_equal(&divisor, by)) {
        return SHAPE_TRIPS_EVEN;
    }
    const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[product.visit].stmt];
    vyre_shapes_bounds(s, product.visit, s->bounds_scratch);
    if (vyre_form_is_constant(by) &&
        (vyre_wide)s->bounds_scratch[x - stmt->first_expr].hi * by->constant < past) {
        return SHAPE_TRIPS_EVEN;
    }
    return form_at(s, (operand){product.visit, x}, factor) && is_known(s, factor)
               ? SHAPE_TRIPS_IF
               : SHAPE_TRIPS_UNEVEN;
}

/* Whether the end is a multiple of the step; IF: where `factor` times the step does not wrap. */
static shape_trips is_multiple(vyre_shapes *s, operand to, const shape_form *by,
                               shape_form *factor) {
    shape_form end, side;
    shape_trips best = SHAPE_TRIPS_UNEVEN;
    if (!form_at(s, to, &end)) {
        return best;
    }
    if (vyre_form_is_constant(&end) && vyre_form_is_constant(by)) {
        return end.constant % by->constant == 0 ? SHAPE_TRIPS_EVEN : best;
    }
    const operand product = behind(s, to);
    const vyre_expr_node *e = &s->program->exprs[product.expr];
    for (uint32_t i = 0; i < 2 && e->op == VYRE_EXPR_MUL && best == SHAPE_TRIPS_UNEVEN; i++) {
        if (form_at(s, (operand){product.visit, e->u.arg[i]}, &side) && is_equal(&side, by)) {
            best = keeps_multiple(s, product, e->u.arg[1 - i], by, factor);
        }
    }
    return best;
}

static bool is_builtin(const vyre_shapes *s, const shape_form *f, vyre_builtin builtin,
                       uint32_t *axis) {
    if (f->count != 1 || f->factors[0] != 1 || f->constant != 0 || !vyre_form_is_exact(f)) {
        return false;
    }
    const shape_term *t = &s->terms.data[f->terms[0]];
    *axis = t->number;
    return t->kind == SHAPE_TERM_BUILTIN && t->ref == (uint32_t)builtin;
}

static shape_trips find_trips(vyre_shapes *s, uint32_t visit, shape_form *factor, shape_form *by) {
    const vyre_stmt_node *loop = &s->program->stmts[s->visits.data[visit].stmt];
    shape_form from;
    uint32_t axis, other;
    *by = vyre_form_constant(1);
    if (!form_at(s, (operand){visit, loop->arg[0]}, &from) ||
        (loop->arg[2] != VYRE_NONE && !form_at(s, (operand){visit, loop->arg[2]}, by))) {
        return SHAPE_TRIPS_UNEVEN;
    }
    vyre_shapes_bounds(s, visit, s->bounds_scratch);
    const shape_bounds start = s->bounds_scratch[loop->arg[0] - loop->first_expr];
    const bool below = vyre_form_is_constant(by)
                           ? start.hi < by->constant
                           : is_builtin(s, by, VYRE_BUILTIN_GLOBAL_SIZE, &axis) &&
                                 is_builtin(s, &from, VYRE_BUILTIN_GLOBAL_ID, &other) &&
                                 axis == other;
    return below && (!vyre_form_is_constant(by) || by->constant > 0)
               ? is_multiple(s, (operand){visit, loop->arg[1]}, by, factor)
               : SHAPE_TRIPS_UNEVEN;
}

bool vyre_shapes_product(vyre_shapes *s, uint32_t visit, shape_form *out_x, shape_form *out_y) {
    return find_trips(s, visit, out_x, out_y) == SHAPE_TRIPS_IF;
}

/* By the looks of it, before numbers are asked for: an id, a length, a param or a load, which no
 * constant is. */
static bool is_open(const vyre_program_view *p, const vyre_expr_node *e) {
    return e->op == VYRE_EXPR_LEN || e->op == VYRE_EXPR_LOAD || e->op == VYRE_EXPR_BUILTIN ||
           (e->op == VYRE_EXPR_REF && p->decls[e->ref].role != VYRE_CONST);
}

/* Whether the expression may be equal to `by`: it has that in it, or both may be constant. */
static bool may_equal(const vyre_program_view *p, vyre_expr x, const vyre_expr_node *by) {
    bool constant = true, same = false;
    for (vyre_expr i = vyre_tree_begin(p, x); i <= x; i++) {
        constant &= !is_open(p, &p->exprs[i]);
        same |= p->exprs[i].op == by->op || p->exprs[i].op == VYRE_EXPR_VAR;
    }
    return is_open(p, by) ? same : constant || by->op != VYRE_EXPR_LITERAL;
}

static bool may_be_multiple(const vyre_shapes *s, uint32_t visit) {
    const vyre_program_view *p = s->program;
    const vyre_stmt_node *loop = &p->stmts[s->visits.data[visit].stmt];
    const vyre_expr end = behind(s, (operand){visit, loop->arg[1]}).expr;
    const vyre_expr_node *e = &p->exprs[end];
    if (loop->arg[2] == VYRE_NONE) {
        return may_equal(p, end, &(vyre_expr_node){.op = VYRE_EXPR_LITERAL});
    }
    const vyre_expr_node *by = &p->exprs[behind(s, (operand){visit, loop->arg[2]}).expr];
    return e->op == VYRE_EXPR_MUL ? may_equal(p, e->u.arg[0], by) || may_equal(p, e->u.arg[1], by)
                                  : !is_open(p, e) && !is_open(p, by) && may_equal(p, end, by);
}

bool vyre_shapes_ask_trips(vyre_shapes *s, uint32_t visit) {
    s->visits.data[visit].trips = SHAPE_TRIPS_UNEVEN;
    if (!may_be_multiple(s, visit)) {
        return true;
    }
    if (!vyre_shapes_know_numbers(s)) {
        return false;
    }
    shape_form factor, by;
    const shape_trips trips = find_trips(s, visit, &factor, &by);
    s->visits.data[visit].trips =
        trips == SHAPE_TRIPS_IF && !holds_wait(s, visit) ? SHAPE_TRIPS_UNEVEN : (uint8_t)trips;
    return !s->out_of_memory;
}
