/* The barrier planner: layers, errors and their precedence, reuse of memory. */
#include "harness/test.h"
#include "vyre/plan.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define DEPS(...)                                                                                  \
    (const vyre_wave_dep[]){__VA_ARGS__}, COUNT(((const vyre_wave_dep[]){__VA_ARGS__}))

static vyre_planner *make(const vyre_allocator *a) {
    vyre_planner *planner = NULL;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_planner_create(a, &planner, &diag), &diag);
    return planner;
}

/* "[0][1,2]" */
static const char *show(const vyre_plan *plan) {
    static char text[512];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t g = 0; g < plan->group_count; g++) {
        for (uint32_t k = plan->group_start[g]; k < plan->group_start[g + 1]; k++) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu32,
                                   k == plan->group_start[g] ? "[" : ",", plan->waves[k]);
        }
        at += (size_t)snprintf(text + at, sizeof text - at, "]");
    }
    return text;
}

static void expect(uint32_t n, const vyre_wave_dep *deps, size_t m, uint32_t barriers,
                   const char *groups) {
    vyre_planner *planner = make(NULL);
    vyre_plan plan;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_plan_barriers(planner, n, deps, m, &plan, &diag), &diag);
    CHECK_EQ(plan.barriers, barriers);
    CHECK_STR(show(&plan), groups);
    CHECK(plan.optimal);
    vyre_planner_destroy(planner);
}

TEST(barriers_small_graphs) {
    expect(0, NULL, 0, 0, "");
    expect(4, NULL, 0, 0, "[0,1,2,3]");
    expect(4, DEPS({0, 1}, {1, 2}, {2, 3}), 3, "[0][1][2][3]");
    expect(4, DEPS({0, 1}, {0, 2}, {1, 3}, {2, 3}), 2, "[0][1,2][3]");
    expect(4, DEPS({0, 1}, {0, 1}, {0, 1}), 1, "[0,2,3][1]");
}

TEST(barriers_later_layers_are_in_order_of_discovery) {
    expect(5, DEPS({0, 4}, {0, 2}, {1, 3}), 1, "[0,1][4,2,3]");
    expect(5, DEPS({1, 2}, {0, 4}, {0, 3}), 1, "[0,1][4,3,2]");
}

static vyre_plan_fault refused(uint32_t n, const vyre_wave_dep *deps, size_t m,
                               vyre_status expected, const char *part) {
    vyre_planner *planner = make(NULL);
    vyre_plan plan = {.group_count = 77};
    vyre_diag diag = {0};
    CHECK_STATUS(vyre_plan_barriers(planner, n, deps, m, &plan, &diag), expected, &diag);
    CHECK_HAS(diag.message, part);
    CHECK(diag.fix[0] != '\0');
    CHECK_EQ(plan.group_count, 77);
    vyre_plan_fault fault = vyre_planner_fault(planner);
    vyre_planner_destroy(planner);
    return fault;
}

TEST(barriers_name_the_bad_dependency) {
    vyre_plan_fault f = refused(2, DEPS({0, 2}), VYRE_INVALID_INPUT, "0 -> 2");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_INVALID_WAVE);
    CHECK_EQ(f.wave_count, 2);
    CHECK_EQ(f.before, 0);
    CHECK_EQ(f.after, 2);
    f = refused(2, DEPS({1, 1}), VYRE_INVALID_INPUT, "wave 1 depends on itself");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_SELF_DEPENDENCY);
    CHECK_EQ(f.wave, 1);
    f = refused(2, DEPS({5, 5}), VYRE_INVALID_INPUT, "5 -> 5");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_INVALID_WAVE);
    f = refused(0, DEPS({3, 4}, {0, 0}), VYRE_INVALID_INPUT, "3 -> 4");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_INVALID_WAVE);
}

TEST(barriers_first_bad_dependency_wins_over_later_ones_and_cycles) {
    vyre_plan_fault f =
        refused(3, DEPS({0, 1}, {1, 0}, {2, 2}, {0, 9}), VYRE_INVALID_INPUT, "wave 2");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_SELF_DEPENDENCY);
    f = refused(3, DEPS({0, 1}, {1, 0}, {0, 9}, {2, 2}), VYRE_INVALID_INPUT, "0 -> 9");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_INVALID_WAVE);
}

TEST(barriers_name_a_wave_on_the_cycle) {
    vyre_plan_fault f = refused(2, DEPS({0, 1}, {1, 0}), VYRE_INVALID_INPUT, "cycle");
    CHECK_EQ(f.kind, VYRE_PLAN_FAULT_CYCLE);
    CHECK_EQ(f.unscheduled, 2);
    CHECK(f.wave < 2);
    /* 0 is before the cycle 2-3-4, 5 and 1 are behind it. */
    f = refused(6, DEPS({0, 2}, {2, 3}, {3, 4}, {4, 2}, {4, 5}, {5, 1}), VYRE_INVALID_INPUT,
                "cycle through wave");
    CHECK_EQ(f.unscheduled, 5);
    CHECK(f.wave >= 2 && f.wave <= 4);
}

TEST(barriers_refuse_more_waves_than_the_limit_without_allocating) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_planner *planner = make(&a);
    vyre_plan plan;
    vyre_diag diag = {0};
    uint64_t calls = heap.calls;
    CHECK_STATUS(vyre_plan_barriers(planner, UINT32_MAX, NULL, 0, &plan, &diag), VYRE_LIMIT, &diag);
    CHECK_EQ(vyre_planner_fault(planner).kind, VYRE_PLAN_FAULT_TOO_LARGE);
    CHECK_EQ(heap.calls, calls);
    vyre_planner_destroy(planner);
}

TEST(barriers_layered_grids) {
    vyre_planner *planner = make(NULL);
    static vyre_wave_dep deps[64 * 64 * 32];
    for (uint32_t width = 1; width <= 64; width++) {
        for (uint32_t depth = 1; depth <= 32; depth++) {
            size_t m = 0;
            for (uint32_t layer = 1; layer < depth; layer++) {
                for (uint32_t slot = 0; slot < width; slot++) {
                    deps[m++] = (vyre_wave_dep){(layer - 1) * width + slot, layer * width + slot};
                    deps[m++] = (vyre_wave_dep){(layer - 1) * width, layer * width + slot};
                }
            }
            vyre_plan plan;
            REQUIRE_OK(vyre_plan_barriers(planner, width * depth, deps, m, &plan, NULL), NULL);
            CHECK_EQ(plan.group_count, depth);
            CHECK_EQ(plan.barriers, depth - 1);
            CHECK_EQ(plan.max_width, width);
            for (uint32_t g = 0; g <= depth; g++) {
                CHECK_EQ(plan.group_start[g], g * width);
            }
        }
    }
    vyre_planner_destroy(planner);
}

TEST(barriers_reuse_their_memory) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_planner *planner = make(&a);
    static vyre_wave_dep fan[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        fan[i] = (vyre_wave_dep){0, i + 1};
    }
    vyre_plan plan;
    REQUIRE_OK(vyre_plan_barriers(planner, 1025, fan, 1024, &plan, NULL), NULL);
    CHECK_EQ(plan.barriers, 1);
    CHECK_EQ(plan.group_start[2] - plan.group_start[1], 1024);
    size_t held = vyre_planner_bytes(planner);
    uint64_t calls = heap.calls;
    const vyre_wave_dep chain[] = {{0, 1}, {1, 2}, {2, 3}};
    REQUIRE_OK(vyre_plan_barriers(planner, 4, chain, 3, &plan, NULL), NULL);
    CHECK_EQ(plan.barriers, 3);
    REQUIRE_OK(vyre_plan_barriers(planner, 1025, fan, 1024, &plan, NULL), NULL);
    CHECK_EQ(plan.barriers, 1);
    CHECK_EQ(heap.calls, calls);
    CHECK_EQ(vyre_planner_bytes(planner), held);
    vyre_planner_destroy(planner);
    CHECK_EQ(heap.live_blocks, 0);
}

static vyre_status plan_once(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_planner *planner;
    vyre_status status = vyre_planner_create(a, &planner, NULL);
    if (status == VYRE_OK) {
        enum { DEPS = 40000 }; /* sorted in blocks */
        static vyre_wave_dep deps[DEPS];
        for (uint32_t i = 0; i < DEPS; i++) {
            deps[i] = (vyre_wave_dep){i, i + 1};
        }
        vyre_plan plan;
        status = vyre_plan_barriers(planner, DEPS + 1, deps, DEPS, &plan, NULL);
        if (status == VYRE_OUT_OF_MEMORY) {
            CHECK_EQ(vyre_planner_fault(planner).kind, VYRE_PLAN_FAULT_STORAGE);
            CHECK(vyre_planner_fault(planner).required > 0);
        }
        vyre_planner_destroy(planner);
    }
    return status;
}

TEST(barriers_survive_every_failed_allocation) {
    CHECK(test_every_allocation(plan_once, NULL, 100) > 3);
}

TEST(barriers_refuse_null) {
    vyre_planner *planner = make(NULL);
    vyre_plan plan;
    CHECK_STATUS(vyre_plan_barriers(planner, 2, NULL, 1, &plan, NULL), VYRE_INVALID_ARGUMENT, NULL);
    CHECK_STATUS(vyre_plan_barriers(NULL, 0, NULL, 0, &plan, NULL), VYRE_INVALID_ARGUMENT, NULL);
    vyre_planner_destroy(planner);
    vyre_planner_destroy(NULL);
}

/* Large problems are sorted in another way; the answer is the one of the definition. */

typedef struct layers {
    uint32_t *order, *start;
    uint32_t count;
} layers;

/* By the definition: rounds over lists of edges, linked in their order. */
static layers find_layers(uint32_t n, const vyre_wave_dep *deps, size_t m) {
    layers found = {calloc(n, 4), calloc((size_t)n + 1, 4), 0};
    uint32_t *waiting = calloc(n, 4), placed = 0;
    size_t *head = calloc(n, sizeof *head), *next = calloc(m, sizeof *next); /* + 1; 0: none */
    REQUIRE(found.order && found.start && waiting && head && next);
    for (size_t i = m; i-- > 0;) {
        waiting[deps[i].after]++;
        next[i] = head[deps[i].before];
        head[deps[i].before] = i + 1;
    }
    for (uint32_t w = 0; w < n; w++) {
        if (waiting[w] == 0) {
            found.order[placed++] = w;
        }
    }
    while (found.start[found.count] < placed) {
        const uint32_t end = placed;
        for (uint32_t k = found.start[found.count]; k < end; k++) {
            for (size_t e = head[found.order[k]]; e != 0; e = next[e - 1]) {
                if (--waiting[deps[e - 1].after] == 0) {
                    found.order[placed++] = deps[e - 1].after;
                }
            }
        }
        found.start[++found.count] = end;
    }
    free(waiting);
    free(head);
    free(next);
    return found;
}

/* At random; one in `sunk` leads to the last wave, one in `sprung` leaves the first. */
typedef struct problem {
    uint32_t waves;
    size_t deps;
    size_t sunk, sprung;
} problem;

static vyre_wave_dep *random_deps(const problem *p) {
    const uint32_t n = p->waves;
    vyre_wave_dep *deps = calloc(p->deps, sizeof *deps);
    REQUIRE(deps);
    uint64_t seed = n;
    for (size_t i = 0; i < p->deps; i++) {
        const uint32_t before = i % p->sprung == 1 ? 0 : (uint32_t)test_random_below(&seed, n - 1);
        const uint32_t after = before + 1 + (uint32_t)test_random_below(&seed, n - 1 - before);
        deps[i] = (vyre_wave_dep){before, i % p->sunk == 0 ? n - 1 : after};
    }
    return deps;
}

static void check_large(problem p) {
    const uint32_t n = p.waves;
    const size_t m = p.deps;
    vyre_planner *planner = make(NULL);
    vyre_wave_dep *deps = random_deps(&p);
    const layers want = find_layers(n, deps, m);
    vyre_plan plan;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_plan_barriers(planner, n, deps, m, &plan, &diag), &diag);
    REQUIRE(plan.group_count == want.count);
    CHECK(memcmp(plan.waves, want.order, n * sizeof *want.order) == 0);
    CHECK(memcmp(plan.group_start, want.start, ((size_t)want.count + 1) * sizeof *want.start) == 0);
    /* A wrong dependency at the end, and a cycle. */
    deps[m - 1] = (vyre_wave_dep){n - 2, n};
    CHECK_STATUS(vyre_plan_barriers(planner, n, deps, m, &plan, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_EQ(vyre_planner_fault(planner).after, n);
    deps[m - 2] = (vyre_wave_dep){0, n - 1};
    deps[m - 1] = (vyre_wave_dep){n - 1, 0};
    CHECK_STATUS(vyre_plan_barriers(planner, n, deps, m, &plan, &diag), VYRE_INVALID_INPUT, &diag);
    CHECK_EQ(vyre_planner_fault(planner).kind, VYRE_PLAN_FAULT_CYCLE);
    free(want.order);
    free(want.start);
    free(deps);
    vyre_planner_destroy(planner);
}

enum { SOME = 40001, MANY = (1 << 22) + 12345 };

TEST(barriers_of_many_dependencies) {
    for (uint32_t n = 2; n < 4 * SOME; n = n * 3 + 1) {
        check_large((problem){n, SOME, SOME, SOME});
        check_large((problem){n, SOME, SOME, 2}); /* a block without room for its copy */
        check_large((problem){n, SOME, 3, SOME}); /* a wave that many lead to */
        check_large((problem){n, SOME, 2, 1 + n % 3});
    }
    check_large((problem){1 << 12, 1 << 15, SOME, SOME}); /* whole numbers of blocks and of lines */
}

TEST(barriers_of_very_many_dependencies) {
    check_large((problem){600001, MANY, MANY, MANY}); /* few lead to each wave */
    check_large((problem){1 << 17, MANY, 4, MANY});   /* a whole number of blocks, and one wave that
                                                         most lead to */
    check_large((problem){4096, MANY, MANY, 3});      /* few waves, and one that most leave */
    check_large((problem){(3 << 20) + 1, MANY, MANY, 5}); /* more waves than usual blocks have room
                                                             for */
}
