/* Affine forms: merging of sorted terms, in 128 bits, checked against the limits at the end. */
#include "analysis/affine.h"

#include <string.h>

/* Factors below 2^48 times bounds below 2^63, a handful of them, stay below 2^127. */
static const int64_t most_factor = (int64_t)1 << 48;
static const int64_t most_constant = (int64_t)1 << 60;

vyre_affine vyre_affine_constant(int64_t value) {
    return (vyre_affine){.constant = value};
}

vyre_affine vyre_affine_symbol(uint32_t symbol) {
    return (vyre_affine){.factors = {1}, .symbols = {symbol}, .count = 1};
}

static bool fits(vyre_wide value, int64_t most) {
    return value <= most && value >= -(vyre_wide)most;
}

static bool append(vyre_affine *to, uint32_t symbol, vyre_wide factor) {
    if (factor == 0) {
        return true;
    }
    if (to->count == VYRE_AFFINE_TERMS || !fits(factor, most_factor)) {
        return false;
    }
    to->symbols[to->count] = symbol;
    to->factors[to->count++] = (int64_t)factor;
    return true;
}

bool vyre_affine_combine(const vyre_affine *x, int64_t a, const vyre_affine *y, int64_t b,
                         vyre_affine *out) {
    const vyre_wide constant = (vyre_wide)x->constant * a + (vyre_wide)y->constant * b;
    vyre_affine sum = {.count = 0};
    uint32_t i = 0, j = 0;
    if (!fits(a, most_factor) || !fits(b, most_factor) || !fits(constant, most_constant)) {
        return false;
    }
    sum.constant = (int64_t)constant;
    while (i < x->count || j < y->count) {
        const bool first = j == y->count || (i < x->count && x->symbols[i] <= y->symbols[j]);
        const bool second = i == x->count || (j < y->count && y->symbols[j] <= x->symbols[i]);
        const uint32_t symbol = first ? x->symbols[i] : y->symbols[j];
        const vyre_wide factor = (first ? (vyre_wide)x->factors[i] * a : 0) +
                                 (second ? (vyre_wide)y->factors[j] * b : 0);
        if (!append(&sum, symbol, factor)) {
            return false;
        }
        i += first;
        j += second;
    }
    *out = sum;
    return true;
}

bool vyre_affine_shift(const vyre_affine *x, int64_t more, vyre_affine *out) {
    const vyre_affine constant = vyre_affine_constant(more);
    return vyre_affine_combine(x, 1, &constant, 1, out);
}

int64_t vyre_affine_factor(const vyre_affine *x, uint32_t symbol) {
    for (uint32_t i = 0; i < x->count; i++) {
        if (x->symbols[i] == symbol) {
            return x->factors[i];
        }
    }
    return 0;
}

bool vyre_affine_equal(const vyre_affine *x, const vyre_affine *y) {
    return x->constant == y->constant && x->count == y->count &&
           memcmp(x->symbols, y->symbols, x->count * sizeof *x->symbols) == 0 &&
           memcmp(x->factors, y->factors, x->count * sizeof *x->factors) == 0;
}

vyre_affine vyre_affine_without(const vyre_affine *x, uint32_t term) {
    vyre_affine rest = {.constant = x->constant};
    for (uint32_t i = 0; i < x->count; i++) {
        if (i != term) {
            (void)append(&rest, x->symbols[i], x->factors[i]);
        }
    }
    return rest;
}

void vyre_affine_tighten(vyre_affine *x) {
    int64_t common = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        int64_t a = x->factors[i] < 0 ? -x->factors[i] : x->factors[i];
        while (a != 0) {
            const int64_t rest = common % a;
            common = a;
            a = rest;
        }
    }
    if (common < 2) {
        return;
    }
    for (uint32_t i = 0; i < x->count; i++) {
        x->factors[i] /= common;
    }
    /* The sum is an integer: it is at most floor(-constant / common). */
    const int64_t quotient = x->constant / common;
    x->constant = quotient + (x->constant % common > 0);
}

void vyre_affine_reduce(vyre_affine *x) {
    vyre_affine least = {.constant = (int32_t)(uint32_t)x->constant};
    for (uint32_t i = 0; i < x->count; i++) {
        (void)append(&least, x->symbols[i], (int32_t)(uint32_t)x->factors[i]);
    }
    *x = least;
}
