/* A `continue` that not all lanes of the scope take, in a loop with a barrier of the scope:
 *
 *     if (c) { a; continue; } rest            ->   if (c) { a; } else { rest }
 *     if (u) { if (c) { continue; } b } rest  ->   let skip = false;
 *                                                  if (u) { if (c) { skip = true; } else { b } }
 *                                                  if (!skip) { rest }
 *
 * The rest of such a trip is divergent, so it holds no barrier of the scope, and no `break` or
 * `continue` that all take: it is one piece of what a launch does, and the flag is a private value
 * like any other. Whoever cuts at barriers is left with jumps that are taken by all or none.
 *
 * Guards reach from the jump to the end of each list around it, so what the rest declares stays
 * visible where it was. A trip runs the same statements in the same order as before, and the step
 * of a counted loop follows in any case. A jump behind the end of a lane (`exit; break;`) counts
 * for nothing and may stand in any control: it goes, or it would be taken for one that all take.
 *
 * What a list sets that ends in the jump is not seen by the rest of the trip. Where that stands
 * behind a list around, the list sets a variable of its own instead, which is handed over at the
 * end of the trip (`if (skip) { x = x_2; }`): so nothing that was uniform there varies now, and a
 * barrier of a smaller scope that was legal is.
 *
 * Cost: a few walks, one more over each such list; shapes are asked for only if there is a jump to
 * judge. A jump nests the rest of its list one deeper. */
#include "lower/lower_continue.h"

#include <string.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "ir/builder.h"
#include "ir/each.h"
#include "ir/waits.h"
#include "vyre/limits.h"

enum { IN_FIRST = 1, IN_ELSE = 2 }; /* arms that hold a jump to lower */

typedef enum fate { STAYS, LOWERED, GOES } fate;

/* A statement list that is open. */
typedef struct list {
    vyre_stmt opener;
    bool in_else;
    bool live, live_before, first_live; /* for the survey: lanes get here */
    uint32_t added;                     /* for the rewrite: constructs to end with the list */
    vyre_var skip;                      /* of a loop, or VYRE_NONE: not made yet */
} list;

/* A variable for what a list sets that ends in a lowered jump. Those of a list stand in a row. */
typedef struct shadow {
    vyre_stmt list; /* its opener or ELSE */
    vyre_var var;
    vyre_var made;  /* in the result; shared by the lists of a loop */
    vyre_var plain; /* what stood for `var` before the list, or VYRE_NONE: not in it */
    uint32_t next;  /* of the same loop, or VYRE_NONE */
    bool first;     /* of its variable among them */
} shadow;

typedef struct plan {
    const vyre_program *program;
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_split_scope scope;
    uint8_t *fates;    /* per statement */
    uint8_t *dead;     /* per statement: no lane comes there */
    uint8_t *holds;    /* per opener: the arms that hold a lowered jump out of them */
    uint32_t *waits;   /* per statement: how many before it wait for the scope */
    vyre_stmt *bound;  /* per variable: what binds it */
    vyre_var *made;    /* per variable: its shadow in the loop at hand */
    uint32_t *of_list; /* per statement that begins a list: its first shadow, or VYRE_NONE */
    uint32_t *of_loop; /* per loop: its first shadow, or VYRE_NONE */
    VYRE_VEC(list) open;
    VYRE_VEC(shadow) shadows;
    vyre_stmt too_deep; /* or VYRE_NONE */
    bool failed;
} plan;

static bool is_jump(uint8_t op) {
    return op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE;
}

static bool is_loop(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

static vyre_scope scope_of(const plan *all, vyre_stmt s) {
    return (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)all->p->stmts[s].op)->scope;
}

static list *top_list(plan *all) {
    return &all->open.data[all->open.count - 1];
}

static void open_list(plan *all, vyre_stmt s, bool live) {
    const list made = {.opener = s, .live = live, .live_before = live, .skip = VYRE_NONE};
    all->failed |= !vyre_vec_push(all->a, &all->open, made);
}

/* The survey: which jumps are to be judged. */

static void end_list(plan *all) {
    const list top = *top_list(all);
    const uint8_t op = all->p->stmts[top.opener].op;
    const bool both = top.in_else ? top.live || top.first_live : top.live_before;
    all->open.count--;
    if (all->open.count > 0) {
        top_list(all)->live = op == VYRE_STMT_IF ? both : is_loop(op) ? top.live_before : top.live;
    }
}

/* A jump that leaves or ends a trip of a loop in which lanes wait. */
static bool is_cut(const plan *all, vyre_stmt s) {
    const vyre_stmt_node *n = &all->p->stmts[s];
    return is_jump(n->op) && all->waits[all->p->stmts[n->match].match] > all->waits[n->match];
}

static void survey_stmt(plan *all, vyre_stmt s) {
    const vyre_stmt_node *n = &all->p->stmts[s];
    const vyre_scope scope = scope_of(all, s);
    list *top = top_list(all);
    all->dead[s] = !top->live;
    if (scope == VYRE_SCOPE_OPEN) {
        open_list(all, s, top->live);
    } else if (scope == VYRE_SCOPE_ELSE) {
        top->in_else = true;
        top->first_live = top->live;
        top->live = top->live_before;
    } else if (scope == VYRE_SCOPE_END) {
        end_list(all);
    } else if (is_jump(n->op) || n->op == VYRE_STMT_EXIT || n->op == VYRE_STMT_TRAP) {
        top->live = false;
    }
}

/* Whether there is a jump to judge. */
static bool survey(plan *all) {
    const vyre_program_view *p = all->p;
    uint32_t waits = 0;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        all->waits[s] = waits;
        waits += vyre_waits_for(all->scope, p->stmts[s].op);
    }
    all->open.count = 0;
    open_list(all, VYRE_NONE, true);
    bool any = false;
    for (vyre_stmt s = p->entry; s < p->stmt_count && !all->failed; s++) {
        survey_stmt(all, s);
        any |= is_cut(all, s) && (p->stmts[s].op == VYRE_STMT_CONTINUE || all->dead[s]);
    }
    return any;
}

/* Judging them. */

/* The lists around a lowered jump, up to its loop. */
static void mark_around(plan *all, vyre_stmt loop) {
    for (uint32_t i = all->open.count; all->open.data[i - 1].opener != loop; i--) {
        const list *in = &all->open.data[i - 1];
        all->holds[in->opener] |= in->in_else ? IN_ELSE : IN_FIRST;
    }
}

/* Whether a jump is to go or to be lowered; all lists are walked again to know those around. */
static bool judge(plan *all, const vyre_shapes *shapes) {
    const vyre_program_view *p = all->p;
    const vyre_shape_kind whole =
        all->scope == VYRE_SPLIT_SCOPE_GRID ? VYRE_SHAPE_GRID : VYRE_SHAPE_GROUP;
    bool any = false;
    all->open.count = 0;
    open_list(all, VYRE_NONE, true);
    for (vyre_stmt s = p->entry; s < p->stmt_count && !all->failed; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        const bool apart =
            is_cut(all, s) && !vyre_shape_uniform(vyre_shapes_control(shapes, s - p->entry), whole);
        if (apart && all->dead[s]) {
            all->fates[s] = GOES;
        } else if (apart && n->op == VYRE_STMT_CONTINUE) {
            all->fates[s] = LOWERED;
            mark_around(all, n->match);
        }
        any |= all->fates[s] != STAYS;
        survey_stmt(all, s);
    }
    return any;
}

static vyre_status ask_shapes(plan *all, bool *out_any) {
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, all->program, all->a);
    if (status == VYRE_OK) {
        *out_any = judge(all, shaped.shapes);
        vyre_shaped_finish(&shaped);
    }
    return status;
}

/* What lists set that end in a lowered jump. */

/* Whether the list goes on behind the statement. */
static bool goes_on(const plan *all, vyre_stmt s) {
    const vyre_scope next = scope_of(all, s + 1);
    return next != VYRE_SCOPE_END && next != VYRE_SCOPE_ELSE;
}

static vyre_stmt end_of(const plan *all, vyre_stmt opener) {
    const vyre_stmt end = all->p->stmts[opener].match;
    return all->p->stmts[end].op == VYRE_STMT_ELSE ? all->p->stmts[end].match : end;
}

/* Whether the first arm of the IF ends in a lowered jump, so that what follows may be its other
 * arm. */
static bool replaces_rest(const plan *all, vyre_stmt opener) {
    const vyre_stmt_node *n = &all->p->stmts[opener];
    return n->op == VYRE_STMT_IF && all->fates[n->match - 1] == LOWERED;
}

/* Whether some of the trip follows the innermost list and is not made its other arm. */
static bool is_followed(const plan *all) {
    const list *top = &all->open.data[all->open.count - 1];
    bool followed = goes_on(all, end_of(all, top->opener)) &&
                    (top->in_else || !replaces_rest(all, top->opener));
    for (uint32_t i = all->open.count - 1; !is_loop(all->p->stmts[all->open.data[i - 1].opener].op);
         i--) {
        followed |= goes_on(all, end_of(all, all->open.data[i - 1].opener));
    }
    return followed;
}

/* Where the list begins: its opener or ELSE. */
static vyre_stmt beginning(const plan *all, const list *at) {
    return at->in_else ? all->p->stmts[at->opener].match : at->opener;
}

/* Of the list that ends in the jump. */
static void add_shadows(plan *all, vyre_stmt jump) {
    const vyre_stmt first = beginning(all, top_list(all)), loop = all->p->stmts[jump].match;
    all->of_list[first] = all->shadows.count;
    for (vyre_stmt s = first; s < jump && !all->failed; s++) {
        const vyre_stmt_node *n = &all->p->stmts[s];
        if (n->op != VYRE_STMT_ASSIGN || all->bound[n->var] > first || all->made[n->var] == first) {
            continue;
        }
        all->made[n->var] = first; /* for now: the list that it was last seen in */
        const shadow made = {.list = first,
                             .var = n->var,
                             .made = VYRE_NONE,
                             .plain = VYRE_NONE,
                             .next = all->of_loop[loop]};
        all->of_loop[loop] = all->shadows.count;
        all->failed |= !vyre_vec_push(all->a, &all->shadows, made);
    }
}

static void find_shadows(plan *all) {
    const vyre_program_view *p = all->p;
    memset(all->of_list, 0xff, p->stmt_count * sizeof *all->of_list);
    memset(all->of_loop, 0xff, p->stmt_count * sizeof *all->of_loop);
    all->open.count = 0;
    open_list(all, VYRE_NONE, true);
    for (vyre_stmt s = p->entry; s < p->stmt_count && !all->failed; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->var != VYRE_NONE && n->op != VYRE_STMT_ASSIGN) {
            all->bound[n->var] = s;
        }
        if (all->fates[s] == LOWERED && !goes_on(all, s) && top_list(all)->opener != n->match &&
            is_followed(all)) {
            add_shadows(all, s);
        }
        survey_stmt(all, s);
    }
}

/* Writing the result. */

static list *loop_around(plan *all) {
    uint32_t i = all->open.count - 1;
    while (!is_loop(all->p->stmts[all->open.data[i].opener].op)) {
        i--;
    }
    return &all->open.data[i];
}

/* One more construct that ends with the present list. */
static void add_construct(plan *all, vyre_stmt s) {
    if (++top_list(all)->added > VYRE_LIMIT_NESTING) {
        all->too_deep = s;
    }
}

static void guard_rest(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    vyre_builder *b = each->rw.to;
    const vyre_expr skips = vyre_build_var(b, loop_around(all)->skip);
    vyre_build_if(b, vyre_build_op(b, VYRE_EXPR_NOT, skips, VYRE_NONE, VYRE_NONE));
    add_construct(all, s);
}

/* The shadows of the list that begins there. */
static shadow *first_shadow(plan *all, vyre_stmt begins, uint32_t *out_count) {
    const uint32_t first = all->of_list[begins];
    uint32_t end = first;
    while (end < all->shadows.count && all->shadows.data[end].list == begins) {
        end++;
    }
    *out_count = end - first;
    return first == VYRE_NONE ? NULL : &all->shadows.data[first];
}

/* What a list sets goes to variables of its own, from here to leave_list. In a list around it they
 * may be used already. */
static void enter_list(vyre_each *each, vyre_stmt begins) {
    uint32_t count;
    shadow *shadows = first_shadow(each->user, begins, &count);
    for (uint32_t i = 0; i < count; i++) {
        vyre_var *stands = &each->rw.vars[shadows[i].var];
        if (*stands != shadows[i].made) {
            shadows[i].plain = *stands;
            *stands = shadows[i].made;
            vyre_build_assign(each->rw.to, *stands, vyre_build_var(each->rw.to, shadows[i].plain));
        }
    }
}

static void leave_list(vyre_each *each) {
    plan *all = each->user;
    list *top = top_list(all);
    for (; top->added > 0; top->added--) {
        vyre_build_end(each->rw.to);
    }
    uint32_t count;
    shadow *shadows = first_shadow(all, beginning(all, top), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (shadows[i].plain != VYRE_NONE) {
            each->rw.vars[shadows[i].var] = shadows[i].plain;
            shadows[i].plain = VYRE_NONE;
        }
    }
}

static void declare_shadows(vyre_each *each, vyre_stmt loop) {
    plan *all = each->user;
    for (uint32_t i = all->of_loop[loop]; i != VYRE_NONE; i = all->shadows.data[i].next) {
        all->made[all->shadows.data[i].var] = VYRE_NONE;
    }
    for (uint32_t i = all->of_loop[loop]; i != VYRE_NONE; i = all->shadows.data[i].next) {
        shadow *at = &all->shadows.data[i];
        const vyre_var_node *var = &all->p->vars[at->var];
        at->first = all->made[at->var] == VYRE_NONE;
        if (at->first) {
            const vyre_expr zero = vyre_build_literal(each->rw.to, (vyre_type)var->type, 0);
            all->made[at->var] = vyre_build_let(each->rw.to, vyre_each_name(each, var->name), zero);
        }
        at->made = all->made[at->var];
    }
}

/* At the end of a trip: what lives longer than it. */
static void hand_over(vyre_each *each, const list *loop) {
    plan *all = each->user;
    vyre_builder *b = each->rw.to;
    bool any = false;
    for (uint32_t i = all->of_loop[loop->opener]; i != VYRE_NONE; i = all->shadows.data[i].next) {
        const shadow *at = &all->shadows.data[i];
        if (!at->first || all->bound[at->var] > loop->opener) {
            continue;
        }
        if (!any) {
            vyre_build_if(b, vyre_build_var(b, loop->skip));
        }
        any = true;
        vyre_build_assign(b, each->rw.vars[at->var], vyre_build_var(b, at->made));
    }
    if (any) {
        vyre_build_end(b);
    }
}

/* The end of a construct; true if nothing is left to copy. */
static bool close_construct(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const vyre_stmt opener = top_list(all)->opener;
    const bool has_else = top_list(all)->in_else;
    leave_list(each);
    if (is_loop(all->p->stmts[opener].op)) {
        hand_over(each, top_list(all));
    }
    all->open.count--;
    if (all->holds[opener] == 0 || !goes_on(all, s)) {
        return false;
    }
    if (replaces_rest(all, opener)) {
        if (!has_else) {
            vyre_build_else(each->rw.to);
        }
        add_construct(all, s);
    } else {
        vyre_build_end(each->rw.to);
    }
    if (!replaces_rest(all, opener) || (all->holds[opener] & IN_ELSE) != 0) {
        guard_rest(each, s);
    }
    return true;
}

/* Before the statement of a loop's own list that holds the first jump of the loop. */
static void declare_skip(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    list *top = top_list(all);
    const bool concerned =
        all->fates[s] == LOWERED || (scope_of(all, s) == VYRE_SCOPE_OPEN && all->holds[s] != 0);
    if (concerned && top->skip == VYRE_NONE && top->opener != VYRE_NONE &&
        is_loop(all->p->stmts[top->opener].op)) {
        top->skip = vyre_build_let(each->rw.to, vyre_each_name(each, "skip"),
                                   vyre_build_bool(each->rw.to, false));
        declare_shadows(each, top->opener);
    }
}

static bool replace(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const vyre_scope scope = scope_of(all, s);
    if (all->failed) {
        return true;
    }
    vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
    declare_skip(each, s);
    if (all->fates[s] == LOWERED) {
        vyre_build_assign(each->rw.to, loop_around(all)->skip, vyre_build_bool(each->rw.to, true));
        if (goes_on(all, s)) {
            guard_rest(each, s);
        }
    } else if (scope == VYRE_SCOPE_OPEN || scope == VYRE_SCOPE_ELSE) {
        if (scope == VYRE_SCOPE_ELSE) {
            leave_list(each);
            top_list(all)->in_else = true;
        } else {
            open_list(all, s, true);
        }
        vyre_rewrite_stmt(&each->rw, s);
        if (!all->failed) {
            enter_list(each, s);
        }
        return true;
    } else if (scope == VYRE_SCOPE_END) {
        return close_construct(each, s);
    }
    return all->fates[s] != STAYS;
}

static vyre_status rewrite(plan *all, vyre_program **out_program, vyre_diag *diag) {
    all->open.count = 0;
    open_list(all, VYRE_NONE, true);
    vyre_status status = all->failed ? vyre_fail_memory(diag, "splitting")
                                     : vyre_each_rewrite(all->program, NULL, replace, all, all->a,
                                                         out_program, diag);
    if (status == VYRE_OK && (all->failed || all->too_deep != VYRE_NONE)) {
        vyre_program_release(*out_program);
        *out_program = NULL;
        status = all->failed
                     ? vyre_fail_memory(diag, "splitting")
                     : vyre_fail_at(diag, VYRE_LIMIT, "",
                                    vyre_program_stmt_place(all->program, all->too_deep),
                                    "join their conditions in fewer `if`s",
                                    "more than %d jumps to the next trip that only some lanes take "
                                    "stand in one list of a loop with a barrier",
                                    (int)VYRE_LIMIT_NESTING);
    }
    return status;
}

static vyre_status lower(plan *all, vyre_program *program, vyre_program **out_program,
                         vyre_diag *diag) {
    bool any = survey(all);
    vyre_status status = all->failed ? VYRE_OUT_OF_MEMORY : VYRE_OK;
    if (status == VYRE_OK && any) {
        status = ask_shapes(all, &any);
    }
    if (status != VYRE_OK || all->failed) {
        return vyre_fail_memory(diag, "splitting");
    }
    if (any) {
        find_shadows(all);
        return rewrite(all, out_program, diag);
    }
    *out_program = vyre_program_retain(program);
    return VYRE_OK;
}

vyre_status vyre_lower_continue(vyre_program *program, vyre_split_scope scope,
                                const vyre_allocator *a, vyre_program **out_program,
                                vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    plan all = {.program = program, .p = p, .a = a, .scope = scope, .too_deep = VYRE_NONE};
    const uint64_t jumps = UINT64_C(1) << VYRE_STMT_BREAK | UINT64_C(1) << VYRE_STMT_CONTINUE;
    if ((p->stats.stmt_kinds & jumps) == 0) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    const uint32_t stmts = p->stmt_count;
    all.fates = vyre_alloc_zeroed(a, stmts, sizeof *all.fates);
    all.dead = vyre_alloc_zeroed(a, stmts, sizeof *all.dead);
    all.holds = vyre_alloc_zeroed(a, stmts, sizeof *all.holds);
    all.waits = vyre_alloc(a, stmts, sizeof *all.waits);
    all.bound = vyre_alloc_zeroed(a, p->var_count, sizeof *all.bound);
    all.made = vyre_alloc_zeroed(a, p->var_count, sizeof *all.made);
    all.of_list = vyre_alloc(a, stmts, sizeof *all.of_list);
    all.of_loop = vyre_alloc(a, stmts, sizeof *all.of_loop);
    const vyre_status status = all.fates && all.dead && all.holds && all.waits && all.bound &&
                                       all.made && all.of_list && all.of_loop
                                   ? lower(&all, program, out_program, diag)
                                   : vyre_fail_memory(diag, "splitting");
    vyre_free(a, all.fates, stmts, sizeof *all.fates);
    vyre_free(a, all.dead, stmts, sizeof *all.dead);
    vyre_free(a, all.holds, stmts, sizeof *all.holds);
    vyre_free(a, all.waits, stmts, sizeof *all.waits);
    vyre_free(a, all.bound, p->var_count, sizeof *all.bound);
    vyre_free(a, all.made, p->var_count, sizeof *all.made);
    vyre_free(a, all.of_list, stmts, sizeof *all.of_list);
    vyre_free(a, all.of_loop, stmts, sizeof *all.of_loop);
    vyre_vec_free(a, &all.open);
    vyre_vec_free(a, &all.shadows);
    return status;
}
