/* The allocator seam. Blocks carry no header: callers tell sizes back when they free, which lets a
 * test allocator verify every size and lets an embedder use pools. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *system_resize(void *user, void *ptr, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

vyre_allocator vyre_allocator_system(void) {
    return (vyre_allocator){.resize = system_resize, .user = NULL};
}

vyre_allocator vyre_allocator_or_system(const vyre_allocator *allocator) {
    return allocator && allocator->resize ? *allocator : vyre_allocator_system();
}

static bool block_size(size_t count, size_t size, size_t *out) {
    if (__builtin_mul_overflow(count, size, out)) {
        return false;
    }
    if (*out == 0) {
        *out = 1;
    }
    return true;
}

void *vyre_alloc(const vyre_allocator *a, size_t count, size_t size) {
    size_t bytes;
    return block_size(count, size, &bytes) ? a->resize(a->user, NULL, 0, bytes) : NULL;
}

void *vyre_alloc_zeroed(const vyre_allocator *a, size_t count, size_t size) {
    void *ptr = vyre_alloc(a, count, size);
    return ptr ? memset(ptr, 0, count * size) : NULL;
}

void vyre_free(const vyre_allocator *a, void *ptr, size_t count, size_t size) {
    size_t bytes;
    if (ptr && block_size(count, size, &bytes)) {
        a->resize(a->user, ptr, bytes, 0);
    }
}

/* What is asked for, the way to the next aligned address, and before that the address of the block.
 */
static bool aligned_block_size(size_t count, size_t size, size_t alignment, size_t *out) {
    size_t more;
    return block_size(count, size, out) &&
           !__builtin_add_overflow(alignment, sizeof(void *), &more) &&
           !__builtin_add_overflow(*out, more, out);
}

void *vyre_alloc_aligned(const vyre_allocator *a, size_t count, size_t size, size_t alignment) {
    size_t bytes;
    char *block = aligned_block_size(count, size, alignment, &bytes)
                      ? a->resize(a->user, NULL, 0, bytes)
                      : NULL;
    if (!block) {
        return NULL;
    }
    size_t begin = sizeof(void *);
    begin += -(uintptr_t)(block + begin) & (alignment - 1);
    memset(block, 0, bytes);
    memcpy(block + begin - sizeof block, &block, sizeof block);
    return block + begin;
}

void vyre_free_aligned(const vyre_allocator *a, void *ptr, size_t count, size_t size,
                       size_t alignment) {
    size_t bytes;
    if (ptr && aligned_block_size(count, size, alignment, &bytes)) {
        void *block;
        memcpy(&block, (char *)ptr - sizeof block, sizeof block);
        a->resize(a->user, block, bytes, 0);
    }
}

bool vyre_vec_grow(const vyre_allocator *a, void **data, uint32_t count, uint32_t *capacity,
                   size_t extra, size_t size) {
    if (extra <= (size_t)(*capacity - count)) {
        return true;
    }
    if (extra > UINT32_MAX - count) {
        return false;
    }
    uint64_t want = (uint64_t)*capacity * 2;
    if (want < 8) {
        want = 8;
    }
    if (want < count + extra) {
        want = count + extra;
    }
    if (want > UINT32_MAX) {
        want = UINT32_MAX;
    }
    size_t bytes;
    if (__builtin_mul_overflow((size_t)want, size, &bytes)) {
        return false;
    }
    void *grown = a->resize(a->user, *data, (size_t)*capacity * size, bytes);
    if (!grown) {
        return false;
    }
    *data = grown;
    *capacity = (uint32_t)want;
    return true;
}
