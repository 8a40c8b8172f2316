/* Functions of forms over the integers. The symbol of a function has bounds that hold wherever its
 * operands are bound; at each evaluation it is narrowed by their bounds at that point, and the
 * inequalities that define it are noted unless they are on the stack already. */
#include "analysis/range_state.h"

range_value range_exact(range_state *s, const vyre_affine *form) {
    const uint32_t number = range_form(s, form);
    return (range_value){number, number};
}

/* The symbol of a function of two forms, or VYRE_NONE. */
static uint32_t function(range_state *s, vyre_symbol_kind kind, const vyre_affine *x,
                         const vyre_affine *y, range_interval anywhere, range_interval here) {
    const vyre_symbol like = {.kind = (uint8_t)kind,
                              .ref = VYRE_NONE,
                              .var = VYRE_NONE,
                              .expr = VYRE_NONE,
                              .operand = {range_form(s, x), range_form(s, y)},
                              .bound = VYRE_NONE,
                              .lo = anywhere.lo,
                              .hi = anywhere.hi};
    if (like.operand[0] == VYRE_NONE || like.operand[1] == VYRE_NONE) {
        return VYRE_NONE;
    }
    const uint32_t symbol = range_symbol(s, &like);
    if (symbol != VYRE_NONE) {
        range_narrow(s, symbol, here);
    }
    return symbol;
}

static range_value as_value(range_state *s, uint32_t symbol) {
    if (symbol == VYRE_NONE) {
        return range_unknown;
    }
    const vyre_affine form = vyre_affine_symbol(symbol);
    return range_exact(s, &form);
}

static int64_t at_least(int64_t x, int64_t y) {
    return x > y ? x : y;
}

static range_interval quotient_bounds(range_interval x, range_interval y) {
    const int64_t lo = y.hi == INT64_MAX ? 0 : at_least(x.lo, 0) / at_least(y.hi, 1);
    const int64_t hi = x.hi == INT64_MAX ? INT64_MAX : at_least(x.hi, 0) / at_least(y.lo, 1);
    return (range_interval){lo, hi};
}

range_value range_quotient(range_state *s, const vyre_affine *x, const vyre_affine *y) {
    if (y->count == 0 && y->constant == 1) {
        return range_exact(s, x);
    }
    if (x->count == 0 && y->count == 0) {
        const vyre_affine constant = vyre_affine_constant(x->constant / y->constant);
        return range_exact(s, &constant);
    }
    const uint32_t symbol =
        function(s, VYRE_SYMBOL_QUOTIENT, x, y,
                 quotient_bounds(range_bounds_anywhere(s, x), range_bounds_anywhere(s, y)),
                 quotient_bounds(range_bounds(s, x), range_bounds(s, y)));
    if (symbol != VYRE_NONE && !(s->now.data[symbol].noted & RANGE_NOTED_OWN)) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        vyre_affine scaled = one;
        if (y->count == 0 && vyre_affine_combine(&one, y->constant, &one, 0, &scaled)) {
            range_note_order(s, x, &scaled, y->constant - 1, symbol, RANGE_NOTED_OWN);
        }
        range_note_order(s, &scaled, x, 0, symbol, RANGE_NOTED_OWN);
    }
    return as_value(s, symbol);
}

static range_interval remainder_bounds(range_interval x, range_interval y) {
    const int64_t below = y.hi == INT64_MAX ? INT64_MAX : at_least(y.hi - 1, 0);
    return (range_interval){0, at_least(x.hi < below ? x.hi : below, 0)};
}

range_value range_remainder(range_state *s, const vyre_affine *x, const vyre_affine *y) {
    if (range_prove_order(s, x, y, -1)) {
        return range_exact(s, x);
    }
    if (x->count == 0 && y->count == 0) {
        const vyre_affine constant = vyre_affine_constant(x->constant % y->constant);
        return range_exact(s, &constant);
    }
    const uint32_t symbol =
        function(s, VYRE_SYMBOL_REMAINDER, x, y,
                 remainder_bounds(range_bounds_anywhere(s, x), range_bounds_anywhere(s, y)),
                 remainder_bounds(range_bounds(s, x), range_bounds(s, y)));
    if (symbol != VYRE_NONE && !(s->now.data[symbol].noted & RANGE_NOTED_OWN)) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        range_note_order(s, &one, x, 0, symbol, RANGE_NOTED_OWN);
        range_note_order(s, &one, y, -1, symbol, RANGE_NOTED_OWN);
    }
    return as_value(s, symbol);
}

static range_interval least_bounds(range_interval x, range_interval y, bool greatest) {
    const bool low = (x.lo < y.lo) != greatest, high = (x.hi < y.hi) != greatest;
    return (range_interval){low ? x.lo : y.lo, high ? x.hi : y.hi};
}

range_value range_least(range_state *s, const vyre_affine *x, const vyre_affine *y, bool greatest) {
    if (range_prove_order(s, x, y, 0)) {
        return range_exact(s, greatest ? y : x);
    }
    if (range_prove_order(s, y, x, 0)) {
        return range_exact(s, greatest ? x : y);
    }
    const bool swap = range_form(s, y) < range_form(s, x);
    const vyre_affine *first = swap ? y : x, *second = swap ? x : y;
    const uint32_t symbol =
        function(s, greatest ? VYRE_SYMBOL_MAX : VYRE_SYMBOL_MIN, first, second,
                 least_bounds(range_bounds_anywhere(s, x), range_bounds_anywhere(s, y), greatest),
                 least_bounds(range_bounds(s, x), range_bounds(s, y), greatest));
    if (symbol != VYRE_NONE && !(s->now.data[symbol].noted & RANGE_NOTED_OWN)) {
        const vyre_affine one = vyre_affine_symbol(symbol);
        range_note_order(s, greatest ? x : &one, greatest ? &one : x, 0, symbol, RANGE_NOTED_OWN);
        range_note_order(s, greatest ? y : &one, greatest ? &one : y, 0, symbol, RANGE_NOTED_OWN);
    }
    return as_value(s, symbol);
}
