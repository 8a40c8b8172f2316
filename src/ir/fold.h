/* Evaluation of constant expressions, for consts and for rewrites that fold.
 *
 * This is a second, independent statement of what the operators mean: the reference backend has its
 * own and shares nothing with this one; tests/unit/test_fold_ref.c compares the two. */
#ifndef VYRE_SRC_IR_FOLD_H
#define VYRE_SRC_IR_FOLD_H

#include "vyre/ir.h"

/* The value of one pure operator node on constant operands (`operands[i]` are literal bits of
 * u.arg[i]). False when the node is not an operator on values (memory, ids, variables) or is an
 * elementary function, which is not folded. */
bool vyre_fold(const vyre_program_view *program, vyre_expr expr, const uint64_t *operands,
               uint64_t *out_bits);

/* The value of a const declaration: its expression over literals and other consts. False when it is
 * not constant, refers to itself, nests consts deeper than `VYRE_FOLD_DEPTH`, or expands to more
 * than 65,536 operations. */
enum { VYRE_FOLD_DEPTH = 32 };
bool vyre_fold_const(const vyre_program_view *program, vyre_decl decl, uint64_t *out_bits);

/* Converts the bits of a value: the meaning of CAST from a computing type to any type, widened back
 * to a computing type. */
uint64_t vyre_fold_cast(vyre_type from, vyre_type to, uint64_t bits);

#endif
