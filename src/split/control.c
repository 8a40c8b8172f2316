/* Control: the declarations of the source and one for what lanes make, a binding of each scalar,
 * and for each step the assignments that somebody needs, in the order of its block.
 *
 * An assignment is needed if its scalar is alive behind the block, or if a later one of the block
 * needs it, its condition included: one walk backwards over each block. A counted loop takes
 * `more = step < to - k; k = k + step`, which is exact as long as k < to, and so it is in a trip.
 */
#include "split/control.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/rewrite.h"
#include "ir/size.h"
#include "split/needs.h"
#include "split/words.h"

/* One assignment to a scalar, or to the scalar of conditions (VYRE_NONE). */
typedef struct assignment {
    uint32_t value;
    uint8_t item_kind; /* which part of a FOR; RANGE for other statements */
    vyre_stmt stmt;
    bool needed;
} assignment;

typedef struct maker {
    vyre_module *m;
    const vyre_carry_plan *plan;
    const vyre_program_view *p;
    vyre_rewriter rw;
    vyre_builder *b;
    vyre_var *scalars; /* by number */
    uint32_t
        *alive_in; /* per value: the last block, plus 1, behind a statement of which it is needed */
    VYRE_VEC(assignment) list; /* of the block at hand */
    vyre_decl made;
    uint32_t count; /* statements so far */
} maker;

static vyre_expr u32(maker *m, uint32_t value) {
    return vyre_build_u32(m->b, value);
}

static vyre_expr op2(maker *m, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, op, x, y, VYRE_NONE);
}

static uint32_t loop_value(const maker *m, vyre_stmt s, uint32_t value) {
    return vyre_loop_value(m->p, m->plan->blocks, s, value);
}

/* ---- which assignments ---- */

static bool add(maker *m, uint32_t value, uint8_t item_kind, vyre_stmt s) {
    const assignment made = {.value = value, .item_kind = item_kind, .stmt = s};
    return vyre_vec_push(&m->rw.allocator, &m->list, made);
}

static bool list_item(maker *m, const vyre_item *item) {
    const vyre_scalars *scalars = &m->plan->scalars;
    bool ok = true;
    if (item->kind == VYRE_ITEM_RANGE) {
        for (vyre_stmt s = item->begin; s < item->end && ok; s++) {
            if (scalars->stmt[s] & VYRE_BY_CONTROL) {
                ok = add(m, m->p->stmts[s].var, item->kind, s);
            }
        }
        return ok;
    }
    const vyre_stmt s = item->begin;
    const uint32_t var = m->p->stmts[s].var, more = loop_value(m, s, VYRE_LOOP_MORE);
    if (!(vyre_scalars_bits(scalars, item->kind, s) & VYRE_BY_CONTROL)) {
        return true;
    }
    return item->kind == VYRE_ITEM_FOR_STEP
               ? add(m, more, item->kind, s) && add(m, var, item->kind, s)
               : add(m, var, item->kind, s) &&
                     add(m, loop_value(m, s, VYRE_LOOP_TO), item->kind, s) &&
                     add(m, loop_value(m, s, VYRE_LOOP_STEP), item->kind, s) &&
                     add(m, more, item->kind, s);
}

static void need(maker *m, vyre_expr root, uint32_t mark) {
    for (vyre_expr e = root == VYRE_NONE ? 1 : vyre_expr_first(m->p, root);
         root != VYRE_NONE && e <= root; e++) {
        if (m->p->exprs[e].op == VYRE_EXPR_VAR) {
            m->alive_in[m->p->exprs[e].ref] = mark;
        }
    }
}

static void need_bounds(maker *m, vyre_stmt s, uint32_t mark) {
    m->alive_in[loop_value(m, s, VYRE_LOOP_TO)] = mark; /* asked of those that are assigned only */
    m->alive_in[loop_value(m, s, VYRE_LOOP_STEP)] = mark;
    m->alive_in[m->p->stmts[s].var] = mark;
}

/* What the assignment is made of is needed in front of it. */
static void need_operands(maker *m, const assignment *a, uint32_t mark) {
    const vyre_stmt_node *n = &m->p->stmts[a->stmt];
    if (a->item_kind == VYRE_ITEM_RANGE) {
        need(m, n->arg[0], mark);
    } else if (a->item_kind == VYRE_ITEM_FOR_STEP ||
               a->value == loop_value(m, a->stmt, VYRE_LOOP_MORE)) {
        need_bounds(m, a->stmt, mark);
    } else {
        need(m,
             n->arg[a->value == n->var                                 ? 0
                    : a->value == loop_value(m, a->stmt, VYRE_LOOP_TO) ? 1
                                                                       : 2],
             mark);
    }
}

static void find_needed(maker *m, uint32_t block) {
    const vyre_block *b = &m->plan->blocks->list.data[block];
    const uint32_t mark = block + 1;
    for (uint32_t i = m->plan->first_present[block]; i < m->plan->first_present[block + 1]; i++) {
        const vyre_presence *at = &m->plan->present[i];
        if (at->entity < m->plan->scalars.value_count && at->flags & VYRE_LIVE_OUT &&
            !(at->flags & VYRE_MADE)) { /* what lanes make comes later */
            m->alive_in[at->entity] = mark;
        }
    }
    const bool decides = b->exit == VYRE_EXIT_BRANCH && m->plan->scalars.decided[block];
    if (decides && m->p->stmts[b->condition].op == VYRE_STMT_FOR) {
        m->alive_in[loop_value(m, b->condition, VYRE_LOOP_MORE)] = mark;
    } else if (decides) {
        need(m, m->p->stmts[b->condition].arg[0], mark);
    }
    for (uint32_t i = m->list.count; i-- > 0;) {
        assignment *a = &m->list.data[i];
        a->needed =
            m->alive_in[a->value] == mark && m->plan->entities[a->value].scalar != VYRE_NONE;
        if (a->needed) {
            m->alive_in[a->value] = 0;
            need_operands(m, a, mark);
        }
    }
}

/* ---- what they are ---- */

static vyre_expr scalar_value(maker *m, uint32_t value) {
    return vyre_build_var(m->b, m->scalars[m->plan->entities[value].scalar]);
}

/* End or step of a loop. */
static vyre_expr bound(maker *m, vyre_stmt s, uint32_t which) {
    const vyre_expr e = m->p->stmts[s].arg[which == VYRE_LOOP_TO ? 1 : 2];
    return e == VYRE_NONE                      ? u32(m, 1)
           : vyre_loop_is_leaf(m->p, s, which) ? vyre_rewrite_expr(&m->rw, e)
                                               : scalar_value(m, loop_value(m, s, which));
}

static bool steps_surely(const maker *m, vyre_stmt s) {
    const vyre_expr e = m->p->stmts[s].arg[2];
    return e == VYRE_NONE || (m->p->exprs[e].op == VYRE_EXPR_LITERAL && m->p->exprs[e].u.bits != 0);
}

static vyre_expr loop_expr(maker *m, const assignment *a) {
    const vyre_stmt s = a->stmt;
    const vyre_stmt_node *n = &m->p->stmts[s];
    if (a->item_kind == VYRE_ITEM_FOR_STEP) {
        vyre_expr var = scalar_value(m, n->var), step = bound(m, s, VYRE_LOOP_STEP);
        return a->value == n->var ? op2(m, VYRE_EXPR_ADD, var, step)
                                  : op2(m, VYRE_EXPR_LT, step,
                                        op2(m, VYRE_EXPR_SUB, bound(m, s, VYRE_LOOP_TO), var));
    }
    if (a->value != loop_value(m, s, VYRE_LOOP_MORE)) {
        const uint32_t arg = a->value == n->var                           ? 0
                             : a->value == loop_value(m, s, VYRE_LOOP_TO) ? 1
                                                                          : 2;
        return n->arg[arg] == VYRE_NONE ? u32(m, 1) : vyre_rewrite_expr(&m->rw, n->arg[arg]);
    }
    vyre_expr some = op2(m, VYRE_EXPR_LT, scalar_value(m, n->var), bound(m, s, VYRE_LOOP_TO));
    return steps_surely(m, s) ? some
                              : op2(m, VYRE_EXPR_AND, some,
                                    op2(m, VYRE_EXPR_NE, bound(m, s, VYRE_LOOP_STEP), u32(m, 0)));
}

static void assign(maker *m, uint32_t scalar, vyre_expr value) {
    vyre_build_assign(m->b, m->scalars[scalar], value);
    m->count++;
}

static void build_enter(maker *m, uint32_t block) {
    const vyre_block *b = &m->plan->blocks->list.data[block];
    for (uint32_t i = 0; i < m->list.count; i++) {
        const assignment *a = &m->list.data[i];
        if (a->needed) {
            vyre_expr value = a->item_kind == VYRE_ITEM_RANGE
                                  ? vyre_rewrite_expr(&m->rw, m->p->stmts[a->stmt].arg[0])
                                  : loop_expr(m, a);
            vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, a->stmt));
            assign(m, m->plan->entities[a->value].scalar, value);
        }
    }
    if (m->plan->scalars.decided[block] && m->p->stmts[b->condition].op != VYRE_STMT_FOR) {
        vyre_expr value = vyre_rewrite_expr(&m->rw, m->p->stmts[b->condition].arg[0]);
        if (vyre_builder_expr_type(m->b, value) != VYRE_BOOL) {
            value = op2(m, VYRE_EXPR_NE, value, u32(m, 0));
        }
        vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, b->condition));
        assign(m, m->plan->condition_scalar[block], value);
    }
}

static void build_leave(maker *m, uint32_t block) {
    vyre_made made = vyre_carry_begin_made(m->plan, block);
    while (vyre_carry_next_made(m->plan, block, &made)) {
        vyre_expr low = vyre_build_load(m->b, m->made, u32(m, made.word));
        vyre_expr high =
            made.words == 2 ? vyre_build_load(m->b, m->made, u32(m, made.word + 1)) : VYRE_NONE;
        assign(m,
               made.entity == VYRE_NONE ? m->plan->condition_scalar[block]
                                        : m->plan->entities[made.entity].scalar,
               vyre_words_decode(m->b, (vyre_type)made.type, low, high));
    }
}

static bool build_step(maker *m, uint32_t block, vyre_step *step) {
    const vyre_block *b = &m->plan->blocks->list.data[block];
    bool ok = true;
    m->list.count = 0;
    for (uint32_t i = b->first; i != VYRE_NONE && ok; i = m->plan->blocks->items.data[i].next) {
        ok = list_item(m, &m->plan->blocks->items.data[i]);
    }
    find_needed(m, block);
    step->enter_begin = m->count;
    build_enter(m, block);
    step->enter_end = step->leave_begin = m->count;
    build_leave(m, block);
    step->leave_end = m->count;
    step->decides = b->exit != VYRE_EXIT_BRANCH ? VYRE_NONE
                    : m->p->stmts[b->condition].op == VYRE_STMT_FOR
                        ? m->plan->entities[loop_value(m, b->condition, VYRE_LOOP_MORE)].scalar
                        : m->plan->condition_scalar[block];
    return ok;
}

/* ---- scalars ---- */

/* Names of variables are told apart already; hidden ones are numbered. */
static void bind_scalar(maker *m, uint32_t number, const char *name, vyre_type type,
                        vyre_place place) {
    vyre_builder_at(m->b, place);
    m->scalars[number] = vyre_build_let(m->b, name, vyre_build_literal(m->b, type, 0));
    m->count++;
}

static void bind_scalars(maker *m) {
    static const char *const suffix[] = {"to", "step", "more"};
    const vyre_program *source = m->m->source;
    for (uint32_t e = 0; e < m->plan->scalars.value_count; e++) {
        const vyre_entity *entity = &m->plan->entities[e];
        const uint32_t hidden = e - m->p->var_count;
        char name[64];
        if (entity->scalar == VYRE_NONE) {
            continue;
        }
        if (e < m->p->var_count) {
            bind_scalar(m, entity->scalar, m->p->vars[e].name, (vyre_type)entity->type,
                        vyre_program_var_place(source, e));
            m->rw.vars[e] = m->scalars[entity->scalar];
            continue;
        }
        (void)snprintf(name, sizeof name, "%sloop%lu_%s", m->m->names.prefix,
                       (unsigned long)(hidden / VYRE_LOOP_VALUES),
                       suffix[hidden % VYRE_LOOP_VALUES]);
        bind_scalar(m, entity->scalar, name, (vyre_type)entity->type,
                    vyre_program_stmt_place(
                        source, m->plan->blocks->loops.data[hidden / VYRE_LOOP_VALUES]));
    }
    for (uint32_t b = 0, number = 0; b < m->plan->blocks->list.count; b++) {
        char name[64];
        if (m->plan->condition_scalar[b] != VYRE_NONE) {
            (void)snprintf(name, sizeof name, "%s%lu", m->m->names.condition,
                           (unsigned long)number++);
            bind_scalar(m, m->plan->condition_scalar[b], name, VYRE_BOOL,
                        vyre_program_stmt_place(source, m->plan->blocks->list.data[b].condition));
        }
    }
}

static bool is_condition(const vyre_module *m, uint32_t scalar) {
    return scalar >= m->first_condition;
}

/* Scalars that the host knows: all but those that need memory, also through others. */
static bool find_host(vyre_module *m, const vyre_program_view *p) {
    vyre_needs users; /* the other way round: what must be known again if a scalar is not */
    bool ok = vyre_needs_init(&users, p->var_count, &m->allocator);
    for (vyre_stmt s = p->entry; s < p->stmt_count && ok; s++) {
        for (vyre_expr e = p->stmts[s].first_expr; e < p->stmts[s].end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_VAR) {
                vyre_needs_add(&users, p->exprs[e].ref, p->stmts[s].var, 0, false);
            }
        }
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count && ok; s++) {
        for (vyre_expr e = p->stmts[s].first_expr; e < p->stmts[s].end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_LOAD) {
                vyre_needs_mark(&users, p->stmts[s].var);
            }
        }
    }
    for (uint32_t i = 0; i < p->var_count && ok; i++) {
        m->scalars[i].host = !users.needed[i];
    }
    ok = ok && !users.failed;
    vyre_needs_finish(&users);
    return ok;
}

/* Where the others are, if lanes read them in device memory. Conditions are not: nobody does. */
static void place_scalars(vyre_module *m) {
    for (uint32_t i = 0; i < m->view.scalar_count && m->view.ahead; i++) {
        vyre_scalar *scalar = &m->scalars[i];
        if (!scalar->host && !is_condition(m, i)) {
            const uint32_t words = vyre_type_size((vyre_type)scalar->type) / 4;
            m->view.scalar_words += m->view.scalar_words % words; /* pairs from even ones on */
            scalar->word = m->view.scalar_words;
            m->view.scalar_words += words;
        }
    }
}

static bool loads(const vyre_program_view *p, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt s = begin; s < end; s++) {
        for (vyre_expr e = p->stmts[s].first_expr; e < p->stmts[s].end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_LOAD) {
                return true;
            }
        }
    }
    return false;
}

/* Values of expressions lie behind what a position keeps. */
static bool add_code(vyre_module *m, const vyre_program_view *p, vyre_stmt begin, vyre_stmt end) {
    bool ok = true;
    for (vyre_stmt s = begin; s < end && ok; s++) {
        if (!m->view.ahead || m->scalars[p->stmts[s].var].host) { /* else the device computes it */
            ok = vyre_control_code_add(&m->code, p, s,
                                       m->view.scalar_count + VYRE_PLACES + m->view.swapped_count,
                                       &m->allocator);
        }
    }
    return ok;
}

static bool make_code(vyre_module *m, const vyre_program_view *p) {
    m->step_code = vyre_alloc(&m->allocator, m->view.step_count, sizeof *m->step_code);
    bool ok = m->step_code;
    for (uint32_t i = 0; i < m->view.step_count && ok; i++) {
        const vyre_step *step = &m->steps[i];
        vyre_step_code *code = &m->step_code[i];
        code->reads = loads(p, step->enter_begin, step->enter_end);
        code->enter = m->code.list.count;
        ok = add_code(m, p, step->enter_begin, step->enter_end);
        code->leave = m->code.list.count;
        ok = ok && add_code(m, p, step->leave_begin, step->leave_end);
        code->end = m->code.list.count;
    }
    return ok;
}

static vyre_status describe_scalars(vyre_module *m, const vyre_carry_plan *plan) {
    const vyre_program_view *p = vyre_program_get(m->control);
    m->view.scalar_count = p->var_count;
    m->first_condition = p->var_count;
    for (uint32_t b = plan->blocks->list.count; b-- > 0;) {
        m->first_condition =
            plan->condition_scalar[b] != VYRE_NONE ? plan->condition_scalar[b] : m->first_condition;
    }
    m->scalars = vyre_alloc_zeroed(&m->allocator, p->var_count, sizeof *m->scalars);
    if (!m->scalars) {
        return VYRE_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < p->var_count; i++) {
        m->scalars[i] = (vyre_scalar){.name = p->vars[i].name,
                                      .type = p->vars[i].type,
                                      .word = VYRE_NONE,
                                      .place = vyre_program_var_place(m->control, i)};
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const uint32_t nodes = p->stmts[s].end_expr - p->stmts[s].first_expr;
        m->control_nodes = nodes > m->control_nodes ? nodes : m->control_nodes;
    }
    if (!find_host(m, p)) {
        return VYRE_OUT_OF_MEMORY;
    }
    place_scalars(m);
    return make_code(m, p) ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

static vyre_expr replace(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands, void *user) {
    static const vyre_size_env nothing = {0};
    const vyre_expr_node *n = &rw->p->exprs[expr];
    uint64_t count = 0;
    (void)operands, (void)user;
    if (n->op == VYRE_EXPR_LEN && !vyre_role_is_buffer((vyre_role)rw->p->decls[n->ref].role)) {
        (void)vyre_size_evaluate(rw->p, rw->p->decls[n->ref].size, &nothing, &count, NULL);
        return vyre_build_u32(rw->to, (uint32_t)count); /* of constant size */
    }
    return vyre_rewrite_const(rw, expr);
}

static bool build(maker *m) {
    const vyre_allocator *a = &m->rw.allocator;
    m->scalars = vyre_alloc(a, m->plan->scalar_count, sizeof *m->scalars);
    m->alive_in = vyre_alloc_zeroed(a, m->plan->scalars.value_count, sizeof *m->alive_in);
    bool ok = m->scalars && m->alive_in;
    if (ok) {
        vyre_build_workgroup(m->b, m->p->workgroup[0], m->p->workgroup[1], m->p->workgroup[2]);
        vyre_rewrite_decls(&m->rw);
        m->made = vyre_build_memory(m->b, VYRE_IN, m->m->names.made, VYRE_U32, VYRE_NONE);
        bind_scalars(m);
    }
    for (uint32_t i = 0; i < m->m->view.step_count && ok; i++) {
        ok = build_step(m, i, &m->m->steps[i]);
    }
    vyre_free(a, m->scalars, m->plan->scalar_count, sizeof *m->scalars);
    vyre_free(a, m->alive_in, m->plan->scalars.value_count, sizeof *m->alive_in);
    vyre_vec_free(a, &m->list);
    return ok;
}

vyre_status vyre_control_build(vyre_module *module, const vyre_carry_plan *plan, vyre_diag *diag) {
    char name[VYRE_LIMIT_NAME + 1];
    maker m = {.m = module, .plan = plan, .p = plan->p};
    (void)snprintf(name, sizeof name, "%.200s_control", plan->p->name);
    if (vyre_builder_create(&module->allocator, name, &m.b) != VYRE_OK) {
        return vyre_fail_memory(diag, "splitting");
    }
    vyre_status status = vyre_rewriter_init(&m.rw, module->source, m.b, &module->allocator);
    if (status == VYRE_OK) {
        m.rw.replace = replace;
        status = build(&m) ? vyre_builder_finish(m.b, &module->control, diag) : VYRE_OUT_OF_MEMORY;
        vyre_rewriter_finish(&m.rw);
    }
    if (status == VYRE_OK) {
        status = describe_scalars(module, plan);
    }
    vyre_builder_destroy(m.b);
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "splitting") : status;
}
