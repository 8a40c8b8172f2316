/* What drivers make of texts. A binary is kept under everything that decides what it is: the text,
 * the options, the device and its driver. One that the driver does not take any more counts as not
 * there. Drivers that have none (size 0) compile each time. (PoCL 3.1 compiles kernels for any size
 * of groups when it is asked for a binary, and for theirs at the first launch, also of those that
 * come from a binary: that a binary is kept costs a first run as much again.) */
#include <string.h>

#include "backend/opencl/opencl.h"
#include "base/alloc.h"
#include "base/diag.h"

/* The build log, as much as fits, in the message. */
static vyre_status fail_build(const opencl_device *device, cl_object program, const char *name,
                              int32_t code, vyre_diag *diag) {
    const vyre_allocator *a = &device->allocator;
    size_t size = 0;
    (void)device->cl.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = vyre_alloc_zeroed(a, size + 1, 1);
    if (log && size) {
        (void)device->cl.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log,
                                             NULL);
    }
    (void)vyre_fail(diag, VYRE_DEVICE_FAILED, "look at the text: vyre emit FILE --target opencl",
                    "the OpenCL compiler refuses %s, error %d: %s", name, (int)code,
                    log ? log : "");
    if (diag) {
        diag->native = code;
    }
    vyre_free(a, log, size + 1, 1);
    return VYRE_DEVICE_FAILED;
}

/* Without warnings, which some drivers print: the text is as the program is. */
static const char *options_of(const opencl_device *device) {
    return device->divides_exactly ? "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                   : "-w -cl-std=CL1.2";
}

static int32_t build(const opencl_device *device, cl_object program) {
    return device->cl.BuildProgram(program, 1, &device->id, options_of(device), NULL, NULL);
}

static void write_key(const opencl_device *device, const vyre_text *text, vyre_text *key) {
    static const uint32_t facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                     CL_DRIVER_VERSION};
    vyre_text_puts(key, "opencl\n");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char fact[256];
        opencl_text(&device->cl, device->id, facts[i], fact, sizeof fact);
        vyre_text_printf(key, "%s\n", fact);
    }
    vyre_text_printf(key, "%s\n", options_of(device));
    vyre_text_append(key, text->data, text->length);
}

/* NULL: there is none. */
static cl_object find_kept(opencl_device *device, const vyre_text *key) {
    vyre_cached kept;
    if (!vyre_store_get(&device->store, key->data, key->length, &kept)) {
        return NULL;
    }
    const unsigned char *bytes = kept.bytes;
    int32_t state = 0, code = 0;
    cl_object program = device->cl.CreateProgramWithBinary(device->context, 1, &device->id,
                                                           &kept.size, &bytes, &state, &code);
    vyre_store_release(&device->store, &kept);
    if (program && (state != 0 || build(device, program) != 0)) {
        (void)device->cl.ReleaseProgram(program);
        program = NULL;
    }
    return program;
}

static void keep(opencl_device *device, cl_object program, const vyre_text *key) {
    const cl_api *cl = &device->cl;
    const vyre_allocator *a = &device->allocator;
    size_t size = 0;
    if (!device->store.folder ||
        cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != 0 ||
        size == 0) {
        return;
    }
    unsigned char *bytes = vyre_alloc(a, size, 1);
    if (bytes &&
        cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) == 0) {
        vyre_store_put(&device->store, key->data, key->length, bytes, size);
    }
    vyre_free(a, bytes, size, 1);
}

static vyre_status compile(opencl_device *device, const char *name, const vyre_text *text,
                           cl_object *out_program, vyre_diag *diag) {
    const char *source = vyre_text_string(text);
    int32_t code = 0;
    cl_object program =
        device->cl.CreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (!program) {
        return opencl_fail(diag, code, "make a program");
    }
    code = build(device, program);
    if (code != 0) {
        vyre_status status = fail_build(device, program, name, code, diag);
        (void)device->cl.ReleaseProgram(program);
        return status;
    }
    *out_program = program;
    return VYRE_OK;
}

vyre_status opencl_build(opencl_device *device, const char *name, const vyre_text *text,
                         cl_object *out_program, bool *out_is_from_disk, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    vyre_text key;
    vyre_text_init(&key, &device->allocator);
    write_key(device, text, &key);
    cl_object program = key.failed ? NULL : find_kept(device, &key);
    *out_is_from_disk = program != NULL;
    if (!program) {
        status = compile(device, name, text, &program, diag);
    }
    if (status == VYRE_OK && !*out_is_from_disk && !key.failed) {
        keep(device, program, &key);
    }
    vyre_text_finish(&key);
    *out_program = program;
    return status;
}
