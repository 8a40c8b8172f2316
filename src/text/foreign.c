/* Words of CUDA, OpenCL, C and others in a text that did not parse: each is answered with what is
 * written here instead, once.
 *
 * The parser stumbles over what such words make of a statement, and then over every use of what the
 * statement would have declared. So when there is one, the words are all that is reported; the rest
 * is looked for when they are gone. Texts that parse are never looked at, and a name that the text
 * declares itself is not foreign. Cost: the tokens, and for each word found all tokens once more.
 */
#include <stdio.h>
#include <string.h>

#include "text/parser.h"

enum { FORM_NAME, FORM_AXIS, FORM_GETTER, FORM_CALL, FORM_BEGINS, FORM_BLOCK, FORM_TYPE };

typedef struct foreign {
    const char *word;
    uint8_t form;
    const char *language;
    const char *fix;
} foreign;

static const foreign table[] = {
#define VYRE_FOREIGN(word, form, language, fix) {word, FORM_##form, language, fix},
#include "text/foreign.def"
#undef VYRE_FOREIGN
};

enum { ROWS = sizeof table / sizeof table[0] };

typedef struct search {
    vyre_source *source;
    const vyre_token *tokens;
    bool answered[ROWS];
    bool found;
} search;

static uint8_t kind_at(const search *s, uint32_t at) {
    return s->tokens[at].kind;
}

static uint8_t kind_before(const search *s, uint32_t at) {
    return at == 0 ? VYRE_TOKEN_SEMICOLON : s->tokens[at - 1].kind;
}

static bool is_plain(const search *s, uint32_t at) {
    return s->tokens[at].kind == VYRE_TOKEN_NAME && s->tokens[at].word == VYRE_WORD_PLAIN;
}

static const char *text_at(const search *s, uint32_t at) {
    return s->tokens[at].kind == VYRE_TOKEN_NAME ? vyre_source_name(s->source, s->tokens[at].value)
                                                 : "";
}

static bool begins_statement(uint8_t before) {
    return before == VYRE_TOKEN_SEMICOLON || before == VYRE_TOKEN_OPEN_BRACE ||
           before == VYRE_TOKEN_CLOSE_BRACE;
}

/* Whether a value may begin behind a token of this kind, so that `&` and `*` take one operand. */
static bool begins_value(uint8_t before) {
    return begins_statement(before) || before == VYRE_TOKEN_OPEN_PAREN ||
           before == VYRE_TOKEN_COMMA || before == VYRE_TOKEN_ASSIGN;
}

/* Whether the text declares the name: behind let, fn or a role, before a colon, or in a loop. */
static bool is_declared(const search *s, uint32_t name) {
    for (uint32_t i = 1; s->tokens[i].kind != VYRE_TOKEN_END; i++) {
        const vyre_token *before = &s->tokens[i - 1];
        if (!is_plain(s, i) || s->tokens[i].value != name || is_plain(s, i + 1)) {
            continue; /* or the type in `const int n` */
        }
        const bool typed = kind_at(s, i + 1) == VYRE_TOKEN_COLON &&
                           kind_at(s, i + 2) != VYRE_TOKEN_COLON; /* cg::grid_group */
        if (before->word == VYRE_WORD_ROLE || typed ||
            (before->word == VYRE_WORD_STMT && before->sub == VYRE_STMT_LET) ||
            (before->word == VYRE_WORD_KEY && before->sub == VYRE_KEY_FN) ||
            (s->tokens[i + 1].word == VYRE_WORD_ROLE && s->tokens[i + 1].sub == VYRE_IN)) {
            return true;
        }
    }
    return false;
}

static void answer(search *s, uint32_t first, uint32_t last, const char *fix, const char *what) {
    s->found = true;
    vyre_source_error(s->source, "V240", vyre_source_place(s->source, first, last), fix, "%s",
                      what);
}

/* To the end of the statement, or to the next brace, or behind its partner. */
static uint32_t behind_statement(const search *s, uint32_t at, bool block) {
    while (kind_at(s, at) != VYRE_TOKEN_END && kind_at(s, at) != VYRE_TOKEN_SEMICOLON &&
           kind_at(s, at) != VYRE_TOKEN_OPEN_BRACE) {
        at++;
    }
    return block && kind_at(s, at) == VYRE_TOKEN_OPEN_BRACE ? s->tokens[at].value + 1 : at;
}

/* `int i`, `(int)x`, `int(x)`: at is the type's first word. Gives the token behind it. */
static uint32_t answer_type(search *s, uint32_t at, const foreign *row) {
    char fix[VYRE_DIAG_FIX], what[96];
    uint32_t name = at + 1;
    while (is_plain(s, name) && is_plain(s, name + 1)) {
        name++; /* unsigned int i */
    }
    const bool after_for = kind_before(s, at) == VYRE_TOKEN_OPEN_PAREN && at > 1 &&
                           s->tokens[at - 2].word == VYRE_WORD_STMT &&
                           s->tokens[at - 2].sub == VYRE_STMT_FOR;
    const bool pointer = kind_at(s, name) == VYRE_TOKEN_STAR && !after_for;
    if (row->language) {
        (void)snprintf(what, sizeof what, "`%.40s` is a type of %s", row->word, row->language);
    } else {
        (void)snprintf(what, sizeof what, "`%.40s` stands behind the name of a variable",
                       row->word);
    }
    if (after_for) {
        const bool plain = is_plain(s, name);
        (void)snprintf(fix, sizeof fix, "write `for (i in 0 .. n) { }`, or `for (let %.60s = ...`",
                       plain ? text_at(s, name) : "i");
    } else if (pointer) {
        (void)snprintf(fix, sizeof fix, "there are no pointers: name the element, `b[i]`");
    } else if (is_plain(s, name) && at > 0 && s->tokens[at - 1].word == VYRE_WORD_ROLE) {
        (void)snprintf(fix, sizeof fix, "write `%.20s %.60s = ...;` at the top level",
                       text_at(s, at - 1), text_at(s, name));
    } else if (is_plain(s, name) && strcmp(row->fix, "i32") == 0 && row->language) {
        (void)snprintf(fix, sizeof fix, "write `let %.60s = ...;`: u32, as ids and indices are; %s",
                       text_at(s, name), "signed with `: i32` behind the name");
    } else if (is_plain(s, name) && row->fix[0] != '\0') {
        (void)snprintf(fix, sizeof fix, "write `let %.60s : %s = ...;`", text_at(s, name),
                       row->fix);
    } else if (is_plain(s, name)) {
        (void)snprintf(fix, sizeof fix, "write `let %.60s = ...;`", text_at(s, name));
    } else {
        (void)snprintf(fix, sizeof fix, "the type is `%s`, a conversion `%s(x)`", row->fix,
                       row->fix);
    }
    answer(s, at, at, fix, what);
    return pointer ? behind_statement(s, at, false) : is_plain(s, name) ? name + 1 : at + 1;
}

/* The axis of a row's form at the token, or 0. */
static char axis_of(const search *s, uint32_t at, uint8_t form) {
    if (form == FORM_AXIS && kind_at(s, at + 1) == VYRE_TOKEN_DOT) {
        const char *axis = text_at(s, at + 2);
        return axis[0] >= 'x' && axis[0] <= 'z' && axis[1] == '\0' ? axis[0] : 'x';
    }
    if (form == FORM_GETTER && kind_at(s, at + 1) == VYRE_TOKEN_OPEN_PAREN) {
        const vyre_token *t = &s->tokens[at + 2];
        const char digit = s->source->text[t->begin];
        return (char)(t->end == t->begin + 1 && digit >= '0' && digit <= '2' ? 'x' + digit - '0'
                                                                             : 'x');
    }
    return 0;
}

/* What people compute of ids and has a name here; all ids have one axis. */
static const struct sum {
    const char *parts[5];
    const char *name;
} sums[] = {
    {{"blockIdx", "*", "blockDim", "+", "threadIdx"}, "global_id"},
    {{"blockDim", "*", "blockIdx", "+", "threadIdx"}, "global_id"},
    {{"threadIdx", "+", "blockIdx", "*", "blockDim"}, "global_id"},
    {{"threadIdx", "+", "blockDim", "*", "blockIdx"}, "global_id"},
    {{"blockDim", "*", "gridDim"}, "global_size"},
    {{"gridDim", "*", "blockDim"}, "global_size"},
};

/* How many tokens it has, from this one on; 0: it is not there. Operators have one, ids three. */
static uint32_t length_of(const search *s, uint32_t at, const struct sum *sum) {
    uint32_t end = at;
    for (uint32_t i = 0; i < 5 && sum->parts[i]; i++) {
        const uint8_t sign = sum->parts[i][0] == '*' ? VYRE_TOKEN_STAR : VYRE_TOKEN_PLUS;
        const bool fits = i % 2 ? kind_at(s, end) == sign
                                : strcmp(text_at(s, end), sum->parts[i]) == 0 &&
                                      kind_at(s, end + 1) == VYRE_TOKEN_DOT &&
                                      kind_at(s, end + 2) == VYRE_TOKEN_NAME &&
                                      strcmp(text_at(s, end + 2), text_at(s, at + 2)) == 0;
        if (!fits) {
            return 0;
        }
        end += i % 2 ? 1 : 3;
    }
    return end - at;
}

static const struct sum *sum_at(const search *s, uint32_t at, uint32_t *out_length) {
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        *out_length = length_of(s, at, &sums[i]);
        if (*out_length != 0) {
            return &sums[i];
        }
    }
    return NULL;
}

/* The name at the token, if a row fits. Gives the token to go on with. */
static uint32_t try_word(search *s, uint32_t at) {
    const char *word = text_at(s, at);
    const foreign *row = table;
    while (row < table + ROWS && strcmp(row->word, word) != 0) {
        row++;
    }
    if (row == table + ROWS) {
        return at + 1;
    }
    const bool bracket = kind_at(s, at + 1) == VYRE_TOKEN_OPEN_PAREN;
    const char axis = axis_of(s, at, row->form);
    if (((row->form == FORM_AXIS || row->form == FORM_GETTER) && axis == 0) ||
        (row->form == FORM_CALL && !bracket) || is_declared(s, s->tokens[at].value)) {
        return at + 1;
    }
    uint32_t length;
    const struct sum *sum = sum_at(s, at, &length);
    char fix[VYRE_DIAG_FIX], what[96];
    (void)snprintf(what, sizeof what, "`%.40s` is a word of %s", word, row->language);
    if (sum) {
        (void)snprintf(fix, sizeof fix, "write `%s.%c`", sum->name, axis);
        answer(s, at, at + length - 1, fix, what);
        return at + length;
    }
    bool *answered = &s->answered[row - table];
    const bool block = row->form == FORM_BLOCK;
    const bool address = bracket && kind_at(s, at + 2) == VYRE_TOKEN_AND; /* the fix has none */
    const uint32_t next = block || row->form == FORM_BEGINS ? behind_statement(s, at, block)
                          : address                         ? at + 3
                                                            : at + 1;
    if (row->form == FORM_TYPE) {
        return answer_type(s, at, row);
    }
    if (*answered) {
        return next;
    }
    *answered = true;
    if (axis == 0) {
        answer(s, at, at, row->fix, what);
    } else {
        (void)snprintf(fix, sizeof fix, "write `%s.%c`", row->fix, axis);
        answer(s, at, row->form == FORM_AXIS ? at + 2 : s->tokens[at + 1].value, fix, what);
    }
    return next;
}

/* What is written with punctuation. Gives the token to go on with; `at` itself if there is none. */
static uint32_t try_punctuation(search *s, uint32_t at) {
    const uint8_t kind = kind_at(s, at), next = kind_at(s, at + 1), before = kind_before(s, at);
    if ((kind == VYRE_TOKEN_PLUS || kind == VYRE_TOKEN_MINUS) && next == kind &&
        (begins_statement(before) || kind_at(s, at + 2) == VYRE_TOKEN_SEMICOLON ||
         kind_at(s, at + 2) == VYRE_TOKEN_CLOSE_PAREN)) {
        answer(s, at, at + 1, kind == VYRE_TOKEN_PLUS ? "write `i += 1;`" : "write `i -= 1;`",
               kind == VYRE_TOKEN_PLUS ? "there is no `++`" : "there is no `--`");
        return at + 2;
    }
    if (begins_value(before) && is_plain(s, at + 1)) {
        if (kind == VYRE_TOKEN_AND) {
            answer(s, at, at + 1, "name the element itself: `atomic_add(b[i], 1)`",
                   "there are no addresses");
            return at + 2;
        }
        if (kind == VYRE_TOKEN_STAR) {
            answer(s, at, at + 1, "name the element: `b[i]`", "there are no pointers");
            return at + 2;
        }
    }
    if (kind == VYRE_TOKEN_ARROW && before != VYRE_TOKEN_CLOSE_PAREN) {
        answer(s, at, at + 1, "use one buffer or variable for each field",
               "there are no pointers to structs");
        return at + 2;
    }
    if (kind == VYRE_TOKEN_SHIFT_LEFT && next == VYRE_TOKEN_LESS) {
        answer(s, at, at + 1, "a program is launched from outside: `vyre run`, or the C interface",
               "there are no launches in a program");
        return behind_statement(s, at, false);
    }
    /* g.sync() */
    if (kind == VYRE_TOKEN_DOT && strcmp(text_at(s, at + 1), "sync") == 0) {
        answer(s, at - (at != 0), at + 1,
               "`grid_sync;` waits for the grid, `barrier;` for the group",
               "`sync` is a word of CUDA");
        return behind_statement(s, at, false);
    }
    return at;
}

/* `u32 i = 0;` with our own types. */
static bool is_c_declaration(const search *s, uint32_t at) {
    const uint8_t before = kind_before(s, at);
    return s->tokens[at].kind == VYRE_TOKEN_NAME && s->tokens[at].word == VYRE_WORD_TYPE &&
           is_plain(s, at + 1) && (begins_statement(before) || before == VYRE_TOKEN_OPEN_PAREN);
}

static uint32_t look(search *s, uint32_t at) {
    if (is_c_declaration(s, at)) {
        const foreign row = {text_at(s, at), FORM_TYPE, NULL, text_at(s, at)};
        return answer_type(s, at, &row);
    }
    if (is_plain(s, at)) {
        return try_word(s, at);
    }
    const uint32_t next = try_punctuation(s, at);
    return next == at ? at + 1 : next;
}

void vyre_source_foreign(vyre_source *source) {
    search s = {.source = source, .tokens = source->tokens.data};
    vyre_diag_list none = {0}, *diags = source->diags;
    const vyre_diag_list before = diags ? *diags : none;
    const uint32_t errors = source->errors;
    /* What the parser said goes, if there is anything better. */
    if (diags) {
        diags->count = source->first_diag;
        diags->errors -= errors;
    }
    source->errors = 0;
    for (uint32_t at = 0; source->tokens.count != 0 && kind_at(&s, at) != VYRE_TOKEN_END;) {
        at = look(&s, at);
    }
    if (!s.found) {
        source->errors = errors;
        if (diags) {
            *diags = before;
        }
    }
}
