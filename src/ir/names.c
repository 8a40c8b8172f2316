/* Reserved words: keywords here, everything else from ops.def and the type table. */
#include "ir/names.h"

#include <string.h>

#include "vyre/ir.h"

typedef struct word {
    uint8_t length;
    const char *text;
} word;

/* Every builder asks for every name, so most words must be told apart by their length. */
#define WORD(text)                                                                                 \
    { sizeof(text) - 1, text }
static const word words[] = {
    WORD("program"), WORD("workgroup"), WORD("elements"), WORD("grid"),    WORD("in"),
    WORD("inout"),   WORD("out"),       WORD("scratch"),  WORD("private"), WORD("param"),
    WORD("const"),   WORD("fn"),        WORD("step"),     WORD("true"),    WORD("false"),
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result) WORD(spelling),
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects)   WORD(spelling),
#define VYRE_BUILTIN(NAME, spelling, axes)                       WORD(spelling),
#define VYRE_ATOMIC(NAME, spelling, floats)                      WORD(spelling),
#define VYRE_SUBGROUP(NAME, spelling, operands)                  WORD(spelling),
#include "vyre/ops.def"
};

bool vyre_name_is_identifier(const char *text, size_t length) {
    if (length == 0 || length > VYRE_LIMIT_NAME || (text[0] >= '0' && text[0] <= '9')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return false;
        }
    }
    return true;
}

bool vyre_name_is_reserved(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const word *w = &words[i];
        if (w->length == length && w->text[0] == text[0] && memcmp(w->text, text, length) == 0) {
            return true;
        }
    }
    return vyre_type_from_name(text, length) != VYRE_VOID;
}
