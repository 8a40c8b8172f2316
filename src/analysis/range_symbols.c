/* Forms and symbols, each made once, and the bounds of forms by those of their symbols.
 *
 * A sum of bounds is exact in 128 bits; where a symbol is unbounded, so is the sum. A product of
 * two symbols is bounded by its own bounds and by those of its factors, which may be narrower here.
 */
#include <string.h>

#include "analysis/range_state.h"

/* Beyond so many, programs just know less. */
enum { MOST_SYMBOLS = 1 << 22, MOST_FORMS = 1 << 23 };

range_interval range_of_type(vyre_type type) {
    switch ((uint32_t)type) {
    case VYRE_BOOL: return (range_interval){0, 1};
    case VYRE_U8: return (range_interval){0, UINT8_MAX};
    case VYRE_I8: return (range_interval){INT8_MIN, INT8_MAX};
    case VYRE_U16: return (range_interval){0, UINT16_MAX};
    case VYRE_I16: return (range_interval){INT16_MIN, INT16_MAX};
    case VYRE_U32: return (range_interval){0, UINT32_MAX};
    case VYRE_I32: return (range_interval){INT32_MIN, INT32_MAX};
    case VYRE_U64: return (range_interval){0, INT64_MAX};
    default: return range_everything;
    }
}

uint32_t range_form(range_state *s, const vyre_affine *form) {
    if (s->failed) {
        return VYRE_NONE;
    }
    char key[sizeof(vyre_affine)];
    const size_t factors = form->count * sizeof *form->factors;
    const size_t symbols = form->count * sizeof *form->symbols;
    vyre_ranges *r = s->r;
    memcpy(key, &form->constant, sizeof form->constant);
    memcpy(key + sizeof form->constant, form->factors, factors);
    memcpy(key + sizeof form->constant + factors, form->symbols, symbols);
    const size_t length = sizeof form->constant + factors + symbols;
    const uint32_t known = vyre_intern_find(&r->form_keys, key, length);
    if (known != VYRE_INTERN_NONE) {
        return known;
    }
    if (r->forms.count >= MOST_FORMS) {
        return VYRE_NONE;
    }
    const uint32_t number = vyre_intern_add(&r->form_keys, key, length);
    if (number == VYRE_INTERN_NONE || !vyre_vec_push(s->a, &r->forms, *form)) {
        s->failed = true;
        return VYRE_NONE;
    }
    return number;
}

enum { KEY_WORDS = 5 };

static void symbol_key(const vyre_symbol *like, uint32_t key[KEY_WORDS]) {
    key[0] = like->kind | (uint32_t)like->sub << 8 | (uint32_t)like->axis << 16;
    key[1] = like->ref;
    key[2] = like->var;
    key[3] = like->operand[0];
    key[4] = like->operand[1];
}

uint32_t range_symbol_find(const vyre_ranges *r, const vyre_symbol *like) {
    uint32_t key[KEY_WORDS];
    symbol_key(like, key);
    return vyre_intern_find(&r->symbol_keys, (const char *)key, sizeof key);
}

/* It depends on what the other depends on. */
static void depend(vyre_symbol *symbol, const vyre_symbol *on) {
    symbol->lanes |= on->lanes;
    if (on->bound != VYRE_NONE && (symbol->bound == VYRE_NONE || symbol->bound < on->bound)) {
        symbol->bound = on->bound;
    }
}

static void depend_on_operands(const vyre_ranges *r, vyre_symbol *symbol) {
    for (uint32_t i = 0; i < 2; i++) {
        if (symbol->operand[i] == VYRE_NONE) {
            continue;
        }
        if (symbol->kind == VYRE_SYMBOL_PRODUCT) {
            depend(symbol, &r->symbols.data[symbol->operand[i]]);
            continue;
        }
        const vyre_affine *form = &r->forms.data[symbol->operand[i]];
        for (uint32_t k = 0; k < form->count; k++) {
            depend(symbol, &r->symbols.data[form->symbols[k]]);
        }
    }
}

uint32_t range_symbol(range_state *s, const vyre_symbol *like) {
    vyre_ranges *r = s->r;
    uint32_t number = s->failed ? VYRE_NONE : range_symbol_find(r, like);
    if (s->failed || number != VYRE_NONE || r->symbols.count >= MOST_SYMBOLS) {
        return number;
    }
    uint32_t key[KEY_WORDS];
    vyre_symbol symbol = *like;
    symbol_key(like, key);
    depend_on_operands(r, &symbol);
    const range_now now = {.bounds = {like->lo, like->hi}, .fact = VYRE_NONE};
    number = vyre_intern_add(&r->symbol_keys, (const char *)key, sizeof key);
    if (number == VYRE_INTERN_NONE || !vyre_vec_push(s->a, &r->symbols, symbol) ||
        !vyre_vec_push(s->a, &s->now, now)) {
        s->failed = true;
        return VYRE_NONE;
    }
    return number;
}

uint8_t range_lanes(const vyre_ranges *r, const vyre_affine *form) {
    uint8_t lanes = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        lanes |= r->symbols.data[form->symbols[i]].lanes;
    }
    return lanes;
}

/* Bounds */

static bool is_bounded(range_interval x) {
    return x.lo != INT64_MIN && x.hi != INT64_MAX;
}

static int64_t saturated(vyre_wide value) {
    return value <= INT64_MIN ? INT64_MIN : value >= INT64_MAX ? INT64_MAX : (int64_t)value;
}

range_interval range_times(range_interval x, range_interval y) {
    if (x.lo >= 0 && y.lo >= 0 && !(is_bounded(x) && is_bounded(y))) {
        return (range_interval){saturated((vyre_wide)x.lo * y.lo), INT64_MAX};
    }
    if (!is_bounded(x) || !is_bounded(y)) {
        return range_everything;
    }
    const vyre_wide ends[4] = {(vyre_wide)x.lo * y.lo, (vyre_wide)x.lo * y.hi,
                               (vyre_wide)x.hi * y.lo, (vyre_wide)x.hi * y.hi};
    vyre_wide lo = ends[0], hi = ends[0];
    for (uint32_t i = 1; i < 4; i++) {
        lo = ends[i] < lo ? ends[i] : lo;
        hi = ends[i] > hi ? ends[i] : hi;
    }
    return (range_interval){saturated(lo), saturated(hi)};
}

range_interval range_symbol_bounds(const range_state *s, uint32_t symbol) {
    range_interval own = s->now.data[symbol].bounds;
    const vyre_symbol *node = &s->r->symbols.data[symbol];
    if (node->kind == VYRE_SYMBOL_PRODUCT) {
        const range_interval product =
            range_times(s->now.data[node->operand[0]].bounds, s->now.data[node->operand[1]].bounds);
        own.lo = product.lo > own.lo ? product.lo : own.lo;
        own.hi = product.hi < own.hi ? product.hi : own.hi;
    }
    return own;
}

static range_interval sum(const range_state *s, const vyre_affine *form, bool anywhere) {
    vyre_wide lo = form->constant, hi = form->constant;
    bool has_lo = true, has_hi = true;
    for (uint32_t i = 0; i < form->count; i++) {
        const vyre_symbol *symbol = &s->r->symbols.data[form->symbols[i]];
        const range_interval x = anywhere ? (range_interval){symbol->lo, symbol->hi}
                                          : range_symbol_bounds(s, form->symbols[i]);
        const int64_t factor = form->factors[i];
        const int64_t least = factor > 0 ? x.lo : x.hi, greatest = factor > 0 ? x.hi : x.lo;
        has_lo &= least != INT64_MIN && least != INT64_MAX;
        has_hi &= greatest != INT64_MIN && greatest != INT64_MAX;
        lo += (vyre_wide)factor * least;
        hi += (vyre_wide)factor * greatest;
    }
    return (range_interval){has_lo ? saturated(lo) : INT64_MIN, has_hi ? saturated(hi) : INT64_MAX};
}

range_interval range_bounds(const range_state *s, const vyre_affine *form) {
    return sum(s, form, false);
}

range_interval range_bounds_anywhere(const range_state *s, const vyre_affine *form) {
    return sum(s, form, true);
}

/* Products */

static uint32_t product_of(range_state *s, uint32_t x, uint32_t y) {
    const vyre_symbol *a = &s->r->symbols.data[x], *b = &s->r->symbols.data[y];
    if (a->kind == VYRE_SYMBOL_PRODUCT || b->kind == VYRE_SYMBOL_PRODUCT) {
        return VYRE_NONE;
    }
    const range_interval bounds =
        range_times((range_interval){a->lo, a->hi}, (range_interval){b->lo, b->hi});
    return range_symbol(s, &(vyre_symbol){.kind = VYRE_SYMBOL_PRODUCT,
                                          .ref = VYRE_NONE,
                                          .var = VYRE_NONE,
                                          .expr = VYRE_NONE,
                                          .operand = {x < y ? x : y, x < y ? y : x},
                                          .bound = VYRE_NONE,
                                          .lo = bounds.lo,
                                          .hi = bounds.hi});
}

bool range_multiply(range_state *s, const vyre_affine *x, const vyre_affine *y, vyre_affine *out) {
    vyre_affine total = {.count = 0};
    /* constant * y, then each symbol of x times y */
    if (!vyre_affine_combine(y, x->constant, &total, 1, &total)) {
        return false;
    }
    for (uint32_t i = 0; i < x->count; i++) {
        vyre_affine one = vyre_affine_symbol(x->symbols[i]);
        vyre_wide factor = (vyre_wide)x->factors[i] * y->constant;
        if (factor != (int64_t)factor ||
            !vyre_affine_combine(&total, 1, &one, (int64_t)factor, &total)) {
            return false;
        }
        for (uint32_t k = 0; k < y->count; k++) {
            const uint32_t product = product_of(s, x->symbols[i], y->symbols[k]);
            factor = (vyre_wide)x->factors[i] * y->factors[k];
            if (product == VYRE_NONE || factor != (int64_t)factor) {
                return false;
            }
            one = vyre_affine_symbol(product);
            if (!vyre_affine_combine(&total, 1, &one, (int64_t)factor, &total)) {
                return false;
            }
        }
    }
    *out = total;
    return true;
}
