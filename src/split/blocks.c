/* Blocks: one walk makes them, two local rules make them few.
 *
 *  - A block that only decides is folded into the blocks that jump to it, unless a barrier lies
 *    between and the condition reads memory that may be written.
 *  - A block with one predecessor that jumps to it without a barrier is appended to it; also with a
 *    barrier, if it only computes private values from private values: those do not care.
 * What combines the values of groups is a block of its own, between two of all lanes.
 * Those that are left and can be reached are numbered in an order like that of the source: what a
 * branch leads to comes before what follows it, and a loop's exit behind its body. It depends on
 * nothing else, so it is the same in every process.
 * Linear: each rule removes a block or an edge into a deciding block. */
#include "split/blocks.h"

#include <string.h>

#include "ir/touches.h"
#include "vyre/limits.h"

typedef struct open_list {
    vyre_stmt opener;
    uint32_t join; /* IF: where both arms go on; loops: the exit */
    uint32_t arm;  /* IF: block of the else arm (the join if there is none); loops: where
                      `continue` goes */
} open_list;

typedef struct maker {
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_blocks *out;
    const vyre_stmt *cuts, *cuts_end; /* those that the walk has not come to */
    bool *lifted;                     /* per statement: a lifted opener */
    bool *written;                    /* per declaration: some statement may write it */
    VYRE_VEC(open_list) open;
    uint32_t current;
    uint32_t depth;  /* lifted loops that are open */
    uint32_t region; /* innermost lifted region that is open, or VYRE_NONE */
    bool failed;
} maker;

/* Marks the openers around a statement, from the inside, until one that is marked already or `stop`
 * (VYRE_NONE: to the outermost). */
static void lift(maker *m, const vyre_stmt *around, uint32_t depth, vyre_stmt stop) {
    while (around && depth-- > 0 && around[depth] != stop && !m->lifted[around[depth]]) {
        m->lifted[around[depth]] = true;
    }
}

static bool find_lifted(maker *m) {
    const vyre_program_view *p = m->p;
    VYRE_VEC(vyre_stmt) around = {0};
    bool ok = true;
    for (int round = 0; round < 2 && ok; round++) {
        around.count = 0;
        for (vyre_stmt s = p->entry; s < p->stmt_count && ok; s++) {
            const vyre_stmt_node *n = &p->stmts[s];
            vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
            if (scope == VYRE_SCOPE_OPEN) {
                ok = vyre_vec_push(m->a, &around, s);
            } else if (scope == VYRE_SCOPE_END) {
                around.count--;
            } else if (round == 0 && vyre_waits_for(m->out->scope, n->op)) {
                lift(m, around.data, around.count, VYRE_NONE);
            } else if (round == 1 && (n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE) &&
                       m->lifted[n->match]) {
                /* A jump out of a lifted loop is a jump between blocks. */
                lift(m, around.data, around.count, n->match);
            }
        }
    }
    vyre_vec_free(m->a, &around);
    return ok;
}

static void find_written(maker *m) {
    const vyre_program_view *p = m->p;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->decl != VYRE_NONE && vyre_touches_first(n) & VYRE_TOUCHES_WRITE) {
            m->written[n->decl] = true;
        }
        if (n->decl2 != VYRE_NONE && vyre_touches_second(n) & VYRE_TOUCHES_WRITE) {
            m->written[n->decl2] = true;
        }
    }
}

static uint32_t add_block(maker *m) {
    vyre_block block = {.depth = m->depth,
                        .region = VYRE_NONE,
                        .first = VYRE_NONE,
                        .last = VYRE_NONE,
                        .exit = VYRE_EXIT_END,
                        .condition = VYRE_NONE,
                        .next = VYRE_NONE,
                        .otherwise = VYRE_NONE,
                        .sync = VYRE_NONE};
    if (!vyre_vec_push(m->a, &m->out->list, block)) {
        m->failed = true;
        return 0;
    }
    return m->out->list.count - 1;
}

/* Innermost region around both. A region's number is larger than those of the regions around it. */
static uint32_t common_region(const vyre_blocks *out, uint32_t x, uint32_t y) {
    while (x != y && x != VYRE_NONE && y != VYRE_NONE) {
        if (x > y) {
            x = out->regions.data[x].parent;
        } else {
            y = out->regions.data[y].parent;
        }
    }
    return x == y ? x : VYRE_NONE;
}

/* Has no place in the source. */
static bool is_blank(const vyre_block *b) {
    return b->first == VYRE_NONE && b->condition == VYRE_NONE && b->sync == VYRE_NONE;
}

/* The block will get something that lies in the region. */
static void widen_region(const maker *m, vyre_block *b, uint32_t region) {
    b->region = is_blank(b) ? region : common_region(m->out, b->region, region);
}

static void add_item(maker *m, vyre_item_kind kind, vyre_stmt begin, vyre_stmt end) {
    vyre_block *b = &m->out->list.data[m->current];
    widen_region(m, b, m->region);
    if (kind == VYRE_ITEM_RANGE && b->last != VYRE_NONE) {
        vyre_item *last = &m->out->items.data[b->last];
        if (last->kind == VYRE_ITEM_RANGE && last->end == begin) {
            last->end = end;
            return;
        }
    }
    vyre_item item = {.kind = (uint8_t)kind, .begin = begin, .end = end, .next = VYRE_NONE};
    if (!vyre_vec_push(m->a, &m->out->items, item)) {
        m->failed = true;
        return;
    }
    uint32_t number = m->out->items.count - 1;
    if (b->last == VYRE_NONE) {
        b->first = number;
    } else {
        m->out->items.data[b->last].next = number;
    }
    b->last = number;
}

static void jump(maker *m, uint32_t to, vyre_stmt sync) {
    vyre_block *b = &m->out->list.data[m->current];
    if (sync != VYRE_NONE && is_blank(b)) {
        b->region = m->region;
    }
    b->exit = VYRE_EXIT_NEXT;
    b->next = to;
    b->sync = sync;
}

static void branch(maker *m, vyre_stmt condition, uint32_t then, uint32_t otherwise) {
    vyre_block *b = &m->out->list.data[m->current];
    widen_region(m, b, m->region);
    b->exit = VYRE_EXIT_BRANCH;
    b->condition = condition;
    b->next = then;
    b->otherwise = otherwise;
}

static void open_construct(maker *m, vyre_stmt s) {
    const vyre_stmt_node *n = &m->p->stmts[s];
    open_list entry = {.opener = s, .join = VYRE_NONE, .arm = VYRE_NONE};
    if (n->op == VYRE_STMT_IF) {
        bool has_else = m->p->stmts[n->match].op == VYRE_STMT_ELSE;
        uint32_t then = add_block(m);
        entry.join = add_block(m);
        entry.arm = has_else ? add_block(m) : entry.join;
        branch(m, s, then, entry.arm);
        m->current = then;
    } else if (n->op == VYRE_STMT_FOR || n->op == VYRE_STMT_WHILE) {
        entry.join = add_block(m);
        m->depth++;
        uint32_t head = add_block(m), body = add_block(m);
        if (n->op == VYRE_STMT_FOR) {
            m->out->loop_of[s] = m->out->loops.count;
            m->failed |= !vyre_vec_push(m->a, &m->out->loops, s);
            add_item(m, VYRE_ITEM_FOR_INIT, s, s);
            entry.arm = add_block(m); /* the latch */
        } else {
            entry.arm = head;
        }
        jump(m, head, VYRE_NONE);
        m->current = head;
        branch(m, s, body, entry.join);
        if (n->op == VYRE_STMT_FOR) {
            m->current = entry.arm;
            add_item(m, VYRE_ITEM_FOR_STEP, s, s);
            jump(m, head, VYRE_NONE);
        }
        m->current = body;
    } else if (n->op == VYRE_STMT_REGION) {
        uint32_t around = m->region == VYRE_NONE ? 0 : m->out->regions.data[m->region].depth;
        vyre_split_region region = {.stmt = s, .parent = m->region, .depth = around + 1};
        m->region = m->out->regions.count;
        m->failed |= !vyre_vec_push(m->a, &m->out->regions, region);
    }
    if (!vyre_vec_push(m->a, &m->open, entry)) {
        m->failed = true;
    }
}

static void close_construct(maker *m) {
    open_list top = m->open.data[--m->open.count];
    uint8_t op = m->p->stmts[top.opener].op;
    if (op == VYRE_STMT_IF) {
        jump(m, top.join, VYRE_NONE);
        m->current = top.join;
    } else if (op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE) {
        m->depth--;
        jump(m, top.arm, VYRE_NONE);
        m->current = top.join;
    } else if (op == VYRE_STMT_REGION) {
        m->region = m->out->regions.data[m->region].parent;
    }
}

/* End of the construct that a statement opens, one past it; s + 1 for others. */
static vyre_stmt past(const vyre_program_view *p, vyre_stmt s) {
    if (vyre_stmt_info_of((vyre_stmt_op)p->stmts[s].op)->scope != VYRE_SCOPE_OPEN) {
        return s + 1;
    }
    vyre_stmt end = p->stmts[s].match;
    if (p->stmts[end].op == VYRE_STMT_ELSE) {
        end = p->stmts[end].match;
    }
    return end + 1;
}

static void walk(maker *m) {
    const vyre_program_view *p = m->p;
    m->current = add_block(m);
    for (vyre_stmt s = p->entry; s < p->stmt_count && !m->failed;) {
        const vyre_stmt_node *n = &p->stmts[s];
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        bool leaves =
            (n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE) && m->lifted[n->match];
        if (m->cuts < m->cuts_end && *m->cuts == s) {
            m->cuts++;
        } else if (vyre_waits_for(m->out->scope, n->op)) {
            uint32_t after = add_block(m);
            jump(m, after, s);
            m->current = after;
            if (n->op == VYRE_STMT_COMBINE) {
                add_item(m, VYRE_ITEM_RANGE, s, s + 1);
                after = add_block(m);
                jump(m, after, VYRE_NONE);
                m->current = after;
            }
        } else if (leaves) {
            uint32_t loop = m->open.count;
            while (m->open.data[loop - 1].opener != n->match) {
                loop--;
            }
            const open_list *target = &m->open.data[loop - 1];
            jump(m, n->op == VYRE_STMT_BREAK ? target->join : target->arm, VYRE_NONE);
            m->current = add_block(m); /* what follows is unreachable */
        } else if (scope == VYRE_SCOPE_OPEN && m->lifted[s]) {
            open_construct(m, s);
        } else if (scope == VYRE_SCOPE_ELSE) { /* of a lifted IF: others are inside ranges */
            open_list top = m->open.data[m->open.count - 1];
            jump(m, top.join, VYRE_NONE);
            m->current = top.arm;
        } else if (scope == VYRE_SCOPE_END) {
            close_construct(m);
        } else {
            vyre_stmt end = past(p, s);
            add_item(m, VYRE_ITEM_RANGE, s, end);
            s = end;
            continue;
        }
        s++;
    }
}

/* Whether every expression in the range may be evaluated on the other side of a barrier. */
static bool ignores_memory(const maker *m, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &m->p->exprs[e];
        if (n->op == VYRE_EXPR_LOAD && m->written[n->ref] &&
            m->p->decls[n->ref].role != VYRE_PRIVATE) {
            return false;
        }
    }
    return true;
}

/* Whether a block only computes private values from private values. */
static bool is_private(const maker *m, const vyre_block *b) {
    for (uint32_t i = b->first; i != VYRE_NONE; i = m->out->items.data[i].next) {
        const vyre_item *item = &m->out->items.data[i];
        vyre_stmt end = item->kind == VYRE_ITEM_RANGE ? item->end : item->begin + 1;
        for (vyre_stmt s = item->begin; s < end; s++) {
            const vyre_stmt_node *n = &m->p->stmts[s];
            bool plain = item->kind != VYRE_ITEM_RANGE || n->op == VYRE_STMT_LET ||
                         n->op == VYRE_STMT_ASSIGN;
            if (!plain || !ignores_memory(m, n->first_expr, n->end_expr)) {
                return false;
            }
        }
    }
    return b->exit != VYRE_EXIT_BRANCH || m->p->stmts[b->condition].op == VYRE_STMT_FOR ||
           ignores_memory(m, m->p->stmts[b->condition].first_expr,
                          m->p->stmts[b->condition].end_expr);
}

static void count_preds(vyre_blocks *out, uint32_t *stack) {
    for (uint32_t i = 0; i < out->list.count; i++) {
        out->list.data[i].preds = 0;
    }
    uint32_t top = 0;
    out->list.data[0].preds = 1;
    stack[top++] = 0;
    while (top > 0) {
        const vyre_block *b = &out->list.data[stack[--top]];
        uint32_t targets[2] = {b->exit == VYRE_EXIT_END ? VYRE_NONE : b->next,
                               b->exit == VYRE_EXIT_BRANCH ? b->otherwise : VYRE_NONE};
        for (int k = 0; k < 2; k++) {
            if (targets[k] != VYRE_NONE && out->list.data[targets[k]].preds++ == 0) {
                stack[top++] = targets[k];
            }
        }
    }
}

/* Follows empty blocks that only jump on without a barrier. */
static uint32_t skip_empty(const vyre_blocks *out, uint32_t to) {
    for (uint32_t hops = 0; hops < out->list.count; hops++) {
        const vyre_block *b = &out->list.data[to];
        if (b->first != VYRE_NONE || b->exit != VYRE_EXIT_NEXT || b->sync != VYRE_NONE) {
            return to;
        }
        to = b->next;
    }
    return to;
}

/* A collective is done between its two blocks: nothing moves across it. */
static bool has_collective(const maker *m, const vyre_block *b) {
    return b->sync != VYRE_NONE && vyre_is_collective(m->p->stmts[b->sync].op);
}

static bool combines(const maker *m, const vyre_block *b) {
    return vyre_block_combines(m->out, b, m->p) != VYRE_NONE;
}

/* Whether what the one lane has combined says how the block ends, or nothing does. */
static bool is_decided_by(const maker *m, const vyre_block *b, const vyre_block *behind) {
    const vyre_stmt_node *combine = &m->p->stmts[vyre_block_combines(m->out, b, m->p)];
    if (behind->sync != VYRE_NONE || behind->exit == VYRE_EXIT_END) {
        return behind->sync == VYRE_NONE;
    }
    const vyre_stmt_node *n = &m->p->stmts[behind->condition];
    bool only = n->op != VYRE_STMT_FOR;
    for (vyre_expr e = n->first_expr; e < n->end_expr && only; e++) {
        const vyre_expr_node *x = &m->p->exprs[e];
        only = x->op == VYRE_EXPR_LITERAL || x->op == VYRE_EXPR_NOT ||
               (x->op == VYRE_EXPR_VAR && x->ref == combine->var);
    }
    return only;
}

/* Ends the block as the one behind it ends. */
static void end_like(const maker *m, vyre_block *b, const vyre_block *behind) {
    if (!is_blank(behind)) {
        widen_region(m, b, behind->region);
    }
    b->exit = behind->exit;
    b->condition = behind->condition;
    b->next = behind->next;
    b->otherwise = behind->otherwise;
    b->sync = b->sync == VYRE_NONE ? behind->sync : b->sync;
}

/* Takes over the exit of the block behind, if that is all it has. */
static bool take_exit(const maker *m, vyre_block *b) {
    const vyre_block *behind = &m->out->list.data[b->next];
    if (b->exit != VYRE_EXIT_NEXT || behind == b || has_collective(m, b) ||
        behind->first != VYRE_NONE || behind->exit == VYRE_EXIT_NEXT ||
        (b->sync != VYRE_NONE && behind->sync != VYRE_NONE) ||
        (b->sync != VYRE_NONE && !is_private(m, behind)) ||
        (combines(m, b) && !is_decided_by(m, b, behind))) {
        return false;
    }
    end_like(m, b, behind);
    return true;
}

static void append_items(const maker *m, vyre_block *b, uint32_t first, uint32_t last) {
    if (first == VYRE_NONE) {
        return;
    }
    if (b->last == VYRE_NONE) {
        b->first = first;
    } else {
        m->out->items.data[b->last].next = first;
    }
    b->last = last;
}

/* Appends the block behind, if nothing else leads there and the barrier between allows it. */
static bool absorb(maker *m, uint32_t number) {
    vyre_block *b = &m->out->list.data[number];
    if (b->exit != VYRE_EXIT_NEXT || b->next == number || has_collective(m, b) || combines(m, b)) {
        return false;
    }
    vyre_block *behind = &m->out->list.data[b->next];
    if (behind->preds != 1) {
        return false;
    }
    if (b->sync != VYRE_NONE && (behind->sync != VYRE_NONE || !is_private(m, behind))) {
        return false;
    }
    end_like(m, b, behind);
    append_items(m, b, behind->first, behind->last);
    behind->preds = 0;
    return true;
}

static void simplify(maker *m, uint32_t *stack) {
    vyre_blocks *out = m->out;
    for (uint32_t i = 0; i < out->list.count; i++) {
        vyre_block *b = &out->list.data[i];
        if (b->exit != VYRE_EXIT_END) {
            b->next = skip_empty(out, b->next);
        }
        if (b->exit == VYRE_EXIT_BRANCH) {
            b->otherwise = skip_empty(out, b->otherwise);
        }
    }
    count_preds(out, stack);
    for (uint32_t i = 0; i < out->list.count; i++) {
        if (out->list.data[i].preds > 0) {
            while (take_exit(m, &out->list.data[i])) {
            }
        }
    }
    count_preds(out, stack);
    for (uint32_t i = 0; i < out->list.count; i++) {
        if (out->list.data[i].preds > 0) {
            while (absorb(m, i)) {
            }
        }
    }
}

/* How deep constructs nest in the block; at least 1, as what a segment adds does. */
static uint32_t find_nesting(const maker *m, const vyre_block *b) {
    uint32_t deepest = 1;
    for (uint32_t i = b->first; i != VYRE_NONE; i = m->out->items.data[i].next) {
        const vyre_item *item = &m->out->items.data[i];
        uint32_t depth = 0;
        for (vyre_stmt s = item->begin; item->kind == VYRE_ITEM_RANGE && s < item->end; s++) {
            vyre_scope scope =
                (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)m->p->stmts[s].op)->scope;
            depth += scope == VYRE_SCOPE_OPEN;
            depth -= scope == VYRE_SCOPE_END;
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest;
}

/* In the source nothing nests too deep, but calls have been inlined, and a segment adds constructs
 * where there may have been none. */
static void limit_regions(maker *m) {
    for (uint32_t i = 0; i < m->out->list.count; i++) {
        vyre_block *b = &m->out->list.data[i];
        uint32_t nesting = b->preds > 0 && b->region != VYRE_NONE ? find_nesting(m, b) : 0;
        while (b->region != VYRE_NONE &&
               m->out->regions.data[b->region].depth + nesting > VYRE_LIMIT_NESTING) {
            b->region = m->out->regions.data[b->region].parent;
        }
    }
}

/* The reverse of the order in which a walk from block 0 leaves blocks, which turns to `otherwise`
 * first; how many there are. `order` and `state` have room for all, `state` is zero. */
static uint32_t find_order(const vyre_blocks *out, uint32_t *order, uint8_t *state) {
    uint32_t total = out->list.count, depth = 1, left = total;
    order[0] = 0; /* the path to the current block grows from the front, the result from the back */
    state[0] = 1;
    while (depth > 0) {
        const vyre_block *block = &out->list.data[order[depth - 1]];
        uint32_t edge = state[order[depth - 1]]++;
        uint32_t to = VYRE_NONE;
        if (edge == 1 && block->exit == VYRE_EXIT_BRANCH) {
            to = block->otherwise;
        } else if (edge == 2 && block->exit != VYRE_EXIT_END) {
            to = block->next;
        }
        if (edge > 2) {
            uint32_t done = order[--depth];
            order[--left] = done;
        } else if (to != VYRE_NONE && state[to] == 0) {
            state[to] = 1;
            order[depth++] = to;
        }
    }
    memmove(order, order + left, (total - left) * sizeof *order);
    return total - left;
}

/* Keeps the blocks that can be reached, in an order like that of the source. */
static void put_in_order(maker *m, uint32_t *order) {
    vyre_blocks *out = m->out;
    const uint32_t total = out->list.count;
    uint32_t *number = vyre_alloc(m->a, total, sizeof *number);
    uint8_t *state = vyre_alloc_zeroed(m->a, total, sizeof *state);
    VYRE_VEC(vyre_block) list = {0};
    const uint32_t count = number && state ? find_order(out, order, state) : 0;
    m->failed = count == 0 || !vyre_vec_reserve(m->a, &list, count);
    for (uint32_t i = 0; i < count && !m->failed; i++) {
        number[order[i]] = i;
        list.data[list.count++] = out->list.data[order[i]];
    }
    for (uint32_t i = 0; i < list.count; i++) {
        vyre_block *b = &list.data[i];
        b->next = b->exit == VYRE_EXIT_END ? VYRE_NONE : number[b->next];
        b->otherwise = b->exit == VYRE_EXIT_BRANCH ? number[b->otherwise] : VYRE_NONE;
    }
    vyre_free(m->a, number, total, sizeof *number);
    vyre_free(m->a, state, total, sizeof *state);
    vyre_vec_free(m->a, &out->list);
    out->list.data = list.data;
    out->list.count = list.count;
    out->list.capacity = list.capacity;
}

static void make(maker *m) {
    uint32_t *stack = NULL;
    uint32_t room = 0;
    m->failed = !find_lifted(m);
    find_written(m);
    if (!m->failed) {
        walk(m);
    }
    if (!m->failed) {
        room = m->out->list.count;
        stack = vyre_alloc(m->a, room, sizeof *stack);
        m->failed = !stack;
    }
    if (!m->failed) {
        simplify(m, stack);
        limit_regions(m);
        put_in_order(m, stack);
    }
    vyre_free(m->a, stack, room, sizeof *stack);
}

vyre_status vyre_blocks_init(vyre_blocks *blocks, const vyre_program_view *program,
                             vyre_split_scope scope, const vyre_stmt *cuts, uint32_t cut_count,
                             const vyre_allocator *a) {
    *blocks = (vyre_blocks){.scope = scope, .stmt_count = program->stmt_count};
    maker m = {.p = program,
               .a = a,
               .out = blocks,
               .cuts = cuts,
               .cuts_end = cuts + cut_count,
               .region = VYRE_NONE};
    m.lifted = vyre_alloc_zeroed(a, program->stmt_count, sizeof *m.lifted);
    m.written = vyre_alloc_zeroed(a, program->decl_count, sizeof *m.written);
    blocks->loop_of = vyre_alloc(a, program->stmt_count, sizeof *blocks->loop_of);
    m.failed = !m.lifted || !m.written || !blocks->loop_of;
    if (!m.failed) {
        memset(blocks->loop_of, 0xff, program->stmt_count * sizeof *blocks->loop_of);
        make(&m);
    }
    vyre_free(a, m.lifted, program->stmt_count, sizeof *m.lifted);
    vyre_free(a, m.written, program->decl_count, sizeof *m.written);
    vyre_vec_free(a, &m.open);
    if (m.failed) {
        vyre_blocks_finish(blocks, a);
        return VYRE_OUT_OF_MEMORY;
    }
    return VYRE_OK;
}

static bool has_trap(const vyre_blocks *blocks, const vyre_program_view *p, const vyre_block *b) {
    for (uint32_t i = b->first; i != VYRE_NONE; i = blocks->items.data[i].next) {
        const vyre_item *item = &blocks->items.data[i];
        for (vyre_stmt s = item->begin; item->kind == VYRE_ITEM_RANGE && s < item->end; s++) {
            if (p->stmts[s].op == VYRE_STMT_TRAP) {
                return true;
            }
        }
    }
    return false;
}

bool vyre_blocks_outlive_traps(const vyre_blocks *blocks, const vyre_program_view *p) {
    bool outlive = false, may_trap = p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
    for (uint32_t i = 0; may_trap && i < blocks->list.count && !outlive; i++) {
        const vyre_block *b = &blocks->list.data[i];
        outlive = vyre_block_goes_on(blocks, b) && has_trap(blocks, p, b);
    }
    return outlive;
}

void vyre_blocks_finish(vyre_blocks *blocks, const vyre_allocator *a) {
    vyre_vec_free(a, &blocks->list);
    vyre_vec_free(a, &blocks->items);
    vyre_vec_free(a, &blocks->loops);
    vyre_vec_free(a, &blocks->regions);
    vyre_free(a, blocks->loop_of, blocks->stmt_count, sizeof *blocks->loop_of);
    blocks->loop_of = NULL;
}
