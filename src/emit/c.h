/* Files with a host part: C, whose segments are loops, and CUDA C++, whose segments are kernels. */
#ifndef VYRE_SRC_EMIT_C_H
#define VYRE_SRC_EMIT_C_H

#include "emit/emit.h"

typedef struct emit_c_state emit_c_state;

/* A piece of support that a file gets if it uses a function of it. */
typedef struct emit_part {
    const char *uses, *text;
} emit_part;
/* Those that are the same in C and C++; ended by NULL. */
extern const emit_part emit_c_parts[];

/* What host parts spell apart. In texts $X is the program's name. */
typedef struct emit_host {
    const emit_dialect *dialect;
    const char *capabilities; /* what segments are lowered to */
    /* A segment and what launches it, as a function of its name: appended to file->segments. */
    vyre_status (*segment)(emit_c_state *file, uint32_t number, vyre_diag *diag);
    /* What stands behind the declarations of a pass, before the steps; NULL: nothing. */
    vyre_status (*before_steps)(emit_c_state *file, emit_program *e, vyre_diag *diag);
    const char *head;    /* the comment, then includes; $Y is the version of vyre */
    const char *code;    /* one more code, with an underscore; or "" */
    const char *args;    /* more of what the caller gives */
    const char *support; /* vy_group; $Y: bytes of memory that groups need */
    const emit_part *parts;
    const char *trap_memory; /* what allocates words that lanes write and the host reads */
    const char *call;        /* of vy_pass, giving vy_code */
    const char *done;        /* when all steps are done */
} emit_host;

/* One file while it is written. */
struct emit_c_state {
    const emit_host *host; /* NULL: a kernel alone */
    const emit_dialect *dialect;
    const vyre_program *program; /* as it was written; NULL likewise */
    const vyre_module *module;   /* at grid scope; NULL likewise */
    vyre_allocator a;
    emit_used used;
    vyre_text helpers, segments, entry;
    const char *name;      /* of the program */
    uint64_t group_memory; /* bytes that the group of any segment needs */
    uint32_t sites;        /* most of a segment that records traps */
    bool traps;
    bool unchecked; /* every access is inside of memory */
};

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

/* Where a segment of the file is, and the traps that it records: appended to file->segments. */
void emit_c_sites_text(emit_c_state *file, uint32_t number);
/* A segment of the grid, and what its groups are made of: likewise. */
vyre_status emit_c_segment(emit_c_state *file, uint32_t number, vyre_diag *diag);
/* The function of one group, NAME_group, and those of its parts: likewise. It needs so many bytes
 * of memory, which begin as anything if the program does not wait for its group. */
vyre_status emit_c_group(emit_c_state *file, const vyre_program *segment,
                         const vyre_segment_decl *decls, uint64_t *out_memory, vyre_diag *diag);
/* Refuses a grid and arguments for which the module is not right. */
void emit_c_conditions(emit_program *e, const vyre_module *module);
/* The scalars of a schedule; then its steps, up to the label vy_done. */
void emit_c_scalars(emit_c_schedule *s);
vyre_status emit_c_steps(emit_c_schedule *s, vyre_diag *diag);
/* A whole file. */
vyre_status emit_hosted_file(const emit_host *host, const vyre_program *program,
                             const vyre_emit_options *options, const vyre_allocator *a,
                             vyre_text *out, vyre_diag *diag);

#endif
