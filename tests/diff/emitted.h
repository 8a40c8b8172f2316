/* Emitted C as a device. */
#ifndef VYRE_TESTS_DIFF_EMITTED_H
#define VYRE_TESTS_DIFF_EMITTED_H

#include "vyre/backend.h"

/* Adds "emit-c" to a registry: it takes whole programs, and runs what a C compiler makes of their
 * text. "emit-c://cc=clang&opt=2&threads=1": the compiler (default gcc), how much it tries (default
 * 1), and whether groups run on threads. Emitted code may do nothing undefined: then the process
 * ends. */
vyre_status emitted_add(vyre_registry *registry, vyre_diag *diag);
/* While held its devices launch nothing: programs that are dispatched meanwhile, and end with
 * VYRE_CANCELLED, are built together at the first launch afterwards. With those that are launched
 * all that were compiled between the same two calls. */
void emitted_hold(bool hold);

#endif
