/* The command: what its parts share.
 *
 * A subcommand is one file that defines `const cli_command cli_NAME_command`, and one row in
 * commands.def. Its options are a table; parsing, help, manual page and completions are all made
 * from it. */
#ifndef VYRE_TOOLS_CLI_H
#define VYRE_TOOLS_CLI_H

#include <stdio.h>

#include "base/nearest.h"
#include "base/text.h"
#include "io/json.h"
#include "vyre/vyre.h"

/* What scripts may rely on. */
typedef enum cli_exit {
    CLI_OK = 0,
    CLI_REJECTED = 1,      /* the program was refused */
    CLI_USAGE = 2,         /* the command line is wrong */
    CLI_INPUT = 3,         /* a file or its contents */
    CLI_BACKEND = 4,       /* absent, or it can't */
    CLI_FAILED = 5,        /* the run: trap, step budget, timeout, device lost */
    CLI_MEMORY = 6,        /* none left */
    CLI_CHECK = 7,         /* a check that was asked for failed */
    CLI_INTERRUPTED = 130, /* by Ctrl-C */
    CLI_PENDING = -1       /* nothing wrong so far: go on */
} cli_exit;

cli_exit cli_exit_of(vyre_status status);

/* How the value of an option is read, and what the field at `offset` must be. */
typedef enum cli_kind {
    CLI_FLAG,    /* bool */
    CLI_TEXT,    /* const char * */
    CLI_LIST,    /* cli_list: the option may be repeated */
    CLI_NUMBER,  /* cli_number */
    CLI_BYTES,   /* cli_number: 4096, 64K, 2M, 1G (powers of 1024) */
    CLI_SECONDS, /* cli_number: nanoseconds, read as seconds with a fraction */
    CLI_CHOICE,  /* cli_number: index of a word of `value`, which is "a|b|c" */
    CLI_TRIPLE   /* cli_triple: x[,y[,z]], missing ones are 1 */
} cli_kind;

typedef struct cli_list {
    const char **items;
    uint32_t count;
} cli_list;

typedef struct cli_number {
    bool given;
    uint64_t value;
} cli_number;

typedef struct cli_triple {
    bool given;
    uint64_t value[3];
} cli_triple;

typedef struct cli_option {
    const char *name;
    cli_kind kind;
    char letter;   /* short form, or 0 */
    bool optional; /* the value may be left out, and stands behind `=` if given */
    size_t offset; /* of the field in the command's options */
    const char *value;
    const char *help;
} cli_option;

typedef struct cli_source {
    char *path;
    vyre_text text;
    char shown[VYRE_DIAG_FILE]; /* the path as diagnostics hold it */
} cli_source;

/* One run of the command. */
typedef struct cli_context {
    vyre_diag_list diags; /* everything reported so far */
    cli_source *sources;  /* texts that diagnostics may quote */
    uint32_t source_count;
    bool colour;     /* standard error is a terminal that shows colours */
    bool lint;       /* programs that are read are looked at for what is probably not meant, */
    bool warn_speed; /* and for what would be faster in other words */
    bool no_warn;
    bool notes;          /* what is right under a condition only is told, too */
    const cli_list *set; /* NAME=VALUE: consts of programs that are read; NULL: none */
    bool set_params;     /* params may stand in `set`, too */
    bool has_output;     /* something went to standard output */
} cli_context;

typedef struct cli_command {
    const char *name;
    const char *arguments; /* "FILE...", for people */
    uint32_t min_arguments, max_arguments;
    const char *summary; /* one line */
    const char *details; /* paragraphs, or NULL */
    const cli_option *options;
    uint32_t option_count;
    size_t options_size; /* of the struct they fill in */
    /* The object of --json when there is nothing but diagnostics; NULL: "schema", "status" and
     * "diagnostics". */
    void (*write_failure)(cli_context *cli, vyre_text *text);
    cli_exit (*run)(cli_context *cli, const void *options, const cli_list *arguments);
} cli_command;

#define CLI_COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#define CLI_COMMAND(name) extern const cli_command cli_##name##_command;
#include "commands.def"
#undef CLI_COMMAND
extern const cli_command *const cli_commands[];
extern const uint32_t cli_command_count;

/* Set by Ctrl-C; a dispatch and the planner look at it. */
extern vyre_cancel cli_cancel;

/* Options (options.c). */

/* Reads the words behind the command's name into `options` and `arguments`; their lists are freed
 * with cli_options_finish. CLI_PENDING, or the usage error that was reported. `help` is set when
 * --help was among them. */
cli_exit cli_options_parse(cli_context *cli, const cli_command *command, int argc, char **argv,
                           void *options, cli_list *arguments, bool *help);
void cli_options_finish(const cli_command *command, void *options, cli_list *arguments);
/* A whole number in decimal, 0x or 0b form, at most `max`. */
bool cli_read_number(const char *text, uint64_t max, uint64_t *out);
/* Which word of "a|b|c" it is. */
bool cli_read_choice(const char *choices, const char *word, uint64_t *out_index);

/* `did you mean "X"?`, or what else to do when nothing is near. */
void cli_did_you_mean(const vyre_nearest *nearest, const char *otherwise, char *out, size_t size);

/* Messages (report.c). */

void cli_init(cli_context *cli);
void cli_finish(cli_context *cli);
/* Prints and keeps a diagnostic; the exit code that belongs to it. */
cli_exit cli_report(cli_context *cli, const vyre_diag *diag);
/* Prints the diagnostics that library calls have put into cli->diags from `first` on. */
void cli_report_from(cli_context *cli, uint32_t first);
/* A message of the command itself; `fix` may be NULL. */
cli_exit cli_fail(cli_context *cli, vyre_status status, const char *fix, const char *format, ...)
    VYRE_PRINTF(4, 5);
/* Information on standard error, one line. */
void cli_say(const cli_context *cli, const char *format, ...) VYRE_PRINTF(2, 3);
/* "status": the name of the last error's. */
void cli_write_status(const cli_context *cli, vyre_json_writer *json);
/* The member "diagnostics" of a JSON object. */
void cli_write_diagnostics(const cli_context *cli, vyre_json_writer *json);

/* Files (source.c). */

/* A vyre_write_fn into a vyre_text. */
bool cli_write_text(void *text, const char *bytes, size_t length);
/* Writes a text to standard output and finishes it. */
cli_exit cli_output(cli_context *cli, vyre_text *text);
/* Reads a text and keeps it for quotes in diagnostics; valid until the next one is read. NULL after
 * an error, whose exit code is told. */
const cli_source *cli_source_read(cli_context *cli, const char *path, cli_exit *out_exit);
/* The option that gives consts other values; the command has a field `set`, which is a cli_list and
 * becomes cli->set. */
#define CLI_SET_OPTION(offset)                                                                     \
    {                                                                                              \
        "set", CLI_LIST, 0, false, offset, "CONST=VALUE",                                          \
            "give a const of the program another value; sizes that depend on it follow"            \
    }
/* Reads NAME=VALUE for the declaration; *out_decl is NONE, and nothing is reported, if there is
 * none of a role that is wanted. */
cli_exit cli_read_setting(cli_context *cli, const vyre_program *program, const char *text,
                          bool (*wanted)(vyre_role), vyre_setting *out, vyre_decl *out_decl);
/* "program p has no param "x"", with the nearest name of a wanted role. */
cli_exit cli_unknown_name(cli_context *cli, const vyre_program_view *view, const char *what,
                          const char *name, bool (*wanted)(vyre_role));
/* Reads, parses and checks a program, with cli->set; warnings are reported too. */
cli_exit cli_source_program(cli_context *cli, const char *path, vyre_program **out_program);

/* Where compiled programs are kept (cache.c): by XDG_CACHE_HOME or HOME; false: neither says. */
bool cli_cache_folder(char *out, size_t size);
/* Options of a device that keeps compiled programs there. If that can't be, says why. */
typedef struct cli_device {
    char folder[4096];
    vyre_device_options options;
} cli_device;
void cli_device_options(const cli_context *cli, cli_device *out);

/* Help (help.c, manual.c). */

void cli_write_usage(vyre_text *text, const cli_command *command);
void cli_write_help(vyre_text *text);
void cli_write_command_help(vyre_text *text, const cli_command *command);
void cli_write_manual(vyre_text *text);
typedef void cli_completion_writer(vyre_text *text);
cli_completion_writer cli_write_bash, cli_write_zsh, cli_write_fish;
/* How an option is written: "--split auto|never|always". */
void cli_option_spelling(const cli_option *option, char *out, size_t size);

/* A page of `vyre help` that is not about a command. */
typedef struct cli_topic {
    const char *name, *title, *text;
} cli_topic;
extern const cli_topic cli_topics[];
extern const uint32_t cli_topic_count;

#endif
