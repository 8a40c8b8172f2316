/* Helper functions of emitted text: what the language defines and C leaves open, or does otherwise.
 * One pattern for each operation and class of types; a file gets those that it uses, in the order
 * of the enum, in which a helper stands behind those that it needs. Operands are evaluated once, as
 * arguments. */
#include <stdio.h>
#include <string.h>

#include "emit/emit.h"
#include "ir/touches.h"

const char *emit_value_type(vyre_type type) {
    static const char *const names[VYRE_TYPE_COUNT] = {
        [VYRE_VOID] = "void",    [VYRE_BOOL] = "bool",    [VYRE_U32] = "uint32_t",
        [VYRE_I32] = "int32_t",  [VYRE_U64] = "uint64_t", [VYRE_I64] = "int64_t",
        [VYRE_F32] = "float",    [VYRE_F64] = "double",   [VYRE_U8] = "uint8_t",
        [VYRE_I8] = "int8_t",    [VYRE_U16] = "uint16_t", [VYRE_I16] = "int16_t",
        [VYRE_F16] = "uint16_t", [VYRE_BF16] = "uint16_t"};
    return names[type];
}

const char *emit_element_type(vyre_type type) {
    return type == VYRE_BOOL ? "uint32_t" : emit_value_type(type);
}

static uint32_t width_of(vyre_type type) {
    return 8 * vyre_type_size(type);
}

static vyre_type unsigned_of(vyre_type type) {
    return width_of(type) == 64 ? VYRE_U64 : VYRE_U32;
}

/* The highest or lowest value of an integer type, as an expression of C. */
static void put_limit(vyre_text *t, const emit_dialect *d, vyre_type type, bool highest) {
    const uint32_t width = width_of(type);
    const bool is_signed = vyre_type_is_signed(type);
    const char *suffix = width == 64 ? is_signed ? d->i64 : d->u64 : is_signed ? "" : "u";
    const uint64_t top = UINT64_MAX >> (64 - width + is_signed);
    if (!highest && !is_signed) {
        vyre_text_puts(t, "0");
    } else if (highest) {
        vyre_text_printf(t, "%llu%s", (unsigned long long)top, suffix);
    } else { /* there is no such literal */
        vyre_text_printf(t, "(-%llu%s - 1)", (unsigned long long)top, suffix);
    }
}

static void put_power(vyre_text *t, vyre_type type, vyre_type real) {
    const uint32_t width = width_of(type) - vyre_type_is_signed(type);
    char digits[32];
    if (width == 64) {
        (void)snprintf(digits, sizeof digits, "18446744073709551616");
    } else {
        (void)snprintf(digits, sizeof digits, "%llu", 1ULL << width);
    }
    vyre_text_printf(t, "%s.0%s", digits, real == VYRE_F32 ? "f" : "");
}

static void put_operand(vyre_text *t, const emit_subst *s, char how, char which) {
    const emit_expr *x = &s->operand[which - '0'];
    const uint8_t least = how == 'l'   ? s->level
                          : how == 'r' ? (uint8_t)(s->level + 1)
                          : how == 's' ? EMIT_SUM
                          : how == 'u' ? EMIT_UNARY
                                       : EMIT_LOOSE;
    const bool brackets = x->level < least;
    vyre_text_puts(t, brackets ? "(" : "");
    vyre_text_puts(t, x->text);
    vyre_text_puts(t, brackets ? ")" : "");
}

void emit_expand(vyre_text *t, const char *pattern, const emit_subst *s) {
    static const char *const suffix[EMIT_SPACES] = {"", "_local", "_private"};
    for (const char *at = pattern; *at; at++) {
        if (*at != '$') {
            vyre_text_append(t, at, 1);
            continue;
        }
        switch (*++at) {
        case 'T': vyre_text_puts(t, emit_value_type(s->type)); break;
        case 'N': vyre_text_puts(t, vyre_type_name(s->type)); break;
        case 'U': vyre_text_puts(t, emit_value_type(unsigned_of(s->type))); break;
        case 'V': vyre_text_puts(t, vyre_type_name(unsigned_of(s->type))); break;
        case 'R': vyre_text_puts(t, emit_value_type(s->result)); break;
        case 'O': vyre_text_puts(t, vyre_type_name(s->result)); break;
        case 'E': vyre_text_puts(t, emit_element_type(s->type)); break;
        case 'W': vyre_text_printf(t, "%u", (unsigned)width_of(s->type)); break;
        case 'M': vyre_text_printf(t, "%u", (unsigned)width_of(s->type) - 1); break;
        case 'H': put_limit(t, s->dialect, s->type, true); break;
        case 'L': put_limit(t, s->dialect, s->type, false); break;
        case 'P': put_power(t, s->type, s->result); break;
        case 'S': vyre_text_puts(t, s->dialect->space[s->space]); break;
        case 'A': vyre_text_puts(t, suffix[s->space]); break;
        case 'F': vyre_text_puts(t, s->type == VYRE_F32 ? s->dialect->float_function : ""); break;
        case 'X': vyre_text_puts(t, s->name[0]); break;
        case 'Y': vyre_text_puts(t, s->name[1]); break;
        case 'I': vyre_text_puts(t, s->dialect->function); break;
        case 'K': vyre_text_puts(t, s->dialect->kernel_function); break;
        default: /* an operand */
            put_operand(t, s, at[0], at[1]);
            at++;
            break;
        }
    }
}

void emit_use(emit_used *used, emit_helper helper, emit_space space, vyre_type type) {
    used->helpers[helper] |= EMIT_BIT(space, type);
}

/* ---- patterns ---- */

/* One for all types, or for unsigned integers, signed ones and floats. */
typedef struct pattern {
    const char *any, *of_signed, *of_float;
} pattern;

#define ONE(name, body)  "$I $T vy_" name "_$N($T a) {\n    return " body ";\n}\n"
#define TWO(name, body)  "$I $T vy_" name "_$N($T a, $T b) {\n    return " body ";\n}\n"
#define TEST(name, body) "$I bool vy_" name "_$N($T a) {\n    return " body ";\n}\n"
#define ROTATE(name, left, right)                                                                  \
    "$I $T vy_" name "_$N($T a, uint32_t b) {\n"                                                   \
    "    const $U x = ($U)a;\n"                                                                    \
    "    const uint32_t s = b & $M;\n"                                                             \
    "    return ($T)(s == 0 ? x : x " left " s | x " right " ($W - s));\n}\n"

static const pattern patterns[EMIT_ATOMIC_CAS] = {
    [EMIT_BITS_OF] = {"$I $U vy_bits_of_$N($T a) {\n"
                      "    union {\n        $T value;\n        $U bits;\n    } both;\n"
                      "    both.value = a;\n    return both.bits;\n}\n",
                      NULL, NULL},
    [EMIT_OF_BITS] = {"$I $T vy_$N_of_bits($U a) {\n"
                      "    union {\n        $T value;\n        $U bits;\n    } both;\n"
                      "    both.bits = a;\n    return both.value;\n}\n",
                      NULL, NULL},
    [EMIT_MINUS_ZERO] =
        {"/* -0.0, unknown to compilers: clang 14 and 15 take it for 0.0 in `a > 0 ? "
         "-0.0 : a`. */\n"
         "$I $T vy_minus_zero_$N(void) {\n"
         "    volatile $T zero = 0;\n    return -zero;\n}\n",
         NULL, NULL},
    [EMIT_F16_TO] =
        {"$I float vy_f16_to_f32(uint16_t a) {\n"
         "    const uint32_t sign = (uint32_t)(a & 0x8000u) << 16, rest = a & 0x7fffu;\n"
         "    if (rest >= 0x7c00u) { /* infinite, or no number */\n"
         "        return vy_f32_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);\n"
         "    }\n"
         "    if (rest < 0x400u) { /* subnormal: a multiple of 2^-24 */\n"
         "        const float value = (float)rest * 5.9604644775390625e-8f;\n"
         "        return sign ? -value : value;\n"
         "    }\n"
         "    return vy_f32_of_bits(sign | ((rest << 13) + (112u << 23)));\n}\n",
         NULL, NULL},
    [EMIT_F16_FROM] =
        {"/* Rounds to nearest even. */\n"
         "$I uint16_t vy_f16_from_f32(float a) {\n"
         "    const uint32_t bits = vy_bits_of_f32(a), size = bits & 0x7fffffffu;\n"
         "    const uint32_t sign = bits >> 16 & 0x8000u;\n"
         "    if (size > 0x7f800000u) {\n"
         "        return 0x7e00u;\n"
         "    }\n"
         "    if (size >= 0x477ff000u) { /* 65520 and more */\n"
         "        return (uint16_t)(sign | 0x7c00u);\n"
         "    }\n"
         "    if (size < 0x38800000u) { /* adding 0.5 leaves the multiple of 2^-24 */\n"
         "        const float shifted = vy_f32_of_bits(size) + 0.5f;\n"
         "        return (uint16_t)(sign | (vy_bits_of_f32(shifted) - 0x3f000000u));\n"
         "    }\n"
         "    return (uint16_t)(sign | (size + 0xfffu + (size >> 13 & 1u) - (112u << "
         "23)) >> 13);\n}\n",
         NULL, NULL},
    [EMIT_BF16_TO] = {"$I float vy_bf16_to_f32(uint16_t a) {\n"
                      "    return vy_f32_of_bits((uint32_t)a << 16);\n}\n",
                      NULL, NULL},
    [EMIT_BF16_FROM] = {"/* Rounds to nearest even. */\n"
                        "$I uint16_t vy_bf16_from_f32(float a) {\n"
                        "    const uint32_t bits = vy_bits_of_f32(a);\n"
                        "    if ((bits & 0x7fffffffu) > 0x7f800000u) {\n"
                        "        return 0x7fc0u;\n"
                        "    }\n"
                        "    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n}\n",
                        NULL, NULL},
    [EMIT_STICKY_F64] =
        {"/* Cut, with the last bit set if anything was cut off: rounded once more, it "
         "rounds as a. */\n"
         "$I float vy_f32_sticky_f64(double a) {\n"
         "    const float near = (float)a;\n"
         "    if ((double)near == a || a != a) {\n"
         "        return near;\n"
         "    }\n"
         "    const uint32_t bits = vy_bits_of_f32(near);\n"
         "    const uint32_t beyond = a < 0 ? (double)near < a : (double)near > a;\n"
         "    return vy_f32_of_bits((bits - beyond) | 1u);\n}\n",
         NULL, NULL},
    [EMIT_STICKY_U64] =
        {"/* The 24 highest bits, the last of them set if anything was cut off: rounded "
         "once more, it rounds as a. */\n"
         "$I float vy_f32_sticky_u64(uint64_t a) {\n"
         "    uint32_t cut = 0;\n"
         "    while (a >> cut >> 24 != 0) {\n"
         "        cut++;\n"
         "    }\n"
         "    const uint64_t kept = a >> cut;\n"
         "    const uint64_t all = kept | (kept << cut != a ? 1u : 0u);\n"
         "    return (float)all * (float)((uint64_t)1 << cut);\n}\n",
         NULL, NULL},
    [EMIT_STICKY_I64] = {"$I float vy_f32_sticky_i64(int64_t a) {\n"
                         "    return a < 0 ? -vy_f32_sticky_u64(0 - (uint64_t)a) : "
                         "vy_f32_sticky_u64((uint64_t)a);\n}\n",
                         NULL, NULL},
    [EMIT_NEG] = {NULL, ONE("neg", "($T)(0 - ($U)a)"), NULL},
    [EMIT_ADD] = {NULL, TWO("add", "($T)(($U)a + ($U)b)"), NULL},
    [EMIT_SUB] = {NULL, TWO("sub", "($T)(($U)a - ($U)b)"), NULL},
    [EMIT_MUL] = {NULL, TWO("mul", "($T)(($U)a * ($U)b)"), NULL},
    [EMIT_SHL] = {NULL,
                  "$I $T vy_shl_$N($T a, uint32_t b) {\n    return ($T)(($U)a << (b & $M));\n}\n",
                  NULL},
    [EMIT_DIV] = {TWO("div", "b == 0 ? $H : a / b"),
                  TWO("div", "b == 0 ? -1 : b == -1 ? ($T)(0 - ($U)a) : a / b"), NULL},
    [EMIT_REM] = {TWO("rem", "b == 0 ? 0 : a % b"), TWO("rem", "b == 0 || b == -1 ? 0 : a % b"),
                  NULL},
    [EMIT_ABS] = {NULL, ONE("abs", "a < 0 ? ($T)(0 - ($U)a) : a"), NULL},
    [EMIT_SIGN] = {ONE("sign", "a != 0 ? 1 : 0"), ONE("sign", "(a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)"),
                   ONE("sign", "a != a ? a : ($T)((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0))")},
    [EMIT_POPCOUNT] = {"$I $T vy_popcount_$N($T a) {\n"
                       "    const $U x = ($U)a;\n    return ($T)$X;\n}\n",
                       NULL, NULL},
    [EMIT_CLZ] = {"$I $T vy_clz_$N($T a) {\n"
                  "    $U x = ($U)a;\n"
                  "    for (uint32_t s = 1; s < $W; s *= 2) {\n        x |= x >> s;\n    }\n"
                  "    return ($T)($W - $X);\n}\n",
                  NULL, NULL},
    [EMIT_CTZ] = {"$I $T vy_ctz_$N($T a) {\n"
                  "    const $U x = (($U)a & (0 - ($U)a)) - 1;\n    return ($T)$X;\n}\n",
                  NULL, NULL},
    [EMIT_REVERSE] = {"$I $T vy_reverse_bits_$N($T a) {\n"
                      "    $U x = 0;\n"
                      "    for (uint32_t i = 0; i < $W; i++) {\n"
                      "        x = x << 1 | (($U)a >> i & 1);\n    }\n"
                      "    return ($T)x;\n}\n",
                      NULL, NULL},
    [EMIT_IS_NAN] = {TEST("is_nan", "a != a"), NULL, NULL},
    [EMIT_IS_INF] = {TEST("is_inf", "a == a && a - a != 0"), NULL, NULL},
    [EMIT_IS_FINITE] = {TEST("is_finite", "a - a == 0"), NULL, NULL},
    [EMIT_MIN] = {TWO("min", "a < b ? a : b"), TWO("min", "a < b ? a : b"),
                  TWO("min", "b < a || a != a ? b : a")},
    [EMIT_MAX] = {TWO("max", "a > b ? a : b"), TWO("max", "a > b ? a : b"),
                  TWO("max", "b > a || a != a ? b : a")},
    [EMIT_NEXT] = {"/* The next value of a loop; its end in place of what is beyond. */\n"
                   "$I uint32_t vy_next(uint32_t i, uint32_t end, uint32_t step) {\n"
                   "    return end - i > step ? i + step : end;\n}\n",
                   NULL, NULL},
    [EMIT_LANES_BELOW] = {"/* Of `count` lanes from `base` on: how many are below `end`. */\n"
                          "$I uint32_t vy_lanes_below(uint32_t base, uint32_t count, uint32_t end) "
                          "{\n"
                          "    return end <= base ? 0 : end - base < count ? end - base : count;\n"
                          "}\n",
                          NULL, NULL},
    [EMIT_LANES_UP_TO] =
        {"/* The same, with `last`. */\n"
         "$I uint32_t vy_lanes_up_to(uint32_t base, uint32_t count, uint32_t last) "
         "{\n"
         "    return last < base ? 0 : last - base < count ? last - base + 1 : "
         "count;\n"
         "}\n",
         NULL, NULL},
    [EMIT_LANES_ALIKE] =
        {"/* Of `count` lanes from number `first` on: how many have its quotient. */\n"
         "$I uint32_t vy_lanes_alike(uint32_t first, uint32_t by, uint32_t count) "
         "{\n"
         "    const uint32_t more = by == 0 ? 1 : by - first % by;\n"
         "    return more < count ? more : count;\n"
         "}\n",
         NULL, NULL},
    [EMIT_ROW_INSIDE] =
        {"/* Whether `first` and what grows from it by `factor` for so many lanes is "
         "below `count`. */\n"
         "$I bool vy_row_inside(uint32_t first, uint32_t factor, uint32_t lanes, "
         "uint32_t count) {\n"
         "    return first + (uint64_t)factor * (uint32_t)(lanes - 1) < count;\n"
         "}\n",
         NULL, NULL},
    [EMIT_ABS_DIFF] = {"$I $U vy_abs_diff_$N($T a, $T b) {\n"
                       "    return a > b ? ($U)a - ($U)b : ($U)b - ($U)a;\n}\n",
                       NULL, NULL},
    [EMIT_MUL_HIGH] = {TWO("mul_high", "$X"), NULL, NULL},
    [EMIT_SAT_ADD] = {TWO("sat_add", "($T)(a + b) < a ? $H : a + b"),
                      "$I $T vy_sat_add_$N($T a, $T b) {\n"
                      "    const $T sum = ($T)(($U)a + ($U)b);\n"
                      "    return ((a ^ sum) & (b ^ sum)) < 0 ? a < 0 ? $L : $H : sum;\n}\n",
                      NULL},
    [EMIT_SAT_SUB] = {TWO("sat_sub", "a < b ? 0 : a - b"),
                      "$I $T vy_sat_sub_$N($T a, $T b) {\n"
                      "    const $T rest = ($T)(($U)a - ($U)b);\n"
                      "    return ((a ^ b) & (a ^ rest)) < 0 ? a < 0 ? $L : $H : rest;\n}\n",
                      NULL},
    [EMIT_SAT_MUL] =
        {TWO("sat_mul", "vy_mul_high_$N(a, b) != 0 ? $H : a * b"),
         "$I $T vy_sat_mul_$N($T a, $T b) {\n"
         "    const $T low = ($T)(($U)a * ($U)b);\n"
         "    return vy_mul_high_$N(a, b) == low >> $M ? low : (a ^ b) < 0 ? $L : $H;\n"
         "}\n",
         NULL},
    [EMIT_ROTL] = {ROTATE("rotl", "<<", ">>"), NULL, NULL},
    [EMIT_ROTR] = {ROTATE("rotr", ">>", "<<"), NULL, NULL},
    [EMIT_FROM_F32] = {"$I $T vy_$N_from_$O($R a) {\n"
                       "    return a != a || a <= 0 ? 0 : a >= $P ? $H : ($T)a;\n}\n",
                       "$I $T vy_$N_from_$O($R a) {\n"
                       "    return a != a ? 0 : a <= -$P ? $L : a >= $P ? $H : ($T)a;\n}\n",
                       NULL},
};

/* By compare and exchange, where nothing else is there. */
static const char by_cas[] = "$K $T vy_$X_$N$A($S$T *p, $T v) {\n"
                             "    $T old = *p, seen;\n"
                             "    do {\n"
                             "        seen = old;\n"
                             "        old = vy_atomic_cas_$N$A(p, $Y, seen);\n"
                             "    } while (old != seen);\n"
                             "    return old;\n}\n";
static const char float_by_cas[] =
    "$K $T vy_$X_$N$A($S$T *p, $T v) {\n"
    "    $Svolatile $U *const bits = ($Svolatile $U *)p;\n"
    "    $U old = *bits, was;\n"
    "    do {\n"
    "        was = old;\n"
    "        const $T seen = vy_$N_of_bits(was);\n"
    "        old = vy_atomic_cas_$V$A(($S$U *)p, vy_bits_of_$N($Y), was);\n"
    "    } while (old != was);\n"
    "    return vy_$N_of_bits(old);\n}\n";

enum { NEW_VALUE = 40 };

/* What an atomic stores where `seen` was: what puts several together, but for those that take away
 * or turn over. */
static void tell_new_value(char out[NEW_VALUE], vyre_atomic_op op, vyre_type type) {
    const vyre_expr_op joins = vyre_atomic_joins(op);
    const char *form = "v";
    if (op == VYRE_ATOMIC_SUB) {
        form = "seen - v";
    } else if (op == VYRE_ATOMIC_NAND) {
        form = "~(seen & v)";
    } else if (joins == VYRE_EXPR_MIN || joins == VYRE_EXPR_MAX) {
        const char sign = joins == VYRE_EXPR_MIN ? '<' : '>';
        (void)snprintf(out, NEW_VALUE,
                       vyre_type_is_float(type) ? "v %c seen || seen != seen ? v : seen"
                                                : "seen %c v ? seen : v",
                       sign);
        return;
    } else if (joins != VYRE_EXPR_COUNT) {
        (void)snprintf(out, NEW_VALUE, "seen %s v", vyre_expr_info_of(joins)->spelling);
        return;
    }
    (void)snprintf(out, NEW_VALUE, "%s", form);
}

const char *emit_native_atomic(const char *const *narrow, const char *const *wide,
                               vyre_atomic_op op, vyre_type type) {
    if (op == VYRE_ATOMIC_LOAD || op == VYRE_ATOMIC_STORE) { /* never torn; fences order them */
        return op == VYRE_ATOMIC_LOAD ? "    return *($Svolatile const $T *)p;\n"
                                      : "    *($Svolatile $T *)p = v;\n";
    }
    if (type == VYRE_F64 || (vyre_type_is_float(type) && op != VYRE_ATOMIC_EXCHANGE)) {
        return NULL;
    }
    return vyre_type_size(type) == 8 ? wide[op] : narrow[op];
}

/* Memory of a group whose lanes one thread runs needs nothing special. */
static bool is_alone(const emit_dialect *dialect, emit_space space) {
    return dialect->lanes_are_loops && space == EMIT_WORKGROUP;
}

static const char *plain_atomic(vyre_atomic_op op, vyre_type type) {
    const bool wraps = vyre_type_is_integer(type);
    switch ((int)op) {
    case VYRE_ATOMIC_LOAD: return "    return *p;\n";
    case VYRE_ATOMIC_STORE: return "    *p = v;\n";
    case VYRE_ATOMIC_CAS:
    case VYRE_ATOMIC_CAS_WEAK:
        return "    const $T seen = *p;\n    *p = seen == e ? v : seen;\n    return seen;\n";
    case VYRE_ATOMIC_ADD:
    case VYRE_ATOMIC_SUB:
        if (wraps) {
            return op == VYRE_ATOMIC_ADD
                       ? "    const $T seen = *p;\n    *p = ($T)(($U)seen + ($U)v);\n"
                         "    return seen;\n"
                       : "    const $T seen = *p;\n    *p = ($T)(($U)seen - ($U)v);\n"
                         "    return seen;\n";
        }
        break;
    default: break;
    }
    return "    const $T seen = *p;\n    *p = $Y;\n    return seen;\n";
}

static void put_atomic(vyre_text *t, vyre_atomic_op op, emit_subst s) {
    const char *native =
        is_alone(s.dialect, s.space) ? plain_atomic(op, s.type) : s.dialect->atomic(op, s.type);
    s.name[0] = vyre_atomic_name(op);
    char made[NEW_VALUE];
    tell_new_value(made, op, s.type);
    s.name[1] = made;
    if (!native) {
        emit_expand(t, vyre_type_is_float(s.type) ? float_by_cas : by_cas, &s);
        return;
    }
    static const char *const values[] = {"", ", $T v", ", $T v, $T e"};
    emit_expand(t, op == VYRE_ATOMIC_STORE ? "$K void" : "$K $T", &s);
    emit_expand(t, op == VYRE_ATOMIC_LOAD ? " vy_$X_$N$A($Sconst $T *p" : " vy_$X_$N$A($S$T *p",
                &s);
    emit_expand(t, values[vyre_atomic_values(op)], &s);
    vyre_text_puts(t, ") {\n");
    emit_expand(t, native, &s);
    vyre_text_puts(t, "}\n");
}

/* ---- which, and in what order ---- */

/* What a load makes of the element $Y. */
static const char *loaded(vyre_type type) {
    return type == VYRE_BOOL   ? "$Y != 0"
           : type == VYRE_F16  ? "vy_f16_to_f32($Y)"
           : type == VYRE_BF16 ? "vy_bf16_to_f32($Y)"
                               : "$Y";
}

static void put_helper(vyre_text *t, emit_helper helper, emit_subst s) {
    if (helper == EMIT_ATOMIC_CAS || helper >= EMIT_ATOMIC) {
        put_atomic(
            t, helper == EMIT_ATOMIC_CAS ? VYRE_ATOMIC_CAS : (vyre_atomic_op)(helper - EMIT_ATOMIC),
            s);
        return;
    }
    const bool is_wide = width_of(s.type) == 64, is_signed = vyre_type_is_signed(s.type);
    const pattern *choice = &patterns[helper == EMIT_FROM_F64 ? EMIT_FROM_F32 : helper];
    switch ((int)helper) {
    case EMIT_POPCOUNT:
    case EMIT_CLZ:
    case EMIT_CTZ: s.name[0] = s.dialect->popcount[is_wide]; break;
    case EMIT_MUL_HIGH:
        s.name[0] = is_wide     ? s.dialect->mul_high[is_signed]
                    : is_signed ? "(int32_t)((int64_t)a * b >> 32)"
                                : "(uint32_t)((uint64_t)a * b >> 32)";
        break;
    case EMIT_FROM_F32: s.result = VYRE_F32; break;
    case EMIT_FROM_F64: s.result = VYRE_F64; break;
    case EMIT_LOAD:
        s.result = vyre_type_widened(s.type);
        s.name[1] = s.dialect->element;
        emit_expand(t, "$I $R vy_load_$N$A($Sconst $E *p, uint32_t count, uint32_t i) {\n", &s);
        vyre_text_puts(t, "    return i < count ? ");
        emit_expand(t, loaded(s.type), &s);
        vyre_text_puts(t, " : 0;\n}\n");
        return;
    default: break;
    }
    emit_expand(t,
                vyre_type_is_float(s.type) && choice->of_float ? choice->of_float
                : is_signed && choice->of_signed               ? choice->of_signed
                                                               : choice->any,
                &s);
}

/* Adds what the helpers need. Those that need others stand behind them. */
static void add_needs(emit_used *u, const emit_dialect *d) {
    const uint64_t f32 = EMIT_BIT(0, VYRE_F32), any = EMIT_BIT(0, VYRE_VOID);
    uint64_t small[2] = {0, 0}; /* loads of f16 and bf16 */
    for (uint32_t space = 0; space < EMIT_SPACES; space++) {
        small[0] |= u->helpers[EMIT_LOAD] & EMIT_BIT(space, VYRE_F16);
        small[1] |= u->helpers[EMIT_LOAD] & EMIT_BIT(space, VYRE_BF16);
        for (uint32_t op = 0; op < VYRE_ATOMIC_COUNT; op++) {
            for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
                if (!(u->helpers[EMIT_ATOMIC + op] & EMIT_BIT(space, type)) ||
                    is_alone(d, (emit_space)space) ||
                    d->atomic((vyre_atomic_op)op, (vyre_type)type)) {
                    continue;
                }
                const bool real = vyre_type_is_float((vyre_type)type);
                emit_use(u, EMIT_ATOMIC_CAS, (emit_space)space,
                         real ? unsigned_of((vyre_type)type) : (vyre_type)type);
                u->helpers[EMIT_BITS_OF] |= real ? EMIT_BIT(0, type) : 0;
                u->helpers[EMIT_OF_BITS] |= real ? EMIT_BIT(0, type) : 0;
            }
        }
    }
    u->helpers[EMIT_F16_TO] |= small[0] ? any : 0;
    u->helpers[EMIT_BF16_TO] |= small[1] ? any : 0;
    u->helpers[EMIT_STICKY_U64] |= u->helpers[EMIT_STICKY_I64] ? any : 0;
    u->helpers[EMIT_MUL_HIGH] |= u->helpers[EMIT_SAT_MUL];
    const bool makes = u->helpers[EMIT_F16_FROM] || u->helpers[EMIT_STICKY_F64];
    u->helpers[EMIT_BITS_OF] |= makes || u->helpers[EMIT_BF16_FROM] ? f32 : 0;
    u->helpers[EMIT_OF_BITS] |=
        makes || u->helpers[EMIT_F16_TO] || u->helpers[EMIT_BF16_TO] ? f32 : 0;
}

void emit_write_helpers(vyre_text *t, const emit_dialect *dialect, const emit_used *used) {
    emit_used all = *used;
    add_needs(&all, dialect);
    for (uint32_t helper = 0; helper < EMIT_HELPERS; helper++) {
        for (uint32_t space = 0; space < EMIT_SPACES; space++) {
            for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
                if (all.helpers[helper] & EMIT_BIT(space, type) &&
                    /* the one that others are made of comes first, and once */
                    !(helper == EMIT_ATOMIC + VYRE_ATOMIC_CAS &&
                      all.helpers[EMIT_ATOMIC_CAS] & EMIT_BIT(space, type))) {
                    put_helper(t, (emit_helper)helper,
                               (emit_subst){.dialect = dialect,
                                            .type = (vyre_type)type,
                                            .space = (emit_space)space});
                    vyre_text_puts(t, "\n");
                }
            }
        }
    }
}
