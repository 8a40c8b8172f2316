/* Expressions as text of C. The nodes of a statement stand in the order of evaluation, operands
 * before users: one pass over them makes the text of each from the texts of its operands, which are
 * as deep as the language allows, so that the work is bounded.
 *
 * Where an operator means the same in C on all operands (u32 + - *, comparisons, floats without
 * contraction) it is written as such, else as a helper (helpers.c). Expressions are pure but for
 * loads, which helpers clip: so what C does not evaluate in && || ?: makes no difference. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/shortest.h"
#include "emit/emit.h"
#include "ir/fold.h"
#include "ir/program.h"
#include "ir/size.h"

static const char *keep(emit_program *e, const char *text, size_t length) {
    const char *copy = vyre_arena_copy(&e->texts, text, length);
    e->failed = e->failed || !copy;
    return copy ? copy : "";
}

const char *emit_format(emit_program *e, const char *format, ...) {
    vyre_text text;
    va_list args;
    vyre_text_init(&text, &e->a);
    va_start(args, format);
    vyre_text_vprintf(&text, format, args);
    va_end(args);
    e->failed = e->failed || text.failed;
    const char *result = keep(e, vyre_text_string(&text), text.length);
    vyre_text_finish(&text);
    return result;
}

static emit_expr expand(emit_program *e, const char *pattern, emit_subst *s, uint8_t level) {
    vyre_text text;
    vyre_text_init(&text, &e->a);
    s->dialect = e->dialect;
    s->level = level;
    emit_expand(&text, pattern, s);
    e->failed = e->failed || text.failed;
    const emit_expr result = {keep(e, vyre_text_string(&text), text.length), level};
    vyre_text_finish(&text);
    return result;
}

bool emit_constant_count(const vyre_program_view *p, vyre_decl decl, uint64_t *out_count) {
    static const vyre_size_env nothing = {0};
    return p->decls[decl].size != VYRE_NONE &&
           vyre_size_evaluate(p, p->decls[decl].size, &nothing, out_count, NULL) == VYRE_SIZE_OK;
}

bool emit_has_len(const vyre_program_view *p, vyre_decl decl) {
    uint64_t count;
    return vyre_role_is_buffer((vyre_role)p->decls[decl].role) &&
           !emit_constant_count(p, decl, &count);
}

/* ---- leaves ---- */

static const char *float_literal(emit_program *e, vyre_type type, uint64_t bits) {
    char text[VYRE_SHORTEST_TEXT];
    double value;
    if (type == VYRE_F32) {
        const uint32_t word = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        value = (double)narrow;
    } else {
        memcpy(&value, &bits, sizeof value);
    }
    vyre_shortest(value, type == VYRE_F32, 1, text);
    if (value - value != 0) { /* a const that is no finite number */
        emit_use(e->used, EMIT_OF_BITS, EMIT_BUFFER, type);
        return emit_format(e, "vy_%s_of_bits(%llu%s)", vyre_type_name(type),
                           (unsigned long long)bits, type == VYRE_F32 ? "u" : e->dialect->u64);
    }
    const bool negative = text[0] == '-';
    if (value == 0 && negative) {
        emit_use(e->used, EMIT_MINUS_ZERO, EMIT_BUFFER, type);
        return emit_format(e, "vy_minus_zero_%s()", vyre_type_name(type));
    }
    return emit_format(e, "%s%s%s%s%s", negative ? "(" : "", text, strpbrk(text, ".e") ? "" : ".0",
                       type == VYRE_F32 ? "f" : "", negative ? ")" : "");
}

const char *emit_literal(emit_program *e, vyre_type type, uint64_t bits) {
    const emit_dialect *d = e->dialect;
    const int64_t value = type == VYRE_I32 ? (int32_t)bits : (int64_t)bits;
    switch ((int)type) {
    case VYRE_BOOL: return bits ? "true" : "false";
    case VYRE_U32: return emit_format(e, "%luu", (unsigned long)bits);
    case VYRE_U64: return emit_format(e, "%llu%s", (unsigned long long)bits, d->u64);
    case VYRE_F32:
    case VYRE_F64: return float_literal(e, type, bits);
    default: break;
    }
    const char *suffix = type == VYRE_I64 ? d->i64 : "";
    if (value == (type == VYRE_I64 ? INT64_MIN : INT32_MIN)) { /* there is no such literal */
        const long long above = value + 1;
        return emit_format(e, "(%lld%s - 1)", above, suffix);
    }
    return emit_format(e, value < 0 ? "(%lld%s)" : "%lld%s", (long long)value, suffix);
}

static const char *id_text(emit_program *e, const vyre_expr_node *n) {
    const uint32_t size = e->p->workgroup[n->axis];
    const vyre_builtin id = n->sub == VYRE_BUILTIN_GLOBAL_ID && size == 1 ? VYRE_BUILTIN_GROUP_ID
                                                                          : (vyre_builtin)n->sub;
    if (id == VYRE_BUILTIN_GROUP_SIZE) {
        return emit_format(e, "%uu", (unsigned)size);
    }
    if (id == VYRE_BUILTIN_SUBGROUP_SIZE) {
        return emit_format(e, "%du", VYRE_SUBGROUP_SIZE_FIXED);
    }
    if (id == VYRE_BUILTIN_LOCAL_ID && size == 1) {
        return "0u";
    }
    vyre_text text;
    vyre_text_init(&text, &e->a);
    for (const char *at = e->dialect->ids[id]; *at; at++) {
        if (*at == '$') {
            at++;
            if (*at == 'x') {
                vyre_text_append(&text, &"xyz"[n->axis], 1);
            } else {
                vyre_text_printf(&text, "%uu", (unsigned)size);
            }
        } else {
            vyre_text_append(&text, at, 1);
        }
    }
    e->failed = e->failed || text.failed;
    const char *result = keep(e, vyre_text_string(&text), text.length);
    vyre_text_finish(&text);
    return result;
}

static emit_expr leaf(emit_program *e, const vyre_expr_node *n) {
    const vyre_decl_node *d = n->op == VYRE_EXPR_REF ? &e->p->decls[n->ref] : NULL;
    switch ((int)n->op) {
    case VYRE_EXPR_LITERAL:
        return (emit_expr){emit_literal(e, (vyre_type)n->type, n->u.bits), EMIT_PRIMARY};
    case VYRE_EXPR_VAR: return (emit_expr){e->vars[n->ref], EMIT_PRIMARY};
    case VYRE_EXPR_LEN: return (emit_expr){e->lens[n->ref], EMIT_PRIMARY};
    case VYRE_EXPR_BUILTIN: {
        const char *text = id_text(e, n); /* a sum or product, or one word */
        return (emit_expr){text, strchr(text, ' ') ? EMIT_SUM : EMIT_PRIMARY};
    }
    default: break;
    }
    if (d && d->role == VYRE_PARAM && d->type == VYRE_BOOL && e->dialect->keeps_params_as_words) {
        return (emit_expr){emit_format(e, "(%s != 0u)", e->decls[n->ref]), EMIT_PRIMARY};
    }
    return (emit_expr){e->decls[n->ref], EMIT_PRIMARY};
}

/* ---- memory and conversions ---- */

static emit_expr load(emit_program *e, vyre_expr expr, emit_subst *s) {
    const vyre_decl decl = e->p->exprs[expr].ref;
    const vyre_type type = (vyre_type)e->p->decls[decl].type;
    *s = (emit_subst){.type = type,
                      .result = vyre_type_widened(type),
                      .space = (emit_space)e->spaces[decl],
                      .name = {e->decls[decl], e->lens[decl]},
                      .operand = {s->operand[0]}};
    if (!e->proven[expr]) {
        emit_use(e->used, EMIT_LOAD, s->space, type);
        return expand(e, "vy_load_$N$A($X, $Y, $a0)", s, EMIT_PRIMARY);
    }
    switch ((int)type) {
    case VYRE_BOOL: return expand(e, "$X[$a0] != 0", s, EMIT_EQUAL);
    case VYRE_F16:
        emit_use(e->used, EMIT_F16_TO, EMIT_BUFFER, VYRE_VOID);
        return expand(e, "vy_f16_to_f32($X[$a0])", s, EMIT_PRIMARY);
    case VYRE_BF16:
        emit_use(e->used, EMIT_BF16_TO, EMIT_BUFFER, VYRE_VOID);
        return expand(e, "vy_bf16_to_f32($X[$a0])", s, EMIT_PRIMARY);
    default: break;
    }
    return type == s->result ? expand(e, "$X[$a0]", s, EMIT_PRIMARY)
                             : expand(e, "($R)$X[$a0]", s, EMIT_UNARY);
}

/* A value of type f32 to the bits of a smaller float. */
static const char *small_bits(emit_program *e, vyre_type to, const char *value) {
    emit_use(e->used, to == VYRE_F16 ? EMIT_F16_FROM : EMIT_BF16_FROM, EMIT_BUFFER, VYRE_VOID);
    return emit_format(e, "vy_%s_from_f32(%s)", vyre_type_name(to), value);
}

const char *emit_stored(emit_program *e, vyre_type type, const char *value) {
    switch ((int)type) {
    case VYRE_F16:
    case VYRE_BF16: return small_bits(e, type, value);
    case VYRE_BOOL:
    case VYRE_U8:
    case VYRE_I8:
    case VYRE_U16:
    case VYRE_I16: return emit_format(e, "(%s)(%s)", emit_element_type(type), value);
    default: return value;
    }
}

/* A number that rounds to so few bits as the source would. */
static const char *sticky(emit_program *e, vyre_type from, const char *value) {
    const bool is_signed = vyre_type_is_signed(from);
    if (from == VYRE_F32) {
        return value;
    }
    if (from == VYRE_BOOL) {
        return emit_format(e, "(float)(%s)", value);
    }
    emit_use(e->used,
             from == VYRE_F64 ? EMIT_STICKY_F64
             : is_signed      ? EMIT_STICKY_I64
                              : EMIT_STICKY_U64,
             EMIT_BUFFER, VYRE_VOID);
    return emit_format(e, "vy_f32_sticky_%s(%s)",
                       from == VYRE_F64 ? "f64"
                       : is_signed      ? "i64"
                                        : "u64",
                       value);
}

static emit_expr cast(emit_program *e, const vyre_expr_node *n, emit_subst *s) {
    const vyre_type from = s->type, to = (vyre_type)n->sub;
    const bool narrow = !vyre_type_computes(to);
    s->result = (vyre_type)n->type;
    if (from == to) {
        return s->operand[0];
    }
    if (to == VYRE_BOOL) {
        return expand(e, "$s0 != 0", s, EMIT_EQUAL);
    }
    if (to == VYRE_F16 || to == VYRE_BF16) {
        emit_use(e->used, to == VYRE_F16 ? EMIT_F16_TO : EMIT_BF16_TO, EMIT_BUFFER, VYRE_VOID);
        const char *bits = small_bits(e, to, sticky(e, from, s->operand[0].text));
        return (emit_expr){emit_format(e, "vy_%s_to_f32(%s)", vyre_type_name(to), bits),
                           EMIT_PRIMARY};
    }
    if (vyre_type_is_float(from) && vyre_type_is_integer(to)) {
        emit_use(e->used, from == VYRE_F32 ? EMIT_FROM_F32 : EMIT_FROM_F64, EMIT_BUFFER, to);
        s->name[0] = vyre_type_name(to);
        return narrow ? expand(e, "($R)vy_$X_from_$N($a0)", s, EMIT_UNARY)
                      : expand(e, "vy_$X_from_$N($a0)", s, EMIT_PRIMARY);
    }
    s->name[0] = emit_value_type(to);
    return expand(e, narrow ? "($R)($X)$u0" : "($R)$u0", s, EMIT_UNARY);
}

static emit_expr bitcast(emit_program *e, const vyre_expr_node *n, emit_subst *s) {
    const vyre_type from = s->type, to = (vyre_type)n->type;
    const bool from_float = vyre_type_is_float(from), to_float = vyre_type_is_float(to);
    s->result = to;
    if (from == to) {
        return s->operand[0];
    }
    if (from_float) {
        emit_use(e->used, EMIT_BITS_OF, EMIT_BUFFER, from);
        return vyre_type_is_signed(to) ? expand(e, "($R)vy_bits_of_$N($a0)", s, EMIT_UNARY)
                                       : expand(e, "vy_bits_of_$N($a0)", s, EMIT_PRIMARY);
    }
    if (to_float) {
        emit_use(e->used, EMIT_OF_BITS, EMIT_BUFFER, to);
        return vyre_type_is_signed(from) ? expand(e, "vy_$O_of_bits(($U)$u0)", s, EMIT_PRIMARY)
                                         : expand(e, "vy_$O_of_bits($a0)", s, EMIT_PRIMARY);
    }
    return expand(e, "($R)$u0", s, EMIT_UNARY);
}

/* ---- operators ---- */

static emit_expr call(emit_program *e, emit_helper helper, emit_subst *s, const char *pattern) {
    emit_use(e->used, helper, EMIT_BUFFER, s->type);
    return expand(e, pattern, s, EMIT_PRIMARY);
}

/* Operands of && || ! and conditions may be u32. */
static emit_expr truth(emit_program *e, emit_expr x, vyre_type type) {
    emit_subst s = {.operand = {x}};
    return type == VYRE_BOOL ? x : expand(e, "$s0 != 0u", &s, EMIT_EQUAL);
}

static bool is_literal(const emit_program *e, vyre_expr expr, uint64_t *out_bits) {
    const vyre_expr_node *n = &e->p->exprs[expr];
    *out_bits = n->op == VYRE_EXPR_LITERAL ? n->u.bits : 0;
    return n->op == VYRE_EXPR_LITERAL;
}

/* Division, 1 / x and roots of floats. */
static emit_expr divide_real(emit_program *e, vyre_expr_op op, emit_subst *s) {
    const bool wide = e->dialect->divides_wide && s->type == VYRE_F32;
    if (op == VYRE_EXPR_SQRT) {
        return wide ? expand(e, "(float)sqrt((double)$u0)", s, EMIT_UNARY)
                    : expand(e, "sqrt$F($a0)", s, EMIT_PRIMARY);
    }
    if (op == VYRE_EXPR_RCP) {
        return wide ? expand(e, "(float)(1.0 / (double)$u0)", s, EMIT_UNARY)
                    : expand(e, s->type == VYRE_F32 ? "1.0f / $r0" : "1.0 / $r0", s, EMIT_PRODUCT);
    }
    return wide ? expand(e, "(float)((double)$u0 / (double)$u1)", s, EMIT_UNARY)
                : expand(e, "$l0 / $r1", s, EMIT_PRODUCT);
}

static emit_expr divide(emit_program *e, const vyre_expr_node *n, emit_subst *s) {
    uint64_t by;
    const bool is_div = n->op == VYRE_EXPR_DIV;
    if (is_div && vyre_type_is_float(s->type)) {
        return divide_real(e, VYRE_EXPR_DIV, s);
    }
    const bool harmless =
        is_literal(e, n->u.arg[1], &by) && by != 0 &&
        !(vyre_type_is_signed(s->type) && by == (s->type == VYRE_I64 ? UINT64_MAX : UINT32_MAX));
    if (vyre_type_is_float(s->type) || harmless) {
        return expand(e, is_div ? "$l0 / $r1" : "$l0 % $r1", s, EMIT_PRODUCT);
    }
    return is_div ? call(e, EMIT_DIV, s, "vy_div_$N($a0, $a1)")
                  : call(e, EMIT_REM, s, "vy_rem_$N($a0, $a1)");
}

static emit_expr shift(emit_program *e, const vyre_expr_node *n, emit_subst *s) {
    uint64_t by;
    const bool left = n->op == VYRE_EXPR_SHL;
    if (left && vyre_type_is_signed(s->type)) {
        return call(e, EMIT_SHL, s, "vy_shl_$N($a0, (uint32_t)$u1)");
    }
    if (is_literal(e, n->u.arg[1], &by) && by < UINT64_C(8) * vyre_type_size(s->type)) {
        return expand(e, left ? "$u0 << $u1" : "$u0 >> $u1", s, EMIT_SHIFT);
    }
    return expand(e, left ? "$u0 << ($u1 & $M)" : "$u0 >> ($u1 & $M)", s, EMIT_SHIFT);
}

static bool is_text(emit_expr x, const char *text) {
    return x.text && strcmp(x.text, text) == 0;
}

/* Sums and products with 0 and 1 as splitting makes them for groups of one lane along an axis, and
 * for the first of many; NULL: there is more to say. */
static const emit_expr *trivial(vyre_expr_op op, const emit_subst *s) {
    const emit_expr *a = &s->operand[0], *b = &s->operand[1];
    if (s->type != VYRE_U32 || (op != VYRE_EXPR_ADD && op != VYRE_EXPR_MUL)) {
        return NULL;
    }
    if (op == VYRE_EXPR_ADD) {
        return is_text(*a, "0u") ? b : is_text(*b, "0u") ? a : NULL;
    }
    return is_text(*a, "0u") || is_text(*b, "1u")   ? a
           : is_text(*b, "0u") || is_text(*a, "1u") ? b
                                                    : NULL;
}

/* + - * and unary minus: of signed integers by helpers, since overflow wraps. */
static emit_expr arithmetic(emit_program *e, vyre_expr_op op, emit_subst *s) {
    const bool wraps = vyre_type_is_signed(s->type);
    switch ((int)op) {
    case VYRE_EXPR_ADD:
        return wraps ? call(e, EMIT_ADD, s, "vy_add_$N($a0, $a1)")
                     : expand(e, "$l0 + $r1", s, EMIT_SUM);
    case VYRE_EXPR_SUB:
        return wraps ? call(e, EMIT_SUB, s, "vy_sub_$N($a0, $a1)")
                     : expand(e, "$l0 - $r1", s, EMIT_SUM);
    case VYRE_EXPR_MUL:
        return wraps ? call(e, EMIT_MUL, s, "vy_mul_$N($a0, $a1)")
                     : expand(e, "$l0 * $r1", s, EMIT_PRODUCT);
    default: break;
    }
    return wraps                         ? call(e, EMIT_NEG, s, "vy_neg_$N($a0)")
           : vyre_type_is_float(s->type) ? expand(e, "-$r0", s, EMIT_UNARY)
                                         : expand(e, "0 - $r0", s, EMIT_SUM);
}

/* The float functions have no helper: they are the same in all dialects. */
static emit_expr operation(emit_program *e, const vyre_expr_node *n, emit_subst *s) {
    const bool real = vyre_type_is_float(s->type);
    switch ((vyre_expr_op)n->op) {
    case VYRE_EXPR_NEG:
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB:
    case VYRE_EXPR_MUL:
        return trivial((vyre_expr_op)n->op, s) ? *trivial((vyre_expr_op)n->op, s)
                                               : arithmetic(e, (vyre_expr_op)n->op, s);
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM: return divide(e, n, s);
    case VYRE_EXPR_SHL:
    case VYRE_EXPR_SHR: return shift(e, n, s);
    case VYRE_EXPR_BIT_NOT: return expand(e, "~$u0", s, EMIT_UNARY);
    case VYRE_EXPR_NOT: return expand(e, "!$u0", s, EMIT_UNARY);
    case VYRE_EXPR_ABS:
        return real                           ? expand(e, "fabs$F($a0)", s, EMIT_PRIMARY)
               : vyre_type_is_signed(s->type) ? call(e, EMIT_ABS, s, "vy_abs_$N($a0)")
                                              : s->operand[0];
    case VYRE_EXPR_SIGN: return call(e, EMIT_SIGN, s, "vy_sign_$N($a0)");
    case VYRE_EXPR_POPCOUNT: return call(e, EMIT_POPCOUNT, s, "vy_popcount_$N($a0)");
    case VYRE_EXPR_CLZ: return call(e, EMIT_CLZ, s, "vy_clz_$N($a0)");
    case VYRE_EXPR_CTZ: return call(e, EMIT_CTZ, s, "vy_ctz_$N($a0)");
    case VYRE_EXPR_REVERSE_BITS: return call(e, EMIT_REVERSE, s, "vy_reverse_bits_$N($a0)");
    case VYRE_EXPR_UNPACK4_LOW: return expand(e, "($U)$u0 & 15u", s, EMIT_BITS);
    case VYRE_EXPR_UNPACK4_HIGH: return expand(e, "(($U)$u0 >> 4) & 15u", s, EMIT_BITS);
    case VYRE_EXPR_UNPACK8_LOW: return expand(e, "($U)$u0 & 255u", s, EMIT_BITS);
    case VYRE_EXPR_UNPACK8_HIGH: return expand(e, "($U)$u0 >> 24", s, EMIT_SHIFT);
    case VYRE_EXPR_SQRT:
    case VYRE_EXPR_RCP: return divide_real(e, (vyre_expr_op)n->op, s);
    case VYRE_EXPR_FLOOR: return expand(e, "floor$F($a0)", s, EMIT_PRIMARY);
    case VYRE_EXPR_CEIL: return expand(e, "ceil$F($a0)", s, EMIT_PRIMARY);
    case VYRE_EXPR_ROUND: return expand(e, "round$F($a0)", s, EMIT_PRIMARY);
    case VYRE_EXPR_TRUNC: return expand(e, "trunc$F($a0)", s, EMIT_PRIMARY);
    case VYRE_EXPR_FMA: return expand(e, "fma$F($a0, $a1, $a2)", s, EMIT_PRIMARY);
    case VYRE_EXPR_IS_NAN: return call(e, EMIT_IS_NAN, s, "vy_is_nan_$N($a0)");
    case VYRE_EXPR_IS_INF: return call(e, EMIT_IS_INF, s, "vy_is_inf_$N($a0)");
    case VYRE_EXPR_IS_FINITE: return call(e, EMIT_IS_FINITE, s, "vy_is_finite_$N($a0)");
    case VYRE_EXPR_LT: return expand(e, "$s0 < $s1", s, EMIT_LESS);
    case VYRE_EXPR_LE: return expand(e, "$s0 <= $s1", s, EMIT_LESS);
    case VYRE_EXPR_GT: return expand(e, "$s0 > $s1", s, EMIT_LESS);
    case VYRE_EXPR_GE: return expand(e, "$s0 >= $s1", s, EMIT_LESS);
    case VYRE_EXPR_EQ: return expand(e, "$s0 == $s1", s, EMIT_EQUAL);
    case VYRE_EXPR_NE: return expand(e, "$s0 != $s1", s, EMIT_EQUAL);
    case VYRE_EXPR_BIT_AND: return expand(e, "$u0 & $u1", s, EMIT_BITS);
    case VYRE_EXPR_BIT_XOR: return expand(e, "$u0 ^ $u1", s, EMIT_BITS);
    case VYRE_EXPR_BIT_OR: return expand(e, "$u0 | $u1", s, EMIT_BITS);
    case VYRE_EXPR_AND:
        return e->dialect->joins_by_bits ? expand(e, "$u0 & $u1", s, EMIT_BITS)
                                         : expand(e, "$l0 && $r1", s, EMIT_AND);
    case VYRE_EXPR_OR:
        return e->dialect->joins_by_bits ? expand(e, "$u0 | $u1", s, EMIT_BITS)
                                         : expand(e, "$r0 || $r1", s, EMIT_OR);
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND: return expand(e, "$r0 ? $r1 : $r2", s, EMIT_TERNARY);
    case VYRE_EXPR_MIN: return call(e, EMIT_MIN, s, "vy_min_$N($a0, $a1)");
    case VYRE_EXPR_MAX: return call(e, EMIT_MAX, s, "vy_max_$N($a0, $a1)");
    case VYRE_EXPR_ABS_DIFF: return call(e, EMIT_ABS_DIFF, s, "vy_abs_diff_$N($a0, $a1)");
    case VYRE_EXPR_MUL_HIGH: return call(e, EMIT_MUL_HIGH, s, "vy_mul_high_$N($a0, $a1)");
    case VYRE_EXPR_SAT_ADD: return call(e, EMIT_SAT_ADD, s, "vy_sat_add_$N($a0, $a1)");
    case VYRE_EXPR_SAT_SUB: return call(e, EMIT_SAT_SUB, s, "vy_sat_sub_$N($a0, $a1)");
    case VYRE_EXPR_SAT_MUL: return call(e, EMIT_SAT_MUL, s, "vy_sat_mul_$N($a0, $a1)");
    case VYRE_EXPR_ROTL: return call(e, EMIT_ROTL, s, "vy_rotl_$N($a0, (uint32_t)$u1)");
    case VYRE_EXPR_ROTR: return call(e, EMIT_ROTR, s, "vy_rotr_$N($a0, (uint32_t)$u1)");
    case VYRE_EXPR_CAST: return cast(e, n, s);
    case VYRE_EXPR_BITCAST: return bitcast(e, n, s);
    case VYRE_EXPR_LITERAL: /* no operands, or not here */
    case VYRE_EXPR_VAR:
    case VYRE_EXPR_REF:
    case VYRE_EXPR_LEN:
    case VYRE_EXPR_BUILTIN:
    case VYRE_EXPR_LOAD:
    case VYRE_EXPR_EXP: /* lowered */
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
    return (emit_expr){"", EMIT_PRIMARY};
}

static bool takes_truth(vyre_expr_op op, uint32_t operand) {
    return op == VYRE_EXPR_AND || op == VYRE_EXPR_OR || op == VYRE_EXPR_NOT ||
           ((op == VYRE_EXPR_SELECT || op == VYRE_EXPR_COND) && operand == 0);
}

static emit_expr node_text(emit_program *e, vyre_expr expr) {
    const vyre_expr_node *n = &e->p->exprs[expr];
    const uint32_t arity = vyre_expr_arity(n);
    if (arity == 0) {
        return leaf(e, n);
    }
    if (e->rests && e->rests[expr]) {
        return (emit_expr){"vy_rem + (local_x - vy_part)", EMIT_SUM};
    }
    emit_subst s = {.type = (vyre_type)e->p->exprs[n->u.arg[0]].type, .result = (vyre_type)n->type};
    for (uint32_t k = 0; k < arity; k++) {
        const vyre_expr from = n->u.arg[k];
        s.operand[k] = e->exprs[from - e->first_expr];
        if (takes_truth((vyre_expr_op)n->op, k)) {
            s.operand[k] = truth(e, s.operand[k], (vyre_type)e->p->exprs[from].type);
        }
    }
    return n->op == VYRE_EXPR_LOAD ? load(e, expr, &s) : operation(e, n, &s);
}

void emit_exprs(emit_program *e, vyre_expr first, vyre_expr end) {
    vyre_arena_reset(&e->texts);
    if (end - first > e->expr_room && !vyre_vec_grow(&e->a, (void **)&e->exprs, 0, &e->expr_room,
                                                     end - first, sizeof *e->exprs)) {
        e->failed = true;
    }
    e->first_expr = first;
    for (vyre_expr i = first; i < end && !e->failed; i++) {
        e->exprs[i - first] = node_text(e, i);
    }
}

const char *emit_expr_text(emit_program *e, vyre_expr expr, uint8_t level) {
    if (e->failed) {
        return "";
    }
    const emit_expr x = e->exprs[expr - e->first_expr];
    return x.level < level ? emit_format(e, "(%s)", x.text) : x.text;
}

const char *emit_condition(emit_program *e, vyre_expr expr) {
    return e->failed
               ? ""
               : truth(e, e->exprs[expr - e->first_expr], (vyre_type)e->p->exprs[expr].type).text;
}
