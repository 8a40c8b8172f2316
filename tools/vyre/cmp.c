/* vyre cmp: do two results agree? All NaNs are equal. */
#include <inttypes.h>

#include "cli.h"
#include "io/digest.h"

static void write_values(vyre_text *text, const vyre_comparison *c) {
    vyre_text_printf(
        text, "%" PRIu64 " of %" PRIu64 " %s values differ; the first at %" PRIu64 ": %s and %s\n",
        c->differing, c->count[0], vyre_type_name(c->type[0]), c->first, c->value[0], c->value[1]);
    if (vyre_type_is_float(c->type[0])) {
        vyre_text_printf(text, "largest distance %" PRIu64 " ULP\n", c->max_ulp);
    }
    if (c->nan) {
        vyre_text_printf(text, "just one is NaN at %" PRIu64 " places\n", c->nan);
    }
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    (void)given;
    vyre_diag diag = {0};
    vyre_comparison c;
    if (vyre_compare_files(arguments->items[0], arguments->items[1], NULL, &c, &diag) != VYRE_OK) {
        return cli_report(cli, &diag);
    }
    vyre_text text;
    vyre_text_init(&text, NULL);
    switch (c.difference) {
    case VYRE_SAME: break;
    case VYRE_DIFFERENT_TYPES:
        vyre_text_printf(&text, "the types differ: %s and %s\n", vyre_type_name(c.type[0]),
                         vyre_type_name(c.type[1]));
        break;
    case VYRE_DIFFERENT_COUNTS:
        vyre_text_printf(&text, "the counts differ: %" PRIu64 " and %" PRIu64 " %s values\n",
                         c.count[0], c.count[1], vyre_type_name(c.type[0]));
        break;
    case VYRE_DIFFERENT_VALUES: write_values(&text, &c); break;
    }
    cli_exit printed = cli_output(cli, &text);
    return printed != CLI_OK ? printed : c.difference == VYRE_SAME ? CLI_OK : CLI_CHECK;
}

const cli_command cli_cmp_command = {
    .name = "cmp",
    .arguments = "A B",
    .min_arguments = 2,
    .max_arguments = 2,
    .summary = "compare two results, all NaNs equal",
    .details =
        "Compares two .npy files, or two files of raw bytes. Silent with exit code 0 when they "
        "agree; else it tells the first difference and exits with 7.",
    .run = run,
};
