/* Types of expressions, by the operand rows of ops.def. */
#include "analysis/checker.h"

static const char *accepted(vyre_operands operands) {
    switch (operands) {
    case VYRE_OPERANDS_NONE:
    case VYRE_OPERANDS_ANY: break;
    case VYRE_OPERANDS_NUMBER: return "numbers";
    case VYRE_OPERANDS_INTEGER:
    case VYRE_OPERANDS_SHIFT: return "integers";
    case VYRE_OPERANDS_WORD: return "u32 or i32";
    case VYRE_OPERANDS_FLOAT:
    case VYRE_OPERANDS_ELEMENTARY: return "f32 or f64";
    case VYRE_OPERANDS_LOGIC:
    case VYRE_OPERANDS_SELECT: return "bool or u32";
    case VYRE_OPERANDS_BITS: return "numbers of the same width";
    case VYRE_OPERANDS_U32:
    case VYRE_OPERANDS_INDEX: return "u32";
    }
    return "values";
}

/* Code for an operand of a wrong type. */
static const char *wrong_code(vyre_expr_op op, const vyre_expr_info *info) {
    if (op == VYRE_EXPR_REM || op == VYRE_EXPR_FMA || op == VYRE_EXPR_NOT) {
        return op == VYRE_EXPR_REM ? "V089" : op == VYRE_EXPR_FMA ? "V028" : "V100";
    }
    switch ((vyre_operands)info->operands) {
    case VYRE_OPERANDS_INTEGER: return info->arity == 1 ? "V101" : "V091";
    case VYRE_OPERANDS_SHIFT: return "V091";
    case VYRE_OPERANDS_WORD: return "V103";
    case VYRE_OPERANDS_FLOAT:
    case VYRE_OPERANDS_ELEMENTARY: return "V102";
    case VYRE_OPERANDS_LOGIC:
    case VYRE_OPERANDS_SELECT: return "V095";
    case VYRE_OPERANDS_BITS: return "V012";
    case VYRE_OPERANDS_U32:
    case VYRE_OPERANDS_INDEX: return "V122";
    case VYRE_OPERANDS_NONE:
    case VYRE_OPERANDS_ANY:
    case VYRE_OPERANDS_NUMBER: break;
    }
    return "V087";
}

/* Code for operands that differ in type. */
static const char *mixed_code(vyre_expr_op op, const vyre_expr_info *info) {
    if (op == VYRE_EXPR_REM || op == VYRE_EXPR_FMA || info->operands == VYRE_OPERANDS_SELECT) {
        return op == VYRE_EXPR_REM ? "V090" : op == VYRE_EXPR_FMA ? "V028" : "V029";
    }
    if (info->result == VYRE_RESULT_BOOL) {
        return "V096";
    }
    return info->operands == VYRE_OPERANDS_INTEGER ? "V092" : "V088";
}

static bool check_operand_types(vyre_checker *c, vyre_expr at, const vyre_expr_info *info) {
    const vyre_expr_node *node = &c->p->exprs[at];
    const vyre_expr_op op = (vyre_expr_op)node->op;
    const vyre_operands operands = (vyre_operands)info->operands;
    for (uint32_t i = 0; i < info->arity; i++) {
        const vyre_type type = (vyre_type)c->p->exprs[node->u.arg[i]].type;
        if (vyre_operands_accept(operands, i, type)) {
            continue;
        }
        const vyre_place place = vyre_program_expr_place(c->program, node->u.arg[i]);
        const char *quote = op == VYRE_EXPR_LOAD ? "" : "`";
        vyre_checker_error(c, wrong_code(op, info), place, "convert it with a cast",
                           "%s%s%s takes %s, not %s", quote,
                           op == VYRE_EXPR_LOAD ? "an index" : info->spelling, quote,
                           accepted(operands), vyre_type_name(type));
        return false;
    }
    return true;
}

static bool check_agreement(vyre_checker *c, vyre_expr at, const vyre_expr_info *info) {
    const vyre_expr_node *node = &c->p->exprs[at];
    if (info->arity < 2 || info->operands == VYRE_OPERANDS_LOGIC) {
        return true;
    }
    const uint32_t first = info->operands == VYRE_OPERANDS_SELECT;
    const vyre_type want = (vyre_type)c->p->exprs[node->u.arg[first]].type;
    for (uint32_t i = first + 1; i < info->arity; i++) {
        const vyre_type type = (vyre_type)c->p->exprs[node->u.arg[i]].type;
        if (type == want || (info->operands == VYRE_OPERANDS_SHIFT && type == VYRE_U32)) {
            continue;
        }
        const vyre_place place = vyre_program_expr_place(c->program, at);
        if (info->operands == VYRE_OPERANDS_SHIFT) {
            vyre_checker_error(c, "V252", place, "use a u32 amount",
                               "`%s` of %s by %s: the amount is u32 or of the left type",
                               info->spelling, vyre_type_name(want), vyre_type_name(type));
        } else {
            vyre_checker_error(c, mixed_code((vyre_expr_op)node->op, info), place,
                               "convert one of them with a cast", "`%s` mixes %s and %s",
                               info->spelling, vyre_type_name(want), vyre_type_name(type));
        }
        return false;
    }
    return true;
}

void vyre_check_index(vyre_checker *c, vyre_decl decl, vyre_expr index) {
    int64_t value;
    if (!c->bad_expr[index] && c->known[decl] && vyre_checker_constant(c, index, &value) &&
        (value < 0 || (uint64_t)value >= c->value[decl])) {
        vyre_checker_warn(
            c, "V036", vyre_program_expr_place(c->program, index), "use an index below the size",
            "element %lld of `%s`, which has %llu: loads give 0, stores do nothing",
            (long long)value, c->p->decls[decl].name, (unsigned long long)c->value[decl]);
    }
}

static bool check_leaf(vyre_checker *c, vyre_expr at) {
    const vyre_expr_node *node = &c->p->exprs[at];
    if (node->op == VYRE_EXPR_REF) {
        return !c->bad_decl[node->ref];
    }
    if (node->op != VYRE_EXPR_VAR) {
        return true;
    }
    if (!c->in_scope[node->ref]) {
        vyre_checker_error(c, "V066", vyre_program_expr_place(c->program, at),
                           "use it inside the list and after the statement that binds it",
                           "`%s` is not visible here", c->p->vars[node->ref].name);
        return false;
    }
    return !c->bad_var[node->ref];
}

static bool check_expr(vyre_checker *c, vyre_expr at) {
    const vyre_expr_node *node = &c->p->exprs[at];
    const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)node->op);
    if (info->arity == 0) {
        return check_leaf(c, at);
    }
    for (uint32_t i = 0; i < info->arity; i++) {
        if (c->bad_expr[node->u.arg[i]]) {
            return false;
        }
    }
    if (!check_operand_types(c, at, info)) {
        return false;
    }
    if (node->op == VYRE_EXPR_BITCAST) {
        const vyre_type from = (vyre_type)c->p->exprs[node->u.arg[0]].type;
        if (node->type == VYRE_BOOL || vyre_type_size(from) != vyre_type_size(node->type)) {
            vyre_checker_error(c, "V012", vyre_program_expr_place(c->program, at),
                               "use a type of the same width, or a cast", "bitcast from %s to %s",
                               vyre_type_name(from), vyre_type_name((vyre_type)node->type));
            return false;
        }
    }
    if (node->op == VYRE_EXPR_LOAD) {
        if (c->p->decls[node->ref].access == VYRE_ACCESS_WRITE) {
            vyre_checker_error(c, "V251", vyre_program_expr_place(c->program, at),
                               "declare it as readable", "`%s` is write-only here",
                               c->p->decls[node->ref].name);
            return false;
        }
        vyre_check_index(c, node->ref, node->u.arg[0]);
    }
    return check_agreement(c, at, info);
}

void vyre_check_exprs(vyre_checker *c, vyre_expr first, vyre_expr end) {
    for (vyre_expr at = first; at < end; at++) {
        const vyre_expr_node *node = &c->p->exprs[at];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)node->op)->arity;
        uint16_t height = 1;
        c->bad_expr[at] = !check_expr(c, at);
        for (uint32_t i = 0; i < arity; i++) {
            const uint16_t below = c->height[node->u.arg[i]];
            height = below + 1 > height ? (uint16_t)(below + 1) : height;
        }
        c->height[at] = height;
        if (height == VYRE_LIMIT_EXPR_DEPTH + 1 && !c->bad_expr[at]) {
            vyre_checker_error(c, "V033", vyre_program_expr_place(c->program, at),
                               "bind parts of it with let", "this expression is more than %d deep",
                               (int)VYRE_LIMIT_EXPR_DEPTH);
            c->bad_expr[at] = true;
        }
    }
}

void vyre_check_type(vyre_checker *c, vyre_expr expr, vyre_type type, const char *code,
                     const char *what) {
    const vyre_type got = (vyre_type)c->p->exprs[expr].type;
    if (!c->bad_expr[expr] && got != type) {
        vyre_checker_error(c, code, vyre_program_expr_place(c->program, expr),
                           "convert it with a cast", "%s is %s, not %s", what, vyre_type_name(got),
                           vyre_type_name(type));
    }
}
