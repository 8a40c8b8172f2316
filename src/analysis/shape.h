/* Shapes: how a value is spread over the lanes, and which lanes come to a statement together.
 * The validator, fission and the vectoriser all read this one analysis. */
#ifndef VYRE_SRC_ANALYSIS_SHAPE_H
#define VYRE_SRC_ANALYSIS_SHAPE_H

#include "analysis/effects.h"
#include "vyre/limits.h"

/* From known to unknown. LINEAR means: along x, a value that is equal in a row plus stride times
 * local_id.x (modulo the width of the type); stride 1 is "consecutive". */
typedef enum vyre_shape_kind {
    VYRE_SHAPE_NONE,  /* no lane has such a value */
    VYRE_SHAPE_GRID,  /* the same for every lane of the grid */
    VYRE_SHAPE_GROUP, /* the same for every lane of a workgroup */
    VYRE_SHAPE_ROW,   /* the same for lanes of a workgroup that differ only in x */
    VYRE_SHAPE_LINEAR,
    VYRE_SHAPE_SUBGROUP, /* the same for every lane of a subgroup; only vyre_shape_in_subgroup
                            compares it with ROW */
    VYRE_SHAPE_VARYING
} vyre_shape_kind;

typedef struct vyre_shape {
    uint8_t kind;   /* vyre_shape_kind */
    bool aligned;   /* LINEAR of stride 1: the first lane of each subgroup has a multiple of 32 */
    bool differs;   /* a lane with the same local id may have another one in another group; never
                       of GRID, always of GROUP */
    int32_t stride; /* LINEAR: not 0; else 0 */
} vyre_shape;

/* Whether such a value is the same for all lanes of a scope: GRID or GROUP. */
static inline bool vyre_shape_uniform(vyre_shape shape, vyre_shape_kind scope) {
    return shape.kind <= (uint8_t)scope;
}

/* Whether each subgroup lies in one row of lanes along x. */
static inline bool vyre_rows_hold_subgroups(const vyre_program_view *p) {
    return p->workgroup[0] % VYRE_SUBGROUP_SIZE_FIXED == 0 ||
           (p->workgroup[1] == 1 && p->workgroup[2] == 1);
}

/* Whether such a value is the same for all lanes of a subgroup. */
static inline bool vyre_shape_in_subgroup(const vyre_program_view *p, vyre_shape shape) {
    return shape.kind <= VYRE_SHAPE_GROUP || shape.kind == VYRE_SHAPE_SUBGROUP ||
           (shape.kind == VYRE_SHAPE_ROW && vyre_rows_hold_subgroups(p));
}

/* What a subgroup operation gives, `asked` being the shape of the lane that a shuffle asks for. */
vyre_shape vyre_subgroup_shape(const vyre_program_view *p, vyre_subgroup_op op, vyre_shape asked);

/* Immutable once made; keeps pointers to program and effects. */
typedef struct vyre_shapes vyre_shapes;

/* The program must be free of errors other than those of uniformity. Calls are expanded: a function
 * is judged anew at each call, with the shapes of its arguments. */
vyre_status vyre_shapes_create(const vyre_program *program, const vyre_effect_map *effects,
                               const vyre_allocator *allocator, vyre_shapes **out_shapes);
void vyre_shapes_destroy(vyre_shapes *shapes);

/* Effects and shapes of a program, for those who need nothing in between. */
typedef struct vyre_shaped {
    vyre_effect_map *effects;
    vyre_shapes *shapes;
} vyre_shaped;
/* VYRE_OUT_OF_MEMORY leaves nothing to finish. */
vyre_status vyre_shaped_init(vyre_shaped *shaped, const vyre_program *program,
                             const vyre_allocator *a);
/* The same with vyre_shapes_create_given. */
vyre_status vyre_shaped_init_given(vyre_shaped *shaped, const vyre_program *program,
                                   const vyre_allocator *a);
void vyre_shaped_finish(vyre_shaped *shaped);

/* Visits are the statements of the entry body in order, each call followed by the body of its
 * function. Without calls, visit i is statement entry + i. */
uint32_t vyre_shapes_visit_count(const vyre_shapes *shapes);
vyre_stmt vyre_shapes_stmt(const vyre_shapes *shapes, uint32_t visit);
/* Which lanes come to the visit together: uniform over a scope if all lanes of it that have not
 * ended, or none, come there, in the same trip of every loop around. Never LINEAR. */
vyre_shape vyre_shapes_control(const vyre_shapes *shapes, uint32_t visit);
/* Shapes of the visit's expressions: out[i] is that of expression first_expr + i. */
void vyre_shapes_exprs(const vyre_shapes *shapes, uint32_t visit, vyre_shape *out);

/* Least and greatest value of a u32 or i32 expression of the visit, as far as bounds tell. False:
 * no lane computes it, or it is of another type. Uses memory of `shapes`, as vyre_shapes_why does.
 */
bool vyre_shapes_range(vyre_shapes *shapes, uint32_t visit, vyre_expr expr, int64_t *out_lo,
                       int64_t *out_hi);

/* Whether lanes make as many trips of the FOR at the visit wherever they start: those that share
 * its end and step. */
bool vyre_shapes_even(const vyre_shapes *shapes, uint32_t visit);

/* Whose lanes wait for each other at the visit: of the grid, the group or the subgroup; VARYING:
 * nobody waits. */
vyre_shape_kind vyre_shapes_waiters(const vyre_shapes *shapes, uint32_t visit);
/* Whether all of them come there together. */
bool vyre_shapes_together(const vyre_shapes *shapes, uint32_t visit);

/* Why the control at a visit is not uniform over a scope, as a chain of causes from the condition
 * to the origin. */
typedef enum vyre_cause_kind {
    VYRE_CAUSE_CONDITION, /* this condition splits the lanes (`visit` is an if, for or while) */
    VYRE_CAUSE_ASSIGNED,  /* `var` gets its value at `visit` */
    VYRE_CAUSE_MERGED,    /* `var` is assigned under the condition at `visit` */
    VYRE_CAUSE_LEFT,      /* `var` is assigned in the loop at `visit`, which lanes leave apart */
    VYRE_CAUSE_RESULT     /* `var` is the result of an atomic, an opaque function, an operation of
                             lanes: never uniform over the scope */
} vyre_cause_kind;

typedef enum vyre_origin_kind {
    VYRE_ORIGIN_VAR,     /* depends on `origin_var`, which the next cause explains */
    VYRE_ORIGIN_BUILTIN, /* depends on an id: `origin` */
    VYRE_ORIGIN_WRITTEN, /* load `origin` of memory that `writer` writes in the same interval */
    VYRE_ORIGIN_SHARED,  /* load of workgroup memory: not the same in all groups */
    VYRE_ORIGIN_PRIVATE, /* load of a private array */
    VYRE_ORIGIN_NONE     /* the statement itself varies (RESULT) */
} vyre_origin_kind;

typedef struct vyre_cause {
    vyre_cause_kind kind;
    uint32_t visit;
    vyre_var var; /* or VYRE_NONE */
    vyre_origin_kind origin_kind;
    vyre_expr origin;    /* or VYRE_NONE */
    vyre_var origin_var; /* or VYRE_NONE */
    uint32_t writer;     /* visit, or VYRE_NONE */
} vyre_cause;

/* Over GRID, GROUP or SUBGROUP. Uses memory of `shapes`: not to be called from two threads at once.
 * Fills at most `capacity` causes and returns how many; 0 if control is uniform over the scope. */
uint32_t vyre_shapes_why(vyre_shapes *shapes, uint32_t visit, vyre_shape_kind scope,
                         vyre_cause *out, uint32_t capacity);

#endif
