/* The barrier optimiser: which barriers go, which stay, and that results stay the same. */
#include "base/text.h"
#include "harness/run.h"
#include "vyre/split.h"

typedef struct counts {
    uint32_t kept, disjoint, owned, weakened;
    bool along_x;
} counts;

static void check_valid(const vyre_program *program) {
    vyre_diag items[8] = {0};
    vyre_diag_list list = {.items = items, .capacity = 8};
    CHECK_STATUS(vyre_check(program, NULL, &list), VYRE_OK, &items[0]);
}

static counts count(const vyre_program *p, bool any_grid) {
    vyre_split_options options = {.any_grid = any_grid};
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    counts got = {.kept = v->kept_count, .along_x = v->along_x};
    for (uint32_t i = 0; i < v->removed_count; i++) {
        const vyre_removed_barrier *r = &v->removed[i];
        (r->weakened ? &got.weakened : r->owned_count ? &got.owned : &got.disjoint)[0]++;
        CHECK_EQ(r->weakened, r->why.decl != VYRE_NONE);
    }
    CHECK(v->sync_points >= v->kept_count); /* collectives */
    check_valid(v->source);
    for (uint32_t i = 0; i < v->segment_count; i++) {
        check_valid(v->segments[i]);
    }
    vyre_module_release(m);
    return got;
}

/* On ref in one order, split in all orders: the inputs of every program are words 0 to 7. */
static void check_results(const vyre_program *p, const uint32_t grid[3]) {
    static const uint32_t words[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const vyre_input input = {words, sizeof words};
    vyre_dispatch_options options = {.has_grid = grid != NULL};
    for (int axis = 0; axis < 3 && grid; axis++) {
        options.grid[axis] = grid[axis];
    }
    run_result want = run_program("ref", p, &input, 1, &options);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t order = 0; order <= VYRE_ORDER_INTERLEAVED; order++) {
        options.order = (vyre_order)order;
        run_result got = run_program("ref-split", p, &input, 1, &options);
        CHECK(run_same(&want, &got));
        run_finish(&got);
    }
    run_finish(&want);
}

static void expect(const char *body, counts want) {
    char text[2048];
    const bool whole = body[0] == 'p';
    (void)snprintf(text, sizeof text,
                   whole
                       ? "%s"
                       : "program p workgroup(4) elements(8) { inout a : u32[8]; out b : u32[8];\n"
                         "  scratch c : u32[16]; param n : u32 = 3; let g = global_id.x; %s }",
                   body);
    vyre_program *p = run_parse(text);
    const counts got = count(p, false);
    if (got.kept != want.kept || got.disjoint != want.disjoint || got.owned != want.owned ||
        got.weakened != want.weakened || got.along_x != want.along_x) {
        test_fail(__FILE__, __LINE__,
                  "%s:\n  %u kept, %u disjoint, %u owned, %u weakened, along x: %d", body, got.kept,
                  got.disjoint, got.owned, got.weakened, got.along_x);
    }
    CHECK(!count(p, true).along_x);
    check_results(p, NULL);
    vyre_program_release(p);
}

static const counts stays = {.kept = 1}, own = {.owned = 1, .along_x = true},
                    weak = {.weakened = 1, .along_x = true};

TEST(elements_of_one_lane_need_no_barrier) {
    expect("a[g] = a[g] * 2; grid_sync; b[g] = a[g];", own);
    expect("a[g] = 9 - a[g]; grid_sync; a[global_id.x] += 2;", own);
    expect("for (v in g .. 8 step global_size.x) { a[v] *= 3; } grid_sync; b[g] = a[g];", own);
    expect("let s = global_size.x; for (v in g .. 8 step s) { a[v] *= 3; } grid_sync;\n"
           "  for (w in global_id.x .. 8 step s) { b[w] = a[w]; }",
           own);
    expect("c[g + n] = 5 + g; grid_sync; b[g] = c[n + g];", own);
    expect("let i = g + 2 * n; c[i] = g; grid_sync; b[g] = c[2 * n + g];", own);
    expect("c[len(a) - g] = g; grid_sync; b[g] = c[len(a) - g];", own);
    expect("atomic_add(a[g], 4); grid_sync; b[g] = a[g];", own);
}

TEST(other_elements_do) {
    expect("a[g] = a[g] * 2; grid_sync; b[g] = a[7 - g];", stays);
    expect("b[g] = a[7 - g]; grid_sync; a[g] = 5;", stays);
    expect("b[g] = g; grid_sync; b[g ^ 4] = 7;", stays);
    expect("c[g] = g; grid_sync; b[g] = c[g + 1];", stays);
    expect("c[g + n] = g; grid_sync; b[g] = c[g + 2];", stays);
    /* The first of two accesses is the lane's own, the second is not. */
    expect("b[g] = a[g] + a[g ^ 4]; grid_sync; a[g] = 1;", stays);
    /* An assigned variable is not what it was defined as. */
    expect("let i = global_id.x; a[i] = 3; i = 7 - i; grid_sync; b[g] = a[i];", stays);
    expect("let i = g; a[i] += 3; grid_sync; i = i ^ 4; a[i] += 1;", stays);
    expect("let i = g; a[i] = 3 + g; if (n == 3) { i = 7 - g; } grid_sync; b[g] = a[i];", stays);
    /* Two lanes have one index, or a loop may wrap into another's elements. */
    expect("atomic_add(a[g / 2], g); grid_sync; b[g] = a[g / 2];", stays);
    expect("atomic_add(a[g & 3], g); grid_sync; b[g] = a[g & 3];", stays);
    expect("for (v in g + 1 .. 8 step global_size.x) { c[v] = g; } grid_sync;\n"
           "  for (v in g + 1 .. 8 step global_size.x) { b[v] = c[v]; }",
           stays);
    expect("for (v in g .. 8) { atomic_add(c[v], g); } grid_sync; b[g] = c[g];", stays);
}

TEST(a_group_tells_its_own_lanes_apart) {
#define GROUPED(body)                                                                              \
    "program p workgroup(4) elements(8) { inout a : u32[8]; out b : u32[8]; workgroup w : "        \
    "u32[8];\n  let l = local_id.x; " body " }"
    expect(GROUPED("w[l] = a[global_id.x]; grid_sync; b[global_id.x] = w[l];"),
           (counts){.owned = 1});
    expect(GROUPED("for (v in l .. 8 step group_size.x) { w[v] = v + group_id.x; } grid_sync;\n"
                   "  b[global_id.x] = w[l];"),
           (counts){.owned = 1});
    expect(GROUPED("w[l] = a[global_id.x]; grid_sync; b[global_id.x] = w[3 - l];"),
           (counts){.weakened = 1});
    /* Lanes of other groups have the same local id. */
    expect(GROUPED("atomic_add(a[l], 5); grid_sync; b[global_id.x] = a[l];"), stays);
    /* Both: of a each lane its own elements, of w the group's. */
    expect(GROUPED("w[l] = a[global_id.x]; a[global_id.x] = l; grid_sync;\n"
                   "  b[global_id.x] = w[3 - l] + a[global_id.x];"),
           (counts){.weakened = 1, .along_x = true});
#undef GROUPED
}

TEST(a_lane_is_known_by_its_group_and_place) {
#define WOVEN(before, behind)                                                                      \
    "program p workgroup(4) elements(8) { inout a : u32[8]; out b : u32[8]; param k : u32 = 0;\n"  \
    "  let l = local_id.x; let g = group_id.x; let f = k;\n"                                       \
    "  a[" before "] += 3; grid_sync; b[global_id.x] = a[" behind "]; }"
    expect(WOVEN("g * 4 + l", "global_id.x"), own);
    expect(WOVEN("l + group_size.x * g", "g * 4 + l"), own);
    expect(WOVEN("(g - f) * 4 + l", "(group_id.x - k) * group_size.x + local_id.x"), own);
    expect(WOVEN("(f - g) * 4 + l", "(f - g) * 4 + l"), own);
    expect(WOVEN("(g + f) * 4 + l", "(f - g) * 4 + l"), stays);
    expect(WOVEN("(g + f) * 4 + l", "g * 4 + l"), stays);
    expect(WOVEN("(g ^ f) * 4 + l", "(g ^ f) * 4 + l"), stays);
    /* Lanes of two groups meet. */
    expect("program p workgroup(4) elements(8) { inout a : u32[8]; out b : u32[8];\n"
           "  let i = group_id.x * 3 + local_id.x; atomic_add(a[i], 1 + group_id.x); grid_sync;\n"
           "  b[global_id.x] = a[i]; }",
           stays);
    expect("program p workgroup(4) elements(8) { inout a : u32[8]; out b : u32[8];\n"
           "  let i = group_id.x * 4; atomic_add(a[i], 1 + local_id.x); grid_sync;\n"
           "  b[global_id.x] = a[i]; }",
           stays);
#undef WOVEN
}

/* A workgroup barrier orders buffers within its group. */
TEST(elements_of_one_group_need_its_barrier_only) {
    expect("a[g] = a[g] * 2; grid_sync; b[g] = a[g ^ 1];", weak);
    expect("b[g] = a[g ^ 3] + a[g]; grid_sync; a[g] = 5;", weak);
    expect("b[g] = g; grid_sync; b[g ^ 2] += 7;", weak);
    expect("atomic_add(a[g ^ 1], g); grid_sync; b[g] = a[g];", weak);
    expect("for (v in g .. 16 step global_size.x) { c[v] = v; } grid_sync;\n"
           "  for (v in g .. 16 step global_size.x) { atomic_add(b[v % 8], c[v ^ 1]); }",
           weak);
    expect("for (v in g .. 8 step global_size.x) { a[v] *= 2; } grid_sync; b[g] = a[g ^ 1];", weak);
    expect("a[group_id.x * 4 + (3 - local_id.x)] = g; grid_sync; b[g] = a[g];", weak);
    expect("const last = 3; a[group_size.x * group_id.x + (last - local_id.x)] = g; grid_sync;\n"
           "  b[g] = a[group_id.x * 4 + (group_size.x - 1 - local_id.x ^ 1)];",
           weak);
    expect("c[g + n] = 5 + g; grid_sync; b[g] = c[n + (g ^ 1)];", weak);
    expect("c[len(a) - g] = g; grid_sync; b[g] = c[len(a) - (g ^ 2)];", weak);
    expect("c[(group_id.x + n - 3) * 4 + local_id.x] = g; grid_sync;\n"
           "  b[g] = c[(group_id.x + n - 3) * 4 + (local_id.x ^ 1)];",
           weak);
    /* One in the loop, of two. */
    expect("for (k in 0 .. 3) { c[g] = k; grid_sync; b[g] += c[g ^ 1]; grid_sync; }",
           (counts){.weakened = 2, .along_x = true});
    expect("a[g] = 1 + g; grid_sync; c[g] = a[g ^ 1]; grid_sync; b[g] = c[7 - g];",
           (counts){.kept = 1, .weakened = 1, .along_x = true});
}

TEST(elements_of_several_groups_need_the_grid) {
    expect("c[g] = 5 + g; grid_sync; b[g] = c[g ^ 4];", stays);
    expect("c[g ^ n] = 5 + g; grid_sync; b[g] = c[g];", stays);
    expect("c[g + 1] = 5 + g; grid_sync; b[g] = c[g ^ 1];", stays);
    expect("c[(g + 1) ^ 1] = 5 + g; grid_sync; b[g] = c[g + 1];", stays);
    expect("c[g + n] = 5 + g; grid_sync; b[g] = c[g + 2 ^ 1];", stays);
    /* Beyond the group's place. */
    expect("c[group_id.x * 4 + (7 - local_id.x)] = g; grid_sync; b[g] = c[g];", stays);
    expect("c[group_id.x * 4 + (2 - local_id.x)] = g; grid_sync; b[g] = c[g];", stays);
    expect("c[group_id.x * 4 + (local_id.x ^ 4)] = g; grid_sync; b[g] = c[g];", stays);
    expect("c[group_id.x * 4 + (local_id.x + 1)] = g; grid_sync; b[g] = c[g];", stays);
    expect(
        "for (v in local_id.x .. 8 step group_size.x) { atomic_add(c[group_id.x * 4 + v], 1); }\n"
        "  grid_sync; b[g] = c[g];",
        stays);
    /* Some accesses of the group's elements, one of others'. */
    expect("c[g ^ 1] = g; grid_sync; b[g] = c[g] + c[7 - g];", stays);
    /* The size of a group that is no power of two. */
#define IN_SIX(index)                                                                              \
    "program p workgroup(6) elements(12) { in z : u32[8]; out a : u32[16]; out b : u32[12]; let "  \
    "g = "                                                                                         \
    "global_id.x;\n  a[g] = 1 + g; grid_sync; b[g] = a[" index "]; }"
    expect(IN_SIX("g ^ 1"), weak);
    expect(IN_SIX("g ^ 2"), stays);
    expect(IN_SIX("group_id.x * 6 + (5 - local_id.x)"), weak);
    expect(IN_SIX("group_id.x * 6 + (local_id.x ^ 1)"), stays);
#undef IN_SIX
    /* A load that is the same for the group: what follows may rest on it. */
    expect("if (local_id.x == 0) { a[group_id.x] = 5 + g; } grid_sync; b[g] = a[group_id.x];",
           stays);
    expect("if (local_id.x == 0) { a[group_id.x] = g; } grid_sync;\n"
           "  if (a[group_id.x] != 0) { b[g] = 1; barrier; b[g ^ 1] += 2; }",
           stays);
}

TEST(groups_that_do_not_lie_along_x_own_nothing) {
    expect("program p workgroup(4, 2) grid(2, 1) { inout a : u32[8]; out b : u32[16];\n"
           "  atomic_add(a[global_id.x], 1 + global_id.y); grid_sync;\n"
           "  b[global_id.y * 8 + global_id.x] = a[global_id.x]; }",
           stays);
    /* In a group of one lane the proof that all its lanes come to a barrier rests on the load. */
    expect("program p workgroup(1) elements(8) { inout a : u32[8]; out b : u32[8];\n"
           "  let g = global_id.x; a[g] = a[g] & 1; grid_sync;\n"
           "  if (a[g] != 0) { barrier; b[g] = 1; } }",
           stays);
}

TEST(intervals_follow_the_control_flow) {
    /* The next trip is behind the barrier. */
    expect("for (k in 0 .. 3) { let i = (g + k) & 7; a[i] = a[i] * 2 + g; grid_sync; }", stays);
    expect("for (k in 0 .. 3) { let i = (g + k) & 7; a[i] = a[i] * 2 + g;\n"
           "  if (k != 2) { grid_sync; continue; } b[g] = k; }",
           stays);
    expect(
        "let k = 0; while (k < 3) { let i = (g + k) & 7; a[i] = a[i] * 2 + g; k += 1; grid_sync; "
        "}",
        stays);
    /* What is read where a loop decides. */
    expect("while (a[1] < 9) { grid_sync; if (g == 0) { a[1] += 3; } grid_sync; }",
           (counts){.kept = 2});
    /* Both ways to the end of an `if` meet. */
    expect("if (n == 3) { a[g] = 2; grid_sync; } else { b[g] = 4; } b[g] += a[7 - g];", stays);
    expect("if (n == 3) { a[g] = 2; } else { b[g] = 4; } grid_sync; b[g] += a[7 - g];", stays);
    /* Nothing on one side: of two barriers in a row one is enough, at the end none. */
    expect("a[g] = 4; grid_sync; grid_sync; b[g] = a[7 - g]; grid_sync;",
           (counts){.kept = 1, .disjoint = 2});
    /* Of two that would do, the one in the loop goes. */
    expect(
        "a[g] = 4; for (k in 0 .. 3) { grid_sync; c[g] = k; } grid_sync; b[g] = a[7 - g] + c[g];",
        (counts){.kept = 1, .disjoint = 0, .owned = 1, .along_x = true});
    /* Three parts, of which only the outer two conflict. */
    expect("a[g] = 4; grid_sync; b[g] = 1; grid_sync; b[g] += a[7 - g];",
           (counts){.kept = 1, .disjoint = 1});
}

TEST(what_a_proof_of_uniformity_rests_on_stays) {
    expect("a[g] = a[g] + 1; grid_sync; if (a[0] == 1) { b[g] = 1; grid_sync; b[g ^ 4] += 2; }",
           (counts){.kept = 2});
    expect("let u = c[3]; grid_sync; c[g] = 5; if (u == 0) { b[g] = 1; grid_sync; b[g ^ 4] += 2; }",
           (counts){.kept = 2});
}

TEST(traps_and_collectives_stay_apart) {
    vyre_program *p = run_parse("program p workgroup(4) elements(8) { inout a : u32[8];\n"
                                "  if (a[global_id.x] == 99) { trap(\"t\", 1); } grid_sync;\n"
                                "  if (a[global_id.x] == 98) { trap(\"u\", 2); } }");
    CHECK_EQ(count(p, false).kept, 1);
    vyre_program_release(p);
    expect("a[g] += 1; all_gather(a, b); c[g] = a[g]; grid_sync; c[g] += 1;", own);
}

/* Lanes that share global_id.x: the version for grids along x would read too early. */
TEST(other_grids_get_a_version_of_their_own) {
    vyre_program *p = run_parse("program p workgroup(4) { inout a : u32[8]; out b : u32[16];\n"
                                "  atomic_add(a[global_id.x], 1 + global_id.y); grid_sync;\n"
                                "  b[global_id.y * 8 + global_id.x] = a[global_id.x]; }");
    CHECK(count(p, false).along_x);
    const counts any = count(p, true);
    CHECK_EQ(any.kept, 1);
    CHECK(!any.along_x);
    check_results(p, (const uint32_t[]){2, 2, 1});
    check_results(p, (const uint32_t[]){2, 1, 2});
    check_results(p, (const uint32_t[]){2, 1, 1});
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_device_open(NULL, "ref-split", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_compile(device, p, NULL, &pipeline, &diag), &diag);
    vyre_buffer *all[2] = {NULL};
    REQUIRE_OK(vyre_buffer_create(device, 32, &all[0], &diag), &diag);
    REQUIRE_OK(vyre_buffer_create(device, 64, &all[1], &diag), &diag);
    for (uint32_t i = 0; i < 4; i++) { /* both versions, each used twice, and an empty grid */
        vyre_dispatch_options options = {.has_grid = true, .grid = {2, 1 + i % 2, 1}};
        vyre_dispatch_report report;
        REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 2, &options, &report, &diag), &diag);
        CHECK_EQ(report.stats.launches, 1 + i % 2);
        options.grid[0] = 0;
        options.grid[1] = 5;
        REQUIRE_OK(vyre_dispatch_resident(pipeline, all, 2, &options, &report, &diag), &diag);
        CHECK_EQ(report.stats.launches, 0);
    }
    vyre_buffer_destroy(all[0]);
    vyre_buffer_destroy(all[1]);
    vyre_pipeline_release(pipeline);
    vyre_device_close(device);
    vyre_program_release(p);
}

TEST(a_loop_without_barriers_is_not_taken_apart) {
    vyre_program *p = run_parse("program p workgroup(4) elements(8) { inout a : u32[8];\n"
                                "  for (k in 0 .. 9) { a[global_id.x] = a[global_id.x] * 3 + k;\n"
                                "    grid_sync; } }");
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, NULL), NULL);
    CHECK_EQ(vyre_module_get(m)->step_count, 1);
    CHECK_EQ(vyre_module_get(m)->segment_count, 1);
    vyre_module_release(m);
    vyre_program_release(p);
}

static bool collect(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

TEST(each_decision_is_explained) {
    static const char program[] = "program p workgroup(4) elements(8) {\n"
                                  "  inout a : u32[8]; out b : u32[8]; workgroup w : u32[4];\n"
                                  "  let g = global_id.x;\n"
                                  "  a[g] = 1;\n"
                                  "  grid_sync;\n"
                                  "  b[g] = a[7 - g];\n"
                                  "  grid_sync;\n"
                                  "  b[g] += 1; w[local_id.x] = 3;\n"
                                  "  grid_sync;\n"
                                  "  b[g] += w[3 - local_id.x];\n"
                                  "  grid_sync; }";
    static const struct {
        vyre_module_format format;
        const char *text;
    } wanted[] = {
        {VYRE_MODULE_EXPLAIN, "    stays: a is written on line 4 and read on line 6\n"},
        {VYRE_MODULE_EXPLAIN, "line 7, removed: every lane touches only its own elements of b\n"},
        {VYRE_MODULE_EXPLAIN, "line 9, made a workgroup barrier: w is written on line 8 and read "
                              "on line 10, within each group; every lane touches only its own "
                              "elements of b\n"},
        {VYRE_MODULE_EXPLAIN, "line 11, removed: nothing that is written on one side is used on "
                              "the other\n"},
        {VYRE_MODULE_JSON, "\"along_x\":true"},
        {VYRE_MODULE_JSON, "\"stays\":{\"memory\":\"a\",\"before\":\"written\",\"line_before\":4,"
                           "\"behind\":\"read\",\"line_behind\":6}"},
        {VYRE_MODULE_JSON, "\"line\":7,\"col\":3,\"owned\":[\"b\"]"},
    };
    vyre_program *p = run_parse(program);
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, NULL), NULL);
    for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        vyre_text text;
        vyre_text_init(&text, NULL);
        REQUIRE_OK(vyre_module_write(m, wanted[i].format, NULL, collect, &text, NULL), NULL);
        CHECK_HAS(vyre_text_string(&text), wanted[i].text);
        vyre_text_finish(&text);
    }
    vyre_module_release(m);
    vyre_program_release(p);
}
