/* Offsets for any number of buffers: an allocator is run over the schedule, group by group, and
 * where it puts things is the plan. Free blocks are kept in bins by size (two-level segregated fit,
 * after Masmano's TLSF), neighbours are joined when freed, so every step takes constant time. */
#include <string.h>

#include "plan/layout.h"

enum { FINE_BITS = 2, BINS = 64 << FINE_BITS, LOOK = 8, NONE = -1 };

typedef struct block {
    uint64_t offset, size;
    int32_t below, above; /* neighbours by address */
    int32_t prev, next;   /* in the bin */
    bool free;
} block;

typedef struct sweep {
    block *blocks;
    int32_t *spare; /* unused block numbers */
    int32_t spare_count;
    int32_t top; /* the block with the highest address */
    int32_t bin[BINS];
    uint64_t end; /* first byte never used */
} sweep;

static uint32_t bin_of(uint64_t size) {
    uint32_t log = 63 - (uint32_t)__builtin_clzll(size);
    uint32_t fine = log >= FINE_BITS ? (uint32_t)(size >> (log - FINE_BITS)) : 0;
    return log << FINE_BITS | (fine & ((1u << FINE_BITS) - 1));
}

static void bin_add(sweep *s, int32_t b) {
    int32_t *head = &s->bin[bin_of(s->blocks[b].size)];
    s->blocks[b].free = true;
    s->blocks[b].prev = NONE;
    s->blocks[b].next = *head;
    if (*head != NONE) {
        s->blocks[*head].prev = b;
    }
    *head = b;
}

static void bin_remove(sweep *s, int32_t b) {
    block *it = &s->blocks[b];
    it->free = false;
    if (it->prev == NONE) {
        s->bin[bin_of(it->size)] = it->next;
    } else {
        s->blocks[it->prev].next = it->next;
    }
    if (it->next != NONE) {
        s->blocks[it->next].prev = it->prev;
    }
}

/* A free block that is large enough: the first few of its own bin, then any of a larger one. */
static int32_t find(const sweep *s, uint64_t size) {
    uint32_t bin = bin_of(size);
    int32_t b = s->bin[bin];
    for (int look = 0; look < LOOK && b != NONE; look++, b = s->blocks[b].next) {
        if (s->blocks[b].size >= size) {
            return b;
        }
    }
    while (++bin < BINS) {
        if (s->bin[bin] != NONE) {
            return s->bin[bin];
        }
    }
    return NONE;
}

static int32_t new_block(sweep *s, uint64_t offset, uint64_t size, int32_t below, int32_t above) {
    int32_t b = s->spare[--s->spare_count];
    s->blocks[b] = (block){.offset = offset, .size = size, .below = below, .above = above};
    if (below != NONE) {
        s->blocks[below].above = b;
    }
    if (above != NONE) {
        s->blocks[above].below = b;
    } else {
        s->top = b;
    }
    return b;
}

static void drop_block(sweep *s, int32_t b) {
    int32_t below = s->blocks[b].below, above = s->blocks[b].above;
    if (below != NONE) {
        s->blocks[below].above = above;
    }
    if (above != NONE) {
        s->blocks[above].below = below;
    } else {
        s->top = below;
    }
    s->spare[s->spare_count++] = b;
}

static int32_t allocate(sweep *s, uint64_t size) {
    int32_t b = find(s, size);
    if (b == NONE && s->top != NONE && s->blocks[s->top].free) {
        b = s->top;
        bin_remove(s, b);
        s->end = s->blocks[b].offset + size;
        s->blocks[b].size = size;
        return b;
    }
    if (b == NONE) {
        b = new_block(s, s->end, size, s->top, NONE);
        s->end += size;
        return b;
    }
    bin_remove(s, b);
    if (s->blocks[b].size > size) {
        uint64_t rest = s->blocks[b].size - size;
        s->blocks[b].size = size;
        bin_add(s, new_block(s, s->blocks[b].offset + size, rest, b, s->blocks[b].above));
    }
    return b;
}

static void release(sweep *s, int32_t b) {
    int32_t below = s->blocks[b].below, above = s->blocks[b].above;
    if (above != NONE && s->blocks[above].free) {
        bin_remove(s, above);
        s->blocks[b].size += s->blocks[above].size;
        drop_block(s, above);
    }
    if (below != NONE && s->blocks[below].free) {
        bin_remove(s, below);
        s->blocks[below].size += s->blocks[b].size;
        drop_block(s, b);
        b = below;
    }
    bin_add(s, b);
}

/* Buffers by the group that needs them last: begin[g] to begin[g + 1]. */
static void sort_by_last(const vyre_plan_layout *layout, uint32_t *begin, uint32_t *by_last) {
    memset(begin, 0, ((size_t)layout->groups + 2) * sizeof *begin);
    for (uint32_t i = 0; i < layout->count; i++) {
        begin[layout->buffer[i].last + 2]++;
    }
    for (uint32_t g = 0; g < layout->groups; g++) {
        begin[g + 2] += begin[g + 1];
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        by_last[begin[layout->buffer[i].last + 1]++] = i;
    }
}

vyre_status vyre_plan_layout_sweep(vyre_planner *planner, vyre_plan_layout *layout,
                                   vyre_diag *diag) {
    vyre_plan_mark mark = vyre_planner_mark(planner);
    size_t count = layout->count, most = 2 * count + 2;
    sweep s = {.top = NONE, .end = layout->base};
    s.blocks = vyre_planner_take(planner, most, sizeof *s.blocks, "arena blocks");
    s.spare = s.blocks ? vyre_planner_take(planner, most, sizeof *s.spare, "arena blocks") : NULL;
    int32_t *at = s.spare ? vyre_planner_take(planner, count, sizeof *at, "arena blocks") : NULL;
    uint32_t *by_last = at ? vyre_planner_take(planner, count, sizeof *by_last, "lifetimes") : NULL;
    uint32_t *begin =
        by_last ? vyre_planner_take(planner, (size_t)layout->groups + 2, sizeof *begin, "lifetimes")
                : NULL;
    if (!begin) {
        return vyre_planner_storage(planner, diag);
    }
    for (size_t i = most; i-- > 0;) {
        s.spare[s.spare_count++] = (int32_t)i;
    }
    memset(s.bin, 0xff, sizeof s.bin);
    sort_by_last(layout, begin, by_last);
    uint32_t next = 0;
    for (uint32_t g = 0; g < layout->groups; g++) {
        for (uint32_t k = g ? begin[g - 1] : 0; g && k < begin[g]; k++) {
            release(&s, at[by_last[k]]);
        }
        for (; next < layout->count && layout->buffer[next].first == g; next++) {
            at[next] = allocate(&s, layout->buffer[next].size);
            layout->buffer[next].offset = s.blocks[at[next]].offset;
        }
    }
    layout->arena = s.end;
    vyre_planner_release(planner, mark);
    return VYRE_OK;
}
