/* "ref-queue": a device that does nothing until somebody waits. */
#ifndef VYRE_TESTS_DIFF_QUEUED_H
#define VYRE_TESTS_DIFF_QUEUED_H

#include "vyre/backend.h"

/* Adds it to a registry: "ref-split" behind a queue. "ref-queue://ahead=N" likes N launches ahead;
 * other parameters are those of "ref-split". A launch takes as many nanoseconds of the device as
 * steps, and one more. */
vyre_status queued_add(vyre_registry *registry, vyre_diag *diag);

/* Of all devices so far. */
typedef struct queued_log {
    uint64_t launches;     /* that ran */
    uint64_t most_waiting; /* commands at once */
    uint64_t told;         /* launches of which `await` told, not `finish` */
    uint64_t left;         /* tickets and results that nobody took before the device was closed */
} queued_log;
queued_log queued_so_far(void);

#endif
