/* The emitter's face: targets by number and name. */
#include "emit/emit.h"

#include "base/diag.h"

typedef struct target {
    const emit_dialect *dialect;
    vyre_status (*file)(const vyre_program *program, const vyre_emit_options *options,
                        const vyre_allocator *a, vyre_text *out, vyre_diag *diag);
} target;

static const target targets[VYRE_EMIT_TARGETS] = {
    [VYRE_EMIT_C] = {&emit_c, emit_c_file},
    [VYRE_EMIT_OPENCL] = {&emit_opencl, emit_opencl_file},
    [VYRE_EMIT_CUDA] = {&emit_cuda, emit_cuda_file},
};

const char *vyre_emit_target_name(vyre_emit_target t) {
    return (uint32_t)t < VYRE_EMIT_TARGETS ? targets[t].dialect->name : NULL;
}

const char *vyre_emit_target_suffix(vyre_emit_target t) {
    return (uint32_t)t < VYRE_EMIT_TARGETS ? targets[t].dialect->suffix : NULL;
}

vyre_status vyre_emit(const vyre_program *program, const vyre_emit_options *options,
                      const vyre_allocator *allocator, vyre_write_fn write, void *user,
                      vyre_diag *diag) {
    const vyre_emit_options chosen = options ? *options : (vyre_emit_options){0};
    if ((uint32_t)chosen.target >= VYRE_EMIT_TARGETS) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "use a value of vyre_emit_target",
                         "there is no target %d", (int)chosen.target);
    }
    if (chosen.for_processor && chosen.target != VYRE_EMIT_OPENCL) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "ask for OpenCL C",
                         "target %s has no form of its own for processors",
                         vyre_emit_target_name(chosen.target));
    }
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_text text;
    vyre_text_init(&text, &a);
    vyre_status status = targets[chosen.target].file(program, &chosen, &a, &text, diag);
    if (status == VYRE_OK && !write(user, vyre_text_string(&text), text.length)) {
        status = vyre_fail(diag, VYRE_IO, NULL, "the text could not be written");
    }
    vyre_text_finish(&text);
    return status;
}
