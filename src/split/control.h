/* The control program of a module: what the schedule computes itself. */
#ifndef VYRE_SRC_SPLIT_CONTROL_H
#define VYRE_SRC_SPLIT_CONTROL_H

#include "split/carry.h"
#include "split/module.h"

/* Sets the module's control program and scalars, and of its steps the assignments and what decides.
 */
vyre_status vyre_control_build(vyre_module *module, const vyre_carry_plan *plan, vyre_diag *diag);

#endif
