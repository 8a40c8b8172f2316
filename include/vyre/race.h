/* Races: what the reference backend reports when it is asked to look for them.
 *
 * Between two grid barriers (for workgroup memory: two barriers of any kind), two different lanes
 * that touch one element, at least one writing, not both atomically, race. If all stores to the
 * element in that interval write the same value and nobody reads it there, the race is harmless. */
#ifndef VYRE_RACE_H
#define VYRE_RACE_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_race_kind {
    VYRE_RACE_WRITE_WRITE = 0, /* stmt[0] <= stmt[1] */
    VYRE_RACE_READ_WRITE = 1   /* stmt[0] reads, stmt[1] writes */
} vyre_race_kind;

/* All races between two statements over one declaration, with the first one found as example. The
 * places of the statements: vyre_program_stmt_place. */
typedef struct vyre_race {
    vyre_decl decl;
    uint32_t element; /* of the example */
    vyre_stmt stmt[2];
    uint64_t lane[2]; /* of the example: group number * lanes of a group + number in the group */
    vyre_race_kind kind;
    bool harmless;
    uint64_t count; /* elements times intervals in which it happened */
} vyre_race;

#ifdef __cplusplus
}
#endif

#endif
