/* Expressions. The nodes of a statement stand in evaluation order, operands before users, so one
 * walk over the range computes them all, each into its own place. Integers of all types are
 * computed in 64 (where needed 128) bits and cut to their width: wrapping, sign and division rules
 * are said once. Floats are the host's f32 and f64; the build forbids contraction and the machine
 * sets the default floating environment.
 *
 * Switches over operators have no default. The cases that a type does not have come from the
 * operand classes of ops.def; a validated program does not reach them. */
#include <math.h>

#include "backend/ref/convert.h"
#include "backend/ref/elementary.h"
#include "backend/ref/machine.h"

__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

/* Cases of whole operand classes, for use inside a switch. */
#define CASE(NAME) case VYRE_EXPR_##NAME:
#define NO_CASE(NAME)

/* Which classes the integer types (with bool, for == and !=) and the float types do not have. */
#define NOT_INTEGER_NONE       CASE
#define NOT_INTEGER_ANY        NO_CASE
#define NOT_INTEGER_NUMBER     NO_CASE
#define NOT_INTEGER_INTEGER    NO_CASE
#define NOT_INTEGER_WORD       NO_CASE
#define NOT_INTEGER_U32        CASE
#define NOT_INTEGER_FLOAT      CASE
#define NOT_INTEGER_ELEMENTARY CASE
#define NOT_INTEGER_LOGIC      CASE
#define NOT_INTEGER_SHIFT      NO_CASE
#define NOT_INTEGER_SELECT     CASE
#define NOT_INTEGER_BITS       CASE
#define NOT_INTEGER_INDEX      CASE
#define NOT_FLOAT_NONE         CASE
#define NOT_FLOAT_ANY          NO_CASE
#define NOT_FLOAT_NUMBER       NO_CASE
#define NOT_FLOAT_INTEGER      CASE
#define NOT_FLOAT_WORD         CASE
#define NOT_FLOAT_U32          CASE
#define NOT_FLOAT_FLOAT        NO_CASE
#define NOT_FLOAT_ELEMENTARY   NO_CASE
#define NOT_FLOAT_LOGIC        CASE
#define NOT_FLOAT_SHIFT        CASE
#define NOT_FLOAT_SELECT       CASE
#define NOT_FLOAT_BITS         CASE
#define NOT_FLOAT_INDEX        CASE

static uint64_t divide(bool is_signed, uint64_t a, uint64_t b) {
    if (b == 0) {
        return UINT64_MAX;
    }
    if (!is_signed) {
        return a / b;
    }
    /* 0 - a: the quotient by -1, which wraps for the lowest value. */
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_of(bool is_signed, uint64_t a, uint64_t b) {
    if (b == 0) {
        return 0;
    }
    if (!is_signed) {
        return a % b;
    }
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint64_t saturate(vyre_expr_op op, bool is_signed, int width, uint64_t a, uint64_t b) {
    if (is_signed) {
        wide_signed x = (int64_t)a, y = (int64_t)b;
        wide_signed exact = op == VYRE_EXPR_SAT_ADD   ? x + y
                            : op == VYRE_EXPR_SAT_SUB ? x - y
                                                      : x * y;
        wide_signed highest = (int64_t)(UINT64_MAX >> (65 - width));
        wide_signed lowest = -highest - 1;
        return (uint64_t)(int64_t)(exact > highest ? highest : exact < lowest ? lowest : exact);
    }
    if (op == VYRE_EXPR_SAT_SUB) {
        return a < b ? 0 : a - b;
    }
    wide_unsigned x = a, y = b, highest = UINT64_MAX >> (64 - width);
    wide_unsigned exact = op == VYRE_EXPR_SAT_ADD ? x + y : x * y;
    return (uint64_t)(exact > highest ? highest : exact);
}

static uint64_t multiply_high(bool is_signed, int width, uint64_t a, uint64_t b) {
    return is_signed ? (uint64_t)(((wide_signed)(int64_t)a * (int64_t)b) >> width)
                     : (uint64_t)(((wide_unsigned)a * b) >> width);
}

static uint64_t reverse_bits(int width, uint64_t bits) {
    uint64_t reversed = 0;
    for (int i = 0; i < width; i++) {
        reversed = reversed << 1 | (bits >> i & 1);
    }
    return reversed;
}

static uint64_t rotate_left(int width, uint64_t bits, uint32_t amount) {
    return amount == 0 ? bits : bits << amount | bits >> ((uint32_t)width - amount);
}

/* The result may have stray bits above the width. x and y are zero-extended, a and b extended by
 * sign. */
static uint64_t integer(vyre_expr_op op, vyre_type type, int width, uint64_t x, uint64_t y) {
    bool is_signed = vyre_type_is_signed(type);
    uint64_t a = vyre_ref_extend(type, x), b = vyre_ref_extend(type, y);
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    uint32_t amount = (uint32_t)y & (uint32_t)(width - 1);
    switch (op) {
    case VYRE_EXPR_NEG: return 0 - a;
    case VYRE_EXPR_BIT_NOT: return ~a;
    case VYRE_EXPR_ABS: return is_signed && (int64_t)a < 0 ? 0 - a : a;
    case VYRE_EXPR_SIGN: return a == 0 ? 0 : is_signed && (int64_t)a < 0 ? UINT64_MAX : 1;
    case VYRE_EXPR_POPCOUNT: return (uint64_t)__builtin_popcountll(x);
    case VYRE_EXPR_CLZ: return (uint64_t)(x ? __builtin_clzll(x) - (64 - width) : width);
    case VYRE_EXPR_CTZ: return (uint64_t)(x ? __builtin_ctzll(x) : width);
    case VYRE_EXPR_REVERSE_BITS: return reverse_bits(width, x);
    case VYRE_EXPR_UNPACK4_LOW: return x & 15;
    case VYRE_EXPR_UNPACK4_HIGH: return x >> 4 & 15;
    case VYRE_EXPR_UNPACK8_LOW: return x & 255;
    case VYRE_EXPR_UNPACK8_HIGH: return x >> 24 & 255;
    case VYRE_EXPR_ADD: return a + b;
    case VYRE_EXPR_SUB: return a - b;
    case VYRE_EXPR_MUL: return a * b;
    case VYRE_EXPR_DIV: return divide(is_signed, a, b);
    case VYRE_EXPR_REM: return remainder_of(is_signed, a, b);
    case VYRE_EXPR_SHL: return x << amount;
    case VYRE_EXPR_SHR: return is_signed ? (uint64_t)((int64_t)a >> amount) : x >> amount;
    case VYRE_EXPR_ROTL: return rotate_left(width, x, amount);
    case VYRE_EXPR_ROTR:
        return rotate_left(width, x, ((uint32_t)width - amount) & (uint32_t)(width - 1));
    case VYRE_EXPR_LT: return less;
    case VYRE_EXPR_LE: return less || a == b;
    case VYRE_EXPR_GT: return !less && a != b;
    case VYRE_EXPR_GE: return !less;
    case VYRE_EXPR_EQ: return a == b;
    case VYRE_EXPR_NE: return a != b;
    case VYRE_EXPR_BIT_AND: return a & b;
    case VYRE_EXPR_BIT_XOR: return a ^ b;
    case VYRE_EXPR_BIT_OR: return a | b;
    case VYRE_EXPR_MIN: return less ? a : b;
    case VYRE_EXPR_MAX: return less ? b : a;
    case VYRE_EXPR_ABS_DIFF: return less ? b - a : a - b;
    case VYRE_EXPR_MUL_HIGH: return multiply_high(is_signed, width, a, b);
    case VYRE_EXPR_SAT_ADD:
    case VYRE_EXPR_SAT_SUB:
    case VYRE_EXPR_SAT_MUL: return saturate(op, is_signed, width, a, b);
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_COUNT:
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost) NOT_INTEGER_##operands(NAME)
#include "vyre/ops.def"
        break;
    }
    return 0;
}

#define REAL       float
#define NAME       float32
#define MATH(name) name##f
#define TO(x)      vyre_ref_from_f32(x)
#define FROM(b)    vyre_ref_f32(b)
#define ELEMENTARY vyre_ref_elementary
#include "backend/ref/float.inc"

#define REAL       double
#define NAME       float64
#define MATH(name) name
#define TO(x)      vyre_ref_from_f64(x)
#define FROM(b)    vyre_ref_f64(b)
#define ELEMENTARY vyre_ref_elementary_f64
#include "backend/ref/float.inc"

uint64_t vyre_ref_apply(vyre_expr_op op, vyre_type type, uint64_t x, uint64_t y, uint64_t z) {
    switch (type) {
    case VYRE_U32:
    case VYRE_I32: return (uint32_t)integer(op, type, 32, x, y);
    case VYRE_BOOL:
    case VYRE_U64:
    case VYRE_I64: return integer(op, type, 64, x, y);
    case VYRE_F32: return float32(op, x, y, z);
    case VYRE_F64: return float64(op, x, y, z);
    case VYRE_VOID:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16:
    case VYRE_F16:
    case VYRE_BF16:
    case VYRE_TYPE_COUNT: break;
    }
    return 0;
}

/* Values of 32 bits, so that nothing wraps here. */
static uint64_t element_of_row(uint64_t y, uint64_t width, uint64_t x) {
    const bool is_inside = x < width && (y + 1) * width <= (uint64_t)1 << 32;
    return is_inside ? y * width + x : UINT32_MAX;
}

static uint32_t builtin(const vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_builtin id,
                        uint32_t axis) {
    const uint32_t *size = m->program->workgroup, *groups = m->args->grid;
    const uint32_t *group = m->groups[lane->group].id;
    uint32_t below = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
    uint32_t local = lane->local / below % size[axis];
    switch (id) {
    case VYRE_BUILTIN_GLOBAL_ID: return group[axis] * size[axis] + local;
    case VYRE_BUILTIN_LOCAL_ID: return local;
    case VYRE_BUILTIN_GROUP_ID: return group[axis];
    case VYRE_BUILTIN_NUM_GROUPS: return groups[axis];
    case VYRE_BUILTIN_GROUP_SIZE: return size[axis];
    case VYRE_BUILTIN_GLOBAL_SIZE: return groups[axis] * size[axis];
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID: return lane->local % VYRE_SUBGROUP_SIZE_FIXED;
    case VYRE_BUILTIN_SUBGROUP_SIZE: return VYRE_SUBGROUP_SIZE_FIXED;
    case VYRE_BUILTIN_COUNT: break;
    }
    return 0;
}

#define OPERATOR_NONE       NO_CASE
#define OPERATOR_ANY        NO_CASE
#define OPERATOR_NUMBER     CASE
#define OPERATOR_INTEGER    CASE
#define OPERATOR_WORD       CASE
#define OPERATOR_U32        NO_CASE
#define OPERATOR_FLOAT      CASE
#define OPERATOR_ELEMENTARY CASE
#define OPERATOR_LOGIC      NO_CASE
#define OPERATOR_SHIFT      CASE
#define OPERATOR_SELECT     NO_CASE
#define OPERATOR_BITS       NO_CASE
#define OPERATOR_INDEX      NO_CASE

static const uint8_t arities[VYRE_EXPR_COUNT] = {
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost) arity,
#include "vyre/ops.def"
};

/* Operand `at` of the node `user` has the value: the node behind which evaluation goes on. A part
 * that is passed over leaves an old value on the stack, which the user does not look at. */
static uint32_t next_asked(const vyre_expr_node *exprs, uint32_t user, uint32_t at,
                           uint64_t value) {
    const vyre_expr_node *e = &exprs[user];
    if (e->op == VYRE_EXPR_COND && at == e->u.arg[0]) {
        return value != 0 ? at : e->u.arg[1];
    }
    const bool decided = e->op == VYRE_EXPR_AND  ? value == 0
                         : e->op == VYRE_EXPR_OR ? value != 0
                                                 : true; /* the first arm is taken */
    return decided ? user - 1 : at;
}

void vyre_ref_eval_prepare(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    for (uint32_t i = 0; i < p->expr_count; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        if (e->op == VYRE_EXPR_AND || e->op == VYRE_EXPR_OR || e->op == VYRE_EXPR_COND) {
            m->asked[e->u.arg[0]] = i;
        }
        if (e->op == VYRE_EXPR_COND) {
            m->asked[e->u.arg[1]] = i;
        }
    }
}

/* An operand of the node e that is being evaluated. */
#define ARG(i) (stack[e->u.arg[i] - first])

void vyre_ref_eval(vyre_ref_machine *m, const vyre_ref_lane *lane, uint32_t first, uint32_t end) {
    const vyre_expr_node *exprs = m->program->exprs;
    uint64_t *stack = m->stack;
    for (uint32_t i = first; i < end; i++) {
        const vyre_expr_node *e = &exprs[i];
        uint64_t value = 0;
        switch ((vyre_expr_op)e->op) {
        case VYRE_EXPR_LITERAL: value = e->u.bits; break;
        case VYRE_EXPR_VAR: value = lane->slots[e->ref]; break;
        case VYRE_EXPR_REF: value = m->scalars[e->ref]; break;
        case VYRE_EXPR_LEN: value = m->arrays[e->ref].count; break;
        case VYRE_EXPR_BUILTIN: value = builtin(m, lane, (vyre_builtin)e->sub, e->axis); break;
        case VYRE_EXPR_LOAD:
            value = vyre_ref_memory_load(m, lane, e->ref, (uint32_t)ARG(0));
            if ((uint32_t)ARG(0) >= m->arrays[e->ref].count) {
                vyre_ref_outside(m, lane, e->ref, first, e->u.arg[0], false);
            }
            break;
        case VYRE_EXPR_CAST:
            value = vyre_ref_cast((vyre_type)exprs[e->u.arg[0]].type, (vyre_type)e->sub, ARG(0));
            break;
        case VYRE_EXPR_BITCAST: value = ARG(0); break;
        case VYRE_EXPR_NOT: value = ARG(0) == 0; break;
        case VYRE_EXPR_AND: value = ARG(0) != 0 && ARG(1) != 0; break;
        case VYRE_EXPR_OR: value = ARG(0) != 0 || ARG(1) != 0; break;
        case VYRE_EXPR_SELECT:
        case VYRE_EXPR_COND: value = ARG(0) != 0 ? ARG(1) : ARG(2); break;
        case VYRE_EXPR_ROW: value = element_of_row(ARG(0), ARG(1), ARG(2)); break;
        case VYRE_EXPR_EQ:
        case VYRE_EXPR_NE:
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost) OPERATOR_##operands(NAME)
#include "vyre/ops.def"
            value =
                vyre_ref_apply((vyre_expr_op)e->op, (vyre_type)exprs[e->u.arg[0]].type, ARG(0),
                               arities[e->op] > 1 ? ARG(1) : 0, arities[e->op] > 2 ? ARG(2) : 0);
            break;
        case VYRE_EXPR_COUNT: break;
        }
        stack[i - first] = value;
        if (m->asked[i] != 0) {
            i = next_asked(exprs, m->asked[i], i, value);
        }
    }
}
