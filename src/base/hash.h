/* XXH3, the one hash of the project: stable over processes, machines and versions. */
#ifndef VYRE_SRC_BASE_HASH_H
#define VYRE_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t vyre_hash_bytes(const void *data, size_t size);
/* Folds more bytes into a running hash; order matters. */
uint64_t vyre_hash_more(uint64_t seed, const void *data, size_t size);

#endif
