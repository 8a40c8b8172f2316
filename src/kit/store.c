/* The cache is opened once, by whoever needs it first; then it stays, so that it is used without
 * the lock. */
#include "kit/store.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

vyre_status vyre_store_init(vyre_store *store, const char *folder, const vyre_allocator *allocator,
                            vyre_diag *diag) {
    const vyre_cache_options existing = {.must_exist = true};
    *store = (vyre_store){.allocator = *allocator};
    (void)pthread_mutex_init(&store->lock, NULL);
    const vyre_status status =
        folder ? vyre_cache_open(folder, &existing, allocator, &store->cache, NULL) : VYRE_IO;
    if (status == VYRE_OK || status == VYRE_NOT_FOUND) {
        const size_t size = strlen(folder) + 1;
        store->folder = vyre_alloc(allocator, size, 1);
        if (store->folder) {
            memcpy(store->folder, folder, size);
        }
    }
    if (!store->folder && status != VYRE_IO) {
        vyre_store_finish(store);
        return vyre_fail_memory(diag, "a device");
    }
    return VYRE_OK;
}

void vyre_store_finish(vyre_store *store) {
    vyre_cache_close(store->cache);
    vyre_free(&store->allocator, store->folder, store->folder ? strlen(store->folder) + 1 : 0, 1);
    (void)pthread_mutex_destroy(&store->lock);
}

/* The cache, with `makes` also where its folder must be made; NULL: there is none. */
static vyre_cache *need_cache(vyre_store *store, bool makes) {
    (void)pthread_mutex_lock(&store->lock);
    if (store->folder && !store->cache && makes) {
        (void)vyre_cache_open(store->folder, NULL, &store->allocator, &store->cache, NULL);
    }
    vyre_cache *cache = store->cache;
    (void)pthread_mutex_unlock(&store->lock);
    return cache;
}

bool vyre_store_get(vyre_store *store, const void *key, size_t key_size, vyre_cached *out_bytes) {
    vyre_cache *cache = need_cache(store, false);
    return cache && vyre_cache_get(cache, key, key_size, out_bytes);
}

void vyre_store_release(vyre_store *store, vyre_cached *bytes) {
    vyre_cache_release(need_cache(store, false), bytes);
}

void vyre_store_put(vyre_store *store, const void *key, size_t key_size, const void *bytes,
                    size_t size) {
    vyre_cache *cache = need_cache(store, true);
    if (cache) {
        (void)vyre_cache_put(cache, key, key_size, bytes, size, NULL);
    }
}
