/* The validator: is this program meaningful, and may every barrier stand where it stands? And the
 * catalogue of all diagnostics. */
#ifndef VYRE_CHECK_H
#define VYRE_CHECK_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks types, scopes, access, limits, functions and uniformity. Reports errors and warnings in
 * order of place; VYRE_INVALID_PROGRAM if there was an error. */
VYRE_API vyre_status vyre_check(const vyre_program *program, const vyre_allocator *allocator,
                                vyre_diag_list *diags);

/* Warnings about a program that passed vyre_check: what is legal and probably not meant. */
typedef struct vyre_lint_options {
    bool speed; /* also what would be faster in other words (W1xx) */
} vyre_lint_options;

/* options may be NULL. Reports in order of place. */
VYRE_API vyre_status vyre_lint(const vyre_program *program, const vyre_lint_options *options,
                               const vyre_allocator *allocator, vyre_diag_list *diags);

/* An entry of the catalogue. */
typedef struct vyre_diagnostic {
    const char *code; /* "V010" */
    vyre_severity severity;
    const char *title;       /* one line */
    const char *explanation; /* what it means and what to do, a paragraph or more */
} vyre_diagnostic;

VYRE_API uint32_t vyre_diagnostic_count(void);
/* In ascending order of code; NULL past the end. */
VYRE_API const vyre_diagnostic *vyre_diagnostic_get(uint32_t index);
VYRE_API const vyre_diagnostic *vyre_diagnostic_find(const char *code);

#ifdef __cplusplus
}
#endif

#endif
