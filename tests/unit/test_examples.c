/* The examples against plain C that shares nothing with the interpreter. Float sums follow the
 * order that the examples' comments promise, so results agree to the last bit; each example runs on
 * several grids and orders, which must not matter; where a sum follows the grid, in several orders.
 */
#include <math.h>

#include "harness/test.h"
#include "io/array.h"
#include "io/file.h"
#include "io/generate.h"
#include "vyre/vyre.h"

enum { MOST_OUTPUTS = 4 };

typedef struct example {
    const char *name;
    const vyre_input *inputs;
    uint32_t input_count;
    uint32_t output_count;
    const vyre_setting *settings;
    uint32_t setting_count;
    bool two_axes; /* the grid is tried as x,y */
    bool one_grid; /* that of its clause, which its sums follow */
} example;

static vyre_program *load(const char *name) {
    char path[512];
    vyre_bytes bytes;
    vyre_diag diag = {0};
    snprintf(path, sizeof path, "%s/examples/%s.vy", VYRE_SOURCE_DIR, name);
    REQUIRE_OK(vyre_file_read(path, 0, NULL, &bytes, &diag), &diag);
    vyre_diag_list diags = {.items = &diag, .capacity = 1};
    vyre_program *program = NULL;
    REQUIRE_OK(vyre_parse((const char *)bytes.data, bytes.size, NULL, NULL, &program, &diags),
               &diag);
    REQUIRE_OK(vyre_check(program, NULL, &diags), &diag);
    CHECK_EQ(diags.warnings, 0);
    vyre_bytes_finish(&bytes);
    return program;
}

static void same_bytes(const example *e, const vyre_output *got, const vyre_output *want) {
    for (uint32_t i = 0; i < e->output_count; i++) {
        REQUIRE(got[i].size == want[i].size);
        CHECK(got[i].size == 0 || memcmp(got[i].data, want[i].data, got[i].size) == 0);
    }
}

/* Runs it as its clause says, then on other grids and in other orders with the same outcome. */
static void run_example(const example *e, vyre_output *outputs) {
    static const uint32_t grids[][3] = {{1, 1, 1}, {3, 2, 1}, {19, 1, 1}};
    vyre_program *program = load(e->name);
    vyre_diag diag = {0};
    vyre_device *device = NULL;
    vyre_dispatch_options options = {.settings = e->settings, .setting_count = e->setting_count};
    REQUIRE_OK(vyre_device_open(NULL, "ref", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_dispatch(device, program, e->inputs, e->input_count, outputs, e->output_count,
                             &options, NULL, &diag),
               &diag);
    uint32_t variations = test_scaled(100) < 100 ? 1 : 3;
    for (uint32_t i = 0; i < variations; i++) {
        vyre_output again[MOST_OUTPUTS] = {{0}};
        options.has_grid = !e->one_grid;
        memcpy(options.grid, grids[i], sizeof options.grid);
        options.grid[1] = e->two_axes ? options.grid[1] : 1;
        options.order = (vyre_order)(VYRE_ORDER_REVERSE + i);
        options.order_seed = i;
        REQUIRE_OK(vyre_dispatch(device, program, e->inputs, e->input_count, again, e->output_count,
                                 &options, NULL, &diag),
                   &diag);
        same_bytes(e, again, outputs);
        for (uint32_t k = 0; k < e->output_count; k++) {
            vyre_output_finish(&again[k], NULL);
        }
    }
    vyre_device_close(device);
    vyre_program_release(program);
}

static vyre_input input_of(const vyre_array *array) {
    return (vyre_input){array->data, vyre_array_size(array)};
}

static vyre_array random_array(vyre_type type, uint64_t count, uint64_t seed) {
    vyre_array array;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_generate_random(type, count, seed, NULL, &array, &diag), &diag);
    return array;
}

static void finish_outputs(vyre_output *outputs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        vyre_output_finish(&outputs[i], NULL);
    }
}

static void expect(const vyre_output *output, const void *want, size_t size) {
    REQUIRE(output->size == size);
    CHECK(size == 0 || memcmp(output->data, want, size) == 0);
}

static void *room(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    REQUIRE(memory != NULL);
    return memory;
}

/* Arrays */

TEST(saxpy) {
    for (uint32_t n = 0; n < 2000; n = n * 3 + 1) {
        vyre_array x = random_array(VYRE_F32, n, 1), y = random_array(VYRE_F32, n, 2);
        float a = -1.7f, *want = room(n, sizeof *want);
        uint32_t bits;
        memcpy(&bits, &a, sizeof bits);
        for (uint32_t i = 0; i < n; i++) {
            want[i] = a * ((const float *)x.data)[i] + ((const float *)y.data)[i];
        }
        vyre_output out = {0};
        run_example(&(example){.name = "saxpy",
                               .inputs = (vyre_input[]){input_of(&x), input_of(&y)},
                               .input_count = 2,
                               .output_count = 1,
                               .settings = &(vyre_setting){"a", VYRE_F32, bits},
                               .setting_count = 1},
                    &out);
        expect(&out, want, n * sizeof *want);
        free(want);
        finish_outputs(&out, 1);
        vyre_array_finish(&x);
        vyre_array_finish(&y);
    }
}

/* The tree of a workgroup: halves are added until one is left. */
#define TREE_SUM(lane, count)                                                                      \
    for (uint32_t half = (count) / 2; half; half /= 2) {                                           \
        for (uint32_t l = 0; l < half; l++) {                                                      \
            (lane)[l] = (lane)[l] + (lane)[l + half];                                              \
        }                                                                                          \
    }

/* Two phases: lanes of fixed blocks stride over the values, trees add lanes, then blocks. */
#define DEFINE_BLOCK_SUM(name, type)                                                               \
    static type name(const type *values, uint32_t count, uint32_t lanes, uint32_t blocks) {        \
        type partial[256] = {0}, lane[256];                                                        \
        for (uint32_t b = 0; b < blocks; b++) {                                                    \
            for (uint32_t l = 0; l < lanes; l++) {                                                 \
                lane[l] = 0;                                                                       \
                for (uint32_t i = b * lanes + l; i < count; i += blocks * lanes) {                 \
                    lane[l] = lane[l] + values[i];                                                 \
                }                                                                                  \
            }                                                                                      \
            TREE_SUM(lane, lanes)                                                                  \
            partial[b] = lane[0];                                                                  \
        }                                                                                          \
        TREE_SUM(partial, lanes)                                                                   \
        return partial[0];                                                                         \
    }
DEFINE_BLOCK_SUM(block_sum_f32, float)
DEFINE_BLOCK_SUM(block_sum_f64, double)

TEST(reduce) {
    static const uint32_t counts[] = {0, 1, 255, 257, 16384, 50001};
    for (uint32_t k = 0; k < 6; k++) {
        vyre_array x = random_array(VYRE_F32, counts[k], k);
        float want = block_sum_f32(x.data, counts[k], 256, 64);
        vyre_output out = {0};
        vyre_input in = input_of(&x);
        run_example(
            &(example){.name = "reduce", .inputs = &in, .input_count = 1, .output_count = 1}, &out);
        expect(&out, &want, sizeof want);
        finish_outputs(&out, 1);
        vyre_array_finish(&x);
    }
}

TEST(scan) {
    static const uint32_t counts[] = {0, 1, 7, 2047, 2048, 2049, 4096, 60000};
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t n = counts[k], sum = 0, *want = room(n, sizeof *want);
        vyre_array x = random_array(VYRE_U32, n, k);
        for (uint32_t i = 0; i < n; i++) {
            want[i] = sum += ((const uint32_t *)x.data)[i];
        }
        vyre_output out = {0};
        vyre_input in = input_of(&x);
        run_example(&(example){.name = "scan", .inputs = &in, .input_count = 1, .output_count = 1},
                    &out);
        expect(&out, want, n * sizeof *want);
        free(want);
        finish_outputs(&out, 1);
        vyre_array_finish(&x);
    }
}

/* More tiles than one workgroup scans at once: 300 tiles of 2048. */
TEST(scan_of_many_tiles) {
    enum { N = 300 * 2048 + 5 };
    uint32_t *x = room(N, sizeof *x), *want = room(N, sizeof *want);
    for (uint32_t i = 0; i < N; i++) {
        x[i] = i % 7;
        want[i] = x[i] + (i ? want[i - 1] : 0);
    }
    vyre_program *program = load("scan");
    vyre_diag diag = {0};
    vyre_device *device = NULL;
    vyre_output out = {0};
    REQUIRE_OK(vyre_device_open(NULL, "ref", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_dispatch(device, program, &(vyre_input){x, N * sizeof *x}, 1, &out, 1, NULL,
                             NULL, &diag),
               &diag);
    expect(&out, want, N * sizeof *want);
    vyre_output_finish(&out, NULL);
    vyre_device_close(device);
    vyre_program_release(program);
    free(x);
    free(want);
}

TEST(histogram) {
    vyre_array x = random_array(VYRE_U8, 30001, 5);
    uint32_t want[256] = {0};
    for (uint32_t i = 0; i < 30001; i++) {
        want[((const uint8_t *)x.data)[i]]++;
    }
    vyre_output out = {0};
    vyre_input in = input_of(&x);
    run_example(&(example){.name = "histogram", .inputs = &in, .input_count = 1, .output_count = 1},
                &out);
    expect(&out, want, sizeof want);
    finish_outputs(&out, 1);
    vyre_array_finish(&x);
}

TEST(jacobi) {
    enum { W = 21, H = 18 };
    static float plate[H][W], next[H][W];
    uint32_t sweeps = 0;
    float worst = 1, tolerance = 0.01f;
    uint32_t bits;
    memcpy(&bits, &tolerance, sizeof bits);
    for (uint32_t x = 0; x < W; x++) {
        plate[0][x] = 1;
    }
    while (worst > tolerance) {
        worst = 0;
        memcpy(next, plate, sizeof next);
        for (uint32_t y = 1; y < H - 1; y++) {
            for (uint32_t x = 1; x < W - 1; x++) {
                float sides = plate[y][x - 1] + plate[y][x + 1];
                float ends = plate[y - 1][x] + plate[y + 1][x];
                next[y][x] = 0.25f * (sides + ends);
                worst = fmaxf(worst, fabsf(next[y][x] - plate[y][x]));
            }
        }
        memcpy(plate, next, sizeof plate);
        sweeps++;
    }
    vyre_output out[2] = {{0}};
    const vyre_setting settings[] = {
        {"width", VYRE_U32, W}, {"height", VYRE_U32, H}, {"tolerance", VYRE_F32, bits}};
    run_example(&(example){.name = "jacobi",
                           .output_count = 2,
                           .settings = settings,
                           .setting_count = 3,
                           .two_axes = true},
                out);
    expect(&out[0], plate, sizeof plate);
    expect(&out[1], &sweeps, sizeof sweeps);
    CHECK(sweeps > 10);
    finish_outputs(out, 2);
}

/* Graphs */

static vyre_csr rmat(uint64_t scale, uint64_t factor) {
    vyre_csr graph;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_generate_rmat(scale, factor, 1, VYRE_VOID, NULL, &graph, &diag), &diag);
    return graph;
}

static vyre_csr grid(uint64_t width, uint64_t height) {
    vyre_csr graph;
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_generate_grid(width, height, VYRE_VOID, NULL, &graph, &diag), &diag);
    return graph;
}

static uint32_t *distances(const vyre_csr *graph, uint32_t source) {
    const uint32_t *row = graph->row.data, *col = graph->col.data;
    uint32_t *dist = room(graph->rows, sizeof *dist), *queue = room(graph->rows, sizeof *queue);
    memset(dist, 0xff, graph->rows * sizeof *dist);
    uint32_t head = 0, tail = 0;
    dist[source] = 0;
    queue[tail++] = source;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            if (dist[col[e]] == UINT32_MAX) {
                dist[col[e]] = dist[v] + 1;
                queue[tail++] = col[e];
            }
        }
    }
    free(queue);
    return dist;
}

static void check_bfs(vyre_csr graph, uint32_t source) {
    uint32_t *want = distances(&graph, source);
    vyre_output out = {0};
    run_example(&(example){.name = "bfs",
                           .inputs = (vyre_input[]){input_of(&graph.row), input_of(&graph.col)},
                           .input_count = 2,
                           .output_count = 1,
                           .settings = &(vyre_setting){"source", VYRE_U32, source},
                           .setting_count = 1},
                &out);
    expect(&out, want, graph.rows * sizeof *want);
    free(want);
    finish_outputs(&out, 1);
    vyre_csr_finish(&graph);
}

TEST(bfs) {
    check_bfs(rmat(8, 4), 3);
    check_bfs(grid(30, 7), 100);
    check_bfs(grid(1, 1), 0);
}

TEST(bfs_of_a_large_graph) {
    check_bfs(rmat(test_scaled(100) < 100 ? 11 : 16, 16), 0);
}

TEST(pagerank) {
    vyre_csr graph = rmat(11, 3);
    const uint32_t *row = graph.row.data, *col = graph.col.data;
    uint32_t n = graph.rows, rounds = 0, lonely = 0;
    float *rank = room(n, sizeof *rank), *share = room(n, sizeof *share),
          *term = room(n, sizeof *term), change = 1, damping = 0.85f;
    for (uint32_t v = 0; v < n; v++) {
        rank[v] = 1.0f / (float)n;
        lonely += row[v + 1] == row[v];
    }
    REQUIRE(lonely > 0);
    for (; change > 1e-6f; rounds++) {
        for (uint32_t v = 0; v < n; v++) {
            uint32_t degree = row[v + 1] - row[v];
            share[v] = degree ? rank[v] / (float)degree : 0;
            term[v] = degree ? 0 : rank[v];
        }
        float lost = block_sum_f32(term, n, 128, 32);
        float base = (1.0f - damping) / (float)n + damping * lost / (float)n;
        for (uint32_t v = 0; v < n; v++) {
            float given = 0;
            for (uint32_t e = row[v]; e < row[v + 1]; e++) {
                given = given + share[col[e]];
            }
            float now = base + damping * given;
            term[v] = fabsf(now - rank[v]);
            rank[v] = now;
        }
        change = block_sum_f32(term, n, 128, 32);
    }
    vyre_output out[2] = {{0}};
    run_example(&(example){.name = "pagerank",
                           .inputs = (vyre_input[]){input_of(&graph.row), input_of(&graph.col)},
                           .input_count = 2,
                           .output_count = 2},
                out);
    expect(&out[0], rank, n * sizeof *rank);
    expect(&out[1], &rounds, sizeof rounds);
    free(rank);
    free(share);
    free(term);
    finish_outputs(out, 2);
    vyre_csr_finish(&graph);
}

static void multiply(const vyre_csr *graph, double shift, const double *p, double *q) {
    const uint32_t *row = graph->row.data, *col = graph->col.data;
    for (uint32_t i = 0; i < graph->rows; i++) {
        q[i] = ((double)(row[i + 1] - row[i]) + shift) * p[i];
        for (uint32_t e = row[i]; e < row[i + 1]; e++) {
            q[i] = q[i] - p[col[e]];
        }
    }
}

static double dot(const double *a, const double *b, double *term, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        term[i] = a[i] * b[i];
    }
    return block_sum_f64(term, n, 128, 16);
}

TEST(cg) {
    vyre_csr graph = grid(47, 31); /* several blocks of a dot product have work */
    uint32_t n = graph.rows, steps = 0;
    double shift = 0.01, tolerance = 1e-9;
    uint64_t bits;
    memcpy(&bits, &tolerance, sizeof bits);
    vyre_array b = random_array(VYRE_F64, n, 9);
    double *x = room(n, 8), *r = room(n, 8), *p = room(n, 8), *q = room(n, 8), *term = room(n, 8);
    memcpy(r, b.data, n * sizeof *r);
    memcpy(p, b.data, n * sizeof *p);
    double rr = dot(r, r, term, n), first = rr, goal = tolerance * tolerance * rr;
    for (; rr > goal; steps++) {
        multiply(&graph, shift, p, q);
        double alpha = rr / dot(p, q, term, n);
        for (uint32_t i = 0; i < n; i++) {
            x[i] = x[i] + alpha * p[i];
            r[i] = r[i] - alpha * q[i];
        }
        double next = dot(r, r, term, n), beta = next / rr;
        for (uint32_t i = 0; i < n; i++) {
            p[i] = r[i] + beta * p[i];
        }
        rr = next;
    }
    double residual = sqrt(rr / first), off = 0;
    multiply(&graph, shift, x, q);
    for (uint32_t i = 0; i < n; i++) {
        off = fmax(off, fabs(q[i] - ((const double *)b.data)[i]));
    }
    CHECK(off < 1e-6); /* the reference itself solves the system */
    vyre_output out[3] = {{0}};
    const vyre_input inputs[] = {input_of(&graph.row), input_of(&graph.col), input_of(&b)};
    run_example(&(example){.name = "cg",
                           .one_grid = true,
                           .inputs = inputs,
                           .input_count = 3,
                           .output_count = 3,
                           .settings = &(vyre_setting){"tolerance", VYRE_F64, bits},
                           .setting_count = 1},
                out);
    expect(&out[0], x, n * sizeof *x);
    expect(&out[1], &steps, sizeof steps);
    expect(&out[2], &residual, sizeof residual);
    double *all[] = {x, r, p, q, term};
    for (uint32_t i = 0; i < 5; i++) {
        free(all[i]);
    }
    finish_outputs(out, 3);
    vyre_array_finish(&b);
    vyre_csr_finish(&graph);
}

/* By a worklist, which shares neither the order nor the sweeps of the example. */
static uint64_t *reaching(const vyre_csr *graph, const uint64_t *gen, const uint64_t *kill,
                          uint32_t words) {
    const uint32_t *row = graph->row.data, *col = graph->col.data;
    uint64_t *set = room((size_t)graph->rows * words, sizeof *set);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = graph->rows; b-- > 0;) {
            for (uint32_t w = 0; w < words; w++) {
                uint64_t in = 0, i = (uint64_t)b * words + w;
                for (uint32_t e = row[b]; e < row[b + 1]; e++) {
                    in |= set[(uint64_t)col[e] * words + w];
                }
                uint64_t now = gen[i] | (in & ~kill[i]);
                changed |= now != set[i];
                set[i] = now;
            }
        }
    }
    return set;
}

TEST(reach) {
    enum { WORDS = 3 };
    vyre_csr graph = grid(20, 13);
    uint64_t n = (uint64_t)graph.rows * WORDS;
    vyre_array gen = random_array(VYRE_U64, n, 1), more = random_array(VYRE_U64, n, 2),
               kill = random_array(VYRE_U64, n, 3);
    for (uint64_t i = 0; i < n; i++) { /* sparse sets travel farther */
        ((uint64_t *)gen.data)[i] &= ((uint64_t *)more.data)[i] & (UINT64_C(0x1111) << i % 48);
    }
    uint64_t *want = reaching(&graph, gen.data, kill.data, WORDS);
    const vyre_input inputs[] = {input_of(&graph.row), input_of(&graph.col), input_of(&gen),
                                 input_of(&kill)};
    vyre_output out = {0};
    run_example(&(example){.name = "reach", .inputs = inputs, .input_count = 4, .output_count = 1},
                &out);
    expect(&out, want, n * sizeof *want);

    /* One sweep per pass, repeated by the runtime. */
    vyre_program *program = load("reach");
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    vyre_dispatch_report report;
    vyre_dispatch_options options = {.settings = &(vyre_setting){"sweeps", VYRE_U32, 1},
                                     .setting_count = 1,
                                     .has_iterations = true,
                                     .iterations = 1000};
    REQUIRE_OK(vyre_device_open(NULL, "ref", NULL, &device, &diag), &diag);
    REQUIRE_OK(vyre_dispatch(device, program, inputs, 4, &out, 1, &options, &report, &diag), &diag);
    CHECK(report.converged && report.passes > 3);
    expect(&out, want, n * sizeof *want);

    vyre_device_close(device);
    vyre_program_release(program);
    free(want);
    finish_outputs(&out, 1);
    vyre_array_finish(&gen);
    vyre_array_finish(&more);
    vyre_array_finish(&kill);
    vyre_csr_finish(&graph);
}
