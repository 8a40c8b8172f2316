/* Statements that bind, assign, store, or stand for their effect alone. */
#include "text/parser.h"
#include "text/unsupported.h"

bool vyre_parser_check_value_type(vyre_parser *p, vyre_type type, uint32_t token,
                                  const char *what) {
    if (type != VYRE_VOID && !vyre_type_computes(type)) {
        vyre_parser_error(
            p, "V231", token, token, "compute in u32, i32 or f32: loads widen and stores narrow",
            "%s can't have the type %s, which is only stored", what, vyre_type_name(type));
        return false;
    }
    return true;
}

/* let name [: type] = value; without the declaration. False after a syntax error. */
static bool let_parts(vyre_parser *p, uint8_t *out_type, uint32_t *out_type_token,
                      uint32_t *out_root) {
    if (p->tokens[p->at].kind == VYRE_TOKEN_COLON) {
        *out_type_token = ++p->at;
        vyre_type type = vyre_parser_type(p, "behind `:`");
        if (type == VYRE_VOID || !vyre_parser_check_value_type(p, type, p->at - 1, "a variable")) {
            return false;
        }
        *out_type = (uint8_t)type;
    }
    return vyre_parser_expect(p, VYRE_TOKEN_ASSIGN, "behind the name") &&
           vyre_parser_part(p, *out_type, out_root) &&
           vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the value");
}

void vyre_parser_let(vyre_parser *p) {
    uint32_t first = p->at, name = p->at + 1, type_token = 0, root = VYRE_NONE;
    uint8_t type = VYRE_VOID;
    vyre_parser_clear(p);
    p->at += p->tokens[name].kind == VYRE_TOKEN_NAME ? 2 : 1;
    bool fine = p->at == name + 1 ? let_parts(p, &type, &type_token, &root) : false;
    uint32_t symbol =
        vyre_parser_declare(p, name, VYRE_SYMBOL_VAR, VYRE_VAR_LOCAL, VYRE_UNKNOWN, VYRE_NONE);
    if (!fine) {
        vyre_parser_skip(p);
        return;
    }
    vyre_node *value = &p->nodes.data[root];
    if (vyre_node_is_effect(value->op)) {
        p->direct = root;
        p->direct_name = vyre_parser_name(p, name);
    }
    vyre_parser_elaborate(p);
    if (type && value->type != VYRE_UNKNOWN && value->type != type) {
        vyre_parser_error(p, "V230", type_token, type_token, "cast the value, or drop the type",
                          "the declared type is %s, the value has %s",
                          vyre_type_name((vyre_type)type), vyre_type_name((vyre_type)value->type));
    }
    vyre_var var = p->direct_var;
    if (p->direct == VYRE_NONE) {
        vyre_parser_at(p, first, p->at - 1);
        var = vyre_build_let(p->builder, vyre_parser_name(p, name), value->handle);
    }
    if (symbol != VYRE_NONE) {
        p->symbols.data[symbol].handle = var;
        p->symbols.data[symbol].type = value->type;
    }
}

/* The operator of `op=`, VYRE_EXPR_COUNT for `=`; false and a report for anything else. */
static bool assignment(vyre_parser *p, uint8_t *out_op) {
    uint8_t kind = p->tokens[p->at].kind;
    if (kind == VYRE_TOKEN_ASSIGN || kind < VYRE_TOKEN_AND_AND) {
        *out_op = vyre_token_operator(kind);
        p->at++;
        return true;
    }
    const vyre_token *before = &p->tokens[p->at - 1];
    const char *name =
        before->kind == VYRE_TOKEN_NAME ? vyre_source_name(&p->source, before->value) : "";
    const char *instead = vyre_unsupported_operation(name);
    if (instead) {
        vyre_parser_error(p, "V016", p->at - 1, p->at - 1, instead, "`%s` is not supported", name);
        return false;
    }
    return vyre_parser_expect(p, VYRE_TOKEN_ASSIGN, "in this statement");
}

/* The value of an assignment; with an operator it is `left op value`. */
static bool assigned(vyre_parser *p, uint8_t op, uint32_t left, uint8_t want, uint32_t *out_root) {
    if (!vyre_parser_part(p, want, out_root)) {
        return false;
    }
    if (op != VYRE_EXPR_COUNT) {
        uint32_t kids[2] = {left, *out_root};
        vyre_node shape = {
            .op = op, .first = p->nodes.data[left].first, .last = p->nodes.data[*out_root].last};
        p->nodes.data[*out_root].want = VYRE_VOID;
        *out_root = vyre_parser_node(p, &shape, kids, 2);
    }
    return *out_root != VYRE_NONE;
}

static void check_assignable(vyre_parser *p, const vyre_symbol *s, uint32_t token) {
    if (s->kind != VYRE_SYMBOL_VAR) {
        bool memory = s->kind == VYRE_SYMBOL_DECL && vyre_role_is_memory((vyre_role)s->sub);
        vyre_parser_misused(p, "V119", token, "is not a variable and can't be assigned",
                            memory ? "store to an element, such as b[i] = x"
                                   : "bind a variable with let");
    } else if (s->sub == VYRE_VAR_LOOP) {
        vyre_parser_misused(p, "V011", token, "is a loop variable and can't be assigned",
                            "bind a variable of its own with let");
    }
}

/* What stands on the left of an assignment without an index: a variable, or memory of one element.
 */
static vyre_node assigned_name(vyre_parser *p, uint32_t name) {
    vyre_node shape = {.op = VYRE_NODE_ERROR, .type = VYRE_UNKNOWN, .first = name, .last = name};
    uint32_t symbol = vyre_parser_symbol(p, name);
    if (symbol == VYRE_NONE) {
        vyre_parser_unknown(p, "V120", name, VYRE_WANT_VARIABLE, "assignment to an unknown name");
        return shape;
    }
    const vyre_symbol *s = &p->symbols.data[symbol];
    if (s->kind == VYRE_SYMBOL_DECL && s->single) {
        vyre_parser_check_write(p, symbol, name);
        shape.op = VYRE_EXPR_LOAD;
        shape.type = (uint8_t)vyre_type_widened((vyre_type)s->type);
        shape.ref = symbol;
        return shape;
    }
    check_assignable(p, s, name);
    if (s->kind == VYRE_SYMBOL_VAR) {
        shape.op = VYRE_EXPR_VAR;
        shape.type = s->type;
        shape.ref = symbol;
    }
    return shape;
}

/* The value that is there before, for `op=`. */
static uint32_t value_before(vyre_parser *p, const vyre_node *shape) {
    uint32_t zero = VYRE_NONE;
    if (shape->op == VYRE_EXPR_LOAD) {
        zero = vyre_parser_zero(p, shape->first);
        if (zero == VYRE_NONE) {
            return VYRE_NONE;
        }
    }
    return vyre_parser_node(p, shape, &zero, shape->op == VYRE_EXPR_LOAD);
}

void vyre_parser_assign(vyre_parser *p) {
    uint32_t name = p->at++;
    uint8_t op = VYRE_EXPR_COUNT;
    uint32_t root, left = VYRE_NONE;
    vyre_parser_clear(p);
    if (!assignment(p, &op)) {
        vyre_parser_skip(p);
        return;
    }
    const vyre_node shape = assigned_name(p, name);
    if (op != VYRE_EXPR_COUNT) {
        left = value_before(p, &shape);
    }
    if ((op != VYRE_EXPR_COUNT && left == VYRE_NONE) || !assigned(p, op, left, shape.type, &root) ||
        !vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the value")) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_elaborate(p);
    vyre_parser_at(p, name, p->at - 1);
    if (shape.op == VYRE_EXPR_LOAD) {
        vyre_build_store(p->builder, p->symbols.data[shape.ref].handle,
                         vyre_build_u32(p->builder, 0), vyre_parser_handle(p, root));
    } else {
        vyre_build_assign(p->builder,
                          shape.op == VYRE_EXPR_VAR ? p->symbols.data[shape.ref].handle : VYRE_NONE,
                          vyre_parser_handle(p, root));
    }
}

/* The indices of an element: [y][x]. False after a report. */
static bool indices_at(vyre_parser *p, uint32_t indices[VYRE_LIMIT_DIMENSIONS],
                       uint32_t *out_count) {
    uint32_t count = 0;
    do {
        uint32_t more;
        p->at++;
        if (!vyre_parser_part(p, VYRE_U32, &more) ||
            !vyre_parser_expect(p, VYRE_TOKEN_CLOSE_INDEX, "behind the index")) {
            return false;
        }
        if (count < VYRE_LIMIT_DIMENSIONS) {
            indices[count] = more;
        }
        count++;
    } while (p->tokens[p->at].kind == VYRE_TOKEN_OPEN_INDEX);
    *out_count = count;
    return true;
}

/* For `b[i] op= e`: each index is evaluated once, and here is what it was. */
static bool bind_index(vyre_parser *p, uint32_t *index, uint32_t *out_again) {
    const vyre_node i = p->nodes.data[*index];
    bool simple = i.kid_count == 0 && i.op < VYRE_EXPR_COUNT;
    vyre_node shape = {.op = VYRE_NODE_BIND, .first = i.first, .last = i.last};
    if (!simple) {
        *index = vyre_parser_node(p, &shape, index, 1);
    }
    if (*index == VYRE_NONE) {
        return false;
    }
    p->nodes.data[*index].want = VYRE_U32;
    shape.op = VYRE_NODE_AGAIN;
    shape.type = VYRE_U32;
    shape.ref = *index;
    *out_again = vyre_parser_node(p, &shape, NULL, 0);
    return *out_again != VYRE_NONE;
}

/* For `b[i] op= e`: the load of b[i]; NONE after an error. */
static uint32_t load_again(vyre_parser *p, uint32_t symbol, uint8_t type, uint32_t name,
                           uint32_t *indices, uint32_t count) {
    uint32_t again[VYRE_LIMIT_DIMENSIONS];
    const uint32_t last = p->at - 2; /* before the assignment */
    for (uint32_t i = 0; i < count; i++) {
        if (!bind_index(p, &indices[i], &again[i])) {
            return VYRE_NONE;
        }
    }
    const uint32_t element = vyre_parser_element(p, symbol, name, again, count);
    vyre_node load = {.op = symbol == VYRE_NONE ? VYRE_NODE_ERROR : VYRE_EXPR_LOAD,
                      .type = type,
                      .ref = symbol,
                      .first = name,
                      .last = last};
    return element == VYRE_NONE ? VYRE_NONE : vyre_parser_node(p, &load, &element, 1);
}

static bool store_parts(vyre_parser *p, uint32_t symbol, uint32_t *out_index, uint32_t *out_root) {
    uint32_t name = p->at++, left = VYRE_NONE, indices[VYRE_LIMIT_DIMENSIONS], count;
    uint8_t op = VYRE_EXPR_COUNT, type = VYRE_UNKNOWN;
    if (symbol != VYRE_NONE) {
        type = (uint8_t)vyre_type_widened((vyre_type)p->symbols.data[symbol].type);
    }
    if (!indices_at(p, indices, &count) || !assignment(p, &op)) {
        return false;
    }
    count = count > VYRE_LIMIT_DIMENSIONS ? VYRE_LIMIT_DIMENSIONS : count;
    if (op != VYRE_EXPR_COUNT) {
        left = load_again(p, symbol, type, name, indices, count);
        if (left == VYRE_NONE) {
            return false;
        }
    }
    *out_index = vyre_parser_element(p, symbol, name, indices, count);
    return *out_index != VYRE_NONE && assigned(p, op, left, type, out_root) &&
           vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the value");
}

void vyre_parser_store(vyre_parser *p) {
    uint32_t first = p->at, index, root;
    vyre_parser_clear(p);
    uint32_t symbol = vyre_parser_memory(p, p->at, "V064", "store to an unknown buffer");
    vyre_parser_check_write(p, symbol, p->at);
    if (!vyre_parser_check_index(p, symbol, p->at, true) ||
        !store_parts(p, symbol, &index, &root)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_elaborate(p);
    vyre_parser_at(p, first, p->at - 1);
    vyre_build_store(p->builder, vyre_parser_decl(p, symbol), vyre_parser_handle(p, index),
                     vyre_parser_handle(p, root));
}

void vyre_parser_effect(vyre_parser *p) {
    uint32_t first = p->at, root;
    vyre_parser_clear(p);
    if (!vyre_parser_part(p, VYRE_VOID, &root) ||
        !vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the statement")) {
        vyre_parser_skip(p);
        return;
    }
    uint8_t op = p->nodes.data[root].op;
    if (op != VYRE_NODE_ATOMIC && op != VYRE_NODE_CALL && op != VYRE_NODE_ERROR) {
        vyre_parser_error(p, "V229", first, p->at - 2, "bind it: let x = ...;",
                          "the value of this statement is not used");
        return;
    }
    p->direct = root;
    p->direct_name = NULL;
    vyre_parser_elaborate(p);
}
