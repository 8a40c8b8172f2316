/* Grid-stride loops trip by trip: which are turned, as text in and text out. */
#include "opt/opt_trips.h"

#include <stdio.h>

#include "base/text.h"
#include "dispatch/pipeline.h"
#include "harness/test.h"
#include "unit/ref_text.h"

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static vyre_program *parse_body(const char *body) {
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(8) elements(16) { in a : u32[]; inout o : u32[16];\n"
                   "param n : u32; workgroup w : u32[4]; %s}",
                   body);
    return ref_parse(text);
}

/* `after` NULL: nothing is turned. `cuts`: how many of the grid barriers are cuts. */
static void expect_of(bool known_only, bool together, const char *before, const char *after,
                      uint32_t cuts) {
    vyre_program *program = parse_body(before), *made = NULL;
    vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_trips trips;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_opt_trips(program, known_only, together, &a, &made, &trips, &diag), &diag);
    CHECK((made == program) == !after);
    CHECK_EQ(trips.cuts.count, cuts);
    for (uint32_t i = 0; i < trips.cuts.count; i++) {
        const vyre_stmt_node *cut = &vyre_program_get(made)->stmts[trips.cuts.data[i]];
        CHECK_EQ(cut->op, VYRE_STMT_GRID_SYNC);
        CHECK_EQ(cut[-1].op, VYRE_STMT_FOR);
    }
    if (after) {
        vyre_program *wanted = parse_body(after);
        if (!vyre_program_equal(made, wanted)) {
            vyre_text shown;
            vyre_text_init(&shown, NULL);
            REQUIRE_OK(vyre_program_print(made, append, &shown), &diag);
            test_fail(__FILE__, __LINE__, "%s\nbecame\n%s", before, vyre_text_string(&shown));
            vyre_text_finish(&shown);
        }
        vyre_program_release(wanted);
    }
    vyre_trips_finish(&trips, &a);
    vyre_program_release(made);
    vyre_program_release(program);
}

static void expect(const char *before, const char *after, uint32_t cuts) {
    expect_of(false, false, before, after, cuts);
}

#define TOGETHER(body)                                                                             \
    "let i_to = n; for (i_trip in 0 .. i_to step global_size.x) { let i = i_trip + global_id.x; "  \
    "if (global_id.x < sat_sub(i_to, i_trip)) { " body " } }"

TEST(trips_together_are_not_cut) {
    expect_of(true, true, "for (i in global_id.x .. n step global_size.x) { a[i] = 1; }",
              TOGETHER("a[i] = 1;"), 0);
    expect_of(true, true,
              "for (i in global_id.x .. n step global_size.x) { atomic_add(w[i % 4], 1); }",
              TOGETHER("atomic_add(w[i % 4], 1);"), 0);
}

/* Who runs groups trip by trip does not do so if lanes end, or have memory of their own. */
TEST(trips_of_lanes_that_end_are_cut) {
    expect_of(true, true,
              "if (n == global_id.x) { exit; } "
              "for (i in global_id.x .. n step global_size.x) { a[i] = 1; }",
              "if (n == global_id.x) { exit; } "
              "let i_to = n; for (i_trip in 0 .. i_to step global_size.x) { grid_sync; "
              "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) "
              "{ a[i] = 1; } }",
              1);
}

TEST(a_grid_stride_loop_is_turned_and_cut) {
    expect(
        "for (i in global_id.x .. n step global_size.x) { o[i] = a[i]; }",
        "let i_to = n; for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
        "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = a[i]; } }",
        1);
}

TEST(other_words_for_the_same_loop) {
    expect("let first = group_id.x * 8 + local_id.x; let width = num_groups.x * group_size.x;\n"
           "for (i in first + 1 .. len(a) step width) { o[i] = 1; }",
           "let first = group_id.x * 8 + local_id.x; let width = num_groups.x * group_size.x;\n"
           "let i_to = len(a); for (i_trip in 1 .. i_to step width) { grid_sync;\n"
           "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = 1; } }",
           1);
}

TEST(loops_that_begin_or_step_elsewhere_stay) {
    expect("for (i in group_id.x * 4 + local_id.x .. n step global_size.x) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.y .. n step global_size.x) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x .. n step 16) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x .. n step global_size.y) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x .. n) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x + n .. n step global_size.x) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x + 65537 .. n step global_size.x) { o[i] = 1; }", NULL, 0);
    expect("let x = global_id.x; x = 3; for (i in x .. n step global_size.x) { o[i] = 1; }", NULL,
           0);
}

TEST(lanes_must_agree_on_the_end) {
    expect("for (i in global_id.x .. a[local_id.x] step global_size.x) { o[i] = 1; }", NULL, 0);
    expect("for (i in global_id.x .. a[group_id.x] step global_size.x) { o[i] = 1; }",
           "let i_to = a[group_id.x]; for (i_trip in 0 .. i_to step global_size.x) {\n"
           "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = 1; } }",
           0);
}

TEST(without_a_cut_where_lanes_have_parted) {
    expect(
        "if (a[local_id.x] > 3) {\n"
        "for (i in global_id.x .. n step global_size.x) { o[i] = 1; } }",
        "if (a[local_id.x] > 3) { let i_to = n; for (i_trip in 0 .. i_to step global_size.x) {\n"
        "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = 1; } } }",
        0);
}

TEST(without_a_cut_while_a_copy_is_pending) {
    expect(
        "async_load(a, w, 0, 4, \"c\");\n"
        "for (i in global_id.x .. n step global_size.x) { o[i] = 1; } async_wait(\"c\");",
        "async_load(a, w, 0, 4, \"c\"); let i_to = n;\n"
        "for (i_trip in 0 .. i_to step global_size.x) {\n"
        "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = 1; } }\n"
        "async_wait(\"c\");",
        0);
}

TEST(loops_that_lanes_leave_or_wait_in_stay) {
    expect("for (i in global_id.x .. n step global_size.x) { if (a[i] > 3) { break; } }", NULL, 0);
    expect("for (i in global_id.x .. n step global_size.x) {\n"
           "for (k in 0 .. 3) { if (a[i + k] > 3) { break; } o[i] = 1; } }",
           "let i_to = n; for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
           "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) {\n"
           "for (k in 0 .. 3) { if (a[i + k] > 3) { break; } o[i] = 1; } } }",
           1);
}

TEST(what_lanes_agree_on_behind_an_even_loop_stays_so) {
    expect("let v = 0;\n"
           "for (i in global_id.x .. n / global_size.x * global_size.x step global_size.x) {\n"
           "v = v + 1; } for (k in 0 .. v) { grid_sync; }",
           NULL, 0);
    expect("for (i in global_id.x .. n / global_size.x * global_size.x step global_size.x) {\n"
           "o[i] = 1; }",
           "let i_to = n / global_size.x * global_size.x;\n"
           "for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
           "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = 1; } }",
           1);
}

TEST(continue_goes_to_where_all_meet) {
    expect(
        "for (i in global_id.x .. n step global_size.x) { if (a[i] > 3) { continue; } o[i] = 1; }",
        "let i_to = n; for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
        "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) {\n"
        "if (a[i] > 3) { continue; } o[i] = 1; } }",
        1);
}

TEST(several_loops_each_with_its_cut) {
    expect("for (r in 0 .. n) { for (i in global_id.x .. n step global_size.x) { o[i] = r; } }\n"
           "for (i in global_id.x + 2 .. n step global_size.x) { o[i] = 1; }",
           "for (r in 0 .. n) { let i_to = n; for (i_trip in 0 .. i_to step global_size.x) {\n"
           "grid_sync; let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) { "
           "o[i] = r; "
           "} } }\n"
           "let i_to_2 = n; for (i_trip_2 in 2 .. i_to_2 step global_size.x) { grid_sync;\n"
           "let i = i_trip_2 + global_id.x; if (global_id.x < sat_sub(i_to_2, i_trip_2)) { o[i] = "
           "1; } }",
           2);
}

TEST(sums_make_four_trips_a_visit) {
    expect("let sum = 0; for (i in global_id.x .. n step global_size.x) {\n"
           "let v = a[i]; sum = sum + v; } o[global_id.x] = sum;",
           "let sum = 0; let i_to = n;\n"
           "for (i_trip in 0 .. i_to step 4 * global_size.x) { grid_sync;\n"
           "let i = i_trip + global_id.x;\n"
           "if (global_id.x < sat_sub(i_to, i_trip)) { let v = a[i]; sum = sum + v; }\n"
           "if (i_to - i_trip > 1 * global_size.x) {\n"
           "let i_2 = i_trip + 1 * global_size.x + global_id.x;\n"
           "if (global_id.x < i_to - i_trip - 1 * global_size.x) {\n"
           "let v_2 = a[i_2]; sum = sum + v_2; } }\n"
           "if (i_to - i_trip > 2 * global_size.x) {\n"
           "let i_3 = i_trip + 2 * global_size.x + global_id.x;\n"
           "if (global_id.x < i_to - i_trip - 2 * global_size.x) {\n"
           "let v_3 = a[i_3]; sum = sum + v_3; } }\n"
           "if (i_to - i_trip > 3 * global_size.x) {\n"
           "let i_4 = i_trip + 3 * global_size.x + global_id.x;\n"
           "if (global_id.x < i_to - i_trip - 3 * global_size.x) {\n"
           "let v_4 = a[i_4]; sum = sum + v_4; } }\n"
           "} o[global_id.x] = sum;",
           1);
}

TEST(a_body_that_does_not_go_to_its_end_makes_one_trip_a_visit) {
    expect("let sum = 0; for (i in global_id.x .. n step global_size.x) {\n"
           "if (a[i] == 3) { continue; } sum = sum + a[i]; } o[global_id.x] = sum;",
           "let sum = 0; let i_to = n;\n"
           "for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
           "let i = i_trip + global_id.x; if (global_id.x < sat_sub(i_to, i_trip)) {\n"
           "if (a[i] == 3) { continue; } sum = sum + a[i]; } } o[global_id.x] = sum;",
           1);
}

TEST(modules_have_a_step_for_the_trips_and_keep_their_barriers) {
    vyre_program *program =
        parse_body("for (i in global_id.x .. n step global_size.x) { o[i] = a[i]; } grid_sync;\n"
                   "for (i in global_id.x .. n step global_size.x) { o[i] = o[i] + a[15 - i]; }\n"
                   "grid_sync; o[0] = o[15 - global_id.x];");
    const vyre_split_options options = {.turn_loops = true};
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(program, &options, NULL, &module, &diag), &diag);
    const vyre_module_view *m = vyre_module_get(module);
    CHECK_EQ(m->segment_count, 3);
    CHECK_EQ(m->sync_points, m->kept_count);
    for (uint32_t i = 0; i < m->kept_count; i++) {
        CHECK_EQ(vyre_program_get(m->source)->stmts[m->kept[i].stmt].op, VYRE_STMT_GRID_SYNC);
        CHECK(vyre_program_get(m->source)->stmts[m->kept[i].stmt - 1].op != VYRE_STMT_FOR);
    }
    vyre_module_release(module);
    vyre_program_release(program);
}

TEST(a_grid_that_is_too_wide_gets_its_loops_as_they_are) {
    vyre_device *device = NULL;
    vyre_pipeline *pipeline = NULL;
    vyre_diag diag = {0};
    vyre_program *program = parse_body(
        "let sum = 0; for (i in global_id.x .. n step global_size.x) { sum = sum + a[i]; }\n"
        "if (sum == 3) { o[0] = 1; }");
    const uint32_t narrow[3] = {1 << 10, 1, 1}, wide[3] = {1u << 28, 1, 1};
    REQUIRE_OK(vyre_device_open(NULL, "ref-split://turn_loops=1", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_compile(device, program, NULL, &pipeline, &diag), &diag);
    REQUIRE_OK(vyre_pipeline_prepare(pipeline, narrow, 0, NULL, &diag), &diag);
    CHECK(!pipeline->variants[VYRE_VARIANT_ANY_GRID].is_compiled);
    REQUIRE_OK(vyre_pipeline_prepare(pipeline, wide, 0, NULL, &diag), &diag);
    REQUIRE(pipeline->variants[VYRE_VARIANT_ANY_GRID].is_compiled);
    CHECK_EQ(vyre_module_get(pipeline->variants[VYRE_VARIANT_ANY_GRID].schedule.module)->step_count,
             1);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_close(device);
}

TEST(on_request_only_loops_are_cut_whose_count_is_known) {
    static const char *const loaded[] = {
        "for (i in global_id.x .. a[0] step global_size.x) { o[i] = 1; }",
        "let m = a[0]; let k = m + 1; for (i in global_id.x .. k step global_size.x) { o[i] = 1; }",
    };
    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) {
        expect_of(true, false, loaded[i], NULL, 0);
    }
    expect_of(true, false,
              "let k = n; if (n == 3) { k = a[0]; }\n"
              "for (i in global_id.x .. k step global_size.x) { o[i] = 1; }",
              NULL, 0);
    expect_of(true, false,
              "let k = len(a) + n * 2; let m = k;\n"
              "for (i in global_id.x .. m step global_size.x) { o[i] = a[i]; }",
              "let k = len(a) + n * 2; let m = k;\n"
              "let i_to = m; for (i_trip in 0 .. i_to step global_size.x) { grid_sync;\n"
              "let i = i_trip + global_id.x;\n"
              "if (global_id.x < sat_sub(i_to, i_trip)) { o[i] = a[i]; } }",
              1);
}
