/* The planner beside that of another commit, which scripts/bench-plan-against has built as a
 * library: how much faster by size, and whether both make the same plans, bit for bit, with any
 * number of threads. They run in turn on the same problems, each with a planner that has seen the
 * problem's size before. */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* A planner and the calls that belong to it. */
typedef struct side {
    vyre_status (*create)(const vyre_allocator *, vyre_planner **, vyre_diag *);
    void (*destroy)(vyre_planner *);
    vyre_status (*plan)(vyre_planner *, const vyre_wave_set *, const vyre_plan_options *,
                        vyre_plan *, vyre_diag *);
    vyre_planner *planner;
} side;

enum {
    SIDES = 3, /* the other commit, this one with one thread, this one */
    MOST_RUNS = 1025,
    WORK = 1 << 25, /* dependencies that are planned for one figure, about */
    LEAST_RUNS = 5,
    VARIANTS = 16, /* small problems: else the machine learns their branches by heart */
    PACKED_EACH = 101,
    LARGE_EACH = 1000
};

static bool find(void *library, const char *name, void *out_function) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "bench: %s\n", dlerror());
        return false;
    }
    memcpy(out_function, &found, sizeof found);
    return true;
}

static bool open_sides(const char *file, side sides[SIDES]) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "bench: %s\n", dlerror());
        return false;
    }
    sides[1] = sides[2] = (side){vyre_planner_create, vyre_planner_destroy, vyre_plan_waves, NULL};
    if (!find(library, "vyre_planner_create", &sides[0].create) ||
        !find(library, "vyre_planner_destroy", &sides[0].destroy) ||
        !find(library, "vyre_plan_waves", &sides[0].plan)) {
        return false;
    }
    return sides[0].create(NULL, &sides[0].planner, NULL) == VYRE_OK &&
           sides[1].create(NULL, &sides[1].planner, NULL) == VYRE_OK &&
           sides[2].create(NULL, &sides[2].planner, NULL) == VYRE_OK &&
           vyre_planner_set_threads(sides[1].planner, 1, NULL) == VYRE_OK;
}

static bool same_plan(const vyre_plan *a, const vyre_plan *b) {
    const size_t waves = a->wave_count * sizeof *a->waves;
    const size_t groups = ((size_t)a->group_count + 1) * sizeof *a->group_start;
    return a->mode == b->mode && a->wave_count == b->wave_count &&
           a->group_count == b->group_count && memcmp(a->waves, b->waves, waves) == 0 &&
           memcmp(a->group_start, b->group_start, groups) == 0 && a->barriers == b->barriers &&
           a->lower_bound == b->lower_bound && a->optimal == b->optimal &&
           a->cancelled == b->cancelled && a->nodes == b->nodes && a->peak_group == b->peak_group &&
           a->peak_frontier == b->peak_frontier && a->peak_scratch == b->peak_scratch &&
           a->peak_output == b->peak_output && a->readback == b->readback &&
           a->max_width == b->max_width;
}

/* Plans with all sides; whether they agree. */
static bool all_sides(side sides[SIDES], const vyre_wave_set *set, const vyre_plan_options *options,
                      double took[SIDES]) {
    vyre_plan plan[SIDES];
    vyre_status status[SIDES];
    bool agree = true;
    for (int i = 0; i < SIDES; i++) {
        const double begin = now();
        status[i] = sides[i].plan(sides[i].planner, set, options, &plan[i], NULL);
        took[i] = now() - begin;
        agree = agree && status[i] == status[0] &&
                (status[0] != VYRE_OK || same_plan(&plan[0], &plan[i]));
    }
    return agree;
}

static int one_size(side sides[SIDES], shape kind, uint32_t waves, uint32_t deps) {
    const vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED};
    const uint32_t variants = waves <= 10000 ? VARIANTS : 1;
    instance made[VARIANTS];
    for (uint32_t i = 0; i < variants; i++) {
        made[i] = make_shape(kind, waves, deps, i + 1);
    }
    size_t runs = WORK / made[0].set.dep_count;
    runs = runs < LEAST_RUNS ? LEAST_RUNS : runs > MOST_RUNS ? MOST_RUNS : runs;
    int failures = 0;
    double took[SIDES];
    double least[SIDES], prior = HUGE_VAL;
    all_sides(sides, &made[0].set, &options, least); /* from here on nobody allocates */
    for (size_t r = 0; r < runs; r++) {
        const vyre_wave_set *set = &made[r % variants].set;
        failures += !all_sides(sides, set, &options, took);
        for (int i = 0; i < SIDES; i++) {
            least[i] = fmin(least[i], took[i]);
        }
        const double begin = now();
        prior_plan(set);
        prior = fmin(prior, now() - begin);
    }
    const double each = (double)made[0].set.dep_count;
    printf("%-16s %8" PRIu32 " %9zu  %8.2f %8.2f %8.2f %8.2f   %6.2f %6.2f\n", shape_names[kind],
           waves, made[0].set.dep_count, 1e9 * prior / each, 1e9 * least[0] / each,
           1e9 * least[1] / each, 1e9 * least[2] / each, prior / least[2], least[0] / least[2]);
    fflush(stdout);
    for (uint32_t i = 0; i < variants; i++) {
        instance_free(&made[i]);
    }
    return failures;
}

/* A large set with other numbers of threads, too. */
static bool same_with_threads(side sides[SIDES], const vyre_wave_set *set,
                              const vyre_plan_options *options) {
    static const uint32_t numbers[] = {2, 3, 8, 0};
    bool same = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double took[SIDES];
        same = vyre_planner_set_threads(sides[2].planner, numbers[i], NULL) == VYRE_OK &&
               all_sides(sides, set, options, took) && same;
    }
    return same;
}

/* Random sets, most of them small, some large enough for each way to sort and for threads. */
static uint64_t compare_plans(side sides[SIDES], uint64_t count) {
    uint64_t differ = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        uint64_t state = seed;
        const bool is_large = seed % LARGE_EACH == 0;
        const uint32_t waves = 2 + (uint32_t)random_below(&state, is_large ? 60000 : 200);
        const uint32_t each = 1 + (uint32_t)random_below(&state, is_large ? 12 : 6);
        instance made =
            make_shape((shape)(seed / (is_large ? LARGE_EACH : 1) % 4), waves, each, seed);
        vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED, .node_limit = 50};
        double took[SIDES];
        bool same = all_sides(sides, &made.set, &options, took);
        if (is_large) {
            same = same_with_threads(sides, &made.set, &options) && same;
        }
        if (seed % PACKED_EACH == 0) { /* it takes a thousand times as long */
            options.mode = VYRE_PLAN_PACKED;
            same = all_sides(sides, &made.set, &options, took) && same;
        }
        if (!same && differ++ < 10) {
            printf("FAILED: seed %" PRIu64 ": the plans differ\n", seed);
        }
        instance_free(&made);
    }
    printf("%" PRIu64 " random sets, %" PRIu64 " plans differ\n", count, differ);
    return differ;
}

int bench_against(const char *file, uint64_t count, uint32_t most) {
    side sides[SIDES] = {0};
    if (!open_sides(file, sides)) {
        return 1;
    }
    int failures = 0;
    printf(
        "layered, ns for each dependency (least of all runs); one: this planner with one thread;\n"
        "x: prior / now, before / now\n"
        "%-16s %8s %9s  %8s %8s %8s %8s   %6s %6s\n",
        "graph", "waves", "deps", "prior", "before", "one", "now", "x", "x");
    for (uint32_t waves = 1000; waves <= most; waves *= 10) {
        for (int kind = SHAPE_CHAINS; kind <= SHAPE_POWER_LAW; kind++) {
            failures += one_size(sides, (shape)kind, waves, 10);
        }
    }
    const uint64_t differ = compare_plans(sides, count);
    for (int i = 0; i < SIDES; i++) {
        sides[i].destroy(sides[i].planner);
    }
    printf("%d failures\n", failures);
    return failures != 0 || differ != 0;
}
