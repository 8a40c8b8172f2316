/* The rewrites of vyre_lower, one per file. Each takes a valid program without calls and gives a
 * valid one, with one reference: the program itself, retained, if there is nothing to do. */
#ifndef VYRE_SRC_LOWER_REWRITES_H
#define VYRE_SRC_LOWER_REWRITES_H

#include "vyre/lower.h"

typedef vyre_status vyre_lower_rewrite(vyre_program *program, const vyre_capabilities *can,
                                       const vyre_allocator *a, vyre_program **out_program,
                                       vyre_diag *diag);

/* lower_rows.c: elements of memory with several dimensions are products and sums. */
vyre_lower_rewrite vyre_lower_rows;
/* lower_async.c: as vyre_lower_async for all copies, on a device without them. In the result each
 * begin is followed by its wait at once, and no copy is from a memory to itself. */
vyre_lower_rewrite vyre_lower_pending;
/* lower_storage.c: memory of bools, f16 and bf16 that is copied, on a device without copies, is
 * memory of u32 and u16; so are f16 and bf16 whose type is not claimed. Loads and stores convert,
 * bytes stay the same. */
vyre_lower_rewrite vyre_lower_storage;
/* lower_copies.c: copies, as the two before leave them, are loops. */
vyre_lower_rewrite vyre_lower_copies;
/* lower_atomics.c: atomics on floats that are not claimed go by compare-exchange of their bits. */
vyre_lower_rewrite vyre_lower_atomics;
/* lower_traps.c: traps are records in a buffer, on a device that does not tell of them, or where a
 * lane must not end. */
vyre_lower_rewrite vyre_lower_traps;
/* lower_converge.c: all lanes of a group come to all its barriers, those that have ended too, if
 * the device wants that; subgroup operations, if not all are claimed, go through workgroup memory.
 */
vyre_lower_rewrite vyre_lower_converge;
/* lower_elementary.c: elementary functions that are not claimed are core operations. */
vyre_lower_rewrite vyre_lower_elementary;
/* lower_bounds.c: accesses that are not proven to be inside are tested, on a device that does not.
 */
vyre_lower_rewrite vyre_lower_bounds;

/* lower_zero.c: workgroup memory of which something may be read first is zeroed, if the device does
 * not. */
vyre_lower_rewrite vyre_lower_zero;
/* lower_converge.c: whether there are subgroup operations or ids that the device lacks: then all
 * are replaced. */
bool vyre_lacks_subgroups(const vyre_program *program, const vyre_capabilities *can);
/* How reductions and scans over the group are replaced, if they are. */
typedef enum vyre_group_way {
    VYRE_GROUP_KEPT,     /* the device does them, or there are none */
    VYRE_GROUP_TOGETHER, /* all lanes of the group come, and those that have ended give nothing */
    VYRE_GROUP_BY_LEADER /* lanes may end, and one of the living does it for all */
} vyre_group_way;
vyre_group_way vyre_group_way_of(const vyre_program *program, const vyre_capabilities *can);

/* Where a lowered program records traps: tag and place of its site number `site`, whose 64 words
 * lie behind those of the sites before it; false if there are not so many. */
bool vyre_trap_site(const vyre_program *lowered, vyre_decl traps, uint32_t site,
                    const char **out_tag, vyre_place *out_place);

#endif
