/* vyre_dispatch keeps pipelines: a program that comes again is found, any other is not, and nothing
 * else changes for the caller. */
#include <stdio.h>

#include "harness/run.h"

/* Doubles words and turns their order, behind a barrier over which they are carried. */
static const char doubling[] = "program doubling workgroup(2) {\n"
                               "    inout v : u32[];\n"
                               "    let mine = v[len(v) - 1 - global_id.x];\n"
                               "    grid_sync;\n"
                               "    v[global_id.x] = mine * 2;\n"
                               "}\n";

static vyre_status dispatch(vyre_device *device, const char *text, uint32_t *words, uint32_t count,
                            const vyre_dispatch_options *options, vyre_diag *diag) {
    vyre_program *program = run_parse(text);
    const vyre_input in = {words, count * sizeof *words};
    vyre_output out = {.capacity = in.size, .is_fixed = true};
    out.data = words;
    const vyre_status status = vyre_dispatch(device, program, &in, 1, &out, 1, options, NULL, diag);
    vyre_program_release(program);
    return status;
}

static vyre_pipeline_cache cache_of(vyre_device *device) {
    vyre_pipeline_cache cache;
    vyre_device_pipelines(device, &cache);
    return cache;
}

TEST(a_program_that_comes_again_is_not_compiled_again) {
    static const char *const uris[] = {"ref", "ref-split", "ref-schedule"};
    for (uint32_t d = 0; d < 3; d++) {
        vyre_device *device = run_open(uris[d], NULL);
        vyre_diag diag;
        for (uint32_t count = 2; count <= 6; count += 2) {
            uint32_t words[6] = {1, 2, 3, 4, 5, 6};
            REQUIRE_OK(dispatch(device, doubling, words, count, NULL, &diag), &diag);
            for (uint32_t i = 0; i < 6; i++) {
                CHECK_EQ(words[i], i < count ? 2 * (count - i) : i + 1);
            }
        }
        const vyre_pipeline_cache cache = cache_of(device);
        CHECK_EQ(cache.misses, 1);
        CHECK_EQ(cache.hits, 2);
        CHECK_EQ(cache.entries, 1);
        CHECK(cache.bytes > 0);
        CHECK_EQ(run_counters(device).compiles, 1);
        vyre_device_close(device);
    }
}

TEST(what_compiles_to_something_else_is_another_pipeline) {
    vyre_device *device = run_open("ref", NULL);
    vyre_diag diag;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t words[6] = {1, 2, 3, 4, 5, 6};
            const vyre_dispatch_options way = {.split =
                                                   i == 1 ? VYRE_SPLIT_ALWAYS : VYRE_SPLIT_AUTO,
                                               .workgroup = {i == 2 ? 3 : 0},
                                               .no_optimize = i == 3,
                                               .find_races = i == 4};
            REQUIRE_OK(dispatch(device, doubling, words, 6, &way, &diag), &diag);
            CHECK_EQ(words[5], 2);
            CHECK_EQ(cache_of(device).hits, round ? i + 1 : 0);
        }
    }
    CHECK_EQ(cache_of(device).entries, 5);
    CHECK_EQ(run_counters(device).grid_sync_splits, 2);
    vyre_device_close(device);
}

TEST(messages_tell_the_places_of_the_program_that_was_given) {
    static const char *const texts[] = {
        "program t workgroup(1) { inout v : u32[1];\n if (v[0] > 1) { trap(\"high\", v[0]); } }",
        "program t workgroup(1) { inout v : u32[1];\n\n if (v[0] > 1) { trap(\"high\", v[0]); } }"};
    vyre_device *device = run_open("ref", NULL);
    vyre_diag diag;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t low = 1;
        REQUIRE_OK(dispatch(device, texts[i], &low, 1, NULL, &diag), &diag);
    }
    for (uint32_t i = 2; i-- > 0;) { /* what fails is not kept: the second would miss anyway */
        uint32_t high = 2;
        CHECK_EQ(dispatch(device, texts[i], &high, 1, NULL, &diag), VYRE_TRAP);
        CHECK_EQ(diag.line, i + 2);
    }
    vyre_device_close(device);
}

TEST(the_number_of_pipelines_is_bounded_and_the_oldest_go) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_diag diag;
    for (uint32_t i = 0; i < 70; i++) {
        char text[128];
        uint32_t word = 1;
        snprintf(text, sizeof text, "program p workgroup(1) { inout v : u32[1]; v[0] += %u; }", i);
        REQUIRE_OK(dispatch(device, text, &word, 1, NULL, &diag), &diag);
        CHECK_EQ(word, i + 1);
    }
    CHECK_EQ(cache_of(device).entries, 64);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t number = i ? 0 : 69;
        char text[128];
        uint32_t word = 1;
        snprintf(text, sizeof text, "program p workgroup(1) { inout v : u32[1]; v[0] += %u; }",
                 number);
        REQUIRE_OK(dispatch(device, text, &word, 1, NULL, &diag), &diag);
        CHECK_EQ(word, number + 1);
        CHECK_EQ(cache_of(device).hits, 1); /* the newest was there, the first is gone */
    }
    vyre_device_close(device);
}

TEST(the_bytes_of_what_is_kept_are_bounded) {
    vyre_device *device = run_open("ref", NULL);
    enum { STATEMENTS = 10000, LINE = 32 };
    char *text = malloc((size_t)(STATEMENTS + 2) * LINE);
    REQUIRE(text != NULL);
    vyre_diag diag;
    uint64_t most = 0;
    for (uint32_t k = 0; k < 16; k++) {
        int at = snprintf(text, 2 * (size_t)LINE, "program p workgroup(1) {\n inout v : u32[1];\n");
        for (uint32_t i = 0; i < STATEMENTS; i++) {
            at += snprintf(text + at, LINE, "v[0] = v[0] * 3 + %u;\n", k);
        }
        snprintf(text + at, LINE, "}\n");
        uint32_t word = 1;
        REQUIRE_OK(dispatch(device, text, &word, 1, NULL, &diag), &diag);
        const vyre_pipeline_cache cache = cache_of(device);
        CHECK(cache.bytes <= UINT64_C(16) << 20);
        most = cache.entries > most ? cache.entries : most;
    }
    CHECK(most > 1);
    CHECK(most < 16);
    free(text);
    vyre_device_close(device);
}

/* A pipeline that is kept has no memory of the device: another problem finds all of it free. */
TEST(what_is_kept_takes_no_memory_of_the_device) {
    vyre_device *device = run_open("ref-split://memory=1400", NULL);
    static const char other[] =
        "program other workgroup(2) { inout v : u32[];\n"
        " let mine = v[len(v) - 1 - global_id.x]; grid_sync; v[global_id.x] = mine + 1; }";
    uint32_t words[160] = {0};
    vyre_diag diag;
    for (uint32_t i = 0; i < 4; i++) {
        REQUIRE_OK(dispatch(device, i % 2 ? other : doubling, words, 160, NULL, &diag), &diag);
    }
    CHECK_EQ(words[9], 3);
    CHECK_EQ(cache_of(device).hits, 2);
    vyre_device_close(device);
}

static void *dispatch_often(void *element) {
    vyre_device **device = element;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t words[4] = {1, 2, 3, i};
        vyre_diag diag;
        REQUIRE_OK(dispatch(*device, doubling, words, 4, NULL, &diag), &diag);
        CHECK_EQ(words[0], 2 * i);
    }
    return NULL;
}

TEST(threads_with_the_same_program_do_not_share_a_pipeline_at_once) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_device *devices[4] = {device, device, device, device};
    test_in_threads(dispatch_often, devices, sizeof *devices);
    const vyre_pipeline_cache cache = cache_of(device);
    CHECK_EQ(cache.hits + cache.misses, 200);
    CHECK(cache.entries <= 4);
    vyre_device_close(device);
}

TEST(a_lost_device_is_reopened_without_what_it_kept) {
    vyre_device *device = run_open("fault://ref-split?op=launch&n=5&mode=lost", NULL);
    uint32_t words[2] = {1, 2};
    vyre_diag diag;
    REQUIRE_OK(dispatch(device, doubling, words, 2, NULL, &diag), &diag);
    REQUIRE_OK(dispatch(device, doubling, words, 2, NULL, &diag), &diag);
    CHECK_EQ(dispatch(device, doubling, words, 2, NULL, &diag), VYRE_DEVICE_LOST);
    REQUIRE_OK(vyre_device_reopen(device, &diag), &diag);
    CHECK_EQ(cache_of(device).entries, 0);
    REQUIRE_OK(dispatch(device, doubling, words, 2, NULL, &diag), &diag);
    CHECK_EQ(words[1], 8);
    vyre_device_close(device);
}
