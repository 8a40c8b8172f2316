/* What follows from conditions.
 *
 * A comparison of two followed values is an inequality of their forms, which are integers: nothing
 * in it wraps. && that holds gives both sides, || that does not gives the negation of both; !
 * turns. A bool that was bound once stands for its condition: the values in it are still those of
 * then. */
#include "analysis/range_state.h"

enum { MOST_PARTS = 32 }; /* of one condition; others are not looked at */

typedef struct part {
    vyre_expr expr;
    bool truth;
} part;

typedef struct parts {
    part stack[MOST_PARTS];
    uint32_t count;
    vyre_expr compared[MOST_PARTS]; /* comparisons met */
    uint32_t compared_count;
} parts;

static void push(parts *q, vyre_expr expr, bool truth) {
    if (q->count < MOST_PARTS) {
        q->stack[q->count++] = (part){expr, truth};
    }
}

/* x <= y + more */
static void note(range_state *s, const vyre_affine *x, const vyre_affine *y, int64_t more) {
    range_note_order(s, x, y, more, VYRE_NONE, 0);
}

static void note_different(range_state *s, const vyre_affine *x, const vyre_affine *y) {
    if (range_prove_order(s, x, y, 0)) {
        note(s, x, y, -1);
    } else if (range_prove_order(s, y, x, 0)) {
        note(s, y, x, -1);
    }
}

static void compare(range_state *s, vyre_expr_op op, const vyre_affine *x, const vyre_affine *y,
                    bool truth) {
    switch ((uint32_t)op) {
    case VYRE_EXPR_LT:
        if (truth) {
            note(s, x, y, -1);
        } else {
            note(s, y, x, 0);
        }
        return;
    case VYRE_EXPR_LE:
        if (truth) {
            note(s, x, y, 0);
        } else {
            note(s, y, x, -1);
        }
        return;
    case VYRE_EXPR_GT: compare(s, VYRE_EXPR_LT, y, x, truth); return;
    case VYRE_EXPR_GE: compare(s, VYRE_EXPR_LE, y, x, truth); return;
    default: break;
    }
    if ((op == VYRE_EXPR_EQ) == truth) {
        note(s, x, y, 0);
        note(s, y, x, 0);
    } else {
        note_different(s, x, y);
    }
}

static bool is_comparison(uint32_t op) {
    return op >= VYRE_EXPR_LT && op <= VYRE_EXPR_NE;
}

static void assume_part(range_state *s, parts *q, part at) {
    const vyre_expr_node *e = &s->p->exprs[at.expr];
    const range_expr *own = &s->r->exprs[at.expr];
    if (is_comparison(e->op)) {
        const range_expr *x = &s->r->exprs[e->u.arg[0]], *y = &s->r->exprs[e->u.arg[1]];
        if (x->value != VYRE_NONE && y->value != VYRE_NONE) {
            const vyre_affine left = *range_at(s, x->value), right = *range_at(s, y->value);
            q->compared[q->compared_count++] = at.expr;
            compare(s, (vyre_expr_op)e->op, &left, &right, at.truth);
        }
    } else if (e->op == VYRE_EXPR_NOT) {
        push(q, e->u.arg[0], !at.truth);
    } else if (e->op == (at.truth ? VYRE_EXPR_AND : VYRE_EXPR_OR)) {
        push(q, e->u.arg[1], at.truth);
        push(q, e->u.arg[0], at.truth);
    } else if (e->op == VYRE_EXPR_VAR && s->r->conditions[e->ref] != VYRE_NONE) {
        push(q, s->r->conditions[e->ref], at.truth);
    } else if (own->value != VYRE_NONE) { /* an integer: true is not 0 */
        const vyre_affine value = *range_at(s, own->value), zero = vyre_affine_constant(0);
        compare(s, VYRE_EXPR_NE, &value, &zero, at.truth);
    }
}

static void refit(range_state *s, vyre_expr expr) {
    const range_value value = {s->r->exprs[expr].index, s->r->exprs[expr].value};
    (void)range_refit(s, (vyre_type)s->p->exprs[expr].type, value);
}

void range_assume(range_state *s, vyre_expr condition, bool truth) {
    parts q = {.count = 0};
    uint32_t seen = 0;
    push(&q, condition, truth);
    while (q.count > 0 && seen++ < MOST_PARTS) {
        assume_part(s, &q, q.stack[--q.count]);
    }
    for (uint32_t i = 0; i < q.compared_count && !s->failed; i++) {
        refit(s, s->p->exprs[q.compared[i]].u.arg[0]);
        refit(s, s->p->exprs[q.compared[i]].u.arg[1]);
    }
}

bool range_is_constant(const range_state *s, vyre_expr condition, bool truth) {
    const vyre_expr_node *e = &s->p->exprs[condition];
    return e->op == VYRE_EXPR_LITERAL && (e->u.bits != 0) == truth;
}
