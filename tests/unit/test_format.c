/* The formatter: canonical layout, comments kept, formatting twice changes nothing, and the program
 * stays the same. */
#include "harness/text.h"
#include "text/lexer.h"
#include "vyre/text.h"

/* The formatted text; formatted again it must not change. */
static vyre_text format(int line, const char *text) {
    vyre_text once = test_text(), twice = test_text();
    vyre_diag item = {0};
    vyre_diag_list list = {.items = &item, .capacity = 1};
    CHECK_STATUS(vyre_format(text, strlen(text), NULL, NULL, test_text_append, &once, &list),
                 VYRE_OK, &item);
    CHECK_STATUS(vyre_format(vyre_text_string(&once), once.length, NULL, NULL, test_text_append,
                             &twice, &list),
                 VYRE_OK, &item);
    if (strcmp(vyre_text_string(&once), vyre_text_string(&twice)) != 0) {
        test_fail(__FILE__, line, "not stable, first:\n%s\nthen:\n%s", vyre_text_string(&once),
                  vyre_text_string(&twice));
    }
    vyre_text_finish(&twice);
    return once;
}

static void check_format(int line, const char *text, const char *want) {
    vyre_text got = format(line, text);
    if (strcmp(vyre_text_string(&got), want) != 0) {
        test_fail(__FILE__, line, "gives:\n%s\nwant:\n%s", vyre_text_string(&got), want);
    }
    vyre_text_finish(&got);
}
#define FORMAT(text, want) check_format(__LINE__, text, want)

TEST(layout) {
    FORMAT("", "");
    FORMAT("for(let i=0;i<n ;i+=1){x=i;}for(;;){}do{x=1;}\nwhile(x<2) ;\nwhile(x<3){}",
           "for (let i = 0; i < n; i += 1) {\n    x = i;\n}\nfor (;;) { }\ndo {\n    x = 1;\n"
           "} while (x < 2);\nwhile (x < 3) { }\n");
    FORMAT("program p workgroup(1){}", "program p workgroup(1) { }\n");
    FORMAT("program p workgroup( 1 ,2 ) grid(1,len( x )){b [0]=a[ 1 ]+1;{x=1;}\n}",
           "program p workgroup(1, 2) grid(1, len(x)) {\n    b[0] = a[1] + 1;\n    {\n"
           "        x = 1;\n    }\n}\n");
    FORMAT(
        "if(a&&!b){x=1;}else if(c){y=- 1;}\nelse\n{z=a- - b;}",
        "if (a && !b) {\n    x = 1;\n} else if (c) {\n    y = -1;\n} else {\n    z = a - -b;\n}\n");
    FORMAT("for(i in 0..n step-(2)){b[i]+=global_id . x;}",
           "for (i in 0 .. n step -(2)) {\n    b[i] += global_id.x;\n}\n");
    FORMAT("fn f(a:u32,b:f32)->u32{return(a);}",
           "fn f(a : u32, b : f32) -> u32 {\n    return (a);\n}\n");
    FORMAT("x=bitcast < u32 > (1.5)<2; y=a<b; z=f (x) (y);",
           "x = bitcast<u32>(1.5) < 2;\ny = a < b;\nz = f(x) (y);\n");
    FORMAT("region \"a  b\"{grid_sync ;}", "region \"a  b\" {\n    grid_sync;\n}\n");
    FORMAT("x=~-!y;", "x = ~-!y;\n");
}

TEST(blank_lines_are_kept_once) {
    FORMAT("{\n\n\na;\n\n\n\nb;\nc; d;\n\n}\n\n\n", "{\n    a;\n\n    b;\n    c;\n    d;\n}\n");
    FORMAT("\n\n// a\n\n\n// b\nx;\n\n// c\n", "// a\n\n// b\nx;\n\n// c\n");
}

TEST(declarations_that_stand_together_are_aligned) {
    FORMAT("program p workgroup(1) {in a:u32[];scratch long_name:f32[2*len(a)];const C=1;\n\n"
           "readonly inout b:u32[];out c:u8[];x=1;param n:u32=3;}",
           "program p workgroup(1) {\n"
           "    in      a         : u32[];\n"
           "    scratch long_name : f32[2 * len(a)];\n"
           "    const   C         = 1;\n"
           "\n"
           "    readonly inout b : u32[];\n"
           "    out            c : u8[];\n"
           "    x = 1;\n"
           "    param n : u32 = 3;\n"
           "}\n");
    FORMAT("program p workgroup(1) {in a:u32[];// one\nout bb:u32[];\n// two\nparam ccc:u32;}",
           "program p workgroup(1) {\n"
           "    in  a  : u32[]; // one\n"
           "    out bb : u32[];\n"
           "    // two\n"
           "    param ccc : u32;\n"
           "}\n");
}

TEST(comments_stay_where_they_are) {
    FORMAT("// only", "// only\n");
    FORMAT("/* a\n   b */ x; // c\ny; /* d */ z;", "/* a\n   b */ x; // c\ny; /* d */\nz;\n");
    FORMAT("x = // why\n1;", "x = // why\n    1;\n");
    FORMAT("x = /* inside */ 1 + /*two*/2;", "x = /* inside */ 1 + /*two*/ 2;\n");
    FORMAT("f(a, // first\n  b);", "f(a, // first\n    b);\n");
    FORMAT("x\n// own line\n= 1;", "x\n    // own line\n    = 1;\n");
    FORMAT("{ // open\nx;\n// last\n} // close", "{ // open\n    x;\n    // last\n} // close\n");
    FORMAT("if (a) { x; } // c\nelse { y; }", "if (a) {\n    x;\n} // c\nelse {\n    y;\n}\n");
    FORMAT("if (a) { } /* c */ else { y; }", "if (a) { } /* c */ else {\n    y;\n}\n");
    FORMAT("{ /* nothing */ }", "{ /* nothing */ }\n");
    FORMAT("{\n/* nothing */\n}", "{\n    /* nothing */\n}\n");
    FORMAT("{ // nothing\n}", "{ // nothing\n}\n");
    FORMAT("x;//\n\n\n//\ty\r\nz;", "x; //\n\n//\ty\nz;\n");
    FORMAT("/**/ /**/ x /**/ ; /**/", "/**/ /**/ x /**/ ; /**/\n");
    FORMAT("x; /* a */ /* b */ // c\n// d", "x; /* a */ /* b */ // c\n// d\n");
    FORMAT("x; /* a\r\n b */\r\ny;", "x; /* a\n b */\ny;\n");
}

TEST(texts_that_are_refused) {
    vyre_diag item = {0};
    vyre_diag_list list = {.items = &item, .capacity = 1};
    vyre_text out = test_text();
    CHECK_STATUS(vyre_format("( ]", 3, "f", NULL, test_text_append, &out, &list),
                 VYRE_INVALID_PROGRAM, &item);
    CHECK_STR(item.code, "V207");
    CHECK_EQ(out.length, 0);
    vyre_text_finish(&out);
}

static bool refuse(void *user, const char *text, size_t length) {
    (void)text;
    (void)length;
    return ++*(int *)user < 3;
}

TEST(a_writer_that_fails_stops_it) {
    int calls = 0;
    CHECK_STATUS(vyre_format("a b c d e f", 11, NULL, NULL, refuse, &calls, NULL), VYRE_IO, NULL);
    CHECK_EQ(calls, 3);
}

static vyre_status format_with(const vyre_allocator *a, void *user) {
    vyre_text out = test_text();
    const char *text = user;
    vyre_status status = vyre_format(text, strlen(text), "f", a, test_text_append, &out, NULL);
    vyre_text_finish(&out);
    return status;
}

TEST(every_allocation_may_fail) {
    char text[] = "program p workgroup(1) { in a : u32[]; /* c */ b[(1)] = 2; // d\n }";
    CHECK(test_every_allocation(format_with, text, 1000) > 5);
}

/* Both texts have the same tokens and comments. */
static void check_same_tokens(const char *a, const char *b) {
    vyre_source x, y;
    CHECK_STATUS(vyre_source_scan(&x, a, strlen(a), NULL, NULL, NULL), VYRE_OK, NULL);
    CHECK_STATUS(vyre_source_scan(&y, b, strlen(b), NULL, NULL, NULL), VYRE_OK, NULL);
    CHECK_EQ(x.tokens.count, y.tokens.count);
    CHECK_EQ(x.comments.count, y.comments.count);
    for (uint32_t i = 0; i < x.tokens.count && i < y.tokens.count; i++) {
        const vyre_token *s = &x.tokens.data[i], *t = &y.tokens.data[i];
        CHECK(s->kind == t->kind && s->end - s->begin == t->end - t->begin &&
              memcmp(a + s->begin, b + t->begin, s->end - s->begin) == 0);
    }
    for (uint32_t i = 0; i < x.comments.count && i < y.comments.count; i++) {
        CHECK_EQ(x.comments.data[i].before, y.comments.data[i].before);
    }
    vyre_source_finish(&x);
    vyre_source_finish(&y);
}

/* Random sequences of tokens and comments: stable, and the same tokens as before. */
TEST(random_texts_are_stable) {
    static const char *const pieces[] = {
        "program", "in",      "a",           "x",  "readonly", "out",    ":",      "=",    "u32",
        "[",       "]",       "(",           ")",  "{",        "}",      ";",      "-",    "!",
        "<",       ">",       "bitcast",     "..", ".",        "1",      "1.5",    "2u",   ">=",
        ",",       "if",      "else",        "->", "for",      "\"s\"",  "+",      "&&",   "~",
        "// c\n",  "/* d */", "/* e\n f */", "\n", "\n\n",     "\n\n\n", "return", "step", "const"};
    uint64_t state = 7;
    for (int round = 0; round < 20000; round++) {
        vyre_text text = test_text();
        char open[64];
        size_t depth = 0;
        uint64_t count = test_random_below(&state, 60);
        for (uint64_t i = 0; i < count; i++) {
            const char *piece = pieces[test_random_below(&state, sizeof pieces / sizeof *pieces)];
            static const char openers[] = "([{";
            const char *opener = strchr(openers, piece[0]);
            if (opener) {
                open[depth++] = ")]}"[opener - openers];
            }
            if (!strchr(")]}", piece[0])) {
                vyre_text_puts(&text, piece);
            } else if (depth) {
                vyre_text_append(&text, &open[--depth], 1);
            }
            vyre_text_puts(&text, test_random_below(&state, 4) ? " " : "");
        }
        while (depth) {
            vyre_text_append(&text, &open[--depth], 1);
        }
        const char *tokens = vyre_text_string(&text);
        vyre_diag item = {0};
        vyre_diag_list list = {.items = &item, .capacity = 1};
        vyre_text probe = test_text();
        /* Pieces may have grown together to something that is no text. */
        if (vyre_format(tokens, text.length, NULL, NULL, test_text_append, &probe, &list) ==
            VYRE_OK) {
            vyre_text once = format(__LINE__, tokens);
            check_same_tokens(tokens, vyre_text_string(&once));
            vyre_text_finish(&once);
        }
        vyre_text_finish(&probe);
        if (test_failed()) {
            test_fail(__FILE__, __LINE__, "text: %s", tokens);
            test_stop();
        }
        vyre_text_finish(&text);
    }
}
