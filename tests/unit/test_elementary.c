/* The elementary functions: special cases as C11 Annex F has them, literal values, symmetries, and
 * that the template keeps its contract. Errors are measured over far more arguments by vyre_ulp. */
#include "backend/ref/elementary.h"

#include <math.h>

#include "base/hash.h"
#include "harness/test.h"

#include "elementary_values.inc"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIGN         UINT32_C(0x80000000)
#define ONE          UINT32_C(0x3f800000)
#define TWO          UINT32_C(0x40000000)
#define HALF         UINT32_C(0x3f000000)
#define INF          UINT32_C(0x7f800000)
#define NUM_MAX      UINT32_C(0x7f7fffff) /* the largest finite number */
#define QUIET        UINT32_C(0x7fc00000) /* stands for every NaN */
#define PI           UINT32_C(0x40490fdb)
#define PI_HALF      UINT32_C(0x3fc90fdb)

typedef float (*unary)(float);

static float from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* All NaNs are one. */
static uint32_t to_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return isnan(f) ? QUIET : u;
}

/* Position in the order of all numbers, so that neighbours differ by 1. */
static int64_t order(uint32_t u) {
    return u & SIGN ? -(int64_t)(u & ~SIGN) : (int64_t)u;
}

static void check_exact(const char *name, unary f, const uint32_t (*table)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t got = to_bits(f(from_bits(table[i][0])));
        if (got != table[i][1]) {
            test_fail(__FILE__, __LINE__, "%s(%08" PRIx32 ") = %08" PRIx32 ", not %08" PRIx32, name,
                      table[i][0], got, table[i][1]);
        }
    }
}

static bool is_near(uint32_t got, uint32_t want) {
    int64_t distance = order(got) - order(want);
    return got != QUIET && distance >= -4 && distance <= 4;
}

static void check_near(const char *name, unary f, const uint32_t (*table)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t got = to_bits(f(from_bits(table[i][0])));
        if (!is_near(got, table[i][1])) {
            test_fail(__FILE__, __LINE__, "%s(%08" PRIx32 ") = %08" PRIx32 ", not about %08" PRIx32,
                      name, table[i][0], got, table[i][1]);
        }
    }
}

#define CHECK_EXACT(name, ...)                                                                     \
    do {                                                                                           \
        static const uint32_t table[][2] = {__VA_ARGS__};                                          \
        check_exact(#name, vyre_ref_##name, table, COUNT(table));                                  \
    } while (0)

#define CHECK_VALUES(name)                                                                         \
    check_near(#name, vyre_ref_##name, values_of_##name, COUNT(values_of_##name));

/* f(x) = x for zeros, subnormals and NaN. */
#define TINY_IS_ITSELF                                                                             \
    {0, 0}, {SIGN, SIGN}, {1, 1}, {SIGN | 1, SIGN | 1}, {0x007fffff, 0x007fffff},                  \
        {0x807fffff, 0x807fffff}, {0x00800000, 0x00800000}, {QUIET, QUIET}, {                      \
        SIGN | QUIET, QUIET                                                                        \
    }

TEST(exp_specials) {
    CHECK_EXACT(exp, {0, ONE}, {SIGN, ONE}, {1, ONE}, {SIGN | 1, ONE}, {INF, INF}, {SIGN | INF, 0},
                {QUIET, QUIET}, {NUM_MAX, INF}, {SIGN | NUM_MAX, 0}, {0x42b20000, INF} /* 89 */,
                {0xc2d00000, 0} /* -104 */, {0x42b17218, INF} /* just above log(max) */,
                {0xc2cff1b5, 0} /* just below log(2^-150) */);
    CHECK_EXACT(exp2, {0, ONE}, {SIGN, ONE}, {1, ONE}, {SIGN | 1, ONE}, {INF, INF}, {SIGN | INF, 0},
                {QUIET, QUIET}, {NUM_MAX, INF}, {SIGN | NUM_MAX, 0}, {ONE, TWO}, {SIGN | ONE, HALF},
                {0x40400000, 0x41000000} /* 3 */, {0x42fe0000, 0x7f000000} /* 127 */,
                {0x43000000, INF} /* 128 */, {0xc2fc0000, 0x00800000} /* -126 */,
                {0xc2fe0000, 0x00400000} /* -127 */, {0xc3150000, 1} /* -149 */,
                {0xc3160000, 0} /* -150, half of the least, to even */);
}

TEST(log_specials) {
    CHECK_EXACT(log, {ONE, 0}, {0, SIGN | INF}, {SIGN, SIGN | INF}, {INF, INF}, {QUIET, QUIET},
                {SIGN | 1, QUIET}, {SIGN | ONE, QUIET}, {SIGN | NUM_MAX, QUIET},
                {SIGN | INF, QUIET});
    CHECK_EXACT(log2, {ONE, 0}, {0, SIGN | INF}, {SIGN, SIGN | INF}, {INF, INF}, {QUIET, QUIET},
                {SIGN | 1, QUIET}, {SIGN | ONE, QUIET}, {SIGN | NUM_MAX, QUIET},
                {SIGN | INF, QUIET}, {TWO, ONE}, {HALF, SIGN | ONE},
                {0x41000000, 0x40400000} /* 8 */, {0x7f000000, 0x42fe0000} /* 2^127 */,
                {0x00800000, 0xc2fc0000} /* 2^-126 */, {1, 0xc3150000} /* 2^-149 */);
}

TEST(trigonometric_specials) {
    CHECK_EXACT(sin, TINY_IS_ITSELF, {INF, QUIET}, {SIGN | INF, QUIET});
    CHECK_EXACT(tan, TINY_IS_ITSELF, {INF, QUIET}, {SIGN | INF, QUIET});
    CHECK_EXACT(cos, {0, ONE}, {SIGN, ONE}, {1, ONE}, {SIGN | 1, ONE}, {QUIET, QUIET}, {INF, QUIET},
                {SIGN | INF, QUIET});
}

TEST(inverse_trigonometric_specials) {
    CHECK_EXACT(asin, TINY_IS_ITSELF, {ONE, PI_HALF}, {SIGN | ONE, SIGN | PI_HALF},
                {ONE + 1, QUIET}, {(SIGN | ONE) + 1, QUIET}, {INF, QUIET}, {SIGN | INF, QUIET});
    CHECK_EXACT(acos, {ONE, 0}, {SIGN | ONE, PI}, {0, PI_HALF}, {SIGN, PI_HALF}, {1, PI_HALF},
                {QUIET, QUIET}, {ONE + 1, QUIET}, {(SIGN | ONE) + 1, QUIET}, {INF, QUIET},
                {SIGN | INF, QUIET});
    CHECK_EXACT(atan, TINY_IS_ITSELF, {INF, PI_HALF}, {SIGN | INF, SIGN | PI_HALF},
                {NUM_MAX, PI_HALF}, {SIGN | NUM_MAX, SIGN | PI_HALF});
}

TEST(hyperbolic_specials) {
    CHECK_EXACT(sinh, TINY_IS_ITSELF, {INF, INF}, {SIGN | INF, SIGN | INF}, {NUM_MAX, INF},
                {0x42b40000, INF} /* 90 */, {0xc2b40000, SIGN | INF});
    CHECK_EXACT(cosh, {0, ONE}, {SIGN, ONE}, {1, ONE}, {QUIET, QUIET}, {INF, INF},
                {SIGN | INF, INF}, {NUM_MAX, INF}, {0x42b40000, INF}, {0xc2b40000, INF});
    CHECK_EXACT(tanh, TINY_IS_ITSELF, {INF, ONE}, {SIGN | INF, SIGN | ONE}, {NUM_MAX, ONE},
                {0x41a00000, ONE} /* 20 */, {0xc1a00000, SIGN | ONE});
}

TEST(inverse_sqrt_specials) {
    CHECK_EXACT(inverse_sqrt, {0, INF}, {SIGN, SIGN | INF}, {INF, 0}, {QUIET, QUIET},
                {SIGN | 1, QUIET}, {SIGN | ONE, QUIET}, {SIGN | INF, QUIET}, {ONE, ONE},
                {0x40800000, HALF} /* 4 */, {0x3e800000, TWO} /* 1/4 */,
                {2, 0x64800000} /* 2^-148 */);
}

#define N(x) (SIGN | (x)) /* -x */
#define ODD  UINT32_C(0x40400000)
#define EVEN TWO

TEST(pow_specials) {
    static const uint32_t table[][3] = {
        /* any base, even NaN, to the power 0; 1 to any power, even NaN */
        {0, 0, ONE},
        {N(0), 0, ONE},
        {INF, 0, ONE},
        {N(INF), N(0), ONE},
        {QUIET, 0, ONE},
        {QUIET, N(0), ONE},
        {N(TWO), 0, ONE},
        {ONE, QUIET, ONE},
        {ONE, INF, ONE},
        {ONE, N(INF), ONE},
        {ONE, NUM_MAX, ONE},
        /* zero to negative powers, odd, even, fractional, infinite */
        {0, N(ODD), INF},
        {N(0), N(ODD), N(INF)},
        {0, N(EVEN), INF},
        {N(0), N(EVEN), INF},
        {0, N(HALF), INF},
        {N(0), N(HALF), INF},
        {0, N(INF), INF},
        {N(0), N(INF), INF},
        /* zero to positive powers */
        {0, ODD, 0},
        {N(0), ODD, N(0)},
        {0, EVEN, 0},
        {N(0), EVEN, 0},
        {0, HALF, 0},
        {N(0), HALF, 0},
        {0, INF, 0},
        {N(0), INF, 0},
        /* infinite powers */
        {N(ONE), INF, ONE},
        {N(ONE), N(INF), ONE},
        {HALF, N(INF), INF},
        {N(HALF), N(INF), INF},
        {TWO, N(INF), 0},
        {N(TWO), N(INF), 0},
        {HALF, INF, 0},
        {N(HALF), INF, 0},
        {TWO, INF, INF},
        {N(TWO), INF, INF},
        {ONE - 1, INF, 0},
        {ONE + 1, INF, INF},
        {1, N(INF), INF},
        /* infinite bases */
        {N(INF), N(ODD), N(0)},
        {N(INF), N(EVEN), 0},
        {N(INF), N(HALF), 0},
        {N(INF), ODD, N(INF)},
        {N(INF), EVEN, INF},
        {N(INF), HALF, INF},
        {INF, N(ODD), 0},
        {INF, ODD, INF},
        {INF, HALF, INF},
        {INF, INF, INF},
        {INF, N(INF), 0},
        {N(INF), INF, INF},
        {N(INF), N(INF), 0},
        /* no real value */
        {N(ONE), HALF, QUIET},
        {N(TWO), N(HALF), QUIET},
        {N(1), HALF, QUIET},
        {N(NUM_MAX), HALF, QUIET},
        {N(TWO), 1, QUIET},
        {N(TWO), 0x4afffffe + 1, QUIET},
        /* NaN elsewhere */
        {QUIET, ONE, QUIET},
        {ONE + 1, QUIET, QUIET},
        {N(ONE), QUIET, QUIET},
        {0, QUIET, QUIET},
        {N(0), QUIET, QUIET},
        {INF, QUIET, QUIET},
        {N(INF), QUIET, QUIET},
        {QUIET, INF, QUIET},
        {QUIET, QUIET, QUIET},
        /* signs by parity: 2^23 + 1 is odd, 2^24 - 1 is, everything from 2^24 on is even */
        {N(ONE), 0x4b000001, N(ONE)},
        {N(ONE), 0x4b7fffff, N(ONE)},
        {N(ONE), 0x4b800000, ONE},
        {N(ONE), NUM_MAX, ONE},
        {N(TWO), ODD, N(0x41000000)},
        {N(TWO), EVEN, 0x40800000},
        {N(TWO), 0x43000000, INF},
        {N(TWO), 0x43010000, N(INF)},
        {N(TWO), 0xc3170000, N(0)}, /* -151 */
        /* powers of two, to the edges */
        {TWO, 0x42fe0000, 0x7f000000},
        {TWO, 0x43000000, INF},
        {TWO, 0xc3150000, 1},
        {TWO, 0xc3160000, 0},
        {1, N(ONE), INF},
        {NUM_MAX, TWO, INF},
        {1, TWO, 0},
        {TWO, NUM_MAX, INF},
        {TWO, N(NUM_MAX), 0},
        {HALF, NUM_MAX, 0},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        uint32_t got = to_bits(vyre_ref_pow(from_bits(table[i][0]), from_bits(table[i][1])));
        if (got != table[i][2]) {
            test_fail(__FILE__, __LINE__,
                      "pow(%08" PRIx32 ", %08" PRIx32 ") = %08" PRIx32 ", not %08" PRIx32,
                      table[i][0], table[i][1], got, table[i][2]);
        }
    }
}

TEST(literal_values) {
    VYRE_ELEMENTARY_UNARY(CHECK_VALUES)
    for (size_t i = 0; i < COUNT(values_of_pow); i++) {
        const uint32_t *v = values_of_pow[i];
        uint32_t got = to_bits(vyre_ref_pow(from_bits(v[0]), from_bits(v[1])));
        if (!is_near(got, v[2])) {
            test_fail(__FILE__, __LINE__,
                      "pow(%08" PRIx32 ", %08" PRIx32 ") = %08" PRIx32 ", not about %08" PRIx32,
                      v[0], v[1], got, v[2]);
        }
    }
}

/* Bits, not values: -0 counts. */
TEST(symmetries) {
    static const unary odd[] = {vyre_ref_sin,  vyre_ref_tan,  vyre_ref_asin,
                                vyre_ref_atan, vyre_ref_sinh, vyre_ref_tanh};
    static const unary even[] = {vyre_ref_cos, vyre_ref_cosh};
    for (uint64_t u = 0; u <= INF; u += 65521) {
        float x = from_bits((uint32_t)u);
        for (size_t i = 0; i < COUNT(odd); i++) {
            CHECK_EQ(to_bits(odd[i](-x)), to_bits(-odd[i](x)));
        }
        for (size_t i = 0; i < COUNT(even); i++) {
            CHECK_EQ(to_bits(even[i](-x)), to_bits(even[i](x)));
        }
        CHECK_EQ(to_bits(vyre_ref_pow(-x, 3.0f)), to_bits(-vyre_ref_pow(x, 3.0f)));
        CHECK_EQ(to_bits(vyre_ref_pow(-x, -2.0f)), to_bits(vyre_ref_pow(x, -2.0f)));
    }
}

#define PIN_COUNT 65536

static void check_pin(const char *name, const uint32_t *results, uint64_t want) {
    uint64_t got = vyre_hash_bytes(results, PIN_COUNT * sizeof *results);
    if (got != want) {
        test_fail(__FILE__, __LINE__, "the results of %s have changed: 0x%016" PRIx64, name, got);
    }
}

/* The sequences are the definition: a change of a single bit is a change of the language, and a
 * compiler that contracts or reassociates shows here too. */
TEST(bits_do_not_change) {
    static const struct {
        const char *name;
        unary f;
        uint64_t hash;
    } pins[] = {
        {"exp", vyre_ref_exp, UINT64_C(0x93d86cd1978d51a3)},
        {"exp2", vyre_ref_exp2, UINT64_C(0x3f01027ec76bfd13)},
        {"log", vyre_ref_log, UINT64_C(0x849841db9ddbc76b)},
        {"log2", vyre_ref_log2, UINT64_C(0x286954e14082d607)},
        {"sin", vyre_ref_sin, UINT64_C(0x7742b2233d2bb769)},
        {"cos", vyre_ref_cos, UINT64_C(0xb84821e7bd7f4fde)},
        {"tan", vyre_ref_tan, UINT64_C(0x85b55b7f181475ca)},
        {"asin", vyre_ref_asin, UINT64_C(0x1d9643b9d92338fc)},
        {"acos", vyre_ref_acos, UINT64_C(0xaf68ccea25706789)},
        {"atan", vyre_ref_atan, UINT64_C(0x98e328becd73d139)},
        {"sinh", vyre_ref_sinh, UINT64_C(0xfcf14c8dcdddc89a)},
        {"cosh", vyre_ref_cosh, UINT64_C(0x3544aca6852eb400)},
        {"tanh", vyre_ref_tanh, UINT64_C(0x6d1ef1df36bfc2ca)},
        {"inverse_sqrt", vyre_ref_inverse_sqrt, UINT64_C(0x0260b7419ebc981f)},
    };
    static uint32_t results[PIN_COUNT];
    for (size_t k = 0; k < COUNT(pins); k++) {
        for (uint32_t i = 0; i < PIN_COUNT; i++) {
            results[i] = to_bits(pins[k].f(from_bits(i * 65521)));
        }
        check_pin(pins[k].name, results, pins[k].hash);
    }
    uint64_t state = 1;
    for (uint32_t i = 0; i < PIN_COUNT; i++) {
        float x = from_bits(UINT32_C(0x3e000000) + (uint32_t)test_random_below(&state, 0x03000000));
        float y = from_bits((uint32_t)test_random_below(&state, 0x44000000) ^ (i & 1 ? SIGN : 0));
        results[i] = to_bits(vyre_ref_pow(x, y));
    }
    check_pin("pow", results, UINT64_C(0xe367c9425aeb5b8f));
}
