/* The workloads that the CPU backend is measured by: programs, sizes, inputs, and the time that the
 * machine needs at least. Bytes are those that any way to compute it must move between memory (or
 * the cache that holds the data) and the cores; what a store reads first is not counted, as in the
 * triad that they are divided by. */
#include "compare.h"

enum { F4 = 4, U4 = 4, F8 = 8 }; /* bytes */

static double vertices(const bench_instance *i) {
    return (double)i->data.in_bytes[0] / U4 - 1.0;
}

static double edges(const bench_instance *i) {
    return (double)i->data.in_bytes[1] / U4;
}

/* Stencil: each sweep reads one buffer and writes the other. */

static bool make_jacobi(bench_instance *i) {
    uint64_t points = i->data.size[0] * i->data.size[1];
    add_output(i, points * F4);
    return add_input(i, VYRE_F32, points, 1);
}

static double jacobi_bytes(const bench_instance *i) {
    return 2.0 * F4 * (double)(i->data.size[0] * i->data.size[1] * i->data.size[2]);
}

static double limit_jacobi_dram(const bench_instance *i, const peer_limits *l) {
    return jacobi_bytes(i) / l->dram;
}

static double limit_jacobi_l2(const bench_instance *i, const peer_limits *l) {
    return jacobi_bytes(i) / l->l2;
}

/* Graphs */

static bool make_bfs_rmat(bench_instance *i) {
    bool good = add_rmat(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    return good;
}

static bool make_bfs_grid(bench_instance *i) {
    bool good = add_grid(i, i->data.size[0], i->data.size[1]);
    add_output(i, i->data.in_bytes[0] - U4);
    return good;
}

/* Every edge once; row, distance and queue of every vertex. */
static double bfs_seconds(const bench_instance *i, const peer_limits *l) {
    return U4 * (edges(i) + 4.0 * vertices(i)) / l->dram;
}

static double limit_bfs_rmat(const bench_instance *i, const peer_limits *l) {
    return bfs_seconds(i, l);
}

static double limit_bfs_grid(const bench_instance *i, const peer_limits *l) {
    return bfs_seconds(i, l) + (double)(i->data.size[0] + i->data.size[1] - 1) * l->barrier;
}

static double limit_pagerank(const bench_instance *i, const peer_limits *l) {
    return (double)i->data.size[2] * U4 * (edges(i) + 5.0 * vertices(i)) / l->dram;
}

/* A cycle of jumps: each vertex has edges to some of the 127 that follow it. */
static bool make_closure(bench_instance *i) {
    uint64_t n = i->data.size[0], degree = i->data.size[1], seed = 1;
    uint32_t *row = malloc((n + 1) * U4), *col = malloc(n * degree * U4);
    for (uint64_t v = 0; row && col && v < n; v++) {
        row[v] = (uint32_t)(v * degree);
        for (uint64_t e = 0; e < degree; e++) {
            col[v * degree + e] = (uint32_t)((v + 1 + instance_random(&seed) % 127) % n);
        }
    }
    if (row) {
        row[n] = (uint32_t)(n * degree);
    }
    i->data.size[2] = (n + 31) / 32;
    add_output(i, n * i->data.size[2] * U4);
    add_output(i, U4);
    bool good = add_bytes(i, row, (n + 1) * U4);
    return add_bytes(i, col, n * degree * U4) && good;
}

/* A sweep reads a row of bits per edge and vertex, and writes one per vertex; sweeps it takes at
 * least: around the cycle by the longest jumps. */
static double limit_closure(const bench_instance *i, const peer_limits *l) {
    double n = (double)i->data.size[0], row = (double)i->data.size[2] * U4;
    return n / 127.0 * row * n * ((double)i->data.size[1] + 2.0) / l->l3;
}

/* Arrays */

static bool make_scan(bench_instance *i) {
    add_output(i, i->data.size[0] * U4);
    return add_input(i, VYRE_U32, i->data.size[0], 2);
}

static bool make_sort(bench_instance *i) {
    i->data.size[1] = (i->data.size[0] + 8191) / 8192;
    return make_scan(i);
}

static bool make_histogram(bench_instance *i) {
    add_output(i, (size_t)256 * U4);
    return add_input(i, VYRE_U8, i->data.size[0], 3);
}

static bool make_reduce_f32(bench_instance *i) {
    add_output(i, F4);
    return add_input(i, VYRE_F32, i->data.size[0], 4);
}

static bool make_reduce_u32(bench_instance *i) {
    add_output(i, U4);
    return add_input(i, VYRE_U32, i->data.size[0], 5);
}

static double limit_scan(const bench_instance *i, const peer_limits *l) {
    return 2.0 * U4 * (double)i->data.size[0] / l->dram;
}

static double limit_sort(const bench_instance *i, const peer_limits *l) {
    return 4.0 * limit_scan(i, l); /* passes */
}

static double limit_reduce(const bench_instance *i, const peer_limits *l) {
    return U4 * (double)i->data.size[0] / l->dram;
}

static double limit_histogram(const bench_instance *i, const peer_limits *l) {
    return (double)i->data.size[0] / (l->clock * l->threads);
}

/* Numerics */

/* The five-point Laplacian of a grid with fixed edges. */
static bool make_cg(bench_instance *i) {
    uint64_t w = i->data.size[0], h = i->data.size[1], n = w * h, count = 0;
    uint32_t *row = malloc((n + 1) * U4), *col = malloc(5 * n * U4);
    double *val = malloc(5 * n * F8);
    for (uint64_t v = 0; row && col && val && v < n; v++) {
        uint64_t x = v % w, y = v / w;
        const struct {
            bool is_there;
            uint64_t at;
        } points[] = {
            {y > 0, v - w}, {x > 0, v - 1}, {true, v}, {x < w - 1, v + 1}, {y < h - 1, v + w}};
        row[v] = (uint32_t)count;
        for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) {
            if (points[k].is_there) {
                col[count] = (uint32_t)points[k].at;
                val[count++] = points[k].at == v ? 4.0 : -1.0;
            }
        }
    }
    if (row) {
        row[n] = (uint32_t)count;
    }
    add_output(i, n * F8);
    add_output(i, F8);
    bool good = add_bytes(i, row, (n + 1) * U4);
    good = add_bytes(i, col, count * U4) && good;
    good = add_bytes(i, val, count * F8) && good;
    return add_input(i, VYRE_F64, n, 6) && good;
}

/* Per step the matrix, and eleven times a vector: p to q; p, q, x and r to x and r; r and p to p.
 */
static double limit_cg(const bench_instance *i, const peer_limits *l) {
    double bytes = (U4 + F8) * edges(i) + (U4 + 11.0 * F8) * vertices(i);
    return (double)i->data.size[2] * bytes / l->dram;
}

static bool make_nbody(bench_instance *i) {
    uint64_t n = i->data.size[0];
    add_output(i, 3 * n * F4);
    add_output(i, 3 * n * F4);
    bool good = add_input(i, VYRE_F32, n, 7);
    return add_input(i, VYRE_F32, 3 * n, 8) && good;
}

/* Twenty operations per pair, as it is usual to count. */
static double limit_nbody(const bench_instance *i, const peer_limits *l) {
    double n = (double)i->data.size[0];
    return 20.0 * n * n * (double)i->data.size[1] / l->fma32;
}

static bool make_matmul(bench_instance *i) {
    uint64_t n = i->data.size[0];
    add_output(i, n * n * F4);
    bool good = add_input(i, VYRE_F32, n * n, 9);
    return add_input(i, VYRE_F32, n * n, 10) && good;
}

static double limit_matmul(const bench_instance *i, const peer_limits *l) {
    double n = (double)i->data.size[0];
    return 2.0 * n * n * n / l->fma32;
}

static bool make_barrier(bench_instance *i) {
    add_output(i, (size_t)128 * U4);
    return true;
}

static double limit_barrier(const bench_instance *i, const peer_limits *l) {
    return (double)i->data.size[0] * l->barrier;
}

#define EXACT(type)                                                                                \
    { type, 0.0 }

const bench_workload named_workloads[] = {
    {.name = "jacobi-2048",
     .peer = "jacobi",
     .program = "programs/jacobi.vy",
     .make = make_jacobi,
     .size = {{2048, 2048, 100}, {512, 512, 20}, {70, 21, 4}},
     .params = {{"width", 0}, {"height", 1}, {"sweeps", 2}},
     .outputs = {EXACT(VYRE_F32)},
     .limit = limit_jacobi_dram,
     .limited_by = "DRAM"},
    {.name = "jacobi-256",
     .peer = "jacobi",
     .program = "programs/jacobi.vy",
     .make = make_jacobi,
     .size = {{256, 256, 2000}, {128, 128, 200}, {33, 9, 10}},
     .params = {{"width", 0}, {"height", 1}, {"sweeps", 2}},
     .outputs = {EXACT(VYRE_F32)},
     .limit = limit_jacobi_l2,
     .limited_by = "L2"},
    {.name = "bfs-rmat",
     .peer = "bfs",
     .program = "programs/bfs.vy",
     .make = make_bfs_rmat,
     .size = {{18, 16}, {13, 16}, {7, 8}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_bfs_rmat,
     .limited_by = "DRAM"},
    {.name = "bfs-grid",
     .peer = "bfs",
     .program = "programs/bfs.vy",
     .make = make_bfs_grid,
     .size = {{1024, 1024}, {128, 128}, {5, 4}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_bfs_grid,
     .limited_by = "DRAM, barriers"},
    {.name = "pagerank",
     .peer = "pagerank",
     .program = "programs/pagerank.vy",
     .make = make_bfs_rmat,
     .size = {{18, 16, 20}, {13, 16, 20}, {7, 8, 4}},
     .params = {{"rounds", 2}},
     .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_pagerank,
     .limited_by = "DRAM"},
    {.name = "scan",
     .peer = "scan",
     .program = "programs/scan.vy",
     .make = make_scan,
     .size = {{1 << 24}, {1 << 18}, {5000}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_scan,
     .limited_by = "DRAM"},
    {.name = "sort",
     .peer = "sort",
     .program = "programs/sort.vy",
     .make = make_sort,
     .size = {{1 << 22}, {1 << 17}, {9000}},
     .params = {{"tiles", 1}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_sort,
     .limited_by = "DRAM"},
    {.name = "histogram",
     .peer = "histogram",
     .program = "programs/histogram.vy",
     .make = make_histogram,
     .size = {{1 << 24}, {1 << 19}, {20000}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_histogram,
     .limited_by = "a count per cycle"},
    {.name = "reduce-f32",
     .peer = "reduce_f32",
     .program = "programs/reduce_f32.vy",
     .make = make_reduce_f32,
     .size = {{1 << 24}, {1 << 19}, {20001}},
     .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_reduce,
     .limited_by = "DRAM"},
    {.name = "reduce-u32",
     .peer = "reduce_u32",
     .program = "programs/reduce_u32.vy",
     .make = make_reduce_u32,
     .size = {{1 << 24}, {1 << 19}, {20001}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_reduce,
     .limited_by = "DRAM"},
    {.name = "cg",
     .peer = "cg",
     .program = "programs/cg.vy",
     .make = make_cg,
     .size = {{1024, 1024, 100}, {128, 128, 50}, {9, 8, 3}},
     .params = {{"steps", 2}},
     .outputs = {{VYRE_F64, 1e-9}, {VYRE_F64, 1e-9}},
     .limit = limit_cg,
     .limited_by = "DRAM"},
    {.name = "nbody",
     .peer = "nbody",
     .program = "programs/nbody.vy",
     .make = make_nbody,
     .size = {{4096, 10}, {1024, 4}, {256, 1}},
     .params = {{"steps", 1}},
     .outputs = {{VYRE_F32, 1e-5}, {VYRE_F32, 1e-4}},
     .limit = limit_nbody,
     .limited_by = "FMA"},
    {.name = "matmul",
     .peer = "matmul",
     .program = "programs/matmul.vy",
     .make = make_matmul,
     .size = {{1024}, {256}, {48}},
     .params = {{"n", 0}},
     .outputs = {{VYRE_F32, 1e-5}},
     .limit = limit_matmul,
     .limited_by = "FMA"},
    {.name = "closure",
     .peer = "closure",
     .program = "programs/closure.vy",
     .make = make_closure,
     .size = {{4096, 4}, {1024, 4}, {200, 2}},
     .params = {{"words", 2}},
     .outputs = {EXACT(VYRE_U32), EXACT(VYRE_U32)},
     .limit = limit_closure,
     .limited_by = "L3"},
    {.name = "barrier",
     .peer = "barrier",
     .program = "programs/barrier.vy",
     .make = make_barrier,
     .size = {{100000}, {10000}, {50}},
     .params = {{"rounds", 0}},
     .outputs = {EXACT(VYRE_U32)},
     .limit = limit_barrier,
     .limited_by = "spin barrier",
     .keeps_barriers = true},
    {.name = NULL},
};
