/* Replaces every call by the body of its function. */
#ifndef VYRE_SRC_LOWER_INLINE_H
#define VYRE_SRC_LOWER_INLINE_H

#include "vyre/ir.h"

/* The same program without functions; all variables have different names. Opaque functions are
 * replaced by their lowering too. The program must be valid. The result counts one reference. */
vyre_status vyre_inline(const vyre_program *program, const vyre_allocator *allocator,
                        vyre_program **out_program, vyre_diag *diag);

#endif
