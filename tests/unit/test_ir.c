/* Programs built from C: numbering, printing, equality, hash, statistics, misuse. */
#include <locale.h>

#include "base/shortest.h"
#include "harness/run.h"
#include "io/digest.h"
#include "ir/names.h"

typedef struct sink {
    char text[8192];
    size_t length;
} sink;

static bool collect(void *user, const char *text, size_t length) {
    sink *s = user;
    if (s->length + length >= sizeof s->text) {
        return false;
    }
    memcpy(s->text + s->length, text, length);
    s->length += length;
    s->text[s->length] = '\0';
    return true;
}

static vyre_builder *begin(const vyre_allocator *a, const char *name) {
    vyre_builder *b = NULL;
    return vyre_builder_create(a, name, &b) == VYRE_OK ? b : NULL;
}

static vyre_status saxpy(const vyre_allocator *a, const char *param, vyre_program **out,
                         vyre_diag *diag) {
    vyre_builder *b = begin(a, "saxpy");
    if (!b) {
        return VYRE_OUT_OF_MEMORY;
    }
    vyre_builder_at(b, VYRE_HERE);
    vyre_build_workgroup(b, 64, 1, 1);
    vyre_decl x = vyre_build_memory(b, VYRE_IN, "x", VYRE_F32, VYRE_NONE);
    vyre_decl y = vyre_build_memory(b, VYRE_INOUT, "y", VYRE_F32, VYRE_NONE);
    vyre_decl k = vyre_build_param(b, param, VYRE_F32, vyre_build_f32(b, 2.0f));
    vyre_build_elements(b, vyre_build_len(b, x));
    vyre_expr gid = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
    vyre_var i = vyre_build_let(b, "i", gid);
    vyre_build_if(
        b, vyre_build_op(b, VYRE_EXPR_LT, vyre_build_var(b, i), vyre_build_len(b, y), VYRE_NONE));
    vyre_expr at = vyre_build_var(b, i);
    vyre_build_store(b, y, at,
                     vyre_build_op(b, VYRE_EXPR_FMA, vyre_build_ref(b, k),
                                   vyre_build_load(b, x, at), vyre_build_load(b, y, at)));
    vyre_build_end(b);
    vyre_status status = vyre_builder_finish(b, out, diag);
    vyre_builder_destroy(b);
    return status;
}

TEST(builder_makes_a_program_that_prints) {
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(saxpy(NULL, "a", &p, &diag), &diag);
    sink out = {0};
    CHECK_EQ(vyre_program_print(p, collect, &out), VYRE_OK);
    CHECK_STR(out.text, "program saxpy workgroup(64) elements(len(x)) {\n"
                        "    in x : f32[];\n"
                        "    inout y : f32[];\n"
                        "    param a : f32 = 2.0;\n"
                        "\n"
                        "    let i = global_id.x;\n"
                        "    if (i < len(y)) {\n"
                        "        y[i] = fma(a, x[i], y[i]);\n"
                        "    }\n"
                        "}\n");
    const vyre_program_view *v = vyre_program_get(p);
    CHECK_EQ(v->stats.statements, 3);
    CHECK_EQ(v->stats.memory_ops, 3);
    CHECK_EQ(v->stats.max_nesting, 1);
    CHECK(vyre_program_has_no_grid_sync(p));
    CHECK_EQ(vyre_program_find_decl(p, "y"), 1);
    CHECK_EQ(vyre_program_find_decl(p, "nope"), VYRE_NONE);
    CHECK_HAS(vyre_program_stmt_place(p, 0).file, "test_ir.c");
    vyre_program_release(p);
}

TEST(equal_programs_are_equal_and_different_ones_differ) {
    vyre_program *a = NULL, *b = NULL, *c = NULL;
    REQUIRE_OK(saxpy(NULL, "a", &a, NULL), NULL);
    REQUIRE_OK(saxpy(NULL, "a", &b, NULL), NULL);
    REQUIRE_OK(saxpy(NULL, "k", &c, NULL), NULL);
    CHECK(vyre_program_equal(a, b));
    CHECK_EQ(vyre_program_get(a)->hash, vyre_program_get(b)->hash);
    CHECK(!vyre_program_equal(a, c));
    CHECK(vyre_program_get(a)->hash != vyre_program_get(c)->hash);
    vyre_program_release(a);
    vyre_program_release(b);
    vyre_program_release(c);
}

static vyre_status build_saxpy(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_program *p = NULL;
    vyre_status status = saxpy(a, "a", &p, NULL);
    vyre_program_release(p);
    return status;
}

TEST(builder_survives_every_failed_allocation) {
    CHECK(test_every_allocation(build_saxpy, NULL, 1000) > 10);
}

TEST(functions_come_first_and_variables_are_numbered_by_binding) {
    vyre_builder *b = begin(NULL, "p");
    vyre_build_grid(b, vyre_build_u32(b, 4), vyre_build_i32(b, -2), VYRE_NONE);
    vyre_decl out = vyre_build_memory(b, VYRE_OUT, "o", VYRE_U32, vyre_build_u32(b, 8));
    vyre_var first = vyre_build_let(b, "first", vyre_build_u32(b, 1));
    const char *names[] = {"v"};
    vyre_type types[] = {VYRE_U32};
    vyre_fn f = vyre_build_fn(b, "twice", names, types, 1, VYRE_U32);
    vyre_expr arg = vyre_build_var(b, first);
    vyre_var got = vyre_build_call(b, "got", f, &arg, 1);
    vyre_build_fn_begin(b, f);
    vyre_expr v = vyre_build_var(b, vyre_build_fn_argument(b, f, 0));
    vyre_var t = vyre_build_let(b, "t", vyre_build_op(b, VYRE_EXPR_ADD, v, v, VYRE_NONE));
    vyre_build_return(b, vyre_build_var(b, t));
    vyre_build_fn_end(b);
    vyre_build_atomic(b, "old", VYRE_ATOMIC_CAS, out, vyre_build_u32(b, 0), vyre_build_u32(b, 1),
                      vyre_build_var(b, got), VYRE_RELAXED);
    vyre_build_grid_sync(b);
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    const vyre_program_view *view = vyre_program_get(p);
    CHECK_EQ(view->fns[0].begin, 0);
    CHECK_EQ(view->fns[0].end, 2);
    CHECK_EQ(view->entry, 2);
    const char *order[] = {"v", "t", "first", "got", "old"};
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_STR(view->vars[i].name, order[i]);
    }
    CHECK(!vyre_program_has_no_grid_sync(p));
    sink text = {0};
    (void)vyre_program_print(p, collect, &text);
    CHECK_STR(text.text, "program p workgroup(1) grid(4, -2) {\n"
                         "    out o : u32[8];\n"
                         "\n"
                         "    fn twice(v : u32) -> u32 {\n"
                         "        let t = v + v;\n"
                         "        return t;\n"
                         "    }\n"
                         "\n"
                         "    let first = 1;\n"
                         "    let got = twice(first);\n"
                         "    let old = atomic_cas(o[0], 1, got, relaxed);\n"
                         "    grid_sync;\n"
                         "}\n");
    vyre_program_release(p);
}

TEST(printer_brackets_literals_and_else_if) {
    vyre_builder *b = begin(NULL, "p");
    vyre_decl o = vyre_build_memory(b, VYRE_OUT, "o", VYRE_F32, vyre_build_size(b, 1));
    vyre_expr one = vyre_build_u32(b, 1), two = vyre_build_u32(b, 2), three = vyre_build_u32(b, 3);
    vyre_expr diff = vyre_build_op(b, VYRE_EXPR_SUB, two, three, VYRE_NONE);
    vyre_build_let(b, "a", vyre_build_op(b, VYRE_EXPR_SUB, one, diff, VYRE_NONE));
    vyre_build_let(b, "b", vyre_build_op(b, VYRE_EXPR_SUB, diff, one, VYRE_NONE));
    vyre_build_let(b, "c", vyre_build_op(b, VYRE_EXPR_MUL, diff, one, VYRE_NONE));
    vyre_expr five = vyre_build_i32(b, 5);
    vyre_build_let(b, "d", vyre_build_op(b, VYRE_EXPR_NEG, five, VYRE_NONE, VYRE_NONE));
    vyre_build_let(b, "e", vyre_build_i32(b, -5));
    vyre_build_let(b, "f", vyre_build_f32(b, 0.1f));
    vyre_build_let(b, "g", vyre_build_f64(b, 0.1));
    vyre_build_let(b, "h", vyre_build_f32(b, 1e30f));
    vyre_build_let(b, "k", vyre_build_literal(b, VYRE_F32, 0x7f800000));
    vyre_build_let(b, "l", vyre_build_literal(b, VYRE_I64, UINT64_C(1) << 63));
    vyre_build_if(b, vyre_build_bool(b, true));
    vyre_build_else(b);
    vyre_build_if(b, one);
    vyre_build_else(b);
    vyre_build_store(b, o, one, vyre_build_f32(b, -2.5f));
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_region(b, "a \"q\"\n");
    vyre_build_end(b);
    vyre_program *p = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_builder_finish(b, &p, &diag), &diag);
    vyre_builder_destroy(b);
    sink text = {0};
    (void)vyre_program_print(p, collect, &text);
    CHECK_STR(text.text, "program p workgroup(1) {\n"
                         "    out o : f32[1];\n"
                         "\n"
                         "    let a = 1 - (2 - 3);\n"
                         "    let b = 2 - 3 - 1;\n"
                         "    let c = (2 - 3) * 1;\n"
                         "    let d = -(5i);\n"
                         "    let e = -5i;\n"
                         "    let f = 0.1;\n"
                         "    let g = 0.1d;\n"
                         "    let h = 1e+30;\n"
                         "    let k = bitcast<f32>(2139095040);\n"
                         "    let l = -9223372036854775808l;\n"
                         "    if (true) {\n"
                         "    } else if (1) {\n"
                         "    } else {\n"
                         "        o[1] = -2.5;\n"
                         "    }\n"
                         "    region \"a \\\"q\\\"\\n\" {\n"
                         "    }\n"
                         "}\n");
    vyre_program_release(p);
}

TEST(misuse_is_kept_and_reported_with_its_place) {
    static const char *const wanted[] = {"end without an opener",
                                         "else without an if",
                                         "no such variable",
                                         "not a buffer",
                                         "still open",
                                         "reserved word",
                                         "not a name",
                                         "has no body",
                                         "not an expression"};
    for (int i = 0; i < 9; i++) {
        vyre_builder *b = begin(NULL, "p");
        vyre_builder_at(b, (vyre_place){.file = "f.c", .line = 7});
        switch (i) {
        case 0: vyre_build_end(b); break;
        case 1:
            vyre_build_block(b);
            vyre_build_else(b);
            break;
        case 2: (void)vyre_build_var(b, 3); break;
        case 3: vyre_build_store(b, 0, vyre_build_u32(b, 0), vyre_build_u32(b, 0)); break;
        case 4: vyre_build_block(b); break;
        case 5: (void)vyre_build_let(b, "while", vyre_build_u32(b, 0)); break;
        case 6: (void)vyre_build_let(b, "9a", vyre_build_u32(b, 0)); break;
        case 7: (void)vyre_build_fn(b, "f", NULL, NULL, 0, VYRE_VOID); break;
        default: (void)vyre_build_let(b, "a", 77); break;
        }
        (void)vyre_build_let(b, "later", vyre_build_u32(b, 1)); /* must not crash */
        vyre_program *p = NULL;
        vyre_diag diag = {0};
        CHECK_STATUS(vyre_builder_finish(b, &p, &diag), VYRE_INVALID_ARGUMENT, &diag);
        CHECK_HAS(diag.message, wanted[i]);
        CHECK(p == NULL);
        CHECK_EQ(diag.line, 7);
        CHECK(diag.fix[0] != '\0');
        vyre_builder_destroy(b);
    }
}

TEST(expression_depth_is_bounded) {
    vyre_builder *b = begin(NULL, "p");
    vyre_expr e = vyre_build_u32(b, 1);
    for (int i = 0; i < 10000; i++) {
        e = vyre_build_op(b, VYRE_EXPR_BIT_NOT, e, VYRE_NONE, VYRE_NONE);
    }
    CHECK_EQ(vyre_builder_status(b), VYRE_LIMIT);
    vyre_builder_destroy(b);
}

/* The host program may have set any locale: texts do not follow it. */
TEST(numbers_are_printed_alike_in_every_locale) {
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "C"};
    char a[] = "-1,5e+10",
         b[] = "0\xd9\xab"
               "25",
         c[] = "17", d[] = "1.5", e[] = "inf";
    char *const texts[] = {a, b, c, d, e};
    static const char *const want[] = {"-1.5e+10", "0.25", "17", "1.5", "inf"};
    for (uint32_t i = 0; i < 5; i++) {
        vyre_shortest_point(texts[i]);
        CHECK_STR(texts[i], want[i]);
    }
    for (uint32_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        if (!setlocale(LC_ALL, locales[i])) {
            continue;
        }
        vyre_builder *builder = NULL;
        REQUIRE_OK(vyre_builder_create(NULL, "p", &builder), NULL);
        vyre_decl o = vyre_build_memory(builder, VYRE_OUT, "o", VYRE_F32, VYRE_NONE);
        vyre_build_store(builder, o, vyre_build_u32(builder, 0), vyre_build_f32(builder, 0.1f));
        vyre_program *p = NULL;
        REQUIRE_OK(vyre_builder_finish(builder, &p, NULL), NULL);
        sink text = {0};
        (void)vyre_program_print(p, collect, &text);
        CHECK_HAS(text.text, "o[0] = 0.1;");
        char value[VYRE_VALUE_TEXT];
        vyre_value_format(VYRE_F64, &(double){2.5}, value);
        CHECK_STR(value, "2.5");
        CHECK_STR(vyre_fixed2(1.25).text, "1.25");
        vyre_program_release(p);
        vyre_builder_destroy(builder);
    }
}

/* A function that nobody calls waits for nobody. */
TEST(only_what_is_reached_waits_for_the_grid) {
    static const struct {
        const char *text;
        bool waits;
    } cases[] = {
        {"program p workgroup(1) { out o : u32[4]; fn f() { grid_sync; } o[0] = 1; }", false},
        {"program p workgroup(1) { out o : u32[4]; fn g() { grid_sync; } fn f() { g(); } o[0] = 1; "
         "}",
         false},
        {"program p workgroup(1) { out o : u32[4]; fn g() { grid_sync; } fn f() { g(); } o[0] = 1; "
         "f(); }",
         true},
        {"program p workgroup(1) { out o : u32[4]; fn f() { g(); } fn g() { all_reduce(o, sum); } "
         "f(); }",
         true},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_program *p = run_parse(cases[i].text);
        CHECK_EQ(vyre_contains_grid_sync(p), cases[i].waits);
        CHECK_EQ(vyre_program_get(p)->stats.stmt_kinds >> VYRE_STMT_CALL & 1, i > 0);
        vyre_program_release(p);
    }
}

TEST(names_know_the_reserved_words) {
    static const char *const reserved[] = {"let",     "u32", "bf16", "grid_sync",
                                           "true",    "fn",  "in",   "barrier",
                                           "bitcast", "do",  "exit", "param"};
    static const char *const free_names[] = {"sum",
                                             "acquire",
                                             "x",
                                             "reads",
                                             "and",
                                             "min",
                                             "subgroup_add",
                                             "step",
                                             "global_id",
                                             "World_1",
                                             "swap",
                                             "atomic_add",
                                             "grid",
                                             "len",
                                             "subgroup_size",
                                             "subgroup_local_id"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        CHECK(vyre_name_is_reserved(reserved[i], strlen(reserved[i])));
    }
    for (size_t i = 0; i < sizeof free_names / sizeof *free_names; i++) {
        CHECK(!vyre_name_is_reserved(free_names[i], strlen(free_names[i])));
        CHECK(vyre_name_is_identifier(free_names[i], strlen(free_names[i])));
    }
    CHECK(!vyre_name_is_identifier("", 0));
    CHECK(!vyre_name_is_identifier("a-b", 3));
}

static vyre_key key_of(const char *text, const char *options) {
    vyre_program *p = run_parse(text);
    vyre_key key;
    vyre_program_key(p, options, strlen(options), &key);
    vyre_program_release(p);
    return key;
}

/* Equal programs have equal keys, wherever they were written; everything else counts. */
TEST(a_key_is_that_of_the_program_and_the_options) {
    static const char *const texts[] = {
        "program p workgroup(2) elements(4) { out o : u32[4]; o[global_id.x] = 1; }",
        "program p workgroup(2) elements(4) {\nout o : u32[4]; // same\no[global_id.x] = 1; }",
        "program p workgroup(2) elements(4) { out o : u32[4]; o[global_id.x] = 2; }",
        "program q workgroup(2) elements(4) { out o : u32[4]; o[global_id.x] = 1; }",
    };
    const vyre_key key = key_of(texts[0], "avx2"), same = key_of(texts[1], "avx2");
    CHECK(memcmp(&key, &same, sizeof key) == 0);
    for (int i = 0; i < 4; i++) {
        const vyre_key other = key_of(texts[i], i < 2 ? "sse2" : "avx2");
        CHECK(memcmp(&key, &other, sizeof key) != 0);
    }
}

static uint32_t rank_with_width(uint32_t width) {
    vyre_builder *b;
    vyre_program *p;
    REQUIRE_OK(vyre_builder_create(NULL, "p", &b), NULL);
    vyre_build_workgroup(b, 1, 1, 1);
    const vyre_expr sizes[] = {vyre_build_size(b, 4), vyre_build_size(b, 8)};
    const vyre_decl m = vyre_build_memory(b, VYRE_INOUT, "m", VYRE_U32, VYRE_NONE);
    vyre_build_decl_dimensions(b, m, sizes, 2);
    const vyre_expr one = vyre_build_u32(b, 1);
    vyre_build_store(b, m, vyre_build_element(b, m, (const vyre_expr[]){one, one}), one);
    vyre_build_store(b, m, vyre_build_op(b, VYRE_EXPR_ROW, one, vyre_build_u32(b, width), one),
                     one);
    REQUIRE_OK(vyre_builder_finish(b, &p, NULL), NULL);
    const uint32_t rank = vyre_program_get(p)->decls[m].rank;
    vyre_builder_destroy(b);
    vyre_program_release(p);
    return rank;
}

TEST(memory_that_is_accessed_otherwise_has_one_dimension) {
    CHECK_EQ(rank_with_width(8), 2);
    CHECK_EQ(rank_with_width(7), 1);
}
