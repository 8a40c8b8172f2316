/* Budgets and the layered mode: costs, peaks, read-back, errors in any order. */
#include "harness/test.h"
#include "vyre/plan.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct fixture {
    test_heap heap;
    vyre_allocator allocator;
    vyre_planner *planner;
    vyre_plan plan;
    vyre_diag diag;
} fixture;

static fixture *setup(void) {
    static fixture f;
    f.allocator = test_heap_allocator(&f.heap);
    REQUIRE_OK(vyre_planner_create(&f.allocator, &f.planner, &f.diag), &f.diag);
    return &f;
}

static void teardown(fixture *f) {
    vyre_planner_destroy(f->planner);
    CHECK_EQ(f->heap.live_blocks, 0);
}

static vyre_status layered(fixture *f, const vyre_wave_set *set) {
    const vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED};
    vyre_status status = vyre_plan_waves(f->planner, set, &options, &f->plan, &f->diag);
    if (status == VYRE_OK) {
        CHECK_STATUS(vyre_plan_check(set, &f->plan, NULL, &f->diag), VYRE_OK, &f->diag);
    }
    return status;
}

TEST(layered_diamond_with_resident_graph) {
    fixture *f = setup();
    const vyre_wave waves[] = {{NULL, 1024, 512, 256},
                               {NULL, 2048, 1024, 512},
                               {NULL, 4096, 2048, 1024},
                               {NULL, 8192, 4096, 2048}};
    const vyre_wave_dep deps[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    vyre_wave_set set = {.waves = waves,
                         .wave_count = 4,
                         .deps = deps,
                         .dep_count = 4,
                         .budget_bytes = 131072,
                         .resident_graph_bytes = 16000,
                         .readback_bytes = 1048576};
    REQUIRE_OK(layered(f, &set), &f->diag);
    CHECK_EQ(f->plan.barriers, 2);
    CHECK_EQ(f->plan.waves[f->plan.group_start[1]], 1);
    CHECK_EQ(f->plan.waves[f->plan.group_start[1] + 1], 2);
    CHECK_EQ(f->plan.group_start[2], 3);
    CHECK_EQ(f->plan.peak_frontier, 8192);
    CHECK_EQ(f->plan.peak_scratch, 4096);
    CHECK_EQ(f->plan.peak_output, 2048);
    CHECK_EQ(f->plan.peak_group, 8192 + 4 * 4096 + 2048);
    CHECK_EQ(f->plan.readback, 1048576);
    CHECK_EQ(f->plan.max_width, 2);
    CHECK(f->plan.optimal);
    teardown(f);
}

TEST(layered_readback_is_amortised_by_the_peak_output) {
    fixture *f = setup();
    const vyre_wave waves[] = {{NULL, 1024, 512, 3072}, {NULL, 1024, 512, 3072}};
    vyre_wave_set set = {.waves = waves, .wave_count = 2, .budget_bytes = VYRE_PLAN_NO_BUDGET};
    REQUIRE_OK(layered(f, &set), &f->diag);
    CHECK_EQ(f->plan.peak_output, 6144);
    CHECK_EQ(f->plan.readback, 6144);
    teardown(f);
}

TEST(layered_splits_a_layer_at_the_budget) {
    fixture *f = setup();
    const vyre_wave waves[] = {{NULL, 10, 10, 10}, {NULL, 10, 10, 10}, {NULL, 10, 10, 10}};
    vyre_wave_set set = {.waves = waves, .wave_count = 3, .budget_bytes = 100};
    REQUIRE_OK(layered(f, &set), &f->diag);
    CHECK_EQ(f->plan.group_count, 3);
    CHECK_EQ(f->plan.barriers, 2);
    CHECK_EQ(f->plan.max_width, 1);
    CHECK_EQ(f->plan.peak_frontier, 10);
    CHECK_EQ(f->plan.peak_scratch, 10);
    CHECK_EQ(f->plan.peak_output, 10);
    CHECK_EQ(f->plan.peak_group, 60);
    uint64_t cost;
    CHECK(vyre_wave_cost(&waves[0], &cost));
    CHECK_EQ(cost, 60);
    CHECK(vyre_wave_cost(&(vyre_wave){NULL, 16, 16, 16}, &cost));
    CHECK_EQ(cost, 96);
    teardown(f);
}

TEST(layered_no_waves) {
    fixture *f = setup();
    vyre_wave_set set = {.readback_bytes = 5, .budget_bytes = 1};
    REQUIRE_OK(layered(f, &set), &f->diag);
    CHECK_EQ(f->plan.group_count, 0);
    CHECK_EQ(f->plan.barriers, 0);
    CHECK_EQ(f->plan.readback, 5);
    CHECK_EQ(f->plan.max_width, 0);
    teardown(f);
}

TEST(layered_over_budget_names_what_and_how_much) {
    fixture *f = setup();
    vyre_wave_set set = {.resident_graph_bytes = 1600, .budget_bytes = 1000};
    CHECK_STATUS(layered(f, &set), VYRE_CHECK_FAILED, &f->diag);
    vyre_plan_fault fault = vyre_planner_fault(f->planner);
    CHECK_EQ(fault.kind, VYRE_PLAN_FAULT_OVER_BUDGET);
    CHECK_EQ(fault.required, 1600);
    CHECK_EQ(fault.available, 1000);
    CHECK_EQ(fault.wave, VYRE_PLAN_NO_WAVE);
    CHECK_STR(fault.field, "resident graph bytes");

    const vyre_wave wave = {"solve", 100, 100, 100};
    set = (vyre_wave_set){.waves = &wave, .wave_count = 1, .budget_bytes = 500};
    CHECK_STATUS(layered(f, &set), VYRE_CHECK_FAILED, &f->diag);
    fault = vyre_planner_fault(f->planner);
    CHECK_EQ(fault.kind, VYRE_PLAN_FAULT_OVER_BUDGET);
    CHECK_EQ(fault.required, 600);
    CHECK_EQ(fault.available, 500);
    CHECK_EQ(fault.wave, 0);
    CHECK_STR(fault.field, "single fused frontier wave bytes");
    CHECK_HAS(f->diag.message, "wave 0 (solve)");
    CHECK_HAS(f->diag.fix, "budget");

    set.budget_bytes = 600;
    CHECK_STATUS(layered(f, &set), VYRE_OK, &f->diag);
    CHECK_EQ(vyre_planner_fault(f->planner).kind, VYRE_PLAN_FAULT_NONE);
    teardown(f);
}

TEST(layered_cost_beyond_64_bits) {
    fixture *f = setup();
    const vyre_wave waves[] = {{"small", 1, 1, 1}, {"huge", UINT64_MAX, 1, 1}};
    vyre_wave_set set = {.waves = waves, .wave_count = 2, .budget_bytes = VYRE_PLAN_NO_BUDGET};
    CHECK_STATUS(layered(f, &set), VYRE_INVALID_INPUT, &f->diag);
    vyre_plan_fault fault = vyre_planner_fault(f->planner);
    CHECK_EQ(fault.kind, VYRE_PLAN_FAULT_OVERFLOW);
    CHECK_EQ(fault.wave, 1);
    CHECK_STR(fault.field, "fused wave bytes");
    CHECK_HAS(f->diag.message, "huge");
    const vyre_wave scratch = {NULL, 0, UINT64_MAX / 2, 0};
    set = (vyre_wave_set){.waves = &scratch, .wave_count = 1, .budget_bytes = VYRE_PLAN_NO_BUDGET};
    CHECK_STATUS(layered(f, &set), VYRE_INVALID_INPUT, &f->diag);
    CHECK_STR(vyre_planner_fault(f->planner).field, "fused wave scratch bytes");
    teardown(f);
}

/* F1: a wave that alone exceeds the budget is refused wherever it stands. */
TEST(layered_refuses_an_oversized_wave_in_any_place) {
    fixture *f = setup();
    const vyre_wave waves[] = {{NULL, 10, 0, 0}, {NULL, 1000, 0, 0}, {NULL, 10, 0, 0}};
    for (uint32_t first = 0; first < 2; first++) {
        vyre_wave_set set = {.waves = waves + first, .wave_count = 2, .budget_bytes = 100};
        CHECK_STATUS(layered(f, &set), VYRE_CHECK_FAILED, &f->diag);
        CHECK_EQ(vyre_planner_fault(f->planner).wave, 1 - first);
        CHECK_EQ(vyre_planner_fault(f->planner).required, 1000);
    }
    teardown(f);
}

/* F2: two waves whose sum exceeds 64 bits simply go into two groups. */
TEST(layered_sums_beyond_64_bits_are_two_groups) {
    fixture *f = setup();
    uint64_t half = (uint64_t)1 << 63;
    const vyre_wave waves[] = {{NULL, half, 0, 0}, {NULL, half, 0, 0}};
    vyre_wave_set set = {.waves = waves, .wave_count = 2, .budget_bytes = UINT64_MAX};
    REQUIRE_OK(layered(f, &set), &f->diag);
    CHECK_EQ(f->plan.group_count, 2);
    CHECK(f->plan.optimal);
    teardown(f);
}

TEST(layered_dependency_errors_win_over_budget_errors) {
    fixture *f = setup();
    const vyre_wave waves[] = {{NULL, 1000, 0, 0}, {"b", 1, 0, 0}};
    const vyre_wave_dep deps[] = {{1, 1}};
    vyre_wave_set set = {.waves = waves,
                         .wave_count = 2,
                         .deps = deps,
                         .dep_count = 1,
                         .budget_bytes = 10,
                         .resident_graph_bytes = 20};
    CHECK_STATUS(layered(f, &set), VYRE_INVALID_INPUT, &f->diag);
    CHECK_HAS(f->diag.message, "wave 1 (b) depends on itself");
    set.dep_count = 0;
    CHECK_STATUS(layered(f, &set), VYRE_CHECK_FAILED, &f->diag);
    CHECK_HAS(f->diag.message, "resident graph");
    teardown(f);
}

TEST(layered_grids_have_closed_form_peaks) {
    fixture *f = setup();
    static vyre_wave waves[32 * 32];
    static vyre_wave_dep deps[32 * 32];
    for (uint32_t width = 1; width <= 32; width++) {
        for (uint32_t depth = 1; depth <= 32; depth++) {
            size_t m = 0;
            for (uint32_t w = 0; w < width * depth; w++) {
                uint32_t layer = w / width, slot = w % width;
                waves[w] = (vyre_wave){NULL, width, slot + 1, layer + 1};
                if (layer > 0) {
                    deps[m++] = (vyre_wave_dep){w - width, w};
                }
            }
            vyre_wave_set set = {.waves = waves,
                                 .wave_count = width * depth,
                                 .deps = deps,
                                 .dep_count = m,
                                 .budget_bytes = UINT64_MAX / 2,
                                 .resident_graph_bytes = 256,
                                 .readback_bytes = 7};
            REQUIRE_OK(layered(f, &set), &f->diag);
            CHECK_EQ(f->plan.group_count, depth);
            CHECK_EQ(f->plan.max_width, width);
            CHECK_EQ(f->plan.peak_frontier, width * width);
            CHECK_EQ(f->plan.peak_scratch, width * (width + 1) / 2);
            CHECK_EQ(f->plan.peak_output, width * depth);
            CHECK_EQ(f->plan.readback, width * depth > 7 ? width * depth : 7);
        }
    }
    teardown(f);
}

TEST(layered_reuses_its_memory) {
    fixture *f = setup();
    static vyre_wave waves[3000];
    static vyre_wave_dep deps[6000];
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 3000; i++) {
        waves[i] = (vyre_wave){NULL, 1 + test_random_below(&seed, 100), 2, 3};
    }
    for (uint32_t i = 0; i < 6000; i++) {
        uint32_t a = (uint32_t)test_random_below(&seed, 2999);
        deps[i] = (vyre_wave_dep){a, a + 1 + (uint32_t)test_random_below(&seed, 2999 - a)};
    }
    vyre_wave_set set = {
        .waves = waves, .wave_count = 3000, .deps = deps, .dep_count = 6000, .budget_bytes = 400};
    const vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED};
    REQUIRE_OK(vyre_plan_waves(f->planner, &set, &options, &f->plan, &f->diag), &f->diag);
    uint64_t calls = f->heap.calls;
    for (uint32_t n = 3000; n > 2990; n--) {
        set.wave_count = n;
        set.dep_count = n == 3000 ? 6000 : 0;
        REQUIRE_OK(vyre_plan_waves(f->planner, &set, &options, &f->plan, &f->diag), &f->diag);
    }
    CHECK_EQ(f->heap.calls, calls);
    teardown(f);
}
