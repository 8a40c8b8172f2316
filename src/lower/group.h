/* Reductions and scans over a group, through workgroup memory, for lower_converge.c: all lanes of
 * the group come to each of them, and a flag says which of them take part. */
#ifndef VYRE_SRC_LOWER_GROUP_H
#define VYRE_SRC_LOWER_GROUP_H

#include "ir/each.h"

typedef struct vyre_group_memory {
    uint32_t lanes;                     /* of a group */
    vyre_decl values[VYRE_TYPE_COUNT];  /* an element per lane, by type; VYRE_NONE: not used */
    vyre_decl others[VYRE_TYPE_COUNT];  /* likewise; only for scans */
    vyre_decl results[VYRE_TYPE_COUNT]; /* one element; only for reductions */
    vyre_decl present, others_present;  /* u32 per lane; VYRE_NONE: nobody asks */
    vyre_decl leader;                   /* u32: how many have come; VYRE_NONE: nobody leads */
    vyre_expr self;                     /* number of the lane in its group */
    vyre_stmt done; /* a statement that was replaced with the one before, or VYRE_NONE */
} vyre_group_memory;

/* Whether the operation asks only whether some lane says so: then it is a vote. */
static inline bool vyre_group_votes(uint8_t sub) {
    return sub == VYRE_REDUCE_ANY || sub == VYRE_REDUCE_ALL;
}

/* Declares what the operations of the program need, and binds the lane's number. `led`: lanes may
 * have ended, and one of the living does the work; else all lanes come, and `some_absent` says that
 * there may be some that do not take part. */
void vyre_group_begin(vyre_each *each, bool led, bool some_absent, vyre_group_memory *memory);
/* A GROUP statement that is no vote; `on` (VYRE_NONE: yes) tells whether this lane takes part. Maps
 * the variable that it binds. A scan and the total of the same values, right behind it, are one. */
void vyre_group_replace(vyre_each *each, vyre_group_memory *memory, vyre_stmt stmt, vyre_expr on);
/* Binds the variable of the GROUP statement to its value. */
void vyre_group_bind(vyre_each *each, vyre_stmt stmt, vyre_expr value);

#endif
