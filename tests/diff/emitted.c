/* A program becomes text, the text with others a shared object with the compiler's checks for
 * undefined behaviour, and a launch calls its function for one pass. A few lines of C beside the
 * text put the arguments of a launch into its struct. Nothing is built before the first launch, and
 * then all that was wanted until then: what is launched, and what was compiled with it. */
#include "diff/emitted.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "diff/emitted_texts.h"
#include "kit/host_memory.h"
#include "vyre/emit.h"

typedef struct emitted_device {
    vyre_host_device host;
    char compiler[16];
    char effort;
    bool threads;
    emitted_texts texts;
} emitted_device;

typedef struct emitted_kernel {
    emitted_text *text;
    uint32_t decl_count;
} emitted_kernel;

static bool is_held;
static uint64_t group; /* of texts that are made now */

void emitted_hold(bool hold) {
    is_held = hold;
    group++;
}

/* What is undefined traps. The runtime of gcc's address sanitizer is there only if we have it, too.
 */
#define SANITIZERS " -fsanitize=undefined -fsanitize-undefined-trap-on-error "
#ifdef __SANITIZE_ADDRESS__
static const char address[] = "-fsanitize=address";
#else
static const char address[] = "";
#endif

static bool to_file(void *user, const char *text, size_t length) {
    return fwrite(text, 1, length, user) == length;
}

/* The lines that call NAME_pass. Names of the struct are those of the program, or follow from
 * where they stand: its fields are in the order of declarations. */
static void write_caller(FILE *file, const vyre_program_view *p) {
    fprintf(
        file,
        "\nint emitted_pass(void *const *memory, const uint32_t *counts, const uint64_t *values, "
        "const uint32_t *grid, told *t) {\n"
        "    static long long nothing;\n"
        "    %s_trap trap = {0};\n"
        "    %s_args args = {",
        p->name, p->name);
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *d = &p->decls[i];
        if (d->role == VYRE_IN || d->role == VYRE_INOUT || d->role == VYRE_OUT) {
            fprintf(file, "memory[%u] ? memory[%u] : &nothing, counts[%u], ", i, i, i);
        } else if (d->role == VYRE_PARAM && d->type == VYRE_F32) {
            fprintf(file, "((union { uint64_t bits; float value; }){values[%u]}).value, ", i);
        } else if (d->role == VYRE_PARAM && d->type == VYRE_F64) {
            fprintf(file, "((union { uint64_t bits; double value; }){values[%u]}).value, ", i);
        } else if (d->role == VYRE_PARAM) {
            fprintf(file, "values[%u], ", i);
        }
    }
    fprintf(file,
            "{grid[0], grid[1], grid[2]}};\n"
            "    int code = %s_pass(&args, &trap);\n"
            "    *t = (told){trap.lane, trap.address, trap.line, trap.tag};\n"
            "    return code;\n}\n",
            p->name);
}

static vyre_status make_text(const vyre_program *program, char **out_text, size_t *out_length,
                             vyre_diag *diag) {
    FILE *file = open_memstream(out_text, out_length);
    if (!file) {
        return vyre_fail_memory(diag, "a text");
    }
    const vyre_emit_options options = {.target = VYRE_EMIT_C};
    const vyre_status status = vyre_emit(program, &options, NULL, to_file, file, diag);
    write_caller(file, vyre_program_get(program));
    return fclose(file) == 0 ? status : vyre_fail_memory(diag, "a text");
}

static vyre_status compile(vyre_backend_device *object, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    emitted_device *device = (emitted_device *)object;
    const vyre_program_view *p = vyre_program_get(program);
    char *text = NULL;
    size_t length = 0;
    const vyre_status status = make_text(program, &text, &length, diag);
    if (status != VYRE_OK) {
        free(text);
        return status;
    }
    emitted_kernel *kernel = calloc(1, sizeof *kernel);
    emitted_text *made = emitted_texts_add(&device->texts, text, length, p->name, group);
    if (!kernel || !made) {
        free(kernel);
        return vyre_fail_memory(diag, "a kernel");
    }
    made->users++;
    *kernel = (emitted_kernel){made, p->decl_count};
    *out_kernel = (vyre_backend_kernel *)kernel;
    return VYRE_OK;
}

static void build(emitted_device *device) {
    char options[256];
    (void)snprintf(options, sizeof options,
                   "%s -std=c11 -O%c -ffp-contract=off -w -fPIC -shared %s %s " SANITIZERS,
                   device->compiler, device->effort, device->threads ? "-fopenmp" : "",
                   strcmp(device->compiler, "gcc") == 0 ? address : "");
    emitted_texts_build(&device->texts, options);
}

static void destroy(vyre_backend_device *device, vyre_backend_kernel *object) {
    (void)device;
    ((emitted_kernel *)object)->text->users--;
    free(object);
}

static vyre_status launch(vyre_backend_device *object_of, vyre_backend_kernel *object,
                          const vyre_launch *one, vyre_launch_result *out_result, vyre_diag *diag) {
    const emitted_kernel *kernel = (const emitted_kernel *)object;
    emitted_device *device = (emitted_device *)object_of;
    if (!kernel->text->is_wanted) {
        emitted_texts_want(&device->texts, kernel->text);
    }
    if (is_held) {
        return vyre_fail(diag, VYRE_CANCELLED, "", "nothing is launched now");
    }
    if (!kernel->text->is_built) {
        build(device);
    }
    if (!kernel->text->pass) {
        return vyre_fail(diag, VYRE_INTERNAL, "", "%s refuses the text in %s", device->compiler,
                         kernel->text->folder);
    }
    void *memory[256];
    if (kernel->decl_count > 256) {
        return vyre_fail(diag, VYRE_LIMIT, "", "too many declarations");
    }
    for (vyre_decl i = 0; i < kernel->decl_count; i++) {
        memory[i] = one->memory[i] ? vyre_host_bytes(one->memory[i]) : NULL;
    }
    emitted_told trap;
    const int code = kernel->text->pass(memory, one->counts, one->values, one->grid, &trap);
    out_result->trap_lane = trap.lane;
    return code == 0 ? VYRE_OK
           : code == 1
               ? vyre_fail_at(diag, VYRE_TRAP, "", (vyre_place){.line = trap.line}, NULL,
                              "lane %llu trapped: \"%s\" at address %lu (0x%lx)",
                              (unsigned long long)trap.lane, trap.tag, (unsigned long)trap.address,
                              (unsigned long)trap.address)
               : vyre_fail(diag, VYRE_INTERNAL, "", "the emitted program returned %d", code);
}

static void describe(vyre_backend_device *object, vyre_device_info *out_info) {
    (void)object;
    *out_info = (vyre_device_info){.name = "emitted C",
                                   .version = VYRE_VERSION_STRING,
                                   .level = VYRE_LEVEL_PROGRAM,
                                   .allows_split = true,
                                   .has_f64 = true,
                                   .has_u64_atomics = true,
                                   .has_float_atomics = true,
                                   .has_subgroups = true,
                                   .has_async_copy = true,
                                   .max_group_lanes = VYRE_LIMIT_GROUP_LANES,
                                   .max_workgroup_bytes = VYRE_LIMIT_WORKGROUP_BYTES,
                                   .compute_units = 1};
}

static void close_device(vyre_backend_device *object) {
    emitted_texts_finish(&((emitted_device *)object)->texts);
    free(object);
}

/* The value of NAME= in the path, or NULL. */
static const char *find_value(const char *path, const char *name) {
    const char *at = strstr(path, name);
    return at ? at + strlen(name) : NULL;
}

static vyre_status open_device(const vyre_backend *backend, const char *path,
                               const vyre_allocator *allocator, vyre_backend_device **out_device,
                               vyre_diag *diag) {
    (void)backend;
    emitted_device *device = calloc(1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    const char *compiler = find_value(path, "cc="), *effort = find_value(path, "opt=");
    device->host.allocator = vyre_allocator_or_system(allocator);
    (void)snprintf(device->compiler, sizeof device->compiler, "%s",
                   compiler && strncmp(compiler, "clang", 5) == 0 ? "clang" : "gcc");
    device->effort = effort ? *effort : '1';
    device->threads = find_value(path, "threads=1") && strcmp(device->compiler, "gcc") == 0;
    if (device->threads) { /* its threads outlive the objects that begin them */
        (void)dlopen("libgomp.so.1", RTLD_NOW | RTLD_NODELETE);
    }
    char command[64];
    (void)snprintf(command, sizeof command, "command -v %s >/dev/null", device->compiler);
    if (system(command) != 0) { /* NOLINT(cert-env33-c): the words are ours */
        (void)vyre_fail(diag, VYRE_NOT_FOUND, "install it", "there is no %s", device->compiler);
        free(device);
        return VYRE_NOT_FOUND;
    }
    *out_device = (vyre_backend_device *)device;
    return VYRE_OK;
}

vyre_status emitted_add(vyre_registry *registry, vyre_diag *diag) {
    static const vyre_device_table table = {VYRE_HOST_MEMORY_ENTRIES, .close = close_device,
                                            .describe = describe,     .compile = compile,
                                            .destroy = destroy,       .launch = launch};
    static const vyre_backend backend = {.name = "emit-c",
                                         .description = "what a C compiler makes of emitted text",
                                         .rank = 905,
                                         .device = &table,
                                         .open = open_device};
    return vyre_registry_add(registry, &backend, diag);
}
