/* Parts of the builder that only the library uses. */
#ifndef VYRE_SRC_IR_BUILDER_H
#define VYRE_SRC_IR_BUILDER_H

#include "base/diag.h"
#include "vyre/ir.h"

enum {
    /* Deeper than the validator allows in sources (VYRE_LIMIT_EXPR_DEPTH), so that rewrites have
     * room; bounds a stack frame of the builder. */
    VYRE_BUILDER_EXPR_DEPTH = 512,
    /* More than a source may have with all calls inlined (VYRE_LIMIT_INLINED), likewise. */
    VYRE_BUILDER_STATEMENTS = 1 << 22,
    /* More than a source may have (VYRE_LIMIT_DECLS), likewise: segments take the schedule's values
     * as params. */
    VYRE_BUILDER_DECLS = 1 << 20
};

/* Makes all expression handles invalid and reuses their memory. For callers that build statement by
 * statement and never use an expression twice. */
void vyre_builder_forget_exprs(vyre_builder *builder);

/* How much is declared, and back to it: what came since must not be referred to by anything that
 * stays. */
typedef struct vyre_builder_mark {
    uint32_t decls, vars, args, fns;
} vyre_builder_mark;
vyre_builder_mark vyre_builder_mark_of(const vyre_builder *builder);
void vyre_builder_cut(vyre_builder *builder, vyre_builder_mark mark);

/* Gives a const its type before its value is known. */
void vyre_builder_set_decl_type(vyre_builder *builder, vyre_decl decl, vyre_type type);

/* What splitting makes of an operation over the grid: the value of a group, what those of all
 * groups give (a scan: no value), and what those of groups before this one do. The number is that
 * of the operation. */
void vyre_build_part(vyre_builder *builder, uint32_t number, vyre_reduce_op op, vyre_expr value);
vyre_var vyre_build_combine(vyre_builder *builder, const char *name, uint32_t number,
                            vyre_reduce_op op, vyre_type type);
vyre_var vyre_build_base(vyre_builder *builder, const char *name, uint32_t number,
                         vyre_reduce_op op, vyre_type type);

/* Makes the builder fail, for reasons that a rewrite has; the first error is kept. */
void vyre_builder_fail(vyre_builder *builder, vyre_status status, const char *fix,
                       const char *format, ...) VYRE_PRINTF(4, 5);

/* Whether the expression has no operands and reads no memory, so that a copy of it costs nothing.
 */
bool vyre_builder_is_leaf(const vyre_builder *builder, vyre_expr expr);

/* Makes the builder fail as if one of its own allocations had failed. */
void vyre_builder_fail_memory(vyre_builder *builder);

#endif
