/* The catalogue of diagnostics: the parser's rows and the validator's. A code that both report has
 * its row with the parser. The tables are small and constant, so the order of codes is found by
 * counting, without state. */
#include <string.h>

#include "vyre/check.h"

static const vyre_diagnostic rows[] = {
#define VYRE_DIAGNOSTIC(code, severity, title, explanation)                                        \
    {code, VYRE_##severity, title, explanation},
#include "analysis/diagnostics.def"
#include "text/diagnostics.def"
#undef VYRE_DIAGNOSTIC
};

enum { ROWS = sizeof rows / sizeof rows[0] };

uint32_t vyre_diagnostic_count(void) {
    return ROWS;
}

const vyre_diagnostic *vyre_diagnostic_get(uint32_t index) {
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t smaller = 0;
        for (uint32_t other = 0; other < ROWS; other++) {
            smaller += strcmp(rows[other].code, rows[row].code) < 0;
        }
        if (smaller == index) {
            return &rows[row];
        }
    }
    return NULL;
}

const vyre_diagnostic *vyre_diagnostic_find(const char *code) {
    for (uint32_t row = 0; row < ROWS; row++) {
        if (code && strcmp(rows[row].code, code) == 0) {
            return &rows[row];
        }
    }
    return NULL;
}
