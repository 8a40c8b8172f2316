/* The lexer: tokens, places, brackets, numbers, and texts that mean harm. */
#include "harness/test.h"
#include "text/lexer.h"

typedef struct scanned {
    vyre_source source;
    vyre_diag items[8];
    vyre_diag_list list;
    vyre_status status;
} scanned;

static void scan_bytes(scanned *s, const char *text, size_t length) {
    memset(s, 0, sizeof *s);
    s->list.items = s->items;
    s->list.capacity = 8;
    s->status = vyre_source_scan(&s->source, text, length, "t.vy", NULL, &s->list);
}

static void scan(scanned *s, const char *text) {
    scan_bytes(s, text, strlen(text));
}

/* Scans, checks the first error's code and column, and frees. */
static void check_error(const char *text, size_t length, const char *code, uint32_t line,
                        uint32_t col) {
    scanned s;
    scan_bytes(&s, text, length);
    CHECK_STATUS(s.status, VYRE_INVALID_PROGRAM, &s.items[0]);
    vyre_source_finish(&s.source);
    CHECK_STR(s.items[0].code, code);
    CHECK_EQ(s.items[0].line, line);
    CHECK_EQ(s.items[0].col, col);
    CHECK(s.items[0].end_col > s.items[0].col);
    CHECK(s.items[0].fix[0] != '\0');
}

#define ERROR_AT(text, code, line, col) check_error(text, sizeof(text) - 1, code, line, col)

TEST(tokens_and_places) {
    scanned s;
    scan(&s, "let x=a<<=b>>c->d..1.5 .5 0..3\n  \"s\\\"t\" // c\n/* d\n */ >= ");
    CHECK_STATUS(s.status, VYRE_OK, NULL);
    static const uint8_t kinds[] = {
        VYRE_TOKEN_NAME,       VYRE_TOKEN_NAME,          VYRE_TOKEN_ASSIGN,      VYRE_TOKEN_NAME,
        VYRE_TOKEN_SHL_ASSIGN, VYRE_TOKEN_NAME,          VYRE_TOKEN_SHIFT_RIGHT, VYRE_TOKEN_NAME,
        VYRE_TOKEN_ARROW,      VYRE_TOKEN_NAME,          VYRE_TOKEN_RANGE,       VYRE_TOKEN_FLOAT,
        VYRE_TOKEN_FLOAT,      VYRE_TOKEN_INTEGER,       VYRE_TOKEN_RANGE,       VYRE_TOKEN_INTEGER,
        VYRE_TOKEN_STRING,     VYRE_TOKEN_GREATER_EQUAL, VYRE_TOKEN_END};
    REQUIRE(s.source.tokens.count == sizeof kinds);
    for (uint32_t i = 0; i < sizeof kinds; i++) {
        CHECK_EQ(s.source.tokens.data[i].kind, kinds[i]);
    }
    CHECK_EQ(s.source.tokens.data[0].word, VYRE_WORD_STMT);
    CHECK_EQ(s.source.tokens.data[1].word, VYRE_WORD_PLAIN);
    vyre_place place = vyre_source_place(&s.source, 16, 16);
    CHECK_EQ(place.line, 2);
    CHECK_EQ(place.col, 3);
    CHECK_EQ(place.end_col, 9);
    place = vyre_source_place(&s.source, 13, 17); /* over several lines: to the end of the first */
    CHECK_EQ(place.line, 1);
    CHECK_EQ(place.end_col, 31);
    CHECK_EQ(s.source.tokens.data[17].line, 3);
    REQUIRE(s.source.comments.count == 2);
    CHECK_EQ(s.source.comments.data[0].before, 17);
    CHECK_EQ(s.source.comments.data[1].end_line, 3);
    CHECK(s.source.comments.data[1].block);
    vyre_source_finish(&s.source);
}

TEST(brackets_are_matched) {
    scanned s;
    scan(&s, "{ ( [ ] ) } ( )");
    CHECK_STATUS(s.status, VYRE_OK, NULL);
    static const uint32_t partner[] = {5, 4, 3, 2, 1, 0, 7, 6};
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_EQ(s.source.tokens.data[i].value, partner[i]);
    }
    vyre_source_finish(&s.source);
    ERROR_AT("a ( b", "V207", 1, 3);
    ERROR_AT("a )", "V207", 1, 3);
    ERROR_AT("{\n  ( ]\n}", "V207", 2, 5);
}

TEST(words) {
    scanned s;
    scan(&s, "workgroup u32 len min atomic_add subgroup_add global_id.x step and sum relaxed x");
    static const uint8_t words[] = {
        VYRE_WORD_ROLE,   VYRE_WORD_TYPE,     VYRE_WORD_FUNCTION, VYRE_WORD_FUNCTION,
        VYRE_WORD_ATOMIC, VYRE_WORD_SUBGROUP, VYRE_WORD_BUILTIN,  0,
        VYRE_WORD_PLAIN,  VYRE_WORD_KEY,      VYRE_WORD_PLAIN,    VYRE_WORD_PLAIN,
        VYRE_WORD_PLAIN,  VYRE_WORD_PLAIN};
    for (uint32_t i = 0; i < sizeof words; i++) {
        CHECK_EQ(s.source.tokens.data[i].word, words[i]);
    }
    CHECK_EQ(s.source.tokens.data[3].sub, VYRE_EXPR_MIN);
    vyre_source_finish(&s.source);
}

TEST(temporaries_start_above_all_names) {
    static const struct {
        const char *text;
        uint32_t next;
    } cases[] = {{"x", 0},  {"_", 0}, {"_0", 1}, {"_7 _3", 8}, {"_12x", 0}, {"_99999999999999", 0},
                 {"__3", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scanned s;
        scan(&s, cases[i].text);
        CHECK_EQ(s.source.next_temporary, cases[i].next);
        vyre_source_finish(&s.source);
    }
}

TEST(numbers) {
    static const struct {
        const char *text;
        vyre_type type;
        bool negative;
        int fit;
        uint64_t bits;
    } cases[] = {
        {"0", VYRE_U32, false, VYRE_LITERAL_FITS, 0},
        {"4294967295", VYRE_U32, false, VYRE_LITERAL_FITS, 0xffffffff},
        {"4294967296", VYRE_U32, false, VYRE_LITERAL_TOO_LARGE, 0},
        {"4_294_967_295", VYRE_U32, false, VYRE_LITERAL_FITS, 0xffffffff},
        {"2147483647", VYRE_I32, false, VYRE_LITERAL_FITS, 0x7fffffff},
        {"2147483648", VYRE_I32, false, VYRE_LITERAL_TOO_LARGE, 0},
        {"2147483648", VYRE_I32, true, VYRE_LITERAL_FITS, 0x80000000},
        {"2147483649", VYRE_I32, true, VYRE_LITERAL_TOO_LARGE, 0},
        {"1", VYRE_I32, true, VYRE_LITERAL_FITS, 0xffffffff},
        {"0xffffffff", VYRE_I32, false, VYRE_LITERAL_FITS, 0xffffffff},
        {"0x100000000", VYRE_I32, false, VYRE_LITERAL_TOO_LARGE, 0},
        {"0b101", VYRE_U64, false, VYRE_LITERAL_FITS, 5},
        {"18446744073709551615", VYRE_U64, false, VYRE_LITERAL_FITS, UINT64_MAX},
        {"18446744073709551616", VYRE_U64, false, VYRE_LITERAL_TOO_LARGE, 0},
        {"9223372036854775808", VYRE_I64, true, VYRE_LITERAL_FITS, UINT64_C(1) << 63},
        {"1.5", VYRE_U32, false, VYRE_LITERAL_NOT_INTEGER, 0},
        {"1.5", VYRE_F32, false, VYRE_LITERAL_FITS, 0x3fc00000},
        {"1.5", VYRE_F32, true, VYRE_LITERAL_FITS, 0xbfc00000},
        {"1", VYRE_F32, false, VYRE_LITERAL_FITS, 0x3f800000},
        {"0x10", VYRE_F32, false, VYRE_LITERAL_FITS, 0x41800000},
        {"16777217", VYRE_F32, false, VYRE_LITERAL_FITS, 0x4b800000},
        {"1e-5", VYRE_F32, false, VYRE_LITERAL_FITS, 0x3727c5ac},
        {"1e-5", VYRE_F64, false, VYRE_LITERAL_FITS, 0x3ee4f8b588e368f1},
        {"0.1", VYRE_F64, false, VYRE_LITERAL_FITS, 0x3fb999999999999a},
        {"12.5e+1", VYRE_F32, false, VYRE_LITERAL_FITS, 0x42fa0000},
        {"1.", VYRE_F32, false, VYRE_LITERAL_FITS, 0x3f800000},
        {"3.4028235e38", VYRE_F32, false, VYRE_LITERAL_FITS, 0x7f7fffff},
        {"3.5e38", VYRE_F32, false, VYRE_LITERAL_TOO_LARGE, 0x7f800000},
        {"1e999999999999", VYRE_F64, false, VYRE_LITERAL_TOO_LARGE, 0x7ff0000000000000},
        {"1e-999999999999", VYRE_F64, false, VYRE_LITERAL_FITS, 0},
        {"1e-45", VYRE_F32, false, VYRE_LITERAL_FITS, 1},
        {"100000000000000000000000", VYRE_F32, false, VYRE_LITERAL_FITS, 0x65a96816},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scanned s;
        scan(&s, cases[i].text);
        CHECK_STATUS(s.status, VYRE_OK, &s.items[0]);
        uint64_t bits;
        CHECK_EQ(vyre_literal_convert(&s.source, 0, cases[i].type, cases[i].negative, &bits),
                 cases[i].fit);
        if (bits != cases[i].bits) {
            test_fail(__FILE__, __LINE__, "%s: %" PRIx64 ", not %" PRIx64, cases[i].text, bits,
                      cases[i].bits);
        }
        vyre_source_finish(&s.source);
    }
}

TEST(suffixes) {
    static const struct {
        const char *text;
        vyre_type type;
    } cases[] = {{"1", VYRE_VOID},     {"1i", VYRE_I32},   {"1u", VYRE_U32},  {"1l", VYRE_I64},
                 {"1ul", VYRE_U64},    {"1.0f", VYRE_F32}, {"1.d", VYRE_F64}, {"0x1f", VYRE_VOID},
                 {"0x1ful", VYRE_U64}, {"1e5d", VYRE_F64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scanned s;
        scan(&s, cases[i].text);
        CHECK_STATUS(s.status, VYRE_OK, &s.items[0]);
        CHECK_EQ(vyre_literal_suffix(&s.source, 0), cases[i].type);
        vyre_source_finish(&s.source);
    }
}

TEST(malformed_numbers) {
    static const char *const texts[] = {"0x",    "0b",   "0b2",  "1__0", "1_",  "0x_1",
                                        "1e",    "1e+",  "1z",   "1.5i", "1uu", "1e5u",
                                        "0x1.5", "1_.5", "0b1f", "12abc"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        check_error(texts[i], strlen(texts[i]), "V203", 1, 1);
    }
    char digits[4000];
    memset(digits, '7', sizeof digits);
    check_error(digits, sizeof digits, "V203", 1, 1);
}

TEST(bytes_that_are_not_text) {
    ERROR_AT("a\0b", "V200", 1, 2);
    ERROR_AT("// \xff\n", "V200", 1, 4);
    ERROR_AT("\n/* \xc3", "V200", 2, 4);
    ERROR_AT("x \x01", "V200", 1, 3);
    ERROR_AT("\"\xed\xa0\x80\"", "V200", 1, 2); /* a surrogate */
    ERROR_AT("\xc0\x80", "V200", 1, 1);         /* overlong */
    ERROR_AT("\xf4\x90\x80\x80", "V200", 1, 1); /* beyond the last character */
    ERROR_AT("x \xc3\xa4", "V201", 1, 3);       /* a letter, but not one of names */
    ERROR_AT("x $ y", "V201", 1, 3);
    ERROR_AT("a\n /* b", "V202", 2, 2);
    ERROR_AT("\"abc\nx", "V204", 1, 1);
    ERROR_AT("\"abc\\", "V204", 1, 1);
    scanned s;
    scan(&s, "\xef\xbb\xbfx // \xc3\xa4 \xf0\x9f\x98\x80\r\n\ty");
    CHECK_STATUS(s.status, VYRE_OK, &s.items[0]);
    CHECK_EQ(s.source.tokens.count, 3);
    vyre_source_finish(&s.source);
}

TEST(several_errors_in_one_text) {
    scanned s;
    scan(&s, "$ 1z\n # \"x");
    CHECK_EQ(s.list.errors, 4);
    vyre_source_finish(&s.source);
    CHECK_STR(s.items[1].code, "V203");
    CHECK_STR(s.items[3].code, "V204");
}

TEST(long_names) {
    char text[300];
    memset(text, 'a', sizeof text);
    check_error(text, 256, "V205", 1, 1);
    scanned s;
    scan_bytes(&s, text, 255);
    CHECK_STATUS(s.status, VYRE_OK, NULL);
    vyre_source_finish(&s.source);
}

/* Ten megabytes of brackets are refused before they are stored. */
TEST(ten_megabytes_of_brackets) {
    size_t length = 10 << 20;
    char *text = malloc(length);
    REQUIRE(text != NULL);
    for (int kind = 0; kind < 3; kind++) {
        memset(text, "([{"[kind], length);
        test_heap heap = {0};
        vyre_allocator a = test_heap_allocator(&heap);
        vyre_source source;
        vyre_diag item;
        vyre_diag_list list = {.items = &item, .capacity = 1};
        CHECK_STATUS(vyre_source_scan(&source, text, length, NULL, &a, &list), VYRE_INVALID_PROGRAM,
                     &item);
        vyre_source_finish(&source);
        CHECK_STR(item.code, "V206");
        CHECK(heap.peak_bytes < 1 << 20);
        CHECK_EQ(heap.live_blocks, 0);
    }
    memset(text, ')', length);
    check_error(text, length, "V207", 1, 1);
    free(text);
    vyre_source source;
    CHECK_STATUS(
        vyre_source_scan(&source, "", (size_t)VYRE_LIMIT_SOURCE_BYTES + 1, NULL, NULL, NULL),
        VYRE_INVALID_PROGRAM, NULL);
    vyre_source_finish(&source);
}
