/* Owned elements by value numbering. A form stands for an injective function of a number that only
 * one lane has:
 *   global_id.x, and the variable of `for (v in global_id.x .. n step global_size.x)`: all its
 *   values have the rest global_id.x modulo global_size.x, and the loop ends before it wraps;
 *   local_id.x, and the same with group_size.x: only one lane of the group has it;
 *   (group_id.x + e) * group_size.x + local_id.x, and with - for the first +: global_id.x and a
 *   multiple of the size of a group; fused programs are full of it;
 *   form + e, form - e, e - form, form ^ e, where e has one value in the whole dispatch: literals,
 *   params, lengths, sizes of the grid, and what is computed from them.
 * The number itself may differ between two accesses of one form (trips of a loop), the function
 * does not, so the elements that a lane reaches by a form are its own. What u32 arithmetic wraps
 * stays injective. A loop that begins at form + e has no form: its values may meet those of another
 * lane that began behind the wrap.
 *
 * A variable has the form of its definition if it has just one. Ids along x tell lanes apart only
 * if groups (and for buffers the grid) lie along x. In groups of one lane they are the same for
 * the whole group, and proofs of uniformity may rest on loads at them: there nothing is owned.
 * Linear: each expression is looked up once. */
#include "analysis/owned.h"

#include <string.h>

#include "base/mutant.h"

enum {
    KIND_FIXED,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_GROUP, /* group_id.x + e: nobody's own, */
    KIND_BASE   /* nor that times the size of a group */
};
enum { KEY_WORDS = 5 }; /* op and such, declaration, operands or bits */

/* VYRE_NONE: out of memory. */
static uint32_t add_form(vyre_owned *o, const uint32_t *key, uint8_t kind) {
    uint32_t number = vyre_intern_add(&o->forms, (const char *)key, KEY_WORDS * sizeof *key);
    if (number == VYRE_INTERN_NONE ||
        (number == o->kinds.count && !vyre_vec_push(o->a, &o->kinds, kind))) {
        return VYRE_NONE;
    }
    return number + 1;
}

static uint8_t kind_of(const vyre_owned *o, uint32_t form) {
    return o->kinds.data[form - 1];
}

static uint32_t builtin_form(vyre_owned *o, const vyre_expr_node *n, const uint32_t *key) {
    switch ((uint32_t)n->sub) {
    case VYRE_BUILTIN_GLOBAL_ID:
        return n->axis == 0 ? add_form(o, key, KIND_GLOBAL) : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_LOCAL_ID: return n->axis == 0 ? add_form(o, key, KIND_LOCAL) : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_GROUP_ID: return n->axis == 0 ? add_form(o, key, KIND_GROUP) : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GROUP_SIZE:
    case VYRE_BUILTIN_GLOBAL_SIZE:
    case VYRE_BUILTIN_SUBGROUP_SIZE: return add_form(o, key, KIND_FIXED);
    default: return VYRE_OWNED_NOT;
    }
}

static bool is_width(const vyre_owned *o, uint32_t form) {
    return form == o->group_size || VYRE_MUTANT(owned_any_width, form == o->width, true);
}

/* The lane's number from that of its group; VYRE_OWNED_NOT: the expression is no part of that. */
static uint32_t group_form(vyre_owned *o, const vyre_expr_node *n, uint32_t *key) {
    const uint32_t x = o->exprs[n->u.arg[0]], y = o->exprs[n->u.arg[1]];
    if (x == VYRE_OWNED_NOT || y == VYRE_OWNED_NOT) {
        return VYRE_OWNED_NOT;
    }
    const bool first = kind_of(o, x) == (n->op == VYRE_EXPR_MUL ? KIND_GROUP : KIND_BASE);
    const uint32_t group = first ? x : y, other = first ? y : x;
    key[2] = group;
    if (n->op == VYRE_EXPR_MUL && kind_of(o, group) == KIND_GROUP && is_width(o, other)) {
        return add_form(o, key, KIND_BASE);
    }
    if (n->op != VYRE_EXPR_ADD || kind_of(o, group) != KIND_BASE || other != o->local) {
        return VYRE_OWNED_NOT;
    }
    return group == o->base ? o->global : add_form(o, key, KIND_GLOBAL);
}

/* At most one operand may be a lane's own; then the operator must be injective in it. */
static uint32_t operator_form(vyre_owned *o, const vyre_expr_node *n, uint32_t *key) {
    const uint32_t of_group =
        n->op == VYRE_EXPR_MUL || n->op == VYRE_EXPR_ADD ? group_form(o, n, key) : VYRE_OWNED_NOT;
    if (of_group != VYRE_OWNED_NOT) {
        return of_group;
    }
    const bool adds = n->op == VYRE_EXPR_ADD || n->op == VYRE_EXPR_BIT_XOR;
    const bool injective = VYRE_MUTANT(owned_any_operator, adds || n->op == VYRE_EXPR_SUB, true);
    uint8_t kind = KIND_FIXED;
    for (uint32_t i = 0; i < vyre_expr_info_of((vyre_expr_op)n->op)->arity; i++) {
        const uint32_t operand = o->exprs[n->u.arg[i]];
        if (operand == VYRE_OWNED_NOT) {
            return VYRE_OWNED_NOT;
        }
        if (kind_of(o, operand) != KIND_FIXED) {
            kind = kind == KIND_FIXED ? kind_of(o, operand) : KIND_BASE;
            if (!injective || kind == KIND_BASE ||
                (kind == KIND_GROUP && n->op == VYRE_EXPR_BIT_XOR)) {
                return VYRE_OWNED_NOT;
            }
        }
        key[2 + i] = operand;
    }
    if (adds && kind != KIND_FIXED && kind_of(o, key[2]) == KIND_FIXED) {
        const uint32_t fixed = key[2]; /* e + form is form + e */
        key[2] = key[3];
        key[3] = fixed;
    }
    return add_form(o, key, kind);
}

static uint32_t form_of(vyre_owned *o, const vyre_expr_node *n) {
    uint32_t key[KEY_WORDS] = {(uint32_t)n->op | (uint32_t)n->type << 8 | (uint32_t)n->sub << 16 |
                               (uint32_t)n->axis << 24};
    switch ((uint32_t)n->op) {
    case VYRE_EXPR_LITERAL:
        key[2] = (uint32_t)n->u.bits;
        key[3] = (uint32_t)(n->u.bits >> 32);
        return add_form(o, key, KIND_FIXED);
    case VYRE_EXPR_VAR: return o->vars[n->ref] == VYRE_NONE ? VYRE_OWNED_NOT : o->vars[n->ref];
    case VYRE_EXPR_REF:
    case VYRE_EXPR_LEN: key[1] = n->ref; return add_form(o, key, KIND_FIXED);
    case VYRE_EXPR_BUILTIN: return builtin_form(o, n, key);
    case VYRE_EXPR_LOAD: return VYRE_OWNED_NOT;
    default: return operator_form(o, n, key);
    }
}

static uint32_t form_of_id(vyre_owned *o, vyre_builtin builtin) {
    const vyre_expr_node along_x = {
        .op = VYRE_EXPR_BUILTIN, .type = VYRE_U32, .sub = (uint8_t)builtin};
    return form_of(o, &along_x);
}

/* The form of what a statement binds. */
static void define(vyre_owned *o, const vyre_stmt_node *s) {
    if (s->op == VYRE_STMT_LET && o->vars[s->var] != VYRE_NONE) {
        o->vars[s->var] = o->exprs[s->arg[0]];
    } else if (s->op == VYRE_STMT_FOR && s->arg[2] != VYRE_NONE) {
        const uint32_t from = o->exprs[s->arg[0]], step = o->exprs[s->arg[2]];
        const bool at_id = VYRE_MUTANT(owned_loops_begin_anywhere, from == o->global,
                                       from && kind_of(o, from) == KIND_GLOBAL);
        if ((at_id && step == o->global_size) || (from == o->local && step == o->group_size)) {
            o->vars[s->var] = from;
        }
    }
}

/* Variables that are assigned have no form: VYRE_NONE, so that their definition gives none. */
static void mark_assigned(vyre_owned *o) {
    for (vyre_stmt s = o->p->entry; s < o->p->stmt_count; s++) {
        if (o->p->stmts[s].op == VYRE_STMT_ASSIGN) {
            o->vars[o->p->stmts[s].var] =
                VYRE_MUTANT(owned_ignores_assignments, VYRE_NONE, VYRE_OWNED_NOT);
        }
    }
}

static bool number_all(vyre_owned *o) {
    const vyre_program_view *p = o->p;
    o->global = form_of_id(o, VYRE_BUILTIN_GLOBAL_ID);
    o->local = form_of_id(o, VYRE_BUILTIN_LOCAL_ID);
    o->global_size = form_of_id(o, VYRE_BUILTIN_GLOBAL_SIZE);
    o->group_size = form_of_id(o, VYRE_BUILTIN_GROUP_SIZE);
    const vyre_expr_node width = {
        .op = VYRE_EXPR_LITERAL, .type = VYRE_U32, .u.bits = p->workgroup[0]};
    o->width = form_of(o, &width);
    const uint32_t group = form_of_id(o, VYRE_BUILTIN_GROUP_ID);
    const uint32_t base[KEY_WORDS] = {VYRE_EXPR_MUL | VYRE_U32 << 8, 0, group};
    o->base = group == VYRE_NONE ? VYRE_NONE : add_form(o, base, KIND_BASE);
    bool ok = o->global != VYRE_NONE && o->local != VYRE_NONE && o->global_size != VYRE_NONE &&
              o->group_size != VYRE_NONE && o->width != VYRE_NONE && o->base != VYRE_NONE;
    mark_assigned(o);
    for (vyre_stmt s = p->entry; s < p->stmt_count && ok; s++) {
        for (vyre_expr e = p->stmts[s].first_expr; e < p->stmts[s].end_expr && ok; e++) {
            o->exprs[e] = form_of(o, &p->exprs[e]);
            ok = o->exprs[e] != VYRE_NONE;
        }
        define(o, &p->stmts[s]);
    }
    return ok;
}

vyre_status vyre_owned_init(vyre_owned *owned, const vyre_program_view *program, bool any_grid,
                            const vyre_allocator *a) {
    const uint32_t *group = program->workgroup;
    const bool along_x =
        group[0] > 1 && VYRE_MUTANT(owned_in_any_group, group[1] == 1 && group[2] == 1, true);
    *owned = (vyre_owned){.p = program, .a = a, .any_grid = any_grid};
    vyre_intern_init(&owned->forms, a);
    if (!along_x) {
        return VYRE_OK;
    }
    owned->exprs = vyre_alloc_zeroed(a, program->expr_count, sizeof *owned->exprs);
    owned->vars = vyre_alloc_zeroed(a, program->var_count, sizeof *owned->vars);
    if (!owned->exprs || !owned->vars || !number_all(owned)) {
        vyre_owned_finish(owned);
        return VYRE_OUT_OF_MEMORY;
    }
    return VYRE_OK;
}

void vyre_owned_finish(vyre_owned *owned) {
    vyre_free(owned->a, owned->exprs, owned->p->expr_count, sizeof *owned->exprs);
    vyre_free(owned->a, owned->vars, owned->p->var_count, sizeof *owned->vars);
    vyre_vec_free(owned->a, &owned->kinds);
    vyre_intern_finish(&owned->forms);
    owned->exprs = owned->vars = NULL;
}

uint32_t vyre_owned_form(const vyre_owned *owned, vyre_decl memory, vyre_expr index) {
    const uint32_t form = owned->exprs ? owned->exprs[index] : VYRE_OWNED_NOT;
    const uint8_t kind = form == VYRE_OWNED_NOT ? KIND_FIXED : kind_of(owned, form);
    const bool is_own = owned->p->decls[memory].role == VYRE_WORKGROUP
                            ? kind == KIND_GLOBAL || kind == KIND_LOCAL
                            : VYRE_MUTANT(owned_group_in_buffers, kind == KIND_GLOBAL,
                                          kind == KIND_GLOBAL || kind == KIND_LOCAL) &&
                                  VYRE_MUTANT(owned_on_any_grid, !owned->any_grid, true);
    return is_own ? form : VYRE_OWNED_NOT;
}
