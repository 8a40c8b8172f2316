/* The text form: parsing and formatting. Printing a program is vyre_program_print in vyre/ir.h. */
#ifndef VYRE_TEXT_H
#define VYRE_TEXT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_parse_options {
    const char *file; /* name in diagnostics and places; copied */
    /* Programs whose functions may be called by name; they are copied into the result when used. */
    const vyre_program *const *libraries;
    uint32_t library_count;
    /* Consts that get another value than the text gives them; sizes of the workgroup and of memory
     * that depend on them follow. One that the program does not declare, or of another type:
     * VYRE_INVALID_INPUT. */
    const vyre_setting *settings;
    uint32_t setting_count;
    /* (optional) Gives the text of a file that the program imports, as long as vyre_parse runs. The
     * path is relative to the folder of `file`, with slashes, without "." and ".."; whether links
     * may lead elsewhere is up to the caller. A failure is reported at the import, with the
     * diagnostic's message and fix. NULL: imports are refused. */
    vyre_status (*import)(void *user, const char *path, const char **out_text, size_t *out_length,
                          vyre_diag *diag);
    void *import_user;
} vyre_parse_options;

/* Parses one program. The text need not be NUL-terminated and may hold any bytes. Reports as many
 * errors as make sense, in order of place; on any error the result is VYRE_INVALID_PROGRAM and no
 * program is made. The program is well-formed but not yet checked: see vyre/check.h. */
VYRE_API vyre_status vyre_parse(const char *text, size_t length, const vyre_parse_options *options,
                                const vyre_allocator *allocator, vyre_program **out_program,
                                vyre_diag_list *diags);

/* Writes the text in canonical layout, comments kept. Formatting twice changes nothing, and the
 * formatted text parses to an equal program. Text with lexical or bracket errors is refused. */
VYRE_API vyre_status vyre_format(const char *text, size_t length, const char *file,
                                 const vyre_allocator *allocator, vyre_write_fn write, void *user,
                                 vyre_diag_list *diags);

#ifdef __cplusplus
}
#endif

#endif
