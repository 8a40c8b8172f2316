/* Splitting: a program with barriers as barrier-free segments, a schedule with uniform control of
 * its own, and the state that is carried between them. Needs no device.
 *
 * Scalars. What is the same for the whole grid (loop counters, conditions, sizes) belongs to the
 * schedule: numbered, typed values that it computes itself. `control` is a program of assignments
 * to them, of which each step has two ranges: one for when it is entered, one for when its launch
 * is done. They are made of literals, params, lengths, ids that are the same everywhere, other
 * scalars, and loads at uniform indices from memory that nobody writes between the grid barriers
 * around. A scalar that needs no memory is known to the host.
 *
 * Segments. Every segment is an ordinary, valid program without grid barriers. Its buffers have the
 * names they have in the source; `in` if it only reads them, else `inout`. Scalars are params with
 * the names of the source's variables. Besides them a segment may use
 *   _lane    u32, inout: private values, `_lanes` words for each slot, then a block for each
 *            workgroup with its workgroup memory. If the words in one buffer are limited: the first
 *            slots in _lane, the next in _lane2 and so on, workgroup memory in _group, _group2, ...
 *   _values  u32, in: a block for each workgroup with values that are the same for all its lanes
 *   _next    u32, inout: where such values are written for later segments
 *   _made    u32, inout: what lanes compute and the schedule wants to know: `made_words` words
 * A value of 64 bits takes two words, the low one first, from an even one on. Segments have it in
 * one piece: a declaration of its type (_lane_u64, _values_f64, ...) for the same memory, of which
 * element n is the words 2n and 2n + 1. No launch touches a word by two such declarations. (Slots s
 * and s + 1 of all lanes together are `_lanes` elements then. Where a buffer may have one slot
 * only, such a value is two words in two buffers.) Besides there are the params _lanes (lanes of
 * the grid) and _tick. What each declaration of a segment is, is in `decls`; nothing depends on
 * names. _values and _next are two buffers of one size that change places: within a launch some
 * lanes read before others have written. So do _made and a spare one: who is slow may still read
 * what one launch made while the next is at work. All start as zeros in each pass.
 *
 * The schedule is a list of steps; step 0 is the first. vyre/schedule.h walks it:
 *   at = 0, tick = 1, all scalars 0
 *   for ever:
 *       give the segment of step[at] its scalars, as they are now
 *       do the assignments of `enter`, in their order
 *       launch the segment, if there is one, with _tick = tick; wait if something below reads
 *       if the step asks and _made[0] != tick, no lane is alive: stop
 *       do the assignments of `leave`, which load from _made
 *       END:    stop
 *       NEXT:   at = next
 *       BRANCH: at = scalar `decides` ? next : otherwise
 *       if the step has a collective, do it
 *       exchange what the step exchanges
 *       tick = tick + 1
 *
 * Launching ahead. In a module made for it (`ahead`) the host computes only what it knows without
 * memory. Other scalars live in the buffer _scalars, where lanes read them. A step with such has a
 * control segment, a program of one lane that is launched behind the step's segment: it computes
 * them, and where only the device knows how the schedule goes on (the step is doubtful), it writes
 * the word of the decision to _turn[0]:
 *       4 * _tick + 2 * (no lane is alive) + (the condition holds)
 * If any step is doubtful, every segment does nothing unless _turn[0] == _expect, the word of the
 * last decision if it went as was guessed, at first 0. So launches may be enqueued on the path that
 * is guessed: once a decision goes another way, none of those behind it does anything, what has run
 * is a prefix, and the word tells which decision it was. The host keeps a copy of its position at
 * each, and goes on from there. A control segment is launched as one group; it does what it does
 * whether or not a lane of the grid is alive.
 *
 * At workgroup scope the same is done for one workgroup at its own barriers, for devices that run
 * the lanes of a group one after the other. The module then says how one group runs, and its
 * segments have no barriers at all. A segment is launched as a grid of one group; which group of
 * which grid it stands for it learns from the params _group_x, _group_y, _group_z (its number) and
 * _groups_x, _groups_y, _groups_z (how many there are). "The grid" above is the group, _lanes the
 * lanes of the group; scalars are what is the same for the group. Workgroup memory is a buffer of
 * the same name, zero when the group begins, which stays where it is. A lane that traps counts as
 * ended: who runs the segments notes the trap and goes on. */
#ifndef VYRE_SPLIT_H
#define VYRE_SPLIT_H

#include "vyre/ir.h"
#include "vyre/lower.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_module vyre_module; /* immutable, reference counted */

typedef enum vyre_step_kind { VYRE_STEP_NEXT, VYRE_STEP_BRANCH, VYRE_STEP_END } vyre_step_kind;

typedef struct vyre_step {
    uint32_t segment; /* or VYRE_NONE: nothing to launch */
    uint32_t control; /* ahead: a segment of one lane, launched behind it, or VYRE_NONE */
    uint8_t kind;     /* vyre_step_kind */
    bool sync;        /* a barrier of the source lies behind this step */
    bool asks;        /* living lanes write the tick to _made[0]; if none has, the pass is over */
    bool doubtful;    /* of a module for launching ahead: only the device knows how it goes on */
    uint32_t next, otherwise;         /* END: VYRE_NONE */
    uint32_t decides;                 /* BRANCH: the scalar, a bool; else VYRE_NONE */
    vyre_stmt enter_begin, enter_end; /* assignments, statements of `control` */
    vyre_stmt leave_begin, leave_end;
    uint32_t exchange_begin, exchange_end; /* of `exchanges` */
    uint32_t lane_words, group_words;      /* stored words of each that are alive behind it */
    /* A collective behind the step: the statement in the source, or VYRE_NONE. On one rank
     * all_gather and reduce_scatter copy the shorter length, others do nothing. */
    vyre_stmt collective;
    /* The segment is launched as one lane and combines what groups have left in _parts, for an
     * operation over the grid: the statement in the source; or VYRE_NONE. */
    vyre_stmt combine;
    uint32_t kept;       /* why the barrier stays: index into `kept`, or VYRE_NONE */
    vyre_place place;    /* of that barrier, or of the condition */
    vyre_stmt condition; /* BRANCH: the if, while or for of the source; else VYRE_NONE */
    /* The innermost region around all of the step: index into `regions`, or VYRE_NONE. Its segment
     * reopens it and those around it. (Fewer, if else it would nest too deep.) */
    uint32_t region;
} vyre_step;

/* A region of the source that holds a barrier. */
typedef struct vyre_split_region {
    vyre_stmt stmt;  /* in `source`; its text is the name */
    uint32_t parent; /* the next such region around it: index into `regions`, or VYRE_NONE */
    uint32_t depth;  /* how many there are from the outermost to this one */
} vyre_split_region;

/* A value that the schedule computes. Scalar n is variable n of `control`. */
typedef struct vyre_scalar {
    const char *name;
    uint32_t
        word;     /* ahead, and not known to the host: its first word in _scalars; else VYRE_NONE */
    uint8_t type; /* vyre_type, one that computes */
    bool host; /* it depends on params, lengths, the grid, constants and other such scalars only */
    vyre_place place;
} vyre_scalar;

/* Memories that change places, by what they are to segments. */
enum {
    VYRE_PLACE_VALUES,
    VYRE_PLACE_NEXT,
    VYRE_PLACE_MADE,
    VYRE_PLACE_SPARE,
    VYRE_PLACE_SCALARS, /* these stay where they are */
    VYRE_PLACE_TURN,
    VYRE_PLACE_PARTS,
    VYRE_PLACES
};

/* Buffers of the source that are swapped change places, too: VYRE_PLACES + n is where `swapped[n]`
 * of the module is found. */
typedef struct vyre_exchange {
    uint32_t a, b; /* places */
} vyre_exchange;

/* What a declaration of a segment is, and which one of them. */
typedef enum vyre_decl_kind {
    VYRE_DECL_SOURCE,      /* declaration `ref` of the source: param, or buffer: what it holds when
                              the step is entered (vyre_module_view.swapped) */
    VYRE_DECL_LOCAL,       /* workgroup or private memory of the segment itself */
    VYRE_DECL_SCALAR,      /* param: scalar `ref`, as it is when the step is entered */
    VYRE_DECL_OWN,         /* buffer `ref` of `buffers`: what lanes and groups own. Its elements are
                              words, or of 64 bits: as many as fit */
    VYRE_DECL_PLACE,       /* buffer at place `ref`: VYRE_PLACE_VALUES, ...; likewise */
    VYRE_DECL_LANES,       /* param: lanes of the grid */
    VYRE_DECL_TICK,        /* param: tells the launches of a pass apart */
    VYRE_DECL_EXPECT,      /* param: the word of the last decision, if it went as was guessed */
    VYRE_DECL_GROUP_ID,    /* param, workgroup scope: number of the group along axis `ref` */
    VYRE_DECL_GROUP_COUNT, /* param: groups along axis `ref` */
    VYRE_DECL_TRAP,        /* buffer in which lanes record that they trapped (vyre/lower.h) */
    VYRE_DECL_KINDS
} vyre_decl_kind;

typedef struct vyre_segment_decl {
    uint8_t kind; /* vyre_decl_kind */
    uint32_t ref;
} vyre_segment_decl;

/* How something that is alive across a barrier gets there. */
typedef enum vyre_carry_kind {
    VYRE_CARRY_RECOMPUTED, /* pure, and all that it reads is unchanged */
    VYRE_CARRY_LANE,       /* stored by each lane */
    VYRE_CARRY_SCALAR,     /* the same for all lanes: a scalar of the schedule */
    VYRE_CARRY_PRIVATE,    /* private array, stored by each lane */
    VYRE_CARRY_WORKGROUP,  /* workgroup memory, stored once per group */
    VYRE_CARRY_ENDED,      /* which lanes have ended */
    VYRE_CARRY_GROUP       /* the same for all lanes of a group: stored once per group */
} vyre_carry_kind;

typedef struct vyre_carry {
    const char *name;
    vyre_carry_kind kind;
    uint32_t words; /* per lane or group; 0: it is not stored */
    uint32_t slot;  /* first word, where it is stored; SCALAR: its number */
    vyre_place place;
} vyre_carry;

/* A carry is alive behind steps [first, end). */
typedef struct vyre_life {
    uint32_t carry, first, end;
} vyre_life;

/* A buffer of what lanes and workgroups own: slots of each lane, then words of each group. Slot s
 * of lane l is its word (s - lane_first) * _lanes + l, word w of group g its word lane_words *
 * _lanes + g * group_words + (w - group_first); all in 32 bits, since its size, lane_words * lanes
 * + group_words * groups, must not be more than 2^32 - 1. */
typedef struct vyre_carry_buffer {
    const char *name; /* of the declaration, in segments that use it */
    uint32_t lane_first, lane_words;
    uint32_t group_first, group_words;
} vyre_carry_buffer;

/* What different lanes do across a barrier, one of them writing. */
typedef struct vyre_conflict {
    vyre_decl decl;            /* of `source` */
    vyre_place before, behind; /* statements that touch it on the two sides of the barrier */
    bool writes_before, writes_behind;
} vyre_conflict;

/* A grid barrier that is not in the schedule: nothing that lanes write on one side of it is used by
 * other lanes on the other side. */
typedef struct vyre_removed_barrier {
    vyre_place place;
    bool weakened;     /* only by lanes of the same group: it became a workgroup barrier */
    vyre_conflict why; /* weakened: because of this; else its decl is VYRE_NONE */
    /* What is written on one side and touched on the other, but by each lane only its own elements:
     * declarations of `source`. */
    const vyre_decl *owned;
    uint32_t owned_count;
} vyre_removed_barrier;

/* A grid barrier that lanes need. */
typedef struct vyre_kept_barrier {
    vyre_stmt stmt;    /* in `source` */
    vyre_conflict why; /* decl VYRE_NONE: the trap at `before` is reported by its side alone */
} vyre_kept_barrier;

/* Which barriers a program is cut at. */
typedef enum vyre_split_scope {
    VYRE_SPLIT_SCOPE_GRID = 0,
    VYRE_SPLIT_SCOPE_WORKGROUP /* of a program that does not wait for its grid */
} vyre_split_scope;

typedef struct vyre_module_view {
    const vyre_program *source; /* what was split: calls inlined, versions of variables apart,
                                   needless barriers removed, bases of values added */
    const vyre_program *const *segments;
    const vyre_segment_decl *const *decls; /* of each segment: for each of its declarations */
    /* The declarations of the source, then _made; the scalars, each bound to 0; assignments. */
    const vyre_program *control;
    const vyre_scalar *scalars;
    const vyre_exchange *exchanges;
    const vyre_decl *swapped; /* declarations of the source that change places */
    const vyre_step *steps;
    const vyre_carry *carries;
    const vyre_life *lives;           /* by carry, then by step; those of a carry do not touch */
    const vyre_carry_buffer *buffers; /* each slot, each word is in one; none: nothing is owned */
    const vyre_removed_barrier *removed; /* in the order of the program */
    const vyre_kept_barrier *kept;       /* none with keep_barriers */
    const vyre_split_region *regions;    /* parents first */
    uint32_t segment_count, scalar_count, exchange_count, swapped_count, step_count, carry_count,
        live_count, buffer_count, removed_count, kept_count, region_count;
    uint32_t lane_words;        /* slots of a lane, in all buffers together */
    uint32_t group_words;       /* workgroup memory of a group, likewise */
    uint32_t group_value_words; /* values of a group, in _values */
    uint32_t made_words;        /* size of _made */
    uint32_t part_words;        /* of a group, in _parts */
    uint32_t scalar_words;      /* ahead: size of _scalars */
    uint32_t sync_points;       /* barriers of the source that remain */
    vyre_split_scope scope;
    bool ahead;       /* made for launching ahead */
    bool checks_turn; /* ... and some step is decided by the device */
    bool along_x; /* a barrier was removed since lanes of a grid along x differ in global_id.x: the
                     module is right only for grids of one group along y and z */
    uint32_t widest; /* the module is right only if global_size.x is at most so much */
} vyre_module_view;

/* The first carry, from number `from` on, that is alive when the step ends; or VYRE_NONE. To visit
 * all: for (c = next(m, step, 0); c != VYRE_NONE; c = next(m, step, c + 1)). Some comparisons for
 * each, whatever else is alive elsewhere. */
VYRE_API uint32_t vyre_module_next_live(const vyre_module *module, uint32_t step, uint32_t from);

/* True if the program, or a function that it can call, has a grid barrier; O(1). */
VYRE_API bool vyre_contains_grid_sync(const vyre_program *program);

/* No device has memory for a thousand of its largest buffers. */
enum { VYRE_CARRY_BUFFERS = 1024 };

typedef struct vyre_split_options {
    vyre_split_scope scope;
    bool keep_barriers; /* remove and weaken none */
    /* Most slots of a lane, and words of workgroup memory of a group, in one buffer; 0: all. With
     * one of them not 0, lanes and groups have buffers of their own. */
    uint32_t lane_words, group_words;
    bool any_grid; /* a module for every grid: `along_x` will be false */
    /* Loops over all elements, `for (i in global_id.x .. n step global_size.x)`, become steps, one
     * for each trip: for devices without hardware threads, which then go over memory in its order.
     * With `ahead` only those whose count does not depend on memory. */
    bool turn_loops;
    /* Turned loops are no steps: for devices that run groups trip by trip, each by itself. Where
     * lanes may end or have private memory they are. */
    bool trips_together;
    /* What segments are lowered to (vyre/lower.h); declarations that lowering adds stand behind the
     * others. NULL: they stay as they are. */
    const vyre_capabilities *can;
    bool ahead; /* a module for launches that are enqueued before it is known where the schedule
                   goes; at grid scope */
} vyre_split_options;

/* Splits a valid program. A program without barriers of the scope gives one segment. VYRE_LIMIT:
 * more than VYRE_CARRY_BUFFERS buffers would be needed. The schedule and the carries do not depend
 * on how words are spread over buffers. */
VYRE_API vyre_status vyre_split(const vyre_program *program, const vyre_split_options *options,
                                const vyre_allocator *allocator, vyre_module **out_module,
                                vyre_diag *diag);
VYRE_API const vyre_module_view *vyre_module_get(const vyre_module *module);
VYRE_API vyre_module *vyre_module_retain(vyre_module *module);
VYRE_API void vyre_module_release(vyre_module *module);

typedef enum vyre_module_format {
    VYRE_MODULE_TEXT = 0,    /* the schedule, then each segment as a program */
    VYRE_MODULE_EXPLAIN = 1, /* for each barrier: what is carried, how, and what it costs */
    VYRE_MODULE_JSON = 2,    /* one object with everything, ending in a newline */
    VYRE_MODULE_DOT = 3,     /* graphviz: a box for each step */
    VYRE_MODULE_SVG = 4      /* the same as a picture */
} vyre_module_format;

/* Writes a module for people or for programs. The same module gives the same bytes in every
 * process. `write` returning false makes the call fail with VYRE_IO. */
VYRE_API vyre_status vyre_module_write(const vyre_module *module, vyre_module_format format,
                                       const vyre_allocator *allocator, vyre_write_fn write,
                                       void *user, vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
