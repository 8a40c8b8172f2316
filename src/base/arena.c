/* Arena: blocks of doubling size, bump pointer in the newest. */
#include "base/arena.h"

#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20, ALIGN = 16 };

struct vyre_arena_block {
    struct vyre_arena_block *next;
    size_t size; /* usable bytes behind the header */
};

static const size_t header_size = (sizeof(struct vyre_arena_block) + ALIGN - 1) / ALIGN * ALIGN;

void vyre_arena_init(vyre_arena *arena, const vyre_allocator *a) {
    *arena = (vyre_arena){.allocator = *a};
}

static void free_blocks(vyre_arena *arena, struct vyre_arena_block *block) {
    while (block) {
        struct vyre_arena_block *next = block->next;
        vyre_free(&arena->allocator, block, 1, header_size + block->size);
        block = next;
    }
}

void vyre_arena_finish(vyre_arena *arena) {
    free_blocks(arena, arena->blocks);
    arena->blocks = NULL;
    arena->used = 0;
}

void vyre_arena_reset(vyre_arena *arena) {
    if (arena->blocks) {
        free_blocks(arena, arena->blocks->next);
        arena->blocks->next = NULL;
    }
    arena->used = 0;
}

void *vyre_arena_alloc(vyre_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        return NULL;
    }
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!arena->blocks || bytes > arena->blocks->size - arena->used) {
        size_t want = FIRST_BLOCK;
        if (arena->blocks) {
            want = arena->blocks->size < LARGEST_STEP ? arena->blocks->size * 2 : LARGEST_STEP;
        }
        if (want < bytes) {
            want = bytes;
        }
        struct vyre_arena_block *block = vyre_alloc(&arena->allocator, 1, header_size + want);
        if (!block) {
            return NULL;
        }
        block->next = arena->blocks;
        block->size = want;
        arena->blocks = block;
        arena->used = 0;
    }
    void *ptr = (char *)arena->blocks + header_size + arena->used;
    arena->used += bytes;
    return ptr;
}

char *vyre_arena_copy(vyre_arena *arena, const char *text, size_t length) {
    char *copy = vyre_arena_alloc(arena, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}
