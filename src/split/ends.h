/* Where lanes can end, where they can have ended, and behind which blocks it matters whether any is
 * left. */
#ifndef VYRE_SRC_SPLIT_ENDS_H
#define VYRE_SRC_SPLIT_ENDS_H

#include "split/presence.h"

/* Adds the bits VYRE_MAY_END, VYRE_HAS_ENDED and VYRE_ASKS_FOR_LIFE (carry.h) to ends[block]. Uses
 * the predecessors and the stack of `found`. */
void vyre_ends_find(uint8_t *ends, const vyre_blocks *blocks, const vyre_program_view *program,
                    vyre_presences *found);

#endif
