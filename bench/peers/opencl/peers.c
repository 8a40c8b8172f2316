/* The workloads on OpenCL: each grid barrier of the program is a launch of its own, buffers stay on
 * the device. Where the program decides by what it has found, the host reads one word. */
#include "runtime.h"

enum { GROUP = 256, GRID = 16384, GROUPS = GRID / GROUP };

typedef struct job {
    peer_instance p;
    cl_mem in[PEER_INPUTS], out[PEER_OUTPUTS], scratch[6];
} job;

static const size_t grid_lanes[2] = {GRID, 1}, group_lanes[2] = {GROUP, 1};

static size_t whole(size_t n, size_t group) {
    return (n + group - 1) / group * group;
}

/* All inputs and outputs, and scratch buffers of the given sizes, ended by 0. */
static job *prepare(const peer_instance *p, const size_t *scratch) {
    job *s = opencl_open() ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        return NULL;
    }
    s->p = *p;
    for (int k = 0; k < PEER_INPUTS && p->in[k]; k++) {
        s->in[k] = opencl_copy(p->in[k], p->in_bytes[k]);
    }
    for (int k = 0; k < PEER_OUTPUTS && p->out[k]; k++) {
        s->out[k] = opencl_room(p->out_bytes[k]);
    }
    for (int k = 0; scratch[k]; k++) {
        s->scratch[k] = opencl_room(scratch[k]);
    }
    return s;
}

static void collect(void *state, const peer_instance *p) {
    job *s = state;
    for (int k = 0; k < PEER_OUTPUTS && p->out[k]; k++) {
        opencl_read(s->out[k], p->out[k], p->out_bytes[k]);
    }
}

#define LAUNCH(name, lanes, group, ...)                                                            \
    do {                                                                                           \
        const opencl_argument arguments_[] = {__VA_ARGS__};                                        \
        opencl_launch(name, lanes, group, arguments_, sizeof arguments_ / sizeof arguments_[0]);   \
    } while (0)

/* jacobi */

static void *prepare_jacobi(const peer_instance *p) {
    return prepare(p, (size_t[]){p->in_bytes[0], 0});
}

static void run_jacobi(void *state) {
    job *s = state;
    cl_uint width = (cl_uint)s->p.size[0], height = (cl_uint)s->p.size[1];
    const size_t group[2] = {32, 8}, lanes[2] = {whole(width, 32), whole(height, 8)};
    cl_mem from = s->out[0], to = s->scratch[0];
    LAUNCH("jacobi_start", lanes, group, ARG(s->in[0]), ARG(from), ARG(to), ARG(width),
           ARG(height));
    for (uint64_t k = 0; k < (s->p.size[2] + 1) / 2 * 2; k++) {
        LAUNCH("jacobi_sweep", lanes, group, ARG(from), ARG(to), ARG(width), ARG(height));
        cl_mem old = from;
        from = to;
        to = old;
    }
    opencl_finish();
}

/* Graphs */

static cl_uint vertices(const peer_instance *p) {
    return (cl_uint)(p->in_bytes[0] / sizeof(cl_uint) - 1);
}

static void *prepare_bfs(const peer_instance *p) {
    return prepare(p, (size_t[]){p->in_bytes[0], p->in_bytes[0], sizeof(cl_uint), 0});
}

static void run_bfs(void *state) {
    job *s = state;
    cl_uint n = vertices(&s->p), size = 1, zero = 0;
    cl_mem here = s->scratch[0], next = s->scratch[1], count = s->scratch[2];
    LAUNCH("bfs_start", grid_lanes, group_lanes, ARG(s->out[0]), ARG(here), ARG(count), ARG(n));
    for (cl_uint level = 0; size; level++) {
        const size_t lanes[2] = {whole(size, GROUP), 1};
        opencl_write(count, &zero, sizeof zero);
        LAUNCH("bfs_level", lanes, group_lanes, ARG(s->in[0]), ARG(s->in[1]), ARG(s->out[0]),
               ARG(here), ARG(next), ARG(count), ARG(size), ARG(level));
        opencl_read(count, &size, sizeof size);
        cl_mem old = here;
        here = next;
        next = old;
    }
}

static void *prepare_pagerank(const peer_instance *p) {
    return prepare(p, (size_t[]){p->in_bytes[0], 0});
}

static void run_pagerank(void *state) {
    job *s = state;
    cl_uint n = vertices(&s->p);
    const size_t lanes[2] = {whole(n, GROUP), 1};
    LAUNCH("rank_start", lanes, group_lanes, ARG(s->out[0]), ARG(n));
    for (uint64_t k = 0; k < s->p.size[2]; k++) {
        LAUNCH("rank_share", lanes, group_lanes, ARG(s->in[0]), ARG(s->out[0]), ARG(s->scratch[0]),
               ARG(n));
        LAUNCH("rank_pull", lanes, group_lanes, ARG(s->in[0]), ARG(s->in[1]), ARG(s->scratch[0]),
               ARG(s->out[0]), ARG(n));
    }
    opencl_finish();
}

static void *prepare_closure(const peer_instance *p) {
    return prepare(p, (size_t[]){p->out_bytes[0], 2 * sizeof(cl_uint), 0});
}

static void run_closure(void *state) {
    job *s = state;
    cl_uint words = (cl_uint)s->p.size[2], changed = 1, trips = 0;
    const size_t lanes[2] = {vertices(&s->p) * (size_t)words, 1}, group[2] = {1, 1};
    const size_t *local_size = lanes[0] % GROUP ? group : group_lanes;
    cl_mem flag = s->scratch[1];
    LAUNCH("closure_start", lanes, local_size, ARG(s->out[0]), ARG(words));
    while (changed) {
        LAUNCH("closure_join", lanes, local_size, ARG(s->in[0]), ARG(s->in[1]), ARG(s->out[0]),
               ARG(s->scratch[0]), ARG(words), ARG(flag));
        opencl_zero(flag, sizeof changed);
        LAUNCH("closure_join", lanes, local_size, ARG(s->in[0]), ARG(s->in[1]), ARG(s->scratch[0]),
               ARG(s->out[0]), ARG(words), ARG(flag));
        opencl_read(flag, &changed, sizeof changed);
        trips++;
    }
    opencl_write(s->out[1], &trips, sizeof trips);
}

/* Arrays */

static void *prepare_scan(const peer_instance *p) {
    return prepare(p, (size_t[]){whole(p->size[0], 2048) / 2048 * sizeof(cl_uint), 0});
}

static void run_scan(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)s->p.size[0], tiles = (cl_uint)(whole(n, 2048) / 2048);
    const size_t lanes[2] = {(size_t)tiles * GROUP, 1};
    const size_t line = GROUP * sizeof(cl_uint);
    LAUNCH("scan_sums", lanes, group_lanes, ARG(s->in[0]), ARG(s->scratch[0]), ARG(n), LOCAL(line));
    LAUNCH("scan_bases", group_lanes, group_lanes, ARG(s->scratch[0]), ARG(tiles), LOCAL(line));
    LAUNCH("scan_tiles", lanes, group_lanes, ARG(s->in[0]), ARG(s->scratch[0]), ARG(s->out[0]),
           ARG(n), LOCAL(line));
    opencl_finish();
}

static void *prepare_sort(const peer_instance *p) {
    return prepare(p, (size_t[]){p->in_bytes[0], 256 * p->size[1] * sizeof(cl_uint),
                                 256 * sizeof(cl_uint), 0});
}

static void reset_sort(void *state) {
    job *s = state;
    opencl_write(s->out[0], s->p.in[0], s->p.in_bytes[0]);
}

static void run_sort(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)s->p.size[0], tiles = (cl_uint)s->p.size[1];
    const size_t lanes[2] = {(size_t)tiles * 64, 1}, group[2] = {64, 1}, one[2] = {1, 1};
    const size_t digits[2] = {256, 1}, counts = 256 * sizeof(cl_uint),
                 places = 16384 * sizeof(cl_ushort);
    cl_mem table = s->scratch[1], totals = s->scratch[2];
    for (cl_uint shift = 0; shift < 32; shift += 8) {
        cl_mem from = shift & 8 ? s->scratch[0] : s->out[0],
               to = shift & 8 ? s->out[0] : s->scratch[0];
        LAUNCH("sort_count", lanes, group, ARG(from), ARG(table), ARG(n), ARG(shift),
               LOCAL(counts));
        LAUNCH("sort_rows", digits, group, ARG(table), ARG(totals), ARG(tiles));
        LAUNCH("sort_totals", one, one, ARG(totals));
        LAUNCH("sort_move", lanes, group, ARG(from), ARG(to), ARG(table), ARG(totals), ARG(n),
               ARG(shift), LOCAL(counts), LOCAL(places));
    }
    opencl_finish();
}

static void *prepare_histogram(const peer_instance *p) {
    return prepare(p, (size_t[]){0});
}

static void run_histogram(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)s->p.size[0];
    const size_t bins = 256 * sizeof(cl_uint);
    opencl_zero(s->out[0], bins);
    LAUNCH("histogram", grid_lanes, group_lanes, ARG(s->in[0]), ARG(s->out[0]), ARG(n),
           LOCAL(bins));
    opencl_finish();
}

static void *prepare_reduce(const peer_instance *p) {
    return prepare(p, (size_t[]){GROUPS * sizeof(cl_uint), 0});
}

static void reduce(job *s, const char *kernel) {
    cl_uint n = (cl_uint)s->p.size[0], groups = GROUPS;
    const size_t tile = GROUP * sizeof(cl_uint);
    LAUNCH(kernel, grid_lanes, group_lanes, ARG(s->in[0]), ARG(s->scratch[0]), ARG(n), LOCAL(tile));
    LAUNCH(kernel, group_lanes, group_lanes, ARG(s->scratch[0]), ARG(s->out[0]), ARG(groups),
           LOCAL(tile));
    opencl_finish();
}

static void run_reduce_f32(void *state) {
    reduce(state, "reduce_f32");
}

static void run_reduce_u32(void *state) {
    reduce(state, "reduce_u32");
}

/* Numerics */

static void *prepare_cg(const peer_instance *p) {
    size_t bytes = p->in_bytes[3], parts = GROUPS * sizeof(cl_double);
    return prepare(p, (size_t[]){bytes, bytes, bytes, parts, parts, parts, 0});
}

static void run_cg(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)(s->p.in_bytes[3] / sizeof(cl_double));
    const size_t tile = GROUP * sizeof(cl_double);
    cl_mem x = s->out[0], r = s->scratch[0], p = s->scratch[1], q = s->scratch[2],
           pq = s->scratch[3];
    cl_mem rr = s->scratch[4], next = s->scratch[5];
    LAUNCH("cg_start", grid_lanes, group_lanes, ARG(s->in[3]), ARG(x), ARG(r), ARG(p), ARG(rr),
           ARG(n), LOCAL(tile));
    for (uint64_t k = 0; k < s->p.size[2]; k++) {
        LAUNCH("cg_multiply", grid_lanes, group_lanes, ARG(s->in[0]), ARG(s->in[1]), ARG(s->in[2]),
               ARG(p), ARG(q), ARG(pq), ARG(n), LOCAL(tile));
        LAUNCH("cg_advance", grid_lanes, group_lanes, ARG(p), ARG(q), ARG(x), ARG(r), ARG(pq),
               ARG(rr), ARG(next), ARG(n), LOCAL(tile));
        LAUNCH("cg_turn", grid_lanes, group_lanes, ARG(r), ARG(p), ARG(rr), ARG(next),
               ARG(s->out[1]), ARG(n), LOCAL(tile));
        cl_mem old = rr;
        rr = next;
        next = old;
    }
    opencl_finish();
}

static void *prepare_nbody(const peer_instance *p) {
    return prepare(p, (size_t[]){p->in_bytes[1], 0});
}

static void run_nbody(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)s->p.size[0];
    const size_t lanes[2] = {n, 1}, all[2] = {3 * (size_t)n, 1}, tile = 1024 * sizeof(cl_float);
    LAUNCH("copy_f32", all, group_lanes, ARG(s->in[1]), ARG(s->out[0]));
    opencl_zero(s->out[1], s->p.out_bytes[1]);
    for (uint64_t k = 0; k < s->p.size[1]; k++) {
        LAUNCH("nbody_pull", lanes, group_lanes, ARG(s->in[0]), ARG(s->out[0]), ARG(s->scratch[0]),
               ARG(n), LOCAL(tile));
        LAUNCH("nbody_move", all, group_lanes, ARG(s->scratch[0]), ARG(s->out[1]), ARG(s->out[0]));
    }
    opencl_finish();
}

static void *prepare_matmul(const peer_instance *p) {
    return prepare(p, (size_t[]){0});
}

static void run_matmul(void *state) {
    job *s = state;
    cl_uint n = (cl_uint)s->p.size[0];
    const size_t lanes[2] = {n, n}, group[2] = {16, 16}, tile = 256 * sizeof(cl_float);
    LAUNCH("matmul", lanes, group, ARG(s->in[0]), ARG(s->in[1]), ARG(s->out[0]), ARG(n),
           LOCAL(tile), LOCAL(tile));
    opencl_finish();
}

static void *prepare_barrier(const peer_instance *p) {
    return prepare(p, (size_t[]){p->out_bytes[0], 0});
}

/* Lots are sent off, so that the queue does not grow without end. */
static void run_barrier(void *state) {
    job *s = state;
    const size_t lanes[2] = {128, 1}, group[2] = {64, 1};
    cl_mem here = s->p.size[0] & 1 ? s->scratch[0] : s->out[0];
    cl_mem there = s->p.size[0] & 1 ? s->out[0] : s->scratch[0];
    opencl_zero(here, s->p.out_bytes[0]);
    for (uint64_t k = 0; k < s->p.size[0]; k++) {
        LAUNCH("barrier_turn", lanes, group, ARG(here), ARG(there));
        cl_mem old = here;
        here = there;
        there = old;
        if (k % 1000 == 999) {
            opencl_flush();
        }
    }
    opencl_finish();
}

static const peer all[] = {
    {"jacobi", prepare_jacobi, NULL, run_jacobi, collect},
    {"bfs", prepare_bfs, NULL, run_bfs, collect},
    {"pagerank", prepare_pagerank, NULL, run_pagerank, collect},
    {"closure", prepare_closure, NULL, run_closure, collect},
    {"scan", prepare_scan, NULL, run_scan, collect},
    {"sort", prepare_sort, reset_sort, run_sort, collect},
    {"histogram", prepare_histogram, NULL, run_histogram, collect},
    {"reduce_f32", prepare_reduce, NULL, run_reduce_f32, collect},
    {"reduce_u32", prepare_reduce, NULL, run_reduce_u32, collect},
    {"cg", prepare_cg, NULL, run_cg, collect},
    {"nbody", prepare_nbody, NULL, run_nbody, collect},
    {"matmul", prepare_matmul, NULL, run_matmul, collect},
    {"barrier", prepare_barrier, NULL, run_barrier, collect},
};

const peer *peer_find(const char *workload) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].workload, workload) == 0) {
            return &all[i];
        }
    }
    return NULL;
}
