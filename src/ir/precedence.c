/* Precedence table; a table rather than a column of ops.def because only infix rows have one. */
#include "ir/precedence.h"

int vyre_precedence(vyre_expr_op op) {
    static const uint8_t levels[VYRE_EXPR_COUNT] = {
        [VYRE_EXPR_MUL] = 10,   [VYRE_EXPR_DIV] = 10,    [VYRE_EXPR_REM] = 10,
        [VYRE_EXPR_ADD] = 9,    [VYRE_EXPR_SUB] = 9,     [VYRE_EXPR_SHL] = 8,
        [VYRE_EXPR_SHR] = 8,    [VYRE_EXPR_LT] = 7,      [VYRE_EXPR_LE] = 7,
        [VYRE_EXPR_GT] = 7,     [VYRE_EXPR_GE] = 7,      [VYRE_EXPR_EQ] = 6,
        [VYRE_EXPR_NE] = 6,     [VYRE_EXPR_BIT_AND] = 5, [VYRE_EXPR_BIT_XOR] = 4,
        [VYRE_EXPR_BIT_OR] = 3, [VYRE_EXPR_AND] = 2,     [VYRE_EXPR_OR] = 1,
    };
    return levels[op];
}
