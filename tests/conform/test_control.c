/* Control flow around grid barriers in less common shapes, and state of every kind that crosses
 * them there. Expected words are those of the native run, checked by hand where that is short. */
#include "conform/conform.h"

#define FOUR INPUTS(INPUT(1, 2, 3, 4))

TEST(exits_inside_uniform_arms) {
    conform_expect("program p workgroup(2) { inout a : u32[4]; param k : u32 = 1;\n"
                   "  for (i in 0 .. 3) {\n"
                   "    if (k == 1) { if (i == 2) { exit; } grid_sync; } else { exit; }\n"
                   "    a[global_id.x] += i + 1; grid_sync; }\n"
                   "  a[global_id.x] = 9; }",
                   FOUR, NULL, WORDS(4, 5, 6, 7));
    conform_expect("program p workgroup(2) { inout a : u32[4]; in c : u32[1]; grid_sync;\n"
                   "  if (c[0] == 0) { a[global_id.x] = 1; grid_sync; return; }\n"
                   "  else { a[global_id.x] += 2; grid_sync; if (global_id.x < 2) { return; } }\n"
                   "  grid_sync; a[global_id.x] += 10; }",
                   INPUTS(INPUT(1, 2, 3, 4), INPUT(1)), NULL, WORDS(3, 4, 15, 16));
}

TEST(breaks_and_continues_of_nested_loops) {
    conform_expect("program p workgroup(2) { inout a : u32[4]; for (i in 0 .. 4) {\n"
                   "  for (j in 0 .. 4) { if (j == 2) { break; } if (i == 1) { continue; }\n"
                   "    let v = a[(global_id.x + 1) % 4]; grid_sync; a[global_id.x] = v + i * j;\n"
                   "    grid_sync; }\n"
                   "  if (i == 3) { break; } let q = a[3 - global_id.x]; grid_sync;\n"
                   "  a[global_id.x] = q + 1; grid_sync; } }",
                   FOUR, NULL, WORDS(10, 9, 12, 11));
    conform_expect("program p workgroup(2) { inout a : u32[4]; let k = 0; while (k < 6) { k += 1;\n"
                   "  if (k % 2 == 0) { continue; } let v = a[(global_id.x + k) % 4]; grid_sync;\n"
                   "  a[global_id.x] += v; if (k == 5) { break; } grid_sync; } }",
                   FOUR, NULL, WORDS(16, 20, 24, 20));
}

TEST(functions_with_loops_with_barriers) {
    conform_expect("program p workgroup(2) { inout a : u32[4];\n"
                   "  fn f(x : u32, n : u32) -> u32 { let r = x; for (i in 0 .. n) {\n"
                   "    let v = a[(global_id.x + 1) % 4]; grid_sync; a[global_id.x] = v + r;\n"
                   "    grid_sync; r = r + v; } return r; }\n"
                   "  for (j in 0 .. 2) { let z = f(global_id.x, j + 1); a[global_id.x] += z;\n"
                   "    grid_sync; }\n"
                   "  a[global_id.x] = f(1, 0) + a[global_id.x]; }",
                   FOUR, NULL, WORDS(43, 47, 35, 31));
}

TEST(loops_without_trips_and_bounds_that_change) {
    conform_expect("program p workgroup(2) { inout a : u32[4]; param z : u32 = 0;\n"
                   "  for (i in 5 .. 5) { grid_sync; a[global_id.x] = 1; }\n"
                   "  for (i in 7 .. 3) { grid_sync; a[global_id.x] = 2; }\n"
                   "  for (i in 0 .. 9 step z) { grid_sync; a[global_id.x] = 3; }\n"
                   "  grid_sync; a[global_id.x] += 4; }",
                   FOUR, NULL, WORDS(5, 6, 7, 8));
    conform_expect("program p workgroup(2) { inout a : u32[4]; let n = 3; let by = 1;\n"
                   "  for (i in 0 .. n step by) { n = 1; by = 5; a[global_id.x] += i; grid_sync;\n"
                   "    n += i; }\n"
                   "  a[global_id.x] += n * 100; }",
                   FOUR, NULL, WORDS(304, 305, 306, 307));
}

TEST(memory_of_stored_types) {
    conform_expect(
        "program p workgroup(2) elements(4) { out o : u32[16]; workgroup a : u8[3];\n"
        "  workgroup b : i16[2]; workgroup c : f16[2]; workgroup d : bf16[2];\n"
        "  workgroup e : bool[2]; workgroup f : f64[2]; private g : i8[3]; private h : bool[2];\n"
        "  private k : f16[2]; if (local_id.x == 0) { a[2] = 300; b[1] = 0i - 5i; c[1] = 1.5;\n"
        "    d[1] = 3.25; e[1] = true; f[1] = 1e300d; }\n"
        "  g[1] = 0i - 7i; h[1] = global_id.x == 2; k[0] = 65504.0; barrier; grid_sync;\n"
        "  o[global_id.x] = a[2] + u32(b[1]) + u32(c[1] * 2.0) + u32(d[1] * 4.0) + u32(e[1]) +\n"
        "    u32(f[1] / 1e299d);\n"
        "  o[4 + global_id.x] = u32(g[1]); o[8 + global_id.x] = u32(h[1]);\n"
        "  o[12 + global_id.x] = u32(k[0]); }",
        NO_INPUTS, NULL,
        WORDS(66, 66, 66, 66, 0xfffffff9, 0xfffffff9, 0xfffffff9, 0xfffffff9, 0, 0, 1, 0, 65504,
              65504, 65504, 65504));
}

TEST(grids_of_three_axes) {
    uint32_t want[48];
    for (uint32_t x = 0; x < 48; x++) {
        uint32_t first = x / 24 * 24 + x % 12 / 2 * 2; /* of its group: + 1, + 12, + 13 */
        want[x] = x * 1000 + 4 * first + 26;
    }
    conform_expect("program p workgroup(2, 1, 2) grid(2, 3, 2) { out o : u32[48];\n"
                   "  workgroup w : u32[1];\n"
                   "  let x = (global_id.z * 3 + global_id.y) * 4 + global_id.x;\n"
                   "  atomic_add(w[0], x); let y = o[x] + x; o[x] = 0; barrier; grid_sync;\n"
                   "  o[x] = y * 1000 + w[0]; }",
                   NO_INPUTS, NULL, want, 48);
}

/* An index that looks like the lane's own is not, where the grid has another axis. */
TEST(lanes_that_differ_in_another_axis) {
    conform_expect("program p workgroup(1, 2) grid(2, 1) { out o : u32[2]; out r : u32[2];\n"
                   "  if (global_id.y == 0) { o[global_id.x] = 5; } grid_sync;\n"
                   "  if (global_id.y == 1) { r[global_id.x] = o[global_id.x]; } }",
                   NO_INPUTS, NULL, WORDS(5, 5, 5, 5));
    conform_expect("program p workgroup(1) { out o : u32[2]; out r : u32[2];\n"
                   "  if (global_id.y == 1) { o[global_id.x] = 5; } grid_sync;\n"
                   "  if (global_id.y == 0) { r[global_id.x] = o[global_id.x]; } }",
                   NO_INPUTS, OPTIONS(.has_grid = true, .grid = {2, 2, 1}), WORDS(5, 5, 5, 5));
}

TEST(workgroup_memory_of_groups_that_end_one_after_another) {
    conform_expect("program p workgroup(2) { inout a : u32[8]; workgroup w : u32[2];\n"
                   "  w[local_id.x] = global_id.x; barrier; if (group_id.x == 1) { exit; }\n"
                   "  grid_sync; for (i in 0 .. 3) { w[local_id.x] += 1; barrier;\n"
                   "    if (global_id.x == i * 3) { exit; } grid_sync; }\n"
                   "  a[global_id.x] = w[0] * 100 + w[1]; }",
                   INPUTS(INPUT(1, 2, 3, 4, 5, 6, 7, 8)), NULL,
                   WORDS(1, 104, 3, 4, 708, 708, 7, 910));
}

TEST(subgroups_between_barriers) {
    uint32_t want[80];
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t group = i / 40, lane = i % 40, first = group * 40 + (lane < 32 ? 0 : 32);
        uint32_t last = group * 40 + (lane < 32 ? 32 : 40), sum = 0, alive = 0, ballot = 0;
        for (uint32_t k = first; k < last; k++) {
            bool lives = k % 40 != 3;
            sum += k;
            alive += lives;
            ballot |= (uint32_t)(lives && k > 5) << (k - first);
        }
        uint32_t shuffled = lane < 32 ? 0 : sum; /* lane 3 has ended */
        want[i] = lane == 3 ? 0 : sum * 7 + alive + ballot + shuffled;
    }
    conform_expect("program p workgroup(40) { out a : u32[80]; let s = subgroup_add(global_id.x);\n"
                   "  if (local_id.x == 3) { exit; } grid_sync; let t = subgroup_add(1);\n"
                   "  let b = subgroup_ballot(global_id.x > 5); let q = subgroup_shuffle(s, 3);\n"
                   "  grid_sync; a[global_id.x] = s * 7 + t + b + q; }",
                   NO_INPUTS, NULL, want, 80);
}

TEST(wide_values_that_are_the_same_for_all) {
    conform_expect("program p workgroup(2) { out o : u32[4]; in x : u64[1]; let a = x[0];\n"
                   "  let b = a * 3; let f = f64(a); for (i in 0 .. 3) { grid_sync; b += a;\n"
                   "    f = f * 2.0d; o[global_id.x] += 1; }\n"
                   "  o[global_id.x] += u32(b >> 32) + u32(f / 4294967296.0d); }",
                   INPUTS(INPUT(5, 7)), NULL, WORDS(101, 101, 101, 101));
}

TEST(while_on_memory_that_atomics_change) {
    conform_expect("program p workgroup(2) { out o : u32[4]; scratch c : u32[2]; let go = true;\n"
                   "  let n = 0; while (go) { if (global_id.x == 0) { c[0] = n + 1; }\n"
                   "    atomic_add(c[1], 1); grid_sync; n = c[0]; go = n < 4 && c[1] < 100;\n"
                   "    grid_sync; }\n"
                   "  o[global_id.x] = n + c[1]; }",
                   NO_INPUTS, NULL, WORDS(20, 20, 20, 20));
}

TEST(copies_that_are_pending_in_a_loop) {
    conform_expect(
        "program p workgroup(1) { inout s : u32[4]; out o : u32[4]; private d : u32[2];\n"
        "  for (i in 0 .. 2) { async_load(s, d, (i + global_id.x) * 4, 8, \"t\");\n"
        "    let v = s[(global_id.x + 1) % 4]; grid_sync; s[global_id.x] = v + 1;\n"
        "    grid_sync; async_wait(\"t\"); o[global_id.x] += d[0] + d[1] * 10; } }",
        FOUR, NULL, WORDS(5, 6, 3, 4, 75, 57, 45, 4));
}

TEST(programs_without_lanes_or_elements) {
    const vyre_input none = {"", 0};
    conform_expect("program p workgroup(2) elements(4) { in a : u32[]; out o : u32[4];\n"
                   "  let x = a[0]; grid_sync; o[global_id.x] = x + len(a) + 3; }",
                   &none, 1, NULL, WORDS(3, 3, 3, 3));
    conform_expect("program p workgroup(2) { in a : u32[]; out o : u32[len(a)]; let x = a[0];\n"
                   "  grid_sync; o[global_id.x] = x; }",
                   &none, 1, OPTIONS(FIXPOINT(3)), NULL, 0);
}
