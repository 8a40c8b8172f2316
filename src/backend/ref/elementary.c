/* Instantiates the elementary functions with plain C arithmetic. Right as long as the compiler
 * neither contracts nor reassociates (the build sets -ffp-contract=off) and the rounding mode is
 * the default one; a fused multiply-add is libm's fmaf, which is exact on every host. */
#include "backend/ref/elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "f32 arithmetic must not be done in a wider format");

typedef float M_F;
typedef uint32_t M_U;
typedef int32_t M_I;
typedef bool M_B;
typedef struct M {
    char unused;
} M;

#define DEFINE_1(type, name, a_type, expression)                                                   \
    static inline type name(M *m, a_type a) {                                                      \
        (void)m;                                                                                   \
        return expression;                                                                         \
    }
#define DEFINE_2(type, name, a_type, b_type, expression)                                           \
    static inline type name(M *m, a_type a, b_type b) {                                            \
        (void)m;                                                                                   \
        return expression;                                                                         \
    }
#define DEFINE_3(type, name, a_type, b_type, c_type, expression)                                   \
    static inline type name(M *m, a_type a, b_type b, c_type c) {                                  \
        (void)m;                                                                                   \
        return expression;                                                                         \
    }

static inline M_U m_bits(M *m, M_F a) {
    M_U u;
    (void)m;
    memcpy(&u, &a, sizeof u);
    return u;
}

static inline M_F m_float(M *m, M_U a) {
    M_F f;
    (void)m;
    memcpy(&f, &a, sizeof f);
    return f;
}

DEFINE_1(M_F, m_const, float, a)
DEFINE_1(M_U, m_u_const, uint32_t, a)
DEFINE_2(M_F, m_add, M_F, M_F, a + b)
DEFINE_2(M_F, m_sub, M_F, M_F, a - b)
DEFINE_2(M_F, m_mul, M_F, M_F, a *b)
DEFINE_2(M_F, m_div, M_F, M_F, a / b)
DEFINE_3(M_F, m_fma, M_F, M_F, M_F, fmaf(a, b, c))
DEFINE_1(M_F, m_neg, M_F, -a)
DEFINE_1(M_F, m_abs, M_F, fabsf(a))
DEFINE_1(M_F, m_sqrt, M_F, sqrtf(a))
DEFINE_1(M_F, m_trunc, M_F, truncf(a))
DEFINE_2(M_B, m_lt, M_F, M_F, a < b)
DEFINE_2(M_B, m_eq, M_F, M_F, a == b)
DEFINE_2(M_B, m_u_lt, M_U, M_U, a < b)
DEFINE_2(M_B, m_u_eq, M_U, M_U, a == b)
DEFINE_2(M_B, m_b_or, M_B, M_B, a || b)
DEFINE_3(M_F, m_select, M_B, M_F, M_F, a ? b : c)
DEFINE_3(M_U, m_u_select, M_B, M_U, M_U, a ? b : c)
DEFINE_2(M_U, m_u_add, M_U, M_U, a + b)
DEFINE_2(M_U, m_u_sub, M_U, M_U, a - b)
DEFINE_2(M_U, m_u_mul, M_U, M_U, a *b)
DEFINE_2(M_U, m_u_mul_high, M_U, M_U, (M_U)((uint64_t)a *b >> 32))
DEFINE_2(M_U, m_u_and, M_U, M_U, a &b)
DEFINE_2(M_U, m_u_or, M_U, M_U, a | b)
DEFINE_2(M_U, m_u_xor, M_U, M_U, a ^ b)
DEFINE_2(M_U, m_u_shl, M_U, M_U, a << (b & 31))
DEFINE_2(M_U, m_u_shr, M_U, M_U, a >> (b & 31))
DEFINE_2(M_I, m_i_shr, M_I, M_U, a >> (b & 31))
DEFINE_1(M_F, m_i_to_f, M_I, (M_F)a)
DEFINE_1(M_I, m_as_i, M_U, (M_I)a)
DEFINE_1(M_U, m_as_u, M_I, (M_U)a)

#include "ir/elementary.inc"

#define DEFINE_UNARY(name)                                                                         \
    float vyre_ref_##name(float x) {                                                               \
        M m = {0};                                                                                 \
        return elementary_##name(&m, x);                                                           \
    }
VYRE_ELEMENTARY_UNARY(DEFINE_UNARY)

float vyre_ref_pow(float x, float y) {
    M m = {0};
    return elementary_pow(&m, x, y);
}
