/* The test allocator: every block has a header with its size, so a wrong size told back by the
 * library is caught, and what is left over is counted. */
#include "harness/test.h"

enum { HEADER = 16 };

static void *heap_resize(void *user, void *ptr, size_t old_size, size_t new_size) {
    test_heap *heap = user;
    unsigned char *old = ptr ? (unsigned char *)ptr - HEADER : NULL;
    if (old) {
        size_t stored;
        memcpy(&stored, old, sizeof stored);
        if (stored != old_size) {
            test_fail(__FILE__, __LINE__, "a block of %zu bytes was given back as one of %zu",
                      stored, old_size);
            test_stop();
        }
    }
    if (new_size == 0) {
        if (old) {
            heap->live_blocks--;
            heap->live_bytes -= old_size;
            free(old);
        }
        return NULL;
    }
    heap->calls++;
    if (heap->fail_at &&
        (heap->calls == heap->fail_at || (heap->fail_after && heap->calls > heap->fail_at))) {
        return NULL;
    }
    if (new_size > SIZE_MAX - HEADER) {
        return NULL;
    }
    /* Always a new block, so that stale pointers show under the address sanitizer. */
    unsigned char *block = malloc(HEADER + new_size);
    if (!block) {
        return NULL;
    }
    memcpy(block, &new_size, sizeof new_size);
    memset(block + HEADER, 0xcd, new_size);
    if (old) {
        memcpy(block + HEADER, ptr, old_size < new_size ? old_size : new_size);
        free(old);
    } else {
        heap->live_blocks++;
    }
    heap->asked_bytes += new_size;
    heap->live_bytes += new_size - (old ? old_size : 0);
    if (heap->live_bytes > heap->peak_bytes) {
        heap->peak_bytes = heap->live_bytes;
    }
    return block + HEADER;
}

vyre_allocator test_heap_allocator(test_heap *heap) {
    return (vyre_allocator){.resize = heap_resize, .user = heap};
}

uint64_t test_every_allocation(vyre_status (*body)(const vyre_allocator *a, void *user), void *user,
                               uint64_t most) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    CHECK_STATUS(body(&a, user), VYRE_OK, NULL);
    CHECK_EQ(heap.live_blocks, 0);
    uint64_t total = heap.calls;
    uint64_t rounds = total < most ? total : most;
    for (uint64_t round = 0; round < rounds; round++) {
        for (int after = 0; after < 2; after++) {
            heap = (test_heap){.fail_at = 1 + round * total / rounds, .fail_after = after != 0};
            vyre_status status = body(&a, user);
            if (status != VYRE_OUT_OF_MEMORY || heap.live_blocks != 0) {
                test_fail(__FILE__, __LINE__,
                          "allocation %" PRIu64 " of %" PRIu64 " failed: status \"%s\", %" PRIu64
                          " blocks leaked",
                          heap.fail_at, total, vyre_status_name(status), heap.live_blocks);
                test_stop();
            }
        }
    }
    return total;
}

uint64_t test_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_random_below(uint64_t *state, uint64_t bound) {
    return test_random(state) % bound;
}
