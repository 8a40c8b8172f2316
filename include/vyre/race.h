/* What the reference backend reports on request: races, and accesses outside of their memory. */
#ifndef VYRE_RACE_H
#define VYRE_RACE_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two lanes touched one element, at least one of them writing, not both atomically, and no barrier
 * orders them: no grid barrier lies between, nor, if they are of one workgroup, a workgroup
 * barrier. Statements are those of the dispatched program; the second came later in this run. One
 * entry stands for all races between two statements over one declaration and shows the first that
 * was found. */
typedef struct vyre_race {
    vyre_decl decl;
    uint32_t element;
    vyre_stmt first, second;
    uint64_t first_lane, second_lane; /* global linear lane numbers */
    bool first_writes, second_writes;
    bool one_group; /* all are between lanes of one workgroup: a workgroup barrier would order them
                     */
    bool harmless;  /* all wrote the same value and nobody read it before the next barrier */
    uint64_t count; /* elements, each counted once between two grid barriers, in workgroup memory
                       once between two barriers of any kind */
} vyre_race;

/* Accesses of one statement to elements that a declaration does not have: how many, and the first
 * of them. */
typedef struct vyre_outside {
    vyre_stmt stmt;
    vyre_decl decl;
    bool writes; /* or is an atomic */
    /* The first index that is outside, of which dimension, and how long that is; all indices and
     * lengths. Memory of one dimension has the first. */
    uint32_t index, length, dimension;
    uint32_t indices[3], lengths[3];
    uint64_t lane; /* global linear number */
    uint64_t count;
} vyre_outside;

/* Caller-owned room for them. Set items and capacity; `count` is how many were stored, `total` all
 * accesses outside, stored or not. Dispatches add to it. */
typedef struct vyre_outside_list {
    vyre_outside *items;
    uint32_t capacity;
    uint32_t count;
    uint64_t total;
} vyre_outside_list;

#ifdef __cplusplus
}
#endif

#endif
