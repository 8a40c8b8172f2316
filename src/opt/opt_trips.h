/* Grid-stride loops trip by trip.
 *
 *     for (i in global_id.x .. n step global_size.x) { body }
 *
 * becomes
 *
 *     let i_to = n;
 *     for (i_trip in 0 .. i_to step global_size.x) {
 *         grid_sync;                                    a cut, if all lanes come here together
 *         let i = i_trip + global_id.x;
 *         if (global_id.x < sat_sub(i_to, i_trip)) { body }
 *     }
 *
 * Now all lanes make the same trips, the loop can leave the lanes, and in each trip neighbouring
 * lanes touch neighbouring elements: what a device without hardware threads runs fastest. One that
 * takes the trips of a group out of its lanes by itself wants them together: no cut. */
#ifndef VYRE_SRC_OPT_OPT_TRIPS_H
#define VYRE_SRC_OPT_OPT_TRIPS_H

#include "base/alloc.h"
#include "vyre/ir.h"

typedef struct vyre_trips {
    VYRE_VEC(vyre_stmt)
    cuts;           /* grid barriers of the result that nobody waits at, ascending: the
                       program may be cut there, and may go on without */
    uint32_t loops; /* that were turned */
    /* Right only if both are below 2^32: global_size.x + most_offset, and global_size.x *
     * most_strides. */
    uint32_t most_offset, most_strides;
} vyre_trips;

/* The program is valid and has no calls; so is the result, which is the program itself, retained,
 * if there was nothing to do. Declarations keep their numbers. Linear, beside the analysis of
 * shapes.
 * known_only: a loop is cut only if the number of its trips does not depend on memory; each trip of
 * another one would be a decision.
 * together: no loop is cut, unless lanes may end or have memory of their own. */
vyre_status vyre_opt_trips(vyre_program *program, bool known_only, bool together,
                           const vyre_allocator *a, vyre_program **out_program,
                           vyre_trips *out_trips, vyre_diag *diag);
void vyre_trips_finish(vyre_trips *trips, const vyre_allocator *a);

#endif
