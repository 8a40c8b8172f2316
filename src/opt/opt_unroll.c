/* Which loops become bodies, and why that is exact.
 *
 * Begin, end and step are literals or consts, so trips and their numbers are known, and no trip
 * would pass 2^32. Nobody leaves the body early, and it waits for nobody. So the bodies one after
 * the other do what the loop does, with a literal for its variable; what a body binds gets names of
 * its own. Loops stay small: few trips, and few nodes in all of them.
 *
 * An index is looked for that is made of a clamp, choice or remainder in which both the lane and
 * the trip are: one walk marks what expressions and variables depend on, whoever assigns them. */
#include "opt/opt_unroll.h"

#include "base/diag.h"
#include "ir/each.h"
#include "ir/fold.h"

enum { MOST_TRIPS = 32, MOST_NODES = 1024 };

typedef enum depends {
    ON_TRIP = 1,
    ON_LANE = 2,
    ON_BOTH = ON_TRIP | ON_LANE,
    IS_CUT = 4 /* by both */
} depends;

typedef struct finder {
    const vyre_program_view *p;
    uint8_t *exprs, *vars; /* sets of depends */
    vyre_stmt copied;      /* statements before this one are dealt with */
    vyre_each *each;
    vyre_var var; /* of the loop that is copied, */
    uint32_t at;  /* in the trip at work */
    uint32_t loops;
} finder;

static bool literal_of(const vyre_program_view *p, vyre_expr expr, uint32_t *out) {
    const vyre_expr_node *n = &p->exprs[expr];
    uint64_t bits = n->u.bits;
    const bool is_const = n->op == VYRE_EXPR_REF && p->decls[n->ref].role == VYRE_CONST;
    const bool known =
        n->op == VYRE_EXPR_LITERAL || (is_const && vyre_fold_const(p, n->ref, &bits));
    *out = (uint32_t)bits;
    return known;
}

/* Trips of a loop whose numbers are known; 0: they are not, or none, or too many. */
static uint32_t trips_of(const vyre_program_view *p, vyre_stmt loop, uint32_t *from,
                         uint32_t *step) {
    const vyre_stmt_node *s = &p->stmts[loop];
    uint32_t to;
    *step = 1;
    if (s->op != VYRE_STMT_FOR || !literal_of(p, s->arg[0], from) ||
        !literal_of(p, s->arg[1], &to) ||
        (s->arg[2] != VYRE_NONE && !literal_of(p, s->arg[2], step)) || *step == 0 || *from >= to) {
        return 0;
    }
    const uint32_t trips = (to - *from - 1) / *step + 1;
    return trips <= MOST_TRIPS && to <= UINT32_MAX - *step ? trips : 0;
}

static bool is_straight(const vyre_program_view *p, vyre_stmt loop) {
    bool straight = true;
    for (vyre_stmt i = loop + 1; i < p->stmts[loop].match; i++) {
        const uint8_t op = p->stmts[i].op;
        straight &= op == VYRE_STMT_LET || op == VYRE_STMT_ASSIGN || op == VYRE_STMT_STORE ||
                    op == VYRE_STMT_IF || op == VYRE_STMT_ELSE || op == VYRE_STMT_END ||
                    op == VYRE_STMT_BLOCK;
    }
    return straight;
}

/* What the expressions of a statement depend on. */
static void mark_exprs(finder *f, const vyre_stmt_node *s) {
    for (vyre_expr i = s->first_expr; i < s->end_expr; i++) {
        const vyre_expr_node *n = &f->p->exprs[i];
        const bool is_id = n->op == VYRE_EXPR_BUILTIN && n->sub == VYRE_BUILTIN_GLOBAL_ID;
        uint8_t on = n->op == VYRE_EXPR_VAR ? f->vars[n->ref] : is_id && n->axis == 0 ? ON_LANE : 0;
        for (uint32_t k = 0; k < vyre_expr_info_of((vyre_expr_op)n->op)->arity; k++) {
            on |= f->exprs[n->u.arg[k]];
        }
        const bool cuts = n->op == VYRE_EXPR_MIN || n->op == VYRE_EXPR_MAX ||
                          n->op == VYRE_EXPR_REM || n->op == VYRE_EXPR_SELECT ||
                          n->op == VYRE_EXPR_COND;
        f->exprs[i] = (uint8_t)(n->op == VYRE_EXPR_LOAD             ? 0
                                : cuts && (on & ON_BOTH) == ON_BOTH ? on | IS_CUT
                                                                    : on);
    }
}

/* Whether an index in the loop is cut by lane and trip. */
static bool is_worth(finder *f, vyre_stmt loop) {
    const vyre_program_view *p = f->p;
    bool worth = false;
    f->vars[p->stmts[loop].var] = ON_TRIP;
    for (vyre_stmt i = loop + 1; i < p->stmts[loop].match; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        mark_exprs(f, s);
        if (s->var != VYRE_NONE) {
            f->vars[s->var] |= f->exprs[s->arg[0]];
        }
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            worth |= p->exprs[k].op == VYRE_EXPR_LOAD &&
                     (f->exprs[p->exprs[k].u.arg[0]] & IS_CUT) &&
                     p->decls[p->exprs[k].ref].role != VYRE_PRIVATE;
        }
    }
    return worth;
}

/* Variables that depend on the lane, whatever loop they are in. */
static void mark_vars(finder *f) {
    bool more = true;
    while (more) {
        more = false;
        for (vyre_stmt i = f->p->entry; i < f->p->stmt_count; i++) {
            const vyre_stmt_node *s = &f->p->stmts[i];
            mark_exprs(f, s);
            if (s->var != VYRE_NONE && s->arg[0] != VYRE_NONE &&
                (f->exprs[s->arg[0]] & ~f->vars[s->var]) != 0) {
                f->vars[s->var] |= f->exprs[s->arg[0]];
                more = true;
            }
        }
    }
}

static bool is_chosen(finder *f, vyre_stmt loop) {
    const vyre_program_view *p = f->p;
    uint32_t from, step;
    const uint32_t trips = trips_of(p, loop, &from, &step);
    const vyre_stmt_node *s = &p->stmts[loop];
    return trips > 0 && (p->stmts[s->match].end_expr - s->end_expr) * trips <= MOST_NODES &&
           is_straight(p, loop) && is_worth(f, loop);
}

static vyre_expr replace_var(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                             void *user) {
    const finder *f = user;
    const vyre_expr_node *n = &rw->p->exprs[expr];
    (void)operands;
    return n->op == VYRE_EXPR_VAR && n->ref == f->var ? vyre_build_u32(rw->to, f->at) : VYRE_NONE;
}

static const char *rename_copy(vyre_rewriter *rw, vyre_var var, void *user) {
    const finder *f = user;
    return vyre_each_name(f->each, rw->p->vars[var].name);
}

static bool replace(vyre_each *each, vyre_stmt stmt) {
    finder *f = each->user;
    vyre_rewriter *rw = &each->rw;
    uint32_t from, step;
    if (stmt < f->copied) {
        return true;
    }
    if (f->p->stmts[stmt].op != VYRE_STMT_FOR || !is_chosen(f, stmt)) {
        return false;
    }
    const uint32_t trips = trips_of(f->p, stmt, &from, &step);
    f->each = each;
    f->var = f->p->stmts[stmt].var;
    rw->replace = replace_var;
    rw->rename = rename_copy;
    rw->user = f;
    for (uint32_t i = 0; i < trips; i++) {
        f->at = from + i * step;
        vyre_rewrite_range(rw, stmt + 1, f->p->stmts[stmt].match);
    }
    rw->replace = NULL;
    rw->rename = NULL;
    rw->user = NULL;
    f->copied = f->p->stmts[stmt].match + 1;
    return true;
}

vyre_status vyre_opt_unroll(const vyre_program *program, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    finder f = {.p = p};
    *out_program = NULL;
    if (!(p->stats.stmt_kinds >> VYRE_STMT_FOR & 1)) {
        return VYRE_OK;
    }
    f.exprs = vyre_alloc_zeroed(a, p->expr_count, sizeof *f.exprs);
    f.vars = vyre_alloc_zeroed(a, p->var_count, sizeof *f.vars);
    vyre_status status = f.exprs && f.vars ? VYRE_OK : vyre_fail_memory(diag, "loops");
    if (status == VYRE_OK) {
        mark_vars(&f);
        for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
            f.loops += p->stmts[i].op == VYRE_STMT_FOR && is_chosen(&f, i);
        }
    }
    if (status == VYRE_OK && f.loops > 0) {
        status = vyre_each_rewrite(program, NULL, replace, &f, a, out_program, diag);
    }
    vyre_free(a, f.exprs, p->expr_count, sizeof *f.exprs);
    vyre_free(a, f.vars, p->var_count, sizeof *f.vars);
    return status;
}
