/* The generator of order-free programs: what its files share.
 *
 * Why a result can't depend on the order of lanes: at each point of a body every array has a mode,
 * and what is done with it between two barriers that end its interval follows the mode:
 *   OWN      a lane loads and stores only elements that no other lane touches
 *   SHARED   anyone loads anything, nobody writes
 *   ATOMIC   one commutative integer atomic, old values unused; no loads, no stores
 * Modes change only at a barrier (buffers: of the grid), are the same at the end of every arm and
 * loop body as at its beginning, and a function is called in the modes that its body begins with.
 * So no two lanes touch one element in one interval, one of them writing, except by atomics that
 * commute.
 *
 * Why barriers stand in uniform control: every variable has a level (the same for the grid, the
 * group, the subgroup, or the lane alone); it is assigned only values of that level, under control
 * of that level. Why it ends: every loop is counted, with few trips. */
#ifndef VYRE_TESTS_RANDOM_ORDER_FREE_H
#define VYRE_TESTS_RANDOM_ORDER_FREE_H

#include "random/cells.h"
#include "random/exprs.h"

enum { ARRAYS = 16, VALUES = 6, FNS = 2, LOCALS = 48, NAME = 16, MOST_NESTING = 4 };

typedef enum level { LEVEL_GRID, LEVEL_GROUP, LEVEL_SUBGROUP, LEVEL_LANE } level;
typedef enum mode { MODE_OWN, MODE_SHARED, MODE_ATOMIC } mode;

typedef struct usage {
    mode mode;
    vyre_atomic_op atomic;
} usage;

/* Modes of all arrays at a point. */
typedef struct modes {
    usage of[ARRAYS];
} modes;

typedef struct array {
    vyre_decl decl;
    vyre_role role;
    vyre_type type;
    uint32_t lanes;  /* a lane owns the elements (its number) + k * lanes, */
    uint32_t copies; /* k below copies; private arrays: all of them */
    uint32_t rank;   /* dimensions, */
    uint32_t length[3];
} array;

typedef struct local {
    vyre_var var;
    vyre_type type;
    level level;
    bool fixed; /* counts a loop, or is a number of the lane: never assigned */
} local;

typedef struct function {
    vyre_fn fn;
    vyre_type argument, result;
    bool waits;
    modes begin, end;
    uint32_t used; /* set of arrays */
} function;

/* What a body rarely has by chance: each program draws some of them, and gets them. */
typedef enum wish {
    WISH_COLLECTIVE,
    WISH_SWAP, /* of twins, which such a program has */
    WISH_COPY, /* pending at a grid barrier */
    WISH_TRAP,
    WISH_CALL,
    WISH_LOOP,     /* with a grid barrier */
    WISH_GROUP,    /* a value of the group that can't be recomputed */
    WISH_EXCHANGE, /* a barrier for workgroup memory only */
    WISH_REGION,   /* with a grid barrier */
    WISH_ATOMIC,   /* a cell of atomics, on the lane's own element */
    WISH_JUMP,     /* a cell of jumps */
    WISH_STRIDE,   /* a loop over all elements */
    WISH_BASE,     /* a base plus the lane's place, over a grid barrier */
    WISH_REDUCE,   /* a cell of reductions and scans */
    WISH_ITERATE,  /* while (grid_any(...)) */
    WISH_EVEN,     /* a loop that lanes begin apart, with a grid barrier */
    WISH_TURNS,    /* elements that are told apart from trip to trip */
    WISH_ALIKE,  /* a value that every group computes alike, in a program without lanes that end */
    WISH_TILE,   /* a cell of tiles */
    WISH_SCAN,   /* steps of 1, 2, 4, ... in memory of the group */
    WISH_ROWS,   /* loops in which lanes walk along rows of their own */
    WISH_APPEND, /* a list that lanes append to */
    WISHES
} wish;

/* Where a statement stands. */
typedef struct place {
    level level;
    bool waits;       /* may wait for lanes; false in a function that must not */
    bool loop;        /* inside a loop of this body, */
    level loop_level; /* left by lanes of this level together, */
    modes loop_modes; /* in these modes */
    bool steady;      /* the lists around, up to the loop, began in these modes and must end so */
    bool in_if;       /* inside an if of the loop's trip, */
    uint32_t before;  /* at whose beginning so many were assigned */
    uint32_t loop_locals;
    level loop_rest; /* of the trip around */
    uint32_t depth, trips;
} place;

typedef struct order_free {
    random_exprs x;    /* first: the leaf callback casts */
    level level;       /* that the expression being built must have */
    bool repeated;     /* it stands in the program more than once */
    level least;       /* of variables that may be assigned */
    uint32_t assigned; /* how often one that is not the lane's alone was */
    level rest;        /* who is left in this trip: some lanes may have gone on to the next */
    uint32_t group_lanes, lanes;
    uint32_t axes;
    uint32_t size[3]; /* of the group */
    bool indirect;
    uint32_t words_offset; /* of the indirect dispatch */
    uint32_t wishes;       /* set of what is still to come */
    bool traps;
    bool stays;                /* no lane ends */
    cell atomic, jump, reduce; /* those wished for */
    cell tile_cell;
    uint32_t atomic_array;
    const function *returns; /* that the jump is in, or NULL */
    array arrays[ARRAYS];
    uint32_t array_count;
    vyre_decl flags;            /* of those wished for by turns */
    vyre_decl tile, sum;        /* of what is computed alike */
    vyre_decl rows, turned;     /* a row of each lane, to load and to store, */
    uint32_t row;               /* so long */
    vyre_decl list, heads;      /* what lanes append to, and how much */
    uint32_t listed;            /* what they append */
    uint32_t first_twin, twins; /* arrays of one type and size, one behind the other */
    uint32_t pending;           /* copies */
    modes modes;
    uint32_t used; /* arrays touched by the body being built */
    vyre_decl values[VALUES];
    vyre_type value_types[VALUES];
    uint32_t value_count;
    function fns[FNS];
    uint32_t callable;
    local locals[LOCALS];
    uint32_t local_count;
    vyre_var lane, group_lane; /* numbers of the lane in the grid and in the group */
    uint32_t serial;
    uint32_t budget;
    char name[NAME];
} order_free;

static inline level higher(level a, level b) {
    return a > b ? a : b;
}

/* order_free.c */
void order_free_list(order_free *g, place at, uint32_t most);
level order_free_level(order_free *g);
/* The element by its number: by its indices if the array has several dimensions, and sometimes by
 * indices that lie outside though they add up to it. */
vyre_expr order_free_element(order_free *g, const array *a, vyre_expr number);
void order_free_local(order_free *g, vyre_var var, level l, bool fixed);
void order_free_store(order_free *g);
/* Leaves a trace of the lanes that come here, if the modes allow it. */
void order_free_trace(order_free *g);
void order_free_sync(order_free *g, place at, bool grid);
/* A barrier if one may stand there, and new modes. */
void order_free_barrier(order_free *g, place at);
/* Back to `wanted` for the arrays of the set, by a barrier if any differs. False: not possible. */
bool order_free_settle(order_free *g, place at, const modes *wanted, uint32_t set);

/* order_free_control.c */
void order_free_if(order_free *g, place at);
void order_free_block(order_free *g, place at, bool over_sync);
void order_free_loop(order_free *g, place at, level most, bool over_sync);
/* False, and nothing done, if there are too many trips already. */
bool order_free_begin_loop(order_free *g, place at, level most, place *out_inside);
void order_free_end_loop(order_free *g, const place *inside);
/* for (i in global_id.x .. n step global_size.x) */
void order_free_stride(order_free *g, place at);
/* let b = e + global_id.x * 3; while (...) { grid_sync; b = b + e; } */
void order_free_base(order_free *g, place at);
/* for (i in local_id.x .. 3 * s step s) { grid_sync; } */
void order_free_even(order_free *g, place at);
/* for (i in 0 .. n) { flags[i % 3] |= ...; flags[(i + 1) % 3] = 0; grid_sync; if (flags[i % 3] ...)
 * } */
void order_free_turns(order_free *g, place at);
/* tile[local] = ...; atomic_add(sum, ...); barrier; for (i in 0 .. tile[k] ^ sum & 3) { grid_sync;
 * } */
void order_free_alike(order_free *g, place at);
/* for (k in 0 .. n) { sum += rows[lane * n + k]; } for (...) { turned[lane * n + k] = ...; } */
void order_free_rows(order_free *g);
void order_free_append(order_free *g);
void order_free_leaving(order_free *g, place at);
void order_free_trap(order_free *g, place at);
void order_free_call(order_free *g, place at);
/* In the modes that the function begins with. */
void order_free_call_fn(order_free *g, const function *f);

/* order_free_jumps.c: the jump wished for. */
void order_free_jump(order_free *g, place at);

/* order_free_reduce.c: any reduction or scan, if one may stand there; that wished for, at the top
 * of the entry body; and a loop that goes on as long as some lane says so. */
void order_free_reduce(order_free *g, place at);
void order_free_wanted_reduce(order_free *g, place at);
void order_free_iterate(order_free *g, place at);

/* order_free_tile.c: memory of the group or the lane that is set anew, or nearly. */
void order_free_tile(order_free *g, place at);

/* order_free_scan.c: the sums of all lanes before each, by doubling steps, or nearly. */
void order_free_scan(order_free *g);

/* order_free_values.c */
void order_free_declare(order_free *g);
const char *order_free_name(order_free *g, const char *stem);
/* An expression of at most that level. */
vyre_expr order_free_expr(order_free *g, vyre_type type, level most);
/* A u32 below `bound`. */
vyre_expr order_free_below(order_free *g, uint32_t bound, level most);
/* The lane's number in the grid (or group) from the ids. */
vyre_expr order_free_lane(order_free *g, bool group);
/* An element of the array that only this lane touches. */
vyre_expr order_free_own(order_free *g, const array *a);
vyre_expr order_free_own_copy(order_free *g, const array *a, uint32_t copy);
/* An array in that mode that may be written, or NULL. */
const array *order_free_pick(order_free *g, mode m);
void order_free_touch(order_free *g, const array *a);
void order_free_draw(order_free *g, bool buffers);

#endif
