/* The program: what it consists of, how it is read, and how it is built from C.
 *
 * A program is immutable, reference counted and may be shared between threads. It is plain data:
 *   decls   buffers, workgroup and private arrays, params, consts, in declaration order
 *   vars    locals, each bound by exactly one statement (or a function argument)
 *   exprs   expression nodes; operands come before users
 *   stmts   statements in linear order; IF ... ELSE ... END stand in one array, so that every walk
 *           is a loop. Functions come first, then the entry body.
 * Handles are indices into these arrays. VYRE_NONE means "absent". Names are for people: variables
 * are told apart by number.
 *
 * The expressions of a statement are the contiguous range [first_expr, end_expr), in the order in
 * which they are evaluated; each belongs to one statement (or declaration) and to one user. They
 * are pure, except that they load: whatever has an effect is a statement. What stands on the right
 * of && and ||, and in the arms of ?:, is evaluated where C would; a load has no effect, so whoever
 * runs a program may evaluate more than that.
 */
#ifndef VYRE_IR_H
#define VYRE_IR_H

#include "vyre/limits.h"
#include "vyre/type.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_NONE 0xffffffffu

typedef uint32_t vyre_decl; /* index of a declaration */
typedef uint32_t vyre_var;  /* index of a variable */
typedef uint32_t vyre_expr; /* index of an expression */
typedef uint32_t vyre_stmt; /* index of a statement */
typedef uint32_t vyre_fn;   /* index of a function */

typedef enum vyre_expr_op {
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost) VYRE_EXPR_##NAME,
#include "vyre/ops.def"
    VYRE_EXPR_COUNT
} vyre_expr_op;

typedef enum vyre_stmt_op {
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2) VYRE_STMT_##NAME,
#include "vyre/ops.def"
    VYRE_STMT_COUNT
} vyre_stmt_op;

typedef enum vyre_builtin {
#define VYRE_BUILTIN(NAME, spelling, axes) VYRE_BUILTIN_##NAME,
#include "vyre/ops.def"
    VYRE_BUILTIN_COUNT
} vyre_builtin;

typedef enum vyre_atomic_op {
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins) VYRE_ATOMIC_##NAME,
#include "vyre/ops.def"
    VYRE_ATOMIC_COUNT
} vyre_atomic_op;

typedef enum vyre_subgroup_op {
#define VYRE_SUBGROUP(NAME, spelling, operands, asks) VYRE_SUBGROUP_##NAME,
#include "vyre/ops.def"
    VYRE_SUBGROUP_COUNT
} vyre_subgroup_op;

typedef enum vyre_reduce_op {
#define VYRE_REDUCE(NAME, group_spelling, grid_spelling, operands) VYRE_REDUCE_##NAME,
#include "vyre/ops.def"
    VYRE_REDUCE_COUNT
} vyre_reduce_op;

typedef enum vyre_collective_op {
#define VYRE_COLLECTIVE(NAME, spelling, integers_only) VYRE_COLLECTIVE_##NAME,
#include "vyre/ops.def"
    VYRE_COLLECTIVE_COUNT
} vyre_collective_op;

/* SEQ_CST is the default (zero). Atomics take all five; barriers all but RELAXED. */
typedef enum vyre_ordering {
    VYRE_SEQ_CST = 0,
    VYRE_RELAXED,
    VYRE_ACQUIRE,
    VYRE_RELEASE,
    VYRE_ACQ_REL,
    VYRE_ORDERING_COUNT
} vyre_ordering;

/* Which types the operands of an expression may have. Two or three operands have one type unless
 * said otherwise. */
typedef enum vyre_operands {
    VYRE_OPERANDS_NONE,
    VYRE_OPERANDS_ANY,        /* every computing type */
    VYRE_OPERANDS_NUMBER,     /* u32 i32 u64 i64 f32 f64 */
    VYRE_OPERANDS_INTEGER,    /* u32 i32 u64 i64 */
    VYRE_OPERANDS_WORD,       /* u32 i32 */
    VYRE_OPERANDS_U32,        /* u32 */
    VYRE_OPERANDS_FLOAT,      /* f32 f64 */
    VYRE_OPERANDS_ELEMENTARY, /* floats; devices rarely have it exactly */
    VYRE_OPERANDS_LOGIC,      /* bool or u32, each on its own */
    VYRE_OPERANDS_SHIFT,      /* integer; amount u32 or the left type */
    VYRE_OPERANDS_SELECT,     /* condition LOGIC; two arms of one computing type */
    VYRE_OPERANDS_BITS,       /* u32 i32 f32, or u64 i64 f64, for the same width */
    VYRE_OPERANDS_INDEX       /* u32 */
} vyre_operands;

typedef enum vyre_result {
    VYRE_RESULT_OWN,  /* the node says: literal, variable, element, cast target */
    VYRE_RESULT_SAME, /* type of the first operand */
    VYRE_RESULT_ARMS, /* type of the second operand */
    VYRE_RESULT_UNSIGNED /* unsigned type of the first operand's width */,
    VYRE_RESULT_BOOL,
    VYRE_RESULT_U32
} vyre_result;

typedef enum vyre_form {
    VYRE_FORM_LEAF,
    VYRE_FORM_PREFIX,
    VYRE_FORM_INFIX,
    VYRE_FORM_TERNARY,
    VYRE_FORM_CALL,
    VYRE_FORM_SPECIAL
} vyre_form;

typedef enum vyre_scope {
    VYRE_SCOPE_NONE,
    VYRE_SCOPE_OPEN,
    VYRE_SCOPE_ELSE,
    VYRE_SCOPE_END
} vyre_scope;

typedef enum vyre_effects {
    VYRE_EFFECTS_NONE,
    VYRE_EFFECTS_VAR,
    VYRE_EFFECTS_WRITE,
    VYRE_EFFECTS_ATOMIC,
    VYRE_EFFECTS_SYNC,
    VYRE_EFFECTS_FLOW,
    VYRE_EFFECTS_ALL
} vyre_effects;

/* Bits of who waits for whom. */
typedef enum vyre_waits {
    VYRE_WAITS_NONE = 0,
    VYRE_WAITS_SUBGROUP = 1,
    VYRE_WAITS_GROUP = 2,
    VYRE_WAITS_GRID = 4 /* grid_sync, operations over the grid, collectives and swap */
} vyre_waits;

/* Bits of what is done to memory. */
typedef enum vyre_touches {
    VYRE_TOUCHES_NONE = 0,
    VYRE_TOUCHES_READ = 1,
    VYRE_TOUCHES_WRITE = 2,
    VYRE_TOUCHES_BOTH = 3
} vyre_touches;

/* Rows of the table. Static, constant; the functions accept any value below the _COUNT. */
typedef struct vyre_expr_info {
    const char *name;     /* "ADD" */
    const char *spelling; /* "+" */
    uint8_t form, arity, operands, result;
    uint8_t cost; /* in operations, roughly */
} vyre_expr_info;
typedef struct vyre_stmt_info {
    const char *name;
    const char *spelling;
    uint8_t scope, binds, args, effects, waits, decl, decl2;
} vyre_stmt_info;

VYRE_API const vyre_expr_info *vyre_expr_info_of(vyre_expr_op op);
VYRE_API const vyre_stmt_info *vyre_stmt_info_of(vyre_stmt_op op);
VYRE_API const char *vyre_builtin_name(vyre_builtin builtin); /* "global_id", without the axis */
VYRE_API uint32_t vyre_builtin_axes(vyre_builtin builtin);    /* 3 or 1 */
VYRE_API const char *vyre_atomic_name(vyre_atomic_op op);
VYRE_API bool vyre_atomic_takes_floats(vyre_atomic_op op);
VYRE_API uint32_t vyre_atomic_values(vyre_atomic_op op); /* besides the element */
VYRE_API const char *vyre_subgroup_name(vyre_subgroup_op op);
VYRE_API vyre_operands vyre_subgroup_operands(vyre_subgroup_op op);
VYRE_API bool vyre_subgroup_asks(vyre_subgroup_op op); /* shuffles: for a lane, or how far away */
/* What it gives of values of that type. */
VYRE_API vyre_type vyre_subgroup_type(vyre_subgroup_op op, vyre_type value);
/* Reductions and scans; the name for the grid is "" for those of groups only. */
VYRE_API const char *vyre_reduce_name(vyre_reduce_op op, bool grid);
VYRE_API vyre_operands vyre_reduce_operands(vyre_reduce_op op);
/* Type of the result on values of a type. */
VYRE_API vyre_type vyre_reduce_type(vyre_reduce_op op, vyre_type value);
VYRE_API const char *vyre_collective_name(vyre_collective_op op);
VYRE_API const char *vyre_ordering_name(vyre_ordering ordering);
/* Whether a value of the type may stand as operand number `operand` of a row with these operands.
 */
VYRE_API bool vyre_operands_accept(vyre_operands operands, uint32_t operand, vyre_type type);

/* What a declaration is for. */
typedef enum vyre_role {
    VYRE_IN = 0,    /* caller's bytes, read only */
    VYRE_INOUT,     /* caller's bytes, returned */
    VYRE_OUT,       /* starts as zeros, may be read and written, returned */
    VYRE_SCRATCH,   /* starts as zeros, device only */
    VYRE_WORKGROUP, /* zero at the start of each workgroup; constant size */
    VYRE_PRIVATE,   /* zero at the start of each lane; constant size */
    VYRE_PARAM,     /* one uniform scalar, set at dispatch */
    VYRE_CONST,     /* a name for a constant */
    VYRE_ROLE_COUNT
} vyre_role;

VYRE_API const char *vyre_role_name(vyre_role role); /* "in", "inout", ... */
static inline bool vyre_role_is_buffer(vyre_role role) {
    return role <= VYRE_SCRATCH;
}
static inline bool vyre_role_is_memory(vyre_role role) {
    return role <= VYRE_PRIVATE;
}

typedef struct vyre_decl_node {
    const char *name;
    uint8_t role;        /* vyre_role */
    uint8_t type;        /* vyre_type of an element or value */
    uint8_t access;      /* vyre_access: narrowed by splitting; VYRE_ACCESS_FULL in sources */
    uint8_t rank;        /* memory: dimensions, 1 to 3; else 0 */
    vyre_expr size;      /* memory: number of elements, an exact-integer expression; VYRE_NONE for a
                            buffer whose size the caller's bytes decide */
    vyre_expr value;     /* param: default (a literal) or VYRE_NONE; const: its value */
    vyre_expr inner;     /* memory of several dimensions without size: the product of all but the
                            first, as vyre_decl_dimension takes it apart; else VYRE_NONE */
    uint32_t first_expr; /* expressions of size, value and inner */
    uint32_t end_expr;
    uint32_t range_begin; /* output byte range [begin, end) to return; */
    uint32_t range_end;   /* both 0: everything */
} vyre_decl_node;

typedef enum vyre_access {
    VYRE_ACCESS_FULL = 0, /* what the role says */
    VYRE_ACCESS_READ,     /* this program only reads it */
    VYRE_ACCESS_WRITE     /* this program only writes it, all of it */
} vyre_access;

typedef struct vyre_var_node {
    const char *name;
    uint8_t type;
    uint8_t kind; /* vyre_var_kind */
    vyre_fn fn;   /* the function it belongs to; VYRE_NONE for the entry body */
} vyre_var_node;

typedef enum vyre_var_kind {
    VYRE_VAR_LOCAL = 0, /* bound by let, call or operation; may be assigned */
    VYRE_VAR_LOOP,      /* bound by for; may not be assigned */
    VYRE_VAR_ARGUMENT   /* of a function; may be assigned */
} vyre_var_kind;

typedef struct vyre_expr_node {
    uint8_t op;   /* vyre_expr_op */
    uint8_t type; /* vyre_type of the value; always a computing type */
    uint8_t sub; /* BUILTIN: vyre_builtin; CAST: target vyre_type, which may be a stored-only one */
    uint8_t axis; /* BUILTIN: 0..2 */
    uint32_t ref; /* VAR: vyre_var; REF, LEN, LOAD: vyre_decl */
    union {
        vyre_expr arg[3]; /* operands, as many as the arity; LOAD: arg[0] is the index */
        uint64_t bits;    /* LITERAL: the value's bits, zero-extended; bool 0 or 1; signed values in
                             two's complement of their own width; floats are finite */
    } u;
} vyre_expr_node;

typedef struct vyre_stmt_node {
    uint8_t op;       /* vyre_stmt_op */
    uint8_t sub;      /* ATOMIC, SUBGROUP: which; GROUP, GRID, PART, COMBINE, BASE: vyre_reduce_op;
                         ALL_REDUCE, REDUCE_SCATTER: vyre_collective_op */
    uint8_t ordering; /* ATOMIC, BARRIER */
    vyre_var var;     /* the variable bound or assigned, or VYRE_NONE */
    vyre_decl decl;   /* memory touched: STORE, ATOMIC, ASYNC_* (source), collectives (input),
                         INDIRECT_DISPATCH */
    vyre_decl decl2;  /* ASYNC_* (destination), ALL_GATHER, REDUCE_SCATTER (output), SWAP */
    vyre_expr arg[3]; /* by ops.def; VYRE_NONE where absent */
    uint32_t first_expr;
    uint32_t end_expr;
    uint32_t first_arg; /* CALL: arguments are program args [first_arg, first_arg + arg_count) */
    uint32_t arg_count;
    vyre_fn fn;       /* CALL; PART, COMBINE, BASE: a number for the three that belong together */
    vyre_stmt match;  /* IF: its ELSE or END; ELSE: its END; other OPEN: its END; END: the opener
                         (IF, not ELSE); BREAK, CONTINUE: the loop's opener; else VYRE_NONE */
    const char *text; /* REGION: name; TRAP, ASYNC_*: tag; else NULL */
} vyre_stmt_node;

typedef struct vyre_fn_node {
    const char *name;
    uint8_t type;       /* result, VYRE_VOID for none */
    bool opaque;        /* an extension: a device may replace it; its body is the lowering, and
                           reads/writes are all that anyone may assume of it */
    vyre_var first_var; /* its arguments are the first variables of the function */
    uint32_t arg_count;
    vyre_stmt begin, end; /* its body */
    uint32_t
        first_effect; /* opaque: program args [first_effect, + reads + writes) are vyre_decls */
    uint32_t reads, writes;
} vyre_fn_node;

typedef enum vyre_clause {
    VYRE_CLAUSE_NONE = 0,
    VYRE_CLAUSE_ELEMENTS, /* clause[0] */
    VYRE_CLAUSE_GRID      /* clause[0..2] */
} vyre_clause;

/* Counts of one walk over the whole program, functions included (not inlined). */
typedef struct vyre_stats {
    uint64_t statements; /* all but ELSE and END */
    uint64_t exprs;
    uint64_t regions, calls, opaque_calls;
    uint64_t instructions, memory_ops, atomic_ops, control_flow;
    uint64_t static_bytes; /* of buffers with a constant size */
    uint32_t max_nesting;
    uint32_t max_visible_vars; /* a coarse measure of register pressure */
    uint64_t stmt_kinds;       /* bit vyre_stmt_op: occurs */
    uint64_t reached_kinds;    /* the same of the entry body and the functions it can call */
    uint32_t types;            /* bit vyre_type: occurs in a declaration or value */
    bool uses_subgroups;       /* operation or id */
} vyre_stats;

/* A read-only view of everything in a program; pointers live as long as the program. */
typedef struct vyre_program_view {
    const char *name;
    uint32_t workgroup[3];
    vyre_clause clause_kind;
    vyre_expr clause[3]; /* exact-integer expressions */
    const vyre_decl_node *decls;
    uint32_t decl_count;
    const vyre_var_node *vars;
    uint32_t var_count;
    const vyre_expr_node *exprs;
    uint32_t expr_count;
    const vyre_stmt_node *stmts;
    uint32_t stmt_count;
    const vyre_fn_node *fns;
    uint32_t fn_count;
    const uint32_t *args; /* arguments of calls and effects of opaque functions */
    uint32_t arg_count;
    vyre_stmt entry; /* the entry body is [entry, stmt_count) */
    vyre_stats stats;
    uint64_t hash; /* structural: equal programs have equal hashes, in every process */
} vyre_program_view;

typedef struct vyre_program vyre_program;

VYRE_API const vyre_program_view *vyre_program_get(const vyre_program *program);
VYRE_API vyre_program *vyre_program_retain(vyre_program *program);
VYRE_API void vyre_program_release(vyre_program *program);
/* Dimension number `dimension` of memory, an expression like `size`; VYRE_NONE if the caller's
 * bytes decide. */
VYRE_API vyre_expr vyre_decl_dimension(const vyre_program_view *program, vyre_decl decl,
                                       uint32_t dimension);
/* Structural equality: everything but places. */
VYRE_API bool vyre_program_equal(const vyre_program *a, const vyre_program *b);
/* Where things were written. Unknown places are zero. */
VYRE_API vyre_place vyre_program_stmt_place(const vyre_program *program, vyre_stmt stmt);
VYRE_API vyre_place vyre_program_expr_place(const vyre_program *program, vyre_expr expr);
VYRE_API vyre_place vyre_program_decl_place(const vyre_program *program, vyre_decl decl);
VYRE_API vyre_place vyre_program_var_place(const vyre_program *program, vyre_var var);
VYRE_API vyre_place vyre_program_fn_place(const vyre_program *program, vyre_fn fn);
VYRE_API vyre_place vyre_program_place(const vyre_program *program); /* of the `program` line */
/* Index of the declaration or function of that name, or VYRE_NONE. */
VYRE_API vyre_decl vyre_program_find_decl(const vyre_program *program, const char *name);
VYRE_API vyre_fn vyre_program_find_fn(const vyre_program *program, const char *name);

/* O(1). The program can't wait for its grid: no grid_sync, no operation over the grid and no
 * collective, not even in a function that it can call. */
static inline bool vyre_program_has_no_grid_sync(const vyre_program *program) {
    const uint64_t waits =
        UINT64_C(1) << VYRE_STMT_GRID_SYNC | UINT64_C(1) << VYRE_STMT_GRID |
        UINT64_C(1) << VYRE_STMT_COMBINE | UINT64_C(1) << VYRE_STMT_SWAP |
        UINT64_C(1) << VYRE_STMT_ALL_REDUCE | UINT64_C(1) << VYRE_STMT_ALL_GATHER |
        UINT64_C(1) << VYRE_STMT_REDUCE_SCATTER | UINT64_C(1) << VYRE_STMT_BROADCAST;
    return (vyre_program_get(program)->stats.reached_kinds & waits) == 0;
}

/* Building
 *
 * A builder makes one program. Its calls never fail on their own: the first error (out of memory, a
 * handle that does not exist, an `end` without an opener, a limit) is kept, later calls do nothing,
 * and vyre_builder_finish reports it with the place of the call. Types, scopes and uniformity are
 * judged later, by vyre_check (vyre/check.h).
 *
 * Expression calls return handles for use in later calls of the same builder; a handle may be used
 * any number of times, each use makes a copy. Statement calls append to the body that is open. */
typedef struct vyre_builder vyre_builder;

VYRE_API vyre_status vyre_builder_create(const vyre_allocator *allocator, const char *name,
                                         vyre_builder **out_builder);
VYRE_API void vyre_builder_destroy(vyre_builder *builder);
/* On success the builder is empty and may only be destroyed. */
VYRE_API vyre_status vyre_builder_finish(vyre_builder *builder, vyre_program **out_program,
                                         vyre_diag *diag);
/* VYRE_OK, or the error kept so far. */
VYRE_API vyre_status vyre_builder_status(const vyre_builder *builder);
/* The place that following calls get; cheap, call it before each. Default: none. */
VYRE_API void vyre_builder_at(vyre_builder *builder, vyre_place place);

VYRE_API void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z);
VYRE_API void vyre_build_elements(vyre_builder *b, vyre_expr count);
VYRE_API void vyre_build_grid(vyre_builder *b, vyre_expr x, vyre_expr y, vyre_expr z);

/* Declarations. size VYRE_NONE: the caller's bytes decide. Sizes and clauses are exact integers. */
VYRE_API vyre_decl vyre_build_memory(vyre_builder *b, vyre_role role, const char *name,
                                     vyre_type type, vyre_expr size);
VYRE_API vyre_decl vyre_build_param(vyre_builder *b, const char *name, vyre_type type,
                                    vyre_expr default_value);
VYRE_API vyre_decl vyre_build_const(vyre_builder *b, const char *name, vyre_expr value);
/* Size of memory, or value of a param or const (whose type it decides), given after the
 * declaration: for expressions that name declarations made later. */
VYRE_API void vyre_build_decl_size(vyre_builder *b, vyre_decl decl, vyre_expr size);
VYRE_API void vyre_build_decl_value(vyre_builder *b, vyre_decl decl, vyre_expr value);
/* Memory of 2 or 3 dimensions, the last index fastest: its size is their product. dimensions[0]
 * VYRE_NONE: the caller's bytes decide. Elements are accessed at vyre_build_element; memory that is
 * accessed otherwise, too, ends up as memory of one dimension. */
VYRE_API void vyre_build_decl_dimensions(vyre_builder *b, vyre_decl decl,
                                         const vyre_expr *dimensions, uint32_t rank);
/* Bytes [begin, end) of an inout or out buffer are returned, instead of all. */
VYRE_API void vyre_build_output_range(vyre_builder *b, vyre_decl decl, uint32_t begin,
                                      uint32_t end);
/* What a segment does with a buffer; sources leave it alone. */
VYRE_API void vyre_build_access(vyre_builder *b, vyre_decl decl, vyre_access access);

/* Expressions. */
VYRE_API vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits);
VYRE_API vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value);
VYRE_API vyre_expr vyre_build_i32(vyre_builder *b, int32_t value);
VYRE_API vyre_expr vyre_build_f32(vyre_builder *b, float value); /* inf, nan: a bitcast */
VYRE_API vyre_expr vyre_build_f64(vyre_builder *b, double value);
VYRE_API vyre_expr vyre_build_bool(vyre_builder *b, bool value);
/* An exact integer for sizes and clauses. */
VYRE_API vyre_expr vyre_build_size(vyre_builder *b, int64_t value);
VYRE_API vyre_expr vyre_build_var(vyre_builder *b, vyre_var var);
VYRE_API vyre_expr vyre_build_ref(vyre_builder *b, vyre_decl param_or_const);
VYRE_API vyre_expr vyre_build_len(vyre_builder *b, vyre_decl buffer);
/* How long memory is along a dimension, and which element has these indices, as many as it has
 * dimensions: for load, store and atomic. */
VYRE_API vyre_expr vyre_build_dimension(vyre_builder *b, vyre_decl memory, uint32_t dimension);
VYRE_API vyre_expr vyre_build_element(vyre_builder *b, vyre_decl memory, const vyre_expr *indices);
VYRE_API vyre_expr vyre_build_id(vyre_builder *b, vyre_builtin id, uint32_t axis);
VYRE_API vyre_expr vyre_build_load(vyre_builder *b, vyre_decl memory, vyre_expr index);
VYRE_API vyre_expr vyre_build_cast(vyre_builder *b, vyre_type target, vyre_expr value);
VYRE_API vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type target, vyre_expr value);
/* Any op with operands, from NEG on; unused operands VYRE_NONE. */
VYRE_API vyre_expr vyre_build_op(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y,
                                 vyre_expr z);
/* Type of an expression built so far; VYRE_VOID for a bad handle. */
VYRE_API vyre_type vyre_builder_expr_type(const vyre_builder *b, vyre_expr expr);
VYRE_API vyre_type vyre_builder_var_type(const vyre_builder *b, vyre_var var);

/* Statements. Those that bind return the variable. */
VYRE_API vyre_var vyre_build_let(vyre_builder *b, const char *name, vyre_expr value);
VYRE_API void vyre_build_assign(vyre_builder *b, vyre_var var, vyre_expr value);
VYRE_API void vyre_build_store(vyre_builder *b, vyre_decl memory, vyre_expr index, vyre_expr value);
/* name NULL: the old value is not used. expected: VYRE_NONE except for CAS and CAS_WEAK. */
VYRE_API vyre_var vyre_build_atomic(vyre_builder *b, const char *name, vyre_atomic_op op,
                                    vyre_decl memory, vyre_expr index, vyre_expr expected,
                                    vyre_expr value, vyre_ordering ordering);
/* lane: VYRE_NONE except for SHUFFLE. */
VYRE_API vyre_var vyre_build_subgroup(vyre_builder *b, const char *name, vyre_subgroup_op op,
                                      vyre_expr value, vyre_expr lane);
/* lane: VYRE_NONE except for BROADCAST. */
VYRE_API vyre_var vyre_build_group_reduce(vyre_builder *b, const char *name, vyre_reduce_op op,
                                          vyre_expr value, vyre_expr lane);
/* Not with those that groups only have. */
VYRE_API vyre_var vyre_build_grid_reduce(vyre_builder *b, const char *name, vyre_reduce_op op,
                                         vyre_expr value);
VYRE_API vyre_var vyre_build_call(vyre_builder *b, const char *name, vyre_fn fn,
                                  const vyre_expr *args, uint32_t arg_count);
VYRE_API void vyre_build_if(vyre_builder *b, vyre_expr condition);
VYRE_API void vyre_build_else(vyre_builder *b);
/* step VYRE_NONE: 1. */
VYRE_API vyre_var vyre_build_for(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                                 vyre_expr step);
VYRE_API void vyre_build_while(vyre_builder *b, vyre_expr condition);
VYRE_API void vyre_build_block(vyre_builder *b);
VYRE_API void vyre_build_region(vyre_builder *b, const char *name);
VYRE_API void vyre_build_end(vyre_builder *b);
VYRE_API void vyre_build_break(vyre_builder *b);
VYRE_API void vyre_build_continue(vyre_builder *b);
VYRE_API void vyre_build_exit(vyre_builder *b);
VYRE_API void vyre_build_return(vyre_builder *b, vyre_expr value); /* value may be VYRE_NONE */
VYRE_API void vyre_build_barrier(vyre_builder *b, vyre_ordering ordering);
VYRE_API void vyre_build_grid_sync(vyre_builder *b);
VYRE_API void vyre_build_trap(vyre_builder *b, const char *tag, vyre_expr address);
VYRE_API void vyre_build_async_load(vyre_builder *b, vyre_decl source, vyre_decl destination,
                                    vyre_expr offset, vyre_expr size, const char *tag);
VYRE_API void vyre_build_async_store(vyre_builder *b, vyre_decl source, vyre_decl destination,
                                     vyre_expr offset, vyre_expr size, const char *tag);
VYRE_API void vyre_build_async_wait(vyre_builder *b, const char *tag);
/* group: a u32 literal, VYRE_NONE for the world. */
/* Exchanges the contents of two buffers of one type and size. */
VYRE_API void vyre_build_swap(vyre_builder *b, vyre_decl x, vyre_decl y);
VYRE_API void vyre_build_all_reduce(vyre_builder *b, vyre_decl buffer, vyre_collective_op op,
                                    vyre_expr group);
VYRE_API void vyre_build_all_gather(vyre_builder *b, vyre_decl input, vyre_decl output,
                                    vyre_expr group);
VYRE_API void vyre_build_reduce_scatter(vyre_builder *b, vyre_decl input, vyre_decl output,
                                        vyre_collective_op op, vyre_expr group);
VYRE_API void vyre_build_broadcast(vyre_builder *b, vyre_decl buffer, vyre_expr root,
                                   vyre_expr group);
VYRE_API void vyre_build_indirect_dispatch(vyre_builder *b, vyre_decl buffer, vyre_expr offset);

/* Functions. Declare first (so that calls may come before the body), then give the body between
 * begin and end; a function may be begun while the entry body is open. Arguments are variables. */
VYRE_API vyre_fn vyre_build_fn(vyre_builder *b, const char *name, const char *const *arg_names,
                               const vyre_type *arg_types, uint32_t arg_count, vyre_type result);
/* Marks the function as opaque and says what it reads and writes. */
VYRE_API void vyre_build_fn_opaque(vyre_builder *b, vyre_fn fn, const vyre_decl *reads,
                                   uint32_t read_count, const vyre_decl *writes,
                                   uint32_t write_count);
VYRE_API vyre_var vyre_build_fn_argument(vyre_builder *b, vyre_fn fn, uint32_t index);
VYRE_API void vyre_build_fn_begin(vyre_builder *b, vyre_fn fn);
VYRE_API void vyre_build_fn_end(vyre_builder *b);

/* A value for a param of a dispatch or for a const of a text, by name: bits as in a literal,
 * zero-extended. */
typedef struct vyre_setting {
    const char *name;
    vyre_type type; /* must be that of the param or const */
    uint64_t bits;
} vyre_setting;

/* Printing: the text of the language (vyre/text.h parses it back to an equal program). `write` is
 * called with pieces of text; returning false stops and gives VYRE_IO. */
typedef bool (*vyre_write_fn)(void *user, const char *text, size_t length);
VYRE_API vyre_status vyre_program_print(const vyre_program *program, vyre_write_fn write,
                                        void *user);

/* A key for caches on disk: of the program's text, of the table of operations, and of bytes that
 * the caller adds (its options, the version of its compiler). Equal programs have equal keys, in
 * every process and on every machine; others have others for all practical purposes (128 bits,
 * which keep out accidents, not attackers). */
typedef struct vyre_key {
    uint8_t bytes[16];
} vyre_key;
VYRE_API void vyre_program_key(const vyre_program *program, const void *options, size_t size,
                               vyre_key *out_key);
/* Changes whenever an operation changes its meaning: what was compiled before is of no use then. */
#define VYRE_OPS_VERSION 1

#ifdef __cplusplus
}
#endif

#endif
