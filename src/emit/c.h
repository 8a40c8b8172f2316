/* The parts of a file of the C dialect. */
#ifndef VYRE_SRC_EMIT_C_H
#define VYRE_SRC_EMIT_C_H

#include "emit/emit.h"

/* One file while it is written. */
typedef struct emit_c_state {
    const vyre_program *program;
    const vyre_module *module; /* at grid scope */
    vyre_allocator a;
    emit_used used;
    vyre_text segments, entry;
    const char *name;      /* of the program */
    uint64_t group_memory; /* bytes that the group of any segment needs */
    uint32_t sites;        /* most of a segment that records traps */
    bool traps;
} emit_c_state;

/* How the control program of a module is bound: its names are variables of the function. */
typedef struct emit_c_schedule {
    emit_c_state *file;
    const vyre_module_view *m;
    emit_program control;
    bool ticks; /* launches are numbered */
} emit_c_schedule;

/* What segments call the buffer at a place; NULL: the emitter does not know it. */
const char *emit_c_place(uint32_t place);

/* Where lanes of a segment record that they trapped: it waits for subgroups, in which no lane may
 * end. VYRE_NONE: traps are told at once, or there are none. */
vyre_decl emit_c_trap_decl(const vyre_module_view *m, uint32_t segment);
uint32_t emit_c_sites(const vyre_module_view *m, uint32_t segment);

/* A segment of the grid, and what its groups are made of: appended to file->segments. */
vyre_status emit_c_segment(emit_c_state *file, uint32_t number, vyre_diag *diag);
/* The scalars of a schedule; then its steps, up to the label vy_done. */
void emit_c_scalars(emit_c_schedule *s);
vyre_status emit_c_steps(emit_c_schedule *s, vyre_diag *diag);
/* The parameters of a function for a program, behind the first: its buffers and params. */
void emit_c_params(vyre_text *out, const emit_program *e);
/* The args, the function for one pass and the function for a run. */
vyre_status emit_c_entry(emit_c_state *file, vyre_diag *diag);

#endif
