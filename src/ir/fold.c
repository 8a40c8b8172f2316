/* Constant evaluation. Integers are computed in 64 or 128 bits and cut to their width, which makes
 * wrapping, saturation and the division rules visible as arithmetic; floats are computed in their
 * own type. Values are literal bits: zero-extended, floats as their IEEE bits. */
#include "ir/fold.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

__extension__ typedef __int128 wide;

static float to_f32(uint64_t bits) {
    return vyre_f32_from_bits((uint32_t)bits);
}

static double to_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t of_f32(float value) {
    return vyre_f32_bits(value);
}

static uint64_t of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t width_of(vyre_type type) {
    return vyre_type_size(type) * 8;
}

static uint64_t mask_of(vyre_type type) {
    return width_of(type) == 64 ? UINT64_MAX : (UINT64_C(1) << width_of(type)) - 1;
}

/* The mathematical value of integer bits. */
static wide value_of(vyre_type type, uint64_t bits) {
    if (!vyre_type_is_signed(type)) {
        return (wide)(bits & mask_of(type));
    }
    uint32_t spare = 64 - width_of(type);
    return (wide)((int64_t)(bits << spare) >> spare);
}

static uint64_t cut(vyre_type type, wide value) {
    return (uint64_t)value & mask_of(type);
}

static wide lowest(vyre_type type) {
    return vyre_type_is_signed(type) ? -((wide)1 << (width_of(type) - 1)) : 0;
}

static wide highest(vyre_type type) {
    return vyre_type_is_signed(type) ? ((wide)1 << (width_of(type) - 1)) - 1 : (wide)mask_of(type);
}

static uint64_t saturate(vyre_type type, wide value) {
    wide low = lowest(type), high = highest(type);
    return cut(type, value < low ? low : value > high ? high : value);
}

static uint64_t divide(vyre_type type, wide x, wide y, bool remainder) {
    if (y == 0) {
        return remainder ? 0 : mask_of(type); /* all ones is also -1 */
    }
    return cut(type, remainder ? x % y : x / y); /* lowest / -1 wraps to lowest */
}

static uint64_t rotate(vyre_type type, uint64_t bits, uint32_t left) {
    uint32_t width = width_of(type);
    left %= width;
    return left == 0 ? bits : (bits << left | bits >> (width - left)) & mask_of(type);
}

static uint32_t leading_zeros(vyre_type type, uint64_t bits) {
    return bits == 0 ? width_of(type) : (uint32_t)__builtin_clzll(bits) - (64 - width_of(type));
}

static uint64_t reverse_bits(vyre_type type, uint64_t bits) {
    uint64_t out = 0;
    for (uint32_t i = 0; i < width_of(type); i++) {
        out = out << 1 | (bits >> i & 1);
    }
    return out;
}

static bool fold_integer(vyre_expr_op op, vyre_type type, const uint64_t *in, uint64_t *out) {
    wide x = value_of(type, in[0]), y = value_of(type, in[1]);
    uint32_t amount = (uint32_t)in[1] & (width_of(type) - 1);
    switch ((int)op) {
    case VYRE_EXPR_NEG: *out = cut(type, -x); return true;
    case VYRE_EXPR_BIT_NOT: *out = cut(type, ~x); return true;
    case VYRE_EXPR_ABS: *out = cut(type, x < 0 ? -x : x); return true;
    case VYRE_EXPR_SIGN: *out = cut(type, (x > 0) - (x < 0)); return true;
    case VYRE_EXPR_POPCOUNT: *out = (uint64_t)__builtin_popcountll(in[0]); return true;
    case VYRE_EXPR_CLZ: *out = leading_zeros(type, in[0]); return true;
    case VYRE_EXPR_CTZ:
        *out = in[0] == 0 ? width_of(type) : (uint64_t)__builtin_ctzll(in[0]);
        return true;
    case VYRE_EXPR_REVERSE_BITS: *out = reverse_bits(type, in[0]); return true;
    case VYRE_EXPR_UNPACK4_LOW: *out = in[0] & 15; return true;
    case VYRE_EXPR_UNPACK4_HIGH: *out = in[0] >> 4 & 15; return true;
    case VYRE_EXPR_UNPACK8_LOW: *out = in[0] & 255; return true;
    case VYRE_EXPR_UNPACK8_HIGH: *out = in[0] >> 24 & 255; return true;
    case VYRE_EXPR_ADD: *out = cut(type, x + y); return true;
    case VYRE_EXPR_SUB: *out = cut(type, x - y); return true;
    case VYRE_EXPR_MUL: *out = in[0] * in[1] & mask_of(type); return true;
    case VYRE_EXPR_DIV: *out = divide(type, x, y, false); return true;
    case VYRE_EXPR_REM: *out = divide(type, x, y, true); return true;
    case VYRE_EXPR_SHL: *out = in[0] << amount & mask_of(type); return true;
    case VYRE_EXPR_SHR: *out = cut(type, x >> amount); return true;
    case VYRE_EXPR_ROTL: *out = rotate(type, in[0], amount); return true;
    case VYRE_EXPR_ROTR: *out = rotate(type, in[0], width_of(type) - amount); return true;
    case VYRE_EXPR_LT: *out = x < y; return true;
    case VYRE_EXPR_LE: *out = x <= y; return true;
    case VYRE_EXPR_GT: *out = x > y; return true;
    case VYRE_EXPR_GE: *out = x >= y; return true;
    case VYRE_EXPR_EQ: *out = x == y; return true;
    case VYRE_EXPR_NE: *out = x != y; return true;
    case VYRE_EXPR_BIT_AND: *out = in[0] & in[1]; return true;
    case VYRE_EXPR_BIT_XOR: *out = in[0] ^ in[1]; return true;
    case VYRE_EXPR_BIT_OR: *out = in[0] | in[1]; return true;
    case VYRE_EXPR_MIN: *out = x < y ? in[0] : in[1]; return true;
    case VYRE_EXPR_MAX: *out = x > y ? in[0] : in[1]; return true;
    case VYRE_EXPR_ABS_DIFF: *out = cut(type, x > y ? x - y : y - x); return true;
    case VYRE_EXPR_MUL_HIGH: {
        /* |x|, |y| < 2^64: the unsigned product fits 128 bits, the signed one 127. */
        if (vyre_type_is_signed(type)) {
            *out = cut(type, (x * y) >> width_of(type));
        } else {
            __extension__ typedef unsigned __int128 uwide;
            *out = (uint64_t)(((uwide)in[0] * (uwide)in[1]) >> width_of(type)) & mask_of(type);
        }
        return true;
    }
    case VYRE_EXPR_SAT_ADD: *out = saturate(type, x + y); return true;
    case VYRE_EXPR_SAT_SUB: *out = saturate(type, x - y); return true;
    case VYRE_EXPR_SAT_MUL: {
        wide product;
        if (__builtin_mul_overflow(x, y, &product)) { /* only u64 * u64: both positive */
            product = highest(type);
        }
        *out = saturate(type, product);
        return true;
    }
    case VYRE_EXPR_ROW:
        *out = in[2] < in[1] && in[0] < (UINT64_C(1) << 32) / in[1] ? in[0] * in[1] + in[2]
                                                                    : UINT32_MAX;
        return true;
    default: return false;
    }
}

/* The float operators, once per type: T the C type, S its literal suffix function names. */
#define FOLD_FLOAT(NAME, T, FROM, TO, SQRT, FLOOR, CEIL, ROUND, TRUNC, FMA, ABS)                   \
    static bool NAME(vyre_expr_op op, const uint64_t *in, uint64_t *out) {                         \
        T x = FROM(in[0]), y = FROM(in[1]);                                                        \
        switch ((int)op) {                                                                         \
        case VYRE_EXPR_NEG: *out = TO(-x); return true;                                            \
        case VYRE_EXPR_ABS: *out = TO(ABS(x)); return true;                                        \
        case VYRE_EXPR_SIGN: *out = TO(x != x ? x : (T)((x > 0) - (x < 0))); return true;          \
        case VYRE_EXPR_SQRT: *out = TO(SQRT(x)); return true;                                      \
        case VYRE_EXPR_RCP: *out = TO((T)1 / x); return true;                                      \
        case VYRE_EXPR_FLOOR: *out = TO(FLOOR(x)); return true;                                    \
        case VYRE_EXPR_CEIL: *out = TO(CEIL(x)); return true;                                      \
        case VYRE_EXPR_ROUND: *out = TO(ROUND(x)); return true;                                    \
        case VYRE_EXPR_TRUNC: *out = TO(TRUNC(x)); return true;                                    \
        case VYRE_EXPR_IS_NAN: *out = x != x; return true;                                         \
        case VYRE_EXPR_IS_INF: *out = isinf(x) != 0; return true;                                  \
        case VYRE_EXPR_IS_FINITE: *out = isfinite(x) != 0; return true;                            \
        case VYRE_EXPR_ADD: *out = TO(x + y); return true;                                         \
        case VYRE_EXPR_SUB: *out = TO(x - y); return true;                                         \
        case VYRE_EXPR_MUL: *out = TO(x * y); return true;                                         \
        case VYRE_EXPR_DIV: *out = TO(x / y); return true;                                         \
        case VYRE_EXPR_LT: *out = x < y; return true;                                              \
        case VYRE_EXPR_LE: *out = x <= y; return true;                                             \
        case VYRE_EXPR_GT: *out = x > y; return true;                                              \
        case VYRE_EXPR_GE: *out = x >= y; return true;                                             \
        case VYRE_EXPR_EQ: *out = x == y; return true;                                             \
        case VYRE_EXPR_NE: *out = x != y; return true;                                             \
        case VYRE_EXPR_MIN: *out = y < x || x != x ? in[1] : in[0]; return true;                   \
        case VYRE_EXPR_MAX: *out = y > x || x != x ? in[1] : in[0]; return true;                   \
        case VYRE_EXPR_FMA: *out = TO(FMA(x, y, FROM(in[2]))); return true;                        \
        default: return false;                                                                     \
        }                                                                                          \
    }

FOLD_FLOAT(fold_f32, float, to_f32, of_f32, sqrtf, floorf, ceilf, roundf, truncf, fmaf, fabsf)
FOLD_FLOAT(fold_f64, double, to_f64, of_f64, sqrt, floor, ceil, round, trunc, fma, fabs)

/* An integer as a double that rounds to few bits as the integer itself does: what does not fit is
 * gathered in the last bit. */
static double sticky(wide value) {
    uint64_t size = (uint64_t)(value < 0 ? -value : value);
    double number =
        size >> 53 ? ldexp((double)(size >> 11 | ((size & 0x7ff) != 0)), 11) : (double)size;
    return value < 0 ? -number : number;
}

static uint64_t from_float(vyre_type to, double value) {
    if (to == VYRE_BOOL) {
        return value != 0; /* NaN is not zero */
    }
    if (value != value) {
        return 0;
    }
    wide low = lowest(to), high = highest(to);
    double t = trunc(value);
    if (t <= (double)low) {
        return cut(to, low);
    }
    if (t >= (double)high) { /* (double)high may round up; then equality means beyond */
        return cut(to, high);
    }
    return cut(to, (wide)t);
}

static uint64_t to_float(vyre_type from, vyre_type to, uint64_t bits) {
    bool real = vyre_type_is_float(from);
    double number = from == VYRE_F32 ? (double)to_f32(bits) : real ? to_f64(bits) : 0;
    wide whole = real ? 0 : from == VYRE_BOOL ? (wide)(bits != 0) : value_of(from, bits);
    if (to == VYRE_F64) {
        return of_f64(real ? number : whole < 0 ? (double)(int64_t)whole : (double)(uint64_t)whole);
    }
    if (to == VYRE_F32) {
        return of_f32(real        ? (float)number
                      : whole < 0 ? (float)(int64_t)whole
                                  : (float)(uint64_t)whole);
    }
    number = real ? number : sticky(whole);
    return of_f32(to == VYRE_F16 ? vyre_f16_to_f32(vyre_f16_from_f64(number))
                                 : vyre_bf16_to_f32(vyre_bf16_from_f64(number)));
}

uint64_t vyre_fold_cast(vyre_type from, vyre_type to, uint64_t bits) {
    if (vyre_type_is_float(to)) {
        return to_float(from, to, bits);
    }
    if (vyre_type_is_float(from)) {
        bits = from_float(to, from == VYRE_F32 ? (double)to_f32(bits) : to_f64(bits));
    } else if (to == VYRE_BOOL) {
        return bits != 0;
    } else {
        bits = cut(to, from == VYRE_BOOL ? (wide)(bits != 0) : value_of(from, bits));
    }
    return to == VYRE_BOOL ? bits : cut(vyre_type_widened(to), value_of(to, bits));
}

bool vyre_fold(const vyre_program_view *p, vyre_expr expr, const uint64_t *operands,
               uint64_t *out) {
    const vyre_expr_node *e = &p->exprs[expr];
    const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)e->op);
    if (info->arity == 0 || e->op == VYRE_EXPR_LOAD || info->operands == VYRE_OPERANDS_ELEMENTARY) {
        return false;
    }
    uint64_t in[3] = {operands[0], info->arity > 1 ? operands[1] : 0,
                      info->arity > 2 ? operands[2] : 0};
    vyre_type type = (vyre_type)p->exprs[e->u.arg[0]].type;
    switch ((int)e->op) {
    case VYRE_EXPR_CAST: *out = vyre_fold_cast(type, (vyre_type)e->sub, in[0]); return true;
    case VYRE_EXPR_BITCAST: *out = in[0]; return true;
    case VYRE_EXPR_NOT: *out = in[0] == 0; return true;
    case VYRE_EXPR_AND: *out = in[0] != 0 && in[1] != 0; return true;
    case VYRE_EXPR_OR: *out = in[0] != 0 || in[1] != 0; return true;
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND: *out = in[0] ? in[1] : in[2]; return true;
    default: break;
    }
    if (type == VYRE_BOOL) {
        *out = e->op == VYRE_EXPR_EQ ? in[0] == in[1] : in[0] != in[1];
        return e->op == VYRE_EXPR_EQ || e->op == VYRE_EXPR_NE;
    }
    if (type == VYRE_F32) {
        return fold_f32((vyre_expr_op)e->op, in, out);
    }
    if (type == VYRE_F64) {
        return fold_f64((vyre_expr_op)e->op, in, out);
    }
    return fold_integer((vyre_expr_op)e->op, type, in, out);
}

/* Evaluates a range of expressions in order. Consts inside are resolved by a stack of ranges. */
bool vyre_fold_const(const vyre_program_view *p, vyre_decl decl, uint64_t *out) {
    enum { STACK = 512, MOST_STEPS = 1 << 16 }; /* consts of consts may double at each level */
    struct frame {
        vyre_decl decl;
        vyre_expr at;
    } frames[VYRE_FOLD_DEPTH];
    uint64_t stack[STACK] = {0}; /* operands not yet used: the expressions are in postfix order */
    uint32_t depth = 0, top = 0, steps = 0;
    if (decl >= p->decl_count || p->decls[decl].role != VYRE_CONST ||
        p->decls[decl].value == VYRE_NONE) {
        return false;
    }
    frames[0] = (struct frame){.decl = decl, .at = p->decls[decl].first_expr};
    for (;;) {
        struct frame *f = &frames[depth];
        if (f->at > p->decls[f->decl].value) { /* done: its value is on top */
            if (depth == 0) {
                *out = stack[0];
                return true;
            }
            depth--;
            continue;
        }
        const vyre_expr_node *e = &p->exprs[f->at];
        if (++steps > MOST_STEPS) {
            return false;
        }
        if (e->op == VYRE_EXPR_REF) {
            const vyre_decl_node *d = &p->decls[e->ref];
            if (d->role != VYRE_CONST || d->value == VYRE_NONE || depth + 1 == VYRE_FOLD_DEPTH) {
                return false;
            }
            f->at++;
            frames[++depth] = (struct frame){.decl = e->ref, .at = d->first_expr};
            continue;
        }
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        uint64_t value = e->op == VYRE_EXPR_LITERAL ? e->u.bits : 0;
        if (e->op != VYRE_EXPR_LITERAL &&
            (top < arity || !vyre_fold(p, f->at, stack + top - arity, &value))) {
            return false;
        }
        top -= arity;
        if (top == STACK) {
            return false;
        }
        stack[top++] = value;
        f->at++;
    }
}
