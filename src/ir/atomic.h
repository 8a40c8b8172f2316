/* What atomics do to memory. */
#ifndef VYRE_SRC_IR_ATOMIC_H
#define VYRE_SRC_IR_ATOMIC_H

#include "vyre/ir.h"

/* Whether the statement is an atomic that may change its element: any but atomic_load. */
static inline bool vyre_writes_atomically(const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_ATOMIC && s->sub != VYRE_ATOMIC_LOAD;
}

#endif
