/* Bases. Each expression of 32-bit integers has a form: the same for lanes of a group as far as can
 * be seen (plain), or that plus a constant times global_id.x plus a constant times local_id.x; sums
 * and products with literals keep it, modulo 2^32 as the machine does. A variable has a form if all
 * of its definitions have the same one; assuming that variables have the form of their first
 * definition, definitions are looked at until no assumption fails. What is plain by its looks is
 * then proven to be the same for a group by the shapes of the program, and so is the control
 * around.
 *
 * Only variables that are alive at a barrier, and that could not be computed again, get a base, and
 * those that their bases are computed from. The statement for the base stands before that of the
 * variable, so both change together.
 *
 * A base becomes a scalar of the schedule only if that costs no wait: if it is made of literals,
 * params, lengths, sizes, and counters of loops that hold a barrier, where every construct around
 * holds a barrier. Others are kept by groups.
 *
 * Cost: looks at all statements, once more for each kind of failed assumption, at most LOOKS times;
 * shapes only where there is something to gain. */
#include "split/bases.h"

#include <stdio.h>
#include <string.h>

#include "analysis/shape.h"
#include "base/diag.h"
#include "ir/each.h"
#include "ir/waits.h"
#include "vyre/limits.h"

enum { LOOKS = 8 };

typedef enum state { UNSEEN, FORMED, FORMLESS } state;

typedef struct form {
    bool linear; /* else plain, if not bad */
    bool bad;    /* varies in another way */
    uint32_t by_global, by_local;
} form;

typedef struct variable {
    uint8_t state;
    bool wants;    /* can't be computed again without a base, and is alive at a barrier */
    bool unfit;    /* some definition is not what it looks like */
    bool chosen;   /* gets a base, if that is not nothing */
    bool known;    /* of a plain one: the host knows it */
    bool by_group; /* of a base: the host would not know it */
    uint32_t definitions;
    form form;
    vyre_stmt first, last; /* that have to do with it */
    vyre_var base;         /* in the result; VYRE_NONE: it has none, or that is 0 for good */
} variable;

typedef struct finder {
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_split_scope scope;
    variable *vars;
    form *forms;              /* per expression */
    vyre_expr *built;         /* per expression: what it adds to the base; VYRE_NONE: nothing */
    uint32_t *waits;          /* per statement: barriers before it */
    VYRE_VEC(vyre_stmt) open; /* constructs around the statement at hand */
    vyre_shape *scratch;      /* of one statement's expressions */
    bool failed;
} finder;

static bool is_definition(const vyre_stmt_node *n) {
    return n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN;
}

/* ---- what there is ---- */

static void survey(finder *f) {
    const vyre_program_view *p = f->p;
    uint32_t waits = 0;
    for (vyre_var v = 0; v < p->var_count; v++) {
        f->vars[v].base = VYRE_NONE;
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        f->waits[s] = waits;
        waits += vyre_waits_for(f->scope, n->op);
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_VAR) {
                f->vars[p->exprs[e].ref].last = s;
            }
        }
        if (n->var == VYRE_NONE) {
            continue;
        }
        variable *v = &f->vars[n->var];
        uint8_t type = p->vars[n->var].type;
        v->first = v->definitions++ == 0 ? s : v->first;
        v->last = s;
        if (!is_definition(n) || (type != VYRE_U32 && type != VYRE_I32)) {
            v->state = FORMLESS;
        }
    }
}

static vyre_stmt end_of(const vyre_program_view *p, vyre_stmt s) {
    vyre_stmt end = p->stmts[s].match;
    return p->stmts[end].op == VYRE_STMT_ELSE ? p->stmts[end].match : end;
}

static bool holds_wait(const finder *f, vyre_stmt opener) {
    return f->waits[end_of(f->p, opener)] > f->waits[opener];
}

/* ---- forms ---- */

static form times(form x, uint32_t factor) {
    x.by_global *= factor;
    x.by_local *= factor;
    x.linear = x.by_global || x.by_local;
    return x;
}

static form plus(form x, form y) {
    form sum = {.by_global = x.by_global + y.by_global, .by_local = x.by_local + y.by_local};
    sum.linear = sum.by_global || sum.by_local;
    sum.bad = x.linear && y.linear && !sum.linear; /* it is the same for all, but who would see */
    return sum;
}

static form form_of_linear(const finder *f, const vyre_expr_node *n) {
    const form bad = {.bad = true};
    const vyre_expr_node *exprs = f->p->exprs;
    if (n->type != VYRE_U32 && n->type != VYRE_I32) {
        return bad;
    }
    switch ((int)n->op) {
    case VYRE_EXPR_ADD: return plus(f->forms[n->u.arg[0]], f->forms[n->u.arg[1]]);
    case VYRE_EXPR_SUB:
        return plus(f->forms[n->u.arg[0]], times(f->forms[n->u.arg[1]], UINT32_MAX));
    case VYRE_EXPR_MUL:
        for (int i = 0; i < 2; i++) {
            const vyre_expr_node *factor = &exprs[n->u.arg[1 - i]];
            if (factor->op == VYRE_EXPR_LITERAL) {
                form product = times(f->forms[n->u.arg[i]], (uint32_t)factor->u.bits);
                return product.linear ? product : bad;
            }
        }
        return bad;
    case VYRE_EXPR_BITCAST: return f->forms[n->u.arg[0]];
    default: return bad;
    }
}

static form form_of(const finder *f, vyre_expr e) {
    const vyre_expr_node *n = &f->p->exprs[e];
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
    bool linear = false;
    if (n->op == VYRE_EXPR_VAR) {
        const variable *v = &f->vars[n->ref];
        return v->state == FORMED ? v->form : (form){0};
    }
    if (n->op == VYRE_EXPR_BUILTIN && n->axis == 0) {
        bool global = n->sub == VYRE_BUILTIN_GLOBAL_ID, local = n->sub == VYRE_BUILTIN_LOCAL_ID;
        return (form){.linear = global || local, .by_global = global, .by_local = local};
    }
    for (uint32_t i = 0; i < arity; i++) {
        const form *x = &f->forms[n->u.arg[i]];
        if (x->bad) {
            return *x;
        }
        linear |= x->linear;
    }
    return linear ? form_of_linear(f, n) : (form){0};
}

/* True if a variable's state has changed. */
static bool look(finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    variable *v = &f->vars[n->var];
    for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
        f->forms[e] = form_of(f, e);
    }
    const form found = f->forms[n->arg[0]];
    if (v->state == UNSEEN && found.linear) {
        v->state = FORMED;
        v->form = found;
        return true;
    }
    const bool same =
        found.linear && found.by_global == v->form.by_global && found.by_local == v->form.by_local;
    if (v->state == FORMLESS || (v->state == FORMED && same)) {
        return false;
    }
    v->state = FORMLESS;
    return true;
}

static bool find_forms(finder *f) {
    bool changed = true;
    for (uint32_t looks = 0; changed && looks < LOOKS; looks++) {
        changed = false;
        for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
            const vyre_stmt_node *n = &f->p->stmts[s];
            if (is_definition(n) && (f->vars[n->var].state != FORMLESS)) {
                changed |= look(f, s);
            }
        }
    }
    return !changed;
}

/* ---- who gains from a base ---- */

/* Whether it can't be computed again as it is: see carry.c. */
static bool is_hard(const finder *f, const vyre_stmt_node *n) {
    bool hard = f->vars[n->var].definitions > 1;
    for (vyre_expr e = n->first_expr; e < n->end_expr && !hard; e++) {
        const vyre_expr_node *x = &f->p->exprs[e];
        hard = (x->op == VYRE_EXPR_LOAD && f->p->decls[x->ref].role != VYRE_IN) ||
               (x->op == VYRE_EXPR_VAR && f->vars[x->ref].definitions > 1 &&
                f->p->vars[x->ref].kind != VYRE_VAR_LOOP);
    }
    return hard;
}

/* A value that is set before a loop and used in it lives to the loop's end. */
static void extend_over_loops(finder *f) {
    for (vyre_stmt s = f->p->stmt_count; s-- > f->p->entry;) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            const vyre_expr_node *x = &f->p->exprs[e];
            if (x->op != VYRE_EXPR_VAR || f->vars[x->ref].state != FORMED) {
                continue;
            }
            variable *v = &f->vars[x->ref];
            const vyre_stmt *open = f->open.data;
            for (uint32_t i = 0; open && i < f->open.count; i++) { /* outermost first */
                vyre_stmt loop = open[i], end = end_of(f->p, loop);
                if (loop > v->first) {
                    v->last = end > v->last ? end : v->last;
                    break;
                }
            }
        }
        const bool ends_loop =
            n->op == VYRE_STMT_END && (f->p->stmts[n->match].op == VYRE_STMT_FOR ||
                                       f->p->stmts[n->match].op == VYRE_STMT_WHILE);
        if (ends_loop && !vyre_vec_push(f->a, &f->open, n->match)) {
            f->failed = true;
            return;
        }
        f->open.count -= n->op == VYRE_STMT_FOR || n->op == VYRE_STMT_WHILE;
    }
}

static bool choose(finder *f) {
    bool any = false;
    extend_over_loops(f);
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count && !f->failed; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        variable *v = is_definition(n) ? &f->vars[n->var] : NULL;
        if (v && v->state == FORMED && is_hard(f, n) && f->waits[v->last] > f->waits[v->first]) {
            v->wants = v->chosen = any = true;
        }
    }
    return any;
}

/* ---- proof ---- */

static bool is_uniform_id(const vyre_expr_node *n) {
    return n->sub == VYRE_BUILTIN_NUM_GROUPS || n->sub == VYRE_BUILTIN_GROUP_SIZE ||
           n->sub == VYRE_BUILTIN_GLOBAL_SIZE || n->sub == VYRE_BUILTIN_SUBGROUP_SIZE;
}

/* Whether the host can compute it, forms apart. */
static bool is_known(const finder *f, vyre_expr first, vyre_expr end) {
    bool known = true;
    for (vyre_expr e = first; e < end && known; e++) {
        const vyre_expr_node *n = &f->p->exprs[e];
        known = n->op == VYRE_EXPR_VAR ? f->vars[n->ref].known || f->forms[e].linear
                : n->op == VYRE_EXPR_BUILTIN
                    ? is_uniform_id(n) || f->forms[e].linear
                    : n->op != VYRE_EXPR_LOAD && vyre_expr_info_of((vyre_expr_op)n->op)->operands !=
                                                     VYRE_OPERANDS_ELEMENTARY;
    }
    return known;
}

static bool is_of_schedule(const finder *f) {
    const vyre_stmt *open = f->open.data;
    bool all = true;
    for (uint32_t i = 0; open && i < f->open.count; i++) {
        all = all && holds_wait(f, open[i]);
    }
    return all;
}

/* Operands of what is linear that are plain must be the same for the group. */
static bool is_fit(finder *f, const vyre_shapes *shapes, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    const uint32_t step = s - f->p->entry;
    bool fit = vyre_shape_uniform(vyre_shapes_control(shapes, step), VYRE_SHAPE_GROUP);
    vyre_shapes_exprs(shapes, step, f->scratch);
    for (vyre_expr e = n->first_expr; e < n->end_expr && fit; e++) {
        const vyre_expr_node *x = &f->p->exprs[e];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)x->op)->arity;
        fit = x->op != VYRE_EXPR_VAR || !f->forms[e].linear || !f->vars[x->ref].unfit;
        for (uint32_t i = 0; i < arity && f->forms[e].linear; i++) {
            const vyre_expr operand = x->u.arg[i];
            const vyre_shape shape = f->scratch[operand - n->first_expr];
            fit = fit && (f->forms[operand].linear || vyre_shape_uniform(shape, VYRE_SHAPE_GROUP));
        }
    }
    return fit;
}

static void track(finder *f, vyre_stmt s) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    const vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
    if (scope == VYRE_SCOPE_END && f->open.count > 0) {
        f->open.count--;
    } else if (scope == VYRE_SCOPE_OPEN && !vyre_vec_push(f->a, &f->open, s)) {
        f->failed = true;
    }
}

/* One look at all definitions; true if that has changed anything. */
static bool prove(finder *f, const vyre_shapes *shapes) {
    bool changed = false;
    f->open.count = 0;
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count && !f->failed; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (n->op == VYRE_STMT_FOR) {
            f->vars[n->var].known =
                holds_wait(f, s) && is_of_schedule(f) && is_known(f, n->first_expr, n->end_expr);
        }
        track(f, s);
        if (!is_definition(n)) {
            continue;
        }
        variable *v = &f->vars[n->var];
        const bool known = is_known(f, n->first_expr, n->end_expr) && is_of_schedule(f);
        if (v->state != FORMED) {
            v->known = known && v->definitions == 1 && !f->forms[n->arg[0]].bad;
        } else if (!v->unfit && !is_fit(f, shapes, s)) {
            v->unfit = changed = true;
        }
        bool by_group =
            v->state == FORMED &&
            (!known || vyre_shapes_control(shapes, s - f->p->entry).kind > VYRE_SHAPE_GRID);
        for (vyre_expr e = n->first_expr; e < n->end_expr && v->state == FORMED; e++) {
            by_group |= f->forms[e].linear && f->p->exprs[e].op == VYRE_EXPR_VAR &&
                        f->vars[f->p->exprs[e].ref].by_group;
        }
        changed |= by_group && !v->by_group;
        v->by_group |= by_group;
    }
    return changed;
}

/* What bases are computed from has bases; those that can't have one take away those of others. */
static bool spread(finder *f) {
    bool changed = false;
    for (vyre_stmt s = f->p->stmt_count; s-- > f->p->entry;) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (!is_definition(n) || !f->vars[n->var].chosen) {
            continue;
        }
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            if (f->p->exprs[e].op == VYRE_EXPR_VAR && f->forms[e].linear) {
                variable *operand = &f->vars[f->p->exprs[e].ref];
                changed |= !operand->chosen;
                operand->chosen = true;
            }
        }
    }
    return changed;
}

/* True if some variable gets a base. */
static vyre_status decide(finder *f, const vyre_program *program, bool *out_any) {
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, program, f->a);
    uint32_t looks = 0;
    *out_any = false;
    if (status != VYRE_OK) {
        return status;
    }
    while (looks < LOOKS && prove(f, shaped.shapes)) {
        looks++;
    }
    vyre_shaped_finish(&shaped);
    for (uint32_t i = 0; i < f->p->var_count; i++) {
        f->vars[i].chosen &= !f->vars[i].unfit && looks < LOOKS;
        *out_any |= f->vars[i].chosen;
    }
    while (*out_any && spread(f)) { /* each time another one is chosen */
    }
    return f->failed ? VYRE_OUT_OF_MEMORY : VYRE_OK;
}

/* ---- rewriting ---- */

/* x + y or x - y, of which each may be nothing. */
static vyre_expr sum(vyre_builder *b, vyre_expr_op op, vyre_type type, vyre_expr x, vyre_expr y) {
    if (y == VYRE_NONE) {
        return x;
    }
    if (x == VYRE_NONE && op == VYRE_EXPR_ADD) {
        return y;
    }
    return vyre_build_op(b, op, x == VYRE_NONE ? vyre_build_literal(b, type, 0) : x, y, VYRE_NONE);
}

/* The part of an operand that belongs to the base. */
static vyre_expr part(vyre_each *each, vyre_expr e) {
    finder *f = each->user;
    return f->forms[e].linear ? f->built[e] : vyre_rewrite_expr(&each->rw, e);
}

static vyre_expr build_linear(vyre_each *each, vyre_expr e) {
    finder *f = each->user;
    vyre_builder *b = each->rw.to;
    const vyre_expr_node *n = &f->p->exprs[e];
    switch ((int)n->op) {
    case VYRE_EXPR_VAR:
        return f->vars[n->ref].base == VYRE_NONE ? VYRE_NONE
                                                 : vyre_build_var(b, f->vars[n->ref].base);
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB: {
        vyre_expr x = part(each, n->u.arg[0]), y = part(each, n->u.arg[1]);
        return sum(b, (vyre_expr_op)n->op, (vyre_type)n->type, x, y);
    }
    case VYRE_EXPR_MUL: {
        const bool first = f->forms[n->u.arg[0]].linear;
        const vyre_expr rest = f->built[n->u.arg[first ? 0 : 1]];
        return rest == VYRE_NONE
                   ? VYRE_NONE
                   : vyre_build_op(b, VYRE_EXPR_MUL, rest,
                                   vyre_rewrite_expr(&each->rw, n->u.arg[first ? 1 : 0]),
                                   VYRE_NONE);
    }
    case VYRE_EXPR_BITCAST: {
        const vyre_expr rest = f->built[n->u.arg[0]];
        return rest == VYRE_NONE ? VYRE_NONE : vyre_build_bitcast(b, (vyre_type)n->type, rest);
    }
    default: return VYRE_NONE; /* the lane's place */
    }
}

static bool rewrite_stmt(vyre_each *each, vyre_stmt s) {
    finder *f = each->user;
    const vyre_stmt_node *n = &f->p->stmts[s];
    if (!is_definition(n) || !f->vars[n->var].chosen) {
        return false;
    }
    variable *v = &f->vars[n->var];
    vyre_builder *b = each->rw.to;
    for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
        f->built[e] = f->forms[e].linear ? build_linear(each, e) : VYRE_NONE;
    }
    vyre_expr value = f->built[n->arg[0]];
    if (value == VYRE_NONE && !v->wants && v->definitions == 1) {
        return false; /* just the lane's place */
    }
    if (value == VYRE_NONE) {
        value = vyre_build_literal(b, (vyre_type)f->p->vars[n->var].type, 0);
    }
    vyre_builder_at(b, vyre_program_stmt_place(each->rw.source, s));
    if (n->op == VYRE_STMT_ASSIGN) {
        vyre_build_assign(b, v->base, value);
        return false;
    }
    char name[VYRE_LIMIT_NAME + 1];
    (void)snprintf(name, sizeof name, "%.200s_base", f->p->vars[n->var].name);
    v->base = vyre_build_let(b, vyre_each_name(each, name), value);
    return false;
}

/* Variables are numbered as they are bound, in both programs: each base stands before its own. */
static bool note_bases(finder *f, vyre_bases *out) {
    uint32_t added = 0;
    for (vyre_var v = 0; v < f->p->var_count; v++) {
        added += f->vars[v].base != VYRE_NONE;
    }
    out->old_count = f->p->var_count;
    out->var_count = f->p->var_count + added;
    out->of = vyre_alloc(f->a, out->var_count, sizeof *out->of);
    out->only_groups = vyre_alloc_zeroed(f->a, out->var_count, sizeof *out->only_groups);
    out->number = vyre_alloc(f->a, out->old_count, sizeof *out->number);
    if (!out->of || !out->only_groups || !out->number) {
        return false;
    }
    memset(out->of, 0xff, out->var_count * sizeof *out->of);
    for (vyre_var v = 0, now = 0; v < f->p->var_count; v++, now++) {
        const variable *x = &f->vars[v];
        if (x->base != VYRE_NONE) {
            out->only_groups[now++] = x->by_group && f->scope == VYRE_SPLIT_SCOPE_GRID;
            out->of[now] =
                (vyre_base){x->wants ? now - 1 : VYRE_NONE, x->form.by_global, x->form.by_local};
        }
        out->number[v] = now;
    }
    return true;
}

static bool start(finder *f) {
    const vyre_program_view *p = f->p;
    f->vars = vyre_alloc_zeroed(f->a, p->var_count, sizeof *f->vars);
    f->forms = vyre_alloc_zeroed(f->a, p->expr_count, sizeof *f->forms);
    f->built = vyre_alloc_zeroed(f->a, p->expr_count, sizeof *f->built);
    f->waits = vyre_alloc_zeroed(f->a, p->stmt_count, sizeof *f->waits);
    f->scratch = vyre_alloc_zeroed(f->a, p->expr_count, sizeof *f->scratch);
    return f->vars && f->forms && f->built && f->waits && f->scratch;
}

static void finish(finder *f) {
    const vyre_program_view *p = f->p;
    vyre_free(f->a, f->vars, p->var_count, sizeof *f->vars);
    vyre_free(f->a, f->forms, p->expr_count, sizeof *f->forms);
    vyre_free(f->a, f->built, p->expr_count, sizeof *f->built);
    vyre_free(f->a, f->waits, p->stmt_count, sizeof *f->waits);
    vyre_free(f->a, f->scratch, p->expr_count, sizeof *f->scratch);
    vyre_vec_free(f->a, &f->open);
}

vyre_status vyre_bases_add(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                           vyre_program **out_program, vyre_bases *out_bases, vyre_diag *diag) {
    finder f = {.p = vyre_program_get(program), .a = a, .scope = scope};
    vyre_status status = VYRE_OK;
    bool any = false;
    *out_bases = (vyre_bases){0};
    if (!start(&f)) {
        status = VYRE_OUT_OF_MEMORY;
    } else {
        survey(&f);
        if (find_forms(&f) && choose(&f)) {
            status = decide(&f, program, &any);
        }
        status = f.failed ? VYRE_OUT_OF_MEMORY : status;
    }
    if (status == VYRE_OK && any) {
        status = vyre_each_rewrite(program, NULL, rewrite_stmt, &f, a, out_program, diag);
        if (status == VYRE_OK && !note_bases(&f, out_bases)) {
            vyre_program_release(*out_program);
            status = VYRE_OUT_OF_MEMORY;
        }
    } else if (status == VYRE_OK) {
        *out_program = vyre_program_retain(program);
    }
    finish(&f);
    if (status != VYRE_OK) {
        vyre_bases_finish(out_bases, a);
    }
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "splitting") : status;
}

void vyre_bases_finish(vyre_bases *bases, const vyre_allocator *a) {
    vyre_free(a, bases->of, bases->var_count, sizeof *bases->of);
    vyre_free(a, bases->only_groups, bases->var_count, sizeof *bases->only_groups);
    vyre_free(a, bases->number, bases->old_count, sizeof *bases->number);
    *bases = (vyre_bases){0};
}
