/* How runs end early: traps, step budget, deadline, cancellation, arguments, memory. */
#include <time.h>

#include "unit/ref_text.h"

static vyre_status run_in(vyre_ref_order order, const char *text, const ref_buffer *buffers,
                          vyre_diag *diag) {
    vyre_ref_result result;
    *diag = (vyre_diag){0};
    return ref_run(text, (vyre_ref_args){.grid = {4}, .order = order, .seed = 7}, buffers, NULL,
                   &result, diag);
}

TEST(trap_names_tag_address_and_the_lowest_lane_of_its_interval) {
    static uint32_t r[32];
    static const char at_end[] = "program t workgroup(8) { inout r : u32[];\n"
                                 "  if (global_id.x % 8 == 5) { trap(\"bad edge\", global_id.x + "
                                 "100); }\n"
                                 "  barrier;\n"
                                 "  r[global_id.x] = 1;\n"
                                 "}\n";
    static const char before_sync[] = "program t workgroup(8) { inout r : u32[];\n"
                                      "  if (global_id.x > 20) { trap(\"high\", 7); }\n"
                                      "  r[global_id.x] = 1;\n"
                                      "  grid_sync;\n"
                                      "  if (global_id.x == 0) { trap(\"never\", 8); }\n"
                                      "  r[global_id.x] = 2;\n"
                                      "}\n";
    for (uint32_t order = 0; order < 4; order++) {
        vyre_diag diag;
        const ref_buffer buffers[] = {BUFFER("r", r), {0}};
        memset(r, 0, sizeof r);
        CHECK_STATUS(run_in((vyre_ref_order)order, at_end, buffers, &diag), VYRE_TRAP, &diag);
        CHECK_HAS(diag.message, "lane 5 ");
        CHECK_HAS(diag.message, "bad edge");
        CHECK_HAS(diag.message, "105");
        CHECK_EQ(diag.line, 2);
        CHECK_EQ(r[31], 1); /* the others went on */
        CHECK_EQ(r[29], 0); /* the lane had ended */
        memset(r, 0, sizeof r);
        CHECK_STATUS(run_in((vyre_ref_order)order, before_sync, buffers, &diag), VYRE_TRAP, &diag);
        CHECK_HAS(diag.message, "lane 21 ");
        CHECK_HAS(diag.message, "high");
        CHECK_EQ(r[20], 1); /* nothing ran after the barrier */
    }
}

static const char forever[] = "program f workgroup(4) { inout r : u32[];\n"
                              "  while (r[0] == 0) { }\n"
                              "}\n";

TEST(step_budget_is_exact) {
    static uint32_t r[1];
    static const char text[] = "program s workgroup(4) { inout r : u32[];\n"
                               "  for (k in 0 .. 1000) { r[1] = k; }\n"
                               "}\n";
    const ref_buffer buffers[] = {BUFFER("r", r), {0}};
    vyre_ref_result result;
    vyre_diag diag = {0};
    REQUIRE_OK(ref_run(text, (vyre_ref_args){0}, buffers, NULL, &result, &diag), &diag);
    CHECK_EQ(result.steps, 4 * (1 + 1000 * 2 + 1));
    uint64_t steps = result.steps;
    vyre_ref_args args = {.step_budget = steps};
    REQUIRE_OK(ref_run(text, args, buffers, NULL, &result, &diag), &diag);
    args.step_budget = steps - 1;
    CHECK_STATUS(ref_run(text, args, buffers, NULL, &result, &diag), VYRE_STEP_BUDGET, &diag);
    args.step_budget = 100000;
    for (uint32_t order = 0; order < 4; order++) {
        args.order = (vyre_ref_order)order;
        CHECK_STATUS(ref_run(forever, args, buffers, NULL, &result, &diag), VYRE_STEP_BUDGET,
                     &diag);
        CHECK_EQ(diag.line, 2);
    }
}

TEST(deadline_and_cancellation_end_runaway_loops) {
    static uint32_t r[1];
    const ref_buffer buffers[] = {BUFFER("r", r), {0}};
    vyre_ref_result result;
    vyre_diag diag = {0};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    vyre_ref_args args = {.deadline_ns = (uint64_t)now.tv_sec * 1000000000u +
                                         (uint64_t)now.tv_nsec + 20000000u};
    CHECK_STATUS(ref_run(forever, args, buffers, NULL, &result, &diag), VYRE_TIMEOUT, &diag);
    volatile int cancel = 1;
    args = (vyre_ref_args){.cancel = &cancel};
    CHECK_STATUS(ref_run(forever, args, buffers, NULL, &result, &diag), VYRE_CANCELLED, &diag);
}

TEST(wrong_arguments_are_refused) {
    vyre_program *program =
        ref_parse("program p workgroup(64) { in x : u32[]; param n : u32; let a = x[n]; }");
    vyre_ref_memory memory[2] = {{NULL, 4}, {0}};
    uint64_t values[2] = {0};
    vyre_ref_result result;
    vyre_diag diag = {0};
    vyre_ref_args args = {.program = program, .grid = {1, 1, 1}};
    CHECK_STATUS(vyre_ref_execute(NULL, NULL, &result, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_ref_execute(&args, NULL, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_INVALID_ARGUMENT, &diag);
    args.memory = memory;
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_INVALID_ARGUMENT, &diag);
    memory[0].count = 0;
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_HAS(diag.message, "n");
    args.values = values;
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_OK, &diag);
    args.grid[0] = 1u << 26; /* 2^32 lanes along x */
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_LIMIT, &diag);
    vyre_program_release(program);
}

TEST(lanes_that_do_not_fit_in_memory_are_reported_with_their_size) {
    vyre_program *program =
        ref_parse("program p workgroup(64) { private a : u64[8192]; a[0] = 1; grid_sync; }");
    vyre_ref_args args = {.program = program, .grid = {1u << 20, 1, 1}};
    test_heap heap = {.fail_at = 10, .fail_after = true};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_ref_result result;
    vyre_diag diag = {0};
    args.grid[0] = 16;
    CHECK_STATUS(vyre_ref_execute(&args, &a, &result, &diag), VYRE_OUT_OF_MEMORY, &diag);
    CHECK_HAS(diag.message, "1024 lanes");
    CHECK_HAS(diag.message, "bytes");
    CHECK_EQ(heap.live_blocks, 0);
    args.grid[0] = 1u << 25;
    args.grid[1] = 1u << 16;
    CHECK_STATUS(vyre_ref_execute(&args, NULL, &result, &diag), VYRE_OUT_OF_MEMORY, &diag);
    vyre_program_release(program);
}

static vyre_status run_everything(const vyre_allocator *a, void *user) {
    static uint32_t x[64], r[64];
    static const char text[] =
        "program all workgroup(8) {\n"
        "  inout x : u32[]; inout r : u32[]; scratch s : u32[64]; workgroup w : u32[8]; private p "
        ": "
        "u32[4];\n"
        "  fn f(v : u32) -> u32 { return v + 1; }\n"
        "  async_load(x, p, 0, 16, \"a\");\n"
        "  w[local_id.x] = f(global_id.x);\n"
        "  grid_sync;\n"
        "  async_wait(\"a\");\n"
        "  for (k in 0 .. 2) { r[global_id.x] = w[7 - local_id.x] + p[k]; }\n"
        "  async_store(x, s, 0, 16, \"b\");\n"
        "}\n";
    (void)user;
    vyre_race races[2];
    vyre_ref_args args = {.grid = {4}, .find_races = true, .races = races, .race_capacity = 2};
    vyre_ref_result result;
    vyre_diag diag = {0};
    return ref_run(text, args, (ref_buffer[]){BUFFER("x", x), BUFFER("r", r), {"s", x, 64}, {0}}, a,
                   &result, &diag);
}

TEST(every_allocation_may_fail) {
    CHECK(test_every_allocation(run_everything, NULL, 200) > 20);
}
