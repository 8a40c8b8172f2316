/* Bytes and 16-bit integers in vectors of 16-bit lanes: what is loaded as u8 or u16 computes as
 * 32-bit integers, which would need two or four times as many vectors. While all values are known
 * to stay below 2^16 they are kept in 16 bits: sums of a few bytes, products with small literals,
 * masks, comparisons, choices. The least upper bound is carried with the value; whatever could pass
 * it, or has no such form, gets its operands in 32 bits.
 *
 * Why that is right: such a value is its own lower half, the upper one is 0, signed or not; so
 * sums that do not pass the bound, unsigned comparisons, quotients and rests by literals are the
 * same in 16 bits as in 32. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum { MOST = 0xffff };

static bool is_word(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_I32;
}

cpu_value cpu_full(cpu_emit *e, cpu_value v) {
    return v.thin ? cpu_new(e, (vyre_type)v.type, CPU_EACH, "zext <%u x i16> %s to %s", e->width,
                            v.text, cpu_type(e, VYRE_U32, true))
                  : v;
}

static cpu_value made(cpu_value v, uint8_t type, uint64_t most) {
    v.type = type;
    v.thin = true;
    v.most = (uint32_t)most;
    return v;
}

bool cpu_thin_load(cpu_emit *e, vyre_type stored, cpu_value v, cpu_value *out) {
    if (!e->thins || v.hold != CPU_EACH || e->width == 1 ||
        (stored != VYRE_U8 && stored != VYRE_U16)) {
        return false;
    }
    cpu_note(e, e->stmt, "bits", "16 for each lane because values stay below 65536");
    *out = stored == VYRE_U16
               ? v
               : cpu_new(e, VYRE_U16, CPU_EACH, "zext %s %s to %s", cpu_type(e, VYRE_U8, true),
                         v.text, cpu_type(e, VYRE_U16, true));
    *out = made(*out, VYRE_U32, stored == VYRE_U16 ? MOST : 255);
    return true;
}

cpu_value cpu_thin_store(cpu_emit *e, vyre_type type, cpu_value v) {
    v.thin = false;
    v.type = VYRE_U16;
    if (vyre_type_size(type) == 1) {
        v = cpu_new(e, type, CPU_EACH, "trunc %s %s to %s", cpu_type(e, VYRE_U16, true), v.text,
                    cpu_type(e, type, true));
    }
    v.type = (uint8_t)type;
    return v;
}

/* A literal as a thin vector, too. */
static bool take(cpu_emit *e, cpu_value *v) {
    if (!v->thin && v->known && is_word(v->type) && v->bits <= MOST) {
        const uint8_t type = v->type;
        const uint64_t bits = v->bits;
        *v = made(cpu_each(e, cpu_literal(VYRE_U16, bits)), type, bits);
        v->known = false;
    }
    return v->thin;
}

static bool can_take(const cpu_value *v) {
    return v->thin || (v->known && is_word(v->type) && v->bits <= MOST);
}

/* The bound of a result; MOST + 1: there is none, or no such form. */
static uint64_t bound_of(vyre_expr_op op, const cpu_value *x, const cpu_value *y) {
    const uint64_t a = x->thin ? x->most : x->bits, b = y->thin ? y->most : y->bits;
    uint64_t bits = 1;
    while (bits <= (a | b)) {
        bits *= 2;
    }
    switch ((int)op) {
    case VYRE_EXPR_ADD: return a + b;
    case VYRE_EXPR_MUL: return a * b;
    case VYRE_EXPR_BIT_AND: return a < b ? a : b;
    case VYRE_EXPR_BIT_OR:
    case VYRE_EXPR_BIT_XOR: return bits - 1;
    case VYRE_EXPR_MIN: return a < b ? a : b;
    case VYRE_EXPR_MAX: return a > b ? a : b;
    case VYRE_EXPR_SHR: return y->known && b < 16 ? a >> b : MOST + 1;
    case VYRE_EXPR_DIV: return y->known && b > 0 ? a / b : MOST + 1;
    case VYRE_EXPR_REM: return y->known && b > 0 ? b - 1 : MOST + 1;
    default: return MOST + 1;
    }
}

static cpu_value in_16_bits(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y) {
    x.type = y.type = VYRE_U16;
    switch ((int)op) {
    case VYRE_EXPR_MUL: return cpu_binary(e, "mul", VYRE_U16, x, y);
    case VYRE_EXPR_BIT_AND: return cpu_binary(e, "and", VYRE_U16, x, y);
    case VYRE_EXPR_BIT_OR: return cpu_binary(e, "or", VYRE_U16, x, y);
    case VYRE_EXPR_BIT_XOR: return cpu_binary(e, "xor", VYRE_U16, x, y);
    case VYRE_EXPR_MIN: return cpu_select(e, cpu_compare(e, "ult", x, y), x, y);
    case VYRE_EXPR_MAX: return cpu_select(e, cpu_compare(e, "ult", x, y), y, x);
    case VYRE_EXPR_SHR: return cpu_binary(e, "lshr", VYRE_U16, x, y);
    case VYRE_EXPR_DIV: return cpu_binary(e, "udiv", VYRE_U16, x, y);
    case VYRE_EXPR_REM: return cpu_binary(e, "urem", VYRE_U16, x, y);
    default: return cpu_binary(e, "add", VYRE_U16, x, y);
    }
}

/* NULL: not a comparison. */
static const char *predicate_of(vyre_expr_op op) {
    switch ((int)op) {
    case VYRE_EXPR_LT: return "ult";
    case VYRE_EXPR_LE: return "ule";
    case VYRE_EXPR_GT: return "ugt";
    case VYRE_EXPR_GE: return "uge";
    case VYRE_EXPR_EQ: return "eq";
    case VYRE_EXPR_NE: return "ne";
    default: return NULL;
    }
}

static bool choose_thin(cpu_emit *e, cpu_value *arg, cpu_value *out) {
    cpu_value *x = &arg[1], *y = &arg[2];
    if (arg[0].hold != CPU_EACH || arg[0].type != VYRE_BOOL || arg[0].span || !can_take(x) ||
        !can_take(y) || x->type != y->type) {
        return false;
    }
    const uint8_t type = x->type;
    (void)take(e, x);
    (void)take(e, y);
    const uint64_t most = x->most > y->most ? x->most : y->most;
    x->type = y->type = VYRE_U16;
    *out = made(cpu_select(e, arg[0], *x, *y), type, most);
    return true;
}

bool cpu_apply_thin(cpu_emit *e, vyre_expr_op op, const vyre_expr_node *n, cpu_value *arg,
                    cpu_value *out) {
    cpu_value *x = &arg[0], *y = &arg[1];
    const bool any = x->thin || y->thin;
    if (op == VYRE_EXPR_SELECT || op == VYRE_EXPR_COND) {
        return (e->thins || y->thin || arg[2].thin) && e->width > 1 && choose_thin(e, arg, out);
    }
    if ((op == VYRE_EXPR_CAST || op == VYRE_EXPR_BITCAST) && x->thin) {
        *out = *x;
        out->type = n->type;
        return is_word(n->type) && (op == VYRE_EXPR_BITCAST || is_word(n->sub));
    }
    if (!any || !can_take(x) || !can_take(y)) {
        return false;
    }
    const char *predicate = predicate_of(op);
    const uint64_t most = bound_of(op, x, y);
    if (!predicate && most > MOST) {
        return false;
    }
    const uint8_t type = x->type;
    (void)take(e, x);
    (void)take(e, y);
    x->type = y->type = predicate ? VYRE_U16 : type;
    *out =
        predicate ? cpu_compare(e, predicate, *x, *y) : made(in_16_bits(e, op, *x, *y), type, most);
    return true;
}
