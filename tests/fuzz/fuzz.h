/* Shared by the fuzz targets: the entry point, a check that does not return, and an allocator that
 * makes "bounded memory" a property the fuzzer can break. */
#ifndef VYRE_TESTS_FUZZ_FUZZ_H
#define VYRE_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "vyre/base.h"

/* What libFuzzer, or replay.c in its place, calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                      \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), abort()))

typedef struct fuzz_heap {
    size_t live, limit;
} fuzz_heap;

static inline void *fuzz_resize(void *user, void *ptr, size_t old_size, size_t new_size) {
    fuzz_heap *heap = user;
    heap->live = heap->live - old_size + new_size;
    FUZZ_CHECK(heap->live <= heap->limit);
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static inline vyre_allocator fuzz_allocator(fuzz_heap *heap) {
    return (vyre_allocator){.resize = fuzz_resize, .user = heap};
}

#endif
