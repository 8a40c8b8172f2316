/* Effects: which memory each statement reads and writes, and for whom it waits. */
#ifndef VYRE_SRC_ANALYSIS_EFFECTS_H
#define VYRE_SRC_ANALYSIS_EFFECTS_H

#include "analysis/calls.h"
#include "base/alloc.h"
#include "vyre/ir.h"

/* Bits of what is done to a declaration. An atomic is all three, but atomic_load no write. */
typedef enum vyre_effect {
    VYRE_EFFECT_READ = VYRE_TOUCHES_READ,
    VYRE_EFFECT_WRITE = VYRE_TOUCHES_WRITE,
    VYRE_EFFECT_ATOMIC = 4
} vyre_effect;

/* Summaries of all functions and the deliveries of async waits. Immutable once made. */
typedef struct vyre_effect_map vyre_effect_map;

/* `calls` must be free of cycles; it is only used during the call. */
vyre_status vyre_effects_create(const vyre_program *program, const vyre_calls *calls,
                                const vyre_allocator *allocator, vyre_effect_map **out_effects);
void vyre_effects_destroy(vyre_effect_map *effects);

/* Calls `visit` for everything that the statement itself does to memory, in order of evaluation:
 *   loads of its expressions, then its own access. A declaration may come several times.
 *   async_load, async_store  read the source
 *   async_wait               writes the destination of its begin
 *   calls                    what the callee does, transitively; of an opaque function what it
 *                            declares
 *   if, for, while           only the condition and the bounds, not the body
 * `effect` holds bits of vyre_effect; `load` is the load expression, or VYRE_NONE. */
typedef void (*vyre_effect_fn)(void *user, vyre_decl decl, uint32_t effect, vyre_expr load);
void vyre_effects_of(const vyre_effect_map *effects, vyre_stmt stmt, vyre_effect_fn visit,
                     void *user);

/* Whether one of them writes the declaration. */
bool vyre_effects_write(const vyre_effect_map *effects, vyre_stmt stmt, vyre_decl decl);

/* Bits of vyre_waits of the statement itself; of a call, those of its callee. */
uint32_t vyre_effects_waits(const vyre_effect_map *effects, vyre_stmt stmt);
uint32_t vyre_effects_fn_waits(const vyre_effect_map *effects, vyre_fn fn);

/* Sets of declarations, one bit each. */
typedef struct vyre_effect_sets {
    uint64_t *reads, *writes, *atomics; /* `words` words each */
    uint32_t words;
    uint32_t waits;
} vyre_effect_sets;

/* Adds the effects of statements [first, end) to the sets. */
void vyre_effects_collect(const vyre_effect_map *effects, vyre_stmt first, vyre_stmt end,
                          vyre_effect_sets *sets);

#endif
