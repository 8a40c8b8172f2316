/* Measures the elementary functions against MPFR: the largest error of each in units of the last
 * place, and where. An error is |result - exact| divided by the spacing of the type at the exact
 * value (that of the subnormals below the smallest normal number); infinity counts as the power of
 * two behind the largest number on both sides; a NaN where a number belongs, the converse, or a
 * zero with the wrong sign is an infinite error.
 *
 *   vyre_ulp [--random N] [--seed N] [FUNCTION...]   N random arguments, half of them spread over
 *                                                    all exponents, half near 1, and the arguments
 *                                                    known to be hard
 *   vyre_ulp --exhaustive FUNCTION...                all 2^32 arguments of functions of one f32
 *
 * A FUNCTION is a name as in the language, `exp` of f32 or `exp_f64`. MPFR is slow, so libm in the
 * next wider type sieves: doubles are good to 2^-28 of the units of f32, 64 digits to 2^-8 of those
 * of f64. An argument at which it shows an error that is SLACK below both the limit and the largest
 * so far can be neither a failure nor the largest, and is only counted; MPFR judges all others. It
 * judges one in SPOT of the sieved ones too, and a sieve that was off by more than SLACK there is a
 * failure as well. Negative arguments of odd and even functions are, in the exhaustive walk,
 * compared bit by bit with the positive ones. Exits with 1 if an error is above the limit. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ref/elementary.h"

#define PRECISION    160
#define SHOWN        10   /* failures printed per function */
#define SLACK        0.01 /* ULP: more than the errors of the sieve */
#define SPOT         1024 /* one in so many sieved arguments is judged by MPFR as well */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct format {
    double limit;               /* ULP */
    int digits;                 /* of the mantissa */
    int exponents;              /* bits of the exponent */
    mpfr_exp_t lowest, highest; /* exponents of the smallest normal and the largest number, as
                                   MPFR counts */
} format;

static const format f32 = {4.0, 24, 8, -125, 128}, f64 = {2.0, 53, 11, -1021, 1024};

typedef enum symmetry { NO_SYMMETRY, ODD, EVEN } symmetry;

/* Arguments and results are doubles, which hold every f32. */
typedef struct function {
    const char *name;
    const format *type;
    double (*f)(double);
    long double (*sieve)(double); /* NULL if no type is wide enough */
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    symmetry symmetry;
    bool trigonometric;
} function;

typedef struct function_of_two {
    const char *name;
    const format *type;
    double (*f)(double, double);
    long double (*sieve)(double, double);
    int (*exact)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
} function_of_two;

typedef struct tally {
    const char *name;
    const format *type;
    uint64_t count, failures, sieved;
    double worst;
    double x, y; /* where; y only for functions of two */
} tally;

#define DEFINE_UNARY(name)                                                                         \
    static double name##_f32(double x) {                                                           \
        return (double)vyre_ref_##name((float)x);                                                  \
    }
VYRE_ELEMENTARY_UNARY(DEFINE_UNARY)
#define DEFINE_BINARY(name)                                                                        \
    static double name##_f32(double x, double y) {                                                 \
        return (double)vyre_ref_##name((float)x, (float)y);                                        \
    }
VYRE_ELEMENTARY_BINARY(DEFINE_BINARY)

/* The sieves of one function: libm in double for f32, in long double for f64. */
#define DEFINE_SIEVE(name, narrow, wide)                                                           \
    static long double sieve_##name(double x) {                                                    \
        return (long double)(narrow);                                                              \
    }                                                                                              \
    static long double sieve_##name##_f64(double x) {                                              \
        return wide;                                                                               \
    }
#define DEFINE_LIBM_SIEVE(name) DEFINE_SIEVE(name, name(x), name##l((long double)x))
DEFINE_LIBM_SIEVE(exp)
DEFINE_LIBM_SIEVE(exp2)
DEFINE_LIBM_SIEVE(log)
DEFINE_LIBM_SIEVE(log2)
DEFINE_LIBM_SIEVE(sin)
DEFINE_LIBM_SIEVE(cos)
DEFINE_LIBM_SIEVE(tan)
DEFINE_LIBM_SIEVE(asin)
DEFINE_LIBM_SIEVE(acos)
DEFINE_LIBM_SIEVE(atan)
DEFINE_LIBM_SIEVE(sinh)
DEFINE_LIBM_SIEVE(cosh)
DEFINE_LIBM_SIEVE(tanh)
DEFINE_SIEVE(inverse_sqrt, 1.0 / sqrt(x), 1.0L / sqrtl((long double)x))

#define DEFINE_SIEVE_OF_TWO(name)                                                                  \
    static long double sieve_##name(double x, double y) {                                          \
        return (long double)name(x, y);                                                            \
    }                                                                                              \
    static long double sieve_##name##_f64(double x, double y) {                                    \
        return name##l((long double)x, (long double)y);                                            \
    }
DEFINE_SIEVE_OF_TWO(pow)
DEFINE_SIEVE_OF_TWO(atan2)

#define WIDE_ENOUGH (LDBL_MANT_DIG >= 64)

/* Unlike mpfr_rec_sqrt, -infinity for -0, as 1 / sqrt(-0) is. */
static int exact_inverse_sqrt(mpfr_t out, const mpfr_t x, mpfr_rnd_t round) {
    mpfr_sqrt(out, x, round);
    return mpfr_ui_div(out, 1, out, round);
}

#define BOTH(name, exact, ...)                                                                     \
    {#name, &f32, name##_f32, sieve_##name, exact, __VA_ARGS__}, {                                 \
#        name "_f64", &f64, vyre_ref_##name##_f64, WIDE_ENOUGH ? sieve_##name##_f64 : NULL, exact, \
            __VA_ARGS__                                                                            \
    }

static const function functions[] = {
    BOTH(exp, mpfr_exp, NO_SYMMETRY, false),
    BOTH(exp2, mpfr_exp2, NO_SYMMETRY, false),
    BOTH(log, mpfr_log, NO_SYMMETRY, false),
    BOTH(log2, mpfr_log2, NO_SYMMETRY, false),
    BOTH(sin, mpfr_sin, ODD, true),
    BOTH(cos, mpfr_cos, EVEN, true),
    BOTH(tan, mpfr_tan, ODD, true),
    BOTH(asin, mpfr_asin, ODD, false),
    BOTH(acos, mpfr_acos, NO_SYMMETRY, false),
    BOTH(atan, mpfr_atan, ODD, false),
    BOTH(sinh, mpfr_sinh, ODD, false),
    BOTH(cosh, mpfr_cosh, EVEN, false),
    BOTH(tanh, mpfr_tanh, ODD, false),
    BOTH(inverse_sqrt, exact_inverse_sqrt, NO_SYMMETRY, false),
};

#define BOTH_OF_TWO(name, exact)                                                                   \
    {#name, &f32, name##_f32, sieve_##name, exact}, {                                              \
#        name "_f64", &f64, vyre_ref_##name##_f64, WIDE_ENOUGH ? sieve_##name##_f64 : NULL, exact  \
    }

static const function_of_two functions_of_two[] = {
    BOTH_OF_TWO(pow, mpfr_pow),
    BOTH_OF_TWO(atan2, mpfr_atan2),
};

static mpfr_t exact, argument, argument_y, distance;

/* A number of the format by its bits, and back. */
static double from_bits(const format *type, uint64_t u) {
    uint32_t word = (uint32_t)u;
    double d;
    float f;
    memcpy(&d, &u, sizeof d);
    memcpy(&f, &word, sizeof f);
    return type == &f32 ? (double)f : d;
}

static uint64_t to_bits(const format *type, double d) {
    float f = (float)d;
    uint32_t word;
    uint64_t u;
    memcpy(&word, &f, sizeof word);
    memcpy(&u, &d, sizeof u);
    return type == &f32 ? word : u;
}

static double rounded(const format *type, double d) {
    return type == &f32 ? (double)(float)d : d;
}

static int width(const format *type) {
    return type->digits + type->exponents;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_between(uint64_t *state, double low, double high) {
    return low + (high - low) * ((double)(next_random(state) >> 11) * 0x1p-53);
}

/* Any bits. */
static double random_any(const format *type, uint64_t *state) {
    return from_bits(type, next_random(state) >> (64 - width(type)));
}

/* 2^-10 to 2^10, both signs: where most of the curves are. */
static double random_near(const format *type, uint64_t *state) {
    double x = ldexp(random_between(state, 1.0, 2.0), (int)(next_random(state) % 20) - 10);
    return rounded(type, next_random(state) & 1 ? x : -x);
}

/* The error of a result against `exact`, which it may change. */
static double error_of(const format *type, double result) {
    if (mpfr_nan_p(exact) || isnan(result)) {
        return mpfr_nan_p(exact) && isnan(result) ? 0.0 : INFINITY;
    }
    if (result == 0.0 && !signbit(result) != !mpfr_signbit(exact)) {
        return INFINITY;
    }
    if (mpfr_inf_p(exact) || (mpfr_regular_p(exact) && mpfr_get_exp(exact) > type->highest)) {
        mpfr_set_si_2exp(exact, mpfr_signbit(exact) ? -1 : 1, type->highest, MPFR_RNDN);
    }
    mpfr_exp_t exponent = mpfr_regular_p(exact) ? mpfr_get_exp(exact) : type->lowest;
    if (isinf(result)) {
        mpfr_set_si_2exp(distance, result < 0.0 ? -1 : 1, type->highest, MPFR_RNDN);
        mpfr_sub(distance, exact, distance, MPFR_RNDN);
    } else {
        mpfr_sub_d(distance, exact, result, MPFR_RNDN);
    }
    exponent = exponent < type->lowest ? type->lowest : exponent;
    mpfr_mul_2si(distance, distance, type->digits - exponent, MPFR_RNDN);
    return fabs(mpfr_get_d(distance, MPFR_RNDN));
}

static void note(tally *t, double x, double y, double result, double error) {
    t->count++;
    if (error > t->type->limit && t->failures++ < SHOWN) {
        printf("%s(%a, %a) = %a: %.4g ULP\n", t->name, x, y, result, error);
    }
    if (error > t->worst) {
        t->worst = error;
        t->x = x;
        t->y = y;
    }
}

/* The error of a result against the sieve's value; infinite, so that MPFR decides, where only one
 * of them is a NaN or infinite in the format, or a zero has another sign. */
static double error_by(const format *type, long double truth, double result) {
    const long double top = type == &f32 ? 0x1p128L : 0x1p1024L;
    if (isnan(result) || isnan(truth)) {
        return isnan(result) && isnan(truth) ? 0.0 : INFINITY;
    }
    if (isinf(result)) {
        return (result > 0.0 ? truth : -truth) >= top ? 0.0 : INFINITY;
    }
    if (fabsl(truth) >= top || (result == 0.0 && !signbit(result) != !signbit(truth))) {
        return INFINITY;
    }
    int exponent = (int)type->lowest;
    if (fabsl(truth) >= (type == &f32 ? 0x1p-126L : 0x1p-1022L)) {
        exponent = ilogbl(truth) + 1;
    }
    return (double)scalbnl(fabsl((long double)result - truth), type->digits - exponent);
}

/* Whether an error that the sieve shows can be neither a failure nor the largest. It is counted
 * then, unless it is its turn to be judged by MPFR all the same. */
static bool passes(tally *t, double error) {
    double bound = t->worst < t->type->limit ? t->worst : t->type->limit;
    if (!(error < bound - SLACK) || t->sieved++ % SPOT == 0) {
        return false;
    }
    t->count++;
    return true;
}

/* Notes what MPFR, in `exact`, says of a result, and whether the sieve's error agrees with it. */
static void judge(tally *t, double x, double y, double result, double sieved) {
    double error = error_of(t->type, result);
    note(t, x, y, result, error);
    if (isfinite(sieved) && !(fabs(sieved - error) < SLACK) && t->failures++ < SHOWN) {
        printf("%s(%a, %a) = %a: %.4g ULP, but %.4g by libm\n", t->name, x, y, result, error,
               sieved);
    }
}

static double check_unary(tally *t, const function *f, double x) {
    double result = f->f(x);
    double sieved = f->sieve ? error_by(t->type, f->sieve(x), result) : INFINITY;
    if (!passes(t, sieved)) {
        mpfr_set_d(argument, x, MPFR_RNDN);
        f->exact(exact, argument, MPFR_RNDN);
        judge(t, x, 0.0, result, sieved);
    }
    return result;
}

static void check_binary(tally *t, const function_of_two *f, double x, double y) {
    x = rounded(t->type, x);
    y = rounded(t->type, y);
    double result = f->f(x, y);
    double sieved = f->sieve ? error_by(t->type, f->sieve(x, y), result) : INFINITY;
    if (!passes(t, sieved)) {
        mpfr_set_d(argument, x, MPFR_RNDN);
        mpfr_set_d(argument_y, y, MPFR_RNDN);
        f->exact(exact, argument, argument_y, MPFR_RNDN);
        judge(t, x, y, result, sieved);
    }
}

/* x and its neighbours, both signs. */
static void check_around(tally *t, const function *f, double x) {
    for (uint64_t i = 0; i < 9; i++) {
        double near = from_bits(t->type, to_bits(t->type, fabs(x)) + i - 4);
        check_unary(t, f, near);
        check_unary(t, f, -near);
    }
}

/* The numbers nearest to multiples of pi/2: small ones, ones of every size, and those that come
 * nearest, relative to the arguments' spacing, from the continued fractions of 2^e 2/pi. */
static void sample_quadrants(tally *t, const function *f, unsigned samples, uint64_t *state) {
    static const double hard_f32[] = {0x1.f37c8ap95, 0x1.47d0fep34, 0x1.f9cbe2p7,   0x1.32ede2p85,
                                      0x1.628d4cp40, 0x1.13093p76,  0x1.b08c4ap111, 0x1.4665d2p25,
                                      0x1.2d97c8p2,  0x1.abb4bp89,  0x1.0f79ap57,   0x1.9a48dep15};
    static const double hard_f64[] = {
        0x1.6ac5b262ca1ffp849, 0x1.6ac5b262ca1ffp850, 0x1.504cac51f1eafp131, 0x1.e009c53148be1p991,
        0x1.4c96c11134d36p577, 0x1.cfe482285f8edp860, 0x1.db41f3cb71d7bp680, 0x1.e7e44a78ac18cp197,
        0x1.c45cd11154dfdp295, 0x1.83009e2e9e2ebp614, 0x1.b2196364d750bp253, 0x1.69eab0985179bp246,
        0x1.6c6cbc45dc8dep5,   0x1.6c6cbc45dc8dep6,   0x1.b951f1572eba5p23};
    const double *hard = t->type == &f32 ? hard_f32 : hard_f64;
    size_t count = t->type == &f32 ? COUNT(hard_f32) : COUNT(hard_f64);
    for (size_t i = 0; i < count; i++) {
        check_around(t, f, hard[i]);
    }
    for (uint64_t exponent = 1; exponent < (UINT64_C(1) << t->type->exponents) / 2; exponent++) {
        for (unsigned i = 0; i < samples; i++) {
            uint64_t one = (UINT64_C(1) << (t->type->exponents - 1)) - 1;
            uint64_t mantissa = next_random(state) >> (65 - t->type->digits);
            double x = from_bits(t->type, (one + exponent) << (t->type->digits - 1) | mantissa);
            mpfr_set_prec(argument, PRECISION + 1024);
            mpfr_set_prec(argument_y, PRECISION + 1024);
            mpfr_const_pi(argument_y, MPFR_RNDN);
            mpfr_div_2ui(argument_y, argument_y, 1, MPFR_RNDN);
            mpfr_set_d(argument, x, MPFR_RNDN);
            mpfr_div(argument, argument, argument_y, MPFR_RNDN);
            mpfr_round(argument, argument);
            mpfr_mul(argument, argument, argument_y, MPFR_RNDN);
            x = mpfr_get_d(argument, MPFR_RNDN);
            mpfr_set_prec(argument, PRECISION);
            mpfr_set_prec(argument_y, PRECISION);
            check_around(t, f, rounded(t->type, x));
        }
    }
}

/* Where functions change their way or leave the range, in either type. */
static const double edges[] = {
    0.0, 0x1p-1022, 0x1p-126, 0x1p-300, 0x1p-53, 0x1p-27, 0x1p-12, 0x1.a827999fcef32p-2, 0.5,
    0x1.14bp-1, 0.625, 0x1.555556p-1, 0x1.6a09e6p-1, 0x1.6a09e667f3bcdp-1, 0.75,
    0x1.921fb54442d18p-1, 1.0, 0x1.555556p0, 0x1.6a09e6p0, 0x1.6a09e667f3bcdp0, 0x1.3504f333f9de6p1,
    9.0, 10.0, 16.0, 20.0, 0x1p54, 0x1p60,
    /* exp, and below: sinh and cosh overflow; exp underflows, halfway, to 0 */
    0x1.62e43p6, 0x1.65a9f8p6, 0x1.5d58ap6, 0x1.9d1dap6, 0x1.9fe368p6, 89.5, 126.0, 128.0, 149.0,
    150.0, 0x1.62e42fefa39efp9, 0x1.633ce8fb9f87dp9, 0x1.6232bdd7abcd2p9, 0x1.74385446d71c3p9,
    0x1.74910d52d3051p9, 710.0, 1022.0, 1024.0, 1074.0, 1075.0, 0x1p107, 0x1p160, 0x1p266, 0x1p478,
    0x1p902, INFINITY};

static void sample_unary(tally *t, const function *f, uint64_t random, uint64_t *state) {
    const format *type = t->type;
    for (uint64_t top = 0; top < UINT64_C(2) << type->exponents; top++) {
        uint64_t bits = top << (type->digits - 1), last = (UINT64_C(1) << (type->digits - 1)) - 1;
        for (uint64_t i = 0; i < 4; i++) {
            check_unary(t, f, from_bits(type, bits | i));
            check_unary(t, f, from_bits(type, bits | (last - i)));
        }
    }
    for (size_t i = 0; i < COUNT(edges); i++) {
        check_around(t, f, rounded(type, edges[i]));
    }
    for (uint64_t i = 0; i < random; i++) {
        check_unary(t, f, i & 1 ? random_near(type, state) : random_any(type, state));
    }
    if (f->trigonometric) {
        uint64_t exponents = UINT64_C(1) << type->exponents;
        sample_quadrants(t, f, (unsigned)(random / exponents / 32 + 1), state);
    }
}

/* Each of these, of both signs, with each. */
static void sample_specials(tally *t, const function_of_two *f) {
    static const double special[] = {0.0,
                                     0x1p-1074,
                                     0x1p-1022,
                                     0x1p-149,
                                     0x1.fffffcp-127,
                                     0x1p-126,
                                     0x1p-53,
                                     0x1p-24,
                                     0.25,
                                     0.5,
                                     0x1.fffffep-1,
                                     0x1.fffffffffffffp-1,
                                     1.0,
                                     0x1.000002p0,
                                     0x1.0000000000001p0,
                                     1.5,
                                     2.0,
                                     3.0,
                                     4.0,
                                     5.0,
                                     127.0,
                                     128.0,
                                     149.0,
                                     150.0,
                                     151.0,
                                     1023.0,
                                     1024.0,
                                     1074.0,
                                     1075.0,
                                     1077.0,
                                     0x1.fffffep22,
                                     0x1p23,
                                     0x1.000002p23,
                                     0x1.fffffep23,
                                     0x1p24,
                                     0x1p31,
                                     0x1.fffffffffffffp51,
                                     0x1p52,
                                     0x1.0000000000001p52,
                                     0x1.fffffffffffffp52,
                                     0x1p53,
                                     0x1p64,
                                     0x1p127,
                                     0x1.fffffep127,
                                     0x1p1000,
                                     0x1p1023,
                                     0x1.fffffffffffffp1023,
                                     INFINITY,
                                     NAN};
    for (size_t i = 0; i < COUNT(special); i++) {
        for (size_t j = 0; j < COUNT(special); j++) {
            for (uint32_t sign = 0; sign < 4; sign++) {
                check_binary(t, f, copysign(special[i], sign & 1 ? -1.0 : 1.0),
                             copysign(special[j], sign & 2 ? -1.0 : 1.0));
            }
        }
    }
}

static void sample_pow(tally *t, const function_of_two *f, uint64_t random, uint64_t *state) {
    const format *type = t->type;
    const double top = (double)type->highest, bottom = (double)(type->lowest - type->digits);
    for (uint64_t i = 0; i < random; i += 13) {
        /* the whole plane; bases near 1, and any, with a result that is neither 0 nor infinite, or
         * just at the edge; integral exponents */
        double x = random_any(type, state);
        check_binary(t, f, x, random_any(type, state));
        double near = rounded(type, exp2(random_between(state, -1.0, 1.0)));
        uint64_t one = to_bits(type, 1.0);
        double nearer = from_bits(type, one - 4096 + (next_random(state) >> 51));
        const double base[] = {fabs(x), near, nearer};
        for (size_t b = 0; b < COUNT(base); b++) {
            double log = log2(base[b]);
            double middle = random_between(state, bottom - 3.0, top + 2.0) / log;
            check_binary(t, f, base[b], middle);
            check_binary(t, f, base[b], random_between(state, top - 0.5, top + 0.1) / log);
            check_binary(t, f, base[b], random_between(state, bottom, bottom + 26.0) / log);
            check_binary(t, f, -base[b], trunc(middle));
        }
    }
}

static void sample_atan2(tally *t, const function_of_two *f, uint64_t random, uint64_t *state) {
    const format *type = t->type;
    for (uint64_t i = 0; i < random; i += 4) {
        /* the whole plane; by ratios: of any size, near 1, near tan(pi/8) */
        double x = random_any(type, state);
        check_binary(t, f, random_any(type, state), x);
        check_binary(t, f, x * random_near(type, state), x);
        check_binary(t, f, x * random_between(state, 0.9, 1.1), x);
        check_binary(t, f, x * random_between(state, 0.41, 0.42), x);
    }
}

static void walk_all(tally *t, const function *f) {
    for (uint64_t u = 0; u < UINT64_C(1) << 31; u++) {
        double x = from_bits(&f32, u);
        double result = check_unary(t, f, x);
        if (f->symmetry == NO_SYMMETRY) {
            check_unary(t, f, -x);
            continue;
        }
        double mirrored = f->f(-x), wanted = f->symmetry == ODD ? -result : result;
        bool same =
            to_bits(&f32, mirrored) == to_bits(&f32, wanted) || (isnan(mirrored) && isnan(wanted));
        note(t, -x, 0.0, mirrored, same ? 0.0 : INFINITY);
    }
}

/* Whether the function is among the names given; no names are all. */
static bool selected(const char *name, int count, char **names) {
    for (int i = 0; i < count; i++) {
        if (!strcmp(names[i], name)) {
            return true;
        }
    }
    return count == 0;
}

static void report(const tally *t, bool two, uint64_t *count, uint64_t *failures) {
    printf("%-16s %11" PRIu64 " arguments, largest error %.4f ULP at %a", t->name, t->count,
           t->worst, t->x);
    if (two) {
        printf(", %a", t->y);
    }
    printf("\n");
    fflush(stdout);
    *count += t->count;
    *failures += t->failures;
}

int main(int argc, char **argv) {
    uint64_t random = 1000000, seed = 1, count = 0, failures = 0;
    bool exhaustive = false;
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--exhaustive")) {
            exhaustive = true;
        } else if (!strcmp(argv[i], "--random") && i + 1 < argc) {
            random = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            fprintf(stderr,
                    "usage: vyre_ulp [--exhaustive] [--random N] [--seed N] [FUNCTION...]\n");
            return 2;
        }
    }
    mpfr_inits2(PRECISION, exact, argument, argument_y, distance, (mpfr_ptr)NULL);
    uint64_t state = seed;
    for (size_t k = 0; k < COUNT(functions); k++) {
        const function *f = &functions[k];
        tally t = {.name = f->name, .type = f->type};
        if (!selected(f->name, argc - i, argv + i) || (exhaustive && f->type != &f32)) {
            continue;
        }
        if (exhaustive) {
            walk_all(&t, f);
        } else {
            sample_unary(&t, f, random, &state);
        }
        report(&t, false, &count, &failures);
    }
    for (size_t k = 0; !exhaustive && k < COUNT(functions_of_two); k++) {
        const function_of_two *f = &functions_of_two[k];
        tally t = {.name = f->name, .type = f->type};
        if (!selected(f->name, argc - i, argv + i)) {
            continue;
        }
        sample_specials(&t, f);
        if (f->exact == mpfr_pow) {
            sample_pow(&t, f, random, &state);
        } else {
            sample_atan2(&t, f, random, &state);
        }
        report(&t, true, &count, &failures);
    }
    mpfr_clears(exact, argument, argument_y, distance, (mpfr_ptr)NULL);
    mpfr_free_cache();
    printf("ulp: %s", exhaustive ? "exhaustive" : "sampled");
    if (!exhaustive) {
        printf(", seed %" PRIu64, seed);
    }
    printf(", %" PRIu64 " arguments, %" PRIu64 " failures (above %.0f ULP in f32, %.0f in f64)\n",
           count, failures, f32.limit, f64.limit);
    return failures != 0 || count == 0;
}
