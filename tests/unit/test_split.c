/* Splitting: what crosses a grid barrier arrives, whatever it is. Each program runs natively and
 * split, in all orders, on both paths, and gives the expected words. */
#include "harness/run.h"
#include "vyre/limits.h"

static void print_segments(const vyre_program *program);

/* Runs everywhere; the first words of output 0 must be `want`. */
static void expect(const char *text, const vyre_input *inputs, uint32_t input_count,
                   uint32_t elements, const uint32_t *want, uint32_t count) {
    vyre_program *p = run_parse(text);
    static const char *const devices[] = {"ref", "ref-split"};
    for (int device = 0; device < 2; device++) {
        for (int order = VYRE_ORDER_FORWARD; order <= VYRE_ORDER_INTERLEAVED; order++) {
            for (int path = VYRE_PATH_HOST; path <= VYRE_PATH_RESIDENT; path++) {
                vyre_dispatch_options options = {.no_optimize = path == VYRE_PATH_HOST,
                                                 .has_elements = elements != 0,
                                                 .elements = elements,
                                                 .order = (vyre_order)order,
                                                 .order_seed = 7,
                                                 .path = (vyre_path)path,
                                                 .max_steps = 1000000};
                run_result r = run_program(devices[device], p, inputs, input_count, &options);
                CHECK_STATUS(r.status, VYRE_OK, &r.diag);
                for (uint32_t i = 0; i < count && r.status == VYRE_OK; i++) {
                    if (run_word(&r, 0, i) != want[i]) {
                        test_fail(__FILE__, __LINE__, "%s, order %d: word %u is %u, not %u\n%s",
                                  devices[device], order, i, run_word(&r, 0, i), want[i], text);
                        print_segments(p);
                        test_stop();
                    }
                }
                run_finish(&r);
            }
        }
    }
    vyre_program_release(p);
}

static bool to_stdout(void *user, const char *text, size_t length) {
    (void)user;
    return fwrite(text, 1, length, stdout) == length;
}

static void print_segments(const vyre_program *program) {
    vyre_module *m = NULL;
    if (vyre_split(program, NULL, NULL, &m, NULL) == VYRE_OK) {
        const vyre_module_view *v = vyre_module_get(m);
        for (uint32_t i = 0; i < v->step_count; i++) {
            printf("step %u: segment %d kind %u next %d otherwise %d sync %d asks %d\n", i,
                   (int)v->steps[i].segment, v->steps[i].kind, (int)v->steps[i].next,
                   (int)v->steps[i].otherwise, v->steps[i].sync, v->steps[i].asks);
            if (v->steps[i].segment != VYRE_NONE) {
                (void)vyre_program_print(v->segments[v->steps[i].segment], to_stdout, NULL);
            }
        }
        vyre_module_release(m);
    }
}

#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

TEST(values_stored_before_a_barrier_arrive) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; scratch s : u32[4];\n"
           "  let x = global_id.x * 3; let y = s[global_id.x]; x = x + 1; s[global_id.x] = 9;\n"
           "  grid_sync; o[global_id.x] = x + y; }",
           NULL, 0, 0, WORDS(1, 4, 7, 10));
}

TEST(loops_with_barriers_inside) {
    expect("program p workgroup(2) elements(4) { out o : u32[4];\n"
           "  for (i in 0 .. 5) { let v = o[(global_id.x + 1) % 4]; grid_sync;\n"
           "    o[global_id.x] = v + 1; grid_sync; } }",
           NULL, 0, 0, WORDS(5, 5, 5, 5));
}

TEST(while_on_memory_with_barriers_inside) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; scratch f : u32[1];\n"
           "  let more = 1; let k = 0;\n"
           "  while (more != 0) { k = k + 1; if (global_id.x == 0) { f[0] = 3 - k; } grid_sync;\n"
           "    more = f[0]; grid_sync; }\n"
           "  o[global_id.x] = k * 10 + global_id.x; }",
           NULL, 0, 0, WORDS(30, 31, 32, 33));
}

TEST(lanes_that_ended_stay_ended) {
    expect("program p workgroup(2) elements(4) { out o : u32[4];\n"
           "  if (global_id.x == 1) { exit; } o[global_id.x] = 1; grid_sync;\n"
           "  if (global_id.x == 2) { exit; } o[global_id.x] = 2; grid_sync;\n"
           "  o[global_id.x] = 3; }",
           NULL, 0, 0, WORDS(3, 0, 1, 3));
}

TEST(nothing_runs_after_all_lanes_have_ended) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; let n = 0;\n"
           "  while (true) { o[global_id.x] = o[global_id.x] + 1; grid_sync; n = n + 1;\n"
           "    if (n == 3) { exit; } } }",
           NULL, 0, 0, WORDS(3, 3, 3, 3));
}

TEST(workgroup_memory_survives) {
    expect("program p workgroup(4) elements(8) { out o : u32[8]; workgroup w : u32[4];\n"
           "  w[local_id.x] = global_id.x * 7; barrier; grid_sync;\n"
           "  o[global_id.x] = w[3 - local_id.x]; }",
           NULL, 0, 0, WORDS(21, 14, 7, 0, 49, 42, 35, 28));
}

TEST(workgroup_memory_survives_where_lanes_have_ended) {
    expect("program p workgroup(4) elements(8) { out o : u32[8]; workgroup w : u32[6];\n"
           "  w[local_id.x] = global_id.x + 1; w[4] = 9; if (local_id.x == 0) { exit; } barrier;\n"
           "  grid_sync; w[5] = 1; barrier; grid_sync;\n"
           "  if (global_id.x == 2) { exit; } barrier;\n"
           "  o[global_id.x] = w[0] + w[4] + w[5]; }",
           NULL, 0, 0, WORDS(0, 11, 0, 11, 0, 15, 15, 15));
}

TEST(private_arrays_survive) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; private a : u64[3];\n"
           "  for (i in 0 .. 3) { a[i] = u64(global_id.x + i) << 33; } grid_sync;\n"
           "  a[1] = a[1] + a[2]; grid_sync;\n"
           "  o[global_id.x] = u32(a[0] >> 33) * 100 + u32(a[1] >> 33); }",
           NULL, 0, 0, WORDS(3, 105, 207, 309));
}

TEST(every_type_survives) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; scratch z : u32[4];\n"
           "  let g = z[global_id.x] + global_id.x;\n"
           "  let a = g > 1; let b = i32(g) - 2i; let c = u64(g) << 40; let d = i64(b) << 35;\n"
           "  let e = f32(g) * 0.5; let f = f64(g) * 0.25d; z[global_id.x] = 5; grid_sync;\n"
           "  o[global_id.x] = u32(a) + u32(b + 2i) * 10 + u32(c >> 40) * 100 +\n"
           "    u32((d >> 35) + 2l) * 1000 + u32(e * 2.0) * 10000 + u32(f * 4.0d) * 100000; }",
           NULL, 0, 0, WORDS(0, 111110, 222221, 333331));
}

TEST(breaks_and_continues_of_loops_with_barriers) {
    expect("program p workgroup(2) elements(4) { out o : u32[4];\n"
           "  for (i in 0 .. 10 step 2) { if (i == 2) { continue; } if (i == 8) { break; }\n"
           "    o[global_id.x] = o[global_id.x] + i; grid_sync; if (i == 6) { "
           "o[global_id.x]\n"
           "      = o[global_id.x] + 100; grid_sync; } } }",
           NULL, 0, 0, WORDS(110, 110, 110, 110));
}

TEST(functions_with_barriers) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; scratch s : u32[4];\n"
           "  fn turn(v : u32) -> u32 { s[global_id.x] = v; grid_sync;\n"
           "    let r = s[(global_id.x + 1) % 4]; grid_sync; return r; }\n"
           "  let a = turn(global_id.x * 10); let b = turn(a + 1); o[global_id.x] = a + b; }",
           NULL, 0, 0, WORDS(31, 51, 31, 11));
}

TEST(both_arms_of_an_if) {
    expect("program p workgroup(2) elements(4) { out o : u32[4]; param k : u32 = 1;\n"
           "  let x = global_id.x; if (k == 1) { o[x] = x; grid_sync; x = o[3 - x]; }\n"
           "  else { grid_sync; x = 77; } grid_sync; o[global_id.x] = x; }",
           NULL, 0, 0, WORDS(3, 2, 1, 0));
}

TEST(collectives_of_one_rank) {
    expect("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
           "  s[global_id.x] = global_id.x + 1; all_reduce(s, sum); all_gather(s, o);\n"
           "  o[global_id.x] = o[global_id.x] * 2; }",
           NULL, 0, 0, WORDS(2, 4, 6, 8, 0, 0));
}

TEST(functions_with_async_copies_may_be_called_twice) {
    expect("program p workgroup(1) elements(2) { out o : u32[4]; in s : u32[4];\n"
           "  private a : u32[1]; fn get(i : u32) -> u32 { async_load(s, a, i * 4, 4, \"t\");\n"
           "    grid_sync; async_wait(\"t\"); return a[0]; }\n"
           "  let x = get(global_id.x); let y = get(x); o[2 * global_id.x] = x;\n"
           "  o[2 * global_id.x + 1] = y; }",
           (vyre_input[]){{(const uint32_t[]){2, 3, 8, 9}, 16}}, 1, 0, WORDS(2, 8, 3, 9));
}

TEST(collectives_do_not_depend_on_lanes_that_ended) {
    expect("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
           "  s[global_id.x] = global_id.x + 1; if (global_id.x != 2) { exit; }\n"
           "  all_gather(s, o); o[5] = 7; }",
           NULL, 0, 0, WORDS(1, 2, 3, 4, 0, 7));
    expect("program p workgroup(2) elements(4) { out o : u32[6]; scratch s : u32[4];\n"
           "  s[global_id.x] = global_id.x + 1; if (s[global_id.x] != 9) { exit; }\n"
           "  all_gather(s, o); o[5] = 7; }",
           NULL, 0, 0, WORDS(0, 0, 0, 0, 0, 0));
}

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
        expect(text, NULL, 0, 0, want, 34);
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
    char *text = calloc(1, 8192), *at = text;
    at += sprintf(at, "program p workgroup(2) elements(4) { inout o : u32[4];\n"
                      "  fn f(v : u32) -> u32 {");
    for (uint32_t i = 0; i < inner; i++) {
        at += sprintf(at, "region \"r\" {");
    }
    at += sprintf(at, "grid_sync; if (o[3 - global_id.x] == 3) { exit; } grid_sync;");
    for (uint32_t i = 0; i < ifs; i++) {
        at += sprintf(at, "if (o[global_id.x] != 3) {");
    }
    at += sprintf(at, "o[global_id.x] = v;");
    for (uint32_t i = 0; i < ifs; i++) {
        at += sprintf(at, "}");
    }
    at += sprintf(at, "grid_sync; o[3 - global_id.x] = v;");
    for (uint32_t i = 0; i < inner; i++) {
        at += sprintf(at, "}");
    }
    at += sprintf(at, "return v + 1; }\n");
    for (uint32_t i = 0; i < outer; i++) {
        at += sprintf(at, "region \"r\" {");
    }
    at += sprintf(at, "let x = f(2); o[global_id.x] = x;");
    for (uint32_t i = 0; i < outer; i++) {
        at += sprintf(at, "}");
    }
    (void)sprintf(at, "}");
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
    expect("program p workgroup(1) elements(2) { out o : u32[4]; scratch s : u32[4];\n"
           "  workgroup w : u32[2]; s[2 * global_id.x] = 5 + global_id.x; s[1 + 2 * global_id.x] = "
           "6;\n"
           "  async_load(s, w, global_id.x * 8, 6, \"t\"); s[2 * global_id.x] = 99; grid_sync;\n"
           "  async_wait(\"t\"); o[2 * global_id.x] = w[0]; o[2 * global_id.x + 1] = w[1]; }",
           NULL, 0, 0, WORDS(5, 6, 6, 6));
    expect("program p workgroup(1) elements(1) { out o : u8[8]; in s : u8[4];\n"
           "  async_store(s, o, 3, 4, \"t\"); grid_sync; async_wait(\"t\"); }",
           (vyre_input[]){{"\x15\x16\x17\x18", 4}}, 1, 0, WORDS(0x15000000, 0x00181716));
}

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
    expect(text, NULL, 0, 0, want, count);
}

TEST(workgroup_memory_that_is_overwritten_is_not_alive) {
    static const char *const two = "workgroup w : u32[2];";
    expect_memory(two,
                  "w[l] = i; barrier; s[i] = w[1 - l]; grid_sync; w[local_id.x] = s[3 - i];\n"
                  "barrier; o[i] = w[1 - l];",
                  "i recomputed 0, l recomputed 0", WORDS(3, 2, 1, 0));
    /* Where all lanes of a group go together, as long as they do. */
    expect_memory(two,
                  "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i];\n"
                  "barrier; o[i] = w[1 - l]; }",
                  "i recomputed 0, l recomputed 0", WORDS(2, 3));
    expect_memory(two,
                  "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i]; }\n"
                  "barrier; o[i] = w[1 - l];",
                  "i recomputed 0, l recomputed 0, w workgroup 2", WORDS(2, 3, 3, 2));
    expect_memory(two,
                  "w[l] = i; s[i] = i; grid_sync; if (l == 0) { w[l] = s[3 - i]; }\n"
                  "barrier; o[i] = w[l];",
                  "i recomputed 0, l recomputed 0, w workgroup 2", WORDS(3, 1, 1, 3));
    expect_memory(two,
                  "w[l] = i; s[i] = i; grid_sync; if (l == 0) { w[l] = s[3 - i];\n"
                  "o[i] = w[l] + w[1]; } barrier;",
                  "i recomputed 0, l recomputed 0, w workgroup 2", WORDS(4, 0, 4, 0));
    /* Not by its own old value, not in part, not if lanes have ended. */
    expect_memory(two, "w[l] = i; s[i] = i; grid_sync; w[l] = w[l] + s[3 - i]; o[i] = w[l];",
                  "i recomputed 0, l recomputed 0, w workgroup 2", WORDS(3, 3, 3, 3));
    expect_memory("workgroup w : u32[3];",
                  "w[l + 1] = i; s[i] = i; grid_sync; w[l] = s[3 - i]; barrier; o[i] = w[2];",
                  "i recomputed 0, l recomputed 0, w workgroup 3", WORDS(1, 1, 3, 3));
    expect_memory(two,
                  "w[l] = i; s[i] = i; if (l == 0) { exit; } grid_sync; w[l] = s[3 - i];\n"
                  "barrier; o[i] = w[0];",
                  "i recomputed 0, l recomputed 0, w workgroup 2, (lanes that ended) recomputed 0",
                  WORDS(0, 0, 0, 2));
}

TEST(workgroup_memory_that_lanes_overwrite_in_turn_is_not_alive) {
    static const char *const five = "workgroup w : u32[5]; const n = 5;";
    static const char *const dead = "i recomputed 0, l recomputed 0";
    static const char *const alive = "i recomputed 0, l recomputed 0, w workgroup 5";
    expect_memory(five,
                  "w[l] = i; s[i] = i; grid_sync; for (k in l .. n step 2) { w[k] = s[3 - i]; }\n"
                  "barrier; o[i] = w[4 - l];",
                  dead, WORDS(3, 2, 1, 0));
    expect_memory(
        five,
        "w[l] = i; s[i] = i; grid_sync; { { for (k in l .. n step 2) { w[k] = s[3 - i]; }\n"
        "barrier; } } o[i] = w[4 - l];",
        dead, WORDS(3, 2, 1, 0));
    /* Not if some are left out, by step, end, a jump or for other lanes; not by old values. */
    expect_memory(
        five,
        "w[l + 1] = i; s[i] = i; grid_sync; for (k in l .. n step 3) { w[k] = s[3 - i]; }\n"
        "barrier; o[i] = w[2];",
        alive, WORDS(1, 1, 3, 3));
    expect_memory(
        five,
        "w[l + 3] = i; s[i] = i; grid_sync; for (k in l .. 4 step 2) { w[k] = s[3 - i]; }\n"
        "barrier; o[i] = w[4];",
        alive, WORDS(1, 1, 3, 3));
    expect_memory(five,
                  "w[l + 2] = i; s[i] = i; grid_sync; for (k in l .. n step 2) { w[k] = s[3 - i];\n"
                  "if (k == 1) { break; } } barrier; o[i] = w[3];",
                  alive, WORDS(1, 1, 3, 3));
    expect_memory(five,
                  "w[l] = i; s[i] = i; grid_sync; if (l == 0) { for (k in l .. n step 2) {\n"
                  "w[k] = s[3 - i]; } o[i] = w[l] + w[1]; }",
                  alive, WORDS(4, 0, 4, 0));
    expect_memory(five,
                  "w[l] = i; s[i] = i; grid_sync; for (k in l .. n step 2) {\n"
                  "w[k] = w[k] + s[3 - i]; } o[i] = w[l];",
                  alive, WORDS(3, 3, 3, 3));
    /* What is new stays so when it is set again within. */
    expect_memory("workgroup w : u32[2];",
                  "w[l] = i; s[i] = i; grid_sync; if (group_id.x == 0) { w[l] = s[3 - i];\n"
                  "for (r in 0 .. 2) { w[l] = w[l] + 1; } o[i] = w[l]; }",
                  dead, WORDS(5, 4, 0, 0));
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
    expect_memory("", "if (i == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];", found,
                  WORDS(4, 0, 0, 1));
    /* Only behind it. */
    expect_memory("",
                  "s[i] = i + 1; grid_sync; o[i] = s[3 - i]; if (i == 1) { exit; } grid_sync;\n"
                  "s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 1;",
                  found, WORDS(2, 3, 4, 5));
    expect_memory("",
                  "if (i == 1) { exit; } s[i] = 5; grid_sync; o[i] = s[3 - i] + 1;\n"
                  "if (i == 2) { exit; } grid_sync; s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 9;",
                  found, WORDS(15, 0, 1, 15));
    /* By what variables were bound to, and in a loop behind it. */
    expect_memory(
        "param most : u32 = 3; const c = 1;",
        "let j = l + 2 * group_id.x; let twice = j + j; let end = most + len(o) - c;\n"
        "if (twice >= end || j == 0) { exit; } s[i] = 1; grid_sync;\n"
        "for (k in 0 .. 3) { o[i] = s[i ^ 3]; grid_sync; s[i] = s[i] + o[i]; grid_sync; }\n"
        "o[i] = s[i];",
        "i recomputed 0, k scalar 0, (lanes that ended) recomputed 0", WORDS(0, 8, 8, 0));
    /* A flag: what was loaded, what changes, what some lanes or trips have, what is too much. */
    static const char *const flag = "i recomputed 0, (lanes that ended) ended 1";
    expect_memory("",
                  "s[i] = i; if (s[i] == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];\n"
                  "grid_sync; s[i] = o[3 - i]; grid_sync; o[i] = s[i] + 1;",
                  flag, WORDS(2, 1, 0, 5));
    expect_memory("",
                  "let j = i; if (j == 2) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i]; j = "
                  "7;\ngrid_sync; o[i] = o[i] + j;",
                  found, WORDS(11, 7, 0, 8));
    expect_memory(
        "",
        "let j = i; if (i > 1) { j = 2; } if (j == 2) { exit; } s[i] = i + 1; grid_sync;\n"
        "o[i] = s[1 - i];",
        flag, WORDS(2, 1, 0, 0));
    expect_memory("",
                  "if (i > 1) { if (l == 0) { exit; } } s[i] = i + 1; grid_sync; o[i] = s[3 - i];",
                  flag, WORDS(4, 0, 0, 1));
    expect_memory("",
                  "for (k in 0 .. 2) { if (i == k + 1) { exit; } } s[i] = i + 1; grid_sync;\n"
                  "o[i] = s[3 - i];",
                  flag, WORDS(4, 0, 0, 1));
    expect_memory("",
                  "let a = i + i; let b = a + a + a; let c = b + b + b; let d = c + c + c;\n"
                  "if (d == 108) { exit; } s[i] = i + 1; grid_sync; o[i] = s[3 - i];",
                  flag, WORDS(4, 0, 0, 1));
}

TEST(private_arrays_that_are_overwritten_are_not_alive) {
    static const char *const two = "private a : u32[2]; const n = 2;";
    static const char *const dead = "i recomputed 0", *const alive = "i recomputed 0, a private 2";
    expect_memory(
        two,
        "a[0] = i; s[i] = i; grid_sync; for (k in 0 .. n) { let j = k; a[j] = s[3 - i]; }\n"
        "o[i] = a[0] + a[1];",
        dead, WORDS(6, 4, 2, 0));
    expect_memory(two, "a[0] = i; s[i] = i; grid_sync; a[1] = s[3 - i]; a[0] = 1; o[i] = a[1];",
                  dead, WORDS(3, 2, 1, 0));
    expect_memory(two, "a[0] = i; s[i] = i; grid_sync; a[1] = s[3 - i]; o[i] = a[0]; a[0] = 1;",
                  alive, WORDS(0, 1, 2, 3));
    expect_memory(two,
                  "a[0] = i; s[i] = i; grid_sync; if (i > 1) { a[1] = s[3 - i]; } a[1] = 7;\n"
                  "o[i] = a[0];",
                  alive, WORDS(0, 1, 2, 3));
    expect_memory(two,
                  "a[0] = i; s[i] = i; grid_sync; if (i > 1) { a[0] = s[3 - i]; } a[1] = 7;\n"
                  "o[i] = a[0];",
                  alive, WORDS(0, 1, 1, 0));
    expect_memory(two,
                  "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. n) { a[k] = s[3 - i];\n"
                  "if (k == i) { break; } } o[i] = a[1];",
                  alive, WORDS(0, 2, 1, 0));
    expect_memory(two,
                  "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. n) { a[k] = s[3 - i] + a[1]; }\n"
                  "o[i] = a[0];",
                  alive, WORDS(3, 3, 3, 3));
    expect_memory(two,
                  "a[1] = i; s[i] = i; grid_sync; for (k in 0 .. 1) { a[k] = s[3 - i]; }\n"
                  "o[i] = a[1];",
                  alive, WORDS(0, 1, 2, 3));
    /* In an arm, up to its end. */
    expect_memory(two,
                  "a[0] = i; s[i] = i; grid_sync; if (i > 1) { for (k in 0 .. n)\n"
                  "{ a[k] = s[3 - i]; } o[i] = a[0]; }",
                  dead, WORDS(0, 0, 1, 0));
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
    expect(text, &input, 1, 0, WORDS(5, 5, 5, 5, 5, 5));
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
        print_segments(p);
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
                print_segments(p);
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

TEST(lives_are_asked_by_step) {
    vyre_program *p =
        run_parse("program p workgroup(2) elements(4) { inout a : u32[4]; param n : u32 = 3;\n"
                  "workgroup w : u32[2]; let i = global_id.x; let x = a[i]; let y = a[3 - i] + 7;\n"
                  "w[1 - local_id.x] = x;\n"
                  "grid_sync; a[i] = x;\n"
                  "if (n > 2) { grid_sync; a[i] = a[3 - i] + 1; grid_sync; a[3 - i] = 1; }\n"
                  "else { grid_sync; let z = a[3 - i]; grid_sync; a[i] = z + y; }\n"
                  "for (k in 0 .. n) { grid_sync; let u = a[3 - i]; grid_sync; a[i] = u + k;\n"
                  "    if (i == k) { exit; } }\n"
                  "grid_sync; a[3 - i] = a[i] + w[local_id.x]; }");
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
