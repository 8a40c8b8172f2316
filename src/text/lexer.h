/* From text to tokens: what the parser and the formatter both read.
 *
 * All tokens stand in one array, with brackets matched and names interned; comments stand in an
 * array of their own. A source that scanned without error has valid UTF-8, no control characters
 * and balanced brackets of bounded depth, so later stages need not look at bytes again and can skip
 * a bracketed part in one step. */
#ifndef VYRE_SRC_TEXT_LEXER_H
#define VYRE_SRC_TEXT_LEXER_H

#include "base/alloc.h"
#include "base/diag.h"
#include "base/intern.h"
#include "vyre/ir.h"

/* Punctuation; longer spellings before their prefixes. OP: the binary operator it stands for. */
#define VYRE_TOKENS(X)                                                                             \
    X(SHL_ASSIGN, "<<=", SHL)                                                                      \
    X(SHR_ASSIGN, ">>=", SHR)                                                                      \
    X(ADD_ASSIGN, "+=", ADD)                                                                       \
    X(SUB_ASSIGN, "-=", SUB)                                                                       \
    X(MUL_ASSIGN, "*=", MUL)                                                                       \
    X(DIV_ASSIGN, "/=", DIV)                                                                       \
    X(REM_ASSIGN, "%=", REM)                                                                       \
    X(AND_ASSIGN, "&=", BIT_AND)                                                                   \
    X(XOR_ASSIGN, "^=", BIT_XOR)                                                                   \
    X(OR_ASSIGN, "|=", BIT_OR)                                                                     \
    X(AND_AND, "&&", AND)                                                                          \
    X(OR_OR, "||", OR)                                                                             \
    X(EQUAL, "==", EQ)                                                                             \
    X(NOT_EQUAL, "!=", NE)                                                                         \
    X(LESS_EQUAL, "<=", LE)                                                                        \
    X(GREATER_EQUAL, ">=", GE)                                                                     \
    X(SHIFT_LEFT, "<<", SHL)                                                                       \
    X(SHIFT_RIGHT, ">>", SHR)                                                                      \
    X(ARROW, "->", COUNT)                                                                          \
    X(RANGE, "..", COUNT)                                                                          \
    X(PLUS, "+", ADD)                                                                              \
    X(MINUS, "-", SUB)                                                                             \
    X(STAR, "*", MUL)                                                                              \
    X(SLASH, "/", DIV)                                                                             \
    X(PERCENT, "%", REM)                                                                           \
    X(AND, "&", BIT_AND)                                                                           \
    X(CARET, "^", BIT_XOR)                                                                         \
    X(OR, "|", BIT_OR)                                                                             \
    X(LESS, "<", LT)                                                                               \
    X(GREATER, ">", GT)                                                                            \
    X(TILDE, "~", COUNT)                                                                           \
    X(BANG, "!", COUNT)                                                                            \
    X(ASSIGN, "=", COUNT)                                                                          \
    X(OPEN_PAREN, "(", COUNT)                                                                      \
    X(CLOSE_PAREN, ")", COUNT)                                                                     \
    X(OPEN_INDEX, "[", COUNT)                                                                      \
    X(CLOSE_INDEX, "]", COUNT)                                                                     \
    X(OPEN_BRACE, "{", COUNT)                                                                      \
    X(CLOSE_BRACE, "}", COUNT)                                                                     \
    X(COMMA, ",", COUNT)                                                                           \
    X(SEMICOLON, ";", COUNT)                                                                       \
    X(QUESTION, "?", COUNT)                                                                        \
    X(COLON, ":", COUNT)                                                                           \
    X(DOT, ".", COUNT)

enum {
#define VYRE_TOKEN(NAME, spelling, op) VYRE_TOKEN_##NAME,
    VYRE_TOKENS(VYRE_TOKEN)
#undef VYRE_TOKEN
        VYRE_TOKEN_PUNCTUATION_COUNT,
    VYRE_TOKEN_NAME = VYRE_TOKEN_PUNCTUATION_COUNT, /* word tells which kind */
    VYRE_TOKEN_INTEGER,
    VYRE_TOKEN_FLOAT,
    VYRE_TOKEN_STRING,
    VYRE_TOKEN_END
};

/* What a name is. All but PLAIN are reserved. */
enum {
    VYRE_WORD_PLAIN = 0,
    VYRE_WORD_KEY,      /* sub: VYRE_KEY_* */
    VYRE_WORD_ROLE,     /* vyre_role */
    VYRE_WORD_TYPE,     /* vyre_type */
    VYRE_WORD_FUNCTION, /* vyre_expr_op, or VYRE_FUNCTION_CLAMP */
    VYRE_WORD_STMT,     /* vyre_stmt_op */
    VYRE_WORD_BUILTIN,  /* vyre_builtin */
    VYRE_WORD_ATOMIC,   /* vyre_atomic_op */
    VYRE_WORD_SUBGROUP, /* vyre_subgroup_op */
    VYRE_WORD_GROUP,    /* vyre_reduce_op */
    VYRE_WORD_GRID      /* likewise */
};
enum { VYRE_FUNCTION_CLAMP = VYRE_EXPR_COUNT };
enum {
    VYRE_KEY_PROGRAM,
    VYRE_KEY_ELEMENTS,
    VYRE_KEY_GRID,
    VYRE_KEY_FN,
    VYRE_KEY_STEP,
    VYRE_KEY_TRUE,
    VYRE_KEY_FALSE,
    VYRE_KEY_DO
};

typedef struct vyre_token {
    uint8_t kind;
    uint8_t word;        /* NAME: VYRE_WORD_* */
    uint8_t sub;         /* NAME: which */
    bool broken;         /* a number that was reported already */
    uint32_t begin, end; /* bytes */
    uint32_t line;       /* from 0 */
    uint32_t value;      /* NAME: interned number; bracket: token of its partner; else unused */
} vyre_token;

typedef struct vyre_comment {
    uint32_t begin, end;
    uint32_t line, end_line;
    uint32_t before; /* token that follows it */
    bool block;      /* with stars, not to the end of the line */
} vyre_comment;

/* Lines of a text that come from another one, up to the next piece. */
typedef struct vyre_piece {
    uint32_t line;     /* the first, from 0, */
    uint32_t own_line; /* and which it is there */
    uint32_t shift;    /* columns that its first line has before */
    const char *file;
} vyre_piece;

typedef struct vyre_source {
    const char *text;
    uint32_t length;
    const char *file;
    const vyre_piece *pieces; /* of a text that was joined (join.c), in order of lines */
    uint32_t piece_count;
    vyre_allocator allocator;
    vyre_diag_list *diags;
    uint32_t first_diag; /* diagnostics before it are not ours */
    uint32_t errors;
    bool out_of_memory;
    VYRE_VEC(vyre_token) tokens; /* the last one is END */
    VYRE_VEC(vyre_comment) comments;
    VYRE_VEC(uint32_t) lines; /* offset of each line's first byte */
    VYRE_VEC(uint32_t) open;  /* brackets not yet closed, while scanning */
    vyre_intern names;
    struct {
        uint8_t word, sub;
    } words[256]; /* of the first interned names, which are the reserved ones */
    uint32_t word_count;
    uint32_t next_temporary; /* above every _<digits> of the text */
} vyre_source;

/* Errors after this many are not looked for. */
enum { VYRE_TEXT_ERRORS = 100 };

/* Scans the text. The result is VYRE_OK, VYRE_INVALID_PROGRAM (reported) or VYRE_OUT_OF_MEMORY;
 * vyre_source_finish is due in every case. text, file and diags are borrowed until then. */
vyre_status vyre_source_scan(vyre_source *source, const char *text, size_t length, const char *file,
                             const vyre_allocator *allocator, vyre_diag_list *diags);
/* The same of a text that was joined. */
vyre_status vyre_source_scan_joined(vyre_source *source, const char *text, size_t length,
                                    const vyre_piece *pieces, uint32_t piece_count,
                                    const char *file, const vyre_allocator *allocator,
                                    vyre_diag_list *diags);
/* Puts the diagnostics of this source in order of place, and frees everything. */
void vyre_source_finish(vyre_source *source);

/* foreign.c: of a text that scanned but did not parse. If there are words of other languages in it,
 * they are reported instead of what was. */
void vyre_source_foreign(vyre_source *source);

/* If the name is `_<number>`, temporaries get higher numbers, so that they never meet it. */
void vyre_source_note_temporary(vyre_source *source, const char *name);
void vyre_source_error(vyre_source *source, const char *code, vyre_place place, const char *fix,
                       const char *format, ...) VYRE_PRINTF(5, 6);
/* Place of tokens [first, last]; a range over several lines ends with its first line. */
vyre_place vyre_source_place(const vyre_source *source, uint32_t first, uint32_t last);
/* "`;`", "`count`", "the end of the text": for messages; room needs 64 bytes. */
const char *vyre_source_describe(const vyre_source *source, uint32_t token, char *room);
static inline const char *vyre_source_name(const vyre_source *source, uint32_t name) {
    return vyre_intern_text(&source->names, name);
}
const char *vyre_token_spelling(uint8_t kind);
/* The vyre_expr_op of a binary operator or of `op=`; VYRE_EXPR_COUNT for other punctuation. */
uint8_t vyre_token_operator(uint8_t kind);

/* Numbers. The value of a literal token as the bits of a type. Unsigned types take the magnitude
 * only; hexadecimal and binary digits give signed types their bit pattern. */
typedef enum vyre_literal_fit {
    VYRE_LITERAL_FITS,
    VYRE_LITERAL_TOO_LARGE,
    VYRE_LITERAL_NOT_INTEGER /* a float, for an integer type */
} vyre_literal_fit;
vyre_literal_fit vyre_literal_convert(const vyre_source *source, uint32_t token, vyre_type type,
                                      bool negative, uint64_t *out_bits);
/* The type of the suffix, VYRE_VOID without one. */
vyre_type vyre_literal_suffix(const vyre_source *source, uint32_t token);
/* NULL when the number is well formed, else what is wrong. */
const char *vyre_literal_check(const char *text, uint32_t length, bool *out_float);

#endif
