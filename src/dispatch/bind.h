/* The binding plan: which caller's bytes go where, and how many elements everything has. */
#ifndef VYRE_SRC_DISPATCH_BIND_H
#define VYRE_SRC_DISPATCH_BIND_H

#include "base/arena.h"
#include "vyre/dispatch.h"

typedef struct vyre_binding {
    const vyre_program *program;
    const uint32_t *counts;   /* elements of each declaration; 0 for params and consts */
    const uint64_t *values;   /* bits of each param */
    const vyre_decl *inputs;  /* every in and inout, in declaration order */
    const vyre_decl *outputs; /* every inout and out, in declaration order */
    uint32_t input_count, output_count;
    vyre_arena arena; /* owns the arrays */
} vyre_binding;

/* What a binding needs to know; all of it is only read during the call. */
typedef struct vyre_bind_args {
    const vyre_input *inputs;
    uint32_t input_count;
    const vyre_setting *settings;
    uint32_t setting_count;
    /* An input without data stands for its declared size: only sizes are asked for. */
    bool only_sizes;
    /* Inputs are buffers of which only the sizes are given; they may be too large. */
    bool are_resident;
} vyre_bind_args;

/* On failure nothing is to be finished. */
vyre_status vyre_binding_init(vyre_binding *binding, const vyre_program *program,
                              const vyre_bind_args *args, const vyre_allocator *allocator,
                              vyre_diag *diag);
void vyre_binding_finish(vyre_binding *binding);

/* Bytes of a memory declaration. */
uint64_t vyre_binding_bytes(const vyre_binding *binding, vyre_decl decl);
/* The bytes [begin, begin + size) of an output that are returned. */
uint64_t vyre_binding_returned(const vyre_binding *binding, vyre_decl decl, uint64_t *out_begin);

#endif
