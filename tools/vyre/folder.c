/* Writing into a folder. */
#include "folder.h"

#include <errno.h>
#include <sys/stat.h>

vyre_status cli_stage_file(vyre_stage *stage, const char *folder, const char *name,
                           const vyre_text *contents, vyre_diag *diag) {
    vyre_text path;
    vyre_text_init(&path, NULL);
    vyre_text_printf(&path, "%s/%s", folder, name);
    vyre_status status = vyre_text_status(&path, "a path", diag);
    if (status == VYRE_OK) {
        status = vyre_stage_open(stage, vyre_text_string(&path), diag);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_write(stage, vyre_text_string(contents), contents->length, diag);
    }
    vyre_text_finish(&path);
    return status;
}

cli_exit cli_write_folder(cli_context *cli, const char *folder,
                          vyre_status (*write)(vyre_stage *stage, const char *folder,
                                               const void *user, vyre_diag *diag),
                          const void *user) {
    vyre_diag diag = {0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        vyre_fail_errno(&diag, folder, "make", errno);
        return cli_report(cli, &diag);
    }
    vyre_stage stage;
    vyre_stage_init(&stage, NULL);
    vyre_status status = write(&stage, folder, user, &diag);
    if (status == VYRE_OK) {
        status = vyre_stage_commit(&stage, &diag);
    }
    vyre_stage_finish(&stage);
    return status == VYRE_OK ? CLI_OK : cli_report(cli, &diag);
}
