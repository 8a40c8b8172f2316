/* Presences and liveness. Liveness is found for 64 entities at a time, backwards from uses: a bit
 * of a word for each. Blocks are visited in sweeps from the last that waits down to the first; only
 * an edge that leads back asks for another sweep, so there are about as many as loops nest. A batch
 * visits the blocks from its first definition to its last use. */
#include "split/presence.h"

#include <string.h>

static uint32_t successors(const vyre_block *b, uint32_t out[2]) {
    out[0] = b->next;
    out[1] = b->otherwise;
    return b->exit == VYRE_EXIT_END ? 0 : b->exit == VYRE_EXIT_NEXT ? 1 : 2;
}

static void find_preds(vyre_presences *found, const vyre_blocks *blocks) {
    uint32_t to[2];
    for (uint32_t b = 0; b < found->block_count; b++) {
        uint32_t count = successors(&blocks->list.data[b], to);
        for (uint32_t k = 0; k < count; k++) {
            found->first_pred[to[k]]++;
        }
    }
    for (uint32_t b = 0; b < found->block_count; b++) {
        found->first_pred[b + 1] += found->first_pred[b];
    }
    for (uint32_t b = found->block_count; b-- > 0;) {
        uint32_t count = successors(&blocks->list.data[b], to);
        for (uint32_t k = 0; k < count; k++) {
            found->preds[--found->first_pred[to[k]]] = b;
        }
    }
}

bool vyre_presences_init(vyre_presences *found, const vyre_blocks *blocks, uint32_t entities,
                         const vyre_allocator *a) {
    size_t count = blocks->list.count;
    *found = (vyre_presences){
        .allocator = *a, .entity_count = entities, .block_count = blocks->list.count};
    found->head = vyre_alloc(a, entities, sizeof *found->head);
    found->at = vyre_alloc(a, count, sizeof *found->at);
    found->owner = vyre_alloc(a, count, sizeof *found->owner);
    found->preds = vyre_alloc(a, 2 * count, sizeof *found->preds);
    found->first_pred = vyre_alloc_zeroed(a, count + 1, sizeof *found->first_pred);
    found->stack = vyre_alloc(a, count, sizeof *found->stack);
    found->run = vyre_alloc(a, entities, sizeof *found->run);
    found->lives = vyre_alloc_zeroed(a, count, sizeof *found->lives);
    found->waits = vyre_alloc_zeroed(a, count, sizeof *found->waits);
    if (!found->head || !found->at || !found->owner || !found->preds || !found->first_pred ||
        !found->stack || !found->run || !found->lives || !found->waits) {
        return false;
    }
    memset(found->head, 0xff, entities * sizeof *found->head);
    memset(found->run, 0xff, entities * sizeof *found->run);
    memset(found->owner, 0xff, count * sizeof *found->owner);
    find_preds(found, blocks);
    return true;
}

void vyre_presences_finish(vyre_presences *found) {
    const vyre_allocator *a = &found->allocator;
    size_t count = found->block_count;
    vyre_vec_free(a, &found->list);
    vyre_vec_free(a, &found->runs);
    vyre_free(a, found->run, found->entity_count, sizeof *found->run);
    vyre_free(a, found->lives, count, sizeof *found->lives);
    vyre_free(a, found->waits, count, sizeof *found->waits);
    vyre_free(a, found->head, found->entity_count, sizeof *found->head);
    vyre_free(a, found->at, count, sizeof *found->at);
    vyre_free(a, found->owner, count, sizeof *found->owner);
    vyre_free(a, found->preds, 2 * count, sizeof *found->preds);
    vyre_free(a, found->first_pred, count + 1, sizeof *found->first_pred);
    vyre_free(a, found->stack, count, sizeof *found->stack);
}

static uint32_t add_at(vyre_presences *found, uint32_t at, uint32_t flags) {
    uint32_t before = found->list.data[at].flags;
    found->list.data[at].flags |= flags;
    return before;
}

static void append(vyre_presences *found, uint32_t entity, uint32_t block, uint32_t flags) {
    vyre_presence made = {
        .entity = entity, .block = block, .flags = flags, .next = found->head[entity]};
    if (vyre_vec_push(&found->allocator, &found->list, made)) {
        found->head[entity] = found->list.count - 1;
    } else {
        found->failed = true;
    }
}

uint32_t vyre_presence_add(vyre_presences *found, uint32_t entity, uint32_t block, uint32_t flags) {
    uint32_t head = found->head[entity];
    if (head != VYRE_NONE && found->list.data[head].block == block) {
        return add_at(found, head, flags);
    }
    append(found, entity, block, flags);
    return 0;
}

void vyre_presences_open(vyre_presences *found, uint32_t entity) {
    VYRE_EACH_PRESENCE(found, entity, p) {
        found->owner[p->block] = entity;
        found->at[p->block] = (uint32_t)(p - found->list.data);
    }
}

uint32_t vyre_presence_add_open(vyre_presences *found, uint32_t entity, uint32_t block,
                                uint32_t flags) {
    if (found->owner[block] == entity) {
        return add_at(found, found->at[block], flags);
    }
    append(found, entity, block, flags);
    if (!found->failed) {
        found->owner[block] = entity;
        found->at[block] = found->head[entity];
    }
    return 0;
}

/* ---- liveness ---- */

enum { BATCH = 64 };

typedef struct batch {
    uint32_t entities[BATCH];
    uint32_t count;
    uint32_t low, high; /* blocks that were visited lie from low to high */
} batch;

static void widen(batch *to, uint32_t block) {
    to->low = block < to->low ? block : to->low;
    to->high = block > to->high ? block : to->high;
}

/* What is known before, and how many blocks use something. */
static uint32_t load(vyre_presences *found, batch *of) {
    uint32_t waiting = 0;
    of->low = UINT32_MAX;
    of->high = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        VYRE_EACH_PRESENCE(found, of->entities[i], p) {
            vyre_block_lives *at = &found->lives[p->block];
            at->uses |= p->flags & VYRE_USES ? bit : 0;
            at->kills |= p->flags & VYRE_KILLS ? bit : 0;
            widen(of, p->block);
            if (p->flags & VYRE_USES && !found->waits[p->block]) {
                found->waits[p->block] = true;
                waiting++;
            }
        }
    }
    return waiting;
}

/* One sweep from block `from` down, over `waiting` blocks that wait there and those that will. How
 * many wait for the next sweep, the last of which is *out_from. */
static uint32_t sweep(vyre_presences *found, batch *of, uint32_t from, uint32_t waiting,
                      uint32_t *out_from) {
    uint32_t later = 0;
    *out_from = 0;
    for (uint32_t block = from + 1; waiting > 0;) {
        if (!found->waits[--block]) {
            continue;
        }
        vyre_block_lives *at = &found->lives[block];
        const uint64_t in = at->uses | (at->out & ~at->kills), more = in & ~at->in;
        found->waits[block] = false;
        waiting--;
        at->in = in;
        for (uint32_t i = found->first_pred[block]; more && i < found->first_pred[block + 1]; i++) {
            const uint32_t pred = found->preds[i];
            if (!(more & ~found->lives[pred].out)) {
                continue;
            }
            found->lives[pred].out |= more;
            widen(of, pred);
            if (pred >= block) {
                *out_from = pred > *out_from ? pred : *out_from;
            }
            if (!found->waits[pred]) {
                found->waits[pred] = true;
                waiting += pred < block;
                later += pred >= block;
            }
        }
    }
    return later;
}

static void add_run(vyre_presences *found, uint32_t *head, uint32_t first, uint32_t end) {
    const vyre_run run = {.first = first, .end = end, .next = *head};
    if (vyre_vec_push(&found->allocator, &found->runs, run)) {
        *head = found->runs.count - 1;
    } else {
        found->failed = true;
    }
}

static uint32_t lowest_bit(uint64_t bits) {
    uint32_t n = 0;
    for (uint32_t half = 32; half > 0; half /= 2) {
        if (!(bits & ((UINT64_C(1) << half) - 1))) {
            bits >>= half;
            n += half;
        }
    }
    return n;
}

/* From the last block to the first: a run begins where a bit comes, and ends where it goes. */
static void find_runs(vyre_presences *found, const batch *of) {
    uint32_t end[BATCH] = {0};
    uint64_t behind = 0;
    for (uint32_t block = of->high + 1;; block--) { /* one past it: its end */
        const uint64_t out = block > of->low ? found->lives[block - 1].out : 0;
        for (uint64_t changed = out ^ behind; changed; changed &= changed - 1) {
            const uint32_t i = lowest_bit(changed);
            if (out >> i & 1) {
                end[i] = block;
            } else {
                add_run(found, &found->run[of->entities[i]], block, end[i]);
            }
        }
        behind = out;
        if (block <= of->low) {
            break;
        }
    }
}

static void mark(vyre_presences *found, const batch *of) {
    for (uint32_t i = 0; i < of->count; i++) {
        VYRE_EACH_PRESENCE(found, of->entities[i], p) {
            const vyre_block_lives *at = &found->lives[p->block];
            p->flags |=
                (at->in >> i & 1 ? VYRE_LIVE_IN : 0) | (at->out >> i & 1 ? VYRE_LIVE_OUT : 0);
        }
    }
}

static void solve(vyre_presences *found, batch *of) {
    uint32_t waiting = load(found, of), from = of->high;
    while (waiting > 0) {
        waiting = sweep(found, of, from, waiting, &from);
    }
    find_runs(found, of);
    mark(found, of);
    memset(found->lives + of->low, 0, ((size_t)of->high - of->low + 1) * sizeof *found->lives);
    of->count = 0;
}

static bool is_used(const vyre_presences *found, uint32_t entity) {
    VYRE_EACH_PRESENCE(found, entity, p) {
        if (p->flags & VYRE_USES) {
            return true;
        }
    }
    return false;
}

void vyre_presences_solve(vyre_presences *found) {
    batch next = {.count = 0};
    for (uint32_t i = 0; i < found->list.count; i++) {
        found->list.data[i].flags &= ~(uint32_t)(VYRE_LIVE_IN | VYRE_LIVE_OUT);
    }
    memset(found->run, 0xff, found->entity_count * sizeof *found->run);
    for (uint32_t e = 0; e < found->entity_count && !found->failed; e++) {
        if (is_used(found, e)) {
            next.entities[next.count++] = e;
        }
        if (next.count == BATCH) {
            solve(found, &next);
        }
    }
    if (next.count > 0 && !found->failed) {
        solve(found, &next);
    }
}

uint32_t vyre_runs_unite(vyre_presences *found, uint32_t x, uint32_t y) {
    if (x == VYRE_NONE || y == VYRE_NONE || x == y) {
        return x == VYRE_NONE ? y : x;
    }
    uint32_t head = VYRE_NONE, last = VYRE_NONE;
    while ((x != VYRE_NONE || y != VYRE_NONE) && !found->failed) {
        const vyre_run *a = vyre_run_at(found, x), *b = vyre_run_at(found, y);
        const bool takes_x = a && (!b || a->first <= b->first);
        const vyre_run *from = takes_x ? a : b;
        if (!from) {
            break;
        }
        const vyre_run run = *from;
        vyre_run *before = last == VYRE_NONE ? NULL : &found->runs.data[last];
        x = takes_x ? run.next : x;
        y = takes_x ? y : run.next;
        if (before && run.first <= before->end) {
            before->end = run.end > before->end ? run.end : before->end;
            continue;
        }
        uint32_t made = VYRE_NONE;
        add_run(found, &made, run.first, run.end);
        if (last == VYRE_NONE) {
            head = made;
        } else if (!found->failed) {
            found->runs.data[last].next = made;
        }
        last = made;
    }
    return head;
}

vyre_presence *vyre_presences_by_block(const vyre_presences *found, uint32_t *first) {
    vyre_presence *all = vyre_alloc(&found->allocator, found->list.count, sizeof *all);
    if (!all) {
        return NULL;
    }
    for (uint32_t i = 0; i < found->list.count; i++) {
        first[found->list.data[i].block]++;
    }
    for (uint32_t b = 0; b < found->block_count; b++) {
        first[b + 1] += first[b];
    }
    for (uint32_t e = found->entity_count; e-- > 0;) {
        VYRE_EACH_PRESENCE(found, e, p) {
            all[--first[p->block]] = *p;
        }
    }
    return all;
}
