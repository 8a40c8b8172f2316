/* Segments that are one trip of a turned loop (opt/opt_trips.h): all trips can run as one launch of
 * a wider grid if lanes do not care which trip they are in. Lane x of trip t, which is at t + x,
 * runs as lane x + t - t0 of the trip at t0.
 *
 * Why that is right: the segment knows its lane along x and the trip by their sum alone, and by
 * comparing the lane with what saturating subtraction leaves of something behind the trip: x <
 * sat_sub(n, t) says the same of x + d and t - d, since both hold only if t + x < n. So the wide
 * lane computes what the lane of its trip computes, from what that loads. Now trips of a lane may
 * run in any order and at the same time: what is stored is touched by nothing but accesses at i *
 * scale + c, i being the sum, where c stays below the scale from the least one on, so that each i
 * has elements of its own; or it is changed by atomics of one kind alone, of which nobody sees the
 * old value, or by one store of one value to one element. Other lanes are no matter: what they
 * touch without a grid barrier in between was free to come in any order.
 *
 * One walk over the segment, definitions before uses. Looking ahead at run time costs a step of the
 * schedule for a trip, and a comparison of all scalars. */
#include "backend/cpu/trips.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "ir/program.h"
#include "ir/touches.h"

/* What an expression or a variable knows of the lane and the trip. */
typedef enum know {
    KNOWS_NOTHING,
    KNOWS_SUM,  /* scale * (trip + lane) + offset, exactly */
    KNOWS_MORE, /* some function of the sum and of what is loaded */
    IS_LANE,
    IS_TRIP,
    IS_LEFT, /* sat_sub(nothing, trip) */
    KNOWS_APART
} know;

typedef struct known {
    uint8_t what; /* know */
    uint32_t scale, offset;
} known;

/* Per declaration: how it is touched. */
typedef struct touched {
    uint8_t joins;       /* 1 + the kind of atomics that nobody asks back */
    bool mixed;          /* there are other atomics */
    bool same;           /* all trips store one value to one element, by one statement */
    bool stored, anyhow; /* at an index that is no SUM, or at two that do not fit together */
    uint32_t scale, least, most;
} touched;

typedef struct finder {
    const vyre_program_view *p;
    vyre_decl trip;
    known *exprs, *vars;
    uint8_t *bound; /* per variable: how often it is, 2 for more */
    touched *decls;
} finder;

/* Scales and offsets; trips until somebody looks at the clock. */
enum { MOST = 1 << 12, MOST_TRIPS = 4096 };

static known sum(uint64_t scale, uint64_t offset) {
    const bool fits = scale > 0 && scale <= MOST && offset <= MOST;
    return fits ? (known){KNOWS_SUM, (uint32_t)scale, (uint32_t)offset} : (known){KNOWS_MORE, 0, 0};
}

static bool is_together(known k) {
    return k.what <= KNOWS_MORE;
}

/* Sums, products and differences that tell lane and trip only together. */
static known combined(const finder *f, const vyre_expr_node *n) {
    const known x = f->exprs[n->u.arg[0]], y = f->exprs[n->u.arg[1]];
    const known at = x.what == KNOWS_SUM ? x : y;
    const vyre_expr_node *by = &f->p->exprs[n->u.arg[x.what == KNOWS_SUM]];
    const bool literal = at.what == KNOWS_SUM && by->op == VYRE_EXPR_LITERAL;
    const uint64_t bits = literal ? by->u.bits : 0;
    switch ((int)n->op) {
    case VYRE_EXPR_ADD:
        if ((x.what == IS_LANE && y.what == IS_TRIP) || (x.what == IS_TRIP && y.what == IS_LANE)) {
            return sum(1, 0);
        }
        if (literal) {
            return sum(at.scale, at.offset + bits);
        }
        break;
    case VYRE_EXPR_MUL:
        if (literal && bits <= MOST) {
            return sum(at.scale * bits, at.offset * bits);
        }
        break;
    case VYRE_EXPR_SAT_SUB:
        if (x.what == KNOWS_NOTHING && y.what == IS_TRIP) {
            return (known){IS_LEFT, 0, 0};
        }
        break;
    case VYRE_EXPR_LT:
        if (x.what == IS_LANE && y.what == IS_LEFT) {
            return (known){KNOWS_MORE, 0, 0};
        }
        break;
    default: break;
    }
    return (known){KNOWS_APART, 0, 0};
}

static void touch(finder *f, vyre_decl decl, known index, bool stores) {
    touched *t = &f->decls[decl];
    t->stored |= stores;
    t->anyhow |= t->same;
    if (index.what != KNOWS_SUM || (t->scale && t->scale != index.scale)) {
        t->anyhow = true;
        return;
    }
    t->least = !t->scale || index.offset < t->least ? index.offset : t->least;
    t->most = index.offset > t->most ? index.offset : t->most;
    t->scale = index.scale;
    t->anyhow |= t->most - t->least >= t->scale;
}

static known judge(finder *f, vyre_expr e) {
    const vyre_expr_node *n = &f->p->exprs[e];
    if (n->op == VYRE_EXPR_VAR) {
        return f->vars[n->ref];
    }
    if (n->op == VYRE_EXPR_BUILTIN) {
        return (known){n->sub == VYRE_BUILTIN_GLOBAL_ID && n->axis == 0 ? IS_LANE : KNOWS_NOTHING,
                       0, 0};
    }
    if (n->op == VYRE_EXPR_REF) {
        return (known){n->ref == f->trip ? IS_TRIP : KNOWS_NOTHING, 0, 0};
    }
    bool nothing = true, together = true;
    for (uint32_t k = 0; k < vyre_expr_arity(n); k++) {
        const known arg = f->exprs[n->u.arg[k]];
        nothing &= arg.what == KNOWS_NOTHING;
        together &= is_together(arg);
    }
    if (n->op == VYRE_EXPR_LOAD) { /* others may store meanwhile: it is no constant */
        touch(f, n->ref, f->exprs[n->u.arg[0]], false);
        return (known){together ? KNOWS_MORE : KNOWS_APART, 0, 0};
    }
    if (nothing) {
        return (known){KNOWS_NOTHING, 0, 0};
    }
    const known k = vyre_expr_arity(n) == 2 ? combined(f, n) : (known){KNOWS_APART, 0, 0};
    return k.what == KNOWS_APART && together ? (known){KNOWS_MORE, 0, 0} : k;
}

static void count_bindings(finder *f) {
    for (vyre_stmt i = 0; i < f->p->stmt_count; i++) {
        const vyre_var var = f->p->stmts[i].var;
        if (var != VYRE_NONE && f->bound[var] < 2) {
            f->bound[var] = f->bound[var] == 0 && f->p->stmts[i].op == VYRE_STMT_LET ? 1 : 2;
        }
    }
    for (vyre_var v = 0; v < f->p->var_count; v++) {
        f->vars[v] = (known){KNOWS_MORE, 0, 0};
    }
}

/* Statements beyond these make somebody wait, end, trap, or order trips by atomics. */
static bool is_plain(uint8_t op) {
    return op == VYRE_STMT_LET || op == VYRE_STMT_ASSIGN || op == VYRE_STMT_STORE ||
           op == VYRE_STMT_IF || op == VYRE_STMT_ELSE || op == VYRE_STMT_FOR ||
           op == VYRE_STMT_WHILE || op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE ||
           op == VYRE_STMT_REGION || op == VYRE_STMT_END;
}

/* Atomics on integers whose old value nobody asks for come in any order. */
static bool joins(const finder *f, const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_ATOMIC && s->var == VYRE_NONE &&
           vyre_atomic_joins((vyre_atomic_op)s->sub) != VYRE_EXPR_COUNT &&
           !vyre_type_is_float((vyre_type)f->p->decls[s->decl].type);
}

/* A store of what no lane and no trip has for itself, to memory that was not touched so far. */
static bool is_first_of_same(const finder *f, const vyre_stmt_node *s) {
    const touched *t = &f->decls[s->decl];
    return f->exprs[s->arg[0]].what == KNOWS_NOTHING && f->exprs[s->arg[1]].what == KNOWS_NOTHING &&
           !t->same && !t->stored && !t->anyhow && !t->joins && t->scale == 0;
}

static bool look_at(finder *f, vyre_stmt i) {
    const vyre_stmt_node *s = &f->p->stmts[i];
    bool together = is_plain(s->op) || joins(f, s);
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        f->exprs[e] = judge(f, e);
        together &= f->exprs[e].what != KNOWS_APART;
    }
    const bool names = s->op == VYRE_STMT_LET && f->bound[s->var] == 1;
    for (int k = 0; k < 3 && !names; k++) {
        together &= s->arg[k] == VYRE_NONE || is_together(f->exprs[s->arg[k]]);
    }
    if (names) {
        f->vars[s->var] = f->exprs[s->arg[0]];
    }
    if (together && s->op == VYRE_STMT_STORE && is_first_of_same(f, s)) {
        f->decls[s->decl].same = true;
    } else if (together && s->op == VYRE_STMT_STORE) {
        touch(f, s->decl, f->exprs[s->arg[0]], true);
    }
    if (together && s->op == VYRE_STMT_ATOMIC) {
        touched *t = &f->decls[s->decl];
        t->mixed |= t->joins && t->joins != s->sub + 1;
        t->joins = (uint8_t)(s->sub + 1);
    }
    return together;
}

/* Whether the segment is as told above, with that param for the trip; *out_scale: of what is
 * stored, at most. */
static bool is_one_of_many(finder *f, uint32_t *out_scale) {
    bool together = f->p->entry == 0; /* no functions */
    count_bindings(f);
    for (vyre_stmt i = 0; i < f->p->stmt_count && together; i++) {
        together = look_at(f, i);
    }
    *out_scale = 1;
    for (vyre_decl d = 0; d < f->p->decl_count && together; d++) {
        const touched *t = &f->decls[d];
        if (t->joins) {
            together = !t->mixed && !t->same && !t->stored && !t->anyhow && t->scale == 0;
        }
        if (t->same) {
            together &= !t->anyhow;
        }
        if (together && t->stored && f->p->decls[d].role != VYRE_PRIVATE) {
            together = !t->anyhow;
            *out_scale = t->scale > *out_scale ? t->scale : *out_scale;
        }
    }
    return together;
}

static vyre_status look_for(finder *f, const vyre_allocator *a, cpu_trips *out_trips,
                            vyre_diag *diag) {
    f->exprs = vyre_alloc_zeroed(a, f->p->expr_count, sizeof *f->exprs);
    f->vars = vyre_alloc_zeroed(a, f->p->var_count, sizeof *f->vars);
    f->bound = vyre_alloc_zeroed(a, f->p->var_count, sizeof *f->bound);
    f->decls = vyre_alloc_zeroed(a, f->p->decl_count, sizeof *f->decls);
    vyre_status status = VYRE_OK;
    uint32_t scale;
    if (!f->exprs || !f->vars || !f->bound || !f->decls) {
        status = vyre_fail_memory(diag, "a segment");
    } else if (is_one_of_many(f, &scale)) {
        *out_trips = (cpu_trips){.decl = f->trip, .most = UINT32_MAX / scale - MOST};
    }
    vyre_free(a, f->exprs, f->p->expr_count, sizeof *f->exprs);
    vyre_free(a, f->vars, f->p->var_count, sizeof *f->vars);
    vyre_free(a, f->bound, f->p->var_count, sizeof *f->bound);
    vyre_free(a, f->decls, f->p->decl_count, sizeof *f->decls);
    return status;
}

/* A param that is added to the lane; one that names something else fails later. */
static vyre_decl find_param(const vyre_program_view *p) {
    for (vyre_expr e = 0; e < p->expr_count; e++) {
        const vyre_expr_node *n = &p->exprs[e];
        for (int k = 0; k < 2 && n->op == VYRE_EXPR_ADD; k++) {
            const vyre_expr_node *x = &p->exprs[n->u.arg[k]], *y = &p->exprs[n->u.arg[1 - k]];
            if (x->op == VYRE_EXPR_REF && x->type == VYRE_U32 && y->op == VYRE_EXPR_BUILTIN &&
                y->sub == VYRE_BUILTIN_GLOBAL_ID && y->axis == 0) {
                return x->ref;
            }
        }
    }
    return VYRE_NONE;
}

vyre_status cpu_trips_find(const vyre_program *segment, const vyre_allocator *a,
                           cpu_trips *out_trips, vyre_diag *diag) {
    finder f = {.p = vyre_program_get(segment)};
    *out_trips = (cpu_trips){0};
    f.trip = find_param(f.p);
    return f.trip == VYRE_NONE ? VYRE_OK : look_for(&f, a, out_trips, diag);
}

/* Looking ahead. */

/* Whether leaving the step leads to it again, with the trip so much further and nothing else
 * different. */
static bool comes_again(const vyre_position *at, const vyre_segment_binding *bound,
                        const cpu_trips *trips, uint64_t width) {
    const vyre_module_view *m = vyre_module_get(at->module);
    const vyre_step *step = &m->steps[at->step];
    const bool yes = step->decides == VYRE_NONE || vyre_position_scalar(at, step->decides) != 0;
    bool same = (yes ? step->next : step->otherwise) == at->step;
    const uint32_t count = vyre_program_get(m->segments[step->segment])->decl_count;
    for (vyre_decl d = 0; d < count && same; d++) {
        const vyre_segment_decl what = m->decls[step->segment][d];
        if (what.kind == VYRE_DECL_SCALAR) {
            const uint64_t next = vyre_position_scalar(at, what.ref);
            same = next == bound->values[d] + (d == trips->decl ? width : 0);
        }
        same &= what.kind != VYRE_DECL_TICK && what.kind != VYRE_DECL_EXPECT;
    }
    return same;
}

uint32_t cpu_trips_fold(vyre_position *at, const vyre_module_launch *pass, const cpu_trips *trips,
                        uint64_t width) {
    const vyre_module_view *m = vyre_module_get(at->module);
    const vyre_step *step = &m->steps[at->step];
    if (step->sync || step->asks || step->collective != VYRE_NONE ||
        step->exchange_begin < step->exchange_end ||
        vyre_step_reads_entering(at->module, at->step) ||
        vyre_step_reads_leaving(at->module, at->step)) {
        return 1;
    }
    const vyre_segment_binding *bound = &pass->segments[step->segment];
    const uint64_t first = bound->values[trips->decl];
    uint32_t count = 1;
    while (count < MOST_TRIPS && first + (count + 1) * width <= trips->most &&
           comes_again(at, bound, trips, width)) {
        (void)vyre_position_leave(at, pass, NULL, NULL); /* nothing is read */
        (void)vyre_position_enter(at, pass, NULL, NULL, NULL);
        count++;
    }
    bound->values[trips->decl] = first;
    return count;
}
