/* Seeded faults that test the tests. VYRE_MUTANT(fold_add, a + b, a - b) is `a + b` in every build
 * but that of `make test-mutants`, where the fault is chosen at run time and some test must notice.
 * The name is a plain identifier, unique in the tree; both forms must have the same type. */
#ifndef VYRE_SRC_BASE_MUTANT_H
#define VYRE_SRC_BASE_MUTANT_H

#ifdef VYRE_MUTANTS
#    include <stdbool.h>
/* In tests/mutants/active.c. */
bool vyre_mutant_active(const char *name);
#    define VYRE_MUTANT(name, normal, mutated) (vyre_mutant_active(#name) ? (mutated) : (normal))
#else
#    define VYRE_MUTANT(name, normal, mutated) (normal)
#endif

#endif
