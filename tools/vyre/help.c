/* vyre help: what there is, made from the tables of the commands. */
#include <string.h>

#include "cli.h"

enum { WIDTH = 96, INDENT = 28 };

/* Wraps words to the width; `column` is where the text begins on its first line. */
static void write_wrapped(vyre_text *text, const char *words, uint32_t indent, uint32_t column) {
    while (*words) {
        size_t length = strcspn(words, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            vyre_text_puts(text, "\n");
            vyre_text_fill(text, ' ', indent);
            column = indent;
        } else if (column > indent) {
            vyre_text_puts(text, " ");
            column++;
        }
        vyre_text_append(text, words, length);
        column += (uint32_t)length;
        words += length;
        if (*words == '\n') {
            vyre_text_puts(text, "\n");
            vyre_text_fill(text, ' ', indent);
            column = indent;
        }
        words += *words ? 1 : 0;
    }
    vyre_text_puts(text, "\n");
}

/* A row of two columns. */
static void write_row(vyre_text *text, const char *left, const char *right) {
    size_t length = strlen(left) + 2;
    vyre_text_printf(text, "  %s", left);
    if (length + 2 > INDENT) {
        vyre_text_puts(text, "\n");
        length = 0;
    }
    vyre_text_fill(text, ' ', INDENT - length);
    write_wrapped(text, right, INDENT, INDENT);
}

void cli_option_spelling(const cli_option *option, char *out, size_t size) {
    char letter[8] = "";
    if (option->letter) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    if (option->value) {
        snprintf(out, size, option->optional ? "%s--%s[=%s]" : "%s--%s %s", letter, option->name,
                 option->value);
    } else {
        snprintf(out, size, "%s--%s", letter, option->name);
    }
}

void cli_write_usage(vyre_text *text, const cli_command *command) {
    vyre_text_printf(text, "usage: vyre %s%s%s%s", command->name, command->arguments[0] ? " " : "",
                     command->arguments, command->option_count ? " [options]" : "");
}

void cli_write_command_help(vyre_text *text, const cli_command *command) {
    vyre_text_printf(text, "vyre %s: %s\n\n", command->name, command->summary);
    cli_write_usage(text, command);
    vyre_text_puts(text, "\n");
    if (command->details) {
        vyre_text_puts(text, "\n");
        write_wrapped(text, command->details, 0, 0);
    }
    if (command->option_count) {
        vyre_text_puts(text, "\n");
    }
    for (uint32_t i = 0; i < command->option_count; i++) {
        char spelling[160];
        cli_option_spelling(&command->options[i], spelling, sizeof spelling);
        write_row(text, spelling, command->options[i].help);
    }
}

void cli_write_help(vyre_text *text) {
    vyre_text_puts(text,
                   "vyre: data-parallel programs that may wait for their whole grid, with the same "
                   "result on any device\n\nusage: vyre COMMAND [options], vyre --version\n\n");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", cli_commands[i]->name, cli_commands[i]->arguments);
        write_row(text, left, cli_commands[i]->summary);
    }
    vyre_text_puts(text, "\nvyre help COMMAND tells more; so does vyre help with one of\n\n");
    for (uint32_t i = 0; i < cli_topic_count; i++) {
        write_row(text, cli_topics[i].name, cli_topics[i].title);
    }
}

typedef struct help_options {
    bool man;
    cli_number completion;
} help_options;

static const cli_option options[] = {
    {"man", CLI_FLAG, 0, false, offsetof(help_options, man), NULL, "print the manual page (troff)"},
    {"completion", CLI_CHOICE, 0, false, offsetof(help_options, completion), "bash|zsh|fish",
     "print the completions for a shell"},
};

/* Commands first, then topics. */
static const char *topic_name(uint32_t index) {
    return index < cli_command_count ? cli_commands[index]->name
                                     : cli_topics[index - cli_command_count].name;
}

static cli_exit write_topic(cli_context *cli, vyre_text *text, const char *word) {
    uint32_t count = cli_command_count + cli_topic_count;
    vyre_nearest nearest = vyre_nearest_to(word);
    for (uint32_t i = 0; i < count; i++) {
        vyre_nearest_offer(&nearest, topic_name(i));
        if (strcmp(topic_name(i), word) != 0) {
            continue;
        }
        if (i < cli_command_count) {
            cli_write_command_help(text, cli_commands[i]);
        } else {
            const cli_topic *topic = &cli_topics[i - cli_command_count];
            vyre_text_printf(text, "%s\n\n%s", topic->title, topic->text);
        }
        return CLI_PENDING;
    }
    char fix[128];
    cli_did_you_mean(&nearest, "see vyre help", fix, sizeof fix);
    return cli_fail(cli, VYRE_INVALID_ARGUMENT, fix, "there is no help about \"%s\"", word);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    static cli_completion_writer *const completions[] = {cli_write_bash, cli_write_zsh,
                                                         cli_write_fish};
    const help_options *o = given;
    cli_exit exit = CLI_PENDING;
    vyre_text text;
    vyre_text_init(&text, NULL);
    if (o->man) {
        cli_write_manual(&text);
    } else if (o->completion.given) {
        completions[o->completion.value](&text);
    } else if (arguments->count) {
        exit = write_topic(cli, &text, arguments->items[0]);
    } else {
        cli_write_help(&text);
    }
    if (exit == CLI_PENDING) {
        return cli_output(cli, &text);
    }
    vyre_text_finish(&text);
    return exit;
}

const cli_command cli_help_command = {
    .name = "help",
    .arguments = "[TOPIC]",
    .max_arguments = 1,
    .summary = "tell about a command or a topic",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(help_options),
    .run = run,
};
