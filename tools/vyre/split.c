/* vyre split: a program as barrier-free segments, what runs them in which order, and why. */
#include <string.h>

#include "folder.h"
#include "split.h"

typedef struct split_options {
    bool explain, dot, svg, json, no_opt, turn_loops, ahead;
    cli_number lane_words;
    const char *folder, *scope, *lowered, *backend;
    cli_list set;
} split_options;

#define AT(field) offsetof(split_options, field)

static const cli_option options[] = {
    {"explain", CLI_FLAG, 0, false, AT(explain), NULL,
     "tell for each barrier what is carried, how, and what it costs"},
    {"dot", CLI_FLAG, 0, false, AT(dot), NULL, "print the schedule for graphviz"},
    {"svg", CLI_FLAG, 0, false, AT(svg), NULL, "print the schedule as a picture"},
    {"json", CLI_FLAG, 0, false, AT(json), NULL, "print one JSON object"},
    {"no-opt", CLI_FLAG, 0, false, AT(no_opt), NULL, "keep every barrier"},
    {"turn-loops", CLI_FLAG, 0, false, AT(turn_loops), NULL,
     "make each trip of a loop over all elements a step, as for devices without hardware threads"},
    {"ahead", CLI_FLAG, 0, false, AT(ahead), NULL,
     "show segments for launches that are enqueued before it is known where the schedule goes"},
    {"lane-words", CLI_NUMBER, 0, false, AT(lane_words), "N",
     "keep at most N words of each lane in one buffer"},
    {"scope", CLI_TEXT, 0, false, AT(scope), "grid|workgroup",
     "cut at grid barriers (default), or at workgroup barriers, for devices that run the lanes of "
     "a group one after the other"},
    {"lowered", CLI_TEXT, 0, false, AT(lowered), "CAPS",
     "show segments as a device gets them that has all operations, or only some: minimal, cpu, "
     "opencl, or a list of what is missing, such as sin,async,subgroups,ended_lanes"},
    {"backend", CLI_TEXT, 0, false, AT(backend), "NAME",
     "cut the program as for this device, and with --explain or --json tell how it runs each "
     "segment and loop, and why"},
    CLI_SET_OPTION(AT(set)),
    {"output", CLI_TEXT, 'o', false, AT(folder), "DIR",
     "write each segment to DIR/NAME.vy and the schedule to DIR/schedule.json"},
};

static vyre_status stage_segment(vyre_stage *stage, const char *folder, const vyre_program *segment,
                                 vyre_text *text, vyre_diag *diag) {
    char name[VYRE_LIMIT_NAME + 8];
    snprintf(name, sizeof name, "%s.vy", vyre_program_get(segment)->name);
    vyre_text_reset(text);
    (void)vyre_program_print(segment, cli_write_text, text);
    vyre_status status = vyre_text_status(text, "a segment", diag);
    return status == VYRE_OK ? cli_stage_file(stage, folder, name, text, diag) : status;
}

static vyre_status stage_all(vyre_stage *stage, const char *folder, const void *module,
                             vyre_diag *diag) {
    const vyre_module_view *v = vyre_module_get(module);
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_status status =
        vyre_module_write(module, VYRE_MODULE_JSON, NULL, cli_write_text, &text, diag);
    if (status == VYRE_OK) {
        status = cli_stage_file(stage, folder, "schedule.json", &text, diag);
    }
    for (uint32_t i = 0; i < v->segment_count && status == VYRE_OK; i++) {
        status = stage_segment(stage, folder, v->segments[i], &text, diag);
    }
    vyre_text_finish(&text);
    return status;
}

static cli_exit show(cli_context *cli, const split_options *o, const vyre_module *module,
                     const split_decisions *decisions) {
    vyre_module_format format = o->explain ? VYRE_MODULE_EXPLAIN
                                : o->json  ? VYRE_MODULE_JSON
                                : o->dot   ? VYRE_MODULE_DOT
                                : o->svg   ? VYRE_MODULE_SVG
                                           : VYRE_MODULE_TEXT;
    vyre_diag diag = {0};
    vyre_text text;
    vyre_text_init(&text, NULL);
    if (vyre_module_write(module, format, NULL, cli_write_text, &text, &diag) != VYRE_OK) {
        vyre_text_finish(&text);
        return cli_report(cli, &diag);
    }
    if (o->backend && o->explain) {
        split_write_decisions(&text, o->backend, module, decisions);
    } else if (o->backend && o->json) {
        split_write_decisions_json(&text, o->backend, module, decisions);
    }
    return cli_output(cli, &text);
}

/* What the options say, or the device that they name. */
static vyre_status split(const split_options *o, const vyre_program *program, bool of_group,
                         const vyre_capabilities *can, split_decisions *decisions,
                         vyre_module **out_module, vyre_diag *diag) {
    const uint64_t words = o->lane_words.value;
    const vyre_split_options how = {.scope = of_group ? VYRE_SPLIT_SCOPE_WORKGROUP
                                                      : VYRE_SPLIT_SCOPE_GRID,
                                    .keep_barriers = o->no_opt,
                                    .turn_loops = o->turn_loops && !of_group,
                                    .ahead = o->ahead,
                                    .lane_words = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX,
                                    .can = can};
    return o->backend ? split_decide(o->backend, program, &how, decisions, out_module, diag)
                      : vyre_split(program, &how, NULL, out_module, diag);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const split_options *o = given;
    if (o->explain + o->json + o->dot + o->svg + (o->folder != NULL) > 1) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT,
                        "choose one of --explain, --dot, --svg, --json, -o",
                        "these options do not go together");
    }
    bool of_group = o->scope && strcmp(o->scope, "workgroup") == 0;
    if (o->scope && !of_group && strcmp(o->scope, "grid") != 0) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, "say grid or workgroup",
                        "--scope %s is not known", o->scope);
    }
    if (o->backend &&
        (o->scope || o->lowered || o->turn_loops || o->ahead || o->lane_words.given)) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT,
                        "leave --scope, --lowered, --turn-loops, --ahead and --lane-words out",
                        "--backend decides how the program is cut");
    }
    vyre_capabilities can;
    vyre_diag diag = {0};
    if (o->lowered && vyre_capabilities_named(o->lowered, &can, &diag) != VYRE_OK) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, diag.fix, "%s", diag.message);
    }
    vyre_program *program = NULL;
    cli->set = &o->set;
    cli_exit exit = cli_source_program(cli, arguments->items[0], &program);
    if (exit != CLI_PENDING) {
        return exit;
    }
    vyre_module *module = NULL;
    split_decisions decisions = {.failed = false};
    vyre_status status =
        split(o, program, of_group, o->lowered ? &can : NULL, &decisions, &module, &diag);
    vyre_program_release(program);
    if (status == VYRE_OK) {
        exit = o->folder ? cli_write_folder(cli, o->folder, stage_all, module)
                         : show(cli, o, module, &decisions);
        vyre_module_release(module);
    }
    split_decisions_finish(&decisions);
    return status == VYRE_OK ? exit : cli_report(cli, &diag);
}

const cli_command cli_split_command = {
    .name = "split",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "show a program as segments without grid barriers, and the schedule that runs them",
    .details = "This is what runs on a device whose lanes can not wait for their whole grid. Each "
               "segment is a program; the schedule says which one comes next, and what is alive "
               "across a barrier is carried in memory.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(split_options),
    .run = run,
};
