/* Owned elements: indices that no two lanes have in common. */
#ifndef VYRE_SRC_ANALYSIS_OWNED_H
#define VYRE_SRC_ANALYSIS_OWNED_H

#include "base/intern.h"
#include "vyre/ir.h"

enum { VYRE_OWNED_NOT = 0 }; /* forms are numbered from 1 */

typedef struct vyre_owned {
    const vyre_program_view *p;
    const vyre_allocator *a;
    bool any_grid;
    uint32_t *exprs, *vars; /* forms; NULL: nothing is owned */
    vyre_intern forms;
    VYRE_VEC(uint8_t) kinds;                         /* per form */
    uint32_t global, local, global_size, group_size; /* forms of these along x, */
    uint32_t width, base; /* of the size of a group as a literal, and of group_id.x times it */
} vyre_owned;

/* The program has no calls; the view and the allocator are kept. Unless any_grid, the grid is taken
 * to lie along x. */
vyre_status vyre_owned_init(vyre_owned *owned, const vyre_program_view *program, bool any_grid,
                            const vyre_allocator *a);
void vyre_owned_finish(vyre_owned *owned);

/* The form of an index into the memory: two accesses by different lanes whose indices have the same
 * form touch different elements. VYRE_OWNED_NOT: other lanes may touch the element. */
uint32_t vyre_owned_form(const vyre_owned *owned, vyre_decl memory, vyre_expr index);

#endif
