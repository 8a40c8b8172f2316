/* The parser: what is said about wrong texts, and where. */
#include "unit/parsing.h"

/* Codes (and places) of all errors that a text gives, in order. */
static void check_errors(int line, const char *text, const char *want) {
    parsed p;
    char got[512] = "";
    parse(&p, text);
    for (uint32_t i = 0; i < p.list.count && strlen(got) < 440; i++) {
        const vyre_diag *d = &p.items[i];
        snprintf(got + strlen(got), 32, "%s%s@%u:%u", i ? " " : "", d->code, d->line, d->col);
        if (d->fix[0] == '\0' || d->message[0] == '\0' || d->end_col <= d->col ||
            strcmp(d->file, "t.vy") != 0) {
            test_fail(__FILE__, line, "incomplete diagnostic %s: %s", d->code, d->message);
        }
    }
    if (strcmp(got, want) != 0) {
        test_fail(__FILE__, line, "%s\ngives %s\nwant  %s\n%s", text, got, want,
                  p.list.count ? p.items[0].message : "");
    }
    vyre_program_release(p.program);
}

/* Errors of statements: line 1 is the first line of the body. */
static void check_body_errors(int line, const char *body, const char *want) {
    char text[4096];
    size_t length = 0;
    for (const char *c = parse_prelude; *c; c++) { /* in one line, so that the body begins line 2 */
        text[length++] = *c == '\n' ? ' ' : *c;
    }
    snprintf(text + length, sizeof text - length, "\n%s\n}", body);
    check_errors(line, text, want);
}
#define WRONG(body, want) check_body_errors(__LINE__, body, want)

TEST(unknown_names) {
    WRONG("let x = nn;", "V066@2:9");
    WRONG("b[0] = q[1];", "V065@2:8");
    WRONG("q[0] = 1;", "V064@2:1");
    WRONG("n[0] = 1;", "V064@2:1");
    WRONG("let x = len(q);", "V067@2:13");
    WRONG("let x = len(n);", "V067@2:13");
    WRONG("atomic_add(q[0], 1);", "V061@2:12");
    WRONG("q = 1;", "V120@2:1");
    WRONG("for (i in 0 .. 1) { i = 2; }", "V011@2:21");
    WRONG("b = 1;", "V119@2:1");
    WRONG("n = 1; K += 1; f = 2;", "V119@2:1 V119@2:8 V119@2:16");
    WRONG("let n = 1;", "V008@2:5");
    WRONG("let x = 1; { let x = 2; }", "V008@2:18");
    WRONG("for (a in 0 .. 1) { }", "V008@2:6");
    WRONG("{ let x = 1; } let y = x;", "V066@2:24");
    WRONG("let x = x;", "V066@2:9");
    WRONG("q(1);", "V016@2:1");
    WRONG("let x = n(1);", "V016@2:9");
    WRONG("let x = f(1, 2);", "V021@2:9");
    WRONG("let x = f();", "V021@2:9");
    WRONG("let x = min(1);", "V021@2:9");
    WRONG("let x = u32(1, 2);", "V021@2:9");
    WRONG("let x = atomic_cas(b[0], 1);", "V021@2:9");
    WRONG("all_reduce(q, sum);", "V238@2:12");
    WRONG("let x = b;", "V218@2:9");
    WRONG("let x = f;", "V218@2:9");
}

TEST(suggestions) {
    parsed p;
    parse(&p, "program p workgroup(1) { in count : u32[]; out o : u32[1]; let total = 1;"
              "o[0] = cuont[0]; o[0] = totl; o[0] = seelct(1, 1, 1); o[0] = zzzzz; }");
    REQUIRE(p.list.count == 4);
    CHECK_STR(p.items[0].fix, "did you mean `count`?");
    CHECK_STR(p.items[1].fix, "did you mean `total`?");
    CHECK_STR(p.items[2].fix, "did you mean `select`?");
    CHECK_STR(p.items[3].fix, "declare it first");
    CHECK_STR(p.items[0].message, "load from an unknown buffer `cuont`");
}

TEST(syntax_errors) {
    WRONG("let x = 1", "V210@2:9");
    WRONG("let = 1;", "V211@2:5");
    WRONG("let if = 1;", "V212@2:5");
    WRONG("let x : q = 1;", "V213@2:9");
    WRONG("let x : u8 = 1;", "V231@2:9");
    WRONG("atomic_add(b, 1);", "V214@2:12");
    WRONG("atomic_add(b[0] + 1, 1);", "V210@2:17");
    WRONG("let x = len;", "V215@2:9");
    WRONG("let x = len(1);", "V215@2:9");
    WRONG("let x = bitcast(1);", "V216@2:9");
    WRONG("let x = bitcast<u8>(1);", "V216@2:9");
    WRONG("let x = global_id;", "V217@2:9");
    WRONG("let x = global_id.w;", "V217@2:9");
    WRONG("let x = ;", "V219@2:9");
    WRONG("let x = 1 + ;", "V219@2:13");
    WRONG("let x = +1;", "V219@2:9");
    WRONG("let x = while;", "V219@2:9");
    WRONG("let x = f(1,);", "V219@2:13");
    WRONG("atomic_add(b[0], 1, strong);", "V220@2:21");
    WRONG("barrier(now);", "V220@2:9");
    WRONG("let x = n && f(1);", "V221@2:14");
    WRONG("let x = select(n, atomic_add(b[0], 1), 2);", "V221@2:19");
    WRONG("let x = 1 || !(f(1) == 2);", "V221@2:16");
    WRONG("let x = clamp(n, 1);", "V021@2:9");
    WRONG("let x = n ? f(1) : 2;", "V221@2:13");
    WRONG("let x = n ? 1 : f(2);", "V221@2:17");
    WRONG("let x = f(1) && (n || f(2) == 1);", "V221@2:23");
    WRONG("let x = n ? 1;", "V210@2:14");
    WRONG("let x = n ? : 1;", "V219@2:13");
    WRONG("let x = (n ? 1) : 1;", "V210@2:15");
    WRONG("let x = n : 1;", "V210@2:9");
    WRONG("let x : i32 = 1.5;", "V224@2:15");
    WRONG("let x = 4294967296;", "V224@2:9");
    WRONG("let x : i32 = 2147483648;", "V224@2:15");
    WRONG("let x = 1e39;", "V224@2:9");
    WRONG("let x = g(1, 1);", "V225@2:9");
    WRONG("b[0] = g(1, 1);", "V225@2:8");
    WRONG("region x { }", "V226@2:8");
    WRONG("region \"\\q\" { }", "V226@2:8");
    WRONG("trap(\"\\xff\", 1);", "V226@2:6");
    WRONG("{ in q : u32[]; }", "V227@2:3");
    WRONG("{ fn q() { } }", "V227@2:3");
    WRONG("; 1;", "V228@2:1 V228@2:3");
    WRONG("program;", "V228@2:1");
    WRONG("min(1, 2);", "V229@2:1");
    WRONG("subgroup_add(n);", "V229@2:1");
    WRONG("f(1) + 1;", "V229@2:1");
    WRONG("let x : f32 = n;", "V230@2:9");
    WRONG("let x : f32 = f(1);", "V230@2:9");
    WRONG("all_reduce(b, plus);", "V235@2:15");
    WRONG("return 1;", "V236@2:1");
    WRONG("else { }", "V237@2:1");
    WRONG("if n { } b[0] = 1;", "V210@2:4");
    WRONG("if (n) b[0] = 1;", "V210@2:8");
    WRONG("for (i = 0 .. 1) { }", "V210@2:8");
    WRONG("for (i in 0) { }", "V210@2:12");
    WRONG("b[0] == 1;", "V210@2:6");
    WRONG("b[0, 1] = 1;", "V210@2:4");
    WRONG("n + 1;", "V210@2:3");
}

#define WRONG_TEXT(text, want) check_errors(__LINE__, text, want)

TEST(wrong_top_levels) {
    WRONG_TEXT("", "V209@1:1");
    WRONG_TEXT("prog p { }", "V209@1:1");
    WRONG_TEXT("program in workgroup(1) { }", "V209@1:9");
    WRONG_TEXT("program p { }", "V209@1:11");
    WRONG_TEXT("program p workgroup { }", "V209@1:21");
    WRONG_TEXT("program p workgroup(1) elements(1) grid(1) { }", "V209@1:36");
    WRONG_TEXT("program p workgroup(1) ;", "V209@1:24");
    WRONG_TEXT("program p workgroup(1) { } x", "V234@1:28");
    WRONG_TEXT("program p workgroup(x) { }", "V233@1:21");
    WRONG_TEXT("program p workgroup() { }", "V233@1:21");
    WRONG_TEXT("program p workgroup(C) { const C = 1.5 + 1; }", "V233@1:21");
    WRONG_TEXT("program p workgroup(C) { const C = 1i - 2; }", "V233@1:21");
    WRONG_TEXT("program p workgroup(C) { const C = 4294967296ul; }", "V233@1:21");
    WRONG_TEXT("program p workgroup(1, 1, 1, 1) { }", "V210@1:28");
    WRONG_TEXT("program p workgroup(1 2) { }", "V210@1:23");
    WRONG_TEXT("program p workgroup(1) elements(1, 2) { }", "V210@1:34");
    WRONG_TEXT("program p workgroup(1) elements() { }", "V219@1:33");
    WRONG_TEXT("program p workgroup(1) grid(1, 2, 3, 4) { }", "V210@1:36");
    WRONG_TEXT("program p workgroup(1) elements(1.5) { }", "V224@1:33");
    WRONG_TEXT("program p workgroup(1) elements(0xffffffffffffffff) { }", "V224@1:33");
    WRONG_TEXT("program p workgroup(1) elements(f()) { fn f() -> u32 { return 1; } }", "V223@1:33");
    WRONG_TEXT("program p workgroup(1) { in a : u32[]; in a : f32[]; }", "V107@1:43");
    WRONG_TEXT("program p workgroup(1) { in a : u32[]; fn a() { } }", "V107@1:43");
    WRONG_TEXT("program p workgroup(1) { let a = 1; in a : u32[]; }", "V008@1:30");
    WRONG_TEXT("program p workgroup(1) { in 3 : u32[]; }", "V211@1:29");
    WRONG_TEXT("program p workgroup(1) { in for : u32[]; }", "V212@1:29");
    WRONG_TEXT("program p workgroup(1) { in a u32[]; }", "V210@1:31");
    WRONG_TEXT("program p workgroup(1) { in a : vec4[]; b[0] = a[0]; out b : u32[1]; }",
               "V213@1:33");
    WRONG_TEXT("program p workgroup(1) { in a : u32 3; }", "V210@1:33");
    WRONG_TEXT("program p workgroup(1) { in a : u32[1 +]; }", "V219@1:40");
    WRONG_TEXT("program p workgroup(1) { in a : u32[x]; }", "V066@1:37");
    WRONG_TEXT("program p workgroup(1) { out a : u32[4] returns(1 .. x); }", "V233@1:54");
    WRONG_TEXT("program p workgroup(1) { param p : u16; }", "V231@1:36");
    WRONG_TEXT("program p workgroup(1) { param p : u32 = 1 + 1; }", "V233@1:42");
    WRONG_TEXT("program p workgroup(1) { param p : u32 = -1; }", "V233@1:42");
    WRONG_TEXT("program p workgroup(1) { param p : u32 = 1i; }", "V230@1:42");
    WRONG_TEXT("program p workgroup(1) { const C = D; const D = C; let x = C; }", "V232@1:49");
    WRONG_TEXT("program p workgroup(1) { const C = C + 1; }", "V232@1:36");
    WRONG_TEXT("program p workgroup(1) { const C = n; param n : u32; }", "V233@1:36");
    WRONG_TEXT("program p workgroup(1) { const C = global_id.x; }", "V233@1:36");
    WRONG_TEXT("program p workgroup(1) { const C : f32 = 1u; }", "V230@1:42");
    WRONG_TEXT("program p workgroup(1) { const C; }", "V210@1:33");
    WRONG_TEXT("program p workgroup(1) { fn f(a) { } f(1); }", "V210@1:32");
    WRONG_TEXT("program p workgroup(1) { fn f(a : u8) { } }", "V231@1:35");
    WRONG_TEXT("program p workgroup(1) { fn f(1) { } }", "V211@1:31");
    WRONG_TEXT("program p workgroup(1) { fn f() -> { } }", "V213@1:36");
    WRONG_TEXT("program p workgroup(1) { fn f(); f(); }", "V210@1:32");
    WRONG_TEXT("program p workgroup(1) { fn f(a : u32, a : u32) { } }", "V008@1:40");
    WRONG_TEXT("program p workgroup(1) { fn f() { let x = y; } let y = 1; }", "V066@1:43");
    WRONG_TEXT("program p workgroup(1) { opaque fn f() reads(q) { } }", "V238@1:46");
    WRONG_TEXT("program p workgroup(1) { opaque fn f() reads { } }", "V210@1:46");
}

TEST(one_error_does_not_hide_or_cause_others) {
    /* Everything that depends on a broken thing stays silent; independent errors are found. */
    WRONG("let x = 1 + ; let y = x + 1i; let z = y * 2.5;\nb[0] = zz;", "V219@2:13 V066@3:8");
    WRONG("let x = q; let y = x + q; q = x; b[q] = 1;", "V066@2:9");
    WRONG("let x = 1\nlet y = x;\nb[0] = y\n", "V210@2:9 V210@4:8");
    WRONG("if (n + ) { let x = 1; } else { let y = 2; }\nb[0] = zz;", "V219@2:9 V066@3:8");
    WRONG("while n { b[0] = 1; }\nlet y = zz;", "V210@2:7 V066@3:9");
    WRONG("b[zz] = 1;\nbi[0] = 1.5;\nfor (i in 0 .. ) { }\nlet k = yy;",
          "V066@2:3 V224@3:9 V219@4:16 V066@5:9");
    WRONG_TEXT("program p workgroup(1) {\nlet x = 1\nin a : u32[];\nlet y = a[0] + q;\n}",
               "V210@2:9 V066@4:16");
    WRONG_TEXT(
        "program p workgroup(1) {\nfn f(a : q) -> u32 { return 1; }\nlet x = f(1.5) + f(1, 2);\n"
        "let z = zz;\n}",
        "V213@2:10 V066@4:9");
    /* Functions are parsed before the entry body, but reports come in order of place. */
    WRONG_TEXT("program p workgroup(1) {\nlet x = q1;\nfn f() { let y = q2; }\nlet z = q3;\n}",
               "V066@2:9 V066@3:18 V066@4:9");
}

TEST(parts_of_the_earlier_system_that_were_refused_say_so) {
    static const struct {
        const char *body, *said;
    } cases[] = {
        {"resume \"t\";", "`resume` is not supported"},
        {"resume(1);", "`resume` is not supported"},
        {"speculate { }", "`speculate` is not supported"},
        {"let x = atomic_lru_update(b[0], 1);", "`atomic_lru_update` is not supported"},
        {"let x : vec4_u32 = 1;", "type `vec4_u32` is not supported"},
        {"let x : tensor = 1;", "type `tensor` is not supported"},
        {"let x : f8e4m3 = 1;", "type `f8e4m3` is not supported"},
        {"let x : fp8 = 1;", "type `fp8` is not supported"},
        {"let x : i4 = 1;", "type `i4` is not supported"},
        {"let x : handle = 1;", "type `handle` is not supported"},
        {"let x : sparse_csr = 1;", "type `sparse_csr` is not supported"},
        {"let x : quantized = 1;", "type `quantized` is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        parsed p;
        snprintf(text, sizeof text, "program p workgroup(1) grid(1) { inout b : u32[1]; %s }",
                 cases[i].body);
        parse(&p, text);
        REQUIRE(p.list.count > 0);
        CHECK_STR(p.items[0].message, cases[i].said);
        CHECK(p.items[0].fix[0]);
        vyre_program_release(p.program);
    }
    /* They are names like any other. */
    parsed p;
    parse(
        &p,
        "program p workgroup(1) grid(1) { inout vec : u32[1]; let resume = 1; vec[0] = resume; }");
    CHECK_EQ(p.list.errors, 0);
    vyre_program_release(p.program);
}
