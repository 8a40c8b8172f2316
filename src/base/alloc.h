/* Memory through the caller's allocator: sized blocks, growing vectors, and nothing that aborts. */
#ifndef VYRE_SRC_BASE_ALLOC_H
#define VYRE_SRC_BASE_ALLOC_H

#include "vyre/base.h"

/* `allocator` may be NULL: the system allocator. The result is a value to keep. */
vyre_allocator vyre_allocator_or_system(const vyre_allocator *allocator);

/* NULL on failure or when count * size overflows; memory is not cleared. A count of 0 gives a
 * valid block of one byte, so NULL always means failure. */
void *vyre_alloc(const vyre_allocator *a, size_t count, size_t size);
void *vyre_alloc_zeroed(const vyre_allocator *a, size_t count, size_t size);
/* count and size must be those of the allocation. ptr may be NULL. */
void vyre_free(const vyre_allocator *a, void *ptr, size_t count, size_t size);

/* Cleared, and aligned to `alignment`, a power of two of at least that of a pointer. To be given
 * back with the same numbers. */
void *vyre_alloc_aligned(const vyre_allocator *a, size_t count, size_t size, size_t alignment);
void vyre_free_aligned(const vyre_allocator *a, void *ptr, size_t count, size_t size,
                       size_t alignment);

/* A growing array of T: VYRE_VEC(int) v = {0}; All operations take the allocator it lives in. */
#define VYRE_VEC(T)                                                                                \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t count;                                                                            \
        uint32_t capacity;                                                                         \
    }

/* Makes room for `extra` more elements; false when memory or the 32-bit count runs out. */
#define vyre_vec_reserve(a, v, extra)                                                              \
    vyre_vec_grow((a), (void **)&(v)->data, (v)->count, &(v)->capacity, (extra), sizeof *(v)->data)
/* Appends one element; false when out of memory. */
#define vyre_vec_push(a, v, ...)                                                                   \
    (vyre_vec_reserve((a), (v), 1) ? ((v)->data[(v)->count++] = (__VA_ARGS__), true) : false)
#define vyre_vec_free(a, v)                                                                        \
    (vyre_free((a), (v)->data, (v)->capacity, sizeof *(v)->data), (v)->data = NULL,                \
     (v)->count = (v)->capacity = 0)

bool vyre_vec_grow(const vyre_allocator *a, void **data, uint32_t count, uint32_t *capacity,
                   size_t extra, size_t size);

#endif
