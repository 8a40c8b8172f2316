/* Bump allocation for things that die together. Freed as a whole; single allocations are not. */
#ifndef VYRE_SRC_BASE_ARENA_H
#define VYRE_SRC_BASE_ARENA_H

#include "base/alloc.h"

typedef struct vyre_arena {
    vyre_allocator allocator;
    struct vyre_arena_block *blocks; /* newest first */
    size_t used;                     /* bytes used in the newest block */
} vyre_arena;

void vyre_arena_init(vyre_arena *arena, const vyre_allocator *a);
void vyre_arena_finish(vyre_arena *arena);
/* Forgets all allocations and keeps the newest block for reuse. */
void vyre_arena_reset(vyre_arena *arena);
/* 16-byte aligned, not cleared; NULL when out of memory or count * size overflows. */
void *vyre_arena_alloc(vyre_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of length bytes. */
char *vyre_arena_copy(vyre_arena *arena, const char *text, size_t length);

#endif
