/* Reserved words: keywords here, everything else from ops.def and the type table. */
#include "ir/names.h"

#include <string.h>

#include "vyre/ir.h"

static const char *const keywords[] = {
    "program", "workgroup", "elements", "grid", "in",   "inout", "out",   "scratch",
    "private", "param",     "const",    "fn",   "step", "true",  "false",
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

static bool same(const char *word, const char *text, size_t length) {
    return word[0] == text[0] && strncmp(word, text, length) == 0 && word[length] == 0;
}

bool vyre_name_is_reserved(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (same(keywords[i], text, length)) {
            return true;
        }
    }
    for (int op = 0; op < VYRE_EXPR_COUNT; op++) {
        if (same(vyre_expr_info_of((vyre_expr_op)op)->spelling, text, length)) {
            return true;
        }
    }
    for (int op = 0; op < VYRE_STMT_COUNT; op++) {
        if (same(vyre_stmt_info_of((vyre_stmt_op)op)->spelling, text, length)) {
            return true;
        }
    }
    for (int id = 0; id < VYRE_BUILTIN_COUNT; id++) {
        if (same(vyre_builtin_name((vyre_builtin)id), text, length)) {
            return true;
        }
    }
    for (int op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        if (same(vyre_atomic_name((vyre_atomic_op)op), text, length)) {
            return true;
        }
    }
    for (int op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        if (same(vyre_subgroup_name((vyre_subgroup_op)op), text, length)) {
            return true;
        }
    }
    return vyre_type_from_name(text, length) != VYRE_VOID;
}
