/* Graphs in compressed sparse rows: breadth-first search by levels, PageRank by pulling, closure of
 * bit sets. The same algorithms as the programs use: none of them changes direction or order. */
#include "workloads.h"

typedef struct graph {
    size_t vertices;
    const uint32_t *row, *col;
    uint32_t *dist, *queue[2]; /* bfs */
    uint32_t *found;           /* bfs: of each thread, as long as the queue */
    float *rank, *share;       /* pagerank */
    size_t rounds;
    size_t words; /* closure */
    uint32_t *reach, *next;
    uint32_t trips;
} graph;

static graph *prepare_graph(const peer_instance *p) {
    graph *s = calloc(1, sizeof *s);
    if (s) {
        s->vertices = p->in_bytes[0] / sizeof *s->row - 1;
        s->row = peer_copy(p->in[0], p->in_bytes[0]);
        s->col = peer_copy(p->in[1], p->in_bytes[1]);
    }
    return s;
}

/* Breadth-first search. A thread collects what it finds and takes room in the queue once per level.
 * A vertex is looked at before it is taken by compare-and-swap: most are taken already. */

static void *prepare_bfs(const peer_instance *p) {
    graph *s = prepare_graph(p);
    if (s) {
        s->dist = peer_room(s->vertices * sizeof *s->dist);
        s->queue[0] = peer_room(s->vertices * sizeof *s->dist);
        s->queue[1] = peer_room(s->vertices * sizeof *s->dist);
        s->found = peer_room(s->vertices * sizeof *s->dist * (size_t)PEER_MOST());
    }
    return s;
}

static inline size_t expand(const graph *s, uint32_t v, uint32_t level, uint32_t *found,
                            size_t count) {
    for (uint32_t e = s->row[v]; e < s->row[v + 1]; e++) {
        uint32_t u = s->col[e], unseen = UINT32_MAX;
        if (__atomic_load_n(&s->dist[u], __ATOMIC_RELAXED) == UINT32_MAX &&
            __atomic_compare_exchange_n(&s->dist[u], &unseen, level, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            found[count++] = u;
        }
    }
    return count;
}

static void run_bfs(void *state) {
    graph *s = state;
    enum { EVEN = 4096, CHUNK = 64 }; /* small levels are cut once, large ones as threads ask */
    size_t size[2] = {1, 0};
#pragma omp parallel
    {
        uint32_t *found = s->found + (size_t)PEER_THREAD() * s->vertices;
#pragma omp for schedule(static)
        for (size_t v = 0; v < s->vertices; v++) {
            s->dist[v] = UINT32_MAX;
        }
#pragma omp single
        {
            s->dist[0] = 0;
            s->queue[0][0] = 0;
        }
        for (uint32_t level = 0; size[level & 1] != 0; level++) {
            size_t here = size[level & 1], count = 0;
            const uint32_t *queue = s->queue[level & 1];
            if (here <= EVEN) {
#pragma omp for schedule(static) nowait
                for (size_t q = 0; q < here; q++) {
                    count = expand(s, queue[q], level + 1, found, count);
                }
            } else {
#pragma omp for schedule(dynamic, CHUNK) nowait
                for (size_t q = 0; q < here; q++) {
                    count = expand(s, queue[q], level + 1, found, count);
                }
            }
            size_t at =
                count ? __atomic_fetch_add(&size[(level + 1) & 1], count, __ATOMIC_RELAXED) : 0;
            memcpy(s->queue[(level + 1) & 1] + at, found, count * sizeof *found);
#pragma omp barrier
#pragma omp single
            size[level & 1] = 0;
        }
    }
}

static void collect_bfs(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((graph *)state)->dist, p->out_bytes[0]);
}

/* PageRank */

static void *prepare_pagerank(const peer_instance *p) {
    graph *s = prepare_graph(p);
    if (s) {
        s->rank = peer_room(s->vertices * sizeof *s->rank);
        s->share = peer_room(s->vertices * sizeof *s->share);
        s->rounds = p->size[2];
    }
    return s;
}

static void run_pagerank(void *state) {
    graph *s = state;
    const uint32_t *row = s->row, *col = s->col;
    float n = (float)s->vertices, damping = 0.85f, base = (1.0f - damping) / n;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t v = 0; v < s->vertices; v++) {
            s->rank[v] = 1.0f / n;
        }
        for (size_t k = 0; k < s->rounds; k++) {
#pragma omp for schedule(static)
            for (size_t v = 0; v < s->vertices; v++) {
                uint32_t degree = row[v + 1] - row[v];
                s->share[v] = degree ? s->rank[v] / (float)degree : 0.0f;
            }
#pragma omp for schedule(dynamic, 1024)
            for (size_t v = 0; v < s->vertices; v++) {
                float given = 0.0f;
                for (uint32_t e = row[v]; e < row[v + 1]; e++) {
                    given += s->share[col[e]];
                }
                s->rank[v] = base + damping * given;
            }
        }
    }
}

static void collect_pagerank(void *state, const peer_instance *p) {
    memcpy(p->out[0], ((graph *)state)->rank, p->out_bytes[0]);
}

/* Closure: a row of bits per vertex, or-ed from the rows of its successors, until two sweeps change
 * nothing in the second. */

static void *prepare_closure(const peer_instance *p) {
    graph *s = prepare_graph(p);
    if (s) {
        s->words = (s->vertices + 31) / 32;
        s->reach = peer_room(s->vertices * s->words * sizeof *s->reach);
        s->next = peer_room(s->vertices * s->words * sizeof *s->next);
    }
    return s;
}

typedef uint32_t set_vector __attribute__((vector_size(PEER_VECTOR)));

/* One row, four vectors of it at a time in registers; whether it has grown. */
static inline uint32_t join(const graph *s, const uint32_t *restrict from, uint32_t *restrict to,
                            size_t v) {
    enum { PARTS = 4, PART = PEER_VECTOR / sizeof(uint32_t), BLOCK = PARTS * PART };
    size_t words = s->words, first = 0;
    const uint32_t *old = from + v * words;
    set_vector more = {0};
    uint32_t grown = 0;
    for (; first + BLOCK <= words; first += BLOCK) {
        set_vector was[PARTS], set[PARTS];
        memcpy(was, old + first, sizeof was);
        memcpy(set, old + first, sizeof set);
        for (uint32_t e = s->row[v]; e < s->row[v + 1]; e++) {
            const uint32_t *other = from + s->col[e] * words + first;
#pragma GCC unroll 4
            for (size_t i = 0; i < PARTS; i++) {
                set_vector part;
                memcpy(&part, other + i * PART, sizeof part);
                set[i] |= part;
            }
        }
#pragma GCC unroll 4
        for (size_t i = 0; i < PARTS; i++) {
            more |= set[i] ^ was[i];
        }
        memcpy(to + v * words + first, set, sizeof set);
    }
    for (; first < words; first++) {
        uint32_t set = old[first];
        for (uint32_t e = s->row[v]; e < s->row[v + 1]; e++) {
            set |= from[s->col[e] * words + first];
        }
        grown |= set ^ old[first];
        to[v * words + first] = set;
    }
    for (size_t i = 0; i < PART; i++) {
        grown |= more[i];
    }
    return grown;
}

static void run_closure(void *state) {
    graph *s = state;
    uint32_t changed[2] = {0, 0}, trips = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (size_t v = 0; v < s->vertices; v++) {
            memset(s->reach + v * s->words, 0, s->words * sizeof *s->reach);
            s->reach[v * s->words + v / 32] = 1u << (v % 32);
        }
        uint32_t trip = 0, more = 1;
        while (more) {
#pragma omp for schedule(static)
            for (size_t v = 0; v < s->vertices; v++) {
                join(s, s->reach, s->next, v);
            }
#pragma omp single nowait
            changed[1 - (trip & 1)] = 0;
            uint32_t mine = 0;
#pragma omp for schedule(static) nowait
            for (size_t v = 0; v < s->vertices; v++) {
                mine |= join(s, s->next, s->reach, v);
            }
            if (mine) {
                __atomic_store_n(&changed[trip & 1], 1, __ATOMIC_RELAXED);
            }
#pragma omp barrier
            more = __atomic_load_n(&changed[trip & 1], __ATOMIC_RELAXED);
            trip++;
        }
#pragma omp single
        trips = trip;
    }
    s->trips = trips;
}

static void collect_closure(void *state, const peer_instance *p) {
    graph *s = state;
    memcpy(p->out[0], s->reach, p->out_bytes[0]);
    memcpy(p->out[1], &s->trips, p->out_bytes[1]);
}

const peer peer_bfs = {"bfs", prepare_bfs, NULL, run_bfs, collect_bfs};
const peer peer_pagerank = {"pagerank", prepare_pagerank, NULL, run_pagerank, collect_pagerank};
const peer peer_closure = {"closure", prepare_closure, NULL, run_closure, collect_closure};
