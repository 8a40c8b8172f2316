/* Reading programs and other texts, and writing results to standard output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli.h"
#include "io/file.h"

bool cli_write_text(void *text, const char *bytes, size_t length) {
    vyre_text_append(text, bytes, length);
    return !((vyre_text *)text)->failed;
}

cli_exit cli_output(cli_context *cli, vyre_text *text) {
    cli_exit exit = CLI_OK;
    vyre_diag diag = {0};
    if (vyre_text_status(text, "the output", &diag) != VYRE_OK) {
        exit = cli_report(cli, &diag);
    } else if (fwrite(vyre_text_string(text), 1, text->length, stdout) != text->length ||
               fflush(stdout) != 0) {
        vyre_fail_errno(&diag, "standard output", "write", errno);
        exit = cli_report(cli, &diag);
    }
    cli->has_output |= text->length > 0;
    vyre_text_finish(text);
    return exit;
}

const cli_source *cli_source_read(cli_context *cli, const char *path, cli_exit *out_exit) {
    vyre_diag diag = {0};
    vyre_bytes bytes;
    if (vyre_file_read(path, VYRE_LIMIT_SOURCE_BYTES, NULL, &bytes, &diag) != VYRE_OK) {
        *out_exit = cli_report(cli, &diag);
        return NULL;
    }
    cli_source *grown = realloc(cli->sources, (cli->source_count + 1) * sizeof *grown);
    char *name = strdup(strcmp(path, "-") == 0 ? "stdin" : path);
    cli->sources = grown ? grown : cli->sources;
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_text_append(&text, (const char *)bytes.data, bytes.size);
    vyre_bytes_finish(&bytes);
    if (!grown || !name || text.failed) {
        free(name);
        vyre_text_finish(&text);
        *out_exit = cli_fail(cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory for %s", path);
        return NULL;
    }
    cli_source *source = &grown[cli->source_count++];
    source->path = name;
    source->text = text;
    vyre_diag_copy(source->shown, sizeof source->shown, name);
    return source;
}

/* Whether the line of the text, or the one before it, says `vyre: allow CODE`. */
static bool is_allowed(const cli_source *source, const vyre_diag *diag) {
    char wanted[32];
    const char *text = vyre_text_string(&source->text);
    (void)snprintf(wanted, sizeof wanted, "vyre: allow %s", diag->code);
    uint32_t line = 1;
    for (const char *at = text; at && line <= diag->line; line++) {
        const char *end = strchr(at, '\n'), *found = strstr(at, wanted);
        if (line + 1 >= diag->line && found && (!end || found < end)) {
            return true;
        }
        at = end ? end + 1 : NULL;
    }
    return false;
}

/* Takes out warnings that nobody wants to see, with their notes; notes that stand alone, before
 * all others, are for those who ask for them. */
static void drop_warnings(cli_context *cli, const cli_source *source, uint32_t first) {
    uint32_t kept = first;
    bool dropped = !cli->notes || cli->no_warn;
    for (uint32_t i = first; i < cli->diags.count; i++) {
        const vyre_diag *d = &cli->diags.items[i];
        if (d->severity != VYRE_NOTE) {
            dropped = d->severity == VYRE_WARNING && (cli->no_warn || is_allowed(source, d));
            cli->diags.warnings -= dropped;
        }
        if (!dropped) {
            cli->diags.items[kept++] = *d;
        }
    }
    cli->diags.count = kept;
}

static bool is_const(vyre_role role) {
    return role == VYRE_CONST;
}

static bool is_value(vyre_role role) {
    return role == VYRE_CONST || role == VYRE_PARAM;
}

/* What --set gives to consts of the program, which was read without it to know their types. */
static cli_exit read_consts(cli_context *cli, const vyre_program *program, vyre_setting *settings,
                            uint32_t *out_count) {
    const vyre_program_view *view = vyre_program_get(program);
    for (uint32_t i = 0; i < cli->set->count; i++) {
        const char *text = cli->set->items[i];
        vyre_setting *to = &settings[*out_count];
        vyre_decl decl = VYRE_NONE;
        cli_exit exit = cli_read_setting(cli, program, text, is_value, to, &decl);
        if (exit != CLI_PENDING) {
            return exit;
        }
        if (decl == VYRE_NONE || (!cli->set_params && view->decls[decl].role == VYRE_PARAM)) {
            char name[VYRE_LIMIT_NAME + 1];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
            return cli_unknown_name(cli, view, cli->set_params ? "param or const" : "const", name,
                                    cli->set_params ? is_value : is_const);
        }
        for (uint32_t k = 0; k < *out_count; k++) {
            if (settings[k].name == to->name) {
                return cli_fail(cli, VYRE_INVALID_ARGUMENT, "give it once", "const %s is set twice",
                                to->name);
            }
        }
        *out_count += view->decls[decl].role == VYRE_CONST;
    }
    return CLI_PENDING;
}

/* Imports: files below the folder of the program's text, wherever links lead. */

typedef struct importer {
    cli_context *cli;
    const char *program; /* path of its text */
} importer;

static const cli_source *find_source(const cli_context *cli, const char *path) {
    for (size_t i = 0; i < cli->source_count; i++) {
        if (strcmp(cli->sources[i].path, path) == 0) {
            return &cli->sources[i];
        }
    }
    return NULL;
}

static vyre_status check_below(const char *folder, const char *path, vyre_diag *diag) {
    char *root = realpath(folder, NULL), *file = root ? realpath(path, NULL) : NULL;
    const size_t length = root ? strlen(root) : 0;
    vyre_status status = VYRE_OK;
    if (!file) {
        status = vyre_fail_errno(diag, path, "read", errno);
    } else if (strncmp(file, root, length) != 0 || (length > 1 && file[length] != '/')) {
        status = vyre_fail(diag, VYRE_INVALID_INPUT, "copy the file into the folder",
                           "%s leads out of the folder of the importing file", path);
    }
    free(root);
    free(file);
    return status;
}

static vyre_status read_import(void *user, const char *path, const char **out_text,
                               size_t *out_length, vyre_diag *diag) {
    const importer *from = user;
    const char *slash = strrchr(from->program, '/');
    const int folder = slash ? (int)(slash - from->program) + 1 : 0;
    vyre_text shown, below;
    vyre_text_init(&shown, NULL);
    vyre_text_init(&below, NULL);
    vyre_text_printf(&shown, "%.*s%s", folder, from->program, path);
    vyre_text_printf(&below, "%.*s", folder ? folder : 1, folder ? from->program : ".");
    const char *name = vyre_text_string(&shown);
    vyre_status status = shown.failed || below.failed
                             ? VYRE_OUT_OF_MEMORY
                             : check_below(vyre_text_string(&below), name, diag);
    cli_exit exit = CLI_PENDING;
    const cli_source *source = status == VYRE_OK ? find_source(from->cli, name) : NULL;
    if (status == VYRE_OK && !source) {
        source = cli_source_read(from->cli, name, &exit);
    }
    if (source) {
        *out_text = vyre_text_string(&source->text);
        *out_length = source->text.length;
    } else if (status == VYRE_OK) {
        status = VYRE_INVALID_INPUT; /* told */
    }
    vyre_text_finish(&shown);
    vyre_text_finish(&below);
    return status;
}

/* Parses the text, with the consts that are set. The program that was read without them holds their
 * names. */
static cli_exit parse(cli_context *cli, const cli_source *source, vyre_program **out_program,
                      vyre_status *out_status) {
    const char *text = vyre_text_string(&source->text);
    const size_t length = source->text.length;
    importer from = {.cli = cli, .program = source->path};
    vyre_parse_options options = {
        .file = source->path, .import = read_import, .import_user = &from};
    const bool sets = cli->set && cli->set->count > 0;
    vyre_diag ignored[1];
    vyre_diag_list quiet = {.items = ignored, .capacity = 1};
    vyre_program *plain = NULL;
    vyre_setting *settings = sets ? calloc(cli->set->count, sizeof *settings) : NULL;
    cli_exit exit = CLI_PENDING;
    if (sets && !settings) {
        return cli_fail(cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory for --set");
    }
    if (sets && vyre_parse(text, length, &options, NULL, &plain, &quiet) == VYRE_OK) {
        exit = read_consts(cli, plain, settings, &options.setting_count);
        options.settings = settings;
    }
    if (exit == CLI_PENDING) {
        *out_status = vyre_parse(text, length, &options, NULL, out_program, &cli->diags);
    }
    vyre_program_release(plain);
    free(settings);
    return exit;
}

cli_exit cli_source_program(cli_context *cli, const char *path, vyre_program **out_program) {
    cli_exit exit = CLI_PENDING;
    const cli_source *source = cli_source_read(cli, path, &exit);
    if (!source) {
        return exit;
    }
    uint32_t first = cli->diags.count;
    const size_t number = (size_t)(source - cli->sources);
    vyre_program *program = NULL;
    vyre_status status = VYRE_OK;
    exit = parse(cli, source, &program, &status);
    source = &cli->sources[number]; /* imports may have moved it */
    if (exit != CLI_PENDING) {
        return exit;
    }
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, &cli->diags);
    }
    if (status == VYRE_OK && cli->lint && !cli->no_warn) {
        const vyre_lint_options lint = {.speed = cli->warn_speed};
        status = vyre_lint(program, &lint, NULL, &cli->diags);
    }
    drop_warnings(cli, source, first);
    cli_report_from(cli, first);
    if (status == VYRE_OK) {
        *out_program = program;
        return CLI_PENDING;
    }
    vyre_program_release(program);
    if (cli->diags.count == first) {
        return cli_fail(cli, status, NULL, "%s: %s", source->path, vyre_status_name(status));
    }
    return status == VYRE_LIMIT ? CLI_REJECTED : cli_exit_of(status);
}
