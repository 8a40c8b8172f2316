/* OpenCL as a device: what the host waits for and moves, traps, fixpoints, faults. That programs
 * give the right bytes is the business of tests/diff/test_opencl.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run.h"

enum { WORDS = 256 };

/* With the bytes of ref, and no transfers but of its one inout; the program is released. */
static vyre_dispatch_stats run_both(vyre_program *p) {
    uint32_t v[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        v[i] = i * i;
    }
    const vyre_input in = {v, sizeof v};
    const vyre_dispatch_options options = {.no_optimize = true};
    run_result got = run_program("opencl", p, &in, 1, &options);
    run_result want = run_program("ref", p, &in, 1, &options);
    REQUIRE_OK(got.status, &got.diag);
    CHECK(run_same(&got, &want));
    const vyre_dispatch_stats stats = got.report.stats;
    CHECK_EQ(stats.bytes_in, sizeof v);
    CHECK_EQ(stats.bytes_out, sizeof v);
    CHECK(got.report.times.device > 0);
    CHECK(got.report.times.enqueue > 0);
    CHECK(got.report.times.wait > 0);
    run_finish(&got);
    run_finish(&want);
    vyre_program_release(p);
    return stats;
}

TEST(a_counted_loop_is_enqueued_without_a_wait) {
    run_need("opencl");
    const vyre_dispatch_stats stats =
        run_both(run_parse("program p workgroup(32) elements(256) { inout v : u32[256];\n"
                           "  scratch w : u32[256];\n"
                           "  for (k in 0 .. 2000) {\n"
                           "    w[global_id.x] = v[(global_id.x + 33) % 256] + k; grid_sync;\n"
                           "    swap(v, w); grid_sync; } }"));
    CHECK(stats.launches >= 2000);
    CHECK_EQ(stats.host_waits, 0);
}

/* The host learns of a decision one batch later, and of several at once. */
TEST(a_loop_that_depends_on_data_costs_launches_and_few_waits) {
    run_need("opencl");
    const vyre_dispatch_stats stats =
        run_both(run_parse("program p workgroup(32) elements(256) { inout v : u32[256];\n"
                           "  scratch left : u32[1];\n"
                           "  if (global_id.x == 0) { left[0] = 500; } grid_sync;\n"
                           "  while (left[0] > 0) {\n"
                           "    grid_sync;\n"
                           "    v[global_id.x] = v[global_id.x] * 3 + left[0]; grid_sync;\n"
                           "    if (global_id.x == 0) { left[0] = left[0] - 1; } grid_sync; } }"));
    CHECK(stats.launches >= 500);
    CHECK(stats.host_waits > 0);
    CHECK(stats.host_waits <= stats.launches / 8 + 8);
}

/* As many segments as there is patience for a compiler. */
TEST(segments_follow_one_another_without_a_wait) {
    run_need("opencl");
    enum { MOST = 30 };
    const uint32_t count = (uint32_t)test_scaled(MOST);
    char text[400 + MOST * 120];
    int at = snprintf(text, sizeof text,
                      "program p workgroup(32) elements(256) { inout v : u32[256];\n"
                      "  scratch w : u32[256];\n");
    for (uint32_t i = 0; i < count; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "  %s[global_id.x] = %s[(global_id.x + %u) %% 256] * 5 + %u; grid_sync;\n",
                       i % 2 ? "v" : "w", i % 2 ? "w" : "v", 32 + i, i);
    }
    (void)snprintf(text + at, sizeof text - (size_t)at, "}\n");
    const vyre_dispatch_stats stats = run_both(run_parse(text));
    CHECK_EQ(stats.segments, count);
    CHECK_EQ(stats.launches, count);
    CHECK_EQ(stats.host_waits, 0);
}

/* Lanes trap in several launches of an interval, and behind it. */
TEST(traps_are_told_as_by_ref) {
    run_need("opencl");
    vyre_program *p =
        run_parse("program p workgroup(1) elements(4) { in n : u32[1]; out o : u32[4];\n"
                  "  if (global_id.x == 3) { trap(\"first\", n[0]); }\n"
                  "  if (n[0] % 2 == 0) { grid_sync; } else { o[0] = 1; }\n"
                  "  if (global_id.x <= n[0] % 4 && n[0] < 8) { trap(\"second\", 1); } grid_sync;\n"
                  "  if (global_id.x == 0) { trap(\"third\", 1); } }");
    for (uint32_t n = 0; n < 12; n++) {
        const vyre_input in = {&n, sizeof n};
        run_result got = run_program("opencl", p, &in, 1, NULL);
        run_result want = run_program("ref", p, &in, 1, NULL);
        CHECK_STATUS(got.status, VYRE_TRAP, &got.diag);
        CHECK_STR(got.diag.message, want.diag.message);
        CHECK_EQ(got.diag.line, want.diag.line);
        run_finish(&got);
        run_finish(&want);
    }
    vyre_program_release(p);
}

static const char *const halves =
    "program p workgroup(32) elements(64) { inout v : u32[64]; scratch w : u32[64];\n"
    "  w[global_id.x] = v[63 - global_id.x] / 2; grid_sync; v[global_id.x] = w[global_id.x]; }";

TEST(fixpoints_are_found) {
    run_need("opencl");
    vyre_program *p = run_parse(halves);
    uint32_t v[64];
    for (uint32_t i = 0; i < 64; i++) {
        v[i] = i * 1000;
    }
    const vyre_input in = {v, sizeof v};
    const vyre_dispatch_options options = {.has_iterations = true, .iterations = 100};
    run_result got = run_program("opencl", p, &in, 1, &options);
    run_result want = run_program("ref", p, &in, 1, &options);
    REQUIRE_OK(got.status, &got.diag);
    CHECK(run_same(&got, &want));
    CHECK(got.report.converged);
    CHECK_EQ(got.report.passes, want.report.passes);
    run_finish(&got);
    run_finish(&want);
    vyre_program_release(p);
}

/* Two passes, with a loop that depends on data. */
static vyre_status use(vyre_device *device, const vyre_program *program) {
    uint32_t v[4] = {3, 0, 0, 0};
    const vyre_input in = {v, sizeof v};
    vyre_output out = {v, sizeof v, sizeof v, true};
    const vyre_dispatch_options options = {
        .has_iterations = true, .iterations = 2, .no_optimize = true};
    return vyre_dispatch(device, program, &in, 1, &out, 1, &options, NULL, NULL);
}

TEST(nothing_leaks_whatever_call_fails) {
    run_need("opencl");
    vyre_program *p = run_parse(
        "program p workgroup(2) elements(4) { inout v : u32[4]; scratch w : u32[4];\n"
        "  while (v[0] > 0) { let mine = v[global_id.x]; grid_sync;\n"
        "    w[global_id.x] = v[3 - global_id.x] + 1; grid_sync;\n"
        "    if (global_id.x == 0) { v[0] = mine - 1; } else { v[global_id.x] += w[0]; }\n"
        "    grid_sync; } }");
    static const char *const ops[] = {"allocate", "write",  "read",  "zero", "compile_many",
                                      "launch",   "finish", "fetch", "await"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        vyre_status status = VYRE_OK;
        uint32_t n = 0;
        do {
            char uri[80];
            n++;
            (void)snprintf(uri, sizeof uri, "fault://opencl?op=%s&n=%u&mode=%s", ops[k], n,
                           n % 2 ? "once" : "lost");
            test_heap heap = {0};
            const vyre_allocator a = test_heap_allocator(&heap);
            vyre_device *device = run_open(uri, &a);
            status = use(device, p);
            vyre_device_close(device);
            CHECK_EQ(heap.live_blocks, 0);
        } while (status != VYRE_OK);
        CHECK(n > 1);
    }
    vyre_program_release(p);
}

/* Buffers beyond the largest allocation are refused by name and size before anything is allocated.
 */
TEST(a_buffer_that_is_too_large_is_named_with_its_size) {
    run_need("opencl");
    vyre_device *device = run_open("opencl", NULL);
    const uint64_t most = vyre_device_describe(device)->max_buffer_bytes;
    vyre_device_close(device);
    if (most == 0 || most / 8 + 1 > UINT32_MAX) {
        test_skip("this device has no such limit");
    }
    char text[200], bytes[32];
    const uint64_t count = most / 8 + 1, size = count * 8;
    (void)snprintf(
        text, sizeof text,
        "program p workgroup(1) elements(1) { out o : u64[1]; scratch large : u64[%llu];\n"
        "  large[0] = 1; o[0] = large[0]; }",
        (unsigned long long)count);
    (void)snprintf(bytes, sizeof bytes, "%llu bytes", (unsigned long long)size);
    vyre_program *p = run_parse(text);
    run_result got = run_program("opencl", p, NULL, 0, NULL);
    CHECK_STATUS(got.status, VYRE_LIMIT, &got.diag);
    CHECK_HAS(got.diag.message, "large");
    CHECK_HAS(got.diag.message, bytes);
    run_finish(&got);
    vyre_program_release(p);
}

static const char add_neighbours[] =
    "program p workgroup(32) elements(256) { inout v : u32[256]; scratch w : u32[256];\n"
    "  w[global_id.x] = v[(global_id.x + 33) % 256]; grid_sync;\n"
    "  v[global_id.x] = v[global_id.x] * 3 + w[(global_id.x + 65) % 256]; }";

/* What so many dispatches in a row make of v. */
static void add_on_host(uint32_t *v, uint32_t times) {
    for (uint32_t k = 0; k < times; k++) {
        uint32_t before[WORDS];
        memcpy(before, v, sizeof before);
        for (uint32_t i = 0; i < WORDS; i++) {
            v[i] = before[i] * 3 + before[(i + 65 + 33) % WORDS];
        }
    }
}

TEST(dispatches_wait_in_a_queue_of_their_own) {
    enum { EVENTS = 4 };
    run_need("opencl");
    vyre_device *device = run_open("opencl", NULL);
    vyre_pipeline *pipeline = run_compile(device, add_neighbours);
    uint32_t given[WORDS], want[WORDS], got[EVENTS][WORDS];
    vyre_output out[EVENTS];
    vyre_event *events[EVENTS] = {NULL};
    vyre_diag diag = {0};
    for (uint32_t i = 0; i < WORDS; i++) {
        given[i] = want[i] = i * 7 + 1;
    }
    add_on_host(want, 1);
    const vyre_input in = {given, sizeof given};
    for (uint32_t k = 0; k < EVENTS; k++) {
        out[k] = (vyre_output){got[k], sizeof got[k], sizeof got[k], true};
        REQUIRE_OK(
            vyre_pipeline_dispatch_async(pipeline, &in, 1, &out[k], 1, NULL, &events[k], &diag),
            &diag);
    }
    REQUIRE_OK(vyre_event_wait(events[EVENTS - 1], NULL, &diag), &diag);
    for (uint32_t k = 0; k < EVENTS; k++) { /* they were done in order */
        CHECK(vyre_event_poll(events[k]));
        CHECK_STATUS(vyre_event_wait(events[k], NULL, &diag), VYRE_OK, &diag);
        CHECK(memcmp(got[k], want, sizeof want) == 0);
        vyre_event_release(events[k]);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(a_sequence_is_its_dispatches_in_a_row) {
    run_need("opencl");
    vyre_device *device = run_open("opencl", NULL);
    vyre_pipeline *pipeline = run_compile(device, add_neighbours);
    uint32_t want[WORDS], got[WORDS] = {0};
    vyre_diag diag = {0};
    for (uint32_t i = 0; i < WORDS; i++) {
        want[i] = i * 7 + 1;
    }
    vyre_buffer *v = run_buffer(device, want, WORDS);
    const vyre_sequence_step step = {pipeline, &v, 1, NULL};
    const vyre_read_range read = {v, 0, got, sizeof got};
    const vyre_sequence sequence = {&step, &step, 1, 1, 5, &read, 1};
    vyre_sequence_report report = {0};
    add_on_host(want, 6);
    REQUIRE_OK(vyre_sequence_run(&sequence, &report, &diag), &diag);
    CHECK_EQ(report.dispatches, 6);
    CHECK_EQ(report.stats.launches, 12);
    CHECK(memcmp(got, want, sizeof want) == 0);
    vyre_buffer_destroy(v);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

/* What must run until it is cancelled runs without end: the caller goes on meanwhile. */
TEST(a_dispatch_that_does_not_end_is_cancelled) {
    run_need("opencl");
    vyre_device *device = run_open("opencl", NULL);
    vyre_pipeline *pipeline = run_compile(
        device, "program p workgroup(32) elements(64) { inout v : u32[64]; scratch on : u32[1];\n"
                "  if (global_id.x == 0) { on[0] = 1; } grid_sync;\n"
                "  while (on[0] != 0) { grid_sync; v[global_id.x] += 1; grid_sync; } }");
    uint32_t v[64] = {0};
    const vyre_input in = {v, sizeof v};
    vyre_output out[2] = {{v, sizeof v, sizeof v, true}, {v, sizeof v, sizeof v, true}};
    vyre_event *events[2] = {NULL};
    vyre_diag diag = {0};
    for (uint32_t k = 0; k < 2; k++) {
        REQUIRE_OK(
            vyre_pipeline_dispatch_async(pipeline, &in, 1, &out[k], 1, NULL, &events[k], &diag),
            &diag);
    }
    CHECK(!vyre_event_poll(events[0]) && !vyre_event_poll(events[1]));
    vyre_event_cancel(events[1]);
    CHECK_STATUS(vyre_event_wait(events[1], NULL, &diag), VYRE_CANCELLED, &diag);
    CHECK(!vyre_event_poll(events[0]));
    vyre_event_cancel(events[0]);
    CHECK_STATUS(vyre_event_wait(events[0], NULL, &diag), VYRE_CANCELLED, &diag);
    vyre_event_release(events[0]);
    vyre_event_release(events[1]);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

/* Opening a driver takes long, and on the host's processor the backend `cpu` is faster. */
TEST(it_is_taken_by_name_only) {
    run_need("opencl");
    vyre_device *by_name = run_open("opencl", NULL), *chosen = run_open("auto", NULL);
    CHECK_STR(vyre_device_describe(by_name)->backend, "opencl");
    CHECK(strcmp(vyre_device_describe(chosen)->backend, "opencl") != 0);
    vyre_device_close(by_name);
    vyre_device_close(chosen);
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_device_open(NULL, "fault://opencl?op=open", NULL, &chosen, &diag),
                 VYRE_NOT_FOUND, &diag);
    CHECK_HAS(diag.message, "a fault asked for");
}
