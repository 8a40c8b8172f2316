/* The graph workloads on SuiteSparse:GraphBLAS, as LAGraph writes them: breadth-first search by
 * masked products, pushing while few vertices are at the front and pulling while many are; PageRank
 * by plus-second; closure by any-pair products until the number of pairs stays. */
#include <GraphBLAS.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peers/peer.h"

typedef struct graph {
    peer_instance p;
    GrB_Index n;
    GrB_Matrix a;      /* a pattern; of the first two workloads symmetric */
    GrB_Vector levels; /* bfs */
    GrB_Vector degree, rank;
    GrB_Matrix reach;
    uint32_t trips;
} graph;

static void demand(GrB_Info info, const char *what) {
    if (info != GrB_SUCCESS && info != GrB_NO_VALUE) {
        fprintf(stderr, "GraphBLAS: %s gives %d\n", what, (int)info);
        _exit(1);
    }
}

static graph *prepare(const peer_instance *p) {
    static bool is_open;
    graph *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    if (!is_open) {
        demand(GrB_init(GrB_NONBLOCKING), "GrB_init");
        is_open = true;
    }
    s->p = *p;
    s->n = p->in_bytes[0] / sizeof(uint32_t) - 1;
    const uint32_t *row = p->in[0], *col = p->in[1];
    GrB_Index edges = p->in_bytes[1] / sizeof(uint32_t);
    GrB_Index *from = malloc((edges + 1) * sizeof *from), *to = malloc((edges + 1) * sizeof *to);
    if (!from || !to) {
        free(from);
        free(to);
        free(s);
        return NULL;
    }
    for (GrB_Index v = 0; v < s->n; v++) {
        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            from[e] = v;
            to[e] = col[e];
        }
    }
    GrB_Scalar one;
    demand(GrB_Scalar_new(&one, GrB_BOOL), "a scalar");
    demand(GrB_Scalar_setElement_BOOL(one, true), "a scalar");
    demand(GrB_Matrix_new(&s->a, GrB_BOOL, s->n, s->n), "a matrix");
    demand(GxB_Matrix_build_Scalar(s->a, from, to, one, edges), "a matrix");
    demand(GrB_Matrix_wait(s->a, GrB_MATERIALIZE), "a matrix");
    free(from);
    free(to);
    return s;
}

/* Breadth-first search */

static void *prepare_bfs(const peer_instance *p) {
    return prepare(p);
}

static void run_bfs(void *state) {
    graph *s = state;
    GrB_Vector front;
    GrB_Index count = 1;
    GrB_free(&s->levels);
    demand(GrB_Vector_new(&s->levels, GrB_UINT32, s->n), "levels");
    demand(GxB_Vector_Option_set(s->levels, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL), "levels");
    demand(GrB_Vector_new(&front, GrB_BOOL, s->n), "the front");
    demand(GrB_Vector_setElement_BOOL(front, true, 0), "the front");
    for (uint32_t level = 0; count; level++) {
        demand(GrB_Vector_assign_UINT32(s->levels, front, NULL, level, GrB_ALL, s->n, GrB_DESC_S),
               "levels");
        bool pull = count > s->n / 32;
        demand(GxB_Vector_Option_set(front, GxB_SPARSITY_CONTROL, pull ? GxB_BITMAP : GxB_SPARSE),
               "the front");
        demand(pull ? GrB_mxv(front, s->levels, NULL, GxB_ANY_PAIR_BOOL, s->a, front, GrB_DESC_RSC)
                    : GrB_vxm(front, s->levels, NULL, GxB_ANY_PAIR_BOOL, front, s->a, GrB_DESC_RSC),
               "a level");
        demand(GrB_Vector_nvals(&count, front), "the front");
    }
    GrB_free(&front);
}

static void collect_bfs(void *state, const peer_instance *p) {
    graph *s = state;
    uint32_t *dist = p->out[0];
    for (GrB_Index v = 0; v < s->n; v++) {
        dist[v] = UINT32_MAX;
        demand(GrB_Vector_extractElement_UINT32(&dist[v], s->levels, v), "a level");
    }
}

/* PageRank */

static void *prepare_pagerank(const peer_instance *p) {
    graph *s = prepare(p);
    if (s) {
        const uint32_t *row = p->in[0];
        demand(GrB_Vector_new(&s->degree, GrB_FP32, s->n), "degrees");
        for (GrB_Index v = 0; v < s->n; v++) {
            if (row[v + 1] > row[v]) {
                demand(GrB_Vector_setElement_FP32(s->degree, (float)(row[v + 1] - row[v]), v),
                       "degrees");
            }
        }
        demand(GrB_Vector_wait(s->degree, GrB_MATERIALIZE), "degrees");
        demand(GrB_Vector_new(&s->rank, GrB_FP32, s->n), "ranks");
    }
    return s;
}

static void run_pagerank(void *state) {
    graph *s = state;
    GrB_Vector share;
    float n = (float)s->n, base = (1.0f - 0.85f) / n;
    demand(GrB_Vector_new(&share, GrB_FP32, s->n), "shares");
    demand(GrB_Vector_assign_FP32(s->rank, NULL, NULL, 1.0f / n, GrB_ALL, s->n, NULL), "ranks");
    for (uint64_t k = 0; k < s->p.size[2]; k++) {
        demand(GrB_Vector_eWiseMult_BinaryOp(share, NULL, NULL, GrB_DIV_FP32, s->rank, s->degree,
                                             NULL),
               "shares");
        demand(GrB_Vector_apply_BinaryOp1st_FP32(share, NULL, NULL, GrB_TIMES_FP32, 0.85f, share,
                                                 NULL),
               "shares");
        demand(GrB_Vector_assign_FP32(s->rank, NULL, NULL, base, GrB_ALL, s->n, NULL), "ranks");
        demand(GrB_mxv(s->rank, NULL, GrB_PLUS_FP32, GxB_PLUS_SECOND_FP32, s->a, share, NULL),
               "ranks");
    }
    demand(GrB_Vector_wait(s->rank, GrB_MATERIALIZE), "ranks");
    GrB_free(&share);
}

static void collect_pagerank(void *state, const peer_instance *p) {
    graph *s = state;
    float *rank = p->out[0];
    for (GrB_Index v = 0; v < s->n; v++) {
        demand(GrB_Vector_extractElement_FP32(&rank[v], s->rank, v), "a rank");
    }
}

/* Closure: two sweeps per trip, as the program has them. */

static void *prepare_closure(const peer_instance *p) {
    return prepare(p);
}

static void run_closure(void *state) {
    graph *s = state;
    GrB_Index before = 0, after = 0;
    GrB_free(&s->reach);
    demand(GrB_Matrix_new(&s->reach, GrB_BOOL, s->n, s->n), "pairs");
    for (GrB_Index v = 0; v < s->n; v++) {
        demand(GrB_Matrix_setElement_BOOL(s->reach, true, v, v), "pairs");
    }
    s->trips = 0;
    do {
        for (int sweep = 0; sweep < 2; sweep++) {
            demand(GrB_Matrix_nvals(&before, s->reach), "pairs");
            demand(GrB_mxm(s->reach, NULL, GxB_PAIR_BOOL, GxB_ANY_PAIR_BOOL, s->a, s->reach, NULL),
                   "a sweep");
            demand(GrB_Matrix_nvals(&after, s->reach), "pairs");
        }
        s->trips++;
    } while (after != before);
}

static void collect_closure(void *state, const peer_instance *p) {
    graph *s = state;
    GrB_Index count = s->n * s->n, words = s->p.size[2];
    GrB_Index *from = malloc(count * sizeof *from), *to = malloc(count * sizeof *to);
    bool *ones = malloc(count);
    uint32_t *reach = p->out[0];
    if (!from || !to || !ones) {
        _exit(1);
    }
    demand(GrB_Matrix_extractTuples_BOOL(from, to, ones, &count, s->reach), "pairs");
    memset(reach, 0, p->out_bytes[0]);
    for (GrB_Index i = 0; i < count; i++) {
        reach[from[i] * words + to[i] / 32] |= 1u << (to[i] % 32);
    }
    memcpy(p->out[1], &s->trips, sizeof s->trips);
    free(from);
    free(to);
    free(ones);
}

static const peer all[] = {
    {"bfs", prepare_bfs, NULL, run_bfs, collect_bfs},
    {"pagerank", prepare_pagerank, NULL, run_pagerank, collect_pagerank},
    {"closure", prepare_closure, NULL, run_closure, collect_closure},
};

const peer *peer_find(const char *workload) {
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].workload, workload) == 0) {
            return &all[i];
        }
    }
    return NULL;
}
