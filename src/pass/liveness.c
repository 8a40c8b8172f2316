/* Liveness, entity by entity: from each use back over the blocks that do not kill the entity. That
 * costs as much as there are uses and pairs of a block and an entity alive at its end, which is
 * what a schedule carries anyway; no set of all entities is kept for a block. */
#include "pass/liveness.h"

#include <string.h>

bool vyre_presences_sort(vyre_presences *found, bool by_block, uint32_t *first, uint32_t keys,
                         const vyre_allocator *a) {
    uint32_t count = found->count;
    vyre_presence *sorted = vyre_alloc(a, found->capacity, sizeof *sorted);
    if (!sorted) {
        return false;
    }
    memset(first, 0, ((size_t)keys + 1) * sizeof *first);
    for (uint32_t i = 0; i < count; i++) {
        const vyre_presence *f = &found->data[i];
        first[(by_block ? f->block : f->entity) + 1]++;
    }
    for (uint32_t k = 0; k < keys; k++) {
        first[k + 1] += first[k];
    }
    for (uint32_t i = 0; i < count; i++) {
        const vyre_presence *f = &found->data[i];
        sorted[first[by_block ? f->block : f->entity]++] = *f;
    }
    memmove(first + 1, first, keys * sizeof *first); /* each has moved to the next one's place */
    first[0] = 0;
    vyre_free(a, found->data, found->capacity, sizeof *found->data);
    found->data = sorted;
    return true;
}

/* The way back: predecessors of each block, and what is known of one entity at each. */
typedef struct tracer {
    const vyre_allocator *a;
    vyre_presences *found;
    uint32_t blocks;
    uint32_t *preds, *first_pred; /* per block + 1 */
    uint32_t edges;
    uint32_t *at;    /* per block: its presence of the entity; valid if `owner` says so */
    uint32_t *owner; /* per block: the entity */
    uint32_t *stack; /* blocks at whose start the entity is alive */
    bool failed;     /* out of memory */
} tracer;

static uint32_t successors(const vyre_block *b, uint32_t out[2]) {
    out[0] = b->next;
    out[1] = b->otherwise;
    return b->preds == 0 || b->exit == VYRE_EXIT_END ? 0 : b->exit == VYRE_EXIT_NEXT ? 1 : 2;
}

static bool tracer_init(tracer *t, const vyre_blocks *list) {
    uint32_t blocks = t->blocks, to[2];
    t->edges = 2 * blocks; /* at most */
    t->preds = vyre_alloc(t->a, t->edges, sizeof *t->preds);
    t->first_pred = vyre_alloc_zeroed(t->a, (size_t)blocks + 1, sizeof *t->first_pred);
    t->at = vyre_alloc(t->a, blocks, sizeof *t->at);
    t->owner = vyre_alloc(t->a, blocks, sizeof *t->owner);
    t->stack = vyre_alloc(t->a, blocks, sizeof *t->stack);
    if (!t->preds || !t->first_pred || !t->at || !t->owner || !t->stack) {
        return false;
    }
    memset(t->owner, 0xff, blocks * sizeof *t->owner);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t count = successors(&list->list.data[b], to);
        for (uint32_t k = 0; k < count; k++) {
            t->first_pred[to[k]]++;
        }
    }
    for (uint32_t b = 0; b < blocks; b++) {
        t->first_pred[b + 1] += t->first_pred[b];
    }
    for (uint32_t b = blocks; b-- > 0;) {
        uint32_t count = successors(&list->list.data[b], to);
        for (uint32_t k = 0; k < count; k++) {
            t->preds[--t->first_pred[to[k]]] = b;
        }
    }
    return true;
}

static void tracer_finish(tracer *t) {
    uint32_t blocks = t->blocks;
    vyre_free(t->a, t->preds, t->edges, sizeof *t->preds);
    vyre_free(t->a, t->first_pred, (size_t)blocks + 1, sizeof *t->first_pred);
    vyre_free(t->a, t->at, blocks, sizeof *t->at);
    vyre_free(t->a, t->owner, blocks, sizeof *t->owner);
    vyre_free(t->a, t->stack, blocks, sizeof *t->stack);
}

/* Marks the entity as alive at the end of a block; true if it is alive at its start from now on. */
static bool reaches_start(tracer *t, uint32_t block, uint32_t entity) {
    if (t->owner[block] != entity) {
        t->owner[block] = entity;
        t->at[block] = t->found->count;
        vyre_presence through = {.entity = entity, .block = block};
        if (!vyre_vec_push(t->a, t->found, through)) {
            t->failed = true;
            return false;
        }
    }
    uint32_t *flags = &t->found->data[t->at[block]].flags;
    bool was_alive = (*flags & VYRE_LIVE_IN) != 0;
    *flags |= VYRE_LIVE_OUT | (*flags & VYRE_KILLS ? 0 : VYRE_LIVE_IN);
    return !was_alive && (*flags & VYRE_LIVE_IN);
}

/* The entity was found at [begin, end). */
static void trace(tracer *t, uint32_t begin, uint32_t end) {
    uint32_t entity = t->found->data[begin].entity, top = 0;
    for (uint32_t i = begin; i < end; i++) {
        vyre_presence *f = &t->found->data[i];
        t->owner[f->block] = entity;
        t->at[f->block] = i;
        if (f->flags & VYRE_USES) {
            f->flags |= VYRE_LIVE_IN;
            t->stack[top++] = f->block;
        }
    }
    while (top > 0) {
        uint32_t block = t->stack[--top];
        for (uint32_t i = t->first_pred[block]; i < t->first_pred[block + 1]; i++) {
            if (reaches_start(t, t->preds[i], entity)) {
                t->stack[top++] = t->preds[i];
            }
        }
    }
}

bool vyre_liveness_solve(vyre_presences *found, const vyre_blocks *blocks, uint32_t entities,
                         uint32_t *first, const vyre_allocator *a) {
    tracer t = {.a = a, .found = found, .blocks = blocks->list.count};
    bool ok = tracer_init(&t, blocks) && vyre_presences_sort(found, false, first, entities, a);
    for (uint32_t e = 0; ok && e < entities && !t.failed; e++) {
        if (first[e] < first[e + 1]) {
            trace(&t, first[e], first[e + 1]);
        }
    }
    tracer_finish(&t);
    return ok && !t.failed && vyre_presences_sort(found, false, first, entities, a);
}
