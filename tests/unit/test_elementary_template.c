/* The contract of the template of the elementary functions of f32: it compiles with values that can
 * only be touched by its operations, and makes the same number of them whatever the argument is. */
#include <math.h>

#include "backend/ref/elementary.h"
#include "harness/test.h"

typedef float M_R;
typedef uint32_t M_WORD;
#define MATH(name) name##f
#include "elementary_counted.inc"

typedef struct M_I {
    int32_t v;
} M_I;

DEFINE_1(0, M_I, m_as_i, M_U, (int32_t)a.v)
DEFINE_1(0, M_U, m_as_u, M_I, (uint32_t)a.v)
DEFINE_1(1, M_F, m_i_to_f, M_I, (float)a.v)
DEFINE_2(M_U, m_u_mul, M_U, a.v *b.v)
DEFINE_2(M_U, m_u_mul_high, M_U, (uint32_t)((uint64_t)a.v *b.v >> 32))
DEFINE_SHIFT(M_I, m_i_shr, a.v >> (b.v & 31))

#include "ir/elementary.inc"

#include "elementary_straight.inc"

#define CHECK_ONE(name) CHECK_UNARY(name, vyre_ref_##name)
#define CHECK_TWO(name) CHECK_BINARY(name, vyre_ref_##name)

TEST(one_straight_line) {
    VYRE_ELEMENTARY_UNARY(CHECK_ONE)
    VYRE_ELEMENTARY_BINARY(CHECK_TWO)
}
