/* The contract of the template of the elementary functions: it compiles with values that can only
 * be touched by its operations, and makes the same number of them whatever the argument is. */
#include <math.h>

#include "backend/ref/elementary.h"
#include "harness/test.h"

typedef struct M {
    unsigned operations;
} M;
typedef struct M_F {
    float v;
} M_F;
typedef struct M_U {
    uint32_t v;
} M_U;
typedef struct M_I {
    int32_t v;
} M_I;
typedef struct M_B {
    bool v;
} M_B;

/* Constants and reinterpretations cost nothing; the rest counts. */
#define DEFINE_1(cost, type, name, a_type, expression)                                             \
    static inline type name(M *m, a_type a) {                                                      \
        m->operations += cost;                                                                     \
        return (type){expression};                                                                 \
    }
#define DEFINE_2(type, name, in, expression)                                                       \
    static inline type name(M *m, in a, in b) {                                                    \
        m->operations++;                                                                           \
        return (type){expression};                                                                 \
    }
#define DEFINE_SHIFT(type, name, expression)                                                       \
    static inline type name(M *m, type a, M_U b) {                                                 \
        m->operations++;                                                                           \
        return (type){expression};                                                                 \
    }
#define DEFINE_SELECT(type, name)                                                                  \
    static inline type name(M *m, M_B c, type a, type b) {                                         \
        m->operations++;                                                                           \
        return c.v ? a : b;                                                                        \
    }

static uint32_t to_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline M_F m_fma(M *m, M_F a, M_F b, M_F c) {
    m->operations++;
    return (M_F){fmaf(a.v, b.v, c.v)};
}

DEFINE_1(0, M_F, m_const, float, a)
DEFINE_1(0, M_U, m_u_const, uint32_t, a)
DEFINE_1(0, M_U, m_bits, M_F, to_bits(a.v))
DEFINE_1(0, M_F, m_float, M_U, from_bits(a.v))
DEFINE_1(0, M_I, m_as_i, M_U, (int32_t)a.v)
DEFINE_1(0, M_U, m_as_u, M_I, (uint32_t)a.v)
DEFINE_1(1, M_F, m_neg, M_F, -a.v)
DEFINE_1(1, M_F, m_abs, M_F, fabsf(a.v))
DEFINE_1(1, M_F, m_sqrt, M_F, sqrtf(a.v))
DEFINE_1(1, M_F, m_trunc, M_F, truncf(a.v))
DEFINE_1(1, M_F, m_i_to_f, M_I, (float)a.v)
DEFINE_2(M_F, m_add, M_F, a.v + b.v)
DEFINE_2(M_F, m_sub, M_F, a.v - b.v)
DEFINE_2(M_F, m_mul, M_F, a.v *b.v)
DEFINE_2(M_F, m_div, M_F, a.v / b.v)
DEFINE_2(M_B, m_lt, M_F, a.v < b.v)
DEFINE_2(M_B, m_eq, M_F, a.v == b.v)
DEFINE_2(M_B, m_u_lt, M_U, a.v < b.v)
DEFINE_2(M_B, m_u_eq, M_U, a.v == b.v)
DEFINE_2(M_B, m_b_or, M_B, a.v || b.v)
DEFINE_2(M_U, m_u_add, M_U, a.v + b.v)
DEFINE_2(M_U, m_u_sub, M_U, a.v - b.v)
DEFINE_2(M_U, m_u_mul, M_U, a.v *b.v)
DEFINE_2(M_U, m_u_mul_high, M_U, (uint32_t)((uint64_t)a.v *b.v >> 32))
DEFINE_2(M_U, m_u_and, M_U, a.v &b.v)
DEFINE_2(M_U, m_u_or, M_U, a.v | b.v)
DEFINE_2(M_U, m_u_xor, M_U, a.v ^ b.v)
DEFINE_SHIFT(M_U, m_u_shl, a.v << (b.v & 31))
DEFINE_SHIFT(M_U, m_u_shr, a.v >> (b.v & 31))
DEFINE_SHIFT(M_I, m_i_shr, a.v >> (b.v & 31))
DEFINE_SELECT(M_F, m_select)
DEFINE_SELECT(M_U, m_u_select)

#include "ir/elementary.inc"

static void check_same(const char *name, float got, float want, unsigned made, unsigned most) {
    if (to_bits(got) != to_bits(want) && !(isnan(got) && isnan(want))) {
        test_fail(__FILE__, __LINE__, "%s differs: %a, %a", name, (double)got, (double)want);
    }
    if (made != most) {
        test_fail(__FILE__, __LINE__, "%s: %u operations, not %u", name, made, most);
    }
}

#define CHECK_FUNCTION(name)                                                                       \
    for (uint64_t u = 0, first = 0; u < UINT64_C(1) << 32; u += 1000003) {                         \
        M m = {0};                                                                                 \
        float x = from_bits((uint32_t)u), y = elementary_##name(&m, (M_F){x}).v;                   \
        first = u ? first : m.operations;                                                          \
        check_same(#name, y, vyre_ref_##name(x), m.operations, (unsigned)first);                   \
    }

TEST(one_straight_line) {
    VYRE_ELEMENTARY_UNARY(CHECK_FUNCTION)
    uint64_t state = 1;
    unsigned first = 0;
    for (int i = 0; i < 100000; i++) {
        M m = {0};
        uint64_t random = test_random(&state);
        float x = from_bits((uint32_t)random), y = from_bits((uint32_t)(random >> 32));
        float z = elementary_pow(&m, (M_F){x}, (M_F){y}).v;
        first = i ? first : m.operations;
        check_same("pow", z, vyre_ref_pow(x, y), m.operations, first);
    }
}
