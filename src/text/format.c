/* The formatter: tokens and comments in, canonical layout out.
 *
 * It looks at tokens only, never at meaning, so it works on programs that do not check. Four spaces
 * a level, one statement a line, at most one blank line in a row, declarations that stand together
 * aligned. Where a line ends depends on three things only: the tokens around, whether a comment
 * shared a line with what stands before it, and whether a blank line was there. The layout keeps
 * all three, which is why formatting twice changes nothing. Long expressions stay on one line.
 * Cost: linear. */
#include <string.h>

#include "text/lexer.h"
#include "vyre/text.h"

typedef struct formatter {
    vyre_source source;
    const vyre_token *tokens;
    vyre_write_fn write;
    void *user;
    bool stopped;
    uint32_t comment;   /* next one */
    uint32_t depth;     /* open braces */
    uint32_t brackets;  /* open ( and [ */
    uint32_t last_line; /* where the token or comment before ends */
    bool began;         /* something was written */
    bool must_break;    /* a // comment was written */
    uint32_t run_end;   /* declarations up to this token are aligned */
    uint32_t role_width, name_width;
} formatter;

static void put(formatter *f, const char *text, size_t length) {
    if (!f->stopped && length && !f->write(f->user, text, length)) {
        f->stopped = true;
    }
}

static void put_spaces(formatter *f, uint32_t count) {
    while (count--) {
        put(f, " ", 1);
    }
}

static bool is_kind(const formatter *f, uint32_t token, uint8_t kind) {
    return f->tokens[token].kind == kind;
}

static bool is_word(const formatter *f, uint32_t token, uint8_t word, uint8_t sub) {
    const vyre_token *t = &f->tokens[token];
    return t->kind == VYRE_TOKEN_NAME && t->word == word && t->sub == sub;
}

/* Words that stand before an expression and are no part of one. */
static bool is_leading_word(const formatter *f, uint32_t token) {
    return is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_IF) ||
           is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_FOR) ||
           is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_WHILE) ||
           is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_RETURN) ||
           is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_ELSE) ||
           is_word(f, token, VYRE_WORD_ROLE, VYRE_IN) ||
           is_word(f, token, VYRE_WORD_KEY, VYRE_KEY_STEP);
}

/* Whether a value ends with this token, so that a minus behind it is binary. */
static bool ends_value(const formatter *f, uint32_t token) {
    uint8_t kind = f->tokens[token].kind;
    return kind == VYRE_TOKEN_INTEGER || kind == VYRE_TOKEN_FLOAT ||
           kind == VYRE_TOKEN_CLOSE_PAREN || kind == VYRE_TOKEN_CLOSE_INDEX ||
           (kind == VYRE_TOKEN_NAME && !is_leading_word(f, token));
}

static bool is_prefix(const formatter *f, uint32_t token) {
    uint8_t kind = f->tokens[token].kind;
    return kind == VYRE_TOKEN_TILDE || kind == VYRE_TOKEN_BANG ||
           (kind == VYRE_TOKEN_MINUS && (token == 0 || !ends_value(f, token - 1)));
}

/* The angle brackets of bitcast<T>. */
static bool is_angle(const formatter *f, uint32_t token) {
    if (is_kind(f, token, VYRE_TOKEN_LESS)) {
        return token >= 1 && is_word(f, token - 1, VYRE_WORD_FUNCTION, VYRE_EXPR_BITCAST);
    }
    return is_kind(f, token, VYRE_TOKEN_GREATER) && token >= 3 &&
           is_kind(f, token - 1, VYRE_TOKEN_NAME) && is_kind(f, token - 2, VYRE_TOKEN_LESS) &&
           is_angle(f, token - 2);
}

/* A space between the token and the one before it, on the same line? */
static bool is_spaced(const formatter *f, uint32_t token) {
    uint8_t before = f->tokens[token - 1].kind, kind = f->tokens[token].kind;
    if (kind == VYRE_TOKEN_COMMA || kind == VYRE_TOKEN_SEMICOLON ||
        kind == VYRE_TOKEN_CLOSE_PAREN || kind == VYRE_TOKEN_CLOSE_INDEX ||
        before == VYRE_TOKEN_OPEN_PAREN || before == VYRE_TOKEN_OPEN_INDEX) {
        return false;
    }
    /* A point must not grow together with a number or another point. */
    if (kind == VYRE_TOKEN_DOT) {
        return before != VYRE_TOKEN_NAME && before != VYRE_TOKEN_CLOSE_PAREN &&
               before != VYRE_TOKEN_CLOSE_INDEX;
    }
    if (before == VYRE_TOKEN_DOT) {
        return kind != VYRE_TOKEN_NAME;
    }
    if (is_prefix(f, token - 1)) {
        return kind < VYRE_TOKEN_PUNCTUATION_COUNT && !is_prefix(f, token) &&
               kind != VYRE_TOKEN_OPEN_PAREN;
    }
    if (is_angle(f, token)) {
        return false;
    }
    if (is_angle(f, token - 1)) {
        return kind != VYRE_TOKEN_OPEN_PAREN && kind != VYRE_TOKEN_NAME;
    }
    if (kind == VYRE_TOKEN_OPEN_PAREN) {
        return before != VYRE_TOKEN_NAME || is_leading_word(f, token - 1);
    }
    return kind != VYRE_TOKEN_OPEN_INDEX;
}

static bool in_statement(const formatter *f, uint32_t token) {
    if (token == 0) {
        return false;
    }
    uint8_t before = f->tokens[token - 1].kind;
    bool ended = before == VYRE_TOKEN_SEMICOLON && f->brackets == 0;
    return !ended && before != VYRE_TOKEN_OPEN_BRACE && before != VYRE_TOKEN_CLOSE_BRACE;
}

/* The `while` behind the brace of a `do`. */
static bool ends_do(const formatter *f, uint32_t token) {
    const uint32_t brace = f->tokens[token - 1].value;
    return is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_WHILE) && brace > 0 &&
           is_word(f, brace - 1, VYRE_WORD_KEY, VYRE_KEY_DO);
}

/* Whether the layout rules alone begin a new line before the token. */
static bool breaks_before(const formatter *f, uint32_t token) {
    if (token == 0) {
        return false;
    }
    uint8_t before = f->tokens[token - 1].kind;
    if (is_kind(f, token, VYRE_TOKEN_CLOSE_BRACE)) {
        return before != VYRE_TOKEN_OPEN_BRACE;
    }
    if (before == VYRE_TOKEN_CLOSE_BRACE) {
        return !is_word(f, token, VYRE_WORD_STMT, VYRE_STMT_ELSE) && !ends_do(f, token);
    }
    return !in_statement(f, token);
}

/* Begins a line for something that stood at `line`; keeps one blank line if there was one. */
static void put_break(formatter *f, uint32_t token, uint32_t line, bool may_be_blank) {
    bool closes = is_kind(f, token, VYRE_TOKEN_CLOSE_BRACE);
    bool opened = token > 0 && is_kind(f, token - 1, VYRE_TOKEN_OPEN_BRACE);
    if (f->began) {
        put(f, "\n", 1);
        if (may_be_blank && line > f->last_line + 1 && !opened) {
            put(f, "\n", 1);
        }
    }
    uint32_t levels = f->depth + (in_statement(f, token) && !closes);
    put_spaces(f, 4 * levels);
}

/* The comment as it stands, without carriage returns. */
static void put_comment(formatter *f, const vyre_comment *c) {
    const char *text = f->source.text;
    uint32_t from = c->begin;
    for (uint32_t i = c->begin; i < c->end; i++) {
        if (text[i] == '\r') {
            put(f, text + from, i - from);
            from = i + 1;
        }
    }
    put(f, text + from, c->end - from);
}

/* Comments before the token. *broken: the last one stood on a line of its own. */
static void put_comments(formatter *f, uint32_t token, bool *broken) {
    const vyre_comment *comments = f->source.comments.data;
    for (; f->comment < f->source.comments.count && comments[f->comment].before == token;
         f->comment++) {
        const vyre_comment *c = &comments[f->comment];
        bool own = !f->began || c->line > f->last_line || f->must_break;
        if (own) {
            put_break(f, token, c->line, true);
        } else {
            put(f, " ", 1);
        }
        put_comment(f, c);
        f->began = true;
        f->must_break = !c->block;
        f->last_line = c->end_line;
        *broken = own && f->tokens[token].line > c->end_line;
    }
}

/* Where the name of a declaration stands when one begins at the token, else 0. */
static uint32_t decl_name(const formatter *f, uint32_t token) {
    uint32_t role = token;
    const vyre_token *t = &f->tokens[token];
    if (t->kind == VYRE_TOKEN_NAME && t->word == VYRE_WORD_PLAIN) {
        const char *text = vyre_source_name(&f->source, t->value);
        if (strcmp(text, "readonly") != 0 && strcmp(text, "writeonly") != 0) {
            return 0;
        }
        role++;
    }
    bool decl = is_kind(f, role, VYRE_TOKEN_NAME) && f->tokens[role].word == VYRE_WORD_ROLE &&
                is_kind(f, role + 1, VYRE_TOKEN_NAME) &&
                (is_kind(f, role + 2, VYRE_TOKEN_COLON) || is_kind(f, role + 2, VYRE_TOKEN_ASSIGN));
    return decl ? role + 1 : 0;
}

static uint32_t width(const formatter *f, uint32_t first, uint32_t last) {
    uint32_t total = last - first; /* a space between each two */
    for (uint32_t i = first; i <= last; i++) {
        total += f->tokens[i].end - f->tokens[i].begin;
    }
    return total;
}

/* Token behind the semicolon of the declaration that begins here; 0 when it has none. */
static uint32_t decl_end(const formatter *f, uint32_t token) {
    for (;;) {
        const vyre_token *t = &f->tokens[token];
        if (t->kind == VYRE_TOKEN_SEMICOLON) {
            return token + 1;
        }
        if (t->kind == VYRE_TOKEN_END || t->kind == VYRE_TOKEN_OPEN_BRACE ||
            t->kind == VYRE_TOKEN_CLOSE_BRACE) {
            return 0;
        }
        bool opens = t->kind == VYRE_TOKEN_OPEN_PAREN || t->kind == VYRE_TOKEN_OPEN_INDEX;
        token = opens ? t->value + 1 : token + 1;
    }
}

/* Line on which the comments before the token, which follow `line`, end; NONE when one of them
 * stands on a line of its own. */
static uint32_t after_comments(const formatter *f, uint32_t *comment, uint32_t token,
                               uint32_t line) {
    const vyre_comment *comments = f->source.comments.data;
    while (*comment < f->source.comments.count && comments[*comment].before < token) {
        ++*comment;
    }
    for (; *comment < f->source.comments.count && comments[*comment].before == token; ++*comment) {
        if (comments[*comment].line > line) {
            return VYRE_NONE;
        }
        line = comments[*comment].end_line;
    }
    return line;
}

/* Measures the declarations that stand together from this token on. */
static void begin_run(formatter *f, uint32_t token) {
    uint32_t comment = f->comment;
    f->role_width = f->name_width = 0;
    for (uint32_t name; (name = decl_name(f, token)) != 0;) {
        uint32_t end = decl_end(f, token);
        if (!end) {
            break;
        }
        uint32_t role = width(f, token, name - 1), own = width(f, name, name);
        f->role_width = role > f->role_width ? role : f->role_width;
        f->name_width = own > f->name_width ? own : f->name_width;
        f->run_end = end;
        uint32_t line = after_comments(f, &comment, end, f->tokens[end - 1].line);
        if (line == VYRE_NONE || f->tokens[end].line > line + 1) {
            break;
        }
        token = end;
    }
}

/* Columns of aligned declarations: spaces beyond the usual one before this token. */
static uint32_t padding(formatter *f, uint32_t token, uint32_t start) {
    if (token >= f->run_end) {
        return 0;
    }
    uint32_t name = decl_name(f, start);
    uint32_t column = 0, own = 0;
    if (name && token == name) {
        column = f->role_width;
        own = width(f, start, name - 1);
    } else if (name && token == name + 1) {
        column = f->name_width;
        own = width(f, name, name);
    }
    /* What only looks like a declaration may begin inside one that was measured, and be wider. */
    return own < column ? column - own : 0;
}

static void format_tokens(formatter *f) {
    uint32_t start = 0; /* first token of the statement at hand */
    for (uint32_t i = 0; !f->stopped; i++) {
        const vyre_token *t = &f->tokens[i];
        bool broken = false;
        put_comments(f, i, &broken);
        if (t->kind == VYRE_TOKEN_END) {
            break;
        }
        if (t->kind == VYRE_TOKEN_CLOSE_BRACE && f->depth) {
            f->depth--;
        }
        if (!in_statement(f, i)) {
            start = i;
            if (f->depth == 1 && i >= f->run_end) {
                begin_run(f, i);
            }
        }
        bool blank = t->kind != VYRE_TOKEN_CLOSE_BRACE && breaks_before(f, i);
        if (!f->began || broken || f->must_break || breaks_before(f, i)) {
            put_break(f, i, t->line, blank || broken);
        } else if (f->comment && f->source.comments.data[f->comment - 1].before == i) {
            put(f, " ", 1);
        } else if (is_spaced(f, i)) {
            put_spaces(f, 1 + padding(f, i, start));
        }
        put(f, f->source.text + t->begin, t->end - t->begin);
        f->began = true;
        f->must_break = false;
        f->last_line = t->line;
        f->depth += t->kind == VYRE_TOKEN_OPEN_BRACE;
        if (t->kind == VYRE_TOKEN_OPEN_PAREN || t->kind == VYRE_TOKEN_OPEN_INDEX) {
            f->brackets++;
        } else if (t->kind == VYRE_TOKEN_CLOSE_PAREN || t->kind == VYRE_TOKEN_CLOSE_INDEX) {
            f->brackets--;
        }
    }
    if (f->began) {
        put(f, "\n", 1);
    }
}

vyre_status vyre_format(const char *text, size_t length, const char *file,
                        const vyre_allocator *allocator, vyre_write_fn write, void *user,
                        vyre_diag_list *diags) {
    formatter f = {.write = write, .user = user};
    vyre_status status = vyre_source_scan(&f.source, text, length, file, allocator, diags);
    if (status == VYRE_OK) {
        f.tokens = f.source.tokens.data;
        format_tokens(&f);
        status = f.stopped ? VYRE_IO : VYRE_OK;
    }
    vyre_source_finish(&f.source);
    return status;
}
