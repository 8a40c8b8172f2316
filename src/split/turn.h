/* Grid-stride loops of a module's source, turned so that they leave the lanes. */
#ifndef VYRE_SRC_SPLIT_TURN_H
#define VYRE_SRC_SPLIT_TURN_H

#include "split/module.h"

/* Turns the loops of m->source (opt/opt_trips.h), and brings what depends on it along: m->inlined,
 * m->origin, the statements of m->barriers, m->cuts, m->view.widest. */
vyre_status vyre_turn_loops(vyre_module *m, bool known_only, bool together, vyre_diag *diag);

#endif
