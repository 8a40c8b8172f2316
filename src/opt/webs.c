/* Webs, by SSA over structured control flow.
 *
 * One walk keeps for each variable the node that is its current value: a definition, or a meeting
 * of several. Meetings arise at the end of an `if` for what its arms changed, and at head and exit
 * of a loop for what is assigned in it, which a walk before has listed. A jump does not visit the
 * variables: when a variable gets its next value, the place of the loop's last `break` and
 * `continue` tells whether they saw the one before. In the end a meeting that something reads, be
 * it another such, is joined with all that meet there; those that nobody reads join nothing.
 *
 * A web is bound by its first definition. If that is nested and some of the web lies outside, plain
 * blocks around it are dissolved (they are nothing but a scope); if there are other constructs, the
 * web is bound, as 0, before the outermost of them. All of a web lies behind its first definition:
 * going straight ahead from the `let`, some definition is met before each use, and it reaches it.
 * For the same reason no value of a web whose first definition is in a loop goes around that loop.
 * A definition that nothing reads is left out. That is a web as well.
 *
 * Cost: one node for each variable and construct that assigns it, and a union-find over them. */
#include "opt/webs.h"

#include <string.h>

#include "base/diag.h"
#include "ir/each.h"

typedef struct node {
    vyre_var var;
    vyre_stmt def;  /* VYRE_NONE: a meeting */
    uint32_t edges; /* what meets here: a list, or VYRE_NONE */
    uint32_t up;    /* union-find */
    vyre_stmt last; /* the last statement that reads it, later: that has to do with the web */
    bool read;
    /* Of a web, at its representative: */
    vyre_var made;          /* in the result */
    uint32_t next_declared; /* before the same construct */
} node;

typedef struct edge {
    uint32_t from, next;
} edge;

typedef struct variable {
    vyre_stmt latest;    /* its binding or the last assignment seen, while listing */
    bool assigned;       /* others have one definition */
    bool apart;          /* consists of several webs */
    bool named;          /* one of them has got its name */
    uint32_t current;    /* node */
    vyre_stmt since;     /* where it became that */
    uint32_t head, exit; /* meetings of the innermost loop around that assigns it, or VYRE_NONE */
} variable;

/* A variable that is assigned in a loop and bound outside. */
typedef struct listed {
    vyre_var var;
    uint32_t next;
    uint32_t outer_head, outer_exit;
} listed;

/* A variable that an arm of an IF has changed, and what it was before. */
typedef struct change {
    vyre_var var;
    uint32_t before;
    vyre_stmt since;
    uint32_t then; /* what the first arm made of it */
} change;

typedef struct frame {
    vyre_stmt opener;
    bool reachable;             /* its beginning */
    bool then_reachable;        /* IF: the end of its first arm */
    vyre_stmt start;            /* IF: where the current arm begins */
    uint32_t first, other;      /* IF: changes of the first and of the other arm */
    uint32_t outer;             /* IF: frame of the next IF around; loops: of the next loop */
    vyre_stmt broke, continued; /* loops: one behind the last such jump, or 0 */
} frame;

typedef struct finder {
    const vyre_program_view *p;
    const vyre_allocator *a;
    VYRE_VEC(node) nodes;
    VYRE_VEC(edge) edges;
    VYRE_VEC(listed) listed;
    VYRE_VEC(change) changes;
    VYRE_VEC(frame) open;
    variable *vars;
    uint32_t *use_of;      /* per expression: the node that a VAR reads */
    uint32_t *def_of;      /* per statement: the node it makes */
    uint32_t *list_of;     /* per statement: a loop's list */
    vyre_stmt *inside;     /* per statement: the opener or ELSE whose body it is in */
    uint32_t *declared_at; /* per statement: webs to be bound before it */
    bool *dissolved;       /* per statement: BLOCK or its END, to be left out */
    uint32_t branch, loop; /* innermost frames of the kind */
    bool reachable;
    bool failed;
} finder;

static vyre_scope scope_of(const vyre_stmt_node *n) {
    return (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
}

static bool is_loop(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

/* Before the walk: what encloses each statement, and what is assigned in each loop. */

static void list_assigned(finder *f, vyre_var var, vyre_stmt s, const vyre_stmt *loops,
                          uint32_t depth) {
    variable *v = &f->vars[var];
    v->assigned = true;
    /* A loop that began before the latest assignment encloses that one too. */
    while (depth-- > 0 && loops[depth] > v->latest) {
        listed entry = {.var = var, .next = f->list_of[loops[depth]]};
        if (!vyre_vec_push(f->a, &f->listed, entry)) {
            f->failed = true;
            return;
        }
        f->list_of[loops[depth]] = f->listed.count - 1;
    }
    v->latest = s;
}

static void survey(finder *f) {
    const vyre_program_view *p = f->p;
    VYRE_VEC(vyre_stmt) loops = {0};
    vyre_stmt around = VYRE_NONE;
    for (vyre_stmt s = p->entry; s < p->stmt_count && !f->failed; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        vyre_scope scope = scope_of(n);
        if (scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE) {
            around = f->inside[around];
        }
        f->inside[s] = around;
        if (scope == VYRE_SCOPE_OPEN || scope == VYRE_SCOPE_ELSE) {
            around = s;
        }
        if (is_loop(n->op)) {
            f->failed |= !vyre_vec_push(f->a, &loops, s);
        } else if (scope == VYRE_SCOPE_END) {
            loops.count -= is_loop(p->stmts[n->match].op);
        } else if (n->op == VYRE_STMT_ASSIGN) {
            list_assigned(f, n->var, s, loops.data, loops.count);
        } else if (n->var != VYRE_NONE) {
            f->vars[n->var].latest = s;
        }
    }
    vyre_vec_free(f->a, &loops);
}

/* Nodes */

static uint32_t add_node(finder *f, vyre_var var, vyre_stmt def) {
    node made = {.var = var,
                 .def = def,
                 .edges = VYRE_NONE,
                 .up = f->nodes.count,
                 .made = VYRE_NONE,
                 .next_declared = VYRE_NONE};
    if (f->failed || !vyre_vec_push(f->a, &f->nodes, made)) {
        f->failed = true;
        return 0;
    }
    return f->nodes.count - 1;
}

static void meet(finder *f, uint32_t meeting, uint32_t from) {
    edge made = {.from = from, .next = f->failed ? VYRE_NONE : f->nodes.data[meeting].edges};
    if (f->failed || !vyre_vec_push(f->a, &f->edges, made)) {
        f->failed = true;
        return;
    }
    f->nodes.data[meeting].edges = f->edges.count - 1;
}

/* The variable's value ends here: which jumps of the loop have seen it? */
static void close_value(finder *f, const variable *v) {
    if (v->exit == VYRE_NONE) {
        return;
    }
    const frame *loop = &f->open.data[f->loop];
    if (loop->broke > v->since) {
        meet(f, v->exit, v->current);
    }
    if (loop->continued > v->since) {
        meet(f, v->head, v->current);
    }
}

/* Tells the IF around what the variable was, at the first change in an arm. */
static void remember(finder *f, vyre_var var, uint32_t before, vyre_stmt since) {
    if (f->branch != VYRE_NONE && since <= f->open.data[f->branch].start) {
        change made = {.var = var, .before = before, .since = since};
        f->failed |= !vyre_vec_push(f->a, &f->changes, made);
    }
}

static void change_value(finder *f, vyre_var var, uint32_t to, vyre_stmt s) {
    variable *v = &f->vars[var];
    close_value(f, v);
    remember(f, var, v->current, v->since);
    v->current = to;
    v->since = s;
}

/* Constructs */

static void open_loop(finder *f, vyre_stmt s) {
    for (uint32_t i = f->list_of[s]; i != VYRE_NONE && !f->failed; i = f->listed.data[i].next) {
        listed *in = &f->listed.data[i];
        variable *v = &f->vars[in->var];
        uint32_t head = add_node(f, in->var, VYRE_NONE), exit = add_node(f, in->var, VYRE_NONE);
        meet(f, head, v->current);
        meet(f, exit, head);
        change_value(f, in->var, head, s);
        in->outer_head = v->head;
        in->outer_exit = v->exit;
        v->head = head;
        v->exit = exit;
    }
}

static void close_loop(finder *f, vyre_stmt s) {
    const frame top = f->open.data[f->open.count - 1];
    for (uint32_t i = f->list_of[top.opener]; i != VYRE_NONE; i = f->listed.data[i].next) {
        const listed *in = &f->listed.data[i];
        variable *v = &f->vars[in->var];
        close_value(f, v);
        if (f->reachable) {
            meet(f, v->head, v->current);
        }
        v->current = v->exit;
        v->since = s;
        v->head = in->outer_head;
        v->exit = in->outer_exit;
    }
    f->loop = top.outer;
    f->reachable = top.reachable;
}

/* The first arm ends, and everything is what it was before it. */
static void turn(finder *f, vyre_stmt s) {
    frame *top = &f->open.data[f->open.count - 1];
    for (uint32_t i = top->first; i < f->changes.count; i++) {
        change *c = &f->changes.data[i];
        variable *v = &f->vars[c->var];
        close_value(f, v);
        c->then = v->current;
        v->current = c->before;
        v->since = s;
    }
    top->other = f->changes.count;
    top->start = s;
    top->then_reachable = f->reachable;
    f->reachable = top->reachable;
}

/* The changes of both arms become changes in the IF around, in the same place of the list. */
static void close_branch(finder *f, vyre_stmt s) {
    if (f->p->stmts[f->open.data[f->open.count - 1].opener].match == s) {
        turn(f, s); /* no ELSE: an empty one */
    }
    const frame top = f->open.data[f->open.count - 1];
    uint32_t end = f->changes.count;
    f->changes.count = top.first;
    f->branch = top.outer;
    for (uint32_t i = top.first; i < end && !f->failed; i++) {
        change c = f->changes.data[i];
        variable *v = &f->vars[c.var];
        if (i >= top.other && v->since == s) {
            continue; /* changed in both arms */
        }
        uint32_t then = i < top.other ? c.then : c.before;
        uint32_t met = f->reachable ? v->current : then;
        close_value(f, v);
        if (f->reachable && top.then_reachable && then != v->current) {
            met = add_node(f, c.var, VYRE_NONE);
            meet(f, met, then);
            meet(f, met, v->current);
        }
        v->current = met;
        v->since = s;
        remember(f, c.var, c.before, c.since);
    }
    f->reachable |= top.then_reachable;
}

static void open_construct(finder *f, vyre_stmt s) {
    uint8_t op = f->p->stmts[s].op;
    if (is_loop(op)) {
        open_loop(f, s);
    }
    frame made = {.opener = s,
                  .reachable = f->reachable,
                  .start = s,
                  .first = f->changes.count,
                  .outer = op == VYRE_STMT_IF ? f->branch : f->loop};
    f->failed |= !vyre_vec_push(f->a, &f->open, made);
    if (op == VYRE_STMT_IF) {
        f->branch = f->open.count - 1;
    } else if (is_loop(op)) {
        f->loop = f->open.count - 1;
    }
}

static void close_construct(finder *f, vyre_stmt s) {
    uint8_t op = f->p->stmts[f->p->stmts[s].match].op;
    if (op == VYRE_STMT_IF) {
        close_branch(f, s);
    } else if (is_loop(op)) {
        close_loop(f, s);
    }
    f->open.count--;
}

/* The walk */

static void read_vars(finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    for (vyre_expr e = n->first_expr; e < n->end_expr && !f->failed; e++) {
        const vyre_expr_node *x = &f->p->exprs[e];
        if (x->op == VYRE_EXPR_VAR && f->vars[x->ref].assigned) {
            uint32_t current = f->vars[x->ref].current;
            f->use_of[e] = current;
            f->nodes.data[current].read = true;
            f->nodes.data[current].last = s;
        }
    }
}

static void define(finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    if (!f->vars[n->var].assigned) {
        return;
    }
    f->def_of[s] = add_node(f, n->var, s);
    if (n->op == VYRE_STMT_ASSIGN) {
        change_value(f, n->var, f->def_of[s], s);
    } else {
        f->vars[n->var].current = f->def_of[s];
        f->vars[n->var].since = s;
    }
}

static void jump(finder *f, vyre_stmt s, bool leaves) {
    frame *loop = &f->open.data[f->loop];
    if (f->reachable) {
        *(leaves ? &loop->broke : &loop->continued) = s + 1;
    }
    f->reachable = false;
}

static void walk(finder *f) {
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count && !f->failed; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        vyre_scope scope = scope_of(n);
        if (n->op != VYRE_STMT_WHILE) { /* whose condition is read at the head */
            read_vars(f, s);
        }
        if (scope == VYRE_SCOPE_OPEN) {
            open_construct(f, s);
        } else if (scope == VYRE_SCOPE_ELSE) {
            turn(f, s);
        } else if (scope == VYRE_SCOPE_END) {
            close_construct(f, s);
        } else if (n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE) {
            jump(f, s, n->op == VYRE_STMT_BREAK);
        } else if (n->op == VYRE_STMT_EXIT || n->op == VYRE_STMT_TRAP) {
            f->reachable = false;
        } else if (n->var != VYRE_NONE) {
            define(f, s);
        }
        if (n->op == VYRE_STMT_WHILE) {
            read_vars(f, s);
        }
    }
}

/* After it: which nodes are one web. */

static uint32_t web_of(finder *f, uint32_t at) {
    node *nodes = f->nodes.data;
    while (nodes[at].up != at) {
        nodes[at].up = nodes[nodes[at].up].up;
        at = nodes[at].up;
    }
    return at;
}

static void join(finder *f, uint32_t x, uint32_t y) {
    x = web_of(f, x);
    y = web_of(f, y);
    f->nodes.data[x > y ? x : y].up = x < y ? x : y;
}

static bool join_meetings(finder *f) {
    node *nodes = f->nodes.data;
    uint32_t top = 0, *stack = vyre_alloc(f->a, f->nodes.count, sizeof *stack);
    for (uint32_t i = 0; stack && i < f->nodes.count; i++) {
        if (nodes[i].read) {
            stack[top++] = i;
        }
    }
    while (top > 0) {
        uint32_t at = stack[--top];
        for (uint32_t i = nodes[at].edges; i != VYRE_NONE; i = f->edges.data[i].next) {
            uint32_t from = f->edges.data[i].from;
            join(f, at, from);
            if (!nodes[from].read) {
                nodes[from].read = true;
                stack[top++] = from;
            }
        }
    }
    vyre_free(f->a, stack, f->nodes.count, sizeof *stack);
    return stack != NULL;
}

/* A representative is the first node of its web, and all have a definition before: it is one. */
static bool find_apart(finder *f) {
    bool any = false;
    for (uint32_t i = 0; i < f->nodes.count; i++) {
        node *at = &f->nodes.data[i], *web = &f->nodes.data[web_of(f, i)];
        vyre_stmt here = at->def != VYRE_NONE && at->def > at->last ? at->def : at->last;
        web->last = here > web->last ? here : web->last;
        variable *v = &f->vars[at->var];
        bool first = at->def != VYRE_NONE && f->p->stmts[at->def].op != VYRE_STMT_ASSIGN;
        if (first) {
            v->current = i; /* from now on: the web of the binding */
        }
        v->apart |= at->def != VYRE_NONE && (!at->read || web_of(f, i) != v->current);
        any |= v->apart;
    }
    return any;
}

/* Where the web of a first definition is bound, if not by that. */
static void place(finder *f, uint32_t web) {
    const vyre_stmt_node *stmts = f->p->stmts;
    const node *at = &f->nodes.data[web];
    vyre_stmt before = at->def;
    bool blocks = true;
    for (vyre_stmt in = f->inside[before]; in != VYRE_NONE && at->last > stmts[in].match;
         in = f->inside[before]) {
        before = stmts[in].op == VYRE_STMT_ELSE ? stmts[stmts[in].match].match : in;
        blocks &= stmts[in].op == VYRE_STMT_BLOCK;
    }
    if (!blocks) {
        f->nodes.data[web].next_declared = f->declared_at[before];
        f->declared_at[before] = web;
        return;
    }
    for (vyre_stmt s = at->def; s != before;) {
        s = f->inside[s];
        f->dissolved[s] = f->dissolved[stmts[s].match] = true;
    }
}

static void place_webs(finder *f) {
    for (uint32_t i = f->nodes.count; i-- > 0;) { /* so that lists are in order */
        const node *at = &f->nodes.data[i];
        if (at->read && at->def != VYRE_NONE && web_of(f, i) == i && f->vars[at->var].apart &&
            f->p->stmts[at->def].op == VYRE_STMT_ASSIGN) {
            place(f, i);
        }
    }
}

/* Rewriting */

static vyre_expr read_web(vyre_rewriter *rw, vyre_expr e, const vyre_expr *operands, void *user) {
    finder *f = user;
    (void)operands;
    bool apart = rw->p->exprs[e].op == VYRE_EXPR_VAR && f->vars[rw->p->exprs[e].ref].apart;
    return apart ? vyre_build_var(rw->to, f->nodes.data[web_of(f, f->use_of[e])].made) : VYRE_NONE;
}

static void begin(vyre_each *each) {
    each->rw.replace = read_web;
    each->rw.user = each->user;
}

/* The first web of a variable has its name. */
static void bind(vyre_each *each, node *web, vyre_expr value) {
    finder *f = each->user;
    const char *name = f->p->vars[web->var].name;
    web->made = vyre_build_let(each->rw.to,
                               f->vars[web->var].named ? vyre_each_name(each, name) : name, value);
    f->vars[web->var].named = true;
}

static void declare_webs(vyre_each *each, vyre_stmt s) {
    finder *f = each->user;
    for (uint32_t i = f->declared_at[s]; i != VYRE_NONE; i = f->nodes.data[i].next_declared) {
        node *web = &f->nodes.data[i];
        vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, web->def));
        bind(each, web, vyre_build_literal(each->rw.to, (vyre_type)f->p->vars[web->var].type, 0));
    }
}

static bool rewrite_stmt(vyre_each *each, vyre_stmt s) {
    finder *f = each->user;
    const vyre_stmt_node *n = &f->p->stmts[s];
    declare_webs(each, s);
    if (n->var == VYRE_NONE || !f->vars[n->var].apart) {
        return f->dissolved[s];
    }
    node *web = &f->nodes.data[web_of(f, f->def_of[s])];
    if (n->op != VYRE_STMT_LET && n->op != VYRE_STMT_ASSIGN) { /* the statement has other effects */
        vyre_rewrite_stmt(&each->rw, s);
        web->made = each->rw.vars[n->var];
        f->vars[n->var].named = true;
    } else if (web->read) {
        vyre_expr value = vyre_rewrite_expr(&each->rw, n->arg[0]);
        vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
        if (web->made == VYRE_NONE) {
            bind(each, web, value);
        } else {
            vyre_build_assign(each->rw.to, web->made, value);
        }
    }
    return true;
}

static vyre_status rewrite(finder *f, const vyre_program *program, vyre_program **out_program,
                           vyre_var **out_origin, vyre_diag *diag) {
    vyre_status status =
        vyre_each_rewrite(program, begin, rewrite_stmt, f, f->a, out_program, diag);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t count = vyre_program_get(*out_program)->var_count;
    *out_origin = vyre_alloc(f->a, count, sizeof **out_origin);
    if (!*out_origin) {
        vyre_program_release(*out_program);
        *out_program = NULL;
        return vyre_fail_memory(diag, "splitting");
    }
    memset(*out_origin, 0xff, count * sizeof **out_origin);
    for (uint32_t i = 0; i < f->nodes.count; i++) {
        if (f->nodes.data[i].made != VYRE_NONE) {
            (*out_origin)[f->nodes.data[i].made] = f->nodes.data[i].var;
        }
    }
    return VYRE_OK;
}

static uint32_t *none_for_each(finder *f, uint32_t count) {
    uint32_t *list = vyre_alloc(f->a, count, sizeof *list);
    if (list) {
        memset(list, 0xff, count * sizeof *list);
    }
    f->failed |= !list;
    return list;
}

static void start(finder *f) {
    uint32_t stmts = f->p->stmt_count;
    f->vars = vyre_alloc_zeroed(f->a, f->p->var_count, sizeof *f->vars);
    f->dissolved = vyre_alloc_zeroed(f->a, stmts, sizeof *f->dissolved);
    f->failed = !f->vars || !f->dissolved;
    f->use_of = none_for_each(f, f->p->expr_count);
    f->def_of = none_for_each(f, stmts);
    f->list_of = none_for_each(f, stmts);
    f->inside = none_for_each(f, stmts);
    f->declared_at = none_for_each(f, stmts);
    for (uint32_t i = 0; f->vars && i < f->p->var_count; i++) {
        f->vars[i].head = f->vars[i].exit = VYRE_NONE;
    }
}

static void finish(finder *f) {
    uint32_t stmts = f->p->stmt_count;
    vyre_free(f->a, f->vars, f->p->var_count, sizeof *f->vars);
    vyre_free(f->a, f->use_of, f->p->expr_count, sizeof *f->use_of);
    vyre_free(f->a, f->dissolved, stmts, sizeof *f->dissolved);
    vyre_free(f->a, f->def_of, stmts, sizeof *f->def_of);
    vyre_free(f->a, f->list_of, stmts, sizeof *f->list_of);
    vyre_free(f->a, f->inside, stmts, sizeof *f->inside);
    vyre_free(f->a, f->declared_at, stmts, sizeof *f->declared_at);
    vyre_vec_free(f->a, &f->nodes);
    vyre_vec_free(f->a, &f->edges);
    vyre_vec_free(f->a, &f->listed);
    vyre_vec_free(f->a, &f->changes);
    vyre_vec_free(f->a, &f->open);
}

vyre_status vyre_webs(vyre_program *program, const vyre_allocator *a, vyre_program **out_program,
                      vyre_var **out_origin, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    finder f = {.p = p, .a = a, .branch = VYRE_NONE, .loop = VYRE_NONE, .reachable = true};
    vyre_status status = VYRE_OK;
    *out_origin = NULL;
    if (!(p->stats.stmt_kinds >> VYRE_STMT_ASSIGN & 1)) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    start(&f);
    if (!f.failed) {
        survey(&f);
        walk(&f);
    }
    if (f.failed || !join_meetings(&f)) {
        status = vyre_fail_memory(diag, "splitting");
    } else if (find_apart(&f)) {
        place_webs(&f);
        status = rewrite(&f, program, out_program, out_origin, diag);
    } else {
        *out_program = vyre_program_retain(program);
    }
    finish(&f);
    return status;
}
