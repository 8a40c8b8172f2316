/* Mode packed: known optima, brute force, bounds, limits, cancellation, never over budget. */
#include "../../bench/plan/brute.h"
#include "harness/test.h"
#include "plan/packed.h"
#include "vyre/plan.h"

enum { MOST = 2000 };

/* A problem under construction; costs are frontiers. */
typedef struct problem {
    vyre_wave waves[MOST];
    vyre_wave_dep deps[4 * MOST];
    vyre_wave_set set;
} problem;

static problem *problem_make(uint32_t count, const uint64_t *cost, size_t deps,
                             const vyre_wave_dep *dep, uint64_t budget) {
    static problem p;
    p.set = (vyre_wave_set){.waves = p.waves,
                            .wave_count = count,
                            .deps = p.deps,
                            .dep_count = deps,
                            .budget_bytes = budget};
    for (uint32_t w = 0; w < count; w++) {
        p.waves[w] = (vyre_wave){.frontier = cost[w]};
    }
    for (size_t i = 0; i < deps; i++) {
        p.deps[i] = dep[i];
    }
    return &p;
}

static vyre_planner *planner_make(const vyre_allocator *a) {
    vyre_planner *planner = NULL;
    REQUIRE_OK(vyre_planner_create(a, &planner, NULL), NULL);
    return planner;
}

/* Plans packed, and checks what must hold for every plan. */
static vyre_plan pack(vyre_planner *planner, const vyre_wave_set *set,
                      const vyre_plan_options *options) {
    vyre_plan layered, plan;
    vyre_diag diag = {0};
    const vyre_plan_options linear = {.mode = VYRE_PLAN_LAYERED};
    REQUIRE_OK(vyre_plan_waves(planner, set, &linear, &layered, &diag), &diag);
    REQUIRE_OK(vyre_plan_waves(planner, set, options, &plan, &diag), &diag);
    REQUIRE_OK(vyre_plan_check(set, &plan, NULL, &diag), &diag);
    CHECK(plan.group_count <= layered.group_count);
    CHECK(plan.lower_bound <= plan.group_count);
    CHECK(plan.lower_bound >= layered.lower_bound);
    CHECK_EQ(plan.optimal, plan.group_count == plan.lower_bound);
    return plan;
}

static void expect(uint32_t count, const uint64_t *cost, size_t deps, const vyre_wave_dep *dep,
                   uint64_t budget, uint32_t groups, uint32_t layered_groups) {
    vyre_planner *planner = planner_make(NULL);
    problem *p = problem_make(count, cost, deps, dep, budget);
    vyre_plan plan = pack(planner, &p->set, NULL);
    CHECK_EQ(plan.group_count, groups);
    CHECK(plan.optimal);
    const vyre_plan_options linear = {.mode = VYRE_PLAN_LAYERED};
    REQUIRE_OK(vyre_plan_waves(planner, &p->set, &linear, &plan, NULL), NULL);
    CHECK_EQ(plan.group_count, layered_groups);
    vyre_planner_destroy(planner);
}

#define COSTS(...)                                                                                 \
    (const uint64_t[]) {                                                                           \
        __VA_ARGS__                                                                                \
    }
#define DEPS(...)                                                                                  \
    (const vyre_wave_dep[]) {                                                                      \
        __VA_ARGS__                                                                                \
    }

/* F3: next-fit wastes room. */
TEST(packed_beats_next_fit) {
    expect(4, COSTS(6, 5, 4, 5), 0, NULL, 10, 2, 3);
    expect(8, COSTS(5, 1, 5, 1, 5, 1, 5, 1), 0, NULL, 10, 3, 4);
    expect(6, COSTS(4, 7, 3, 6, 5, 5), 0, NULL, 10, 3, 4);
}

/* F4: waves of a later layer may fill earlier groups. */
TEST(packed_fills_groups_across_layers) {
    expect(3, COSTS(6, 6, 4), 1, DEPS({0, 2}), 10, 2, 3);
    expect(5, COSTS(5, 5, 5, 5, 5), 2, DEPS({0, 1}, {1, 2}), 10, 3, 4);
    expect(6, COSTS(4, 4, 4, 4, 4, 4), 3, DEPS({0, 3}, {1, 4}, {2, 5}), 8, 3, 4);
}

/* F5: half the groups already at four waves. */
TEST(packed_needs_half_the_groups) {
    expect(4, COSTS(6, 9, 2, 1), 1, DEPS({1, 3}), 10, 2, 4);
}

/* F1 and F2 hold for every mode. */
TEST(packed_refuses_what_cannot_fit_and_survives_huge_costs) {
    vyre_planner *planner = planner_make(NULL);
    vyre_plan plan;
    vyre_diag diag = {0};
    problem *p = problem_make(2, COSTS(10, 1000), 0, NULL, 100);
    CHECK_STATUS(vyre_plan_waves(planner, &p->set, NULL, &plan, &diag), VYRE_CHECK_FAILED, &diag);
    CHECK_EQ(vyre_planner_fault(planner).wave, 1);
    p = problem_make(2, COSTS(1000, 10), 0, NULL, 100);
    CHECK_STATUS(vyre_plan_waves(planner, &p->set, NULL, &plan, &diag), VYRE_CHECK_FAILED, &diag);
    CHECK_EQ(vyre_planner_fault(planner).wave, 0);
    vyre_planner_destroy(planner);
    uint64_t half = (uint64_t)1 << 63;
    expect(2, COSTS(half, half), 0, NULL, UINT64_MAX, 2, 2);
    expect(3, COSTS(half, half + 1, half - 1), 0, NULL, UINT64_MAX, 2, 3);
    expect(4, COSTS(UINT64_MAX, 0, UINT64_MAX, 0), 1, DEPS({0, 1}), UINT64_MAX, 2, 3);
    expect(3, COSTS(0, 0, 0), 2, DEPS({0, 1}, {1, 2}), 0, 3, 3);
    expect(1, COSTS(0), 0, NULL, 0, 1, 1);
}

TEST(packed_no_waves) {
    expect(0, COSTS(0), 0, NULL, 10, 0, 0);
}

static uint32_t brute(const problem *p, uint32_t *out_edges) {
    uint64_t cost[16];
    uint32_t preds[16] = {0};
    for (uint32_t w = 0; w < p->set.wave_count; w++) {
        cost[w] = p->waves[w].frontier;
    }
    for (size_t i = 0; i < p->set.dep_count; i++) {
        preds[p->deps[i].after] |= 1u << p->deps[i].before;
    }
    *out_edges = (uint32_t)p->set.dep_count;
    return brute_groups(p->set.wave_count, cost, preds, p->set.budget_bytes);
}

static void compare(vyre_planner *planner, const problem *p) {
    uint32_t edges, best = brute(p, &edges);
    vyre_plan plan = pack(planner, &p->set, NULL);
    if (plan.group_count != best || !plan.optimal) {
        test_fail(__FILE__, __LINE__,
                  "%" PRIu32 " waves, %" PRIu32 " edges: %" PRIu32 " groups, bound %" PRIu32
                  ", brute force %" PRIu32,
                  p->set.wave_count, edges, plan.group_count, plan.lower_bound, best);
        test_stop();
    }
}

/* Every graph on up to five waves (edges from lower to higher numbers, which loses none), with
 * every choice of costs from 1 to 3. */
TEST(packed_equals_brute_force_on_all_small_graphs) {
    vyre_planner *planner = planner_make(NULL);
    for (uint32_t n = 1; n <= 5; n++) {
        uint32_t pairs = n * (n - 1) / 2, costs = 1;
        for (uint32_t w = 0; w < n; w++) {
            costs *= 3;
        }
        for (uint32_t graph = 0; graph < 1u << pairs; graph++) {
            for (uint32_t code = 0; code < costs; code += costs / (uint32_t)test_scaled(costs)) {
                uint64_t cost[5];
                vyre_wave_dep dep[10];
                size_t deps = 0;
                uint32_t pair = 0, digits = code;
                for (uint32_t a = 0; a < n; a++, digits /= 3) {
                    cost[a] = 1 + digits % 3;
                    for (uint32_t b = a + 1; b < n; b++, pair++) {
                        if (graph >> pair & 1) {
                            dep[deps++] = (vyre_wave_dep){a, b};
                        }
                    }
                }
                compare(planner, problem_make(n, cost, deps, dep, 4));
            }
        }
    }
    vyre_planner_destroy(planner);
}

/* Costs up to `most`, edges from lower to higher numbers with the given percentage. */
static problem *problem_random(uint64_t *seed, uint32_t count, uint64_t most, uint64_t budget,
                               uint64_t percent) {
    static uint64_t cost[MOST];
    static vyre_wave_dep dep[4 * MOST];
    size_t deps = 0;
    for (uint32_t w = 0; w < count; w++) {
        cost[w] = test_random_below(seed, most + 1);
        for (uint32_t v = 0; v < w && deps < (size_t)4 * MOST; v++) {
            if (test_random_below(seed, 100) < percent) {
                dep[deps++] = (vyre_wave_dep){v, w};
            }
        }
    }
    return problem_make(count, cost, deps, dep, budget);
}

TEST(packed_equals_brute_force_on_random_graphs) {
    vyre_planner *planner = planner_make(NULL);
    for (uint64_t round = 0; round < test_scaled(5000); round++) {
        uint64_t seed = round;
        uint32_t count = 1 + (uint32_t)test_random_below(&seed, 10);
        uint64_t most = 1 + test_random_below(&seed, 30);
        uint64_t budget = most + test_random_below(&seed, 2 * most);
        problem *p = problem_random(&seed, count, most, budget, test_random_below(&seed, 60));
        compare(planner, p);
        /* The same near the end of 64 bits, where nothing divides evenly any more. */
        unsigned shift = 57;
        for (uint32_t w = 0; w < count; w++) {
            p->waves[w].frontier <<= shift;
            p->waves[w].frontier += test_random_below(&seed, 5);
        }
        p->set.budget_bytes = (budget << shift) + test_random_below(&seed, 20) + 5;
        compare(planner, p);
    }
    vyre_planner_destroy(planner);
}

/* The exact search by itself: no heuristics, from the worst plan, one wave in each group. */
static void search_alone(vyre_planner *planner, const problem *p, uint64_t *cost) {
    const vyre_plan_options options = {.node_limit = 1 << 20};
    static uint32_t order[16], layers[17];
    vyre_plan_graph graph;
    vyre_pack search;
    uint32_t edges, best = brute(p, &edges);
    REQUIRE(vyre_planner_begin(planner, 0));
    vyre_plan_walk walk = {.order = order, .layer_start = layers};
    REQUIRE_OK(vyre_plan_graph_lists(planner, &p->set, 1, &walk, NULL), NULL);
    vyre_plan_graph_walk(p->set.wave_count, &walk);
    REQUIRE_OK(vyre_plan_graph_finish(planner, &p->set, &walk, &graph, NULL), NULL);
    REQUIRE_OK(vyre_plan_graph_sort(planner, &graph, NULL), NULL);
    REQUIRE(vyre_pack_init(planner, &graph, cost, p->set.budget_bytes, &options, &search));
    REQUIRE_OK(vyre_pack_bound(planner, &search, NULL), NULL);
    CHECK(search.lower_bound <= best);
    search.groups = search.count;
    for (uint32_t k = 0; k < search.count; k++) {
        search.group_of[order[k]] = k;
    }
    REQUIRE_OK(vyre_pack_search(planner, &search, NULL), NULL);
    REQUIRE(search.groups == best && search.lower_bound == best);
    uint64_t room[16];
    for (uint32_t g = 0; g < search.groups; g++) {
        room[g] = p->set.budget_bytes;
    }
    for (uint32_t w = 0; w < search.count; w++) {
        REQUIRE(search.group_of[w] < search.groups && cost[w] <= room[search.group_of[w]]);
        room[search.group_of[w]] -= cost[w];
    }
    for (size_t i = 0; i < p->set.dep_count; i++) {
        CHECK(search.group_of[p->deps[i].before] < search.group_of[p->deps[i].after]);
    }
}

TEST(search_alone_equals_brute_force) {
    vyre_planner *planner = planner_make(NULL);
    for (uint64_t round = 0; round < test_scaled(5000); round++) {
        uint64_t seed = round, cost[16];
        uint32_t count = 6 + (uint32_t)test_random_below(&seed, 5);
        uint64_t most = 1 + test_random_below(&seed, 12);
        uint64_t budget = most + test_random_below(&seed, 3 * most);
        problem *p = problem_random(&seed, count, most, budget, test_random_below(&seed, 40));
        for (uint32_t w = 0; w < count; w++) {
            cost[w] = p->waves[w].frontier;
        }
        search_alone(planner, p, cost);
    }
    vyre_planner_destroy(planner);
}

TEST(packed_random_graphs_of_many_sizes) {
    vyre_planner *planner = planner_make(NULL);
    const vyre_plan_options options = {.node_limit = 20000};
    for (uint64_t round = 0; round < test_scaled(60); round++) {
        uint64_t seed = round;
        uint32_t count = 11 + (uint32_t)test_random_below(&seed, round < 50 ? 150 : 1900);
        uint64_t most = 1 + test_random_below(&seed, 1000000);
        uint64_t budget = most * (1 + test_random_below(&seed, 5));
        problem *p = problem_random(&seed, count, most, budget, test_random_below(&seed, 12));
        vyre_plan plan = pack(planner, &p->set, &options);
        CHECK(plan.peak_group <= budget);
    }
    vyre_planner_destroy(planner);
}

/* Above the size for which descendants are known: other bounds, no search. */
TEST(packed_large_graph) {
    enum { N = 20000 };
    static vyre_wave waves[N];
    static vyre_wave_dep deps[3 * N];
    uint64_t seed = 5;
    for (uint32_t w = 0; w < N; w++) {
        waves[w] = (vyre_wave){NULL, 50 + test_random_below(&seed, 450), 0, 0};
    }
    for (size_t i = 0; i < (size_t)3 * N; i++) {
        uint32_t a = (uint32_t)test_random_below(&seed, N - 1);
        deps[i] = (vyre_wave_dep){a, a + 1 + (uint32_t)test_random_below(&seed, N - 1 - a)};
    }
    vyre_wave_set set = {.waves = waves,
                         .wave_count = N,
                         .deps = deps,
                         .dep_count = (size_t)3 * N,
                         .budget_bytes = 1000};
    vyre_planner *planner = planner_make(NULL);
    vyre_plan plan = pack(planner, &set, NULL);
    CHECK(plan.group_count - plan.lower_bound <= plan.lower_bound / 50);
    vyre_planner_destroy(planner);
}

/* A fan-out whose successors need many groups: seen from the direct successors alone. */
TEST(packed_bounds_know_what_follows_a_wave) {
    enum { N = 3001 };
    static vyre_wave waves[N];
    static vyre_wave_dep deps[2 * N];
    size_t m = 0;
    for (uint32_t w = 0; w < N; w++) {
        waves[w] = (vyre_wave){NULL, 6, 0, 0};
        if (w > 0) {
            deps[m++] = (vyre_wave_dep){0, w};
            deps[m++] = (vyre_wave_dep){0, w};
        }
    }
    vyre_wave_set set = {
        .waves = waves, .wave_count = N, .deps = deps, .dep_count = m, .budget_bytes = 13};
    vyre_planner *planner = planner_make(NULL);
    vyre_plan plan = pack(planner, &set, NULL);
    CHECK_EQ(plan.group_count, 1501);
    CHECK(plan.optimal);
    vyre_planner_destroy(planner);
}

TEST(packed_lowers_the_peak_among_equal_plans) {
    vyre_planner *planner = planner_make(NULL);
    /* Two groups are needed; 6+4 | 5+5 has a peak of 10 although 12 would be allowed. */
    problem *p = problem_make(4, COSTS(6, 5, 4, 5), 0, NULL, 12);
    vyre_plan plan = pack(planner, &p->set, NULL);
    CHECK_EQ(plan.group_count, 2);
    CHECK_EQ(plan.peak_group, 10);
    vyre_planner_destroy(planner);
}

TEST(packed_is_deterministic) {
    vyre_planner *first = planner_make(NULL), *second = planner_make(NULL);
    uint64_t seed = 99;
    problem *p = problem_random(&seed, 70, 500, 1000, 3);
    for (uint64_t limit = 1; limit < 100000; limit *= 10) {
        const vyre_plan_options options = {.node_limit = limit};
        vyre_plan a = pack(first, &p->set, &options);
        vyre_plan b = pack(second, &p->set, &options);
        REQUIRE(a.group_count == b.group_count && a.lower_bound == b.lower_bound);
        CHECK_EQ(a.nodes, b.nodes);
        CHECK(memcmp(a.waves, b.waves, 70 * sizeof *a.waves) == 0);
        CHECK(memcmp(a.group_start, b.group_start, (a.group_count + 1) * sizeof(uint32_t)) == 0);
        (void)pack(second, &p->set, NULL);
    }
    vyre_planner_destroy(first);
    vyre_planner_destroy(second);
}

/* Sixty waves that nearly fill twenty groups if three and three go together: the bounds say twenty,
 * and neither such a plan nor a proof that there is none is found in a short time. */
static problem *problem_hard(void) {
    uint64_t cost[60], sum = 0, seed = 7, budget = 1000000, goal = 20 * budget - 2000;
    for (uint32_t w = 0; w < 60; w++) {
        cost[w] = budget / 3 - 50000 + test_random_below(&seed, 100000);
        sum += cost[w];
    }
    for (uint32_t w = 0; sum != goal; w = (w + 1) % 60) {
        uint64_t step = sum > goal ? sum - goal : goal - sum;
        step = step < 1000 ? step : 1000;
        cost[w] = sum > goal ? cost[w] - step : cost[w] + step;
        sum = sum > goal ? sum - step : sum + step;
    }
    return problem_make(60, cost, 0, NULL, budget);
}

static int cancel_flag;

static void cancel_after(void *user, const vyre_plan_progress *progress) {
    uint32_t *calls = user;
    CHECK(progress->groups >= progress->lower_bound);
    CHECK_EQ(progress->node_limit, UINT64_MAX);
    cancel_flag = ++*calls >= 500;
}

TEST(packed_gives_the_best_plan_so_far_when_cancelled) {
    vyre_planner *planner = planner_make(NULL);
    problem *p = problem_hard();
    uint32_t calls = 0;
    const vyre_plan_options options = {
        .node_limit = UINT64_MAX, .cancel = &cancel_flag, .progress = cancel_after, .user = &calls};
    vyre_plan plan = pack(planner, &p->set, &options);
    CHECK(plan.cancelled);
    CHECK_EQ(calls, 500);
    CHECK_EQ(plan.lower_bound, 20);
    vyre_planner_destroy(planner);
}

TEST(packed_keeps_to_the_memory_limit) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_planner *planner = planner_make(&a);
    /* Without a limit on effort the memory ends the search. */
    const vyre_plan_options options = {.memory_limit = 1 << 18, .node_limit = UINT64_MAX};
    vyre_plan plan = pack(planner, &problem_hard()->set, &options);
    CHECK(!plan.optimal && !plan.cancelled);
    CHECK(heap.peak_bytes < 4 << 20);
    vyre_planner_destroy(planner);
    CHECK_EQ(heap.live_blocks, 0);
}

static vyre_status pack_once(const vyre_allocator *a, void *user) {
    const problem *p = user;
    vyre_planner *planner;
    vyre_status status = vyre_planner_create(a, &planner, NULL);
    if (status == VYRE_OK) {
        vyre_plan plan;
        const vyre_plan_options options = {.node_limit = 5000};
        status = vyre_plan_waves(planner, &p->set, &options, &plan, NULL);
        if (status == VYRE_OK) {
            status = vyre_plan_check(&p->set, &plan, a, NULL);
        }
        vyre_planner_destroy(planner);
    }
    return status;
}

TEST(packed_survives_every_failed_allocation) {
    uint64_t seed = 21;
    CHECK(test_every_allocation(pack_once, problem_random(&seed, 60, 97, 200, 2), 200) > 10);
}

/* ---- the check itself ---- */

static void check_refuses(const vyre_wave_set *set, uint32_t groups, const uint32_t *waves,
                          const uint32_t *start, const char *part) {
    const vyre_plan plan = {
        .wave_count = start[groups], .group_count = groups, .waves = waves, .group_start = start};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_plan_check(set, &plan, NULL, &diag), VYRE_CHECK_FAILED, &diag);
    CHECK_HAS(diag.message, part);
    CHECK(diag.fix[0] != '\0');
}

#define LIST(...)                                                                                  \
    (const uint32_t[]) {                                                                           \
        __VA_ARGS__                                                                                \
    }

TEST(check_refuses_wrong_plans) {
    problem *p = problem_make(3, COSTS(6, 6, 4), 1, DEPS({0, 2}), 10);
    p->waves[2].name = "last";
    check_refuses(&p->set, 1, LIST(0, 1), LIST(0, 2), "holds 2 waves");
    check_refuses(&p->set, 2, LIST(0, 1, 2), LIST(0, 3, 3), "group 1 is empty");
    check_refuses(&p->set, 2, LIST(0, 1, 1), LIST(0, 1, 3), "wave 1 is in group 1 and again");
    check_refuses(&p->set, 2, LIST(0, 1, 9), LIST(0, 1, 3), "wave 9");
    check_refuses(&p->set, 2, LIST(1, 0, 2), LIST(0, 1, 3), "wave 2 (last), which depends on it");
    check_refuses(&p->set, 2, LIST(0, 1, 2), LIST(0, 2, 3), "group 0 exceeds the budget of 10");
    p->set.resident_graph_bytes = 11;
    check_refuses(&p->set, 2, LIST(0, 1, 2), LIST(0, 1, 3), "resident graph");
    p->set.resident_graph_bytes = 0;
    const vyre_plan good = {
        .wave_count = 3, .group_count = 2, .waves = LIST(0, 2, 1), .group_start = LIST(0, 1, 3)};
    CHECK_STATUS(vyre_plan_check(&p->set, &good, NULL, NULL), VYRE_OK, NULL);
}

/* ---- the curve ---- */

TEST(curve_falls_from_the_smallest_budget_to_the_layers) {
    vyre_planner *planner = planner_make(NULL);
    problem *p = problem_make(5, COSTS(5, 5, 5, 5, 5), 2, DEPS({0, 1}, {1, 2}), 0);
    p->set.resident_graph_bytes = 100;
    vyre_plan_point points[16];
    uint32_t count = 0;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_plan_curve(planner, &p->set, NULL, points, 16, &count, &diag), &diag);
    REQUIRE(count >= 2);
    CHECK_EQ(points[0].budget_bytes, 105);
    CHECK_EQ(points[0].groups, 5);
    CHECK_EQ(points[count - 1].groups, 3);
    CHECK_EQ(points[count - 1].barriers, 2);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(points[i].optimal);
        CHECK(i == 0 || points[i].budget_bytes > points[i - 1].budget_bytes);
        CHECK(i == 0 || points[i].groups <= points[i - 1].groups);
        CHECK_EQ(points[i].groups, points[i].budget_bytes < 110 ? 5 : 3);
    }
    p = problem_make(1, COSTS(5), 0, NULL, 0);
    REQUIRE_OK(vyre_plan_curve(planner, &p->set, NULL, points, 16, &count, &diag), &diag);
    CHECK_EQ(count, 1);
    CHECK_STATUS(vyre_plan_curve(planner, &p->set, NULL, points, 1, &count, &diag),
                 VYRE_INVALID_ARGUMENT, &diag);
    vyre_planner_destroy(planner);
}
