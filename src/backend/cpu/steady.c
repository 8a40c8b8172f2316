/* Which accesses in innermost counted loops are steady: their index is `at the first trip` + step *
 * trip, modulo 2^32, where nothing in it is loaded in the loop, and the step does not change from
 * trip to trip. Whether all of them are inside can be asked once for many trips (emit_loop.c).
 *
 * An expression STAYS if it is made of what the loop does not assign: literals, params, lengths,
 * ids, and variables that are bound outside and not assigned inside; loads never do, since another
 * lane may write meanwhile. It MOVES by a step per trip if it is the loop's variable, a sum or
 * difference of such, a product with what stays, or a variable that is bound to such an expression
 * inside. A step is known if only literals are in it. One walk over the body, operands before users
 * and definitions before uses. */
#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "ir/program.h"

enum { MOST_EXPRS = 256, MOST_STEP = 1 << 20 };

typedef struct finder {
    const vyre_program_view *p;
    cpu_site *sites; /* per expression, then per statement */
    cpu_site *vars;
    vyre_stmt loop;
} finder;

static bool is_loop(const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_WHILE;
}

/* Innermost, not large, and no lane ends in it. */
static bool is_candidate(const vyre_program_view *p, vyre_stmt loop) {
    const vyre_stmt_node *s = &p->stmts[loop];
    if (s->op != VYRE_STMT_FOR || s->match <= loop + 1 ||
        p->stmts[s->match].end_expr > s->end_expr + MOST_EXPRS) {
        return false;
    }
    bool innermost = true;
    for (vyre_stmt i = loop + 1; i < s->match && innermost; i++) {
        const uint8_t op = p->stmts[i].op;
        innermost = !is_loop(&p->stmts[i]) && op != VYRE_STMT_EXIT && op != VYRE_STMT_TRAP;
    }
    return innermost;
}

static bool is_word(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_I32;
}

static cpu_site moving(int64_t step, bool known) {
    const bool fits = known && step >= -MOST_STEP && step <= MOST_STEP;
    return (cpu_site){.kind = CPU_MOVES, .known = fits, .step = fits ? (int32_t)step : 0};
}

/* The step of what stays is 0; of what moves it may not be known. */
static bool is_known(const cpu_site *s) {
    return s->kind == CPU_STAYS || s->known;
}

static cpu_site product(const finder *f, const vyre_expr_node *n) {
    const cpu_site *x = &f->sites[n->u.arg[0]], *y = &f->sites[n->u.arg[1]];
    const bool shift = n->op == VYRE_EXPR_SHL, first = x->kind == CPU_MOVES;
    const vyre_expr_node *by = &f->p->exprs[n->u.arg[first ? 1 : 0]];
    const cpu_site *moves = first ? x : y;
    if ((first ? y : x)->kind != CPU_STAYS || (shift && !first)) {
        return (cpu_site){.kind = CPU_VARIES};
    }
    if (by->op != VYRE_EXPR_LITERAL) {
        return moving(0, false);
    }
    const int64_t factor =
        shift ? INT64_C(1) << (by->u.bits & 31) : (int64_t)(int32_t)(uint32_t)by->u.bits;
    return moving(moves->step * factor, moves->known);
}

static cpu_site combined(const finder *f, const vyre_expr_node *n) {
    bool stays = true, varies = false;
    for (uint32_t k = 0; k < vyre_expr_arity(n); k++) {
        stays &= f->sites[n->u.arg[k]].kind == CPU_STAYS;
        varies |= f->sites[n->u.arg[k]].kind == CPU_VARIES;
    }
    if (stays || varies || !is_word(n->type)) {
        return (cpu_site){.kind = stays ? CPU_STAYS : CPU_VARIES};
    }
    const cpu_site *x = &f->sites[n->u.arg[0]];
    switch ((int)n->op) {
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB: {
        const cpu_site *y = &f->sites[n->u.arg[1]];
        return moving(n->op == VYRE_EXPR_ADD ? (int64_t)x->step + y->step
                                             : (int64_t)x->step - y->step,
                      is_known(x) && is_known(y));
    }
    case VYRE_EXPR_MUL:
    case VYRE_EXPR_SHL: return product(f, n);
    case VYRE_EXPR_CAST:
    case VYRE_EXPR_BITCAST:
        return is_word(f->p->exprs[n->u.arg[0]].type) &&
                       (n->op == VYRE_EXPR_BITCAST || is_word(n->sub))
                   ? *x
                   : (cpu_site){.kind = CPU_VARIES};
    default: return (cpu_site){.kind = CPU_VARIES};
    }
}

static cpu_site judge(const finder *f, vyre_expr e) {
    const vyre_expr_node *n = &f->p->exprs[e];
    switch ((int)n->op) {
    case VYRE_EXPR_LITERAL:
    case VYRE_EXPR_REF:
    case VYRE_EXPR_LEN:
    case VYRE_EXPR_BUILTIN: return (cpu_site){.kind = CPU_STAYS};
    case VYRE_EXPR_VAR: return f->vars[n->ref];
    case VYRE_EXPR_LOAD: return (cpu_site){.kind = CPU_VARIES};
    default: return combined(f, n);
    }
}

/* Variables that the body binds or assigns; with `stay` as if it did not. */
static void reset_vars(finder *f, bool stay) {
    const vyre_stmt_node *opener = &f->p->stmts[f->loop];
    for (vyre_stmt i = f->loop; i < opener->match; i++) {
        const vyre_var var = f->p->stmts[i].var;
        if (var != VYRE_NONE) {
            f->vars[var] = (cpu_site){
                .kind = stay ? CPU_STAYS : CPU_VARIES,
                .bound = (uint8_t)(f->vars[var].bound < 2 ? f->vars[var].bound + !stay : 2)};
        }
    }
    if (stay) {
        for (vyre_stmt i = f->loop; i < opener->match; i++) {
            if (f->p->stmts[i].var != VYRE_NONE) {
                f->vars[f->p->stmts[i].var].bound = 0;
            }
        }
    } else {
        f->vars[opener->var] = (cpu_site){.kind = CPU_MOVES, .known = true, .step = 1};
    }
}

static void note_access(finder *f, uint32_t site, vyre_expr index, uint32_t *count) {
    const cpu_site *at = &f->sites[index];
    if (at->kind != CPU_VARIES && *count < CPU_MOST_STEADY) {
        f->sites[site].access = (uint8_t)++ * count;
        f->sites[site].known = is_known(at);
        f->sites[site].step = at->step;
        f->sites[index].wanted = true;
    }
}

static uint32_t find_accesses(finder *f) {
    const vyre_program_view *p = f->p;
    uint32_t count = 0;
    for (vyre_stmt i = f->loop + 1; i < p->stmts[f->loop].match; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr x = s->first_expr; x < s->end_expr; x++) {
            f->sites[x] = judge(f, x);
            if (p->exprs[x].op == VYRE_EXPR_LOAD) {
                note_access(f, x, p->exprs[x].u.arg[0], &count);
            }
        }
        if (s->op == VYRE_STMT_STORE) {
            note_access(f, p->expr_count + i, s->arg[0], &count);
        }
        if (s->op == VYRE_STMT_LET && f->vars[s->var].bound == 1) {
            cpu_site site = f->sites[s->arg[0]];
            site.access = 0;
            site.bound = 1;
            f->vars[s->var] = site;
        }
    }
    return count;
}

/* What the wanted indices are made of, backwards. */
static void want_operands(finder *f) {
    const vyre_program_view *p = f->p;
    for (vyre_stmt i = p->stmts[f->loop].match; i-- > f->loop + 1;) {
        const vyre_stmt_node *s = &p->stmts[i];
        if (s->op == VYRE_STMT_LET && f->vars[s->var].wanted) {
            f->sites[s->arg[0]].wanted = f->sites[p->expr_count + i].wanted = true;
        }
        for (vyre_expr x = s->end_expr; x-- > s->first_expr;) {
            const vyre_expr_node *n = &p->exprs[x];
            if (!f->sites[x].wanted) {
                continue;
            }
            for (uint32_t k = 0; k < vyre_expr_arity(n); k++) {
                f->sites[n->u.arg[k]].wanted = true;
            }
            if (n->op == VYRE_EXPR_VAR) {
                f->vars[n->ref].wanted = true;
            }
        }
    }
}

vyre_status cpu_find_steady(const vyre_program_view *p, const vyre_allocator *a, cpu_site *sites) {
    finder f = {.p = p, .sites = sites};
    f.vars = vyre_alloc_zeroed(a, p->var_count, sizeof *f.vars);
    if (!f.vars) {
        return VYRE_OUT_OF_MEMORY;
    }
    for (vyre_var i = 0; i < p->var_count; i++) {
        f.vars[i].kind = CPU_STAYS; /* but for those that a loop binds or assigns */
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        if (is_candidate(p, s)) {
            f.loop = s;
            reset_vars(&f, false);
            sites[p->expr_count + s].access = (uint8_t)(1 + find_accesses(&f));
            want_operands(&f);
            reset_vars(&f, true);
        }
    }
    vyre_free(a, f.vars, p->var_count, sizeof *f.vars);
    return VYRE_OK;
}
