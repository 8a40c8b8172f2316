/* A straight line of operations that stands for one: written down as a graph of values, then put
 * into a program. What is used more than once is bound by a let, so that the program has each
 * operation once; equal operations are one value. */
#ifndef VYRE_SRC_LOWER_SEQUENCE_H
#define VYRE_SRC_LOWER_SEQUENCE_H

#include "ir/each.h"

enum { VYRE_SEQUENCE_VALUES = 512 };

typedef struct vyre_sequence_value {
    uint8_t op;    /* vyre_expr_op; VAR: an argument */
    uint8_t type;  /* LITERAL, CAST, BITCAST */
    uint8_t depth; /* of the expression, as long as nothing of it is bound */
    uint32_t uses;
    uint32_t arg[3]; /* VAR: arg[0] is its number */
    uint64_t bits;
} vyre_sequence_value;

/* Begin with all zeros. */
typedef struct vyre_sequence {
    uint32_t count;
    bool is_full; /* more values than there is room for: nothing is emitted */
    vyre_sequence_value values[VYRE_SEQUENCE_VALUES];
} vyre_sequence;

/* Values; they may be used any number of times. */
uint32_t vyre_sequence_argument(vyre_sequence *s, uint32_t number);
uint32_t vyre_sequence_literal(vyre_sequence *s, vyre_type type, uint64_t bits);
uint32_t vyre_sequence_cast(vyre_sequence *s, vyre_type target, uint32_t x);
uint32_t vyre_sequence_bitcast(vyre_sequence *s, vyre_type target, uint32_t x);
uint32_t vyre_sequence_op(vyre_sequence *s, vyre_expr_op op, uint32_t x, uint32_t y, uint32_t z);

/* Appends the lets that the value needs and gives it as an expression of the builder. An argument
 * that is no leaf is bound, too. `name` is the stem of the names of variables. The order does not
 * depend on that in which the values were made. */
vyre_expr vyre_sequence_emit(vyre_sequence *s, vyre_each *each, const char *name,
                             const vyre_expr *arguments, uint32_t value);

#endif
