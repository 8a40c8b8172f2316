/* Lengths and ids: what is the same wherever lanes run.
 *
 * A dispatch that is not refused has given each memory exactly its declared size, an exact integer
 * between 0 and 2^32 - 1: that is a form over lengths that the caller decides and params, and it is
 * a fact that the form lies in that interval (`u32[len(row) - 1]`: row is not empty). A size that
 * is no form is a symbol of its own. A size may name later declarations: what is missing is
 * measured first, on a stack; in a cycle one of them is just a symbol (such a program is refused
 * anyway).
 *
 * Along each axis a grid has at least one group and at most 2^32 - 1 lanes. */
#include <string.h>

#include "analysis/range_state.h"
#include "ir/builder.h"
#include "ir/fold.h"

enum { NOT_MEASURED = 0, MEASURING, MEASURED };

typedef struct sizes {
    range_state *s;
    uint8_t *state; /* per declaration */
    vyre_decl *stack;
    uint32_t top;
} sizes;

static range_value symbol_value(range_state *s, vyre_symbol like, range_interval bounds) {
    like.var = like.expr = VYRE_NONE;
    like.operand[0] = like.operand[1] = VYRE_NONE;
    like.bound = VYRE_NONE;
    like.lo = bounds.lo;
    like.hi = bounds.hi;
    const uint32_t symbol = range_symbol(s, &like);
    if (symbol == VYRE_NONE) {
        return range_unknown;
    }
    const vyre_affine form = vyre_affine_symbol(symbol);
    return range_exact(s, &form);
}

static uint32_t length_symbol(range_state *s, vyre_decl decl) {
    return symbol_value(s, (vyre_symbol){.kind = VYRE_SYMBOL_LEN, .ref = decl},
                        range_of_type(VYRE_U32))
        .value;
}

/* A param of any integer type, or a const, as an exact integer; VYRE_NONE: neither. */
static uint32_t reference(range_state *s, vyre_decl decl) {
    const vyre_decl_node *d = &s->p->decls[decl];
    const vyre_type type = (vyre_type)d->type;
    if (!vyre_type_is_integer(type)) {
        return VYRE_NONE;
    }
    if (d->role == VYRE_PARAM) {
        return symbol_value(s, (vyre_symbol){.kind = VYRE_SYMBOL_PARAM, .ref = decl},
                            range_of_type(type))
            .value;
    }
    uint64_t bits;
    if (!vyre_fold_const(s->p, decl, &bits)) {
        return VYRE_NONE;
    }
    const uint32_t spare = 64 - 8 * vyre_type_size(type);
    const int64_t value =
        vyre_type_is_signed(type) ? (int64_t)(bits << spare) >> spare : (int64_t)bits;
    if (value > (int64_t)1 << 52 || value < -((int64_t)1 << 52)) {
        return VYRE_NONE;
    }
    const vyre_affine constant = vyre_affine_constant(value);
    return range_form(s, &constant);
}

/* An operator of sizes on forms. VYRE_NONE: no form. */
static uint32_t apply(range_state *s, vyre_expr_op op, uint32_t first, uint32_t second) {
    if (first == VYRE_NONE || second == VYRE_NONE) {
        return VYRE_NONE;
    }
    const vyre_affine x = *range_at(s, first), y = *range_at(s, second);
    const vyre_affine zero = vyre_affine_constant(0);
    const bool by_constant = y.count == 0 && y.constant >= 0 && y.constant < 32;
    const vyre_affine power = vyre_affine_constant((int64_t)1 << (by_constant ? y.constant : 0));
    const vyre_affine *divisor = op == VYRE_EXPR_SHR ? &power : &y;
    vyre_affine result;
    bool ok = false;
    switch ((uint32_t)op) {
    case VYRE_EXPR_NEG: ok = vyre_affine_combine(&x, -1, &zero, 1, &result); break;
    case VYRE_EXPR_ADD: ok = vyre_affine_combine(&x, 1, &y, 1, &result); break;
    case VYRE_EXPR_SUB: ok = vyre_affine_combine(&x, 1, &y, -1, &result); break;
    case VYRE_EXPR_MUL: ok = range_multiply(s, &x, &y, &result); break;
    case VYRE_EXPR_SHL: ok = by_constant && range_multiply(s, &x, &power, &result); break;
    case VYRE_EXPR_SHR:
        if (!by_constant) {
            return VYRE_NONE;
        } /* fall through */
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM:
        if (!range_prove_order(s, &zero, &x, 0) || !range_prove_order(s, &zero, divisor, -1)) {
            return VYRE_NONE;
        }
        return op == VYRE_EXPR_REM ? range_remainder(s, &x, divisor).value
                                   : range_quotient(s, &x, divisor).value;
    case VYRE_EXPR_MIN:
    case VYRE_EXPR_MAX: return range_least(s, &x, &y, op == VYRE_EXPR_MAX).value;
    default: break;
    }
    return ok ? range_form(s, &result) : VYRE_NONE;
}

/* The form of a leaf. True: the length of *missing is needed first. */
static bool leaf(sizes *z, const vyre_expr_node *e, uint32_t *out, vyre_decl *missing) {
    range_state *s = z->s;
    *out = VYRE_NONE;
    if (e->op == VYRE_EXPR_LITERAL) {
        const int64_t value = (int64_t)e->u.bits;
        if (value <= (int64_t)1 << 52 && value >= -((int64_t)1 << 52)) {
            const vyre_affine constant = vyre_affine_constant(value);
            *out = range_form(s, &constant);
        }
    } else if (e->op == VYRE_EXPR_REF) {
        *out = reference(s, e->ref);
    } else if (e->op == VYRE_EXPR_LEN) {
        if (z->state[e->ref] == NOT_MEASURED) {
            *missing = e->ref;
            return true;
        }
        *out = z->state[e->ref] == MEASURED ? s->r->lengths[e->ref] : length_symbol(s, e->ref);
    }
    return false;
}

/* The form of a size. VYRE_NONE: none, or the length of *missing is needed first. */
static uint32_t measure(sizes *z, vyre_expr root, vyre_decl *missing) {
    const vyre_program_view *p = z->s->p;
    uint32_t stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2];
    uint32_t top = 0;
    vyre_expr first = root;
    stack[0] = VYRE_NONE;
    while (vyre_expr_info_of((vyre_expr_op)p->exprs[first].op)->arity > 0) {
        first = p->exprs[first].u.arg[0];
    }
    for (vyre_expr i = first; i <= root; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        uint32_t form;
        if (arity == 0) {
            if (leaf(z, e, &form, missing)) {
                return VYRE_NONE;
            }
        } else {
            top -= arity;
            form = apply(z->s, (vyre_expr_op)e->op, stack[top], stack[arity > 1 ? top + 1 : top]);
        }
        stack[top++] = form;
    }
    return stack[0];
}

static void settle(sizes *z, vyre_decl decl, uint32_t form) {
    range_state *s = z->s;
    const vyre_affine zero = vyre_affine_constant(0), most = vyre_affine_constant(UINT32_MAX);
    z->state[decl] = MEASURED;
    s->r->lengths[decl] = form == VYRE_NONE ? length_symbol(s, decl) : form;
    if (form != VYRE_NONE) {
        const vyre_affine length = *range_at(s, form);
        range_note_order(s, &zero, &length, 0, VYRE_NONE, 0);
        range_note_order(s, &length, &most, 0, VYRE_NONE, 0);
    }
}

static void measure_all(sizes *z) {
    const vyre_program_view *p = z->s->p;
    for (vyre_decl decl = 0; decl < p->decl_count && !z->s->failed; decl++) {
        if (!vyre_role_is_memory((vyre_role)p->decls[decl].role) || z->state[decl] == MEASURED) {
            continue;
        }
        z->stack[z->top++] = decl;
        while (z->top > 0) {
            const vyre_decl at = z->stack[z->top - 1];
            const vyre_expr size = p->decls[at].size;
            vyre_decl missing = VYRE_NONE;
            z->state[at] = MEASURING;
            const uint32_t form = size == VYRE_NONE ? VYRE_NONE : measure(z, size, &missing);
            if (missing != VYRE_NONE) {
                z->stack[z->top++] = missing;
                continue;
            }
            settle(z, at, form);
            z->top--;
        }
    }
}

/* A dispatch refuses other dimensions: each is a u32, and none is 0 where the caller's bytes are
 * divided by it. */
static void note_dimensions(sizes *z, vyre_decl decl) {
    range_state *s = z->s;
    const vyre_decl_node *d = &s->p->decls[decl];
    const vyre_affine least = vyre_affine_constant(d->size == VYRE_NONE);
    const vyre_affine most = vyre_affine_constant(UINT32_MAX);
    for (uint32_t i = 0; i < d->rank && d->rank > 1 && !s->failed; i++) {
        const vyre_expr root = vyre_decl_dimension(s->p, decl, i);
        vyre_decl missing = VYRE_NONE;
        const uint32_t form = root == VYRE_NONE ? VYRE_NONE : measure(z, root, &missing);
        if (form != VYRE_NONE) {
            const vyre_affine length = *range_at(s, form);
            range_note_order(s, &least, &length, 0, VYRE_NONE, 0);
            range_note_order(s, &length, &most, 0, VYRE_NONE, 0);
        }
    }
}

static range_interval most_groups(const range_state *s, uint32_t axis) {
    return (range_interval){1, UINT32_MAX / s->p->workgroup[axis]};
}

static range_value id(range_state *s, vyre_builtin builtin, uint32_t axis, range_interval bounds) {
    const uint32_t lanes = builtin == VYRE_BUILTIN_LOCAL_ID            ? 1u << axis
                           : builtin == VYRE_BUILTIN_SUBGROUP_LOCAL_ID ? 7
                                                                       : 0;
    return symbol_value(s,
                        (vyre_symbol){.kind = VYRE_SYMBOL_BUILTIN,
                                      .sub = (uint8_t)builtin,
                                      .axis = (uint8_t)axis,
                                      .lanes = (uint8_t)lanes,
                                      .ref = VYRE_NONE},
                        bounds);
}

static range_value local_id(range_state *s, uint32_t axis) {
    const vyre_affine zero = vyre_affine_constant(0);
    const uint32_t lanes = s->p->workgroup[axis];
    return lanes == 1 ? range_exact(s, &zero)
                      : id(s, VYRE_BUILTIN_LOCAL_ID, axis, (range_interval){0, lanes - 1});
}

static range_value group_id(range_state *s, uint32_t axis) {
    return id(s, VYRE_BUILTIN_GROUP_ID, axis, (range_interval){0, most_groups(s, axis).hi - 1});
}

static range_value num_groups(range_state *s, uint32_t axis) {
    return id(s, VYRE_BUILTIN_NUM_GROUPS, axis, most_groups(s, axis));
}

/* factor * x + y, which always fits. */
static range_value place(range_state *s, range_value x, int64_t factor, const range_value *y) {
    if (x.value == VYRE_NONE || (y && y->value == VYRE_NONE)) {
        return range_unknown;
    }
    const vyre_affine zero = vyre_affine_constant(0);
    vyre_affine form;
    return vyre_affine_combine(range_at(s, x.value), factor, y ? range_at(s, y->value) : &zero, 1,
                               &form)
               ? range_exact(s, &form)
               : range_unknown;
}

range_value range_builtin(range_state *s, const vyre_expr_node *e) {
    const uint32_t axis = e->axis;
    const uint32_t lanes = s->p->workgroup[axis];
    const uint64_t group = (uint64_t)s->p->workgroup[0] * s->p->workgroup[1] * s->p->workgroup[2];
    range_value local;
    vyre_affine constant;
    switch ((vyre_builtin)e->sub) {
    case VYRE_BUILTIN_LOCAL_ID: return local_id(s, axis);
    case VYRE_BUILTIN_GROUP_ID: return group_id(s, axis);
    case VYRE_BUILTIN_NUM_GROUPS: return num_groups(s, axis);
    case VYRE_BUILTIN_GLOBAL_ID:
        local = local_id(s, axis);
        return place(s, group_id(s, axis), lanes, &local);
    case VYRE_BUILTIN_GLOBAL_SIZE: return place(s, num_groups(s, axis), lanes, NULL);
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
        return id(
            s, VYRE_BUILTIN_SUBGROUP_LOCAL_ID, 0,
            (range_interval){
                0, (int64_t)(group < VYRE_SUBGROUP_SIZE_FIXED ? group : VYRE_SUBGROUP_SIZE_FIXED) -
                       1});
    case VYRE_BUILTIN_GROUP_SIZE: constant = vyre_affine_constant(lanes); break;
    case VYRE_BUILTIN_SUBGROUP_SIZE:
        constant = vyre_affine_constant(VYRE_SUBGROUP_SIZE_FIXED);
        break;
    case VYRE_BUILTIN_COUNT: return range_unknown;
    }
    return range_exact(s, &constant);
}

/* Narrowed once and for all: what is known before the first statement holds everywhere. */
static void keep_bounds(range_state *s) {
    for (uint32_t i = 0; i < s->now.count; i++) {
        s->r->symbols.data[i].lo = s->now.data[i].bounds.lo;
        s->r->symbols.data[i].hi = s->now.data[i].bounds.hi;
    }
}

void range_measure(range_state *s) {
    const uint32_t decls = s->p->decl_count;
    sizes z = {.s = s};
    z.state = vyre_alloc_zeroed(s->a, decls, sizeof *z.state);
    z.stack = vyre_alloc(s->a, (size_t)decls + 1, sizeof *z.stack);
    s->failed |= !z.state || !z.stack;
    if (!s->failed) {
        measure_all(&z);
    }
    for (vyre_decl decl = 0; decl < decls && !s->failed; decl++) {
        note_dimensions(&z, decl);
    }
    for (uint32_t axis = 0; axis < 3 && !s->failed; axis++) {
        const range_value group = group_id(s, axis), groups = num_groups(s, axis);
        if (group.value != VYRE_NONE && groups.value != VYRE_NONE) {
            const vyre_affine x = *range_at(s, group.value), y = *range_at(s, groups.value);
            range_note_order(s, &x, &y, -1, VYRE_NONE, 0);
        }
    }
    keep_bounds(s);
    vyre_free(s->a, z.state, decls, sizeof *z.state);
    vyre_free(s->a, z.stack, (size_t)decls + 1, sizeof *z.stack);
}
