/* Minimum cut by Dinic's algorithm.
 *
 * The network: each value is an edge in -> out of its store cost. Operands lead to users (out ->
 * in, unbounded). The source leads to the `in` of every value with the cost of computing it
 * (unbounded if that can't be); wanted values lead to the sink. A cut then pays `store` for a value
 * whose in is on the source's side and whose out is on the sink's, and `recompute` for one that
 * lies on the sink's side as a whole. Ties are broken towards recomputing nothing: the cut nearest
 * the sink is taken, so the choice is deterministic. */
#include "split/cut.h"

#include <string.h>

typedef struct edge {
    uint32_t to;
    uint64_t room; /* the paired edge (number ^ 1) holds the flow */
} edge;

typedef struct network {
    const vyre_allocator *a;
    VYRE_VEC(edge) edges;
    VYRE_VEC(uint32_t) next; /* per edge: next edge of the same node */
    uint32_t *head, *level, *at, *queue;
    uint32_t node_count;
    bool failed;
} network;

static const uint64_t unbounded = UINT64_MAX / 4;

static void add_edge(network *n, uint32_t from, uint32_t to, uint64_t room) {
    for (int back = 0; back < 2; back++) {
        uint32_t node = back ? to : from;
        edge e = {.to = back ? from : to, .room = back ? 0 : room};
        if (n->failed || !vyre_vec_push(n->a, &n->edges, e) ||
            !vyre_vec_push(n->a, &n->next, n->head[node])) {
            n->failed = true;
            return;
        }
        n->head[node] = n->edges.count - 1;
    }
}

/* Levels of all nodes by distance from `from`; true if `to` can be reached. */
static bool find_levels(network *n, uint32_t from, uint32_t to) {
    const edge *edges = n->edges.data;
    if (!edges) {
        return false;
    }
    memset(n->level, 0xff, n->node_count * sizeof *n->level);
    uint32_t first = 0, last = 0;
    n->queue[last++] = from;
    n->level[from] = 0;
    while (first < last) {
        uint32_t node = n->queue[first++];
        for (uint32_t e = n->head[node]; e != UINT32_MAX; e = n->next.data[e]) {
            uint32_t other = edges[e].to;
            if (edges[e].room > 0 && n->level[other] == UINT32_MAX) {
                n->level[other] = n->level[node] + 1;
                n->queue[last++] = other;
            }
        }
    }
    return n->level[to] != UINT32_MAX;
}

/* One augmenting path along the levels, found with an explicit stack of edges (the queue). */
static bool augment(network *n, uint32_t from, uint32_t to) {
    edge *edges = n->edges.data;
    if (!edges) {
        return false;
    }
    uint32_t depth = 0, node = from;
    while (node != to) {
        uint32_t e = n->at[node];
        while (e != UINT32_MAX &&
               (edges[e].room == 0 || n->level[edges[e].to] != n->level[node] + 1)) {
            e = n->next.data[e];
        }
        n->at[node] = e;
        if (e != UINT32_MAX) {
            n->queue[depth++] = e;
            node = edges[e].to;
        } else if (depth == 0) {
            return false;
        } else { /* a dead end: never come here again on this level graph */
            n->level[node] = UINT32_MAX;
            node = edges[n->queue[--depth] ^ 1].to;
        }
    }
    uint64_t flow = unbounded;
    for (uint32_t i = 0; i < depth; i++) {
        uint64_t room = edges[n->queue[i]].room;
        flow = room < flow ? room : flow;
    }
    for (uint32_t i = 0; i < depth; i++) {
        edges[n->queue[i]].room -= flow;
        edges[n->queue[i] ^ 1].room += flow;
    }
    return true;
}

/* Nodes that can still reach the sink are on its side; the rest is on the source's, so that the cut
 * lies as near to the sink as it can. */
static void find_sink_side(network *n, uint32_t sink) {
    const edge *edges = n->edges.data;
    memset(n->level, 0xff, n->node_count * sizeof *n->level);
    if (!edges) {
        return;
    }
    uint32_t first = 0, last = 0;
    n->queue[last++] = sink;
    n->level[sink] = 0;
    while (first < last) {
        uint32_t node = n->queue[first++];
        for (uint32_t e = n->head[node]; e != UINT32_MAX; e = n->next.data[e]) {
            uint32_t other = edges[e].to; /* the edge other -> node is the paired one */
            if (edges[e ^ 1].room > 0 && n->level[other] == UINT32_MAX) {
                n->level[other] = 1;
                n->queue[last++] = other;
            }
        }
    }
}

static void build(network *n, const vyre_cut_value *values, uint32_t count,
                  const uint32_t *operands, uint32_t source, uint32_t sink) {
    for (uint32_t v = 0; v < count; v++) {
        const vyre_cut_value *value = &values[v];
        add_edge(n, 2 * v, 2 * v + 1, value->store);
        add_edge(n, source, 2 * v, value->recompute == UINT32_MAX ? unbounded : value->recompute);
        if (value->wanted) {
            add_edge(n, 2 * v + 1, sink, unbounded);
        }
        for (uint32_t i = 0; i < value->operand_count; i++) {
            add_edge(n, 2 * operands[value->first_operand + i] + 1, 2 * v, unbounded);
        }
    }
}

static void store_wanted(const vyre_cut_value *values, uint32_t count, uint8_t *out_choice) {
    for (uint32_t v = 0; v < count; v++) {
        out_choice[v] = values[v].wanted ? VYRE_CUT_STORE : VYRE_CUT_NOTHING;
    }
}

vyre_status vyre_cut(const vyre_cut_value *values, uint32_t count, const uint32_t *operands,
                     const vyre_allocator *a, uint8_t *out_choice) {
    if (count > VYRE_CUT_MOST) {
        store_wanted(values, count, out_choice);
        return VYRE_OK;
    }
    uint32_t source = 2 * count, sink = source + 1;
    network n = {.a = a, .node_count = sink + 1};
    n.head = vyre_alloc(a, n.node_count, sizeof *n.head);
    n.level = vyre_alloc(a, n.node_count, sizeof *n.level);
    n.at = vyre_alloc(a, n.node_count, sizeof *n.at);
    n.queue = vyre_alloc(a, n.node_count, sizeof *n.queue);
    n.failed = !n.head || !n.level || !n.at || !n.queue;
    if (!n.failed) {
        memset(n.head, 0xff, n.node_count * sizeof *n.head);
        build(&n, values, count, operands, source, sink);
    }
    while (!n.failed && find_levels(&n, source, sink)) {
        memcpy(n.at, n.head, n.node_count * sizeof *n.at);
        while (augment(&n, source, sink)) {
        }
    }
    if (!n.failed) {
        find_sink_side(&n, sink);
        for (uint32_t v = 0; v < count; v++) {
            bool in = n.level[(size_t)2 * v] != UINT32_MAX,
                 out = n.level[(size_t)2 * v + 1] != UINT32_MAX;
            out_choice[v] = !out ? VYRE_CUT_NOTHING : in ? VYRE_CUT_RECOMPUTE : VYRE_CUT_STORE;
        }
    }
    vyre_vec_free(a, &n.edges);
    vyre_vec_free(a, &n.next);
    vyre_free(a, n.head, n.node_count, sizeof *n.head);
    vyre_free(a, n.level, n.node_count, sizeof *n.level);
    vyre_free(a, n.at, n.node_count, sizeof *n.at);
    vyre_free(a, n.queue, n.node_count, sizeof *n.queue);
    return n.failed ? VYRE_OUT_OF_MEMORY : VYRE_OK;
}
