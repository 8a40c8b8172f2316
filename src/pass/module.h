/* The inside of a module. */
#ifndef VYRE_SRC_PASS_MODULE_H
#define VYRE_SRC_PASS_MODULE_H

#include <stdatomic.h>

#include "base/alloc.h"
#include "vyre/split.h"

/* Names of what splitting adds to segments, chosen so that they clash with nothing in the source.
 */
typedef struct vyre_module_names {
    char lane[16], grid[16], lanes[16], phase[16], tick[16];
} vyre_module_names;

struct vyre_module {
    vyre_module_view view;
    vyre_allocator allocator;
    atomic_uint references;
    vyre_program *source;
    vyre_program **segments;
    vyre_step *steps;
    vyre_carry *carries;
    vyre_removed_barrier *removed;
    uint32_t *live;       /* concatenated lists */
    uint32_t *live_first; /* step_count + 1 */
    uint32_t live_count;
    vyre_module_names names;
};

const vyre_module_names *vyre_module_names_of(const vyre_module *module);

#endif
