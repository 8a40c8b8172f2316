/* The call graph: an order in which callees come before callers, how deep calls nest and how large
 * bodies become when all calls are expanded. */
#ifndef VYRE_SRC_ANALYSIS_CALLS_H
#define VYRE_SRC_ANALYSIS_CALLS_H

#include "base/alloc.h"
#include "vyre/ir.h"

/* Row fn_count of `inlined` and `depth` stands for the entry body. */
typedef struct vyre_calls {
    vyre_fn *order;    /* all functions, callees first */
    uint64_t *inlined; /* statements with all calls expanded; saturates */
    uint32_t *depth;   /* levels of calls below; 0 for a body without calls */
    uint32_t fn_count;
    vyre_stmt cycle; /* a call that makes a function call itself, or VYRE_NONE; then the other
                        numbers leave that call out */
} vyre_calls;

/* Linear in the program. VYRE_OUT_OF_MEMORY or VYRE_OK; after an error nothing is to be freed. */
vyre_status vyre_calls_init(vyre_calls *calls, const vyre_program *program,
                            const vyre_allocator *a);
void vyre_calls_finish(vyre_calls *calls, const vyre_allocator *a);

#endif
