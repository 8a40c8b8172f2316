/* The catalogue of diagnostics: the parser's rows and the validator's, in order of code. A code
 * that both report (the parser sees a name twice before the validator can) has one row here. The
 * tables are small and constant, so order is found by counting, without state. */
#include <string.h>

#include "vyre/check.h"

static const vyre_diagnostic rows[] = {
#define VYRE_DIAGNOSTIC(code, severity, title, explanation)                                        \
    {code, VYRE_##severity, title, explanation},
#include "analysis/diagnostics.def"
#if defined(__has_include)
#    if __has_include("text/diagnostics.def")
#        include "text/diagnostics.def"
#    endif
#endif
#undef VYRE_DIAGNOSTIC
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static uint32_t first_row(const char *code) {
    uint32_t row = 0;
    while (row < ROWS && strcmp(rows[row].code, code) != 0) {
        row++;
    }
    return row;
}

uint32_t vyre_diagnostic_count(void) {
    uint32_t count = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        count += first_row(rows[row].code) == row;
    }
    return count;
}

const vyre_diagnostic *vyre_diagnostic_get(uint32_t index) {
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t smaller = 0;
        for (uint32_t other = 0; other < ROWS; other++) {
            smaller += first_row(rows[other].code) == other &&
                       strcmp(rows[other].code, rows[row].code) < 0;
        }
        if (smaller == index && first_row(rows[row].code) == row) {
            return &rows[row];
        }
    }
    return NULL;
}

const vyre_diagnostic *vyre_diagnostic_find(const char *code) {
    const uint32_t row = code ? first_row(code) : ROWS;
    return row < ROWS ? &rows[row] : NULL;
}
