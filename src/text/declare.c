/* The top level: header, declarations, functions.
 *
 * The first walk only registers what is declared, so that uses may come before. Consts are defined
 * in the order of their dependencies, because a const without a written type has that of its value;
 * everything else is defined as it stands. */
#include "text/join.h"
#include "text/parser.h"

static bool is_role(const vyre_parser *p, uint32_t token) {
    const vyre_token *t = &p->tokens[token];
    return t->kind == VYRE_TOKEN_NAME && t->word == VYRE_WORD_ROLE;
}

static vyre_access access_at(const vyre_parser *p, uint32_t token) {
    return vyre_parser_is_text(p, token, "readonly")    ? VYRE_ACCESS_READ
           : vyre_parser_is_text(p, token, "writeonly") ? VYRE_ACCESS_WRITE
                                                        : VYRE_ACCESS_FULL;
}

/* Whether a declaration begins here. In the middle of a statement, where a semicolon may have been
 * forgotten, it must look like one. */
static bool begins_decl(const vyre_parser *p, uint32_t token) {
    uint32_t role = token + (access_at(p, token) != VYRE_ACCESS_FULL);
    if (!is_role(p, role)) {
        return false;
    }
    uint8_t before = p->tokens[token - 1].kind;
    bool starts = before == VYRE_TOKEN_SEMICOLON || before == VYRE_TOKEN_OPEN_BRACE ||
                  before == VYRE_TOKEN_CLOSE_BRACE;
    return starts || (p->tokens[role + 1].kind == VYRE_TOKEN_NAME &&
                      p->tokens[role + 2].kind == VYRE_TOKEN_COLON);
}

static bool begins_fn(const vyre_parser *p, uint32_t token) {
    return vyre_parser_is(p, token, VYRE_WORD_KEY, VYRE_KEY_FN) ||
           (vyre_parser_is_text(p, token, "opaque") &&
            vyre_parser_is(p, token + 1, VYRE_WORD_KEY, VYRE_KEY_FN));
}

/* Brackets in a row. */
static uint8_t rank_at(const vyre_parser *p, uint32_t token) {
    uint8_t rank = 0;
    while (p->tokens[token].kind == VYRE_TOKEN_OPEN_INDEX && rank < UINT8_MAX) {
        token = p->tokens[token].value + 1;
        rank++;
    }
    return rank;
}

static bool check_rank(vyre_parser *p, uint32_t token, uint32_t rank) {
    if (rank > VYRE_LIMIT_DIMENSIONS) {
        vyre_parser_error(p, "V290", token, token, "compute the indices of some by hand",
                          "memory has at most %d dimensions, not %u", VYRE_LIMIT_DIMENSIONS, rank);
        return false;
    }
    return true;
}

static void scan_decl(vyre_parser *p, vyre_item *item) {
    item->access = (uint8_t)access_at(p, p->at);
    p->at += item->access != VYRE_ACCESS_FULL;
    uint8_t role = p->tokens[p->at++].sub;
    item->symbol =
        vyre_parser_declare(p, p->at, VYRE_SYMBOL_DECL, role, VYRE_UNKNOWN, p->decl_count++);
    item->broken = item->symbol == VYRE_NONE;
    if (!item->broken) {
        p->symbols.data[item->symbol].item = p->items.count;
        p->at++;
        if (role != VYRE_CONST || p->tokens[p->at].kind != VYRE_TOKEN_ASSIGN) {
            uint32_t colon = p->at;
            vyre_type type = VYRE_VOID;
            item->broken = !vyre_parser_expect(p, VYRE_TOKEN_COLON, "behind the name") ||
                           (type = vyre_parser_type(p, "behind `:`")) == VYRE_VOID ||
                           (!vyre_role_is_memory((vyre_role)role) &&
                            !vyre_parser_check_value_type(p, type, colon + 1, "a param or const"));
            if (!item->broken) {
                p->symbols.data[item->symbol].type = (uint8_t)type;
                p->symbols.data[item->symbol].single =
                    vyre_role_is_memory((vyre_role)role) &&
                    p->tokens[p->at].kind != VYRE_TOKEN_OPEN_INDEX;
                p->symbols.data[item->symbol].rank = rank_at(p, p->at);
            }
        }
    }
    item->rest = p->at;
    vyre_parser_skip(p);
}

/* T, in T[], inout T[], in T, inout T */
static bool scan_argument_type(vyre_parser *p, vyre_argument *arg) {
    const bool reads = vyre_parser_is(p, p->at, VYRE_WORD_ROLE, VYRE_IN);
    arg->writes = vyre_parser_is(p, p->at, VYRE_WORD_ROLE, VYRE_INOUT);
    arg->memory = reads || arg->writes;
    p->at += arg->memory;
    vyre_type type = vyre_parser_type(p, arg->memory ? "behind the access" : "behind `:`");
    arg->type = (uint8_t)type;
    if (!arg->memory || type == VYRE_VOID) {
        return type != VYRE_VOID && vyre_parser_check_value_type(p, type, p->at - 1, "an argument");
    }
    arg->rank = rank_at(p, p->at);
    arg->single = arg->rank == 0;
    bool fine = check_rank(p, p->at, arg->rank);
    for (uint32_t i = 0; i < arg->rank && fine; i++) {
        p->at++;
        fine = vyre_parser_expect(p, VYRE_TOKEN_CLOSE_INDEX,
                                  "behind `[`: the memory that is passed has its own size");
    }
    return fine;
}

/* (a : T, b : inout T[], ...) */
static bool scan_arguments(vyre_parser *p, vyre_item *item) {
    item->first_arg = p->args.count;
    if (!vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "before the arguments")) {
        return false;
    }
    while (p->tokens[p->at].kind != VYRE_TOKEN_CLOSE_PAREN) {
        if (item->arg_count && !vyre_parser_expect(p, VYRE_TOKEN_COMMA, "between the arguments")) {
            return false;
        }
        vyre_argument arg = {.token = p->at};
        char room[64];
        if (p->tokens[p->at].kind != VYRE_TOKEN_NAME) {
            vyre_parser_error(p, "V211", p->at, p->at, "write it like (a : u32, b : f32)",
                              "expected the name of an argument, found %s",
                              vyre_source_describe(&p->source, p->at, room));
            return false;
        }
        if (!vyre_parser_is_name(p, p->at)) {
            vyre_parser_misused(p, "V212", p->at, "is a reserved word", "choose another name");
            return false;
        }
        p->at++;
        if (!vyre_parser_expect(p, VYRE_TOKEN_COLON, "behind the name")) {
            return false;
        }
        if (!scan_argument_type(p, &arg)) {
            return false;
        }
        if (arg.memory && item->opaque) {
            vyre_parser_error(p, "V281", arg.token, p->at - 1, "name the buffer in its body",
                              "an opaque function takes values only");
            return false;
        }
        item->generic |= arg.memory;
        p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->args, arg);
        if (p->out_of_memory) {
            return false;
        }
        if (++item->arg_count > VYRE_LIMIT_ARGUMENTS) {
            vyre_parser_error(p, "V239", arg.token, arg.token, "pass values through a buffer",
                              "a function has at most %d arguments", VYRE_LIMIT_ARGUMENTS);
            return false;
        }
    }
    p->at++;
    return true;
}

static bool scan_signature(vyre_parser *p, vyre_item *item) {
    if (!scan_arguments(p, item)) {
        return false;
    }
    if (p->tokens[p->at].kind == VYRE_TOKEN_ARROW) {
        p->at++;
        vyre_type type = vyre_parser_type(p, "behind `->`");
        if (type == VYRE_VOID || !vyre_parser_check_value_type(p, type, p->at - 1, "a result")) {
            return false;
        }
        item->result = (uint8_t)type;
    }
    item->rest = p->at;
    while (item->opaque &&
           (vyre_parser_is_text(p, p->at, "reads") || vyre_parser_is_text(p, p->at, "writes"))) {
        if (p->tokens[++p->at].kind != VYRE_TOKEN_OPEN_PAREN) {
            return vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "before the names of buffers");
        }
        p->at = p->tokens[p->at].value + 1;
    }
    item->body = p->at;
    return p->tokens[p->at].kind == VYRE_TOKEN_OPEN_BRACE ||
           vyre_parser_expect(p, VYRE_TOKEN_OPEN_BRACE, "to open the body");
}

static void scan_fn(vyre_parser *p, vyre_item *item) {
    item->function = true;
    item->opaque = !vyre_parser_is(p, p->at, VYRE_WORD_KEY, VYRE_KEY_FN);
    p->at += item->opaque ? 2 : 1;
    item->symbol = vyre_parser_declare(p, p->at, VYRE_SYMBOL_FN, 0, VYRE_VOID, p->items.count);
    if (item->symbol == VYRE_NONE) {
        item->broken = true;
    } else {
        p->at++;
        item->broken = !scan_signature(p, item);
    }
    vyre_parser_skip(p);
}

static void scan_items(vyre_parser *p, uint32_t brace) {
    uint32_t close = p->tokens[brace].value;
    p->at = brace + 1;
    while (p->at < close && !p->out_of_memory && p->source.errors < VYRE_TEXT_ERRORS) {
        vyre_item item = {
            .begin = p->at, .symbol = VYRE_NONE, .fn = VYRE_NONE, .generic_item = VYRE_NONE};
        uint8_t kind = p->tokens[p->at].kind;
        if (kind == VYRE_TOKEN_NAME && begins_decl(p, p->at)) {
            scan_decl(p, &item);
        } else if (kind == VYRE_TOKEN_NAME && begins_fn(p, p->at)) {
            scan_fn(p, &item);
        } else if (vyre_source_is_import(&p->source, p->at)) {
            item.broken = true; /* nothing to declare: what it imports has items of its own */
            vyre_parser_skip(p);
        } else {
            bool opens = kind == VYRE_TOKEN_OPEN_PAREN || kind == VYRE_TOKEN_OPEN_INDEX ||
                         kind == VYRE_TOKEN_OPEN_BRACE;
            p->at = opens ? p->tokens[p->at].value + 1 : p->at + 1;
            continue;
        }
        item.end = p->at;
        p->out_of_memory |= !vyre_vec_push(&p->source.allocator, &p->items, item);
    }
}

static const char *symbol_name(const vyre_parser *p, uint32_t symbol) {
    return vyre_source_name(&p->source, p->symbols.data[symbol].name);
}

/* Declares everything to the builder, in the order of the text. */
static void declare_decl(vyre_parser *p, const vyre_item *item) {
    const vyre_symbol *s = &p->symbols.data[item->symbol];
    const char *name = symbol_name(p, item->symbol);
    vyre_parser_at(p, item->begin, item->rest - 1);
    if (vyre_role_is_memory((vyre_role)s->sub)) {
        vyre_build_memory(p->builder, (vyre_role)s->sub, name, (vyre_type)s->type, VYRE_NONE);
        if (item->access != VYRE_ACCESS_FULL) {
            vyre_build_access(p->builder, s->handle, (vyre_access)item->access);
        }
    } else if (s->sub == VYRE_PARAM) {
        vyre_build_param(p->builder, name, (vyre_type)s->type, VYRE_NONE);
    } else {
        vyre_build_const(p->builder, name, VYRE_NONE);
    }
}

/* reads(a, b) writes(c), in any order; the names in the brackets at the cursor go to decls. */
static uint32_t take_effects(vyre_parser *p, vyre_decl *decls, uint32_t count) {
    uint32_t close = p->tokens[p->at].value;
    for (p->at++; p->at < close; p->at++) {
        uint32_t symbol = vyre_parser_memory(p, p->at, "V238", "unknown buffer");
        if (count < VYRE_LIMIT_DECLS) {
            decls[count++] = vyre_parser_decl(p, symbol);
        }
        if (p->at + 1 < close) {
            p->at++;
            if (p->tokens[p->at].kind != VYRE_TOKEN_COMMA) {
                vyre_parser_expect(p, VYRE_TOKEN_COMMA, "between the names of buffers");
                break;
            }
        }
    }
    p->at = close + 1;
    return count;
}

static void declare_effects(vyre_parser *p, const vyre_item *item) {
    const vyre_allocator *a = &p->source.allocator;
    vyre_decl *decls = vyre_alloc(a, 2 * (size_t)VYRE_LIMIT_DECLS, sizeof *decls);
    if (!decls) {
        p->out_of_memory = true;
        return;
    }
    vyre_decl *writes = decls + VYRE_LIMIT_DECLS;
    uint32_t read_count = 0, write_count = 0;
    p->at = item->rest;
    while (p->at < item->body) {
        if (vyre_parser_is_text(p, p->at++, "reads")) {
            read_count = take_effects(p, decls, read_count);
        } else {
            write_count = take_effects(p, writes, write_count);
        }
    }
    vyre_build_fn_opaque(p->builder, item->fn, decls, read_count, writes, write_count);
    vyre_free(a, decls, 2 * (size_t)VYRE_LIMIT_DECLS, sizeof *decls);
}

static void declare_fn(vyre_parser *p, vyre_item *item) {
    const char *name = vyre_parser_fn_name(p, p->symbols.data[item->symbol].token, 1);
    if (!name) {
        return;
    }
    vyre_parser_build_fn(p, item, name);
    if (item->opaque) {
        declare_effects(p, item);
    }
}

/* A literal, or the bits of one: infinities and NaN have no literal. */
static bool is_default(const vyre_parser *p, const vyre_node *n) {
    return n->op == VYRE_EXPR_LITERAL ||
           (n->op == VYRE_EXPR_BITCAST &&
            p->nodes.data[p->kids.data[n->first_kid]].op == VYRE_EXPR_LITERAL);
}

static void define_param(vyre_parser *p, const vyre_symbol *s) {
    uint32_t node, first = p->at + 1;
    if (p->tokens[p->at].kind == VYRE_TOKEN_ASSIGN) {
        p->at++;
        vyre_expr value = vyre_parser_value(p, s->type, VYRE_REFUSE_CONSTANT, &node);
        if (node == VYRE_NONE) {
            return;
        }
        const vyre_node *n = &p->nodes.data[node];
        bool whole = n->negative && !vyre_type_is_signed((vyre_type)s->type) &&
                     !vyre_type_is_float((vyre_type)s->type);
        if (!is_default(p, n) || whole) {
            vyre_parser_error(p, "V233", first, p->at - 1, "write a number, true or false",
                              "the default of a param is a literal%s", whole ? " of its type" : "");
        } else if (n->type != s->type && n->type != VYRE_UNKNOWN) {
            vyre_parser_error(p, "V230", first, p->at - 1, "write a literal of the param's type",
                              "the declared type is %s, the value has %s",
                              vyre_type_name((vyre_type)s->type),
                              vyre_type_name((vyre_type)n->type));
        }
        vyre_build_decl_value(p->builder, s->handle, value);
    }
    vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the declaration");
}

/* returns(begin .. end) */
static void define_range(vyre_parser *p, const vyre_symbol *s) {
    uint64_t bounds[2] = {0, 0};
    uint32_t first = p->at++;
    bool fine = vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "behind `returns`");
    for (int i = 0; fine && i < 2; i++) {
        if (i == 1 && !vyre_parser_expect(p, VYRE_TOKEN_RANGE, "between the bounds")) {
            return;
        }
        fine = p->tokens[p->at].kind == VYRE_TOKEN_INTEGER &&
               vyre_literal_convert(&p->source, p->at, VYRE_U32, false, &bounds[i]) ==
                   VYRE_LITERAL_FITS;
        if (!fine) {
            vyre_parser_error(p, "V233", p->at, p->at, "write it like returns(0 .. 16)",
                              "a returned range is two byte offsets");
            return;
        }
        p->at++;
    }
    if (fine && vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the range")) {
        vyre_parser_at(p, first, p->at - 1);
        vyre_build_output_range(p->builder, s->handle, (uint32_t)bounds[0], (uint32_t)bounds[1]);
        vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the declaration");
    }
}

/* [size] or []; false after a report. */
static bool define_dimension(vyre_parser *p, uint32_t number, uint32_t *out_node) {
    const uint32_t open = p->at++;
    *out_node = VYRE_NONE;
    if (p->tokens[p->at].kind != VYRE_TOKEN_CLOSE_INDEX) {
        *out_node = vyre_parser_expression(p);
        if (*out_node == VYRE_NONE) {
            return false;
        }
        p->nodes.data[*out_node].refuse = VYRE_REFUSE_CONSTANT;
    } else if (number > 0) {
        vyre_parser_error(p, "V290", open, p->at, "write how long it is",
                          "only the first dimension is left to the caller");
        return false;
    }
    return vyre_parser_expect(p, VYRE_TOKEN_CLOSE_INDEX, "behind the size");
}

/* [size] or [] for each dimension or, for one element, nothing; false after a report. */
static bool define_size(vyre_parser *p, const vyre_symbol *s) {
    vyre_expr sizes[VYRE_LIMIT_DIMENSIONS] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    if (s->single) {
        vyre_build_decl_size(p->builder, s->handle, vyre_build_literal(p->builder, VYRE_I64, 1));
        return true;
    }
    uint32_t nodes[VYRE_LIMIT_DIMENSIONS];
    bool fine = check_rank(p, p->at, s->rank);
    vyre_parser_clear(p);
    p->exact = true;
    for (uint32_t i = 0; i < s->rank && fine; i++) {
        fine = define_dimension(p, i, &nodes[i]);
    }
    if (fine) {
        vyre_parser_elaborate(p);
    }
    p->exact = false;
    for (uint32_t i = 0; i < s->rank && fine; i++) {
        sizes[i] = vyre_parser_handle(p, nodes[i]);
    }
    if (fine && (s->rank > 1 || sizes[0] != VYRE_NONE)) {
        vyre_build_decl_dimensions(p->builder, s->handle, sizes, s->rank);
    }
    return fine;
}

static void define_memory(vyre_parser *p, const vyre_symbol *s) {
    if (!define_size(p, s)) {
        return;
    }
    if (vyre_parser_is_text(p, p->at, "returns")) {
        define_range(p, s);
        return;
    }
    vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the declaration");
}

/* The first thing in the tree that is not a literal or const; NONE when it is constant. */
static uint32_t varying_node(const vyre_parser *p) {
    for (uint32_t i = 0; i < p->nodes.count; i++) {
        const vyre_node *n = &p->nodes.data[i];
        bool param = n->op == VYRE_EXPR_REF && p->symbols.data[n->ref].sub == VYRE_PARAM;
        if (param || n->op == VYRE_EXPR_LEN || n->op == VYRE_EXPR_BUILTIN ||
            n->op == VYRE_EXPR_LOAD) {
            return i;
        }
    }
    return VYRE_NONE;
}

static void define_const(vyre_parser *p, vyre_item *item) {
    vyre_symbol *s = &p->symbols.data[item->symbol];
    uint32_t node, first = p->at = item->rest;
    if (!vyre_parser_expect(p, VYRE_TOKEN_ASSIGN, "behind the name")) {
        return;
    }
    uint8_t want = s->type == VYRE_UNKNOWN ? VYRE_VOID : s->type;
    vyre_expr value = vyre_parser_value(p, want, VYRE_REFUSE_CONSTANT, &node);
    if (node == VYRE_NONE) {
        return;
    }
    uint32_t varying = varying_node(p);
    const vyre_node *n = &p->nodes.data[node];
    if (varying != VYRE_NONE) {
        vyre_parser_error(p, "V233", p->nodes.data[varying].first, p->nodes.data[varying].last,
                          "use let for what is known only at run time",
                          "a const is made of literals and other consts");
    } else if (want && n->type != want && n->type != VYRE_UNKNOWN) {
        vyre_parser_error(p, "V230", first + 1, p->at - 1, "cast the value, or drop the type",
                          "the declared type is %s, the value has %s",
                          vyre_type_name((vyre_type)want), vyre_type_name((vyre_type)n->type));
    }
    s->type = n->type;
    vyre_build_decl_value(p->builder, s->handle, vyre_parser_const_value(p, item, node, value));
    vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the declaration");
}

typedef struct waiting {
    uint32_t item, at;
} waiting;
typedef VYRE_VEC(waiting) waiting_stack;

static bool is_const(const vyre_parser *p, uint32_t symbol) {
    return symbol != VYRE_NONE && p->symbols.data[symbol].kind == VYRE_SYMBOL_DECL &&
           p->symbols.data[symbol].sub == VYRE_CONST;
}

/* The memory named here is that of len(m, k), which is an expression of its dimensions. */
static bool is_measured(const vyre_parser *p, uint32_t token, uint32_t symbol) {
    return symbol != VYRE_NONE && p->symbols.data[symbol].kind == VYRE_SYMBOL_DECL &&
           p->symbols.data[symbol].rank > 0 && p->tokens[token + 1].kind == VYRE_TOKEN_COMMA &&
           p->tokens[token - 1].kind == VYRE_TOKEN_OPEN_PAREN &&
           vyre_parser_is(p, token - 2, VYRE_WORD_FUNCTION, VYRE_EXPR_LEN);
}

/* Moves to the next const, or measured memory, named in the value or size that is not defined yet;
 * NONE at its end. */
static uint32_t next_dependency(vyre_parser *p, waiting *w) {
    for (; w->at < p->items.data[w->item].end; w->at++) {
        uint32_t symbol = vyre_parser_symbol(p, w->at);
        if ((is_const(p, symbol) || is_measured(p, w->at, symbol)) &&
            vyre_parser_word(p, w->at) == VYRE_WORD_PLAIN &&
            p->items.data[p->symbols.data[symbol].item].state != 2) {
            return p->symbols.data[symbol].item;
        }
    }
    return VYRE_NONE;
}

static void define_item(vyre_parser *p, vyre_item *item) {
    const vyre_symbol s = p->symbols.data[item->symbol];
    p->at = item->rest;
    if (s.sub == VYRE_CONST) {
        define_const(p, item);
    } else if (s.sub == VYRE_PARAM) {
        define_param(p, &s);
    } else {
        define_memory(p, &s);
    }
}

static void define_from(vyre_parser *p, uint32_t item, waiting_stack *stack) {
    const vyre_allocator *a = &p->source.allocator;
    stack->count = 0;
    p->out_of_memory |= !vyre_vec_push(a, stack, (waiting){item, p->items.data[item].rest});
    while (stack->count && !p->out_of_memory) {
        waiting *top = &stack->data[stack->count - 1];
        vyre_item *here = &p->items.data[top->item];
        here->state = 1;
        uint32_t next = here->broken ? VYRE_NONE : next_dependency(p, top);
        if (next == VYRE_NONE) {
            if (!here->broken) {
                define_item(p, here);
            }
            here->state = 2;
            stack->count--;
        } else if (p->items.data[next].state == 1) {
            vyre_parser_error(p, "V232", top->at, top->at, "break the circle",
                              "the %s of `%s` depends on itself",
                              is_const(p, p->items.data[next].symbol) ? "value" : "size",
                              symbol_name(p, p->items.data[next].symbol));
            p->items.data[next].broken = here->broken = true;
        } else {
            waiting w = {next, p->items.data[next].rest};
            p->out_of_memory |= !vyre_vec_push(a, stack, w);
        }
    }
}

/* All consts, or all that is none. */
static void define_all(vyre_parser *p, bool consts) {
    waiting_stack stack = {0};
    for (uint32_t i = 0; i < p->items.count && !p->out_of_memory; i++) {
        const vyre_item *item = &p->items.data[i];
        if (!item->function && item->state == 0 && item->symbol != VYRE_NONE &&
            is_const(p, item->symbol) == consts) {
            define_from(p, i, &stack);
        }
    }
    vyre_vec_free(&p->source.allocator, &stack);
}

void vyre_parser_declarations(vyre_parser *p, uint32_t brace) {
    scan_items(p, brace);
    for (uint32_t i = 0; i < p->items.count && !p->out_of_memory; i++) {
        if (!p->items.data[i].broken && !p->items.data[i].function) {
            declare_decl(p, &p->items.data[i]);
        }
    }
    define_all(p, true);
    define_all(p, false);
    for (uint32_t i = 0; i < p->items.count && !p->out_of_memory; i++) {
        vyre_item *item = &p->items.data[i];
        if (item->function && !item->broken && !item->generic) {
            declare_fn(p, item);
        }
    }
}
