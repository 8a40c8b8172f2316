/* Statements that set every element of private or workgroup memory: what it held before is not
 * needed behind them. */
#ifndef VYRE_SRC_SPLIT_OVERWRITE_H
#define VYRE_SRC_SPLIT_OVERWRITE_H

#include "analysis/shape.h"
#include "base/alloc.h"
#include "split/cover.h"

typedef struct vyre_overwrite_memory {
    uint64_t count; /* elements */
    uint64_t set;   /* bits of elements set one by one, in the statement list `list` */
    uint32_t list;
    vyre_stmt loop;             /* the loop or `if` looked at last that uses it, where it has */
    uint32_t accesses;          /* so many accesses, of which */
    vyre_stmt filled;           /* this store fills it, or VYRE_NONE */
    vyre_stmt new_from, new_to; /* between these statements it holds what was stored by them; the
                                   caller sets it */
} vyre_overwrite_memory;

typedef struct vyre_overwrites {
    vyre_allocator allocator;
    const vyre_program_view *p;
    const vyre_shapes *shapes;
    vyre_overwrite_memory *memory; /* per declaration */
    vyre_expr *value_of;           /* per variable: what it is, if it is never assigned */
    vyre_cover outside;            /* in no loop */
    bool lanes_end;
    VYRE_VEC(vyre_decl) found;
    bool failed; /* out of memory: not all was found */
} vyre_overwrites;

/* The program has no calls. False when out of memory; to be finished in any case. */
bool vyre_overwrites_init(vyre_overwrites *o, const vyre_program_view *program,
                          const vyre_shapes *shapes, const vyre_allocator *a);
void vyre_overwrites_finish(vyre_overwrites *o);

/* Memory that is new as a whole once the statement, or the construct that it opens, has been
 * executed: o->found. `list` is any number that tells the statement list it stands in from others;
 * statements come in their order. Nothing in the construct reads that memory. */
void vyre_overwrites_look(vyre_overwrites *o, vyre_stmt s, uint32_t list);

static inline bool vyre_overwrites_is_new(const vyre_overwrites *o, vyre_decl d, vyre_stmt at) {
    return at != VYRE_NONE && at > o->memory[d].new_from && at < o->memory[d].new_to;
}

#endif
