/* The folder of a cache. It is opened without following a link and judged by its descriptor, and
 * everything in it is named relative to that, so nobody can put another folder in its place between
 * the check and the use. Trimming lists all entries and sorts them by the time of their last use;
 * several processes may do so at once: what another one has removed is gone for both. */
#include "kit/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"

static vyre_status fail_folder(vyre_diag *diag, const char *fix, const char *path,
                               const char *what) {
    int error = errno;
    vyre_status status =
        vyre_fail(diag, VYRE_IO, fix, "the cache folder can't be used: %s: %s", what, path);
    if (diag) {
        diag->native = error;
    }
    return status;
}

/* Makes the folders above the last one and it; false: the path is too long. Whether it worked is
 * seen when it is opened. */
static bool make_folders(const char *path) {
    char above[4096];
    size_t length = strlen(path);
    if (length >= sizeof above) {
        return false;
    }
    memcpy(above, path, length + 1);
    for (char *slash = strchr(above + (length > 0), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(above, 0700);
        *slash = '/';
    }
    mkdir(above, 0700);
    return true;
}

vyre_status vyre_cache_folder_open(const char *path, bool must_exist, int *out_fd,
                                   vyre_diag *diag) {
    if (!must_exist && !make_folders(path)) {
        return fail_folder(diag, NULL, path, "its name is too long");
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && must_exist) {
        return vyre_fail(diag, VYRE_NOT_FOUND, NULL, "there is no cache folder \"%s\"", path);
    }
    if (fd < 0) {
        bool is_no_folder = errno == ENOTDIR || errno == ELOOP;
        return fail_folder(diag, "name another folder", path,
                           is_no_folder ? "it is a link or a file" : strerror(errno));
    }
    struct stat folder;
    const char *wrong = NULL;
    if (fstat(fd, &folder) != 0) {
        wrong = "it can't be looked at";
    } else if (folder.st_uid != geteuid()) {
        wrong = "it belongs to somebody else";
    } else if (folder.st_mode & 077u) {
        wrong = "others may look or write into it";
    }
    if (wrong) {
        vyre_status status = fail_folder(diag, "chmod 700 it if it is yours", path, wrong);
        close(fd);
        return status;
    }
    *out_fd = fd;
    return VYRE_OK;
}

bool vyre_cache_is_ours(const struct stat *file) {
    return S_ISREG(file->st_mode) && file->st_uid == geteuid() && (file->st_mode & 022) == 0;
}

typedef struct found {
    char name[VYRE_CACHE_NAME];
    uint64_t size;
    struct timespec used;
} found;

typedef struct listing {
    vyre_allocator allocator;
    VYRE_VEC(found) entries;
    uint64_t bytes;
} listing;

static bool is_temporary(const char *name) {
    return strncmp(name, VYRE_CACHE_TEMPORARY, strlen(VYRE_CACHE_TEMPORARY)) == 0;
}

static bool is_entry(const char *name) {
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, VYRE_CACHE_SUFFIX) == 0;
}

static void remove_forgotten(int fd, const char *name, bool at_once) {
    struct stat file;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
        (at_once || file.st_mtim.tv_sec < now.tv_sec - 3600)) {
        unlinkat(fd, name, 0);
    }
}

static void note(listing *l, int fd, const char *name) {
    struct stat file;
    if (strlen(name) < VYRE_CACHE_NAME && fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0) {
        found f = {.size = (uint64_t)file.st_size, .used = file.st_mtim};
        memcpy(f.name, name, strlen(name) + 1);
        /* Without memory for all of them some stay longer. */
        (void)vyre_vec_push(&l->allocator, &l->entries, f);
        l->bytes += f.size;
    }
}

/* By the system's call, since readdir() takes memory that is not the caller's. */
static void list(listing *l, int fd, bool remove_temporary) {
    alignas(8) char buffer[16384];
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = 0;
    while (own >= 0 && (got = syscall(SYS_getdents64, own, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buffer + at);
            if (is_temporary(entry->d_name)) {
                remove_forgotten(fd, entry->d_name, remove_temporary);
            } else if (is_entry(entry->d_name)) {
                note(l, fd, entry->d_name);
            }
            at += entry->d_reclen;
        }
    }
    if (own >= 0) {
        close(own);
    }
}

static int oldest_first(const void *a, const void *b) {
    const found *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) {
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    }
    if (x->used.tv_nsec != y->used.tv_nsec) {
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

void vyre_cache_folder_trim(int fd, uint64_t keep, const vyre_allocator *allocator,
                            vyre_cache_total *out_before, vyre_cache_total *out_gone) {
    listing l = {.allocator = *allocator};
    list(&l, fd, keep == 0);
    *out_before = (vyre_cache_total){.entries = l.entries.count, .bytes = l.bytes};
    *out_gone = (vyre_cache_total){0};
    if (l.bytes > keep) {
        qsort(l.entries.data, l.entries.count, sizeof *l.entries.data, oldest_first);
    }
    for (uint32_t i = 0; i < l.entries.count && (keep == 0 || l.bytes - out_gone->bytes > keep);
         i++) {
        const found *f = &l.entries.data[i];
        if (unlinkat(fd, f->name, 0) == 0 || errno == ENOENT) {
            out_gone->entries++;
            out_gone->bytes += f->size;
        }
    }
    vyre_vec_free(&l.allocator, &l.entries);
}
