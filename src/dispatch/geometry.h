/* Launch geometry: how many workgroups of which shape, decided once per dispatch. */
#ifndef VYRE_SRC_DISPATCH_GEOMETRY_H
#define VYRE_SRC_DISPATCH_GEOMETRY_H

#include "dispatch/bind.h"

typedef struct vyre_geometry {
    uint32_t workgroup[3];
    uint32_t grid[3]; /* workgroups; a zero axis runs nothing */
    vyre_decl from;   /* the buffer it was inferred from; VYRE_NONE if it was given */
} vyre_geometry;

/* Where an indirect dispatch finds its words: the bytes of the binding's inputs, or else a function
 * that reads `size` bytes at `offset` of a declaration. */
typedef struct vyre_geometry_words {
    const vyre_input *inputs;
    vyre_status (*read)(void *user, vyre_decl decl, uint64_t offset, void *data, uint64_t size,
                        vyre_diag *diag);
    void *user;
} vyre_geometry_words;

vyre_status vyre_geometry_resolve(const vyre_binding *binding, const vyre_geometry_words *words,
                                  const vyre_dispatch_options *options, vyre_geometry *out_geometry,
                                  vyre_diag *diag);
/* The workgroup alone: the program's, or the given one if that is not all zero and the program does
 * not depend on its own. */
vyre_status vyre_geometry_workgroup(const vyre_program *program, const uint32_t given[3],
                                    uint32_t out_workgroup[3], vyre_diag *diag);
/* Whether the grid is in memory. */
bool vyre_geometry_is_indirect(const vyre_program *program);

static inline bool vyre_geometry_is_empty(const vyre_geometry *geometry) {
    return geometry->grid[0] == 0 || geometry->grid[1] == 0 || geometry->grid[2] == 0;
}

#endif
