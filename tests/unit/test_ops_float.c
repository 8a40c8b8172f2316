/* Float operators of f32 and f64 against MPFR, which rounds once to the precision and exponent
 * range of the format, subnormals included. Comparisons, min, max and classification against their
 * definition on exact values; the rest as literals. */
#include <fenv.h>
#include <math.h>
#include <mpfr.h>

#include "unit/ops.h"

static const vyre_type both[] = {VYRE_F32, VYRE_F64};

typedef struct format {
    mpfr_prec_t precision;
    mpfr_exp_t lowest, highest; /* exponents of MPFR: the mantissa lies in [1/2, 1) */
} format;
static const format single_format = {24, -148, 128};
static const format double_format = {53, -1073, 1024};

static format format_of(vyre_type type) {
    return type == VYRE_F32 ? single_format : double_format;
}

static uint64_t bits_of(vyre_type type, double value) {
    return type == VYRE_F32 ? bits32((float)value) : bits64(value);
}

/* Rounds op(x, y, z) to the format; exact where MPFR's own function is. */
static uint64_t rounded(vyre_expr_op op, vyre_type type, double x, double y, double z) {
    format f = format_of(type);
    mpfr_t a, b, c, r;
    mpfr_inits2(64, a, b, c, (mpfr_ptr)0);
    mpfr_init2(r, f.precision);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_set_d(c, z, MPFR_RNDN);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(f.lowest);
    mpfr_set_emax(f.highest);
    int inexact = 0;
    switch ((int)op) {
    case VYRE_EXPR_ADD: inexact = mpfr_add(r, a, b, MPFR_RNDN); break;
    case VYRE_EXPR_SUB: inexact = mpfr_sub(r, a, b, MPFR_RNDN); break;
    case VYRE_EXPR_MUL: inexact = mpfr_mul(r, a, b, MPFR_RNDN); break;
    case VYRE_EXPR_DIV: inexact = mpfr_div(r, a, b, MPFR_RNDN); break;
    case VYRE_EXPR_RCP: inexact = mpfr_ui_div(r, 1, a, MPFR_RNDN); break;
    case VYRE_EXPR_SQRT: inexact = mpfr_sqrt(r, a, MPFR_RNDN); break;
    case VYRE_EXPR_FMA: inexact = mpfr_fma(r, a, b, c, MPFR_RNDN); break;
    case VYRE_EXPR_FLOOR: inexact = mpfr_floor(r, a); break;
    case VYRE_EXPR_CEIL: inexact = mpfr_ceil(r, a); break;
    case VYRE_EXPR_ROUND: inexact = mpfr_round(r, a); break;
    case VYRE_EXPR_TRUNC: inexact = mpfr_trunc(r, a); break;
    case VYRE_EXPR_NEG: inexact = mpfr_neg(r, a, MPFR_RNDN); break;
    case VYRE_EXPR_ABS: inexact = mpfr_abs(r, a, MPFR_RNDN); break;
    default: test_fail(__FILE__, __LINE__, "no expectation for operator %d", (int)op);
    }
    mpfr_subnormalize(r, inexact, MPFR_RNDN);
    double value = mpfr_get_d(r, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clears(a, b, c, r, (mpfr_ptr)0);
    return bits_of(type, value);
}

static void run_op(vyre_expr_op op, vyre_type type, vyre_type result, const uint64_t *x,
                   const uint64_t *y, const uint64_t *z, uint32_t count, uint64_t *got) {
    uint32_t arity = vyre_expr_info_of(op)->arity;
    const vyre_type types[3] = {type, arity > 1 ? type : VYRE_VOID, arity > 2 ? type : VYRE_VOID};
    ops_run(types, (const uint64_t *const[3]){x, y, z}, result, count, ops_make_op, &op, got);
}

static void check_rounding(vyre_expr_op op, vyre_type type) {
    static uint64_t x[OPS_MOST], y[OPS_MOST], z[OPS_MOST], got[OPS_MOST];
    uint32_t count = ops_pairs(type, type, 56, x, y);
    ops_values(type, 3, z, OPS_MOST);
    for (uint32_t i = 0; i < count; i += 2) {
        /* Sums that nearly cancel are where a second rounding shows. */
        z[i] = bits_of(type, -real_of(type, x[i]) * real_of(type, y[i]));
    }
    run_op(op, type, type, x, y, z, count, got);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t want =
            rounded(op, type, real_of(type, x[i]), real_of(type, y[i]), real_of(type, z[i]));
        if (!ops_same(type, got[i], want)) {
            test_fail(__FILE__, __LINE__, "%s of %s %a %a %a is %a, not %a",
                      vyre_expr_info_of(op)->name, vyre_type_name(type), real_of(type, x[i]),
                      real_of(type, y[i]), real_of(type, z[i]), real_of(type, got[i]),
                      real_of(type, want));
            return;
        }
    }
}

static const vyre_expr_op rounding_ops[] = {
    VYRE_EXPR_ADD,   VYRE_EXPR_SUB, VYRE_EXPR_MUL,   VYRE_EXPR_DIV,  VYRE_EXPR_RCP,
    VYRE_EXPR_SQRT,  VYRE_EXPR_FMA, VYRE_EXPR_FLOOR, VYRE_EXPR_CEIL, VYRE_EXPR_ROUND,
    VYRE_EXPR_TRUNC, VYRE_EXPR_NEG, VYRE_EXPR_ABS};

TEST(arithmetic_rounds_once_to_nearest_even) {
    for (uint32_t i = 0; i < sizeof rounding_ops / sizeof *rounding_ops; i++) {
        check_rounding(rounding_ops[i], VYRE_F32);
        check_rounding(rounding_ops[i], VYRE_F64);
    }
}

TEST(hosts_floating_environment_does_not_matter) {
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    uint32_t control;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    control |= 0x8040; /* flush to zero, denormals are zero */
    __asm__ volatile("ldmxcsr %0" : : "m"(control));
#endif
    static const uint64_t x[] = {0x3f800000, 1}, y[] = {0x33800001, 1};
    uint64_t got[2];
    run_op(VYRE_EXPR_ADD, VYRE_F32, VYRE_F32, x, y, NULL, 2, got);
    CHECK_EQ(got[0], 0x3f800001); /* just above the tie */
    CHECK_EQ(got[1], 2);          /* subnormals are kept */
    static const uint64_t tie[] = {0x33800000, 1};
    run_op(VYRE_EXPR_ADD, VYRE_F32, VYRE_F32, x, tie, NULL, 2, got);
    CHECK_EQ(got[0], 0x3f800000);
    CHECK_EQ(fegetround(), FE_UPWARD); /* and it is given back */
}

static bool holds(vyre_expr_op op, double a, double b) {
    switch ((int)op) {
    case VYRE_EXPR_LT: return isless(a, b);
    case VYRE_EXPR_LE: return islessequal(a, b);
    case VYRE_EXPR_GT: return isgreater(a, b);
    case VYRE_EXPR_GE: return isgreaterequal(a, b);
    case VYRE_EXPR_EQ: return !isunordered(a, b) && !islessgreater(a, b);
    case VYRE_EXPR_NE: return isunordered(a, b) || islessgreater(a, b);
    case VYRE_EXPR_MIN: return isnan(a) || isless(b, a);
    case VYRE_EXPR_MAX: return isnan(a) || isgreater(b, a);
    case VYRE_EXPR_IS_NAN: return fpclassify(a) == FP_NAN;
    case VYRE_EXPR_IS_INF: return fpclassify(a) == FP_INFINITE;
    case VYRE_EXPR_IS_FINITE: return fpclassify(a) != FP_NAN && fpclassify(a) != FP_INFINITE;
    default: test_fail(__FILE__, __LINE__, "no definition for operator %d", (int)op); return false;
    }
}

TEST(comparisons_extrema_and_classes) {
    static const vyre_expr_op ops[] = {VYRE_EXPR_LT,     VYRE_EXPR_LE,       VYRE_EXPR_GT,
                                       VYRE_EXPR_GE,     VYRE_EXPR_EQ,       VYRE_EXPR_NE,
                                       VYRE_EXPR_MIN,    VYRE_EXPR_MAX,      VYRE_EXPR_IS_NAN,
                                       VYRE_EXPR_IS_INF, VYRE_EXPR_IS_FINITE};
    static uint64_t x[OPS_MOST], y[OPS_MOST], got[OPS_MOST];
    for (uint32_t t = 0; t < 2; t++) {
        /* Signed zeros, infinities and NaNs, each with each. */
        uint32_t count = ops_pairs(both[t], both[t], 40, x, y);
        static const double special[] = {
            0.0, -0.0, 1.0, -1.0, (double)INFINITY, -(double)INFINITY, (double)NAN};
        for (uint32_t i = 0; i < 49; i++) {
            x[i] = bits_of(both[t], special[i / 7]);
            y[i] = bits_of(both[t], special[i % 7]);
        }
        for (uint32_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            bool extremum = ops[o] == VYRE_EXPR_MIN || ops[o] == VYRE_EXPR_MAX;
            run_op(ops[o], both[t], extremum ? both[t] : VYRE_BOOL, x, y, NULL, count, got);
            for (uint32_t i = 0; i < count; i++) {
                bool yes = holds(ops[o], real_of(both[t], x[i]), real_of(both[t], y[i]));
                uint64_t want = !extremum ? yes : yes ? y[i] : x[i];
                if (!ops_same(extremum ? both[t] : VYRE_BOOL, got[i], want)) {
                    test_fail(__FILE__, __LINE__, "%s of %a %a is %" PRIx64 ", not %" PRIx64,
                              vyre_expr_info_of(ops[o])->name, real_of(both[t], x[i]),
                              real_of(both[t], y[i]), got[i], want);
                }
            }
        }
    }
}

TEST(literal_values) {
    static const struct {
        vyre_expr_op op;
        double x, y, want;
    } cases[] = {
        {VYRE_EXPR_SIGN, -0.0, 0, 0.0},   {VYRE_EXPR_SIGN, 0.0, 0, 0.0},
        {VYRE_EXPR_SIGN, -3.5, 0, -1.0},  {VYRE_EXPR_SIGN, 1e-40, 0, 1.0},
        {VYRE_EXPR_ROUND, 2.5, 0, 3.0},   {VYRE_EXPR_ROUND, -2.5, 0, -3.0},
        {VYRE_EXPR_ROUND, 0.5, 0, 1.0},   {VYRE_EXPR_TRUNC, -0.5, 0, -0.0},
        {VYRE_EXPR_CEIL, -0.5, 0, -0.0},  {VYRE_EXPR_SQRT, -0.0, 0, -0.0},
        {VYRE_EXPR_MIN, 0.0, -0.0, 0.0}, /* equal: the first */
        {VYRE_EXPR_MIN, -0.0, 0.0, -0.0}, {VYRE_EXPR_MAX, -0.0, 0.0, -0.0},
        {VYRE_EXPR_NEG, 0.0, 0, -0.0},    {VYRE_EXPR_ADD, 0.0, -0.0, 0.0},
        {VYRE_EXPR_SUB, 1.0, 1.0, 0.0},
    };
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint64_t x = bits_of(both[t], cases[i].x), y = bits_of(both[t], cases[i].y), got;
            run_op(cases[i].op, both[t], both[t], &x, &y, NULL, 1, &got);
            CHECK_EQ(got, bits_of(both[t], cases[i].want));
        }
        uint64_t nan = bits_of(both[t], (double)NAN), got;
        run_op(VYRE_EXPR_SIGN, both[t], both[t], &nan, NULL, NULL, 1, &got);
        CHECK(ops_is_nan(both[t], got));
    }
}

/* Elementary functions: that each operator is the function it is called, within the bound of the
 * language. The whole range is measured elsewhere. */
static const struct {
    vyre_expr_op op;
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
    double low, high;
} elementary[] = {
    {VYRE_EXPR_EXP, mpfr_exp, -80, 80},     {VYRE_EXPR_EXP2, mpfr_exp2, -120, 120},
    {VYRE_EXPR_LOG, mpfr_log, 1e-30, 1e30}, {VYRE_EXPR_LOG2, mpfr_log2, 1e-30, 1e30},
    {VYRE_EXPR_SIN, mpfr_sin, -1e6, 1e6},   {VYRE_EXPR_COS, mpfr_cos, -1e6, 1e6},
    {VYRE_EXPR_TAN, mpfr_tan, -100, 100},   {VYRE_EXPR_ASIN, mpfr_asin, -1, 1},
    {VYRE_EXPR_ACOS, mpfr_acos, -1, 1},     {VYRE_EXPR_ATAN, mpfr_atan, -50, 50},
    {VYRE_EXPR_SINH, mpfr_sinh, -80, 80},   {VYRE_EXPR_COSH, mpfr_cosh, -80, 80},
    {VYRE_EXPR_TANH, mpfr_tanh, -9, 9},     {VYRE_EXPR_INVERSE_SQRT, mpfr_rec_sqrt, 1e-30, 1e30},
};

static void check_ulps(vyre_type type, const char *name, double x, double y, double got,
                       mpfr_srcptr exact) {
    const double want = mpfr_get_d(exact, MPFR_RNDN);
    const double f32 =
        (double)nextafterf(fabsf((float)want), INFINITY) - (double)fabsf((float)want);
    const double f64 = nextafter(fabs(want), INFINITY) - fabs(want);
    /* half a unit more in f64, where `want` is itself rounded */
    if (!(fabs(got - want) <= (type == VYRE_F32 ? 4 * f32 : 2.5 * f64))) {
        test_fail(__FILE__, __LINE__, "%s of %a %a is %a, not %a", name, x, y, got, want);
    }
}

static void check_functions_of_two(vyre_type type, uint64_t *state) {
    static uint64_t x[512], y[512], got[512];
    mpfr_t a, b, r;
    mpfr_inits2(120, a, b, r, (mpfr_ptr)0);
    for (uint32_t i = 0; i < 512; i++) {
        x[i] = bits_of(type, (double)(test_random(state) >> 40) / 65536);
        y[i] = bits_of(type, (double)(int64_t)test_random(state) / 1e18);
    }
    for (uint32_t f = 0; f < 2; f++) {
        const vyre_expr_op op = f == 0 ? VYRE_EXPR_POW : VYRE_EXPR_ATAN2;
        run_op(op, type, type, x, y, NULL, 512, got);
        for (uint32_t i = 0; i < 512; i++) {
            mpfr_set_d(a, real_of(type, x[i]), MPFR_RNDN);
            mpfr_set_d(b, real_of(type, y[i]), MPFR_RNDN);
            (f == 0 ? mpfr_pow : mpfr_atan2)(r, a, b, MPFR_RNDN);
            check_ulps(type, vyre_expr_info_of(op)->name, real_of(type, x[i]), real_of(type, y[i]),
                       real_of(type, got[i]), r);
        }
    }
    mpfr_clears(a, b, r, (mpfr_ptr)0);
}

TEST(elementary_functions_are_what_they_are_called) {
    static uint64_t x[512], got[512];
    mpfr_t a, r;
    mpfr_inits2(120, a, r, (mpfr_ptr)0);
    uint64_t state = 11;
    for (uint32_t t = 0; t < 2; t++) {
        const vyre_type type = both[t];
        for (uint32_t f = 0; f < sizeof elementary / sizeof *elementary; f++) {
            for (uint32_t i = 0; i < 512; i++) {
                double unit = (double)(test_random(&state) >> 11) / 9007199254740992.0;
                x[i] = bits_of(type,
                               elementary[f].low + unit * (elementary[f].high - elementary[f].low));
            }
            run_op(elementary[f].op, type, type, x, NULL, NULL, 512, got);
            for (uint32_t i = 0; i < 512; i++) {
                mpfr_set_d(a, real_of(type, x[i]), MPFR_RNDN);
                elementary[f].exact(r, a, MPFR_RNDN);
                check_ulps(type, vyre_expr_info_of(elementary[f].op)->name, real_of(type, x[i]), 0,
                           real_of(type, got[i]), r);
            }
        }
        check_functions_of_two(type, &state);
    }
    mpfr_clears(a, r, (mpfr_ptr)0);
}
