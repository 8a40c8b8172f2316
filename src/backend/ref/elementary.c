/* The elementary functions of f32, with plain C arithmetic. */
#include "backend/ref/elementary.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "f32 arithmetic must not be done in a wider format");

typedef float M_R;
typedef uint32_t M_U;
typedef int32_t M_I;
#define MATH(name) name##f
#include "backend/ref/elementary_ops.inc"

DEFINE_2(M_U, m_u_mul, M_U, M_U, a *b)
DEFINE_2(M_U, m_u_mul_high, M_U, M_U, (M_U)((uint64_t)a *b >> 32))
DEFINE_2(M_I, m_i_shr, M_I, M_U, a >> (b & 31))
DEFINE_1(M_F, m_i_to_f, M_I, (M_F)a)
DEFINE_1(M_I, m_as_i, M_U, (M_I)a)
DEFINE_1(M_U, m_as_u, M_I, (M_U)a)

#include "ir/elementary.inc"

#include "ir/elementary_apply.inc"

float vyre_ref_elementary(vyre_expr_op op, float x, float y) {
    M m = {0};
    return elementary_apply(&m, op, x, y);
}

#define DEFINE_UNARY(name)                                                                         \
    float vyre_ref_##name(float x) {                                                               \
        M m = {0};                                                                                 \
        return elementary_##name(&m, x);                                                           \
    }
VYRE_ELEMENTARY_UNARY(DEFINE_UNARY)

#define DEFINE_BINARY(name)                                                                        \
    float vyre_ref_##name(float x, float y) {                                                      \
        M m = {0};                                                                                 \
        return elementary_##name(&m, x, y);                                                        \
    }
VYRE_ELEMENTARY_BINARY(DEFINE_BINARY)
