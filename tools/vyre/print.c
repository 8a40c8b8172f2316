/* vyre print: a program as the library sees it, in the text form. */
#include "cli.h"

typedef struct print_options {
    cli_list set;
} print_options;

static const cli_option options[] = {
    CLI_SET_OPTION(offsetof(print_options, set)),
};

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const print_options *o = given;
    vyre_program *program = NULL;
    cli->set = &o->set;
    cli_exit exit = cli_source_program(cli, arguments->items[0], &program);
    if (exit != CLI_PENDING) {
        return exit;
    }
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_program_print(program, cli_write_text, &text);
    vyre_program_release(program);
    return cli_output(cli, &text);
}

const cli_command cli_print_command = {
    .name = "print",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "show a program as the library sees it",
    .details = "Parses and checks the program and prints it back: atomics, calls and subgroup "
               "operations stand alone, every literal has its type, comments are gone. The text is "
               "a program again, equal to the first.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(print_options),
    .run = run,
};
