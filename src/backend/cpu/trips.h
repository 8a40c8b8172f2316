/* Trips of a turned loop as one launch. */
#ifndef VYRE_SRC_BACKEND_CPU_TRIPS_H
#define VYRE_SRC_BACKEND_CPU_TRIPS_H

#include "vyre/schedule.h"

/* Of a segment that is a trip like others. */
typedef struct cpu_trips {
    uint32_t most;  /* trips that end behind this must not run at once; 0: it is no such segment */
    vyre_decl decl; /* the param that says where the trip is */
} cpu_trips;

/* Whether the segment, whose groups are dissolved, is one. */
vyre_status cpu_trips_find(const vyre_program *segment, const vyre_allocator *a,
                           cpu_trips *out_trips, vyre_diag *diag);

/* How many trips from here on, at least 1, can run as one launch with a grid that is so many times
 * as wide; `width` is that of one. The position has entered the step of the first one, and has then
 * entered that of the last; what is bound is the first. */
uint32_t cpu_trips_fold(vyre_position *at, const vyre_module_launch *pass, const cpu_trips *trips,
                        uint64_t width);

#endif
