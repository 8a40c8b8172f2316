/* The backends that are part of the library, in order of preference. A backend defines its table
 * `vyre_backend_NAME`; one line here registers it. */
#ifndef VYRE_SRC_DEVICE_BUILTIN_H
#define VYRE_SRC_DEVICE_BUILTIN_H

#include "vyre/backend.h"

#define VYRE_BUILTIN_BACKENDS(X)                                                                   \
    X(vyre_backend_cpu)                                                                            \
    X(vyre_backend_opencl)                                                                         \
    X(vyre_backend_ref) X(vyre_backend_ref_split) X(vyre_backend_ref_schedule) X(vyre_backend_null)

#define VYRE_BUILTIN_DECLARE(table) extern const vyre_backend table;
VYRE_BUILTIN_BACKENDS(VYRE_BUILTIN_DECLARE)
#undef VYRE_BUILTIN_DECLARE

#endif
