/* Bounds, atomics, async copies, collectives. */
#include <math.h>

#include "unit/ref_text.h"

TEST(out_of_bounds_reads_zero_and_writes_nothing) {
    static uint32_t r[4 + 8] = {1, 2, 3, 4, 5, 6, 7, 8}, got[8];
    static const char text[] =
        "program bounds workgroup(1) {\n"
        "  inout b : u32[4]; inout r : u32[]; workgroup w : f32[3]; private p : "
        "i64[2];\n"
        "  r[0] = b[4] + b[0xffffffff]; b[4] = 9; b[0xffffffff] = 9;\n"
        "  r[1] = atomic_add(b[4], 1); r[2] = atomic_exchange(b[1000000], 5);\n"
        "  w[3] = 1.0; w[2] = 2.0; r[3] = u32(w[3] + w[2] + w[100]);\n"
        "  p[2] = 4; p[1] = 5; r[4] = u32(p[2] + p[1] + p[0xfffffff0]);\n"
        "  r[5] = b[3];\n"
        "}\n";
    static const uint32_t want[] = {0, 0, 0, 2, 5, 4, 0, 0};
    ref_run_all(text, (vyre_ref_args){0}, (ref_buffer[]){{"b", r, 4}, BUFFER("r", got), {0}});
    CHECK(memcmp(got, want, sizeof want) == 0);
    CHECK_EQ(r[4], 5); /* the memory after the buffer */
    ref_run_all("program empty workgroup(4) { in b : u32[]; inout r : u32[];\n"
                "  r[global_id.x] = b[global_id.x] + len(b) + 1; }\n",
                (vyre_ref_args){0}, (ref_buffer[]){BUFFER("r", got), {0}});
    CHECK_EQ(got[0], 1);
}

/* Every atomic on every type it has: old value returned, new value stored. */
TEST(atomics_of_every_type) {
    static const struct {
        const char *call; /* on x[0] */
        uint64_t old, want32u, want32i, want64;
    } ops[] = {
        {"atomic_add(x[0], v)", 0xfffffffe, 1, 1, 0x100000001},
        {"atomic_sub(x[0], v)", 1, 0xfffffffe, 0xfffffffe, 0xfffffffffffffffe},
        {"atomic_min(x[0], v)", 0xfffffffe, 3, 0xfffffffe, 3},
        {"atomic_max(x[0], v)", 0xfffffffe, 0xfffffffe, 3, 0xfffffffe},
        {"atomic_and(x[0], v)", 5, 1, 1, 1},
        {"atomic_or(x[0], v)", 5, 7, 7, 7},
        {"atomic_xor(x[0], v)", 5, 6, 6, 6},
        {"atomic_nand(x[0], v)", 5, 0xfffffffe, 0xfffffffe, 0xfffffffffffffffe},
        {"atomic_exchange(x[0], v, relaxed)", 5, 3, 3, 3},
        {"atomic_cas(x[0], 5, v)", 5, 3, 3, 3},
        {"atomic_cas(x[0], 6, v)", 5, 5, 5, 5},
        {"atomic_cas_weak(x[0], 5, v, acq_rel)", 5, 3, 3, 3},
        {"atomic_load(x[0])", 5, 5, 5, 5},
        {"atomic_load(x[0], acquire)", 0xfffffffe, 0xfffffffe, 0xfffffffe, 0xfffffffe},
    };
    static const char *const types[] = {"u32", "i32", "u64", "i64"};
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        for (uint32_t t = 0; t < 4; t++) {
            for (uint32_t shared = 0; shared < 2; shared++) {
                char text[512];
                snprintf(text, sizeof text,
                         "program a workgroup(1) { inout %s : %s[1]; out r : %s[1]; %s\n"
                         "  let v : %s = 3; %s let old = %s; r[0] = old; %s }\n",
                         shared ? "y" : "x", types[t], types[t],
                         shared ? t == 0   ? "workgroup x : u32[1];"
                                  : t == 1 ? "workgroup x : i32[1];"
                                  : t == 2 ? "workgroup x : u64[1];"
                                           : "workgroup x : i64[1];"
                                : "",
                         types[t], shared ? "x[0] = y[0];" : "", ops[i].call,
                         shared ? "y[0] = x[0];" : "");
                uint64_t x[1] = {ops[i].old}, r[1] = {0};
                uint64_t want = t == 0 ? ops[i].want32u : t == 1 ? ops[i].want32i : ops[i].want64;
                ref_run_all(text, (vyre_ref_args){0},
                            (ref_buffer[]){{shared ? "y" : "x", x, 1}, {"r", r, 1}, {0}});
                if (x[0] != want || r[0] != ops[i].old) {
                    test_fail(__FILE__, __LINE__,
                              "%s of %s: %" PRIx64 " (old %" PRIx64 "), not %" PRIx64, ops[i].call,
                              types[t], x[0], r[0], want);
                }
            }
        }
    }
}

/* Floats: the old value is the left operand of min and max, so a NaN that is there goes, one that
 * comes does not stay, and of two zeros the old one stays. */
TEST(float_atomics) {
    static const struct {
        const char *call; /* on x[0], with v */
        double old, v, want;
    } ops[] = {
        {"atomic_add(x[0], v)", 0.5, 0.25, 0.75},
        {"atomic_min(x[0], v)", 2, -1, -1},
        {"atomic_min(x[0], v, relaxed)", -1, 2, -1},
        {"atomic_min(x[0], v)", (double)NAN, 2, 2},
        {"atomic_min(x[0], v)", 2, (double)NAN, 2},
        {"atomic_min(x[0], v)", 0.0, -0.0, 0.0},
        {"atomic_max(x[0], v)", 2, 3, 3},
        {"atomic_max(x[0], v)", (double)NAN, -2, -2},
        {"atomic_max(x[0], v)", -2, (double)NAN, -2},
        {"atomic_max(x[0], v)", -0.0, 0.0, -0.0},
        {"atomic_exchange(x[0], v)", 2, 3, 3},
        {"atomic_load(x[0])", 2, 3, 2},
    };
    for (uint32_t i = 0; i < 4 * sizeof ops / sizeof *ops; i++) {
        const bool wide = i & 1, shared = i & 2;
        const char *type = wide ? "f64" : "f32";
        char text[512];
        snprintf(text, sizeof text,
                 "program a workgroup(1) { in i : %s[2]; out r : %s[2]; %s x : %s[2];\n"
                 "  atomic_store(x[0], i[0]); let v = i[1]; let old = %s;\n"
                 "  r[0] = old; r[1] = x[0]; atomic_store(x[9], v); }\n",
                 type, type, shared ? "workgroup" : "inout", type, ops[i / 4].call);
        float in[2] = {(float)ops[i / 4].old, (float)ops[i / 4].v}, out[2] = {0};
        double in2[2] = {ops[i / 4].old, ops[i / 4].v}, out2[2] = {0};
        double x[2] = {0};
        ref_run_all(text, (vyre_ref_args){0},
                    (ref_buffer[]){{"i", wide ? (void *)in2 : in, 2},
                                   {"r", wide ? (void *)out2 : out, 2},
                                   {shared ? NULL : "x", x, 2},
                                   {0}});
        const double old = wide ? out2[0] : (double)out[0], now = wide ? out2[1] : (double)out[1];
        const double was = ops[i / 4].old, want = ops[i / 4].want;
        if ((old != was && (old == old || was == was)) || now != want ||
            signbit(now) != signbit(want)) {
            test_fail(__FILE__, __LINE__, "%s of %s: %g (old %g), not %g", ops[i / 4].call, type,
                      now, old, want);
        }
    }
}

TEST(atomics_of_all_lanes_together) {
    static uint32_t r[4] = {0, 0xffffffff, 0, 0};
    static float f[1];
    static double d[1];
    static const char text[] =
        "program all workgroup(32) { inout r : u32[]; inout f : f32[]; inout "
        "d : f64[];\n"
        "  atomic_add(r[0], global_id.x);\n"
        "  atomic_min(r[1], global_id.x + 5);\n"
        "  atomic_max(r[2], global_id.x);\n"
        "  atomic_xor(r[3], 1 << (global_id.x & 31));\n"
        "  atomic_add(f[0], 0.5); atomic_add(d[0], 0.25);\n"
        "}\n";
    ref_run_all(text, (vyre_ref_args){.grid = {3}},
                (ref_buffer[]){BUFFER("r", r), BUFFER("f", f), BUFFER("d", d), {0}});
    CHECK_EQ(r[0], 96 * 95 / 2);
    CHECK_EQ(r[1], 5);
    CHECK_EQ(r[2], 95);
    CHECK_EQ(r[3], 0xffffffff);
    CHECK(f[0] == 48.0f && d[0] == 24.0);
}

/* Captured at begin, delivered at wait, also when a grid barrier and a change of the source come
 * between; clipped at both ends. */
TEST(async_copies) {
    static uint32_t source[8] = {10, 11, 12, 13, 14, 15, 16, 17}, r[8];
    static uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char text[] =
        "program copies workgroup(1) {\n"
        "  inout s : u32[]; inout r : u32[]; inout b : u8[]; private p : u32[4]; workgroup w : "
        "u32[2];\n"
        "  async_load(s, p, 24, 16, \"tail\");\n"
        "  grid_sync;\n"
        "  s[6] = 99;\n"
        "  r[0] = p[0];\n"
        "  grid_sync;\n"
        "  async_wait(\"tail\");\n"
        "  r[1] = p[0]; r[2] = p[1]; r[3] = p[2];\n" /* 16, 17, 0: beyond the source */
        "  async_store(p, b, 6, 100, \"clip\"); async_wait(\"clip\");\n"
        "  async_load(b, w, 1, 3, \"odd\"); async_wait(\"odd\");\n"
        "  r[4] = w[0];\n"
        "  async_store(s, r, 4000000000, 4, \"far\"); async_wait(\"far\");\n"
        "  async_load(s, w, 0, 0, \"none\"); async_wait(\"none\");\n"
        "  async_load(s, p, 0, 16, \"dropped\"); exit; async_wait(\"dropped\");\n"
        "}\n";
    static const uint32_t want[] = {0, 16, 17, 0, 0x040302, 0, 0, 0};
    static const uint8_t want_bytes[] = {1, 2, 3, 4, 5, 6, 16, 0};
    ref_run_all(text, (vyre_ref_args){0},
                (ref_buffer[]){BUFFER("s", source), BUFFER("r", r), BUFFER("b", bytes), {0}});
    CHECK(memcmp(r, want, sizeof want) == 0);
    CHECK(memcmp(bytes, want_bytes, sizeof bytes) == 0);
    CHECK_EQ(source[6], 99);
}

TEST(collectives_on_one_rank) {
    static uint32_t x[16], y[12], z[20], seen[16];
    static const char text[] =
        "program ranks workgroup(4) {\n"
        "  inout x : u32[]; inout y : u32[]; inout z : u32[]; inout seen : u32[];\n"
        "  x[global_id.x] = global_id.x + 1;\n"
        "  all_reduce(x, sum);\n"
        "  seen[global_id.x] = x[15 - global_id.x];\n" /* a barrier was before */
        "  all_gather(x, y);\n"
        "  y[global_id.x] = y[global_id.x] + 100;\n" /* and one after */
        "  reduce_scatter(x, z, max);\n"
        "  broadcast(x, 0);\n"
        "}\n";
    ref_run_all(
        text, (vyre_ref_args){.grid = {4}},
        (ref_buffer[]){BUFFER("x", x), BUFFER("y", y), BUFFER("z", z), BUFFER("seen", seen), {0}});
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_EQ(z[i], i < 16 ? i + 1 : 0);
        CHECK_EQ(i < 16 ? x[i] : 0, i < 16 ? i + 1 : 0);
        CHECK_EQ(i < 16 ? seen[i] : 0, i < 16 ? 16 - i : 0);
        CHECK_EQ(i < 12 ? y[i] : 0, i < 12 ? i + 101 : 0);
    }
}
