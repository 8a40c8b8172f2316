/* Offsets for few buffers: greedy orders, then an exact search.
 *
 * The search places buffers in ascending order of offset, each directly on top of the highest
 * placed one it shares time with; any layout can be pushed down into this form (MiniMalloc's
 * canonical solutions). It only places a buffer that starts below where any other unplaced one
 * could end, since otherwise that other one could be slid underneath. A group whose unplaced
 * buffers no longer fit above what is placed ends the branch. */
#include <string.h>

#include "plan/layout.h"

static bool together(const vyre_plan_buffer *a, const vyre_plan_buffer *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* ---- greedy ---- */

typedef struct greedy {
    uint64_t *offset;
    uint32_t *order;  /* in which buffers are placed */
    uint32_t *placed; /* ascending by offset */
} greedy;

enum { BY_SIZE, BY_AREA, BY_LENGTH, ORDERS };

static double weight_of(const vyre_plan_buffer *b, int order) {
    double length = 1.0 + (double)(b->last - b->first), size = (double)b->size;
    return order == BY_SIZE ? size : order == BY_AREA ? size * length : length;
}

/* Stable insertion sort, heaviest first. */
static void sort_buffers(const vyre_plan_layout *layout, uint32_t *list, int order) {
    for (uint32_t k = 0; k < layout->count; k++) {
        double weight = weight_of(&layout->buffer[k], order);
        uint32_t place = k;
        while (place > 0 && weight_of(&layout->buffer[list[place - 1]], order) < weight) {
            list[place] = list[place - 1];
            place--;
        }
        list[place] = k;
    }
}

/* The lowest gap between placed buffers that live at the same time. */
static uint64_t lowest_gap(const vyre_plan_layout *layout, const greedy *g, uint32_t placed,
                           const vyre_plan_buffer *b) {
    uint64_t at = layout->base;
    for (uint32_t k = 0; k < placed; k++) {
        const vyre_plan_buffer *other = &layout->buffer[g->placed[k]];
        uint64_t offset = g->offset[g->placed[k]];
        if (!together(b, other)) {
            continue;
        }
        if (offset >= at && offset - at >= b->size) {
            break;
        }
        at = offset + other->size > at ? offset + other->size : at;
    }
    return at;
}

static uint64_t place_all(const vyre_plan_layout *layout, greedy *g) {
    uint64_t arena = layout->base;
    for (uint32_t k = 0; k < layout->count; k++) {
        uint32_t i = g->order[k], place = k;
        uint64_t offset = lowest_gap(layout, g, k, &layout->buffer[i]);
        while (place > 0 && g->offset[g->placed[place - 1]] > offset) {
            g->placed[place] = g->placed[place - 1];
            place--;
        }
        g->placed[place] = i;
        g->offset[i] = offset;
        uint64_t end = offset + layout->buffer[i].size;
        arena = end > arena ? end : arena;
    }
    return arena;
}

static void keep(vyre_plan_layout *layout, const uint64_t *offset, uint64_t arena) {
    for (uint32_t i = 0; i < layout->count; i++) {
        layout->buffer[i].offset = offset[i];
    }
    layout->arena = arena;
}

vyre_status vyre_plan_layout_greedy(vyre_planner *planner, vyre_plan_layout *layout,
                                    vyre_diag *diag) {
    vyre_plan_mark mark = vyre_planner_mark(planner);
    greedy g;
    g.offset = vyre_planner_take(planner, layout->count, sizeof *g.offset, "offsets");
    g.order =
        g.offset ? vyre_planner_take(planner, layout->count, sizeof *g.order, "offsets") : NULL;
    g.placed =
        g.order ? vyre_planner_take(planner, layout->count, sizeof *g.placed, "offsets") : NULL;
    if (!g.placed) {
        return vyre_planner_storage(planner, diag);
    }
    for (int order = 0; order < ORDERS && layout->arena > layout->lower_bound; order++) {
        sort_buffers(layout, g.order, order);
        uint64_t arena = place_all(layout, &g);
        if (arena < layout->arena) {
            keep(layout, g.offset, arena);
        }
    }
    vyre_planner_release(planner, mark);
    return VYRE_OK;
}

/* ---- exact ---- */

typedef struct exact {
    const vyre_plan_layout *layout;
    uint64_t offset[VYRE_LAYOUT_EXACT];
    uint64_t best[VYRE_LAYOUT_EXACT];
    uint64_t placed;                      /* set of buffers */
    uint64_t together[VYRE_LAYOUT_EXACT]; /* sets of buffers */
    uint32_t path[VYRE_LAYOUT_EXACT];
    uint64_t height; /* of the best layout; only lower ones are looked for */
} exact;

static uint64_t top_of(const exact *x, uint64_t buffers) {
    uint64_t top = x->layout->base;
    for (; buffers; buffers &= buffers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(buffers);
        uint64_t end = x->offset[i] + x->layout->buffer[i].size;
        top = end > top ? end : top;
    }
    return top;
}

/* Whether each group's unplaced buffers fit below the height, none lower than `floor`. It is
 * enough to look at the groups in which a buffer begins to live. */
static bool fits(const exact *x, uint64_t floor) {
    const vyre_plan_layout *layout = x->layout;
    for (uint32_t i = 0; i < layout->count; i++) {
        uint64_t alive = 0, left = 0;
        for (uint32_t k = 0; k < layout->count; k++) {
            const vyre_plan_buffer *b = &layout->buffer[k];
            if (b->first <= layout->buffer[i].first && layout->buffer[i].first <= b->last) {
                alive |= (uint64_t)1 << k;
                left += x->placed >> k & 1 ? 0 : b->size;
            }
        }
        uint64_t top = top_of(x, alive & x->placed);
        top = left && top < floor ? floor : top;
        if (top + left >= x->height) {
            return false;
        }
    }
    return true;
}

/* The next buffer to try at this depth, in the order of numbers after `after`; count when done. */
static uint32_t next_choice(exact *x, uint32_t depth, uint32_t after) {
    const vyre_plan_layout *layout = x->layout;
    uint64_t low = layout->base, ceiling = UINT64_MAX;
    uint32_t last = depth ? x->path[depth - 1] : 0;
    if (depth) {
        low = x->offset[last];
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        if (!(x->placed >> i & 1)) {
            x->offset[i] = top_of(x, x->together[i] & x->placed);
            uint64_t end = x->offset[i] + layout->buffer[i].size;
            ceiling = end < ceiling ? end : ceiling;
        }
    }
    for (uint32_t i = after; i < layout->count; i++) {
        bool ordered = x->offset[i] > low || (x->offset[i] == low && (!depth || i > last));
        if (!(x->placed >> i & 1) && ordered && x->offset[i] < ceiling) {
            return i;
        }
    }
    return layout->count;
}

/* True when the search ended by itself, so that x->height is the least. */
static bool search_all(exact *x, uint64_t node_limit) {
    uint32_t count = x->layout->count, depth = 0, try = 0;
    for (uint64_t nodes = 0; nodes < node_limit; nodes++) {
        uint32_t i = next_choice(x, depth, try);
        if (i < count) {
            x->placed |= (uint64_t)1 << i;
            if (fits(x, x->offset[i])) {
                x->path[depth++] = i;
                try = 0;
                if (depth < count) {
                    continue;
                }
                x->height = top_of(x, x->placed);
                memcpy(x->best, x->offset, sizeof x->best);
                if (x->height == x->layout->lower_bound) {
                    return true;
                }
                i = x->path[--depth];
            }
        } else if (depth == 0) {
            return true;
        } else {
            i = x->path[--depth];
        }
        x->placed &= ~((uint64_t)1 << i);
        try = i + 1;
    }
    return false;
}

vyre_status vyre_plan_layout_search(vyre_planner *planner, vyre_plan_layout *layout,
                                    uint64_t node_limit, vyre_diag *diag) {
    vyre_plan_mark mark = vyre_planner_mark(planner);
    exact *x = vyre_planner_take_zeroed(planner, 1, sizeof *x, "arena search");
    if (!x) {
        return vyre_planner_storage(planner, diag);
    }
    x->layout = layout;
    x->height = layout->arena;
    for (uint32_t i = 0; i < layout->count; i++) {
        for (uint32_t k = 0; k < layout->count; k++) {
            if (i != k && together(&layout->buffer[i], &layout->buffer[k])) {
                x->together[i] |= (uint64_t)1 << k;
            }
        }
    }
    bool ended = search_all(x, node_limit);
    if (x->height < layout->arena) {
        keep(layout, x->best, x->height);
    }
    if (ended) {
        layout->lower_bound = layout->arena;
    }
    vyre_planner_release(planner, mark);
    return VYRE_OK;
}
