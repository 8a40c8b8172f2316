/* Statements at which lanes wait for each other. */
#ifndef VYRE_SRC_IR_WAITS_H
#define VYRE_SRC_IR_WAITS_H

#include "vyre/split.h"

/* Whether all lanes of the grid wait at such a statement. */
static inline bool vyre_waits_for_grid(uint8_t op) {
    return op == VYRE_STMT_GRID_SYNC || op == VYRE_STMT_ALL_REDUCE || op == VYRE_STMT_ALL_GATHER ||
           op == VYRE_STMT_REDUCE_SCATTER || op == VYRE_STMT_BROADCAST || op == VYRE_STMT_SWAP;
}

/* Whether all lanes of the scope do. */
static inline bool vyre_waits_for(vyre_split_scope scope, uint8_t op) {
    return vyre_waits_for_grid(op) ||
           (scope == VYRE_SPLIT_SCOPE_WORKGROUP && op == VYRE_STMT_BARRIER);
}
/* Whether the grid does something there besides waiting: swap, too. */
static inline bool vyre_is_collective(uint8_t op) {
    return vyre_waits_for_grid(op) && op != VYRE_STMT_GRID_SYNC;
}

#endif
