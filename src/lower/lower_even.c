/* A counted loop with a barrier of the scope, of which the start varies and the number of trips
 * does not (vyre_shapes_even):
 *
 *     for (i in a .. e step s) { body }   ->   let i_from = a; let i_to = e; let i_by = s;
 *                                              for (i_trip in 0 .. i_to / i_by) {
 *                                                  let i = i_from + i_trip * i_by;
 *                                                  body
 *                                              }
 *
 * Whoever cuts at the barrier walks the loop once for all lanes, so its variable must be one that
 * they share. The end is a multiple of the step and the start is below the step, so there are e / s
 * trips, and the k-th has i = a + k * s, which does not wrap. Jumps go where they went. */
#include "lower/lower_even.h"

#include <stdio.h>

#include "analysis/shape.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "ir/each.h"
#include "ir/waits.h"

typedef struct finder {
    const vyre_program_view *p;
    vyre_split_scope scope;
    const vyre_allocator *a;
    bool *even; /* per statement: a loop to replace */
} finder;

/* Whether lanes wait for all of the scope in the loop. */
static bool waits_in(const finder *f, vyre_stmt loop) {
    bool waits = false;
    for (vyre_stmt i = loop + 1; i < f->p->stmts[loop].match && !waits; i++) {
        waits = vyre_waits_for(f->scope, f->p->stmts[i].op) != 0;
    }
    return waits;
}

/* Whether there is one. */
static bool find(finder *f, const vyre_shapes *shapes, vyre_shape *room) {
    const vyre_program_view *p = f->p;
    const vyre_shape_kind whole =
        f->scope == VYRE_SPLIT_SCOPE_GRID ? VYRE_SHAPE_GRID : VYRE_SHAPE_GROUP;
    bool any = false;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op == VYRE_STMT_FOR && vyre_shapes_even(shapes, s - p->entry) && waits_in(f, s)) {
            vyre_shapes_exprs(shapes, s - p->entry, room);
            f->even[s] = !vyre_shape_uniform(room[n->arg[0] - n->first_expr], whole);
            any |= f->even[s];
        }
    }
    return any;
}

static const char *name_of(vyre_each *each, vyre_stmt s, const char *suffix) {
    const finder *f = each->user;
    char name[VYRE_LIMIT_NAME + 1];
    (void)snprintf(name, sizeof name, "%.*s%s", (int)sizeof name - 8,
                   f->p->vars[f->p->stmts[s].var].name, suffix);
    return vyre_each_name(each, name);
}

static vyre_expr operation(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    const finder *f = each->user;
    const vyre_stmt_node *n = &f->p->stmts[s];
    vyre_builder *b = each->rw.to;
    if (!f->even[s]) {
        return false;
    }
    vyre_builder_at(b, vyre_program_stmt_place(each->rw.source, s));
    const vyre_var from =
        vyre_build_let(b, name_of(each, s, "_from"), vyre_rewrite_expr(&each->rw, n->arg[0]));
    const vyre_var to =
        vyre_build_let(b, name_of(each, s, "_to"), vyre_rewrite_expr(&each->rw, n->arg[1]));
    const vyre_var by = vyre_build_let(
        b, name_of(each, s, "_by"),
        n->arg[2] == VYRE_NONE ? vyre_build_u32(b, 1) : vyre_rewrite_expr(&each->rw, n->arg[2]));
    const vyre_var trip = vyre_build_for(
        b, name_of(each, s, "_trip"), vyre_build_u32(b, 0),
        operation(b, VYRE_EXPR_DIV, vyre_build_var(b, to), vyre_build_var(b, by)), VYRE_NONE);
    const vyre_expr done =
        operation(b, VYRE_EXPR_MUL, vyre_build_var(b, trip), vyre_build_var(b, by));
    each->rw.vars[n->var] = vyre_build_let(
        b, f->p->vars[n->var].name, operation(b, VYRE_EXPR_ADD, vyre_build_var(b, from), done));
    return true;
}

static vyre_status lower(finder *f, vyre_program *program, vyre_program **out_program,
                         vyre_diag *diag) {
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, program, f->a);
    if (status != VYRE_OK) {
        return vyre_fail_memory(diag, "splitting");
    }
    vyre_shape *room = vyre_alloc(f->a, f->p->expr_count, sizeof *room);
    const bool any = room && find(f, shaped.shapes, room);
    vyre_free(f->a, room, f->p->expr_count, sizeof *room);
    vyre_shaped_finish(&shaped);
    if (!room) {
        return vyre_fail_memory(diag, "splitting");
    }
    if (!any) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    return vyre_each_rewrite(program, NULL, replace, f, f->a, out_program, diag);
}

/* By the looks of it, whether there may be one: shapes cost more than a look. */
static bool may_begin_apart(const finder *f) {
    bool may = false;
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count && !may; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        may = n->op == VYRE_STMT_FOR && f->p->exprs[n->arg[0]].op != VYRE_EXPR_LITERAL &&
              waits_in(f, s);
    }
    return may;
}

vyre_status vyre_lower_even(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag) {
    finder f = {.p = vyre_program_get(program), .scope = scope, .a = a};
    if (!may_begin_apart(&f)) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    f.even = vyre_alloc_zeroed(a, f.p->stmt_count, sizeof *f.even);
    const vyre_status status =
        f.even ? lower(&f, program, out_program, diag) : vyre_fail_memory(diag, "splitting");
    vyre_free(a, f.even, f.p->stmt_count, sizeof *f.even);
    return status;
}
