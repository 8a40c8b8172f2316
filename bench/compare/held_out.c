/* Programs that nobody looks at while tuning: from Rodinia, SHOC, PolyBench, samples of GPU vendors
 * and what else people write for GPUs, none of them in another set. */
#include <math.h>

#include "compare.h"

enum { F4 = 4, U4 = 4, F8 = 8 }; /* bytes */

static uint64_t plane(const bench_instance *i) {
    return i->data.size[0] * i->data.size[1];
}

/* Numbers below `bound`. */
static bool add_below(bench_instance *i, uint64_t count, uint32_t bound, uint64_t seed) {
    uint32_t *number = malloc(count * U4);
    for (uint64_t k = 0; number && k < count; k++) {
        number[k] = (uint32_t)(instance_random(&seed) % bound);
    }
    return add_bytes(i, number, count * U4);
}

/* Planes and boxes */

static bool make_bilateral(bench_instance *i) {
    enum { REACH = 3, ACROSS = 2 * REACH + 1 };
    size_t bytes = sizeof(float) * ACROSS * ACROSS;
    float *near = malloc(bytes);
    for (int k = 0; near && k < ACROSS * ACROSS; k++) {
        int x = k % ACROSS - REACH, y = k / ACROSS - REACH;
        near[k] = (float)exp(-0.1 * (double)(x * x + y * y));
    }
    add_output(i, plane(i) * F4);
    bool good = add_input(i, VYRE_U8, plane(i), 52);
    return add_bytes(i, near, bytes) && good;
}

static bool make_stencil27(bench_instance *i) {
    enum { AROUND = 27 };
    uint64_t n = i->data.size[0], seed = 54;
    double *weight = malloc(sizeof *weight * AROUND);
    for (int k = 0; weight && k < AROUND; k++) {
        weight[k] = (double)(instance_random(&seed) % 1000) / 1000.0 * 2.0 / AROUND;
    }
    bool good = add_both(i, VYRE_F64, n * n * n);
    return add_bytes(i, weight, sizeof *weight * AROUND) && good;
}

/* Speeds are small differences of large numbers: their tolerance is larger. */
static bool make_lbm(bench_instance *i) {
    bool good = add_both(i, VYRE_F32, plane(i));
    add_output(i, plane(i) * F4);
    add_output(i, plane(i) * F4);
    return add_input(i, VYRE_U8, plane(i), 55) && good;
}

/* Tables and matrices */

/* A diagonal that outweighs its row needs no pivots. */
static bool make_lud(bench_instance *i) {
    uint64_t n = i->data.size[0], seed = 57;
    float *a = malloc(n * n * F4);
    for (uint64_t k = 0; a && k < n * n; k++) {
        float random = (float)(instance_random(&seed) % 1024) / 1024.0f;
        a[k] = k % (n + 1) == 0 ? (float)n + random : random;
    }
    add_output(i, n * n * F4);
    return add_bytes(i, a, n * n * F4);
}

static bool make_knapsack(bench_instance *i) {
    uint64_t room = i->data.size[0], items = i->data.size[1], seed = 58;
    uint64_t *value = malloc(items * sizeof *value);
    for (uint64_t k = 0; value && k < items; k++) {
        value[k] = instance_random(&seed) >> 20;
    }
    add_output(i, room * sizeof(uint64_t));
    bool good = add_below(i, items, (uint32_t)(room / 4), 59);
    return add_bytes(i, value, items * sizeof *value) && good;
}

/* Graphs */

static bool make_graph(bench_instance *i) {
    bool good = add_rmat(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    return good;
}

static bool make_triangles(bench_instance *i) {
    if (!add_rmat(i, i->data.size[0], i->data.size[1])) {
        return false;
    }
    const uint32_t *row = i->data.in[0];
    uint64_t n = i->data.in_bytes[0] / U4 - 1;
    uint32_t *begin = malloc(i->data.in_bytes[1] + 1);
    for (uint64_t v = 0; begin && v < n; v++) {
        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            begin[e] = (uint32_t)v;
        }
    }
    add_output(i, U4);
    return add_bytes(i, begin, i->data.in_bytes[1]);
}

/* Lines */

static bool make_compact(bench_instance *i) {
    bool good = add_both(i, VYRE_U64, i->data.size[0]);
    add_output(i, U4);
    return good;
}

/* In registers */

static bool make_asian(bench_instance *i) {
    add_output(i, i->data.size[0] * F4);
    return add_input(i, VYRE_U32, i->data.size[0], 70);
}

static bool make_inverse(bench_instance *i) {
    enum { SIDE = 16, MATRIX = SIDE * SIDE };
    uint64_t count = i->data.size[0] * MATRIX, seed = 71;
    double *a = malloc(count * F8);
    for (uint64_t k = 0; a && k < count; k++) {
        double random = (double)(instance_random(&seed) % 1000) / 1000.0;
        a[k] = k % MATRIX % (SIDE + 1) == 0 ? SIDE + random : random;
    }
    add_output(i, count * F8);
    return add_bytes(i, a, count * F8);
}

/* Points */

static bool make_lava(bench_instance *i) {
    enum { INSIDE = 64 };
    uint64_t particles = i->data.size[0] * i->data.size[0] * i->data.size[0] * INSIDE;
    add_output(i, particles * 4 * F4);
    bool good = add_input(i, VYRE_F32, particles * 3, 76);
    return add_input(i, VYRE_F32, particles, 77) && good;
}

/* Numbers from -1 to 1, so small that sums of many stay small. */
static bool add_small(bench_instance *i, uint64_t count, float by, uint64_t seed) {
    float *number = malloc(count * F4);
    for (uint64_t k = 0; number && k < count; k++) {
        number[k] = by * ((float)(instance_random(&seed) % 2049) / 1024.0f - 1.0f);
    }
    return add_bytes(i, number, count * F4);
}

static bool make_correlation(bench_instance *i) {
    add_output(i, i->data.size[0] * i->data.size[0] * F4);
    return add_small(i, plane(i), 3.0f, 81);
}

static bool make_backprop(bench_instance *i) {
    enum { UNITS = 16 };
    uint64_t n = i->data.size[0];
    add_output(i, (size_t)UNITS * F4);
    add_output(i, n * UNITS * F4);
    bool good = add_small(i, n, 1.0f, 82);
    good = add_small(i, n * UNITS, 1.0f / 256.0f, 83) && good;
    good = add_small(i, n * UNITS, 1.0f / 256.0f, 84) && good;
    return add_input(i, VYRE_F32, UNITS, 85) && good;
}

static bool make_lorenz(bench_instance *i) {
    return add_both(i, VYRE_F64, i->data.size[0] * 3);
}

/* Signals */

static bool make_mri_q(bench_instance *i) {
    uint64_t voxels = i->data.size[0];
    bool good = true;
    for (uint64_t axis = 0; axis < 3; axis++) {
        good = add_input(i, VYRE_F32, voxels, 86 + axis) && good;
    }
    add_output(i, voxels * F4);
    add_output(i, voxels * F4);
    return add_small(i, i->data.size[1] * 4, 2.0f, 89) && good;
}

static bool make_sad(bench_instance *i) {
    enum { PLACES = 17 * 17 };
    add_output(i, plane(i) / 16 * PLACES * sizeof(uint16_t));
    add_output(i, plane(i) / 64 * PLACES * sizeof(uint16_t));
    bool good = add_input(i, VYRE_U8, plane(i), 90);
    return add_input(i, VYRE_U8, plane(i), 91) && good;
}

/* Of each byte, and of each byte before one, two and three bytes of 0. */
static bool add_crc_tables(bench_instance *i) {
    enum { BYTES = 256, TABLES = 4 };
    uint32_t *table = malloc(sizeof *table * BYTES * TABLES);
    for (uint32_t byte = 0; table && byte < BYTES; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
        table[byte] = sum;
    }
    for (uint32_t k = BYTES; table && k < BYTES * TABLES; k++) {
        table[k] = table[k - BYTES] >> 8 ^ table[table[k - BYTES] & (BYTES - 1)];
    }
    return add_bytes(i, table, sizeof *table * BYTES * TABLES);
}

static bool make_crc32(bench_instance *i) {
    add_output(i, i->data.size[0] * U4);
    bool good = add_input(i, VYRE_U32, plane(i), 92);
    return add_crc_tables(i) && good;
}

static bool make_wavelet(bench_instance *i) {
    add_output(i, plane(i) * sizeof(int32_t));
    return add_input(i, VYRE_U8, plane(i), 93);
}

/* Keys */

static uint32_t key_of(uint64_t number) {
    return (uint32_t)(number + 1) * 0x9e3779b1;
}

/* Half of what is looked up is there. */
static bool make_join(bench_instance *i) {
    uint64_t keys = i->data.size[0], wanted = i->data.size[1], seed = 95;
    uint32_t *key = malloc(keys * U4), *wants = malloc(wanted * U4);
    for (uint64_t k = 0; key && k < keys; k++) {
        key[k] = key_of(k);
    }
    for (uint64_t k = 0; wants && k < wanted; k++) {
        wants[k] = key_of(instance_random(&seed) % (2 * keys));
    }
    add_output(i, wanted * U4);
    add_output(i, U4);
    bool good = add_bytes(i, key, keys * U4);
    good = add_input(i, VYRE_U32, keys, 94) && good;
    return add_bytes(i, wants, wanted * U4) && good;
}

/* Limits: what is read and written once in each step, from where it fits, or what is computed. */

static double limit_stencil27(const bench_instance *i, const peer_limits *l) {
    double n = instance_size(i, 0);
    return n * n * n * instance_size(i, 1) * 27.0 * 2.0 / l->fma64;
}

/* Nine floats of each cell read and written. */
static double limit_lbm(const bench_instance *i, const peer_limits *l) {
    return instance_size(i, 0) * instance_size(i, 1) * instance_size(i, 2) * 2.0 * 9.0 * F4 / l->l3;
}

static double limit_lud(const bench_instance *i, const peer_limits *l) {
    double n = instance_size(i, 0);
    return n * n * n * 2.0 / 3.0 / l->fma32;
}

static double limit_knapsack(const bench_instance *i, const peer_limits *l) {
    return instance_size(i, 0) * instance_size(i, 1) * 3.0 * F8 / l->l3;
}

/* One half of the product. */
static double limit_correlation(const bench_instance *i, const peer_limits *l) {
    return instance_size(i, 0) * instance_size(i, 0) * instance_size(i, 1) / l->fma32;
}

/* Of a step: four slopes, four places, the sum. */
static double limit_lorenz(const bench_instance *i, const peer_limits *l) {
    enum { OPERATIONS = 4 * 8 + 4 * 6 + 3 * 4 };
    return instance_size(i, 0) * instance_size(i, 1) * OPERATIONS / l->fma64;
}

#define HELD_OUT(workload_)                                                                        \
    .name = #workload_, .peer = #workload_, .program = "held-out/" #workload_ ".vy"

const bench_workload held_out_workloads[] = {
    {HELD_OUT(bilateral), .make = make_bilateral, .size = {{1024, 512}, {256, 128}, {35, 18}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {{VYRE_F32, 1e-5}}},
    {HELD_OUT(stencil27), .make = make_stencil27, .size = {{128, 6}, {40, 4}, {19, 2}},
     .params = {{"n", 0}, {"steps", 1}}, .outputs = {{VYRE_F64, 1e-9}}, .limit = limit_stencil27,
     .limited_by = "FMA"},
    {HELD_OUT(lbm), .make = make_lbm, .size = {{512, 512, 20}, {128, 128, 10}, {35, 18, 3}},
     .params = {{"width", 0}, {"height", 1}, {"steps", 2}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-4}, {VYRE_F32, 1e-4}}, .limit = limit_lbm,
     .limited_by = "L3"},
    {HELD_OUT(lud), .make = make_lud, .size = {{1024}, {256}, {48}}, .params = {{"n", 0}},
     .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_lud, .limited_by = "FMA"},
    {HELD_OUT(knapsack), .make = make_knapsack, .size = {{1 << 17, 400}, {1 << 13, 50}, {500, 9}},
     .params = {{"room", 0}}, .outputs = {BENCH_EXACT(VYRE_U64)}, .limit = limit_knapsack,
     .limited_by = "L3"},
    {HELD_OUT(independent), .make = make_graph, .size = {{17, 16}, {13, 8}, {7, 4}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {HELD_OUT(components), .make = make_graph, .size = {{18, 4}, {13, 2}, {8, 1}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {HELD_OUT(triangles), .make = make_triangles, .size = {{13, 8}, {10, 8}, {6, 4}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {HELD_OUT(compact), .make = make_compact, .size = {{1 << 23}, {1 << 17}, {40000}},
     .outputs = {BENCH_EXACT(VYRE_U64), BENCH_EXACT(VYRE_U32)}, .limit = limit_once,
     .limited_by = "DRAM"},
    {HELD_OUT(asian), .make = make_asian, .size = {{1 << 17, 32}, {1 << 13, 16}, {300, 4}},
     .params = {{"paths", 0}, {"pairs", 1}}, .outputs = {{VYRE_F32, 1e-5}}},
    {HELD_OUT(inverse), .make = make_inverse, .size = {{1 << 14}, {1 << 9}, {5}},
     .outputs = {{VYRE_F64, 1e-9}}, .limit = limit_once, .limited_by = "DRAM"},
    {HELD_OUT(lava), .make = make_lava, .size = {{8}, {4}, {2}}, .params = {{"side", 0}},
     .outputs = {{VYRE_F32, 1e-5}}},
    {HELD_OUT(correlation), .make = make_correlation, .size = {{768, 1024}, {128, 200}, {32, 21}},
     .params = {{"m", 0}, {"n", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_correlation,
     .limited_by = "FMA"},
    {HELD_OUT(backprop), .make = make_backprop, .size = {{1 << 20}, {1 << 12}, {48}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}}, .limit = limit_once, .limited_by = "DRAM"},
    {HELD_OUT(lorenz), .make = make_lorenz, .size = {{1 << 14, 400}, {1 << 10, 50}, {100, 5}},
     .params = {{"starts", 0}, {"steps", 1}}, .outputs = {{VYRE_F64, 1e-9}}, .limit = limit_lorenz,
     .limited_by = "FMA"},
    {HELD_OUT(mri_q), .make = make_mri_q, .size = {{1 << 16, 512}, {1 << 12, 128}, {300, 33}},
     .params = {{"voxels", 0}, {"samples", 1}}, .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}}},
    {HELD_OUT(sad), .make = make_sad, .size = {{704, 576}, {96, 64}, {16, 24}},
     .params = {{"width", 0}, {"height", 1}},
     .outputs = {BENCH_EXACT(VYRE_U16), BENCH_EXACT(VYRE_U16)}},
    {HELD_OUT(crc32), .make = make_crc32, .size = {{1 << 17, 64}, {1 << 12, 16}, {300, 5}},
     .params = {{"records", 0}, {"words", 1}}, .outputs = {BENCH_EXACT(VYRE_U32)},
     .limit = limit_once, .limited_by = "DRAM"},
    {HELD_OUT(wavelet), .make = make_wavelet, .size = {{4096, 4096, 5}, {256, 256, 3}, {48, 24, 3}},
     .params = {{"width", 0}, {"height", 1}, {"levels", 2}}, .outputs = {BENCH_EXACT(VYRE_I32)},
     .limit = limit_once, .limited_by = "DRAM"},
    {HELD_OUT(cores), .make = make_graph, .size = {{15, 16}, {11, 8}, {7, 4}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {HELD_OUT(join), .make = make_join,
     .size = {{1 << 19, 1 << 21, 1 << 20}, {1 << 12, 1 << 14, 1 << 13}, {100, 333, 256}},
     .params = {{"slots", 2}}, .outputs = {BENCH_EXACT(VYRE_U32), BENCH_EXACT(VYRE_U32)},
     .limit = limit_once, .limited_by = "DRAM"},
    {.name = NULL},
};
