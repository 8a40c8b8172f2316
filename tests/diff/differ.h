/* One program, run in every way there is: does each give the same bytes? */
#ifndef VYRE_TESTS_DIFF_DIFFER_H
#define VYRE_TESTS_DIFF_DIFFER_H

#include "diff/coverage.h"
#include "diff/draws.h"
#include "diff/facts.h"
#include "random/roundtrip.h"
#include "vyre/dispatch.h"

/* What came out, the first that applies. */
typedef enum differ_result {
    DIFFER_SAME,
    DIFFER_INVALID, /* vyre_check refuses the program */
    DIFFER_FAILED,  /* the reference backend can't run it */
    DIFFER_ORDER,   /* its result depends on the order of lanes, or it races */
    DIFFER_RUN,     /* the backend can't run it */
    DIFFER_BYTES,   /* the backend gives other bytes, passes or another trap */
    DIFFER_SPLIT    /* it can't be split, or a segment is not a proper program */
} differ_result;

enum { DIFFER_RESULTS = DIFFER_SPLIT + 1, DIFFER_BUFFERS = 32, DIFFER_ORDERS = 4, DIFFER_OPEN = 4 };

/* Ways to run: the reference, then the backend under test with and without the barriers that can
 * go, by both paths, with launches ahead of decisions. Each way of a backend that takes orders
 * draws another one. */
#define DIFFER_WAYS(X)                                                                             \
    X(NATIVE, "ref", VYRE_PATH_HOST, true, 0)                                                      \
    X(HOST, "host, optimised", VYRE_PATH_HOST, false, 0)                                           \
    X(RESIDENT, "resident, optimised, 16 ahead", VYRE_PATH_RESIDENT, false, 16)                    \
    X(HOST_ALL, "host, all barriers", VYRE_PATH_HOST, true, 0)                                     \
    X(RESIDENT_ALL, "resident, all barriers, 3 ahead", VYRE_PATH_RESIDENT, true, 3)

typedef enum differ_way {
#define X(NAME, text, path, keep, ahead) DIFFER_##NAME,
    DIFFER_WAYS(X)
#undef X
        DIFFER_WAY_COUNT
} differ_way;

/* How the program ends by the reference: with outputs, or with a trap. */
typedef struct differ_ending {
    vyre_status status; /* VYRE_OK or VYRE_TRAP */
    uint32_t passes;
    bool converged;
    char message[VYRE_DIAG_TEXT]; /* of the trap: lane, tag and address */
} differ_ending;

typedef struct differ {
    vyre_registry *registry; /* with "ref-groups", "ref-minimal", "ref-queue" and "emit-c" */
    vyre_device *ref;
    const differ_backend *backend; /* under test, */
    char uri[DIFFER_URI];          /* as it was asked for */
    uint8_t usable[DIFFER_CHOICES];
    differ_draws draws; /* for the program at hand */
    vyre_level level;
    struct {
        char uri[DIFFER_URI];
        vyre_device *device;
    } open[DIFFER_OPEN];               /* the devices used last, [0] being the last */
    bool races;                        /* look for races too */
    bool tight;                        /* no buffer of the device is larger than it must be */
    bool thorough;                     /* segments must survive printing and parsing, too */
    bool takes_turns;                  /* with or without barriers that can go, not both */
    uint32_t draw;                     /* which order goes with which way; whose turn it is */
    uint64_t most_steps;               /* of one run on ref or ref-split */
    vyre_input inputs[DIFFER_BUFFERS]; /* of the program at hand; made from its declarations */
    uint32_t input_count;
    vyre_output before[DIFFER_BUFFERS], expected[DIFFER_BUFFERS], got[DIFFER_BUFFERS];
    vyre_type types[DIFFER_BUFFERS]; /* of outputs */
    uint32_t output_count;
    differ_ending ending;
    uint32_t grid[3]; /* of the reference */
    roundtrip text;
    differ_facts facts;
    coverage cells;
    uint8_t runs[DIFFER_WAY_COUNT]; /* the orders in which it was run, a bit each */
    char why[640];                  /* what differs */
    char code[8];                   /* of the diagnostic, or "" */
} differ;

/* A backend by name; those of ref run in several orders too. */
vyre_status differ_init(differ *d, const char *backend, vyre_diag *diag);
void differ_finish(differ *d);
/* What a random program is checked for, drawn by its seed: each in every way and order, some of
 * them for races and for the text of segments. */
void differ_draw(differ *d, uint64_t seed);
/* Random programs from `seed` on that will be checked: a device that compiles many at once gets
 * those of its batch now, but none from `end` on. Returns the first seed that is to be announced
 * next. */
uint64_t differ_announce(differ *d, uint64_t seed, uint64_t end);
/* Sets facts, runs, and why unless the result is DIFFER_SAME. A program whose name ends in _N is
 * run to a fixpoint of at most N passes. */
differ_result differ_check(differ *d, const vyre_program *program);

/* The inputs of a program, and what its outputs hold before; false: a size is no small constant. */
bool differ_make_inputs(differ *d, const vyre_program_view *p);
void differ_free_inputs(differ *d);

const char *differ_way_name(differ_way way);
const char *differ_order_name(vyre_order order);

#endif
