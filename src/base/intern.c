/* Interned strings: open addressing with linear probing over entry numbers, load at most 1/2. */
#include "base/intern.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 64 };

void vyre_intern_init(vyre_intern *table, const vyre_allocator *a) {
    *table = (vyre_intern){0};
    vyre_arena_init(&table->arena, a);
}

void vyre_intern_finish(vyre_intern *table) {
    const vyre_allocator *a = &table->arena.allocator;
    vyre_free(a, table->entries, table->capacity, sizeof *table->entries);
    vyre_free(a, table->slots, table->slot_count, sizeof *table->slots);
    vyre_arena_finish(&table->arena);
    table->entries = NULL;
    table->slots = NULL;
    table->count = table->capacity = table->slot_count = 0;
}

/* The slot that holds the text, or the empty one where it belongs. */
static uint32_t probe(const vyre_intern *table, const char *text, size_t length, uint32_t hash) {
    uint32_t mask = table->slot_count - 1;
    for (uint32_t slot = hash & mask;; slot = (slot + 1) & mask) {
        uint32_t number = table->slots[slot];
        if (number == 0) {
            return slot;
        }
        const struct vyre_intern_entry *entry = &table->entries[number - 1];
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->text, text, length) == 0) {
            return slot;
        }
    }
}

static bool grow_slots(vyre_intern *table) {
    uint32_t bigger = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = vyre_alloc_zeroed(&table->arena.allocator, bigger, sizeof *slots);
    if (!slots) {
        return false;
    }
    vyre_free(&table->arena.allocator, table->slots, table->slot_count, sizeof *slots);
    table->slots = slots;
    table->slot_count = bigger;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t slot = table->entries[i].hash & (bigger - 1);
        while (slots[slot]) {
            slot = (slot + 1) & (bigger - 1);
        }
        slots[slot] = i + 1;
    }
    return true;
}

uint32_t vyre_intern_find(const vyre_intern *table, const char *text, size_t length) {
    if (table->slot_count == 0) {
        return VYRE_INTERN_NONE;
    }
    uint32_t hash = (uint32_t)vyre_hash_bytes(text, length);
    uint32_t number = table->slots[probe(table, text, length, hash)];
    return number ? number - 1 : VYRE_INTERN_NONE;
}

uint32_t vyre_intern_add(vyre_intern *table, const char *text, size_t length) {
    if (length > UINT32_MAX / 2 || table->count >= UINT32_MAX / 4) {
        return VYRE_INTERN_NONE;
    }
    if (table->count * 2 >= table->slot_count && !grow_slots(table)) {
        return VYRE_INTERN_NONE;
    }
    uint32_t hash = (uint32_t)vyre_hash_bytes(text, length);
    uint32_t slot = probe(table, text, length, hash);
    if (table->slots[slot]) {
        return table->slots[slot] - 1;
    }
    if (!vyre_vec_grow(&table->arena.allocator, (void **)&table->entries, table->count,
                       &table->capacity, 1, sizeof *table->entries)) {
        return VYRE_INTERN_NONE;
    }
    char *copy = vyre_arena_copy(&table->arena, text, length);
    if (!copy) {
        return VYRE_INTERN_NONE;
    }
    table->entries[table->count] =
        (struct vyre_intern_entry){.text = copy, .length = (uint32_t)length, .hash = hash};
    table->slots[slot] = ++table->count;
    return table->count - 1;
}

const char *vyre_intern_text(const vyre_intern *table, uint32_t number) {
    return number < table->count ? table->entries[number].text : "";
}
