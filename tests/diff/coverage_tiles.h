/* Coverage: how memory of groups and lanes is set. */
#ifndef VYRE_TESTS_DIFF_COVERAGE_TILES_H
#define VYRE_TESTS_DIFF_COVERAGE_TILES_H

#include "analysis/shape.h"
#include "random/cells.h"

/* Calls back with each cell of tiles that the entry body holds. False: out of memory. */
bool coverage_tiles(const vyre_program_view *program, const vyre_shapes *shapes,
                    void (*hold)(void *context, cell c), void *context);

#endif
