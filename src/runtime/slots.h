/* Bringing outputs into the caller's slots. */
#ifndef VYRE_SRC_RUNTIME_SLOTS_H
#define VYRE_SRC_RUNTIME_SLOTS_H

#include "runtime/bind.h"
#include "runtime/device.h"

/* The sum of all returned bytes. */
uint64_t vyre_slots_total(const vyre_binding *binding);
/* Reads every output of the binding from memory (by declaration) into the slots. Slots that are
 * large enough keep their address. Unless in_place, slots are as they were on failure. */
vyre_status vyre_slots_fill(vyre_device *device, vyre_binding *binding, const vyre_memory *memory,
                            vyre_output *outputs, bool in_place, vyre_diag *diag);

#endif
