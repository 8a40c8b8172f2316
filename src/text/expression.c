/* Expressions: operator precedence with explicit stacks of operands and open constructs.
 *
 * A node is made when its last operand is complete, so nodes come out in evaluation order. What is
 * known about types without context is computed right there. Brackets and operators waiting for
 * their right side are bounded by VYRE_LIMIT_PARSE_STACK, the depth of the result by
 * VYRE_LIMIT_EXPR_DEPTH. Cost: linear. */
#include <string.h>

#include "ir/builder.h"
#include "ir/precedence.h"
#include "text/parser.h"

/* COND: c ? up to its colon; behind that it is a binary operator with three operands and the lowest
 * precedence, which is what makes it bind to the right. */
enum {
    FRAME_BINARY,
    FRAME_PREFIX,
    FRAME_PAREN,
    FRAME_ARGUMENTS,
    FRAME_INDEX,
    FRAME_PLACE,
    FRAME_COND
};

void vyre_parser_clear(vyre_parser *p) {
    p->nodes.count = 0;
    p->kids.count = 0;
    p->direct = VYRE_NONE;
    p->direct_name = NULL;
    vyre_builder_forget_exprs(p->builder);
}

void vyre_node_group(const vyre_node *node, uint32_t *first, uint32_t *end) {
    *first = 0;
    *end = 0;
    if (node->op == VYRE_NODE_SUBGROUP) {
        *end = vyre_subgroup_operands((vyre_subgroup_op)node->sub) != VYRE_OPERANDS_LOGIC;
        return;
    }
    if (vyre_node_is_reduction(node->op)) {
        *end = vyre_reduce_operands((vyre_reduce_op)node->sub) != VYRE_OPERANDS_LOGIC;
        return;
    }
    if (node->op == VYRE_NODE_BIND || node->op == VYRE_NODE_CLAMP) {
        *end = node->kid_count;
        return;
    }
    if (node->op >= VYRE_EXPR_COUNT) {
        return;
    }
    switch ((vyre_operands)vyre_expr_info_of((vyre_expr_op)node->op)->operands) {
    case VYRE_OPERANDS_NONE:
    case VYRE_OPERANDS_LOGIC:
    case VYRE_OPERANDS_INDEX:
    case VYRE_OPERANDS_U32:
    case VYRE_OPERANDS_BITS: return;
    case VYRE_OPERANDS_SHIFT: *end = 1; return;
    case VYRE_OPERANDS_SELECT:
        *first = 1;
        *end = 3;
        return;
    case VYRE_OPERANDS_ANY:
    case VYRE_OPERANDS_NUMBER:
    case VYRE_OPERANDS_INTEGER:
    case VYRE_OPERANDS_WORD:
    case VYRE_OPERANDS_FLOAT:
    case VYRE_OPERANDS_ELEMENTARY: *end = node->op == VYRE_EXPR_CAST ? 0 : node->kid_count; return;
    }
}

static uint8_t unsigned_of(uint8_t type) {
    return type == VYRE_I32 ? VYRE_U32 : type == VYRE_I64 ? VYRE_U64 : type;
}

/* Type from the operands, for ops whose result is not their own. */
static void infer(vyre_parser *p, vyre_node *n) {
    uint32_t first, end;
    vyre_node_group(n, &first, &end);
    for (uint32_t i = first; i < end && i < n->kid_count; i++) {
        const vyre_node *kid = &p->nodes.data[p->kids.data[n->first_kid + i]];
        if (n->group == VYRE_VOID || kid->type == VYRE_UNKNOWN) {
            n->group = kid->type;
        }
        n->fraction = n->fraction || kid->fraction;
    }
    if (n->op == VYRE_NODE_SUBGROUP) {
        n->type = (uint8_t)vyre_subgroup_type((vyre_subgroup_op)n->sub, (vyre_type)n->group);
    } else if (n->op == VYRE_NODE_BIND || n->op == VYRE_NODE_CLAMP) {
        n->type = n->group;
    } else if (vyre_node_is_reduction(n->op)) {
        n->type = end ? n->group : (uint8_t)VYRE_BOOL;
    }
    if (n->op >= VYRE_EXPR_COUNT) {
        return;
    }
    const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)n->op);
    n->fraction = n->fraction || info->operands == VYRE_OPERANDS_FLOAT ||
                  info->operands == VYRE_OPERANDS_ELEMENTARY;
    switch ((vyre_result)info->result) {
    case VYRE_RESULT_OWN: break;
    case VYRE_RESULT_SAME:
    case VYRE_RESULT_ARMS: n->type = n->group; break;
    case VYRE_RESULT_UNSIGNED: n->type = unsigned_of(n->group); break;
    case VYRE_RESULT_BOOL: n->type = VYRE_BOOL; break;
    case VYRE_RESULT_U32: n->type = VYRE_U32; break;
    }
}

/* An operation of two values that has all the depth there may be, and now a user. */
static void shorten(vyre_node *n) {
    if (n->height == VYRE_LIMIT_EXPR_DEPTH && n->op < VYRE_EXPR_COUNT && n->kid_count == 2) {
        n->deep = true;
        n->height = 1;
        n->loads = false;
    }
}

uint32_t vyre_parser_node(vyre_parser *p, const vyre_node *shape, const uint32_t *kids,
                          uint32_t kid_count) {
    const vyre_allocator *a = &p->source.allocator;
    vyre_node n = *shape;
    n.first_kid = p->kids.count;
    n.kid_count = kid_count;
    n.handle = VYRE_NONE;
    n.height = 1;
    n.loads = n.op == VYRE_EXPR_LOAD;
    for (uint32_t i = 0; i < kid_count; i++) {
        shorten(&p->nodes.data[kids[i]]);
        uint16_t below = p->nodes.data[kids[i]].height;
        n.loads |= p->nodes.data[kids[i]].loads;
        n.height = below >= n.height ? (uint16_t)(below + 1) : n.height;
        p->out_of_memory |= !vyre_vec_push(a, &p->kids, kids[i]);
    }
    if (p->out_of_memory) {
        return VYRE_NONE;
    }
    infer(p, &n);
    n.height = (uint16_t)(n.height + (n.op == VYRE_NODE_CLAMP)); /* it is two operations */
    if (n.height > VYRE_LIMIT_EXPR_DEPTH) {
        vyre_parser_error(p, "V033", n.first, n.last, "bind parts of it with let",
                          "this expression is more than %d deep", VYRE_LIMIT_EXPR_DEPTH);
        return VYRE_NONE;
    }
    if (vyre_node_is_effect(n.op) || n.op == VYRE_NODE_BIND) {
        n.height = 1; /* its user sees a variable */
        n.loads = false;
    }
    if (!vyre_vec_push(a, &p->nodes, n)) {
        p->out_of_memory = true;
        return VYRE_NONE;
    }
    return p->nodes.count - 1;
}

uint32_t vyre_parser_zero(vyre_parser *p, uint32_t token) {
    vyre_node shape = {.op = VYRE_NODE_ZERO, .type = VYRE_U32, .first = token, .last = token};
    return vyre_parser_node(p, &shape, NULL, 0);
}

/* Makes the node from the operands above `base` and puts it in their place. */
static bool reduce(vyre_parser *p, const vyre_node *shape, uint32_t base) {
    uint32_t count = p->operands.count - base;
    uint32_t node = vyre_parser_node(p, shape, count ? p->operands.data + base : NULL, count);
    p->operands.count = base;
    if (node == VYRE_NONE) {
        return false;
    }
    if (!vyre_vec_push(&p->source.allocator, &p->operands, node)) {
        p->out_of_memory = true;
        return false;
    }
    return true;
}

static bool push_leaf(vyre_parser *p, vyre_node shape, uint32_t tokens) {
    shape.first = p->at;
    shape.last = p->at + tokens - 1;
    p->at += tokens;
    return reduce(p, &shape, p->operands.count);
}

static bool push_frame(vyre_parser *p, vyre_frame frame) {
    if (p->frames.count >= VYRE_LIMIT_PARSE_STACK) {
        vyre_parser_error(p, "V033", frame.token, frame.token, "bind parts of it with let",
                          "more than %d brackets and operators are open in this expression",
                          VYRE_LIMIT_PARSE_STACK);
        return false;
    }
    frame.operands = p->operands.count;
    if (!vyre_vec_push(&p->source.allocator, &p->frames, frame)) {
        p->out_of_memory = true;
        return false;
    }
    return true;
}

static vyre_frame *top_frame(vyre_parser *p) {
    return p->frames.count ? &p->frames.data[p->frames.count - 1] : NULL;
}

/* Completes the operator on top of the stack. */
static bool reduce_top(vyre_parser *p) {
    vyre_frame f = p->frames.data[--p->frames.count];
    uint32_t base = f.operands - (f.kind != FRAME_BINARY ? 0 : f.op == VYRE_EXPR_COND ? 2 : 1);
    vyre_node shape = {.op = f.op, .first = f.token};
    if (f.kind == FRAME_BINARY) {
        shape.first = p->nodes.data[p->operands.data[base]].first;
    }
    shape.last = p->nodes.data[p->operands.data[p->operands.count - 1]].last;
    return reduce(p, &shape, base);
}

static bool reduce_operators(vyre_parser *p, int precedence) {
    vyre_frame *f;
    while ((f = top_frame(p)) != NULL &&
           (f->kind == FRAME_PREFIX || (f->kind == FRAME_BINARY && f->precedence >= precedence))) {
        if (!reduce_top(p)) {
            return false;
        }
    }
    return true;
}

static bool push_literal(vyre_parser *p, bool negative) {
    const vyre_token *t = &p->tokens[p->at + negative];
    vyre_type suffix = vyre_literal_suffix(&p->source, p->at + negative);
    vyre_node shape = {.op = VYRE_EXPR_LITERAL,
                       .type = (uint8_t)(t->broken ? VYRE_UNKNOWN : suffix),
                       .negative = negative,
                       .fraction = t->kind == VYRE_TOKEN_FLOAT,
                       .ref = p->at + negative};
    return push_leaf(p, shape, 1u + negative);
}

/* name( ... with the arguments still to come. */
static bool push_call(vyre_parser *p, vyre_frame frame, uint32_t tokens) {
    frame.kind = FRAME_ARGUMENTS;
    frame.token = p->at;
    p->at += tokens;
    if (p->tokens[p->at].kind != VYRE_TOKEN_OPEN_PAREN) {
        return vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "before the arguments");
    }
    p->at++;
    return push_frame(p, frame);
}

/* Behind the element of an atomic that takes so many operands, the element's index included. */
static bool expect_values(vyre_parser *p, uint32_t need) {
    const uint8_t next = p->tokens[p->at].kind;
    return next == VYRE_TOKEN_COMMA || (need == 1 && next == VYRE_TOKEN_CLOSE_PAREN) ||
           vyre_parser_expect(p, VYRE_TOKEN_COMMA, "behind the element of an atomic");
}

static bool push_atomic(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    vyre_frame frame = {.op = VYRE_NODE_ATOMIC,
                        .sub = t->sub,
                        .axis = VYRE_SEQ_CST,
                        .need = 1 + vyre_atomic_values((vyre_atomic_op)t->sub)};
    uint32_t name = p->at + 2;
    uint32_t symbol = vyre_parser_symbol(p, name);
    bool single = symbol != VYRE_NONE && p->symbols.data[symbol].single;
    if (t[1].kind == VYRE_TOKEN_OPEN_PAREN &&
        (t[2].kind != VYRE_TOKEN_NAME || (t[3].kind != VYRE_TOKEN_OPEN_INDEX && !single))) {
        vyre_parser_error(p, "V214", name, name, "write it like atomic_add(b[i], 1)",
                          "the first argument of an atomic is an element of memory");
        return false;
    }
    if (t[1].kind == VYRE_TOKEN_OPEN_PAREN) {
        frame.ref = vyre_parser_memory(p, name, "V061", "atomic on an unknown buffer");
        if (t->sub != VYRE_ATOMIC_LOAD) {
            vyre_parser_check_write(p, frame.ref, name);
        }
        if (t[3].kind == VYRE_TOKEN_OPEN_INDEX &&
            !vyre_parser_check_index(p, frame.ref, name, true)) {
            return false;
        }
    }
    if (!push_call(p, frame, 1)) {
        return false;
    }
    if (single) {
        vyre_node zero = {.op = VYRE_NODE_ZERO, .type = VYRE_U32};
        return push_leaf(p, zero, 1) && expect_values(p, frame.need);
    }
    p->at += 2;
    return push_frame(p, (vyre_frame){.kind = FRAME_PLACE, .token = name, .ref = frame.ref});
}

/* The dimension in len(b, 1), a number; VYRE_NONE after a report. */
static uint32_t dimension_at(vyre_parser *p, uint32_t token, uint32_t symbol) {
    uint64_t number = 0;
    const uint32_t rank = symbol == VYRE_NONE              ? VYRE_LIMIT_DIMENSIONS
                          : p->symbols.data[symbol].single ? 1
                                                           : p->symbols.data[symbol].rank;
    if (vyre_literal_convert(&p->source, token, VYRE_U32, false, &number) != VYRE_LITERAL_FITS ||
        number >= rank) {
        vyre_parser_error(p, "V290", token, token, "dimensions are counted from 0",
                          "`%s` has %u dimension%s", vyre_parser_name(p, token - 2), rank,
                          rank == 1 ? "" : "s");
        return VYRE_NONE;
    }
    return (uint32_t)number;
}

/* len(b) or len(b, 1) */
static bool push_len(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    const bool named = t[1].kind == VYRE_TOKEN_OPEN_PAREN && t[2].kind == VYRE_TOKEN_NAME;
    const bool along = named && t[3].kind == VYRE_TOKEN_COMMA && t[4].kind == VYRE_TOKEN_INTEGER &&
                       t[5].kind == VYRE_TOKEN_CLOSE_PAREN;
    if (!named || (t[3].kind != VYRE_TOKEN_CLOSE_PAREN && !along)) {
        vyre_parser_error(p, "V215", p->at, p->at, "write it like len(b) or len(b, 0)",
                          "`len` takes the name of one buffer or array");
        return false;
    }
    uint32_t symbol = vyre_parser_memory(p, p->at + 2, "V067", "length of an unknown buffer");
    const uint32_t number = along ? dimension_at(p, p->at + 4, symbol) : 0;
    vyre_node shape = {.op = VYRE_EXPR_LEN, .ref = symbol};
    if (symbol == VYRE_NONE || number == VYRE_NONE) {
        shape.op = VYRE_NODE_ERROR;
        shape.type = VYRE_UNKNOWN;
    } else if (along && p->symbols.data[symbol].rank > 1) {
        shape.op = VYRE_NODE_LENGTH;
        shape.sub = (uint8_t)number;
        shape.type = VYRE_U32;
    }
    return push_leaf(p, shape, along ? 6 : 4);
}

static bool push_bitcast(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    bool type = t[1].kind == VYRE_TOKEN_LESS && t[2].kind == VYRE_TOKEN_NAME &&
                t[2].word == VYRE_WORD_TYPE && t[3].kind == VYRE_TOKEN_GREATER;
    if (!type || !vyre_type_computes((vyre_type)t[2].sub)) {
        vyre_parser_error(p, "V216", p->at, p->at, "write it like bitcast<u32>(x)",
                          "`bitcast` takes a computing type in < >");
        return false;
    }
    return push_call(p, (vyre_frame){.op = VYRE_EXPR_BITCAST, .sub = t[2].sub, .need = 1}, 4);
}

static bool push_builtin(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    vyre_node shape = {.op = VYRE_EXPR_BUILTIN, .sub = t->sub};
    if (vyre_builtin_axes((vyre_builtin)t->sub) == 1) { /* .x tells it from a variable */
        const bool told = t[1].kind == VYRE_TOKEN_DOT && vyre_parser_is_text(p, p->at + 2, "x");
        return push_leaf(p, shape, told ? 3 : 1);
    }
    bool named = t[1].kind == VYRE_TOKEN_DOT && t[2].kind == VYRE_TOKEN_NAME;
    for (uint8_t axis = 0; named && axis < 3; axis++) {
        if (vyre_parser_is_text(p, p->at + 2, (const char *[]){"x", "y", "z"}[axis])) {
            shape.axis = axis;
            return push_leaf(p, shape, 3);
        }
    }
    vyre_parser_error(p, "V217", p->at, p->at, "write .x, .y or .z behind it", "`%s` needs an axis",
                      vyre_builtin_name((vyre_builtin)t->sub));
    return false;
}

/* Memory of one element, read like a variable. */
static bool push_single(vyre_parser *p, uint32_t symbol) {
    uint32_t base = p->operands.count, name = p->at;
    vyre_node load = {.op = VYRE_EXPR_LOAD,
                      .type = (uint8_t)vyre_type_widened((vyre_type)p->symbols.data[symbol].type),
                      .ref = symbol,
                      .first = name,
                      .last = name};
    return push_leaf(p, (vyre_node){.op = VYRE_NODE_ZERO, .type = VYRE_U32}, 1) &&
           reduce(p, &load, base);
}

/* A name that is not a call: a value, or an element of memory. */
static bool push_name(vyre_parser *p) {
    vyre_node shape = {.op = VYRE_NODE_ERROR, .type = VYRE_UNKNOWN};
    if (p->tokens[p->at + 1].kind == VYRE_TOKEN_OPEN_INDEX) {
        uint32_t symbol = vyre_parser_memory(p, p->at, "V065", "load from an unknown buffer");
        vyre_frame frame = {.kind = FRAME_INDEX, .ref = symbol, .token = p->at};
        if (!vyre_parser_check_index(p, symbol, p->at, true)) {
            return false;
        }
        p->at += 2;
        return push_frame(p, frame);
    }
    uint32_t symbol = vyre_parser_symbol(p, p->at);
    const vyre_symbol *s = symbol == VYRE_NONE ? NULL : &p->symbols.data[symbol];
    if (!s) {
        vyre_parser_unknown(p, "V066", p->at, VYRE_WANT_VALUE, "unknown variable");
    } else if (s->kind == VYRE_SYMBOL_FN) {
        vyre_parser_misused(p, "V218", p->at, "is a function, not a value", "call it");
    } else if (s->kind == VYRE_SYMBOL_DECL && s->single) {
        return push_single(p, symbol);
    } else if (s->kind == VYRE_SYMBOL_DECL && vyre_role_is_memory((vyre_role)s->sub)) {
        vyre_parser_misused(p, "V218", p->at, "is memory, not a value",
                            "read an element, such as b[i], or use len(b)");
    } else {
        shape.op = s->kind == VYRE_SYMBOL_VAR ? VYRE_EXPR_VAR : VYRE_EXPR_REF;
        shape.type = s->type;
        shape.ref = symbol;
    }
    return push_leaf(p, shape, 1);
}

static bool push_user_call(vyre_parser *p) {
    uint32_t symbol = vyre_parser_symbol(p, p->at);
    vyre_frame frame = {.op = VYRE_NODE_ERROR, .need = VYRE_NONE};
    if (symbol == VYRE_NONE) {
        vyre_parser_unknown(p, "V016", p->at, VYRE_WANT_FUNCTION, "unknown function");
    } else if (p->symbols.data[symbol].kind != VYRE_SYMBOL_FN) {
        vyre_parser_misused(p, "V016", p->at, "is not a function", "call a function");
    } else {
        frame.ref = p->symbols.data[symbol].handle;
        const vyre_item *item = &p->items.data[frame.ref];
        frame.op = VYRE_NODE_CALL;
        frame.need = item->broken ? VYRE_NONE : item->arg_count;
        frame.first = item->generic ? vyre_parser_reserve_passed(p, frame.ref) : 0;
    }
    return push_call(p, frame, 1);
}

static bool push_word(vyre_parser *p) {
    const vyre_token *t = &p->tokens[p->at];
    char room[64];
    switch (vyre_parser_word(p, p->at)) {
    case VYRE_WORD_PLAIN:
        return t[1].kind == VYRE_TOKEN_OPEN_PAREN ? push_user_call(p) : push_name(p);
    case VYRE_WORD_TYPE:
        return push_call(p, (vyre_frame){.op = VYRE_EXPR_CAST, .sub = t->sub, .need = 1}, 1);
    case VYRE_WORD_BUILTIN: return push_builtin(p);
    case VYRE_WORD_ATOMIC: return push_atomic(p);
    case VYRE_WORD_SUBGROUP:
        return push_call(p,
                         (vyre_frame){.op = VYRE_NODE_SUBGROUP,
                                      .sub = t->sub,
                                      .need = vyre_subgroup_asks((vyre_subgroup_op)t->sub) ? 2 : 1},
                         1);
    case VYRE_WORD_GROUP:
    case VYRE_WORD_GRID: {
        const bool grid = t->word == VYRE_WORD_GRID;
        return push_call(p,
                         (vyre_frame){.op = grid ? VYRE_NODE_GRID : VYRE_NODE_GROUP,
                                      .sub = t->sub,
                                      .need = t->sub == VYRE_REDUCE_BROADCAST ? 2 : 1},
                         1);
    }
    case VYRE_WORD_FUNCTION:
        if (t->sub == VYRE_EXPR_LEN) {
            return push_len(p);
        }
        if (t->sub == VYRE_EXPR_BITCAST) {
            return push_bitcast(p);
        }
        if (t->sub == VYRE_FUNCTION_CLAMP) {
            return push_call(p, (vyre_frame){.op = VYRE_NODE_CLAMP, .need = 3}, 1);
        }
        return push_call(
            p, (vyre_frame){.op = t->sub, .need = vyre_expr_info_of((vyre_expr_op)t->sub)->arity},
            1);
    case VYRE_WORD_KEY:
        if (t->sub == VYRE_KEY_TRUE || t->sub == VYRE_KEY_FALSE) {
            return push_leaf(
                p, (vyre_node){.op = VYRE_EXPR_LITERAL, .type = VYRE_BOOL, .ref = p->at}, 1);
        }
        break;
    default: break;
    }
    vyre_parser_error(p, "V219", p->at, p->at, "write a value",
                      "expected an expression, found the reserved word %s",
                      vyre_source_describe(&p->source, p->at, room));
    return false;
}

/* Whether the next argument of the call on top is memory; then it is read, or the call's error
 * told. */
static bool takes_memory(vyre_parser *p, bool *out_fine) {
    vyre_frame *f = top_frame(p);
    if (!f || f->kind != FRAME_ARGUMENTS || f->op != VYRE_NODE_CALL ||
        !p->items.data[f->ref].generic) {
        return false;
    }
    const vyre_item *item = &p->items.data[f->ref];
    uint32_t index = p->operands.count - f->operands + f->passed;
    if (item->broken || index >= item->arg_count || !p->args.data[item->first_arg + index].memory) {
        return false;
    }
    vyre_decl decl = VYRE_NONE;
    *out_fine = vyre_parser_pass(p, f->ref, index, &decl) && !p->out_of_memory;
    if (*out_fine) {
        p->passed.data[f->first + f->passed++] = decl;
    }
    return true;
}

/* Reads one operand or opens a construct. *out_complete: an operator comes next. */
static bool operand(vyre_parser *p, bool *out_complete) {
    const vyre_token *t = &p->tokens[p->at];
    char room[64];
    uint32_t depth = p->frames.count;
    bool fine;
    if (takes_memory(p, &fine)) {
        *out_complete = true;
        return fine;
    }
    switch (t->kind) {
    case VYRE_TOKEN_INTEGER:
    case VYRE_TOKEN_FLOAT: fine = push_literal(p, false); break;
    case VYRE_TOKEN_NAME: fine = push_word(p); break;
    case VYRE_TOKEN_OPEN_PAREN:
        fine = push_frame(p, (vyre_frame){.kind = FRAME_PAREN, .token = p->at++});
        break;
    case VYRE_TOKEN_MINUS:
        if (t[1].kind == VYRE_TOKEN_INTEGER || t[1].kind == VYRE_TOKEN_FLOAT) {
            fine = push_literal(p, true);
            break;
        }
        /* fall through */
    case VYRE_TOKEN_TILDE:
    case VYRE_TOKEN_BANG: {
        uint8_t op = t->kind == VYRE_TOKEN_MINUS   ? VYRE_EXPR_NEG
                     : t->kind == VYRE_TOKEN_TILDE ? VYRE_EXPR_BIT_NOT
                                                   : VYRE_EXPR_NOT;
        fine = push_frame(p, (vyre_frame){.kind = FRAME_PREFIX, .op = op, .token = p->at++});
        break;
    }
    default:
        vyre_parser_error(
            p, "V219", p->at, p->at,
            t->kind == VYRE_TOKEN_PLUS ? "there is no unary plus: leave it out" : "write a value",
            "expected an expression, found %s", vyre_source_describe(&p->source, p->at, room));
        return false;
    }
    /* An atomic on one element has its index at once. */
    *out_complete =
        fine && (p->frames.count == depth || p->operands.count > top_frame(p)->operands);
    return fine;
}

/* The construct on top is complete: its node takes the place of its operands. */
static bool close_call(vyre_parser *p) {
    vyre_frame f = p->frames.data[--p->frames.count];
    uint32_t count = p->operands.count - f.operands + f.passed;
    vyre_node shape = {
        .op = f.op, .sub = f.sub, .axis = f.axis, .ref = f.ref, .first = f.token, .last = p->at};
    p->at++;
    if (f.need != VYRE_NONE && f.need != count) {
        char room[64];
        vyre_parser_error(p, "V021", shape.first, shape.last, "pass as many as it takes",
                          "%s takes %u argument%s, not %u",
                          vyre_source_describe(&p->source, f.token, room), f.need,
                          f.need == 1 ? "" : "s", count);
        shape.op = VYRE_NODE_ERROR;
    } else if (f.op == VYRE_EXPR_CAST || f.op == VYRE_EXPR_BITCAST) {
        shape.type = (uint8_t)vyre_type_widened((vyre_type)f.sub);
    } else if (f.op == VYRE_NODE_ATOMIC) {
        shape.type = VYRE_UNKNOWN;
        if (f.ref != VYRE_NONE) {
            shape.type = (uint8_t)vyre_type_widened((vyre_type)p->symbols.data[f.ref].type);
        }
    } else if (f.op == VYRE_NODE_CALL) {
        const vyre_item *item = &p->items.data[f.ref];
        shape.type = item->result;
        if (!item->broken && item->generic) {
            shape.ref = vyre_parser_instance(p, f.ref, f.first);
        }
        if (p->items.data[f.ref].broken || shape.ref == VYRE_NONE) {
            shape.op = VYRE_NODE_ERROR;
        }
    }
    if (shape.op == VYRE_NODE_ERROR) {
        shape.type = VYRE_UNKNOWN;
    }
    return reduce(p, &shape, f.operands);
}

const char *vyre_parser_brackets(bool single, uint32_t rank) {
    static const char *const brackets[] = {"", "[]", "[][]", "[][][]"};
    return brackets[single ? 0 : rank < VYRE_LIMIT_DIMENSIONS ? rank : VYRE_LIMIT_DIMENSIONS];
}

uint32_t vyre_parser_element(vyre_parser *p, uint32_t symbol, uint32_t token,
                             const uint32_t *indices, uint32_t count) {
    const bool known = symbol != VYRE_NONE && p->symbols.data[symbol].rank != 0;
    const uint32_t rank = known ? p->symbols.data[symbol].rank : count; /* else it is reported */
    vyre_node shape = {.op = VYRE_NODE_ELEMENT,
                       .type = VYRE_U32,
                       .ref = symbol,
                       .first = p->nodes.data[indices[0]].first,
                       .last = p->nodes.data[indices[count - 1]].last};
    if (count != rank) {
        vyre_parser_error(
            p, "V290", token, p->nodes.data[indices[count - 1]].last + 1,
            "give one index for each dimension", "`%s` is %s%s and takes %u ind%s, not %u",
            vyre_parser_name(p, token), vyre_type_name((vyre_type)p->symbols.data[symbol].type),
            vyre_parser_brackets(false, rank), rank, rank == 1 ? "ex" : "ices", count);
        return VYRE_NONE;
    }
    return rank == 1 || !known ? indices[0] : vyre_parser_node(p, &shape, indices, count);
}

/* The indices above the base of the frame become one node. */
static bool join_indices(vyre_parser *p, const vyre_frame *f) {
    const uint32_t *indices = p->operands.data + f->operands;
    const uint32_t element =
        vyre_parser_element(p, f->ref, f->token, indices, p->operands.count - f->operands);
    if (element == VYRE_NONE) {
        return false;
    }
    p->operands.count = f->operands + 1;
    p->operands.data[f->operands] = element;
    return true;
}

/* *out_more: another index of the same element begins. */
static bool close_index(vyre_parser *p, bool *out_more) {
    *out_more = p->tokens[p->at + 1].kind == VYRE_TOKEN_OPEN_INDEX;
    if (*out_more) {
        p->at += 2;
        return true;
    }
    vyre_frame f = p->frames.data[--p->frames.count];
    if (!join_indices(p, &f)) {
        return false;
    }
    if (f.kind == FRAME_PLACE) {
        p->at++;
        return expect_values(p, top_frame(p)->need);
    }
    vyre_node shape = {.op = VYRE_NODE_ERROR,
                       .type = VYRE_UNKNOWN,
                       .ref = f.ref,
                       .first = f.token,
                       .last = p->at++};
    if (f.ref != VYRE_NONE) {
        shape.op = VYRE_EXPR_LOAD;
        shape.type = (uint8_t)vyre_type_widened((vyre_type)p->symbols.data[f.ref].type);
    }
    return reduce(p, &shape, f.operands);
}

bool vyre_parser_ordering(vyre_parser *p, vyre_ordering *out) {
    char room[64];
    for (int o = 0; o < VYRE_ORDERING_COUNT; o++) {
        if (vyre_parser_is_text(p, p->at, vyre_ordering_name((vyre_ordering)o))) {
            *out = (vyre_ordering)o;
            p->at++;
            return true;
        }
    }
    vyre_parser_error(
        p, "V220", p->at, p->at, "write relaxed, acquire, release, acq_rel or seq_cst",
        "expected an ordering, found %s", vyre_source_describe(&p->source, p->at, room));
    return false;
}

/* The ordering behind the values of an atomic, up to the closing bracket. */
static bool take_ordering(vyre_parser *p, vyre_frame *f) {
    vyre_ordering ordering;
    if (!vyre_parser_ordering(p, &ordering)) {
        return false;
    }
    f->axis = (uint8_t)ordering;
    return p->tokens[p->at].kind == VYRE_TOKEN_CLOSE_PAREN ||
           vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the ordering");
}

static bool is_empty_call(const vyre_parser *p, const vyre_frame *f) {
    return f->kind == FRAME_ARGUMENTS && p->operands.count == f->operands &&
           p->tokens[p->at].kind == VYRE_TOKEN_CLOSE_PAREN;
}

typedef enum step { STEP_ERROR, STEP_DONE, STEP_OPERAND, STEP_OPERATOR } step;

/* What follows a complete operand. */
static step operator(vyre_parser *p) {
    uint8_t kind = p->tokens[p->at].kind;
    if (kind >= VYRE_TOKEN_AND_AND && kind < VYRE_TOKEN_PUNCTUATION_COUNT &&
        vyre_token_operator(kind) != VYRE_EXPR_COUNT) {
        int precedence = vyre_precedence((vyre_expr_op)vyre_token_operator(kind));
        vyre_frame frame = {.kind = FRAME_BINARY,
                            .op = vyre_token_operator(kind),
                            .precedence = (uint8_t)precedence,
                            .token = p->at};
        if (!reduce_operators(p, precedence) || !push_frame(p, frame)) {
            return STEP_ERROR;
        }
        p->at++;
        return STEP_OPERAND;
    }
    if (kind == VYRE_TOKEN_QUESTION) {
        bool fine = reduce_operators(p, 1) &&
                    push_frame(p, (vyre_frame){.kind = FRAME_COND, .token = p->at});
        p->at++;
        return fine ? STEP_OPERAND : STEP_ERROR;
    }
    if (!reduce_operators(p, 0)) {
        return STEP_ERROR;
    }
    vyre_frame *f = top_frame(p);
    if (!f) {
        return STEP_DONE;
    }
    if (f->kind == FRAME_COND) {
        if (kind != VYRE_TOKEN_COLON) {
            vyre_parser_expect(p, VYRE_TOKEN_COLON, "between the values of `?`");
            return STEP_ERROR;
        }
        vyre_frame frame = {.kind = FRAME_BINARY, .op = VYRE_EXPR_COND, .token = p->at++};
        p->frames.count--;
        return push_frame(p, frame) ? STEP_OPERAND : STEP_ERROR;
    }
    if (f->kind == FRAME_INDEX || f->kind == FRAME_PLACE) {
        if (kind != VYRE_TOKEN_CLOSE_INDEX) {
            vyre_parser_expect(p, VYRE_TOKEN_CLOSE_INDEX, "behind the index");
            return STEP_ERROR;
        }
        bool more;
        return !close_index(p, &more) ? STEP_ERROR : more ? STEP_OPERAND : STEP_OPERATOR;
    }
    if (f->kind == FRAME_ARGUMENTS && kind == VYRE_TOKEN_COMMA) {
        p->at++;
        if (f->op == VYRE_NODE_ATOMIC && p->operands.count - f->operands == f->need) {
            return take_ordering(p, f) && close_call(p) ? STEP_OPERATOR : STEP_ERROR;
        }
        return STEP_OPERAND;
    }
    if (kind != VYRE_TOKEN_CLOSE_PAREN) {
        vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "in this expression");
        return STEP_ERROR;
    }
    if (f->kind == FRAME_ARGUMENTS) {
        return close_call(p) ? STEP_OPERATOR : STEP_ERROR;
    }
    vyre_node *inner = &p->nodes.data[p->operands.data[p->operands.count - 1]];
    inner->first = f->token;
    inner->last = p->at++;
    p->frames.count--;
    return STEP_OPERATOR;
}

uint32_t vyre_parser_expression(vyre_parser *p) {
    p->operands.count = 0;
    p->frames.count = 0;
    step next = STEP_OPERAND;
    while (next == STEP_OPERAND || next == STEP_OPERATOR) {
        if (next == STEP_OPERATOR) {
            next = operator(p);
            continue;
        }
        vyre_frame *f = top_frame(p);
        bool complete = false;
        if (f && is_empty_call(p, f)) {
            complete = close_call(p);
            next = complete ? STEP_OPERATOR : STEP_ERROR;
            continue;
        }
        next = !operand(p, &complete) ? STEP_ERROR : complete ? STEP_OPERATOR : STEP_OPERAND;
    }
    return next == STEP_DONE ? p->operands.data[0] : VYRE_NONE;
}
