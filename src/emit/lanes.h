/* The lanes of a group as loops: lanes_known.c tells what is known of them, lanes_turn.c which
 * loops of the program stand around those of the lanes, lanes_loop.c writes loops in them, and
 * lanes.c rows of lanes. */
#ifndef VYRE_SRC_EMIT_LANES_H
#define VYRE_SRC_EMIT_LANES_H

#include "emit/c.h"

/* What is known of a variable. */
typedef enum kind {
    KEPT,   /* bound again, assigned, or of an unknown value */
    PURE,   /* the value of one expression, which lanes may compute again */
    COMMON, /* likewise, and the same for all lanes of the group */
} kind;

/* What becomes of a statement that holds others. */
typedef enum way {
    INSIDE,  /* it stands in a loop over lanes */
    TURNED,  /* a loop around loops over lanes */
    LIMITED, /* an `if` around loops over fewer lanes */
    OPENED,  /* a block or region around such loops */
} way;

/* A statement around loops over lanes while its body is written. */
typedef struct around {
    uint32_t indent;
    const char *from, *to; /* lanes along x, outside of it */
    vyre_stmt part;
} around;

typedef struct lanes {
    emit_program *e;
    const vyre_program_view *p;
    uint8_t *kinds;     /* of variables */
    vyre_expr *values;  /* of those that are not kept */
    bool *assigned;     /* variables that are assigned somewhere */
    bool *in_rows;      /* variables that are kept in arrays, an element for each lane along x */
    bool *needed;       /* variables that a piece uses */
    bool *written;      /* declarations */
    bool *in_loop;      /* statements inside of a loop of the program ... */
    bool *is_outer;     /* ... and those inside of nothing, or of what is around loops over lanes */
    uint8_t *ways;      /* of statements */
    vyre_stmt *outside; /* likewise: the next one around loops over lanes that holds it */
    around *arounds;    /* likewise */
    vyre_stmt *parts;   /* likewise: the quotient by which lanes in it are parted, or VYRE_NONE */
    bool *rests;        /* expressions: remainders that belong to them */
    vyre_stmt part;     /* that of the statements that are looked at or written; VYRE_NONE: none */
    const char *from[3], *to[3]; /* lanes along each axis, of the loop that is written */
    bool *tested;  /* accesses that are asked for once in a row: expressions, statements */
    bool *counted; /* loads that are asked for once in front of a loop: expressions */
    bool is_slow;  /* a row is written with all its tests */
    bool *proven;  /* accesses that need no test, and a list without any */
    bool *none;
} lanes;

/* Whether a node numbers the lanes of a group that has several along the axis. */
bool lanes_is_id(const lanes *l, const vyre_expr_node *n, uint32_t axis);
/* Of expressions [first, end), and of a tree. */
kind lanes_kind_of(const lanes *l, vyre_expr first, vyre_expr end);
kind lanes_kind(const lanes *l, vyre_expr root);
/* Whether a node is the remainder that belongs to the quotient by which lanes are parted. */
bool lanes_is_rest(const lanes *l, const vyre_expr_node *n);
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

/* Statements [first, end) of the outermost level, which run in the same loops. */
typedef struct piece {
    vyre_stmt first, end, begin; /* behind `begin` nothing is common but variables */
    limits only;
    bool drops_test; /* its first statement is an `if` that the loops ask for */
} piece;

/* The last statement of one that holds others, else the statement itself. */
vyre_stmt lanes_last_of(const lanes *l, vyre_stmt s);
/* Whether a group ends there as a whole, if nothing has had an effect before. */
bool lanes_is_common_end(const lanes *l, vyre_stmt s);
/* Whether the statement binds a variable that may be computed again, or once for all lanes. */
bool lanes_is_again(const lanes *l, vyre_stmt s);
/* Loads are tested though they are proven: where they stand in another place than in the program.
 */
void lanes_with_tests(lanes *l, bool on);
/* Which of its variables a piece needs: all that it and they use. */
void lanes_look_at_needs(lanes *l, const piece *one);
/* Ids and variables of the program that a piece needs, for the lane `local_x`. */
void lanes_put_ids(lanes *l, const piece *one, bool is_first);
/* A text that stays. */
const char *lanes_text(lanes *l, const char *format, ...) VYRE_PRINTF(2, 3);
/* All lanes are meant; those of them that the limits leave, as variables with the suffix. */
void lanes_all(lanes *l);
void lanes_put_limits(lanes *l, vyre_stmt s, const limits *found, const char *suffix);
/* A piece in a loop over lanes along x; loops along z and y; what closes them and all others. */
void lanes_put_row(lanes *l, const piece *one);
void lanes_open_rows(lanes *l);
void lanes_close(lanes *l, uint32_t indent);

static inline bool lanes_opens_loop(uint32_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}
/* A loop twice, without tests of loads at its counter and with them; false: it has none, and
 * nothing is written. */
bool lanes_put_loop_twice(lanes *l, vyre_stmt loop);

/* Decides `ways`, `parts`, `in_rows`; false: no loop is turned, and nothing has changed. */
bool lanes_find_turns(lanes *l);
/* Statements from `begin` on, in all their loops. */
void lanes_put_turned(lanes *l, vyre_stmt begin);

#endif
