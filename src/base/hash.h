/* XXH3, the one hash of the project: stable over processes, machines and versions. */
#ifndef VYRE_SRC_BASE_HASH_H
#define VYRE_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t vyre_hash_bytes(const void *data, size_t size);
/* Folds more bytes into a running hash; order matters. */
uint64_t vyre_hash_more(uint64_t seed, const void *data, size_t size);

/* 128 bits over bytes that come piece by piece; where the pieces end does not matter. */
typedef struct vyre_hash_stream {
    _Alignas(64) unsigned char state[640];
} vyre_hash_stream;
void vyre_hash_begin(vyre_hash_stream *stream);
void vyre_hash_add(vyre_hash_stream *stream, const void *data, size_t size);
/* The same 16 bytes on every machine. */
void vyre_hash_end(const vyre_hash_stream *stream, unsigned char out[16]);

#endif
