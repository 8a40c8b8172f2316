/* Inside of the reference backend: the machine that all its files work on.
 *
 * A lane is a program counter into the linear statements plus its variables. Waiting at a barrier,
 * at any nesting, is simply standing at its statement; nothing is saved or restored. When the
 * program can wait for the grid, or the order mixes groups, all lanes of the grid exist at once;
 * otherwise the lanes of one group exist and are used again for the next. Either way the groups
 * that exist are called resident and numbered from 0. */
#ifndef VYRE_SRC_BACKEND_REF_MACHINE_H
#define VYRE_SRC_BACKEND_REF_MACHINE_H

#include "backend/ref/ref.h"
#include "base/alloc.h"
#include "base/diag.h"

typedef enum vyre_ref_state {
    VYRE_REF_RUNNING,
    VYRE_REF_VOTING, /* at a subgroup operation, its operands evaluated */
    VYRE_REF_PARKED, /* at a barrier, grid barrier or collective */
    VYRE_REF_WOKEN,  /* released, not yet back in the schedule */
    VYRE_REF_ENDED
} vyre_ref_state;

/* An async copy between its begin and its wait. */
typedef struct vyre_ref_transfer {
    uint8_t *bytes; /* captured at begin; NULL: none pending */
    size_t size;
    size_t offset;  /* in the destination */
    vyre_decl decl; /* the destination */
} vyre_ref_transfer;

typedef struct vyre_ref_lane {
    vyre_stmt pc;
    vyre_stmt end;     /* of the body it is in */
    uint32_t group;    /* resident number */
    uint32_t local;    /* number in its group, x fastest */
    uint8_t state;     /* vyre_ref_state */
    bool committing;   /* a store whose operands are evaluated; see step_store */
    uint32_t depth;    /* of calls */
    uint64_t value;    /* operands of a store, or of an operation of several lanes */
    uint32_t selector; /* its lane or index */
    uint64_t *slots;   /* one per variable, then end and step of each `for` */
    vyre_stmt *calls;  /* the CALL statements it is in */
    vyre_ref_transfer *transfers;
} vyre_ref_lane;

typedef struct vyre_ref_group {
    uint64_t number; /* in the grid, x fastest */
    uint32_t id[3];
    uint32_t living;
    uint32_t parked;
    uint32_t interval; /* between barriers of any kind, for races */
} vyre_ref_group;

typedef struct vyre_ref_subgroup {
    uint32_t living;
    uint32_t voting;
    uint32_t parked;
} vyre_ref_subgroup;

/* A value of a reduction or scan. */
typedef struct vyre_ref_position {
    uint64_t value;
    bool present;
} vyre_ref_position;

/* A buffer, workgroup or private array. */
typedef struct vyre_ref_array {
    uint8_t *data;
    size_t stride; /* bytes from one owner (group, lane) to the next; 0 for buffers */
    uint32_t count;
    uint32_t owners;
    uint8_t size; /* of an element */
    uint8_t type;
    uint8_t role;
    struct vyre_ref_shadow *shadow; /* per owner and element; NULL: races are not looked for */
} vyre_ref_array;

typedef enum vyre_ref_touch {
    VYRE_REF_READ,
    VYRE_REF_WRITE,
    VYRE_REF_ATOMIC, /* reads and writes */
    VYRE_REF_ATOMIC_READ,
    VYRE_REF_TOUCHES
} vyre_ref_touch;

typedef struct vyre_ref_machine {
    const vyre_ref_args *args;
    const vyre_program_view *program;
    vyre_allocator allocator;
    vyre_diag *diag;
    vyre_ref_result result;

    vyre_ref_array *arrays; /* per declaration; count 0 where it is no memory */
    uint64_t *scalars;      /* per declaration: value of a param or const */
    uint64_t *stack;        /* values of the expressions of the statement being executed */
    uint32_t stack_count;
    uint32_t *asked; /* per expression: the &&, || or ?: whose next part may be left out; or 0 */
    uint32_t *aux;   /* per statement. FOR: slot of its end; ASYNC_*: number of the transfer */
    uint32_t slot_count, transfer_count, call_depth;

    uint32_t group_lanes, group_subgroups;
    uint64_t group_count;
    uint32_t resident; /* groups that exist at once */
    uint32_t lane_count;
    vyre_ref_lane *lanes;
    vyre_ref_group *groups;
    vyre_ref_subgroup *subgroups;
    uint64_t *slots;
    vyre_stmt *calls;
    vyre_ref_transfer *transfers;
    uint32_t *active, *woken; /* the schedule: lanes in the order of their turns */
    uint32_t woken_count;
    uint64_t living;
    /* Room for reductions and scans: two positions for each lane of a group, and for each group. */
    vyre_ref_position *row, *row_before, *totals, *totals_before;
    size_t row_count; /* in all; 0: there are none */

    uint32_t fuel; /* steps until budget, time and cancellation are looked at again */
    uint64_t fuel_given;
    uint64_t random;

    bool trapped; /* in this interval */
    uint64_t trap_lane, trap_address;
    vyre_stmt trap_stmt;

    uint32_t interval;        /* between grid barriers, for races */
    uint32_t group_intervals; /* of groups, given out so far */
} vyre_ref_machine;

/* layout.c: allocates everything for a dispatch, evaluates consts and sizes; and frees it. finish
 * accepts a machine whose init failed. */
vyre_status vyre_ref_machine_init(vyre_ref_machine *m);
void vyre_ref_machine_finish(vyre_ref_machine *m);
/* Puts the resident groups at the start of the program; the first has the given number. */
void vyre_ref_machine_start(vyre_ref_machine *m, uint64_t first_group);

/* eval.c: finds what && || ?: may leave out. */
void vyre_ref_eval_prepare(vyre_ref_machine *m);
/* The values of expressions [first, end) go to m->stack[0 ..]. lane NULL: constants. */
void vyre_ref_eval(vyre_ref_machine *m, const vyre_ref_lane *lane, uint32_t first, uint32_t end);
/* One operator on operands of the given type (the type of the first operand). */
uint64_t vyre_ref_apply(vyre_expr_op op, vyre_type type, uint64_t x, uint64_t y, uint64_t z);

/* The value of an operand of the statement just evaluated. */
static inline uint64_t vyre_ref_operand(const vyre_ref_machine *m, const vyre_stmt_node *s,
                                        vyre_expr expr) {
    return m->stack[expr - s->first_expr];
}
/* A lane's number in the grid. */
static inline uint64_t vyre_ref_number(const vyre_ref_machine *m, const vyre_ref_lane *lane) {
    return m->groups[lane->group].number * m->group_lanes + lane->local;
}
static inline size_t vyre_ref_owner(const vyre_ref_machine *m, const vyre_ref_array *array,
                                    const vyre_ref_lane *lane) {
    return array->role == VYRE_PRIVATE     ? (size_t)(lane - m->lanes)
           : array->role == VYRE_WORKGROUP ? lane->group
                                           : 0;
}
static inline uint8_t *vyre_ref_base(const vyre_ref_machine *m, const vyre_ref_array *array,
                                     const vyre_ref_lane *lane) {
    return array->stride ? array->data + array->stride * vyre_ref_owner(m, array, lane)
                         : array->data;
}

/* memory.c */
uint64_t vyre_ref_memory_load(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                              uint32_t index);
void vyre_ref_memory_store(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                           uint32_t index, uint64_t value);
/* Does an ATOMIC statement; gives the old value. */
uint64_t vyre_ref_memory_atomic(vyre_ref_machine *m, const vyre_ref_lane *lane,
                                const vyre_stmt_node *s);
vyre_status vyre_ref_async_begin(vyre_ref_machine *m, vyre_ref_lane *lane, const vyre_stmt_node *s);
void vyre_ref_async_wait(vyre_ref_machine *m, vyre_ref_lane *lane);
void vyre_ref_async_drop(vyre_ref_machine *m, vyre_ref_lane *lane);
/* What a collective does on one rank, or a swap. */
void vyre_ref_collective(vyre_ref_machine *m, const vyre_stmt_node *s);

/* subgroup.c: does the SUBGROUP statement that lanes [first, first + count) vote on. */
void vyre_ref_subgroup_vote(vyre_ref_machine *m, vyre_ref_lane *first, uint32_t count);

/* reduce.c: does the GROUP statement that the living lanes of a resident group wait at; the GRID
 * statement that those of the grid do. */
void vyre_ref_reduce_group(vyre_ref_machine *m, const vyre_stmt_node *s, uint32_t group);
void vyre_ref_reduce_grid(vyre_ref_machine *m, const vyre_stmt_node *s);

/* race.c */
vyre_status vyre_ref_races_init(vyre_ref_machine *m);
void vyre_ref_races_finish(vyre_ref_machine *m);
/* The statement at lane->pc touches an element; value: what a WRITE stored. */
void vyre_ref_races_touch(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                          uint32_t index, vyre_ref_touch touch, uint64_t value);
/* Removes reports that turned out to be part of others. */
void vyre_ref_races_report(vyre_ref_machine *m);
/* outside.c: the lane's statement asks for an element that is not there. */
void vyre_ref_outside(vyre_ref_machine *m, const vyre_ref_lane *lane, vyre_decl decl,
                      vyre_expr first, vyre_expr index, bool writes);

#endif
