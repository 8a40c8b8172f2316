/* Async copies as loops: every pair of element types, every alignment, clipped at both ends, with
 * sources that change between begin and wait; bytes of all memory as natively. */
#include "unit/lowering.h"

static const char *const types[] = {"bool", "u32", "i32", "u64", "i64", "f32", "f64",
                                    "u8",   "i8",  "u16", "i16", "f16", "bf16"};
enum { TYPES = sizeof types / sizeof *types };

/* A copy of each lane, from and to memory of some kind, in pieces that do not meet. */
static void try_copy(uint64_t *seed, const char *from, const char *to) {
    static const char *const places[] = {"scratch ", "private ", "workgroup "};
    uint32_t offset = (uint32_t)test_random_below(seed, 70);
    uint32_t size = (uint32_t)test_random_below(seed, 50);
    bool is_load = test_random_below(seed, 2), is_known = test_random_below(seed, 2);
    const char *source = places[test_random_below(seed, 2)];
    const char *target = places[test_random_below(seed, 3)];
    const char *change[] = {"", "  s[1] = s[2];\n", "  o[0] = n[3] != 0;\n"};
    uint32_t which = (uint32_t)test_random_below(seed, 3);
    char text[1500], operands[64];
    if (test_random_below(seed, 8) == 0) {
        offset = UINT32_MAX - (uint32_t)test_random_below(seed, 9);
    }
    if (test_random_below(seed, 8) == 0) {
        size = UINT32_MAX - (uint32_t)test_random_below(seed, 9);
    }
    if (test_random_below(seed, 2)) {
        offset &= ~7u;
    }
    if (is_known) {
        snprintf(operands, sizeof operands, "%u, %u", offset, size);
    } else {
        snprintf(operands, sizeof operands, "n[0] * %s + %u, n[0] * 0 + %u",
                 test_random_below(seed, 2) ? "0" : "8 - (n[0] << 3)", offset, size);
    }
    snprintf(text, sizeof text,
             "program p workgroup(1) elements(1) { in n : u32[256]; inout b : %s[];\n"
             "  inout t : %s[]; out o : bool[1]; out u : %s[9]; out v : %s[11];\n"
             "  %ss : %s[9]; %sd : %s[11];\n"
             "  for (i in 0 .. 9) { s[i] = b[i + 1]; } for (i in 0 .. 11) { d[i] = t[i]; }\n"
             "  async_%s(%s, d, %s, \"c\");\n%s  async_wait(\"c\");\n"
             "  for (i in 0 .. 9) { u[i] = s[i]; } for (i in 0 .. 11) { v[i] = d[i]; } }",
             from, to, from, to, source, from, target, to, is_load ? "load" : "store",
             test_random_below(seed, 2) && which != 1 ? "b" : "s", operands, change[which]);
    lowering_same(text, "async", *seed);
}

TEST(every_pair_of_types) {
    uint64_t seed = 3;
    for (uint32_t i = 0; i < TYPES; i++) {
        for (uint32_t k = 0; k < TYPES; k++) {
            for (uint64_t n = 0; n < test_scaled(6); n++) {
                try_copy(&seed, types[i], types[k]);
            }
        }
    }
}

TEST(offsets_do_not_wrap) {
    lowering_same("program p workgroup(1) elements(1) { in b : u8[]; in n : u32[256];\n"
                  "  out u : u8[40]; out v : u32[10];\n"
                  "  async_load(b, u, 4294967290 + n[0] * 0, 40, \"a\"); async_wait(\"a\");\n"
                  "  async_load(b, v, 4294967290 + n[0] * 0, 40, \"b\"); async_wait(\"b\"); }",
                  "async", 9);
}

TEST(bits_that_loads_do_not_show_are_kept) {
    /* Words of bools other than 0 and 1, payloads of NaNs, from buffer to buffer. */
    for (uint32_t i = 0; i < TYPES; i++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "program p workgroup(2) elements(4) { in b : %s[]; inout d : %s[]; out w : u8[90];\n"
            "  async_store(b, d, global_id.x * 24, 24, \"t\");\n"
            "  async_wait(\"t\"); if (global_id.x == 0) { async_load(b, w, 3, 77, \"u\");\n"
            "  async_wait(\"u\"); if (d[40] == d[41]) { d[40] = d[42]; } } }",
            types[i], types[i]);
        lowering_same(text, "async", i);
    }
}

TEST(what_changes_between_begin_and_wait_is_captured) {
    lowering_same(
        "program p workgroup(4) elements(8) { inout s : u32[256]; out d : u32[64];\n"
        "  private q : u32[8]; workgroup m : u32[16];\n"
        "  let o = global_id.x * 8; m[local_id.x * 4 + 1] = o; barrier;\n"
        "  for (k in 0 .. 3) {\n"
        "    async_load(s, q, o * 4, 20, \"a\"); s[o] = k; s[o + 4] = s[o + 5] + k;\n"
        "    async_store(m, d, o * 4 + k, 8, \"b\");\n"
        "    if (k == 1) { continue; }\n"
        "    async_wait(\"b\"); q[2] = 1; async_wait(\"a\"); d[o + 5] = q[0] + q[1] + q[4];\n"
        "    async_store(q, q, 4, 12, \"c\"); q[0] = 9; async_wait(\"c\");\n"
        "    d[o + 6] = q[1] * 256 + q[3]; } }",
        "async", 5);
    lowering_same(
        "program p workgroup(4) elements(8) { inout s : u32[256]; out d : u32[64];\n"
        "  workgroup m : u32[8]; m[local_id.x] = global_id.x; barrier;\n"
        "  async_load(m, d, 0, 0, \"z\"); async_store(m, d, 32 * group_id.x, 16, \"a\");\n"
        "  barrier; m[3 - local_id.x] = 77; barrier;\n"
        "  async_wait(\"a\"); async_wait(\"z\"); }",
        "async", 6);
}

TEST(a_lane_behind_the_barrier_may_write_before_another_waits) {
    lowering_same("program p workgroup(4) elements(8) { inout s : u32[256]; out d : u32[8];\n"
                  "  private q : u32[1]; async_load(s, q, global_id.x * 4, 4, \"a\"); barrier;\n"
                  "  async_wait(\"a\"); s[global_id.x ^ 1] = 7; d[global_id.x] = q[0]; }",
                  "async", 7);
}

TEST(a_copy_that_private_memory_can_not_hold_is_refused) {
    vyre_program *p = run_parse("program p workgroup(1) elements(1) { inout s : u32[];\n"
                                " inout d : u32[];\n"
                                " async_load(s, d, 0, s[0], \"big\"); s[1] = 2;\n"
                                " async_wait(\"big\"); }");
    vyre_program *lowered = NULL;
    vyre_capabilities can;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_capabilities_named("async", &can, &diag), &diag);
    CHECK_STATUS(vyre_lower(p, &can, NULL, &lowered, &diag), VYRE_UNSUPPORTED, &diag);
    CHECK_EQ(diag.line, 3);
    CHECK_HAS(diag.message, "\"big\"");
    CHECK_HAS(diag.message, "line 3");
    CHECK_HAS(diag.fix, "min(size, 65536)");
    vyre_program_release(p);
}
