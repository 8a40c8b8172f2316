/* Where a pass over a schedule stands: which step comes next, and who plays which part in its
 * launch. Whoever runs a schedule walks it like this: the runtime through a queue, and backends
 * that take whole modules.
 *
 *     for (vyre_walk w = vyre_walk_begin(module); w.at != VYRE_NONE;) {
 *         launch vyre_walk_launch(&w, ...), if the step has a segment;
 *         word = first word of control[vyre_walk_then(&w)], if vyre_step_decides(step);
 *         vyre_walk_advance(&w, word);
 *         if w.at is a step, and the step behind us has a collective, do it
 *     } */
#ifndef VYRE_SRC_KIT_WALK_H
#define VYRE_SRC_KIT_WALK_H

#include "vyre/backend.h"

typedef struct vyre_walk {
    const vyre_module_view *module;
    uint32_t at;     /* step; VYRE_NONE: the pass is over */
    uint32_t tick;   /* tells the steps of a pass apart */
    uint32_t expect; /* the word of the last decision */
    bool flipped;    /* _grid and _next have changed places */
    bool turned;     /* _turn and _then have */
} vyre_walk;

vyre_walk vyre_walk_begin(const vyre_module *module);
/* Whether the step writes the control word. */
static inline bool vyre_step_decides(const vyre_step *step) {
    return step->kind == VYRE_STEP_BRANCH || step->asks;
}
/* Which of the control buffers the step writes. */
static inline uint32_t vyre_walk_then(const vyre_walk *walk) {
    return walk->turned ? 0 : 1;
}
/* What a step that decides writes when its condition is so. */
static inline uint32_t vyre_walk_word(const vyre_walk *walk, bool condition) {
    return 2 * walk->tick + condition;
}
/* Goes behind the step; `word` is what is in _then if it decides, and is not looked at if not. */
void vyre_walk_advance(vyre_walk *walk, uint32_t word);
/* The launch of the step's segment, with all of its declarations bound. */
vyre_launch vyre_walk_launch(const vyre_walk *walk, const vyre_module_launch *pass);

/* On one rank a collective with two buffers copies the shorter length, others change nothing. */
typedef struct vyre_collective_copy {
    vyre_decl to, from; /* of the source */
    uint64_t size;      /* 0: nothing to do */
} vyre_collective_copy;
vyre_collective_copy vyre_walk_collective(const vyre_module *module, vyre_stmt stmt,
                                          const uint32_t *counts);

/* Lanes that trapped. The others go on to the next grid barrier, perhaps over several launches;
 * then the lowest of them is told. */
typedef struct vyre_trap {
    bool happened;
    uint64_t lane;
    vyre_diag diag;
} vyre_trap;
/* VYRE_OK: it is not an error yet. diag tells of the lane; NULL: nobody wants to know. */
vyre_status vyre_trap_note(vyre_trap *trap, uint64_t lane, const vyre_diag *diag);
/* Whether no lane goes on behind the step. */
static inline bool vyre_trap_is_due(const vyre_trap *trap, const vyre_step *step) {
    return trap->happened && (step->sync || step->kind == VYRE_STEP_END);
}
/* VYRE_TRAP and what is to be said, or VYRE_OK. */
vyre_status vyre_trap_report(const vyre_trap *trap, vyre_diag *diag);

/* VYRE_CANCELLED, VYRE_TIMEOUT or VYRE_OK. */
vyre_status vyre_launch_check_time(const vyre_launch *launch, vyre_diag *diag);
/* Asked only before something runs: what needs exactly its steps gets through. */
vyre_status vyre_launch_check_steps(const vyre_launch *launch, uint64_t steps, vyre_diag *diag);

#endif
