/* Sizes: postfix evaluation in 128-bit integers with overflow checks. The expressions of a tree are
 * contiguous and end at the root, so the tree is walked by a loop over [first, root]. */
#include "ir/size.h"

#include "ir/builder.h"
#include "ir/fold.h"

__extension__ typedef __int128 wide;

bool vyre_size_allows(const vyre_expr_node *e) {
    switch ((int)e->op) {
    case VYRE_EXPR_LITERAL:
    case VYRE_EXPR_REF: return vyre_type_is_integer((vyre_type)e->type);
    case VYRE_EXPR_LEN:
    case VYRE_EXPR_NEG:
    case VYRE_EXPR_ADD:
    case VYRE_EXPR_SUB:
    case VYRE_EXPR_MUL:
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM:
    case VYRE_EXPR_SHL:
    case VYRE_EXPR_SHR:
    case VYRE_EXPR_MIN:
    case VYRE_EXPR_MAX: return true;
    default: return false;
    }
}

static vyre_size_result leaf(const vyre_program_view *p, const vyre_expr_node *e,
                             const vyre_size_env *env, wide *out, vyre_decl *unknown) {
    uint64_t bits = 0;
    if (e->op == VYRE_EXPR_LITERAL) {
        *out = (wide)(int64_t)e->u.bits;
        return VYRE_SIZE_OK;
    }
    const vyre_decl_node *d = &p->decls[e->ref];
    bool known;
    if (e->op == VYRE_EXPR_LEN) {
        known = env->len && env->len(env->user, e->ref, &bits);
        *out = (wide)bits;
    } else {
        known = d->role == VYRE_CONST ? vyre_fold_const(p, e->ref, &bits)
                                      : env->param && env->param(env->user, e->ref, &bits);
        uint32_t spare = 64 - 8 * vyre_type_size((vyre_type)d->type);
        *out = vyre_type_is_signed((vyre_type)d->type) ? (wide)((int64_t)(bits << spare) >> spare)
                                                       : (wide)bits;
    }
    if (!known && unknown) {
        *unknown = e->ref;
    }
    return known ? VYRE_SIZE_OK : VYRE_SIZE_UNKNOWN;
}

static vyre_size_result apply(vyre_expr_op op, wide x, wide y, wide *out) {
    switch ((int)op) {
    case VYRE_EXPR_NEG:
        return __builtin_sub_overflow((wide)0, x, out) ? VYRE_SIZE_RANGE : VYRE_SIZE_OK;
    case VYRE_EXPR_ADD: return __builtin_add_overflow(x, y, out) ? VYRE_SIZE_RANGE : VYRE_SIZE_OK;
    case VYRE_EXPR_SUB: return __builtin_sub_overflow(x, y, out) ? VYRE_SIZE_RANGE : VYRE_SIZE_OK;
    case VYRE_EXPR_MUL: return __builtin_mul_overflow(x, y, out) ? VYRE_SIZE_RANGE : VYRE_SIZE_OK;
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM:
        if (y == 0) {
            return VYRE_SIZE_DIVISION;
        }
        if (y == -1) { /* the one quotient that may not fit */
            *out = 0;
            return op == VYRE_EXPR_REM                       ? VYRE_SIZE_OK
                   : __builtin_sub_overflow((wide)0, x, out) ? VYRE_SIZE_RANGE
                                                             : VYRE_SIZE_OK;
        }
        *out = op == VYRE_EXPR_DIV ? x / y : x % y;
        return VYRE_SIZE_OK;
    case VYRE_EXPR_SHL:
        if (y < 0 || y > 126) {
            return VYRE_SIZE_RANGE;
        }
        return __builtin_mul_overflow(x, (wide)1 << y, out) ? VYRE_SIZE_RANGE : VYRE_SIZE_OK;
    case VYRE_EXPR_SHR:
        if (y < 0) {
            return VYRE_SIZE_RANGE;
        }
        *out = x >> (y > 126 ? 126 : y);
        return VYRE_SIZE_OK;
    case VYRE_EXPR_MIN: *out = x < y ? x : y; return VYRE_SIZE_OK;
    case VYRE_EXPR_MAX: *out = x > y ? x : y; return VYRE_SIZE_OK;
    default: return VYRE_SIZE_OPERATOR;
    }
}

vyre_size_result vyre_size_evaluate(const vyre_program_view *p, vyre_expr root,
                                    const vyre_size_env *env, uint64_t *out_value,
                                    vyre_decl *out_unknown) {
    wide stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2];
    uint32_t top = 0;
    stack[0] = 0;
    /* The first expression of the tree: follow first operands down. */
    vyre_expr first = root;
    while (vyre_expr_info_of((vyre_expr_op)p->exprs[first].op)->arity > 0) {
        first = p->exprs[first].u.arg[0];
    }
    for (vyre_expr i = first; i <= root; i++) {
        const vyre_expr_node *e = &p->exprs[i];
        if (!vyre_size_allows(e)) {
            return VYRE_SIZE_OPERATOR;
        }
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        wide value = 0;
        vyre_size_result result;
        if (arity == 0) {
            result = leaf(p, e, env, &value, out_unknown);
        } else {
            top -= arity;
            result = apply((vyre_expr_op)e->op, stack[top], arity > 1 ? stack[top + 1] : 0, &value);
        }
        if (result != VYRE_SIZE_OK) {
            return result;
        }
        stack[top++] = value;
    }
    if (stack[0] < 0 || stack[0] > (wide)INT64_MAX) {
        return VYRE_SIZE_RANGE;
    }
    *out_value = (uint64_t)stack[0];
    return VYRE_SIZE_OK;
}
