/* vyre: finds the subcommand, reads its options, runs it. Ctrl-C asks a running dispatch or search
 * to stop, and ends reading and writing: a call that waits returns with EINTR, at the latest a
 * second later, when the alarm rings, if it began to wait just after the signal. The exit code is
 * 130 whatever came of it. A second Ctrl-C ends the process at once. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

const cli_command *const cli_commands[] = {
#define CLI_COMMAND(name) &cli_##name##_command,
#include "commands.def"
#undef CLI_COMMAND
};
const uint32_t cli_command_count = CLI_COUNT(cli_commands);

vyre_cancel cli_cancel;

static void on_interrupt(int number) {
    (void)number;
    cli_cancel.requested = 1;
    (void)alarm(1);
}

static void catch_interrupts(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}

static const cli_command *find_command(cli_context *cli, const char *name) {
    vyre_nearest nearest = vyre_nearest_to(name);
    for (uint32_t i = 0; i < cli_command_count; i++) {
        vyre_nearest_offer(&nearest, cli_commands[i]->name);
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    char fix[128];
    cli_did_you_mean(&nearest, "see vyre help", fix, sizeof fix);
    cli_fail(cli, VYRE_INVALID_ARGUMENT, fix, "no command is called \"%s\"", name);
    return NULL;
}

static cli_exit print_help(cli_context *cli, const cli_command *command) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    if (command) {
        cli_write_command_help(&text, command);
    } else {
        cli_write_help(&text);
    }
    return cli_output(cli, &text);
}

static cli_exit run_command(cli_context *cli, const cli_command *command, int argc, char **argv) {
    void *options = calloc(1, command->options_size ? command->options_size : 1);
    if (!options) {
        return cli_fail(cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    cli_list arguments = {0};
    bool help = false;
    cli_exit exit = cli_options_parse(cli, command, argc, argv, options, &arguments, &help);
    if (help) {
        exit = print_help(cli, command);
    } else if (exit == CLI_PENDING) {
        exit = command->run(cli, options, &arguments);
    }
    cli_options_finish(command, options, &arguments);
    free(options);
    return exit;
}

static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return true;
        }
    }
    return false;
}

/* Who asked for an object gets one, however early it went wrong. */
static void print_failure(cli_context *cli, const cli_command *command) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    if (command && command->write_failure) {
        command->write_failure(cli, &text);
    } else {
        vyre_json_writer json;
        vyre_json_writer_init(&json, &text);
        vyre_json_begin_object(&json);
        vyre_json_key(&json, "schema");
        vyre_json_put_u64(&json, 1);
        cli_write_status(cli, &json);
        cli_write_diagnostics(cli, &json);
        vyre_json_end_object(&json);
        vyre_text_puts(&text, "\n");
    }
    (void)cli_output(cli, &text);
}

static cli_exit run(cli_context *cli, int argc, char **argv) {
    if (argc < 2) {
        vyre_text text;
        vyre_text_init(&text, NULL);
        cli_write_help(&text);
        fputs(vyre_text_string(&text), stderr);
        vyre_text_finish(&text);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        vyre_text text;
        vyre_text_init(&text, NULL);
        vyre_text_printf(&text, "vyre %s\n", vyre_version());
        return cli_output(cli, &text);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return print_help(cli, NULL);
    }
    const cli_command *command = find_command(cli, argv[1]);
    cli_exit exit = command ? run_command(cli, command, argc - 2, argv + 2) : CLI_USAGE;
    if (exit != CLI_OK && !cli->has_output && wants_json(argc, argv)) {
        print_failure(cli, command);
    }
    return exit;
}

int main(int argc, char **argv) {
    cli_context cli;
    cli_init(&cli);
    catch_interrupts();
    cli_exit exit = run(&cli, argc, argv);
    cli_finish(&cli);
    return cli_cancel.requested ? CLI_INTERRUPTED : exit;
}
