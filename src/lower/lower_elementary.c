/* Elementary functions. The template that defines them (ir/elementary.inc) is instantiated with
 * operations that write down a sequence, so that a program computes exactly what the language says,
 * bit for bit: the same operations on the same values. Cost: what stands with each function there,
 * 2 to 85 operations. */
#include <math.h>
#include <string.h>

#include "lower/hoist.h"
#include "lower/passes.h"
#include "lower/sequence.h"

typedef vyre_sequence M;
/* Types apart, so that a mistake in the template does not compile. */
typedef struct M_F {
    uint32_t v;
} M_F;
typedef struct M_U {
    uint32_t v;
} M_U;
typedef struct M_I {
    uint32_t v;
} M_I;
typedef struct M_B {
    uint32_t v;
} M_B;

#define DEFINE_1(type, name, a_type, OP)                                                           \
    static inline type name(M *m, a_type a) {                                                      \
        return (type){vyre_sequence_op(m, VYRE_EXPR_##OP, a.v, 0, 0)};                             \
    }
#define DEFINE_2(type, name, a_type, b_type, OP)                                                   \
    static inline type name(M *m, a_type a, b_type b) {                                            \
        return (type){vyre_sequence_op(m, VYRE_EXPR_##OP, a.v, b.v, 0)};                           \
    }
#define DEFINE_3(type, name, a_type, b_type, c_type, OP)                                           \
    static inline type name(M *m, a_type a, b_type b, c_type c) {                                  \
        return (type){vyre_sequence_op(m, VYRE_EXPR_##OP, a.v, b.v, c.v)};                         \
    }
#define DEFINE_BITS(type, name, a_type, TYPE)                                                      \
    static inline type name(M *m, a_type a) {                                                      \
        return (type){vyre_sequence_bitcast(m, VYRE_##TYPE, a.v)};                                 \
    }

static inline M_F m_const(M *m, float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (M_F){vyre_sequence_literal(m, VYRE_F32, bits)};
}

static inline M_U m_u_const(M *m, uint32_t a) {
    return (M_U){vyre_sequence_literal(m, VYRE_U32, a)};
}

static inline M_F m_i_to_f(M *m, M_I a) {
    return (M_F){vyre_sequence_cast(m, VYRE_F32, a.v)};
}

DEFINE_2(M_F, m_add, M_F, M_F, ADD)
DEFINE_2(M_F, m_sub, M_F, M_F, SUB)
DEFINE_2(M_F, m_mul, M_F, M_F, MUL)
DEFINE_2(M_F, m_div, M_F, M_F, DIV)
DEFINE_3(M_F, m_fma, M_F, M_F, M_F, FMA)
DEFINE_1(M_F, m_neg, M_F, NEG)
DEFINE_1(M_F, m_abs, M_F, ABS)
DEFINE_1(M_F, m_sqrt, M_F, SQRT)
DEFINE_1(M_F, m_trunc, M_F, TRUNC)
DEFINE_2(M_B, m_lt, M_F, M_F, LT)
DEFINE_2(M_B, m_eq, M_F, M_F, EQ)
DEFINE_2(M_B, m_u_lt, M_U, M_U, LT)
DEFINE_2(M_B, m_u_eq, M_U, M_U, EQ)
DEFINE_2(M_B, m_b_or, M_B, M_B, OR)
DEFINE_3(M_F, m_select, M_B, M_F, M_F, SELECT)
DEFINE_3(M_U, m_u_select, M_B, M_U, M_U, SELECT)
DEFINE_2(M_U, m_u_add, M_U, M_U, ADD)
DEFINE_2(M_U, m_u_sub, M_U, M_U, SUB)
DEFINE_2(M_U, m_u_mul, M_U, M_U, MUL)
DEFINE_2(M_U, m_u_mul_high, M_U, M_U, MUL_HIGH)
DEFINE_2(M_U, m_u_and, M_U, M_U, BIT_AND)
DEFINE_2(M_U, m_u_or, M_U, M_U, BIT_OR)
DEFINE_2(M_U, m_u_xor, M_U, M_U, BIT_XOR)
DEFINE_2(M_U, m_u_shl, M_U, M_U, SHL)
DEFINE_2(M_U, m_u_shr, M_U, M_U, SHR)
DEFINE_2(M_I, m_i_shr, M_I, M_U, SHR)
DEFINE_BITS(M_U, m_bits, M_F, U32)
DEFINE_BITS(M_F, m_float, M_U, F32)
DEFINE_BITS(M_I, m_as_i, M_U, I32)
DEFINE_BITS(M_U, m_as_u, M_I, U32)

#include "ir/elementary.inc"

typedef M_F (*function_of_one)(M *m, M_F x);

static const function_of_one functions[VYRE_EXPR_COUNT] = {
    [VYRE_EXPR_EXP] = elementary_exp,   [VYRE_EXPR_EXP2] = elementary_exp2,
    [VYRE_EXPR_LOG] = elementary_log,   [VYRE_EXPR_LOG2] = elementary_log2,
    [VYRE_EXPR_SIN] = elementary_sin,   [VYRE_EXPR_COS] = elementary_cos,
    [VYRE_EXPR_TAN] = elementary_tan,   [VYRE_EXPR_ASIN] = elementary_asin,
    [VYRE_EXPR_ACOS] = elementary_acos, [VYRE_EXPR_ATAN] = elementary_atan,
    [VYRE_EXPR_SINH] = elementary_sinh, [VYRE_EXPR_COSH] = elementary_cosh,
    [VYRE_EXPR_TANH] = elementary_tanh, [VYRE_EXPR_INVERSE_SQRT] = elementary_inverse_sqrt,
};

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    const vyre_capabilities *can = user;
    uint8_t op = p->exprs[expr].op;
    return vyre_expr_info_of((vyre_expr_op)op)->operands == VYRE_OPERANDS_ELEMENTARY &&
           !(can->exprs[op / 64] >> op % 64 & 1);
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    vyre_expr_op op = (vyre_expr_op)each->rw.p->exprs[expr].op;
    vyre_sequence s = {.count = 0};
    char name[32] = "_";
    (void)user;
    strncat(name, vyre_expr_info_of(op)->spelling, sizeof name - 2);
    M_F x = {vyre_sequence_argument(&s, 0)};
    M_F value = op == VYRE_EXPR_POW ? elementary_pow(&s, x, (M_F){vyre_sequence_argument(&s, 1)})
                                    : functions[op](&s, x);
    return vyre_sequence_emit(&s, each, name, operands, value.v);
}

vyre_status vyre_lower_elementary(vyre_program *program, const vyre_capabilities *can,
                                  const vyre_allocator *a, vyre_program **out_program,
                                  vyre_diag *diag) {
    static const vyre_hoist_pass pass = {.concerns = concerns, .replace = replace};
    return vyre_hoist(program, &pass, can, false, a, out_program, diag);
}
