/* What running code sees: everything outside a kernel comes through one pointer to this. Emitted
 * code knows the fields by their offsets (CPU_FIELD), so that an object has no symbol that is not
 * its own. One context belongs to one worker. */
#ifndef VYRE_SRC_BACKEND_CPU_CONTEXT_H
#define VYRE_SRC_BACKEND_CPU_CONTEXT_H

#include <stddef.h>

#include "vyre/backend.h"

typedef struct cpu_buffer {
    void *bytes;
    uint64_t count; /* elements */
} cpu_buffer;

enum { CPU_MOST_COPIES = 4 }; /* of buffers, that a worker has */

typedef struct cpu_context cpu_context;
struct cpu_context {
    const cpu_buffer *buffers; /* by declaration of the program */
    const uint64_t *values;    /* params, likewise */
    uint32_t grid[3];
    uint32_t stop;                 /* somebody wants the run to end */
    void *kept;                    /* what the worker keeps until the end of a launch (append.c) */
    void *copies[CPU_MOST_COPIES]; /* of buffers, for atomics; NULL: there is none (copies.c) */
    uint64_t wide;      /* lanes of a row of the grid; of trips that run as one: of all */
    uint8_t *arena;     /* of one group: workgroup memory, and what its lanes carry over barriers */
    void *dump;         /* where stores beyond the end of a buffer go */
    const void *zero;   /* where loads beyond the end of a buffer come from */
    uint64_t stream;    /* bytes of a buffer from which on stores go past the caches */
    int64_t fuel;       /* trips until the next look at the clock */
    uint64_t trap_lane; /* the lowest one that trapped; UINT64_MAX: none */
    uint64_t trap_address;
    uint64_t trap_site; /* segment << 32 | statement */
    /* Looks at clock and cancellation, gives new fuel; not 0: stop. */
    uint32_t (*check)(cpu_context *context);
    void (*clear)(void *bytes, uint64_t size);
    /* What processors without SSE4.1, FMA and F16C lack, and rare conversions (vyre_fold_cast). */
    uint64_t (*cast)(uint64_t from, uint64_t to, uint64_t bits);
    float (*widen_half)(uint32_t bits);
    uint32_t (*narrow_half)(float value);
    float (*fma_f32)(float x, float y, float z);
    double (*fma_f64)(double x, double y, double z);
    float (*floor_f32)(float x), (*ceil_f32)(float x), (*trunc_f32)(float x), (*round_f32)(float x);
    double (*floor_f64)(double x), (*ceil_f64)(double x), (*trunc_f64)(double x),
        (*round_f64)(double x);
    const vyre_launch *launch; /* for check */
    vyre_status status;        /* why check said stop */
};

#define CPU_FIELD(name) offsetof(cpu_context, name)

/* All that does not depend on the launch. */
void cpu_context_init(cpu_context *context);

/* The functions of a kernel: one runs units of work [first, end) of the grid, groups or lanes by
 * linear number; some have another that tells which units have something to do. */
typedef void (*cpu_entry)(cpu_context *context, uint64_t first, uint64_t end);
typedef void (*cpu_clipper)(cpu_context *context, uint64_t out_range[2]);
/* To be called by each worker when it has no more units of a launch. */
typedef void (*cpu_deliverer)(cpu_context *context);

#endif
