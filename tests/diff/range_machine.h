/* A machine that runs a program lane after lane and holds every claim of its ranges against the
 * values that it computes. It runs programs without barriers, calls and copies, whose elements have
 * at most 32 bits. */
#ifndef VYRE_TESTS_DIFF_RANGE_MACHINE_H
#define VYRE_TESTS_DIFF_RANGE_MACHINE_H

#include "analysis/range.h"
#include "harness/test.h"

typedef struct range_counts {
    uint64_t values;     /* evaluations of followed expressions */
    uint64_t constants;  /* with a bound narrower than that of the type */
    uint64_t symbolic;   /* with a symbolic end that is no constant */
    uint64_t exact;      /* with a form of at least one symbol */
    uint64_t inside;     /* accesses proven inside */
    uint64_t accesses;   /* all */
    uint64_t operations; /* proven not to wrap, of + - * << */
    uint64_t divisors, amounts;
    uint64_t indices, clips; /* affine in a variable; conditions with a bound */
} range_counts;

typedef struct range_machine {
    const vyre_program_view *p;
    const vyre_ranges *r;
    uint32_t grid[3];
    void **memory;          /* per declaration; of workgroup and private memory too */
    const uint32_t *counts; /* per declaration: elements */
    const uint64_t *params; /* per declaration: bits */
    uint64_t budget;        /* statements that may still be run */
    bool strict; /* an access outside fails, but for a load of element 0 of no elements */
    range_counts *totals;
    bool failed;
    char message[256];
} range_machine;

/* False: out of budget, or a claim is wrong (then `failed` is set, with a message). */
bool range_machine_run(range_machine *m);

#endif
