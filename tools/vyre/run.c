/* vyre run: one program on one device. Everything that can be refused is refused before the run;
 * files appear only after it has succeeded. */
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define AT(field) offsetof(run_options, field)

static const cli_option options[] = {
    {"in", CLI_LIST, 0, false, AT(in), "BUF=SOURCE", "fill an input; see vyre help inputs"},
    {"out", CLI_LIST, 'o', false, AT(out), "BUF=FILE", "write an output; see vyre help outputs"},
    {"set", CLI_LIST, 0, false, AT(set), "NAME=VALUE", "set a param or a const"},
    {"backend", CLI_TEXT, 0, false, AT(backend), "NAME",
     "the device: auto (the best one present), a name of vyre devices, NAME://PATH, or "
     "fault://INNER?op=launch&n=3&mode=once|always|lost"},
    {"grid", CLI_TRIPLE, 0, false, AT(grid), "X,Y,Z", "workgroups along each axis"},
    {"elements", CLI_NUMBER, 0, false, AT(elements), "N", "lanes along the one active axis"},
    {"iterations", CLI_NUMBER, 0, false, AT(iterations), "N",
     "run to a fixpoint, at most N passes"},
    {"split", CLI_CHOICE, 0, false, AT(split), "auto|never|always",
     "cut the program at its grid barriers: where the device needs it, never, or always"},
    {"path", CLI_CHOICE, 0, false, AT(path), "host|resident",
     "keep buffers on the host or on the device between passes"},
    {"no-opt", CLI_FLAG, 0, false, AT(no_opt), NULL, "keep every barrier"},
    {"ahead", CLI_NUMBER, 0, false, AT(ahead), "N",
     "of a split program, launch up to N before it is known which way it goes; at most 64"},
    {"unchecked", CLI_FLAG, 0, false, AT(unchecked), NULL,
     "allow a device to leave out bounds checks: an access beyond the end does whatever it does"},
    {"no-cache", CLI_FLAG, 0, false, AT(no_cache), NULL,
     "neither use compiled programs of earlier runs nor keep this one; see vyre cache"},
    {"no-warn", CLI_FLAG, 0, false, AT(no_warn), NULL, "report errors of the program only"},
    {"threads", CLI_NUMBER, 0, false, AT(threads), "N",
     "threads of the device; as many as there are cores to use"},
    {"timeout", CLI_SECONDS, 0, false, AT(timeout), "SECONDS", "stop after this time"},
    {"steps", CLI_NUMBER, 0, false, AT(steps), "N", "stop after this many statements (ref)"},
    {"order", CLI_TEXT, 0, false, AT(order), "forward|reverse|interleaved|random:SEED",
     "the order of lanes that are free to run in any order (ref)"},
    {"races", CLI_CHOICE, 0, true, AT(races), "report|error",
     "find races (ref); error: exit with 7 if one matters"},
    {"bounds", CLI_CHOICE, 0, true, AT(bounds), "report|error",
     "list accesses outside of their memory (ref); error: exit with 7 if there are any"},
    {"repeat", CLI_NUMBER, 0, false, AT(repeat), "N",
     "after a warm-up run N times from the same inputs; times are medians"},
    {"stats", CLI_FLAG, 0, false, AT(stats), NULL, "print launches, waits and bytes"},
    {"time", CLI_FLAG, 0, false, AT(time), NULL,
     "print where the time went, and how many grid barriers were passed"},
    {"trace", CLI_TEXT, 0, false, AT(trace), "FILE",
     "write what the device did when, for ui.perfetto.dev"},
    {"json", CLI_FLAG, 0, false, AT(json), NULL, "print one JSON object; see vyre help json"},
};

/* Options */

static cli_exit read_order(run *r) {
    static const char random[] = "random:";
    uint64_t order = 0;
    if (!r->o->order) {
        return CLI_PENDING;
    }
    if (strncmp(r->o->order, random, sizeof random - 1) == 0 &&
        cli_read_number(r->o->order + sizeof random - 1, UINT64_MAX, &r->options.order_seed)) {
        order = VYRE_ORDER_RANDOM;
    } else if (!cli_read_choice("forward|reverse|random:SEED|interleaved", r->o->order, &order) ||
               order == VYRE_ORDER_RANDOM) {
        return cli_fail(r->cli, VYRE_INVALID_ARGUMENT,
                        "use one of forward, reverse, interleaved, random:SEED",
                        "--order does not take \"%s\"", r->o->order);
    }
    r->options.order = (vyre_order)order;
    return CLI_PENDING;
}

static cli_exit read_options(run *r) {
    const run_options *o = r->o;
    vyre_dispatch_options *to = &r->options;
    const struct {
        const char *name;
        const cli_number *number;
        uint64_t max;
    } positive[] = {{"iterations", &o->iterations, UINT32_MAX},
                    {"ahead", &o->ahead, VYRE_LIMIT_AHEAD},
                    {"threads", &o->threads, UINT32_MAX},
                    {"steps", &o->steps, UINT64_MAX},
                    {"repeat", &o->repeat, 1000000}};
    for (uint32_t i = 0; i < CLI_COUNT(positive); i++) {
        uint64_t value = positive[i].number->value;
        if (positive[i].number->given && (value == 0 || value > positive[i].max)) {
            char fix[VYRE_DIAG_FIX];
            snprintf(fix, sizeof fix, "give a number from 1 to %" PRIu64, positive[i].max);
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "--%s does not take %" PRIu64,
                            positive[i].name, value);
        }
    }
    if (o->grid.given && o->elements.given) {
        return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, "give one of them",
                        "--grid and --elements both say how many lanes run");
    }
    to->has_grid = o->grid.given;
    for (int axis = 0; axis < 3; axis++) { /* refused as any grid is that is too large */
        if (o->grid.value[axis] > UINT32_MAX) {
            return cli_fail(r->cli, VYRE_LIMIT, "use a smaller grid",
                            "%" PRIu64 " groups along %c are too many", o->grid.value[axis],
                            "xyz"[axis]);
        }
        to->grid[axis] = (uint32_t)o->grid.value[axis];
    }
    to->has_elements = o->elements.given;
    to->elements = o->elements.value;
    to->has_iterations = o->iterations.given;
    to->iterations = (uint32_t)o->iterations.value;
    to->split = (vyre_split_mode)o->split.value;
    to->path = (vyre_path)o->path.value;
    to->no_optimize = o->no_opt;
    to->ahead = (uint32_t)o->ahead.value;
    to->timeout_ns = o->timeout.given && !o->timeout.value ? 1 : o->timeout.value;
    to->max_steps = o->steps.value;
    to->cancel = &cli_cancel;
    to->progress = &r->progress;
    to->find_races = o->races.given;
    to->races = r->races;
    to->race_capacity = o->races.given ? RUN_RACES : 0;
    r->bounds = (vyre_outside_list){.items = r->outside, .capacity = RUN_RACES};
    to->outside = o->bounds.given ? &r->bounds : NULL;
    return read_order(r);
}

/* Orders, races, bounds and step counts exist on ref only, so they choose it. */
static cli_exit open_device(run *r) {
    const run_options *o = r->o;
    const bool needs_ref = o->order || o->races.given || o->bounds.given || o->steps.given;
    const char *name = o->backend && o->backend[0] ? o->backend : needs_ref ? "ref" : "auto";
    vyre_diag diag = {0};
    cli_device how = {.options = {0}};
    if (!o->no_cache) {
        cli_device_options(r->cli, &how);
    }
    how.options.threads = (uint32_t)o->threads.value;
    how.options.unchecked = o->unchecked;
    if (vyre_device_open_with(NULL, name, &how.options, NULL, &r->device, &diag) != VYRE_OK) {
        return cli_report(r->cli, &diag);
    }
    const vyre_device_info *info = vyre_device_describe(r->device);
    if (name != o->backend || strcmp(name, "auto") == 0) {
        cli_say(r->cli, "running on %s (%s)", info->backend, info->name);
    }
    return CLI_PENDING;
}

/* Slots */

static cli_exit make_slots(run *r) {
    const vyre_program_view *view = r->view;
    size_t n = view->decl_count + 1;
    r->input_decls = calloc(n, sizeof *r->input_decls);
    r->arrays = calloc(n, sizeof *r->arrays);
    r->inputs = calloc(n, sizeof *r->inputs);
    r->output_decls = calloc(n, sizeof *r->output_decls);
    r->outputs = calloc(n, sizeof *r->outputs);
    r->files = calloc(n, sizeof *r->files);
    r->settings = calloc((size_t)r->o->set.count + 1, sizeof *r->settings);
    if (!r->input_decls || !r->arrays || !r->inputs || !r->output_decls || !r->outputs ||
        !r->files || !r->settings) {
        return cli_fail(r->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    for (vyre_decl d = 0; d < view->decl_count; d++) {
        vyre_role role = (vyre_role)view->decls[d].role;
        if (role == VYRE_IN || role == VYRE_INOUT) {
            r->input_decls[r->input_count++] = d;
        }
        if (role == VYRE_INOUT || role == VYRE_OUT) {
            r->output_decls[r->output_count++] = d;
        }
    }
    return CLI_PENDING;
}

static void finish(run *r) {
    for (uint32_t i = 0; i < r->input_count; i++) {
        vyre_array_finish(&r->arrays[i]);
    }
    for (uint32_t i = 0; i < r->output_count; i++) {
        vyre_output_finish(&r->outputs[i], NULL);
    }
    free(r->input_decls);
    free(r->arrays);
    free(r->inputs);
    free(r->output_decls);
    free(r->outputs);
    free(r->files);
    free(r->settings);
    vyre_pipeline_release(r->pipeline);
    vyre_trace_destroy(r->options.trace);
    vyre_device_close(r->device);
    vyre_program_release(r->program);
}

/* Running */

static cli_exit dispatch(run *r) {
    vyre_diag diag = {0};
    run_watch *watch = run_watch_begin(&r->progress);
    vyre_status status =
        r->pipeline ? vyre_pipeline_dispatch(r->pipeline, r->inputs, r->input_count, r->outputs,
                                             r->output_count, &r->options, &r->report, &diag)
                    : vyre_dispatch(r->device, r->program, r->inputs, r->input_count, r->outputs,
                                    r->output_count, &r->options, &r->report, &diag);
    run_watch_end(watch);
    return status == VYRE_OK ? CLI_PENDING : cli_report(r->cli, &diag);
}

/* What is repeated is compiled once, by the warm-up. */
static cli_exit warm_up(run *r, uint64_t *out_compile) {
    vyre_diag diag = {0};
    uint64_t begin = vyre_clock_now();
    if (vyre_compile(r->device, r->program, &r->options, &r->pipeline, &diag) != VYRE_OK) {
        return cli_report(r->cli, &diag);
    }
    *out_compile = vyre_clock_now() - begin;
    return dispatch(r);
}

static cli_exit dispatch_all(run *r) {
    uint32_t count = (uint32_t)r->o->repeat.value;
    uint64_t compile = 0;
    if (r->o->trace && vyre_trace_create(NULL, 0, &r->options.trace) != VYRE_OK) {
        return cli_fail(r->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    cli_exit exit = count ? warm_up(r, &compile) : dispatch(r);
    if (exit != CLI_PENDING || count == 0) {
        return exit;
    }
    vyre_dispatch_times *times = calloc(count, sizeof *times);
    if (!times) {
        return cli_fail(r->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    for (uint32_t i = 0; i < count && exit == CLI_PENDING; i++) {
        exit = dispatch(r);
        times[i] = r->report.times;
    }
    run_take_medians(&r->report.times, times, count);
    r->report.times.compile = compile;
    free(times);
    return exit;
}

static void tell_geometry(const run *r) {
    const uint32_t *grid = r->report.grid;
    if (r->report.grid_from != VYRE_NONE) {
        cli_say(r->cli, "grid %u,%u,%u, inferred from the elements of %s", grid[0], grid[1],
                grid[2], r->view->decls[r->report.grid_from].name);
    }
    if (r->o->iterations.given) {
        cli_say(r->cli, "%u pass%s, %s", r->report.passes, r->report.passes == 1 ? "" : "es",
                r->report.converged ? "converged" : "not converged");
    }
}

static cli_exit execute(run *r, const char *path) {
    cli_exit exit = read_options(r);
    if (exit == CLI_PENDING) {
        r->cli->lint = true;
        r->cli->no_warn = r->o->no_warn;
        r->cli->set = &r->o->set;
        r->cli->set_params = true;
        exit = cli_source_program(r->cli, path, &r->program);
    }
    if (exit != CLI_PENDING) {
        return exit;
    }
    r->view = vyre_program_get(r->program);
    cli_exit (*const steps[])(run *) = {make_slots,      run_resolve_outputs, run_read_settings,
                                        run_read_inputs, open_device,         dispatch_all};
    for (uint32_t i = 0; i < CLI_COUNT(steps); i++) {
        exit = steps[i](r);
        if (exit != CLI_PENDING) {
            return exit;
        }
    }
    r->done = true;
    tell_geometry(r);
    exit = run_tell_races(r);
    exit = exit == CLI_PENDING ? run_tell_outside(r) : exit;
    return exit == CLI_PENDING ? run_write_outputs(r) : exit;
}

static cli_exit run_program(cli_context *cli, const void *given, const cli_list *arguments) {
    run r = {.cli = cli, .o = given};
    vyre_text text;
    vyre_text_init(&text, NULL);
    cli_exit exit = execute(&r, arguments->items[0]);
    exit = exit == CLI_PENDING ? CLI_OK : exit;
    if (r.done) {
        run_tell_numbers(&r);
    }
    if (r.o->json) {
        run_write_json(&r, &text);
    } else if (exit == CLI_OK && r.o->out.count == 0) {
        run_summarise(&r, &text);
    }
    cli_exit printed = cli_output(cli, &text);
    finish(&r);
    return exit == CLI_OK ? printed : exit;
}

static void write_failure(cli_context *cli, vyre_text *text) {
    run_options none = {0};
    run r = {.cli = cli, .o = &none};
    run_write_json(&r, text);
}

const cli_command cli_run_command = {
    .name = "run",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "run a program",
    .details = "Fills the inputs, runs the program on a device and writes or summarises the "
               "outputs. Without --grid or --elements the program's own clause decides, else the "
               "largest returned buffer; the command says which. FILE may be - for standard input.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(run_options),
    .write_failure = write_failure,
    .run = run_program,
};
