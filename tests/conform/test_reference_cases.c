/* Cases that the prior system's tests pin for its splitter, dispatch, resident path and registry
 * wrapper, under their names. Bodies that did nothing add one to `buf[0]` here, so that lanes live
 * and a launch shows; docs/conformance.md says what else changed and why. Binding, slots and
 * handles are in test_reference_services.c. */
#include "conform/recorder.h"

/* Segments, launches of a plain run on ref-split and grid barriers that are left in segments. */
static const vyre_module_view *split(const char *text, vyre_module **out_module) {
    *out_module = conform_split(text);
    const vyre_module_view *view = vyre_module_get(*out_module);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        CHECK(!vyre_contains_grid_sync(view->segments[i]));
    }
    return view;
}

static void check_split(const char *text, bool waits, uint32_t segments) {
    vyre_module *m = NULL;
    vyre_program *p = run_parse(text);
    const vyre_module_view *view = split(text, &m);
    CHECK_EQ(vyre_contains_grid_sync(p), waits);
    CHECK_EQ(view->segment_count, segments);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        CHECK_EQ(conform_count(view->segments[i], VYRE_STMT_STORE), 1);
    }
    vyre_module_release(m);
    vyre_program_release(p);
}

#define BUF    "program p workgroup(1) elements(1) { inout buf : u32[4]; "
#define ONE(n) "region \"" n "\" { buf[0] = buf[0] + 1; } "
#define P2     BUF ONE("a") "grid_sync; " ONE("b") "}"
#define P3     BUF ONE("a") "grid_sync; " ONE("b") "grid_sync; " ONE("c") "}"
#define ZEROS  INPUTS(INPUT(0, 0, 0, 0))
#define AA_BB                                                                                      \
    "program p workgroup(1) elements(1) { out o : u32[4]; o[0] = 0xaa; grid_sync; o[2] = 0xbb; }"

/* Splitter */

TEST(no_grid_sync_returns_single_segment) {
    check_split(BUF "region \"a\" { buf[0] = 1; } }", false, 1);
}

TEST(one_grid_sync_splits_into_two) {
    check_split(BUF "region \"a\" { buf[0] = 1; } grid_sync; region \"b\" { buf[1] = 2; } }", true,
                2);
}

TEST(block_nested_grid_sync_splits_into_two) {
    check_split(BUF "{ region \"a\" { buf[0] = 1; } grid_sync; region \"b\" { buf[1] = 2; } } }",
                true, 2);
}

TEST(three_grid_syncs_split_into_four) {
    check_split(
        BUF ONE("a") "grid_sync; " ONE("b") "grid_sync; " ONE("c") "grid_sync; " ONE("d") "}", true,
        4);
}

TEST(workgroup_barrier_does_not_split) {
    static const char text[] = BUF ONE("a") "barrier; " ONE("b") "}";
    vyre_module *m = NULL;
    const vyre_module_view *view = split(text, &m);
    CHECK(!vyre_contains_grid_sync(view->source));
    CHECK_EQ(view->segment_count, 1);
    CHECK_EQ(view->sync_points, 0);
    CHECK_EQ(conform_count(view->segments[0], VYRE_STMT_BARRIER), 1);
    CHECK_EQ(conform_count(view->segments[0], VYRE_STMT_STORE), 2);
    vyre_module_release(m);
}

TEST(buffers_and_workgroup_size_propagate_to_each_segment) {
    vyre_module *m = NULL;
    const vyre_module_view *view =
        split("program p workgroup(256) { inout buf : u32[4]; buf[global_id.x] = 1; grid_sync;\n"
              "  buf[global_id.x] = 2; }",
              &m);
    CHECK_EQ(view->segment_count, 2);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        const vyre_program_view *s = vyre_program_get(view->segments[i]);
        CHECK(s->workgroup[0] == 256 && s->workgroup[1] == 1 && s->workgroup[2] == 1);
        REQUIRE(s->decl_count == 1);
        CHECK_STR(s->decls[0].name, "buf");
    }
    vyre_module_release(m);
    /* Only what it uses, and no more access than it needs. */
    view = split("program p workgroup(1) { inout a : u32[2]; out b : u32[2]; b[global_id.x] = 1;\n"
                 "  grid_sync; b[global_id.x] = a[global_id.x]; grid_sync; a[global_id.x] = 3; }",
                 &m);
    REQUIRE(view->segment_count == 3);
    static const struct {
        uint32_t decls, role;
    } want[] = {{1, VYRE_INOUT}, {2, VYRE_IN}, {1, VYRE_INOUT}};
    for (uint32_t i = 0; i < 3; i++) {
        const vyre_program_view *s = vyre_program_get(view->segments[i]);
        CHECK_EQ(s->decl_count, want[i].decls);
        CHECK_EQ(s->decls[0].role, want[i].role);
    }
    vyre_module_release(m);
}

TEST(a_loop_nested_grid_sync_fence_is_preserved_through_the_split) {
    static const char text[] =
        "program p workgroup(256) { inout state : u32[512]; region \"r\" { for (i in 0 .. 4) {\n"
        "  state[global_id.x] = state[511 - global_id.x] + 1; grid_sync; } } }";
    vyre_module *m = NULL;
    const vyre_module_view *view = split(text, &m);
    CHECK(vyre_contains_grid_sync(view->source));
    CHECK_EQ(view->sync_points, 1);
    vyre_module_release(m);
    static uint32_t state[512];
    run_result r = conform_run("ref-split",
                               "program p workgroup(256) { inout state : u32[512];\n"
                               "  region \"r\" { for (i in 0 .. 4) {\n"
                               "    state[global_id.x] += 1; grid_sync; } } }",
                               INPUTS({state, sizeof state}), NULL);
    CHECK_EQ(r.report.stats.sync_points, 4);
    CHECK_EQ(run_word(&r, 0, 0), 4);
    CHECK_EQ(run_word(&r, 0, 511), 4);
    run_finish(&r);
}

TEST(a_dispatch_level_grid_sync_fence_becomes_a_launch_boundary) {
    vyre_module *m = NULL;
    const vyre_module_view *view =
        split("program p workgroup(256) { inout state : u32[512]; region \"r\" {\n"
              "  state[global_id.x] = 1; grid_sync; state[global_id.x] = 2; } }",
              &m);
    CHECK_EQ(view->segment_count, 2);
    CHECK_EQ(view->sync_points, 1);
    vyre_module_release(m);
}

/* Host dispatch */

typedef struct outcome {
    vyre_dispatch_report report;
    uint32_t word;
} outcome;

/* One run on a recorder that takes segments; the first word of the one output. */
static outcome run_recorded(const char *text, const vyre_input *inputs, uint32_t input_count,
                            const vyre_dispatch_options *options) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    recorder_log.device_ns = 2;
    vyre_output out = {0};
    outcome result = {
        .report = recorder_run(device, text, inputs, input_count, options, &out, 1, VYRE_OK)};
    REQUIRE(out.size >= 4);
    memcpy(&result.word, out.data, 4);
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
    CHECK_EQ(recorder_log.allocated, recorder_log.freed);
    CHECK_EQ(recorder_log.compiled, recorder_log.destroyed);
    for (uint32_t i = 0; i < recorder_log.launch_count; i++) {
        CHECK(!recorder_log.launches[i].waits);
        CHECK_EQ(recorder_log.launches[i].memory[0], recorder_log.launches[0].memory[0]);
    }
    CHECK_EQ(result.report.stats.launches, recorder_log.launch_count);
    return result;
}

/* What one segment leaves the next one sees, and no byte passes through the host for it. */
TEST(refresh_readwrite_inputs_swaps_owned_buffers_after_first_segment) {
    outcome o = run_recorded(P3, INPUTS(INPUT(1, 0, 0, 0)), NULL);
    CHECK_EQ(o.word, 4);
    CHECK_EQ(recorder_log.writes, 1);
    CHECK_EQ(recorder_log.bytes_written, 16);
    CHECK_EQ(recorder_log.bytes_read, 16);
}

TEST(split_into_preserves_caller_output_slot_after_named_output_collection) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    unsigned char bytes[32] = {0};
    vyre_output out = {bytes, 0, sizeof bytes, true};
    (void)recorder_run(device, BUF "buf[0] = 7; grid_sync; " ONE("b") "}", ZEROS, NULL, &out, 1,
                       VYRE_OK);
    CHECK_EQ(recorder_log.launch_count, 2);
    CHECK(out.data == bytes);
    CHECK_EQ(out.size, 16);
    CHECK_EQ(out.capacity, 32);
    CHECK_EQ(bytes[0], 8);
    vyre_device_close(device);
}

TEST(split_into_loops_whole_sequence_fixpoint_iterations_times) {
    outcome once = run_recorded(P2, ZEROS, NULL);
    CHECK_EQ(once.word, 2);
    CHECK_EQ(recorder_log.launch_count, 2);
    outcome thrice = run_recorded(P2, ZEROS, OPTIONS(FIXPOINT(3)));
    CHECK_EQ(thrice.word, 6);
    CHECK_EQ(recorder_log.launch_count, 6);
}

TEST(split_owned_wrapper_reserves_final_output_vector_before_final_segment) {
    outcome o = run_recorded(P2, INPUTS(INPUT(4, 0, 0, 0)), NULL);
    CHECK_EQ(o.word, 6);
    CHECK_EQ(recorder_log.launch_count, 2);
}

TEST(grid_sync_split_records_segment_telemetry) {
    outcome o = run_recorded(P3, ZEROS, NULL);
    CHECK(o.report.was_split);
    CHECK_EQ(o.report.stats.launches, 3);
    CHECK_EQ(o.report.stats.segments, 3);
    CHECK_EQ(o.report.stats.sync_points, 2);
}

TEST(split_reuses_intermediate_output_slot_between_segments) {
    outcome o = run_recorded(P3, INPUTS(INPUT(1, 0, 0, 0)), NULL);
    CHECK_EQ(o.word, 4);
    CHECK_EQ(recorder_log.launch_count, 3);
    CHECK_EQ(recorder_log.launches[1].memory[0], recorder_log.launches[0].memory[0]);
}

TEST(split_keeps_multi_segment_output_as_readwrite_accumulator) {
    vyre_module *m = NULL;
    const vyre_module_view *view = split(AA_BB, &m);
    CHECK_EQ(view->segment_count, 2);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        const vyre_program_view *s = vyre_program_get(view->segments[i]);
        REQUIRE(s->decl_count == 1);
        CHECK_EQ(s->decls[0].role, VYRE_INOUT);
        CHECK_EQ(s->decls[0].access, VYRE_ACCESS_FULL);
    }
    vyre_module_release(m);
}

TEST(split_preserves_earlier_segment_output_slots_end_to_end) {
    conform_expect(AA_BB, NO_INPUTS, NULL, WORDS(0xaa, 0, 0xbb, 0));
    (void)run_recorded(AA_BB, NO_INPUTS, NULL);
    CHECK_EQ(recorder_log.launch_count, 2);
}

#define CAPPED "buf[0] = min(buf[0] + 1, 3); "

TEST(split_outer_loop_early_exits_when_accumulator_reaches_fixpoint) {
    outcome o = run_recorded(BUF CAPPED "grid_sync; " CAPPED "}", ZEROS, OPTIONS(FIXPOINT(10)));
    CHECK_EQ(o.word, 3);
    CHECK_EQ(o.report.passes, 3);
    CHECK(o.report.converged);
    CHECK_EQ(recorder_log.launch_count, 6);
}

TEST(split_non_converging_accumulator_runs_full_iteration_budget) {
    outcome o = run_recorded(P2, ZEROS, OPTIONS(FIXPOINT(4)));
    CHECK_EQ(o.word, 8);
    CHECK_EQ(o.report.passes, 4);
    CHECK(!o.report.converged);
    CHECK_EQ(recorder_log.launch_count, 8);
}

TEST(split_seeds_first_atomic_output_without_caller_bytes) {
    outcome o = run_recorded("program p workgroup(1) elements(1) { out o : u32[1];\n"
                             "  let prior = atomic_add(o[0], 1); grid_sync; return; }",
                             NO_INPUTS, NULL);
    CHECK_EQ(o.word, 1);
    CHECK_EQ(recorder_log.bytes_written, 0);
    CHECK_EQ(recorder_log.launch_count, 1);
}

TEST(split_via_closure_entry_matches_backend_entry_on_the_same_grid_sync_program) {
    outcome host = run_recorded(P2, ZEROS, OPTIONS(FIXPOINT(3)));
    outcome resident = run_recorded(P2, ZEROS, OPTIONS(FIXPOINT(3), .path = VYRE_PATH_RESIDENT));
    CHECK_EQ(recorder_log.launch_count, 6);
    CHECK_EQ(host.word, 6);
    CHECK_EQ(resident.word, 6);
    CHECK_EQ(host.report.stats.launches, resident.report.stats.launches);
}

/* Resident */

TEST(resident_split_reuses_same_device_resources_across_segments) {
    outcome o = run_recorded("program p workgroup(1) elements(1) { inout a : u32[1];\n"
                             "  in b : u32[1]; a[0] += b[0]; grid_sync; a[0] += b[0]; grid_sync;\n"
                             "  a[0] += b[0]; }",
                             INPUTS(INPUT(1), INPUT(5)), OPTIONS(.path = VYRE_PATH_RESIDENT));
    CHECK_EQ(o.word, 16);
    REQUIRE(recorder_log.launch_count == 3);
    for (int i = 0; i < 3; i++) {
        REQUIRE(recorder_log.launches[i].memory_count == 2);
        CHECK_EQ(recorder_log.launches[i].memory[1], recorder_log.launches[0].memory[1]);
    }
    CHECK_EQ(o.report.times.device, 6);
}

TEST(resident_fixpoint_accumulates_across_segments_zero_inits_and_frees) {
    outcome o = run_recorded(AA_BB, NO_INPUTS, OPTIONS(FIXPOINT(1), .path = VYRE_PATH_RESIDENT));
    CHECK_EQ(o.word, 0xaa);
    CHECK_EQ(recorder_log.launch_count, 2);
    CHECK(recorder_log.freed > 0);
    conform_expect(AA_BB, NO_INPUTS, OPTIONS(FIXPOINT(1)), WORDS(0xaa, 0, 0xbb, 0));
}

TEST(resident_fixpoint_repeats_to_fixpoint_bound) {
    outcome o = run_recorded(AA_BB, NO_INPUTS, OPTIONS(FIXPOINT(3), .path = VYRE_PATH_RESIDENT));
    CHECK_EQ(o.report.passes, 2);
    CHECK(o.report.converged);
    CHECK_EQ(recorder_log.launch_count, 4);
    conform_expect(AA_BB, NO_INPUTS, OPTIONS(FIXPOINT(3)), WORDS(0xaa, 0, 0xbb, 0));
}

/* Programs on buffers that stay: one that counts lanes by two segments, for any grid. */
#define COUNTS                                                                                     \
    "program p workgroup(1) { inout n : u32[]; atomic_add(n[1], 1); grid_sync;\n"                  \
    "  if (global_id.x == 0) { n[2] += n[1]; } }"

typedef struct resident {
    vyre_device *device;
    vyre_pipeline *pipeline;
    vyre_buffer *buffer;
} resident;

static resident make_resident(vyre_device *device) {
    resident r = {.device = device};
    vyre_program *p = run_parse(COUNTS);
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_compile(device, p, OPTIONS(.no_optimize = true), &r.pipeline, &diag), &diag);
    REQUIRE_OK(vyre_buffer_create(device, 16, &r.buffer, &diag), &diag);
    vyre_program_release(p);
    return r;
}

static void finish_resident(resident *r) {
    vyre_buffer_destroy(r->buffer);
    vyre_pipeline_release(r->pipeline);
    vyre_device_close(r->device);
    CHECK_EQ(recorder_log.allocated, recorder_log.freed);
    CHECK_EQ(recorder_log.compiled, recorder_log.destroyed);
}

static const vyre_dispatch_options one_group = {.has_grid = true, .grid = {1, 1, 1}},
                                   two_groups = {.has_grid = true, .grid = {2, 1, 1}};

TEST(default_resident_sequence_timing_sums_step_device_times_and_reads_ranges) {
    resident r = make_resident(recorder_open(VYRE_LEVEL_SEGMENT));
    recorder_log.device_ns = 7;
    const vyre_sequence_step steps[] = {{r.pipeline, &r.buffer, 1, &one_group},
                                        {r.pipeline, &r.buffer, 1, &two_groups}};
    uint32_t words[2] = {9, 9};
    const vyre_read_range read = {r.buffer, 4, words, sizeof words};
    const vyre_sequence sequence = {
        .prefix = steps, .prefix_count = 2, .reads = &read, .read_count = 1};
    vyre_sequence_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_sequence_run(&sequence, &report, &diag), &diag);
    CHECK_EQ(report.dispatches, 2);
    CHECK_EQ(recorder_log.launch_count, 4);
    CHECK_EQ(recorder_log.launches[0].grid[0], 1);
    CHECK_EQ(recorder_log.launches[2].grid[0], 2);
    CHECK_EQ(report.times.device, 28);
    CHECK(report.times.total > 0);
    CHECK_EQ(words[0], 3);
    CHECK_EQ(words[1], 4);
    CHECK_EQ(recorder_log.bytes_read, 8);
    finish_resident(&r);
}

/* Devices that have a grid barrier, have none, or do not want to be given pieces */

#define STATE                                                                                      \
    "program p workgroup(1) elements(1) { inout state : u32[1]; state[0] += 1; grid_sync;\n"       \
    "  state[0] += 1; }"

TEST(wrapper_splits_grid_sync_without_recursing) {
    outcome o = run_recorded(STATE, INPUTS(INPUT(0)), NULL);
    CHECK_EQ(o.word, 2);
    CHECK_EQ(recorder_log.launch_count, 2);
}

static outcome run_native(const vyre_dispatch_options *options, bool allows_split,
                          vyre_status want) {
    vyre_device *device = recorder_open(VYRE_LEVEL_PROGRAM);
    vyre_device_close(device);
    recorder_log.info.allows_split = allows_split;
    vyre_registry *registry = recorder_registry();
    REQUIRE_OK(vyre_device_open(registry, "recorder", NULL, &device, NULL), NULL);
    vyre_registry_destroy(registry);
    vyre_output out = {0};
    outcome o = {.report = recorder_run(device, STATE, INPUTS(INPUT(0)), options, &out, 1, want)};
    if (want == VYRE_OK) {
        memcpy(&o.word, out.data, 4);
    }
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
    return o;
}

TEST(wrapper_preserves_native_grid_sync_dispatch) {
    for (int mode = VYRE_SPLIT_AUTO; mode <= VYRE_SPLIT_ALWAYS; mode++) {
        outcome o = run_native(OPTIONS(.split = (vyre_split_mode)mode), true, VYRE_OK);
        bool split_anyway = mode == VYRE_SPLIT_ALWAYS;
        CHECK_EQ(o.word, 2);
        CHECK_EQ(recorder_log.launch_count, split_anyway ? 2 : 1);
        CHECK_EQ(recorder_log.launches[0].waits, !split_anyway);
        CHECK_EQ(o.report.was_split, split_anyway);
    }
}

TEST(wrapper_preserves_grid_sync_when_backend_opts_out) {
    outcome o = run_native(NULL, false, VYRE_OK);
    CHECK_EQ(o.word, 2);
    CHECK_EQ(recorder_log.launch_count, 1);
    CHECK(recorder_log.launches[0].waits);
    (void)run_native(OPTIONS(.split = VYRE_SPLIT_ALWAYS), false, VYRE_UNSUPPORTED);
    CHECK_EQ(recorder_log.launch_count, 0);
    /* Without a barrier of its own it can't run the program at all. */
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_output out = {0};
    (void)recorder_run(device, STATE, INPUTS(INPUT(0)), OPTIONS(.split = VYRE_SPLIT_NEVER), &out, 1,
                       VYRE_UNSUPPORTED);
    CHECK_EQ(recorder_log.launch_count, 0);
    CHECK_EQ(recorder_log.allocated, 0);
    CHECK(!out.data);
    vyre_device_close(device);
}

/* A decorated device forwards what it does not decorate. */
static vyre_device *open_decorated(void) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_device_close(device);
    recorder_log.info.reports_device_time = true;
    recorder_log.info.max_group_lanes = 77;
    vyre_registry *registry = recorder_registry();
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_open(registry, "fault://recorder?op=launch&n=100", NULL, &device, &diag),
               &diag);
    vyre_registry_destroy(registry);
    return device;
}

TEST(wrapper_forwards_ranged_resident_uploads) {
    vyre_device *device = open_decorated();
    vyre_buffer *buffer = NULL;
    vyre_diag diag = {0};
    unsigned char back[16];
    REQUIRE_OK(vyre_buffer_create(device, 16, &buffer, &diag), &diag);
    REQUIRE_OK(vyre_buffer_write(buffer, 12, "\1\2\3", 3, &diag), &diag);
    CHECK_EQ(recorder_log.last_offset, 12);
    CHECK_EQ(recorder_log.last_size, 3);
    REQUIRE_OK(vyre_buffer_read(buffer, 0, back, 16, &diag), &diag);
    CHECK(memcmp(back, "\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\0", 16) == 0);
    vyre_buffer_destroy(buffer);
    vyre_device_close(device);
    CHECK_EQ(recorder_log.freed, 1);
}

TEST(wrapper_keeps_the_inner_device_profile) {
    vyre_device *device = open_decorated();
    const vyre_device_info *info = vyre_device_describe(device);
    CHECK(info->reports_device_time);
    CHECK_EQ(info->max_group_lanes, 77);
    CHECK_EQ(info->level, VYRE_LEVEL_SEGMENT);
    CHECK_STR(info->backend, "recorder");
    vyre_device_close(device);
}

TEST(wrapper_forwards_resident_repeated_sequences) {
    resident r = make_resident(open_decorated());
    const vyre_sequence_step prefix = {r.pipeline, &r.buffer, 1, &two_groups},
                             repeated = {r.pipeline, &r.buffer, 1, &one_group};
    uint32_t lanes = 0, sum = 0;
    const vyre_read_range reads[] = {{r.buffer, 4, &lanes, 4}, {r.buffer, 8, &sum, 4}};
    const vyre_sequence sequence = {&prefix, &repeated, 1, 1, 4, reads, 2};
    vyre_sequence_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_sequence_run(&sequence, &report, &diag), &diag);
    CHECK_EQ(report.dispatches, 5);
    CHECK_EQ(recorder_log.launch_count, 10);
    CHECK_EQ(lanes, 6);
    CHECK_EQ(sum, 2 + 3 + 4 + 5 + 6);
    finish_resident(&r);
}
