/* The elementary functions as the reference backend computes them: src/ir/elementary.inc carried
 * out with the host's arithmetic. */
#ifndef VYRE_SRC_BACKEND_REF_ELEMENTARY_H
#define VYRE_SRC_BACKEND_REF_ELEMENTARY_H

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

#define VYRE_DECLARE(name) float vyre_ref_##name(float x);
VYRE_ELEMENTARY_UNARY(VYRE_DECLARE)
#undef VYRE_DECLARE
float vyre_ref_pow(float x, float y);

#endif
