/* Adding up what launches tell. */
#ifndef VYRE_SRC_KIT_RESULTS_H
#define VYRE_SRC_KIT_RESULTS_H

#include "vyre/base.h"

/* VYRE_LIMIT: the sum does not fit. */
vyre_status vyre_device_time_add(uint64_t *sum, uint64_t ns, vyre_diag *diag);

#endif
