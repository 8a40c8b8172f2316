/* Splitting: segments are valid programs, in the regions that lie around all of them. */
#include "harness/everywhere.h"
#include "vyre/limits.h"

static void expect_valid_segments(const char *text, uint32_t least) {
    vyre_program *p = run_parse(text);
    vyre_split_options options = {.keep_barriers = true};
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK(v->segment_count >= least);
    CHECK_EQ(v->sync_points, 1);
    for (uint32_t i = 0; i < v->segment_count; i++) {
        vyre_diag items[4];
        vyre_diag_list list = {.items = items, .capacity = 4};
        CHECK_STATUS(vyre_check(v->segments[i], NULL, &list), VYRE_OK, items);
        CHECK(!vyre_contains_grid_sync(v->segments[i]));
    }
    vyre_module_release(m);
    vyre_program_release(p);
}

TEST(segments_are_valid_programs_without_grid_barriers) {
    expect_valid_segments(
        "program p workgroup(2) elements(4) { out o : u32[4]; workgroup w : u32[2];\n"
        "  private a : f32[2]; const N = 3; param k : u32 = 2;\n"
        "  let x = global_id.x; a[x & 1] = 2.0; w[local_id.x] = x; if (x == N) { exit; }\n"
        "  for (i in 0 .. k) { grid_sync; x = x + w[0] + u32(a[0]) + N; }\n"
        "  o[global_id.x] = x; }",
        3);
}

/* Groups of 34 lanes: the second subgroup has two, of which one ends. */
TEST(lanes_of_a_subgroup_agree_on_what_they_carry) {
    static const char *const kinds[][3] = {
        {"subgroup_max(global_id.x)", "a >= 32", "a"},
        {"subgroup_any(local_id.x == 33)", "a", "u32(a) * 33"},
        {"subgroup_min(-1.5 * f32(local_id.x))", "a < -46.5", "u32(-a / 1.5)"},
        {"subgroup_max(u64(local_id.x) << 33)", "a >= 1ul << 38", "u32(a >> 33)"},
        {"subgroup_min(f64(local_id.x) * -0.5d)", "a <= -16.0d", "u32(a * -2.0d)"}};
    uint32_t want[34] = {0};
    want[32] = 66; /* its own lane's share of the sum is 33: lane 33 is not there any more */
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(34) grid(1) { out o : u32[34];\n"
                       "  let a = %s; if (local_id.x == 33) { exit; }\n"
                       "  grid_sync;\n"
                       "  if (%s) { let s = subgroup_add(33); o[global_id.x] = s + %s; } }",
                       kinds[k][0], kinds[k][1], kinds[k][2]);
        expect_valid_segments(text, 2);
        run_everywhere(text, NULL, 0, 0, want, 34);
    }
}

/* The segment stands in the regions of its step, all of it, and is valid; the names outermost
 * first, each followed by a slash. */
static void check_regions(const vyre_module_view *v, const vyre_step *step, char *out,
                          size_t size) {
    const vyre_program_view *p = vyre_program_get(v->source);
    uint32_t depth = step->region == VYRE_NONE ? 0 : v->regions[step->region].depth;
    const char *names[VYRE_LIMIT_NESTING];
    REQUIRE(depth < VYRE_LIMIT_NESTING);
    for (uint32_t r = step->region, at = depth; r != VYRE_NONE; r = v->regions[r].parent) {
        names[--at] = p->stmts[v->regions[r].stmt].text;
    }
    *out = '\0';
    for (uint32_t i = 0; i < depth; i++) {
        size_t length = strlen(out);
        CHECK(snprintf(out + length, size - length, "%s/", names[i]) < (int)(size - length));
    }
    if (step->segment == VYRE_NONE) {
        return;
    }
    const vyre_program_view *s = vyre_program_get(v->segments[step->segment]);
    for (uint32_t i = 0; i < depth; i++) {
        CHECK_EQ(s->stmts[s->entry + i].op, VYRE_STMT_REGION);
        CHECK_STR(s->stmts[s->entry + i].text, names[i]);
        CHECK_EQ(s->stmts[s->entry + i].match, s->stmt_count - 1 - i);
    }
    vyre_diag items[4];
    vyre_diag_list list = {.items = items, .capacity = 4};
    CHECK_STATUS(vyre_check(v->segments[step->segment], NULL, &list), VYRE_OK, items);
}

/* The regions of each step. */
static void expect_regions(const char *text, const char *const *want, uint32_t count) {
    vyre_program *p = run_parse(text);
    vyre_split_options options = {.keep_barriers = true};
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK_EQ(v->step_count, count);
    for (uint32_t i = 0; i < count && i < v->step_count; i++) {
        char found[512];
        check_regions(v, &v->steps[i], found, sizeof found);
        CHECK_STR(found, want[i]);
    }
    vyre_module_release(m);
    vyre_program_release(p);
}
#define PATHS(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

TEST(segments_reopen_the_regions_around_all_of_them) {
    expect_regions("program p workgroup(2) elements(4) { out o : u32[4]; let i = global_id.x;\n"
                   "  region \"a\" { o[i] = 1; grid_sync;\n" /* step 0 began in the program */
                   "    region \"b\" { o[3 - i] = 2; grid_sync; o[i] = 3; grid_sync; o[i] = 4; }\n"
                   "    region \"c\" { o[i] = 5; grid_sync; } } grid_sync; o[i] = 6; }",
                   PATHS("", "a/b/", "a/b/", "a/", "", ""));
    expect_regions("program p workgroup(2) elements(4) { out o : u32[4]; let i = global_id.x;\n"
                   "  grid_sync; region \"a\" { o[i] = 1;\n" /* a decision is where it stands */
                   "    for (k in 0 .. 3) { region \"b\" { o[i] = k; grid_sync; o[3 - i] = 2;\n"
                   "      if (k == 1) { break; } grid_sync; o[i] = 3; } } } }",
                   PATHS("", "a/", "a/b/", "a/b/", "a/b/", "a/", ""));
    expect_regions("program p workgroup(2) elements(4) { out o : u32[4];\n"
                   "  region \"a\" { grid_sync; } region \"a\" { grid_sync; } }",
                   PATHS("a/", "a/"));
}

/* A program of `outer` regions in which a function is called, whose body is `inner` regions, a
 * barrier in the innermost, an exit, and behind another barrier `ifs` ifs. */
static char *deep_program(uint32_t outer, uint32_t inner, uint32_t ifs) {
    static const char *const region = "region \"r\" {", *const branch =
                                                            "if (o[global_id.x] != 3) {";
    const struct {
        const char *text;
        uint32_t times;
    } parts[] = {{"program p workgroup(2) elements(4) { inout o : u32[4];\n"
                  "  fn f(v : u32) -> u32 {",
                  1},
                 {region, inner},
                 {"grid_sync; if (o[3 - global_id.x] == 3) { exit; } grid_sync;", 1},
                 {branch, ifs},
                 {"o[global_id.x] = v;", 1},
                 {"}", ifs},
                 {"grid_sync; o[3 - global_id.x] = v;", 1},
                 {"}", inner},
                 {"return v + 1; }\n", 1},
                 {region, outer},
                 {"let x = f(2); o[global_id.x] = x;", 1},
                 {"}", outer + 1}};
    char *text = calloc(1, 8192), *at = text;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        for (uint32_t i = 0; i < parts[p].times; i++) {
            at += sprintf(at, "%s", parts[p].text);
        }
    }
    return text;
}

static void expect_depths(uint32_t outer, uint32_t inner, uint32_t ifs, const uint32_t want[2]) {
    char *text = deep_program(outer, inner, ifs), found[512];
    vyre_program *p = run_parse(text);
    vyre_split_options options = {.keep_barriers = true};
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    REQUIRE(v->step_count == 4);
    for (uint32_t i = 0; i < 4; i++) {
        check_regions(v, &v->steps[i], found, sizeof found);
        CHECK_EQ(strlen(found), 2 * (i == 0 || i == 3 ? outer : want[i - 1]));
    }
    vyre_module_release(m);
    vyre_program_release(p);
    free(text);
}

TEST(reopened_regions_nest_no_deeper_than_programs_may) {
    enum { MOST = VYRE_LIMIT_NESTING };
    expect_depths(3, 5, 7, (const uint32_t[]){8, 8});
    expect_depths(1, MOST - 2, 1, (const uint32_t[]){MOST - 1, MOST - 1});
    expect_depths(1, MOST - 1, 1, (const uint32_t[]){MOST - 1, MOST - 1});
    expect_depths(40, 30, 20, (const uint32_t[]){MOST - 1, MOST - 20});
}
