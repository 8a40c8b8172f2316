/* What a run of the differential test has seen: sums over its programs. */
#ifndef VYRE_TESTS_DIFF_TOTALS_H
#define VYRE_TESTS_DIFF_TOTALS_H

#include <stdio.h>

#include "diff/differ.h"

/* From this many programs on, a class that is too rare is a failure of the run: a feature in less
 * than 10 %, a legal cell in less than 0.1 %. */
enum {
    DIFFER_ENOUGH = 2000,
    DIFFER_ENOUGH_FOR_DRAWS = 200,
    DIFFER_ENOUGH_FOR_CELLS = 100000,
    DIFFER_CELL_ONE_OF = 1000
};

/* Counts only, so that totals add up word by word. */
typedef struct differ_totals {
    uint64_t programs;
    uint64_t features[DIFFER_FEATURE_COUNT];
    uint64_t carries[DIFFER_CARRY_COUNT];
    uint64_t changed; /* of those that give outputs */
    uint64_t segments, races, thorough;
    uint64_t runs[DIFFER_WAY_COUNT][DIFFER_ORDERS];
    uint64_t results[DIFFER_RESULTS];
    uint64_t values[DIFFER_CHOICES][DIFFER_VALUES], splits[DIFFER_SPLITS]; /* drawn */
    uint64_t cells[CELL_COUNT];
} differ_totals;

/* Counts what differ_check has found out. */
void differ_totals_count(differ_totals *t, const differ *d, differ_result result);
/* Counts what a program holds, as differ_totals_count does too. */
void differ_totals_cover(differ_totals *t, const coverage *c);
void differ_totals_add(differ_totals *to, const differ_totals *from);
uint64_t differ_totals_failures(const differ_totals *t);
void differ_totals_print(const differ_totals *t, FILE *to);
void differ_totals_print_draws(const differ_totals *t, const differ_backend *b, FILE *to);
void differ_totals_print_cells(const differ_totals *t, FILE *to);
/* Whether enough programs had each feature (10 %) and changed their outputs (90 %); if not, says
 * which. Few programs tell nothing and are enough. */
bool differ_totals_suffice(const differ_totals *t, const differ_backend *b, FILE *to);
/* Whether each value that was drawn at all, and each way to split, was in 10 % of the programs.
 * What this machine lacks is never drawn. */
bool differ_totals_draws_suffice(const differ_totals *t, const differ_backend *b, FILE *to);
/* Whether each legal cell was held by one of so many programs (0: by any number), and no other by
 * any. */
bool differ_totals_cells_suffice(const differ_totals *t, uint64_t one_of, FILE *to);

#endif
