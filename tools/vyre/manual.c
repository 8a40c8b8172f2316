/* The manual page and the completions of three shells, from the tables of the commands. */
#include <string.h>

#include "cli.h"

/* Manual page */

/* Text for troff: backslashes, dashes and leading dots or quotes are escaped. */
static void write_troff(vyre_text *text, const char *plain) {
    bool line_start = true;
    for (; *plain; plain++) {
        if (line_start && (*plain == '.' || *plain == '\'')) {
            vyre_text_puts(text, "\\&");
        }
        line_start = *plain == '\n';
        switch (*plain) {
        case '\\': vyre_text_puts(text, "\\e"); break;
        case '-': vyre_text_puts(text, "\\-"); break;
        default: vyre_text_append(text, plain, 1); break;
        }
    }
}

/* Paragraphs; lines that begin with two blanks keep their layout. */
static void write_section(vyre_text *text, const char *title, const char *body) {
    bool literal = false;
    vyre_text_printf(text, ".SH \"%s\"\n", title);
    while (*body) {
        size_t length = strcspn(body, "\n");
        bool wants = strncmp(body, "  ", 2) == 0;
        if (wants != literal) {
            vyre_text_puts(text, wants ? ".PP\n.nf\n" : ".fi\n");
            literal = wants;
        }
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)length, body);
        if (length) {
            write_troff(text, line);
            vyre_text_puts(text, "\n");
        } else {
            vyre_text_puts(text, ".PP\n");
        }
        body += length + (body[length] ? 1 : 0);
    }
    if (literal) {
        vyre_text_puts(text, ".fi\n");
    }
}

static void write_manual_command(vyre_text *text, const cli_command *command) {
    vyre_text_printf(text, ".SS \"vyre %s %s%s\"\n", command->name, command->arguments,
                     command->option_count ? " [options]" : "");
    char first = command->summary[0];
    char capital[2] = {(char)(first >= 'a' && first <= 'z' ? first - 32 : first), 0};
    vyre_text_puts(text, capital);
    write_troff(text, command->summary + 1);
    vyre_text_puts(text, ".\n");
    if (command->details) {
        write_troff(text, command->details);
        vyre_text_puts(text, "\n");
    }
    for (uint32_t i = 0; i < command->option_count; i++) {
        char spelling[160];
        cli_option_spelling(&command->options[i], spelling, sizeof spelling);
        vyre_text_puts(text, ".TP\n\\fB");
        write_troff(text, spelling);
        vyre_text_puts(text, "\\fR\n");
        write_troff(text, command->options[i].help);
        vyre_text_puts(text, ".\n");
    }
}

void cli_write_manual(vyre_text *text) {
    vyre_text_printf(text, ".TH VYRE 1 \"\" \"vyre %s\" \"User Commands\"\n", vyre_version());
    vyre_text_puts(text,
                   ".SH NAME\nvyre \\- data\\-parallel programs that may wait for their whole "
                   "grid\n.SH SYNOPSIS\n\\fBvyre\\fR \\fICOMMAND\\fR [options]\n.br\n"
                   "\\fBvyre\\fR \\-\\-version\n.SH DESCRIPTION\n"
                   "A program runs over a grid of workgroups and may wait for all of them "
                   "anywhere in uniform control flow. It gives the same bytes on any device: "
                   "where there is no native grid barrier it is split.\n.SH COMMANDS\n");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        write_manual_command(text, cli_commands[i]);
    }
    for (uint32_t i = 0; i < cli_topic_count; i++) {
        char title[64];
        size_t j = 0;
        for (const char *c = cli_topics[i].title; *c && j + 1 < sizeof title; c++) {
            title[j++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        }
        title[j] = 0;
        write_section(text, title, cli_topics[i].text);
    }
    vyre_text_puts(text,
                   ".SH ENVIRONMENT\n.TP\nNO_COLOR\nNo colours in messages when it is set and "
                   "not empty. Colours appear only on a terminal.\n"
                   ".TP\nXDG_CACHE_HOME\nWhere the folder vyre with compiled programs is; without "
                   "it .cache in the home folder.\n");
}

/* Completions */

/* What may stand where help shows a word in capitals. */
typedef enum filling {
    NOTHING,
    FILES,
    PROGRAMS, /* files *.vy */
    OBJECTS,  /* files *.json */
    FOLDERS,
    WORDS /* one of a list */
} filling;

static filling filling_of(const char *word) {
    static const struct {
        const char *word;
        filling filling;
    } known[] = {{"FILE...", PROGRAMS}, {"FILE", FILES},         {"WAVES", OBJECTS},
                 {"PLAN", OBJECTS},     {"DIR", FOLDERS},        {"NAME", WORDS},
                 {"[CODE]", WORDS},     {"[TOPIC]", WORDS},      {"A B", FILES},
                 {"BUF=FILE", NOTHING}, {"BUF=SOURCE", NOTHING}, {"", NOTHING}};
    for (uint32_t i = 0; i < CLI_COUNT(known); i++) {
        if (strcmp(known[i].word, word) == 0) {
            return known[i].filling;
        }
    }
    return NOTHING;
}

/* What a command reads is a program, what an option names may be any file. */
static filling argument_filling(const cli_command *command) {
    const filling f = filling_of(command->arguments);
    return f == FILES && strcmp(command->arguments, "FILE") == 0 ? PROGRAMS : f;
}

static filling option_filling(const cli_option *option) {
    return option->kind == CLI_CHOICE ? WORDS : option->value ? filling_of(option->value) : NOTHING;
}

static void write_names(vyre_text *text) {
    for (uint32_t i = 0; i < cli_command_count; i++) {
        vyre_text_printf(text, "%s%s", i ? " " : "", cli_commands[i]->name);
    }
}

/* "a|b|c" as "a b c". */
static void write_choices(vyre_text *text, const char *choices) {
    for (; *choices; choices++) {
        vyre_text_append(text, *choices == '|' ? " " : choices, 1);
    }
}

/* The list of a place that takes WORDS. */
static void write_words(vyre_text *text, const char *word) {
    if (strcmp(word, "NAME") == 0) {
        vyre_text_puts(text, "auto");
        for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) {
            vyre_text_printf(text, " %s", vyre_backend_name(NULL, i));
        }
    } else if (strcmp(word, "[CODE]") == 0) {
        for (uint32_t i = 0; i < vyre_diagnostic_count(); i++) {
            vyre_text_printf(text, "%s%s", i ? " " : "", vyre_diagnostic_get(i)->code);
        }
    } else if (strcmp(word, "[TOPIC]") == 0) {
        write_names(text);
        for (uint32_t i = 0; i < cli_topic_count; i++) {
            vyre_text_printf(text, " %s", cli_topics[i].name);
        }
    } else {
        write_choices(text, word);
    }
}

/* What completes a word, by the shell's texts; behind that of WORDS stand the words. */
static void write_filling(vyre_text *text, const char *const texts[], filling f, const char *word,
                          const char *end) {
    vyre_text_puts(text, texts[f]);
    if (f == WORDS) {
        write_words(text, word);
        vyre_text_puts(text, end);
    }
}

/* As an assignment of the function's variables. */
static void write_bash_filling(vyre_text *text, filling f, const char *word) {
    static const char *const texts[] = {
        [NOTHING] = "return",         [FILES] = "files='*'",    [PROGRAMS] = "files='*.vy'",
        [OBJECTS] = "files='*.json'", [FOLDERS] = "files='*/'", [WORDS] = "words='"};
    write_filling(text, texts, f, word, "'");
}

static void write_bash_command(vyre_text *text, const cli_command *c) {
    for (uint32_t j = 0; j < c->option_count; j++) {
        const cli_option *o = &c->options[j];
        if (!o->value || o->optional) {
            continue;
        }
        vyre_text_printf(text, "        %s:--%s", c->name, o->name);
        if (o->letter) {
            vyre_text_printf(text, " | %s:-%c", c->name, o->letter);
        }
        vyre_text_puts(text, ") ");
        write_bash_filling(text, option_filling(o), o->value);
        vyre_text_puts(text, " ;;\n");
    }
    vyre_text_printf(text, "        %s:*) if [[ $word == -* ]]; then words='", c->name);
    for (uint32_t j = 0; j < c->option_count; j++) {
        vyre_text_printf(text, "--%s ", c->options[j].name);
    }
    vyre_text_puts(text, "--help'; else ");
    write_bash_filling(text, argument_filling(c), c->arguments);
    vyre_text_puts(text, "; fi ;;\n");
}

/* Behind `=`, at which bash cuts words, stands a file. */
void cli_write_bash(vyre_text *text) {
    vyre_text_puts(text,
                   "# Completion of vyre for bash.\n_vyre() {\n"
                   "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                   "    local words= files=\n    COMPREPLY=()\n"
                   "    [[ $word == = ]] && word= before==\n"
                   "    if ((COMP_CWORD == 1)); then\n        words='");
    write_names(text);
    vyre_text_puts(text, " --version --help'\n    else\n"
                         "        case ${COMP_WORDS[1]}:$before in\n"
                         "        *:=) files='*' ;;\n");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        write_bash_command(text, cli_commands[i]);
    }
    vyre_text_puts(text, "        esac\n    fi\n    if [[ -n $words ]]; then\n"
                         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                         "    elif [[ $files == '*' ]]; then\n"
                         "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                         "    elif [[ -n $files ]]; then\n"
                         "        mapfile -t COMPREPLY < <(compgen -f -X \"!$files\" -- \"$word\"; "
                         "compgen -d -- \"$word\")\n"
                         "    fi\n}\ncomplete -o filenames -F _vyre vyre\n");
}

/* Help texts inside single quotes; zsh also needs brackets and colons escaped. */
static void write_quoted(vyre_text *text, const char *plain, const char *escaped) {
    for (; *plain; plain++) {
        if (*plain == '\'') {
            vyre_text_puts(text, "'\\'");
        } else if (strchr(escaped, *plain)) {
            vyre_text_puts(text, "\\");
        }
        vyre_text_append(text, plain, 1);
    }
}

static void write_zsh_filling(vyre_text *text, filling f, const char *word) {
    static const char *const texts[] = {[NOTHING] = " ",
                                        [FILES] = "_files",
                                        [PROGRAMS] = "_files -g \"*.vy\"",
                                        [OBJECTS] = "_files -g \"*.json\"",
                                        [FOLDERS] = "_files -/",
                                        [WORDS] = "("};
    write_filling(text, texts, f, word, ")");
}

/* BUF=FILE: behind the sign a file, before it whatever it is called. */
static bool takes_file_behind_sign(const cli_option *option) {
    return option->kind == CLI_LIST && strncmp(option->value, "BUF=", 4) == 0;
}

static void write_zsh_option(vyre_text *text, const cli_option *option) {
    vyre_text_printf(text, " \\\n            '%s--%s%s[", option->kind == CLI_LIST ? "*" : "",
                     option->name,
                     !option->value     ? ""
                     : option->optional ? "=-"
                                        : "=");
    write_quoted(text, option->help, "[]:");
    vyre_text_puts(text, "]");
    if (option->value) {
        vyre_text_puts(text, option->optional ? "::value:" : ":value:");
        if (takes_file_behind_sign(option)) {
            vyre_text_puts(text, "{ compset -P \"*=\"; _files }");
        } else {
            write_zsh_filling(text, option_filling(option), option->value);
        }
    }
    vyre_text_puts(text, "'");
}

void cli_write_zsh(vyre_text *text) {
    vyre_text_puts(text, "#compdef vyre\n# Completion of vyre for zsh.\n_vyre() {\n"
                         "    if ((CURRENT == 2)); then\n        local -a commands=(");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        vyre_text_printf(text, "\n            '%s:", cli_commands[i]->name);
        write_quoted(text, cli_commands[i]->summary, "");
        vyre_text_puts(text, "'");
    }
    vyre_text_puts(text, ")\n        _describe command commands\n        return\n    fi\n"
                         "    local command=${words[2]}\n    shift words\n    ((CURRENT--))\n"
                         "    case $command in\n");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        const cli_command *c = cli_commands[i];
        vyre_text_printf(text, "    %s)\n        _arguments", c->name);
        for (uint32_t j = 0; j < c->option_count; j++) {
            write_zsh_option(text, &c->options[j]);
        }
        vyre_text_puts(text, " \\\n            '*:argument:");
        write_zsh_filling(text, argument_filling(c), c->arguments);
        vyre_text_puts(text, "' ;;\n");
    }
    vyre_text_puts(text, "    esac\n}\n_vyre \"$@\"\n");
}

static void write_fish_filling(vyre_text *text, filling f, const char *word) {
    switch (f) {
    case NOTHING: vyre_text_puts(text, " -f"); break;
    case FILES: vyre_text_puts(text, " -F"); break;
    case PROGRAMS: vyre_text_puts(text, " -f -k -a '(__fish_complete_suffix .vy)'"); break;
    case OBJECTS: vyre_text_puts(text, " -f -k -a '(__fish_complete_suffix .json)'"); break;
    case FOLDERS: vyre_text_puts(text, " -f -a '(__fish_complete_directories)'"); break;
    case WORDS:
        vyre_text_puts(text, " -f -a '");
        write_words(text, word);
        vyre_text_puts(text, "'");
        break;
    }
}

static void write_fish_option(vyre_text *text, const cli_command *c, const cli_option *option) {
    vyre_text_printf(text, "complete -c vyre -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                     option->name);
    if (option->letter) {
        vyre_text_printf(text, " -s %c", option->letter);
    }
    if (option->value) {
        write_fish_filling(text, takes_file_behind_sign(option) ? FILES : option_filling(option),
                           option->value);
        vyre_text_puts(text, option->optional ? "" : " -r");
    }
    vyre_text_puts(text, " -d '");
    write_quoted(text, option->help, "");
    vyre_text_puts(text, "'\n");
}

void cli_write_fish(vyre_text *text) {
    vyre_text_puts(text, "# Completion of vyre for fish.\n");
    for (uint32_t i = 0; i < cli_command_count; i++) {
        const cli_command *c = cli_commands[i];
        vyre_text_printf(text, "complete -c vyre -n __fish_use_subcommand -f -a %s -d '", c->name);
        write_quoted(text, c->summary, "");
        vyre_text_puts(text, "'\n");
        for (uint32_t j = 0; j < c->option_count; j++) {
            write_fish_option(text, c, &c->options[j]);
        }
        vyre_text_printf(text, "complete -c vyre -n '__fish_seen_subcommand_from %s'", c->name);
        write_fish_filling(text, argument_filling(c), c->arguments);
        vyre_text_puts(text, "\n");
    }
}
