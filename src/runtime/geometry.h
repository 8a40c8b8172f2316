/* Launch geometry: how many workgroups of which shape, decided once per dispatch. */
#ifndef VYRE_SRC_RUNTIME_GEOMETRY_H
#define VYRE_SRC_RUNTIME_GEOMETRY_H

#include "runtime/bind.h"

typedef struct vyre_geometry {
    uint32_t workgroup[3];
    uint32_t grid[3]; /* workgroups; a zero axis runs nothing */
    vyre_decl from;   /* the buffer it was inferred from; VYRE_NONE if it was given */
} vyre_geometry;

/* `inputs` are the bytes of the binding: an indirect dispatch reads its words from them. */
vyre_status vyre_geometry_resolve(const vyre_binding *binding, const vyre_input *inputs,
                                  const vyre_dispatch_options *options, vyre_geometry *out_geometry,
                                  vyre_diag *diag);

static inline bool vyre_geometry_is_empty(const vyre_geometry *geometry) {
    return geometry->grid[0] == 0 || geometry->grid[1] == 0 || geometry->grid[2] == 0;
}

#endif
