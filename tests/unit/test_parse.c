/* The parser: what texts mean (seen through the printer), and what is said about wrong ones. Every
 * program that parses must print to a text that parses to an equal program. */
#include "base/text.h"
#include "harness/test.h"
#include "vyre/text.h"

static vyre_text new_text(void) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    return text;
}

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

typedef struct parsed {
    vyre_program *program;
    vyre_diag items[64];
    vyre_diag_list list;
    vyre_status status;
} parsed;

static void parse_bytes(parsed *p, const char *text, size_t length) {
    memset(p, 0, sizeof *p);
    p->list.items = p->items;
    p->list.capacity = 64;
    vyre_parse_options options = {.file = "t.vy"};
    p->status = vyre_parse(text, length, &options, NULL, &p->program, &p->list);
    CHECK_EQ(p->status == VYRE_OK, p->program != NULL);
    CHECK_EQ(p->status == VYRE_OK, p->list.errors == 0);
}

static void parse(parsed *p, const char *text) {
    parse_bytes(p, text, strlen(text));
}

/* The printed text of a program that must parse; printed again it must be equal. */
static vyre_text print_checked(const char *text) {
    parsed p, again;
    vyre_text out = new_text();
    parse(&p, text);
    if (p.status != VYRE_OK) {
        test_fail(__FILE__, __LINE__, "%s %u:%u %s\nin: %s", p.items[0].code, p.items[0].line,
                  p.items[0].col, p.items[0].message, text);
        test_stop();
    }
    CHECK_STATUS(vyre_program_print(p.program, append, &out), VYRE_OK, NULL);
    parse(&again, vyre_text_string(&out));
    if (again.status != VYRE_OK || !vyre_program_equal(p.program, again.program)) {
        test_fail(__FILE__, __LINE__, "not the same program when parsed again: %s\n%s",
                  again.items[0].message, vyre_text_string(&out));
    }
    vyre_program_release(p.program);
    vyre_program_release(again.program);
    return out;
}

static const char prelude[] = "program t workgroup(64) {\n"
                              "in a : u32[]; in ai : i32[]; in af : f32[];\n"
                              "inout b : u32[]; inout bi : i32[]; inout bf : f32[];\n"
                              "inout bl : i64[]; inout bul : u64[]; inout bd : f64[];\n"
                              "inout b8 : u8[]; inout bh : f16[]; inout bb : bool[];\n"
                              "workgroup w : u32[4]; private pr : f32[2];\n"
                              "param n : u32; param s : f32; param m : i32; const K = 3;\n"
                              "fn f(x : u32) -> u32 { return x; }\n"
                              "fn g(x : f32, y : i64) { }\n"
                              "fn h() -> f32 { return 1; }\n"
                              "region \"here\" { }\n";

/* Parses the statements inside a program with some declarations and compares their printed form. */
static void check_body(int line, const char *body, const char *want) {
    vyre_text text = new_text();
    vyre_text_printf(&text, "%s%s\n}\n", prelude, body);
    vyre_text out = print_checked(vyre_text_string(&text));
    const char *got = strstr(vyre_text_string(&out), "region \"here\" {\n    }\n");
    REQUIRE(got != NULL);
    got += strlen("region \"here\" {\n    }\n");
    vyre_text plain = new_text();
    for (const char *at = got; strncmp(at, "    ", 4) == 0;) {
        size_t length = strcspn(at, "\n");
        append(&plain, at + 4, length - 4);
        append(&plain, "\n", 1);
        at += length + 1;
    }
    if (strcmp(vyre_text_string(&plain), want) != 0) {
        test_fail(__FILE__, line, "%s\ngives:\n%swant:\n%s", body, vyre_text_string(&plain), want);
    }
    vyre_text_finish(&plain);
    vyre_text_finish(&out);
    vyre_text_finish(&text);
}
#define BODY(body, want) check_body(__LINE__, body, want)

TEST(literals_take_the_type_of_their_context) {
    BODY("let x = 1;", "let x = 1;\n");
    BODY("let x = 1.5;", "let x = 1.5;\n");
    BODY("let x = 0x10;", "let x = 16;\n");
    BODY("let x = 1 + 2.5;", "let x = 1.0 + 2.5;\n");
    BODY("let x : i64 = 1 + 2;", "let x = 1l + 2l;\n");
    BODY("let x : f64 = 1;", "let x = 1.0d;\n");
    BODY("let x : f32 = 1;", "let x = 1.0;\n");
    BODY("let x = m + 1;", "let x = m + 1i;\n");
    BODY("let x = 1 + m;", "let x = 1i + m;\n");
    BODY("let x = 2 * (1 + 3) + m;", "let x = 2i * (1i + 3i) + m;\n");
    BODY("let x = m == 0xffffffff;", "let x = m == -1i;\n");
    BODY("let x = 0 < s;", "let x = 0.0 < s;\n");
    BODY("let x = 1 < 2;", "let x = 1 < 2;\n");
    BODY("let x = select(n, 1, m);", "let x = select(n, 1i, m);\n");
    BODY("let x = select(1, m, 0);", "let x = select(1, m, 0i);\n");
    BODY("let x : u64 = select(true, 1, 2);", "let x = select(true, 1ul, 2ul);\n");
    BODY("let x = fma(s, 2, 3);", "let x = fma(s, 2.0, 3.0);\n");
    BODY("let x = sqrt(2);", "let x = sqrt(2.0);\n");
    BODY("let x : f64 = sqrt(2);", "let x = sqrt(2.0d);\n");
    BODY("let x = is_nan(1);", "let x = is_nan(1.0);\n");
    BODY("let x = abs_diff(m, 3);", "let x = abs_diff(m, 3i);\n");
    BODY("let x = m << 3;", "let x = m << 3;\n");
    BODY("let x : u64 = 1 << 40;", "let x = 1ul << 40;\n");
    BODY("let x = rotl(m, 3);", "let x = rotl(m, 3);\n");
    BODY("let x = n && 1;", "let x = n && 1;\n");
    BODY("bi[1] = 5;", "bi[1] = 5i;\n");
    BODY("bd[n] = 2;", "bd[n] = 2.0d;\n");
    BODY("b8[0] = 300; bh[0] = 1; bb[0] = 1;", "b8[0] = 300;\nbh[0] = 1.0;\nbb[0] = 1;\n");
    BODY("atomic_add(bl[0], 1);", "atomic_add(bl[0], 1l);\n");
    BODY("g(1, 2);", "g(1.0, 2l);\n");
    BODY("let x = 1ul; x = 5; x += 2;", "let x = 1ul;\nx = 5ul;\nx = x + 2ul;\n");
    BODY("let x = subgroup_add(1.5);", "let x = subgroup_add(1.5);\n");
    BODY("let x : f32 = subgroup_max(1);", "let x = subgroup_max(1.0);\n");
    BODY("let x = subgroup_shuffle(m, 1);", "let x = subgroup_shuffle(m, 1);\n");
    BODY("let x = K + 1;", "let x = K + 1;\n");
    BODY("for (i in 0 .. 0x10 step 2) { }", "for (i in 0 .. 16 step 2) {\n}\n");
}

TEST(a_minus_before_a_literal) {
    BODY("let x : i32 = -5;", "let x = -5i;\n");
    BODY("let x = -5i;", "let x = -5i;\n");
    BODY("let x = -1.5;", "let x = -1.5;\n");
    BODY("let x = s - -0.0;", "let x = s - -0.0;\n");
    BODY("let x = -5;", "let x = -(5);\n"); /* u32: wraps at run time */
    BODY("let x = -(5i);", "let x = -(5i);\n");
    BODY("let x = --5i;", "let x = -(-5i);\n");
    BODY("let x = m - 5;", "let x = m - 5i;\n");
    BODY("let x : i32 = -2147483648;", "let x = -2147483648i;\n");
    BODY("let x : i64 = -9223372036854775808;", "let x = -9223372036854775808l;\n");
    BODY("let x : i32 = -0x80000000;", "let x = -2147483648i;\n");
}

TEST(literals_in_casts) {
    BODY("let x = f32(1);", "let x = f32(1);\n");
    BODY("let x = f32(-1);", "let x = f32(-1.0);\n");
    BODY("let x = i64(-1);", "let x = i64(-1l);\n");
    BODY("let x = u64(5000000000);", "let x = u64(5000000000ul);\n");
    BODY("let x = u32(3.7);", "let x = u32(3.7);\n");
    BODY("let x = u8(300);", "let x = u8(300);\n");
    BODY("let x = bitcast<f32>(0x7f800000);", "let x = bitcast<f32>(2139095040);\n");
}

TEST(precedence_is_that_of_c) {
    BODY("let x = 1 + 2 * 3 - 4;", "let x = 1 + 2 * 3 - 4;\n");
    BODY("let x = ((1 + 2)) * 3;", "let x = (1 + 2) * 3;\n");
    BODY("let x = 1 - (2 - 3);", "let x = 1 - (2 - 3);\n");
    BODY("let x = n & 1 == 0;", "let x = n & 1 == 0;\n");
    BODY("let x = (n & 1) == 0;", "let x = (n & 1) == 0;\n");
    BODY("let x = n < 1 || n > 2 && !n;", "let x = n < 1 || n > 2 && !n;\n");
    BODY("let x = ~n << 1 + 2;", "let x = ~n << 1 + 2;\n");
}

TEST(effects_are_hoisted_in_order) {
    BODY("let x = atomic_add(b[0], 1);", "let x = atomic_add(b[0], 1);\n");
    BODY("atomic_cas(b[n], 1, 2, relaxed);", "atomic_cas(b[n], 1, 2, relaxed);\n");
    BODY("atomic_max(b[n], 1, seq_cst);", "atomic_max(b[n], 1);\n");
    BODY("let x = f(1) + f(2);", "let _0 = f(1);\nlet _1 = f(2);\nlet x = _0 + _1;\n");
    BODY("f(f(f(1)));", "let _0 = f(1);\nlet _1 = f(_0);\nf(_1);\n");
    /* Loads to the left of an effect are bound before it, those to its right are not. */
    BODY("let x = b[0] + atomic_add(b[0], 1) + b[1];",
         "let _0 = b[0];\nlet _1 = atomic_add(b[0], 1);\nlet x = _0 + _1 + b[1];\n");
    BODY("let x = (b[0] + 1) * 2 + f(b[1]);",
         "let _0 = b[0];\nlet _1 = f(b[1]);\nlet x = (_0 + 1) * 2 + _1;\n");
    BODY("let x = a[b[0] + 1] + f(1);",
         "let _0 = a[b[0] + 1];\nlet _1 = f(1);\nlet x = _0 + _1;\n");
    BODY(
        "let x = a[b[0] + f(1)] + f(2);",
        "let _0 = b[0];\nlet _1 = f(1);\nlet _2 = a[_0 + _1];\nlet _3 = f(2);\nlet x = _2 + _3;\n");
    BODY("b[b[0]] = f(1);", "let _0 = b[0];\nlet _1 = f(1);\nb[_0] = _1;\n");
    BODY("b[f(1)] = b[0];", "let _0 = f(1);\nb[_0] = b[0];\n");
    BODY("f(b[0] + f(b[1]));", "let _0 = b[0];\nlet _1 = f(b[1]);\nf(_0 + _1);\n");
    BODY("let x = subgroup_add(b[0] + subgroup_add(n));",
         "let _0 = b[0];\nlet _1 = subgroup_add(n);\nlet x = subgroup_add(_0 + _1);\n");
    BODY("if (f(1) == 0) { } else if (f(2) == 0) { }",
         "let _0 = f(1);\nif (_0 == 0) {\n} else {\n    let _1 = f(2);\n    if (_1 == 0) {\n    "
         "}\n}\n");
    BODY("for (i in b[0] .. f(b[1])) { }",
         "let _0 = b[0];\nlet _1 = f(b[1]);\nfor (i in _0 .. _1) {\n}\n");
    BODY("let _4 = 1; let x = f(1) + _4;", "let _4 = 1;\nlet _5 = f(1);\nlet x = _5 + _4;\n");
}

TEST(compound_assignment) {
    BODY("let x = 1; x <<= 2; x -= n;", "let x = 1;\nx = x << 2;\nx = x - n;\n");
    BODY("b[n] += 1; b[0] |= n; b[global_id.x] ^= 1;",
         "b[n] = b[n] + 1;\nb[0] = b[0] | n;\nb[global_id.x] = b[global_id.x] ^ 1;\n");
    BODY("bi[n + 1] *= 3;", "let _0 = n + 1;\nbi[_0] = bi[_0] * 3i;\n");
    BODY("b[b[0]] %= 3;", "let _0 = b[0];\nb[_0] = b[_0] % 3;\n");
    BODY("b[f(0)] += f(1);",
         "let _0 = f(0);\nlet _1 = _0;\nlet _2 = b[_1];\nlet _3 = f(1);\nb[_1] = _2 + _3;\n");
    BODY("b[n] += f(1);", "let _0 = b[n];\nlet _1 = f(1);\nb[n] = _0 + _1;\n");
    BODY("b[n] += 1 + 2 * 3;", "b[n] = b[n] + (1 + 2 * 3);\n");
}

TEST(statements) {
    BODY("{ let x = 1; } { let x = 2; }", "{\n    let x = 1;\n}\n{\n    let x = 2;\n}\n");
    BODY("region \"a\\\"b\\\\\\n\\x07\" { }", "region \"a\\\"b\\\\\\n\\x07\" {\n}\n");
    BODY(
        "if (n) { exit; } else if (n == 1) { return; } else { trap(\"t\", n); }",
        "if (n) {\n    exit;\n} else if (n == 1) {\n    exit;\n} else {\n    trap(\"t\", n);\n}\n");
    BODY("while (b[0] < 3) { break; continue; }",
         "while (b[0] < 3) {\n    break;\n    continue;\n}\n");
    BODY("barrier; barrier(acq_rel); grid_sync;", "barrier;\nbarrier(acq_rel);\ngrid_sync;\n");
    BODY("async_load(a, w, 0, 16, \"x\"); async_store(w, b, 4, 8, \"y\"); async_wait(\"x\");",
         "async_load(a, w, 0, 16, \"x\");\nasync_store(w, b, 4, 8, \"y\");\nasync_wait(\"x\");\n");
    BODY("all_reduce(b, sum); all_reduce(b, xor, 1); all_gather(a, b); all_gather(a, b, 2);",
         "all_reduce(b, sum);\nall_reduce(b, xor, 1);\nall_gather(a, b);\nall_gather(a, b, 2);\n");
    BODY("reduce_scatter(a, b, max, 3); broadcast(b, 0); broadcast(b, 1, 2);",
         "reduce_scatter(a, b, max, 3);\nbroadcast(b, 0);\nbroadcast(b, 1, 2);\n");
    BODY("indirect_dispatch(a, 0);", "indirect_dispatch(a, 0);\n");
    BODY("let x = subgroup_ballot(n == 1);", "let x = subgroup_ballot(n == 1);\n");
    BODY("let x = len(a) + subgroup_size + group_id.z;",
         "let x = len(a) + subgroup_size + group_id.z;\n");
    /* Words that are names outside of their place. */
    BODY("let relaxed = 1; let sum = 2; let x = 3; let reads = x + sum + relaxed;",
         "let relaxed = 1;\nlet sum = 2;\nlet x = 3;\nlet reads = x + sum + relaxed;\n");
}

static void check_program(int line, const char *text, const char *want) {
    vyre_text out = print_checked(text);
    if (strcmp(vyre_text_string(&out), want) != 0) {
        test_fail(__FILE__, line, "gives:\n%s\nwant:\n%s", vyre_text_string(&out), want);
    }
    vyre_text_finish(&out);
}

TEST(declarations_in_any_order) {
    check_program(__LINE__,
                  "program p workgroup(W, 2) grid(N / 2, len(x) + 1) {\n"
                  "x[0] = f(C);\n"
                  "out x : u32[2 * len(y)] returns(4 .. 12);\n"
                  "fn f(v : i32) -> u32 { return g(v) + y[0] + P; }\n"
                  "y[1] = 2;\n"
                  "const C : i32 = -D; const D = E * 2; const E = -4i; const N = 8; const W = V; "
                  "const V = 16;\n"
                  "fn g(v : i32) -> u32 { let t = v; t += 1; return u32(t); }\n"
                  "readonly inout y : u32[N]; writeonly scratch z : bf16[len(x) - -1];\n"
                  "param P : u32 = 7; param Q : f64 = -1; param R : bool = true;\n"
                  "opaque fn ext(q : f32) reads(y, x) writes(z) { z[0] = q; }\n"
                  "ext(1); }",
                  "program p workgroup(16, 2) grid(N / 2, len(x) + 1) {\n"
                  "    out x : u32[2 * len(y)] returns(4 .. 12);\n"
                  "    const C = -D;\n"
                  "    const D = E * 2i;\n"
                  "    const E = -4i;\n"
                  "    const N = 8;\n"
                  "    const W = V;\n"
                  "    const V = 16;\n"
                  "    readonly inout y : u32[N];\n"
                  "    writeonly scratch z : bf16[len(x) - -1];\n"
                  "    param P : u32 = 7;\n"
                  "    param Q : f64 = -1.0d;\n"
                  "    param R : bool = true;\n"
                  "\n"
                  "    fn f(v : i32) -> u32 {\n"
                  "        let _0 = g(v);\n"
                  "        return _0 + y[0] + P;\n"
                  "    }\n"
                  "\n"
                  "    fn g(v : i32) -> u32 {\n"
                  "        let t = v;\n"
                  "        t = t + 1i;\n"
                  "        return u32(t);\n"
                  "    }\n"
                  "\n"
                  "    opaque fn ext(q : f32) reads(y, x) writes(z) {\n"
                  "        z[0] = q;\n"
                  "    }\n"
                  "\n"
                  "    let _1 = f(C);\n"
                  "    x[0] = _1;\n"
                  "    y[1] = 2;\n"
                  "    ext(1.0);\n"
                  "}\n");
    check_program(__LINE__, "program p workgroup(1) elements(4_000_000_000) { }",
                  "program p workgroup(1) elements(4000000000) {\n}\n");
    check_program(__LINE__, "program p workgroup(1) { opaque fn e() { } e(); }",
                  "program p workgroup(1) {\n\n    opaque fn e() reads() writes() {\n    }\n\n"
                  "    e();\n}\n");
}

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
    for (const char *c = prelude; *c; c++) { /* in one line, so that the body begins line 2 */
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
    WRONG("while (f(1) == 0) { }", "V222@2:8");
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
    WRONG_TEXT("program p workgroup(C) { const C = 1 + 1; }", "V233@1:21");
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
    WRONG_TEXT("program p workgroup(1) { in len : u32[]; }", "V212@1:29");
    WRONG_TEXT("program p workgroup(1) { in a u32[]; }", "V210@1:31");
    WRONG_TEXT("program p workgroup(1) { in a : vec4[]; b[0] = a[0]; out b : u32[1]; }",
               "V213@1:33");
    WRONG_TEXT("program p workgroup(1) { in a : u32; }", "V210@1:36");
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

static vyre_text repeated(const char *before, const char *part, size_t count, const char *middle,
                          const char *after_part, const char *after) {
    vyre_text text = new_text();
    vyre_text_puts(&text, before);
    for (size_t i = 0; i < count; i++) {
        vyre_text_puts(&text, part);
    }
    vyre_text_puts(&text, middle);
    for (size_t i = 0; i < count; i++) {
        vyre_text_puts(&text, after_part);
    }
    vyre_text_puts(&text, after);
    return text;
}

static void check_repeated(int line, const char *part, size_t count, const char *middle,
                           const char *after_part, const char *code) {
    bool statement = strchr(part, '{') != NULL;
    vyre_text text = repeated(
        statement ? "program p workgroup(1) { " : "program p workgroup(1) { let x = ", part, count,
        middle, after_part, statement ? "}" : "; }");
    parsed p;
    parse(&p, vyre_text_string(&text));
    if (strcmp(p.list.errors ? p.items[0].code : "", code) != 0 || p.list.errors > 1) {
        test_fail(__FILE__, line, "%zu times %s: %u errors, %s %s", count, part, p.list.errors,
                  p.items[0].code, p.items[0].message);
    }
    vyre_program_release(p.program);
    vyre_text_finish(&text);
}

TEST(depth_is_limited_and_never_recursion) {
    check_repeated(__LINE__, "(", 1000, "1", ")", "");
    check_repeated(__LINE__, "(", 1025, "1", ")", "V033");
    check_repeated(__LINE__, "(", 2000000, "1", ")", "V206");
    check_repeated(__LINE__, "- -(", 60, "1.5", ")", "");
    check_repeated(__LINE__, "!", 100, "true", "", "");
    check_repeated(__LINE__, "!", 200, "true", "", "V033");
    check_repeated(__LINE__, "!", 2000000, "true", "", "V033");
    check_repeated(__LINE__, "1 + ", 127, "1", "", "");
    check_repeated(__LINE__, "1 + ", 128, "1", "", "V033");
    check_repeated(__LINE__, "1 + ", 1000000, "1", "", "V033");
    check_repeated(__LINE__, "max(1, ", 100, "1", ")", "");
    check_repeated(__LINE__, "max(1, ", 1000, "1", ")", "V033");
    check_repeated(__LINE__, "{ ", 64, "", "}", "");
    check_repeated(__LINE__, "{ ", 65, "", "}", "V018");
    check_repeated(__LINE__, "{ ", 1000, "", "}", "V018");
    check_repeated(__LINE__, "if (true) { } else ", 63, "{ }", "", "");
    check_repeated(__LINE__, "if (true) { } else ", 70, "{ }", "", "V018");
}

TEST(random_bytes_give_errors) {
    uint64_t state = 1;
    static const char *const pieces[] = {
        "program", "p",          "workgroup", "(",     ")",      "{",     "}",     "[",      "]",
        "in",      "out",        "fn",        "let",   "x",      "=",     "+",     "-",      "1",
        "2.5",     ";",          ",",         ":",     "u32",    "if",    "else",  "for",    "..",
        "while",   "atomic_add", "len",       "\"s\"", "region", "const", "param", "return", "->",
        "f",       "opaque",     "reads",     "step",  "&&",     "."};
    for (int round = 0; round < 20000; round++) {
        vyre_text text = new_text();
        vyre_text_puts(&text, "program p workgroup(1) { in x : u32[]; ");
        uint64_t count = test_random_below(&state, 40);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t piece = test_random_below(&state, sizeof pieces / sizeof *pieces);
            vyre_text_printf(&text, "%s ", pieces[piece]);
        }
        vyre_text_puts(&text, "}");
        parsed p;
        parse(&p, vyre_text_string(&text) + (round % 2 ? 0 : test_random_below(&state, 30)));
        vyre_text_finish(&text);
        vyre_program_release(p.program);
    }
}

static const char bfs[] =
    "// Breadth-first search in one program: grid-wide barriers between levels.\n"
    "program bfs workgroup(256) elements(16384) {\n"
    "    in      row   : u32[];                    // CSR\n"
    "    in      col   : u32[];\n"
    "    out     dist  : u32[len(row) - 1];\n"
    "    scratch queue : u32[2 * len(dist)];\n"
    "    scratch count : u32[2];\n"
    "    param   source : u32 = 0;\n"
    "\n"
    "    for (v in global_id.x .. len(dist) step global_size.x) { dist[v] = 0xffffffff; }\n"
    "    grid_sync;\n"
    "    if (global_id.x == 0) { dist[source] = 0; queue[0] = source; }\n"
    "    grid_sync;\n"
    "    let level = 0;\n"
    "    let size = 1;\n"
    "    while (size != 0) {\n"
    "        let here = (level & 1) * len(dist);\n"
    "        let next = len(dist) - here;\n"
    "        if (global_id.x == 0) { count[level & 1] = 0; }\n"
    "        for (q in global_id.x .. size step global_size.x) {\n"
    "            let v = queue[here + q];\n"
    "            for (e in row[v] .. row[v + 1]) {\n"
    "                let u = col[e];\n"
    "                if (atomic_cas(dist[u], 0xffffffff, level + 1) == 0xffffffff) {\n"
    "                    queue[next + atomic_add(count[(level + 1) & 1], 1)] = u;\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "        grid_sync;\n"
    "        level = level + 1;\n"
    "        size = count[level & 1];\n"
    "        grid_sync;\n"
    "    }\n"
    "}\n";

TEST(breadth_first_search) {
    parsed p;
    parse(&p, bfs);
    REQUIRE(p.status == VYRE_OK);
    const vyre_program_view *v = vyre_program_get(p.program);
    CHECK_EQ(v->decl_count, 6);
    CHECK_EQ(v->workgroup[0], 256);
    CHECK_EQ(v->clause_kind, VYRE_CLAUSE_ELEMENTS);
    CHECK_EQ(v->stats.statements, 26);
    CHECK_EQ(v->stats.atomic_ops, 2);
    CHECK(!vyre_program_has_no_grid_sync(p.program));
    /* Each node knows where it was written. */
    for (uint32_t i = 0; i < v->stmt_count; i++) {
        if (v->stmts[i].op == VYRE_STMT_ATOMIC && v->stmts[i].sub == VYRE_ATOMIC_CAS) {
            vyre_place place = vyre_program_stmt_place(p.program, i);
            CHECK_EQ(place.line, 24);
            CHECK_EQ(place.col, 21);
            CHECK_STR(place.file, "t.vy");
        }
    }
    CHECK_EQ(vyre_program_decl_place(p.program, 2).line, 5);
    CHECK_EQ(vyre_program_place(p.program).line, 2);
    vyre_program_release(p.program);
    vyre_text out = print_checked(bfs);
    CHECK_HAS(vyre_text_string(&out), "let _0 = atomic_cas(dist[u], 4294967295, level + 1);\n");
    vyre_text_finish(&out);
}

/* Everything that allocates: consts, functions, effects, nesting, hoisting. */
static const char broad[] =
    "program p workgroup(W) grid(len(x), 2) { const W = V; const V = 8; out x : u32[W * 4];\n"
    "fn f(a : u32) -> u32 { let t = a; for (i in 0 .. 3) { t += i; } return t; }\n"
    "opaque fn o(a : u32) reads(x) { x[0] = a; }\n"
    "param s : f32 = 1; region \"r\" { if (x[0] + f(x[1]) == 2) { o(1); } else { trap(\"t\", 1); } "
    "}\n"
    "x[x[0] + 1] += f(2); }";

static vyre_status parse_with(const vyre_allocator *a, void *user) {
    vyre_program *program = NULL;
    const vyre_text *text = user;
    vyre_status status = vyre_parse(text->data, text->length, NULL, a, &program, NULL);
    vyre_program_release(program);
    return status;
}

TEST(every_allocation_may_fail) {
    vyre_text text = new_text();
    vyre_text_puts(&text, broad);
    CHECK(test_every_allocation(parse_with, &text, 4000) > 20);
    vyre_text_reset(&text);
    vyre_text_puts(&text, bfs);
    CHECK(test_every_allocation(parse_with, &text, 4000) > 20);
    vyre_text_finish(&text);
}

/* Time is not asserted, but a program of this size finishes at once or not at all. */
TEST(a_large_program) {
    vyre_text text = repeated("program p workgroup(64) { inout b : u32[]; let x = 1; ",
                              "x = x * 3 + b[x & 255]; b[x] += x; ", 50000, "", "", "}");
    parsed p;
    parse(&p, vyre_text_string(&text));
    REQUIRE(p.status == VYRE_OK);
    CHECK_EQ(vyre_program_get(p.program)->stats.statements, 100001);
    vyre_program_release(p.program);
    vyre_text_finish(&text);
}

TEST(errors_are_bounded) {
    vyre_text text = repeated("program p workgroup(64) { ", "let = ; ", 100000, "", "", "}");
    parsed p;
    parse(&p, vyre_text_string(&text));
    CHECK_STATUS(p.status, VYRE_INVALID_PROGRAM, NULL);
    CHECK(p.list.errors <= 110);
    CHECK_EQ(p.list.count, 64);
    vyre_text_finish(&text);
    vyre_program *none = NULL;
    CHECK_STATUS(vyre_parse("x", 1, NULL, NULL, &none, NULL), VYRE_INVALID_PROGRAM, NULL);
    CHECK(none == NULL);
}

static const char library_text[] =
    "program lib workgroup(1) { inout data : u32[]; param scale : u32; const TWO = ONE + ONE;\n"
    "const ONE = 1;\n"
    "fn twice(x : u32) -> u32 { let y = x * TWO; return helper(y); }\n"
    "fn helper(x : u32) -> u32 { return x + data[0] * scale; }\n"
    "fn unused() { }\n"
    "opaque fn touch() reads(data) writes(data) { data[0] = 1; } }";

static void check_library(int line, const char *text, const char *want) {
    parsed lib, p, again;
    parse(&lib, library_text);
    REQUIRE(lib.status == VYRE_OK);
    const vyre_program *libraries[] = {lib.program};
    vyre_parse_options options = {.file = "t.vy", .libraries = libraries, .library_count = 1};
    memset(&p, 0, sizeof p);
    p.list.items = p.items;
    p.list.capacity = 64;
    p.status = vyre_parse(text, strlen(text), &options, NULL, &p.program, &p.list);
    vyre_text out = new_text();
    if (p.status == VYRE_OK) {
        vyre_program_print(p.program, append, &out);
        parse(&again, vyre_text_string(&out));
        if (again.status != VYRE_OK || !vyre_program_equal(p.program, again.program)) {
            test_fail(__FILE__, line, "not the same program when parsed again: %s\n%s",
                      again.items[0].message, vyre_text_string(&out));
        }
        vyre_program_release(again.program);
    } else {
        append(&out, p.items[0].code, 4);
        append(&out, " ", 1);
        append(&out, p.items[0].message, strlen(p.items[0].message));
    }
    if (strcmp(vyre_text_string(&out), want) != 0) {
        test_fail(__FILE__, line, "gives:\n%s\nwant:\n%s", vyre_text_string(&out), want);
    }
    vyre_text_finish(&out);
    vyre_program_release(p.program);
    vyre_program_release(lib.program);
}
#define LIBRARY(text, want) check_library(__LINE__, text, want)

TEST(functions_of_libraries) {
    /* What is called comes along, with what it calls and the consts it needs; names that are taken
     * (y) become temporaries. */
    LIBRARY("program p workgroup(1) { out data : u32[4]; param scale : u32; const y = 3;"
            "data[1] = twice(5); touch(); }",
            "program p workgroup(1) {\n"
            "    out data : u32[4];\n"
            "    param scale : u32;\n"
            "    const y = 3;\n"
            "    const ONE = 1;\n"
            "    const TWO = ONE + ONE;\n"
            "\n"
            "    fn twice(x : u32) -> u32 {\n"
            "        let _1 = x * TWO;\n"
            "        let _0 = helper(_1);\n"
            "        return _0;\n"
            "    }\n"
            "\n"
            "    fn helper(x : u32) -> u32 {\n"
            "        return x + data[0] * scale;\n"
            "    }\n"
            "\n"
            "    opaque fn touch() reads(data) writes(data) {\n"
            "        data[0] = 1;\n"
            "    }\n"
            "\n"
            "    let _2 = twice(5);\n"
            "    data[1] = _2;\n"
            "    touch();\n"
            "}\n");
    LIBRARY("program p workgroup(1) { fn unused() -> u32 { return 1; } let x = unused(); }",
            "program p workgroup(1) {\n\n    fn unused() -> u32 {\n        return 1;\n    }\n\n"
            "    let x = unused();\n}\n");
    LIBRARY("program p workgroup(1) { touch(); }",
            "V016 the library function `touch` can't be used here: this program does not declare "
            "its `data`");
    LIBRARY("program p workgroup(1) { in data : f32[]; touch(); }",
            "V016 the library function `touch` can't be used here: this program declares in "
            "another way its `data`");
    LIBRARY("program p workgroup(1) { out data : u32[4]; param scale : u32; const helper = 1;"
            "let z = twice(1); }",
            "V016 the library function `helper` can't be used here: this program has its own "
            "`helper`");
    LIBRARY("program p workgroup(1) { unused(1); }", "V021 `unused` takes 0 arguments, not 1");
    LIBRARY("program p workgroup(1) { unused(); let unused = 1; }",
            "V008 `unused` is already declared by a library and visible here; names are not "
            "shadowed");
}

static vyre_status parse_with_library(const vyre_allocator *a, void *user) {
    const vyre_program *const *libraries = user;
    vyre_parse_options options = {.libraries = libraries, .library_count = 1};
    static const char text[] = "program p workgroup(1) { out data : u32[4]; param scale : u32;"
                               "const y = 3; data[1] = twice(5); touch(); }";
    vyre_program *program = NULL;
    vyre_status status = vyre_parse(text, strlen(text), &options, a, &program, NULL);
    vyre_program_release(program);
    return status;
}

TEST(every_allocation_may_fail_with_libraries) {
    parsed lib;
    parse(&lib, library_text);
    const vyre_program *libraries[] = {lib.program};
    CHECK(test_every_allocation(parse_with_library, libraries, 4000) > 30);
    vyre_program_release(lib.program);
}
