/* Presences and liveness. An entity is followed from each use back over the blocks that do not kill
 * it, one entity after the other, with one array over the blocks that is never cleared. */
#include "split/presence.h"

#include <string.h>

static uint32_t successors(const vyre_block *b, uint32_t out[2]) {
    out[0] = b->next;
    out[1] = b->otherwise;
    return b->preds == 0 || b->exit == VYRE_EXIT_END ? 0 : b->exit == VYRE_EXIT_NEXT ? 1 : 2;
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
    if (!found->head || !found->at || !found->owner || !found->preds || !found->first_pred ||
        !found->stack) {
        return false;
    }
    memset(found->head, 0xff, entities * sizeof *found->head);
    memset(found->owner, 0xff, count * sizeof *found->owner);
    find_preds(found, blocks);
    return true;
}

void vyre_presences_finish(vyre_presences *found) {
    const vyre_allocator *a = &found->allocator;
    size_t count = found->block_count;
    vyre_vec_free(a, &found->list);
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

/* Goes back from the blocks on the stack, at whose start the entity is alive. */
static void trace(vyre_presences *found, uint32_t entity, uint32_t top) {
    while (top > 0 && !found->failed) {
        uint32_t block = found->stack[--top];
        for (uint32_t i = found->first_pred[block]; i < found->first_pred[block + 1]; i++) {
            uint32_t pred = found->preds[i];
            uint32_t before = vyre_presence_add_open(found, entity, pred, VYRE_LIVE_OUT);
            if (!(before & (VYRE_KILLS | VYRE_LIVE_IN)) && !found->failed) {
                (void)vyre_presence_add_open(found, entity, pred, VYRE_LIVE_IN);
                found->stack[top++] = pred;
            }
        }
    }
}

void vyre_presences_solve(vyre_presences *found) {
    memset(found->owner, 0xff, found->block_count * sizeof *found->owner);
    for (uint32_t e = 0; e < found->entity_count && !found->failed; e++) {
        uint32_t top = 0;
        vyre_presences_open(found, e);
        VYRE_EACH_PRESENCE(found, e, p) {
            p->flags &= ~(uint32_t)(VYRE_LIVE_IN | VYRE_LIVE_OUT);
            if (p->flags & VYRE_USES) {
                p->flags |= VYRE_LIVE_IN;
                found->stack[top++] = p->block;
            }
        }
        trace(found, e, top);
    }
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
