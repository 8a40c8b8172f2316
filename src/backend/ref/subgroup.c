/* Subgroup operations: what 32 consecutive lanes of a group exchange. Lanes that have ended, and
 * those beyond the end of the group, are absent.
 *
 * A reduction combines with strides 16, 8, 4, 2, 1: at stride s, for each i < s, place i takes
 *   op(place i, place i + s)   if both are present,
 *   place i + s                if only that is present,
 *   what it has                otherwise,
 * and is present after it if either was. Place 0 then holds the result for every lane. For integers
 * the order does not matter; for floats it is part of the language. */
#include <string.h>

#include "backend/ref/machine.h"

static vyre_expr_op operator_of(vyre_subgroup_op op) {
    switch (op) {
    case VYRE_SUBGROUP_ADD: return VYRE_EXPR_ADD;
    case VYRE_SUBGROUP_MUL: return VYRE_EXPR_MUL;
    case VYRE_SUBGROUP_MIN: return VYRE_EXPR_MIN;
    case VYRE_SUBGROUP_MAX: return VYRE_EXPR_MAX;
    case VYRE_SUBGROUP_AND: return VYRE_EXPR_BIT_AND;
    case VYRE_SUBGROUP_OR: return VYRE_EXPR_BIT_OR;
    case VYRE_SUBGROUP_XOR: return VYRE_EXPR_BIT_XOR;
    case VYRE_SUBGROUP_BALLOT:
    case VYRE_SUBGROUP_SHUFFLE:
    case VYRE_SUBGROUP_COUNT: break;
    }
    return VYRE_EXPR_COUNT;
}

static uint64_t reduce(vyre_expr_op op, vyre_type type, uint32_t present, const uint64_t *values) {
    uint64_t place[VYRE_SUBGROUP_SIZE_FIXED];
    memcpy(place, values, sizeof place);
    for (uint32_t stride = VYRE_SUBGROUP_SIZE_FIXED / 2; stride; stride /= 2) {
        for (uint32_t i = 0; i < stride; i++) {
            bool here = present >> i & 1, there = present >> (i + stride) & 1;
            if (there) {
                place[i] = here ? vyre_ref_apply(op, type, place[i], place[i + stride], 0)
                                : place[i + stride];
                present |= 1u << i;
            }
        }
    }
    return place[0];
}

void vyre_ref_subgroup_vote(vyre_ref_machine *m, vyre_ref_lane *first, uint32_t count) {
    uint64_t values[VYRE_SUBGROUP_SIZE_FIXED] = {0};
    uint32_t present = 0, ballot = 0;
    const vyre_stmt_node *s = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].state == VYRE_REF_VOTING) {
            s = &m->program->stmts[first[i].pc];
            values[i] = first[i].value;
            present |= 1u << i;
            ballot |= (uint32_t)(first[i].value != 0) << i;
        }
    }
    if (!s || s->var == VYRE_NONE) {
        return;
    }
    vyre_subgroup_op op = (vyre_subgroup_op)s->sub;
    uint64_t result = ballot;
    if (op != VYRE_SUBGROUP_BALLOT && op != VYRE_SUBGROUP_SHUFFLE) {
        vyre_type type = (vyre_type)m->program->exprs[s->arg[0]].type;
        result = reduce(operator_of(op), type, present, values);
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_ref_lane *lane = &first[i];
        if (lane->state == VYRE_REF_VOTING) {
            bool shuffle = op == VYRE_SUBGROUP_SHUFFLE;
            uint32_t from = lane->selector;
            lane->slots[s->var] = !shuffle                          ? result
                                  : from < VYRE_SUBGROUP_SIZE_FIXED ? values[from]
                                                                    : 0;
        }
    }
}
