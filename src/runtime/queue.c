#include "runtime/queue.h"
void vyre_queue_stop(vyre_device *device) {
    (void)device;
}
