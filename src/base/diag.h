/* Filling in diagnostics. Nothing here allocates. */
#ifndef VYRE_SRC_BASE_DIAG_H
#define VYRE_SRC_BASE_DIAG_H

#include <stdarg.h>

#include "vyre/base.h"

/* Each of these returns `status`, so that `return vyre_fail(...)` reads well. `diag` may be NULL.
 * `code` is a catalogue code such as "V066", or "". `fix` may be NULL. */
vyre_status vyre_fail(vyre_diag *diag, vyre_status status, const char *fix, const char *format, ...)
    VYRE_PRINTF(4, 5);
vyre_status vyre_fail_at(vyre_diag *diag, vyre_status status, const char *code, vyre_place place,
                         const char *fix, const char *format, ...) VYRE_PRINTF(6, 7);
/* The usual answer to a failed allocation; `what` names what the memory was for. */
vyre_status vyre_fail_memory(vyre_diag *diag, const char *what);

/* The static analyzer sees one file at a time and would follow paths on which a failure is OK. */
#ifdef __clang_analyzer__
#    define vyre_fail(diag, status, ...)    (vyre_fail((diag), (status), __VA_ARGS__), (status))
#    define vyre_fail_at(diag, status, ...) (vyre_fail_at((diag), (status), __VA_ARGS__), (status))
#    define vyre_fail_memory(diag, what)    (vyre_fail_memory((diag), (what)), VYRE_OUT_OF_MEMORY)
#endif

/* Appends to a list (NULL is fine) and counts it. Notes are stored but not counted; a note whose
 * parent was dropped is dropped too. Returns the stored diag, or NULL when there was no room. */
vyre_diag *vyre_report(vyre_diag_list *list, vyre_severity severity, vyre_status status,
                       const char *code, vyre_place place, const char *fix, const char *format, ...)
    VYRE_PRINTF(7, 8);
vyre_diag *vyre_report_v(vyre_diag_list *list, vyre_severity severity, vyre_status status,
                         const char *code, vyre_place place, const char *fix, const char *format,
                         va_list args) VYRE_PRINTF(7, 0);

/* Copies text into a field of `size` bytes, cut at a UTF-8 boundary with "..." when too long. */
void vyre_diag_copy(char *field, size_t size, const char *text);

#endif
