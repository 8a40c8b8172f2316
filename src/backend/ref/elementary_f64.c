/* The elementary functions of f64, with plain C arithmetic. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "backend/ref/elementary.h"

_Static_assert(FLT_EVAL_METHOD <= 1, "f64 arithmetic must not be done in a wider format");

typedef double M_R;
typedef uint64_t M_U;
#define MATH(name) name
#include "backend/ref/elementary_ops.inc"

#include "ir/elementary_f64.inc"

#include "ir/elementary_apply.inc"

double vyre_ref_elementary_f64(vyre_expr_op op, double x, double y) {
    M m = {0};
    return elementary_apply(&m, op, x, y);
}

#define DEFINE_UNARY(name)                                                                         \
    double vyre_ref_##name##_f64(double x) {                                                       \
        M m = {0};                                                                                 \
        return elementary_##name(&m, x);                                                           \
    }
VYRE_ELEMENTARY_UNARY(DEFINE_UNARY)

#define DEFINE_BINARY(name)                                                                        \
    double vyre_ref_##name##_f64(double x, double y) {                                             \
        M m = {0};                                                                                 \
        return elementary_##name(&m, x, y);                                                        \
    }
VYRE_ELEMENTARY_BINARY(DEFINE_BINARY)
