/* Can two indices, computed by different lanes, be equal?
 *
 * x and y are equal if their difference is 0 modulo 2^32. A term that has one value for all who
 * share the memory is taken away from both, with the factor that is left; any other counts once for
 * each side. What is then left is d + sum of factor * term + rest. Two arguments:
 *
 *   - Modulo 2^k. Terms whose factor is a multiple of 2^k vanish; the others, and the rest, lie
 *     between bounds. If no multiple of 2^k lies between those of the sum, it is not 0. With k = 32
 *     nothing vanishes: constants, `s + 1`, `s * 3 + e` against `(s + 1) * 3 + f` with e, f < 3,
 *     and ranges that do not overlap. With a smaller k: `s` against `c - s` with an odd c.
 *   - Terms that differ. factor * (t - u) + rest, where t and u can't be equal: it is not 0 if the
 *     rest is 0 and the factor odd, or if the rest is smaller than the factor and nothing reaches
 *     2^32. t and u can't be equal if
 *       (a + c) & m, (a + d) & m:  a + c and a + d differ modulo 2^k, where m ends in k ones;
 *       a ^ c, a ^ d:              c and d differ, also under a mask, in the bits that it keeps;
 *       (a + c) % m, (a + d) % m:  c - d is no multiple of m, for the sums do not wrap
 *                                  (shape_index.c makes no such term of others); a below m is
 *                                  a % m. */
#include "analysis/affine.h"
#include "analysis/shape_graph.h"

static const vyre_wide past = (vyre_wide)1 << 32;

/* Of a difference: those of x, and those of y taken away. */
typedef struct piece {
    uint32_t term, factor;
    bool of_x;
} piece;

typedef struct difference {
    const vyre_shapes *s;
    vyre_shape_kind scope;
    bool cautious;
    bool rests; /* on versions that keep their values */
    bool whole; /* nothing is taken away: every term counts for each side */
    uint32_t constant;
    vyre_wide lo, hi; /* of the rest */
    piece pieces[2 * SHAPE_FORM_TERMS];
    uint32_t count;
} difference;

static bool is_uniform_id(uint32_t builtin, vyre_shape_kind scope) {
    switch ((vyre_builtin)builtin) {
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GLOBAL_SIZE: return true;
    case VYRE_BUILTIN_GROUP_ID: return scope == VYRE_SHAPE_GROUP;
    case VYRE_BUILTIN_GROUP_SIZE:
    case VYRE_BUILTIN_LOCAL_ID:
    case VYRE_BUILTIN_GLOBAL_ID:
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_SUBGROUP_SIZE:
    case VYRE_BUILTIN_COUNT: break;
    }
    return false;
}

/* Whether all who share the memory have one value of the term. Terms nest a few deep. */
static bool is_uniform(const difference *d, uint32_t term) {
    const shape_term *t = &d->s->terms.data[term];
    switch ((shape_term_kind)t->kind) {
    case SHAPE_TERM_NODE:
        return !d->cautious && d->s->nodes.data[t->ref].shape <= (uint8_t)d->scope;
    case SHAPE_TERM_PARAM:
    case SHAPE_TERM_LEN: return true;
    case SHAPE_TERM_BUILTIN: return is_uniform_id(t->ref, d->scope);
    case SHAPE_TERM_XOR:
    case SHAPE_TERM_AND:
    case SHAPE_TERM_REM: break;
    }
    for (uint32_t i = 0; i < t->of.count; i++) {
        if (!is_uniform(d, t->of.terms[i])) {
            return false;
        }
    }
    return true;
}

static void add_piece(difference *d, uint32_t term, uint32_t factor, bool of_x) {
    if (factor != 0) {
        d->pieces[d->count++] = (piece){term, factor, of_x};
    }
}

static void subtract(difference *d, const shape_form *x, const shape_form *y) {
    uint32_t i = 0, j = 0;
    d->constant = x->constant - y->constant;
    d->lo = (vyre_wide)x->lo - y->hi;
    d->hi = (vyre_wide)x->hi - y->lo;
    d->count = 0;
    while (i < x->count || j < y->count) {
        const bool first = j == y->count || (i < x->count && x->terms[i] <= y->terms[j]);
        const bool second = i == x->count || (j < y->count && y->terms[j] <= x->terms[i]);
        const uint32_t term = first ? x->terms[i] : y->terms[j];
        const uint32_t plus = first ? x->factors[i] : 0, minus = second ? y->factors[j] : 0;
        if (first && second && !d->whole && is_uniform(d, term)) {
            d->rests |= d->s->terms.data[term].has_nodes != 0;
            add_piece(d, term, plus - minus, true);
        } else {
            add_piece(d, term, plus, true);
            add_piece(d, term, 0u - minus, false);
        }
        i += first;
        j += second;
    }
}

static void widen(vyre_wide *lo, vyre_wide *hi, int64_t by, shape_bounds b) {
    *lo += (vyre_wide)(by < 0 ? b.hi : b.lo) * by;
    *hi += (vyre_wide)(by < 0 ? b.lo : b.hi) * by;
}

/* Whether it is not 0 modulo 2^bits; terms that vanish there are left out. */
static bool not_zero_modulo(const difference *d, uint32_t bits) {
    const vyre_wide modulus = (vyre_wide)1 << bits;
    vyre_wide lo = d->lo + (int32_t)d->constant, hi = d->hi + (int32_t)d->constant;
    for (uint32_t i = 0; i < d->count; i++) {
        const int64_t by = (int32_t)d->pieces[i].factor;
        if (by % (int64_t)modulus != 0) {
            widen(&lo, &hi, by, vyre_shapes_term_bounds(d->s, d->pieces[i].term));
        }
    }
    /* The greatest multiple that is not above hi. */
    const vyre_wide most = hi >= 0 ? hi / modulus : -((-hi + modulus - 1) / modulus);
    return most * modulus < lo;
}

/* Whether it is not 0 modulo 2^bits, for any argument of that kind. */
static bool not_zero(const difference *d, uint32_t bits) {
    if (not_zero_modulo(d, bits)) {
        return true;
    }
    for (uint32_t i = 0; i < d->count; i++) {
        const uint32_t zeros = (uint32_t)__builtin_ctz(d->pieces[i].factor);
        if (zeros > 0 && zeros < bits && not_zero_modulo(d, zeros)) {
            return true;
        }
    }
    return false;
}

static shape_form alone(uint32_t term) {
    return (shape_form){.factors = {1}, .terms = {term}, .count = 1};
}

/* A term as (of ^ flips), of which `bits` low bits are known to count. */
typedef struct masked {
    shape_form of;
    uint32_t flips, bits;
} masked;

static masked mask_of(const vyre_shapes *s, uint32_t term) {
    masked m = {.of = alone(term), .bits = 32};
    const shape_term *t = &s->terms.data[term];
    if (t->kind == SHAPE_TERM_AND) {
        m.of = t->of;
        m.bits = t->number == UINT32_MAX ? 32 : (uint32_t)__builtin_ctz(~t->number);
        const bool alone = m.of.count == 1 && m.of.factors[0] == 1 && m.of.constant == 0;
        t = &s->terms.data[m.of.terms[0]];
        if (!alone) {
            return m;
        }
    }
    if (t->kind == SHAPE_TERM_XOR) {
        m.of = t->of;
        m.flips = t->number;
    }
    return m;
}

/* What the term is the remainder of: what it is made of, or, if it is less than m, itself. */
static bool remainder_of(const difference *d, uint32_t term, uint32_t m, shape_form *out) {
    const shape_term *t = &d->s->terms.data[term];
    const shape_bounds b = vyre_shapes_term_bounds(d->s, term);
    *out = alone(term);
    if (t->kind == SHAPE_TERM_REM && t->number == m) {
        *out = t->of;
        return true;
    }
    return b.lo >= 0 && b.hi < (int64_t)m;
}

static bool remainders_differ(difference *d, uint32_t x, uint32_t y, uint32_t m) {
    shape_form a, b;
    if (!remainder_of(d, x, m, &a) || !remainder_of(d, y, m, &b)) {
        return false;
    }
    const int64_t apart = (int64_t)(int32_t)a.constant - (int32_t)b.constant;
    subtract(d, &a, &b);
    return d->count == 0 && apart % (int64_t)m != 0;
}

static bool masks_differ(difference *d, const masked *a, const masked *b) {
    const uint32_t bits = a->bits < b->bits ? a->bits : b->bits;
    subtract(d, &a->of, &b->of);
    if (bits == 0) {
        return false;
    }
    if (a->flips == b->flips && a->flips == 0) {
        return not_zero(d, bits);
    }
    const uint32_t kept = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    const uint32_t flipped = a->flips ^ b->flips;
    return d->count == 0 &&
           ((d->constant == 0 && (flipped & kept) != 0) || ((flipped ^ d->constant) & 1) != 0);
}

static bool terms_differ(difference *d, uint32_t x, uint32_t y) {
    const shape_term *t = &d->s->terms.data[x], *u = &d->s->terms.data[y];
    if (t->kind == SHAPE_TERM_REM || u->kind == SHAPE_TERM_REM) {
        return remainders_differ(d, x, y, t->kind == SHAPE_TERM_REM ? t->number : u->number);
    }
    const masked a = mask_of(d->s, x), b = mask_of(d->s, y);
    return masks_differ(d, &a, &b) || masks_differ(d, &(masked){.of = alone(x), .bits = 32}, &b) ||
           masks_differ(d, &a, &(masked){.of = alone(y), .bits = 32});
}

/* factor * (t - u) + rest, of the pieces at x and y; all others are the rest. */
static bool product_differs(difference *d, uint32_t x, uint32_t y) {
    vyre_wide lo = d->lo + (int32_t)d->constant, hi = d->hi + (int32_t)d->constant;
    for (uint32_t i = 0; i < d->count; i++) {
        if (i != x && i != y) {
            widen(&lo, &hi, (int32_t)d->pieces[i].factor,
                  vyre_shapes_term_bounds(d->s, d->pieces[i].term));
        }
    }
    const uint32_t t = d->pieces[x].term, u = d->pieces[y].term, factor = d->pieces[x].factor;
    const vyre_wide rest = -lo > hi ? -lo : hi;
    const vyre_wide by = (int32_t)factor < 0 ? -(vyre_wide)(int32_t)factor : factor;
    const shape_bounds a = vyre_shapes_term_bounds(d->s, t), b = vyre_shapes_term_bounds(d->s, u);
    const vyre_wide least = a.lo < b.lo ? a.lo : b.lo, most = a.hi > b.hi ? a.hi : b.hi;
    const bool odd = (factor & 1) != 0 && lo == 0 && hi == 0;
    const bool wide = rest < by && by * (most - least) + rest < past;
    difference inner = *d;
    if ((!odd && !wide) || !terms_differ(&inner, t, u)) {
        return false;
    }
    d->rests = inner.rests;
    return true;
}

static bool products_differ(difference *d) {
    for (uint32_t x = 0; x < d->count; x++) {
        for (uint32_t y = 0; y < d->count; y++) {
            if (d->pieces[x].of_x && !d->pieces[y].of_x &&
                d->pieces[x].factor + d->pieces[y].factor == 0 && product_differs(d, x, y)) {
                return true;
            }
        }
    }
    return false;
}

shape_apart vyre_shapes_apart(const vyre_shapes *s, const shape_form *x, const shape_form *y,
                              vyre_shape_kind scope, bool cautious) {
    difference d = {.s = s, .scope = scope, .cautious = cautious, .whole = true};
    subtract(&d, x, y);
    if (not_zero(&d, 32)) {
        return SHAPE_APART;
    }
    d.whole = false;
    subtract(&d, x, y);
    if (!not_zero(&d, 32) && !products_differ(&d)) {
        return SHAPE_MAY_MEET;
    }
    return d.rests ? SHAPE_APART_WHILE : SHAPE_APART;
}
