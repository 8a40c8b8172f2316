/* What the held-out set does with keys: a join by a hash table with open addresses. */
#include "sets.h"

typedef struct slot {
    uint32_t key, value; /* key 0: free */
} slot;

enum { BATCH = 16 }; /* lookups under way: their lines are asked for together */

static inline uint32_t hash_of(uint32_t k) {
    uint32_t h = (k ^ k >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

static void insert(slot *table, uint32_t mask, uint32_t at, uint32_t key, uint32_t value) {
    for (;; at = (at + 1) & mask) {
        uint32_t none = 0;
        if (__atomic_compare_exchange_n(&table[at].key, &none, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            table[at].value = value;
            return;
        }
    }
}

static uint32_t look_up(const slot *table, uint32_t mask, uint32_t at, uint32_t key,
                        uint32_t *found) {
    while (table[at].key != key && table[at].key != 0) {
        at = (at + 1) & mask;
    }
    *found = table[at].key == key ? table[at].value : 0;
    return table[at].key == key;
}

static void run_join(void *state) {
    set_job *s = state;
    size_t keys = s->size[0], wanted = s->size[1], slots = s->size[2];
    const uint32_t *key = s->in[0], *value = s->in[1], *wants = s->in[2];
    uint32_t *found = s->out[0], mask = (uint32_t)slots - 1, count = 0;
    slot *table = s->scratch;
#pragma omp parallel
    {
        size_t first = peer_cut(slots, PEER_THREAD(), PEER_THREADS());
        size_t last = peer_cut(slots, PEER_THREAD() + 1, PEER_THREADS());
        memset(table + first, 0, (last - first) * sizeof *table);
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t from = 0; from < keys; from += BATCH) {
            size_t size = keys - from < BATCH ? keys - from : BATCH;
            uint32_t at[BATCH];
            for (size_t i = 0; i < size; i++) {
                at[i] = hash_of(key[from + i]) & mask;
                __builtin_prefetch(&table[at[i]], 1);
            }
            for (size_t i = 0; i < size; i++) {
                insert(table, mask, at[i], key[from + i], value[from + i]);
            }
        }
#pragma omp for schedule(static) reduction(+ : count)
        for (size_t from = 0; from < wanted; from += BATCH) {
            size_t size = wanted - from < BATCH ? wanted - from : BATCH;
            uint32_t at[BATCH];
            for (size_t i = 0; i < size; i++) {
                at[i] = hash_of(wants[from + i]) & mask;
                __builtin_prefetch(&table[at[i]]);
            }
            for (size_t i = 0; i < size; i++) {
                count += look_up(table, mask, at[i], wants[from + i], &found[from + i]);
            }
        }
    }
    *(uint32_t *)s->out[1] = count;
}

static void *prepare_join(const peer_instance *p) {
    return set_prepare_room(p, p->size[2] * sizeof(slot));
}

const peer peer_join = {"join", prepare_join, NULL, run_join, set_collect};
