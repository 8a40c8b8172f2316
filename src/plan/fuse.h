/* What the halves of fusion tell each other: fuse.c decides what is shared and in which order waves
 * run, fuse_build.c writes the program. */
#ifndef VYRE_SRC_PLAN_FUSE_H
#define VYRE_SRC_PLAN_FUSE_H

#include "base/alloc.h"
#include "vyre/fuse.h"

enum { VYRE_FUSE_READS = VYRE_TOUCHES_READ, VYRE_FUSE_WRITES = VYRE_TOUCHES_WRITE };

/* A buffer or param that waves know by one name. */
typedef struct vyre_fuse_shared {
    const char *name;
    uint8_t role; /* in the result */
    uint8_t type;
    uint32_t wave, decl; /* whose declaration it takes: size, default, range */
    uint32_t *decl_of;   /* per wave: its declaration, or VYRE_NONE */
} vyre_fuse_shared;

typedef struct vyre_fusion {
    vyre_allocator allocator;
    const vyre_fuse_wave *waves;
    vyre_program **programs; /* the waves, calls inlined */
    uint32_t wave_count;
    uint8_t **access; /* per wave and declaration */
    VYRE_VEC(vyre_fuse_shared) shared;
    VYRE_VEC(vyre_wave_dep) deps;
    const vyre_plan *plan;
    vyre_diag *diag;
} vyre_fusion;

/* Whether two expressions of two waves mean the same: names decide. Both may be VYRE_NONE. */
bool vyre_fuse_same_expr(const vyre_program_view *a, vyre_expr x, const vyre_program_view *b,
                         vyre_expr y);

/* Writes the fused program. */
vyre_status vyre_fuse_build(vyre_fusion *fusion, const char *name, vyre_program **out_program);

#endif
