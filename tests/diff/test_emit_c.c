/* Emitted C, compiled with checks for undefined behaviour, against ref: every stored program and
 * some random ones. More of these with `make fuzz-diff BACKEND=emit-c`. */
#include "diff/emitted.h"
#include "diff/programs.h"
#include "diff/stored.h"
#include "harness/run.h"
#include "vyre/device.h"

enum { RANDOM = 10 };

static void need(const char *uri) {
    run_add(emitted_add);
    vyre_registry *registry = NULL;
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(emitted_add(registry, &diag), &diag);
    const vyre_status status = vyre_device_open(registry, uri, NULL, &device, &diag);
    vyre_device_close(device);
    vyre_registry_destroy(registry);
    if (status != VYRE_OK) {
        test_skip(diag.message);
    }
}

TEST(goldens_and_examples_give_the_same_bytes_as_C) {
    need("emit-c://opt=0");
    CHECK(stored_check_all("emit-c://opt=0", NULL).same > 40);
}

static void check_examples(const char *uri) {
    stored_totals t = {0};
    need(uri);
    stored_check_folder(uri, "examples", "", NULL, &t);
    CHECK(t.same >= 6);
}

TEST(examples_on_threads_by_gcc_at_its_best) {
    check_examples("emit-c://cc=gcc&opt=2&threads=1");
}

TEST(examples_by_clang_at_its_best) {
    check_examples("emit-c://cc=clang&opt=2");
}

TEST(random_programs_give_the_same_bytes_as_C) {
    need("emit-c");
    diff_check_random("emit-c", 77000, test_scaled(RANDOM));
}
