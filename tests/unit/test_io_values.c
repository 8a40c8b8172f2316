/* Values as text: what is read, what is refused and where, and that what is written reads back. */
#include <math.h>
#include <unistd.h>

#include "base/half.h"
#include "harness/test.h"
#include "io/generate.h"
#include "io/spec.h"
#include "io/values.h"

static void expect_value(vyre_type type, const char *text, uint64_t bits) {
    uint64_t got = 0;
    if (!vyre_value_parse(type, text, strlen(text), &got) || got != bits) {
        test_fail(__FILE__, __LINE__, "%s as %s: %llx", text, vyre_type_name(type),
                  (unsigned long long)got);
    }
}

static void refuse_value(vyre_type type, const char *text) {
    uint64_t got = 0;
    if (vyre_value_parse(type, text, strlen(text), &got)) {
        test_fail(__FILE__, __LINE__, "%s was taken as %s", text, vyre_type_name(type));
    }
}

TEST(integers_up_to_the_ends_of_their_types) {
    expect_value(VYRE_U8, "255", 255);
    expect_value(VYRE_U8, "0xff", 255);
    expect_value(VYRE_U8, "0b101", 5);
    refuse_value(VYRE_U8, "256");
    refuse_value(VYRE_U8, "-1");
    expect_value(VYRE_I8, "-128", 0x80);
    expect_value(VYRE_I8, "+127", 0x7f);
    refuse_value(VYRE_I8, "128");
    refuse_value(VYRE_I8, "-129");
    expect_value(VYRE_I32, "-2147483648", 0x80000000u);
    expect_value(VYRE_U32, "4294967295", 0xffffffffu);
    refuse_value(VYRE_U32, "4294967296");
    expect_value(VYRE_I64, "-9223372036854775808", UINT64_C(1) << 63);
    refuse_value(VYRE_I64, "9223372036854775808");
    expect_value(VYRE_U64, "18446744073709551615", UINT64_MAX);
    refuse_value(VYRE_U64, "18446744073709551616");
    refuse_value(VYRE_U64, "0x10000000000000000");
    refuse_value(VYRE_U32, "");
    refuse_value(VYRE_U32, "0x");
    refuse_value(VYRE_U32, "1.0");
    refuse_value(VYRE_U32, "0b2");
    refuse_value(VYRE_U32, "12a");
}

TEST(floats_are_rounded_once_and_have_words) {
    expect_value(VYRE_F32, "1", 0x3f800000u);
    expect_value(VYRE_F32, "-1.5e1", 0xc1700000u);
    expect_value(VYRE_F32, "inf", 0x7f800000u);
    expect_value(VYRE_F32, "-inf", 0xff800000u);
    expect_value(VYRE_F64, "0.1", UINT64_C(0x3fb999999999999a));
    expect_value(VYRE_F16, "2049", 0x6800);
    /* Just above a tie of f16; rounded to f32 first it would lie on it and go to the even one. */
    expect_value(VYRE_F16, "2049.00000001", 0x6801);
    expect_value(VYRE_BF16, "1.00390625000001", 0x3f81);
    uint64_t bits = 0;
    CHECK(vyre_value_parse(VYRE_F32, "nan", 3, &bits) && isnan(vyre_f32_from_bits((uint32_t)bits)));
    refuse_value(VYRE_F32, "1e99");
    refuse_value(VYRE_F32, "infinite");
    refuse_value(VYRE_F32, "0x10");
    refuse_value(VYRE_F64, "1..2");
}

TEST(bools_are_words_or_bits) {
    expect_value(VYRE_BOOL, "true", 1);
    expect_value(VYRE_BOOL, "1", 1);
    expect_value(VYRE_BOOL, "false", 0);
    expect_value(VYRE_BOOL, "0", 0);
    refuse_value(VYRE_BOOL, "2");
    refuse_value(VYRE_BOOL, "");
}

TEST(what_is_a_list) {
    static const char *const lists[] = {"5",          "1,2,3", "-1.5", "0x10,7",
                                        "true,false", "nan",   "1e-3"};
    static const char *const files[] = {"a.txt", "1,2,", ",1",    "1;2", "./5",
                                        "x",     "1 2",  "5.npy", ""};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        CHECK(vyre_values_are(lists[i]));
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CHECK(!vyre_values_are(files[i]));
    }
}

static void expect_all(const char *text, const uint32_t *wanted, uint64_t count) {
    vyre_array array = {0};
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_values_parse(text, strlen(text), "f.csv", VYRE_U32, NULL, &array, &diag),
               &diag);
    CHECK_EQ(array.count, count);
    CHECK(array.count == count && (count == 0 || memcmp(array.data, wanted, count * 4) == 0));
    vyre_array_finish(&array);
}

TEST(values_stand_between_commas_blanks_and_lines) {
    static const uint32_t wanted[] = {1, 2, 3, 4};
    expect_all("1,2,3,4", wanted, 4);
    expect_all(" 1 2\t3\r\n4\n", wanted, 4);
    expect_all("# head\n1, 2 ,\n3 # more\n,4", wanted, 4);
    expect_all("", wanted, 0);
    expect_all("# nothing\n\n", wanted, 0);
}

static void refuse_all(const char *text, uint32_t line, uint32_t col, const char *what) {
    vyre_array array = {0};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_values_parse(text, strlen(text), "f.csv", VYRE_U32, NULL, &array, &diag),
                 VYRE_INVALID_INPUT, &diag);
    CHECK_EQ(diag.line, line);
    CHECK_EQ(diag.col, col);
    CHECK(strstr(diag.message, what) != NULL);
}

TEST(what_is_no_value_is_refused_at_its_place) {
    refuse_all("1,2\n3,x4,5", 2, 3, "\"x4\"");
    refuse_all("1,,2", 1, 3, "missing");
    refuse_all(",1", 1, 1, "missing");
    refuse_all("1,2,\n", 2, 1, "missing");
    refuse_all("1;2", 1, 1, "\"1;2\"");
    refuse_all("-1", 1, 1, "u32");
}

TEST(what_is_written_reads_back) {
    for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        vyre_array array = {0}, again = {0};
        vyre_diag diag = {0};
        vyre_stage stage;
        vyre_spec spec;
        REQUIRE_OK(vyre_generate_random(type, 5000, 3, NULL, &array, &diag), &diag);
        vyre_stage_init(&stage, NULL);
        REQUIRE_OK(vyre_values_stage(&stage, "values.txt", type, array.data, array.count, &diag),
                   &diag);
        REQUIRE_OK(vyre_stage_commit(&stage, &diag), &diag);
        vyre_stage_finish(&stage);
        REQUIRE_OK(vyre_spec_parse("values.txt", &spec, &diag), &diag);
        CHECK_EQ(spec.source, VYRE_SOURCE_TEXT);
        REQUIRE_OK(vyre_spec_load(&spec, type, NULL, &again, &diag), &diag);
        CHECK_EQ(again.count, array.count);
        CHECK(memcmp(again.data, array.data, vyre_array_size(&array)) == 0);
        vyre_array_finish(&array);
        vyre_array_finish(&again);
        CHECK_EQ(unlink("values.txt"), 0);
    }
}
