/* More programs: from samples that people port from GPUs, from docs/from-cuda.md and the examples.
 */
#include "compare.h"

enum { F4 = 4, U4 = 4, F8 = 8 }; /* bytes */

/* One input and one output of the same size: n, or n x m, or n x n x n. */

static bool make_plane_f32(bench_instance *i) {
    return add_both(i, VYRE_F32, i->data.size[0] * i->data.size[1]);
}

static bool make_line_f32(bench_instance *i) {
    return add_both(i, VYRE_F32, i->data.size[0]);
}

static bool make_line_i32(bench_instance *i) {
    return add_both(i, VYRE_I32, i->data.size[0]);
}

static bool make_line_u32(bench_instance *i) {
    return add_both(i, VYRE_U32, i->data.size[0]);
}

static bool make_life(bench_instance *i) {
    return add_both(i, VYRE_U8, i->data.size[0] * i->data.size[1]);
}

static bool make_box(bench_instance *i) {
    return add_both(i, VYRE_F32, i->data.size[0] * i->data.size[0] * i->data.size[0]);
}

static bool make_matrix(bench_instance *i) {
    return add_both(i, VYRE_F32, i->data.size[0] * i->data.size[0]);
}

static bool make_mandelbrot(bench_instance *i) {
    add_output(i, i->data.size[0] * i->data.size[1] * U4);
    return true;
}

/* Others */

static bool make_spmv_ell(bench_instance *i) {
    uint64_t rows = i->data.size[0], entries = rows * i->data.size[1], seed = 12;
    uint32_t *col = malloc(entries * U4);
    for (uint64_t e = 0; col && e < entries; e++) {
        col[e] = (uint32_t)(instance_random(&seed) % rows);
    }
    add_output(i, rows * F4);
    bool good = add_bytes(i, col, entries * U4);
    good = add_input(i, VYRE_F32, entries, 13) && good;
    return add_input(i, VYRE_F32, rows, 14) && good;
}

static bool make_black_scholes(bench_instance *i) {
    bool good = true;
    for (uint64_t k = 0; k < 3; k++) {
        good = add_input(i, VYRE_F32, i->data.size[0], 15 + k) && good;
    }
    add_output(i, i->data.size[0] * F4);
    add_output(i, i->data.size[0] * F4);
    return good;
}

static bool make_search(bench_instance *i) {
    add_output(i, 2 * sizeof(uint32_t));
    bool good = add_input(i, VYRE_U8, i->data.size[0], 18);
    return add_input(i, VYRE_U8, i->data.size[1], 19) && good;
}

static bool make_walks(bench_instance *i) {
    bool good = add_rmat(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    return good;
}

static bool make_kmeans(bench_instance *i) {
    add_output(i, i->data.size[0] * U4);
    add_output(i, 32 * sizeof(uint32_t));
    bool good = add_input(i, VYRE_F32, 8 * i->data.size[0], 20);
    return add_input(i, VYRE_F32, 256, 21) && good;
}

static bool make_dot_f64(bench_instance *i) {
    add_output(i, F8);
    bool good = add_input(i, VYRE_F64, i->data.size[0], 22);
    return add_input(i, VYRE_F64, i->data.size[0], 23) && good;
}

static bool make_matvec(bench_instance *i) {
    add_output(i, i->data.size[0] * F4);
    bool good = add_input(i, VYRE_F32, i->data.size[0] * i->data.size[1], 24);
    return add_input(i, VYRE_F32, i->data.size[1], 25) && good;
}

/* Most segments are short, one of 64 is long, some are empty. */
static bool make_segments(bench_instance *i) {
    uint64_t count = i->data.size[0], seed = 26, sum = 0;
    uint32_t *begin = malloc((count + 1) * U4);
    for (uint64_t k = 0; begin && k < count; k++) {
        uint64_t random = instance_random(&seed);
        begin[k] = (uint32_t)sum;
        sum += random % 64 == 0 ? random / 64 % 1024 : random / 64 % 16;
    }
    if (begin) {
        begin[count] = (uint32_t)sum;
    }
    add_output(i, count * F4);
    bool good = add_bytes(i, begin, (count + 1) * U4);
    return add_input(i, VYRE_F32, sum, 27) && good;
}

static bool make_warps(bench_instance *i) {
    add_output(i, F4);
    return add_input(i, VYRE_F32, i->data.size[0], 28);
}

/* Limits: what is read and written once, or once per step. */

static double limit_heat(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 1) / l->l3;
}

static double limit_life(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 2) / l->l3;
}

static double limit_stencil3d(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 1) / l->dram;
}

static double limit_spmv_ell(const bench_instance *i, const peer_limits *l) {
    return instance_bytes(i) * instance_size(i, 2) / l->dram;
}

static double limit_eliminate(const bench_instance *i, const peer_limits *l) {
    double n = instance_size(i, 0);
    return 2.0 * F4 * n * n * n / 3.0 / l->l3;
}

/* A subtraction and a fused product for each of 8 coordinates of 32 centres. */
static double limit_kmeans(const bench_instance *i, const peer_limits *l) {
    return instance_size(i, 0) * 32.0 * 8.0 * 3.0 / l->fma32;
}

#define WIDER(workload_)                                                                           \
    .name = #workload_, .peer = #workload_, .program = "wider/" #workload_ ".vy"

const bench_workload wider_workloads[] = {
    {WIDER(transpose), .make = make_plane_f32, .size = {{4096, 4096}, {512, 512}, {33, 18}},
     .params = {{"width", 0}, {"height", 1}}, .outputs = {BENCH_EXACT(VYRE_F32)},
     .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(heat), .make = make_line_f32, .size = {{1 << 20, 200}, {1 << 16, 20}, {1000, 2}},
     .params = {{"steps", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_heat,
     .limited_by = "L3"},
    {WIDER(life), .make = make_life, .size = {{2048, 2048, 100}, {256, 256, 20}, {35, 17, 4}},
     .params = {{"width", 0}, {"height", 1}, {"turns", 2}}, .outputs = {BENCH_EXACT(VYRE_U8)},
     .limit = limit_life, .limited_by = "L3"},
    {WIDER(prefix_max), .make = make_line_i32, .size = {{1 << 23}, {1 << 18}, {5000}},
     .outputs = {BENCH_EXACT(VYRE_I32)}, .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(mandelbrot), .make = make_mandelbrot,
     .size = {{1024, 1024, 256}, {256, 256, 256}, {33, 17, 20}},
     .params = {{"width", 0}, {"height", 1}, {"limit", 2}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {WIDER(spmv_ell), .make = make_spmv_ell,
     .size = {{1 << 19, 16, 10}, {1 << 14, 16, 4}, {600, 4, 2}},
     .params = {{"rows", 0}, {"per", 1}, {"rounds", 2}}, .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_spmv_ell, .limited_by = "DRAM"},
    {WIDER(black_scholes), .make = make_black_scholes, .size = {{1 << 21}, {1 << 16}, {500}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-5}}, .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(bitonic), .make = make_line_u32, .size = {{1 << 20}, {1 << 14}, {1 << 9}},
     .outputs = {BENCH_EXACT(VYRE_U32)}},
    {WIDER(search), .make = make_search, .size = {{1 << 24, 8}, {1 << 20, 8}, {30000, 5}},
     .outputs = {BENCH_EXACT(VYRE_U32)}, .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(stencil3d), .make = make_box, .size = {{192, 50}, {64, 10}, {14, 2}},
     .params = {{"n", 0}, {"steps", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_stencil3d,
     .limited_by = "DRAM"},
    {WIDER(eliminate), .make = make_matrix, .size = {{768}, {128}, {24}}, .params = {{"n", 0}},
     .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_eliminate, .limited_by = "L3"},
    {WIDER(walks), .make = make_walks,
     .size = {{16, 8, 1 << 17, 64}, {12, 8, 1 << 14, 16}, {7, 8, 500, 5}},
     .params = {{"walkers", 2}, {"steps", 3}}, .outputs = {BENCH_EXACT(VYRE_U32)}},
    {WIDER(kmeans), .make = make_kmeans, .size = {{1 << 20}, {1 << 15}, {300}},
     .params = {{"points", 0}}, .outputs = {BENCH_EXACT(VYRE_U32), BENCH_EXACT(VYRE_U32)},
     .limit = limit_kmeans, .limited_by = "FMA"},
    {WIDER(dot_f64), .make = make_dot_f64, .size = {{1 << 23}, {1 << 18}, {20000}},
     .outputs = {{VYRE_F64, 1e-11}}, .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(matvec), .make = make_matvec, .size = {{4096, 4096}, {512, 512}, {20, 300}},
     .params = {{"rows", 0}, {"columns", 1}}, .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once,
     .limited_by = "DRAM"},
    {WIDER(segments), .make = make_segments, .size = {{1 << 18}, {1 << 14}, {300}},
     .outputs = {BENCH_EXACT(VYRE_F32)}, .limit = limit_once, .limited_by = "DRAM"},
    {WIDER(warps), .make = make_warps, .size = {{1 << 24}, {1 << 19}, {20001}},
     .outputs = {{VYRE_F32, 1e-5}}, .limit = limit_once, .limited_by = "DRAM"},
    {.name = NULL},
};
