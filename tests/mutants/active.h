/* What the copy of src/ with seeded faults calls (scripts/weave). Every file of that build includes
 * it by an option of the compiler. */
#ifndef VYRE_TESTS_MUTANTS_ACTIVE_H
#define VYRE_TESTS_MUTANTS_ACTIVE_H

/* Is this the fault that is switched on? */
_Bool vyre_mutant_active(const char *name);

#endif
