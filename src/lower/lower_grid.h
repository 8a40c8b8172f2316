/* Operations over the grid in parts, for splitting. */
#ifndef VYRE_SRC_LOWER_LOWER_GRID_H
#define VYRE_SRC_LOWER_LOWER_GRID_H

#include "vyre/ir.h"

/* Makes of each GRID statement of a program without calls one of its group, and what joins the
 * groups: PART, COMBINE and, of a scan, BASE. The program itself, retained, if it has none. */
vyre_status vyre_lower_grid(const vyre_program *program, const vyre_allocator *a,
                            vyre_program **out_program, vyre_diag *diag);

#endif
