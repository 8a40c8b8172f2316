/* Large problems are planned by several threads: plans, errors and memory are those of one. */
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "vyre/plan.h"

static const uint32_t numbers[] = {1, 2, 3, 8};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], LARGE = 1 << 18 };

/* One dependency in `sunk` leads to the last wave, one in `sprung` leaves the first, and the others
 * reach at most `reach` waves ahead. If dense is not 0, most leave one of so many first waves. */
typedef struct shape {
    const char *name;
    uint32_t waves;
    size_t deps;
    size_t sunk, sprung;
    uint32_t reach, dense;
} shape;

static vyre_wave *waves;
static vyre_wave_dep *deps;

static vyre_wave_set random_set(const shape *s, uint64_t seed) {
    const uint32_t n = s->waves;
    waves = calloc(n, sizeof *waves);
    deps = calloc(s->deps, sizeof *deps);
    REQUIRE(waves && deps);
    for (uint32_t w = 0; w < n; w++) {
        waves[w].frontier = 1 + test_random_below(&seed, 900);
        waves[w].scratch = test_random_below(&seed, 100);
        waves[w].output = test_random_below(&seed, 400);
    }
    for (size_t i = 0; i < s->deps; i++) {
        uint32_t before = i % s->sprung == 1 ? 0 : (uint32_t)test_random_below(&seed, n - 1);
        before = s->dense && i % 128 != 0 ? before % s->dense : before;
        const uint32_t room = n - 1 - before, reach = s->reach < room ? s->reach : room;
        const uint32_t after = before + 1 + (uint32_t)test_random_below(&seed, reach);
        deps[i] = (vyre_wave_dep){before, i % s->sunk == 0 ? n - 1 : after};
    }
    return (vyre_wave_set){.waves = waves,
                           .wave_count = n,
                           .deps = deps,
                           .dep_count = s->deps,
                           .budget_bytes = 20000,
                           .resident_graph_bytes = 100};
}

static void free_set(void) {
    free(waves);
    free(deps);
}

static vyre_planner *make(const vyre_allocator *a, uint32_t threads) {
    vyre_planner *planner;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_planner_create(a, &planner, &diag), &diag);
    REQUIRE_OK(vyre_planner_set_threads(planner, threads, &diag), &diag);
    return planner;
}

static vyre_status layered(vyre_planner *planner, const vyre_wave_set *set, vyre_plan *plan,
                           vyre_diag *diag) {
    const vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED};
    return vyre_plan_waves(planner, set, &options, plan, diag);
}

static bool same(const vyre_plan *a, const vyre_plan *b) {
    vyre_plan figures = *b;
    figures.waves = a->waves;
    figures.group_start = a->group_start;
    return a->group_count == b->group_count &&
           memcmp(a->waves, b->waves, a->wave_count * sizeof *a->waves) == 0 &&
           memcmp(a->group_start, b->group_start,
                  ((size_t)a->group_count + 1) * sizeof *a->group_start) == 0 &&
           a->lower_bound == figures.lower_bound && a->optimal == figures.optimal &&
           a->peak_group == figures.peak_group && a->peak_frontier == figures.peak_frontier &&
           a->peak_scratch == figures.peak_scratch && a->peak_output == figures.peak_output &&
           a->readback == figures.readback && a->max_width == figures.max_width;
}

static const shape shapes[] = {
    {"few waves", 700, LARGE + 5, LARGE, LARGE, 90, 0},
    {"fewer dependencies than threads want", 3000, LARGE / 3, LARGE, LARGE, 50, 0},
    {"as many layers as waves", 20000, LARGE + 77, LARGE, LARGE, 4, 0},
    {"few layers", 60000, LARGE + 1, LARGE, LARGE, 60000, 0},
    {"counts that go round in sums only", 1500, LARGE + 3, LARGE, LARGE, 20, 0},
    {"one that many lead to", 40000, LARGE + 9, 5, LARGE, 40000, 0},
    {"one that many leave", 40000, LARGE + 9, LARGE, 3, 40000, 0},
    {"lines past the caches", 50000, (1 << 19) + 4321, 1 << 20, 1 << 20, 9000, 0},
    {"lines of several parts", 50000, (1 << 19) + 7, 1 << 20, 1 << 20, 50000, 500},
    {"lines, wide blocks and rounds", 50000, (1 << 19) + 1, 4, 3, 50000, 0},
};

TEST(plans_are_the_same_with_any_number_of_threads) {
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const vyre_wave_set set = random_set(&shapes[i], i + 1);
        vyre_planner *one = make(NULL, 1);
        vyre_plan want;
        vyre_diag diag = {0};
        for (uint32_t k = 1; k < NUMBERS; k++) {
            vyre_planner *planner = make(NULL, numbers[k]);
            vyre_plan plan;
            REQUIRE_OK(layered(one, &set, &want, &diag), &diag);
            for (uint32_t round = 0; round < 3; round++) {
                REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
                if (!same(&plan, &want)) {
                    test_fail(__FILE__, __LINE__, "%s: %u threads", shapes[i].name, numbers[k]);
                }
            }
            REQUIRE_OK(vyre_plan_barriers(one, set.wave_count, deps, set.dep_count, &want, &diag),
                       &diag);
            REQUIRE_OK(
                vyre_plan_barriers(planner, set.wave_count, deps, set.dep_count, &plan, &diag),
                &diag);
            CHECK(same(&plan, &want));
            vyre_planner_destroy(planner);
        }
        vyre_planner_destroy(one);
        free_set();
    }
}

/* The same complaint, whoever comes to it first. */
static void check_error(const vyre_wave_set *set, vyre_status status, const char *part) {
    for (uint32_t k = 0; k < NUMBERS; k++) {
        vyre_planner *planner = make(NULL, numbers[k]);
        vyre_plan plan;
        vyre_diag diag = {0};
        CHECK_STATUS(layered(planner, set, &plan, &diag), status, &diag);
        CHECK_HAS(diag.message, part);
        vyre_planner_destroy(planner);
    }
}

TEST(errors_are_the_same_with_any_number_of_threads) {
    const shape s = {"", 30000, LARGE + 11, LARGE, LARGE, 30000, 0};
    vyre_wave_set set = random_set(&s, 77);
    const vyre_wave_dep kept[] = {deps[LARGE / 2], deps[LARGE]};
    deps[LARGE / 2] = (vyre_wave_dep){7, 30001};
    deps[LARGE] = (vyre_wave_dep){8, 8};
    check_error(&set, VYRE_INVALID_INPUT, "7 -> 30001");
    deps[LARGE / 2] = kept[0];
    check_error(&set, VYRE_INVALID_INPUT, "wave 8 depends on itself");
    deps[0] = (vyre_wave_dep){0, 29999};
    deps[LARGE] = (vyre_wave_dep){29999, 0};
    check_error(&set, VYRE_INVALID_INPUT, "cycle");
    set.resident_graph_bytes = set.budget_bytes + 1;
    check_error(&set, VYRE_INVALID_INPUT, "cycle");
    deps[LARGE] = kept[1];
    check_error(&set, VYRE_CHECK_FAILED, "resident graph needs");
    set.resident_graph_bytes = 0;
    waves[12345].output = set.budget_bytes + 1;
    check_error(&set, VYRE_CHECK_FAILED, "wave 12345");
    waves[12345].output = 1;
    waves[54].scratch = UINT64_MAX / 2;
    check_error(&set, VYRE_INVALID_INPUT, "wave 54");
    free_set();
}

TEST(threads_that_cannot_be_had_cost_only_time) {
    const vyre_wave_set set = random_set(&shapes[3], 5);
    vyre_planner *one = make(NULL, 1);
    vyre_plan want, plan;
    vyre_diag diag = {0};
    REQUIRE_OK(layered(one, &set, &want, &diag), &diag);
    uint32_t planned = 0, refused = 0;
    for (uint64_t at = 2;; at++) {
        test_heap heap = {.fail_at = at, .fail_after = true};
        const vyre_allocator a = test_heap_allocator(&heap);
        vyre_planner *planner = make(&a, 3);
        const vyre_status status = layered(planner, &set, &plan, &diag);
        const bool failed = heap.calls >= at;
        if (status == VYRE_OK) {
            CHECK(same(&plan, &want));
            planned += failed;
        } else {
            CHECK_STATUS(status, VYRE_OUT_OF_MEMORY, &diag);
            refused++;
        }
        vyre_planner_destroy(planner);
        CHECK_EQ(heap.live_blocks, 0);
        if (!failed) {
            break;
        }
    }
    CHECK_EQ(planned, 3); /* what a team consists of */
    CHECK(refused >= 3);
    vyre_planner_destroy(one);
    free_set();
}

TEST(threads_are_kept_and_planning_again_allocates_nothing) {
    const vyre_wave_set set = random_set(&shapes[7], 9);
    test_heap heap = {0};
    const vyre_allocator a = test_heap_allocator(&heap);
    vyre_planner *planner = make(&a, 2);
    vyre_plan plan;
    vyre_diag diag = {0};
    REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
    const uint64_t calls = heap.calls;
    const uint32_t groups = plan.group_count;
    REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
    CHECK_EQ(heap.calls, calls);
    CHECK_EQ(plan.group_count, groups);
    REQUIRE_OK(vyre_planner_set_threads(planner, 5, &diag), &diag);
    REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
    CHECK_EQ(plan.group_count, groups);
    CHECK_STATUS(vyre_planner_set_threads(planner, 1024, &diag), VYRE_LIMIT, &diag);
    CHECK_HAS(diag.message, "1024 threads");
    CHECK_STATUS(vyre_planner_set_threads(NULL, 1, &diag), VYRE_INVALID_ARGUMENT, &diag);
    vyre_planner_destroy(planner);
    CHECK_EQ(heap.live_blocks, 0);
    free_set();
}

TEST(a_forked_child_plans_with_threads_of_its_own) {
    const vyre_wave_set set = random_set(&shapes[3], 6);
    vyre_planner *planner = make(NULL, 2), *one = make(NULL, 1);
    vyre_plan plan, want;
    vyre_diag diag = {0};
    REQUIRE_OK(layered(one, &set, &want, &diag), &diag);
    REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
#ifdef __SANITIZE_THREAD__
        vyre_planner_destroy(planner); /* the thread sanitizer makes no threads in such a child */
        _exit(0);
#else
        const bool fine = layered(planner, &set, &plan, &diag) == VYRE_OK && same(&plan, &want) &&
                          layered(planner, &set, &plan, &diag) == VYRE_OK && same(&plan, &want);
        vyre_planner_destroy(planner);
        _exit(fine ? 0 : 1);
#endif
    }
    int status = 1;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    REQUIRE_OK(layered(planner, &set, &plan, &diag), &diag);
    CHECK(same(&plan, &want));
    vyre_planner_destroy(planner);
    vyre_planner_destroy(one);
    free_set();
}
