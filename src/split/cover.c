/* Cover: an index as a sum of terms with constant factors.
 *
 * Sorted by factor, such a sum takes each value from 0 to n - 1 once if the smallest factor is 1,
 * each further one is the product of factor and range of the one before, and that of the last is n:
 * digits of a number, with a base for each. The terms must go over their ranges independently, so
 * no axis may be in two of them. Nothing wraps, since the largest value is below 2^32. Definitions
 * are followed some levels deep only; what lies deeper is not known. */
#include "split/cover.h"

#include "ir/fold.h"
#include "ir/size.h"

enum { DEEPEST = 12 };

typedef struct sum {
    bool is_known;
    uint64_t constant;
    uint64_t factor[VYRE_COVER_TERMS];
} sum;

static const vyre_expr_node *resolve(const vyre_cover *c, vyre_expr *e) {
    while (*e != VYRE_NONE && c->p->exprs[*e].op == VYRE_EXPR_VAR &&
           c->value_of[c->p->exprs[*e].ref] != VYRE_NONE) {
        *e = c->value_of[c->p->exprs[*e].ref]; /* which stands before */
    }
    return *e == VYRE_NONE ? NULL : &c->p->exprs[*e];
}

bool vyre_cover_constant(const vyre_cover *c, vyre_expr e, uint64_t *out_value) {
    const vyre_expr_node *n = resolve(c, &e);
    if (n && n->op == VYRE_EXPR_LITERAL) {
        *out_value = n->u.bits;
        return true;
    }
    if (n && n->op == VYRE_EXPR_BUILTIN && n->sub == VYRE_BUILTIN_GROUP_SIZE) {
        *out_value = c->p->workgroup[n->axis];
        return true;
    }
    if (n && n->op == VYRE_EXPR_LEN && !vyre_role_is_buffer((vyre_role)c->p->decls[n->ref].role)) {
        static const vyre_size_env nothing = {0}; /* its size is constant */
        return vyre_size_evaluate(c->p, c->p->decls[n->ref].size, &nothing, out_value, NULL) ==
               VYRE_SIZE_OK;
    }
    return n && n->op == VYRE_EXPR_REF && c->p->decls[n->ref].role == VYRE_CONST &&
           vyre_fold_const(c->p, n->ref, out_value);
}

/* The largest value, or UINT64_MAX if it is not known, or may not fit. */
static uint64_t largest(const vyre_cover *c, const sum *of) {
    uint64_t total = of->constant;
    for (uint32_t i = 0; i < VYRE_COVER_TERMS && of->is_known; i++) {
        if (of->factor[i] > UINT32_MAX || total > UINT32_MAX) {
            return UINT64_MAX;
        }
        total += of->factor[i] > 0 && c->terms[i].range > 0
                     ? of->factor[i] * (c->terms[i].range - 1) /* 32 bits and 32 bits */
                     : 0;
    }
    return of->is_known && total <= UINT32_MAX ? total : UINT64_MAX;
}

static sum plus(const vyre_cover *c, sum x, sum y, uint64_t times) {
    x.is_known = x.is_known && y.is_known && times <= UINT32_MAX;
    x.constant += y.constant * times;
    for (uint32_t i = 0; i < VYRE_COVER_TERMS; i++) {
        x.factor[i] += y.factor[i] * times; /* both below 2^32 */
    }
    x.is_known = largest(c, &x) != UINT64_MAX;
    return x;
}

/* `v / by` or `v % by`: what v is, or VYRE_NONE. */
static vyre_expr part_of(const vyre_cover *c, vyre_expr e, vyre_expr_op op, uint64_t by) {
    const vyre_expr_node *n = resolve(c, &e);
    uint64_t value;
    return n && n->op == op && vyre_cover_constant(c, n->u.arg[1], &value) && value == by &&
                   c->p->exprs[n->u.arg[0]].op == VYRE_EXPR_VAR
               ? n->u.arg[0]
               : VYRE_NONE;
}

static sum sum_of(const vyre_cover *c, vyre_expr e, uint32_t depth);

/* row(y, w, x), which is y * w + x if x is below w; row(v / w, w, v % w) is v. */
static sum sum_of_row(const vyre_cover *c, const vyre_expr_node *n, uint32_t depth) {
    const sum unknown = {.is_known = false};
    uint64_t width;
    if (!vyre_cover_constant(c, n->u.arg[1], &width) || width == 0) {
        return unknown;
    }
    const vyre_expr quotient = part_of(c, n->u.arg[0], VYRE_EXPR_DIV, width);
    const vyre_expr rest = part_of(c, n->u.arg[2], VYRE_EXPR_REM, width);
    if (quotient != VYRE_NONE && rest != VYRE_NONE &&
        c->p->exprs[quotient].ref == c->p->exprs[rest].ref) {
        return sum_of(c, quotient, depth + 1);
    }
    const sum y = sum_of(c, n->u.arg[0], depth + 1), x = sum_of(c, n->u.arg[2], depth + 1);
    return largest(c, &x) < width ? plus(c, x, y, width) : unknown;
}

/* At most DEEPEST levels. */
static sum sum_of(const vyre_cover *c, vyre_expr e, uint32_t depth) {
    const vyre_expr_node *n = resolve(c, &e);
    sum made = {.is_known = false};
    uint64_t value;
    if (!n || depth == DEEPEST || n->type != VYRE_U32) {
        return made;
    }
    if (vyre_cover_constant(c, e, &value)) {
        return (sum){.is_known = value <= UINT32_MAX, .constant = value};
    }
    if (n->op == VYRE_EXPR_VAR) {
        for (uint32_t i = VYRE_COVER_AXES; i < VYRE_COVER_AXES + c->loops; i++) {
            made.is_known |= c->terms[i].var == n->ref;
            made.factor[i] = c->terms[i].var == n->ref;
        }
    } else if (n->op == VYRE_EXPR_BUILTIN && n->sub == VYRE_BUILTIN_LOCAL_ID) {
        made.is_known = true;
        made.factor[n->axis] = c->terms[n->axis].range > 1; /* else it is 0 */
    } else if (n->op == VYRE_EXPR_ADD) {
        return plus(c, sum_of(c, n->u.arg[0], depth + 1), sum_of(c, n->u.arg[1], depth + 1), 1);
    } else if (n->op == VYRE_EXPR_MUL && vyre_cover_constant(c, n->u.arg[1], &value)) {
        return plus(c, (sum){.is_known = true}, sum_of(c, n->u.arg[0], depth + 1), value);
    } else if (n->op == VYRE_EXPR_MUL && vyre_cover_constant(c, n->u.arg[0], &value)) {
        return plus(c, (sum){.is_known = true}, sum_of(c, n->u.arg[1], depth + 1), value);
    } else if (n->op == VYRE_EXPR_ROW) {
        return sum_of_row(c, n, depth);
    }
    return made;
}

bool vyre_cover_element(const vyre_cover *c, vyre_expr index, uint64_t *out_value) {
    const sum of = sum_of(c, index, 0);
    bool is_constant = of.is_known;
    for (uint32_t i = 0; i < VYRE_COVER_TERMS; i++) {
        is_constant &= of.factor[i] == 0;
    }
    *out_value = of.constant;
    return is_constant;
}

/* How many values the sum takes, from 0 on and without a gap; 0: that is not known. */
static uint64_t count_values(const vyre_cover *c, const sum *of, uint32_t *out_axes) {
    uint64_t product = 1;
    uint32_t left = 0; /* terms that are not in it yet */
    *out_axes = 0;
    for (uint32_t i = 0; i < VYRE_COVER_TERMS; i++) {
        left += of->factor[i] > 0;
    }
    for (; left > 0; left--) {
        uint32_t next = 0;
        while (next < VYRE_COVER_TERMS && of->factor[next] != product) {
            next++;
        }
        if (next == VYRE_COVER_TERMS || c->terms[next].range < 2 ||
            *out_axes & c->terms[next].axes) {
            return 0;
        }
        *out_axes |= c->terms[next].axes;
        product *= c->terms[next].range; /* at most one more than the largest value */
    }
    return of->is_known && of->constant == 0 ? product : 0;
}

void vyre_cover_init(vyre_cover *c, const vyre_program_view *program, const vyre_expr *value_of) {
    *c = (vyre_cover){.p = program, .value_of = value_of};
    for (uint32_t axis = 0; axis < VYRE_COVER_AXES; axis++) {
        c->terms[axis] = (vyre_cover_term){program->workgroup[axis], 1u << axis, VYRE_NONE};
    }
}

/* `for (v in f .. n step s)`: f is 0 and s is 1, or f takes s values over lanes, each once. */
bool vyre_cover_enter(vyre_cover *c, vyre_stmt loop) {
    const vyre_stmt_node *n = &c->p->stmts[loop];
    uint64_t to, step = 1;
    uint32_t axes;
    if (c->loops == VYRE_COVER_LOOPS || !vyre_cover_constant(c, n->arg[1], &to) || to < 2 ||
        (n->arg[2] != VYRE_NONE && !vyre_cover_constant(c, n->arg[2], &step))) {
        return false;
    }
    const sum from = sum_of(c, n->arg[0], 0);
    for (uint32_t i = VYRE_COVER_AXES; i < VYRE_COVER_TERMS; i++) {
        if (from.factor[i] != 0) {
            return false;
        }
    }
    if (count_values(c, &from, &axes) != step) {
        return false;
    }
    c->terms[VYRE_COVER_AXES + c->loops++] = (vyre_cover_term){to, axes, n->var};
    return true;
}

/* Loops that the index does not tell from trip to trip must run for everybody. */
static uint64_t count_indices(const vyre_cover *c, vyre_expr index, uint32_t *out_axes) {
    const sum of = sum_of(c, index, 0);
    for (uint32_t i = VYRE_COVER_AXES; i < VYRE_COVER_AXES + c->loops; i++) {
        if (of.factor[i] == 0 && c->terms[i].axes != 0) {
            return 0;
        }
    }
    return count_values(c, &of, out_axes);
}

bool vyre_cover_by_group(const vyre_cover *c, vyre_expr index, uint64_t count) {
    uint32_t axes = 0;
    return count_indices(c, index, &axes) == count;
}

bool vyre_cover_by_lane(const vyre_cover *c, vyre_expr index, uint64_t count) {
    uint32_t axes = 0;
    return count_indices(c, index, &axes) == count && axes == 0;
}

bool vyre_cover_is_same(const vyre_cover *c, vyre_expr x, vyre_expr y) {
    const sum a = sum_of(c, x, 0), b = sum_of(c, y, 0);
    bool same = a.is_known && b.is_known && a.constant == b.constant;
    for (uint32_t i = 0; i < VYRE_COVER_TERMS; i++) {
        same &= a.factor[i] == b.factor[i];
    }
    return same;
}
