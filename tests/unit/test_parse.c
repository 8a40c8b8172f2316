/* The parser: what texts mean, seen through the printer. Every program that parses must print to a
 * text that parses to an equal program. */
#include "unit/parsing.h"

/* The printed text of a program that must parse; printed again it must be equal. */
static vyre_text print_checked(const char *text) {
    parsed p;
    parse(&p, text);
    if (p.status != VYRE_OK) {
        test_fail(__FILE__, __LINE__, "%s %u:%u %s\nin: %s", p.items[0].code, p.items[0].line,
                  p.items[0].col, p.items[0].message, text);
        test_stop();
    }
    vyre_text out = parse_print(p.program);
    vyre_program_release(p.program);
    return out;
}

/* Parses the statements inside a program with some declarations and compares their printed form. */
static void check_body(int line, const char *body, const char *want) {
    vyre_text text = test_text();
    vyre_text_printf(&text, "%s%s\n}\n", parse_prelude, body);
    vyre_text out = print_checked(vyre_text_string(&text));
    const char *got = strstr(vyre_text_string(&out), "region \"here\" {\n    }\n");
    REQUIRE(got != NULL);
    got += strlen("region \"here\" {\n    }\n");
    vyre_text plain = test_text();
    for (const char *at = got; strncmp(at, "    ", 4) == 0;) {
        size_t length = strcspn(at, "\n");
        test_text_append(&plain, at + 4, length - 4);
        test_text_append(&plain, "\n", 1);
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

TEST(a_choice_binds_loosest_and_to_the_right) {
    BODY("let x = n ? 1 : m;", "let x = n ? 1i : m;\n");
    BODY("let x : f64 = n < 2 ? 1 : 2;", "let x = n < 2 ? 1.0d : 2.0d;\n");
    BODY("let x = n || 1 ? 1 + 2 : 3 * 4;", "let x = n || 1 ? 1 + 2 : 3 * 4;\n");
    BODY("let x = n ? 1 : (n == 2 ? 3 : 4);", "let x = n ? 1 : n == 2 ? 3 : 4;\n");
    BODY("let x = n ? n == 2 ? 3 : 4 : 5;", "let x = n ? n == 2 ? 3 : 4 : 5;\n");
    BODY("let x = (n ? 1 : n) ? 3 : 4;", "let x = (n ? 1 : n) ? 3 : 4;\n");
    BODY("let x = (n ? 1 : 2) + 3;", "let x = (n ? 1 : 2) + 3;\n");
    BODY("let x = 1 + (n ? 1 : 2);", "let x = 1 + (n ? 1 : 2);\n");
    BODY("let x = -(n ? m : 1);", "let x = -(n ? m : 1i);\n");
    BODY("let x = !n ? -m : ~m;", "let x = !n ? -m : ~m;\n");
    BODY("let x = min(n ? 1 : 2, b[n ? 3 : 4]);", "let x = min(n ? 1 : 2, b[n ? 3 : 4]);\n");
}

/* What is loaded only where it counts is bound as a whole. */
TEST(loads_that_may_be_left_out_stay_so_before_an_effect) {
    BODY("let x = (n ? b[1] : 2) + f(1);",
         "let _0 = n ? b[1] : 2;\nlet _1 = f(1);\nlet x = _0 + _1;\n");
    BODY("let x = u32(b[0] == 1 && b[1] == 2) + f(1);",
         "let _0 = b[0] == 1 && b[1] == 2;\nlet _1 = f(1);\nlet x = u32(_0) + _1;\n");
    BODY("let x = (b[0] + f(1) ? b[1] : n) + f(2);",
         "let _0 = b[0];\nlet _1 = f(1);\nlet _2 = _0 + _1 ? b[1] : n;\nlet _3 = f(2);\n"
         "let x = _2 + _3;\n");
    BODY("let x = (n ? 1 : 2) + f(1);", "let _0 = f(1);\nlet x = (n ? 1 : 2) + _0;\n");
    BODY("if (f(1) == 0 && b[0] == 1) { }", "let _0 = f(1);\nif (_0 == 0 && b[0] == 1) {\n}\n");
    BODY("let x = f(1) ? b[0] : b[1];", "let _0 = f(1);\nlet x = _0 ? b[0] : b[1];\n");
}

TEST(clamp_is_two_operations) {
    BODY("let x = clamp(m, 0, 5);", "let x = min(max(m, 0i), 5i);\n");
    BODY("let x = clamp(0, s, 5);", "let x = min(max(0.0, s), 5.0);\n");
    BODY("let x : f64 = clamp(1, 2, 3);", "let x = min(max(1.0d, 2.0d), 3.0d);\n");
    BODY("let x = 1 + clamp(b[0], b[1], f(b[2]));",
         "let _0 = b[0];\nlet _1 = b[1];\nlet _2 = f(b[2]);\nlet x = 1 + min(max(_0, _1), _2);\n");
    BODY("let clamp = 1; let x = clamp(n, clamp, 2);",
         "let clamp = 1;\nlet x = min(max(n, clamp), 2);\n");
}

static vyre_status parse_set(const char *text, const vyre_setting *settings, uint32_t count,
                             vyre_text *out, vyre_diag *out_diag) {
    vyre_diag items[4] = {{0}};
    vyre_diag_list list = {.items = items, .capacity = 4};
    vyre_program *program = NULL;
    const vyre_parse_options options = {.settings = settings, .setting_count = count};
    const vyre_status status = vyre_parse(text, strlen(text), &options, NULL, &program, &list);
    *out = test_text();
    *out_diag = items[0];
    if (status == VYRE_OK) {
        vyre_text_finish(out);
        *out = parse_print(program);
    }
    vyre_program_release(program);
    return status;
}

TEST(consts_may_be_set_from_outside) {
    static const char text[] =
        "program p workgroup(n, k, m) { const n = 2 * (k + 1) - m % 2; const k : u32 = c ? 3 : 7;"
        " const c = true; const m = 1u; const d = -5i; const f = 1.5; out y : u32[n]; }";
    const vyre_setting fits[] = {
        {"k", VYRE_U32, 9}, {"d", VYRE_I32, UINT32_MAX}, {"f", VYRE_F32, 0x3f000000}};
    const vyre_setting lane = {"n", VYRE_U32, 5}, no_truth = {"c", VYRE_BOOL, 0};
    const vyre_setting wrong[] = {{"y", VYRE_U32, 1},
                                  {"z", VYRE_U32, 1},
                                  {"p", VYRE_U32, 1},
                                  {"k", VYRE_I32, 1},
                                  {"f", VYRE_F64, 1}};
    vyre_text out;
    vyre_diag diag;
    CHECK_EQ(parse_set(text, NULL, 0, &out, &diag), VYRE_OK);
    CHECK(strstr(vyre_text_string(&out), "workgroup(7, 3)"));
    vyre_text_finish(&out);
    CHECK_EQ(parse_set(text, fits, 3, &out, &diag), VYRE_OK);
    CHECK(strstr(vyre_text_string(&out), "workgroup(19, 9)"));
    CHECK(strstr(vyre_text_string(&out), "const k = 9;"));
    CHECK(strstr(vyre_text_string(&out), "const d = -1i;"));
    CHECK(strstr(vyre_text_string(&out), "const f = 0.5;"));
    vyre_text_finish(&out);
    CHECK_EQ(parse_set(text, &lane, 1, &out, &diag), VYRE_OK);
    CHECK(strstr(vyre_text_string(&out), "workgroup(5, 3)"));
    vyre_text_finish(&out);
    CHECK_EQ(parse_set(text, &no_truth, 1, &out, &diag), VYRE_OK);
    CHECK(strstr(vyre_text_string(&out), "workgroup(15, 7)"));
    vyre_text_finish(&out);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(parse_set(text, &wrong[i], 1, &out, &diag), VYRE_INVALID_INPUT);
        CHECK_STR(diag.code, "V284");
        vyre_text_finish(&out);
    }
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
    parse_compare(__FILE__, line, vyre_text_string(&out), want);
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
    vyre_text text = test_text();
    vyre_text_puts(&text, broad);
    CHECK(test_every_allocation(parse_with, &text, 4000) > 20);
    vyre_text_reset(&text);
    vyre_text_puts(&text, bfs);
    CHECK(test_every_allocation(parse_with, &text, 4000) > 20);
    vyre_text_finish(&text);
}
