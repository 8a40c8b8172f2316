/* Cancellation: a flag that one thread sets and others look at. Plain reads and writes of another
 * thread's flag would be a race. */
#include "kit/cancel.h"

void vyre_cancel_request(vyre_cancel *cancel) {
    __atomic_store_n(&cancel->requested, 1, __ATOMIC_RELAXED);
}
