/* Programs as source text of the C family, for people who read it or ship without this library.
 * Needs no device. docs/emit.md says what the text looks like and how it is used. */
#ifndef VYRE_EMIT_H
#define VYRE_EMIT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_emit_target {
    VYRE_EMIT_C = 0,  /* one C11 file: segments, schedule, an entry function; threads by OpenMP */
    VYRE_EMIT_OPENCL, /* the segments as kernels of OpenCL C 1.2, the schedule as a comment */
    VYRE_EMIT_CUDA,   /* one CUDA C++ file: segments as kernels, the schedule on the host, and the
                         whole program as a cooperative kernel where that is possible */
    VYRE_EMIT_TARGETS
} vyre_emit_target;

/* "c", "opencl", "cuda"; NULL for values outside the enum. */
VYRE_API const char *vyre_emit_target_name(vyre_emit_target target);
/* What a file of the target ends with: ".c", ".cl", ".cu". */
VYRE_API const char *vyre_emit_target_suffix(vyre_emit_target target);

typedef struct vyre_emit_options {
    vyre_emit_target target;
    bool keep_barriers; /* remove no grid barrier that is not needed */
    /* OpenCL: kernels for processors, whose drivers run the lanes of a group as a loop: a work-item
     * is a group, and its lanes are loops in the kernel. */
    bool for_processor;
} vyre_emit_options;

/* Writes a valid program. options may be NULL. The same program gives the same bytes in every
 * process. VYRE_UNSUPPORTED: it holds something that the target has no text for; diag names it.
 * VYRE_INVALID_ARGUMENT: the target has no form for processors of its own.
 * `write` returning false makes the call fail with VYRE_IO. */
VYRE_API vyre_status vyre_emit(const vyre_program *program, const vyre_emit_options *options,
                               const vyre_allocator *allocator, vyre_write_fn write, void *user,
                               vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
