/* The prior planner, straightforwardly: what ours is measured against. */
#include <stdlib.h>

#include "bench.h"

typedef struct list {
    uint32_t *items;
    size_t count, capacity;
} list;

static void push(list *l, uint32_t item) {
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 4;
        l->items = realloc(l->items, l->capacity * sizeof *l->items);
        if (!l->items) {
            exit(1);
        }
    }
    l->items[l->count++] = item;
}

static uint64_t cost_of(const vyre_wave *wave) {
    return wave->frontier + 4 * wave->scratch + wave->output;
}

/* Cuts one layer; each group is a list of its own. */
static size_t cut_layer(const vyre_wave_set *set, const list *layer) {
    uint64_t budget = set->budget_bytes - set->resident_graph_bytes, sum = 0;
    size_t groups = 0;
    list group = {0};
    for (size_t k = 0; k < layer->count; k++) {
        uint64_t cost = cost_of(&set->waves[layer->items[k]]);
        if (group.count && sum + cost > budget) {
            groups++;
            free(group.items);
            group = (list){0};
            sum = 0;
        }
        push(&group, layer->items[k]);
        sum += cost;
    }
    free(group.items);
    return groups + (group.count > 0);
}

uint32_t prior_plan(const vyre_wave_set *set) {
    uint32_t n = set->wave_count;
    size_t m = set->dep_count, groups = 0;
    uint32_t *out = calloc(n + 1, sizeof *out), *in = calloc(n + 1, sizeof *in);
    size_t *offset = calloc((size_t)n + 1, sizeof *offset);
    uint32_t *target = calloc(m + 1, sizeof *target);
    if (!out || !in || !offset || !target) {
        exit(1);
    }
    for (size_t i = 0; i < m; i++) {
        if (set->deps[i].before >= n || set->deps[i].after >= n ||
            set->deps[i].before == set->deps[i].after) {
            exit(1);
        }
        out[set->deps[i].before]++;
        in[set->deps[i].after]++;
    }
    for (uint32_t w = 0; w < n; w++) {
        offset[w + 1] = offset[w] + out[w];
        out[w] = 0;
    }
    for (size_t i = 0; i < m; i++) {
        uint32_t before = set->deps[i].before;
        target[offset[before] + out[before]++] = set->deps[i].after;
    }
    list ready = {0};
    for (uint32_t w = 0; w < n; w++) {
        if (in[w] == 0) {
            push(&ready, w);
        }
    }
    while (ready.count) {
        list next = {0};
        for (size_t k = 0; k < ready.count; k++) {
            uint32_t w = ready.items[k];
            for (size_t e = offset[w]; e < offset[w + 1]; e++) {
                if (--in[target[e]] == 0) {
                    push(&next, target[e]);
                }
            }
        }
        groups += cut_layer(set, &ready);
        free(ready.items);
        ready = next;
    }
    free(out);
    free(in);
    free(offset);
    free(target);
    return (uint32_t)groups;
}
