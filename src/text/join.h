/* `import "file.vy";`: one text of several. */
#ifndef VYRE_SRC_TEXT_JOIN_H
#define VYRE_SRC_TEXT_JOIN_H

#include "base/text.h"
#include "text/lexer.h"
#include "vyre/text.h"

typedef struct vyre_import {
    vyre_text path;  /* below the folder of the program's text */
    vyre_text shown; /* in places */
    const char *text;
    size_t length;
    uint32_t importer; /* VYRE_NONE: the program's text */
} vyre_import;

typedef struct vyre_join {
    vyre_text text; /* that of the program, with the imported ones behind its first brace */
    VYRE_VEC(vyre_import) imports;
    VYRE_VEC(vyre_piece) pieces;
} vyre_join;

/* Asks for all files that the text imports, and joins them if there are any. `source` is scanned,
 * its program is between the brace and its partner. On errors, which are reported, nothing is
 * joined. vyre_join_finish is due in every case, behind all uses of the joined text and of places
 * in it. */
vyre_status vyre_join_init(vyre_join *join, vyre_source *source, uint32_t brace,
                           const vyre_parse_options *options);
void vyre_join_finish(vyre_join *join, const vyre_allocator *allocator);
/* Whether an import stands at the token. */
bool vyre_source_is_import(const vyre_source *source, uint32_t token);

#endif
