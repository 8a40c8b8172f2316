/* Counters count what happened, and their export and that of traces can be read by others. */
#include "harness/run.h"
#include "harness/text.h"

static const char three_text[] = "program three workgroup(2) {\n"
                                 "    inout v : u32[4];\n"
                                 "    v[global_id.x] = v[global_id.x] + 1;\n"
                                 "    grid_sync;\n"
                                 "    v[3 - global_id.x] = v[3 - global_id.x] * 2;\n"
                                 "    grid_sync;\n"
                                 "    let t = v[global_id.x ^ 2];\n"
                                 "    grid_sync;\n"
                                 "    v[global_id.x] = t + 1;\n"
                                 "}\n";

static vyre_status dispatch(vyre_device *device, const char *text, vyre_trace *trace,
                            vyre_dispatch_report *report) {
    vyre_program *program = run_parse(text);
    uint32_t v[4] = {1, 2, 3, 4};
    vyre_input in = {v, sizeof v};
    vyre_output out = {0};
    vyre_dispatch_options o = {.trace = trace};
    vyre_status status = vyre_dispatch(device, program, &in, 1, &out, 1, &o, report, NULL);
    vyre_output_finish(&out, NULL);
    vyre_program_release(program);
    return status;
}

TEST(counters_add_up_what_dispatches_report) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_counters c = run_counters(device);
    CHECK_STR(c.label, "ref-split");
    CHECK_EQ(c.dispatches + c.launches + c.compiles, 0);
    vyre_dispatch_report r = {0};
    for (uint64_t n = 1; n <= 3; n++) {
        REQUIRE_OK(dispatch(device, three_text, NULL, &r), NULL);
        c = run_counters(device);
        CHECK_EQ(c.dispatches, n);
        CHECK_EQ(c.compiles, 1);
        CHECK_EQ(c.pipeline_hits, n - 1);
        CHECK_EQ(c.launches, n * 4);
        CHECK_EQ(c.passes, n);
        CHECK_EQ(c.input_bytes, n * 16);
        CHECK_EQ(c.output_bytes, n * 16);
        CHECK_EQ(c.host_waits, n * r.stats.host_waits);
        CHECK_EQ(c.carried_bytes, n * r.stats.carried_bytes);
        CHECK_EQ(c.skipped_launches, n * r.stats.skipped_launches);
        /* record_grid_sync_split(4): +1, +4, +3 */
        CHECK_EQ(c.grid_sync_splits, n);
        CHECK_EQ(c.grid_sync_segments, n * 4);
        CHECK_EQ(c.grid_sync_points, n * 3);
    }
    CHECK(c.carried_bytes > 0);
    vyre_device_close(device);
}

/* D44 */
TEST(only_a_split_that_ran_is_a_split) {
    vyre_device *device = run_open("ref-split", NULL);
    REQUIRE_OK(dispatch(device, "program one workgroup(1) grid(1) { inout v : u32[4]; v[0] = 1; }",
                        NULL, NULL),
               NULL);
    /* A barrier at the end: one segment, although it went the way of a split. */
    vyre_dispatch_report report;
    REQUIRE_OK(dispatch(device,
                        "program one workgroup(1) grid(1) {\n"
                        "    inout v : u32[4];\n"
                        "    v[0] = 1;\n"
                        "    grid_sync;\n"
                        "}\n",
                        NULL, &report),
               NULL);
    CHECK(report.was_split);
    CHECK_EQ(report.stats.launches, 1);
    CHECK_EQ(run_counters(device).grid_sync_splits, 0);
    CHECK_EQ(run_counters(device).dispatches, 2);
    vyre_device_close(device);
    device = run_open("ref", NULL);
    REQUIRE_OK(dispatch(device, three_text, NULL, NULL), NULL);
    CHECK_EQ(run_counters(device).grid_sync_splits, 0);
    vyre_device_close(device);
    device = run_open("fault://ref-split?op=launch&n=3", NULL);
    CHECK_STATUS(dispatch(device, three_text, NULL, NULL), VYRE_DEVICE_FAILED, NULL);
    vyre_counters c = run_counters(device);
    CHECK_EQ(c.grid_sync_splits + c.grid_sync_segments + c.grid_sync_points, 0);
    CHECK_EQ(c.dispatches, 0);
    CHECK_EQ(c.launches, 2);
    CHECK_EQ(c.input_bytes, 16);
    CHECK_EQ(c.output_bytes, 0);
    CHECK_EQ(c.passes, 0);
    vyre_device_close(device);
}

/* 6.5 slot replacement with statistics: [capacity 8, capacity 1, none] <- 2, 2, 1 bytes */
TEST(slots_are_counted_by_what_became_of_them) {
    vyre_device *device = run_open("ref", NULL);
    vyre_program *program = run_parse("program slots workgroup(1) grid(1) {\n"
                                      "    out a : u8[2];\n"
                                      "    out b : u8[2];\n"
                                      "    out c : u8[1];\n"
                                      "    a[1] = 1; b[1] = 2; c[0] = 3;\n"
                                      "}\n");
    vyre_allocator system = vyre_allocator_system();
    vyre_output out[3] = {{system.resize(system.user, NULL, 0, 8), 0, 8, false},
                          {system.resize(system.user, NULL, 0, 1), 0, 1, false},
                          {0}};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, program, NULL, 0, out, 3, NULL, NULL, &diag), &diag);
    vyre_counters c = run_counters(device);
    CHECK_EQ(c.output_slots, 3);
    CHECK_EQ(c.output_slots_reused, 1);
    CHECK_EQ(c.output_slots_moved, 1);
    CHECK_EQ(c.output_slots_appended, 1);
    CHECK_EQ(c.slot_bytes_incoming, 5);
    CHECK_EQ(c.slot_bytes_copied, 2);
    CHECK_EQ(c.slot_bytes_moved, 2);
    CHECK_EQ(c.slot_bytes_appended, 1);
    CHECK_EQ(c.slot_bytes_retained, 11);
    for (int i = 0; i < 3; i++) {
        vyre_output_finish(&out[i], NULL);
    }
    vyre_program_release(program);
    vyre_device_close(device);
}

/* Gives up at the n-th call. */
static bool refuse(void *user, const char *text, size_t length) {
    (void)text, (void)length;
    return --*(uint32_t *)user != 0;
}

TEST(counters_are_exported_for_prometheus) {
    vyre_counters all[2] = {
        {.label = "a\"b", .launches = 7, .grid_sync_points = 18446744073709551615u},
        {.label = "second", .launches = 8, .output_slots_moved = 2}};
    vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(vyre_counters_write(all, 2, test_text_append, &text), NULL);
    const char *got = vyre_text_string(&text);
    CHECK_HAS(got, "# HELP vyre_driver_dispatch_launches_total kernel launches\n"
                   "# TYPE vyre_driver_dispatch_launches_total counter\n"
                   "vyre_driver_dispatch_launches_total{device=\"a\\\"b\"} 7\n"
                   "vyre_driver_dispatch_launches_total{device=\"second\"} 8\n");
    CHECK_HAS(got, "vyre_driver_dispatch_bytes_total{device=\"second\",direction=\"output\"} 0\n");
    CHECK_HAS(got, "vyre_driver_dispatch_output_slots_total{device=\"second\",kind=\"moved\"} 2\n");
    CHECK_HAS(got, "vyre_driver_grid_sync_splits_total{device=\"a\\\"b\",kind=\"sync_points\"} "
                   "18446744073709551615\n");
    CHECK_HAS(got, "vyre_driver_dispatch_output_slot_bytes_total{device=\"second\","
                   "kind=\"retained_capacity\"} 0\n");
    const char *first = strstr(got, "# TYPE vyre_driver_dispatch_bytes_total");
    REQUIRE(first != NULL);
    CHECK(!strstr(first + 1, "# TYPE vyre_driver_dispatch_bytes_total"));
    for (uint32_t n = 1; n < 5; n++) {
        uint32_t left = n;
        CHECK_STATUS(vyre_counters_write(all, 2, refuse, &left), VYRE_IO, NULL);
    }
    vyre_text_finish(&text);
}

static uint32_t occurrences(const char *text, const char *part) {
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        count++;
    }
    return count;
}

TEST(a_trace_has_one_span_for_each_thing_done) {
    vyre_device *device = run_open("fault://ref-split?op=write&n=99", NULL);
    vyre_trace *trace = NULL;
    vyre_dispatch_report report;
    REQUIRE_OK(vyre_trace_create(NULL, 0, &trace), NULL);
    REQUIRE_OK(dispatch(device, three_text, trace, &report), NULL);
    vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(vyre_trace_write(trace, test_text_append, &text), NULL);
    const char *got = vyre_text_string(&text);
    CHECK_EQ(occurrences(got, "\"cat\":\"launch\""), report.stats.launches);
    CHECK_EQ(occurrences(got, "\"cat\":\"compile\""), 4);
    CHECK_EQ(occurrences(got, "\"cat\":\"upload\""), 1);
    CHECK_EQ(occurrences(got, "\"cat\":\"download\""), 1);
    CHECK_EQ(occurrences(got, "\"cat\":\"wait\""), 1);
    CHECK(occurrences(got, "\"cat\":\"alloc\"") >= 2);
    for (int i = 1; i <= 4; i++) {
        char args[40];
        snprintf(args, sizeof args, "\"segment\":%d,\"of\":4", i);
        CHECK_EQ(occurrences(got, args), 1);
    }
    CHECK_EQ(occurrences(got, "\"ph\":\"X\""), vyre_trace_count(trace));
    CHECK_HAS(got, "{\"name\":\"v\",\"cat\":\"upload\"");
    CHECK_HAS(got, "\"args\":{\"bytes\":16}");
    CHECK_HAS(got, "\"dropped\":\"0\"");
    CHECK(report.times.enqueue > 0 && report.times.wait > 0); /* `finish` is there to wait */
    for (uint32_t n = 1; n < 4; n++) {
        uint32_t left = n;
        CHECK_STATUS(vyre_trace_write(trace, refuse, &left), VYRE_IO, NULL);
    }
    vyre_text_finish(&text);
    vyre_trace_destroy(trace);
    vyre_trace_destroy(NULL);
    vyre_device_close(device);
}

TEST(workers_have_rows_of_their_own_in_a_trace) {
    vyre_device *device = run_open("ref-schedule", NULL);
    vyre_trace *trace = NULL;
    vyre_dispatch_report report;
    REQUIRE_OK(vyre_trace_create(NULL, 0, &trace), NULL);
    REQUIRE_OK(dispatch(device, three_text, trace, &report), NULL);
    uint32_t spans = vyre_trace_count(trace);
    vyre_trace_add(trace,
                   &(vyre_span){.category = "barrier", .name = "b", .begin = 1, .worker = 3});
    vyre_trace_add(trace,
                   &(vyre_span){.category = "x", .name = "b", .begin = 1, .worker = 1u << 31});
    vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(vyre_trace_write(trace, test_text_append, &text), NULL);
    const char *got = vyre_text_string(&text);
    CHECK_EQ(occurrences(got, "\"cat\":\"launch\""), 1);
    CHECK_EQ(occurrences(got, "\"cat\":\"segment\""), 4); /* of the one launch */
    CHECK_EQ(occurrences(got, "\"pid\":2,\"tid\":0,\"args\":{\"segment\":"), 4);
    CHECK_EQ(occurrences(got, "\"pid\":1,"), spans - 4);
    CHECK_EQ(occurrences(got, "\"pid\":2,\"tid\":2,\"args\":{}"), 1);
    CHECK_EQ(occurrences(got, "\"ph\":\"M\",\"pid\":2,\"tid\":2,\"args\":{\"name\":\"worker 2\"}"),
             1);
    CHECK_EQ(occurrences(got, "\"ph\":\"M\""), 4096);
    uint32_t left = spans + 3;
    CHECK_STATUS(vyre_trace_write(trace, refuse, &left), VYRE_IO, NULL);
    vyre_text_finish(&text);
    vyre_trace_destroy(trace);
    vyre_device_close(device);
}

TEST(a_trace_is_bounded_and_counts_what_it_drops) {
    vyre_device *device = run_open("ref-split", NULL);
    vyre_trace *small = NULL, *large = NULL;
    REQUIRE_OK(vyre_trace_create(NULL, 3, &small), NULL);
    REQUIRE_OK(vyre_trace_create(NULL, 0, &large), NULL);
    REQUIRE_OK(dispatch(device, three_text, NULL, NULL), NULL); /* compiles */
    REQUIRE_OK(dispatch(device, three_text, small, NULL), NULL);
    REQUIRE_OK(dispatch(device, three_text, large, NULL), NULL);
    CHECK_EQ(vyre_trace_count(small), 3);
    CHECK_EQ(vyre_trace_dropped(small), vyre_trace_count(large) - 3);
    vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(vyre_trace_write(small, test_text_append, &text), NULL);
    CHECK_EQ(occurrences(vyre_text_string(&text), "\"ph\":\"X\""), 3);
    vyre_text_finish(&text);
    vyre_trace_destroy(small);
    vyre_trace_destroy(large);
    vyre_device_close(device);
}

TEST(the_null_backend_launches_and_changes_nothing) {
    vyre_device *device = run_open("null", NULL);
    CHECK(vyre_device_describe(device)->is_dummy);
    vyre_dispatch_report report;
    REQUIRE_OK(dispatch(device, three_text, NULL, &report), NULL);
    CHECK(report.was_split);
    CHECK_EQ(report.stats.launches, 4);
    CHECK_EQ(run_counters(device).output_bytes, 16);
    vyre_device_close(device);
    device = run_open("auto", NULL);
    CHECK(!vyre_device_describe(device)->is_dummy);
    vyre_device_close(device);
}
