/* Programs whose uniformity rests on conditions, as programs that rest on nothing. */
#ifndef VYRE_SRC_LOWER_SETTLE_H
#define VYRE_SRC_LOWER_SETTLE_H

#include "analysis/conditions.h"

/* The program (valid), proved without conditions, and the conditions under which it is the same:
 * appended to a list; their loops are statements of the result. If there are any, the result has no
 * calls; if none, it is the program itself, retained. Declarations keep their numbers. */
vyre_status vyre_settle(const vyre_program *program, const vyre_allocator *a,
                        vyre_program **out_program, vyre_condition_list *out_conditions,
                        vyre_diag *diag);

#endif
