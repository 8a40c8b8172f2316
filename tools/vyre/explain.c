/* vyre explain: the catalogue of diagnostics. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

typedef struct explain_options {
    bool list;
} explain_options;

static const cli_option options[] = {
    {"list", CLI_FLAG, 0, false, offsetof(explain_options, list), NULL,
     "list all codes with their titles"},
};

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const explain_options *o = given;
    vyre_text text;
    vyre_text_init(&text, NULL);
    if (o->list) {
        for (uint32_t i = 0; i < vyre_diagnostic_count(); i++) {
            const vyre_diagnostic *d = vyre_diagnostic_get(i);
            vyre_text_printf(&text, "%-5s %-7s  %s\n", d->code,
                             d->severity == VYRE_WARNING ? "warning" : "error", d->title);
        }
        return cli_output(cli, &text);
    }
    if (arguments->count == 0) {
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, "write vyre explain CODE, or --list",
                        "vyre explain needs a code");
    }
    char code[16];
    size_t length = strlen(arguments->items[0]);
    for (size_t i = 0; i < sizeof code; i++) {
        code[i] = i < length && i + 1 < sizeof code
                      ? (char)toupper((unsigned char)arguments->items[0][i])
                      : 0;
    }
    const vyre_diagnostic *d = vyre_diagnostic_find(code);
    if (!d) {
        vyre_nearest nearest = vyre_nearest_to(code);
        for (uint32_t i = 0; i < vyre_diagnostic_count(); i++) {
            vyre_nearest_offer(&nearest, vyre_diagnostic_get(i)->code);
        }
        char fix[128];
        cli_did_you_mean(&nearest, "see vyre explain --list", fix, sizeof fix);
        return cli_fail(cli, VYRE_INVALID_ARGUMENT, fix, "no diagnostic has the code \"%s\"",
                        arguments->items[0]);
    }
    vyre_text_printf(&text, "%s (%s): %s\n\n%s\n", d->code,
                     d->severity == VYRE_WARNING ? "warning" : "error", d->title, d->explanation);
    return cli_output(cli, &text);
}

const cli_command cli_explain_command = {
    .name = "explain",
    .arguments = "[CODE]",
    .max_arguments = 1,
    .summary = "explain a diagnostic such as V066",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(explain_options),
    .run = run,
};
