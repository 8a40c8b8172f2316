/* Scopes, words and the messages about names. A name has at most one meaning at a time, kept in an
 * array by interned number, so looking one up is one load. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "ir/names.h"
#include "text/parser.h"
#include "text/unsupported.h"

void vyre_parser_error(vyre_parser *p, const char *code, uint32_t first, uint32_t last,
                       const char *fix, const char *format, ...) {
    va_list args;
    va_start(args, format);
    p->source.errors++;
    vyre_report_v(p->source.diags, VYRE_ERROR, VYRE_INVALID_PROGRAM, code,
                  vyre_source_place(&p->source, first, last), fix, format, args);
    va_end(args);
}

static const char *token_name(const vyre_parser *p, uint32_t token) {
    return vyre_source_name(&p->source, p->tokens[token].value);
}

uint32_t vyre_parser_symbol(const vyre_parser *p, uint32_t token) {
    const vyre_token *t = &p->tokens[token];
    return t->kind == VYRE_TOKEN_NAME ? p->visible[t->value] : VYRE_NONE;
}

bool vyre_parser_is_name(const vyre_parser *p, uint32_t token) {
    const vyre_token *t = &p->tokens[token];
    if (t->kind != VYRE_TOKEN_NAME || t->word == VYRE_WORD_PLAIN) {
        return t->kind == VYRE_TOKEN_NAME;
    }
    const char *name = token_name(p, token);
    return !vyre_name_is_reserved(name, strlen(name));
}

uint8_t vyre_parser_word(const vyre_parser *p, uint32_t token) {
    const vyre_token *t = &p->tokens[token];
    const uint32_t symbol = vyre_parser_symbol(p, token);
    if (symbol == VYRE_NONE || !vyre_parser_is_name(p, token)) {
        return t->word;
    }
    const bool called = t[1].kind == VYRE_TOKEN_OPEN_PAREN;
    const bool means_it =
        p->symbols.data[symbol].kind == VYRE_SYMBOL_FN
            ? called
            : !called && !(t->word == VYRE_WORD_BUILTIN && t[1].kind == VYRE_TOKEN_DOT);
    return means_it ? (uint8_t)VYRE_WORD_PLAIN : t->word;
}

const char *vyre_parser_fn_name(vyre_parser *p, uint32_t token, uint32_t number) {
    const char *name = token_name(p, token);
    return number == 1 && !vyre_name_is_operation(name, strlen(name))
               ? name
               : vyre_parser_fresh_name(p, token, number < 2 ? 2 : number);
}

/* `hidden`: symbols below may be hidden. */
static uint32_t declare(vyre_parser *p, uint32_t token, vyre_symbol symbol, uint32_t hidden) {
    char room[64];
    const vyre_token *t = &p->tokens[token];
    if (t->kind != VYRE_TOKEN_NAME) {
        vyre_parser_error(p, "V211", token, token, "give it a name", "expected a name, found %s",
                          vyre_source_describe(&p->source, token, room));
        return VYRE_NONE;
    }
    if (!vyre_parser_is_name(p, token)) {
        vyre_parser_error(p, "V212", token, token, "choose another name", "`%s` is a reserved word",
                          token_name(p, token));
        return VYRE_NONE;
    }
    uint32_t previous = p->visible[t->value];
    if (previous != VYRE_NONE && previous >= hidden) {
        const vyre_symbol *old = &p->symbols.data[previous];
        bool top = symbol.kind != VYRE_SYMBOL_VAR && !p->in_function;
        char where[32] = "by a library";
        if (old->token != VYRE_NONE) {
            (void)snprintf(where, sizeof where, "in line %u", p->tokens[old->token].line + 1);
        }
        vyre_parser_error(p, top ? "V107" : "V008", token, token, "choose another name",
                          "`%s` is already declared %s%s", token_name(p, token), where,
                          top ? "" : " and visible here; names are not shadowed");
    }
    symbol.name = t->value;
    symbol.token = token;
    symbol.previous = previous;
    if (!vyre_vec_push(&p->source.allocator, &p->symbols, symbol)) {
        p->out_of_memory = true;
        return VYRE_NONE;
    }
    p->visible[t->value] = p->symbols.count - 1;
    return p->symbols.count - 1;
}

uint32_t vyre_parser_declare(vyre_parser *p, uint32_t token, uint8_t kind, uint8_t sub,
                             uint8_t type, uint32_t handle) {
    return declare(p, token,
                   (vyre_symbol){.kind = kind, .sub = sub, .type = type, .handle = handle}, 0);
}

uint32_t vyre_parser_declare_argument(vyre_parser *p, uint32_t token, uint8_t kind, uint8_t sub,
                                      uint8_t type, uint32_t handle) {
    return declare(p, token,
                   (vyre_symbol){.kind = kind, .sub = sub, .type = type, .handle = handle},
                   p->top_symbols);
}

const char *vyre_parser_fresh_name(vyre_parser *p, uint32_t token, uint32_t least) {
    char room[VYRE_LIMIT_NAME + 1];
    for (uint32_t n = least;; n++) {
        int length = snprintf(room, sizeof room, "%.240s_%u", token_name(p, token), n);
        if (vyre_intern_find(&p->source.names, room, (size_t)length) == VYRE_INTERN_NONE) {
            uint32_t name = vyre_intern_add(&p->source.names, room, (size_t)length);
            p->out_of_memory |= name == VYRE_INTERN_NONE;
            return name == VYRE_INTERN_NONE ? NULL : vyre_source_name(&p->source, name);
        }
    }
}

bool vyre_parser_grow_names(vyre_parser *p) {
    const vyre_allocator *a = &p->source.allocator;
    uint32_t need = p->source.names.count;
    if (need <= p->name_count) {
        return true;
    }
    uint32_t *visible = vyre_alloc(a, 2 * (size_t)need, sizeof *visible);
    bool *reported = vyre_alloc_zeroed(a, 2 * (size_t)need, sizeof *reported);
    if (!visible || !reported) {
        vyre_free(a, visible, 2 * (size_t)need, sizeof *visible);
        vyre_free(a, reported, 2 * (size_t)need, sizeof *reported);
        return false;
    }
    memset(visible, 0xff, 2 * (size_t)need * sizeof *visible);
    if (p->name_count) {
        memcpy(visible, p->visible, p->name_count * sizeof *visible);
        memcpy(reported, p->reported, p->name_count * sizeof *reported);
    }
    vyre_free(a, p->visible, p->name_count, sizeof *visible);
    vyre_free(a, p->reported, p->name_count, sizeof *reported);
    p->visible = visible;
    p->reported = reported;
    p->name_count = 2 * need;
    return true;
}

void vyre_parser_leave(vyre_parser *p, uint32_t symbols) {
    while (p->symbols.count > symbols) {
        const vyre_symbol *symbol = &p->symbols.data[--p->symbols.count];
        p->visible[symbol->name] = symbol->previous;
    }
}

static bool suits(const vyre_symbol *s, uint32_t want) {
    bool memory = s->kind == VYRE_SYMBOL_DECL && vyre_role_is_memory((vyre_role)s->sub);
    switch (want) {
    case VYRE_WANT_MEMORY: return memory;
    case VYRE_WANT_VARIABLE: return s->kind == VYRE_SYMBOL_VAR && s->sub != VYRE_VAR_LOOP;
    case VYRE_WANT_FUNCTION: return s->kind == VYRE_SYMBOL_FN;
    default: return s->kind == VYRE_SYMBOL_VAR || (s->kind == VYRE_SYMBOL_DECL && !memory);
    }
}

/* The nearest name that would do; NULL for none. */
static const char *nearest(const vyre_parser *p, const char *name, uint32_t want) {
    vyre_nearest near = vyre_nearest_to(name);
    for (uint32_t i = 0; i < p->symbols.count; i++) {
        if (suits(&p->symbols.data[i], want)) {
            vyre_nearest_offer(&near, vyre_source_name(&p->source, p->symbols.data[i].name));
        }
    }
    for (uint32_t i = 0; want == VYRE_WANT_FUNCTION && i < p->source.word_count; i++) {
        uint8_t word = p->source.words[i].word;
        if (word == VYRE_WORD_FUNCTION || word == VYRE_WORD_ATOMIC || word == VYRE_WORD_SUBGROUP ||
            word == VYRE_WORD_GROUP || word == VYRE_WORD_GRID || word == VYRE_WORD_TYPE) {
            vyre_nearest_offer(&near, vyre_source_name(&p->source, i));
        }
    }
    return near.best;
}

void vyre_parser_unknown(vyre_parser *p, const char *code, uint32_t token, uint32_t want,
                         const char *what) {
    uint32_t name = p->tokens[token].value;
    if (p->reported[name]) {
        return;
    }
    p->reported[name] = true;
    char fix[VYRE_DIAG_FIX] = "declare it first";
    const char *text = vyre_source_name(&p->source, name);
    const char *instead = want == VYRE_WANT_FUNCTION ? vyre_unsupported_operation(text) : NULL;
    if (instead) {
        vyre_parser_error(p, code, token, token, instead, "`%s` is not supported", text);
        return;
    }
    const char *near = nearest(p, text, want);
    if (near) {
        (void)snprintf(fix, sizeof fix, "did you mean `%s`?", near);
    }
    vyre_parser_error(p, code, token, token, fix, "%s `%s`", what, text);
}

void vyre_parser_misused(vyre_parser *p, const char *code, uint32_t token, const char *why,
                         const char *fix) {
    vyre_parser_error(p, code, token, token, fix, "`%s` %s", token_name(p, token), why);
}

bool vyre_parser_expect(vyre_parser *p, uint8_t kind, const char *where) {
    char room[64];
    if (p->tokens[p->at].kind == kind ||
        (kind == VYRE_TOKEN_SEMICOLON && p->step_close != 0 && p->at == p->step_close)) {
        p->at++;
        return true;
    }
    bool semicolon = kind == VYRE_TOKEN_SEMICOLON;
    uint32_t shown = semicolon && p->at > 0 ? p->at - 1 : p->at;
    const bool assigns = p->tokens[p->at].kind == VYRE_TOKEN_ASSIGN;
    char missing[32];
    (void)snprintf(missing, sizeof missing, "write `%s` here", vyre_token_spelling(kind));
    const char *fix = assigns && kind == VYRE_TOKEN_CLOSE_PAREN ? "compare with `==`"
                      : assigns && semicolon ? "assign one variable in a statement"
                      : semicolon            ? "end the statement with `;`"
                                             : missing;
    vyre_parser_error(p, "V210", shown, shown, fix, "expected `%s` %s, found %s",
                      vyre_token_spelling(kind), where,
                      vyre_source_describe(&p->source, p->at, room));
    /* A forgotten semicolon at the end of a line costs nothing but the message. */
    return semicolon && p->tokens[p->at].line != p->tokens[shown].line;
}

bool vyre_parser_is_text(const vyre_parser *p, uint32_t token, const char *text) {
    const vyre_token *t = &p->tokens[token];
    return t->kind == VYRE_TOKEN_NAME && strcmp(vyre_source_name(&p->source, t->value), text) == 0;
}

vyre_type vyre_parser_type(vyre_parser *p, const char *where) {
    char room[64];
    const vyre_token *t = &p->tokens[p->at];
    if (t->kind == VYRE_TOKEN_NAME && t->word == VYRE_WORD_TYPE) {
        p->at++;
        return (vyre_type)t->sub;
    }
    const char *instead = t->kind == VYRE_TOKEN_NAME
                              ? vyre_unsupported_type(vyre_source_name(&p->source, t->value))
                              : NULL;
    if (instead) {
        vyre_parser_error(p, "V213", p->at, p->at, instead, "type `%s` is not supported",
                          vyre_source_name(&p->source, t->value));
        return VYRE_VOID;
    }
    vyre_parser_error(p, "V213", p->at, p->at,
                      "the types are bool u32 i32 u64 i64 f32 f64, and stored only: u8 i8 u16 i16 "
                      "f16 bf16",
                      "expected a type %s, found %s", where,
                      vyre_source_describe(&p->source, p->at, room));
    return VYRE_VOID;
}

uint32_t vyre_parser_memory(vyre_parser *p, uint32_t token, const char *code, const char *what) {
    char room[64];
    const vyre_token *t = &p->tokens[token];
    if (t->kind != VYRE_TOKEN_NAME || vyre_parser_word(p, token) != VYRE_WORD_PLAIN) {
        vyre_parser_error(p, "V211", token, token, "name a buffer or array",
                          "expected the name of a buffer or array, found %s",
                          vyre_source_describe(&p->source, token, room));
        return VYRE_NONE;
    }
    uint32_t symbol = p->visible[t->value];
    if (symbol == VYRE_NONE) {
        vyre_parser_unknown(p, code, token, VYRE_WANT_MEMORY, what);
        return VYRE_NONE;
    }
    const vyre_symbol *s = &p->symbols.data[symbol];
    if (s->kind != VYRE_SYMBOL_DECL || !vyre_role_is_memory((vyre_role)s->sub)) {
        vyre_parser_misused(p, code, token, "is not a buffer or array",
                            "only buffers, workgroup and private arrays have elements");
        return VYRE_NONE;
    }
    return symbol;
}

bool vyre_parser_check_index(vyre_parser *p, uint32_t symbol, uint32_t token, bool indexed) {
    if (symbol == VYRE_NONE || p->symbols.data[symbol].single != indexed) {
        return true;
    }
    vyre_parser_misused(p, "V280", token, indexed ? "is one element" : "has elements",
                        indexed ? "write it without an index" : "write an element, such as b[i]");
    return false;
}

void vyre_parser_check_write(vyre_parser *p, uint32_t symbol, uint32_t token) {
    if (symbol != VYRE_NONE && p->symbols.data[symbol].readonly) {
        vyre_parser_misused(p, "V063", token, "is an argument `in`, which is only read",
                            "declare the argument inout");
    }
}

void vyre_parser_skip(vyre_parser *p) {
    for (;;) {
        const vyre_token *t = &p->tokens[p->at];
        switch (t->kind) {
        case VYRE_TOKEN_END:
        case VYRE_TOKEN_CLOSE_BRACE: return;
        case VYRE_TOKEN_SEMICOLON: p->at++; return;
        case VYRE_TOKEN_OPEN_BRACE:
            p->at = t->value + 1;
            if (!vyre_parser_is(p, p->at, VYRE_WORD_STMT, VYRE_STMT_ELSE)) {
                return;
            }
            break;
        case VYRE_TOKEN_OPEN_PAREN:
        case VYRE_TOKEN_OPEN_INDEX: p->at = t->value + 1; break;
        default: p->at++; break;
        }
    }
}
