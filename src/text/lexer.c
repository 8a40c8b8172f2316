/* Lexer: one walk over the bytes to see that they are text, one over the characters to cut tokens.
 *
 * Brackets are matched while scanning and their depth is bounded, so that ten megabytes of brackets
 * are refused after the first few thousand. Memory is linear in the text: 20 bytes a token. */
#include "text/lexer.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Deepest legal text: nested statements, each with its braces, and one expression inside. */
enum { BRACKETS_MAX = VYRE_LIMIT_NESTING + VYRE_LIMIT_PARSE_STACK + 8 };

static const char *const spellings[] = {
#define VYRE_TOKEN(NAME, spelling, op) spelling,
    VYRE_TOKENS(VYRE_TOKEN)
#undef VYRE_TOKEN
        "name",
    "number",
    "number",
    "string",
    "end",
};

static const struct reserved {
    const char *text;
    uint8_t word, sub;
} reserved[] = {
    {"program", VYRE_WORD_KEY, VYRE_KEY_PROGRAM},
    {"elements", VYRE_WORD_KEY, VYRE_KEY_ELEMENTS},
    {"grid", VYRE_WORD_KEY, VYRE_KEY_GRID},
    {"fn", VYRE_WORD_KEY, VYRE_KEY_FN},
    {"step", VYRE_WORD_KEY, VYRE_KEY_STEP},
    {"true", VYRE_WORD_KEY, VYRE_KEY_TRUE},
    {"false", VYRE_WORD_KEY, VYRE_KEY_FALSE},
    {"do", VYRE_WORD_KEY, VYRE_KEY_DO},
    {"in", VYRE_WORD_ROLE, VYRE_IN},
    {"inout", VYRE_WORD_ROLE, VYRE_INOUT},
    {"out", VYRE_WORD_ROLE, VYRE_OUT},
    {"scratch", VYRE_WORD_ROLE, VYRE_SCRATCH},
    {"workgroup", VYRE_WORD_ROLE, VYRE_WORKGROUP},
    {"private", VYRE_WORD_ROLE, VYRE_PRIVATE},
    {"param", VYRE_WORD_ROLE, VYRE_PARAM},
    {"const", VYRE_WORD_ROLE, VYRE_CONST},
    {"clamp", VYRE_WORD_FUNCTION, VYRE_FUNCTION_CLAMP},
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost)                             \
    {spelling, VYRE_WORD_FUNCTION, VYRE_EXPR_##NAME},
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2)                 \
    {spelling, VYRE_WORD_STMT, VYRE_STMT_##NAME},
#define VYRE_BUILTIN(NAME, spelling, axes) {spelling, VYRE_WORD_BUILTIN, VYRE_BUILTIN_##NAME},
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins)                                         \
    {spelling, VYRE_WORD_ATOMIC, VYRE_ATOMIC_##NAME},
#define VYRE_SUBGROUP(NAME, spelling, operands, asks)                                              \
    {spelling, VYRE_WORD_SUBGROUP, VYRE_SUBGROUP_##NAME},
#define VYRE_REDUCE(NAME, group_spelling, grid_spelling, operands)                                 \
    {group_spelling, VYRE_WORD_GROUP, VYRE_REDUCE_##NAME},                                         \
        {grid_spelling, VYRE_WORD_GRID, VYRE_REDUCE_##NAME},
#include "vyre/ops.def"
};

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_decimal(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c) {
    return is_name_start(c) || is_decimal(c);
}

const char *vyre_token_spelling(uint8_t kind) {
    return spellings[kind];
}

uint8_t vyre_token_operator(uint8_t kind) {
    static const uint8_t operators[] = {
#define VYRE_TOKEN(NAME, spelling, op) VYRE_EXPR_##op,
        VYRE_TOKENS(VYRE_TOKEN)
#undef VYRE_TOKEN
    };
    return operators[kind];
}

/* A place of the text where it was written. */
static vyre_place written_at(const vyre_source *s, uint32_t line, uint32_t col, uint32_t end_col) {
    uint32_t i = s->piece_count;
    while (i > 0 && s->pieces[i - 1].line > line) {
        i--;
    }
    if (i == 0) {
        return (vyre_place){s->file, line + 1, col, end_col};
    }
    const vyre_piece *piece = &s->pieces[i - 1];
    const uint32_t shift = line == piece->line ? piece->shift : 0;
    return (vyre_place){piece->file, line - piece->line + piece->own_line + 1, col + shift,
                        end_col + shift};
}

vyre_place vyre_source_place(const vyre_source *s, uint32_t first, uint32_t last) {
    const vyre_token *a = &s->tokens.data[first];
    const vyre_token *b = &s->tokens.data[last < first ? first : last];
    uint32_t start = s->lines.data[a->line];
    uint32_t end = b->end;
    if (b->line != a->line) {
        end = a->line + 1 < s->lines.count ? s->lines.data[a->line + 1] : s->length;
        while (end > a->end && strchr(" \t\r\n", s->text[end - 1])) {
            end--;
        }
    }
    if (end == a->begin) {
        end++; /* the end of the text: a caret needs a column */
    }
    return written_at(s, a->line, a->begin - start + 1, end - start + 1);
}

const char *vyre_source_describe(const vyre_source *s, uint32_t token, char *room) {
    const vyre_token *t = &s->tokens.data[token];
    if (t->kind == VYRE_TOKEN_END) {
        return "the end of the text";
    }
    uint32_t length = t->end - t->begin;
    uint32_t shown = length > 40 ? 40 : length;
    while (shown < length && ((unsigned char)s->text[t->begin + shown] & 0xc0) == 0x80) {
        shown--;
    }
    snprintf(room, 64, "`%.*s%s`", (int)shown, s->text + t->begin, shown < length ? "..." : "");
    return room;
}

void vyre_source_error(vyre_source *s, const char *code, vyre_place place, const char *fix,
                       const char *format, ...) {
    va_list args;
    va_start(args, format);
    s->errors++;
    vyre_report_v(s->diags, VYRE_ERROR, VYRE_INVALID_PROGRAM, code, place, fix, format, args);
    va_end(args);
}

static vyre_place place_of(const vyre_source *s, uint32_t line, uint32_t begin, uint32_t end) {
    uint32_t start = s->lines.data[line];
    return written_at(s, line, begin - start + 1, end - start + 1);
}

/* Whether all bytes are text; records where lines begin. The first bad byte is reported. */
static bool scan_bytes(vyre_source *s) {
    const vyre_allocator *a = &s->allocator;
    if (!vyre_vec_push(a, &s->lines, 0)) {
        s->out_of_memory = true;
        return false;
    }
    for (uint32_t at = 0; at < s->length;) {
        unsigned char c = (unsigned char)s->text[at];
        uint32_t step = (uint32_t)vyre_utf8_length(s->text + at, s->length - at);
        if (step == 0) {
            vyre_source_error(s, "V200", place_of(s, s->lines.count - 1, at, at + 1),
                              "save the file as UTF-8", "byte 0x%02x is not valid UTF-8", c);
            return false;
        }
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) {
            vyre_source_error(s, "V200", place_of(s, s->lines.count - 1, at, at + 1), "delete it",
                              "control character 0x%02x in the text", c);
            return false;
        }
        at += step;
        if (c == '\n' && !vyre_vec_push(a, &s->lines, at)) {
            s->out_of_memory = true;
            return false;
        }
    }
    return true;
}

typedef struct cursor {
    uint32_t at, line;
} cursor;

/* Skips the comment at the cursor; false when a block comment never ends. */
static bool scan_comment(vyre_source *s, cursor *c) {
    vyre_comment comment = {.begin = c->at, .line = c->line, .before = s->tokens.count};
    comment.block = s->text[c->at + 1] == '*';
    c->at += 2;
    if (!comment.block) {
        const char *newline = memchr(s->text + c->at, '\n', s->length - c->at);
        c->at = newline ? (uint32_t)(newline - s->text) : s->length;
    } else {
        while (c->at + 1 < s->length && (s->text[c->at] != '*' || s->text[c->at + 1] != '/')) {
            c->line += s->text[c->at++] == '\n';
        }
        if (c->at + 1 >= s->length) {
            vyre_source_error(s, "V202",
                              place_of(s, comment.line, comment.begin, comment.begin + 2),
                              "end it with */", "this comment has no end");
            c->at = s->length;
            return false;
        }
        c->at += 2;
    }
    comment.end = c->at;
    comment.end_line = c->line;
    while (!comment.block && comment.end > comment.begin &&
           strchr(" \t\r", s->text[comment.end - 1])) {
        comment.end--;
    }
    s->out_of_memory |= !vyre_vec_push(&s->allocator, &s->comments, comment);
    return true;
}

/* From a digit (or a point before one) over everything that could belong to the number. */
static void scan_number(vyre_source *s, cursor *c, vyre_token *t) {
    const char *text = s->text;
    bool hex = text[c->at] == '0' && c->at + 1 < s->length && text[c->at + 1] == 'x';
    bool point = false;
    while (c->at < s->length) {
        char ch = text[c->at];
        bool exponent = !hex && (ch == 'e' || ch == 'E') && c->at + 1 < s->length &&
                        (text[c->at + 1] == '+' || text[c->at + 1] == '-');
        if (ch == '.') {
            if (point || (c->at + 1 < s->length && text[c->at + 1] == '.')) {
                break;
            }
            point = true;
        } else if (!is_name_char(ch)) {
            break;
        }
        c->at += exponent ? 2 : 1;
    }
    bool is_float;
    const char *wrong = vyre_literal_check(text + t->begin, c->at - t->begin, &is_float);
    t->kind = is_float ? VYRE_TOKEN_FLOAT : VYRE_TOKEN_INTEGER;
    if (wrong) {
        t->broken = true;
        uint32_t length = c->at - t->begin;
        vyre_source_error(s, "V203", place_of(s, c->line, t->begin, c->at),
                          "write it like 42, 0x2a, 0b101010, 1.5, 1e-5, 7i, 7ul or 1.5d",
                          "the number `%.*s%s` %s", length > 40 ? 40 : (int)length, text + t->begin,
                          length > 40 ? "..." : "", wrong);
    }
}

static void scan_string(vyre_source *s, cursor *c, vyre_token *t) {
    t->kind = VYRE_TOKEN_STRING;
    for (c->at++; c->at < s->length && s->text[c->at] != '\n'; c->at++) {
        if (s->text[c->at] == '"') {
            c->at++;
            return;
        }
        if (s->text[c->at] == '\\' && c->at + 1 < s->length && s->text[c->at + 1] != '\n') {
            c->at++;
        }
    }
    vyre_source_error(s, "V204", place_of(s, c->line, t->begin, c->at),
                      "end it with \" on the same line", "this string has no end");
}

void vyre_source_note_temporary(vyre_source *s, const char *name) {
    uint32_t number = 0;
    if (name[0] != '_' || name[1] == '\0') {
        return;
    }
    for (const char *c = name + 1; *c; c++) {
        if (!is_decimal(*c) || number > UINT32_MAX / 100) {
            return;
        }
        number = number * 10 + (uint32_t)(*c - '0');
    }
    if (number >= s->next_temporary) {
        s->next_temporary = number + 1;
    }
}

static void scan_name(vyre_source *s, cursor *c, vyre_token *t) {
    while (c->at < s->length && is_name_char(s->text[c->at])) {
        c->at++;
    }
    uint32_t length = c->at - t->begin;
    t->kind = VYRE_TOKEN_NAME;
    if (length > VYRE_LIMIT_NAME) {
        vyre_source_error(s, "V205", place_of(s, c->line, t->begin, c->at), "shorten it",
                          "this name has %u bytes; at most %d are allowed", length,
                          VYRE_LIMIT_NAME);
    }
    t->value = vyre_intern_add(&s->names, s->text + t->begin, length);
    if (t->value == VYRE_INTERN_NONE) {
        s->out_of_memory = true;
    } else if (t->value < s->word_count) {
        t->word = s->words[t->value].word;
        t->sub = s->words[t->value].sub;
    }
    vyre_source_note_temporary(s, vyre_intern_text(&s->names, t->value));
}

static bool scan_punctuation(vyre_source *s, cursor *c, vyre_token *t) {
    const char *text = s->text + c->at;
    uint32_t left = s->length - c->at;
    for (uint32_t kind = 0; kind < VYRE_TOKEN_PUNCTUATION_COUNT; kind++) {
        const char *spelling = spellings[kind];
        uint32_t length = 0;
        while (spelling[length] && length < left && spelling[length] == text[length]) {
            length++;
        }
        if (!spelling[length]) {
            t->kind = (uint8_t)kind;
            c->at += length;
            return true;
        }
    }
    uint32_t step = (uint32_t)vyre_utf8_length(s->text + c->at, s->length - c->at);
    const char *fix = s->text[c->at] == '#'
                          ? "there is no preprocessor: use `const` and `fn` at the top level"
                          : "delete it";
    vyre_source_error(s, "V201", place_of(s, c->line, c->at, c->at + step), fix,
                      "`%.*s` is not part of the language", (int)step, s->text + c->at);
    c->at += step;
    return false;
}

/* Matches brackets; false ends the scan. The token is in the array already. */
static bool scan_bracket(vyre_source *s, uint32_t index) {
    vyre_token *t = &s->tokens.data[index];
    if (t->kind == VYRE_TOKEN_OPEN_PAREN || t->kind == VYRE_TOKEN_OPEN_INDEX ||
        t->kind == VYRE_TOKEN_OPEN_BRACE) {
        if (s->open.count >= BRACKETS_MAX) {
            vyre_source_error(s, "V206", vyre_source_place(s, index, index),
                              "name parts of it with let", "more than %d brackets are open here",
                              BRACKETS_MAX);
            return false;
        }
        s->out_of_memory |= !vyre_vec_push(&s->allocator, &s->open, index);
        return true;
    }
    uint8_t opener = (uint8_t)(t->kind - 1);
    if (s->open.count == 0 || s->tokens.data[s->open.data[s->open.count - 1]].kind != opener) {
        if (s->open.count == 0) {
            vyre_source_error(s, "V207", vyre_source_place(s, index, index), "delete it",
                              "nothing is open that `%s` could close", spellings[t->kind]);
        } else {
            const vyre_token *open = &s->tokens.data[s->open.data[s->open.count - 1]];
            vyre_source_error(s, "V207", vyre_source_place(s, index, index),
                              "close the inner bracket first",
                              "`%s` does not close the `%s` of line %u", spellings[t->kind],
                              spellings[open->kind], open->line + 1);
        }
        return false;
    }
    t->value = s->open.data[--s->open.count];
    s->tokens.data[t->value].value = index;
    return true;
}

static bool scan_token(vyre_source *s, cursor *c) {
    vyre_token t = {.begin = c->at, .line = c->line};
    char ch = s->text[c->at];
    if (is_name_start(ch)) {
        scan_name(s, c, &t);
    } else if (is_decimal(ch) ||
               (ch == '.' && c->at + 1 < s->length && is_decimal(s->text[c->at + 1]))) {
        scan_number(s, c, &t);
    } else if (ch == '"') {
        scan_string(s, c, &t);
    } else if (!scan_punctuation(s, c, &t)) {
        return true;
    }
    t.end = c->at;
    if (!vyre_vec_push(&s->allocator, &s->tokens, t)) {
        s->out_of_memory = true;
        return false;
    }
    bool bracket = t.kind >= VYRE_TOKEN_OPEN_PAREN && t.kind <= VYRE_TOKEN_CLOSE_BRACE;
    return !bracket || scan_bracket(s, s->tokens.count - 1);
}

static void scan_tokens(vyre_source *s) {
    cursor c = {0};
    if (s->length >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0) {
        c.at = 3;
    }
    while (c.at < s->length && !s->out_of_memory && s->errors < VYRE_TEXT_ERRORS) {
        char ch = s->text[c.at];
        if (ch == '\n' || ch == ' ' || ch == '\t' || ch == '\r') {
            c.line += ch == '\n';
            c.at++;
        } else if (ch == '/' && c.at + 1 < s->length &&
                   (s->text[c.at + 1] == '/' || s->text[c.at + 1] == '*')) {
            if (!scan_comment(s, &c)) {
                return;
            }
        } else if (!scan_token(s, &c)) {
            return;
        }
    }
    vyre_token end = {.kind = VYRE_TOKEN_END, .begin = s->length, .end = s->length, .line = c.line};
    s->out_of_memory |= !vyre_vec_push(&s->allocator, &s->tokens, end);
    if (s->open.count && s->errors == 0) {
        uint32_t index = s->open.data[s->open.count - 1];
        vyre_source_error(s, "V207", vyre_source_place(s, index, index), "close it, or delete it",
                          "this `%s` is never closed", spellings[s->tokens.data[index].kind]);
    }
}

static void reserve_words(vyre_source *s) {
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved + VYRE_TYPE_COUNT; i++) {
        bool type = i >= sizeof reserved / sizeof *reserved;
        vyre_type which = (vyre_type)(i - sizeof reserved / sizeof *reserved);
        const char *text = type ? vyre_type_name(which) : reserved[i].text;
        if (!is_name_start(text[0]) || (type && which == VYRE_VOID)) {
            continue; /* operators, and rows of the table without a word of their own */
        }
        uint32_t number = vyre_intern_add(&s->names, text, strlen(text));
        if (number == VYRE_INTERN_NONE) {
            s->out_of_memory = true;
            return;
        }
        s->words[number].word = type ? VYRE_WORD_TYPE : reserved[i].word;
        s->words[number].sub = type ? (uint8_t)which : reserved[i].sub;
        s->word_count = number + 1;
    }
}

vyre_status vyre_source_scan(vyre_source *s, const char *text, size_t length, const char *file,
                             const vyre_allocator *allocator, vyre_diag_list *diags) {
    return vyre_source_scan_joined(s, text, length, NULL, 0, file, allocator, diags);
}

vyre_status vyre_source_scan_joined(vyre_source *s, const char *text, size_t length,
                                    const vyre_piece *pieces, uint32_t piece_count,
                                    const char *file, const vyre_allocator *allocator,
                                    vyre_diag_list *diags) {
    *s = (vyre_source){.text = text,
                       .file = file,
                       .pieces = pieces,
                       .piece_count = piece_count,
                       .allocator = vyre_allocator_or_system(allocator),
                       .diags = diags,
                       .first_diag = diags ? diags->count : 0};
    vyre_intern_init(&s->names, &s->allocator);
    if (length > VYRE_LIMIT_SOURCE_BYTES) {
        vyre_source_error(s, "V208", (vyre_place){file, 1, 1, 2}, "split the program",
                          "the text has %zu bytes; at most %d are allowed", length,
                          VYRE_LIMIT_SOURCE_BYTES);
        return VYRE_INVALID_PROGRAM;
    }
    s->length = (uint32_t)length;
    reserve_words(s);
    if (!s->out_of_memory && scan_bytes(s)) {
        scan_tokens(s);
    }
    return s->out_of_memory ? VYRE_OUT_OF_MEMORY : s->errors ? VYRE_INVALID_PROGRAM : VYRE_OK;
}

void vyre_source_finish(vyre_source *s) {
    vyre_diag *items = s->diags ? s->diags->items : NULL;
    for (uint32_t i = s->first_diag + 1; items && i < s->diags->count; i++) {
        vyre_diag moved = items[i];
        uint32_t at = i;
        while (at > s->first_diag &&
               (items[at - 1].line > moved.line ||
                (items[at - 1].line == moved.line && items[at - 1].col > moved.col))) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = moved;
    }
    vyre_vec_free(&s->allocator, &s->tokens);
    vyre_vec_free(&s->allocator, &s->comments);
    vyre_vec_free(&s->allocator, &s->lines);
    vyre_vec_free(&s->allocator, &s->open);
    vyre_intern_finish(&s->names);
}
