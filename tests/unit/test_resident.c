/* Pipelines, dispatches on buffers that stay on the device, batches and sequences. */
#include "device/builtin.h"
#include "harness/run.h"

/* y += reversed (x + by), z += reversed y: in three segments, with a value of each lane carried. */
static const char add_text[] =
    "program add workgroup(4) {\n"
    "    in    x : u32[];\n"
    "    inout y : u32[];\n"
    "    out   z : u32[len(x)];\n"
    "    scratch s : u32[len(x)];\n"
    "    param by : u32 = 1;\n"
    "    let before = y[global_id.x];\n"
    "    s[global_id.x] = s[global_id.x] + x[global_id.x] + by;\n"
    "    y[global_id.x] = 0;\n"
    "    grid_sync;\n"
    "    y[global_id.x] = before + s[len(x) - 1 - global_id.x];\n"
    "    grid_sync;\n"
    "    z[global_id.x] = z[global_id.x] + y[len(x) - 1 - global_id.x];\n"
    "}\n";

/* value rises to the limit; with a barrier, so that it can be split. */
static const char climb_text[] = "program climb workgroup(1) grid(1) {\n"
                                 "    inout value : u32[1];\n"
                                 "    scratch fresh : u32[1];\n"
                                 "    fresh[0] = fresh[0] + 1;\n"
                                 "    grid_sync;\n"
                                 "    value[0] = min(value[0] + fresh[0], 3);\n"
                                 "}\n";

static const char *const devices[] = {"ref", "ref-split"};

TEST(a_pipeline_compiles_once_and_serves_any_grid) {
    for (size_t d = 0; d < 2; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *pipeline = run_compile(device, add_text);
        uint32_t x[12], y[12];
        for (uint32_t i = 0; i < 12; i++) {
            x[i] = i;
            y[i] = 100 * i;
        }
        vyre_output out[2] = {{0}};
        vyre_dispatch_report report;
        vyre_diag diag = {0};
        static const uint32_t counts[] = {4, 12, 8, 4};
        for (size_t k = 0; k < 8; k++) {
            uint32_t n = counts[k % 4];
            vyre_input in[] = {{x, n * sizeof *x}, {y, n * sizeof *y}};
            vyre_dispatch_options o = {.path = k / 4 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST};
            REQUIRE_OK(vyre_pipeline_dispatch(pipeline, in, 2, out, 2, &o, &report, &diag), &diag);
            for (uint32_t i = 0; i < n; i++) {
                CHECK_EQ(((uint32_t *)out[0].data)[i], 100 * i + n - i);
                CHECK_EQ(((uint32_t *)out[1].data)[i], 100 * (n - 1 - i) + i + 1);
            }
            CHECK_EQ(report.times.compile, 0);
            CHECK_EQ(report.was_split, d == 1);
            CHECK_EQ(report.stats.launches, d == 1 ? 3 : 1);
            CHECK_EQ(report.stats.bytes_in, 2 * n * 4);
            CHECK_EQ(report.stats.bytes_out, 2 * n * 4);
        }
        CHECK_EQ(run_counters(device).compiles, 1);
        CHECK_EQ(run_counters(device).dispatches, 8);
        vyre_output_finish(&out[0], NULL);
        vyre_output_finish(&out[1], NULL);
        vyre_pipeline_release(vyre_pipeline_retain(pipeline));
        vyre_pipeline_release(pipeline);
        vyre_pipeline_release(NULL);
        vyre_device_close(device);
    }
}

TEST(a_pipeline_refuses_what_it_was_not_compiled_for) {
    vyre_device *device = run_open("ref", NULL);
    vyre_pipeline *pipeline = run_compile(device, climb_text);
    uint32_t value = 0;
    vyre_input in = {&value, 4};
    vyre_output out = {0};
    vyre_diag diag = {0};
    vyre_dispatch_options o = {.split = VYRE_SPLIT_ALWAYS};
    CHECK_STATUS(vyre_pipeline_dispatch(pipeline, &in, 1, &out, 1, &o, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "compiled for other options, and splitting");
    o = (vyre_dispatch_options){.workgroup = {2}};
    CHECK_STATUS(vyre_pipeline_dispatch(pipeline, &in, 1, &out, 1, &o, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "another workgroup");
    o = (vyre_dispatch_options){.workgroup = {1, 1, 1}, .split = VYRE_SPLIT_NEVER};
    CHECK_STATUS(vyre_pipeline_dispatch(pipeline, &in, 1, &out, 1, &o, NULL, &diag), VYRE_OK,
                 &diag);
    CHECK_STATUS(vyre_pipeline_dispatch(NULL, &in, 1, &out, 1, &o, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    vyre_pipeline *split = NULL;
    vyre_program *program = run_parse(climb_text);
    o = (vyre_dispatch_options){.split = VYRE_SPLIT_ALWAYS};
    REQUIRE_OK(vyre_compile(device, program, &o, &split, &diag), &diag);
    o = (vyre_dispatch_options){.split = VYRE_SPLIT_NEVER};
    CHECK_STATUS(vyre_pipeline_dispatch(split, &in, 1, &out, 1, &o, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    o = (vyre_dispatch_options){.find_races = true};
    CHECK_STATUS(vyre_pipeline_dispatch(split, &in, 1, &out, 1, &o, NULL, &diag), VYRE_UNSUPPORTED,
                 &diag);
    CHECK_STATUS(vyre_compile(NULL, program, NULL, &split, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_program_release(program);
    vyre_output_finish(&out, NULL);
    vyre_pipeline_release(split);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(resident_buffers_stay_and_nothing_is_transferred) {
    for (size_t d = 0; d < 2; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *pipeline = run_compile(device, add_text);
        const uint32_t x[4] = {1, 2, 3, 4}, y[6] = {10, 20, 30, 40, 50, 60};
        vyre_buffer *all[] = {run_buffer(device, x, 4), run_buffer(device, y, 6),
                              run_buffer(device, y, 6)};
        vyre_counters before = run_counters(device);
        vyre_dispatch_report report;
        vyre_diag diag = {0};
        for (uint32_t times = 1; times <= 3; times++) {
            vyre_setting by = {"by", VYRE_U32, 0};
            vyre_dispatch_options o = {
                .settings = &by, .setting_count = 1, .has_elements = true, .elements = 4};
            REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 3, &o, &report, &diag), &diag);
            CHECK_EQ(report.stats.bytes_in, 0);
            CHECK_EQ(report.stats.bytes_out, 0);
            CHECK_EQ(report.stats.launches, d == 1 ? 3 : 1);
            CHECK_EQ(run_counters(device).output_bytes, before.output_bytes);
            CHECK_EQ(run_counters(device).input_bytes, before.input_bytes);
            /* inout goes on, out and scratch start anew. */
            for (uint32_t i = 0; i < 4; i++) {
                CHECK_EQ(run_buffer_word(all[1], i), y[i] + times * x[3 - i]);
                CHECK_EQ(run_buffer_word(all[2], i), y[3 - i] + times * x[i]);
            }
            CHECK_EQ(run_buffer_word(all[1], 5), 60);
            CHECK_EQ(run_buffer_word(all[2], 4), 50); /* beyond the declared size: the caller's */
            before = run_counters(device);
        }
        for (size_t i = 0; i < 3; i++) {
            vyre_buffer_destroy(all[i]);
        }
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
}

TEST(resident_fixpoints_converge_as_on_the_host) {
    static const struct {
        uint32_t start, iterations, passes, result;
        bool converged;
    } cases[] = {{0, 10, 4, 3, true}, {0, 3, 3, 3, false}, {3, 5, 1, 3, true}, {0, 1, 1, 1, false}};
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        size_t i = c / 2;
        vyre_device *device = run_open(devices[c % 2], NULL);
        vyre_pipeline *pipeline = run_compile(device, climb_text);
        vyre_buffer *value = run_buffer(device, &cases[i].start, 1);
        vyre_dispatch_options o = {.has_iterations = true, .iterations = cases[i].iterations};
        vyre_dispatch_report report;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_dispatch_resident(pipeline, &value, 1, &o, &report, &diag), &diag);
        CHECK_EQ(report.passes, cases[i].passes);
        CHECK_EQ(report.converged, cases[i].converged);
        CHECK_EQ(report.stats.bytes_out, 0);
        CHECK_EQ(run_buffer_word(value, 0), cases[i].result);
        vyre_buffer_destroy(value);
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
}

TEST(resident_dispatches_refuse_wrong_buffers) {
    vyre_device *device = run_open("ref-split", NULL), *other = run_open("ref-split", NULL);
    vyre_pipeline *pipeline = run_compile(device, add_text);
    vyre_buffer *a = run_buffer(device, NULL, 4), *b = run_buffer(device, NULL, 4),
                *c = run_buffer(device, NULL, 4);
    vyre_buffer *foreign = run_buffer(other, NULL, 4), *small = run_buffer(device, NULL, 3),
                *odd = NULL;
    REQUIRE_OK(vyre_buffer_create(device, 18, &odd, NULL), NULL);
    const struct {
        vyre_buffer *buffers[4];
        uint32_t count;
        vyre_status want;
        const char *message;
    } cases[] = {
        {{a, b}, 2, VYRE_INVALID_ARGUMENT, "the buffer for \"z\" is missing"},
        {{a, b, c, a}, 4, VYRE_INVALID_ARGUMENT, "4 buffers were given"},
        {{a, NULL, c}, 3, VYRE_INVALID_ARGUMENT, "the buffer for \"y\" is missing"},
        {{a, foreign, c}, 3, VYRE_INVALID_ARGUMENT, "belongs to another device"},
        {{a, b, a}, 3, VYRE_INVALID_ARGUMENT, "\"x\" and \"z\" have the same buffer"},
        {{a, b, small}, 3, VYRE_INVALID_INPUT, "\"z\" has 16 bytes, and its buffer 12"},
        {{odd, b, c}, 3, VYRE_INVALID_INPUT, "multiple of 4"},
    };
    vyre_diag diag = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(
            vyre_dispatch_resident(pipeline, cases[i].buffers, cases[i].count, NULL, NULL, &diag),
            cases[i].want, &diag);
        CHECK_HAS(diag.message, cases[i].message);
        CHECK(diag.fix[0]);
    }
    vyre_dispatch_options none = {.has_iterations = true};
    CHECK_STATUS(vyre_dispatch_resident(pipeline, cases[0].buffers, 2, &none, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_dispatch_resident(NULL, NULL, 0, NULL, NULL, &diag), VYRE_INVALID_ARGUMENT,
                 &diag);
    CHECK_EQ(run_counters(device).launches, 0);
    vyre_buffer *all[] = {a, b, c, foreign, small, odd};
    for (size_t i = 0; i < 6; i++) {
        vyre_buffer_destroy(all[i]);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    vyre_device_close(other);
}

TEST(two_reads_of_one_buffer_are_fine_and_declared_sizes_are_minimal) {
    vyre_device *device = run_open("ref", NULL);
    vyre_pipeline *pipeline = run_compile(device, "program two workgroup(1) grid(1) {\n"
                                                  "    in a : u32[2];\n"
                                                  "    in b : u32[];\n"
                                                  "    out o : u32[2];\n"
                                                  "    o[0] = a[1] + b[1];\n"
                                                  "    o[1] = len(a) + 10 * len(b);\n"
                                                  "}\n");
    const uint32_t words[3] = {1, 2, 3};
    vyre_buffer *in = run_buffer(device, words, 3), *out = run_buffer(device, words, 3);
    vyre_buffer *all[] = {in, in, out};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 3, NULL, NULL, &diag), &diag);
    CHECK_EQ(run_buffer_word(out, 0), 4);
    CHECK_EQ(run_buffer_word(out, 1), 32);
    CHECK_EQ(run_buffer_word(out, 2), 3);
    vyre_buffer_destroy(in);
    vyre_buffer_destroy(out);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(an_indirect_grid_is_read_from_the_buffer_each_time) {
    vyre_device *device = run_open("ref", NULL);
    vyre_pipeline *pipeline = run_compile(device, "program count workgroup(1) {\n"
                                                  "    in words : u32[4];\n"
                                                  "    inout n : u32[1];\n"
                                                  "    indirect_dispatch(words, 4);\n"
                                                  "    atomic_add(n[0], 1);\n"
                                                  "}\n");
    const uint32_t words[4] = {9, 3, 2, 1};
    vyre_buffer *all[] = {run_buffer(device, words, 4), run_buffer(device, NULL, 1)};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 2, NULL, &report, &diag), &diag);
    CHECK_EQ(run_buffer_word(all[1], 0), 6);
    CHECK_EQ(report.grid[1], 2);
    REQUIRE_OK(vyre_buffer_write(all[0], 4, &(uint32_t){10}, 4, NULL), NULL);
    REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 2, NULL, &report, &diag), &diag);
    CHECK_EQ(run_buffer_word(all[1], 0), 26);
    REQUIRE_OK(vyre_buffer_write(all[0], 4, &(uint32_t){0}, 4, NULL), NULL);
    REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 2, NULL, &report, &diag), &diag);
    CHECK_EQ(run_buffer_word(all[1], 0), 26);
    CHECK_EQ(report.stats.launches, 0);
    vyre_buffer_destroy(all[0]);
    vyre_buffer_destroy(all[1]);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(batches_move_all_ranges_or_none) {
    vyre_device *device = run_open("ref", NULL);
    vyre_buffer *a = run_buffer(device, NULL, 4), *b = run_buffer(device, NULL, 4);
    vyre_diag diag = {0};
    vyre_write_range writes[] = {{a, 0, "abcd", 4}, {b, 12, "efg", 3}, {a, 2, "X", 1}};
    REQUIRE_OK(vyre_buffer_write_many(writes, 3, &diag), &diag);
    char one[5] = "", two[4] = "";
    vyre_read_range reads[] = {{b, 12, two, 3}, {a, 0, one, 4}, {a, 0, NULL, 0}};
    REQUIRE_OK(vyre_buffer_read_many(reads, 3, &diag), &diag);
    CHECK_STR(one, "abXd");
    CHECK_STR(two, "efg");
    writes[0].data = "0000";
    writes[2].offset = 16;
    CHECK_STATUS(vyre_buffer_write_many(writes, 3, &diag), VYRE_INVALID_ARGUMENT, &diag);
    reads[2] = (vyre_read_range){a, 17, one, 0};
    memset(one, '-', 4);
    CHECK_STATUS(vyre_buffer_read_many(reads, 3, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STR(one, "----");
    REQUIRE_OK(vyre_buffer_read(a, 0, one, 4, NULL), NULL);
    CHECK_STR(one, "abXd");
    CHECK_STATUS(vyre_buffer_read_many(NULL, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_buffer_write_many(NULL, 0, &diag), VYRE_OK, &diag);
    vyre_buffer_destroy(a);
    vyre_buffer_destroy(b);
    vyre_device_close(device);
}

/* Sequences: a prefix that sets, repeated steps that double and add. */
static const char set_text[] = "program set workgroup(1) grid(1) {\n"
                               "    inout v : u32[2];\n"
                               "    param to : u32 = 1;\n"
                               "    v[0] = to; v[1] = 0;\n"
                               "}\n";
static const char double_text[] = "program double workgroup(1) grid(1) {\n"
                                  "    inout v : u32[2];\n"
                                  "    scratch s : u32[1];\n"
                                  "    s[0] = s[0] + 1;\n"
                                  "    grid_sync;\n"
                                  "    v[0] = v[0] * 2; v[1] = v[1] + s[0];\n"
                                  "}\n";

TEST(a_sequence_runs_its_prefix_once_and_the_rest_k_times) {
    for (size_t d = 0; d < 2; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *set = run_compile(device, set_text),
                      *twice = run_compile(device, double_text);
        vyre_buffer *v = run_buffer(device, NULL, 2);
        vyre_setting to = {"to", VYRE_U32, 5};
        vyre_dispatch_options o = {.settings = &to, .setting_count = 1};
        vyre_sequence_step prefix = {set, &v, 1, &o};
        vyre_sequence_step repeated[] = {{twice, &v, 1, NULL}, {twice, &v, 1, NULL}};
        uint32_t first = 0, second = 0;
        vyre_read_range reads[] = {{v, 0, &first, 4}, {v, 4, &second, 4}};
        vyre_sequence q = {.prefix = &prefix,
                           .prefix_count = 1,
                           .repeated = repeated,
                           .repeated_count = 2,
                           .times = 4,
                           .reads = reads,
                           .read_count = 2};
        vyre_sequence_report report;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_sequence_run(&q, &report, &diag), &diag);
        CHECK_EQ(first, 5 << 8);
        CHECK_EQ(second, 8); /* scratch was zero each time */
        CHECK_EQ(report.dispatches, 9);
        CHECK_EQ(report.passes, 9);
        CHECK_EQ(report.stats.launches, d == 1 ? 1 + 8 * 2 : 9);
        CHECK_EQ(report.stats.bytes_out, 8);
        CHECK_EQ(report.times.device, 0); /* ref does not tell */
        CHECK(report.times.total >= report.times.run && report.times.run > 0);
        q.times = 0;
        REQUIRE_OK(vyre_sequence_run(&q, NULL, &diag), &diag);
        CHECK_EQ(first, 5);
        /* A bad step or range is found before anything runs. */
        repeated[1].buffer_count = 0;
        first = 77;
        to.bits = 9;
        CHECK_STATUS(vyre_sequence_run(&q, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
        CHECK_HAS(diag.message, "step 3 of 3: the buffer for \"v\" is missing");
        repeated[1].buffer_count = 1;
        reads[1].offset = 5;
        CHECK_STATUS(vyre_sequence_run(&q, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
        CHECK_EQ(first, 77);
        CHECK_EQ(run_buffer_word(v, 0), 5);
        CHECK_STATUS(vyre_sequence_run(NULL, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
        q = (vyre_sequence){.repeated_count = 1};
        CHECK_STATUS(vyre_sequence_run(&q, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
        q = (vyre_sequence){0};
        CHECK_STATUS(vyre_sequence_run(&q, &report, &diag), VYRE_OK, &diag);
        CHECK_EQ(report.dispatches, 0);
        vyre_buffer_destroy(v);
        vyre_pipeline_release(set);
        vyre_pipeline_release(twice);
        vyre_device_close(device);
    }
}

/* A device that tells time: every launch takes 7 ns of the device, unless told otherwise. */
static uint64_t told_ns[4];
static uint32_t told;

static vyre_status telling_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                  const vyre_launch *launch, vyre_launch_result *out_result,
                                  vyre_diag *diag) {
    (void)device, (void)kernel, (void)launch, (void)diag;
    out_result->device_ns = told_ns[told++ % 4];
    out_result->is_timed = out_result->device_ns != 0;
    return VYRE_OK;
}

static vyre_device *open_telling(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    table = *vyre_backend_null.device;
    table.launch = telling_launch;
    backend = (vyre_backend){.name = "telling", .device = &table, .open = vyre_backend_null.open};
    return run_open_backend(&backend);
}

/* 6.3 default_resident_sequence_timing_sums_step_device_times_and_reads_ranges */
TEST(device_times_are_summed_when_every_part_has_them) {
    static const struct {
        uint64_t ns[4], want;
        vyre_status status;
    } cases[] = {
        {{7, 8, 1, 1}, 17, VYRE_OK},
        {{7, 8, 0, 1}, 0, VYRE_OK},
        {{UINT64_MAX, 1, 1, 1}, 0, VYRE_LIMIT},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        vyre_device *device = open_telling();
        vyre_pipeline *set = run_compile(device, set_text);
        vyre_buffer *v = run_buffer(device, NULL, 2);
        vyre_sequence_step step = {set, &v, 1, NULL};
        vyre_sequence q = {.repeated = &step, .repeated_count = 1, .times = 4};
        vyre_sequence_report report = {.dispatches = 99};
        vyre_diag diag = {0};
        memcpy(told_ns, cases[c].ns, sizeof told_ns);
        told = 0;
        CHECK_STATUS(vyre_sequence_run(&q, &report, &diag), cases[c].status, &diag);
        if (cases[c].status == VYRE_OK) {
            CHECK_EQ(report.times.device, cases[c].want);
        } else {
            CHECK_EQ(report.dispatches, 99);
        }
        vyre_buffer_destroy(v);
        vyre_pipeline_release(set);
        vyre_device_close(device);
    }
}

TEST(a_used_pipeline_carries_nothing_over) {
    /* All lanes end at once unless v[0] is 0: then the branch must find nobody alive, whatever an
     * earlier dispatch left in the carried state. */
    static const char text[] = "program leave workgroup(2) grid(2) {\n"
                               "    inout w : u32[1];\n"
                               "    inout v : u32[4];\n"
                               "    if (v[global_id.x] != 0) { exit; }\n"
                               "    grid_sync;\n"
                               "    while (w[0] > 5) { grid_sync; w[0] = 0; grid_sync; }\n"
                               "    grid_sync;\n"
                               "    v[global_id.x] = v[global_id.x] + 1;\n"
                               "}\n";
    vyre_device *device = run_open("ref-split", NULL);
    vyre_pipeline *used = run_compile(device, text), *fresh = run_compile(device, text);
    vyre_buffer *v = run_buffer(device, NULL, 4), *w = run_buffer(device, NULL, 1);
    vyre_buffer *all[] = {w, v};
    vyre_dispatch_report first, again, fresh_again;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch_resident(used, all, 2, NULL, &first, &diag), &diag);
    CHECK_EQ(run_buffer_word(v, 3), 1);
    REQUIRE_OK(vyre_dispatch_resident(used, all, 2, NULL, &again, &diag), &diag);
    REQUIRE_OK(vyre_dispatch_resident(fresh, all, 2, NULL, &fresh_again, &diag), &diag);
    CHECK_EQ(run_buffer_word(v, 3), 1);
    CHECK(again.stats.launches < first.stats.launches);
    CHECK_EQ(again.stats.launches, fresh_again.stats.launches);
    vyre_buffer_destroy(v);
    vyre_buffer_destroy(w);
    vyre_pipeline_release(used);
    vyre_pipeline_release(fresh);
    vyre_device_close(device);
}

/* Failures */

/* Everything at once: compile, fixpoint on buffers, sequence, host bytes both ways. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the dispatch writes to it */
static vyre_status use_everything(vyre_device *device, uint32_t *slot) {
    vyre_program *program = run_parse(climb_text);
    vyre_pipeline *pipeline = NULL;
    vyre_buffer *value = NULL;
    vyre_diag diag = {0};
    vyre_dispatch_options o = {.has_iterations = true, .iterations = 9};
    vyre_status status = vyre_compile(device, program, NULL, &pipeline, &diag);
    if (status == VYRE_OK) {
        status = vyre_buffer_create(device, 4, &value, &diag);
    }
    if (status == VYRE_OK) {
        status = vyre_dispatch_resident(pipeline, &value, 1, &o, NULL, &diag);
    }
    if (status == VYRE_OK) {
        vyre_sequence_step step = {pipeline, &value, 1, NULL};
        uint32_t word;
        vyre_read_range read = {value, 0, &word, 4};
        vyre_sequence q = {
            .repeated = &step, .repeated_count = 1, .times = 2, .reads = &read, .read_count = 1};
        status = vyre_sequence_run(&q, NULL, &diag);
    }
    if (status == VYRE_OK) {
        vyre_input in = {&(uint32_t){0}, 4};
        vyre_output out = {slot, 4, 4, false};
        o.path = VYRE_PATH_RESIDENT;
        status = vyre_pipeline_dispatch(pipeline, &in, 1, &out, 1, &o, NULL, &diag);
    }
    CHECK(status == VYRE_OK || diag.message[0]);
    vyre_buffer_destroy(value);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    return status;
}

static vyre_status use_and_reopen(vyre_device *device, void *user) {
    (void)user;
    uint32_t slot = 42;
    vyre_status status = use_everything(device, &slot);
    CHECK_EQ(slot, status == VYRE_OK ? 3 : 42);
    CHECK_EQ(vyre_device_is_lost(device), status == VYRE_DEVICE_LOST);
    CHECK_EQ(vyre_device_reopen(device, NULL), VYRE_OK);
    CHECK_STATUS(use_everything(device, &slot), VYRE_OK, NULL);
    return status;
}

TEST(every_failing_entry_leaks_nothing_and_leaves_slots_alone) {
    run_every_fault("ref-split", use_and_reopen, NULL);
}

static vyre_status use_with(const vyre_allocator *a, void *user) {
    vyre_device *device = NULL;
    uint32_t slot = 42;
    vyre_status status = vyre_device_open(NULL, user, a, &device, NULL);
    if (status == VYRE_OK) {
        status = use_everything(device, &slot);
        CHECK_EQ(slot, status == VYRE_OK ? 3 : 42);
        vyre_device_close(device);
    }
    return status;
}

TEST(every_failing_allocation_leaks_nothing_and_leaves_slots_alone) {
    char native[] = "ref", split[] = "ref-split";
    CHECK(test_every_allocation(use_with, native, 400) > 20);
    CHECK(test_every_allocation(use_with, split, 400) > 20);
}

typedef struct worker {
    vyre_pipeline *pipeline;
    bool right;
} worker;

static void *work(void *user) {
    worker *w = user;
    vyre_output out = {0};
    w->right = true;
    for (uint32_t i = 0; i < 20; i++) {
        vyre_input in = {&i, 4};
        vyre_dispatch_options o = {.has_iterations = true, .iterations = 9};
        vyre_status status = vyre_pipeline_dispatch(w->pipeline, &in, 1, &out, 1, &o, NULL, NULL);
        w->right = w->right && status == VYRE_OK && *(uint32_t *)out.data == 3;
    }
    vyre_output_finish(&out, NULL);
    return NULL;
}

TEST(one_pipeline_serves_several_threads) {
    vyre_device *device = run_open("ref-split", NULL);
    worker all[4];
    vyre_pipeline *pipeline = run_compile(device, climb_text);
    for (int i = 0; i < 4; i++) {
        all[i] = (worker){pipeline, false};
    }
    test_in_threads(work, all, sizeof *all);
    for (int i = 0; i < 4; i++) {
        CHECK(all[i].right);
    }
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

/* Each thread has a pipeline and an output of its own; all read the same buffer. */
typedef struct reader {
    vyre_pipeline *pipeline;
    vyre_buffer *buffers[2];
    bool right;
} reader;

static void *read_it(void *user) {
    reader *r = user;
    r->right = true;
    for (uint32_t i = 0; i < 20; i++) {
        vyre_status status = vyre_dispatch_resident(r->pipeline, r->buffers, 2, NULL, NULL, NULL);
        r->right = r->right && status == VYRE_OK;
    }
    return NULL;
}

TEST(threads_may_read_one_buffer) {
    static const char text[] = "program twice workgroup(1) grid(1) {\n"
                               "    in x : u32[1];\n"
                               "    inout y : u32[1];\n"
                               "    y[0] = y[0] + 2 * x[0];\n"
                               "}\n";
    vyre_device *device = run_open("ref-split", NULL);
    vyre_buffer *x = run_buffer(device, &(uint32_t){21}, 1);
    reader all[4];
    for (int i = 0; i < 4; i++) {
        all[i] = (reader){run_compile(device, text), {x, run_buffer(device, NULL, 1)}, false};
    }
    test_in_threads(read_it, all, sizeof *all);
    for (int i = 0; i < 4; i++) {
        CHECK(all[i].right);
        CHECK_EQ(run_buffer_word(all[i].buffers[1], 0), 20 * 42);
        vyre_buffer_destroy(all[i].buffers[1]);
        vyre_pipeline_release(all[i].pipeline);
    }
    vyre_buffer_destroy(x);
    vyre_device_close(device);
}

/* A device whose buffers are small. */
static void narrow_describe(vyre_backend_device *device, vyre_device_info *out_info) {
    vyre_backend_ref_split.device->describe(device, out_info);
    out_info->max_buffer_bytes = 64;
}

static vyre_device *open_narrow(void) {
    static vyre_device_table table;
    static vyre_backend backend;
    table = *vyre_backend_ref_split.device;
    table.describe = narrow_describe;
    backend =
        (vyre_backend){.name = "narrow", .device = &table, .open = vyre_backend_ref_split.open};
    return run_open_backend(&backend);
}

TEST(what_is_carried_is_refused_before_anything_runs) {
    static const char text[] = "program carry workgroup(64) grid(1) {\n"
                               "    inout v : u32[2];\n"
                               "    let mine = v[local_id.x & 1] + global_id.x;\n"
                               "    if (global_id.x < 2) { v[global_id.x] = 0; }\n"
                               "    grid_sync;\n"
                               "    if (mine == 70) { v[0] = mine; }\n"
                               "}\n";
    vyre_device *device = open_narrow();
    vyre_program *program = run_parse(text);
    vyre_pipeline *set = run_compile(device, set_text), *carry = run_compile(device, text);
    vyre_buffer *v = run_buffer(device, NULL, 2);
    vyre_sequence_step steps[] = {{set, &v, 1, NULL}, {carry, &v, 1, NULL}};
    vyre_sequence q = {.repeated = steps, .repeated_count = 2, .times = 1};
    uint32_t words[2] = {7, 7};
    vyre_input in = {words, sizeof words};
    vyre_output out = {0};
    vyre_diag diag = {0};
    uint64_t moved = run_counters(device).input_bytes;
    CHECK_STATUS(vyre_sequence_run(&q, NULL, &diag), VYRE_LIMIT, &diag);
    CHECK_HAS(diag.message,
              "step 2 of 2: what is alive across the grid barriers of carry needs 256 bytes");
    CHECK_STATUS(vyre_dispatch(device, program, &in, 1, &out, 1, NULL, NULL, &diag), VYRE_LIMIT,
                 &diag);
    CHECK(diag.fix[0] && !out.data);
    CHECK_EQ(run_counters(device).input_bytes, moved);
    CHECK_STATUS(vyre_dispatch_resident(carry, &v, 1, NULL, NULL, &diag), VYRE_LIMIT, &diag);
    const vyre_dispatch_options o = {.path = VYRE_PATH_RESIDENT};
    CHECK_STATUS(vyre_pipeline_dispatch(carry, &in, 1, &out, 1, &o, NULL, &diag), VYRE_LIMIT,
                 &diag);
    CHECK(diag.fix[0] && !out.data);
    CHECK_EQ(run_counters(device).launches, 0);
    CHECK_EQ(run_buffer_word(v, 0), 0);
    vyre_program_release(program);
    vyre_buffer_destroy(v);
    vyre_pipeline_release(set);
    vyre_pipeline_release(carry);
    vyre_device_close(device);
}
