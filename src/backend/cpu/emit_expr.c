/* Expressions. The nodes of a statement stand in evaluation order, so one walk makes them all.
 *
 * What the language defines and LLVM does not: division by zero and the lowest value by -1 (the
 * divisor is replaced by 1, the quotient selected), shift amounts (masked), float to integer
 * (saturating intrinsics), min and max of NaN (compare and select). Floats carry no flags, so LLVM
 * neither contracts nor reassociates. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/emit.h"
#include "ir/fold.h"

static bool is_signed(const cpu_value *v) {
    return vyre_type_is_signed((vyre_type)v->type);
}

static bool is_float(const cpu_value *v) {
    return vyre_type_is_float((vyre_type)v->type);
}

static uint32_t bits_of(const cpu_value *v) {
    return vyre_type_size((vyre_type)v->type) * 8;
}

/* A constant of x's type, held as x is. */
static cpu_value like(cpu_emit *e, const cpu_value *x, uint64_t bits) {
    cpu_value v = cpu_literal((vyre_type)x->type, bits);
    return x->hold == CPU_EACH ? cpu_each(e, v) : v;
}

static cpu_value choose(cpu_emit *e, const char *predicate, cpu_value x, cpu_value y, cpu_value a,
                        cpu_value b) {
    return cpu_select(e, cpu_compare(e, predicate, x, y), a, b);
}

static cpu_value divide(cpu_emit *e, cpu_value x, cpu_value y, bool remainder) {
    const vyre_type type = (vyre_type)x.type;
    cpu_value zero = like(e, &y, 0), one = like(e, &y, 1);
    cpu_value by_zero = cpu_compare(e, "eq", y, zero);
    cpu_value divisor = cpu_select(e, by_zero, one, y);
    if (is_signed(&x)) {
        cpu_value lowest = like(e, &x, UINT64_C(1) << (bits_of(&x) - 1));
        cpu_value is_lowest = cpu_compare(e, "eq", x, lowest);
        cpu_value is_minus = cpu_compare(e, "eq", y, like(e, &y, UINT64_MAX));
        cpu_value wraps = cpu_binary(e, "and", VYRE_BOOL, is_lowest, is_minus);
        divisor = cpu_select(e, wraps, one, divisor);
    }
    if (remainder) {
        return cpu_binary(e, is_signed(&x) ? "srem" : "urem", type, x, divisor);
    }
    cpu_value quotient = cpu_binary(e, is_signed(&x) ? "sdiv" : "udiv", type, x, divisor);
    return cpu_select(e, by_zero, like(e, &x, UINT64_MAX), quotient);
}

/* The amount, masked to the width, in x's type. */
static cpu_value amount_of(cpu_emit *e, const cpu_value *x, cpu_value y) {
    if (bits_of(x) > bits_of(&y)) {
        y = cpu_new(e, (vyre_type)x->type, (cpu_hold)y.hold, "zext %s %s to %s", cpu_type_of(e, &y),
                    y.text, cpu_type(e, (vyre_type)x->type, y.hold == CPU_EACH));
    } else {
        y.type = x->type;
    }
    return cpu_binary(e, "and", (vyre_type)x->type, y, like(e, &y, bits_of(x) - 1));
}

static cpu_value rotate(cpu_emit *e, const char *name, cpu_value x, cpu_value y) {
    const cpu_value operands[] = {x, x, amount_of(e, &x, y)};
    return cpu_intrinsic(e, name, (vyre_type)x.type, operands, 3);
}

static cpu_value count_zeros(cpu_emit *e, const char *name, cpu_value x) {
    const cpu_value operands[] = {x, cpu_literal(VYRE_BOOL, 0)};
    return cpu_intrinsic(e, name, (vyre_type)x.type, operands, 2);
}

/* An integer of twice the width, as LLVM's type. */
static void wide_type(const cpu_emit *e, const cpu_value *x, char *out, size_t size) {
    (void)(x->hold == CPU_EACH && e->width > 1
               ? snprintf(out, size, "<%u x i%u>", e->width, 2 * bits_of(x))
               : snprintf(out, size, "i%u", 2 * bits_of(x)));
}

static cpu_value widened(cpu_emit *e, cpu_value x, const char *wide) {
    return cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "%s %s %s to %s",
                   is_signed(&x) ? "sext" : "zext", cpu_type_of(e, &x), x.text, wide);
}

/* The product with all its bits. */
static cpu_value wide_product(cpu_emit *e, cpu_value x, cpu_value y, const char *wide) {
    cpu_value a = widened(e, x, wide), b = widened(e, y, wide);
    return cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "mul %s %s, %s", wide, a.text, b.text);
}

/* A constant of the wide type: the sign- or zero-extended value `bits` of x's type. */
static cpu_value wide_constant(cpu_emit *e, const cpu_value *x, uint64_t bits, const char *wide) {
    return widened(e, like(e, x, bits), wide);
}

static cpu_value high_half(cpu_emit *e, cpu_value x, cpu_value product, const char *wide) {
    cpu_value distance = wide_constant(e, &x, bits_of(&x), wide);
    cpu_value high = cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "lshr %s %s, %s", wide,
                             product.text, distance.text);
    return cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "trunc %s %s to %s", wide, high.text,
                   cpu_type_of(e, &x));
}

static cpu_value multiply_high(cpu_emit *e, cpu_value x, cpu_value y) {
    char wide[32];
    wide_type(e, &x, wide, sizeof wide);
    return high_half(e, x, wide_product(e, x, y, wide), wide);
}

/* Overflow is told from the high half: it repeats the sign of the low one, or is 0. */
static cpu_value multiply_saturating(cpu_emit *e, cpu_value x, cpu_value y) {
    char wide[32];
    wide_type(e, &x, wide, sizeof wide);
    cpu_value product = wide_product(e, x, y, wide);
    cpu_value high = high_half(e, x, product, wide);
    cpu_value low = cpu_new(e, (vyre_type)x.type, (cpu_hold)x.hold, "trunc %s %s to %s", wide,
                            product.text, cpu_type_of(e, &x));
    if (!is_signed(&x)) {
        return choose(e, "eq", high, like(e, &x, 0), low, like(e, &x, UINT64_MAX));
    }
    cpu_value top = like(e, &x, bits_of(&x) - 1);
    cpu_value sign = cpu_binary(e, "ashr", (vyre_type)x.type, low, top);
    cpu_value differs = cpu_binary(e, "xor", (vyre_type)x.type, x, y);
    cpu_value lowest = like(e, &x, UINT64_C(1) << (bits_of(&x) - 1));
    cpu_value highest = like(e, &x, (UINT64_C(1) << (bits_of(&x) - 1)) - 1);
    cpu_value limit = choose(e, "slt", differs, like(e, &x, 0), lowest, highest);
    return choose(e, "eq", high, sign, low, limit);
}

static cpu_value absolute(cpu_emit *e, cpu_value x) {
    if (is_float(&x)) {
        return cpu_intrinsic(e, "fabs", (vyre_type)x.type, &x, 1);
    }
    return is_signed(&x) ? choose(e, "slt", x, like(e, &x, 0),
                                  cpu_binary(e, "sub", (vyre_type)x.type, like(e, &x, 0), x), x)
                         : x;
}

static cpu_value sign(cpu_emit *e, cpu_value x) {
    const vyre_type type = (vyre_type)x.type;
    cpu_value zero = like(e, &x, 0);
    cpu_value one = like(e, &x,
                         type == VYRE_F32   ? UINT32_C(0x3f800000)
                         : type == VYRE_F64 ? UINT64_C(0x3ff0000000000000)
                                            : 1);
    cpu_value minus = like(e, &x,
                           type == VYRE_F32   ? UINT32_C(0xbf800000)
                           : type == VYRE_F64 ? UINT64_C(0xbff0000000000000)
                                              : UINT64_MAX);
    if (!is_float(&x)) {
        cpu_value rest = choose(e, "eq", x, zero, zero, one);
        return is_signed(&x) ? choose(e, "slt", x, zero, minus, rest) : rest;
    }
    cpu_value below = choose(e, "olt", x, zero, minus, zero);
    cpu_value value = choose(e, "ogt", x, zero, one, below);
    return choose(e, "uno", x, x, x, value);
}

/* min: y if y < x or x is NaN, else x. */
static cpu_value least(cpu_emit *e, cpu_value x, cpu_value y, bool greatest) {
    if (!is_float(&x)) {
        const char *less = is_signed(&x) ? "slt" : "ult";
        return greatest ? choose(e, less, x, y, y, x) : choose(e, less, x, y, x, y);
    }
    cpu_value beyond = cpu_compare(e, greatest ? "ogt" : "olt", y, x);
    cpu_value nan = cpu_compare(e, "uno", x, x);
    cpu_value takes = cpu_binary(e, "or", VYRE_BOOL, beyond, nan);
    return cpu_select(e, takes, y, x);
}

static cpu_value magnitude_is(cpu_emit *e, const char *predicate, cpu_value x) {
    cpu_value size = absolute(e, x);
    return cpu_compare(e, predicate, size,
                       like(e, &x, UINT64_C(0x7ff0000000000000) >> 0)); /* of f64; see below */
}

/* is_inf, is_finite: by the bits, since a literal of f32 is never infinite. */
static cpu_value is_special(cpu_emit *e, const char *predicate, cpu_value x) {
    const bool single = x.type == VYRE_F32;
    if (!single) {
        return magnitude_is(e, predicate, x);
    }
    cpu_value wide = cpu_new(e, VYRE_F64, (cpu_hold)x.hold, "fpext %s %s to %s", cpu_type_of(e, &x),
                             x.text, cpu_type(e, VYRE_F64, x.hold == CPU_EACH));
    return magnitude_is(e, predicate, wide);
}

typedef struct rounding {
    const char *name;
    size_t single, twice; /* helpers */
} rounding;

static cpu_value round_with(cpu_emit *e, const rounding *r, cpu_value x) {
    return e->isa == CPU_SSE2
               ? cpu_helper(e, x.type == VYRE_F32 ? r->single : r->twice, (vyre_type)x.type, &x, 1)
               : cpu_intrinsic(e, r->name, (vyre_type)x.type, &x, 1);
}

static cpu_value fused(cpu_emit *e, cpu_value x, cpu_value y, cpu_value z) {
    const cpu_value operands[] = {x, y, z};
    return e->isa == CPU_SSE2
               ? cpu_helper(e, x.type == VYRE_F32 ? CPU_FIELD(fma_f32) : CPU_FIELD(fma_f64),
                            (vyre_type)x.type, operands, 3)
               : cpu_intrinsic(e, "fma", (vyre_type)x.type, operands, 3);
}

cpu_value cpu_truth(cpu_emit *e, cpu_value v) {
    v = cpu_flat(e, v);
    return v.type == VYRE_BOOL ? v : cpu_compare(e, "ne", v, like(e, &v, 0));
}

static cpu_value logic(cpu_emit *e, const char *op, cpu_value x, cpu_value y) {
    cpu_value both[] = {cpu_truth(e, x), cpu_truth(e, y)};
    (void)cpu_together(e, both, 2);
    return cpu_binary(e, op, VYRE_BOOL, both[0], both[1]);
}

static cpu_value select_value(cpu_emit *e, cpu_value c, cpu_value x, cpu_value y) {
    cpu_value all[] = {cpu_truth(e, c), x, y}, cut;
    if (cpu_select_cut(e, c, x, y, &cut)) {
        return cut;
    }
    if (all[0].hold == CPU_ONE && x.hold == y.hold && x.stride == y.stride) {
        return cpu_choose(e, all[0], x, y);
    }
    (void)cpu_together(e, all, 3);
    return cpu_select(e, all[0], all[1], all[2]);
}

/* Whether its value at the first lane of the range needs no code. */
static bool is_based(const cpu_value *v) {
    return v->hold == CPU_ONE || v->first[0];
}

/* Results that stay LINEAR; false: not this one. Only 32-bit integers wrap as addresses do. */
static bool apply_linear(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out) {
    int64_t stride = 0;
    const char *name = op == VYRE_EXPR_SUB ? "sub" : op == VYRE_EXPR_ADD ? "add" : "mul";
    if (x.type != VYRE_U32 && x.type != VYRE_I32) {
        return false;
    }
    if ((op == VYRE_EXPR_ADD || op == VYRE_EXPR_SUB) && x.hold <= CPU_LINEAR &&
        y.hold <= CPU_LINEAR) {
        stride = op == VYRE_EXPR_ADD ? (int64_t)x.stride + y.stride : (int64_t)x.stride - y.stride;
    } else if (op == VYRE_EXPR_MUL && x.hold == CPU_LINEAR && y.known) {
        stride = (int64_t)x.stride * (int32_t)y.bits;
    } else if (op == VYRE_EXPR_MUL && y.hold == CPU_LINEAR && x.known) {
        stride = (int64_t)y.stride * (int32_t)x.bits;
    } else {
        return false;
    }
    if (stride < -4096 || stride > 4096 ||
        (stride == 0 && x.hold == CPU_ONE && y.hold == CPU_ONE)) {
        return false;
    }
    *out = cpu_new(e, (vyre_type)x.type, stride ? CPU_LINEAR : CPU_ONE, "%s i32 %s, %s", name,
                   x.text, y.text);
    out->stride = (int32_t)stride;
    if (stride && is_based(&x) && is_based(&y)) {
        cpu_value first = cpu_new(e, (vyre_type)x.type, CPU_ONE, "%s i32 %s, %s", name,
                                  cpu_range_first(e, &x).text, cpu_range_first(e, &y).text);
        memcpy(out->first, first.text, sizeof out->first);
    }
    return true;
}

static cpu_value apply(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value z) {
    static const rounding floor_ = {"floor", CPU_FIELD(floor_f32), CPU_FIELD(floor_f64)},
                          ceil_ = {"ceil", CPU_FIELD(ceil_f32), CPU_FIELD(ceil_f64)},
                          trunc_ = {"trunc", CPU_FIELD(trunc_f32), CPU_FIELD(trunc_f64)},
                          round_ = {"round", CPU_FIELD(round_f32), CPU_FIELD(round_f64)};
    cpu_value special;
    if (apply_linear(e, op, x, y, &special) || cpu_apply_aligned(e, op, x, y, &special) ||
        ((op == VYRE_EXPR_DIV || op == VYRE_EXPR_REM) &&
         cpu_divide_once(e, x, y, op == VYRE_EXPR_REM, &special))) {
        return special;
    }
    const uint32_t arity = vyre_expr_info_of(op)->arity;
    cpu_value all[] = {x, y, z};
    (void)cpu_together(e, all, arity);
    x = all[0];
    y = all[1];
    z = all[2];
    const vyre_type type = (vyre_type)x.type;
    const bool real = is_float(&x), plus_minus = is_signed(&x);
    switch (op) {
    case VYRE_EXPR_NEG:
        return real ? cpu_new(e, type, (cpu_hold)x.hold, "fneg %s %s", cpu_type_of(e, &x), x.text)
                    : cpu_binary(e, "sub", type, like(e, &x, 0), x);
    case VYRE_EXPR_BIT_NOT: return cpu_binary(e, "xor", type, x, like(e, &x, UINT64_MAX));
    case VYRE_EXPR_ABS: return absolute(e, x);
    case VYRE_EXPR_SIGN: return sign(e, x);
    case VYRE_EXPR_POPCOUNT: return cpu_intrinsic(e, "ctpop", type, &x, 1);
    case VYRE_EXPR_CLZ: return count_zeros(e, "ctlz", x);
    case VYRE_EXPR_CTZ: return count_zeros(e, "cttz", x);
    case VYRE_EXPR_REVERSE_BITS: return cpu_intrinsic(e, "bitreverse", type, &x, 1);
    case VYRE_EXPR_UNPACK4_LOW: return cpu_binary(e, "and", VYRE_U32, x, like(e, &x, 15));
    case VYRE_EXPR_UNPACK4_HIGH:
        x = cpu_binary(e, "lshr", VYRE_U32, x, like(e, &x, 4));
        return cpu_binary(e, "and", VYRE_U32, x, like(e, &x, 15));
    case VYRE_EXPR_UNPACK8_LOW: return cpu_binary(e, "and", VYRE_U32, x, like(e, &x, 255));
    case VYRE_EXPR_UNPACK8_HIGH: return cpu_binary(e, "lshr", VYRE_U32, x, like(e, &x, 24));
    case VYRE_EXPR_SQRT: return cpu_intrinsic(e, "sqrt", type, &x, 1);
    case VYRE_EXPR_RCP:
        return cpu_binary(
            e, "fdiv", type,
            like(e, &x, type == VYRE_F32 ? UINT32_C(0x3f800000) : UINT64_C(0x3ff0000000000000)), x);
    case VYRE_EXPR_FLOOR: return round_with(e, &floor_, x);
    case VYRE_EXPR_CEIL: return round_with(e, &ceil_, x);
    case VYRE_EXPR_ROUND: return round_with(e, &round_, x);
    case VYRE_EXPR_TRUNC: return round_with(e, &trunc_, x);
    case VYRE_EXPR_IS_NAN: return cpu_compare(e, "uno", x, x);
    case VYRE_EXPR_IS_INF: return is_special(e, "oeq", x);
    case VYRE_EXPR_IS_FINITE: return is_special(e, "olt", x);
    case VYRE_EXPR_ADD: return cpu_binary(e, real ? "fadd" : "add", type, x, y);
    case VYRE_EXPR_SUB: return cpu_binary(e, real ? "fsub" : "sub", type, x, y);
    case VYRE_EXPR_MUL: return cpu_binary(e, real ? "fmul" : "mul", type, x, y);
    case VYRE_EXPR_DIV: return real ? cpu_binary(e, "fdiv", type, x, y) : divide(e, x, y, false);
    case VYRE_EXPR_REM: return divide(e, x, y, true);
    case VYRE_EXPR_SHL: return cpu_binary(e, "shl", type, x, amount_of(e, &x, y));
    case VYRE_EXPR_SHR:
        return cpu_binary(e, plus_minus ? "ashr" : "lshr", type, x, amount_of(e, &x, y));
    case VYRE_EXPR_ROTL: return rotate(e, "fshl", x, y);
    case VYRE_EXPR_ROTR: return rotate(e, "fshr", x, y);
    case VYRE_EXPR_LT: return cpu_compare(e, real ? "olt" : plus_minus ? "slt" : "ult", x, y);
    case VYRE_EXPR_LE: return cpu_compare(e, real ? "ole" : plus_minus ? "sle" : "ule", x, y);
    case VYRE_EXPR_GT: return cpu_compare(e, real ? "ogt" : plus_minus ? "sgt" : "ugt", x, y);
    case VYRE_EXPR_GE: return cpu_compare(e, real ? "oge" : plus_minus ? "sge" : "uge", x, y);
    case VYRE_EXPR_EQ: return cpu_compare(e, real ? "oeq" : "eq", x, y);
    case VYRE_EXPR_NE: return cpu_compare(e, real ? "une" : "ne", x, y);
    case VYRE_EXPR_BIT_AND: return cpu_binary(e, "and", type, x, y);
    case VYRE_EXPR_BIT_XOR: return cpu_binary(e, "xor", type, x, y);
    case VYRE_EXPR_BIT_OR: return cpu_binary(e, "or", type, x, y);
    case VYRE_EXPR_MIN: return least(e, x, y, false);
    case VYRE_EXPR_MAX: return least(e, x, y, true);
    case VYRE_EXPR_ABS_DIFF:
        x = choose(e, plus_minus ? "sgt" : "ugt", x, y, cpu_binary(e, "sub", type, x, y),
                   cpu_binary(e, "sub", type, y, x));
        x.type = (uint8_t)(bits_of(&x) == 64 ? VYRE_U64 : VYRE_U32);
        return x;
    case VYRE_EXPR_MUL_HIGH: return multiply_high(e, x, y);
    case VYRE_EXPR_SAT_ADD:
    case VYRE_EXPR_SAT_SUB: {
        static const char *const names[2][2] = {{"uadd.sat", "sadd.sat"}, {"usub.sat", "ssub.sat"}};
        return cpu_intrinsic(e, names[op == VYRE_EXPR_SAT_SUB][plus_minus], type, all, 2);
    }
    case VYRE_EXPR_SAT_MUL: return multiply_saturating(e, x, y);
    case VYRE_EXPR_FMA: return fused(e, x, y, z);
    /* Made by cpu_emit_exprs, or gone after lowering. */
    case VYRE_EXPR_LITERAL:
    case VYRE_EXPR_VAR:
    case VYRE_EXPR_REF:
    case VYRE_EXPR_LEN:
    case VYRE_EXPR_BUILTIN:
    case VYRE_EXPR_LOAD:
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_BITCAST:
    case VYRE_EXPR_NOT:
    case VYRE_EXPR_AND:
    case VYRE_EXPR_OR:
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND:
    case VYRE_EXPR_EXP:
    case VYRE_EXPR_EXP2:
    case VYRE_EXPR_LOG:
    case VYRE_EXPR_LOG2:
    case VYRE_EXPR_SIN:
    case VYRE_EXPR_COS:
    case VYRE_EXPR_TAN:
    case VYRE_EXPR_ASIN:
    case VYRE_EXPR_ACOS:
    case VYRE_EXPR_ATAN:
    case VYRE_EXPR_SINH:
    case VYRE_EXPR_COSH:
    case VYRE_EXPR_TANH:
    case VYRE_EXPR_INVERSE_SQRT:
    case VYRE_EXPR_POW:
    case VYRE_EXPR_ATAN2:
    case VYRE_EXPR_ROW:
    case VYRE_EXPR_COUNT: break;
    }
    return cpu_literal(type, 0);
}

cpu_value cpu_apply(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value z) {
    cpu_value v = apply(e, op, x, y, z);
    const uint8_t even = cpu_evenness(op, &x, &y);
    v.even = even > v.even ? even : v.even;
    return v;
}

static cpu_value builtin(cpu_emit *e, vyre_builtin id, uint32_t axis) {
    const uint32_t size = e->p->workgroup[axis];
    char group[4] = {'%', 'g', "xyz"[axis], 0}, groups[4] = {'%', 'n', "xyz"[axis], 0};
    cpu_value number = {.type = VYRE_U32}, count = number;
    (void)snprintf(number.text, sizeof number.text, "%s", group);
    (void)snprintf(count.text, sizeof count.text, "%s", groups);
    switch (id) {
    case VYRE_BUILTIN_GLOBAL_ID: {
        if (e->form == CPU_FORM_ROWS) {
            return e->ids[axis];
        }
        cpu_value first = cpu_apply(e, VYRE_EXPR_MUL, number, cpu_u32(size), number);
        return cpu_apply(e, VYRE_EXPR_ADD, first, e->ids[axis], e->ids[axis]);
    }
    case VYRE_BUILTIN_LOCAL_ID: return e->ids[axis];
    case VYRE_BUILTIN_GROUP_ID: return number;
    case VYRE_BUILTIN_NUM_GROUPS: return count;
    case VYRE_BUILTIN_GROUP_SIZE: return cpu_u32(size);
    case VYRE_BUILTIN_GLOBAL_SIZE: return cpu_binary(e, "mul", VYRE_U32, count, cpu_u32(size));
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
        return cpu_apply(e, VYRE_EXPR_BIT_AND, e->lane, cpu_u32(VYRE_SUBGROUP_SIZE_FIXED - 1),
                         e->lane);
    case VYRE_BUILTIN_SUBGROUP_SIZE: return cpu_u32(VYRE_SUBGROUP_SIZE_FIXED);
    case VYRE_BUILTIN_COUNT: break;
    }
    return cpu_u32(0);
}

static cpu_value reference(cpu_emit *e, vyre_decl decl) {
    uint64_t bits = 0;
    if (e->p->decls[decl].role == VYRE_CONST) {
        (void)vyre_fold_const(e->p, decl, &bits);
        return cpu_literal((vyre_type)e->p->decls[decl].type, bits);
    }
    return cpu_param(e, decl);
}

/* Whether lanes mostly have consecutive values. */
static bool is_near(const cpu_value *v) {
    return v->near || (v->hold == CPU_LINEAR && v->stride == 1);
}

/* Clamps, wraps at the ends, and sums with what all lanes share: most gangs do not see that they
 * are not linear. */
static bool stays_near(vyre_expr_op op, const cpu_value *arg, const cpu_value *v) {
    const cpu_value *x = &arg[0], *y = &arg[1], *z = &arg[2];
    const bool first = is_near(x) && y->hold == CPU_ONE, second = is_near(y) && x->hold == CPU_ONE;
    if (v->hold != CPU_EACH || (v->type != VYRE_U32 && v->type != VYRE_I32)) {
        return false;
    }
    switch ((int)op) {
    case VYRE_EXPR_MIN:
    case VYRE_EXPR_MAX:
    case VYRE_EXPR_ADD: return first || second;
    case VYRE_EXPR_SUB:
    case VYRE_EXPR_REM: return first;
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND:
        return (is_near(y) && (is_near(z) || z->hold == CPU_ONE)) ||
               (is_near(z) && y->hold == CPU_ONE);
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_BITCAST: return is_near(x);
    default: return false;
    }
}

cpu_value cpu_operand(const cpu_emit *e, const vyre_stmt_node *s, uint32_t arg) {
    return e->values[s->arg[arg] - s->first_expr];
}

void cpu_emit_exprs(cpu_emit *e, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const vyre_expr_node *n = &e->p->exprs[i];
        const vyre_expr_op op = (vyre_expr_op)n->op;
        if (e->only_wanted && !e->sites[i].wanted) {
            continue;
        }
        const uint32_t arity = vyre_expr_info_of(op)->arity;
        cpu_value arg[3] = {{.type = VYRE_U32}, {.type = VYRE_U32}, {.type = VYRE_U32}};
        for (uint32_t k = 0; k < arity; k++) {
            arg[k] = e->values[n->u.arg[k] - first];
        }
        cpu_value v;
        e->expr = i;
        const bool is_thin = cpu_apply_thin(e, op, n, arg, &v);
        for (uint32_t k = 0; k < arity && !is_thin; k++) {
            arg[k] = cpu_full(e, arg[k]);
        }
        switch (is_thin ? VYRE_EXPR_COUNT : (int)op) {
        case VYRE_EXPR_COUNT: break;
        case VYRE_EXPR_LITERAL: v = cpu_literal((vyre_type)n->type, n->u.bits); break;
        case VYRE_EXPR_VAR:
            v = cpu_get(e, n->ref);
            v = e->thins ? v : cpu_full(e, v);
            break;
        case VYRE_EXPR_REF: v = reference(e, n->ref); break;
        case VYRE_EXPR_LEN: v = cpu_length(e, n->ref); break;
        case VYRE_EXPR_BUILTIN: v = builtin(e, (vyre_builtin)n->sub, n->axis); break;
        case VYRE_EXPR_LOAD: v = cpu_load(e, n->ref, arg[0]); break;
        case VYRE_EXPR_CAST: v = cpu_cast(e, (vyre_type)n->sub, arg[0]); break;
        case VYRE_EXPR_BITCAST: v = cpu_bitcast(e, (vyre_type)n->type, arg[0]); break;
        case VYRE_EXPR_NOT: {
            cpu_value truth = cpu_truth(e, arg[0]);
            v = cpu_binary(e, "xor", VYRE_BOOL, truth, like(e, &truth, 1));
            v = cpu_with_span(e, op, truth, truth, v);
            break;
        }
        case VYRE_EXPR_AND:
        case VYRE_EXPR_OR:
            cpu_join_spans(e, op, &arg[0], &arg[1]);
            v = logic(e, op == VYRE_EXPR_AND ? "and" : "or", arg[0], arg[1]);
            v = cpu_with_span(e, op, arg[0], arg[1], v);
            break;
        case VYRE_EXPR_SELECT:
        case VYRE_EXPR_COND: v = select_value(e, arg[0], arg[1], arg[2]); break;
        default:
            if (!cpu_apply_cut(e, op, arg[0], arg[1], &v)) {
                v = cpu_with_span(e, op, arg[0], arg[1], cpu_apply(e, op, arg[0], arg[1], arg[2]));
            }
            break;
        }
        v.near = stays_near(op, arg, &v) || (op == VYRE_EXPR_VAR && v.near);
        e->values[i - first] = v;
    }
}
