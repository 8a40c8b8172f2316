/* Which loops are turned, and why that is exact.
 *
 * The loop begins at global_id.x, or a small constant behind it, and all lanes that differ only in
 * x agree on its end and step; the step is global_size.x. Lane x makes the trips i = c + x + k *
 * step below the end. The turned loop goes over t = c + k * step below the end, and lane x takes
 * part if x < end - t: that is t + x < end, without a sum that could wrap. (The subtraction
 * saturates, though the loop has seen that t is below the end: so whoever has only its body sees
 * that the guard says t + x < end.) A lane's loop ends when
 * its next value passes 2^32; if that of t does, so does that of t + x; if only that of t + x does,
 * x is not below end - t any more. c + x must not wrap: global_size.x + c has to be below 2^32,
 * which the caller makes sure of.
 *
 * Behind an even loop (vyre_shapes_even) lanes agree on what it assigned as they did in it, and
 * barriers may rest on that; behind guards they would not. Such a loop is left alone, too.
 *
 * A body that touches workgroup memory is bound to its group: a cut would carry that memory over
 * every trip. Such a loop is left alone, unless nothing is cut.
 *
 * `break` would leave the loop behind a test that lanes fail apart, and so would a barrier: loops
 * that hold one are left alone. A `continue` goes to the head of the loop, where all meet; that is
 * why the cut stands there. The cut needs control that is the same for the whole grid.
 *
 * A loop that only adds up (it assigns variables from outside, and is short and straight) makes
 * four trips per visit, so that what it adds to is brought and stored once for four:
 *
 *     for (i_trip in 0 .. i_to step 4 * global_size.x) {
 *         grid_sync;
 *         if (global_id.x < sat_sub(i_to, i_trip)) { let i = i_trip + global_id.x; body }
 *         if (i_to - i_trip > global_size.x) {
 *             if (global_id.x < i_to - i_trip - global_size.x) { let i_2 = ...; body }
 *         }
 *         ...
 *
 * which needs 4 * global_size.x below 2^32. Otherwise it does not look at what the body does: if
 * there is only one trip, the loop costs one comparison. */
#include "opt/opt_trips.h"

#include <stdio.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "ir/each.h"
#include "ir/waits.h"

/* Offsets: more than any stencil reaches. A body that is worth four copies. */
enum { MOST_OFFSET = 1 << 16, VISIT = 4, SHORT = 64 };

typedef enum turn { TURN_NOT, TURN_ROWS, TURN_GRID } turn; /* in rows: without a cut */

typedef struct turned {
    uint8_t how;     /* turn */
    bool visits;     /* several trips at once */
    uint32_t offset; /* where lane 0 begins */
} turned;

typedef struct finder {
    const vyre_program_view *p;
    const vyre_allocator *a;
    const vyre_shapes *shapes;
    vyre_shape *scratch;   /* of one statement's expressions */
    vyre_expr *definition; /* per variable: its only one, or VYRE_NONE */
    turned *loops;         /* per statement */
    vyre_stmt *bound_at;   /* per variable: the statement that binds it */
    bool *known;           /* per variable: it has a definition, in which nothing is loaded */
    bool known_only, together;
    vyre_stmt copied; /* the statements before this one are in the result */
    vyre_trips *trips;
} finder;

/* Where a variable stands for an expression, that. A definition stands before its uses, so every
 * hop goes down. */
static const vyre_expr_node *resolve(const finder *f, vyre_expr e) {
    const vyre_expr_node *n = &f->p->exprs[e];
    while (n->op == VYRE_EXPR_VAR && f->definition[n->ref] != VYRE_NONE) {
        n = &f->p->exprs[f->definition[n->ref]];
    }
    return n;
}

static bool is_id(const vyre_expr_node *n, vyre_builtin which) {
    return n->op == VYRE_EXPR_BUILTIN && n->sub == which && n->axis == 0;
}

static bool is_literal(const vyre_expr_node *n, uint64_t bits) {
    return n->op == VYRE_EXPR_LITERAL && n->u.bits == bits;
}

/* Whether the operands, in one order or the other, are an id and a width along x. */
static bool is_product(const finder *f, const vyre_expr_node *n, vyre_builtin which) {
    bool found = false;
    for (int k = 0; k < 2 && n->op == VYRE_EXPR_MUL; k++) {
        const vyre_expr_node *x = resolve(f, n->u.arg[k]), *y = resolve(f, n->u.arg[1 - k]);
        found |= is_id(x, which) &&
                 (is_id(y, VYRE_BUILTIN_GROUP_SIZE) || is_literal(y, f->p->workgroup[0]));
    }
    return found;
}

static bool is_global_id(const finder *f, const vyre_expr_node *n) {
    bool found = is_id(n, VYRE_BUILTIN_GLOBAL_ID);
    for (int k = 0; k < 2 && n->op == VYRE_EXPR_ADD; k++) {
        found |= is_product(f, resolve(f, n->u.arg[k]), VYRE_BUILTIN_GROUP_ID) &&
                 is_id(resolve(f, n->u.arg[1 - k]), VYRE_BUILTIN_LOCAL_ID);
    }
    return found;
}

static bool is_global_size(const finder *f, vyre_expr e) {
    const vyre_expr_node *n = resolve(f, e);
    return is_id(n, VYRE_BUILTIN_GLOBAL_SIZE) || is_product(f, n, VYRE_BUILTIN_NUM_GROUPS);
}

/* Whether the loop begins at global_id.x, or so much behind it. */
static bool begins_at_id(const finder *f, vyre_expr e, uint32_t *out_offset) {
    const vyre_expr_node *n = resolve(f, e);
    *out_offset = 0;
    bool found = is_global_id(f, n);
    for (int k = 0; k < 2 && !found && n->op == VYRE_EXPR_ADD; k++) {
        const vyre_expr_node *c = resolve(f, n->u.arg[1 - k]);
        found = is_global_id(f, resolve(f, n->u.arg[k])) && c->op == VYRE_EXPR_LITERAL &&
                c->u.bits <= MOST_OFFSET;
        *out_offset = found ? (uint32_t)c->u.bits : 0;
    }
    return found;
}

/* Statements that the body must not hold: see above. Copies stay in their statement list. */
static bool stays_together(const finder *f, vyre_stmt loop) {
    for (vyre_stmt s = loop + 1; s < f->p->stmts[loop].match; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        bool leaves = n->op == VYRE_STMT_BREAK && n->match == loop;
        if (leaves || vyre_waits_of((vyre_stmt_op)n->op) != 0) {
            return false;
        }
    }
    return true;
}

static bool touches_group(const finder *f, vyre_stmt loop) {
    const vyre_stmt_node *opener = &f->p->stmts[loop];
    bool touches = false;
    for (vyre_stmt s = loop + 1; s < opener->match && !touches; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        touches = (n->decl != VYRE_NONE && f->p->decls[n->decl].role == VYRE_WORKGROUP) ||
                  (n->decl2 != VYRE_NONE && f->p->decls[n->decl2].role == VYRE_WORKGROUP);
        for (vyre_expr i = n->first_expr; i < n->end_expr && !touches; i++) {
            const vyre_expr_node *x = &f->p->exprs[i];
            touches = x->op == VYRE_EXPR_LOAD && f->p->decls[x->ref].role == VYRE_WORKGROUP;
        }
    }
    return touches;
}

static bool assigns_outside(const finder *f, vyre_stmt s, vyre_stmt loop) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    return n->op == VYRE_STMT_ASSIGN && f->bound_at[n->var] < loop;
}

static bool leaves_agreed(const finder *f, vyre_stmt loop) {
    bool assigns = false;
    for (vyre_stmt s = loop + 1; s < f->p->stmts[loop].match; s++) {
        assigns |= assigns_outside(f, s, loop);
    }
    return assigns && vyre_shapes_even(f->shapes, loop - f->p->entry);
}

/* Whether the body is straight and short, goes to its end, and assigns variables from outside. */
static bool adds_up(const finder *f, vyre_stmt loop) {
    const vyre_stmt_node *opener = &f->p->stmts[loop];
    bool assigns = false,
         straight = f->p->stmts[opener->match - 1].end_expr < opener->end_expr + SHORT;
    for (vyre_stmt s = loop + 1; s < opener->match && straight; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        assigns |= assigns_outside(f, s, loop);
        straight = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN ||
                   n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_IF || n->op == VYRE_STMT_ELSE ||
                   n->op == VYRE_STMT_END;
    }
    return assigns && straight;
}

/* Whether the values of a statement's expressions do not depend on memory. */
static bool is_known(const finder *f, vyre_stmt s) {
    bool known = true;
    for (vyre_expr i = f->p->stmts[s].first_expr; i < f->p->stmts[s].end_expr; i++) {
        const vyre_expr_node *n = &f->p->exprs[i];
        known &= n->op != VYRE_EXPR_LOAD && (n->op != VYRE_EXPR_VAR || f->known[n->ref]);
    }
    return known;
}

static turn how_to_turn(const finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    vyre_shapes_exprs(f->shapes, s - f->p->entry, f->scratch);
    uint8_t end = f->scratch[n->arg[1] - n->first_expr].kind;
    uint8_t control = vyre_shapes_control(f->shapes, s - f->p->entry).kind;
    uint8_t widest = end > control ? end : control;
    if (widest <= VYRE_SHAPE_GRID && f->known_only && !f->together && !is_known(f, s)) {
        return TURN_NOT;
    }
    return widest <= VYRE_SHAPE_GRID && !f->together ? TURN_GRID
           : end <= VYRE_SHAPE_ROW                   ? TURN_ROWS
                                                     : TURN_NOT;
}

/* Variables that are bound once and never assigned. */
static void find_definitions(finder *f) {
    for (uint32_t v = 0; v < f->p->var_count; v++) {
        f->definition[v] = VYRE_NONE;
    }
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (n->var != VYRE_NONE && n->op != VYRE_STMT_ASSIGN) {
            f->bound_at[n->var] = s;
        }
        if (n->op == VYRE_STMT_LET) {
            f->definition[n->var] = n->arg[0];
        }
    }
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        if (f->p->stmts[s].op == VYRE_STMT_ASSIGN) {
            f->definition[f->p->stmts[s].var] = VYRE_NONE;
        }
    }
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) { /* definitions before uses */
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (n->op == VYRE_STMT_LET && f->definition[n->var] != VYRE_NONE) {
            f->known[n->var] = is_known(f, s);
        }
    }
}

static void find_loops(finder *f) {
    uint32_t pending = 0; /* copies: begun here, and waited for in the same list */
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        uint32_t offset;
        pending += n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE;
        pending -= n->op == VYRE_STMT_ASYNC_WAIT;
        if (n->op != VYRE_STMT_FOR || n->arg[2] == VYRE_NONE || !is_global_size(f, n->arg[2]) ||
            !begins_at_id(f, n->arg[0], &offset) || !stays_together(f, s) ||
            (!f->together && touches_group(f, s)) || leaves_agreed(f, s)) {
            continue;
        }
        turned *loop = &f->loops[s];
        *loop = (turned){.how = (uint8_t)how_to_turn(f, s), .offset = offset};
        if (loop->how == TURN_GRID && pending > 0) {
            loop->how = TURN_ROWS; /* a copy can not be cut in two */
        }
        loop->visits = loop->how == TURN_GRID && adds_up(f, s);
        if (loop->how != TURN_NOT) {
            f->trips->loops++;
            f->trips->most_offset = offset > f->trips->most_offset ? offset : f->trips->most_offset;
            f->trips->most_strides = loop->visits ? VISIT : f->trips->most_strides;
        }
    }
}

/* Building */

static vyre_expr id(vyre_builder *b) {
    return vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
}

static vyre_expr op2(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(b, op, x, y, VYRE_NONE);
}

static vyre_expr strides(vyre_builder *b, uint32_t count) {
    return op2(b, VYRE_EXPR_MUL, vyre_build_u32(b, count),
               vyre_build_id(b, VYRE_BUILTIN_GLOBAL_SIZE, 0));
}

/* A fresh name from that of the loop's variable. */
static const char *name_of(vyre_each *each, vyre_stmt loop, const char *suffix) {
    const finder *f = each->user;
    char text[128];
    (void)snprintf(text, sizeof text, "%.100s%s", f->p->vars[f->p->stmts[loop].var].name, suffix);
    return vyre_each_name(each, text);
}

typedef struct opened {
    vyre_stmt loop;
    vyre_var to, trip;
} opened;

static opened open_loop(vyre_each *each, vyre_stmt s) {
    const finder *f = each->user;
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const vyre_stmt_node *n = &f->p->stmts[s];
    const turned *how = &f->loops[s];
    vyre_expr end = vyre_rewrite_expr(rw, n->arg[1]);
    vyre_builder_at(b, vyre_program_stmt_place(rw->source, s));
    opened made = {.loop = s, .to = vyre_build_let(b, name_of(each, s, "_to"), end)};
    vyre_expr step = how->visits ? strides(b, VISIT) : vyre_rewrite_expr(rw, n->arg[2]);
    vyre_builder_at(b, vyre_program_stmt_place(rw->source, s));
    made.trip = vyre_build_for(b, name_of(each, s, "_trip"), vyre_build_u32(b, how->offset),
                               vyre_build_var(b, made.to), step);
    if (how->how == TURN_GRID) {
        vyre_build_grid_sync(b);
    }
    return made;
}

/* The trip that is so many strides behind the first of the visit; its END is left to the caller. */
static void open_trip(vyre_each *each, const opened *in, uint32_t strided) {
    const finder *f = each->user;
    vyre_builder *b = each->rw.to;
    const vyre_var var = f->p->stmts[in->loop].var;
    vyre_expr at = vyre_build_var(b, in->trip);
    vyre_expr left = op2(b, strided ? VYRE_EXPR_SUB : VYRE_EXPR_SAT_SUB, vyre_build_var(b, in->to),
                         vyre_build_var(b, in->trip));
    if (strided > 0) {
        at = op2(b, VYRE_EXPR_ADD, at, strides(b, strided));
        left = op2(b, VYRE_EXPR_SUB, left, strides(b, strided));
    }
    const char *name = strided > 0 ? name_of(each, in->loop, "") : f->p->vars[var].name;
    each->rw.vars[var] = vyre_build_let(b, name, op2(b, VYRE_EXPR_ADD, at, id(b)));
    vyre_build_if(b, op2(b, VYRE_EXPR_LT, id(b), left));
}

static const char *rename_copy(vyre_rewriter *rw, vyre_var var, void *user) {
    return vyre_each_name(user, rw->p->vars[var].name);
}

/* The whole loop, with copies of its body. */
static void make_visits(vyre_each *each, vyre_stmt s) {
    finder *f = each->user;
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const opened in = open_loop(each, s);
    for (uint32_t k = 0; k < VISIT; k++) {
        vyre_builder_at(b, vyre_program_stmt_place(rw->source, s));
        if (k > 0) {
            vyre_expr left =
                op2(b, VYRE_EXPR_SUB, vyre_build_var(b, in.to), vyre_build_var(b, in.trip));
            vyre_build_if(b, op2(b, VYRE_EXPR_GT, left, strides(b, k)));
            rw->rename = rename_copy;
            rw->user = each;
        }
        open_trip(each, &in, k);
        vyre_rewrite_range(rw, s + 1, f->p->stmts[s].match);
        vyre_build_end(b);
        if (k > 0) {
            vyre_build_end(b);
        }
    }
    rw->rename = NULL;
    vyre_build_end(b);
    f->copied = f->p->stmts[s].match + 1;
}

static bool replace(vyre_each *each, vyre_stmt s) {
    const finder *f = each->user;
    const vyre_stmt_node *n = &f->p->stmts[s];
    if (s < f->copied) {
        return true;
    }
    if (f->loops[s].visits) {
        make_visits(each, s);
        return true;
    }
    if (f->loops[s].how != TURN_NOT) {
        const opened in = open_loop(each, s);
        open_trip(each, &in, 0);
        return true;
    }
    if (n->op == VYRE_STMT_END && f->loops[n->match].how != TURN_NOT) {
        vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
        vyre_build_end(each->rw.to);
        vyre_build_end(each->rw.to);
        return true;
    }
    return false;
}

/* The first statements of turned loops. Loops keep their order. */
static bool find_cuts(const finder *f, const vyre_program_view *result) {
    vyre_stmt at = result->entry;
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        if (f->p->stmts[s].op != VYRE_STMT_FOR) {
            continue;
        }
        while (result->stmts[at].op != VYRE_STMT_FOR) {
            at++;
        }
        at++;
        if (f->loops[s].how == TURN_GRID && !vyre_vec_push(f->a, &f->trips->cuts, at)) {
            return false;
        }
    }
    return true;
}

static vyre_status turn_loops(finder *f, vyre_program *program, vyre_program **out_program,
                              vyre_diag *diag) {
    find_definitions(f);
    find_loops(f);
    if (f->trips->loops == 0) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    vyre_status status = vyre_each_rewrite(program, NULL, replace, f, f->a, out_program, diag);
    if (status == VYRE_OK && !find_cuts(f, vyre_program_get(*out_program))) {
        vyre_program_release(*out_program);
        status = vyre_fail_memory(diag, "turning loops");
    }
    return status;
}

/* Whether lanes of a group can make their trips together without more ado: none ends, and none has
 * memory of its own. */
static bool is_plain(const vyre_program_view *p) {
    bool plain = (p->stats.stmt_kinds >> VYRE_STMT_EXIT & 1) == 0 &&
                 (p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1) == 0;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        plain &= p->decls[d].role != VYRE_PRIVATE;
    }
    return plain;
}

vyre_status vyre_opt_trips(vyre_program *program, bool known_only, bool together,
                           const vyre_allocator *a, vyre_program **out_program,
                           vyre_trips *out_trips, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    vyre_shaped shaped = {0};
    *out_trips = (vyre_trips){0};
    finder f = {.p = p,
                .a = a,
                .trips = out_trips,
                .known_only = known_only,
                .together = together && is_plain(p)};
    f.scratch = vyre_alloc(a, p->expr_count, sizeof *f.scratch);
    f.definition = vyre_alloc(a, p->var_count, sizeof *f.definition);
    f.bound_at = vyre_alloc_zeroed(a, p->var_count, sizeof *f.bound_at);
    f.known = vyre_alloc_zeroed(a, p->var_count, sizeof *f.known);
    f.loops = vyre_alloc_zeroed(a, p->stmt_count, sizeof *f.loops);
    vyre_status status = VYRE_OUT_OF_MEMORY;
    if (f.scratch && f.definition && f.bound_at && f.known && f.loops) {
        status = vyre_shaped_init(&shaped, program, a);
    }
    if (status == VYRE_OK) {
        f.shapes = shaped.shapes;
        status = turn_loops(&f, program, out_program, diag);
    } else {
        (void)vyre_fail_memory(diag, "turning loops");
    }
    vyre_shaped_finish(&shaped);
    vyre_free(a, f.scratch, p->expr_count, sizeof *f.scratch);
    vyre_free(a, f.definition, p->var_count, sizeof *f.definition);
    vyre_free(a, f.bound_at, p->var_count, sizeof *f.bound_at);
    vyre_free(a, f.known, p->var_count, sizeof *f.known);
    vyre_free(a, f.loops, p->stmt_count, sizeof *f.loops);
    if (status != VYRE_OK) {
        vyre_trips_finish(out_trips, a);
    }
    return status;
}

void vyre_trips_finish(vyre_trips *trips, const vyre_allocator *a) {
    vyre_vec_free(a, &trips->cuts);
}
