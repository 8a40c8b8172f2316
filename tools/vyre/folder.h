/* Files that a command writes into a folder (`-o DIR`). */
#ifndef VYRE_TOOLS_FOLDER_H
#define VYRE_TOOLS_FOLDER_H

#include "cli.h"
#include "io/file.h"

/* A file FOLDER/NAME with that text, which appears with the others. */
vyre_status cli_stage_file(vyre_stage *stage, const char *folder, const char *name,
                           const vyre_text *contents, vyre_diag *diag);

/* All files that `write` stages appear, or none; the folder itself is made if it is not there. */
cli_exit cli_write_folder(cli_context *cli, const char *folder,
                          vyre_status (*write)(vyre_stage *stage, const char *folder,
                                               const void *user, vyre_diag *diag),
                          const void *user);

#endif
