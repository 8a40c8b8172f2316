/* Emitted C, compiled with checks for undefined behaviour, against ref: every stored program and
 * some random ones. More of these with `make fuzz-diff BACKEND=emit-c`. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff/emitted.h"
#include "diff/emitted_texts.h"
#include "diff/programs.h"
#include "diff/stored.h"
#include "harness/run.h"
#include "vyre/device.h"

enum { RANDOM = 40 };

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

TEST(words_of_several_types_by_gcc_at_its_best) {
    stored_totals t = {0};
    need("emit-c://cc=gcc&opt=2");
    stored_check_folder("emit-c://cc=gcc&opt=2", "tests/golden/diff", "carried_", NULL, &t);
    CHECK(t.same >= 1);
}

TEST(examples_by_clang_at_its_best) {
    check_examples("emit-c://cc=clang&opt=2");
}

TEST(random_programs_give_the_same_bytes_as_C) {
    need("emit-c");
    diff_check_random("emit-c", 77000, test_scaled(RANDOM));
}

static emitted_text *add(emitted_texts *all, const char *text) {
    char *own = strdup(text);
    REQUIRE(own);
    return emitted_texts_add(all, own, strlen(text), "p", 1);
}

static int call(const emitted_text *text) {
    emitted_told trap;
    return text->pass(NULL, NULL, NULL, NULL, &trap);
}

/* Strings keep what looks like a name; five builds: all, halves, and the
 * halves of the second. */
TEST(texts_are_built_together_and_the_one_that_is_refused_is_known) {
    emitted_texts all = {0};
    char path[64];
    need("emit-c");
    const emitted_text *good = add(&all, "static int vy_one(void) { return sizeof \"p_\\\"p_\"; }"
                                         "int p_pass(void) { return vy_one(); }"
                                         "int emitted_pass(void) { return /* p_ */ p_pass(); }\n");
    const emitted_text *same = add(&all, "static int vy_one(void) { return 20; }"
                                         "int p_pass(void) { return vy_one(); }"
                                         "int emitted_pass(void) { return p_pass(); }\n");
    const emitted_text *bad = add(&all, "int emitted_pass(void) { return nothing; }\n");
    CHECK(add(&all, "int emitted_pass(void) { return nothing; }\n") == bad);
    emitted_texts_build(&all, "gcc -w -shared -fPIC");
    CHECK_EQ(all.builds, 0); /* nobody wants them */
    emitted_texts_want(&all, good);
    emitted_texts_build(&all, "gcc -w -shared -fPIC");
    CHECK_EQ(all.builds, 5);
    REQUIRE(good->pass && same->pass);
    CHECK_EQ(call(good), 6);
    CHECK_EQ(call(same), 20);
    CHECK(bad->is_built && !bad->pass);
    (void)snprintf(path, sizeof path, "%s/messages", bad->folder);
    CHECK_EQ(access(path, R_OK), 0);
    emitted_remove(bad->folder);
    CHECK(access(bad->folder, R_OK) != 0);
    emitted_texts_build(&all, "gcc -w -shared -fPIC");
    CHECK_EQ(all.builds, 5);
    emitted_texts_finish(&all);
}
