/* Running a schedule (vyre/split.h): for backends that take whole modules, and for tools.
 *
 * Where a pass stands is a value: the next step, the scalars, and what lies at which place. It is
 * in the caller's memory, refers to nothing but that and the module, and can be copied and put
 * back, so many threads can walk one schedule, each with a position of its own. All of them come to
 * the same steps, since all read the same memory: what a step loads when it is entered nobody
 * writes before the next grid barrier, and what lanes make for the schedule lies in memory that
 * changes places.
 *
 *     vyre_position at = vyre_position_begin(module, words);
 *     while (at.step != VYRE_NONE) {
 *         const vyre_step *step = &vyre_module_get(module)->steps[at.step];
 *         vyre_position_enter(&at, &pass, &reader, &launch, diag)
 *         if (step->segment != VYRE_NONE) launch it, and wait until all of it is done
 *         vyre_position_leave(&at, &pass, &reader, diag)
 *         if (at.step != VYRE_NONE && step->collective != VYRE_NONE) do it
 *     }
 *     vyre_position_finish(&at, &pass);
 *
 * Threads that walk together meet where vyre_position_meets says so, between entering and leaving a
 * step: behind each launch, and behind a step that launches nothing if something was read since
 * they met and a grid barrier lies there, since the next launch may write it.
 *
 * In a module for launching ahead entering a step computes only what the host knows, and nothing is
 * read; a doubtful step is left by a guess, or when its word has been read.
 *
 * Nothing here allocates. */
#ifndef VYRE_SCHEDULE_H
#define VYRE_SCHEDULE_H

#include "vyre/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_position {
    const vyre_module *module;
    uint32_t step; /* VYRE_NONE: the pass is over */
    uint32_t tick; /* tells the launches of a pass apart; never 0 */
    uint32_t
        expect;    /* the word of the last decision of the device; of modules for launching ahead */
    bool has_read; /* when it entered a step, since threads met */
    uint64_t
        *words; /* the caller's: bits of each scalar, what is at each place, and room to work */
} vyre_position;

/* Reads device memory, when all that was launched before is done. A device's own `read` does. */
typedef struct vyre_reader {
    vyre_status (*read)(void *user, vyre_memory memory, uint64_t offset, void *data, uint64_t size,
                        vyre_diag *diag);
    void *user;
} vyre_reader;

/* How many words a position needs, and how many of them must be copied to come back to it. */
VYRE_API uint32_t vyre_position_words(const vyre_module *module);
VYRE_API uint32_t vyre_position_state(const vyre_module *module);
/* In front of step 0. */
VYRE_API vyre_position vyre_position_begin(const vyre_module *module, uint64_t *words);
/* A copy of the position whose words are at `words`. */
VYRE_API vyre_position vyre_position_copy(const vyre_position *position, uint64_t *words);

/* Binds the segment of the step, if it has one, and tells in *out_launch how to launch it: as the
 * source, with the arrays of its binding. (NULL: the caller knows.) Then computes what the step
 * computes when it is entered. Fails only if reading does. */
VYRE_API vyre_status vyre_position_enter(vyre_position *position, const vyre_module_launch *pass,
                                         const vyre_reader *reader, vyre_launch *out_launch,
                                         vyre_diag *diag);
/* When the launch is done: computes what lanes made known, and goes on to the next step. Fails only
 * if reading does. */
VYRE_API vyre_status vyre_position_leave(vyre_position *position, const vyre_module_launch *pass,
                                         const vyre_reader *reader, vyre_diag *diag);
/* Of a module for launching ahead (vyre/split.h): how to launch the control segment of the step,
 * behind its segment; when the step has been entered and not yet been left. */
VYRE_API void vyre_position_control(const vyre_position *position, const vyre_module_launch *pass,
                                    vyre_launch *out_launch);
/* Leaves a doubtful step, which goes that way if that is not known to the host;
 * vyre_position_word is what the device writes then, if a lane is alive. */
VYRE_API void vyre_position_guess(vyre_position *position, bool condition);
VYRE_API uint32_t vyre_position_word(const vyre_position *position, bool condition);
/* Whether these read memory, so that whoever launches ahead must wait before. */
VYRE_API bool vyre_step_reads_entering(const vyre_module *module, uint32_t step);
VYRE_API bool vyre_step_reads_leaving(const vyre_module *module, uint32_t step);

/* Whether threads that walk together wait for each other before they leave the step. */
VYRE_API bool vyre_position_meets(const vyre_position *position);

/* Bits of a scalar; of the memory that is at a place. */
static inline uint64_t vyre_position_scalar(const vyre_position *position, uint32_t scalar) {
    return position->words[scalar];
}
VYRE_API vyre_memory vyre_position_place(const vyre_position *position,
                                         const vyre_module_launch *pass, uint32_t place);

/* The memory that a buffer of the source has now. */
VYRE_API vyre_memory vyre_position_memory(const vyre_position *position,
                                          const vyre_module_launch *pass, vyre_decl decl);
/* When the pass is over: tells in pass->held what was swapped. Of threads that walk together one
 * does it. */
VYRE_API void vyre_position_finish(const vyre_position *position, const vyre_module_launch *pass);

/* On one rank a collective with two buffers copies the shorter length, others change nothing. */
typedef struct vyre_collective_copy {
    vyre_decl to, from; /* of the source */
    uint64_t size;      /* 0: nothing to do */
} vyre_collective_copy;
VYRE_API vyre_collective_copy vyre_collective_on_one_rank(const vyre_module *module, vyre_stmt stmt,
                                                          const uint32_t *counts);

/* Lanes that trapped. The others go on to the next grid barrier, perhaps over several launches;
 * then the lowest of them is told. */
typedef struct vyre_trap {
    bool happened;
    uint64_t lane;
    vyre_diag diag;
} vyre_trap;
/* VYRE_OK: it is not an error yet. diag tells of the lane; NULL: nobody wants to know. */
VYRE_API vyre_status vyre_trap_note(vyre_trap *trap, uint64_t lane, const vyre_diag *diag);
/* Whether no lane goes on behind the step. */
static inline bool vyre_trap_is_due(const vyre_trap *trap, const vyre_step *step) {
    return trap->happened && (step->sync || step->kind == VYRE_STEP_END);
}
/* VYRE_TRAP and what is to be said, or VYRE_OK. */
VYRE_API vyre_status vyre_trap_report(const vyre_trap *trap, vyre_diag *diag);

/* VYRE_CANCELLED, VYRE_TIMEOUT or VYRE_OK. */
VYRE_API vyre_status vyre_launch_check_time(const vyre_launch *launch, vyre_diag *diag);
/* Tells how far the dispatch has come; whoever runs a schedule, or a program with a grid barrier of
 * its own, calls it as it goes. */
VYRE_API void vyre_launch_progress(const vyre_launch *launch, uint64_t launches, uint64_t barriers);
/* Asked only before something runs: what needs exactly its steps gets through. */
VYRE_API vyre_status vyre_launch_check_steps(const vyre_launch *launch, uint64_t steps,
                                             vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
