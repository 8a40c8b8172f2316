/* The parser: functions of other programs, and texts that are imported. */
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

/* Imports: a table of files is who is asked. */

typedef struct file {
    const char *path, *text; /* text NULL: reading fails */
} file;

typedef struct folder {
    const file *files;
    uint32_t count;
    uint32_t asked;
} folder;

static vyre_status give(void *user, const char *path, const char **out_text, size_t *out_length,
                        vyre_diag *diag) {
    folder *f = user;
    f->asked++;
    for (uint32_t i = 0; i < f->count; i++) {
        if (strcmp(f->files[i].path, path) == 0 && f->files[i].text) {
            *out_text = f->files[i].text;
            *out_length = strlen(*out_text);
            return VYRE_OK;
        }
    }
    (void)snprintf(diag->message, sizeof diag->message, "no file %s", path);
    (void)snprintf(diag->fix, sizeof diag->fix, "write it");
    return VYRE_IO;
}

static const file tree[] = {
    {"lib/math.vy", "import \"deep/consts.vy\";\nimport \"deep/more.vy\";\n"
                    "fn twice(x : u32) -> u32 { return add(x, x) * base; }"},
    {"lib/deep/consts.vy", "const base = 100;"},
    {"lib/deep/more.vy",
     "import \"consts.vy\";\nfn add(a : u32, b : u32) -> u32 { return a + b; }"},
    {"wrong.vy", "fn f() {\n    y[0] = none;\n}"},
    {"round.vy", "import \"again.vy\";"},
    {"again.vy", "import \"round.vy\";"},
    {"gone.vy", NULL},
    {"open.vy", "fn f() { "},
};

static vyre_status parse_tree(const char *text, const vyre_allocator *a, folder *from,
                              vyre_diag_list *diags, vyre_program **out) {
    const vyre_parse_options options = {.file = "main.vy", .import = give, .import_user = from};
    return vyre_parse(text, strlen(text), &options, a, out, diags);
}

static const char importing[] = "program p workgroup(1) { import \"lib/math.vy\"; "
                                "import \"lib/deep/consts.vy\"; out y : u32[1]; y[0] = twice(3); }";

TEST(each_file_is_asked_for_once) {
    folder from = {.files = tree, .count = sizeof tree / sizeof *tree};
    vyre_diag item = {0};
    vyre_diag_list diags = {.items = &item, .capacity = 1};
    vyre_program *program = NULL;
    REQUIRE_OK(parse_tree(importing, NULL, &from, &diags, &program), &item);
    CHECK_EQ(from.asked, 3);
    CHECK_EQ(vyre_program_get(program)->fn_count, 2);
    vyre_program_release(program);
}

static void refused(const char *path, uint32_t line, const char *shown, const char *message) {
    folder from = {.files = tree, .count = sizeof tree / sizeof *tree};
    char text[256];
    vyre_diag items[8] = {{0}};
    vyre_diag_list diags = {.items = items, .capacity = 8};
    vyre_program *program = NULL;
    (void)snprintf(text, sizeof text,
                   "program p workgroup(1) {\nimport \"%s\"; out y : u32[1]; y[0] = 1; }", path);
    CHECK_STATUS(parse_tree(text, NULL, &from, &diags, &program), VYRE_INVALID_PROGRAM, NULL);
    CHECK(program == NULL);
    REQUIRE(diags.count > 0);
    CHECK_EQ(items[0].line, line);
    CHECK_STR(items[0].file, shown);
    CHECK_HAS(items[0].message, message);
}

TEST(imports_are_refused_where_they_stand) {
    refused("gone.vy", 2, "main.vy", "no file gone.vy");
    refused("absent.vy", 2, "main.vy", "no file absent.vy");
    refused("../up.vy", 2, "main.vy", "not below");
    refused("/etc/passwd", 2, "main.vy", "not below");
    refused("round.vy", 1, "again.vy", "imports itself");
    refused("wrong.vy", 2, "wrong.vy", "none");
    refused("open.vy", 1, "open.vy", "");
    vyre_diag item = {0};
    vyre_diag_list diags = {.items = &item, .capacity = 1};
    vyre_program *program = NULL;
    CHECK_STATUS(vyre_parse(importing, strlen(importing), NULL, NULL, &program, &diags),
                 VYRE_INVALID_PROGRAM, NULL);
    CHECK_EQ(diags.errors, 2); /* one for each, and none for what they would have brought */
}

static vyre_status parse_importing(const vyre_allocator *a, void *user) {
    folder from = {.files = tree, .count = sizeof tree / sizeof *tree};
    vyre_program *program = NULL;
    vyre_status status = parse_tree(user, a, &from, NULL, &program);
    vyre_program_release(program);
    return status;
}

TEST(every_allocation_may_fail_with_imports) {
    char text[sizeof importing];
    memcpy(text, importing, sizeof importing);
    CHECK(test_every_allocation(parse_importing, text, 4000) > 30);
}
