/* Reserved words, and the names of operations: from ops.def. Names of operations are free for what
 * is not called, because a call or an axis tells them apart. */
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
    WORD("do"),      WORD("program"), WORD("fn"),      WORD("true"),      WORD("false"),
    WORD("in"),      WORD("inout"),   WORD("out"),     WORD("scratch"),   WORD("private"),
    WORD("param"),   WORD("const"),   WORD("let"),     WORD("if"),        WORD("else"),
    WORD("for"),     WORD("while"),   WORD("region"),  WORD("break"),     WORD("continue"),
    WORD("exit"),    WORD("return"),  WORD("barrier"), WORD("grid_sync"), WORD("workgroup"),
    WORD("bitcast"),
};
static const word operations[] = {
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost)             WORD(spelling),
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2) WORD(spelling),
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins)                         WORD(spelling),
#define VYRE_SUBGROUP(NAME, spelling, operands, asks)                              WORD(spelling),
#define VYRE_REDUCE(NAME, group, grid, operands)                                   WORD(group), WORD(grid),
#include "vyre/ops.def"
};

static bool is_one_of(const word *list, size_t count, const char *text, size_t length) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].length == length && list[i].text[0] == text[0] &&
            memcmp(list[i].text, text, length) == 0) {
            return true;
        }
    }
    return false;
}

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
    return is_one_of(words, sizeof words / sizeof words[0], text, length) ||
           vyre_type_from_name(text, length) != VYRE_VOID;
}

bool vyre_name_is_operation(const char *text, size_t length) {
    return is_one_of(operations, sizeof operations / sizeof operations[0], text, length);
}
