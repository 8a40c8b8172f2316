/* Benchmark of the planner: generated wave sets, the prior algorithm, timing, and the figures. */
#ifndef VYRE_BENCH_PLAN_BENCH_H
#define VYRE_BENCH_PLAN_BENCH_H

#include <stdio.h>

#include "vyre/plan.h"

/* splitmix64 */
uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);

/* A wave set that owns its arrays. */
typedef struct instance {
    vyre_wave_set set;
    vyre_wave *waves;
    vyre_wave_dep *deps;
    size_t dep_capacity;
} instance;

void instance_free(instance *made);

typedef enum shape { SHAPE_CHAINS, SHAPE_LAYERED, SHAPE_SERIES_PARALLEL, SHAPE_POWER_LAW } shape;
extern const char *const shape_names[4];

/* About deps_per_wave dependencies for each wave; costs uniform in [1, budget / 4]. */
instance make_shape(shape kind, uint32_t waves, uint32_t deps_per_wave, uint64_t seed);
/* Costs uniform in [B/20, B/2]; dependencies at random until the given fraction of all pairs is
 * ordered, directly or not. */
instance make_line(uint32_t waves, double order_strength, uint64_t seed);
/* Up to 10 waves with small costs: for comparison with brute force. */
instance make_tiny(uint64_t seed);

/* The prior algorithm written straightforwardly: layers by repeated removal, each layer cut
 * next-fit, fresh memory on each call. Returns the number of groups. */
uint32_t prior_plan(const vyre_wave_set *set);

/* The time, in seconds. */
double now(void);
/* Resident memory of the process at its highest, in bytes. */
size_t peak_memory(void);

/* Groups of figures; each prints a table and, if json is not NULL, appends to an array there. */
int bench_large(FILE *json, uint32_t most);
int bench_lines(FILE *json, bool quick);
int bench_verify(uint64_t count);
/* One number for the plans of so many random sets, layered and of some also packed: two builds of
 * the planner make the same plans if it is the same. */
int bench_digest(uint64_t count);
/* Beside the planner in the library `file`, up to `most` waves, and the plans of `count` random
 * sets, which must be the same. */
int bench_against(const char *file, uint64_t count, uint32_t most);

#endif
