/* What the splitter proves of its own output. */
#ifndef VYRE_SRC_SPLIT_PROOF_H
#define VYRE_SRC_SPLIT_PROOF_H

#include "analysis/shape.h"
#include "split/blocks.h"

/* Whether every condition that became a branch between blocks is the same for all lanes of the
 * scope, all of which come to it: then any lane that lives may answer for all. VYRE_INTERNAL if
 * not: a defect of splitting, and better no result than a wrong one. `room` is for the shapes of
 * one statement's expressions. */
vyre_status vyre_prove_uniform(const vyre_blocks *blocks, const vyre_program *program,
                               const vyre_shapes *shapes, vyre_shape *room, vyre_diag *diag);

#endif
