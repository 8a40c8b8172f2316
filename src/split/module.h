/* The inside of a module. */
#ifndef VYRE_SRC_SPLIT_MODULE_H
#define VYRE_SRC_SPLIT_MODULE_H

#include <stdatomic.h>

#include "analysis/conditions.h"
#include "base/alloc.h"
#include "opt/opt_barrier.h"
#include "split/bases.h"
#include "split/control_code.h"
#include "vyre/split.h"

/* Names of what splitting adds to segments, chosen so that they clash with nothing in the source.
 */
enum { VYRE_MODULE_NAME = 24 };
typedef struct vyre_module_names {
    char prefix[16]; /* of all of them, and of those that are numbered */
    char lane[VYRE_MODULE_NAME], group_memory[VYRE_MODULE_NAME];
    char values[VYRE_MODULE_NAME], next[VYRE_MODULE_NAME], made[VYRE_MODULE_NAME];
    char lanes[VYRE_MODULE_NAME], tick[VYRE_MODULE_NAME], condition[VYRE_MODULE_NAME];
    char scalars[VYRE_MODULE_NAME], turn[VYRE_MODULE_NAME], expect[VYRE_MODULE_NAME];
    char parts[VYRE_MODULE_NAME];
    char at[VYRE_MODULE_NAME], rank[VYRE_MODULE_NAME], raw[VYRE_MODULE_NAME];
    char group[3][VYRE_MODULE_NAME], groups[3][VYRE_MODULE_NAME]; /* by axis */
} vyre_module_names;

/* A declaration of a segment that is bound anew by each launch. */
typedef struct vyre_changing {
    uint32_t decl;
    uint32_t ref; /* as in vyre_segment_decl, and so the kind; what is swapped has a PLACE */
    uint8_t kind;
} vyre_changing;
typedef struct vyre_changing_list {
    VYRE_VEC(vyre_changing) scalars;
    VYRE_VEC(vyre_changing) others;
} vyre_changing_list;

/* What a step computes: instructions [enter, leave) when it is entered, [leave, end) when it is
 * left. In a module for launching ahead only what the host knows. */
typedef struct vyre_step_code {
    uint32_t enter, leave, end;
    bool reads; /* the schedule loads when it is entered, be it the host or the device */
} vyre_step_code;

typedef struct vyre_life_node {
    uint32_t first, end; /* of all lives below it */
} vyre_life_node;

struct vyre_module {
    vyre_module_view view;
    vyre_allocator allocator;
    atomic_uint references;
    vyre_program *inlined; /* and copies lowered */
    vyre_program *source;  /* and versions of variables apart, barriers removed */
    vyre_var *origin;      /* per variable of `source`: of which in `inlined` it is a version, or
                              VYRE_NONE; NULL: none is */
    uint32_t origin_count;
    vyre_program **segments;
    vyre_segment_decl **decls; /* per segment */
    size_t segment_room;
    vyre_program *control;
    vyre_scalar *scalars;
    vyre_exchange *exchanges;
    size_t exchange_room;
    vyre_decl *swapped;
    uint32_t
        *place_of; /* per declaration of `source`: its place, or VYRE_NONE; NULL: none is swapped */
    uint32_t swapped_room, place_room;
    vyre_changing_list *changing; /* per segment */
    vyre_control_code code;       /* of `control` */
    vyre_step_code *step_code;    /* per step */
    uint32_t first_condition;     /* scalars from here on are conditions of branches */
    uint32_t control_nodes;       /* most expressions in a statement of the control program */
    vyre_step *steps;
    vyre_carry *carries;
    vyre_carry_buffer *buffers;
    char (*buffer_names)[VYRE_MODULE_NAME + 10]; /* with a number */
    vyre_split_region *regions;
    vyre_bases bases; /* of variables of `source` */
    vyre_barriers barriers;
    vyre_condition_list conditions; /* to be tested before it runs; loops mean nothing here */
    VYRE_VEC(vyre_stmt) cuts; /* grid barriers of `source` that only say: cut here; ascending */
    /* One word of a lane (group) fits a buffer, two do not: values of 64 bits are in two. */
    bool narrow_lanes, narrow_groups;
    VYRE_VEC(vyre_life) lives;
    uint32_t *first_life;      /* per carry, and one past the last */
    vyre_life_node *life_tree; /* 2 * life_leaves; lives.c says what it is */
    uint32_t life_leaves;
    vyre_module_names names;
};

/* Sets `changing` of a segment whose declarations are there. False when out of memory. */
bool vyre_module_list_changing(vyre_module *module, uint32_t segment);

const vyre_module_names *vyre_module_names_of(const vyre_module *module);

#endif
