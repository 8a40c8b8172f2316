/* Owned elements by value numbering. A form stands for an injective function of a number that only
 * one lane has:
 *   global_id.x, and the variable of `for (v in global_id.x .. n step global_size.x)`: all its
 *   values have the rest global_id.x modulo global_size.x, and the loop ends before it wraps;
 *   local_id.x, and the same with group_size.x: only one lane of the group has it;
 *   (group_id.x + e) * group_size.x + l, and with - for the first +, where l is local_id.x or an
 *   injective function of it that stays below group_size.x; fused programs are full of it;
 *   form + e, form - e, e - form, form ^ e, where e has one value in the whole dispatch: literals,
 *   params, lengths, sizes of the grid, and what is computed from them.
 * The number itself may differ between two accesses of one form (trips of a loop), the function
 * does not, so the elements that a lane reaches by a form are its own. What u32 arithmetic wraps
 * stays injective. A loop that begins at form + e has no form: its values may meet those of another
 * lane that began behind the wrap. The variable of a loop from local_id.x is no l: it passes the
 * size of the group. But it has the same owner as local_id.x, so accesses by both have one form.
 *
 * Elements of a group. The third form lies in [b, b + group_size.x), b its first summand: of
 * different groups these do not meet, for they have as many numbers as there are lanes, which u32
 * can count. global_id.x and the variable of its loop lie there modulo global_size.x, with b =
 * group_id.x * group_size.x. An exchange of low bits that the size of a group is a multiple of
 * (form ^ 1 in groups of 4) stays there; what any other injective function makes of disjoint sets
 * is disjoint.
 *
 * A variable has the form of its definition if it has just one. Ids along x tell lanes apart only
 * if groups (and for buffers the grid) lie along x. In groups of one lane they are the same for
 * the whole group, and proofs of uniformity may rest on loads at them: there nothing is owned.
 * Linear: each expression is looked up once. */
#include "analysis/owned.h"

#include <string.h>

#include "ir/fold.h"

enum {
    KIND_FIXED,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_GROUP, /* group_id.x + e: nobody's own, */
    KIND_BASE,  /* nor that times the size of a group, */
    KIND_MOVED  /* nor what an injective function makes of the elements of a group */
};
enum { KEY_WORDS = 5 }; /* op and such, declaration, operands or bits */

/* The info is for a form that is new. VYRE_NONE: out of memory. */
static uint32_t add_form(vyre_owned *o, const uint32_t *key, vyre_owned_form_info info) {
    uint32_t number = vyre_intern_add(&o->forms, (const char *)key, KEY_WORDS * sizeof *key);
    info.owner = info.owner == VYRE_OWNED_NOT ? number + 1 : info.owner;
    if (number == VYRE_INTERN_NONE ||
        (number == o->infos.count && !vyre_vec_push(o->a, &o->infos, info))) {
        return VYRE_NONE;
    }
    return number + 1;
}

static uint32_t add_kind(vyre_owned *o, const uint32_t *key, uint8_t kind) {
    return add_form(o, key, (vyre_owned_form_info){.kind = kind});
}

static uint32_t add_known(vyre_owned *o, const uint32_t *key, bool is_known, uint64_t bits) {
    return add_form(o, key,
                    (vyre_owned_form_info){.kind = KIND_FIXED, .is_known = is_known, .bits = bits});
}

static const vyre_owned_form_info *info_of(const vyre_owned *o, uint32_t form) {
    return &o->infos.data[form - 1];
}

static uint8_t kind_of(const vyre_owned *o, uint32_t form) {
    return info_of(o, form)->kind;
}

static uint32_t builtin_form(vyre_owned *o, const vyre_expr_node *n, const uint32_t *key) {
    const uint64_t width = o->p->workgroup[0];
    switch ((uint32_t)n->sub) {
    case VYRE_BUILTIN_GLOBAL_ID:
        return n->axis == 0
                   ? add_form(o, key, (vyre_owned_form_info){.kind = KIND_GLOBAL, .group = o->base})
                   : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_LOCAL_ID:
        return n->axis == 0 ? add_form(o, key,
                                       (vyre_owned_form_info){
                                           .kind = KIND_LOCAL, .owner = o->rest, .below = width})
                            : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_GROUP_ID: return n->axis == 0 ? add_kind(o, key, KIND_GROUP) : VYRE_OWNED_NOT;
    case VYRE_BUILTIN_GROUP_SIZE: return add_known(o, key, true, o->p->workgroup[n->axis]);
    case VYRE_BUILTIN_NUM_GROUPS:
    case VYRE_BUILTIN_GLOBAL_SIZE:
    case VYRE_BUILTIN_SUBGROUP_SIZE: return add_known(o, key, false, 0);
    default: return VYRE_OWNED_NOT;
    }
}

static bool is_width(const vyre_owned *o, uint32_t form) {
    return form == o->group_size || form == o->width;
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
        return add_kind(o, key, KIND_BASE);
    }
    const uint64_t below = info_of(o, other)->below;
    if (n->op != VYRE_EXPR_ADD || kind_of(o, group) != KIND_BASE ||
        kind_of(o, other) != KIND_LOCAL || below == 0 || below > o->p->workgroup[0]) {
        return VYRE_OWNED_NOT;
    }
    key[3] = other;
    return group == o->base && other == o->local
               ? o->global
               : add_form(o, key, (vyre_owned_form_info){.kind = KIND_GLOBAL, .group = group});
}

/* What `x op e` or, if reversed, `e op x` is less than, where x is less than `below`. */
static uint64_t bound(const vyre_owned *o, uint8_t op, uint64_t below, uint32_t e, bool reversed) {
    const vyre_owned_form_info *fixed = info_of(o, e);
    if (below == 0 || !fixed->is_known || fixed->bits > UINT32_MAX) {
        return 0;
    }
    if (op == VYRE_EXPR_BIT_XOR) {
        uint64_t power = 1;
        while (power < below) {
            power *= 2;
        }
        return fixed->bits < power ? power : 0;
    }
    if (op == VYRE_EXPR_ADD) {
        return below + fixed->bits <= UINT32_MAX ? below + fixed->bits : 0;
    }
    return reversed && fixed->bits + 1 >= below ? fixed->bits + 1 : 0; /* e - x */
}

/* The elements of a group that x op e is among, where x is among `group`. */
static uint32_t moved(vyre_owned *o, const vyre_expr_node *n, const uint32_t *key, uint32_t group,
                      uint32_t at) {
    const vyre_owned_form_info *fixed = info_of(o, key[2 + (1 - at)]);
    const uint32_t width = o->p->workgroup[0], lowest = width & (0 - width);
    if (n->op == VYRE_EXPR_BIT_XOR && fixed->is_known && kind_of(o, group) == KIND_BASE &&
        fixed->bits < lowest) {
        return group;
    }
    const uint32_t set[KEY_WORDS] = {key[0], VYRE_NONE, at == 0 ? group : key[2],
                                     at == 0 ? key[3] : group};
    return add_kind(o, set, KIND_MOVED);
}

/* A lane's number with a fixed one, as the key says; `at`: which of the two is the lane's. */
static uint32_t lane_form(vyre_owned *o, const vyre_expr_node *n, uint32_t *key, uint32_t at) {
    const uint32_t x = key[2 + at], e = key[2 + (1 - at)];
    const uint64_t below = bound(o, n->op, info_of(o, x)->below, e, at == 1);
    vyre_owned_form_info info = {.kind = kind_of(o, x), .below = below};
    if (info_of(o, x)->group != VYRE_OWNED_NOT) {
        info.group = moved(o, n, key, info_of(o, x)->group, at);
    }
    if (info_of(o, x)->owner != x) {
        uint32_t by_owner[KEY_WORDS] = {key[0], key[1], key[2], key[3]};
        by_owner[2 + at] = info_of(o, x)->owner;
        info.owner = add_kind(o, by_owner, info.kind);
    }
    return info.group == VYRE_NONE || info.owner == VYRE_NONE ? VYRE_NONE : add_form(o, key, info);
}

static uint32_t fixed_form(vyre_owned *o, const vyre_expr_node *n, const uint32_t *key) {
    uint64_t operands[3] = {0}, bits = 0;
    bool is_known = true;
    for (uint32_t i = 0; i < vyre_expr_info_of((vyre_expr_op)n->op)->arity; i++) {
        operands[i] = info_of(o, key[2 + i])->bits;
        is_known &= info_of(o, key[2 + i])->is_known;
    }
    is_known = is_known && vyre_fold(o->p, (vyre_expr)(n - o->p->exprs), operands, &bits);
    return add_known(o, key, is_known, bits);
}

/* At most one operand may be a lane's own; then the operator must be injective in it. */
static uint32_t operator_form(vyre_owned *o, const vyre_expr_node *n, uint32_t *key) {
    const uint32_t of_group =
        n->op == VYRE_EXPR_MUL || n->op == VYRE_EXPR_ADD ? group_form(o, n, key) : VYRE_OWNED_NOT;
    if (of_group != VYRE_OWNED_NOT) {
        return of_group;
    }
    const bool adds = n->op == VYRE_EXPR_ADD || n->op == VYRE_EXPR_BIT_XOR;
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
    const bool injective = adds || n->op == VYRE_EXPR_SUB;
    uint8_t kind = KIND_FIXED;
    uint32_t at = 0;
    for (uint32_t i = 0; i < arity; i++) {
        const uint32_t operand = o->exprs[n->u.arg[i]];
        if (operand == VYRE_OWNED_NOT) {
            return VYRE_OWNED_NOT;
        }
        if (kind_of(o, operand) != KIND_FIXED) {
            kind = kind == KIND_FIXED ? kind_of(o, operand) : KIND_BASE;
            at = i;
            if (!injective || kind == KIND_BASE ||
                (kind == KIND_GROUP && n->op == VYRE_EXPR_BIT_XOR)) {
                return VYRE_OWNED_NOT;
            }
        }
        key[2 + i] = operand;
    }
    if (kind == KIND_FIXED) {
        return fixed_form(o, n, key);
    }
    if (adds && at == 1) {
        const uint32_t fixed = key[2]; /* e + form is form + e */
        key[2] = key[3];
        key[3] = fixed;
        at = 0;
    }
    return lane_form(o, n, key, at);
}

/* A param or const. Of each const the value is found once. */
static uint32_t declared_form(vyre_owned *o, vyre_decl decl, const uint32_t *key) {
    uint64_t bits = 0;
    const bool is_known = o->p->decls[decl].role == VYRE_CONST &&
                          vyre_intern_find(&o->forms, (const char *)key, KEY_WORDS * sizeof *key) ==
                              VYRE_INTERN_NONE &&
                          vyre_fold_const(o->p, decl, &bits);
    return add_known(o, key, is_known, bits);
}

static uint32_t form_of(vyre_owned *o, const vyre_expr_node *n) {
    uint32_t key[KEY_WORDS] = {(uint32_t)n->op | (uint32_t)n->type << 8 | (uint32_t)n->sub << 16 |
                               (uint32_t)n->axis << 24};
    switch ((uint32_t)n->op) {
    case VYRE_EXPR_LITERAL:
        key[2] = (uint32_t)n->u.bits;
        key[3] = (uint32_t)(n->u.bits >> 32);
        return add_known(o, key, true, n->u.bits);
    case VYRE_EXPR_VAR: return o->vars[n->ref] == VYRE_NONE ? VYRE_OWNED_NOT : o->vars[n->ref];
    case VYRE_EXPR_REF: key[1] = n->ref; return declared_form(o, n->ref, key);
    case VYRE_EXPR_LEN: key[1] = n->ref; return add_known(o, key, false, 0);
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
        const bool at_id = from == o->global;
        if (at_id && step == o->global_size) {
            o->vars[s->var] = from;
        } else if (from == o->local && step == o->group_size) {
            o->vars[s->var] = o->rest;
        }
    }
}

/* Variables that are assigned have no form: VYRE_NONE, so that their definition gives none. */
static void mark_assigned(vyre_owned *o) {
    for (vyre_stmt s = o->p->entry; s < o->p->stmt_count; s++) {
        if (o->p->stmts[s].op == VYRE_STMT_ASSIGN) {
            o->vars[o->p->stmts[s].var] = VYRE_NONE;
        }
    }
}

static bool number_all(vyre_owned *o) {
    const vyre_program_view *p = o->p;
    static const uint32_t rest[KEY_WORDS] = {VYRE_NONE};
    const uint32_t group = form_of_id(o, VYRE_BUILTIN_GROUP_ID);
    const uint32_t base[KEY_WORDS] = {VYRE_EXPR_MUL | VYRE_U32 << 8, 0, group};
    o->rest = add_kind(o, rest, KIND_LOCAL);
    o->base = group == VYRE_NONE ? VYRE_NONE : add_kind(o, base, KIND_BASE);
    o->global = form_of_id(o, VYRE_BUILTIN_GLOBAL_ID);
    o->local = form_of_id(o, VYRE_BUILTIN_LOCAL_ID);
    o->global_size = form_of_id(o, VYRE_BUILTIN_GLOBAL_SIZE);
    o->group_size = form_of_id(o, VYRE_BUILTIN_GROUP_SIZE);
    const vyre_expr_node width = {
        .op = VYRE_EXPR_LITERAL, .type = VYRE_U32, .u.bits = p->workgroup[0]};
    o->width = form_of(o, &width);
    bool ok = o->rest != VYRE_NONE && o->base != VYRE_NONE && o->global != VYRE_NONE &&
              o->local != VYRE_NONE && o->global_size != VYRE_NONE && o->group_size != VYRE_NONE &&
              o->width != VYRE_NONE;
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
    const bool along_x = group[0] > 1 && group[1] == 1 && group[2] == 1;
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
    vyre_vec_free(owned->a, &owned->infos);
    vyre_intern_finish(&owned->forms);
    owned->exprs = owned->vars = NULL;
}

uint32_t vyre_owned_form(const vyre_owned *owned, vyre_decl memory, vyre_expr index) {
    const uint32_t exact = owned->exprs ? owned->exprs[index] : VYRE_OWNED_NOT;
    const uint32_t form = exact == VYRE_OWNED_NOT ? exact : info_of(owned, exact)->owner;
    const uint8_t kind = form == VYRE_OWNED_NOT ? KIND_FIXED : kind_of(owned, form);
    const bool is_own = owned->p->decls[memory].role == VYRE_WORKGROUP
                            ? kind == KIND_GLOBAL || kind == KIND_LOCAL
                            : kind == KIND_GLOBAL && !owned->any_grid;
    return is_own ? form : VYRE_OWNED_NOT;
}

uint32_t vyre_owned_group(const vyre_owned *owned, uint32_t form) {
    return form == VYRE_OWNED_NOT ? VYRE_OWNED_NOT : info_of(owned, form)->group;
}
