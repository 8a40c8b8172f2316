/* The parser: depth, size and texts that mean harm. */
#include "harness/run.h"
#include "unit/parsing.h"

static vyre_text repeated(const char *before, const char *part, size_t count, const char *middle,
                          const char *after_part, const char *after) {
    vyre_text text = test_text();
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
    check_repeated(__LINE__, "1 + ", 128, "1", "", "");
    check_repeated(__LINE__, "1 + ", 100000, "1", "", "");
    check_repeated(__LINE__, "max(1, ", 100, "1", ")", "");
    check_repeated(__LINE__, "max(1, ", 1000, "1", ")", "");
    check_repeated(__LINE__, "max(1, ", 1025, "1", ")", "V033");
    check_repeated(__LINE__, "{ ", 64, "", "}", "");
    check_repeated(__LINE__, "{ ", 65, "", "}", "V018");
    check_repeated(__LINE__, "{ ", 1000, "", "}", "V018");
    check_repeated(__LINE__, "if (true) { } else ", 63, "{ }", "", "");
    check_repeated(__LINE__, "if (true) { } else ", 70, "{ }", "", "V018");
}

/* Values in their order: what is loaded behind the atomic sees it. */
TEST(long_sums_are_evaluated_from_left_to_right) {
    vyre_text text = test_text();
    vyre_text_puts(&text, "program p workgroup(1) grid(1) {\n inout v : u32[1];\n out o : u32[2];\n"
                          " o[0] = 0");
    for (int i = 0; i < 400; i++) {
        vyre_text_puts(&text, i == 200 ? " + atomic_add(v[0], 10)" : " + v[0]");
    }
    vyre_text_puts(&text, ";\n let k = 0;\n while (k");
    for (int i = 1; i < 300; i++) {
        vyre_text_puts(&text, " + k");
    }
    vyre_text_puts(&text, " < 3000) { k = k + 1; }\n o[1] = k;\n}\n");
    vyre_program *program = run_parse(vyre_text_string(&text));
    static const char *const devices[] = {"ref", "ref-split"};
    for (int i = 0; i < 2; i++) {
        const uint32_t one = 1;
        const vyre_input in = {&one, sizeof one};
        run_result r = run_program(devices[i], program, &in, 1, NULL);
        REQUIRE_OK(r.status, &r.diag);
        CHECK_EQ(run_word(&r, 1, 0), 200 + 1 + 199 * 11);
        CHECK_EQ(run_word(&r, 1, 1), 10);
        run_finish(&r);
    }
    vyre_program_release(program);
    vyre_text_finish(&text);
    /* Behind || there is no place for a let, nor in a declaration. */
    check_repeated(__LINE__, "true || 0 == 1 + ", 1, "1", "", "");
    parsed p;
    vyre_text lazy =
        repeated("program p workgroup(1) { let x = true || 0 == ", "1 + ", 128, "1", "", "; }");
    parse(&p, vyre_text_string(&lazy));
    CHECK_STR(p.items[0].code, "V033");
    vyre_program_release(p.program);
    vyre_text_finish(&lazy);
    vyre_text size =
        repeated("program p workgroup(1) { inout b : u32[", "1 + ", 128, "1", "", "]; }");
    parse(&p, vyre_text_string(&size));
    CHECK_STR(p.items[0].code, "V033");
    vyre_program_release(p.program);
    vyre_text_finish(&size);
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
        vyre_text text = test_text();
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
