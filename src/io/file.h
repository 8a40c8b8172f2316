/* Files: read one whole, and write several so that either all of them appear or none. */
#ifndef VYRE_SRC_IO_FILE_H
#define VYRE_SRC_IO_FILE_H

#include "base/alloc.h"
#include "base/text.h"
#include "vyre/base.h"

/* The contents of a file. data[size] is 0 and not part of it. */
typedef struct vyre_bytes {
    vyre_allocator allocator;
    unsigned char *data;
    size_t size;
    size_t capacity;
} vyre_bytes;

void vyre_bytes_finish(vyre_bytes *bytes);

#define VYRE_FILE_MAX                                                                              \
    (UINT64_C(64) << 30) /* larger files are refused unless the caller says more */

/* The path as messages show it: "<stdin>" for "-". */
const char *vyre_file_shown(const char *path);

/* Reads a regular file, or standard input for "-". max_bytes 0 means VYRE_FILE_MAX. Memory grows
 * with what has been read from a pipe, never with what was promised. */
vyre_status vyre_file_read(const char *path, uint64_t max_bytes, const vyre_allocator *a,
                           vyre_bytes *out, vyre_diag *diag);

/* Outputs on their way. Each is written under a temporary name in the directory where it belongs;
 * commit renames them all, finish removes what was not committed. "-" (standard output) and things
 * that are not regular files (/dev/null, a pipe) are held in memory and written by commit, before
 * the first rename. Through a symbolic link the file it leads to is replaced. */
typedef struct vyre_stage_entry {
    char *path; /* final name, links resolved; NULL for standard output */
    char *temporary;
    int fd;
    bool direct;
    vyre_text held; /* contents of a direct output */
} vyre_stage_entry;

typedef struct vyre_stage {
    vyre_allocator allocator;
    VYRE_VEC(vyre_stage_entry) entries;
} vyre_stage;

void vyre_stage_init(vyre_stage *stage, const vyre_allocator *a);
/* Starts the next output; writes go to it until another one is opened. The same file twice is
 * refused. */
vyre_status vyre_stage_open(vyre_stage *stage, const char *path, vyre_diag *diag);
vyre_status vyre_stage_write(vyre_stage *stage, const void *data, size_t size, vyre_diag *diag);
/* After VYRE_OK all outputs are in place and the stage is empty. After a failure nothing was
 * renamed, except when a directory was changed by others between open and commit. */
vyre_status vyre_stage_commit(vyre_stage *stage, vyre_diag *diag);
void vyre_stage_finish(vyre_stage *stage);

/* A failure of the operating system as a diag: message, file, errno. */
vyre_status vyre_fail_errno(vyre_diag *diag, const char *path, const char *doing, int error);

#endif
