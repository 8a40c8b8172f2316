/* The inside of the emitter: a barrier-free program becomes LLVM text.
 *
 * Code is made for a gang: `width` consecutive lanes of a workgroup that run in lockstep; width 1
 * is one lane. A value is held
 *   ONE     once for the whole gang, as a scalar
 *   LINEAR  as the scalar of the gang's first lane, and a constant stride from lane to lane
 *   EACH    as a vector with an element for each lane
 * Control that is ONE is a branch. Where lanes part, a vector of bools says which are active, and
 * only what they do has effects (emit_flow.c).
 *
 * How a variable is held, and which loops lanes leave apart, is found by emitting: everything
 * starts as ONE; where that turns out wrong the entry is raised and `changed` set, and the function
 * is emitted again until nothing changes. Entries only rise, so that ends, mostly after two or
 * three rounds; the rules of what is held how are said once, where code is made. */
#ifndef VYRE_SRC_BACKEND_CPU_EMIT_H
#define VYRE_SRC_BACKEND_CPU_EMIT_H

#include "backend/cpu/context.h"
#include "backend/cpu/llvm.h"
#include "backend/cpu/notes.h"
#include "base/text.h"

typedef enum cpu_hold { CPU_ONE, CPU_LINEAR, CPU_EACH } cpu_hold;

typedef struct cpu_value {
    char text[28];  /* an SSA name or a literal */
    char first[28]; /* LINEAR: at the first lane of the range, where that is computed beside it */
    uint8_t type;   /* vyre_type that computes */
    uint8_t hold;   /* cpu_hold */
    bool near;      /* EACH: mostly consecutive, made of what is by clamps and choices */
    bool thin;      /* EACH: in 16-bit lanes, at most `most` (thin.c) */
    uint8_t even;   /* ONE, at the first lane LINEAR: 2 to that power divides it (aligned.c) */
    bool known;     /* a literal */
    uint64_t bits;  /* of that */
    uint32_t most;
    int32_t stride; /* LINEAR: not 0 */
    uint32_t fixed; /* 1 + the declaration whose value or length it is: known in the entry block */
    uint32_t span;  /* a bool that is true on a part of the range: 1 + its number (piece.c) */
    /* EACH, just as it lies in memory that the segment does not write, all lanes side by side: */
    uint32_t loaded; /* 1 + the declaration */
    char place[28];  /* the index of the first lane */
} cpu_value;

/* Lanes of the range where a bool is true. */
typedef struct cpu_span {
    char from[28], to[28]; /* probing: distances from the first lane, i64 */
    bool outside;          /* probing: true where not in [from, to) */
    cpu_value first;       /* running: what the first lane has, ONE */
} cpu_span;

/* What a declaration of the program stands for. */
typedef enum cpu_meaning {
    CPU_IS_BUFFER,   /* buffer `number` of the context */
    CPU_IS_ARENA,    /* `count` elements at byte `number` of the group's arena */
    CPU_IS_OWN,      /* likewise, of what lanes carry over barriers: no index leaves it */
    CPU_IS_PRIVATE,  /* `count` elements of each lane */
    CPU_IS_PARAM,    /* value `number` of the context */
    CPU_IS_GROUP_ID, /* along axis `number` */
    CPU_IS_GROUPS,   /* likewise, how many there are */
    CPU_IS_NUMBER,   /* the constant `count` */
    CPU_IS_MADE,     /* `count` elements where the argument %made points */
    CPU_IS_SCALAR,   /* scalar `number` of the group's schedule, at %scalars */
    CPU_IS_TICK      /* the argument %tick */
} cpu_meaning;

typedef struct cpu_binding {
    uint8_t meaning; /* cpu_meaning */
    uint32_t number;
    uint64_t count;
} cpu_binding;

enum {
    CPU_FUEL = 1 << 16,  /* trips between looks at the clock: well below a millisecond */
    CPU_SHORT = 4096,    /* a loop of so few trips is not counted */
    CPU_MOST_KEPT = 512, /* elements that a worker keeps for a list (append.c) */
    CPU_ROOM = 64 + 12 * CPU_MOST_KEPT, /* bytes for them, of elements of 8 bytes at most */
    CPU_MOST_ALIASES = 48 /* declarations that are told apart: lists grow with the square */
};

/* An open statement list. */
typedef struct cpu_scope {
    vyre_stmt opener;
    uint32_t label; /* labels of the scope end in it */
    bool parts;     /* lanes part: IF on a varying condition, a loop that they leave apart */
    bool left;      /* a lane may have left from inside, so that perhaps none is active behind */
    bool has_else, in_else;
    bool has_loop;      /* inside */
    cpu_value saved;    /* parts: mask of the active lanes before it */
    cpu_value taken;    /* IF that parts: the condition, as a mask */
    cpu_value trip;     /* loop that parts: mask of the active lanes of the trip */
    cpu_value to, step; /* FOR */
} cpu_scope;

/* What probing found of an expression or statement, so that code for the piece relies on it. */
typedef enum cpu_mark {
    CPU_MARK_SPAN = 1,    /* a bool with a span */
    CPU_MARK_CUT = 2,     /* pieces end where it changes: a condition is ONE, a value linear */
    CPU_MARK_CUT_X = 4,   /* the first operand of && or || is ONE */
    CPU_MARK_CUT_Y = 8,   /* the second one */
    CPU_MARK_INSIDE = 16, /* an access at consecutive indices is inside */
    CPU_MARK_GUARD = 32   /* IF: all lanes of the piece pass */
} cpu_mark;

/* What gangs that run side by side do of a statement (side.c). */
typedef enum cpu_side {
    CPU_SIDE_ONCE, /* it is the same for all */
    CPU_SIDE_EACH, /* each for itself; of control: all that is inside */
    CPU_SIDE_RANGE /* a loop that they begin at different values */
} cpu_side;

enum { CPU_MOST_GANGS = 8 }; /* side by side */

/* What is known of an expression or access in an innermost loop (steady.c). */
typedef enum cpu_kind { CPU_VARIES, CPU_STAYS, CPU_MOVES } cpu_kind;
enum { CPU_MOST_STEADY = 12 }; /* accesses of a loop that are asked for at once */

typedef struct cpu_site {
    uint8_t kind;   /* cpu_kind, of an expression */
    bool known;     /* the step is */
    bool wanted;    /* an index of a steady access is made of it; LET: its variable is wanted */
    bool used;      /* of an access, while emitting: places of the strip are there */
    bool tiled;     /* likewise: it comes from a tile (tile.c) */
    uint8_t access; /* number of a steady access; FOR: 1 + how many it has, 0: not for strips */
    uint8_t bound;  /* of a variable: how often the loop binds or assigns it */
    int32_t step;   /* from trip to trip; of an access: of its index */
} cpu_site;

/* By how many elements, for each group of the grid along an axis, the index of a load grows from
 * one trip of the group to the next (ahead.c). */
typedef struct cpu_ahead {
    uint32_t factor;
    uint32_t axis; /* 1 + it; 0: it does not */
} cpu_ahead;

/* Where a variable occurs: the LET that binds it, and all statements that use or assign it. */
typedef struct cpu_extent {
    vyre_stmt let; /* VYRE_NONE: none does, or more than one */
    vyre_stmt first, last;
} cpu_extent;

/* How the lanes of a segment run; each form is a file. */
typedef enum cpu_form {
    CPU_FORM_LANES,  /* the lanes of a group, gang by gang (lanes.c) */
    CPU_FORM_ROWS,   /* groups dissolved: all lanes along x as one range (rows.c) */
    CPU_FORM_CONTROL /* no lanes: assignments to the scalars of a schedule */
} cpu_form;

/* Which functions for gangs at the end of a buffer are used, by type in memory, width (as a power
 * of two), and whether they store. */
enum { CPU_WIDTHS = 7 }; /* powers of two up to 64 */
typedef struct cpu_cold {
    bool used[VYRE_TYPE_COUNT][CPU_WIDTHS][2];
} cpu_cold;

/* Buffers that a group only makes atomics of one kind on (copies.c). */
typedef struct cpu_copy {
    vyre_decl decl; /* of the group's source */
    uint32_t sites; /* how many atomics */
    uint8_t op;     /* vyre_atomic_op */
    uint8_t size;   /* of an element */
} cpu_copy;
typedef struct cpu_copies {
    uint32_t count;
    cpu_copy of[CPU_MOST_COPIES];
} cpu_copies;

/* A store whose elements only one lane writes, as vyre_row has it (blend.c). */
typedef struct cpu_own {
    uint8_t kind; /* vyre_row_kind; NONE: others may write them */
    uint32_t pitch, offset;
    bool loaded; /* the lane has loaded the element before */
} cpu_own;

typedef struct cpu_emit {
    const vyre_program *program;
    vyre_program *unrolled; /* the program, if it was made for this; or NULL */
    const vyre_program_view *p;
    const cpu_binding *bindings;
    cpu_cold *cold;
    cpu_notes *notes; /* NULL: nobody asks, or what is emitted is not worth telling */
    vyre_text head;   /* entry block: places of variables, bases of buffers */
    vyre_text body;
    cpu_value *values; /* of the statement's expressions */
    cpu_value ids[3];  /* local_id */
    cpu_value lane;    /* linear number in the group */
    cpu_copies copies;
    cpu_isa isa;
    uint32_t width;
    uint32_t gangs, gang; /* that run side by side, and the one at work (side.c) */
    cpu_value side_ids[CPU_MOST_GANGS][3], side_lane[CPU_MOST_GANGS];
    cpu_value when;   /* stores are made only then; no text: always (single.c) */
    cpu_value stride; /* u64, in its part without masks: a step that is not known; else no text */
    uint32_t segment; /* its number */
    uint32_t piece;   /* number of the program, for notes */
    uint32_t lists;   /* number of its first alias list in the module */
    uint32_t next;    /* number of the next value or label */
    uint32_t depth;   /* scopes around that part */
    uint32_t steady;  /* label of the strip around, in which steady accesses are inside; 0: none */
    uint32_t scope_count;
    vyre_stmt turned; /* 1 + a loop that groups make trip by trip (turned.c); 0: none */
    vyre_stmt across; /* 1 + a loop whose trips are lanes (across.c); 0: none */
    cpu_value across_at, across_mask; /* its variable, and which trips there are */
    uint8_t form;                     /* cpu_form */
    bool masked_tail;                 /* the last gang has lanes that do not exist */
    bool probing;                     /* probe.c: code that only finds out */
    bool trusts;      /* the range is a piece that probing has found: `marks` hold */
    bool given_up;    /* probing: it can't be found out */
    bool singly;      /* probing: for lanes that run one by one, guards and accesses matter */
    bool unchecked;   /* lanes that are active access nothing out of bounds */
    bool alone;       /* one thread runs all lanes of the grid */
    bool apart;       /* statements are for the gang at work only */
    bool in_range;    /* in a loop that is made twice */
    bool is_beside;   /* addresses of the strip are those of the first gang */
    bool is_proven;   /* the access at work is */
    bool thins;       /* what is loaded may stay in 16 bits */
    bool only_wanted; /* expressions that indices are made of */
    bool tiled;       /* the function has tiles */
    bool changed;     /* found by emitting, as what follows below; see above */
    bool streamed;    /* some store may go past the caches */
    bool may_end;     /* likewise: lanes may end apart from others of their gang */
    vyre_stmt stmt;   /* at work */
    vyre_expr expr;   /* at work */
    /* Per expression, then per statement: what probing answers for (cpu_mark); NULL: nothing. */
    uint8_t *marks, *found; /* used by code that runs; found by probing */
    cpu_span *spans;        /* per expression, of the present round */
    cpu_extent *extents;    /* per variable */
    bool *is_single;        /* per variable: a LET binds it, and nothing else */
    cpu_value *bound;       /* per variable: the value of one that is_single */
    bool *opaque;           /* per variable: probing does not know its value */
    /* Found by emitting; see above. */
    uint8_t *holds;    /* per variable: cpu_hold */
    int32_t *strides;  /* per variable: LINEAR */
    bool *started;     /* per variable: has a value been given? */
    bool *parts;       /* per statement: the loop parts */
    bool *proven;      /* per expression, then per statement: an access that ranges prove inside */
    cpu_own *owns;     /* per statement */
    cpu_ahead *aheads; /* per expression */
    bool *streams;     /* per declaration: stores may go past the caches (stream.c) */
    bool *ranged;      /* per statement: the loop was made twice (side.c) */
    bool *differs;     /* per variable: from gang to gang */
    bool *unlike;      /* per expression of a statement: likewise */
    uint8_t *side;     /* per statement: cpu_side */
    cpu_site *sites;   /* per expression, then per statement */
    /* Per variable and declaration, of the present round. */
    uint16_t *depths;     /* per variable: how many scopes that part it was bound in */
    bool *has_place;      /* per variable: its place is in the entry block */
    bool *has_base;       /* per declaration: its base and count are */
    bool *has_large;      /* per declaration: whether it is large is (stream.c) */
    bool *has_reciprocal; /* per declaration: that of its value is in the entry block (divide.c) */
    /* Per statement: 1 + index of an atomic that waits for the range's end; of one that says where
     * to append: the store. */
    uint32_t *tallied;
    cpu_scope scopes[VYRE_LIMIT_NESTING + 8];
} cpu_emit;

/* part.c: whether the loop has loads, and all of them are from memory that is near. */
bool cpu_loads_close(const cpu_emit *e, vyre_stmt loop);
/* Notes a decision, "CHOICE because REASON" (notes.h). */
void cpu_note(const cpu_emit *e, vyre_stmt stmt, const char *topic, const char *format, ...)
    VYRE_PRINTF(4, 5);

/* emit_value.c */
const char *cpu_type(const cpu_emit *e, vyre_type type, bool each); /* "i32" or "<8 x i32>" */
const char *cpu_type_of(const cpu_emit *e, const cpu_value *v);
/* "v8f32" or "f32": the end of an intrinsic's name. */
const char *cpu_suffix(const cpu_emit *e, vyre_type type, bool each);
/* A new value: `%vN = ` and the text. */
cpu_value cpu_new(cpu_emit *e, vyre_type type, cpu_hold hold, const char *format, ...)
    VYRE_PRINTF(4, 5);
void cpu_line(cpu_emit *e, const char *format, ...) VYRE_PRINTF(2, 3);
void cpu_head(cpu_emit *e, const char *format, ...) VYRE_PRINTF(2, 3);
uint32_t cpu_label(cpu_emit *e);
cpu_value cpu_literal(vyre_type type, uint64_t bits);
cpu_value cpu_u32(uint32_t value);
/* A vector that says nothing: what probing does not look at. */
cpu_value cpu_unknown(vyre_type type);
/* The value as a vector (of a gang of one: as it is). */
cpu_value cpu_each(cpu_emit *e, cpu_value v);
/* LINEAR as EACH, others as they are. */
cpu_value cpu_flat(cpu_emit *e, cpu_value v);
/* Both as vectors if one of them is, else both as scalars. */
cpu_hold cpu_together(cpu_emit *e, cpu_value *v, uint32_t count);
/* The element of one lane: `lane` is an i32. */
cpu_value cpu_extract(cpu_emit *e, cpu_value v, const char *lane);
/* `op x, y` of values held alike. */
cpu_value cpu_binary(cpu_emit *e, const char *op, vyre_type type, cpu_value x, cpu_value y);
/* icmp or fcmp. */
cpu_value cpu_compare(cpu_emit *e, const char *predicate, cpu_value x, cpu_value y);
cpu_value cpu_select(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y);
/* By a condition that is ONE, of values held alike, with the same stride. */
cpu_value cpu_choose(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y);
/* call @llvm.NAME.SUFFIX(operands) with the type of the first; declared once per module. */
cpu_value cpu_intrinsic(cpu_emit *e, const char *name, vyre_type type, const cpu_value *operands,
                        uint32_t count);
/* Calls a function of the context for each lane. */
cpu_value cpu_helper(cpu_emit *e, size_t field, vyre_type result, const cpu_value *operands,
                     uint32_t count);

/* emit_expr.c: all expressions of a statement, into e->values. */
void cpu_emit_exprs(cpu_emit *e, uint32_t first, uint32_t end);
cpu_value cpu_operand(const cpu_emit *e, const vyre_stmt_node *s, uint32_t arg);
cpu_value cpu_apply(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value z);
/* A condition: bool, or u32 that is not 0. */
cpu_value cpu_truth(cpu_emit *e, cpu_value v);

/* stream.c: what of the group's program is stored only; all lanes store side by side; the same by
 * hand: where bits are 0 and the buffer is large, then else, then behind. */
#define CPU_NONTEMPORAL ", !nontemporal !1"
void cpu_find_streams(cpu_emit *e, const vyre_program_view *source);
void cpu_store_row(cpu_emit *e, vyre_decl decl, const char *address, const cpu_value *v);
uint32_t cpu_stream_begin(cpu_emit *e, vyre_decl decl, const char *bits);
void cpu_stream_else(cpu_emit *e, uint32_t label);
void cpu_stream_end(cpu_emit *e, uint32_t label);

/* thin.c: a value in as many bits as its type has; what comes from memory, and goes there, in 16
 * bits; operations on that (false: not these, operands are needed in full). */
cpu_value cpu_full(cpu_emit *e, cpu_value v);
bool cpu_thin_load(cpu_emit *e, vyre_type stored, cpu_value v, cpu_value *out);
cpu_value cpu_thin_store(cpu_emit *e, vyre_type type, cpu_value v);
bool cpu_apply_thin(cpu_emit *e, vyre_expr_op op, const vyre_expr_node *n, cpu_value *arg,
                    cpu_value *out);
/* emit_convert.c */
cpu_value cpu_cast(cpu_emit *e, vyre_type to, cpu_value v);
cpu_value cpu_bitcast(cpu_emit *e, vyre_type to, cpu_value v);
/* What a computing type is in memory, as LLVM's type of one element. */
const char *cpu_stored(vyre_type type);
/* Between what is in memory (text of that type) and the value. */
cpu_value cpu_widen(cpu_emit *e, vyre_type type, const cpu_value *stored);
cpu_value cpu_narrow(cpu_emit *e, vyre_type type, cpu_value v);

/* emit_memory.c */
cpu_value cpu_load(cpu_emit *e, vyre_decl decl, cpu_value index);
void cpu_store(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value value);
/* Whether the segment stores to it. */
bool cpu_is_written(const cpu_emit *e, vyre_decl decl);
/* The element of one lane of a value that was `loaded`, from memory again. */
cpu_value cpu_load_lane(cpu_emit *e, const cpu_value *v, const char *lane);
cpu_value cpu_length(cpu_emit *e, vyre_decl decl);
cpu_value cpu_param(cpu_emit *e, vyre_decl decl);
/* cold.c: the functions that are used. */
void cpu_write_cold(const cpu_cold *cold, vyre_text *out);
/* emit_atomic.c */
void cpu_emit_atomic(cpu_emit *e, const vyre_stmt_node *s);
/* copies.c: finds buffers for copies; the number of a buffer's copy, or VYRE_NONE; makes %copyK and
 * whether there is one, %copiedK, known; puts elements [from, end) of a copy into the buffer. */
void cpu_find_copies(const vyre_program_view *p, cpu_copies *out);
uint32_t cpu_copy_of(const cpu_emit *e, vyre_decl decl);
void cpu_write_copies(const cpu_emit *e, vyre_text *out);
void cpu_join_copy(const cpu_copy *what, void *to, void *copy, uint64_t from, uint64_t end);
/* append.c: instead of an atomic and of the store that its old value is for (false: not this one);
 * how many such atomics there are; what a worker does at the end of a launch. */
bool cpu_append_begin(cpu_emit *e, const vyre_stmt_node *s, cpu_value index);
bool cpu_append(cpu_emit *e, const vyre_stmt_node *s);
uint32_t cpu_append_sites(const cpu_emit *e);
void cpu_emit_deliveries(cpu_emit *e);
/* One operation with a value that is ONE, of no lane of its own; its old value. */
cpu_value cpu_atomic_once(cpu_emit *e, const vyre_stmt_node *s, cpu_value index, cpu_value value);
/* single.c: whether all that an IF decides is where a lane stores; that place, in its body. */
bool cpu_chooses_place(const cpu_emit *e, vyre_stmt stmt, const cpu_value *condition);
cpu_value cpu_chosen_place(cpu_emit *e, cpu_value address);
/* Whether lanes store one value to one place, perhaps all of them; does it where it is not there.
 */
bool cpu_is_alike(const cpu_emit *e, vyre_decl decl, const cpu_value *index, const cpu_value *v);
void cpu_store_news(cpu_emit *e, vyre_decl decl, cpu_value address, const cpu_value *v);
/* divide.c: a quotient or remainder by what lanes have in common (false: not this one). */
bool cpu_divide_once(cpu_emit *e, cpu_value x, cpu_value y, bool remainder, cpu_value *out);
/* aligned.c: by which power of two a result is divisible at the first lane; quotients and
 * remainders by what gangs lie in as a whole (false: not this one). */
uint8_t cpu_evenness(vyre_expr_op op, const cpu_value *x, const cpu_value *y);
bool cpu_apply_aligned(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out);
/* tally.c: whether values of lanes may be put together before the operation; the result of that;
 * instead of the operation, now and at the end of the range (false: not this one). */
bool cpu_tally_joins(const cpu_emit *e, const vyre_stmt_node *s);
cpu_value cpu_tally_join(cpu_emit *e, const vyre_stmt_node *s, cpu_value value);
bool cpu_tally(cpu_emit *e, const vyre_stmt_node *s, const cpu_value *index, cpu_value value);
void cpu_emit_tallies(cpu_emit *e);
/* Address of an element, in bounds or not; index is ONE. */
cpu_value cpu_address(cpu_emit *e, vyre_decl decl, cpu_value index);
/* Whether no lane of the gang at work is outside. */
bool cpu_is_proven(const cpu_emit *e, vyre_decl decl, const cpu_value *index);
/* What an access says of the declaration that it belongs to, behind it. */
void cpu_alias(const cpu_emit *e, vyre_decl decl, char *out, size_t size);
/* The type whose LLVM name is that of a stored element. */
vyre_type cpu_stored_type(vyre_type type);
/* Whether it is promised that the access at work is in bounds; which lanes are. */
bool cpu_is_promised(const cpu_emit *e);
cpu_value cpu_is_inside(cpu_emit *e, vyre_decl decl, cpu_value index);
/* gather.c: elements anywhere; `place` is the index in memory. */
cpu_value cpu_gather(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value place);
void cpu_scatter(cpu_emit *e, vyre_decl decl, cpu_value index, cpu_value place, cpu_value v);
/* Makes base and count of the declaration known: %bD and %nD (i32). */
void cpu_need_base(cpu_emit *e, vyre_decl decl);

/* blend.c: finds stores for which that may be done; whether this one is, where lanes are masked,
 * and without a branch around it; does it, and opens what is done where it turns out that it may
 * not; the label to close it. */
struct vyre_ranges;
void cpu_find_owns(cpu_emit *e, const struct vyre_ranges *ranges);
bool cpu_blends(const cpu_emit *e, vyre_stmt store);
bool cpu_blends_always(const cpu_emit *e, vyre_stmt store);
uint32_t cpu_blend(cpu_emit *e, vyre_decl decl, cpu_value v);
void cpu_blend_end(cpu_emit *e, uint32_t label);
/* What is in memory, as it lies there, and back. */
cpu_value cpu_load_at(cpu_emit *e, vyre_decl decl, const char *address, cpu_hold hold);
void cpu_store_at(cpu_emit *e, vyre_decl decl, const char *address, const cpu_value *v);

/* emit_flow.c: who is active. */
bool cpu_is_masked(const cpu_emit *e);
cpu_value cpu_active(cpu_emit *e);               /* EACH bool */
cpu_value cpu_any(cpu_emit *e, cpu_value bools); /* ONE bool */
cpu_value cpu_any_in(cpu_emit *e, cpu_value mask);
cpu_value cpu_any_bit(cpu_emit *e, cpu_value v); /* of 32-bit integers */
/* A vector of bools as what places keep, and back; all or none; what a place has (label 0: the name
 * alone). */
cpu_value cpu_mask(cpu_emit *e, cpu_value bools);
cpu_value cpu_bools(cpu_emit *e, cpu_value mask);
cpu_value cpu_mask_of(cpu_emit *e, bool all);
cpu_value cpu_mask_at(cpu_emit *e, const char *place, uint32_t label);
void cpu_put_mask(cpu_emit *e, const char *place, uint32_t label, cpu_value mask);
void cpu_need_mask(cpu_emit *e, const char *place, uint32_t label);
/* Places of a gang, of which these lanes are there. */
void cpu_begin_masks(cpu_emit *e, cpu_value bools);
/* A loop over active lanes; gives the lane as i32 text. In a gang of one: no loop. */
cpu_value cpu_lanes_begin(cpu_emit *e, uint32_t *out_label);
void cpu_lanes_end(cpu_emit *e, uint32_t label);
/* ahead.c: whether the load is one that the next trip of the group makes elsewhere; how far on. */
bool cpu_is_ahead(const cpu_emit *e, vyre_expr load);
cpu_value cpu_ahead_bytes(cpu_emit *e, vyre_expr load, uint32_t size);
/* prefix.c: a FOR of running prefixes, with all that is in it; false: it is not one. */
bool cpu_emit_prefix(cpu_emit *e, vyre_stmt loop);
/* emit_loop.c: a FOR with all that is in it, in strips; false: it is not one for that. */
bool cpu_emit_strips(cpu_emit *e, vyre_stmt loop);
/* Before a loop that lanes begin apart, whose variable moves by `room` (an i64) or less: whether
 * accesses that are asked for are inside; false: there are none. */
bool cpu_ask_range(cpu_emit *e, vyre_stmt loop, uint32_t label, cpu_value room,
                   cpu_value *out_inside);
/* Whether the access, a load or a store (number of expressions + statement), is known to be inside,
 * and its address (in a gang: of the first lane). */
bool cpu_is_steady(const cpu_emit *e, uint32_t site);
cpu_value cpu_steady_address(cpu_emit *e, vyre_decl decl, uint32_t site);
/* Whether a statement of the loop is run in each trip. */
bool cpu_is_in_each_trip(const cpu_emit *e, vyre_stmt loop, vyre_stmt stmt);
/* across.c: a FOR with all that is in it, several trips at once; false: it is not one for that. A
 * variable in it; false: it is as outside. */
bool cpu_emit_across(cpu_emit *e, vyre_stmt loop);
bool cpu_across_get(cpu_emit *e, vyre_var var, cpu_value *out);
bool cpu_across_set(cpu_emit *e, vyre_var var, cpu_value value);
/* turned.c: one trip of such a loop; false: it is none. */
bool cpu_emit_turned(cpu_emit *e, vyre_stmt loop);
/* tile.c: whether an access of a strip is one for tiles (whole: trips are known to be); begins one,
 * and gives whether it is inside up to the trip `last`; loads what the trip begins with, stores
 * what it ends; where the elements of a trip are. */
enum { CPU_TILE = 8 }; /* trips */
bool cpu_tile_fits(const cpu_emit *e, vyre_decl decl, vyre_stmt loop, uint32_t site,
                   const cpu_value *index, bool whole);
cpu_value cpu_tile_begin(cpu_emit *e, vyre_decl decl, uint32_t label, uint32_t access,
                         cpu_value index, cpu_value last);
void cpu_tile_fill(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip);
void cpu_tile_flush(cpu_emit *e, vyre_stmt loop, uint32_t strip, const char *trip);
cpu_value cpu_tile_address(cpu_emit *e, uint32_t access, const char *trip);
/* emit_stmt.c */
void cpu_emit_stmt(cpu_emit *e, vyre_stmt stmt);
/* Opens a scope; gives its label. */
uint32_t cpu_open_scope(cpu_emit *e, vyre_stmt stmt);
/* Notes how a loop is run. */
void cpu_note_loop(const cpu_emit *e, vyre_stmt loop);
/* Opens a loop from these values on. */
void cpu_open_for(cpu_emit *e, vyre_stmt stmt, cpu_value from, cpu_value to, cpu_value step);
/* Takes so much (an i64) from the fuel, and looks at the clock when there is none. */
void cpu_emit_check(cpu_emit *e, const char *amount);
void cpu_set(cpu_emit *e, vyre_var var, cpu_value value, bool binds);
cpu_value cpu_get(cpu_emit *e, vyre_var var);
void cpu_emit_trap(cpu_emit *e, vyre_stmt stmt);
/* side.c: statements [begin, end). */
void cpu_emit_list(cpu_emit *e, vyre_stmt begin, vyre_stmt end);
/* Code that follows is for this gang. */
void cpu_side_select(cpu_emit *e, uint32_t gang);
/* rows.c */
cpu_value cpu_rows_lane(cpu_emit *e, cpu_value x); /* u64 */
/* piece.c */
bool cpu_is_marked(const cpu_emit *e, uint32_t site, cpu_mark mark);
uint32_t cpu_stmt_site(const cpu_emit *e, vyre_stmt stmt);
void cpu_probe_access(cpu_emit *e, vyre_decl decl, cpu_value index, uint32_t site);
/* A comparison, `&&`, `||`, `!`: with its span, if it has one. */
cpu_value cpu_with_span(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value v);
/* The operands of `&&` or `||`, of which one may be made ONE. */
void cpu_join_spans(cpu_emit *e, vyre_expr_op op, cpu_value *x, cpu_value *y);
/* A value that is linear in the lane, or ONE in a gang, at the first lane of the range, which all
 * gangs share. */
cpu_value cpu_range_first(cpu_emit *e, const cpu_value *v);
/* A condition as ONE, if the range is cut where it changes. */
cpu_value cpu_cut_condition(cpu_emit *e, cpu_value condition, uint32_t site);
/* A range that passes a guard; false: it does not clip. */
bool cpu_clip(cpu_emit *e, cpu_value condition, bool negated);
/* Values that are uniform or linear in the pieces of a range that is cut; false: not this one. */
bool cpu_apply_cut(cpu_emit *e, vyre_expr_op op, cpu_value x, cpu_value y, cpu_value *out);
bool cpu_select_cut(cpu_emit *e, cpu_value condition, cpu_value x, cpu_value y, cpu_value *out);
/* emit_subgroup.c */
void cpu_emit_subgroup(cpu_emit *e, const vyre_stmt_node *s);

#endif
