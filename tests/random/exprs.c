/* Random expressions: an operator that gives the wanted type is drawn from the table of the IR, so
 * a new operator takes part by itself. */
#include "random/exprs.h"

static const vyre_type computing[] = {VYRE_BOOL, VYRE_U32, VYRE_I32, VYRE_U64,
                                      VYRE_I64,  VYRE_F32, VYRE_F64};

static uint64_t float_bits(random_exprs *x, vyre_type type) {
    static const double values[] = {0.0,  -0.0, 1.0, -1.0, 0.5,        2.0,
                                    3.25, -7.5, 0.1, 1e-5, 16777217.0, 1e20};
    const bool narrow = type == VYRE_F32;
    const uint64_t sign = narrow ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    const uint64_t infinity = narrow ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
    const uint64_t fraction = narrow ? UINT64_C(0x7fffff) : UINT64_C(0xfffffffffffff);
    uint64_t bits = test_random(&x->state);
    switch (random_below(x, x->plain ? 3 : 6)) {
    case 3: return (bits & sign) | (bits & fraction);               /* subnormal */
    case 4: return (bits & sign) | (infinity - 1 - (bits & 3) / 2); /* largest */
    case 5:
        bits &= sign | infinity | fraction;
        return (bits & infinity) == infinity ? bits & (sign | fraction) : bits;
    default: break;
    }
    const double value = values[bits % (sizeof values / sizeof *values)];
    const float single = (float)value;
    uint32_t word;
    memcpy(&word, &single, sizeof word);
    memcpy(&bits, &value, sizeof bits);
    return narrow ? word : bits;
}

uint64_t random_bits(random_exprs *x, vyre_type type) {
    if (vyre_type_is_float(type)) {
        return float_bits(x, type);
    }
    if (type == VYRE_BOOL) {
        return random_below(x, 2);
    }
    const uint64_t mask = vyre_type_size(type) == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t any = test_random(&x->state);
    switch (random_below(x, 8)) {
    case 0: return any & mask;
    case 1: return (any & mask) >> (any >> 59);
    case 2: return mask - (any & 3);        /* -1 or the largest unsigned */
    case 3: return (mask >> 1) + (any & 1); /* the ends of the signed range */
    default: return any & 15;
    }
}

vyre_expr random_literal(random_exprs *x, vyre_type type) {
    return vyre_build_literal(x->b, type, random_bits(x, type));
}

static vyre_expr leaf(random_exprs *x, vyre_type type, uint32_t depth) {
    const vyre_expr found = random_chance(x, 75) ? x->leaf(x, type, depth) : VYRE_NONE;
    return found == VYRE_NONE ? random_literal(x, type) : found;
}

static vyre_type accepted(random_exprs *x, vyre_operands operands, uint32_t operand) {
    vyre_type type;
    do {
        type = random_type(x);
    } while (!vyre_operands_accept(operands, operand, type));
    return type;
}

/* Whether the operator can give the type; *out is the type of its first value operand. */
static bool gives(random_exprs *x, const vyre_expr_info *info, vyre_type type, vyre_type *out) {
    const vyre_operands operands = (vyre_operands)info->operands;
    switch ((vyre_result)info->result) {
    case VYRE_RESULT_SAME: *out = type; return vyre_operands_accept(operands, 0, type);
    case VYRE_RESULT_ARMS: *out = type; return true;
    case VYRE_RESULT_UNSIGNED:
        *out = random_chance(x, 50) ? type : type == VYRE_U32 ? VYRE_I32 : VYRE_I64;
        return type == VYRE_U32 || type == VYRE_U64;
    case VYRE_RESULT_BOOL: *out = accepted(x, operands, 0); return type == VYRE_BOOL;
    case VYRE_RESULT_U32: *out = accepted(x, operands, 0); return type == VYRE_U32;
    case VYRE_RESULT_OWN: break;
    }
    return false;
}

static vyre_expr cast(random_exprs *x, vyre_type type, uint32_t depth) {
    const vyre_type stored = (vyre_type)(VYRE_U8 + random_below(x, VYRE_BF16 - VYRE_U8 + 1));
    const vyre_type target = vyre_type_widened(stored) == type ? stored : type;
    return vyre_build_cast(x->b, target, random_expr(x, random_type(x), depth));
}

static vyre_expr bitcast(random_exprs *x, vyre_type type, uint32_t depth) {
    vyre_type from;
    do {
        from = computing[1 + random_below(x, 6)];
    } while (vyre_type_size(from) != vyre_type_size(type) ||
             (x->plain && vyre_type_is_float(from) && !vyre_type_is_float(type)));
    return vyre_build_bitcast(x->b, type, random_expr(x, from, depth));
}

static vyre_expr operation(random_exprs *x, vyre_type type, uint32_t depth) {
    for (;;) {
        const vyre_expr_op op =
            (vyre_expr_op)(VYRE_EXPR_CAST + random_below(x, VYRE_EXPR_COUNT - VYRE_EXPR_CAST));
        const vyre_expr_info *info = vyre_expr_info_of(op);
        vyre_type operand;
        if (op == VYRE_EXPR_CAST) {
            return cast(x, type, depth);
        }
        if (op == VYRE_EXPR_BITCAST && type != VYRE_BOOL) {
            return bitcast(x, type, depth);
        }
        const bool slow = info->operands == VYRE_OPERANDS_ELEMENTARY;
        if (!gives(x, info, type, &operand) || (slow && x->plain && random_chance(x, 90))) {
            continue;
        }
        vyre_expr in[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        for (uint32_t i = 0; i < info->arity; i++) {
            vyre_type t = operand;
            if (info->operands == VYRE_OPERANDS_LOGIC ||
                (info->operands == VYRE_OPERANDS_SELECT && i == 0)) {
                t = random_chance(x, 50) ? VYRE_BOOL : VYRE_U32;
            } else if (info->operands == VYRE_OPERANDS_SHIFT && i == 1 && random_chance(x, 50)) {
                t = VYRE_U32;
            }
            in[i] = random_expr(x, t, depth);
        }
        return vyre_build_op(x->b, op, in[0], in[1], in[2]);
    }
}

vyre_expr random_expr(random_exprs *x, vyre_type type, uint32_t depth) {
    if (!vyre_type_computes(type)) {
        return VYRE_NONE; /* the builder has failed */
    }
    return depth == 0 || random_chance(x, 25) ? leaf(x, type, depth == 0 ? 0 : depth - 1)
                                              : operation(x, type, depth - 1);
}
