/* Every program of the repository, with inputs made for it, on a device and on ref. */
#ifndef VYRE_TESTS_DIFF_STORED_H
#define VYRE_TESTS_DIFF_STORED_H

#include <stdint.h>

typedef struct stored_totals {
    uint32_t same, left_out;
} stored_totals;

/* A program of the repository that a device is known to get wrong. */
typedef struct stored_flaw {
    const char *path, *why;
} stored_flaw;
/* Goldens and examples, but for `flaws`, which end with a path of NULL. Cases of conformance run
 * elsewhere. */
stored_totals stored_check_all(const char *device, const stored_flaw *flaws);
/* Programs of a folder whose names begin so; a difference fails the running test. Backends that
 * are not built in are added with run_add before. */
void stored_check_folder(const char *device, const char *folder, const char *prefix,
                         const stored_flaw *flaws, stored_totals *t);

#endif
