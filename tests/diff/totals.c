/* Sums, shares, and whether the shares suffice. */
#include "diff/totals.h"

#include <inttypes.h>
#include <string.h>

void differ_totals_count(differ_totals *t, const differ *d, differ_result result) {
    t->programs++;
    t->results[result]++;
    t->changed += d->facts.changed;
    t->segments += d->facts.segments;
    t->races += d->races;
    t->thorough += d->thorough;
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        t->features[i] += d->facts.features >> i & 1;
    }
    for (uint32_t i = 0; i < DIFFER_CARRY_COUNT; i++) {
        t->carries[i] += d->facts.carries >> i & 1;
    }
    differ_totals_cover(t, &d->cells);
    t->splits[d->draws.split]++;
    for (uint32_t i = 0; i < DIFFER_CHOICES; i++) {
        t->values[i][d->draws.value[i]]++;
    }
    for (uint32_t way = 0; way < DIFFER_WAY_COUNT; way++) {
        for (uint32_t order = 0; order < DIFFER_ORDERS; order++) {
            t->runs[way][order] += d->runs[way] >> order & 1;
        }
    }
}

void differ_totals_cover(differ_totals *t, const coverage *c) {
    for (uint32_t i = 0; i < CELL_COUNT; i++) {
        t->cells[i] += coverage_holds(c, i);
    }
}

void differ_totals_add(differ_totals *to, const differ_totals *from) {
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) {
        sum[i] += more[i];
    }
}

uint64_t differ_totals_failures(const differ_totals *t) {
    return t->programs - t->results[DIFFER_SAME];
}

static uint64_t with_outputs(const differ_totals *t) {
    return t->programs - t->features[DIFFER_TRAPPED];
}

static double percent(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void print_share(FILE *to, const char *kind, const char *name, uint64_t part,
                        uint64_t whole) {
    fprintf(to, "%s%-*s %10" PRIu64 "  %5.1f %%\n", kind, 32 - (int)strlen(kind), name, part,
            percent(part, whole));
}

void differ_totals_print(const differ_totals *t, FILE *to) {
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        print_share(to, "", differ_feature_name(i), t->features[i], t->programs);
    }
    for (uint32_t i = 0; i < DIFFER_CARRY_COUNT; i++) {
        print_share(to, "carried: ", differ_carry_name(i), t->carries[i], t->programs);
    }
    print_share(to, "", "looked for races", t->races, t->programs);
    print_share(to, "", "segments printed and parsed", t->thorough, t->programs);
    print_share(to, "", "changed outputs, if no trap", t->changed, with_outputs(t));
    fprintf(to, "%-32s %10.1f\n", "segments per program",
            t->programs == 0 ? 0 : (double)t->segments / (double)t->programs);
    for (uint32_t way = 0; way < DIFFER_WAY_COUNT; way++) {
        fprintf(to, "run by %-25s", differ_way_name((differ_way)way));
        for (uint32_t order = 0; order < DIFFER_ORDERS; order++) {
            fprintf(to, " %s %.1f %%%s", differ_order_name((vyre_order)order),
                    percent(t->runs[way][order], t->programs),
                    order + 1 < DIFFER_ORDERS ? "," : "\n");
        }
    }
}

void differ_totals_print_draws(const differ_totals *t, const differ_backend *b, FILE *to) {
    for (uint32_t i = 0; i < DIFFER_CHOICES && b->choices[i].name; i++) {
        fprintf(to, "drawn: %-25s", b->choices[i].name);
        for (uint32_t v = 0; v < DIFFER_VALUES && b->choices[i].values[v]; v++) {
            const char *value = b->choices[i].values[v];
            fprintf(to, " %s %.1f %%", *value ? value : "default",
                    percent(t->values[i][v], t->programs));
        }
        fputc('\n', to);
    }
    fprintf(to, "drawn: %-25s", "split");
    for (uint32_t i = 0; i < DIFFER_SPLITS; i++) {
        fprintf(to, " %s %.1f %%", differ_split_name(i), percent(t->splits[i], t->programs));
    }
    fputc('\n', to);
}

/* The row that begins with the cell; returns the first cell behind it. Where none can be: -, and if
 * none of the row can, why. */
static uint32_t print_row(const differ_totals *t, uint32_t first, FILE *to) {
    char name[80];
    const cell c = cell_of(first);
    const char *why = NULL;
    bool any = false;
    uint32_t i = first;
    cell_row_name(c, name, sizeof name);
    fprintf(to, "cell: %-44s", name);
    do {
        const char *refusal = cell_refusal(cell_of(i));
        any |= !refusal;
        why = refusal ? refusal : why;
        fprintf(to, " %s", cell_last_name(cell_of(i)));
        if (refusal) {
            fprintf(to, " -");
        } else {
            fprintf(to, " %.2f %%", percent(t->cells[i], t->programs));
        }
        i++;
    } while (i < CELL_COUNT && c.class != CELL_STMT && cell_of(i).class == c.class &&
             cell_of(i).part[cell_parts(c.class) - 1] != 0);
    fprintf(to, any ? "\n" : " (%s)\n", why);
    return i;
}

void differ_totals_print_cells(const differ_totals *t, FILE *to) {
    for (uint32_t i = 0; i < CELL_COUNT;) {
        i = print_row(t, i, to);
    }
}

bool differ_totals_cells_suffice(const differ_totals *t, uint64_t one_of, FILE *to) {
    char name[80];
    bool enough = true;
    for (uint32_t i = 0; i < CELL_COUNT; i++) {
        const cell c = cell_of(i);
        const char *refusal = cell_refusal(c);
        cell_row_name(c, name, sizeof name);
        if (!refusal && one_of > 0 && t->cells[i] * one_of < t->programs) {
            fprintf(to, "too rare: %s %s, %.3f %% of %" PRIu64 ", should be %.3f %%\n", name,
                    cell_last_name(c), percent(t->cells[i], t->programs), t->programs,
                    100.0 / (double)one_of);
            enough = false;
        } else if (refusal && t->cells[i] > 0) {
            fprintf(to, "%" PRIu64 " programs hold what none can: %s %s (%s)\n", t->cells[i], name,
                    cell_last_name(c), refusal);
            enough = false;
        }
    }
    return enough;
}

static bool suffices(FILE *to, const char *kind, const char *name, uint64_t part, uint64_t whole,
                     uint32_t least) {
    const bool enough = part * 100 >= whole * least;
    if (!enough) {
        fprintf(to, "too rare: %s%s, %.1f %% of %" PRIu64 ", should be %u %%\n", kind, name,
                percent(part, whole), whole, least);
    }
    return enough;
}

bool differ_totals_suffice(const differ_totals *t, const differ_backend *b, FILE *to) {
    bool enough = true;
    if (t->programs < DIFFER_ENOUGH) {
        return true;
    }
    for (uint32_t i = 0; i < DIFFER_FEATURE_COUNT; i++) {
        /* Barriers go only where the program is optimised: every other time in long runs. */
        const bool optimised = i == DIFFER_DISJOINT || i == DIFFER_OWNED || i == DIFFER_WEAKENED;
        enough &= suffices(to, "", differ_feature_name(i), t->features[i], t->programs,
                           optimised ? 5 : 10);
    }
    for (uint32_t i = 0; i < DIFFER_CARRY_COUNT; i++) {
        enough &= (i == DIFFER_CARRY_CHUNKED && !b->limits) || /* buffers are as large as needed */
                  suffices(to, "carried: ", differ_carry_name(i), t->carries[i], t->programs, 10);
    }
    if (t->programs >= DIFFER_ENOUGH_FOR_CELLS) {
        enough &= differ_totals_cells_suffice(t, DIFFER_CELL_ONE_OF, to);
    }
    return suffices(to, "", "changed outputs", t->changed, with_outputs(t), 90) && enough;
}

bool differ_totals_draws_suffice(const differ_totals *t, const differ_backend *b, FILE *to) {
    bool enough = true;
    if (t->programs < DIFFER_ENOUGH_FOR_DRAWS) {
        return true;
    }
    for (uint32_t i = 0; i < DIFFER_CHOICES && b->choices[i].name; i++) {
        for (uint32_t v = 0; v < DIFFER_VALUES && b->choices[i].values[v]; v++) {
            enough &=
                t->values[i][v] == 0 || suffices(to, b->choices[i].name, b->choices[i].values[v],
                                                 t->values[i][v], t->programs, 10);
        }
    }
    for (uint32_t i = 0; i < DIFFER_SPLITS; i++) {
        enough &= t->splits[i] == 0 ||
                  suffices(to, "split ", differ_split_name(i), t->splits[i], t->programs, 10);
    }
    return enough;
}
