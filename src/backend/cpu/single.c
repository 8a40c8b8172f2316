/* Stores that are made always, or not always. What a lane that runs alone does without branches
 * that can't be foreseen, and what all lanes store:
 *
 *   if (a[i] > b) { a[i] = b; }   Whether a lane stores is decided by data. The stores are made in
 *                                 any case: to their place, or, if the lane does not take that
 *                                 way, to the one that nobody reads (emit_memory.c). It costs an
 *                                 instruction for each store; a branch that is foreseen wrong
 *                                 costs fifteen cycles.
 *
 *   if (...) { changed[0] = 1; }  Many lanes store one value to one place. It is stored where it is
 *                                 not there yet, so that the line stays with all workers. Right
 *                                 because a store of what is there changes nothing; who stores
 *                                 something else there at the same time races with it anyway.
 *
 * Expressions in the body of such an `if` are evaluated by lanes that do not come there, so it must
 * have no loads: those are only known to be inside where lanes do come. */
#include <stdio.h>

#include "backend/cpu/emit.h"

enum {
    MOST_STORES = 2,
    MOST_NODES = 16, /* of expressions in the body */
    LEVELS = 3       /* of variables that a condition is followed through */
};

/* Whether expressions [first, end) look at memory, or at variables that did. */
static bool looks_at_data(const cpu_emit *e, vyre_expr first, vyre_expr end, uint32_t level) {
    bool looks = false;
    for (vyre_expr k = first; k < end && !looks; k++) {
        const vyre_expr_node *n = &e->p->exprs[k];
        looks = n->op == VYRE_EXPR_LOAD;
        if (n->op == VYRE_EXPR_VAR && e->is_single[n->ref] && level > 0 &&
            e->extents[n->ref].let != VYRE_NONE) {
            const vyre_stmt_node *let = &e->p->stmts[e->extents[n->ref].let];
            looks = looks_at_data(e, let->first_expr, let->end_expr, level - 1);
        }
    }
    return looks;
}

static bool is_plain_store(const cpu_emit *e, const vyre_stmt_node *s) {
    bool plain = s->op == VYRE_STMT_STORE && e->bindings[s->decl].meaning != CPU_IS_PRIVATE;
    for (vyre_expr k = s->first_expr; k < s->end_expr && plain; k++) {
        const uint8_t op = e->p->exprs[k].op;
        plain = op != VYRE_EXPR_LOAD && op != VYRE_EXPR_DIV && op != VYRE_EXPR_REM;
    }
    return plain;
}

bool cpu_chooses_place(const cpu_emit *e, vyre_stmt stmt, const cpu_value *condition) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *s = &p->stmts[stmt];
    const vyre_stmt end = s->match;
    if (e->width > 1 || condition->known || p->stmts[end].op != VYRE_STMT_END || end == stmt + 1 ||
        end - stmt - 1 > MOST_STORES || p->stmts[end - 1].end_expr - s->end_expr > MOST_NODES) {
        return false;
    }
    bool only_stores = looks_at_data(e, s->first_expr, s->end_expr, LEVELS);
    for (vyre_stmt i = stmt + 1; i < end && only_stores; i++) {
        only_stores = is_plain_store(e, &p->stmts[i]);
    }
    return only_stores;
}

cpu_value cpu_chosen_place(cpu_emit *e, cpu_value address) {
    return e->when.text[0] ? cpu_new(e, VYRE_U64, CPU_ONE, "select i1 %s, ptr %s, ptr %%dump",
                                     e->when.text, address.text)
                           : address;
}

static bool is_fixed(const cpu_value *v) {
    return v->known || v->fixed;
}

bool cpu_is_alike(const cpu_emit *e, vyre_decl decl, const cpu_value *index, const cpu_value *v) {
    const vyre_type type = (vyre_type)e->p->decls[decl].type;
    const bool of_gang = e->form == CPU_FORM_ROWS && e->width > 1;
    return !e->alone && e->bindings[decl].meaning == CPU_IS_BUFFER && vyre_type_size(type) >= 4 &&
           type != VYRE_BOOL && (of_gang || (is_fixed(index) && is_fixed(v)));
}

void cpu_store_news(cpu_emit *e, vyre_decl decl, cpu_value address, const cpu_value *v) {
    const vyre_type type = (vyre_type)e->p->decls[decl].type;
    const vyre_type word = vyre_type_size(type) == 8 ? VYRE_U64 : VYRE_U32;
    const uint32_t label = cpu_label(e);
    cpu_note(e, e->stmt, "store",
             "only where it changes something because lanes store one value to one place");
    cpu_value old = cpu_new(e, word, CPU_ONE, "load atomic %s, ptr %s monotonic, align %u",
                            cpu_type(e, word, false), address.text, vyre_type_size(type));
    cpu_value now = vyre_type_is_float(type)
                        ? cpu_new(e, word, CPU_ONE, "bitcast %s %s to %s", cpu_type_of(e, v),
                                  v->text, cpu_type(e, word, false))
                        : *v;
    cpu_value news = cpu_compare(e, "ne", old, now);
    cpu_line(e, "  br i1 %s, label %%news%u, label %%known%u\nnews%u:", news.text, label, label,
             label);
    cpu_store_at(e, decl, address.text, v);
    cpu_line(e, "  br label %%known%u\nknown%u:", label, label);
}
