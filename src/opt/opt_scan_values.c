#include "opt/opt_scan_values.h"

#include "ir/fold.h"
#include "ir/size.h"

enum { MOST_DEPTH = 8 };

static const scan_value nothing = {.kind = SCAN_UNKNOWN};

scan_value vyre_scan_constant(uint64_t bits) {
    return (scan_value){.kind = SCAN_CONSTANT, .bits = bits};
}

/* Operators */

bool vyre_scan_combines(vyre_expr_op op) {
    return op == VYRE_EXPR_ADD || op == VYRE_EXPR_MUL || op == VYRE_EXPR_MIN ||
           op == VYRE_EXPR_MAX || op == VYRE_EXPR_BIT_AND || op == VYRE_EXPR_BIT_OR ||
           op == VYRE_EXPR_BIT_XOR;
}

/* x op x is x. */
static bool is_idempotent(vyre_expr_op op) {
    return op == VYRE_EXPR_MIN || op == VYRE_EXPR_MAX || op == VYRE_EXPR_BIT_AND ||
           op == VYRE_EXPR_BIT_OR;
}

uint64_t vyre_scan_neutral(vyre_expr_op op, vyre_type type) {
    const uint64_t sign = UINT64_C(1) << (8 * vyre_type_size(type) - 1), ones = sign | (sign - 1);
    const bool is_signed = vyre_type_is_signed(type);
    return op == VYRE_EXPR_MUL       ? 1
           : op == VYRE_EXPR_BIT_AND ? ones
           : op == VYRE_EXPR_MIN     ? (is_signed ? sign - 1 : ones)
           : op == VYRE_EXPR_MAX     ? (is_signed ? sign : 0)
                                     : 0;
}

bool vyre_scan_is_element(scan_value v) {
    return v.kind == SCAN_MINE || v.kind == SCAN_OTHER || v.kind == SCAN_BOTH ||
           v.kind == SCAN_FIRST;
}

static scan_value combine(const scan_finder *f, vyre_expr_op op, vyre_type type, scan_value x,
                          scan_value y) {
    if (vyre_type_is_float(type)) {
        return nothing;
    }
    if (x.kind == SCAN_CONSTANT && x.bits == vyre_scan_neutral(op, type)) {
        return y;
    }
    if (y.kind == SCAN_CONSTANT && y.bits == vyre_scan_neutral(op, type)) {
        return x;
    }
    const bool fits = vyre_scan_is_element(x) && vyre_scan_is_element(y) &&
                      (f->op == VYRE_EXPR_COUNT || f->op == op);
    if (fits && ((x.kind == SCAN_MINE && y.kind == SCAN_OTHER) ||
                 (x.kind == SCAN_OTHER && y.kind == SCAN_MINE))) {
        return (scan_value){.kind = SCAN_BOTH, .op = (uint8_t)op};
    }
    const bool is_other_op =
        (x.kind == SCAN_BOTH && x.op != op) || (y.kind == SCAN_BOTH && y.op != op);
    if (fits && is_idempotent(op) && !is_other_op && x.kind != SCAN_OTHER && y.kind != SCAN_OTHER) {
        /* MINE is in all of them */
        return x.kind == SCAN_BOTH || y.kind == SCAN_BOTH
                   ? (scan_value){.kind = SCAN_BOTH, .op = (uint8_t)op}
               : x.kind == SCAN_MINE ? x
                                     : y;
    }
    return nothing;
}

/* lane + bits, of all lanes of the class, beside a constant; -1: neither always nor never. */
static int compare(const scan_trip *t, vyre_expr_op op, uint32_t offset, uint32_t with) {
    const uint32_t low = t ? t->low + offset : 1, high = t ? t->high + offset : 0;
    if (low > high) {
        return -1; /* it passes 2^32, or nothing is known of lanes */
    }
    const bool below = high<with, above = low> with, equal = low == with && high == with;
    switch ((int)op) {
    case VYRE_EXPR_LT: return below ? 1 : above || low == with ? 0 : -1;
    case VYRE_EXPR_GE: return below ? 0 : above || low == with ? 1 : -1;
    case VYRE_EXPR_GT: return above ? 1 : below || high == with ? 0 : -1;
    case VYRE_EXPR_LE: return above ? 0 : below || high == with ? 1 : -1;
    case VYRE_EXPR_EQ: return equal ? 1 : below || above ? 0 : -1;
    case VYRE_EXPR_NE: return equal ? 0 : below || above ? 1 : -1;
    default: return -1;
    }
}

static vyre_expr_op turned_round(vyre_expr_op op) {
    return op == VYRE_EXPR_LT   ? VYRE_EXPR_GT
           : op == VYRE_EXPR_GT ? VYRE_EXPR_LT
           : op == VYRE_EXPR_LE ? VYRE_EXPR_GE
           : op == VYRE_EXPR_GE ? VYRE_EXPR_LE
                                : op;
}

static scan_value with_lane(const scan_trip *t, vyre_expr_op op, scan_value x, scan_value y) {
    if (y.kind == SCAN_LANE) {
        if (op == VYRE_EXPR_SUB) {
            return nothing;
        }
        const scan_value lane = y;
        y = x;
        x = lane;
        op = turned_round(op);
    }
    if (op == VYRE_EXPR_ADD || op == VYRE_EXPR_SUB) {
        const uint64_t sum = op == VYRE_EXPR_ADD ? x.bits + y.bits : x.bits - y.bits;
        return (scan_value){.kind = SCAN_LANE, .bits = (uint32_t)sum};
    }
    const int holds = compare(t, op, (uint32_t)x.bits, (uint32_t)y.bits);
    return holds < 0 ? nothing : vyre_scan_constant((uint64_t)holds);
}

/* Expressions */

uint64_t vyre_scan_count(const scan_finder *f, vyre_decl memory) {
    static const vyre_size_env nowhere = {0};
    uint64_t count = 0;
    (void)vyre_size_evaluate(f->p, f->p->decls[memory].size, &nowhere, &count, NULL);
    return count;
}

static scan_value load(const scan_finder *f, scan_trip *t, const vyre_expr_node *n, scan_value at) {
    if (!t || n->ref != f->memory || at.kind != SCAN_LANE) {
        return nothing;
    }
    const uint32_t offset = (uint32_t)at.bits;
    if (offset == 0) {
        return t->mine;
    }
    if (compare(t, VYRE_EXPR_GE, offset, (uint32_t)vyre_scan_count(f, f->memory)) == 1) {
        return vyre_scan_constant(0); /* beyond the end */
    }
    if (t->low < t->distance || offset != 0 - t->distance || t->stored != VYRE_NONE) {
        return nothing;
    }
    t->first_loaded = t->first_loaded == VYRE_NONE ? t->barriers : t->first_loaded;
    t->loaded = t->barriers;
    return (scan_value){.kind = SCAN_OTHER};
}

const scan_known *vyre_scan_find(const scan_finder *f, vyre_var var) {
    for (uint32_t i = 0; i < f->var_count; i++) {
        if (f->vars[i].var == var) {
            return &f->vars[i];
        }
    }
    return NULL;
}

static scan_value choose(const scan_value *x) {
    return x[0].kind != SCAN_CONSTANT ? nothing : x[0].bits ? x[1] : x[2];
}

static scan_value logic(vyre_expr_op op, const scan_value *x) {
    const bool decides = op == VYRE_EXPR_OR;
    bool all = true;
    for (int k = 0; k < 2; k++) {
        if (x[k].kind == SCAN_CONSTANT && (x[k].bits != 0) == decides) {
            return vyre_scan_constant(decides);
        }
        all &= x[k].kind == SCAN_CONSTANT;
    }
    return all ? vyre_scan_constant(!decides) : nothing;
}

/* An expression whose operands are known. `t` NULL: before the loop. */
static scan_value evaluate_one(const scan_finder *f, scan_trip *t, vyre_expr at,
                               const scan_value *x, uint32_t depth) {
    const vyre_expr_node *n = &f->p->exprs[at];
    const vyre_expr_op op = (vyre_expr_op)n->op;
    const uint32_t arity = vyre_expr_info_of(op)->arity;
    uint64_t bits[3] = {0}, result = 0;
    switch ((int)op) {
    case VYRE_EXPR_LITERAL: return vyre_scan_constant(n->u.bits);
    case VYRE_EXPR_VAR: {
        const scan_known *is = t ? vyre_scan_find(f, n->ref) : NULL;
        return is ? is->now : t ? nothing : vyre_scan_initial(f, n->ref, depth + 1);
    }
    case VYRE_EXPR_BUILTIN:
        return n->sub == VYRE_BUILTIN_LOCAL_ID
                   ? (n->axis == 0 ? (scan_value){.kind = SCAN_LANE} : vyre_scan_constant(0))
               : n->sub == VYRE_BUILTIN_GROUP_SIZE ? vyre_scan_constant(f->p->workgroup[n->axis])
                                                   : nothing;
    case VYRE_EXPR_REF:
        return vyre_fold_const(f->p, n->ref, &result) ? vyre_scan_constant(result) : nothing;
    case VYRE_EXPR_LEN:
        return f->p->decls[n->ref].role == VYRE_WORKGROUP
                   ? vyre_scan_constant(vyre_scan_count(f, n->ref))
                   : nothing;
    case VYRE_EXPR_LOAD: return load(f, t, n, x[0]);
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND: return choose(x);
    case VYRE_EXPR_AND:
    case VYRE_EXPR_OR: return logic(op, x);
    default: break;
    }
    bool all = arity > 0;
    for (uint32_t k = 0; k < arity; k++) {
        all &= x[k].kind == SCAN_CONSTANT;
        bits[k] = x[k].bits;
    }
    if (all) {
        return vyre_fold(f->p, at, bits, &result) ? vyre_scan_constant(result) : nothing;
    }
    if (arity == 2 && ((x[0].kind == SCAN_LANE && x[1].kind == SCAN_CONSTANT) ||
                       (x[0].kind == SCAN_CONSTANT && x[1].kind == SCAN_LANE))) {
        return with_lane(t, op, x[0], x[1]);
    }
    return arity == 2 && vyre_scan_combines(op) ? combine(f, op, (vyre_type)n->type, x[0], x[1])
                                                : nothing;
}

bool vyre_scan_evaluate(const scan_finder *f, scan_trip *t, vyre_stmt s, scan_value *out,
                        uint32_t depth) {
    const vyre_stmt_node *n = &f->p->stmts[s];
    if (n->end_expr - n->first_expr > SCAN_MOST_EXPRS) {
        return false;
    }
    for (vyre_expr i = n->first_expr; i < n->end_expr; i++) {
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)f->p->exprs[i].op)->arity;
        scan_value x[3] = {nothing, nothing, nothing};
        for (uint32_t k = 0; k < arity; k++) {
            x[k] = out[f->p->exprs[i].u.arg[k] - n->first_expr];
        }
        out[i - n->first_expr] = evaluate_one(f, t, i, x, depth);
    }
    return true;
}

/* Before the loop */

bool vyre_scan_leads_to(const scan_finder *f, vyre_stmt from, vyre_stmt to, vyre_var var) {
    uint32_t depth = 0;
    for (vyre_stmt i = from + 1; i < to; i++) {
        const vyre_stmt_node *n = &f->p->stmts[i];
        const uint8_t scope = vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        if ((depth == 0 && (scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE)) ||
            (n->op == VYRE_STMT_ASSIGN && n->var == var)) {
            return false;
        }
        depth += scope == VYRE_SCOPE_OPEN;
        depth -= scope == VYRE_SCOPE_END;
    }
    return depth == 0;
}

scan_value vyre_scan_initial(const scan_finder *f, vyre_var var, uint32_t depth) {
    scan_value x[SCAN_MOST_EXPRS];
    const vyre_stmt let = f->bound_at[var];
    if (depth > MOST_DEPTH || let >= f->loop || f->p->stmts[let].op != VYRE_STMT_LET ||
        (f->assigned[var] && !vyre_scan_leads_to(f, let, f->loop, var)) ||
        !vyre_scan_evaluate(f, NULL, let, x, depth)) {
        return nothing;
    }
    const vyre_stmt_node *n = &f->p->stmts[let];
    return x[n->arg[0] - n->first_expr];
}
