/* The same program with another workgroup. */
#ifndef VYRE_SRC_DISPATCH_RESHAPE_H
#define VYRE_SRC_DISPATCH_RESHAPE_H

#include "base/alloc.h"
#include "vyre/ir.h"

/* Declarations keep their numbers. */
vyre_status vyre_reshape(const vyre_program *program, const uint32_t workgroup[3],
                         const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag);

#endif
