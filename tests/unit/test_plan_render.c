/* Plans as table, JSON, DOT and SVG. */
#include "base/text.h"
#include "harness/test.h"
#include "vyre/plan.h"

static bool collect(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static bool refuse(void *user, const char *text, size_t length) {
    (void)user, (void)text, (void)length;
    return false;
}

static const vyre_wave waves[] = {
    {"load", 100, 0, 50}, {"say \"<&>\"\n", 10, 5, 20}, {NULL, 30, 0, 30}, {"join", 60, 10, 0}};
static const vyre_wave_dep deps[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
static const vyre_wave_set diamond = {.waves = waves,
                                      .wave_count = 4,
                                      .deps = deps,
                                      .dep_count = 4,
                                      .budget_bytes = 300,
                                      .resident_graph_bytes = 100,
                                      .readback_bytes = 7};

static vyre_status show(const vyre_allocator *a, vyre_plan_format format, bool lifetimes,
                        vyre_text *text) {
    vyre_planner *planner;
    vyre_status status = vyre_planner_create(a, &planner, NULL);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_plan plan;
    vyre_plan_memory memory;
    status = vyre_plan_waves(planner, &diamond, NULL, &plan, NULL);
    if (status == VYRE_OK && lifetimes) {
        status = vyre_plan_memory_layout(planner, &diamond, &plan, NULL, &memory, NULL);
    }
    if (status == VYRE_OK) {
        status = vyre_plan_write(&diamond, &plan, lifetimes ? &memory : NULL, format, a, collect,
                                 text, NULL);
    }
    vyre_planner_destroy(planner);
    return status;
}

static const char *shown(vyre_plan_format format, bool lifetimes) {
    static vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(show(NULL, format, lifetimes, &text), NULL);
    return vyre_text_string(&text);
}

TEST(render_table) {
    const char *text = shown(VYRE_PLAN_TABLE, true);
    CHECK_HAS(text, "packed: 4 waves in 3 groups, 2 barriers; optimal (lower bound 3)\n");
    CHECK_HAS(text, "budget 300 bytes, resident graph 100, for a group 200\n");
    CHECK_HAS(text, "     0                  150  [##################......]  75 %  load\n");
    CHECK_HAS(text, "     1                  110  [#############...........]  55 %  say \"<&>\"?, "
                    "wave 2\n");
    CHECK_HAS(text, "peaks: group 150, frontier 100, scratch 10, output 50; read back 50 bytes; "
                    "widest group 2\n");
    CHECK_HAS(
        text,
        "lifetimes: peak 260 bytes in group 1, arena 260 bytes, optimal; within the budget\n");
}

TEST(render_json) {
    CHECK_STR(
        shown(VYRE_PLAN_JSON, false),
        "{\"schema\":1,\"mode\":\"packed\",\"groups\":[[\"load\"],[\"say \\\"<&>\\\"\\u000a\","
        "\"wave 2\"],[\"join\"]],\"barriers\":2,\"lower_bound\":3,\"optimal\":true,\"gap\":0,"
        "\"cancelled\":false,\"nodes\":0,\"peak_group\":150,\"peak_frontier\":100,"
        "\"peak_scratch\":10,\"peak_output\":50,\"readback\":50,\"max_width\":2,"
        "\"budget\":300}\n");
    CHECK_HAS(shown(VYRE_PLAN_JSON, true),
              "\"memory\":{\"peak\":260,\"peak_group\":1,\"arena\":260,"
              "\"lower_bound\":260,\"optimal\":true,\"waves\":[{");
}

TEST(render_dot) {
    const char *text = shown(VYRE_PLAN_DOT, false);
    CHECK_HAS(text, "digraph plan {");
    CHECK_HAS(text, "subgraph cluster_1 {\n    label=\"group 1: 110 bytes\";\n");
    CHECK_HAS(text, "w0 [label=\"load\\n150\"];");
    CHECK_HAS(text, "  w2 -> w3;\n}\n");
}

static uint32_t occurrences(const char *text, const char *part) {
    uint32_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++) {
        count++;
    }
    return count;
}

TEST(render_svg) {
    const char *text = shown(VYRE_PLAN_SVG, false);
    CHECK_HAS(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    CHECK_HAS(text, "say &quot;&lt;&amp;&gt;&quot;?");
    CHECK_EQ(occurrences(text, "<line"), 4);
    CHECK_EQ(occurrences(text, "<rect"), 3 + 4);
    CHECK_EQ(occurrences(text, "</svg>\n"), 1);
    text = shown(VYRE_PLAN_SVG, true);
    CHECK_EQ(occurrences(text, "<rect"), 3 + 4 + 1 + 9);
    CHECK_HAS(text, "arena: 260 bytes");
}

TEST(render_curve) {
    const vyre_plan_point points[] = {{100, 5, 4, 5, true}, {200, 3, 2, 2, false}};
    vyre_text text;
    vyre_text_init(&text, NULL);
    REQUIRE_OK(vyre_plan_curve_write(points, 2, VYRE_PLAN_JSON, NULL, collect, &text, NULL), NULL);
    CHECK_STR(vyre_text_string(&text),
              "{\"schema\":1,\"curve\":[{\"budget\":100,\"groups\":5,\"barriers\":4,"
              "\"lower_bound\":5,\"optimal\":true},{\"budget\":200,\"groups\":3,\"barriers\":2,"
              "\"lower_bound\":2,\"optimal\":false}]}\n");
    vyre_text_reset(&text);
    REQUIRE_OK(vyre_plan_curve_write(points, 2, VYRE_PLAN_TABLE, NULL, collect, &text, NULL), NULL);
    CHECK_HAS(vyre_text_string(&text), "########################  optimal\n");
    CHECK_HAS(vyre_text_string(&text), "############              gap <= 1\n");
    CHECK_STATUS(vyre_plan_curve_write(points, 2, VYRE_PLAN_SVG, NULL, collect, &text, NULL),
                 VYRE_INVALID_ARGUMENT, NULL);
    vyre_text_finish(&text);
}

TEST(render_refuses) {
    vyre_diag diag = {0};
    const uint32_t order[] = {0, 1, 2, 3}, start[] = {0, 4}, good[] = {0, 1, 3, 4};
    vyre_plan plan = {.wave_count = 4, .group_count = 1, .waves = order, .group_start = start};
    CHECK_STATUS(vyre_plan_write(&diamond, &plan, NULL, VYRE_PLAN_JSON, NULL, refuse, NULL, &diag),
                 VYRE_CHECK_FAILED, &diag);
    plan.group_count = 3;
    plan.group_start = good;
    CHECK_STATUS(vyre_plan_write(&diamond, &plan, NULL, VYRE_PLAN_JSON, NULL, refuse, NULL, &diag),
                 VYRE_IO, &diag);
    CHECK_STATUS(
        vyre_plan_write(&diamond, &plan, NULL, (vyre_plan_format)9, NULL, refuse, NULL, &diag),
        VYRE_INVALID_ARGUMENT, &diag);
}

static vyre_status show_all(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_status status = VYRE_OK;
    for (int format = 0; format < 4 && status == VYRE_OK; format++) {
        vyre_text text;
        vyre_text_init(&text, a);
        status = show(a, (vyre_plan_format)format, true, &text);
        if (status == VYRE_OK) {
            status = vyre_text_status(&text, "test", NULL);
        }
        vyre_text_finish(&text);
    }
    return status;
}

TEST(render_survives_every_failed_allocation) {
    CHECK(test_every_allocation(show_all, NULL, 300) > 20);
}
