/* Rounds: in each, every contestant takes a turn, so that a pair (ours, a peer's) lies close
 * together in time and sees the same machine. Pairs in which either lost a core do not count, and
 * rounds go on, within bounds, until there are enough that do; if there never are, all count, and
 * the row says so. */
#include "compare.h"

/* Compares what the process left in its room. */
static void check(bench_contestant *c, const bench_instance *want) {
    if (c->pid && !instance_same(&c->own, want, c->message)) {
        c->is_wrong = true;
        c->is_there = false;
        contestant_finish(c);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bench_spread spread_of(double *values, uint32_t count) {
    if (count == 0) {
        return (bench_spread){0};
    }
    qsort(values, count, sizeof *values, by_size);
    return (bench_spread){values[count / 4], values[count / 2], values[count - 1 - count / 4]};
}

/* Both took a turn in that round, and neither lost a core. */
static bool is_pair(const bench_contestant *ours, const bench_contestant *c, uint32_t round) {
    return ours->turns[round].ns && c->turns[round].ns;
}

static bool is_clean(const bench_contestant *ours, const bench_contestant *c, uint32_t round) {
    return is_pair(ours, c, round) && !ours->turns[round].was_lost && !c->turns[round].was_lost;
}

static uint32_t count_rounds(const bench_contestant *ours, const bench_contestant *c,
                             bool (*which)(const bench_contestant *, const bench_contestant *,
                                           uint32_t)) {
    uint32_t count = 0;
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        count += which(ours, c, round);
    }
    return count;
}

enum { FEW = 5 }; /* clean pairs: below that all are used */

/* `ours` is the contestant itself where there is nothing of ours to compare with. */
static bench_result result_of(const bench_contestant *ours, const bench_contestant *c) {
    bench_result r = {.name = c->name,
                      .is_wrong = c->is_wrong,
                      .is_there = c->is_there,
                      .is_openmp = c->is_openmp};
    double times[MOST_ROUNDS], ratios[MOST_ROUNDS];
    uint32_t count = 0, alone = 0;
    memcpy(r.message, c->message, sizeof r.message);
    r.pairs = count_rounds(ours, c, is_pair);
    r.clean = count_rounds(ours, c, is_clean);
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        if (r.clean < FEW ? is_pair(ours, c, round) : is_clean(ours, c, round)) {
            alone += c->turns[round].was_alone;
            times[count] = (double)c->turns[round].ns;
            ratios[count++] = (double)c->turns[round].ns / (double)ours->turns[round].ns;
        }
    }
    r.is_alone = 2 * alone > count;
    r.ns = spread_of(times, count);
    r.ratio = spread_of(ratios, count);
    return r;
}

static int better_openmp(const bench_row *row) {
    int better = -1;
    for (uint32_t k = 1; k < row->count; k++) {
        const bench_result *r = &row->results[k];
        if (r->is_openmp && r->ns.median > 0.0 &&
            (better < 0 || r->ns.median < row->results[better].ns.median)) {
            better = (int)k;
        }
    }
    return better;
}

/* Who is hopelessly slow gets a third of the rounds. */
static bool is_slow(const bench_contestant *c) {
    return c->turns[0].ns > 2000000000;
}

static bool has_turn(const bench_contestant *c, uint32_t round) {
    return c->takes_one_turn ? round == 0 : round % 3 == 0 || !is_slow(c);
}

static bool enough(const bench_contestant *contestants, uint32_t count, uint32_t rounds) {
    for (uint32_t k = 0; k < count; k++) {
        if (contestants[k].pid && !is_slow(&contestants[k]) && !contestants[k].takes_one_turn &&
            count_rounds(&contestants[0], &contestants[k], is_clean) < rounds) {
            return false;
        }
    }
    return true;
}

bool measure_row(const bench_instance *instance, bench_contestant *contestants, uint32_t count,
                 uint32_t rounds, bench_row *out) {
    bench_contestant truth = {.name = "serial", .peer = instance->of->peer};
    if (!contestant_start(&truth, instance)) {
        fprintf(stderr, "bench: %s: nothing to compare with: %s\n", instance->of->name,
                truth.message);
        return false;
    }
    contestant_finish(&truth);
    for (uint32_t k = 0; k < count; k++) {
        bool exists = contestants[k].backend || contestants[k].peer;
        if (exists && contestant_start(&contestants[k], instance)) {
            check(&contestants[k], &truth.own);
        }
    }
    for (uint32_t round = 0; round < MOST_ROUNDS && rounds; round++) {
        if (round >= rounds && (round >= 3 * rounds || enough(contestants, count, rounds))) {
            break;
        }
        for (uint32_t k = 0; k < count; k++) {
            if (has_turn(&contestants[k], round) || k == 0) {
                contestant_take_turn(&contestants[k], round);
            }
        }
    }
    *out = (bench_row){.workload = instance->of, .count = count};
    for (uint32_t k = 0; k < count; k++) {
        contestants[k].is_there = contestants[k].pid != 0;
        if (contestant_collect(&contestants[k])) {
            check(&contestants[k], &truth.own);
        }
        contestant_finish(&contestants[k]);
    }
    out->has_ours = contestants[0].turns[0].ns != 0;
    for (uint32_t k = 0; k < count; k++) {
        out->results[k] =
            result_of(out->has_ours ? &contestants[0] : &contestants[k], &contestants[k]);
        contestant_release(&contestants[k]);
    }
    contestant_release(&truth);
    out->better = better_openmp(out);
    return true;
}
