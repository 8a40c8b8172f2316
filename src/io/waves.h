/* The waves file: {"waves":[{"name","frontier","scratch","output"}], "deps":[["a","b"]],
 * "resident_graph_bytes", "readback_bytes", "budget"} as input of the planner. */
#ifndef VYRE_SRC_IO_WAVES_H
#define VYRE_SRC_IO_WAVES_H

#include "base/intern.h"
#include "vyre/plan.h"

typedef struct vyre_waves {
    vyre_wave_set set; /* budget_bytes is VYRE_PLAN_NO_BUDGET when the file gives none */
    bool has_budget;
    vyre_intern names; /* a wave's number is its index */
    vyre_wave *waves;
    vyre_wave_dep *deps;
} vyre_waves;

/* All byte counts are whole numbers and 0 when left out; unknown keys are refused. `name` is the
 * file's name in messages. Cycles and budgets are the planner's business. */
vyre_status vyre_waves_parse(const char *text, size_t length, const char *name,
                             const vyre_allocator *a, vyre_waves *out, vyre_diag *diag);
/* Reads a file, "-" for standard input. */
vyre_status vyre_waves_read(const char *path, const vyre_allocator *a, vyre_waves *out,
                            vyre_diag *diag);
void vyre_waves_finish(vyre_waves *waves);

#endif
