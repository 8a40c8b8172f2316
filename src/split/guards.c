/* Guards. Programs often begin with
 *
 *     if (global_id.x >= n) { exit; }
 *
 * Where lanes end nowhere else, and all that such a condition is made of is the same in each launch
 * (ids, sizes, lengths, params, literals, and what is computed of them), a later launch asks the
 * condition again. That costs less than a flag for each lane, which must be stored and loaded; and
 * a backend sees which lanes are left, as it would in a program without barriers.
 *
 * Why it is right: a guard stands in no loop and in no other condition, so each lane comes by
 * exactly once, before all that stands behind it and after all that stands before. Whoever is alive
 * behind it found the condition false, and would again; whoever ended there finds it true, or that
 * of a guard before it.
 *
 * A condition that would grow large with its variables replaced by what they were bound to is no
 * guard: then, and if any exit is not one, none is. Linear in the program. */
#include "split/guards.h"

#include "ir/rewrite.h"

enum { MOST_NODES = 32 }; /* of a condition */

typedef struct finder {
    const vyre_program_view *p;
    const uint32_t *definitions;
    const vyre_expr *definition;
    vyre_guard *guard;
} finder;

static bool is_fixed_id(vyre_builtin id) {
    return id == VYRE_BUILTIN_GLOBAL_ID || id == VYRE_BUILTIN_LOCAL_ID ||
           id == VYRE_BUILTIN_GROUP_ID || id == VYRE_BUILTIN_GLOBAL_SIZE ||
           id == VYRE_BUILTIN_GROUP_SIZE || id == VYRE_BUILTIN_NUM_GROUPS;
}

/* The place of a variable among the guard's, or their number. */
static uint32_t find_value(const vyre_guard *guard, vyre_var var) {
    uint32_t i = 0;
    while (i < guard->count && guard->values[i].var != var) {
        i++;
    }
    return i;
}

/* Nodes of the expression with variables replaced; above MOST_NODES: it is not one for that. The
 * variables have been dealt with. */
static uint32_t count_nodes(const finder *f, vyre_expr root) {
    uint32_t nodes = 0;
    for (vyre_expr e = vyre_expr_first(f->p, root); e <= root && nodes <= MOST_NODES; e++) {
        const vyre_expr_node *n = &f->p->exprs[e];
        const bool is_memory = n->op == VYRE_EXPR_LOAD;
        if (is_memory || (n->op == VYRE_EXPR_BUILTIN && !is_fixed_id((vyre_builtin)n->sub))) {
            nodes = MOST_NODES;
        }
        const uint32_t at = n->op == VYRE_EXPR_VAR ? find_value(f->guard, n->ref) : 0;
        nodes += n->op != VYRE_EXPR_VAR  ? 1
                 : at == f->guard->count ? MOST_NODES + 1
                                         : f->guard->values[at].nodes;
    }
    return nodes;
}

/* Adds the variables of an expression that are not there yet, behind which their own follow: what
 * a variable was bound to is older, so that goes on until there is none left. */
static bool add_values(const finder *f, vyre_expr root) {
    for (vyre_expr e = vyre_expr_first(f->p, root); e <= root; e++) {
        const vyre_expr_node *n = &f->p->exprs[e];
        if (n->op != VYRE_EXPR_VAR || find_value(f->guard, n->ref) < f->guard->count) {
            continue;
        }
        const bool is_bound_once = f->definitions[n->ref] == 1 &&
                                   f->definition[n->ref] != VYRE_NONE &&
                                   f->p->vars[n->ref].kind != VYRE_VAR_LOOP;
        if (!is_bound_once || f->guard->count == VYRE_GUARD_VALUES) {
            return false;
        }
        f->guard->values[f->guard->count].var = n->ref;
        f->guard->values[f->guard->count++].value = f->definition[n->ref];
    }
    return true;
}

/* Oldest first: a value is made of those before it. */
static void sort_values(vyre_guard *guard) {
    for (uint32_t i = 1; i < guard->count; i++) {
        for (uint32_t k = i; k > 0 && guard->values[k].value < guard->values[k - 1].value; k--) {
            const vyre_guard swapped = *guard;
            guard->values[k] = swapped.values[k - 1];
            guard->values[k - 1] = swapped.values[k];
        }
    }
}

static bool understand(const finder *f, vyre_expr condition) {
    bool all = add_values(f, condition);
    for (uint32_t i = 0; i < f->guard->count && all; i++) {
        all = add_values(f, f->guard->values[i].value);
    }
    sort_values(f->guard);
    for (uint32_t i = 0; i < f->guard->count && all; i++) {
        f->guard->values[i].nodes = count_nodes(f, f->guard->values[i].value);
        all = f->guard->values[i].nodes <= MOST_NODES;
    }
    return all && count_nodes(f, condition) <= MOST_NODES;
}

static bool is_plain(const vyre_program_view *p, vyre_stmt at) {
    return p->stmts[at].op == VYRE_STMT_IF && p->stmts[at + 1].op == VYRE_STMT_EXIT &&
           p->stmts[at + 2].op == VYRE_STMT_END;
}

void vyre_guards_find(vyre_guards *guards, const vyre_program_view *program,
                      const uint32_t *definitions, const vyre_expr *definition) {
    const vyre_program_view *p = program;
    vyre_stmt around = p->entry; /* what ends behind here stands in a condition or a loop */
    *guards = (vyre_guards){0};
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        const bool outermost = s >= around;
        if (outermost && is_plain(p, s) && guards->count < VYRE_MOST_GUARDS) {
            vyre_guard *guard = &guards->list[guards->count++];
            const finder f = {p, definitions, definition, guard};
            *guard = (vyre_guard){.stmt = s};
            if (!understand(&f, n->arg[0])) {
                guards->count = 0;
                return;
            }
            s += 2;
        } else if (n->op == VYRE_STMT_EXIT) {
            guards->count = 0;
            return;
        } else if (outermost &&
                   (n->op == VYRE_STMT_IF || n->op == VYRE_STMT_FOR || n->op == VYRE_STMT_WHILE)) {
            const vyre_stmt match = n->match;
            around = p->stmts[match].op == VYRE_STMT_ELSE ? p->stmts[match].match : match;
        }
    }
}

bool vyre_guard_is_before(const vyre_blocks *blocks, const vyre_block *block, vyre_stmt guard) {
    const vyre_stmt first = block->first != VYRE_NONE ? blocks->items.data[block->first].begin
                            : block->exit == VYRE_EXIT_BRANCH ? block->condition
                            : block->sync != VYRE_NONE        ? block->sync
                                                              : 0;
    return first > guard;
}
