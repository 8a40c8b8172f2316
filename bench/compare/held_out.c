/* A second set of programs, chosen before anything was tuned: nobody looks at them while tuning. */
#include "compare.h"

const bench_workload held_out_workloads[] = {{.name = NULL}};
