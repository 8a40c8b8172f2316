/* A list of pipelines in the order of their use, guarded by the device's lock. Who takes one out
 * has it alone, so that two threads with the same program run side by side, as without a cache: the
 * second makes a pipeline of its own, and both come back. Programs are compared by their hash, then
 * in full; places count, too, since messages tell them.
 *
 * Cost: a call that finds its program compares it once, linear in its nodes. Memory: bounded by the
 * number of pipelines and by the bytes of their programs; of the device's only code. */
#include "dispatch/cache.h"

#include <string.h>

#include "base/diag.h"

typedef struct pipelines {
    vyre_kept base;                            /* first: the device knows no more of it */
    vyre_pipeline *all[VYRE_CACHED_PIPELINES]; /* the last used first */
    uint32_t count;
    uint64_t bytes; /* of their programs */
} pipelines;

static bool same_place(vyre_place a, vyre_place b) {
    return a.line == b.line && a.col == b.col && a.end_col == b.end_col &&
           (a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0));
}

static bool same_places(const vyre_program *a, const vyre_program *b) {
    bool same = same_place(vyre_program_place(a), vyre_program_place(b));
    for (vyre_stmt i = 0; i < vyre_program_get(a)->stmt_count && same; i++) {
        same = same_place(vyre_program_stmt_place(a, i), vyre_program_stmt_place(b, i));
    }
    return same;
}

static bool is_for(const vyre_pipeline *p, const vyre_program *program,
                   const vyre_dispatch_options *options) {
    const vyre_pipeline_key key = vyre_pipeline_key_of(options);
    return memcmp(&p->key, &key, sizeof key) == 0 && vyre_program_equal(p->retained, program) &&
           same_places(p->retained, program);
}

static vyre_pipeline *take_out(pipelines *c, uint32_t at) {
    vyre_pipeline *p = c->all[at];
    c->count--;
    c->bytes -= p->bytes;
    memmove(&c->all[at], &c->all[at + 1], (c->count - at) * sizeof(vyre_pipeline *));
    return p;
}

static bool is_full(const pipelines *c, const vyre_pipeline *next) {
    return c->count == VYRE_CACHED_PIPELINES ||
           (c->count > 0 && c->bytes + next->bytes > VYRE_CACHED_BYTES);
}

static void put_in_front(pipelines *c, vyre_pipeline *p) {
    memmove(&c->all[1], &c->all[0], c->count * sizeof(vyre_pipeline *));
    c->all[0] = p;
    c->count++;
    c->bytes += p->bytes;
}

static void drop_all(vyre_device *device) {
    pipelines *c = (pipelines *)device->kept;
    device->kept = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        vyre_pipeline_release(c->all[i]);
    }
    vyre_free(&device->allocator, c, 1, sizeof *c);
}

static void describe(const vyre_device *device, vyre_pipeline_cache *out_cache) {
    const pipelines *c = (const pipelines *)device->kept;
    out_cache->entries = c->count;
    out_cache->bytes = c->bytes;
}

/* The device's, made by the first who asks; NULL: no memory. */
static pipelines *cache_of(vyre_device *device) {
    if (!device->kept) {
        pipelines *c = vyre_alloc_zeroed(&device->allocator, 1, sizeof *c);
        if (c) {
            c->base = (vyre_kept){.drop = drop_all, .describe = describe};
            device->kept = &c->base;
        }
    }
    return (pipelines *)device->kept;
}

vyre_status vyre_cache_take(vyre_device *device, const vyre_program *program,
                            const vyre_dispatch_options *options, vyre_pipeline **out_pipeline,
                            vyre_diag *diag) {
    vyre_pipeline *found = NULL;
    pthread_mutex_lock(&device->lock);
    pipelines *c = cache_of(device);
    for (uint32_t i = 0; c && i < c->count && !found; i++) {
        found = is_for(c->all[i], program, options) ? take_out(c, i) : NULL;
    }
    pthread_mutex_unlock(&device->lock);
    vyre_count(&device->counters, found ? VYRE_COUNT_pipeline_hits : VYRE_COUNT_pipeline_misses, 1);
    *out_pipeline = found;
    return c ? VYRE_OK : vyre_fail_memory(diag, "the pipelines of a device");
}

void vyre_cache_give(vyre_pipeline *pipeline) {
    vyre_device *device = pipeline->device;
    vyre_pipeline_rest(pipeline);
    for (bool is_kept = false; !is_kept;) {
        vyre_pipeline *oldest = NULL;
        pthread_mutex_lock(&device->lock);
        pipelines *c = (pipelines *)device->kept; /* NULL: dropped meanwhile */
        if (!c || pipeline->bytes > VYRE_CACHED_BYTES) {
            oldest = pipeline;
            is_kept = true;
        } else if (is_full(c, pipeline)) {
            oldest = take_out(c, c->count - 1);
        } else {
            put_in_front(c, pipeline);
            is_kept = true;
        }
        pthread_mutex_unlock(&device->lock);
        vyre_pipeline_release(oldest); /* by the backend, perhaps slowly: not under the lock */
    }
}
