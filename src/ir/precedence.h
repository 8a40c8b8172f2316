/* How tightly infix operators bind, as in C. Shared by printer and parser. */
#ifndef VYRE_SRC_IR_PRECEDENCE_H
#define VYRE_SRC_IR_PRECEDENCE_H

#include "vyre/ir.h"

/* Higher binds tighter; 0 for ops that are not infix. All infix operators associate to the left. */
int vyre_precedence(vyre_expr_op op);

#endif
