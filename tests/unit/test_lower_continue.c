/* Jumps to the next trip that only some lanes take: as text in and text out, and the proof that
 * splitting gives of what it decides once for all lanes. */
#include "lower/lower_continue.h"

#include <string.h>

#include "analysis/shape.h"
#include "base/alloc.h"
#include "base/text.h"
#include "harness/run.h"
#include "split/blocks.h"
#include "split/proof.h"
#include "unit/ref_text.h"

static const char frame[] =
    "program p workgroup(4) grid(3) { in a : u32[12]; out o : u32[12];\n"
    "let i = global_id.x; let g = group_id.x; let u = a[0]; let x = 0;\n%s }";

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static vyre_program *parse(const char *body) {
    char text[2048];
    (void)snprintf(text, sizeof text, frame, body);
    vyre_program *program = ref_parse(text);
    vyre_diag item = {0};
    vyre_diag_list diags = {.items = &item, .capacity = 1};
    REQUIRE_OK(vyre_check(program, NULL, &diags), &item);
    return program;
}

static void show(const char *before, const vyre_program *made) {
    vyre_text shown;
    vyre_text_init(&shown, NULL);
    (void)vyre_program_print(made, append, &shown);
    test_fail(__FILE__, __LINE__, "%s\nbecame\n%s", before, vyre_text_string(&shown));
    vyre_text_finish(&shown);
}

/* `after` NULL: nothing is to be done. */
static void expect(vyre_split_scope scope, const char *before, const char *after) {
    vyre_program *program = parse(before), *made = NULL;
    vyre_diag diag = {0};
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    REQUIRE_OK(vyre_lower_continue(program, scope, &a, &made, &diag), &diag);
    vyre_program *wanted = after ? parse(after) : vyre_program_retain(program);
    CHECK((made == program) == !after);
    if (!vyre_program_equal(made, wanted)) {
        show(before, made);
    }
    vyre_program_release(wanted);
    vyre_program_release(made);
    vyre_program_release(program);
}

#define GRID  VYRE_SPLIT_SCOPE_GRID
#define GROUP VYRE_SPLIT_SCOPE_WORKGROUP

TEST(what_follows_a_jump_becomes_the_other_arm) {
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (i < k) { x = 1; continue; } o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (i < k) { x = 1; skip = true; } else { o[i] = x; } }");
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync; if (i < k) { continue; } else { x = 2; } o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (i < k) { skip = true; } else { x = 2; o[i] = x; } }");
}

TEST(lists_around_it_are_guarded) {
    expect(GRID,
           "while (x < 3) { x += 1; grid_sync;\n"
           "if (u == 1) { if (i < x) { continue; } o[i] = 1; } let y = 2; o[i] = o[i] + y; }",
           "while (x < 3) { x += 1; grid_sync; let skip = false;\n"
           "if (u == 1) { if (i < x) { skip = true; } else { o[i] = 1; } }\n"
           "if (!skip) { let y = 2; o[i] = o[i] + y; } }");
    expect(GRID,
           "for (k in 0 .. 3) { if (u == 1) { grid_sync; if (i < k) { continue; } } o[i] = 1; }",
           "for (k in 0 .. 3) { let skip = false;\n"
           "if (u == 1) { grid_sync; if (i < k) { skip = true; } } if (!skip) { o[i] = 1; } }");
    expect(
        GRID,
        "for (k in 0 .. 3) { grid_sync; region \"r\" { if (i == k) { x = 1; } else { continue; } "
        "o[i] = 1; } { o[i] = 2; } }",
        "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
        "region \"r\" { if (i == k) { x = 1; } else { skip = true; } if (!skip) { o[i] = 1; } }\n"
        "if (!skip) { { o[i] = 2; } } }");
}

TEST(several_jumps_share_one_value) {
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync; if (i == k) { continue; } x = 1;\n"
           "if (i == x) { continue; } if (u == 0) { continue; } o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (i == k) { skip = true; } else { x = 1; if (i == x) { skip = true; } else {\n"
           "if (u == 0) { skip = true; } else { o[i] = x; } } } }");
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync;\n"
           "if (i == k) { continue; } else { if (x == i) { continue; } x = 3; } o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (i == k) { skip = true; } else { if (x == i) { skip = true; } else { x = 3; }\n"
           "if (!skip) { o[i] = x; } } }");
}

TEST(what_a_list_sets_before_it_jumps_is_not_seen_by_the_rest) {
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync;\n"
           "if (u == 1) { let y = 0; if (i < k) { x = i; y = x; continue; } else { x = 2; } o[i] = "
           "y; }"
           " else { if (i == k) { if (x == i) { x = 5; } continue; } }\n"
           "o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false; let x_2 = 0; let y_2 = 0;\n"
           "if (u == 1) { let y = 0;\n"
           "if (i < k) { x_2 = x; y_2 = y; x_2 = i; y_2 = x_2; skip = true; }\n"
           "else { x = 2; o[i] = y; } }\n"
           "else { if (i == k) { x_2 = x; if (x_2 == i) { x_2 = 5; } skip = true; } }\n"
           "if (!skip) { o[i] = x; } if (skip) { x = x_2; } }");
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync;\n"
           "if (u == 1) { if (i < k) { x = 1; if (i == 0) { x = 2; continue; } o[i] = x; continue; "
           "} }\n"
           "o[i] = x; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false; let x_2 = 0;\n"
           "if (u == 1) { if (i < k) { x_2 = x; x_2 = 1;\n"
           "if (i == 0) { x_2 = 2; skip = true; } else { o[i] = x_2; skip = true; } } }\n"
           "if (!skip) { o[i] = x; } if (skip) { x = x_2; } }");
}

TEST(jumps_that_all_lanes_take_stay) {
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (u == k) { continue; } o[i] = 1; }", NULL);
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (u == k) { break; } o[i] = 1; }", NULL);
    expect(GRID, "for (k in 0 .. 3) { if (i == k) { continue; } o[i] = 1; } grid_sync;", NULL);
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync;\n"
           "for (j in 0 .. 3) { if (i == j) { continue; } o[i] = j; } }",
           NULL);
    expect(GROUP, "for (k in 0 .. 3) { barrier; if (g == k) { continue; } o[i] = 1; }", NULL);
}

TEST(the_scope_decides_what_all_means) {
    expect(GROUP, "for (k in 0 .. 3) { barrier; if (i == k) { continue; } o[i] = 1; }",
           "for (k in 0 .. 3) { barrier; let skip = false;\n"
           "if (i == k) { skip = true; } else { o[i] = 1; } }");
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (g == k) { continue; } barrier; o[i] = 1; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (g == k) { skip = true; } else { barrier; o[i] = 1; } }");
    expect(GRID, "for (k in 0 .. 3) { barrier; if (g == k) { continue; } o[i] = 1; }", NULL);
}

TEST(a_jump_that_no_lane_comes_to_goes) {
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (i == k) { exit; break; } o[i] = 1; }",
           "for (k in 0 .. 3) { grid_sync; if (i == k) { exit; } o[i] = 1; }");
    expect(GRID,
           "for (k in 0 .. 3) { grid_sync;\n"
           "if (i == k) { if (u == 0) { exit; } else { trap(\"t\", 1); } continue; } o[i] = 1; }",
           "for (k in 0 .. 3) { grid_sync;\n"
           "if (i == k) { if (u == 0) { exit; } else { trap(\"t\", 1); } } o[i] = 1; }");
    expect(GRID, "for (k in 0 .. 3) { grid_sync; if (i == k) { continue; break; } o[i] = 1; }",
           "for (k in 0 .. 3) { grid_sync; let skip = false;\n"
           "if (i == k) { skip = true; if (!skip) { } } if (!skip) { o[i] = 1; } }");
}

TEST(too_many_in_one_list_are_refused) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_text_puts(&text, "program p workgroup(2) grid(2) { out o : u32[4]; let i = global_id.x; "
                          "for (k in 0 .. 3) { grid_sync; ");
    for (uint32_t i = 0; i <= VYRE_LIMIT_NESTING; i++) {
        vyre_text_puts(&text, "if (i == k) { continue; } ");
    }
    vyre_text_puts(&text, "o[i] = 1; } }");
    vyre_program *program = ref_parse(vyre_text_string(&text)), *made = NULL;
    vyre_diag diag = {0};
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    CHECK_STATUS(vyre_lower_continue(program, GRID, &a, &made, &diag), VYRE_LIMIT, &diag);
    CHECK_HAS(diag.message, "that only some lanes take");
    CHECK(!made);
    vyre_program_release(program);
    vyre_text_finish(&text);
}

TEST(the_bytes_are_those_of_a_program_that_is_not_split) {
    static const char text[] =
        "program c workgroup(2) grid(2) { out y : u32[4]; for (k in 0 .. 2) { grid_sync;\n"
        "if (global_id.x >= k) { continue; } y[global_id.x] = y[3 - global_id.x] + 1; } }";
    static const char *const devices[] = {"ref", "ref-split", "ref-schedule"};
    static const uint32_t wanted[] = {1, 0, 0, 0};
    vyre_program *program = run_parse(text);
    for (uint32_t i = 0; i < 2 * sizeof devices / sizeof *devices; i++) {
        const vyre_dispatch_options options = {.path = i & 1 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST};
        run_result r = run_program(devices[i / 2], program, NULL, 0, &options);
        REQUIRE_OK(r.status, &r.diag);
        for (uint32_t k = 0; k < 4; k++) {
            CHECK_EQ(run_word(&r, 0, k), wanted[k]);
        }
        run_finish(&r);
    }
    vyre_program_release(program);
}

/* The proof */

/* Cuts the program as it is and asks for the proof. */
static vyre_status prove(const char *body, vyre_split_scope scope, vyre_diag *diag) {
    vyre_program *program = parse(body);
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_calls calls;
    vyre_effect_map *effects = NULL;
    vyre_shapes *shapes = NULL;
    vyre_blocks blocks;
    static vyre_shape room[VYRE_LIMIT_STMT_EXPRS];
    REQUIRE_OK(vyre_calls_init(&calls, program, &a), NULL);
    REQUIRE_OK(vyre_effects_create(program, &calls, &a, &effects), NULL);
    REQUIRE_OK(vyre_shapes_create(program, effects, &a, &shapes), NULL);
    REQUIRE_OK(vyre_blocks_init(&blocks, vyre_program_get(program), scope, NULL, 0, &a), NULL);
    const vyre_status status = vyre_prove_uniform(&blocks, program, shapes, room, diag);
    vyre_blocks_finish(&blocks, &a);
    vyre_shapes_destroy(shapes);
    vyre_effects_destroy(effects);
    vyre_calls_finish(&calls, &a);
    vyre_program_release(program);
    return status;
}

TEST(what_is_decided_once_is_proved_to_be_the_same_for_all) {
    static const char varies[] =
        "for (k in 0 .. 3) { grid_sync; if (i < k) { continue; } o[i] = x; }";
    static const char group_varies[] =
        "for (k in 0 .. 3) { barrier; if (i < k) { continue; } o[i] = x; }";
    static const char dead[] = "for (k in 0 .. 3) { grid_sync; if (i < k) { exit; break; } }";
    vyre_diag diag = {0};
    CHECK_STATUS(prove(varies, GRID, &diag), VYRE_INTERNAL, &diag);
    CHECK_HAS(diag.message, "splitting p would decide here once for all lanes of the grid");
    CHECK_EQ(diag.line, 3);
    CHECK_STATUS(prove(group_varies, GROUP, &diag), VYRE_INTERNAL, &diag);
    CHECK_HAS(diag.message, "lanes of the workgroup");
    CHECK_STATUS(prove(dead, GRID, &diag), VYRE_INTERNAL, &diag);
    REQUIRE_OK(
        prove("for (k in 0 .. u) { grid_sync; if (u < k) { continue; } o[i] = x; }", GRID, &diag),
        &diag);
    REQUIRE_OK(
        prove("for (k in 0 .. g) { barrier; if (g < k) { break; } o[i] = x; }", GROUP, &diag),
        &diag);
}

static vyre_status lower(const vyre_allocator *a, void *program) {
    vyre_program *made = NULL;
    const vyre_status status = vyre_lower_continue(program, GRID, a, &made, NULL);
    vyre_program_release(made);
    return status;
}

TEST(every_allocation_may_fail) {
    vyre_program *p = parse("for (k in 0 .. 3) { grid_sync; if (u == 1) { if (i < k) { x = 1; "
                            "continue; } o[i] = 1; } o[i] = 2; }");
    CHECK(test_every_allocation(lower, p, 400) > 10);
    vyre_program_release(p);
}
