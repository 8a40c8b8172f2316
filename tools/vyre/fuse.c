/* vyre fuse: programs that depend on each other as one program, with a grid barrier only where one
 * needs what another wrote. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "io/file.h"
#include "vyre/fuse.h"

typedef struct fuse_options {
    const char *deps, *output;
} fuse_options;

#define AT(field) offsetof(fuse_options, field)

static const cli_option options[] = {
    {"deps", CLI_TEXT, 0, false, AT(deps), "A:B,...",
     "B needs what A did; programs that share a buffer one of them writes are ordered anyway"},
    {"output", CLI_TEXT, 'o', false, AT(output), "FILE", "write the program there"},
};

/* The waves of one command. */
typedef struct fusion {
    cli_context *cli;
    vyre_fuse_wave *waves;
    vyre_program **programs;
    char (*stems)[VYRE_LIMIT_NAME + 1]; /* file names without folder and ending */
    bool *shared;                       /* others have the program's name, too */
    uint32_t count;
    vyre_wave_dep *deps;
    uint32_t dep_count;
} fusion;

static void find_stem(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    snprintf(out, size, "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

static bool is_taken(const fusion *f, const char *name, uint32_t except) {
    for (uint32_t i = 0; i < f->count; i++) {
        if (i != except && strcmp(f->waves[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A wave is called like its program; where several are, like their files. */
static cli_exit name_waves(fusion *f, const cli_list *paths) {
    for (uint32_t i = 0; i < f->count; i++) {
        f->waves[i].name = vyre_program_get(f->waves[i].program)->name;
        find_stem(paths->items[i], f->stems[i], sizeof f->stems[i]);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        f->shared[i] = is_taken(f, f->waves[i].name, i);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        f->waves[i].name = f->shared[i] ? f->stems[i] : f->waves[i].name;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (is_taken(f, f->waves[i].name, i)) {
            return cli_fail(f->cli, VYRE_INVALID_ARGUMENT, "rename one of the programs or files",
                            "two of the programs are called %s", f->waves[i].name);
        }
    }
    return CLI_PENDING;
}

static bool find_wave(const fusion *f, const char *name, size_t length, uint32_t *out) {
    for (uint32_t i = 0; i < f->count; i++) {
        if (strlen(f->waves[i].name) == length && memcmp(f->waves[i].name, name, length) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static cli_exit unknown_wave(fusion *f, const char *name, size_t length) {
    char word[VYRE_LIMIT_NAME + 1], fix[VYRE_DIAG_FIX];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    vyre_nearest nearest = vyre_nearest_to(word);
    for (uint32_t i = 0; i < f->count; i++) {
        vyre_nearest_offer(&nearest, f->waves[i].name);
    }
    cli_did_you_mean(&nearest, "use the names of the programs", fix, sizeof fix);
    return cli_fail(f->cli, VYRE_INVALID_ARGUMENT, fix, "--deps: no program is called \"%s\"",
                    word);
}

/* "a:b,b:c" */
static cli_exit read_deps(fusion *f, const char *text) {
    f->deps = calloc(strlen(text) / 2 + 1, sizeof *f->deps);
    if (!f->deps) {
        return cli_fail(f->cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    }
    for (;;) {
        size_t length = strcspn(text, ","), first = strcspn(text, ":,");
        if (first >= length || first == 0 || first + 1 == length) {
            return cli_fail(f->cli, VYRE_INVALID_ARGUMENT, "write --deps before:after,...",
                            "--deps \"%.*s\" names no pair of programs", (int)length, text);
        }
        vyre_wave_dep *dep = &f->deps[f->dep_count++];
        const char *after = text + first + 1;
        size_t rest = length - first - 1;
        if (!find_wave(f, text, first, &dep->before)) {
            return unknown_wave(f, text, first);
        }
        if (!find_wave(f, after, rest, &dep->after)) {
            return unknown_wave(f, after, rest);
        }
        if (!text[length]) {
            return CLI_PENDING;
        }
        text += length + 1;
    }
}

static void tell_conflict(void *user, uint32_t before, uint32_t after, const char *buffer) {
    const fusion *f = user;
    cli_say(f->cli, "%s comes before %s: they share buffer %s", f->waves[before].name,
            f->waves[after].name, buffer);
}

static cli_exit write_program(cli_context *cli, const vyre_program *program, const char *path) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    vyre_program_print(program, cli_write_text, &text);
    if (!path) {
        return cli_output(cli, &text);
    }
    vyre_diag diag = {0};
    vyre_stage stage;
    vyre_stage_init(&stage, NULL);
    vyre_status status = vyre_text_status(&text, "the program", &diag);
    if (status == VYRE_OK) {
        status = vyre_stage_open(&stage, path, &diag);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_write(&stage, vyre_text_string(&text), text.length, &diag);
    }
    if (status == VYRE_OK) {
        status = vyre_stage_commit(&stage, &diag);
    }
    vyre_stage_finish(&stage);
    vyre_text_finish(&text);
    return status == VYRE_OK ? CLI_OK : cli_report(cli, &diag);
}

static cli_exit fuse(fusion *f, const char *path) {
    vyre_fuse_options how = {
        .deps = f->deps, .dep_count = f->dep_count, .on_conflict = tell_conflict, .user = f};
    vyre_diag diag = {0};
    vyre_program *fused = NULL;
    if (vyre_fuse(f->waves, f->count, &how, NULL, &fused, &diag) != VYRE_OK) {
        return cli_report(f->cli, &diag);
    }
    cli_exit exit = write_program(f->cli, fused, path);
    vyre_program_release(fused);
    return exit;
}

static cli_exit read_programs(fusion *f, const cli_list *paths) {
    for (uint32_t i = 0; i < f->count; i++) {
        cli_exit exit = cli_source_program(f->cli, paths->items[i], &f->programs[i]);
        if (exit != CLI_PENDING) {
            return exit;
        }
        f->waves[i].program = f->programs[i];
    }
    return CLI_PENDING;
}

static cli_exit fuse_all(fusion *f, const fuse_options *o, const cli_list *paths) {
    cli_exit exit = read_programs(f, paths);
    if (exit == CLI_PENDING) {
        exit = name_waves(f, paths);
    }
    if (exit == CLI_PENDING && o->deps) {
        exit = read_deps(f, o->deps);
    }
    return exit == CLI_PENDING ? fuse(f, o->output) : exit;
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    fusion f = {.cli = cli, .count = arguments->count};
    f.waves = calloc(f.count, sizeof *f.waves);
    f.programs = calloc(f.count, sizeof(*f.programs));
    f.stems = calloc(f.count, sizeof *f.stems);
    f.shared = calloc(f.count, sizeof *f.shared);
    cli_exit exit = f.waves && f.programs && f.stems && f.shared
                        ? fuse_all(&f, given, arguments)
                        : cli_fail(cli, VYRE_OUT_OF_MEMORY, NULL, "out of memory");
    for (uint32_t i = 0; f.programs && i < f.count; i++) {
        vyre_program_release(f.programs[i]);
    }
    free(f.deps);
    free(f.shared);
    free(f.stems);
    free(f.programs);
    free(f.waves);
    return exit;
}

const cli_command cli_fuse_command = {
    .name = "fuse",
    .arguments = "FILE...",
    .min_arguments = 1,
    .max_arguments = UINT32_MAX,
    .summary = "make one program of several, with grid barriers where one needs another",
    .details =
        "What has one name is one thing: buffers and params of the same name are shared by the "
        "programs, everything else is renamed where names clash. The result gives the bytes of "
        "running the programs one by one in dependency order.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(fuse_options),
    .run = run,
};
