/* Elementary functions as sequences: the templates that define them (ir/elementary*.inc), with
 * operations that write down what they are asked for. One file for each type. */
#ifndef VYRE_SRC_LOWER_ELEMENTARY_H
#define VYRE_SRC_LOWER_ELEMENTARY_H

#include "lower/sequence.h"

/* op(x) or op(x, y), where y counts for functions of two only. */
uint32_t vyre_elementary_f32(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y);
uint32_t vyre_elementary_f64(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y);

#endif
