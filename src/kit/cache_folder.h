/* The folder of a cache: whose it is, and what lies in it. */
#ifndef VYRE_SRC_KIT_CACHE_FOLDER_H
#define VYRE_SRC_KIT_CACHE_FOLDER_H

#include <sys/stat.h>

#include "vyre/base.h"

/* An entry is called by 16 hexadecimal digits and this, a file on its way in begins with ".tmp-".
 */
#define VYRE_CACHE_SUFFIX    ".vyre"
#define VYRE_CACHE_TEMPORARY ".tmp-"
enum { VYRE_CACHE_NAME = 64 };

/* A descriptor of the folder, made where it is missing unless must_exist. */
vyre_status vyre_cache_folder_open(const char *path, bool must_exist, int *out_fd, vyre_diag *diag);
/* Whether the file is one that a cache of this user wrote. */
bool vyre_cache_is_ours(const struct stat *file);

typedef struct vyre_cache_total {
    uint64_t entries, bytes;
} vyre_cache_total;
/* Counts the entries and removes, oldest first, so many that at most `keep` bytes are left. What a
 * crash has left behind goes too once it is an hour old; with `keep` 0 at once. Gives what was
 * there before and what went. */
void vyre_cache_folder_trim(int fd, uint64_t keep, const vyre_allocator *allocator,
                            vyre_cache_total *out_before, vyre_cache_total *out_gone);

#endif
