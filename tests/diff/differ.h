/* One program, run in every way there is: does each give the same bytes? */
#ifndef VYRE_TESTS_DIFF_DIFFER_H
#define VYRE_TESTS_DIFF_DIFFER_H

#include "random/roundtrip.h"
#include "vyre/dispatch.h"

/* What came out, the first that applies. */
typedef enum differ_result {
    DIFFER_SAME,
    DIFFER_INVALID, /* vyre_check refuses the program */
    DIFFER_FAILED,  /* the reference backend can't run it */
    DIFFER_ORDER,   /* its result depends on the order of lanes, or it races */
    DIFFER_RUN,     /* the backend can't run it */
    DIFFER_BYTES,   /* the backend gives other bytes */
    DIFFER_SPLIT    /* it can't be split, or a segment is not a proper program */
} differ_result;

/* Properties of programs that a run counts, beside the kinds of carry. */
#define DIFFER_FEATURES(X)                                                                         \
    X(GRID_SYNC, "grid_sync")                                                                      \
    X(NESTED, "grid_sync in if or loop")                                                           \
    X(DEEP, "grid_sync 2 or more deep")                                                            \
    X(LOOP, "grid_sync in for")                                                                    \
    X(WHILE, "grid_sync in while")                                                                 \
    X(MEMORY, "while on memory")                                                                   \
    X(JUMP, "break or continue")                                                                   \
    X(END, "exit")                                                                                 \
    X(FUNCTION, "function with grid_sync")                                                         \
    X(WORKGROUP, "workgroup memory")                                                               \
    X(BARRIER, "workgroup barrier")                                                                \
    X(PRIVATE, "private array")                                                                    \
    X(ATOMIC, "atomic")                                                                            \
    X(SUBGROUP, "subgroup operation")                                                              \
    X(COPY, "async copy")                                                                          \
    X(COLLECTIVE, "collective")                                                                    \
    X(SMALL, "small elements")                                                                     \
    X(AXES, "two axes")

enum {
#define X(NAME, text) DIFFER_##NAME,
    DIFFER_FEATURES(X)
#undef X
        DIFFER_FEATURE_COUNT,
    DIFFER_CARRIES = 6,
    DIFFER_BUFFERS = 32
};

typedef struct differ_facts {
    uint32_t features; /* bit DIFFER_* */
    uint32_t carries;  /* bit vyre_carry_kind */
    bool changed;      /* the outputs differ from what they were before */
    bool chunked;      /* what lanes and groups own was in several buffers */
    uint32_t segments;
} differ_facts;

typedef struct differ {
    vyre_registry *registry; /* with "ref-groups" */
    vyre_device *ref, *device;
    bool orders;                       /* the device takes an order */
    bool tight;                        /* run also where no buffer is larger than it must be */
    bool races;                        /* look for races too */
    uint64_t most_steps;               /* of one run on ref or ref-split */
    vyre_input inputs[DIFFER_BUFFERS]; /* of the program at hand; made from its declarations */
    uint32_t input_count;
    vyre_output before[DIFFER_BUFFERS], expected[DIFFER_BUFFERS], got[DIFFER_BUFFERS];
    vyre_type types[DIFFER_BUFFERS]; /* of outputs */
    uint32_t output_count;
    uint32_t grid[3]; /* of the last run */
    roundtrip text;
    differ_facts facts;
    char why[640]; /* what differs */
} differ;

/* A backend by name; those of ref run in several orders too. */
vyre_status differ_init(differ *d, const char *backend, vyre_diag *diag);
void differ_finish(differ *d);
/* Sets facts, and why unless the result is DIFFER_SAME. */
differ_result differ_check(differ *d, const vyre_program *program);

const char *differ_feature_name(uint32_t feature);
const char *differ_carry_name(uint32_t kind);

#endif
