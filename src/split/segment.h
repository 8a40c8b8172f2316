/* One block as a program of its own. */
#ifndef VYRE_SRC_SPLIT_SEGMENT_H
#define VYRE_SRC_SPLIT_SEGMENT_H

#include "split/carry.h"
#include "split/module.h"

/* Makes segment after segment of one program; maps of the size of the program are kept, so that a
 * segment costs what its block and the values it restores cost. */
typedef struct vyre_segment_maker vyre_segment_maker;

/* For the segments of a module whose source, names and buffers are set. */
vyre_status vyre_segment_maker_create(const vyre_module *module, const vyre_carry_plan *plan,
                                      vyre_segment_maker **out_maker, vyre_diag *diag);
void vyre_segment_maker_destroy(vyre_segment_maker *maker);

typedef struct vyre_segment {
    vyre_program *program;    /* NULL: the block does nothing that anyone can notice */
    vyre_segment_decl *decls; /* what its declarations are; from the maker's allocator */
    bool flips;               /* it writes what lanes of a group share to _next */
    bool makes;               /* it writes _made */
} vyre_segment;

/* The segment of a block: restores what the block touches, runs it, stores what it changed and is
 * alive behind it, and hands to the schedule what that wants to know. */
vyre_status vyre_segment_build(vyre_segment_maker *maker, uint32_t block, uint32_t number,
                               vyre_segment *out, vyre_diag *diag);

#endif
