/* Splitting: a program with grid barriers as barrier-free segments, a schedule, and the state that
 * is carried between them. Needs no device.
 *
 * Every segment is an ordinary program without grid barriers. Its buffers have the names they have
 * in the source; `in` if it only reads them, else `inout`. Besides them a segment may use (with
 * another prefix where the source has such names)
 *   _lane   u32: private values, `_lanes` words for each slot (lane data)
 *   _grid   u32: word 0 tells which way the schedule goes, then two areas of values that are the
 *           same for the whole grid, then a block for each workgroup (uniform data)
 * and the params _lanes, _phase, _tick that whoever runs the schedule sets. Both buffers start as
 * zeros in each pass.
 *
 * The schedule is a list of steps; step 0 is the first:
 *   at = 0, phase = 0, tick = 1
 *   while step[at] is not an END:
 *       launch its segment, if it has one, with _phase = phase and _tick = tick
 *       NEXT:   at = next
 *       BRANCH: word = _grid[0]; if word / 2 != tick, no lane is alive: stop;
 *               at = word % 2 ? next : otherwise
 *       if the step flips: phase = 1 - phase
 *       tick = tick + 1
 * (a launch of an END step's segment, if it has one, is the last). */
#ifndef VYRE_SPLIT_H
#define VYRE_SPLIT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_module vyre_module; /* immutable, reference counted */

typedef enum vyre_step_kind { VYRE_STEP_NEXT, VYRE_STEP_BRANCH, VYRE_STEP_END } vyre_step_kind;

typedef struct vyre_step {
    uint32_t segment; /* or VYRE_NONE: nothing to launch */
    uint8_t kind;     /* vyre_step_kind */
    bool flips;
    bool sync; /* a grid barrier of the source lies behind this step */
    uint32_t next, otherwise;
    vyre_place place; /* of that barrier, or of the condition */
} vyre_step;

/* How something that is alive across a barrier gets there. */
typedef enum vyre_carry_kind {
    VYRE_CARRY_RECOMPUTED, /* pure, and all that it reads is unchanged */
    VYRE_CARRY_LANE,       /* stored by each lane */
    VYRE_CARRY_GRID,       /* the same for all lanes: stored once */
    VYRE_CARRY_PRIVATE,    /* private array, stored by each lane */
    VYRE_CARRY_WORKGROUP,  /* workgroup memory, stored once per group */
    VYRE_CARRY_ENDED       /* which lanes have ended */
} vyre_carry_kind;

typedef struct vyre_carry {
    const char *name;
    vyre_carry_kind kind;
    uint32_t words; /* per lane, group or grid */
    uint32_t slot;  /* first word, where it is stored */
    vyre_place place;
} vyre_carry;

/* A grid barrier of the source that is not in the schedule: nothing that lanes write on one side of
 * it is used by other lanes on the other side. */
typedef struct vyre_removed_barrier {
    vyre_place place;
    bool weakened; /* only workgroup memory is: it became a workgroup barrier */
} vyre_removed_barrier;

typedef struct vyre_module_view {
    const vyre_program *source; /* what was split, calls inlined */
    const vyre_program *const *segments;
    uint32_t segment_count;
    const vyre_step *steps;
    uint32_t step_count;
    const vyre_carry *carries;
    uint32_t carry_count;
    uint32_t lane_words; /* size of _lane: lane_words * lanes */
    uint32_t grid_words; /* size of _grid: grid_words + group_words * groups */
    uint32_t group_words;
    uint32_t sync_points; /* grid barriers of the source that remain */
    const vyre_removed_barrier *removed;
    uint32_t removed_count;
} vyre_module_view;

/* The carries that are alive when a step ends: indices into `carries`; their number is returned.
 * The array lives as long as the module. */
VYRE_API uint32_t vyre_module_live(const vyre_module *module, uint32_t step,
                                   const uint32_t **out_carries);

/* True if the program has a grid barrier somewhere; O(1). */
VYRE_API bool vyre_contains_grid_sync(const vyre_program *program);

typedef struct vyre_split_options {
    bool keep_barriers; /* remove and weaken none */
} vyre_split_options;

/* Splits a valid program. A program without grid barriers gives one segment. */
VYRE_API vyre_status vyre_split(const vyre_program *program, const vyre_split_options *options,
                                const vyre_allocator *allocator, vyre_module **out_module,
                                vyre_diag *diag);
VYRE_API const vyre_module_view *vyre_module_get(const vyre_module *module);
VYRE_API vyre_module *vyre_module_retain(vyre_module *module);
VYRE_API void vyre_module_release(vyre_module *module);

#ifdef __cplusplus
}
#endif

#endif
