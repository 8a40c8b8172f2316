/* Each web of definitions and uses as a variable of its own.
 *
 *     let x = a;  use(x);  x = b;  use(x);   ->   let x = a;  use(x);  let x_2 = b;  use(x_2);
 *
 * Rewrites that ask where a variable is set, or over which lanes it is the same, then get the
 * answer for the value they ask about and not for all that the variable ever is. */
#ifndef VYRE_SRC_OPT_WEBS_H
#define VYRE_SRC_OPT_WEBS_H

#include "vyre/ir.h"

/* The program has no calls, and no two variables of one name: what vyre_inline gives. If no
 * variable falls apart, the result is the program itself, retained, and *out_origin is NULL; else
 * it tells for each variable of the result which one of `program` it is a version of, VYRE_NONE for
 * those that are what they were. To be freed with `a`, as many as the result has variables. */
vyre_status vyre_webs(vyre_program *program, const vyre_allocator *a, vyre_program **out_program,
                      vyre_var **out_origin, vyre_diag *diag);

#endif
