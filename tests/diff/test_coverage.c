/* Cells: their numbers and names, what a program is said to hold, and that the generator makes
 * programs that hold each of them. */
#include "diff/coverage.h"

#include "diff/totals.h"
#include "harness/run.h"
#include "random/random_program.h"

/* Other seeds than those of a long run. */
enum { PROGRAMS = 20000 };
static const uint64_t first_seed = UINT64_C(1) << 41;

TEST(numbers_lead_back_to_cells) {
    char name[80];
    for (uint32_t i = 0; i < CELL_COUNT; i++) {
        const cell c = cell_of(i);
        REQUIRE(c.class < CELL_CLASSES);
        CHECK_EQ(cell_number(c), i);
        cell_row_name(c, name, sizeof name);
        CHECK(name[0] != '\0' && cell_last_name(c)[0] != '\0');
    }
    CHECK_EQ(cell_of(CELL_COUNT - 1).part[0], CELL_TRAP);
}

TEST(what_no_program_can_hold_has_a_reason) {
    CHECK(!cell_refusal((cell){CELL_JUMP, {CELL_CONTINUE, CELL_VARYING, CELL_BEHIND, 1}}));
    CHECK_HAS(cell_refusal((cell){CELL_JUMP, {CELL_CONTINUE, CELL_VARYING, CELL_BEFORE, 1}}),
              "rest of a trip");
    CHECK_HAS(cell_refusal((cell){CELL_JUMP, {CELL_BREAK, CELL_GROUP, CELL_BEHIND, 1}}),
              "leave apart");
    CHECK(!cell_refusal((cell){CELL_JUMP, {CELL_BREAK, CELL_GROUP, CELL_BEHIND, 1, CELL_BARRIER}}));
    CHECK_HAS(cell_refusal((cell){CELL_JUMP, {CELL_CONTINUE, CELL_GRID, CELL_BEHIND, 0}}), "loop");
    CHECK(cell_refusal((cell){CELL_EXPR, {VYRE_EXPR_BIT_AND, VYRE_F32}}) != NULL);
    CHECK(cell_refusal((cell){CELL_ATOMIC, {VYRE_ATOMIC_AND, VYRE_F32}}) != NULL);
    CHECK(cell_refusal((cell){CELL_ORDERING, {1, VYRE_RELAXED}}) != NULL);
}

/* The jumps that the body holds: `wanted` and no others, each {jump, level, side, in_loop, scope}.
 */
typedef struct jump {
    uint32_t part[CELL_PARTS];
} jump;

static void expect_jumps(const char *body, const jump *wanted, uint32_t count) {
    char text[1024], name[80];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(4, 16) grid(3) { in a : u32[12]; out o : u32[12];\n"
                   "fn f() -> u32 { return 1; } let i = global_id.x; %s }",
                   body);
    vyre_program *program = run_parse(text);
    vyre_diag item = {0};
    REQUIRE_OK(vyre_check(program, NULL, &(vyre_diag_list){.items = &item, .capacity = 1}), &item);
    coverage c;
    REQUIRE(coverage_of(program, &c));
    for (uint32_t i = 0; i < CELL_COUNT; i++) {
        const cell at = cell_of(i);
        bool is_wanted = false;
        for (uint32_t k = 0; k < count; k++) {
            is_wanted |= memcmp(wanted[k].part, at.part, sizeof at.part) == 0;
        }
        if (at.class == CELL_JUMP && coverage_holds(&c, i) != is_wanted) {
            cell_row_name(at, name, sizeof name);
            test_fail(__FILE__, __LINE__, "%s: %s%s %s", body, is_wanted ? "no " : "", name,
                      cell_last_name(at));
        }
    }
    vyre_program_release(program);
}

#define EXPECT(body, ...)                                                                          \
    expect_jumps(body, (const jump[]){__VA_ARGS__}, sizeof((jump[]){__VA_ARGS__}) / sizeof(jump))

TEST(who_takes_a_jump_is_measured) {
    static const char head[] = "for (k in 0 .. 3) { grid_sync; if (%s) { continue; } o[i] = 1; }";
    static const struct {
        const char *condition;
        cell_level level;
    } cases[] = {{"true", CELL_CONSTANT},
                 {"1 + 2 == 3", CELL_CONSTANT},
                 {"k == 1", CELL_GRID},
                 {"a[2] == 1", CELL_GRID},
                 {"group_id.x == k", CELL_GROUP},
                 {"local_id.y == k", CELL_ROW},
                 {"subgroup_any(local_id.x == k)", CELL_TOGETHER},
                 {"global_id.x == k", CELL_VARYING}};
    for (uint32_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char body[256];
        (void)snprintf(body, sizeof body, head, cases[n].condition);
        EXPECT(body, {{CELL_CONTINUE, cases[n].level, CELL_BEHIND, 1, CELL_GRID_SYNC}});
    }
}

TEST(the_barriers_on_the_way_of_a_jump_count) {
    EXPECT("barrier; if (i == 1) { exit; } grid_sync;",
           {{CELL_EXIT, CELL_VARYING, CELL_BEHIND, 0, CELL_BARRIER}},
           {{CELL_EXIT, CELL_VARYING, CELL_BEFORE, 0, CELL_GRID_SYNC}});
    EXPECT("barrier; for (k in 0 .. 2) { if (i == 1) { trap(\"t\", 0); } } grid_sync;");
    EXPECT("for (k in 0 .. 3) { if (k == 1) { if (a[0] == 1) { break; } } else { grid_sync; } }");
    EXPECT("for (k in 0 .. 3) { if (k == 1) { barrier; } else { break; } grid_sync; }",
           {{CELL_BREAK, CELL_GRID, CELL_BEFORE, 1, CELL_GRID_SYNC}});
    EXPECT("for (k in 0 .. 3) { { barrier; } if (k == 1) { o[i] = 1; } else { break; } }",
           {{CELL_BREAK, CELL_GRID, CELL_BEHIND, 1, CELL_BARRIER}});
    EXPECT("if (i == 0) { let x = f(); o[0] = x; } grid_sync;",
           {{CELL_RETURN, CELL_VARYING, CELL_BEFORE, 0, CELL_GRID_SYNC}});
}

TEST(random_programs_hold_every_cell) {
    static differ_totals t;
    const uint64_t count = test_scaled(PROGRAMS);
    for (uint64_t i = 0; i < count && !test_failed(); i++) {
        vyre_program *program = NULL;
        coverage c;
        REQUIRE_OK(random_order_free(first_seed + i, &program, NULL), NULL);
        REQUIRE(coverage_of(program, &c));
        differ_totals_cover(&t, &c);
        t.programs++;
        vyre_program_release(program);
    }
    /* A few programs tell only that none holds what it can't. */
    const uint64_t one_of = count < PROGRAMS ? 0 : DIFFER_CELL_ONE_OF;
    CHECK(differ_totals_cells_suffice(&t, one_of, stdout));
}
