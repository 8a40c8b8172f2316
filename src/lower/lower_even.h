/* Loops that lanes of a scope begin apart and end together, as loops that count alike. */
#ifndef VYRE_SRC_LOWER_LOWER_EVEN_H
#define VYRE_SRC_LOWER_LOWER_EVEN_H

#include "vyre/split.h"

/* The program (valid, without calls) in which every FOR that holds a barrier of the scope begins at
 * a value that all lanes of the scope share. Without others the result is the program itself,
 * retained. */
vyre_status vyre_lower_even(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag);

#endif
