/* Warnings about programs that would be faster in other words, W1xx; they are asked for.
 *
 * Each is about a shape that costs on every device that vyre knows of, and stands where the shapes
 * of values say so for sure: what only may be slow is not reported. */
#include <stdlib.h>

#include "analysis/lint.h"
#include "ir/touches.h"

enum {
    LINE = 64,
    TOGETHER = 32
}; /* bytes of a line of a cache; lanes that a device runs at once */

static void look_at_rounding(vyre_linter *l, vyre_expr e) {
    const vyre_expr_node *n = &l->p->exprs[e];
    if ((n->op != VYRE_EXPR_ADD && n->op != VYRE_EXPR_SUB) ||
        (n->type != VYRE_F32 && n->type != VYRE_F64)) {
        return;
    }
    const bool left = l->p->exprs[n->u.arg[0]].op == VYRE_EXPR_MUL;
    if (left || l->p->exprs[n->u.arg[1]].op == VYRE_EXPR_MUL) {
        const char *fix = n->op == VYRE_EXPR_ADD ? "write fma(a, b, c)"
                          : left                 ? "write fma(a, b, -c)"
                                                 : "write fma(-a, b, c)";
        vyre_checker_warn(&l->c, "W101", vyre_linter_at(l, e), fix,
                          "a product and a sum, rounded twice: `fma` rounds once and is faster");
    }
}

static uint32_t lanes_of(const vyre_program_view *p) {
    return p->workgroup[0] * p->workgroup[1] * p->workgroup[2]; /* within limits */
}

/* Whether there is a reduction over the group that does the same. */
static bool reduces(vyre_atomic_op op) {
    return op != VYRE_ATOMIC_SUB && vyre_atomic_joins(op) != VYRE_EXPR_COUNT;
}

/* All lanes of a group come to an atomic on one element, and nobody asks what was there before. A
 * reduction is legal at such a place, too. */
static bool look_at_atomic(vyre_linter *l, uint32_t visit, const vyre_shape *shapes) {
    const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
    const vyre_stmt_node *s = &l->p->stmts[at];
    const bool asked = s->var != VYRE_NONE && l->used[s->var];
    if (lanes_of(l->p) == 1 || asked || !reduces((vyre_atomic_op)s->sub) ||
        !vyre_shape_uniform(vyre_shapes_control(l->facts.shapes, visit), VYRE_SHAPE_GROUP) ||
        !vyre_shape_uniform(shapes[s->arg[0] - s->first_expr], VYRE_SHAPE_GROUP)) {
        return false;
    }
    vyre_checker_warn(&l->c, "W102", vyre_checker_at(&l->c, at),
                      "reduce over the group first, as group_add does, and let one lane do it: if "
                      "(local_id.x == 0)",
                      "every lane of the group changes this element of `%s`, one after the other",
                      l->p->decls[s->decl].name);
    return true;
}

/* An access to a buffer by neighbouring lanes: `shape` is that of its index. */
static bool look_at_stride(vyre_linter *l, vyre_decl decl, vyre_place place, vyre_shape shape) {
    const vyre_decl_node *d = &l->p->decls[decl];
    const bool buffer = d->role == VYRE_IN || d->role == VYRE_INOUT || d->role == VYRE_OUT ||
                        d->role == VYRE_SCRATCH;
    const int64_t stride = llabs((int64_t)shape.stride);
    if (!buffer || shape.kind != VYRE_SHAPE_LINEAR || l->p->workgroup[0] == 1 ||
        stride * (int64_t)vyre_type_size((vyre_type)d->type) < LINE) {
        return false;
    }
    vyre_checker_warn(&l->c, "W103", place, "let neighbouring lanes take neighbouring elements",
                      "lanes side by side access elements of `%s` that are %lld apart, each in a "
                      "cache line of its own",
                      d->name, (long long)stride);
    return true;
}

/* At most one report for a statement. */
static bool look_at_visit(vyre_linter *l, uint32_t visit, vyre_shape *shapes) {
    const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
    const vyre_stmt_node *s = &l->p->stmts[at];
    vyre_shapes_exprs(l->facts.shapes, visit, shapes);
    if (s->op == VYRE_STMT_ATOMIC && look_at_atomic(l, visit, shapes)) {
        return true;
    }
    if (s->op == VYRE_STMT_STORE &&
        look_at_stride(l, s->decl, vyre_checker_at(&l->c, at), shapes[s->arg[0] - s->first_expr])) {
        return true;
    }
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        const vyre_expr_node *n = &l->p->exprs[e];
        if (n->op == VYRE_EXPR_LOAD &&
            look_at_stride(l, n->ref, vyre_linter_at(l, e), shapes[n->u.arg[0] - s->first_expr])) {
            return true;
        }
    }
    return false;
}

static void look_at_visits(vyre_linter *l) {
    const vyre_allocator *a = &l->c.allocator;
    vyre_shape *shapes = vyre_alloc_zeroed(a, l->widest, sizeof *shapes);
    bool *told = vyre_alloc_zeroed(a, l->p->stmt_count, sizeof *told);
    l->c.failed |= !shapes || !told;
    const uint32_t visits = l->c.failed ? 0 : vyre_shapes_visit_count(l->facts.shapes);
    for (uint32_t visit = 0; visit < visits; visit++) {
        const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
        told[at] = told[at] || look_at_visit(l, visit, shapes);
    }
    vyre_free(a, shapes, l->widest, sizeof *shapes);
    vyre_free(a, told, l->p->stmt_count, sizeof *told);
}

static void look_at_group(vyre_linter *l) {
    const uint32_t lanes = lanes_of(l->p), idle = (TOGETHER - lanes % TOGETHER) % TOGETHER;
    if (idle != 0) {
        vyre_checker_warn(
            &l->c, "W104", vyre_program_place(l->c.program), "take a multiple of 32 lanes",
            "a group of %u: devices run 32 lanes at once, so %u of %u places stay empty", lanes,
            idle, lanes + idle);
    }
}

void vyre_lint_speed(vyre_linter *l) {
    for (vyre_expr e = 0; e < l->p->expr_count; e++) {
        look_at_rounding(l, e);
    }
    look_at_visits(l);
    look_at_group(l);
}
