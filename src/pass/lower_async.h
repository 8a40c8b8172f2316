/* Async copies that are pending at a grid barrier, as copies through private memory. */
#ifndef VYRE_SRC_PASS_LOWER_ASYNC_H
#define VYRE_SRC_PASS_LOWER_ASYNC_H

#include "vyre/split.h"

/* The program (without calls) with every async copy that begins before a barrier of the scope and
 * is waited for behind it replaced: the source is captured at the beginning, as it must be, in a
 * private array that the barrier carries like any other, and delivered at the wait. Its size is
 * that of the destination, which must be constant and fit in private memory, else VYRE_UNSUPPORTED.
 * Without such copies the result is the program itself, retained. */
vyre_status vyre_lower_async(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                             vyre_program **out_program, vyre_diag *diag);

#endif
