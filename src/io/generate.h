/* Generated inputs: arrays and graphs that are the same everywhere. */
#ifndef VYRE_SRC_IO_GENERATE_H
#define VYRE_SRC_IO_GENERATE_H

#include "io/array.h"

vyre_status vyre_generate_zeros(vyre_type type, uint64_t count, const vyre_allocator *a,
                                vyre_array *out, vyre_diag *diag);
/* 0, 1, 2, ... wrapping at the width of the type (bool: 0, 1, 0, ...), rounded for floats. */
vyre_status vyre_generate_iota(vyre_type type, uint64_t count, const vyre_allocator *a,
                               vyre_array *out, vyre_diag *diag);
/* One splitmix64 output per element: integers and bool take its low bits; f32, f16 and bf16 the top
 * 24 over 2^24 (then rounded), f64 the top 53 over 2^53. */
vyre_status vyre_generate_random(vyre_type type, uint64_t count, uint64_t seed,
                                 const vyre_allocator *a, vyre_array *out, vyre_diag *diag);

/* R-MAT: edge_factor * 2^scale edges among 2^scale vertices, one draw per level against .57 .76
 * .95; self loops dropped, both directions, duplicates merged. `value` is the type of `val`, all 1;
 * VYRE_VOID for none. */
vyre_status vyre_generate_rmat(uint64_t scale, uint64_t edge_factor, uint64_t seed, vyre_type value,
                               const vyre_allocator *a, vyre_csr *out, vyre_diag *diag);
/* width x height grid, vertex y * width + x, four neighbours. */
vyre_status vyre_generate_grid(uint64_t width, uint64_t height, vyre_type value,
                               const vyre_allocator *a, vyre_csr *out, vyre_diag *diag);

#endif
