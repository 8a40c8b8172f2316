/* What is alive between blocks, and how it gets from one launch to the next.
 *
 * Entities are numbered: variables, then three hidden values for each lifted FOR (its end, its
 * step, whether there is another trip), then declarations (of which only private arrays and
 * workgroup memory matter). */
#ifndef VYRE_SRC_SPLIT_CARRY_H
#define VYRE_SRC_SPLIT_CARRY_H

#include "split/presence.h"
#include "vyre/split.h"

enum { VYRE_LOOP_TO, VYRE_LOOP_STEP, VYRE_LOOP_MORE, VYRE_LOOP_VALUES };

typedef struct vyre_entity {
    bool carried; /* alive at the end of some block */
    uint8_t kind; /* vyre_carry_kind */
    uint8_t type; /* of the value or element */
    bool raw;     /* memory that copies fill with bits that a load and a store would not keep */
    uint32_t words;
    uint32_t slot;
    uint32_t count;   /* elements, of memory */
    vyre_expr recipe; /* RECOMPUTED: its defining expression; VYRE_NONE: the implied step 1. Its
                         operands have smaller numbers */
} vyre_entity;

typedef struct vyre_carry_plan {
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    vyre_entity *entities;
    uint32_t entity_count;
    /* What each block has to do with, ascending by entity:
     * present[first_present[block] .. first_present[block + 1]). */
    vyre_presence *present;
    uint32_t present_count;
    uint32_t *first_present;
    uint32_t lane_words, group_words;       /* in _lane */
    uint32_t grid_words, group_value_words; /* in _grid and _next, the control word apart */
    uint32_t ended_slot;                    /* lane slot of "this lane has ended", or VYRE_NONE */
} vyre_carry_plan;

static inline uint32_t vyre_entity_of_loop(const vyre_carry_plan *plan, uint32_t loop,
                                           uint32_t value) {
    return plan->p->var_count + loop * VYRE_LOOP_VALUES + value;
}
static inline uint32_t vyre_entity_of_decl(const vyre_carry_plan *plan, vyre_decl decl) {
    return plan->p->var_count + plan->blocks->loops.count * VYRE_LOOP_VALUES + decl;
}
/* Whether a value lives in _grid and _next. */
static inline bool vyre_entity_is_shared(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GRID || entity->kind == VYRE_CARRY_GROUP;
}

/* The program is the inlined one that the blocks were made from. */
vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_allocator *a, vyre_diag *diag);
void vyre_carry_finish(vyre_carry_plan *plan, const vyre_allocator *a);

#endif
