/* Collectives of one rank as core IR. */
#ifndef VYRE_SRC_PASS_LOWER_COLLECTIVE_H
#define VYRE_SRC_PASS_LOWER_COLLECTIVE_H

#include "vyre/ir.h"

/* The program (without calls) with every collective replaced by what it means on one rank: a grid
 * barrier before and after, and between them nothing (all_reduce, broadcast) or a copy of the
 * shorter length (all_gather, reduce_scatter). Without collectives the result is the program
 * itself, retained. */
vyre_status vyre_lower_collective(vyre_program *program, const vyre_allocator *a,
                                  vyre_program **out_program, vyre_diag *diag);

#endif
