/* Which entities (numbered values and memory) blocks have to do with, and where they are alive.
 *
 * A presence is a pair of an entity and a block that have something to do with each other. Where an
 * entity is only alive it has none: there it is in a run, a row of blocks at whose ends it is
 * alive. Blocks are numbered like the source, so an entity has few runs, however many blocks they
 * are long: work and memory follow the uses, not blocks times entities. */
#ifndef VYRE_SRC_SPLIT_PRESENCE_H
#define VYRE_SRC_SPLIT_PRESENCE_H

#include "split/blocks.h"

enum {
    VYRE_USES = 1,      /* needs the value that it has at the block's start */
    VYRE_KILLS = 2,     /* the block sets it on every path */
    VYRE_TOUCHES = 4,   /* lanes use or set it in the block, its exit included */
    VYRE_MODIFIES = 8,  /* lanes set it in the block, perhaps not on every path */
    VYRE_LIVE_IN = 16,  /* of what is stored */
    VYRE_LIVE_OUT = 32, /* of what is stored */
    VYRE_WANTED = 128, /* lanes need it at the start: used before it is set, or to recompute such */
    VYRE_MADE = 1024,  /* lanes set it last in the block, and the schedule wants to know */
    VYRE_CONTROL = 2048 /* the schedule needs it at the start */
};

typedef struct vyre_presence {
    uint32_t entity, block;
    uint32_t flags;
    uint32_t next; /* of the same entity, or VYRE_NONE */
} vyre_presence;

/* Alive at the ends of blocks [first, end). */
typedef struct vyre_run {
    uint32_t first, end;
    uint32_t next; /* of the same entity, behind this one and apart from it; or VYRE_NONE */
} vyre_run;

/* What is known of a block while liveness is found, of as many entities as a word has bits. */
typedef struct vyre_block_lives {
    uint64_t uses, kills, in, out;
} vyre_block_lives;

typedef struct vyre_presences {
    vyre_allocator allocator;
    uint32_t entity_count, block_count;
    VYRE_VEC(vyre_presence) list;
    uint32_t *head; /* per entity: its last presence, or VYRE_NONE */
    /* The entity that is open: at[block] is its presence where owner[block] says so. */
    uint32_t *at, *owner;
    VYRE_VEC(vyre_run) runs;
    uint32_t *run;                /* per entity: its first run, or VYRE_NONE */
    vyre_block_lives *lives;      /* per block; zeros between two searches */
    bool *waits;                  /* per block, likewise: to be visited */
    uint32_t *preds, *first_pred; /* of blocks */
    uint32_t *stack;
    bool failed; /* out of memory: what was found is not complete */
} vyre_presences;

/* False when out of memory; to be finished in any case. */
bool vyre_presences_init(vyre_presences *found, const vyre_blocks *blocks, uint32_t entities,
                         const vyre_allocator *a);
void vyre_presences_finish(vyre_presences *found);

/* Adds flags while blocks are visited one after the other: what is there already. */
uint32_t vyre_presence_add(vyre_presences *found, uint32_t entity, uint32_t block, uint32_t flags);

/* The same for any block, once the entity is open. */
void vyre_presences_open(vyre_presences *found, uint32_t entity);
uint32_t vyre_presence_add_open(vyre_presences *found, uint32_t entity, uint32_t block,
                                uint32_t flags);

/* Runs, and LIVE_IN and LIVE_OUT of presences, from USES and KILLS. A variable that is set only on
 * some path of a block keeps its old value on the others, so it is not killed there; memory is
 * where all of it is set. Runs that were found before stay in the list, but not in `run`. */
void vyre_presences_solve(vyre_presences *found);

/* The runs of the one list and those of the other, as a third. */
uint32_t vyre_runs_unite(vyre_presences *found, uint32_t x, uint32_t y);

/* All presences by block, ascending by entity: those of a block begin at first[block]. `first` has
 * one element more than there are blocks, zeroed; as many as found->list.count, NULL when out of
 * memory. */
vyre_presence *vyre_presences_by_block(const vyre_presences *found, uint32_t *first);

/* For each presence of an entity: VYRE_EACH_PRESENCE(found, entity, p) { ... p->flags ... } */
#define VYRE_EACH_PRESENCE(found, entity, p)                                                       \
    for (vyre_presence *p = vyre_presence_at((found), (found)->head[entity]); p;                   \
         p = vyre_presence_at((found), p->next))
static inline vyre_presence *vyre_presence_at(const vyre_presences *found, uint32_t at) {
    return at == VYRE_NONE ? NULL : &found->list.data[at];
}

/* For each run of a list: VYRE_EACH_RUN(found, found->run[entity], r) { ... r->first ... } */
#define VYRE_EACH_RUN(found, head, r)                                                              \
    for (const vyre_run *r = vyre_run_at((found), (head)); r; r = vyre_run_at((found), r->next))
static inline const vyre_run *vyre_run_at(const vyre_presences *found, uint32_t at) {
    return at == VYRE_NONE ? NULL : &found->runs.data[at];
}

#endif
