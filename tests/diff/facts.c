/* Facts of programs: one walk over declarations and statements, and one over the carries. */
#include "diff/facts.h"

#include <string.h>

const char *differ_feature_name(uint32_t feature) {
#define X(NAME, text) text,
    static const char *const names[] = {DIFFER_FEATURES(X)};
#undef X
    return names[feature];
}

const char *differ_carry_name(uint32_t carry) {
#define X(NAME, text) text,
    static const char *const names[] = {DIFFER_CARRIES(X)};
#undef X
    return names[carry];
}

/* The features of one statement by itself, plus 1. */
static const uint8_t simple[VYRE_STMT_COUNT] = {[VYRE_STMT_BREAK] = DIFFER_JUMP + 1,
                                                [VYRE_STMT_CONTINUE] = DIFFER_JUMP + 1,
                                                [VYRE_STMT_EXIT] = DIFFER_END + 1,
                                                [VYRE_STMT_TRAP] = DIFFER_TRAP + 1,
                                                [VYRE_STMT_BARRIER] = DIFFER_BARRIER + 1,
                                                [VYRE_STMT_ATOMIC] = DIFFER_ATOMIC + 1,
                                                [VYRE_STMT_SUBGROUP] = DIFFER_SUBGROUP + 1,
                                                [VYRE_STMT_ASYNC_WAIT] = DIFFER_COPY + 1,
                                                [VYRE_STMT_ALL_REDUCE] = DIFFER_COLLECTIVE + 1,
                                                [VYRE_STMT_ALL_GATHER] = DIFFER_COLLECTIVE + 1,
                                                [VYRE_STMT_REDUCE_SCATTER] = DIFFER_COLLECTIVE + 1,
                                                [VYRE_STMT_BROADCAST] = DIFFER_COLLECTIVE + 1,
                                                [VYRE_STMT_SWAP] = DIFFER_SWAP + 1,
                                                [VYRE_STMT_INDIRECT_DISPATCH] = DIFFER_INDIRECT + 1,
                                                [VYRE_STMT_GRID_SYNC] = DIFFER_GRID_SYNC + 1};

static const uint8_t of_type[VYRE_TYPE_COUNT] = {
    [VYRE_BOOL] = DIFFER_BOOL + 1,   [VYRE_U8] = DIFFER_EIGHT + 1,    [VYRE_I8] = DIFFER_EIGHT + 1,
    [VYRE_U16] = DIFFER_SIXTEEN + 1, [VYRE_I16] = DIFFER_SIXTEEN + 1, [VYRE_F16] = DIFFER_F16 + 1,
    [VYRE_BF16] = DIFFER_BF16 + 1,   [VYRE_U64] = DIFFER_WIDE + 1,    [VYRE_I64] = DIFFER_WIDE + 1,
    [VYRE_F64] = DIFFER_WIDE + 1};

/* Where the walk is. */
typedef struct walk {
    const vyre_program_view *p;
    uint8_t openers[VYRE_LIMIT_NESTING + 1];
    uint32_t depth, pending; /* copies begun and not waited for */
} walk;

static void note_sync(differ_facts *f, const walk *w, vyre_stmt at) {
    uint32_t around = 0;
    for (uint32_t i = 0; i < w->depth; i++) {
        const bool counts = w->openers[i] == VYRE_STMT_FOR;
        const bool waits = w->openers[i] == VYRE_STMT_WHILE;
        differ_note(f, DIFFER_LOOP, counts);
        differ_note(f, DIFFER_WHILE, waits);
        differ_note(f, DIFFER_REGION, w->openers[i] == VYRE_STMT_REGION);
        around += counts || waits || w->openers[i] == VYRE_STMT_IF;
    }
    differ_note(f, DIFFER_NESTED, around > 0);
    differ_note(f, DIFFER_DEEP, around > 1);
    differ_note(f, DIFFER_FUNCTION, at < w->p->entry);
    differ_note(f, DIFFER_PENDING, w->pending > 0);
}

/* A loop that begins at an id of the lane, and in which the grid waits. */
static void note_even(differ_facts *f, const walk *w, vyre_stmt at) {
    const vyre_stmt_node *s = &w->p->stmts[at];
    const vyre_expr_node *from = &w->p->exprs[s->arg[0]];
    if (from->op == VYRE_EXPR_BUILTIN) {
        for (vyre_stmt i = at; i < s->match; i++) {
            differ_note(f, DIFFER_EVEN, w->p->stmts[i].op == VYRE_STMT_GRID_SYNC);
        }
    }
}

/* A condition that loads at an index modulo something. */
static void note_turns(differ_facts *f, const walk *w, const vyre_stmt_node *s) {
    for (vyre_expr i = s->first_expr; i < s->end_expr; i++) {
        const vyre_expr_node *e = &w->p->exprs[i];
        if (e->op == VYRE_EXPR_LOAD && strncmp(w->p->decls[e->ref].name, "flags", 5) == 0) {
            differ_note(f, DIFFER_TURNS, true);
        }
    }
}

static void note_stmt(differ_facts *f, walk *w, vyre_stmt at) {
    const vyre_stmt_node *s = &w->p->stmts[at];
    const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)s->op);
    if (info->scope == VYRE_SCOPE_OPEN && w->depth < VYRE_LIMIT_NESTING) {
        w->openers[w->depth++] = s->op;
    } else if (info->scope == VYRE_SCOPE_END && w->depth > 0) {
        w->depth--;
    }
    if (simple[s->op] != 0) {
        differ_note(f, simple[s->op] - 1u, true);
    }
    if (s->op == VYRE_STMT_FOR) {
        note_even(f, w, at);
    } else if (s->op == VYRE_STMT_IF) {
        note_turns(f, w, s);
    }
    if (s->op == VYRE_STMT_FOR && s->arg[2] != VYRE_NONE) {
        const vyre_expr_node *step = &w->p->exprs[s->arg[2]];
        differ_note(f, DIFFER_STRIDE,
                    step->op == VYRE_EXPR_BUILTIN && step->sub == VYRE_BUILTIN_GLOBAL_SIZE);
    } else if (s->op == VYRE_STMT_WHILE) {
        for (vyre_expr i = s->first_expr; i < s->end_expr; i++) {
            differ_note(f, DIFFER_MEMORY, w->p->exprs[i].op == VYRE_EXPR_LOAD);
        }
    } else if (s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE) {
        w->pending++;
    } else if (s->op == VYRE_STMT_ASYNC_WAIT) {
        w->pending--;
    } else if (s->op == VYRE_STMT_GRID_SYNC) {
        note_sync(f, w, at);
    }
}

static void note_body(differ_facts *f, const vyre_program_view *p, vyre_stmt begin, vyre_stmt end,
                      uint64_t *called) {
    walk w = {.p = p};
    for (vyre_stmt at = begin; at < end; at++) {
        note_stmt(f, &w, at);
        if (p->stmts[at].op == VYRE_STMT_CALL && p->stmts[at].fn < 64) {
            *called |= UINT64_C(1) << p->stmts[at].fn;
        }
    }
}

void differ_note_program(differ_facts *f, const vyre_program_view *p) {
    uint64_t called = 0, done = 0;
    const uint32_t group = p->workgroup[0] * p->workgroup[1] * p->workgroup[2];
    *f = (differ_facts){0};
    differ_note(f, DIFFER_SPACE, p->workgroup[2] > 1);
    differ_note(f, DIFFER_PLANE, p->workgroup[1] > 1 && p->workgroup[2] == 1);
    differ_note(f, DIFFER_SUBGROUPS, group > 32);
    for (uint32_t i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *node = &p->decls[i];
        differ_note(f, DIFFER_WORKGROUP, node->role == VYRE_WORKGROUP);
        differ_note(f, DIFFER_PRIVATE, node->role == VYRE_PRIVATE);
        if (node->role <= VYRE_SCRATCH && of_type[node->type] != 0) {
            differ_note(f, of_type[node->type] - 1u, true);
        }
    }
    note_body(f, p, p->entry, p->stmt_count, &called);
    while ((called & ~done) != 0) {
        const uint32_t fn = (uint32_t)__builtin_ctzll(called & ~done);
        done |= UINT64_C(1) << fn;
        differ_note(f, DIFFER_OPAQUE, p->fns[fn].opaque);
        note_body(f, p, p->fns[fn].begin, p->fns[fn].end, &called);
    }
}

static bool is_bool_array(const vyre_program_view *p, const char *name) {
    for (uint32_t i = 0; i < p->decl_count; i++) {
        if (p->decls[i].type == VYRE_BOOL && strcmp(p->decls[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Its base is the value before it. */
static bool has_base(const vyre_module_view *m, uint32_t carry) {
    const size_t length = strlen(m->carries[carry].name);
    return carry > 0 && strncmp(m->carries[carry - 1].name, m->carries[carry].name, length) == 0 &&
           strncmp(m->carries[carry - 1].name + length, "_base", 5) == 0;
}

/* Without those that decide where launches are ahead. */
static uint32_t segments_of(const vyre_module_view *m) {
    uint32_t count = m->segment_count;
    for (uint32_t i = 0; i < m->step_count; i++) {
        count -= m->steps[i].control != VYRE_NONE;
    }
    return count;
}

void differ_note_module(differ_facts *f, const vyre_module_view *m) {
    f->segments = segments_of(m);
    differ_note(f, DIFFER_AHEAD, m->checks_turn);
    for (uint32_t i = 0; i < m->carry_count; i++) {
        const vyre_carry *c = &m->carries[i];
        const bool array = c->kind == VYRE_CARRY_PRIVATE || c->kind == VYRE_CARRY_WORKGROUP;
        const bool value = c->kind == VYRE_CARRY_LANE || c->kind == VYRE_CARRY_SCALAR ||
                           c->kind == VYRE_CARRY_GROUP;
        f->carries |= UINT32_C(1) << c->kind;
        if (value && c->words == 2) {
            f->carries |= UINT32_C(1) << DIFFER_CARRY_WIDE;
        }
        if (c->kind == VYRE_CARRY_RECOMPUTED && has_base(m, i)) {
            f->carries |= UINT32_C(1) << DIFFER_CARRY_BASE;
        }
        if (array && is_bool_array(vyre_program_get(m->source), c->name)) {
            f->carries |= UINT32_C(1) << DIFFER_CARRY_BOOLS;
        }
    }
    for (uint32_t i = 0; i < m->removed_count; i++) {
        const vyre_removed_barrier *r = &m->removed[i];
        differ_note(f, DIFFER_WEAKENED, r->weakened);
        differ_note(f, DIFFER_OWNED, !r->weakened && r->owned_count > 0);
        differ_note(f, DIFFER_DISJOINT, !r->weakened && r->owned_count == 0);
    }
}
