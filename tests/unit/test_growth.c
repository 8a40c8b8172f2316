/* Growth: the memory that splitting takes follows the size of the program, whatever is alive where.
 *
 * Each shape is built at one size and at eight times that size. The most that is allocated at once,
 * and all that was allocated, may grow by less than twice as much for each node; what is quadratic
 * grows by eight times as much. (bench_split tells the time.) */
#include <inttypes.h>

#include "base/text.h"
#include "harness/run.h"
#include "vyre/limits.h"

typedef struct cost {
    uint64_t nodes;
    uint64_t bytes; /* most at once, */
    uint64_t asked; /* and all together, which whoever writes the memory has to do with */
} cost;

typedef void (*shape_fn)(vyre_text *text, uint32_t count);

static cost measure(shape_fn shape, uint32_t count) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    shape(&text, count);
    vyre_program *program = run_parse(vyre_text_string(&text));
    vyre_text_finish(&text);
    test_heap heap = {0};
    const vyre_allocator a = test_heap_allocator(&heap);
    vyre_module *module = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_split(program, NULL, &a, &module, &diag), &diag);
    const vyre_program_view *p = vyre_program_get(program);
    const cost c = {.nodes = p->stmt_count + p->expr_count,
                    .bytes = heap.peak_bytes,
                    .asked = heap.asked_bytes};
    vyre_module_release(module);
    vyre_program_release(program);
    CHECK_EQ(heap.live_blocks, 0);
    return c;
}

static void expect_linear(shape_fn shape, uint32_t count) {
    const cost small = measure(shape, count), large = measure(shape, 8 * count);
    const double nodes = (double)large.nodes / (double)small.nodes;
    const double each = (double)large.bytes / (double)small.bytes / nodes;
    const double asked = (double)large.asked / (double)small.asked / nodes;
    if (each > 2 || asked > 2) {
        test_fail(__FILE__, __LINE__,
                  "from %" PRIu64 " nodes to %" PRIu64
                  " each takes %.2f times the memory, %.2f times in all",
                  small.nodes, large.nodes, each, asked);
    }
}

/* ---- shapes ---- */

static const char head[] = "program p workgroup(4) elements(8) {\n"
                           "    inout a : u32[8];\n"
                           "    out o : u32[8];\n"
                           "    private kept : u32[8];\n"
                           "    let i = global_id.x;\n";

/* The pattern with k for each #, for all k from `first` on. */
static void repeat(vyre_text *text, uint32_t first, uint32_t count, const char *pattern) {
    for (uint32_t k = first; k < first + count; k++) {
        for (const char *at = pattern; *at; at++) {
            if (*at == '#') {
                vyre_text_printf(text, "%" PRIu32, k);
            } else {
                vyre_text_append(text, at, 1);
            }
        }
    }
}

/* A loop over which all values are alive. */
static void values_over(vyre_text *text, uint32_t count, const char *before, const char *each,
                        const char *after) {
    vyre_text_puts(text, head);
    repeat(text, 0, count, "    let v# = a[(i + #) % 8];\n");
    vyre_text_printf(text, "    for (t in 0 .. 3) {\n%s", before);
    repeat(text, 0, count, each);
    vyre_text_printf(text, "%s    }\n    let s = 0;\n", after);
    repeat(text, 0, count, "    s = s + v#;\n");
    vyre_text_puts(text, "    o[i] = s;\n}\n");
}

/* All are alive at all barriers of a loop. */
static void values_over_barriers(vyre_text *text, uint32_t count) {
    values_over(text, count, "",
                "        grid_sync;\n        a[(i + t) % 8] = v#;\n"
                "        grid_sync;\n        v# = v# + a[7 - i];\n",
                "");
}

/* The same, each barrier under a condition of its own. */
static void values_over_branches(vyre_text *text, uint32_t count) {
    values_over(text, count, "",
                "        if (t == # + 5) {\n            a[i] = v#;\n            grid_sync;\n"
                "            v# = v# + a[7 - i];\n            grid_sync;\n        }\n",
                "");
}

static void values_over_breaks(vyre_text *text, uint32_t count) {
    values_over(text, count, "        grid_sync;\n",
                "        if (t == # + 5) { break; }\n        v# = v# + 1;\n",
                "        a[i] = v0;\n        grid_sync;\n");
}

/* Short lives, many barriers. */
static void values_one_by_one(vyre_text *text, uint32_t count) {
    vyre_text_puts(text, head);
    repeat(text, 0, count,
           "    let v# = a[(i + #) % 8];\n    grid_sync;\n    a[i] = v#;\n    grid_sync;\n");
    vyre_text_puts(text, "}\n");
}

TEST(values_alive_over_barriers_of_a_loop) {
    expect_linear(values_over_barriers, 250);
}

TEST(values_alive_over_barriers_under_conditions) {
    expect_linear(values_over_branches, 250);
}

TEST(values_alive_over_breaks) {
    expect_linear(values_over_breaks, 125);
}

TEST(values_alive_over_one_barrier_each) {
    expect_linear(values_one_by_one, 250);
}

/* All are pending at a barrier; what the source was is kept. */
static void pending_copies(vyre_text *text, uint32_t count) {
    vyre_text_puts(text, head);
    repeat(text, 0, count, "    async_load(a, kept, # % 8 * 4, 4, \"t#\");\n");
    vyre_text_puts(text, "    a[i] = 1;\n    grid_sync;\n");
    repeat(text, 0, count, "    async_wait(\"t#\");\n");
    vyre_text_puts(text, "    o[i] = kept[i];\n}\n");
}

TEST(copies_pending_at_a_barrier) {
    expect_linear(pending_copies, 1000);
}

/* `count` barriers, a power of two, by functions that call the one before twice. */
static void doubled_calls(vyre_text *text, uint32_t count) {
    uint32_t last = 0;
    vyre_text_puts(text, "program p workgroup(4) elements(8) {\n    inout a : u32[8];\n"
                         "    fn f0() { a[global_id.x] = a[7 - global_id.x]; grid_sync; }\n");
    for (; count > 1; count /= 2, last++) {
        vyre_text_printf(text, "    fn f%" PRIu32 "() {", last + 1);
        repeat(text, last, 1, " f#(); f#(); }\n");
    }
    vyre_text_printf(text, "    f%" PRIu32 "();\n}\n", last);
}

/* Per node of what inlining makes, which is 8 times as much. */
TEST(calls_that_double) {
    const cost small = measure(doubled_calls, 1024), large = measure(doubled_calls, 8192);
    CHECK(large.bytes < 16 * small.bytes);
    CHECK(large.asked < 16 * small.asked);
}

/* What the check accepts, all paths run: output `number` is the same, and not zero. */
static void expect_to_run(shape_fn shape, uint32_t count, uint32_t inputs, uint32_t number) {
    static const char *const devices[] = {"ref", "ref-split", "ref-schedule"};
    static const uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const vyre_input input = {.data = words, .size = sizeof words};
    vyre_text text;
    vyre_text_init(&text, NULL);
    shape(&text, count);
    vyre_program *program = run_parse(vyre_text_string(&text));
    vyre_text_finish(&text);
    uint32_t want[8] = {0};
    for (uint32_t d = 0; d < 3; d++) {
        run_result r = run_program(devices[d], program, &input, inputs, NULL);
        REQUIRE_OK(r.status, &r.diag);
        for (uint32_t i = 0; i < 8; i++) {
            want[i] = d == 0 ? run_word(&r, number, i) : want[i];
            CHECK(want[i] != 0);
            CHECK_EQ(run_word(&r, number, i), want[i]);
        }
        run_finish(&r);
    }
    vyre_program_release(program);
}

static void many_declarations(vyre_text *text, uint32_t count) {
    vyre_text_puts(text, "program p workgroup(4) grid(2) {\n    out o : u32[8];\n");
    repeat(text, 1, count - 1, "    scratch b# : u32[8];\n");
    repeat(text, 1, count - 1, "    b#[global_id.x] = #;\n");
    vyre_text_puts(text, "    grid_sync;\n    let s = 0;\n");
    repeat(text, 1, count - 1, "    s = s + b#[7 - global_id.x];\n");
    vyre_text_puts(text, "    o[global_id.x] = s;\n}\n");
}

TEST(as_many_declarations_as_a_program_may_have_run) {
    expect_to_run(many_declarations, VYRE_LIMIT_DECLS, 0, 0);
}

TEST(a_thousand_breaks_over_a_thousand_values_run) {
    expect_to_run(values_over_breaks, 1024, 1, 1);
}
