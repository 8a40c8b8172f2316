/* A program without grid barriers as LLVM text: a function `runN` over its groups. */
#ifndef VYRE_SRC_BACKEND_CPU_KERNEL_H
#define VYRE_SRC_BACKEND_CPU_KERNEL_H

#include "backend/cpu/emit.h"
#include "backend/cpu/trips.h"
#include "vyre/split.h"

/* What a group is made of, and where its parts lie in the arena. But for the pointers it is plain
 * data that is kept with the code (cpu_group_facts), so that code from disk can run. */
typedef struct cpu_group {
    const vyre_program *program; /* lowered; it outlives the group */
    vyre_module *module;         /* the program at its workgroup barriers; NULL: it has none */
    uint64_t *offsets;           /* per declaration of the source: of workgroup memory */
    uint64_t lane, made[2]; /* of what is carried over barriers, and of what lanes make known */
    uint64_t arena;         /* bytes of all */
    uint8_t form;           /* cpu_form of its only segment; LANES: groups run one after another */
    uint32_t grain;         /* units of work that are worth another worker */
    uint32_t width;         /* lanes in lockstep, of the first segment */
    cpu_trips trips;        /* of ROWS: whether launches may become one */
    cpu_copies copies;      /* of buffers, that workers may have */
    uint32_t sites;         /* of lists that workers append to: rooms of CPU_ROOM bytes */
    bool uneven;            /* units may take very different time */
} cpu_group;

vyre_status cpu_group_create(const vyre_program *program, const vyre_allocator *a,
                             cpu_group *out_group, vyre_diag *diag);
void cpu_group_finish(cpu_group *group, const vyre_allocator *a);
/* It without what belongs to this process: all that running needs besides the program. */
cpu_group cpu_group_facts(const cpu_group *group);
/* What was cut, or is all there is. */
const vyre_program *cpu_group_source(const cpu_group *group);
/* Segments: one without a module. */
uint32_t cpu_group_segments(const cpu_group *group);
const vyre_program *cpu_group_segment(const cpu_group *group, uint32_t number);
/* What each declaration of a segment stands for, or of the module's control program
 * (VYRE_NONE); `out` has room for all. */
void cpu_group_bind(const cpu_group *group, uint32_t number, cpu_binding *out);
/* How many units of work a grid has: groups; of ROWS lanes. */
uint64_t cpu_group_units(const cpu_group *group, const uint32_t grid[3]);

/* turned.c: the loop that groups make trip by trip; VYRE_NONE: none. */
vyre_stmt cpu_turned_loop(const cpu_group *group);

/* A module that is being written. */
typedef struct cpu_writer {
    const vyre_allocator *a;
    cpu_isa isa;
    uint32_t gang;  /* lanes in lockstep; 0: chosen */
    bool unchecked; /* bounds need not be tested */
    bool alone;     /* one thread runs all */
    bool streamed;  /* a function of the group has stores past the caches */
    uint32_t lists; /* metadata so far: !0 says which way is usual, !1 that stores go past the
                     * caches, then alias lists */
    vyre_text *out;
    cpu_cold cold;
    vyre_text tail;   /* what stands behind the functions */
    cpu_notes *notes; /* NULL: nobody asks */
    uint32_t piece;   /* the group that is written */
} cpu_writer;

void cpu_writer_begin(cpu_writer *w, cpu_isa isa, uint32_t gang, cpu_notes *notes,
                      const vyre_allocator *a, vyre_text *out);
vyre_status cpu_writer_end(cpu_writer *w, vyre_diag *diag);
/* Functions of a group; its entry is `runN`, a cpu_entry. */
vyre_status cpu_write_group(cpu_writer *w, cpu_group *group, uint32_t number, vyre_diag *diag);

/* The parts of that. */

/* An emitter for a segment (VYRE_NONE: the control program) of a group. */
vyre_status cpu_part_begin(cpu_writer *w, const cpu_group *group, uint32_t segment, cpu_emit *e,
                           vyre_diag *diag);
void cpu_part_end(cpu_writer *w, cpu_emit *e);
/* Emits with `body` until nothing changes any more. */
void cpu_part_settle(cpu_emit *e, void (*body)(cpu_emit *e));
/* Writes what was emitted as a function. */
void cpu_part_write(cpu_writer *w, const cpu_emit *e, const char *name, const char *arguments);
void cpu_load_field(vyre_text *t, const char *name, const char *type, size_t offset);
void cpu_load_grid(vyre_text *t);
/* The end of a function that runs a group. */
void cpu_write_finish(const cpu_writer *w);
/* Notes how many lanes run in lockstep; `why` (may be NULL) is why not as many as vectors hold. */
void cpu_note_width(const cpu_writer *w, const cpu_emit *e, uint32_t width, const char *why);
/* Private arrays begin as zeros. */
void cpu_emit_privates(cpu_emit *e);
/* Whether a loop of the segment has trips that vary in the gang, and touches memory: there vectors
 * would gather. */
bool cpu_part_has_varying_loop(const cpu_emit *e);

/* ahead.c: finds the loads of which the next trip of a group makes others. */
void cpu_find_aheads(cpu_emit *e, const cpu_group *group, const struct vyre_ranges *ranges);
/* tally.c: whether lanes may run in gangs though they have atomics: none asks for the old value. */
bool cpu_tally_in_gangs(const cpu_emit *e);
/* steady.c: sites of all expressions and statements, zeroed. */
vyre_status cpu_find_steady(const vyre_program_view *p, const vyre_allocator *a, cpu_site *sites);
/* lanes.c: function gN_segmentK. */
vyre_status cpu_write_lanes(cpu_writer *w, const cpu_group *group, uint32_t number,
                            uint32_t segment, vyre_diag *diag);
/* side.c: how many gangs of the emitter's width, whose variables have been found out, should run
 * side by side. */
uint32_t cpu_side_choose(cpu_emit *e);
/* Forgets what was found out about variables. */
void cpu_part_forget(cpu_emit *e);
/* rows.c: [%from, %to) of lanes along x, in whole gangs; ids of one that begins at x. */
void cpu_emit_range(cpu_emit *e);
void cpu_range_ids(cpu_emit *e, const char *x);
/* probe.c: settles which pieces of a range vectors may rely on; the emitter holds `probe` then, and
 * trusts. False: nothing can be found out. Whether guards clip. */
bool cpu_find_pieces(cpu_emit *e);
bool cpu_has_guard(const cpu_emit *e);
/* rows.c: why the group can't be dissolved, or NULL; its functions, with runN and clipN. */
const char *cpu_rows_refusal(const cpu_group *group);
vyre_status cpu_write_rows(cpu_writer *w, cpu_group *group, uint32_t number, vyre_diag *diag);
/* schedule.c: function gN_group. */
vyre_status cpu_write_schedule(cpu_writer *w, const cpu_group *group, uint32_t number,
                               vyre_diag *diag);

#endif
