/* Trips of turned loops that run as one launch (src/backend/cpu/trips.c): which segments are fit
 * for it, how many trips are taken together, and programs against "ref" whose lanes would show it
 * if trips ran together that must not. */
#include "backend/cpu/trips.h"

#include <stdio.h>

#include "base/alloc.h"
#include "harness/run.h"

/* Whether a segment that is a trip of a loop runs together with others; up to where. */
static uint32_t most_of(const char *body) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(8) { in a : u32[]; inout o : u32[]; inout q : f32[];\n"
                   "param t : u32; param n : u32; private r : u32[3];\n"
                   "let i = t + global_id.x; %s }",
                   body);
    vyre_program *segment = run_parse(text);
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_diag diag = {0};
    cpu_trips trips;
    REQUIRE_OK(cpu_trips_find(segment, &a, &trips, &diag), &diag);
    if (trips.most > 0) {
        CHECK_EQ(trips.decl, 3);
    }
    vyre_program_release(segment);
    return trips.most;
}

static void fit(const char *body) {
    if (most_of(body) == 0) {
        test_fail(__FILE__, __LINE__, "trips run one by one: %s", body);
    }
}

static void unfit(const char *body) {
    if (most_of(body) != 0) {
        test_fail(__FILE__, __LINE__, "trips run together: %s", body);
    }
}

TEST(trips_run_together_if_each_has_elements_of_its_own) {
    fit("if (global_id.x < sat_sub(n, t)) { o[i] = a[i + 1] * i; }");
    fit("let left = sat_sub(len(a) - 1, t); if (global_id.x < left) { o[i] = o[i] + n; }");
    fit("if (global_id.x < sat_sub(n, t)) { o[i + 3] = o[i + 3] + a[a[i]]; q[i] = f32(i); }");
    fit("let k = 0; while (k < a[i]) { k = k + 1; r[k % 3] = k; } q[i] = f32(r[1]);"
        "let z = t + global_id.x; q[z] = q[i] + f32(global_size.x);");
    fit("o[i * 3] = 1; o[2 + 3 * i] = o[i * 3 + 1];");
}

TEST(lanes_that_know_their_trip_run_apart) {
    unfit("if (global_id.x < n - t) { o[i] = 1; }"); /* n may be below t */
    unfit("if (global_id.x < sat_sub(n, t)) { o[i] = global_id.x; }");
    unfit("if (global_id.x < sat_sub(a[0], t)) { o[i] = 1; }"); /* it may change meanwhile */
    unfit("o[i] = t;");
    unfit("let x = global_id.x; o[i] = x;");
    unfit("let z = t; z = z + 1; o[i] = z;");
    unfit("for (k in global_id.x .. 9) { o[i] = k; }");
    unfit("if (t > 3) { o[i] = 1; }");
    unfit("if (sat_sub(n, t) > 3) { o[i] = 1; }");
}

TEST(lanes_that_come_back_to_an_element_run_apart) {
    unfit("o[0] = i;");
    unfit("o[i % 16] = i;");
    unfit("o[a[i]] = i;");
    unfit("o[i] = o[i + 1];");
    unfit("o[i] = o[0];");
    unfit("o[i] = 1; o[i + 1] = 2;");
    unfit("o[i * 2] = 1; o[i * 2 + 2] = 2;");
    unfit("o[i * 2] = 1; o[i * 3] = 2;");
    unfit("o[i * 0] = 1;");
    unfit("let k = atomic_add(o[i], 1); q[i] = f32(k);");
    unfit("if (a[i] > 9) { exit; } o[i] = 1;");
    unfit("if (a[i] > 9) { trap(\"nine\", i); } o[i] = 1;");
}

TEST(trips_run_together_if_their_order_is_nobodys_matter) {
    fit("if (global_id.x < sat_sub(n, t)) { atomic_add(o[a[i] % 9], i, relaxed); q[i] = 1.0; }");
    fit("atomic_or(o[i], i); atomic_or(o[0], 2);");
    fit("if (a[i] > 9) { o[n & 1] = 1; } q[i] = f32(n);");
    unfit("atomic_add(o[0], i); atomic_max(o[0], 3);");
    unfit("atomic_add(o[0], i); q[i] = f32(o[1]);");
    unfit("q[i] = f32(o[i]); atomic_add(o[i], 1);");
    unfit("atomic_add(o[0], i); o[i] = 1;");
    unfit("o[n] = 1; atomic_add(o[0], i);");
    unfit("atomic_add(o[0], t);");
    unfit("o[n] = 1; o[n + 1] = 2; o[n] = 3;");
    unfit("o[n] = 1; q[i] = f32(o[0]);");
    unfit("o[n] = 1; q[i] = f32(o[i]);");
    unfit("q[i] = f32(o[i]); o[n] = 1;");
    unfit("o[n] = a[0];");
}

TEST(elements_stay_apart_as_far_as_they_do_not_wrap) {
    CHECK(most_of("o[i] = 1;") > UINT32_C(0xfffe0000));
    const uint32_t most = most_of("o[i * 5 + 4] = 1;");
    CHECK(most > UINT32_C(0x30000000));
    CHECK((uint64_t)most * 5 + 4 < UINT64_C(1) << 32);
}

/* The schedule of a loop over n elements by 16 lanes. */
static void expect_trips(const char *body, uint32_t n, uint32_t trips, uint32_t steps) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(8) { inout o : u32[]; param n : u32; param m : u32;\n"
                   "for (i in global_id.x + 2 .. n step global_size.x) { %s } }",
                   body);
    vyre_program *program = run_parse(text);
    const vyre_split_options options = {.turn_loops = true};
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(program, &options, NULL, &module, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(module);
    REQUIRE(v->segment_count == 1 && vyre_position_words(module) <= 64);
    uint64_t words[64], source_values[8] = {0, n, 7}, values[8] = {0};
    uint32_t counts[8] = {n}, bound_counts[8] = {n};
    vyre_memory memory[8] = {0}, bound_memory[8] = {0};
    const vyre_launch source = {
        .memory = memory, .counts = counts, .values = source_values, .grid = {2, 1, 1}};
    const vyre_segment_binding bound = {bound_memory, bound_counts, values};
    const vyre_module_launch pass = {.module = module, .source = &source, .segments = &bound};
    vyre_position at = vyre_position_begin(module, words);
    cpu_trips may;
    REQUIRE_OK(cpu_trips_find(v->segments[0], &a, &may, &diag), &diag);
    CHECK(may.most > 0);
    uint32_t launches = 0, all = 0;
    while (at.step != VYRE_NONE && !test_failed()) {
        REQUIRE_OK(vyre_position_enter(&at, &pass, NULL, NULL, NULL), NULL);
        if (v->steps[at.step].segment != VYRE_NONE) {
            const uint64_t first = values[may.decl];
            CHECK_EQ(first, 2 + 16 * all);
            const uint32_t taken = cpu_trips_fold(&at, &pass, &may, 16);
            CHECK_EQ(values[may.decl], first);
            launches++;
            all += taken;
        }
        REQUIRE_OK(vyre_position_leave(&at, &pass, NULL, NULL), NULL);
    }
    CHECK_EQ(all, trips);
    CHECK_EQ(launches, steps);
    vyre_module_release(module);
    vyre_program_release(program);
}

TEST(all_trips_of_a_loop_are_taken_together) {
    expect_trips("o[i] = i;", 2, 0, 0);
    expect_trips("o[i] = i;", 18, 1, 1);
    expect_trips("o[i] = i;", 19, 2, 1);
    expect_trips("o[i] = i + m;", 1000, 63, 1);
    expect_trips("o[i] = i;", 100000, 6250, 2); /* somebody looks at the clock in between */
    expect_trips("o[4000 * i] = i;", 16 * 66862 + 2, 66862, 27); /* the last ones could wrap */
}

static void check(const char *text, uint32_t n, uint32_t x, uint32_t y) {
    static const char *const devices[] = {"cpu", "cpu://threads=1", "cpu://threads=3&gang=4"};
    static uint32_t words[4096];
    uint64_t random = n;
    for (uint32_t i = 0; i < 4096; i++) {
        words[i] = (uint32_t)test_random(&random) % 50;
    }
    vyre_program *program = run_parse(text);
    const vyre_input input = {words, (size_t)n * 4};
    const vyre_dispatch_options options = {.has_grid = true, .grid = {x, y, 1}};
    run_result want = run_program("ref", program, &input, 1, &options);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t d = 0; d < 3 && !test_failed(); d++) {
        run_result got = run_program(devices[d], program, &input, 1, &options);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        if (got.status == VYRE_OK && !run_same(&want, &got)) {
            test_fail(__FILE__, __LINE__, "%s, n = %u, grid %u %u:\n%s", devices[d], n, x, y, text);
        }
        run_finish(&got);
    }
    run_finish(&want);
    vyre_program_release(program);
}

static void need_llvm(void) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
}

static void check_grids(const char *text) {
    need_llvm();
    check(text, 1, 1, 1);
    check(text, 333, 1, 1);
    check(text, 1000, 3, 1);
    check(text, 4096, 5, 1);
    check(text, 517, 2, 3);
}

TEST(trips_together_give_the_same_bytes) {
    check_grids("program p workgroup(24) { in a : u32[]; out b : u32[3 * len(a)];\n"
                "  for (i in global_id.x .. len(a) step global_size.x) {\n"
                "    let s = 0; for (k in 0 .. a[i] % 7) { s = s + a[(i + k * 5) % len(a)]; }\n"
                "    if (global_id.y == 0) { b[i * 3 + 1] = s; b[i * 3] = i; } } }");
    check_grids(
        "program p workgroup(24) { in a : u32[]; out b : u32[len(a)]; out c : u32[len(a)];\n"
        "  for (i in global_id.x + 3 .. len(a) step global_size.x) {\n"
        "    if (global_id.y == 0) { b[i] = a[i] + 1; } }\n"
        "  grid_sync;\n"
        "  for (i in global_id.x .. len(a) - 1 step global_size.x) {\n"
        "    if (global_id.y == 0) { c[i] = b[len(a) - 1 - i] + global_size.x; } } }");
}

TEST(trips_that_come_back_to_an_element_keep_their_order) {
    check_grids(
        "program p workgroup(24) { in a : u32[]; out b : u32[240];\n"
        "  for (i in global_id.x .. len(a) step global_size.x) {\n"
        "    if (global_id.y == 0) { b[i % global_size.x] = b[i % global_size.x] * 3 + a[i];"
        " } } }");
    check_grids("program p workgroup(24) { in a : u32[]; out b : u32[512];\n"
                "  for (i in global_id.x .. len(a) step global_size.x) {\n"
                "    if (global_id.x == 0 && global_id.y == 0) { b[a[i]] = i; } } }");
}

/* Loops of statements that are fit and unfit, one after the other, by drawn numbers of lanes. */
TEST(any_trips_give_the_same_bytes) {
    static const char *const statements[] = {
        "b[i] = a[i] * 3 + b[i];",
        "if (a[i] > 20) { c[2 * i + 1] = i; }",
        "c[i * 2] = c[i * 2] + a[(i * 7) % len(a)];",
        "d[i % 17 + 17 * global_id.x] = i;",
        "let k = 0; while (k < a[i] % 5) { k = k + 1; b[i] = b[i] * k + 1; }",
        "b[i] = b[i] + global_id.x;",
        "if (i % 3 == 0) { continue; }",
    };
    need_llvm();
    enum { STATEMENTS = sizeof statements / sizeof *statements };
    uint64_t random = 7;
    for (int round = 0; round < 8 && !test_failed(); round++) {
        char text[2048];
        int used = snprintf(text, sizeof text,
                            "program p workgroup(16) { in a : u32[]; out b : u32[len(a)];\n"
                            "out c : u32[2 * len(a)]; out d : u32[2000];\n");
        for (int loop = 0; loop < 3; loop++) {
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "for (i in global_id.x + %u .. len(a) - %u step global_size.x) {\n",
                             (unsigned)(test_random(&random) % 3),
                             (unsigned)(test_random(&random) % 9));
            for (uint64_t i = 1 + test_random(&random) % 3; i > 0; i--) {
                used += snprintf(text + used, sizeof text - (size_t)used, "if (true) { %s }\n",
                                 statements[test_random(&random) % STATEMENTS]);
            }
            used += snprintf(text + used, sizeof text - (size_t)used, "} grid_sync;\n");
        }
        (void)snprintf(text + used, sizeof text - (size_t)used, "}");
        check(text, 9 + (uint32_t)(test_random(&random) % 1500),
              1 + (uint32_t)(test_random(&random) % 6), 1);
    }
}
