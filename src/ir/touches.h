/* What statements do to the memory they name, by the columns of ops.def. */
#ifndef VYRE_SRC_IR_TOUCHES_H
#define VYRE_SRC_IR_TOUCHES_H

#include "vyre/ir.h"

/* Whether the statement is an atomic that may change its element: any but atomic_load. */
static inline bool vyre_writes_atomically(const vyre_stmt_node *s) {
    return s->op == VYRE_STMT_ATOMIC && s->sub != VYRE_ATOMIC_LOAD;
}

/* The operator by which the integers of several such atomics on one element give, in any order,
 * that of one, where nobody asks for the old value; VYRE_EXPR_COUNT: there is none. (table.c) */
vyre_expr_op vyre_atomic_joins(vyre_atomic_op op);

/* Bits of vyre_touches: what it does to `decl`, and to `decl2`. */
static inline uint32_t vyre_touches_first(const vyre_stmt_node *s) {
    const uint32_t touches = vyre_stmt_info_of((vyre_stmt_op)s->op)->decl;
    return s->op == VYRE_STMT_ATOMIC && !vyre_writes_atomically(s) ? VYRE_TOUCHES_READ : touches;
}

static inline uint32_t vyre_touches_second(const vyre_stmt_node *s) {
    return vyre_stmt_info_of((vyre_stmt_op)s->op)->decl2;
}

/* Whether an expression of the statement loads from the memory. */
static inline bool vyre_stmt_loads(const vyre_program_view *p, const vyre_stmt_node *s,
                                   vyre_decl decl) {
    bool any = false;
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        any |= p->exprs[e].op == VYRE_EXPR_LOAD && p->exprs[e].ref == decl;
    }
    return any;
}

/* Whether `decl2` is written at the async_wait for it. */
static inline bool vyre_is_delivered_later(uint32_t op) {
    return op == VYRE_STMT_ASYNC_LOAD || op == VYRE_STMT_ASYNC_STORE;
}

#endif
