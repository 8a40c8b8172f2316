/* A control segment, for one lane:
 *
 *     if (_turn[0] != _expect) { exit; }         where the device decides: only if it is its turn
 *     let level = _scalars[0];                   what is not known to the host, and needed
 *     level = level + 1;                         assignments of the step, first those of `enter`
 *     let size = count[level & 1];
 *     _scalars[0] = level;                       what is not known to the host, and changed
 *     _turn[0] = _tick * 4 + ...                 if the step is doubtful
 *
 * It runs behind the step's segment, so lanes have read the scalars as they were when the step was
 * entered. That loads come later than in a schedule that is run by the host makes no difference:
 * nobody writes such an element between the grid barriers around. What the host knows comes as
 * params, as it was when the step was entered; where the step changes it, that is done here, too,
 * if something depends on it. */
#include "split/control_segment.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/builder.h"
#include "ir/rewrite.h"
#include "split/words.h"
#include "vyre/limits.h"

typedef struct maker {
    vyre_module *m;
    const vyre_program_view *p; /* the control program */
    vyre_rewriter rw;           /* from it */
    vyre_builder *b;
    const vyre_step *step;
    bool *needed;    /* per statement of the control program */
    bool *alive;     /* per scalar, while looking backwards; then: read before it is set */
    bool *changed;   /* per scalar */
    vyre_decl *decl; /* per declaration of the control program: in the segment */
    vyre_decl groups[3];
    vyre_decl made, turn, tick, expect;
    vyre_decl scalars[VYRE_VIEWS];
    VYRE_VEC(vyre_segment_decl) kinds;
} maker;

static vyre_expr u32(maker *m, uint32_t value) {
    return vyre_build_u32(m->b, value);
}

static vyre_expr op2(maker *m, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, op, x, y, VYRE_NONE);
}

/* ---- which statements ---- */

/* Whether the device knows which way the step goes, and the host does not. */
static bool decides(const maker *m) {
    return m->step->decides != VYRE_NONE && !m->m->scalars[m->step->decides].host;
}

/* The step's statements that set what the host does not know, and what these need. */
static bool find_needed(maker *m) {
    const vyre_scalar *scalars = m->m->scalars;
    bool any = false;
    memset(m->alive, 0, m->p->var_count * sizeof *m->alive);
    memset(m->changed, 0, m->p->var_count * sizeof *m->changed);
    for (vyre_stmt s = m->step->leave_end; s-- > m->step->enter_begin;) {
        const vyre_stmt_node *n = &m->p->stmts[s];
        m->needed[s] = m->alive[n->var] || !scalars[n->var].host;
        if (!m->needed[s]) {
            continue;
        }
        any |= !scalars[n->var].host;
        m->alive[n->var] = false;
        m->changed[n->var] = true;
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            if (m->p->exprs[e].op == VYRE_EXPR_VAR) {
                m->alive[m->p->exprs[e].ref] = true;
            }
        }
    }
    if (decides(m) && !m->changed[m->step->decides]) {
        m->alive[m->step->decides] = true; /* as it was */
    }
    return any || m->step->doubtful;
}

/* ---- declarations ---- */

static void note(maker *m, vyre_decl_kind kind, uint32_t ref) {
    if (!vyre_vec_push(&m->rw.allocator, &m->kinds, ((vyre_segment_decl){(uint8_t)kind, ref}))) {
        vyre_builder_fail_memory(m->b);
    }
}

static vyre_decl buffer(maker *m, vyre_decl *slot, vyre_role role, const char *name,
                        uint32_t place) {
    if (*slot == VYRE_NONE) {
        *slot = vyre_build_memory(m->b, role, name, VYRE_U32, VYRE_NONE);
        note(m, VYRE_DECL_PLACE, place);
    }
    return *slot;
}

/* _scalars, as memory of the type. */
static vyre_decl scalar_memory(maker *m, vyre_view view) {
    char name[VYRE_MODULE_NAME + 8];
    const vyre_type type = vyre_view_type(view);
    (void)snprintf(name, sizeof name, "%s_%s", m->m->names.scalars, vyre_type_name(type));
    if (m->scalars[view] == VYRE_NONE) {
        m->scalars[view] = vyre_build_memory(m->b, VYRE_INOUT,
                                             view == VYRE_VIEW_WORDS ? m->m->names.scalars : name,
                                             type, VYRE_NONE);
        note(m, VYRE_DECL_PLACE, VYRE_PLACE_SCALARS);
    }
    return m->scalars[view];
}

static vyre_expr param(maker *m, vyre_decl *slot, const char *name, vyre_decl_kind kind,
                       uint32_t ref) {
    if (*slot == VYRE_NONE) {
        *slot = vyre_build_param(m->b, name, VYRE_U32, VYRE_NONE);
        note(m, kind, ref);
    }
    return vyre_build_ref(m->b, *slot);
}

/* Buffers and params of the source, when first used. */
static vyre_decl source_decl(maker *m, vyre_decl d) {
    const vyre_decl_node *n = &m->p->decls[d];
    if (d == m->p->decl_count - 1) {
        return buffer(m, &m->made, VYRE_IN, m->m->names.made, VYRE_PLACE_MADE);
    }
    if (m->decl[d] == VYRE_NONE) {
        m->decl[d] = n->role == VYRE_PARAM
                         ? vyre_build_param(m->b, n->name, (vyre_type)n->type, VYRE_NONE)
                         : vyre_build_memory(m->b, VYRE_IN, n->name, (vyre_type)n->type, VYRE_NONE);
        note(m, VYRE_DECL_SOURCE, d);
    }
    return m->decl[d];
}

/* The ids of the grid, which is not that of the launch. */
static vyre_expr grid_id(maker *m, const vyre_expr_node *n) {
    const uint32_t size = m->p->workgroup[n->axis];
    vyre_expr groups = VYRE_NONE;
    switch ((vyre_builtin)n->sub) {
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GLOBAL_SIZE:
        groups = param(m, &m->groups[n->axis], m->m->names.groups[n->axis], VYRE_DECL_GROUP_COUNT,
                       n->axis);
        return n->sub == VYRE_BUILTIN_NUM_GROUPS ? groups
                                                 : op2(m, VYRE_EXPR_MUL, groups, u32(m, size));
    case VYRE_BUILTIN_GROUP_SIZE: return u32(m, size);
    case VYRE_BUILTIN_SUBGROUP_SIZE: return u32(m, VYRE_SUBGROUP_SIZE_FIXED);
    case VYRE_BUILTIN_LOCAL_ID: /* of an axis of one lane */
    case VYRE_BUILTIN_GLOBAL_ID:
    case VYRE_BUILTIN_GROUP_ID:
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
    case VYRE_BUILTIN_COUNT: break;
    }
    return u32(m, 0);
}

static vyre_expr replace(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands, void *user) {
    maker *m = user;
    const vyre_expr_node *n = &rw->p->exprs[expr];
    switch ((int)n->op) {
    case VYRE_EXPR_BUILTIN: return grid_id(m, n);
    case VYRE_EXPR_LOAD: return vyre_build_load(m->b, source_decl(m, n->ref), operands[0]);
    case VYRE_EXPR_LEN: return vyre_build_len(m->b, source_decl(m, n->ref));
    case VYRE_EXPR_REF: return vyre_build_ref(m->b, source_decl(m, n->ref));
    default: return VYRE_NONE;
    }
}

/* ---- the segment ---- */

static void check_turn(maker *m) {
    vyre_decl turn = buffer(m, &m->turn, m->step->doubtful ? VYRE_INOUT : VYRE_IN, m->m->names.turn,
                            VYRE_PLACE_TURN);
    vyre_expr expect = param(m, &m->expect, m->m->names.expect, VYRE_DECL_EXPECT, 0);
    vyre_build_if(m->b, op2(m, VYRE_EXPR_NE, vyre_build_load(m->b, turn, u32(m, 0)), expect));
    vyre_build_exit(m->b);
    vyre_build_end(m->b);
}

static vyre_expr element_of(maker *m, const vyre_scalar *x, vyre_view view) {
    return u32(m, view == VYRE_VIEW_WORDS ? x->word : x->word / 2);
}

static void restore(maker *m, uint32_t scalar) {
    const vyre_scalar *x = &m->m->scalars[scalar];
    const vyre_type type = (vyre_type)x->type;
    if (x->host) {
        char name[VYRE_LIMIT_NAME + 1];
        (void)snprintf(name, sizeof name, "%sold_%.200s", m->m->names.prefix, x->name);
        vyre_decl known = vyre_build_param(m->b, name, type, VYRE_NONE);
        note(m, VYRE_DECL_SCALAR, scalar);
        m->rw.vars[scalar] = vyre_build_let(m->b, x->name, vyre_build_ref(m->b, known));
        return;
    }
    const vyre_view view = vyre_view_of(type);
    vyre_expr value = vyre_build_load(m->b, scalar_memory(m, view), element_of(m, x, view));
    if (view == VYRE_VIEW_WORDS) {
        value = vyre_words_decode(m->b, type, value, VYRE_NONE);
    }
    m->rw.vars[scalar] = vyre_build_let(m->b, x->name, value);
}

static void copy_assignments(maker *m) {
    for (vyre_stmt s = m->step->enter_begin; s < m->step->leave_end; s++) {
        const vyre_stmt_node *n = &m->p->stmts[s];
        if (!m->needed[s]) {
            continue;
        }
        vyre_expr value = vyre_rewrite_expr(&m->rw, n->arg[0]);
        vyre_builder_at(m->b, vyre_program_stmt_place(m->m->control, s));
        if (m->rw.vars[n->var] == VYRE_NONE) {
            m->rw.vars[n->var] = vyre_build_let(m->b, m->m->scalars[n->var].name, value);
        } else {
            vyre_build_assign(m->b, m->rw.vars[n->var], value);
        }
    }
    vyre_builder_at(m->b, vyre_program_place(m->m->source));
}

static void store(maker *m, uint32_t scalar) {
    const vyre_scalar *x = &m->m->scalars[scalar];
    const vyre_view view = vyre_view_of((vyre_type)x->type);
    if (x->word != VYRE_NONE) {
        vyre_expr value = vyre_build_var(m->b, m->rw.vars[scalar]);
        vyre_build_store(m->b, scalar_memory(m, view), element_of(m, x, view),
                         view == VYRE_VIEW_WORDS
                             ? vyre_words_encode(m->b, (vyre_type)x->type, value, 0)
                             : value);
    }
}

/* 4 * _tick + 2 * (no lane is alive) + (the condition holds) */
static void decide(maker *m) {
    vyre_expr word =
        op2(m, VYRE_EXPR_MUL, param(m, &m->tick, m->m->names.tick, VYRE_DECL_TICK, 0), u32(m, 4));
    if (m->step->asks) {
        vyre_decl made = buffer(m, &m->made, VYRE_IN, m->m->names.made, VYRE_PLACE_MADE);
        vyre_expr dead = op2(m, VYRE_EXPR_NE, vyre_build_load(m->b, made, u32(m, 0)),
                             param(m, &m->tick, m->m->names.tick, VYRE_DECL_TICK, 0));
        word = op2(m, VYRE_EXPR_ADD, word,
                   op2(m, VYRE_EXPR_MUL, vyre_build_cast(m->b, VYRE_U32, dead), u32(m, 2)));
    }
    if (decides(m)) {
        word = op2(
            m, VYRE_EXPR_ADD, word,
            vyre_build_cast(m->b, VYRE_U32, vyre_build_var(m->b, m->rw.vars[m->step->decides])));
    }
    vyre_build_store(m->b, buffer(m, &m->turn, VYRE_INOUT, m->m->names.turn, VYRE_PLACE_TURN),
                     u32(m, 0), word);
}

static void build(maker *m) {
    vyre_builder_at(m->b, vyre_program_place(m->m->source));
    vyre_build_workgroup(m->b, 1, 1, 1);
    if (m->m->view.checks_turn) {
        check_turn(m);
    }
    for (uint32_t i = 0; i < m->p->var_count; i++) {
        if (m->alive[i]) {
            restore(m, i);
        }
    }
    copy_assignments(m);
    for (uint32_t i = 0; i < m->p->var_count; i++) {
        if (m->changed[i]) {
            store(m, i);
        }
    }
    if (m->step->doubtful) {
        decide(m);
    }
}

static void reset(maker *m) {
    memset(m->rw.vars, 0xff, m->p->var_count * sizeof *m->rw.vars);
    memset(m->decl, 0xff, m->p->decl_count * sizeof *m->decl);
    memset(m->groups, 0xff, sizeof m->groups);
    memset(m->scalars, 0xff, sizeof m->scalars);
    m->made = m->turn = m->tick = m->expect = VYRE_NONE;
    m->kinds.count = 0;
}

static vyre_status add_segment(maker *m, uint32_t number, vyre_diag *diag) {
    vyre_module *module = m->m;
    const uint32_t at = module->view.segment_count;
    char name[VYRE_LIMIT_NAME + 1];
    (void)snprintf(name, sizeof name, "%.200s_control_%lu", vyre_program_get(module->source)->name,
                   (unsigned long)number);
    if (vyre_builder_create(&module->allocator, name, &m->b) != VYRE_OK) {
        return VYRE_OUT_OF_MEMORY;
    }
    m->rw.to = m->b;
    reset(m);
    build(m);
    vyre_status status = vyre_builder_finish(m->b, &module->segments[at], diag);
    vyre_builder_destroy(m->b);
    if (status != VYRE_OK) {
        return status;
    }
    module->view.segment_count++;
    module->steps[number].control = at;
    module->decls[at] = vyre_alloc(&module->allocator, m->kinds.count, sizeof **module->decls);
    if (!module->decls[at]) {
        return VYRE_OUT_OF_MEMORY;
    }
    if (m->kinds.count > 0) {
        memcpy(module->decls[at], m->kinds.data, m->kinds.count * sizeof **module->decls);
    }
    return vyre_module_list_changing(module, at) ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

vyre_status vyre_control_segments(vyre_module *module, vyre_diag *diag) {
    const vyre_allocator *a = &module->allocator;
    maker m = {.m = module, .p = vyre_program_get(module->control)};
    if (vyre_rewriter_init(&m.rw, module->control, NULL, a) != VYRE_OK) {
        return vyre_fail_memory(diag, "splitting");
    }
    m.rw.replace = replace;
    m.rw.user = &m;
    m.needed = vyre_alloc_zeroed(a, m.p->stmt_count, sizeof *m.needed);
    m.alive = vyre_alloc_zeroed(a, m.p->var_count, sizeof *m.alive);
    m.changed = vyre_alloc_zeroed(a, m.p->var_count, sizeof *m.changed);
    m.decl = vyre_alloc_zeroed(a, m.p->decl_count, sizeof *m.decl);
    vyre_status status = m.needed && m.alive && m.changed && m.decl ? VYRE_OK : VYRE_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < module->view.step_count && status == VYRE_OK; i++) {
        m.step = &module->steps[i];
        if (find_needed(&m)) {
            status = add_segment(&m, i, diag);
        }
    }
    vyre_free(a, m.needed, m.p->stmt_count, sizeof *m.needed);
    vyre_free(a, m.alive, m.p->var_count, sizeof *m.alive);
    vyre_free(a, m.changed, m.p->var_count, sizeof *m.changed);
    vyre_free(a, m.decl, m.p->decl_count, sizeof *m.decl);
    vyre_vec_free(a, &m.kinds);
    vyre_rewriter_finish(&m.rw);
    return status == VYRE_OUT_OF_MEMORY ? vyre_fail_memory(diag, "splitting") : status;
}
