/* Combining values of groups. A position without a value is skipped: where one of two is absent,
 * the other is taken as it is. Operations are the folder's. Linear for the tree, n log n for the
 * scan. */
#include <string.h>

#include "base/mutant.h"
#include "ir/fold.h"
#include "vyre/schedule.h"

typedef struct combiner {
    vyre_expr_node nodes[3]; /* two operands and the operation on them */
    vyre_program_view view;
} combiner;

static combiner combiner_of(vyre_combine_op op, vyre_type type) {
    static const uint8_t ops[VYRE_COMBINE_OPS] = {
        [VYRE_COMBINE_ADD] = VYRE_EXPR_ADD,   [VYRE_COMBINE_MIN] = VYRE_EXPR_MIN,
        [VYRE_COMBINE_MAX] = VYRE_EXPR_MAX,   [VYRE_COMBINE_AND] = VYRE_EXPR_BIT_AND,
        [VYRE_COMBINE_OR] = VYRE_EXPR_BIT_OR, [VYRE_COMBINE_XOR] = VYRE_EXPR_BIT_XOR,
    };
    combiner c = {.nodes = {{.op = VYRE_EXPR_LITERAL, .type = (uint8_t)type},
                            {.op = VYRE_EXPR_LITERAL, .type = (uint8_t)type},
                            {.op = ops[op], .type = (uint8_t)type, .u.arg = {0, 1, VYRE_NONE}}}};
    c.view.expr_count = 3;
    return c;
}

/* *to = x op y, of those that are there. */
static void combine(combiner *c, const uint64_t in[2], const bool present[2], uint64_t *to,
                    bool *to_present) {
    c->view.exprs = c->nodes;
    if (!present[0] || !present[1]) {
        *to = present[0] ? in[0] : in[1];
        *to_present = present[0] || present[1];
        return;
    }
    (void)vyre_fold(&c->view, 2, in, to); /* all of them fold */
    *to_present = true;
}

bool vyre_combine_reduce(vyre_combine_op op, vyre_type type, uint64_t *values, bool *present,
                         uint32_t count) {
    combiner c = combiner_of(op, type);
    uint64_t size = 1;
    while (size < count) {
        size *= 2;
    }
    while (size > 1) {
        size /= 2;
        for (uint64_t i = 0; i < size && i + size < count; i++) {
            const uint64_t in[2] = {values[i], values[i + size]};
            const bool there[2] = {present[i], present[i + size]};
            combine(&c, in, there, &values[i], &present[i]);
        }
    }
    return count > 0 && present[0];
}

void vyre_combine_scan(vyre_combine_op op, vyre_type type, uint64_t *values, bool *present,
                       uint64_t *room, bool *room_present, uint32_t count) {
    combiner c = combiner_of(op, type);
    for (uint64_t d = 1; d < count; d *= 2) {
        memcpy(room, values, count * sizeof *room);
        memcpy(room_present, present, count * sizeof *room_present);
        for (uint64_t i = d; i < count; i++) {
            const uint64_t left = VYRE_MUTANT(combine_scan_order, i - d, i),
                           right = 2 * i - d - left;
            const uint64_t in[2] = {room[left], room[right]};
            const bool there[2] = {room_present[left], room_present[right]};
            combine(&c, in, there, &values[i], &present[i]);
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        const bool there = i > 0 && present[i - 1];
        values[i] = there ? values[i - 1] : 0;
        present[i] = there;
    }
}
