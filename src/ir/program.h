/* The inside of a program: the public view, and what owns it. */
#ifndef VYRE_SRC_IR_PROGRAM_H
#define VYRE_SRC_IR_PROGRAM_H

#include <stdatomic.h>

#include "base/intern.h"
#include "vyre/ir.h"

/* A vyre_place with its file name as a number of the program's strings. */
typedef struct vyre_packed_place {
    uint32_t file; /* VYRE_INTERN_NONE: unknown */
    uint32_t line, col, end_col;
} vyre_packed_place;

struct vyre_program {
    vyre_program_view view;
    vyre_allocator allocator;
    atomic_uint references;
    vyre_intern strings; /* all names and tags of the view point into it */
    vyre_packed_place place;
    /* Parallel to the arrays of the view. */
    vyre_packed_place *decl_places, *var_places, *expr_places, *stmt_places, *fn_places;
    /* The view's arrays, owned here without const. */
    vyre_decl_node *decls;
    vyre_var_node *vars;
    vyre_expr_node *exprs;
    vyre_stmt_node *stmts;
    vyre_fn_node *fns;
    uint32_t *args;
};

/* A program with empty arrays of the given sizes and one reference, or NULL. Takes over `strings`
 * only on success. */
vyre_program *vyre_program_allocate(const vyre_allocator *a, const vyre_program_view *sizes,
                                    vyre_intern *strings);
/* One more reference to a program that is only read. */
vyre_program *vyre_program_share(const vyre_program *program);
/* Computes statistics and hash once all arrays are filled. */
void vyre_program_seal(vyre_program *program);

/* Number of operands of an expression node. */
static inline uint32_t vyre_expr_arity(const vyre_expr_node *node) {
    return vyre_expr_info_of((vyre_expr_op)node->op)->arity;
}

#endif
