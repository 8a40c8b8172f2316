/* The validator: goldens with their expected messages, the catalogue and its page, and what only
 * programs made with the builder can get wrong. */
#include "harness/test.h"

#include <dirent.h>

#include "vyre/check.h"
#include "vyre/text.h"

enum { FILES = 256, TEXT = 1 << 16 };

/* Names of the goldens in order; returns how many. */
static uint32_t list_goldens(char names[FILES][64]) {
    struct dirent **entries = NULL;
    const int count = scandir(VYRE_SOURCE_DIR "/tests/golden/check", &entries, NULL, alphasort);
    uint32_t found = 0;
    REQUIRE(count > 0);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const size_t length = strlen(name);
        if (length > 3 && length < 64 && strcmp(name + length - 3, ".vy") == 0 && found < FILES) {
            (void)snprintf(names[found++], 64, "%s", name);
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

static size_t read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        test_fail(__FILE__, __LINE__, "can't read %s", path);
        test_stop();
    }
    const size_t length = fread(text, 1, size - 1, file);
    REQUIRE(length < size - 1);
    text[length] = '\0';
    (void)fclose(file);
    return length;
}

static size_t read_golden(const char *name, char *text, size_t size) {
    char path[512];
    (void)snprintf(path, sizeof path, VYRE_SOURCE_DIR "/tests/golden/check/%s", name);
    return read_file(path, text, size);
}

static vyre_status parse_and_check(const char *text, size_t length, bool lint,
                                   vyre_diag_list *diags) {
    vyre_program *program = NULL;
    vyre_status status = vyre_parse(text, length, NULL, NULL, &program, diags);
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, diags);
        if (status == VYRE_OK && lint) {
            status = vyre_lint(program, &(vyre_lint_options){.speed = true}, NULL, diags);
        }
        vyre_program_release(program);
    }
    return status;
}

static void describe(const vyre_diag *d, char *out, size_t size) {
    static const char *const severities[] = {"error", "warning", "note"};
    (void)snprintf(out, size, "%u:%u: %s%s%s%s %s", d->line, d->col, severities[d->severity],
                   d->code[0] ? "[" : "", d->code, d->code[0] ? "]" : "", d->message);
}

static void run_golden(const char *name) {
    static char text[TEXT];
    static vyre_diag items[64];
    vyre_diag_list diags = {.items = items, .capacity = 64};
    const size_t length = read_golden(name, text, sizeof text);
    const vyre_status status = parse_and_check(text, length, name[0] == 'W', &diags);
    uint32_t at = 0;
    for (const char *line = text; (line = strstr(line, "// expect: ")); at++) {
        char want[VYRE_DIAG_TEXT + 64], got[VYRE_DIAG_TEXT + 64] = "nothing";
        line += strlen("// expect: ");
        (void)snprintf(want, sizeof want, "%.*s", (int)strcspn(line, "\n"), line);
        if (at < diags.count) {
            describe(&items[at], got, sizeof got);
        }
        if (strcmp(got, want) != 0) {
            test_fail(__FILE__, __LINE__, "%s: got  %s\n    want %s", name, got, want);
        }
    }
    for (; at < diags.count; at++) {
        char got[VYRE_DIAG_TEXT + 64];
        describe(&items[at], got, sizeof got);
        test_fail(__FILE__, __LINE__, "%s: unexpected %s", name, got);
    }
    CHECK_STATUS(status, diags.errors ? VYRE_INVALID_PROGRAM : VYRE_OK, NULL);
    for (uint32_t i = 0; i < diags.count; i++) {
        const vyre_diagnostic *row = vyre_diagnostic_find(items[i].code);
        CHECK(items[i].severity == VYRE_NOTE || (row && row->severity == items[i].severity));
        CHECK(items[i].severity == VYRE_NOTE || items[i].fix[0] != '\0');
    }
}

TEST(a_program_without_statements_is_fine) {
    vyre_program *program = NULL;
    static const char text[] = "program nothing workgroup(1) grid(1) { }\n";
    vyre_diag_list list = {0};
    REQUIRE_OK(vyre_parse(text, sizeof text - 1, NULL, NULL, &program, &list), NULL);
    CHECK_STATUS(vyre_check(program, NULL, &list), VYRE_OK, NULL);
    vyre_program_release(program);
}

TEST(goldens_say_what_they_expect) {
    static char names[FILES][64];
    const uint32_t count = list_goldens(names);
    for (uint32_t i = 0; i < count; i++) {
        run_golden(names[i]);
    }
}

/* Codes that no text of sensible size gives; the tests below produce them. */
static const char *const without_golden[] = {"V019", "V059", "V060", "V112",
                                             "V208", "V241", "V248", "V284"};

static const char *golden_of(char names[FILES][64], uint32_t count, const char *code) {
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(names[i], code, 4) == 0) {
            return names[i];
        }
    }
    return NULL;
}

TEST(catalogue_is_in_order_and_every_code_has_an_example) {
    static char names[FILES][64];
    const uint32_t goldens = list_goldens(names);
    CHECK(vyre_diagnostic_get(vyre_diagnostic_count()) == NULL);
    CHECK(vyre_diagnostic_find("V999") == NULL);
    CHECK(vyre_diagnostic_find(NULL) == NULL);
    for (uint32_t i = 0; i < vyre_diagnostic_count(); i++) {
        const vyre_diagnostic *row = vyre_diagnostic_get(i);
        REQUIRE(row != NULL);
        CHECK(i == 0 || strcmp(vyre_diagnostic_get(i - 1)->code, row->code) < 0);
        CHECK(vyre_diagnostic_find(row->code) == row);
        CHECK(row->title[0] != '\0' && row->explanation[0] != '\0');
        bool elsewhere = false;
        for (size_t k = 0; k < sizeof without_golden / sizeof without_golden[0]; k++) {
            elsewhere |= strcmp(without_golden[k], row->code) == 0;
        }
        if (elsewhere == (golden_of(names, goldens, row->code) != NULL)) {
            test_fail(__FILE__, __LINE__, "%s: tests/golden/check/%s*.vy %s", row->code, row->code,
                      elsewhere ? "is not needed" : "is missing");
        }
    }
}

typedef struct page {
    char *text;
    size_t length;
} page;

static void VYRE_PRINTF(2, 3) put(page *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    to->length += (size_t)vsnprintf(to->text + to->length, (1 << 20) - to->length, format, args);
    va_end(args);
    REQUIRE(to->length < (1 << 20) - 1);
}

/* The example without its expectations, if it fits on a page; then what vyre says to it. */
static void put_example(page *to, const char *name) {
    static char text[TEXT];
    if (!name) {
        return;
    }
    (void)read_golden(name, text, sizeof text);
    const char *expected = strstr(text, "// expect: ");
    bool fits = true;
    for (const char *line = text; line < expected; line += strcspn(line, "\n") + 1) {
        fits &= strcspn(line, "\n") <= 100 && strcspn(line, "\x01") >= strcspn(line, "\n");
    }
    if (!fits || expected - text > 700) {
        put(to, "Example: `tests/golden/check/%s`.\n\n", name);
        return;
    }
    put(to, "```\n%.*s```\n\n```\n", (int)(expected - text), text);
    for (const char *line = expected; line; line = strstr(line, "// expect: ")) {
        line += strlen("// expect: ");
        put(to, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    put(to, "```\n\n");
}

static void make_page(page *to) {
    static char names[FILES][64];
    const uint32_t goldens = list_goldens(names);
    put(to, "# Diagnostics\n\n"
            "Everything that the parser and the validator can say about a program, by code: what "
            "it means, an\nexample, and the messages that the example gets. `vyre explain CODE` "
            "shows the same text. Codes\nbelow V200 are those of the system whose rules they were. "
            "A code keeps its meaning for good.\n\n"
            "This page is made from the tables in `src/text/diagnostics.def` and "
            "`src/analysis/diagnostics.def`\nand the programs in `tests/golden/check/` by "
            "`UPDATE=1 build/tests/test_check`, and a test compares it.\n\n");
    for (uint32_t i = 0; i < vyre_diagnostic_count(); i++) {
        const vyre_diagnostic *row = vyre_diagnostic_get(i);
        put(to, "## %s %s: %s\n\n%s\n\n", row->code,
            row->severity == VYRE_ERROR ? "error" : "warning", row->title, row->explanation);
        put_example(to, golden_of(names, goldens, row->code));
    }
}

TEST(page_shows_the_catalogue) {
    const char *path = VYRE_SOURCE_DIR "/docs/diagnostics.md";
    static char want[1 << 20], got[1 << 20];
    page made = {.text = want};
    make_page(&made);
    if (getenv("UPDATE")) {
        FILE *file = fopen(path, "wb");
        REQUIRE(file && fwrite(want, 1, made.length, file) == made.length && fclose(file) == 0);
    }
    (void)read_file(path, got, sizeof got);
    if (strcmp(got, want) != 0) {
        test_fail(__FILE__, __LINE__, "docs/diagnostics.md is not up to date");
    }
}

TEST(messages_are_counted_and_ordered_when_there_is_little_room) {
    static char text[TEXT];
    vyre_diag items[2];
    vyre_diag_list diags = {.items = items, .capacity = 2};
    const size_t length = read_golden("several.vy", text, sizeof text);
    CHECK_STATUS(parse_and_check(text, length, false, &diags), VYRE_INVALID_PROGRAM, NULL);
    CHECK_EQ(diags.count, 2);
    CHECK_EQ(diags.errors, 4);
    CHECK_EQ(diags.warnings, 1);
    CHECK_STR(items[0].code, "V088");
    CHECK_STR(items[1].code, "V122");
    CHECK_STATUS(parse_and_check(text, length, false, NULL), VYRE_INVALID_PROGRAM, NULL);
}

TEST(text_beyond_the_limit) {
    const size_t length = (size_t)VYRE_LIMIT_SOURCE_BYTES + 1;
    vyre_diag items[1];
    vyre_diag_list diags = {.items = items, .capacity = 1};
    char *text = calloc(1, length);
    REQUIRE(text != NULL);
    CHECK_STATUS(parse_and_check(text, length, false, &diags), VYRE_INVALID_PROGRAM, NULL);
    CHECK_STR(items[0].code, "V208");
    free(text);
}

/* Programs made with the builder. */

typedef struct made {
    vyre_builder *b;
    vyre_decl u;
} made;

static made begin(void) {
    made m;
    REQUIRE_OK(vyre_builder_create(NULL, "p", &m.b), NULL);
    vyre_build_workgroup(m.b, 64, 1, 1);
    m.u = vyre_build_memory(m.b, VYRE_INOUT, "u", VYRE_U32, vyre_build_size(m.b, 64));
    return m;
}

static vyre_expr u32(made m, uint32_t value) {
    return vyre_build_u32(m.b, value);
}

static void store(made m, vyre_expr value) {
    vyre_build_store(m.b, m.u, u32(m, 0), value);
}

/* Finishes and checks: exactly these codes, in this order. */
static void expect(made m, const char *codes) {
    vyre_diag items[16], diag = {0};
    vyre_diag_list diags = {.items = items, .capacity = 16};
    vyre_program *program = NULL;
    char got[256] = "";
    REQUIRE_OK(vyre_builder_finish(m.b, &program, &diag), &diag);
    (void)vyre_check(program, NULL, &diags);
    for (uint32_t i = 0; i < diags.count; i++) {
        if (items[i].severity != VYRE_NOTE) {
            (void)snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                           items[i].code);
        }
    }
    CHECK_STR(got, codes);
    vyre_program_release(program);
    vyre_builder_destroy(m.b);
}

TEST(a_variable_out_of_scope) {
    made m = begin();
    vyre_build_block(m.b);
    const vyre_var x = vyre_build_let(m.b, "x", u32(m, 1));
    vyre_build_end(m.b);
    store(m, vyre_build_var(m.b, x));
    vyre_build_assign(m.b, x, u32(m, 2));
    expect(m, "V066 V120");
}

TEST(a_variable_of_another_function) {
    made m = begin();
    const vyre_fn fn = vyre_build_fn(m.b, "f", NULL, NULL, 0, VYRE_VOID);
    const vyre_var x = vyre_build_let(m.b, "x", u32(m, 1));
    vyre_build_fn_begin(m.b, fn);
    store(m, vyre_build_var(m.b, x));
    vyre_build_fn_end(m.b);
    expect(m, "V066");
}

TEST(names_that_would_not_parse_back) {
    made m = begin();
    (void)vyre_build_memory(m.b, VYRE_IN, "u", VYRE_F32, VYRE_NONE);
    (void)vyre_build_let(m.b, "x", u32(m, 1));
    (void)vyre_build_let(m.b, "x", u32(m, 1));
    expect(m, "V107 V008");
    m = begin();
    vyre_build_block(m.b);
    (void)vyre_build_let(m.b, "x", u32(m, 1));
    vyre_build_end(m.b);
    vyre_build_block(m.b);
    (void)vyre_build_let(m.b, "x", u32(m, 1));
    vyre_build_end(m.b);
    expect(m, "");
}

TEST(a_loop_variable_is_not_assigned) {
    made m = begin();
    const vyre_var i = vyre_build_for(m.b, "i", u32(m, 0), u32(m, 4), VYRE_NONE);
    vyre_build_assign(m.b, i, u32(m, 1));
    vyre_build_end(m.b);
    expect(m, "V011");
}

TEST(limits) {
    made m = begin();
    for (int i = 0; i < VYRE_LIMIT_NESTING + 1; i++) {
        vyre_build_block(m.b);
    }
    for (int i = 0; i < VYRE_LIMIT_NESTING + 1; i++) {
        vyre_build_end(m.b);
    }
    expect(m, "V018");
    m = begin();
    vyre_expr deep = u32(m, 1);
    for (int i = 1; i < VYRE_LIMIT_EXPR_DEPTH; i++) {
        deep = vyre_build_op(m.b, VYRE_EXPR_BIT_NOT, deep, VYRE_NONE, VYRE_NONE);
    }
    store(m, deep);
    store(m, vyre_build_op(m.b, VYRE_EXPR_BIT_NOT, deep, VYRE_NONE, VYRE_NONE));
    expect(m, "V033");
    m = begin();
    vyre_expr wide = u32(m, 1);
    for (int i = 0; i < 16; i++) {
        wide = vyre_build_op(m.b, VYRE_EXPR_ADD, wide, wide, VYRE_NONE);
    }
    store(m, wide);
    expect(m, "V248");
}

TEST(too_many_statements) {
    made m = begin();
    for (int i = 0; i < VYRE_LIMIT_STATEMENTS; i++) {
        vyre_build_grid_sync(m.b);
    }
    vyre_build_grid_sync(m.b);
    expect(m, "V019");
}

TEST(too_many_declarations) {
    for (int more = 0; more < 2; more++) {
        made m = begin();
        for (int i = 1; i < VYRE_LIMIT_DECLS + more; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "d%d", i);
            (void)vyre_build_memory(m.b, VYRE_SCRATCH, name, VYRE_U32, vyre_build_size(m.b, 1));
        }
        expect(m, more ? "V019" : "");
    }
}

TEST(missing_operands) {
    made m = begin();
    vyre_build_store(m.b, m.u, VYRE_NONE, u32(m, 1));
    vyre_build_if(m.b, VYRE_NONE);
    vyre_build_end(m.b);
    vyre_build_broadcast(m.b, m.u, VYRE_NONE, VYRE_NONE);
    expect(m, "V241 V241 V241");
}

TEST(expected_values_of_atomics) {
    made m = begin();
    (void)vyre_build_atomic(m.b, NULL, VYRE_ATOMIC_CAS, m.u, u32(m, 0), VYRE_NONE, u32(m, 1),
                            VYRE_SEQ_CST);
    (void)vyre_build_atomic(m.b, NULL, VYRE_ATOMIC_ADD, m.u, u32(m, 0), u32(m, 1), u32(m, 1),
                            VYRE_SEQ_CST);
    expect(m, "V059 V060");
}

TEST(lanes_of_subgroup_operations) {
    made m = begin();
    (void)vyre_build_subgroup(m.b, NULL, VYRE_SUBGROUP_SHUFFLE, u32(m, 1), VYRE_NONE);
    (void)vyre_build_subgroup(m.b, NULL, VYRE_SUBGROUP_ADD, u32(m, 1), u32(m, 1));
    expect(m, "V270 V270");
}

TEST(functions_of_the_builder) {
    made m = begin();
    const char *const names[] = {"x"};
    const vyre_type types[] = {VYRE_U8};
    const vyre_fn fn = vyre_build_fn(m.b, "f", names, types, 1, VYRE_F16);
    const vyre_fn none = vyre_build_fn(m.b, "none", NULL, NULL, 0, VYRE_VOID);
    vyre_build_fn_begin(m.b, fn);
    vyre_build_fn_end(m.b);
    vyre_build_fn_begin(m.b, none);
    vyre_build_fn_end(m.b);
    const vyre_expr args[2] = {u32(m, 1), u32(m, 2)};
    (void)vyre_build_call(m.b, NULL, none, args, 2);
    const vyre_var x = vyre_build_call(m.b, "x", none, NULL, 0);
    store(m, vyre_build_var(m.b, x));
    expect(m, "V231 V231 V021 V225");
    m = begin();
    vyre_build_return(m.b, VYRE_NONE);
    expect(m, "V112");
}

TEST(constants_of_the_builder) {
    made m = begin();
    (void)vyre_build_const(m.b, "n", vyre_build_len(m.b, m.u));
    const vyre_decl a = vyre_build_const(m.b, "a", u32(m, 1));
    const vyre_decl b = vyre_build_const(m.b, "b", vyre_build_ref(m.b, a));
    vyre_build_decl_value(m.b, a, vyre_build_ref(m.b, b));
    (void)vyre_build_param(m.b, "k", VYRE_U32, vyre_build_f32(m.b, 1.0f));
    store(m, vyre_build_ref(m.b, b));
    expect(m, "V233 V232 V233");
}

/* One wrong operand far down gives one report, whatever is built on it. */
TEST(no_cascades) {
    made m = begin();
    vyre_expr x = vyre_build_op(m.b, VYRE_EXPR_ADD, u32(m, 1), vyre_build_f32(m.b, 1), VYRE_NONE);
    x = vyre_build_op(m.b, VYRE_EXPR_SQRT, x, VYRE_NONE, VYRE_NONE);
    const vyre_var v = vyre_build_let(m.b, "v", x);
    const vyre_expr use = vyre_build_var(m.b, v);
    store(m, vyre_build_op(m.b, VYRE_EXPR_AND, use, use, VYRE_NONE));
    vyre_build_while(m.b, vyre_build_op(m.b, VYRE_EXPR_NOT, use, VYRE_NONE, VYRE_NONE));
    vyre_build_assign(m.b, v, vyre_build_bool(m.b, true));
    vyre_build_end(m.b);
    expect(m, "V088");
}

static vyre_status check_program(const vyre_allocator *a, void *user) {
    vyre_diag items[8];
    vyre_diag_list diags = {.items = items, .capacity = 8};
    const vyre_status status = vyre_check(user, a, &diags);
    return status == VYRE_INVALID_PROGRAM ? VYRE_OK : status;
}

TEST(every_allocation_may_fail) {
    static char names[FILES][64], text[TEXT];
    const uint32_t count = list_goldens(names);
    for (uint32_t i = 0; i < count; i++) {
        vyre_program *program = NULL;
        const size_t length = read_golden(names[i], text, sizeof text);
        if (vyre_parse(text, length, NULL, NULL, &program, NULL) == VYRE_OK) {
            CHECK(test_every_allocation(check_program, program, 40) > 0);
            vyre_program_release(program);
        }
    }
}
