/* Convergence: every lane of a group comes to every barrier, also those that have ended.
 *
 * Two things need it. On some devices a barrier that an ended lane does not reach is undefined. And
 * subgroup operations that go through workgroup memory need barriers where only some subgroups may
 * have come. So where not all lanes of the group may be, lanes go on with a flag that says whether
 * they are really there:
 *
 *     exit;                      ->  _ended = true; _on = false; (and out of the run)
 *     a; b;                      ->  while (_on) { a; b; break; }      (`if` where nothing jumps)
 *     barrier;                   ->  barrier;
 *     if (c) { barrier; }        ->  let t = _on && c; any = vote(t);
 *                                    if (any) { rest = _on && !t; _on = t; barrier; _on |= rest; }
 *     while (c) { barrier; }     ->  let in = _on;
 *                                    while (true) { in = in && !_ended && c; any = vote(in);
 *                                        if (!any) { break; } _on = in; barrier; }
 *                                    _on = before && !_ended;
 *     continue; break;           ->  _on = false;   in = false; _on = false;
 *
 * A vote goes through a word of workgroup memory and two barriers:
 *
 *     _round += 1; if (x) { _vote[0] = _round; } barrier; any = _vote[0] == _round; barrier;
 *
 * so that its result is seen to be uniform. Conditions and bounds that are made of constants,
 * params, lengths and uniform ids are the same for lanes that are not there, and need none. Up to
 * the first exit that may matter everything stays as it is.
 *
 * Right because a lane that is on does what it did, in the same order; a lane that is off changes
 * nothing but its flags (expressions are total); and all lanes of a group take the same way through
 * constructs that hold barriers, since votes have one result. A variable that is bound in a guarded
 * run and used behind it is declared before the run. Cost: two barriers for each vote, where lanes
 * may have ended. Reductions and scans over the group are lowered here as well, since all lanes of
 * the group must come to them; group_any and group_all are votes. Not done: grid barriers, for
 * which a vote of the grid would be needed. */
#include "base/diag.h"
#include "ir/builder.h"
#include "lower/capabilities.h"
#include "lower/converge.h"
#include "lower/group.h"
#include "lower/rewrites.h"
#include "lower/subgroup.h"

/* A construct that holds barriers and is open. */
typedef struct frame {
    vyre_stmt opener;
    bool predicated; /* else it is copied */
    bool before;     /* lanes may have been off at its opener */
    bool counts;     /* a counted loop that all lanes run together */
    vyre_var in, was, other, rest, next;
    vyre_expr to, step;
} frame;

typedef struct plan {
    vyre_converge known;
    const vyre_program_view *p;
    bool votes, ends;
    VYRE_VEC(frame) open;
    vyre_subgroup_memory memory;
    vyre_group_memory group;
    bool group_votes; /* group_any or group_all */
    vyre_decl vote;
    vyre_var on, ended, round;
    bool maybe_off;    /* at the present statement some lane may be off */
    vyre_stmt run_end; /* of the run that is being copied; 0: none */
    bool run_guarded, run_jumps;
    bool failed;
} plan;

/* Whether lanes that are off compute the same: nothing in it that differs in the group, or that
 * they may not have computed. */
static bool is_plain(const plan *all, vyre_expr root) {
    const vyre_program_view *p = all->p;
    for (vyre_expr e = root == VYRE_NONE ? 0 : vyre_expr_first(p, root);
         root != VYRE_NONE && e <= root; e++) {
        const vyre_expr_node *n = &p->exprs[e];
        bool own = n->op == VYRE_EXPR_BUILTIN &&
                   (n->sub == VYRE_BUILTIN_GLOBAL_ID || n->sub == VYRE_BUILTIN_LOCAL_ID ||
                    n->sub == VYRE_BUILTIN_SUBGROUP_LOCAL_ID);
        if (own || n->op == VYRE_EXPR_LOAD ||
            (n->op == VYRE_EXPR_VAR && !(all->known.names[n->ref] & VYRE_NAME_PLAIN))) {
            return false;
        }
    }
    return true;
}

/* Small expressions and statements of the result */

static vyre_builder *to(const vyre_each *each) {
    return each->rw.to;
}

static vyre_expr var(vyre_each *each, vyre_var v) {
    return vyre_build_var(to(each), v);
}

static vyre_expr negate(vyre_each *each, vyre_expr x) {
    return vyre_build_op(to(each), VYRE_EXPR_NOT, x, VYRE_NONE, VYRE_NONE);
}

static vyre_expr both(vyre_each *each, vyre_expr x, vyre_expr y) {
    return vyre_build_op(to(each), VYRE_EXPR_AND, x, y, VYRE_NONE);
}

static vyre_var let(vyre_each *each, const char *name, vyre_expr value) {
    return vyre_build_let(to(each), vyre_each_name(each, name), value);
}

static void set(vyre_each *each, vyre_var v, bool value) {
    vyre_build_assign(to(each), v, vyre_build_bool(to(each), value));
}

/* x, of lanes that have not ended. */
static vyre_expr living(vyre_each *each, vyre_expr x) {
    const plan *all = each->user;
    return all->ends ? both(each, x, negate(each, var(each, all->ended))) : x;
}

static void break_unless(vyre_each *each, vyre_expr condition) {
    vyre_build_if(to(each), negate(each, condition));
    vyre_build_break(to(each));
    vyre_build_end(to(each));
}

/* Whether some lane of the group says so. */
static vyre_expr vote_on(vyre_each *each, vyre_expr says) {
    plan *all = each->user;
    vyre_builder *b = to(each);
    vyre_expr round = var(each, all->round), zero = vyre_build_u32(b, 0);
    vyre_build_assign(b, all->round,
                      vyre_build_op(b, VYRE_EXPR_ADD, round, vyre_build_u32(b, 1), VYRE_NONE));
    vyre_build_if(b, says);
    vyre_build_store(b, all->vote, zero, round);
    vyre_build_end(b);
    vyre_build_barrier(b, VYRE_SEQ_CST);
    vyre_expr any =
        vyre_build_op(b, VYRE_EXPR_EQ, vyre_build_load(b, all->vote, zero), round, VYRE_NONE);
    vyre_expr bound = var(each, let(each, "_any", any));
    vyre_build_barrier(b, VYRE_SEQ_CST);
    return bound;
}

static vyre_expr vote(vyre_each *each, vyre_var says) {
    return vote_on(each, var(each, says));
}

/* group_any, or group_all: nobody says that it is not so. */
static void replace_vote(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const bool is_all = all->p->stmts[s].sub == VYRE_REDUCE_ALL;
    vyre_expr value = vyre_rewrite_expr(&each->rw, all->p->stmts[s].arg[0]);
    vyre_builder_at(to(each), vyre_program_stmt_place(each->rw.source, s));
    if (all->group.lanes == 1) {
        vyre_group_bind(each, s, negate(each, negate(each, value)));
        return;
    }
    value = is_all ? negate(each, value) : value;
    vyre_expr any = vote_on(each, all->maybe_off ? both(each, var(each, all->on), value) : value);
    vyre_group_bind(each, s, is_all ? negate(each, any) : any);
}

/* Constructs that hold barriers */

static void open_if(vyre_each *each, frame *f) {
    plan *all = each->user;
    vyre_builder *b = to(each);
    const vyre_stmt_node *n = &all->p->stmts[f->opener];
    bool has_else = all->p->stmts[n->match].op == VYRE_STMT_ELSE;
    vyre_expr condition = vyre_rewrite_expr(&each->rw, n->arg[0]);
    vyre_var taken = let(each, "_taken", both(each, var(each, all->on), condition));
    if (has_else) {
        f->other =
            let(each, "_other", both(each, var(each, all->on), negate(each, var(each, taken))));
    }
    vyre_build_if(b, vote(each, taken));
    f->rest = let(each, "_rest", both(each, var(each, all->on), negate(each, var(each, taken))));
    vyre_build_assign(b, all->on, var(each, taken));
}

/* Lanes of the other arm are there again. */
static void close_arm(vyre_each *each, const frame *f) {
    plan *all = each->user;
    vyre_expr back =
        vyre_build_op(to(each), VYRE_EXPR_OR, var(each, all->on), var(each, f->rest), VYRE_NONE);
    vyre_build_assign(to(each), all->on, back);
    vyre_build_end(to(each));
}

static void open_else(vyre_each *each, frame *f) {
    plan *all = each->user;
    close_arm(each, f);
    vyre_build_if(to(each), vote(each, f->other));
    f->rest = let(each, "_rest", both(each, var(each, all->on), negate(each, var(each, f->other))));
    vyre_build_assign(to(each), all->on, var(each, f->other));
}

static void open_while(vyre_each *each, frame *f) {
    plan *all = each->user;
    vyre_builder *b = to(each);
    const vyre_stmt_node *n = &all->p->stmts[f->opener];
    f->was = let(each, "_was", var(each, all->on));
    f->in = let(each, "_in", var(each, all->on));
    vyre_build_while(b, vyre_build_bool(b, true));
    vyre_expr condition = vyre_rewrite_expr(&each->rw, n->arg[0]);
    vyre_build_assign(b, f->in, both(each, living(each, var(each, f->in)), condition));
    break_unless(each, vote(each, f->in));
    vyre_build_assign(b, all->on, var(each, f->in));
}

/* A loop whose bounds all lanes know runs as it is; lanes that are off run along. */
static void open_counted(vyre_each *each, frame *f) {
    plan *all = each->user;
    f->was = let(each, "_was", var(each, all->on));
    vyre_rewrite_stmt(&each->rw, f->opener);
    all->known.names[all->p->stmts[f->opener].var] |= VYRE_NAME_PLAIN;
    vyre_build_assign(to(each), all->on, living(each, var(each, f->was)));
}

static void open_for(vyre_each *each, frame *f) {
    plan *all = each->user;
    vyre_builder *b = to(each);
    const vyre_stmt_node *n = &all->p->stmts[f->opener];
    vyre_expr from = vyre_rewrite_expr(&each->rw, n->arg[0]);
    vyre_expr until = vyre_rewrite_expr(&each->rw, n->arg[1]);
    vyre_expr step = vyre_rewrite_expr(&each->rw, n->arg[2]);
    step = step == VYRE_NONE ? vyre_build_u32(b, 1) : step;
    f->was = let(each, "_was", var(each, all->on));
    f->to = var(each, let(each, "_until", until));
    f->step = vyre_builder_is_leaf(b, step) ? step : var(each, let(each, "_step", step));
    f->next = let(each, all->p->vars[n->var].name, from);
    each->rw.vars[n->var] = f->next;
    vyre_expr some = vyre_build_op(b, VYRE_EXPR_LT, var(each, f->next), f->to, VYRE_NONE);
    vyre_expr moves = vyre_build_op(b, VYRE_EXPR_NE, f->step, vyre_build_u32(b, 0), VYRE_NONE);
    f->in = let(each, "_in", both(each, var(each, all->on), both(each, some, moves)));
    vyre_build_while(b, vyre_build_bool(b, true));
    break_unless(each, vote(each, f->in));
    vyre_build_assign(b, all->on, var(each, f->in));
}

/* i + step < to, without the sum. */
static void next_trip(vyre_each *each, const frame *f) {
    vyre_builder *b = to(each);
    vyre_expr left = vyre_build_op(b, VYRE_EXPR_SUB, f->to, var(each, f->next), VYRE_NONE);
    vyre_expr more = vyre_build_op(b, VYRE_EXPR_LT, f->step, left, VYRE_NONE);
    vyre_build_assign(b, f->in, both(each, living(each, var(each, f->in)), more));
    vyre_build_assign(b, f->next,
                      vyre_build_op(b, VYRE_EXPR_ADD, var(each, f->next), f->step, VYRE_NONE));
}

/* Whether a `break` leaves this loop. */
static bool has_break(const plan *all, vyre_stmt loop) {
    for (vyre_stmt s = loop; s < all->p->stmts[loop].match; s++) {
        if (all->p->stmts[s].op == VYRE_STMT_BREAK && all->p->stmts[s].match == loop) {
            return true;
        }
    }
    return false;
}

static void open_construct(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const vyre_stmt_node *n = &all->p->stmts[s];
    bool plain = is_plain(all, n->arg[0]) && is_plain(all, n->arg[1]) && is_plain(all, n->arg[2]);
    frame f = {.opener = s,
               .before = all->maybe_off,
               .predicated = all->maybe_off ||
                             (all->known.marks[s] & (VYRE_MARK_ENDS | VYRE_MARK_APART)) != 0};
    bool nests = n->op == VYRE_STMT_BLOCK || n->op == VYRE_STMT_REGION;
    f.predicated = f.predicated && !nests && !(n->op == VYRE_STMT_IF && plain);
    f.counts = f.predicated && n->op == VYRE_STMT_FOR && plain && !has_break(all, s);
    vyre_builder_at(to(each), vyre_program_stmt_place(each->rw.source, s));
    if (!f.predicated) {
        vyre_rewrite_stmt(&each->rw, s);
    } else if (n->op == VYRE_STMT_IF) {
        open_if(each, &f);
    } else if (n->op == VYRE_STMT_WHILE) {
        open_while(each, &f);
    } else if (f.counts) {
        open_counted(each, &f);
    } else {
        open_for(each, &f);
    }
    all->maybe_off |= f.predicated;
    if (!vyre_vec_push(all->known.a, &all->open, f)) {
        vyre_builder_fail_memory(to(each));
        all->failed = true;
    }
}

static void close_construct(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    frame f = all->open.data[--all->open.count];
    uint8_t op = all->p->stmts[f.opener].op;
    vyre_builder_at(to(each), vyre_program_stmt_place(each->rw.source, s));
    if (!f.predicated) {
        vyre_rewrite_stmt(&each->rw, s);
    } else if (op == VYRE_STMT_IF) {
        close_arm(each, &f);
    } else {
        if (op == VYRE_STMT_FOR && !f.counts) {
            next_trip(each, &f);
        }
        vyre_build_end(to(each));
        vyre_build_assign(to(each), all->on, living(each, var(each, f.was)));
    }
    all->maybe_off = f.before || all->known.marks[f.opener] & VYRE_MARK_ENDS;
}

/* Runs: statements of one list that hold no barrier */

/* The first statement behind s and all that it holds. */
static vyre_stmt behind(const vyre_program_view *p, vyre_stmt s) {
    bool opens = vyre_stmt_info_of((vyre_stmt_op)p->stmts[s].op)->scope == VYRE_SCOPE_OPEN;
    return (opens ? vyre_end_of(p, s) : s) + 1;
}

/* Whether the loop around the present statement is one whose trips lanes may leave by flag. */
static frame *predicated_loop(plan *all) {
    for (uint32_t i = all->open.count; i-- > 0;) {
        if (vyre_loops(all->p->stmts[all->open.data[i].opener].op)) {
            return all->open.data[i].predicated ? &all->open.data[i] : NULL;
        }
    }
    return NULL;
}

static bool leaves_run(plan *all, vyre_stmt s) {
    return all->known.marks[s] & VYRE_MARK_ENDS ||
           (all->known.marks[s] & VYRE_MARK_JUMPS && predicated_loop(all));
}

/* A name that is bound in a guarded run and used behind it, or by others that are. */
static bool outlives(const plan *all, const vyre_stmt_node *n) {
    bool binds = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ATOMIC;
    return binds && n->var != VYRE_NONE &&
           (all->known.last_use[n->var] >= all->run_end ||
            all->known.names[n->var] & VYRE_NAME_PLAIN);
}

static const char *name_of(vyre_each *each, vyre_var v) {
    plan *all = each->user;
    const char *name = all->p->vars[v].name;
    return all->known.names[v] & VYRE_NAME_SHARED ? vyre_each_name(each, name) : name;
}

/* Declares them before the run. A value that all lanes know is given at once. */
static void declare_outliving(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    for (; s < all->run_end; s = behind(all->p, s)) {
        const vyre_stmt_node *n = &all->p->stmts[s];
        if (outlives(all, n) && !(all->known.names[n->var] & VYRE_NAME_PLAIN)) {
            vyre_expr zero = vyre_build_literal(to(each), (vyre_type)all->p->vars[n->var].type, 0);
            each->rw.vars[n->var] = vyre_build_let(to(each), name_of(each, n->var), zero);
        } else if (outlives(all, n)) {
            vyre_expr value = vyre_rewrite_expr(&each->rw, n->arg[0]);
            each->rw.vars[n->var] = vyre_build_let(to(each), name_of(each, n->var), value);
        }
    }
}

static void begin_run(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    vyre_stmt end = s;
    bool guarded = all->maybe_off || leaves_run(all, s), jumps = false;
    while (end < all->p->stmt_count && !(all->known.marks[end] & VYRE_MARK_SYNC) &&
           all->p->stmts[end].op != VYRE_STMT_END && all->p->stmts[end].op != VYRE_STMT_ELSE &&
           (guarded || !leaves_run(all, end))) {
        jumps |= leaves_run(all, end);
        end = behind(all->p, end);
    }
    all->run_end = end;
    all->run_guarded = guarded;
    all->run_jumps = jumps;
    for (vyre_stmt k = s; k < end;
         k = behind(all->p, k)) { /* see what they are before it is used */
        const vyre_stmt_node *n = &all->p->stmts[k];
        bool known = n->op == VYRE_STMT_LET && !(all->known.names[n->var] & VYRE_NAME_ASSIGNED) &&
                     ((all->known.names[n->var] & VYRE_NAME_UNIFORM && !guarded) ||
                      is_plain(all, n->arg[0]));
        if (known) {
            all->known.names[n->var] |= VYRE_NAME_PLAIN;
        }
    }
    if (guarded) {
        vyre_builder_at(to(each), vyre_program_stmt_place(each->rw.source, s));
        declare_outliving(each, s);
        (jumps ? vyre_build_while : vyre_build_if)(to(each), var(each, all->on));
    }
}

static void end_run(vyre_each *each) {
    plan *all = each->user;
    uint8_t last = all->p->stmts[all->run_end - 1].op;
    if (all->run_guarded) {
        if (all->run_jumps && !vyre_ends_lane(last) && !vyre_jumps(last)) {
            vyre_build_break(to(each));
        }
        vyre_build_end(to(each));
    }
    all->maybe_off |= all->run_jumps;
    all->run_end = 0;
}

/* The lane is off from here on, and leaves the run. */
static void leave_run(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    uint8_t op = all->p->stmts[s].op;
    frame *loop = predicated_loop(all);
    if (vyre_ends_lane(op)) {
        set(each, all->ended, true);
    } else if (op == VYRE_STMT_BREAK && loop && !loop->counts) {
        set(each, loop->in, false);
    }
    set(each, all->on, false);
    vyre_build_break(to(each));
}

static const char *fresh_name(vyre_rewriter *rw, vyre_var v, void *user) {
    return vyre_each_name(user, rw->p->vars[v].name);
}

static void copy_in_run(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const vyre_stmt_node *n = &all->p->stmts[s];
    vyre_builder_at(to(each), vyre_program_stmt_place(each->rw.source, s));
    if ((vyre_ends_lane(n->op) || vyre_jumps(n->op)) && leaves_run(all, s)) {
        leave_run(each, s);
    } else if (all->run_guarded && outlives(all, n)) {
        vyre_var declared = each->rw.vars[n->var];
        if (n->op != VYRE_STMT_LET) {
            each->rw.rename = fresh_name;
            vyre_rewrite_stmt(&each->rw, s);
            each->rw.rename = NULL;
            vyre_build_assign(to(each), declared, var(each, each->rw.vars[n->var]));
            each->rw.vars[n->var] = declared;
        } else if (!(all->known.names[n->var] & VYRE_NAME_PLAIN)) {
            vyre_build_assign(to(each), declared, vyre_rewrite_expr(&each->rw, n->arg[0]));
        }
    } else {
        vyre_rewrite_stmt(&each->rw, s);
        if (n->op == VYRE_STMT_END && vyre_loops(all->p->stmts[n->match].op) &&
            all->known.marks[n->match] & VYRE_MARK_ENDS) {
            break_unless(each, var(each, all->on));
        }
    }
}

/* Driving */

static bool replace(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    const vyre_stmt_node *n = &all->p->stmts[s];
    if (all->failed) {
        return true;
    }
    if (all->run_end == 0 && n->op == VYRE_STMT_END) {
        close_construct(each, s);
    } else if (all->run_end == 0 && n->op == VYRE_STMT_ELSE) {
        frame *f = &all->open.data[all->open.count - 1];
        if (f->predicated) {
            open_else(each, f);
        } else {
            vyre_rewrite_stmt(&each->rw, s);
        }
    } else if (all->run_end == 0 && all->known.marks[s] & VYRE_MARK_SYNC) {
        if (vyre_stmt_info_of((vyre_stmt_op)n->op)->scope == VYRE_SCOPE_OPEN) {
            open_construct(each, s);
        } else if (n->op == VYRE_STMT_SUBGROUP && all->known.lowers_subgroups) {
            vyre_subgroup_replace(each, &all->memory, s,
                                  all->maybe_off ? var(each, all->on) : VYRE_NONE);
        } else if (n->op == VYRE_STMT_GROUP && all->known.way != VYRE_GROUP_KEPT) {
            if (s == all->group.done) {
                return true;
            }
            if (vyre_group_votes(n->sub)) {
                replace_vote(each, s);
            } else {
                vyre_group_replace(each, &all->group, s,
                                   all->maybe_off ? var(each, all->on) : VYRE_NONE);
            }
        } else {
            vyre_rewrite_stmt(&each->rw, s);
        }
    } else {
        if (all->run_end == 0) {
            begin_run(each, s);
        }
        copy_in_run(each, s);
        if (s + 1 == all->run_end) {
            end_run(each);
        }
    }
    return true;
}

static vyre_expr replace_expr(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                              void *user) {
    vyre_each *each = user;
    const plan *all = each->user;
    (void)rw;
    (void)operands;
    return vyre_subgroup_id(each, &all->memory, expr);
}

static void begin(vyre_each *each) {
    plan *all = each->user;
    vyre_builder *b = to(each);
    each->rw.user = each;
    if (all->known.lowers_subgroups) {
        vyre_subgroup_begin(each, all->votes, &all->memory);
        each->rw.replace = replace_expr;
    }
    if (all->known.way != VYRE_GROUP_KEPT) {
        vyre_group_begin(each, all->known.way == VYRE_GROUP_BY_LEADER, all->votes, &all->group);
    }
    if (all->votes || all->group_votes) {
        all->vote = vyre_build_memory(b, VYRE_WORKGROUP, vyre_each_name(each, "_vote"), VYRE_U32,
                                      vyre_build_size(b, 1));
    }
    if (all->votes) {
        all->on = let(each, "_on", vyre_build_bool(b, true));
    }
    if (all->votes || all->group_votes) {
        all->round = let(each, "_round", vyre_build_u32(b, 0));
    }
    if (all->ends) {
        all->ended = let(each, "_ended", vyre_build_bool(b, false));
    }
}

static bool is_one_lane(const vyre_program_view *p) {
    return p->workgroup[0] == 1 && p->workgroup[1] == 1 && p->workgroup[2] == 1;
}

static vyre_status rewrite(plan *all, vyre_program **out_program, vyre_diag *diag) {
    uint8_t sum = 0;
    if (vyre_converge_survey(&all->known) != VYRE_OK) {
        return vyre_fail_memory(diag, "lowering");
    }
    for (vyre_stmt s = all->p->entry; s < all->p->stmt_count; s++) {
        sum |= all->known.marks[s];
        all->group_votes |= all->known.way != VYRE_GROUP_KEPT && !is_one_lane(all->p) &&
                            all->p->stmts[s].op == VYRE_STMT_GROUP &&
                            vyre_group_votes(all->p->stmts[s].sub);
    }
    all->ends = sum & VYRE_MARK_ENDS;
    all->votes = sum & (VYRE_MARK_ENDS | VYRE_MARK_APART);
    if (!all->votes && !all->known.lowers_subgroups && all->known.way == VYRE_GROUP_KEPT) {
        return VYRE_OK; /* nothing to do */
    }
    if (all->votes && !vyre_program_has_no_grid_sync(all->known.program)) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", vyre_program_place(all->known.program),
                            "split it, or run it on another device; \"ref\" can do everything",
                            "the device has a grid barrier that lanes must not end before, and "
                            "lanes of program %s may",
                            all->p->name);
    }
    return vyre_each_rewrite(all->known.program, begin, replace, all, all->known.a, out_program,
                             diag);
}

vyre_status vyre_lower_converge(vyre_program *program, const vyre_capabilities *can,
                                const vyre_allocator *a, vyre_program **out_program,
                                vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    const uint64_t kinds = p->stats.stmt_kinds;
    const uint64_t ends = UINT64_C(1) << VYRE_STMT_EXIT | UINT64_C(1) << VYRE_STMT_TRAP;
    plan all = {.known = {.program = program, .p = p, .a = a, .can = can}, .p = p};
    all.known.lowers_subgroups = vyre_lacks_subgroups(program, can);
    bool may_matter = !can->lanes_may_end && kinds & ends && kinds >> VYRE_STMT_BARRIER & 1;
    all.known.way = vyre_group_way_of(program, can);
    *out_program = NULL;
    vyre_status status = VYRE_OK;
    if (all.known.lowers_subgroups || all.known.way != VYRE_GROUP_KEPT || may_matter) {
        status = rewrite(&all, out_program, diag);
        vyre_converge_finish(&all.known);
        vyre_vec_free(a, &all.open);
    }
    if (status == VYRE_OK && !*out_program) {
        *out_program = vyre_program_retain(program);
    }
    return status;
}
