/* Webs, by SSA over structured control flow.
 *
 * One walk over the versions of variables (analysis/versions.h), which are nodes: a definition, or
 * a meeting of several. Meetings arise at the end of an `if` for what its arms changed, and at head
 * and exit of a loop for what is assigned in it (analysis/assigned.h). A jump does not visit the
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

#include "analysis/assigned.h"
#include "analysis/versions.h"
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
    bool assigned;       /* others have one definition */
    bool apart;          /* consists of several webs */
    bool named;          /* one of them has got its name */
    uint32_t web;        /* of the binding */
    vyre_stmt since;     /* where it got its version */
    uint32_t head, exit; /* meetings of the innermost loop around that assigns it, or VYRE_NONE */
} variable;

/* A variable of a loop that assigns it, and what was around. */
typedef struct loop_var {
    uint32_t before; /* version */
    uint32_t outer_head, outer_exit;
} loop_var;

typedef struct frame {
    vyre_stmt opener;
    bool reachable;             /* its beginning */
    bool then_reachable;        /* IF: the end of its first arm */
    uint32_t outer;             /* loops: frame of the next loop around */
    vyre_stmt broke, continued; /* loops: one behind the last such jump, or 0 */
} frame;

typedef struct finder {
    const vyre_program_view *p;
    const vyre_allocator *a;
    VYRE_VEC(node) nodes;
    VYRE_VEC(edge) edges;
    VYRE_VEC(frame) open;
    vyre_versions versions;
    vyre_assigned assigned;
    loop_var *loop_vars; /* as those of `assigned` */
    variable *vars;
    uint32_t *use_of;      /* per expression: the node that a VAR reads */
    uint32_t *def_of;      /* per statement: the node it makes */
    vyre_stmt *inside;     /* per statement: the opener or ELSE whose body it is in */
    uint32_t *declared_at; /* per statement: webs to be bound before it */
    bool *dissolved;       /* per statement: BLOCK or its END, to be left out */
    uint32_t loop;         /* frame of the innermost */
    bool reachable;
    bool failed;
} finder;

static vyre_scope scope_of(const vyre_stmt_node *n) {
    return (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
}

static bool is_loop(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

/* Before the walk: what encloses each statement, and which variables are assigned. */
static void survey(finder *f) {
    const vyre_program_view *p = f->p;
    vyre_stmt around = VYRE_NONE;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        vyre_scope scope = scope_of(n);
        if (scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE) {
            around = f->inside[around];
        }
        f->inside[s] = around;
        if (scope == VYRE_SCOPE_OPEN || scope == VYRE_SCOPE_ELSE) {
            around = s;
        }
        if (n->op == VYRE_STMT_ASSIGN) {
            f->vars[n->var].assigned = true;
        }
    }
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

/* The variable's version ends here: which jumps of the loop have seen it? */
static void close_version(finder *f, const variable *v, uint32_t version) {
    if (v->exit == VYRE_NONE) {
        return;
    }
    const frame *loop = &f->open.data[f->loop];
    if (loop->broke > v->since) {
        meet(f, v->exit, version);
    }
    if (loop->continued > v->since) {
        meet(f, v->head, version);
    }
}

/* Constructs */

static void open_loop(finder *f, vyre_stmt s) {
    for (uint32_t i = f->assigned.first[s]; i < f->assigned.first[s + 1] && !f->failed; i++) {
        const vyre_var var = f->assigned.vars[i];
        variable *v = &f->vars[var];
        const uint32_t before = f->versions.current[var];
        uint32_t head = add_node(f, var, VYRE_NONE), exit = add_node(f, var, VYRE_NONE);
        meet(f, head, before);
        meet(f, exit, head);
        close_version(f, v, before);
        f->versions.current[var] = head;
        f->loop_vars[i] = (loop_var){before, v->head, v->exit};
        v->since = s;
        v->head = head;
        v->exit = exit;
    }
}

static void close_loop(finder *f, vyre_stmt s) {
    const frame top = f->open.data[f->open.count - 1];
    vyre_versions_drop(&f->versions);
    for (uint32_t i = f->assigned.first[top.opener]; i < f->assigned.first[top.opener + 1]; i++) {
        const vyre_var var = f->assigned.vars[i];
        variable *v = &f->vars[var];
        const uint32_t last = f->versions.current[var];
        close_version(f, v, last);
        if (f->reachable) {
            meet(f, v->head, last);
        }
        f->versions.current[var] = f->loop_vars[i].before;
        vyre_versions_assign(&f->versions, var, v->exit);
        v->since = s;
        v->head = f->loop_vars[i].outer_head;
        v->exit = f->loop_vars[i].outer_exit;
    }
    f->loop = top.outer;
    f->reachable = top.reachable;
}

/* The first arm ends, and everything is what it was before it. */
static void turn(finder *f, vyre_stmt s) {
    frame *top = &f->open.data[f->open.count - 1];
    uint32_t count;
    const vyre_version_outcome *made = vyre_versions_turn(&f->versions, &count);
    for (uint32_t i = 0; i < count && !f->versions.failed; i++) {
        variable *v = &f->vars[made[i].var];
        close_version(f, v, made[i].after);
        v->since = s;
    }
    top->then_reachable = f->reachable;
    f->reachable = top->reachable;
}

typedef struct meeting {
    finder *f;
    vyre_stmt end;
    bool then_reachable;
} meeting;

static uint32_t meet_arms(void *user, vyre_var var, uint32_t then, uint32_t otherwise) {
    const meeting *m = user;
    finder *f = m->f;
    uint32_t met = f->reachable ? otherwise : then;
    close_version(f, &f->vars[var], otherwise);
    if (f->reachable && m->then_reachable && then != otherwise) {
        met = add_node(f, var, VYRE_NONE);
        meet(f, met, then);
        meet(f, met, otherwise);
    }
    f->vars[var].since = m->end;
    return met;
}

static void close_branch(finder *f, vyre_stmt s) {
    if (f->p->stmts[f->open.data[f->open.count - 1].opener].match == s) {
        turn(f, s); /* no ELSE: an empty one */
    }
    const bool then_reachable = f->open.data[f->open.count - 1].then_reachable;
    vyre_versions_join(&f->versions, meet_arms, &(meeting){f, s, then_reachable});
    f->reachable |= then_reachable;
}

static void open_construct(finder *f, vyre_stmt s) {
    uint8_t op = f->p->stmts[s].op;
    if (is_loop(op)) {
        open_loop(f, s);
    }
    frame made = {.opener = s, .reachable = f->reachable, .outer = f->loop};
    vyre_versions_open(&f->versions);
    f->failed |= f->versions.failed || !vyre_vec_push(f->a, &f->open, made);
    if (is_loop(op)) {
        f->loop = f->open.count - 1;
    }
}

static void close_construct(finder *f, vyre_stmt s) {
    uint8_t op = f->p->stmts[f->p->stmts[s].match].op;
    if (op == VYRE_STMT_IF) {
        close_branch(f, s);
    } else if (is_loop(op)) {
        close_loop(f, s);
    } else {
        vyre_versions_close(&f->versions);
    }
    f->open.count--;
}

/* The walk */

static void read_vars(finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    for (vyre_expr e = n->first_expr; e < n->end_expr && !f->failed; e++) {
        const vyre_expr_node *x = &f->p->exprs[e];
        if (x->op == VYRE_EXPR_VAR && f->vars[x->ref].assigned) {
            uint32_t current = f->versions.current[x->ref];
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
        close_version(f, &f->vars[n->var], f->versions.current[n->var]);
        vyre_versions_assign(&f->versions, n->var, f->def_of[s]);
    } else {
        vyre_versions_bind(&f->versions, n->var, f->def_of[s]);
    }
    f->vars[n->var].since = s;
    f->failed |= f->versions.failed;
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
            v->web = i;
        }
        v->apart |= at->def != VYRE_NONE && (!at->read || web_of(f, i) != v->web);
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
    f->failed |= !vyre_versions_init(&f->versions, f->p->var_count, f->a);
    f->failed |= !vyre_assigned_find(f->p, f->a, &f->assigned);
    f->loop_vars = vyre_alloc(f->a, f->assigned.count, sizeof *f->loop_vars);
    f->failed |= !f->loop_vars;
    f->use_of = none_for_each(f, f->p->expr_count);
    f->def_of = none_for_each(f, stmts);
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
    vyre_free(f->a, f->inside, stmts, sizeof *f->inside);
    vyre_free(f->a, f->declared_at, stmts, sizeof *f->declared_at);
    vyre_vec_free(f->a, &f->nodes);
    vyre_vec_free(f->a, &f->edges);
    vyre_vec_free(f->a, &f->open);
    vyre_versions_finish(&f->versions);
    vyre_free(f->a, f->loop_vars, f->assigned.count, sizeof *f->loop_vars);
    vyre_assigned_free(f->p, f->a, &f->assigned);
}

vyre_status vyre_webs(vyre_program *program, const vyre_allocator *a, vyre_program **out_program,
                      vyre_var **out_origin, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    finder f = {.p = p, .a = a, .loop = VYRE_NONE, .reachable = true};
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
        f.failed |= f.versions.failed;
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
