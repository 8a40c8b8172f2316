/* Statistics of a program: one walk. */
#ifndef VYRE_SRC_IR_STATS_H
#define VYRE_SRC_IR_STATS_H

#include "vyre/ir.h"

/* Fills `out` from the arrays of the view; the view's own stats are not read. */
void vyre_stats_collect(const vyre_program_view *view, vyre_stats *out);

#endif
