/* Launches that are queued: what came of them arrives with `await` and `finish`, and is told as if
 * each had run when it was launched. */
#include <pthread.h>

#include "device/registry.h"
#include "diff/queued.h"
#include "harness/run.h"

/* Adding up */

enum { NOT_TIMED = 9999 };

typedef struct done {
    uint32_t interval, segment;
    vyre_status status;
    uint64_t lane, ns;
} done;

static vyre_launch_results sum(const done *list, uint32_t count) {
    vyre_launch_results results = {0};
    for (uint32_t i = 0; i < count; i++) {
        const vyre_launch launch = {.interval = list[i].interval, .segment = list[i].segment};
        const vyre_launch_result one = {.trap_lane = list[i].lane,
                                        .device_ns = list[i].ns,
                                        .is_timed = list[i].ns != NOT_TIMED};
        const vyre_diag diag = {.line = i + 1};
        vyre_launch_results_add(&results, &launch, list[i].status, &one, &diag);
    }
    return results;
}

TEST(times_and_launches_add_up) {
    const done all[] = {{0, 1, VYRE_OK, 0, 30},
                        {1, 2, VYRE_OK, 0, NOT_TIMED},
                        {2, 1, VYRE_OK, 0, 4},
                        {2, 1, VYRE_OK, 0, 0}};
    vyre_launch_results r = sum(all, 4);
    CHECK_EQ(r.launches, 4);
    CHECK_EQ(r.device_ns, 34);
    CHECK_EQ(r.untimed, 1);
    CHECK_STATUS(r.status, VYRE_OK, NULL);
}

TEST(device_times_of_queued_launches_that_do_not_fit_are_an_error) {
    const done all[] = {{0, 1, VYRE_OK, 0, INT64_MAX},
                        {1, 2, VYRE_OK, 0, INT64_MAX},
                        {2, 3, VYRE_OK, 0, INT64_MAX}};
    vyre_launch_results two = sum(all, 2), three = sum(all, 3);
    CHECK_STATUS(two.status, VYRE_OK, NULL);
    CHECK_EQ(two.device_ns, UINT64_MAX - 1);
    CHECK_STATUS(three.status, VYRE_LIMIT, NULL);
    CHECK_EQ(three.segment, 3);
    CHECK(strstr(three.diag.message, "device times"));
}

TEST(the_lowest_lane_of_the_first_interval_with_a_trap_is_told) {
    const done all[] = {{0, 1, VYRE_OK, 0, 0},           {3, 2, VYRE_TRAP, 8, 0},
                        {3, 3, VYRE_TRAP, 5, 0},         {3, 4, VYRE_TRAP, 5, 0},
                        {3, 5, VYRE_TRAP, 6, 0},         {4, 6, VYRE_TRAP, 1, 0},
                        {5, 7, VYRE_DEVICE_FAILED, 0, 0}};
    vyre_launch_results r = sum(all, 7);
    CHECK_STATUS(r.status, VYRE_TRAP, NULL);
    CHECK_EQ(r.trap_lane, 5);
    CHECK_EQ(r.segment, 3);
    CHECK_EQ(r.interval, 3);
    CHECK_EQ(r.diag.line, 3);
    CHECK_EQ(r.launches, 7);
}

TEST(nothing_counts_behind_a_failure) {
    const done all[] = {{3, 2, VYRE_TRAP, 8, 0},
                        {3, 4, VYRE_TIMEOUT, 0, 0},
                        {3, 5, VYRE_TRAP, 1, 0},
                        {3, 6, VYRE_DEVICE_FAILED, 0, 0}};
    vyre_launch_results r = sum(all, 4);
    CHECK_STATUS(r.status, VYRE_TIMEOUT, NULL);
    CHECK_EQ(r.segment, 4);
    CHECK_EQ(r.diag.line, 2);
}

/* Dispatches */

typedef struct outcome {
    vyre_status status;
    vyre_diag diag;
    vyre_dispatch_report report;
    uint32_t words[4];
} outcome;

/* One input word n, one output of four words. */
static outcome dispatch_with(vyre_device *device, const vyre_program *p, uint32_t n,
                             const vyre_dispatch_options *options) {
    outcome o = {0};
    vyre_input in = {&n, sizeof n};
    vyre_output out = {o.words, sizeof o.words, sizeof o.words, true};
    o.status = vyre_dispatch(device, p, &in, 1, &out, 1, options, &o.report, &o.diag);
    return o;
}

static outcome dispatch(vyre_device *device, const vyre_program *p, uint32_t n, uint32_t ahead) {
    const vyre_dispatch_options options = {.no_optimize = true, .ahead = ahead};
    return dispatch_with(device, p, n, &options);
}

/* Without lane 3 the loop behind the barrier would not end. */
static const char *endless =
    "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; scratch s : u32[1];\n"
    "  o[global_id.x] = n[0]; grid_sync;\n"
    "  if (global_id.x >= n[0]) { trap(\"late\", 7); }\n"
    "  if (global_id.x == 3) { s[0] = 1; } grid_sync;\n"
    "  while (s[0] == 0) { } o[global_id.x] += 1; }";

TEST(nothing_runs_behind_the_grid_barrier_that_follows_a_trap) {
    vyre_program *p = run_parse(endless);
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    for (uint32_t ahead = 0; ahead <= 16; ahead += 16) {
        const uint64_t before = queued_so_far().launches;
        outcome o = dispatch(device, p, 2, ahead);
        CHECK_STATUS(o.status, VYRE_TRAP, &o.diag);
        CHECK_HAS(o.diag.message, "lane 2 trapped: \"late\" at address 7");
        CHECK_EQ(o.diag.line, 3);
        CHECK_EQ(o.diag.segment, 2);
        CHECK_EQ(o.diag.segment_count, 3);
        CHECK_EQ(queued_so_far().launches - before, 2);
        o = dispatch(device, p, 9, ahead);
        CHECK_STATUS(o.status, VYRE_OK, &o.diag);
        CHECK_EQ(o.words[2], 10);
        CHECK_EQ(o.report.stats.host_waits, 1); /* for the segment that may trap */
    }
    vyre_device_close(device);
    CHECK_EQ(queued_so_far().left, 0);
    vyre_program_release(p);
}

/* Lanes trap in several launches of one interval, and in later ones; with guesses of each kind on
 * the way. */
static const char *const trapping[] = {
    "program p workgroup(1) elements(4) { in n : u32[1]; out o : u32[4];\n"
    "  if (global_id.x == 3) { trap(\"first\", n[0]); }\n"
    "  if (n[0] % 2 == 0) { grid_sync; } else { o[0] = 1; }\n"
    "  if (global_id.x <= n[0] % 4) { trap(\"second\", 1); } grid_sync;\n"
    "  if (global_id.x == 0) { trap(\"third\", 1); } }",
    "program p workgroup(1) elements(4) { in n : u32[1]; out o : u32[4]; let i = 0;\n"
    "  while (i < n[0]) { if (i + global_id.x == 7) { trap(\"in\", i); }\n"
    "    if (n[0] % 3 == i % 3) { grid_sync; o[global_id.x] = i; }\n"
    "    if (i == 6 && global_id.x == 0) { trap(\"end\", i); } i += 1; }\n"
    "  grid_sync; if (global_id.x == 1) { trap(\"behind\", 3); } }",
    "program p workgroup(1) elements(4) { in n : u32[1]; out o : u32[4];\n"
    "  for (i in 0 .. 8) { grid_sync; if (i == n[0] && global_id.x > 1) { trap(\"count\", i); }\n"
    "    if (i == n[0] + 1) { trap(\"next\", i); } o[global_id.x] += i; } }",
};

TEST(traps_are_told_as_by_a_device_that_does_not_queue) {
    vyre_device *queue = run_open_added(queued_add, "ref-queue"),
                *plain = run_open("ref-split", NULL);
    uint32_t traps = 0;
    for (uint32_t t = 0; t < sizeof trapping / sizeof *trapping; t++) {
        vyre_program *p = run_parse(trapping[t]);
        for (uint32_t i = 0; i < 12 * 4 && !test_failed(); i++) {
            static const uint32_t aheads[] = {0, 1, 3, 16};
            const outcome got = dispatch(queue, p, i / 4, aheads[i % 4]);
            const outcome want = dispatch(plain, p, i / 4, aheads[i % 4]);
            CHECK_STATUS(got.status, want.status, &got.diag);
            CHECK_STR(got.diag.message, want.diag.message);
            CHECK_EQ(got.diag.line, want.diag.line);
            CHECK_EQ(got.diag.segment, want.diag.segment);
            CHECK_EQ(got.diag.segment_count, want.diag.segment_count);
            CHECK(memcmp(got.words, want.words, sizeof want.words) == 0);
            traps += got.status == VYRE_TRAP;
            if (test_failed()) {
                printf("program %u, n = %u, %u ahead\n", t, i / 4, aheads[i % 4]);
            }
        }
        vyre_program_release(p);
    }
    CHECK(traps > 60);
    vyre_device_close(queue);
    vyre_device_close(plain);
    CHECK_EQ(queued_so_far().left, 0);
}

TEST(device_times_are_those_of_all_launches) {
    static const char *const texts[] = {
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
        "  o[global_id.x] = n[0] + global_id.x; }",
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
        "  for (i in 0 .. 50) { grid_sync; o[global_id.x] += i; } }",
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; let i = 0;\n"
        "  while (i < n[0]) { grid_sync; i += 1; o[global_id.x] += i; } }",
    };
    vyre_device *queue = run_open_added(queued_add, "ref-queue"),
                *plain = run_open("ref-split", NULL);
    for (uint32_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        vyre_program *p = run_parse(texts[t]);
        const outcome got = dispatch(queue, p, 20, 0), want = dispatch(plain, p, 20, 0);
        const vyre_dispatch_stats *stats = &want.report.stats;
        REQUIRE_OK(got.status, &got.diag);
        CHECK_EQ(got.report.times.device, stats->steps + stats->launches);
        CHECK_EQ(got.report.stats.launches, stats->launches);
        CHECK_EQ(got.report.stats.host_waits, stats->host_waits);
        const outcome ahead = dispatch(queue, p, 20, 4);
        CHECK(ahead.report.times.device >= got.report.times.device);
        CHECK(memcmp(got.words, want.words, sizeof want.words) == 0);
        vyre_program_release(p);
    }
    vyre_device_close(queue);
    vyre_device_close(plain);
}

/* So many trips of a loop that the host counts, a launch for each. */
static const char *counted = "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; "
                             "const TRIPS : u32 = 2000;\n"
                             "  for (i in 0 .. TRIPS) { grid_sync; o[global_id.x] += n[0]; } }";

TEST(a_counted_loop_is_enqueued_without_a_wait) {
    vyre_program *p = run_parse(counted);
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    const outcome o = dispatch(device, p, 1, 0);
    REQUIRE_OK(o.status, &o.diag);
    CHECK_EQ(o.words[1], 2000);
    CHECK_EQ(o.report.stats.host_waits, 0);
    CHECK(queued_so_far().most_waiting >= 2000);
    vyre_device_close(device);
    vyre_program_release(p);
}

TEST(the_host_waits_before_too_much_is_queued) {
    enum { TRIPS = 2 * VYRE_LIMIT_QUEUED + 100 };
    char text[300];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
                   "  for (i in 0 .. %d) { grid_sync; o[global_id.x] += n[0]; } }",
                   TRIPS);
    vyre_program *p = run_parse(text);
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    const outcome o = dispatch(device, p, 1, 0);
    REQUIRE_OK(o.status, &o.diag);
    CHECK_EQ(o.words[1], TRIPS);
    CHECK_EQ(o.report.stats.host_waits, 2);
    CHECK(queued_so_far().most_waiting >= VYRE_LIMIT_QUEUED);
    CHECK(queued_so_far().most_waiting < VYRE_LIMIT_QUEUED + 16);
    vyre_device_close(device);
    vyre_program_release(p);
}

/* The end of time is not noticed by a host that waits for all that it has enqueued. */
TEST(less_is_queued_when_time_is_limited) {
    const vyre_dispatch_options options = {.no_optimize = true,
                                           .timeout_ns = UINT64_C(3600) * 1000000000};
    vyre_program *p = run_parse(counted);
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    const outcome o = dispatch_with(device, p, 1, &options);
    REQUIRE_OK(o.status, &o.diag);
    CHECK(o.report.stats.host_waits >= 2000 / VYRE_LIMIT_AHEAD);
    CHECK(queued_so_far().most_waiting < VYRE_LIMIT_AHEAD + 16);
    vyre_device_close(device);
    vyre_program_release(p);
}

/* The device stops a launch of four million steps. */
TEST(a_queued_launch_that_fails_names_its_segment) {
    vyre_program *p =
        run_parse("program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
                  "  o[global_id.x] = 1; grid_sync; let x = 0;\n"
                  "  for (i in 0 .. n[0]) { x = x * 3 + i; } o[3 - global_id.x] = x; grid_sync;\n"
                  "  o[global_id.x] += 1; }");
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    const outcome o = dispatch(device, p, 1200000, 0);
    CHECK_STATUS(o.status, VYRE_STEP_BUDGET, &o.diag);
    CHECK_EQ(o.diag.segment, 2);
    CHECK_EQ(o.diag.segment_count, 3);
    vyre_device_close(device);
    vyre_program_release(p);
}

/* Dispatches that share a device get what came of their own launches. */
typedef struct part {
    vyre_device *device;
    vyre_program *program;
    uint32_t n, ahead, wrong;
} part;

static void *dispatch_often(void *element) {
    part *mine = element;
    for (uint32_t i = 0; i < 40; i++) {
        const outcome o = dispatch(mine->device, mine->program, mine->n, mine->ahead);
        mine->wrong +=
            o.status != (mine->n < 4 ? VYRE_TRAP : VYRE_OK) || (mine->n < 4 && o.diag.line != 3);
    }
    return NULL;
}

TEST(each_dispatch_gets_what_came_of_its_own_launches) {
    vyre_device *device = run_open_added(queued_add, "ref-queue");
    part parts[4];
    for (uint32_t i = 0; i < 4; i++) {
        parts[i] = (part){device, run_parse(endless), i % 2 == 0 ? 9 : 2, i < 2 ? 0 : 4, 0};
    }
    test_in_threads(dispatch_often, parts, sizeof *parts);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(parts[i].wrong, 0);
        vyre_program_release(parts[i].program);
    }
    vyre_device_close(device);
    CHECK_EQ(queued_so_far().left, 0);
}

/* A device that queues, and then does not tell. */
static vyre_status forgetful_launch(vyre_backend_device *device, vyre_backend_kernel *kernel,
                                    const vyre_launch *launch, vyre_launch_result *out_result,
                                    vyre_diag *diag) {
    vyre_status status = vyre_registry_find(NULL, "ref-split", 9)
                             ->device->launch(device, kernel, launch, out_result, diag);
    out_result->is_queued = true;
    return status;
}

TEST(a_device_that_forgets_launches_is_found_out) {
    static vyre_device_table table;
    static vyre_backend backend;
    backend = *vyre_registry_find(NULL, "ref-split", 9);
    table = *backend.device;
    table.launch = forgetful_launch;
    backend.name = "forgetful";
    backend.device = &table;
    static const char *const texts[] = {
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; o[0] = n[0]; }",
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; o[0] = n[0];\n"
        "  grid_sync; o[global_id.x] += o[0]; }"};
    for (uint32_t i = 0; i < 2; i++) {
        vyre_program *p = run_parse(texts[i]);
        vyre_device *device = run_open_backend(&backend);
        const outcome o = dispatch(device, p, 1, 0);
        CHECK_STATUS(o.status, VYRE_INTERNAL, &o.diag);
        CHECK_HAS(o.diag.message, i == 0 ? "told of 0 of 1 launches" : "told of 0 of 2 launches");
        vyre_device_close(device);
        vyre_program_release(p);
    }
}
