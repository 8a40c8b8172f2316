/* The walk of ranges: frames of open statements and values of variables; for range_*.c only. */
#ifndef VYRE_SRC_ANALYSIS_RANGE_FLOW_H
#define VYRE_SRC_ANALYSIS_RANGE_FLOW_H

#include "analysis/range_state.h"

typedef struct change {
    vyre_var var;
    range_value before;
} change;

/* What an arm made of a variable. */
typedef struct outcome {
    vyre_var var;
    range_value before, after;
    range_interval bounds; /* of `after` */
} outcome;

typedef struct arm_value {
    range_value value;
    range_interval bounds;
} arm_value;

/* What a variable is after an if. */
typedef struct joined {
    vyre_var var;
    range_value value;
    range_value then;  /* its value in the first arm, */
    bool below, above; /* which it is never above, or never below */
} joined;

typedef struct loop_var {
    range_value head;
    range_value exit;           /* at the last break */
    range_interval exit_bounds; /* at all breaks */
    range_interval latch;       /* at all ends of trips */
    bool left, mixed;           /* there was a break; there were several values */
    bool latched;
    bool rises, falls; /* as in range_carried */
} loop_var;

typedef struct frame {
    uint8_t op; /* IF, FOR, WHILE, BLOCK, REGION */
    bool live_before, then_live, has_else;
    bool has_break;
    bool overflow; /* of a loop: too many jumps times variables */
    vyre_stmt stmt;
    vyre_expr condition; /* IF, WHILE; else VYRE_NONE */
    range_mark mark;
    uint32_t changes, outcomes; /* logged before */
    uint32_t then_end;          /* outcomes of the first arm end here */
} frame;

typedef struct range_flow {
    range_state *s;
    const vyre_assigned *assigned;
    range_carried *carried; /* per entry of `assigned` */
    loop_var *loop_vars;    /* the same */
    uint32_t *bound;        /* per variable: frames open at its binding */
    uint32_t *seen, *other; /* per variable: serial of the last scan that met it, and its outcome */
    uint8_t *mutable;       /* per variable: it is assigned somewhere */
    uint32_t serial;
    VYRE_VEC(frame) frames;
    VYRE_VEC(change) changes;
    VYRE_VEC(outcome) outcomes;
    VYRE_VEC(joined) joined;
    bool live; /* lanes may come here */
} range_flow;

void range_open_if(range_flow *w, const vyre_stmt_node *stmt);
void range_begin_else(range_flow *w);
void range_open_loop(range_flow *w, const vyre_stmt_node *stmt);
void range_open_block(range_flow *w, const vyre_stmt_node *stmt);
/* The end of what was opened last. */
void range_close(range_flow *w);
/* break, continue */
void range_jump(range_flow *w, const vyre_stmt_node *stmt);
/* let, assignment, and results of atomics and subgroup operations */
void range_define(range_flow *w, const vyre_stmt_node *stmt);

#endif
