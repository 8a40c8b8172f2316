/* The forms of compiled code: each program has a shape that one of them is chosen for, and is run
 * with the sizes at which it changes (one lane, one gang, one more, several chunks), with other
 * numbers of threads and lanes in lockstep, against "ref". */
#include "harness/run.h"

static const char *const devices[] = {"cpu", "cpu://threads=1", "cpu://threads=3&gang=1",
                                      "cpu://threads=2&gang=4", "cpu://features=sse2&gang=16"};
enum { DEVICES = sizeof devices / sizeof *devices, MOST_WORDS = 4096 };

static void need_llvm(void) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
}

/* One input of n words, a param n, and a grid of so many groups. */
static void check(const char *text, uint32_t n, uint32_t x, uint32_t y, uint32_t z) {
    static uint32_t words[MOST_WORDS];
    uint64_t random = n + 1;
    for (uint32_t i = 0; i < MOST_WORDS; i++) {
        words[i] = (uint32_t)test_random(&random) % 1000;
    }
    vyre_program *program = run_parse(text);
    const vyre_input input = {words, (size_t)n * 4};
    const vyre_dispatch_options options = {.has_grid = true, .grid = {x, y, z}};
    run_result want = run_program("ref", program, &input, 1, &options);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t d = 0; d < DEVICES && !test_failed(); d++) {
        run_result got = run_program(devices[d], program, &input, 1, &options);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        if (got.status == VYRE_OK && !run_same(&want, &got)) {
            test_fail(__FILE__, __LINE__, "%s, n = %u, grid %u %u %u:\n%s", devices[d], n, x, y, z,
                      text);
        }
        run_finish(&got);
    }
    run_finish(&want);
    vyre_program_release(program);
}

TEST(rows_of_any_length_are_clipped_by_their_guards) {
    need_llvm();
    static const uint32_t sizes[] = {1, 7, 8, 9, 63, 64, 511, 513, 1030};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 24 + 1;
        check("program p workgroup(24) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x;\n"
              "  if (i > 0 && i < len(a) - 1) { b[i] = a[i - 1] * 3 + a[i + 1]; } }",
              n, groups, 1, 1);
        check("program p workgroup(24) { in a : u32[]; out b : u32[len(a)];\n"
              "  if (global_id.x >= len(a)) { exit; } b[global_id.x] = a[global_id.x] + 1; }",
              n, groups, 1, 1);
        check("program p workgroup(24) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; if (i <= len(a) / 2) { b[i] = a[i] * 7; }\n"
              "  if (i >= 3 && len(a) >= i + 2) { b[i] = b[i] + 5; } }",
              n, groups, 1, 1);
    }
}

/* Stores of some lanes, blended with what is there. */
TEST(some_lanes_store_to_elements_of_their_own) {
    need_llvm();
    static const uint32_t sizes[] = {1, 8, 9, 31, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check(
            "program p workgroup(16, 2) { in a : u32[]; out b : u32[len(a)]; out c : "
            "u8[len(a)];\n"
            "  let w = 33; let x = global_id.x; let y = global_id.y; let at = y * w + x;\n"
            "  if (x < w) { if (b[at] < a[at]) { b[at] = a[at]; } if (a[at] > 700) { c[at] = a[at];"
            " } } }",
            n * n, 3, 20, 1);
        /* The grid is wider than a row, has several planes, and ends behind the buffer. */
        check("program p workgroup(8) { in a : u32[]; out b : u32[len(a)]; param w : u32 = 10; "
              "scratch c : u32[1];\n"
              "  let at = global_id.y * w + global_id.x; c[0] = 1; \n"
              "  if (global_id.x < w && a[at] > 400) { b[at] = a[at]; } }",
              n * n, 4, 30, 1 + i % 2);
        check("program p workgroup(8) { in a : u32[]; out b : u16[len(a)];\n"
              "  let x = global_id.x; if (a[x] + b[x] > 400) { b[x] = a[x]; } else { b[x] = 3; } }",
              n * n, n * n / 8 + 2, 1, 1);
    }
}

/* Two rows of lanes write different elements of one row, at the same time: none may write those of
 * the other, even what is there. */
TEST(some_lanes_leave_elements_of_others_alone) {
    need_llvm();
    for (uint32_t i = 0; i < 4 && !test_failed(); i++) {
        check("program p workgroup(64) { in a : u32[]; out b : u32[4096];\n"
              "  for (k in 0 .. 100) {\n"
              "    if (((a[global_id.x % len(a)] + k) & 1) == global_id.y) {\n"
              "      b[global_id.x] = b[global_id.x] * 3 + k; }\n"
              "    grid_sync; } }",
              1000, 64, 2, 1);
    }
}

TEST(a_guard_does_not_keep_lanes_from_what_stands_before_it) {
    need_llvm();
    static const uint32_t sizes[] = {1, 9, 64, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; if (i < len(a)) {\n"
              "    if (len(a) > 50) { b[i] = a[i]; } else { b[i] = 7; }\n"
              "    if (i > 2) { b[i] = b[i] + 1; } } }",
              n, n / 16 + 1, 1, 1);
        check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; let v = 1;\n"
              "  if (a[i] > 500) { v = 2; b[i] = 9; }\n"
              "  if (i > 2 && i < len(a) - 1) { b[i] = b[i] + v; } }",
              n, n / 16 + 1, 1, 1);
    }
}

/* Lanes one by one: whether they store is decided by data, so their stores have two places. */
TEST(stores_that_data_decide_go_to_their_place_or_nowhere) {
    need_llvm();
    static const uint32_t sizes[] = {1, 8, 37, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 16 + 1;
        check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)]; out c : u32[16];\n"
              "  let i = global_id.x; let v = a[i];\n"
              "  if (v > 500) { b[i ^ 3] = v; }\n"
              "  if (v % 3 == 1 && i < 40) { c[v & 31] = 9; b[len(a)] = v; } }",
              n, groups, 1, 1);
        check(
            "program p workgroup(16) { in a : u32[]; out b : u32[len(a)]; workgroup w : u32[32];\n"
            "  let l = local_id.x; if (a[global_id.x] < 400) { w[31 - l] = l + 1; w[l] = 7; }\n"
            "  barrier; b[global_id.x] = w[15 - l] + 100 * w[l + 16]; }",
            n, groups, 1, 1);
    }
}

TEST(quotients_by_what_is_known_before_lanes_begin) {
    need_llvm();
    static const uint32_t sizes[] = {1, 2, 3, 7, 64, 1000, 1023};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 16 + 1;
        check("program p workgroup(16) { in a : u32[]; out b : u32[4 * len(a)];\n"
              "  param zero : u32 = 0; param much : u32 = 4294967295; param odd : u32 = 641;\n"
              "  let i = global_id.x; let n = len(a); let x = (a[i] + i) * 4294967;\n"
              "  b[4 * i] = x / n + x % n; b[4 * i + 1] = (0 - 1 - i) / n + (0 - 1 - i) % n;\n"
              "  b[4 * i + 2] = x / zero + x % zero + (0 - i) / much + (0 - i) % much;\n"
              "  b[4 * i + 3] = x / odd + (i * 641 - 1) / odd + (0 - i) % odd; }",
              n, groups, 1, 1);
    }
}

/* Loops that lanes of a group begin apart: bounds are asked for once, for all gangs and trips. */
TEST(ranges_of_a_group_end_inside_or_beyond_their_buffers) {
    need_llvm();
    static const uint32_t sizes[] = {1, 127, 128, 129, 640, 1000, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check(
            "program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[64];\n"
            "  let sum = 0; let n = len(a) / 2;\n"
            "  for (c in local_id.x .. n step 64) { sum = sum + a[group_id.x * n + c]; }\n"
            "  t[local_id.x] = sum; barrier; b[global_id.x] = t[63 - local_id.x]; }",
            n, 2, 1, 1);
        check(
            "program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[80];\n"
            "  let sum = 0; t[local_id.x] = a[local_id.x]; barrier;\n"
            "  for (c in local_id.x .. len(a) step 64) {\n"
            "    sum = sum * 3 + a[c + 1] + a[c - 1] + t[local_id.x + 3];\n"
            "    if (a[c] % 2 == 0) { b[c] = sum + a[2 * c]; } }\n"
            "  barrier; b[local_id.x] = sum; }",
            n, 1, 1, 1);
        check("program p workgroup(32, 4) { in a : u32[]; out b : u32[len(a)]; workgroup t : "
              "u32[128];\n"
              "  let sum = 0; let l = local_id.y * 32 + local_id.x;\n"
              "  for (c in local_id.x + 3 .. len(a) / 2 step 32) {\n"
              "    sum = sum + a[c + 7 * local_id.y] + a[c]; }\n"
              "  t[l] = sum; barrier; b[l] = t[127 - l]; }",
              n, 1, 1, 1);
    }
}

/* Loops of varying length: lane after lane, but only those that a guard lets pass. */
TEST(lanes_one_by_one_are_clipped_by_their_guards) {
    need_llvm();
    static const uint32_t sizes[] = {1, 9, 17, 40, 513, 3000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 24 + 1;
        check("program p workgroup(24) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x;\n"
              "  if (i > 2 && i + 1 < a[0]) { let s = i;\n"
              "    for (k in 0 .. a[i] % 7) { s = s * 3 + a[(i + k) % len(a)]; } b[i] = s; } }",
              n, groups, 1, 1);
        check("program p workgroup(24) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; if (i >= len(a) || i < 5) { exit; }\n"
              "  for (k in i .. i + a[i] % 5) { atomic_add(b[k], a[i]); } }",
              n, groups, 1, 1);
        check("program p workgroup(8, 2) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; if (i < len(a) / 2 && global_id.y > 0) { let s = 0;\n"
              "    for (k in 0 .. a[i] % 7) { s = s + k; } b[i * 2] = s + global_id.y; } }",
              n, n / 8 + 1, 1, 1);
    }
}

/* What a guard proves of an index holds for the lanes inside it; those of the gang that are not
 * have indices far beyond all memory. */
TEST(a_proof_by_a_guard_holds_for_the_lanes_inside_it) {
    need_llvm();
    static const uint32_t sizes[] = {7, 16, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)]; workgroup w : u32[8];\n"
              "  let i = global_id.x; if (local_id.x < 8) { w[local_id.x] = a[i] + 1; } barrier;\n"
              "  let k = a[i] % 3 * 1000000000 + 1; let s = 0;\n"
              "  if (k < 8) { s = w[k]; s = s * 3 + w[k - 1]; } b[i] = s; }",
              n, n / 16 + 1, 1, 1);
        check("program p workgroup(16) { in a : u32[]; out b : u32[64]; let i = global_id.x;\n"
              "  let k = a[i] % 3 * 1000000000 + i; if (k < 64) { b[k] = b[k] + a[i]; } }",
              n, n / 16 + 1, 1, 1);
    }
}

/* Inner loops run in strips of 1,024 trips: with and without all of them inside, in gangs and lane
 * by lane, up and down, by steps that only the program knows, left early. */
TEST(loops_run_in_strips) {
    need_llvm();
    static const char *const bodies[] = {
        "for (k in 0 .. m) { s = s * 3 + a[k]; }",
        "for (k in i .. i + m) { let at = k - i; s = s * 5 + a[k] + a[at + 7]; }",
        "for (k in 0 .. m) { s = s * 3 + a[len(a) - 1 - k]; }",
        "for (k in 0 .. m) { let at = (k << 1) + i; s = s * 3 + a[at * 2 + 1] + a[k * i]; }",
        "for (k in 0 .. m) { s = s + a[i * m - k * 3]; if (s % 11 == 5) { continue; } s = s * 7; }",
        "for (k in 1 .. m + 1) { s = s + a[k] * k; if (s % 97 == 5) { break; } s = s * 3; }",
        "for (k in 0 .. m) { if (k % 3 == i % 3) { b[i * 4 + (k & 1)] = s; } s = s + a[a[k]]; }",
        "for (k in 0 .. m) { b[i * 4 + k] = a[k] + b[i * 4 + k]; if (k == 3) { exit; } }"};
    static const char *const trips[] = {"a[i] % 9", "i % 3 * 600", "param_like"};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies && !test_failed(); b++) {
        for (size_t t = 0; t < 3 && !test_failed(); t++) {
            char text[600];
            (void)snprintf(text, sizeof text,
                           "program p workgroup(8) { in a : u32[]; out b : u32[4 * len(a)];\n"
                           "  let i = global_id.x; if (i < len(a)) { let s = i + 1;\n"
                           "  let param_like = len(a) + 1; let m = %s;\n  %s\n"
                           "  b[i * 4 + 3] = s; } }",
                           trips[t], bodies[b]);
            check(text, t == 2 ? 1100 : 40, t == 2 ? 1 : 5, 1, 1);
        }
    }
}

TEST(atomics_that_change_nothing_are_loads) {
    need_llvm();
    static const uint32_t sizes[] = {3, 64, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(64) { in a : u32[]; out c : u32[64]; out d : i32[4];\n"
              "  let i = global_id.x; if (i == 0) { c[20] = 0xffffffff; c[21] = 0xffffffff; }\n"
              "  grid_sync; if (i < len(a)) { let v = a[i];\n"
              "    if (atomic_cas(c[v % 16], 0, 1, relaxed) == 0) { atomic_add(c[16], 1, relaxed); "
              "}\n"
              "    if (atomic_cas(c[32 + v % 16], 0, 7) != 0) { atomic_add(c[17], 1); }\n"
              "    atomic_max(c[18], v, relaxed); atomic_or(c[19], 1 << (v & 31), relaxed);\n"
              "    atomic_min(c[20], v, relaxed); atomic_and(c[21], v | 3, relaxed);\n"
              "    atomic_min(d[0], 500 - i32(v), relaxed); atomic_max(d[1], i32(v) - 900, "
              "relaxed);\n"
              "    atomic_min(d[2], -i32(v)); atomic_max(d[3], i32(v)); } }",
              sizes[i], sizes[i] / 64 + 1, 1, 1);
    }
}

/* Over whole ranges of lanes, unless the segment can tell when; beyond the end nothing happens,
 * also where only a guard keeps lanes from it. */
TEST(atomics_on_one_element_are_gathered) {
    need_llvm();
    static const uint32_t sizes[] = {9, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 32 + 1;
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : u32[4];\n"
              "  let i = global_id.x; if (i == len(a) / 2) { atomic_add(c[0], a[i] + 7);\n"
              "    b[i] = c[0]; } if (i < len(a)) { atomic_or(c[1], a[i], relaxed); } }",
              n, groups, 1, 1);
        check(
            "program p workgroup(32) { in a : u32[]; out b : u32[4]; param k : u32 = 1000000000;\n"
            "  let v = a[global_id.x]; if (k < len(b)) { atomic_add(b[k], v); }\n"
            "  atomic_sub(b[4], v); atomic_sub(b[1], v + 1, relaxed); }",
            n, groups, 1, 1);
        check("program p workgroup(32) { in a : u32[]; out b : u32[4]; let z = len(a) / 5000;\n"
              "  let v = a[global_id.x]; atomic_add(b[z], v); atomic_xor(b[z + 1], v * 3);\n"
              "  if (v > 300) { atomic_max(b[z + 2], v); }\n"
              "  for (k in 0 .. v % 4) { atomic_add(b[3], a[k], relaxed); } }",
              n, groups, 1, 1);
        /* The store behind it has nothing to do with it, whatever its number is. */
        for (uint32_t k = 0; k < 9; k++) {
            char text[300];
            (void)snprintf(text, sizeof text,
                           "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
                           "  out c : u32[9]; let i = global_id.x; if (i < len(a)) {\n"
                           "    atomic_add(c[%u], a[i]); let v = a[i] + 1; b[i] = v; } }",
                           (unsigned)k);
            check(text, n, groups, 1, 1);
        }
        /* Elements of each lane: one by one, but all else in gangs. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[50]; out c : u32[len(a)];\n"
              "  let i = global_id.x; if (i < len(a)) { let at = i;\n"
              "    for (k in 0 .. 9) { at = a[at % len(a)] + k; c[i] = at; }\n"
              "    atomic_add(b[at % 50], at); if (at % 3 == 0) { atomic_add(b[at % 60], 1); } } }",
              n, groups, 1, 1);
    }
}

/* Workers keep what lanes append: more than they have room for, for counters in turns, for several
 * lists; beyond the end of the list elements are dropped, beyond that of the counters all go to one
 * place. Not where the lane could tell. */
TEST(lists_that_lanes_append_to) {
    need_llvm();
    static const char *const programs[] = {
        "program p workgroup(32) { in a : u32[]; scratch list : u32[8 * len(a)];\n"
        "  scratch head : u32[2]; out b : u32[4]; let i = global_id.x;\n"
        "  if (i < len(a)) { for (k in 0 .. a[i] % 5) {\n"
        "    let at = atomic_add(head[a[i] % 2], 1, relaxed); let v = a[i] * 8 + k;\n"
        "    list[a[i] % 2 * 4 * len(a) + at] = v; } } grid_sync;\n"
        "  for (j in i .. len(list) step global_size.x) { atomic_add(b[0], list[j]);\n"
        "    atomic_xor(b[1], list[j] * 3); } if (i < 2) { b[2 + i] = head[i]; } }",
        "program p workgroup(32) { in a : u32[]; out list : u32[40]; out far : f64[len(a)];\n"
        "  out head : u32[2]; let i = global_id.x; if (i < len(a)) {\n"
        "    let x = atomic_add(head[0], 1); list[x + 3] = 7;\n"
        "    let y = atomic_add(head[a[i] + 2], 1); far[y] = 1.5; } }",
        "program p workgroup(32) { in a : u32[]; out list : u32[40]; out head : u32[2];\n"
        "  let i = global_id.x; if (i == 3) { for (k in 0 .. 5) {\n"
        "    let at = atomic_add(head[a[i] % 2 + 2], 1); list[at + k * 3] = k + 1; } } }",
        "program p workgroup(32) { in a : u32[]; out list : u32[40]; out head : u32[2];\n"
        "  out b : u32[8]; let i = global_id.x; if (i == 3) { for (k in 0 .. 9) {\n"
        "    let at = atomic_add(head[0], 1); list[at] = list[at - 1] + a[k % len(a)]; } }\n"
        "  if (i == 5) { let at = atomic_add(head[1], 1); list[30 + at] = 6; b[1] = list[30]; } }",
        "program p workgroup(32) { in a : u32[]; out list : u32[40]; out head : u32[2];\n"
        "  let i = global_id.x; if (i == 3) { for (k in 0 .. 9) { let v = list[k] + a[k];\n"
        "    let at = atomic_add(head[0], 1); list[at + 1] = v; } } }",
        "program p workgroup(32) { in a : u32[]; out list : u32[40]; scratch head : u32[2];\n"
        "  out b : u32[8]; let i = global_id.x; if (i == 5) { let at = atomic_add(head[1], 1);\n"
        "    list[at] = i; let then = atomic_add(head[1], 1); b[0] = then; } }"};
    static const uint32_t sizes[] = {4, 100, 4000};
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
            check(programs[p], sizes[i], sizes[i] / 32 + 1, 1, 1);
        }
    }
}

/* Where there are enough lanes, workers have copies of buffers that lanes only add to, from launch
 * to launch, and put them together with what the buffer holds. */
TEST(workers_add_to_copies) {
    need_llvm();
    static const char *const programs[] = {
        "program p workgroup(32) { in a : u32[]; out b : u32[50]; out c : u64[9];\n"
        "  let i = global_id.x; for (t in 0 .. 3) { if (i < len(a)) { let v = a[i] * 7 + t;\n"
        "    atomic_sub(b[v % 60], v); atomic_sub(b[1], 1); atomic_max(c[v % 9], u64(v) << 33); }\n"
        "    grid_sync; if (i == 0) { b[0] = b[0] * 3 + t; c[4] = c[4] + 1; } grid_sync; } }",
        "program p workgroup(64) { in a : u32[]; out b : u32[50]; out c : i32[30];\n"
        "  out d : u64[30]; out e : u32[30]; out f : u32[10]; let i = global_id.x;\n"
        "  if (i < len(a)) { let v = a[i]; atomic_add(b[v % 50], i, relaxed);\n"
        "    atomic_add(c[v % 29], -i32(v)); atomic_xor(d[v % 31], u64(v) << (v % 40));\n"
        "    atomic_or(e[v % 30], 1 << (v % 32)); atomic_max(f[v % 10], v ^ i); } }",
        "program p workgroup(32) { in a : u32[]; out b : u32[20]; workgroup w : u32[32];\n"
        "  w[local_id.x] = a[global_id.x]; barrier; let v = w[31 - local_id.x];\n"
        "  atomic_add(b[v % 20], v); barrier; atomic_add(b[w[local_id.x] % 7], 1); }",
        "program p workgroup(32) { in a : u32[]; out b : u32[20]; let i = global_id.x;\n"
        "  if (i < len(a)) { atomic_or(b[a[i] % 18], 0x80000000); }\n"
        "  if (i == 700) { atomic_add(b[19], 5); b[18] = b[19] & 7; } }",
        "program p workgroup(32) { in a : u32[]; out b : u32[20]; out c : u32[2]; out d : u32[1];\n"
        "  let i = global_id.x; if (i < 20) { b[i] = 3; } grid_sync; let v = a[i];\n"
        "  if (i == 600) { atomic_xor(b[v % 20], 5); atomic_add(b[v % 20], 6); }\n"
        "  if (i == 700) { atomic_add(c[v % 2], 5); d[0] = c[v % 2]; } }"};
    static const uint32_t sizes[] = {20, 1100, 4096};
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
            check(programs[p], sizes[i], sizes[i] / 32 + 1, 1, 1);
        }
    }
}

/* A value that many lanes store to one place is stored if it is not there yet. */
TEST(one_value_for_one_place) {
    need_llvm();
    static const uint32_t sizes[] = {20, 1100, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(32) { in a : u32[]; out b : u32[4]; out c : f32[2]; out d : "
              "u8[2];\n"
              "  param k : u32 = 1; for (i in global_id.x .. len(a) step global_size.x) {\n"
              "    if (a[i] % 5 == 3) { b[k] = 7; c[0] = -0.0; d[1] = 3; }\n"
              "    if (a[i] % 7 == 9) { b[k + 1] = 7; b[9] = 1; } } }",
              sizes[i], 11, 1, 1);
        check("program p workgroup(32) { in a : u32[]; out b : u32[4]; scratch c : u32[2];\n"
              "  let more = 1; let t = 0; while (more != 0 && t < 9) {\n"
              "    if (global_id.x == 0) { c[1 - (t & 1)] = 0; }\n"
              "    for (i in global_id.x .. len(a) step global_size.x) {\n"
              "      let k = 0; while (k < a[i] % 3) { k = k + 1; }\n"
              "      if (k + t < 4 && a[i] % 9 == 5) { c[t & 1] = 1; } }\n"
              "    grid_sync; more = c[t & 1]; t = t + 1; grid_sync; }\n"
              "  if (global_id.x == 0) { b[0] = t; } }",
              sizes[i], 11, 1, 1);
    }
}

/* Operands that lie in memory just as they are come from there lane by lane, unless the segment
 * writes what they were loaded from. */
TEST(atomics_take_operands_from_memory) {
    need_llvm();
    static const uint32_t sizes[] = {1, 31, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(32) { in a : u8[]; out b : u32[256]; workgroup w : u32[256];\n"
              "  for (i in global_id.x .. len(a) step global_size.x) { atomic_add(w[a[i]], 1); }\n"
              "  barrier; for (k in local_id.x .. 256 step 32) { atomic_add(b[k], w[k]); } }",
              n, 3, 1, 1);
        check("program p workgroup(32) { in a : i8[]; out b : i32[2]; workgroup w : i32[2];\n"
              "  for (i in local_id.x .. len(a) step 32) { let v = a[i]; atomic_add(w[0], v);\n"
              "    if (v > 20) { atomic_max(w[1], v); } }\n"
              "  barrier; if (local_id.x < 2) { b[local_id.x] = w[local_id.x]; } }",
              n, 1, 1, 1);
        check("program p workgroup(8) { inout b : u32[]; out c : u32[1000];\n"
              "  workgroup w : u32[1000]; for (i in local_id.x .. len(b) step 8) {\n"
              "    let v = b[i]; b[i] = v / 2; atomic_add(w[v], i); }\n"
              "  barrier; for (k in local_id.x .. 1000 step 8) { c[k] = w[k]; } }",
              n, 1, 1, 1);
    }
}

TEST(accesses_beyond_the_ends_are_found_by_probing) {
    need_llvm();
    static const uint32_t sizes[] = {1, 8, 31, 512, 1500};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i];
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; b[i] = a[i - 1] + 2 * a[i + 1] + 3 * a[i + 40]; }",
              n, n / 32 + 2, 1, 1);
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; b[i - 5] = a[i]; b[len(a) / 2 + i] = a[i] + 1; }",
              n, 2, 1, 1);
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = i32(global_id.x) - 3; if (i >= 0 && i < i32(len(a))) {\n"
              "    b[u32(i)] = a[u32(i)] * 5; } }",
              n, n / 32 + 2, 1, 1);
    }
}

/* Programs whose rows are cut into pieces: at the ends, where a condition changes, at multiples. */
static const char *const cut_programs[] = {
    /* A torus. */
    "program p workgroup(16, 2) { in a : u32[]; out b : u32[len(a)]; param w : u32 = 37;\n"
    "  let x = global_id.x; let y = global_id.y; let is_in = x < w && y < len(a) / w;\n"
    "  let left = select(x == 0, w - 1, x - 1); let right = select(x + 1 < w, x + 1, 0);\n"
    "  if (is_in) { b[y * w + x] = a[y * w + left] + 3 * a[y * w + right]; } }",
    /* Clamped ends, signed and unsigned. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
    "  let x = global_id.x; let l = max(x, 1) - 1; let r = min(x + 1, len(a) - 1);\n"
    "  let q = u32(max(i32(x) - 2, 0));\n"
    "  if (x < len(a)) { b[x] = a[l] + 5 * a[r] + 7 * a[q]; } }",
    /* Guarded parts one after the other, each with other ends; conditions of two sides. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : u32[len(a)];\n"
    "  out d : u32[len(a)]; out f : u32[1];\n"
    "  let x = global_id.x; let n = len(a); let far = x < 3 || x > n / 2;\n"
    "  if (x < n / 3) { b[x] = a[x] + 1; } else { c[x] = a[x]; }\n"
    "  if (far) { b[x] = a[x + 1] * 2; } if (!far && x != n / 4) { d[x + 1] = a[x] + 9; }\n"
    "  if (x == n / 5) { f[0] = a[x]; } }",
    /* Quotients and rests by what is not known, by shifts and masks; nothing divides by 0. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; let w = a[0] % 90;\n"
    "  let i = global_id.x; let row = i / w; let column = i % w;\n"
    "  if (i < len(a)) { b[i] = a[row] * 3 + a[column] + 5 * a[i >> 6] + 7 * a[i & 127]; } }",
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; let w = 0;\n"
    "  let i = global_id.x; if (i < len(a)) { b[i] = a[i / w] + a[i % w] + i / w + i % w; } }",
    /* A step of a sorting network, both ways to write it. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : u32[len(a)];\n"
    "  let apart = 1 << (a[1] % 9);\n"
    "  let i = global_id.x; let low = i / apart * apart * 2 + i % apart; let j = i ^ apart;\n"
    "  b[low] = a[low] + a[low + apart]; if (j > i) { c[j] = a[i] + a[j]; } }",
    /* In place, so that no lane may run twice; some lanes store. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
    "  let i = global_id.x; if (i < len(a)) { b[i] = b[i] + a[i];\n"
    "    if (a[i] % 2 == 0) { b[i] = b[i] + 7; } else { if (a[i] > 500) { b[i] = 1; } } } }",
    /* Values that wrap in the range; a guard behind an effect. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : u32[len(a)];\n"
    "  let i = global_id.x; c[i] = i; let k = i - 20; if (k < 30) { b[k] = a[i]; }\n"
    "  if (i >= 40) { exit; } b[i + 30] = a[i + 1]; }",
    /* A limit that the segment may have written is none that probing knows. */
    "program p workgroup(1) { in a : u32[]; out b : u32[len(a)]; out c : u32[1];\n"
    "  let n = c[0]; let i = global_id.x; if (i < n + 30) { b[i] = a[i]; }\n"
    "  if (i > 4000000) { c[0] = 5; } }",
    /* A limit of pieces that lies where they are not linear. */
    "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
    "  let i = global_id.x; let j = min(i, 50); if (j < 60) { b[i] = a[j] + j; } }"};

/* Lanes that walk along rows of their own, a multiple of eight elements: by tiles, but for stores
 * that are not made in each trip, or whose buffer the loop reads. */
TEST(short_rows_go_by_tiles) {
    need_llvm();
    static const uint32_t sizes[] = {1, 8, 127, 128, 136, 1031, 2048};
    static const char *const walks[] = {
        "let sum = 0; for (k in 0 .. 8) { sum = sum + a[i * 8 + k]; b[i * 8 + k] = sum; }",
        "for (k in 8 .. 24) { b[i * 16 + k - 8] = a[i * 16 + k] * k; }",
        "for (k in 0 .. 8) { b[i * 8 + k] = a[i * 8 + k] + 3 * b[i * 8 + 7 - k]; }",
        "for (k in 0 .. 8) { b[i * 8 + k] = i; b[i * 8 + k] = a[i * 8 + k] + k; }",
        "for (k in 0 .. 8) { if (a[i * 8 + k] % 3 != 0) { b[i * 8 + k] = a[i * 8 + 2] + k; } }",
        "for (k in 0 .. 8) { b[i * 8 + k] = a[i * 8 + k]; if (k == a[0] % 8) { break; } }",
        "let sum = 0; for (k in 0 .. 16) { sum = sum * 3 + a[i * 3 + k]; } b[i] = sum;",
        "let sum = 0; let row = a[i] % 60 * 8; for (k in 0 .. 8) { sum = sum * 3 + a[row + k]; }\n"
        "  b[i] = sum;",
        "w[l] = a[i]; barrier; let sum = w[31 - l];\n"
        "  for (k in 0 .. 24) { b[i * 24 + k] = sum; sum = sum + a[i * 24 + k]; }"};
    char text[512];
    for (size_t k = 0; k < sizeof walks / sizeof *walks; k++) {
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
                       "  workgroup w : u32[32]; let i = global_id.x; let l = local_id.x;\n  %s }",
                       walks[k]);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
            check(text, sizes[i], sizes[i] / 256 + 1, 1, 1);
        }
    }
}

/* Where pieces are short, one behind the other, lanes run without asking, on some processors in
 * gangs. */
TEST(short_pieces_follow_each_other) {
    need_llvm();
    static const uint32_t sizes[] = {1, 9, 131, 514, 1500}, aparts[] = {1, 2, 3, 8, 15, 33};
    char text[512];
    for (size_t k = 0; k < sizeof aparts / sizeof *aparts; k++) {
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
                       "  let apart = a[0] - a[0] + %u; let i = global_id.x;\n"
                       "  if (i < len(a) / 2 + 3) { let low = i / apart * apart * 2 + i %% apart;\n"
                       "    let x = a[low]; let y = a[low + apart]; b[low + apart] = i;\n"
                       "    if ((x > y) == ((low & 4) == 0)) { b[low] = y; b[low + apart] = x; }\n"
                       "    else { if (x %% 3 == 0) { exit; } b[low] = b[low] + x + 1; } } }",
                       aparts[k]);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
            check(text, sizes[i], sizes[i] / 32 + 2, 1, 1);
        }
    }
}

/* By products: of large and small numbers, by all kinds of divisors. */
TEST(divisors_that_lanes_have_in_common) {
    need_llvm();
    static const uint32_t divisors[] = {0,     1,     2,         3,          7,         641,
                                        65535, 65537, 715827883, 2147483659, 4294967295};
    char text[512];
    for (size_t k = 0; k < sizeof divisors / sizeof *divisors && !test_failed(); k++) {
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
                       "  let n = a[0] - a[0] + %u; let i = global_id.x; let k = i * 2654435761;\n"
                       "  let m = 4294967295 - (a[i] & 7); let near = m / max(n, 1) * n;\n"
                       "  if (i < len(a)) { b[i] = k / n + 7 * (k %% n) + 13 * (m / n) + m %% n\n"
                       "    + 31 * (near / n) + (near - 1) / n + (near - 1) %% n; } }",
                       divisors[k]);
        check(text, 517, 18, 1, 1);
    }
}

TEST(rows_are_cut_where_their_lanes_part) {
    need_llvm();
    static const uint32_t sizes[] = {1, 2, 37, 64, 130, 513, 1500};
    for (size_t k = 0; k < sizeof cut_programs / sizeof *cut_programs; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
            const bool plane = k == 0, single = k == 8;
            check(cut_programs[k], sizes[i],
                  plane    ? 3
                  : single ? sizes[i]
                           : sizes[i] / 32 + 2,
                  plane ? sizes[i] / 74 + 1 : 1, 1);
        }
    }
}

/* Values are put together by gangs, and by ranges where nothing else touches the buffer. */
TEST(atomics_that_nobody_asks_back) {
    need_llvm();
    static const char *const ops[] = {"add", "sub", "min", "max", "and", "or", "xor"};
    static const char *const types[] = {"u32", "i32", "u64", "i64"};
    for (uint32_t i = 0; i < 28 && !test_failed(); i++) {
        const char *op = ops[i % 7], *type = types[i / 7];
        char text[600];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : %s[9]; out c : %s[9];\n"
                       "  let i = global_id.x; let v = %s(a[i]) * %s(a[i] - 500) + %s(i);\n"
                       "  if (i < len(a)) { atomic_%s(b[2], v); if (a[i] %% 3 == 1) {\n"
                       "    atomic_%s(b[2], v + %s(7)); atomic_%s(b[7], v); atomic_%s(b[9], v); }\n"
                       "    if (a[i] > 400) { atomic_%s(c[global_id.y + 1], v); } }\n"
                       "  atomic_%s(c[5], v, relaxed); }",
                       type, type, type, type, type, op, op, type, op, op, op, op);
        check(text, 100, 4, 2, 1);
    }
    check("program p workgroup(1) { in a : u32[]; out b : u32[4];\n"
          "  for (k in 0 .. 5) { atomic_add(b[0], a[k]); atomic_xor(b[1], b[0] + k);\n"
          "    b[2] = b[0]; atomic_max(b[3], 7); atomic_min(b[3], k); } }",
          9, 1, 1, 1);
}

/* Eight trips at once of lanes that walk along rows, far beyond the end, and with the last row just
 * inside. */
TEST(lanes_that_walk_along_rows) {
    need_llvm();
    static const uint32_t sizes[] = {33, 640, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(16) { in a : u32[]; out b : u32[48]; let i = global_id.x;\n"
              "  let s = 0; let m = len(a) / 40; let n = len(a) % 30 + 1;\n"
              "  for (k in 0 .. m) { s = s * 3 + a[i * m + k] + a[(i ^ 5) * n + k]; }\n"
              "  for (k in 0 .. n) { let v = a[i * 100000 + k]; if (s % 2 == 0) {\n"
              "    s = s + v + a[i * 20 + k]; } else { s = s * 5 + 1; } } b[i] = s; }",
              sizes[i], 3, 1, 1);
        check("program p workgroup(16) { in a : u32[]; out b : u32[96]; let i = global_id.x;\n"
              "  let s = 0; let n = len(a) / 2; for (k in 0 .. 9) {\n"
              "    s = s * 3 + a[min(max(i + k, 20) - 20, n)] + a[(i + k + 7) % n];\n"
              "    s = s + a[select(i + k < 40, i + k, 3)]; } b[i] = s; }",
              sizes[i], 6, 1, 1);
    }
}

/* Small integers are computed in 16 bits as long as they fit. */
TEST(bytes_in_lanes_of_16_bits) {
    need_llvm();
    static const char *const values[] = {
        "a[i] + a[i + 4] + a[i + 1]",
        "a[i] * 200 + a[i] * 150",
        "a[i] * a[i + 4] + 511",
        "select(a[i] > 99 && a[i + 4] != 7, a[i] / 7 % 9, a[i + 4] >> 3)",
        "u32(i32(a[i]) - i32(a[i + 4])) + (a[i] ^ 170)",
        "max(a[i], 3) * min(a[i + 4] | 9, 260)"};
    static const char *const types[] = {"u8", "u16"};
    for (uint32_t k = 0; k < 12 && !test_failed(); k++) {
        char text[500];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : %s[]; out b : u32[128]; out c : u8[128];\n"
                       "  out d : u16[128]; let i = global_id.x; let v = %s;\n"
                       "  b[i] = v; c[i] = v + 1; d[i] = v & 1023; if (v > 40) { c[i] = v; } }",
                       types[k % 2], values[k / 2]);
        check(text, 64, 4, 1, 1);
    }
}

/* Lanes that have left a loop keep what will be looked at again, and only that. */
/* Loops of single lanes whose trips run side by side: none, fewer than a vector, more, beyond the
 * end of what they load, and to where the next number would wrap. */
TEST(trips_of_one_lane_at_once) {
    need_llvm();
    static const uint32_t sizes[] = {1, 5, 17, 70, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check(
            "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; out c : i64[len(a)];\n"
            "  out d : i32[len(a)]; let i = global_id.x; if (i < len(a)) {\n"
            "    let s = 7; let x = 1; let m = 0xffffffff; let most = i32(a[i]) - 500;\n"
            "    let wide = i64(3); let least = 5;\n"
            "    for (k in a[i] % 40 .. a[i] % 40 + a[i + 1] % 50) {\n"
            "      let near = abs_diff(a[k], a[i]); s = s + u32(near * near <= 9000);\n"
            "      x = (a[k + 1] << 3) ^ x; m = m & (a[k] | a[i] | 0xffff0000);\n"
            "      most = max(most, i32(a[k]) * -3 + i32(k)); wide = wide + i64(a[k] / (k & 3));\n"
            "      least = min(least, a[k] * k + 4); }\n"
            "    b[i] = s + x * 3 + m * 5 + least * 7; d[i] = most; c[i] = wide; } }",
            sizes[i], sizes[i] / 32 + 1, 1, 1);
        check(
            "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; \n"
            "  let i = global_id.x; let s = 0; let o = 0; let low = i32(9);\n"
            "  if (i < len(a)) { for (k in 0xffffffff - a[i] % 30 .. 0xffffffff - a[i + 1] % 3) {\n"
            "      s = s + a[k + 20] + k; o = a[k - 0xffffff00] | o;\n"
            "      low = min(low, i32(a[i]) - i32(k & 7)); }\n"
            "    b[i] = s + o * 3 + u32(low); } }",
            sizes[i], sizes[i] / 32 + 1, 1, 1);
        /* What is added up is asked for meanwhile. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; let i = global_id.x;\n"
              "  if (i < len(a)) { let s = 0; let t = 0; for (k in i .. i + a[i] % 40) {\n"
              "      s = s + a[k]; t = t ^ (s * k); } b[i] = s + t * 3; } }",
              sizes[i], sizes[i] / 32 + 1, 1, 1);
    }
}

/* Short loops with clamps, choices and remainders of lane and trip, by other steps, with branches
 * and names that come again; one that no trip is made of; one that is too long. */
TEST(clamps_that_depend_on_the_trip) {
    need_llvm();
    static const uint32_t sizes[] = {1, 3, 20, 33, 130};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(32) { const most = 4; in a : u32[]; out b : u32[len(a)];\n"
              "  let x = global_id.x; let n = len(a); let s = 0; if (x < n) {\n"
              "    for (k in 0 .. 2 * most + 1) { s = s * 3 + a[min(max(x + k, 4) - 4, n - 1)]; }\n"
              "    for (k in 1 .. 8 step 3) { let at = (x + n + k) % n; let v = a[at] + k;\n"
              "      if (v % 3 == k % 2) { s = s ^ v; } else { let u = v * 5; s = s + u; } }\n"
              "    for (k in 5 .. 5) { s = s + a[min(x + k, n)]; }\n"
              "    for (k in 0 .. 40) { s = s + a[min(x + k, n - 1)] * k; }\n"
              "    for (k in 0 .. 3) { let left = select(x < k, n - 1, x - k);\n"
              "      for (l in 0 .. 2) { s = s * 5 + a[left] + a[max(x + l, k) - k]; } } b[x] = s; "
              "} }",
              sizes[i], sizes[i] / 32 + 1, 1, 1);
    }
}

/* Groups go through a loop trip by trip: none, one, several; steps of 0, ends that are nearly 2^32;
 * each trip sees what the one before stored. And loops that look like it, but keep something. */
TEST(loops_over_all_groups_trip_by_trip) {
    need_llvm();
    static const uint32_t sizes[] = {1, 16, 100, 700};
    static const char *const loops[] = {
        "for (i in group_id.x * 2 .. n step num_groups.x * 2) {",
        "for (i in group_id.x * 2 + from .. from + n step num_groups.x * 2 * (n / n)) {",
        "for (i in group_id.x * 2 .. n step num_groups.x * (n & 0)) {",
        "for (i in group_id.x * 3 + 0xfffffe00 .. 0xffffffff step num_groups.x * 100 + n) {",
        "for (i in group_id.x + lane / 32 .. n step num_groups.x * 2) {",
        ("let keeps = 1; for (i in group_id.x .. n step num_groups.x) { keeps = keeps + 1;"
         " if (lane == 0) { atomic_add(c[1], keeps); }"),
        "for (i in group_id.x .. n step num_groups.x) { if (i > 40) { break; }"};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (size_t i = 0; i < sizeof loops / sizeof *loops && !test_failed(); i++) {
            char text[1024];
            (void)snprintf(
                text, sizeof text,
                "program p workgroup(64) { in a : u32[]; out b : u32[len(a) * 2];\n"
                "  out c : u32[4]; let n = len(a); let lane = local_id.x;\n"
                "  let from = group_id.x; %s\n"
                "    let r = i + lane / 32; let sum = 0;\n"
                "    if (r < n) { for (e in r + subgroup_local_id .. r + a[r] %% 90 step 32) "
                "{ sum = sum + a[e] * 3; } }\n"
                "    let all = subgroup_add(sum);\n"
                "    if (subgroup_local_id == 0) { let at = i * 2 + lane / 32;\n"
                "      b[at] = all + b[at - num_groups.x * 4];\n"
                "      atomic_add(c[0], i + 1); } } }",
                loops[i]);
            check(text, sizes[k], 5, 1, 1);
        }
    }
}

TEST(loops_that_lanes_leave_apart) {
    need_llvm();
    static const char *const bodies[] = {
        "while (k < 50 && t % 31 != 7) { t = t * 3 + v; v = v + 1; k = k + 1; } s = k;",
        "while (k < 50 && t % 31 != 7) { t = t * 3 + v; v = v + 1; k = k + 1; } s = k + t * 3;",
        "for (j in 0 .. 3) { while (k < 50 && t % 31 != 7) { t = t * 3 + v; v = v + 1; k = k + 1; }"
        " s = s * 5 + k; k = 0; }",
        "for (j in 0 .. 3) { let u = t + j; while (k < 50 && u % 31 != 7) { u = u * 3 + k;"
        " k = k + 1; } s = s * 5 + k; k = k / 2; }",
        "while (k < 50 && t % 31 != 7) { k = k + 1; if (t % 5 == 2) { t = t + 9; continue; }"
        " t = t * 3 + v; v = v + 2; } s = k;",
        "while (k < 50) { t = t * 3 + v; if (t % 31 == 7) { break; } v = v + 1; k = k + 1; }"
        " s = k;",
        "if (i % 3 == 1) { while (k < 50 && t % 31 != 7) { t = t * 3 + v; k = k + 1; } }"
        " s = k + t;"};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies && !test_failed(); b++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
                       "  let i = global_id.x; if (i < len(a)) { let t = a[i]; let v = i;\n"
                       "  let k = 0; let s = 0;\n  %s\n  b[i] = s; } }",
                       bodies[b]);
        check(text, 100, 4, 1, 1);
    }
}

/* What varies loads from memory that is near: the group's, the lane's; elsewhere only stores. */
TEST(loops_that_vary_in_memory_that_is_near) {
    need_llvm();
    static const uint32_t sizes[] = {5, 64, 150};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 32 + 1;
        /* Bisections, then trips that store in buffers, in turn from one of two places. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a) * 4];\n"
              "  workgroup t : u32[64]; t[local_id.x] = a[global_id.x] % 40;\n"
              "  t[local_id.x + 32] = local_id.x * 3; barrier;\n"
              "  let low = 0; let high = 31; while (low < high) { let mid = (low + high) / 2;\n"
              "    if (t[mid + 32] < t[local_id.x]) { low = mid + 1; } else { high = mid; } }\n"
              "  let j = 31; for (k in low .. min(low + 4, 33)) {\n"
              "    if (t[k % 32] <= t[j + 32]) { b[global_id.x * 4 + k - low] = t[k]; }\n"
              "    else { b[global_id.x * 4 + k - low] = t[j + 32]; j = j - 1; } } }",
              n, groups, 1, 1);
        /* The best few, in order, in arrays of lanes. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a) * 4];\n"
              "  private best : u32[4]; workgroup t : u32[32]; t[local_id.x] = a[global_id.x];\n"
              "  barrier; for (p in 0 .. 32) { let far = t[p] ^ (t[local_id.x] * 5);\n"
              "    if (far > best[3]) { let k = 3; while (k > 0 && best[k - 1] < far) {\n"
              "      best[k] = best[k - 1]; k = k - 1; } best[k] = far; } }\n"
              "  for (k in 0 .. 4) { b[global_id.x * 4 + k] = best[k]; } }",
              n, groups, 1, 1);
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; private s : u32[8];\n"
              "  let i = global_id.x; if (i < len(a)) { let top = 1; s[0] = a[i]; let sum = 0;\n"
              "    while (top > 0) { top = top - 1; let v = s[top]; sum = sum + v; if (v > 90) {\n"
              "      s[top] = v / 2; s[top + 1] = v / 3; top = top + 2; } b[i] = sum; } } }",
              n, groups, 1, 1);
    }
}

/* Groups whose rows are shorter than vectors, or no multiple of them. */
TEST(gangs_lie_in_rows_of_their_group) {
    need_llvm();
    static const char *const shapes[] = {"8, 8", "4, 3, 2", "24, 2", "20, 4", "12, 1, 2",
                                         "2, 8", "1, 16",   "6, 4",  "40, 2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !test_failed(); i++) {
        char text[700];
        (void)snprintf(
            text, sizeof text,
            "program p workgroup(%s) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[80];\n"
            "  let w = group_size.x; let x = local_id.x; let y = local_id.z * group_size.y +"
            " local_id.y;\n"
            "  let at = y * w + x; let h = group_size.y * group_size.z;\n"
            "  let first = (group_id.y * num_groups.x + group_id.x) * w * h; t[at] = a[first + at];"
            " barrier;\n"
            "  let s = 0; for (k in 0 .. h) { s = s * 3 + t[k * w + x]; }\n"
            "  for (k in 0 .. w) { s = s * 5 + t[y * w + k] * k; }\n"
            "  b[first + at] = s + (x > 2 ? t[at - 1] : y); }",
            shapes[i]);
        check(text, 300, 3, 2, 1);
    }
}

TEST(gangs_of_several_vectors) {
    need_llvm();
    static const uint32_t sizes[] = {1, 8, 30, 32, 33, 71, 513};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = n / 32 + 1;
        /* Lanes leave a loop that touches no memory when they like. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; if (i >= len(a)) { exit; }\n"
              "  let x = a[i]; let k = 0; let odd = 0;\n"
              "  while (x > 1 && k < 300) { k = k + 1; if (x % 7 == 3) { x = x - 1; continue; }\n"
              "    if (x % 2 == 1) { x = 3 * x + 1; odd = odd + 1; } else { x = x / 2; }\n"
              "    if (odd > 40) { break; } }\n"
              "  b[i] = k * 1000 + odd + x; }",
              n, groups, 1, 1);
        /* One that all lanes of a piece leave together, and loads side by side. */
        check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)];\n"
              "  let w = a[0] % 40 + 1; let i = global_id.x; let v = i / w; let c = i % w;\n"
              "  if (i < len(a)) { let s = 0;\n"
              "    for (e in v .. v + a[v] % 5) { s = s + a[e * w + c]; } b[i] = s; } }",
              n, groups, 1, 1);
        /* Small elements. */
        check("program p workgroup(32) { in a : u32[]; out b : u8[len(a)]; out c : i16[len(a)];\n"
              "  scratch d : u8[len(a)]; let i = global_id.x;\n"
              "  if (i < len(a)) { d[i] = a[i]; } grid_sync;\n"
              "  if (i < len(a)) { b[i] = d[i - 1] + d[i] * 2 + d[i + 1];\n"
              "    c[i] = select(d[i] > d[i + 1], i32(d[i]) - 300, i32(d[i]) * 300); } }",
              n, groups, 1, 1);
    }
}

/* Loops in which little lives have gangs of four vectors: 64 lanes with the widest of them, if they
 * do no atomics. At the end of a buffer and in traps such a gang is taken apart by its bits. */
TEST(gangs_of_more_lanes_than_a_word_has_bits) {
    need_llvm();
    static const uint32_t sizes[] = {255, 256, 300, 641, 1100, 2049};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        const uint32_t n = sizes[i], groups = (n + 63) / 64;
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; let sum = i;\n"
              "  for (e in 0 .. 5) { sum = sum * 3 + a[a[e] + i]; }\n"
              "  b[a[7] + i] = sum; }",
              n, groups, 1, 1);
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; out c : u32[11];\n"
              "  let i = global_id.x; let sum = 0;\n"
              "  for (e in 0 .. 5) { sum = sum + (a[e] ^ i); }\n"
              "  let old = atomic_xor(b[(i * 37) % len(a)], sum);\n"
              "  if ((sum & 3) != 0) { let most = atomic_max(c[sum % 11], old + sum); } }",
              n, groups, 1, 1);
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)];\n"
              "  let i = global_id.x; let sum = i;\n"
              "  for (e in 0 .. 5) { if ((a[e] & 1) == (i & 1)) { sum = sum + a[e]; } }\n"
              "  if (sum % 5 != 0) { b[a[3] + i] = sum; } }",
              n, groups, 1, 1);
        check("program p workgroup(64) { in a : u32[]; out b : u16[len(a)]; out c : u32[len(a)];\n"
              "  let i = global_id.x; let sum = i; let at = (i * 37) % 4099;\n"
              "  for (e in 0 .. 5) { sum = sum + a[e]; }\n"
              "  b[at] = sum; if (sum % 3 != 0) { c[at] = sum; b[at + 5000] = 1; } }",
              n, groups, 1, 1);
    }
}

TEST(rows_of_planes_and_spaces) {
    need_llvm();
    const char *plane = "program p workgroup(8, 3, 2) { in a : u32[]; out b : u32[len(a)];\n"
                        "  let x = global_id.x; let y = global_id.y; let z = global_id.z;\n"
                        "  if (x < 20 && y > 0 && y < 7 && z < 3) {\n"
                        "    b[(z * 7 + y) * 20 + x] = a[(y * 5 + z) * 20 + x] + z; } }";
    check(plane, 420, 3, 3, 2);
    check(plane, 420, 1, 1, 1);
    check("program p workgroup(5, 4) { in a : u32[]; out b : u32[len(a)];\n"
          "  let i = global_id.y * global_size.x + global_id.x;\n"
          "  b[i] = a[i] * 2 + num_groups.x; }",
          333, 3, 7, 1);
}

TEST(loops_and_branches_within_a_gang) {
    need_llvm();
    check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)];\n"
          "  let i = global_id.x; let s = 0;\n"
          "  for (k in 0 .. 10) { if (a[i] % 3 == k % 3) { continue; } s = s + k * a[i + k]; }\n"
          "  if (a[i] % 2 == 0) { s = s + 1; } else { s = s * 3; }\n"
          "  for (k in 0 .. a[i] % 7) { if (k == 5) { break; } s = s + k; } b[i] = s; }",
          200, 4, 1, 1);
    check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)]; private q : u32[4];\n"
          "  let i = global_id.x; for (k in 0 .. 4) { q[(k + i) % 4] = a[i + k]; }\n"
          "  while (q[0] > 3) { q[0] = q[0] / 2; q[1] = q[1] + 1; } b[i] = q[0] + q[1] * q[3]; }",
          100, 7, 1, 1);
}

TEST(trees_and_tiles_in_workgroup_memory) {
    need_llvm();
    static const uint32_t sizes[] = {1, 64, 100, 640};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(64) { in a : u32[]; out b : u32[64]; workgroup t : u32[64];\n"
              "  let s = 0; for (i in global_id.x .. len(a) step global_size.x) { s = s + a[i]; }\n"
              "  t[local_id.x] = s; barrier; let k = 32;\n"
              "  while (k > 0) { if (local_id.x < k) {\n"
              "      t[local_id.x] = t[local_id.x] + t[local_id.x + k]; } barrier; k = k / 2; }\n"
              "  if (local_id.x == 0) { b[group_id.x] = t[0]; } }",
              sizes[i], 3, 1, 1);
    }
    check("program p workgroup(12) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[12];\n"
          "  t[local_id.x] = a[global_id.x]; barrier;\n"
          "  b[global_id.x] = t[11 - local_id.x] + t[(local_id.x + 1) % 12]; }",
          120, 10, 1, 1);
}

TEST(gangs_at_the_end_of_memory_that_others_follow) {
    need_llvm();
    check("program p workgroup(16) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[16];\n"
          "  workgroup u : u32[16]; t[local_id.x] = a[global_id.x]; u[local_id.x] = 7;\n"
          "  barrier; let v = t[local_id.x + 4] + 3 * t[local_id.x - 2];\n"
          "  barrier; t[local_id.x + 9] = 5; barrier; b[global_id.x] = v + u[local_id.x]; }",
          64, 4, 1, 1);
}

TEST(lanes_of_a_gang_that_do_not_store) {
    need_llvm();
    check("program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[32];\n"
          "  workgroup w : f32[32]; t[local_id.x] = a[global_id.x]; w[local_id.x] = 2.5; barrier;\n"
          "  if (a[global_id.x] % 3 == 0) { t[local_id.x] = 7; }\n"
          "  if (t[local_id.x] % 2 == 0) { w[local_id.x - 3] = f32(a[global_id.x]); }\n"
          "  barrier; b[global_id.x] = t[31 - local_id.x] + u32(w[local_id.x]) * 1000; }",
          160, 5, 1, 1);
}

TEST(counters_in_workgroup_memory) {
    need_llvm();
    check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; workgroup c : u32[8];\n"
          "  workgroup most : u32[1]; let v = a[global_id.x];\n"
          "  atomic_add(c[v % 9], v, relaxed); atomic_max(most[0], v, relaxed);\n"
          "  if (v % 2 == 0) { atomic_add(c[7 - v % 8], 100000, relaxed); } barrier;\n"
          "  let old = atomic_add(c[local_id.x], 1, relaxed);\n"
          "  b[global_id.x] = old + most[0]; }",
          200, 4, 1, 1);
}

TEST(lanes_at_a_distance) {
    need_llvm();
    static const uint32_t sizes[] = {1, 257, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check(
            "program p workgroup(32) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[32];\n"
            "  out c : u32[192]; let first = group_id.x * 256 + local_id.x * 8; let s = 0;\n"
            "  for (k in 0 .. 8) { s = s + a[first + k] * (k + 1); }\n"
            "  t[local_id.x] = s; barrier; s = t[31 - local_id.x] + a[90 - 3 * local_id.x];\n"
            "  for (k in 0 .. 8) { b[first + k] = s; s = s + a[first + k]; }\n"
            "  c[group_id.x * 64 + 63 - 2 * local_id.x] = s; }",
            sizes[i], 3, 1, 1);
    }
}

TEST(accesses_that_are_proven_for_lanes_that_make_them) {
    need_llvm();
    check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[48];\n"
          "  workgroup u : f32[48]; let v = a[global_id.x] * 5000011; let s = 1;\n"
          "  t[local_id.x % 48] = local_id.x % 48 * 3; u[local_id.x % 48] = 1.5; barrier;\n"
          "  if (v < 48) { s = t[v] + u32(u[v] * 2.0); } else { if (a[global_id.x] % 2 == 0) {\n"
          "    if (local_id.x < 48) { s = t[local_id.x] + u32(u[47 - local_id.x]); } } }\n"
          "  if (s > 20) { s = s * 7; } else { s = s + 100; v = 3; }\n"
          "  b[global_id.x] = s + v; }",
          256, 4, 1, 1);
}

TEST(gangs_that_add_up_side_by_side) {
    need_llvm();
    check(
        "program p workgroup(16, 16) { in a : u32[]; out b : u32[len(a)]; workgroup s : u32[256];\n"
        "  workgroup t : u32[256]; let x = local_id.x; let y = local_id.y; let sum = 0;\n"
        "  for (first in 0 .. 48 step 16) {\n"
        "    s[y * 16 + x] = a[global_id.y * 48 + first + x];\n"
        "    t[y * 16 + x] = a[(first + y) * 48 + global_id.x]; barrier;\n"
        "    for (k in 0 .. 16) { sum = sum + s[y * 16 + k] * t[k * 16 + x]; } barrier; }\n"
        "  b[global_id.y * 48 + global_id.x] = sum; }",
        2304, 3, 3, 1);
    check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; workgroup t : u32[64];\n"
          "  t[local_id.x] = a[global_id.x]; barrier; let s = 0; let u = 1; let k = 0;\n"
          "  while (k < t[3] % 50 + 1) { if (t[k] > 500) { s = s + t[(local_id.x + k) % 64]; }\n"
          "    else { if (local_id.x > k) { s = s * 3; } } u = u + k;\n"
          "    t[local_id.x] = t[local_id.x] + 0 * k; k = k + 1; }\n"
          "  b[global_id.x] = s + u; }",
          256, 4, 1, 1);
}

TEST(loops_over_the_lanes_of_a_group) {
    need_llvm();
    static const uint32_t sizes[] = {1, 65, 640};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(64) { in a : u32[]; out b : u32[192]; workgroup t : u32[64];\n"
              "  let s = 0; let last = 0;\n"
              "  for (i in local_id.x .. len(a) step 64) { s = s + a[i]; last = i; }\n"
              "  for (i in group_id.x * 7 + local_id.x .. len(a) step 3 + a[0] % 90) {\n"
              "    if (a[i] % 2 == 0) { s = s * 5 + i; } else { s = s + 1; } }\n"
              "  t[local_id.x] = s; barrier;\n"
              "  b[global_id.x] = t[63 - local_id.x] + last; }",
              sizes[i], 3, 1, 1);
        check("program p workgroup(64) { in a : u32[]; out b : u32[192]; workgroup c : u32[64];\n"
              "  for (i in global_id.x .. len(a) step global_size.x) {\n"
              "    atomic_add(c[a[i] % 65], a[i], relaxed); }\n"
              "  barrier; b[global_id.x] = c[local_id.x]; }",
              sizes[i], 3, 1, 1);
        check("program p workgroup(64) { in a : u32[]; out b : u32[192]; workgroup t : u32[64];\n"
              "  let s = 0; let zero = a[0] / 1000;\n"
              "  for (i in 0xffffff00 + local_id.x .. 0xffffffe0 step 64) { s = s + i; }\n"
              "  for (i in 0xffffffb0 + local_id.x .. 0xfffffff0 step 1000) { s = s + i; }\n"
              "  for (i in local_id.x .. 100 step zero) { s = s + 7; }\n"
              "  t[local_id.x] = s; barrier; b[global_id.x] = t[local_id.x ^ 1]; }",
              sizes[i], 3, 1, 1);
    }
}

TEST(loops_that_pass_the_largest_number_end) {
    need_llvm();
    check("program p workgroup(8) { in a : u32[]; out b : u32[len(a)]; let s = 0;\n"
          "  for (i in 0xfffffff0 .. 0xffffffff step 7 + a[0] % 1) { s = s + 1; }\n"
          "  for (i in 0xfffffff0 + local_id.x .. 0xffffffff step 7) { s = s + 16; }\n"
          "  b[global_id.x] = s; }",
          32, 4, 1, 1);
}

TEST(subgroups_that_are_not_full) {
    need_llvm();
    check("program p workgroup(40) { in a : u32[]; out b : u32[len(a)]; let v = a[global_id.x];\n"
          "  let s = subgroup_add(v); let m = subgroup_max(v); let x = subgroup_xor(v);\n"
          "  if (v % 3 == 0) { exit; } let o = subgroup_or(v); let c = subgroup_ballot(v > 500);\n"
          "  let d = subgroup_shuffle(v, (local_id.x + 3) % 40);\n"
          "  b[global_id.x] = s + m * 3 + x * 5 + o * 7 + c + d; }",
          120, 3, 1, 1);
}

/* Gangs begin at multiples of their width, in groups that fill them and in others: what is the same
 * for all lanes of one, or goes on by one, by quotients, remainders, shifts and masks. */
TEST(gangs_that_begin_at_a_multiple_of_their_width) {
    need_llvm();
    static const char *const shapes[] = {"64", "96", "40", "32, 4", "48, 2"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !test_failed(); i++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "program p workgroup(%s) { in a : u32[]; out b : u32[8 * len(a)]; let l = local_id.x;\n"
            "  let i = group_id.x * 16 + l; let j = group_id.x * 24 + l + 32; let k = 2 * l;\n"
            "  let s = subgroup_add(a[l / 32] + a[i %% 32]); let at = 8 * (l + local_id.y * 128 +"
            " group_id.x * 512);\n"
            "  b[at] = s + a[l / 32 + 7] * 3; b[at + 1] = a[i >> 4] + a[(i >> 5) + 1] * 5;\n"
            "  b[at + 2] = a[l & 31] + a[i & 63] * 3 + a[l & ~31] * 5 + a[i & 0xffffffe0] * 7;\n"
            "  b[at + 3] = a[j / 32] + a[j %% 64] * 3; b[at + 4] = a[k / 64] + a[k & 127] * 3;\n"
            "  b[at + 5] = a[l / 33] + a[l %% 48] * 3 + a[(l + 1) / 32] * 5 + a[(l - 32) / 32] * "
            "7;\n"
            "  b[at + 6] = u32(i32(l) / 32 + i32(l) %% 32 + i32(l & 0) / 0);\n"
            "  b[at + 7] = a[subgroup_local_id] + a[subgroup_local_id / 32 + 3] * 3; }",
            shapes[i]);
        check(text, 1000, 3, 1, 1);
    }
}

/* Some lanes of a gang load and store anywhere, inside and outside. */
TEST(gathers_of_lanes_that_are_active) {
    need_llvm();
    static const uint32_t sizes[] = {1, 31, 500, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !test_failed(); i++) {
        check("program p workgroup(64) { in a : u32[]; out b : u32[len(a)]; out d : f64[len(a)];\n"
              "  out h : u16[len(a)]; let l = local_id.x; let s = 0u; let v = subgroup_max(a[l]);\n"
              "  for (e in a[group_id.x] + subgroup_local_id .. a[group_id.x] + v step 32) {\n"
              "    s = s * 3 + a[a[e] * 1000003] + a[a[e + 1]]; }\n"
              "  let to = group_id.x * 64 + (l ^ 21);\n"
              "  if (a[to] % 3 != 0) { b[to] = s + a[a[to] - 1]; d[a[to] * 4294967] = 2.0;\n"
              "    h[to] = s + a[a[to] * 7]; } }",
              sizes[i], 4, 1, 1);
    }
}

TEST(workers_read_what_decides_before_others_write) {
    need_llvm();
    check("program p workgroup(64) { in a : u32[]; out b : u32[2]; scratch c : u32[2];\n"
          "  let n = 0; let go = true; while (go) {\n"
          "    if (global_id.x == 0) { c[0] = n + 1; } atomic_add(c[1], a[0] % 1 + 1);\n"
          "    grid_sync; n = c[0]; go = n < 200 && c[1] < 10000000; grid_sync; }\n"
          "  if (global_id.x < 2) { b[global_id.x] = n + c[1]; } }",
          64, 40, 1, 1);
}

static void check_ending(const char *text, const vyre_dispatch_options *options, vyre_status status,
                         const char *message) {
    vyre_program *program = run_parse(text);
    for (uint32_t d = 0; d < DEVICES && !test_failed(); d++) {
        run_result r = run_program(devices[d], program, NULL, 0, options);
        CHECK_STATUS(r.status, status, &r.diag);
        CHECK_HAS(r.diag.message, message);
        run_finish(&r);
    }
    vyre_program_release(program);
}

TEST(the_lowest_lane_that_traps_is_told) {
    need_llvm();
    check_ending("program p workgroup(16, 2) grid(3, 2) { out o : u32[4];\n"
                 "  if (global_id.x > 20 && global_id.y == 3) { trap(\"far\", global_id.x); } }",
                 NULL, VYRE_TRAP, "lane 149 trapped: \"far\" at address 21");
    check_ending("program p workgroup(16) grid(4) { out o : u32[4]; workgroup t : u32[1];\n"
                 "  t[0] = 1; barrier; if (local_id.x + t[0] > 9 && group_id.x > 1) {\n"
                 "    trap(\"late\", 7); } grid_sync; o[0] = 1; }",
                 NULL, VYRE_TRAP, "lane 41 trapped: \"late\" at address 7");
    check_ending("program p workgroup(64) grid(12) { out o : u32[4]; let s = global_id.x;\n"
                 "  for (k in 0 .. 4) { s = s + o[k]; } if (s > 300) { trap(\"wide\", s + 1); } }",
                 NULL, VYRE_TRAP, "lane 301 trapped: \"wide\" at address 302");
}

TEST(a_loop_that_does_not_end_is_stopped) {
    need_llvm();
    const vyre_dispatch_options options = {.timeout_ns = 20000000};
    check_ending("program p workgroup(64) grid(8) { out o : u32[1]; let k = 1;\n"
                 "  while (k != 0) { k = k | 1; } o[0] = k; }",
                 &options, VYRE_TIMEOUT, "");
    check_ending("program p workgroup(2) grid(2) { out o : u32[1]; let k = 1;\n"
                 "  while (k != 0) { o[0] = k; grid_sync; k = o[0] | 1; grid_sync; } }",
                 &options, VYRE_TIMEOUT, "");
}

TEST(scans_by_doubling_steps_are_walks) {
    need_llvm();
    static const char *const scans[] = {
        "let left = l >= r ? w[l - r] : 0; barrier; w[l] = w[l] + left; barrier;",
        "let left = l >= r ? w[l - r] : v; barrier; w[l] = max(w[l], left); barrier;",
        "let left = l >= r ? w[l - r] : v; barrier; w[l] = min(w[l], left); barrier;",
        "let left = w[l - r]; barrier; if (l >= r) { w[l] = w[l] * left; } barrier;",
        "let left = w[l - r]; barrier; if (l >= r) { w[l] = w[l] & left; } barrier;",
        "let left = w[l - r]; barrier; w[l] = w[l] ^ left; barrier;"};
    static const uint32_t lanes[] = {2, 3, 16, 24, 64, 100};
    static const char *const types[] = {"u32", "i32", "u64", "i64"};
    for (size_t i = 0; i < (size_t)6 * 6 && !test_failed(); i++) {
        char text[1024];
        const uint32_t n = lanes[i % 6];
        const char *type = types[(i + i / 6) % 4];
        (void)snprintf(text, sizeof text,
                       "program p workgroup(%u) { in a : u32[]; out b : %s[len(a)];\n"
                       "  workgroup w : %s[%u]; let l = local_id.x;\n"
                       "  let v = %s(a[global_id.x] * 2654435761); w[l] = v; barrier; let r = 1;\n"
                       "  while (r < %u) { %s r = r * 2; }\n"
                       "  b[global_id.x] = w[l] + %s(r) + w[%u]; }",
                       n, type, type, n, type, n, scans[i / 6], type, n - 1);
        check(text, 2 * n + 1, 3, 1, 1);
    }
}

/* `max` of a literal and an f16, narrowed again, is no call of the C library. */
TEST(halves_need_nothing_from_outside) {
    need_llvm();
    static const uint16_t words[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7e00, 0x7c00, 0xfc00, 1};
    vyre_program *program = run_parse(
        "program p workgroup(1) grid(8) { in a : f16[]; out b : f16[len(a)]; out c : f16[len(a)];\n"
        "  let i = group_id.x; b[i] = max(0.0, a[i]); c[i] = min(1.0, a[i]); }");
    const vyre_input input = {words, sizeof words};
    static const char *const features[] = {"cpu", "cpu://features=sse2", "cpu://features=avx2"};
    run_result want = run_program("ref", program, &input, 1, NULL);
    REQUIRE_OK(want.status, &want.diag);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        run_result got = run_program(features[i], program, &input, 1, NULL);
        CHECK(got.status != VYRE_OK || run_same(&want, &got));
        CHECK(got.status == VYRE_OK || !strstr(got.diag.message, "does not define"));
        run_finish(&got);
    }
    run_finish(&want);
    vyre_program_release(program);
}
