/* Parse, print, parse again. */
#include "unit/parsing.h"

void parse_with_libraries(parsed *p, const char *text, const vyre_program *const *libraries,
                          uint32_t library_count) {
    memset(p, 0, sizeof *p);
    p->list.items = p->items;
    p->list.capacity = sizeof p->items / sizeof *p->items;
    vyre_parse_options options = {
        .file = "t.vy", .libraries = libraries, .library_count = library_count};
    p->status = vyre_parse(text, strlen(text), &options, NULL, &p->program, &p->list);
    CHECK_EQ(p->status == VYRE_OK, p->program != NULL);
    CHECK_EQ(p->status == VYRE_OK, p->list.errors == 0);
}

void parse(parsed *p, const char *text) {
    parse_with_libraries(p, text, NULL, 0);
}

vyre_text parse_print(const vyre_program *program) {
    vyre_text out = test_text();
    parsed again;
    CHECK_STATUS(vyre_program_print(program, test_text_append, &out), VYRE_OK, NULL);
    parse(&again, vyre_text_string(&out));
    if (again.status != VYRE_OK || !vyre_program_equal(program, again.program)) {
        test_fail(__FILE__, __LINE__, "not the same program when parsed again: %s\n%s",
                  again.items[0].message, vyre_text_string(&out));
    }
    vyre_program_release(again.program);
    return out;
}

const char parse_prelude[] = "program t workgroup(64) {\n"
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

void parse_compare(const char *file, int line, const char *got, const char *want) {
    if (strcmp(got, want) != 0) {
        test_fail(file, line, "gives:\n%s\nwant:\n%s", got, want);
    }
}

static vyre_text print_behind(const char *file, int line, const char *head, const char *body) {
    vyre_text text = test_text(), out = test_text();
    vyre_text_printf(&text, "%s%s\n}\n", head, body);
    parsed p;
    parse(&p, vyre_text_string(&text));
    if (p.status == VYRE_OK) {
        vyre_text_finish(&out);
        out = parse_print(p.program);
    } else {
        test_fail(file, line, "%s\n%s", p.items[0].message, body);
    }
    vyre_program_release(p.program);
    vyre_text_finish(&text);
    return out;
}

void parse_same(const char *file, int line, const char *head, const char *body, const char *plain) {
    vyre_text got = print_behind(file, line, head, body);
    vyre_text want = print_behind(file, line, head, plain);
    parse_compare(file, line, vyre_text_string(&got), vyre_text_string(&want));
    vyre_text_finish(&got);
    vyre_text_finish(&want);
}
