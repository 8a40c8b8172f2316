/* Where a device keeps compiled code from process to process: a folder, and its cache as soon as
 * there is one. A folder that can't be used is no error; a missing one is made when there is
 * something to keep. */
#ifndef VYRE_SRC_KIT_STORE_H
#define VYRE_SRC_KIT_STORE_H

#include <pthread.h>

#include "kit/cache.h"

typedef struct vyre_store {
    vyre_allocator allocator;
    char *folder;         /* NULL: none, or one that can't be used */
    pthread_mutex_t lock; /* of what follows */
    vyre_cache *cache;    /* NULL: the folder is not there yet */
} vyre_store;

/* `folder` may be NULL: nothing is kept. Out of memory, there is nothing to be finished. */
vyre_status vyre_store_init(vyre_store *store, const char *folder, const vyre_allocator *allocator,
                            vyre_diag *diag);
void vyre_store_finish(vyre_store *store);
/* As the functions of the cache; there is nothing without one. That something can't be kept is
 * nobody's fault. From any thread. */
bool vyre_store_get(vyre_store *store, const void *key, size_t key_size, vyre_cached *out_bytes);
void vyre_store_release(vyre_store *store, vyre_cached *bytes);
void vyre_store_put(vyre_store *store, const void *key, size_t key_size, const void *bytes,
                    size_t size);

#endif
