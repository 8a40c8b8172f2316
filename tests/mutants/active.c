/* Which seeded fault is switched on: the one named by VYRE_MUTANT in the environment. Part of the
 * library only with the CMake option VYRE_MUTANTS; the library proper reads no environment. */
#include <stdlib.h>
#include <string.h>

#include "active.h"

static const char *active;

__attribute__((constructor)) static void choose(void) {
    active = getenv("VYRE_MUTANT");
}

_Bool vyre_mutant_active(const char *name) {
    return active && strcmp(active, name) == 0;
}
