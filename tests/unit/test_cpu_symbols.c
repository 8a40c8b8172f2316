/* Objects have no symbol that is not their own: the loader refuses any other (kit/object.c). All
 * programs of the examples, the benchmarks and the golden files are compiled for the least
 * processor, which has no instruction for fma, floor or halves and calls the context for them, and
 * for the host's. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "harness/run.h"
#include "io/file.h"

static vyre_program *load(const char *path) {
    vyre_bytes bytes;
    vyre_diag_list diags = {0};
    vyre_program *program = NULL;
    if (vyre_file_read(path, 0, NULL, &bytes, NULL) == VYRE_OK) {
        (void)vyre_parse((const char *)bytes.data, bytes.size, NULL, NULL, &program, &diags);
        vyre_bytes_finish(&bytes);
    }
    return program;
}

static bool compile(vyre_device *device, const char *path) {
    vyre_program *program = load(path);
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    if (!program) {
        return false; /* one that must not parse */
    }
    const vyre_status status = vyre_compile(device, program, NULL, &pipeline, &diag);
    if (strstr(diag.message, "can't be loaded") || status == VYRE_INTERNAL) {
        test_fail(__FILE__, __LINE__, "%s: %s", path, diag.message);
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    return status == VYRE_OK;
}

static uint32_t compile_folder(vyre_device *device, const char *name, uint32_t each) {
    char path[512];
    uint32_t compiled = 0, number = 0;
    (void)snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, name);
    DIR *folder = opendir(path);
    REQUIRE(folder != NULL);
    for (const struct dirent *e; (e = readdir(folder)) && !test_failed();) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot && strcmp(dot, ".vy") == 0 && number++ % each == 0) {
            (void)snprintf(path, sizeof path, "%s/%s/%s", VYRE_SOURCE_DIR, name, e->d_name);
            compiled += compile(device, path);
        }
    }
    (void)closedir(folder);
    return compiled;
}

static void compile_all(const char *uri, uint32_t each, uint32_t least) {
    static const char *const folders[] = {"examples",          "bench/programs",
                                          "bench/wider",       "bench/published",
                                          "tests/golden/diff", "tests/golden/forms"};
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, uri, NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    uint32_t compiled = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !test_failed(); i++) {
        compiled += compile_folder(device, folders[i], each);
    }
    CHECK(compiled >= least);
    vyre_device_close(device);
}

TEST(code_for_the_least_processor_needs_nothing_else) {
    compile_all("cpu://features=sse2&effort=0", 1, 60);
}

TEST(nor_does_code_that_was_optimized) {
    compile_all("cpu://features=sse2", 5, 10);
    compile_all("cpu", 5, 10);
}
