/* The parser: `return` before the end of a function, by what it becomes. */
#include "harness/run.h"
#include "unit/parsing.h"

static const char head[] = "program t workgroup(1) grid(1) { out o : u32[16];\n";

#define SAME(function, plain) parse_same(__FILE__, __LINE__, head, function, plain)

TEST(one_at_the_end_stays) {
    SAME("fn f(x : u32) -> u32 { let y = x; return y; }",
         "fn f(x : u32) -> u32 { let y = x; return y; }");
    SAME("fn f(x : u32) { o[x] = 1; return; }", "fn f(x : u32) { o[x] = 1; return; }");
}

TEST(what_follows_a_guard_is_its_other_arm) {
    SAME("fn f(x : u32) -> u32 { if (x == 1) { return 2; } o[x] = 3; return 4; }",
         "fn f(x : u32) -> u32 { let _0 = 0; if (x == 1) { _0 = 2; } else { o[x] = 3; _0 = 4; } "
         "return _0; }");
    SAME("fn f(x : u32) -> f32 { if (x == 1) { return 2; } else if (x == 2) { return 3; } return "
         "4; }",
         "fn f(x : u32) -> f32 { let _0 = 0.0; if (x == 1) { _0 = 2.0; } else if (x == 2) { _0 = "
         "3.0; } else { _0 = 4.0; } return _0; }");
    SAME("fn f(x : u32) -> u32 { if (x == 1) { return 2; } else { return 3; } }",
         "fn f(x : u32) -> u32 { let _0 = 0; if (x == 1) { _0 = 2; } else { { _0 = 3; } } return "
         "_0; }");
    SAME(
        "fn f(x : u32) { if (x == 1) { return; } else { let y = x; o[y] = 1; } let y = 2; o[y] = "
        "y; }",
        "fn f(x : u32) { if (x == 1) { } else { { let y = x; o[y] = 1; } let y = 2; o[y] = y; } }");
}

TEST(who_has_returned_is_asked_where_arms_do_not_tell) {
    SAME(
        "fn f(x : u32) { if (x == 1) { o[0] = 1; } else if (x == 2) { return; } o[1] = 1; }",
        "fn f(x : u32) { let _0 = false; if (x == 1) { o[0] = 1; } else if (x == 2) { _0 = true; } "
        "if (!_0) { o[1] = 1; } }");
    SAME("fn f(x : u32) { { if (x == 1) { return; } o[0] = 1; } o[1] = 1; }",
         "fn f(x : u32) { let _0 = false; { if (x == 1) { _0 = true; } else { o[0] = 1; } } if "
         "(!_0) { o[1] = 1; } }");
    SAME("fn f(x : u32) -> u32 { if (x > 1) { if (x == 2) { return 1; } exit; } return x; }",
         "fn f(x : u32) -> u32 { let _0 = 0; let _1 = false; if (x > 1) { if (x == 2) { _0 = 1; _1 "
         "= true; } else { exit; } } else { _0 = x; } return _0; }");
}

TEST(one_in_a_loop_leaves_it) {
    SAME(
        "fn f(x : u32) -> u32 { for (i in 0 .. x) { if (i == 3) { return i; } o[i] = 1; } return "
        "9; }",
        "fn f(x : u32) -> u32 { let _0 = 0; let _1 = false; for (i in 0 .. x) { if (i == 3) { _0 = "
        "i; _1 = true; break; } o[i] = 1; } if (!_1) { _0 = 9; } return _0; }");
    SAME("fn f(x : u32) { while (x > 1) { for (i in 0 .. x) { return; } o[0] = 1; } o[1] = 1; }",
         "fn f(x : u32) { let _0 = false; while (x > 1) { for (i in 0 .. x) { _0 = true; break; } "
         "if "
         "(_0) { break; } o[0] = 1; } if (!_0) { o[1] = 1; } }");
}

TEST(what_stands_behind_one_is_never_run) {
    SAME("fn f(x : u32) -> u32 { if (x == 1) { return 2; o[0] = 1; o[1] = 1; } return 4; }",
         "fn f(x : u32) -> u32 { let _0 = 0; let _1 = false; if (x == 1) { _0 = 2; _1 = true; if "
         "(false) { o[0] = "
         "1; o[1] = 1; } } else { _0 = 4; } return _0; }");
}

static void check_wrong(int line, const char *function, const char *want) {
    vyre_text text = test_text();
    vyre_text_printf(&text, "%s%s\n}\n", head, function);
    parsed p;
    char got[64] = "";
    parse(&p, vyre_text_string(&text));
    if (p.list.count > 0) {
        snprintf(got, sizeof got, "%s@%u:%u", p.items[0].code, p.items[0].line, p.items[0].col);
    }
    if (strcmp(got, want) != 0 || p.list.count > 1) {
        test_fail(__FILE__, line, "%s\ngives %s (%u)\nwant  %s", function, got, p.list.count, want);
    }
    vyre_program_release(p.program);
    vyre_text_finish(&text);
}
#define WRONG(function, want) check_wrong(__LINE__, function, want)

TEST(wrong_ones) {
    WRONG("fn f(x : u32) -> u32 { if (x == 1) { return 2; } }", "V260@2:1");
    WRONG("fn f(x : u32) -> u32 { if (x == 1) { return 2; } else { o[0] = 1; } }", "V260@2:1");
    WRONG("fn f(x : u32) -> u32 { for (i in 0 .. 2) { return 2; } }", "V260@2:1");
    WRONG("fn f(x : u32) -> u32 { if (x == 1) { return 2.5; } return 1; }", "V224@2:45");
    WRONG("fn f(x : f32) -> u32 { if (x == 1) { return x; } return 1; }", "V260@2:38");
    WRONG("fn f(x : u32) -> u32 { if (x == 1) { return; } return 1; }", "V260@2:38");
    WRONG("fn f(x : u32) { if (x == 1) { return 1; } o[0] = 1; }", "V260@2:31");
}
