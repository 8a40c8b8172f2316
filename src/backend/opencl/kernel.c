/* Kernels: a program becomes text (src/emit), which the driver compiles. Arguments are bound once
 * and only those that changed again, since most launches of a loop change a scalar or two. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "emit/emit.h"

enum { FLUSH_EVERY = 16 };

/* ---- compiling ---- */

/* Whether floats of 32 bits are divided, by whatever name. */
static vyre_expr find_division(const vyre_program_view *p) {
    for (vyre_expr i = 0; i < p->expr_count; i++) {
        const uint8_t op = p->exprs[i].op;
        if (p->exprs[i].type == VYRE_F32 &&
            (op == VYRE_EXPR_DIV || op == VYRE_EXPR_RCP || op == VYRE_EXPR_SQRT)) {
            return i;
        }
    }
    return VYRE_NONE;
}

static vyre_status check_division(const opencl_device *device, const vyre_program *program,
                                  vyre_diag *diag) {
    const vyre_expr division = device->divides_exactly || device->has_f64
                                   ? VYRE_NONE
                                   : find_division(vyre_program_get(program));
    return division == VYRE_NONE
               ? VYRE_OK
               : vyre_fail_at(diag, VYRE_UNSUPPORTED, "",
                              vyre_program_expr_place(program, division),
                              "use another device, or f64",
                              "this OpenCL device does not round quotients and roots of f32 as "
                              "IEEE 754 does");
}

/* What the driver makes of all of them. *out_failed: which of them failed, if one did. */
static vyre_status build_all(opencl_device *device, const vyre_program *const *programs,
                             uint32_t count, cl_object *out_program, bool *out_is_from_disk,
                             uint32_t *out_failed, vyre_diag *diag) {
    const emit_opencl_device how = {.divides_wide = !device->divides_exactly,
                                    .unchecked = device->unchecked,
                                    .runs_groups = device->is_processor,
                                    .group_bytes = device->local_bytes};
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = check_division(device, programs[i], diag);
        *out_failed = i;
    }
    vyre_text text;
    vyre_text_init(&text, &device->allocator);
    if (status == VYRE_OK) {
        status = emit_opencl_programs(programs, count, &how, &device->allocator, &text, out_failed,
                                      diag);
    }
    if (status == VYRE_OK) {
        *out_failed = VYRE_NONE;
        status = opencl_build(device, vyre_program_get(programs[0])->name, &text, out_program,
                              out_is_from_disk, diag);
    }
    vyre_text_finish(&text);
    return status;
}

void opencl_origin(vyre_backend_device *object, const vyre_backend_kernel *kernel,
                   vyre_code_origin *out_origin) {
    (void)object;
    *out_origin =
        ((const opencl_kernel *)kernel)->is_from_disk ? VYRE_CODE_FROM_DISK : VYRE_CODE_COMPILED;
}

void opencl_destroy(vyre_backend_device *object, vyre_backend_kernel *given) {
    opencl_device *device = (opencl_device *)object;
    const vyre_allocator *a = &device->allocator;
    opencl_kernel *kernel = (opencl_kernel *)given;
    const uint32_t count = vyre_program_get(kernel->source)->decl_count;
    if (kernel->kernel) {
        (void)device->cl.ReleaseKernel(kernel->kernel);
    }
    vyre_free(a, kernel->memory, count, sizeof *kernel->memory);
    vyre_free(a, kernel->counts, count, sizeof *kernel->counts);
    vyre_free(a, kernel->values, count, sizeof *kernel->values);
    vyre_free(a, kernel, 1, sizeof *kernel);
}

/* The driver keeps what it made of the text as long as there are kernels of it. */
static vyre_status make(opencl_device *device, const vyre_program *program, cl_object built,
                        bool is_from_disk, vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    const vyre_allocator *a = &device->allocator;
    const vyre_program_view *p = vyre_program_get(program);
    char entry[VYRE_LIMIT_NAME + 16];
    opencl_kernel *kernel = vyre_alloc_zeroed(a, 1, sizeof *kernel);
    if (!kernel) {
        return vyre_fail_memory(diag, "a kernel");
    }
    *out_kernel = (vyre_backend_kernel *)kernel;
    kernel->source = program;
    kernel->is_from_disk = is_from_disk;
    kernel->memory = vyre_alloc_zeroed(a, p->decl_count, sizeof *kernel->memory);
    kernel->counts = vyre_alloc_zeroed(a, p->decl_count, sizeof *kernel->counts);
    kernel->values = vyre_alloc_zeroed(a, p->decl_count, sizeof *kernel->values);
    if (!kernel->memory || !kernel->counts || !kernel->values) {
        return vyre_fail_memory(diag, "a kernel");
    }
    int32_t code = 0;
    (void)snprintf(entry, sizeof entry, "%s_kernel", p->name);
    kernel->kernel = device->cl.CreateKernel(built, entry, &code);
    return kernel->kernel ? VYRE_OK : opencl_fail(diag, code, "make a kernel");
}

vyre_status opencl_compile_many(vyre_backend_device *object, const vyre_program *const *programs,
                                uint32_t count, vyre_backend_kernel **out_kernels,
                                vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    cl_object built = NULL;
    bool is_from_disk = false;
    uint32_t failed = VYRE_NONE;
    memset((void *)out_kernels, 0, count * sizeof *out_kernels);
    vyre_status status = build_all(device, programs, count, &built, &is_from_disk, &failed, diag);
    for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
        status = make(device, programs[i], built, is_from_disk, &out_kernels[i], diag);
        failed = status == VYRE_OK ? VYRE_NONE : i;
    }
    if (built) {
        (void)device->cl.ReleaseProgram(built);
    }
    for (uint32_t i = 0; i < count && status != VYRE_OK; i++) {
        if (out_kernels[i]) {
            opencl_destroy(object, out_kernels[i]);
            out_kernels[i] = NULL;
        }
    }
    if (status != VYRE_OK && failed != VYRE_NONE && diag) {
        diag->segment = failed + 1;
    }
    return status;
}

vyre_status opencl_compile(vyre_backend_device *object, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    return opencl_compile_many(object, &program, 1, out_kernel, diag);
}

/* ---- launching ---- */

/* Binds a buffer and its length, if they changed; counts arguments in *at. */
static int32_t bind_buffer(opencl_device *device, opencl_kernel *kernel, const vyre_launch *launch,
                           vyre_decl decl, uint32_t *at) {
    const vyre_program_view *p = vyre_program_get(kernel->source);
    int32_t code = 0;
    if (!kernel->is_bound || kernel->memory[decl] != launch->memory[decl]) {
        cl_object memory = (cl_object)(uintptr_t)launch->memory[decl];
        code = device->cl.SetKernelArg(kernel->kernel, *at, sizeof memory, &memory);
        kernel->memory[decl] = launch->memory[decl];
    }
    ++*at;
    if (code == 0 && emit_has_len(p, decl)) {
        if (!kernel->is_bound || kernel->counts[decl] != launch->counts[decl]) {
            code = device->cl.SetKernelArg(kernel->kernel, *at, sizeof *launch->counts,
                                           &launch->counts[decl]);
            kernel->counts[decl] = launch->counts[decl];
        }
        ++*at;
    }
    return code;
}

static int32_t bind(opencl_device *device, opencl_kernel *kernel, const vyre_launch *launch) {
    const vyre_program_view *p = vyre_program_get(kernel->source);
    uint32_t at = 0;
    int32_t code = 0;
    for (vyre_decl i = 0; i < p->decl_count && code == 0; i++) {
        const vyre_decl_node *d = &p->decls[i];
        if (vyre_role_is_buffer((vyre_role)d->role)) {
            code = bind_buffer(device, kernel, launch, i, &at);
        } else if (d->role == VYRE_PARAM) {
            if (!kernel->is_bound || kernel->values[i] != launch->values[i]) {
                code =
                    device->cl.SetKernelArg(kernel->kernel, at, /* little endian */
                                            vyre_type_size((vyre_type)d->type), &launch->values[i]);
                kernel->values[i] = launch->values[i];
            }
            at++;
        }
    }
    kernel->is_bound = code == 0;
    return code;
}

vyre_status opencl_launch(vyre_backend_device *object, vyre_backend_kernel *given,
                          const vyre_launch *launch, vyre_launch_result *out_result,
                          vyre_diag *diag) {
    opencl_device *device = (opencl_device *)object;
    opencl_kernel *kernel = (opencl_kernel *)given;
    const vyre_program_view *p = vyre_program_get(kernel->source);
    opencl_command *command = opencl_command_new(device, launch, p->name);
    if (!command) {
        return vyre_fail_memory(diag, "a launch");
    }
    size_t all[3], each[3];
    for (int axis = 0; axis < 3; axis++) {
        each[axis] = device->is_processor ? 1 : p->workgroup[axis];
        all[axis] = (size_t)launch->grid[axis] * each[axis];
    }
    int32_t code = bind(device, kernel, launch);
    if (code == 0) {
        pthread_mutex_lock(&device->lock);
        code = device->cl.EnqueueNDRangeKernel(device->queue, kernel->kernel, 3, NULL, all, each, 0,
                                               NULL, &command->event);
        if (code == 0) {
            opencl_command_add(device, command);
            if (command->number % FLUSH_EVERY == 0) {
                (void)device->cl.Flush(device->queue); /* some drivers wait for it */
            }
        }
        pthread_mutex_unlock(&device->lock);
    }
    if (code != 0) {
        vyre_free(&device->allocator, command, 1, sizeof *command);
        return opencl_fail(diag, code, "launch a kernel");
    }
    out_result->is_queued = true;
    return VYRE_OK;
}
