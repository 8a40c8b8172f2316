/* Values of expressions: leaves, loads and select; the claims of every expression; and whether
 * accesses are inside. An expression whose value nothing is known of but its type is a symbol that
 * is bound where it is evaluated. */
#include "analysis/range_state.h"
#include "ir/fold.h"

range_value range_bind(range_state *s, vyre_symbol_kind kind, uint32_t ref, vyre_var var,
                       range_interval bounds) {
    const uint32_t symbol = range_symbol(s, &(vyre_symbol){.kind = (uint8_t)kind,
                                                           .lanes = 7,
                                                           .ref = ref,
                                                           .var = var,
                                                           .expr = VYRE_NONE,
                                                           .operand = {VYRE_NONE, VYRE_NONE},
                                                           .bound = s->stmt,
                                                           .lo = bounds.lo,
                                                           .hi = bounds.hi});
    if (symbol == VYRE_NONE) {
        return range_unknown;
    }
    const vyre_affine form = vyre_affine_symbol(symbol);
    return range_exact(s, &form);
}

static range_value any_value(range_state *s, vyre_expr expr, range_interval bounds) {
    return range_bind(s, VYRE_SYMBOL_VALUE, expr, VYRE_NONE, bounds);
}

static range_value constant_value(range_state *s, vyre_type type, uint64_t bits) {
    const vyre_affine form =
        vyre_affine_constant(type == VYRE_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits);
    return range_exact(s, &form);
}

static range_value reference(range_state *s, const vyre_expr_node *e) {
    const vyre_type type = (vyre_type)e->type;
    const range_interval limits = range_of_type(type);
    uint64_t bits;
    if (s->p->decls[e->ref].role == VYRE_CONST) {
        return vyre_fold_const(s->p, e->ref, &bits) ? constant_value(s, type, bits) : range_unknown;
    }
    const uint32_t symbol = range_symbol(s, &(vyre_symbol){.kind = VYRE_SYMBOL_PARAM,
                                                           .ref = e->ref,
                                                           .var = VYRE_NONE,
                                                           .expr = VYRE_NONE,
                                                           .operand = {VYRE_NONE, VYRE_NONE},
                                                           .bound = VYRE_NONE,
                                                           .lo = limits.lo,
                                                           .hi = limits.hi});
    const vyre_affine form = vyre_affine_symbol(symbol);
    return symbol == VYRE_NONE ? range_unknown : range_exact(s, &form);
}

/* select: one of two values. Each is judged where the condition chooses it. */
static range_value choose(range_state *s, vyre_expr expr, const vyre_expr_node *e) {
    const range_expr *arms[2] = {&s->r->exprs[e->u.arg[1]], &s->r->exprs[e->u.arg[2]]};
    if (arms[0]->value == VYRE_NONE || arms[1]->value == VYRE_NONE) {
        return range_unknown;
    }
    if (arms[0]->value == arms[1]->value) {
        return (range_value){arms[0]->index, arms[0]->value};
    }
    const vyre_affine forms[2] = {*range_at(s, arms[0]->value), *range_at(s, arms[1]->value)};
    range_interval bounds[2];
    bool below[2], above[2]; /* this arm is never above, below the other */
    for (uint32_t i = 0; i < 2; i++) {
        const range_mark mark = range_mark_now(s);
        range_assume(s, e->u.arg[0], i == 0);
        bounds[i] = range_bounds(s, &forms[i]);
        below[i] = range_prove_order(s, &forms[i], &forms[1 - i], 0);
        above[i] = range_prove_order(s, &forms[1 - i], &forms[i], 0);
        range_forget(s, mark);
    }
    const range_interval hull = {bounds[0].lo < bounds[1].lo ? bounds[0].lo : bounds[1].lo,
                                 bounds[0].hi > bounds[1].hi ? bounds[0].hi : bounds[1].hi};
    const range_value value = any_value(s, expr, hull);
    if (value.value == VYRE_NONE) {
        return value;
    }
    const vyre_affine chosen = *range_at(s, value.value);
    for (uint32_t i = 0; i < 2; i++) {
        if (below[i]) {
            range_note_order(s, &chosen, &forms[1 - i], 0, VYRE_NONE, 0);
        }
        if (above[i]) {
            range_note_order(s, &forms[1 - i], &chosen, 0, VYRE_NONE, 0);
        }
    }
    return value;
}

static range_value convert(range_state *s, vyre_expr expr, const vyre_expr_node *e,
                           uint8_t *flags) {
    const vyre_type from = (vyre_type)s->p->exprs[e->u.arg[0]].type;
    const vyre_type to = e->op == VYRE_EXPR_CAST ? (vyre_type)e->sub : (vyre_type)e->type;
    if (range_follows(from)) {
        return range_operate(s, expr, flags);
    }
    return any_value(s, expr, range_of_type(from == VYRE_BOOL ? VYRE_BOOL : to));
}

/* row: y * w + x where x is inside of the row and the row ends at 2^32 or before. */
static range_value element_of_row(range_state *s, vyre_expr expr, const vyre_expr_node *e,
                                  uint8_t *flags) {
    const range_expr *y = &s->r->exprs[e->u.arg[0]], *w = &s->r->exprs[e->u.arg[1]];
    const range_expr *x = &s->r->exprs[e->u.arg[2]];
    if (y->value == VYRE_NONE || w->value == VYRE_NONE || x->value == VYRE_NONE) {
        return range_unknown;
    }
    const vyre_affine row = *range_at(s, y->value), width = *range_at(s, w->value);
    const vyre_affine column = *range_at(s, x->value);
    const vyre_affine all = vyre_affine_constant((int64_t)1 << 32);
    vyre_affine begin, end, at;
    const bool inside = range_prove_order(s, &column, &width, -1);
    const bool has_begin = range_multiply(s, &row, &width, &begin);
    const bool fits = has_begin && vyre_affine_combine(&begin, 1, &width, 1, &end) &&
                      range_prove_order(s, &end, &all, 0);
    *flags |= (uint8_t)((inside ? RANGE_INSIDE : 0) | (fits ? RANGE_NO_WRAP : 0));
    return inside && fits && vyre_affine_combine(&begin, 1, &column, 1, &at)
               ? range_exact(s, &at)
               : any_value(s, expr, range_of_type(VYRE_U32));
}

static range_value value_of(range_state *s, vyre_expr expr, uint8_t *flags) {
    const vyre_expr_node *e = &s->p->exprs[expr];
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LITERAL: return constant_value(s, (vyre_type)e->type, e->u.bits);
    case VYRE_EXPR_VAR: return range_refit(s, (vyre_type)e->type, s->vars[e->ref]);
    case VYRE_EXPR_REF: return reference(s, e);
    case VYRE_EXPR_LEN: return (range_value){s->r->lengths[e->ref], s->r->lengths[e->ref]};
    case VYRE_EXPR_BUILTIN: return range_builtin(s, e);
    case VYRE_EXPR_LOAD:
        return any_value(s, expr, range_of_type((vyre_type)s->p->decls[e->ref].type));
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_BITCAST: return convert(s, expr, e, flags);
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND: return choose(s, expr, e);
    case VYRE_EXPR_ROW: return element_of_row(s, expr, e, flags);
    default: return range_operate(s, expr, flags);
    }
}

bool range_is_inside(range_state *s, vyre_decl memory, vyre_expr index) {
    const uint32_t value = s->r->exprs[index].value, length = s->r->lengths[memory];
    if (value == VYRE_NONE || length == VYRE_NONE) {
        return false;
    }
    const vyre_affine x = *range_at(s, value), y = *range_at(s, length);
    return range_prove_order(s, &x, &y, -1);
}

/* Constant amounts and divisors of 64-bit operations, whose values are not followed. */
static uint8_t wide_flags(const range_state *s, const vyre_expr_node *e) {
    const vyre_expr_node *y = &s->p->exprs[e->u.arg[1]];
    if ((e->op == VYRE_EXPR_DIV || e->op == VYRE_EXPR_REM) && y->op == VYRE_EXPR_LITERAL &&
        vyre_type_is_integer((vyre_type)e->type)) {
        return y->u.bits != 0 ? RANGE_NOT_ZERO : 0;
    }
    return 0;
}

static uint8_t amount_flags(const range_state *s, const vyre_expr_node *e) {
    const vyre_expr_node *y = &s->p->exprs[e->u.arg[1]];
    const range_expr *amount = &s->r->exprs[e->u.arg[1]];
    const int64_t width = 8 * (int64_t)vyre_type_size((vyre_type)e->type);
    const bool known = y->op == VYRE_EXPR_LITERAL
                           ? y->u.bits < (uint64_t)width
                           : amount->value != VYRE_NONE && amount->lo >= 0 && amount->hi < width;
    return known ? RANGE_AMOUNT : 0;
}

static uint8_t claims(range_state *s, const vyre_expr_node *e) {
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LOAD: return range_is_inside(s, e->ref, e->u.arg[0]) ? RANGE_INSIDE : 0;
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM: return wide_flags(s, e);
    case VYRE_EXPR_SHL:
    case VYRE_EXPR_SHR:
    case VYRE_EXPR_ROTL:
    case VYRE_EXPR_ROTR: return amount_flags(s, e);
    default: return 0;
    }
}

void range_evaluate(range_state *s, vyre_expr expr) {
    const vyre_expr_node *e = &s->p->exprs[expr];
    range_expr result = {.index = VYRE_NONE,
                         .value = VYRE_NONE,
                         .lower = VYRE_NONE,
                         .upper = VYRE_NONE,
                         .flags = claims(s, e)};
    if (range_follows((vyre_type)e->type)) {
        const range_interval limits = range_of_type((vyre_type)e->type);
        range_value value = value_of(s, expr, &result.flags);
        if (value.value == VYRE_NONE || value.index == VYRE_NONE) {
            value = any_value(s, expr, limits);
        }
        result.index = value.index;
        result.value = value.value;
        result.lo = limits.lo;
        result.hi = limits.hi;
        if (value.value != VYRE_NONE && value.index != VYRE_NONE) {
            const range_interval bounds = range_bounds(s, range_at(s, value.value));
            result.lo = bounds.lo > limits.lo ? bounds.lo : limits.lo;
            result.hi = bounds.hi < limits.hi ? bounds.hi : limits.hi;
            result.lower = range_end(s, value.value, false);
            result.upper = range_end(s, value.value, true);
        } else {
            result.index = result.value = VYRE_NONE;
        }
    }
    s->r->exprs[expr] = result;
}
