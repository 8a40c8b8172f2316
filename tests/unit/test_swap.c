/* swap: two buffers exchange what they hold. Each program gives the same words on every backend, on
 * both paths, launched ahead or not; in a split schedule no bytes move, and buffers that stay on
 * the device have in the end what their names say. */
#include "harness/run.h"

static const char *const devices[] = {"ref", "ref-split", "ref-split://turn_loops=1",
                                      "ref-schedule", "cpu"};
enum { DEVICES = sizeof devices / sizeof *devices };

#define WORDS(...)                                                                                 \
    (const uint32_t[]){__VA_ARGS__}, (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4)

/* All outputs, one after another. `n` is the param of that name, if the program has it. */
static void expect(int line, const char *text, const vyre_input *inputs, uint32_t input_count,
                   vyre_dispatch_options o, const uint32_t *want, uint32_t count) {
    vyre_program *p = run_parse(text);
    for (int i = 0; i < DEVICES * 6; i++) {
        const char *device = devices[i / 6];
        o.path = i % 2 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST;
        o.ahead = (uint32_t[]){0, 1, 8}[i % 6 / 2];
        run_result r = run_program(device, p, inputs, input_count, &o);
        REQUIRE_OK(r.status, &r.diag);
        for (uint32_t w = 0, out = 0, at = 0; w < count; w++, at++) {
            while (at == r.outputs[out].size / 4) {
                out++;
                at = 0;
            }
            if (run_word(&r, out, at) != want[w]) {
                test_fail(__FILE__, line, "%s, path %d, %u ahead: word %u is %u, not %u\n%s",
                          device, (int)o.path, o.ahead, w, run_word(&r, out, at), want[w], text);
                test_stop();
            }
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}
#define NOTHING                                                                                    \
    (vyre_dispatch_options) {                                                                      \
        0                                                                                          \
    }

static const char rotate[] = "program p workgroup(2) elements(len(a)) {\n"
                             "    inout a : u32[]; scratch b : u32[len(a)]; param n : u32;\n"
                             "    for (i in 0 .. n) {\n"
                             "        b[global_id.x] = a[(global_id.x + 1) % len(a)] + 10;\n"
                             "        swap(a, b);\n"
                             "    }\n"
                             "}\n";

TEST(odd_and_even_numbers_of_swaps) {
    const uint32_t a[] = {0, 1, 2, 3};
    for (uint32_t n = 0; n < 6; n++) {
        vyre_setting setting = {"n", VYRE_U32, n};
        uint32_t want[4];
        for (uint32_t i = 0; i < 4; i++) {
            want[i] = (i + n) % 4 + 10 * n;
        }
        expect(__LINE__, rotate, &(vyre_input){a, sizeof a}, 1,
               (vyre_dispatch_options){.settings = &setting, .setting_count = 1}, want, 4);
    }
}

TEST(three_go_round) {
    const uint32_t a[] = {1, 2}, b[] = {3, 4};
    const vyre_input in[] = {{a, 8}, {b, 8}};
    expect(__LINE__,
           "program p workgroup(1) elements(2) { inout a : u32[2]; inout b : u32[2];\n"
           "  out c : u32[2]; c[global_id.x] = 5 + global_id.x; swap(a, b); swap(b, c);\n"
           "  a[global_id.x] += 100; swap(b, b); swap(a, b); }",
           in, 2, NOTHING, WORDS(5, 6, 103, 104, 1, 2));
}

TEST(the_schedule_reads_what_a_name_holds_now) {
    /* more[0] is a scalar of the schedule, which loads it in each trip. */
    const uint32_t more[] = {3}, next[] = {0};
    const vyre_input in[] = {{more, 4}, {next, 4}};
    expect(__LINE__,
           "program p workgroup(2) elements(4) { inout more : u32[1]; inout next : u32[1];\n"
           "  out trips : u32[4];\n"
           "  while (more[0] > 0) { trips[global_id.x] += 1;\n"
           "    if (global_id.x == 2) { next[0] = more[0] - 1; } swap(more, next); } }",
           in, 2, NOTHING, WORDS(0, 1, 3, 3, 3, 3));
}

TEST(swaps_under_conditions) {
    const uint32_t a[] = {1, 2, 3, 4};
    expect(
        __LINE__,
        "program p workgroup(2) elements(4) { inout a : u32[4]; out b : u32[4];\n"
        "  let x = a[global_id.x];\n"
        "  for (i in 0 .. 5) { if (a[1] % 2 == 0) { swap(a, b); b[global_id.x] += i; }\n"
        "    else { grid_sync; a[global_id.x] += x; grid_sync; b[global_id.x] += 10; grid_sync; }\n"
        "    if (a[0] == 0) { swap(b, a); grid_sync; a[global_id.x] += 1; grid_sync; } } }",
        &(vyre_input){a, sizeof a}, 1, NOTHING, WORDS(6, 11, 16, 21, 40, 40, 40, 40));
}

TEST(a_swap_happens_if_a_lane_comes_to_it) {
    const uint32_t a[] = {1, 2, 3, 4};
    expect(__LINE__,
           "program p workgroup(2) elements(4) { inout a : u32[4]; out b : u32[4];\n"
           "  if (a[global_id.x] != 3) { exit; } swap(a, b); b[0] = 9; }",
           &(vyre_input){a, sizeof a}, 1, NOTHING, WORDS(0, 0, 0, 0, 9, 2, 3, 4));
    expect(__LINE__,
           "program p workgroup(2) elements(4) { inout a : u32[4]; out b : u32[4];\n"
           "  if (a[global_id.x] != 30) { exit; } swap(a, b); b[0] = 9; }",
           &(vyre_input){a, sizeof a}, 1, NOTHING, WORDS(1, 2, 3, 4, 0, 0, 0, 0));
}

TEST(collectives_copy_what_a_name_holds_now) {
    const uint32_t a[] = {1, 2};
    expect(__LINE__,
           "program p workgroup(1) elements(2) { inout a : u32[2]; out b : u32[2];\n"
           "  out c : u32[2]; b[global_id.x] = 7; swap(a, b); all_gather(b, c);\n"
           "  c[global_id.x] += 1; all_gather(c, a); swap(a, b); }",
           &(vyre_input){a, sizeof a}, 1, NOTHING, WORDS(1, 2, 2, 3, 2, 3));
}

TEST(arguments_of_functions_are_swapped) {
    const uint32_t a[] = {1, 2}, b[] = {3, 4};
    const vyre_input in[] = {{a, 8}, {b, 8}};
    expect(__LINE__,
           "program p workgroup(1) elements(2) { inout a : u32[2]; inout b : u32[2];\n"
           "  scratch s : u32[2];\n"
           "  fn exchange(x : inout u32[], y : inout u32[]) { swap(x, y); x[global_id.x] += 10; }\n"
           "  exchange(a, b); exchange(b, s); exchange(s, s); exchange(a, s); }",
           in, 2, NOTHING, WORDS(21, 22, 10, 10));
}

TEST(fixpoints_compare_names) {
    /* Another storage each pass, the same values from the third on. */
    const char *text =
        "program p workgroup(1) elements(2) { inout a : u32[2]; scratch b : u32[2];\n"
        "  b[global_id.x] = min(a[global_id.x] + 1, 3); swap(a, b); }";
    const uint32_t a[] = {1, 2};
    expect(__LINE__, text, &(vyre_input){a, 8}, 1,
           (vyre_dispatch_options){.has_iterations = true, .iterations = 9}, WORDS(3, 3));
    vyre_program *p = run_parse(text);
    for (int i = 0; i < DEVICES * 2; i++) {
        vyre_dispatch_options o = {.has_iterations = true,
                                   .iterations = 9,
                                   .path = i % 2 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST};
        run_result r = run_program(devices[i / 2], p, &(vyre_input){a, 8}, 1, &o);
        REQUIRE_OK(r.status, &r.diag);
        CHECK_EQ(r.report.passes, 3);
        CHECK(r.report.converged);
        run_finish(&r);
    }
    vyre_program_release(p);
    /* Two that change places never come to rest, unless they are equal. */
    const uint32_t x[] = {1}, y[] = {2};
    const vyre_input in[] = {{x, 4}, {y, 4}}, same[] = {{x, 4}, {x, 4}};
    p = run_parse("program p workgroup(1) grid(1) { inout x : u32[1]; inout y : u32[1];\n"
                  "  swap(x, y); }");
    for (int i = 0; i < DEVICES * 2; i++) {
        vyre_dispatch_options o = {.has_iterations = true,
                                   .iterations = 5,
                                   .path = i % 2 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST};
        run_result r = run_program(devices[i / 2], p, in, 2, &o);
        REQUIRE_OK(r.status, &r.diag);
        CHECK_EQ(r.report.passes, 5);
        CHECK(!r.report.converged);
        CHECK_EQ(run_word(&r, 0, 0), 2);
        run_finish(&r);
        r = run_program(devices[i / 2], p, same, 2, &o);
        CHECK(r.report.converged);
        run_finish(&r);
    }
    vyre_program_release(p);
}

TEST(no_bytes_move) {
    const uint32_t a[64] = {1};
    vyre_setting n = {"n", VYRE_U32, 1001};
    vyre_dispatch_options o = {.settings = &n, .setting_count = 1};
    vyre_device *device = run_open("ref-split", NULL);
    vyre_pipeline *pipeline = run_compile(device, rotate);
    vyre_output out = {0};
    vyre_dispatch_report report;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_pipeline_dispatch(pipeline, &(vyre_input){a, sizeof a}, 1, &out, 1, &o, &report,
                                      &diag),
               &diag);
    CHECK_EQ(report.stats.bytes_in, sizeof a);
    CHECK_EQ(report.stats.bytes_out, sizeof a);
    CHECK_EQ(report.stats.sync_points, 1001);
    CHECK_EQ(report.stats.launches, 1001);
    vyre_output_finish(&out, NULL);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
}

TEST(buffers_exchange_their_memory) {
    for (int d = 0; d < DEVICES; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *pipeline = run_compile(device, rotate);
        const uint32_t words[4] = {0, 1, 2, 3};
        vyre_buffer *a = run_buffer(device, words, 4);
        vyre_counters before = run_counters(device);
        vyre_setting n = {"n", VYRE_U32, 1};
        vyre_dispatch_options o = {.settings = &n, .setting_count = 1};
        vyre_diag diag = {0};
        for (uint32_t times = 1; times <= 4; times++) {
            REQUIRE_OK(vyre_dispatch_resident(pipeline, &a, 1, &o, NULL, &diag), &diag);
            for (uint32_t i = 0; i < 4; i++) {
                CHECK_EQ(run_buffer_word(a, i), (i + times) % 4 + 10 * times);
            }
        }
        CHECK_EQ(run_counters(device).input_bytes, before.input_bytes);
        vyre_buffer_destroy(a);
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
}

TEST(longer_buffers_keep_their_rest) {
    for (int d = 0; d < DEVICES; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *pipeline =
            run_compile(device, "program p workgroup(1) elements(2) { inout a : u32[2];\n"
                                "  out b : u32[2]; inout c : u32[2];\n"
                                "  b[global_id.x] = 9; swap(a, b); swap(b, c); }");
        const uint32_t words[4] = {1, 2, 3, 4};
        vyre_buffer *all[] = {run_buffer(device, words, 4), run_buffer(device, words, 3),
                              run_buffer(device, words, 2)};
        vyre_diag diag = {0};
        for (uint32_t times = 0; times < 2; times++) {
            REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 3, NULL, NULL, &diag), &diag);
        }
        const uint32_t want[3][4] = {{9, 9, 3, 4}, {1, 2, 3}, {9, 9}};
        for (uint32_t b = 0; b < 3; b++) {
            for (uint32_t i = 0; i < vyre_buffer_size(all[b]) / 4; i++) {
                CHECK_EQ(run_buffer_word(all[b], i), want[b][i]);
            }
            vyre_buffer_destroy(all[b]);
        }
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
}

TEST(sequences_follow_the_memory) {
    for (int d = 0; d < DEVICES; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *turn = run_compile(device, rotate),
                      *add = run_compile(device, "program add workgroup(4) { inout v : u32[];\n"
                                                 "  in w : u32[];\n"
                                                 "  v[global_id.x] += w[global_id.x]; }"),
                      *change = run_compile(device, "program change workgroup(4) elements(4) {\n"
                                                    "  inout v : u32[]; inout w : u32[];\n"
                                                    "  swap(v, w); }");
        const uint32_t words[4] = {0, 1, 2, 3};
        vyre_buffer *v = run_buffer(device, words, 4), *w = run_buffer(device, NULL, 4);
        vyre_buffer *both[] = {v, w}, *back[] = {w, v};
        vyre_setting n = {"n", VYRE_U32, 1};
        vyre_dispatch_options o = {.settings = &n, .setting_count = 1};
        vyre_sequence_step steps[] = {
            {turn, &v, 1, &o}, {change, both, 2, NULL}, {add, back, 2, NULL}, {turn, &w, 1, &o}};
        vyre_sequence q = {.repeated = steps, .repeated_count = 4, .times = 3};
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_sequence_run(&q, NULL, &diag), &diag);
        uint32_t x[4] = {0, 1, 2, 3}, y[4] = {0}, was[4];
        for (int times = 0; times < 3; times++) {
            memcpy(was, x, sizeof was); /* turn(v); change(v, w) */
            memcpy(x, y, sizeof x);
            for (uint32_t i = 0; i < 4; i++) {
                y[i] = was[(i + 1) % 4] + 10;
            }
            for (uint32_t i = 0; i < 4; i++) { /* add(w, v); turn(w) */
                was[i] = y[i] + x[i];
            }
            for (uint32_t i = 0; i < 4; i++) {
                y[i] = was[(i + 1) % 4] + 10;
            }
        }
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_EQ(run_buffer_word(v, i), x[i]);
            CHECK_EQ(run_buffer_word(w, i), y[i]);
        }
        vyre_buffer_destroy(v);
        vyre_buffer_destroy(w);
        vyre_pipeline_release(turn);
        vyre_pipeline_release(add);
        vyre_pipeline_release(change);
        vyre_device_close(device);
    }
}

/* A pass that exchanged memory with scratch, then one that fails: buffers are whole. */
TEST(a_later_pass_that_fails_leaves_buffers_usable) {
    for (int d = 0; d < DEVICES; d++) {
        vyre_device *device = run_open(devices[d], NULL);
        vyre_pipeline *pipeline =
            run_compile(device, "program p workgroup(1) elements(2) { inout a : u32[2];\n"
                                "  scratch b : u32[2]; b[global_id.x] = a[global_id.x] + 1;\n"
                                "  swap(a, b); if (a[global_id.x] == 4) { trap(\"t\", 0); }\n"
                                "  grid_sync; a[global_id.x] += 0; }");
        const uint32_t words[2] = {1, 1};
        vyre_buffer *a = run_buffer(device, words, 2);
        vyre_dispatch_options o = {.has_iterations = true, .iterations = 9};
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_dispatch_resident(pipeline, &a, 1, &o, NULL, &diag), VYRE_TRAP, &diag);
        diag = (vyre_diag){0};
        REQUIRE_OK(vyre_buffer_write(a, 0, words, sizeof words, &diag), &diag);
        o.iterations = 2;
        REQUIRE_OK(vyre_dispatch_resident(pipeline, &a, 1, &o, NULL, &diag), &diag);
        CHECK_EQ(run_buffer_word(a, 1), 3);
        vyre_buffer_destroy(a);
        vyre_pipeline_release(pipeline);
        vyre_device_close(device);
    }
}

static vyre_status use(vyre_device *device, void *user) {
    const uint32_t words[4] = {0, 1, 2, 3};
    vyre_setting n = {"n", VYRE_U32, 3};
    vyre_dispatch_options o = {
        .settings = &n, .setting_count = 1, .has_iterations = true, .iterations = 2};
    vyre_pipeline *pipeline = NULL;
    vyre_buffer *a = NULL;
    vyre_status status = vyre_compile(device, user, &o, &pipeline, NULL);
    if (status == VYRE_OK) {
        status = vyre_buffer_create(device, sizeof words, &a, NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_buffer_write(a, 0, words, sizeof words, NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_dispatch_resident(pipeline, &a, 1, &o, NULL, NULL);
    }
    if (status == VYRE_OK) {
        uint32_t word = 0;
        status = vyre_buffer_read(a, 0, &word, sizeof word, NULL);
        CHECK(status != VYRE_OK || word == 62); /* six turns */
    }
    vyre_buffer_destroy(a);
    vyre_pipeline_release(pipeline);
    return status;
}

TEST(every_failing_entry_leaks_nothing) {
    vyre_program *p = run_parse(rotate);
    run_every_fault("ref-split", use, p);
    vyre_program_release(p);
}

TEST(sizes_are_compared_before_anything_runs) {
    const uint32_t a[] = {1, 2, 3};
    const vyre_input in[] = {{a, 12}, {a, 8}};
    vyre_program *p = run_parse("program p workgroup(1) elements(2) { inout a : u32[];\n"
                                "  inout b : u32[]; if (global_id.x > 9) { exit; } swap(a, b); }");
    for (int i = 0; i < DEVICES; i++) {
        run_result r = run_program(devices[i], p, in, 2, NULL);
        CHECK_STATUS(r.status, VYRE_INVALID_INPUT, &r.diag);
        CHECK_HAS(r.diag.message, "\"a\" has 3 elements, and \"b\", with which it is swapped, 2");
        run_finish(&r);
    }
    vyre_program_release(p);
}
