/* Fusion: one program gives the bytes of its waves run one by one. */
#include "harness/run.h"
#include "vyre/fuse.h"

enum { POOL = 5, WAVES = 6, MOST_WORDS = 24 };

/* Buffers that live between waves, by name b0, b1, ... */
typedef struct pool {
    uint32_t words[POOL][MOST_WORDS];
    uint32_t count[POOL];
} pool;

static int pool_number(const char *name) {
    return name[0] == 'b' && name[1] >= '0' && name[1] < '0' + POOL && !name[2] ? name[1] - '0'
                                                                                : -1;
}

/* Runs a program whose buffers are those of the pool, and takes over what it returns. */
static void run_on_pool(const char *device, const vyre_program *p, pool *state, vyre_order order) {
    const vyre_program_view *v = vyre_program_get(p);
    vyre_input inputs[RUN_MOST_BUFFERS];
    uint32_t input_count = 0;
    for (uint32_t i = 0; i < v->decl_count; i++) {
        int n = pool_number(v->decls[i].name);
        if (n >= 0 && (v->decls[i].role == VYRE_IN || v->decls[i].role == VYRE_INOUT)) {
            inputs[input_count++] = (vyre_input){state->words[n], (size_t)state->count[n] * 4};
        }
    }
    vyre_dispatch_options options = {.order = order, .order_seed = 3};
    run_result r = run_program(device, p, inputs, input_count, &options);
    REQUIRE_OK(r.status, &r.diag);
    uint32_t output = 0;
    for (uint32_t i = 0; i < v->decl_count; i++) {
        int n = pool_number(v->decls[i].name);
        if (v->decls[i].role == VYRE_INOUT || v->decls[i].role == VYRE_OUT) {
            REQUIRE(n >= 0 && r.outputs[output].size == (size_t)state->count[n] * 4);
            memcpy(state->words[n], r.outputs[output++].data, (size_t)state->count[n] * 4);
        }
    }
    run_finish(&r);
}

static bool to_stdout(void *user, const char *text, size_t length) {
    (void)user;
    return fwrite(text, 1, length, stdout) == length;
}

static pool sample(uint64_t seed) {
    pool p = {0};
    for (int i = 0; i < POOL; i++) {
        p.count[i] = 6 + (uint32_t)i * 4;
        for (uint32_t k = 0; k < p.count[i]; k++) {
            p.words[i][k] = (uint32_t)test_random(&seed) % 1000;
        }
    }
    return p;
}

/* Fuses the texts and compares with running them in order, on buffers filled from the seed. */
static void expect_same(uint64_t seed, const char *const *texts, uint32_t count) {
    vyre_program *programs[WAVES] = {0};
    vyre_fuse_wave waves[WAVES] = {0};
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
    const pool start = sample(seed);
    pool one_by_one = start;
    for (uint32_t i = 0; i < count; i++) {
        programs[i] = run_parse(texts[i]);
        waves[i] = (vyre_fuse_wave){names[i], programs[i]};
        run_on_pool("ref", programs[i], &one_by_one, VYRE_ORDER_FORWARD);
    }
    vyre_program *fused = NULL;
    vyre_diag diag = {0};
    vyre_status status = vyre_fuse(waves, count, NULL, NULL, &fused, &diag);
    CHECK_STATUS(status, VYRE_OK, &diag);
    static const struct {
        const char *device;
        vyre_order order;
    } ways[] = {{"ref", VYRE_ORDER_FORWARD},
                {"ref", VYRE_ORDER_INTERLEAVED},
                {"ref-split", VYRE_ORDER_REVERSE}};
    for (size_t k = 0; k < sizeof ways / sizeof ways[0] && status == VYRE_OK; k++) {
        pool together = start;
        run_on_pool(ways[k].device, fused, &together, ways[k].order);
        if (memcmp(&together, &one_by_one, sizeof together) != 0) {
            test_fail(__FILE__, __LINE__, "%s gives other bytes", ways[k].device);
            for (uint32_t i = 0; i < count; i++) {
                printf("%s\n", texts[i]);
            }
            (void)vyre_program_print(fused, to_stdout, NULL);
            test_stop();
        }
    }
    vyre_program_release(fused);
    for (uint32_t i = 0; i < count; i++) {
        vyre_program_release(programs[i]);
    }
}

#define EXPECT_SAME(seed, ...)                                                                     \
    do {                                                                                           \
        const char *const texts_[] = {__VA_ARGS__};                                                \
        expect_same(seed, texts_, sizeof texts_ / sizeof *texts_);                                 \
    } while (0)

TEST(waves_share_buffers_by_name) {
    EXPECT_SAME(1,
                "program a workgroup(4) elements(8) { in b0 : u32[]; inout b1 : u32[];\n"
                "  let i = global_id.x; b1[i] = b0[i] * 2 + b1[i]; }",
                "program b workgroup(4) elements(8) { in b1 : u32[]; inout b2 : u32[];\n"
                "  let i = global_id.x; b2[i] = b1[7 - i] + 1; }",
                "program c workgroup(4) elements(8) { in b0 : u32[]; inout b3 : u32[]; scratch t : "
                "u32[8];\n"
                "  let i = global_id.x; t[i] = b0[i]; b3[i] = t[i] + 5; }");
}

TEST(waves_with_other_grids_get_workgroups_of_their_own) {
    EXPECT_SAME(
        2,
        "program a workgroup(4) elements(len(b0)) { in b0 : u32[]; inout b1 : u32[];\n"
        "  for (i in global_id.x .. len(b1) step global_size.x) { b1[i] = b0[i % len(b0)] + i; } }",
        "program b workgroup(4) grid(3) { inout b2 : u32[];\n"
        "  b2[global_id.x] = group_id.x * 100 + num_groups.x * 10 + local_id.x; }",
        "program c workgroup(4) { in b1 : u32[]; inout b3 : u32[]; workgroup w : u32[4];\n"
        "  w[local_id.x] = b1[global_id.x]; barrier;\n"
        "  if (global_id.x < len(b3)) { b3[global_id.x] = w[3 - local_id.x]; } }");
}

TEST(lanes_that_end_in_a_wave_live_on_in_the_next) {
    EXPECT_SAME(
        3,
        "program a workgroup(4) elements(8) { inout b0 : u32[]; let i = global_id.x;\n"
        "  if (i % 2 == 0) { exit; } for (k in 0 .. 5) { for (j in 0 .. 3) { if (k + j == i) { "
        "exit; }\n"
        "    b0[i] = b0[i] + 1; } b0[i] = b0[i] + 100; } b0[i] = 7; }",
        "program b workgroup(4) elements(8) { inout b0 : u32[]; b0[global_id.x] += 10000; }");
}

TEST(waves_may_wait_for_their_grid) {
    EXPECT_SAME(
        4,
        "program a workgroup(2) elements(4) { inout b0 : u32[]; let v = b0[3 - global_id.x];\n"
        "  grid_sync; b0[global_id.x] = v; }",
        "program b workgroup(2) elements(4) { inout b0 : u32[]; inout b1 : u32[];\n"
        "  b1[global_id.x] = b0[global_id.x]; grid_sync; b0[global_id.x] = b1[3 - global_id.x]; }");
}

TEST(async_tags_consts_and_functions_belong_to_their_wave) {
    EXPECT_SAME(
        5,
        "program a workgroup(1) elements(1) { in b0 : u32[]; inout b1 : u32[]; const N = 8;\n"
        "  fn f(x : u32) -> u32 { return x + N; }\n"
        "  async_load(b0, b1, 4, N, \"t\"); async_wait(\"t\"); let r = f(1); b1[3] = r; }",
        "program b workgroup(1) elements(1) { in b0 : u32[]; inout b2 : u32[]; const N = 4;\n"
        "  fn f(x : u32) -> u32 { return x * N; }\n"
        "  async_store(b0, b2, N, 8, \"t\"); async_wait(\"t\"); let r = f(5); b2[3] = r; }");
}

TEST(given_dependencies_order_waves_against_the_list) {
    vyre_program *a =
        run_parse("program a workgroup(1) elements(1) { inout b0 : u32[]; b0[0] = 1; }");
    vyre_program *b =
        run_parse("program b workgroup(1) elements(1) { inout b0 : u32[]; b0[0] = 2; }");
    vyre_fuse_wave waves[] = {{"a", a}, {"b", b}};
    vyre_wave_dep dep = {1, 0};
    vyre_fuse_options options = {.deps = &dep, .dep_count = 1};
    vyre_program *fused = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_fuse(waves, 2, &options, NULL, &fused, &diag), &diag);
    pool p = sample(6);
    run_on_pool("ref", fused, &p, VYRE_ORDER_FORWARD);
    CHECK_EQ(p.words[0][0], 1);
    vyre_program_release(fused);
    vyre_program_release(a);
    vyre_program_release(b);
}

TEST(what_cannot_be_fused_is_refused_with_the_wave_named) {
    static const struct {
        const char *a, *b;
        const char *message;
        vyre_status status;
    } rows[] = {
        {"inout b0 : u32[]; b0[0] = 1;", "inout b0 : i32[]; b0[0] = 1i;", "another type",
         VYRE_INVALID_INPUT},
        {"inout b0 : u32[8]; b0[0] = 1;", "inout b0 : u32[9]; b0[0] = 1;", "another size",
         VYRE_INVALID_INPUT},
        {"inout b0 : u32[8]; b0[0] = 1;", "out b0 : u32[8]; b0[0] = 1;", "would clear",
         VYRE_INVALID_INPUT},
        {"param k : u32 = 1; inout b0 : u32[]; b0[0] = k;",
         "param k : u32 = 2; inout b0 : u32[]; b0[0] = k;", "another default", VYRE_INVALID_INPUT},
        {"inout b0 : u32[]; b0[0] = 1;",
         "inout b0 : u32[]; if (local_id.x == 0) { exit; } barrier; b0[0] = 1;", "ends lanes",
         VYRE_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2][512];
        vyre_fuse_wave waves[2];
        vyre_program *programs[2];
        for (int k = 0; k < 2; k++) {
            (void)snprintf(text[k], sizeof text[k], "program %s workgroup(2) elements(4) { %s }",
                           k ? "second" : "first", k ? rows[i].b : rows[i].a);
            programs[k] = run_parse(text[k]);
            waves[k] = (vyre_fuse_wave){k ? "second" : "first", programs[k]};
        }
        vyre_program *fused = NULL;
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_fuse(waves, 2, NULL, NULL, &fused, &diag), rows[i].status, &diag);
        CHECK_HAS(diag.message, rows[i].message);
        CHECK_HAS(diag.message, "second");
        CHECK(diag.fix[0] != '\0' && fused == NULL);
        vyre_program_release(programs[0]);
        vyre_program_release(programs[1]);
    }
}

/* Appends the template with $T, $F and $K replaced by the numbers given. */
static void fill_in(char *out, size_t size, const char *from_text, unsigned to, unsigned from,
                    unsigned k) {
    size_t at = strlen(out);
    for (; *from_text && at + 16 < size; from_text++) {
        if (*from_text != '$') {
            out[at++] = *from_text;
            continue;
        }
        from_text++;
        unsigned value = *from_text == 'T' ? to : *from_text == 'F' ? from : k;
        at += (size_t)snprintf(out + at, size - at, "%u", value);
    }
    out[at] = '\0';
}

/* A random wave: owns the elements it writes, reads another buffer, sometimes ends lanes, uses
 * workgroup memory, or waits for its grid. Sets of one shape have one grid; shape 0: any. */
static void random_wave(uint64_t *seed, char *out, size_t size, unsigned shape) {
    static const char *const clauses[] = {"elements(8)", "elements(16)", "grid(3)",
                                          "elements(len(b$T))", ""};
    static const char *const bodies[] = {
        "for (i in global_id.x .. len(b$T) step global_size.x) {\n"
        "    b$T[i] = b$T[i] * 3 + b$F[(i + $K) % len(b$F)]; }",
        "if (global_id.x >= len(b$T) - $K) { exit; }\n"
        "  b$T[global_id.x] += b$F[global_id.x % len(b$F)];",
        "w[local_id.x] = global_id.x + $K; barrier;\n  if (global_id.x < len(b$T)) {\n"
        "    b$T[global_id.x] = b$T[global_id.x] ^ w[3 - local_id.x] ^ b$F[$K]; }",
        "for (i in global_id.x .. len(b$F) step global_size.x) {\n"
        "    atomic_add(b$T[i % 2], b$F[i] + num_groups.x + $K); }",
        "for (i in 0 .. 9) { if (i * 3 > global_id.x + $K) { exit; }\n"
        "    if (global_id.x < len(b$T)) { b$T[global_id.x] += b$F[i % len(b$F)]; } }",
        "let v = b$T[(global_id.x + $K) % 5]; grid_sync;\n"
        "  if (global_id.x < 6) { b$T[global_id.x] = v + b$F[global_id.x]; }",
    };
    unsigned to = (unsigned)test_random_below(seed, POOL);
    unsigned from = (to + 1 + (unsigned)test_random_below(seed, POOL - 1)) % POOL;
    unsigned k = (unsigned)test_random_below(seed, 5);
    *out = '\0';
    fill_in(out, size, "program wave workgroup(4) ", to, from, k);
    fill_in(out, size, clauses[shape ? shape - 1 : test_random_below(seed, 5)], to, from, k);
    fill_in(out, size, " {\n  inout b$T : u32[]; in b$F : u32[]; workgroup w : u32[4];\n  ", to,
            from, k);
    fill_in(out, size, bodies[test_random_below(seed, shape ? 6 : 5)], to, from, k);
    fill_in(out, size, "\n}", to, from, k);
}

TEST(random_sets_of_waves_give_the_bytes_of_their_waves) {
    uint64_t seed = 20;
    for (uint64_t round = 0; round < test_scaled(10000); round++) {
        char texts[WAVES][1024];
        const char *list[WAVES];
        uint32_t count = 2 + (uint32_t)test_random_below(&seed, WAVES - 1);
        unsigned shape = (unsigned)test_random_below(&seed, 4);
        for (uint32_t i = 0; i < count; i++) {
            random_wave(&seed, texts[i], sizeof texts[i], shape);
            list[i] = texts[i];
        }
        expect_same(round, list, count);
    }
}

typedef struct fuse_case {
    vyre_fuse_wave waves[3];
} fuse_case;

static vyre_status fuse_all(const vyre_allocator *a, void *user) {
    fuse_case *c = user;
    vyre_program *fused = NULL;
    vyre_status status = vyre_fuse(c->waves, 3, NULL, a, &fused, NULL);
    vyre_program_release(fused);
    return status;
}

TEST(fusion_survives_every_failed_allocation) {
    vyre_program *programs[] = {
        run_parse("program a workgroup(4) elements(8) { in b0 : u32[]; inout b1 : u32[];"
                  " const N = 1; let i = global_id.x; if (i == N) { exit; } b1[i] = b0[i]; }"),
        run_parse("program b workgroup(4) elements(len(b1)) { in b1 : u32[]; inout b2 : u32[];"
                  " scratch t : u32[len(b1)]; t[0] = 1; b2[global_id.x] = b1[0] + t[0]; }"),
        run_parse("program c workgroup(4) grid(2) { in b1 : u32[]; inout b3 : u32[8];"
                  " async_load(b1, b3, 0, 4, \"t\"); async_wait(\"t\"); }")};
    fuse_case c = {.waves = {{"a", programs[0]}, {"b", programs[1]}, {"c", programs[2]}}};
    CHECK(test_every_allocation(fuse_all, &c, 1500) > 50);
    for (int i = 0; i < 3; i++) {
        vyre_program_release(programs[i]);
    }
}
