/* Shrinks a program while something stays true of it. */
#ifndef VYRE_TESTS_DIFF_REDUCE_H
#define VYRE_TESTS_DIFF_REDUCE_H

#include <signal.h>

#include "diff/differ.h"

/* Whether the program still has the property. */
typedef bool (*reduce_keeps)(const vyre_program *program, void *user);

/* The smallest program found by dropping, unwrapping and simplifying parts one after another, until
 * nothing more can go. The caller releases it; the given program must have the property. */
vyre_program *reduce_while(vyre_program *program, reduce_keeps keeps, void *user);

/* The same for a program that differs: what is left has the same result, and does not race. Once
 * *stop is set nothing more goes; it may be NULL. */
vyre_program *reduce(differ *d, vyre_program *program, differ_result result,
                     const volatile sig_atomic_t *stop);

#endif
