/* Ends: two searches over the blocks. Lanes can have ended in what can be reached from a block in
 * which they may end. Whether any is left matters behind such a block if a loop, a collective or
 * an operation over the grid can be reached: the first would go round for nobody, perhaps for ever,
 * the others do not happen then.
 * A straight rest is launched in vain at worst. */
#include "split/ends.h"

#include "split/carry.h"

/* Only while `ends` is made: a loop or a collective can be reached. */
enum { MATTERS = 128 };

static bool may_end(const vyre_blocks *blocks, const vyre_program_view *p, const vyre_block *b) {
    for (uint32_t i = b->first; i != VYRE_NONE; i = blocks->items.data[i].next) {
        const vyre_item *item = &blocks->items.data[i];
        for (vyre_stmt s = item->begin; item->kind == VYRE_ITEM_RANGE && s < item->end; s++) {
            if (p->stmts[s].op == VYRE_STMT_EXIT ||
                (p->stmts[s].op == VYRE_STMT_TRAP && vyre_block_goes_on(blocks, b))) {
                return true;
            }
        }
    }
    return false;
}

static void visit(uint8_t *ends, uint32_t block, uint8_t bit, uint32_t *stack, uint32_t *top) {
    if (!(ends[block] & bit)) {
        ends[block] |= bit;
        stack[(*top)++] = block;
    }
}

static void spread_forwards(uint8_t *ends, const vyre_blocks *blocks, uint32_t *stack) {
    for (uint32_t start = 0; start < blocks->list.count; start++) {
        uint32_t top = 0;
        for (uint32_t at = ends[start] & VYRE_MAY_END ? start : VYRE_NONE; at != VYRE_NONE;
             at = top > 0 ? stack[--top] : VYRE_NONE) {
            const vyre_block *b = &blocks->list.data[at];
            if (b->exit != VYRE_EXIT_END) {
                visit(ends, b->next, VYRE_HAS_ENDED, stack, &top);
            }
            if (b->exit == VYRE_EXIT_BRANCH) {
                visit(ends, b->otherwise, VYRE_HAS_ENDED, stack, &top);
            }
        }
    }
}

static void spread_backwards(uint8_t *ends, const vyre_blocks *blocks, const vyre_program_view *p,
                             vyre_presences *found) {
    for (uint32_t start = 0; start < blocks->list.count; start++) {
        const vyre_block *b = &blocks->list.data[start];
        const uint8_t op = b->sync != VYRE_NONE ? p->stmts[b->sync].op : (uint8_t)VYRE_STMT_COUNT;
        const bool collective = vyre_is_collective(op) || op == VYRE_STMT_COMBINE;
        uint32_t top = 0;
        if (b->depth > 0 || collective) {
            visit(ends, start, MATTERS, found->stack, &top);
        }
        while (top > 0) {
            const uint32_t at = found->stack[--top];
            for (uint32_t i = found->first_pred[at]; i < found->first_pred[at + 1]; i++) {
                visit(ends, found->preds[i], MATTERS, found->stack, &top);
            }
        }
    }
}

void vyre_ends_find(uint8_t *ends, const vyre_blocks *blocks, const vyre_program_view *p,
                    vyre_presences *found) {
    for (uint32_t i = 0; i < blocks->list.count; i++) {
        const vyre_block *b = &blocks->list.data[i];
        if (b->exit != VYRE_EXIT_END && may_end(blocks, p, b)) {
            ends[i] |= VYRE_MAY_END;
        }
    }
    spread_forwards(ends, blocks, found->stack);
    spread_backwards(ends, blocks, p, found);
    for (uint32_t i = 0; i < blocks->list.count; i++) {
        if (ends[i] & VYRE_MAY_END && ends[i] & MATTERS) {
            ends[i] |= VYRE_ASKS_FOR_LIFE;
        }
        ends[i] &= (uint8_t)~MATTERS;
    }
}
