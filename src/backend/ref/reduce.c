/* Reductions and scans over a group and over the grid, as the language states them. A row holds a
 * value for each position, by linear index; ended lanes, and groups without a living one, are
 * absent positions. For integers the order does not matter; for floats it is part of the language.
 */
#include <string.h>

#include "backend/ref/machine.h"

/* any and all work on 0 and 1. */
static vyre_expr_op operator_of(vyre_reduce_op op) {
    switch (op) {
    case VYRE_REDUCE_MIN: return VYRE_EXPR_MIN;
    case VYRE_REDUCE_MAX: return VYRE_EXPR_MAX;
    case VYRE_REDUCE_AND:
    case VYRE_REDUCE_ALL: return VYRE_EXPR_BIT_AND;
    case VYRE_REDUCE_OR:
    case VYRE_REDUCE_ANY: return VYRE_EXPR_BIT_OR;
    case VYRE_REDUCE_XOR: return VYRE_EXPR_BIT_XOR;
    case VYRE_REDUCE_ADD:
    case VYRE_REDUCE_SCAN_ADD:
    case VYRE_REDUCE_SCAN_TOTAL:
    case VYRE_REDUCE_BROADCAST:
    case VYRE_REDUCE_COUNT: break;
    }
    return VYRE_EXPR_ADD;
}

typedef struct operation {
    vyre_expr_op op;
    vyre_type type;
    bool scans, logic;
} operation;

static operation operation_of(const vyre_ref_machine *m, const vyre_stmt_node *s) {
    const vyre_reduce_op op = (vyre_reduce_op)s->sub;
    const bool logic = op == VYRE_REDUCE_ANY || op == VYRE_REDUCE_ALL;
    return (operation){.op = operator_of(op),
                       .type = logic ? VYRE_U32 : (vyre_type)m->program->exprs[s->arg[0]].type,
                       .scans = op == VYRE_REDUCE_SCAN_ADD || op == VYRE_REDUCE_SCAN_TOTAL,
                       .logic = logic};
}

/* to = x op y, of those that are present. */
static void combine(const operation *o, const vyre_ref_position *x, const vyre_ref_position *y,
                    vyre_ref_position *to) {
    if (x->present && y->present) {
        to->value = vyre_ref_apply(o->op, o->type, x->value, y->value, 0);
    } else {
        *to = x->present ? *x : *y;
    }
}

/* The tree: position 0 is the result. */
static void reduce(const operation *o, vyre_ref_position *row, uint32_t count) {
    uint64_t size = 1;
    while (size < count) {
        size *= 2;
    }
    while (size > 1) {
        size /= 2;
        for (uint64_t i = 0; i < size && i + size < count; i++) {
            combine(o, &row[i], &row[i + size], &row[i]);
        }
    }
}

/* The inclusive scan, in steps that all see the values before them. */
static void scan(const operation *o, vyre_ref_position *row, vyre_ref_position *before,
                 uint32_t count) {
    for (uint64_t d = 1; d < count; d *= 2) {
        memcpy(before, row, count * sizeof *row);
        for (uint64_t i = d; i < count; i++) {
            combine(o, &before[i - d], &before[i], &row[i]);
        }
    }
}

/* What a scan gives position i. */
static uint64_t exclusive(const vyre_ref_position *row, uint32_t i) {
    return i > 0 && row[i - 1].present ? row[i - 1].value : 0;
}

/* The values of the lanes of a resident group. */
static void gather(vyre_ref_machine *m, uint32_t group, bool logic) {
    for (uint32_t i = 0; i < m->group_lanes; i++) {
        const vyre_ref_lane *lane = &m->lanes[(size_t)group * m->group_lanes + i];
        m->row[i] = (vyre_ref_position){.value = logic ? lane->value != 0 : lane->value,
                                        .present = lane->state != VYRE_REF_ENDED};
    }
}

/* The group's value, or total of the scan, whose values are in the row then. */
static vyre_ref_position reduce_group(vyre_ref_machine *m, const operation *o, uint32_t group) {
    gather(m, group, o->logic);
    if (o->scans) {
        scan(o, m->row, m->row_before, m->group_lanes);
        return m->row[m->group_lanes - 1];
    }
    reduce(o, m->row, m->group_lanes);
    return m->row[0];
}

void vyre_ref_reduce_group(vyre_ref_machine *m, const vyre_stmt_node *s, uint32_t group) {
    const operation o = operation_of(m, s);
    const bool asks = s->sub == VYRE_REDUCE_BROADCAST;
    vyre_ref_position result = {0};
    if (asks) {
        gather(m, group, false);
    } else {
        result = reduce_group(m, &o, group);
    }
    for (uint32_t i = 0; i < m->group_lanes && s->var != VYRE_NONE; i++) {
        vyre_ref_lane *lane = &m->lanes[(size_t)group * m->group_lanes + i];
        const uint32_t from = lane->selector;
        lane->slots[s->var] =
            asks ? (from < m->group_lanes && m->row[from].present ? m->row[from].value : 0)
            : s->sub == VYRE_REDUCE_SCAN_ADD ? exclusive(m->row, i)
                                             : result.value;
    }
}

void vyre_ref_reduce_grid(vyre_ref_machine *m, const vyre_stmt_node *s) {
    const operation o = operation_of(m, s);
    for (uint32_t g = 0; g < m->resident; g++) {
        m->totals[g] = reduce_group(m, &o, g);
        for (uint32_t i = 0; i < m->group_lanes && o.scans && s->var != VYRE_NONE; i++) {
            vyre_ref_lane *lane = &m->lanes[(size_t)g * m->group_lanes + i];
            lane->slots[s->var] = exclusive(m->row, i);
        }
    }
    if (o.scans) {
        scan(&o, m->totals, m->totals_before, m->resident);
    } else {
        reduce(&o, m->totals, m->resident);
    }
    for (uint32_t i = 0; i < m->lane_count && s->var != VYRE_NONE; i++) {
        vyre_ref_lane *lane = &m->lanes[i];
        const uint64_t base = o.scans ? exclusive(m->totals, lane->group) : m->totals[0].value;
        lane->slots[s->var] =
            o.scans ? vyre_ref_apply(o.op, o.type, base, lane->slots[s->var], 0) : base;
    }
}
