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
 * Elements are told apart where both indices are constants: what is tracked are places, the whole
 * of a memory and each element that is loaded at a constant index. A write at another constant
 * index leaves such a place alone; a load at any other index asks for the whole.
 *
 * A loop that surely runs is not passed by: `while (true)`, and a `for` between constants that
 * makes a trip. Then a barrier in it that no jump can skip ends the interval.
 *
 * 64 places at a time are tracked in a word per step; passes are repeated until nothing changes,
 * which takes as many as loops nest, plus two. A collective has a grid barrier before and after, so
 * its writes are in nobody's interval. */
#include "analysis/shape_graph.h"
#include "ir/fold.h"
#include "ir/waits.h"

/* The whole of a memory, or its element at a constant index. */
typedef struct place {
    vyre_decl decl;
    uint32_t element;
    uint32_t next; /* of the same memory; VYRE_NONE: the last */
} place;

/* Elements of one memory that are tracked; others count as the whole. */
enum { MOST_ELEMENTS = 16 };

typedef struct chunk {
    vyre_shapes *s;
    bool cautious;
    uint32_t *slot; /* per declaration: the number of its first place, the whole; or VYRE_NONE */
    VYRE_VEC(place) places;
    uint32_t first;     /* number of the first in this chunk */
    uint64_t workgroup; /* which of the chunk are workgroup memory */
    uint64_t *writes;   /* per step */
    uint64_t *ahead;    /* per step and the end: at its beginning */
    uint64_t *behind;
    uint32_t step; /* present, for visits */
} chunk;

bool vyre_shapes_element(const vyre_program_view *p, vyre_expr index, uint32_t *out) {
    const vyre_expr_node *e = &p->exprs[index];
    uint64_t bits = e->op == VYRE_EXPR_LITERAL ? e->u.bits : 0;
    const bool known = e->op == VYRE_EXPR_LITERAL ||
                       (e->op == VYRE_EXPR_REF && p->decls[e->ref].role == VYRE_CONST &&
                        vyre_fold_const(p, e->ref, &bits));
    *out = (uint32_t)bits;
    return known && e->type == VYRE_U32;
}

bool vyre_shapes_writes_element(const vyre_program_view *p, vyre_stmt stmt, uint32_t *out) {
    const vyre_stmt_node *s = &p->stmts[stmt];
    return (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC) &&
           vyre_shapes_element(p, s->arg[0], out);
}

/* Whether the loop makes a first trip, whatever happens. */
static bool surely_runs(const vyre_program_view *p, const vyre_stmt_node *loop) {
    uint32_t from, to, by = 1;
    if (loop->op == VYRE_STMT_WHILE) {
        const vyre_expr_node *condition = &p->exprs[loop->arg[0]];
        return condition->op == VYRE_EXPR_LITERAL && condition->u.bits != 0;
    }
    return vyre_shapes_element(p, loop->arg[0], &from) &&
           vyre_shapes_element(p, loop->arg[1], &to) &&
           (loop->arg[2] == VYRE_NONE || vyre_shapes_element(p, loop->arg[2], &by)) && from < to &&
           by > 0;
}

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
    case VYRE_STMT_WHILE:
        out[1] = at->link + 1;
        return surely_runs(s->program, &s->program->stmts[at->stmt]) ? 1 : 2;
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

static uint64_t bit_of(const chunk *c, uint32_t number) {
    return number >= c->first && number - c->first < 64 ? UINT64_C(1) << (number - c->first) : 0;
}

/* The place of the element in a memory with places, or VYRE_NONE. */
static uint32_t place_of(const chunk *c, uint32_t whole, uint32_t element) {
    uint32_t i = c->places.data[whole].next;
    while (i != VYRE_NONE && c->places.data[i].element != element) {
        i = c->places.data[i].next;
    }
    return i;
}

/* The place that a load asks for. */
static uint64_t loaded_bit(const chunk *c, const vyre_expr_node *load) {
    const uint32_t whole = c->slot[load->ref];
    uint32_t element;
    if (whole == VYRE_NONE) {
        return 0;
    }
    if (vyre_shapes_element(c->s->program, load->u.arg[0], &element)) {
        const uint32_t found = place_of(c, whole, element);
        return bit_of(c, found == VYRE_NONE ? whole : found);
    }
    return bit_of(c, whole);
}

static void note_write(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    chunk *c = user;
    uint32_t element;
    (void)load;
    if (!(effect & VYRE_EFFECT_WRITE) || c->slot[decl] == VYRE_NONE) {
        return;
    }
    const bool one =
        vyre_shapes_writes_element(c->s->program, c->s->steps.data[c->step].stmt, &element);
    uint32_t i = c->slot[decl];
    c->writes[c->step] |= bit_of(c, i);
    while ((i = c->places.data[i].next) != VYRE_NONE) {
        if (!one || c->places.data[i].element == element) {
            c->writes[c->step] |= bit_of(c, i);
        }
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
                (written & loaded_bit(c, expr)) != 0) {
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

/* The element at the constant index of this load becomes a place, once. */
static bool add_element(chunk *c, const vyre_expr_node *load) {
    const uint32_t whole = c->slot[load->ref];
    uint32_t element, count = 0;
    if (!c->places.data || whole == VYRE_NONE ||
        !vyre_shapes_element(c->s->program, load->u.arg[0], &element)) {
        return true;
    }
    for (uint32_t i = c->places.data[whole].next; i != VYRE_NONE; i = c->places.data[i].next) {
        if (++count == MOST_ELEMENTS || c->places.data[i].element == element) {
            return true;
        }
    }
    const place added = {.decl = load->ref, .element = element, .next = c->places.data[whole].next};
    c->places.data[whole].next = c->places.count;
    return vyre_vec_push(&c->s->allocator, &c->places, added);
}

/* Numbers the places of memories that are both loaded and written; private arrays vary anyway. */
static bool number_places(chunk *c, uint8_t *seen) {
    const vyre_program_view *p = c->s->program;
    const vyre_allocator *a = &c->s->allocator;
    bool ok = true;
    for (vyre_stmt stmt = 0; stmt < p->stmt_count; stmt++) {
        vyre_effects_of(c->s->effects, stmt, note_access, seen);
    }
    for (vyre_decl decl = 0; decl < p->decl_count && ok; decl++) {
        const bool tracked = seen[decl] == 3 && p->decls[decl].role != VYRE_PRIVATE;
        const place whole = {.decl = decl, .next = VYRE_NONE};
        c->slot[decl] = tracked ? c->places.count : VYRE_NONE;
        ok = !tracked || vyre_vec_push(a, &c->places, whole);
    }
    for (vyre_expr e = 0; e < p->expr_count && ok; e++) {
        ok = p->exprs[e].op != VYRE_EXPR_LOAD || add_element(c, &p->exprs[e]);
    }
    return ok;
}

static uint64_t workgroup_bits(const chunk *c) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < c->places.count; i++) {
        if (c->s->program->decls[c->places.data[i].decl].role == VYRE_WORKGROUP) {
            bits |= bit_of(c, i);
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
    bool ok = seen && c.slot && number_places(&c, seen);
    *out_changed = false;
    if (ok && c.places.count != 0) {
        c.writes = vyre_alloc(a, points, sizeof *c.writes);
        c.ahead = vyre_alloc(a, points, sizeof *c.ahead);
        c.behind = vyre_alloc(a, points, sizeof *c.behind);
        ok = c.writes && c.ahead && c.behind;
    }
    for (; ok && c.first < c.places.count; c.first += 64) {
        c.workgroup = workgroup_bits(&c);
        ok = mark_chunk(&c, out_changed);
    }
    vyre_vec_free(a, &c.places);
    vyre_free(a, seen, decls, sizeof *seen);
    vyre_free(a, c.slot, decls, sizeof *c.slot);
    vyre_free(a, c.writes, points, sizeof *c.writes);
    vyre_free(a, c.ahead, points, sizeof *c.ahead);
    vyre_free(a, c.behind, points, sizeof *c.behind);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
