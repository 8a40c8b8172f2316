/* Questions to capabilities. */
#ifndef VYRE_SRC_LOWER_CAPABILITIES_H
#define VYRE_SRC_LOWER_CAPABILITIES_H

#include "vyre/lower.h"

static inline bool vyre_can_expr(const vyre_capabilities *can, uint8_t op) {
    return can->exprs[op / 64] >> op % 64 & 1;
}
static inline bool vyre_can_stmt(const vyre_capabilities *can, uint8_t op) {
    return can->stmts >> op & 1;
}
static inline bool vyre_can_type(const vyre_capabilities *can, uint8_t type) {
    return can->types >> type & 1;
}
static inline bool vyre_can_atomic(const vyre_capabilities *can, uint8_t op, uint8_t type,
                                   uint8_t role) {
    const uint32_t *table = role == VYRE_WORKGROUP ? can->workgroup_atomics : can->buffer_atomics;
    return table[type] >> op & 1;
}
static inline bool vyre_can_subgroup(const vyre_capabilities *can, uint8_t op) {
    return can->subgroups >> op & 1;
}
static inline bool vyre_can_builtin(const vyre_capabilities *can, uint8_t builtin) {
    return can->builtins >> builtin & 1;
}

/* VYRE_UNSUPPORTED with the place of the first thing in the program that is not claimed. */
vyre_status vyre_can_program(const vyre_capabilities *can, const vyre_program *program,
                             vyre_diag *diag);

#endif
