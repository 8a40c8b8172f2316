/* Statements at which lanes wait for each other. */
#ifndef VYRE_SRC_IR_WAITS_H
#define VYRE_SRC_IR_WAITS_H

#include "vyre/split.h"

/* Bits of vyre_waits of a statement of this kind; a call's are those of its callee. */
static inline uint32_t vyre_waits_of(vyre_stmt_op op) {
    return vyre_stmt_info_of(op)->waits;
}

/* Whether all lanes of the grid wait at such a statement. Asked for each statement by everyone, so
 * the column is a set of bits here. */
static inline bool vyre_waits_for_grid(uint32_t op) {
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2)                 \
    | (uint64_t)(VYRE_WAITS_##waits == VYRE_WAITS_GRID) << VYRE_STMT_##NAME
    const uint64_t kinds = 0
#include "vyre/ops.def"
        ;
    return kinds >> op & 1;
}

/* Whether all lanes of a group do, and not of the grid. */
static inline bool vyre_waits_for_group(uint32_t op) {
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2)                 \
    | (uint64_t)(VYRE_WAITS_##waits == VYRE_WAITS_GROUP) << VYRE_STMT_##NAME
    const uint64_t kinds = 0
#include "vyre/ops.def"
        ;
    return kinds >> op & 1;
}

/* A reduction or scan, over the group or the grid, or a part of it. */
static inline bool vyre_is_reduction(uint32_t op) {
    return op == VYRE_STMT_GROUP || op == VYRE_STMT_GRID || op == VYRE_STMT_PART ||
           op == VYRE_STMT_COMBINE || op == VYRE_STMT_BASE;
}

/* How it is spelled. */
static inline const char *vyre_reduce_stmt_name(const vyre_stmt_node *s) {
    return vyre_reduce_name((vyre_reduce_op)s->sub, s->op != VYRE_STMT_GROUP);
}

/* Whether all lanes of the scope do. */
static inline bool vyre_waits_for(vyre_split_scope scope, uint8_t op) {
    return vyre_waits_for_grid(op) ||
           (scope == VYRE_SPLIT_SCOPE_WORKGROUP && vyre_waits_for_group(op));
}
/* Whether the grid does something there besides waiting: swap, too. */
static inline bool vyre_is_collective(uint32_t op) {
    return vyre_waits_for_grid(op) && op != VYRE_STMT_GRID_SYNC && !vyre_is_reduction(op);
}

#endif
