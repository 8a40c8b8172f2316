/* Workgroup memory is zeroed where something may be read that nobody has written, and only there.
 */
#include "unit/lowering.h"

/* The body, in a group of 8 x 4 with t : u32[32] and the lane's number l. */
static bool zeroes(const char *body) {
    char text[800];
    snprintf(text, sizeof text,
             "program p workgroup(8, 4) grid(2) { in x : u32[256]; out y : u32[128];\n"
             "  workgroup t : u32[32]; const rows : u32 = 4; param n : u32 = 32;\n"
             "  let l = local_id.y * 8 + local_id.x; let g = group_id.x * 32 + l;\n  %s }",
             body);
    vyre_program *p = run_parse(text);
    vyre_program *lowered = lowering_of(p, "zeroed_workgroup");
    bool changed = lowered != p;
    vyre_program_release(lowered);
    vyre_program_release(p);
    lowering_same(text, "zeroed_workgroup", 7);
    return changed;
}

TEST(what_is_written_first_is_left_alone) {
    CHECK(!zeroes("t[l] = x[l]; barrier; y[g] = t[l ^ 1];"));
    CHECK(!zeroes("let k = 31 - l; t[k] = x[l]; y[g] = 1; barrier; y[g] = t[l ^ 1];"));
    CHECK(!zeroes("for (i in l .. 32 step group_size.x * rows) { let q = i + 1; t[i] = q; }\n"
                  "  barrier; y[g] = t[l ^ 1];"));
    CHECK(!zeroes("for (i in 0 .. 8) { t[i * 4 + local_id.y] = i; } barrier; y[g] = t[l ^ 1];"));
    CHECK(!zeroes("t[l % 16] = 1; t[16 + l % 16] = 2; barrier; y[g] = t[l ^ 1];"));
    CHECK(!zeroes("t[l] = 3; y[g] = 5;"));
    CHECK(!zeroes("if (x[0] == 1) { y[g] = 2; } t[l] = 4; barrier; y[g] += t[31 - l];"));
}

TEST(what_may_be_read_first_is_zeroed) {
    CHECK(zeroes("y[g] = t[l];"));
    CHECK(zeroes("t[l] = x[l]; y[g] = t[l ^ 1] * 0;")); /* no barrier between */
    CHECK(zeroes("t[l ^ 1] = t[l ^ 1] + 1; barrier; y[g] = t[l];"));
    CHECK(zeroes("t[l / 2] = 7; barrier; y[g] = t[l];"));
    CHECK(zeroes("t[l + 1] = 7; barrier; y[g] = t[l];"));
    CHECK(zeroes("if (l < 31) { t[l] = 7; } barrier; y[g] = t[l];"));
    CHECK(zeroes("if (l == 3) { exit; } t[l] = 7; barrier; y[g] = t[3];"));
    CHECK(zeroes("t[x[0] * 0 + l] = 7; barrier; y[g] = t[l];"));
    CHECK(zeroes("for (i in l .. n step 32) { t[i] = 1; } barrier; y[g] = t[l];"));
    CHECK(zeroes("for (i in l .. 32 step 32) { if (i == 5) { break; } t[i] = 1; } barrier;\n"
                 "  y[g] = t[l];"));
    CHECK(zeroes("for (i in 0 .. 0x40000000) { t[l] = i; if (i == 3) { break; } } barrier;\n"
                 "  y[g] = t[l];"));
    CHECK(zeroes("let k = l; if (l == 9) { k = 8; } t[k] = 1; barrier; y[g] = t[l];"));
    CHECK(zeroes("atomic_add(t[0], 1); barrier; y[g] = t[0];"));
}
