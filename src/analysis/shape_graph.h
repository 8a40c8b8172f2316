/* The value graph behind shapes; for the files shape_*.c only.
 *
 * Variables have versions, as in SSA: a node for each binding and assignment, and a join after each
 * if, at each loop's head and after each loop. Control is a node too. An edge of a join carries a
 * value, or the control that decides which value arrives. Shapes only rise along the edges, so a
 * work list finds the least solution in time linear in the edges times the height of the lattice
 * (6). */
#ifndef VYRE_SRC_ANALYSIS_SHAPE_GRAPH_H
#define VYRE_SRC_ANALYSIS_SHAPE_GRAPH_H

#include "analysis/assigned.h"
#include "analysis/shape.h"
#include "base/intern.h"
#include "vyre/ir.h"

/* A statement of the expanded program. */
typedef struct shape_visit {
    vyre_stmt stmt;
    uint32_t link;      /* visits: IF -> ELSE or END; ELSE -> END; loop -> END; END -> opener;
                           BREAK, CONTINUE -> opener of the loop */
    uint32_t first_use; /* of its VAR and LOAD expressions, in order */
    uint32_t node;      /* first value node of the visit, or VYRE_NONE */
    uint32_t control;   /* node */
    bool runs;          /* a loop: it makes a first trip, whatever happens */
    uint8_t trips;      /* a FOR: shape_trips */
} shape_visit;

/* Do lanes make as many trips wherever they start? Asked only where the start varies. */
typedef enum shape_trips {
    SHAPE_TRIPS_UNASKED,
    SHAPE_TRIPS_EVEN,
    SHAPE_TRIPS_IF, /* if a product of numbers that a dispatch knows does not wrap */
    SHAPE_TRIPS_UNEVEN
} shape_trips;

typedef enum shape_node_kind {
    SHAPE_FIXED, /* keeps the shape it is born with */
    SHAPE_VALUE, /* expression `ref` of the visit */
    SHAPE_ASKED, /* what lanes of the group or subgroup get by asking for expression `ref`, a lane
                  */
    SHAPE_TRIPS, /* whether lanes make the same trips of the FOR at the visit */
    SHAPE_INDEX, /* variable of the FOR at the visit */
    SHAPE_JOIN   /* of the edges listed from `ref` */
} shape_node_kind;

/* Nodes of one visit stand in a row, the first is the visit's. */
typedef struct shape_node {
    uint8_t kind;
    uint8_t shape;   /* vyre_shape_kind */
    uint8_t decider; /* JOIN of values: control that came before the first value, */
    bool decider_differs;
    bool queued;
    bool news;    /* it has risen, and its users were not told */
    bool aligned; /* as in vyre_shape, */
    bool differs; /* so too */
    bool exit;    /* a join after a loop */
    int32_t stride;
    uint32_t visit;
    uint32_t ref;   /* VALUE: expression; JOIN: first edge */
    uint32_t outer; /* control: that around the innermost loop, all loops further out included;
                       or VYRE_NONE */
    vyre_var var;
    uint32_t since[3]; /* when it stopped being uniform over the grid, the group, the subgroup; 0:
                          it is */
} shape_node;

typedef struct shape_edge {
    uint32_t from; /* node, with the top bit set when it is control */
    uint32_t next; /* of the same join, or VYRE_NONE */
} shape_edge;

/* Both ends included; lo > hi: no value at all. */
typedef struct shape_bounds {
    int64_t lo, hi;
} shape_bounds;

/* constant + sum of factor * term + rest, modulo 2^32. The rest is a number between lo and hi of
 * which nothing else is known, another one at each evaluation. */
enum { SHAPE_FORM_TERMS = 4 };
typedef struct shape_form {
    uint32_t constant;
    uint32_t count;
    uint32_t factors[SHAPE_FORM_TERMS]; /* not 0 */
    uint32_t terms[SHAPE_FORM_TERMS];   /* ascending */
    int64_t lo, hi;
} shape_form;

typedef enum shape_term_kind {
    SHAPE_TERM_NODE,    /* the version `ref` of a variable */
    SHAPE_TERM_PARAM,   /* declaration `ref` */
    SHAPE_TERM_LEN,     /* of declaration `ref` */
    SHAPE_TERM_BUILTIN, /* `ref` along `number` */
    SHAPE_TERM_XOR,     /* `of` ^ number */
    SHAPE_TERM_AND,     /* `of` & number */
    SHAPE_TERM_REM      /* `of` % number, no power of two; `of` does not wrap */
} shape_term_kind;

typedef struct shape_term {
    uint8_t kind;
    uint8_t depth; /* of terms in terms */
    uint16_t has_nodes;
    uint32_t ref, number;
    shape_form of;
} shape_term;

struct vyre_shapes {
    vyre_allocator allocator;
    const vyre_program_view *program;
    const vyre_effect_map *effects;
    VYRE_VEC(shape_visit) visits;
    /* VAR: its version's node; LOAD: 1 if the memory may be written in the interval. */
    VYRE_VEC(uint32_t) uses;
    VYRE_VEC(shape_node) nodes; /* node 0 is VARYING */
    bool *unlike;               /* per declaration: groups may hold different things in it */
    VYRE_VEC(shape_edge) edges;
    /* Users of node n: users[first_user[n] .. first_user[n + 1]), as in shape_edge.from. */
    uint32_t *first_user;
    uint32_t *users;
    uint32_t user_count;
    VYRE_VEC(uint32_t) queue; /* nodes to evaluate again; from queue_head on */
    uint32_t queue_head;
    uint32_t clock; /* for `since` */
    uint32_t max_exprs;
    vyre_shape *scratch;          /* of max_exprs, as the next two */
    shape_bounds *bounds_scratch; /* shape_bounds.c */
    shape_form *form_scratch;     /* shape_index.c */
    shape_bounds *bounds;         /* per node */
    uint32_t *form_of;            /* per node: in forms, or VYRE_NONE: a term of its own */
    VYRE_VEC(shape_form) forms;
    VYRE_VEC(shape_term) terms;
    vyre_intern term_keys;
    bool *written;      /* per declaration: by some statement; NULL: not looked for yet */
    bool out_of_memory; /* some term could not be kept */
    bool knows_numbers; /* bounds and forms are there */
    bool assumes;       /* SHAPE_TRIPS_IF is even: the conditions hold (conditions.h) */
};

enum { SHAPE_NODE_VARYING = 0 };

/* Of a value that is the same where both are. */
vyre_shape vyre_shapes_both(const vyre_program_view *p, vyre_shape a, vyre_shape b);
#define SHAPE_NODE_MASK 0x7fffffffu

/* shape_build.c: visits, uses, nodes and edges. */
vyre_status vyre_shapes_build(vyre_shapes *s);
/* shape_solve.c: finds the users of all nodes and enqueues every node once. */
vyre_status vyre_shapes_link(vyre_shapes *s);
/* Works off the queue: shapes of all nodes, given the uses. */
vyre_status vyre_shapes_solve(vyre_shapes *s);
bool vyre_shapes_enqueue(vyre_shapes *s, uint32_t node);
/* Shapes of the visit's expressions under the present shapes of nodes and uses. */
void vyre_shapes_evaluate(const vyre_shapes *s, uint32_t visit, vyre_shape *out);
/* shape_interval.c: marks loads of memory that may be written in the interval around them, under
 * the present shapes of conditions; enqueues what depends on them. Repeat with solve until
 * nothing is enqueued. `cautious` takes every condition as varying. */
vyre_status vyre_shapes_mark_loads(vyre_shapes *s, bool cautious, bool *out_changed);
/* shape.c: shapes under all conditions that a dispatch can test. */
vyre_status vyre_shapes_create_assuming(const vyre_program *program, const vyre_effect_map *effects,
                                        const vyre_allocator *allocator, vyre_shapes **out_shapes);
/* To be called before bounds, forms or what rests on them are asked for. False: out of
 * memory. */
bool vyre_shapes_know_numbers(vyre_shapes *s);
/* shape_alike.c: marks workgroup memory that may not be alike in all groups, under the present
 * shapes; enqueues what depends on it. */
vyre_status vyre_shapes_mark_memory(vyre_shapes *s, bool *out_changed);
/* shape_bounds.c: bounds of all nodes, and which loops surely run. */
vyre_status vyre_shapes_find_bounds(vyre_shapes *s);
/* Bounds of the visit's expressions; into bounds_scratch or the like. */
void vyre_shapes_bounds(const vyre_shapes *s, uint32_t visit, shape_bounds *out);
shape_bounds vyre_shapes_builtin_bounds(const vyre_program_view *p, uint8_t builtin, uint8_t axis);

static inline shape_form vyre_form_constant(uint32_t value) {
    return (shape_form){.constant = value};
}
static inline bool vyre_form_is_exact(const shape_form *f) {
    return f->lo == 0 && f->hi == 0;
}
static inline bool vyre_form_is_constant(const shape_form *f) {
    return f->count == 0 && vyre_form_is_exact(f);
}
/* shape_index.c. Those that give a form are false where it does not fit, or there is no memory.
 * x + factor * y. */
bool vyre_form_add(const shape_form *x, const shape_form *y, uint32_t factor, shape_form *out);
/* The version as a term; what it is bound to, if that has a form. */
bool vyre_form_node(vyre_shapes *s, uint32_t node, shape_form *out);
bool vyre_form_version(vyre_shapes *s, uint32_t node, shape_form *out);
/* Whether the sum, over the integers, is a u32 whatever its terms are. */
bool vyre_form_fits(const vyre_shapes *s, const shape_form *f);
/* form ^ c, form & c, form % c; `fits`: the form is known not to wrap. */
bool vyre_form_masked(vyre_shapes *s, shape_term_kind kind, const shape_form *f, uint32_t c,
                      bool fits, shape_form *out);
/* Forms of all nodes. */
vyre_status vyre_shapes_find_forms(vyre_shapes *s);
/* Forms of the visit's integer expressions, in form_scratch. False: out of memory. */
bool vyre_shapes_forms(vyre_shapes *s, uint32_t visit);
/* Whatever a term is; modulo 2^32. */
shape_bounds vyre_shapes_term_bounds(const vyre_shapes *s, uint32_t term);
/* The versions of variables that the form is made of; VYRE_NONE: too many. */
enum { SHAPE_FORM_NODES = 16 };
uint32_t vyre_shapes_form_nodes(const vyre_shapes *s, const shape_form *form,
                                uint32_t out[SHAPE_FORM_NODES]);

/* shape_trips.c: whether the FOR at the visit is even; into its `trips`. False: out of memory. */
bool vyre_shapes_ask_trips(vyre_shapes *s, uint32_t visit);
/* Of a FOR with SHAPE_TRIPS_IF: the numbers whose product must not wrap, made of params, lengths
 * and sizes of the grid. False: out of memory. */
bool vyre_shapes_product(vyre_shapes *s, uint32_t visit, shape_form *out_x, shape_form *out_y);
/* The loop at whose head some version in the form is bound; VYRE_NONE: none, or several. */
uint32_t vyre_shapes_turning(const vyre_shapes *s, const shape_form *form);
/* What the form is in the next trip of the loop, by the values of this one. False: unknown. */
bool vyre_shapes_turned(vyre_shapes *s, const shape_form *form, uint32_t opener, shape_form *out);

/* shape_apart.c: can two elements of one memory be the same? `scope` is that of all who share it;
 * `cautious` takes every version as varying. */
typedef enum shape_apart {
    SHAPE_MAY_MEET,
    SHAPE_APART_WHILE, /* never while the versions in the first form keep their values */
    SHAPE_APART        /* never */
} shape_apart;
shape_apart vyre_shapes_apart(const vyre_shapes *s, const shape_form *x, const shape_form *y,
                              vyre_shape_kind scope, bool cautious);
/* Successors of a visit (at most 2); returns how many. visit_count stands for the end. */
uint32_t vyre_shapes_successors(const vyre_shapes *s, uint32_t visit, uint32_t out[2]);
/* Whether the intervals of the memory end at the visit. */
bool vyre_shapes_ends_interval(const vyre_shapes *s, uint32_t visit, bool workgroup);

#endif
