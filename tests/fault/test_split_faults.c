/* Split dispatches that fail: at every call of every backend entry and at every allocation. Nothing
 * leaks, the caller's slots keep their bytes, the error says what failed and in which segment, and
 * the next dispatch on a device that works gives the right bytes. */
#include "diff/queued.h"
#include "harness/run.h"

/* Carries values, workgroup memory, a private array and ended lanes through loops with barriers,
 * has scalars that are loaded and one that lanes make, and needs several passes. Buffer sizes and
 * values are small, the number of launches is not. */
static const char *text =
    "program p workgroup(2) elements(4) { inout v : u32[4]; in by : u32[1]; out o : u32[4];\n"
    "  scratch s : u32[4]; workgroup w : u32[2]; private a : u32[2];\n"
    "  let x = v[global_id.x]; w[local_id.x] = x; a[1] = x * 3; s[global_id.x] = x; grid_sync;\n"
    "  let m = 7; if (by[0] == 1) { m = 0; } grid_sync;\n"
    "  let k = 0; while (k < 1 + by[0]) { x += s[(global_id.x + 1) % 4]; grid_sync; k += 1; }\n"
    "  if (global_id.x == 3) { exit; } grid_sync;\n"
    "  v[global_id.x] = min(v[global_id.x] + by[0], 3); o[global_id.x] = x + w[0] + a[1] + m; }";

static const uint32_t v[4] = {1, 2, 3, 9}, by[1] = {1}, untouched[4] = {71, 72, 73, 74};

enum { PASSES = 9 };

/* Where the dispatches of a test run. */
static const char *backend = "ref-split";
static uint32_t ahead;
static vyre_registry *registry; /* of `backend`, if it is not built in */

static void use_queue(void) {
    REQUIRE_OK(vyre_registry_create(NULL, &registry), NULL);
    REQUIRE_OK(queued_add(registry, NULL), NULL);
    backend = "ref-queue";
}

typedef struct attempt {
    vyre_status status;
    vyre_diag diag;
    vyre_dispatch_report report;
    uint32_t words[2][4]; /* the caller's slots */
} attempt;

static attempt try_host(vyre_device *device, const vyre_program *program, vyre_path path,
                        bool in_place) {
    attempt t = {0};
    vyre_output slots[2];
    for (int i = 0; i < 2; i++) {
        memcpy(t.words[i], untouched, sizeof untouched);
        slots[i] = (vyre_output){t.words[i], sizeof t.words[i], sizeof t.words[i], true};
    }
    vyre_input in[] = {{v, sizeof v}, {by, sizeof by}};
    vyre_dispatch_options options = {.has_iterations = true,
                                     .iterations = PASSES,
                                     .path = path,
                                     .no_optimize = true,
                                     .ahead = ahead,
                                     .in_place = in_place};
    t.status = vyre_dispatch(device, program, in, 2, slots, 2, &options, &t.report, &t.diag);
    for (int i = 0; i < 2; i++) {
        CHECK(slots[i].data == t.words[i] && slots[i].size == sizeof t.words[i]);
    }
    return t;
}

/* Paths of these tests: the two of a dispatch, and buffers that the caller keeps. */
enum { KEPT = VYRE_PATH_RESIDENT + 1 };

/* The same on buffers that stay: one for each in, inout and out. They are read if all went well. */
static attempt try_kept(vyre_device *device, vyre_program *program) {
    static const void *const data[3] = {v, by, NULL};
    static const uint64_t sizes[3] = {sizeof v, sizeof by, sizeof v};
    vyre_dispatch_options options = {
        .has_iterations = true, .iterations = PASSES, .no_optimize = true, .ahead = ahead};
    attempt t = {0};
    memcpy(t.words[0], untouched, sizeof untouched);
    memcpy(t.words[1], untouched, sizeof untouched);
    uint32_t read[2][4];
    vyre_pipeline *pipeline = NULL;
    vyre_buffer *buffers[3] = {NULL, NULL, NULL};
    t.status = vyre_compile(device, program, &options, &pipeline, &t.diag);
    for (int i = 0; i < 3 && t.status == VYRE_OK; i++) {
        t.status = vyre_buffer_create(device, sizes[i], &buffers[i], &t.diag);
        if (t.status == VYRE_OK && data[i]) {
            t.status = vyre_buffer_write(buffers[i], 0, data[i], sizes[i], &t.diag);
        }
    }
    if (t.status == VYRE_OK) {
        t.status = vyre_dispatch_resident(pipeline, buffers, 3, &options, &t.report, &t.diag);
    }
    if (t.status == VYRE_OK) {
        const vyre_read_range ranges[] = {{buffers[0], 0, read[0], sizeof v},
                                          {buffers[2], 0, read[1], sizeof v}};
        t.status = vyre_buffer_read_many(ranges, 2, &t.diag);
        t.report = t.status == VYRE_OK ? t.report : (vyre_dispatch_report){0};
    }
    if (t.status == VYRE_OK) {
        memcpy(t.words, read, sizeof read);
    }
    for (int i = 0; i < 3; i++) {
        vyre_buffer_destroy(buffers[i]);
    }
    vyre_pipeline_release(pipeline);
    return t;
}

static attempt try_dispatch(vyre_device *device, vyre_program *program, int path, bool in_place) {
    return path == KEPT ? try_kept(device, program)
                        : try_host(device, program, (vyre_path)path, in_place);
}

static void check_slots(const attempt *t, bool in_place) {
    static const uint32_t want[2][4] = {{3, 3, 3, 9}, {21, 21, 33, 0}};
    bool same[2];
    for (int i = 0; i < 2; i++) {
        same[i] =
            memcmp(t->words[i], t->status == VYRE_OK ? want[i] : untouched, sizeof untouched) == 0;
    }
    CHECK((same[0] && same[1]) || (in_place && t->status != VYRE_OK));
}

static uint32_t count_segments(const vyre_program *program) {
    vyre_module *m = NULL;
    const vyre_split_options keep = {.keep_barriers = true, .ahead = ahead > 0};
    REQUIRE_OK(vyre_split(program, &keep, NULL, &m, NULL), NULL);
    uint32_t count = vyre_module_get(m)->segment_count;
    vyre_module_release(m);
    return count;
}

TEST(the_program_of_these_tests_is_worth_it) {
    vyre_program *p = run_parse(text);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(NULL, "ref-split", NULL, &device, NULL), NULL);
    attempt t = try_dispatch(device, p, VYRE_PATH_HOST, false);
    CHECK_STATUS(t.status, VYRE_OK, &t.diag);
    check_slots(&t, false);
    CHECK_EQ(t.report.passes, 4);
    CHECK(t.report.converged);
    CHECK(t.report.stats.launches >= 12 && t.report.stats.carried_bytes > 0);
    CHECK(count_segments(p) >= 4);
    vyre_device_close(device);
    vyre_program_release(p);
}

/* The first word that is read tells which way a segment goes. */
static bool concerns_a_segment(const char *op, uint32_t n) {
    return strcmp(op, "compile") == 0 || strcmp(op, "launch") == 0 || strcmp(op, "await") == 0 ||
           strcmp(op, "fetch") == 0 ||
           (strcmp(op, "read") == 0 && n == 1 && ahead == 0 && strcmp(backend, "ref-split") == 0);
}

static void check_error(const attempt *t, const char *op, uint32_t n, const char *mode,
                        uint32_t segments) {
    CHECK(t->diag.message[0]);
    CHECK_EQ(t->diag.status, t->status);
    CHECK_EQ(t->report.stats.launches, 0); /* nothing is reported of a dispatch that failed */
    if (strcmp(mode, "lost") == 0) {
        CHECK_STATUS(t->status, VYRE_DEVICE_LOST, &t->diag);
    } else if (strcmp(op, "allocate") == 0) {
        CHECK_STATUS(t->status, VYRE_OUT_OF_MEMORY, &t->diag);
    }
    if (concerns_a_segment(op, n)) {
        CHECK(t->diag.segment >= 1 && t->diag.segment <= segments);
        CHECK_EQ(t->diag.segment_count, segments);
    }
}

/* The n-th call of an entry fails; false when the dispatch no longer reaches it. */
static bool fails(vyre_program *p, const char *op, uint32_t n, const char *mode, int path,
                  bool in_place, uint32_t segments) {
    char uri[80];
    snprintf(uri, sizeof uri, "fault://%s?op=%s&n=%u&mode=%s", backend, op, n, mode);
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(registry, uri, &a, &device, NULL), NULL);
    attempt t = try_dispatch(device, p, path, in_place);
    check_slots(&t, in_place);
    if (t.status != VYRE_OK) {
        check_error(&t, op, n, mode, segments);
        if (strcmp(mode, "lost") == 0) {
            attempt again = try_dispatch(device, p, path, in_place);
            CHECK_STATUS(again.status, VYRE_DEVICE_LOST, &again.diag);
            check_slots(&again, in_place);
        }
    }
    vyre_device_close(device);
    CHECK_EQ(heap.live_blocks, 0);
    if (test_failed()) {
        printf("with %s, %u ahead, path %d, in place %d\n", uri, ahead, path, in_place);
        test_stop();
    }
    return t.status != VYRE_OK;
}

typedef struct entry {
    const char *op;
    uint32_t least; /* calls that a run must at least have made */
} entry;

static void fail_entries(const entry *entries, size_t count, int path, bool in_place) {
    static const char *const modes[] = {"once", "always", "lost"};
    vyre_program *p = run_parse(text);
    uint32_t segments = count_segments(p);
    for (size_t e = 0; e < count; e++) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            /* Nobody minds when waiting for a word that is not wanted any more fails. */
            uint32_t last = 0;
            for (uint32_t n = 1; n < last + 4; n++) {
                if (fails(p, entries[e].op, n, modes[m], path, in_place, segments)) {
                    last = n;
                }
            }
            CHECK(last >= entries[e].least);
        }
    }
    vyre_program_release(p);
}

static void fail_everywhere(int path, bool in_place) {
    static const entry entries[] = {{"allocate", 8}, {"write", 2},   {"read", 4},
                                    {"copy", 6},     {"zero", 2},    {"equal", 3},
                                    {"compile", 4},  {"launch", 12}, {"finish", 3}};
    fail_entries(entries, sizeof entries / sizeof *entries, path, in_place);
}

/* Buffers so small that the program is split a second time, for more of them. */
static const char small[] = "ref-split://max_buffer=16";

TEST(every_entry_fails_where_the_carry_is_spread) {
    vyre_program *p = run_parse(text);
    vyre_device *device = NULL;
    REQUIRE_OK(vyre_device_open(NULL, small, NULL, &device, NULL), NULL);
    attempt t = try_dispatch(device, p, VYRE_PATH_HOST, false);
    CHECK_STATUS(t.status, VYRE_OK, &t.diag);
    check_slots(&t, false);
    CHECK(t.report.stats.carry_buffers >= 4);
    vyre_device_close(device);
    vyre_program_release(p);
    backend = small;
    fail_everywhere(VYRE_PATH_HOST, false);
    fail_everywhere(VYRE_PATH_RESIDENT, false);
}

TEST(every_entry_fails_while_launches_are_ahead) {
    static const entry entries[] = {{"read", 2},   {"copy", 6},  {"zero", 2},  {"equal", 3},
                                    {"launch", 8}, {"fetch", 8}, {"await", 8}, {"finish", 3}};
    for (ahead = 1; ahead <= 16; ahead *= 4) {
        fail_entries(entries, sizeof entries / sizeof *entries, VYRE_PATH_HOST, false);
    }
    ahead = 4;
    fail_entries(entries, sizeof entries / sizeof *entries, KEPT, false);
}

TEST(every_entry_fails_of_a_device_that_queues) {
    static const entry entries[] = {{"read", 2},   {"fetch", 8}, {"await", 8}, {"launch", 8},
                                    {"finish", 3}, {"zero", 2},  {"equal", 3}};
    use_queue();
    fail_everywhere(VYRE_PATH_HOST, false);
    fail_everywhere(KEPT, false);
    ahead = 4;
    fail_entries(entries, sizeof entries / sizeof *entries, VYRE_PATH_HOST, false);
    fail_entries(entries, sizeof entries / sizeof *entries, KEPT, false);
    vyre_registry_destroy(registry);
}

TEST(every_entry_fails_of_a_device_that_runs_the_schedule) {
    static const entry entries[] = {{"allocate", 8}, {"read", 2},   {"compile_module", 1},
                                    {"equal", 3},    {"finish", 3}, {"run_module", 3}};
    backend = "ref-schedule";
    fail_entries(entries, sizeof entries / sizeof *entries, VYRE_PATH_HOST, false);
    fail_entries(entries, sizeof entries / sizeof *entries, VYRE_PATH_RESIDENT, false);
    fail_entries(entries, sizeof entries / sizeof *entries, KEPT, false);
}

TEST(every_entry_fails_on_the_host_path) {
    fail_everywhere(VYRE_PATH_HOST, false);
}

TEST(every_entry_fails_on_the_resident_path) {
    fail_everywhere(VYRE_PATH_RESIDENT, false);
}

TEST(every_entry_fails_on_buffers_that_stay) {
    fail_everywhere(KEPT, false);
}

TEST(every_entry_fails_in_place) {
    fail_everywhere(VYRE_PATH_HOST, true);
}

TEST(a_device_opened_anew_works_again) {
    vyre_program *p = run_parse(text);
    static const char *const uris[] = {"fault://ref-split?op=launch&n=2&mode=lost", "ref-split"};
    for (int i = 0; i < 2; i++) {
        vyre_device *device = NULL;
        REQUIRE_OK(vyre_device_open(NULL, uris[i], NULL, &device, NULL), NULL);
        attempt t = try_dispatch(device, p, VYRE_PATH_RESIDENT, false);
        CHECK_STATUS(t.status, i == 0 ? VYRE_DEVICE_LOST : VYRE_OK, &t.diag);
        check_slots(&t, false);
        vyre_device_close(device);
    }
    vyre_program_release(p);
}

/* Copies of collectives follow the barrier of a segment; here all others are snapshots. */
TEST(a_collective_that_fails_names_its_segment) {
    vyre_program *p = run_parse(
        "program p workgroup(1) elements(2) { inout a : u32[2]; out o : u32[2];\n"
        "  a[global_id.x] += 1; grid_sync; a[global_id.x] += o[0]; all_gather(a, o);\n"
        "  for (i in 0 .. 2) { a[global_id.x] += o[1 - global_id.x]; all_gather(a, o); } }");
    static const uint32_t segments[] = {2, 3, 3};
    const vyre_input in = {v, 8};
    for (uint32_t i = 0; i < 2 * 3; i++) {
        char uri[80];
        snprintf(uri, sizeof uri, "fault://ref-split?op=copy&n=%u", i / 2 + 1);
        run_result r =
            run_program(uri, p, &in, 1,
                        &(vyre_dispatch_options){.path = (vyre_path)(i % 2), .no_optimize = true});
        CHECK_STATUS(r.status, VYRE_DEVICE_FAILED, &r.diag);
        CHECK_EQ(r.diag.segment, segments[i / 2]);
        CHECK_EQ(r.diag.segment_count, count_segments(p));
        run_finish(&r);
    }
    vyre_program_release(p);
}

typedef struct job {
    vyre_program *program;
    int path;
} job;

static vyre_status dispatch_once(const vyre_allocator *a, void *user) {
    const job *j = user;
    vyre_device *device = NULL;
    vyre_status status = vyre_device_open(registry, backend, a, &device, NULL);
    if (status != VYRE_OK) {
        return status;
    }
    attempt t = try_dispatch(device, j->program, j->path, false);
    check_slots(&t, false);
    CHECK(t.status == VYRE_OK || t.diag.message[0]);
    vyre_device_close(device);
    return t.status;
}

TEST(every_allocation_fails) {
    job j = {.program = run_parse(text)};
    for (j.path = VYRE_PATH_HOST; j.path <= KEPT; j.path++) {
        CHECK(test_every_allocation(dispatch_once, &j, test_scaled(1500)) > 200);
    }
    vyre_program_release(j.program);
}

TEST(every_allocation_fails_elsewhere) {
    job j = {.program = run_parse(text)};
    ahead = 4;
    CHECK(test_every_allocation(dispatch_once, &j, test_scaled(1500)) > 200);
    backend = small;
    CHECK(test_every_allocation(dispatch_once, &j, test_scaled(1500)) > 200);
    backend = "ref-schedule";
    CHECK(test_every_allocation(dispatch_once, &j, test_scaled(1500)) > 200);
    vyre_program_release(j.program);
}

/* Not the device but the program or the caller ends it. */
static void end_everywhere(void) {
    vyre_program *waits = run_parse(text);
    vyre_program *traps = run_parse(
        "program p workgroup(1) elements(2) { inout v : u32[4]; in by : u32[1]; out o : u32[4];\n"
        "  v[global_id.x] = 5; o[0] = 1; grid_sync; if (by[0] == 1) { trap(\"t\", 9); } }");
    static const vyre_cancel cancelled = {1};
    const struct {
        const vyre_program *program;
        vyre_dispatch_options options;
        vyre_status want;
    } cases[] = {
        {traps, {0}, VYRE_TRAP},
        {waits, {.cancel = &cancelled}, VYRE_CANCELLED},
        {waits, {.timeout_ns = 1}, VYRE_TIMEOUT},
        {waits,
         {.max_steps = 40},
         strcmp(backend, "ref-queue") == 0 ? VYRE_UNSUPPORTED : VYRE_STEP_BUDGET},
        {waits, {.max_output_bytes = 31}, VYRE_LIMIT},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        vyre_dispatch_options options = cases[i / 2].options;
        options.ahead = ahead;
        options.path = (vyre_path)(i % 2);
        test_heap heap = {0};
        vyre_allocator a = test_heap_allocator(&heap);
        vyre_device *device = NULL;
        REQUIRE_OK(vyre_device_open(registry, backend, &a, &device, NULL), NULL);
        uint32_t words[2][4];
        memcpy(words[0], untouched, sizeof untouched);
        memcpy(words[1], untouched, sizeof untouched);
        vyre_output slots[2] = {{words[0], 16, 16, true}, {words[1], 16, 16, true}};
        vyre_input in[] = {{v, sizeof v}, {by, sizeof by}};
        vyre_diag diag = {0};
        CHECK_STATUS(
            vyre_dispatch(device, cases[i / 2].program, in, 2, slots, 2, &options, NULL, &diag),
            cases[i / 2].want, &diag);
        CHECK(memcmp(words[0], untouched, 16) == 0 && memcmp(words[1], untouched, 16) == 0);
        vyre_device_close(device);
        CHECK_EQ(heap.live_blocks, 0);
    }
    vyre_program_release(waits);
    vyre_program_release(traps);
}

TEST(traps_cancellation_and_budgets_leave_everything_as_it_was) {
    end_everywhere();
    ahead = 8;
    end_everywhere();
    backend = "ref-schedule";
    end_everywhere();
    use_queue();
    end_everywhere();
    ahead = 0;
    end_everywhere();
    vyre_registry_destroy(registry);
}
