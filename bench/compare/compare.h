/* bench_programs: programs of bench/ on a device of vyre beside the same computations written by
 * hand.
 *
 * - main.c: options and the order of things
 * - workloads.c: program, sizes, inputs and what bounds them; wider.c, published.c, held_out.c: the
 *   other sets
 * - instance.c: inputs from fixed seeds, results compared
 * - contestant.c: one process for each way to compute; its turns, and what it lost to others
 * - ours.c: in such a process, vyre; theirs.c: a peer from a shared object
 * - measure.c: turns in rounds, medians and quartiles
 * - report.c: the table and JSON; picture.c: the same as SVG
 *
 * Contestants never share a process: runtimes that spin when idle, two OpenMP libraries and two
 * versions of LLVM would be in each other's way. All but the one whose turn it is are stopped. */
#ifndef VYRE_BENCH_COMPARE_H
#define VYRE_BENCH_COMPARE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "peers/limits.h"
#include "peers/peer.h"
#include "vyre/vyre.h"

enum { MESSAGE = 256, MOST_CONTESTANTS = 8, MOST_ROUNDS = 64, MOST_PARAMS = 3 };

/* Sizes: as published; small enough for a few seconds in all; small enough for an interpreter. */
typedef enum bench_scale { SCALE_FULL, SCALE_SMALL, SCALE_TINY, SCALES } bench_scale;

typedef struct bench_workload bench_workload;

/* Inputs and sizes of one workload. */
typedef struct bench_instance {
    const bench_workload *of;
    peer_instance data; /* out: of the contestant that has it */
    uint32_t in_count, out_count;
} bench_instance;

/* An output: floats may differ by `tolerance` times the largest value of the output; 0: exactly. */
typedef struct bench_output {
    vyre_type type;
    double tolerance;
} bench_output;

#define BENCH_EXACT(type)                                                                          \
    { type, 0.0 }

/* A u32 param that is set to one of the sizes. */
typedef struct bench_param {
    const char *name;
    uint32_t size;
} bench_param;

struct bench_workload {
    const char *name;
    const char *peer;    /* what the peers call it */
    const char *program; /* below bench/ */
    bool (*make)(bench_instance *instance);
    uint64_t size[SCALES][PEER_SIZES];
    bench_param params[MOST_PARAMS];
    bench_output outputs[PEER_OUTPUTS];
    /* The least time in seconds that the machine allows, and what it is that does; NULL: not known.
     */
    double (*limit)(const bench_instance *instance, const peer_limits *limits);
    const char *limited_by;
    bool keeps_barriers; /* run without the optimiser; size[0] barriers must have been passed */
};

extern const bench_workload named_workloads[], wider_workloads[], published_workloads[],
    held_out_workloads[]; /* ended by one without a name */

/* instance.c: these say on standard error what went wrong. */
bool instance_make(const bench_workload *of, bench_scale scale, bench_instance *out);
void instance_finish(bench_instance *instance);
bool add_input(bench_instance *instance, vyre_type type, uint64_t count, uint64_t seed);
bool add_bytes(bench_instance *instance, void *data, size_t bytes); /* takes the memory over */
void add_output(bench_instance *instance, size_t bytes);
/* One input and one output of so many elements. */
bool add_both(bench_instance *instance, vyre_type type, uint64_t count);
bool add_rmat(bench_instance *instance, uint64_t scale, uint64_t edge_factor);
bool add_grid(bench_instance *instance, uint64_t width, uint64_t height);
uint64_t instance_random(uint64_t *state);
double instance_size(const bench_instance *instance, int which);
/* Bytes of all inputs and outputs, and the limit of what moves them once. */
double instance_bytes(const bench_instance *instance);
double limit_once(const bench_instance *instance, const peer_limits *limits);
/* Whether `got` is what `want` is; else why not. */
bool instance_same(const bench_instance *got, const bench_instance *want, char message[MESSAGE]);

/* Time is that of the clock on the wall, or with --one-thread that of the process: its threads'
 * time on a core, which a busy machine distorts less. */
extern bool way_counts_cpu;
uint64_t way_now(void);

/* One way to compute, in this process. Functions say in `message` why they fail. */
typedef struct bench_way {
    void *state;
    bool (*reset)(struct bench_way *way, char message[MESSAGE]);
    bool (*run)(struct bench_way *way, uint64_t *out_ns, char message[MESSAGE]);
    bool (*collect)(struct bench_way *way, char message[MESSAGE]);
} bench_way;
extern const char *ours_folder; /* with the programs */
bool ours_prepare(const char *backend, const bench_instance *instance, bench_way *out,
                  char message[MESSAGE]);
/* `object` is a shared object with peers, NULL for those linked in. */
bool theirs_prepare(const char *object, const char *peer, const bench_instance *instance,
                    bench_way *out, char message[MESSAGE]);
bool theirs_limits(const char *object, int effort, peer_limits *out, char message[MESSAGE]);

/* contestant.c */
typedef struct bench_turn {
    uint64_t ns;    /* median of the runs of the turn; 0: there was none */
    bool was_lost;  /* a core was taken away for more than a moment */
    bool was_alone; /* one thread did it all */
} bench_turn;

typedef struct bench_contestant {
    const char *name;
    const char *backend; /* of vyre; else a peer */
    const char *object;
    const char *peer;
    pid_t pid; /* 0: there is none */
    int channel;
    bench_instance own;            /* its room for outputs is shared with the process */
    bench_turn turns[MOST_ROUNDS]; /* by round */
    char message[MESSAGE];         /* why it is out */
    bool is_there;                 /* to the end */
    bool is_wrong;                 /* it computed something else */
    bool is_openmp;
    bool takes_one_turn; /* it is enough that it gets through */
    uint32_t neighbours; /* processes that are busy beside it */
} bench_contestant;
/* Starts the process, runs once, and leaves the outputs in own.data.out. */
bool contestant_start(bench_contestant *c, const bench_instance *instance);
void contestant_take_turn(bench_contestant *c, uint32_t round);
bool contestant_collect(bench_contestant *c); /* the outputs of the last run */
void contestant_finish(bench_contestant *c);  /* ends the process; the outputs stay */
void contestant_release(bench_contestant *c); /* and they go, too */
/* Runs work(argument) in a process of its own; `shared` bytes at `out` come back. */
bool in_process(bool (*work)(void *out, const void *argument), const void *argument, void *out,
                size_t shared);

/* measure.c */
typedef struct bench_spread {
    double low, median, high; /* quartiles */
} bench_spread;

typedef struct bench_result {
    const char *name;
    char message[MESSAGE]; /* why there are no figures */
    bool is_there, is_wrong, is_openmp;
    bool is_alone; /* one thread did it all, though there were more */
    bench_spread ns;
    bench_spread ratio;    /* its time / ours, pair by pair: above 1 ours is faster */
    uint32_t clean, pairs; /* rounds in which both took a turn, and both had their cores */
} bench_result;

typedef struct bench_row {
    const bench_workload *workload;
    double limit_ns;
    uint32_t count;
    bench_result results[MOST_CONTESTANTS]; /* ours first */
    bool has_ours;                          /* else a ratio means nothing */
    int better;                             /* of the OpenMP peers; -1: none */
} bench_row;

typedef struct bench_figures {
    peer_limits limits;
    const bench_row *rows;
    uint32_t row_count;
    const char *scale;
} bench_figures;

bool measure_row(const bench_instance *instance, bench_contestant *contestants, uint32_t count,
                 uint32_t rounds, bench_row *out);

/* report.c, picture.c */
void report_row(const bench_row *row);
void report_means(const bench_figures *figures);
bool report_json(const bench_figures *figures, const char *path);
bool report_picture(const bench_figures *figures, const char *path);
/* Geometric mean over rows of what `name` ("OpenMP": the better one of each row) took over ours; 0:
 * none. */
double report_mean(const bench_figures *figures, const char *name, uint32_t *out_count);

#endif
