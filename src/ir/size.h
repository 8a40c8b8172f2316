/* Exact evaluation of size and clause expressions. */
#ifndef VYRE_SRC_IR_SIZE_H
#define VYRE_SRC_IR_SIZE_H

#include "vyre/ir.h"

/* What an evaluation may ask for. Each returns false when it can't tell, which ends the evaluation
 * with VYRE_SIZE_UNKNOWN and the declaration in *out_unknown. NULL: never known. */
typedef struct vyre_size_env {
    bool (*len)(void *user, vyre_decl decl, uint64_t *out_count);
    bool (*param)(void *user, vyre_decl decl, uint64_t *out_bits);
    void *user;
} vyre_size_env;

typedef enum vyre_size_result {
    VYRE_SIZE_OK,
    VYRE_SIZE_UNKNOWN,  /* a len or param that the environment does not know */
    VYRE_SIZE_DIVISION, /* by zero */
    VYRE_SIZE_RANGE,    /* an intermediate value beyond 127 bits, or a result below 0 or beyond
                           2^63 - 1 */
    VYRE_SIZE_OPERATOR  /* an operator that sizes do not have */
} vyre_size_result;

/* The value of the size expression `root` (declaration sizes and program clauses). Integers are
 * exact: nothing wraps. Operators: + - * / % << >> min max, unary -. */
vyre_size_result vyre_size_evaluate(const vyre_program_view *program, vyre_expr root,
                                    const vyre_size_env *env, uint64_t *out_value,
                                    vyre_decl *out_unknown);
/* Whether an expression may stand in a size. */
bool vyre_size_allows(const vyre_expr_node *node);

#endif
