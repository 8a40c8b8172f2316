/* Owned elements: indices that no two lanes, or no two groups, have in common. */
#ifndef VYRE_SRC_ANALYSIS_OWNED_H
#define VYRE_SRC_ANALYSIS_OWNED_H

#include "base/intern.h"
#include "vyre/ir.h"

enum { VYRE_OWNED_NOT = 0 }; /* forms are numbered from 1 */

typedef struct vyre_owned_form_info {
    uint8_t kind;
    bool is_known;  /* FIXED: its value is `bits` */
    uint32_t owner; /* the form that stands for it in accesses */
    uint32_t group; /* form of the elements of the lane's group among which it is, or NOT */
    uint64_t bits;  /* when known */
    uint64_t below; /* LOCAL: it is less; 0 where that is not known */
} vyre_owned_form_info;

typedef struct vyre_owned {
    const vyre_program_view *p;
    const vyre_allocator *a;
    bool any_grid;
    uint32_t *exprs, *vars; /* forms; NULL: nothing is owned */
    vyre_intern forms;
    VYRE_VEC(vyre_owned_form_info) infos;            /* per form */
    uint32_t global, local, global_size, group_size; /* forms of these along x, */
    uint32_t rest;        /* of what has the rest local_id.x modulo group_size.x, */
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

/* What elements of a buffer an index of that form is among: two accesses by lanes of different
 * groups with the same answer touch different elements. VYRE_OWNED_NOT: other groups may touch the
 * element. */
uint32_t vyre_owned_group(const vyre_owned *owned, uint32_t form);

#endif
