/* Indices and conditions as functions of one variable: what loops and lanes do to them.
 *
 * A symbol depends on a loop if the last statement on which its value depends lies in it, and on an
 * axis if `lanes` says so; forms say the rest. */
#include "analysis/range_state.h"

static bool is_in_loop(const vyre_ranges *r, uint32_t symbol, vyre_stmt loop) {
    const vyre_stmt bound = r->symbols.data[symbol].bound;
    return bound != VYRE_NONE && bound >= loop && bound <= r->program->stmts[loop].match;
}

/* The symbol of the variable, or VYRE_NONE if no expression names it. */
static uint32_t variable_symbol(const vyre_ranges *r, vyre_stmt loop, uint32_t axis) {
    const bool counts = loop != VYRE_NONE;
    const vyre_symbol like = {.kind = counts ? VYRE_SYMBOL_LOOP : VYRE_SYMBOL_BUILTIN,
                              .sub = counts ? 0 : VYRE_BUILTIN_LOCAL_ID,
                              .axis = counts ? 0 : (uint8_t)axis,
                              .ref = loop,
                              .var = counts ? r->program->stmts[loop].var : VYRE_NONE,
                              .operand = {VYRE_NONE, VYRE_NONE}};
    return range_symbol_find(r, &like);
}

static uint32_t id_symbol(const vyre_ranges *r, vyre_builtin id, uint32_t axis) {
    const vyre_symbol like = {.kind = VYRE_SYMBOL_BUILTIN,
                              .sub = (uint8_t)id,
                              .axis = (uint8_t)axis,
                              .ref = VYRE_NONE,
                              .var = VYRE_NONE,
                              .operand = {VYRE_NONE, VYRE_NONE}};
    return range_symbol_find(r, &like);
}

/* Takes the symbol out of the form and gives its factor. */
static int64_t take(vyre_affine *form, uint32_t symbol) {
    for (uint32_t i = 0; i < form->count; i++) {
        if (form->symbols[i] == symbol) {
            const int64_t factor = form->factors[i];
            *form = vyre_affine_without(form, i);
            return factor;
        }
    }
    return 0;
}

bool vyre_ranges_index(const vyre_ranges *ranges, vyre_expr index, vyre_stmt loop,
                       vyre_index_form *out_form) {
    const range_expr *e = &ranges->exprs[index];
    if (e->value == VYRE_NONE) {
        return false;
    }
    vyre_index_form f = {.base = ranges->forms.data[e->index], .may_wrap = e->index != e->value};
    if (loop != VYRE_NONE) {
        f.step = take(&f.base, variable_symbol(ranges, loop, 0));
        for (uint32_t i = 0; i < f.base.count; i++) {
            if (is_in_loop(ranges, f.base.symbols[i], loop)) {
                return false;
            }
        }
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        f.lane[axis] = take(&f.base, variable_symbol(ranges, VYRE_NONE, axis));
        const int64_t of_group =
            vyre_affine_factor(&f.base, id_symbol(ranges, VYRE_BUILTIN_GROUP_ID, axis));
        const bool dissolves = of_group == f.lane[axis] * ranges->program->workgroup[axis];
        f.global[axis] = dissolves ? f.lane[axis] : 0;
    }
    f.varies = range_lanes(ranges, &f.base) != 0;
    *out_form = f;
    return true;
}

/* Conditions */

typedef struct clipper {
    const vyre_ranges *r;
    uint32_t symbol; /* of the variable */
    vyre_stmt loop;
    uint32_t axis;
    vyre_clip *out;
    bool full;
} clipper;

static void keep(clipper *c, vyre_expr condition) {
    const uint32_t count = c->out->rest_count;
    if (count > 0 && c->out->rest[count - 1] == condition) {
        return;
    }
    if (count == VYRE_CLIP_BOUNDS) {
        c->full = true;
    } else {
        c->out->rest[c->out->rest_count++] = condition;
    }
}

/* Whether other symbols of the form change with the variable. */
static bool depends(const clipper *c, const vyre_affine *form) {
    for (uint32_t i = 0; i < form->count; i++) {
        const uint32_t symbol = form->symbols[i];
        if (symbol != c->symbol &&
            (c->loop != VYRE_NONE ? is_in_loop(c->r, symbol, c->loop)
                                  : (c->r->symbols.data[symbol].lanes & 1u << c->axis) != 0)) {
            return true;
        }
    }
    return false;
}

/* x <= y + more */
static bool bound(clipper *c, const vyre_affine *x, const vyre_affine *y, int64_t more) {
    vyre_affine form;
    if (!vyre_affine_combine(x, 1, y, -1, &form) || !vyre_affine_shift(&form, -more, &form) ||
        depends(c, &form)) {
        return false;
    }
    if (c->out->bound_count == VYRE_CLIP_BOUNDS) {
        c->full = true;
        return true;
    }
    struct vyre_clip_bound *b = &c->out->bounds[c->out->bound_count++];
    b->base = form;
    b->factor = take(&b->base, c->symbol);
    return true;
}

static bool clip_comparison(clipper *c, const vyre_expr_node *e, bool truth) {
    const range_expr *left = &c->r->exprs[e->u.arg[0]], *right = &c->r->exprs[e->u.arg[1]];
    if (left->value == VYRE_NONE || right->value == VYRE_NONE) {
        return false;
    }
    const vyre_affine *x = &c->r->forms.data[left->value], *y = &c->r->forms.data[right->value];
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LT: return truth ? bound(c, x, y, -1) : bound(c, y, x, 0);
    case VYRE_EXPR_LE: return truth ? bound(c, x, y, 0) : bound(c, y, x, -1);
    case VYRE_EXPR_GT: return truth ? bound(c, y, x, -1) : bound(c, x, y, 0);
    case VYRE_EXPR_GE: return truth ? bound(c, y, x, 0) : bound(c, x, y, -1);
    case VYRE_EXPR_EQ: return truth && bound(c, x, y, 0) && bound(c, y, x, 0);
    case VYRE_EXPR_NE: return !truth && bound(c, x, y, 0) && bound(c, y, x, 0);
    default: return false;
    }
}

enum { MOST_PARTS = 32 };

typedef struct clip_part {
    vyre_expr expr;
    bool truth;
    vyre_expr whole; /* the condition that is kept if this part clips nothing: itself, or the
                        variable that stands for it, since its loads are not to be done again */
} clip_part;

bool vyre_ranges_clip(const vyre_ranges *ranges, vyre_expr condition, vyre_stmt loop, uint32_t axis,
                      vyre_clip *out_clip) {
    clipper c = {.r = ranges,
                 .symbol = variable_symbol(ranges, loop, axis),
                 .loop = loop,
                 .axis = axis,
                 .out = out_clip};
    clip_part stack[MOST_PARTS];
    uint32_t count = 0;
    *out_clip = (vyre_clip){.bound_count = 0};
    stack[count++] = (clip_part){condition, true, condition};
    while (count > 0 && !c.full) {
        const clip_part at = stack[--count];
        const vyre_expr_node *e = &ranges->program->exprs[at.expr];
        if (at.truth && e->op == VYRE_EXPR_AND && count + 2 <= MOST_PARTS) {
            const bool itself = at.whole == at.expr;
            stack[count++] = (clip_part){e->u.arg[1], true, itself ? e->u.arg[1] : at.whole};
            stack[count++] = (clip_part){e->u.arg[0], true, itself ? e->u.arg[0] : at.whole};
        } else if (e->op == VYRE_EXPR_NOT) {
            stack[count++] = (clip_part){e->u.arg[0], !at.truth, at.whole};
        } else if (e->op == VYRE_EXPR_VAR && ranges->conditions[e->ref] != VYRE_NONE) {
            stack[count++] = (clip_part){ranges->conditions[e->ref], at.truth, at.whole};
        } else if (!clip_comparison(&c, e, at.truth)) {
            keep(&c, at.whole);
        }
    }
    return !c.full;
}
