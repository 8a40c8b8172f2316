/* vyre fmt: canonical layout, comments kept. Files are replaced all together or not at all. */
#include <string.h>

#include "cli.h"
#include "io/file.h"

typedef struct fmt_options {
    bool check;
} fmt_options;

static const cli_option options[] = {
    {"check", CLI_FLAG, 0, false, offsetof(fmt_options, check), NULL,
     "change nothing; list the files that would change and exit with 7"},
};

static cli_exit format_file(cli_context *cli, const char *path, vyre_text *out, bool *out_changes) {
    cli_exit exit = CLI_PENDING;
    const cli_source *source = cli_source_read(cli, path, &exit);
    if (!source) {
        return exit;
    }
    uint32_t first = cli->diags.count;
    const char *text = vyre_text_string(&source->text);
    vyre_status status = vyre_format(text, source->text.length, source->path, NULL, cli_write_text,
                                     out, &cli->diags);
    if (status == VYRE_OK) {
        *out_changes = out->length != source->text.length ||
                       memcmp(vyre_text_string(out), text, out->length) != 0;
        return CLI_PENDING;
    }
    cli_report_from(cli, first);
    return cli->diags.count > first
               ? cli_exit_of(status)
               : cli_fail(cli, status, NULL, "%s: %s", path, vyre_status_name(status));
}

static cli_exit stage_file(cli_context *cli, vyre_stage *stage, const char *path,
                           const vyre_text *text) {
    vyre_diag diag = {0};
    vyre_status status = vyre_stage_open(stage, path, &diag);
    if (status == VYRE_OK) {
        status = vyre_stage_write(stage, vyre_text_string(text), text->length, &diag);
    }
    return status == VYRE_OK ? CLI_PENDING : cli_report(cli, &diag);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const fmt_options *o = given;
    cli_exit exit = CLI_PENDING;
    vyre_stage stage;
    vyre_text text, changed;
    vyre_stage_init(&stage, NULL);
    vyre_text_init(&text, NULL);
    vyre_text_init(&changed, NULL);
    for (uint32_t i = 0; i < arguments->count && exit == CLI_PENDING; i++) {
        const char *path = arguments->items[i];
        bool changes = false, through = strcmp(path, "-") == 0;
        vyre_text_reset(&text);
        exit = format_file(cli, path, &text, &changes);
        if (exit == CLI_PENDING && o->check && changes) {
            vyre_text_printf(&changed, "%s\n", path);
        } else if (exit == CLI_PENDING && !o->check && (changes || through)) {
            exit = stage_file(cli, &stage, path, &text);
        }
    }
    vyre_text_finish(&text);
    vyre_diag diag = {0};
    if (exit == CLI_PENDING && o->check) {
        exit = changed.length ? CLI_CHECK : CLI_OK;
        cli_exit printed = cli_output(cli, &changed);
        exit = printed == CLI_OK ? exit : printed;
    } else if (exit == CLI_PENDING) {
        exit = vyre_stage_commit(&stage, &diag) == VYRE_OK ? CLI_OK : cli_report(cli, &diag);
    }
    vyre_text_finish(&changed);
    vyre_stage_finish(&stage);
    return exit;
}

const cli_command cli_fmt_command = {
    .name = "fmt",
    .arguments = "FILE...",
    .min_arguments = 1,
    .max_arguments = UINT32_MAX,
    .summary = "rewrite programs in canonical layout",
    .details = "Comments are kept and formatting twice changes nothing. - reads standard input and "
               "writes standard output.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(fmt_options),
    .run = run,
};
