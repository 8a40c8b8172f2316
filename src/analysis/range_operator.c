/* Operators on u32 and i32.
 *
 * Sums, differences, products and shifts by constants are forms. `direct` is the form of the
 * operands' values: if it provably fits the type, the operation does not wrap and the form is the
 * value. Else `index`, the form of what the operands are modulo 2^32, may still be proven to fit:
 * (i - 1) + 1 is i, although i - 1 may wrap. Else the value is a symbol of its own that stands for
 * `index` modulo 2^32; equal remainders are one symbol, so that a guard on `i + k` speaks of the
 * index `i + k`. Other operators are functions of the values with bounds and inequalities. */
#include "analysis/range_state.h"

typedef struct operation {
    range_state *s;
    vyre_expr expr;
    const vyre_expr_node *e;
    vyre_type type;         /* of the result */
    range_interval limits;  /* of that type */
    vyre_affine x, y;       /* values of the operands */
    vyre_affine xi, yi;     /* modulo 2^32 */
    range_interval here[2]; /* bounds of x and y */
    uint8_t flags;
} operation;

static const vyre_affine zero_form = {.constant = 0};

static range_value wrapped(range_state *s, vyre_type type, const vyre_affine *index) {
    const range_interval limits = range_of_type(type);
    vyre_affine reduced = *index;
    vyre_affine_reduce(&reduced);
    const uint32_t form = range_form(s, &reduced);
    if (form == VYRE_NONE) {
        return range_unknown;
    }
    const uint32_t symbol = range_symbol(s, &(vyre_symbol){.kind = VYRE_SYMBOL_WRAPPED,
                                                           .sub = (uint8_t)type,
                                                           .ref = VYRE_NONE,
                                                           .var = VYRE_NONE,
                                                           .expr = VYRE_NONE,
                                                           .operand = {form, VYRE_NONE},
                                                           .bound = VYRE_NONE,
                                                           .lo = limits.lo,
                                                           .hi = limits.hi});
    if (symbol == VYRE_NONE) {
        return range_unknown;
    }
    const vyre_affine one = vyre_affine_symbol(symbol);
    if (!(s->now.data[symbol].noted & RANGE_NOTED_OWN)) {
        /* What can only be too large loses multiples of 2^32; what can only be too small gains. */
        const range_interval bounds = range_bounds_anywhere(s, &reduced);
        if (bounds.lo >= limits.lo) {
            range_note_order(s, &one, &reduced, 0, symbol, RANGE_NOTED_OWN);
        }
        if (bounds.hi <= limits.hi) {
            range_note_order(s, &reduced, &one, 0, symbol, RANGE_NOTED_OWN);
        }
    }
    return (range_value){form, range_form(s, &one)};
}

/* Where a guard spoke of a sum that could wrap there, tells that it is the form that fits here. */
static range_value fitting(range_state *s, vyre_type type, const vyre_affine *form) {
    vyre_affine reduced = *form;
    vyre_affine_reduce(&reduced);
    const vyre_symbol like = {.kind = VYRE_SYMBOL_WRAPPED,
                              .sub = (uint8_t)type,
                              .ref = VYRE_NONE,
                              .var = VYRE_NONE,
                              .operand = {range_form(s, &reduced), VYRE_NONE}};
    const uint32_t symbol =
        s->failed || like.operand[0] == VYRE_NONE ? VYRE_NONE : range_symbol_find(s->r, &like);
    if (symbol != VYRE_NONE && !(s->now.data[symbol].noted & RANGE_NOTED_EQUAL)) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        range_note_order(s, &one, form, 0, symbol, RANGE_NOTED_EQUAL);
        range_note_order(s, form, &one, 0, symbol, RANGE_NOTED_EQUAL);
    }
    return range_exact(s, form);
}

range_value range_settle(range_state *s, vyre_type type, const vyre_affine *direct,
                         const vyre_affine *index, bool *fits) {
    const range_interval limits = range_of_type(type);
    *fits = direct && range_prove_within(s, direct, limits);
    if (*fits) {
        return fitting(s, type, direct);
    }
    const bool other = index && !(direct && vyre_affine_equal(direct, index));
    if (other && range_prove_within(s, index, limits)) {
        return fitting(s, type, index);
    }
    return index ? wrapped(s, type, index) : range_unknown;
}

range_value range_refit(range_state *s, vyre_type type, range_value value) {
    if (value.index == value.value || value.index == VYRE_NONE) {
        return value;
    }
    const vyre_affine index = *range_at(s, value.index);
    return range_prove_within(s, &index, range_of_type(type)) ? fitting(s, type, &index) : value;
}

/* Forms */

static range_value linear(operation *o, int64_t a, int64_t b, int64_t more) {
    vyre_affine direct, index;
    const bool has_direct = vyre_affine_combine(&o->x, a, &o->y, b, &direct) &&
                            vyre_affine_shift(&direct, more, &direct);
    const bool has_index = vyre_affine_combine(&o->xi, a, &o->yi, b, &index) &&
                           vyre_affine_shift(&index, more, &index);
    bool fits = false;
    const range_value value =
        range_settle(o->s, o->type, has_direct ? &direct : NULL, has_index ? &index : NULL, &fits);
    o->flags |= fits ? RANGE_NO_WRAP : 0;
    return value;
}

static range_value product(operation *o) {
    vyre_affine direct, index;
    const bool has_direct = range_multiply(o->s, &o->x, &o->y, &direct);
    const bool has_index = range_multiply(o->s, &o->xi, &o->yi, &index);
    bool fits = false;
    const range_value value =
        range_settle(o->s, o->type, has_direct ? &direct : NULL, has_index ? &index : NULL, &fits);
    o->flags |= fits ? RANGE_NO_WRAP : 0;
    return value;
}

/* Functions with bounds */

static range_interval within(vyre_wide lo, vyre_wide hi, range_interval limits) {
    return (range_interval){lo < limits.lo   ? limits.lo
                            : lo > limits.hi ? limits.hi
                                             : (int64_t)lo,
                            hi > limits.hi   ? limits.hi
                            : hi < limits.lo ? limits.lo
                                             : (int64_t)hi};
}

/* The symbol of the operator. `here` bounds its value at this point. */
static uint32_t function(operation *o, range_interval here) {
    range_state *s = o->s;
    const bool binary = vyre_expr_info_of((vyre_expr_op)o->e->op)->arity > 1;
    const uint32_t first = range_form(s, &o->x);
    const uint32_t second = binary ? range_form(s, &o->y) : VYRE_NONE;
    const vyre_type type = o->e->op == VYRE_EXPR_CAST ? (vyre_type)o->e->sub : o->type;
    const range_interval limits = range_of_type(type);
    if (first == VYRE_NONE || (binary && second == VYRE_NONE)) {
        return VYRE_NONE;
    }
    const uint32_t symbol = range_symbol(s, &(vyre_symbol){.kind = VYRE_SYMBOL_OPERATOR,
                                                           .sub = o->e->op,
                                                           .axis = (uint8_t)type,
                                                           .ref = VYRE_NONE,
                                                           .var = VYRE_NONE,
                                                           .expr = o->expr,
                                                           .operand = {first, second},
                                                           .bound = VYRE_NONE,
                                                           .lo = limits.lo,
                                                           .hi = limits.hi});
    if (symbol != VYRE_NONE) {
        range_narrow(s, symbol, here);
    }
    return symbol;
}

static range_value value_of(operation *o, uint32_t symbol) {
    const vyre_affine one = vyre_affine_symbol(symbol);
    return symbol == VYRE_NONE ? range_unknown : range_exact(o->s, &one);
}

static range_value bounded(operation *o, range_interval here) {
    return value_of(o, function(o, here));
}

/* symbol <= form, or symbol >= form. */
static void note_below(operation *o, uint32_t symbol, const vyre_affine *form) {
    if (symbol != VYRE_NONE) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        range_note_order(o->s, &one, form, 0, VYRE_NONE, 0);
    }
}

static void note_above(operation *o, uint32_t symbol, const vyre_affine *form) {
    if (symbol != VYRE_NONE) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        range_note_order(o->s, form, &one, 0, VYRE_NONE, 0);
    }
}

static bool proven_at_least(operation *o, const vyre_affine *form, int64_t least) {
    const vyre_affine constant = vyre_affine_constant(least);
    return range_prove_order(o->s, &constant, form, 0);
}

static range_value divide(operation *o) {
    const bool remainder = o->e->op == VYRE_EXPR_REM;
    const vyre_affine minus_one = vyre_affine_constant(-1);
    const bool positive = proven_at_least(o, &o->y, 1);
    if (positive || range_prove_order(o->s, &o->y, &minus_one, 0)) {
        o->flags |= RANGE_NOT_ZERO;
    }
    if (o->type == VYRE_U32 || o->here[0].lo > INT32_MIN || o->here[1].lo > -1 ||
        o->here[1].hi < -1) {
        o->flags |= RANGE_NO_WRAP;
    }
    if (positive && proven_at_least(o, &o->x, 0)) {
        return remainder ? range_remainder(o->s, &o->x, &o->y) : range_quotient(o->s, &o->x, &o->y);
    }
    if (!remainder || o->type != VYRE_U32) {
        return bounded(o, o->limits);
    }
    const int64_t below = o->here[1].hi > 0 ? o->here[1].hi - 1 : 0; /* x % 0 is 0 */
    const uint32_t symbol = function(o, within(0, below, o->limits));
    note_below(o, symbol, &o->x);
    return value_of(o, symbol);
}

static range_value shift_left(operation *o) {
    vyre_affine direct, index;
    bool fits = false;
    if (o->y.count == 0) {
        const int64_t times = (int64_t)1 << ((uint32_t)o->y.constant & 31);
        const bool has_direct = vyre_affine_combine(&o->x, times, &zero_form, 1, &direct);
        const bool has_index = vyre_affine_combine(&o->xi, times, &zero_form, 1, &index);
        const range_value value = range_settle(o->s, o->type, has_direct ? &direct : NULL,
                                               has_index ? &index : NULL, &fits);
        o->flags |= fits ? RANGE_NO_WRAP : 0;
        return value;
    }
    const range_interval x = o->here[0], amount = o->here[1];
    if (x.lo < 0 || amount.lo < 0 || amount.hi > 31 ||
        (vyre_wide)x.hi << amount.hi > o->limits.hi) {
        return bounded(o, o->limits);
    }
    o->flags |= RANGE_NO_WRAP;
    const uint32_t symbol =
        function(o, within((vyre_wide)x.lo << amount.lo, (vyre_wide)x.hi << amount.hi, o->limits));
    note_above(o, symbol, &o->x);
    return value_of(o, symbol);
}

static range_value shift_right(operation *o) {
    if (!proven_at_least(o, &o->x, 0)) {
        return bounded(o, o->limits);
    }
    if (o->y.count == 0) {
        const vyre_affine by = vyre_affine_constant((int64_t)1 << ((uint32_t)o->y.constant & 31));
        return range_quotient(o->s, &o->x, &by);
    }
    const range_interval amount = o->here[1];
    const bool known = amount.lo >= 0 && amount.hi <= 31;
    const uint32_t symbol =
        function(o, within(0, o->here[0].hi >> (known ? amount.lo : 0), o->limits));
    note_below(o, symbol, &o->x);
    return value_of(o, symbol);
}

static bool is_low_mask(const vyre_affine *form) {
    return form->count == 0 && form->constant >= 0 && (form->constant & (form->constant + 1)) == 0;
}

static range_value bit_and(operation *o) {
    const bool x_positive = o->here[0].lo >= 0, y_positive = o->here[1].lo >= 0;
    const bool second = is_low_mask(&o->y);
    if (x_positive && y_positive && (second || is_low_mask(&o->x))) {
        const vyre_affine *mask = second ? &o->y : &o->x;
        const vyre_affine power = vyre_affine_constant(mask->constant + 1);
        const vyre_affine other = second ? o->x : o->y;
        return range_remainder(o->s, &other, &power);
    }
    if (!x_positive && !y_positive) {
        return bounded(o, o->limits);
    }
    const int64_t most = !y_positive || (x_positive && o->here[0].hi < o->here[1].hi)
                             ? o->here[0].hi
                             : o->here[1].hi;
    const uint32_t symbol = function(o, within(0, most, o->limits));
    if (x_positive) {
        note_below(o, symbol, &o->x);
    }
    if (y_positive) {
        note_below(o, symbol, &o->y);
    }
    return value_of(o, symbol);
}

static range_value bit_or(operation *o) {
    const range_interval x = o->here[0], y = o->here[1];
    const bool exclusive = o->e->op == VYRE_EXPR_BIT_XOR;
    if (x.lo < 0 || y.lo < 0) {
        return bounded(o, o->limits);
    }
    vyre_wide cover = 0;
    while (cover < x.hi || cover < y.hi) {
        cover = 2 * cover + 1;
    }
    const int64_t least = exclusive ? 0 : x.lo > y.lo ? x.lo : y.lo;
    const uint32_t symbol = function(o, within(least, cover, o->limits));
    vyre_affine both;
    if (vyre_affine_combine(&o->x, 1, &o->y, 1, &both)) {
        note_below(o, symbol, &both);
    }
    if (!exclusive) {
        note_above(o, symbol, &o->x);
        note_above(o, symbol, &o->y);
    }
    return value_of(o, symbol);
}

/* Saturating: the form if it fits, else bounds at the type's ends. */
static range_value saturate(operation *o) {
    const range_interval x = o->here[0], y = o->here[1];
    const vyre_expr_op op = (vyre_expr_op)o->e->op;
    vyre_affine direct;
    range_interval exact;
    bool has_direct;
    if (op == VYRE_EXPR_SAT_MUL) {
        has_direct = range_multiply(o->s, &o->x, &o->y, &direct);
        exact = range_times(x, y);
    } else {
        const bool minus = op == VYRE_EXPR_SAT_SUB;
        has_direct = vyre_affine_combine(&o->x, 1, &o->y, minus ? -1 : 1, &direct);
        exact =
            (range_interval){minus ? x.lo - y.hi : x.lo + y.lo, minus ? x.hi - y.lo : x.hi + y.hi};
    }
    if (has_direct && range_prove_within(o->s, &direct, o->limits)) {
        return range_exact(o->s, &direct);
    }
    const uint32_t symbol = function(o, within(exact.lo, exact.hi, o->limits));
    if (o->type == VYRE_U32 && op == VYRE_EXPR_SAT_SUB) {
        note_below(o, symbol, &o->x);
        if (has_direct) {
            note_above(o, symbol, &direct);
        }
    } else if (o->type == VYRE_U32 && op == VYRE_EXPR_SAT_ADD) {
        note_above(o, symbol, &o->x);
        note_above(o, symbol, &o->y);
        if (has_direct) {
            note_below(o, symbol, &direct);
        }
    }
    return value_of(o, symbol);
}

static range_value difference(operation *o) {
    if (range_prove_order(o->s, &o->y, &o->x, 0)) {
        return linear(o, 1, -1, 0);
    }
    if (range_prove_order(o->s, &o->x, &o->y, 0)) {
        return linear(o, -1, 1, 0);
    }
    const int64_t up = o->here[0].hi - o->here[1].lo, down = o->here[1].hi - o->here[0].lo;
    return bounded(o, within(0, up > down ? up : down, o->limits));
}

static range_value absolute(operation *o) {
    if (proven_at_least(o, &o->x, 0)) {
        o->flags |= RANGE_NO_WRAP;
        return range_exact(o->s, &o->x);
    }
    if (o->here[0].lo == INT32_MIN) {
        return bounded(o, o->limits);
    }
    o->flags |= RANGE_NO_WRAP;
    const int64_t most = o->here[0].hi > -o->here[0].lo ? o->here[0].hi : -o->here[0].lo;
    return bounded(o, within(0, most, o->limits));
}

static range_value cast(operation *o) {
    const vyre_type target = (vyre_type)o->e->sub;
    bool fits;
    if (o->e->op == VYRE_EXPR_BITCAST || range_follows(target)) {
        return range_settle(o->s, o->type, &o->x, &o->xi, &fits);
    }
    const range_interval limits = range_of_type(target);
    return range_prove_within(o->s, &o->x, limits) ? range_exact(o->s, &o->x) : bounded(o, limits);
}

static range_value high_product(operation *o) {
    const range_interval x = o->here[0], y = o->here[1];
    return o->type == VYRE_U32 ? bounded(o, within((vyre_wide)x.lo * y.lo >> 32,
                                                   (vyre_wide)x.hi * y.hi >> 32, o->limits))
                               : bounded(o, o->limits);
}

static range_value operate(operation *o) {
    switch ((uint32_t)o->e->op) {
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_BITCAST: return cast(o);
    case VYRE_EXPR_NEG: return linear(o, -1, 0, 0);
    case VYRE_EXPR_BIT_NOT: return linear(o, -1, 0, o->limits.lo + o->limits.hi);
    case VYRE_EXPR_ABS: return absolute(o);
    case VYRE_EXPR_SIGN: return bounded(o, within(-1, 1, o->limits));
    case VYRE_EXPR_POPCOUNT:
    case VYRE_EXPR_CLZ:
    case VYRE_EXPR_CTZ: return bounded(o, (range_interval){0, 32});
    case VYRE_EXPR_ADD: return linear(o, 1, 1, 0);
    case VYRE_EXPR_SUB: return linear(o, 1, -1, 0);
    case VYRE_EXPR_MUL: {
        const range_value value = product(o);
        return value.value != VYRE_NONE ? value : bounded(o, o->limits);
    }
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM: return divide(o);
    case VYRE_EXPR_SHL: return shift_left(o);
    case VYRE_EXPR_SHR: return shift_right(o);
    case VYRE_EXPR_BIT_AND: return bit_and(o);
    case VYRE_EXPR_BIT_XOR:
    case VYRE_EXPR_BIT_OR: return bit_or(o);
    case VYRE_EXPR_MIN: return range_least(o->s, &o->x, &o->y, false);
    case VYRE_EXPR_MAX: return range_least(o->s, &o->x, &o->y, true);
    case VYRE_EXPR_ABS_DIFF: return difference(o);
    case VYRE_EXPR_MUL_HIGH: return high_product(o);
    case VYRE_EXPR_SAT_ADD:
    case VYRE_EXPR_SAT_SUB:
    case VYRE_EXPR_SAT_MUL: return saturate(o);
    default: return bounded(o, o->limits); /* a function of its operands, and no more */
    }
}

range_value range_operate(range_state *s, vyre_expr expr, uint8_t *flags) {
    const vyre_expr_node *e = &s->p->exprs[expr];
    const range_expr *x = &s->r->exprs[e->u.arg[0]];
    operation o = {.s = s, .expr = expr, .e = e, .type = (vyre_type)e->type};
    o.limits = range_of_type(o.type);
    if (x->value == VYRE_NONE) {
        return range_unknown;
    }
    o.x = *range_at(s, x->value);
    o.xi = *range_at(s, x->index);
    o.here[0] = (range_interval){x->lo, x->hi};
    if (vyre_expr_info_of((vyre_expr_op)e->op)->arity > 1) {
        const range_expr *y = &s->r->exprs[e->u.arg[1]];
        if (y->value == VYRE_NONE) {
            return range_unknown;
        }
        o.y = *range_at(s, y->value);
        o.yi = *range_at(s, y->index);
        o.here[1] = (range_interval){y->lo, y->hi};
    }
    const range_value value = operate(&o);
    *flags |= o.flags;
    return value;
}
