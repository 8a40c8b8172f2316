/* vyre plan: packs waves of work into groups between grid barriers, or checks such a plan. A
 * Ctrl-C while searching gives the best plan so far. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "io/waves.h"
#include "vyre/plan.h"

typedef struct plan_options {
    cli_number budget, mode, threads;
    const char *check;
    bool curve, json, dot, svg;
} plan_options;

#define AT(field) offsetof(plan_options, field)

static const cli_option options[] = {
    {"budget", CLI_BYTES, 0, false, AT(budget), "BYTES",
     "memory of one group and the resident graph together, such as 512M; overrides the file's"},
    {"mode", CLI_CHOICE, 0, false, AT(mode), "packed|layered",
     "packed: the fewest groups; layered: the layers of the graph, cut to fit"},
    {"threads", CLI_NUMBER, 0, false, AT(threads), "N",
     "threads for large problems; as many as there are cores to use"},
    {"curve", CLI_FLAG, 0, false, AT(curve), NULL, "show barriers against budget"},
    {"check", CLI_TEXT, 0, false, AT(check), "PLAN",
     "check a plan (JSON) against the waves; exit with 7 if it does not hold"},
    {"json", CLI_FLAG, 0, false, AT(json), NULL, "print one JSON object"},
    {"dot", CLI_FLAG, 0, false, AT(dot), NULL, "print the plan for graphviz"},
    {"svg", CLI_FLAG, 0, false, AT(svg), NULL, "print the plan as a picture"},
};

enum { CURVE_POINTS = 16 };

static void show_progress(void *user, const vyre_plan_progress *p) {
    (void)user;
    fprintf(stderr, "\rvyre: %s: %u groups, at least %u, %" PRIu64 " partial plans \033[K",
            p->phase, p->groups, p->lower_bound, p->nodes);
}

/* A plan of names as a plan of numbers; the arrays are the caller's, with room for all waves. */
typedef struct plan_reader {
    cli_context *cli;
    const vyre_waves *waves;
    vyre_json json;
    uint32_t *order, *start;
    uint32_t group_capacity;
} plan_reader;

static uint32_t count_elements(const vyre_json *json, uint32_t array) {
    uint32_t count = 0;
    for (uint32_t i = array + 1; i < json->nodes.data[array].end; i = json->nodes.data[i].end) {
        count++;
    }
    return count;
}

static cli_exit bad_node(plan_reader *p, uint32_t node, const char *message) {
    vyre_diag diag = {0};
    vyre_json_fail(&p->json, node, "give {\"groups\":[[\"a\",\"b\"],[\"c\"]]}", &diag, "%s",
                   message);
    return cli_report(p->cli, &diag);
}

static cli_exit read_group(plan_reader *p, uint32_t group, uint32_t *filled) {
    const vyre_json_node *nodes = p->json.nodes.data;
    if (nodes[group].kind != VYRE_JSON_ARRAY) {
        return bad_node(p, group, "a group is an array of names");
    }
    for (uint32_t i = group + 1; i < nodes[group].end; i = nodes[i].end) {
        if (nodes[i].kind != VYRE_JSON_STRING) {
            return bad_node(p, i, "a wave is named by a string");
        }
        uint32_t wave = vyre_intern_find(&p->waves->names, nodes[i].text, nodes[i].length);
        if (wave == VYRE_NONE) {
            return bad_node(p, i, "no wave has this name");
        }
        if (*filled == p->waves->set.wave_count) {
            vyre_diag diag = {0};
            vyre_json_fail(&p->json, i, "name each wave once", &diag,
                           "the plan names more waves than there are");
            diag.status = VYRE_CHECK_FAILED;
            return cli_report(p->cli, &diag);
        }
        p->order[(*filled)++] = wave;
    }
    return CLI_PENDING;
}

static cli_exit check_groups(plan_reader *p, uint32_t groups) {
    uint32_t filled = 0, count = 0;
    const vyre_json_node *nodes = p->json.nodes.data;
    for (uint32_t i = groups + 1; i < nodes[groups].end; i = nodes[i].end) {
        p->start[count++] = filled;
        cli_exit exit = read_group(p, i, &filled);
        if (exit != CLI_PENDING) {
            return exit;
        }
    }
    p->start[count] = filled;
    vyre_plan plan = {
        .wave_count = filled, .group_count = count, .waves = p->order, .group_start = p->start};
    vyre_diag diag = {0};
    if (vyre_plan_check(&p->waves->set, &plan, NULL, &diag) != VYRE_OK) {
        return cli_report(p->cli, &diag);
    }
    cli_say(p->cli, "the plan holds: %u waves in %u groups", filled, count);
    return CLI_OK;
}

static cli_exit check_plan(cli_context *cli, const vyre_waves *waves, const char *path) {
    cli_exit exit = CLI_PENDING;
    const cli_source *source = cli_source_read(cli, path, &exit);
    if (!source) {
        return exit;
    }
    vyre_diag diag = {0};
    plan_reader p = {.cli = cli, .waves = waves};
    if (vyre_json_parse(vyre_text_string(&source->text), source->text.length, source->path, NULL,
                        &p.json, &diag) != VYRE_OK) {
        return cli_report(cli, &diag);
    }
    uint32_t groups = p.json.nodes.data[0].kind == VYRE_JSON_OBJECT
                          ? vyre_json_member(&p.json, 0, "groups")
                          : VYRE_JSON_NONE;
    if (groups == VYRE_JSON_NONE || p.json.nodes.data[groups].kind != VYRE_JSON_ARRAY) {
        exit = bad_node(&p, 0, "a plan is an object with the groups");
    } else {
        p.order = calloc((size_t)waves->set.wave_count + 1, sizeof *p.order);
        p.start = calloc((size_t)count_elements(&p.json, groups) + 1, sizeof *p.start);
        exit = p.order && p.start ? check_groups(&p, groups)
                                  : cli_fail(cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    free(p.order);
    free(p.start);
    vyre_json_finish(&p.json);
    return exit;
}

static vyre_status write_plan(const plan_options *o, vyre_planner *planner, const vyre_waves *waves,
                              const vyre_plan_options *how, vyre_text *text, bool *out_cancelled,
                              vyre_diag *diag) {
    vyre_plan plan;
    vyre_plan_format format = o->json  ? VYRE_PLAN_JSON
                              : o->dot ? VYRE_PLAN_DOT
                              : o->svg ? VYRE_PLAN_SVG
                                       : VYRE_PLAN_TABLE;
    vyre_status status = vyre_plan_waves(planner, &waves->set, how, &plan, diag);
    if (status != VYRE_OK) {
        return status;
    }
    *out_cancelled = plan.cancelled;
    return vyre_plan_write(&waves->set, &plan, NULL, format, NULL, cli_write_text, text, diag);
}

static vyre_status write_curve(const plan_options *o, vyre_planner *planner,
                               const vyre_waves *waves, const vyre_plan_options *how,
                               vyre_text *text, vyre_diag *diag) {
    vyre_plan_point points[CURVE_POINTS];
    uint32_t count;
    vyre_status status =
        vyre_plan_curve(planner, &waves->set, how, points, CURVE_POINTS, &count, diag);
    return status == VYRE_OK
               ? vyre_plan_curve_write(points, count, o->json ? VYRE_PLAN_JSON : VYRE_PLAN_TABLE,
                                       NULL, cli_write_text, text, diag)
               : status;
}

static cli_exit make_plan(cli_context *cli, const plan_options *o, const vyre_waves *waves) {
    vyre_diag diag = {0};
    vyre_planner *planner = NULL;
    vyre_text text;
    bool terminal = isatty(STDERR_FILENO), cancelled = false;
    vyre_plan_options how = {.mode = (vyre_plan_mode)o->mode.value,
                             .cancel = &cli_cancel.requested,
                             .progress = terminal ? show_progress : NULL};
    vyre_text_init(&text, NULL);
    vyre_status status = vyre_planner_create(NULL, &planner, &diag);
    if (status == VYRE_OK) {
        const uint64_t threads = o->threads.value < UINT32_MAX ? o->threads.value : UINT32_MAX;
        status = vyre_planner_set_threads(planner, (uint32_t)threads, &diag);
    }
    if (status == VYRE_OK) {
        status = o->curve ? write_curve(o, planner, waves, &how, &text, &diag)
                          : write_plan(o, planner, waves, &how, &text, &cancelled, &diag);
    }
    if (terminal) {
        fputs("\r\033[K", stderr);
    }
    vyre_planner_destroy(planner);
    if (status != VYRE_OK) {
        vyre_text_finish(&text);
        return cli_report(cli, &diag);
    }
    cli_exit exit = cli_output(cli, &text);
    if (exit == CLI_OK && cancelled) {
        cli_say(cli, "interrupted: this is the best plan so far");
        exit = CLI_INTERRUPTED;
    }
    return exit;
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const plan_options *o = given;
    if (o->json + o->dot + o->svg > 1 || (o->curve && (o->dot || o->svg || o->check))) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, "choose one of --json, --dot, --svg",
                        "these options do not go together");
    }
    cli_exit exit = CLI_PENDING;
    const cli_source *source = cli_source_read(cli, arguments->items[0], &exit);
    if (!source) {
        return exit;
    }
    vyre_diag diag = {0};
    vyre_waves waves;
    if (vyre_waves_parse(vyre_text_string(&source->text), source->text.length, source->path, NULL,
                         &waves, &diag) != VYRE_OK) {
        return cli_report(cli, &diag);
    }
    if (o->budget.given) {
        waves.set.budget_bytes = o->budget.value;
    }
    exit = o->check ? check_plan(cli, &waves, o->check) : make_plan(cli, o, &waves);
    vyre_waves_finish(&waves);
    return exit;
}

const cli_command cli_plan_command = {
    .name = "plan",
    .arguments = "WAVES",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "pack dependent waves of work into the fewest barriers under a budget",
    .details =
        "WAVES is a JSON file: {\"waves\":[{\"name\",\"frontier\",\"scratch\",\"output\"}], "
        "\"deps\":[[\"a\",\"b\"]], \"resident_graph_bytes\", \"readback_bytes\", \"budget\"}. "
        "The plan says how many groups any plan must have. Ctrl-C stops a long search and "
        "gives the best plan so far.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(plan_options),
    .run = run,
};
