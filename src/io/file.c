/* Whole-file reading and all-or-nothing writing.
 *
 * Reading: one growing buffer for files and pipes; a regular file's size is only a hint for the
 * first allocation (it lies for /proc and for files that grow). Writing: a temporary file beside
 * the target is renamed over it, which POSIX makes atomic. Nothing is synced to the disk: after a
 * power failure a file may be old, empty or new. A signal that interrupts a call that waits ends
 * the whole as VYRE_CANCELLED: who wants to go on after one installs its handler with SA_RESTART.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

enum { FIRST_READ = 1 << 16, NAME_ATTEMPTS = 1000 };

void vyre_bytes_finish(vyre_bytes *bytes) {
    vyre_free(&bytes->allocator, bytes->data, bytes->capacity, 1);
    *bytes = (vyre_bytes){.allocator = bytes->allocator};
}

static const char *fix_for(int error) {
    switch (error) {
    case ENOENT: return "check the spelling of the path";
    case EACCES:
    case EPERM: return "check the permissions of the file and its directory";
    case EISDIR: return "give the name of a file";
    case ENOTDIR: return "name folders where the path has a file";
    case ENOSPC:
    case EDQUOT: return "make room on that file system";
    case EINTR: return "start it again";
    case EROFS: return "choose a directory that can be written";
    case ENAMETOOLONG: return "use a shorter name";
    default: return "check the path and its file system";
    }
}

const char *vyre_file_shown(const char *path) {
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static vyre_place place_of(const char *path) {
    return (vyre_place){.file = vyre_file_shown(path)};
}

vyre_status vyre_fail_errno(vyre_diag *diag, const char *path, const char *doing, int error) {
    char text[128];
    const char *why = strerror_r(error, text, sizeof text);
    vyre_status status = error == ENOMEM  ? VYRE_OUT_OF_MEMORY
                         : error == EINTR ? VYRE_CANCELLED
                                          : VYRE_IO;
    vyre_fail_at(diag, status, "", place_of(path), fix_for(error), "can't %s: %s", doing, why);
    if (diag) {
        diag->native = error;
    }
    return status;
}

static vyre_status too_large(const char *path, uint64_t max_bytes, vyre_diag *diag) {
    return vyre_fail_at(diag, VYRE_LIMIT, "", place_of(path), "use a smaller file",
                        "larger than %llu bytes", (unsigned long long)max_bytes);
}

/* Makes room for one more byte and the NUL; at most one byte beyond the limit. */
static bool grow(vyre_bytes *bytes, uint64_t max_bytes) {
    size_t want = bytes->capacity ? bytes->capacity * 2 : FIRST_READ;
    if (want < bytes->capacity || want > max_bytes + 2) {
        want = (size_t)max_bytes + 2;
    }
    unsigned char *grown =
        bytes->allocator.resize(bytes->allocator.user, bytes->data, bytes->capacity, want);
    if (!grown) {
        return false;
    }
    bytes->data = grown;
    bytes->capacity = want;
    return true;
}

static vyre_status read_all(int fd, const char *path, uint64_t max_bytes, vyre_bytes *bytes,
                            vyre_diag *diag) {
    for (;;) {
        if (bytes->capacity - bytes->size < 2 && !grow(bytes, max_bytes)) {
            return vyre_fail_memory(diag, "the contents of a file");
        }
        size_t room = bytes->capacity - bytes->size - 1;
        ssize_t got = read(fd, bytes->data + bytes->size, room < INT_MAX ? room : INT_MAX);
        if (got == 0) {
            bytes->data[bytes->size] = 0;
            return VYRE_OK;
        }
        if (got > 0) {
            bytes->size += (size_t)got;
        } else {
            return vyre_fail_errno(diag, path, "read", errno);
        }
        if (bytes->size > max_bytes) {
            return too_large(path, max_bytes, diag);
        }
    }
}

static vyre_status open_regular(const char *path, uint64_t max_bytes, vyre_bytes *bytes,
                                int *out_fd, vyre_diag *diag) {
    /* Not blocking, so that a pipe without a writer is refused below and not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return vyre_fail_errno(diag, path, "open", errno);
    }
    *out_fd = fd;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return vyre_fail_errno(diag, path, "look at", errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return vyre_fail_at(
            diag, VYRE_IO, "", place_of(path),
            S_ISDIR(info.st_mode) ? "give the name of a file" : "give \"-\" to read from a pipe",
            "%s", S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
    }
    if ((uint64_t)info.st_size > max_bytes) {
        return too_large(path, max_bytes, diag);
    }
    bytes->data = vyre_alloc(&bytes->allocator, (size_t)info.st_size + 2, 1);
    if (!bytes->data) {
        return vyre_fail_memory(diag, "the contents of a file");
    }
    bytes->capacity = (size_t)info.st_size + 2;
    return VYRE_OK;
}

vyre_status vyre_file_read(const char *path, uint64_t max_bytes, const vyre_allocator *a,
                           vyre_bytes *out, vyre_diag *diag) {
    if (max_bytes == 0 || max_bytes > SIZE_MAX / 4) {
        max_bytes = VYRE_FILE_MAX;
    }
    vyre_bytes bytes = {.allocator = vyre_allocator_or_system(a)};
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : -1;
    vyre_status status = VYRE_OK;
    if (!is_stdin) {
        status = open_regular(path, max_bytes, &bytes, &fd, diag);
    }
    if (status == VYRE_OK) {
        status = read_all(fd, path, max_bytes, &bytes, diag);
    }
    if (!is_stdin && fd >= 0) {
        close(fd);
    }
    if (status != VYRE_OK) {
        vyre_bytes_finish(&bytes);
        return status;
    }
    *out = bytes;
    return VYRE_OK;
}

void vyre_stage_init(vyre_stage *stage, const vyre_allocator *a) {
    *stage = (vyre_stage){.allocator = vyre_allocator_or_system(a)};
}

static char *copy_text(const vyre_allocator *a, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = vyre_alloc(a, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void free_text(const vyre_allocator *a, char *text) {
    if (text) {
        vyre_free(a, text, strlen(text) + 1, 1);
    }
}

static void drop_entry(vyre_stage *stage, vyre_stage_entry *entry) {
    if (entry->fd >= 0) {
        close(entry->fd);
    }
    if (entry->temporary != NULL) {
        unlink(entry->temporary);
    }
    free_text(&stage->allocator, entry->path);
    free_text(&stage->allocator, entry->temporary);
    vyre_text_finish(&entry->held);
}

void vyre_stage_finish(vyre_stage *stage) {
    for (uint32_t i = 0; i < stage->entries.count; i++) {
        drop_entry(stage, &stage->entries.data[i]);
    }
    vyre_vec_free(&stage->allocator, &stage->entries);
}

/* The full name of a file that is not there yet. */
static vyre_status resolve_new(const char *path, char final[PATH_MAX], vyre_diag *diag) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = (size_t)(base - path), base_length = strlen(base);
    char directory[PATH_MAX];
    if (length >= sizeof directory) {
        return vyre_fail_errno(diag, path, "write", ENAMETOOLONG);
    }
    memcpy(directory, path, length);
    memcpy(directory + length, "", 1);
    if (base_length == 0 || !realpath(length ? directory : ".", final)) {
        return vyre_fail_errno(diag, path, "write", base_length ? errno : ENOENT);
    }
    length = strlen(final);
    if (length + base_length + 2 > PATH_MAX) {
        return vyre_fail_errno(diag, path, "write", ENAMETOOLONG);
    }
    final[length] = '/';
    memcpy(final + length + 1, base, base_length + 1);
    return VYRE_OK;
}

/* The name that will be replaced, the permissions it has now (0: not there), and whether renaming
 * would be the wrong way. */
static vyre_status resolve(const char *path, char final[PATH_MAX], mode_t *mode, bool *direct,
                           vyre_diag *diag) {
    struct stat info;
    *mode = 0;
    if (stat(path, &info) != 0) {
        return errno == ENOENT ? resolve_new(path, final, diag)
                               : vyre_fail_errno(diag, path, "write", errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return vyre_fail_errno(diag, path, "write", EISDIR);
    }
    if (access(path, W_OK) != 0 || !realpath(path, final)) {
        return vyre_fail_errno(diag, path, "write", errno);
    }
    *mode = info.st_mode & 07777;
    *direct = !S_ISREG(info.st_mode);
    return VYRE_OK;
}

/* A name in the directory of `path` that nobody uses, and an open file under it. */
static vyre_status make_temporary(vyre_stage *stage, vyre_stage_entry *entry, mode_t mode,
                                  vyre_diag *diag) {
    int directory = (int)(strrchr(entry->path, '/') - entry->path) + 1;
    char name[PATH_MAX + 64];
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        snprintf(name, sizeof name, "%.*s.vyre-%ld-%d.tmp", directory, entry->path, (long)getpid(),
                 attempt);
        entry->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (entry->fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    if (entry->fd < 0) {
        return vyre_fail_errno(diag, entry->path, "create a temporary file beside it", errno);
    }
    entry->temporary = copy_text(&stage->allocator, name);
    if (!entry->temporary) {
        unlink(name);
        return vyre_fail_memory(diag, "an output file");
    }
    if (mode && fchmod(entry->fd, mode) != 0) {
        return vyre_fail_errno(diag, entry->path, "keep the permissions", errno);
    }
    return VYRE_OK;
}

static vyre_status open_entry(vyre_stage *stage, vyre_stage_entry *entry, const char *path,
                              vyre_diag *diag) {
    vyre_text_init(&entry->held, &stage->allocator);
    if (strcmp(path, "-") == 0) {
        entry->direct = true;
        return VYRE_OK;
    }
    char final[PATH_MAX];
    mode_t mode;
    vyre_status status = resolve(path, final, &mode, &entry->direct, diag);
    if (status != VYRE_OK) {
        return status;
    }
    for (uint32_t i = 0; i + 1 < stage->entries.count; i++) {
        const char *other = stage->entries.data[i].path;
        if (other && !entry->direct && strcmp(other, final) == 0) {
            return vyre_fail_at(diag, VYRE_INVALID_ARGUMENT, "", (vyre_place){.file = path},
                                "give each output a file of its own",
                                "two outputs go to the same file");
        }
    }
    entry->path = copy_text(&stage->allocator, final);
    if (!entry->path) {
        return vyre_fail_memory(diag, "an output file");
    }
    return entry->direct ? VYRE_OK : make_temporary(stage, entry, mode, diag);
}

vyre_status vyre_stage_open(vyre_stage *stage, const char *path, vyre_diag *diag) {
    if (!vyre_vec_push(&stage->allocator, &stage->entries, (vyre_stage_entry){.fd = -1})) {
        return vyre_fail_memory(diag, "an output file");
    }
    vyre_stage_entry *entry = &stage->entries.data[stage->entries.count - 1];
    vyre_status status = open_entry(stage, entry, path, diag);
    if (status != VYRE_OK) {
        drop_entry(stage, entry);
        stage->entries.count--;
    }
    return status;
}

static vyre_status write_all(int fd, const char *path, const void *data, size_t size,
                             vyre_diag *diag) {
    const char *at = data;
    while (size > 0) {
        ssize_t put = write(fd, at, size < INT_MAX ? size : INT_MAX);
        if (put >= 0) {
            at += put;
            size -= (size_t)put;
        } else {
            return vyre_fail_errno(diag, path ? path : "<stdout>", "write", errno);
        }
    }
    return VYRE_OK;
}

vyre_status vyre_stage_write(vyre_stage *stage, const void *data, size_t size, vyre_diag *diag) {
    if (stage->entries.count == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "open an output first", "no output is open");
    }
    vyre_stage_entry *entry = &stage->entries.data[stage->entries.count - 1];
    if (!entry->direct) {
        return write_all(entry->fd, entry->path, data, size, diag);
    }
    vyre_text_append(&entry->held, data, size);
    return entry->held.failed ? vyre_fail_memory(diag, "an output") : VYRE_OK;
}

static vyre_status commit_direct(const vyre_stage_entry *entry, vyre_diag *diag) {
    int fd = entry->path ? open(entry->path, O_WRONLY | O_CLOEXEC) : STDOUT_FILENO;
    if (fd < 0) {
        return vyre_fail_errno(diag, entry->path, "open", errno);
    }
    vyre_status status = write_all(fd, entry->path, entry->held.data, entry->held.length, diag);
    if (entry->path) {
        close(fd);
    }
    return status;
}

/* Closing reports writes that a remote file system had put off. */
static vyre_status close_entry(vyre_stage_entry *entry, vyre_diag *diag) {
    int fd = entry->fd;
    entry->fd = -1;
    return fd >= 0 && close(fd) != 0 ? vyre_fail_errno(diag, entry->path, "write", errno) : VYRE_OK;
}

static vyre_status rename_entry(const vyre_allocator *a, vyre_stage_entry *entry, vyre_diag *diag) {
    if (rename(entry->temporary, entry->path) != 0) {
        return vyre_fail_errno(diag, entry->path, "put the finished file in place", errno);
    }
    free_text(a, entry->temporary);
    entry->temporary = NULL;
    return VYRE_OK;
}

vyre_status vyre_stage_commit(vyre_stage *stage, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < stage->entries.count && status == VYRE_OK; i++) {
        status = close_entry(&stage->entries.data[i], diag);
    }
    for (uint32_t i = 0; i < stage->entries.count && status == VYRE_OK; i++) {
        if (stage->entries.data[i].direct) {
            status = commit_direct(&stage->entries.data[i], diag);
        }
    }
    for (uint32_t i = 0; i < stage->entries.count && status == VYRE_OK; i++) {
        if (!stage->entries.data[i].direct) {
            status = rename_entry(&stage->allocator, &stage->entries.data[i], diag);
        }
    }
    if (status == VYRE_OK) {
        vyre_stage_finish(stage);
    }
    return status;
}
