/* A split program on one device: its segments compiled, its carried state in device memory. */
#ifndef VYRE_SRC_SCHEDULE_SCHEDULE_H
#define VYRE_SRC_SCHEDULE_SCHEDULE_H

#include "device/device.h"
#include "schedule/traps.h"
#include "vyre/schedule.h"

/* Two batches of launches, none of which is known to be right, with so many decisions each. */
enum { VYRE_SCHEDULE_GUESSES = 2 * VYRE_LIMIT_AHEAD };

struct vyre_compiled_segment {
    vyre_backend_kernel *kernel; /* NULL: the device has taken the module */
    vyre_decl trap;              /* where lanes record that they trapped, or VYRE_NONE */
    bool tells_traps;            /* lanes may trap, and the device tells of it */
    uint32_t decl_count;
};

typedef struct vyre_schedule {
    vyre_device *device;
    const vyre_program *program;
    uint32_t segment_count, sync_points; /* of each module that the program gives */
    vyre_split_options how;              /* the module was split */
    bool takes_module;                   /* the device runs the schedule itself */
    vyre_module *module;
    vyre_backend_kernel *whole; /* where the device runs the schedule itself, else NULL */
    struct vyre_compiled_segment *segments;
    vyre_segment_binding *bindings; /* of each segment */
    uint64_t *visits;               /* per step, in this pass; but when launching ahead */
    uint64_t *words;                /* of the position of a pass, and of guesses */
    bool *went_away;                /* per step: a branch last went to `otherwise` in this pass */
    struct vyre_own_memory *own;    /* what lanes and groups own: per buffer of the module */
    uint32_t *held;     /* per `swapped` of the module: whose memory it has in the end */
    vyre_memory *moved; /* room for as many */
    vyre_memory places[VYRE_PLACES]; /* what changes places; kept for the next pass */
    uint64_t place_bytes[VYRE_PLACES];
    bool is_used; /* the carried state is not zero */
    vyre_traps traps;
} vyre_schedule;

/* What a pass reports, besides failures: it adds to all of it. */
typedef struct vyre_pass {
    vyre_trace *trace; /* may be NULL */
    vyre_launch_result *result;
    vyre_dispatch_stats *stats;
    vyre_dispatch_times *times; /* enqueue and wait */
    uint32_t ahead;             /* as in vyre_dispatch_options */
    vyre_memory *memory;        /* of the launch: what was swapped has another in the end */
    bool *was_refused;          /* set if the device refused the grid in one launch */
} vyre_pass;

/* Splits and compiles. takes_module: the device runs the schedule itself, and can. The program must
 * outlive the schedule. On failure nothing is to be finished. trace may be NULL. */
vyre_status vyre_schedule_init(vyre_schedule *schedule, vyre_device *device,
                               const vyre_program *program, const vyre_split_options *options,
                               bool takes_module, vyre_trace *trace, vyre_diag *diag);
void vyre_schedule_finish(vyre_schedule *schedule);

/* Makes room for the carried state of a grid; passes with other grids need another call. Where the
 * state does not fit into the buffers of the module, the program is split and compiled anew, with
 * more buffers; these serve smaller grids too. On failure the schedule stays as it was, or has less
 * room. */
vyre_status vyre_schedule_prepare(vyre_schedule *schedule, const uint32_t grid[3],
                                  vyre_trace *trace, vyre_diag *diag);
/* Frees the carried state; it is to be prepared for again. */
void vyre_schedule_rest(vyre_schedule *schedule);
/* The carried state of a new pass: all zeros. */
vyre_status vyre_schedule_zero(vyre_schedule *schedule, vyre_trace *trace, vyre_diag *diag);
/* Binds all segments to what the source was bound to. Valid until the next call. */
vyre_module_launch vyre_schedule_bind(vyre_schedule *schedule, const vyre_launch *source);
uint64_t vyre_schedule_groups(const uint32_t grid[3]);
uint64_t vyre_schedule_lanes(const vyre_schedule *schedule, const uint32_t grid[3]);
/* Which segment an error is about; VYRE_NONE: it is not known. */
void vyre_schedule_label(const vyre_schedule *schedule, uint32_t segment, vyre_diag *diag);

/* schedule_run.c: one pass over the grid that was prepared for, waited for. */
vyre_status vyre_schedule_run(vyre_schedule *schedule, const vyre_launch *launch,
                              const vyre_pass *pass, vyre_diag *diag);

#endif
