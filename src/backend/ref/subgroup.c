/* Subgroup operations: what 32 consecutive lanes of a group exchange. Lanes that have ended, and
 * those beyond the end of the group, are absent.
 *
 * A reduction combines with strides 16, 8, 4, 2, 1: at stride s, for each i < s, place i takes
 *   op(place i, place i + s)   if both are present,
 *   place i + s                if only that is present,
 *   what it has                otherwise,
 * and is present after it if either was. Place 0 then holds the result for every lane. A scan has
 * steps of 1, 2, 4, 8, 16: place i takes op(place i - d, place i), or the one that is present, all
 * from what was before the step; lane i gets place i - 1, or 0 if that is absent. For integers the
 * order does not matter; for floats it is part of the language. */
#include <string.h>

#include "backend/ref/machine.h"

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

/* The inclusive scan; which places are present then. */
static uint32_t scan(vyre_type type, uint32_t present, uint64_t *place) {
    for (uint32_t d = 1; d < VYRE_SUBGROUP_SIZE_FIXED; d *= 2) {
        for (uint32_t i = VYRE_SUBGROUP_SIZE_FIXED; i-- > d;) { /* what is below is still old */
            if (present >> (i - d) & 1) {
                place[i] = present >> i & 1
                               ? vyre_ref_apply(VYRE_EXPR_ADD, type, place[i - d], place[i], 0)
                               : place[i - d];
            }
        }
        present |= present << d;
    }
    return present;
}

/* The lane that a shuffle reads, as lane `self`; outside of 0 .. 31 there is none. */
static int64_t asked(vyre_subgroup_op op, uint32_t self, uint32_t selector) {
    switch ((int)op) {
    case VYRE_SUBGROUP_SHUFFLE_XOR: return self ^ selector;
    case VYRE_SUBGROUP_SHUFFLE_UP: return (int64_t)self - selector;
    case VYRE_SUBGROUP_SHUFFLE_DOWN: return (int64_t)self + selector;
    default: return selector;
    }
}

typedef struct votes {
    uint32_t present, ballot;
    uint64_t values[VYRE_SUBGROUP_SIZE_FIXED]; /* 0 of absent lanes */
} votes;

/* What all lanes get. */
static uint64_t common(vyre_subgroup_op op, vyre_type type, const votes *v) {
    switch ((int)op) {
    case VYRE_SUBGROUP_BALLOT: return v->ballot;
    case VYRE_SUBGROUP_ANY: return v->ballot != 0;
    case VYRE_SUBGROUP_ALL: return v->ballot == v->present;
    default: return reduce(operator_of(op), type, v->present, v->values);
    }
}

void vyre_ref_subgroup_vote(vyre_ref_machine *m, vyre_ref_lane *first, uint32_t count) {
    votes v = {0};
    const vyre_stmt_node *s = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].state == VYRE_REF_VOTING) {
            s = &m->program->stmts[first[i].pc];
            v.values[i] = first[i].value;
            v.present |= 1u << i;
            v.ballot |= (uint32_t)(first[i].value != 0) << i;
        }
    }
    if (!s || s->var == VYRE_NONE) {
        return;
    }
    const vyre_subgroup_op op = (vyre_subgroup_op)s->sub;
    const vyre_type type = (vyre_type)m->program->exprs[s->arg[0]].type;
    const bool shuffles = vyre_subgroup_asks(op), scans = op == VYRE_SUBGROUP_SCAN_ADD;
    const uint32_t known = scans ? scan(type, v.present, v.values) : v.present;
    const uint64_t result = shuffles || scans ? 0 : common(op, type, &v);
    for (uint32_t i = 0; i < count; i++) {
        vyre_ref_lane *lane = &first[i];
        const int64_t from = scans ? (int64_t)i - 1 : asked(op, i, lane->selector);
        const bool there = from >= 0 && from < VYRE_SUBGROUP_SIZE_FIXED && known >> from & 1;
        if (lane->state == VYRE_REF_VOTING) {
            lane->slots[s->var] = !shuffles && !scans ? result : there ? v.values[from] : 0;
        }
    }
}
