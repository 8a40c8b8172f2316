/* Warnings about programs that are right by all rules and probably not meant so.
 *
 * Each looks for one shape that has a better spelling or no use; none needs to know what the
 * program is for, and each is silent where it can't be sure: consts are never taken for their
 * value, since they are there to be changed; what stands behind an exit may be for one lane; names
 * that begin with an underscore say that they are not needed. Linear, but for the shapes. */
#include "analysis/lint.h"
#include "ir/fold.h"
#include "vyre/check.h"

typedef vyre_linter lint;

static const vyre_expr_node *node(const lint *l, vyre_expr e) {
    return &l->p->exprs[e];
}

static bool is_unsigned(uint8_t type) {
    return type == VYRE_U32 || type == VYRE_U64;
}

static uint32_t width_of(uint8_t type) {
    return type == VYRE_U64 || type == VYRE_I64 ? 64 : 32;
}

static bool is_zero(const lint *l, vyre_expr e) {
    return node(l, e)->op == VYRE_EXPR_LITERAL && node(l, e)->u.bits == 0;
}

/* Expressions */

/* `i >= 0` and the like, of a type without negative values. */
static void look_at_sign(lint *l, vyre_expr e) {
    const vyre_expr_node *n = node(l, e);
    const vyre_expr a = n->u.arg[0], b = n->u.arg[1];
    if (!is_unsigned(node(l, a)->type)) {
        return;
    }
    const bool always =
        (n->op == VYRE_EXPR_GE && is_zero(l, b)) || (n->op == VYRE_EXPR_LE && is_zero(l, a));
    const bool never =
        (n->op == VYRE_EXPR_LT && is_zero(l, b)) || (n->op == VYRE_EXPR_GT && is_zero(l, a));
    if (always || never) {
        vyre_checker_warn(&l->c, "W004", vyre_linter_at(l, e),
                          "compare before subtracting, or compute in i32",
                          "this is always %s: %s has no negative values", always ? "true" : "false",
                          vyre_type_name((vyre_type)node(l, a)->type));
    }
}

static void look_at_shift(lint *l, vyre_expr e) {
    const vyre_expr_node *n = node(l, e);
    const vyre_expr_node *amount = node(l, n->u.arg[1]);
    const uint32_t width = width_of(n->type);
    if (amount->op == VYRE_EXPR_LITERAL && amount->u.bits >= width) {
        vyre_checker_warn(&l->c, "W005", vyre_linter_at(l, e), "shift by less than the width",
                          "%s has %u bits, and amounts are taken modulo that: this shifts by %u",
                          vyre_type_name((vyre_type)n->type), width,
                          (uint32_t)(amount->u.bits % width));
    }
}

/* Whether a op b leaves the type. */
#define WRAPS(T, op, a, b)                                                                         \
    ((op) == VYRE_EXPR_ADD   ? __builtin_add_overflow((T)(a), (T)(b), &(T){0})                     \
     : (op) == VYRE_EXPR_SUB ? __builtin_sub_overflow((T)(a), (T)(b), &(T){0})                     \
                             : __builtin_mul_overflow((T)(a), (T)(b), &(T){0}))

static bool wraps(uint8_t op, uint8_t type, uint64_t a, uint64_t b) {
    switch (type) {
    case VYRE_U32: return WRAPS(uint32_t, op, a, b);
    case VYRE_I32: return WRAPS(int32_t, op, a, b);
    case VYRE_U64: return WRAPS(uint64_t, op, a, b);
    case VYRE_I64: return WRAPS(int64_t, op, a, b);
    default: return false;
    }
}

static void look_at_wrap(lint *l, vyre_expr e) {
    const vyre_expr_node *n = node(l, e);
    const vyre_expr a = n->u.arg[0], b = n->u.arg[1];
    if (l->known[a] && l->known[b] && wraps(n->op, n->type, l->bits[a], l->bits[b])) {
        vyre_checker_warn(&l->c, "W006", vyre_linter_at(l, e), "write the value that is meant",
                          "this does not fit into %s and wraps",
                          vyre_type_name((vyre_type)n->type));
    }
}

/* The values of what is made of literals alone. */
static void fold(lint *l, vyre_expr e) {
    const vyre_expr_node *n = node(l, e);
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
    uint64_t operands[3] = {0};
    if (n->op == VYRE_EXPR_LITERAL) {
        l->known[e] = true;
        l->bits[e] = n->u.bits;
        return;
    }
    for (uint32_t i = 0; i < arity; i++) {
        if (!l->known[n->u.arg[i]]) {
            return;
        }
        operands[i] = l->bits[n->u.arg[i]];
    }
    l->known[e] = arity != 0 && vyre_fold(l->p, e, operands, &l->bits[e]);
}

static void look_at_exprs(lint *l, const vyre_stmt_node *s) {
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        fold(l, e);
        switch (node(l, e)->op) {
        case VYRE_EXPR_VAR: l->used[node(l, e)->ref] = true; break;
        case VYRE_EXPR_LT:
        case VYRE_EXPR_LE:
        case VYRE_EXPR_GT:
        case VYRE_EXPR_GE: look_at_sign(l, e); break;
        case VYRE_EXPR_SHL:
        case VYRE_EXPR_SHR: look_at_shift(l, e); break;
        case VYRE_EXPR_ADD:
        case VYRE_EXPR_SUB:
        case VYRE_EXPR_MUL: look_at_wrap(l, e); break;
        default: break;
        }
    }
}

/* Statements */

/* Whether something inside the loop leaves it. */
static bool has_way_out(const lint *l, vyre_stmt loop) {
    for (vyre_stmt i = loop + 1; i < l->p->stmts[loop].match; i++) {
        const vyre_stmt_node *s = &l->p->stmts[i];
        switch (s->op) {
        case VYRE_STMT_BREAK:
            if (s->match == loop) {
                return true;
            }
            break;
        case VYRE_STMT_EXIT:
        case VYRE_STMT_TRAP:
        case VYRE_STMT_RETURN: return true;
        case VYRE_STMT_CALL: /* a function may end the lane */
            if (l->lanes_end || l->p->fns[s->fn].opaque) {
                return true;
            }
            break;
        default: break;
        }
    }
    return false;
}

static void look_at_condition(lint *l, vyre_stmt at) {
    const vyre_stmt_node *s = &l->p->stmts[at];
    const vyre_expr e = s->arg[0];
    if (s->op == VYRE_STMT_WHILE && node(l, e)->op == VYRE_EXPR_LITERAL && node(l, e)->u.bits) {
        if (!has_way_out(l, at)) {
            vyre_checker_warn(&l->c, "W007", vyre_checker_at(&l->c, at),
                              "leave it with `break`, or give it a condition",
                              "this loop never ends");
        }
    } else if (l->known[e]) {
        vyre_checker_warn(&l->c, "W003", vyre_linter_at(l, e),
                          l->bits[e] ? "leave the condition out" : "leave the statement out",
                          "this condition is always %s", l->bits[e] ? "true" : "false");
    }
}

static void look_at_outputs(lint *l) {
    vyre_effect_sets sets = {.words = l->p->decl_count / 64 + 1};
    const vyre_allocator *a = &l->c.allocator;
    uint64_t *room = vyre_alloc_zeroed(a, (size_t)sets.words * 3, sizeof *room);
    if (!room) {
        l->c.failed = true;
        return;
    }
    sets.reads = room;
    sets.writes = room + sets.words;
    sets.atomics = room + 2 * (size_t)sets.words;
    vyre_effects_collect(l->facts.effects, l->p->entry, l->p->stmt_count, &sets);
    for (vyre_decl d = 0; d < l->p->decl_count; d++) {
        const vyre_decl_node *decl = &l->p->decls[d];
        const uint64_t written = sets.writes[d / 64] >> d % 64 & 1;
        if (!written && (decl->role == VYRE_OUT || decl->role == VYRE_INOUT)) {
            const bool out = decl->role == VYRE_OUT;
            vyre_checker_warn(&l->c, "W001", vyre_program_decl_place(l->c.program, d),
                              out ? "store something in it, or leave it out" : "declare it `in`",
                              out ? "`%s` is never written: it is given back as zeros"
                                  : "`%s` is never written",
                              decl->name);
        }
    }
    vyre_free(a, room, (size_t)sets.words * 3, sizeof *room);
}

/* Variables that statements of the program bind, and nobody reads. */
static void look_at_variables(lint *l) {
    for (vyre_stmt i = 0; i < l->p->stmt_count; i++) {
        const vyre_stmt_node *s = &l->p->stmts[i];
        if (s->var == VYRE_NONE || s->op == VYRE_STMT_ASSIGN || s->op == VYRE_STMT_FOR ||
            l->used[s->var] || l->p->vars[s->var].name[0] == '_') {
            continue;
        }
        vyre_checker_warn(&l->c, "W002", vyre_program_var_place(l->c.program, s->var),
                          s->op == VYRE_STMT_LET ? "leave it out, or begin its name with `_`"
                                                 : "leave the name out: a value need not be used",
                          "`%s` is never used", l->p->vars[s->var].name);
    }
}

/* A store at one place by all lanes of the scope that share the memory, each of its own value. */
static void look_at_races(lint *l) {
    const uint32_t lanes =
        l->p->workgroup[0] * l->p->workgroup[1] * l->p->workgroup[2]; /* within limits */
    vyre_shape *shapes = vyre_alloc_zeroed(&l->c.allocator, l->widest, sizeof *shapes);
    if (!shapes) {
        l->c.failed = true;
        return;
    }
    for (uint32_t visit = 0; visit < vyre_shapes_visit_count(l->facts.shapes); visit++) {
        const vyre_stmt at = vyre_shapes_stmt(l->facts.shapes, visit);
        const vyre_stmt_node *s = &l->p->stmts[at];
        if (s->op != VYRE_STMT_STORE || l->told[at] || l->p->decls[s->decl].role == VYRE_PRIVATE) {
            continue;
        }
        const bool group = l->p->decls[s->decl].role == VYRE_WORKGROUP;
        const vyre_shape_kind scope = group ? VYRE_SHAPE_GROUP : VYRE_SHAPE_GRID;
        vyre_shapes_exprs(l->facts.shapes, visit, shapes);
        const vyre_shape value = shapes[s->arg[1] - s->first_expr];
        if (lanes > 1 && vyre_shape_uniform(vyre_shapes_control(l->facts.shapes, visit), scope) &&
            vyre_shape_uniform(shapes[s->arg[0] - s->first_expr], scope) &&
            !vyre_shape_uniform(value, VYRE_SHAPE_GROUP)) {
            l->told[at] = true;
            vyre_checker_warn(&l->c, "W008", vyre_checker_at(&l->c, at),
                              "use an atomic, or let one lane do it: if (local_id.x == 0)",
                              "every lane of the %s stores its own value in this element of `%s`",
                              group ? "group" : "grid", l->p->decls[s->decl].name);
        }
    }
    vyre_free(&l->c.allocator, shapes, l->widest, sizeof *shapes);
}

static void look_at_program(lint *l) {
    for (vyre_stmt i = 0; i < l->p->stmt_count; i++) {
        const vyre_stmt_node *s = &l->p->stmts[i];
        const uint32_t exprs = s->end_expr - s->first_expr;
        l->lanes_end |= s->op == VYRE_STMT_EXIT || s->op == VYRE_STMT_TRAP;
        l->widest = exprs > l->widest ? exprs : l->widest;
        look_at_exprs(l, s);
    }
    for (vyre_stmt i = 0; i < l->p->stmt_count; i++) {
        if (l->p->stmts[i].op == VYRE_STMT_IF || l->p->stmts[i].op == VYRE_STMT_WHILE) {
            look_at_condition(l, i);
        }
    }
    look_at_variables(l);
    look_at_outputs(l);
    vyre_lint_bounds(l);
    if (!l->lanes_end) {
        look_at_races(l);
    }
}

vyre_status vyre_lint(const vyre_program *program, const vyre_lint_options *options,
                      const vyre_allocator *allocator, vyre_diag_list *diags) {
    const vyre_program_view *p = vyre_program_get(program);
    lint l = {.c = {.allocator = vyre_allocator_or_system(allocator), .program = program, .p = p},
              .p = p};
    const vyre_allocator *a = &l.c.allocator;
    vyre_status status = vyre_shaped_init(&l.facts, program, a);
    if (status != VYRE_OK) {
        return status;
    }
    l.used = vyre_alloc_zeroed(a, p->var_count, sizeof *l.used);
    l.known = vyre_alloc_zeroed(a, p->expr_count, sizeof *l.known);
    l.bits = vyre_alloc_zeroed(a, p->expr_count, sizeof *l.bits);
    l.told = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.told);
    l.c.failed = !l.used || !l.known || !l.bits || !l.told;
    if (!l.c.failed) {
        look_at_program(&l);
    }
    if (!l.c.failed && options && options->speed) {
        vyre_lint_speed(&l);
    }
    status = l.c.failed ? VYRE_OUT_OF_MEMORY : VYRE_OK;
    if (diags && status == VYRE_OK) {
        vyre_checker_hand_over(&l.c, diags);
    }
    vyre_free(a, l.used, p->var_count, sizeof *l.used);
    vyre_free(a, l.known, p->expr_count, sizeof *l.known);
    vyre_free(a, l.bits, p->expr_count, sizeof *l.bits);
    vyre_free(a, l.told, p->stmt_count, sizeof *l.told);
    vyre_vec_free(a, &l.c.reports);
    vyre_shaped_finish(&l.facts);
    return status;
}
