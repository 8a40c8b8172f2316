/* All lanes of a group come to every barrier; subgroup operations through workgroup memory. Each
 * program does the same with and without; what is left is valid, and no lane ends early. */
#include "unit/lowering.h"
#include "unit/ref_text.h"

TEST(lanes_end_before_barriers) {
    static const char *const bodies[] = {
        /* in a branch; values before and behind */
        "if (local_id.x > 4) { exit; } let v = x[global_id.x]; t[local_id.x] = v; barrier;\n"
        "y[global_id.x] = v + t[local_id.x ^ 1];",
        /* everybody, and nobody */
        "t[local_id.x] = 3; exit; barrier; y[global_id.x] = t[0];",
        /* some in each trip, from an inner loop */
        "for (r in 0 .. 5) { t[local_id.x] = r; barrier; y[global_id.x] += t[local_id.x ^ 1];\n"
        "  barrier; for (k in 0 .. 3) { while (true) { if (x[r + k] % 11 == local_id.x) { exit; }\n"
        "  if (k > 1) { break; } k2 += 1; break; } } }",
        /* a condition that lanes which ended have not computed */
        "let n = 1; if (local_id.x == 2) { n = 99; exit; } while (n < 20) { n = n * 2;\n"
        "  t[local_id.x] += n; barrier; y[global_id.x] += t[local_id.x ^ 1]; barrier; }",
        /* arms, with barriers in both, in a loop that is left early */
        "if (local_id.x == 5) { exit; } let n = x[group_id.x] % 7;\n"
        "for (i in n .. n + 9 step n % 3 + 1) { if (i % 2 == 0) { t[local_id.x] = i; barrier;\n"
        "  y[global_id.x] += t[local_id.x ^ 2]; if (local_id.x == i) { exit; } barrier; } else {\n"
        "  t[local_id.x ^ 1] = n; barrier; if (i > 6) { break; } y[global_id.x] += t[1];\n"
        "  barrier; } if (local_id.x < 3) { continue; } y[global_id.x] += 100; }",
        /* names that are used again, results of atomics, a trip without a step */
        "if (local_id.x == 1) { exit; } { let v = 1; y[global_id.x] += v; } let v = x[3];\n"
        "let a = atomic_add(t[0], 2); barrier; y[global_id.x] += v + t[0] + min(a, 0);\n"
        "for (q in 0 .. 4 step x[0] * 0) { barrier; y[global_id.x] = 1; }",
        /* all end in one group, in the other some behind the last barrier, before a vote */
        "if (x[group_id.x] % 2 == 0) { exit; } t[local_id.x] = 1; barrier;\n"
        "if (local_id.x == 6) { exit; } if (x[9] % 2 == 0) { t[local_id.x] = 7; barrier;\n"
        "  if (t[local_id.x ^ 1] == 7) { exit; } } else { y[global_id.x] = 2; }\n"
        "y[global_id.x] += t[0];",
        /* ends behind the last barrier stay; a region and a block around barriers */
        "region \"r\" { if (local_id.x == 0) { exit; } { t[local_id.x] = 5; barrier;\n"
        "  y[global_id.x] = t[local_id.x ^ 1]; } } if (local_id.x == 3) { exit; }\n"
        "y[global_id.x] += 1;",
        /* a loop on memory, a break of all, lanes that end in the condition's loop */
        "let s = 0; while (true) { if (x[s + group_id.x] % 5 == local_id.x) { exit; } barrier;\n"
        "  if (s == 6) { break; } s = s + 1; t[local_id.x] = s; barrier;\n"
        "  y[global_id.x] += t[local_id.x ^ 1]; }\n y[global_id.x] += s;",
        /* bounds that are known, whoever has ended; nested */
        "if (x[global_id.x] % 3 == 0) { exit; } let m = len(x) / 64;\n"
        "for (a in 0 .. m) { for (b in a .. m) { t[local_id.x] = a; barrier;\n"
        "  y[global_id.x] += t[local_id.x ^ 1] + b; barrier; } if (rounds > a) { barrier; } }",
    };
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            char text[2000];
            snprintf(text, sizeof text,
                     "program p workgroup(8) elements(24) { in x : u32[256]; out y : u32[24];\n"
                     "  workgroup t : u32[8]; param rounds : u32 = 2; let k2 = 0;\n%s }",
                     bodies[i]);
            lowering_same(text, "ended_lanes", seed);
            lowering_same(text, "ended_lanes,subgroups", seed);
        }
    }
}

static const char *const values[] = {
    "x[global_id.x]",          "i32(x[global_id.x])",       "u64(x[global_id.x]) << 20",
    "i64(x[global_id.x]) - 5", "1.0 / f32(x[global_id.x])", "f64(x[global_id.x]) * 0.1d"};

TEST(every_subgroup_operation) {
    static const char *const sizes[] = {"1", "7", "32", "40", "5, 3, 2", "96"};
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        const char *name = vyre_subgroup_name((vyre_subgroup_op)op);
        for (uint32_t v = 0; v < sizeof values / sizeof *values; v++) {
            const vyre_operands operands = vyre_subgroup_operands((vyre_subgroup_op)op);
            const bool logic = operands == VYRE_OPERANDS_LOGIC;
            if ((operands == VYRE_OPERANDS_INTEGER && v > 3) || (logic && v > 1)) {
                continue;
            }
            const char *value = !logic   ? values[v]
                                : v == 0 ? "x[global_id.x] % 3 == 0"
                                         : "x[global_id.x] < 4000000000";
            char text[900], more[100] = "";
            if (vyre_subgroup_asks((vyre_subgroup_op)op)) {
                snprintf(more, sizeof more,
                         ", select(x[global_id.x] > 100, x[0], x[global_id.x] %% 40)");
            }
            for (uint32_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
                snprintf(text, sizeof text,
                         "program p workgroup(%s) grid(2) { in x : u32[256]; out y : f64[192];\n"
                         "  let at = (global_id.z * global_size.y + global_id.y) * global_size.x\n"
                         "    + global_id.x; if (x[at] %% 5 == 1 && at > 2) { exit; }\n"
                         "  let r = %s(%s%s); let s = %s(%s%s);\n"
                         "  y[at] = f64(r) + f64(s) * 3.0d + f64(subgroup_local_id); }",
                         sizes[n], name, value, more, name, value, more);
                lowering_same(text, n % 2 ? "subgroups" : "subgroups,ended_lanes", op * 7 + n);
            }
        }
    }
}

/* The validator asks for more than the machine: it knows no subgroups that part. */
static void same_on_the_machine(const char *text, const char *capabilities) {
    static uint32_t x[256], y[2][160];
    vyre_program *source = run_parse(text);
    vyre_program *lowered = lowering_of(source, capabilities);
    vyre_text shown = lowering_text(lowered);
    const char *texts[] = {text, vyre_text_string(&shown)};
    for (uint32_t order = 0; order < 8; order++) {
        memset(y, 0, sizeof y);
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t seed = order;
            for (uint32_t k = 0; k < 256; k++) {
                x[k] = (uint32_t)(test_random(&seed) >> 40);
            }
            vyre_ref_result result;
            vyre_diag diag = {0};
            vyre_ref_args args = {.grid = {2}, .order = (vyre_ref_order)(order % 4), .seed = order};
            const ref_buffer buffers[] = {BUFFER("x", x), BUFFER("y", y[i]), {0}};
            REQUIRE_OK(ref_run(texts[i], args, buffers, NULL, &result, &diag), &diag);
        }
        CHECK(memcmp(y[0], y[1], sizeof y[0]) == 0);
    }
    vyre_text_finish(&shown);
    vyre_program_release(lowered);
    vyre_program_release(source);
}

TEST(subgroups_part) {
    /* In loops and arms that only some subgroups come to, with barriers around. */
    same_on_the_machine(
        "program p workgroup(80) elements(160) { in x : u32[256]; out y : u32[160];\n"
        "  workgroup t : u32[80]; let g = local_id.x / 32;\n"
        "  for (i in 0 .. 3) { let n = 0;\n"
        "    while (n < x[g] % 5 + i) { n = n + 1; y[global_id.x] += subgroup_add(x[n]);\n"
        "      if (subgroup_min(x[global_id.x]) % 3 == g) { continue; }\n"
        "      if (g == 1) { y[global_id.x] += subgroup_ballot(x[global_id.x] % 2 == 0);\n"
        "        if (local_id.x == 40 + n) { exit; } } else { if (n > 3) { break; }\n"
        "        y[global_id.x] += subgroup_shuffle(n, 3); } }\n"
        "    t[local_id.x] = n; barrier; y[global_id.x] += t[local_id.x ^ 1]; barrier; } }",
        "subgroups");
    same_on_the_machine("program p workgroup(80) elements(160) { in x : u32[256];\n"
                        "  out y : u32[160]; if (local_id.x / 32 == x[group_id.x] % 3) {\n"
                        "    y[global_id.x] = subgroup_xor(x[global_id.x]); } }",
                        "subgroups");
    /* A result that all of a small group have decides whether they meet. */
    same_on_the_machine(
        "program p workgroup(16) elements(32) { in x : u32[256]; out y : u32[32];\n"
        "  workgroup t : u32[16]; let n = subgroup_max(x[global_id.x]) % 9;\n"
        "  while (n != 0) { t[local_id.x] = n; barrier; y[global_id.x] += t[0]; barrier;\n"
        "    n = n - 1; } if (subgroup_or(n) == 0) { barrier; } }",
        "subgroups");
}

TEST(what_small_groups_share_still_decides) {
    /* A barrier under a result that a group of at most 32 lanes shares: what is lowered is accepted
     * as what was written is, and runs. */
    static const char *const results[] = {
        "subgroup_add(x[global_id.x]) % 3 == 0",
        "subgroup_mul(x[global_id.x] | 1) % 8 > 3",
        "subgroup_min(x[global_id.x]) % 2 == 0",
        "subgroup_max(i32(x[global_id.x])) % 2i == 0i",
        "subgroup_and(x[global_id.x] | 5) == 5",
        "subgroup_or(u64(x[global_id.x])) != 0ul",
        "subgroup_xor(x[global_id.x]) % 2 == 1",
        "subgroup_any(x[global_id.x] % 9 == 0)",
        "subgroup_all(x[global_id.x] % 9 != 0)",
        "subgroup_ballot(x[global_id.x] % 2 == 0) % 4 == 1",
        "subgroup_shuffle(x[global_id.x], 3) % 2 == 0",
        "subgroup_shuffle(x[global_id.x], x[group_id.x] % 16) % 2 == 0",
        "subgroup_shuffle(f32(x[global_id.x]), group_id.x) > 8e6",
    };
    static const char *const bodies[] = {
        "if (yes) { t[local_id.x] = x[global_id.x]; barrier; y[global_id.x] = t[local_id.x ^ 1]; }",
        "let n = 0; while (yes && n < 4) { n += 1; t[local_id.x] = n; barrier;\n"
        "  y[global_id.x] += t[0]; barrier; }",
        "for (i in 0 .. select(yes, 2, 3)) { y[global_id.x] += group_add(x[global_id.x]); }",
        "if (yes) { barrier; } if (local_id.x == 3) { exit; }\n"
        "y[global_id.x] = subgroup_add(1) + select(yes, group_id.x, 3);",
    };
    for (uint32_t r = 0; r < sizeof results / sizeof *results; r++) {
        for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            char text[900];
            snprintf(text, sizeof text,
                     "program p workgroup(16) elements(48) { in x : u32[256]; out y : u32[48];\n"
                     "  workgroup t : u32[16]; if (x[global_id.x] %% 7 == 1) { exit; }\n"
                     "  let yes = %s;\n%s }",
                     results[r], bodies[i]);
            lowering_same(text, "subgroups", r);
            lowering_same(text, "subgroups,ended_lanes", r + 7);
        }
    }
}
