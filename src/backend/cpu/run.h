/* Running compiled code: one program over a grid, or a whole module, by the workers of a team. */
#ifndef VYRE_SRC_BACKEND_CPU_RUN_H
#define VYRE_SRC_BACKEND_CPU_RUN_H

#include "backend/cpu/kernel.h"
#include "kit/team.h"
#include "vyre/schedule.h"

/* A program without grid barriers, compiled. */
typedef struct cpu_piece {
    cpu_group group;
    cpu_entry run;
    cpu_clipper clip;      /* NULL: all units have */
    cpu_deliverer deliver; /* NULL: workers keep nothing */
} cpu_piece;

typedef struct cpu_worker cpu_worker;

typedef struct cpu_kernel {
    cpu_piece *pieces; /* the program, or the segments of the module */
    uint32_t piece_count;
    const vyre_module *module; /* NULL: a program */
    struct cpu_code *code;     /* of all pieces; NULL: there are none */
    vyre_code_origin origin;
    cpu_worker **workers; /* what each needs to run it; kept from launch to launch */
    uint32_t worker_count;
    uint64_t copy_bytes[CPU_MOST_COPIES]; /* of each worker's */
    uint64_t stream;                      /* as the context has it */
} cpu_kernel;

/* Gives back what launches needed. */
void cpu_kernel_rest(cpu_kernel *kernel, const vyre_allocator *a);

vyre_status cpu_run_program(cpu_kernel *kernel, vyre_team *team, const vyre_launch *launch,
                            const vyre_allocator *a, vyre_launch_result *out_result,
                            vyre_diag *diag);
vyre_status cpu_run_module(cpu_kernel *kernel, vyre_team *team, const vyre_module_launch *pass,
                           const vyre_allocator *a, vyre_launch_result *out_result,
                           vyre_diag *diag);

#endif
