/* JSON reader and writer, and the waves file. */
#include "harness/test.h"
#include "io/json.h"
#include "io/waves.h"

static vyre_status parse(const char *text, vyre_json *json, vyre_diag *diag) {
    *diag = (vyre_diag){0};
    return vyre_json_parse(text, strlen(text), "x.json", NULL, json, diag);
}

/* Writes a tree without keys back, so that a round trip shows that nothing was lost. */
static void write_tree(const vyre_json *json, vyre_text *text) {
    const vyre_json_node *nodes = json->nodes.data;
    vyre_json_writer w;
    vyre_json_writer_init(&w, text);
    uint32_t open[VYRE_JSON_DEPTH], depth = 0;
    for (uint32_t i = 0; i <= json->nodes.count; i++) {
        while (depth > 0 && i == nodes[open[depth - 1]].end) {
            depth--;
            if (nodes[open[depth]].kind == VYRE_JSON_OBJECT) {
                vyre_json_end_object(&w);
            } else {
                vyre_json_end_array(&w);
            }
        }
        if (i == json->nodes.count) {
            break;
        }
        const vyre_json_node *n = &nodes[i];
        uint64_t number = 0;
        switch (n->kind) {
        case VYRE_JSON_NULL: vyre_json_put_null(&w); break;
        case VYRE_JSON_FALSE:
        case VYRE_JSON_TRUE: vyre_json_put_bool(&w, n->kind == VYRE_JSON_TRUE); break;
        case VYRE_JSON_NUMBER:
            REQUIRE(vyre_json_u64(json, i, "number", &number, NULL) == VYRE_OK);
            vyre_json_put_u64(&w, number);
            break;
        case VYRE_JSON_STRING: vyre_json_put_bytes(&w, n->text, n->length); break;
        case VYRE_JSON_ARRAY:
        case VYRE_JSON_OBJECT:
            open[depth++] = i;
            if (n->kind == VYRE_JSON_OBJECT) {
                vyre_json_begin_object(&w);
            } else {
                vyre_json_begin_array(&w);
            }
            break;
        }
    }
}

static void check_round_trip(const char *text, const char *want) {
    vyre_json json;
    vyre_diag diag;
    vyre_text out;
    REQUIRE_OK(parse(text, &json, &diag), &diag);
    vyre_text_init(&out, NULL);
    write_tree(&json, &out);
    CHECK_STR(vyre_text_string(&out), want);
    vyre_text_finish(&out);
    vyre_json_finish(&json);
}

TEST(json_reads_values) {
    check_round_trip(" [ ] ", "[]");
    check_round_trip("{}", "{}");
    check_round_trip("[1,2 , [3,[]], {}, null, true,\tfalse\r\n]",
                     "[1,2,[3,[]],{},null,true,false]");
    check_round_trip("\"\\u0041\\n\\\"\\\\\\/\\b\\f\\r\\t\"", "\"A\\n\\\"\\\\/\\b\\f\\r\\t\"");
    check_round_trip("\"\\ud83d\\ude00 \\u00e4\\u20ac\\u0000\"",
                     "\"\xf0\x9f\x98\x80 \xc3\xa4\xe2\x82\xac\\u0000\"");
    check_round_trip("18446744073709551615", "18446744073709551615");
    check_round_trip("\"\"", "\"\"");
}

TEST(json_members_are_found) {
    vyre_json json;
    vyre_diag diag;
    REQUIRE_OK(parse("{\"a\":{\"b\":[1,{\"a\":7}]},\"b\":5, \"\\u0063\": 6}", &json, &diag), &diag);
    uint64_t n = 0;
    REQUIRE_OK(vyre_json_u64(&json, vyre_json_member(&json, 0, "b"), "b", &n, &diag), &diag);
    CHECK_EQ(n, 5);
    REQUIRE_OK(vyre_json_u64(&json, vyre_json_member(&json, 0, "c"), "c", &n, &diag), &diag);
    CHECK_EQ(n, 6);
    CHECK_EQ(vyre_json_member(&json, 0, "x"), VYRE_JSON_NONE);
    CHECK_EQ(vyre_json_member(&json, vyre_json_member(&json, 0, "b"), "x"), VYRE_JSON_NONE);
    vyre_json_finish(&json);
}

static void check_refused(const char *text, size_t length, uint32_t line, uint32_t col,
                          const char *part) {
    vyre_json json;
    vyre_diag diag = {0};
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_status status = vyre_json_parse(text, length, "x.json", &a, &json, &diag);
    CHECK_STATUS(status, VYRE_INVALID_INPUT, &diag);
    CHECK_HAS(diag.message, part);
    CHECK_EQ(diag.line, line);
    CHECK_EQ(diag.col, col);
    CHECK_EQ(heap.live_blocks, 0);
}
#define REFUSE(text, line, col, part) check_refused((text), sizeof(text) - 1, line, col, part)

TEST(json_refuses_what_is_not_json) {
    REFUSE("", 1, 1, "value");
    REFUSE("[", 1, 2, "value");
    REFUSE("[1", 1, 3, "','");
    REFUSE("[1,]", 1, 4, "value");
    REFUSE("[,1]", 1, 2, "value");
    REFUSE("[1 2]", 1, 4, "','");
    REFUSE("[1}", 1, 3, "','");
    REFUSE("{\"a\":1,}", 1, 8, "key");
    REFUSE("{a:1}", 1, 2, "quotes");
    REFUSE("{\"a\" 1}", 1, 6, "':'");
    REFUSE("{\"a\":}", 1, 6, "value");
    REFUSE("1 2", 1, 3, "behind the end");
    REFUSE("01", 1, 1, "begin with 0");
    REFUSE("-", 1, 1, "value");
    REFUSE("1.", 1, 3, "point");
    REFUSE("1e+", 1, 4, "exponent");
    REFUSE("+1", 1, 1, "value");
    REFUSE("'a'", 1, 1, "value");
    REFUSE("nul", 1, 1, "value");
    REFUSE("truex", 1, 5, "behind the end");
    REFUSE("[1]\0", 1, 4, "behind the end");
    REFUSE("\"abc", 1, 1, "does not end");
    REFUSE("\"abc\\", 1, 1, "does not end");
    REFUSE("\"\\x\"", 1, 3, "escape");
    REFUSE("\"\\u12g4\"", 1, 6, "hexadecimal");
    REFUSE("\"\\ud800\"", 1, 8, "surrogate");
    REFUSE("\"\\ud800\\n\"", 1, 9, "surrogate");
    REFUSE("\"\\ud800\\u0041\"", 1, 14, "surrogate");
    REFUSE("\"\\udc00\"", 1, 8, "surrogate");
    REFUSE("\"a\nb\"", 1, 3, "control");
    REFUSE("[\"\xc0\x80\"]", 1, 3, "UTF-8");
    REFUSE("[\"\xed\xa0\x80\"]", 1, 3, "UTF-8");
    REFUSE("[\"\xf4\x90\x80\x80\"]", 1, 3, "UTF-8");
    REFUSE("[\"\xe2\x82\"]", 1, 3, "UTF-8");
    REFUSE("\xef\xbb\xbf[]", 1, 1, "value");
    REFUSE("{\"a\":1,\n \"b\":{\"a\":{}},\n  \"a\":2}", 3, 3, "\"a\" is given twice");
    REFUSE("{\"b\":1,\"\\u0062\":1}", 1, 8, "\"b\" is given twice");
}

TEST(json_limits_depth_not_length) {
    static char text[200001];
    memset(text, '[', 100000);
    check_refused(text, 100000, 1, 65, "nesting");
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = '\0';
    vyre_json json;
    vyre_diag diag;
    REQUIRE_OK(parse(text, &json, &diag), &diag);
    CHECK_EQ(json.nodes.count, 64);
    vyre_json_finish(&json);
}

TEST(json_u64_is_exact) {
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {{"-1", "negative"},        {"-0", "negative"},
                 {"1.0", "whole"},          {"1e3", "whole"},
                 {"NaN", "not finite"},     {"Infinity", "not finite"},
                 {"-Infinity", "negative"}, {"18446744073709551616", "64 bits"},
                 {"\"1\"", "not a number"}, {"null", "not a number"},
                 {"[1]", "not a number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vyre_json json;
        vyre_diag diag;
        uint64_t n = 0;
        REQUIRE_OK(parse(cases[i].text, &json, &diag), &diag);
        CHECK_STATUS(vyre_json_u64(&json, 0, "the size", &n, &diag), VYRE_INVALID_INPUT, &diag);
        CHECK_HAS(diag.message, "the size");
        CHECK_HAS(diag.message, cases[i].part);
        CHECK_EQ(diag.col, 1);
        vyre_json_finish(&json);
    }
}

TEST(json_writer_always_writes_valid_text) {
    vyre_text text;
    vyre_json_writer w;
    vyre_text_init(&text, NULL);
    vyre_json_writer_init(&w, &text);
    vyre_json_begin_object(&w);
    vyre_json_key(&w, "a");
    vyre_json_put_i64(&w, -5);
    vyre_json_key(&w, "b");
    vyre_json_begin_array(&w);
    vyre_json_put_bool(&w, true);
    vyre_json_put_null(&w);
    vyre_json_begin_object(&w);
    vyre_json_end_object(&w);
    vyre_json_put_bytes(&w, "x\0\x01\xff\xc3\xa4\xc3", 7);
    vyre_json_end_array(&w);
    vyre_json_key(&w, "\"");
    vyre_json_put_string(&w, "");
    vyre_json_end_object(&w);
    CHECK_STR(vyre_text_string(&text), "{\"a\":-5,\"b\":[true,null,{},\"x\\u0000\\u0001\xef\xbf\xbd"
                                       "\xc3\xa4\xef\xbf\xbd\"],\"\\\"\":\"\"}");
    vyre_json json;
    vyre_diag diag;
    REQUIRE_OK(parse(vyre_text_string(&text), &json, &diag), &diag);
    vyre_json_finish(&json);
    vyre_text_finish(&text);
}

static const char waves_text[] = "{\"waves\":[{\"name\":\"a\",\"frontier\":1,\"scratch\":2,"
                                 "\"output\":3},{\"output\":18446744073709551615,\"name\":\"b\"}],"
                                 "\"deps\":[[\"a\",\"b\"],[\"b\",\"a\"]],"
                                 "\"resident_graph_bytes\":10,\"readback_bytes\":20,\"budget\":30}";

TEST(waves_fill_the_planner_input) {
    vyre_waves w;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_waves_parse(waves_text, strlen(waves_text), "w.json", NULL, &w, &diag), &diag);
    CHECK_EQ(w.set.wave_count, 2);
    CHECK_STR(w.set.waves[0].name, "a");
    CHECK_EQ(w.set.waves[0].frontier * 100 + w.set.waves[0].scratch * 10 + w.set.waves[0].output,
             123);
    CHECK_STR(w.set.waves[1].name, "b");
    CHECK_EQ(w.set.waves[1].output, UINT64_MAX);
    CHECK_EQ(w.set.waves[1].frontier, 0);
    CHECK_EQ(w.set.dep_count, 2);
    CHECK_EQ(w.set.deps[1].before * 10 + w.set.deps[1].after, 10);
    CHECK_EQ(w.set.resident_graph_bytes, 10);
    CHECK_EQ(w.set.readback_bytes, 20);
    CHECK_EQ(w.set.budget_bytes, 30);
    CHECK(w.has_budget);
    vyre_waves_finish(&w);
    REQUIRE_OK(vyre_waves_parse("{\"waves\":[]}", 12, "w.json", NULL, &w, &diag), &diag);
    CHECK_EQ(w.set.wave_count, 0);
    CHECK_EQ(w.set.dep_count, 0);
    CHECK_EQ(w.set.budget_bytes, VYRE_PLAN_NO_BUDGET);
    CHECK(!w.has_budget);
    vyre_waves_finish(&w);
}

TEST(waves_errors_name_the_wave) {
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *part;
    } cases[] = {
        {"[]", 1, 1, "one object"},
        {"{}", 1, 1, "\"waves\" is missing"},
        {"{\"waves\":5}", 1, 10, "must be an array"},
        {"{\"waves\":[5]}", 1, 11, "wave number 0"},
        {"{\"waves\":[{}]}", 1, 11, "no name"},
        {"{\"waves\":[{\"name\":5}]}", 1, 19, "no name"},
        {"{\"waves\":[{\"name\":\"\"}]}", 1, 19, "empty"},
        {"{\"waves\":[{\"name\":\"a\\u0000\"}]}", 1, 19, "NUL"},
        {"{\"waves\":[{\"name\":\"a\"},\n{\"name\":\"a\"}]}", 2, 9, "two waves are named \"a\""},
        {"{\"waves\":[{\"frontier\":-5,\"name\":\"fan\"}]}", 1, 23,
         "wave \"fan\": \"frontier\" is negative"},
        {"{\"waves\":[{\"name\":\"fan\",\n \"scratch\":NaN}]}", 2, 12,
         "wave \"fan\": \"scratch\" is not finite"},
        {"{\"waves\":[{\"name\":\"fan\",\"output\":1.5}]}", 1, 34,
         "wave \"fan\": \"output\" is not a whole"},
        {"{\"waves\":[{\"name\":\"fan\",\"output\":18446744073709551616}]}", 1, 34, "64 bits"},
        {"{\"waves\":[{\"name\":\"fan\",\"bytes\":1}]}", 1, 25, "unknown key \"bytes\""},
        {"{\"waves\":[],\"wave\":1}", 1, 13, "unknown key \"wave\""},
        {"{\"waves\":[],\"budget\":-1}", 1, 22, "\"budget\" is negative"},
        {"{\"waves\":[{\"name\":\"a\"}],\"deps\":[[\"a\",\"q\"]]}", 1, 38, "no wave \"q\""},
        {"{\"waves\":[{\"name\":\"a\"}],\"deps\":[[\"a\"]]}", 1, 33, "two names"},
        {"{\"waves\":[{\"name\":\"a\"}],\"deps\":[\"aa\"]}", 1, 33, "two names"},
        {"{\"waves\":[{\"name\":\"a\"}],\"deps\":[[0,0]]}", 1, 34, "strings"},
        {"{\"waves\":[{\"name\":\"a\"}],\"deps\":{}}", 1, 32, "must be an array"},
        {"1000000000", 1, 1, "one object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vyre_waves w;
        vyre_diag diag = {0};
        test_heap heap = {0};
        vyre_allocator a = test_heap_allocator(&heap);
        vyre_status status =
            vyre_waves_parse(cases[i].text, strlen(cases[i].text), "w.json", &a, &w, &diag);
        CHECK_STATUS(status, VYRE_INVALID_INPUT, &diag);
        CHECK_HAS(diag.message, cases[i].part);
        CHECK_EQ(diag.line, cases[i].line);
        CHECK_EQ(diag.col, cases[i].col);
        CHECK_STR(diag.file, "w.json");
        CHECK_EQ(heap.live_blocks, 0);
        CHECK(heap.peak_bytes < 100000);
    }
}

static vyre_status parse_waves(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_waves w;
    vyre_status status = vyre_waves_parse(waves_text, strlen(waves_text), "w", a, &w, NULL);
    if (status == VYRE_OK) {
        vyre_waves_finish(&w);
    }
    return status;
}

static vyre_status parse_escapes(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_json json;
    vyre_status status = vyre_json_parse("{\"\\n\":\"\\t\"}", 11, "w", a, &json, NULL);
    if (status == VYRE_OK) {
        vyre_json_finish(&json);
    }
    return status;
}

TEST(json_survives_every_failed_allocation) {
    CHECK(test_every_allocation(parse_waves, NULL, 100) >= 8);
    CHECK(test_every_allocation(parse_escapes, NULL, 100) >= 3);
}
