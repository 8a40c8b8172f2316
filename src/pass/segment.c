/* Segments. The shape of what is built:
 *
 *     let at = linear number of the lane;
 *     if (_lane[ended] != 0) { exit; }          lanes that ended stay ended
 *     let x = _lane[slot * _lanes + at];        values that the block touches
 *     ... workgroup memory and private arrays back in place ...
 *     the block
 *     _lane[slot * _lanes + at] = x;            what it changed and is alive
 *     _next[slot] = y;                          by every living lane: any one may have ended
 *     _next[0] = 2 * _tick + condition;         by every living lane, too
 *
 * What lanes share is read from _grid and written to _next: within a launch some lanes read before
 * others have written. It also lets the validator see that what is read is the same for all. */
#include "pass/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mutant.h"
#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/size.h"

struct vyre_segment_maker {
    const vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_module_names *names;
    uint32_t values; /* entities that are values: variables and hidden ones of loops */
    /* Of the present segment; the maps are emptied where they were filled, not as a whole. */
    const vyre_block *block;
    uint32_t number;                  /* of the block */
    const vyre_presence *begin, *end; /* what the block has to do with */
    vyre_rewriter rw;
    vyre_builder *b;
    vyre_var *loop_vars;      /* per hidden loop value, or VYRE_NONE */
    uint8_t *access;          /* per declaration: bits of READ, WRITE */
    VYRE_VEC(vyre_decl) used; /* declarations with access */
    bool *bound;              /* per value: its binding is in the block */
    vyre_decl lane, grid, next, lanes, tick, rank;
    vyre_var at; /* linear lane number, once bound */
    bool has_effect;
    bool flips;
};

typedef vyre_segment_maker maker;

enum { READ = 1, WRITE = 2 };

static bool has(const vyre_presence *presence, uint32_t flags) {
    return (presence->flags & flags) == flags;
}

static const vyre_entity *entity_of(const maker *m, const vyre_presence *presence) {
    return &m->plan->entities[presence->entity];
}

/* Which declarations the block uses, and how. */

static void note(maker *m, vyre_decl d, unsigned access) {
    if (!m->access[d] && !vyre_vec_push(&m->rw.allocator, &m->used, d)) {
        vyre_builder_fail_memory(m->b);
        return;
    }
    m->access[d] |= (uint8_t)access;
}

static void note_exprs(maker *m, vyre_expr first, vyre_expr end) {
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

static void note_stmt(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    if (n->op == VYRE_STMT_INDIRECT_DISPATCH) {
        return;
    }
    note_exprs(m, n->first_expr, n->end_expr);
    if (n->decl != VYRE_NONE) {
        bool reads = n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE;
        note(m, n->decl, reads ? READ : READ | WRITE);
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
        } else if (item->kind == VYRE_ITEM_FOR_INIT) {
            note_exprs(m, m->p->stmts[item->begin].first_expr, m->p->stmts[item->begin].end_expr);
        }
    }
    if (m->block->exit == VYRE_EXIT_BRANCH &&
        m->p->stmts[m->block->condition].op != VYRE_STMT_FOR) {
        note_exprs(m, m->p->stmts[m->block->condition].first_expr,
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
            continue;
        }
        vyre_role role = (vyre_role)n->role;
        vyre_expr size = VYRE_NONE;
        if (vyre_role_is_buffer(role)) {
            bool writes = (m->access[d] & WRITE) != 0;
            role = VYRE_MUTANT(segment_written_in, writes, true) ? VYRE_INOUT : VYRE_IN;
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
    }
}

/* Carry declarations come to be when first used. */
static vyre_decl lazily(maker *m, vyre_decl *slot, vyre_role role, const char *name) {
    if (*slot == VYRE_NONE) {
        *slot = role == VYRE_PARAM ? vyre_build_param(m->b, name, VYRE_U32, VYRE_NONE)
                : role == VYRE_WORKGROUP
                    ? vyre_build_memory(m->b, role, name, VYRE_U32, vyre_build_size(m->b, 2))
                    : vyre_build_memory(m->b, role, name, VYRE_U32, VYRE_NONE);
    }
    return *slot;
}

/* Small expressions */

static vyre_expr u32(maker *m, uint32_t value) {
    return vyre_build_u32(m->b, value);
}
static vyre_expr op2(maker *m, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, op, x, y, VYRE_NONE);
}
static vyre_expr id(maker *m, vyre_builtin which, uint32_t axis) {
    return vyre_build_id(m->b, which, axis);
}

/* Row-major number of a point in a box of three axes. */
static vyre_expr linear(maker *m, vyre_builtin point, vyre_builtin extent) {
    vyre_expr high = op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, id(m, point, 2), id(m, extent, 1)),
                         id(m, point, 1));
    return op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, high, id(m, extent, 0)), id(m, point, 0));
}

static vyre_expr here(maker *m) {
    if (m->at == VYRE_NONE) {
        m->at = vyre_build_let(m->b, m->names->at,
                               linear(m, VYRE_BUILTIN_GLOBAL_ID, VYRE_BUILTIN_GLOBAL_SIZE));
    }
    return vyre_build_var(m->b, m->at);
}

/* Index of a lane's own word; `slot` may be any expression. */
static vyre_expr lane_index(maker *m, vyre_expr slot) {
    vyre_expr lanes = vyre_build_ref(m->b, lazily(m, &m->lanes, VYRE_PARAM, m->names->lanes));
    return op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, slot, lanes), here(m));
}

static vyre_expr group_number(maker *m) {
    return linear(m, VYRE_BUILTIN_GROUP_ID, VYRE_BUILTIN_NUM_GROUPS);
}

/* Index of a shared value in _grid or _next, whose word 0 is the control word. */
static vyre_expr shared_index(maker *m, const vyre_entity *entity, uint32_t word) {
    uint32_t slot = 1 + entity->slot + word;
    if (entity->kind == VYRE_CARRY_GRID) {
        return u32(m, slot);
    }
    vyre_expr base = op2(m, VYRE_EXPR_MUL, group_number(m), u32(m, m->plan->group_value_words));
    return op2(m, VYRE_EXPR_ADD, base, u32(m, m->plan->grid_words + slot));
}

/* Index in _lane of a word of the group's workgroup memory. */
static vyre_expr group_index(maker *m, vyre_expr word) {
    vyre_expr lanes = vyre_build_ref(m->b, lazily(m, &m->lanes, VYRE_PARAM, m->names->lanes));
    vyre_expr base =
        op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, lanes, u32(m, m->plan->lane_words)),
            op2(m, VYRE_EXPR_MUL, group_number(m), u32(m, m->plan->group_words)));
    return op2(m, VYRE_EXPR_ADD, base, word);
}

/* A value as one or two words, and back. */
static vyre_expr encode(maker *m, vyre_type type, vyre_expr value, uint32_t word) {
    if (vyre_type_size(type) == 8) {
        vyre_expr bits = type == VYRE_U64 ? value : vyre_build_bitcast(m->b, VYRE_U64, value);
        return vyre_build_cast(m->b, VYRE_U32,
                               VYRE_MUTANT(segment_drop_high_word, word, 0)
                                   ? op2(m, VYRE_EXPR_SHR, bits, u32(m, 32))
                                   : bits);
    }
    return type == VYRE_U32    ? value
           : type == VYRE_BOOL ? vyre_build_cast(m->b, VYRE_U32, value)
                               : vyre_build_bitcast(m->b, VYRE_U32, value);
}

static vyre_expr decode(maker *m, vyre_type type, vyre_expr low, vyre_expr high) {
    if (vyre_type_size(type) == 8) {
        vyre_expr upper = op2(m, VYRE_EXPR_SHL, vyre_build_cast(m->b, VYRE_U64, high), u32(m, 32));
        vyre_expr bits = op2(m, VYRE_EXPR_BIT_OR, vyre_build_cast(m->b, VYRE_U64, low), upper);
        return type == VYRE_U64 ? bits : vyre_build_bitcast(m->b, type, bits);
    }
    return type == VYRE_U32    ? low
           : type == VYRE_BOOL ? vyre_build_cast(m->b, VYRE_BOOL, low)
                               : vyre_build_bitcast(m->b, type, low);
}

/* Variables and hidden loop values by entity. */

static vyre_var *var_slot(maker *m, uint32_t e) {
    return e < m->p->var_count ? &m->rw.vars[e] : &m->loop_vars[e - m->p->var_count];
}

static const char *entity_name(const maker *m, uint32_t e, char *buffer, size_t size) {
    static const char *const suffix[] = {"to", "step", "more"};
    if (e < m->p->var_count) {
        return m->p->vars[e].name;
    }
    uint32_t hidden = e - m->p->var_count;
    (void)snprintf(buffer, size, "%sloop%lu_%s", m->names->prefix,
                   (unsigned long)(hidden / VYRE_LOOP_VALUES), suffix[hidden % VYRE_LOOP_VALUES]);
    return buffer;
}

static void give(maker *m, uint32_t e, vyre_expr value) {
    char buffer[64];
    vyre_var *var = var_slot(m, e);
    if (*var == VYRE_NONE) {
        *var = vyre_build_let(m->b, entity_name(m, e, buffer, sizeof buffer), value);
    } else {
        vyre_build_assign(m->b, *var, value);
    }
}

static vyre_expr value_of(maker *m, uint32_t e) {
    return vyre_build_var(m->b, *var_slot(m, e));
}

static vyre_expr word_of(maker *m, const vyre_entity *entity, uint32_t word) {
    if (vyre_entity_is_shared(entity)) {
        return vyre_build_load(m->b, lazily(m, &m->grid, VYRE_IN, m->names->grid),
                               shared_index(m, entity, word));
    }
    vyre_expr index = lane_index(m, u32(m, entity->slot + word));
    return vyre_build_load(m->b, lazily(m, &m->lane, VYRE_INOUT, m->names->lane), index);
}

static void restore_value(maker *m, uint32_t e) {
    const vyre_entity *entity = &m->plan->entities[e];
    if (entity->kind == VYRE_CARRY_RECOMPUTED) {
        vyre_expr value =
            entity->recipe == VYRE_NONE ? u32(m, 1) : vyre_rewrite_expr(&m->rw, entity->recipe);
        vyre_builder_at(m->b, vyre_program_place(m->rw.source));
        give(m, e, value);
        return;
    }
    vyre_expr low = word_of(m, entity, 0);
    vyre_expr high = entity->words == 2 ? word_of(m, entity, 1) : VYRE_NONE;
    give(m, e, decode(m, (vyre_type)entity->type, low, high));
}

static void store_value(maker *m, uint32_t e) {
    const vyre_entity *entity = &m->plan->entities[e];
    for (uint32_t word = 0; word < entity->words; word++) {
        vyre_expr value = encode(m, (vyre_type)entity->type, value_of(m, e), word);
        if (vyre_entity_is_shared(entity)) {
            vyre_decl next = lazily(m, &m->next, VYRE_INOUT, m->names->next);
            vyre_build_store(m->b, next, shared_index(m, entity, word), value);
        } else {
            vyre_expr index = lane_index(m, u32(m, entity->slot + word));
            vyre_decl lane = lazily(m, &m->lane, VYRE_INOUT, m->names->lane);
            vyre_build_store(m->b, lane, index, value);
        }
        m->has_effect = true;
    }
}

/* Arrays: a loop over elements. Private ones by each lane; workgroup memory by the living lanes of
 * the group together. */

static void copy_array(maker *m, vyre_decl d, bool restore, vyre_expr from, vyre_expr step) {
    const vyre_entity *entity = &m->plan->entities[vyre_entity_of_decl(m->plan, d)];
    bool is_private = entity->kind == VYRE_CARRY_PRIVATE;
    uint32_t per = vyre_type_size((vyre_type)entity->type) / 4;
    vyre_decl carrier = lazily(m, &m->lane, VYRE_INOUT, m->names->lane);
    char name[64];
    (void)snprintf(name, sizeof name, "%s%s%lu", m->names->prefix, restore ? "restore" : "save",
                   (unsigned long)d);
    (void)here(m); /* bind it outside the loop */
    vyre_var i = vyre_build_for(m->b, name, from, u32(m, entity->count), step);
    vyre_expr at = vyre_build_var(m->b, i);
    vyre_expr words[2] = {VYRE_NONE, VYRE_NONE};
    for (uint32_t w = 0; w < per; w++) {
        vyre_expr word =
            op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, at, u32(m, per)), u32(m, entity->slot + w));
        words[w] = is_private ? lane_index(m, word) : group_index(m, word);
    }
    if (restore) {
        vyre_expr low = vyre_build_load(m->b, carrier, words[0]);
        vyre_expr high = per == 2 ? vyre_build_load(m->b, carrier, words[1]) : VYRE_NONE;
        vyre_build_store(m->b, m->rw.decls[d], at, decode(m, (vyre_type)entity->type, low, high));
    } else {
        vyre_expr value = vyre_build_load(m->b, m->rw.decls[d], at);
        for (uint32_t w = 0; w < per; w++) {
            vyre_build_store(m->b, carrier, words[w], encode(m, (vyre_type)entity->type, value, w));
        }
        m->has_effect = true;
    }
    vyre_build_end(m->b);
}

/* First element and stride for a lane's share of workgroup memory. Where lanes may have ended, the
 * living ones are numbered by a counter, of which there is one for each end of the segment. */
static void share(maker *m, bool restore, vyre_expr *out_from, vyre_expr *out_step) {
    if (m->plan->ended_slot == VYRE_NONE) {
        uint32_t lanes = m->p->workgroup[0] * m->p->workgroup[1] * m->p->workgroup[2];
        if (!restore) {
            vyre_build_barrier(m->b, VYRE_SEQ_CST);
        }
        *out_from = linear(m, VYRE_BUILTIN_LOCAL_ID, VYRE_BUILTIN_GROUP_SIZE);
        *out_step = u32(m, lanes);
        return;
    }
    vyre_decl rank = lazily(m, &m->rank, VYRE_WORKGROUP, m->names->rank);
    vyre_expr counter = u32(m, restore ? 0 : 1);
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", m->names->rank, restore ? "in" : "out");
    vyre_var mine = vyre_build_atomic(m->b, name, VYRE_ATOMIC_ADD, rank, counter, VYRE_NONE,
                                      u32(m, 1), VYRE_SEQ_CST);
    vyre_build_barrier(m->b, VYRE_SEQ_CST);
    *out_from = vyre_build_var(m->b, mine);
    *out_step = vyre_build_load(m->b, rank, counter);
}

static void move_arrays(maker *m, bool restore) {
    bool shared = false;
    vyre_expr from = VYRE_NONE, step = VYRE_NONE;
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (i->entity < m->values || !(restore ? has(i, VYRE_LIVE_IN | VYRE_TOUCHES)
                                               : has(i, VYRE_LIVE_OUT | VYRE_MODIFIES))) {
            continue;
        }
        vyre_decl d = i->entity - m->values;
        if (entity_of(m, i)->kind == VYRE_CARRY_PRIVATE) {
            copy_array(m, d, restore, u32(m, 0), VYRE_NONE);
            continue;
        }
        if (!shared) {
            share(m, restore, &from, &step);
            shared = true;
        }
        copy_array(m, d, restore, from, step);
    }
    if (shared && restore) {
        vyre_build_barrier(m->b, VYRE_SEQ_CST);
    }
}

/* The block itself */

static vyre_expr fold_consts(vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                             void *user) {
    (void)operands;
    (void)user;
    const vyre_expr_node *n = &rw->p->exprs[expr];
    uint64_t bits;
    if (n->op == VYRE_EXPR_REF && rw->p->decls[n->ref].role == VYRE_CONST &&
        vyre_fold_const(rw->p, n->ref, &bits)) {
        return vyre_build_literal(rw->to, (vyre_type)n->type, bits);
    }
    return VYRE_NONE;
}

static void mark_ended(maker *m) {
    if (remembers_ended(m)) {
        vyre_expr index = lane_index(m, u32(m, m->plan->ended_slot));
        vyre_decl lane = lazily(m, &m->lane, VYRE_INOUT, m->names->lane);
        vyre_build_store(m->b, lane, index, u32(m, VYRE_MUTANT(segment_forget_ended, 1, 0)));
    }
}

static void copy_stmt(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    if (n->op == VYRE_STMT_INDIRECT_DISPATCH) {
        return; /* the grid is fixed before anything runs */
    }
    if (n->op == VYRE_STMT_EXIT) {
        vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
        mark_ended(m);
    }
    if (n->op == VYRE_STMT_LET && m->rw.vars[n->var] != VYRE_NONE) {
        vyre_expr value = vyre_rewrite_expr(&m->rw, n->arg[0]);
        vyre_build_assign(m->b, m->rw.vars[n->var], value);
        return;
    }
    vyre_rewrite_stmt(&m->rw, s);
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
    give(m, n->var, first);
    give(m, to, end);
    give(m, step, by);
    vyre_expr some = op2(m, VYRE_EXPR_LT, value_of(m, n->var), value_of(m, to));
    vyre_expr moves = op2(m, VYRE_EXPR_NE, value_of(m, step), u32(m, 0));
    give(m, vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_MORE), op2(m, VYRE_EXPR_AND, some, moves));
}

/* The next value ends the loop when it passes 2^32: it is then smaller than the one before. */
static void copy_loop_step(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    uint32_t loop = m->plan->blocks->loop_of[s];
    uint32_t to = vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_TO);
    uint32_t step = vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_STEP);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    vyre_expr next = op2(m, VYRE_EXPR_ADD, value_of(m, n->var), value_of(m, step));
    vyre_expr grows = op2(m, VYRE_EXPR_GT, next, value_of(m, n->var));
    vyre_expr below = op2(m, VYRE_EXPR_LT, next, value_of(m, to));
    give(m, vyre_entity_of_loop(m->plan, loop, VYRE_LOOP_MORE),
         op2(m, VYRE_EXPR_AND, VYRE_MUTANT(segment_loop_wraps, grows, below), below));
    give(m, n->var, op2(m, VYRE_EXPR_ADD, value_of(m, n->var), value_of(m, step)));
}

static void copy_block(maker *m) {
    for (uint32_t i = m->block->first; i != VYRE_NONE; i = m->plan->blocks->items.data[i].next) {
        const vyre_item *item = &m->plan->blocks->items.data[i];
        switch ((vyre_item_kind)item->kind) {
        case VYRE_ITEM_RANGE:
            for (vyre_stmt s = item->begin; s < item->end; s++) {
                copy_stmt(m, s);
            }
            break;
        case VYRE_ITEM_FOR_INIT: copy_loop_init(m, item->begin); break;
        case VYRE_ITEM_FOR_STEP: copy_loop_step(m, item->begin); break;
        case VYRE_ITEM_BARRIER:
            vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, item->begin));
            vyre_build_barrier(m->b, VYRE_SEQ_CST);
            break;
        }
    }
}

static vyre_expr branch_condition(maker *m) {
    vyre_stmt s = m->block->condition;
    const vyre_stmt_node *n = &m->p->stmts[s];
    vyre_expr condition =
        n->op == VYRE_STMT_FOR
            ? value_of(m, vyre_entity_of_loop(m->plan, m->plan->blocks->loop_of[s], VYRE_LOOP_MORE))
            : vyre_rewrite_expr(&m->rw, n->arg[0]);
    vyre_builder_at(m->b, vyre_program_stmt_place(m->rw.source, s));
    return condition;
}

/* A collective happens only if a lane is alive; where lanes may have ended, they say so. */
static bool asks_for_life(const maker *m) {
    return m->block->sync != VYRE_NONE && m->plan->ended_slot != VYRE_NONE &&
           m->p->stmts[m->block->sync].op != VYRE_STMT_GRID_SYNC;
}

static void decide(maker *m) {
    bool branches = m->block->exit == VYRE_EXIT_BRANCH;
    if (!branches && !(m->block->exit == VYRE_EXIT_NEXT && asks_for_life(m))) {
        return;
    }
    vyre_expr condition = branches ? branch_condition(m) : vyre_build_bool(m->b, true);
    if (vyre_builder_expr_type(m->b, condition) != VYRE_BOOL) {
        condition = op2(m, VYRE_EXPR_NE, condition, u32(m, 0));
    }
    vyre_expr tick = vyre_build_ref(m->b, lazily(m, &m->tick, VYRE_PARAM, m->names->tick));
    vyre_expr word = op2(m, VYRE_EXPR_ADD, op2(m, VYRE_EXPR_MUL, tick, u32(m, 2)),
                         vyre_build_cast(m->b, VYRE_U32, condition));
    vyre_build_store(m->b, lazily(m, &m->next, VYRE_INOUT, m->names->next), u32(m, 0), word);
    m->has_effect = true;
}

/* Variables that are set here but bound in another block, and not alive at the start. */
static void declare_unset(maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        uint32_t e = i->entity;
        if (e < m->values && has(i, VYRE_TOUCHES) && !m->bound[e] && !is_needed(m, i)) {
            give(m, e, vyre_build_literal(m->b, (vyre_type)entity_of(m, i)->type, 0));
        }
    }
}

/* Variables whose binding statement is in the block. */
static void find_bound(maker *m) {
    for (uint32_t i = m->block->first; i != VYRE_NONE; i = m->plan->blocks->items.data[i].next) {
        const vyre_item *item = &m->plan->blocks->items.data[i];
        if (item->kind == VYRE_ITEM_FOR_INIT) {
            uint32_t loop = m->plan->blocks->loop_of[item->begin];
            m->bound[m->p->stmts[item->begin].var] = true;
            for (uint32_t v = 0; v < VYRE_LOOP_VALUES; v++) {
                m->bound[vyre_entity_of_loop(m->plan, loop, v)] = true;
            }
        }
        for (vyre_stmt s = item->begin; item->kind == VYRE_ITEM_RANGE && s < item->end; s++) {
            const vyre_stmt_node *n = &m->p->stmts[s];
            if (n->var != VYRE_NONE && n->op != VYRE_STMT_ASSIGN) {
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

/* Nothing can have run before the block. */
static bool is_first(const maker *m) {
    return m->number == 0 && m->block->preds == 1;
}

static void restore(maker *m) {
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        const vyre_entity *entity = entity_of(m, i);
        if (is_needed(m, i) && entity->kind == VYRE_CARRY_RECOMPUTED &&
            entity->recipe != VYRE_NONE) {
            note_exprs(m, vyre_expr_first(m->p, entity->recipe), entity->recipe + 1);
        }
    }
    declare_source(m);
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    if (m->plan->ended_slot != VYRE_NONE && !is_first(m)) {
        vyre_expr index = lane_index(m, u32(m, m->plan->ended_slot));
        vyre_expr ended =
            vyre_build_load(m->b, lazily(m, &m->lane, VYRE_INOUT, m->names->lane), index);
        vyre_build_if(m->b, op2(m, VYRE_EXPR_NE, ended, u32(m, 0)));
        vyre_build_exit(m->b);
        vyre_build_end(m->b);
    }
    if (m->plan->ended_slot != VYRE_NONE) {
        (void)here(m); /* before any nested exit uses it */
    }
    for (const vyre_presence *i = m->begin; i < m->end; i++) {
        if (is_needed(m, i)) {
            restore_value(m, i->entity);
        }
    }
    declare_unset(m);
    if (!is_first(m)) { /* memory begins as zeros */
        move_arrays(m, true);
    }
}

static void store(maker *m) {
    vyre_builder_at(m->b, vyre_program_place(m->rw.source));
    for (const vyre_presence *i = m->begin; i < m->end && i->entity < m->values; i++) {
        uint8_t kind = entity_of(m, i)->kind;
        if (has(i, VYRE_LIVE_OUT) && kind != VYRE_CARRY_RECOMPUTED &&
            (vyre_entity_is_shared(entity_of(m, i)) ? m->flips : has(i, VYRE_MODIFIES))) {
            store_value(m, i->entity);
        }
    }
    move_arrays(m, false);
}

static vyre_status build(maker *m, vyre_program **out_segment, vyre_diag *diag) {
    note_block(m);
    find_bound(m);
    m->flips = changes_shared(m);
    vyre_build_workgroup(m->b, m->p->workgroup[0], m->p->workgroup[1], m->p->workgroup[2]);
    restore(m);
    copy_block(m);
    store(m);
    decide(m);
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
            m->bound[i->entity] = false;
        }
    }
    for (uint32_t i = 0; i < m->used.count; i++) {
        m->rw.decls[m->used.data[i]] = VYRE_NONE;
        m->access[m->used.data[i]] = 0;
    }
    m->used.count = 0;
}

vyre_status vyre_segment_build(vyre_segment_maker *m, uint32_t block, uint32_t number,
                               vyre_program **out_segment, bool *out_flips, vyre_diag *diag) {
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
    m->lane = m->grid = m->next = m->lanes = m->tick = m->rank = VYRE_NONE;
    m->at = VYRE_NONE;
    m->has_effect = false;
    vyre_status status = build(m, out_segment, diag);
    *out_flips = m->flips;
    reset(m);
    vyre_builder_destroy(m->b);
    m->b = NULL;
    return status;
}

static uint32_t hidden_values(const maker *m) {
    return m->values - m->p->var_count;
}

vyre_status vyre_segment_maker_create(const vyre_program *program, const vyre_carry_plan *plan,
                                      const vyre_module_names *names, const vyre_allocator *a,
                                      vyre_segment_maker **out_maker, vyre_diag *diag) {
    maker *m = vyre_alloc_zeroed(a, 1, sizeof *m);
    if (!m || vyre_rewriter_init(&m->rw, program, NULL, a) != VYRE_OK) {
        vyre_free(a, m, 1, sizeof *m);
        return vyre_fail_memory(diag, "splitting");
    }
    m->plan = plan;
    m->p = plan->p;
    m->names = names;
    m->values = vyre_entity_of_decl(plan, 0);
    m->rw.replace = fold_consts;
    m->loop_vars = vyre_alloc(a, hidden_values(m), sizeof *m->loop_vars);
    m->access = vyre_alloc_zeroed(a, m->p->decl_count, sizeof *m->access);
    m->bound = vyre_alloc_zeroed(a, m->values, sizeof *m->bound);
    if (!m->loop_vars || !m->access || !m->bound) {
        vyre_segment_maker_destroy(m);
        return vyre_fail_memory(diag, "splitting");
    }
    memset(m->loop_vars, 0xff, hidden_values(m) * sizeof *m->loop_vars);
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
    vyre_vec_free(&a, &m->used);
    vyre_rewriter_finish(&m->rw);
    vyre_free(&a, m, 1, sizeof *m);
}
