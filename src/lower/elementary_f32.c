/* The elementary functions of f32 as sequences; lower_elementary.c puts them into programs. */
#include <math.h>
#include <string.h>

#include "lower/elementary.h"

typedef float M_R;
typedef uint32_t M_WORD;
#define F_TYPE VYRE_F32
#define U_TYPE VYRE_U32
#include "lower/elementary_ops.inc"

typedef struct M_I {
    uint32_t v;
} M_I;

static inline M_F m_i_to_f(M *m, M_I a) {
    return (M_F){vyre_sequence_cast(m, VYRE_F32, a.v)};
}

DEFINE_2(M_U, m_u_mul, M_U, M_U, MUL)
DEFINE_2(M_U, m_u_mul_high, M_U, M_U, MUL_HIGH)
DEFINE_2(M_I, m_i_shr, M_I, M_U, SHR)
DEFINE_BITS(M_I, m_as_i, M_U, VYRE_I32)
DEFINE_BITS(M_U, m_as_u, M_I, VYRE_U32)

#include "ir/elementary.inc"

#include "ir/elementary_apply.inc"

uint32_t vyre_elementary_f32(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y) {
    return elementary_apply(s, op, (M_F){x}, (M_F){y}).v;
}
