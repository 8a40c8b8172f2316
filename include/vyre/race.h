/* What the race detector of the reference backend reports. */
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

#ifdef __cplusplus
}
#endif

#endif
