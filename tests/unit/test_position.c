/* The schedule owns uniform control: what it computes, what that costs, and where it stands. */
#include "harness/run.h"
#include "vyre/schedule.h"

static vyre_module *split(const char *text) {
    const vyre_split_options keep = {.keep_barriers = true};
    vyre_program *p = run_parse(text);
    vyre_module *m = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(p, &keep, NULL, &m, &diag), &diag);
    vyre_program_release(p);
    return m;
}

/* Runs with one input of words; the first words of the output must be `want` on all devices. */
static vyre_dispatch_stats expect(const char *text, const uint32_t *in, uint32_t in_count,
                                  const uint32_t *want, uint32_t count) {
    static const char *const devices[] = {"ref", "ref-split", "ref-schedule"};
    vyre_program *p = run_parse(text);
    vyre_dispatch_stats stats = {0};
    for (int i = 0; i < 6; i++) {
        const vyre_dispatch_options options = {.no_optimize = i % 2 == 1, .max_steps = 1000000};
        const vyre_input input = {in, 4 * (uint64_t)in_count};
        run_result r = run_program(devices[i / 2], p, &input, in_count > 0, &options);
        CHECK_STATUS(r.status, VYRE_OK, &r.diag);
        for (uint32_t w = 0; w < count && r.status == VYRE_OK; w++) {
            if (run_word(&r, 0, w) != want[w]) {
                test_fail(__FILE__, __LINE__, "%s: word %u is %u, not %u\n%s", devices[i / 2], w,
                          run_word(&r, 0, w), want[w], text);
            }
        }
        stats = i == 3 ? r.report.stats : stats;
        run_finish(&r);
    }
    vyre_program_release(p);
    return stats;
}

#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

TEST(a_counted_loop_asks_nobody) {
    const char *text =
        "program p workgroup(2) elements(4) { inout a : u32[4]; scratch b : u32[4];\n"
        "  for (k in 0 .. 500) { b[global_id.x] = a[3 - global_id.x] + k; grid_sync;\n"
        "    a[global_id.x] = b[3 - global_id.x] + 1; grid_sync; } }";
    vyre_dispatch_stats stats =
        expect(text, WORDS(1, 2, 3, 4), WORDS(125251, 125252, 125253, 125254));
    CHECK_EQ(stats.launches, 1000);
    CHECK_EQ(stats.host_waits, 0);
    CHECK_EQ(stats.carried_bytes, 0);
    vyre_module *m = split(text);
    const vyre_module_view *v = vyre_module_get(m);
    CHECK_EQ(v->made_words, 0);
    for (uint32_t i = 0; i < v->scalar_count; i++) {
        CHECK(v->scalars[i].host);
    }
    for (uint32_t i = 0; i < v->step_count; i++) {
        CHECK(!vyre_step_reads_entering(m, i) && !vyre_step_reads_leaving(m, i));
    }
    vyre_module_release(m);
}

/* Loops that end at the edges: no trip, one that does not divide, the last value, a step of 0. */
TEST(counted_loops_make_the_trips_of_the_language) {
    const char *text = "program p workgroup(1) elements(1) { in n : u32[3]; out o : u32[3];\n"
                       "  for (k in n[0] .. n[1] step n[2]) { o[0] = o[0] + 1; grid_sync;\n"
                       "    o[1] = k; grid_sync; } o[2] = 7; }";
    (void)expect(text, WORDS(3, 3, 1), WORDS(0, 0, 7));
    (void)expect(text, WORDS(3, 2, 1), WORDS(0, 0, 7));
    (void)expect(text, WORDS(3, 9, 4), WORDS(2, 7, 7));
    (void)expect(text, WORDS(3, 9, 0), WORDS(0, 0, 7));
    (void)expect(text, WORDS(4294967290, 4294967295, 2), WORDS(3, 4294967294, 7));
    (void)expect(text, WORDS(4294967290, 4294967295, 4294967295), WORDS(1, 4294967290, 7));
    (void)expect(text, WORDS(1, 4294967295, 4294967293), WORDS(2, 4294967294, 7));
}

/* Lanes use a value before and behind the statement that changes it. */
TEST(lanes_see_the_old_and_the_new_value) {
    (void)expect(
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
        "  let k = n[0]; while (k < 20) { o[global_id.x] = o[global_id.x] + k; k = k * 2;\n"
        "    grid_sync; o[3 - global_id.x] = o[3 - global_id.x] + k; k = k + 1;\n"
        "    o[3 - global_id.x] = o[3 - global_id.x] + 100 * k; grid_sync; } }",
        WORDS(3), WORDS(3 + 6 + 700 + 7 + 14 + 1500 + 15 + 30 + 3100));
}

/* What lanes compute under an `if`, or by an elementary function, decides. */
TEST(lanes_hand_values_to_the_schedule) {
    const char *text =
        "program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4]; let m = 1;\n"
        "  let wide = 5l; if (n[0] > 1) { m = n[0]; wide = -3l; } grid_sync;\n"
        "  for (k in 0 .. m) { o[3 - global_id.x] = o[3 - global_id.x] + 1; grid_sync;\n"
        "    if (n[0] == k) { m = 9; } grid_sync; }\n"
        "  while (exp(f32(m)) > 2.0) { o[global_id.x] += u32(wide + 4l); grid_sync; m = m - 1;\n"
        "    if (wide == -3l) { wide = wide - 1l; } grid_sync; } }";
    (void)expect(text, WORDS(1), WORDS(1 + 9));
    (void)expect(text, WORDS(3), WORDS(3 + 1, 4));
    vyre_module *m = split(text);
    CHECK(vyre_module_get(m)->made_words >= 3);
    vyre_module_release(m);
}

/* Narrow types widen, and what is beyond the end is 0, as in lanes. */
TEST(scalars_are_loaded_as_lanes_load) {
    (void)expect(
        "program p workgroup(1) elements(1) { in n : u32[1]; out o : u32[8]; scratch a : u8[4];\n"
        "  scratch b : i8[4]; scratch c : i16[2]; scratch d : f16[2]; scratch e : bf16[2];\n"
        "  scratch f : bool[1]; scratch g : i64[1]; a[3] = 300; b[1] = -3i; c[1] = -300i;\n"
        "  d[1] = 1.5; e[1] = -2.5; f[0] = true; g[0] = -9l; grid_sync;\n"
        "  let k = u32(a[3]) + u32(b[1] + 5i) * 100; let x = u32(c[1] + 400i) + u32(d[1] * 2.0);\n"
        "  let y = u32(e[1] + 4.0) + u32(f[0]) * 10 + u32(g[0] + 10l) * 100; let z = n[1] + n[0];\n"
        "  let far = u32(d[7] + 3.0); grid_sync; a[0] = 1; b[1] = 0i; c[1] = 0i; d[1] = 0.0;\n"
        "  e[1] = 0.0; f[0] = false; g[0] = 0l; grid_sync;\n"
        "  o[0] = k; o[1] = x; o[2] = y; o[3] = z; o[4] = far; }",
        WORDS(5), WORDS(244, 103, 111, 5, 3));
}

/* Ids that are the same everywhere, params, lengths, folded operators. */
TEST(scalars_are_made_of_what_the_host_knows) {
    const char *text =
        "program p workgroup(2) elements(6) { in n : u32[1]; out o : u32[6]; param by : i32 = "
        "-2i;\n"
        "  const c = 3; let k = len(o) * c + num_groups.x + global_size.x * 10 + group_size.x * "
        "100;\n"
        "  let s = by >> 1; let big = u64(k) * 4294967297ul; grid_sync;\n"
        "  while (k > len(o)) { o[global_id.x] = u32(big >> 32) + u32(s + 2i); grid_sync;\n"
        "    k = k / 2; } }";
    (void)expect(text, WORDS(1), WORDS(281 + 1));
    vyre_module *m = split(text);
    const vyre_module_view *v = vyre_module_get(m);
    for (uint32_t i = 0; i < v->scalar_count; i++) {
        CHECK(v->scalars[i].host);
    }
    vyre_module_release(m);
}

/* When nobody is left nothing goes on, whatever the condition says. */
TEST(a_schedule_ends_with_the_last_lane) {
    vyre_dispatch_stats stats =
        expect("program p workgroup(2) elements(4) { in n : u32[1]; out o : u32[4];\n"
               "  for (k in 0 .. 1000000) { o[global_id.x] = k; grid_sync;\n"
               "    if (global_id.x + k >= n[0]) { exit; } grid_sync; } }",
               WORDS(5), WORDS(5, 4, 3, 2));
    CHECK(stats.launches < 20);
}

/* Walks a schedule without a device: memory is an array of words. */
typedef struct walk {
    vyre_module *module;
    vyre_module_launch pass;
    vyre_launch source;
    vyre_memory memory[4];
    uint32_t counts[4];
    uint64_t values[4];
    vyre_segment_binding bindings[8];
    vyre_memory bound[8][8];
    uint32_t bound_counts[8][8];
    uint64_t bound_values[8][8];
    uint32_t words[4];
    uint32_t reads;
} walk;

static vyre_status read_words(void *user, vyre_memory memory, uint64_t offset, void *data,
                              uint64_t size, vyre_diag *diag) {
    walk *w = user;
    (void)diag, (void)memory;
    memcpy(data, (const char *)w->words + offset, size);
    w->reads++;
    return VYRE_OK;
}

static void begin_walk(walk *w, vyre_module *module) {
    const vyre_module_view *v = vyre_module_get(module);
    REQUIRE(v->segment_count <= 8);
    *w = (walk){.module = module};
    w->source = (vyre_launch){
        .memory = w->memory, .counts = w->counts, .values = w->values, .grid = {2, 1, 1}};
    for (uint32_t i = 0; i < v->segment_count; i++) {
        REQUIRE(vyre_program_get(v->segments[i])->decl_count <= 8);
        w->bindings[i] =
            (vyre_segment_binding){w->bound[i], w->bound_counts[i], w->bound_values[i]};
    }
    w->pass = (vyre_module_launch){.module = module, .source = &w->source, .segments = w->bindings};
}

/* One step; the value of the scalar that its segment takes, or VYRE_NONE. */
static uint32_t step(walk *w, vyre_position *at) {
    const vyre_module_view *v = vyre_module_get(w->module);
    const uint32_t segment = v->steps[at->step].segment;
    const vyre_reader reader = {.read = read_words, .user = w};
    vyre_launch launch;
    uint32_t taken = VYRE_NONE;
    REQUIRE_OK(vyre_position_enter(at, &w->pass, &reader, &launch, NULL), NULL);
    for (uint32_t d = 0;
         segment != VYRE_NONE && d < vyre_program_get(v->segments[segment])->decl_count; d++) {
        taken = v->decls[segment][d].kind == VYRE_DECL_SCALAR ? (uint32_t)launch.values[d] : taken;
    }
    REQUIRE_OK(vyre_position_leave(at, &w->pass, &reader, NULL), NULL);
    return taken;
}

TEST(a_position_is_a_value_that_can_be_put_back) {
    vyre_module *m =
        split("program p workgroup(1) elements(2) { inout a : u32[4]; out o : u32[2];\n"
              "  let k = 0; while (k < a[1]) { o[global_id.x] = k; grid_sync;\n"
              "    a[0] = o[1 - global_id.x]; grid_sync; k = k + a[2]; } }");
    walk w;
    uint64_t words[64], saved[64];
    begin_walk(&w, m);
    REQUIRE(vyre_position_words(m) <= 64);
    memcpy(w.words, (const uint32_t[]){0, 7, 2, 0}, sizeof w.words);
    w.counts[0] = 4;
    vyre_position at = vyre_position_begin(m, words), kept = at;
    uint32_t seen[32] = {0}, count = 0, kept_count = 0;
    for (int round = 0; at.step != VYRE_NONE; round++) {
        REQUIRE(count < 32);
        if (round == 5) {
            kept = vyre_position_copy(&at, saved);
            kept_count = count;
        }
        uint32_t taken = step(&w, &at);
        if (taken != VYRE_NONE) {
            seen[count++] = taken;
        }
    }
    CHECK_EQ(count, 4);
    CHECK(seen[0] == 0 && seen[1] == 2 && seen[2] == 4 && seen[3] == 6);
    REQUIRE(kept_count > 0 && kept_count < count);
    for (uint32_t i = kept_count; kept.step != VYRE_NONE;) {
        uint32_t taken = step(&w, &kept);
        if (taken != VYRE_NONE) {
            CHECK_EQ(taken, seen[i]);
            i++;
        }
    }
    CHECK_EQ(kept.tick, at.tick);
    CHECK(w.reads > 0);
    vyre_module_release(m);
}

/* The word behind it is there, and some other memory's. */
TEST(scalars_are_not_loaded_from_behind_a_memory) {
    vyre_module *m = split("program p workgroup(1) elements(2) { inout a : u32[]; out o : u32[2];\n"
                           "  let k = 0; while (k < a[0]) { o[global_id.x] = k; grid_sync;\n"
                           "    a[1] = o[1 - global_id.x]; grid_sync; k = k + a[2] + 1; } }");
    walk w;
    uint64_t words[64];
    begin_walk(&w, m);
    REQUIRE(vyre_position_words(m) <= 64);
    memcpy(w.words, (const uint32_t[]){3, 0, 9, 0}, sizeof w.words);
    w.counts[0] = 2;
    uint32_t count = 0;
    for (vyre_position at = vyre_position_begin(m, words); at.step != VYRE_NONE;) {
        const uint32_t taken = step(&w, &at);
        if (taken != VYRE_NONE) {
            CHECK_EQ(taken, count);
            count++;
        }
    }
    CHECK_EQ(count, 3);
    vyre_module_release(m);
}
