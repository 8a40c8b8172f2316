/* Graphs and sparse matrices of the held-out set. Rows are uneven: parts of them are handed out. */
#include "sets.h"

static void run_spmv_rows(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *restrict col = s->in[1];
    const float *restrict val = s->in[2], *restrict x = s->in[3];
    float *y = s->out[0];
    size_t n = s->in_bytes[0] / sizeof *row - 1;
#pragma omp parallel for schedule(dynamic, 1024)
    for (size_t r = 0; r < n; r++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (uint32_t e = row[r]; e < row[r + 1]; e++) {
            sum += val[e] * x[col[e]];
        }
        y[r] = sum;
    }
}

static uint32_t hash(uint32_t v) {
    uint32_t h = v * 0x9e3779b1;
    h = (h ^ h >> 15) * 0x85ebca77;
    h = (h ^ h >> 13) * 0xc2b2ae3d;
    return h ^ h >> 16;
}

enum { UNDECIDED, IN, OUT };

static bool is_highest(const uint32_t *row, const uint32_t *col, const uint32_t *is, uint32_t v) {
    uint32_t mine = hash(v);
    for (uint32_t e = row[v]; e < row[v + 1]; e++) {
        uint32_t u = col[e], other;
        if (__atomic_load_n(&is[u], __ATOMIC_RELAXED) != OUT &&
            ((other = hash(u)) > mine || (other == mine && u > v))) {
            return false;
        }
    }
    return true;
}

static bool is_beside(const uint32_t *row, const uint32_t *col, const uint32_t *is, uint32_t v) {
    for (uint32_t e = row[v]; e < row[v + 1]; e++) {
        if (__atomic_load_n(&is[col[e]], __ATOMIC_RELAXED) == IN) {
            return true;
        }
    }
    return false;
}

static void run_independent(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    uint32_t *is = s->out[0], n = (uint32_t)(s->in_bytes[0] / sizeof *row - 1);
    uint32_t left[2] = {1, 0};
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (uint32_t v = 0; v < n; v++) {
            is[v] = UNDECIDED;
        }
        for (unsigned turn = 0; left[turn & 1]; turn++) {
            uint32_t mine = 0;
#pragma omp for schedule(dynamic, 1024)
            for (uint32_t v = 0; v < n; v++) {
                if (is[v] == UNDECIDED && is_highest(row, col, is, v)) {
                    __atomic_store_n(&is[v], IN, __ATOMIC_RELAXED);
                }
            }
#pragma omp single
            left[turn & 1] = 0;
#pragma omp for schedule(dynamic, 1024) nowait
            for (uint32_t v = 0; v < n; v++) {
                if (is[v] == UNDECIDED) {
                    bool out = is_beside(row, col, is, v);
                    __atomic_store_n(&is[v], out ? OUT : UNDECIDED, __ATOMIC_RELAXED);
                    mine += !out;
                }
            }
#pragma omp atomic
            left[1 - (turn & 1)] += mine;
#pragma omp barrier
        }
    }
}

static uint32_t label_of(const uint32_t *label, uint32_t v) {
    return __atomic_load_n(&label[v], __ATOMIC_RELAXED);
}

static void lower(uint32_t *label, uint32_t v, uint32_t value) {
    uint32_t old = label_of(label, v);
    while (value < old && !__atomic_compare_exchange_n(&label[v], &old, value, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Roots of v onto those of its neighbours; whether any had another. */
static bool hook(const uint32_t *row, const uint32_t *col, uint32_t *label, uint32_t v) {
    uint32_t mine = label_of(label, v);
    bool changed = false;
    for (uint32_t e = row[v]; e < row[v + 1]; e++) {
        uint32_t other = label_of(label, col[e]);
        if (other < mine) {
            lower(label, mine, other);
            changed = true;
        }
    }
    return changed;
}

static void run_components(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    uint32_t *label = s->out[0], n = (uint32_t)(s->in_bytes[0] / sizeof *row - 1);
    bool changed[2] = {true, false};
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (uint32_t v = 0; v < n; v++) {
            label[v] = v;
        }
        for (unsigned turn = 0; changed[turn & 1]; turn++) {
            bool mine = false;
#pragma omp for schedule(dynamic, 1024) nowait
            for (uint32_t v = 0; v < n; v++) {
                mine |= hook(row, col, label, v);
            }
            if (mine) {
#pragma omp atomic write
                changed[1 - (turn & 1)] = true;
            }
#pragma omp barrier
#pragma omp single nowait
            changed[turn & 1] = false;
#pragma omp for schedule(static)
            for (uint32_t v = 0; v < n; v++) {
                uint32_t root = label[v], next;
                while ((next = label_of(label, root)) != root) {
                    root = next;
                }
                __atomic_store_n(&label[v], root, __ATOMIC_RELAXED);
            }
        }
    }
}

/* Without branches: which row goes on is not to be foreseen. */
static uint32_t in_both(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                        const uint32_t *b_end) {
    uint32_t count = 0;
    while (a < a_end && b < b_end) {
        uint32_t x = *a, y = *b;
        count += x == y;
        a += x <= y;
        b += y <= x;
    }
    return count;
}

static void run_triangles(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    size_t n = s->in_bytes[0] / sizeof *row - 1;
    uint32_t count = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : count)
    for (size_t u = 0; u < n; u++) {
        for (uint32_t e = row[u]; e < row[u + 1]; e++) {
            uint32_t v = col[e];
            if (u < v) {
                count += in_both(col + e + 1, col + row[u + 1], col + row[v], col + row[v + 1]);
            }
        }
    }
    *(uint32_t *)s->out[0] = count;
}

const peer peer_spmv_rows = {"spmv_rows", set_prepare, NULL, run_spmv_rows, set_collect};
/* Core numbers (after Kabir and Madduri): in each level every thread has a queue of its own, and
 * takes what falls to the level by what it took; threads meet twice in a level. */

static uint32_t take_level(const uint32_t *row, const uint32_t *col, uint32_t *degree, uint32_t k,
                           uint32_t *queue, uint32_t count) {
    for (uint32_t q = 0; q < count; q++) {
        for (uint32_t e = row[queue[q]]; e < row[queue[q] + 1]; e++) {
            uint32_t *other = &degree[col[e]];
            if (__atomic_load_n(other, __ATOMIC_RELAXED) > k) {
                uint32_t was = __atomic_fetch_sub(other, 1, __ATOMIC_RELAXED);
                if (was == k + 1) {
                    queue[count++] = col[e];
                } else if (was <= k) {
                    __atomic_fetch_add(other, 1, __ATOMIC_RELAXED);
                }
            }
        }
    }
    return count;
}

static void run_cores(void *state) {
    set_job *s = state;
    const uint32_t *row = s->in[0], *col = s->in[1];
    uint32_t n = (uint32_t)(s->in_bytes[0] / sizeof *row - 1), gone = 0;
    uint32_t *degree = s->out[0]; /* in the end that of the level in which a vertex went */
#pragma omp parallel
    {
        uint32_t *queue = (uint32_t *)s->scratch + (size_t)PEER_THREAD() * (n + 1);
#pragma omp for schedule(static)
        for (uint32_t v = 0; v < n; v++) {
            degree[v] = row[v + 1] - row[v];
        }
        for (uint32_t k = 0, all = 0; all < n; k++) {
            uint32_t count = 0;
#pragma omp for schedule(static)
            for (uint32_t v = 0; v < n; v++) {
                queue[count] = v;
                count += degree[v] == k;
            }
            count = take_level(row, col, degree, k, queue, count);
            __atomic_fetch_add(&gone, count, __ATOMIC_RELAXED);
#pragma omp barrier
            all = __atomic_load_n(&gone, __ATOMIC_RELAXED);
#pragma omp barrier
        }
    }
}

/* A queue for each thread, with room for the vertex that is looked at. */
static void *prepare_cores(const peer_instance *p) {
    return set_prepare_room(p, (size_t)PEER_MOST() * p->in_bytes[0]);
}

const peer peer_independent = {"independent", set_prepare, NULL, run_independent, set_collect};
const peer peer_components = {"components", set_prepare, NULL, run_components, set_collect};
const peer peer_triangles = {"triangles", set_prepare, NULL, run_triangles, set_collect};
const peer peer_cores = {"cores", prepare_cores, NULL, run_cores, set_collect};
