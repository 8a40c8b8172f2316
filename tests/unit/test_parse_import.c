/* The parser: functions of other programs. */
#include "unit/parsing.h"

static const char library_text[] =
    "program lib workgroup(1) { inout data : u32[]; param scale : u32; const TWO = ONE + ONE;\n"
    "const ONE = 1;\n"
    "fn twice(x : u32) -> u32 { let y = x * TWO; return helper(y); }\n"
    "fn helper(x : u32) -> u32 { return x + data[0] * scale; }\n"
    "fn unused() { }\n"
    "opaque fn touch() reads(data) writes(data) { data[0] = 1; } }";

/* The printed program, or the first error. */
static void check_library(int line, const char *text, const char *want) {
    parsed lib, p;
    parse(&lib, library_text);
    REQUIRE(lib.status == VYRE_OK);
    const vyre_program *libraries[] = {lib.program};
    parse_with_libraries(&p, text, libraries, 1);
    vyre_text out = p.status == VYRE_OK ? parse_print(p.program) : test_text();
    if (p.status != VYRE_OK) {
        vyre_text_printf(&out, "%s %s", p.items[0].code, p.items[0].message);
    }
    parse_compare(__FILE__, line, vyre_text_string(&out), want);
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
