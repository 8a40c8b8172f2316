/* Quotients and remainders of 32-bit numbers without sign by a divisor that lanes have in common:
 * products with m = ceil(2^64 / n), of which the upper 64 bits are the quotient.
 *
 * Why that is right: with e = m n - 2^64, which is below n, i m / 2^64 is i / n + i e / (n 2^64);
 * the second part is below 2^-32, and i / n is at least 1 / n below the next integer. For n = 1 m
 * would be 2^64: the quotient is i. A gang multiplies by the halves of m: i * high + (i * low >>
 * 32) is i m >> 32 without what it lacks, and fits in 64 bits.
 *
 * A lane that runs alone does so where n is known when lanes begin; a gang always, since there are
 * no vectors that divide: m costs one division instead of one for each lane. */
#include <stdio.h>

#include "backend/cpu/emit.h"

typedef struct reciprocal {
    cpu_value divisor; /* at least 1 */
    cpu_value m;       /* u64; of 1: 0 */
    cpu_value is_one;
} reciprocal;

/* Of a declaration's value or length, once, in the entry block. */
static reciprocal known_reciprocal(cpu_emit *e, const cpu_value *divisor) {
    const vyre_decl d = divisor->fixed - 1;
    reciprocal r = {
        .divisor = {.type = VYRE_U32}, .m = {.type = VYRE_U64}, .is_one = {.type = VYRE_BOOL}};
    if (!e->has_reciprocal[d]) {
        e->has_reciprocal[d] = true;
        cpu_head(e, "  %%divisor%u = call i32 @llvm.umax.i32(i32 %s, i32 1)", d, divisor->text);
        cpu_head(e, "  %%divisor_wide%u = zext i32 %%divisor%u to i64", d, d);
        cpu_head(e, "  %%below%u = udiv i64 -1, %%divisor_wide%u", d, d);
        cpu_head(e, "  %%reciprocal%u = add i64 %%below%u, %d", d, d, 1);
        cpu_head(e, "  %%by_one%u = icmp eq i32 %%divisor%u, 1", d, d);
    }
    (void)snprintf(r.divisor.text, sizeof r.divisor.text, "%%divisor%u", d);
    (void)snprintf(r.m.text, sizeof r.m.text, "%%reciprocal%u", d);
    (void)snprintf(r.is_one.text, sizeof r.is_one.text, "%%by_one%u", d);
    return r;
}

static reciprocal reciprocal_of(cpu_emit *e, const cpu_value *divisor) {
    if (divisor->fixed) {
        return known_reciprocal(e, divisor);
    }
    reciprocal r = {.divisor = cpu_new(e, VYRE_U32, CPU_ONE,
                                       "call i32 @llvm.umax.i32(i32 %s, i32 1)", divisor->text)};
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", r.divisor.text);
    cpu_value below = cpu_new(e, VYRE_U64, CPU_ONE, "udiv i64 -1, %s", wide.text);
    r.m = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %d", below.text, 1);
    r.is_one = cpu_compare(e, "eq", r.divisor, cpu_u32(1));
    return r;
}

/* The upper 64 bits of x m. */
static cpu_value upper_of_one(cpu_emit *e, cpu_value x, const reciprocal *r) {
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i128", x.text);
    cpu_value m = cpu_new(e, VYRE_U64, CPU_ONE, "zext i64 %s to i128", r->m.text);
    cpu_value product = cpu_new(e, VYRE_U64, CPU_ONE, "mul i128 %s, %s", wide.text, m.text);
    cpu_value high = cpu_new(e, VYRE_U64, CPU_ONE, "lshr i128 %s, 64", product.text);
    return cpu_new(e, VYRE_U32, CPU_ONE, "trunc i128 %s to i32", high.text);
}

static cpu_value upper_of_each(cpu_emit *e, cpu_value x, const reciprocal *r) {
    const cpu_value half = cpu_each(e, cpu_literal(VYRE_U64, 32));
    cpu_value low = cpu_new(e, VYRE_U64, CPU_ONE, "and i64 %s, 4294967295", r->m.text);
    cpu_value high = cpu_new(e, VYRE_U64, CPU_ONE, "lshr i64 %s, 32", r->m.text);
    cpu_value wide = cpu_new(e, VYRE_U64, CPU_EACH, "zext %s %s to %s", cpu_type_of(e, &x), x.text,
                             cpu_type(e, VYRE_U64, true));
    low = cpu_binary(e, "mul", VYRE_U64, wide, cpu_each(e, low));
    high = cpu_binary(e, "mul", VYRE_U64, wide, cpu_each(e, high));
    low = cpu_binary(e, "lshr", VYRE_U64, low, half);
    cpu_value sum = cpu_binary(e, "add", VYRE_U64, high, low);
    sum = cpu_binary(e, "lshr", VYRE_U64, sum, half);
    return cpu_new(e, VYRE_U32, CPU_EACH, "trunc %s %s to %s", cpu_type_of(e, &sum), sum.text,
                   cpu_type(e, VYRE_U32, true));
}

static bool applies(const cpu_emit *e, const cpu_value *x, const cpu_value *y) {
    const bool numbers = x->type == VYRE_U32 && y->type == VYRE_U32 && !y->known;
    const bool alone = e->width == 1 && y->fixed && !x->fixed && !x->known;
    const bool in_gangs = e->width > 1 && y->hold == CPU_ONE && x->hold != CPU_ONE;
    return numbers && (alone || in_gangs) && e->form != CPU_FORM_CONTROL && !e->probing;
}

bool cpu_divide_once(cpu_emit *e, cpu_value x, cpu_value y, bool remainder, cpu_value *out) {
    if (!applies(e, &x, &y)) {
        return false;
    }
    cpu_note(e, e->stmt, "division",
             e->width > 1 ? "by products because lanes have the divisor in common"
                          : "by a product where lanes run alone because the divisor is known "
                            "before they begin");
    const reciprocal r = reciprocal_of(e, &y);
    x = cpu_flat(e, x);
    cpu_value q = e->width > 1 ? upper_of_each(e, x, &r) : upper_of_one(e, x, &r);
    q = cpu_choose(e, r.is_one, x, q);
    if (remainder) { /* by 0 it is 0 */
        cpu_value divisor = x.hold == CPU_EACH ? cpu_each(e, r.divisor) : r.divisor;
        *out = cpu_binary(e, "sub", VYRE_U32, x, cpu_binary(e, "mul", VYRE_U32, q, divisor));
    } else {
        cpu_value by_zero = cpu_compare(e, "eq", y, cpu_u32(0)), most = cpu_u32(UINT32_MAX);
        *out = cpu_choose(e, by_zero, x.hold == CPU_EACH ? cpu_each(e, most) : most, q);
    }
    return true;
}
