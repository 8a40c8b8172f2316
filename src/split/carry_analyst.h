/* What the parts of the carry share: the analyst that goes from scanning (carry_scan.c) to choosing
 * (carry_choose.c) to placing (carry_place.c). */
#ifndef VYRE_SRC_SPLIT_CARRY_ANALYST_H
#define VYRE_SRC_SPLIT_CARRY_ANALYST_H

#include "analysis/shape.h"
#include "split/carry.h"
#include "split/needs.h"
#include "split/overwrite.h"

typedef struct vyre_carry_analyst {
    vyre_carry_plan *plan;
    const vyre_program_view *p;
    const vyre_blocks *blocks;
    const vyre_allocator *a;
    vyre_presences found;
    uint32_t *definitions; /* per entity */
    vyre_expr *definition; /* per entity: the last one seen; VYRE_NONE if it is no expression */
    const vyre_bases *bases;
    const vyre_shapes *shapes;
    vyre_scalars *scalars; /* of the plan */
    vyre_needs needs;
    vyre_overwrites overwrites;
    VYRE_VEC(vyre_stmt) open; /* constructs around the statement at hand, in its range */
    vyre_stmt at;             /* that statement, or VYRE_NONE */
} vyre_carry_analyst;

/* Memory that a launch does not leave behind. */
static inline bool vyre_carry_is_local(const vyre_carry_analyst *an, vyre_decl decl) {
    uint8_t role = an->p->decls[decl].role;
    return role == VYRE_PRIVATE ||
           (role == VYRE_WORKGROUP && an->blocks->scope == VYRE_SPLIT_SCOPE_GRID);
}

static inline bool vyre_carry_is_carried(const vyre_carry_analyst *an, uint32_t e) {
    return an->found.run[e] != VYRE_NONE;
}

static inline vyre_carry_kind vyre_carry_kind_of(const vyre_carry_analyst *an, uint32_t e) {
    return vyre_scalars_is_uniform(an->scalars, e)     ? VYRE_CARRY_SCALAR
           : an->scalars->shape[e] == VYRE_SHAPE_GROUP ? VYRE_CARRY_GROUP
                                                       : VYRE_CARRY_LANE;
}

/* What each block uses and sets, and what the schedule needs: found, definitions, needs. */
void vyre_carry_scan(vyre_carry_analyst *an);
/* Which values are computed again; liveness becomes that of what is stored. False: out of memory.
 */
bool vyre_carry_choose(vyre_carry_analyst *an);
/* A kind and a place for all that is alive between blocks. False: out of memory. */
bool vyre_carry_place(vyre_carry_analyst *an);

#endif
