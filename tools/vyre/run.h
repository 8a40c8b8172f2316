/* vyre run: what its parts share. run.c has the flow, run_inputs.c fills buffers and params,
 * run_outputs.c stages, summarises and digests results, run_progress.c tells how far it has come,
 * run_report.c what happened. */
#ifndef VYRE_TOOLS_RUN_H
#define VYRE_TOOLS_RUN_H

#include "cli.h"
#include "io/array.h"
#include "vyre/vyre.h"

typedef struct run_options {
    const char *backend;
    cli_list in, out, set;
    cli_triple grid;
    cli_number elements, iterations, split, path, ahead, threads, timeout, steps, repeat, races,
        bounds;
    const char *order, *trace;
    bool no_opt, no_cache, no_warn, unchecked, stats, time, json;
} run_options;

enum { RUN_RACES = 32 }; /* told one by one; the rest is counted */

/* One run of the command. Slots stand in declaration order, as vyre_dispatch wants them. */
typedef struct run {
    cli_context *cli;
    const run_options *o;
    vyre_program *program;
    const vyre_program_view *view;
    vyre_device *device;
    vyre_pipeline *pipeline; /* --repeat only */

    uint32_t input_count;
    vyre_decl *input_decls;
    vyre_array *arrays; /* type VYRE_VOID: not given */
    vyre_input *inputs;

    uint32_t output_count;
    vyre_decl *output_decls;
    vyre_output *outputs;
    const char **files; /* of each output, or NULL */

    vyre_setting *settings;
    vyre_race races[RUN_RACES];
    vyre_outside outside[RUN_RACES];
    vyre_outside_list bounds;
    vyre_dispatch_options options;
    vyre_dispatch_report report;
    vyre_progress progress;
    bool done; /* the report and the outputs are there */
} run;

/* Those that return an exit code give CLI_PENDING when there is nothing wrong. */

/* Tells that there is no such declaration, with the nearest one that is wanted. */
cli_exit run_unknown(run *r, const char *what, const char *name, bool (*wanted)(vyre_role));
/* Fills the input slots from --in and the settings from --set. */
cli_exit run_read_settings(run *r);
cli_exit run_read_inputs(run *r);
/* Resolves --out, before anything runs. */
cli_exit run_resolve_outputs(run *r);
/* Writes the files of --out, all or none. */
cli_exit run_write_outputs(run *r);

/* For people on standard output: a line per output. */
void run_summarise(const run *r, vyre_text *text);
uint64_t run_output_count(const run *r, uint32_t slot);
uint64_t run_output_digest(const run *r, uint32_t slot);

/* While a run of more than two seconds goes on, a line on a terminal says how far it has come. */
typedef struct run_watch run_watch;
run_watch *run_watch_begin(const vyre_progress *progress); /* NULL: no terminal */
void run_watch_end(run_watch *watch);

/* Tells the races, and accesses outside of their memory; CLI_CHECK when they count as a failure. */
cli_exit run_tell_races(run *r);
cli_exit run_tell_outside(run *r);
/* --stats and --time, on standard error. */
void run_tell_numbers(const run *r);
void run_write_json(const run *r, vyre_text *text);
/* Replaces the times of the last report by the medians of `count` reports. */
void run_take_medians(vyre_dispatch_times *times, vyre_dispatch_times *all, uint32_t count);

#endif
