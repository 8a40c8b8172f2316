/* Entries of the cache. One is a file: a header, the key, the bytes; called by the hash of the key.
 * It is written under a temporary name and renamed, so that nobody sees half of one, and read whole
 * into memory, so that what is checked is what is used. It counts only if it is a regular file of
 * ours, exactly as long as its header says, of this format, with the right sum and exactly this
 * key; if not, it is removed, except for one with another key, which is in its right. Reading one
 * marks it as used.
 *
 * There is no lock: two that put the same key write the same, the later one stays; who reads while
 * another one removes has the file open. The total is known roughly, by the last look through the
 * folder and what was put since; a look is taken when that becomes too much, and now and then,
 * since other processes put too. No fsync: after a crash of the machine the sum decides. */
#include "kit/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/hash.h"
#include "kit/cache_folder.h"

enum { FORMAT = 1, LOOK_EVERY = 32, NAME_TRIES = 100 };
#define DEFAULT_BYTES (UINT64_C(256) << 20)
static const char magic[8] = {'v', 'y', 'r', 'e', 'o', 'b', 'j', '\n'};

typedef struct header {
    char magic[8];
    uint32_t format;
    uint32_t reserved; /* 0 */
    uint64_t key_size;
    uint64_t size;
    uint64_t sum; /* of all of the above, key and bytes */
} header;

struct vyre_cache {
    vyre_allocator allocator;
    int fd;
    uint64_t most_bytes;
    _Atomic uint64_t hits, misses, unfit, stored;
    _Atomic uint64_t known_bytes; /* in the folder; UINT64_MAX: nobody has looked yet */
    _Atomic uint64_t temporaries;
};

static uint64_t sum_of(const header *h, const void *key, const void *bytes) {
    uint64_t sum = vyre_hash_bytes(h, offsetof(header, sum));
    sum = vyre_hash_more(sum, key, h->key_size);
    return vyre_hash_more(sum, bytes, h->size);
}

static void name_of(const void *key, size_t key_size, char out[VYRE_CACHE_NAME]) {
    snprintf(out, VYRE_CACHE_NAME, "%016llx" VYRE_CACHE_SUFFIX,
             (unsigned long long)vyre_hash_bytes(key, key_size));
}

vyre_status vyre_cache_open(const char *folder, const vyre_cache_options *options,
                            const vyre_allocator *allocator, vyre_cache **out_cache,
                            vyre_diag *diag) {
    int fd;
    vyre_status status = vyre_cache_folder_open(folder, options && options->must_exist, &fd, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_cache *cache = vyre_alloc_zeroed(&a, 1, sizeof *cache);
    if (!cache) {
        close(fd);
        return vyre_fail_memory(diag, "a cache");
    }
    cache->allocator = a;
    cache->fd = fd;
    cache->most_bytes = options && options->most_bytes ? options->most_bytes : DEFAULT_BYTES;
    cache->known_bytes = UINT64_MAX;
    *out_cache = cache;
    return VYRE_OK;
}

void vyre_cache_close(vyre_cache *cache) {
    if (cache) {
        close(cache->fd);
        const vyre_allocator a = cache->allocator;
        vyre_free(&a, cache, 1, sizeof *cache);
    }
}

static bool read_all(int fd, void *out, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)out + done, size - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

typedef enum verdict { FITS, OF_ANOTHER_KEY, UNFIT } verdict;

/* Judges the file's contents, which are in `block`. */
static verdict judge(const unsigned char *block, size_t block_size, const void *key,
                     size_t key_size) {
    header h;
    uint64_t whole;
    if (block_size < sizeof h) {
        return UNFIT;
    }
    memcpy(&h, block, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.format != (uint32_t)FORMAT || h.reserved ||
        !vyre_add_u64(h.key_size, h.size, &whole) || !vyre_add_u64(whole, sizeof h, &whole) ||
        whole != block_size) {
        return UNFIT;
    }
    const unsigned char *stored_key = block + sizeof h;
    if (sum_of(&h, stored_key, stored_key + h.key_size) != h.sum) {
        return UNFIT;
    }
    bool is_same = h.key_size == key_size && memcmp(stored_key, key, key_size) == 0;
    return is_same ? FITS : OF_ANOTHER_KEY;
}

/* Reads the open file; *out_verdict is UNFIT where that can't be. False: no memory. */
static bool read_entry(vyre_cache *cache, int fd, const void *key, size_t key_size,
                       vyre_cached *out, verdict *out_verdict) {
    struct stat file;
    *out_verdict = UNFIT;
    if (fstat(fd, &file) != 0 || !vyre_cache_is_ours(&file) || file.st_size <= 0 ||
        (uint64_t)file.st_size > cache->most_bytes) {
        return true;
    }
    size_t size = (size_t)file.st_size;
    unsigned char *block = vyre_alloc(&cache->allocator, size, 1);
    if (!block) {
        return false;
    }
    *out_verdict = read_all(fd, block, size) ? judge(block, size, key, key_size) : UNFIT;
    if (*out_verdict != FITS) {
        vyre_free(&cache->allocator, block, size, 1);
        return true;
    }
    *out = (vyre_cached){.bytes = block + sizeof(header) + key_size,
                         .size = size - sizeof(header) - key_size,
                         .block = block,
                         .block_size = size};
    return true;
}

bool vyre_cache_get(vyre_cache *cache, const void *key, size_t key_size, vyre_cached *out_bytes) {
    char name[VYRE_CACHE_NAME];
    name_of(key, key_size, name);
    /* O_NONBLOCK: somebody may have put a pipe there. */
    int fd = openat(cache->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    verdict v = UNFIT;
    bool exists = fd >= 0 || errno != ENOENT;
    bool has_memory = fd < 0 || read_entry(cache, fd, key, key_size, out_bytes, &v);
    if (fd >= 0 && v == FITS) {
        futimens(fd, NULL);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (exists && has_memory && v == UNFIT) {
        unlinkat(cache->fd, name, 0);
        cache->unfit++;
    }
    bool hit = fd >= 0 && has_memory && v == FITS;
    atomic_fetch_add(hit ? &cache->hits : &cache->misses, 1);
    return hit;
}

void vyre_cache_release(vyre_cache *cache, vyre_cached *bytes) {
    vyre_free(&cache->allocator, bytes->block, bytes->block_size, 1);
    *bytes = (vyre_cached){0};
}

static bool write_all(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

/* A new file with a name that nobody has; -1: none can be made. */
static int make_temporary(vyre_cache *cache, char out_name[VYRE_CACHE_NAME]) {
    for (int i = 0; i < NAME_TRIES; i++) {
        snprintf(out_name, VYRE_CACHE_NAME, VYRE_CACHE_TEMPORARY "%lx-%llx-%llx", (long)getpid(),
                 (unsigned long long)atomic_fetch_add(&cache->temporaries, 1),
                 (unsigned long long)vyre_clock_now());
        int fd =
            openat(cache->fd, out_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Makes room when there is, or may be, too much. */
static void note_stored(vyre_cache *cache, uint64_t size) {
    uint64_t count = atomic_fetch_add(&cache->stored, 1);
    uint64_t known = atomic_load(&cache->known_bytes);
    if (known != UINT64_MAX && known + size <= cache->most_bytes && count % LOOK_EVERY) {
        atomic_fetch_add(&cache->known_bytes, size);
        return;
    }
    /* Some more room than needed, so that not every put has to look. */
    vyre_cache_total before, gone;
    vyre_cache_folder_trim(cache->fd, cache->most_bytes, &cache->allocator, &before, &gone);
    if (gone.entries) {
        vyre_cache_folder_trim(cache->fd, cache->most_bytes - cache->most_bytes / 8,
                               &cache->allocator, &before, &gone);
    }
    atomic_store(&cache->known_bytes, before.bytes - gone.bytes);
}

vyre_status vyre_cache_put(vyre_cache *cache, const void *key, size_t key_size, const void *bytes,
                           size_t size, vyre_diag *diag) {
    header h = {.format = FORMAT, .key_size = key_size, .size = size};
    uint64_t whole;
    if (!vyre_add_u64(key_size, size, &whole) || !vyre_add_u64(whole, sizeof h, &whole) ||
        whole > cache->most_bytes / 2) {
        return vyre_fail(diag, VYRE_LIMIT, NULL, "%llu bytes are too many for the cache",
                         (unsigned long long)size);
    }
    memcpy(h.magic, magic, sizeof magic);
    h.sum = sum_of(&h, key, bytes);
    char name[VYRE_CACHE_NAME], temporary[VYRE_CACHE_NAME];
    name_of(key, key_size, name);
    int fd = make_temporary(cache, temporary);
    bool written = fd >= 0 && write_all(fd, &h, sizeof h) && write_all(fd, key, key_size) &&
                   write_all(fd, bytes, size);
    int error = errno;
    written = fd >= 0 && close(fd) == 0 && written;
    if (!written || renameat(cache->fd, temporary, cache->fd, name) != 0) {
        error = written ? errno : error;
        if (fd >= 0) {
            unlinkat(cache->fd, temporary, 0);
        }
        vyre_status status =
            vyre_fail(diag, VYRE_IO, NULL, "nothing can be written into the cache");
        if (diag) {
            diag->native = error;
        }
        return status;
    }
    note_stored(cache, whole);
    return VYRE_OK;
}

vyre_cache_stats vyre_cache_snapshot(vyre_cache *cache) {
    vyre_cache_total all, gone;
    vyre_cache_folder_trim(cache->fd, UINT64_MAX, &cache->allocator, &all, &gone);
    return (vyre_cache_stats){.hits = cache->hits,
                              .misses = cache->misses,
                              .unfit = cache->unfit,
                              .stored = cache->stored,
                              .entries = all.entries,
                              .bytes = all.bytes,
                              .most_bytes = cache->most_bytes};
}

void vyre_cache_clear(vyre_cache *cache, uint64_t *out_entries, uint64_t *out_bytes) {
    vyre_cache_total before, gone;
    vyre_cache_folder_trim(cache->fd, 0, &cache->allocator, &before, &gone);
    cache->known_bytes = UINT64_MAX;
    *out_entries = gone.entries;
    *out_bytes = gone.bytes;
}
