/* May a lane write this memory in the interval around that load?
 *
 * All lanes pass the same barriers, so what may happen at the same time as a load lies between the
 * barrier before it and the barrier after it. A write is in the interval of a load if, without
 * passing a barrier that ends the interval,
 *   - control can come from the write to the load, or from the load to the write, back edges
 *     included; or
 *   - control can come to both from one branch at which lanes part: some run the load while others
 *     run the write.
 * A backward pass finds `ahead`: what may be written from a step on. A forward pass finds `behind`:
 * what may have been written before; where lanes part it adds what is ahead of the branch, for that
 * is what the others may be doing. Buffers end their interval at grid barriers and part at branches
 * that are not uniform over the grid; for workgroup memory it is workgroup barriers and the group.
 *
 * 64 memories at a time are tracked in a word per step; passes are repeated until nothing changes,
 * which takes as many as loops nest, plus two. A collective has a grid barrier before and after, so
 * its writes are in nobody's interval. */
#include "analysis/shape_graph.h"
#include "ir/waits.h"

typedef struct chunk {
    vyre_shapes *s;
    bool cautious;
    uint32_t *slot;     /* per declaration: its number among those tracked, or VYRE_NONE */
    uint32_t first;     /* number of the first in this chunk */
    uint64_t workgroup; /* which of the chunk are workgroup memory */
    uint64_t *writes;   /* per step */
    uint64_t *ahead;    /* per step and the end: at its beginning */
    uint64_t *behind;
    uint32_t step; /* present, for visits */
} chunk;

uint32_t vyre_shapes_successors(const vyre_shapes *s, uint32_t step, uint32_t out[2]) {
    const shape_step *at = &s->steps.data[step];
    uint32_t opener = at->link;
    out[0] = step + 1;
    switch ((uint32_t)s->program->stmts[at->stmt].op) {
    case VYRE_STMT_IF:
        out[1] = at->link;
        if (s->program->stmts[s->steps.data[at->link].stmt].op == VYRE_STMT_ELSE) {
            out[1]++;
        }
        return 2;
    case VYRE_STMT_ELSE: out[0] = at->link; return 1;
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: out[1] = at->link + 1; return 2;
    case VYRE_STMT_END:
        switch ((uint32_t)s->program->stmts[s->steps.data[opener].stmt].op) {
        case VYRE_STMT_FOR: /* the bounds are not evaluated again */ out[1] = opener + 1; return 2;
        case VYRE_STMT_WHILE: out[0] = opener; return 1;
        default: return 1;
        }
    case VYRE_STMT_BREAK: out[0] = s->steps.data[opener].link + 1; return 1;
    case VYRE_STMT_CONTINUE: out[0] = s->steps.data[opener].link; return 1;
    case VYRE_STMT_EXIT:
    case VYRE_STMT_TRAP: return 0;
    default: return 1;
    }
}

static bool waits_for_grid(const vyre_shapes *s, uint32_t step) {
    const vyre_stmt_op op = (vyre_stmt_op)s->program->stmts[s->steps.data[step].stmt].op;
    return vyre_waits_of(op) == VYRE_WAITS_GRID;
}

bool vyre_shapes_ends_interval(const vyre_shapes *s, uint32_t step, bool workgroup) {
    const vyre_stmt_op op = (vyre_stmt_op)s->program->stmts[s->steps.data[step].stmt].op;
    return waits_for_grid(s, step) || (workgroup && vyre_waits_for_group(op));
}

static uint64_t ended(const chunk *c, uint32_t step) {
    return (vyre_shapes_ends_interval(c->s, step, false) ? ~c->workgroup : 0) |
           (vyre_shapes_ends_interval(c->s, step, true) ? c->workgroup : 0);
}

/* Memories for which lanes part at the step. */
static uint64_t parted(const chunk *c, uint32_t step) {
    const vyre_shapes *s = c->s;
    const shape_step *at = &s->steps.data[step];
    uint32_t node = at->node;
    switch ((uint32_t)s->program->stmts[at->stmt].op) {
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: break;
    case VYRE_STMT_END:
        if (s->program->stmts[s->steps.data[at->link].stmt].op != VYRE_STMT_FOR) {
            return 0;
        }
        node = s->steps.data[at->link].node;
        break;
    default: return 0;
    }
    const vyre_shape_kind kind =
        c->cautious ? VYRE_SHAPE_VARYING : (vyre_shape_kind)s->nodes.data[node].shape;
    return (kind > VYRE_SHAPE_GRID ? ~c->workgroup : 0) |
           (kind > VYRE_SHAPE_GROUP ? c->workgroup : 0);
}

static uint64_t bit_of(const chunk *c, vyre_decl decl) {
    const uint32_t slot = c->slot[decl];
    return slot != VYRE_NONE && slot >= c->first && slot - c->first < 64
               ? UINT64_C(1) << (slot - c->first)
               : 0;
}

static void note_write(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    chunk *c = user;
    (void)load;
    if (effect & VYRE_EFFECT_WRITE) {
        c->writes[c->step] |= bit_of(c, decl);
    }
}

/* A call's writes are those of the steps of its body, unless it is opaque. */
static void find_writes(chunk *c) {
    const vyre_program_view *p = c->s->program;
    for (c->step = 0; c->step < c->s->steps.count; c->step++) {
        const vyre_stmt at = c->s->steps.data[c->step].stmt;
        const vyre_stmt_node *stmt = &p->stmts[at];
        c->writes[c->step] = 0;
        if (!waits_for_grid(c->s, c->step) &&
            (stmt->op != VYRE_STMT_CALL || p->fns[stmt->fn].opaque)) {
            vyre_effects_of(c->s->effects, at, note_write, c);
        }
    }
}

static void look_ahead(chunk *c) {
    const uint32_t count = c->s->steps.count;
    bool changed = true;
    for (uint32_t step = 0; step <= count; step++) {
        c->ahead[step] = 0;
    }
    while (changed) {
        changed = false;
        for (uint32_t step = count; step-- > 0;) {
            uint32_t next[2];
            uint64_t after = 0;
            for (uint32_t i = vyre_shapes_successors(c->s, step, next); i-- > 0;) {
                after |= c->ahead[next[i]];
            }
            const uint64_t now = c->writes[step] | (after & ~ended(c, step));
            changed |= now != c->ahead[step];
            c->ahead[step] = now;
        }
    }
}

static void look_behind(chunk *c) {
    const uint32_t count = c->s->steps.count;
    bool changed = true;
    for (uint32_t step = 0; step <= count; step++) {
        c->behind[step] = 0;
    }
    while (changed) {
        changed = false;
        for (uint32_t step = 0; step < count; step++) {
            uint32_t next[2];
            const uint64_t after =
                (c->behind[step] | c->writes[step] | (parted(c, step) & c->ahead[step])) &
                ~ended(c, step);
            for (uint32_t i = vyre_shapes_successors(c->s, step, next); i-- > 0;) {
                changed |= next[i] <= step && (after & ~c->behind[next[i]]) != 0;
                c->behind[next[i]] |= after;
            }
        }
    }
}

static bool mark_chunk(chunk *c, bool *changed) {
    vyre_shapes *s = c->s;
    find_writes(c);
    look_ahead(c);
    look_behind(c);
    for (uint32_t step = 0; step < s->steps.count; step++) {
        const vyre_stmt_node *stmt = &s->program->stmts[s->steps.data[step].stmt];
        const uint64_t written = c->ahead[step] | c->behind[step];
        uint32_t use = s->steps.data[step].first_use;
        for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
            const vyre_expr_node *expr = &s->program->exprs[i];
            if (expr->op == VYRE_EXPR_LOAD && s->uses.data[use] == 0 &&
                (written & bit_of(c, expr->ref)) != 0) {
                s->uses.data[use] = 1;
                *changed = true;
                if (s->steps.data[step].node != VYRE_NONE &&
                    !vyre_shapes_enqueue(s, s->steps.data[step].node)) {
                    return false;
                }
            }
            use += expr->op == VYRE_EXPR_LOAD || expr->op == VYRE_EXPR_VAR;
        }
    }
    return true;
}

static void note_access(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    uint8_t *seen = user;
    seen[decl] |= (uint8_t)((load != VYRE_NONE ? 1 : 0) | (effect & VYRE_EFFECT_WRITE ? 2 : 0));
}

/* Numbers the memories that are both loaded and written; private arrays vary anyway. */
static uint32_t number_memories(const vyre_shapes *s, uint8_t *seen, uint32_t *slot) {
    const vyre_program_view *p = s->program;
    uint32_t count = 0;
    for (vyre_stmt stmt = 0; stmt < p->stmt_count; stmt++) {
        vyre_effects_of(s->effects, stmt, note_access, seen);
    }
    for (vyre_decl decl = 0; decl < p->decl_count; decl++) {
        slot[decl] = seen[decl] == 3 && p->decls[decl].role != VYRE_PRIVATE ? count++ : VYRE_NONE;
    }
    return count;
}

static uint64_t workgroup_bits(const chunk *c) {
    uint64_t bits = 0;
    for (vyre_decl decl = 0; decl < c->s->program->decl_count; decl++) {
        if (c->s->program->decls[decl].role == VYRE_WORKGROUP) {
            bits |= bit_of(c, decl);
        }
    }
    return bits;
}

vyre_status vyre_shapes_mark_loads(vyre_shapes *s, bool cautious, bool *out_changed) {
    const vyre_allocator *a = &s->allocator;
    const uint32_t decls = s->program->decl_count;
    const size_t points = (size_t)s->steps.count + 1;
    chunk c = {.s = s, .cautious = cautious};
    uint8_t *seen = vyre_alloc_zeroed(a, decls, sizeof *seen);
    c.slot = vyre_alloc(a, decls, sizeof *c.slot);
    bool ok = seen && c.slot;
    const uint32_t count = ok ? number_memories(s, seen, c.slot) : 0;
    *out_changed = false;
    if (count != 0) {
        c.writes = vyre_alloc(a, points, sizeof *c.writes);
        c.ahead = vyre_alloc(a, points, sizeof *c.ahead);
        c.behind = vyre_alloc(a, points, sizeof *c.behind);
        ok = c.writes && c.ahead && c.behind;
    }
    for (; ok && c.first < count; c.first += 64) {
        c.workgroup = workgroup_bits(&c);
        ok = mark_chunk(&c, out_changed);
    }
    vyre_free(a, seen, decls, sizeof *seen);
    vyre_free(a, c.slot, decls, sizeof *c.slot);
    vyre_free(a, c.writes, points, sizeof *c.writes);
    vyre_free(a, c.ahead, points, sizeof *c.ahead);
    vyre_free(a, c.behind, points, sizeof *c.behind);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
