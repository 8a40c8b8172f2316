/* Programs from published collections of kernels (Rodinia, PolyBench, samples of GPU vendors) and
 * what else people write for GPUs. */
#include <math.h>

#include "compare.h"

enum { F4 = 4, U4 = 4 }; /* bytes */

/* Planes */

static bool make_plane(bench_instance *i) {
    return add_both(i, VYRE_F32, i->data.size[0] * i->data.size[1]);
}

static bool make_hotspot(bench_instance *i) {
    bool good = make_plane(i);
    return add_input(i, VYRE_F32, i->data.size[0] * i->data.size[1], 31) && good;
}

static bool make_pathfinder(bench_instance *i) {
    add_output(i, i->data.size[0] * U4);
    return add_input(i, VYRE_U8, i->data.size[0] * i->data.size[1], 32);
}

static bool make_floyd(bench_instance *i) {
    return add_both(i, VYRE_U32, i->data.size[0] * i->data.size[0]);
}

static bool make_fdtd(bench_instance *i) {
    bool good = make_plane(i);
    add_output(i, i->data.size[0] * i->data.size[1] * F4);
    add_output(i, i->data.size[0] * i->data.size[1] * F4);
    return good;
}

static bool make_convolve(bench_instance *i) {
    bool good = make_plane(i);
    return add_input(i, VYRE_F32, 17, 33) && good;
}

static bool make_median(bench_instance *i) {
    return add_both(i, VYRE_U8, i->data.size[0] * i->data.size[1]);
}

static bool make_gray_scott(bench_instance *i) {
    return add_both(i, VYRE_F32, 2 * i->data.size[0] * i->data.size[1]);
}

/* Lines, tables, graphs */

static bool make_lowest(bench_instance *i) {
    bool good = add_rmat(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    return good;
}

static bool make_fft(bench_instance *i) {
    uint64_t n = i->data.size[0];
    const double turn = 8.0 * atan(1.0);
    float *root = malloc(n * F4);
    for (uint64_t k = 0; root && k < n / 2; k++) {
        root[2 * k] = (float)cos(turn * (double)k / (double)n);
        root[2 * k + 1] = (float)-sin(turn * (double)k / (double)n);
    }
    add_output(i, n * F4);
    add_output(i, n * F4);
    bool good = add_input(i, VYRE_F32, n, 34);
    good = add_input(i, VYRE_F32, n, 35) && good;
    return add_bytes(i, root, n * F4) && good;
}

static bool make_darts(bench_instance *i) {
    add_output(i, U4);
    return add_input(i, VYRE_U32, i->data.size[0], 36);
}

static bool make_atax(bench_instance *i) {
    add_output(i, i->data.size[1] * F4);
    bool good = add_input(i, VYRE_F32, i->data.size[0] * i->data.size[1], 37);
    return add_input(i, VYRE_F32, i->data.size[1], 38) && good;
}

static bool make_bytes(bench_instance *i) {
    return add_both(i, VYRE_U8, i->data.size[0]);
}

static bool make_lookup(bench_instance *i) {
    uint64_t entries = i->data.size[0], seed = 39, sum = 0;
    uint32_t *table = malloc(entries * U4);
    for (uint64_t k = 0; table && k < entries; k++) {
        sum += instance_random(&seed) % (UINT32_MAX / entries * 2);
        table[k] = (uint32_t)(sum < UINT32_MAX ? sum : UINT32_MAX);
    }
    add_output(i, i->data.size[1] * U4);
    bool good = add_bytes(i, table, entries * U4);
    return add_input(i, VYRE_U32, i->data.size[1], 40) && good;
}

static bool make_dct8(bench_instance *i) {
    enum { SIDE = 8 };
    const double turn = 8.0 * atan(1.0);
    size_t bytes = sizeof(float) * SIDE * SIDE;
    float *basis = malloc(bytes), *scale = malloc(bytes);
    for (int k = 0; basis && scale && k < SIDE * SIDE; k++) {
        int u = k / SIDE, x = k % SIDE;
        basis[k] = (float)(sqrt(u ? 0.25 : 0.125) * cos(turn * (2 * x + 1) * u / 32.0));
        scale[k] = 1.0f / (float)(1 + u + x);
    }
    add_output(i, i->data.size[0] * i->data.size[1] * F4);
    bool good = add_input(i, VYRE_U8, i->data.size[0] * i->data.size[1], 53);
    good = add_bytes(i, basis, bytes) && good;
    return add_bytes(i, scale, bytes) && good;
}

static bool add_sorted(bench_instance *i, uint64_t count, uint64_t seed) {
    uint64_t sum = 0, most = UINT32_MAX / (count + 1) * 2;
    uint32_t *number = malloc(count * U4);
    for (uint64_t k = 0; number && k < count; k++) {
        sum += instance_random(&seed) % most;
        number[k] = (uint32_t)(sum < UINT32_MAX ? sum : UINT32_MAX);
    }
    return add_bytes(i, number, count * U4);
}

static bool make_merge(bench_instance *i) {
    add_output(i, (i->data.size[0] + i->data.size[1]) * U4);
    bool good = add_sorted(i, i->data.size[0], 62);
    return add_sorted(i, i->data.size[1], 63) && good;
}

static bool make_encode(bench_instance *i) {
    enum { SYMBOLS = 256 };
    uint64_t n = i->data.size[0], seed = 64;
    uint32_t *code = malloc(sizeof *code * SYMBOLS), *length = malloc(sizeof *length * SYMBOLS);
    for (int k = 0; code && length && k < SYMBOLS; k++) {
        length[k] = 1 + (uint32_t)(instance_random(&seed) % 16);
        code[k] = (uint32_t)(instance_random(&seed) & ((1u << length[k]) - 1));
    }
    add_output(i, (n / 2 + 1) * U4);
    add_output(i, U4);
    bool good = add_input(i, VYRE_U8, n, 65);
    good = add_bytes(i, code, sizeof *code * SYMBOLS) && good;
    return add_bytes(i, length, sizeof *length * SYMBOLS) && good;
}

static bool make_deposit(bench_instance *i) {
    add_output(i, sizeof(uint32_t) << (2 * i->data.size[1]));
    bool good = add_input(i, VYRE_U32, i->data.size[0], 67);
    return add_input(i, VYRE_U32, i->data.size[0], 68) && good;
}

static bool make_knn(bench_instance *i) {
    enum { AXES = 16, BEST = 8 };
    add_output(i, i->data.size[0] * BEST * U4);
    add_output(i, i->data.size[0] * BEST * U4);
    bool good = add_input(i, VYRE_U8, i->data.size[0] * AXES, 72);
    return add_input(i, VYRE_U8, i->data.size[1] * AXES, 73) && good;
}

static bool make_words(bench_instance *i) {
    return add_both(i, VYRE_U32, i->data.size[0] * i->data.size[1]);
}

static bool make_spmv_rows(bench_instance *i) {
    bool good = add_rmat(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    good = add_input(i, VYRE_F32, i->data.in_bytes[1] / U4, 60) && good;
    return add_input(i, VYRE_F32, i->data.in_bytes[0] / U4 - 1, 61) && good;
}

static bool make_fir(bench_instance *i) {
    enum { WEIGHTS = 64 };
    uint64_t seed = 66;
    int16_t *weight = malloc(sizeof *weight * WEIGHTS);
    for (int k = 0; weight && k < WEIGHTS; k++) {
        weight[k] = (int16_t)((int)(instance_random(&seed) % 1024) - 512);
    }
    bool good = add_both(i, VYRE_I16, i->data.size[0]);
    return add_bytes(i, weight, sizeof *weight * WEIGHTS) && good;
}

static uint32_t behind_the_point(double x) {
    return (uint32_t)((x - floor(x)) * 4294967296.0);
}

/* Constants are cube roots of primes, and square roots, as the standard says. */
static bool make_sha256(bench_instance *i) {
    enum { KEYS = 64, STATE = 8 };
    uint32_t *key = malloc(sizeof *key * KEYS), *start = malloc(sizeof *start * STATE);
    int found = 0;
    for (int number = 2; key && start && found < KEYS; number++) {
        bool is_prime = true;
        for (int d = 2; d * d <= number; d++) {
            is_prime &= number % d != 0;
        }
        if (is_prime && found < STATE) {
            start[found] = behind_the_point(sqrt(number));
        }
        if (is_prime) {
            key[found++] = behind_the_point(cbrt(number));
        }
    }
    add_output(i, i->data.size[0] * STATE * U4);
    bool good = add_input(i, VYRE_U32, i->data.size[0] * i->data.size[1] * 16, 69);
    good = add_bytes(i, key, sizeof *key * KEYS) && good;
    return add_bytes(i, start, sizeof *start * STATE) && good;
}

static bool make_queens(bench_instance *i) {
    add_output(i, U4);
    return true;
}

static bool make_neighbours(bench_instance *i) {
    add_output(i, i->data.size[0] * U4);
    bool good = add_input(i, VYRE_U16, i->data.size[0], 74);
    return add_input(i, VYRE_U16, i->data.size[0], 75) && good;
}

static bool make_integral(bench_instance *i) {
    add_output(i, i->data.size[0] * i->data.size[1] * U4);
    return add_input(i, VYRE_U8, i->data.size[0] * i->data.size[1], 51);
}

static bool make_needle(bench_instance *i) {
    enum { LETTERS = 24 };
    uint64_t n = i->data.size[0], seed = 56;
    uint8_t *letters[2] = {malloc(n), malloc(n)};
    int32_t *alike = malloc(sizeof *alike * LETTERS * LETTERS);
    for (uint64_t k = 0; letters[0] && letters[1] && k < n; k++) {
        letters[0][k] = (uint8_t)(instance_random(&seed) % LETTERS);
        letters[1][k] = (uint8_t)(instance_random(&seed) % LETTERS);
    }
    for (int k = 0; alike && k < LETTERS * LETTERS; k++) {
        alike[k] = (int32_t)(instance_random(&seed) % 16) - 6;
    }
    add_output(i, (n + 1) * (n + 1) * sizeof(int32_t));
    bool good = add_bytes(i, letters[0], n);
    good = add_bytes(i, letters[1], n) && good;
    return add_bytes(i, alike, sizeof *alike * LETTERS * LETTERS) && good;
}

/* Limits: what is read and written once in each step, from where it fits. */

static double limit_steps_l3(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 2) / l->l3;
}

static double limit_floyd(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 0) / l->l3;
}

/* 17 multiply-adds, twice. */
static double limit_convolve(const bench_instance *i, const peer_limits *l) {
    return instance_size(i, 0) * instance_size(i, 1) * 2.0 * 17.0 * 2.0 / l->fma32;
}

/* The matrix twice. */
static double limit_atax(const bench_instance *i, const peer_limits *l) {
    return 2.0 * instance_bytes(i) / l->dram;
}

#define PUBLISHED(workload_)                                                                       \
    .name = #workload_, .peer = #workload_, .program = "published/" #workload_ ".vy"

const bench_workload published_workloads[] = {
    {PUBLISHED(hotspot), .make = make_hotspot,
     .size = {{1024, 1024, 60}, {256, 256, 10}, {35, 18, 4}},
     .params = {{"width", 0}, {"height", 1}, {"steps", 2}}, .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_steps_l3, .limited_by = "L3"},
    {PUBLISHED(pathfinder), .make = make_pathfinder,
     .size = {{1 << 17, 201}, {1 << 13, 51}, {300, 5}}, .params = {{"columns", 0}, {"rows", 1}},
     .outputs = {BENCH_EXACT(VYRE_U32)}, .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(floyd), .make = make_floyd, .size = {{512}, {128}, {20}}, .params = {{"n", 0}},
     .outputs = {BENCH_EXACT(VYRE_U32)}, .limit = limit_floyd, .limited_by = "L3"},
    {PUBLISHED(lowest), .make = make_lowest, .size = {{17, 16}, {13, 8}, {7, 4}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(fdtd), .make = make_fdtd, .size = {{1024, 1024, 50}, {256, 256, 10}, {35, 18, 3}},
     .params = {{"width", 0}, {"height", 1}, {"steps", 2}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}}, .limit = limit_steps_l3,
     .limited_by = "L3"},
    {PUBLISHED(fft), .make = make_fft, .size = {{1 << 20}, {1 << 14}, {256}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}}},
    {PUBLISHED(convolve), .make = make_convolve, .size = {{2048, 2048}, {256, 256}, {35, 40}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_convolve, .limited_by = "FMA"},
    {PUBLISHED(softmax), .make = make_plane, .size = {{4096, 2048}, {512, 512}, {5, 300}},
     .params = {{"rows", 0}, {"columns", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once,
     .limited_by = "DRAM"},
    {PUBLISHED(median), .make = make_median, .size = {{4096, 4096}, {512, 512}, {40, 19}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {BENCH_EXACT(VYRE_U8)},
     .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(darts), .make = make_darts, .size = {{1 << 16, 1000}, {1 << 12, 1000}, {100, 50}},
     .params = {{"lanes", 0}, {"throws", 1}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(atax), .make = make_atax, .size = {{4096, 4096}, {512, 512}, {40, 70}},
     .params = {{"rows", 0}, {"columns", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_atax,
     .limited_by = "DRAM"},
    {PUBLISHED(gray_scott), .make = make_gray_scott,
     .size = {{1024, 1024, 50}, {256, 256, 10}, {35, 18, 2}},
     .params = {{"width", 0}, {"height", 1}, {"steps", 2}}, .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_steps_l3, .limited_by = "L3"},
    {PUBLISHED(equalize), .make = make_bytes, .size = {{1 << 24}, {1 << 19}, {33000}},
     .outputs = {BENCH_EXACT(VYRE_U8)}, .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(tridiagonal), .make = make_plane, .size = {{1 << 17, 64}, {1 << 12, 32}, {100, 9}},
     .params = {{"systems", 0}, {"size", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once,
     .limited_by = "DRAM"},
    {PUBLISHED(lookup), .make = make_lookup,
     .size = {{1 << 20, 1 << 20}, {1 << 16, 1 << 16}, {1000, 500}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(dct8), .make = make_dct8, .size = {{4096, 4096}, {512, 512}, {40, 24}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once,
     .limited_by = "DRAM"},
    {PUBLISHED(merge), .make = make_merge,
     .size = {{1 << 23, 10000000}, {1 << 16, 100000}, {1500, 1111}},
     .outputs = {BENCH_EXACT(VYRE_U32)}, .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(encode), .make = make_encode, .size = {{1 << 24}, {1 << 18}, {7777}},
     .outputs = {BENCH_EXACT(VYRE_U32), BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(deposit), .make = make_deposit, .size = {{1 << 22, 9}, {1 << 16, 7}, {3000, 4}},
     .params = {{"bits", 1}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(knn), .make = make_knn, .size = {{4096, 4096}, {512, 512}, {70, 100}},
     .params = {{"queries", 0}, {"points", 1}},
     .outputs = {BENCH_EXACT(VYRE_U32), BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(srad), .make = make_plane, .size = {{1024, 1024, 10}, {256, 256, 4}, {35, 18, 2}},
     .params = {{"width", 0}, {"height", 1}, {"steps", 2}}, .outputs = {{VYRE_F32, 1e-5}}},
    {PUBLISHED(bit_life), .make = make_words, .size = {{64, 2048, 200}, {32, 256, 20}, {3, 19, 4}},
     .params = {{"words", 0}, {"height", 1}, {"turns", 2}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(spmv_rows), .make = make_spmv_rows, .size = {{18, 16}, {13, 8}, {7, 4}},
     .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(fir), .make = make_fir, .size = {{1 << 23}, {1 << 17}, {1000}},
     .outputs = {BENCH_EXACT(VYRE_I16)}},
    {PUBLISHED(sha256), .make = make_sha256, .size = {{1 << 15, 8}, {1 << 12, 2}, {77, 2}},
     .params = {{"messages", 0}, {"blocks", 1}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(queens), .make = make_queens, .size = {{13}, {10}, {7}}, .params = {{"n", 0}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(neighbours), .make = make_neighbours,
     .size = {{1 << 18, 256, 200}, {1 << 14, 64, 500}, {700, 8, 5000}},
     .params = {{"side", 1}, {"reach", 2}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {PUBLISHED(integral), .make = make_integral, .size = {{4096, 4096}, {512, 512}, {300, 21}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {BENCH_EXACT(VYRE_U32)},
     .limit = limit_once, .limited_by = "DRAM"},
    {PUBLISHED(needle), .make = make_needle, .size = {{4096}, {512}, {128}}, .params = {{"n", 0}},
     .outputs = {BENCH_EXACT(VYRE_I32)}, .limit = limit_once, .limited_by = "DRAM"},
    {.name = NULL},
};
