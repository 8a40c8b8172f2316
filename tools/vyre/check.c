/* vyre check: is a program meaningful, and may every barrier stand where it stands? Loads no
 * device. */
#include "cli.h"

typedef struct check_options {
    cli_number warn;
    bool no_warn, json;
    cli_list set;
} check_options;

static const cli_option options[] = {
    {"warn", CLI_CHOICE, 0, false, offsetof(check_options, warn), "speed",
     "also warn of what would be faster in other words"},
    {"no-warn", CLI_FLAG, 0, false, offsetof(check_options, no_warn), NULL,
     "report errors only; // vyre: allow CODE above or behind a line allows one"},
    CLI_SET_OPTION(offsetof(check_options, set)),
    {"json", CLI_FLAG, 0, false, offsetof(check_options, json), NULL,
     "print the diagnostics as one JSON object"},
};

/* The worst of several files decides. */
static cli_exit worse(cli_exit a, cli_exit b) {
    return a == CLI_OK || (a == CLI_REJECTED && b != CLI_OK) ? b : a;
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const check_options *o = given;
    cli_exit exit = CLI_OK;
    cli->lint = cli->notes = true;
    cli->no_warn = o->no_warn;
    cli->warn_speed = o->warn.given;
    cli->set = &o->set;
    for (uint32_t i = 0; i < arguments->count; i++) {
        vyre_program *program = NULL;
        cli_exit file = cli_source_program(cli, arguments->items[i], &program);
        exit = worse(exit, file == CLI_PENDING ? CLI_OK : file);
        vyre_program_release(program);
    }
    if (o->json) {
        vyre_text text;
        vyre_json_writer json;
        vyre_text_init(&text, NULL);
        vyre_json_writer_init(&json, &text);
        vyre_json_begin_object(&json);
        vyre_json_key(&json, "schema");
        vyre_json_put_u64(&json, 1);
        vyre_json_key(&json, "status");
        vyre_json_put_string(&json, exit == CLI_OK ? "ok" : "rejected");
        cli_write_diagnostics(cli, &json);
        vyre_json_end_object(&json);
        vyre_text_puts(&text, "\n");
        cli_exit printed = cli_output(cli, &text);
        exit = exit == CLI_OK ? printed : exit;
    }
    return exit;
}

const cli_command cli_check_command = {
    .name = "check",
    .arguments = "FILE...",
    .min_arguments = 1,
    .max_arguments = UINT32_MAX,
    .summary = "check programs without running them",
    .details =
        "Parses each program and checks types, scopes, access, limits and that every barrier "
        "stands in uniform control flow; warns of what is legal and probably not meant (vyre "
        "explain W001 and so on). Silent when all is well.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(check_options),
    .run = run,
};
