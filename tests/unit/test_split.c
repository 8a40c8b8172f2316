/* Splitting: what crosses a grid barrier arrives, whatever it is, and as cheaply as can be. Each
 * program runs natively and split, in all orders, on both paths, and gives the expected words. What
 * must not be carried is in test_split_alive.c, the form of segments in test_split_segments.c. */
#include "harness/everywhere.h"

TEST(values_stored_before_a_barrier_arrive) {
    run_everywhere(
        "program p workgroup(2) elements(4) { out o : u32[4]; scratch s : u32[4];\n"
        "  let x = global_id.x * 3; let y = s[global_id.x]; x = x + 1; s[global_id.x] = 9;\n"
        "  grid_sync; o[global_id.x] = x + y; }",
        NULL, 0, 0, RUN_WORDS(1, 4, 7, 10));
}

TEST(loops_with_barriers_inside) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[4];\n"
                   "  for (i in 0 .. 5) { let v = o[(global_id.x + 1) % 4]; grid_sync;\n"
                   "    o[global_id.x] = v + 1; grid_sync; } }",
                   NULL, 0, 0, RUN_WORDS(5, 5, 5, 5));
}

TEST(while_on_memory_with_barriers_inside) {
    run_everywhere(
        "program p workgroup(2) elements(4) { out o : u32[4]; scratch f : u32[1];\n"
        "  let more = 1; let k = 0;\n"
        "  while (more != 0) { k = k + 1; if (global_id.x == 0) { f[0] = 3 - k; } grid_sync;\n"
        "    more = f[0]; grid_sync; }\n"
        "  o[global_id.x] = k * 10 + global_id.x; }",
        NULL, 0, 0, RUN_WORDS(30, 31, 32, 33));
}

TEST(lanes_that_ended_stay_ended) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[4];\n"
                   "  if (global_id.x == 1) { exit; } o[global_id.x] = 1; grid_sync;\n"
                   "  if (global_id.x == 2) { exit; } o[global_id.x] = 2; grid_sync;\n"
                   "  o[global_id.x] = 3; }",
                   NULL, 0, 0, RUN_WORDS(3, 0, 1, 3));
}

TEST(nothing_runs_after_all_lanes_have_ended) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[4]; let n = 0;\n"
                   "  while (true) { o[global_id.x] = o[global_id.x] + 1; grid_sync; n = n + 1;\n"
                   "    if (n == 3) { exit; } } }",
                   NULL, 0, 0, RUN_WORDS(3, 3, 3, 3));
}

TEST(workgroup_memory_survives) {
    run_everywhere("program p workgroup(4) elements(8) { out o : u32[8]; workgroup w : u32[4];\n"
                   "  w[local_id.x] = global_id.x * 7; barrier; grid_sync;\n"
                   "  o[global_id.x] = w[3 - local_id.x]; }",
                   NULL, 0, 0, RUN_WORDS(21, 14, 7, 0, 49, 42, 35, 28));
}

TEST(workgroup_memory_survives_where_lanes_have_ended) {
    run_everywhere(
        "program p workgroup(4) elements(8) { out o : u32[8]; workgroup w : u32[6];\n"
        "  w[local_id.x] = global_id.x + 1; w[4] = 9; if (local_id.x == 0) { exit; } barrier;\n"
        "  grid_sync; w[5] = 1; barrier; grid_sync;\n"
        "  if (global_id.x == 2) { exit; } barrier;\n"
        "  o[global_id.x] = w[0] + w[4] + w[5]; }",
        NULL, 0, 0, RUN_WORDS(0, 11, 0, 11, 0, 15, 15, 15));
}

TEST(private_arrays_survive) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[4]; private a : u64[3];\n"
                   "  for (i in 0 .. 3) { a[i] = u64(global_id.x + i) << 33; } grid_sync;\n"
                   "  a[1] = a[1] + a[2]; grid_sync;\n"
                   "  o[global_id.x] = u32(a[0] >> 33) * 100 + u32(a[1] >> 33); }",
                   NULL, 0, 0, RUN_WORDS(3, 105, 207, 309));
}

TEST(every_type_survives) {
    run_everywhere(
        "program p workgroup(2) elements(4) { out o : u32[4]; scratch z : u32[4];\n"
        "  let g = z[global_id.x] + global_id.x;\n"
        "  let a = g > 1; let b = i32(g) - 2i; let c = u64(g) << 40; let d = i64(b) << 35;\n"
        "  let e = f32(g) * 0.5; let f = f64(g) * 0.25d; z[global_id.x] = 5; grid_sync;\n"
        "  o[global_id.x] = u32(a) + u32(b + 2i) * 10 + u32(c >> 40) * 100 +\n"
        "    u32((d >> 35) + 2l) * 1000 + u32(e * 2.0) * 10000 + u32(f * 4.0d) * 100000; }",
        NULL, 0, 0, RUN_WORDS(0, 111110, 222221, 333331));
}

TEST(breaks_and_continues_of_loops_with_barriers) {
    run_everywhere(
        "program p workgroup(2) elements(4) { out o : u32[4];\n"
        "  for (i in 0 .. 10 step 2) { if (i == 2) { continue; } if (i == 8) { break; }\n"
        "    o[global_id.x] = o[global_id.x] + i; grid_sync; if (i == 6) { "
        "o[global_id.x]\n"
        "      = o[global_id.x] + 100; grid_sync; } } }",
        NULL, 0, 0, RUN_WORDS(110, 110, 110, 110));
}

TEST(functions_with_barriers) {
    run_everywhere(
        "program p workgroup(2) elements(4) { out o : u32[4]; scratch s : u32[4];\n"
        "  fn turn(v : u32) -> u32 { s[global_id.x] = v; grid_sync;\n"
        "    let r = s[(global_id.x + 1) % 4]; grid_sync; return r; }\n"
        "  let a = turn(global_id.x * 10); let b = turn(a + 1); o[global_id.x] = a + b; }",
        NULL, 0, 0, RUN_WORDS(31, 51, 31, 11));
}

TEST(both_arms_of_an_if) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[4]; param k : u32 = 1;\n"
                   "  let x = global_id.x; if (k == 1) { o[x] = x; grid_sync; x = o[3 - x]; }\n"
                   "  else { grid_sync; x = 77; } grid_sync; o[global_id.x] = x; }",
                   NULL, 0, 0, RUN_WORDS(3, 2, 1, 0));
}

TEST(collectives_of_one_rank) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
                   "  s[global_id.x] = global_id.x + 1; all_reduce(s, sum); all_gather(s, o);\n"
                   "  o[global_id.x] = o[global_id.x] * 2; }",
                   NULL, 0, 0, RUN_WORDS(2, 4, 6, 8, 0, 0));
}

TEST(functions_with_async_copies_may_be_called_twice) {
    run_everywhere(
        "program p workgroup(1) elements(2) { out o : u32[4]; in s : u32[4];\n"
        "  private a : u32[1]; fn get(i : u32) -> u32 { async_load(s, a, i * 4, 4, \"t\");\n"
        "    grid_sync; async_wait(\"t\"); return a[0]; }\n"
        "  let x = get(global_id.x); let y = get(x); o[2 * global_id.x] = x;\n"
        "  o[2 * global_id.x + 1] = y; }",
        (vyre_input[]){{(const uint32_t[]){2, 3, 8, 9}, 16}}, 1, 0, RUN_WORDS(2, 8, 3, 9));
}

TEST(collectives_do_not_depend_on_lanes_that_ended) {
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
                   "  s[global_id.x] = global_id.x + 1; if (global_id.x != 2) { exit; }\n"
                   "  all_gather(s, o); o[5] = 7; }",
                   NULL, 0, 0, RUN_WORDS(1, 2, 3, 4, 0, 7));
    run_everywhere("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
                   "  s[global_id.x] = global_id.x + 1; if (s[global_id.x] != 9) { exit; }\n"
                   "  all_gather(s, o); o[5] = 7; }",
                   NULL, 0, 0, RUN_WORDS(0, 0, 0, 0, 0, 0));
}

static const char *crowded =
    "program p workgroup(2) elements(4) { out o : u32[4]; workgroup w : u32[2];\n"
    "  private a : f32[2]; fn f(v : u32) -> u32 { grid_sync; return v + 1; }\n"
    "  let x = f(o[global_id.x]); if (x == 3) { exit; } while (x < 3) { grid_sync; x = 3; }\n"
    "  region \"r\" { for (i in 0 .. x) { grid_sync; w[0] = i; a[0] = 1.0; } }\n"
    "  o[global_id.x] = x + w[0] + u32(a[0]); }";

static vyre_status split_crowded(const vyre_allocator *a, void *user) {
    vyre_module *m = NULL;
    vyre_status status = vyre_split(user, NULL, a, &m, NULL);
    vyre_module_release(m);
    return status;
}

TEST(splitting_survives_every_failed_allocation) {
    vyre_program *p = run_parse(crowded);
    CHECK(test_every_allocation(split_crowded, p, 2000) > 50);
    vyre_program_release(p);
}

TEST(async_copies_are_pending_across_a_barrier) {
    run_everywhere(
        "program p workgroup(1) elements(2) { out o : u32[4]; scratch s : u32[4];\n"
        "  workgroup w : u32[2]; s[2 * global_id.x] = 5 + global_id.x; s[1 + 2 * global_id.x] = "
        "6;\n"
        "  async_load(s, w, global_id.x * 8, 6, \"t\"); s[2 * global_id.x] = 99; grid_sync;\n"
        "  async_wait(\"t\"); o[2 * global_id.x] = w[0]; o[2 * global_id.x + 1] = w[1]; }",
        NULL, 0, 0, RUN_WORDS(5, 6, 6, 6));
    run_everywhere("program p workgroup(1) elements(1) { out o : u8[8]; in s : u8[4];\n"
                   "  async_store(s, o, 3, 4, \"t\"); grid_sync; async_wait(\"t\"); }",
                   (vyre_input[]){{"\x15\x16\x17\x18", 4}}, 1, 0,
                   RUN_WORDS(0x15000000, 0x00181716));
}

/* Splits and counts: grid barriers kept, removed, weakened. */
static void expect_barriers(const char *text, uint32_t kept, uint32_t removed, uint32_t weakened) {
    vyre_program *p = run_parse(text);
    for (int keep = 0; keep < 2; keep++) {
        vyre_split_options options = {.keep_barriers = keep != 0};
        vyre_module *m = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
        const vyre_module_view *v = vyre_module_get(m);
        uint32_t weak = 0;
        for (uint32_t i = 0; i < v->removed_count; i++) {
            weak += v->removed[i].weakened;
            CHECK(v->removed[i].place.line > 0);
        }
        CHECK_EQ(v->sync_points, keep ? kept + removed : kept);
        CHECK_EQ(v->removed_count, keep ? 0 : removed);
        CHECK_EQ(weak, keep ? 0 : weakened);
        vyre_module_release(m);
    }
    vyre_program_release(p);
}

TEST(barriers_that_nobody_needs_are_removed_or_weakened) {
    expect_barriers("program p workgroup(2) elements(4) { out a : u32[4]; out b : u32[4];\n"
                    "  a[global_id.x] = 1; grid_sync; b[global_id.x] = 2; grid_sync;\n"
                    "  b[global_id.x] += a[3 - global_id.x]; }",
                    1, 1, 0);
    expect_barriers("program p workgroup(2) elements(4) { out a : u32[4]; workgroup w : u32[2];\n"
                    "  w[local_id.x] = 1; grid_sync; a[global_id.x] = w[1 - local_id.x]; }",
                    0, 1, 1);
    expect_barriers("program p workgroup(2) elements(4) { inout a : u32[4]; out b : u32[4];\n"
                    "  b[global_id.x] = a[3 - global_id.x]; grid_sync; a[global_id.x] = 1; }",
                    1, 0, 0);
    expect_barriers("program p workgroup(2) elements(4) { out a : u32[4]; a[0] = 1; grid_sync;\n"
                    "  trap(\"t\", 1); }",
                    1, 0, 0);
    expect_barriers("program p workgroup(2) elements(4) { out a : u32[4]; out b : u32[4];\n"
                    "  a[global_id.x] = 1; grid_sync; grid_sync; b[global_id.x] = a[0]; }",
                    1, 1, 0);
}

/* Where nothing lies between two barriers lanes meet once, and steps that launch nothing cost
 * nothing. */
TEST(neighbouring_barriers_are_one_meeting) {
    static const struct {
        const char *body;
        uint64_t launches, meetings;
    } cases[] = {
        /* At the border of a loop, from trip to trip and behind it. */
        {"for (k in 0 .. 5) { grid_sync; let v = a[3 - i]; grid_sync; a[i] = v + k; grid_sync; }\n"
         "  grid_sync; b[i] = a[0];",
         11, 10},
        /* A branch and a loop in which lanes do nothing. */
        {"a[i] = 1; grid_sync; if (n > 2) { let q = n + 1; } grid_sync;\n"
         "  for (k in 0 .. n) { let z = k * 2; grid_sync; } b[i] = a[3 - i]; grid_sync;",
         2, 1},
        /* Barriers in both arms, and in a loop that has no trip. */
        {"a[i] = 1; grid_sync; if (a[0] > n) { grid_sync; } else { grid_sync; grid_sync; }\n"
         "  while (n < 2) { grid_sync; } b[i] = a[3 - i];",
         2, 1},
        /* Nobody touches memory of others at all. */
        {"grid_sync; grid_sync; for (k in 0 .. 9) { grid_sync; grid_sync; } b[i] = i; grid_sync;",
         1, 0},
    };
    static const char *const devices[] = {"ref-split", "ref-schedule"};
    const uint32_t start[4] = {4, 3, 2, 1};
    const vyre_input input = {start, sizeof start};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[512];
        snprintf(text, sizeof text,
                 "program p workgroup(2) elements(4) { inout a : u32[4]; out b : u32[4];\n"
                 "  param n : u32 = 3; let i = global_id.x; %s }",
                 cases[c].body);
        vyre_program *p = run_parse(text);
        run_result want = run_program("ref", p, &input, 1, NULL);
        for (int d = 0; d < 2; d++) {
            run_result got = run_program(devices[d], p, &input, 1, NULL);
            CHECK(run_same(&want, &got));
            CHECK_EQ(got.report.stats.launches, cases[c].launches);
            CHECK_EQ(got.report.stats.sync_points, cases[c].meetings);
            CHECK_EQ(got.report.stats.host_waits, 0);
            run_finish(&got);
        }
        run_finish(&want);
        vyre_program_release(p);
    }
}

/* Words stored per lane, and scalars of the schedule. */
static void expect_words(const char *text, uint32_t lane, uint32_t scalars) {
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, &diag), &diag);
    CHECK_EQ(vyre_module_get(m)->lane_words, lane);
    CHECK_EQ(vyre_module_get(m)->scalar_count, scalars);
    vyre_module_release(m);
    vyre_program_release(p);
}

TEST(the_cheapest_of_storing_and_computing_again_is_chosen) {
    /* k is loaded from memory that changes: it is stored, what is made of it is not. */
    expect_words("program p workgroup(2) elements(4) { inout s : u32[4]; out o : u32[4];\n"
                 "  let k = s[global_id.x]; let a = k + 1; let b = k * 2; let c = a + b;\n"
                 "  s[global_id.x] = 9; grid_sync; o[global_id.x] = s[0] + a + b + c; }",
                 1, 0);
    /* One word made of three: it is stored, they are not. */
    expect_words(
        "program p workgroup(2) elements(4) { inout s : u32[8]; out o : u32[4];\n"
        "  let a = s[global_id.x]; let b = s[global_id.x + 1]; let c = s[global_id.x + 2];\n"
        "  let d = a + b * c; grid_sync; s[global_id.x] = 9; o[global_id.x] = d; }",
        1, 0);
    /* Ids, params and what follows from them cost nothing. */
    expect_words("program p workgroup(2) elements(4) { inout s : u32[4]; param n : u32 = 2;\n"
                 "  let i = global_id.x * n + 1; s[i & 3] = i; grid_sync;\n"
                 "  let v = s[3 - global_id.x]; grid_sync; s[i & 3] = v; }",
                 1, 0);
    /* The same for all lanes: once for the grid. */
    expect_words(
        "program p workgroup(2) elements(4) { inout s : u32[4]; out o : u32[4];\n"
        "  let v = s[0]; grid_sync; s[global_id.x] = 7; grid_sync; o[global_id.x] = v + s[1]; }",
        0, 1);
    /* A variable that is assigned is stored, though its first value is a constant. */
    expect_words("program p workgroup(2) elements(4) { inout s : u32[4];\n"
                 "  let x = 1; x = x + s[global_id.x]; grid_sync; s[3 - global_id.x] = x; }",
                 1, 0);
}

TEST(values_of_a_group_are_stored_once_for_it) {
    /* k is the same for a group and decides about a workgroup barrier behind the grid barrier. */
    const char *text =
        "program p workgroup(2) elements(6) { inout s : u32[6]; out o : u32[6];\n"
        "  workgroup w : u32[2]; let k = s[group_id.x]; grid_sync; s[global_id.x] = 5; grid_sync;\n"
        "  if (k != 1) { w[local_id.x] = s[5 - global_id.x] + k; barrier;\n"
        "    o[global_id.x] = w[1 - local_id.x]; } }";
    const uint32_t start[6] = {0, 1, 2, 3, 4, 5};
    vyre_input input = {start, sizeof start};
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, NULL), NULL);
    CHECK_EQ(vyre_module_get(m)->group_value_words, 1);
    CHECK_EQ(vyre_module_get(m)->lane_words, 0);
    for (uint32_t i = 0; i < vyre_module_get(m)->segment_count; i++) {
        CHECK_EQ(vyre_check(vyre_module_get(m)->segments[i], NULL, NULL), VYRE_OK);
    }
    vyre_module_release(m);
    vyre_program_release(p);
    run_everywhere(text, &input, 1, 0, RUN_WORDS(5, 5, 5, 5, 5, 5));
}

/* Words of each lane, words of each group, scalars, and words that lanes hand to the schedule. */
static void expect_bases(const char *body, uint32_t lane, uint32_t group, uint32_t scalars) {
    char text[1024];
    snprintf(text, sizeof text,
             "program p workgroup(4) elements(8) { inout a : u32[64]; inout s : u32[8];\n"
             "  param n : u32 = 3; let g = global_id.x; %s }",
             body);
    const uint32_t start[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    uint32_t many[64];
    for (uint32_t i = 0; i < 64; i++) {
        many[i] = 7 * i + 1;
    }
    const vyre_input inputs[] = {{many, sizeof many}, {start, sizeof start}};
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    const vyre_split_options keep = {.keep_barriers = true};
    REQUIRE_OK(vyre_split(p, &keep, NULL, &m, NULL), NULL);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK_EQ(v->lane_words, lane);
    CHECK_EQ(v->group_value_words, group);
    CHECK_EQ(v->scalar_count, scalars);
    CHECK_EQ(v->made_words, 0);
    const vyre_program_view *source = vyre_program_get(v->source);
    bool based = false;
    for (uint32_t i = 0; i < source->var_count; i++) {
        based |= strcmp(source->vars[i].name, "i_base") == 0;
    }
    CHECK_EQ(based, group + scalars > 0); /* nobody computes one in vain */
    run_result want = run_program("ref", p, inputs, 2, NULL);
    static const char *const devices[] = {"ref-split", "ref-schedule"};
    for (int d = 0; d < 2; d++) {
        run_result got =
            run_program(devices[d], p, inputs, 2, &(vyre_dispatch_options){.no_optimize = true});
        CHECK(run_same(&want, &got));
        CHECK_EQ(got.report.stats.host_waits, 0);
        run_finish(&got);
    }
    if (test_failed()) {
        run_print_segments(p);
    }
    run_finish(&want);
    vyre_module_release(m);
    vyre_program_release(p);
}

TEST(a_base_is_carried_instead_of_base_plus_place) {
    /* The schedule counts: i_base, k, and whether there is another trip. */
    expect_bases("let i = g; for (k in 0 .. n) { a[i] = a[63 - i]; grid_sync; i = i + 8; }\n"
                 "  s[g] = a[i];",
                 0, 0, 3);
    /* Strides other than 1, signed values, subtraction. */
    expect_bases("let i = bitcast<i32>(g) * 2i - 5i; for (k in 0 .. n) { grid_sync;\n"
                 "  i = i - bitcast<i32>(n); } s[g] = bitcast<u32>(i);",
                 0, 0, 3);
    expect_bases("let i = n - g; let j = i + local_id.x * 3; for (k in 0 .. n) { grid_sync;\n"
                 "  j = i + local_id.x * 3 + k; i = i + n; } s[g] = i * 100 + j;",
                 0, 0, 4);
    /* From memory, and under an if that stays in a segment: the group keeps it, nobody waits. */
    expect_bases("let i = s[0] + g; grid_sync; s[g] = 1; grid_sync; s[g] = a[i % 64];", 0, 1, 0);
    expect_bases("let i = s[group_id.x] + local_id.x; grid_sync; s[g] = 1; grid_sync;\n"
                 "  s[g] = a[i % 64];",
                 0, 1, 0);
    expect_bases("let i = g; grid_sync; if (n > 2) { i = i + 8; } grid_sync; s[g] = a[i];", 0, 1,
                 0);
    /* Two strides, a base of the lane alone, control of lanes: stored by each lane. */
    expect_bases("let i = g; grid_sync; if (n > 2) { i = g * 2; } grid_sync; s[g] = a[i];", 1, 0,
                 0);
    expect_bases("let i = local_id.x; grid_sync; if (n > 2) { i = local_id.x * 2; } grid_sync;\n"
                 "  s[g] = a[i];",
                 1, 0, 0);
    expect_bases("let i = s[g] + g; grid_sync; s[g] = 0; grid_sync; s[g] = a[i];", 1, 0, 0);
    expect_bases("let i = g; grid_sync; if (g > 2) { i = i + 8; } grid_sync; s[g] = a[i];", 1, 0,
                 0);
    expect_bases("let x = s[g]; let i = x + g; grid_sync; if (n > 2) { i = i + 8; } grid_sync;\n"
                 "  s[g] = a[i % 64];",
                 1, 0, 0);
    /* Not alive at a barrier: no base. */
    expect_bases("grid_sync; let i = g; for (k in 0 .. n) { i = i + 8; } s[g] = a[i];", 0, 0, 0);
}

/* Values of lanes, groups and the schedule, private arrays and workgroup memory. */
TEST(values_of_64_bits_are_one_piece) {
    static const char *const types[] = {"u64", "i64", "f64"};
    for (size_t t = 0; t < 3; t++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "program p workgroup(2) elements(6) { inout s : %s[6]; inout n : u32[6];\n"
            "  private a : %s[3]; workgroup w : %s[3]; let i = global_id.x; let l = local_id.x;\n"
            "  let x = s[i]; let g = s[group_id.x]; let m = s[5]; let c = n[i]; a[l] = x + x;\n"
            "  if (n[0] == 0) { m = m + s[4]; } w[l] = g + x; grid_sync; s[i] = s[5 - i];\n"
            "  n[i] = c; grid_sync; s[i] = x + g + m + a[l] + w[1 - l] + s[0]; }",
            types[t], types[t], types[t]);
        for (int ahead = 0; ahead < 2; ahead++) {
            vyre_program *p = run_parse(text);
            vyre_module *m = NULL;
            const vyre_split_options how = {.keep_barriers = true, .ahead = ahead != 0};
            REQUIRE_OK(vyre_split(p, &how, NULL, &m, NULL), NULL);
            const vyre_module_view *v = vyre_module_get(m);
            CHECK_EQ(v->lane_words, 10);       /* x, a, and c; the last word keeps groups even */
            CHECK_EQ(v->group_value_words, 2); /* g */
            CHECK_EQ(v->made_words, 2);        /* m */
            for (uint32_t i = 0; i < v->steps[v->step_count - 1].segment + 1; i++) {
                const vyre_program_view *segment = vyre_program_get(v->segments[i]);
                for (vyre_expr e = 0; e < segment->expr_count; e++) {
                    const uint8_t op = segment->exprs[e].op;
                    CHECK(op != VYRE_EXPR_CAST && op != VYRE_EXPR_BITCAST && op != VYRE_EXPR_SHL &&
                          op != VYRE_EXPR_SHR);
                }
            }
            if (test_failed()) {
                run_print_segments(p);
            }
            vyre_module_release(m);
            vyre_program_release(p);
        }
    }
}

/* Lanes that end need counters for the others to share the work; here there is no room for them. */
TEST(workgroup_memory_may_be_used_up) {
    vyre_program *p = run_parse(
        "program p workgroup(2) elements(2) { out o : u32[2]; workgroup w : u64[131072];\n"
        "  w[131071 - local_id.x] = u64(7 + local_id.x); if (local_id.x == 0) { exit; }\n"
        "  grid_sync; o[global_id.x] = u32(w[131071]); o[0] = u32(w[131070]); }");
    const vyre_split_options keep = {.keep_barriers = true};
    const vyre_dispatch_options options = {.no_optimize = true};
    vyre_module *m = NULL;
    REQUIRE_OK(vyre_split(p, &keep, NULL, &m, NULL), NULL);
    CHECK_EQ(vyre_module_get(m)->segment_count, 2);
    for (uint32_t i = 0; i < vyre_module_get(m)->segment_count; i++) {
        CHECK_EQ(vyre_check(vyre_module_get(m)->segments[i], NULL, NULL), VYRE_OK);
    }
    vyre_module_release(m);
    run_result r = run_program("ref-split", p, NULL, 0, &options);
    CHECK_STATUS(r.status, VYRE_OK, &r.diag);
    CHECK_EQ(run_word(&r, 0, 0), 8);
    CHECK_EQ(run_word(&r, 0, 1), 7);
    run_finish(&r);
    vyre_program_release(p);
}

/* Lives, the carries of each step and the words of each step tell the same. */
static void check_lives(const vyre_module *m) {
    const vyre_module_view *v = vyre_module_get(m);
    for (uint32_t s = 0; s < v->step_count; s++) {
        uint64_t words = 0;
        uint32_t at = vyre_module_next_live(m, s, 0);
        for (uint32_t i = 0; i < v->live_count; i++) {
            const vyre_life *life = &v->lives[i];
            CHECK(life->first < life->end && life->end <= v->step_count);
            CHECK(i == 0 || v->lives[i - 1].carry < life->carry ||
                  (v->lives[i - 1].carry == life->carry && v->lives[i - 1].end < life->first));
            if (life->first <= s && s < life->end) {
                CHECK_EQ(at, life->carry);
                words += v->carries[life->carry].words;
                at = vyre_module_next_live(m, s, life->carry + 1);
            }
        }
        CHECK_EQ(at, VYRE_NONE);
        CHECK_EQ(words, (uint64_t)v->steps[s].lane_words + v->steps[s].group_words);
    }
    CHECK_EQ(vyre_module_next_live(m, 0, v->carry_count), VYRE_NONE);
}

/* No word has two values at once. */
static void check_slots(const vyre_module_view *v) {
    for (uint32_t i = 0; i < v->live_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const vyre_life *x = &v->lives[i], *y = &v->lives[k];
            const vyre_carry *a = &v->carries[x->carry], *b = &v->carries[y->carry];
            const bool meet = x->first < y->end && y->first < x->end;
            CHECK(!meet || x->carry == y->carry || a->kind != VYRE_CARRY_LANE ||
                  b->kind != VYRE_CARRY_LANE || a->slot != b->slot);
        }
    }
}

TEST(lives_are_asked_by_step) {
    vyre_program *p = run_parse(
        "program p workgroup(2) elements(4) { inout a : u32[4]; param n : u32 = 3;\n"
        "workgroup w : u32[2]; let i = global_id.x; let x = a[i]; let y = a[3 - i] + 7; let r = "
        "a[i ^ 1];\n"
        "w[1 - local_id.x] = x;\n"
        "grid_sync; a[i] = x;\n"
        "if (n > 2) { grid_sync; let q = a[3 - i] + 1; grid_sync; a[3 - i] = q + r; }\n"
        "else { grid_sync; let z = a[3 - i]; let v = a[i ^ 2]; grid_sync; a[i] = z + v + y; }\n"
        "for (k in 0 .. n) { grid_sync; let u = a[3 - i]; grid_sync; a[i] = u + k;\n"
        "    if (i == k) { exit; } }\n"
        "grid_sync; a[3 - i] = a[i] + w[local_id.x] + x; }");
    for (int keep = 0; keep < 2; keep++) {
        const vyre_split_options options = {.keep_barriers = keep != 0};
        vyre_module *m = NULL;
        vyre_diag diag = {0};
        REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
        const vyre_module_view *v = vyre_module_get(m);
        bool sleeps = false;
        for (uint32_t i = 1; i < v->live_count; i++) {
            sleeps |= v->lives[i].carry == v->lives[i - 1].carry;
        }
        CHECK(sleeps); /* y, in the other arm */
        check_lives(m);
        check_slots(v);
        vyre_module_release(m);
    }
    vyre_program_release(p);
}

/* Three barriers are a long way to carry a word for one use, but pow is longer. */
TEST(what_takes_many_operations_is_stored_rather_than_computed_again) {
    static const struct {
        const char *value;
        uint32_t lane_words;
    } cases[] = {{"a[global_id.x] * 2.0", 0},
                 {"sqrt(a[global_id.x])", 0},
                 {"pow(a[global_id.x], 2.5)", 1},
                 {"sin(a[global_id.x])", 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[512];
        vyre_module *m = NULL;
        snprintf(text, sizeof text,
                 "program p workgroup(2) grid(2) {\n in a : f32[4];\n inout v : f32[4];\n"
                 " let t = %s;\n"
                 " v[3 - global_id.x] = 1.0;\n grid_sync;\n v[global_id.x] = v[3 - global_id.x];\n"
                 " grid_sync;\n v[3 - global_id.x] = v[global_id.x];\n grid_sync;\n"
                 " v[global_id.x] = v[3 - global_id.x] * t;\n}\n",
                 cases[c].value);
        vyre_program *p = run_parse(text);
        const vyre_split_options keep = {.keep_barriers = true};
        REQUIRE_OK(vyre_split(p, &keep, NULL, &m, NULL), NULL);
        CHECK_EQ(vyre_module_get(m)->lane_words, cases[c].lane_words);
        vyre_module_release(m);
        vyre_program_release(p);
    }
}
