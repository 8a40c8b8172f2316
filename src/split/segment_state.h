/* A segment that is being made; for the files segment*.c only. segment.c makes the segment from its
 * block, segment_state.c brings state from one launch to the next. */
#ifndef VYRE_SRC_SPLIT_SEGMENT_STATE_H
#define VYRE_SRC_SPLIT_SEGMENT_STATE_H

#include "ir/rewrite.h"
#include "split/segment.h"
#include "split/words.h"

struct vyre_segment_maker {
    const vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_module_names *names;
    const vyre_module_view *module; /* its buffers */
    const vyre_scalar *scalars_of;  /* the module */
    uint32_t values; /* entities that are values: variables and hidden ones of loops */
    /* Of the present segment; the maps are emptied where they were filled, not as a whole. */
    const vyre_block *block;
    uint32_t number;                  /* of the block */
    const vyre_guard *guard;          /* at work, or NULL */
    const vyre_presence *begin, *end; /* what the block has to do with */
    vyre_rewriter rw;
    vyre_builder *b;
    vyre_var *loop_vars;               /* per hidden loop value, or VYRE_NONE */
    uint8_t *access;                   /* per declaration: bits of READ, WRITE */
    VYRE_VEC(vyre_decl) used;          /* declarations with access */
    bool *bound;                       /* per value: its binding is in the block */
    vyre_decl *param;                  /* per value: the param that has it, or VYRE_NONE */
    VYRE_VEC(vyre_segment_decl) kinds; /* of its declarations */
    vyre_decl lanes, tick, rank, raw, expect;
    vyre_decl places[VYRE_PLACES][VYRE_VIEWS]; /* memories that are not the source's, when used */
    vyre_decl *owned; /* per buffer of what lanes and groups own, and view of it */
    vyre_decl group[3], groups[3];
    vyre_var at;                      /* linear lane number, once bound */
    bool narrow_lanes, narrow_groups; /* buffers of single words: 64 bits are two pieces */
    bool asks_subgroups;              /* it has operations of subgroups */
    bool has_effect;
    bool flips;
};

typedef vyre_segment_maker maker;

/* Whether segments are parts of one group, launched as a grid of one. */
static inline bool is_of_group(const maker *m) {
    return m->plan->blocks->scope == VYRE_SPLIT_SCOPE_WORKGROUP;
}

static inline bool has(const vyre_presence *presence, uint32_t flags) {
    return (presence->flags & flags) == flags;
}

static inline const vyre_entity *entity_of(const maker *m, const vyre_presence *presence) {
    return &m->plan->entities[presence->entity];
}

/* Small expressions. */

static inline vyre_expr u32(maker *m, uint32_t value) {
    return vyre_build_u32(m->b, value);
}

static inline vyre_expr op2(maker *m, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    return vyre_build_op(m->b, op, x, y, VYRE_NONE);
}

/* Variables and hidden loop values by entity. */

static inline vyre_var *var_slot(maker *m, uint32_t e) {
    return e < m->p->var_count ? &m->rw.vars[e] : &m->loop_vars[e - m->p->var_count];
}

static inline vyre_expr value_of(maker *m, uint32_t e) {
    return m->param[e] != VYRE_NONE ? vyre_build_ref(m->b, m->param[e])
                                    : vyre_build_var(m->b, *var_slot(m, e));
}

/* Says what the declaration made last is. */
void vyre_segment_note_decl(maker *m, vyre_decl decl, vyre_decl_kind kind, uint32_t ref);
/* Carry declarations come to be when first used. */
vyre_decl vyre_segment_carrier(maker *m, vyre_decl *slot, vyre_role role, const char *name,
                               vyre_decl_kind kind, uint32_t ref);
/* The same for a view of a place; `name` is that of its words. */
vyre_decl vyre_segment_place(maker *m, uint32_t place, vyre_view view, vyre_role role,
                             const char *name);
/* How many lanes the grid has, and the linear number of the group. */
vyre_expr vyre_segment_lane_count(maker *m);
vyre_expr vyre_segment_group_number(maker *m);
/* Linear number of the lane. */
vyre_expr vyre_segment_here(maker *m);
/* The id of the source, in a segment that is launched for one group; VYRE_NONE: the id itself. */
vyre_expr vyre_segment_group_id(maker *m, vyre_builtin which, uint32_t axis);
/* Whether the lane has ended; and that it has. */
vyre_expr vyre_segment_load_ended(maker *m);
void vyre_segment_store_ended(maker *m, vyre_expr value);
/* Binds the entity's variable to the value, or assigns it. */
void vyre_segment_give(maker *m, uint32_t e, vyre_expr value);
/* changes: lanes set it in the block. */
void vyre_segment_restore_value(maker *m, uint32_t e, bool changes);
void vyre_segment_store_value(maker *m, uint32_t e);
/* Hands to the schedule what the block makes, and that the lane is alive. */
void vyre_segment_store_made(maker *m);
/* Private arrays and workgroup memory that the block needs, or that it changed. */
void vyre_segment_move_arrays(maker *m, bool restore);
/* The declarations that expressions [first, end) read will be there. */
void vyre_segment_note_exprs(maker *m, vyre_expr first, vyre_expr end);
/* segment_clause.c: whether the segment can say the grid, of which it notes what that reads; and
 * the clause, once all is declared. */
bool vyre_segment_note_clause(maker *m);
void vyre_segment_keep_clause(maker *m);
/* segment_combine.c: a PART, COMBINE or BASE statement. */
void vyre_segment_part(maker *m, vyre_stmt s);
void vyre_segment_combine(maker *m, vyre_stmt s);
void vyre_segment_base(maker *m, vyre_stmt s);

#endif
