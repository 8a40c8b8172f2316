/* One walk over the entry body, in order, with the value of each variable at hand.
 *
 * Arms and loops: a change is logged with the value before, so that an arm can be undone at `else`
 * and both arms joined at `end`. A variable that a loop assigns is a new symbol at its head. Of the
 * values at the ends of trips the walk learns their bounds and whether they are ever below or above
 * that of the head; since no more than the truth of this walk is used, the next walk may build on
 * it: what never falls stays at or above its value before the loop. An arm that does not come to
 * its end takes no part in the join, and what its condition tells of the others holds after the
 * `end`. */
#include "analysis/range_flow.h"

static frame *top_frame(range_flow *w) {
    return &w->frames.data[w->frames.count - 1];
}

/* Whether the present value of a variable can be told at all. */
static bool is_followed(const range_flow *w, vyre_var var) {
    return range_follows((vyre_type)w->s->p->vars[var].type);
}

static range_interval type_bounds(const range_flow *w, vyre_var var) {
    return range_of_type((vyre_type)w->s->p->vars[var].type);
}

static void bind(range_flow *w, vyre_var var, range_value value) {
    w->bound[var] = w->frames.count;
    w->s->vars[var] = value;
}

static void assign(range_flow *w, vyre_var var, range_value value) {
    if (w->bound[var] < w->frames.count &&
        !vyre_vec_push(w->s->a, &w->changes, (change){var, w->s->vars[var]})) {
        w->s->failed = true;
    }
    w->s->vars[var] = value;
}

static bool same(range_value x, range_value y) {
    return x.index == y.index && x.value == y.value;
}

static range_interval hull(range_interval x, range_interval y) {
    return (range_interval){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
}

/* Bounds of a value here, or of any value of the variable if it is not known. */
static range_interval bounds_of(const range_flow *w, vyre_var var, range_value value) {
    const range_interval limits = type_bounds(w, var);
    if (value.value == VYRE_NONE) {
        return limits;
    }
    const range_interval x = range_bounds(w->s, range_at(w->s, value.value));
    return (range_interval){x.lo > limits.lo ? x.lo : limits.lo,
                            x.hi < limits.hi ? x.hi : limits.hi};
}

static bool ordered(range_flow *w, range_value x, range_value y) {
    if (x.value == VYRE_NONE || y.value == VYRE_NONE) {
        return false;
    }
    const vyre_affine left = *range_at(w->s, x.value), right = *range_at(w->s, y.value);
    return range_prove_order(w->s, &left, &right, 0);
}

static void note_ordered(range_flow *w, range_value x, range_value y) {
    if (x.value != VYRE_NONE && y.value != VYRE_NONE) {
        const vyre_affine left = *range_at(w->s, x.value), right = *range_at(w->s, y.value);
        range_note_order(w->s, &left, &right, 0, VYRE_NONE, 0);
    }
}

/* if ... else ... end */

void range_open_if(range_flow *w, const vyre_stmt_node *stmt) {
    const frame f = {.op = VYRE_STMT_IF,
                     .stmt = w->s->stmt,
                     .condition = stmt->arg[0],
                     .mark = range_mark_now(w->s),
                     .live_before = w->live,
                     .changes = w->changes.count,
                     .outcomes = w->outcomes.count};
    if (!vyre_vec_push(w->s->a, &w->frames, f)) {
        w->s->failed = true;
        return;
    }
    range_assume(w->s, f.condition, true);
    w->live &= !range_is_constant(w->s, f.condition, false);
}

/* Ends an arm: its changes become outcomes, with their bounds at its end, and are undone. */
static void end_arm(range_flow *w, const frame *f) {
    const uint32_t first = w->outcomes.count;
    w->serial++;
    for (uint32_t i = f->changes; i < w->changes.count; i++) {
        const change c = w->changes.data[i];
        if (w->seen[c.var] == w->serial) {
            continue; /* the first change holds the value before the arm */
        }
        w->seen[c.var] = w->serial;
        const range_value after = w->s->vars[c.var];
        const outcome o = {c.var, c.before, after, bounds_of(w, c.var, after)};
        if (!vyre_vec_push(w->s->a, &w->outcomes, o)) {
            w->s->failed = true;
            return;
        }
    }
    for (uint32_t i = first; i < w->outcomes.count; i++) {
        w->s->vars[w->outcomes.data[i].var] = w->outcomes.data[i].before;
    }
    w->changes.count = f->changes;
}

void range_begin_else(range_flow *w) {
    frame *f = top_frame(w);
    end_arm(w, f);
    f->has_else = true;
    f->then_end = w->outcomes.count;
    f->then_live = w->live;
    w->live = f->live_before && !range_is_constant(w->s, f->condition, true);
    range_forget(w->s, f->mark);
    range_assume(w->s, f->condition, false);
}

/* What a variable is after an if. Called with the facts of the else arm, of which only its own
 * value may be judged. */
static void join_arms(range_flow *w, const frame *f, vyre_var var, const arm_value *then,
                      const arm_value *other) {
    joined j = {.var = var, .value = then->value};
    if (!f->then_live) {
        j.value = other->value;
    } else if (w->live && !same(then->value, other->value)) {
        j.below = ordered(w, other->value, then->value);
        j.above = ordered(w, then->value, other->value);
        j.then = then->value;
        j.value =
            range_bind(w->s, VYRE_SYMBOL_JOIN, w->s->stmt, var, hull(then->bounds, other->bounds));
    }
    if (!vyre_vec_push(w->s->a, &w->joined, j)) {
        w->s->failed = true;
    }
}

static range_interval bounds_anywhere(const range_flow *w, vyre_var var, range_value value) {
    return value.value == VYRE_NONE ? type_bounds(w, var)
                                    : range_bounds_anywhere(w->s, range_at(w->s, value.value));
}

static void join_all(range_flow *w, const frame *f) {
    w->serial++;
    for (uint32_t i = f->then_end; i < w->outcomes.count; i++) {
        w->seen[w->outcomes.data[i].var] = w->serial;
        w->other[w->outcomes.data[i].var] = i;
    }
    for (uint32_t i = f->outcomes; i < f->then_end && !w->s->failed; i++) {
        const outcome o = w->outcomes.data[i];
        const bool both = w->seen[o.var] == w->serial;
        const arm_value then = {o.after, o.bounds};
        arm_value other = {o.before, bounds_of(w, o.var, o.before)};
        if (both) {
            other = (arm_value){w->outcomes.data[w->other[o.var]].after,
                                w->outcomes.data[w->other[o.var]].bounds};
        }
        join_arms(w, f, o.var, &then, &other);
        w->seen[o.var] = 0;
    }
    for (uint32_t i = f->then_end; i < w->outcomes.count && !w->s->failed; i++) {
        const outcome o = w->outcomes.data[i];
        if (w->seen[o.var] == w->serial) {
            const arm_value then = {o.before, bounds_anywhere(w, o.var, o.before)};
            const arm_value other = {o.after, o.bounds};
            join_arms(w, f, o.var, &then, &other);
        }
    }
}

static void close_if(range_flow *w) {
    if (!top_frame(w)->has_else) {
        range_begin_else(w);
    }
    end_arm(w, top_frame(w));
    const frame f = w->frames.data[--w->frames.count];
    const uint32_t first = w->joined.count;
    join_all(w, &f);
    const bool else_live = w->live;
    range_forget(w->s, f.mark);
    if (f.then_live != else_live) {
        range_assume(w->s, f.condition, f.then_live);
    }
    for (uint32_t i = first; i < w->joined.count; i++) {
        const joined j = w->joined.data[i];
        assign(w, j.var, j.value);
        if (j.below) {
            note_ordered(w, j.value, j.then);
        }
        if (j.above) {
            note_ordered(w, j.then, j.value);
        }
    }
    w->joined.count = first;
    w->outcomes.count = f.outcomes;
    w->live = f.then_live || else_live;
}

/* Loops */

static uint8_t lanes_of(const range_state *s, const range_expr *e) {
    return e->value == VYRE_NONE ? 7 : range_lanes(s->r, range_at(s, e->value));
}

/* What is known of the variable of a FOR, and the facts that bind it to its ends. */
static void bind_counter(range_flow *w, const vyre_stmt_node *stmt) {
    range_state *s = w->s;
    const range_expr *from = &s->r->exprs[stmt->arg[0]], *to = &s->r->exprs[stmt->arg[1]];
    const range_expr *step = stmt->arg[2] == VYRE_NONE ? NULL : &s->r->exprs[stmt->arg[2]];
    range_interval bounds = {from->lo, to->hi - 1};
    if (from->lo == from->hi && to->lo == to->hi && step && step->lo == step->hi && step->lo > 0 &&
        to->lo > from->lo) {
        bounds.hi = from->lo + (to->lo - 1 - from->lo) / step->lo * step->lo;
    }
    bounds.hi = bounds.hi < bounds.lo ? bounds.lo : bounds.hi; /* no trips */
    const range_value counter = range_bind(s, VYRE_SYMBOL_LOOP, s->stmt, stmt->var, bounds);
    bind(w, stmt->var, counter);
    if (counter.value == VYRE_NONE) {
        return;
    }
    const vyre_affine i = *range_at(s, counter.value);
    s->r->symbols.data[i.symbols[0]].lanes = lanes_of(s, from) | (step ? lanes_of(s, step) : 0);
    if (from->value != VYRE_NONE) {
        const vyre_affine first = *range_at(s, from->value);
        range_note_order(s, &first, &i, 0, VYRE_NONE, 0);
    }
    if (to->value != VYRE_NONE) {
        const vyre_affine end = *range_at(s, to->value);
        range_note_order(s, &i, &end, -1, VYRE_NONE, 0);
    }
}

/* The variable at the head: as before the loop, or as at the end of a trip. */
static void begin_variable(range_flow *w, uint32_t k) {
    const vyre_var var = w->assigned->vars[k];
    const range_carried *carried = &w->carried[k];
    const range_value before = w->s->vars[var];
    range_interval bounds = type_bounds(w, var);
    if (carried->known) {
        bounds = bounds_of(w, var, before);
        bounds = carried->latched ? hull(bounds, carried->latch) : bounds;
    }
    const range_value head = range_bind(w->s, VYRE_SYMBOL_HEAD, w->s->stmt, var, bounds);
    w->loop_vars[k] = (loop_var){.head = head, .rises = true, .falls = true};
    assign(w, var, head);
    if (carried->known && carried->rises) {
        note_ordered(w, before, head);
    }
    if (carried->known && carried->falls) {
        note_ordered(w, head, before);
    }
}

void range_open_loop(range_flow *w, const vyre_stmt_node *stmt) {
    range_state *s = w->s;
    const frame f = {.op = stmt->op,
                     .stmt = s->stmt,
                     .condition = stmt->op == VYRE_STMT_WHILE ? stmt->arg[0] : VYRE_NONE,
                     .mark = range_mark_now(s),
                     .live_before = w->live};
    if (!vyre_vec_push(s->a, &w->frames, f)) {
        s->failed = true;
        return;
    }
    for (uint32_t k = w->assigned->first[s->stmt]; k < w->assigned->first[s->stmt + 1]; k++) {
        if (is_followed(w, w->assigned->vars[k])) {
            begin_variable(w, k);
        }
    }
    if (stmt->op == VYRE_STMT_FOR) {
        bind_counter(w, stmt);
        return;
    }
    for (vyre_expr e = stmt->first_expr; e < stmt->end_expr && !s->failed; e++) {
        range_evaluate(s, e);
    }
    range_assume(s, f.condition, true);
    w->live &= !range_is_constant(s, f.condition, false);
}

/* Whether the variables of a loop may be looked at once more. If not, nothing of what they become
 * is known. */
static bool afford(range_flow *w, frame *f) {
    const uint32_t count = w->assigned->first[f->stmt + 1] - w->assigned->first[f->stmt];
    f->overflow |= w->s->work < count;
    w->s->work -= f->overflow ? 0 : count;
    return !f->overflow;
}

/* The end of a trip. */
static void latch(range_flow *w, frame *f) {
    if (!w->live || !afford(w, f)) {
        return;
    }
    for (uint32_t k = w->assigned->first[f->stmt]; k < w->assigned->first[f->stmt + 1]; k++) {
        const vyre_var var = w->assigned->vars[k];
        loop_var *v = &w->loop_vars[k];
        if (!is_followed(w, var)) {
            continue;
        }
        const range_value value = w->s->vars[var];
        const range_interval bounds = bounds_of(w, var, value);
        v->latch = v->latched ? hull(v->latch, bounds) : bounds;
        v->latched = true;
        v->rises = v->rises && ordered(w, v->head, value);
        v->falls = v->falls && ordered(w, value, v->head);
    }
}

/* The loop is left with the present values. */
static void leave(range_flow *w, frame *f) {
    f->has_break |= w->live;
    if (!w->live || !afford(w, f)) {
        return;
    }
    for (uint32_t k = w->assigned->first[f->stmt]; k < w->assigned->first[f->stmt + 1]; k++) {
        const vyre_var var = w->assigned->vars[k];
        loop_var *v = &w->loop_vars[k];
        if (!is_followed(w, var)) {
            continue;
        }
        const range_value value = w->s->vars[var];
        const range_interval bounds = bounds_of(w, var, value);
        v->mixed |= v->left && !same(v->exit, value);
        v->exit_bounds = v->left ? hull(v->exit_bounds, bounds) : bounds;
        v->exit = value;
        v->left = true;
    }
}

void range_jump(range_flow *w, const vyre_stmt_node *stmt) {
    for (uint32_t i = w->frames.count; i-- > 0;) {
        frame *f = &w->frames.data[i];
        if (f->stmt != stmt->match) {
            continue;
        }
        if (stmt->op == VYRE_STMT_BREAK) {
            leave(w, f);
        } else {
            latch(w, f);
        }
        break;
    }
    w->live = false;
}

/* Keeps what was learned for the next walk, and gives the variable its value after the loop. */
static void end_variable(range_flow *w, const frame *f, uint32_t k, bool natural) {
    const vyre_var var = w->assigned->vars[k];
    const range_interval limits = type_bounds(w, var);
    const loop_var v = w->loop_vars[k];
    w->carried[k] = (range_carried){.latch = f->overflow ? limits : v.latch,
                                    .known = true,
                                    .latched = f->overflow || v.latched,
                                    .rises = v.rises && !f->overflow,
                                    .falls = v.falls && !f->overflow};
    range_value value = v.head;
    const bool differs = v.mixed || (natural && v.left && !same(v.exit, v.head));
    if (f->overflow || differs) {
        range_interval bounds = natural ? bounds_of(w, var, v.head) : v.exit_bounds;
        bounds = natural && v.left ? hull(bounds, v.exit_bounds) : bounds;
        value = range_bind(w->s, VYRE_SYMBOL_JOIN, w->s->stmt, var, f->overflow ? limits : bounds);
    } else if (!natural && v.left) {
        value = v.exit;
    }
    assign(w, var, value);
}

static void close_loop(range_flow *w) {
    latch(w, top_frame(w));
    const frame f = w->frames.data[--w->frames.count];
    const bool endless = f.condition != VYRE_NONE && range_is_constant(w->s, f.condition, true);
    const bool natural = f.live_before && !endless;
    range_forget(w->s, f.mark);
    if (natural && f.condition != VYRE_NONE) {
        range_assume(w->s, f.condition, false);
    }
    for (uint32_t k = w->assigned->first[f.stmt]; k < w->assigned->first[f.stmt + 1]; k++) {
        if (is_followed(w, w->assigned->vars[k])) {
            end_variable(w, &f, k, natural);
        }
    }
    if (f.has_break) {
        range_forget(w->s, f.mark); /* the condition may still hold */
    }
    w->live = natural || f.has_break;
}

void range_close(range_flow *w) {
    const frame *f = top_frame(w);
    if (f->op == VYRE_STMT_IF) {
        close_if(w);
    } else if (f->op == VYRE_STMT_FOR || f->op == VYRE_STMT_WHILE) {
        close_loop(w);
    } else {
        w->frames.count--;
    }
}

void range_open_block(range_flow *w, const vyre_stmt_node *stmt) {
    const frame f = {.op = stmt->op, .stmt = w->s->stmt, .live_before = w->live};
    if (!vyre_vec_push(w->s->a, &w->frames, f)) {
        w->s->failed = true;
    }
}

void range_define(range_flow *w, const vyre_stmt_node *stmt) {
    const vyre_var var = stmt->var;
    range_value value = range_unknown;
    if (stmt->op == VYRE_STMT_LET || stmt->op == VYRE_STMT_ASSIGN) {
        value =
            (range_value){w->s->r->exprs[stmt->arg[0]].index, w->s->r->exprs[stmt->arg[0]].value};
    } else if (is_followed(w, var)) {
        value = range_bind(w->s, VYRE_SYMBOL_RESULT, w->s->stmt, var, type_bounds(w, var));
    }
    if (stmt->op == VYRE_STMT_ASSIGN) {
        assign(w, var, value);
        return;
    }
    bind(w, var, value);
    if (stmt->op == VYRE_STMT_LET && w->s->p->vars[var].type == VYRE_BOOL && !w->mutable[var]) {
        w->s->r->conditions[var] = stmt->arg[0];
    }
}
