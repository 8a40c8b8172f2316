/* The value graph behind shapes; for the files shape_*.c only.
 *
 * Variables have versions, as in SSA: a node for each binding and assignment, and a join after each
 * if, at each loop's head and after each loop. Control is a node too. An edge of a join carries a
 * value, or the control that decides which value arrives. Shapes only rise along the edges, so a
 * work list finds the least solution in time linear in the edges times the height of the lattice
 * (5). */
#ifndef VYRE_SRC_ANALYSIS_SHAPE_GRAPH_H
#define VYRE_SRC_ANALYSIS_SHAPE_GRAPH_H

#include "analysis/assigned.h"
#include "analysis/shape.h"
#include "vyre/ir.h"

/* A statement of the expanded program. */
typedef struct shape_step {
    vyre_stmt stmt;
    uint32_t link;      /* steps: IF -> ELSE or END; ELSE -> END; loop -> END; END -> opener;
                           BREAK, CONTINUE -> opener of the loop */
    uint32_t first_use; /* of its VAR and LOAD expressions, in order */
    uint32_t node;      /* first value node of the step, or VYRE_NONE */
    uint32_t control;   /* node */
} shape_step;

typedef enum shape_node_kind {
    SHAPE_FIXED, /* keeps the shape it is born with */
    SHAPE_VALUE, /* expression `ref` of the step */
    SHAPE_ASKED, /* what lanes of the group get by asking for expression `ref`, a lane */
    SHAPE_TRIPS, /* whether lanes make the same trips of the FOR at the step */
    SHAPE_INDEX, /* variable of the FOR at the step */
    SHAPE_JOIN   /* of the edges listed from `ref` */
} shape_node_kind;

/* Nodes of one step stand in a row, the first is the step's. */
typedef struct shape_node {
    uint8_t kind;
    uint8_t shape;   /* vyre_shape_kind */
    uint8_t decider; /* JOIN of values: control that came before the first value */
    bool queued;
    bool news; /* it has risen, and its users were not told */
    bool exit; /* a join after a loop */
    int32_t stride;
    uint32_t step;
    uint32_t ref;   /* VALUE: expression; JOIN: first edge */
    uint32_t outer; /* control: that around the innermost loop, all loops further out included;
                       or VYRE_NONE */
    vyre_var var;
    uint32_t since[2]; /* when it stopped being uniform over the grid, the group; 0: it is */
} shape_node;

typedef struct shape_edge {
    uint32_t from; /* node, with the top bit set when it is control */
    uint32_t next; /* of the same join, or VYRE_NONE */
} shape_edge;

struct vyre_shapes {
    vyre_allocator allocator;
    const vyre_program_view *program;
    const vyre_effect_map *effects;
    VYRE_VEC(shape_step) steps;
    /* VAR: its version's node; LOAD: 1 if the memory may be written in the interval. */
    VYRE_VEC(uint32_t) uses;
    VYRE_VEC(shape_node) nodes; /* node 0 is VARYING */
    VYRE_VEC(shape_edge) edges;
    /* Users of node n: users[first_user[n] .. first_user[n + 1]), as in shape_edge.from. */
    uint32_t *first_user;
    uint32_t *users;
    uint32_t user_count;
    VYRE_VEC(uint32_t) queue; /* nodes to evaluate again; from queue_head on */
    uint32_t queue_head;
    uint32_t clock; /* for `since` */
    uint32_t max_exprs;
    vyre_shape *scratch; /* of max_exprs */
};

enum { SHAPE_NODE_VARYING = 0 };
#define SHAPE_NODE_MASK 0x7fffffffu

/* shape_build.c: steps, uses, nodes and edges. */
vyre_status vyre_shapes_build(vyre_shapes *s);
/* shape_solve.c: finds the users of all nodes and enqueues every node once. */
vyre_status vyre_shapes_link(vyre_shapes *s);
/* Works off the queue: shapes of all nodes, given the uses. */
vyre_status vyre_shapes_solve(vyre_shapes *s);
bool vyre_shapes_enqueue(vyre_shapes *s, uint32_t node);
/* Shapes of the step's expressions under the present shapes of nodes and uses. */
void vyre_shapes_evaluate(const vyre_shapes *s, uint32_t step, vyre_shape *out);
/* shape_interval.c: marks loads of memory that may be written in the interval around them, under
 * the present shapes of conditions; enqueues what depends on them. Repeat with solve until
 * nothing is enqueued. `cautious` takes every condition as varying. */
vyre_status vyre_shapes_mark_loads(vyre_shapes *s, bool cautious, bool *out_changed);
/* Whether the index is one element, known here. */
bool vyre_shapes_element(const vyre_program_view *p, vyre_expr index, uint32_t *out);
/* Whether the statement, which writes, does so to one element that is known here. */
bool vyre_shapes_writes_element(const vyre_program_view *p, vyre_stmt stmt, uint32_t *out);
/* Successors of a step (at most 2); returns how many. step_count stands for the end. */
uint32_t vyre_shapes_successors(const vyre_shapes *s, uint32_t step, uint32_t out[2]);
/* Whether the intervals of the memory end at the step. */
bool vyre_shapes_ends_interval(const vyre_shapes *s, uint32_t step, bool workgroup);

#endif
