/* What was decided about the form of code, and by which fact; kept for those who ask
 * (`vyre split --explain --backend cpu`). A decision is noted where it is made:
 *
 *     cpu_note(e, stmt, "lanes", "%u in lockstep because vectors have %u bytes", 8, 32);
 *
 * `stmt` is the loop, guard or access that it is about; VYRE_NONE is the whole part, of which the
 * last note of a topic stands. Functions are emitted several times until all is known, and some are
 * given up: what is noted of statements counts when a function is written, and the first one that
 * is, the form's fast one, speaks for those behind it. */
#ifndef VYRE_SRC_BACKEND_CPU_NOTES_H
#define VYRE_SRC_BACKEND_CPU_NOTES_H

#include "base/alloc.h"
#include "vyre/backend.h"

typedef struct cpu_noted {
    vyre_decision decision;
    vyre_stmt stmt;
    bool pending; /* its function is not written yet */
} cpu_noted;

typedef struct cpu_notes {
    vyre_allocator allocator;
    VYRE_VEC(cpu_noted) list;
    bool failed; /* for want of memory */
} cpu_notes;

/* NULL notes: nobody asks. */
void cpu_notes_add(cpu_notes *notes, const cpu_noted *noted);
/* A function is emitted anew; it was written. */
void cpu_notes_restart(cpu_notes *notes);
void cpu_notes_commit(cpu_notes *notes);
void cpu_notes_finish(cpu_notes *notes);

#endif
