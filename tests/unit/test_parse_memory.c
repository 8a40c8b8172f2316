/* The parser: functions that take memory, and memory of one element. */
#include "unit/parsing.h"

static const char head[] = "program t workgroup(64) {\n"
                           "    in a : u32[];\n"
                           "    inout b : u32[];\n"
                           "    inout x : u32[];\n"
                           "    scratch size : u32;\n"
                           "    workgroup w : u32[4];\n"
                           "    private mine : u32[2];\n";

/* Parses to the same program as the other text; both are items and statements behind the head. */
static void check_same(int line, const char *text, const char *plain) {
    vyre_text got = test_text(), want = test_text();
    vyre_text_printf(&got, "%s%s\n}\n", head, text);
    vyre_text_printf(&want, "%s%s\n}\n", head, plain);
    parsed p, q;
    parse(&p, vyre_text_string(&got));
    parse(&q, vyre_text_string(&want));
    if (p.status != VYRE_OK || q.status != VYRE_OK) {
        test_fail(__FILE__, line, "%s\n%s", p.items[0].message, q.items[0].message);
    } else {
        vyre_text first = parse_print(p.program), second = parse_print(q.program);
        parse_compare(__FILE__, line, vyre_text_string(&first), vyre_text_string(&second));
        vyre_text_finish(&first);
        vyre_text_finish(&second);
    }
    vyre_program_release(p.program);
    vyre_program_release(q.program);
    vyre_text_finish(&got);
    vyre_text_finish(&want);
}
#define SAME(text, plain) check_same(__LINE__, text, plain)

static void check_errors(int line, const char *text, const char *want) {
    vyre_text all = test_text();
    vyre_text_printf(&all, "%s%s\n}\n", head, text);
    parsed p;
    char got[128] = "";
    parse(&p, vyre_text_string(&all));
    for (uint32_t i = 0; i < p.list.count && strlen(got) < 100; i++) {
        snprintf(got + strlen(got), 24, "%s%s@%u:%u", i ? " " : "", p.items[i].code,
                 p.items[i].line, p.items[i].col);
    }
    if (strcmp(got, want) != 0) {
        test_fail(__FILE__, line, "%s\ngives %s\nwant  %s\n%s", text, got, want,
                  p.list.count ? p.items[0].message : "");
    }
    vyre_program_release(p.program);
    vyre_text_finish(&all);
}
#define WRONG(text, want) check_errors(__LINE__, text, want)

TEST(a_parameter_is_one_more_name_of_the_memory) {
    SAME("fn f(d : inout u32[], i : u32, s : in u32[]) -> u32 { d[i] = s[i]; return len(s); }\n"
         "let r = f(b, 1, a);",
         "fn f(i : u32) -> u32 { b[i] = a[i]; return len(a); }\n"
         "let r = f(1);");
    SAME("fn f(d : inout u32[], s : in u32[]) { d[0] = s[1]; }\n"
         "f(b, b); f(w, mine); f(mine, a); f(b, b);",
         "fn f() { b[0] = b[1]; }\n"
         "fn f_2() { w[0] = mine[1]; }\n"
         "fn f_3() { mine[0] = a[1]; }\n"
         "f(); f_2(); f_3(); f();");
    SAME(
        "fn f(d : inout u32[]) { let v = atomic_add(d[0], len(d)); async_load(a, d, 0, 4, \"t\");\n"
        "async_wait(\"t\"); d[1] += v; }\n"
        "f(b);",
        "fn f() { let v = atomic_add(b[0], len(b)); async_load(a, b, 0, 4, \"t\");\n"
        "async_wait(\"t\"); b[1] += v; }\n"
        "f();");
}

TEST(parameters_are_passed_on) {
    SAME("fn f(d : inout u32[], e : inout u32[]) { g(e, 1); g(d, 2); }\n"
         "fn g(d : in u32[], i : u32) -> u32 { return d[i]; }\n"
         "f(b, x); f(x, b);",
         "fn f() { g(1); g_2(2); }\n"
         "fn f_2() { g_2(1); g(2); }\n"
         "fn g(i : u32) -> u32 { return x[i]; }\n"
         "fn g_2(i : u32) -> u32 { return b[i]; }\n"
         "f(); f_2();");
    /* In the middle of an expression, the calls nested. */
    SAME("fn g(i : u32, d : in u32[]) -> u32 { return d[i]; }\n"
         "b[0] = g(g(1, x), b) + 1;",
         "fn g(i : u32) -> u32 { return x[i]; }\n"
         "fn g_2(i : u32) -> u32 { return b[i]; }\n"
         "let _0 = g(1); let _1 = g_2(_0); b[0] = _1 + 1;");
}

TEST(parameters_hide_names_of_the_top_level) {
    SAME("fn f(x : u32) -> u32 { return x; }\n"
         "b[0] = f(1);",
         "fn f(x_2 : u32) -> u32 { return x_2; }\n"
         "let _0 = f(1); b[0] = _0;");
    /* The memory that a parameter hides can be what another stands for. */
    SAME("fn f(d : inout u32[], x : u32, b : in u32[]) { d[x] = b[0]; }\n"
         "f(x, 1, a);",
         "fn f(x_2 : u32) { x[x_2] = a[0]; }\n"
         "f(1);");
    /* What the caller calls its variables does not matter. */
    SAME("fn f(d : inout u32[], i : u32) { d[i] = 1; }\n"
         "let i = 1; f(x, i);",
         "fn f(i : u32) { x[i] = 1; }\n"
         "let i = 1; f(i);");
    /* Names that are taken are not taken again. */
    SAME("fn f_2() { }\n"
         "fn f(d : inout u32[]) { d[0] = 1; }\n"
         "f(x); f(b); f_2();",
         "fn f_2() { }\n"
         "fn f() { x[0] = 1; }\n"
         "fn f_3() { b[0] = 1; }\n"
         "f(); f_3(); f_2();");
}

TEST(functions_that_nothing_calls_leave_nothing) {
    SAME("fn f(d : inout u32[], e : in f32[], one : inout i32) { g(d, 1); one += 2; }\n"
         "fn g(d : inout u32[], i : u32) { d[i] = 1; let t = g2(i); }\n"
         "fn g2(i : u32) -> u32 { return i; }\n"
         "b[0] = 1;",
         "fn g2(i : u32) -> u32 { return i; }\n"
         "b[0] = 1;");
    WRONG("fn f(d : inout u32[]) { d[0] = 1.5f + nn; }", "V066@8:39");
    WRONG("fn f(d : inout u32[]) { g(d, 1); } fn g(d : in u32[], i : u32) { d[i] = 1; }",
          "V063@8:66");
}

TEST(memory_of_one_element) {
    SAME("size = 3; size += a[0]; b[size] = size; atomic_max(size, 2, relaxed);\n"
         "let k = atomic_cas(size, 1, 2) + len(size); async_load(a, size, 0, 4, \"t\");\n"
         "async_wait(\"t\"); b[atomic_load(size)] = 1; let l = atomic_load(size, acquire);\n"
         "atomic_load(b[1]); atomic_store(size, 2); atomic_store(b[l], 3, release);",
         "size = 3; size = size + a[0]; b[size] = size; atomic_max(size, 2, relaxed);\n"
         "let _0 = atomic_cas(size, 1, 2); let k = _0 + len(size);\n"
         "async_load(a, size, 0, 4, \"t\"); async_wait(\"t\");\n"
         "let _1 = atomic_load(size); b[_1] = 1; let l = atomic_load(size, acquire);\n"
         "atomic_load(b[1]); atomic_store(size, 2); atomic_store(b[l], 3, release);");
    WRONG("let k = atomic_store(size, 1);", "V225@8:9");
    WRONG("atomic_load(b[1], 2);", "V220@8:19");
    WRONG("atomic_load(size 2);", "V210@8:18");
    WRONG("atomic_store(b[1]);", "V210@8:18");
    parsed p;
    parse(&p, "program t workgroup(1) { scratch s : u32; inout r : u8; workgroup w : f32; "
              "w = f32(s); r += 1; atomic_add(s, 2); if (s > 1) { s = r; } }");
    REQUIRE(p.status == VYRE_OK);
    vyre_text out = parse_print(p.program);
    parse_compare(__FILE__, __LINE__, vyre_text_string(&out),
                  "program t workgroup(1) {\n"
                  "    scratch s : u32[1];\n"
                  "    inout r : u8[1];\n"
                  "    workgroup w : f32[1];\n"
                  "\n"
                  "    w[0] = f32(s[0]);\n"
                  "    r[0] = r[0] + 1;\n"
                  "    atomic_add(s[0], 2);\n"
                  "    if (s[0] > 1) {\n"
                  "        s[0] = r[0];\n"
                  "    }\n"
                  "}\n");
    vyre_text_finish(&out);
    vyre_program_release(p.program);
    /* A load to the left of an effect is bound before it. */
    SAME("let r = size + atomic_add(size, 1);",
         "let _0 = size; let _1 = atomic_add(size, 1); let r = _0 + _1;");
    SAME("fn f(s : inout u32) -> u32 { s += 1; return s; }\n"
         "let r = f(size);",
         "fn f() -> u32 { size += 1; return size; }\n"
         "let r = f();");
    WRONG("size[0] = 1;", "V280@8:1");
    WRONG("b[0] = size[0];", "V280@8:8");
    WRONG("atomic_add(size[0], 1);", "V280@8:12");
    WRONG("atomic_add(b, 1);", "V214@8:12");
    WRONG("b = 1;", "V119@8:1");
}

TEST(memory_that_does_not_fit) {
    WRONG("fn f(d : inout u32[]) { } f(a);", "V281@8:29");
    WRONG("fn f(d : inout i32[]) { } f(b);", "V281@8:29");
    WRONG("fn f(d : inout u32) { } f(b);", "V281@8:27");
    WRONG("fn f(d : inout u32[]) { } f(size);", "V281@8:29");
    WRONG("fn f(d : inout u32[]) { } f(b[0]);", "V210@8:30");
    WRONG("fn f(d : inout u32[]) { } f(1);", "V211@8:29");
    WRONG("fn f(d : inout u32[]) { } f(q);", "V238@8:29");
    WRONG("fn f(d : inout u32[]) { } f();", "V021@8:27");
    WRONG("fn f(d : inout u32[]) { } f(b, 1);", "V021@8:27");
    WRONG("fn f(d : u32) { } f(b);", "V218@8:21");
    WRONG("fn f(d : in u32[], d : u32) { } f(b, 1);", "V008@8:20");
    WRONG("fn f(d : out u32[]) { }", "V213@8:10");
    WRONG("fn f(d : in u32[4]) { }", "V210@8:17");
    WRONG("opaque fn f(d : in u32[]) { }", "V281@8:13");
    /* Read only is passed on; errors are told once. */
    WRONG("fn f(d : in u32[]) { g(d); } fn g(d : inout u32[]) { } f(b); f(x);", "V281@8:24");
    WRONG("fn f(d : in u32[]) { d[0] = 1; atomic_add(d[0], 1); } f(b); f(x); f(a);",
          "V063@8:22 V063@8:43");
    WRONG("fn f(d : in u32[]) { async_load(a, d, 0, 4, \"t\"); } f(b);", "V063@8:36");
}

TEST(memory_passed_in_circles) {
    /* Finitely many instances; that they call each other the check refuses. */
    parsed p;
    parse(&p,
          "program t workgroup(1) { inout a : u32[]; inout b : u32[]; inout c : u32[];\n"
          "fn f(x : inout u32[], y : inout u32[], z : inout u32[]) { f(y, z, x); f(y, x, z); }\n"
          "f(a, b, c); }");
    REQUIRE(p.status == VYRE_OK);
    CHECK_EQ(vyre_program_get(p.program)->fn_count, 6);
    vyre_program_release(p.program);
}

TEST(too_many_instances) {
    /* Ten buffers, seven parameters: more lists than functions may be. */
    vyre_text text = test_text();
    vyre_text_printf(&text, "program t workgroup(1) { ");
    for (int i = 0; i < 10; i++) {
        vyre_text_printf(&text, "inout b%d : u32[]; ", i);
    }
    vyre_text_printf(&text, "fn f(a : inout u32[], b : inout u32[], c : inout u32[], "
                            "d : inout u32[], e : inout u32[], g : inout u32[], h : inout u32[]) { "
                            "f(b, c, d, e, g, h, a); f(b, a, c, d, e, g, h);");
    for (int i = 0; i < 10; i++) {
        vyre_text_printf(&text, "f(b%d, b, c, d, e, g, h); ", i);
    }
    vyre_text_printf(&text, "} f(b0, b1, b2, b3, b4, b5, b6); }");
    parsed p;
    parse(&p, vyre_text_string(&text));
    CHECK_EQ(p.status, VYRE_INVALID_PROGRAM);
    CHECK_EQ(p.list.count, 1);
    CHECK(strstr(p.items[0].message, "functions") != NULL);
    vyre_text_finish(&text);
}

TEST(names_of_operations_are_free) {
    SAME("let min = min(1, 2); let step = 3; for (i in 0 .. step step step) { min += i; }\n"
         "let global_id = global_id.x; b[global_id] = min; let len = len(b);",
         "let min = min(1, 2); let step = 3; for (i in 0 .. step step step) { min = min + i; }\n"
         "let global_id = global_id.x; b[global_id] = min; let len = len(b);");
    /* Ids without axes are themselves where an axis says so. */
    SAME("b[subgroup_size] = subgroup_local_id.x;", "b[subgroup_size.x] = subgroup_local_id;");
    SAME("let subgroup_size = subgroup_size + 1; b[0] = subgroup_size + subgroup_size.x;",
         "let subgroup_size = subgroup_size.x + 1; b[0] = subgroup_size + subgroup_size.x;");
    SAME("fn swap(x : u32) -> u32 { return x; } fn abs(d : in u32[]) -> u32 { return d[0]; }\n"
         "b[0] = swap(1) + abs(a) + abs(b);",
         "fn swap_2(x_2 : u32) -> u32 { return x_2; } fn abs_2() -> u32 { return a[0]; }\n"
         "fn abs_3() -> u32 { return b[0]; }\n"
         "let _0 = swap_2(1); let _1 = abs_2(); let _2 = abs_3(); b[0] = _0 + _1 + _2;");
    parsed p;
    parse(&p,
          "program min workgroup(1) { inout trap : u32[]; scratch swap : u32; param grid : u32;\n"
          "trap[0] = len(trap); swap = grid; atomic_add(trap[1], swap); swap(trap, trap); }");
    REQUIRE(p.status == VYRE_OK);
    vyre_text out = parse_print(p.program);
    CHECK(strstr(vyre_text_string(&out), "atomic_add(trap[1], swap[0]);") != NULL);
    vyre_text_finish(&out);
    vyre_program_release(p.program);
    WRONG("let bitcast = 1;", "V212@8:5");
    WRONG("let u8 = 1;", "V212@8:5");
}
