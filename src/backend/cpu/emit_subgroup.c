/* Subgroup operations: the gang is the subgroup, 32 lanes wide, and its active lanes are those that
 * are there. Reductions combine the halves of a vector with strides 16, 8, 4, 2, 1; where only one
 * of two places is present it is taken as it is, so that floats are added in the language's order.
 * A scan moves the vector by 1, 2, 4, 8, 16 places in the same way. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum { LANES = VYRE_SUBGROUP_SIZE_FIXED };

static cpu_value present(cpu_emit *e) {
    return cpu_is_masked(e) ? cpu_active(e) : cpu_each(e, cpu_literal(VYRE_BOOL, 1));
}

static cpu_value ballot(cpu_emit *e, cpu_value v) {
    cpu_value votes = cpu_each(e, cpu_truth(e, v));
    votes = cpu_binary(e, "and", VYRE_BOOL, votes, present(e));
    return cpu_new(e, VYRE_U32, CPU_ONE, "bitcast <%u x i1> %s to i32", LANES, votes.text);
}

static cpu_value vote(cpu_emit *e, vyre_subgroup_op op, cpu_value v) {
    const bool all = op == VYRE_SUBGROUP_ALL;
    cpu_value truth = cpu_each(e, cpu_truth(e, v));
    if (all) {
        truth = cpu_binary(e, "xor", VYRE_BOOL, truth, cpu_each(e, cpu_literal(VYRE_BOOL, 1)));
    }
    return cpu_compare(e, all ? "eq" : "ne", ballot(e, truth), cpu_u32(0));
}

/* The lane that each asks for; 32 and above: none. */
static cpu_value asked(cpu_emit *e, vyre_subgroup_op op, cpu_value n) {
    if (op == VYRE_SUBGROUP_SHUFFLE) {
        return n;
    }
    cpu_value self = {.type = VYRE_U32, .hold = CPU_EACH};
    (void)snprintf(self.text, sizeof self.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = add <%u x i32> zeroinitializer, <", self.text, LANES);
    for (uint32_t i = 0; i < LANES; i++) {
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "", i);
    }
    vyre_text_puts(&e->body, ">\n");
    n = cpu_each(e, n);
    if (op == VYRE_SUBGROUP_SHUFFLE_XOR) {
        return cpu_binary(e, "xor", VYRE_U32, self, n);
    }
    cpu_value lane =
        cpu_binary(e, op == VYRE_SUBGROUP_SHUFFLE_UP ? "sub" : "add", VYRE_U32, self, n);
    cpu_value near = cpu_compare(e, "ult", n, cpu_each(e, cpu_u32(LANES)));
    return cpu_select(e, near, lane, cpu_each(e, cpu_u32(LANES)));
}

/* Values of present lanes, others 0, lie in memory; each lane reads one. */
static cpu_value shuffle(cpu_emit *e, cpu_value v, cpu_value from) {
    const vyre_type type = (vyre_type)v.type;
    const uint32_t number = e->next++;
    cpu_value plain = cpu_each(e, v), lane = cpu_each(e, from);
    if (type == VYRE_BOOL) {
        plain = cpu_new(e, VYRE_U32, CPU_EACH, "zext <%u x i1> %s to <%u x i32>", LANES, plain.text,
                        LANES);
    }
    const vyre_type stored = (vyre_type)plain.type;
    const char *vector = cpu_type(e, stored, true), *scalar = cpu_type(e, stored, false);
    cpu_value zero = cpu_each(e, cpu_literal(stored, 0));
    plain = cpu_select(e, present(e), plain, zero);
    cpu_head(e, "  %%t%u = alloca %s, align 64", number, vector);
    cpu_line(e, "  store %s %s, ptr %%t%u, align 64", vector, plain.text, number);
    cpu_value exists = cpu_compare(e, "ult", lane, cpu_each(e, cpu_u32(LANES)));
    cpu_value at = cpu_select(e, exists, lane, cpu_each(e, cpu_u32(0)));
    at = cpu_new(e, VYRE_U64, CPU_EACH, "getelementptr %s, ptr %%t%u, <%u x i32> %s", scalar,
                 number, LANES, at.text);
    cpu_value all = cpu_each(e, cpu_literal(VYRE_BOOL, 1));
    cpu_value got = cpu_new(
        e, stored, CPU_EACH,
        "call %s @llvm.masked.gather.%s.v%up0(<%u x ptr> %s, i32 %u, <%u x i1> %s, %s poison)",
        vector, cpu_suffix(e, stored, true), LANES, LANES, at.text, vyre_type_size(stored), LANES,
        all.text, vector);
    got = cpu_select(e, exists, got, zero);
    return type == VYRE_BOOL ? cpu_compare(e, "ne", got, zero) : got;
}

static vyre_expr_op operator_of(vyre_subgroup_op op) {
    switch (op) {
    case VYRE_SUBGROUP_ADD:
    case VYRE_SUBGROUP_SCAN_ADD: return VYRE_EXPR_ADD;
    case VYRE_SUBGROUP_MUL: return VYRE_EXPR_MUL;
    case VYRE_SUBGROUP_MIN: return VYRE_EXPR_MIN;
    case VYRE_SUBGROUP_MAX: return VYRE_EXPR_MAX;
    case VYRE_SUBGROUP_AND: return VYRE_EXPR_BIT_AND;
    case VYRE_SUBGROUP_OR: return VYRE_EXPR_BIT_OR;
    case VYRE_SUBGROUP_XOR: return VYRE_EXPR_BIT_XOR;
    case VYRE_SUBGROUP_BALLOT:
    case VYRE_SUBGROUP_ANY:
    case VYRE_SUBGROUP_ALL:
    case VYRE_SUBGROUP_SHUFFLE:
    case VYRE_SUBGROUP_SHUFFLE_XOR:
    case VYRE_SUBGROUP_SHUFFLE_UP:
    case VYRE_SUBGROUP_SHUFFLE_DOWN:
    case VYRE_SUBGROUP_COUNT: break;
    }
    return VYRE_EXPR_COUNT;
}

/* `count` elements of a vector of 2 * count, from `first` on. */
static cpu_value half(cpu_emit *e, cpu_value v, uint32_t count, uint32_t first) {
    const char *scalar = cpu_type(e, (vyre_type)v.type, false);
    cpu_value part = {.type = v.type, .hold = CPU_EACH};
    (void)snprintf(part.text, sizeof part.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = shufflevector <%u x %s> %s, <%u x %s> poison, <%u x i32> <",
                     part.text, 2 * count, scalar, v.text, 2 * count, scalar, count);
    for (uint32_t i = 0; i < count; i++) {
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "", first + i);
    }
    vyre_text_puts(&e->body, ">\n");
    return part;
}

static cpu_value reduce(cpu_emit *e, vyre_subgroup_op op, cpu_value v) {
    const vyre_expr_op combine = operator_of(op);
    const uint32_t width = e->width;
    cpu_value value = cpu_each(e, v), there = present(e);
    for (uint32_t count = LANES / 2; count >= 2; count /= 2) {
        cpu_value x = half(e, value, count, 0), y = half(e, value, count, count);
        cpu_value has_x = half(e, there, count, 0), has_y = half(e, there, count, count);
        e->width = count; /* vectors of this width, from here on */
        cpu_value xy = cpu_apply(e, combine, x, y, x);
        cpu_value one = cpu_select(e, has_y, y, x);
        cpu_value together = cpu_binary(e, "and", VYRE_BOOL, has_x, has_y);
        value = cpu_select(e, together, xy, one);
        there = cpu_binary(e, "or", VYRE_BOOL, has_x, has_y);
        e->width = 2 * count;
    }
    e->width = 2;
    cpu_value x = cpu_extract(e, value, "0"), y = cpu_extract(e, value, "1");
    cpu_value has_x = cpu_extract(e, there, "0"), has_y = cpu_extract(e, there, "1");
    e->width = width;
    cpu_value xy = cpu_apply(e, combine, x, y, x);
    cpu_value one = cpu_select(e, has_y, y, x);
    cpu_value together = cpu_binary(e, "and", VYRE_BOOL, has_x, has_y);
    return cpu_select(e, together, xy, one);
}

/* The vector moved by so many places; from below comes 0. */
static cpu_value moved(cpu_emit *e, cpu_value v, uint32_t by) {
    const char *vector = cpu_type(e, (vyre_type)v.type, true);
    cpu_value to = {.type = v.type, .hold = CPU_EACH};
    (void)snprintf(to.text, sizeof to.text, "%%v%u", e->next++);
    vyre_text_printf(&e->body, "  %s = shufflevector %s zeroinitializer, %s %s, <%u x i32> <",
                     to.text, vector, vector, v.text, LANES);
    for (uint32_t i = 0; i < LANES; i++) {
        vyre_text_printf(&e->body, "%si32 %u", i ? ", " : "", i < by ? i : LANES + i - by);
    }
    vyre_text_puts(&e->body, ">\n");
    return to;
}

static cpu_value scan(cpu_emit *e, vyre_subgroup_op op, cpu_value v) {
    cpu_value value = cpu_each(e, v), there = present(e);
    for (uint32_t d = 1; d < LANES; d *= 2) {
        cpu_value x = moved(e, value, d), has_x = moved(e, there, d);
        cpu_value xy = cpu_apply(e, operator_of(op), x, value, x);
        cpu_value both = cpu_select(e, there, xy, x);
        value = cpu_select(e, has_x, both, value);
        there = cpu_binary(e, "or", VYRE_BOOL, there, has_x);
    }
    cpu_value zero = cpu_each(e, cpu_literal((vyre_type)v.type, 0));
    return cpu_select(e, moved(e, there, 1), moved(e, value, 1), zero);
}

void cpu_emit_subgroup(cpu_emit *e, const vyre_stmt_node *s) {
    cpu_value v = cpu_flat(e, cpu_operand(e, s, 0));
    const vyre_subgroup_op op = (vyre_subgroup_op)s->sub;
    if (s->var == VYRE_NONE) {
        return;
    }
    cpu_value result = op == VYRE_SUBGROUP_BALLOT                          ? ballot(e, v)
                       : vyre_subgroup_operands(op) == VYRE_OPERANDS_LOGIC ? vote(e, op, v)
                       : vyre_subgroup_asks(op) ? shuffle(e, v, asked(e, op, cpu_operand(e, s, 1)))
                       : op == VYRE_SUBGROUP_SCAN_ADD ? scan(e, op, v)
                                                      : reduce(e, op, v);
    cpu_set(e, s->var, result, true);
}
