/* Random expressions of a wanted type, over leaves that the user supplies. */
#ifndef VYRE_TESTS_RANDOM_EXPRS_H
#define VYRE_TESTS_RANDOM_EXPRS_H

#include "harness/test.h"
#include "vyre/ir.h"

typedef struct random_exprs {
    vyre_builder *b;
    uint64_t state; /* of the random numbers */
    /* A variable, reference, id or load of that computing type; VYRE_NONE if there is none. `depth`
     * is left for an index. */
    vyre_expr (*leaf)(struct random_exprs *x, vyre_type type, uint32_t depth);
    /* Only what has the same bits on every device and needs no long sequence: no bits of floats,
     * which may be NaN, and rarely an elementary function. */
    bool plain;
} random_exprs;

static inline uint32_t random_below(random_exprs *x, uint32_t bound) {
    return (uint32_t)test_random_below(&x->state, bound);
}
/* True in `percent` of 100 cases. */
static inline bool random_chance(random_exprs *x, uint32_t percent) {
    return random_below(x, 100) < percent;
}
/* One of the seven types that compute. */
static inline vyre_type random_type(random_exprs *x) {
    return (vyre_type)(VYRE_BOOL + random_below(x, VYRE_F64 - VYRE_BOOL + 1));
}

/* Bits of a value of a computing type: small, extreme or any; floats are finite. */
uint64_t random_bits(random_exprs *x, vyre_type type);
vyre_expr random_literal(random_exprs *x, vyre_type type);
/* Operators nested at most `depth` deep. */
vyre_expr random_expr(random_exprs *x, vyre_type type, uint32_t depth);

#endif
