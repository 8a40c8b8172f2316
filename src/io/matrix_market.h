/* Matrix Market files (coordinate format) to CSR. */
#ifndef VYRE_SRC_IO_MATRIX_MARKET_H
#define VYRE_SRC_IO_MATRIX_MARKET_H

#include "io/array.h"

/* Reads pattern, integer or real entries, general or symmetric (expanded). Equal places are merged:
 * values are summed in file order; entries of a pattern have the value 1 however often they are
 * given. `value` says which values the caller wants: VYRE_VOID for none, else f32, f64, u32 or i32
 * (the last two not from a real file). text[length] must be readable and 0; `name` is the file's
 * name in messages. */
vyre_status vyre_matrix_market_parse(const char *text, size_t length, const char *name,
                                     vyre_type value, const vyre_allocator *a, vyre_csr *out,
                                     vyre_diag *diag);

#endif
