/* The elementary functions of f64: special cases as C11 Annex F has them, hard and random arguments
 * against MPFR, symmetries, and that no bit changes. Beside it atan2 of f32, which has the same
 * special cases. Errors are measured over far more arguments by vyre_ulp. */
#include <math.h>
#include <mpfr.h>

#include "backend/ref/elementary.h"
#include "base/hash.h"
#include "harness/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define INF          ((double)INFINITY)
#define QUIET        ((double)NAN)
#define LEAST        0x1p-1074
#define NORMAL       0x1p-1022 /* the least of them */
#define MOST         0x1.fffffffffffffp1023
#define PI           0x1.921fb54442d18p1

typedef double (*unary)(double);
typedef double (*binary)(double, double);

static uint64_t to_bits(double d) {
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return isnan(d) ? UINT64_C(0x7ff8000000000000) : u; /* all NaNs are one */
}

static double from_bits(uint64_t u) {
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static void check_exact(const char *name, unary f, const double (*table)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        double got = f(table[i][0]);
        if (to_bits(got) != to_bits(table[i][1])) {
            test_fail(__FILE__, __LINE__, "%s(%a) = %a, not %a", name, table[i][0], got,
                      table[i][1]);
        }
    }
}

#define CHECK_EXACT(name, ...)                                                                     \
    do {                                                                                           \
        static const double table[][2] = {__VA_ARGS__};                                            \
        check_exact(#name, vyre_ref_##name##_f64, table, COUNT(table));                            \
    } while (0)

/* f(x) = x for zeros, subnormals and NaN. */
#define TINY_IS_ITSELF                                                                             \
    {0, 0}, {-0.0, -0.0}, {LEAST, LEAST}, {-LEAST, -LEAST}, {NORMAL - LEAST, NORMAL - LEAST},      \
        {-NORMAL, -NORMAL}, {                                                                      \
        QUIET, QUIET                                                                               \
    }

TEST(exp_specials) {
    CHECK_EXACT(exp, {0, 1}, {-0.0, 1}, {LEAST, 1}, {-LEAST, 1}, {INF, INF}, {-INF, 0},
                {QUIET, QUIET}, {MOST, INF}, {-MOST, 0}, {0x1.62e42fefa39fp9, INF}, {710, INF},
                {-746, 0}, {-0x1.74910d52d3052p9, 0});
    CHECK_EXACT(exp2, {0, 1}, {-0.0, 1}, {LEAST, 1}, {INF, INF}, {-INF, 0}, {QUIET, QUIET},
                {MOST, INF}, {-MOST, 0}, {1, 2}, {-1, 0.5}, {3, 8}, {1023, 0x1p1023}, {1024, INF},
                {-1022, NORMAL}, {-1023, NORMAL / 2}, {-1074, LEAST}, {-1075, 0});
}

TEST(log_specials) {
    CHECK_EXACT(log, {1, 0}, {0, -INF}, {-0.0, -INF}, {INF, INF}, {QUIET, QUIET}, {-LEAST, QUIET},
                {-1, QUIET}, {-MOST, QUIET}, {-INF, QUIET});
    CHECK_EXACT(log2, {1, 0}, {0, -INF}, {-0.0, -INF}, {INF, INF}, {QUIET, QUIET}, {-LEAST, QUIET},
                {-1, QUIET}, {-INF, QUIET}, {2, 1}, {0.5, -1}, {8, 3}, {0x1p1023, 1023},
                {NORMAL, -1022}, {LEAST, -1074});
}

TEST(trigonometric_specials) {
    CHECK_EXACT(sin, TINY_IS_ITSELF, {INF, QUIET}, {-INF, QUIET});
    CHECK_EXACT(tan, TINY_IS_ITSELF, {INF, QUIET}, {-INF, QUIET});
    CHECK_EXACT(cos, {0, 1}, {-0.0, 1}, {LEAST, 1}, {QUIET, QUIET}, {INF, QUIET}, {-INF, QUIET});
}

TEST(inverse_trigonometric_specials) {
    CHECK_EXACT(asin, TINY_IS_ITSELF, {1, PI / 2}, {-1, -PI / 2}, {0x1.0000000000001p0, QUIET},
                {-0x1.0000000000001p0, QUIET}, {INF, QUIET}, {-INF, QUIET});
    CHECK_EXACT(acos, {1, 0}, {-1, PI}, {0, PI / 2}, {-0.0, PI / 2}, {LEAST, PI / 2},
                {QUIET, QUIET}, {0x1.0000000000001p0, QUIET}, {-0x1.0000000000001p0, QUIET},
                {INF, QUIET}, {-INF, QUIET});
    CHECK_EXACT(atan, TINY_IS_ITSELF, {INF, PI / 2}, {-INF, -PI / 2}, {MOST, PI / 2},
                {-MOST, -PI / 2}, {1, PI / 4}, {-1, -PI / 4});
}

TEST(hyperbolic_specials) {
    CHECK_EXACT(sinh, TINY_IS_ITSELF, {INF, INF}, {-INF, -INF}, {MOST, INF}, {711, INF},
                {-711, -INF});
    CHECK_EXACT(cosh, {0, 1}, {-0.0, 1}, {LEAST, 1}, {QUIET, QUIET}, {INF, INF}, {-INF, INF},
                {MOST, INF}, {711, INF}, {-711, INF});
    CHECK_EXACT(tanh, TINY_IS_ITSELF, {INF, 1}, {-INF, -1}, {MOST, 1}, {20, 1}, {-20, -1});
}

TEST(inverse_sqrt_specials) {
    CHECK_EXACT(inverse_sqrt, {0, INF}, {-0.0, -INF}, {INF, 0}, {QUIET, QUIET}, {-LEAST, QUIET},
                {-1, QUIET}, {-INF, QUIET}, {1, 1}, {4, 0.5}, {0.25, 2}, {LEAST, 0x1p537});
}

static void check_exact_2(const char *name, binary f, const double (*table)[3], size_t count) {
    for (size_t i = 0; i < count; i++) {
        double got = f(table[i][0], table[i][1]);
        if (to_bits(got) != to_bits(table[i][2])) {
            test_fail(__FILE__, __LINE__, "%s(%a, %a) = %a, not %a", name, table[i][0], table[i][1],
                      got, table[i][2]);
        }
    }
}

TEST(pow_specials) {
    static const double table[][3] = {
        /* any base, even NaN, to the power 0; 1 to any power, even NaN */
        {0, 0, 1},
        {-0.0, 0, 1},
        {-INF, -0.0, 1},
        {QUIET, 0, 1},
        {QUIET, -0.0, 1},
        {1, QUIET, 1},
        {1, INF, 1},
        {1, MOST, 1},
        /* zero */
        {0, -3, INF},
        {-0.0, -3, -INF},
        {-0.0, -2, INF},
        {-0.0, -0.5, INF},
        {-0.0, -INF, INF},
        {0, 3, 0},
        {-0.0, 3, -0.0},
        {-0.0, 2, 0},
        {-0.0, 0.5, 0},
        {-0.0, INF, 0},
        /* infinite powers */
        {-1, INF, 1},
        {-1, -INF, 1},
        {-0.5, -INF, INF},
        {-2, -INF, 0},
        {-0.5, INF, 0},
        {-2, INF, INF},
        {0x1.fffffffffffffp-1, INF, 0},
        {0x1.0000000000001p0, INF, INF},
        {LEAST, -INF, INF},
        /* infinite bases */
        {-INF, -3, -0.0},
        {-INF, -2, 0},
        {-INF, -0.5, 0},
        {-INF, 3, -INF},
        {-INF, 2, INF},
        {-INF, 0.5, INF},
        {INF, -3, 0},
        {INF, 0.5, INF},
        {INF, INF, INF},
        {-INF, -INF, 0},
        /* no real value, and NaN elsewhere */
        {-1, 0.5, QUIET},
        {-LEAST, 0.5, QUIET},
        {-MOST, -0.5, QUIET},
        {-2, LEAST, QUIET},
        {-2, 0x1.fffffffffffffp51, QUIET},
        {QUIET, 1, QUIET},
        {2, QUIET, QUIET},
        {-1, QUIET, QUIET},
        {0, QUIET, QUIET},
        {QUIET, INF, QUIET},
        /* signs by parity: all from 2^53 on are even */
        {-1, 0x1.0000000000001p52, -1},
        {-1, 0x1.fffffffffffffp52, -1},
        {-1, 0x1p53, 1},
        {-1, MOST, 1},
        {-2, 3, -8},
        {-2, 1024, INF},
        {-2, 1025, -INF},
        {-2, -1075, -0.0},
        /* powers of two, to the edges */
        {2, 1023, 0x1p1023},
        {2, 1024, INF},
        {2, -1074, LEAST},
        {2, -1075, 0},
        {LEAST, -1, INF},
        {MOST, 2, INF},
        {2, -MOST, 0},
        {0.5, MOST, 0},
    };
    check_exact_2("pow", vyre_ref_pow_f64, table, COUNT(table));
}

TEST(atan2_specials) {
    static const double table[][3] = {
        {0, 0, 0},
        {-0.0, 0, -0.0},
        {0, -0.0, PI},
        {-0.0, -0.0, -PI},
        {0, -1, PI},
        {-0.0, -LEAST, -PI},
        {0, 1, 0},
        {-0.0, INF, -0.0},
        {1, 0, PI / 2},
        {1, -0.0, PI / 2},
        {-1, 0, -PI / 2},
        {-LEAST, -0.0, -PI / 2},
        {1, -INF, PI},
        {-MOST, -INF, -PI},
        {MOST, INF, 0},
        {-1, INF, -0.0},
        {INF, 1, PI / 2},
        {-INF, -MOST, -PI / 2},
        {INF, -INF, 0x1.2d97c7f3321d2p1},
        {-INF, -INF, -0x1.2d97c7f3321d2p1},
        {INF, INF, PI / 4},
        {-INF, INF, -PI / 4},
        {1, 1, PI / 4},
        {LEAST, -LEAST, 0x1.2d97c7f3321d2p1},
        {MOST, MOST, PI / 4},
        {LEAST, MOST, 0},
        {-MOST, LEAST, -PI / 2},
        {QUIET, 0, QUIET},
        {0, QUIET, QUIET},
        {QUIET, QUIET, QUIET},
        {QUIET, INF, QUIET},
        {INF, QUIET, QUIET},
        {3 * LEAST, 1, 3 * LEAST}, /* subnormal */
    };
    check_exact_2("atan2", vyre_ref_atan2_f64, table, COUNT(table));
    for (size_t i = 0; i < COUNT(table) - 1; i++) {
        const double least = (double)0x1p-149f, most = (double)0x1.fffffep127f;
        float in[2];
        for (int k = 0; k < 2; k++) {
            double x = table[i][k], size = fabs(x);
            size = size == LEAST ? least : size == MOST ? most : size;
            in[k] = (float)copysign(size, x);
        }
        float got = vyre_ref_atan2(in[0], in[1]), want = (float)table[i][2];
        if (to_bits((double)got) != to_bits((double)want)) {
            test_fail(__FILE__, __LINE__, "atan2 of f32 (%a, %a) = %a, not %a", (double)in[0],
                      (double)in[1], (double)got, (double)want);
        }
    }
}

/* Position in the order of all numbers, so that neighbours differ by 1. */
static int64_t order(double d) {
    int64_t size = (int64_t)(to_bits(fabs(d)));
    return signbit(d) ? -size : size;
}

static void check_near(const char *name, double x, double y, double got, mpfr_srcptr exact) {
    double want = mpfr_get_d(exact, MPFR_RNDN);
    bool near = isnan(want) ? isnan(got) : !isnan(got) && llabs(order(got) - order(want)) <= 2;
    if (!near) {
        test_fail(__FILE__, __LINE__, "%s(%a, %a) = %a, not about %a", name, x, y, got, want);
    }
}

static const struct {
    const char *name;
    unary f;
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
} functions[] = {
    {"exp", vyre_ref_exp_f64, mpfr_exp},
    {"exp2", vyre_ref_exp2_f64, mpfr_exp2},
    {"log", vyre_ref_log_f64, mpfr_log},
    {"log2", vyre_ref_log2_f64, mpfr_log2},
    {"sin", vyre_ref_sin_f64, mpfr_sin},
    {"cos", vyre_ref_cos_f64, mpfr_cos},
    {"tan", vyre_ref_tan_f64, mpfr_tan},
    {"asin", vyre_ref_asin_f64, mpfr_asin},
    {"acos", vyre_ref_acos_f64, mpfr_acos},
    {"atan", vyre_ref_atan_f64, mpfr_atan},
    {"sinh", vyre_ref_sinh_f64, mpfr_sinh},
    {"cosh", vyre_ref_cosh_f64, mpfr_cosh},
    {"tanh", vyre_ref_tanh_f64, mpfr_tanh},
    {"inverse_sqrt", vyre_ref_inverse_sqrt_f64, mpfr_rec_sqrt},
};

/* A number of any size, or, every other time, one between 2^-10 and 2^10. */
static double some(uint64_t *state, uint64_t i) {
    uint64_t u = test_random(state);
    uint64_t near = (UINT64_C(1013) + test_random_below(state, 20)) << 52;
    return i & 1 ? from_bits(u) : from_bits((u & UINT64_C(0x800fffffffffffff)) | near);
}

TEST(hard_and_random_arguments) {
    /* nearest to multiples of pi/2; where the reduction takes another word; around 1; where results
     * leave the range */
    static const double hard[] = {0x1.6ac5b262ca1ffp849,
                                  0x1.6ac5b262ca1ffp850,
                                  0x1.504cac51f1eafp131,
                                  0x1.e009c53148be1p991,
                                  0x1.4c96c11134d36p577,
                                  0x1.cfe482285f8edp860,
                                  0x1.db41f3cb71d7bp680,
                                  0x1.e7e44a78ac18cp197,
                                  0x1.c45cd11154dfdp295,
                                  0x1.83009e2e9e2ebp614,
                                  0x1.6c6cbc45dc8dep5,
                                  0x1.b951f1572eba5p23,
                                  0x1p54,
                                  0x1.8p107,
                                  0x1.8p160,
                                  0x1.8p266,
                                  0x1.8p478,
                                  0x1.8p902,
                                  MOST,
                                  0x1.fffffffffffffp-1,
                                  0x1.0000000000001p0,
                                  0x1.6a09e667f3bccp-1,
                                  0x1.6a09e667f3bcdp-1,
                                  0x1.6a09e667f3bcdp0,
                                  0x1.8p-1,
                                  0x1.921fb54442d18p-1,
                                  0x1.921fb54442d18p0,
                                  0x1.a827999fcef32p-2,
                                  0x1.62e42fefa39efp9,
                                  0x1.633ce8fb9f87dp9,
                                  0x1.6232bdd7abcd2p9,
                                  0x1.74385446d71c3p9,
                                  0x1.74910d52d3051p9,
                                  0.5,
                                  0.625,
                                  NORMAL,
                                  NORMAL / 2};
    mpfr_t a, r;
    uint64_t state = 5;
    mpfr_inits2(160, a, r, (mpfr_ptr)0);
    for (size_t f = 0; f < COUNT(functions); f++) {
        const uint64_t count = test_scaled(2000);
        for (uint64_t i = 0; i < count + 2 * COUNT(hard); i++) {
            uint64_t k = i < count ? 0 : i - count;
            double x = i < count ? some(&state, i) : k & 1 ? -hard[k / 2] : hard[k / 2];
            mpfr_set_d(a, x, MPFR_RNDN);
            functions[f].exact(r, a, MPFR_RNDN);
            check_near(functions[f].name, x, 0, functions[f].f(x), r);
        }
    }
    mpfr_clears(a, r, (mpfr_ptr)0);
}

TEST(hard_and_random_pairs) {
    mpfr_t a, b, r;
    uint64_t state = 6;
    mpfr_inits2(160, a, b, r, (mpfr_ptr)0);
    for (uint64_t i = 0; i < test_scaled(4000); i++) {
        double x = some(&state, i), y = some(&state, i), base = x;
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        mpfr_atan2(r, a, b, MPFR_RNDN);
        check_near("atan2", x, y, vyre_ref_atan2_f64(x, y), r);
        /* a base near 1 with a huge exponent, any with one that leaves it in range; and any pair */
        double unit = (double)(int64_t)test_random(&state) * 0x1p-63;
        if (i % 3 != 0) {
            base = i % 3 == 1 ? 1 + 0x1p-40 * unit : fabs(x);
            y = 1080 * (double)(int64_t)test_random(&state) * 0x1p-63 / log2(base);
        }
        mpfr_set_d(a, base, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        mpfr_pow(r, a, b, MPFR_RNDN);
        check_near("pow", base, y, vyre_ref_pow_f64(base, y), r);
    }
    mpfr_clears(a, b, r, (mpfr_ptr)0);
}

/* Bits, not values: -0 counts. */
TEST(symmetries) {
    static const unary odd[] = {vyre_ref_sin_f64,  vyre_ref_tan_f64,  vyre_ref_asin_f64,
                                vyre_ref_atan_f64, vyre_ref_sinh_f64, vyre_ref_tanh_f64};
    static const unary even[] = {vyre_ref_cos_f64, vyre_ref_cosh_f64};
    uint64_t state = 7;
    for (uint64_t n = 0; n < test_scaled(20000); n++) {
        double x = some(&state, n);
        for (size_t i = 0; i < COUNT(odd); i++) {
            CHECK_EQ(to_bits(odd[i](-x)), to_bits(-odd[i](x)));
        }
        for (size_t i = 0; i < COUNT(even); i++) {
            CHECK_EQ(to_bits(even[i](-x)), to_bits(even[i](x)));
        }
        CHECK_EQ(to_bits(vyre_ref_pow_f64(-x, 3)), to_bits(-vyre_ref_pow_f64(x, 3)));
        CHECK_EQ(to_bits(vyre_ref_pow_f64(-x, -2)), to_bits(vyre_ref_pow_f64(x, -2)));
        CHECK_EQ(to_bits(vyre_ref_atan2_f64(-x, 3)), to_bits(-vyre_ref_atan2_f64(x, 3)));
    }
}

#define PIN_COUNT 32768

static void check_pin(const char *name, const uint64_t *results, uint64_t want) {
    uint64_t got = vyre_hash_bytes(results, PIN_COUNT * sizeof *results);
    if (got != want) {
        test_fail(__FILE__, __LINE__, "the results of %s have changed: 0x%016" PRIx64, name, got);
    }
}

/* The sequences are the definition: a change of a single bit is a change of the language, and a
 * compiler that contracts or reassociates shows here too. */
TEST(bits_do_not_change) {
    static const uint64_t pins[COUNT(functions)] = {
        UINT64_C(0x3f40dcdce9f5b9d8), UINT64_C(0x6193dc13224722bd), UINT64_C(0x38786160693af0c9),
        UINT64_C(0x70259dd0a98edcb7), UINT64_C(0x857e0492c28a36c3), UINT64_C(0x50e1233114c50f4c),
        UINT64_C(0x1e6637c9d3a8145d), UINT64_C(0xaa0a354b4989dc3e), UINT64_C(0xd0e01baf515fff2a),
        UINT64_C(0xd9f54d10514a5010), UINT64_C(0xa6e1578f76482af0), UINT64_C(0x5da9aa403a87a4f1),
        UINT64_C(0x3048df67fd3ff230), UINT64_C(0xe73348d72e8092e7)};
    static uint64_t results[PIN_COUNT];
    for (size_t k = 0; k < COUNT(functions); k++) {
        uint64_t state = 1;
        for (uint64_t i = 0; i < PIN_COUNT; i++) {
            results[i] = to_bits(functions[k].f(some(&state, i)));
        }
        check_pin(functions[k].name, results, pins[k]);
    }
    static uint64_t angles[PIN_COUNT];
    static uint32_t narrow[PIN_COUNT];
    uint64_t state = 1;
    for (uint64_t i = 0; i < PIN_COUNT; i++) {
        double x = some(&state, i), y = some(&state, i & 2);
        results[i] = to_bits(vyre_ref_pow_f64(fabs(x), y));
        angles[i] = to_bits(vyre_ref_atan2_f64(x, y));
        float angle = vyre_ref_atan2((float)x, (float)y);
        memcpy(&narrow[i], &angle, sizeof angle);
        narrow[i] = isnan(angle) ? UINT32_C(0x7fc00000) : narrow[i];
    }
    check_pin("pow", results, UINT64_C(0xf77fa48c5438d7d9));
    check_pin("atan2", angles, UINT64_C(0x7ea469490cf3be2b));
    uint64_t got = vyre_hash_bytes(narrow, sizeof narrow);
    if (got != UINT64_C(0xde0371f068b1814c)) {
        test_fail(__FILE__, __LINE__, "the results of atan2 of f32 have changed: 0x%016" PRIx64,
                  got);
    }
}
