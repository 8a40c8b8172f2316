/* The parser: loops as in C, by what they become and by what they compute. */
#include "harness/run.h"
#include "unit/parsing.h"

static const char head[] = "program t workgroup(1) grid(1) { out o : u32[16]; param n : u32 = 5;\n"
                           "fn f(x : u32) -> u32 { return x + 1; }\n";

#define SAME(body, plain) parse_same(__FILE__, __LINE__, head, body, plain)

TEST(loops_as_in_c_become_while) {
    SAME("for (let i = 0; i < n; i += 2) { o[i] = i; }",
         "{ let i = 0; while (i < n) { o[i] = i; i = i + 2; } }");
    SAME("let i = 9; for (i = 3; i > 0; i = i - 1) { }",
         "let i = 9; i = 3; while (i > 0) { i = i - 1; }");
    SAME("let i = 9; for (;;) { i -= 1; if (i == 3) { break; } }",
         "let i = 9; while (true) { i = i - 1; if (i == 3) { break; } }");
    SAME("for (o[0] = 1; o[0] < n; o[0] += f(1)) { o[1] = 2; }",
         "o[0] = 1; while (o[0] < n) { o[1] = 2; let _0 = o[0]; let _1 = f(1); o[0] = _0 + _1; }");
    SAME("for (let i = 0; i < n; i += 1) { if (i == 2) { continue; } o[i] = 1; }",
         "{ let i = 0; while (i < n) { if (i == 2) { i = i + 1; continue; } o[i] = 1; i = i + 1; } "
         "}");
    SAME("for (let i = 0; i < n; i += 1) { let k = i; break; }",
         "{ let i = 0; while (i < n) { let k = i; break; } }");
    SAME("for (let i = 0; i < n; atomic_add(o[0], 1)) { i += 1; }",
         "{ let i = 0; while (i < n) { i = i + 1; atomic_add(o[0], 1); } }");
    SAME("do { o[0] += 1; } while (o[0] < n);",
         "while (true) { o[0] = o[0] + 1; if (!(o[0] < n)) { break; } }");
    SAME("let k = 0; do { k += 1; if (k == 2) { continue; } o[k] = k; } while (f(k) < n);",
         "let k = 0; while (true) { k = k + 1;\n"
         "if (k == 2) { let _0 = f(k); if (!(_0 < n)) { break; } continue; }\n"
         "o[k] = k; let _1 = f(k); if (!(_1 < n)) { break; } }");
    /* `continue` belongs to the innermost loop. */
    SAME("for (let i = 0; i < n; i += 1) { for (k in 0 .. 3) { if (k == 1) { continue; } } }",
         "{ let i = 0; while (i < n) { for (k in 0 .. 3) { if (k == 1) { continue; } } i = i + 1; "
         "} }");
    SAME("do { for (let i = 0; i < 2; i += 1) { continue; } continue; } while (false);",
         "while (true) { { let i = 0; while (i < 2) { i = i + 1; continue; } }\n"
         "if (!false) { break; } continue; }");
}

TEST(they_compute_what_c_computes) {
    run_result r;
    vyre_program *p = run_parse(
        "program t workgroup(1) grid(1) { out o : u32[8]; let at = 0;\n"
        "for (let s = 128; s > 0; s = s / 4) { if (s == 8) { continue; } o[at] = s; at += 1; }\n"
        "let i = 0; do { i += 1; if (i == 3) { continue; } o[4] += i; } while (i < 5);\n"
        "for (; i > 2;) { i -= 1; o[5] += 1; }\n"
        "do { o[6] += 1; } while (false);\n"
        "for (let a = 0; a < 3; a += 1) { for (let b = 0; b < 3; b += 1) {\n"
        "  if (b == a) { continue; } if (b == 2 && a == 1) { break; } o[7] += 10 * a + b; } } }");
    for (int d = 0; d < 2; d++) {
        r = run_program(d ? "cpu" : "ref", p, NULL, 0, NULL);
        REQUIRE_OK(r.status, &r.diag);
        uint32_t want[8] = {128, 32, 2, 0, 12, 3, 1, 0};
        for (uint32_t a = 0; a < 3; a++) {
            for (uint32_t b = 0; b < 3; b++) {
                if (b == a) {
                    continue;
                }
                if (b == 2 && a == 1) {
                    break;
                }
                want[7] += 10 * a + b;
            }
        }
        for (uint32_t i = 0; i < 8; i++) {
            CHECK_EQ(run_word(&r, 0, i), want[i]);
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}

TEST(barriers_in_them) {
    vyre_program *p = run_parse("program t workgroup(2) elements(4) { inout a : u32[4];\n"
                                "for (let s = 2; s > 0; s = s / 2) { let x = a[global_id.x ^ s];\n"
                                "  grid_sync; a[global_id.x] += x; grid_sync; }\n"
                                "let i = 0; do { grid_sync; i += 1; } while (i < 3); }");
    const uint32_t a[] = {1, 2, 3, 4};
    static const char *const devices[] = {"ref", "ref-split", "ref-schedule", "cpu"};
    for (int d = 0; d < 4; d++) {
        run_result r = run_program(devices[d], p, &(vyre_input){a, sizeof a}, 1, NULL);
        REQUIRE_OK(r.status, &r.diag);
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_EQ(run_word(&r, 0, i), 10);
        }
        run_finish(&r);
    }
    vyre_program_release(p);
}

static void check_errors(int line, const char *body, const char *want) {
    vyre_text text = test_text();
    vyre_text_printf(&text, "%s%s\n}\n", head, body);
    parsed p;
    char got[128] = "";
    parse(&p, vyre_text_string(&text));
    for (uint32_t i = 0; i < p.list.count && strlen(got) < 100; i++) {
        snprintf(got + strlen(got), 24, "%s%s@%u:%u", i ? " " : "", p.items[i].code,
                 p.items[i].line, p.items[i].col);
    }
    if (strcmp(got, want) != 0) {
        test_fail(__FILE__, line, "%s\ngives %s\nwant  %s\n%s", body, got, want,
                  p.list.count ? p.items[0].message : "");
    }
    vyre_program_release(p.program);
    vyre_text_finish(&text);
}
#define WRONG(body, want) check_errors(__LINE__, body, want)

TEST(wrong_loops) {
    WRONG("for (let i = 0; i < n; i += q) { if (n == 1) { continue; } }", "V066@3:29");
    WRONG("for (let i = 0; i < n; break) { }", "V228@3:24");
    WRONG("for (break; n > 1;) { }", "V228@3:6");
    WRONG("for (let i = 0; i < n) { }", "V210@3:21");
    WRONG("for (let i = 0; i < n; i += 1, i += 1) { }", "V210@3:29");
    WRONG("for (let i = 0; i < n; i += 1) { } o[0] = i;", "V066@3:43");
    WRONG("do { let k = 1; } while (k > 1);", "V066@3:26");
    WRONG("do { } o[0] = 1;", "V210@3:8");
    WRONG("do o[0] = 1; while (true);", "V210@3:4");
    WRONG("do { } while (true) o[0] = 1;", "V210@3:19");
    WRONG("let do = 1;", "V212@3:5");
}
