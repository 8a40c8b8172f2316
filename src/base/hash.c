/* XXH3 by the xxHash library, compiled in: no run-time dependency, no exported symbols. */
#define XXH_INLINE_ALL
#include "base/hash.h"

#include <string.h>
#include <xxhash.h>

uint64_t vyre_hash_bytes(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

uint64_t vyre_hash_more(uint64_t seed, const void *data, size_t size) {
    return XXH3_64bits_withSeed(data, size, seed);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(vyre_hash_stream), "room for the state");

void vyre_hash_begin(vyre_hash_stream *stream) {
    (void)XXH3_128bits_reset((XXH3_state_t *)(void *)stream->state);
}

void vyre_hash_add(vyre_hash_stream *stream, const void *data, size_t size) {
    (void)XXH3_128bits_update((XXH3_state_t *)(void *)stream->state, data, size);
}

void vyre_hash_end(const vyre_hash_stream *stream, unsigned char out[16]) {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(
        &bytes, XXH3_128bits_digest((const XXH3_state_t *)(const void *)stream->state));
    memcpy(out, bytes.digest, sizeof bytes.digest);
}
