/* Gangs that begin at a multiple of their width: what all lanes of such a gang have in common.
 *
 * `local_id.x / 32` is the same for 32 lanes if the first of them has a multiple of 32, and
 * `local_id.x % 32` goes on by one from lane to lane. So a value carries by which power of two it
 * is divisible at the first lane, through sums, differences and products, which keep that modulo
 * 2^32 as well. By a divisor that is a multiple of what the gang spans, quotients are ONE and
 * remainders LINEAR: lanes from a * span to a * span + span - 1 have no multiple of the divisor
 * between them. Shifts and masks are the same by powers of two.
 *
 * Only gangs of a group are so (lanes.c): pieces of a range begin anywhere. */
#include "backend/cpu/emit.h"

/* The highest power of two that divides a number, as a power; of 0: all. */
static uint8_t evenness(uint32_t number) {
    return (uint8_t)(number ? __builtin_ctz(number) : 32);
}

static uint8_t even_of(const cpu_value *v) {
    return v->known ? evenness((uint32_t)v->bits) : v->even;
}

static bool is_word(const cpu_value *v) {
    return v->type == VYRE_U32 || v->type == VYRE_I32;
}

uint8_t cpu_evenness(vyre_expr_op op, const cpu_value *x, const cpu_value *y) {
    const uint8_t a = even_of(x), b = even_of(y);
    if (!is_word(x) || !is_word(y) || x->hold == CPU_EACH || y->hold == CPU_EACH) {
        return 0;
    }
    switch ((int)op) {
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB: return a < b ? a : b;
    case VYRE_EXPR_MUL: return (uint8_t)(a + b < 32 ? a + b : 32);
    default: return 0;
    }
}

/* What x is divided by: literals, of shifts and masks too. 0: not by that. */
static uint32_t divisor_of(vyre_expr_op op, const cpu_value *y) {
    const uint32_t bits = (uint32_t)y->bits;
    if (!y->known) {
        return 0;
    }
    switch ((int)op) {
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM: return bits;
    case VYRE_EXPR_SHR: return 1u << (bits & 31);
    case VYRE_EXPR_BIT_AND: /* of the lowest bits, or of all others */
        return (bits & (bits + 1)) == 0 ? bits + 1 : (-bits & (-bits - 1)) == 0 ? -bits : 0;
    default: return 0;
    }
}

bool cpu_apply_aligned(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out) {
    const uint32_t divisor = divisor_of(op, &y);
    const uint64_t span = (uint64_t)e->width * (uint32_t)x.stride;
    if (divisor == 0 || x.hold != CPU_LINEAR || x.type != VYRE_U32 || x.stride <= 0 ||
        x.even > 31 || (UINT64_C(1) << x.even) % span != 0 || divisor % span != 0) {
        return false;
    }
    const bool keeps = op == VYRE_EXPR_REM || (op == VYRE_EXPR_BIT_AND && (y.bits & 1));
    const char *name = op == VYRE_EXPR_DIV   ? "udiv"
                       : op == VYRE_EXPR_REM ? "urem"
                       : op == VYRE_EXPR_SHR ? "lshr"
                                             : "and";
    const uint32_t by = op == VYRE_EXPR_SHR ? (uint32_t)y.bits & 31 : (uint32_t)y.bits;
    *out = cpu_new(e, VYRE_U32, keeps ? CPU_LINEAR : CPU_ONE, "%s i32 %s, %u", name, x.text, by);
    out->stride = keeps ? x.stride : 0;
    if (keeps) {
        out->even = evenness((uint32_t)span);
    }
    return true;
}
