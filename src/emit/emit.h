/* The emitter of C-like text: one walk over a program, and a table for what dialects spell apart.
 *
 * A line of code in this room knows programs, modules and text; it knows no device and runs
 * nothing. All dialects compute with the names of <stdint.h>, which those without it define, and
 * with helper functions where the language and C differ (division, shifts, conversions, loads
 * outside of memory): helpers.c has their text, and a file gets those that it uses. So what an
 * operation means is said once, and a dialect is a row of spellings.
 *
 * Names of a program are kept, but for those that mean something in C; everything that the emitter
 * adds begins with vy. Nothing depends on addresses: equal programs give equal text. */
#ifndef VYRE_SRC_EMIT_EMIT_H
#define VYRE_SRC_EMIT_EMIT_H

#include "base/arena.h"
#include "base/text.h"
#include "ir/unique.h"
#include "vyre/emit.h"
#include "vyre/split.h"

/* Where memory lies. */
typedef enum emit_space { EMIT_BUFFER, EMIT_WORKGROUP, EMIT_PRIVATE, EMIT_SPACES } emit_space;

/* Functions of helpers.c. Those of an operation on a type come as often as there are types. */
typedef enum emit_helper {
    EMIT_BITS_OF, /* float to unsigned */
    EMIT_OF_BITS,
    EMIT_MINUS_ZERO,
    EMIT_F16_TO,
    EMIT_F16_FROM,
    EMIT_BF16_TO,
    EMIT_BF16_FROM,
    EMIT_STICKY_F64, /* to f32, such that rounding once more rounds as the source would */
    EMIT_STICKY_U64,
    EMIT_STICKY_I64,
    EMIT_NEG,
    EMIT_ADD,
    EMIT_SUB,
    EMIT_MUL,
    EMIT_SHL,
    EMIT_DIV,
    EMIT_REM,
    EMIT_ABS,
    EMIT_SIGN,
    EMIT_POPCOUNT,
    EMIT_CLZ,
    EMIT_CTZ,
    EMIT_REVERSE,
    EMIT_IS_NAN,
    EMIT_IS_INF,
    EMIT_IS_FINITE,
    EMIT_MIN,
    EMIT_MAX,
    EMIT_ABS_DIFF,
    EMIT_MUL_HIGH,
    EMIT_SAT_ADD,
    EMIT_SAT_SUB,
    EMIT_SAT_MUL,
    EMIT_ROTL,
    EMIT_ROTR,
    EMIT_FROM_F32, /* to the type */
    EMIT_FROM_F64,
    EMIT_NEXT,        /* of a loop with a step */
    EMIT_LANES_BELOW, /* of a group: how many have ids below a bound, or up to it */
    EMIT_LANES_UP_TO,
    EMIT_LANES_ALIKE, /* how many have the same quotient as the first one */
    EMIT_ROW_INSIDE,  /* whether all lanes of a row stay inside of memory */
    EMIT_LOAD,        /* 0 outside of memory */
    EMIT_ATOMIC_CAS,
    EMIT_ATOMIC, /* one for each vyre_atomic_op */
    EMIT_HELPERS = EMIT_ATOMIC + VYRE_ATOMIC_COUNT
} emit_helper;

/* What dialects spell apart. Texts may hold what emit_expand replaces. */
typedef struct emit_dialect {
    const char *name, *suffix;
    const char *function;           /* before the result of a helper */
    const char *kernel_function;    /* the same, of one that only kernels call */
    const char *space[EMIT_SPACES]; /* before the element of a pointer, with a space behind */
    const char *u64, *i64;          /* behind a literal */
    const char *float_function;     /* behind the name of a function of f32 */
    const char *popcount[2];        /* of 32 and 64 bits: an expression of x */
    const char *mul_high[2];        /* of u64 and i64: an expression of a and b */
    const char *element;            /* p[i] in a helper */
    const char *restricted;         /* what says that nothing else points there, or "" */
    const char *workgroup;          /* before an array in workgroup memory, with a space behind */
    const char *end_lane;           /* a statement */
    const char *barrier;            /* of the workgroup: a statement; NULL: programs have none */
    const char *grid_sync, *swap;   /* likewise, of the grid; $X and $Y are swapped, $a0 is len */
    const char *fence; /* around atomics that are not relaxed: a statement; NULL: not needed */
    /* The body of an atomic on the type, of p, v and e (what is expected): NULL for one that goes
     * by compare and exchange. */
    const char *(*atomic)(vyre_atomic_op op, vyre_type type);
    const char *ids[VYRE_BUILTIN_COUNT]; /* $x: the axis, $s: the size of a group along it */
    /* What stands before the name of a kernel. */
    void (*kernel)(vyre_text *out, const uint32_t workgroup[3]);
    const char *zero;     /* a function like memset for the memory of a group */
    const char *settled;  /* keeps accesses in order that differ in type: words of carried state */
    bool lanes_are_loops; /* one thread runs the lanes of a group, one after the other */
    bool tunes_lanes; /* loops over lanes are as short as can be, and bounds tested once in a row */
    bool keeps_params_as_words; /* bool params come as uint32_t */
    bool divides_wide; /* quotients and roots of f32 by way of f64, which rounds them right: 53 bits
                          are more than twice 24 and two */
    bool joins_by_bits; /* && and || are & and |: no branch, which some drivers get wrong between
                           barriers */
    bool flags_ends; /* a group that ends before a barrier goes on and does nothing: no barrier is
                        behind a branch, likewise */
} emit_dialect;

extern const emit_dialect emit_c, emit_opencl, emit_cuda;

/* Which helpers a file uses: bit EMIT_BIT(space, type) of each. */
#define EMIT_BIT(space, type) (UINT64_C(1) << ((space)*VYRE_TYPE_COUNT + (type)))
_Static_assert(EMIT_SPACES *VYRE_TYPE_COUNT <= 64, "helpers are sets of bits");
typedef struct emit_used {
    uint64_t helpers[EMIT_HELPERS];
} emit_used;

/* How tightly an expression of C holds together; operands that are looser get brackets. */
enum {
    EMIT_LOOSE = 0,
    EMIT_TERNARY = 10,
    EMIT_OR = 20,
    EMIT_AND = 30,
    EMIT_BITS = 40,
    EMIT_EQUAL = 50,
    EMIT_LESS = 55,
    EMIT_SHIFT = 60,
    EMIT_SUM = 70,
    EMIT_PRODUCT = 80,
    EMIT_UNARY = 90,
    EMIT_PRIMARY = 100
};

typedef struct emit_expr {
    const char *text;
    uint8_t level; /* EMIT_... */
} emit_expr;

/* What a pattern stands for:
 *   $T $N   type in C and in the language;          $U $V  the unsigned one of its width
 *   $R $O   result, in C and in the language;       $E     an element of the type in memory
 *   $W $M   width in bits, and one less;            $H $L  highest and lowest value
 *   $P      2 to the width (signed: less one), as a float of type `result`
 *   $S $A   space: qualifier, and suffix of names;  $F     suffix of float functions
 *   $X $Y   names;                                  $I $K  what functions begin with, those of
 *                                                          kernels
 *   $a0 $l0 $r0 $s0 $u0   operand 0: as it is; in brackets if looser than this expression, or not
 *           tighter, or looser than a sum, or than a unary operator */
typedef struct emit_subst {
    const emit_dialect *dialect;
    vyre_type type, result;
    emit_space space;
    const char *name[2];
    emit_expr operand[3];
    uint8_t level;
} emit_subst;
void emit_expand(vyre_text *text, const char *pattern, const emit_subst *subst);

/* The type in C: of a value, of an element in memory. */
const char *emit_value_type(vyre_type type);
const char *emit_element_type(vyre_type type);

void emit_use(emit_used *used, emit_helper helper, emit_space space, vyre_type type);
/* Writes the helpers that are used, and those that they use. */
void emit_write_helpers(vyre_text *text, const emit_dialect *dialect, const emit_used *used);

/* The body of an atomic where the device has those of integers: its own of 32 and 64 bits by
 * vyre_atomic_op, volatile access for load and store, or NULL. */
const char *emit_native_atomic(const char *const *narrow, const char *const *wide,
                               vyre_atomic_op op, vyre_type type);

/* Names. `all` begins with what means something in C and to the emitter. */
bool emit_names_init(vyre_unique *all, const vyre_allocator *a);
/* A name of the program as one of C, unlike any other; NULL when out of memory. */
const char *emit_name(vyre_unique *all, const char *name);

/* One program while it becomes text. */
typedef struct emit_program {
    const emit_dialect *dialect;
    emit_used *used;
    vyre_allocator a;
    vyre_text *out;
    const vyre_program *program;
    const vyre_program_view *p;
    const char **decls; /* names; of memory also `lens`, the number of its elements */
    const char **lens;
    const char **vars;
    uint8_t *spaces;     /* emit_space of each declaration */
    bool *proven;        /* of each expression, then of each statement: it stays inside memory */
    const bool *rests;   /* expressions that are vy_rem for lane vy_part, and grow; NULL: none */
    const bool *in_rows; /* variables that are elements of arrays; NULL: none */
    const vyre_segment_decl *origins; /* of a segment: what its declarations are; or NULL */
    vyre_unique names;
    vyre_arena texts; /* of the expressions of one statement */
    emit_expr *exprs; /* of that statement */
    uint32_t expr_room, first_expr;
    uint32_t indent;
    vyre_stmt skip_until; /* statements before it are written already */
    bool keeps_live;      /* groups that end go on with vy_live false ... */
    bool has_live;        /* ... and one may have ended */
    bool failed;          /* out of memory */
} emit_program;

/* Names for declarations and variables; `prove` asks the analysis for accesses that need no test,
 * which is right for programs whose statements run in their order. */
vyre_status emit_program_init(emit_program *e, const emit_dialect *dialect, emit_used *used,
                              vyre_text *out, const vyre_program *program, bool prove,
                              const vyre_allocator *a, vyre_diag *diag);
void emit_program_finish(emit_program *e);
/* Of a part of a group, cut from `source`, or its control program: workgroup memory and what is
 * carried lie with the group. */
void emit_part_spaces(emit_program *e, const vyre_program_view *source,
                      const vyre_segment_decl *decls);
/* Segments of a module index what is carried as splitting wrote it: always inside. */
void emit_trust(emit_program *e, const vyre_segment_decl *decls);
vyre_status emit_program_status(const emit_program *e, vyre_diag *diag);

/* A line with the indentation, and what ends it: "// line 12", if the place is known. */
void emit_line(emit_program *e, const char *format, ...) VYRE_PRINTF(2, 3);
void emit_line_of(emit_program *e, vyre_place place, const char *format, ...) VYRE_PRINTF(3, 4);

/* Number of elements of memory whose size is a constant; false for others. */
bool emit_constant_count(const vyre_program_view *p, vyre_decl decl, uint64_t *out_count);
/* Bytes of workgroup memory. */
uint64_t emit_workgroup_bytes(const vyre_program_view *p);
/* Whether memory is a buffer whose length comes as an argument beside it. */
bool emit_has_len(const vyre_program_view *p, vyre_decl decl);
/* Makes texts of the expressions [first, end), which are complete trees. */
void emit_exprs(emit_program *e, vyre_expr first, vyre_expr end);
/* The text of one of them, in brackets if it is looser. */
const char *emit_expr_text(emit_program *e, vyre_expr expr, uint8_t level);
/* The same as a condition. */
const char *emit_condition(emit_program *e, vyre_expr expr);
/* A value as it is stored in memory of the type. */
const char *emit_stored(emit_program *e, vyre_type type, const char *value);
const char *emit_literal(emit_program *e, vyre_type type, uint64_t bits);
/* printf into the texts of the statement; never NULL. */
const char *emit_format(emit_program *e, const char *format, ...) VYRE_PRINTF(2, 3);

/* A string literal. */
void emit_quoted(vyre_text *out, const char *text);

/* The entry body in loops over the lanes of a group. */
void emit_lanes(emit_program *e);
/* The entry body, statement by statement. */
void emit_body(emit_program *e);
/* `const T NAME = value;` for the consts that are used, and private arrays. */
void emit_locals(emit_program *e);
/* Whether a group may end as a whole before a barrier of the entry body. */
bool emit_needs_live(const vyre_program_view *p);
/* One assignment of a control program, or any other statement. */
void emit_statement(emit_program *e, vyre_stmt stmt);

/* The parameters of a function: buffers, their lengths if emit_has_len, and params. Each stands
 * behind a comma, the first behind `begin`. */
void emit_params(vyre_text *out, const emit_program *e, const char *begin);
/* The same as arguments: their names, each behind `before`. */
void emit_arguments(vyre_text *out, const emit_program *e, const char *begin, const char *before);
/* A program without calls as a kernel, one thread for each lane; `decls` of a segment may be NULL.
 * `prologue` is the first line of its body, or "". */
typedef struct emit_kernel_text {
    const emit_dialect *dialect;
    const char *name, *prologue;
    const vyre_segment_decl *decls;
    bool unchecked; /* every access is inside of memory: somebody else vouches for it */
} emit_kernel_text;
vyre_status emit_kernel(const emit_kernel_text *how, const vyre_program *program, emit_used *used,
                        const vyre_allocator *a, vyre_text *out, vyre_diag *diag);

/* The dialects with a host part: a whole file. */
vyre_status emit_c_file(const vyre_program *program, const vyre_emit_options *options,
                        const vyre_allocator *a, vyre_text *out, vyre_diag *diag);
vyre_status emit_cuda_file(const vyre_program *program, const vyre_emit_options *options,
                           const vyre_allocator *a, vyre_text *out, vyre_diag *diag);

/* Kernels: a file with all segments, and the text for programs of which no two have the same name;
 * the kernel of each is called NAME_kernel. Its arguments are, by declaration: a pointer for a
 * buffer, with a uint32_t behind it if emit_has_len; a param, bool as uint32_t. */
vyre_status emit_opencl_file(const vyre_program *program, const vyre_emit_options *options,
                             const vyre_allocator *a, vyre_text *out, vyre_diag *diag);
typedef struct emit_opencl_device {
    bool divides_wide; /* its f32 does not divide exactly, its f64 does */
    bool unchecked;
    bool runs_groups;     /* a work-item is a group, and its lanes are loops in the kernel ... */
    uint64_t group_bytes; /* ... for which there is so much local memory */
} emit_opencl_device;
/* *out_failed: which program it was that failed. */
vyre_status emit_opencl_programs(const vyre_program *const *programs, uint32_t count,
                                 const emit_opencl_device *device, const vyre_allocator *a,
                                 vyre_text *out, uint32_t *out_failed, vyre_diag *diag);

#endif
