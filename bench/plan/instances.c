/* Generators of wave sets. Everything follows from the seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t bound) {
    return bound ? random_next(state) % bound : 0;
}

const char *const shape_names[4] = {"chains", "layered", "series-parallel", "power-law"};

static void *must(void *memory) {
    if (!memory) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return memory;
}

static instance make(uint32_t waves, size_t deps) {
    instance made = {.dep_capacity = deps ? deps : 1};
    made.waves = must(calloc(waves ? waves : 1, sizeof *made.waves));
    made.deps = must(malloc(made.dep_capacity * sizeof *made.deps));
    made.set = (vyre_wave_set){
        .waves = made.waves, .wave_count = waves, .deps = made.deps, .budget_bytes = 1u << 20};
    return made;
}

void instance_free(instance *made) {
    free(made->waves);
    free(made->deps);
    *made = (instance){0};
}

static void add(instance *made, uint32_t before, uint32_t after) {
    if (made->set.dep_count == made->dep_capacity) {
        made->dep_capacity *= 2;
        made->deps = must(realloc(made->deps, made->dep_capacity * sizeof *made->deps));
        made->set.deps = made->deps;
    }
    made->deps[made->set.dep_count++] = (vyre_wave_dep){before, after};
}

/* A third of the cost in each component (scratch counts four times). */
static void set_cost(vyre_wave *wave, uint64_t cost) {
    wave->scratch = cost / 12;
    wave->output = cost / 3;
    wave->frontier = cost - wave->output - 4 * wave->scratch;
}

static uint32_t least_of(uint64_t *seed, uint32_t below, uint32_t draws) {
    uint64_t least = below;
    for (uint32_t i = 0; i < draws; i++) {
        uint64_t drawn = random_below(seed, below);
        least = drawn < least ? drawn : least;
    }
    return (uint32_t)least;
}

instance make_shape(shape kind, uint32_t waves, uint32_t deps_per_wave, uint64_t seed) {
    size_t wanted = (size_t)waves * deps_per_wave;
    instance made = make(waves, wanted);
    /* Numbers are shuffled, so that neighbours in the graph are not neighbours in memory. */
    uint32_t *name = must(calloc(waves, sizeof *name));
    for (uint32_t i = 0; i < waves; i++) {
        uint32_t j = (uint32_t)random_below(&seed, i + 1);
        name[i] = name[j];
        name[j] = i;
        set_cost(&made.waves[i], 1 + random_below(&seed, made.set.budget_bytes / 4));
    }
    const uint32_t width = waves < 64 ? 1 : (uint32_t)sqrt((double)waves);
    while (made.set.dep_count < wanted) {
        uint32_t after = 1 + (uint32_t)random_below(&seed, waves - 1), before = 0;
        if (kind == SHAPE_CHAINS) {
            /* sqrt(n) chains; extra dependencies reach back along the same chain. */
            uint32_t step = width * (1 + (uint32_t)random_below(&seed, 4));
            if (made.set.dep_count < waves - width) {
                after = width + (uint32_t)made.set.dep_count;
                step = width;
            }
            before = after >= step ? after - step : after % width;
            if (before == after) {
                continue;
            }
        } else if (kind == SHAPE_LAYERED) {
            uint32_t layer = after / width;
            if (layer == 0) {
                continue;
            }
            before = (layer - 1) * width + (uint32_t)random_below(&seed, width);
        } else if (kind == SHAPE_SERIES_PARALLEL) {
            /* Nested halves: the middle of a random block waits for its begin, its end for both. */
            uint32_t block = 2u << random_below(&seed, 12);
            uint32_t begin = after / block * block, end = begin + block - 1;
            end = end < waves ? end : waves - 1;
            uint32_t inside = begin + (uint32_t)random_below(&seed, end - begin + 1);
            before = random_below(&seed, 2) ? begin : inside;
            after = before == begin ? inside : end;
            if (before >= after) {
                continue;
            }
        } else {
            /* A few early waves feed most of the others. */
            before = least_of(&seed, after, 6);
        }
        add(&made, name[before], name[after]);
    }
    free(name);
    return made;
}

instance make_line(uint32_t waves, double order_strength, uint64_t seed) {
    instance made = make(waves, waves);
    uint64_t budget = made.set.budget_bytes = 10000;
    seed = seed * 1000003 + (uint64_t)waves * 97 + (uint64_t)(order_strength * 1000);
    for (uint32_t i = 0; i < waves; i++) {
        set_cost(&made.waves[i], budget / 20 + random_below(&seed, budget / 2 - budget / 20 + 1));
    }
    size_t words = (waves + 63) / 64, ordered = 0;
    uint64_t *after = must(calloc(waves * words, sizeof *after));
    double wanted = order_strength * waves * (waves - 1) / 2;
    while ((double)ordered < wanted) {
        uint32_t i = (uint32_t)random_below(&seed, waves), j = (uint32_t)random_below(&seed, waves);
        if (i >= j || (after[i * words + j / 64] >> (j % 64) & 1)) {
            continue;
        }
        add(&made, i, j);
        for (uint32_t a = 0; a <= i; a++) {
            uint64_t *row = after + a * words;
            if (a != i && !(row[i / 64] >> (i % 64) & 1)) {
                continue;
            }
            for (size_t k = 0; k < words; k++) {
                uint64_t more = after[j * words + k] | (k == j / 64 ? (uint64_t)1 << (j % 64) : 0);
                ordered += (size_t)__builtin_popcountll(more & ~row[k]);
                row[k] |= more;
            }
        }
    }
    free(after);
    return made;
}

instance make_tiny(uint64_t seed) {
    uint64_t state = seed;
    uint32_t waves = 1 + (uint32_t)random_below(&state, 10);
    uint64_t most = 2 + random_below(&state, 20);
    instance made = make(waves, waves);
    made.set.budget_bytes = most + random_below(&state, most);
    uint64_t density = random_below(&state, 60);
    for (uint32_t i = 0; i < waves; i++) {
        made.waves[i].frontier = random_below(&state, most + 1);
        for (uint32_t j = 0; j < i; j++) {
            if (random_below(&state, 100) < density) {
                add(&made, j, i);
            }
        }
    }
    return made;
}
