/* The elementary functions of f64 as sequences; lower_elementary.c puts them into programs. */
#include <math.h>
#include <string.h>

#include "lower/elementary.h"

typedef double M_R;
typedef uint64_t M_WORD;
#define F_TYPE VYRE_F64
#define U_TYPE VYRE_U64
#include "lower/elementary_ops.inc"

#include "ir/elementary_f64.inc"

#include "ir/elementary_apply.inc"

uint32_t vyre_elementary_f64(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y) {
    return elementary_apply(s, op, (M_F){x}, (M_F){y}).v;
}
