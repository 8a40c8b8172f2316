/* Instructions from assignments. Expressions are in an order in which operands come before users,
 * so each but a leaf becomes one instruction, in that order; literals, variables and params become
 * operands where they lie. The root writes its variable: it is the last, and reads before it
 * writes. Operations on u32, i32 and bool have instructions of their own, all else is folded. */
#include "split/control_code.h"

static bool is_word(vyre_type type) {
    return type == VYRE_U32 || type == VYRE_I32;
}

/* Of integers of 32 bits. a > b is b < a. */
static vyre_code_op word_op(vyre_expr_op op, bool is_signed, bool *swap) {
    *swap = op == VYRE_EXPR_GT || op == VYRE_EXPR_GE;
    switch ((int)op) {
    case VYRE_EXPR_BIT_NOT: return VYRE_CODE_BIT_NOT;
    case VYRE_EXPR_NEG: return VYRE_CODE_NEG;
    case VYRE_EXPR_ADD: return VYRE_CODE_ADD;
    case VYRE_EXPR_SUB: return VYRE_CODE_SUB;
    case VYRE_EXPR_MUL: return VYRE_CODE_MUL;
    case VYRE_EXPR_DIV: return is_signed ? VYRE_CODE_FOLD : VYRE_CODE_DIV;
    case VYRE_EXPR_REM: return is_signed ? VYRE_CODE_FOLD : VYRE_CODE_REM;
    case VYRE_EXPR_SHL: return VYRE_CODE_SHL;
    case VYRE_EXPR_SHR: return is_signed ? VYRE_CODE_SHR_SIGNED : VYRE_CODE_SHR;
    case VYRE_EXPR_LT:
    case VYRE_EXPR_GT: return is_signed ? VYRE_CODE_LT_SIGNED : VYRE_CODE_LT;
    case VYRE_EXPR_LE:
    case VYRE_EXPR_GE: return is_signed ? VYRE_CODE_LE_SIGNED : VYRE_CODE_LE;
    case VYRE_EXPR_EQ: return VYRE_CODE_EQ;
    case VYRE_EXPR_NE: return VYRE_CODE_NE;
    default: return VYRE_CODE_FOLD;
    }
}

static vyre_code_op cast_op(vyre_type from, vyre_type to) {
    return is_word(to) && is_word(from)                              ? VYRE_CODE_MOVE
           : to == VYRE_BOOL && (is_word(from) || from == VYRE_BOOL) ? VYRE_CODE_IS_TRUE
           : is_word(to) && from == VYRE_BOOL                        ? VYRE_CODE_IS_TRUE
                                                                     : VYRE_CODE_FOLD;
}

/* Of an expression that has operands. */
static vyre_code_op op_of(const vyre_expr_node *n, vyre_type type, bool *swap) {
    *swap = false;
    switch ((int)n->op) {
    case VYRE_EXPR_LOAD: return VYRE_CODE_LOAD;
    case VYRE_EXPR_CAST: return cast_op(type, (vyre_type)n->sub);
    case VYRE_EXPR_BITCAST: return VYRE_CODE_MOVE;
    case VYRE_EXPR_NOT: return VYRE_CODE_NOT;
    case VYRE_EXPR_AND: return VYRE_CODE_AND;
    case VYRE_EXPR_OR: return VYRE_CODE_OR;
    case VYRE_EXPR_SELECT:
    case VYRE_EXPR_COND: return VYRE_CODE_SELECT;
    default: break;
    }
    if (type == VYRE_BOOL) {
        return n->op == VYRE_EXPR_EQ   ? VYRE_CODE_SAME
               : n->op == VYRE_EXPR_NE ? VYRE_CODE_DIFFERENT
                                       : VYRE_CODE_FOLD;
    }
    if (n->op == VYRE_EXPR_BIT_AND || n->op == VYRE_EXPR_BIT_OR || n->op == VYRE_EXPR_BIT_XOR) {
        return n->op == VYRE_EXPR_BIT_AND  ? VYRE_CODE_BIT_AND
               : n->op == VYRE_EXPR_BIT_OR ? VYRE_CODE_BIT_OR
                                           : VYRE_CODE_BIT_XOR;
    }
    return is_word(type) ? word_op((vyre_expr_op)n->op, type == VYRE_I32, swap) : VYRE_CODE_FOLD;
}

/* Operand k is the value of the expression; `room` is the word of that numbered 0. */
static bool set_operand(vyre_control_code *code, const vyre_program_view *p, vyre_expr e,
                        uint32_t room, vyre_code *to, uint32_t k, const vyre_allocator *a) {
    const vyre_expr_node *n = &p->exprs[e];
    to->from[k] = n->op == VYRE_EXPR_LITERAL ? VYRE_CODE_LITERALS
                  : n->op == VYRE_EXPR_REF   ? VYRE_CODE_PARAMS
                                             : VYRE_CODE_WORDS;
    to->arg[k] = n->op == VYRE_EXPR_LITERAL                         ? code->literals.count
                 : n->op == VYRE_EXPR_REF || n->op == VYRE_EXPR_VAR ? n->ref
                                                                    : room + e;
    return n->op != VYRE_EXPR_LITERAL || vyre_vec_push(a, &code->literals, n->u.bits);
}

static bool is_leaf(vyre_expr_op op) {
    return op == VYRE_EXPR_LITERAL || op == VYRE_EXPR_REF || op == VYRE_EXPR_VAR;
}

static bool add(vyre_control_code *code, const vyre_program_view *p, vyre_expr e, uint32_t room,
                uint32_t to, const vyre_allocator *a) {
    const vyre_expr_node *n = &p->exprs[e];
    vyre_code made = {.to = to, .expr = e};
    bool ok = true, swap = false;
    if (is_leaf((vyre_expr_op)n->op)) { /* a root */
        made.op = VYRE_CODE_MOVE;
        ok = set_operand(code, p, e, room, &made, 0, a);
        return ok && vyre_vec_push(a, &code->list, made);
    }
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
    made.op = (uint8_t)(n->op == VYRE_EXPR_LEN ? VYRE_CODE_LEN
                        : n->op == VYRE_EXPR_BUILTIN
                            ? VYRE_CODE_ID
                            : op_of(n, (vyre_type)p->exprs[n->u.arg[0]].type, &swap));
    for (uint32_t i = 0; i < arity && ok; i++) {
        ok = set_operand(code, p, n->u.arg[swap ? 1 - i : i], room, &made, i, a);
    }
    return ok && vyre_vec_push(a, &code->list, made);
}

bool vyre_control_code_add(vyre_control_code *code, const vyre_program_view *p, vyre_stmt s,
                           uint32_t room, const vyre_allocator *a) {
    const vyre_stmt_node *n = &p->stmts[s];
    const uint32_t base = room - n->first_expr; /* may wrap, and then wraps back */
    bool ok = true;
    for (vyre_expr e = n->first_expr; e < n->end_expr && ok; e++) {
        if (e == n->arg[0] || !is_leaf((vyre_expr_op)p->exprs[e].op)) {
            ok = add(code, p, e, base, e == n->arg[0] ? n->var : base + e, a);
        }
    }
    return ok;
}

void vyre_control_code_finish(vyre_control_code *code, const vyre_allocator *a) {
    vyre_vec_free(a, &code->list);
    vyre_vec_free(a, &code->literals);
}
