/* Splitting: what is carried over a grid barrier and what is not, because it is written again
 * before anyone reads it; and how lanes that ended are known. */
#include "harness/everywhere.h"

/* Splits, and compares what is carried: `name kind words` for each, in order. */
static void expect_carries(const char *text, const char *want) {
    static const char *const kinds[] = {"recomputed", "lane",  "scalar", "private",
                                        "workgroup",  "ended", "group"};
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    char found[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < v->carry_count; i++) {
        const vyre_carry *c = &v->carries[i];
        length += (size_t)snprintf(found + length, sizeof found - length, "%s%s %s %u",
                                   i ? ", " : "", c->name, kinds[c->kind], c->words);
        REQUIRE(length < sizeof found);
    }
    CHECK_STR(found, want);
    vyre_module_release(m);
    vyre_program_release(p);
}

TEST(versions_of_a_variable_are_carried_apart) {
    expect_carries("program p workgroup(2) elements(4) { inout o : u32[4]; in a : u32[1];\n"
                   "  let x = o[global_id.x]; grid_sync; o[3 - global_id.x] = x; x = a[0];\n"
                   "  grid_sync; o[global_id.x] = o[global_id.x] + x;\n"
                   "  if (x > 1) { x = 1; } else { x = o[0]; } grid_sync; o[global_id.x] = x; }",
                   "x lane 1, x recomputed 0, x lane 1");
    expect_carries("program p workgroup(2) elements(4) { inout o : u32[4];\n"
                   "  fn f(v : u32) -> u32 { return v * 3; } let x = f(global_id.x);\n"
                   "  o[x % 4] = 1; grid_sync; o[3 - global_id.x] = o[0] + x; }",
                   "x recomputed 0");
}

/* A flag for each lane would be loaded in each step, and hide from devices which lanes pass. */
TEST(conditions_of_ids_and_sizes_are_asked_again) {
    expect_carries("program p workgroup(4, 2, 2) { param n : u32 = 8; inout o : u32[n * n * n];\n"
                   "  let x = global_id.x; let y = global_id.y; let z = global_id.z;\n"
                   "  let inner = x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1;\n"
                   "  let at = (z * n + y) * n + x; for (k in 0 .. 3) {\n"
                   "    if (inner) { o[at] = o[at] + 1; } grid_sync;\n"
                   "    if (inner) { o[at] = o[at] * o[at - 1]; } grid_sync; } }",
                   "inner recomputed 0, at recomputed 0, k scalar 0");
}

/* Carries as said, and gives `want` everywhere. */
static void expect_memory(const char *declarations, const char *body, const char *carries,
                          const uint32_t *want, uint32_t count) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(2) elements(4) { out o : u32[4]; scratch s : u32[4];\n"
                   "  %s let i = global_id.x; let l = local_id.x;\n  %s }",
                   declarations, body);
    expect_carries(text, carries);
    run_everywhere(text, NULL, 0, 0, want, count);
}

typedef struct memory_case {
    const char *declarations, *body, *carries;
    const uint32_t *want;
    size_t count;
} memory_case;

static void expect_memories(const memory_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const memory_case *c = &cases[i];
        expect_memory(c->declarations, c->body, c->carries, c->want, (uint32_t)c->count);
    }
}

TEST(workgroup_memory_that_is_overwritten_is_not_alive) {
    static const char *const two = "workgroup w : u32[2];";
    const memory_case cases[] = {
        {two,
         "w[l] = i; barrier; s[i] = w[1 - l]; grid_sync; w[local_id.x] = s[3 - i];\n"
         "barrier; o[i] = w[1 - l];",
         "i recomputed 0, l recomputed 0", RUN_WORDS(3, 2, 1, 0)},
        /* Where all lanes of a group go together, as long as they do. */
        {two,
         "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i];\n"
         "barrier; o[i] = w[1 - l]; }",
         "i recomputed 0, l recomputed 0", RUN_WORDS(2, 3)},
        {two,
         "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i]; }\n"
         "barrier; o[i] = w[1 - l];",
         "i recomputed 0, l recomputed 0, w workgroup 2", RUN_WORDS(2, 3, 3, 2)},
        {two,
         "w[l] = i; s[i] = i; grid_sync; if (l == 0) { w[l] = s[3 - i]; }\n"
         "barrier; o[i] = w[l];",
         "i recomputed 0, l recomputed 0, w workgroup 2", RUN_WORDS(3, 1, 1, 3)},
        {two,
         "w[l] = i; s[i] = i; grid_sync; if (l == 0) { w[l] = s[3 - i];\n"
         "o[i] = w[l] + w[1]; } barrier;",
         "i recomputed 0, l recomputed 0, w workgroup 2", RUN_WORDS(4, 0, 4, 0)},
        /* Not by its own old value, not in part, not if lanes have ended. */
        {two, "w[l] = i; s[i] = i; grid_sync; w[l] = w[l] + s[3 - i]; o[i] = w[l];",
         "i recomputed 0, l recomputed 0, w workgroup 2", RUN_WORDS(3, 3, 3, 3)},
        {"workgroup w : u32[3];",
         "w[l + 1] = i; s[i] = i; grid_sync; w[l] = s[3 - i]; barrier; o[i] = w[2];",
         "i recomputed 0, l recomputed 0, w workgroup 3", RUN_WORDS(1, 1, 3, 3)},
        {two,
         "w[l] = i; s[i] = i; if (l == 0) { exit; } grid_sync; w[l] = s[3 - i];\n"
         "barrier; o[i] = w[0];",
         "i recomputed 0, l recomputed 0, w workgroup 2, (lanes that ended) recomputed 0",
         RUN_WORDS(0, 0, 0, 2)},
    };
    expect_memories(cases, sizeof cases / sizeof *cases);
}

TEST(workgroup_memory_that_lanes_overwrite_in_turn_is_not_alive) {
    static const char *const five = "workgroup w : u32[5]; const n = 5;";
    static const char *const dead = "i recomputed 0, l recomputed 0";
    static const char *const alive = "i recomputed 0, l recomputed 0, w workgroup 5";
    const memory_case cases[] = {
        {five,
         "w[l] = i; s[i] = i; grid_sync; for (k in l .. n step 2) { w[k] = s[3 - i]; }\n"
         "barrier; o[i] = w[4 - l];",
         dead, RUN_WORDS(3, 2, 1, 0)},
        {five,
         "w[l] = i; s[i] = i; grid_sync; { { for (k in l .. n step 2) { w[k] = s[3 - i]; }\n"
         "barrier; } } o[i] = w[4 - l];",
         dead, RUN_WORDS(3, 2, 1, 0)},
        /* Not if some are left out, by step, end, a jump or for other lanes; not by old values. */
        {five,
         "w[l + 1] = i; s[i] = i; grid_sync; for (k in l .. n step 3) { w[k] = s[3 - i]; }\n"
         "barrier; o[i] = w[2];",
         alive, RUN_WORDS(1, 1, 3, 3)},
        {five,
         "w[l + 3] = i; s[i] = i; grid_sync; for (k in l .. 4 step 2) { w[k] = s[3 - i]; }\n"
         "barrier; o[i] = w[4];",
         alive, RUN_WORDS(1, 1, 3, 3)},
        {five,
         "w[l + 2] = i; s[i] = i; grid_sync; for (k in l .. n step 2) { w[k] = s[3 - i];\n"
         "if (k == 1) { break; } } barrier; o[i] = w[3];",
         alive, RUN_WORDS(1, 1, 3, 3)},
        {five,
         "w[l] = i; s[i] = i; grid_sync; if (l == 0) { for (k in l .. n step 2) {\n"
         "w[k] = s[3 - i]; } o[i] = w[l] + w[1]; }",
         alive, RUN_WORDS(4, 0, 4, 0)},
        {five,
         "w[l] = i; s[i] = i; grid_sync; for (k in l .. n step 2) {\n"
         "w[k] = w[k] + s[3 - i]; } o[i] = w[l];",
         alive, RUN_WORDS(3, 3, 3, 3)},
        /* What is new stays so when it is set again within. */
        {"workgroup w : u32[2];",
         "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i];\n"
         "for (r in 0 .. 2) { w[l] = w[l] + 1; } o[i] = w[l]; }",
         dead, RUN_WORDS(5, 4, 0, 0)},
    };
    expect_memories(cases, sizeof cases / sizeof *cases);
}

/* What lanes end by is asked again, where it is the same in all launches. */
/* Groups of 4 x 2 lanes, two of them, with a tile or a private array that a barrier lies before. */
static void expect_tile(const char *memory, const char *body, uint32_t words) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "program p workgroup(4, 2) grid(2) { out o : u32[16]; scratch s : u32[16];\n"
                   "  %s let x = local_id.x; let y = local_id.y; const wide = 4;\n"
                   "  let i = global_id.y * 8 + global_id.x; let l = y * wide + x; s[i] = i;\n"
                   "  %s }",
                   memory, body);
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, NULL, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    if (v->lane_words + v->group_words != words) {
        test_fail(__FILE__, __LINE__, "%u words are carried, not %u:\n%s",
                  v->lane_words + v->group_words, words, text);
    }
    vyre_module_release(m);
    run_result native = run_program("ref", p, NULL, 0, NULL);
    run_result split = run_program("ref-split", p, NULL, 0, NULL);
    CHECK_STATUS(native.status, VYRE_OK, &native.diag);
    CHECK_STATUS(split.status, VYRE_OK, &split.diag);
    for (uint32_t k = 0; k < 16; k++) {
        CHECK_EQ(run_word(&split, 0, k), run_word(&native, 0, k));
    }
    run_finish(&native);
    run_finish(&split);
    vyre_program_release(p);
}

#define BEFORE "w[l] = l + 1; grid_sync; "
#define BEHIND " barrier; o[i] = w[7 - l];"

TEST(tiles_that_are_overwritten_are_not_alive) {
    static const char *const tile = "workgroup w : u32[8];";
    static const struct {
        const char *body;
        uint32_t words;
    } cases[] = {
        {BEFORE "w[l] = s[15 - i];" BEHIND, 0},
        {BEFORE "w[x * 2 + y] = s[3];" BEHIND, 0},
        {BEFORE "w[y * group_size.x + x] = s[15 - i];" BEHIND, 0},
        {BEFORE "for (k in x .. 8 step 4) { w[k] = s[3]; }" BEHIND, 0},
        {BEFORE "for (k in x .. len(w) step 4) { w[k] = s[3]; }" BEHIND, 0},
        {BEFORE
         "for (k in y .. 2 step 2) { for (j in x .. 4 step 4) { w[k * 4 + j] = s[3]; } }" BEHIND,
         0},
        {BEFORE "if (s[i] > 7) { w[l] = s[15 - i]; } else { w[l] = 3; }" BEHIND, 0},
        /* Some are left out, or may be. */
        {BEFORE "w[x + y * 3] = s[3];" BEHIND, 8},
        {BEFORE "w[x + y] = s[3];" BEHIND, 8},
        {BEFORE "w[l + 1] = s[3];" BEHIND, 8},
        {BEFORE "for (k in l .. 8 step 4) { w[k] = s[3]; }" BEHIND, 8},
        {BEFORE "for (k in x .. 8 step 4) { w[k + y] = s[3]; }" BEHIND, 8},
        {BEFORE
         "for (k in y .. 2 step 2) { for (j in y .. 4 step 2) { w[k * 4 + j] = s[3]; } }" BEHIND,
         8},
        {BEFORE "for (k in x .. 2 step 4) { for (j in x .. 8 step 4) { w[j] = s[3]; } }" BEHIND, 8},
        {BEFORE "if (s[i] > 7) { w[l] = 3; } else { w[x * 2 + y] = 3; }" BEHIND, 8},
        {BEFORE "if (s[i] > 7) { w[l] = s[15 - i]; }" BEHIND, 8},
        {BEFORE "if (s[i] > 7) { w[l] = w[l] + 1; } else { w[l] = 3; }" BEHIND, 8},
        {BEFORE "for (k in 0 .. 2) { if (s[i] > 7) { if (x == 0) { break; } w[l] = 4; }"
                " else { w[l] = 3; } }" BEHIND,
         8},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        expect_tile(tile, cases[c].body, cases[c].words);
    }
    /* In two dimensions, and with more elements than lanes. */
    expect_tile("workgroup w : u32[2][4];",
                "w[y][x] = i; grid_sync; w[y][x] = s[15 - i]; barrier; o[i] = w[1 - y][3 - x];", 0);
    expect_tile("workgroup w : u32[2][4];",
                "w[y][x] = i; grid_sync; w[y][x / 2] = s[3]; barrier; o[i] = w[1 - y][3 - x];", 8);
    expect_tile("workgroup w : u32[3][6];",
                "w[y][x] = i; grid_sync; for (k in l .. 18 step 8) { w[k / 6][k % 6] = s[3]; }"
                " barrier; o[i] = w[2 - y][5 - x];",
                0);
    expect_tile("workgroup w : u32[3][6];",
                "w[y][x] = i; grid_sync; for (k in l .. 18 step 8) { w[k / 5][k % 5] = s[3]; }"
                " barrier; o[i] = w[2 - y][5 - x];",
                18);
    expect_tile("workgroup w : u32[3][6];",
                "w[y][x] = i; grid_sync; for (r in y .. 3 step 2) { for (k in x .. 6 step 4) {"
                " w[r][k] = s[3]; } } barrier; o[i] = w[2 - y][5 - x];",
                0);
}

TEST(private_tables_that_are_overwritten_are_not_alive) {
    static const struct {
        const char *body;
        uint32_t words;
    } cases[] = {
        {"for (k in 0 .. 2) { for (j in 0 .. 3) { a[k][j] = s[15 - i]; } }", 0},
        {"for (k in 0 .. 3) { for (j in 0 .. 2) { a[j][k] = s[15 - i]; } }", 0},
        {"for (j in 0 .. 6) { a[j / 3][j % 3] = s[15 - i]; }", 0},
        {"for (j in 0 .. 6) { a[j / 2][j % 2] = s[15 - i]; }", 6},
        {"for (j in 0 .. 6) { a[0][j] = s[15 - i]; }", 6},
        {"a[0][0] = 1; a[1][2] = s[15 - i]; a[0][2] = 3; a[1][1] = 4; a[1][0] = 5; a[0][1] = 6;",
         0},
        {"a[0][0] = 1; a[1][2] = s[15 - i]; a[0][2] = 3; a[1][1] = 4; a[1][0] = 5; a[0][3] = 6;",
         6},
        {"for (k in 0 .. 2) { for (j in 0 .. 2) { a[k][j] = s[15 - i]; } }", 6},
        {"for (k in 0 .. 2) { for (j in 0 .. 3) { if (j == 1) { break; } a[k][j] = s[15 - i]; } }",
         6},
        {"for (k in l .. 5 step 8) { for (j in 0 .. 6) { a[j / 3][j % 3] = s[15 - i]; } }", 6},
        {"for (k in x .. 6 step 4) { a[k / 3][k % 3] = s[15 - i]; }", 6},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[512];
        (void)snprintf(body, sizeof body, "a[1][2] = i; grid_sync; %s o[i] = a[1][2] + a[0][1];",
                       cases[c].body);
        expect_tile("private a : u32[2][3];", body, cases[c].words);
    }
}

TEST(lanes_that_ended_are_found_by_their_guards) {
    static const char *const found = "i recomputed 0, (lanes that ended) recomputed 0";
    static const char *const flag = "i recomputed 0, (lanes that ended) ended 1";
    const memory_case cases[] = {
        {"", "if (i == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];", found,
         RUN_WORDS(4, 0, 0, 1)},
        /* Only behind it. */
        {"",
         "s[i] = i + 1; grid_sync; o[i] = s[3 - i]; if (i == 1) { exit; } grid_sync;\n"
         "s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 1;",
         found, RUN_WORDS(2, 3, 4, 5)},
        {"",
         "if (i == 1) { exit; } s[i] = 5; grid_sync; o[i] = s[3 - i] + 1;\n"
         "if (i == 2) { exit; } grid_sync; s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 9;",
         found, RUN_WORDS(15, 0, 1, 15)},
        /* By what variables were bound to, and in a loop behind it. */
        {"param most : u32 = 3; const c = 1;",
         "let j = l + 2 * group_id.x; let twice = j + j; let end = most + len(o) - c;\n"
         "if (twice >= end || j == 0) { exit; } s[i] = 1; grid_sync;\n"
         "for (k in 0 .. 3) { o[i] = s[i ^ 3]; grid_sync; s[i] = s[i] + o[i]; grid_sync; }\n"
         "o[i] = s[i];",
         "i recomputed 0, k scalar 0, (lanes that ended) recomputed 0", RUN_WORDS(0, 8, 8, 0)},
        /* A flag: what was loaded, what changes, what some lanes or trips have, what is too much.
         */
        {"",
         "s[i] = i; if (s[i] == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];\n"
         "grid_sync; s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 1;",
         flag, RUN_WORDS(2, 1, 0, 5)},
        {"",
         "let j = i; if (j == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i]; j = "
         "7;\ngrid_sync; o[i] = o[i] + j;",
         found, RUN_WORDS(11, 7, 0, 8)},
        {"",
         "let j = i; if (i > 1) { j = 2; } if (j == 2) { exit; } s[i] = i + 1; grid_sync;\n"
         "o[i] = s[1 - i];",
         flag, RUN_WORDS(2, 1, 0, 0)},
        {"", "if (i > 1) { if (l == 0) { exit; } } s[i] = i + 1; grid_sync; o[i] = s[3 - i];", flag,
         RUN_WORDS(4, 0, 0, 1)},
        {"",
         "for (k in 0 .. 2) { if (i == k + 1) { exit; } } s[i] = i + 1; grid_sync;\n"
         "o[i] = s[3 - i];",
         flag, RUN_WORDS(4, 0, 0, 1)},
        {"",
         "let a = i + i; let b = a + a + a; let c = b + b + b; let d = c + c + c;\n"
         "if (d == 108) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];",
         flag, RUN_WORDS(4, 0, 0, 1)},
    };
    expect_memories(cases, sizeof cases / sizeof *cases);
}

TEST(private_arrays_that_are_overwritten_are_not_alive) {
    static const char *const two = "private a : u32[2]; const n = 2;";
    static const char *const dead = "i recomputed 0", *const alive = "i recomputed 0, a private 2";
    const memory_case cases[] = {
        {two,
         "a[0] = i; s[i] = i; grid_sync; for (k in 0 .. n) { let j = k; a[j] = s[3 - i]; }\n"
         "o[i] = a[0] + a[1];",
         dead, RUN_WORDS(6, 4, 2, 0)},
        {two, "a[0] = i; s[i] = i; grid_sync; a[1] = s[3 - i]; a[0] = 1; o[i] = a[1];", dead,
         RUN_WORDS(3, 2, 1, 0)},
        {two, "a[0] = i; s[i] = i; grid_sync; a[1] = s[3 - i]; o[i] = a[0]; a[0] = 1;", alive,
         RUN_WORDS(0, 1, 2, 3)},
        {two,
         "a[0] = i; s[i] = i; grid_sync; if (i > 1) { a[1] = s[3 - i]; } a[1] = 7;\n"
         "o[i] = a[0];",
         alive, RUN_WORDS(0, 1, 2, 3)},
        {two,
         "a[0] = i; s[i] = i; grid_sync; if (i > 1) { a[0] = s[3 - i]; } a[1] = 7;\n"
         "o[i] = a[0];",
         alive, RUN_WORDS(0, 1, 1, 0)},
        {two,
         "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. n) { a[k] = s[3 - i];\n"
         "if (k == i) { break; } } o[i] = a[1];",
         alive, RUN_WORDS(0, 2, 1, 0)},
        {two,
         "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. n) { a[k] = s[3 - i] + a[1]; }\n"
         "o[i] = a[0];",
         alive, RUN_WORDS(3, 3, 3, 3)},
        {two,
         "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. 1) { a[k] = s[3 - i]; }\n"
         "o[i] = a[1];",
         alive, RUN_WORDS(0, 1, 2, 3)},
        /* In an arm, up to its end. */
        {two,
         "a[0] = i; s[i] = i; grid_sync; if (i > 1) { for (k in 0 .. n)\n"
         "{ a[k] = s[3 - i]; } o[i] = a[0]; }",
         dead, RUN_WORDS(0, 0, 1, 0)},
    };
    expect_memories(cases, sizeof cases / sizeof *cases);
}
