/* Expression trees in the flat array: operands before users, each tree a contiguous range. */
#ifndef VYRE_SRC_ANALYSIS_TREE_H
#define VYRE_SRC_ANALYSIS_TREE_H

#include "vyre/ir.h"

/* The first expression of the tree that ends in its root. */
static inline vyre_expr vyre_tree_begin(const vyre_program_view *p, vyre_expr root) {
    uint32_t missing = 1;
    for (vyre_expr i = root;; i--) {
        missing += vyre_expr_info_of((vyre_expr_op)p->exprs[i].op)->arity;
        if (--missing == 0) {
            return i;
        }
    }
}

#endif
