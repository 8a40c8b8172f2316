/* Async copies that are pending at a grid barrier. Each program runs natively and split, in all
 * orders, on both paths, with and without the barrier optimiser, and gives the same bytes. */
#include <string.h>

#include "harness/run.h"

enum { ORDERS = VYRE_ORDER_INTERLEAVED + 1, RUNS = 2 * ORDERS * 4 };

static uint32_t input_words[64];

/* Runs everywhere; all outputs must be those of the first native run, and its first words `want`.
 */
static void expect(const char *text, const uint32_t *want, uint32_t count) {
    vyre_program *p = run_parse(text);
    const vyre_program_view *v = vyre_program_get(p);
    vyre_input inputs[RUN_MOST_BUFFERS];
    uint32_t input_count = 0;
    for (uint32_t i = 0; i < v->decl_count; i++) {
        if (v->decls[i].role == VYRE_IN || v->decls[i].role == VYRE_INOUT) {
            inputs[input_count++] = (vyre_input){input_words, sizeof input_words};
        }
    }
    run_result first = {0};
    for (uint32_t i = 0; i < RUNS; i++) {
        vyre_dispatch_options options = {.no_optimize = i & 1,
                                         .path = i & 2 ? VYRE_PATH_RESIDENT : VYRE_PATH_HOST,
                                         .order = (vyre_order)(i / 4 % ORDERS),
                                         .order_seed = 7,
                                         .max_steps = 1000000};
        run_result r =
            run_program(i < RUNS / 2 ? "ref" : "ref-split", p, inputs, input_count, &options);
        REQUIRE_OK(r.status, &r.diag);
        for (uint32_t k = 0; i == 0 && k < count; k++) {
            CHECK_EQ(run_word(&r, 0, k), want[k]);
        }
        if (i == 0) {
            first = r;
            continue;
        }
        if (!run_same(&first, &r)) {
            test_fail(__FILE__, __LINE__, "%s, run %u differs\n%s",
                      i < RUNS / 2 ? "ref" : "ref-split", i, text);
            test_stop();
        }
        run_finish(&r);
    }
    run_finish(&first);
    vyre_program_release(p);
}

#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

static void fill_input(void) {
    for (uint32_t i = 0; i < 64; i++) {
        input_words[i] = 100 + i;
    }
}

/* The words per lane of the private memory that the split carries, by the name it has. */
static uint32_t carried_private(const char *text, const char *prefix) {
    vyre_program *p = run_parse(text);
    vyre_split_options options = {.keep_barriers = true};
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &options, NULL, &m, &diag), &diag);
    const vyre_module_view *v = vyre_module_get(m);
    uint32_t words = 0;
    for (uint32_t i = 0; i < v->carry_count; i++) {
        if (strncmp(v->carries[i].name, prefix, strlen(prefix)) == 0) {
            words += v->carries[i].words;
        }
    }
    for (uint32_t i = 0; i < v->segment_count; i++) {
        vyre_diag items[4];
        vyre_diag_list list = {.items = items, .capacity = 4};
        CHECK_STATUS(vyre_check(v->segments[i], NULL, &list), VYRE_OK, items);
    }
    vyre_module_release(m);
    vyre_program_release(p);
    return words;
}

TEST(a_source_that_does_not_change_is_read_at_the_wait) {
    fill_input();
    const char *sized =
        "program p workgroup(2) elements(4) { out o : u32[40000]; inout s : u32[64];\n"
        "  let n = s[1]; async_store(s, o, global_id.x * 400, n, \"t\"); grid_sync;\n"
        "  o[20000 + global_id.x] = 5; async_wait(\"t\"); grid_sync; s[global_id.x] = 1; }";
    expect(sized, WORDS(100, 101, 102, 103));
    CHECK_EQ(carried_private(sized, "_pending"), 0);
}

/* One after the other: what lies behind the second wait is not what lies behind the first. */
TEST(each_copy_is_looked_at_where_it_is) {
    static const char text[] =
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64];\n"
        "  private a : u32[1]; private b : u32[1];\n"
        "  async_load(s, a, global_id.x * 4, 4, \"t\"); grid_sync; async_wait(\"t\"); grid_sync;\n"
        "  async_load(s, b, global_id.x * 4, 4, \"u\"); grid_sync; async_wait(\"u\");\n"
        "  s[global_id.x] = 1; o[global_id.x] = a[0] + b[0]; }";
    CHECK_EQ(carried_private(text, "_pending"), 1);
}

TEST(a_source_that_changes_is_captured) {
    fill_input();
    /* written before the wait; behind it, by lanes that run ahead; before the begin, by lanes that
     * lag behind; by the delivery itself; in the rest of a loop; behind a jump */
    static const char *const cases[] = {
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64];\n"
        "  if (global_id.x > 0) { exit; } async_load(s, o, 0, 16, \"t\"); s[1] = 3; grid_sync;\n"
        "  async_wait(\"t\"); }",
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  async_load(s, a, global_id.x * 4, 4, \"t\"); grid_sync; async_wait(\"t\");\n"
        "  s[global_id.x] = 1; o[global_id.x] = a[0]; }",
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  s[global_id.x] = global_id.x; async_load(s, a, global_id.x * 4, 4, \"t\");\n"
        "  grid_sync; async_wait(\"t\"); o[global_id.x] = a[0]; }",
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64];\n"
        "  async_store(s, s, 16 + global_id.x * 4, 4, \"t\"); grid_sync; async_wait(\"t\"); }",
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  for (i in 0 .. 3) { async_load(s, a, global_id.x * 4, 4, \"t\"); grid_sync;\n"
        "    async_wait(\"t\"); o[global_id.x] += a[0]; grid_sync; s[global_id.x] += 7; } }",
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  for (i in 0 .. 3) { s[global_id.x] += 7; grid_sync;\n"
        "    async_load(s, a, global_id.x * 4, 4, \"t\"); grid_sync; async_wait(\"t\");\n"
        "    o[global_id.x] += a[0]; if (i == 1) { continue; } grid_sync; } }",
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(cases[i], NULL, 0);
        CHECK(carried_private(cases[i], "_pending") > 0);
    }
    /* between barriers of its own it is at rest */
    const char *still =
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  for (i in 0 .. 3) { s[global_id.x] += 7; grid_sync;\n"
        "    async_load(s, a, global_id.x * 4, 4, \"t\"); grid_sync; async_wait(\"t\");\n"
        "    o[global_id.x] += a[0]; grid_sync; } }";
    expect(still, NULL, 0);
    CHECK_EQ(carried_private(still, "_pending"), 0);
    /* of a private source only the lane's own stores between the two matter */
    const char *own =
        "program p workgroup(2) elements(4) { out o : u32[40000]; private a : u32[2];\n"
        "  a[0] = global_id.x + 1; async_store(a, o, global_id.x * 4, 4, \"t\"); grid_sync;\n"
        "  async_wait(\"t\"); a[0] = 9; }";
    expect(own, WORDS(1, 2, 3, 4));
    CHECK_EQ(carried_private(own, "_pending"), 0);
}

TEST(what_is_captured_is_as_small_as_can_be) {
    fill_input();
    /* bounded by the source, whose missing bytes are zeros; by the size; by the destination */
    const char *from =
        "program p workgroup(1) elements(2) { inout o : u32[64]; private a : u32[2];\n"
        "  a[1] = 7 + global_id.x; async_store(a, o, global_id.x * 16, 16, \"t\"); a[1] = 1;\n"
        "  grid_sync; async_wait(\"t\"); o[40 + global_id.x] = a[1]; }";
    expect(from, WORDS(0, 7, 0, 0, 0, 8, 0, 0, 108));
    CHECK_EQ(carried_private(from, "_pending"), 2);
    const char *size =
        "program p workgroup(1) elements(2) { inout s : u32[64]; out o : u32[40000]; const N = 3;\n"
        "  async_load(s, o, global_id.x * 0, min(N * 2, s[0]), \"t\"); s[1] = 5;\n"
        "  grid_sync; async_wait(\"t\"); }";
    CHECK_EQ(carried_private(size, "_pending"), 2);
    const char *to =
        "program p workgroup(1) elements(2) { inout s : u32[64]; out o : u32[2]; private d : "
        "u8[5];\n"
        "  async_load(s, d, global_id.x * 4, s[0], \"t\"); s[global_id.x] = 5; grid_sync;\n"
        "  async_wait(\"t\"); o[global_id.x] = d[0] + d[4] * 256; }";
    CHECK_EQ(carried_private(to, "_pending"), 2);
}

TEST(what_can_not_be_kept_is_refused_with_the_write) {
    vyre_program *p = run_parse("program p workgroup(1) elements(2) { inout s : u32[]; out o : "
                                "u32[len(s)]; private a : u32[16];\n"
                                "  async_load(s, o, 0, len(s) * 4, \"bulk\");\n"
                                "  s[global_id.x] = 5; grid_sync; async_wait(\"bulk\"); a[0] = 1; "
                                "o[a[0]] = 3; }");
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_split(p, NULL, NULL, &m, &diag), VYRE_UNSUPPORTED, &diag);
    CHECK_HAS(diag.message, "\"bulk\"");
    CHECK_HAS(diag.message, "line 3 may change its source s");
    CHECK_HAS(diag.message, "65472");
    CHECK_HAS(diag.fix, "min(size, 65472)");
    CHECK_EQ(diag.line, 2);
    vyre_program_release(p);
}

TEST(tags_of_the_source_stay_unique) {
    fill_input();
    const char *text =
        "program p workgroup(1) elements(2) { inout s : u32[64]; out o : u32[4];\n"
        "  private a : u32[1]; private b : u32[1]; private c : bool[1];\n"
        "  async_load(s, a, global_id.x * 4, 4, \"t\"); async_load(s, b, global_id.x * 4, 4, "
        "\"t_2\");\n"
        "  async_load(s, c, global_id.x * 4, 4, \"_save0\"); async_wait(\"_save0\");\n"
        "  s[global_id.x] = 3; grid_sync; async_wait(\"t_2\"); async_wait(\"t\");\n"
        "  o[global_id.x] = a[0]; o[2 + global_id.x] = b[0] + u32(c[0]); }";
    expect(text, NULL, 0);
    CHECK(carried_private(text, "_pending") > 0);
    const char *twice =
        "program p workgroup(1) elements(2) { inout s : u32[64]; out o : u32[4]; private a : "
        "u32[1];\n"
        "  fn get() { async_load(s, a, global_id.x * 4, 4, \"t\"); async_wait(\"t\");\n"
        "    o[global_id.x] += a[0]; }\n"
        "  get(); get(); grid_sync; o[3 - global_id.x] = o[global_id.x]; }";
    expect(twice, NULL, 0);
    CHECK_EQ(carried_private(twice, "_pending"), 0); /* and the segments are valid */
    expect("program p workgroup(1) elements(2) { inout s : u32[64]; out o : u32[4];\n"
           "  private a : u32[1]; private b : u32[1];\n"
           "  fn get() { async_load(s, a, global_id.x * 4, 4, \"t\"); s[global_id.x] += 3;\n"
           "    grid_sync; async_wait(\"t\"); o[global_id.x] += a[0]; }\n"
           "  async_load(s, b, 8, 4, \"t #1\"); async_wait(\"t #1\"); get(); get();\n"
           "  o[2 + global_id.x] = b[0]; }",
           NULL, 0);
}

TEST(where_copies_may_be_pending) {
    fill_input();
    static const char *const cases[] = {
        /* in a loop, several at once */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64];\n"
        "  private a : u32[4]; private b : u8[7];\n"
        "  for (i in 0 .. 3) { async_load(s, a, (i + global_id.x) * 4, 14, \"t\");\n"
        "    async_load(s, b, global_id.x * 5 + i, 9, \"u\"); grid_sync; s[global_id.x] += i;\n"
        "    async_wait(\"u\"); grid_sync; async_wait(\"t\");\n"
        "    o[global_id.x] += a[0] + a[3] * 3 + b[0] + b[6] * 5; } }",
        /* in both arms of an if, and of one that is not taken */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; param k : u32 = "
        "1;\n"
        "  private a : u32[2]; for (i in 0 .. 2) { if (i == k) { async_load(s, a, global_id.x * 8, "
        "8, \"t\");\n"
        "    s[2 * global_id.x] = 4; grid_sync; async_wait(\"t\"); } else {\n"
        "    async_load(s, a, 4 + global_id.x * 4, 6, \"u\"); grid_sync; s[global_id.x] = 6;\n"
        "    async_wait(\"u\"); grid_sync; } o[global_id.x * 2] += a[0]; o[global_id.x * 2 + 1] += "
        "a[1]; } }",
        /* left by a jump: begun again, the first is forgotten */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  for (i in 0 .. 4) { async_load(s, a, global_id.x * 4, 4, \"t\"); s[global_id.x] += 10;\n"
        "    if (i < 2) { continue; } grid_sync; async_wait(\"t\"); o[global_id.x] += a[0]; } }",
        /* no barrier between begin and wait, but a jump that ends the launch */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[1];\n"
        "  for (i in 0 .. 4) { async_load(s, a, global_id.x * 4, 4, \"t\"); s[global_id.x] += 10;\n"
        "    if (i == 1) { continue; } async_wait(\"t\"); o[global_id.x] += a[0]; grid_sync; } }",
        /* more than the lane uses, the rest being a race without a result */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; private a : "
        "u32[2];\n"
        "  async_load(s, a, global_id.x * 4, 8, \"t\"); s[global_id.x] = 1; grid_sync;\n"
        "  async_wait(\"t\"); o[global_id.x] = a[0]; }",
        /* lanes end with a copy pending: it is never delivered */
        "program p workgroup(2) elements(4) { out o : u32[64]; private a : u32[1];\n"
        "  a[0] = 8; async_store(a, o, global_id.x * 4, 4, \"t\"); a[0] = 1;\n"
        "  if (global_id.x % 3 == 0) { exit; } grid_sync; async_wait(\"t\"); }",
        "program p workgroup(2) elements(4) { in s : u32[64]; out o : u32[64];\n"
        "  async_store(s, o, global_id.x * 4, 4, \"t\"); grid_sync;\n"
        "  if (global_id.x % 3 == 0) { exit; } grid_sync; async_wait(\"t\"); }",
        /* the destination is used by others before the wait */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u32[64]; scratch d : "
        "u32[4];\n"
        "  async_store(s, d, global_id.x * 4, 4, \"t\"); d[3 - global_id.x] = 50 + global_id.x;\n"
        "  grid_sync; s[global_id.x] = 2; grid_sync; let x = d[(global_id.x + 1) % 4]; grid_sync;\n"
        "  async_wait(\"t\"); grid_sync; o[global_id.x] = x; o[8 + global_id.x] = d[(global_id.x + "
        "1) % 4]; }",
        /* to workgroup memory, by all lanes and by those that are not ended */
        "program p workgroup(4) elements(8) { inout s : u32[64]; out o : u32[64]; workgroup w : "
        "u32[4];\n"
        "  w[local_id.x] = 9; let n = select(local_id.x == 2, 8, 0);\n"
        "  async_load(s, w, 4 * group_id.x, n, \"t\"); grid_sync; s[global_id.x] = 1; grid_sync;\n"
        "  async_wait(\"t\"); barrier; o[global_id.x] = w[3 - local_id.x]; }",
        "program p workgroup(4) elements(8) { inout s : u32[64]; out o : u32[64]; workgroup w : "
        "u32[4];\n"
        "  w[local_id.x] = 9; barrier; if (local_id.x != 2) { exit; }\n"
        "  async_load(s, w, 4 * group_id.x, 8, \"t\"); grid_sync;\n"
        "  async_wait(\"t\"); for (i in 0 .. 4) { o[group_id.x * 4 + i] = w[i]; } }",
        /* from workgroup memory */
        "program p workgroup(4) elements(8) { out o : u32[64]; workgroup w : u32[4];\n"
        "  w[local_id.x] = global_id.x + 1; barrier;\n"
        "  async_store(w, o, 32 * global_id.x, 12, \"t\"); barrier; w[local_id.x] = 0; grid_sync;\n"
        "  async_wait(\"t\"); o[60] = w[0]; }",
        /* out of range in every way */
        "program p workgroup(2) elements(4) { inout s : u32[64]; out o : u8[23]; private a : "
        "u16[3];\n"
        "  let i = global_id.x; async_load(s, a, 250 + i * 3, 4 + i, \"t\");\n"
        "  async_store(a, o, 4 + i * 5, 5, \"u\"); s[63] = 1; grid_sync; async_wait(\"u\");\n"
        "  async_wait(\"t\"); grid_sync; o[i] = a[i]; }",
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect(cases[i], NULL, 0);
    }
}

/* Bits that no store makes: true as any word, NaNs with payloads. Every element type, as a private
 * array and as workgroup memory, is filled by a copy, crosses a barrier, and is copied out. */
TEST(carried_memory_keeps_its_bytes) {
    static const uint32_t odd[] = {0x00000002, 0x80000000, 0xffffffff, 0x7f800001,
                                   0xffc12345, 0x7fa00000, 0x7c01fe03, 0xfd557e01,
                                   0x7f817fc1, 0xff81ffff, 0x00000001, 0x7ff00000,
                                   0x00000123, 0xfff80000, 0x01020304, 0xfefdfcfb};
    memcpy(input_words, odd, sizeof odd);
    memcpy(input_words + 16, odd, sizeof odd);
    static const char *const types[] = {"bool", "u32", "i32", "u64", "i64", "f32", "f64",
                                        "u8",   "i8",  "u16", "i16", "f16", "bf16"};
    static const char *const roles[] = {"private", "workgroup"};
    for (uint32_t i = 0; i < 2 * sizeof types / sizeof *types; i++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "program p workgroup(2) elements(4) { out o : u32[64]; in s : u32[64];\n"
            "  %s a : %s[8]; if (local_id.x == 0) { async_load(s, a, 0, 64, \"t\");\n"
            "  async_wait(\"t\"); } let x = s[global_id.x]; o[global_id.x] = x;\n"
            "  grid_sync; if (local_id.x == 0) { async_store(a, o, 16 + group_id.x * 64, "
            "64, \"u\"); async_wait(\"u\"); } grid_sync; o[global_id.x] = x + o[63]; }",
            roles[i % 2], types[i / 2]);
        expect(text, NULL, 0);
        /* and where lanes have ended */
        (void)snprintf(text, sizeof text,
                       "program p workgroup(2) elements(4) { out o : u32[64]; in s : u32[64];\n"
                       "  %s a : %s[8]; if (local_id.x == 0) { exit; } async_load(s, a, 0, 64, "
                       "\"t\"); async_wait(\"t\"); grid_sync;\n"
                       "  async_store(a, o, 16 + group_id.x * 64, 64, \"u\"); async_wait(\"u\"); }",
                       roles[i % 2], types[i / 2]);
        expect(text, NULL, 0);
    }
}

static vyre_status split_it(const vyre_allocator *a, void *user) {
    vyre_module *m = NULL;
    vyre_status status = vyre_split(user, NULL, a, &m, NULL);
    vyre_module_release(m);
    return status;
}

TEST(every_failed_allocation_is_survived) {
    vyre_program *p = run_parse(
        "program p workgroup(1) elements(2) { inout s : u32[64]; in r : u32[64]; out o : u32[4];\n"
        "  private a : u32[1]; private b : bool[1];\n"
        "  async_load(s, a, global_id.x * 4, 4, \"t\"); async_load(r, b, 4, 4, \"u\");\n"
        "  s[global_id.x] = 3; grid_sync; async_wait(\"u\"); async_wait(\"t\"); grid_sync;\n"
        "  o[global_id.x] = a[0] + u32(b[0]); }");
    CHECK(test_every_allocation(split_it, p, 4000) > 50);
    vyre_program_release(p);
}
