/* Diagnostics: formatted straight into the caller's struct. A text that does not fit is cut at a
 * UTF-8 boundary, so that what is printed stays valid. */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

/* The functions themselves, not the forms for the analyzer. */
#undef vyre_fail
#undef vyre_fail_at
#undef vyre_fail_memory

/* Drops a multi-byte character that was cut at the end of text[0..length). */
static size_t utf8_floor(const char *text, size_t length) {
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return length;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return need > length - (start - 1) ? start - 1 : length;
}

static void cut(char *field, size_t size) {
    size_t keep = utf8_floor(field, size - 4);
    memcpy(field + keep, "...", 4);
}

void vyre_diag_copy(char *field, size_t size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (length == 0) {
        field[0] = '\0';
    } else if (length < size) {
        memcpy(field, text, length + 1);
    } else {
        memcpy(field, text, size - 4);
        cut(field, size);
    }
}

VYRE_PRINTF(7, 0)
static void fill(vyre_diag *diag, vyre_severity severity, vyre_status status, const char *code,
                 vyre_place place, const char *fix, const char *format, va_list args) {
    memset(diag, 0, sizeof *diag);
    diag->status = status;
    diag->severity = severity;
    vyre_diag_copy(diag->code, sizeof diag->code, code);
    vyre_diag_copy(diag->file, sizeof diag->file, place.file);
    diag->line = place.line;
    diag->col = place.col;
    diag->end_col = place.end_col;
    vyre_diag_copy(diag->fix, sizeof diag->fix, fix);
    int length = vsnprintf(diag->message, sizeof diag->message, format, args);
    if (length >= (int)sizeof diag->message) {
        cut(diag->message, sizeof diag->message);
    }
}

vyre_status vyre_fail(vyre_diag *diag, vyre_status status, const char *fix, const char *format,
                      ...) {
    if (diag) {
        va_list args;
        va_start(args, format);
        fill(diag, VYRE_ERROR, status, "", (vyre_place){0}, fix, format, args);
        va_end(args);
    }
    return status;
}

vyre_status vyre_fail_at(vyre_diag *diag, vyre_status status, const char *code, vyre_place place,
                         const char *fix, const char *format, ...) {
    if (diag) {
        va_list args;
        va_start(args, format);
        fill(diag, VYRE_ERROR, status, code, place, fix, format, args);
        va_end(args);
    }
    return status;
}

vyre_status vyre_fail_memory(vyre_diag *diag, const char *what) {
    return vyre_fail(diag, VYRE_OUT_OF_MEMORY,
                     "use a smaller problem or give the process more memory",
                     "out of memory for %s", what);
}

vyre_diag *vyre_report_v(vyre_diag_list *list, vyre_severity severity, vyre_status status,
                         const char *code, vyre_place place, const char *fix, const char *format,
                         va_list args) {
    if (!list) {
        return NULL;
    }
    bool orphan =
        severity == VYRE_NOTE && list->errors + list->warnings > 0 && list->count == list->capacity;
    if (severity == VYRE_ERROR) {
        list->errors++;
    } else if (severity == VYRE_WARNING) {
        list->warnings++;
    }
    if (orphan || list->count >= list->capacity) {
        return NULL;
    }
    vyre_diag *diag = &list->items[list->count++];
    fill(diag, severity, status, code, place, fix, format, args);
    return diag;
}

vyre_diag *vyre_report(vyre_diag_list *list, vyre_severity severity, vyre_status status,
                       const char *code, vyre_place place, const char *fix, const char *format,
                       ...) {
    va_list args;
    va_start(args, format);
    vyre_diag *diag = vyre_report_v(list, severity, status, code, place, fix, format, args);
    va_end(args);
    return diag;
}
