/* What is known of the lanes of a program, for loops over them: lanes_known.c; lanes.c writes them.
 */
#ifndef VYRE_SRC_EMIT_LANES_H
#define VYRE_SRC_EMIT_LANES_H

#include "emit/c.h"

/* What is known of a variable. */
typedef enum kind {
    KEPT,   /* bound again, assigned, or of an unknown value */
    PURE,   /* the value of one expression, which lanes may compute again */
    COMMON, /* likewise, and the same for all lanes of the group */
} kind;

typedef struct lanes {
    emit_program *e;
    const vyre_program_view *p;
    uint8_t *kinds;    /* of variables */
    vyre_expr *values; /* of those that are not kept */
    bool *needed;      /* variables that a piece uses */
    bool *written;     /* declarations */
    bool *in_loop;     /* statements inside of a loop of the program ... */
    bool *is_outer;    /* ... and those inside of nothing */
    bool *tested;      /* accesses that are asked for once in a row: expressions, statements */
    bool *proven;      /* accesses that need no test, and a list without any */
    bool *none;
} lanes;

/* Whether a node numbers the lanes of a group that has several along the axis. */
bool lanes_is_id(const lanes *l, const vyre_expr_node *n, uint32_t axis);
/* Of expressions [first, end), and of a tree. */
kind lanes_kind_of(const lanes *l, vyre_expr first, vyre_expr end);
kind lanes_kind(const lanes *l, vyre_expr root);
/* By how much an expression grows from one lane along x to the next, looking at so many levels;
 * false: who knows. */
bool lanes_factor(const lanes *l, vyre_expr expr, uint32_t depth, uint32_t *out_factor);

/* Lanes that a statement concerns. */
enum { MOST_LIMITS = 8 };
typedef struct limit {
    vyre_expr bound; /* the same for all lanes */
    uint8_t axis;
    bool is_local, is_first, is_with; /* of local ids; the first lane, or the one behind the last;
                                         the bound counts to those below */
} limit;
typedef struct limits {
    limit of[MOST_LIMITS];
    uint32_t count;
    bool is_all; /* nothing else is asked */
} limits;

limits lanes_limits(const lanes *l, vyre_stmt s);
bool lanes_is_limited(const limits *found, uint32_t axis);

#endif
