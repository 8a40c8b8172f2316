/* May a lane write this memory in the interval around that load?
 *
 * All lanes pass the same barriers, so what may happen at the same time as a load lies between the
 * barrier before it and the barrier after it. A write is in the interval of a load if, without
 * passing a barrier that ends the interval,
 *   - control can come from the write to the load, or from the load to the write, back edges
 *     included; or
 *   - control can come to both from one branch at which lanes part: some run the load while others
 *     run the write.
 * A backward walk finds `ahead`: what may be written from a visit on. A forward walk finds
 * `behind`: what may have been written before; where lanes part it adds what is ahead of the
 * branch, for that is what the others may be doing. Buffers end their interval at grid barriers and
 * part at branches that are not uniform over the grid; for workgroup memory it is workgroup
 * barriers and the group.
 *
 * Elements are told apart by their indices: what is tracked are places, the whole of a memory and
 * each element that is loaded at an index of which something is known (shape_index.c). A write at
 * an index that is never the same (shape_apart.c) leaves such a place alone; a load at any other
 * index asks for the whole. Some indices are apart only while versions of variables keep their
 * values, `s` and `s ^ 1`: such a write is followed as `near`, and becomes one of the place itself
 * where control passes a binding of one of those versions. Two lanes that follow the same path have
 * the same version there, since it is uniform; if they part, they have the same one at the branch;
 * and from there to the load and to the write no path binds it again, or it would have been passed.
 * One binding is seen through: that at the turn of a loop, where what a version becomes is a form
 * of what it was, `i + 1` or `s ^ 1`. Then the index of whichever access comes later is written
 * with the values of the trip before (vyre_shapes_turned), and compared so: flag[i % 3] is neither
 * flag[(i + 1) % 3] nor, in the next trip, flag[i % 3].
 *
 * A loop that surely runs (shape_bounds.c) is not passed by. Then a barrier in it that no jump can
 * skip ends the interval. Behind its last trip control comes from its end: so the first test of a
 * `while` has one way, and its END two. What the condition loads at a later test is followed by
 * what stands behind the loop, too.
 *
 * Loads at an index that varies are not asked for: what they give varies in any case. Only where
 * workgroup memory may be alike it matters whether all groups load the same. All others ask for the
 * whole first, for which no numbers need be known; only those for which that is written ask again,
 * for their elements.
 *
 * 64 places at a time are tracked in a word per visit; walks are repeated until nothing changes,
 * which takes as many as loops nest, plus two. A collective has a grid barrier before and after, so
 * its writes are in nobody's interval. */
#include "analysis/shape_graph.h"
#include "ir/waits.h"

#include <string.h>

/* The whole of a memory, or its element at an index. */
typedef struct place {
    vyre_decl decl;
    uint32_t next; /* of the same memory; VYRE_NONE: the last */
    bool whole;
    uint32_t turning; /* the loop whose turns are seen through, or VYRE_NONE */
    shape_form index;
} place;

/* Elements of one memory that are tracked; others count as the whole. */
enum { MOST_ELEMENTS = 16 };

/* Places that a write hits: with the values that versions have here; if one turn of their loop lies
 * in between; if their versions may have any values. The last has all of the first two. */
typedef struct marks {
    uint64_t hit, turned, near;
} marks;

typedef struct points {
    marks before, after;    /* what the visit writes, for loads before and after it */
    marks ahead, behind;    /* at its beginning */
    uint64_t bound;         /* places with a version that is bound at the visit, after its loads */
    uint64_t entered;       /* a `while`: that is bound when control comes from before the loop */
    uint64_t turned, again; /* a loop: that is bound at each turn, in a way that is known, or not */
    uint64_t ended;         /* places whose intervals end at the visit */
    uint32_t next[2], next_count; /* successors */
} points;

typedef struct chunk {
    vyre_shapes *s;
    bool cautious;
    bool alike;      /* some workgroup memory may be the same in all groups */
    bool elements;   /* loads ask for those, if they asked for the whole in vain */
    uint32_t *slot;  /* per declaration: the number of its first place, the whole; or VYRE_NONE */
    uint32_t *asked; /* per use: the place that a load asks for, or VYRE_NONE */
    bool *again;     /* per use: the whole that a load asked for may be written */
    bool any_again;
    VYRE_VEC(place) places;
    uint32_t first;     /* number of the first in this chunk */
    uint64_t workgroup; /* which of the chunk are workgroup memory */
    points *at;         /* per visit and the end */
    uint32_t visit;     /* at hand, for who looks at its effects */
    bool indexed;       /* what it writes is at `written` */
    shape_form written;
} chunk;

/* A `while` of which the first test is known, and later ones are not. */
static bool tests_again(const vyre_shapes *s, uint32_t opener) {
    const vyre_stmt_node *loop = &s->program->stmts[s->visits.data[opener].stmt];
    const vyre_expr_node *test = &s->program->exprs[loop->arg[0]];
    return loop->op == VYRE_STMT_WHILE && s->visits.data[opener].runs &&
           test->op != VYRE_EXPR_LITERAL;
}

uint32_t vyre_shapes_successors(const vyre_shapes *s, uint32_t visit, uint32_t out[2]) {
    const shape_visit *at = &s->visits.data[visit];
    uint32_t opener = at->link;
    out[0] = visit + 1;
    switch ((uint32_t)s->program->stmts[at->stmt].op) {
    case VYRE_STMT_IF:
        out[1] = at->link;
        if (s->program->stmts[s->visits.data[at->link].stmt].op == VYRE_STMT_ELSE) {
            out[1]++;
        }
        return 2;
    case VYRE_STMT_ELSE: out[0] = at->link; return 1;
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: out[1] = at->link + 1; return at->runs ? 1 : 2;
    case VYRE_STMT_END:
        switch ((uint32_t)s->program->stmts[s->visits.data[opener].stmt].op) {
        case VYRE_STMT_FOR: /* the bounds are not evaluated again */ out[1] = opener + 1; return 2;
        case VYRE_STMT_WHILE:
            out[0] = opener;
            out[1] = visit + 1;
            return tests_again(s, opener) ? 2 : 1;
        default: return 1;
        }
    case VYRE_STMT_BREAK: out[0] = s->visits.data[opener].link + 1; return 1;
    case VYRE_STMT_CONTINUE: out[0] = s->visits.data[opener].link; return 1;
    case VYRE_STMT_EXIT:
    case VYRE_STMT_TRAP: return 0;
    default: return 1;
    }
}

static bool waits_for_grid(const vyre_shapes *s, uint32_t visit) {
    const vyre_stmt_op op = (vyre_stmt_op)s->program->stmts[s->visits.data[visit].stmt].op;
    return vyre_waits_of(op) == VYRE_WAITS_GRID;
}

bool vyre_shapes_ends_interval(const vyre_shapes *s, uint32_t visit, bool workgroup) {
    const vyre_stmt_op op = (vyre_stmt_op)s->program->stmts[s->visits.data[visit].stmt].op;
    return waits_for_grid(s, visit) || (workgroup && vyre_waits_for_group(op));
}

static uint64_t ended(const chunk *c, uint32_t visit) {
    return (vyre_shapes_ends_interval(c->s, visit, false) ? ~c->workgroup : 0) |
           (vyre_shapes_ends_interval(c->s, visit, true) ? c->workgroup : 0);
}

/* Memories for which lanes part at the visit. */
static uint64_t parted(const chunk *c, uint32_t visit) {
    const vyre_shapes *s = c->s;
    const shape_visit *at = &s->visits.data[visit];
    uint32_t node = at->node;
    switch ((uint32_t)s->program->stmts[at->stmt].op) {
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR:
    case VYRE_STMT_WHILE: break;
    case VYRE_STMT_END:
        if (s->program->stmts[s->visits.data[at->link].stmt].op != VYRE_STMT_FOR &&
            !tests_again(s, at->link)) {
            return 0;
        }
        node = s->visits.data[at->link].node;
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

/* Forms have no padding between members that are set. */
static bool is_same_index(const shape_form *x, const shape_form *y) {
    return x->constant == y->constant && x->count == y->count && x->lo == y->lo && x->hi == y->hi &&
           memcmp(x->terms, y->terms, x->count * sizeof *x->terms) == 0 &&
           memcmp(x->factors, y->factors, x->count * sizeof *x->factors) == 0;
}

/* The place of the element in a memory with places, or the whole. */
static uint32_t place_of(const chunk *c, uint32_t whole, const shape_form *index) {
    uint32_t i = c->places.data[whole].next;
    while (i != VYRE_NONE && !is_same_index(&c->places.data[i].index, index)) {
        i = c->places.data[i].next;
    }
    return i == VYRE_NONE ? whole : i;
}

static vyre_shape_kind sharers(const chunk *c, vyre_decl decl) {
    return c->s->program->decls[decl].role == VYRE_WORKGROUP ? VYRE_SHAPE_GROUP : VYRE_SHAPE_GRID;
}

/* May the write, a turn of the loop after the load, hit the place? And before? */
static bool meets_turned(chunk *c, const place *at, bool before) {
    const vyre_shape_kind scope = sharers(c, at->decl);
    const shape_form *loaded = &at->index, *written = &c->written;
    shape_form later;
    if (at->turning == VYRE_NONE ||
        !vyre_shapes_turned(c->s, before ? written : loaded, at->turning, &later)) {
        return true;
    }
    return vyre_shapes_apart(c->s, before ? loaded : &later, before ? &later : written, scope,
                             c->cautious) == SHAPE_MAY_MEET;
}

static void note_write(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    chunk *c = user;
    (void)load;
    if (!(effect & VYRE_EFFECT_WRITE) || c->slot[decl] == VYRE_NONE) {
        return;
    }
    points *to = &c->at[c->visit];
    for (uint32_t i = c->slot[decl]; i != VYRE_NONE; i = c->places.data[i].next) {
        const place *at = &c->places.data[i];
        const uint64_t bit = bit_of(c, i);
        const bool compared = c->indexed && !at->whole && bit != 0;
        const shape_apart apart = compared ? vyre_shapes_apart(c->s, &at->index, &c->written,
                                                               sharers(c, decl), c->cautious)
                                           : SHAPE_MAY_MEET;
        to->before.hit |= apart == SHAPE_MAY_MEET ? bit : 0;
        to->before.near |= apart != SHAPE_APART ? bit : 0;
        to->before.turned |= !compared || meets_turned(c, at, true) ? bit : 0;
        to->after.turned |= !compared || meets_turned(c, at, false) ? bit : 0;
    }
    to->after.hit = to->before.hit;
    to->after.near = to->before.near;
}

/* A call's writes are those of the visits of its body, unless it is opaque. */
static bool find_writes(chunk *c) {
    const vyre_program_view *p = c->s->program;
    bool ok = true;
    for (c->visit = 0; c->visit < c->s->visits.count && ok; c->visit++) {
        const vyre_stmt at = c->s->visits.data[c->visit].stmt;
        const vyre_stmt_node *stmt = &p->stmts[at];
        c->indexed = c->elements && (stmt->op == VYRE_STMT_STORE || stmt->op == VYRE_STMT_ATOMIC) &&
                     c->slot[stmt->decl] != VYRE_NONE;
        c->at[c->visit] = (points){.ended = ended(c, c->visit)};
        c->at[c->visit].next_count = vyre_shapes_successors(c->s, c->visit, c->at[c->visit].next);
        if (c->indexed) {
            ok = vyre_shapes_forms(c->s, c->visit);
            c->written = c->s->form_scratch[stmt->arg[0] - stmt->first_expr];
        }
        if (!waits_for_grid(c->s, c->visit) &&
            (stmt->op != VYRE_STMT_CALL || p->fns[stmt->fn].opaque)) {
            vyre_effects_of(c->s->effects, at, note_write, c);
        }
    }
    c->at[c->s->visits.count] = (points){.bound = 0};
    return ok;
}

/* Where the version gets a value: at its visit, those of a loop at each turn. The condition of a
 * `while` is evaluated behind that. */
static void note_binding(chunk *c, uint32_t node, const place *at, uint64_t bit) {
    const shape_node *n = &c->s->nodes.data[node];
    points *here = &c->at[n->visit];
    const uint32_t op = c->s->program->stmts[c->s->visits.data[n->visit].stmt].op;
    if (op != VYRE_STMT_WHILE && op != VYRE_STMT_FOR) {
        here->bound |= bit;
        return;
    }
    *(op == VYRE_STMT_WHILE ? &here->entered : &here->bound) |= bit;
    if (!n->exit) {
        *(at->turning == n->visit ? &here->turned : &here->again) |= bit;
    }
}

static void find_bindings(chunk *c) {
    for (uint32_t i = 0; i < c->places.count; i++) {
        uint32_t nodes[SHAPE_FORM_NODES];
        const place *at = &c->places.data[i];
        const uint64_t bit = bit_of(c, i);
        const uint32_t count =
            bit == 0 || at->whole ? 0 : vyre_shapes_form_nodes(c->s, &at->index, nodes);
        for (uint32_t k = 0; k < count; k++) {
            note_binding(c, nodes[k], at, bit);
        }
    }
}

/* Behind, or before, a binding of versions of these places. */
static marks passed(marks m, uint64_t bound) {
    return (marks){m.hit | (m.near & bound), m.turned | (m.near & bound), m.near};
}

static marks turned(marks m, uint64_t places) {
    return (marks){(m.hit & ~places) | (m.turned & places),
                   (m.turned & ~places) | (m.near & places), m.near};
}

/* Along the edge. */
static marks along(const chunk *c, uint32_t from, uint32_t to, marks m) {
    const shape_visit *visits = c->s->visits.data;
    const uint32_t op = c->s->program->stmts[visits[from].stmt].op;
    const uint32_t opener = op == VYRE_STMT_END ? visits[from].link : VYRE_NONE;
    if (opener != VYRE_NONE && to <= from) {
        return passed(turned(m, c->at[opener].turned), c->at[opener].again);
    }
    return passed(m, c->at[to].entered);
}

static marks both(marks a, marks b) {
    return (marks){a.hit | b.hit, a.turned | b.turned, a.near | b.near};
}

static marks only(marks m, uint64_t places) {
    return (marks){m.hit & places, m.turned & places, m.near & places};
}

static bool is_equal(marks a, marks b) {
    return a.hit == b.hit && a.turned == b.turned && a.near == b.near;
}

static void look_ahead(chunk *c) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t visit = c->s->visits.count; visit-- > 0;) {
            points *at = &c->at[visit];
            marks after = {0, 0, 0};
            for (uint32_t i = at->next_count; i-- > 0;) {
                after = both(after, along(c, visit, at->next[i], c->at[at->next[i]].ahead));
            }
            const marks now = both(at->before, passed(only(after, ~at->ended), at->bound));
            changed |= !is_equal(now, at->ahead);
            at->ahead = now;
        }
    }
}

static void look_behind(chunk *c) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t visit = 0; visit < c->s->visits.count; visit++) {
            const points *at = &c->at[visit];
            /* What others do from here on; a turn more of this lane is none of theirs. */
            const marks others =
                only((marks){at->ahead.hit, at->ahead.near, at->ahead.near}, parted(c, visit));
            const marks here = both(both(at->behind, at->after), others);
            const marks after = passed(only(here, ~at->ended), at->bound);
            for (uint32_t i = at->next_count; i-- > 0;) {
                const uint32_t next = at->next[i];
                marks *to = &c->at[next].behind;
                const marks now = both(*to, along(c, visit, next, after));
                changed |= next <= visit && !is_equal(now, *to);
                *to = now;
            }
        }
    }
}

/* What may be written in the interval of the visit's loads. */
static uint64_t written_around(const chunk *c, uint32_t visit) {
    const points *at = &c->at[visit];
    uint64_t written = at->ahead.hit | at->behind.hit;
    if (c->s->program->stmts[c->s->visits.data[visit].stmt].op == VYRE_STMT_WHILE &&
        tests_again(c->s, visit)) {
        const uint32_t out = c->s->visits.data[visit].link + 1;
        written |= along(c, visit, out, c->at[out].ahead).hit;
    }
    return written;
}

/* Tells the visit that what it loads may be written meanwhile; false: out of memory. */
static bool mark_load(vyre_shapes *s, uint32_t visit, uint32_t use) {
    s->uses.data[use] = 1;
    return s->visits.data[visit].node == VYRE_NONE ||
           vyre_shapes_enqueue(s, s->visits.data[visit].node);
}

static bool mark_loads(chunk *c, bool *changed) {
    const vyre_shapes *s = c->s;
    for (uint32_t visit = 0; visit < s->visits.count; visit++) {
        const vyre_stmt_node *stmt = &s->program->stmts[s->visits.data[visit].stmt];
        const uint64_t written = written_around(c, visit);
        uint32_t use = s->visits.data[visit].first_use;
        for (vyre_expr i = stmt->first_expr; i < stmt->end_expr && written != 0; i++) {
            const vyre_expr_op op = (vyre_expr_op)s->program->exprs[i].op;
            if (op == VYRE_EXPR_LOAD && c->asked[use] != VYRE_NONE &&
                (written & bit_of(c, c->asked[use])) != 0) {
                if (!c->elements) {
                    c->again[use] = c->any_again = true;
                } else if (*changed = true, !mark_load(c->s, visit, use)) {
                    return false;
                }
            }
            use += op == VYRE_EXPR_LOAD || op == VYRE_EXPR_VAR;
        }
    }
    return true;
}

static bool mark_chunk(chunk *c, bool *changed) {
    if (!find_writes(c)) {
        return false;
    }
    find_bindings(c);
    look_ahead(c);
    look_behind(c);
    return mark_loads(c, changed);
}

static void note_written(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    bool *written = user;
    (void)load;
    written[decl] |= (effect & VYRE_EFFECT_WRITE) != 0;
}

static bool find_written(vyre_shapes *s) {
    const vyre_program_view *p = s->program;
    s->written = vyre_alloc_zeroed(&s->allocator, p->decl_count, sizeof *s->written);
    for (vyre_stmt stmt = 0; stmt < p->stmt_count && s->written; stmt++) {
        vyre_effects_of(s->effects, stmt, note_written, s->written);
    }
    return s->written != NULL;
}

/* The place of the element: a new one while there is room; VYRE_NONE: out of memory. */
static uint32_t element_place(chunk *c, vyre_decl decl, const shape_form *index) {
    const uint32_t whole = c->slot[decl], found = place_of(c, whole, index);
    uint32_t count = 0, nodes[SHAPE_FORM_NODES];
    for (uint32_t i = c->places.data[whole].next; i != VYRE_NONE; i = c->places.data[i].next) {
        count++;
    }
    if (found != whole || count >= MOST_ELEMENTS ||
        (index->count == 0 && index->hi - index->lo >= UINT32_MAX) ||
        vyre_shapes_form_nodes(c->s, index, nodes) == VYRE_NONE) {
        return found;
    }
    const place added = {.decl = decl,
                         .index = *index,
                         .turning = vyre_shapes_turning(c->s, index),
                         .next = c->places.data[whole].next};
    if (!vyre_vec_push(&c->s->allocator, &c->places, added)) {
        return VYRE_NONE;
    }
    c->places.data[whole].next = c->places.count - 1;
    return c->places.count - 1;
}

/* The place that the load asks for; false: out of memory. */
static bool ask_for(chunk *c, const vyre_stmt_node *stmt, const vyre_expr_node *load,
                    uint32_t *out) {
    const uint32_t index = load->u.arg[0] - stmt->first_expr;
    *out =
        c->elements ? element_place(c, load->ref, &c->s->form_scratch[index]) : c->slot[load->ref];
    return *out != VYRE_NONE;
}

/* What is asked of the indices of the visit: their forms, or how far lanes share them. */
static bool know_indices(chunk *c, uint32_t visit) {
    if (c->elements) {
        return vyre_shapes_know_numbers(c->s) && vyre_shapes_forms(c->s, visit);
    }
    vyre_shapes_evaluate(c->s, visit, c->s->scratch);
    return true;
}

/* Whether it matters that the load is marked: at an index that varies anyway it does not, unless
 * all groups have it alike; and what a private array holds varies. */
static bool matters(const chunk *c, const vyre_stmt_node *stmt, const vyre_expr_node *load) {
    const vyre_shape index = c->s->scratch[load->u.arg[0] - stmt->first_expr];
    const vyre_role role = (vyre_role)c->s->program->decls[load->ref].role;
    const bool varies = index.kind == VYRE_SHAPE_LINEAR || index.kind == VYRE_SHAPE_VARYING;
    return role != VYRE_PRIVATE &&
           (!varies || (c->alike && !index.differs && role != VYRE_WORKGROUP));
}

/* The number of the whole of the memory: there are places for it from now on. */
static bool track(chunk *c, vyre_decl decl) {
    const place whole = {.decl = decl, .next = VYRE_NONE, .whole = true};
    if (c->slot[decl] != VYRE_NONE) {
        return c->places.data != NULL; /* which holds: it is one of them */
    }
    c->slot[decl] = c->places.count;
    return vyre_vec_push(&c->s->allocator, &c->places, whole);
}

/* The places of the loads of a visit; false: out of memory. */
static bool ask(chunk *c, uint32_t visit) {
    const vyre_program_view *p = c->s->program;
    const vyre_stmt_node *stmt = &p->stmts[c->s->visits.data[visit].stmt];
    uint32_t use = c->s->visits.data[visit].first_use;
    bool ready = false;
    for (vyre_expr i = stmt->first_expr; i < stmt->end_expr; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        if (e->op == VYRE_EXPR_LOAD && c->s->uses.data[use] == 0 &&
            (c->elements ? c->again[use] : c->s->written[e->ref])) {
            if (!ready && !know_indices(c, visit)) {
                return false;
            }
            ready = true;
            if ((c->elements || matters(c, stmt, e)) &&
                (!track(c, e->ref) || !ask_for(c, stmt, e, &c->asked[use]))) {
                return false;
            }
        }
        use += e->op == VYRE_EXPR_LOAD || e->op == VYRE_EXPR_VAR;
    }
    return true;
}

/* Numbers the places that loads ask for. */
static bool number_places(chunk *c) {
    bool ok = c->s->written || find_written(c->s);
    for (vyre_decl decl = 0; decl < c->s->program->decl_count; decl++) {
        c->slot[decl] = VYRE_NONE;
    }
    for (uint32_t i = 0; i < c->s->uses.count; i++) {
        c->asked[i] = VYRE_NONE;
    }
    for (uint32_t visit = 0; visit < c->s->visits.count && ok; visit++) {
        ok = ask(c, visit);
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

/* Marks the loads that ask, 64 places at a time. */
static bool look_at_loads(chunk *c, bool *changed) {
    const vyre_allocator *a = &c->s->allocator;
    const size_t point_count = (size_t)c->s->visits.count + 1;
    c->places.count = 0;
    bool ok = number_places(c);
    if (ok && c->places.count != 0 && !c->at) {
        c->at = vyre_alloc(a, point_count, sizeof *c->at);
        ok = c->at != NULL;
    }
    for (c->first = 0; ok && c->first < c->places.count; c->first += 64) {
        c->workgroup = workgroup_bits(c);
        ok = mark_chunk(c, changed);
    }
    return ok;
}

vyre_status vyre_shapes_mark_loads(vyre_shapes *s, bool cautious, bool *out_changed) {
    const vyre_allocator *a = &s->allocator;
    const uint32_t decls = s->program->decl_count;
    chunk c = {.s = s, .cautious = cautious};
    for (vyre_decl d = 0; d < decls; d++) {
        c.alike |= s->program->decls[d].role == VYRE_WORKGROUP && !s->unlike[d];
    }
    c.slot = vyre_alloc(a, decls, sizeof *c.slot);
    c.asked = vyre_alloc(a, s->uses.count, sizeof *c.asked);
    c.again = vyre_alloc_zeroed(a, s->uses.count, sizeof *c.again);
    *out_changed = false;
    bool ok = c.slot && c.asked && c.again && look_at_loads(&c, out_changed);
    if (ok && c.any_again) {
        c.elements = true;
        ok = look_at_loads(&c, out_changed);
    }
    vyre_vec_free(a, &c.places);
    vyre_free(a, c.slot, decls, sizeof *c.slot);
    vyre_free(a, c.asked, s->uses.count, sizeof *c.asked);
    vyre_free(a, c.again, s->uses.count, sizeof *c.again);
    vyre_free(a, c.at, (size_t)s->visits.count + 1, sizeof *c.at);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}
