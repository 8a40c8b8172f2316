/* Cancellation: a flag that one thread sets and others look at. Plain reads and writes of another
 * thread's flag would be a race. */
#include "kit/cancel.h"

bool vyre_cancel_is_requested(const vyre_cancel *cancel) {
    return cancel && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0;
}

void vyre_cancel_request(vyre_cancel *cancel) {
    __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELAXED);
}
