/* Modules as text: what the formats say, and that they fail cleanly. The whole outputs are compared
 * byte by byte in tests/cli/split.sh. */
#include "base/text.h"
#include "harness/run.h"
#include "vyre/backend.h"

static bool collect(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static bool refuse(void *user, const char *text, size_t length) {
    (void)user, (void)text, (void)length;
    return false;
}

static const char program[] = "program p workgroup(2) elements(4) {\n"
                              "  inout x : u32[4]; workgroup t : u32[2]; private a : u32[2];\n"
                              "  let i = global_id.x; let v = x[i]; t[local_id.x] = v;\n"
                              "  a[i % 2] = v; if (v == 77) { exit; } x[i] = v;\n"
                              "  grid_sync; grid_sync;\n"
                              "  while (x[0] < 9) { grid_sync;\n"
                              "    x[i] = x[i] + v + t[local_id.x] + a[i % 2]; grid_sync; } }";

static const vyre_module_format formats[] = {VYRE_MODULE_TEXT, VYRE_MODULE_EXPLAIN,
                                             VYRE_MODULE_JSON, VYRE_MODULE_DOT, VYRE_MODULE_SVG};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static vyre_module *split(const char *text, bool keep_barriers) {
    vyre_program *p = run_parse(text);
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    vyre_split_options options = {.keep_barriers = keep_barriers};
    REQUIRE_OK(vyre_split(p, &options, NULL, &module, &diag), &diag);
    vyre_program_release(p);
    return module;
}

static void show(const vyre_module *module, vyre_module_format format, vyre_text *text) {
    vyre_diag diag = {0};
    vyre_text_init(text, NULL);
    REQUIRE_OK(vyre_module_write(module, format, NULL, collect, text, &diag), &diag);
}

TEST(explain_names_what_is_carried_and_how) {
    vyre_module *module = split(program, false);
    vyre_text text;
    show(module, VYRE_MODULE_EXPLAIN, &text);
    const char *shown = vyre_text_string(&text);
    CHECK_HAS(shown, "3 grid barriers\n");
    CHECK_HAS(shown, "grid_sync, line 5, behind step 0 (p_0)\n");
    CHECK_HAS(shown, "i                    recomputed ");
    CHECK_HAS(shown, "v                    stored by each lane                 4 bytes");
    CHECK_HAS(shown, "t                    memory, stored for each group       8 bytes");
    CHECK_HAS(shown, "a                    array, stored by each lane          8 bytes");
    CHECK_HAS(shown, "(lanes that ended)   masked: a flag for each lane        4 bytes");
    CHECK_HAS(shown, "in total 16 bytes per lane, 8 per group\n");
    CHECK_HAS(shown, "    stays: x is written on line 4 and read on line 6\n");
    CHECK_HAS(shown, "grid_sync, line 5, removed: nothing that is written on one side is used on "
                     "the other\n");
    CHECK_HAS(shown, "buffers stay in device memory\n");
    vyre_text_finish(&text);
    vyre_module_release(module);
}

TEST(text_is_the_schedule_and_programs) {
    vyre_module *module = split(program, false);
    vyre_text text;
    show(module, VYRE_MODULE_TEXT, &text);
    const char *shown = vyre_text_string(&text);
    CHECK_HAS(shown, "step 0    p_0\n    end if no lane is alive\n    grid_sync, line 5\n");
    CHECK_HAS(shown, "if x[0] < 9, line 6: go to step ");
    const vyre_module_view *v = vyre_module_get(module);
    for (uint32_t i = 0; i < v->segment_count; i++) {
        vyre_text segment;
        vyre_text_init(&segment, NULL);
        REQUIRE_OK(vyre_program_print(v->segments[i], collect, &segment), NULL);
        CHECK_HAS(shown, vyre_text_string(&segment));
        vyre_text_finish(&segment);
    }
    vyre_text_finish(&text);
    vyre_module_release(module);
}

/* The order of steps is that of the source: only loops lead back. */
TEST(steps_are_in_the_order_of_the_source) {
    vyre_module *module = split("program p workgroup(1) elements(2) { inout x : u32[2];\n"
                                "  for (i in 0 .. 3) { x[global_id.x] = i;\n grid_sync;\n"
                                "    if (i == 1) { x[global_id.x] = 5;\n grid_sync; }\n"
                                "    else { grid_sync;\n x[global_id.x] = 7; }\n"
                                "    x[0] = 1; }\n grid_sync;\n x[1] = 2; }",
                                true);
    const vyre_module_view *v = vyre_module_get(module);
    uint32_t back = 0, line = 0;
    for (uint32_t i = 0; i < v->step_count; i++) {
        const vyre_step *step = &v->steps[i];
        back += step->kind != VYRE_STEP_END && step->next <= i;
        back += step->kind == VYRE_STEP_BRANCH && step->otherwise <= i;
        if (step->sync) {
            CHECK(step->place.line > line);
            line = step->place.line;
        }
    }
    CHECK_EQ(back, 1);
    CHECK_EQ(v->sync_points, 4);
    vyre_module_release(module);
}

/* Names and texts from the source can not break out of the formats. */
TEST(pictures_quote_what_they_show) {
    vyre_module *module = split("program p workgroup(1) elements(2) { inout x : u32[2];\n"
                                "  if (x[0] < 3 && x[1] > 1) { trap(\"a\\\"<b>&\\\\\", 0); }\n"
                                "  grid_sync; x[global_id.x] = x[1 - global_id.x]; }",
                                false);
    vyre_text text;
    show(module, VYRE_MODULE_SVG, &text);
    CHECK_HAS(vyre_text_string(&text), "if (x[0] &lt; 3 &amp;&amp; x[1] &gt; 1) {");
    CHECK_HAS(vyre_text_string(&text), "trap(&quot;a\\&quot;&lt;b&gt;&amp;\\\\&quot;, 0);");
    vyre_text_finish(&text);
    show(module, VYRE_MODULE_DOT, &text);
    CHECK_HAS(vyre_text_string(&text), "trap(\\\"a\\\\\\\"<b>&\\\\\\\\\\\", 0);\\l");
    vyre_text_finish(&text);
    vyre_module_release(module);
}

/* A program that was built without places is shown, too. */
TEST(programs_without_places) {
    vyre_builder *b;
    REQUIRE_OK(vyre_builder_create(NULL, "built", &b), NULL);
    vyre_build_workgroup(b, 1, 1, 1);
    vyre_build_elements(b, vyre_build_size(b, 2));
    vyre_decl x = vyre_build_memory(b, VYRE_INOUT, "x", VYRE_U32, vyre_build_size(b, 2));
    vyre_expr at = vyre_build_id(b, VYRE_BUILTIN_GLOBAL_ID, 0);
    vyre_build_store(b, x, at, vyre_build_u32(b, 1));
    vyre_build_grid_sync(b);
    vyre_build_store(b, x, at, vyre_build_u32(b, 2));
    vyre_program *p = NULL;
    vyre_module *module = NULL;
    REQUIRE_OK(vyre_builder_finish(b, &p, NULL), NULL);
    vyre_builder_destroy(b);
    REQUIRE_OK(vyre_split(p, NULL, NULL, &module, NULL), NULL);
    for (int i = 0; i < FORMATS; i++) {
        vyre_text text;
        show(module, formats[i], &text);
        CHECK(text.length > 0);
        if (formats[i] == VYRE_MODULE_EXPLAIN) {
            CHECK_HAS(vyre_text_string(&text), "grid_sync, an unknown line, behind step 0");
        }
        vyre_text_finish(&text);
    }
    vyre_module_release(module);
    vyre_program_release(p);
}

TEST(bad_calls) {
    vyre_module *module = split(program, false);
    vyre_diag diag = {0};
    vyre_text text;
    vyre_text_init(&text, NULL);
    CHECK_STATUS(vyre_module_write(NULL, VYRE_MODULE_TEXT, NULL, collect, &text, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_module_write(module, VYRE_MODULE_TEXT, NULL, NULL, NULL, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_module_write(module, (vyre_module_format)99, NULL, collect, &text, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_module_write(module, VYRE_MODULE_SVG, NULL, refuse, NULL, &diag), VYRE_IO,
                 &diag);
    CHECK_EQ(text.length, 0);
    vyre_module_release(module);
}

typedef struct one_format {
    const vyre_module *module;
    vyre_module_format format;
} one_format;

static vyre_status write_one(const vyre_allocator *a, void *user) {
    const one_format *one = user;
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_status status = vyre_module_write(one->module, one->format, a, collect, &text, NULL);
    CHECK((text.length > 0) == (status == VYRE_OK));
    vyre_text_finish(&text);
    return status;
}

TEST(out_of_memory) {
    vyre_module *module = split(program, false);
    for (int i = 0; i < FORMATS; i++) {
        one_format one = {module, formats[i]};
        CHECK(test_every_allocation(write_one, &one, 200) > 0);
    }
    vyre_module_release(module);
}

static vyre_status split_one(const vyre_allocator *a, void *user) {
    vyre_module *module = NULL;
    vyre_status status = vyre_split(user, NULL, a, &module, NULL);
    vyre_module_release(module);
    return status;
}

TEST(splitting_out_of_memory) {
    vyre_program *p = run_parse(program);
    CHECK(test_every_allocation(split_one, p, 400) > 0);
    vyre_program_release(p);
}

/* How a device runs it */

static bool count_topics(void *user, const vyre_decision *d) {
    uint32_t *counts = user; /* all, of topic form, of topic loop */
    counts[0]++;
    counts[1] += strcmp(d->topic, "form") == 0;
    counts[2] += strcmp(d->topic, "loop") == 0 && d->place.line == 3;
    return true;
}

static const char tuned[] = "program p workgroup(8) {\n"
                            "  in a : u32[]; inout b : u32[len(a)]; let s = 0; grid_sync;\n"
                            "  for (k in 0 .. a[global_id.x]) { s = s + k; }\n"
                            "  b[global_id.x] = s; grid_sync; b[0] = 1; }";

TEST(a_backend_tells_its_decisions_without_a_compiler) {
    uint32_t counts[3] = {0};
    vyre_program *p = run_parse(tuned);
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    const vyre_split_options keep = {.keep_barriers = true};
    REQUIRE_OK(vyre_backend_explain(NULL, "cpu://features=sse2", p, &keep, NULL, &module,
                                    count_topics, counts, &diag),
               &diag);
    CHECK_EQ(counts[1], vyre_module_get(module)->segment_count);
    CHECK_EQ(counts[2], 1);
    vyre_module_release(module);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        CHECK(!strstr(line, "libLLVM"));
    }
    (void)fclose(maps);
    CHECK_STATUS(
        vyre_backend_explain(NULL, "ref", p, NULL, NULL, &module, count_topics, counts, &diag),
        VYRE_UNSUPPORTED, &diag);
    CHECK_STATUS(
        vyre_backend_explain(NULL, "nobody", p, NULL, NULL, &module, count_topics, counts, &diag),
        VYRE_NOT_FOUND, &diag);
    CHECK_STATUS(
        vyre_backend_explain(NULL, "cpu", p, NULL, NULL, NULL, count_topics, counts, &diag),
        VYRE_INVALID_ARGUMENT, &diag);
    vyre_program_release(p);
}

static vyre_status explain_once(const vyre_allocator *a, void *user) {
    uint32_t counts[3] = {0};
    vyre_module *module = NULL;
    vyre_status status =
        vyre_backend_explain(NULL, "cpu", user, NULL, a, &module, count_topics, counts, NULL);
    vyre_module_release(module);
    return status;
}

TEST(decisions_without_memory_lose_nothing) {
    vyre_program *p = run_parse(tuned);
    test_heap heap = {0};
    vyre_allocator counted = test_heap_allocator(&heap);
    CHECK_EQ(explain_once(&counted, p), VYRE_OK);
    const uint64_t calls = heap.calls;
    for (uint64_t i = 1; i <= calls; i++) { /* text that does not last may be written anew */
        heap = (test_heap){.fail_at = i, .fail_after = i % 2 == 0};
        counted = test_heap_allocator(&heap);
        const vyre_status status = explain_once(&counted, p);
        CHECK(status == VYRE_OUT_OF_MEMORY || (status == VYRE_OK && !heap.fail_after));
        CHECK_EQ(heap.live_blocks, 0);
    }
    vyre_program_release(p);
}
