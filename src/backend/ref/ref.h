/* The reference backend: the meaning of the IR, in the simplest code that is right.
 *
 * It interprets a checked program statement by statement and uses no analysis, rewrite or folder of
 * the rest of vyre, so that it can judge them. One call runs one dispatch over the caller's memory,
 * on the calling thread. */
#ifndef VYRE_SRC_BACKEND_REF_REF_H
#define VYRE_SRC_BACKEND_REF_REF_H

#include "vyre/ir.h"
#include "vyre/race.h"

/* Elements in storage form, little endian; no alignment is asked for. */
typedef struct vyre_ref_memory {
    void *data; /* may be NULL when count is 0 */
    uint32_t count;
} vyre_ref_memory;

/* In which order lanes run between barriers. A program whose result depends on the order of its
 * lanes usually shows it by giving different results under different orders. */
typedef enum vyre_ref_order {
    VYRE_REF_FORWARD = 0, /* groups z, y, x (x fastest), in a group lane by lane to the barrier */
    VYRE_REF_REVERSE,     /* groups and lanes backwards */
    VYRE_REF_RANDOM,      /* lanes of the whole grid in random order, switching at random */
    VYRE_REF_INTERLEAVED  /* lanes of the whole grid in turn, one statement at a time */
} vyre_ref_order;

typedef struct vyre_ref_args {
    const vyre_program *program;   /* vyre_check accepts it */
    const vyre_ref_memory *memory; /* per declaration; used for in, inout, out, scratch */
    const uint64_t *values;        /* per declaration: bits of params; NULL when there are none */
    uint32_t grid[3];              /* workgroups per axis; an axis of 0 runs nothing */
    vyre_ref_order order;
    uint64_t seed;               /* of VYRE_REF_RANDOM */
    uint64_t step_budget;        /* statements executed by all lanes together; 0: no limit */
    uint64_t deadline_ns;        /* CLOCK_MONOTONIC; 0: none */
    const volatile int *cancel;  /* nonzero: stop soon; set by another thread; may be NULL */
    volatile uint64_t *barriers; /* counts grid barriers while others look; may be NULL */
    bool find_races;
    vyre_race *races; /* room for the races found; may be NULL */
    uint32_t race_capacity;
    vyre_outside_list *outside; /* may be NULL */
} vyre_ref_args;

typedef struct vyre_ref_result {
    uint64_t steps;      /* statements executed; loop ends and function ends count */
    uint64_t grid_syncs; /* grid barriers and collectives passed */
    uint64_t race_count; /* as vyre_race counts, harmless ones included */
    uint64_t harmless_race_count;
    uint32_t races_stored; /* entries of args.races that were filled in */
    uint64_t trap_lane;    /* VYRE_TRAP: that lane */
} vyre_ref_result;

/* Runs the program. Besides the errors of arguments and memory:
 *   VYRE_TRAP         a lane trapped; names tag, address and the lowest such lane of its interval
 *   VYRE_STEP_BUDGET, VYRE_TIMEOUT, VYRE_CANCELLED
 *   VYRE_INTERNAL     lanes wait at different barriers: the check should have refused the program
 * On failure the contents of the memory are unspecified, and of the result too, but for a trap. */
vyre_status vyre_ref_execute(const vyre_ref_args *args, const vyre_allocator *allocator,
                             vyre_ref_result *out_result, vyre_diag *diag);

#endif
