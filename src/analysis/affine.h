/* Affine forms: constant + sum of factor * symbol, over the integers, with few terms.
 *
 * Symbols are numbers that the owner of the forms gives a meaning. Every operation is exact or says
 * that its result does not fit: more terms than there is room for, or numbers beyond the limits,
 * which are such that sums of products with 64-bit values never overflow 128 bits. */
#ifndef VYRE_SRC_ANALYSIS_AFFINE_H
#define VYRE_SRC_ANALYSIS_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 vyre_wide;

enum { VYRE_AFFINE_TERMS = 6 };

typedef struct vyre_affine {
    int64_t constant;
    int64_t factors[VYRE_AFFINE_TERMS];  /* not 0 */
    uint32_t symbols[VYRE_AFFINE_TERMS]; /* ascending */
    uint32_t count;
} vyre_affine;

vyre_affine vyre_affine_constant(int64_t value);
vyre_affine vyre_affine_symbol(uint32_t symbol);

/* a * x + b * y. False: it does not fit, and *out is unspecified. `out` may be x or y. */
bool vyre_affine_combine(const vyre_affine *x, int64_t a, const vyre_affine *y, int64_t b,
                         vyre_affine *out);
/* x + more. */
bool vyre_affine_shift(const vyre_affine *x, int64_t more, vyre_affine *out);
/* The factor of a symbol; 0 if it is not there. */
int64_t vyre_affine_factor(const vyre_affine *x, uint32_t symbol);
bool vyre_affine_equal(const vyre_affine *x, const vyre_affine *y);
/* x without the term at that place. */
vyre_affine vyre_affine_without(const vyre_affine *x, uint32_t term);

/* The inequality x <= 0 divided by what all factors have in common; the constant is rounded so that
 * it says the same of integers. */
void vyre_affine_tighten(vyre_affine *x);
/* The form with the least factors and constant (in magnitude) that is equal modulo 2^32. */
void vyre_affine_reduce(vyre_affine *x);

#endif
