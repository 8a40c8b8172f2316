/* What lower_converge.c must know of a program before it writes another. */
#ifndef VYRE_SRC_LOWER_CONVERGE_H
#define VYRE_SRC_LOWER_CONVERGE_H

#include "base/alloc.h"
#include "lower/rewrites.h"
#include "vyre/lower.h"

/* Marks of statements; a construct has those of what it holds. */
enum {
    VYRE_MARK_SYNC = 1,   /* lanes of the group meet there */
    VYRE_MARK_ENDS = 2,   /* it ends a lane, and others may come to a barrier later */
    VYRE_MARK_APART = 4,  /* a subgroup operation to which only part of the group comes */
    VYRE_MARK_JUMPS = 8,  /* a jump out of a construct in which lanes meet */
    VYRE_MARK_COUNTS = 16 /* it goes wrong if a lane of the group has ended */
};

/* Marks of variables. */
enum {
    VYRE_NAME_ASSIGNED = 1,
    VYRE_NAME_UNIFORM = 2, /* bound to what all lanes of the group have that are on, */
    VYRE_NAME_PLAIN = 4,   /* and those that are off, too */
    VYRE_NAME_SHARED = 8   /* another variable has the same name */
};

typedef struct vyre_converge {
    const vyre_program *program;
    const vyre_program_view *p;
    const vyre_allocator *a;
    const vyre_capabilities *can;
    bool lowers_subgroups;
    vyre_group_way way;  /* of GROUP statements */
    uint8_t *marks;      /* per statement */
    vyre_stmt *last_use; /* per variable: the last statement that names it */
    uint8_t *names;      /* per variable: its marks */
} vyre_converge;

/* Fills the arrays of one whose other members are set; finish it in any case. */
vyre_status vyre_converge_survey(vyre_converge *c);
void vyre_converge_finish(vyre_converge *c);

static inline bool vyre_ends_lane(uint8_t op) {
    return op == VYRE_STMT_EXIT || op == VYRE_STMT_TRAP;
}

static inline bool vyre_jumps(uint8_t op) {
    return op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE;
}

static inline bool vyre_loops(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

static inline vyre_stmt vyre_end_of(const vyre_program_view *p, vyre_stmt opener) {
    vyre_stmt end = p->stmts[opener].match;
    return p->stmts[end].op == VYRE_STMT_ELSE ? p->stmts[end].match : end;
}

#endif
