/* Guards: places where lanes end that later launches find again without remembering who did. */
#ifndef VYRE_SRC_SPLIT_GUARDS_H
#define VYRE_SRC_SPLIT_GUARDS_H

#include "split/blocks.h"

enum { VYRE_MOST_GUARDS = 4, VYRE_GUARD_VALUES = 8 };

/* `if (c) { exit; }`, and the variables that c is made of, each with what it was bound to. */
typedef struct vyre_guard {
    vyre_stmt stmt;
    uint32_t count;
    struct {
        vyre_var var;
        vyre_expr value;
        uint32_t nodes; /* of the value, with variables replaced by theirs */
    } values[VYRE_GUARD_VALUES];
} vyre_guard;

typedef struct vyre_guards {
    uint32_t count; /* 0: who has ended is remembered by a flag */
    vyre_guard list[VYRE_MOST_GUARDS];
} vyre_guards;

/* definitions: how many a variable has; definition: what the last one of them gives it, or
 * VYRE_NONE. */
void vyre_guards_find(vyre_guards *guards, const vyre_program_view *program,
                      const uint32_t *definitions, const vyre_expr *definition);

/* Whether all lanes that come to the block's beginning have passed the guard. */
bool vyre_guard_is_before(const vyre_blocks *blocks, const vyre_block *block, vyre_stmt guard);

#endif
