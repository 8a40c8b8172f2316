/* Reads options by the command's table: --name VALUE, --name=VALUE, -x VALUE; `--` ends them.
 * Options and arguments may be mixed. A misspelt word gets a suggestion. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Numbers */

bool cli_read_number(const char *text, uint64_t max, uint64_t *out) {
    unsigned base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
        base = text[1] == 'x' ? 16 : 2;
        text += 2;
    }
    uint64_t value = 0;
    const char *begin = text;
    for (; *text; text++) {
        unsigned digit = 99;
        if (*text >= '0' && *text <= '9') {
            digit = (unsigned)(*text - '0');
        } else if ((*text | 32) >= 'a' && (*text | 32) <= 'f') {
            digit = (unsigned)((*text | 32) - 'a' + 10);
        }
        if (digit >= base || value > (max - digit) / base || digit > max) {
            return false;
        }
        value = value * base + digit;
    }
    *out = value;
    return text != begin;
}

static bool read_bytes(const char *text, uint64_t *out) {
    char digits[32];
    size_t length = strlen(text);
    const char *units = "KMGT", *unit = NULL;
    if (length > 1 && length < sizeof digits) {
        unit = strchr(units, text[length - 1]);
    }
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    size_t used = length - (unit ? 1 : 0);
    if (used >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, used);
    digits[used] = 0;
    uint64_t value;
    if (!cli_read_number(digits, UINT64_MAX >> shift, &value)) {
        return false;
    }
    *out = value << shift;
    return true;
}

static bool read_seconds(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    if (end == text || *end || errno || !(seconds >= 0) || seconds > 1e9) {
        return false;
    }
    *out = (uint64_t)ceil(seconds * 1e9);
    return true;
}

bool cli_read_choice(const char *choices, const char *word, uint64_t *out_index) {
    size_t length = strlen(word);
    for (uint64_t index = 0;; index++) {
        size_t size = strcspn(choices, "|");
        if (size == length && memcmp(choices, word, length) == 0) {
            *out_index = index;
            return true;
        }
        if (!choices[size]) {
            return false;
        }
        choices += size + 1;
    }
}

static bool read_triple(const char *text, uint64_t out[3]) {
    uint32_t axis = 0;
    for (out[0] = out[1] = out[2] = 1;; axis++) {
        char digits[24];
        size_t size = strcspn(text, ",");
        if (axis == 3 || size >= sizeof digits) {
            return false;
        }
        memcpy(digits, text, size);
        digits[size] = 0;
        if (!cli_read_number(digits, UINT64_MAX, &out[axis])) {
            return false;
        }
        if (!text[size]) {
            return true;
        }
        text += size + 1;
    }
}

void cli_did_you_mean(const vyre_nearest *nearest, const char *otherwise, char *out, size_t size) {
    if (nearest->best) {
        snprintf(out, size, "did you mean \"%s\"?", nearest->best);
    } else {
        snprintf(out, size, "%s", otherwise);
    }
}

/* Options */

typedef struct reader {
    cli_context *cli;
    const cli_command *command;
    void *options;
    int argc;
    char **argv;
    int next;
} reader;

static void *field_of(const reader *r, const cli_option *option) {
    return (char *)r->options + option->offset;
}

static bool push(reader *r, cli_list *list, const char *word) {
    if (!list->items) {
        list->items = calloc((size_t)r->argc + 1, sizeof *list->items);
    }
    if (!list->items) {
        cli_fail(r->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
        return false;
    }
    list->items[list->count++] = word;
    return true;
}

static cli_exit bad_value(reader *r, const cli_option *option, const char *value) {
    static const char *const wanted[] = {
        [CLI_NUMBER] = "a whole number",
        [CLI_BYTES] = "a number of bytes, such as 4096, 64K, 2M or 1G",
        [CLI_SECONDS] = "a number of seconds, such as 1.5",
        [CLI_TRIPLE] = "one to three numbers, such as 64 or 8,8,1",
    };
    char fix[VYRE_DIAG_FIX];
    if (option->kind == CLI_CHOICE) {
        snprintf(fix, sizeof fix, "use one of %s", option->value);
    } else {
        snprintf(fix, sizeof fix, "give %s", wanted[option->kind]);
    }
    return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "--%s does not take \"%s\"", option->name,
                    value);
}

static cli_exit set_value(reader *r, const cli_option *option, const char *value) {
    void *field = field_of(r, option);
    cli_number *number = field;
    cli_triple *triple = field;
    const char *text = value ? value : "";
    bool good = true;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)field = true; return CLI_PENDING;
    case CLI_TEXT: *(const char **)field = value; return CLI_PENDING;
    case CLI_LIST: return push(r, field, value) ? CLI_PENDING : CLI_MEMORY;
    case CLI_NUMBER: good = cli_read_number(text, UINT64_MAX, &number->value); break;
    case CLI_BYTES: good = read_bytes(text, &number->value); break;
    case CLI_SECONDS: good = read_seconds(text, &number->value); break;
    case CLI_CHOICE: good = !value || cli_read_choice(option->value, value, &number->value); break;
    case CLI_TRIPLE:
        good = triple->given = read_triple(text, triple->value);
        return good ? CLI_PENDING : bad_value(r, option, text);
    }
    number->given = good;
    return good ? CLI_PENDING : bad_value(r, option, text);
}

static cli_exit unknown_option(reader *r, const char *word) {
    char fix[VYRE_DIAG_FIX], see[80], name[64];
    snprintf(see, sizeof see, "see vyre help %s", r->command->name);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    vyre_nearest nearest = vyre_nearest_to(name + strspn(name, "-"));
    for (uint32_t i = 0; i < r->command->option_count; i++) {
        vyre_nearest_offer(&nearest, r->command->options[i].name);
    }
    char dashed[72];
    if (nearest.best) {
        snprintf(dashed, sizeof dashed, "--%s", nearest.best);
        nearest.best = dashed;
    }
    cli_did_you_mean(&nearest, see, fix, sizeof fix);
    return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "vyre %s has no option %s",
                    r->command->name, name);
}

static cli_exit read_option(reader *r, const char *word) {
    char name[64] = "";
    const char *value = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
        value = word[2 + length] ? word + 3 + length : NULL;
    }
    const cli_option *option = NULL;
    for (uint32_t i = 0; i < r->command->option_count && !option; i++) {
        const cli_option *candidate = &r->command->options[i];
        if (name[0] ? strcmp(candidate->name, name) == 0
                    : candidate->letter && candidate->letter == word[1] && !word[2]) {
            option = candidate;
        }
    }
    if (!option) {
        return unknown_option(r, word);
    }
    if (option->kind == CLI_FLAG && value) {
        char fix[VYRE_DIAG_FIX];
        snprintf(fix, sizeof fix, "write --%s", option->name);
        return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "--%s takes no value", option->name);
    }
    if (option->kind != CLI_FLAG && !option->optional && !value) {
        if (r->next == r->argc) {
            char spelling[160], fix[VYRE_DIAG_FIX];
            cli_option_spelling(option, spelling, sizeof spelling);
            snprintf(fix, sizeof fix, "write %s", spelling);
            return cli_fail(r->cli, VYRE_INVALID_ARGUMENT, fix, "%s needs a value", word);
        }
        value = r->argv[r->next++];
    }
    return set_value(r, option, value);
}

static cli_exit count_arguments(reader *r, const cli_list *arguments) {
    const cli_command *command = r->command;
    if (arguments->count >= command->min_arguments && arguments->count <= command->max_arguments) {
        return CLI_PENDING;
    }
    vyre_text usage;
    vyre_text_init(&usage, NULL);
    cli_write_usage(&usage, command);
    cli_exit exit =
        arguments->count < command->min_arguments
            ? cli_fail(r->cli, VYRE_INVALID_ARGUMENT, vyre_text_string(&usage), "vyre %s needs %s",
                       command->name, command->arguments)
            : cli_fail(r->cli, VYRE_INVALID_ARGUMENT, vyre_text_string(&usage),
                       "\"%s\" is one argument too many", arguments->items[command->max_arguments]);
    vyre_text_finish(&usage);
    return exit;
}

cli_exit cli_options_parse(cli_context *cli, const cli_command *command, int argc, char **argv,
                           void *options, cli_list *arguments, bool *help) {
    reader r = {cli, command, options, argc, argv, 0};
    bool options_end = false;
    while (r.next < argc) {
        const char *word = argv[r.next++];
        cli_exit exit = CLI_PENDING;
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            *help = true;
            return CLI_PENDING;
        } else if (!options_end && word[0] == '-' && word[1]) {
            exit = read_option(&r, word);
        } else if (!push(&r, arguments, word)) {
            exit = CLI_MEMORY;
        }
        if (exit != CLI_PENDING) {
            return exit;
        }
    }
    return count_arguments(&r, arguments);
}

void cli_options_finish(const cli_command *command, void *options, cli_list *arguments) {
    for (uint32_t i = 0; i < command->option_count; i++) {
        if (command->options[i].kind == CLI_LIST) {
            free(((cli_list *)((char *)options + command->options[i].offset))->items);
        }
    }
    free(arguments->items);
}
