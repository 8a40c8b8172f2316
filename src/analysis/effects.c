/* Effects of statements, from the program's own table plus two things that need a look elsewhere:
 * a call does what its callee does, and an async wait writes where its begin said. Functions are
 * summarised once, callees first, as three bit sets over the declarations; a tag is looked up
 * through interned strings. Linear in the program, apart from functions x declarations / 64 words.
 * An opaque function is taken at its word: whoever wants to know whether its body keeps the word
 * collects the body (the validator does). */
#include "analysis/effects.h"

#include <string.h>

#include "base/intern.h"
#include "ir/touches.h"
#include "ir/waits.h"

enum { READS, WRITES, ATOMICS, SETS };

struct vyre_effect_map {
    vyre_allocator allocator;
    const vyre_program_view *program;
    uint32_t words;        /* of one set */
    uint64_t *sets;        /* per function: SETS x words */
    uint32_t *waits;       /* per function */
    vyre_stmt *deliveries; /* per statement: the begin of an async wait; NULL if there are none */
};

static uint64_t *fn_set(const vyre_effect_map *e, vyre_fn fn, uint32_t set) {
    return e->sets + ((size_t)fn * SETS + set) * e->words;
}

uint32_t vyre_effects_fn_waits(const vyre_effect_map *effects, vyre_fn fn) {
    return effects->waits[fn];
}

uint32_t vyre_effects_waits(const vyre_effect_map *effects, vyre_stmt stmt) {
    const vyre_stmt_node *node = &effects->program->stmts[stmt];
    return node->op == VYRE_STMT_CALL ? effects->waits[node->fn]
                                      : vyre_waits_of((vyre_stmt_op)node->op);
}

static void visit_callee(const vyre_effect_map *e, vyre_fn fn, vyre_effect_fn visit, void *user) {
    const uint64_t *reads = fn_set(e, fn, READS), *writes = fn_set(e, fn, WRITES);
    const uint64_t *atomics = fn_set(e, fn, ATOMICS);
    for (uint32_t word = 0; word < e->words; word++) {
        uint64_t any = reads[word] | writes[word] | atomics[word];
        for (; any != 0; any &= any - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(any);
            uint32_t effect = 0;
            effect |= reads[word] >> bit & 1 ? VYRE_EFFECT_READ : 0;
            effect |= writes[word] >> bit & 1 ? VYRE_EFFECT_WRITE : 0;
            effect |= atomics[word] >> bit & 1 ? VYRE_EFFECT_ATOMIC : 0;
            visit(user, word * 64 + bit, effect, VYRE_NONE);
        }
    }
}

void vyre_effects_of(const vyre_effect_map *effects, vyre_stmt stmt, vyre_effect_fn visit,
                     void *user) {
    const vyre_program_view *p = effects->program;
    const vyre_stmt_node *node = &p->stmts[stmt];
    for (vyre_expr expr = node->first_expr; expr < node->end_expr; expr++) {
        if (p->exprs[expr].op == VYRE_EXPR_LOAD) {
            visit(user, p->exprs[expr].ref, VYRE_EFFECT_READ, expr);
        }
    }
    if (node->op == VYRE_STMT_CALL) {
        visit_callee(effects, node->fn, visit, user);
    } else if (node->op == VYRE_STMT_ATOMIC) {
        visit(user, node->decl, vyre_touches_first(node) | VYRE_EFFECT_ATOMIC, VYRE_NONE);
    } else if (node->op == VYRE_STMT_ASYNC_WAIT) {
        if (effects->deliveries[stmt] != VYRE_NONE) {
            const vyre_stmt_node *begin = &p->stmts[effects->deliveries[stmt]];
            visit(user, begin->decl2, vyre_touches_second(begin), VYRE_NONE);
        }
    } else if (node->decl != VYRE_NONE) {
        visit(user, node->decl, vyre_touches_first(node), VYRE_NONE);
        if (node->decl2 != VYRE_NONE && !vyre_is_delivered_later(node->op)) {
            visit(user, node->decl2, vyre_touches_second(node), VYRE_NONE);
        }
    }
}

typedef struct write_search {
    vyre_decl decl;
    bool writes;
} write_search;

static void note_write(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    write_search *search = user;
    (void)load;
    search->writes |= decl == search->decl && (effect & VYRE_EFFECT_WRITE) != 0;
}

bool vyre_effects_write(const vyre_effect_map *effects, vyre_stmt stmt, vyre_decl decl) {
    write_search search = {.decl = decl};
    vyre_effects_of(effects, stmt, note_write, &search);
    return search.writes;
}

static void set_bit(uint64_t *set, vyre_decl decl) {
    set[decl / 64] |= UINT64_C(1) << decl % 64;
}

static void collect_one(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    vyre_effect_sets *sets = user;
    (void)load;
    if (effect & VYRE_EFFECT_READ) {
        set_bit(sets->reads, decl);
    }
    if (effect & VYRE_EFFECT_WRITE) {
        set_bit(sets->writes, decl);
    }
    if (effect & VYRE_EFFECT_ATOMIC) {
        set_bit(sets->atomics, decl);
    }
}

void vyre_effects_collect(const vyre_effect_map *effects, vyre_stmt first, vyre_stmt end,
                          vyre_effect_sets *sets) {
    for (vyre_stmt stmt = first; stmt < end; stmt++) {
        vyre_effects_of(effects, stmt, collect_one, sets);
        sets->waits |= vyre_effects_waits(effects, stmt);
    }
}

static void summarise(vyre_effect_map *e, vyre_fn fn) {
    const vyre_fn_node *node = &e->program->fns[fn];
    vyre_effect_sets sets = {.reads = fn_set(e, fn, READS),
                             .writes = fn_set(e, fn, WRITES),
                             .atomics = fn_set(e, fn, ATOMICS),
                             .words = e->words};
    if (node->opaque) {
        const vyre_decl *declared = e->program->args + node->first_effect;
        for (uint32_t i = 0; i < node->reads; i++) {
            set_bit(sets.reads, declared[i]);
        }
        for (uint32_t i = 0; i < node->writes; i++) {
            set_bit(sets.writes, declared[node->reads + i]);
        }
    } else {
        vyre_effects_collect(e, node->begin, node->end, &sets);
        e->waits[fn] = sets.waits;
    }
}

/* Finds the begin of each wait; a wait without one, or a begin after it, stays VYRE_NONE. */
static vyre_status match_deliveries(vyre_effect_map *e) {
    const vyre_program_view *p = e->program;
    e->deliveries = vyre_alloc(&e->allocator, p->stmt_count, sizeof *e->deliveries);
    if (!e->deliveries) {
        return VYRE_OUT_OF_MEMORY;
    }
    vyre_intern tags;
    VYRE_VEC(vyre_stmt) begin_of = {0};
    vyre_intern_init(&tags, &e->allocator);
    bool ok = true;
    for (vyre_stmt stmt = 0; ok && stmt < p->stmt_count; stmt++) {
        const vyre_stmt_node *node = &p->stmts[stmt];
        e->deliveries[stmt] = VYRE_NONE;
        if (vyre_is_delivered_later(node->op)) {
            const uint32_t tag = vyre_intern_add(&tags, node->text, strlen(node->text));
            ok = tag != VYRE_INTERN_NONE;
            if (ok && tag == begin_of.count) {
                ok = vyre_vec_push(&e->allocator, &begin_of, stmt);
            }
        } else if (node->op == VYRE_STMT_ASYNC_WAIT) {
            const uint32_t tag = vyre_intern_find(&tags, node->text, strlen(node->text));
            if (tag < begin_of.count) {
                e->deliveries[stmt] = begin_of.data[tag];
            }
        }
    }
    vyre_vec_free(&e->allocator, &begin_of);
    vyre_intern_finish(&tags);
    return ok ? VYRE_OK : VYRE_OUT_OF_MEMORY;
}

vyre_status vyre_effects_create(const vyre_program *program, const vyre_calls *calls,
                                const vyre_allocator *allocator, vyre_effect_map **out_effects) {
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_effect_map *e = vyre_alloc_zeroed(&a, 1, sizeof *e);
    if (!e) {
        return VYRE_OUT_OF_MEMORY;
    }
    e->allocator = a;
    e->program = vyre_program_get(program);
    e->words = e->program->decl_count / 64 + 1;
    const uint32_t fns = e->program->fn_count;
    e->sets = vyre_alloc_zeroed(&a, (size_t)fns * SETS, e->words * sizeof *e->sets);
    e->waits = vyre_alloc_zeroed(&a, fns, sizeof *e->waits);
    vyre_status status = e->sets && e->waits ? VYRE_OK : VYRE_OUT_OF_MEMORY;
    if (status == VYRE_OK && e->program->stats.stmt_kinds >> VYRE_STMT_ASYNC_WAIT & 1) {
        status = match_deliveries(e);
    }
    if (status != VYRE_OK) {
        vyre_effects_destroy(e);
        return status;
    }
    for (uint32_t i = 0; i < fns; i++) {
        summarise(e, calls->order[i]);
    }
    *out_effects = e;
    return VYRE_OK;
}

void vyre_effects_destroy(vyre_effect_map *effects) {
    if (!effects) {
        return;
    }
    const vyre_allocator a = effects->allocator;
    const uint32_t fns = effects->program->fn_count;
    vyre_free(&a, effects->sets, (size_t)fns * SETS, effects->words * sizeof *effects->sets);
    vyre_free(&a, effects->waits, fns, sizeof *effects->waits);
    vyre_free(&a, effects->deliveries, effects->program->stmt_count, sizeof *effects->deliveries);
    vyre_free(&a, effects, 1, sizeof *effects);
}
