/* The 48 ways in which splitting is known to go wrong, each with the right answer. State that
 * crosses a barrier, buffers, geometry and nesting are here; what is about cost, determinism,
 * convergence and failures is in test_defects_run.c. docs/conformance.md lists all of them. */
#include "conform/recorder.h"

/* State */

TEST(d01_reevaluated_load) {
    conform_expect("program p workgroup(1) { inout a : u32[3]; out o : u32[3];\n"
                   "  let t = a[global_id.x]; a[global_id.x] = 9; grid_sync; o[global_id.x] = t; }",
                   INPUTS(INPUT(5, 6, 7)), NULL, WORDS(9, 9, 9, 5, 6, 7));
    conform_expect("program p workgroup(1) { inout a : u64[2]; out o : u64[2];\n"
                   "  let t = a[global_id.x]; a[global_id.x] = 1; grid_sync; o[global_id.x] = t; }",
                   INPUTS(INPUT(5, 6, 7, 8)), NULL, WORDS(1, 0, 1, 0, 5, 6, 7, 8));
}

/* Each ticket is issued once: which lane gets which depends on the order, their sum does not. */
TEST(d02_reexecuted_atomic) {
    conform_expect("program p workgroup(1) elements(1) { inout c : u32[1]; out o : u32[1];\n"
                   "  let t = atomic_add(c[0], 1); grid_sync; o[0] = t; }",
                   INPUTS(INPUT(0)), NULL, WORDS(1, 0));
    conform_expect("program p workgroup(2) elements(8) { inout c : u32[1]; out sum : u32[1];\n"
                   "  out seen : u32[8]; let t = atomic_add(c[0], 1); grid_sync;\n"
                   "  atomic_add(sum[0], t); atomic_add(seen[t], 1); }",
                   INPUTS(INPUT(0)), NULL, WORDS(8, 28, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(d03_lost_assignment) {
    conform_expect("program p workgroup(1) { out o : u32[2]; let x = 1; x = 7; grid_sync;\n"
                   "  o[global_id.x] = x; }",
                   NO_INPUTS, NULL, WORDS(7, 7));
    conform_expect("program p workgroup(2) { in a : u32[4]; out o : u32[4]; let s = 0;\n"
                   "  for (i in 0 .. 4) { s = s + a[i]; } grid_sync; o[global_id.x] = s; }",
                   INPUTS(INPUT(1, 2, 3, 4)), NULL, WORDS(10, 10, 10, 10));
    /* On some path only: elsewhere the old value lives on. */
    conform_expect("program p workgroup(1) { out o : u32[3]; let x = global_id.x + 20; grid_sync;\n"
                   "  if (global_id.x == 1) { x = 7; } grid_sync; o[global_id.x] = x; }",
                   NO_INPUTS, NULL, WORDS(20, 7, 22));
}

TEST(d04_assignment_only_after_the_barrier) {
    conform_expect("program p workgroup(1) { out o : u32[2]; let x = 1; o[global_id.x] = 3;\n"
                   "  grid_sync; x = 2; }",
                   NO_INPUTS, NULL, WORDS(3, 3));
    conform_expect("program p workgroup(1) { out o : u32[2]; let x = 1; grid_sync; x = 2;\n"
                   "  grid_sync; o[global_id.x] = x; }",
                   NO_INPUTS, NULL, WORDS(2, 2));
    /* In a loop that may have no trips: bound before it, not alive where it is assigned. */
    conform_expect("program p workgroup(1) { out o : u32[2]; param n : u32 = 2; let x = 1;\n"
                   "  grid_sync; for (i in 0 .. n) { x = global_id.x + 5; grid_sync;\n"
                   "    o[global_id.x] += x; grid_sync; } o[global_id.x] += x; }",
                   NO_INPUTS, NULL, WORDS(15, 18));
}

TEST(d05_early_return_forgotten) {
    conform_expect("program p workgroup(2) { out o : u32[6]; param n : u32 = 3;\n"
                   "  if (global_id.x >= n) { return; } o[global_id.x] = 5; grid_sync;\n"
                   "  o[global_id.x] = o[global_id.x] + 1; }",
                   NO_INPUTS, NULL, WORDS(6, 6, 6, 0, 0, 0));
    /* Waves that all lanes leave at different times. */
    conform_expect("program p workgroup(2) { out o : u32[4];\n"
                   "  for (wave in 0 .. 6) { if (global_id.x < wave) { exit; }\n"
                   "    o[global_id.x] = o[global_id.x] + 1; grid_sync; } }",
                   NO_INPUTS, NULL, WORDS(1, 2, 3, 4));
}

TEST(d06_workgroup_memory_lost) {
    conform_expect("program p workgroup(2) { out o : u32[6]; workgroup w : u32[2];\n"
                   "  w[local_id.x] = global_id.x; barrier; grid_sync;\n"
                   "  o[global_id.x] = w[local_id.x] * 10 + w[1 - local_id.x]; }",
                   NO_INPUTS, NULL, WORDS(1, 10, 23, 32, 45, 54));
}

TEST(d07_private_and_shared_memory_stay_what_they_are) {
    conform_expect(
        "program p workgroup(2) { out o : u32[4]; private a : u32[2];\n"
        "  workgroup w : u32[1]; a[0] = global_id.x; a[1] = 7;\n"
        "  atomic_add(w[0], global_id.x + 1); grid_sync; a[1] = a[1] + a[0]; grid_sync;\n"
        "  o[global_id.x] = a[1] * 100 + w[0]; }",
        NO_INPUTS, NULL, WORDS(703, 803, 907, 1007));
}

TEST(d08_async_across_the_barrier) {
    conform_expect("program p workgroup(1) elements(2) { inout s : u32[4]; out o : u32[4];\n"
                   "  workgroup w : u32[2]; async_load(s, w, global_id.x * 8, 8, \"t\");\n"
                   "  s[2 * global_id.x] = 0; grid_sync; async_wait(\"t\");\n"
                   "  o[2 * global_id.x] = w[0]; o[2 * global_id.x + 1] = w[1]; }",
                   INPUTS(INPUT(1, 2, 3, 4)), NULL, WORDS(0, 2, 0, 4, 1, 2, 3, 4));
}

TEST(d09_names_of_sibling_scopes) {
    conform_expect("program p workgroup(1) elements(2) { out o : u32[2];\n"
                   "  region \"a\" { let t = 1; grid_sync; o[0] = t; } grid_sync;\n"
                   "  region \"b\" { let t = 2; o[1] = t; } }",
                   NO_INPUTS, NULL, WORDS(1, 2));
}

TEST(d10_name_free_and_local_in_one_segment) {
    conform_expect("program p workgroup(1) elements(2) { out o : u32[2];\n"
                   "  region \"a\" { let t = 1; grid_sync; o[0] = t; }\n"
                   "  region \"b\" { let t = 2; o[1] = t; } }",
                   NO_INPUTS, NULL, WORDS(1, 2));
}

TEST(d11_dead_and_conditional_lets) {
    conform_expect("program p workgroup(1) { out o : u32[3]; let k = global_id.x;\n"
                   "  if (k == 1) { for (i in 0 .. 4) { let v = i * 9; o[2] = v; } }\n"
                   "  { let v = k + 50; grid_sync; o[k] = v; }\n"
                   "  if (k == 3) { for (j in 0 .. 2) { let v = j * 7; o[0] = v; } } }",
                   NO_INPUTS, NULL, WORDS(50, 51, 52));
}

/* Buffers */

TEST(d14_store_only_buffer_is_clobbered) {
    conform_expect("program p workgroup(1) elements(2) { inout state : u32[4]; out o : u32[1];\n"
                   "  if (global_id.x == 0) { state[0] = 9; } grid_sync; o[0] = 0; }",
                   INPUTS(INPUT(1, 2, 3, 4)), NULL, WORDS(9, 2, 3, 4, 0));
}

TEST(d15_scratch_written_in_two_segments) {
    conform_expect("program p workgroup(1) elements(2) { scratch s : u32[2]; out o : u32[1];\n"
                   "  s[0] = 1; grid_sync; s[1] = 2; grid_sync; o[0] = s[0] + s[1]; }",
                   NO_INPUTS, NULL, WORDS(3));
    /* It starts as zeros in each pass, and only there. */
    conform_expect("program p workgroup(1) { scratch s : u32[2]; inout o : u32[2];\n"
                   "  s[global_id.x] += 1; grid_sync; s[global_id.x] += 1; grid_sync;\n"
                   "  o[global_id.x] += s[global_id.x]; }",
                   INPUTS(INPUT(0, 0)), OPTIONS(FIXPOINT(3)), WORDS(6, 6));
}

TEST(d16_runtime_sized_buffer_that_is_only_stored_to) {
    conform_expect("program p workgroup(2) elements(len(state)) { inout state : u32[];\n"
                   "  scratch s : u32[len(state)]; s[global_id.x] = 5; grid_sync;\n"
                   "  if (global_id.x > 0) { state[global_id.x] = s[0]; } }",
                   INPUTS(INPUT(7, 7, 7)), NULL, WORDS(7, 5, 5));
}

TEST(d17_output_never_written) {
    conform_expect("program p workgroup(1) elements(2) { out o : u32[1]; out untouched : u32[2];\n"
                   "  inout same : u32[1]; o[0] = 1; grid_sync; o[0] = 2; }",
                   INPUTS(INPUT(8)), NULL, WORDS(2, 0, 0, 8));
}

TEST(d18_output_zeroed_again_on_each_pass) {
    conform_expect("program p workgroup(1) { inout f : u32[2]; out o : u32[2];\n"
                   "  if (f[global_id.x] == 0) { o[global_id.x] = 1; } grid_sync;\n"
                   "  f[global_id.x] = 1; }",
                   INPUTS(INPUT(0, 0)), OPTIONS(FIXPOINT(2)), WORDS(1, 1, 1, 1));
}

TEST(d19_read_modify_write_output) {
    conform_expect("program p workgroup(2) elements(6) { out o : u32[2]; atomic_add(o[0], 1);\n"
                   "  grid_sync; atomic_add(o[1], o[0]); }",
                   NO_INPUTS, NULL, WORDS(6, 36));
}

TEST(d20_earlier_outputs_are_lost) {
    conform_expect("program p workgroup(1) elements(2) { out o : u32[4]; o[0] = 0xaa; grid_sync;\n"
                   "  o[2] = 0xbb; }",
                   NO_INPUTS, NULL, WORDS(0xaa, 0, 0xbb, 0));
}

TEST(d21_slots_misaligned_by_an_output_in_front) {
    conform_expect("program p workgroup(1) elements(2) { out first : u32[1]; in a : u32[1];\n"
                   "  inout b : u32[1]; out last : u32[1]; first[0] = 1; grid_sync;\n"
                   "  b[0] = a[0]; grid_sync; last[0] = b[0] + first[0]; }",
                   INPUTS(INPUT(20), INPUT(30)), NULL, WORDS(1, 20, 21));
}

TEST(d22_only_the_length_is_used) {
    conform_expect("program p workgroup(1) elements(2) { in a : u32[]; out o : u32[2];\n"
                   "  o[global_id.x] = 1; grid_sync; o[global_id.x] = len(a) + global_id.x; }",
                   INPUTS(INPUT(0, 0, 0)), NULL, WORDS(3, 4));
}

TEST(d23_operands_of_async_indirect_opaque_and_trap) {
    conform_expect("program p workgroup(1) elements(1) { in s : u32[2]; out d : u32[2];\n"
                   "  out o : u32[1]; o[0] = 1; grid_sync; async_store(s, d, 4, 4, \"t\");\n"
                   "  async_wait(\"t\"); }",
                   INPUTS(INPUT(5, 6)), NULL, WORDS(0, 5, 1));
    conform_expect("program p workgroup(2) { in words : u32[4]; out o : u32[8];\n"
                   "  o[global_id.x] = 1; grid_sync; indirect_dispatch(words, 4);\n"
                   "  o[global_id.x] = num_groups.x; }",
                   INPUTS(INPUT(9, 3, 1, 1)), NULL, WORDS(3, 3, 3, 3, 3, 3, 0, 0));
    conform_expect(
        "program p workgroup(1) { in a : u32[2]; out o : u32[2]; out n : u32[1];\n"
        "  opaque fn copy() reads(a) writes(o) { o[global_id.x] = a[global_id.x] + 1; }\n"
        "  n[0] = 4; grid_sync; copy(); }",
        INPUTS(INPUT(5, 6)), NULL, WORDS(6, 7, 4));
    conform_refuse("program p workgroup(1) { in a : u32[2]; out o : u32[2]; o[global_id.x] = 1;\n"
                   "  grid_sync; if (global_id.x == 1) { trap(\"broken\", a[1]); } }",
                   INPUTS(INPUT(0, 77)), NULL, VYRE_TRAP, "77");
}

TEST(d24_returned_range_of_a_buffer_that_segments_share) {
    conform_expect("program p workgroup(1) { out o : u32[4] returns(4 .. 12);\n"
                   "  o[global_id.x] = global_id.x + 1; grid_sync; let v = o[3 - global_id.x];\n"
                   "  grid_sync; o[global_id.x] = v * 10; }",
                   NO_INPUTS, OPTIONS(.has_elements = true, .elements = 4), WORDS(30, 20));
}

TEST(d27_segments_without_effect_are_not_launched) {
    const char *text = "program p workgroup(1) { out o : u32[2]; grid_sync; grid_sync;\n"
                       "  o[global_id.x] = 3; grid_sync; let x = o[0]; grid_sync; grid_sync; }";
    conform_expect(text, NO_INPUTS, NULL, WORDS(3, 3));
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        run_result r = conform_run("ref-split", text, NO_INPUTS, OPTIONS(.path = (vyre_path)path));
        CHECK_EQ(r.report.stats.launches, 1);
        CHECK(r.report.stats.skipped_launches > 0);
        run_finish(&r);
    }
    /* All the same when nothing at all has an effect. */
    conform_expect("program p workgroup(1) { out o : u32[2]; grid_sync; let x = o[0]; grid_sync; }",
                   NO_INPUTS, NULL, WORDS(0, 0));
}

/* Geometry and configuration */

TEST(d29_grid_inferred_again_for_each_segment) {
    uint32_t want[64];
    for (uint32_t i = 0; i < 64; i++) {
        want[i] = 48 + i % 16;
    }
    conform_expect("program p workgroup(4) { out o : u32[64]; scratch tmp : u32[16];\n"
                   "  if (global_id.x >= 48) { tmp[global_id.x - 48] = global_id.x; } grid_sync;\n"
                   "  o[global_id.x] = tmp[global_id.x % 16]; }",
                   NO_INPUTS, NULL, want, 64);
}

static const char *configured = "program p workgroup(2) { inout a : u32[7]; param k : u32 = 1;\n"
                                "  let v = a[(global_id.x + 1) % 7]; grid_sync;\n"
                                "  if (global_id.x < 7) { a[global_id.x] = v * k; } }";

/* One run on a recorder; how many launches there were, all of one grid and one deadline. */
static uint32_t launch_alike(const char *text, const vyre_input *inputs, uint32_t input_count,
                             const vyre_dispatch_options *options, uint32_t groups) {
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    vyre_output out = {0};
    (void)recorder_run(device, text, inputs, input_count, options, &out, 1, VYRE_OK);
    uint32_t count = recorder_log.launch_count;
    REQUIRE(count > 0 && count <= RECORDER_LAUNCHES);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_EQ(recorder_log.launches[i].grid[0], groups);
        CHECK_EQ(recorder_log.launches[i].deadline_ns, recorder_log.launches[0].deadline_ns);
    }
    CHECK_EQ(recorder_log.launches[0].deadline_ns > 0, options->timeout_ns > 0);
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
    return count;
}

static const uint64_t hour_ns = UINT64_C(3600000000000);

TEST(d30_configuration_holds_for_every_segment) {
    const vyre_input in[] = {INPUT(1, 2, 3, 4, 5, 6, 7)};
    const vyre_setting k = {.name = "k", .type = VYRE_U32, .bits = 10};
    vyre_dispatch_options o = {.settings = &k,
                               .setting_count = 1,
                               .workgroup = {5, 1, 1},
                               .has_elements = true,
                               .elements = 7,
                               .max_output_bytes = 28};
    conform_expect(configured, in, 1, &o, WORDS(20, 30, 40, 50, 60, 70, 10));
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        o.path = (vyre_path)path;
        o.timeout_ns = hour_ns;
        CHECK_EQ(launch_alike(configured, in, 1, &o, 2), 2);
    }
    o.timeout_ns = 0;
    o.max_output_bytes = 27;
    conform_refuse(configured, in, 1, &o, VYRE_LIMIT, "28 bytes");
    o.max_output_bytes = 0;
    o.timeout_ns = 1;
    conform_refuse(configured, in, 1, &o, VYRE_TIMEOUT, "took");
}

/* A budget is one for the dispatch: exactly what the run needs suffices, one less does not. */
TEST(d31_limits_hold_for_the_whole_dispatch) {
    static const char text[] =
        "program p workgroup(1) elements(3) { out o : u32[3]; scratch big : u32[3000];\n"
        "  for (i in 0 .. 5) { big[global_id.x] = i; grid_sync;\n"
        "    o[global_id.x] += big[(global_id.x + 1) % 3]; grid_sync; } }";
    vyre_program *p = run_parse(text);
    static const char *const devices[] = {"ref", "ref-split"};
    for (int i = 0; i < 4; i++) {
        vyre_dispatch_options o = {.path = (vyre_path)(i / 2), .max_output_bytes = 12, FIXPOINT(2)};
        run_result whole = conform_run(devices[i % 2], text, NO_INPUTS, &o);
        o.max_steps = whole.report.stats.steps;
        run_result enough = conform_run(devices[i % 2], text, NO_INPUTS, &o);
        CHECK(run_same(&whole, &enough));
        o.max_steps--;
        o.no_optimize = true;
        run_result less = run_program(devices[i % 2], p, NO_INPUTS, &o);
        CHECK_STATUS(less.status, VYRE_STEP_BUDGET, &less.diag);
        run_finish(&whole);
        run_finish(&enough);
        run_finish(&less);
        o = (vyre_dispatch_options){.path = (vyre_path)(i / 2), .timeout_ns = hour_ns, FIXPOINT(2)};
        CHECK(launch_alike(text, NO_INPUTS, &o, 3) > 10);
    }
    vyre_program_release(p);
}

/* Barriers that are not at the top level */

TEST(d34_barrier_inside_if_and_loop) {
    conform_expect("program p workgroup(2) { inout b : u32[4]; for (i in 0 .. 2) {\n"
                   "  let v = b[(global_id.x + 1) % 4]; grid_sync; b[global_id.x] = v + 1;\n"
                   "  grid_sync; } }",
                   INPUTS(INPUT(10, 20, 30, 40)), NULL, WORDS(32, 42, 12, 22));
    conform_expect(
        "program p workgroup(1) { inout b : u32[3]; in c : u32[1];\n"
        "  if (c[0] == 1) { let v = b[2 - global_id.x]; grid_sync; b[global_id.x] = v; }\n"
        "  else { b[global_id.x] = 0; grid_sync; } }",
        INPUTS(INPUT(1, 2, 3), INPUT(1)), NULL, WORDS(3, 2, 1));
    /* A loop ends where its next value would pass 2^32. */
    conform_expect("program p workgroup(1) { out o : u32[2];\n"
                   "  for (i in 0xffffffd0 .. 0xffffffff step 32) { o[global_id.x] += 1;\n"
                   "    grid_sync; } }",
                   NO_INPUTS, NULL, WORDS(2, 2));
}

TEST(d35_barriers_at_both_levels) {
    static const char text[] =
        "program p workgroup(1) { inout b : u32[3]; let v = b[(global_id.x + 1) % 3]; grid_sync;\n"
        "  b[global_id.x] = v; grid_sync; for (i in 0 .. 3) { v = b[(global_id.x + 1) % 3];\n"
        "    grid_sync; b[global_id.x] = v * 2; grid_sync; } b[global_id.x] = v; }";
    conform_expect(text, INPUTS(INPUT(1, 2, 3)), NULL, WORDS(8, 12, 4));
    vyre_module *m = conform_split(text);
    const vyre_module_view *view = vyre_module_get(m);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        CHECK(!vyre_contains_grid_sync(view->segments[i]));
    }
    vyre_module_release(m);
}

/* Uniform over a group is not uniform over the grid (U3), and neither is a value assigned under a
 * divergent branch (U1) or by the next trip (U2). */
TEST(d36_barrier_that_not_all_lanes_reach) {
    static const char *const texts[] = {
        "program p workgroup(1) { out o : u32[2]; if (group_id.x == 0) { grid_sync; }\n"
        "  o[global_id.x] = 1; }",
        "program p workgroup(2) { out o : u32[4]; let x = 0; if (global_id.x == 0) { x = 1; }\n"
        "  if (x == 1) { grid_sync; } o[global_id.x] = x; }",
        "program p workgroup(2) { out o : u32[4]; let x = 0; for (i in 0 .. 4) {\n"
        "  if (x == 0) { grid_sync; } x = o[global_id.x]; } }",
        "program p workgroup(2) { out o : u32[4]; for (i in 0 .. global_id.x) { grid_sync; }\n"
        "  o[global_id.x] = 1; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        conform_refuse(texts[i], NO_INPUTS, NULL, VYRE_INVALID_PROGRAM, "grid_sync");
    }
}

/* Whatever detection finds, splitting removes; whatever it does not find, stays one segment. */
TEST(d37_detection_and_splitting_agree) {
    static const struct {
        const char *body;
        bool waits;
    } cases[] = {
        {"o[global_id.x] = 1;", false},
        {"barrier;", false},
        {"if (k == 1) { for (i in 0 .. 2) { barrier; } }", false},
        {"grid_sync;", true},
        {"{ grid_sync; }", true},
        {"region \"r\" { { grid_sync; } }", true},
        {"if (k == 1) { grid_sync; }", true},
        {"if (k == 1) { } else { grid_sync; }", true},
        {"for (i in 0 .. k) { while (k > 5) { grid_sync; } }", true},
        {"wait(); } fn wait() { grid_sync;", true},
        {"all_reduce(o, sum);", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "program p workgroup(2) { out o : u32[4]; param k : u32 = 1;\n"
                 "  o[global_id.x] = 2; turn(); o[global_id.x] += 1; fn turn() { %s } }",
                 cases[i].body);
        uint32_t want = i == 0 ? 2 : 3;
        conform_expect(text, NO_INPUTS, NULL, WORDS(want, want, want, want));
        vyre_program *p = run_parse(text);
        vyre_module *m = conform_split(text);
        const vyre_module_view *view = vyre_module_get(m);
        CHECK_EQ(vyre_contains_grid_sync(p), cases[i].waits);
        CHECK_EQ(view->sync_points > 0, cases[i].waits);
        CHECK_EQ(view->step_count > 1, cases[i].waits);
        for (uint32_t s = 0; s < view->segment_count; s++) {
            CHECK(!vyre_contains_grid_sync(view->segments[s]));
        }
        vyre_module_release(m);
        vyre_program_release(p);
    }
}

/* Convergence, where the answer shows it */

TEST(d46_passes_and_grid_with_and_without_a_barrier) {
    for (int waits = 0; waits < 2; waits++) {
        char text[200];
        snprintf(text, sizeof text,
                 "program p workgroup(1) { inout b : u32[4]; b[global_id.x] += num_groups.x;\n"
                 "  %s b[global_id.x] += 1; }",
                 waits ? "grid_sync;" : "");
        conform_expect(text, INPUTS(INPUT(0, 0, 0, 0)),
                       OPTIONS(FIXPOINT(3), .has_grid = true, .grid = {2, 1, 1}),
                       WORDS(9, 9, 0, 0));
    }
}

TEST(d48_locals_of_scopes_around_a_barrier) {
    conform_expect(
        "program p workgroup(1) { out o : u32[2]; let a = global_id.x;\n"
        "  { let b = a * 2; region \"r\" { let c = b + 5; a = c; grid_sync; b = b + c; }\n"
        "    o[global_id.x] = a * 100 + b; } }",
        NO_INPUTS, NULL, WORDS(505, 709));
}
