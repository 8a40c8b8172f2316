/* Launches ahead of the decision: what is guessed, what it costs, and that a wrong guess leaves no
 * trace but in the counters. */
#include "device/registry.h"
#include "diff/queued.h"
#include "harness/run.h"
#include "vyre/backend.h"

/* Each trip is one launch of the grid and one of a lane that decides; so is the first decision, and
 * one launch is for the end. */
static const char *counted =
    "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
    "  let i = 0; let x = global_id.x; while (i < n[0]) { grid_sync; i += 1; x = x * 3 + i; }\n"
    "  o[global_id.x] = x + 1000 * i; }";

/* "ref-split" under another name, with what a test changes in it. */
static vyre_device_table table;
static uint32_t preferred;
static uint64_t words_read, words_fetched, words_given, words_dropped;

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    vyre_registry_find(NULL, "ref-split", 9)->device->describe(device, out_info);
    out_info->launches_ahead = preferred;
}

static vyre_status count_read(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                              void *data, uint64_t size, vyre_diag *diag) {
    words_read += size == 4;
    return vyre_registry_find(NULL, "ref-split", 9)
        ->device->read(device, memory, offset, data, size, diag);
}

static vyre_status count_fetch(vyre_backend_device *device, uint64_t pass, vyre_memory memory,
                               uint64_t offset, uint64_t size, vyre_ticket *out_ticket,
                               vyre_diag *diag) {
    words_fetched++;
    return vyre_registry_find(NULL, "ref-split", 9)
        ->device->fetch(device, pass, memory, offset, size, out_ticket, diag);
}

static vyre_status count_await(vyre_backend_device *device, vyre_ticket ticket, void *data,
                               uint64_t size, vyre_launch_results *results, vyre_diag *diag) {
    *(data ? &words_given : &words_dropped) += 1;
    return vyre_registry_find(NULL, "ref-split", 9)
        ->device->await(device, ticket, data, size, results, diag);
}

static vyre_device *open_device(bool can_fetch) {
    static vyre_backend backend;
    vyre_registry *registry = NULL;
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    backend = *vyre_registry_find(NULL, "ref-split", 9);
    table = *backend.device;
    table.describe = describe;
    table.read = count_read;
    table.fetch = can_fetch ? count_fetch : NULL;
    table.await = can_fetch ? count_await : NULL;
    backend.name = "late";
    backend.device = &table;
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(vyre_registry_add(registry, &backend, &diag), &diag);
    REQUIRE_OK(vyre_device_open(registry, "late", NULL, &device, &diag), &diag);
    vyre_registry_destroy(registry);
    return device;
}

typedef struct outcome {
    vyre_dispatch_report report;
    uint32_t words[4];
} outcome;

/* One input word n, one output of four words. */
static outcome dispatch(vyre_device *device, const char *text, uint32_t n,
                        const vyre_dispatch_options *options) {
    outcome o = {0};
    vyre_program *p = run_parse(text);
    vyre_input in = {&n, sizeof n};
    vyre_output out = {o.words, sizeof o.words, sizeof o.words, true};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_dispatch(device, p, &in, 1, &out, 1, options, &o.report, &diag), &diag);
    CHECK(out.data == o.words && out.size == sizeof o.words);
    vyre_program_release(p);
    return o;
}

static outcome run_on(const char *uri, const char *text, uint32_t n, uint32_t ahead) {
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(NULL, uri, NULL, &device, NULL), NULL);
    vyre_dispatch_options options = {.no_optimize = true, .ahead = ahead};
    outcome o = dispatch(device, text, n, &options);
    vyre_device_close(device);
    return o;
}

/* What runs is the same, whatever was launched in vain; steps without a segment, and that. */
static uint64_t check_same(const char *text, uint32_t n, const outcome *o) {
    outcome native = run_on("ref", text, n, 0), plain = run_on("ref-split", text, n, 1);
    const vyre_dispatch_stats *got = &o->report.stats, *want = &plain.report.stats;
    CHECK(memcmp(o->words, native.words, sizeof o->words) == 0);
    CHECK_EQ(got->launches, want->launches);
    CHECK_EQ(got->carried_bytes, want->carried_bytes);
    CHECK_EQ(got->sync_points, want->sync_points);
    CHECK_EQ(got->steps, want->steps);
    return got->skipped_launches;
}

/* A device that runs the schedule itself gets no control segments. */
static void check_whole(const char *text, uint32_t n, const outcome *o) {
    outcome plain = run_on("ref-split", text, n, 0);
    const vyre_dispatch_stats *got = &o->report.stats, *want = &plain.report.stats;
    CHECK(memcmp(o->words, plain.words, sizeof o->words) == 0);
    CHECK_EQ(got->launches, want->launches);
    CHECK_EQ(got->skipped_launches, want->skipped_launches);
    CHECK_EQ(got->sync_points, want->sync_points);
    CHECK_EQ(got->steps, want->steps);
    CHECK_EQ(got->host_waits, 0);
}

static void check_counts(const char *text, uint32_t n, uint32_t ahead, uint64_t skipped,
                         uint64_t waits) {
    outcome o = run_on("ref-split", text, n, ahead);
    CHECK_EQ(check_same(text, n, &o), skipped);
    CHECK_EQ(o.report.stats.host_waits, waits);
    if (test_failed()) {
        printf("with n = %u, %u ahead\n", n, ahead);
        test_stop();
    }
}

/* Batches have 2, 2, 4, 8, 16, 16, ... launches, a decision in every second; each is awaited once
 * the next one is enqueued. The last decision is wrong, and its batch and the next are in vain. */
TEST(the_host_waits_once_for_each_batch) {
    check_counts(counted, 1000, 16, 14 + 16, 129); /* decision 1001 is the first of batch 129 */
    check_counts(counted, 1000, 1, 2, 1001);
    check_counts(counted, 1000, 64, 46 + 64, 37); /* and in batch 37 the ninth of 32 */
    check_counts(counted, 0, 16, 2, 1);
    check_counts(counted, 1, 16, 4, 2);
    check_counts(counted, 2, 16, 2 + 8, 3);
    check_counts(counted, 6, 64, 2 + 16, 4);
}

/* Decision n tells that no lane is alive. The host knows what the loop asks. */
static const char *ending =
    "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; let i = 0;\n"
    "  while (i < 1000000) { grid_sync; i += 1; o[global_id.x] = i; if (i == n[0]) { exit; } } }";

TEST(when_all_lanes_have_ended_nothing_is_launched_any_more) {
    check_counts(ending, 1, 16, 2 + 2, 1); /* steps without a segment, launches in vain */
    check_counts(ending, 2, 16, 3 + 4, 2);
    check_counts(ending, 6, 16, 7 + 4 + 16, 4);
    check_counts(ending, 7, 16, 8 + 2 + 16, 4);
    for (uint32_t n = 1; n < 40; n++) {
        for (uint32_t ahead = 1; ahead < 20; ahead += 6) {
            outcome o = run_on("ref-split", ending, n, ahead);
            check_same(ending, n, &o);
        }
    }
}

/* Where the first guess is wrong, the second is right: one miss at the branch, one at the end. */
TEST(a_branch_is_guessed_to_go_as_it_last_went) {
    static const char *text =
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; let x = n[0];\n"
        "  for (k in 0 .. 20) {\n"
        "    if (n[0] % 2 == 1) { grid_sync; x = x * 3 + k; grid_sync; }\n"
        "    else { grid_sync; x = x + 7; grid_sync; } }\n"
        "  o[global_id.x] = x; }";
    outcome odd = run_on("ref-split", text, 1, 2), even = run_on("ref-split", text, 2, 2);
    CHECK_EQ(odd.report.stats.launches, even.report.stats.launches);
    CHECK_EQ(check_same(text, 2, &even) - check_same(text, 1, &odd), 2); /* a batch, at the first */
}

static const char *nested = "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; "
                            "let x = 1; let k = 0;\n"
                            "  while (k < n[0]) { let j = 0; let y = x; grid_sync;\n"
                            "    while (j < k % 5) { x = x * 5 + y; grid_sync; j += 1;\n"
                            "      if (x % 3 == 0) { y += j; grid_sync; } } \n"
                            "    k += 1; x += k; }\n"
                            "  o[global_id.x] = x * 4 + global_id.x; }";

/* Wrong guesses at each parity of the shared values, in loops of changing length. */
TEST(values_are_in_their_places_after_wrong_guesses) {
    for (uint32_t n = 0; n < 24; n++) {
        static const uint32_t ahead[] = {1, 2, 3, 5, 16, 64};
        for (uint32_t i = 0; i < sizeof ahead / sizeof *ahead && !test_failed(); i++) {
            outcome o = run_on("ref-split", nested, n, ahead[i]);
            check_same(nested, n, &o);
        }
    }
}

TEST(nothing_is_launched_ahead_of_a_collective) {
    static const char *text =
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; scratch s : u32[4];\n"
        "  let i = 0; while (i < n[0]) { s[global_id.x] = i * 10 + global_id.x; grid_sync;\n"
        "    if (i % 3 == 1) { all_gather(s, o); } i += 1; } }";
    for (uint32_t n = 0; n < 12; n++) {
        outcome o = run_on("ref-split", text, n, 16), whole = run_on("ref-schedule", text, n, 16);
        check_same(text, n, &o);
        check_whole(text, n, &whole);
    }
}

/* Launches whose turn does not come cost steps; the budget is that of the others. */
TEST(a_budget_of_exactly_the_steps_is_enough) {
    vyre_program *p = run_parse(counted);
    vyre_device *device = NULL;
    uint32_t n = 5;
    vyre_input in = {&n, sizeof n};
    vyre_output out = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_open(NULL, "ref-split", NULL, &device, NULL), NULL);
    vyre_dispatch_options options = {.no_optimize = true, .ahead = 16};
    options.max_steps = dispatch(device, counted, n, &options).report.stats.steps;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &options, NULL, &diag), VYRE_OK, &diag);
    options.max_steps--;
    CHECK_STATUS(vyre_dispatch(device, p, &in, 1, &out, 1, &options, NULL, &diag), VYRE_STEP_BUDGET,
                 &diag);
    CHECK_EQ(diag.segment, 3);
    CHECK_EQ(diag.segment_count, 5);
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
    vyre_program_release(p);
}

static bool collect(void *user, const char *text, size_t length) {
    char *all = user;
    size_t used = strlen(all);
    memcpy(all + used, text, length < 16000 - used ? length : 0);
    return true;
}

TEST(a_trace_shows_what_was_launched_in_vain) {
    static char text[16384];
    vyre_device *device = NULL;
    vyre_dispatch_options options = {.no_optimize = true, .ahead = 16};
    REQUIRE_OK(vyre_trace_create(NULL, 0, &options.trace), NULL);
    REQUIRE_OK(vyre_device_open(NULL, "ref-split", NULL, &device, NULL), NULL);
    (void)dispatch(device, counted, 6, &options);
    REQUIRE_OK(vyre_trace_write(options.trace, collect, text), NULL);
    CHECK_HAS(text, "{\"name\":\"p_control_1\",\"cat\":\"skip\",");
    CHECK_HAS(text, "\"args\":{\"launches\":18}");
    CHECK_HAS(text, "{\"name\":\"control word\",\"cat\":\"await\",");
    vyre_device_close(device);
    vyre_trace_destroy(options.trace);
}

/* Without `fetch` each batch is waited for, and only what is left of it is in vain. */
TEST(a_device_that_can_not_fetch_is_read) {
    vyre_device *device = open_device(false);
    vyre_dispatch_options options = {.no_optimize = true, .ahead = 16};
    outcome o = dispatch(device, counted, 1000, &options);
    CHECK_EQ(check_same(counted, 1000, &o), 14);
    CHECK_EQ(o.report.stats.host_waits, 129);
    CHECK_EQ(words_read, 129);
    vyre_device_close(device);
}

TEST(each_ticket_is_awaited_once) {
    preferred = 4; /* used where the options say nothing */
    vyre_device *device = open_device(true);
    vyre_dispatch_options options = {.no_optimize = true};
    for (uint32_t n = 0; n < 50; n++) {
        outcome o = dispatch(device, counted, n, &options);
        check_same(counted, n, &o);
        CHECK_EQ(words_fetched, words_given + words_dropped);
    }
    CHECK(words_dropped > 0 && words_given > words_dropped);
    preferred = 1000; /* more than there is room for */
    vyre_device *eager = open_device(true);
    outcome o = dispatch(eager, counted, 1000, &options);
    check_same(counted, 1000, &o);
    CHECK_EQ(o.report.stats.host_waits, 37);
    vyre_device_close(eager);
    vyre_device_close(device);
}

static void run_queued(vyre_device *device, const char *text, uint32_t n, uint32_t ahead) {
    const vyre_dispatch_options options = {.no_optimize = true, .ahead = ahead};
    outcome o = dispatch(device, text, n, &options);
    outcome native = run_on("ref", text, n, 0), plain = run_on("ref-split", text, n, 1);
    CHECK(memcmp(o.words, native.words, sizeof o.words) == 0);
    CHECK_EQ(o.report.stats.launches, plain.report.stats.launches);
}

TEST(a_device_that_works_late_gives_the_same_bytes) {
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    for (uint32_t n = 1; n < 60 && !test_failed(); n += 7) {
        for (uint32_t ahead = 1; ahead <= 64; ahead *= 4) {
            run_queued(device, counted, n, ahead);
            run_queued(device, ending, n, ahead);
            run_queued(device, nested, n % 24, ahead);
        }
    }
    vyre_device_close(device);
    CHECK(queued_so_far().most_waiting > 64);
    CHECK(queued_so_far().told > 64);
    CHECK_EQ(queued_so_far().left, 0);
}

TEST(more_than_the_limit_ahead_is_refused) {
    vyre_program *p = run_parse(counted);
    uint32_t n = 1;
    vyre_input in = {&n, sizeof n};
    vyre_dispatch_options options = {.ahead = VYRE_LIMIT_AHEAD + 1};
    run_result r = run_program("ref-split", p, &in, 1, &options);
    CHECK_STATUS(r.status, VYRE_INVALID_ARGUMENT, &r.diag);
    CHECK_HAS(r.diag.message, "65 launches ahead");
    run_finish(&r);
    vyre_program_release(p);
}

static outcome dispatch_pipeline(vyre_pipeline *pipeline, uint32_t n, uint32_t ahead) {
    outcome o = {0};
    const vyre_dispatch_options options = {.no_optimize = true, .ahead = ahead};
    vyre_input in = {&n, sizeof n};
    vyre_output out = {o.words, sizeof o.words, sizeof o.words, true};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_pipeline_dispatch(pipeline, &in, 1, &out, 1, &options, &o.report, &diag),
               &diag);
    return o;
}

static uint64_t compiles(const vyre_device *device) {
    vyre_counters counters;
    vyre_device_counters(device, &counters);
    return counters.compiles;
}

/* Whatever a pipeline was compiled for: a dispatch that wants to launch ahead does, and one that
 * does not want it does not. The other module is made once. */
TEST(each_dispatch_of_a_pipeline_launches_ahead_or_not) {
    vyre_program *p = run_parse(counted);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(NULL, "ref-split", NULL, &device, NULL), NULL);
    const uint64_t ahead_waits = run_on("ref-split", counted, 1000, 16).report.stats.host_waits;
    const uint64_t plain_waits = run_on("ref-split", counted, 1000, 0).report.stats.host_waits;
    CHECK(ahead_waits < plain_waits);
    for (uint32_t compiled_for = 0; compiled_for <= 16; compiled_for += 16) {
        const vyre_dispatch_options options = {.no_optimize = true, .ahead = compiled_for};
        const uint64_t before = compiles(device);
        vyre_pipeline *pipeline = NULL;
        REQUIRE_OK(vyre_compile(device, p, &options, &pipeline, NULL), NULL);
        CHECK_EQ(compiles(device) - before, 1);
        for (int i = 0; i < 3; i++) {
            const outcome ahead = dispatch_pipeline(pipeline, 1000, 16);
            const outcome plain = dispatch_pipeline(pipeline, 1000, 0);
            CHECK_EQ(ahead.report.stats.host_waits, ahead_waits);
            CHECK_EQ(plain.report.stats.host_waits, plain_waits);
            CHECK(memcmp(ahead.words, plain.words, sizeof plain.words) == 0);
            CHECK_EQ(compiles(device) - before, 2);
        }
        vyre_pipeline_release(pipeline);
    }
    vyre_device_close(device);
    vyre_program_release(p);
}

/* A program without decisions has nothing to check. */
TEST(straight_programs_are_not_asked_for_their_turn) {
    vyre_program *p = run_parse("program p workgroup(2) elements(4) { in n : u32[1];\n"
                                "  out o : u32[4]; o[3 - global_id.x] = n[0]; grid_sync;\n"
                                "  o[global_id.x] += global_id.x; }");
    vyre_module *m = NULL;
    const vyre_split_options options = {.ahead = true};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, NULL), NULL);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK(!v->checks_turn);
    for (uint32_t i = 0; i < v->segment_count; i++) {
        CHECK_EQ(vyre_program_find_decl(v->segments[i], "_turn"), VYRE_NONE);
        CHECK_EQ(vyre_program_find_decl(v->segments[i], "_expect"), VYRE_NONE);
    }
    vyre_module_release(m);
    vyre_program_release(p);
}

/* Level SCHEDULE: one wait, whatever happens; the same counts. */
TEST(a_device_that_runs_the_schedule_waits_for_nothing) {
    vyre_program *p = run_parse(counted);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(NULL, "ref-schedule", NULL, &device, NULL), NULL);
    vyre_dispatch_options options = {.no_optimize = true, .ahead = 16};
    for (uint32_t n = 0; n < 300; n += 60) {
        outcome o = dispatch(device, counted, n, &options);
        check_whole(counted, n, &o);
        outcome gone = dispatch(device, ending, n + 1, &options);
        check_whole(ending, n + 1, &gone);
    }
    vyre_device_close(device);
    vyre_program_release(p);
}
