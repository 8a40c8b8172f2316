/* Subgroup operations through workgroup memory, for lower_converge.c: all lanes of the group come
 * to each of them, and a flag says which of them take part. */
#ifndef VYRE_SRC_LOWER_SUBGROUP_H
#define VYRE_SRC_LOWER_SUBGROUP_H

#include "ir/each.h"

typedef struct vyre_subgroup_memory {
    uint32_t lanes;                     /* of a group */
    vyre_decl values[VYRE_TYPE_COUNT];  /* an element per lane, by type; VYRE_NONE: not used */
    vyre_decl results[VYRE_TYPE_COUNT]; /* an element per subgroup */
    vyre_decl present;                  /* u32 per lane; VYRE_NONE: all lanes always are */
    vyre_expr self;                     /* number of the lane in its group */
} vyre_subgroup_memory;

/* Binds the number of the lane in its group. */
vyre_expr vyre_lane_number(vyre_each *each);
/* Declares what the operations of the program need, and binds the lane's number. `some_absent`:
 * there may be lanes that do not take part. */
void vyre_subgroup_begin(vyre_each *each, bool some_absent, vyre_subgroup_memory *memory);
/* The SUBGROUP statement; `on` (VYRE_NONE: yes) tells whether this lane takes part. Maps the
 * variable that it binds. */
void vyre_subgroup_replace(vyre_each *each, const vyre_subgroup_memory *memory, vyre_stmt stmt,
                           vyre_expr on);
/* What stands for a built-in id of subgroups; VYRE_NONE for other expressions. */
vyre_expr vyre_subgroup_id(vyre_each *each, const vyre_subgroup_memory *memory, vyre_expr expr);

#endif
