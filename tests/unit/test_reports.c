/* What a dispatch says about itself, on a device that does as it is told: how often the host
 * waited, what was skipped and carried, where the time went; and that nothing is begun after it was
 * cancelled. */
#include "device/builtin.h"
#include "harness/run.h"

/* ref-split with a `finish`. Its launches take the times of a list, one of them is followed by a
 * request to cancel, and one fails. */
enum { NOT_TOLD = 9999 };
static struct {
    uint64_t ns[8];
    uint32_t launches, finished;
    uint32_t cancel_at, fail_at; /* number of the launch from 1; 0: never */
    vyre_cancel cancel;
} told;

static vyre_status told_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                               const vyre_launch *launch, vyre_launch_result *out_result,
                               vyre_diag *diag) {
    uint32_t number = ++told.launches;
    if (number == told.fail_at) {
        return VYRE_DEVICE_FAILED;
    }
    vyre_status status =
        vyre_backend_ref_split.device->launch(device, kernel, launch, out_result, diag);
    out_result->device_ns = told.ns[(number - 1) % 8];
    out_result->is_timed = out_result->device_ns != NOT_TOLD;
    if (number == told.cancel_at) {
        vyre_cancel_request(&told.cancel);
    }
    return status;
}

static vyre_status told_finish(vyre_backend_device *device, uint64_t pass,
                               vyre_launch_results *results, vyre_diag *diag) {
    (void)device, (void)pass, (void)results, (void)diag;
    told.finished++;
    return VYRE_OK;
}

static vyre_device *open_told(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    memset(&told, 0, sizeof told);
    table = *vyre_backend_ref_split.device;
    table.launch = told_launch;
    table.finish = told_finish;
    backend = (vyre_backend){.name = "told", .device = &table, .open = vyre_backend_ref_split.open};
    return run_open_backend(&backend);
}

/* Barriers around and in a loop that is decided on the device; t is carried by each lane. */
static const char loop_text[] = "program rounds workgroup(2) grid(2) {\n"
                                "    inout v : u32[4];\n"
                                "    let t = v[global_id.x];\n"
                                "    v[global_id.x] = 0;\n"
                                "    grid_sync;\n"
                                "    while (v[0] < 3) {\n"
                                "        grid_sync;\n"
                                "        v[3 - global_id.x] = v[3 - global_id.x] + 1;\n"
                                "        grid_sync;\n"
                                "    }\n"
                                "    grid_sync;\n"
                                "    v[global_id.x] = v[global_id.x] + t;\n"
                                "}\n";
static const char plain_text[] = "program plain workgroup(2) grid(2) {\n"
                                 "    inout v : u32[4];\n"
                                 "    v[global_id.x] = min(v[global_id.x] + 1, 3);\n"
                                 "}\n";

static vyre_status dispatch(vyre_device *device, const char *text, const vyre_dispatch_options *o,
                            vyre_dispatch_report *report, vyre_diag *diag) {
    vyre_program *program = run_parse(text);
    uint32_t v[4] = {0, 1, 2, 3};
    vyre_input in = {v, sizeof v};
    vyre_output out = {0};
    vyre_status status = vyre_dispatch(device, program, &in, 1, &out, 1, o, report, diag);
    CHECK_EQ(out.data != NULL, status == VYRE_OK);
    vyre_output_finish(&out, NULL);
    vyre_program_release(program);
    return status;
}

TEST(waits_of_the_host_are_counted) {
    /* A fixpoint adds one for each buffer that it compares, a scalar that is loaded one for its
     * element: the loop is asked three times to go on and once to end. */
    static const struct {
        const char *text;
        uint32_t iterations;
        uint64_t waits;
    } cases[] = {{plain_text, 0, 0}, {plain_text, 2, 2}, {plain_text, 9, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_device *device = open_told();
        vyre_dispatch_options o = {.has_iterations = cases[c].iterations > 0,
                                   .iterations = cases[c].iterations};
        vyre_dispatch_report report;
        REQUIRE_OK(dispatch(device, cases[c].text, &o, &report, NULL), NULL);
        CHECK_EQ(report.stats.host_waits, cases[c].waits);
        CHECK_EQ(run_counters(device).host_waits, cases[c].waits);
        vyre_device_close(device);
    }
    vyre_device *device = open_told();
    vyre_dispatch_report report;
    REQUIRE_OK(dispatch(device, loop_text, NULL, &report, NULL), NULL);
    CHECK_EQ(report.stats.host_waits, 4);
    vyre_device_close(device);
}

TEST(an_indirect_grid_is_a_wait_and_is_reported) {
    static const char text[] = "program count workgroup(1) {\n"
                               "    in words : u32[3];\n"
                               "    inout n : u32[1];\n"
                               "    indirect_dispatch(words, 0);\n"
                               "    atomic_add(n[0], 1);\n"
                               "}\n";
    vyre_device *device = open_told();
    vyre_program *program = run_parse(text);
    uint32_t words[3] = {2, 3, 1}, zero = 0;
    vyre_input in[] = {{words, sizeof words}, {&zero, sizeof zero}};
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_output out = {0};
        vyre_dispatch_options o = {.path = (vyre_path)path};
        vyre_dispatch_report report;
        REQUIRE_OK(vyre_dispatch(device, program, in, 2, &out, 1, &o, &report, NULL), NULL);
        CHECK_EQ(report.grid[0], 2);
        CHECK_EQ(report.grid[1], 3);
        CHECK_EQ(report.stats.host_waits, path == VYRE_PATH_RESIDENT ? 1 : 0);
        vyre_output_finish(&out, NULL);
    }
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(nothing_is_begun_after_it_was_cancelled) {
    static const struct {
        const char *text;
        uint32_t iterations, cancel_at, launches;
    } cases[] = {
        {plain_text, 0, 1, 1}, /* noticed at the end, though all has run */
        {plain_text, 9, 2, 2}, /* before the next pass */
        {loop_text, 0, 1, 1},  /* before the next segment */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_device *device = open_told();
        told.cancel_at = cases[c].cancel_at;
        vyre_dispatch_options o = {.has_iterations = cases[c].iterations > 0,
                                   .iterations = cases[c].iterations,
                                   .cancel = &told.cancel};
        vyre_diag diag = {0};
        CHECK_STATUS(dispatch(device, cases[c].text, &o, NULL, &diag), VYRE_CANCELLED, &diag);
        CHECK_EQ(told.launches, cases[c].launches);
        vyre_device_close(device);
    }
}

TEST(what_was_launched_is_waited_for_also_after_a_failure) {
    vyre_device *device = open_told();
    told.fail_at = 2;
    vyre_diag diag = {0};
    CHECK_STATUS(dispatch(device, loop_text, NULL, NULL, &diag), VYRE_DEVICE_FAILED, &diag);
    CHECK_EQ(told.launches, 2);
    CHECK_EQ(told.finished, 1);
    vyre_device_close(device);
}

TEST(device_time_is_known_if_every_launch_tells_it) {
    static const struct {
        const char *text;
        uint64_t ns[8];
        uint32_t iterations;
        bool is_known;
    } cases[] = {
        {plain_text, {7, 8, 1, 1, 1, 1, 1, 1}, 2, true},
        {plain_text, {7, NOT_TOLD}, 2, false},
        {plain_text, {NOT_TOLD, 7}, 2, false},
        {loop_text, {1, 1, 1, 1, 1, 1, 1, 1}, 0, true},
        {loop_text, {7, NOT_TOLD, 7, 7, 7, 7, 7, 7}, 0, false},
        {loop_text, {0}, 0, true}, /* 0 ns are a time */
        {plain_text, {0}, 2, true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_device *device = open_told();
        memcpy(told.ns, cases[c].ns, sizeof told.ns);
        vyre_dispatch_options o = {.has_iterations = cases[c].iterations > 0,
                                   .iterations = cases[c].iterations};
        vyre_dispatch_report report;
        REQUIRE_OK(dispatch(device, cases[c].text, &o, &report, NULL), NULL);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < told.launches; i++) {
            sum += told.ns[i % 8];
        }
        CHECK_EQ(report.times.device, cases[c].is_known ? sum : 0);
        CHECK_EQ(report.times.knows_device, cases[c].is_known);
        vyre_device_close(device);
    }
}

/* Over the segments of one pass, and over passes. */
TEST(device_times_that_do_not_fit_are_an_error) {
    static const char *const texts[] = {loop_text, plain_text};
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++) {
        vyre_device *device = open_told();
        for (int i = 0; i < 8; i++) {
            told.ns[i] = INT64_MAX;
        }
        vyre_dispatch_options o = {.has_iterations = true, .iterations = 3};
        vyre_dispatch_report report = {.passes = 99};
        vyre_diag diag = {0};
        CHECK_STATUS(dispatch(device, texts[c], &o, &report, &diag), VYRE_LIMIT, &diag);
        CHECK_EQ(report.passes, 99);
        CHECK(strstr(diag.message, "device times"));
        vyre_device_close(device);
    }
}

TEST(every_part_of_a_dispatch_has_its_time) {
    for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
        vyre_dispatch_options o = {.path = (vyre_path)path};
        vyre_device *device = open_told(), *waits_inside = run_open("ref-split", NULL);
        vyre_dispatch_report report;
        REQUIRE_OK(dispatch(device, loop_text, &o, &report, NULL), NULL);
        const vyre_dispatch_times *t = &report.times;
        CHECK(t->compile > 0 && t->alloc > 0 && t->upload > 0 && t->run > 0 && t->download > 0);
        CHECK(t->total >= t->compile + t->alloc + t->upload + t->run + t->download);
        CHECK(t->enqueue > 0 && t->wait > 0 && t->enqueue + t->wait <= t->run);
        /* Without `finish` a launch is also the wait for it. */
        REQUIRE_OK(dispatch(waits_inside, loop_text, &o, &report, NULL), NULL);
        CHECK_EQ(report.times.enqueue + report.times.wait, 0);
        vyre_device_close(device);
        vyre_device_close(waits_inside);
    }
}

/* A sequence reports the sums; a segment without effect is skipped in each. */
TEST(a_sequence_sums_what_its_steps_report) {
    static const char text[] = "program skip workgroup(2) grid(2) {\n"
                               "    inout v : u32[4];\n"
                               "    let t = v[global_id.x];\n"
                               "    v[global_id.x] = 0;\n"
                               "    grid_sync;\n"
                               "    grid_sync;\n"
                               "    v[3 - global_id.x] = t;\n"
                               "}\n";
    vyre_device *device = open_told();
    vyre_program *program = run_parse(text);
    vyre_pipeline *pipeline = NULL;
    vyre_dispatch_options keep = {.no_optimize = true};
    REQUIRE_OK(vyre_compile(device, program, &keep, &pipeline, NULL), NULL);
    vyre_buffer *v = run_buffer(device, (const uint32_t[]){1, 2, 3, 4}, 4);
    vyre_dispatch_report one;
    REQUIRE_OK(vyre_dispatch_resident(pipeline, &v, 1, &keep, &one, NULL), NULL);
    CHECK_EQ(one.stats.skipped_launches, 1);
    CHECK_EQ(one.stats.sync_points, 2);
    CHECK(one.stats.carried_bytes > 0);
    CHECK_EQ(run_counters(device).skipped_launches, one.stats.skipped_launches);
    vyre_sequence_step step = {pipeline, &v, 1, &keep};
    uint32_t word = 0;
    vyre_read_range read = {v, 0, &word, 4};
    vyre_sequence q = {
        .repeated = &step, .repeated_count = 1, .times = 3, .reads = &read, .read_count = 1};
    vyre_sequence_report sum;
    REQUIRE_OK(vyre_sequence_run(&q, &sum, NULL), NULL);
    CHECK_EQ(word, 1); /* turned around four times */
    CHECK_EQ(sum.dispatches, 3);
    CHECK_EQ(sum.stats.launches, 3 * one.stats.launches);
    CHECK_EQ(sum.stats.skipped_launches, 3 * one.stats.skipped_launches);
    CHECK_EQ(sum.stats.host_waits, 3 * one.stats.host_waits);
    CHECK_EQ(sum.stats.carried_bytes, 3 * one.stats.carried_bytes);
    CHECK_EQ(sum.stats.segments, 3 * one.stats.segments);
    CHECK_EQ(sum.stats.sync_points, 3 * one.stats.sync_points);
    CHECK_EQ(sum.stats.steps, 3 * one.stats.steps);
    CHECK_EQ(sum.stats.bytes_out, 4);
    CHECK(sum.times.download > 0 && sum.times.run > 0 && sum.times.total >= sum.times.run);
    vyre_buffer_destroy(v);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(transfers_of_buffers_are_traffic_of_the_device) {
    vyre_device *device = run_open("ref", NULL);
    vyre_buffer *v = run_buffer(device, (const uint32_t[]){1, 2, 3}, 3);
    CHECK_EQ(run_counters(device).input_bytes, 12);
    CHECK_EQ(run_buffer_word(v, 2), 3);
    CHECK_EQ(run_counters(device).output_bytes, 4);
    vyre_buffer_destroy(v);
    vyre_device_close(device);
}
