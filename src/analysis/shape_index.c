/* Indices as forms: sums of versions of variables, params, lengths and ids, each times a constant,
 * and of such sums with `^ c`, `& c`, `% c`.
 *
 * Everything is modulo 2^32, as indices are, so that sums, differences and products with constants
 * need no care. What is not of that kind is a number between its bounds (shape_bounds.c). Versions
 * that are bound to a form are replaced by it: a version is bound before it is used, and what its
 * form is made of was bound before that, and cannot be bound again without it being bound again.
 * So two forms that name the same version at two places mean the same value there unless control
 * passed its binding in between; shape_interval.c follows that. */
#include <string.h>

#include "analysis/affine.h"
#include "analysis/shape_graph.h"
#include "ir/fold.h"

/* Terms in terms, and terms of a program. */
enum { DEPTH = 3, MOST_TERMS = 1 << 16 };

static const int64_t past = INT64_C(1) << 32;

/* A number between the bounds; all of them if those are no bounds. */
static shape_form unknown_form(shape_bounds b) {
    if (b.lo > b.hi) {
        return (shape_form){0}; /* no lane has one */
    }
    const bool bounded = b.lo >= INT32_MIN && b.hi < past && b.hi - b.lo < past;
    return bounded ? (shape_form){.lo = b.lo, .hi = b.hi} : (shape_form){.hi = past - 1};
}

static bool append(shape_form *f, uint32_t term, uint32_t factor) {
    if (factor == 0) {
        return true;
    }
    if (f->count == SHAPE_FORM_TERMS) {
        return false;
    }
    f->terms[f->count] = term;
    f->factors[f->count++] = factor;
    return true;
}

bool vyre_form_add(const shape_form *x, const shape_form *y, uint32_t factor, shape_form *out) {
    const int64_t by = (int32_t)factor;
    const vyre_wide lo = x->lo + (by < 0 ? (vyre_wide)y->hi * by : (vyre_wide)y->lo * by),
                    hi = x->hi + (by < 0 ? (vyre_wide)y->lo * by : (vyre_wide)y->hi * by);
    shape_form sum = {.constant = x->constant + factor * y->constant};
    uint32_t i = 0, j = 0;
    if (lo < -past || hi > past || hi - lo >= past) {
        return false;
    }
    sum.lo = (int64_t)lo;
    sum.hi = (int64_t)hi;
    while (i < x->count || j < y->count) {
        const bool first = j == y->count || (i < x->count && x->terms[i] <= y->terms[j]);
        const bool second = i == x->count || (j < y->count && y->terms[j] <= x->terms[i]);
        const uint32_t term = first ? x->terms[i] : y->terms[j];
        if (!append(&sum, term,
                    (first ? x->factors[i] : 0) + (second ? factor * y->factors[j] : 0))) {
            return false;
        }
        i += first;
        j += second;
    }
    *out = sum;
    return true;
}

/* Terms */

/* The form that is this term alone; false: there are too many, or no memory. */
static bool term_form(vyre_shapes *s, shape_term term, shape_form *out) {
    char key[sizeof term];
    shape_term clean;
    memset(&clean, 0, sizeof clean); /* padding too */
    clean.kind = term.kind;
    clean.depth = term.depth;
    clean.has_nodes = term.has_nodes;
    clean.ref = term.ref;
    clean.number = term.number;
    clean.of.constant = term.of.constant;
    for (uint32_t i = 0; i < term.of.count; i++) {
        (void)append(&clean.of, term.of.terms[i], term.of.factors[i]);
    }
    memcpy(key, &clean, sizeof key);
    if (s->terms.count >= MOST_TERMS) {
        return false;
    }
    const uint32_t number = vyre_intern_add(&s->term_keys, key, sizeof key);
    if (number == VYRE_INTERN_NONE ||
        (number == s->terms.count && !vyre_vec_push(&s->allocator, &s->terms, clean))) {
        s->out_of_memory = true;
        return false;
    }
    *out = (shape_form){.factors = {1}, .terms = {number}, .count = 1};
    return true;
}

static bool leaf_form(vyre_shapes *s, shape_term_kind kind, uint32_t ref, uint32_t axis,
                      shape_form *out) {
    return term_form(s,
                     (shape_term){.kind = (uint8_t)kind,
                                  .has_nodes = kind == SHAPE_TERM_NODE,
                                  .ref = ref,
                                  .number = axis},
                     out);
}

bool vyre_form_fits(const vyre_shapes *s, const shape_form *f) {
    vyre_wide lo = (int32_t)f->constant, hi = lo;
    for (uint32_t i = 0; i < f->count; i++) {
        const shape_bounds b = vyre_shapes_term_bounds(s, f->terms[i]);
        const int64_t by = (int32_t)f->factors[i];
        lo += (vyre_wide)(by < 0 ? b.hi : b.lo) * by;
        hi += (vyre_wide)(by < 0 ? b.lo : b.hi) * by;
    }
    return lo >= 0 && hi < past;
}

/* Whether a term may be replaced by what it is of, under `& c` or `% c`: it is the same there. */
static bool is_idle(const shape_term *t, shape_term_kind kind, uint32_t c) {
    if (t->kind != (uint8_t)kind) {
        return false;
    }
    return kind == SHAPE_TERM_AND ? (c & (c + 1)) == 0 && (t->number & c) == c : t->number == c;
}

/* ((x % c) + 1) % c is (x + 1) % c, and so with `&` and low bits. */
static shape_form flattened(const vyre_shapes *s, shape_term_kind kind, const shape_form *f,
                            uint32_t c) {
    shape_form flat = *f, next;
    for (uint32_t i = 0; i < f->count && kind != SHAPE_TERM_XOR; i++) {
        const shape_term *t = &s->terms.data[f->terms[i]];
        const shape_form alone = {.factors = {1}, .terms = {f->terms[i]}, .count = 1};
        if (is_idle(t, kind, c) && vyre_form_add(&flat, &alone, 0u - f->factors[i], &next) &&
            vyre_form_add(&next, &t->of, f->factors[i], &next) &&
            (kind == SHAPE_TERM_AND || vyre_form_fits(s, &next))) {
            flat = next;
        }
    }
    return flat;
}

bool vyre_form_masked(vyre_shapes *s, shape_term_kind kind, const shape_form *f, uint32_t c,
                      bool fits, shape_form *out) {
    const shape_form flat = flattened(s, kind, f, c);
    f = &flat;
    if (kind == SHAPE_TERM_XOR && f->count == 1 && f->factors[0] == 1 && f->constant == 0 &&
        s->terms.data[f->terms[0]].kind == SHAPE_TERM_XOR) { /* x ^ c ^ d */
        const shape_term inner = s->terms.data[f->terms[0]];
        *out = inner.of;
        return inner.number == c ||
               vyre_form_masked(s, kind, &inner.of, inner.number ^ c, fits, out);
    }
    shape_term term = {.kind = (uint8_t)kind, .ref = VYRE_NONE, .number = c, .of = *f};
    for (uint32_t i = 0; i < f->count; i++) {
        const shape_term *t = &s->terms.data[f->terms[i]];
        term.depth = t->depth >= term.depth ? (uint8_t)(t->depth + 1) : term.depth;
        term.has_nodes |= t->has_nodes;
    }
    return vyre_form_is_exact(f) && f->count != 0 && term.depth <= DEPTH &&
           (kind != SHAPE_TERM_REM || fits || vyre_form_fits(s, f)) && term_form(s, term, out);
}

shape_bounds vyre_shapes_term_bounds(const vyre_shapes *s, uint32_t term) {
    const shape_term *t = &s->terms.data[term];
    switch ((shape_term_kind)t->kind) {
    case SHAPE_TERM_NODE: {
        const shape_form f = unknown_form(s->bounds[t->ref]);
        return (shape_bounds){f.lo, f.hi};
    }
    case SHAPE_TERM_BUILTIN:
        return vyre_shapes_builtin_bounds(s->program, (uint8_t)t->ref, (uint8_t)t->number);
    case SHAPE_TERM_AND: return (shape_bounds){0, t->number};
    case SHAPE_TERM_REM: return (shape_bounds){0, (int64_t)t->number - 1};
    case SHAPE_TERM_XOR:
        if (t->of.count == 1 && t->of.factors[0] == 1 && t->of.constant == 0) {
            const shape_bounds b = vyre_shapes_term_bounds(s, t->of.terms[0]); /* DEPTH ends it */
            uint64_t bits = t->number | (uint64_t)(b.lo < 0 ? past - 1 : b.hi);
            for (uint32_t by = 1; by < 32; by *= 2) {
                bits |= bits >> by;
            }
            return (shape_bounds){0, (int64_t)bits};
        }
        break;
    case SHAPE_TERM_PARAM:
    case SHAPE_TERM_LEN: break;
    }
    return (shape_bounds){0, past - 1};
}

/* Expressions */

static bool builtin_form(vyre_shapes *s, const vyre_expr_node *e, shape_form *out) {
    const shape_bounds b = vyre_shapes_builtin_bounds(s->program, e->sub, e->axis);
    if (b.lo == b.hi) {
        *out = vyre_form_constant((uint32_t)b.lo);
        return true;
    }
    return leaf_form(s, SHAPE_TERM_BUILTIN, e->sub, e->axis, out);
}

bool vyre_form_node(vyre_shapes *s, uint32_t node, shape_form *out) {
    return leaf_form(s, SHAPE_TERM_NODE, node, 0, out);
}

bool vyre_form_version(vyre_shapes *s, uint32_t node, shape_form *out) {
    if (s->form_of[node] != VYRE_NONE) {
        *out = s->forms.data[s->form_of[node]];
        return true;
    }
    return vyre_form_node(s, node, out);
}

static bool leaf(vyre_shapes *s, const vyre_expr_node *e, uint32_t use, shape_form *out) {
    uint64_t bits;
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LITERAL: *out = vyre_form_constant((uint32_t)e->u.bits); return true;
    case VYRE_EXPR_REF:
        if (s->program->decls[e->ref].role == VYRE_CONST) {
            const bool known = vyre_fold_const(s->program, e->ref, &bits);
            *out = vyre_form_constant(known ? (uint32_t)bits : 0);
            return known;
        }
        return leaf_form(s, SHAPE_TERM_PARAM, e->ref, 0, out);
    case VYRE_EXPR_LEN: return leaf_form(s, SHAPE_TERM_LEN, e->ref, 0, out);
    case VYRE_EXPR_BUILTIN: return builtin_form(s, e, out);
    case VYRE_EXPR_VAR: return vyre_form_version(s, use, out);
    default: return false;
    }
}

static bool operate(vyre_shapes *s, const vyre_expr_node *e, const shape_form *x,
                    const shape_form *y, shape_form *out) {
    const bool is_unsigned = e->type == VYRE_U32;
    const shape_form zero = {0};
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_ADD: return vyre_form_add(x, y, 1, out);
    case VYRE_EXPR_SUB: return vyre_form_add(x, y, UINT32_MAX, out);
    case VYRE_EXPR_NEG: return vyre_form_add(&zero, x, UINT32_MAX, out);
    case VYRE_EXPR_MUL:
        return vyre_form_is_constant(y)   ? vyre_form_add(&zero, x, y->constant, out)
               : vyre_form_is_constant(x) ? vyre_form_add(&zero, y, x->constant, out)
                                          : false;
    case VYRE_EXPR_SHL:
        return vyre_form_is_constant(y) && y->constant < 32 &&
               vyre_form_add(&zero, x, 1u << y->constant, out);
    case VYRE_EXPR_BIT_XOR:
        return is_unsigned && (vyre_form_is_constant(y)
                                   ? vyre_form_masked(s, SHAPE_TERM_XOR, x, y->constant, false, out)
                               : vyre_form_is_constant(x)
                                   ? vyre_form_masked(s, SHAPE_TERM_XOR, y, x->constant, false, out)
                                   : false);
    case VYRE_EXPR_BIT_AND:
        return is_unsigned && (vyre_form_is_constant(y)
                                   ? vyre_form_masked(s, SHAPE_TERM_AND, x, y->constant, false, out)
                               : vyre_form_is_constant(x)
                                   ? vyre_form_masked(s, SHAPE_TERM_AND, y, x->constant, false, out)
                                   : false);
    case VYRE_EXPR_REM:
        if (!is_unsigned || !vyre_form_is_constant(y) || y->constant == 0) {
            return false;
        }
        return (y->constant & (y->constant - 1)) == 0
                   ? vyre_form_masked(s, SHAPE_TERM_AND, x, y->constant - 1, false, out)
                   : vyre_form_masked(s, SHAPE_TERM_REM, x, y->constant, false, out);
    default: return false;
    }
}

static bool is_word(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_I32;
}

/* Whether the row is the index of an access, or the first operand of a row that is. */
static bool is_place(const vyre_program_view *p, const vyre_stmt_node *stmt, vyre_expr row) {
    const bool accesses = stmt->op == VYRE_STMT_STORE || stmt->op == VYRE_STMT_ATOMIC;
    for (vyre_expr i = row; i < stmt->end_expr; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        if ((accesses && stmt->arg[0] == row) || (e->op == VYRE_EXPR_LOAD && e->u.arg[0] == row)) {
            return true;
        }
        row = e->op == VYRE_EXPR_ROW && e->u.arg[0] == row ? i : row;
    }
    return accesses && stmt->arg[0] == row;
}

/* The element at row(y, w, x), if there is one: an access that is outside of the row touches
 * nothing. So it is y * w + x, with an x below w. */
static bool row_form(const vyre_shapes *s, const vyre_stmt_node *stmt, const vyre_expr_node *e,
                     shape_form *out) {
    const vyre_program_view *p = s->program;
    const shape_form *y = &s->form_scratch[e->u.arg[0] - stmt->first_expr];
    const shape_form *w = &s->form_scratch[e->u.arg[1] - stmt->first_expr];
    const shape_bounds x = s->bounds_scratch[e->u.arg[2] - stmt->first_expr];
    if (!is_place(p, stmt, (vyre_expr)(e - p->exprs)) || !vyre_form_is_constant(w) ||
        w->constant == 0) {
        return false;
    }
    const bool inside = x.lo >= 0 && x.lo <= x.hi && x.hi < w->constant;
    const shape_form any = {.hi = (int64_t)w->constant - 1};
    return vyre_form_add(inside ? &s->form_scratch[e->u.arg[2] - stmt->first_expr] : &any, y,
                         w->constant, out);
}

static bool expression(vyre_shapes *s, const vyre_stmt_node *stmt, const vyre_expr_node *e,
                       uint32_t use, shape_form *out) {
    const vyre_program_view *p = s->program;
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
    if (arity == 0) {
        return leaf(s, e, use, out);
    }
    if (e->op == VYRE_EXPR_ROW) {
        return row_form(s, stmt, e, out);
    }
    if (arity > 2 || !is_word(p->exprs[e->u.arg[0]].type)) {
        return false;
    }
    const shape_form *x = &s->form_scratch[e->u.arg[0] - stmt->first_expr];
    if (e->op == VYRE_EXPR_BITCAST || (e->op == VYRE_EXPR_CAST && e->sub == e->type)) {
        *out = *x; /* the same bits */
        return true;
    }
    return operate(s, e, x, arity == 2 ? &s->form_scratch[e->u.arg[1] - stmt->first_expr] : x, out);
}

bool vyre_shapes_forms(vyre_shapes *s, uint32_t visit) {
    const vyre_program_view *p = s->program;
    const vyre_stmt_node *stmt = &p->stmts[s->visits.data[visit].stmt];
    uint32_t use = s->visits.data[visit].first_use;
    vyre_shapes_bounds(s, visit, s->bounds_scratch);
    for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        const bool uses = e->op == VYRE_EXPR_VAR || e->op == VYRE_EXPR_LOAD;
        shape_form *to = &s->form_scratch[i - stmt->first_expr];
        if (!is_word(e->type) ||
            !expression(s, stmt, e, uses ? s->uses.data[use] : VYRE_NONE, to)) {
            *to = unknown_form(s->bounds_scratch[i - stmt->first_expr]);
        }
        use += uses;
    }
    return !s->out_of_memory;
}

uint32_t vyre_shapes_form_nodes(const vyre_shapes *s, const shape_form *form,
                                uint32_t out[SHAPE_FORM_NODES]) {
    const shape_form *open[SHAPE_FORM_NODES];
    uint32_t opened = 0, count = 0;
    open[opened++] = form;
    while (opened > 0) {
        const shape_form *f = open[--opened];
        for (uint32_t i = 0; i < f->count; i++) {
            const shape_term *t = &s->terms.data[f->terms[i]];
            if (!t->has_nodes) {
                continue;
            }
            if (opened == SHAPE_FORM_NODES || count == SHAPE_FORM_NODES) {
                return VYRE_NONE;
            }
            if (t->kind == SHAPE_TERM_NODE) {
                out[count++] = t->ref;
            } else {
                open[opened++] = &t->of;
            }
        }
    }
    return count;
}

static bool find_form(vyre_shapes *s, uint32_t node, uint32_t *evaluated) {
    const shape_node *n = &s->nodes.data[node];
    s->form_of[node] = VYRE_NONE;
    if (n->kind != SHAPE_VALUE || !is_word(s->program->exprs[n->ref].type)) {
        return true;
    }
    if (*evaluated != n->visit) {
        *evaluated = n->visit;
        if (!vyre_shapes_forms(s, n->visit)) {
            return false;
        }
    }
    const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[n->visit].stmt];
    const shape_form form = s->form_scratch[n->ref - stmt->first_expr];
    if (vyre_form_is_exact(&form)) {
        s->form_of[node] = s->forms.count;
        return vyre_vec_push(&s->allocator, &s->forms, form);
    }
    return true;
}

vyre_status vyre_shapes_find_forms(vyre_shapes *s) {
    const vyre_allocator *a = &s->allocator;
    uint32_t evaluated = VYRE_NONE;
    s->form_of = vyre_alloc(a, s->nodes.count, sizeof *s->form_of);
    s->form_scratch = vyre_alloc(a, s->max_exprs, sizeof *s->form_scratch);
    bool ok = s->form_of && s->form_scratch;
    for (uint32_t node = 0; node < s->nodes.count && ok; node++) {
        ok = find_form(s, node, &evaluated);
    }
    return ok && !s->out_of_memory ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
