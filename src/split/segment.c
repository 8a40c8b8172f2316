/* Segments. The shape of what is built:
 *
 *     if (_turn[0] != _expect) { exit; }        of modules for launching ahead: only in its turn
 *     let at = linear number of the lane;
 *     if (_lane[ended] != 0) { exit; }          lanes that ended stay ended, where some may have;
 *                                               or what they ended by is asked again: guards.h
 *     let x = _lane[slot * _lanes + at];        values that the block touches
 *     ... workgroup memory and private arrays back in place ...
 *     the block
 *     _lane[slot * _lanes + at] = x;            what it changed and is alive
 *     _next[slot] = y;                          by every living lane: any one may have ended
 *     _made[word] = z;                          what the schedule wants to know, likewise
 *
 * All of it stands in the regions of the source that are common to the whole block. Statements that
 * only the schedule needs are left out, and what it knows comes as params.
 *
 * What lanes of a group share is read from _values and written to _next: within a launch some lanes
 * read before others have written. It also lets the validator see that what is read is the same for
 * all. */
#include "split/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "ir/builder.h"
#include "ir/size.h"
#include "split/segment_state.h"
#include "vyre/limits.h"

enum { READ = VYRE_TOUCHES_READ, WRITE = VYRE_TOUCHES_WRITE };

/* Which declarations the block uses, and how. */

static void note(maker *m, vyre_decl d, unsigned access) {
    if (!m->access[d] && !vyre_vec_push(&m->rw.allocator, &m->used, d)) {
        vyre_builder_fail_memory(m->b);
        return;
    }
    m->access[d] |= (uint8_t)access;
}

void vyre_segment_note_exprs(maker *m, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &m->p->exprs[e];
        if (n->op == VYRE_EXPR_LOAD || n->op == VYRE_EXPR_LEN || n->op == VYRE_EXPR_REF) {
            note(m, n->ref, READ);
        }
    }
}

/* Behind the last block nobody asks which lanes have ended. */
static bool remembers_ended(const maker *m) {
    return m->plan->ended_slot != VYRE_NONE && m->block->exit != VYRE_EXIT_END;
}

static bool is_left_out(const maker *m, uint8_t item_kind, vyre_stmt s) {
    return vyre_scalars_bits(&m->plan->scalars, item_kind, s) & VYRE_NOT_BY_LANES;
}

static void note_stmt(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    if (n->op == VYRE_STMT_INDIRECT_DISPATCH || is_left_out(m, VYRE_ITEM_RANGE, s)) {
        return;
    }
    vyre_segment_note_exprs(m, n->first_expr, n->end_expr);
    m->asks_subgroups |= n->op == VYRE_STMT_SUBGROUP;
    if (n->decl != VYRE_NONE) {
        note(m, n->decl, READ | vyre_stmt_info_of((vyre_stmt_op)n->op)->decl);
    }
    if (n->decl2 != VYRE_NONE) {
        note(m, n->decl2, READ | WRITE);
    }
    if (n->op != VYRE_STMT_LET && n->op != VYRE_STMT_ASSIGN &&
        vyre_stmt_info_of((vyre_stmt_op)n->op)->effects != VYRE_EFFECTS_FLOW) {
        m->has_effect = true;
    }
    m->has_effect |= (n->op == VYRE_STMT_EXIT && remembers_ended(m)) || n->op == VYRE_STMT_TRAP ||
                     n->op == VYRE_STMT_WHILE; /* which may not end */
}

static void note_block(maker *m) {
    for (uint32_t i = m->block->first; i != VYRE_NONE; i = m->plan->blocks->items.data[i].next) {
        const vyre_item *item = &m->plan->blocks->items.data[i];
        if (item->kind == VYRE_ITEM_RANGE) {
            for (vyre_stmt s = item->begin; s < item->end; s++) {
                note_stmt(m, s);
            }
        } else if (item->kind == VYRE_ITEM_FOR_INIT &&
                   !is_left_out(m, VYRE_ITEM_FOR_INIT, item->begin)) {
            vyre_segment_note_exprs(m, m->p->stmts[item->begin].first_expr,
                                    m->p->stmts[item->begin].end_expr);
        }
    }
    if (m->block->exit == VYRE_EXIT_BRANCH && !m->plan->scalars.decided[m->number] &&
        m->p->stmts[m->block->condition].op != VYRE_STMT_FOR) {
        vyre_segment_note_exprs(m, m->p->stmts[m->block->condition].first_expr,
                                m->p->stmts[m->block->condition].end_expr);
    }
}

/* Values that the segment needs at its start. */
static bool is_needed(const maker *m, const vyre_presence *presence) {
    const vyre_entity *entity = entity_of(m, presence);
    if (presence->entity >= m->values) {
        return false;
    }
    if (entity->kind == VYRE_CARRY_RECOMPUTED) {
        return has(presence, VYRE_WANTED);
    }
    if (entity->uniform) { /* or some path through the block keeps what it was */
        return has(presence, VYRE_WANTED) ||
               (has(presence, VYRE_LIVE_IN | VYRE_MADE) && !has(presence, VYRE_KILLS));
    }
    return has(presence, VYRE_LIVE_IN) &&
           (presence->flags & (VYRE_TOUCHES | VYRE_WANTED) ||
            (m->flips && vyre_entity_is_shared(entity) && has(presence, VYRE_LIVE_OUT)));
}

/* Declarations of the segment, in the order of the source, then the carry. */

static int by_number(const void *a, const void *b) {
    vyre_decl x = *(const vyre_decl *)a, y = *(const vyre_decl *)b;
    return (x > y) - (x < y);
}

static void declare_source(maker *m) {
    static const vyre_size_env nothing = {0};
    if (m->used.count > 0) {
        qsort(m->used.data, m->used.count, sizeof *m->used.data, by_number);
    }
    for (uint32_t i = 0; i < m->used.count; i++) {
        vyre_decl d = m->used.data[i];
        const vyre_decl_node *n = &m->p->decls[d];
        if (n->role == VYRE_CONST) {
            continue; /* consts are folded */
        }
        vyre_builder_at(m->b, vyre_program_decl_place(m->rw.source, d));
        if (n->role == VYRE_PARAM) {
            m->rw.decls[d] = vyre_build_param(m->b, n->name, (vyre_type)n->type,
                                              vyre_rewrite_expr(&m->rw, n->value));
            vyre_segment_note_decl(m, m->rw.decls[d], VYRE_DECL_SOURCE, d);
            continue;
        }
        vyre_role role = (vyre_role)n->role;
        vyre_expr size = VYRE_NONE;
        if (vyre_role_is_buffer(role) || (role == VYRE_WORKGROUP && is_of_group(m))) {
            bool writes = (m->access[d] & WRITE) != 0;
            role = writes ? VYRE_INOUT : VYRE_IN;
        } else {
            const vyre_entity *entity = &m->plan->entities[vyre_entity_of_decl(m->plan, d)];
            size = vyre_build_size(m->b, (int64_t)entity->count);
        }
        uint64_t count;
        vyre_decl unknown;
        if (size == VYRE_NONE && n->size != VYRE_NONE &&
            vyre_size_evaluate(m->p, n->size, &nothing, &count, &unknown) == VYRE_SIZE_OK) {
            size = vyre_build_size(m->b, (int64_t)count);
        }
        m->rw.decls[d] = vyre_build_memory(m->b, role, n->name, (vyre_type)n->type, size);
        vyre_segment_note_decl(m, m->rw.decls[d],
                               vyre_role_is_buffer(role) ? VYRE_DECL_SOURCE : VYRE_DECL_LOCAL, d);
    }
}

/* The block itself */

/* What a variable of a guard is made of; as deep as there are such variables at most. */
static vyre_expr guard_value(maker *m, vyre_var var) {
    uint32_t i = 0;
    while (m->guard->values[i].var != var) {
        i++;
    }
    return vyre_rewrite_expr(&m->rw, m->guard->values[i].value);
}

static vyre_expr replace(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands, void *user) {
    const vyre_expr_node *n = &rw->p->exprs[expr];
    maker *m = user;
    (void)operands;
    if (n->op == VYRE_EXPR_VAR && m->guard) {
        return guard_value(m, n->ref);
    }
    if (n->op == VYRE_EXPR_VAR) {
        return m->param[n->ref] == VYRE_NONE ? VYRE_NONE : vyre_build_ref(m->b, m->param[n->ref]);
    }
    return n->op == VYRE_EXPR_BUILTIN && is_of_group(m)
               ? vyre_segment_group_id(m, (vyre_builtin)n->sub, n->axis)
               : vyre_rewrite_const(rw, expr);
}

static void mark_ended(maker *m) {
    if (remembers_ended(m)) {
        vyre_segment_store_ended(m, u32(m, 1));
    }
}

static void copy_stmt(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    if (n->op == VYRE_STMT_INDIRECT_DISPATCH || is_left_out(m, VYRE_ITEM_RANGE, s)) {
        return; /* the grid is fixed before anything runs; no lane needs it */
    }
    if (n->op == VYRE_STMT_EXIT ||
        (n->op == VYRE_STMT_TRAP && vyre_block_goes_on(m->plan->blocks, m->block))) {
        vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
        mark_ended(m);
    }
    if (n->op == VYRE_STMT_LET && m->rw.vars[n->var] != VYRE_NONE) {
        vyre_expr value = vyre_rewrite_expr(&m->rw, n->arg[0]);
        vyre_build_assign(m->b, m->rw.vars[n->var], value);
        return;
    }
    switch (n->op) {
    case VYRE_STMT_PART: vyre_segment_part(m, s); break;
    case VYRE_STMT_COMBINE: vyre_segment_combine(m, s); break;
    case VYRE_STMT_BASE: vyre_segment_base(m, s); break;
    default: vyre_rewrite_stmt(&m->rw, s); break;
    }
}

static void copy_loop_init(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    uint32_t loop = m->plan->blocks->loop_of[s];
    uint32_t to = vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_TO);
    uint32_t step = vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_STEP);
    vyre_expr first = vyre_rewrite_expr(&m->rw, n->arg[0]);
    vyre_expr end = vyre_rewrite_expr(&m->rw, n->arg[1]);
    vyre_expr by = n->arg[2] == VYRE_NONE ? u32(m, 1) : vyre_rewrite_expr(&m->rw, n->arg[2]);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    vyre_segment_give(m, n->var, first);
    vyre_segment_give(m, to, end);
    vyre_segment_give(m, step, by);
    vyre_expr some = op2(m, VYRE_EXPR_LT, value_of(m, n->var), value_of(m, to));
    vyre_expr moves = op2(m, VYRE_EXPR_NE, value_of(m, step), u32(m, 0));
    vyre_segment_give(m, vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_MORE),
                      op2(m, VYRE_EXPR_AND, some, moves));
}

static void copy_block(maker *m) {
    for (uint32_t i = m->block->first; i != VYRE_NONE; i = m->plan->blocks->items.data[i].next) {
        const vyre_item *item = &m->plan->blocks->items.data[i];
        if (item->kind != VYRE_ITEM_RANGE && is_left_out(m, item->kind, item->begin)) {
            continue;
        }
        switch ((vyre_item_kind)item->kind) {
        case VYRE_ITEM_RANGE:
            for (vyre_stmt s = item->begin; s < item->end; s++) {
                copy_stmt(m, s);
            }
            break;
        case VYRE_ITEM_FOR_INIT: copy_loop_init(m, item->begin); break;
        case VYRE_ITEM_FOR_STEP: break; /* is always left out */
        }
    }
}

/* Variables that are set here but bound in another block, and not alive at the start. */
static void declare_unset(maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        uint32_t e = i->entity;
        if (e < m->values && has(i, VYRE_TOUCHES) && !m->bound[e] && !is_needed(m, i)) {
            vyre_segment_give(m, e, vyre_build_literal(m->b, (vyre_type)entity_of(m, i)->type, 0));
        }
    }
}

/* Variables whose binding statement is in the block. */
static void find_bound(maker *m) {
    for (uint32_t i = m->block->first; i != VYRE_NONE; i = m->plan->blocks->items.data[i].next) {
        const vyre_item *item = &m->plan->blocks->items.data[i];
        if (item->kind == VYRE_ITEM_FOR_INIT && !is_left_out(m, item->kind, item->begin)) {
            uint32_t loop = m->plan->blocks->loop_of[item->begin];
            m->bound[m->p->stmts[item->begin].var] = true;
            for (uint32_t v = 0; v < VYRE_LOOP_VALUES; v++) {
                m->bound[vyre_entity_of_loop(m->plan, loop, v)] = true;
            }
        }
        for (vyre_stmt s = item->begin; item->kind == VYRE_ITEM_RANGE && s < item->end; s++) {
            const vyre_stmt_node *n = &m->p->stmts[s];
            if (n->var != VYRE_NONE && n->op != VYRE_STMT_ASSIGN &&
                !is_left_out(m, VYRE_ITEM_RANGE, s)) {
                m->bound[n->var] = true;
            }
        }
    }
}

static bool changes_shared(const maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (vyre_entity_is_shared(entity_of(m, i)) && has(i, VYRE_LIVE_OUT | VYRE_MODIFIES)) {
            return true;
        }
    }
    return false;
}

/* No lane of the program runs it. */
static bool is_one_lane(const maker *m) {
    return vyre_block_combines(m->plan->blocks, m->block, m->p) != VYRE_NONE;
}

/* Nothing can have run before the block. */
static bool is_first(const maker *m) {
    return m->number == 0 && m->block->preds == 1;
}

/* A launch may have been enqueued before it was known which way the program goes. All lanes find
 * the same word, so whatever may wait behind it stays in uniform control flow. */
static void check_turn(maker *m) {
    vyre_decl turn =
        vyre_segment_place(m, VYRE_PLACE_TURN, VYRE_VIEW_WORDS, VYRE_IN, m->names->turn);
    vyre_decl expect =
        vyre_segment_carrier(m, &m->expect, VYRE_PARAM, m->names->expect, VYRE_DECL_EXPECT, 0);
    vyre_build_if(m->b, op2(m, VYRE_EXPR_NE, vyre_build_load(m->b, turn, u32(m, 0)),
                            vyre_build_ref(m->b, expect)));
    vyre_build_exit(m->b);
    vyre_build_end(m->b);
}

/* The regions that are around the whole block. */
static void open_regions(maker *m) {
    const vyre_split_region *regions = m->plan->blocks->regions.data;
    vyre_stmt path[VYRE_LIMIT_NESTING];
    uint32_t count = m->block->region == VYRE_NONE ? 0 : regions[m->block->region].depth;
    for (uint32_t r = m->block->region; r != VYRE_NONE; r = regions[r].parent) {
        path[regions[r].depth - 1] = regions[r].stmt;
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_build_region(m->b, m->p->stmts[path[i]].text);
    }
}

static void close_regions(maker *m) {
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    for (uint32_t r = m->block->region; r != VYRE_NONE;
         r = m->plan->blocks->regions.data[r].parent) {
        vyre_build_end(m->b);
    }
}

static void note_recipes(maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        const vyre_entity *entity = entity_of(m, i);
        if (is_needed(m, i) && entity->kind == VYRE_CARRY_RECOMPUTED &&
            entity->recipe != VYRE_NONE) {
            vyre_segment_note_exprs(m, vyre_expr_first(m->p, entity->recipe), entity->recipe + 1);
        }
    }
}

/* Guards that are passed before the block. */
static uint32_t passed_guards(const maker *m) {
    const vyre_guards *guards = &m->plan->guards;
    uint32_t count = 0;
    while (count < guards->count &&
           vyre_guard_is_before(m->plan->blocks, m->block, guards->list[count].stmt)) {
        count++;
    }
    return count;
}

static void note_guards(maker *m) {
    for (uint32_t i = 0; i < passed_guards(m); i++) {
        const vyre_guard *guard = &m->plan->guards.list[i];
        vyre_segment_note_exprs(m, m->p->stmts[guard->stmt].first_expr,
                                m->p->stmts[guard->stmt].end_expr);
        for (uint32_t k = 0; k < guard->count; k++) {
            vyre_segment_note_exprs(m, vyre_expr_first(m->p, guard->values[k].value),
                                    guard->values[k].value + 1);
        }
    }
}

static void leave_if(maker *m, vyre_expr condition) {
    vyre_build_if(m->b, condition);
    vyre_build_exit(m->b);
    vyre_build_end(m->b);
}

static void leave_ended(maker *m) {
    if (m->plan->ended_slot != VYRE_NONE) {
        leave_if(m, op2(m, VYRE_EXPR_NE, vyre_segment_load_ended(m), u32(m, 0)));
    }
    for (uint32_t i = 0; i < passed_guards(m); i++) {
        m->guard = &m->plan->guards.list[i];
        leave_if(m, vyre_rewrite_expr(&m->rw, m->p->stmts[m->guard->stmt].arg[0]));
        m->guard = NULL;
    }
}

static void restore(maker *m) {
    if (m->module->checks_turn) {
        check_turn(m);
    }
    if (m->plan->ends[m->number] & VYRE_HAS_ENDED && !is_one_lane(m)) {
        leave_ended(m);
    }
    if (m->plan->ends[m->number] & VYRE_MAY_END && m->plan->ended_slot != VYRE_NONE) {
        (void)vyre_segment_here(m); /* before any nested exit uses it */
    }
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (is_needed(m, i)) {
            vyre_segment_restore_value(m, i->entity, has(i, VYRE_MODIFIES));
        }
    }
    declare_unset(m);
    if (!is_first(m)) { /* memory begins as zeros */
        vyre_segment_move_arrays(m, true);
    }
}

static void store(maker *m) {
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    for (const vyre_presence *i = m->begin; i < m->end && i->entity < m->values; i++) {
        uint8_t kind = entity_of(m, i)->kind;
        if (has(i, VYRE_LIVE_OUT) && kind != VYRE_CARRY_RECOMPUTED && !entity_of(m, i)->uniform &&
            (vyre_entity_is_shared(entity_of(m, i)) ? m->flips : has(i, VYRE_MODIFIES))) {
            vyre_segment_store_value(m, i->entity);
        }
    }
    vyre_segment_move_arrays(m, false);
}

static vyre_status build(maker *m, vyre_program **out_segment, vyre_diag *diag) {
    note_block(m);
    find_bound(m);
    m->flips = changes_shared(m);
    if (is_one_lane(m)) {
        vyre_build_workgroup(m->b, 1, 1, 1);
        vyre_build_grid(m->b, vyre_build_size(m->b, 1), VYRE_NONE, VYRE_NONE);
    } else {
        vyre_build_workgroup(m->b, m->p->workgroup[0], m->p->workgroup[1], m->p->workgroup[2]);
    }
    note_recipes(m);
    note_guards(m);
    const bool says_grid = !is_of_group(m) && !is_one_lane(m) && vyre_segment_note_clause(m);
    declare_source(m);
    if (says_grid) {
        vyre_segment_keep_clause(m);
    }
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    open_regions(m);
    restore(m);
    copy_block(m);
    store(m);
    vyre_segment_store_made(m);
    close_regions(m);
    *out_segment = NULL;
    return m->has_effect || vyre_builder_status(m->b) != VYRE_OK
               ? vyre_builder_finish(m->b, out_segment, diag)
               : VYRE_OK;
}

/* Empties the maps for the next segment. */
static void reset(maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (i->entity < m->values) {
            *var_slot(m, i->entity) = VYRE_NONE;
            m->param[i->entity] = VYRE_NONE;
            m->bound[i->entity] = false;
        }
    }
    for (uint32_t i = 0; i < m->used.count; i++) {
        m->rw.decls[m->used.data[i]] = VYRE_NONE;
        m->access[m->used.data[i]] = 0;
    }
    m->used.count = 0;
    m->kinds.count = 0;
}

/* What the declarations of the segment are, for the module. */
static vyre_status give_kinds(const maker *m, vyre_segment_decl **out_decls, vyre_diag *diag) {
    *out_decls = vyre_alloc(&m->rw.allocator, m->kinds.count, sizeof **out_decls);
    if (!*out_decls) {
        return vyre_fail_memory(diag, "splitting");
    }
    if (m->kinds.count > 0) {
        memcpy(*out_decls, m->kinds.data, m->kinds.count * sizeof **out_decls);
    }
    return VYRE_OK;
}

static size_t owned_views(const maker *m) {
    return (size_t)m->module->buffer_count * VYRE_VIEWS;
}

static bool makes(const maker *m) {
    bool some = false;
    for (uint32_t view = 0; view < VYRE_VIEWS; view++) {
        some |= m->places[VYRE_PLACE_MADE][view] != VYRE_NONE;
    }
    return some;
}

vyre_status vyre_segment_build(vyre_segment_maker *m, uint32_t block, uint32_t number,
                               vyre_segment *out, vyre_diag *diag) {
    char name[VYRE_LIMIT_NAME + 1];
    (void)snprintf(name, sizeof name, "%.200s_%lu", m->p->name, (unsigned long)number);
    if (vyre_builder_create(&m->rw.allocator, name, &m->b) != VYRE_OK) {
        return vyre_fail_memory(diag, "splitting");
    }
    m->rw.to = m->b;
    m->number = block;
    m->block = &m->plan->blocks->list.data[block];
    m->begin = m->plan->present + m->plan->first_present[block];
    m->end = m->plan->present + m->plan->first_present[block + 1];
    m->lanes = m->tick = m->rank = m->raw = m->expect = VYRE_NONE;
    memset(m->places, 0xff, sizeof m->places);
    memset(m->group, 0xff, sizeof m->group);
    memset(m->groups, 0xff, sizeof m->groups);
    m->at = VYRE_NONE;
    memset(m->owned, 0xff, owned_views(m) * sizeof *m->owned);
    m->has_effect = false;
    m->asks_subgroups = false;
    *out = (vyre_segment){0};
    vyre_status status = build(m, &out->program, diag);
    out->flips = m->flips;
    out->makes = makes(m);
    if (status == VYRE_OK && out->program) {
        status = give_kinds(m, &out->decls, diag);
    }
    if (status != VYRE_OK) {
        vyre_program_release(out->program);
        out->program = NULL;
    }
    reset(m);
    vyre_builder_destroy(m->b);
    m->b = NULL;
    return status;
}

static uint32_t hidden_values(const maker *m) {
    return m->values - m->p->var_count;
}

vyre_status vyre_segment_maker_create(const vyre_module *module, const vyre_carry_plan *plan,
                                      vyre_segment_maker **out_maker, vyre_diag *diag) {
    const vyre_allocator *a = &module->allocator;
    maker *m = vyre_alloc_zeroed(a, 1, sizeof *m);
    if (!m || vyre_rewriter_init(&m->rw, module->source, NULL, a) != VYRE_OK) {
        vyre_free(a, m, 1, sizeof *m);
        return vyre_fail_memory(diag, "splitting");
    }
    m->plan = plan;
    m->p = plan->p;
    m->names = &module->names;
    m->module = &module->view;
    m->scalars_of = module->scalars;
    m->values = vyre_entity_of_decl(plan, 0);
    m->rw.replace = replace;
    m->rw.user = m;
    m->loop_vars = vyre_alloc(a, hidden_values(m), sizeof *m->loop_vars);
    m->access = vyre_alloc_zeroed(a, m->p->decl_count, sizeof *m->access);
    m->bound = vyre_alloc_zeroed(a, m->values, sizeof *m->bound);
    m->param = vyre_alloc(a, m->values, sizeof *m->param);
    m->owned = vyre_alloc(a, owned_views(m), sizeof *m->owned);
    m->narrow_lanes = module->narrow_lanes;
    m->narrow_groups = module->narrow_groups;
    if (!m->loop_vars || !m->access || !m->bound || !m->param || !m->owned) {
        vyre_segment_maker_destroy(m);
        return vyre_fail_memory(diag, "splitting");
    }
    memset(m->loop_vars, 0xff, hidden_values(m) * sizeof *m->loop_vars);
    memset(m->param, 0xff, m->values * sizeof *m->param);
    *out_maker = m;
    return VYRE_OK;
}

void vyre_segment_maker_destroy(vyre_segment_maker *m) {
    if (!m) {
        return;
    }
    const vyre_allocator a = m->rw.allocator;
    vyre_free(&a, m->loop_vars, hidden_values(m), sizeof *m->loop_vars);
    vyre_free(&a, m->access, m->p->decl_count, sizeof *m->access);
    vyre_free(&a, m->bound, m->values, sizeof *m->bound);
    vyre_free(&a, m->param, m->values, sizeof *m->param);
    vyre_vec_free(&a, &m->kinds);
    vyre_free(&a, m->owned, owned_views(m), sizeof *m->owned);
    vyre_vec_free(&a, &m->used);
    vyre_rewriter_finish(&m->rw);
    vyre_free(&a, m, 1, sizeof *m);
}
