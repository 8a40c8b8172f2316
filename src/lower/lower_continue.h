/* Jumps to the next trip that only some lanes of a scope take, as values. */
#ifndef VYRE_SRC_LOWER_LOWER_CONTINUE_H
#define VYRE_SRC_LOWER_LOWER_CONTINUE_H

#include "vyre/split.h"

/* The program (valid, without calls and without copies that are pending at a jump out of a loop
 * with a barrier) in which every `break` and `continue` of a loop that holds a barrier of the scope
 * is taken by all lanes of the scope or by none. Without others the result is the program itself,
 * retained. VYRE_LIMIT if a list has too many of them. */
vyre_status vyre_lower_continue(vyre_program *program, vyre_split_scope scope,
                                const vyre_allocator *a, vyre_program **out_program,
                                vyre_diag *diag);

#endif
