/* Control as segments of one lane, for modules that are launched ahead. */
#ifndef VYRE_SRC_SPLIT_CONTROL_SEGMENT_H
#define VYRE_SRC_SPLIT_CONTROL_SEGMENT_H

#include "split/module.h"

/* Adds a control segment to the module for each step that needs one. The module has its control
 * program, and steps that know their ranges and whether they are doubtful. */
vyre_status vyre_control_segments(vyre_module *module, vyre_diag *diag);

#endif
