/* What is alive between blocks, and how it gets from one launch to the next.
 *
 * Entities are numbered: variables, then three hidden values for each lifted FOR (its end, its
 * step, whether there is another trip), then declarations (of which only private arrays and
 * workgroup memory matter). */
#ifndef VYRE_SRC_SPLIT_CARRY_H
#define VYRE_SRC_SPLIT_CARRY_H

#include "split/bases.h"
#include "split/guards.h"
#include "split/presence.h"
#include "split/scalars.h"
#include "vyre/split.h"

typedef struct vyre_entity {
    bool carried; /* alive at the end of some block */
    uint8_t kind; /* vyre_carry_kind */
    uint8_t type; /* of the value or element */
    bool raw;     /* memory that copies fill with bits that a load and a store would not keep */
    bool uniform; /* value: the schedule knows it; lanes get it as a param */
    uint32_t words;
    uint32_t slot;
    uint32_t count;   /* elements, of memory */
    uint32_t scalar;  /* number of the schedule's scalar, or VYRE_NONE: it needs none */
    vyre_expr recipe; /* RECOMPUTED: its defining expression; VYRE_NONE: the implied step 1. Its
                         operands have smaller numbers */
    vyre_base from;   /* RECOMPUTED from a base, if there is one; which has a smaller number, too */
} vyre_entity;

/* What an operation over the grid has in _parts, for each group: the group's value, or its base; if
 * a lane can end, the word behind it says whether it is there. */
typedef struct vyre_part {
    uint8_t type;
    uint32_t word; /* an even one if it has 64 bits */
} vyre_part;

typedef struct vyre_carry_plan {
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    vyre_entity *entities;
    uint32_t entity_count;
    /* What each block has to do with, ascending by entity:
     * present[first_present[block] .. first_present[block + 1]). Of what lanes of a group share
     * also what is only alive there, if the block flips. */
    vyre_presence *present;
    uint32_t present_count;
    uint32_t *first_present;
    /* Where entities are alive, recomputed ones included: run numbers as in vyre_presences. */
    VYRE_VEC(vyre_run) runs;
    uint32_t *alive;                  /* per entity: its first run, or VYRE_NONE */
    vyre_scalars scalars;             /* which statements the schedule computes */
    uint32_t scalar_count;            /* numbered so far */
    uint32_t *condition_scalar;       /* per block: of a condition that is no hidden value */
    uint32_t lane_words, group_words; /* in _lane */
    bool lane_pairs, group_pairs;     /* some of them are values of 64 bits, from even words on */
    uint32_t group_value_words;       /* in _values and _next */
    uint32_t made_words;              /* in _made, of which so many tell that a lane is alive: */
    uint32_t alive_words;
    vyre_part *parts; /* by number of the operation */
    uint32_t part_count;
    uint32_t part_words; /* of all of them, for a group */
    bool lanes_end;      /* before the last launch; who did is found by the guards, or a flag: */
    vyre_guards guards;
    uint32_t ended_slot; /* lane slot of "this lane has ended", or VYRE_NONE */
    uint8_t *ends;       /* per block: the bits below */
} vyre_carry_plan;

enum {
    VYRE_MAY_END = 1,       /* lanes may end in it, and something follows */
    VYRE_HAS_ENDED = 2,     /* lanes may have ended before it */
    VYRE_ASKS_FOR_LIFE = 4, /* behind it the schedule must know whether any lane is alive */
};

static inline uint32_t vyre_entity_of_loop(const vyre_carry_plan *plan, uint32_t loop,
                                           uint32_t value) {
    return plan->p->var_count + loop * VYRE_LOOP_VALUES + value;
}
static inline uint32_t vyre_entity_of_decl(const vyre_carry_plan *plan, vyre_decl decl) {
    return plan->p->var_count + plan->blocks->loops.count * VYRE_LOOP_VALUES + decl;
}
/* Whether a value lives in _values and _next. */
static inline bool vyre_entity_is_shared(const vyre_entity *entity) {
    return entity->kind == VYRE_CARRY_GROUP;
}

/* What lanes hand to the schedule at the end of a block: word 0 of _made is that of "a lane is
 * alive", if some block asks for it; then these, in their order: one word, or two from an even one
 * on. */
typedef struct vyre_made {
    uint32_t entity; /* VYRE_NONE: the block's condition, a bool */
    uint8_t type;
    uint32_t word, words;
    uint32_t at; /* where the search goes on */
} vyre_made;
/* In front of the first, and the next one; false: there is none. */
vyre_made vyre_carry_begin_made(const vyre_carry_plan *plan, uint32_t block);
bool vyre_carry_next_made(const vyre_carry_plan *plan, uint32_t block, vyre_made *made);

/* The program is the inlined one that the blocks were made from. */
vyre_status vyre_carry_init(vyre_carry_plan *plan, const vyre_program *program,
                            const vyre_blocks *blocks, const vyre_bases *bases,
                            const vyre_allocator *a, vyre_diag *diag);
void vyre_carry_finish(vyre_carry_plan *plan, const vyre_allocator *a);

#endif
