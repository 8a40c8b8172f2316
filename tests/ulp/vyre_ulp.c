/* Measures the elementary functions against MPFR: the largest error of each in units of the last
 * place, and where. An error is |result - exact| divided by the spacing of f32 at the exact value
 * (that of the subnormals below 2^-126); infinity counts as 2^128 on both sides; a NaN where a
 * number belongs, the converse, or a zero with the wrong sign is an infinite error.
 *
 *   vyre_ulp [--samples N] [--seed N] [FUNCTION...]   N mantissas per sign and exponent, and the
 *                                                     arguments known to be hard, all against MPFR
 *   vyre_ulp --exhaustive FUNCTION...                 all 2^32 arguments of functions of one
 * argument
 *
 * The exhaustive walk takes the double functions of libm, good to 2^-28 of these units, for the
 * truth, and asks MPFR where they show more than 0.9 of the limit or no number. Negative arguments
 * of odd and even functions are compared bit by bit with the positive ones. Exits with 1 if an
 * error is above the limit. */
#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/ref/elementary.h"

#define LIMIT        4.0
#define SIGN         UINT32_C(0x80000000)
#define PRECISION    128
#define SHOWN        10 /* failures printed per function */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef enum symmetry { NO_SYMMETRY, ODD, EVEN } symmetry;

typedef struct function {
    const char *name;
    float (*f)(float);
    double (*fast)(double);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    symmetry symmetry;
    bool trigonometric;
} function;

typedef struct tally {
    const char *name;
    uint64_t count, failures;
    double worst;
    float x, y; /* where; y only for pow */
} tally;

static double fast_inverse_sqrt(double x) {
    return 1.0 / sqrt(x);
}

/* Unlike mpfr_rec_sqrt, -infinity for -0, as 1 / sqrt(-0) is. */
static int exact_inverse_sqrt(mpfr_t out, const mpfr_t x, mpfr_rnd_t round) {
    mpfr_sqrt(out, x, round);
    return mpfr_ui_div(out, 1, out, round);
}

static const function functions[] = {
    {"exp", vyre_ref_exp, exp, mpfr_exp, NO_SYMMETRY, false},
    {"exp2", vyre_ref_exp2, exp2, mpfr_exp2, NO_SYMMETRY, false},
    {"log", vyre_ref_log, log, mpfr_log, NO_SYMMETRY, false},
    {"log2", vyre_ref_log2, log2, mpfr_log2, NO_SYMMETRY, false},
    {"sin", vyre_ref_sin, sin, mpfr_sin, ODD, true},
    {"cos", vyre_ref_cos, cos, mpfr_cos, EVEN, true},
    {"tan", vyre_ref_tan, tan, mpfr_tan, ODD, true},
    {"asin", vyre_ref_asin, asin, mpfr_asin, ODD, false},
    {"acos", vyre_ref_acos, acos, mpfr_acos, NO_SYMMETRY, false},
    {"atan", vyre_ref_atan, atan, mpfr_atan, ODD, false},
    {"sinh", vyre_ref_sinh, sinh, mpfr_sinh, ODD, false},
    {"cosh", vyre_ref_cosh, cosh, mpfr_cosh, EVEN, false},
    {"tanh", vyre_ref_tanh, tanh, mpfr_tanh, ODD, false},
    {"inverse_sqrt", vyre_ref_inverse_sqrt, fast_inverse_sqrt, exact_inverse_sqrt, NO_SYMMETRY,
     false},
};

static mpfr_t exact, argument, argument_y, distance;

static float from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t to_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
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

/* The error of a result against `exact`, which it may change. */
static double error_of(float result) {
    if (mpfr_nan_p(exact) || isnan(result)) {
        return mpfr_nan_p(exact) && isnan(result) ? 0.0 : INFINITY;
    }
    if (result == 0.0f && !signbit(result) != !mpfr_signbit(exact)) {
        return INFINITY;
    }
    if (mpfr_inf_p(exact) || (mpfr_regular_p(exact) && mpfr_get_exp(exact) > 128)) {
        mpfr_set_d(exact, mpfr_signbit(exact) ? -0x1p128 : 0x1p128, MPFR_RNDN);
    }
    double value = isinf(result) ? copysign(0x1p128, (double)result) : (double)result;
    mpfr_exp_t exponent = mpfr_regular_p(exact) ? mpfr_get_exp(exact) : -125;
    mpfr_sub_d(distance, exact, value, MPFR_RNDN);
    mpfr_mul_2si(distance, distance, 24 - (exponent < -125 ? -125 : exponent), MPFR_RNDN);
    return fabs(mpfr_get_d(distance, MPFR_RNDN));
}

static void note(tally *t, float x, float y, float result, double error) {
    t->count++;
    if (error > LIMIT && t->failures++ < SHOWN) {
        printf("%s(%a, %a) = %a: %.4g ULP\n", t->name, (double)x, (double)y, (double)result, error);
    }
    if (error > t->worst) {
        t->worst = error;
        t->x = x;
        t->y = y;
    }
}

static void check_unary(tally *t, const function *f, float x) {
    float result = f->f(x);
    mpfr_set_flt(argument, x, MPFR_RNDN);
    f->exact(exact, argument, MPFR_RNDN);
    note(t, x, 0.0f, result, error_of(result));
}

static void check_pow(tally *t, float x, float y) {
    float result = vyre_ref_pow(x, y);
    mpfr_set_flt(argument, x, MPFR_RNDN);
    mpfr_set_flt(argument_y, y, MPFR_RNDN);
    mpfr_pow(exact, argument, argument_y, MPFR_RNDN);
    note(t, x, y, result, error_of(result));
}

/* x and its neighbours, both signs. */
static void check_around(tally *t, const function *f, float x) {
    for (uint32_t i = 0; i < 9; i++) {
        check_unary(t, f, from_bits(to_bits(fabsf(x)) + i - 4));
        check_unary(t, f, from_bits((to_bits(fabsf(x)) + i - 4) | SIGN));
    }
}

/* The f32 nearest to multiples of pi/2: small ones, ones of every size, and those that come
 * nearest, relative to the arguments' spacing, from the continued fractions of 2^e 2/pi. */
static void sample_quadrants(tally *t, const function *f, unsigned samples, uint64_t *state) {
    static const float hard[] = {0x1.f37c8ap95f, 0x1.47d0fep34f, 0x1.f9cbe2p7f,   0x1.32ede2p85f,
                                 0x1.628d4cp40f, 0x1.13093p76f,  0x1.b08c4ap111f, 0x1.4665d2p25f,
                                 0x1.2d97c8p2f,  0x1.abb4bp89f,  0x1.0f79ap57f,   0x1.9a48dep15f};
    for (size_t i = 0; i < COUNT(hard); i++) {
        check_around(t, f, hard[i]);
    }
    for (uint32_t exponent = 127; exponent < 255; exponent++) {
        for (unsigned i = 0; i < samples / 32 + 1; i++) {
            uint32_t mantissa = (uint32_t)(next_random(state) >> 41);
            mpfr_const_pi(argument_y, MPFR_RNDN);
            mpfr_div_2ui(argument_y, argument_y, 1, MPFR_RNDN);
            mpfr_set_flt(argument, from_bits(exponent << 23 | mantissa), MPFR_RNDN);
            mpfr_div(argument, argument, argument_y, MPFR_RNDN);
            mpfr_round(argument, argument);
            mpfr_mul(argument, argument, argument_y, MPFR_RNDN);
            check_around(t, f, mpfr_get_flt(argument, MPFR_RNDN));
        }
    }
}

static void sample_unary(tally *t, const function *f, unsigned samples, uint64_t *state) {
    static const float edges[] = {
        0.0f,           0x1p-126f,      0x1p-12f,     0.5f,          0x1.14bp-1f,   0.625f,
        0x1.555556p-1f, 0x1.6a09e6p-1f, 1.0f,         0x1.555556p0f, 0x1.6a09e6p0f, 9.0f,
        10.0f,          16.0f,          0x1.62e43p6f, /* exp, and below: sinh and cosh overflow; exp
                                                         underflows, halfway, to 0 */
        0x1.65a9f8p6f,  0x1.5d58ap6f,   0x1.9d1dap6f, 0x1.9fe368p6f, 89.5f,         126.0f,
        128.0f,         149.0f,         150.0f,       INFINITY};
    for (uint32_t top = 0; top < 512; top++) {
        for (uint32_t i = 0; i < 4; i++) {
            check_unary(t, f, from_bits(top << 23 | i));
            check_unary(t, f, from_bits(top << 23 | (0x7fffff - i)));
        }
        for (unsigned i = 0; i < samples; i++) {
            check_unary(t, f, from_bits(top << 23 | (uint32_t)(next_random(state) >> 41)));
        }
    }
    for (size_t i = 0; i < COUNT(edges); i++) {
        check_around(t, f, edges[i]);
    }
    if (f->trigonometric) {
        sample_quadrants(t, f, samples, state);
    }
}

static void sample_pow(tally *t, unsigned samples, uint64_t *state) {
    static const float special[] = {0.0f,
                                    0x1p-149f,
                                    0x1.fffffcp-127f,
                                    0x1p-126f,
                                    0x1p-24f,
                                    0.25f,
                                    0.5f,
                                    0x1.fffffep-1f,
                                    1.0f,
                                    0x1.000002p0f,
                                    1.5f,
                                    2.0f,
                                    3.0f,
                                    4.0f,
                                    5.0f,
                                    127.0f,
                                    128.0f,
                                    149.0f,
                                    150.0f,
                                    151.0f,
                                    0x1.fffffep22f,
                                    0x1p23f,
                                    0x1.000002p23f,
                                    0x1.fffffep23f,
                                    0x1p24f,
                                    0x1p31f,
                                    0x1p64f,
                                    0x1p127f,
                                    0x1.fffffep127f,
                                    INFINITY,
                                    NAN};
    for (size_t i = 0; i < COUNT(special); i++) {
        for (size_t j = 0; j < COUNT(special); j++) {
            for (uint32_t sign = 0; sign < 4; sign++) {
                check_pow(t, copysignf(special[i], sign & 1 ? -1.0f : 1.0f),
                          copysignf(special[j], sign & 2 ? -1.0f : 1.0f));
            }
        }
    }
    for (uint64_t i = 0; i < (uint64_t)samples * 64; i++) {
        /* the whole plane; bases near 1, and any, with a result that is neither 0 nor infinite, or
         * just at the edge; integral exponents */
        float x = from_bits((uint32_t)next_random(state));
        check_pow(t, x, from_bits((uint32_t)next_random(state)));
        float near_one = (float)exp2(random_between(state, -1.0, 1.0));
        float nearer = from_bits(0x3f800000 - 4096 + (uint32_t)(next_random(state) >> 51));
        const float base[] = {fabsf(x), near_one, nearer};
        for (size_t b = 0; b < COUNT(base); b++) {
            double log = log2((double)base[b]);
            check_pow(t, base[b], (float)(random_between(state, -152.0, 130.0) / log));
            check_pow(t, base[b], (float)(random_between(state, 127.5, 128.1) / log));
            check_pow(t, base[b], (float)(random_between(state, -150.5, -125.0) / log));
            check_pow(t, -base[b], (float)trunc(random_between(state, -152.0, 130.0) / log));
        }
    }
}

/* The spacing of f32 at |exact|, inverted. */
static double per_unit(double value) {
    uint64_t u;
    memcpy(&u, &value, sizeof u);
    uint64_t exponent = u >> 52 & 0x7ff;
    u = (2069 - (exponent < 897 ? 897 : exponent)) << 52;
    memcpy(&value, &u, sizeof value);
    return value;
}

static float walk_one(tally *t, const function *f, float x) {
    float result = f->f(x);
    double truth = f->fast((double)x);
    double error = fabs((double)result - truth) * per_unit(truth);
    bool sure = error <= 0.9 * LIMIT && (result != 0.0f || !signbit(result) == !signbit(truth));
    sure = sure || (isnan(result) && isnan(truth));
    sure = sure || (isinf(result) && (result > 0.0f ? truth >= 0x1p128 : truth <= -0x1p128));
    if (!sure) {
        check_unary(t, f, x);
    } else {
        note(t, x, 0.0f, result, error <= LIMIT ? error : 0.0);
    }
    return result;
}

static void walk_all(tally *t, const function *f) {
    for (uint32_t u = 0; u < SIGN; u++) {
        float x = from_bits(u);
        float result = walk_one(t, f, x);
        if (f->symmetry == NO_SYMMETRY) {
            walk_one(t, f, -x);
            continue;
        }
        float mirrored = f->f(-x), wanted = f->symmetry == ODD ? -result : result;
        bool same = to_bits(mirrored) == to_bits(wanted) || (isnan(mirrored) && isnan(wanted));
        note(t, -x, 0.0f, mirrored, same ? 0.0 : INFINITY);
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

static void report(const tally *t) {
    printf("%-12s %11" PRIu64 " arguments, largest error %.4f ULP at %a", t->name, t->count,
           t->worst, (double)t->x);
    printf(strcmp(t->name, "pow") ? "\n" : ", %a\n", (double)t->y);
    fflush(stdout);
}

int main(int argc, char **argv) {
    unsigned samples = 3000;
    uint64_t seed = 1, count = 0, failures = 0;
    bool exhaustive = false;
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--exhaustive")) {
            exhaustive = true;
        } else if (!strcmp(argv[i], "--samples") && i + 1 < argc) {
            samples = (unsigned)strtoul(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            fprintf(stderr,
                    "usage: vyre_ulp [--exhaustive] [--samples N] [--seed N] [FUNCTION...]\n");
            return 2;
        }
    }
    mpfr_inits2(PRECISION, exact, argument, argument_y, distance, (mpfr_ptr)NULL);
    uint64_t state = seed;
    for (size_t k = 0; k < COUNT(functions); k++) {
        const function *f = &functions[k];
        tally t = {.name = f->name};
        if (!selected(f->name, argc - i, argv + i)) {
            continue;
        }
        if (exhaustive) {
            walk_all(&t, f);
        } else {
            sample_unary(&t, f, samples, &state);
        }
        report(&t);
        count += t.count;
        failures += t.failures;
    }
    if (!exhaustive && selected("pow", argc - i, argv + i)) {
        tally t = {.name = "pow"};
        sample_pow(&t, samples, &state);
        report(&t);
        count += t.count;
        failures += t.failures;
    }
    mpfr_clears(exact, argument, argument_y, distance, (mpfr_ptr)NULL);
    mpfr_free_cache();
    printf("ulp: %s", exhaustive ? "exhaustive" : "sampled");
    if (!exhaustive) {
        printf(", seed %" PRIu64, seed);
    }
    printf(", %" PRIu64 " arguments, %" PRIu64 " failures (above %.0f ULP)\n", count, failures,
           LIMIT);
    return failures != 0 || count == 0;
}
