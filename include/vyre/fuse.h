/* Fusion: waves that are programs become one program, with a grid barrier where one wave needs what
 * another wrote. It gives the bytes of running the waves one by one in dependency order.
 *
 * What has one name is one thing: buffers (in, inout, out) and params of the same name are shared
 * by the waves; scratch, workgroup and private memory, consts, functions and locals belong to their
 * wave and are renamed where names clash. A shared buffer has one type and, where it is declared,
 * one size. It starts as the caller's bytes if the first wave that uses it takes it as `in` or
 * `inout`, and as zeros if that wave says `out`; a later wave must not say `out`, which would clear
 * it.
 *
 * Two waves of which one writes a buffer that the other uses are ordered: by the dependencies
 * given, else in the order of the list. Waves of one group run side by side: in the same lanes if
 * all waves have the same grid, else each in workgroups of its own. */
#ifndef VYRE_FUSE_H
#define VYRE_FUSE_H

#include "vyre/ir.h"
#include "vyre/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_fuse_wave {
    const char *name; /* for messages and regions */
    const vyre_program *program;
} vyre_fuse_wave;

typedef struct vyre_fuse_options {
    const char *name; /* of the result; NULL: "fused" */
    const vyre_wave_dep *deps;
    size_t dep_count;
    /* Groups to use (such as those of vyre_plan_waves); NULL: the fewest. Must hold all
     * dependencies, those from shared buffers too. */
    const vyre_plan *plan;
    /* (optional) Told of each dependency that comes from a shared buffer and was not given. */
    void (*on_conflict)(void *user, uint32_t before, uint32_t after, const char *buffer);
    void *user;
} vyre_fuse_options;

/* The waves must be valid programs; there must be at least one. */
VYRE_API vyre_status vyre_fuse(const vyre_fuse_wave *waves, uint32_t wave_count,
                               const vyre_fuse_options *options, const vyre_allocator *allocator,
                               vyre_program **out_program, vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
