/* The measured runs. A failure is a wrong result: an error, a plan that does not pass the check, a
 * packed plan worse than the layered one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "brute.h"

static int complain(const char *what, const vyre_diag *diag) {
    printf("FAILED: %s: %s\n", what, diag->message);
    return 1;
}

/* Plans and checks; the time is that of planning alone. */
static int timed_plan(vyre_planner *planner, const vyre_wave_set *set, vyre_plan_mode mode,
                      uint64_t nodes, vyre_plan *plan, double *seconds) {
    const vyre_plan_options options = {.mode = mode, .node_limit = nodes};
    vyre_diag diag = {0};
    double begin = now();
    vyre_status status = vyre_plan_waves(planner, set, &options, plan, &diag);
    *seconds = now() - begin;
    if (status != VYRE_OK || vyre_plan_check(set, plan, NULL, &diag) != VYRE_OK) {
        return complain(vyre_plan_mode_name(mode), &diag);
    }
    return 0;
}

/* ---- large graphs ---- */

enum { REPEATS = 3 };

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count) {
    qsort(times, count, sizeof *times, compare_doubles);
    return times[count / 2];
}

static int one_large(vyre_planner *planner, shape kind, uint32_t waves, uint32_t deps, FILE *json,
                     bool first) {
    instance made = make_shape(kind, waves, deps, 1);
    double prior[REPEATS], layered[REPEATS], packed[REPEATS];
    uint32_t prior_groups = 0, layered_groups;
    vyre_plan plan;
    int failures = 0;
    /* Alternating, after one warm-up of each. */
    for (int r = -1; r < REPEATS; r++) {
        double begin = now(), took;
        prior_groups = prior_plan(&made.set);
        prior[r < 0 ? 0 : r] = now() - begin;
        failures += timed_plan(planner, &made.set, VYRE_PLAN_LAYERED, 0, &plan, &took);
        layered[r < 0 ? 0 : r] = took;
    }
    layered_groups = plan.group_count;
    for (int r = 0; r < REPEATS; r++) {
        failures += timed_plan(planner, &made.set, VYRE_PLAN_PACKED, 0, &plan, &packed[r]);
    }
    double p = median(prior, REPEATS), l = median(layered, REPEATS), k = median(packed, REPEATS);
    failures += layered_groups != prior_groups || plan.group_count > layered_groups;
    printf("%-16s %8" PRIu32 " %9zu  %8.1f %8.1f %8.1f   %5.2f %6.2f   %8" PRIu32 " %8" PRIu32
           " %8" PRIu32 "  %6.1f\n",
           shape_names[kind], waves, made.set.dep_count, 1e3 * p, 1e3 * l, 1e3 * k, p / l, k / l,
           prior_groups, plan.group_count, plan.lower_bound,
           (double)vyre_planner_bytes(planner) / (waves + (double)made.set.dep_count));
    if (json) {
        fprintf(json,
                "%s{\"shape\":\"%s\",\"waves\":%" PRIu32 ",\"deps\":%zu,\"prior_s\":%.6f,"
                "\"layered_s\":%.6f,\"packed_s\":%.6f,\"prior_groups\":%" PRIu32
                ",\"packed_groups\":%" PRIu32 ",\"lower_bound\":%" PRIu32 ",\"planner_bytes\":%zu}",
                first ? "" : ",", shape_names[kind], waves, made.set.dep_count, p, l, k,
                prior_groups, plan.group_count, plan.lower_bound, vyre_planner_bytes(planner));
    }
    instance_free(&made);
    return failures;
}

int bench_large(FILE *json, uint32_t most) {
    int failures = 0;
    bool first = true;
    printf("ms (medians); x: prior / layered; cost: packed / layered\n"
           "%-16s %8s %9s  %8s %8s %8s   %5s %6s   %8s %8s %8s  %6s\n",
           "graph", "waves", "deps", "prior", "layered", "packed", "x", "cost", "prior", "packed",
           "bound", "B/item");
    for (uint32_t waves = 10000; waves <= most; waves *= 10) {
        for (int kind = SHAPE_CHAINS; kind <= SHAPE_POWER_LAW; kind++) {
            vyre_planner *planner;
            if (vyre_planner_create(NULL, &planner, NULL) != VYRE_OK) {
                return 1;
            }
            failures += one_large(planner, (shape)kind, waves, 10, json, first);
            vyre_planner_destroy(planner);
            first = false;
        }
    }
    printf("highest resident memory: %.0f MB\n\n", (double)peak_memory() / 1e6);
    return failures;
}

/* ---- line-balancing instances ---- */

typedef struct tally {
    uint32_t count, optimal, over_second;
    double gap, ratio, seconds, slowest;
    uint64_t layered, packed;
} tally;

static int one_line(vyre_planner *planner, const vyre_wave_set *set, tally *t) {
    vyre_plan plan;
    double took;
    int failures = timed_plan(planner, set, VYRE_PLAN_LAYERED, 0, &plan, &took);
    uint32_t layered = plan.group_count;
    failures += timed_plan(planner, set, VYRE_PLAN_PACKED, 0, &plan, &took);
    failures += plan.group_count > layered;
    t->count++;
    t->optimal += plan.optimal;
    t->over_second += took > 1.0;
    t->gap += plan.group_count - plan.lower_bound;
    t->layered += layered;
    t->packed += plan.group_count;
    t->seconds += took;
    t->slowest = took > t->slowest ? took : t->slowest;
    return failures;
}

int bench_lines(FILE *json, bool quick) {
    static const uint32_t sizes[] = {20, 50, 100, 1000};
    static const double strengths[] = {0.2, 0.5, 0.9};
    int failures = 0;
    bool first = true;
    vyre_planner *planner;
    if (vyre_planner_create(NULL, &planner, NULL) != VYRE_OK) {
        return 1;
    }
    printf("%5s %5s %6s  %8s %8s  %8s %8s %6s  %8s %8s\n", "waves", "order", "seeds", "optimal",
           "mean gap", "layered", "packed", "ratio", "mean ms", "max ms");
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++) {
            tally t = {0};
            uint64_t seeds = quick ? 5 : 100;
            for (uint64_t seed = 1; seed <= seeds; seed++) {
                instance made = make_line(sizes[i], strengths[k], seed);
                failures += one_line(planner, &made.set, &t);
                instance_free(&made);
            }
            double n = t.count;
            printf("%5" PRIu32 " %5.1f %6" PRIu32
                   "  %7.1f%% %8.2f  %8.1f %8.1f %6.3f  %8.1f %8.1f\n",
                   sizes[i], strengths[k], t.count, 100.0 * t.optimal / n, t.gap / n,
                   (double)t.layered / n, (double)t.packed / n,
                   (double)t.layered / (double)t.packed, 1e3 * t.seconds / n, 1e3 * t.slowest);
            fflush(stdout);
            if (json) {
                fprintf(json,
                        "%s{\"waves\":%" PRIu32 ",\"order_strength\":%.1f,\"seeds\":%" PRIu32
                        ",\"optimal\":%" PRIu32 ",\"mean_gap\":%.4f,\"layered_mean\":%.4f,"
                        "\"packed_mean\":%.4f,\"mean_s\":%.6f,\"max_s\":%.6f}",
                        first ? "" : ",", sizes[i], strengths[k], t.count, t.optimal, t.gap / n,
                        (double)t.layered / n, (double)t.packed / n, t.seconds / n, t.slowest);
            }
            first = false;
        }
    }
    vyre_planner_destroy(planner);
    return failures;
}

/* ---- against brute force ---- */

int bench_verify(uint64_t count) {
    vyre_planner *planner;
    if (vyre_planner_create(NULL, &planner, NULL) != VYRE_OK) {
        return 1;
    }
    uint64_t failures = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        instance made = make_tiny(seed);
        uint64_t cost[16];
        uint32_t preds[16] = {0};
        for (uint32_t w = 0; w < made.set.wave_count; w++) {
            vyre_wave_cost(&made.waves[w], &cost[w]);
        }
        for (size_t i = 0; i < made.set.dep_count; i++) {
            preds[made.deps[i].after] |= 1u << made.deps[i].before;
        }
        uint32_t best = brute_groups(made.set.wave_count, cost, preds, made.set.budget_bytes);
        vyre_plan plan;
        double took;
        bool wrong = timed_plan(planner, &made.set, VYRE_PLAN_PACKED, 0, &plan, &took) != 0;
        if (wrong || plan.group_count != best || !plan.optimal) {
            printf("FAILED: seed %" PRIu64 ": %" PRIu32 " groups (bound %" PRIu32
                   "), brute force %" PRIu32 "\n",
                   seed, plan.group_count, plan.lower_bound, best);
            failures++;
        }
        instance_free(&made);
    }
    vyre_planner_destroy(planner);
    printf("packed against brute force: seeds 1..%" PRIu64 ", %" PRIu64 " sets, %" PRIu64
           " failures\n",
           count, count, failures);
    return failures ? 1 : 0;
}

/* FNV-1a, a word at a time. */
static void mix(uint64_t *digest, uint64_t word) {
    *digest = (*digest ^ word) * UINT64_C(1099511628211);
}

static void mix_plan(uint64_t *digest, const vyre_plan *plan) {
    for (uint32_t k = 0; k < plan->wave_count; k++) {
        mix(digest, plan->waves[k]);
    }
    for (uint32_t g = 0; g <= plan->group_count; g++) {
        mix(digest, plan->group_start[g]);
    }
    mix(digest, plan->lower_bound);
    mix(digest, plan->max_width);
    mix(digest, plan->peak_group);
    mix(digest, plan->peak_frontier);
    mix(digest, plan->peak_scratch);
    mix(digest, plan->peak_output);
}

enum { PACKED_SAMPLE = 101 };

int bench_digest(uint64_t count) {
    vyre_planner *planner;
    if (vyre_planner_create(NULL, &planner, NULL) != VYRE_OK) {
        return 1;
    }
    uint64_t digest = UINT64_C(14695981039346656037);
    int failures = 0;
    for (uint64_t seed = 1; seed <= count && failures == 0; seed++) {
        uint64_t state = seed;
        const uint32_t waves = 2 + (uint32_t)random_below(&state, 200);
        instance made =
            make_shape((shape)(seed % 4), waves, 1 + (uint32_t)random_below(&state, 6), seed);
        vyre_plan plan;
        double took;
        failures += timed_plan(planner, &made.set, VYRE_PLAN_LAYERED, 0, &plan, &took);
        mix_plan(&digest, &plan);
        if (seed % PACKED_SAMPLE == 0) { /* it takes a thousand times as long */
            failures += timed_plan(planner, &made.set, VYRE_PLAN_PACKED, 50, &plan, &took);
            mix_plan(&digest, &plan);
        }
        instance_free(&made);
    }
    vyre_planner_destroy(planner);
    printf("%" PRIu64 " sets, %d failures, digest %016" PRIx64 "\n", count, failures, digest);
    return failures ? 1 : 0;
}
