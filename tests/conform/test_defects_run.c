/* The known defects of splitting that show in cost, determinism, convergence and failures; the
 * others are in test_defects.c. */
#include <pthread.h>
#include <unistd.h>

#include "conform/recorder.h"

/* Many independent values with equal names in sibling scopes: whatever order a set has shows. */
static const char *many_values =
    "program p workgroup(2) { out o : u32[4]; inout s : u32[4]; workgroup w : u32[2];\n"
    "  private q : u32[2]; let a = s[0]; let b = s[1]; let c = s[2]; let d = s[3]; let e = a + b;\n"
    "  let f = c * d; w[local_id.x] = e; q[0] = f; grid_sync;\n"
    "  region \"x\" { let t = a; let u = b; grid_sync; o[global_id.x] = t + u + w[0]; }\n"
    "  region \"y\" { let t = c; let u = d; grid_sync; o[global_id.x] += t * u + q[0]; }\n"
    "  region \"z\" { o[global_id.x] += 1; }\n"
    "  for (i in 0 .. e) { let t = f + i; if (o[0] == t) { exit; } grid_sync;\n"
    "    s[global_id.x] = t; } }";

/* This test runs itself in two more processes, which print the segments. */
TEST(d12_segments_are_the_same_in_every_process) {
    vyre_module *m = conform_split(many_values);
    char *here = conform_segments(m);
    vyre_module_release(m);
    if (getenv("CONFORM_PRINT")) {
        printf("%s", here);
        free(here);
        return;
    }
    char path[1000];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    REQUIRE(length > 0);
    path[length] = '\0';
    char command[1200];
    snprintf(command, sizeof command, "CONFORM_PRINT=1 '%s' d12_", path);
    for (int process = 0; process < 2; process++) {
        FILE *other = popen(command, "r");
        REQUIRE(other);
        char *there = calloc(strlen(here) + 1, 1);
        REQUIRE(there);
        CHECK_EQ(fread(there, 1, strlen(here), other), strlen(here));
        CHECK_STR(there, here);
        free(there);
        (void)pclose(other);
    }
    free(here);
}

/* 128 statements are run once: what they give is carried, not computed again behind each of eight
 * barriers. */
TEST(d13_deep_expressions_are_not_recomputed) {
    enum { DEEP = 128, BARRIERS = 8, LANES = 4 };
    char text[8000];
    int at = snprintf(text, sizeof text,
                      "program p workgroup(2) { out o : u32[%d];\n"
                      "  let x0 = global_id.x;\n",
                      LANES);
    for (int i = 1; i <= DEEP; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "let x%d = x%d * 3 + 1;\n", i, i - 1);
    }
    for (int i = 0; i < BARRIERS; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "grid_sync; o[global_id.x] = o[global_id.x] + x%d;\n", DEEP);
    }
    snprintf(text + at, sizeof text - (size_t)at, "}");
    run_result native = conform_run("ref", text, NO_INPUTS, NULL);
    run_result split = conform_run("ref-split", text, NO_INPUTS, NULL);
    CHECK(run_same(&native, &split));
    uint64_t once = (uint64_t)DEEP * LANES, around = (uint64_t)8 * BARRIERS * LANES;
    CHECK(native.report.stats.steps > once);
    CHECK(split.report.stats.steps < native.report.stats.steps + around);
    run_finish(&native);
    run_finish(&split);
    vyre_module *m = conform_split(text);
    const vyre_module_view *view = vyre_module_get(m);
    REQUIRE(view->carry_count == 1);
    CHECK_STR(view->carries[0].name, "x128");
    CHECK_EQ(view->carries[0].kind, VYRE_CARRY_LANE);
    CHECK_EQ(view->lane_words, 1);
    vyre_module_release(m);
    /* Nor are its operands carried instead, to compute it again in each segment. */
    m = conform_split(
        "program p workgroup(2) { out o : u32[4]; inout x : u32[8];\n"
        "  let a = x[global_id.x]; let b = x[global_id.x + 4]; let y = a + b;\n"
        "  x[global_id.x] = 0; for (i in 0 .. 9) { o[global_id.x] += y; grid_sync; } }");
    CHECK_EQ(vyre_module_get(m)->lane_words, 1);
    vyre_module_release(m);
}

/* A long chain that crosses a barrier at every 17th link is stored there, not begun anew. */
TEST(d13_chains_are_not_begun_anew_behind_each_barrier) {
    enum { LINKS = 1700, APART = 17, ROOM = LINKS * 80 };
    char *text = malloc(ROOM);
    REQUIRE(text);
    size_t at = (size_t)snprintf(text, ROOM,
                                 "program p workgroup(2) { inout o : u32[4];\n"
                                 "  let x0 = o[global_id.x];\n");
    for (int i = 1; i <= LINKS; i++) {
        at +=
            (size_t)snprintf(text + at, ROOM - at, "let x%d = x%d * 3 + x%d; %s\n", i, i - 1,
                             i > 5 ? i - 5 : 0, i % APART ? "" : "o[global_id.x] += 1; grid_sync;");
    }
    snprintf(text + at, ROOM - at, "o[global_id.x] = x%d; }", LINKS);
    vyre_module *m = conform_split(text);
    const vyre_module_view *view = vyre_module_get(m);
    uint32_t statements = 0;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        statements += vyre_program_get(view->segments[i])->stmt_count;
    }
    CHECK(statements < 2 * vyre_program_get(view->source)->stmt_count);
    vyre_module_release(m);
    run_result native = conform_run("ref", text, INPUTS(INPUT(1, 2, 3, 4)), NULL);
    run_result split = conform_run("ref-split", text, INPUTS(INPUT(1, 2, 3, 4)), NULL);
    CHECK(run_same(&native, &split));
    run_finish(&native);
    run_finish(&split);
    free(text);
}

TEST(d28_untouched_buffers_are_not_moved) {
    static uint32_t big[1000], bigger[2000];
    static const char text[] =
        "program p workgroup(1) elements(2) { inout big : u32[1000]; in bigger : u32[2000];\n"
        "  out o : u32[2]; for (i in 0 .. 20) { o[global_id.x] += 1; grid_sync; } }";
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        run_result r =
            conform_run("ref-split", text, INPUTS({big, sizeof big}, {bigger, sizeof bigger}),
                        OPTIONS(.path = (vyre_path)path));
        CHECK(r.report.stats.sync_points == 20);
        CHECK_EQ(r.report.stats.bytes_in, sizeof big + sizeof bigger);
        CHECK_EQ(r.report.stats.bytes_out, sizeof big + 8);
        run_finish(&r);
    }
    vyre_module *m = conform_split(text);
    char *segments = conform_segments(m);
    CHECK(!strstr(segments, "big"));
    free(segments);
    vyre_module_release(m);
}

/* min(b + 1, 3) by two segments of which the second only reads: passes are counted, not segments.
 */
static const char *climbs = "program p workgroup(1) { inout b : u32[2]; out o : u32[2];\n"
                            "  b[global_id.x] = min(b[global_id.x] + 1, 3); grid_sync;\n"
                            "  o[global_id.x] = b[1 - global_id.x]; }";

static void check_passes(const char *text, const vyre_input *in, uint32_t most, uint32_t passes,
                         bool converged, uint64_t launches) {
    static const char *const devices[] = {"ref", "ref-split"};
    for (int i = 0; i < 4; i++) {
        run_result r = conform_run(devices[i % 2], text, in, 1,
                                   OPTIONS(FIXPOINT(most), .path = (vyre_path)(i / 2)));
        CHECK_EQ(r.report.passes, passes);
        CHECK_EQ(r.report.converged, converged);
        CHECK_EQ(r.report.stats.launches, i % 2 ? launches : passes);
        run_finish(&r);
    }
}

TEST(d32_passes_repeat_the_sequence) {
    const vyre_input in = INPUT(0, 0);
    check_passes(climbs, &in, 2, 2, false, 4);
    conform_expect(climbs, &in, 1, OPTIONS(FIXPOINT(2)), WORDS(2, 2, 2, 2));
}

TEST(d33_early_exit_on_every_path) {
    const vyre_input in = INPUT(0, 1);
    check_passes(climbs, &in, 100, 4, true, 8);
    conform_expect(climbs, &in, 1, OPTIONS(FIXPOINT(100)), WORDS(3, 3, 3, 3));
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t size) {
    unsigned char bytes[16] = {0};
    REQUIRE(size <= sizeof bytes);
    memcpy(bytes, data, size);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The state goes to and fro between two values of one hash, and is not taken to be at rest. */
TEST(d38_equal_hashes_are_not_equal_states) {
    static const uint32_t one[3] = {0x71735751, 0x1cdf726d, 0xe6154e7b},
                          other[3] = {0x73414256, 0x64d89a7f, 0xfb224ede};
    uint64_t named = fnv1a(UINT64_C(0xcbf29ce484222325), "o\xff", 2);
    CHECK_EQ(fnv1a(named, one, sizeof one), fnv1a(named, other, sizeof other));
    static const char text[] =
        "program p workgroup(1) { inout o : u32[3]; scratch s : u32[3]; in x : u32[3];\n"
        "  s[global_id.x] = o[global_id.x] ^ x[global_id.x]; grid_sync;\n"
        "  o[global_id.x] = s[global_id.x]; }";
    uint32_t change[3];
    for (int i = 0; i < 3; i++) {
        change[i] = one[i] ^ other[i];
    }
    const vyre_input in[] = {{one, sizeof one}, {change, sizeof change}};
    conform_expect(text, in, 2, OPTIONS(FIXPOINT(5)), other, 3);
    conform_expect(text, in, 2, OPTIONS(FIXPOINT(6)), one, 3);
    run_result r = conform_run("ref-split", text, in, 2, OPTIONS(FIXPOINT(6)));
    CHECK_EQ(r.report.passes, 6);
    CHECK(!r.report.converged);
    run_finish(&r);
}

TEST(d39_no_extra_pass) {
    const vyre_input rests = INPUT(3, 3);
    check_passes("program p workgroup(1) { inout b : u32[2]; scratch s : u32[2];\n"
                 "  s[global_id.x] = min(b[global_id.x] + 1, 3); grid_sync;\n"
                 "  b[global_id.x] = s[global_id.x]; }",
                 &rests, 100, 1, true, 2);
}

/* Convergence costs no traffic: outputs come back once, whatever the number of passes. */
TEST(d40_states_are_compared_on_the_device) {
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
        vyre_output out[2] = {{0}};
        vyre_dispatch_report report =
            recorder_run(device, climbs, INPUTS(INPUT(0, 0)),
                         OPTIONS(FIXPOINT(100), .path = (vyre_path)path), out, 2, VYRE_OK);
        CHECK_EQ(report.passes, 4);
        CHECK_EQ(report.stats.bytes_out, 16);
        CHECK_EQ(recorder_log.bytes_read, 16);
        CHECK_EQ(recorder_log.bytes_written, 8);
        vyre_output_finish(&out[0], NULL);
        vyre_output_finish(&out[1], NULL);
        vyre_device_close(device);
    }
}

static void fail_each_allocation(vyre_path path) {
    vyre_program *p = run_parse(climbs);
    bool failed = true;
    int n = 0;
    while (failed) {
        char uri[64];
        snprintf(uri, sizeof uri, "fault://ref-split?op=allocate&n=%d", ++n);
        test_heap heap = {0};
        vyre_allocator a = test_heap_allocator(&heap);
        vyre_device *device = NULL;
        REQUIRE_OK(vyre_device_open(NULL, uri, &a, &device, NULL), NULL);
        vyre_output out[2] = {{0}};
        vyre_status status = vyre_dispatch(device, p, INPUTS(INPUT(0, 0)), out, 2,
                                           OPTIONS(FIXPOINT(9), .path = path), NULL, NULL);
        failed = status != VYRE_OK;
        CHECK_STATUS(status, failed ? VYRE_OUT_OF_MEMORY : VYRE_OK, NULL);
        vyre_output_finish(&out[0], &a);
        vyre_output_finish(&out[1], &a);
        vyre_device_close(device);
        CHECK_EQ(heap.live_blocks, 0);
    }
    CHECK(n > 4);
    vyre_program_release(p);
}

TEST(d41_leak_on_a_failed_allocation) {
    fail_each_allocation(VYRE_PATH_HOST);
    fail_each_allocation(VYRE_PATH_RESIDENT);
}

TEST(d42_no_zeros_are_uploaded) {
    static const char text[] =
        "program p workgroup(1) elements(2) { in a : u32[2]; out o : u32[5000];\n"
        "  scratch s : u32[7000]; workgroup w : u32[1]; w[0] = 1; s[global_id.x] = 4; grid_sync;\n"
        "  o[global_id.x] = s[1 - global_id.x] + a[global_id.x] + w[0]; }";
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
        vyre_output out = {0};
        vyre_dispatch_report report =
            recorder_run(device, text, INPUTS(INPUT(1, 2)),
                         OPTIONS(FIXPOINT(3), .path = (vyre_path)path), &out, 1, VYRE_OK);
        CHECK_EQ(report.passes, 2);
        CHECK_EQ(report.stats.bytes_in, 8);
        CHECK_EQ(recorder_log.bytes_written, 8);
        CHECK_EQ(recorder_log.bytes_read, 20000);
        vyre_output_finish(&out, NULL);
        vyre_device_close(device);
    }
}

static const char *four_segments =
    "program p workgroup(1) { out o : u32[2]; in stop : u32[1];\n"
    "  o[global_id.x] = 1; grid_sync; o[global_id.x] += 1; grid_sync;\n"
    "  if (stop[0] == 3) { trap(\"third\", 0); } o[global_id.x] += 1; grid_sync;\n"
    "  o[global_id.x] += 1; }";

static void check_label(const char *device, vyre_dispatch_options options, uint32_t stop,
                        vyre_status status, uint32_t segment) {
    vyre_program *p = run_parse(four_segments);
    options.no_optimize = true;
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        options.path = (vyre_path)path;
        run_result r = run_program(device, p, INPUTS(INPUT(stop)), &options);
        CHECK_STATUS(r.status, status, &r.diag);
        CHECK_EQ(r.diag.segment, segment);
        CHECK_EQ(r.diag.segment_count, 4);
        CHECK(r.diag.message[0]);
        run_finish(&r);
    }
    vyre_program_release(p);
}

TEST(d43_every_kind_of_error_names_its_segment) {
    const vyre_dispatch_options plain = {0};
    check_label("ref-split", plain, 3, VYRE_TRAP, 3);
    for (uint32_t i = 1; i <= 4; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "fault://ref-split?op=compile&n=%u", i);
        check_label(uri, plain, 0, VYRE_UNSUPPORTED, i);
        snprintf(uri, sizeof uri, "fault://ref-split?op=launch&n=%u&mode=lost", i);
        check_label(uri, plain, 0, VYRE_DEVICE_LOST, i);
        snprintf(uri, sizeof uri, "fault://ref-split?op=launch&n=%u", i);
        check_label(uri, plain, 0, VYRE_DEVICE_FAILED, i);
    }
    run_result whole = conform_run("ref-split", four_segments, INPUTS(INPUT(0)), NULL);
    vyre_dispatch_options less = {.max_steps = whole.report.stats.steps - 1};
    check_label("ref-split", less, 0, VYRE_STEP_BUDGET, 4);
    check_label("ref-schedule", less, 0, VYRE_STEP_BUDGET, 4);
    check_label("ref-schedule", plain, 3, VYRE_TRAP, 3);
    run_finish(&whole);
}

static uint64_t count_splits(vyre_device *device) {
    vyre_counters c = run_counters(device);
    CHECK_EQ(c.grid_sync_segments, 4 * c.grid_sync_splits);
    CHECK_EQ(c.grid_sync_points, 3 * c.grid_sync_splits);
    return c.grid_sync_splits;
}

TEST(d44_counted_only_when_it_happened) {
    static const char whole[] = "program p workgroup(1) { out o : u32[2]; o[0] = 1; barrier; }";
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
        const vyre_dispatch_options o = {.path = (vyre_path)path};
        vyre_output out = {0};
        vyre_dispatch_report report =
            recorder_run(device, four_segments, INPUTS(INPUT(3)), &o, &out, 1, VYRE_TRAP);
        CHECK_EQ(report.stats.launches, 0);
        CHECK_EQ(report.stats.segments, 0);
        CHECK(!report.was_split);
        CHECK_EQ(count_splits(device), 0);
        report = recorder_run(device, four_segments, INPUTS(INPUT(0)), &o, &out, 1, VYRE_OK);
        CHECK(report.was_split);
        CHECK_EQ(report.stats.segments, 4);
        CHECK_EQ(report.stats.sync_points, 3);
        CHECK_EQ(count_splits(device), 1);
        report = recorder_run(device, whole, NO_INPUTS, &o, &out, 1, VYRE_OK);
        CHECK(!report.was_split);
        CHECK_EQ(report.stats.sync_points, 0);
        CHECK_EQ(count_splits(device), 1);
        vyre_output_finish(&out, NULL);
        vyre_device_close(device);
    }
}

/* The device holds every launch until it is let go. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void pass_gate(void) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

/* An event is handed out, and is not done while the first launch is held. */
static void check_held(vyre_event *event) {
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    CHECK(!vyre_event_poll(event));
    pthread_mutex_unlock(&gate);
    REQUIRE_OK(vyre_event_wait(event, &report, &diag), &diag);
    CHECK(vyre_event_poll(event));
    CHECK_EQ(report.stats.launches, 4);
    vyre_event_release(event);
}

TEST(d45_async_dispatch_does_not_wait) {
    static const vyre_dispatch_options keep = {.no_optimize = true};
    vyre_device *device = recorder_open(VYRE_LEVEL_SEGMENT);
    recorder_log.on_launch = pass_gate;
    vyre_program *p = run_parse(four_segments);
    const vyre_input in = INPUT(0);
    vyre_output out = {0};
    vyre_event *event = NULL;
    vyre_diag diag = {0};
    alarm(60); /* one that waits would wait for the gate, for good */
    pthread_mutex_lock(&gate);
    REQUIRE_OK(vyre_dispatch_async(device, p, &in, 1, &out, 1, &keep, &event, &diag), &diag);
    CHECK(!out.data);
    check_held(event);
    REQUIRE(out.data && out.size == 8);
    CHECK(memcmp(out.data, "\4\0\0\0\4\0\0\0", 8) == 0);
    vyre_output_finish(&out, NULL);
    /* On buffers that stay. */
    vyre_pipeline *pipeline = NULL;
    REQUIRE_OK(vyre_compile(device, p, &keep, &pipeline, &diag), &diag);
    vyre_buffer *buffers[] = {run_buffer(device, NULL, 2), run_buffer(device, NULL, 1)};
    pthread_mutex_lock(&gate);
    REQUIRE_OK(vyre_dispatch_resident_async(pipeline, buffers, 2, &keep, &event, &diag), &diag);
    check_held(event);
    CHECK_EQ(run_buffer_word(buffers[0], 1), 4);
    vyre_buffer_destroy(buffers[0]);
    vyre_buffer_destroy(buffers[1]);
    vyre_pipeline_release(pipeline);
    vyre_program_release(p);
    vyre_device_close(device);
}

/* Segments are programs like any other: they pass the check, and print and parse to themselves. */
static void check_segments(const vyre_module_view *view) {
    CHECK(view->segment_count > 3);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        vyre_diag items[4];
        vyre_diag_list list = {.items = items, .capacity = 4};
        CHECK_STATUS(vyre_check(view->segments[i], NULL, &list), VYRE_OK, items);
        char *text = conform_print(view->segments[i]);
        vyre_program *again = run_parse(text);
        CHECK_EQ(vyre_program_get(again)->hash, vyre_program_get(view->segments[i])->hash);
        vyre_program_release(again);
        free(text);
    }
}

TEST(d47_segments_are_valid_programs) {
    vyre_module *m = conform_split(many_values);
    const vyre_module_view *view = vyre_module_get(m);
    char *text = conform_segments(m);
    CHECK_HAS(text, "region \"z\"");
    free(text);
    check_segments(view);
    uint32_t last = 0;
    for (uint32_t i = 0; i < view->step_count; i++) {
        if (view->steps[i].sync) {
            CHECK(view->steps[i].place.line > 0 && view->steps[i].place.line >= last);
            last = view->steps[i].place.line;
        }
    }
    CHECK_EQ(last, 7);
    vyre_module_release(m);
}

/* A wrapper around the whole program is around each segment. */
TEST(d47_wrappers_are_kept) {
    vyre_module *m =
        conform_split("program p workgroup(1) { out o : u32[2]; region \"a\" { { region \"b\" {\n"
                      "  o[global_id.x] = 1; grid_sync; o[global_id.x] += 1; } } } }");
    const vyre_module_view *view = vyre_module_get(m);
    CHECK_EQ(view->segment_count, 2);
    for (uint32_t i = 0; i < view->segment_count; i++) {
        char *text = conform_print(view->segments[i]);
        CHECK_HAS(text, "region \"a\"");
        CHECK_HAS(text, "region \"b\"");
        free(text);
    }
    vyre_module_release(m);
}

/* Names that splitting would like to use belong to the source. */
TEST(d47_names_of_the_source_come_first) {
    static const char text[] =
        "program p workgroup(2) { out _lane : u32[4]; out _grid : u32[4]; in _lanes : u32[1];\n"
        "  workgroup _rank : u32[2]; private _tick : u32[2]; workgroup _r1 : u32[2];\n"
        "  param _phase : u32 = 2; let _at = _lanes[0]; let _loop0_to = _at + 1;\n"
        "  _rank[local_id.x] = global_id.x; _tick[1] = _at * 10; _r1[local_id.x] = 5;\n"
        "  let _rank_in = _at; let _rank_out = _at; if (global_id.x == 3) { exit; }\n"
        "  for (_r3 in 0 .. _phase) { let _s3 = _r3; barrier; grid_sync;\n"
        "    _lane[global_id.x] += _rank[local_id.x] + _tick[1] + _s3 + _r1[0]; }\n"
        "  _grid[global_id.x] = _at + _loop0_to + _rank_in + _rank_out; }";
    conform_expect(text, INPUTS(INPUT(7)), NULL, WORDS(151, 153, 155, 0, 29, 29, 29, 0));
    vyre_module *m = conform_split(text);
    check_segments(vyre_module_get(m));
    vyre_module_release(m);
}
