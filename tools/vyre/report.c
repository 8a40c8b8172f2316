/* Messages on standard error: `file:line:col: error[CODE]: message`, the source line with a caret
 * range, `fix: ...`, then notes. Every diagnostic is also kept, for --json. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli.h"

enum {
    KEPT = 256, /* diagnostics of one run; more are counted */
    WIDTH = 100 /* of a quoted source line; longer ones are cut around the place */
};

cli_exit cli_exit_of(vyre_status status) {
    switch (status) {
    case VYRE_OK: return CLI_OK;
    case VYRE_OUT_OF_MEMORY: return CLI_MEMORY;
    case VYRE_INVALID_ARGUMENT: return CLI_USAGE;
    case VYRE_INVALID_PROGRAM: return CLI_REJECTED;
    case VYRE_INVALID_INPUT:
    case VYRE_LIMIT:
    case VYRE_IO: return CLI_INPUT;
    case VYRE_UNSUPPORTED:
    case VYRE_NOT_FOUND: return CLI_BACKEND;
    case VYRE_TRAP:
    case VYRE_STEP_BUDGET:
    case VYRE_TIMEOUT:
    case VYRE_DEVICE_LOST:
    case VYRE_DEVICE_FAILED:
    case VYRE_INTERNAL: return CLI_FAILED;
    case VYRE_CANCELLED: return CLI_INTERRUPTED;
    case VYRE_CHECK_FAILED: return CLI_CHECK;
    }
    return CLI_FAILED;
}

void cli_init(cli_context *cli) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    memset(cli, 0, sizeof *cli);
    cli->colour = isatty(STDERR_FILENO) && !(no_colour && no_colour[0]) &&
                  !(terminal && strcmp(terminal, "dumb") == 0);
    cli->diags.items = calloc(KEPT, sizeof *cli->diags.items);
    cli->diags.capacity = cli->diags.items ? KEPT : 0;
}

void cli_finish(cli_context *cli) {
    for (uint32_t i = 0; i < cli->source_count; i++) {
        vyre_text_finish(&cli->sources[i].text);
        free(cli->sources[i].path);
    }
    free(cli->sources);
    free(cli->diags.items);
}

typedef enum colour { PLAIN, BOLD, RED, MAGENTA, CYAN, GREEN } colour;

static void put_coloured(const cli_context *cli, colour which, const char *text) {
    static const char *const codes[] = {"",           "\033[1m",    "\033[1;31m",
                                        "\033[1;35m", "\033[1;36m", "\033[1;32m"};
    if (cli->colour) {
        fprintf(stderr, "%s%s\033[0m", codes[which], text);
    } else {
        fputs(text, stderr);
    }
}

static const cli_source *find_source(const cli_context *cli, const vyre_diag *diag) {
    for (uint32_t i = 0; i < cli->source_count; i++) {
        if (strcmp(cli->sources[i].shown, diag->file) == 0) {
            return &cli->sources[i];
        }
    }
    return NULL;
}

/* The bytes of line number `line`, without its end. */
static bool find_line(const vyre_text *text, uint32_t line, const char **out, size_t *out_length) {
    const char *at = vyre_text_string(text), *end = at + text->length;
    for (uint32_t i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at) {
        return false;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *out = at;
    *out_length = (size_t)((stop ? stop : end) - at);
    return true;
}

static bool continues_character(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* One byte of source as it may go to a terminal. */
static char harmless(char c) {
    return c == '\t' || ((unsigned char)c >= 32 && c != 127) ? c : '?';
}

/* The line with carets below bytes [col, end_col), counted from 1. */
static void quote_line(const cli_context *cli, const vyre_diag *diag, const char *line,
                       size_t length) {
    if (length && line[length - 1] == '\r') {
        length--;
    }
    size_t first = diag->col ? diag->col - 1 : 0, last = diag->end_col ? diag->end_col - 1 : first;
    first = first < length ? first : length;
    last = last > first ? last : first + 1;
    size_t from = first > WIDTH - 20 ? first - WIDTH / 2 : 0;
    while (from && continues_character(line[from])) {
        from--;
    }
    size_t to = length - from > WIDTH ? from + WIDTH : length;
    fprintf(stderr, "%5u | %s", diag->line, from ? "..." : "");
    for (size_t i = from; i < to; i++) {
        fputc(harmless(line[i]), stderr);
    }
    fprintf(stderr, "%s\n      | %s", to < length ? "..." : "", from ? "   " : "");
    for (size_t i = from; i < first; i++) {
        if (!continues_character(line[i])) {
            fputc(line[i] == '\t' ? '\t' : ' ', stderr);
        }
    }
    char carets[WIDTH + 2];
    size_t count = 0;
    for (size_t i = first; i < last && i <= to && count < WIDTH; i++) {
        if (i == first || i >= length || !continues_character(line[i])) {
            carets[count] = count ? '~' : '^';
            count++;
        }
    }
    carets[count] = 0;
    put_coloured(cli, GREEN, carets);
    fputc('\n', stderr);
}

static const char *severity_name(vyre_severity severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

static void print(const cli_context *cli, const vyre_diag *diag) {
    static const colour colours[] = {RED, MAGENTA, CYAN};
    const cli_source *source = find_source(cli, diag);
    char place[64] = "", head[64];
    const char *file = source ? source->path : diag->file[0] ? diag->file : "vyre";
    if (diag->line && diag->col) {
        snprintf(place, sizeof place, ":%u:%u", diag->line, diag->col);
    } else if (diag->line) {
        snprintf(place, sizeof place, ":%u", diag->line);
    }
    snprintf(head, sizeof head, diag->code[0] ? "%s[%s]:" : "%s%s:", severity_name(diag->severity),
             diag->code);
    put_coloured(cli, BOLD, file);
    put_coloured(cli, BOLD, place);
    fputs(": ", stderr);
    put_coloured(cli, colours[diag->severity], head);
    fprintf(stderr, " %s", diag->message);
    if (diag->segment_count) {
        fprintf(stderr, " (segment %u of %u)", diag->segment, diag->segment_count);
    }
    fputc('\n', stderr);
    const char *line;
    size_t length;
    if (source && diag->line && find_line(&source->text, diag->line, &line, &length)) {
        quote_line(cli, diag, line, length);
    }
    if (diag->fix[0]) {
        put_coloured(cli, CYAN, "fix:");
        fprintf(stderr, " %s\n", diag->fix);
    }
}

cli_exit cli_report(cli_context *cli, const vyre_diag *diag) {
    print(cli, diag);
    if (cli->diags.count < cli->diags.capacity) {
        cli->diags.items[cli->diags.count++] = *diag;
    }
    cli->diags.errors += diag->severity == VYRE_ERROR;
    cli->diags.warnings += diag->severity == VYRE_WARNING;
    return diag->severity == VYRE_ERROR && diag->status == VYRE_OK ? CLI_FAILED
                                                                   : cli_exit_of(diag->status);
}

void cli_report_from(cli_context *cli, uint32_t first) {
    uint32_t shown = 0;
    for (uint32_t i = first; i < cli->diags.count; i++) {
        print(cli, &cli->diags.items[i]);
        shown += cli->diags.items[i].severity != VYRE_NOTE;
    }
    uint32_t known = 0;
    for (uint32_t i = 0; i < first; i++) {
        known += cli->diags.items[i].severity != VYRE_NOTE;
    }
    if (cli->diags.errors + cli->diags.warnings > known + shown) {
        cli_say(cli, "%u more diagnostics are not shown",
                cli->diags.errors + cli->diags.warnings - known - shown);
    }
}

cli_exit cli_fail(cli_context *cli, vyre_status status, const char *fix, const char *format, ...) {
    vyre_diag diag;
    memset(&diag, 0, sizeof diag);
    diag.status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(diag.message, sizeof diag.message, format, args);
    va_end(args);
    if (fix) {
        vyre_diag_copy(diag.fix, sizeof diag.fix, fix);
    }
    return cli_report(cli, &diag);
}

void cli_say(const cli_context *cli, const char *format, ...) {
    put_coloured(cli, BOLD, "vyre:");
    fputc(' ', stderr);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_write_status(const cli_context *cli, vyre_json_writer *json) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = cli->diags.count; i-- > 0 && status == VYRE_OK;) {
        if (cli->diags.items[i].severity == VYRE_ERROR) {
            status = cli->diags.items[i].status;
        }
    }
    vyre_json_key(json, "status");
    vyre_json_put_string(json, vyre_status_name(status));
}

static void put_place(vyre_json_writer *json, const vyre_diag *diag) {
    const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {{"line", diag->line}, {"col", diag->col}, {"end_col", diag->end_col}};
    for (uint32_t i = 0; i < CLI_COUNT(numbers); i++) {
        vyre_json_key(json, numbers[i].key);
        vyre_json_put_u64(json, numbers[i].value);
    }
}

void cli_write_diagnostics(const cli_context *cli, vyre_json_writer *json) {
    vyre_json_key(json, "diagnostics");
    vyre_json_begin_array(json);
    for (uint32_t i = 0; i < cli->diags.count; i++) {
        const vyre_diag *diag = &cli->diags.items[i];
        const cli_source *source = find_source(cli, diag);
        vyre_json_begin_object(json);
        vyre_json_key(json, "code");
        vyre_json_put_string(json, diag->code);
        vyre_json_key(json, "severity");
        vyre_json_put_string(json, severity_name(diag->severity));
        vyre_json_key(json, "file");
        vyre_json_put_string(json, source ? source->path : diag->file);
        put_place(json, diag);
        vyre_json_key(json, "message");
        vyre_json_put_string(json, diag->message);
        vyre_json_key(json, "fix");
        vyre_json_put_string(json, diag->fix);
        if (diag->segment) {
            vyre_json_key(json, "segment");
            vyre_json_put_u64(json, diag->segment);
            vyre_json_key(json, "segments");
            vyre_json_put_u64(json, diag->segment_count);
        }
        vyre_json_end_object(json);
    }
    vyre_json_end_array(json);
}
