/* The elementary functions as the reference backend computes them: src/ir/elementary*.inc carried
 * out with the host's arithmetic. */
#ifndef VYRE_SRC_BACKEND_REF_ELEMENTARY_H
#define VYRE_SRC_BACKEND_REF_ELEMENTARY_H

#include "vyre/ir.h"

/* The names of the functions of one argument. */
#define VYRE_ELEMENTARY_UNARY(X)                                                                   \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(tan)                                                                                         \
    X(asin)                                                                                        \
    X(acos)                                                                                        \
    X(atan)                                                                                        \
    X(sinh)                                                                                        \
    X(cosh)                                                                                        \
    X(tanh)                                                                                        \
    X(inverse_sqrt)

/* And of two. */
#define VYRE_ELEMENTARY_BINARY(X)                                                                  \
    X(pow)                                                                                         \
    X(atan2)

#define VYRE_DECLARE(name)                                                                         \
    float vyre_ref_##name(float x);                                                                \
    double vyre_ref_##name##_f64(double x);
VYRE_ELEMENTARY_UNARY(VYRE_DECLARE)
#undef VYRE_DECLARE

/* atan2 takes y first, as in C. */
#define VYRE_DECLARE(name)                                                                         \
    float vyre_ref_##name(float x, float y);                                                       \
    double vyre_ref_##name##_f64(double x, double y);
VYRE_ELEMENTARY_BINARY(VYRE_DECLARE)
#undef VYRE_DECLARE

/* That of an operator; y counts for functions of two only. */
float vyre_ref_elementary(vyre_expr_op op, float x, float y);
double vyre_ref_elementary_f64(vyre_expr_op op, double x, double y);

#endif
