/* The queue of asynchronous dispatches of a device. */
#ifndef VYRE_SRC_RUNTIME_QUEUE_H
#define VYRE_SRC_RUNTIME_QUEUE_H

#include "vyre/device.h"

/* Ends the device's thread, if it has one. All events must be gone. */
void vyre_queue_stop(vyre_device *device);

#endif
