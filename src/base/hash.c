/* XXH3 by the xxHash library, compiled in: no run-time dependency, no exported symbols. */
#define XXH_INLINE_ALL
#include "base/hash.h"

#include <xxhash.h>

uint64_t vyre_hash_bytes(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

uint64_t vyre_hash_more(uint64_t seed, const void *data, size_t size) {
    return XXH3_64bits_withSeed(data, size, seed);
}
