/* Strings, and the statements that read like a call: traps, async copies, collectives, swaps,
 * indirect dispatch. What they take is a pattern each. */
#include "text/parser.h"

static uint32_t hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10) : 255;
}

/* The character behind a backslash at text[*at]; 0 when there is no such escape. */
static char unescape(const char *text, uint32_t end, uint32_t *at) {
    char c = text[++*at];
    if (c == 'x' && *at + 2 < end) {
        uint32_t high = hex_value(text[*at + 1]), low = hex_value(text[*at + 2]);
        *at += 2;
        return high < 8 && low < 16 ? (char)(high * 16 + low) : 0;
    }
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : 0;
}

/* The string token at the cursor, decoded into room; false after a report. */
bool vyre_parser_string(vyre_parser *p, char room[VYRE_LIMIT_NAME + 1]) {
    const vyre_token *t = &p->tokens[p->at];
    char shown[64];
    if (t->kind != VYRE_TOKEN_STRING) {
        vyre_parser_error(p, "V226", p->at, p->at, "write a name in quotes",
                          "expected a string in quotes, found %s",
                          vyre_source_describe(&p->source, p->at, shown));
        return false;
    }
    uint32_t length = 0;
    for (uint32_t i = t->begin + 1; i + 1 < t->end; i++) {
        char c = p->source.text[i];
        if (c == '\\') {
            c = unescape(p->source.text, t->end - 1, &i);
        }
        if (c == 0 || length == VYRE_LIMIT_NAME) {
            vyre_parser_error(
                p, "V226", p->at, p->at, "the escapes are \\\\ \\\" \\n \\t and \\x01 to \\x7f",
                c == 0 ? "this string has an unknown escape" : "this string has more than %d bytes",
                VYRE_LIMIT_NAME);
            return false;
        }
        room[length++] = c;
    }
    room[length] = '\0';
    p->at++;
    return true;
}

/* What stands in the brackets of a statement that reads like a call. */
typedef struct listed {
    char text[VYRE_LIMIT_NAME + 1];
    vyre_decl decl[2];
    uint32_t node[2];
    uint8_t op;
    uint32_t decls, nodes;
} listed;

static bool take_reduction(vyre_parser *p, uint8_t *out_op) {
    char room[64];
    for (int op = 0; op < VYRE_COLLECTIVE_COUNT; op++) {
        if (vyre_parser_is_text(p, p->at, vyre_collective_name((vyre_collective_op)op))) {
            *out_op = (uint8_t)op;
            p->at++;
            return true;
        }
    }
    vyre_parser_error(p, "V235", p->at, p->at, "write sum, min, max, and, or or xor",
                      "expected the operation of a collective, found %s",
                      vyre_source_describe(&p->source, p->at, room));
    return false;
}

/* Reads by pattern: m memory, w memory that is written, e expression, s string, o reduction; behind
 * ? it may end. */
static bool take_listed(vyre_parser *p, const char *pattern, listed *out) {
    if (!vyre_parser_expect(p, VYRE_TOKEN_OPEN_PAREN, "before the arguments")) {
        return false;
    }
    for (const char *c = pattern; *c; c++) {
        if (*c == '?') {
            if (p->tokens[p->at].kind == VYRE_TOKEN_CLOSE_PAREN) {
                break;
            }
            continue;
        }
        if (c != pattern && !vyre_parser_expect(p, VYRE_TOKEN_COMMA, "between the arguments")) {
            return false;
        }
        if (*c == 'm' || *c == 'w') {
            uint32_t symbol = vyre_parser_memory(p, p->at, "V238", "unknown buffer");
            if (*c == 'w') {
                vyre_parser_check_write(p, symbol, p->at);
            }
            out->decl[out->decls++] = vyre_parser_decl(p, symbol);
            p->at += p->tokens[p->at].kind == VYRE_TOKEN_NAME;
        } else if ((*c == 'e' && !vyre_parser_part(p, VYRE_U32, &out->node[out->nodes++])) ||
                   (*c == 's' && !vyre_parser_string(p, out->text)) ||
                   (*c == 'o' && !take_reduction(p, &out->op))) {
            return false;
        }
    }
    return vyre_parser_expect(p, VYRE_TOKEN_CLOSE_PAREN, "behind the arguments") &&
           vyre_parser_expect(p, VYRE_TOKEN_SEMICOLON, "behind the statement");
}

static void build_listed(vyre_parser *p, vyre_stmt_op op, const listed *l) {
    vyre_builder *b = p->builder;
    vyre_expr x = vyre_parser_handle(p, l->node[0]), y = vyre_parser_handle(p, l->node[1]);
    vyre_collective_op reduction = (vyre_collective_op)l->op;
    if (op == VYRE_STMT_TRAP) {
        vyre_build_trap(b, l->text, x);
    } else if (op == VYRE_STMT_ASYNC_LOAD) {
        vyre_build_async_load(b, l->decl[0], l->decl[1], x, y, l->text);
    } else if (op == VYRE_STMT_ASYNC_STORE) {
        vyre_build_async_store(b, l->decl[0], l->decl[1], x, y, l->text);
    } else if (op == VYRE_STMT_ASYNC_WAIT) {
        vyre_build_async_wait(b, l->text);
    } else if (op == VYRE_STMT_ALL_REDUCE) {
        vyre_build_all_reduce(b, l->decl[0], reduction, x);
    } else if (op == VYRE_STMT_ALL_GATHER) {
        vyre_build_all_gather(b, l->decl[0], l->decl[1], x);
    } else if (op == VYRE_STMT_REDUCE_SCATTER) {
        vyre_build_reduce_scatter(b, l->decl[0], l->decl[1], reduction, x);
    } else if (op == VYRE_STMT_BROADCAST) {
        vyre_build_broadcast(b, l->decl[0], x, y);
    } else if (op == VYRE_STMT_SWAP) {
        vyre_build_swap(b, l->decl[0], l->decl[1]);
    } else {
        vyre_build_indirect_dispatch(b, l->decl[0], x);
    }
}

void vyre_parser_listed(vyre_parser *p) {
    static const char *const patterns[VYRE_STMT_COUNT] = {
        [VYRE_STMT_TRAP] = "se",
        [VYRE_STMT_ASYNC_LOAD] = "mwees",
        [VYRE_STMT_ASYNC_STORE] = "mwees",
        [VYRE_STMT_ASYNC_WAIT] = "s",
        [VYRE_STMT_ALL_REDUCE] = "wo?e",
        [VYRE_STMT_ALL_GATHER] = "mw?e",
        [VYRE_STMT_REDUCE_SCATTER] = "mwo?e",
        [VYRE_STMT_BROADCAST] = "we?e",
        [VYRE_STMT_SWAP] = "ww",
        [VYRE_STMT_INDIRECT_DISPATCH] = "me",
    };
    vyre_stmt_op op = (vyre_stmt_op)p->tokens[p->at].sub;
    uint32_t first = p->at++;
    listed l = {.decl = {VYRE_NONE, VYRE_NONE}, .node = {VYRE_NONE, VYRE_NONE}};
    vyre_parser_clear(p);
    if (!take_listed(p, patterns[op], &l)) {
        vyre_parser_skip(p);
        return;
    }
    vyre_parser_elaborate(p);
    vyre_parser_at(p, first, p->at - 1);
    build_listed(p, op, &l);
}
