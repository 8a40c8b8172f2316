/* Async copies that are pending at a barrier, as copies that are not. */
#ifndef VYRE_SRC_LOWER_LOWER_ASYNC_H
#define VYRE_SRC_LOWER_LOWER_ASYNC_H

#include "vyre/split.h"

/* The program (without calls) with every async copy that begins before a barrier of the scope and
 * is waited for behind it replaced. If nothing can change the source in between, the whole copy is
 * made at the wait. Otherwise the source is captured at the beginning in a private array, which the
 * barrier carries like any other, and delivered at the wait; if that does not fit in private
 * memory, VYRE_UNSUPPORTED, naming the copy and what changes its source. Without such copies the
 * result is the program itself, retained. */
vyre_status vyre_lower_async(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                             vyre_program **out_program, vyre_diag *diag);

#endif
