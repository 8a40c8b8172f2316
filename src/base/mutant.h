/* Seeded faults that test the tests. VYRE_MUTANT(fold_add, a + b, a - b) is `a + b` in every build
 * but that of `make test-mutants`, where the fault is chosen at run time and some test must notice.
 * The name is a plain identifier, unique in the tree; both forms must have the same type. */
#ifndef VYRE_SRC_BASE_MUTANT_H
#define VYRE_SRC_BASE_MUTANT_H

#include <stdbool.h>

/* Is this the chosen fault? Exists only in that build: tests/mutants/active.c. */
bool vyre_mutant_active(const char *name);

#define VYRE_MUTANT_NAME(name) #name
#ifdef VYRE_MUTANTS
#    define VYRE_MUTANT(name, normal, mutated)                                                     \
        (vyre_mutant_active(VYRE_MUTANT_NAME(name)) ? (mutated) : (normal))
#else
#    define VYRE_MUTANT(name, normal, mutated) (normal)
#endif

#endif
