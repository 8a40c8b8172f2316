/* The frame of rewrites that replace expressions by statements and what they leave: lets stand
 * before the statement that evaluates the expression. Right because expressions have no effects: a
 * load that moves in front of its statement reads what it would have read there. The condition of a
 * `while` is evaluated again on each trip, so
 *
 *     while (c) { b }   ->   while (true) { lets; if (!c) { break; } b }
 *
 * and `continue` comes to the condition as before. */
#ifndef VYRE_SRC_LOWER_HOIST_H
#define VYRE_SRC_LOWER_HOIST_H

#include "ir/each.h"

typedef struct vyre_hoist_rewrite {
    /* Whether an expression of the source must be replaced. */
    bool (*concerns)(const vyre_program_view *p, vyre_expr expr, const void *user);
    /* The expression in the builder that stands for it; lets may be appended. */
    vyre_expr (*replace)(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user);
    /* (optional) Called once after the declarations were copied. */
    void (*begin)(vyre_each *each, const void *user);
    /* (optional) True if the statement has been dealt with. */
    bool (*replace_stmt)(vyre_each *each, vyre_stmt stmt, const void *user);
} vyre_hoist_rewrite;

/* The program (without calls) with all such expressions replaced; itself, retained, if it has none
 * and `any` is false. */
vyre_status vyre_hoist(vyre_program *program, const vyre_hoist_rewrite *rewrite, const void *user,
                       bool any, const vyre_allocator *a, vyre_program **out_program,
                       vyre_diag *diag);

#endif
