/* A cache of compiled objects on disk: bytes under a key of bytes, in a folder that the caller
 * names. Processes and threads may use one folder at once. Whatever is wrong with an entry, it is
 * just not there: the worst that can happen is that something is compiled again.
 *
 * The folder must be ours alone (owner, 0700), since what is in it will be executed. */
#ifndef VYRE_SRC_KIT_CACHE_H
#define VYRE_SRC_KIT_CACHE_H

#include "vyre/base.h"

typedef struct vyre_cache vyre_cache;

typedef struct vyre_cache_options {
    uint64_t most_bytes; /* of all entries together, about; 0: 256 MiB */
    bool must_exist;     /* the folder is not made */
} vyre_cache_options;

/* Makes the folder where it is not there, with those above it. options may be NULL.
 *   VYRE_NOT_FOUND         must_exist, and it is not there
 *   VYRE_IO                it can't be made or opened, is a link, or is not ours alone; the diag
 *                          says what to do */
vyre_status vyre_cache_open(const char *folder, const vyre_cache_options *options,
                            const vyre_allocator *allocator, vyre_cache **out_cache,
                            vyre_diag *diag);
/* Nobody may use it meanwhile. NULL is fine. */
void vyre_cache_close(vyre_cache *cache);

/* Looks for what was put under exactly this key. True: *out_bytes has it, to be given back by
 * vyre_cache_release. False: it is not there, or there is no memory to read it. */
typedef struct vyre_cached {
    const void *bytes;
    size_t size;
    void *block; /* of the cache */
    size_t block_size;
} vyre_cached;
bool vyre_cache_get(vyre_cache *cache, const void *key, size_t key_size, vyre_cached *out_bytes);
void vyre_cache_release(vyre_cache *cache, vyre_cached *bytes);

/* Keeps the bytes under the key, in place of what is there; the oldest entries go when there are
 * too many. An entry of more than half of all is not kept (VYRE_LIMIT); VYRE_IO: the disk is full,
 * the folder is gone. */
vyre_status vyre_cache_put(vyre_cache *cache, const void *key, size_t key_size, const void *bytes,
                           size_t size, vyre_diag *diag);

typedef struct vyre_cache_stats {
    uint64_t hits, misses; /* since it was opened */
    uint64_t unfit;        /* of the misses: there was an entry, damaged or foreign, and it went */
    uint64_t stored;
    uint64_t entries, bytes; /* in the folder now */
    uint64_t most_bytes;
} vyre_cache_stats;
/* Looks through the folder. */
vyre_cache_stats vyre_cache_snapshot(vyre_cache *cache);

/* Removes all entries, and nothing else that may be in the folder; tells what went. */
void vyre_cache_clear(vyre_cache *cache, uint64_t *out_entries, uint64_t *out_bytes);

#endif
