/* Reference cases of what stands around a dispatch: registry, fixpoint counts, slots, handles,
 * counters, limits and binding. See docs/conformance.md. */
#include "conform/recorder.h"

#define ADDS "program p workgroup(1) elements(1) { inout buf : u32[1]; buf[0] += 1; }"

/* Registry */

TEST(neutral_registry_holds_the_built_in_backends) {
    vyre_registry *registry = NULL;
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    CHECK_EQ(vyre_backend_count(registry), vyre_backend_count(NULL));
    for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) {
        CHECK_STR(vyre_backend_name(registry, i), vyre_backend_name(NULL, i));
    }
    vyre_registry_destroy(registry);
}

TEST(acquire_of_an_unknown_backend_fails) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_device_open(NULL, "nowhere", NULL, &device, &diag), VYRE_NOT_FOUND, &diag);
    CHECK_HAS(diag.message, "nowhere");
    CHECK_HAS(diag.fix, "ref");
    CHECK(!device);
}

/* Fixpoint */

TEST(fixpoint_default_is_one_and_zero_is_refused) {
    run_result r = conform_run("ref", ADDS, INPUTS(INPUT(0)), NULL);
    CHECK_EQ(r.report.passes, 1);
    CHECK_EQ(run_word(&r, 0, 0), 1);
    run_finish(&r);
    conform_refuse(ADDS, INPUTS(INPUT(0)), OPTIONS(FIXPOINT(0)), VYRE_INVALID_ARGUMENT, "zero");
    conform_refuse(ADDS, INPUTS(INPUT(0)), OPTIONS(FIXPOINT(0)), VYRE_INVALID_ARGUMENT, "on ");
}

TEST(fixpoint_counts_round_trip) {
    static const uint32_t counts[] = {1, 2, 3, 64, 1000, 4095};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_result r =
            conform_run("ref-split", ADDS, INPUTS(INPUT(0)), OPTIONS(FIXPOINT(counts[i])));
        CHECK_EQ(r.report.passes, counts[i]);
        CHECK_EQ(run_word(&r, 0, 0), counts[i]);
        run_finish(&r);
    }
}

/* Slots */

static const char *two_outputs =
    "program p workgroup(1) elements(1) { out a : u8[2]; out b : u8[1];"
    " a[0] = 1; a[1] = 2; grid_sync; b[0] = 3; }";

static vyre_status fill(vyre_output *slots, uint32_t count) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_program *p = run_parse(two_outputs);
    vyre_status status = vyre_dispatch(device, p, NULL, 0, slots, count, NULL, NULL, NULL);
    vyre_program_release(p);
    vyre_device_close(device);
    return status;
}

TEST(slots_that_are_large_enough_keep_their_address) {
    unsigned char a[8] = {9, 9, 9}, b[4] = {9, 9};
    vyre_output slots[2] = {{a, 3, 8, false}, {b, 0, 4, false}};
    REQUIRE_OK(fill(slots, 2), NULL);
    CHECK(slots[0].data == a && slots[0].size == 2 && slots[0].capacity == 8);
    CHECK(slots[1].data == b && slots[1].size == 1 && slots[1].capacity == 4);
    CHECK(a[0] == 1 && a[1] == 2 && a[2] == 9 && b[0] == 3 && b[1] == 9);
}

TEST(slots_that_are_too_small_get_new_memory) {
    vyre_output slots[2] = {{malloc(1), 1, 1, false}, {0}};
    REQUIRE(slots[0].data);
    REQUIRE_OK(fill(slots, 2), NULL);
    CHECK(slots[0].size == 2 && slots[0].capacity >= 2);
    REQUIRE(slots[1].data && slots[1].size == 1);
    CHECK(memcmp(slots[0].data, "\1\2", 2) == 0 && memcmp(slots[1].data, "\3", 1) == 0);
    vyre_output_finish(&slots[0], NULL);
    vyre_output_finish(&slots[1], NULL);
}

TEST(slots_of_another_number_are_refused) {
    unsigned char bytes[8] = {7};
    vyre_output slots[3] = {{bytes, 1, 8, false}, {0}, {0}};
    CHECK_STATUS(fill(slots, 1), VYRE_INVALID_ARGUMENT, NULL);
    CHECK_STATUS(fill(slots, 3), VYRE_INVALID_ARGUMENT, NULL);
    CHECK(slots[0].data == bytes && slots[0].size == 1 && bytes[0] == 7);
    CHECK_EQ(recorder_log.launch_count, 0);
}

/* Handles */

/* Two devices of one kind, whose memory has the same numbers. */
typedef struct owners {
    vyre_device *devices[2];
    vyre_buffer *buffers[2][3];
    vyre_pipeline *pipeline; /* of the first */
} owners;

static owners make_owners(const char *uri) {
    owners o = {0};
    for (int i = 0; i < 2; i++) {
        o.devices[i] = run_open(uri, NULL);
        for (int b = 0; b < 3; b++) {
            o.buffers[i][b] = run_buffer(o.devices[i], (const uint32_t[]){7, 7}, 2);
        }
    }
    o.pipeline = run_compile(o.devices[0], "program p workgroup(1) elements(2) { in a : u32[2];\n"
                                           "  inout b : u32[2]; out c : u32[2];\n"
                                           "  b[global_id.x] += a[0]; grid_sync;\n"
                                           "  c[global_id.x] = b[1 - global_id.x]; }");
    return o;
}

static void finish_owners(owners *o) {
    vyre_pipeline_release(o->pipeline);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(run_counters(o->devices[i]).launches, 0);
        for (int b = 0; b < 3; b++) {
            CHECK_EQ(run_buffer_word(o->buffers[i][b], 1), 7);
            vyre_buffer_destroy(o->buffers[i][b]);
        }
        vyre_device_close(o->devices[i]);
    }
}

/* One of the three buffers is another device's: at once, later, and in a row behind others. */
static void refuse_foreign(const owners *o, int foreign) {
    vyre_buffer *own[3], *mixed[3];
    memcpy(own, o->buffers[0], sizeof own);
    memcpy(mixed, o->buffers[0], sizeof mixed);
    mixed[foreign] = o->buffers[1][foreign];
    const vyre_sequence_step good = {o->pipeline, own, 3, NULL},
                             bad = {o->pipeline, mixed, 3, NULL};
    const vyre_sequence sequences[] = {{&bad, &good, 1, 1, 1, NULL, 0},
                                       {&good, &bad, 1, 1, 1, NULL, 0}};
    vyre_diag diags[4] = {{0}};
    vyre_event *event = NULL;
    CHECK_STATUS(vyre_dispatch_resident(o->pipeline, mixed, 3, NULL, NULL, &diags[0]),
                 VYRE_INVALID_ARGUMENT, &diags[0]);
    REQUIRE_OK(vyre_dispatch_resident_async(o->pipeline, mixed, 3, NULL, &event, NULL), NULL);
    CHECK_STATUS(vyre_event_wait(event, NULL, &diags[1]), VYRE_INVALID_ARGUMENT, &diags[1]);
    vyre_event_release(event);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(vyre_sequence_run(&sequences[i], NULL, &diags[2 + i]), VYRE_INVALID_ARGUMENT,
                     &diags[2 + i]);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_HAS(diags[i].message, "belongs to another device");
        CHECK(diags[i].fix[0]);
    }
}

TEST(handles_of_another_owner_are_refused) {
    static const char *const uris[] = {"ref", "ref-split", "ref-schedule",
                                       "fault://ref-split?op=launch&n=99"};
    for (size_t u = 0; u < sizeof uris / sizeof *uris; u++) {
        owners o = make_owners(uris[u]);
        vyre_diag diag = {0};
        for (int i = 0; i < 3; i++) {
            refuse_foreign(&o, i);
        }
        for (int i = 0; i < 2; i++) {
            CHECK_STATUS(vyre_buffer_copy(o.buffers[i][0], 0, o.buffers[!i][0], 0, 8, &diag),
                         VYRE_INVALID_ARGUMENT, &diag);
            CHECK_HAS(diag.message, "different devices");
        }
        finish_owners(&o);
    }
}

/* Counters */

TEST(telemetry_of_a_split_counts_segments_and_points) {
    run_result r = conform_run("ref-split",
                               "program p workgroup(1) { inout o : u32[2]; o[global_id.x] += 1;\n"
                               "  grid_sync; o[global_id.x] += 1; grid_sync; o[global_id.x] += 1;\n"
                               "  grid_sync; o[global_id.x] += 1; }",
                               INPUTS(INPUT(0, 0)), NULL);
    CHECK_EQ(r.report.stats.segments, 4);
    CHECK_EQ(r.report.stats.sync_points, 3);
    CHECK_EQ(r.report.stats.launches, 4);
    run_finish(&r);
}

TEST(telemetry_of_a_dispatch_counts_launch_and_bytes) {
    static const unsigned char a[3] = {1, 2, 3}, b[1] = {4};
    run_result r = conform_run("ref",
                               "program p workgroup(1) elements(1) { in a : u8[3]; in b : u8[1];\n"
                               "  out o : u8[2]; o[0] = a[2] + b[0]; }",
                               INPUTS({a, sizeof a}, {b, sizeof b}), NULL);
    CHECK_EQ(r.report.stats.launches, 1);
    CHECK_EQ(r.report.stats.bytes_in, 4);
    CHECK_EQ(r.report.stats.bytes_out, 2);
    CHECK_EQ(r.outputs[0].size, 2);
    CHECK_EQ(*(unsigned char *)r.outputs[0].data, 7);
    run_finish(&r);
}

/* Limits */

/* A device that claims nothing runs plain programs and is given no others. */
TEST(minimal_backend_claims_nothing) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_device_close(device);
    recorder_log.info = (vyre_device_info){.name = "minimal"};
    vyre_registry *registry = recorder_registry();
    REQUIRE_OK(vyre_device_open(registry, "recorder", NULL, &device, NULL), NULL);
    vyre_registry_destroy(registry);
    static const struct {
        const char *body;
        vyre_status want;
    } cases[] = {
        {"o[0] = 1;", VYRE_OK},
        {"o[0] = 1; barrier;", VYRE_OK},
        {"o[0] = 1; grid_sync; o[1] = 2;", VYRE_UNSUPPORTED},
        {"o[0] = u32(f64(o[0]) * 2.0d);", VYRE_UNSUPPORTED},
        {"o[0] = subgroup_add(o[1]);", VYRE_OK}, /* by operations that it has */
    };
    vyre_output out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "program p workgroup(1) elements(1) { out o : u32[4]; %s }",
                 cases[i].body);
        uint32_t before = recorder_log.launch_count;
        (void)recorder_run(device, text, NO_INPUTS, NULL, &out, 1, cases[i].want);
        CHECK_EQ(recorder_log.launch_count - before, cases[i].want == VYRE_OK);
    }
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
}

TEST(launch_validation_of_grid_limits) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_device_close(device);
    for (int axis = 0; axis < 3; axis++) {
        recorder_log.info.max_groups[axis] = 4;
    }
    vyre_registry *registry = recorder_registry();
    REQUIRE_OK(vyre_device_open(registry, "recorder", NULL, &device, NULL), NULL);
    vyre_registry_destroy(registry);
    static const char text[] = "program p workgroup(1) { out o : u32[2]; o[0] = 1; grid_sync;\n"
                               "  o[1] = 1; }";
    static const struct {
        uint32_t groups, launches;
        vyre_status want;
    } cases[] = {{5, 0, VYRE_LIMIT}, {4, 2, VYRE_OK}, {0, 0, VYRE_OK}};
    vyre_output out = {0};
    for (size_t k = 0; k < 6 * sizeof cases / sizeof *cases; k++) {
        const size_t i = k / 6;
        vyre_dispatch_options o = {.has_grid = true, .grid = {1, 1, 1}, .path = (vyre_path)(k % 2)};
        o.grid[k / 2 % 3] = cases[i].groups;
        uint32_t before = recorder_log.launch_count;
        (void)recorder_run(device, text, NO_INPUTS, &o, &out, 1, cases[i].want);
        CHECK_EQ(recorder_log.launch_count - before, cases[i].launches);
    }
    CHECK(memcmp(out.data, "\0\0\0\0\0\0\0\0", 8) == 0); /* of the empty grid */
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
}

/* Binding */

TEST(binding_of_a_static_size_is_exact) {
    static const char text[] =
        "program p workgroup(1) { in a : u32[2]; out o : u32[2]; o[global_id.x] = a[global_id.x];\n"
        "  grid_sync; o[global_id.x] += len(a); }";
    conform_refuse(text, INPUTS(INPUT(1)), NULL, VYRE_INVALID_INPUT, "8 bytes expected, 4 given");
    conform_refuse(text, INPUTS(INPUT(1, 2, 3)), NULL, VYRE_INVALID_INPUT,
                   "8 bytes expected, 12 given");
    conform_refuse(text, NO_INPUTS, NULL, VYRE_INVALID_INPUT, "missing");
    conform_expect(text, INPUTS(INPUT(5, 6)), NULL, WORDS(7, 8));
}

TEST(binding_without_a_size_takes_the_callers) {
    conform_expect("program p workgroup(1) { in a : u32[]; out o : u32[len(a)];\n"
                   "  o[global_id.x] = a[global_id.x]; grid_sync; o[global_id.x] += len(a); }",
                   INPUTS(INPUT(5, 6, 7)), NULL, WORDS(8, 9, 10));
    static const unsigned char odd[7] = {0};
    conform_refuse("program p workgroup(1) { in a : u32[]; out o : u32[1]; o[0] = len(a); }",
                   INPUTS({odd, sizeof odd}), NULL, VYRE_INVALID_INPUT, "multiple of 4");
}

TEST(binding_follows_declaration_order) {
    conform_expect("program p workgroup(1) elements(2) { in nine : u32[]; out eight : u32[1];\n"
                   "  in zero : u32[]; out one : u32[2]; eight[0] = len(nine) + nine[2];\n"
                   "  grid_sync; one[global_id.x] = zero[global_id.x] + len(zero); }",
                   INPUTS(INPUT(1, 2, 30), INPUT(5, 6)), NULL, WORDS(33, 7, 8));
}
