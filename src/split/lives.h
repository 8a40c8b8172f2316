/* The carries of a module, and behind which steps each is alive. */
#ifndef VYRE_SRC_SPLIT_LIVES_H
#define VYRE_SRC_SPLIT_LIVES_H

#include "split/carry.h"
#include "split/module.h"

/* Sets the module's carries and lives, and what its steps carry. False when out of memory. */
bool vyre_module_list_carries(vyre_module *module, const vyre_carry_plan *plan);

#endif
