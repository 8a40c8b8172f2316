/* Bringing outputs into the caller's slots. */
#ifndef VYRE_SRC_DISPATCH_SLOTS_H
#define VYRE_SRC_DISPATCH_SLOTS_H

#include "device/device.h"
#include "dispatch/bind.h"

/* The sum of all returned bytes. */
uint64_t vyre_slots_total(const vyre_binding *binding);

typedef struct vyre_slots {
    vyre_device *device;
    vyre_trace *trace;
    vyre_binding *binding;
    const vyre_memory *memory; /* by declaration */
    vyre_output *outputs;
    bool in_place;
} vyre_slots;

/* Reads every output of the binding into its slot. Slots that are large enough keep their address.
 * Unless in_place, slots are as they were on failure. */
vyre_status vyre_slots_fill(const vyre_slots *slots, vyre_diag *diag);

#endif
