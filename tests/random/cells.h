/* What programs of the differential test must hold: cells, one for each thing of the op table and
 * each type it works on, and for each kind of jump crossed with who takes it, where the barrier is
 * and whether a loop is around. Generated from the table, so a new operation has a cell by itself
 * and a long run fails until the generator makes it. */
#ifndef VYRE_TESTS_RANDOM_CELLS_H
#define VYRE_TESTS_RANDOM_CELLS_H

#include "vyre/ir.h"

typedef enum cell_class {
    CELL_EXPR,       /* operation, type: of the operands; leaves, casts: of the result */
    CELL_STMT,       /* statement */
    CELL_BUILTIN,    /* id, axis */
    CELL_ATOMIC,     /* operation, type, CELL_BUFFER or CELL_GROUP_MEMORY */
    CELL_ORDERING,   /* of 0: an atomic, 1: a barrier; ordering */
    CELL_SUBGROUP,   /* operation, type */
    CELL_REDUCE,     /* 0: over the group, 1: over the grid; operation, type */
    CELL_COLLECTIVE, /* 0: all_reduce, 1: reduce_scatter; operation */
    CELL_MEMORY,     /* role, type */
    CELL_RANK,       /* role, dimensions */
    CELL_TILE,       /* whose, form, dimensions - 1, in an `if`, how much */
    CELL_JUMP,       /* jump, level, side, in a loop, scope */
    CELL_CLASSES
} cell_class;

enum { CELL_BUFFER, CELL_GROUP_MEMORY };

typedef enum cell_jump {
    CELL_BREAK,
    CELL_CONTINUE,
    CELL_EXIT,
    CELL_RETURN,
    CELL_TRAP,
    CELL_JUMPS
} cell_jump;

/* Over whom the control of a jump is uniform. */
typedef enum cell_level {
    CELL_CONSTANT, /* no condition, or one of literals */
    CELL_GRID,
    CELL_GROUP,
    CELL_ROW,
    CELL_TOGETHER, /* the subgroup */
    CELL_VARYING,
    CELL_LEVELS
} cell_level;

/* The jump stands before a barrier that it leaves out, or behind one; in the loop around it, if
 * there is one, else in the program. */
typedef enum cell_side { CELL_BEFORE, CELL_BEHIND, CELL_SIDES } cell_side;

/* The barrier: grid_sync (or a collective), or barrier. */
typedef enum cell_scope { CELL_GRID_SYNC, CELL_BARRIER, CELL_SCOPES } cell_scope;

/* Memory of the group or of the lane that is set: each element by a store without a loop (those of
 * a lane by one store each), in a loop, in two loops; in both arms of an `if`, in any of these
 * ways.
 */
typedef enum cell_owner { CELL_TILE_OF_GROUP, CELL_TILE_OF_LANE, CELL_OWNERS } cell_owner;
typedef enum cell_form {
    CELL_AT_ONCE,
    CELL_IN_LOOP,
    CELL_IN_LOOPS,
    CELL_BOTH_ARMS,
    CELL_FORMS
} cell_form;
typedef enum cell_share { CELL_WHOLE, CELL_IN_PART, CELL_SHARES } cell_share;

enum {
    CELL_PARTS = 5,
    CELL_COUNT = VYRE_EXPR_COUNT * VYRE_TYPE_COUNT + VYRE_STMT_COUNT + VYRE_BUILTIN_COUNT * 3 +
                 VYRE_ATOMIC_COUNT * VYRE_TYPE_COUNT * 2 + 2 * VYRE_ORDERING_COUNT +
                 VYRE_SUBGROUP_COUNT * VYRE_TYPE_COUNT + 2 * VYRE_REDUCE_COUNT * VYRE_TYPE_COUNT +
                 2 * VYRE_COLLECTIVE_COUNT + VYRE_ROLE_COUNT * VYRE_TYPE_COUNT +
                 VYRE_ROLE_COUNT * 4 + CELL_OWNERS * CELL_FORMS * 3 * 2 * CELL_SHARES +
                 CELL_JUMPS * CELL_LEVELS * CELL_SIDES * 2 * CELL_SCOPES
};

typedef struct cell {
    cell_class class;
    uint32_t part[CELL_PARTS]; /* those that the class does not have are 0 */
} cell;

/* Numbers below CELL_COUNT, and back. */
uint32_t cell_number(cell c);
cell cell_of(uint32_t number);
/* How many parts the class has. */
uint32_t cell_parts(cell_class class);

/* Why no valid program holds it, or NULL. */
const char *cell_refusal(cell c);

/* "atomic_add on u32 in" and "a buffer": all parts but the last, and the last. */
void cell_row_name(cell c, char *out, size_t size);
const char *cell_last_name(cell c);

#endif
