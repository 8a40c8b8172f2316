/* Traps on a device that does not tell of them: memory in which lanes record them (vyre/lower.h).
 */
#ifndef VYRE_SRC_SCHEDULE_TRAPS_H
#define VYRE_SRC_SCHEDULE_TRAPS_H

#include "device/call.h"

/* All zeros between launches. Begin with zeros. */
typedef struct vyre_traps {
    vyre_memory memory;
    uint64_t words; /* that it has */
} vyre_traps;

/* Makes room for what lanes of this program record over the grid; `traps` is its declaration for
 * it, VYRE_NONE: none. VYRE_LIMIT: there are too many groups to number. */
vyre_status vyre_traps_prepare(vyre_traps *t, const vyre_call *call, const vyre_program *program,
                               vyre_decl traps, const uint32_t grid[3], vyre_diag *diag);
void vyre_traps_finish(vyre_traps *t, vyre_device *device);
/* Puts it into the arrays of a launch. */
void vyre_traps_bind(const vyre_traps *t, vyre_decl traps, vyre_memory *memory, uint32_t *counts);
/* Behind a launch: waits for it. VYRE_TRAP as a device says it that tells of traps itself. */
vyre_status vyre_traps_look(vyre_traps *t, const vyre_call *call, const vyre_program *program,
                            vyre_decl traps, vyre_launch_result *result, vyre_diag *diag);

#endif
