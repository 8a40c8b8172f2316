/* Ranges: the walks, and what they found.
 *
 * Two walks: the first learns what loops do to variables, of which the second builds its symbols
 * and facts. All tables are made anew, so that the result speaks only of symbols of the last one.
 */
#include "analysis/range.h"

#include "analysis/range_flow.h"

enum { WALKS = 2 };

static void step(range_flow *w, vyre_stmt at) {
    range_state *s = w->s;
    const vyre_stmt_node *stmt = &s->p->stmts[at];
    s->stmt = at;
    for (vyre_expr e = stmt->first_expr;
         e < stmt->end_expr && stmt->op != VYRE_STMT_WHILE && !s->failed; e++) {
        range_evaluate(s, e);
    }
    if (s->failed) {
        return;
    }
    switch ((uint32_t)stmt->op) {
    case VYRE_STMT_STORE:
    case VYRE_STMT_ATOMIC:
        s->r->inside[at] = range_is_inside(s, stmt->decl, stmt->arg[0]);
        s->r->rows[at] = range_row(s, stmt->arg[0]);
        break;
    case VYRE_STMT_IF: range_open_if(w, stmt); return;
    case VYRE_STMT_ELSE: range_begin_else(w); return;
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: range_open_loop(w, stmt); return;
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: range_open_block(w, stmt); return;
    case VYRE_STMT_END: range_close(w); return;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE: range_jump(w, stmt); return;
    case VYRE_STMT_EXIT:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_TRAP: w->live = false; return;
    default: break;
    }
    if (stmt->var != VYRE_NONE) {
        range_define(w, stmt);
    }
}

static void reset(range_state *s) {
    vyre_ranges *r = s->r;
    vyre_intern_finish(&r->form_keys);
    vyre_intern_finish(&r->symbol_keys);
    vyre_intern_init(&r->form_keys, s->a);
    vyre_intern_init(&r->symbol_keys, s->a);
    r->forms.count = r->symbols.count = 0;
    s->now.count = s->facts.count = s->narrowings.count = 0;
    for (vyre_var i = 0; i < s->p->var_count; i++) {
        s->vars[i] = range_unknown;
        r->conditions[i] = VYRE_NONE;
    }
    for (vyre_decl i = 0; i < s->p->decl_count; i++) {
        r->lengths[i] = VYRE_NONE;
    }
    for (vyre_expr i = 0; i < s->p->expr_count; i++) {
        r->exprs[i] = (range_expr){
            .index = VYRE_NONE, .value = VYRE_NONE, .lower = VYRE_NONE, .upper = VYRE_NONE};
    }
    s->work = ((uint64_t)1 << 16) + 16 * ((uint64_t)s->p->expr_count + s->p->stmt_count);
}

static void walk(range_flow *w) {
    const vyre_program_view *p = w->s->p;
    reset(w->s);
    w->frames.count = w->changes.count = w->outcomes.count = w->joined.count = 0;
    w->live = true;
    range_measure(w->s);
    for (vyre_stmt at = p->entry; at < p->stmt_count && !w->s->failed; at++) {
        step(w, at);
    }
}

static void walk_all(range_state *s) {
    const vyre_program_view *p = s->p;
    const vyre_allocator *a = s->a;
    vyre_assigned assigned = {0};
    range_flow w = {.s = s, .assigned = &assigned};
    s->failed |= !vyre_assigned_find(p, a, &assigned);
    const size_t carried = assigned.count, vars = p->var_count;
    w.carried = vyre_alloc_zeroed(a, carried, sizeof *w.carried);
    w.loop_vars = vyre_alloc_zeroed(a, carried, sizeof *w.loop_vars);
    w.bound = vyre_alloc_zeroed(a, vars, sizeof *w.bound);
    w.seen = vyre_alloc_zeroed(a, vars, sizeof *w.seen);
    w.other = vyre_alloc_zeroed(a, vars, sizeof *w.other);
    w.mutable = vyre_alloc_zeroed(a, vars, sizeof *w.mutable);
    s->failed |= !w.carried || !w.loop_vars || !w.bound || !w.seen || !w.other || !w.mutable;
    for (vyre_stmt at = p->entry; at < p->stmt_count && !s->failed; at++) {
        if (p->stmts[at].op == VYRE_STMT_ASSIGN) {
            w.mutable[p->stmts[at].var] = 1;
        }
    }
    for (uint32_t i = 0; i < WALKS && !s->failed; i++) {
        walk(&w);
    }
    vyre_vec_free(a, &w.frames);
    vyre_vec_free(a, &w.changes);
    vyre_vec_free(a, &w.outcomes);
    vyre_vec_free(a, &w.joined);
    vyre_free(a, w.carried, carried, sizeof *w.carried);
    vyre_free(a, w.loop_vars, carried, sizeof *w.loop_vars);
    vyre_free(a, w.bound, vars, sizeof *w.bound);
    vyre_free(a, w.seen, vars, sizeof *w.seen);
    vyre_free(a, w.other, vars, sizeof *w.other);
    vyre_free(a, w.mutable, vars, sizeof *w.mutable);
    vyre_assigned_free(p, a, &assigned);
}

vyre_status vyre_ranges_create(const vyre_program *program, const vyre_allocator *allocator,
                               vyre_ranges **out_ranges) {
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_ranges *r = vyre_alloc_zeroed(&a, 1, sizeof *r);
    *out_ranges = NULL;
    if (!r) {
        return VYRE_OUT_OF_MEMORY;
    }
    r->allocator = a;
    r->program = vyre_program_get(program);
    vyre_intern_init(&r->form_keys, &r->allocator);
    vyre_intern_init(&r->symbol_keys, &r->allocator);
    const vyre_program_view *p = r->program;
    r->exprs = vyre_alloc(&a, p->expr_count, sizeof *r->exprs);
    r->inside = vyre_alloc_zeroed(&a, p->stmt_count, sizeof *r->inside);
    r->rows = vyre_alloc_zeroed(&a, p->stmt_count, sizeof *r->rows);
    r->lengths = vyre_alloc(&a, p->decl_count, sizeof *r->lengths);
    r->conditions = vyre_alloc(&a, p->var_count, sizeof *r->conditions);
    range_state s = {.r = r, .p = p, .a = &r->allocator};
    s.vars = vyre_alloc(&a, p->var_count, sizeof *s.vars);
    s.failed = !r->exprs || !r->inside || !r->rows || !r->lengths || !r->conditions || !s.vars;
    if (!s.failed) {
        walk_all(&s);
    }
    vyre_vec_free(&a, &s.now);
    vyre_vec_free(&a, &s.facts);
    vyre_vec_free(&a, &s.narrowings);
    vyre_free(&a, s.vars, p->var_count, sizeof *s.vars);
    if (s.failed) {
        vyre_ranges_destroy(r);
        return VYRE_OUT_OF_MEMORY;
    }
    *out_ranges = r;
    return VYRE_OK;
}

void vyre_ranges_destroy(vyre_ranges *ranges) {
    if (!ranges) {
        return;
    }
    const vyre_allocator a = ranges->allocator;
    const vyre_program_view *p = ranges->program;
    vyre_free(&a, ranges->exprs, p->expr_count, sizeof *ranges->exprs);
    vyre_free(&a, ranges->inside, p->stmt_count, sizeof *ranges->inside);
    vyre_free(&a, ranges->rows, p->stmt_count, sizeof *ranges->rows);
    vyre_free(&a, ranges->lengths, p->decl_count, sizeof *ranges->lengths);
    vyre_free(&a, ranges->conditions, p->var_count, sizeof *ranges->conditions);
    vyre_vec_free(&a, &ranges->forms);
    vyre_vec_free(&a, &ranges->symbols);
    vyre_intern_finish(&ranges->form_keys);
    vyre_intern_finish(&ranges->symbol_keys);
    vyre_free(&a, ranges, 1, sizeof *ranges);
}

/* Answers */

uint32_t vyre_ranges_symbol_count(const vyre_ranges *ranges) {
    return ranges->symbols.count;
}

const vyre_symbol *vyre_ranges_symbol(const vyre_ranges *ranges, uint32_t symbol) {
    return &ranges->symbols.data[symbol];
}

const vyre_affine *vyre_ranges_form(const vyre_ranges *ranges, uint32_t form) {
    return &ranges->forms.data[form];
}

const vyre_affine *vyre_ranges_length(const vyre_ranges *ranges, vyre_decl memory) {
    return &ranges->forms.data[ranges->lengths[memory]];
}

bool vyre_ranges_of(const vyre_ranges *ranges, vyre_expr expr, vyre_range *out_range) {
    const range_expr *e = &ranges->exprs[expr];
    if (e->value == VYRE_NONE) {
        return false;
    }
    *out_range = (vyre_range){
        .lo = e->lo,
        .hi = e->hi,
        .lower = e->lower == VYRE_NONE ? vyre_affine_constant(e->lo) : ranges->forms.data[e->lower],
        .upper = e->upper == VYRE_NONE ? vyre_affine_constant(e->hi) : ranges->forms.data[e->upper],
        .index = ranges->forms.data[e->index],
        .exact = e->index == e->value};
    return true;
}

bool vyre_ranges_load_inside(const vyre_ranges *ranges, vyre_expr load) {
    return (ranges->exprs[load].flags & RANGE_INSIDE) != 0;
}

bool vyre_ranges_access_inside(const vyre_ranges *ranges, vyre_stmt store_or_atomic) {
    return ranges->inside[store_or_atomic] != 0;
}

vyre_row vyre_ranges_row(const vyre_ranges *ranges, vyre_stmt store) {
    return ranges->rows[store];
}

bool vyre_ranges_may_wrap(const vyre_ranges *ranges, vyre_expr operation) {
    return (ranges->exprs[operation].flags & RANGE_NO_WRAP) == 0;
}

bool vyre_ranges_is_in_row(const vyre_ranges *ranges, vyre_expr row) {
    return (ranges->exprs[row].flags & RANGE_INSIDE) != 0;
}

bool vyre_ranges_row_fits(const vyre_ranges *ranges, vyre_expr row) {
    return (ranges->exprs[row].flags & RANGE_NO_WRAP) != 0;
}

bool vyre_ranges_may_divide_by_zero(const vyre_ranges *ranges, vyre_expr division) {
    return (ranges->exprs[division].flags & RANGE_NOT_ZERO) == 0;
}

bool vyre_ranges_may_shift_beyond(const vyre_ranges *ranges, vyre_expr shift) {
    return (ranges->exprs[shift].flags & RANGE_AMOUNT) == 0;
}
