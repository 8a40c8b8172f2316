/* Elaboration of the expressions of one statement: types, temporaries, builder calls.
 *
 * Three facts make it three loops. A literal's type may come from its user, so types go down, users
 * first. An effect inside an expression becomes a statement before it; a load to its left would
 * then be evaluated too late, so it is bound by a let of its own unless something bound earlier
 * already contains it. (So is what is too deep for one expression, such as a sum of many terms.)
 * And the builder takes operands before users, which is the order of the array. Cost: linear in the
 * nodes. */
#include <stdio.h>
#include <string.h>

#include "ir/dimensions.h"
#include "text/parser.h"

static vyre_node *kid_of(vyre_parser *p, const vyre_node *n, uint32_t i) {
    return &p->nodes.data[p->kids.data[n->first_kid + i]];
}

static vyre_expr kid_handle(vyre_parser *p, const vyre_node *n, uint32_t i) {
    return i < n->kid_count ? kid_of(p, n, i)->handle : VYRE_NONE;
}

static bool is_number_type(uint8_t type) {
    return type > VYRE_BOOL && type <= VYRE_F64;
}

/* The type of literals without one, where the context asks for `want`. */
static uint8_t choose(uint8_t want, bool fraction) {
    if (is_number_type(want) || want == VYRE_UNKNOWN) {
        return want;
    }
    return fraction ? VYRE_F32 : VYRE_U32;
}

/* What a cast asks of a bare literal: nothing, unless as u32 it would not mean what is written. */
static uint8_t cast_want(const vyre_parser *p, const vyre_node *n, const vyre_node *literal) {
    vyre_type target = vyre_type_widened((vyre_type)n->sub);
    uint64_t bits;
    if (literal->op != VYRE_EXPR_LITERAL || literal->type != VYRE_VOID || literal->fraction ||
        target == VYRE_BOOL) {
        return VYRE_VOID;
    }
    bool minus = literal->negative && (vyre_type_is_signed(target) || vyre_type_is_float(target));
    bool large =
        vyre_literal_convert(&p->source, literal->ref, VYRE_U32, false, &bits) != VYRE_LITERAL_FITS;
    return minus || large ? (uint8_t)target : (uint8_t)VYRE_VOID;
}

static uint8_t kid_want(const vyre_parser *p, const vyre_node *n, const vyre_node *kid,
                        uint32_t i) {
    if (n->op == VYRE_EXPR_LOAD || n->op == VYRE_EXPR_ROW || n->op == VYRE_NODE_ELEMENT) {
        return VYRE_U32;
    }
    if (n->op == VYRE_NODE_ATOMIC) {
        return i == 0 ? (uint8_t)VYRE_U32 : n->type;
    }
    if (n->op == VYRE_NODE_SUBGROUP || vyre_node_is_reduction(n->op)) {
        return i == 1 ? VYRE_U32 : VYRE_VOID;
    }
    if (n->op == VYRE_NODE_CALL) {
        return p->args.data[p->items.data[n->ref].first_arg + i].type;
    }
    if (n->op == VYRE_NODE_ERROR) {
        return VYRE_UNKNOWN;
    }
    return n->op == VYRE_EXPR_CAST ? cast_want(p, n, kid) : VYRE_VOID;
}

/* Users before operands: types of literals, and where effects may stand. */
static void settle_types(vyre_parser *p) {
    for (uint32_t at = p->nodes.count; at-- > 0;) {
        vyre_node *n = &p->nodes.data[at];
        uint32_t first, end;
        vyre_node_group(n, &first, &end);
        if (n->type == VYRE_VOID && n->op != VYRE_NODE_CALL) {
            n->type = choose(n->want, n->fraction);
            n->group = n->type;
        } else if (n->group == VYRE_VOID) {
            n->group = choose(VYRE_VOID, n->fraction);
        }
        for (uint32_t i = 0; i < n->kid_count; i++) {
            vyre_node *kid = kid_of(p, n, i);
            kid->want = i >= first && i < end ? n->group : kid_want(p, n, kid, i);
            if (n->refuse) {
                kid->refuse = n->refuse;
            } else if (vyre_node_is_lazy(n->op, i)) {
                kid->refuse = VYRE_REFUSE_LAZY;
            } else if (n->op == VYRE_EXPR_SELECT) {
                kid->refuse = VYRE_REFUSE_SELECT;
            }
        }
    }
}

static void refuse_effect(vyre_parser *p, const vyre_node *n) {
    static const struct {
        const char *code, *where, *fix;
    } reasons[] = {
        [VYRE_REFUSE_LAZY] =
            {"V221",
             "on the right of `&&` or `||` or in an arm of `?:`, where it might not "
             "be evaluated",
             "bind it with let before the statement, or use if"},
        [VYRE_REFUSE_SELECT] = {"V221", "under `select`, which evaluates all operands",
                                "bind it with let before the statement"},
        [VYRE_REFUSE_CONSTANT] = {"V223", "in a declaration or clause", "use constants and len"},
    };
    char room[64];
    vyre_parser_error(p, reasons[n->refuse].code, n->first, n->last, reasons[n->refuse].fix,
                      "%s has an effect and can't stand %s",
                      vyre_source_describe(&p->source, n->first, room), reasons[n->refuse].where);
}

/* A let would be evaluated too early, or there can be none. */
static void refuse_depth(vyre_parser *p, const vyre_node *n) {
    vyre_parser_error(p, "V033", n->first, n->last, "bind parts of it with let",
                      "this expression is more than %d deep", VYRE_LIMIT_EXPR_DEPTH);
}

/* Which loads must be bound before an effect to their right. A node belongs to the statement of its
 * nearest user that is bound (its cap); a load is in danger when an effect comes between the two.
 * One that might not be evaluated is bound together with the operator that decides it. */
static void settle_order(vyre_parser *p) {
    uint32_t next_effect = VYRE_NONE;
    for (uint32_t at = p->nodes.count; at-- > 0;) {
        vyre_node *n = &p->nodes.data[at];
        if (n->cap == 0) {
            n->cap = VYRE_NONE; /* a root: bound by the statement itself */
        }
        n->bound = n->deep || (next_effect < n->cap && (n->op == VYRE_EXPR_LOAD ||
                                                        (n->loads && vyre_node_is_lazy(n->op, 1))));
        if (n->deep && (n->refuse == VYRE_REFUSE_LAZY || n->refuse == VYRE_REFUSE_CONSTANT)) {
            refuse_depth(p, n);
        }
        bool own = n->bound || n->op == VYRE_NODE_BIND || vyre_node_is_effect(n->op);
        for (uint32_t i = 0; i < n->kid_count; i++) {
            kid_of(p, n, i)->cap = own ? at : n->cap;
        }
        if (vyre_node_is_effect(n->op)) {
            next_effect = at;
            if (n->refuse) {
                refuse_effect(p, n);
            }
        }
    }
}

static void literal_misfit(vyre_parser *p, const vyre_node *n, uint8_t type, vyre_literal_fit fit) {
    char room[64];
    const char *fix = "write a smaller number, or give it a suffix: i, u, l, ul, f or d";
    if (p->exact) {
        fix = "sizes and clauses are whole numbers below 2^63";
    } else if (fit == VYRE_LITERAL_NOT_INTEGER) {
        fix = "write a whole number, or cast the other operand";
    }
    vyre_parser_error(p, "V224", n->first, n->last, fix, "%s%s does not fit %s",
                      n->negative ? "minus " : "", vyre_source_describe(&p->source, n->ref, room),
                      p->exact ? "here" : vyre_type_name((vyre_type)type));
}

static vyre_expr build_literal(vyre_parser *p, const vyre_node *n) {
    uint64_t bits;
    vyre_type type = p->exact ? VYRE_I64 : (vyre_type)n->type;
    const vyre_token *t = &p->tokens[n->ref];
    if (t->kind == VYRE_TOKEN_NAME) {
        return vyre_build_bool(p->builder, t->sub == VYRE_KEY_TRUE);
    }
    if (n->type == VYRE_UNKNOWN) {
        return VYRE_NONE;
    }
    vyre_literal_fit fit = vyre_literal_convert(&p->source, n->ref, type, n->negative, &bits);
    if (fit == VYRE_LITERAL_FITS && p->exact && !n->negative && (int64_t)bits < 0) {
        fit = VYRE_LITERAL_TOO_LARGE; /* here hexadecimal digits are a number, not a pattern */
    }
    if (fit != VYRE_LITERAL_FITS) {
        literal_misfit(p, n, (uint8_t)type, fit);
        return VYRE_NONE;
    }
    vyre_expr literal = vyre_build_literal(p->builder, type, bits);
    bool folded = vyre_type_is_signed(type) || vyre_type_is_float(type);
    return n->negative && !folded
               ? vyre_build_op(p->builder, VYRE_EXPR_NEG, literal, VYRE_NONE, VYRE_NONE)
               : literal;
}

const char *vyre_parser_temporary(vyre_parser *p, char room[16]) {
    (void)snprintf(room, 16, "_%u", p->source.next_temporary++);
    return room;
}

static vyre_expr bind(vyre_parser *p, vyre_expr value) {
    char room[16];
    return vyre_build_var(p->builder,
                          vyre_build_let(p->builder, vyre_parser_temporary(p, room), value));
}

static vyre_var build_call(vyre_parser *p, const vyre_node *n, const char *name) {
    vyre_expr args[VYRE_LIMIT_ARGUMENTS];
    uint32_t count = n->kid_count < VYRE_LIMIT_ARGUMENTS ? n->kid_count : VYRE_LIMIT_ARGUMENTS;
    for (uint32_t i = 0; i < count; i++) {
        args[i] = kid_handle(p, n, i);
    }
    return vyre_build_call(p->builder, name, p->items.data[n->ref].fn, args, count);
}

static vyre_expr build_effect(vyre_parser *p, uint32_t at) {
    vyre_node *n = &p->nodes.data[at];
    char room[16];
    bool direct = at == p->direct;
    bool empty = (n->op == VYRE_NODE_CALL && n->type == VYRE_VOID) ||
                 (n->op == VYRE_NODE_ATOMIC && n->sub == VYRE_ATOMIC_STORE);
    if (empty && !(direct && !p->direct_name)) {
        char shown[64];
        vyre_parser_error(p, "V225", n->first, n->last, "call it as a statement of its own",
                          "%s gives no value", vyre_source_describe(&p->source, n->first, shown));
        n->type = VYRE_UNKNOWN;
        return VYRE_NONE;
    }
    const char *name = direct ? p->direct_name : vyre_parser_temporary(p, room);
    vyre_var var;
    if (n->op == VYRE_NODE_ATOMIC) {
        bool swaps = n->kid_count == 3;
        uint32_t value = n->kid_count - 1; /* none: the index is the last */
        uint32_t symbol = n->ref;
        var =
            vyre_build_atomic(p->builder, name, (vyre_atomic_op)n->sub,
                              symbol == VYRE_NONE ? VYRE_NONE : p->symbols.data[symbol].handle,
                              kid_handle(p, n, 0), swaps ? kid_handle(p, n, 1) : VYRE_NONE,
                              value ? kid_handle(p, n, value) : VYRE_NONE, (vyre_ordering)n->axis);
    } else if (n->op == VYRE_NODE_SUBGROUP) {
        var = vyre_build_subgroup(p->builder, name, (vyre_subgroup_op)n->sub, kid_handle(p, n, 0),
                                  kid_handle(p, n, 1));
    } else if (n->op == VYRE_NODE_GROUP) {
        var = vyre_build_group_reduce(p->builder, name, (vyre_reduce_op)n->sub, kid_handle(p, n, 0),
                                      kid_handle(p, n, 1));
    } else if (n->op == VYRE_NODE_GRID) {
        var = vyre_build_grid_reduce(p->builder, name, (vyre_reduce_op)n->sub, kid_handle(p, n, 0));
    } else {
        var = build_call(p, n, name);
    }
    if (direct) {
        p->direct_var = var;
        return VYRE_NONE;
    }
    return vyre_build_var(p->builder, var);
}

static vyre_expr build_element(vyre_parser *p, const vyre_node *n) {
    const vyre_expr indices[VYRE_LIMIT_DIMENSIONS] = {kid_handle(p, n, 0), kid_handle(p, n, 1),
                                                      kid_handle(p, n, 2)};
    return vyre_build_element(p->builder, p->symbols.data[n->ref].handle, indices);
}

static vyre_expr build_length(vyre_parser *p, const vyre_node *n) {
    const vyre_decl memory = p->symbols.data[n->ref].handle;
    return p->exact ? vyre_builder_exact_dimension(p->builder, memory, n->sub)
                    : vyre_build_dimension(p->builder, memory, n->sub);
}

static vyre_expr build_node(vyre_parser *p, uint32_t at) {
    const vyre_node *n = &p->nodes.data[at];
    vyre_builder *b = p->builder;
    switch (n->op) {
    case VYRE_EXPR_LITERAL: return build_literal(p, n);
    case VYRE_EXPR_VAR: return vyre_build_var(b, p->symbols.data[n->ref].handle);
    case VYRE_EXPR_REF: return vyre_build_ref(b, p->symbols.data[n->ref].handle);
    case VYRE_EXPR_LEN: return vyre_build_len(b, p->symbols.data[n->ref].handle);
    case VYRE_EXPR_BUILTIN: return vyre_build_id(b, (vyre_builtin)n->sub, n->axis);
    case VYRE_EXPR_LOAD: {
        vyre_expr load = vyre_build_load(b, p->symbols.data[n->ref].handle, kid_handle(p, n, 0));
        return n->bound ? bind(p, load) : load;
    }
    case VYRE_EXPR_CAST: return vyre_build_cast(b, (vyre_type)n->sub, kid_handle(p, n, 0));
    case VYRE_EXPR_BITCAST: return vyre_build_bitcast(b, (vyre_type)n->sub, kid_handle(p, n, 0));
    case VYRE_NODE_ERROR: return VYRE_NONE;
    case VYRE_NODE_ATOMIC:
    case VYRE_NODE_SUBGROUP:
    case VYRE_NODE_GROUP:
    case VYRE_NODE_GRID:
    case VYRE_NODE_CALL: return build_effect(p, at);
    case VYRE_NODE_CLAMP:
        return vyre_build_op(
            b, VYRE_EXPR_MIN,
            vyre_build_op(b, VYRE_EXPR_MAX, kid_handle(p, n, 0), kid_handle(p, n, 1), VYRE_NONE),
            kid_handle(p, n, 2), VYRE_NONE);
    case VYRE_NODE_BIND: return bind(p, kid_handle(p, n, 0));
    case VYRE_NODE_AGAIN: return p->nodes.data[n->ref].handle;
    case VYRE_NODE_ZERO: return vyre_build_u32(b, 0);
    case VYRE_NODE_ELEMENT: return build_element(p, n);
    case VYRE_NODE_LENGTH: return build_length(p, n);
    default: {
        vyre_expr value = vyre_build_op(b, (vyre_expr_op)n->op, kid_handle(p, n, 0),
                                        kid_handle(p, n, 1), kid_handle(p, n, 2));
        return n->bound ? bind(p, value) : value;
    }
    }
}

void vyre_parser_elaborate(vyre_parser *p) {
    settle_types(p);
    settle_order(p);
    for (uint32_t at = 0; at < p->nodes.count; at++) {
        vyre_node *n = &p->nodes.data[at];
        vyre_builder_at(p->builder, vyre_source_place(&p->source, n->first, n->last));
        n->handle = build_node(p, at);
    }
}

vyre_expr vyre_parser_value(vyre_parser *p, uint8_t want, uint8_t refuse, uint32_t *out_node) {
    vyre_parser_clear(p);
    *out_node = vyre_parser_expression(p);
    if (*out_node == VYRE_NONE) {
        return VYRE_NONE;
    }
    p->nodes.data[*out_node].want = want;
    p->nodes.data[*out_node].refuse = refuse;
    vyre_parser_elaborate(p);
    return p->nodes.data[*out_node].handle;
}
