/* The planner beside that of another commit, which scripts/bench-plan-against has built as a
 * library: how much faster by size, and whether both make the same plans, bit for bit. The two run
 * in turn on the same problems, each with a planner that has seen the problem's size before. */
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
    SIDES = 2, /* the other commit, this one */
    MOST_RUNS = 1025,
    WORK = 1 << 25, /* dependencies that are planned for one figure, about */
    LEAST_RUNS = 5,
    VARIANTS = 16, /* small problems: else the machine learns their branches by heart */
    PACKED_EACH = 101
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
    sides[1] = (side){vyre_planner_create, vyre_planner_destroy, vyre_plan_waves, NULL};
    if (!find(library, "vyre_planner_create", &sides[0].create) ||
        !find(library, "vyre_planner_destroy", &sides[0].destroy) ||
        !find(library, "vyre_plan_waves", &sides[0].plan)) {
        return false;
    }
    return sides[0].create(NULL, &sides[0].planner, NULL) == VYRE_OK &&
           sides[1].create(NULL, &sides[1].planner, NULL) == VYRE_OK;
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

/* Plans with both sides; whether they agree. */
static bool both(side sides[SIDES], const vyre_wave_set *set, const vyre_plan_options *options,
                 double took[SIDES]) {
    vyre_plan plan[SIDES];
    vyre_status status[SIDES];
    for (int i = 0; i < SIDES; i++) {
        const double begin = now();
        status[i] = sides[i].plan(sides[i].planner, set, options, &plan[i], NULL);
        took[i] = now() - begin;
    }
    return status[0] == status[1] && (status[0] != VYRE_OK || same_plan(&plan[0], &plan[1]));
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
    both(sides, &made[0].set, &options, took); /* from here on nobody allocates */
    double before = took[0], after = took[1], prior = HUGE_VAL;
    for (size_t r = 0; r < runs; r++) {
        const vyre_wave_set *set = &made[r % variants].set;
        failures += !both(sides, set, &options, took);
        before = fmin(before, took[0]);
        after = fmin(after, took[1]);
        const double begin = now();
        prior_plan(set);
        prior = fmin(prior, now() - begin);
    }
    const double each = (double)made[0].set.dep_count;
    printf("%-16s %8" PRIu32 " %9zu  %8.2f %8.2f %8.2f   %6.2f %6.2f\n", shape_names[kind], waves,
           made[0].set.dep_count, 1e9 * prior / each, 1e9 * before / each, 1e9 * after / each,
           prior / after, before / after);
    fflush(stdout);
    for (uint32_t i = 0; i < variants; i++) {
        instance_free(&made[i]);
    }
    return failures;
}

/* Random sets, most of them small, some large enough for each way to sort. */
static uint64_t compare_plans(side sides[SIDES], uint64_t count) {
    uint64_t differ = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        uint64_t state = seed;
        const uint32_t most = seed % 1000 == 0 ? 40000 : 200;
        const uint32_t waves = 2 + (uint32_t)random_below(&state, most);
        instance made =
            make_shape((shape)(seed % 4), waves, 1 + (uint32_t)random_below(&state, 6), seed);
        vyre_plan_options options = {.mode = VYRE_PLAN_LAYERED, .node_limit = 50};
        double took[SIDES];
        bool same = both(sides, &made.set, &options, took);
        if (seed % PACKED_EACH == 0) { /* it takes a thousand times as long */
            options.mode = VYRE_PLAN_PACKED;
            same = both(sides, &made.set, &options, took) && same;
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
    printf("layered, CPU ns for each dependency (least of all runs); x: prior / now, before / now\n"
           "%-16s %8s %9s  %8s %8s %8s   %6s %6s\n",
           "graph", "waves", "deps", "prior", "before", "now", "x", "x");
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
