/* Operations over the grid in segments. Each group leaves its value in _parts, and a word that says
 * so where a lane may have ended: a group without a living lane is absent. Behind the barrier a
 * segment of one lane combines the values of all groups, and takes the words back. What it makes of
 * a reduction is handed to the schedule like all that lanes make; what it makes of a scan, a base
 * for each group, stays in _parts.
 *
 * The order is that of the language where it matters: floats by the tree, in place, and scans of
 * floats in steps of 1, 2, 4, ..., from the last group to the first, so that each step sees the
 * values before it. Integers take one walk. Cost: as many operations as there are groups, by one
 * lane; of a scan of floats times their logarithm.
 *
 * All living lanes of a group write the same value. A lane reads its base before it writes there
 * again: a barrier of the group lies between, that of the operation on the group. */
#include <stdio.h>

#include "ir/builder.h"
#include "split/segment_state.h"

/* One operation. */
typedef struct combiner {
    maker *m;
    const vyre_stmt_node *n;
    vyre_type type;
    uint32_t word;    /* of the value */
    bool some_absent; /* the word behind it says whether it is there */
    vyre_expr count;  /* of groups */
} combiner;

static vyre_expr build_let(combiner *c, const char *stem, vyre_expr value, vyre_var *out_var) {
    char name[VYRE_MODULE_NAME + 16];
    (void)snprintf(name, sizeof name, "%scombine_%s", c->m->names->prefix, stem);
    vyre_var var = vyre_build_let(c->m->b, name, value);
    if (out_var) {
        *out_var = var;
    }
    return vyre_build_var(c->m->b, var);
}

static vyre_expr build_for(combiner *c, const char *stem, vyre_expr from, vyre_expr to) {
    char name[VYRE_MODULE_NAME + 16];
    (void)snprintf(name, sizeof name, "%scombine_%s", c->m->names->prefix, stem);
    return vyre_build_var(c->m->b, vyre_build_for(c->m->b, name, from, to, VYRE_NONE));
}

static combiner combiner_of(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    const vyre_part *part = &m->plan->parts[n->fn];
    return (combiner){.m = m,
                      .n = n,
                      .type = (vyre_type)part->type,
                      .word = part->word,
                      .some_absent = m->plan->lanes_end,
                      .count = VYRE_NONE};
}

/* ---- elements of _parts ---- */

static vyre_decl parts(combiner *c, vyre_view view) {
    return vyre_segment_place(c->m, VYRE_PLACE_PARTS, view, VYRE_INOUT, c->m->names->parts);
}

/* Of `word` of a group. */
static vyre_expr index_of(combiner *c, vyre_expr group, uint32_t word, vyre_view view) {
    const uint32_t unit = vyre_type_size(vyre_view_type(view)) / 4;
    return op2(c->m, VYRE_EXPR_ADD,
               op2(c->m, VYRE_EXPR_MUL, group, u32(c->m, c->m->plan->part_words / unit)),
               u32(c->m, word / unit));
}

static vyre_expr load_part(combiner *c, vyre_expr group) {
    const vyre_view view = vyre_view_of(c->type);
    vyre_expr element = vyre_build_load(c->m->b, parts(c, view), index_of(c, group, c->word, view));
    return view == VYRE_VIEW_WORDS ? vyre_words_decode(c->m->b, c->type, element, VYRE_NONE)
                                   : element;
}

static void store_part(combiner *c, vyre_expr group, vyre_expr value) {
    const vyre_view view = vyre_view_of(c->type);
    if (view == VYRE_VIEW_WORDS) {
        value = vyre_words_encode(c->m->b, c->type, value, 0);
    }
    vyre_build_store(c->m->b, parts(c, view), index_of(c, group, c->word, view), value);
    c->m->has_effect = true;
}

static uint32_t there_word(const combiner *c) {
    return c->word + vyre_type_size(c->type) / 4;
}

static vyre_expr is_there(combiner *c, vyre_expr group) {
    vyre_expr word = vyre_build_load(c->m->b, parts(c, VYRE_VIEW_WORDS),
                                     index_of(c, group, there_word(c), VYRE_VIEW_WORDS));
    return op2(c->m, VYRE_EXPR_NE, word, u32(c->m, 0));
}

static void set_there(combiner *c, vyre_expr group, bool there) {
    vyre_build_store(c->m->b, parts(c, VYRE_VIEW_WORDS),
                     index_of(c, group, there_word(c), VYRE_VIEW_WORDS), u32(c->m, there));
}

/* ---- what lanes do ---- */

void vyre_segment_part(maker *m, vyre_stmt s) {
    combiner c = combiner_of(m, s);
    vyre_expr value = vyre_rewrite_expr(&m->rw, c.n->arg[0]);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    store_part(&c, vyre_segment_group_number(m), value);
    if (c.some_absent) {
        set_there(&c, vyre_segment_group_number(m), true);
    }
}

void vyre_segment_base(maker *m, vyre_stmt s) {
    combiner c = combiner_of(m, s);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    vyre_segment_give(m, c.n->var, load_part(&c, vyre_segment_group_number(m)));
}

/* ---- what the one lane does ---- */

static vyre_expr_op operator_of(const combiner *c) {
    static const vyre_expr_op operators[VYRE_REDUCE_COUNT] = {
        [VYRE_REDUCE_ADD] = VYRE_EXPR_ADD,      [VYRE_REDUCE_MIN] = VYRE_EXPR_MIN,
        [VYRE_REDUCE_MAX] = VYRE_EXPR_MAX,      [VYRE_REDUCE_AND] = VYRE_EXPR_BIT_AND,
        [VYRE_REDUCE_OR] = VYRE_EXPR_BIT_OR,    [VYRE_REDUCE_XOR] = VYRE_EXPR_BIT_XOR,
        [VYRE_REDUCE_ANY] = VYRE_EXPR_OR,       [VYRE_REDUCE_ALL] = VYRE_EXPR_AND,
        [VYRE_REDUCE_SCAN_ADD] = VYRE_EXPR_ADD,
    };
    return c->n->sub < VYRE_REDUCE_COUNT ? operators[c->n->sub] : VYRE_EXPR_ADD;
}

static vyre_expr combined(combiner *c, vyre_expr x, vyre_expr y) {
    return op2(c->m, operator_of(c), x, y);
}

/* What a reduction of integers or truth values begins with. */
static uint64_t neutral(const combiner *c) {
    const uint64_t sign = UINT64_C(1) << (8 * vyre_type_size(c->type) - 1);
    const bool is_signed = vyre_type_is_signed(c->type);
    switch ((vyre_reduce_op)c->n->sub) {
    case VYRE_REDUCE_AND: return sign | (sign - 1);
    case VYRE_REDUCE_MIN: return is_signed ? sign - 1 : sign | (sign - 1);
    case VYRE_REDUCE_MAX: return is_signed ? sign : 0;
    case VYRE_REDUCE_ALL: return 1;
    case VYRE_REDUCE_ADD:
    case VYRE_REDUCE_OR:
    case VYRE_REDUCE_XOR:
    case VYRE_REDUCE_ANY:
    case VYRE_REDUCE_SCAN_ADD:
    case VYRE_REDUCE_SCAN_TOTAL:
    case VYRE_REDUCE_BROADCAST:
    case VYRE_REDUCE_COUNT: break;
    }
    return 0;
}

/* All that are there, one after the other; a scan leaves what was before each. */
static vyre_expr pass_over(combiner *c, bool scans) {
    maker *m = c->m;
    vyre_var sum;
    vyre_expr so_far = build_let(c, "sum", vyre_build_literal(m->b, c->type, neutral(c)), &sum);
    vyre_expr group = build_for(c, "group", u32(m, 0), c->count);
    vyre_expr value = build_let(c, "value", load_part(c, group), NULL);
    if (scans) {
        store_part(c, group, so_far);
    }
    if (c->some_absent) {
        vyre_build_if(m->b, is_there(c, group));
    }
    vyre_build_assign(m->b, sum, combined(c, so_far, value));
    if (c->some_absent) {
        set_there(c, group, false);
        vyre_build_end(m->b);
    }
    vyre_build_end(m->b);
    return so_far;
}

/* The value of `to` becomes `x` op `y`, of those that are there; one of them is `to`. */
static void combine_two(combiner *c, vyre_expr to, vyre_expr x, vyre_expr y, bool to_is_x) {
    maker *m = c->m;
    vyre_expr from = to_is_x ? y : x;
    if (!c->some_absent) {
        store_part(c, to, combined(c, load_part(c, x), load_part(c, y)));
        return;
    }
    vyre_build_if(m->b, is_there(c, from));
    vyre_build_if(m->b, is_there(c, to));
    store_part(c, to, combined(c, load_part(c, x), load_part(c, y)));
    vyre_build_else(m->b);
    store_part(c, to, load_part(c, from));
    set_there(c, to, true);
    vyre_build_end(m->b);
    vyre_build_end(m->b);
}

/* Nobody is there any more. */
static void forget_all(combiner *c) {
    if (c->some_absent) {
        set_there(c, build_for(c, "forget", u32(c->m, 0), c->count), false);
        vyre_build_end(c->m->b);
    }
}

/* The largest power of two below the count, or 1. */
static vyre_expr half(combiner *c, vyre_var *out_var) {
    maker *m = c->m;
    vyre_expr size = build_let(c, "size", u32(m, 1), out_var);
    vyre_build_while(m->b, op2(m, VYRE_EXPR_GT, op2(m, VYRE_EXPR_SUB, c->count, size), size));
    vyre_build_assign(m->b, *out_var, op2(m, VYRE_EXPR_SHL, size, u32(m, 1)));
    vyre_build_end(m->b);
    return size;
}

static vyre_expr tree(combiner *c) {
    maker *m = c->m;
    vyre_var size_var, left_var;
    vyre_expr size = half(c, &size_var);
    vyre_expr left = build_let(c, "left", c->count, &left_var);
    vyre_build_while(m->b, op2(m, VYRE_EXPR_NE, size, u32(m, 0)));
    vyre_expr i = build_for(c, "i", u32(m, 0), op2(m, VYRE_EXPR_SUB, left, size));
    vyre_expr other = op2(m, VYRE_EXPR_ADD, i, size);
    combine_two(c, i, i, build_let(c, "other", other, NULL), true);
    vyre_build_end(m->b);
    vyre_build_assign(m->b, left_var, size);
    vyre_build_assign(m->b, size_var, op2(m, VYRE_EXPR_SHR, size, u32(m, 1)));
    vyre_build_end(m->b);
    vyre_expr result = build_let(c, "result", load_part(c, u32(m, 0)), NULL);
    forget_all(c);
    return result;
}

/* Position i of a loop that goes down from the last one to `to`. */
static vyre_expr downwards(combiner *c, const char *stem, vyre_expr to) {
    maker *m = c->m;
    vyre_expr k = build_for(c, stem, to, c->count);
    vyre_expr last = op2(m, VYRE_EXPR_SUB, c->count, u32(m, 1));
    return build_let(c, "at", op2(m, VYRE_EXPR_SUB, last, op2(m, VYRE_EXPR_SUB, k, to)), NULL);
}

static void scan(combiner *c) {
    maker *m = c->m;
    vyre_var step_var;
    vyre_expr zero = vyre_build_literal(m->b, c->type, 0);
    vyre_expr step = build_let(c, "step", u32(m, 1), &step_var);
    /* Twice a step beyond 2^31 is 0. */
    vyre_build_while(m->b, op2(m, VYRE_EXPR_AND, op2(m, VYRE_EXPR_LT, step, c->count),
                               op2(m, VYRE_EXPR_NE, step, u32(m, 0))));
    vyre_expr at = downwards(c, "i", step);
    combine_two(c, at, build_let(c, "before", op2(m, VYRE_EXPR_SUB, at, step), NULL), at, false);
    vyre_build_end(m->b);
    vyre_build_assign(m->b, step_var, op2(m, VYRE_EXPR_SHL, step, u32(m, 1)));
    vyre_build_end(m->b);
    vyre_expr to = downwards(c, "k", u32(m, 1));
    vyre_expr from = op2(m, VYRE_EXPR_SUB, to, u32(m, 1));
    vyre_expr value = load_part(c, from);
    store_part(c, to,
               c->some_absent
                   ? vyre_build_op(m->b, VYRE_EXPR_SELECT, is_there(c, from), value, zero)
                   : value);
    vyre_build_end(m->b);
    store_part(c, u32(m, 0), zero);
    forget_all(c);
}

void vyre_segment_combine(maker *m, vyre_stmt s) {
    combiner c = combiner_of(m, s);
    const uint32_t lanes = m->p->workgroup[0] * m->p->workgroup[1] * m->p->workgroup[2];
    const bool scans = c.n->sub == VYRE_REDUCE_SCAN_ADD;
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    c.count = build_let(&c, "count",
                        op2(m, VYRE_EXPR_DIV, vyre_segment_lane_count(m), u32(m, lanes)), NULL);
    if (scans && vyre_type_is_float(c.type)) {
        scan(&c);
    } else if (vyre_type_is_float(c.type)) {
        vyre_segment_give(m, c.n->var, tree(&c));
    } else {
        vyre_expr sum = pass_over(&c, scans);
        if (!scans) {
            vyre_segment_give(m, c.n->var, sum);
        }
    }
}
