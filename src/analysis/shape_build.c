/* From statements to the value graph, in one walk over the expanded program.
 *
 * Versions of variables (versions.h) are nodes. Loops get a join at head and exit for each variable
 * that is assigned in them (known from a scan before the walk).
 *
 * Control inside a loop is counted from the loop's own start, so that values in it are judged among
 * the lanes that run the same trip; `outer` leads to the control around. Rules:
 *   if       arms: control of the list and the condition; joins after it: the condition
 *   loop     leaving it: the condition and the control of every break
 *   break, continue   the rest of the loop's body has their control too
 *   exit, trap        ended lanes do not count: the arm just does not reach the join
 */
#include "analysis/shape_graph.h"
#include "analysis/versions.h"

typedef struct loop_var {
    vyre_var var;
    uint32_t before, head, exit; /* versions */
    uint32_t around;             /* its place among the variables of loops around */
    uint32_t latch;              /* version at the last ends of trips so far, or VYRE_NONE */
    uint32_t first, last;        /* visits of these ends: all since the version changed */
    uint32_t left;               /* last version that left the loop */
} loop_var;

typedef struct frame {
    uint8_t op; /* IF, FOR, WHILE, BLOCK, REGION, CALL */
    bool live_before;
    bool then_live;
    bool has_else;
    bool overflow; /* of a loop: too many jumps times variables; all of them vary */
    uint32_t visit;
    uint32_t middle;    /* visit at which the first arm ends */
    uint32_t condition; /* node */
    uint32_t control;   /* before */
    uint32_t arm;       /* control of the arms */
    uint32_t escape;    /* control of breaks and continues that leave the frame, or VYRE_NONE */
    /* loops */
    uint32_t leaving; /* join: what decides when lanes leave */
    uint32_t again;   /* control of the ends of a trip so far, or VYRE_NONE */
    uint32_t loop_vars;
    /* calls */
    vyre_stmt resume, resume_end;
    uint32_t result;
} frame;

typedef struct walk {
    vyre_shapes *s;
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_versions versions;
    uint32_t *place; /* per variable: behind its entry in loop_vars of the innermost loop that
                        assigns it; 0: none does */
    uint32_t work;   /* so far, of LOOP_WORK */
    VYRE_VEC(frame) frames;
    VYRE_VEC(loop_var) loop_vars;
    vyre_assigned assigned;
    uint32_t control;
    bool live;
    bool failed; /* out of memory */
} walk;

/* Breaks and continues of loops times their variables, over the whole program; beyond it the
 * variables are taken as varying, so that hostile programs cost no more than some milliseconds. */
enum { LOOP_WORK = 1 << 24 };

static uint32_t add_node(walk *w, shape_node node) {
    if (w->s->nodes.count >= SHAPE_NODE_MASK || !vyre_vec_push(w->a, &w->s->nodes, node)) {
        w->failed = true;
        return SHAPE_NODE_VARYING;
    }
    return w->s->nodes.count - 1;
}

/* Before the first visit: 0. */
static uint32_t top_visit(const walk *w) {
    return w->s->visits.count == 0 ? 0 : w->s->visits.count - 1;
}

/* Of versions of `var`, or of control (VYRE_NONE). */
static uint32_t add_join(walk *w, vyre_var var, uint32_t outer) {
    return add_node(w, (shape_node){.kind = SHAPE_JOIN,
                                    .shape = var == VYRE_NONE ? VYRE_SHAPE_GRID : VYRE_SHAPE_NONE,
                                    .visit = top_visit(w),
                                    .ref = VYRE_NONE,
                                    .outer = outer,
                                    .var = var});
}

static uint32_t add_value(walk *w, shape_node_kind kind, vyre_expr expr, vyre_var var) {
    return add_node(
        w, (shape_node){.kind = (uint8_t)kind, .visit = top_visit(w), .ref = expr, .var = var});
}

static uint32_t add_fixed(walk *w, vyre_var var, vyre_shape_kind shape) {
    const uint32_t now = ++w->s->clock;
    return add_node(w, (shape_node){.kind = SHAPE_FIXED,
                                    .shape = (uint8_t)shape,
                                    .differs = shape > VYRE_SHAPE_GRID,
                                    .visit = top_visit(w),
                                    .var = var,
                                    .since = {shape > VYRE_SHAPE_GRID ? now : 0,
                                              shape > VYRE_SHAPE_GROUP ? now : 0,
                                              shape == VYRE_SHAPE_VARYING ? now : 0}});
}

static uint32_t add_varying(walk *w, vyre_var var) {
    return add_fixed(w, var, VYRE_SHAPE_VARYING);
}

static void add_edge(walk *w, uint32_t join, uint32_t from, bool control) {
    if (from == join || w->failed) {
        return;
    }
    shape_edge edge = {.from = from | (uint32_t)control << 31, .next = w->s->nodes.data[join].ref};
    if (!vyre_vec_push(w->a, &w->s->edges, edge)) {
        w->failed = true;
        return;
    }
    w->s->nodes.data[join].ref = w->s->edges.count - 1;
}

/* Control under one more condition, or after one more escape. */
static uint32_t narrowed(walk *w, uint32_t control, uint32_t by) {
    const uint32_t join = add_join(w, VYRE_NONE, w->s->nodes.data[control].outer);
    add_edge(w, join, control, true);
    add_edge(w, join, by, true);
    return join;
}

static frame *top_frame(walk *w) {
    return &w->frames.data[w->frames.count - 1];
}

static void bind(walk *w, vyre_var var, uint32_t version) {
    vyre_versions_bind(&w->versions, var, version);
}

static void assign(walk *w, vyre_var var, uint32_t version) {
    vyre_versions_assign(&w->versions, var, version);
}

static frame *innermost_loop(walk *w) {
    for (uint32_t i = w->frames.count; i-- > 0;) {
        frame *f = &w->frames.data[i];
        if (f->op == VYRE_STMT_FOR || f->op == VYRE_STMT_WHILE) {
            return f;
        }
    }
    return NULL;
}

/* The variable as one of the innermost loop, or NULL. */
static loop_var *loop_var_of(walk *w, vyre_var var) {
    const frame *loop = innermost_loop(w);
    const uint32_t place = w->place[var];
    return loop && place > loop->loop_vars ? &w->loop_vars.data[place - 1] : NULL;
}

/* Lanes that went on to the next trip since the version last changed did so in one arm of the if,
 * with the version that the rest has at the arm's end. Then all of them have the version of the
 * join: if all were in that arm, it is theirs; and if the arms had parted them, the join itself
 * varies. */
static void follow_latch(walk *w, const frame *f, vyre_var var, uint32_t then, uint32_t otherwise,
                         uint32_t version) {
    loop_var *v = f->escape == VYRE_NONE ? NULL : loop_var_of(w, var);
    if (!v || v->latch == VYRE_NONE || v->first < f->visit) {
        return;
    }
    const bool in_then = v->last <= f->middle, in_else = v->first > f->middle;
    if ((in_then && v->latch == then) || (in_else && v->latch == otherwise)) {
        add_edge(w, v->head, version, false);
        v->latch = version;
    }
}

typedef struct meeting {
    walk *w;
    const frame *f; /* the `if`, popped */
    bool else_live;
} meeting;

/* What a variable is behind an `if`. */
static uint32_t merge(void *user, vyre_var var, uint32_t then, uint32_t otherwise) {
    const meeting *m = user;
    walk *w = m->w;
    if (!m->f->then_live) {
        return otherwise;
    }
    if (!m->else_live || then == otherwise) {
        return then;
    }
    const uint32_t version = add_join(w, var, VYRE_NONE);
    add_edge(w, version, then, false);
    add_edge(w, version, otherwise, false);
    add_edge(w, version, m->f->condition, true);
    follow_latch(w, m->f, var, then, otherwise, version);
    return version;
}

/* After a frame that breaks or continues left: the rest of the list is narrowed. */
static void carry_escape(walk *w, uint32_t control, uint32_t escape) {
    w->control = escape == VYRE_NONE ? control : narrowed(w, control, escape);
    if (escape == VYRE_NONE || w->frames.count == 0) {
        return;
    }
    frame *around = top_frame(w);
    if (around->op != VYRE_STMT_FOR && around->op != VYRE_STMT_WHILE) {
        around->escape = around->escape == VYRE_NONE ? escape : narrowed(w, around->escape, escape);
    }
}

static void push_frame(walk *w, frame f) {
    f.visit = top_visit(w);
    f.live_before = w->live;
    f.control = w->control;
    f.escape = VYRE_NONE;
    f.loop_vars = w->loop_vars.count;
    vyre_versions_open(&w->versions);
    w->failed |= w->versions.failed || !vyre_vec_push(w->a, &w->frames, f);
}

static frame pop_frame(walk *w) {
    return w->frames.data[--w->frames.count];
}

/* The uses of the present statement, with the versions of this moment. */
static void add_uses(walk *w, const vyre_stmt_node *stmt) {
    w->s->visits.data[top_visit(w)].first_use = w->s->uses.count;
    for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
        const vyre_expr_node *expr = &w->p->exprs[i];
        if (expr->op != VYRE_EXPR_VAR && expr->op != VYRE_EXPR_LOAD) {
            continue;
        }
        const uint32_t use = expr->op == VYRE_EXPR_VAR ? w->versions.current[expr->ref] : 0;
        if (!vyre_vec_push(w->a, &w->s->uses, use)) {
            w->failed = true;
            return;
        }
    }
}

static void set_node(walk *w, uint32_t node) {
    w->s->visits.data[top_visit(w)].node = node;
}

/* if ... else ... end */

static void open_if(walk *w, const vyre_stmt_node *stmt) {
    add_uses(w, stmt);
    frame f = {.op = VYRE_STMT_IF, .condition = add_value(w, SHAPE_VALUE, stmt->arg[0], VYRE_NONE)};
    set_node(w, f.condition);
    push_frame(w, f);
    w->control = narrowed(w, w->control, f.condition);
    if (!w->failed) {
        top_frame(w)->arm = w->control;
    }
}

static void end_then(walk *w, frame *f) {
    uint32_t changed;
    (void)vyre_versions_turn(&w->versions, &changed);
    f->middle = top_visit(w);
    f->then_live = w->live;
    w->live = f->live_before;
    w->control = f->arm;
}

static void close_if(walk *w) {
    frame *open = top_frame(w);
    if (!open->has_else) {
        end_then(w, open);
    }
    const frame f = pop_frame(w);
    const bool else_live = w->live;
    vyre_versions_join(&w->versions, merge, &(meeting){w, &f, else_live});
    w->live = f.then_live || else_live;
    carry_escape(w, f.control, f.escape);
}

/* Loops */

static void open_loop(walk *w, const vyre_stmt_node *stmt) {
    const uint32_t visit = top_visit(w);
    uint32_t trips = VYRE_NONE, index = VYRE_NONE;
    if (stmt->op == VYRE_STMT_FOR) { /* its bounds are evaluated once, before the first trip */
        add_uses(w, stmt);
        trips = add_value(w, SHAPE_TRIPS, VYRE_NONE, VYRE_NONE);
        index = add_value(w, SHAPE_INDEX, VYRE_NONE, stmt->var);
        set_node(w, trips);
    }
    const vyre_stmt at = w->s->visits.data[visit].stmt;
    const uint32_t first = w->loop_vars.count;
    const uint32_t leaving = add_join(w, VYRE_NONE, VYRE_NONE);
    for (uint32_t i = w->assigned.first[at]; i < w->assigned.first[at + 1] && !w->failed; i++) {
        const vyre_var var = w->assigned.vars[i];
        loop_var v = {.var = var,
                      .before = w->versions.current[var],
                      .head = add_join(w, var, VYRE_NONE),
                      .exit = add_join(w, var, VYRE_NONE),
                      .around = w->place[var],
                      .latch = VYRE_NONE};
        v.left = v.head;
        if (!vyre_vec_push(w->a, &w->loop_vars, v) || w->failed) {
            w->failed = true;
            return;
        }
        w->s->nodes.data[v.exit].exit = true;
        add_edge(w, v.head, v.before, false);
        add_edge(w, v.exit, v.head, false);
        add_edge(w, v.exit, leaving, true);
        w->versions.current[var] = v.head;
        w->place[var] = w->loop_vars.count;
    }
    if (stmt->op == VYRE_STMT_WHILE) { /* its condition is evaluated at each trip */
        add_uses(w, stmt);
        trips = add_value(w, SHAPE_VALUE, stmt->arg[0], VYRE_NONE);
        set_node(w, trips);
    }
    add_edge(w, leaving, trips, true);
    const uint32_t around = narrowed(w, w->control, leaving);
    if (w->s->nodes.data[around].outer != VYRE_NONE) {
        add_edge(w, around, w->s->nodes.data[around].outer, true);
    }
    push_frame(w, (frame){.op = stmt->op, .leaving = leaving, .again = VYRE_NONE});
    if (w->failed) {
        return;
    }
    top_frame(w)->loop_vars = first;
    w->control = add_join(w, VYRE_NONE, around);
    if (index != VYRE_NONE) {
        bind(w, stmt->var, index);
    }
}

/* The trip ends here with this version of the variable. If it ended with another one before, then
 * the control of all ends so far decides which one a lane has. That of this end does not: it is for
 * the lanes that took none of them, as are all that follow with the same version. */
static void end_trip(walk *w, const frame *loop, loop_var *v, uint32_t version) {
    if (version != v->latch) {
        if (v->latch != VYRE_NONE) {
            add_edge(w, v->head, loop->again, true);
        }
        add_edge(w, v->head, version, false);
        v->first = top_visit(w);
    }
    v->last = top_visit(w);
    v->latch = version;
}

/* A jump out of the trip or the loop brings the present versions. `loop` is the innermost one, so
 * its variables are the last of all. */
static void bring_versions(walk *w, frame *loop, bool leaves) {
    const uint32_t end = w->loop_vars.count;
    w->work += w->work > LOOP_WORK ? 0 : end - loop->loop_vars;
    if (w->work > LOOP_WORK) {
        loop->overflow = true;
        return;
    }
    for (uint32_t i = loop->loop_vars; i < end && !w->failed; i++) {
        loop_var *v = &w->loop_vars.data[i];
        const uint32_t version = w->versions.current[v->var];
        if (!leaves) {
            end_trip(w, loop, v, version);
            continue;
        }
        if (version != v->left) {
            add_edge(w, v->exit, version, false);
        }
        v->left = version;
    }
    if (leaves) {
        add_edge(w, loop->leaving, w->control, true);
    } else {
        loop->again = loop->again == VYRE_NONE ? w->control : narrowed(w, loop->again, w->control);
    }
}

static void jump(walk *w, bool leaves) {
    frame *loop = innermost_loop(w);
    if (!loop) {
        return;
    }
    if (w->live) {
        bring_versions(w, loop, leaves);
        frame *top = top_frame(w);
        if (top != loop && !w->failed) {
            const uint32_t control = w->control;
            top->escape = top->escape == VYRE_NONE ? control : narrowed(w, top->escape, control);
        }
    }
    w->live = false;
}

static void close_loop(walk *w) {
    if (w->live) {
        bring_versions(w, top_frame(w), false);
    }
    const frame f = pop_frame(w);
    vyre_versions_drop(&w->versions);
    for (uint32_t i = f.loop_vars; i < w->loop_vars.count; i++) {
        w->versions.current[w->loop_vars.data[i].var] = w->loop_vars.data[i].before;
        w->place[w->loop_vars.data[i].var] = w->loop_vars.data[i].around;
    }
    for (uint32_t i = f.loop_vars; i < w->loop_vars.count && !w->failed; i++) {
        const loop_var *v = &w->loop_vars.data[i];
        if (f.overflow) {
            add_edge(w, v->head, SHAPE_NODE_VARYING, false);
        }
        assign(w, v->var, v->exit);
    }
    w->loop_vars.count = f.loop_vars;
    if (f.overflow) {
        add_edge(w, f.leaving, SHAPE_NODE_VARYING, true);
    }
    w->control = f.control;
    w->live = f.live_before;
}

/* Other statements */

static void close_frame(walk *w) {
    const uint32_t opener = top_frame(w)->visit;
    w->s->visits.data[opener].link =
        w->s->visits.data[opener].link == VYRE_NONE ? top_visit(w) : w->s->visits.data[opener].link;
    w->s->visits.data[top_visit(w)].link = opener;
    switch ((uint32_t)top_frame(w)->op) {
    case VYRE_STMT_IF:
        if (top_frame(w)->has_else) {
            w->s->visits.data[w->s->visits.data[opener].link].link = top_visit(w);
        }
        close_if(w);
        break;
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: close_loop(w); break;
    default: { /* block, region: changes stay, and go into the log of the list around */
        const frame f = pop_frame(w);
        vyre_versions_close(&w->versions);
        carry_escape(w, f.control, f.escape);
        break;
    }
    }
}

/* Returns the statement to go on with. */
static vyre_stmt call(walk *w, const vyre_stmt_node *stmt, vyre_stmt at, vyre_stmt *end) {
    const vyre_fn_node *fn = &w->p->fns[stmt->fn];
    add_uses(w, stmt);
    if (fn->opaque) {
        if (stmt->var != VYRE_NONE) {
            bind(w, stmt->var, add_varying(w, stmt->var));
        }
        return at + 1;
    }
    const uint32_t first = w->s->nodes.count;
    for (uint32_t i = 0; i < stmt->arg_count; i++) {
        (void)add_value(w, SHAPE_VALUE, w->p->args[stmt->first_arg + i], fn->first_var + i);
    }
    push_frame(w, (frame){.op = VYRE_STMT_CALL,
                          .resume = at,
                          .resume_end = *end,
                          .result = SHAPE_NODE_VARYING});
    if (stmt->arg_count != 0) {
        set_node(w, first);
    }
    for (uint32_t i = 0; i < stmt->arg_count && !w->failed; i++) {
        bind(w, fn->first_var + i, first + i);
    }
    *end = fn->end;
    return fn->begin;
}

static vyre_stmt leave_call(walk *w, vyre_stmt *end) {
    const frame f = pop_frame(w);
    const vyre_stmt_node *stmt = &w->p->stmts[f.resume];
    vyre_versions_drop(&w->versions); /* a function changes no variable of its caller */
    if (stmt->var != VYRE_NONE) {
        bind(w, stmt->var, f.result);
    }
    *end = f.resume_end;
    return f.resume + 1;
}

/* What a reduction, scan or broadcast gives. A lane that asks for another gets the same as those
 * that ask for the same one. */
static void reduce(walk *w, const vyre_stmt_node *stmt) {
    if (stmt->var == VYRE_NONE) {
        return;
    }
    if (stmt->sub == VYRE_REDUCE_BROADCAST) {
        const uint32_t node = add_value(w, SHAPE_ASKED, stmt->arg[1], stmt->var);
        set_node(w, node);
        bind(w, stmt->var, node);
        return;
    }
    const bool scans = stmt->sub == VYRE_REDUCE_SCAN_ADD && stmt->op != VYRE_STMT_BASE;
    const bool by_group = !scans && (stmt->op == VYRE_STMT_GROUP || stmt->op == VYRE_STMT_BASE);
    const vyre_shape_kind shape = by_group ? VYRE_SHAPE_GROUP
                                  : scans  ? VYRE_SHAPE_VARYING
                                           : VYRE_SHAPE_GRID;
    bind(w, stmt->var, add_fixed(w, stmt->var, shape));
}

/* A subgroup operation. */
static void exchange(walk *w, const vyre_stmt_node *stmt) {
    if (stmt->var == VYRE_NONE) {
        return;
    }
    if (stmt->sub == VYRE_SUBGROUP_SHUFFLE) {
        const uint32_t node = add_value(w, SHAPE_ASKED, stmt->arg[1], stmt->var);
        set_node(w, node);
        bind(w, stmt->var, node);
        return;
    }
    const vyre_shape shape =
        vyre_subgroup_shape(w->p, (vyre_subgroup_op)stmt->sub, (vyre_shape){0});
    bind(w, stmt->var, add_fixed(w, stmt->var, (vyre_shape_kind)shape.kind));
}

static void plain(walk *w, const vyre_stmt_node *stmt) {
    add_uses(w, stmt);
    switch ((uint32_t)stmt->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN: {
        const uint32_t node = add_value(w, SHAPE_VALUE, stmt->arg[0], stmt->var);
        set_node(w, node);
        (stmt->op == VYRE_STMT_LET ? bind : assign)(w, stmt->var, node);
        break;
    }
    case VYRE_STMT_SUBGROUP: exchange(w, stmt); break;
    case VYRE_STMT_ATOMIC:
        if (stmt->var != VYRE_NONE) {
            bind(w, stmt->var, add_varying(w, stmt->var));
        }
        break;
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE: reduce(w, stmt); break;
    case VYRE_STMT_RETURN:
        if (stmt->arg[0] != VYRE_NONE && w->frames.count != 0) {
            set_node(w, add_value(w, SHAPE_VALUE, stmt->arg[0], VYRE_NONE));
            top_frame(w)->result = w->s->visits.data[top_visit(w)].node;
        }
        break;
    case VYRE_STMT_EXIT:
    case VYRE_STMT_TRAP: w->live = false; break;
    default: break;
    }
}

static void visit_next(walk *w, vyre_stmt *at, vyre_stmt *end) {
    const vyre_stmt_node *stmt = &w->p->stmts[*at];
    const shape_visit visit = {.stmt = *at,
                               .link = VYRE_NONE,
                               .first_use = w->s->uses.count,
                               .node = VYRE_NONE,
                               .control = w->control};
    if (!vyre_vec_push(w->a, &w->s->visits, visit)) {
        w->failed = true;
        return;
    }
    const uint32_t exprs = stmt->end_expr - stmt->first_expr;
    w->s->max_exprs = w->s->max_exprs < exprs ? exprs : w->s->max_exprs;
    switch ((uint32_t)stmt->op) {
    case VYRE_STMT_IF: open_if(w, stmt); break;
    case VYRE_STMT_ELSE:
        w->s->visits.data[top_frame(w)->visit].link = top_visit(w);
        top_frame(w)->has_else = true;
        end_then(w, top_frame(w));
        break;
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: open_loop(w, stmt); break;
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: push_frame(w, (frame){.op = stmt->op}); break;
    case VYRE_STMT_END: close_frame(w); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE: {
        const frame *loop = innermost_loop(w);
        w->s->visits.data[top_visit(w)].link = loop ? loop->visit : VYRE_NONE;
        jump(w, stmt->op == VYRE_STMT_BREAK);
        break;
    }
    case VYRE_STMT_CALL: *at = call(w, stmt, *at, end); return;
    default: plain(w, stmt); break;
    }
    ++*at;
}

static void walk_program(walk *w) {
    vyre_stmt at = w->p->entry, end = w->p->stmt_count;
    w->live = true;
    (void)add_varying(w, VYRE_NONE); /* SHAPE_NODE_VARYING */
    w->control = add_join(w, VYRE_NONE, VYRE_NONE);
    while (!w->failed && !w->versions.failed) {
        if (at != end) {
            visit_next(w, &at, &end);
        } else if (w->frames.count != 0) {
            at = leave_call(w, &end);
        } else {
            break;
        }
    }
}

vyre_status vyre_shapes_build(vyre_shapes *s) {
    const vyre_allocator *a = &s->allocator;
    const uint32_t vars = s->program->var_count;
    walk w = {.s = s, .p = s->program, .a = a};
    w.place = vyre_alloc_zeroed(a, vars, sizeof *w.place);
    w.failed = !vyre_versions_init(&w.versions, vars, a) || !w.place ||
               !vyre_assigned_find(s->program, a, &w.assigned);
    if (!w.failed) {
        walk_program(&w);
    }
    vyre_free(a, w.place, vars, sizeof *w.place);
    vyre_assigned_free(s->program, a, &w.assigned);
    vyre_vec_free(a, &w.frames);
    vyre_versions_finish(&w.versions);
    vyre_vec_free(a, &w.loop_vars);
    return w.failed || w.versions.failed ? VYRE_OUT_OF_MEMORY : VYRE_OK;
}
