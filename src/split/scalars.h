/* What the schedule can compute itself: values that are the same for all lanes of the scope, where
 * they are set by plain statements from what the schedule knows.
 *
 * A value (a variable, or a hidden one of a lifted FOR) is *uniform* if all its definitions are:
 * the same value for all lanes, under control that all of them take. The schedule keeps uniform
 * values in scalars. A statement that sets one is *control* if the schedule can compute it when it
 * enters the block: it is a plain statement of the block, made of literals, params, lengths,
 * uniform ids, uniform loads and of values that no lane has set before it in the block. What lanes
 * set in another way (under an `if` that stays in the segment, by an elementary function) they hand
 * to the schedule at the end of the block: the block *makes* it. */
#ifndef VYRE_SRC_SPLIT_SCALARS_H
#define VYRE_SRC_SPLIT_SCALARS_H

#include "analysis/shape.h"
#include "split/blocks.h"

enum { VYRE_LOOP_TO, VYRE_LOOP_STEP, VYRE_LOOP_MORE, VYRE_LOOP_VALUES };

/* Of a statement that sets a value; a lifted FOR does so in two items. */
enum {
    VYRE_BY_CONTROL = 1,   /* the schedule computes it */
    VYRE_NOT_BY_LANES = 2, /* lanes do not: none of them needs it in the block */
    VYRE_STEP_SHIFT = 2    /* the same two bits of the item FOR_STEP */
};

typedef struct vyre_scalars {
    vyre_allocator allocator;
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    const vyre_shapes *shapes;
    uint32_t value_count; /* variables, then VYRE_LOOP_VALUES for each lifted FOR */
    uint8_t *shape; /* per value: vyre_shape_kind of all its definitions: GRID, GROUP, SUBGROUP,
                       VARYING */
    uint8_t *stmt;  /* per statement: the bits above */
    bool *decided;  /* per block: the schedule computes its condition */
    vyre_shape *scratch;      /* shapes of one statement's expressions */
    uint32_t *made_in;        /* per value: the last block, plus 1, in which lanes have set it... */
    uint32_t *needed_in;      /* ... in which lanes need it behind the statement at hand */
    VYRE_VEC(uint32_t) made;  /* of the block looked at last: values that it makes */
    VYRE_VEC(vyre_stmt) open; /* constructs around the statement at hand, in its range */
} vyre_scalars;

/* only_groups (per variable, or NULL): which are to be kept by groups, though they may be the same
 * for the grid. False when out of memory; to be finished in any case. */
bool vyre_scalars_init(vyre_scalars *scalars, const vyre_program_view *program,
                       const vyre_blocks *blocks, const vyre_shapes *shapes,
                       const bool *only_groups, const vyre_allocator *a);
void vyre_scalars_finish(vyre_scalars *scalars);

/* Sets the bits of the block's statements, `decided` and `made`. False when out of memory. */
bool vyre_scalars_block(vyre_scalars *scalars, uint32_t block);

/* The number of a hidden value of a lifted FOR. */
static inline uint32_t vyre_loop_value(const vyre_program_view *p, const vyre_blocks *blocks,
                                       vyre_stmt loop, uint32_t value) {
    return p->var_count + blocks->loop_of[loop] * VYRE_LOOP_VALUES + value;
}
/* Whether a loop's end or step is said in the program by a literal, a param, a length, or nothing:
 * then nobody needs a value for it. */
static inline bool vyre_loop_is_leaf(const vyre_program_view *p, vyre_stmt loop, uint32_t value) {
    const vyre_expr e = p->stmts[loop].arg[value == VYRE_LOOP_TO ? 1 : 2];
    return e == VYRE_NONE || p->exprs[e].op == VYRE_EXPR_LITERAL ||
           p->exprs[e].op == VYRE_EXPR_REF || p->exprs[e].op == VYRE_EXPR_LEN;
}
static inline bool vyre_scalars_is_uniform(const vyre_scalars *scalars, uint32_t value) {
    return scalars->shape[value] <=
           (scalars->blocks->scope == VYRE_SPLIT_SCOPE_GRID ? VYRE_SHAPE_GRID : VYRE_SHAPE_GROUP);
}
/* The bits of an item's statement. */
static inline uint32_t vyre_scalars_bits(const vyre_scalars *scalars, uint8_t item_kind,
                                         vyre_stmt s) {
    return item_kind == VYRE_ITEM_FOR_STEP ? scalars->stmt[s] >> VYRE_STEP_SHIFT
                                           : scalars->stmt[s] & 3u;
}

#endif
