/* Random order-free programs against the reference backend:
 * vyre_fuzz_diff [--backend B] [--count N] [--seed S] [--cases DIR] [--tight] [--print].
 * --tight runs each also on ref-split where no buffer may be larger than the program's own need.
 * A program that differs is reduced and written to DIR. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/differ.h"
#include "diff/reduce.h"
#include "random/random_program.h"

/* REPORTED failures of each kind are reduced. */
enum { REPORTED = 5, RACE_SAMPLE = 16 };

typedef struct options {
    const char *backend, *cases;
    uint64_t count, seed;
    bool print, tight;
} options;

typedef struct totals {
    uint64_t features[DIFFER_FEATURE_COUNT];
    uint64_t carries[DIFFER_CARRIES];
    uint64_t changed, chunked, segments, failures;
    uint64_t results[DIFFER_SPLIT + 1];
} totals;

static bool to_file(void *user, const char *text, size_t length) {
    return fwrite(text, 1, length, user) == length;
}

/* Shrinks a program that differs and writes it down. */
static void report(differ *d, const options *o, uint64_t seed, vyre_program *program,
                   differ_result result) {
    printf("seed %" PRIu64 ": %s\n", seed, d->why);
    vyre_program *small = reduce(d, program, result);
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%.*s-%" PRIu64 ".vy", o->cases,
                   (int)strcspn(o->backend, ":"), o->backend, seed);
    (void)differ_check(d, small);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "// seed %" PRIu64 ": %s\n", seed, d->why);
        (void)vyre_program_print(small, to_file, file);
        (void)fclose(file);
        printf("    reduced to %u statements: %s\n", vyre_program_get(small)->stmt_count, path);
    } else {
        printf("    %s can't be written\n", path);
    }
    fflush(stdout);
    vyre_program_release(small);
}

static void one(differ *d, const options *o, uint64_t seed, totals *t) {
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    if (random_order_free(seed, &program, &diag) != VYRE_OK) {
        printf("seed %" PRIu64 ": %s\n", seed, diag.message);
        t->failures++;
        return;
    }
    if (o->print) {
        (void)vyre_program_print(program, to_file, stdout);
        fflush(stdout);
    }
    d->races = seed % RACE_SAMPLE == 0;
    d->tight = o->tight;
    const differ_result result = differ_check(d, program);
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        t->features[i] += d->facts.features >> i & 1;
    }
    for (uint32_t i = 0; i < DIFFER_CARRIES; i++) {
        t->carries[i] += d->facts.carries >> i & 1;
    }
    t->changed += d->facts.changed;
    t->chunked += d->facts.chunked;
    t->segments += d->facts.segments;
    t->failures += result != DIFFER_SAME;
    if (++t->results[result] <= REPORTED && result != DIFFER_SAME) {
        report(d, o, seed, program, result);
    }
    vyre_program_release(program);
}

static void print_totals(const totals *t, uint64_t count) {
    const double whole = (double)count;
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        printf("%-28s %10" PRIu64 "  %5.1f %%\n", differ_feature_name(i), t->features[i],
               100.0 * (double)t->features[i] / whole);
    }
    for (uint32_t i = 0; i < DIFFER_CARRIES; i++) {
        printf("carried: %-19s %10" PRIu64 "  %5.1f %%\n", differ_carry_name(i), t->carries[i],
               100.0 * (double)t->carries[i] / whole);
    }
    printf("%-28s %10" PRIu64 "  %5.1f %%\n", "changed outputs", t->changed,
           100.0 * (double)t->changed / whole);
    printf("%-28s %10" PRIu64 "  %5.1f %%\n", "several lane buffers", t->chunked,
           100.0 * (double)t->chunked / whole);
    printf("%-28s %10.1f\n", "segments per program", (double)t->segments / whole);
}

static bool parse_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const bool value = i + 1 < argc;
        if (!strcmp(argv[i], "--print")) {
            o->print = true;
        } else if (!strcmp(argv[i], "--tight")) {
            o->tight = true;
        } else if (!strcmp(argv[i], "--backend") && value) {
            o->backend = argv[++i];
        } else if (!strcmp(argv[i], "--cases") && value) {
            o->cases = argv[++i];
        } else if (!strcmp(argv[i], "--count") && value) {
            o->count = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--seed") && value) {
            o->seed = strtoull(argv[++i], NULL, 0);
        } else {
            return false;
        }
    }
    return o->count > 0;
}

int main(int argc, char **argv) {
    options o = {.backend = "ref-split", .cases = ".", .count = 2000, .seed = 1};
    static differ d;
    totals t = {0};
    vyre_diag diag = {0};
    if (!parse_options(argc, argv, &o)) {
        fprintf(stderr, "usage: vyre_fuzz_diff [--backend B] [--count N] [--seed S] [--cases DIR] "
                        "[--tight] [--print]\n");
        return 2;
    }
    if (differ_init(&d, o.backend, &diag) != VYRE_OK) {
        fprintf(stderr, "vyre_fuzz_diff: %s\n", diag.message);
        differ_finish(&d);
        return 1;
    }
    for (uint64_t i = 0; i < o.count; i++) {
        one(&d, &o, o.seed + i, &t);
    }
    differ_finish(&d);
    print_totals(&t, o.count);
    printf("diff: %s against ref, seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " programs, %" PRIu64
           " failures\n",
           o.backend, o.seed, o.seed + o.count - 1, o.count, t.failures);
    return t.failures != 0;
}
